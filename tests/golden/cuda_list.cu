template <typename To, typename From> static __device__ __forceinline__ To xt_bits(From x) {
    To y;
    memcpy(&y, &x, sizeof(To));
    return y;
}
static __device__ __forceinline__ float xt_infinityf() { return xt_bits<float>(0x7f800000u); }
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
#endif
// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}
template <typename T> static __device__ __forceinline__ T xt_down(T x, int by) { return __shfl_down_sync(0xffffffffu, x, by); }
static __device__ __forceinline__ bool xt_down(bool x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ signed char xt_down(signed char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned char xt_down(unsigned char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ short xt_down(short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned short xt_down(unsigned short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
template <typename T> static __device__ __forceinline__ T xt_first(T x, int team = 32) { return __shfl_sync(0xffffffffu, x, 0, team); }
static __device__ __forceinline__ bool xt_first(bool x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ signed char xt_first(signed char x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ unsigned char xt_first(unsigned char x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ short xt_first(short x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
static __device__ __forceinline__ unsigned short xt_first(unsigned short x, int team = 32) { return __shfl_sync(0xffffffffu, (int)x, 0, team); }
// the number of a piece of work: blocks take them in the order in which they begin
static __device__ __forceinline__ int xt_taken(int* count) {
    const int taken = atomicAdd(count, 1);
    if (taken == (int)gridDim.x - 1) atomicExch(count, 0);  // the next launch begins at 0
    return taken;
}
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
}
// a piece of a row, of so many
static __device__ __forceinline__ void xt_done(int* done, int pieces) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(done, 1) == pieces - 1) atomicExch(done, 0);  // nobody of this row waits any more
    }
}
// elements that are read and written at once
template <typename T, int N> struct alignas(sizeof(T) * N) xt_pack { T at[N]; };
typedef int idx;
typedef unsigned int count;

extern "C" __global__ void __launch_bounds__(256) kernel(const long long* rows, const int* row_of, int* done, signed char* scratch) {
    __shared__ int taken[1];
    if (threadIdx.x == 0) *taken = xt_taken(done);
    __syncthreads();
    const int piece = *taken;
    const int stage = row_of[piece] % 3;
    const long long* row = rows + (size_t)(row_of[piece] / 3) * 11;
    done += 1 + row_of[piece] / 3;
    if (stage == 0) {
        float* scratch0 = (float*)(scratch + row[9]);
        const float* out = (float*)(row[6]);
        const idx n0 = (idx)row[7];
        const idx per0 = (idx)row[8];
        const int lane = threadIdx.x % 32;
        const idx points3 = xt_floor_divide(idx(n0 + (per0 - 1)), idx(per0));
        const idx first1 = (idx)(piece - row[0]) * 8;
        const idx end2 = points3 - first1 < 8 ? points3 : first1 + 8;
        for (idx row0 = first1 + (idx)threadIdx.x / 32; row0 < end2; row0 += 8) {
            const idx part1 = row0;
            const idx n4 = min(idx(per0), idx(n0 - (part1 * per0)));
            const bool packed5 = (size_t)(out + (0 + (part1 * per0))) % 16 == 0;
            float a6 = -xt_infinityf();
            const idx whole7 = packed5 ? n4 / 128 * 128 : 0;
            #pragma unroll 8
            for (idx k8 = lane * 4; k8 < whole7; k8 += 128) {
                const xt_pack<float, 4> x10 = *(const xt_pack<float, 4>*)(out + (k8 + (part1 * per0)));
                #pragma unroll
                for (int c9 = 0; c9 < 4; ++c9) {
                    a6 = xt_maximum(a6, x10.at[c9]);
                }
            }
            idx k11 = whole7 + lane;
            #pragma unroll 8
            for (; k11 < n4; k11 += 32) {
                a6 = xt_maximum(a6, out[k11 + (part1 * per0)]);
            }
            #pragma unroll
            for (int h12 = 16; h12 > 0; h12 /= 2) {
                const float t13 = xt_down(a6, h12);
                a6 = xt_maximum(a6, t13);
            }
            const float t14 = xt_first(a6);
            __syncwarp();
            if (lane == 0) {
                scratch0[part1] = t14;
            }
        }
    }
    if (stage == 1) {
        xt_wait(done, (int)row[3]);
        float* scratch1 = (float*)(scratch + row[10]);
        const float* scratch0 = (float*)(scratch + row[9]);
        const idx n0 = (idx)row[7];
        const idx per0 = (idx)row[8];
        const int lane = threadIdx.x % 32;
        const idx first1 = (idx)(piece - row[1]) * 1;
        const idx end2 = 1 - first1 < 1 ? 1 : first1 + 1;
        for (idx row0 = first1; row0 < end2; row0 += 1) {
            const idx n3 = xt_floor_divide(idx(n0 + (per0 - 1)), idx(per0));
            float l4[16];
            #pragma unroll
            for (int k7 = 0; k7 < 16; ++k7) {
                l4[k7] = -xt_infinityf();
                if ((idx)threadIdx.x * 16 + k7 < n3) {
                    l4[k7] = scratch0[(idx)threadIdx.x * 16 + k7];
                }
            }
            #pragma unroll
            for (int h6 = 1; h6 < 16; h6 *= 2) {
                #pragma unroll
                for (int k5 = 0; k5 < 16; k5 += 2 * h6) {
                    l4[k5] = xt_maximum(l4[k5], l4[k5 + h6]);
                }
            }
            #pragma unroll
            for (int h8 = 1; h8 <= 16; h8 *= 2) {
                l4[0] = xt_maximum(l4[0], xt_down(l4[0], h8));
            }
            __shared__ float shared9[8];
            if (lane == 0) shared9[threadIdx.x / 32] = l4[0];
            __syncthreads();
            float a10 = shared9[lane % 8];
            __syncthreads();
            #pragma unroll
            for (int h11 = 1; h11 <= 4; h11 *= 2) {
                a10 = xt_maximum(a10, xt_down(a10, h11));
            }
            const float t12 = xt_first(a10);
            __syncthreads();
            if (threadIdx.x == 0) {
                scratch1[0] = t12;
            }
        }
    }
    if (stage == 2) {
        xt_wait(done, (int)row[4]);
        float* out = (float*)(row[6]);
        const float* scratch1 = (float*)(scratch + row[10]);
        const idx n0 = (idx)row[7];
        const idx points3 = xt_floor_divide(idx(n0 + 3), idx(4));
        const idx first1 = (idx)(piece - row[2]) * 1024;
        const idx end2 = points3 - first1 < 1024 ? points3 : first1 + 1024;
        for (idx point0 = first1 + (idx)threadIdx.x; point0 < end2; point0 += 256) {
            const idx i0_group = point0;
            const idx first4 = i0_group * 4;
            if ((size_t)out % 16 == 0 && first4 + 4 <= n0) {
                const xt_pack<float, 4> x6 = *(const xt_pack<float, 4>*)(out + first4);
                xt_pack<float, 4> r7;
                const float t8 = scratch1[0];
                #pragma unroll
                for (int u5 = 0; u5 < 4; ++u5) {
                    r7.at[u5] = x6.at[u5] / t8;
                }
                *(xt_pack<float, 4>*)(out + first4) = r7;
            }
            else for (idx i9 = first4; i9 < n0 && i9 < first4 + 4; ++i9) {
                out[i9] = out[i9] / scratch1[0];
            }
        }
    }
    xt_done(done, (int)row[5]);
}
