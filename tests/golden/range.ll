@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32 immarg, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32 immarg, <4 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
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
  %v27 = phi i64 [ %v22, %entry ], [ %v28, %after11 ]
  %v29 = icmp slt i64 %v27, %v23
  br i1 %v29, label %body2, label %after3
body2:
  %v30 = mul i64 %v27, %v10
  %v31 = mul i64 %v27, %v12
  %v32 = insertelement <4 x i64> poison, i64 %v18, i32 0
  %v33 = shufflevector <4 x i64> %v32, <4 x i64> poison, <4 x i32> zeroinitializer
  %v34 = insertelement <4 x i64> poison, i64 %v16, i32 0
  %v35 = shufflevector <4 x i64> %v34, <4 x i64> poison, <4 x i32> zeroinitializer
  %v36 = insertelement <4 x i64> poison, i64 %v14, i32 0
  %v37 = shufflevector <4 x i64> %v36, <4 x i64> poison, <4 x i32> zeroinitializer
  %v38 = sub i64 %v26, %v25
  %v39 = and i64 %v38, -4
  %v40 = add i64 %v25, %v39
  %v41 = and i64 %v38, -16
  %v42 = add i64 %v25, %v41
  br label %loop4
loop4:
  %v43 = phi i64 [ %v25, %body2 ], [ %v44, %body5 ]
  %v45 = icmp slt i64 %v43, %v42
  br i1 %v45, label %body5, label %after6
body5:
  %v46 = add i64 %v43, 4
  %v47 = add i64 %v43, 8
  %v48 = add i64 %v43, 12
  %v49 = insertelement <4 x i64> poison, i64 %v43, i32 0
  %v50 = shufflevector <4 x i64> %v49, <4 x i64> poison, <4 x i32> zeroinitializer
  %v51 = add <4 x i64> %v50, <i64 0, i64 1, i64 2, i64 3>
  %v52 = insertelement <4 x i64> poison, i64 %v46, i32 0
  %v53 = shufflevector <4 x i64> %v52, <4 x i64> poison, <4 x i32> zeroinitializer
  %v54 = add <4 x i64> %v53, <i64 0, i64 1, i64 2, i64 3>
  %v55 = insertelement <4 x i64> poison, i64 %v47, i32 0
  %v56 = shufflevector <4 x i64> %v55, <4 x i64> poison, <4 x i32> zeroinitializer
  %v57 = add <4 x i64> %v56, <i64 0, i64 1, i64 2, i64 3>
  %v58 = insertelement <4 x i64> poison, i64 %v48, i32 0
  %v59 = shufflevector <4 x i64> %v58, <4 x i64> poison, <4 x i32> zeroinitializer
  %v60 = add <4 x i64> %v59, <i64 0, i64 1, i64 2, i64 3>
  %v61 = mul <4 x i64> %v51, %v37
  %v62 = mul <4 x i64> %v54, %v37
  %v63 = mul <4 x i64> %v57, %v37
  %v64 = mul <4 x i64> %v60, %v37
  %v65 = add <4 x i64> %v61, %v35
  %v66 = add <4 x i64> %v62, %v35
  %v67 = add <4 x i64> %v63, %v35
  %v68 = add <4 x i64> %v64, %v35
  %v69 = mul <4 x i64> %v65, %v33
  %v70 = mul <4 x i64> %v66, %v33
  %v71 = mul <4 x i64> %v67, %v33
  %v72 = mul <4 x i64> %v68, %v33
  %v73 = sitofp <4 x i64> %v69 to <4 x double>
  %v74 = sitofp <4 x i64> %v70 to <4 x double>
  %v75 = sitofp <4 x i64> %v71 to <4 x double>
  %v76 = sitofp <4 x i64> %v72 to <4 x double>
  %v77 = add i64 %v31, %v43
  %v78 = getelementptr float, ptr %v4, i64 %v77
  %v79 = load <4 x float>, ptr %v78, align 4
  %v80 = add i64 %v31, %v46
  %v81 = getelementptr float, ptr %v4, i64 %v80
  %v82 = load <4 x float>, ptr %v81, align 4
  %v83 = add i64 %v31, %v47
  %v84 = getelementptr float, ptr %v4, i64 %v83
  %v85 = load <4 x float>, ptr %v84, align 4
  %v86 = add i64 %v31, %v48
  %v87 = getelementptr float, ptr %v4, i64 %v86
  %v88 = load <4 x float>, ptr %v87, align 4
  %v89 = fpext <4 x float> %v79 to <4 x double>
  %v90 = fpext <4 x float> %v82 to <4 x double>
  %v91 = fpext <4 x float> %v85 to <4 x double>
  %v92 = fpext <4 x float> %v88 to <4 x double>
  %v93 = fadd <4 x double> %v73, %v89
  %v94 = fadd <4 x double> %v74, %v90
  %v95 = fadd <4 x double> %v75, %v91
  %v96 = fadd <4 x double> %v76, %v92
  %v97 = fptrunc <4 x double> %v93 to <4 x float>
  %v98 = fptrunc <4 x double> %v94 to <4 x float>
  %v99 = fptrunc <4 x double> %v95 to <4 x float>
  %v100 = fptrunc <4 x double> %v96 to <4 x float>
  %v101 = add i64 %v30, %v43
  %v102 = getelementptr float, ptr %v2, i64 %v101
  store <4 x float> %v97, ptr %v102, align 4
  %v103 = add i64 %v30, %v46
  %v104 = getelementptr float, ptr %v2, i64 %v103
  store <4 x float> %v98, ptr %v104, align 4
  %v105 = add i64 %v30, %v47
  %v106 = getelementptr float, ptr %v2, i64 %v105
  store <4 x float> %v99, ptr %v106, align 4
  %v107 = add i64 %v30, %v48
  %v108 = getelementptr float, ptr %v2, i64 %v107
  store <4 x float> %v100, ptr %v108, align 4
  %v44 = add nsw i64 %v43, 16
  br label %loop4
