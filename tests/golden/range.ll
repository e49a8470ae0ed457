@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32 immarg, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32 immarg, <4 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v162 = alloca i64, align 64
  %words = load ptr, ptr %context
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
  %v19 = getelementptr i64, ptr %context, i64 1
  %v20 = load i64, ptr %v19
  %v21 = icmp eq i64 %v20, 0
  %v22 = select i1 %v21, i64 %low, i64 0
  %v23 = select i1 %v21, i64 %high, i64 %v6
  %v24 = icmp eq i64 %v20, 1
  %v25 = select i1 %v24, i64 %low, i64 0
  %v26 = select i1 %v24, i64 %high, i64 %v8
  br label %loop1
loop1:
  %v27 = phi i64 [ %v22, %entry ], [ %v28, %after15 ]
  %v29 = icmp slt i64 %v27, %v23
  br i1 %v29, label %body2, label %after3
body2:
  %v30 = mul i64 %v27, %v10
  %v31 = mul i64 %v27, %v12
  %v32 = add i64 %v27, 1
  %v33 = mul i64 %v32, %v12
  %v34 = mul i64 %v6, %v8
  %v35 = icmp sge i64 %v34, 2097152
  %v36 = icmp slt i64 %v8, 65536
  %v37 = and i1 %v35, %v36
  %v38 = icmp ne i64 %v12, %v8
  %v39 = and i1 %v37, %v38
  %v40 = insertelement <4 x i64> poison, i64 %v18, i32 0
  %v41 = shufflevector <4 x i64> %v40, <4 x i64> poison, <4 x i32> zeroinitializer
  %v42 = insertelement <4 x i64> poison, i64 %v16, i32 0
  %v43 = shufflevector <4 x i64> %v42, <4 x i64> poison, <4 x i32> zeroinitializer
  %v44 = insertelement <4 x i64> poison, i64 %v14, i32 0
  %v45 = shufflevector <4 x i64> %v44, <4 x i64> poison, <4 x i32> zeroinitializer
  %v46 = sub i64 %v26, %v25
  %v47 = and i64 %v46, -4
  %v48 = add i64 %v25, %v47
  %v49 = and i64 %v46, -16
  %v50 = add i64 %v25, %v49
  br label %loop4
loop4:
  %v51 = phi i64 [ %v25, %body2 ], [ %v52, %after8 ]
  %v53 = icmp slt i64 %v51, %v50
  br i1 %v53, label %body5, label %after6
body5:
  br i1 %v39, label %then7, label %after8
then7:
  %v54 = add i64 %v33, %v51
  %v55 = getelementptr float, ptr %v4, i64 %v54
  call void @llvm.prefetch.p0(ptr %v55, i32 0, i32 2, i32 1)
  br label %after8
after8:
  %v56 = add i64 %v51, 4
  %v57 = add i64 %v51, 8
  %v58 = add i64 %v51, 12
  %v59 = insertelement <4 x i64> poison, i64 %v51, i32 0
  %v60 = shufflevector <4 x i64> %v59, <4 x i64> poison, <4 x i32> zeroinitializer
  %v61 = add <4 x i64> %v60, <i64 0, i64 1, i64 2, i64 3>
  %v62 = insertelement <4 x i64> poison, i64 %v56, i32 0
  %v63 = shufflevector <4 x i64> %v62, <4 x i64> poison, <4 x i32> zeroinitializer
  %v64 = add <4 x i64> %v63, <i64 0, i64 1, i64 2, i64 3>
  %v65 = insertelement <4 x i64> poison, i64 %v57, i32 0
  %v66 = shufflevector <4 x i64> %v65, <4 x i64> poison, <4 x i32> zeroinitializer
  %v67 = add <4 x i64> %v66, <i64 0, i64 1, i64 2, i64 3>
  %v68 = insertelement <4 x i64> poison, i64 %v58, i32 0
  %v69 = shufflevector <4 x i64> %v68, <4 x i64> poison, <4 x i32> zeroinitializer
  %v70 = add <4 x i64> %v69, <i64 0, i64 1, i64 2, i64 3>
  %v71 = mul <4 x i64> %v61, %v45
  %v72 = mul <4 x i64> %v64, %v45
  %v73 = mul <4 x i64> %v67, %v45
  %v74 = mul <4 x i64> %v70, %v45
  %v75 = add <4 x i64> %v71, %v43
  %v76 = add <4 x i64> %v72, %v43
  %v77 = add <4 x i64> %v73, %v43
  %v78 = add <4 x i64> %v74, %v43
  %v79 = mul <4 x i64> %v75, %v41
  %v80 = mul <4 x i64> %v76, %v41
  %v81 = mul <4 x i64> %v77, %v41
  %v82 = mul <4 x i64> %v78, %v41
  %v83 = sitofp <4 x i64> %v79 to <4 x double>
  %v84 = sitofp <4 x i64> %v80 to <4 x double>
  %v85 = sitofp <4 x i64> %v81 to <4 x double>
  %v86 = sitofp <4 x i64> %v82 to <4 x double>
  %v87 = add i64 %v31, %v51
  %v88 = getelementptr float, ptr %v4, i64 %v87
  %v89 = load <4 x float>, ptr %v88, align 4
  %v90 = add i64 %v31, %v56
  %v91 = getelementptr float, ptr %v4, i64 %v90
  %v92 = load <4 x float>, ptr %v91, align 4
  %v93 = add i64 %v31, %v57
  %v94 = getelementptr float, ptr %v4, i64 %v93
  %v95 = load <4 x float>, ptr %v94, align 4
  %v96 = add i64 %v31, %v58
  %v97 = getelementptr float, ptr %v4, i64 %v96
  %v98 = load <4 x float>, ptr %v97, align 4
  %v99 = fpext <4 x float> %v89 to <4 x double>
  %v100 = fpext <4 x float> %v92 to <4 x double>
  %v101 = fpext <4 x float> %v95 to <4 x double>
  %v102 = fpext <4 x float> %v98 to <4 x double>
  %v103 = fadd <4 x double> %v83, %v99
  %v104 = fadd <4 x double> %v84, %v100
  %v105 = fadd <4 x double> %v85, %v101
  %v106 = fadd <4 x double> %v86, %v102
  %v107 = fptrunc <4 x double> %v103 to <4 x float>
  %v108 = fptrunc <4 x double> %v104 to <4 x float>
  %v109 = fptrunc <4 x double> %v105 to <4 x float>
  %v110 = fptrunc <4 x double> %v106 to <4 x float>
  %v111 = add i64 %v30, %v51
  %v112 = getelementptr float, ptr %v2, i64 %v111
  store <4 x float> %v107, ptr %v112, align 4
  %v113 = add i64 %v30, %v56
  %v114 = getelementptr float, ptr %v2, i64 %v113
  store <4 x float> %v108, ptr %v114, align 4
  %v115 = add i64 %v30, %v57
  %v116 = getelementptr float, ptr %v2, i64 %v115
  store <4 x float> %v109, ptr %v116, align 4
  %v117 = add i64 %v30, %v58
  %v118 = getelementptr float, ptr %v2, i64 %v117
  store <4 x float> %v110, ptr %v118, align 4
  %v52 = add nsw i64 %v51, 16
  br label %loop4
