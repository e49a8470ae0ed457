@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v209 = alloca i64, align 64
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load double, ptr %v13
  %v15 = fptrunc double %v14 to float
  %v16 = getelementptr i64, ptr %context, i64 1
  %v17 = load i64, ptr %v16
  %v18 = getelementptr i64, ptr %context, i64 2
  %v19 = load i64, ptr %v18
  %v20 = getelementptr i64, ptr %context, i64 3
  %v21 = load i64, ptr %v20
  %v22 = getelementptr i64, ptr %context, i64 4
  %v23 = load i64, ptr %v22
  %v24 = getelementptr i64, ptr %context, i64 5
  %v25 = sub i64 %high, %low
  %v26 = and i64 %v25, -8
  %v27 = add i64 %low, %v26
  %v28 = and i64 %v25, -32
  %v29 = add i64 %low, %v28
  br label %loop1
loop1:
  %v30 = phi i64 [ %low, %entry ], [ %v31, %body2 ]
  %v32 = icmp slt i64 %v30, %v29
  br i1 %v32, label %body2, label %after3
body2:
  %v33 = add i64 %v30, 8
  %v34 = add i64 %v30, 16
  %v35 = add i64 %v30, 24
  %v36 = getelementptr float, ptr %v4, i64 %v30
  %v37 = load <8 x float>, ptr %v36, align 4
  %v38 = getelementptr float, ptr %v4, i64 %v33
  %v39 = load <8 x float>, ptr %v38, align 4
  %v40 = getelementptr float, ptr %v4, i64 %v34
  %v41 = load <8 x float>, ptr %v40, align 4
  %v42 = getelementptr float, ptr %v4, i64 %v35
  %v43 = load <8 x float>, ptr %v42, align 4
  %v44 = add i64 %v17, %v30
  %v45 = getelementptr float, ptr %v4, i64 %v44
  %v46 = load <8 x float>, ptr %v45, align 4
  %v47 = add i64 %v17, %v33
  %v48 = getelementptr float, ptr %v4, i64 %v47
  %v49 = load <8 x float>, ptr %v48, align 4
  %v50 = add i64 %v17, %v34
  %v51 = getelementptr float, ptr %v4, i64 %v50
  %v52 = load <8 x float>, ptr %v51, align 4
  %v53 = add i64 %v17, %v35
  %v54 = getelementptr float, ptr %v4, i64 %v53
  %v55 = load <8 x float>, ptr %v54, align 4
  %v56 = fadd <8 x float> %v37, %v46
  %v57 = fadd <8 x float> %v39, %v49
  %v58 = fadd <8 x float> %v41, %v52
  %v59 = fadd <8 x float> %v43, %v55
  %v60 = add i64 %v12, %v30
  %v61 = getelementptr float, ptr %v4, i64 %v60
  %v62 = load <8 x float>, ptr %v61, align 4
  %v63 = add i64 %v12, %v33
  %v64 = getelementptr float, ptr %v4, i64 %v63
  %v65 = load <8 x float>, ptr %v64, align 4
  %v66 = add i64 %v12, %v34
  %v67 = getelementptr float, ptr %v4, i64 %v66
  %v68 = load <8 x float>, ptr %v67, align 4
  %v69 = add i64 %v12, %v35
  %v70 = getelementptr float, ptr %v4, i64 %v69
  %v71 = load <8 x float>, ptr %v70, align 4
  %v72 = add i64 %v19, %v30
  %v73 = getelementptr float, ptr %v4, i64 %v72
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = add i64 %v19, %v33
  %v76 = getelementptr float, ptr %v4, i64 %v75
  %v77 = load <8 x float>, ptr %v76, align 4
  %v78 = add i64 %v19, %v34
  %v79 = getelementptr float, ptr %v4, i64 %v78
  %v80 = load <8 x float>, ptr %v79, align 4
  %v81 = add i64 %v19, %v35
  %v82 = getelementptr float, ptr %v4, i64 %v81
  %v83 = load <8 x float>, ptr %v82, align 4
  %v84 = fadd <8 x float> %v62, %v74
  %v85 = fadd <8 x float> %v65, %v77
  %v86 = fadd <8 x float> %v68, %v80
  %v87 = fadd <8 x float> %v71, %v83
  %v88 = fadd <8 x float> %v56, %v84
  %v89 = fadd <8 x float> %v57, %v85
  %v90 = fadd <8 x float> %v58, %v86
  %v91 = fadd <8 x float> %v59, %v87
  %v92 = fmul <8 x float> %v88, splat (float 0x3FD0000000000000)
  %v93 = fmul <8 x float> %v89, splat (float 0x3FD0000000000000)
  %v94 = fmul <8 x float> %v90, splat (float 0x3FD0000000000000)
  %v95 = fmul <8 x float> %v91, splat (float 0x3FD0000000000000)
  %v96 = fsub <8 x float> %v37, %v92
  %v97 = fsub <8 x float> %v39, %v93
  %v98 = fsub <8 x float> %v41, %v94
  %v99 = fsub <8 x float> %v43, %v95
  %v100 = fsub <8 x float> %v62, %v92
  %v101 = fsub <8 x float> %v65, %v93
  %v102 = fsub <8 x float> %v68, %v94
  %v103 = fsub <8 x float> %v71, %v95
  %v104 = fsub <8 x float> %v46, %v92
  %v105 = fsub <8 x float> %v49, %v93
  %v106 = fsub <8 x float> %v52, %v94
  %v107 = fsub <8 x float> %v55, %v95
  %v108 = fsub <8 x float> %v74, %v92
  %v109 = fsub <8 x float> %v77, %v93
  %v110 = fsub <8 x float> %v80, %v94
  %v111 = fsub <8 x float> %v83, %v95
  %v112 = getelementptr float, ptr %v2, i64 %v30
  store <8 x float> %v96, ptr %v112, align 4
  %v113 = add i64 %v10, %v30
  %v114 = getelementptr float, ptr %v2, i64 %v113
  store <8 x float> %v100, ptr %v114, align 4
  %v115 = add i64 %v21, %v30
  %v116 = getelementptr float, ptr %v2, i64 %v115
  store <8 x float> %v104, ptr %v116, align 4
  %v117 = add i64 %v23, %v30
  %v118 = getelementptr float, ptr %v2, i64 %v117
  store <8 x float> %v108, ptr %v118, align 4
  %v119 = getelementptr float, ptr %v2, i64 %v33
  store <8 x float> %v97, ptr %v119, align 4
  %v120 = add i64 %v10, %v33
  %v121 = getelementptr float, ptr %v2, i64 %v120
  store <8 x float> %v101, ptr %v121, align 4
  %v122 = add i64 %v21, %v33
  %v123 = getelementptr float, ptr %v2, i64 %v122
  store <8 x float> %v105, ptr %v123, align 4
  %v124 = add i64 %v23, %v33
  %v125 = getelementptr float, ptr %v2, i64 %v124
  store <8 x float> %v109, ptr %v125, align 4
  %v126 = getelementptr float, ptr %v2, i64 %v34
  store <8 x float> %v98, ptr %v126, align 4
  %v127 = add i64 %v10, %v34
  %v128 = getelementptr float, ptr %v2, i64 %v127
  store <8 x float> %v102, ptr %v128, align 4
  %v129 = add i64 %v21, %v34
  %v130 = getelementptr float, ptr %v2, i64 %v129
  store <8 x float> %v106, ptr %v130, align 4
  %v131 = add i64 %v23, %v34
  %v132 = getelementptr float, ptr %v2, i64 %v131
  store <8 x float> %v110, ptr %v132, align 4
  %v133 = getelementptr float, ptr %v2, i64 %v35
  store <8 x float> %v99, ptr %v133, align 4
  %v134 = add i64 %v10, %v35
  %v135 = getelementptr float, ptr %v2, i64 %v134
  store <8 x float> %v103, ptr %v135, align 4
  %v136 = add i64 %v21, %v35
  %v137 = getelementptr float, ptr %v2, i64 %v136
  store <8 x float> %v107, ptr %v137, align 4
  %v138 = add i64 %v23, %v35
  %v139 = getelementptr float, ptr %v2, i64 %v138
  store <8 x float> %v111, ptr %v139, align 4
  %v31 = add nsw i64 %v30, 32
  br label %loop1
