"""CUDA C++ executed on the CPU gives what a GPU would give, and says what a GPU would not forgive."""

import ctypes
import platform
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from emulator import CompileError, Emulator

SEEDS = (0, 1, 2, 3)

ELEMENTWISE = """\
extern "C" __global__ void __launch_bounds__(256) axpy(const float* __restrict__ x, float* __restrict__ y, float a, long long n) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}
"""

SUMS = """\
#define WARPS 4
__device__ __forceinline__ double warp_sum(double x) {
    #pragma unroll
    for (int step = 16; step > 0; step >>= 1) x += __shfl_down_sync(0xffffffffu, x, step);
    return x;
}

extern "C" __global__ void __launch_bounds__(128) row_sum(const double* __restrict__ x, double* __restrict__ out, int columns) {
    __shared__ double part[WARPS];
    double sum = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += x[blockIdx.x * columns + c];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    BARRIER
    if (threadIdx.x == 0) out[blockIdx.x] = (part[0] + part[1]) + (part[2] + part[3]);
}
"""

TREE = """\
extern "C" __global__ void tree(const float* x, float* out) {
    extern __shared__ float part[];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step >>= 1) {
        if (t < step) part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0) out[0] = part[0];
}
"""

LAST_BLOCK = """\
extern "C" __global__ void total(const int* x, int* out, int* parts, unsigned* done, int n) {
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sum, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) all += __ldcg(&parts[b]);
        *out = all;
    }
}
"""

SHUFFLES = """\
template <class T> __device__ void shuffle(const T* x, T* out, int width) {
    int t = threadIdx.x;
    T mine = x[t];
    out[t] = __shfl_sync(0xffffffffu, mine, 5, width);
    out[t + 32] = __shfl_up_sync(0xffffffffu, mine, 3, width);
    out[t + 64] = __shfl_down_sync(0xffffffffu, mine, 3, width);
    out[t + 96] = __shfl_xor_sync(0xffffffffu, mine, 6, width);
}
extern "C" __global__ void shuffle4(const float* x, float* out, int width) { shuffle(x, out, width); }
extern "C" __global__ void shuffle8(const long long* x, long long* out, int width) { shuffle(x, out, width); }
extern "C" __global__ void votes(const int* x, unsigned* out) {
    int t = threadIdx.x;
    unsigned odd = __ballot_sync(0xffffffffu, x[t] & 1);
    if (t < 8) {
        out[t] = odd;
        out[8 + t] = __any_sync(0xffu, x[t] > 100) | __all_sync(0xffu, x[t] >= 0) << 1 | __shfl_xor_sync(0xffu, t, 1) << 2;
    }
}
"""

DIVERGENT = """\
extern "C" __global__ void split(int* out) {
    if (threadIdx.x < 16) { out[0] = 1; __syncthreads(); }
    else __syncthreads();
}
extern "C" __global__ void stuck(int* out) {
    if (threadIdx.x < 16) __syncthreads();
    else __syncwarp();
}
extern "C" __global__ void gone(int* out) {
    if (threadIdx.x < 16) return;
    __syncthreads();
    out[threadIdx.x] = __syncthreads_count(threadIdx.x % 3 == 0);
}
"""

HALVES = """\
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void halves(const unsigned short* bits, float* wide, float* wide_bf) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    wide[i] = __half2float(reinterpret_cast<const __half*>(bits)[i]);
    wide_bf[i] = __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(bits)[i]);
}
extern "C" __global__ void narrowed(const float* x, __half* half, __nv_bfloat16* bf) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    half[i] = __float2half_rn(x[i]);
    bf[i] = __float2bfloat16_rn(x[i]);
}
"""

VECTORS = """\
struct __align__(8) Pair { float a, b; };
extern "C" __global__ void fours(const float* x, float* y) {
    float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
    reinterpret_cast<float4*>(y)[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}
extern "C" __global__ void twos(const Pair* x, Pair* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void beyond(float* y, int k) {
    __shared__ float part[8];
    part[threadIdx.x + k] = 1;
    __syncthreads();
    y[threadIdx.x] = part[threadIdx.x];
}
"""

