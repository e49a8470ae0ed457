"""A product shared by threads: each computes some rows of the result, or some columns where there are more of them.

Every element is summed as it would be alone, so the bits do not tell how many threads there were. A thread packs its own copy of
the operand that it needs all of, which is why it takes one part, not several.
"""

from __future__ import annotations

ENOUGH = 1 << 20  # multiplications, 20 us: from there on threads share them


def shared(factor: str, itemsizes: tuple[int, int, int], tile: tuple[int, int], threads: int) -> str:
    """The function `gemm`, which calls `alone` for the whole product or through `parallel`: elements of c, a and b have `itemsizes`,
    alpha and beta the LLVM type `factor`.
    """
    c, a, b = itemsizes
    context = f"{{ ptr, ptr, ptr, ptr, {factor}, {factor}, i64, i1 }}"
    return _TEXT.format(
        f=factor, context=context, enough=ENOUGH, threads=threads, rows=tile[0], columns=tile[1], a=a, b=b, c=c
    )


# A thread's context is the arguments of `gemm`, and whether columns are divided.
_TEXT = """
declare void @parallel(ptr, ptr, i64, i64, i64)

define internal void @part(ptr %context, i64 %low, i64 %high) {{
  %x = load {context}, ptr %context
  %c = extractvalue {context} %x, 0
  %a = extractvalue {context} %x, 1
  %b = extractvalue {context} %x, 2
  %sizes = extractvalue {context} %x, 3
  %alpha = extractvalue {context} %x, 4
  %beta = extractvalue {context} %x, 5
  %read = extractvalue {context} %x, 6
  %wide = extractvalue {context} %x, 7
  %mine = alloca [9 x i64]
  %all = load [9 x i64], ptr %sizes
  store [9 x i64] %all, ptr %mine
  %which = zext i1 %wide to i64
  %extent = getelementptr i64, ptr %mine, i64 %which
  %count = sub i64 %high, %low
  store i64 %count, ptr %extent
  %cm = extractvalue [9 x i64] %all, 3
  %cn = extractvalue [9 x i64] %all, 4
  %am = extractvalue [9 x i64] %all, 5
  %bn = extractvalue [9 x i64] %all, 8
  %c.step = select i1 %wide, i64 %cn, i64 %cm
  %a.step = select i1 %wide, i64 0, i64 %am
  %b.step = select i1 %wide, i64 %bn, i64 0
  %c.bytes = mul i64 %c.step, {c}
  %a.bytes = mul i64 %a.step, {a}
  %b.bytes = mul i64 %b.step, {b}
  %c.shift = mul i64 %c.bytes, %low
  %a.shift = mul i64 %a.bytes, %low
  %b.shift = mul i64 %b.bytes, %low
  %c.at = getelementptr i8, ptr %c, i64 %c.shift
  %a.at = getelementptr i8, ptr %a, i64 %a.shift
  %b.at = getelementptr i8, ptr %b, i64 %b.shift
  call void @alone(ptr %c.at, ptr %a.at, ptr %b.at, ptr %mine, {f} %alpha, {f} %beta, i64 %read)
  ret void
}}

define void @gemm(ptr %c, ptr %a, ptr %b, ptr %sizes, {f} %alpha, {f} %beta, i64 %read, i64 %threads) {{
  %all = load [9 x i64], ptr %sizes
  %m = extractvalue [9 x i64] %all, 0
  %n = extractvalue [9 x i64] %all, 1
  %k = extractvalue [9 x i64] %all, 2
  %mn = mul i64 %m, %n
  %mnk = mul i64 %mn, %k
  %large = icmp uge i64 %mnk, {enough}
  %default = icmp sle i64 %threads, 0
  %most = select i1 %default, i64 {threads}, i64 %threads
  %several = icmp ugt i64 %most, 1
  %share = and i1 %large, %several
  br i1 %share, label %shared, label %alone
alone:
  call void @alone(ptr %c, ptr %a, ptr %b, ptr %sizes, {f} %alpha, {f} %beta, i64 %read)
  ret void
shared:
  %wide = icmp ugt i64 %n, %m
  %x0 = insertvalue {context} undef, ptr %c, 0
  %x1 = insertvalue {context} %x0, ptr %a, 1
  %x2 = insertvalue {context} %x1, ptr %b, 2
  %x3 = insertvalue {context} %x2, ptr %sizes, 3
  %x4 = insertvalue {context} %x3, {f} %alpha, 4
  %x5 = insertvalue {context} %x4, {f} %beta, 5
  %x6 = insertvalue {context} %x5, i64 %read, 6
  %x7 = insertvalue {context} %x6, i1 %wide, 7
  %context = alloca {context}
  store {context} %x7, ptr %context
  %count = select i1 %wide, i64 %n, i64 %m
  %tile = select i1 %wide, i64 {columns}, i64 {rows}
  %each = udiv i64 %count, %most
  %tiles = udiv i64 %each, %tile
  %more = add i64 %tiles, 1
  %grain = mul i64 %more, %tile
  call void @parallel(ptr @part, ptr %context, i64 %count, i64 %grain, i64 %threads)
  ret void
}}
"""
