@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare i64 @llvm.ctlz.i64(i64, i1)
declare float @llvm.sqrt.f32(float)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %v28 = alloca [1024 x float], align 64
  %v29 = alloca [1024 x float], align 64
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load ptr, ptr %v7
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
  %v23 = select i1 %v21, i64 %high, i64 %v12
  %v24 = icmp eq i64 %v20, 1
  %v25 = select i1 %v24, i64 %low, i64 0
  %v26 = select i1 %v24, i64 %high, i64 %v10
  %v27 = and i64 1024, -64
  br label %while1
while1:
  %v30 = phi i64 [ %v22, %entry ], [ %v33, %after20 ]
  %v31 = icmp slt i64 %v30, %v23
  br i1 %v31, label %body2, label %after3
body2:
  %v32 = add i64 %v30, %v27
  %v33 = call i64 @llvm.smin.i64(i64 %v32, i64 %v23)
  %v34 = sub i64 0, %v30
  %v35 = sub i64 %v33, %v30
  %v36 = and i64 %v35, -8
  %v37 = add i64 %v30, %v36
  %v38 = and i64 %v35, -32
  %v39 = add i64 %v30, %v38
  br label %loop4
loop4:
  %v40 = phi i64 [ %v30, %body2 ], [ %v41, %body5 ]
  %v42 = icmp slt i64 %v40, %v39
  br i1 %v42, label %body5, label %after6
body5:
  %v43 = add i64 %v40, 8
  %v44 = add i64 %v40, 16
  %v45 = add i64 %v40, 24
  %v46 = getelementptr float, ptr %v8, i64 %v40
  %v47 = load <8 x float>, ptr %v46, align 4
  %v48 = getelementptr float, ptr %v8, i64 %v43
  %v49 = load <8 x float>, ptr %v48, align 4
  %v50 = getelementptr float, ptr %v8, i64 %v44
  %v51 = load <8 x float>, ptr %v50, align 4
  %v52 = getelementptr float, ptr %v8, i64 %v45
  %v53 = load <8 x float>, ptr %v52, align 4
  %v54 = add i64 %v34, %v40
  %v55 = getelementptr float, ptr %v28, i64 %v54
  store <8 x float> %v47, ptr %v55, align 4
  %v56 = add i64 %v34, %v43
  %v57 = getelementptr float, ptr %v28, i64 %v56
  store <8 x float> %v49, ptr %v57, align 4
  %v58 = add i64 %v34, %v44
  %v59 = getelementptr float, ptr %v28, i64 %v58
  store <8 x float> %v51, ptr %v59, align 4
  %v60 = add i64 %v34, %v45
  %v61 = getelementptr float, ptr %v28, i64 %v60
  store <8 x float> %v53, ptr %v61, align 4
  %v41 = add nsw i64 %v40, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v62 = phi i64 [ %v39, %after6 ], [ %v63, %body8 ]
  %v64 = icmp slt i64 %v62, %v37
  br i1 %v64, label %body8, label %after9
body8:
  %v65 = getelementptr float, ptr %v8, i64 %v62
  %v66 = load <8 x float>, ptr %v65, align 4
  %v67 = add i64 %v34, %v62
  %v68 = getelementptr float, ptr %v28, i64 %v67
  store <8 x float> %v66, ptr %v68, align 4
  %v63 = add nsw i64 %v62, 8
  br label %loop7
after9:
  %v69 = icmp slt i64 %v37, %v33
  br i1 %v69, label %then10, label %after11
then10:
  %v70 = sub i64 %v33, %v37
  %v71 = trunc i64 %v70 to i32
  %v72 = insertelement <8 x i32> poison, i32 %v71, i32 0
  %v73 = shufflevector <8 x i32> %v72, <8 x i32> poison, <8 x i32> zeroinitializer
  %v74 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v73
  %v75 = getelementptr float, ptr %v8, i64 %v37
  %v76 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v75, i32 4, <8 x i1> %v74, <8 x float> zeroinitializer)
  %v77 = add i64 %v34, %v37
  %v78 = getelementptr float, ptr %v28, i64 %v77
  store <8 x float> %v76, ptr %v78, align 4
  br label %after11
after11:
  %v79 = sub i64 %v33, %v30
  %v80 = sub i64 %v26, %v25
  %v81 = icmp sle i64 %v79, 128
  %v82 = icmp eq i64 %v14, %v79
  %v83 = and i1 %v81, %v82
  %v84 = icmp eq i64 %v18, %v79
  %v85 = and i1 %v83, %v84
  %v86 = udiv i64 512, %v79
  %v87 = or i64 %v86, 1
  %v88 = call i64 @llvm.ctlz.i64(i64 %v87, i1 true)
  %v89 = lshr i64 -9223372036854775808, %v88
  %v90 = call i64 @llvm.smin.i64(i64 %v89, i64 %v80)
  %v91 = select i1 %v85, i64 %v90, i64 1
  %v92 = mul i64 %v91, %v79
  br label %while12
