@zeros = internal constant [64 x i8] zeroinitializer, align 64
declare void @parallel(ptr, ptr, i64, i64, i64)
define internal void @loop0(ptr %context, i64 %low, i64 %high) nounwind {
entry:
  %words = load ptr, ptr %context
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = trunc i64 %v6 to i8
  %v8 = getelementptr i64, ptr %words, i64 3
  %v9 = load i64, ptr %v8
  %v10 = trunc i64 %v9 to i8
  %v11 = getelementptr i64, ptr %words, i64 4
  %v12 = load i64, ptr %v11
  %v13 = trunc i64 %v12 to i8
  %v14 = getelementptr i64, ptr %context, i64 1
  %v15 = load i1, ptr %v14
  %v16 = getelementptr i64, ptr %context, i64 2
  %v17 = load i8, ptr %v16
  %v18 = getelementptr i64, ptr %context, i64 3
  %v19 = insertelement <32 x i8> poison, i8 %v13, i32 0
  %v20 = shufflevector <32 x i8> %v19, <32 x i8> poison, <32 x i32> zeroinitializer
  %v21 = insertelement <32 x i1> poison, i1 %v15, i32 0
  %v22 = shufflevector <32 x i1> %v21, <32 x i1> poison, <32 x i32> zeroinitializer
  %v23 = insertelement <32 x i8> poison, i8 %v17, i32 0
  %v24 = shufflevector <32 x i8> %v23, <32 x i8> poison, <32 x i32> zeroinitializer
  %v25 = insertelement <32 x i8> poison, i8 %v7, i32 0
  %v26 = shufflevector <32 x i8> %v25, <32 x i8> poison, <32 x i32> zeroinitializer
  %v27 = sub i64 %high, %low
  %v28 = and i64 %v27, -32
  %v29 = add i64 %low, %v28
  %v30 = and i64 %v27, -128
  %v31 = add i64 %low, %v30
  br label %loop1
loop1:
  %v32 = phi i64 [ %low, %entry ], [ %v33, %body2 ]
  %v34 = icmp slt i64 %v32, %v31
  br i1 %v34, label %body2, label %after3
body2:
  %v35 = add i64 %v32, 32
  %v36 = add i64 %v32, 64
  %v37 = add i64 %v32, 96
  %v38 = getelementptr i8, ptr %v2, i64 %v32
  %v39 = load <32 x i8>, ptr %v38, align 1
  %v40 = getelementptr i8, ptr %v2, i64 %v35
  %v41 = load <32 x i8>, ptr %v40, align 1
  %v42 = getelementptr i8, ptr %v2, i64 %v36
  %v43 = load <32 x i8>, ptr %v42, align 1
  %v44 = getelementptr i8, ptr %v2, i64 %v37
  %v45 = load <32 x i8>, ptr %v44, align 1
  %v46 = icmp ugt <32 x i8> %v39, %v26
  %v47 = icmp ugt <32 x i8> %v41, %v26
  %v48 = icmp ugt <32 x i8> %v43, %v26
  %v49 = icmp ugt <32 x i8> %v45, %v26
  %v50 = udiv <32 x i8> %v39, %v24
  %v51 = udiv <32 x i8> %v41, %v24
  %v52 = udiv <32 x i8> %v43, %v24
  %v53 = udiv <32 x i8> %v45, %v24
  %v54 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v50
  %v55 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v51
  %v56 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v52
  %v57 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v53
  %v58 = add <32 x i8> %v39, %v20
  %v59 = add <32 x i8> %v41, %v20
  %v60 = add <32 x i8> %v43, %v20
  %v61 = add <32 x i8> %v45, %v20
  %v62 = select <32 x i1> %v46, <32 x i8> %v54, <32 x i8> %v58
  %v63 = select <32 x i1> %v47, <32 x i8> %v55, <32 x i8> %v59
  %v64 = select <32 x i1> %v48, <32 x i8> %v56, <32 x i8> %v60
  %v65 = select <32 x i1> %v49, <32 x i8> %v57, <32 x i8> %v61
  %v66 = getelementptr i8, ptr %v2, i64 %v32
  store <32 x i8> %v62, ptr %v66, align 1
  %v67 = getelementptr i8, ptr %v2, i64 %v35
  store <32 x i8> %v63, ptr %v67, align 1
  %v68 = getelementptr i8, ptr %v2, i64 %v36
  store <32 x i8> %v64, ptr %v68, align 1
  %v69 = getelementptr i8, ptr %v2, i64 %v37
  store <32 x i8> %v65, ptr %v69, align 1
  %v33 = add nsw i64 %v32, 128
  br label %loop1
after3:
  br label %loop4
loop4:
  %v70 = phi i64 [ %v31, %after3 ], [ %v71, %body5 ]
  %v72 = icmp slt i64 %v70, %v29
  br i1 %v72, label %body5, label %after6
body5:
  %v73 = getelementptr i8, ptr %v2, i64 %v70
  %v74 = load <32 x i8>, ptr %v73, align 1
  %v75 = icmp ugt <32 x i8> %v74, %v26
  %v76 = udiv <32 x i8> %v74, %v24
  %v77 = select <32 x i1> %v22, <32 x i8> splat (i8 0), <32 x i8> %v76
  %v78 = add <32 x i8> %v74, %v20
  %v79 = select <32 x i1> %v75, <32 x i8> %v77, <32 x i8> %v78
  %v80 = getelementptr i8, ptr %v2, i64 %v70
  store <32 x i8> %v79, ptr %v80, align 1
  %v71 = add nsw i64 %v70, 32
  br label %loop4
after6:
  br label %loop7
loop7:
  %v81 = phi i64 [ %v29, %after6 ], [ %v82, %body8 ]
  %v83 = icmp slt i64 %v81, %high
  br i1 %v83, label %body8, label %after9
body8:
  %v84 = getelementptr i8, ptr %v2, i64 %v81
  %v85 = load i8, ptr %v84, align 1
  %v86 = icmp ugt i8 %v85, %v7
  %v87 = udiv i8 %v85, %v17
  %v88 = select i1 %v15, i8 0, i8 %v87
  %v89 = add i8 %v85, %v13
  %v90 = select i1 %v86, i8 %v88, i8 %v89
  %v91 = getelementptr i8, ptr %v2, i64 %v81
  store i8 %v90, ptr %v91, align 1
  %v82 = add nsw i64 %v81, 1
  br label %loop7
after9:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v16 = alloca [4 x i64], align 64
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
  store ptr %words, ptr %v16
  %v17 = getelementptr i64, ptr %v16, i64 1
  store i1 %v14, ptr %v17
  %v18 = getelementptr i64, ptr %v16, i64 2
  store i8 %v15, ptr %v18
  %v19 = getelementptr i64, ptr %v16, i64 3
  store i64 0, ptr %v19
  %v20 = mul i64 %v4, 16
  %v21 = icmp sge i64 %v20, 1572864
  %v22 = icmp ne i64 %threads, 1
  %v23 = and i1 %v21, %v22
  br i1 %v23, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v16, i64 %v4, i64 64, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v16, i64 0, i64 %v4)
  br label %after3
after3:
  ret void
}
