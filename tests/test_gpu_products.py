"""Products on an emulated GPU, where cuBLAS is NumPy that checks its arguments; and how the real one is called."""

import contextlib
import ctypes
import os

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import EmulatedDriver, emulated
from gpu.product_cases import *  # noqa: F403  # the tests
from gpu.product_cases import LAYOUTS, TYPES, Placed, named, numbers, of, tensors
from hypothesis import given, settings
from hypothesis import strategies as st

import exprten as xt
from exprten.gpu import cublas
from exprten.gpu.cublas import ARGUMENTS, Cublas, CublasError, Gemm

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "")


@pytest.fixture
def driver():
    with emulated() as driver:
        yield driver


@pytest.fixture
def gpus(driver):
    return [xt.gpu(0), xt.gpu(1)]


def matrix(shape, device, seed=0):
    return of(numbers(shape, seed=seed), device)


# What is launched.


def test_a_product_is_one_launch_of_cublas_and_no_copy(driver, gpus):
    x, w, out = matrix((6, 5), gpus[0]), matrix((5, 7), gpus[0]), matrix((6, 7), gpus[0])
    out += xt.dot(x, w)
    driver.log.clear()
    out += xt.dot(x, w)
    assert driver.log == [("gemm", 0, 0)]


def test_leading_dimensions_and_flags_are_those_of_the_memory(driver, gpus):
    """Of rows the transposes are told, the other way round."""
    x, w = xt.zeros((6, 5), device=gpus[0], pad=True), xt.zeros((7, 5), device=gpus[0])
    out = xt.zeros((9, 10), device=gpus[0])[1:7, 2:9]
    out[...] = 0.5 * xt.dot(x, w.T) + 2.0 * out
    [g] = driver.products
    assert (g.flags, g.m, g.n, g.k, g.batch) == ("TN", 7, 6, 5, 1)
    assert (g.lda, g.ldb, g.ldc) == (5, 64, 10) and (g.alpha, g.beta) == (0.5, 2.0)
    assert (g.a, g.b, g.c) == (w.buffer.address, x.buffer.address, out.buffer.address + (1 * 10 + 2) * 4)
    turned = xt.zeros((7, 6), device=gpus[0])
    turned.T[...] = xt.dot(x, w.T)
    g = driver.products[-1]
    assert (g.flags, g.m, g.n, g.lda, g.ldb, g.ldc) == ("TN", 6, 7, 64, 5, 6) and g.a == x.buffer.address


def test_axes_of_a_batch_that_run_on_are_one(driver, gpus):
    x, w, out = (xt.zeros(shape, device=gpus[0]) for shape in ((2, 3, 4, 5), (2, 3, 5, 6), (2, 3, 4, 6)))
    out[...] = x @ w
    assert [(g.batch, g.stride_a, g.stride_b, g.stride_c) for g in driver.products] == [(6, 30, 20, 24)]
    driver.products.clear()
    out[...] = x @ w[0, 0]
    assert [(g.batch, g.stride_a, g.stride_b, g.stride_c) for g in driver.products] == [(6, 0, 20, 24)]
    driver.products.clear()
    plan = xt.plan(out[:, ::2], x[:, ::2] @ w[:, ::2])
    plan.run()
    assert [g.batch for g in driver.products] == [2, 2]
    assert plan.call.endswith("2 x 2 times") and (plan.phases, plan.launches) == (1, 2)


@given(st.data())
@settings(max_examples=60)
def test_random_products(data):
    """Any shapes, layouts, type and mode that cuBLAS takes, as they lie."""
    m, n, k = (data.draw(st.integers(1, 40), label) for label in "mnk")
    dtype = named(data.draw(st.sampled_from(TYPES), "dtype"))
    into, left, right = (data.draw(st.sampled_from(LAYOUTS), "layout") for _ in range(3))
    mode = data.draw(st.sampled_from(("write", "add", "sub")), "mode")
    a, b, c = numbers((m, k), dtype, 1), numbers((k, n), dtype, 2), numbers((m, n), dtype, 3)
    with emulated(devices=1) as driver:
        out = Placed(c, into, xt.gpu(0))
        xt.assign(out.t, mode, xt.dot(Placed(a, left, xt.gpu(0)).t, Placed(b, right, xt.gpu(0)).t))
        wide = np.result_type(dtype, np.float32)
        product = a.astype(wide) @ b.astype(wide)
        wanted = {"write": product, "add": c.astype(wide) + product, "sub": c.astype(wide) - product}[mode]
        np.testing.assert_array_equal(out.t.numpy(), wanted.astype(dtype))
        out.assert_untouched()
        assert len(driver.products) == 1


