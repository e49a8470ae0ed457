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
    const int lane = threadIdx.x % 32;
    const idx step1 = (idx)gridDim.x * blockDim.x / 32;
    for (idx row0 = ((idx)blockIdx.x * blockDim.x + threadIdx.x) / 32; row0 < n0; row0 += step1) {
        const idx i0 = row0;
        float a2 = -xt_infinityf();
        #pragma unroll 4
        for (idx k3 = lane; k3 < n1; k3 += 32) {
            a2 = xt_maximum(a2, x1[(i0 * x1_s0) + k3]);
        }
        #pragma unroll
        for (int h4 = 16; h4 > 0; h4 /= 2) {
            const float t5 = xt_down(a2, h4);
            a2 = xt_maximum(a2, t5);
        }
        const float t6 = xt_first(a2);
        float a7 = -0.0f;
        #pragma unroll 4
        for (idx k8 = lane; k8 < n1; k8 += 32) {
            const float t9 = x1[(i0 * x1_s0) + k8] - t6;
            const float t10 = (t9 < (-104.0f)) ? (-104.0f) : t9;
            const float t11 = (t10 > 89.0f) ? 89.0f : t10;
            const float t12 = fma(t11, 0x1.71547652b82fep+0f, 0x1.8000000000000p+23f) - 0x1.8000000000000p+23f;
            const float t13 = fma(t12, (-0x1.7f7d1cf79abcap-20f), fma(t12, (-0x1.62e4000000000p-1f), t11));
            const float t14 = fma(fma(0x1.6db3e20000000p-10f, t13, 0x1.123b740000000p-7f), t13, 0x1.55545e0000000p-5f);
            const float t15 = fma(fma(fma(t14, t13, 0x1.55548e0000000p-3f), t13, 0.5f), t13, 1.0f);
            const int t16 = xt_bits<int>(t12 + 0x1.8001fc0000000p+23f);
            const int t17 = (int)(t16 >> 1);
            const float t18 = xt_times(fma(t15, t13, 1.0f), xt_bits<float>((int)((unsigned int)t17 << 23)));
            const int t19 = (int)((unsigned int)(int)((unsigned int)t16 - (unsigned int)t17) << 23);
            const float t20 = xt_times(t18, xt_bits<float>(t19));
            a7 = a7 + t20;
        }
        #pragma unroll
        for (int h21 = 16; h21 > 0; h21 /= 2) {
            const float t22 = xt_down(a7, h21);
            a7 = a7 + t22;
        }
        const float t23 = xt_first(a7);
        __syncwarp();
        for (idx point24 = lane; point24 < n1; point24 += 32) {
            const idx i1 = point24;
            const float t25 = x1[(i0 * x1_s0) + i1] - t6;
            const float t26 = (t25 < (-104.0f)) ? (-104.0f) : t25;
            const float t27 = (t26 > 89.0f) ? 89.0f : t26;
            const float t28 = fma(t27, 0x1.71547652b82fep+0f, 0x1.8000000000000p+23f) - 0x1.8000000000000p+23f;
            const float t29 = fma(t28, (-0x1.7f7d1cf79abcap-20f), fma(t28, (-0x1.62e4000000000p-1f), t27));
            const float t30 = fma(fma(0x1.6db3e20000000p-10f, t29, 0x1.123b740000000p-7f), t29, 0x1.55545e0000000p-5f);
            const float t31 = fma(fma(fma(t30, t29, 0x1.55548e0000000p-3f), t29, 0.5f), t29, 1.0f);
            const int t32 = xt_bits<int>(t28 + 0x1.8001fc0000000p+23f);
            const int t33 = (int)(t32 >> 1);
            const float t34 = xt_times(fma(t31, t29, 1.0f), xt_bits<float>((int)((unsigned int)t33 << 23)));
            const int t35 = (int)((unsigned int)(int)((unsigned int)t32 - (unsigned int)t33) << 23);
            out[(i0 * out_s0) + i1] = xt_times(t34, xt_bits<float>(t35)) / t23;
        }
    }
}