while12:
  %v93 = phi i64 [ %v79, %after11 ], [ %v104, %after17 ]
  %v94 = icmp slt i64 %v93, %v92
  br i1 %v94, label %body13, label %after14
body13:
  %v95 = sub i64 %v92, %v93
  %v96 = call i64 @llvm.smin.i64(i64 %v93, i64 %v95)
  br label %while15
while15:
  %v97 = phi i64 [ 0, %body13 ], [ %v103, %body16 ]
  %v98 = icmp slt i64 %v97, %v96
  br i1 %v98, label %body16, label %after17
body16:
  %v99 = add i64 %v93, %v97
  %v100 = getelementptr float, ptr %v28, i64 %v97
  %v101 = getelementptr float, ptr %v28, i64 %v99
  %v102 = load <16 x float>, ptr %v100, align 4
  store <16 x float> %v102, ptr %v101, align 4
  %v103 = add i64 %v97, 16
  br label %while15
after17:
  %v104 = mul i64 %v93, 2
  br label %while12
after14:
  br label %while18
while18:
  %v105 = phi i64 [ %v25, %after14 ], [ %v282, %after37 ]
  %v106 = icmp slt i64 %v105, %v26
  br i1 %v106, label %body19, label %after20
body19:
  %v107 = sub i64 %v26, %v105
  %v108 = call i64 @llvm.smin.i64(i64 %v91, i64 %v107)
  %v109 = mul i64 %v108, %v79
  %v110 = add i64 %v30, %v109
  %v111 = icmp sle i64 %v79, 8
  %v112 = and i64 %v108, -4
  %v113 = select i1 %v111, i64 %v112, i64 0
  br label %loop21
loop21:
  %v114 = phi i64 [ 0, %body19 ], [ %v115, %body22 ]
  %v116 = icmp slt i64 %v114, %v113
  br i1 %v116, label %body22, label %after23
body22:
  %v117 = add i64 %v105, %v114
  %v118 = mul i64 %v114, %v79
  %v119 = add i64 %v30, %v118
  %v120 = mul i64 %v117, %v16
  %v121 = getelementptr float, ptr %v4, i64 %v120
  %v122 = load float, ptr %v121, align 4
  %v123 = call float @llvm.sqrt.f32(float %v122)
  %v124 = insertelement <8 x float> poison, float %v123, i32 0
  %v125 = shufflevector <8 x float> %v124, <8 x float> poison, <8 x i32> zeroinitializer
  %v126 = add i64 %v114, 1
  %v127 = add i64 %v105, %v126
  %v128 = mul i64 %v126, %v79
  %v129 = add i64 %v30, %v128
  %v130 = mul i64 %v127, %v16
  %v131 = getelementptr float, ptr %v4, i64 %v130
  %v132 = load float, ptr %v131, align 4
  %v133 = call float @llvm.sqrt.f32(float %v132)
  %v134 = insertelement <8 x float> poison, float %v133, i32 0
  %v135 = shufflevector <8 x float> %v134, <8 x float> poison, <8 x i32> zeroinitializer
  %v136 = add i64 %v114, 2
  %v137 = add i64 %v105, %v136
  %v138 = mul i64 %v136, %v79
  %v139 = add i64 %v30, %v138
  %v140 = mul i64 %v137, %v16
  %v141 = getelementptr float, ptr %v4, i64 %v140
  %v142 = load float, ptr %v141, align 4
  %v143 = call float @llvm.sqrt.f32(float %v142)
  %v144 = insertelement <8 x float> poison, float %v143, i32 0
  %v145 = shufflevector <8 x float> %v144, <8 x float> poison, <8 x i32> zeroinitializer
  %v146 = add i64 %v114, 3
  %v147 = add i64 %v105, %v146
  %v148 = mul i64 %v146, %v79
  %v149 = add i64 %v30, %v148
  %v150 = mul i64 %v147, %v16
  %v151 = getelementptr float, ptr %v4, i64 %v150
  %v152 = load float, ptr %v151, align 4
  %v153 = call float @llvm.sqrt.f32(float %v152)
  %v154 = insertelement <8 x float> poison, float %v153, i32 0
  %v155 = shufflevector <8 x float> %v154, <8 x float> poison, <8 x i32> zeroinitializer
  %v156 = add i64 %v34, %v119
  %v157 = getelementptr float, ptr %v29, i64 %v156
  store <8 x float> %v125, ptr %v157, align 4
  %v158 = add i64 %v34, %v129
  %v159 = getelementptr float, ptr %v29, i64 %v158
  store <8 x float> %v135, ptr %v159, align 4
  %v160 = add i64 %v34, %v139
  %v161 = getelementptr float, ptr %v29, i64 %v160
  store <8 x float> %v145, ptr %v161, align 4
  %v162 = add i64 %v34, %v149
  %v163 = getelementptr float, ptr %v29, i64 %v162
  store <8 x float> %v155, ptr %v163, align 4
  %v115 = add nsw i64 %v114, 4
  br label %loop21
