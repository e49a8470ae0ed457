@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare float @llvm.sqrt.f32(float)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load ptr, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load i64, ptr %v13
  %v15 = getelementptr i64, ptr %words, i64 7
  %v16 = load i64, ptr %v15
  %v17 = getelementptr i64, ptr %words, i64 8
  %v18 = load i64, ptr %v17
  %v19 = getelementptr i64, ptr %context, i64 1
  %v20 = load i64, ptr %v19
  %v21 = icmp eq i64 %v20, 0
  %v22 = select i1 %v21, i64 %low, i64 0
  %v23 = select i1 %v21, i64 %high, i64 %v10
  %v24 = icmp eq i64 %v20, 1
  %v25 = select i1 %v24, i64 %low, i64 0
  %v26 = select i1 %v24, i64 %high, i64 %v12
  br label %loop1
loop1:
  %v27 = phi i64 [ %v22, %entry ], [ %v28, %after11 ]
  %v29 = icmp slt i64 %v27, %v23
  br i1 %v29, label %body2, label %after3
body2:
  %v30 = mul i64 %v27, %v14
  %v31 = mul i64 %v27, %v16
  %v32 = getelementptr float, ptr %v4, i64 %v31
  %v33 = load float, ptr %v32, align 4
  %v34 = call float @llvm.sqrt.f32(float %v33)
  %v35 = mul i64 %v27, %v18
  %v36 = insertelement <8 x float> poison, float %v34, i32 0
  %v37 = shufflevector <8 x float> %v36, <8 x float> poison, <8 x i32> zeroinitializer
  %v38 = sub i64 %v26, %v25
  %v39 = and i64 %v38, -8
  %v40 = add i64 %v25, %v39
  %v41 = and i64 %v38, -32
  %v42 = add i64 %v25, %v41
  br label %loop4
loop4:
  %v43 = phi i64 [ %v25, %body2 ], [ %v44, %body5 ]
  %v45 = icmp slt i64 %v43, %v42
  br i1 %v45, label %body5, label %after6
body5:
  %v46 = add i64 %v43, 8
  %v47 = add i64 %v43, 16
  %v48 = add i64 %v43, 24
  %v49 = add i64 %v35, %v43
  %v50 = getelementptr float, ptr %v6, i64 %v49
  %v51 = load <8 x float>, ptr %v50, align 4
  %v52 = add i64 %v35, %v46
  %v53 = getelementptr float, ptr %v6, i64 %v52
  %v54 = load <8 x float>, ptr %v53, align 4
  %v55 = add i64 %v35, %v47
  %v56 = getelementptr float, ptr %v6, i64 %v55
  %v57 = load <8 x float>, ptr %v56, align 4
  %v58 = add i64 %v35, %v48
  %v59 = getelementptr float, ptr %v6, i64 %v58
  %v60 = load <8 x float>, ptr %v59, align 4
  %v61 = fmul <8 x float> %v37, %v51
  %v62 = fmul <8 x float> %v37, %v54
  %v63 = fmul <8 x float> %v37, %v57
  %v64 = fmul <8 x float> %v37, %v60
  %v65 = getelementptr float, ptr %v8, i64 %v43
  %v66 = load <8 x float>, ptr %v65, align 4
  %v67 = getelementptr float, ptr %v8, i64 %v46
  %v68 = load <8 x float>, ptr %v67, align 4
  %v69 = getelementptr float, ptr %v8, i64 %v47
  %v70 = load <8 x float>, ptr %v69, align 4
  %v71 = getelementptr float, ptr %v8, i64 %v48
  %v72 = load <8 x float>, ptr %v71, align 4
  %v73 = fadd <8 x float> %v61, %v66
  %v74 = fadd <8 x float> %v62, %v68
  %v75 = fadd <8 x float> %v63, %v70
  %v76 = fadd <8 x float> %v64, %v72
  %v77 = add i64 %v30, %v43
  %v78 = getelementptr float, ptr %v2, i64 %v77
  store <8 x float> %v73, ptr %v78, align 4
  %v79 = add i64 %v30, %v46
  %v80 = getelementptr float, ptr %v2, i64 %v79
  store <8 x float> %v74, ptr %v80, align 4
  %v81 = add i64 %v30, %v47
  %v82 = getelementptr float, ptr %v2, i64 %v81
  store <8 x float> %v75, ptr %v82, align 4
  %v83 = add i64 %v30, %v48
  %v84 = getelementptr float, ptr %v2, i64 %v83
  store <8 x float> %v76, ptr %v84, align 4
  %v44 = add nsw i64 %v43, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v85 = phi i64 [ %v42, %after6 ], [ %v86, %body8 ]
  %v87 = icmp slt i64 %v85, %v40
  br i1 %v87, label %body8, label %after9
