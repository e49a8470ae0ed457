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
  %v27 = alloca [1024 x float], align 64
  %v28 = alloca [1024 x float], align 64
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
  %v29 = sub i64 %v23, %v22
  %v30 = and i64 1024, -64
  br label %while1
while1:
  %v31 = phi i64 [ %v22, %entry ], [ %v34, %after20 ]
  %v32 = icmp slt i64 %v31, %v23
  br i1 %v32, label %body2, label %after3
body2:
  %v33 = add i64 %v31, %v30
  %v34 = call i64 @llvm.smin.i64(i64 %v33, i64 %v23)
  %v35 = sub i64 0, %v31
  %v36 = sub i64 %v34, %v31
  %v37 = and i64 %v36, -8
  %v38 = add i64 %v31, %v37
  %v39 = and i64 %v36, -32
  %v40 = add i64 %v31, %v39
  br label %loop4
loop4:
  %v41 = phi i64 [ %v31, %body2 ], [ %v42, %body5 ]
  %v43 = icmp slt i64 %v41, %v40
  br i1 %v43, label %body5, label %after6
body5:
  %v44 = add i64 %v41, 8
  %v45 = add i64 %v41, 16
  %v46 = add i64 %v41, 24
  %v47 = getelementptr float, ptr %v8, i64 %v41
  %v48 = load <8 x float>, ptr %v47, align 4
  %v49 = getelementptr float, ptr %v8, i64 %v44
  %v50 = load <8 x float>, ptr %v49, align 4
  %v51 = getelementptr float, ptr %v8, i64 %v45
  %v52 = load <8 x float>, ptr %v51, align 4
  %v53 = getelementptr float, ptr %v8, i64 %v46
  %v54 = load <8 x float>, ptr %v53, align 4
  %v55 = add i64 %v35, %v41
  %v56 = getelementptr float, ptr %v27, i64 %v55
  store <8 x float> %v48, ptr %v56, align 4
  %v57 = add i64 %v35, %v44
  %v58 = getelementptr float, ptr %v27, i64 %v57
  store <8 x float> %v50, ptr %v58, align 4
  %v59 = add i64 %v35, %v45
  %v60 = getelementptr float, ptr %v27, i64 %v59
  store <8 x float> %v52, ptr %v60, align 4
  %v61 = add i64 %v35, %v46
  %v62 = getelementptr float, ptr %v27, i64 %v61
  store <8 x float> %v54, ptr %v62, align 4
  %v42 = add nsw i64 %v41, 32
  br label %loop4
after6:
  %v63 = icmp sge i64 %v36, 8
  %v64 = select i1 %v63, i64 %v34, i64 %v38
  %v65 = sub i64 %v34, 8
  br label %loop7
loop7:
  %v66 = phi i64 [ %v40, %after6 ], [ %v67, %body8 ]
  %v68 = icmp slt i64 %v66, %v64
  br i1 %v68, label %body8, label %after9
body8:
  %v69 = call i64 @llvm.smin.i64(i64 %v66, i64 %v65)
  %v70 = getelementptr float, ptr %v8, i64 %v69
  %v71 = load <8 x float>, ptr %v70, align 4
  %v72 = add i64 %v35, %v69
  %v73 = getelementptr float, ptr %v27, i64 %v72
  store <8 x float> %v71, ptr %v73, align 4
  %v67 = add nsw i64 %v66, 8
  br label %loop7
after9:
  %v74 = icmp slt i64 %v64, %v34
  br i1 %v74, label %then10, label %after11
then10:
  %v75 = sub i64 %v34, %v64
  %v76 = trunc i64 %v75 to i32
  %v77 = insertelement <8 x i32> poison, i32 %v76, i32 0
  %v78 = shufflevector <8 x i32> %v77, <8 x i32> poison, <8 x i32> zeroinitializer
  %v79 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v78
  %v80 = getelementptr float, ptr %v8, i64 %v64
  %v81 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v80, i32 4, <8 x i1> %v79, <8 x float> zeroinitializer)
  %v82 = add i64 %v35, %v64
  %v83 = getelementptr float, ptr %v27, i64 %v82
  store <8 x float> %v81, ptr %v83, align 4
  br label %after11