ARITHMETIC = """\
extern "C" __global__ void arithmetic(const double* a, const double* b, const double* c, double* out, int n) {
    int i = threadIdx.x;
    out[i] = fma(a[i], b[i], c[i]);
    out[i + n] = a[i] / b[i];
    out[i + 2 * n] = sqrt(fabs(a[i]));
    out[i + 3 * n] = __dadd_rn(__dmul_rn(a[i], b[i]), c[i]);
    out[i + 4 * n] = ldexp(rint(a[i]), 3);
}
extern "C" __global__ void arithmeticf(const float* a, const float* b, const float* c, float* out, int n) {
    int i = threadIdx.x;
    out[i] = fmaf(a[i], b[i], c[i]);
    out[i + n] = a[i] / b[i];
    out[i + 2 * n] = sqrt(fabs(a[i]));
    out[i + 3 * n] = __fadd_rn(__fmul_rn(a[i], b[i]), c[i]);
    out[i + 4 * n] = ldexp(rint(a[i]), 3);
}
"""

INTEGERS = """\
__constant__ int table[4] = {3, 1, 4, 1};
__device__ const unsigned odd = 0x80000001u;
extern "C" __global__ void integers(const int* a, const int* b, long long* out, int n) {
    int i = threadIdx.x, x = a[i], y = b[i];
    out[i] = (long long)x * y;
    out[i + n] = __popc(x) * 10000 + __clz(x) * 100 + __ffs(x);
    out[i + 2 * n] = __umulhi(x, y);
    out[i + 3 * n] = (unsigned)x % ((unsigned)y | 1) + table[i & 3];
    out[i + 4 * n] = max(x, y) - (long long)min(x, y);
    out[i + 5 * n] = __brev((unsigned)x ^ odd);
}
"""

RECURSION = """\
__device__ __noinline__ long long sum(long long n) { return n ? n + sum(n - 1) : 0; }
extern "C" __global__ void deep(long long* out, long long n) { *out = sum(n); }
"""

TAKEN = """\
extern "C" __global__ void atomics(int* i, unsigned* u, float* f, unsigned long long* l) {
    int t = threadIdx.x;
    atomicMax(i, t);
    atomicMin(i + 1, -t);
    atomicSub(i + 2, t);
    atomicXor(i + 3, t);
    atomicOr(u, 1u << (t & 31));
    atomicAnd(u + 1, ~(1u << (t & 31)));
    atomicDec(u + 2, 5);
    atomicAdd(f, 0.5f);
    atomicAdd(l, 1ull << 33);
    if (t == 7) atomicExch(f + 1, 2.5f);
    if (atomicCAS(l + 1, 0ull, t + 1ull) == 0) l[2] = 1;
}
"""


@pytest.fixture
def run(emulator: Emulator) -> Callable[..., None]:
    """`run(source, name, blocks, threads, *arguments)`: a launch that must succeed."""

    def launch(source: str, name: str, blocks: int, threads: int, *arguments: Any, shared: int = 0) -> None:
        function = emulator.function(source, name)
        assert emulator.launch(function, (blocks, 1, 1), (threads, 1, 1), arguments, shared) == 0, emulator.error

    return launch


def test_a_grid_stride_loop_visits_each_element_once(run: Callable[..., None], emulator: Emulator) -> None:
    x, y = np.arange(1000, dtype="f4"), np.ones(1003, "f4")
    run(ELEMENTWISE, "axpy", 3, 256, x, y[:1000], np.float32(2), np.int64(1000))
    np.testing.assert_array_equal(y, np.append(2 * x + 1, [1, 1, 1]))
    assert emulator.launches == [("axpy", (3, 1, 1), (256, 1, 1))]
    assert emulator.counters == (1, 3, 0, 0, 0)


def _row_sums(run: Callable[..., None], emulator: Emulator, barrier: str) -> list[np.ndarray]:
    x = np.arange(3 * 200, dtype="f8").reshape(3, 200)
    found = []
    for seed in SEEDS:
        emulator.seed = seed
        out = np.zeros(3)
        run(SUMS.replace("BARRIER", barrier), "row_sum", 3, 128, x, out, np.int32(200))
        found.append(out)
    return found


def test_a_sum_in_shared_memory_is_right_in_every_order(run: Callable[..., None], emulator: Emulator) -> None:
    for found in _row_sums(run, emulator, "__syncthreads();"):
        np.testing.assert_array_equal(found, np.arange(600.0).reshape(3, 200).sum(1))


