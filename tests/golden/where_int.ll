@zeros = internal constant [64 x i8] zeroinitializer, align 64
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
  br label %loop4
loop4:
  %v98 = phi i64 [ %v31, %after3 ], [ %v99, %body5 ]
  %v100 = icmp slt i64 %v98, %v29
  br i1 %v100, label %body5, label %after6
body5:
  %v101 = getelementptr i8, ptr %v2, i64 %v98
  %v102 = load <32 x i8>, ptr %v101, align 1
  %v103 = icmp ugt <32 x i8> %v102, %v26
  %v104 = uitofp <32 x i8> %v102 to <32 x float>
  %v105 = uitofp i8 %v17 to float
  %v106 = fdiv float 0x3FF0000100000000, %v105
  %v107 = insertelement <32 x float> poison, float %v106, i32 0
  %v108 = shufflevector <32 x float> %v107, <32 x float> poison, <32 x i32> zeroinitializer
  %v109 = fmul <32 x float> %v104, %v108
  %v110 = fptosi <32 x float> %v109 to <32 x i32>
  %v111 = trunc <32 x i32> %v110 to <32 x i8>
  %v112 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v111
  %v113 = add <32 x i8> %v102, %v20
  %v114 = select <32 x i1> %v103, <32 x i8> %v112, <32 x i8> %v113
  %v115 = getelementptr i8, ptr %v2, i64 %v98
  store <32 x i8> %v114, ptr %v115, align 1
  %v99 = add nsw i64 %v98, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v116 = phi i64 [ %v29, %after6 ], [ %v117, %body8 ]
  %v118 = icmp slt i64 %v116, %high
  br i1 %v118, label %body8, label %after9
body8:
  %v119 = getelementptr i8, ptr %v2, i64 %v116
  %v120 = load i8, ptr %v119, align 1
  %v121 = icmp ugt i8 %v120, %v7
  %v122 = udiv i8 %v120, %v17
  %v123 = select i1 %v15, i8 0, i8 %v122
  %v124 = add i8 %v120, %v13
  %v125 = select i1 %v121, i8 %v123, i8 %v124
  %v126 = getelementptr i8, ptr %v2, i64 %v116
  store i8 %v125, ptr %v126, align 1
  %v117 = add nsw i64 %v116, 1
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
