// Functions of numbers as CUDA overloads them: float in, float out. Those that round once give the bits of a GPU.
#pragma once

namespace emulated {

// The smaller and the larger number: of a NaN and a number the number, and -0 is below +0 (PTX min and max).
template <class T>
inline T least(T a, T b) {
    if (a != a) return b == b ? b : T(NAN);
    if (b != b) return a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
inline T greatest(T a, T b) {
    if (a != a) return b == b ? b : T(NAN);
    if (b != b) return a;
    return a > b || (a == b && !std::signbit(a)) ? a : b;
}

inline float fminf(float a, float b) { return least(a, b); }
inline float fmaxf(float a, float b) { return greatest(a, b); }
inline double fmin(double a, double b) { return least(a, b); }
inline double fmax(double a, double b) { return greatest(a, b); }
inline float fmin(float a, float b) { return least(a, b); }
inline float fmax(float a, float b) { return greatest(a, b); }
inline float min(float a, float b) { return least(a, b); }
inline float max(float a, float b) { return greatest(a, b); }
inline double min(double a, double b) { return least(a, b); }
inline double max(double a, double b) { return greatest(a, b); }
inline double min(float a, double b) { return least(double(a), b); }
inline double max(float a, double b) { return greatest(double(a), b); }
inline double min(double a, float b) { return least(a, double(b)); }
inline double max(double a, float b) { return greatest(a, double(b)); }

template <class T>
using Integer = typename std::enable_if<std::is_integral<T>::value>::type;
template <class A, class B, class = Integer<A>, class = Integer<B>>
inline typename std::common_type<A, B>::type min(A a, B b) {
    using T = typename std::common_type<A, B>::type;
    return T(a) < T(b) ? a : b;
}
template <class A, class B, class = Integer<A>, class = Integer<B>>
inline typename std::common_type<A, B>::type max(A a, B b) {
    using T = typename std::common_type<A, B>::type;
    return T(a) < T(b) ? b : a;
}

#define ONE(name) \
    inline float name(float x) { return std::name(x); } \
    inline double name(double x) { return std::name(x); } \
    inline float name##f(float x) { return std::name(x); }
ONE(sqrt) ONE(trunc) ONE(floor) ONE(ceil) ONE(rint) ONE(nearbyint) ONE(round) ONE(fabs)
#undef ONE
inline float abs(float x) { return std::fabs(x); }
inline double abs(double x) { return std::fabs(x); }
inline int abs(int x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float ldexp(float x, int n) { return std::ldexp(x, n); }
inline double ldexp(double x, int n) { return std::ldexp(x, n); }
inline float ldexpf(float x, int n) { return std::ldexp(x, n); }
inline float scalbn(float x, int n) { return std::ldexp(x, n); }
inline double scalbn(double x, int n) { return std::ldexp(x, n); }
inline float fmod(float x, float y) { return std::fmod(x, y); }
inline double fmod(double x, double y) { return std::fmod(x, y); }
inline float fmodf(float x, float y) { return std::fmod(x, y); }
inline float copysign(float x, float y) { return std::copysign(x, y); }
inline double copysign(double x, double y) { return std::copysign(x, y); }
inline float copysignf(float x, float y) { return std::copysign(x, y); }
inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return std::isinf(x); }
inline bool isinf(double x) { return std::isinf(x); }
inline bool isfinite(float x) { return std::isfinite(x); }
inline bool isfinite(double x) { return std::isfinite(x); }
inline bool signbit(float x) { return std::signbit(x); }
inline bool signbit(double x) { return std::signbit(x); }
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline float rsqrt(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

// Rounded to nearest, and never contracted.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double x) { return 1 / x; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __double2float_rn(double x) { return float(x); }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1 : 0; }

// Towards an integer type: the nearest that it has, and 0 of a NaN (0x8000... where 64 bits come of a NaN).
template <class To, class From>
inline To saturated(From x) {
    constexpr To low = std::is_signed<To>::value ? To(To(1) << (sizeof(To) * 8 - 1)) : 0, high = ~low;
    if (x != x) return sizeof(To) == 8 ? To(To(1) << 63) : 0;
    if (x <= From(low)) return low;
    return x >= From(high) ? high : To(x);
}
#define CONVERT(from, type, to, result) \
    inline result __##from##2##to##_rz(type x) { return saturated<result>(std::trunc(x)); } \
    inline result __##from##2##to##_rn(type x) { return saturated<result>(std::nearbyint(x)); } \
    inline result __##from##2##to##_rd(type x) { return saturated<result>(std::floor(x)); } \
    inline result __##from##2##to##_ru(type x) { return saturated<result>(std::ceil(x)); }
CONVERT(float, float, int, int) CONVERT(float, float, uint, unsigned) CONVERT(float, float, ll, long long)
CONVERT(float, float, ull, unsigned long long) CONVERT(double, double, int, int) CONVERT(double, double, uint, unsigned)
CONVERT(double, double, ll, long long) CONVERT(double, double, ull, unsigned long long)
#undef CONVERT
inline float __int2float_rn(int x) { return float(x); }
inline float __uint2float_rn(unsigned x) { return float(x); }
inline float __ll2float_rn(long long x) { return float(x); }
inline float __ull2float_rn(unsigned long long x) { return float(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return double(x); }
inline double __ull2double_rn(unsigned long long x) { return double(x); }

}  // namespace emulated
