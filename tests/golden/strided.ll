@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v296 = alloca i64, align 64
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
  %v18 = load double, ptr %v17
  %v19 = fptrunc double %v18 to float
  %v20 = getelementptr i64, ptr %context, i64 1
  %v21 = load i64, ptr %v20
  %v22 = icmp eq i64 %v21, 0
  %v23 = select i1 %v22, i64 %low, i64 0
  %v24 = select i1 %v22, i64 %high, i64 %v6
  %v25 = icmp eq i64 %v21, 1
  %v26 = select i1 %v25, i64 %low, i64 0
  %v27 = select i1 %v25, i64 %high, i64 %v8
  br label %loop1
loop1:
  %v28 = phi i64 [ %v23, %entry ], [ %v29, %after12 ]
  %v30 = icmp slt i64 %v28, %v24
  br i1 %v30, label %body2, label %after3
body2:
  %v31 = mul i64 %v28, %v10
  %v32 = mul i64 %v28, %v14
  %v33 = insertelement <8 x float> poison, float %v19, i32 0
  %v34 = shufflevector <8 x float> %v33, <8 x float> poison, <8 x i32> zeroinitializer
  %v35 = sub i64 %v27, %v26
  %v36 = and i64 %v35, -8
  %v37 = add i64 %v26, %v36
  %v38 = and i64 %v35, -32
  %v39 = add i64 %v26, %v38
  br label %loop4
loop4:
  %v40 = phi i64 [ %v26, %body2 ], [ %v41, %body5 ]
  %v42 = icmp slt i64 %v40, %v39
  br i1 %v42, label %body5, label %after6