after3:
  %v140 = icmp sge i64 %v25, 8
  %v141 = icmp eq ptr %v4, %v2
  %v142 = or i1 false, %v141
  %v143 = xor i1 %v142, true
  %v144 = and i1 %v140, %v143
  %v145 = select i1 %v144, i64 %high, i64 %v27
  %v146 = sub i64 %high, 8
  br label %loop4
loop4:
  %v147 = phi i64 [ %v29, %after3 ], [ %v148, %body5 ]
  %v149 = icmp slt i64 %v147, %v145
  br i1 %v149, label %body5, label %after6
body5:
  %v150 = call i64 @llvm.smin.i64(i64 %v147, i64 %v146)
  %v151 = getelementptr float, ptr %v4, i64 %v150
  %v152 = load <8 x float>, ptr %v151, align 4
  %v153 = add i64 %v17, %v150
  %v154 = getelementptr float, ptr %v4, i64 %v153
  %v155 = load <8 x float>, ptr %v154, align 4
  %v156 = fadd <8 x float> %v152, %v155
  %v157 = add i64 %v12, %v150
  %v158 = getelementptr float, ptr %v4, i64 %v157
  %v159 = load <8 x float>, ptr %v158, align 4
  %v160 = add i64 %v19, %v150
  %v161 = getelementptr float, ptr %v4, i64 %v160
  %v162 = load <8 x float>, ptr %v161, align 4
  %v163 = fadd <8 x float> %v159, %v162
  %v164 = fadd <8 x float> %v156, %v163
  %v165 = fmul <8 x float> %v164, splat (float 0x3FD0000000000000)
  %v166 = fsub <8 x float> %v152, %v165
  %v167 = fsub <8 x float> %v159, %v165
  %v168 = fsub <8 x float> %v155, %v165
  %v169 = fsub <8 x float> %v162, %v165
  %v170 = getelementptr float, ptr %v2, i64 %v150
  store <8 x float> %v166, ptr %v170, align 4
  %v171 = add i64 %v10, %v150
  %v172 = getelementptr float, ptr %v2, i64 %v171
  store <8 x float> %v167, ptr %v172, align 4
  %v173 = add i64 %v21, %v150
  %v174 = getelementptr float, ptr %v2, i64 %v173
  store <8 x float> %v168, ptr %v174, align 4
  %v175 = add i64 %v23, %v150
  %v176 = getelementptr float, ptr %v2, i64 %v175
  store <8 x float> %v169, ptr %v176, align 4
  %v148 = add nsw i64 %v147, 8
  br label %loop4
