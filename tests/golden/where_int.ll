@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = trunc i64 %v6 to i8
  %v8 = getelementptr i64, ptr %words, i64 3
  %v9 = load i64, ptr %v8
  %v10 = trunc i64 %v9 to i8
  %v11 = getelementptr i64, ptr %words, i64 4
  %v12 = load i64, ptr %v11
  %v13 = trunc i64 %v12 to i8
  %v14 = getelementptr i64, ptr %context, i64 1
  %v15 = load i1, ptr %v14
  %v16 = getelementptr i64, ptr %context, i64 2
  %v17 = load i8, ptr %v16
  %v18 = getelementptr i64, ptr %context, i64 3
  %v19 = insertelement <32 x i8> poison, i8 %v13, i32 0
  %v20 = shufflevector <32 x i8> %v19, <32 x i8> poison, <32 x i32> zeroinitializer
  %v21 = insertelement <32 x i1> poison, i1 %v15, i32 0
  %v22 = shufflevector <32 x i1> %v21, <32 x i1> poison, <32 x i32> zeroinitializer
  %v23 = insertelement <32 x i8> poison, i8 %v17, i32 0
  %v24 = shufflevector <32 x i8> %v23, <32 x i8> poison, <32 x i32> zeroinitializer
  %v25 = insertelement <32 x i8> poison, i8 %v7, i32 0
  %v26 = shufflevector <32 x i8> %v25, <32 x i8> poison, <32 x i32> zeroinitializer
  %v27 = sub i64 %high, %low
  %v28 = and i64 %v27, -32
  %v29 = add i64 %low, %v28
  %v30 = and i64 %v27, -128
  %v31 = add i64 %low, %v30
  br label %loop1
loop1:
  %v32 = phi i64 [ %low, %entry ], [ %v33, %body2 ]
  %v34 = icmp slt i64 %v32, %v31
  br i1 %v34, label %body2, label %after3
body2:
  %v35 = add i64 %v32, 32
  %v36 = add i64 %v32, 64
  %v37 = add i64 %v32, 96
  %v38 = getelementptr i8, ptr %v2, i64 %v32
  %v39 = load <32 x i8>, ptr %v38, align 1
  %v40 = getelementptr i8, ptr %v2, i64 %v35
  %v41 = load <32 x i8>, ptr %v40, align 1
  %v42 = getelementptr i8, ptr %v2, i64 %v36
  %v43 = load <32 x i8>, ptr %v42, align 1
  %v44 = getelementptr i8, ptr %v2, i64 %v37
  %v45 = load <32 x i8>, ptr %v44, align 1
  %v46 = icmp ugt <32 x i8> %v39, %v26
  %v47 = icmp ugt <32 x i8> %v41, %v26
  %v48 = icmp ugt <32 x i8> %v43, %v26
  %v49 = icmp ugt <32 x i8> %v45, %v26
  %v50 = uitofp <32 x i8> %v39 to <32 x float>
  %v51 = uitofp i8 %v17 to float
  %v52 = fdiv float 0x3FF0000100000000, %v51
  %v53 = insertelement <32 x float> poison, float %v52, i32 0
  %v54 = shufflevector <32 x float> %v53, <32 x float> poison, <32 x i32> zeroinitializer
  %v55 = fmul <32 x float> %v50, %v54
  %v56 = fptosi <32 x float> %v55 to <32 x i32>
  %v57 = trunc <32 x i32> %v56 to <32 x i8>
  %v58 = uitofp <32 x i8> %v41 to <32 x float>
  %v59 = uitofp i8 %v17 to float
  %v60 = fdiv float 0x3FF0000100000000, %v59
  %v61 = insertelement <32 x float> poison, float %v60, i32 0
  %v62 = shufflevector <32 x float> %v61, <32 x float> poison, <32 x i32> zeroinitializer
  %v63 = fmul <32 x float> %v58, %v62
  %v64 = fptosi <32 x float> %v63 to <32 x i32>
  %v65 = trunc <32 x i32> %v64 to <32 x i8>
  %v66 = uitofp <32 x i8> %v43 to <32 x float>
  %v67 = uitofp i8 %v17 to float
  %v68 = fdiv float 0x3FF0000100000000, %v67
  %v69 = insertelement <32 x float> poison, float %v68, i32 0
  %v70 = shufflevector <32 x float> %v69, <32 x float> poison, <32 x i32> zeroinitializer
  %v71 = fmul <32 x float> %v66, %v70
  %v72 = fptosi <32 x float> %v71 to <32 x i32>
  %v73 = trunc <32 x i32> %v72 to <32 x i8>
  %v74 = uitofp <32 x i8> %v45 to <32 x float>
  %v75 = uitofp i8 %v17 to float
  %v76 = fdiv float 0x3FF0000100000000, %v75
  %v77 = insertelement <32 x float> poison, float %v76, i32 0
  %v78 = shufflevector <32 x float> %v77, <32 x float> poison, <32 x i32> zeroinitializer
  %v79 = fmul <32 x float> %v74, %v78
  %v80 = fptosi <32 x float> %v79 to <32 x i32>
  %v81 = trunc <32 x i32> %v80 to <32 x i8>
  %v82 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v57
  %v83 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v65
  %v84 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v73
  %v85 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v81
  %v86 = add <32 x i8> %v39, %v20
  %v87 = add <32 x i8> %v41, %v20
  %v88 = add <32 x i8> %v43, %v20
  %v89 = add <32 x i8> %v45, %v20
  %v90 = select <32 x i1> %v46, <32 x i8> %v82, <32 x i8> %v86
  %v91 = select <32 x i1> %v47, <32 x i8> %v83, <32 x i8> %v87
  %v92 = select <32 x i1> %v48, <32 x i8> %v84, <32 x i8> %v88
  %v93 = select <32 x i1> %v49, <32 x i8> %v85, <32 x i8> %v89
  %v94 = getelementptr i8, ptr %v2, i64 %v32
  store <32 x i8> %v90, ptr %v94, align 1
  %v95 = getelementptr i8, ptr %v2, i64 %v35
  store <32 x i8> %v91, ptr %v95, align 1
  %v96 = getelementptr i8, ptr %v2, i64 %v36
  store <32 x i8> %v92, ptr %v96, align 1
  %v97 = getelementptr i8, ptr %v2, i64 %v37
  store <32 x i8> %v93, ptr %v97, align 1
  %v33 = add nsw i64 %v32, 128
  br label %loop1