after23:
  br label %loop24
loop24:
  %v164 = phi i64 [ %v113, %after23 ], [ %v165, %after29 ]
  %v166 = icmp slt i64 %v164, %v108
  br i1 %v166, label %body25, label %after26
body25:
  %v167 = add i64 %v105, %v164
  %v168 = mul i64 %v164, %v79
  %v169 = add i64 %v30, %v168
  %v170 = mul i64 %v167, %v16
  %v171 = getelementptr float, ptr %v4, i64 %v170
  %v172 = load float, ptr %v171, align 4
  %v173 = call float @llvm.sqrt.f32(float %v172)
  %v174 = insertelement <8 x float> poison, float %v173, i32 0
  %v175 = shufflevector <8 x float> %v174, <8 x float> poison, <8 x i32> zeroinitializer
  br label %while27
while27:
  %v176 = phi i64 [ 0, %body25 ], [ %v181, %body28 ]
  %v177 = icmp slt i64 %v176, %v79
  br i1 %v177, label %body28, label %after29
body28:
  %v178 = add i64 %v169, %v176
  %v179 = add i64 %v34, %v178
  %v180 = getelementptr float, ptr %v29, i64 %v179
  store <8 x float> %v175, ptr %v180, align 4
  %v181 = add i64 %v176, 8
  br label %while27
after29:
  %v165 = add nsw i64 %v164, 1
  br label %loop24
after26:
  %v182 = mul i64 %v105, %v14
  %v183 = mul i64 %v105, %v18
  %v184 = sub i64 %v110, %v30
  %v185 = and i64 %v184, -8
  %v186 = add i64 %v30, %v185
  %v187 = and i64 %v184, -32
  %v188 = add i64 %v30, %v187
  br label %loop30
loop30:
  %v189 = phi i64 [ %v30, %after26 ], [ %v190, %body31 ]
  %v191 = icmp slt i64 %v189, %v188
  br i1 %v191, label %body31, label %after32
body31:
  %v192 = add i64 %v189, 8
  %v193 = add i64 %v189, 16
  %v194 = add i64 %v189, 24
  %v195 = add i64 %v34, %v189
  %v196 = getelementptr float, ptr %v29, i64 %v195
  %v197 = load <8 x float>, ptr %v196, align 4
  %v198 = add i64 %v34, %v192
  %v199 = getelementptr float, ptr %v29, i64 %v198
  %v200 = load <8 x float>, ptr %v199, align 4
  %v201 = add i64 %v34, %v193
  %v202 = getelementptr float, ptr %v29, i64 %v201
  %v203 = load <8 x float>, ptr %v202, align 4
  %v204 = add i64 %v34, %v194
  %v205 = getelementptr float, ptr %v29, i64 %v204
  %v206 = load <8 x float>, ptr %v205, align 4
  %v207 = add i64 %v183, %v189
  %v208 = getelementptr float, ptr %v6, i64 %v207
  %v209 = load <8 x float>, ptr %v208, align 4
  %v210 = add i64 %v183, %v192
  %v211 = getelementptr float, ptr %v6, i64 %v210
  %v212 = load <8 x float>, ptr %v211, align 4
  %v213 = add i64 %v183, %v193
  %v214 = getelementptr float, ptr %v6, i64 %v213
  %v215 = load <8 x float>, ptr %v214, align 4
  %v216 = add i64 %v183, %v194
  %v217 = getelementptr float, ptr %v6, i64 %v216
  %v218 = load <8 x float>, ptr %v217, align 4
  %v219 = fmul <8 x float> %v197, %v209
  %v220 = fmul <8 x float> %v200, %v212
  %v221 = fmul <8 x float> %v203, %v215
  %v222 = fmul <8 x float> %v206, %v218
  %v223 = add i64 %v34, %v189
  %v224 = getelementptr float, ptr %v28, i64 %v223
  %v225 = load <8 x float>, ptr %v224, align 4
  %v226 = add i64 %v34, %v192
  %v227 = getelementptr float, ptr %v28, i64 %v226
  %v228 = load <8 x float>, ptr %v227, align 4
  %v229 = add i64 %v34, %v193
  %v230 = getelementptr float, ptr %v28, i64 %v229
  %v231 = load <8 x float>, ptr %v230, align 4
  %v232 = add i64 %v34, %v194
  %v233 = getelementptr float, ptr %v28, i64 %v232
  %v234 = load <8 x float>, ptr %v233, align 4
  %v235 = fadd <8 x float> %v219, %v225
  %v236 = fadd <8 x float> %v220, %v228
  %v237 = fadd <8 x float> %v221, %v231
  %v238 = fadd <8 x float> %v222, %v234
  %v239 = add i64 %v182, %v189
  %v240 = getelementptr float, ptr %v2, i64 %v239
  store <8 x float> %v235, ptr %v240, align 4
  %v241 = add i64 %v182, %v192
  %v242 = getelementptr float, ptr %v2, i64 %v241
  store <8 x float> %v236, ptr %v242, align 4
  %v243 = add i64 %v182, %v193
  %v244 = getelementptr float, ptr %v2, i64 %v243
  store <8 x float> %v237, ptr %v244, align 4
  %v245 = add i64 %v182, %v194
  %v246 = getelementptr float, ptr %v2, i64 %v245
  store <8 x float> %v238, ptr %v246, align 4
  %v190 = add nsw i64 %v189, 32
  br label %loop30
