@zeros = internal constant [64 x i8] zeroinitializer, align 64
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
  %v18 = load double, ptr %v17
  %v19 = fptrunc double %v18 to float
  br label %loop1
loop1:
  %v20 = phi i64 [ 0, %entry ], [ %v21, %after12 ]
  %v22 = icmp slt i64 %v20, %v6
  br i1 %v22, label %body2, label %after3
body2:
  %v23 = mul i64 %v20, %v10
  %v24 = mul i64 %v20, %v14
  %v25 = insertelement <8 x float> poison, float %v19, i32 0
  %v26 = shufflevector <8 x float> %v25, <8 x float> poison, <8 x i32> zeroinitializer
  %v27 = sub i64 %v8, 0
  %v28 = and i64 %v27, -8
  %v29 = and i64 %v27, -32
  br label %loop4
loop4:
  %v30 = phi i64 [ 0, %body2 ], [ %v31, %body5 ]
  %v32 = icmp slt i64 %v30, %v29
  br i1 %v32, label %body5, label %after6
body5:
  %v33 = mul i64 %v30, %v16
  %v34 = add i64 %v24, %v33
  %v35 = getelementptr float, ptr %v4, i64 %v34
  %v36 = load float, ptr %v35, align 4
  %v37 = insertelement <8 x float> poison, float %v36, i32 0
  %v38 = getelementptr float, ptr %v35, i64 %v16
  %v39 = load float, ptr %v38, align 4
  %v40 = insertelement <8 x float> %v37, float %v39, i32 1
  %v41 = getelementptr float, ptr %v38, i64 %v16
  %v42 = load float, ptr %v41, align 4
  %v43 = insertelement <8 x float> %v40, float %v42, i32 2
  %v44 = getelementptr float, ptr %v41, i64 %v16
  %v45 = load float, ptr %v44, align 4
  %v46 = insertelement <8 x float> %v43, float %v45, i32 3
  %v47 = getelementptr float, ptr %v44, i64 %v16
  %v48 = load float, ptr %v47, align 4
  %v49 = insertelement <8 x float> %v46, float %v48, i32 4
  %v50 = getelementptr float, ptr %v47, i64 %v16
  %v51 = load float, ptr %v50, align 4
  %v52 = insertelement <8 x float> %v49, float %v51, i32 5
  %v53 = getelementptr float, ptr %v50, i64 %v16
  %v54 = load float, ptr %v53, align 4
  %v55 = insertelement <8 x float> %v52, float %v54, i32 6
  %v56 = getelementptr float, ptr %v53, i64 %v16
  %v57 = load float, ptr %v56, align 4
  %v58 = insertelement <8 x float> %v55, float %v57, i32 7
  %v59 = fadd <8 x float> %v58, %v26
  %v60 = add i64 %v30, 8
  %v61 = mul i64 %v60, %v16
  %v62 = add i64 %v24, %v61
  %v63 = getelementptr float, ptr %v4, i64 %v62
  %v64 = load float, ptr %v63, align 4
  %v65 = insertelement <8 x float> poison, float %v64, i32 0
  %v66 = getelementptr float, ptr %v63, i64 %v16
  %v67 = load float, ptr %v66, align 4
  %v68 = insertelement <8 x float> %v65, float %v67, i32 1
  %v69 = getelementptr float, ptr %v66, i64 %v16
  %v70 = load float, ptr %v69, align 4
  %v71 = insertelement <8 x float> %v68, float %v70, i32 2
  %v72 = getelementptr float, ptr %v69, i64 %v16
  %v73 = load float, ptr %v72, align 4
  %v74 = insertelement <8 x float> %v71, float %v73, i32 3
  %v75 = getelementptr float, ptr %v72, i64 %v16
  %v76 = load float, ptr %v75, align 4
  %v77 = insertelement <8 x float> %v74, float %v76, i32 4
  %v78 = getelementptr float, ptr %v75, i64 %v16
  %v79 = load float, ptr %v78, align 4
  %v80 = insertelement <8 x float> %v77, float %v79, i32 5
  %v81 = getelementptr float, ptr %v78, i64 %v16
  %v82 = load float, ptr %v81, align 4
  %v83 = insertelement <8 x float> %v80, float %v82, i32 6
  %v84 = getelementptr float, ptr %v81, i64 %v16
  %v85 = load float, ptr %v84, align 4
  %v86 = insertelement <8 x float> %v83, float %v85, i32 7
  %v87 = fadd <8 x float> %v86, %v26
  %v88 = add i64 %v30, 16
  %v89 = mul i64 %v88, %v16
  %v90 = add i64 %v24, %v89
  %v91 = getelementptr float, ptr %v4, i64 %v90
  %v92 = load float, ptr %v91, align 4
  %v93 = insertelement <8 x float> poison, float %v92, i32 0
  %v94 = getelementptr float, ptr %v91, i64 %v16
  %v95 = load float, ptr %v94, align 4
  %v96 = insertelement <8 x float> %v93, float %v95, i32 1
  %v97 = getelementptr float, ptr %v94, i64 %v16
  %v98 = load float, ptr %v97, align 4
  %v99 = insertelement <8 x float> %v96, float %v98, i32 2
  %v100 = getelementptr float, ptr %v97, i64 %v16
  %v101 = load float, ptr %v100, align 4
  %v102 = insertelement <8 x float> %v99, float %v101, i32 3
  %v103 = getelementptr float, ptr %v100, i64 %v16
  %v104 = load float, ptr %v103, align 4
  %v105 = insertelement <8 x float> %v102, float %v104, i32 4
  %v106 = getelementptr float, ptr %v103, i64 %v16
  %v107 = load float, ptr %v106, align 4
  %v108 = insertelement <8 x float> %v105, float %v107, i32 5
  %v109 = getelementptr float, ptr %v106, i64 %v16
  %v110 = load float, ptr %v109, align 4
  %v111 = insertelement <8 x float> %v108, float %v110, i32 6
  %v112 = getelementptr float, ptr %v109, i64 %v16
  %v113 = load float, ptr %v112, align 4
  %v114 = insertelement <8 x float> %v111, float %v113, i32 7
  %v115 = fadd <8 x float> %v114, %v26
  %v116 = add i64 %v30, 24
  %v117 = mul i64 %v116, %v16
  %v118 = add i64 %v24, %v117
  %v119 = getelementptr float, ptr %v4, i64 %v118
  %v120 = load float, ptr %v119, align 4
  %v121 = insertelement <8 x float> poison, float %v120, i32 0
  %v122 = getelementptr float, ptr %v119, i64 %v16
  %v123 = load float, ptr %v122, align 4
  %v124 = insertelement <8 x float> %v121, float %v123, i32 1
  %v125 = getelementptr float, ptr %v122, i64 %v16
  %v126 = load float, ptr %v125, align 4
  %v127 = insertelement <8 x float> %v124, float %v126, i32 2
  %v128 = getelementptr float, ptr %v125, i64 %v16
  %v129 = load float, ptr %v128, align 4
  %v130 = insertelement <8 x float> %v127, float %v129, i32 3
  %v131 = getelementptr float, ptr %v128, i64 %v16
  %v132 = load float, ptr %v131, align 4
  %v133 = insertelement <8 x float> %v130, float %v132, i32 4
  %v134 = getelementptr float, ptr %v131, i64 %v16
  %v135 = load float, ptr %v134, align 4
  %v136 = insertelement <8 x float> %v133, float %v135, i32 5
  %v137 = getelementptr float, ptr %v134, i64 %v16
  %v138 = load float, ptr %v137, align 4
  %v139 = insertelement <8 x float> %v136, float %v138, i32 6
  %v140 = getelementptr float, ptr %v137, i64 %v16
  %v141 = load float, ptr %v140, align 4
  %v142 = insertelement <8 x float> %v139, float %v141, i32 7
  %v143 = fadd <8 x float> %v142, %v26
  %v144 = mul i64 %v30, %v12
  %v145 = add i64 %v23, %v144
  %v146 = getelementptr float, ptr %v2, i64 %v145
  %v147 = extractelement <8 x float> %v59, i32 0
  store float %v147, ptr %v146, align 4
  %v148 = getelementptr float, ptr %v146, i64 %v12
  %v149 = extractelement <8 x float> %v59, i32 1
  store float %v149, ptr %v148, align 4
  %v150 = getelementptr float, ptr %v148, i64 %v12
  %v151 = extractelement <8 x float> %v59, i32 2
  store float %v151, ptr %v150, align 4
  %v152 = getelementptr float, ptr %v150, i64 %v12
  %v153 = extractelement <8 x float> %v59, i32 3
  store float %v153, ptr %v152, align 4
  %v154 = getelementptr float, ptr %v152, i64 %v12
  %v155 = extractelement <8 x float> %v59, i32 4
  store float %v155, ptr %v154, align 4
  %v156 = getelementptr float, ptr %v154, i64 %v12
  %v157 = extractelement <8 x float> %v59, i32 5
  store float %v157, ptr %v156, align 4
  %v158 = getelementptr float, ptr %v156, i64 %v12
  %v159 = extractelement <8 x float> %v59, i32 6
  store float %v159, ptr %v158, align 4
  %v160 = getelementptr float, ptr %v158, i64 %v12
  %v161 = extractelement <8 x float> %v59, i32 7
  store float %v161, ptr %v160, align 4
  %v162 = mul i64 %v60, %v12
  %v163 = add i64 %v23, %v162
  %v164 = getelementptr float, ptr %v2, i64 %v163
  %v165 = extractelement <8 x float> %v87, i32 0
  store float %v165, ptr %v164, align 4
  %v166 = getelementptr float, ptr %v164, i64 %v12
  %v167 = extractelement <8 x float> %v87, i32 1
  store float %v167, ptr %v166, align 4
  %v168 = getelementptr float, ptr %v166, i64 %v12
  %v169 = extractelement <8 x float> %v87, i32 2
  store float %v169, ptr %v168, align 4
  %v170 = getelementptr float, ptr %v168, i64 %v12
  %v171 = extractelement <8 x float> %v87, i32 3
  store float %v171, ptr %v170, align 4
  %v172 = getelementptr float, ptr %v170, i64 %v12
  %v173 = extractelement <8 x float> %v87, i32 4
  store float %v173, ptr %v172, align 4
  %v174 = getelementptr float, ptr %v172, i64 %v12
  %v175 = extractelement <8 x float> %v87, i32 5
  store float %v175, ptr %v174, align 4
  %v176 = getelementptr float, ptr %v174, i64 %v12
  %v177 = extractelement <8 x float> %v87, i32 6
  store float %v177, ptr %v176, align 4
  %v178 = getelementptr float, ptr %v176, i64 %v12
  %v179 = extractelement <8 x float> %v87, i32 7
  store float %v179, ptr %v178, align 4
  %v180 = mul i64 %v88, %v12
  %v181 = add i64 %v23, %v180
  %v182 = getelementptr float, ptr %v2, i64 %v181
  %v183 = extractelement <8 x float> %v115, i32 0
  store float %v183, ptr %v182, align 4
  %v184 = getelementptr float, ptr %v182, i64 %v12
  %v185 = extractelement <8 x float> %v115, i32 1
  store float %v185, ptr %v184, align 4
  %v186 = getelementptr float, ptr %v184, i64 %v12
  %v187 = extractelement <8 x float> %v115, i32 2
  store float %v187, ptr %v186, align 4
  %v188 = getelementptr float, ptr %v186, i64 %v12
  %v189 = extractelement <8 x float> %v115, i32 3
  store float %v189, ptr %v188, align 4
  %v190 = getelementptr float, ptr %v188, i64 %v12
  %v191 = extractelement <8 x float> %v115, i32 4
  store float %v191, ptr %v190, align 4
  %v192 = getelementptr float, ptr %v190, i64 %v12
  %v193 = extractelement <8 x float> %v115, i32 5
  store float %v193, ptr %v192, align 4
  %v194 = getelementptr float, ptr %v192, i64 %v12
  %v195 = extractelement <8 x float> %v115, i32 6
  store float %v195, ptr %v194, align 4
  %v196 = getelementptr float, ptr %v194, i64 %v12
  %v197 = extractelement <8 x float> %v115, i32 7
  store float %v197, ptr %v196, align 4
  %v198 = mul i64 %v116, %v12
  %v199 = add i64 %v23, %v198
  %v200 = getelementptr float, ptr %v2, i64 %v199
  %v201 = extractelement <8 x float> %v143, i32 0
  store float %v201, ptr %v200, align 4
  %v202 = getelementptr float, ptr %v200, i64 %v12
  %v203 = extractelement <8 x float> %v143, i32 1
  store float %v203, ptr %v202, align 4
  %v204 = getelementptr float, ptr %v202, i64 %v12
  %v205 = extractelement <8 x float> %v143, i32 2
  store float %v205, ptr %v204, align 4
  %v206 = getelementptr float, ptr %v204, i64 %v12
  %v207 = extractelement <8 x float> %v143, i32 3
  store float %v207, ptr %v206, align 4
  %v208 = getelementptr float, ptr %v206, i64 %v12
  %v209 = extractelement <8 x float> %v143, i32 4
  store float %v209, ptr %v208, align 4
  %v210 = getelementptr float, ptr %v208, i64 %v12
  %v211 = extractelement <8 x float> %v143, i32 5
  store float %v211, ptr %v210, align 4
  %v212 = getelementptr float, ptr %v210, i64 %v12
  %v213 = extractelement <8 x float> %v143, i32 6
  store float %v213, ptr %v212, align 4
  %v214 = getelementptr float, ptr %v212, i64 %v12
  %v215 = extractelement <8 x float> %v143, i32 7
  store float %v215, ptr %v214, align 4
  %v31 = add nsw i64 %v30, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v216 = phi i64 [ %v29, %after6 ], [ %v217, %body8 ]
  %v218 = icmp slt i64 %v216, %v28
  br i1 %v218, label %body8, label %after9
