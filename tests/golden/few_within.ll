@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @fold0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v21 = alloca [64 x float], align 64
  %v22 = alloca float, align 64
  %v23 = alloca i64, align 64
  %v24 = alloca i64, align 64
  %v25 = alloca i64, align 64
  %words = load ptr, ptr %context
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v11 = getelementptr i64, ptr %context, i64 1
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %v11, i64 1
  %v14 = load ptr, ptr %v13
  br label %loop1
loop1:
  %v15 = phi i64 [ %low, %entry ], [ %v16, %after19 ]
  %v17 = icmp slt i64 %v15, %high
  br i1 %v17, label %body2, label %after3
body2:
  %v18 = mul i64 %v15, %v12
  %v19 = add i64 %v18, %v12
  %v20 = call i64 @llvm.smin.i64(i64 %v19, i64 %v8)
  store i64 0, ptr %v23
  store i64 0, ptr %v24
  br label %while4
while4:
  %v26 = phi i64 [ %v18, %body2 ], [ %v48, %after16 ]
  %v27 = icmp slt i64 %v26, %v20
  br i1 %v27, label %body5, label %after6
body5:
  %v28 = icmp sgt i64 %v26, %v18
  br i1 %v28, label %then7, label %after8
then7:
  %v29 = load i64, ptr %v24
  store i64 %v29, ptr %v25
  br label %while9
while9:
  %v30 = load i64, ptr %v25
  %v31 = trunc i64 %v30 to i1
  br i1 %v31, label %body10, label %after11
body10:
  %v32 = load i64, ptr %v23
  %v33 = sub i64 %v32, 1
  store i64 %v33, ptr %v23
  %v34 = getelementptr float, ptr %v21, i64 %v33
  %v35 = load float, ptr %v34
  %v36 = load float, ptr %v22
  %v37 = fadd float %v35, %v36
  store float %v37, ptr %v22
  %v38 = load i64, ptr %v25
  %v39 = lshr i64 %v38, 1
  store i64 %v39, ptr %v25
  br label %while9
after11:
  %v40 = load i64, ptr %v23
  %v41 = getelementptr float, ptr %v21, i64 %v40
  %v42 = load float, ptr %v22
  store float %v42, ptr %v41
  %v43 = load i64, ptr %v23
  %v44 = add i64 %v43, 1
  store i64 %v44, ptr %v23
  %v45 = load i64, ptr %v24
  %v46 = add i64 %v45, 1
  store i64 %v46, ptr %v24
  br label %after8
after8:
  %v47 = add i64 %v26, 4096
  %v48 = call i64 @llvm.smin.i64(i64 %v47, i64 %v20)
  %v49 = sub i64 %v48, %v26
  %v50 = and i64 %v49, -32
  %v51 = add i64 %v26, %v50
  br label %loop12
loop12:
  %v52 = phi i64 [ %v26, %after8 ], [ %v53, %body13 ]
  %v55 = phi <8 x float> [ splat (float 0x8000000000000000), %after8 ], [ %v83, %body13 ]
  %v56 = phi <8 x float> [ splat (float 0x8000000000000000), %after8 ], [ %v109, %body13 ]
  %v57 = phi <8 x float> [ splat (float 0x8000000000000000), %after8 ], [ %v135, %body13 ]
  %v58 = phi <8 x float> [ splat (float 0x8000000000000000), %after8 ], [ %v161, %body13 ]
  %v54 = icmp slt i64 %v52, %v51
  br i1 %v54, label %body13, label %after14
