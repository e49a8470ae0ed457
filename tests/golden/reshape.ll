@zeros = internal constant [64 x i8] zeroinitializer, align 64
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
  %v15 = getelementptr i64, ptr %words, i64 7
  %v16 = load i64, ptr %v15
  %v19 = getelementptr i64, ptr %words, i64 9
  %v20 = load i64, ptr %v19
  %v25 = getelementptr i64, ptr %words, i64 12
  %v26 = load i64, ptr %v25
  %v27 = getelementptr i64, ptr %context, i64 1
  %v28 = load i64, ptr %v27
  %v29 = icmp eq i64 %v28, 0
  %v30 = select i1 %v29, i64 %low, i64 0
  %v31 = select i1 %v29, i64 %high, i64 %v8
  %v32 = icmp eq i64 %v28, 1
  %v33 = select i1 %v32, i64 %low, i64 0
  %v34 = select i1 %v32, i64 %high, i64 %v10
  br label %loop1
loop1:
  %v35 = phi i64 [ %v30, %entry ], [ %v36, %after6 ]
  %v37 = icmp slt i64 %v35, %v31
  br i1 %v37, label %body2, label %after3
body2:
  %v38 = mul i64 %v35, %v12
  br label %loop4
loop4:
  %v39 = phi i64 [ %v33, %body2 ], [ %v40, %body5 ]
  %v41 = icmp slt i64 %v39, %v34
  br i1 %v41, label %body5, label %after6
body5:
  %v42 = mul i64 %v39, %v20
  %v43 = add i64 %v42, %v35
  %v44 = sdiv i64 %v43, %v16
  %v45 = mul i64 %v44, %v16
  %v46 = sub i64 %v43, %v45
  %v47 = ashr i64 %v46, 63
  %v48 = add i64 %v44, %v47
  %v49 = mul i64 %v48, %v14
  %v50 = sdiv i64 %v43, %v26
  %v51 = mul i64 %v50, %v26
  %v52 = sub i64 %v43, %v51
  %v53 = ashr i64 %v52, 63
  %v54 = add i64 %v50, %v53
  %v55 = mul i64 %v54, %v26
  %v56 = sub i64 %v43, %v55
  %v57 = add i64 %v49, %v56
  %v58 = getelementptr float, ptr %v4, i64 %v57
  %v59 = load float, ptr %v58, align 4
  %v60 = getelementptr float, ptr %v6, i64 %v56
  %v61 = load float, ptr %v60, align 4
  %v62 = fadd float %v59, %v61
  %v63 = add i64 %v38, %v39
  %v64 = getelementptr float, ptr %v2, i64 %v63
  store float %v62, ptr %v64, align 4
  %v40 = add nsw i64 %v39, 1
  br label %loop4
after6:
  %v36 = add nsw i64 %v35, 1
  br label %loop1
after3:
  ret void
}
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v36 = alloca [2 x i64], align 64
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load i64, ptr %v7
  %v9 = getelementptr i64, ptr %words, i64 4
  %v10 = load i64, ptr %v9
  %v27 = sdiv i64 %v8, 1
  %v28 = icmp slt i64 %v27, 64
  %v29 = sdiv i64 %v10, 64
  %v30 = icmp sgt i64 %v29, %v27
  %v31 = and i1 %v28, %v30
  %v32 = select i1 %v31, i64 1, i64 0
  %v33 = select i1 %v31, i64 %v10, i64 %v8
  %v34 = select i1 %v31, i64 64, i64 1
  %v35 = select i1 %v31, i64 %v29, i64 %v27
  store ptr %words, ptr %v36
  %v37 = getelementptr i64, ptr %v36, i64 1
  store i64 %v32, ptr %v37
  %v38 = mul i64 %v10, 168
  %v39 = mul i64 %v8, %v38
  %v40 = icmp sge i64 %v39, 1572864
  %v41 = icmp ne i64 %threads, 1
  %v42 = and i1 %v40, %v41
  br i1 %v42, label %then1, label %else2
then1:
  call void @parallel(ptr @loop0, ptr %v36, i64 %v33, i64 %v34, i64 %threads)
  br label %after3
else2:
  call void @loop0(ptr %v36, i64 0, i64 %v33)
  br label %after3
after3:
  ret void
}
