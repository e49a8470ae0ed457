"""Ugly data that all tests draw from: special values of every type, and every way an array can lie in memory.

`place` puts values under a layout into memory full of canaries, so that a test sees each byte that an assignment must not touch.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from exprten_jit.machine import Machine

try:
    import ml_dtypes
except ImportError:
    BFLOAT16 = None
else:
    BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

CORE = tuple(np.dtype(name) for name in ("bool", "uint8", "int32", "int64", "float32", "float64"))
OTHERS = tuple(np.dtype(name) for name in ("int8", "int16", "uint16", "uint32", "uint64"))
DTYPES = CORE + OTHERS
HALVES = (np.dtype("float16"), *([BFLOAT16] if BFLOAT16 else []))  # not in the products of types: tests/test_half.py
# processors whose registers are smaller than a line, and not: who chooses a kernel asks which it is
SMALL, WIDE = (Machine(bits, frozenset((8, 16, 32, 64))) for bits in (256, 512))
MARGIN = 80  # elements on both sides: more than a group of unrolled vectors could overrun
CANARY = 0xA5


def floating(dtype: np.dtype) -> bool:
    """Whether a type is one of floats; NumPy calls one of somebody else's void."""
    return dtype.kind == "f" or dtype in HALVES


def _floats(dtype: np.dtype) -> list[Any]:
    info = (np if dtype.kind == "f" else ml_dtypes).finfo(dtype)
    eps = 1 + float(info.eps)
    whole = [0.0, 1.0, 2.0, 3.0, 7.0, 0.5, 1.5, 2.5, 0.1, eps, 1e-30, 1e30]
    edges = [float(info.tiny), float(info.smallest_subnormal), 7 * float(info.smallest_subnormal), float(info.max)]
    return [sign * x for x in (*whole, *edges, np.inf, np.nan) for sign in (1, -1)]