after3:
  %v98 = select i1 false, i64 %high, i64 %v29
  %v99 = sub i64 %high, 32
  br label %loop4
loop4:
  %v100 = phi i64 [ %v31, %after3 ], [ %v101, %body5 ]
  %v102 = icmp slt i64 %v100, %v98
  br i1 %v102, label %body5, label %after6
body5:
  %v103 = call i64 @llvm.smin.i64(i64 %v100, i64 %v99)
  %v104 = getelementptr i8, ptr %v2, i64 %v103
  %v105 = load <32 x i8>, ptr %v104, align 1
  %v106 = icmp ugt <32 x i8> %v105, %v26
  %v107 = uitofp <32 x i8> %v105 to <32 x float>
  %v108 = uitofp i8 %v17 to float
  %v109 = fdiv float 0x3FF0000100000000, %v108
  %v110 = insertelement <32 x float> poison, float %v109, i32 0
  %v111 = shufflevector <32 x float> %v110, <32 x float> poison, <32 x i32> zeroinitializer
  %v112 = fmul <32 x float> %v107, %v111
  %v113 = fptosi <32 x float> %v112 to <32 x i32>
  %v114 = trunc <32 x i32> %v113 to <32 x i8>
  %v115 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v114
  %v116 = add <32 x i8> %v105, %v20
  %v117 = select <32 x i1> %v106, <32 x i8> %v115, <32 x i8> %v116
  %v118 = getelementptr i8, ptr %v2, i64 %v103
  store <32 x i8> %v117, ptr %v118, align 1
  %v101 = add nsw i64 %v100, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v119 = phi i64 [ %v98, %after6 ], [ %v120, %body8 ]
  %v121 = icmp slt i64 %v119, %high
  br i1 %v121, label %body8, label %after9
body8:
  %v122 = getelementptr i8, ptr %v2, i64 %v119
  %v123 = load i8, ptr %v122, align 1
  %v124 = icmp ugt i8 %v123, %v7
  %v125 = udiv i8 %v123, %v17
  %v126 = select i1 %v15, i8 0, i8 %v125
  %v127 = add i8 %v123, %v13
  %v128 = select i1 %v124, i8 %v126, i8 %v127
  %v129 = getelementptr i8, ptr %v2, i64 %v119
  store i8 %v128, ptr %v129, align 1
  %v120 = add nsw i64 %v119, 1
  br label %loop7
after9:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v16 = alloca [4 x i64], align 64
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load i64, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = trunc i64 %v6 to i8
  %v8 = getelementptr i64, ptr %words, i64 3
  %v9 = load i64, ptr %v8
  %v10 = trunc i64 %v9 to i8
  %v11 = getelementptr i64, ptr %words, i64 4
  %v12 = load i64, ptr %v11
  %v13 = trunc i64 %v12 to i8
  %v14 = icmp eq i8 %v10, 0
  %v15 = select i1 %v14, i8 1, i8 %v10
  store ptr %words, ptr %v16
  %v17 = getelementptr i64, ptr %v16, i64 1
  store i1 %v14, ptr %v17
  %v18 = getelementptr i64, ptr %v16, i64 2
  store i8 %v15, ptr %v18
  %v19 = getelementptr i64, ptr %v16, i64 3
  store i64 0, ptr %v19
  %v20 = mul i64 %v4, 16
  %v21 = icmp sge i64 %v20, 1572864
  %v22 = icmp ne i64 %threads, 1
  %v23 = and i1 %v21, %v22
  br i1 %v23, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v16, i64 %v4, i64 64, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v16, i64 0, i64 %v4)
  br label %after3
after3:
  ret void
}
