"""CUDA C++ text: types, literals, and the functions that the language lacks.

A narrow float is its number as a float in a register; bool is a byte in memory. Integers are added, subtracted, multiplied and
shifted as unsigned ones, for which alone C says that they wrap.
"""

from __future__ import annotations

import math
import re

from ..dtypes import DType

MEMORY = {"bool": "unsigned char", "bfloat16": "unsigned short"}


def in_memory(dtype: DType) -> str:
    """The C type of an element in memory."""
    return MEMORY.get(dtype.name, dtype.cuda)


def in_register(dtype: DType) -> str:
    """The C type of a value."""
    return dtype.computed.cuda


def unsigned(dtype: DType) -> str:
    """The C type that integers of a type are added in."""
    return "unsigned long long" if dtype.bits == 64 else "unsigned int"


def literal(value: bool | int | float, dtype: DType) -> str:
    """A constant of `dtype`."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind != "f":
        return _whole(int(value), dtype)
    number = float(dtype.rounded(value))
    suffix = "" if dtype.computed.bits == 64 else "f"
    if math.isnan(number):
        return f"xt_nan{suffix}()"
    if math.isinf(number):
        return f"{'-' if number < 0 else ''}xt_infinity{suffix}()"
    text = repr(number) if suffix == "" or _short(number) else float(number).hex()
    return f"{text}{suffix}" if number >= 0 and math.copysign(1, number) > 0 else f"({text}{suffix})"


def _short(number: float) -> bool:
    return number == round(number, 4) and abs(number) < 1e6


def _whole(number: int, dtype: DType) -> str:
    if dtype.bits < 64:
        text = f"{number}{'u' if dtype.kind == 'u' else ''}"
        return f"(int)0x{number & 0xFFFFFFFF:x}u" if number == -(1 << 31) else text if number >= 0 else f"({text})"
    if number == -(1 << 63):
        return "(long long)0x8000000000000000ull"
    return f"{number}ull" if dtype.kind == "u" else f"{number}ll" if number >= 0 else f"({number}ll)"


HALF_HEADER = "#include <cuda_fp16.h>"

# What is needed of these stands before a kernel; one may need others, which stand before it here.
PRELUDE: dict[str, str] = {
    "xt_bits": """
template <typename To, typename From> static __device__ __forceinline__ To xt_bits(From x) {
    To y;
    memcpy(&y, &x, sizeof(To));
    return y;
}""",
    "xt_nanf": "static __device__ __forceinline__ float xt_nanf() { return xt_bits<float>(0x7fc00000u); }",
    "xt_nan": "static __device__ __forceinline__ double xt_nan() { return xt_bits<double>(0x7ff8000000000000ull); }",
    "xt_infinityf": "static __device__ __forceinline__ float xt_infinityf() { return xt_bits<float>(0x7f800000u); }",
    "xt_infinity": "static __device__ __forceinline__ double xt_infinity() { return xt_bits<double>(0x7ff0000000000000ull); }",
    "xt_times": """