after11:
  %v84 = sub i64 %v34, %v31
  %v85 = sub i64 %v26, %v25
  %v86 = icmp sle i64 %v84, 128
  %v87 = icmp eq i64 %v14, %v84
  %v88 = and i1 %v86, %v87
  %v89 = icmp eq i64 %v18, %v84
  %v90 = and i1 %v88, %v89
  %v91 = udiv i64 512, %v84
  %v92 = or i64 %v91, 1
  %v93 = call i64 @llvm.ctlz.i64(i64 %v92, i1 true)
  %v94 = lshr i64 -9223372036854775808, %v93
  %v95 = call i64 @llvm.smin.i64(i64 %v94, i64 %v85)
  %v96 = select i1 %v90, i64 %v95, i64 1
  %v97 = mul i64 %v96, %v84
  br label %while12
while12:
  %v98 = phi i64 [ %v84, %after11 ], [ %v109, %after17 ]
  %v99 = icmp slt i64 %v98, %v97
  br i1 %v99, label %body13, label %after14
body13:
  %v100 = sub i64 %v97, %v98
  %v101 = call i64 @llvm.smin.i64(i64 %v98, i64 %v100)
  br label %while15
while15:
  %v102 = phi i64 [ 0, %body13 ], [ %v108, %body16 ]
  %v103 = icmp slt i64 %v102, %v101
  br i1 %v103, label %body16, label %after17
body16:
  %v104 = add i64 %v98, %v102
  %v105 = getelementptr float, ptr %v27, i64 %v102
  %v106 = getelementptr float, ptr %v27, i64 %v104
  %v107 = load <16 x float>, ptr %v105, align 4
  store <16 x float> %v107, ptr %v106, align 4
  %v108 = add i64 %v102, 16
  br label %while15
after17:
  %v109 = mul i64 %v98, 2
  br label %while12
after14:
  br label %while18
while18:
  %v110 = phi i64 [ %v25, %after14 ], [ %v315, %after41 ]
  %v111 = icmp slt i64 %v110, %v26
  br i1 %v111, label %body19, label %after20
body19:
  %v112 = sub i64 %v26, %v110
  %v113 = call i64 @llvm.smin.i64(i64 %v96, i64 %v112)
  %v114 = mul i64 %v113, %v84
  %v115 = add i64 %v31, %v114
  %v116 = icmp sle i64 %v84, 8
  %v117 = and i64 %v113, -4
  %v118 = select i1 %v116, i64 %v117, i64 0
  br label %loop21
loop21:
  %v119 = phi i64 [ 0, %body19 ], [ %v120, %body22 ]
  %v121 = icmp slt i64 %v119, %v118
  br i1 %v121, label %body22, label %after23
