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
  %v16 = load i1, ptr %v15
  %v17 = getelementptr i64, ptr %context, i64 2
  %v18 = load i64, ptr %v17
  %v19 = icmp eq i64 %v18, 0
  %v20 = select i1 %v19, i64 %low, i64 0
  %v21 = select i1 %v19, i64 %high, i64 %v8
  %v22 = icmp eq i64 %v18, 1
  %v23 = select i1 %v22, i64 %low, i64 0
  %v24 = select i1 %v22, i64 %high, i64 %v10
  br label %loop1
loop1:
  %v25 = phi i64 [ %v20, %entry ], [ %v26, %after15 ]
  %v27 = icmp slt i64 %v25, %v21
  br i1 %v27, label %body2, label %after3
body2:
  %v28 = mul i64 %v25, %v12
  %v29 = mul i64 %v25, %v14
  %v30 = getelementptr float, ptr %v4, i64 %v29
  %v31 = load float, ptr %v30, align 4
  %v32 = call float @llvm.sqrt.f32(float %v31)
  %v33 = add i64 %v25, 1
  %v34 = mul i64 %v33, %v12
  %v35 = insertelement <8 x float> poison, float %v32, i32 0
  %v36 = shufflevector <8 x float> %v35, <8 x float> poison, <8 x i32> zeroinitializer
  %v37 = sub i64 %v24, %v23
  %v38 = and i64 %v37, -8
  %v39 = add i64 %v23, %v38
  %v40 = and i64 %v37, -32
  %v41 = add i64 %v23, %v40
  br label %loop4
loop4:
  %v42 = phi i64 [ %v23, %body2 ], [ %v43, %after8 ]
  %v44 = icmp slt i64 %v42, %v41
  br i1 %v44, label %body5, label %after6
body5:
  br i1 %v16, label %then7, label %after8
then7:
  %v45 = add i64 %v34, %v42
  %v46 = getelementptr float, ptr %v2, i64 %v45
  call void @llvm.prefetch.p0(ptr %v46, i32 0, i32 2, i32 1)
  %v47 = add i64 %v42, 16
  %v48 = add i64 %v34, %v47
  %v49 = getelementptr float, ptr %v2, i64 %v48
  call void @llvm.prefetch.p0(ptr %v49, i32 0, i32 2, i32 1)
  br label %after8
after8:
  %v50 = add i64 %v42, 8
  %v51 = add i64 %v42, 16
  %v52 = add i64 %v42, 24
  %v53 = add i64 %v28, %v42
  %v54 = getelementptr float, ptr %v2, i64 %v53
  %v55 = load <8 x float>, ptr %v54, align 4
  %v56 = add i64 %v28, %v50
  %v57 = getelementptr float, ptr %v2, i64 %v56
  %v58 = load <8 x float>, ptr %v57, align 4
  %v59 = add i64 %v28, %v51
  %v60 = getelementptr float, ptr %v2, i64 %v59
  %v61 = load <8 x float>, ptr %v60, align 4
  %v62 = add i64 %v28, %v52
  %v63 = getelementptr float, ptr %v2, i64 %v62
  %v64 = load <8 x float>, ptr %v63, align 4
  %v65 = fmul <8 x float> %v36, %v55
  %v66 = fmul <8 x float> %v36, %v58
  %v67 = fmul <8 x float> %v36, %v61
  %v68 = fmul <8 x float> %v36, %v64
  %v69 = getelementptr float, ptr %v6, i64 %v42
  %v70 = load <8 x float>, ptr %v69, align 4
  %v71 = getelementptr float, ptr %v6, i64 %v50
  %v72 = load <8 x float>, ptr %v71, align 4
  %v73 = getelementptr float, ptr %v6, i64 %v51
  %v74 = load <8 x float>, ptr %v73, align 4
  %v75 = getelementptr float, ptr %v6, i64 %v52
  %v76 = load <8 x float>, ptr %v75, align 4
  %v77 = fadd <8 x float> %v65, %v70
  %v78 = fadd <8 x float> %v66, %v72
  %v79 = fadd <8 x float> %v67, %v74
  %v80 = fadd <8 x float> %v68, %v76
  %v81 = add i64 %v28, %v42
  %v82 = getelementptr float, ptr %v2, i64 %v81
  store <8 x float> %v77, ptr %v82, align 4
  %v83 = add i64 %v28, %v50
  %v84 = getelementptr float, ptr %v2, i64 %v83
  store <8 x float> %v78, ptr %v84, align 4
  %v85 = add i64 %v28, %v51
  %v86 = getelementptr float, ptr %v2, i64 %v85
  store <8 x float> %v79, ptr %v86, align 4
  %v87 = add i64 %v28, %v52
  %v88 = getelementptr float, ptr %v2, i64 %v87
  store <8 x float> %v80, ptr %v88, align 4
  %v43 = add nsw i64 %v42, 32
  br label %loop4
