"""Drawn statements with folds of every kind, of every type: near NumPy's in float64, and the same bits at every width, for any threads."""

import random
from typing import Any

import numpy as np
import pytest
from strategies import DTYPES, HALVES, assert_same_bits
from test_drawn_folds import laid_out

import exprten as xt

SIDES = (1, 2, 3, 4, 5, 6, 8, 9, 11, 16, 17, 20, 31, 32, 33, 48, 65, 100, 130, 257)
MOST = 6_000  # elements
COMPLEX = (np.dtype("complex64"), np.dtype("complex128"))
POSITIONS, COUNTS = ("argmax", "argmin"), ("any", "all", "count_nonzero")
FOLDS = {
    "i": ("sum", "prod", "max", "min", "mean", *POSITIONS, *COUNTS),
    "f": ("sum", "sum", "max", "min", "mean", "var", "std", "norm", *POSITIONS, *COUNTS),
    "c": ("sum", "sum", "mean", "var", "norm", *COUNTS),
}
CLOSE = {"float32": 3e-4, "complex64": 3e-4, "float64": 1e-9, "complex128": 1e-9}  # a half is as far as its steps are
OPTIONS = ((None, 1), (128, 2), (256, 3), (512, 1))  # bits of a vector, and threads


class NumPys:
    """NumPy, with what it spells otherwise."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def norm(self, x: Any, axis: Any, keepdims: bool) -> Any:
        return np.sqrt(np.sum(np.abs(x) ** 2, axis=axis, keepdims=keepdims))


class Drawn:
    """An expression drawn by a seed, the same of NumPy's arrays and of tensors. `kind`: of integers, floats or complex numbers."""

    def __init__(self, seed: int, module: Any, operands: list[Any], kind: str) -> None:
        self.rng, self.of, self.operands, self.kind = random.Random(seed), module, operands, kind

    def fold(self, e: Any) -> Any:
        name, axes = self.rng.choice(FOLDS[self.kind]), e.ndim
        over = tuple(self.rng.sample(range(axes), self.rng.randint(1, min(axes, 2))))
        found = getattr(self.of, name)(e, axis=over[0] if name in POSITIONS else over, keepdims=True)
        return found * (1 if self.kind == "i" else 0.125) if name in POSITIONS + COUNTS else found

    def mapped(self, e: Any) -> Any:
        if self.kind != "f":
            return e + 1 if self.kind == "i" else e * 0.5
        match self.rng.randrange(4):
            case 0:
                return self.of.exp(-abs(e))
            case 1:
                return self.of.sqrt(abs(e))
            case 2:
                return self.of.where(e > 0, e, e * 0.125)
            case _:
                return -e

    def whole(self, depth: int) -> Any:
        if not depth:
            return self.rng.choice(self.operands)
        e = self.whole(depth - 1)
        match self.rng.randrange(7):
            case 0 | 1:
                return self.fold(e)
            case 2:
                return self.mapped(e)
            case 3:
                return e - self.fold(e)
            case 4 if self.kind != "i":
                return e / (1 + abs(self.fold(self.whole(depth - 1))))
            case 5 if self.kind == "f":
                axis = self.rng.randrange(e.ndim)
                p = self.of.exp(e - self.of.max(e, axis=axis, keepdims=True))
                return p / self.of.sum(p, axis=axis, keepdims=True)
            case _:
                b = self.whole(depth - 1)
                return self.rng.choice((e + b, e - b, e * b * (1 if self.kind == "i" else 0.25)))


def data_of(rng: random.Random, dtype: np.dtype, kind: str) -> list[np.ndarray]:
    """Operands of a shape of some sides."""
    numbers, shape = np.random.default_rng(rng.randrange(1 << 30)), [MOST]
    while np.prod(shape) >= MOST:
        shape = [rng.choice(SIDES) for _ in range(rng.choice((1, 2, 2, 3, 4)))]
    return operands_of(rng, numbers, shape, dtype, kind, 0.3)


def operands_of(
    rng: random.Random, numbers: np.random.Generator, shape: list[int], dtype: np.dtype, kind: str, once: float
) -> list[np.ndarray]:
    """Up to three operands; of all but the first some axes, so many, have one element."""
    found = []
    for n in range(rng.randint(1, 3)):
        x = numbers.standard_normal([1 if n and rng.random() < once else m for m in shape]) * 2
        x = x + 1j * numbers.standard_normal(x.shape) if kind == "c" else abs(2 * x) if dtype.kind == "u" else x
        found.append(x.astype(dtype))
    return found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("seed", range(48))
def test_drawn_statements_of_every_type(seed: int) -> None:
    rng = random.Random(seed)
    dtype = rng.choice((*HALVES, *HALVES, *COMPLEX, *(d for d in DTYPES if d.kind != "b")))  # bool has no minus
    kind = "c" if dtype in COMPLEX else "i" if dtype.kind in "iu" else "f"
    data, depth, draw = data_of(rng, dtype, kind), rng.randint(1, 4), rng.randrange(1 << 30)
    axes, what, first = data[0].ndim, f"{seed}: {dtype}{data[0].shape}", None
    lie = [(rng.sample(range(axes), axes), rng.choice(("packed", "reversed", "every other"))) for _ in data]
    order = rng.sample(range(axes), axes)
    for bits, threads in OPTIONS:
        with xt.options(vector_bits=bits, num_threads=threads, max_recompute=1e9):
            value = Drawn(draw, xt, [laid_out(x, *how) for x, how in zip(data, lie, strict=True)], kind).whole(depth)
            y = xt.transpose(xt.zeros([value.shape[k] for k in order], dtype=value.dtype), tuple(np.argsort(order)))
            y[...] = value
        first = y.numpy().copy() if first is None else first
        assert_same_bits(y.numpy(), first, f"{what}, {bits} bits, {threads} threads")
    wide = {"i": dtype, "f": np.dtype("float64"), "c": np.dtype("complex128")}[kind]
    with np.errstate(all="ignore"):
        want = np.asarray(Drawn(draw, NumPys(), [x.astype(wide) for x in data], kind).whole(depth))
    assert first is not None and first.shape == want.shape, what
    if first.dtype.kind in "iu":
        np.testing.assert_array_equal(first, want.astype(first.dtype), what)
    elif dtype not in HALVES:
        close = CLOSE.get(dtype.name, 3e-4)
        finite = np.isfinite(want) & np.isfinite(first)
        far = close * max(1, abs(want[finite]).max(initial=0))
        np.testing.assert_allclose(first[finite], want[finite], rtol=close, atol=far, err_msg=what)