def test_a_product_is_in_the_order_of_streams():
    """Run as late as events allow, it still reads what it should; no two operations touch the same bytes in no order."""
    with emulated(lazy=True) as driver:
        gpu, p, q = xt.gpu(0), numbers((6, 5), seed=1), numbers((5, 7), seed=2)
        with xt.Stream(gpu):
            x, more = xt.empty((6, 5), device=gpu), xt.empty((5, 7), device=gpu)
        w, out = of(q, gpu), xt.empty((6, 7), device=gpu)
        for n in range(3):
            xt.copy(x, p + n)
            with xt.Stream(gpu):
                xt.copy(more, q)
            out[...] = xt.dot(x, w)
            out -= xt.dot(x, more)
            out -= xt.dot(x, w)
            np.testing.assert_array_equal(out.numpy(), -(p + n) @ q)
        assert sum(entry[0] == "gemm" for entry in driver.log) == 9


def test_streams_work_in_memory_of_their_own(driver, gpus):
    """Else the driver would name a race."""
    for _ in range(2):
        with xt.Stream(gpus[0]):
            x, w, out = (matrix(shape, gpus[0]) for shape in ((6, 5), (5, 7), (6, 7)))
            out += xt.dot(x, w)
    assert sum(entry == ("gemm", *entry[1:]) for entry in driver.log) == 2


def test_a_product_on_the_second_device(driver, gpus):
    x, w, out, p, q, held = tensors(gpus[1], (6, 5), (5, 7), (6, 7))
    out += xt.dot(x, w)
    np.testing.assert_array_equal(out.numpy(), held + p @ q)
    assert ("gemm", 1, 0) in driver.log
    with pytest.raises(xt.DeviceError, match=r"dot: operands lie on gpu:1 and gpu:0"):
        xt.dot(x, matrix((5, 7), gpus[0]))


def test_with_another_driver_statements_are_made_again():
    p, q = numbers((6, 5), seed=1), numbers((5, 7), seed=2)
    for _ in range(3):
        with emulated() as driver:
            out = xt.zeros((6, 7), device=xt.gpu(0))
            out[...] = xt.maximum(xt.dot(of(p, xt.gpu(0)), of(q, xt.gpu(0))), 0.0)
            np.testing.assert_array_equal(out.numpy(), np.maximum(p @ q, 0))
            assert len(driver.products) == 1


def test_without_compiling_a_new_factor_is_refused_where_it_would_need_a_kernel(gpus):
    x, out = xt.ones((3, 3), xt.float64, gpus[0]), xt.zeros((3, 3), xt.float64, gpus[0])
    with xt.no_compile():
        out -= xt.dot(x, x)
        with pytest.raises(xt.CompileError, match="no_compile"):
            out[...] = (3.0 * xt.dot(x, x)) / 7.0 - out * 5.0


def test_a_refused_product_is_an_error_with_the_words_of_the_driver(driver, gpus, monkeypatch):
    x, out = matrix((4, 4), gpus[0]), matrix((4, 4), gpus[0], 1)

    def refuses(*given):
        raise xt.DeviceError("gpu: cublasGemmEx_64 failed: refused")

    for _ in range(4):
        out[...] = xt.dot(x, x)
    monkeypatch.setattr(driver, "gemm", refuses)
    with pytest.raises(xt.DeviceError, match="cublasGemmEx_64 failed"), xt.options(num_threads=1):
        out[...] = xt.dot(x, x)

    def run_and_wait():
        out[...] = xt.dot(x, x)  # entered from machine code, which cannot raise: whoever waits next does
        gpus[0].synchronize()

    with pytest.raises(xt.DeviceError, match="cublasGemmEx_64 failed"):
        run_and_wait()


