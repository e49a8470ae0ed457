@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
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
  %v18 = load i64, ptr %v17
  %v19 = getelementptr i64, ptr %words, i64 9
  %v20 = load i64, ptr %v19
  %v21 = getelementptr i64, ptr %words, i64 10
  %v22 = load i64, ptr %v21
  %v23 = getelementptr i64, ptr %words, i64 11
  %v24 = load i64, ptr %v23
  %v25 = getelementptr i64, ptr %words, i64 12
  %v26 = load double, ptr %v25
  %v27 = fptrunc double %v26 to float
  br label %loop1
loop1:
  %v28 = phi i64 [ 0, %entry ], [ %v29, %after6 ]
  %v30 = icmp slt i64 %v28, %v6
  br i1 %v30, label %body2, label %after3
body2:
  %v31 = mul i64 %v28, %v10
  %v32 = mul i64 %v28, %v18
  br label %while4
while4:
  %v33 = phi i64 [ 0, %body2 ], [ %v57, %after14 ]
  %v34 = icmp slt i64 %v33, %v8
  br i1 %v34, label %body5, label %after6
body5:
  %v35 = add i64 %v32, %v33
  %v36 = sdiv i64 %v35, %v14
  %v37 = mul i64 %v36, %v14
  %v38 = sub i64 %v35, %v37
  %v39 = ashr i64 %v38, 63
  %v40 = add i64 %v36, %v39
  %v41 = sdiv i64 %v35, %v24
  %v42 = mul i64 %v41, %v24
  %v43 = sub i64 %v35, %v42
  %v44 = ashr i64 %v43, 63
  %v45 = add i64 %v41, %v44
  %v46 = add i64 %v40, 1
  %v47 = mul i64 %v46, %v14
  %v48 = sub i64 %v47, %v32
  %v49 = icmp sgt i64 %v48, %v33
  %v50 = select i1 %v49, i64 %v48, i64 %v8
  %v51 = call i64 @llvm.smin.i64(i64 %v8, i64 %v50)
  %v52 = add i64 %v45, 1
  %v53 = mul i64 %v52, %v24
  %v54 = sub i64 %v53, %v32
  %v55 = icmp sgt i64 %v54, %v33
  %v56 = select i1 %v55, i64 %v54, i64 %v8
  %v57 = call i64 @llvm.smin.i64(i64 %v51, i64 %v56)
  %v58 = mul i64 %v40, %v12
  %v59 = mul i64 %v45, %v24
  %v60 = sub i64 %v32, %v59
  %v61 = add i64 %v58, %v60
  %v62 = insertelement <8 x float> poison, float %v27, i32 0
  %v63 = shufflevector <8 x float> %v62, <8 x float> poison, <8 x i32> zeroinitializer
  %v64 = sub i64 %v57, %v33
  %v65 = and i64 %v64, -8
  %v66 = add i64 %v33, %v65
  %v67 = and i64 %v64, -32
  %v68 = add i64 %v33, %v67
  br label %loop7
loop7:
  %v69 = phi i64 [ %v33, %body5 ], [ %v70, %body8 ]
  %v71 = icmp slt i64 %v69, %v68
  br i1 %v71, label %body8, label %after9
body8:
  %v72 = add i64 %v61, %v69
  %v73 = getelementptr float, ptr %v4, i64 %v72
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = fmul <8 x float> %v74, %v63
  %v76 = add i64 %v69, 8
  %v77 = add i64 %v61, %v76
  %v78 = getelementptr float, ptr %v4, i64 %v77
  %v79 = load <8 x float>, ptr %v78, align 4
  %v80 = fmul <8 x float> %v79, %v63
  %v81 = add i64 %v69, 16
  %v82 = add i64 %v61, %v81
  %v83 = getelementptr float, ptr %v4, i64 %v82
  %v84 = load <8 x float>, ptr %v83, align 4
  %v85 = fmul <8 x float> %v84, %v63
  %v86 = add i64 %v69, 24
  %v87 = add i64 %v61, %v86
  %v88 = getelementptr float, ptr %v4, i64 %v87
  %v89 = load <8 x float>, ptr %v88, align 4
  %v90 = fmul <8 x float> %v89, %v63
  %v91 = add i64 %v31, %v69
  %v92 = getelementptr float, ptr %v2, i64 %v91
  store <8 x float> %v75, ptr %v92, align 4
  %v93 = add i64 %v31, %v76
  %v94 = getelementptr float, ptr %v2, i64 %v93
  store <8 x float> %v80, ptr %v94, align 4
  %v95 = add i64 %v31, %v81
  %v96 = getelementptr float, ptr %v2, i64 %v95
  store <8 x float> %v85, ptr %v96, align 4
  %v97 = add i64 %v31, %v86
  %v98 = getelementptr float, ptr %v2, i64 %v97
  store <8 x float> %v90, ptr %v98, align 4
  %v70 = add nsw i64 %v69, 32
  br label %loop7
after9:
  br label %loop10
loop10:
  %v99 = phi i64 [ %v68, %after9 ], [ %v100, %body11 ]
  %v101 = icmp slt i64 %v99, %v66
  br i1 %v101, label %body11, label %after12
body11:
  %v102 = add i64 %v61, %v99
  %v103 = getelementptr float, ptr %v4, i64 %v102
  %v104 = load <8 x float>, ptr %v103, align 4
  %v105 = fmul <8 x float> %v104, %v63
  %v106 = add i64 %v31, %v99
  %v107 = getelementptr float, ptr %v2, i64 %v106
  store <8 x float> %v105, ptr %v107, align 4
  %v100 = add nsw i64 %v99, 8
  br label %loop10
after12:
  %v108 = icmp slt i64 %v66, %v57
  br i1 %v108, label %then13, label %after14
then13:
  %v109 = sub i64 %v57, %v66
  %v110 = trunc i64 %v109 to i32
  %v111 = insertelement <8 x i32> poison, i32 %v110, i32 0
  %v112 = shufflevector <8 x i32> %v111, <8 x i32> poison, <8 x i32> zeroinitializer
  %v113 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v112
  %v114 = add i64 %v61, %v66
  %v115 = getelementptr float, ptr %v4, i64 %v114
  %v116 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v115, i32 4, <8 x i1> %v113, <8 x float> zeroinitializer)
  %v117 = fmul <8 x float> %v116, %v63
  %v118 = add i64 %v31, %v66
  %v119 = getelementptr float, ptr %v2, i64 %v118
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v117, ptr %v119, i32 4, <8 x i1> %v113)
  br label %after14
after14:
  br label %while4
after6:
  %v29 = add nsw i64 %v28, 1
  br label %loop1
after3:
  ret void
}
