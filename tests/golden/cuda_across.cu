// rounded down, for a divisor above 0
template <typename T> static __device__ __forceinline__ T xt_floor_divide(T a, T b) {
    const T q = a / b;
    return q - (a - q * b < 0);
}
typedef int idx;

extern "C" __global__ void __launch_bounds__(256) kernel(float* out, const float* x1, idx n0, idx n1, idx out_s0, idx x1_s1, float s0) {
    __shared__ float square0[32][33];
    const int near1 = threadIdx.x % 32, far2 = threadIdx.x / 32;
    const idx points4 = xt_floor_divide(idx(n0 + 31), idx(32)) * xt_floor_divide(idx(n1 + 31), idx(32));
    for (idx point3 = blockIdx.x; point3 < points4; point3 += gridDim.x) {
        const idx rest5 = point3 / xt_floor_divide(idx(n1 + 31), idx(32));
        const idx i1_square = point3 - rest5 * xt_floor_divide(idx(n1 + 31), idx(32));
        const idx i0_square = rest5;
        #pragma unroll
        for (int k6 = far2; k6 < 32; k6 += 8) {
            const idx i0 = i0_square * 32 + near1;
            const idx i1 = i1_square * 32 + k6;
            if (i0 < n0 && i1 < n1) {
                square0[k6][near1] = x1[i0 + (i1 * x1_s1)];
            }
        }
        __syncthreads();
        #pragma unroll
        for (int k7 = far2; k7 < 32; k7 += 8) {
            const idx i0 = i0_square * 32 + k7;
            const idx i1 = i1_square * 32 + near1;
            if (i0 < n0 && i1 < n1) {
                const float t8 = square0[near1][k7] * s0;
                out[(i0 * out_s0) + i1] = t8;
            }
        }
        __syncthreads();
    }
}
