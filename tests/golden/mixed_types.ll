@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load double, ptr %v9
  %v11 = getelementptr i64, ptr %context, i64 1
  %v12 = insertelement <4 x double> poison, double %v10, i32 0
  %v13 = shufflevector <4 x double> %v12, <4 x double> poison, <4 x i32> zeroinitializer
  %v14 = sub i64 %high, %low
  %v15 = and i64 %v14, -4
  %v16 = add i64 %low, %v15
  %v17 = and i64 %v14, -16
  %v18 = add i64 %low, %v17
  br label %loop1
loop1:
  %v19 = phi i64 [ %low, %entry ], [ %v20, %body2 ]
  %v21 = icmp slt i64 %v19, %v18
  br i1 %v21, label %body2, label %after3
body2:
  %v22 = add i64 %v19, 4
  %v23 = add i64 %v19, 8
  %v24 = add i64 %v19, 12
  %v25 = getelementptr float, ptr %v2, i64 %v19
  %v26 = load <4 x float>, ptr %v25, align 4
  %v27 = getelementptr float, ptr %v2, i64 %v22
  %v28 = load <4 x float>, ptr %v27, align 4
  %v29 = getelementptr float, ptr %v2, i64 %v23
  %v30 = load <4 x float>, ptr %v29, align 4
  %v31 = getelementptr float, ptr %v2, i64 %v24
  %v32 = load <4 x float>, ptr %v31, align 4
  %v33 = fpext <4 x float> %v26 to <4 x double>
  %v34 = fpext <4 x float> %v28 to <4 x double>
  %v35 = fpext <4 x float> %v30 to <4 x double>
  %v36 = fpext <4 x float> %v32 to <4 x double>
  %v37 = getelementptr i8, ptr %v4, i64 %v19
  %v38 = load <4 x i8>, ptr %v37, align 1
  %v39 = getelementptr i8, ptr %v4, i64 %v22
  %v40 = load <4 x i8>, ptr %v39, align 1
  %v41 = getelementptr i8, ptr %v4, i64 %v23
  %v42 = load <4 x i8>, ptr %v41, align 1
  %v43 = getelementptr i8, ptr %v4, i64 %v24
  %v44 = load <4 x i8>, ptr %v43, align 1
  %v45 = uitofp <4 x i8> %v38 to <4 x double>
  %v46 = uitofp <4 x i8> %v40 to <4 x double>
  %v47 = uitofp <4 x i8> %v42 to <4 x double>
  %v48 = uitofp <4 x i8> %v44 to <4 x double>
  %v49 = fdiv <4 x double> %v45, %v13
  %v50 = fdiv <4 x double> %v46, %v13
  %v51 = fdiv <4 x double> %v47, %v13
  %v52 = fdiv <4 x double> %v48, %v13
  %v53 = getelementptr float, ptr %v6, i64 %v19
  %v54 = load <4 x float>, ptr %v53, align 4
  %v55 = getelementptr float, ptr %v6, i64 %v22
  %v56 = load <4 x float>, ptr %v55, align 4
  %v57 = getelementptr float, ptr %v6, i64 %v23
  %v58 = load <4 x float>, ptr %v57, align 4
  %v59 = getelementptr float, ptr %v6, i64 %v24
  %v60 = load <4 x float>, ptr %v59, align 4
  %v61 = fpext <4 x float> %v54 to <4 x double>
  %v62 = fpext <4 x float> %v56 to <4 x double>
  %v63 = fpext <4 x float> %v58 to <4 x double>
  %v64 = fpext <4 x float> %v60 to <4 x double>
  %v65 = fadd <4 x double> %v49, %v61
  %v66 = fadd <4 x double> %v50, %v62
  %v67 = fadd <4 x double> %v51, %v63
  %v68 = fadd <4 x double> %v52, %v64
  %v69 = fadd <4 x double> %v33, %v65
  %v70 = fadd <4 x double> %v34, %v66
  %v71 = fadd <4 x double> %v35, %v67
  %v72 = fadd <4 x double> %v36, %v68
  %v73 = fptrunc <4 x double> %v69 to <4 x float>
  %v74 = fptrunc <4 x double> %v70 to <4 x float>
  %v75 = fptrunc <4 x double> %v71 to <4 x float>
  %v76 = fptrunc <4 x double> %v72 to <4 x float>
  %v77 = getelementptr float, ptr %v2, i64 %v19
  store <4 x float> %v73, ptr %v77, align 4
  %v78 = getelementptr float, ptr %v2, i64 %v22
  store <4 x float> %v74, ptr %v78, align 4
  %v79 = getelementptr float, ptr %v2, i64 %v23
  store <4 x float> %v75, ptr %v79, align 4
  %v80 = getelementptr float, ptr %v2, i64 %v24
  store <4 x float> %v76, ptr %v80, align 4
  %v20 = add nsw i64 %v19, 16
  br label %loop1