def _integers(dtype: np.dtype) -> list[int]:
    info = np.iinfo(dtype)
    near = [0, 1, 2, 3, 7, 8, 31, 63, 64, 100]
    signed = [-n for n in near] if info.min else []
    return sorted({*near, *signed, info.min, info.min + 1, info.max, info.max - 1, info.max // 2, info.max // 3})


def combinations(count: int) -> list[tuple[np.dtype, ...]]:
    """Types for `count` operands: every combination of the core, and of the others each with itself, its neighbour and some of the core."""
    found = list(itertools.product(CORE, repeat=count))
    for k, d in enumerate(OTHERS):
        found.append((d,) * count)
        if count > 1:
            found += [(*(d,) * (count - 1), OTHERS[k - 1]), (CORE[k + 1], *(d,) * (count - 1))]
    return list(dict.fromkeys(found))


with np.errstate(over="ignore"):  # 1e30 is infinite in float16
    SPECIAL: dict[np.dtype, np.ndarray] = {
        dtype: np.array(
            [False, True] if dtype.kind == "b" else _floats(dtype) if floating(dtype) else _integers(dtype), dtype
        )
        for dtype in DTYPES + HALVES
    }


def ordinary(dtype: np.dtype, size: int, rng: np.random.Generator) -> np.ndarray:
    """Values that a program has: small numbers of both signs."""
    if floating(dtype):
        return (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)).astype(dtype)
    return rng.integers(0 if dtype.kind in "bu" else -50, 2 if dtype.kind == "b" else 51, size).astype(dtype)


def values(dtype: Any, shape: Sequence[int], seed: int = 0) -> np.ndarray:
    """Special values among ordinary ones, in an order that the seed decides."""
    dtype, size = np.dtype(dtype), prod(shape)
    rng = np.random.default_rng(seed)
    found = ordinary(dtype, size, rng)
    strange = rng.random(size) < 0.5
    return np.where(strange, rng.choice(SPECIAL[dtype], size), found).astype(dtype).reshape(tuple(shape))


def pairs(*dtypes: np.dtype) -> list[np.ndarray]:
    """An operand of each type, such that every special value meets every special value of the others."""
    grids = np.meshgrid(*(np.arange(len(SPECIAL[d])) for d in dtypes), indexing="ij")
    return [SPECIAL[d][grid.ravel()] for d, grid in zip(dtypes, grids, strict=True)]


# Layouts: shape -> (strides in elements, first element, elements of memory); both strides and memory of the array alone.

Lie = tuple[tuple[int, ...], int, int]


def _packed(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(max(n, 1) for n in shape[k + 1 :]) for k in range(len(shape)))


def _span(shape: Sequence[int], strides: Sequence[int]) -> Lie:
    """Strides with the first element where the lowest address is 0."""
    reach = [(max(n, 1) - 1) * s for n, s in zip(shape, strides, strict=True)]
    low = sum(r for r in reach if r < 0)
    return tuple(strides), -low, sum(map(abs, reach)) + 1


def _stepped(step: int) -> Callable[[Sequence[int]], Lie]:
    return lambda shape: _span(shape, [step * s for s in _packed(shape)])


def _turned(shape: Sequence[int]) -> Lie:
    """The first axis walks downwards, the others up."""
    return _span(shape, [-s if k == 0 else s for k, s in enumerate(_packed(shape))])


def _mirrored(shape: Sequence[int]) -> Lie:
    """The last axis walks downwards, the others up."""
    return _span(shape, [-s if k == len(shape) - 1 else s for k, s in enumerate(_packed(shape))])


def _transposed(shape: Sequence[int]) -> Lie:
    return _span(shape, _packed(tuple(shape)[::-1])[::-1])


def _padded(shape: Sequence[int]) -> Lie:
    """Five more elements behind every row."""
    return _span(shape, _packed((*shape[:-1], shape[-1] + 5)) if shape else ())


def _offset(shape: Sequence[int]) -> Lie:
    """Packed, at an address that no vector is aligned to."""
    strides, first, size = _span(shape, _packed(shape))
    return strides, first + 3, size + 3


def _repeated_rows(shape: Sequence[int]) -> Lie:
    return _span(shape, [0 if k == 0 else s for k, s in enumerate(_packed(shape))])


def _repeated_columns(shape: Sequence[int]) -> Lie:
    return _span(shape, [0 if k == len(shape) - 1 else s for k, s in enumerate(_packed(shape))])


def _repeated(shape: Sequence[int]) -> Lie:
    return _span(shape, [0] * len(shape))


TARGETS: dict[str, Callable[[Sequence[int]], Lie]] = {
    "contiguous": _stepped(1),
    "step2": _stepped(2),
    "step3": _stepped(3),
    "negative": _stepped(-1),
    "negative2": _stepped(-2),
    "turned": _turned,
    "mirrored": _mirrored,
    "transposed": _transposed,
    "padded": _padded,
    "offset": _offset,
}
REPEATED: dict[str, Callable[[Sequence[int]], Lie]] = {
    "repeated rows": _repeated_rows,
    "repeated columns": _repeated_columns,
    "repeated": _repeated,
}
LAYOUTS = TARGETS | REPEATED  # elements of the last three share memory, so they are sources only

SHAPES: tuple[tuple[int, ...], ...] = (
    (), (1,), (3,), (7,), (17,), (31,), (33,), (65,), (1, 1), (3, 17), (65, 1), (1, 33), (7, 9), (2, 3, 7), (3, 1, 5),
    (2, 2, 3, 5), (0,), (0, 3), (4, 0, 2),
)  # fmt: skip


@dataclass(frozen=True)
class Placed:
    """An array in memory of its own: `memory` is all of it, `inside` says which elements are the array's."""

    array: np.ndarray
    memory: np.ndarray
    inside: np.ndarray
    before: np.ndarray

    def assert_untouched(self) -> None:
        """Fail where an element outside of the array has changed."""
        now, then = self.memory.view(np.uint8), self.before.view(np.uint8)
        changed = (now != then).reshape(len(self.memory), -1).any(axis=1) & ~self.inside
        assert not changed.any(), f"elements {np.flatnonzero(changed).tolist()} beside the array were written"

    def assert_unchanged(self) -> None:
        """Fail where any element has changed."""
        assert self.memory.tobytes() == self.before.tobytes(), "memory was written"


def place(elements: np.ndarray, layout: str = "contiguous") -> Placed:
    """A copy of `elements` under a layout. Under one that repeats, `array` shows what is left of them: the first of equals."""
    strides, first, size = LAYOUTS[layout](elements.shape)
    memory = np.frombuffer(bytearray([CANARY]) * ((size + 2 * MARGIN) * elements.itemsize), elements.dtype)
    inside = np.zeros(len(memory), bool)

    def view(of: np.ndarray) -> np.ndarray:
        steps = tuple(s * of.itemsize for s in strides)
        return np.lib.stride_tricks.as_strided(of[MARGIN + first :], elements.shape, steps)

    array = view(memory)
    array[tuple(slice(None, None, -1) for _ in elements.shape)] = elements[
        tuple(slice(None, None, -1) for _ in elements.shape)
    ]
    view(inside)[...] = True
    return Placed(array, memory, inside, memory.copy())


# Comparisons.


def bits(a: np.ndarray) -> np.ndarray:
    """Elements as unsigned integers of the same width; every NaN is one and the same."""
    a = np.array(a, order="C")
    if floating(a.dtype):
        a = np.where(np.isnan(a), a.dtype.type(np.nan), a)
    return a.view(f"u{a.itemsize}")


def assert_same_bits(got: np.ndarray, want: Any, what: str = "", signed_zero: bool = True) -> None:
    """Fail unless type, shape and every bit are equal; all NaNs are equal, and both zeros where `signed_zero` is false."""
    want = np.asarray(want)
    assert got.dtype == want.dtype, f"{what}: type {got.dtype}, not {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    if want.dtype.kind == "c":  # its parts, one by one
        got, want = (np.ascontiguousarray(x).view(x.real.dtype) for x in (got, want))
    wrong = bits(got) != bits(want)
    if not signed_zero:
        wrong &= (got != 0) | (want != 0)
    if wrong.any():
        at = tuple(int(k[0]) for k in np.nonzero(wrong))
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} differ, at {at}: got {got[at]!r}, want {want[at]!r}"
        )


