@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare i64 @llvm.smin.i64(i64, i64)
declare <8 x float> @llvm.masked.load.v8f32.p0(ptr, i32 immarg, <8 x i1>, <8 x float>)
declare void @llvm.masked.store.v8f32.p0(<8 x float>, ptr, i32 immarg, <8 x i1>)
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load i64, ptr %v13
  %v17 = getelementptr i64, ptr %words, i64 8
  %v18 = load i64, ptr %v17
  %v23 = getelementptr i64, ptr %words, i64 11
  %v24 = load i64, ptr %v23
  %v25 = getelementptr i64, ptr %words, i64 12
  %v26 = load double, ptr %v25
  %v27 = fptrunc double %v26 to float
  %v28 = getelementptr i64, ptr %context, i64 1
  br label %loop1
loop1:
  %v29 = phi i64 [ %low, %entry ], [ %v30, %after6 ]
  %v31 = icmp slt i64 %v29, %high
  br i1 %v31, label %body2, label %after3
body2:
  %v32 = mul i64 %v29, %v10
  %v33 = mul i64 %v29, %v18
  br label %while4
while4:
  %v34 = phi i64 [ 0, %body2 ], [ %v58, %after14 ]
  %v35 = icmp slt i64 %v34, %v8
  br i1 %v35, label %body5, label %after6
body5:
  %v36 = add i64 %v33, %v34
  %v37 = sdiv i64 %v36, %v14
  %v38 = mul i64 %v37, %v14
  %v39 = sub i64 %v36, %v38
  %v40 = ashr i64 %v39, 63
  %v41 = add i64 %v37, %v40
  %v42 = sdiv i64 %v36, %v24
  %v43 = mul i64 %v42, %v24
  %v44 = sub i64 %v36, %v43
  %v45 = ashr i64 %v44, 63
  %v46 = add i64 %v42, %v45
  %v47 = add i64 %v41, 1
  %v48 = mul i64 %v47, %v14
  %v49 = sub i64 %v48, %v33
  %v50 = icmp sgt i64 %v49, %v34
  %v51 = select i1 %v50, i64 %v49, i64 %v8
  %v52 = call i64 @llvm.smin.i64(i64 %v8, i64 %v51)
  %v53 = add i64 %v46, 1
  %v54 = mul i64 %v53, %v24
  %v55 = sub i64 %v54, %v33
  %v56 = icmp sgt i64 %v55, %v34
  %v57 = select i1 %v56, i64 %v55, i64 %v8
  %v58 = call i64 @llvm.smin.i64(i64 %v52, i64 %v57)
  %v59 = mul i64 %v41, %v12
  %v60 = mul i64 %v46, %v24
  %v61 = sub i64 %v33, %v60
  %v62 = add i64 %v59, %v61
  %v63 = insertelement <8 x float> poison, float %v27, i32 0
  %v64 = shufflevector <8 x float> %v63, <8 x float> poison, <8 x i32> zeroinitializer
  %v65 = sub i64 %v58, %v34
  %v66 = and i64 %v65, -8
  %v67 = add i64 %v34, %v66
  %v68 = and i64 %v65, -32
  %v69 = add i64 %v34, %v68
  br label %loop7
loop7:
  %v70 = phi i64 [ %v34, %body5 ], [ %v71, %body8 ]
  %v72 = icmp slt i64 %v70, %v69
  br i1 %v72, label %body8, label %after9
body8:
  %v73 = add i64 %v70, 8
  %v74 = add i64 %v70, 16
  %v75 = add i64 %v70, 24
  %v76 = add i64 %v62, %v70
  %v77 = getelementptr float, ptr %v4, i64 %v76
  %v78 = load <8 x float>, ptr %v77, align 4
  %v79 = add i64 %v62, %v73
  %v80 = getelementptr float, ptr %v4, i64 %v79
  %v81 = load <8 x float>, ptr %v80, align 4
  %v82 = add i64 %v62, %v74
  %v83 = getelementptr float, ptr %v4, i64 %v82
  %v84 = load <8 x float>, ptr %v83, align 4
  %v85 = add i64 %v62, %v75
  %v86 = getelementptr float, ptr %v4, i64 %v85
  %v87 = load <8 x float>, ptr %v86, align 4
  %v88 = fmul <8 x float> %v78, %v64
  %v89 = fmul <8 x float> %v81, %v64
  %v90 = fmul <8 x float> %v84, %v64
  %v91 = fmul <8 x float> %v87, %v64
  %v92 = add i64 %v32, %v70
  %v93 = getelementptr float, ptr %v2, i64 %v92
  store <8 x float> %v88, ptr %v93, align 4
  %v94 = add i64 %v32, %v73
  %v95 = getelementptr float, ptr %v2, i64 %v94
  store <8 x float> %v89, ptr %v95, align 4
  %v96 = add i64 %v32, %v74
  %v97 = getelementptr float, ptr %v2, i64 %v96
  store <8 x float> %v90, ptr %v97, align 4
  %v98 = add i64 %v32, %v75
  %v99 = getelementptr float, ptr %v2, i64 %v98
  store <8 x float> %v91, ptr %v99, align 4
  %v71 = add nsw i64 %v70, 32
  br label %loop7
after9:
  br label %loop10
loop10:
  %v100 = phi i64 [ %v69, %after9 ], [ %v101, %body11 ]
  %v102 = icmp slt i64 %v100, %v67
  br i1 %v102, label %body11, label %after12
body11:
  %v103 = add i64 %v62, %v100
  %v104 = getelementptr float, ptr %v4, i64 %v103
  %v105 = load <8 x float>, ptr %v104, align 4
  %v106 = fmul <8 x float> %v105, %v64
  %v107 = add i64 %v32, %v100
  %v108 = getelementptr float, ptr %v2, i64 %v107
  store <8 x float> %v106, ptr %v108, align 4
  %v101 = add nsw i64 %v100, 8
  br label %loop10
after12:
  %v109 = icmp slt i64 %v67, %v58
  br i1 %v109, label %then13, label %after14
then13:
  %v110 = sub i64 %v58, %v67
  %v111 = trunc i64 %v110 to i32
  %v112 = insertelement <8 x i32> poison, i32 %v111, i32 0
  %v113 = shufflevector <8 x i32> %v112, <8 x i32> poison, <8 x i32> zeroinitializer
  %v114 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v113
  %v115 = add i64 %v62, %v67
  %v116 = getelementptr float, ptr %v4, i64 %v115
  %v117 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v116, i32 4, <8 x i1> %v114, <8 x float> zeroinitializer)
  %v118 = fmul <8 x float> %v117, %v64
  %v119 = add i64 %v32, %v67
  %v120 = getelementptr float, ptr %v2, i64 %v119
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v118, ptr %v120, i32 4, <8 x i1> %v114)
  br label %after14
after14:
  br label %while4
after6:
  %v30 = add nsw i64 %v29, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v28 = alloca [2 x i64], align 64
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v25 = getelementptr i64, ptr %words, i64 12
  %v26 = load double, ptr %v25
  %v27 = fptrunc double %v26 to float
  store ptr %words, ptr %v28
  %v29 = getelementptr i64, ptr %v28, i64 1
  store i64 0, ptr %v29
  %v30 = mul i64 %v8, 20
  %v31 = mul i64 %v6, %v30
  %v32 = icmp sge i64 %v31, 1572864
  %v33 = icmp ne i64 %threads, 1
  %v34 = and i1 %v32, %v33
  br i1 %v34, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v28, i64 %v6, i64 1, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v28, i64 0, i64 %v6)
  br label %after3
after3:
  ret void
}
