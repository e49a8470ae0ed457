@zeros = internal constant [64 x i8] zeroinitializer, align 64
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
  %v46 = insertelement <4 x i64> poison, i64 %v43, i32 0
  %v47 = shufflevector <4 x i64> %v46, <4 x i64> poison, <4 x i32> zeroinitializer
  %v48 = add <4 x i64> %v47, <i64 0, i64 1, i64 2, i64 3>
  %v49 = mul <4 x i64> %v48, %v37
  %v50 = add <4 x i64> %v49, %v35
  %v51 = mul <4 x i64> %v50, %v33
  %v52 = sitofp <4 x i64> %v51 to <4 x double>
  %v53 = add i64 %v31, %v43
  %v54 = getelementptr float, ptr %v4, i64 %v53
  %v55 = load <4 x float>, ptr %v54, align 4
  %v56 = fpext <4 x float> %v55 to <4 x double>
  %v57 = fadd <4 x double> %v52, %v56
  %v58 = fptrunc <4 x double> %v57 to <4 x float>
  %v59 = add i64 %v43, 4
  %v60 = insertelement <4 x i64> poison, i64 %v59, i32 0
  %v61 = shufflevector <4 x i64> %v60, <4 x i64> poison, <4 x i32> zeroinitializer
  %v62 = add <4 x i64> %v61, <i64 0, i64 1, i64 2, i64 3>
  %v63 = mul <4 x i64> %v62, %v37
  %v64 = add <4 x i64> %v63, %v35
  %v65 = mul <4 x i64> %v64, %v33
  %v66 = sitofp <4 x i64> %v65 to <4 x double>
  %v67 = add i64 %v31, %v59
  %v68 = getelementptr float, ptr %v4, i64 %v67
  %v69 = load <4 x float>, ptr %v68, align 4
  %v70 = fpext <4 x float> %v69 to <4 x double>
  %v71 = fadd <4 x double> %v66, %v70
  %v72 = fptrunc <4 x double> %v71 to <4 x float>
  %v73 = add i64 %v43, 8
  %v74 = insertelement <4 x i64> poison, i64 %v73, i32 0
  %v75 = shufflevector <4 x i64> %v74, <4 x i64> poison, <4 x i32> zeroinitializer
  %v76 = add <4 x i64> %v75, <i64 0, i64 1, i64 2, i64 3>
  %v77 = mul <4 x i64> %v76, %v37
  %v78 = add <4 x i64> %v77, %v35
  %v79 = mul <4 x i64> %v78, %v33
  %v80 = sitofp <4 x i64> %v79 to <4 x double>
  %v81 = add i64 %v31, %v73
  %v82 = getelementptr float, ptr %v4, i64 %v81
  %v83 = load <4 x float>, ptr %v82, align 4
  %v84 = fpext <4 x float> %v83 to <4 x double>
  %v85 = fadd <4 x double> %v80, %v84
  %v86 = fptrunc <4 x double> %v85 to <4 x float>
  %v87 = add i64 %v43, 12
  %v88 = insertelement <4 x i64> poison, i64 %v87, i32 0
  %v89 = shufflevector <4 x i64> %v88, <4 x i64> poison, <4 x i32> zeroinitializer
  %v90 = add <4 x i64> %v89, <i64 0, i64 1, i64 2, i64 3>
  %v91 = mul <4 x i64> %v90, %v37
  %v92 = add <4 x i64> %v91, %v35
  %v93 = mul <4 x i64> %v92, %v33
  %v94 = sitofp <4 x i64> %v93 to <4 x double>
  %v95 = add i64 %v31, %v87
  %v96 = getelementptr float, ptr %v4, i64 %v95
  %v97 = load <4 x float>, ptr %v96, align 4
  %v98 = fpext <4 x float> %v97 to <4 x double>
  %v99 = fadd <4 x double> %v94, %v98
  %v100 = fptrunc <4 x double> %v99 to <4 x float>
  %v101 = add i64 %v30, %v43
  %v102 = getelementptr float, ptr %v2, i64 %v101
  store <4 x float> %v58, ptr %v102, align 4
  %v103 = add i64 %v30, %v59
  %v104 = getelementptr float, ptr %v2, i64 %v103
  store <4 x float> %v72, ptr %v104, align 4
  %v105 = add i64 %v30, %v73
  %v106 = getelementptr float, ptr %v2, i64 %v105
  store <4 x float> %v86, ptr %v106, align 4
  %v107 = add i64 %v30, %v87
  %v108 = getelementptr float, ptr %v2, i64 %v107
  store <4 x float> %v100, ptr %v108, align 4
  %v44 = add nsw i64 %v43, 16
  br label %loop4
after6:
  br label %loop7
loop7:
  %v109 = phi i64 [ %v42, %after6 ], [ %v110, %body8 ]
  %v111 = icmp slt i64 %v109, %v40
  br i1 %v111, label %body8, label %after9
body8:
  %v112 = insertelement <4 x i64> poison, i64 %v109, i32 0
  %v113 = shufflevector <4 x i64> %v112, <4 x i64> poison, <4 x i32> zeroinitializer
  %v114 = add <4 x i64> %v113, <i64 0, i64 1, i64 2, i64 3>
  %v115 = mul <4 x i64> %v114, %v37
  %v116 = add <4 x i64> %v115, %v35
  %v117 = mul <4 x i64> %v116, %v33
  %v118 = sitofp <4 x i64> %v117 to <4 x double>
  %v119 = add i64 %v31, %v109
  %v120 = getelementptr float, ptr %v4, i64 %v119
  %v121 = load <4 x float>, ptr %v120, align 4
  %v122 = fpext <4 x float> %v121 to <4 x double>
  %v123 = fadd <4 x double> %v118, %v122
  %v124 = fptrunc <4 x double> %v123 to <4 x float>
  %v125 = add i64 %v30, %v109
  %v126 = getelementptr float, ptr %v2, i64 %v125
  store <4 x float> %v124, ptr %v126, align 4
  %v110 = add nsw i64 %v109, 4
  br label %loop7
after9:
  %v127 = icmp slt i64 %v40, %v26
  br i1 %v127, label %then10, label %after11
then10:
  %v128 = sub i64 %v26, %v40
  %v129 = trunc i64 %v128 to i32
  %v130 = insertelement <4 x i32> poison, i32 %v129, i32 0
  %v131 = shufflevector <4 x i32> %v130, <4 x i32> poison, <4 x i32> zeroinitializer
  %v132 = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %v131
  %v133 = insertelement <4 x i64> poison, i64 %v40, i32 0
  %v134 = shufflevector <4 x i64> %v133, <4 x i64> poison, <4 x i32> zeroinitializer
  %v135 = add <4 x i64> %v134, <i64 0, i64 1, i64 2, i64 3>
  %v136 = mul <4 x i64> %v135, %v37
  %v137 = add <4 x i64> %v136, %v35
  %v138 = mul <4 x i64> %v137, %v33
  %v139 = sitofp <4 x i64> %v138 to <4 x double>
  %v140 = add i64 %v31, %v40
  %v141 = getelementptr float, ptr %v4, i64 %v140
  %v142 = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %v141, i32 4, <4 x i1> %v132, <4 x float> zeroinitializer)
  %v143 = fpext <4 x float> %v142 to <4 x double>
  %v144 = fadd <4 x double> %v139, %v143
  %v145 = fptrunc <4 x double> %v144 to <4 x float>
  %v146 = add i64 %v30, %v40
  %v147 = getelementptr float, ptr %v2, i64 %v146
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v145, ptr %v147, i32 4, <4 x i1> %v132)
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
