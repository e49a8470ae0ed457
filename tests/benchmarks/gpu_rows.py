"""The statements of the GPU benchmark: for everything that writes like NumPy, as values for JAX, as C text for CuPy's ElementwiseKernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

ETA, LAM, MU, B1, B2, EPS = 1e-4, 1e-2, 0.9, 0.9, 0.999, 1e-8
COLUMNS = 1024  # of rows that are folded
Arrays = Mapping[str, np.ndarray]


# In place, for libraries whose arrays can be written to; `lib` has their functions.


def sgd(lib, w, g):
    w -= ETA * (g + LAM * w)


def momentum(lib, w, g, m):
    m[...] = MU * m + (g + LAM * w)
    w -= ETA * m


def adam(lib, w, g, m, v):
    m[...] = B1 * m + (1 - B1) * g
    v[...] = B2 * v + (1 - B2) * (g * g)
    w -= ETA * m / (lib.sqrt(v) + EPS)


def sigmoid(lib, out, x):
    out[...] = lib.sigmoid(2.0 * x) + 1.0


def gelu(lib, out, x):
    out[...] = 0.5 * x * (1.0 + lib.erf(x * math.sqrt(0.5)))


def softmax(lib, out, x):
    e = lib.exp(x - lib.rowmax(x))
    out[...] = e / lib.rowsum(e)


def rowsum(lib, out, x):
    out[...] = lib.rowsum(x)


def total(lib, out, x):
    out[...] = lib.total(x)


# As values: what the arrays that change become, in the order of `changes`.


def sgd_values(lib, w, g):
    return (w - ETA * (g + LAM * w),)


def momentum_values(lib, w, g, m):
    m = MU * m + (g + LAM * w)
    return w - ETA * m, m


def adam_values(lib, w, g, m, v):
    m = B1 * m + (1 - B1) * g
    v = B2 * v + (1 - B2) * (g * g)
    return w - ETA * m / (lib.sqrt(v) + EPS), m, v


def sigmoid_values(lib, out, x):
    return (lib.sigmoid(2.0 * x) + 1.0,)


def gelu_values(lib, out, x):
    return (0.5 * x * (1.0 + lib.erf(x * math.sqrt(0.5))),)


def softmax_values(lib, out, x):
    e = lib.exp(x - lib.rowmax(x))
    return (e / lib.rowsum(e),)


def rowsum_values(lib, out, x):
    return (lib.rowsum(x),)


def total_values(lib, out, x):
    return (lib.total(x),)


# As C text: inputs, outputs, body. What is read and written is an output that is passed as an input too.
ELEMENTWISE = {
    "sgd": ("T g, T w0", "T w", f"w = w0 - T({ETA}) * (g + T({LAM}) * w0)", ("g", "w"), ("w",)),
    "momentum": (
        "T g, T w0, T m0", "T w, T m", f"T n = T({MU}) * m0 + (g + T({LAM}) * w0); m = n; w = w0 - T({ETA}) * n", ("g", "w", "m"), ("w", "m"),
    ),
    "adam": (
        "T g, T w0, T m0, T v0", "T w, T m, T v",
        f"T n = T({B1}) * m0 + T({1 - B1}) * g; T u = T({B2}) * v0 + T({1 - B2}) * (g * g); m = n; v = u; w = w0 - T({ETA}) * n / (sqrt(u) + T({EPS}))",
        ("g", "w", "m", "v"), ("w", "m", "v"),
    ),
    "sigmoid": ("T x", "T out", "out = T(1) / (T(1) + exp(T(-2) * x)) + T(1)", ("x",), ("out",)),
    "gelu": ("T x", "T out", f"out = T(0.5) * x * (T(1) + erf(x * T({math.sqrt(0.5)})))", ("x",), ("out",)),
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A statement: its arrays (`n` elements each, or one a row, or one in all), those that it changes, and how many times the bytes of
    `n` elements it moves.
    """

    name: str
    step: Callable[..., None]
    values: Callable[..., tuple[Any, ...]]
    names: tuple[str, ...]
    changes: tuple[str, ...]
    moves: int
    out: str = "n"

    def make(self, n: int) -> dict[str, np.ndarray]:
        """Arrays of `n` elements, the same in every call; of squares that is what none is below 0."""
        rng = np.random.default_rng(0)
        rows = n // COLUMNS
        shapes = {"n": (rows, COLUMNS), "rows": (rows, 1), "one": (1, 1)}
        arrays = {name: rng.random(shapes[self.out if name == "out" else "n"], np.float32) for name in self.names}
        return {name: a if name == "v" else 2 * a - 1 for name, a in arrays.items()}

    def expected(self, arrays: Arrays) -> dict[str, np.ndarray]:
        """What NumPy makes of the arrays that change, in float64."""
        wide = {name: a.astype(np.float64) for name, a in arrays.items()}
        found = self.values(NumPy, *(wide[name] for name in self.names))
        return {name: np.broadcast_to(x, wide[name].shape) for name, x in zip(self.changes, found, strict=True)}


class NumPy:
    """Functions by the names that rows use."""

    exp, sqrt = np.exp, np.sqrt

    @staticmethod
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    @staticmethod
    def erf(x):
        return np.vectorize(math.erf, otypes=[np.float64])(x)

    @staticmethod
    def rowmax(x):
        return x.max(1, keepdims=True)

    @staticmethod
    def rowsum(x):
        return x.sum(1, keepdims=True)

    @staticmethod
    def total(x):
        return x.sum(keepdims=True)


ROWS = (
    Row("sgd", sgd, sgd_values, ("w", "g"), ("w",), 3),
    Row("momentum", momentum, momentum_values, ("w", "g", "m"), ("w", "m"), 5),
    Row("adam", adam, adam_values, ("w", "g", "m", "v"), ("w", "m", "v"), 7),
    Row("sigmoid", sigmoid, sigmoid_values, ("out", "x"), ("out",), 2),
    Row("gelu", gelu, gelu_values, ("out", "x"), ("out",), 2),
    Row("softmax", softmax, softmax_values, ("out", "x"), ("out",), 2),
    Row("rowsum", rowsum, rowsum_values, ("out", "x"), ("out",), 1, "rows"),
    Row("sum", total, total_values, ("out", "x"), ("out",), 1, "one"),
)