@pytest.mark.skipif(os.environ.get("EXPRTEN_CTYPES") == "1", reason="nothing is called directly through ctypes")
def test_repeated_products_are_entered_from_machine_code(driver, gpus):
    """The direct path counts nothing. Factors, sizes and memory are read anew."""
    out, x, w, b, _, p, q, bias = tensors(gpus[0], (6, 7), (6, 5), (5, 7), (7,))

    def step(eta, w):
        out[...] = xt.maximum(xt.dot(x, w) + b, 0.0)
        out.__isub__(eta * xt.dot(x, w))

    for _ in range(4):
        step(0.5, w)
    hits, products = xt.stats().hits, len(driver.products)
    for eta, other in ((0.25, w), (0.0, w), (2.0, of(q + 1, gpus[0]))):
        step(eta, other)
        wanted = p @ other.numpy()
        np.testing.assert_array_equal(out.numpy(), np.maximum(wanted + bias, 0) - eta * wanted)
    assert (xt.stats().hits, len(driver.products)) == (hits, products + 5)


def test_the_same_view_twice_and_then_two(driver, gpus):
    """Operands that were one view of one memory the first time are two the next; also in the fold for a factor of 0."""
    for _ in range(5):
        x, y, p, q = tensors(gpus[0], (4, 6), (4, 6))
        for left, right, a, b in ((x, x, p, p), (x, y, p, q), (y, x, q, p)):
            for eta in (2.0, 0.0):
                out = xt.full((4, 4), np.nan, device=gpus[0])
                out[...] = xt.abs(eta * xt.dot(left, right.T))
                np.testing.assert_array_equal(out.numpy(), np.abs(eta * (a @ b.T)))


def test_a_graph_has_products_and_folds_for_a_factor_of_0(driver, gpus):
    out, x, w, held, p, q = tensors(gpus[0], (6, 7), (6, 5), (5, 7))
    with xt.graph_capture(gpus[0]) as graph:
        out[...] = xt.abs(xt.dot(x, w))
        out.__isub__(0.5 * xt.dot(x, w))
        out.__isub__(0.0 * xt.dot(x, w))
    np.testing.assert_array_equal(out.numpy(), held)
    for n in range(2):
        xt.copy(x, p + n)
        graph.replay()
        np.testing.assert_array_equal(out.numpy(), np.abs((p + n) @ q) - 0.5 * ((p + n) @ q))


def test_the_plan_tells_the_workspace(driver, gpus):
    x = matrix((4, 4), gpus[0])
    assert xt.plan(xt.zeros((4, 4), device=gpus[0]), xt.dot(x, x)).scratch_bytes == driver.workspace(0)


# Without cuBLAS.

MISSING = (
    'cuBLAS is not installed; pip install "exprten[cuda13-blas]", or "exprten[cuda12-blas]" for a driver of CUDA 12'
)


def test_without_cublas_products_are_folds_and_the_plan_says_what_to_install():
    with emulated() as driver:
        driver.missing_gemm = MISSING
        x, w, out, p, q, held = tensors(xt.gpu(0), (6, 5), (5, 7), (6, 7))
        for _ in range(2):
            out -= 0.5 * xt.dot(x, w)
        np.testing.assert_array_equal(out.numpy(), held - p @ q)
        plan = xt.plan(out, 0.5 * xt.dot(x, w), "sub")
        assert (plan.call, driver.products) == ("", []) and plan.ir
        assert f"note: products are folds: {MISSING}" in plan.explain().splitlines()
        a, b, whole, *_ = tensors(xt.gpu(0), (6, 3), (3, 6), (6, 6), dtype=np.int32)
        assert "note" not in xt.plan(whole, xt.dot(a, b)).explain()


def test_our_own_way_to_multiply_is_a_fold(driver, gpus):
    x, w, out, p, q, _ = tensors(gpus[0], (6, 5), (5, 7), (6, 7))
    with xt.options(blas="own"):
        out[...] = xt.dot(x, w)
        assert "note" not in xt.plan(out, xt.dot(x, w)).explain()
    np.testing.assert_array_equal(out.numpy(), p @ q)
    assert driver.products == []


