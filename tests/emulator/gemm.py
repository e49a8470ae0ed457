"""cuBLAS's product on memory of the host: what the library checks, or trusts its caller with, and NumPy's result."""

import ctypes
from typing import NamedTuple

import numpy as np
from exprten_jit.dtypes import DTYPES

WORKSPACE = 4 << 20


class Span(NamedTuple):
    """Rows of bytes that an operation touches."""

    start: int
    pitch: int
    width: int
    height: int

    def touches(self, other):
        if self.start + self._reach() <= other.start or other.start + other._reach() <= self.start:
            return False
        return bool({*self._bytes()} & {*other._bytes()}) if self._gaps() or other._gaps() else True

    def _reach(self):
        return (self.height - 1) * self.pitch + self.width

    def _gaps(self):
        return self.height > 1 and self.pitch != self.width

    def _bytes(self):
        return (self.start + row * self.pitch + k for row in range(self.height) for k in range(self.width))


class Matrix(NamedTuple):
    """A matrix of a batch as it lies: columns of `rows` elements, `leading` apart."""

    name: str
    dtype: np.dtype
    address: int
    rows: int
    columns: int
    leading: int
    stride: int
    batch: int

    @property
    def spans(self):
        """The bytes of each of the batch."""
        size = self.dtype.itemsize
        count = self.batch if self.stride else 1
        return [
            Span(self.address + n * self.stride * size, self.leading * size, self.rows * size, self.columns)
            for n in range(count)
        ]

    @property
    def elements(self):
        """(batch, rows, columns), on its memory."""
        size, last = self.dtype.itemsize, self.spans[-1]
        reach = last.start + last._reach() - self.address
        memory = (ctypes.c_char * reach).from_address(self.address)
        strides = (self.stride * size, size, self.leading * size)
        return np.ndarray((self.batch, self.rows, self.columns), self.dtype, memory, strides=strides)


def matrices(g):
    """a, b and c of a product. Raises AssertionError for what cuBLAS refuses, and for what it would do something undefined with."""
    assert set(g.flags) <= {*"NT"} and len(g.flags) == 2, "CUBLAS_STATUS_INVALID_VALUE: an operation"
    assert min(g.m, g.n, g.k, g.batch) > 0, "nothing to multiply is not launched"
    row, result = DTYPES[g.operands], DTYPES[g.result]
    assert row.kind in "fc" and result in (row, row.computed), "CUBLAS_STATUS_NOT_SUPPORTED: types"
    shapes = [(x, y) if flag == "N" else (y, x) for flag, x, y in zip(g.flags, (g.m, g.k), (g.k, g.n), strict=True)]
    a = Matrix("a", row.numpy, g.a, *shapes[0], g.lda, g.stride_a, g.batch)
    b = Matrix("b", row.numpy, g.b, *shapes[1], g.ldb, g.stride_b, g.batch)
    c = Matrix("c", result.numpy, g.c, g.m, g.n, g.ldc, g.stride_c, g.batch)
    for x in (a, b, c):
        assert x.leading >= max(1, x.rows), f"CUBLAS_STATUS_INVALID_VALUE: the leading dimension of {x}"
        assert x.stride >= 0, f"matrices of {x} walk backwards"
        assert x.address % x.dtype.itemsize == 0, f"cudaErrorMisalignedAddress: {x}"
    places = (
        np.arange(c.batch)[:, None, None] * c.stride + np.arange(c.rows)[:, None] + np.arange(c.columns) * c.leading
    ).ravel()
    assert len(np.unique(places)) == places.size, f"elements of {c} share memory"
    assert not any(x.touches(y) for x in c.spans for y in (*a.spans, *b.spans)), (
        "the result shares memory with an operand"
    )
    return a, b, c


def multiply(g):
    """Do it, as cuBLAS does: narrow types in float32, rounded once; with a factor of 0 nothing is looked at."""
    a, b, c = (x.elements for x in matrices(g))
    left, right = (np.swapaxes(x, 1, 2) if flag == "T" else x for x, flag in zip((a, b), g.flags, strict=True))
    inner = DTYPES[g.operands].computed.numpy
    with np.errstate(all="ignore"):
        alpha, beta = (inner.type(x) for x in (g.alpha, g.beta))
        total = np.zeros(c.shape, inner)
        if g.alpha:
            total = alpha * np.matmul(left.astype(inner), right.astype(inner))
        if g.beta:
            total = total + beta * c.astype(inner)
        c[...] = total.astype(c.dtype)
