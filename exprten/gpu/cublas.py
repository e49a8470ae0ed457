"""cuBLAS through its C interface: products of matrices by columns, as BLAS has them, of all its element types.

The library is found when the first product is launched, and called through ctypes: NVIDIA keeps the names and the order of
arguments, and documents them.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_void_p
from importlib import import_module
from typing import Any, NamedTuple

from exprten_jit.locks import lock

INSTALL = 'pip install "exprten[cuda13-blas]", or "exprten[cuda12-blas]" for a driver of CUDA 12'
WORKSPACE = {9: 32 << 20, 10: 32 << 20, 12: 12 << 20}  # bytes that NVIDIA recommends, by the chip's generation
LEAST_WORKSPACE = 4 << 20  # of every other


class Gemm(NamedTuple):
    """c = alpha * op(a) @ op(b) + beta * c, for `batch` matrices that lie `stride` elements apart. op(a) is (m, k), op(b) (k, n);
    `flags` has N or T for each. A matrix is stored by columns, which are its leading dimension apart. `beta` 0: c is not read.
    """

    operands: str  # element types
    result: str
    flags: str
    m: int
    n: int
    k: int
    alpha: float
    a: int
    lda: int
    stride_a: int
    b: int
    ldb: int
    stride_b: int
    beta: float
    c: int
    ldc: int
    stride_c: int
    batch: int


class CublasError(RuntimeError):
    """cuBLAS refuses something."""


class _Type(NamedTuple):
    """A result's type: its cudaDataType, the cublasComputeType_t that it is computed in, and what the factors are made of."""

    data: int
    compute: int
    factor: Any


# Names of the types are our own; numbers are those of library_types.h and cublas_api.h.
_FLOAT, _DOUBLE = 68, 70  # CUBLAS_COMPUTE_32F and _64F: never TF32, which is a type of its own
_TYPES = {
    "float16": _Type(2, _FLOAT, ctypes.c_float),
    "bfloat16": _Type(14, _FLOAT, ctypes.c_float),
    "float32": _Type(0, _FLOAT, ctypes.c_float),
    "float64": _Type(1, _DOUBLE, ctypes.c_double),
    "complex64": _Type(4, _FLOAT, ctypes.c_float),
    "complex128": _Type(5, _DOUBLE, ctypes.c_double),
}
_OPERATIONS = {"N": 0, "T": 1}
_BEST = -1  # CUBLAS_GEMM_DEFAULT: it chooses
_MATH = 16  # CUBLAS_DEFAULT_MATH, and partial sums of narrow types stay float32: they are rounded once

_SIZES = [c_void_p, c_int, c_int, c_int64, c_int64, c_int64, c_void_p]
ARGUMENTS: dict[str, list[Any]] = {
    "cublasCreate_v2": [POINTER(c_void_p)],
    "cublasSetStream_v2": [c_void_p, c_void_p],
    "cublasSetWorkspace_v2": [c_void_p, c_void_p, c_size_t],
    "cublasSetMathMode": [c_void_p, c_int],
    "cublasGetStatusString": [c_int],
    "cublasGemmEx_64": [
        *_SIZES, c_void_p, c_int, c_int64, c_void_p, c_int, c_int64, c_void_p, c_void_p, c_int, c_int64, c_int, c_int,
    ],
    "cublasGemmStridedBatchedEx_64": [
        *_SIZES, c_void_p, c_int, c_int64, c_int64, c_void_p, c_int, c_int64, c_int64,
        c_void_p, c_void_p, c_int, c_int64, c_int64, c_int64, c_int, c_int,
    ],
}  # fmt: skip


def arguments(g: Gemm) -> tuple[str, tuple[Any, ...]]:
    """The routine of a product, and its arguments behind the handle. Factors are complex where matrices are, with an imaginary part 0."""
    operand, row = _TYPES[g.operands].data, _TYPES[g.result]
    alpha, beta = ((row.factor * 2)(x, 0.0) for x in (g.alpha, g.beta))
    sizes = (*(_OPERATIONS[flag] for flag in g.flags), g.m, g.n, g.k, alpha)
    if g.batch == 1:
        a, b, c = (g.a, operand, g.lda), (g.b, operand, g.ldb), (g.c, row.data, g.ldc)
        return "cublasGemmEx_64", (*sizes, *a, *b, beta, *c, row.compute, _BEST)
    rest = (
        *(g.a, operand, g.lda, g.stride_a),
        *(g.b, operand, g.ldb, g.stride_b),
        beta,
        *(g.c, row.data, g.ldc, g.stride_c, g.batch),
    )
    return "cublasGemmStridedBatchedEx_64", (*sizes, *rest, row.compute, _BEST)


def workspace(arch: str) -> int:
    """Bytes of workspace for a chip: `sm_90`."""
    return WORKSPACE.get(int(arch.removeprefix("sm_")) // 10, LEAST_WORKSPACE)


def library(major: int) -> ctypes.PyDLL | str:
    """cuBLAS of a major version of CUDA, or why there is none."""
    try:
        pathfinder: Any = import_module("cuda.pathfinder")  # untyped; CuPy asks for it
        path = pathfinder.load_nvidia_dynamic_lib("cublas").abs_path
    except (ImportError, RuntimeError):  # RuntimeError: all of its own
        path = None
    found = _opened(path or f"libcublas.so.{major}")
    return f"cuBLAS is not installed; {INSTALL}" if path is None and isinstance(found, str) else found


def _opened(path: str) -> ctypes.PyDLL | str:
    try:
        # PyDLL: between a product's launches comes none of another thread, for they share scratch memory
        opened = ctypes.PyDLL(path)
        for name, types in ARGUMENTS.items():
            getattr(opened, name).argtypes = types
    except (OSError, AttributeError) as error:  # AttributeError: of CUDA 11
        return f"cuBLAS at {path} cannot be used: {error}; {INSTALL}"
    opened.cublasGetStatusString.restype = c_char_p
    return opened


class Cublas:
    """cuBLAS on the device that is current when it is made, and whenever it is called. One thread at a time is in it."""

    def __init__(self, functions: ctypes.PyDLL) -> None:
        self._functions = functions
        self._lock = lock()
        self._handle = c_void_p()
        self._given: tuple[int, int, int] | None = None  # stream and workspace that it has
        self._call("cublasCreate_v2", ctypes.byref(self._handle))
        self._call("cublasSetMathMode", self._handle, _MATH)

    def gemm(self, g: Gemm, stream: int, workspace: int, nbytes: int) -> None:
        """Launch a product on a stream, with memory to work in that nothing else on the device uses meanwhile. Raises CublasError."""
        name, rest = arguments(g)
        given = (stream, workspace, nbytes)
        with self._lock:
            if given != self._given:
                self._given = None
                self._call("cublasSetStream_v2", self._handle, stream)  # which takes the workspace away
                self._call("cublasSetWorkspace_v2", self._handle, workspace, nbytes)
                self._given = given
            self._call(name, self._handle, *rest)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._functions, name)(*arguments)
        if status:
            raise CublasError(f"{name} failed: {self._functions.cublasGetStatusString(status).decode()}")
