@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare float @llvm.sqrt.f32(float)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
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
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load ptr, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v13 = getelementptr i64, ptr %words, i64 6
  %v14 = load i64, ptr %v13
  %v15 = getelementptr i64, ptr %context, i64 1
  %v16 = load i64, ptr %v15
  %v17 = icmp eq i64 %v16, 0
  %v18 = select i1 %v17, i64 %low, i64 0
  %v19 = select i1 %v17, i64 %high, i64 %v8
  %v20 = icmp eq i64 %v16, 1
  %v21 = select i1 %v20, i64 %low, i64 0
  %v22 = select i1 %v20, i64 %high, i64 %v10
  br label %loop1
loop1:
  %v23 = phi i64 [ %v18, %entry ], [ %v24, %after15 ]
  %v25 = icmp slt i64 %v23, %v19
  br i1 %v25, label %body2, label %after3
body2:
  %v26 = mul i64 %v23, %v12
  %v27 = mul i64 %v23, %v14
  %v28 = getelementptr float, ptr %v4, i64 %v27
  %v29 = load float, ptr %v28, align 4
  %v30 = call float @llvm.sqrt.f32(float %v29)
  %v31 = add i64 %v23, 1
  %v32 = mul i64 %v31, %v12
  %v33 = mul i64 %v8, %v10
  %v34 = icmp sge i64 %v33, 2097152
  %v35 = icmp slt i64 %v10, 65536
  %v36 = and i1 %v34, %v35
  %v37 = icmp ne i64 %v12, %v10
  %v38 = and i1 %v36, %v37
  %v39 = insertelement <8 x float> poison, float %v30, i32 0
  %v40 = shufflevector <8 x float> %v39, <8 x float> poison, <8 x i32> zeroinitializer
  %v41 = sub i64 %v22, %v21
  %v42 = and i64 %v41, -8
  %v43 = add i64 %v21, %v42
  %v44 = and i64 %v41, -32
  %v45 = add i64 %v21, %v44
  br label %loop4
loop4:
  %v46 = phi i64 [ %v21, %body2 ], [ %v47, %after8 ]
  %v48 = icmp slt i64 %v46, %v45
  br i1 %v48, label %body5, label %after6
body5:
  br i1 %v38, label %then7, label %after8
then7:
  %v49 = add i64 %v32, %v46
  %v50 = getelementptr float, ptr %v2, i64 %v49
  call void @llvm.prefetch.p0(ptr %v50, i32 0, i32 2, i32 1)
  %v51 = add i64 %v46, 16
  %v52 = add i64 %v32, %v51
  %v53 = getelementptr float, ptr %v2, i64 %v52
  call void @llvm.prefetch.p0(ptr %v53, i32 0, i32 2, i32 1)
  br label %after8
after8:
  %v54 = add i64 %v46, 8
  %v55 = add i64 %v46, 16
  %v56 = add i64 %v46, 24
  %v57 = add i64 %v26, %v46
  %v58 = getelementptr float, ptr %v2, i64 %v57
  %v59 = load <8 x float>, ptr %v58, align 4
  %v60 = add i64 %v26, %v54
  %v61 = getelementptr float, ptr %v2, i64 %v60
  %v62 = load <8 x float>, ptr %v61, align 4
  %v63 = add i64 %v26, %v55
  %v64 = getelementptr float, ptr %v2, i64 %v63
  %v65 = load <8 x float>, ptr %v64, align 4
  %v66 = add i64 %v26, %v56
  %v67 = getelementptr float, ptr %v2, i64 %v66
  %v68 = load <8 x float>, ptr %v67, align 4
  %v69 = fmul <8 x float> %v40, %v59
  %v70 = fmul <8 x float> %v40, %v62
  %v71 = fmul <8 x float> %v40, %v65
  %v72 = fmul <8 x float> %v40, %v68
  %v73 = getelementptr float, ptr %v6, i64 %v46
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = getelementptr float, ptr %v6, i64 %v54
  %v76 = load <8 x float>, ptr %v75, align 4
  %v77 = getelementptr float, ptr %v6, i64 %v55
  %v78 = load <8 x float>, ptr %v77, align 4
  %v79 = getelementptr float, ptr %v6, i64 %v56
  %v80 = load <8 x float>, ptr %v79, align 4
  %v81 = fadd <8 x float> %v69, %v74
  %v82 = fadd <8 x float> %v70, %v76
  %v83 = fadd <8 x float> %v71, %v78
  %v84 = fadd <8 x float> %v72, %v80
  %v85 = add i64 %v26, %v46
  %v86 = getelementptr float, ptr %v2, i64 %v85
  store <8 x float> %v81, ptr %v86, align 4
  %v87 = add i64 %v26, %v54
  %v88 = getelementptr float, ptr %v2, i64 %v87
  store <8 x float> %v82, ptr %v88, align 4
  %v89 = add i64 %v26, %v55
  %v90 = getelementptr float, ptr %v2, i64 %v89
  store <8 x float> %v83, ptr %v90, align 4
  %v91 = add i64 %v26, %v56
  %v92 = getelementptr float, ptr %v2, i64 %v91
  store <8 x float> %v84, ptr %v92, align 4
  %v47 = add nsw i64 %v46, 32
  br label %loop4