def test_a_forgotten_barrier_is_caught(run: Callable[..., None], emulator: Emulator) -> None:
    want = np.arange(600.0).reshape(3, 200).sum(1)
    right = [np.array_equal(found, want) for found in _row_sums(run, emulator, "")]
    assert not all(right)
    assert right[1], "backwards thread 0 comes last, so this order alone shows nothing"


def test_memory_given_at_the_launch(run: Callable[..., None], emulator: Emulator) -> None:
    x = np.arange(256, dtype="f4")
    for emulator.seed in SEEDS:
        out = np.zeros(1, "f4")
        run(TREE, "tree", 1, 256, x, out, shared=1024)
        assert out[0] == x.sum()
    assert emulator.counters.barriers == 9 * len(SEEDS)


def test_the_last_block_sees_all_others(run: Callable[..., None], emulator: Emulator) -> None:
    x = np.arange(1000, dtype="i4")
    for emulator.seed in SEEDS:
        out, parts, done = np.zeros(1, "i4"), np.zeros(5, "i4"), np.zeros(1, "u4")
        run(LAST_BLOCK, "total", 5, 64, x, out, parts, done, np.int32(1000))
        assert (out[0], done[0]) == (x.sum(), 0)


@pytest.mark.parametrize("width", [32, 16, 8])
@pytest.mark.parametrize(("name", "dtype"), [("shuffle4", "f4"), ("shuffle8", "i8")])
def test_shuffles(run: Callable[..., None], emulator: Emulator, name: str, dtype: str, width: int) -> None:
    lane = np.arange(32)
    first = lane // width * width
    want = np.concatenate(
        [
            first + 5,
            np.where(lane - first >= 3, lane - 3, lane),
            np.where(lane + 3 < first + width, lane + 3, lane),
            np.where(lane ^ 6 < first + width, lane ^ 6, lane),
        ]
    )
    x = (np.random.default_rng(0).standard_normal(32) * 1e9).astype(dtype)
    for emulator.seed in SEEDS:
        out = np.zeros(128, dtype)
        run(SHUFFLES, name, 1, 32, x, out, np.int32(width))
        np.testing.assert_array_equal(out, x[want])


def test_votes_of_some_lanes(run: Callable[..., None], emulator: Emulator) -> None:
    x = np.arange(32, dtype="i4") * 5
    for emulator.seed in SEEDS:
        out = np.zeros(16, "u4")
        run(SHUFFLES, "votes", 1, 32, x, out)
        assert (out[:8] == 0xAAAAAAAA).all()
        np.testing.assert_array_equal(out[8:], 2 | (np.arange(8) ^ 1) << 2)


@pytest.mark.parametrize(("name", "why"), [
    ("split", ("divergent barrier: split, block (0, 0, 0), thread (0, 0, 0) waits at __syncthreads in line 2, "
               "split, block (0, 0, 0), thread (16, 0, 0) in line 3")),
    ("stuck", ("deadlock: stuck, block (0, 0, 0), thread (0, 0, 0) waits at __syncthreads in line 6: "
               "stuck, block (0, 0, 0), thread (16, 0, 0) waits for the lanes 0xffffffff of its warp")),
])  # fmt: skip
def test_a_divergent_barrier_is_an_error(emulator: Emulator, name: str, why: str) -> None:
    status = emulator.launch(emulator.function(DIVERGENT, name), (2, 1, 1), (64, 1, 1), [np.zeros(64, "i4")])
    assert (status, emulator.counters.divergent_barriers) == (719, 1)
    assert emulator.error == why


WAITS = """
extern "C" __global__ void waits(int* done) {
    while (*(volatile int*)done < 1) __nanosleep(100);
}
"""


def test_a_block_that_waits_for_one_that_has_not_run_is_an_error(run: Callable[..., None], emulator: Emulator) -> None:
    run(WAITS, "waits", 2, 32, np.ones(1, "i4"))
    assert emulator.launch(emulator.function(WAITS, "waits"), (2, 1, 1), (32, 1, 1), [np.zeros(1, "i4")]) == 719
    assert "block 0 waits for one that has not run" in emulator.error


def test_threads_that_returned_are_not_waited_for(run: Callable[..., None], emulator: Emulator) -> None:
    out = np.zeros(64, "i4")
    run(DIVERGENT, "gone", 1, 64, out)
    assert (out[16:] == sum(t % 3 == 0 for t in range(16, 64))).all() and not out[:16].any()
    assert emulator.counters == (1, 1, 2, 2, 0)