def ulps(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """How many numbers of the type lie between; 0 between NaNs."""
    assert got.dtype == want.dtype, f"type {got.dtype}, not {want.dtype}"

    def rank(x: np.ndarray) -> np.ndarray:
        n = x.view(f"i{x.itemsize}").astype(np.int64)
        low = np.int64(np.iinfo(f"i{x.itemsize}").min)
        return np.where(n < 0, low - n, n)

    a, b = rank(np.ascontiguousarray(got)), rank(np.ascontiguousarray(want))
    apart = np.where(
        (a < 0) == (b < 0), np.abs(a - b).astype(np.float64), np.abs(a.astype(float)) + np.abs(b.astype(float))
    )
    both, either = np.isnan(got) & np.isnan(want), np.isnan(got) | np.isnan(want)
    return np.where(both, 0.0, np.where(either, np.inf, apart))


def assert_within_ulps(got: np.ndarray, want: np.ndarray, most: float, what: str = "") -> None:
    """Fail where more than `most` numbers of the type lie between."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    apart = ulps(got, want)
    if (apart > most).any():
        at = tuple(int(k) for k in np.unravel_index(int(np.argmax(apart)), apart.shape))
        raise AssertionError(f"{what}: {apart[at]:g} ULP apart at {at}: got {got[at]!r}, want {want[at]!r}")


# What exprten means where NumPy's answer depends on the machine or on the order of operands.


def reference_cast(x: Any, dtype: Any) -> np.ndarray:
    """Conversion by the contract: floats to integers truncate, saturate, and NaN becomes 0."""
    a, to = np.asarray(x), np.dtype(dtype)
    if a.dtype.kind != "f" or to.kind not in "iu":
        with np.errstate(all="ignore"):
            return a.astype(to)
    info = np.iinfo(to)
    number = np.where(np.isnan(a), 0, np.trunc(a.astype(np.float64)))
    top = float(info.max)
    inside = np.clip(number, float(info.min), np.nextafter(top, 0) if to.itemsize == 8 else top).astype(to)
    return np.where(number >= top, to.type(info.max), inside).astype(to)


def reference_maximum(a: Any, b: Any) -> np.ndarray:
    """NaN wins, +0 is above -0."""
    x, y = np.asarray(a), np.asarray(b)
    found = np.asarray(np.maximum(a, b))  # of the operands as they are: a Python scalar is weak
    if not floating(found.dtype):
        return found
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), y, x), found).astype(found.dtype)


def reference_minimum(a: Any, b: Any) -> np.ndarray:
    """NaN wins, -0 is below +0."""
    x, y = np.asarray(a), np.asarray(b)
    found = np.asarray(np.minimum(a, b))
    if not floating(found.dtype):
        return found
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x), x, y), found).astype(found.dtype)
