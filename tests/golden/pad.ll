@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
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
  %v8 = load i64, ptr %v7
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
  %v19 = getelementptr i64, ptr %words, i64 9
  %v20 = load i64, ptr %v19
  %v21 = getelementptr i64, ptr %words, i64 10
  %v22 = load double, ptr %v21
  %v23 = fptrunc double %v22 to float
  br label %loop1
loop1:
  %v24 = phi i64 [ 0, %entry ], [ %v25, %after6 ]
  %v26 = icmp slt i64 %v24, %v6
  br i1 %v26, label %body2, label %after3
body2:
  %v27 = mul i64 %v24, %v10
  %v28 = icmp sge i64 %v24, %v14
  %v29 = icmp slt i64 %v24, %v16
  %v30 = and i1 %v28, %v29
  %v31 = sub i64 %v24, %v14
  %v32 = mul i64 %v31, %v12
  br label %while4
while4:
  %v33 = phi i64 [ 0, %body2 ], [ %v42, %after14 ]
  %v34 = icmp slt i64 %v33, %v8
  br i1 %v34, label %body5, label %after6
body5:
  %v35 = icmp sge i64 %v33, %v18
  %v36 = icmp slt i64 %v33, %v20
  %v37 = icmp sgt i64 %v18, %v33
  %v38 = select i1 %v37, i64 %v18, i64 %v8
  %v39 = call i64 @llvm.smin.i64(i64 %v8, i64 %v38)
  %v40 = icmp sgt i64 %v20, %v33
  %v41 = select i1 %v40, i64 %v20, i64 %v8
  %v42 = call i64 @llvm.smin.i64(i64 %v39, i64 %v41)
  %v43 = and i1 %v35, %v36
  %v44 = and i1 %v30, %v43
  %v45 = sub i64 0, %v18
  %v46 = add i64 %v32, %v45
  %v47 = insertelement <8 x i1> poison, i1 %v44, i32 0
  %v48 = shufflevector <8 x i1> %v47, <8 x i1> poison, <8 x i32> zeroinitializer
  %v49 = insertelement <8 x float> poison, float %v23, i32 0
  %v50 = shufflevector <8 x float> %v49, <8 x float> poison, <8 x i32> zeroinitializer
  %v51 = sub i64 %v42, %v33
  %v52 = and i64 %v51, -8
  %v53 = add i64 %v33, %v52
  %v54 = and i64 %v51, -32
  %v55 = add i64 %v33, %v54
  br label %loop7
loop7:
  %v56 = phi i64 [ %v33, %body5 ], [ %v57, %body8 ]
  %v58 = icmp slt i64 %v56, %v55
  br i1 %v58, label %body8, label %after9
body8:
  %v59 = add i64 %v46, %v56
  %v60 = getelementptr float, ptr %v4, i64 %v59
  %v61 = select i1 %v44, ptr %v60, ptr @zeros
  %v62 = load <8 x float>, ptr %v61, align 4
  %v63 = select <8 x i1> %v48, <8 x float> %v62, <8 x float> %v50
  %v64 = add i64 %v56, 8
  %v65 = add i64 %v46, %v64
  %v66 = getelementptr float, ptr %v4, i64 %v65
  %v67 = select i1 %v44, ptr %v66, ptr @zeros
  %v68 = load <8 x float>, ptr %v67, align 4
  %v69 = select <8 x i1> %v48, <8 x float> %v68, <8 x float> %v50
  %v70 = add i64 %v56, 16
  %v71 = add i64 %v46, %v70
  %v72 = getelementptr float, ptr %v4, i64 %v71
  %v73 = select i1 %v44, ptr %v72, ptr @zeros
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = select <8 x i1> %v48, <8 x float> %v74, <8 x float> %v50
  %v76 = add i64 %v56, 24
  %v77 = add i64 %v46, %v76
  %v78 = getelementptr float, ptr %v4, i64 %v77
  %v79 = select i1 %v44, ptr %v78, ptr @zeros
  %v80 = load <8 x float>, ptr %v79, align 4
  %v81 = select <8 x i1> %v48, <8 x float> %v80, <8 x float> %v50
  %v82 = add i64 %v27, %v56
  %v83 = getelementptr float, ptr %v2, i64 %v82
  store <8 x float> %v63, ptr %v83, align 4
  %v84 = add i64 %v27, %v64
  %v85 = getelementptr float, ptr %v2, i64 %v84
  store <8 x float> %v69, ptr %v85, align 4
  %v86 = add i64 %v27, %v70
  %v87 = getelementptr float, ptr %v2, i64 %v86
  store <8 x float> %v75, ptr %v87, align 4
  %v88 = add i64 %v27, %v76
  %v89 = getelementptr float, ptr %v2, i64 %v88
  store <8 x float> %v81, ptr %v89, align 4
  %v57 = add nsw i64 %v56, 32
  br label %loop7
after9:
  br label %loop10
loop10:
  %v90 = phi i64 [ %v55, %after9 ], [ %v91, %body11 ]
  %v92 = icmp slt i64 %v90, %v53
  br i1 %v92, label %body11, label %after12
body11:
  %v93 = add i64 %v46, %v90
  %v94 = getelementptr float, ptr %v4, i64 %v93
  %v95 = select i1 %v44, ptr %v94, ptr @zeros
  %v96 = load <8 x float>, ptr %v95, align 4
  %v97 = select <8 x i1> %v48, <8 x float> %v96, <8 x float> %v50
  %v98 = add i64 %v27, %v90
  %v99 = getelementptr float, ptr %v2, i64 %v98
  store <8 x float> %v97, ptr %v99, align 4
  %v91 = add nsw i64 %v90, 8
  br label %loop10
after12:
  %v100 = icmp slt i64 %v53, %v42
  br i1 %v100, label %then13, label %after14
then13:
  %v101 = sub i64 %v42, %v53
  %v102 = trunc i64 %v101 to i32
  %v103 = insertelement <8 x i32> poison, i32 %v102, i32 0
  %v104 = shufflevector <8 x i32> %v103, <8 x i32> poison, <8 x i32> zeroinitializer
  %v105 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v104
  %v106 = add i64 %v46, %v53
  %v107 = getelementptr float, ptr %v4, i64 %v106
  %v108 = select i1 %v44, ptr %v107, ptr @zeros
  %v109 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v108, i32 4, <8 x i1> %v105, <8 x float> zeroinitializer)
  %v110 = select <8 x i1> %v48, <8 x float> %v109, <8 x float> %v50
  %v111 = add i64 %v27, %v53
  %v112 = getelementptr float, ptr %v2, i64 %v111
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v110, ptr %v112, i32 4, <8 x i1> %v105)
  br label %after14
after14:
  br label %while4
after6:
  %v25 = add nsw i64 %v24, 1
  br label %loop1
after3:
  ret void
}