def test_halves_are_numpys(run: Callable[..., None]) -> None:
    bits = np.arange(65536, dtype="u2")
    wide, wide_bf = np.zeros(65536, "f4"), np.zeros(65536, "f4")
    run(HALVES, "halves", 256, 256, bits, wide, wide_bf)
    np.testing.assert_array_equal(wide, bits.view("f2").astype("f4"))
    np.testing.assert_array_equal(wide_bf, (bits.astype("u4") << 16).view("f4"))


def test_rounding_to_halves_is_numpys(run: Callable[..., None]) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    every = np.arange(65536, dtype="u2").view("f2").astype("f4")
    between = np.random.default_rng(0).integers(0, 2**32, 65536, dtype="u4").view("f4")
    with np.errstate(all="ignore"):
        x = np.concatenate([every, np.nextafter(every, np.float32(0)), (every + np.roll(every, 1)) / 2, between])
    half, bf = np.zeros(len(x), "f2"), np.zeros(len(x), ml_dtypes.bfloat16)
    run(HALVES, "narrowed", len(x) // 256, 256, x, half, bf)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(half, x.astype("f2"))
        np.testing.assert_array_equal(bf.astype("f4"), x.astype(ml_dtypes.bfloat16).astype("f4"))


def _aligned(count: int) -> np.ndarray:
    memory = np.zeros(count + 8, "f4")
    return memory[-memory.ctypes.data % 32 // 4 :][:count]


def test_vectors_of_four(run: Callable[..., None], emulator: Emulator) -> None:
    x, y = _aligned(136), _aligned(136)
    x[:] = np.arange(136)
    run(VECTORS, "fours", 1, 32, x[4:], y)
    np.testing.assert_array_equal(y[:128], x[4:132].reshape(-1, 4)[:, ::-1].ravel())


@pytest.mark.parametrize(("name", "shift", "size"), [("fours", 2, 16), ("twos", 1, 8)])
@pytest.mark.parametrize("operand", [0, 1])
def test_misaligned_accesses_are_errors(emulator: Emulator, name: str, shift: int, size: int, operand: int) -> None:
    arguments = [_aligned(136), _aligned(136)]
    arguments[operand] = arguments[operand][shift:]
    assert emulator.launch(emulator.function(VECTORS, name), (1, 1, 1), (32, 1, 1), arguments) == 716
    assert f"is not a multiple of {size}" in emulator.error and "thread (0, 0, 0): line" in emulator.error


def test_indices_outside_of_shared_memory_are_errors(run: Callable[..., None], emulator: Emulator) -> None:
    y = np.zeros(8, "f4")
    run(VECTORS, "beyond", 1, 8, y, np.int32(0))
    assert (y == 1).all()
    function = emulator.function(VECTORS, "beyond")
    assert emulator.launch(function, (1, 1, 1), (8, 1, 1), [y, np.int32(1)]) == 700
    assert emulator.error.endswith("thread (7, 0, 0): line 9: index 8 is outside of 'float [8]'")


def test_memory_is_watched(run: Callable[..., None], emulator: Emulator) -> None:
    memory, one, n = emulator.memory, np.float32(1), 100
    x, y = memory.allocate(4 * n), memory.allocate(4 * n)
    assert x % 256 == y % 256 == 0 and np.isnan(_view(x, n)).all()
    _view(x, n)[:] = _view(y, n)[:] = 3
    run(ELEMENTWISE, "axpy", 1, 128, x, y, one, np.int64(n))
    memory.verify()
    assert (_view(y, n) == 6).all()
    run(ELEMENTWISE, "axpy", 1, 128, x, y, one, np.int64(n + 1))
    with pytest.raises(AssertionError, match=f"byte {4 * n} of a block of {4 * n} bytes"):
        memory.verify()
    _view(y, n + 1)[n:].view("u4")[:] = 0x7F7F7F7F
    run(ELEMENTWISE, "axpy", 1, 1, x, y - 4, np.float32(1e38), np.int64(1))
    with pytest.raises(AssertionError, match=f"byte -4 of a block of {4 * n} bytes"):
        memory.verify()
    _view(y - 4, 1).view("u4")[:] = 0x7F7F7F7F
    memory.free(x)
    memory.free(y)
    assert not memory.blocks


def _view(address: int, count: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the handler of the fault knows x86-64's registers")
def test_no_memory_is_an_error(run: Callable[..., None], emulator: Emulator) -> None:
    x, y = emulator.memory.allocate(256), emulator.memory.allocate(256)
    function = emulator.function(ELEMENTWISE, "axpy")
    arguments = [x, y, np.float32(1), np.int64(65)]
    assert emulator.launch(function, (1, 1, 1), (128, 1, 1), arguments) == 700
    assert emulator.error == f"axpy, block (0, 0, 0), thread (64, 0, 0): address {x + 256:#x} is not allocated"
    emulator.memory.free(x)
    assert emulator.launch(function, (1, 1, 1), (128, 1, 1), arguments) == 700
    arguments[0] = emulator.memory.allocate(256)
    run(ELEMENTWISE, "axpy", 1, 128, *arguments[:3], np.int64(64))
    emulator.memory.free(arguments[0])
    emulator.memory.free(y)


def test_a_stack_without_end_is_an_error(run: Callable[..., None], emulator: Emulator) -> None:
    out = np.zeros(1, "i8")
    run(RECURSION, "deep", 1, 1, out, np.int64(100))
    assert out[0] == 5050
    function = emulator.function(RECURSION, "deep")
    assert emulator.launch(function, (1, 1, 1), (1, 1, 1), [out, np.int64(1 << 40)]) == 700


@pytest.mark.parametrize(("name", "dtype"), [("arithmetic", "f8"), ("arithmeticf", "f4")])
def test_arithmetic_has_numpys_bits(run: Callable[..., None], name: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((2, 256)) * 10.0 ** rng.integers(-8, 8, (2, 256))).astype(dtype)
    c = -a * b
    c[::2] = 1
    a[:6] = [0, -0.0, np.inf, np.nan, 2.5, -2.5]
    out = np.zeros((5, 256), dtype)
    run(ARITHMETIC, name, 1, 256, a, b, c, out, np.int32(256))
    with np.errstate(all="ignore"):
        want = [a / b, np.sqrt(abs(a)), a * b + c, np.rint(a) * a.dtype.type(8)]
    np.testing.assert_array_equal(out[1:], want)
    np.testing.assert_array_equal(np.signbit(out[4]), np.signbit(np.rint(a)))
    # Where the product cancels, its rounding error is left, and that is a number of the type.
    error = [Fraction(x) * Fraction(y) + Fraction(z) for x, y, z in np.stack([a, b, c], 1)[7::2].tolist()]
    np.testing.assert_array_equal(out[0, 7::2], [float(e) for e in error])
    assert any(error) and not want[2][7::2].any()


def test_integers(run: Callable[..., None]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-(2**31), 2**31, (2, 128)).astype("i4")
    a[:4] = [0, 1, -1, -(2**31)]
    out = np.zeros((6, 128), "i8")
    run(INTEGERS, "integers", 1, 128, a, b, out, np.int32(128))
    wide, high, ua, ub = a.astype("i8"), b.astype("i8"), a.view("u4").astype("u8"), b.view("u4").astype("u8")
    text = [f"{x:032b}" for x in a.view("u4").tolist()]
    np.testing.assert_array_equal(out[0], wide * high)
    counts = [t.count("1") * 10000 + (t + "1").index("1") * 100 + (32 - t.rindex("1") if "1" in t else 0) for t in text]
    np.testing.assert_array_equal(out[1], counts)
    np.testing.assert_array_equal(out[2], (ua * ub >> np.uint64(32)).astype("i8"))
    np.testing.assert_array_equal(out[3], (ua % (ub | np.uint64(1))).astype("i8") + np.resize([3, 1, 4, 1], 128))
    np.testing.assert_array_equal(out[4], abs(wide - high))
    np.testing.assert_array_equal(out[5], [int(f"{x ^ 0x80000001:032b}"[::-1], 2) for x in a.view("u4").tolist()])


def test_atomics(run: Callable[..., None], emulator: Emulator) -> None:
    for emulator.seed in SEEDS:
        i, u = np.zeros(4, "i4"), np.array([0, 2**32 - 1, 0], "u4")
        f, taken = np.zeros(2, "f4"), np.zeros(3, "u8")
        run(TAKEN, "atomics", 1, 100, i, u, f, taken)
        assert i.tolist() == [99, -99, -sum(range(100)), 0]
        assert u.tolist() == [2**32 - 1, 0, 2]
        assert f.tolist() == [50, 2.5] and taken[0] == 100 << 33 and 1 <= taken[1] <= 100 and taken[2] == 1


@pytest.mark.parametrize(("grid", "block", "shared", "status", "why"), [
    ((0, 1, 1), (1, 1, 1), 0, 1, "an extent of grid (0, 1, 1) or block (1, 1, 1) is 0"),
    ((1, 1, 1), (32, 0, 1), 0, 1, "an extent of grid (1, 1, 1) or block (32, 0, 1) is 0"),
    ((1, 65536, 1), (1, 1, 1), 0, 1, "grid (1, 65536, 1) is above (2147483647, 65535, 65535)"),
    ((1, 1, 1), (32, 64, 1), 0, 1, "block (32, 64, 1) is above (1024, 1024, 64) or 1024 threads"),
    ((1, 1, 1), (1, 1, 65), 0, 1, "block (1, 1, 65) is above (1024, 1024, 64) or 1024 threads"),
    ((1, 1, 1), (1, 1, 1), 49153, 1, "0 + 49153 bytes of shared memory are above 49152"),
    ((1, 1, 1), (257, 1, 1), 0, 701, "block (257, 1, 1) is above its __launch_bounds__(256)"),
])  # fmt: skip
def test_launches_that_no_device_takes(
    emulator: Emulator, grid: Any, block: Any, shared: int, status: int, why: str
) -> None:
    arguments = [np.zeros(1, "f4"), np.zeros(1, "f4"), np.float32(1), np.int64(1)]
    assert emulator.launch(emulator.function(ELEMENTWISE, "axpy"), grid, block, arguments, shared) == status
    assert emulator.error == f"axpy: {why}"
    assert emulator.launches == []


def test_a_text_is_compiled_once(emulator: Emulator) -> None:
    texts = [ELEMENTWISE.replace("axpy", f"axpy{k}") for k in range(20)]
    emulator.prepare(texts)
    before = emulator.compiled
    emulator.prepare(texts)
    handles = {emulator.function(text, f"axpy{k}") for k, text in enumerate(texts)}
    assert emulator.compiled == before and len(handles) == 20
    other = Emulator()
    other.function(texts[7], "axpy7")
    assert other.compiled == 0


def test_an_address_is_called_as_the_drivers(emulator: Emulator) -> None:
    """By machine code, which knows nothing else."""
    pointer, uint = ctypes.c_void_p, ctypes.c_uint
    cu_launch_kernel = ctypes.PYFUNCTYPE(ctypes.c_int, pointer, *[uint] * 7, pointer, pointer, pointer)(
        emulator.launch_address
    )
    x, y = np.ones(10, "f4"), np.zeros(10, "f4")
    values = [pointer(x.ctypes.data), pointer(y.ctypes.data), ctypes.c_float(2), ctypes.c_longlong(10)]
    parameters = (pointer * 4)(*map(ctypes.addressof, values))
    assert cu_launch_kernel(emulator.function(ELEMENTWISE, "axpy"), 1, 1, 1, 32, 1, 1, 0, None, parameters, None) == 0
    assert (y == 2).all()


def test_functions_may_be_promised_before_they_are_compiled(run: Callable[..., None], emulator: Emulator) -> None:
    x, y = np.ones(10, "f4"), np.zeros(10, "f4")
    text = ELEMENTWISE.replace("a * x[i]", "a * a * x[i]")
    with emulator.collecting():
        before = emulator.function(text, "axpy")
        run(text, "axpy", 1, 32, x, y, np.float32(3), np.int64(10))
        assert not y.any() and not emulator.launches
    run(text, "axpy", 1, 32, x, y, np.float32(3), np.int64(10))
    assert (y == 9).all() and emulator.function(text, "axpy") == before


def test_what_is_no_cuda_is_refused_with_its_line(emulator: Emulator) -> None:
    for _ in "12":
        with pytest.raises(CompileError, match=r"source 0:4:16: error: 'nonsense' was not declared"):
            emulator.function(ELEMENTWISE.replace("a * x[i]", "nonsense").replace("for (", "for\n("), "axpy")
    with pytest.raises(KeyError, match="no __global__ function 'axpby', only"):
        emulator.function(ELEMENTWISE, "axpby")
