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
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load i64, ptr %v13
  %v15 = getelementptr i64, ptr %context, i64 1
  %v16 = load i64, ptr %v15
  %v17 = icmp eq i64 %v16, 0
  %v18 = select i1 %v17, i64 %low, i64 0
  %v19 = select i1 %v17, i64 %high, i64 %v8
  %v20 = icmp eq i64 %v16, 1
  %v21 = select i1 %v20, i64 %low, i64 0
  %v22 = select i1 %v20, i64 %high, i64 %v10
  br label %loop1
loop1:
  %v23 = phi i64 [ %v18, %entry ], [ %v24, %after11 ]
  %v25 = icmp slt i64 %v23, %v19
  br i1 %v25, label %body2, label %after3
body2:
  %v26 = mul i64 %v23, %v12
  %v27 = mul i64 %v23, %v14
  %v28 = getelementptr float, ptr %v4, i64 %v27
  %v29 = load float, ptr %v28, align 4
  %v30 = call float @llvm.sqrt.f32(float %v29)
  %v31 = insertelement <8 x float> poison, float %v30, i32 0
  %v32 = shufflevector <8 x float> %v31, <8 x float> poison, <8 x i32> zeroinitializer
  %v33 = sub i64 %v22, %v21
  %v34 = and i64 %v33, -8
  %v35 = add i64 %v21, %v34
  %v36 = and i64 %v33, -32
  %v37 = add i64 %v21, %v36
  br label %loop4
loop4:
  %v38 = phi i64 [ %v21, %body2 ], [ %v39, %body5 ]
  %v40 = icmp slt i64 %v38, %v37
  br i1 %v40, label %body5, label %after6
body5:
  %v41 = add i64 %v38, 8
  %v42 = add i64 %v38, 16
  %v43 = add i64 %v38, 24
  %v44 = add i64 %v26, %v38
  %v45 = getelementptr float, ptr %v2, i64 %v44
  %v46 = load <8 x float>, ptr %v45, align 4
  %v47 = add i64 %v26, %v41
  %v48 = getelementptr float, ptr %v2, i64 %v47
  %v49 = load <8 x float>, ptr %v48, align 4
  %v50 = add i64 %v26, %v42
  %v51 = getelementptr float, ptr %v2, i64 %v50
  %v52 = load <8 x float>, ptr %v51, align 4
  %v53 = add i64 %v26, %v43
  %v54 = getelementptr float, ptr %v2, i64 %v53
  %v55 = load <8 x float>, ptr %v54, align 4
  %v56 = fmul <8 x float> %v32, %v46
  %v57 = fmul <8 x float> %v32, %v49
  %v58 = fmul <8 x float> %v32, %v52
  %v59 = fmul <8 x float> %v32, %v55
  %v60 = getelementptr float, ptr %v6, i64 %v38
  %v61 = load <8 x float>, ptr %v60, align 4
  %v62 = getelementptr float, ptr %v6, i64 %v41
  %v63 = load <8 x float>, ptr %v62, align 4
  %v64 = getelementptr float, ptr %v6, i64 %v42
  %v65 = load <8 x float>, ptr %v64, align 4
  %v66 = getelementptr float, ptr %v6, i64 %v43
  %v67 = load <8 x float>, ptr %v66, align 4
  %v68 = fadd <8 x float> %v56, %v61
  %v69 = fadd <8 x float> %v57, %v63
  %v70 = fadd <8 x float> %v58, %v65
  %v71 = fadd <8 x float> %v59, %v67
  %v72 = add i64 %v26, %v38
  %v73 = getelementptr float, ptr %v2, i64 %v72
  store <8 x float> %v68, ptr %v73, align 4
  %v74 = add i64 %v26, %v41
  %v75 = getelementptr float, ptr %v2, i64 %v74
  store <8 x float> %v69, ptr %v75, align 4
  %v76 = add i64 %v26, %v42
  %v77 = getelementptr float, ptr %v2, i64 %v76
  store <8 x float> %v70, ptr %v77, align 4
  %v78 = add i64 %v26, %v43
  %v79 = getelementptr float, ptr %v2, i64 %v78
  store <8 x float> %v71, ptr %v79, align 4
  %v39 = add nsw i64 %v38, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v80 = phi i64 [ %v37, %after6 ], [ %v81, %body8 ]
  %v82 = icmp slt i64 %v80, %v35
  br i1 %v82, label %body8, label %after9
body8:
  %v83 = add i64 %v26, %v80
  %v84 = getelementptr float, ptr %v2, i64 %v83
  %v85 = load <8 x float>, ptr %v84, align 4
  %v86 = fmul <8 x float> %v32, %v85
  %v87 = getelementptr float, ptr %v6, i64 %v80
  %v88 = load <8 x float>, ptr %v87, align 4
  %v89 = fadd <8 x float> %v86, %v88
  %v90 = add i64 %v26, %v80
  %v91 = getelementptr float, ptr %v2, i64 %v90
  store <8 x float> %v89, ptr %v91, align 4
  %v81 = add nsw i64 %v80, 8
  br label %loop7
after9:
  %v92 = icmp slt i64 %v35, %v22
  br i1 %v92, label %then10, label %after11
then10:
  %v93 = sub i64 %v22, %v35
  %v94 = trunc i64 %v93 to i32
  %v95 = insertelement <8 x i32> poison, i32 %v94, i32 0
  %v96 = shufflevector <8 x i32> %v95, <8 x i32> poison, <8 x i32> zeroinitializer
  %v97 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v96
  %v98 = add i64 %v26, %v35
  %v99 = getelementptr float, ptr %v2, i64 %v98
  %v100 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v99, i32 4, <8 x i1> %v97, <8 x float> zeroinitializer)
  %v101 = fmul <8 x float> %v32, %v100
  %v102 = getelementptr float, ptr %v6, i64 %v35
  %v103 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v102, i32 4, <8 x i1> %v97, <8 x float> zeroinitializer)
  %v104 = fadd <8 x float> %v101, %v103
  %v105 = add i64 %v26, %v35
  %v106 = getelementptr float, ptr %v2, i64 %v105
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v104, ptr %v106, i32 4, <8 x i1> %v97)
  br label %after11
after11:
  %v24 = add nsw i64 %v23, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v24 = alloca [2 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v15 = sdiv i64 %v8, 1
  %v16 = icmp slt i64 %v15, 64
  %v17 = sdiv i64 %v10, 64
  %v18 = icmp sgt i64 %v17, %v15
  %v19 = and i1 %v16, %v18
  %v20 = select i1 %v19, i64 1, i64 0
  %v21 = select i1 %v19, i64 %v10, i64 %v8
  %v22 = select i1 %v19, i64 64, i64 1
  %v23 = select i1 %v19, i64 %v17, i64 %v15
  store ptr %words, ptr %v24
  %v25 = getelementptr i64, ptr %v24, i64 1
  store i64 %v20, ptr %v25
  %v26 = mul i64 %v10, 64
  %v27 = mul i64 %v8, %v26
  %v28 = icmp sge i64 %v27, 1572864
  %v29 = icmp ne i64 %threads, 1
  %v30 = and i1 %v28, %v29
  br i1 %v30, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v24, i64 %v21, i64 %v22, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v24, i64 0, i64 %v21)
  br label %after3
after3:
  ret void
}