after6:
  %v119 = icmp slt i64 %v50, %v26
  %v120 = and i1 %v119, %v39
  br i1 %v120, label %then9, label %after10
then9:
  %v121 = add i64 %v33, %v50
  %v122 = getelementptr float, ptr %v4, i64 %v121
  call void @llvm.prefetch.p0(ptr %v122, i32 0, i32 2, i32 1)
  br label %after10
after10:
  br label %loop11
loop11:
  %v123 = phi i64 [ %v50, %after10 ], [ %v124, %body12 ]
  %v125 = icmp slt i64 %v123, %v48
  br i1 %v125, label %body12, label %after13
body12:
  %v126 = insertelement <4 x i64> poison, i64 %v123, i32 0
  %v127 = shufflevector <4 x i64> %v126, <4 x i64> poison, <4 x i32> zeroinitializer
  %v128 = add <4 x i64> %v127, <i64 0, i64 1, i64 2, i64 3>
  %v129 = mul <4 x i64> %v128, %v45
  %v130 = add <4 x i64> %v129, %v43
  %v131 = mul <4 x i64> %v130, %v41
  %v132 = sitofp <4 x i64> %v131 to <4 x double>
  %v133 = add i64 %v31, %v123
  %v134 = getelementptr float, ptr %v4, i64 %v133
  %v135 = load <4 x float>, ptr %v134, align 4
  %v136 = fpext <4 x float> %v135 to <4 x double>
  %v137 = fadd <4 x double> %v132, %v136
  %v138 = fptrunc <4 x double> %v137 to <4 x float>
  %v139 = add i64 %v30, %v123
  %v140 = getelementptr float, ptr %v2, i64 %v139
  store <4 x float> %v138, ptr %v140, align 4
  %v124 = add nsw i64 %v123, 4
  br label %loop11
after13:
  %v141 = icmp slt i64 %v48, %v26
  br i1 %v141, label %then14, label %after15
then14:
  %v142 = sub i64 %v26, %v48
  %v143 = trunc i64 %v142 to i32
  %v144 = insertelement <4 x i32> poison, i32 %v143, i32 0
  %v145 = shufflevector <4 x i32> %v144, <4 x i32> poison, <4 x i32> zeroinitializer
  %v146 = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %v145
  %v147 = insertelement <4 x i64> poison, i64 %v48, i32 0
  %v148 = shufflevector <4 x i64> %v147, <4 x i64> poison, <4 x i32> zeroinitializer
  %v149 = add <4 x i64> %v148, <i64 0, i64 1, i64 2, i64 3>
  %v150 = mul <4 x i64> %v149, %v45
  %v151 = add <4 x i64> %v150, %v43
  %v152 = mul <4 x i64> %v151, %v41
  %v153 = sitofp <4 x i64> %v152 to <4 x double>
  %v154 = add i64 %v31, %v48
  %v155 = getelementptr float, ptr %v4, i64 %v154
  %v156 = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %v155, i32 4, <4 x i1> %v146, <4 x float> zeroinitializer)
  %v157 = fpext <4 x float> %v156 to <4 x double>
  %v158 = fadd <4 x double> %v153, %v157
  %v159 = fptrunc <4 x double> %v158 to <4 x float>
  %v160 = add i64 %v30, %v48
  %v161 = getelementptr float, ptr %v2, i64 %v160
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v159, ptr %v161, i32 4, <4 x i1> %v146)
  br label %after15
after15:
  %v28 = add nsw i64 %v27, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v28 = alloca [2 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v19 = sdiv i64 %v6, 1
  %v20 = icmp slt i64 %v19, 64
  %v21 = sdiv i64 %v8, 64
  %v22 = icmp sgt i64 %v21, %v19
  %v23 = and i1 %v20, %v22
  %v24 = select i1 %v23, i64 1, i64 0
  %v25 = select i1 %v23, i64 %v8, i64 %v6
  %v26 = select i1 %v23, i64 64, i64 1
  %v27 = select i1 %v23, i64 %v21, i64 %v19
  store ptr %words, ptr %v28
  %v29 = getelementptr i64, ptr %v28, i64 1
  store i64 %v24, ptr %v29
  %v30 = mul i64 %v8, 68
  %v31 = mul i64 %v6, %v30
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
