@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare float @llvm.sqrt.f32(float)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
define void @kernel(ptr %words) nounwind {
entry:
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
  br label %loop1
loop1:
  %v19 = phi i64 [ 0, %entry ], [ %v20, %after11 ]
  %v21 = icmp slt i64 %v19, %v10
  br i1 %v21, label %body2, label %after3
body2:
  %v22 = mul i64 %v19, %v14
  %v23 = mul i64 %v19, %v16
  %v24 = getelementptr float, ptr %v4, i64 %v23
  %v25 = load float, ptr %v24, align 4
  %v26 = call float @llvm.sqrt.f32(float %v25)
  %v27 = mul i64 %v19, %v18
  %v28 = insertelement <8 x float> poison, float %v26, i32 0
  %v29 = shufflevector <8 x float> %v28, <8 x float> poison, <8 x i32> zeroinitializer
  %v30 = sub i64 %v12, 0
  %v31 = and i64 %v30, -8
  %v32 = and i64 %v30, -32
  br label %loop4
loop4:
  %v33 = phi i64 [ 0, %body2 ], [ %v34, %body5 ]
  %v35 = icmp slt i64 %v33, %v32
  br i1 %v35, label %body5, label %after6
body5:
  %v36 = add i64 %v27, %v33
  %v37 = getelementptr float, ptr %v6, i64 %v36
  %v38 = load <8 x float>, ptr %v37, align 4
  %v39 = fmul <8 x float> %v29, %v38
  %v40 = getelementptr float, ptr %v8, i64 %v33
  %v41 = load <8 x float>, ptr %v40, align 4
  %v42 = fadd <8 x float> %v39, %v41
  %v43 = add i64 %v33, 8
  %v44 = add i64 %v27, %v43
  %v45 = getelementptr float, ptr %v6, i64 %v44
  %v46 = load <8 x float>, ptr %v45, align 4
  %v47 = fmul <8 x float> %v29, %v46
  %v48 = getelementptr float, ptr %v8, i64 %v43
  %v49 = load <8 x float>, ptr %v48, align 4
  %v50 = fadd <8 x float> %v47, %v49
  %v51 = add i64 %v33, 16
  %v52 = add i64 %v27, %v51
  %v53 = getelementptr float, ptr %v6, i64 %v52
  %v54 = load <8 x float>, ptr %v53, align 4
  %v55 = fmul <8 x float> %v29, %v54
  %v56 = getelementptr float, ptr %v8, i64 %v51
  %v57 = load <8 x float>, ptr %v56, align 4
  %v58 = fadd <8 x float> %v55, %v57
  %v59 = add i64 %v33, 24
  %v60 = add i64 %v27, %v59
  %v61 = getelementptr float, ptr %v6, i64 %v60
  %v62 = load <8 x float>, ptr %v61, align 4
  %v63 = fmul <8 x float> %v29, %v62
  %v64 = getelementptr float, ptr %v8, i64 %v59
  %v65 = load <8 x float>, ptr %v64, align 4
  %v66 = fadd <8 x float> %v63, %v65
  %v67 = add i64 %v22, %v33
  %v68 = getelementptr float, ptr %v2, i64 %v67
  store <8 x float> %v42, ptr %v68, align 4
  %v69 = add i64 %v22, %v43
  %v70 = getelementptr float, ptr %v2, i64 %v69
  store <8 x float> %v50, ptr %v70, align 4
  %v71 = add i64 %v22, %v51
  %v72 = getelementptr float, ptr %v2, i64 %v71
  store <8 x float> %v58, ptr %v72, align 4
  %v73 = add i64 %v22, %v59
  %v74 = getelementptr float, ptr %v2, i64 %v73
  store <8 x float> %v66, ptr %v74, align 4
  %v34 = add nsw i64 %v33, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v75 = phi i64 [ %v32, %after6 ], [ %v76, %body8 ]
  %v77 = icmp slt i64 %v75, %v31
  br i1 %v77, label %body8, label %after9
body8:
  %v78 = add i64 %v27, %v75
  %v79 = getelementptr float, ptr %v6, i64 %v78
  %v80 = load <8 x float>, ptr %v79, align 4
  %v81 = fmul <8 x float> %v29, %v80
  %v82 = getelementptr float, ptr %v8, i64 %v75
  %v83 = load <8 x float>, ptr %v82, align 4
  %v84 = fadd <8 x float> %v81, %v83
  %v85 = add i64 %v22, %v75
  %v86 = getelementptr float, ptr %v2, i64 %v85
  store <8 x float> %v84, ptr %v86, align 4
  %v76 = add nsw i64 %v75, 8
  br label %loop7
after9:
  %v87 = icmp slt i64 %v31, %v12
  br i1 %v87, label %then10, label %after11
then10:
  %v88 = sub i64 %v12, %v31
  %v89 = trunc i64 %v88 to i32
  %v90 = insertelement <8 x i32> poison, i32 %v89, i32 0
  %v91 = shufflevector <8 x i32> %v90, <8 x i32> poison, <8 x i32> zeroinitializer
  %v92 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v91
  %v93 = add i64 %v27, %v31
  %v94 = getelementptr float, ptr %v6, i64 %v93
  %v95 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v94, i32 4, <8 x i1> %v92, <8 x float> zeroinitializer)
  %v96 = fmul <8 x float> %v29, %v95
  %v97 = getelementptr float, ptr %v8, i64 %v31
  %v98 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v97, i32 4, <8 x i1> %v92, <8 x float> zeroinitializer)
  %v99 = fadd <8 x float> %v96, %v98
  %v100 = add i64 %v22, %v31
  %v101 = getelementptr float, ptr %v2, i64 %v100
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v99, ptr %v101, i32 4, <8 x i1> %v92)
  br label %after11
after11:
  %v20 = add nsw i64 %v19, 1
  br label %loop1
after3:
  ret void
}