body5:
  %v43 = add i64 %v40, 8
  %v44 = add i64 %v40, 16
  %v45 = add i64 %v40, 24
  %v46 = mul i64 %v40, %v16
  %v47 = add i64 %v32, %v46
  %v48 = getelementptr float, ptr %v4, i64 %v47
  %v49 = load float, ptr %v48, align 4
  %v50 = insertelement <8 x float> poison, float %v49, i32 0
  %v51 = getelementptr float, ptr %v48, i64 %v16
  %v52 = load float, ptr %v51, align 4
  %v53 = insertelement <8 x float> %v50, float %v52, i32 1
  %v54 = getelementptr float, ptr %v51, i64 %v16
  %v55 = load float, ptr %v54, align 4
  %v56 = insertelement <8 x float> %v53, float %v55, i32 2
  %v57 = getelementptr float, ptr %v54, i64 %v16
  %v58 = load float, ptr %v57, align 4
  %v59 = insertelement <8 x float> %v56, float %v58, i32 3
  %v60 = getelementptr float, ptr %v57, i64 %v16
  %v61 = load float, ptr %v60, align 4
  %v62 = insertelement <8 x float> %v59, float %v61, i32 4
  %v63 = getelementptr float, ptr %v60, i64 %v16
  %v64 = load float, ptr %v63, align 4
  %v65 = insertelement <8 x float> %v62, float %v64, i32 5
  %v66 = getelementptr float, ptr %v63, i64 %v16
  %v67 = load float, ptr %v66, align 4
  %v68 = insertelement <8 x float> %v65, float %v67, i32 6
  %v69 = getelementptr float, ptr %v66, i64 %v16
  %v70 = load float, ptr %v69, align 4
  %v71 = insertelement <8 x float> %v68, float %v70, i32 7
  %v72 = mul i64 %v43, %v16
  %v73 = add i64 %v32, %v72
  %v74 = getelementptr float, ptr %v4, i64 %v73
  %v75 = load float, ptr %v74, align 4
  %v76 = insertelement <8 x float> poison, float %v75, i32 0
  %v77 = getelementptr float, ptr %v74, i64 %v16
  %v78 = load float, ptr %v77, align 4
  %v79 = insertelement <8 x float> %v76, float %v78, i32 1
  %v80 = getelementptr float, ptr %v77, i64 %v16
  %v81 = load float, ptr %v80, align 4
  %v82 = insertelement <8 x float> %v79, float %v81, i32 2
  %v83 = getelementptr float, ptr %v80, i64 %v16
  %v84 = load float, ptr %v83, align 4
  %v85 = insertelement <8 x float> %v82, float %v84, i32 3
  %v86 = getelementptr float, ptr %v83, i64 %v16
  %v87 = load float, ptr %v86, align 4
  %v88 = insertelement <8 x float> %v85, float %v87, i32 4
  %v89 = getelementptr float, ptr %v86, i64 %v16
  %v90 = load float, ptr %v89, align 4
  %v91 = insertelement <8 x float> %v88, float %v90, i32 5
  %v92 = getelementptr float, ptr %v89, i64 %v16
  %v93 = load float, ptr %v92, align 4
  %v94 = insertelement <8 x float> %v91, float %v93, i32 6
  %v95 = getelementptr float, ptr %v92, i64 %v16
  %v96 = load float, ptr %v95, align 4
  %v97 = insertelement <8 x float> %v94, float %v96, i32 7
  %v98 = mul i64 %v44, %v16
  %v99 = add i64 %v32, %v98
  %v100 = getelementptr float, ptr %v4, i64 %v99
  %v101 = load float, ptr %v100, align 4
  %v102 = insertelement <8 x float> poison, float %v101, i32 0
  %v103 = getelementptr float, ptr %v100, i64 %v16
  %v104 = load float, ptr %v103, align 4
  %v105 = insertelement <8 x float> %v102, float %v104, i32 1
  %v106 = getelementptr float, ptr %v103, i64 %v16
  %v107 = load float, ptr %v106, align 4
  %v108 = insertelement <8 x float> %v105, float %v107, i32 2
  %v109 = getelementptr float, ptr %v106, i64 %v16
  %v110 = load float, ptr %v109, align 4
  %v111 = insertelement <8 x float> %v108, float %v110, i32 3
  %v112 = getelementptr float, ptr %v109, i64 %v16
  %v113 = load float, ptr %v112, align 4
  %v114 = insertelement <8 x float> %v111, float %v113, i32 4
  %v115 = getelementptr float, ptr %v112, i64 %v16
  %v116 = load float, ptr %v115, align 4
  %v117 = insertelement <8 x float> %v114, float %v116, i32 5
  %v118 = getelementptr float, ptr %v115, i64 %v16
  %v119 = load float, ptr %v118, align 4
  %v120 = insertelement <8 x float> %v117, float %v119, i32 6
  %v121 = getelementptr float, ptr %v118, i64 %v16
  %v122 = load float, ptr %v121, align 4
  %v123 = insertelement <8 x float> %v120, float %v122, i32 7
  %v124 = mul i64 %v45, %v16
  %v125 = add i64 %v32, %v124
  %v126 = getelementptr float, ptr %v4, i64 %v125
  %v127 = load float, ptr %v126, align 4
  %v128 = insertelement <8 x float> poison, float %v127, i32 0
  %v129 = getelementptr float, ptr %v126, i64 %v16
  %v130 = load float, ptr %v129, align 4
  %v131 = insertelement <8 x float> %v128, float %v130, i32 1
  %v132 = getelementptr float, ptr %v129, i64 %v16
  %v133 = load float, ptr %v132, align 4
  %v134 = insertelement <8 x float> %v131, float %v133, i32 2
  %v135 = getelementptr float, ptr %v132, i64 %v16
  %v136 = load float, ptr %v135, align 4
  %v137 = insertelement <8 x float> %v134, float %v136, i32 3
  %v138 = getelementptr float, ptr %v135, i64 %v16
  %v139 = load float, ptr %v138, align 4
  %v140 = insertelement <8 x float> %v137, float %v139, i32 4
  %v141 = getelementptr float, ptr %v138, i64 %v16
  %v142 = load float, ptr %v141, align 4
  %v143 = insertelement <8 x float> %v140, float %v142, i32 5
  %v144 = getelementptr float, ptr %v141, i64 %v16
  %v145 = load float, ptr %v144, align 4
  %v146 = insertelement <8 x float> %v143, float %v145, i32 6
  %v147 = getelementptr float, ptr %v144, i64 %v16
  %v148 = load float, ptr %v147, align 4
  %v149 = insertelement <8 x float> %v146, float %v148, i32 7
  %v150 = fadd <8 x float> %v71, %v34
  %v151 = fadd <8 x float> %v97, %v34
  %v152 = fadd <8 x float> %v123, %v34
  %v153 = fadd <8 x float> %v149, %v34
  %v154 = mul i64 %v40, %v12
  %v155 = add i64 %v31, %v154
  %v156 = getelementptr float, ptr %v2, i64 %v155
  %v157 = extractelement <8 x float> %v150, i32 0
  store float %v157, ptr %v156, align 4
  %v158 = getelementptr float, ptr %v156, i64 %v12
  %v159 = extractelement <8 x float> %v150, i32 1
  store float %v159, ptr %v158, align 4
  %v160 = getelementptr float, ptr %v158, i64 %v12
  %v161 = extractelement <8 x float> %v150, i32 2
  store float %v161, ptr %v160, align 4
  %v162 = getelementptr float, ptr %v160, i64 %v12
  %v163 = extractelement <8 x float> %v150, i32 3
  store float %v163, ptr %v162, align 4
  %v164 = getelementptr float, ptr %v162, i64 %v12
  %v165 = extractelement <8 x float> %v150, i32 4
  store float %v165, ptr %v164, align 4
  %v166 = getelementptr float, ptr %v164, i64 %v12
  %v167 = extractelement <8 x float> %v150, i32 5
  store float %v167, ptr %v166, align 4
  %v168 = getelementptr float, ptr %v166, i64 %v12
  %v169 = extractelement <8 x float> %v150, i32 6
  store float %v169, ptr %v168, align 4
  %v170 = getelementptr float, ptr %v168, i64 %v12
  %v171 = extractelement <8 x float> %v150, i32 7
  store float %v171, ptr %v170, align 4
  %v172 = mul i64 %v43, %v12
  %v173 = add i64 %v31, %v172
  %v174 = getelementptr float, ptr %v2, i64 %v173
  %v175 = extractelement <8 x float> %v151, i32 0
  store float %v175, ptr %v174, align 4
  %v176 = getelementptr float, ptr %v174, i64 %v12
  %v177 = extractelement <8 x float> %v151, i32 1
  store float %v177, ptr %v176, align 4
  %v178 = getelementptr float, ptr %v176, i64 %v12
  %v179 = extractelement <8 x float> %v151, i32 2
  store float %v179, ptr %v178, align 4
  %v180 = getelementptr float, ptr %v178, i64 %v12
  %v181 = extractelement <8 x float> %v151, i32 3
  store float %v181, ptr %v180, align 4
  %v182 = getelementptr float, ptr %v180, i64 %v12
  %v183 = extractelement <8 x float> %v151, i32 4
  store float %v183, ptr %v182, align 4
  %v184 = getelementptr float, ptr %v182, i64 %v12
  %v185 = extractelement <8 x float> %v151, i32 5
  store float %v185, ptr %v184, align 4
  %v186 = getelementptr float, ptr %v184, i64 %v12
  %v187 = extractelement <8 x float> %v151, i32 6
  store float %v187, ptr %v186, align 4
  %v188 = getelementptr float, ptr %v186, i64 %v12
  %v189 = extractelement <8 x float> %v151, i32 7
  store float %v189, ptr %v188, align 4
  %v190 = mul i64 %v44, %v12
  %v191 = add i64 %v31, %v190
  %v192 = getelementptr float, ptr %v2, i64 %v191
  %v193 = extractelement <8 x float> %v152, i32 0
  store float %v193, ptr %v192, align 4
  %v194 = getelementptr float, ptr %v192, i64 %v12
  %v195 = extractelement <8 x float> %v152, i32 1
  store float %v195, ptr %v194, align 4
  %v196 = getelementptr float, ptr %v194, i64 %v12
  %v197 = extractelement <8 x float> %v152, i32 2
  store float %v197, ptr %v196, align 4
  %v198 = getelementptr float, ptr %v196, i64 %v12
  %v199 = extractelement <8 x float> %v152, i32 3
  store float %v199, ptr %v198, align 4
  %v200 = getelementptr float, ptr %v198, i64 %v12
  %v201 = extractelement <8 x float> %v152, i32 4
  store float %v201, ptr %v200, align 4
  %v202 = getelementptr float, ptr %v200, i64 %v12
  %v203 = extractelement <8 x float> %v152, i32 5
  store float %v203, ptr %v202, align 4
  %v204 = getelementptr float, ptr %v202, i64 %v12
  %v205 = extractelement <8 x float> %v152, i32 6
  store float %v205, ptr %v204, align 4
  %v206 = getelementptr float, ptr %v204, i64 %v12
  %v207 = extractelement <8 x float> %v152, i32 7
  store float %v207, ptr %v206, align 4
  %v208 = mul i64 %v45, %v12
  %v209 = add i64 %v31, %v208
  %v210 = getelementptr float, ptr %v2, i64 %v209
  %v211 = extractelement <8 x float> %v153, i32 0
  store float %v211, ptr %v210, align 4
  %v212 = getelementptr float, ptr %v210, i64 %v12
  %v213 = extractelement <8 x float> %v153, i32 1
  store float %v213, ptr %v212, align 4
  %v214 = getelementptr float, ptr %v212, i64 %v12
  %v215 = extractelement <8 x float> %v153, i32 2
  store float %v215, ptr %v214, align 4
  %v216 = getelementptr float, ptr %v214, i64 %v12
  %v217 = extractelement <8 x float> %v153, i32 3
  store float %v217, ptr %v216, align 4
  %v218 = getelementptr float, ptr %v216, i64 %v12
  %v219 = extractelement <8 x float> %v153, i32 4
  store float %v219, ptr %v218, align 4
  %v220 = getelementptr float, ptr %v218, i64 %v12
  %v221 = extractelement <8 x float> %v153, i32 5
  store float %v221, ptr %v220, align 4
  %v222 = getelementptr float, ptr %v220, i64 %v12
  %v223 = extractelement <8 x float> %v153, i32 6
  store float %v223, ptr %v222, align 4
  %v224 = getelementptr float, ptr %v222, i64 %v12
  %v225 = extractelement <8 x float> %v153, i32 7
  store float %v225, ptr %v224, align 4
  %v41 = add nsw i64 %v40, 32
  br label %loop4