body22:
  %v122 = add i64 %v110, %v119
  %v123 = mul i64 %v119, %v84
  %v124 = add i64 %v31, %v123
  %v125 = mul i64 %v122, %v16
  %v126 = getelementptr float, ptr %v4, i64 %v125
  %v127 = load float, ptr %v126, align 4
  %v128 = call float @llvm.sqrt.f32(float %v127)
  %v129 = insertelement <8 x float> poison, float %v128, i32 0
  %v130 = shufflevector <8 x float> %v129, <8 x float> poison, <8 x i32> zeroinitializer
  %v131 = add i64 %v119, 1
  %v132 = add i64 %v110, %v131
  %v133 = mul i64 %v131, %v84
  %v134 = add i64 %v31, %v133
  %v135 = mul i64 %v132, %v16
  %v136 = getelementptr float, ptr %v4, i64 %v135
  %v137 = load float, ptr %v136, align 4
  %v138 = call float @llvm.sqrt.f32(float %v137)
  %v139 = insertelement <8 x float> poison, float %v138, i32 0
  %v140 = shufflevector <8 x float> %v139, <8 x float> poison, <8 x i32> zeroinitializer
  %v141 = add i64 %v119, 2
  %v142 = add i64 %v110, %v141
  %v143 = mul i64 %v141, %v84
  %v144 = add i64 %v31, %v143
  %v145 = mul i64 %v142, %v16
  %v146 = getelementptr float, ptr %v4, i64 %v145
  %v147 = load float, ptr %v146, align 4
  %v148 = call float @llvm.sqrt.f32(float %v147)
  %v149 = insertelement <8 x float> poison, float %v148, i32 0
  %v150 = shufflevector <8 x float> %v149, <8 x float> poison, <8 x i32> zeroinitializer
  %v151 = add i64 %v119, 3
  %v152 = add i64 %v110, %v151
  %v153 = mul i64 %v151, %v84
  %v154 = add i64 %v31, %v153
  %v155 = mul i64 %v152, %v16
  %v156 = getelementptr float, ptr %v4, i64 %v155
  %v157 = load float, ptr %v156, align 4
  %v158 = call float @llvm.sqrt.f32(float %v157)
  %v159 = insertelement <8 x float> poison, float %v158, i32 0
  %v160 = shufflevector <8 x float> %v159, <8 x float> poison, <8 x i32> zeroinitializer
  %v161 = add i64 %v35, %v124
  %v162 = getelementptr float, ptr %v28, i64 %v161
  store <8 x float> %v130, ptr %v162, align 4
  %v163 = add i64 %v35, %v134
  %v164 = getelementptr float, ptr %v28, i64 %v163
  store <8 x float> %v140, ptr %v164, align 4
  %v165 = add i64 %v35, %v144
  %v166 = getelementptr float, ptr %v28, i64 %v165
  store <8 x float> %v150, ptr %v166, align 4
  %v167 = add i64 %v35, %v154
  %v168 = getelementptr float, ptr %v28, i64 %v167
  store <8 x float> %v160, ptr %v168, align 4
  %v120 = add nsw i64 %v119, 4
  br label %loop21
after23:
  br label %loop24
loop24:
  %v169 = phi i64 [ %v118, %after23 ], [ %v170, %after29 ]
  %v171 = icmp slt i64 %v169, %v113
  br i1 %v171, label %body25, label %after26
body25:
  %v172 = add i64 %v110, %v169
  %v173 = mul i64 %v169, %v84
  %v174 = add i64 %v31, %v173
  %v175 = mul i64 %v172, %v16
  %v176 = getelementptr float, ptr %v4, i64 %v175
  %v177 = load float, ptr %v176, align 4
  %v178 = call float @llvm.sqrt.f32(float %v177)
  %v179 = insertelement <8 x float> poison, float %v178, i32 0
  %v180 = shufflevector <8 x float> %v179, <8 x float> poison, <8 x i32> zeroinitializer
  br label %while27
while27:
  %v181 = phi i64 [ 0, %body25 ], [ %v186, %body28 ]
  %v182 = icmp slt i64 %v181, %v84
  br i1 %v182, label %body28, label %after29
body28:
  %v183 = add i64 %v174, %v181
  %v184 = add i64 %v35, %v183
  %v185 = getelementptr float, ptr %v28, i64 %v184
  store <8 x float> %v180, ptr %v185, align 4
  %v186 = add i64 %v181, 8
  br label %while27
after29:
  %v170 = add nsw i64 %v169, 1
  br label %loop24
after26:
  %v187 = mul i64 %v110, %v14
  %v188 = mul i64 %v110, %v18
  %v189 = add i64 %v110, 1
  %v190 = mul i64 %v189, %v18
  %v191 = mul i64 %v10, %v12
  %v192 = icmp sge i64 %v191, 2097152
  %v193 = icmp slt i64 %v115, 65536
  %v194 = and i1 %v192, %v193
  %v195 = icmp ne i64 %v18, %v115
  %v196 = and i1 %v194, %v195
  %v197 = sub i64 %v115, %v31
  %v198 = and i64 %v197, -8
  %v199 = add i64 %v31, %v198
  %v200 = and i64 %v197, -32
  %v201 = add i64 %v31, %v200
  br label %loop30