body13:
  %v59 = mul i64 %v52, 3
  %v60 = getelementptr float, ptr %v4, i64 %v59
  %v61 = getelementptr <8 x float>, ptr %v60, i64 0
  %v62 = getelementptr <8 x float>, ptr %v60, i64 1
  %v63 = getelementptr <8 x float>, ptr %v60, i64 2
  %v64 = load <8 x float>, ptr %v61, align 4
  %v65 = load <8 x float>, ptr %v62, align 4
  %v66 = load <8 x float>, ptr %v63, align 4
  %v67 = shufflevector <8 x float> %v64, <8 x float> %v65, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v68 = shufflevector <8 x float> %v65, <8 x float> %v66, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v69 = shufflevector <8 x float> %v66, <8 x float> %v64, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v70 = shufflevector <8 x float> %v67, <8 x float> %v69, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v71 = shufflevector <8 x float> %v68, <8 x float> %v67, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v72 = shufflevector <8 x float> %v69, <8 x float> %v68, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v73 = shufflevector <8 x float> %v70, <8 x float> %v70, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v74 = shufflevector <8 x float> %v72, <8 x float> %v72, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v75 = shufflevector <8 x float> %v71, <8 x float> %v71, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v76 = getelementptr float, ptr %v6, i64 %v52
  %v77 = load <8 x float>, ptr %v76, align 4
  %v78 = fmul <8 x float> %v73, %v77
  %v79 = fmul <8 x float> %v75, %v77
  %v80 = fadd <8 x float> %v78, %v79
  %v81 = fmul <8 x float> %v74, %v77
  %v82 = fadd <8 x float> %v80, %v81
  %v83 = fadd <8 x float> %v55, %v82
  %v84 = add i64 %v52, 8
  %v85 = mul i64 %v84, 3
  %v86 = getelementptr float, ptr %v4, i64 %v85
  %v87 = getelementptr <8 x float>, ptr %v86, i64 0
  %v88 = getelementptr <8 x float>, ptr %v86, i64 1
  %v89 = getelementptr <8 x float>, ptr %v86, i64 2
  %v90 = load <8 x float>, ptr %v87, align 4
  %v91 = load <8 x float>, ptr %v88, align 4
  %v92 = load <8 x float>, ptr %v89, align 4
  %v93 = shufflevector <8 x float> %v90, <8 x float> %v91, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v94 = shufflevector <8 x float> %v91, <8 x float> %v92, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v95 = shufflevector <8 x float> %v92, <8 x float> %v90, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v96 = shufflevector <8 x float> %v93, <8 x float> %v95, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v97 = shufflevector <8 x float> %v94, <8 x float> %v93, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v98 = shufflevector <8 x float> %v95, <8 x float> %v94, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v99 = shufflevector <8 x float> %v96, <8 x float> %v96, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v100 = shufflevector <8 x float> %v98, <8 x float> %v98, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v101 = shufflevector <8 x float> %v97, <8 x float> %v97, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v102 = getelementptr float, ptr %v6, i64 %v84
  %v103 = load <8 x float>, ptr %v102, align 4
  %v104 = fmul <8 x float> %v99, %v103
  %v105 = fmul <8 x float> %v101, %v103
  %v106 = fadd <8 x float> %v104, %v105
  %v107 = fmul <8 x float> %v100, %v103
  %v108 = fadd <8 x float> %v106, %v107
  %v109 = fadd <8 x float> %v56, %v108
  %v110 = add i64 %v52, 16
  %v111 = mul i64 %v110, 3
  %v112 = getelementptr float, ptr %v4, i64 %v111
  %v113 = getelementptr <8 x float>, ptr %v112, i64 0
  %v114 = getelementptr <8 x float>, ptr %v112, i64 1
  %v115 = getelementptr <8 x float>, ptr %v112, i64 2
  %v116 = load <8 x float>, ptr %v113, align 4
  %v117 = load <8 x float>, ptr %v114, align 4
  %v118 = load <8 x float>, ptr %v115, align 4
  %v119 = shufflevector <8 x float> %v116, <8 x float> %v117, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v120 = shufflevector <8 x float> %v117, <8 x float> %v118, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v121 = shufflevector <8 x float> %v118, <8 x float> %v116, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v122 = shufflevector <8 x float> %v119, <8 x float> %v121, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v123 = shufflevector <8 x float> %v120, <8 x float> %v119, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v124 = shufflevector <8 x float> %v121, <8 x float> %v120, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v125 = shufflevector <8 x float> %v122, <8 x float> %v122, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v126 = shufflevector <8 x float> %v124, <8 x float> %v124, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v127 = shufflevector <8 x float> %v123, <8 x float> %v123, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v128 = getelementptr float, ptr %v6, i64 %v110
  %v129 = load <8 x float>, ptr %v128, align 4
  %v130 = fmul <8 x float> %v125, %v129
  %v131 = fmul <8 x float> %v127, %v129
  %v132 = fadd <8 x float> %v130, %v131
  %v133 = fmul <8 x float> %v126, %v129
  %v134 = fadd <8 x float> %v132, %v133
  %v135 = fadd <8 x float> %v57, %v134
  %v136 = add i64 %v52, 24
  %v137 = mul i64 %v136, 3
  %v138 = getelementptr float, ptr %v4, i64 %v137
  %v139 = getelementptr <8 x float>, ptr %v138, i64 0
  %v140 = getelementptr <8 x float>, ptr %v138, i64 1
  %v141 = getelementptr <8 x float>, ptr %v138, i64 2
  %v142 = load <8 x float>, ptr %v139, align 4
  %v143 = load <8 x float>, ptr %v140, align 4
  %v144 = load <8 x float>, ptr %v141, align 4
  %v145 = shufflevector <8 x float> %v142, <8 x float> %v143, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v146 = shufflevector <8 x float> %v143, <8 x float> %v144, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v147 = shufflevector <8 x float> %v144, <8 x float> %v142, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v148 = shufflevector <8 x float> %v145, <8 x float> %v147, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v149 = shufflevector <8 x float> %v146, <8 x float> %v145, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v150 = shufflevector <8 x float> %v147, <8 x float> %v146, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v151 = shufflevector <8 x float> %v148, <8 x float> %v148, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v152 = shufflevector <8 x float> %v150, <8 x float> %v150, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v153 = shufflevector <8 x float> %v149, <8 x float> %v149, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v154 = getelementptr float, ptr %v6, i64 %v136
  %v155 = load <8 x float>, ptr %v154, align 4
  %v156 = fmul <8 x float> %v151, %v155
  %v157 = fmul <8 x float> %v153, %v155
  %v158 = fadd <8 x float> %v156, %v157
  %v159 = fmul <8 x float> %v152, %v155
  %v160 = fadd <8 x float> %v158, %v159
  %v161 = fadd <8 x float> %v58, %v160
  %v53 = add nsw i64 %v52, 32
  br label %loop12