after6:
  %v226 = icmp sge i64 %v35, 8
  %v227 = and i64 %v35, 7
  %v228 = icmp sge i64 %v227, 2
  %v229 = and i1 %v226, %v228
  %v230 = icmp eq ptr %v4, %v2
  %v231 = or i1 false, %v230
  %v232 = xor i1 %v231, true
  %v233 = and i1 %v229, %v232
  %v234 = select i1 %v233, i64 %v27, i64 %v37
  %v235 = sub i64 %v27, 8
  br label %loop7
loop7:
  %v236 = phi i64 [ %v39, %after6 ], [ %v237, %body8 ]
  %v238 = icmp slt i64 %v236, %v234
  br i1 %v238, label %body8, label %after9
body8:
  %v239 = call i64 @llvm.smin.i64(i64 %v236, i64 %v235)
  %v240 = mul i64 %v239, %v16
  %v241 = add i64 %v32, %v240
  %v242 = getelementptr float, ptr %v4, i64 %v241
  %v243 = load float, ptr %v242, align 4
  %v244 = insertelement <8 x float> poison, float %v243, i32 0
  %v245 = getelementptr float, ptr %v242, i64 %v16
  %v246 = load float, ptr %v245, align 4
  %v247 = insertelement <8 x float> %v244, float %v246, i32 1
  %v248 = getelementptr float, ptr %v245, i64 %v16
  %v249 = load float, ptr %v248, align 4
  %v250 = insertelement <8 x float> %v247, float %v249, i32 2
  %v251 = getelementptr float, ptr %v248, i64 %v16
  %v252 = load float, ptr %v251, align 4
  %v253 = insertelement <8 x float> %v250, float %v252, i32 3
  %v254 = getelementptr float, ptr %v251, i64 %v16
  %v255 = load float, ptr %v254, align 4
  %v256 = insertelement <8 x float> %v253, float %v255, i32 4
  %v257 = getelementptr float, ptr %v254, i64 %v16
  %v258 = load float, ptr %v257, align 4
  %v259 = insertelement <8 x float> %v256, float %v258, i32 5
  %v260 = getelementptr float, ptr %v257, i64 %v16
  %v261 = load float, ptr %v260, align 4
  %v262 = insertelement <8 x float> %v259, float %v261, i32 6
  %v263 = getelementptr float, ptr %v260, i64 %v16
  %v264 = load float, ptr %v263, align 4
  %v265 = insertelement <8 x float> %v262, float %v264, i32 7
  %v266 = fadd <8 x float> %v265, %v34
  %v267 = mul i64 %v239, %v12
  %v268 = add i64 %v31, %v267
  %v269 = getelementptr float, ptr %v2, i64 %v268
  %v270 = extractelement <8 x float> %v266, i32 0
  store float %v270, ptr %v269, align 4
  %v271 = getelementptr float, ptr %v269, i64 %v12
  %v272 = extractelement <8 x float> %v266, i32 1
  store float %v272, ptr %v271, align 4
  %v273 = getelementptr float, ptr %v271, i64 %v12
  %v274 = extractelement <8 x float> %v266, i32 2
  store float %v274, ptr %v273, align 4
  %v275 = getelementptr float, ptr %v273, i64 %v12
  %v276 = extractelement <8 x float> %v266, i32 3
  store float %v276, ptr %v275, align 4
  %v277 = getelementptr float, ptr %v275, i64 %v12
  %v278 = extractelement <8 x float> %v266, i32 4
  store float %v278, ptr %v277, align 4
  %v279 = getelementptr float, ptr %v277, i64 %v12
  %v280 = extractelement <8 x float> %v266, i32 5
  store float %v280, ptr %v279, align 4
  %v281 = getelementptr float, ptr %v279, i64 %v12
  %v282 = extractelement <8 x float> %v266, i32 6
  store float %v282, ptr %v281, align 4
  %v283 = getelementptr float, ptr %v281, i64 %v12
  %v284 = extractelement <8 x float> %v266, i32 7
  store float %v284, ptr %v283, align 4
  %v237 = add nsw i64 %v236, 8
  br label %loop7
