// make_float4 and its like; the types are NVIDIA's, with their alignment.
#pragma once
#include <vector_types.h>

#define VECTORS(name, type) \
    inline name##1 make_##name##1(type x) { return {x}; } \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(char, signed char) VECTORS(uchar, unsigned char) VECTORS(short, short) VECTORS(ushort, unsigned short)
VECTORS(int, int) VECTORS(uint, unsigned) VECTORS(float, float)
#undef VECTORS
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
