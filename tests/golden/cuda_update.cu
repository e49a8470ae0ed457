// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}
// elements that are read and written at once
template <typename T, int N> struct alignas(sizeof(T) * N) xt_pack { T at[N]; };
typedef int idx;
typedef unsigned int count;

extern "C" __global__ void __launch_bounds__(256) kernel(float* out, const float* x1, idx n0, float s1, float s0) {
    const bool packed0 = (size_t)out % 16 == 0 && (size_t)x1 % 16 == 0;
    if (packed0) {
        const idx step2 = (idx)gridDim.x * blockDim.x;
        const idx points3 = xt_floor_divide(idx(n0 + 3), idx(4));
        for (idx point1 = (idx)blockIdx.x * blockDim.x + threadIdx.x; point1 < points3; point1 += step2) {
            const idx i0_group = point1;
            const idx first4 = i0_group * 4;
            if (first4 + 4 <= n0) {
                const xt_pack<float, 4> x6 = *(const xt_pack<float, 4>*)(out + first4);
                const xt_pack<float, 4> x7 = *(const xt_pack<float, 4>*)(x1 + first4);
                xt_pack<float, 4> r8;
                #pragma unroll
                for (int u5 = 0; u5 < 4; ++u5) {
                    r8.at[u5] = x6.at[u5] - (s1 * (x7.at[u5] + (s0 * x6.at[u5])));
                }
                *(xt_pack<float, 4>*)(out + first4) = r8;
            }
            else for (idx i9 = first4; i9 < n0 && i9 < first4 + 4; ++i9) {
                const float t10 = out[i9];
                out[i9] = t10 - (s1 * (x1[i9] + (s0 * t10)));
            }
        }
    }
    else {
        const idx step12 = (idx)gridDim.x * blockDim.x;
        const idx start11 = (idx)blockIdx.x * blockDim.x + threadIdx.x;
        float r16[4];
        #pragma unroll
        for (int u15 = 0; u15 < 4; ++u15) {
            const long long place13 = start11 + (long long)u15 * step12;
            const idx point14 = (idx)place13;
            const idx i0 = point14;
            if (place13 < n0) {
                const float t17 = out[i0];
                r16[u15] = t17 - (s1 * (x1[i0] + (s0 * t17)));
            }
        }
        #pragma unroll
        for (int u15 = 0; u15 < 4; ++u15) {
            const long long place13 = start11 + (long long)u15 * step12;
            const idx point14 = (idx)place13;
            const idx i0 = point14;
            if (place13 < n0) {
                out[i0] = r16[u15];
            }
        }
    }
}
