// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}
// elements that are read and written at once
template <typename T, int N> struct alignas(sizeof(T) * N) xt_pack { T at[N]; };
typedef int idx;

extern "C" __global__ void __launch_bounds__(256) kernel(float* out, const float* x1, idx n0, float s1, float s0) {
    const idx step1 = (idx)gridDim.x * blockDim.x;
    const idx points2 = xt_floor_divide(idx(n0 + 3), idx(4));
    for (idx point0 = (idx)blockIdx.x * blockDim.x + threadIdx.x; point0 < points2; point0 += step1) {
        const idx i0_group = point0;
        const idx first3 = i0_group * 4;
        if ((size_t)out % 16 == 0 && (size_t)x1 % 16 == 0 && first3 + 4 <= n0) {
            const xt_pack<float, 4> x5 = *(const xt_pack<float, 4>*)(out + first3);
            const xt_pack<float, 4> x6 = *(const xt_pack<float, 4>*)(x1 + first3);
            xt_pack<float, 4> r7;
            #pragma unroll
            for (int u4 = 0; u4 < 4; ++u4) {
                r7.at[u4] = x5.at[u4] - (s1 * (x6.at[u4] + (s0 * x5.at[u4])));
            }
            *(xt_pack<float, 4>*)(out + first3) = r7;
        }
        else for (idx i8 = first3; i8 < n0 && i8 < first3 + 4; ++i8) {
            const float t9 = out[i8];
            out[i8] = t9 - (s1 * (x1[i8] + (s0 * t9)));
        }
    }
}
