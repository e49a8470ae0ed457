// Loads and stores with a hint for the caches, the same bits as another type, and functions of bits.
#pragma once

namespace emulated {

#define LOAD(name) \
    template <class T> inline T name(const T *address) { return *address; }
LOAD(__ldg) LOAD(__ldca) LOAD(__ldcg) LOAD(__ldcs) LOAD(__ldlu) LOAD(__ldcv)
#undef LOAD
#define STORE(name) \
    template <class T> inline void name(T *address, typename std::common_type<T>::type value) { *address = value; }
STORE(__stwb) STORE(__stcg) STORE(__stcs) STORE(__stwt)
#undef STORE

template <class To, class From>
inline To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "of one size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

inline int __float_as_int(float x) { return same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return same_bits<double>(x); }
inline int __double2hiint(double x) { return int(same_bits<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return int(same_bits<uint64_t>(x)); }
inline double __hiloint2double(int high, int low) { return same_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low)); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int ffs(int x) { return __builtin_ffs(x); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int k = 0; k < 64; ++k, x >>= 1) reversed = reversed << 1 | (x & 1);
    return reversed;
}
inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }
inline int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return unsigned(((uint64_t(high) << 32 | low) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}

}  // namespace emulated