def test_what_is_missing_is_said_with_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(cublas, "import_module", missing)
    assert cublas.library(99) == MISSING


# The emulated cuBLAS refuses what the real one does.

GOOD = Gemm("float32", "float32", "NN", 2, 3, 4, 1.0, 0, 2, 8, 0, 4, 12, 0.0, 0, 2, 6, 2)
BAD = {
    "leading dimension": {"lda": 1},
    "types": {"result": "float64"},
    "share memory": {"ldc": 2, "stride_c": 4},
    "walk backwards": {"stride_b": -12},
    "over the end": {"m": 2, "lda": 200},
    "not on device": {"b": 1 << 12},
    "Misaligned": {"a": 2},
    "nothing to multiply": {"n": 0},
}


@pytest.mark.parametrize("what", BAD)
def test_emulated_cublas_refuses(what):
    driver = EmulatedDriver()
    address, _memory = driver.allocate(0, 1024, 0)
    workspace, _room = driver.allocate(0, driver.workspace(0), 0)
    places = {"a": address, "b": address + 256, "c": address + 512}
    driver.gemm(0, 0, GOOD._replace(**places), workspace, driver.workspace(0))
    changes = BAD[what] if what != "Misaligned" else {"a": address + 2}
    with pytest.raises(AssertionError, match=what):
        driver.gemm(0, 0, GOOD._replace(**(places | changes)), workspace, driver.workspace(0))


# The arguments of the real one. Prototypes are those of cublas_api.h of CUDA 13.

PROTOTYPES = """
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t workspaceSizeInBytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
    const void* alpha, const void* A, cudaDataType Atype, int64_t lda, const void* B, cudaDataType Btype, int64_t ldb, const void* beta,
    void* C, cudaDataType Ctype, int64_t ldc, cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* A, cudaDataType Atype, int64_t lda, long long int strideA, const void* B, cudaDataType Btype,
    int64_t ldb, long long int strideB, const void* beta, void* C, cudaDataType Ctype, int64_t ldc, long long int strideC,
    int64_t batchCount, cublasComputeType_t computeType, cublasGemmAlgo_t algo);
"""


def parameters():
    """By routine, the type of each parameter and its name."""
    found = {}
    for line in " ".join(PROTOTYPES.split()).split(";")[:-1]:
        head, rest = line.strip().rstrip(")").split("(")
        pairs = [(kind.strip(), name) for kind, _, name in (p.strip().rpartition(" ") for p in rest.split(","))]
        found[head.split()[-1]] = pairs
    return found


def of_c(kind):
    if kind == "cublasHandle_t*":
        return ctypes.POINTER(ctypes.c_void_p)
    if kind.endswith("*") or kind in ("cublasHandle_t", "cudaStream_t"):
        return ctypes.c_void_p
    return {"int64_t": ctypes.c_int64, "long long int": ctypes.c_longlong, "size_t": ctypes.c_size_t}.get(
        kind, ctypes.c_int
    )


def test_arguments_have_the_types_of_the_header():
    wanted = {name: [of_c(kind) for kind, _ in rest] for name, rest in parameters().items()}
    assert wanted == ARGUMENTS


class Library:
    """Functions with the signatures of the header, which note what they are given."""

    def __init__(self, status=0):
        self.calls, self._kept, self._words = [], [], ctypes.create_string_buffer(b"refused")
        for name, rest in parameters().items():
            text = name == "cublasGetStatusString"
            kind = ctypes.CFUNCTYPE(ctypes.c_void_p if text else ctypes.c_int, *(of_c(kind) for kind, _ in rest))
            made, result = kind(self._noting(name, rest, status)), ctypes.c_char_p if text else ctypes.c_int
            setattr(self, name, ctypes.cast(made, ctypes.CFUNCTYPE(result, *ARGUMENTS[name])))
            self._kept.append(made)

    def _noting(self, name, rest, status):
        def note(*given):
            if name == "cublasGetStatusString":
                return ctypes.addressof(self._words)
            if name == "cublasCreate_v2":
                given[0][0] = 77
                return 0
            found = dict(zip((n for _, n in rest), given, strict=True))
            kind = ctypes.c_double if found.get("computeType") == 70 else ctypes.c_float
            for factor in {"alpha", "beta"} & {*found}:
                found[factor] = tuple((kind * 2).from_address(found[factor]))
            self.calls.append((name, found))
            return status if "Gemm" in name else 0

        return note


