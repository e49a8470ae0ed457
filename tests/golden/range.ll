@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32 immarg, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32 immarg, <4 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v166 = alloca i64, align 64
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
  %v20 = load i1, ptr %v19
  %v21 = getelementptr i64, ptr %context, i64 2
  %v22 = load i64, ptr %v21
  %v23 = icmp eq i64 %v22, 0
  %v24 = select i1 %v23, i64 %low, i64 0
  %v25 = select i1 %v23, i64 %high, i64 %v6
  %v26 = icmp eq i64 %v22, 1
  %v27 = select i1 %v26, i64 %low, i64 0
  %v28 = select i1 %v26, i64 %high, i64 %v8
  br label %loop1
loop1:
  %v29 = phi i64 [ %v24, %entry ], [ %v30, %after15 ]
  %v31 = icmp slt i64 %v29, %v25
  br i1 %v31, label %body2, label %after3
body2:
  %v32 = mul i64 %v29, %v10
  %v33 = mul i64 %v29, %v12
  %v34 = add i64 %v29, 1
  %v35 = mul i64 %v34, %v12
  %v36 = insertelement <4 x i64> poison, i64 %v18, i32 0
  %v37 = shufflevector <4 x i64> %v36, <4 x i64> poison, <4 x i32> zeroinitializer
  %v38 = insertelement <4 x i64> poison, i64 %v16, i32 0
  %v39 = shufflevector <4 x i64> %v38, <4 x i64> poison, <4 x i32> zeroinitializer
  %v40 = insertelement <4 x i64> poison, i64 %v14, i32 0
  %v41 = shufflevector <4 x i64> %v40, <4 x i64> poison, <4 x i32> zeroinitializer
  %v42 = sub i64 %v28, %v27
  %v43 = and i64 %v42, -4
  %v44 = add i64 %v27, %v43
  %v45 = and i64 %v42, -16
  %v46 = add i64 %v27, %v45
  br label %loop4
loop4:
  %v47 = phi i64 [ %v27, %body2 ], [ %v48, %after8 ]
  %v49 = icmp slt i64 %v47, %v46
  br i1 %v49, label %body5, label %after6
body5:
  br i1 %v20, label %then7, label %after8
then7:
  %v50 = add i64 %v35, %v47
  %v51 = getelementptr float, ptr %v4, i64 %v50
  call void @llvm.prefetch.p0(ptr %v51, i32 0, i32 2, i32 1)
  br label %after8