after14:
  %v162 = icmp slt i64 %v51, %v48
  br i1 %v162, label %then15, label %after16
then15:
  %v163 = sub i64 %v48, %v51
  %v164 = trunc i64 %v163 to i32
  %v165 = insertelement <8 x i32> poison, i32 %v164, i32 0
  %v166 = shufflevector <8 x i32> %v165, <8 x i32> poison, <8 x i32> zeroinitializer
  %v167 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v166
  %v168 = mul i64 %v51, 3
  %v169 = getelementptr float, ptr %v4, i64 %v168
  %v170 = getelementptr <8 x float>, ptr %v169, i64 0
  %v171 = getelementptr <8 x float>, ptr %v169, i64 1
  %v172 = getelementptr <8 x float>, ptr %v169, i64 2
  %v173 = shufflevector <8 x i1> %v167, <8 x i1> %v167, <8 x i32> <i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 2, i32 2>
  %v174 = shufflevector <8 x i1> %v167, <8 x i1> %v167, <8 x i32> <i32 2, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 5>
  %v175 = shufflevector <8 x i1> %v167, <8 x i1> %v167, <8 x i32> <i32 5, i32 5, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7>
  %v176 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v170, i32 4, <8 x i1> %v173, <8 x float> zeroinitializer)
  %v177 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v171, i32 4, <8 x i1> %v174, <8 x float> zeroinitializer)
  %v178 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v172, i32 4, <8 x i1> %v175, <8 x float> zeroinitializer)
  %v179 = shufflevector <8 x float> %v176, <8 x float> %v177, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v180 = shufflevector <8 x float> %v177, <8 x float> %v178, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v181 = shufflevector <8 x float> %v178, <8 x float> %v176, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v182 = shufflevector <8 x float> %v179, <8 x float> %v181, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v183 = shufflevector <8 x float> %v180, <8 x float> %v179, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v184 = shufflevector <8 x float> %v181, <8 x float> %v180, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v185 = shufflevector <8 x float> %v182, <8 x float> %v182, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v186 = shufflevector <8 x float> %v184, <8 x float> %v184, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v187 = shufflevector <8 x float> %v183, <8 x float> %v183, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v188 = getelementptr float, ptr %v6, i64 %v51
  %v189 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v188, i32 4, <8 x i1> %v167, <8 x float> zeroinitializer)
  %v190 = fmul <8 x float> %v185, %v189
  %v191 = fmul <8 x float> %v187, %v189
  %v192 = fadd <8 x float> %v190, %v191
  %v193 = fmul <8 x float> %v186, %v189
  %v194 = fadd <8 x float> %v192, %v193
  %v195 = fadd <8 x float> %v55, %v194
  %v196 = select <8 x i1> %v167, <8 x float> %v195, <8 x float> %v55
  %v197 = add i64 %v51, 8
  %v198 = sub i64 %v48, %v197
  %v199 = trunc i64 %v198 to i32
  %v200 = insertelement <8 x i32> poison, i32 %v199, i32 0
  %v201 = shufflevector <8 x i32> %v200, <8 x i32> poison, <8 x i32> zeroinitializer
  %v202 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v201
  %v203 = mul i64 %v197, 3
  %v204 = getelementptr float, ptr %v4, i64 %v203
  %v205 = getelementptr <8 x float>, ptr %v204, i64 0
  %v206 = getelementptr <8 x float>, ptr %v204, i64 1
  %v207 = getelementptr <8 x float>, ptr %v204, i64 2
  %v208 = shufflevector <8 x i1> %v202, <8 x i1> %v202, <8 x i32> <i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 2, i32 2>
  %v209 = shufflevector <8 x i1> %v202, <8 x i1> %v202, <8 x i32> <i32 2, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 5>
  %v210 = shufflevector <8 x i1> %v202, <8 x i1> %v202, <8 x i32> <i32 5, i32 5, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7>
  %v211 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v205, i32 4, <8 x i1> %v208, <8 x float> zeroinitializer)
  %v212 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v206, i32 4, <8 x i1> %v209, <8 x float> zeroinitializer)
  %v213 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v207, i32 4, <8 x i1> %v210, <8 x float> zeroinitializer)
  %v214 = shufflevector <8 x float> %v211, <8 x float> %v212, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v215 = shufflevector <8 x float> %v212, <8 x float> %v213, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v216 = shufflevector <8 x float> %v213, <8 x float> %v211, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v217 = shufflevector <8 x float> %v214, <8 x float> %v216, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v218 = shufflevector <8 x float> %v215, <8 x float> %v214, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v219 = shufflevector <8 x float> %v216, <8 x float> %v215, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v220 = shufflevector <8 x float> %v217, <8 x float> %v217, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v221 = shufflevector <8 x float> %v219, <8 x float> %v219, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v222 = shufflevector <8 x float> %v218, <8 x float> %v218, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v223 = getelementptr float, ptr %v6, i64 %v197
  %v224 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v223, i32 4, <8 x i1> %v202, <8 x float> zeroinitializer)
  %v225 = fmul <8 x float> %v220, %v224
  %v226 = fmul <8 x float> %v222, %v224
  %v227 = fadd <8 x float> %v225, %v226
  %v228 = fmul <8 x float> %v221, %v224
  %v229 = fadd <8 x float> %v227, %v228
  %v230 = fadd <8 x float> %v56, %v229
  %v231 = select <8 x i1> %v202, <8 x float> %v230, <8 x float> %v56
  %v232 = add i64 %v51, 16
  %v233 = sub i64 %v48, %v232
  %v234 = trunc i64 %v233 to i32
  %v235 = insertelement <8 x i32> poison, i32 %v234, i32 0
  %v236 = shufflevector <8 x i32> %v235, <8 x i32> poison, <8 x i32> zeroinitializer
  %v237 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v236
  %v238 = mul i64 %v232, 3
  %v239 = getelementptr float, ptr %v4, i64 %v238
  %v240 = getelementptr <8 x float>, ptr %v239, i64 0
  %v241 = getelementptr <8 x float>, ptr %v239, i64 1
  %v242 = getelementptr <8 x float>, ptr %v239, i64 2
  %v243 = shufflevector <8 x i1> %v237, <8 x i1> %v237, <8 x i32> <i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 2, i32 2>
  %v244 = shufflevector <8 x i1> %v237, <8 x i1> %v237, <8 x i32> <i32 2, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 5>
  %v245 = shufflevector <8 x i1> %v237, <8 x i1> %v237, <8 x i32> <i32 5, i32 5, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7>
  %v246 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v240, i32 4, <8 x i1> %v243, <8 x float> zeroinitializer)
  %v247 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v241, i32 4, <8 x i1> %v244, <8 x float> zeroinitializer)
  %v248 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v242, i32 4, <8 x i1> %v245, <8 x float> zeroinitializer)
  %v249 = shufflevector <8 x float> %v246, <8 x float> %v247, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v250 = shufflevector <8 x float> %v247, <8 x float> %v248, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v251 = shufflevector <8 x float> %v248, <8 x float> %v246, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v252 = shufflevector <8 x float> %v249, <8 x float> %v251, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v253 = shufflevector <8 x float> %v250, <8 x float> %v249, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v254 = shufflevector <8 x float> %v251, <8 x float> %v250, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v255 = shufflevector <8 x float> %v252, <8 x float> %v252, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v256 = shufflevector <8 x float> %v254, <8 x float> %v254, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v257 = shufflevector <8 x float> %v253, <8 x float> %v253, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v258 = getelementptr float, ptr %v6, i64 %v232
  %v259 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v258, i32 4, <8 x i1> %v237, <8 x float> zeroinitializer)
  %v260 = fmul <8 x float> %v255, %v259
  %v261 = fmul <8 x float> %v257, %v259
  %v262 = fadd <8 x float> %v260, %v261
  %v263 = fmul <8 x float> %v256, %v259
  %v264 = fadd <8 x float> %v262, %v263
  %v265 = fadd <8 x float> %v57, %v264
  %v266 = select <8 x i1> %v237, <8 x float> %v265, <8 x float> %v57
  %v267 = add i64 %v51, 24
  %v268 = sub i64 %v48, %v267
  %v269 = trunc i64 %v268 to i32
  %v270 = insertelement <8 x i32> poison, i32 %v269, i32 0
  %v271 = shufflevector <8 x i32> %v270, <8 x i32> poison, <8 x i32> zeroinitializer
  %v272 = icmp slt <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v271
  %v273 = mul i64 %v267, 3
  %v274 = getelementptr float, ptr %v4, i64 %v273
  %v275 = getelementptr <8 x float>, ptr %v274, i64 0
  %v276 = getelementptr <8 x float>, ptr %v274, i64 1
  %v277 = getelementptr <8 x float>, ptr %v274, i64 2
  %v278 = shufflevector <8 x i1> %v272, <8 x i1> %v272, <8 x i32> <i32 0, i32 0, i32 0, i32 1, i32 1, i32 1, i32 2, i32 2>
  %v279 = shufflevector <8 x i1> %v272, <8 x i1> %v272, <8 x i32> <i32 2, i32 3, i32 3, i32 3, i32 4, i32 4, i32 4, i32 5>
  %v280 = shufflevector <8 x i1> %v272, <8 x i1> %v272, <8 x i32> <i32 5, i32 5, i32 6, i32 6, i32 6, i32 7, i32 7, i32 7>
  %v281 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v275, i32 4, <8 x i1> %v278, <8 x float> zeroinitializer)
  %v282 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v276, i32 4, <8 x i1> %v279, <8 x float> zeroinitializer)
  %v283 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v277, i32 4, <8 x i1> %v280, <8 x float> zeroinitializer)
  %v284 = shufflevector <8 x float> %v281, <8 x float> %v282, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v285 = shufflevector <8 x float> %v282, <8 x float> %v283, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v286 = shufflevector <8 x float> %v283, <8 x float> %v281, <8 x i32> <i32 0, i32 9, i32 2, i32 3, i32 12, i32 5, i32 6, i32 15>
  %v287 = shufflevector <8 x float> %v284, <8 x float> %v286, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v288 = shufflevector <8 x float> %v285, <8 x float> %v284, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v289 = shufflevector <8 x float> %v286, <8 x float> %v285, <8 x i32> <i32 0, i32 1, i32 10, i32 3, i32 4, i32 13, i32 6, i32 7>
  %v290 = shufflevector <8 x float> %v287, <8 x float> %v287, <8 x i32> <i32 0, i32 3, i32 6, i32 1, i32 4, i32 7, i32 2, i32 5>
  %v291 = shufflevector <8 x float> %v289, <8 x float> %v289, <8 x i32> <i32 1, i32 4, i32 7, i32 2, i32 5, i32 0, i32 3, i32 6>
  %v292 = shufflevector <8 x float> %v288, <8 x float> %v288, <8 x i32> <i32 2, i32 5, i32 0, i32 3, i32 6, i32 1, i32 4, i32 7>
  %v293 = getelementptr float, ptr %v6, i64 %v267
  %v294 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v293, i32 4, <8 x i1> %v272, <8 x float> zeroinitializer)
  %v295 = fmul <8 x float> %v290, %v294
  %v296 = fmul <8 x float> %v292, %v294
  %v297 = fadd <8 x float> %v295, %v296
  %v298 = fmul <8 x float> %v291, %v294
  %v299 = fadd <8 x float> %v297, %v298
  %v300 = fadd <8 x float> %v58, %v299
  %v301 = select <8 x i1> %v272, <8 x float> %v300, <8 x float> %v58
  br label %after16
