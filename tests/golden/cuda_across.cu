// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}
// elements that are read and written at once
template <typename T, int N> struct alignas(sizeof(T) * N) xt_pack { T at[N]; };
typedef int idx;
typedef unsigned int count;

extern "C" __global__ void __launch_bounds__(256) kernel(float* out, const float* x1, idx n0, idx n1, idx out_s0, idx x1_s1, float s0) {
    __shared__ float square0[64][65];
    const bool packed1 = (size_t)x1 % 16 == 0 && x1_s1 % 4 == 0 && (size_t)out % 16 == 0 && out_s0 % 4 == 0 && n0 % 4 == 0 && n1 % 4 == 0;
    const int near2 = threadIdx.x % 64, far3 = threadIdx.x / 64;
    const idx points5 = xt_floor_divide(idx(n0 + 63), idx(64)) * xt_floor_divide(idx(n1 + 63), idx(64));
    for (idx point4 = blockIdx.x; point4 < points5; point4 += gridDim.x) {
        const idx rest6 = (count)point4 / (count)xt_floor_divide(idx(n1 + 63), idx(64));
        const idx i1_square = point4 - rest6 * xt_floor_divide(idx(n1 + 63), idx(64));
        const idx i0_square = rest6;
        if (packed1) {
            xt_pack<float, 4> x7[4];
            #pragma unroll
            for (int k8 = 0; k8 < 4; ++k8) {
                const int near9 = (int)threadIdx.x % 16 * 4;
                const int far10 = (int)threadIdx.x / 16 + k8 * 16;
                const idx i0 = i0_square * 64 + near9;
                const idx i1 = i1_square * 64 + far10;
                if (i0 < n0 && i1 < n1) {
                    x7[k8] = *(const xt_pack<float, 4>*)(x1 + (i0 + (i1 * x1_s1)));
                }
            }
            #pragma unroll
            for (int k11 = 0; k11 < 4; ++k11) {
                const int near12 = (int)threadIdx.x % 16 * 4;
                const int far13 = (int)threadIdx.x / 16 + k11 * 16;
                const idx i0 = i0_square * 64 + near12;
                const idx i1 = i1_square * 64 + far13;
                if (i0 < n0 && i1 < n1) {
                    #pragma unroll
                    for (int u14 = 0; u14 < 4; ++u14) square0[far13][near12 + u14] = x7[k11].at[u14];
                }
            }
            __syncthreads();
            #pragma unroll
            for (int k15 = 0; k15 < 4; ++k15) {
                const int near16 = (int)threadIdx.x % 16 * 4;
                const int far17 = (int)threadIdx.x / 16 + k15 * 16;
                const idx i0 = i0_square * 64 + far17;
                const idx i1 = i1_square * 64 + near16;
                if (i0 < n0 && i1 < n1) {
                    xt_pack<float, 4> r19;
                    #pragma unroll
                    for (int u18 = 0; u18 < 4; ++u18) {
                        const float t20 = square0[near16 + u18][far17] * s0;
                        r19.at[u18] = t20;
                    }
                    *(xt_pack<float, 4>*)(out + ((i0 * out_s0) + i1)) = r19;
                }
            }
            __syncthreads();
        }
        else {
            float x21[16];
            #pragma unroll
            for (int n22 = 0; n22 < 16; ++n22) {
                const int k23 = far3 + n22 * 4;
                const idx i0 = i0_square * 64 + near2;
                const idx i1 = i1_square * 64 + k23;
                if (i0 < n0 && i1 < n1) {
                    x21[n22] = x1[i0 + (i1 * x1_s1)];
                }
            }
            #pragma unroll
            for (int n24 = 0; n24 < 16; ++n24) {
                const int k25 = far3 + n24 * 4;
                const idx i0 = i0_square * 64 + near2;
                const idx i1 = i1_square * 64 + k25;
                if (i0 < n0 && i1 < n1) {
                    square0[k25][near2] = x21[n24];
                }
            }
            __syncthreads();
            #pragma unroll
            for (int n26 = 0; n26 < 16; ++n26) {
                const int k27 = far3 + n26 * 4;
                const idx i0 = i0_square * 64 + k27;
                const idx i1 = i1_square * 64 + near2;
                if (i0 < n0 && i1 < n1) {
                    const float t28 = square0[near2][k27] * s0;
                    out[(i0 * out_s0) + i1] = t28;
                }
            }
            __syncthreads();
        }
    }
}