static __device__ __forceinline__ float xt_times(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ double xt_times(double a, double b) { return __dmul_rn(a, b); }""",
    "xt_maximum": """
// NaN wins, +0 above -0; without branches, so that what is loaded for several of them is under way at once
template <typename T> static __device__ __forceinline__ T xt_maximum(T a, T b) {
    const T most = (a > b) | ((a == b) & (copysign(T(1), a) > 0)) ? a : b;
    return a != a ? a : most;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __device__ __forceinline__ float xt_maximum(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
}
#endif""",
    "xt_minimum": """
// NaN wins, -0 below +0
template <typename T> static __device__ __forceinline__ T xt_minimum(T a, T b) {
    const T least = (a < b) | ((a == b) & (copysign(T(1), a) < 0)) ? a : b;
    return a != a ? a : least;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __device__ __forceinline__ float xt_minimum(float a, float b) {
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
}
#endif""",
    "xt_whole": """
// truncated and saturated; NaN is 0
template <typename T, typename F> static __device__ __forceinline__ T xt_whole(F x, T least, T most) {
    return x != x ? T(0) : x <= F(least) ? least : x >= F(most) ? most : T(x);
}""",
    "xt_ipow": """
// by squaring; 0 for negative exponents
template <typename T> static __device__ T xt_ipow(T x, T n) {
    if (n < T(0)) return T(0);
    unsigned long long base = (unsigned long long)x, result = 1;
    for (unsigned long long left = (unsigned long long)n; left; left >>= 1) {
        if (left & 1) result *= base;
        base *= base;
    }
    return T(result);
}""",
    "xt_euclid": """
// the greatest common divisor
template <typename T> static __device__ T xt_euclid(T a, T b) {
    while (a) {
        T rest = b % a;
        b = a;
        a = rest;
    }
    return b;
}""",
    "xt_popcount": """
static __device__ __forceinline__ int xt_popcount(unsigned int x) { return __popc(x); }
static __device__ __forceinline__ int xt_popcount(unsigned long long x) { return __popcll(x); }""",
    "xt_floor_divide": """
// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}""",
    "xt_from_half": "static __device__ __forceinline__ float xt_from_half(__half x) { return __half2float(x); }",
    "xt_to_half": "static __device__ __forceinline__ __half xt_to_half(float x) { return __float2half_rn(x); }",
    "xt_round_half": """
static __device__ __forceinline__ float xt_round_half(float x) { return __half2float(__float2half_rn(x)); }
static __device__ __forceinline__ float xt_round_half(double x) { return __half2float(__double2half(x)); }""",
    "xt_from_upper": """
static __device__ __forceinline__ float xt_from_upper(unsigned short x) { return xt_bits<float>((unsigned int)x << 16); }""",
    "xt_to_upper": """
static __device__ __forceinline__ unsigned short xt_to_upper(float x) { return (unsigned short)(xt_bits<unsigned int>(x) >> 16); }""",
    "xt_round_upper": """
// to the nearest number of which the lower 16 bits are 0, of two the even one
static __device__ __forceinline__ float xt_round_upper(float x) {
    const unsigned int bits = xt_bits<unsigned int>(x);
    return xt_bits<float>((x != x ? 0x7fc00000u : bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}""",
    "xt_down": """
template <typename T> static __device__ __forceinline__ T xt_down(T x, int by) { return __shfl_down_sync(0xffffffffu, x, by); }
static __device__ __forceinline__ bool xt_down(bool x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ signed char xt_down(signed char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned char xt_down(unsigned char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ short xt_down(short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned short xt_down(unsigned short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }""",
    "xt_first": """
template <typename T> static __device__ __forceinline__ T xt_first(T x, int team = 32) { return __shfl_sync(0xffffffffu, x, 0, team); }
static __device__ __forceinline__ bool xt_first(bool x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ signed char xt_first(signed char x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ unsigned char xt_first(unsigned char x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ short xt_first(short x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ unsigned short xt_first(unsigned short x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }""",
    "xt_taken": """
// the number of a piece of work: blocks take them in the order in which they begin
static __device__ __forceinline__ int xt_taken(int* count) {
    const int taken = atomicAdd(count, 1);
    if (taken == (int)gridDim.x - 1) atomicExch(count, 0);  // the next launch begins at 0
    return taken;
}""",
    "xt_wait": """
// for blocks that have begun before
static __device__ __forceinline__ void xt_wait(const int* done, int pieces) {
    if (threadIdx.x == 0) {
        while (*(const volatile int*)done < pieces) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
            __nanosleep(100);
#endif
        }
        __threadfence();
    }
    __syncthreads();
}""",
    "xt_done": """
// a piece of a row, of so many
static __device__ __forceinline__ void xt_done(int* done, int pieces) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(done, 1) == pieces - 1) atomicExch(done, 0);  // nobody of this row waits any more
    }
}""",
    "xt_pack": """
// elements that are read and written at once
template <typename T, int N> struct alignas(sizeof(T) * N) xt_pack { T at[N]; };""",
}


def prelude(body: str) -> list[str]:
    """The functions that a text needs, in order."""
    names = list(PRELUDE)
    needed, text = set[str](), body
    for name in reversed(names):  # what a function needs stands before it
        if re.search(rf"\b{name}\b", text):
            needed.add(name)
            text += PRELUDE[name]
    header = [HALF_HEADER] if "__half" in text else []
    return [*header, *(PRELUDE[name].strip("\n") for name in names if name in needed)]