loop30:
  %v202 = phi i64 [ %v31, %after26 ], [ %v203, %after34 ]
  %v204 = icmp slt i64 %v202, %v201
  br i1 %v204, label %body31, label %after32
body31:
  br i1 %v196, label %then33, label %after34
then33:
  %v205 = add i64 %v190, %v202
  %v206 = getelementptr float, ptr %v6, i64 %v205
  call void @llvm.prefetch.p0(ptr %v206, i32 0, i32 2, i32 1)
  %v207 = add i64 %v202, 16
  %v208 = add i64 %v190, %v207
  %v209 = getelementptr float, ptr %v6, i64 %v208
  call void @llvm.prefetch.p0(ptr %v209, i32 0, i32 2, i32 1)
  br label %after34
after34:
  %v210 = add i64 %v202, 8
  %v211 = add i64 %v202, 16
  %v212 = add i64 %v202, 24
  %v213 = add i64 %v35, %v202
  %v214 = getelementptr float, ptr %v28, i64 %v213
  %v215 = load <8 x float>, ptr %v214, align 4
  %v216 = add i64 %v35, %v210
  %v217 = getelementptr float, ptr %v28, i64 %v216
  %v218 = load <8 x float>, ptr %v217, align 4
  %v219 = add i64 %v35, %v211
  %v220 = getelementptr float, ptr %v28, i64 %v219
  %v221 = load <8 x float>, ptr %v220, align 4
  %v222 = add i64 %v35, %v212
  %v223 = getelementptr float, ptr %v28, i64 %v222
  %v224 = load <8 x float>, ptr %v223, align 4
  %v225 = add i64 %v188, %v202
  %v226 = getelementptr float, ptr %v6, i64 %v225
  %v227 = load <8 x float>, ptr %v226, align 4
  %v228 = add i64 %v188, %v210
  %v229 = getelementptr float, ptr %v6, i64 %v228
  %v230 = load <8 x float>, ptr %v229, align 4
  %v231 = add i64 %v188, %v211
  %v232 = getelementptr float, ptr %v6, i64 %v231
  %v233 = load <8 x float>, ptr %v232, align 4
  %v234 = add i64 %v188, %v212
  %v235 = getelementptr float, ptr %v6, i64 %v234
  %v236 = load <8 x float>, ptr %v235, align 4
  %v237 = fmul <8 x float> %v215, %v227
  %v238 = fmul <8 x float> %v218, %v230
  %v239 = fmul <8 x float> %v221, %v233
  %v240 = fmul <8 x float> %v224, %v236
  %v241 = add i64 %v35, %v202
  %v242 = getelementptr float, ptr %v27, i64 %v241
  %v243 = load <8 x float>, ptr %v242, align 4
  %v244 = add i64 %v35, %v210
  %v245 = getelementptr float, ptr %v27, i64 %v244
  %v246 = load <8 x float>, ptr %v245, align 4
  %v247 = add i64 %v35, %v211
  %v248 = getelementptr float, ptr %v27, i64 %v247
  %v249 = load <8 x float>, ptr %v248, align 4
  %v250 = add i64 %v35, %v212
  %v251 = getelementptr float, ptr %v27, i64 %v250
  %v252 = load <8 x float>, ptr %v251, align 4
  %v253 = fadd <8 x float> %v237, %v243
  %v254 = fadd <8 x float> %v238, %v246
  %v255 = fadd <8 x float> %v239, %v249
  %v256 = fadd <8 x float> %v240, %v252
  %v257 = add i64 %v187, %v202
  %v258 = getelementptr float, ptr %v2, i64 %v257
  store <8 x float> %v253, ptr %v258, align 4
  %v259 = add i64 %v187, %v210
  %v260 = getelementptr float, ptr %v2, i64 %v259
  store <8 x float> %v254, ptr %v260, align 4
  %v261 = add i64 %v187, %v211
  %v262 = getelementptr float, ptr %v2, i64 %v261
  store <8 x float> %v255, ptr %v262, align 4
  %v263 = add i64 %v187, %v212
  %v264 = getelementptr float, ptr %v2, i64 %v263
  store <8 x float> %v256, ptr %v264, align 4
  %v203 = add nsw i64 %v202, 32
  br label %loop30