after16:
  %v302 = phi <8 x float> [ %v55, %after14 ], [ %v196, %then15 ]
  %v303 = phi <8 x float> [ %v56, %after14 ], [ %v231, %then15 ]
  %v304 = phi <8 x float> [ %v57, %after14 ], [ %v266, %then15 ]
  %v305 = phi <8 x float> [ %v58, %after14 ], [ %v301, %then15 ]
  %v306 = fadd <8 x float> %v302, %v304
  %v307 = fadd <8 x float> %v303, %v305
  %v308 = fadd <8 x float> %v306, %v307
  %v309 = shufflevector <8 x float> %v308, <8 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %v310 = shufflevector <8 x float> %v308, <8 x float> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %v311 = fadd <4 x float> %v309, %v310
  %v312 = shufflevector <4 x float> %v311, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %v313 = shufflevector <4 x float> %v311, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %v314 = fadd <2 x float> %v312, %v313
  %v315 = extractelement <2 x float> %v314, i32 0
  %v316 = extractelement <2 x float> %v314, i32 1
  %v317 = fadd float %v315, %v316
  store float %v317, ptr %v22
  br label %while4
after6:
  br label %while17
while17:
  %v318 = load i64, ptr %v23
  %v319 = icmp sgt i64 %v318, 0
  br i1 %v319, label %body18, label %after19
