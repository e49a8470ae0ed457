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
  br label %loop7
loop7:
  %v63 = phi i64 [ %v40, %after6 ], [ %v64, %body8 ]
  %v65 = icmp slt i64 %v63, %v38
  br i1 %v65, label %body8, label %after9
body8:
  %v66 = getelementptr float, ptr %v8, i64 %v63
  %v67 = load <8 x float>, ptr %v66, align 4
  %v68 = add i64 %v35, %v63
  %v69 = getelementptr float, ptr %v27, i64 %v68
  store <8 x float> %v67, ptr %v69, align 4
  %v64 = add nsw i64 %v63, 8
  br label %loop7
after9:
  %v70 = icmp slt i64 %v38, %v34
  br i1 %v70, label %then10, label %after11
then10:
  %v71 = sub i64 %v34, %v38
  %v72 = trunc i64 %v71 to i32
  %v73 = insertelement <8 x i32> poison, i32 %v72, i32 0
  %v74 = shufflevector <8 x i32> %v73, <8 x i32> poison, <8 x i32> zeroinitializer
  %v75 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v74
  %v76 = getelementptr float, ptr %v8, i64 %v38
  %v77 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v76, i32 4, <8 x i1> %v75, <8 x float> zeroinitializer)
  %v78 = add i64 %v35, %v38
  %v79 = getelementptr float, ptr %v27, i64 %v78
  store <8 x float> %v77, ptr %v79, align 4
  br label %after11
after11:
  %v80 = sub i64 %v34, %v31
  %v81 = sub i64 %v26, %v25
  %v82 = icmp sle i64 %v80, 128
  %v83 = icmp eq i64 %v14, %v80
  %v84 = and i1 %v82, %v83
  %v85 = icmp eq i64 %v18, %v80
  %v86 = and i1 %v84, %v85
  %v87 = udiv i64 512, %v80
  %v88 = or i64 %v87, 1
  %v89 = call i64 @llvm.ctlz.i64(i64 %v88, i1 true)
  %v90 = lshr i64 -9223372036854775808, %v89
  %v91 = call i64 @llvm.smin.i64(i64 %v90, i64 %v81)
  %v92 = select i1 %v86, i64 %v91, i64 1
  %v93 = mul i64 %v92, %v80
  br label %while12
while12:
  %v94 = phi i64 [ %v80, %after11 ], [ %v105, %after17 ]
  %v95 = icmp slt i64 %v94, %v93
  br i1 %v95, label %body13, label %after14
body13:
  %v96 = sub i64 %v93, %v94
  %v97 = call i64 @llvm.smin.i64(i64 %v94, i64 %v96)
  br label %while15
while15:
  %v98 = phi i64 [ 0, %body13 ], [ %v104, %body16 ]
  %v99 = icmp slt i64 %v98, %v97
  br i1 %v99, label %body16, label %after17
body16:
  %v100 = add i64 %v94, %v98
  %v101 = getelementptr float, ptr %v27, i64 %v98
  %v102 = getelementptr float, ptr %v27, i64 %v100
  %v103 = load <16 x float>, ptr %v101, align 4
  store <16 x float> %v103, ptr %v102, align 4
  %v104 = add i64 %v98, 16
  br label %while15
after17:
  %v105 = mul i64 %v94, 2
  br label %while12
after14:
  br label %while18
while18:
  %v106 = phi i64 [ %v25, %after14 ], [ %v303, %after41 ]
  %v107 = icmp slt i64 %v106, %v26
  br i1 %v107, label %body19, label %after20
body19:
  %v108 = sub i64 %v26, %v106
  %v109 = call i64 @llvm.smin.i64(i64 %v92, i64 %v108)
  %v110 = mul i64 %v109, %v80
  %v111 = add i64 %v31, %v110
  %v112 = icmp sle i64 %v80, 8
  %v113 = and i64 %v109, -4
  %v114 = select i1 %v112, i64 %v113, i64 0
  br label %loop21
loop21:
  %v115 = phi i64 [ 0, %body19 ], [ %v116, %body22 ]
  %v117 = icmp slt i64 %v115, %v114
  br i1 %v117, label %body22, label %after23