body8:
  %v219 = mul i64 %v216, %v16
  %v220 = add i64 %v24, %v219
  %v221 = getelementptr float, ptr %v4, i64 %v220
  %v222 = load float, ptr %v221, align 4
  %v223 = insertelement <8 x float> poison, float %v222, i32 0
  %v224 = getelementptr float, ptr %v221, i64 %v16
  %v225 = load float, ptr %v224, align 4
  %v226 = insertelement <8 x float> %v223, float %v225, i32 1
  %v227 = getelementptr float, ptr %v224, i64 %v16
  %v228 = load float, ptr %v227, align 4
  %v229 = insertelement <8 x float> %v226, float %v228, i32 2
  %v230 = getelementptr float, ptr %v227, i64 %v16
  %v231 = load float, ptr %v230, align 4
  %v232 = insertelement <8 x float> %v229, float %v231, i32 3
  %v233 = getelementptr float, ptr %v230, i64 %v16
  %v234 = load float, ptr %v233, align 4
  %v235 = insertelement <8 x float> %v232, float %v234, i32 4
  %v236 = getelementptr float, ptr %v233, i64 %v16
  %v237 = load float, ptr %v236, align 4
  %v238 = insertelement <8 x float> %v235, float %v237, i32 5
  %v239 = getelementptr float, ptr %v236, i64 %v16
  %v240 = load float, ptr %v239, align 4
  %v241 = insertelement <8 x float> %v238, float %v240, i32 6
  %v242 = getelementptr float, ptr %v239, i64 %v16
  %v243 = load float, ptr %v242, align 4
  %v244 = insertelement <8 x float> %v241, float %v243, i32 7
  %v245 = fadd <8 x float> %v244, %v26
  %v246 = mul i64 %v216, %v12
  %v247 = add i64 %v23, %v246
  %v248 = getelementptr float, ptr %v2, i64 %v247
  %v249 = extractelement <8 x float> %v245, i32 0
  store float %v249, ptr %v248, align 4
  %v250 = getelementptr float, ptr %v248, i64 %v12
  %v251 = extractelement <8 x float> %v245, i32 1
  store float %v251, ptr %v250, align 4
  %v252 = getelementptr float, ptr %v250, i64 %v12
  %v253 = extractelement <8 x float> %v245, i32 2
  store float %v253, ptr %v252, align 4
  %v254 = getelementptr float, ptr %v252, i64 %v12
  %v255 = extractelement <8 x float> %v245, i32 3
  store float %v255, ptr %v254, align 4
  %v256 = getelementptr float, ptr %v254, i64 %v12
  %v257 = extractelement <8 x float> %v245, i32 4
  store float %v257, ptr %v256, align 4
  %v258 = getelementptr float, ptr %v256, i64 %v12
  %v259 = extractelement <8 x float> %v245, i32 5
  store float %v259, ptr %v258, align 4
  %v260 = getelementptr float, ptr %v258, i64 %v12
  %v261 = extractelement <8 x float> %v245, i32 6
  store float %v261, ptr %v260, align 4
  %v262 = getelementptr float, ptr %v260, i64 %v12
  %v263 = extractelement <8 x float> %v245, i32 7
  store float %v263, ptr %v262, align 4
  %v217 = add nsw i64 %v216, 8
  br label %loop7
after9:
  br label %loop10
loop10:
  %v264 = phi i64 [ %v28, %after9 ], [ %v265, %body11 ]
  %v266 = icmp slt i64 %v264, %v8
  br i1 %v266, label %body11, label %after12
body11:
  %v267 = mul i64 %v264, %v16
  %v268 = add i64 %v24, %v267
  %v269 = getelementptr float, ptr %v4, i64 %v268
  %v270 = load float, ptr %v269, align 4
  %v271 = fadd float %v270, %v19
  %v272 = mul i64 %v264, %v12
  %v273 = add i64 %v23, %v272
  %v274 = getelementptr float, ptr %v2, i64 %v273
  store float %v271, ptr %v274, align 4
  %v265 = add nsw i64 %v264, 1
  br label %loop10
after12:
  %v21 = add nsw i64 %v20, 1
  br label %loop1
after3:
  ret void
}