after3:
  br label %loop4
loop4:
  %v81 = phi i64 [ %v18, %after3 ], [ %v82, %body5 ]
  %v83 = icmp slt i64 %v81, %v16
  br i1 %v83, label %body5, label %after6
body5:
  %v84 = getelementptr float, ptr %v2, i64 %v81
  %v85 = load <4 x float>, ptr %v84, align 4
  %v86 = fpext <4 x float> %v85 to <4 x double>
  %v87 = getelementptr i8, ptr %v4, i64 %v81
  %v88 = load <4 x i8>, ptr %v87, align 1
  %v89 = uitofp <4 x i8> %v88 to <4 x double>
  %v90 = fdiv <4 x double> %v89, %v13
  %v91 = getelementptr float, ptr %v6, i64 %v81
  %v92 = load <4 x float>, ptr %v91, align 4
  %v93 = fpext <4 x float> %v92 to <4 x double>
  %v94 = fadd <4 x double> %v90, %v93
  %v95 = fadd <4 x double> %v86, %v94
  %v96 = fptrunc <4 x double> %v95 to <4 x float>
  %v97 = getelementptr float, ptr %v2, i64 %v81
  store <4 x float> %v96, ptr %v97, align 4
  %v82 = add nsw i64 %v81, 4
  br label %loop4
after6:
  br label %loop7
loop7:
  %v98 = phi i64 [ %v16, %after6 ], [ %v99, %body8 ]
  %v100 = icmp slt i64 %v98, %high
  br i1 %v100, label %body8, label %after9
body8:
  %v101 = getelementptr float, ptr %v2, i64 %v98
  %v102 = load float, ptr %v101, align 4
  %v103 = fpext float %v102 to double
  %v104 = getelementptr i8, ptr %v4, i64 %v98
  %v105 = load i8, ptr %v104, align 1
  %v106 = uitofp i8 %v105 to double
  %v107 = fdiv double %v106, %v10
  %v108 = getelementptr float, ptr %v6, i64 %v98
  %v109 = load float, ptr %v108, align 4
  %v110 = fpext float %v109 to double
  %v111 = fadd double %v107, %v110
  %v112 = fadd double %v103, %v111
  %v113 = fptrunc double %v112 to float
  %v114 = getelementptr float, ptr %v2, i64 %v98
  store float %v113, ptr %v114, align 4
  %v99 = add nsw i64 %v98, 1
  br label %loop7
after9:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v11 = alloca [2 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  store ptr %words, ptr %v11
  %v12 = getelementptr i64, ptr %v11, i64 1
  store i64 0, ptr %v12
  %v13 = mul i64 %v8, 102
  %v14 = icmp sge i64 %v13, 1572864
  %v15 = icmp ne i64 %threads, 1
  %v16 = and i1 %v14, %v15
  br i1 %v16, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v11, i64 %v8, i64 64, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v11, i64 0, i64 %v8)
  br label %after3
after3:
  ret void
}