after32:
  br label %loop33
loop33:
  %v247 = phi i64 [ %v188, %after32 ], [ %v248, %body34 ]
  %v249 = icmp slt i64 %v247, %v186
  br i1 %v249, label %body34, label %after35
body34:
  %v250 = add i64 %v34, %v247
  %v251 = getelementptr float, ptr %v29, i64 %v250
  %v252 = load <8 x float>, ptr %v251, align 4
  %v253 = add i64 %v183, %v247
  %v254 = getelementptr float, ptr %v6, i64 %v253
  %v255 = load <8 x float>, ptr %v254, align 4
  %v256 = fmul <8 x float> %v252, %v255
  %v257 = add i64 %v34, %v247
  %v258 = getelementptr float, ptr %v28, i64 %v257
  %v259 = load <8 x float>, ptr %v258, align 4
  %v260 = fadd <8 x float> %v256, %v259
  %v261 = add i64 %v182, %v247
  %v262 = getelementptr float, ptr %v2, i64 %v261
  store <8 x float> %v260, ptr %v262, align 4
  %v248 = add nsw i64 %v247, 8
  br label %loop33
after35:
  %v263 = icmp slt i64 %v186, %v110
  br i1 %v263, label %then36, label %after37
then36:
  %v264 = sub i64 %v110, %v186
  %v265 = trunc i64 %v264 to i32
  %v266 = insertelement <8 x i32> poison, i32 %v265, i32 0
  %v267 = shufflevector <8 x i32> %v266, <8 x i32> poison, <8 x i32> zeroinitializer
  %v268 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v267
  %v269 = add i64 %v34, %v186
  %v270 = getelementptr float, ptr %v29, i64 %v269
  %v271 = load <8 x float>, ptr %v270, align 4
  %v272 = add i64 %v183, %v186
  %v273 = getelementptr float, ptr %v6, i64 %v272
  %v274 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v273, i32 4, <8 x i1> %v268, <8 x float> zeroinitializer)
  %v275 = fmul <8 x float> %v271, %v274
  %v276 = add i64 %v34, %v186
  %v277 = getelementptr float, ptr %v28, i64 %v276
  %v278 = load <8 x float>, ptr %v277, align 4
  %v279 = fadd <8 x float> %v275, %v278
  %v280 = add i64 %v182, %v186
  %v281 = getelementptr float, ptr %v2, i64 %v280
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v279, ptr %v281, i32 4, <8 x i1> %v268)
  br label %after37
after37:
  %v282 = add i64 %v105, %v91
  br label %while18
after20:
  br label %while1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v28 = alloca [2 x i64], align 64
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v19 = sdiv i64 %v12, 64
  %v20 = icmp slt i64 %v19, 64
  %v21 = sdiv i64 %v10, 1
  %v22 = icmp sgt i64 %v21, %v19
  %v23 = and i1 %v20, %v22
  %v24 = select i1 %v23, i64 1, i64 0
  %v25 = select i1 %v23, i64 %v10, i64 %v12
  %v26 = select i1 %v23, i64 1, i64 64
  %v27 = select i1 %v23, i64 %v21, i64 %v19
  store ptr %words, ptr %v28
  %v29 = getelementptr i64, ptr %v28, i64 1
  store i64 %v24, ptr %v29
  %v30 = mul i64 %v10, 40
  %v31 = add i64 16, %v30
  %v32 = mul i64 %v12, %v31
  %v33 = icmp sge i64 %v32, 1572864
  %v34 = icmp ne i64 %threads, 1
  %v35 = and i1 %v33, %v34
  br i1 %v35, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v28, i64 %v25, i64 %v26, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v28, i64 0, i64 %v25)
  br label %after3
after3:
  ret void
}
