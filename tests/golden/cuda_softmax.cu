template <typename To, typename From> static __device__ __forceinline__ To xt_bits(From x) {
    To y;
    memcpy(&y, &x, sizeof(To));
    return y;
}
static __device__ __forceinline__ float xt_infinityf() { return xt_bits<float>(0x7f800000u); }
static __device__ __forceinline__ float xt_times(float a, float b) { return __fmul_rn(a, b); }
static __device__ __forceinline__ double xt_times(double a, double b) { return __dmul_rn(a, b); }
// NaN wins, +0 above -0
template <typename T> static __device__ __forceinline__ T xt_maximum(T a, T b) {
    return a != a ? a : b != b ? b : a > b ? a : b > a ? b : copysign(T(1), a) > 0 ? a : b;
}
template <typename T> static __device__ __forceinline__ T xt_down(T x, int by) { return __shfl_down_sync(0xffffffffu, x, by); }
static __device__ __forceinline__ bool xt_down(bool x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ signed char xt_down(signed char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned char xt_down(unsigned char x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ short xt_down(short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
static __device__ __forceinline__ unsigned short xt_down(unsigned short x, int by) { return __shfl_down_sync(0xffffffffu, (int)x, by); }
template <typename T> static __device__ __forceinline__ T xt_first(T x) { return __shfl_sync(0xffffffffu, x, 0); }
static __device__ __forceinline__ bool xt_first(bool x) { return __shfl_sync(0xffffffffu, (int)x, 0); }
static __device__ __forceinline__ signed char xt_first(signed char x) { return __shfl_sync(0xffffffffu, (int)x, 0); }
static __device__ __forceinline__ unsigned char xt_first(unsigned char x) { return __shfl_sync(0xffffffffu, (int)x, 0); }
static __device__ __forceinline__ short xt_first(short x) { return __shfl_sync(0xffffffffu, (int)x, 0); }
static __device__ __forceinline__ unsigned short xt_first(unsigned short x) { return __shfl_sync(0xffffffffu, (int)x, 0); }
typedef int idx;

extern "C" __global__ void __launch_bounds__(256) kernel(float* out, const float* x1, idx n0, idx n1, idx out_s0, idx x1_s0) {
    __shared__ float total28[1];
    __shared__ float room0_float32[4096];
    const int lane = threadIdx.x % 32;
    const idx step1 = gridDim.x;
    for (idx row0 = blockIdx.x; row0 < n0; row0 += step1) {
        const idx i0 = row0;
        float held2[16];
        float a3 = -xt_infinityf();
        #pragma unroll
        for (int u4 = 0; u4 < 16; ++u4) {
            const int k5 = u4 * 256 + (int)threadIdx.x;
            if (k5 < n1) {
                held2[u4] = x1[(i0 * x1_s0) + k5];
                a3 = xt_maximum(a3, held2[u4]);
            }
        }
        #pragma unroll
        for (int h6 = 16; h6 > 0; h6 /= 2) {
            const float t7 = xt_down(a3, h6);
            a3 = xt_maximum(a3, t7);
        }
        __shared__ float shared8[8];
        if (lane == 0) shared8[threadIdx.x / 32] = a3;
        __syncthreads();
        float a9 = shared8[lane % 8];
        __syncthreads();
        #pragma unroll
        for (int h10 = 4; h10 > 0; h10 /= 2) {
            const float t11 = xt_down(a9, h10);
            a9 = xt_maximum(a9, t11);
        }
        const float t12 = xt_first(a9);
        float held13[16];
        float a14 = -0.0f;
        #pragma unroll
        for (int u15 = 0; u15 < 16; ++u15) {
            const int k16 = u15 * 256 + (int)threadIdx.x;
            if (k16 < n1) {
                const float t17 = held2[u15] - t12;
                const float t18 = (t17 < (-104.0f)) ? (-104.0f) : t17;
                const float t19 = (t18 > 89.0f) ? 89.0f : t18;
                const float t20 = fma(t19, 0x1.71547652b82fep+0f, 0x1.8000000000000p+23f) - 0x1.8000000000000p+23f;
                const float t21 = fma(t20, (-0x1.7f7d1cf79abcap-20f), fma(t20, (-0x1.62e4000000000p-1f), t19));
                const float t22 = fma(fma(0x1.6db3e20000000p-10f, t21, 0x1.123b740000000p-7f), t21, 0x1.55545e0000000p-5f);
                const float t23 = fma(fma(fma(t22, t21, 0x1.55548e0000000p-3f), t21, 0.5f), t21, 1.0f);
                const int t24 = xt_bits<int>(t20 + 0x1.8001fc0000000p+23f);
                const int t25 = (int)(t24 >> 1);
                const float t26 = xt_times(fma(t23, t21, 1.0f), xt_bits<float>((int)((unsigned int)t25 << 23)));
                const int t27 = (int)((unsigned int)(int)((unsigned int)t24 - (unsigned int)t25) << 23);
                held13[u15] = xt_times(t26, xt_bits<float>(t27));
                room0_float32[k16] = held13[u15];
            }
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            float a30 = -0.0f;
            #pragma unroll 8
            for (int k29 = lane; k29 < n1; k29 += 32) {
                a30 = a30 + room0_float32[k29];
            }
            #pragma unroll
            for (int h31 = 16; h31 > 0; h31 /= 2) {
                const float t32 = xt_down(a30, h31);
                a30 = a30 + t32;
            }
            if (lane == 0) *total28 = a30;
        }
        __syncthreads();
        const float t33 = xt_first(*total28);
        #pragma unroll
        for (int u34 = 0; u34 < 16; ++u34) {
            const int k35 = u34 * 256 + (int)threadIdx.x;
            if (k35 < n1) {
                out[(i0 * out_s0) + k35] = held13[u34] / t33;
            }
        }
    }
}