body22:
  %v118 = add i64 %v106, %v115
  %v119 = mul i64 %v115, %v80
  %v120 = add i64 %v31, %v119
  %v121 = mul i64 %v118, %v16
  %v122 = getelementptr float, ptr %v4, i64 %v121
  %v123 = load float, ptr %v122, align 4
  %v124 = call float @llvm.sqrt.f32(float %v123)
  %v125 = insertelement <8 x float> poison, float %v124, i32 0
  %v126 = shufflevector <8 x float> %v125, <8 x float> poison, <8 x i32> zeroinitializer
  %v127 = add i64 %v115, 1
  %v128 = add i64 %v106, %v127
  %v129 = mul i64 %v127, %v80
  %v130 = add i64 %v31, %v129
  %v131 = mul i64 %v128, %v16
  %v132 = getelementptr float, ptr %v4, i64 %v131
  %v133 = load float, ptr %v132, align 4
  %v134 = call float @llvm.sqrt.f32(float %v133)
  %v135 = insertelement <8 x float> poison, float %v134, i32 0
  %v136 = shufflevector <8 x float> %v135, <8 x float> poison, <8 x i32> zeroinitializer
  %v137 = add i64 %v115, 2
  %v138 = add i64 %v106, %v137
  %v139 = mul i64 %v137, %v80
  %v140 = add i64 %v31, %v139
  %v141 = mul i64 %v138, %v16
  %v142 = getelementptr float, ptr %v4, i64 %v141
  %v143 = load float, ptr %v142, align 4
  %v144 = call float @llvm.sqrt.f32(float %v143)
  %v145 = insertelement <8 x float> poison, float %v144, i32 0
  %v146 = shufflevector <8 x float> %v145, <8 x float> poison, <8 x i32> zeroinitializer
  %v147 = add i64 %v115, 3
  %v148 = add i64 %v106, %v147
  %v149 = mul i64 %v147, %v80
  %v150 = add i64 %v31, %v149
  %v151 = mul i64 %v148, %v16
  %v152 = getelementptr float, ptr %v4, i64 %v151
  %v153 = load float, ptr %v152, align 4
  %v154 = call float @llvm.sqrt.f32(float %v153)
  %v155 = insertelement <8 x float> poison, float %v154, i32 0
  %v156 = shufflevector <8 x float> %v155, <8 x float> poison, <8 x i32> zeroinitializer
  %v157 = add i64 %v35, %v120
  %v158 = getelementptr float, ptr %v28, i64 %v157
  store <8 x float> %v126, ptr %v158, align 4
  %v159 = add i64 %v35, %v130
  %v160 = getelementptr float, ptr %v28, i64 %v159
  store <8 x float> %v136, ptr %v160, align 4
  %v161 = add i64 %v35, %v140
  %v162 = getelementptr float, ptr %v28, i64 %v161
  store <8 x float> %v146, ptr %v162, align 4
  %v163 = add i64 %v35, %v150
  %v164 = getelementptr float, ptr %v28, i64 %v163
  store <8 x float> %v156, ptr %v164, align 4
  %v116 = add nsw i64 %v115, 4
  br label %loop21
after23:
  br label %loop24
loop24:
  %v165 = phi i64 [ %v114, %after23 ], [ %v166, %after29 ]
  %v167 = icmp slt i64 %v165, %v109
  br i1 %v167, label %body25, label %after26
body25:
  %v168 = add i64 %v106, %v165
  %v169 = mul i64 %v165, %v80
  %v170 = add i64 %v31, %v169
  %v171 = mul i64 %v168, %v16
  %v172 = getelementptr float, ptr %v4, i64 %v171
  %v173 = load float, ptr %v172, align 4
  %v174 = call float @llvm.sqrt.f32(float %v173)
  %v175 = insertelement <8 x float> poison, float %v174, i32 0
  %v176 = shufflevector <8 x float> %v175, <8 x float> poison, <8 x i32> zeroinitializer
  br label %while27
while27:
  %v177 = phi i64 [ 0, %body25 ], [ %v182, %body28 ]
  %v178 = icmp slt i64 %v177, %v80
  br i1 %v178, label %body28, label %after29
