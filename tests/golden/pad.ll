@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
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
  %v24 = getelementptr i64, ptr %context, i64 1
  br label %loop1
loop1:
  %v25 = phi i64 [ %low, %entry ], [ %v26, %after6 ]
  %v27 = icmp slt i64 %v25, %high
  br i1 %v27, label %body2, label %after3
body2:
  %v28 = mul i64 %v25, %v10
  %v29 = icmp sge i64 %v25, %v14
  %v30 = icmp slt i64 %v25, %v16
  %v31 = and i1 %v29, %v30
  %v32 = sub i64 %v25, %v14
  %v33 = mul i64 %v32, %v12
  br label %while4
while4:
  %v34 = phi i64 [ 0, %body2 ], [ %v43, %after14 ]
  %v35 = icmp slt i64 %v34, %v8
  br i1 %v35, label %body5, label %after6
body5:
  %v36 = icmp sge i64 %v34, %v18
  %v37 = icmp slt i64 %v34, %v20
  %v38 = icmp sgt i64 %v18, %v34
  %v39 = select i1 %v38, i64 %v18, i64 %v8
  %v40 = call i64 @llvm.smin.i64(i64 %v8, i64 %v39)
  %v41 = icmp sgt i64 %v20, %v34
  %v42 = select i1 %v41, i64 %v20, i64 %v8
  %v43 = call i64 @llvm.smin.i64(i64 %v40, i64 %v42)
  %v44 = and i1 %v36, %v37
  %v45 = and i1 %v31, %v44
  %v46 = sub i64 0, %v18
  %v47 = add i64 %v33, %v46
  %v48 = insertelement <8 x i1> poison, i1 %v45, i32 0
  %v49 = shufflevector <8 x i1> %v48, <8 x i1> poison, <8 x i32> zeroinitializer
  %v50 = insertelement <8 x float> poison, float %v23, i32 0
  %v51 = shufflevector <8 x float> %v50, <8 x float> poison, <8 x i32> zeroinitializer
  %v52 = sub i64 %v43, %v34
  %v53 = and i64 %v52, -8
  %v54 = add i64 %v34, %v53
  %v55 = and i64 %v52, -32
  %v56 = add i64 %v34, %v55
  br label %loop7
loop7:
  %v57 = phi i64 [ %v34, %body5 ], [ %v58, %body8 ]
  %v59 = icmp slt i64 %v57, %v56
  br i1 %v59, label %body8, label %after9
body8:
  %v60 = add i64 %v57, 8
  %v61 = add i64 %v57, 16
  %v62 = add i64 %v57, 24
  %v63 = add i64 %v47, %v57
  %v64 = getelementptr float, ptr %v4, i64 %v63
  %v65 = select i1 %v45, ptr %v64, ptr @zeros
  %v66 = load <8 x float>, ptr %v65, align 4
  %v67 = add i64 %v47, %v60
  %v68 = getelementptr float, ptr %v4, i64 %v67
  %v69 = select i1 %v45, ptr %v68, ptr @zeros
  %v70 = load <8 x float>, ptr %v69, align 4
  %v71 = add i64 %v47, %v61
  %v72 = getelementptr float, ptr %v4, i64 %v71
  %v73 = select i1 %v45, ptr %v72, ptr @zeros
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = add i64 %v47, %v62
  %v76 = getelementptr float, ptr %v4, i64 %v75
  %v77 = select i1 %v45, ptr %v76, ptr @zeros
  %v78 = load <8 x float>, ptr %v77, align 4
  %v79 = select <8 x i1> %v49, <8 x float> %v66, <8 x float> %v51
  %v80 = select <8 x i1> %v49, <8 x float> %v70, <8 x float> %v51
  %v81 = select <8 x i1> %v49, <8 x float> %v74, <8 x float> %v51
  %v82 = select <8 x i1> %v49, <8 x float> %v78, <8 x float> %v51
  %v83 = add i64 %v28, %v57
  %v84 = getelementptr float, ptr %v2, i64 %v83
  store <8 x float> %v79, ptr %v84, align 4
  %v85 = add i64 %v28, %v60
  %v86 = getelementptr float, ptr %v2, i64 %v85
  store <8 x float> %v80, ptr %v86, align 4
  %v87 = add i64 %v28, %v61
  %v88 = getelementptr float, ptr %v2, i64 %v87
  store <8 x float> %v81, ptr %v88, align 4
  %v89 = add i64 %v28, %v62
  %v90 = getelementptr float, ptr %v2, i64 %v89
  store <8 x float> %v82, ptr %v90, align 4
  %v58 = add nsw i64 %v57, 32
  br label %loop7
