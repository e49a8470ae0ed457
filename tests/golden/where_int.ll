@zeros = internal constant [64 x i8] zeroinitializer, align 64
define void @kernel(ptr %words) nounwind {
entry:
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load i64, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = trunc i64 %v6 to i8
  %v8 = getelementptr i64, ptr %words, i64 3
  %v9 = load i64, ptr %v8
  %v10 = trunc i64 %v9 to i8
  %v11 = getelementptr i64, ptr %words, i64 4
  %v12 = load i64, ptr %v11
  %v13 = trunc i64 %v12 to i8
  %v14 = icmp eq i8 %v10, 0
  %v15 = select i1 %v14, i8 1, i8 %v10
  %v16 = insertelement <32 x i8> poison, i8 %v13, i32 0
  %v17 = shufflevector <32 x i8> %v16, <32 x i8> poison, <32 x i32> zeroinitializer
  %v18 = insertelement <32 x i1> poison, i1 %v14, i32 0
  %v19 = shufflevector <32 x i1> %v18, <32 x i1> poison, <32 x i32> zeroinitializer
  %v20 = insertelement <32 x i8> poison, i8 %v15, i32 0
  %v21 = shufflevector <32 x i8> %v20, <32 x i8> poison, <32 x i32> zeroinitializer
  %v22 = insertelement <32 x i8> poison, i8 %v7, i32 0
  %v23 = shufflevector <32 x i8> %v22, <32 x i8> poison, <32 x i32> zeroinitializer
  %v24 = sub i64 %v4, 0
  %v25 = and i64 %v24, -32
  %v26 = and i64 %v24, -128
  br label %loop1
loop1:
  %v27 = phi i64 [ 0, %entry ], [ %v28, %body2 ]
  %v29 = icmp slt i64 %v27, %v26
  br i1 %v29, label %body2, label %after3
body2:
  %v30 = getelementptr i8, ptr %v2, i64 %v27
  %v31 = load <32 x i8>, ptr %v30, align 1
  %v32 = icmp ugt <32 x i8> %v31, %v23
  %v33 = udiv <32 x i8> %v31, %v21
  %v34 = select <32 x i1> %v19, <32 x i8> splat (i8 0), <32 x i8> %v33
  %v35 = add <32 x i8> %v31, %v17
  %v36 = select <32 x i1> %v32, <32 x i8> %v34, <32 x i8> %v35
  %v37 = add i64 %v27, 32
  %v38 = getelementptr i8, ptr %v2, i64 %v37
  %v39 = load <32 x i8>, ptr %v38, align 1
  %v40 = icmp ugt <32 x i8> %v39, %v23
  %v41 = udiv <32 x i8> %v39, %v21
  %v42 = select <32 x i1> %v19, <32 x i8> splat (i8 0), <32 x i8> %v41
  %v43 = add <32 x i8> %v39, %v17
  %v44 = select <32 x i1> %v40, <32 x i8> %v42, <32 x i8> %v43
  %v45 = add i64 %v27, 64
  %v46 = getelementptr i8, ptr %v2, i64 %v45
  %v47 = load <32 x i8>, ptr %v46, align 1
  %v48 = icmp ugt <32 x i8> %v47, %v23
  %v49 = udiv <32 x i8> %v47, %v21
  %v50 = select <32 x i1> %v19, <32 x i8> splat (i8 0), <32 x i8> %v49
  %v51 = add <32 x i8> %v47, %v17
  %v52 = select <32 x i1> %v48, <32 x i8> %v50, <32 x i8> %v51
  %v53 = add i64 %v27, 96
  %v54 = getelementptr i8, ptr %v2, i64 %v53
  %v55 = load <32 x i8>, ptr %v54, align 1
  %v56 = icmp ugt <32 x i8> %v55, %v23
  %v57 = udiv <32 x i8> %v55, %v21
  %v58 = select <32 x i1> %v19, <32 x i8> splat (i8 0), <32 x i8> %v57
  %v59 = add <32 x i8> %v55, %v17
  %v60 = select <32 x i1> %v56, <32 x i8> %v58, <32 x i8> %v59
  %v61 = getelementptr i8, ptr %v2, i64 %v27
  store <32 x i8> %v36, ptr %v61, align 1
  %v62 = getelementptr i8, ptr %v2, i64 %v37
  store <32 x i8> %v44, ptr %v62, align 1
  %v63 = getelementptr i8, ptr %v2, i64 %v45
  store <32 x i8> %v52, ptr %v63, align 1
  %v64 = getelementptr i8, ptr %v2, i64 %v53
  store <32 x i8> %v60, ptr %v64, align 1
  %v28 = add nsw i64 %v27, 128
  br label %loop1
after3:
  br label %loop4
loop4:
  %v65 = phi i64 [ %v26, %after3 ], [ %v66, %body5 ]
  %v67 = icmp slt i64 %v65, %v25
  br i1 %v67, label %body5, label %after6
body5:
  %v68 = getelementptr i8, ptr %v2, i64 %v65
  %v69 = load <32 x i8>, ptr %v68, align 1
  %v70 = icmp ugt <32 x i8> %v69, %v23
  %v71 = udiv <32 x i8> %v69, %v21
  %v72 = select <32 x i1> %v19, <32 x i8> splat (i8 0), <32 x i8> %v71
  %v73 = add <32 x i8> %v69, %v17
  %v74 = select <32 x i1> %v70, <32 x i8> %v72, <32 x i8> %v73
  %v75 = getelementptr i8, ptr %v2, i64 %v65
  store <32 x i8> %v74, ptr %v75, align 1
  %v66 = add nsw i64 %v65, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v76 = phi i64 [ %v25, %after6 ], [ %v77, %body8 ]
  %v78 = icmp slt i64 %v76, %v4
  br i1 %v78, label %body8, label %after9
body8:
  %v79 = getelementptr i8, ptr %v2, i64 %v76
  %v80 = load i8, ptr %v79, align 1
  %v81 = icmp ugt i8 %v80, %v7
  %v82 = udiv i8 %v80, %v15
  %v83 = select i1 %v14, i8 0, i8 %v82
  %v84 = add i8 %v80, %v13
  %v85 = select i1 %v81, i8 %v83, i8 %v84
  %v86 = getelementptr i8, ptr %v2, i64 %v76
  store i8 %v85, ptr %v86, align 1
  %v77 = add nsw i64 %v76, 1
  br label %loop7
after9:
  ret void
}
