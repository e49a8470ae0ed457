@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32 immarg, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32 immarg, <4 x i1>)
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
  br label %loop1
loop1:
  %v19 = phi i64 [ 0, %entry ], [ %v20, %after11 ]
  %v21 = icmp slt i64 %v19, %v6
  br i1 %v21, label %body2, label %after3
body2:
  %v22 = mul i64 %v19, %v10
  %v23 = mul i64 %v19, %v12
  %v24 = insertelement <4 x i64> poison, i64 %v18, i32 0
  %v25 = shufflevector <4 x i64> %v24, <4 x i64> poison, <4 x i32> zeroinitializer
  %v26 = insertelement <4 x i64> poison, i64 %v16, i32 0
  %v27 = shufflevector <4 x i64> %v26, <4 x i64> poison, <4 x i32> zeroinitializer
  %v28 = insertelement <4 x i64> poison, i64 %v14, i32 0
  %v29 = shufflevector <4 x i64> %v28, <4 x i64> poison, <4 x i32> zeroinitializer
  %v30 = sub i64 %v8, 0
  %v31 = and i64 %v30, -4
  %v32 = and i64 %v30, -16
  br label %loop4
loop4:
  %v33 = phi i64 [ 0, %body2 ], [ %v34, %body5 ]
  %v35 = icmp slt i64 %v33, %v32
  br i1 %v35, label %body5, label %after6
body5:
  %v36 = insertelement <4 x i64> poison, i64 %v33, i32 0
  %v37 = shufflevector <4 x i64> %v36, <4 x i64> poison, <4 x i32> zeroinitializer
  %v38 = add <4 x i64> %v37, <i64 0, i64 1, i64 2, i64 3>
  %v39 = mul <4 x i64> %v38, %v29
  %v40 = add <4 x i64> %v39, %v27
  %v41 = mul <4 x i64> %v40, %v25
  %v42 = sitofp <4 x i64> %v41 to <4 x double>
  %v43 = add i64 %v23, %v33
  %v44 = getelementptr float, ptr %v4, i64 %v43
  %v45 = load <4 x float>, ptr %v44, align 4
  %v46 = fpext <4 x float> %v45 to <4 x double>
  %v47 = fadd <4 x double> %v42, %v46
  %v48 = fptrunc <4 x double> %v47 to <4 x float>
  %v49 = add i64 %v33, 4
  %v50 = insertelement <4 x i64> poison, i64 %v49, i32 0
  %v51 = shufflevector <4 x i64> %v50, <4 x i64> poison, <4 x i32> zeroinitializer
  %v52 = add <4 x i64> %v51, <i64 0, i64 1, i64 2, i64 3>
  %v53 = mul <4 x i64> %v52, %v29
  %v54 = add <4 x i64> %v53, %v27
  %v55 = mul <4 x i64> %v54, %v25
  %v56 = sitofp <4 x i64> %v55 to <4 x double>
  %v57 = add i64 %v23, %v49
  %v58 = getelementptr float, ptr %v4, i64 %v57
  %v59 = load <4 x float>, ptr %v58, align 4
  %v60 = fpext <4 x float> %v59 to <4 x double>
  %v61 = fadd <4 x double> %v56, %v60
  %v62 = fptrunc <4 x double> %v61 to <4 x float>
  %v63 = add i64 %v33, 8
  %v64 = insertelement <4 x i64> poison, i64 %v63, i32 0
  %v65 = shufflevector <4 x i64> %v64, <4 x i64> poison, <4 x i32> zeroinitializer
  %v66 = add <4 x i64> %v65, <i64 0, i64 1, i64 2, i64 3>
  %v67 = mul <4 x i64> %v66, %v29
  %v68 = add <4 x i64> %v67, %v27
  %v69 = mul <4 x i64> %v68, %v25
  %v70 = sitofp <4 x i64> %v69 to <4 x double>
  %v71 = add i64 %v23, %v63
  %v72 = getelementptr float, ptr %v4, i64 %v71
  %v73 = load <4 x float>, ptr %v72, align 4
  %v74 = fpext <4 x float> %v73 to <4 x double>
  %v75 = fadd <4 x double> %v70, %v74
  %v76 = fptrunc <4 x double> %v75 to <4 x float>
  %v77 = add i64 %v33, 12
  %v78 = insertelement <4 x i64> poison, i64 %v77, i32 0
  %v79 = shufflevector <4 x i64> %v78, <4 x i64> poison, <4 x i32> zeroinitializer
  %v80 = add <4 x i64> %v79, <i64 0, i64 1, i64 2, i64 3>
  %v81 = mul <4 x i64> %v80, %v29
  %v82 = add <4 x i64> %v81, %v27
  %v83 = mul <4 x i64> %v82, %v25
  %v84 = sitofp <4 x i64> %v83 to <4 x double>
  %v85 = add i64 %v23, %v77
  %v86 = getelementptr float, ptr %v4, i64 %v85
  %v87 = load <4 x float>, ptr %v86, align 4
  %v88 = fpext <4 x float> %v87 to <4 x double>
  %v89 = fadd <4 x double> %v84, %v88
  %v90 = fptrunc <4 x double> %v89 to <4 x float>
  %v91 = add i64 %v22, %v33
  %v92 = getelementptr float, ptr %v2, i64 %v91
  store <4 x float> %v48, ptr %v92, align 4
  %v93 = add i64 %v22, %v49
  %v94 = getelementptr float, ptr %v2, i64 %v93
  store <4 x float> %v62, ptr %v94, align 4
  %v95 = add i64 %v22, %v63
  %v96 = getelementptr float, ptr %v2, i64 %v95
  store <4 x float> %v76, ptr %v96, align 4
  %v97 = add i64 %v22, %v77
  %v98 = getelementptr float, ptr %v2, i64 %v97
  store <4 x float> %v90, ptr %v98, align 4
  %v34 = add nsw i64 %v33, 16
  br label %loop4