after32:
  %v265 = icmp slt i64 %v201, %v115
  %v266 = and i1 %v265, %v196
  br i1 %v266, label %then35, label %after36
then35:
  %v267 = add i64 %v190, %v201
  %v268 = getelementptr float, ptr %v6, i64 %v267
  call void @llvm.prefetch.p0(ptr %v268, i32 0, i32 2, i32 1)
  %v269 = add i64 %v201, 16
  %v270 = add i64 %v190, %v269
  %v271 = getelementptr float, ptr %v6, i64 %v270
  call void @llvm.prefetch.p0(ptr %v271, i32 0, i32 2, i32 1)
  br label %after36
after36:
  %v272 = icmp sge i64 %v197, 8
  %v273 = icmp eq ptr %v6, %v2
  %v274 = or i1 false, %v273
  %v275 = xor i1 %v274, true
  %v276 = and i1 %v272, %v275
  %v277 = select i1 %v276, i64 %v115, i64 %v199
  %v278 = sub i64 %v115, 8
  br label %loop37
loop37:
  %v279 = phi i64 [ %v201, %after36 ], [ %v280, %body38 ]
  %v281 = icmp slt i64 %v279, %v277
  br i1 %v281, label %body38, label %after39
body38:
  %v282 = call i64 @llvm.smin.i64(i64 %v279, i64 %v278)
  %v283 = add i64 %v35, %v282
  %v284 = getelementptr float, ptr %v28, i64 %v283
  %v285 = load <8 x float>, ptr %v284, align 4
  %v286 = add i64 %v188, %v282
  %v287 = getelementptr float, ptr %v6, i64 %v286
  %v288 = load <8 x float>, ptr %v287, align 4
  %v289 = fmul <8 x float> %v285, %v288
  %v290 = add i64 %v35, %v282
  %v291 = getelementptr float, ptr %v27, i64 %v290
  %v292 = load <8 x float>, ptr %v291, align 4
  %v293 = fadd <8 x float> %v289, %v292
  %v294 = add i64 %v187, %v282
  %v295 = getelementptr float, ptr %v2, i64 %v294
  store <8 x float> %v293, ptr %v295, align 4
  %v280 = add nsw i64 %v279, 8
  br label %loop37
after39:
  %v296 = icmp slt i64 %v277, %v115
  br i1 %v296, label %then40, label %after41
then40:
  %v297 = sub i64 %v115, %v277
  %v298 = trunc i64 %v297 to i32
  %v299 = insertelement <8 x i32> poison, i32 %v298, i32 0
  %v300 = shufflevector <8 x i32> %v299, <8 x i32> poison, <8 x i32> zeroinitializer
  %v301 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v300
  %v302 = add i64 %v35, %v277
  %v303 = getelementptr float, ptr %v28, i64 %v302
  %v304 = load <8 x float>, ptr %v303, align 4
  %v305 = add i64 %v188, %v277
  %v306 = getelementptr float, ptr %v6, i64 %v305
  %v307 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v306, i32 4, <8 x i1> %v301, <8 x float> zeroinitializer)
  %v308 = fmul <8 x float> %v304, %v307
  %v309 = add i64 %v35, %v277
  %v310 = getelementptr float, ptr %v27, i64 %v309
  %v311 = load <8 x float>, ptr %v310, align 4
  %v312 = fadd <8 x float> %v308, %v311
  %v313 = add i64 %v187, %v277
  %v314 = getelementptr float, ptr %v2, i64 %v313
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v312, ptr %v314, i32 4, <8 x i1> %v301)
  br label %after41
after41:
  %v315 = add i64 %v110, %v96
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
