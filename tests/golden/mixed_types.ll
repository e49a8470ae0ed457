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
  %v22 = getelementptr float, ptr %v2, i64 %v19
  %v23 = load <4 x float>, ptr %v22, align 4
  %v24 = fpext <4 x float> %v23 to <4 x double>
  %v25 = getelementptr i8, ptr %v4, i64 %v19
  %v26 = load <4 x i8>, ptr %v25, align 1
  %v27 = uitofp <4 x i8> %v26 to <4 x double>
  %v28 = fdiv <4 x double> %v27, %v13
  %v29 = getelementptr float, ptr %v6, i64 %v19
  %v30 = load <4 x float>, ptr %v29, align 4
  %v31 = fpext <4 x float> %v30 to <4 x double>
  %v32 = fadd <4 x double> %v28, %v31
  %v33 = fadd <4 x double> %v24, %v32
  %v34 = fptrunc <4 x double> %v33 to <4 x float>
  %v35 = add i64 %v19, 4
  %v36 = getelementptr float, ptr %v2, i64 %v35
  %v37 = load <4 x float>, ptr %v36, align 4
  %v38 = fpext <4 x float> %v37 to <4 x double>
  %v39 = getelementptr i8, ptr %v4, i64 %v35
  %v40 = load <4 x i8>, ptr %v39, align 1
  %v41 = uitofp <4 x i8> %v40 to <4 x double>
  %v42 = fdiv <4 x double> %v41, %v13
  %v43 = getelementptr float, ptr %v6, i64 %v35
  %v44 = load <4 x float>, ptr %v43, align 4
  %v45 = fpext <4 x float> %v44 to <4 x double>
  %v46 = fadd <4 x double> %v42, %v45
  %v47 = fadd <4 x double> %v38, %v46
  %v48 = fptrunc <4 x double> %v47 to <4 x float>
  %v49 = add i64 %v19, 8
  %v50 = getelementptr float, ptr %v2, i64 %v49
  %v51 = load <4 x float>, ptr %v50, align 4
  %v52 = fpext <4 x float> %v51 to <4 x double>
  %v53 = getelementptr i8, ptr %v4, i64 %v49
  %v54 = load <4 x i8>, ptr %v53, align 1
  %v55 = uitofp <4 x i8> %v54 to <4 x double>
  %v56 = fdiv <4 x double> %v55, %v13
  %v57 = getelementptr float, ptr %v6, i64 %v49
  %v58 = load <4 x float>, ptr %v57, align 4
  %v59 = fpext <4 x float> %v58 to <4 x double>
  %v60 = fadd <4 x double> %v56, %v59
  %v61 = fadd <4 x double> %v52, %v60
  %v62 = fptrunc <4 x double> %v61 to <4 x float>
  %v63 = add i64 %v19, 12
  %v64 = getelementptr float, ptr %v2, i64 %v63
  %v65 = load <4 x float>, ptr %v64, align 4
  %v66 = fpext <4 x float> %v65 to <4 x double>
  %v67 = getelementptr i8, ptr %v4, i64 %v63
  %v68 = load <4 x i8>, ptr %v67, align 1
  %v69 = uitofp <4 x i8> %v68 to <4 x double>
  %v70 = fdiv <4 x double> %v69, %v13
  %v71 = getelementptr float, ptr %v6, i64 %v63
  %v72 = load <4 x float>, ptr %v71, align 4
  %v73 = fpext <4 x float> %v72 to <4 x double>
  %v74 = fadd <4 x double> %v70, %v73
  %v75 = fadd <4 x double> %v66, %v74
  %v76 = fptrunc <4 x double> %v75 to <4 x float>
  %v77 = getelementptr float, ptr %v2, i64 %v19
  store <4 x float> %v34, ptr %v77, align 4
  %v78 = getelementptr float, ptr %v2, i64 %v35
  store <4 x float> %v48, ptr %v78, align 4
  %v79 = getelementptr float, ptr %v2, i64 %v49
  store <4 x float> %v62, ptr %v79, align 4
  %v80 = getelementptr float, ptr %v2, i64 %v63
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