after6:
  br label %loop7
loop7:
  %v99 = phi i64 [ %v32, %after6 ], [ %v100, %body8 ]
  %v101 = icmp slt i64 %v99, %v31
  br i1 %v101, label %body8, label %after9
body8:
  %v102 = insertelement <4 x i64> poison, i64 %v99, i32 0
  %v103 = shufflevector <4 x i64> %v102, <4 x i64> poison, <4 x i32> zeroinitializer
  %v104 = add <4 x i64> %v103, <i64 0, i64 1, i64 2, i64 3>
  %v105 = mul <4 x i64> %v104, %v29
  %v106 = add <4 x i64> %v105, %v27
  %v107 = mul <4 x i64> %v106, %v25
  %v108 = sitofp <4 x i64> %v107 to <4 x double>
  %v109 = add i64 %v23, %v99
  %v110 = getelementptr float, ptr %v4, i64 %v109
  %v111 = load <4 x float>, ptr %v110, align 4
  %v112 = fpext <4 x float> %v111 to <4 x double>
  %v113 = fadd <4 x double> %v108, %v112
  %v114 = fptrunc <4 x double> %v113 to <4 x float>
  %v115 = add i64 %v22, %v99
  %v116 = getelementptr float, ptr %v2, i64 %v115
  store <4 x float> %v114, ptr %v116, align 4
  %v100 = add nsw i64 %v99, 4
  br label %loop7
after9:
  %v117 = icmp slt i64 %v31, %v8
  br i1 %v117, label %then10, label %after11
then10:
  %v118 = sub i64 %v8, %v31
  %v119 = trunc i64 %v118 to i32
  %v120 = insertelement <4 x i32> poison, i32 %v119, i32 0
  %v121 = shufflevector <4 x i32> %v120, <4 x i32> poison, <4 x i32> zeroinitializer
  %v122 = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %v121
  %v123 = insertelement <4 x i64> poison, i64 %v31, i32 0
  %v124 = shufflevector <4 x i64> %v123, <4 x i64> poison, <4 x i32> zeroinitializer
  %v125 = add <4 x i64> %v124, <i64 0, i64 1, i64 2, i64 3>
  %v126 = mul <4 x i64> %v125, %v29
  %v127 = add <4 x i64> %v126, %v27
  %v128 = mul <4 x i64> %v127, %v25
  %v129 = sitofp <4 x i64> %v128 to <4 x double>
  %v130 = add i64 %v23, %v31
  %v131 = getelementptr float, ptr %v4, i64 %v130
  %v132 = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %v131, i32 4, <4 x i1> %v122, <4 x float> zeroinitializer)
  %v133 = fpext <4 x float> %v132 to <4 x double>
  %v134 = fadd <4 x double> %v129, %v133
  %v135 = fptrunc <4 x double> %v134 to <4 x float>
  %v136 = add i64 %v22, %v31
  %v137 = getelementptr float, ptr %v2, i64 %v136
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v135, ptr %v137, i32 4, <4 x i1> %v122)
  br label %after11
after11:
  %v20 = add nsw i64 %v19, 1
  br label %loop1
after3:
  ret void
}