body28:
  %v179 = add i64 %v170, %v177
  %v180 = add i64 %v35, %v179
  %v181 = getelementptr float, ptr %v28, i64 %v180
  store <8 x float> %v176, ptr %v181, align 4
  %v182 = add i64 %v177, 8
  br label %while27
after29:
  %v166 = add nsw i64 %v165, 1
  br label %loop24
after26:
  %v183 = mul i64 %v106, %v14
  %v184 = mul i64 %v106, %v18
  %v185 = add i64 %v106, 1
  %v186 = mul i64 %v185, %v18
  %v187 = mul i64 %v10, %v12
  %v188 = icmp sge i64 %v187, 2097152
  %v189 = icmp slt i64 %v111, 65536
  %v190 = and i1 %v188, %v189
  %v191 = icmp ne i64 %v18, %v111
  %v192 = and i1 %v190, %v191
  %v193 = sub i64 %v111, %v31
  %v194 = and i64 %v193, -8
  %v195 = add i64 %v31, %v194
  %v196 = and i64 %v193, -32
  %v197 = add i64 %v31, %v196
  br label %loop30
loop30:
  %v198 = phi i64 [ %v31, %after26 ], [ %v199, %after34 ]
  %v200 = icmp slt i64 %v198, %v197
  br i1 %v200, label %body31, label %after32
body31:
  br i1 %v192, label %then33, label %after34
then33:
  %v201 = add i64 %v186, %v198
  %v202 = getelementptr float, ptr %v6, i64 %v201
  call void @llvm.prefetch.p0(ptr %v202, i32 0, i32 2, i32 1)
  %v203 = add i64 %v198, 16
  %v204 = add i64 %v186, %v203
  %v205 = getelementptr float, ptr %v6, i64 %v204
  call void @llvm.prefetch.p0(ptr %v205, i32 0, i32 2, i32 1)
  br label %after34
after34:
  %v206 = add i64 %v198, 8
  %v207 = add i64 %v198, 16
  %v208 = add i64 %v198, 24
  %v209 = add i64 %v35, %v198
  %v210 = getelementptr float, ptr %v28, i64 %v209
  %v211 = load <8 x float>, ptr %v210, align 4
  %v212 = add i64 %v35, %v206
  %v213 = getelementptr float, ptr %v28, i64 %v212
  %v214 = load <8 x float>, ptr %v213, align 4
  %v215 = add i64 %v35, %v207
  %v216 = getelementptr float, ptr %v28, i64 %v215
  %v217 = load <8 x float>, ptr %v216, align 4
  %v218 = add i64 %v35, %v208
  %v219 = getelementptr float, ptr %v28, i64 %v218
  %v220 = load <8 x float>, ptr %v219, align 4
  %v221 = add i64 %v184, %v198
  %v222 = getelementptr float, ptr %v6, i64 %v221
  %v223 = load <8 x float>, ptr %v222, align 4
  %v224 = add i64 %v184, %v206
  %v225 = getelementptr float, ptr %v6, i64 %v224
  %v226 = load <8 x float>, ptr %v225, align 4
  %v227 = add i64 %v184, %v207
  %v228 = getelementptr float, ptr %v6, i64 %v227
  %v229 = load <8 x float>, ptr %v228, align 4
  %v230 = add i64 %v184, %v208
  %v231 = getelementptr float, ptr %v6, i64 %v230
  %v232 = load <8 x float>, ptr %v231, align 4
  %v233 = fmul <8 x float> %v211, %v223
  %v234 = fmul <8 x float> %v214, %v226
  %v235 = fmul <8 x float> %v217, %v229
  %v236 = fmul <8 x float> %v220, %v232
  %v237 = add i64 %v35, %v198
  %v238 = getelementptr float, ptr %v27, i64 %v237
  %v239 = load <8 x float>, ptr %v238, align 4
  %v240 = add i64 %v35, %v206
  %v241 = getelementptr float, ptr %v27, i64 %v240
  %v242 = load <8 x float>, ptr %v241, align 4
  %v243 = add i64 %v35, %v207
  %v244 = getelementptr float, ptr %v27, i64 %v243
  %v245 = load <8 x float>, ptr %v244, align 4
  %v246 = add i64 %v35, %v208
  %v247 = getelementptr float, ptr %v27, i64 %v246
  %v248 = load <8 x float>, ptr %v247, align 4
  %v249 = fadd <8 x float> %v233, %v239
  %v250 = fadd <8 x float> %v234, %v242
  %v251 = fadd <8 x float> %v235, %v245
  %v252 = fadd <8 x float> %v236, %v248
  %v253 = add i64 %v183, %v198
  %v254 = getelementptr float, ptr %v2, i64 %v253
  store <8 x float> %v249, ptr %v254, align 4
  %v255 = add i64 %v183, %v206
  %v256 = getelementptr float, ptr %v2, i64 %v255
  store <8 x float> %v250, ptr %v256, align 4
  %v257 = add i64 %v183, %v207
  %v258 = getelementptr float, ptr %v2, i64 %v257
  store <8 x float> %v251, ptr %v258, align 4
  %v259 = add i64 %v183, %v208
  %v260 = getelementptr float, ptr %v2, i64 %v259
  store <8 x float> %v252, ptr %v260, align 4
  %v199 = add nsw i64 %v198, 32
  br label %loop30