after6:
  %v89 = icmp slt i64 %v41, %v24
  %v90 = and i1 %v89, %v16
  br i1 %v90, label %then9, label %after10
then9:
  %v91 = add i64 %v34, %v41
  %v92 = getelementptr float, ptr %v2, i64 %v91
  call void @llvm.prefetch.p0(ptr %v92, i32 0, i32 2, i32 1)
  %v93 = add i64 %v41, 16
  %v94 = add i64 %v34, %v93
  %v95 = getelementptr float, ptr %v2, i64 %v94
  call void @llvm.prefetch.p0(ptr %v95, i32 0, i32 2, i32 1)
  br label %after10
after10:
  br label %loop11
loop11:
  %v96 = phi i64 [ %v41, %after10 ], [ %v97, %body12 ]
  %v98 = icmp slt i64 %v96, %v39
  br i1 %v98, label %body12, label %after13
body12:
  %v99 = add i64 %v28, %v96
  %v100 = getelementptr float, ptr %v2, i64 %v99
  %v101 = load <8 x float>, ptr %v100, align 4
  %v102 = fmul <8 x float> %v36, %v101
  %v103 = getelementptr float, ptr %v6, i64 %v96
  %v104 = load <8 x float>, ptr %v103, align 4
  %v105 = fadd <8 x float> %v102, %v104
  %v106 = add i64 %v28, %v96
  %v107 = getelementptr float, ptr %v2, i64 %v106
  store <8 x float> %v105, ptr %v107, align 4
  %v97 = add nsw i64 %v96, 8
  br label %loop11
after13:
  %v108 = icmp slt i64 %v39, %v24
  br i1 %v108, label %then14, label %after15
then14:
  %v109 = sub i64 %v24, %v39
  %v110 = trunc i64 %v109 to i32
  %v111 = insertelement <8 x i32> poison, i32 %v110, i32 0
  %v112 = shufflevector <8 x i32> %v111, <8 x i32> poison, <8 x i32> zeroinitializer
  %v113 = icmp ult <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>, %v112
  %v114 = add i64 %v28, %v39
  %v115 = getelementptr float, ptr %v2, i64 %v114
  %v116 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v115, i32 4, <8 x i1> %v113, <8 x float> zeroinitializer)
  %v117 = fmul <8 x float> %v36, %v116
  %v118 = getelementptr float, ptr %v6, i64 %v39
  %v119 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %v118, i32 4, <8 x i1> %v113, <8 x float> zeroinitializer)
  %v120 = fadd <8 x float> %v117, %v119
  %v121 = add i64 %v28, %v39
  %v122 = getelementptr float, ptr %v2, i64 %v121
  call void @llvm.masked.store.v8f32.p0(<8 x float> %v120, ptr %v122, i32 4, <8 x i1> %v113)
  br label %after15
after15:
  %v26 = add nsw i64 %v25, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v30 = alloca [3 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v11 = getelementptr i64, ptr %words, i64 5
  %v12 = load i64, ptr %v11
  %v15 = mul i64 %v8, %v10
  %v16 = icmp sge i64 %v15, 2097152
  %v17 = icmp slt i64 %v10, 65536
  %v18 = and i1 %v16, %v17
  %v19 = icmp ne i64 %v12, %v10
  %v20 = and i1 %v18, %v19
  %v21 = sdiv i64 %v8, 1
  %v22 = icmp slt i64 %v21, 64
  %v23 = sdiv i64 %v10, 64
  %v24 = icmp sgt i64 %v23, %v21
  %v25 = and i1 %v22, %v24
  %v26 = select i1 %v25, i64 1, i64 0
  %v27 = select i1 %v25, i64 %v10, i64 %v8
  %v28 = select i1 %v25, i64 64, i64 1
  %v29 = select i1 %v25, i64 %v23, i64 %v21
  store ptr %words, ptr %v30
  %v31 = getelementptr i64, ptr %v30, i64 1
  store i1 %v20, ptr %v31
  %v32 = getelementptr i64, ptr %v30, i64 2
  store i64 %v26, ptr %v32
  %v33 = mul i64 %v10, 64
  %v34 = mul i64 %v8, %v33
  %v35 = icmp sge i64 %v34, 1572864
  %v36 = icmp ne i64 %threads, 1
  %v37 = and i1 %v35, %v36
  br i1 %v37, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v30, i64 %v27, i64 %v28, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v30, i64 0, i64 %v27)
  br label %after3
after3:
  ret void
}