body18:
  %v320 = load i64, ptr %v23
  %v321 = sub i64 %v320, 1
  store i64 %v321, ptr %v23
  %v322 = getelementptr float, ptr %v21, i64 %v321
  %v323 = load float, ptr %v322
  %v324 = load float, ptr %v22
  %v325 = fadd float %v323, %v324
  store float %v325, ptr %v22
  br label %while17
after19:
  %v326 = load float, ptr %v22
  %v327 = getelementptr float, ptr %v14, i64 %v15
  store float %v326, ptr %v327, align 4
  %v16 = add nsw i64 %v15, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v11 = alloca [1024 x float], align 64
  %v20 = alloca [3 x i64], align 64
  %v27 = alloca [64 x float], align 64
  %v28 = alloca float, align 64
  %v29 = alloca i64, align 64
  %v30 = alloca i64, align 64
  %v31 = alloca i64, align 64
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v12 = udiv i64 %v8, 4194304
  %v13 = call i64 @llvm.ctlz.i64(i64 %v12, i1 false)
  %v14 = sub i64 64, %v13
  %v15 = call i64 @llvm.smax.i64(i64 %v14, i64 2)
  %v16 = shl i64 4096, %v15
  %v17 = sub i64 %v16, 1
  %v18 = add i64 %v8, %v17
  %v19 = udiv i64 %v18, %v16
  store ptr %words, ptr %v20
  %v21 = getelementptr i64, ptr %v20, i64 1
  store i64 %v16, ptr %v21
  %v22 = getelementptr i64, ptr %v20, i64 2
  store ptr %v11, ptr %v22
  %v23 = mul i64 %v8, 52
  %v24 = icmp sge i64 %v23, 1572864
  %v25 = icmp ne i64 %threads, 1
  %v26 = and i1 %v24, %v25
  br i1 %v26, label %then1, label %else2
