@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
define void @kernel(ptr %words) nounwind {
entry:
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load double, ptr %v7
  %v9 = fptrunc double %v8 to float
  %v10 = getelementptr i64, ptr %words, i64 4
  %v11 = load double, ptr %v10
  %v12 = fptrunc double %v11 to float
  %v13 = insertelement <8 x float> poison, float %v12, i32 0
  %v14 = shufflevector <8 x float> %v13, <8 x float> poison, <8 x i32> zeroinitializer
  %v15 = insertelement <8 x float> poison, float %v9, i32 0
  %v16 = shufflevector <8 x float> %v15, <8 x float> poison, <8 x i32> zeroinitializer
  %v17 = sub i64 %v6, 0
  %v18 = and i64 %v17, -8
  %v19 = and i64 %v17, -32
  br label %loop1
loop1:
  %v20 = phi i64 [ 0, %entry ], [ %v21, %body2 ]
  %v22 = icmp slt i64 %v20, %v19
  br i1 %v22, label %body2, label %after3
body2:
  %v23 = getelementptr float, ptr %v2, i64 %v20
  %v24 = load <8 x float>, ptr %v23, align 4
  %v25 = getelementptr float, ptr %v4, i64 %v20
  %v26 = load <8 x float>, ptr %v25, align 4
  %v27 = fmul <8 x float> %v24, %v16
  %v28 = fadd <8 x float> %v26, %v27
  %v29 = fmul <8 x float> %v28, %v14
  %v30 = fsub <8 x float> %v24, %v29
  %v31 = add i64 %v20, 8
  %v32 = getelementptr float, ptr %v2, i64 %v31
  %v33 = load <8 x float>, ptr %v32, align 4
  %v34 = getelementptr float, ptr %v4, i64 %v31
  %v35 = load <8 x float>, ptr %v34, align 4
  %v36 = fmul <8 x float> %v33, %v16
  %v37 = fadd <8 x float> %v35, %v36
  %v38 = fmul <8 x float> %v37, %v14
  %v39 = fsub <8 x float> %v33, %v38
  %v40 = add i64 %v20, 16
  %v41 = getelementptr float, ptr %v2, i64 %v40
  %v42 = load <8 x float>, ptr %v41, align 4
  %v43 = getelementptr float, ptr %v4, i64 %v40
  %v44 = load <8 x float>, ptr %v43, align 4
  %v45 = fmul <8 x float> %v42, %v16
  %v46 = fadd <8 x float> %v44, %v45
  %v47 = fmul <8 x float> %v46, %v14
  %v48 = fsub <8 x float> %v42, %v47
  %v49 = add i64 %v20, 24
  %v50 = getelementptr float, ptr %v2, i64 %v49
  %v51 = load <8 x float>, ptr %v50, align 4
  %v52 = getelementptr float, ptr %v4, i64 %v49
  %v53 = load <8 x float>, ptr %v52, align 4
  %v54 = fmul <8 x float> %v51, %v16
  %v55 = fadd <8 x float> %v53, %v54
  %v56 = fmul <8 x float> %v55, %v14
  %v57 = fsub <8 x float> %v51, %v56
  %v58 = getelementptr float, ptr %v2, i64 %v20
  store <8 x float> %v30, ptr %v58, align 4
  %v59 = getelementptr float, ptr %v2, i64 %v31
  store <8 x float> %v39, ptr %v59, align 4
  %v60 = getelementptr float, ptr %v2, i64 %v40
  store <8 x float> %v48, ptr %v60, align 4
  %v61 = getelementptr float, ptr %v2, i64 %v49
  store <8 x float> %v57, ptr %v61, align 4
  %v21 = add nsw i64 %v20, 32
  br label %loop1
after3:
  br label %loop4
loop4:
  %v62 = phi i64 [ %v19, %after3 ], [ %v63, %body5 ]
  %v64 = icmp slt i64 %v62, %v18
  br i1 %v64, label %body5, label %after6
body5:
  %v65 = getelementptr float, ptr %v2, i64 %v62
  %v66 = load <8 x float>, ptr %v65, align 4
  %v67 = getelementptr float, ptr %v4, i64 %v62
  %v68 = load <8 x float>, ptr %v67, align 4
  %v69 = fmul <8 x float> %v66, %v16
  %v70 = fadd <8 x float> %v68, %v69
  %v71 = fmul <8 x float> %v70, %v14
  %v72 = fsub <8 x float> %v66, %v71
  %v73 = getelementptr float, ptr %v2, i64 %v62
  store <8 x float> %v72, ptr %v73, align 4
  %v63 = add nsw i64 %v62, 8
  br label %loop4
after6:
  %v74 = icmp slt i64 %v18, %v6
  br i1 %v74, label %then7, label %after8
then7:
  %v75 = sub i64 %v6, %v18
  %v76 = trunc i64 %v75 to i32
  %v77 = insertelement <8 x i32> poison, i32 %v76, i32 0
  %v78 = shufflevector <8 x i32> %v77, <8 x i32> poison, <8 x i32> zeroinitializer
  %v79 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v78
  %v80 = getelementptr float, ptr %v2, i64 %v18
  %v81 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v80, i32 4, <8 x i1> %v79, <8 x float> zeroinitializer)
  %v82 = getelementptr float, ptr %v4, i64 %v18
  %v83 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v82, i32 4, <8 x i1> %v79, <8 x float> zeroinitializer)
  %v84 = fmul <8 x float> %v81, %v16
  %v85 = fadd <8 x float> %v83, %v84
  %v86 = fmul <8 x float> %v85, %v14
  %v87 = fsub <8 x float> %v81, %v86
  %v88 = getelementptr float, ptr %v2, i64 %v18
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v87, ptr %v88, i32 4, <8 x i1> %v79)
  br label %after8
after8:
  ret void
}