def test_one_product_is_gemm_ex_with_everything_in_its_place():
    library = Library()
    handle = Cublas(library)
    handle.gemm(Gemm("float16", "float32", "NT", 2, 3, 4, 0.5, 100, 5, 0, 200, 6, 0, 2.0, 300, 7, 0, 1), 11, 4096, 512)
    handle.gemm(
        Gemm("complex128", "complex128", "TN", 2, 3, 4, -1.0, 100, 5, 9, 200, 6, 8, 0.0, 300, 7, 10, 12), 11, 4096, 512
    )
    handle.gemm(Gemm("float64", "float64", "NN", 2, 3, 4, 1.0, 100, 5, 0, 200, 6, 0, 0.0, 300, 7, 0, 1), 12, 8192, 512)
    names = [name for name, _ in library.calls]
    ready = ["cublasSetStream_v2", "cublasSetWorkspace_v2"]
    assert names == [
        "cublasSetMathMode", *ready, "cublasGemmEx_64", "cublasGemmStridedBatchedEx_64", *ready, "cublasGemmEx_64",
    ]  # fmt: skip
    assert library.calls[0][1] == {"handle": 77, "mode": 16}
    assert library.calls[1][1] == {"handle": 77, "streamId": 11}
    assert library.calls[2][1] == {"handle": 77, "workspace": 4096, "workspaceSizeInBytes": 512}
    assert library.calls[3][1] == {
        "handle": 77, "transa": 0, "transb": 1, "m": 2, "n": 3, "k": 4, "alpha": (0.5, 0.0), "A": 100, "Atype": 2, "lda": 5,
        "B": 200, "Btype": 2, "ldb": 6, "beta": (2.0, 0.0), "C": 300, "Ctype": 0, "ldc": 7, "computeType": 68, "algo": -1,
    }  # fmt: skip
    assert library.calls[4][1] == {
        "handle": 77, "transa": 1, "transb": 0, "m": 2, "n": 3, "k": 4, "alpha": (-1.0, 0.0), "A": 100, "Atype": 5, "lda": 5,
        "strideA": 9, "B": 200, "Btype": 5, "ldb": 6, "strideB": 8, "beta": (0.0, 0.0), "C": 300, "Ctype": 5, "ldc": 7, "strideC": 10,
        "batchCount": 12, "computeType": 70, "algo": -1,
    }  # fmt: skip


def test_a_refusal_has_the_words_of_cublas():
    handle = Cublas(Library(status=13))
    with pytest.raises(CublasError, match="cublasGemmEx_64 failed: refused"):
        handle.gemm(GOOD._replace(batch=1), 0, 0, 0)


def test_the_driver_of_cupy_has_a_handle_for_each_device():
    pytest.importorskip("cupy")
    from exprten.gpu.cupy_driver import CupyDriver

    library = Library(status=13)
    here = CupyDriver.__new__(CupyDriver)
    here._devices, here._cublas, here._lock = [contextlib.nullcontext()] * 2, {}, contextlib.nullcontext()
    here.__dict__["_products"] = library
    assert here.without_gemm() == ""
    for device in (0, 1, 1):
        text = rf"^gpu: cublasGemmEx_64 failed: refused, on gpu\({device}\), for Gemm\("
        with pytest.raises(xt.DeviceError, match=text):
            here.gemm(device, 11, GOOD._replace(batch=1), 4096, 512)
    assert [name for name, _ in library.calls].count("cublasSetMathMode") == 2
    here.__dict__["_products"] = MISSING
    assert here.without_gemm() == MISSING


@pytest.mark.parametrize(
    ("arch", "mebibytes"), [("sm_75", 4), ("sm_80", 4), ("sm_90", 32), ("sm_100", 32), ("sm_120", 12)]
)
def test_workspace_is_what_nvidia_recommends(arch, mebibytes):
    assert cublas.workspace(arch) == mebibytes << 20