after8:
  %v52 = add i64 %v47, 4
  %v53 = add i64 %v47, 8
  %v54 = add i64 %v47, 12
  %v55 = insertelement <4 x i64> poison, i64 %v47, i32 0
  %v56 = shufflevector <4 x i64> %v55, <4 x i64> poison, <4 x i32> zeroinitializer
  %v57 = add <4 x i64> %v56, <i64 0, i64 1, i64 2, i64 3>
  %v58 = insertelement <4 x i64> poison, i64 %v52, i32 0
  %v59 = shufflevector <4 x i64> %v58, <4 x i64> poison, <4 x i32> zeroinitializer
  %v60 = add <4 x i64> %v59, <i64 0, i64 1, i64 2, i64 3>
  %v61 = insertelement <4 x i64> poison, i64 %v53, i32 0
  %v62 = shufflevector <4 x i64> %v61, <4 x i64> poison, <4 x i32> zeroinitializer
  %v63 = add <4 x i64> %v62, <i64 0, i64 1, i64 2, i64 3>
  %v64 = insertelement <4 x i64> poison, i64 %v54, i32 0
  %v65 = shufflevector <4 x i64> %v64, <4 x i64> poison, <4 x i32> zeroinitializer
  %v66 = add <4 x i64> %v65, <i64 0, i64 1, i64 2, i64 3>
  %v67 = mul <4 x i64> %v57, %v41
  %v68 = mul <4 x i64> %v60, %v41
  %v69 = mul <4 x i64> %v63, %v41
  %v70 = mul <4 x i64> %v66, %v41
  %v71 = add <4 x i64> %v67, %v39
  %v72 = add <4 x i64> %v68, %v39
  %v73 = add <4 x i64> %v69, %v39
  %v74 = add <4 x i64> %v70, %v39
  %v75 = mul <4 x i64> %v71, %v37
  %v76 = mul <4 x i64> %v72, %v37
  %v77 = mul <4 x i64> %v73, %v37
  %v78 = mul <4 x i64> %v74, %v37
  %v79 = sitofp <4 x i64> %v75 to <4 x double>
  %v80 = sitofp <4 x i64> %v76 to <4 x double>
  %v81 = sitofp <4 x i64> %v77 to <4 x double>
  %v82 = sitofp <4 x i64> %v78 to <4 x double>
  %v83 = add i64 %v33, %v47
  %v84 = getelementptr float, ptr %v4, i64 %v83
  %v85 = load <4 x float>, ptr %v84, align 4
  %v86 = add i64 %v33, %v52
  %v87 = getelementptr float, ptr %v4, i64 %v86
  %v88 = load <4 x float>, ptr %v87, align 4
  %v89 = add i64 %v33, %v53
  %v90 = getelementptr float, ptr %v4, i64 %v89
  %v91 = load <4 x float>, ptr %v90, align 4
  %v92 = add i64 %v33, %v54
  %v93 = getelementptr float, ptr %v4, i64 %v92
  %v94 = load <4 x float>, ptr %v93, align 4
  %v95 = fpext <4 x float> %v85 to <4 x double>
  %v96 = fpext <4 x float> %v88 to <4 x double>
  %v97 = fpext <4 x float> %v91 to <4 x double>
  %v98 = fpext <4 x float> %v94 to <4 x double>
  %v99 = fadd <4 x double> %v79, %v95
  %v100 = fadd <4 x double> %v80, %v96
  %v101 = fadd <4 x double> %v81, %v97
  %v102 = fadd <4 x double> %v82, %v98
  %v103 = fptrunc <4 x double> %v99 to <4 x float>
  %v104 = fptrunc <4 x double> %v100 to <4 x float>
  %v105 = fptrunc <4 x double> %v101 to <4 x float>
  %v106 = fptrunc <4 x double> %v102 to <4 x float>
  %v107 = add i64 %v32, %v47
  %v108 = getelementptr float, ptr %v2, i64 %v107
  store <4 x float> %v103, ptr %v108, align 4
  %v109 = add i64 %v32, %v52
  %v110 = getelementptr float, ptr %v2, i64 %v109
  store <4 x float> %v104, ptr %v110, align 4
  %v111 = add i64 %v32, %v53
  %v112 = getelementptr float, ptr %v2, i64 %v111
  store <4 x float> %v105, ptr %v112, align 4
  %v113 = add i64 %v32, %v54
  %v114 = getelementptr float, ptr %v2, i64 %v113
  store <4 x float> %v106, ptr %v114, align 4
  %v48 = add nsw i64 %v47, 16
  br label %loop4
after6:
  %v115 = icmp slt i64 %v46, %v28
  %v116 = and i1 %v115, %v20
  br i1 %v116, label %then9, label %after10
then9:
  %v117 = add i64 %v35, %v46
  %v118 = getelementptr float, ptr %v4, i64 %v117
  call void @llvm.prefetch.p0(ptr %v118, i32 0, i32 2, i32 1)
  br label %after10
after10:
  %v119 = icmp sge i64 %v42, 4
  %v120 = icmp eq ptr %v4, %v2
  %v121 = or i1 false, %v120
  %v122 = xor i1 %v121, true
  %v123 = and i1 %v119, %v122
  %v124 = select i1 %v123, i64 %v28, i64 %v44
  %v125 = sub i64 %v28, 4
  br label %loop11
loop11:
  %v126 = phi i64 [ %v46, %after10 ], [ %v127, %body12 ]
  %v128 = icmp slt i64 %v126, %v124
  br i1 %v128, label %body12, label %after13