after32:
  %v261 = icmp slt i64 %v197, %v111
  %v262 = and i1 %v261, %v192
  br i1 %v262, label %then35, label %after36
then35:
  %v263 = add i64 %v186, %v197
  %v264 = getelementptr float, ptr %v6, i64 %v263
  call void @llvm.prefetch.p0(ptr %v264, i32 0, i32 2, i32 1)
  %v265 = add i64 %v197, 16
  %v266 = add i64 %v186, %v265
  %v267 = getelementptr float, ptr %v6, i64 %v266
  call void @llvm.prefetch.p0(ptr %v267, i32 0, i32 2, i32 1)
  br label %after36
after36:
  br label %loop37
loop37:
  %v268 = phi i64 [ %v197, %after36 ], [ %v269, %body38 ]
  %v270 = icmp slt i64 %v268, %v195
  br i1 %v270, label %body38, label %after39
body38:
  %v271 = add i64 %v35, %v268
  %v272 = getelementptr float, ptr %v28, i64 %v271
  %v273 = load <8 x float>, ptr %v272, align 4
  %v274 = add i64 %v184, %v268
  %v275 = getelementptr float, ptr %v6, i64 %v274
  %v276 = load <8 x float>, ptr %v275, align 4
  %v277 = fmul <8 x float> %v273, %v276
  %v278 = add i64 %v35, %v268
  %v279 = getelementptr float, ptr %v27, i64 %v278
  %v280 = load <8 x float>, ptr %v279, align 4
  %v281 = fadd <8 x float> %v277, %v280
  %v282 = add i64 %v183, %v268
  %v283 = getelementptr float, ptr %v2, i64 %v282
  store <8 x float> %v281, ptr %v283, align 4
  %v269 = add nsw i64 %v268, 8
  br label %loop37
after39:
  %v284 = icmp slt i64 %v195, %v111
  br i1 %v284, label %then40, label %after41
then40:
  %v285 = sub i64 %v111, %v195
  %v286 = trunc i64 %v285 to i32
  %v287 = insertelement <8 x i32> poison, i32 %v286, i32 0
  %v288 = shufflevector <8 x i32> %v287, <8 x i32> poison, <8 x i32> zeroinitializer
  %v289 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v288
  %v290 = add i64 %v35, %v195
  %v291 = getelementptr float, ptr %v28, i64 %v290
  %v292 = load <8 x float>, ptr %v291, align 4
  %v293 = add i64 %v184, %v195
  %v294 = getelementptr float, ptr %v6, i64 %v293
  %v295 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v294, i32 4, <8 x i1> %v289, <8 x float> zeroinitializer)
  %v296 = fmul <8 x float> %v292, %v295
  %v297 = add i64 %v35, %v195
  %v298 = getelementptr float, ptr %v27, i64 %v297
  %v299 = load <8 x float>, ptr %v298, align 4
  %v300 = fadd <8 x float> %v296, %v299
  %v301 = add i64 %v183, %v195
  %v302 = getelementptr float, ptr %v2, i64 %v301
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v300, ptr %v302, i32 4, <8 x i1> %v289)
  br label %after41
after41:
  %v303 = add i64 %v106, %v92
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