after9:
  br label %loop10
loop10:
  %v285 = phi i64 [ %v234, %after9 ], [ %v286, %body11 ]
  %v287 = icmp slt i64 %v285, %v27
  br i1 %v287, label %body11, label %after12
body11:
  %v288 = mul i64 %v285, %v16
  %v289 = add i64 %v32, %v288
  %v290 = getelementptr float, ptr %v4, i64 %v289
  %v291 = load float, ptr %v290, align 4
  %v292 = fadd float %v291, %v19
  %v293 = mul i64 %v285, %v12
  %v294 = add i64 %v31, %v293
  %v295 = getelementptr float, ptr %v2, i64 %v294
  store float %v292, ptr %v295, align 4
  %v286 = add nsw i64 %v285, 1
  br label %loop10
after12:
  %v29 = add nsw i64 %v28, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v29 = alloca [2 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v17 = getelementptr i64, ptr %words, i64 8
  %v18 = load double, ptr %v17
  %v19 = fptrunc double %v18 to float
  %v20 = sdiv i64 %v6, 1
  %v21 = icmp slt i64 %v20, 64
  %v22 = sdiv i64 %v8, 64
  %v23 = icmp sgt i64 %v22, %v20
  %v24 = and i1 %v21, %v23
  %v25 = select i1 %v24, i64 1, i64 0
  %v26 = select i1 %v24, i64 %v8, i64 %v6
  %v27 = select i1 %v24, i64 64, i64 1
  %v28 = select i1 %v24, i64 %v22, i64 %v20
  store ptr %words, ptr %v29
  %v30 = getelementptr i64, ptr %v29, i64 1
  store i64 %v25, ptr %v30
  %v31 = mul i64 %v8, 20
  %v32 = mul i64 %v6, %v31
  %v33 = icmp sge i64 %v32, 1572864
  %v34 = icmp ne i64 %threads, 1
  %v35 = and i1 %v33, %v34
  br i1 %v35, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v29, i64 %v26, i64 %v27, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v29, i64 0, i64 %v26)
  br label %after3
after3:
  ret void
}
