// CUDA C++ as far as kernels of ours use it, for g++. A translated source stands in a namespace inside of `emulated`, so that
// its calls find the functions below before those of the C library.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "vectors.h"

#include <cuda_fp16.h>
#include <cuda_bf16.h>

#include "threads.h"

#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __constant__
#define __grid_constant__
#define threadIdx (emulated::self->index)
#define blockIdx (emulated::block_index)
#define blockDim (emulated::block_extent)
#define gridDim (emulated::grid_extent)
#define __syncthreads() ((void)emulated::wait_for_block(false, __LINE__))
#define __syncthreads_count(predicate) emulated::block_count(emulated::wait_for_block(predicate, __LINE__))
#define __syncthreads_or(predicate) (emulated::block_count(emulated::wait_for_block(predicate, __LINE__)) != 0)
#define __syncthreads_and(predicate) emulated::block_all(emulated::wait_for_block(predicate, __LINE__))

#include "arithmetic.h"
#include "bits.h"
#include "warps.h"

namespace emulated {

template <class... A, size_t... I>
inline void call(void (*kernel)(A...), void **parameters, std::index_sequence<I...>) {
    kernel(*static_cast<const A *>(parameters[I])...);
}

template <class... A>
inline void call(void (*kernel)(A...), void **parameters) {
    call(kernel, parameters, std::index_sequence_for<A...>{});
}

}  // namespace emulated