after6:
  %v109 = icmp sge i64 %v38, 4
  %v110 = icmp eq ptr %v4, %v2
  %v111 = or i1 false, %v110
  %v112 = xor i1 %v111, true
  %v113 = and i1 %v109, %v112
  %v114 = select i1 %v113, i64 %v26, i64 %v40
  %v115 = sub i64 %v26, 4
  br label %loop7
loop7:
  %v116 = phi i64 [ %v42, %after6 ], [ %v117, %body8 ]
  %v118 = icmp slt i64 %v116, %v114
  br i1 %v118, label %body8, label %after9
body8:
  %v119 = call i64 @llvm.smin.i64(i64 %v116, i64 %v115)
  %v120 = insertelement <4 x i64> poison, i64 %v119, i32 0
  %v121 = shufflevector <4 x i64> %v120, <4 x i64> poison, <4 x i32> zeroinitializer
  %v122 = add <4 x i64> %v121, <i64 0, i64 1, i64 2, i64 3>
  %v123 = mul <4 x i64> %v122, %v37
  %v124 = add <4 x i64> %v123, %v35
  %v125 = mul <4 x i64> %v124, %v33
  %v126 = sitofp <4 x i64> %v125 to <4 x double>
  %v127 = add i64 %v31, %v119
  %v128 = getelementptr float, ptr %v4, i64 %v127
  %v129 = load <4 x float>, ptr %v128, align 4
  %v130 = fpext <4 x float> %v129 to <4 x double>
  %v131 = fadd <4 x double> %v126, %v130
  %v132 = fptrunc <4 x double> %v131 to <4 x float>
  %v133 = add i64 %v30, %v119
  %v134 = getelementptr float, ptr %v2, i64 %v133
  store <4 x float> %v132, ptr %v134, align 4
  %v117 = add nsw i64 %v116, 4
  br label %loop7
after9:
  %v135 = icmp slt i64 %v114, %v26
  br i1 %v135, label %then10, label %after11
then10:
  %v136 = sub i64 %v26, %v114
  %v137 = trunc i64 %v136 to i32
  %v138 = insertelement <4 x i32> poison, i32 %v137, i32 0
  %v139 = shufflevector <4 x i32> %v138, <4 x i32> poison, <4 x i32> zeroinitializer
  %v140 = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %v139
  %v141 = insertelement <4 x i64> poison, i64 %v114, i32 0
  %v142 = shufflevector <4 x i64> %v141, <4 x i64> poison, <4 x i32> zeroinitializer
  %v143 = add <4 x i64> %v142, <i64 0, i64 1, i64 2, i64 3>
  %v144 = mul <4 x i64> %v143, %v37
  %v145 = add <4 x i64> %v144, %v35
  %v146 = mul <4 x i64> %v145, %v33
  %v147 = sitofp <4 x i64> %v146 to <4 x double>
  %v148 = add i64 %v31, %v114
  %v149 = getelementptr float, ptr %v4, i64 %v148
  %v150 = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %v149, i32 4, <4 x i1> %v140, <4 x float> zeroinitializer)
  %v151 = fpext <4 x float> %v150 to <4 x double>
  %v152 = fadd <4 x double> %v147, %v151
  %v153 = fptrunc <4 x double> %v152 to <4 x float>
  %v154 = add i64 %v30, %v114
  %v155 = getelementptr float, ptr %v2, i64 %v154
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v153, ptr %v155, i32 4, <4 x i1> %v140)
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
