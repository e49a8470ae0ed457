@zeros = internal constant [64 x i8] zeroinitializer, align 64
define void @kernel(ptr %words, i64 %threads) nounwind {
entry:
  %v1 = getelementptr i64, ptr %words, i64 0
  %v2 = load ptr, ptr %v1
  %v3 = getelementptr i64, ptr %words, i64 1
  %v4 = load ptr, ptr %v3
  %v5 = getelementptr i64, ptr %words, i64 2
  %v6 = load i64, ptr %v5
  %v7 = getelementptr i64, ptr %words, i64 3
  %v8 = load double, ptr %v7
  %v9 = fptrunc double %v8 to float
  %v10 = insertelement <8 x float> poison, float %v9, i32 0
  %v11 = shufflevector <8 x float> %v10, <8 x float> poison, <8 x i32> zeroinitializer
  %v12 = sub i64 %v6, 0
  %v13 = and i64 %v12, -8
  %v17 = sub i64 %v6, 1
  br label %loop1
loop1:
  %v14 = phi i64 [ %v17, %entry ], [ %v15, %body2 ]
  %v16 = icmp sge i64 %v14, %v13
  br i1 %v16, label %body2, label %after3
body2:
  %v18 = getelementptr float, ptr %v4, i64 %v14
  %v19 = load float, ptr %v18, align 4
  %v20 = fmul float %v19, %v9
  %v21 = getelementptr float, ptr %v2, i64 %v14
  store float %v20, ptr %v21, align 4
  %v15 = sub nsw i64 %v14, 1
  br label %loop1
after3:
  %v25 = sub i64 %v13, 8
  br label %loop4
loop4:
  %v22 = phi i64 [ %v25, %after3 ], [ %v23, %body5 ]
  %v24 = icmp sge i64 %v22, 0
  br i1 %v24, label %body5, label %after6
body5:
  %v26 = getelementptr float, ptr %v4, i64 %v22
  %v27 = load <8 x float>, ptr %v26, align 4
  %v28 = fmul <8 x float> %v27, %v11
  %v29 = getelementptr float, ptr %v2, i64 %v22
  store <8 x float> %v28, ptr %v29, align 4
  %v23 = sub nsw i64 %v22, 8
  br label %loop4
after6:
  ret void
}
