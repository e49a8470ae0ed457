@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare i64 @llvm.ctlz.i64(i64, i1)
declare float @llvm.sqrt.f32(float)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
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
  %v105 = phi i64 [ %v25, %after14 ], [ %v295, %after39 ]
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
  %v184 = add i64 %v105, 1
  %v185 = mul i64 %v184, %v18
  %v186 = mul i64 %v10, %v12
  %v187 = icmp sge i64 %v186, 2097152
  %v188 = icmp slt i64 %v110, 65536
  %v189 = and i1 %v187, %v188
  %v190 = icmp ne i64 %v18, %v110
  %v191 = and i1 %v189, %v190
  %v192 = sub i64 %v110, %v30
  %v193 = and i64 %v192, -8
  %v194 = add i64 %v30, %v193
  %v195 = and i64 %v192, -32
  %v196 = add i64 %v30, %v195
  br label %loop30
loop30:
  %v197 = phi i64 [ %v30, %after26 ], [ %v198, %after34 ]
  %v199 = icmp slt i64 %v197, %v196
  br i1 %v199, label %body31, label %after32
body31:
  br i1 %v191, label %then33, label %after34
then33:
  %v200 = add i64 %v185, %v197
  %v201 = getelementptr float, ptr %v6, i64 %v200
  call void @llvm.prefetch.p0(ptr %v201, i32 0, i32 2, i32 1)
  %v202 = add i64 %v197, 16
  %v203 = add i64 %v185, %v202
  %v204 = getelementptr float, ptr %v6, i64 %v203
  call void @llvm.prefetch.p0(ptr %v204, i32 0, i32 2, i32 1)
  br label %after34
after34:
  %v205 = add i64 %v197, 8
  %v206 = add i64 %v197, 16
  %v207 = add i64 %v197, 24
  %v208 = add i64 %v34, %v197
  %v209 = getelementptr float, ptr %v29, i64 %v208
  %v210 = load <8 x float>, ptr %v209, align 4
  %v211 = add i64 %v34, %v205
  %v212 = getelementptr float, ptr %v29, i64 %v211
  %v213 = load <8 x float>, ptr %v212, align 4
  %v214 = add i64 %v34, %v206
  %v215 = getelementptr float, ptr %v29, i64 %v214
  %v216 = load <8 x float>, ptr %v215, align 4
  %v217 = add i64 %v34, %v207
  %v218 = getelementptr float, ptr %v29, i64 %v217
  %v219 = load <8 x float>, ptr %v218, align 4
  %v220 = add i64 %v183, %v197
  %v221 = getelementptr float, ptr %v6, i64 %v220
  %v222 = load <8 x float>, ptr %v221, align 4
  %v223 = add i64 %v183, %v205
  %v224 = getelementptr float, ptr %v6, i64 %v223
  %v225 = load <8 x float>, ptr %v224, align 4
  %v226 = add i64 %v183, %v206
  %v227 = getelementptr float, ptr %v6, i64 %v226
  %v228 = load <8 x float>, ptr %v227, align 4
  %v229 = add i64 %v183, %v207
  %v230 = getelementptr float, ptr %v6, i64 %v229
  %v231 = load <8 x float>, ptr %v230, align 4
  %v232 = fmul <8 x float> %v210, %v222
  %v233 = fmul <8 x float> %v213, %v225
  %v234 = fmul <8 x float> %v216, %v228
  %v235 = fmul <8 x float> %v219, %v231
  %v236 = add i64 %v34, %v197
  %v237 = getelementptr float, ptr %v28, i64 %v236
  %v238 = load <8 x float>, ptr %v237, align 4
  %v239 = add i64 %v34, %v205
  %v240 = getelementptr float, ptr %v28, i64 %v239
  %v241 = load <8 x float>, ptr %v240, align 4
  %v242 = add i64 %v34, %v206
  %v243 = getelementptr float, ptr %v28, i64 %v242
  %v244 = load <8 x float>, ptr %v243, align 4
  %v245 = add i64 %v34, %v207
  %v246 = getelementptr float, ptr %v28, i64 %v245
  %v247 = load <8 x float>, ptr %v246, align 4
  %v248 = fadd <8 x float> %v232, %v238
  %v249 = fadd <8 x float> %v233, %v241
  %v250 = fadd <8 x float> %v234, %v244
  %v251 = fadd <8 x float> %v235, %v247
  %v252 = add i64 %v182, %v197
  %v253 = getelementptr float, ptr %v2, i64 %v252
  store <8 x float> %v248, ptr %v253, align 4
  %v254 = add i64 %v182, %v205
  %v255 = getelementptr float, ptr %v2, i64 %v254
  store <8 x float> %v249, ptr %v255, align 4
  %v256 = add i64 %v182, %v206
  %v257 = getelementptr float, ptr %v2, i64 %v256
  store <8 x float> %v250, ptr %v257, align 4
  %v258 = add i64 %v182, %v207
  %v259 = getelementptr float, ptr %v2, i64 %v258
  store <8 x float> %v251, ptr %v259, align 4
  %v198 = add nsw i64 %v197, 32
  br label %loop30
after32:
  br label %loop35
loop35:
  %v260 = phi i64 [ %v196, %after32 ], [ %v261, %body36 ]
  %v262 = icmp slt i64 %v260, %v194
  br i1 %v262, label %body36, label %after37
body36:
  %v263 = add i64 %v34, %v260
  %v264 = getelementptr float, ptr %v29, i64 %v263
  %v265 = load <8 x float>, ptr %v264, align 4
  %v266 = add i64 %v183, %v260
  %v267 = getelementptr float, ptr %v6, i64 %v266
  %v268 = load <8 x float>, ptr %v267, align 4
  %v269 = fmul <8 x float> %v265, %v268
  %v270 = add i64 %v34, %v260
  %v271 = getelementptr float, ptr %v28, i64 %v270
  %v272 = load <8 x float>, ptr %v271, align 4
  %v273 = fadd <8 x float> %v269, %v272
  %v274 = add i64 %v182, %v260
  %v275 = getelementptr float, ptr %v2, i64 %v274
  store <8 x float> %v273, ptr %v275, align 4
  %v261 = add nsw i64 %v260, 8
  br label %loop35
after37:
  %v276 = icmp slt i64 %v194, %v110
  br i1 %v276, label %then38, label %after39
then38:
  %v277 = sub i64 %v110, %v194
  %v278 = trunc i64 %v277 to i32
  %v279 = insertelement <8 x i32> poison, i32 %v278, i32 0
  %v280 = shufflevector <8 x i32> %v279, <8 x i32> poison, <8 x i32> zeroinitializer
  %v281 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v280
  %v282 = add i64 %v34, %v194
  %v283 = getelementptr float, ptr %v29, i64 %v282
  %v284 = load <8 x float>, ptr %v283, align 4
  %v285 = add i64 %v183, %v194
  %v286 = getelementptr float, ptr %v6, i64 %v285
  %v287 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v286, i32 4, <8 x i1> %v281, <8 x float> zeroinitializer)
  %v288 = fmul <8 x float> %v284, %v287
  %v289 = add i64 %v34, %v194
  %v290 = getelementptr float, ptr %v28, i64 %v289
  %v291 = load <8 x float>, ptr %v290, align 4
  %v292 = fadd <8 x float> %v288, %v291
  %v293 = add i64 %v182, %v194
  %v294 = getelementptr float, ptr %v2, i64 %v293
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v292, ptr %v294, i32 4, <8 x i1> %v281)
  br label %after39
after39:
  %v295 = add i64 %v105, %v91
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