after6:
  %v93 = icmp slt i64 %v45, %v22
  %v94 = and i1 %v93, %v38
  br i1 %v94, label %then9, label %after10
then9:
  %v95 = add i64 %v32, %v45
  %v96 = getelementptr float, ptr %v2, i64 %v95
  call void @llvm.prefetch.p0(ptr %v96, i32 0, i32 2, i32 1)
  %v97 = add i64 %v45, 16
  %v98 = add i64 %v32, %v97
  %v99 = getelementptr float, ptr %v2, i64 %v98
  call void @llvm.prefetch.p0(ptr %v99, i32 0, i32 2, i32 1)
  br label %after10
after10:
  br label %loop11
loop11:
  %v100 = phi i64 [ %v45, %after10 ], [ %v101, %body12 ]
  %v102 = icmp slt i64 %v100, %v43
  br i1 %v102, label %body12, label %after13
body12:
  %v103 = add i64 %v26, %v100
  %v104 = getelementptr float, ptr %v2, i64 %v103
  %v105 = load <8 x float>, ptr %v104, align 4
  %v106 = fmul <8 x float> %v40, %v105
  %v107 = getelementptr float, ptr %v6, i64 %v100
  %v108 = load <8 x float>, ptr %v107, align 4
  %v109 = fadd <8 x float> %v106, %v108
  %v110 = add i64 %v26, %v100
  %v111 = getelementptr float, ptr %v2, i64 %v110
  store <8 x float> %v109, ptr %v111, align 4
  %v101 = add nsw i64 %v100, 8
  br label %loop11
after13:
  %v112 = icmp slt i64 %v43, %v22
  br i1 %v112, label %then14, label %after15
then14:
  %v113 = sub i64 %v22, %v43
  %v114 = trunc i64 %v113 to i32
  %v115 = insertelement <8 x i32> poison, i32 %v114, i32 0
  %v116 = shufflevector <8 x i32> %v115, <8 x i32> poison, <8 x i32> zeroinitializer
  %v117 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v116
  %v118 = add i64 %v26, %v43
  %v119 = getelementptr float, ptr %v2, i64 %v118
  %v120 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v119, i32 4, <8 x i1> %v117, <8 x float> zeroinitializer)
  %v121 = fmul <8 x float> %v40, %v120
  %v122 = getelementptr float, ptr %v6, i64 %v43
  %v123 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v122, i32 4, <8 x i1> %v117, <8 x float> zeroinitializer)
  %v124 = fadd <8 x float> %v121, %v123
  %v125 = add i64 %v26, %v43
  %v126 = getelementptr float, ptr %v2, i64 %v125
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v124, ptr %v126, i32 4, <8 x i1> %v117)
  br label %after15
after15:
  %v24 = add nsw i64 %v23, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v24 = alloca [2 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v15 = sdiv i64 %v8, 1
  %v16 = icmp slt i64 %v15, 64
  %v17 = sdiv i64 %v10, 64
  %v18 = icmp sgt i64 %v17, %v15
  %v19 = and i1 %v16, %v18
  %v20 = select i1 %v19, i64 1, i64 0
  %v21 = select i1 %v19, i64 %v10, i64 %v8
  %v22 = select i1 %v19, i64 64, i64 1
  %v23 = select i1 %v19, i64 %v17, i64 %v15
  store ptr %words, ptr %v24
  %v25 = getelementptr i64, ptr %v24, i64 1
  store i64 %v20, ptr %v25
  %v26 = mul i64 %v10, 64
  %v27 = mul i64 %v8, %v26
  %v28 = icmp sge i64 %v27, 1572864
  %v29 = icmp ne i64 %threads, 1
  %v30 = and i1 %v28, %v29
  br i1 %v30, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v24, i64 %v21, i64 %v22, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v24, i64 0, i64 %v21)
  br label %after3
after3:
  ret void
}
