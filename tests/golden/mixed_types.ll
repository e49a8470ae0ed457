@zeros = internal constant [64 x i8] zeroinitializer, align 64
define void @kernel(ptr %words) nounwind {
entry:
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load double, ptr %v9
  %v11 = insertelement <4 x double> poison, double %v10, i32 0
  %v12 = shufflevector <4 x double> %v11, <4 x double> poison, <4 x i32> zeroinitializer
  %v13 = sub i64 %v8, 0
  %v14 = and i64 %v13, -4
  %v15 = and i64 %v13, -16
  br label %loop1
loop1:
  %v16 = phi i64 [ 0, %entry ], [ %v17, %body2 ]
  %v18 = icmp slt i64 %v16, %v15
  br i1 %v18, label %body2, label %after3
body2:
  %v19 = getelementptr float, ptr %v2, i64 %v16
  %v20 = load <4 x float>, ptr %v19, align 4
  %v21 = fpext <4 x float> %v20 to <4 x double>
  %v22 = getelementptr i8, ptr %v4, i64 %v16
  %v23 = load <4 x i8>, ptr %v22, align 1
  %v24 = uitofp <4 x i8> %v23 to <4 x double>
  %v25 = fdiv <4 x double> %v24, %v12
  %v26 = getelementptr float, ptr %v6, i64 %v16
  %v27 = load <4 x float>, ptr %v26, align 4
  %v28 = fpext <4 x float> %v27 to <4 x double>
  %v29 = fadd <4 x double> %v25, %v28
  %v30 = fadd <4 x double> %v21, %v29
  %v31 = fptrunc <4 x double> %v30 to <4 x float>
  %v32 = add i64 %v16, 4
  %v33 = getelementptr float, ptr %v2, i64 %v32
  %v34 = load <4 x float>, ptr %v33, align 4
  %v35 = fpext <4 x float> %v34 to <4 x double>
  %v36 = getelementptr i8, ptr %v4, i64 %v32
  %v37 = load <4 x i8>, ptr %v36, align 1
  %v38 = uitofp <4 x i8> %v37 to <4 x double>
  %v39 = fdiv <4 x double> %v38, %v12
  %v40 = getelementptr float, ptr %v6, i64 %v32
  %v41 = load <4 x float>, ptr %v40, align 4
  %v42 = fpext <4 x float> %v41 to <4 x double>
  %v43 = fadd <4 x double> %v39, %v42
  %v44 = fadd <4 x double> %v35, %v43
  %v45 = fptrunc <4 x double> %v44 to <4 x float>
  %v46 = add i64 %v16, 8
  %v47 = getelementptr float, ptr %v2, i64 %v46
  %v48 = load <4 x float>, ptr %v47, align 4
  %v49 = fpext <4 x float> %v48 to <4 x double>
  %v50 = getelementptr i8, ptr %v4, i64 %v46
  %v51 = load <4 x i8>, ptr %v50, align 1
  %v52 = uitofp <4 x i8> %v51 to <4 x double>
  %v53 = fdiv <4 x double> %v52, %v12
  %v54 = getelementptr float, ptr %v6, i64 %v46
  %v55 = load <4 x float>, ptr %v54, align 4
  %v56 = fpext <4 x float> %v55 to <4 x double>
  %v57 = fadd <4 x double> %v53, %v56
  %v58 = fadd <4 x double> %v49, %v57
  %v59 = fptrunc <4 x double> %v58 to <4 x float>
  %v60 = add i64 %v16, 12
  %v61 = getelementptr float, ptr %v2, i64 %v60
  %v62 = load <4 x float>, ptr %v61, align 4
  %v63 = fpext <4 x float> %v62 to <4 x double>
  %v64 = getelementptr i8, ptr %v4, i64 %v60
  %v65 = load <4 x i8>, ptr %v64, align 1
  %v66 = uitofp <4 x i8> %v65 to <4 x double>
  %v67 = fdiv <4 x double> %v66, %v12
  %v68 = getelementptr float, ptr %v6, i64 %v60
  %v69 = load <4 x float>, ptr %v68, align 4
  %v70 = fpext <4 x float> %v69 to <4 x double>
  %v71 = fadd <4 x double> %v67, %v70
  %v72 = fadd <4 x double> %v63, %v71
  %v73 = fptrunc <4 x double> %v72 to <4 x float>
  %v74 = getelementptr float, ptr %v2, i64 %v16
  store <4 x float> %v31, ptr %v74, align 4
  %v75 = getelementptr float, ptr %v2, i64 %v32
  store <4 x float> %v45, ptr %v75, align 4
  %v76 = getelementptr float, ptr %v2, i64 %v46
  store <4 x float> %v59, ptr %v76, align 4
  %v77 = getelementptr float, ptr %v2, i64 %v60
  store <4 x float> %v73, ptr %v77, align 4
  %v17 = add nsw i64 %v16, 16
  br label %loop1
after3:
  br label %loop4
loop4:
  %v78 = phi i64 [ %v15, %after3 ], [ %v79, %body5 ]
  %v80 = icmp slt i64 %v78, %v14
  br i1 %v80, label %body5, label %after6
body5:
  %v81 = getelementptr float, ptr %v2, i64 %v78
  %v82 = load <4 x float>, ptr %v81, align 4
  %v83 = fpext <4 x float> %v82 to <4 x double>
  %v84 = getelementptr i8, ptr %v4, i64 %v78
  %v85 = load <4 x i8>, ptr %v84, align 1
  %v86 = uitofp <4 x i8> %v85 to <4 x double>
  %v87 = fdiv <4 x double> %v86, %v12
  %v88 = getelementptr float, ptr %v6, i64 %v78
  %v89 = load <4 x float>, ptr %v88, align 4
  %v90 = fpext <4 x float> %v89 to <4 x double>
  %v91 = fadd <4 x double> %v87, %v90
  %v92 = fadd <4 x double> %v83, %v91
  %v93 = fptrunc <4 x double> %v92 to <4 x float>
  %v94 = getelementptr float, ptr %v2, i64 %v78
  store <4 x float> %v93, ptr %v94, align 4
  %v79 = add nsw i64 %v78, 4
  br label %loop4
after6:
  br label %loop7
loop7:
  %v95 = phi i64 [ %v14, %after6 ], [ %v96, %body8 ]
  %v97 = icmp slt i64 %v95, %v8
  br i1 %v97, label %body8, label %after9
body8:
  %v98 = getelementptr float, ptr %v2, i64 %v95
  %v99 = load float, ptr %v98, align 4
  %v100 = fpext float %v99 to double
  %v101 = getelementptr i8, ptr %v4, i64 %v95
  %v102 = load i8, ptr %v101, align 1
  %v103 = uitofp i8 %v102 to double
  %v104 = fdiv double %v103, %v10
  %v105 = getelementptr float, ptr %v6, i64 %v95
  %v106 = load float, ptr %v105, align 4
  %v107 = fpext float %v106 to double
  %v108 = fadd double %v104, %v107
  %v109 = fadd double %v100, %v108
  %v110 = fptrunc double %v109 to float
  %v111 = getelementptr float, ptr %v2, i64 %v95
  store float %v110, ptr %v111, align 4
  %v96 = add nsw i64 %v95, 1
  br label %loop7
after9:
  ret void
}
