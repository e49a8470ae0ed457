@zeros = internal constant [64 x i8] zeroinitializer, align 64
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
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load double, ptr %v7
  %v9 = fptrunc double %v8 to float
  %v10 = getelementptr i64, ptr %words, i64 4
  %v11 = load double, ptr %v10
  %v12 = fptrunc double %v11 to float
  %v13 = getelementptr i64, ptr %context, i64 1
  %v14 = insertelement <8 x float> poison, float %v12, i32 0
  %v15 = shufflevector <8 x float> %v14, <8 x float> poison, <8 x i32> zeroinitializer
  %v16 = insertelement <8 x float> poison, float %v9, i32 0
  %v17 = shufflevector <8 x float> %v16, <8 x float> poison, <8 x i32> zeroinitializer
  %v18 = sub i64 %high, %low
  %v19 = and i64 %v18, -8
  %v20 = add i64 %low, %v19
  %v21 = and i64 %v18, -32
  %v22 = add i64 %low, %v21
  br label %loop1
loop1:
  %v23 = phi i64 [ %low, %entry ], [ %v24, %body2 ]
  %v25 = icmp slt i64 %v23, %v22
  br i1 %v25, label %body2, label %after3
body2:
  %v26 = add i64 %v23, 8
  %v27 = add i64 %v23, 16
  %v28 = add i64 %v23, 24
  %v29 = getelementptr float, ptr %v2, i64 %v23
  %v30 = load <8 x float>, ptr %v29, align 4
  %v31 = getelementptr float, ptr %v2, i64 %v26
  %v32 = load <8 x float>, ptr %v31, align 4
  %v33 = getelementptr float, ptr %v2, i64 %v27
  %v34 = load <8 x float>, ptr %v33, align 4
  %v35 = getelementptr float, ptr %v2, i64 %v28
  %v36 = load <8 x float>, ptr %v35, align 4
  %v37 = getelementptr float, ptr %v4, i64 %v23
  %v38 = load <8 x float>, ptr %v37, align 4
  %v39 = getelementptr float, ptr %v4, i64 %v26
  %v40 = load <8 x float>, ptr %v39, align 4
  %v41 = getelementptr float, ptr %v4, i64 %v27
  %v42 = load <8 x float>, ptr %v41, align 4
  %v43 = getelementptr float, ptr %v4, i64 %v28
  %v44 = load <8 x float>, ptr %v43, align 4
  %v45 = fmul <8 x float> %v30, %v17
  %v46 = fmul <8 x float> %v32, %v17
  %v47 = fmul <8 x float> %v34, %v17
  %v48 = fmul <8 x float> %v36, %v17
  %v49 = fadd <8 x float> %v38, %v45
  %v50 = fadd <8 x float> %v40, %v46
  %v51 = fadd <8 x float> %v42, %v47
  %v52 = fadd <8 x float> %v44, %v48
  %v53 = fmul <8 x float> %v49, %v15
  %v54 = fmul <8 x float> %v50, %v15
  %v55 = fmul <8 x float> %v51, %v15
  %v56 = fmul <8 x float> %v52, %v15
  %v57 = fsub <8 x float> %v30, %v53
  %v58 = fsub <8 x float> %v32, %v54
  %v59 = fsub <8 x float> %v34, %v55
  %v60 = fsub <8 x float> %v36, %v56
  %v61 = getelementptr float, ptr %v2, i64 %v23
  store <8 x float> %v57, ptr %v61, align 4
  %v62 = getelementptr float, ptr %v2, i64 %v26
  store <8 x float> %v58, ptr %v62, align 4
  %v63 = getelementptr float, ptr %v2, i64 %v27
  store <8 x float> %v59, ptr %v63, align 4
  %v64 = getelementptr float, ptr %v2, i64 %v28
  store <8 x float> %v60, ptr %v64, align 4
  %v24 = add nsw i64 %v23, 32
  br label %loop1
after3:
  br label %loop4
loop4:
  %v65 = phi i64 [ %v22, %after3 ], [ %v66, %body5 ]
  %v67 = icmp slt i64 %v65, %v20
  br i1 %v67, label %body5, label %after6
body5:
  %v68 = getelementptr float, ptr %v2, i64 %v65
  %v69 = load <8 x float>, ptr %v68, align 4
  %v70 = getelementptr float, ptr %v4, i64 %v65
  %v71 = load <8 x float>, ptr %v70, align 4
  %v72 = fmul <8 x float> %v69, %v17
  %v73 = fadd <8 x float> %v71, %v72
  %v74 = fmul <8 x float> %v73, %v15
  %v75 = fsub <8 x float> %v69, %v74
  %v76 = getelementptr float, ptr %v2, i64 %v65
  store <8 x float> %v75, ptr %v76, align 4
  %v66 = add nsw i64 %v65, 8
  br label %loop4
after6:
  %v77 = icmp slt i64 %v20, %high
  br i1 %v77, label %then7, label %after8
then7:
  %v78 = sub i64 %high, %v20
  %v79 = trunc i64 %v78 to i32
  %v80 = insertelement <8 x i32> poison, i32 %v79, i32 0
  %v81 = shufflevector <8 x i32> %v80, <8 x i32> poison, <8 x i32> zeroinitializer
  %v82 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v81
  %v83 = getelementptr float, ptr %v2, i64 %v20
  %v84 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v83, i32 4, <8 x i1> %v82, <8 x float> zeroinitializer)
  %v85 = getelementptr float, ptr %v4, i64 %v20
  %v86 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v85, i32 4, <8 x i1> %v82, <8 x float> zeroinitializer)
  %v87 = fmul <8 x float> %v84, %v17
  %v88 = fadd <8 x float> %v86, %v87
  %v89 = fmul <8 x float> %v88, %v15
  %v90 = fsub <8 x float> %v84, %v89
  %v91 = getelementptr float, ptr %v2, i64 %v20
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v90, ptr %v91, i32 4, <8 x i1> %v82)
  br label %after8
after8:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v13 = alloca [2 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load double, ptr %v7
  %v9 = fptrunc double %v8 to float
  %v10 = getelementptr i64, ptr %words, i64 4
  %v11 = load double, ptr %v10
  %v12 = fptrunc double %v11 to float
  store ptr %words, ptr %v13
  %v14 = getelementptr i64, ptr %v13, i64 1
  store i64 0, ptr %v14
  %v15 = mul i64 %v6, 40
  %v16 = icmp sge i64 %v15, 1572864
  %v17 = icmp ne i64 %threads, 1
  %v18 = and i1 %v16, %v17
  br i1 %v18, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v13, i64 %v6, i64 64, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v13, i64 0, i64 %v6)
  br label %after3
after3:
  ret void
}