after6:
  %v177 = icmp slt i64 %v145, %high
  br i1 %v177, label %then7, label %after8
then7:
  %v178 = sub i64 %high, %v145
  %v179 = trunc i64 %v178 to i32
  %v180 = insertelement <8 x i32> poison, i32 %v179, i32 0
  %v181 = shufflevector <8 x i32> %v180, <8 x i32> poison, <8 x i32> zeroinitializer
  %v182 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v181
  %v183 = getelementptr float, ptr %v4, i64 %v145
  %v184 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v183, i32 4, <8 x i1> %v182, <8 x float> zeroinitializer)
  %v185 = add i64 %v17, %v145
  %v186 = getelementptr float, ptr %v4, i64 %v185
  %v187 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v186, i32 4, <8 x i1> %v182, <8 x float> zeroinitializer)
  %v188 = fadd <8 x float> %v184, %v187
  %v189 = add i64 %v12, %v145
  %v190 = getelementptr float, ptr %v4, i64 %v189
  %v191 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v190, i32 4, <8 x i1> %v182, <8 x float> zeroinitializer)
  %v192 = add i64 %v19, %v145
  %v193 = getelementptr float, ptr %v4, i64 %v192
  %v194 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v193, i32 4, <8 x i1> %v182, <8 x float> zeroinitializer)
  %v195 = fadd <8 x float> %v191, %v194
  %v196 = fadd <8 x float> %v188, %v195
  %v197 = fmul <8 x float> %v196, splat (float 0x3FD0000000000000)
  %v198 = fsub <8 x float> %v184, %v197
  %v199 = fsub <8 x float> %v191, %v197
  %v200 = fsub <8 x float> %v187, %v197
  %v201 = fsub <8 x float> %v194, %v197
  %v202 = getelementptr float, ptr %v2, i64 %v145
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v198, ptr %v202, i32 4, <8 x i1> %v182)
  %v203 = add i64 %v10, %v145
  %v204 = getelementptr float, ptr %v2, i64 %v203
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v199, ptr %v204, i32 4, <8 x i1> %v182)
  %v205 = add i64 %v21, %v145
  %v206 = getelementptr float, ptr %v2, i64 %v205
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v200, ptr %v206, i32 4, <8 x i1> %v182)
  %v207 = add i64 %v23, %v145
  %v208 = getelementptr float, ptr %v2, i64 %v207
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v201, ptr %v208, i32 4, <8 x i1> %v182)
  br label %after8
after8:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v20 = alloca [6 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load double, ptr %v13
  %v15 = fptrunc double %v14 to float
  %v16 = mul i64 2, %v12
  %v17 = mul i64 3, %v12
  %v18 = mul i64 2, %v10
  %v19 = mul i64 3, %v10
  store ptr %words, ptr %v20
  %v21 = getelementptr i64, ptr %v20, i64 1
  store i64 %v16, ptr %v21
  %v22 = getelementptr i64, ptr %v20, i64 2
  store i64 %v17, ptr %v22
  %v23 = getelementptr i64, ptr %v20, i64 3
  store i64 %v18, ptr %v23
  %v24 = getelementptr i64, ptr %v20, i64 4
  store i64 %v19, ptr %v24
  %v25 = getelementptr i64, ptr %v20, i64 5
  store i64 0, ptr %v25
  %v26 = mul i64 %v8, 96
  %v27 = icmp sge i64 %v26, 1572864
  %v28 = icmp ne i64 %threads, 1
  %v29 = and i1 %v27, %v28
  br i1 %v29, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v20, i64 %v8, i64 64, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v20, i64 0, i64 %v8)
  br label %after3
after3:
  ret void
}
