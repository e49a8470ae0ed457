// What NVIDIA's vector_types.h needs of a header that is not in the wheel of the runtime's headers.
#pragma once
// All that kernels need of vector_functions.h is make_float4 and its like (vectors.h); it includes all of the runtime's interface.
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__
#define __location__(where)
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __host__
#define __device__
#define __global__
#define __forceinline__ __inline__ __attribute__((always_inline))