body8:
  %v88 = add i64 %v35, %v85
  %v89 = getelementptr float, ptr %v6, i64 %v88
  %v90 = load <8 x float>, ptr %v89, align 4
  %v91 = fmul <8 x float> %v37, %v90
  %v92 = getelementptr float, ptr %v8, i64 %v85
  %v93 = load <8 x float>, ptr %v92, align 4
  %v94 = fadd <8 x float> %v91, %v93
  %v95 = add i64 %v30, %v85
  %v96 = getelementptr float, ptr %v2, i64 %v95
  store <8 x float> %v94, ptr %v96, align 4
  %v86 = add nsw i64 %v85, 8
  br label %loop7
after9:
  %v97 = icmp slt i64 %v40, %v26
  br i1 %v97, label %then10, label %after11
then10:
  %v98 = sub i64 %v26, %v40
  %v99 = trunc i64 %v98 to i32
  %v100 = insertelement <8 x i32> poison, i32 %v99, i32 0
  %v101 = shufflevector <8 x i32> %v100, <8 x i32> poison, <8 x i32> zeroinitializer
  %v102 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v101
  %v103 = add i64 %v35, %v40
  %v104 = getelementptr float, ptr %v6, i64 %v103
  %v105 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v104, i32 4, <8 x i1> %v102, <8 x float> zeroinitializer)
  %v106 = fmul <8 x float> %v37, %v105
  %v107 = getelementptr float, ptr %v8, i64 %v40
  %v108 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v107, i32 4, <8 x i1> %v102, <8 x float> zeroinitializer)
  %v109 = fadd <8 x float> %v106, %v108
  %v110 = add i64 %v30, %v40
  %v111 = getelementptr float, ptr %v2, i64 %v110
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v109, ptr %v111, i32 4, <8 x i1> %v102)
  br label %after11
after11:
  %v28 = add nsw i64 %v27, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v28 = alloca [2 x i64], align 64
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v19 = sdiv i64 %v10, 1
  %v20 = icmp slt i64 %v19, 64
  %v21 = sdiv i64 %v12, 64
  %v22 = icmp sgt i64 %v21, %v19
  %v23 = and i1 %v20, %v22
  %v24 = select i1 %v23, i64 1, i64 0
  %v25 = select i1 %v23, i64 %v12, i64 %v10
  %v26 = select i1 %v23, i64 64, i64 1
  %v27 = select i1 %v23, i64 %v21, i64 %v19
  store ptr %words, ptr %v28
  %v29 = getelementptr i64, ptr %v28, i64 1
  store i64 %v24, ptr %v29
  %v30 = mul i64 %v12, 64
  %v31 = mul i64 %v10, %v30
  %v32 = icmp sge i64 %v31, 1572864
  %v33 = icmp ne i64 %threads, 1
  %v34 = and i1 %v32, %v33
  br i1 %v34, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v28, i64 %v25, i64 %v26, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v28, i64 0, i64 %v25)
  br label %after3
after3:
  ret void
}