then1:
  call void @parallel(ptr @fold0, ptr %v20, i64 %v19, i64 1, i64 %threads)
  br label %after3
else2:
  call void @fold0(ptr %v20, i64 0, i64 %v19)
  br label %after3
after3:
  store i64 0, ptr %v29
  store i64 0, ptr %v30
  br label %while4
while4:
  %v32 = phi i64 [ 0, %after3 ], [ %v54, %after8 ]
  %v33 = icmp slt i64 %v32, %v19
  br i1 %v33, label %body5, label %after6
body5:
  %v34 = icmp sgt i64 %v32, 0
  br i1 %v34, label %then7, label %after8
then7:
  %v35 = load i64, ptr %v30
  store i64 %v35, ptr %v31
  br label %while9
while9:
  %v36 = load i64, ptr %v31
  %v37 = trunc i64 %v36 to i1
  br i1 %v37, label %body10, label %after11
body10:
  %v38 = load i64, ptr %v29
  %v39 = sub i64 %v38, 1
  store i64 %v39, ptr %v29
  %v40 = getelementptr float, ptr %v27, i64 %v39
  %v41 = load float, ptr %v40
  %v42 = load float, ptr %v28
  %v43 = fadd float %v41, %v42
  store float %v43, ptr %v28
  %v44 = load i64, ptr %v31
  %v45 = lshr i64 %v44, 1
  store i64 %v45, ptr %v31
  br label %while9