after9:
  %v91 = icmp sge i64 %v52, 8
  %v92 = icmp eq ptr %v4, %v2
  %v93 = or i1 false, %v92
  %v94 = xor i1 %v93, true
  %v95 = and i1 %v91, %v94
  %v96 = select i1 %v95, i64 %v43, i64 %v54
  %v97 = sub i64 %v43, 8
  br label %loop10
loop10:
  %v98 = phi i64 [ %v56, %after9 ], [ %v99, %body11 ]
  %v100 = icmp slt i64 %v98, %v96
  br i1 %v100, label %body11, label %after12
body11:
  %v101 = call i64 @llvm.smin.i64(i64 %v98, i64 %v97)
  %v102 = add i64 %v47, %v101
  %v103 = getelementptr float, ptr %v4, i64 %v102
  %v104 = select i1 %v45, ptr %v103, ptr @zeros
  %v105 = load <8 x float>, ptr %v104, align 4
  %v106 = select <8 x i1> %v49, <8 x float> %v105, <8 x float> %v51
  %v107 = add i64 %v28, %v101
  %v108 = getelementptr float, ptr %v2, i64 %v107
  store <8 x float> %v106, ptr %v108, align 4
  %v99 = add nsw i64 %v98, 8
  br label %loop10
after12:
  %v109 = icmp slt i64 %v96, %v43
  br i1 %v109, label %then13, label %after14
then13:
  %v110 = sub i64 %v43, %v96
  %v111 = trunc i64 %v110 to i32
  %v112 = insertelement <8 x i32> poison, i32 %v111, i32 0
  %v113 = shufflevector <8 x i32> %v112, <8 x i32> poison, <8 x i32> zeroinitializer
  %v114 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v113
  %v115 = add i64 %v47, %v96
  %v116 = getelementptr float, ptr %v4, i64 %v115
  %v117 = select i1 %v45, ptr %v116, ptr @zeros
  %v118 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v117, i32 4, <8 x i1> %v114, <8 x float> zeroinitializer)
  %v119 = select <8 x i1> %v49, <8 x float> %v118, <8 x float> %v51
  %v120 = add i64 %v28, %v96
  %v121 = getelementptr float, ptr %v2, i64 %v120
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v119, ptr %v121, i32 4, <8 x i1> %v114)
  br label %after14
after14:
  br label %while4
after6:
  %v26 = add nsw i64 %v25, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v24 = alloca [2 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v21 = getelementptr i64, ptr %words, i64 10
  %v22 = load double, ptr %v21
  %v23 = fptrunc double %v22 to float
  store ptr %words, ptr %v24
  %v25 = getelementptr i64, ptr %v24, i64 1
  store i64 0, ptr %v25
  %v26 = mul i64 %v8, 25
  %v27 = mul i64 %v6, %v26
  %v28 = icmp sge i64 %v27, 1572864
  %v29 = icmp ne i64 %threads, 1
  %v30 = and i1 %v28, %v29
  br i1 %v30, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v24, i64 %v6, i64 1, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v24, i64 0, i64 %v6)
  br label %after3
after3:
  ret void
}