body12:
  %v129 = call i64 @llvm.smin.i64(i64 %v126, i64 %v125)
  %v130 = insertelement <4 x i64> poison, i64 %v129, i32 0
  %v131 = shufflevector <4 x i64> %v130, <4 x i64> poison, <4 x i32> zeroinitializer
  %v132 = add <4 x i64> %v131, <i64 0, i64 1, i64 2, i64 3>
  %v133 = mul <4 x i64> %v132, %v41
  %v134 = add <4 x i64> %v133, %v39
  %v135 = mul <4 x i64> %v134, %v37
  %v136 = sitofp <4 x i64> %v135 to <4 x double>
  %v137 = add i64 %v33, %v129
  %v138 = getelementptr float, ptr %v4, i64 %v137
  %v139 = load <4 x float>, ptr %v138, align 4
  %v140 = fpext <4 x float> %v139 to <4 x double>
  %v141 = fadd <4 x double> %v136, %v140
  %v142 = fptrunc <4 x double> %v141 to <4 x float>
  %v143 = add i64 %v32, %v129
  %v144 = getelementptr float, ptr %v2, i64 %v143
  store <4 x float> %v142, ptr %v144, align 4
  %v127 = add nsw i64 %v126, 4
  br label %loop11
after13:
  %v145 = icmp slt i64 %v124, %v28
  br i1 %v145, label %then14, label %after15
then14:
  %v146 = sub i64 %v28, %v124
  %v147 = trunc i64 %v146 to i32
  %v148 = insertelement <4 x i32> poison, i32 %v147, i32 0
  %v149 = shufflevector <4 x i32> %v148, <4 x i32> poison, <4 x i32> zeroinitializer
  %v150 = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %v149
  %v151 = insertelement <4 x i64> poison, i64 %v124, i32 0
  %v152 = shufflevector <4 x i64> %v151, <4 x i64> poison, <4 x i32> zeroinitializer
  %v153 = add <4 x i64> %v152, <i64 0, i64 1, i64 2, i64 3>
  %v154 = mul <4 x i64> %v153, %v41
  %v155 = add <4 x i64> %v154, %v39
  %v156 = mul <4 x i64> %v155, %v37
  %v157 = sitofp <4 x i64> %v156 to <4 x double>
  %v158 = add i64 %v33, %v124
  %v159 = getelementptr float, ptr %v4, i64 %v158
  %v160 = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %v159, i32 4, <4 x i1> %v150, <4 x float> zeroinitializer)
  %v161 = fpext <4 x float> %v160 to <4 x double>
  %v162 = fadd <4 x double> %v157, %v161
  %v163 = fptrunc <4 x double> %v162 to <4 x float>
  %v164 = add i64 %v32, %v124
  %v165 = getelementptr float, ptr %v2, i64 %v164
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v163, ptr %v165, i32 4, <4 x i1> %v150)
  br label %after15
after15:
  %v30 = add nsw i64 %v29, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v34 = alloca [3 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v19 = mul i64 %v6, %v8
  %v20 = icmp sge i64 %v19, 2097152
  %v21 = icmp slt i64 %v8, 65536
  %v22 = and i1 %v20, %v21
  %v23 = icmp ne i64 %v12, %v8
  %v24 = and i1 %v22, %v23
  %v25 = sdiv i64 %v6, 1
  %v26 = icmp slt i64 %v25, 64
  %v27 = sdiv i64 %v8, 64
  %v28 = icmp sgt i64 %v27, %v25
  %v29 = and i1 %v26, %v28
  %v30 = select i1 %v29, i64 1, i64 0
  %v31 = select i1 %v29, i64 %v8, i64 %v6
  %v32 = select i1 %v29, i64 64, i64 1
  %v33 = select i1 %v29, i64 %v27, i64 %v25
  store ptr %words, ptr %v34
  %v35 = getelementptr i64, ptr %v34, i64 1
  store i1 %v24, ptr %v35
  %v36 = getelementptr i64, ptr %v34, i64 2
  store i64 %v30, ptr %v36
  %v37 = mul i64 %v8, 68
  %v38 = mul i64 %v6, %v37
  %v39 = icmp sge i64 %v38, 1572864
  %v40 = icmp ne i64 %threads, 1
  %v41 = and i1 %v39, %v40
  br i1 %v41, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v34, i64 %v31, i64 %v32, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v34, i64 0, i64 %v31)
  br label %after3
after3:
  ret void
}