after11:
  %v46 = load i64, ptr %v29
  %v47 = getelementptr float, ptr %v27, i64 %v46
  %v48 = load float, ptr %v28
  store float %v48, ptr %v47
  %v49 = load i64, ptr %v29
  %v50 = add i64 %v49, 1
  store i64 %v50, ptr %v29
  %v51 = load i64, ptr %v30
  %v52 = add i64 %v51, 1
  store i64 %v52, ptr %v30
  br label %after8
after8:
  %v53 = add i64 %v32, 1
  %v54 = call i64 @llvm.smin.i64(i64 %v53, i64 %v19)
  %v55 = getelementptr float, ptr %v11, i64 %v32
  %v56 = load float, ptr %v55, align 4
  store float %v56, ptr %v28
  br label %while4
after6:
  br label %while12
while12:
  %v57 = load i64, ptr %v29
  %v58 = icmp sgt i64 %v57, 0
  br i1 %v58, label %body13, label %after14
body13:
  %v59 = load i64, ptr %v29
  %v60 = sub i64 %v59, 1
  store i64 %v60, ptr %v29
  %v61 = getelementptr float, ptr %v27, i64 %v60
  %v62 = load float, ptr %v61
  %v63 = load float, ptr %v28
  %v64 = fadd float %v62, %v63
  store float %v64, ptr %v28
  br label %while12
after14:
  %v65 = load float, ptr %v28
  br label %loop15
loop15:
  %v66 = phi i64 [ 0, %after14 ], [ %v67, %body16 ]
  %v68 = icmp slt i64 %v66, 1
  br i1 %v68, label %body16, label %after17
body16:
  %v69 = mul i64 %v66, 0
  %v70 = getelementptr float, ptr %v2, i64 %v69
  store float %v65, ptr %v70, align 4
  %v67 = add nsw i64 %v66, 1
  br label %loop15
after17:
  ret void
}
