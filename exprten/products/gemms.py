"""The calls of cuBLAS for a product: its batch, its factors, and where its matrices lie."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..gpu.cublas import Gemm
from .calltext import worth
from .terms import Term

Steps = tuple[
    int, int, int, int
]  # an axis of a batch: its extent, and elements from one matrix of target, a and b to the next


@dataclass(frozen=True)
class Multiplied:
    """A term, its operands by number, and its batch: one axis that cuBLAS walks, and others."""

    term: Term
    operands: tuple[int, int]
    strided: Steps
    others: tuple[Steps, ...]

    @property
    def launches(self) -> int:
        """How often cuBLAS is called."""
        return prod(extent for extent, *_ in self.others)


def batch_of(term: Term) -> tuple[Steps, tuple[Steps, ...]]:
    """The axes of a batch in elements, those merged that all three walk as one; the longest that cuBLAS can walk, and the others."""
    types = term.matrices.types
    sizes = (types.c.itemsize, types.a.itemsize, types.b.itemsize)
    axes: list[Steps] = []
    for extent, *steps in term.matrices.batch:
        c, a, b = (step // size for step, size in zip(steps, sizes, strict=True))
        runs_on = axes and axes[-1][1:] == (extent * c, extent * a, extent * b)
        axes.append((extent * axes.pop()[0] if runs_on else extent, c, a, b))
    walked = max((axis for axis in axes if min(axis[1:]) >= 0), default=(1, 0, 0, 0))
    if walked in axes:
        axes.remove(walked)
    return walked, tuple(axes)


def _offsets(axes: Sequence[Steps]) -> Iterator[tuple[int, int, int]]:
    """Elements to each matrix of target, a and b."""
    if not axes:
        yield 0, 0, 0
        return
    (extent, *steps), *rest = axes
    for i in range(extent):
        for c, a, b in _offsets(rest):
            yield c + i * steps[0], a + i * steps[1], b + i * steps[2]


def gemms(p: Multiplied, factors: tuple[float, float], addresses: Sequence[int]) -> Iterator[Gemm]:
    """The calls of a product. Of a target by rows the transposes are multiplied, the other way round."""
    found = p.term.matrices
    assert found.blas is not None, "cuBLAS computes it"
    types, (m, n, k, ld_one, ld_two, ldc) = found.types, found.arguments
    alpha, beta = factors
    batch, *steps = p.strided
    for offsets in _offsets(p.others):
        rows, places = (types.c, types.a, types.b), (0, *p.operands)
        at = [addresses[x] + step * row.itemsize for x, step, row in zip(places, offsets, rows, strict=True)]
        one, two = (2, 1) if found.blas.swapped else (1, 2)
        yield Gemm(
            types.a.name, types.c.name, found.blas.flags, m, n, k, alpha, at[one], ld_one, steps[one], at[two], ld_two, steps[two],
            beta, at[0], ldc, steps[0], batch,
        )  # fmt: skip


def factors_of(term: Term, scalars: Sequence[Any]) -> tuple[float, float]:
    """alpha and beta, as precise as cuBLAS takes them."""
    exact = worth(term.alpha, scalars), 0.0 if term.beta is None else worth(term.beta, scalars)
    if term.matrices.types.c.real.name == "float64":
        return exact
    alpha, beta = (ctypes.c_float(x).value for x in exact)
    return alpha, beta


def at_run_time(term: Term) -> bool:
    """Whether a factor is known only when the product is launched."""
    return any(n is not None for _, n in (*term.alpha, *(term.beta or ())))


def looks_away(term: Term, alpha: float, beta: float) -> bool:
    """Whether BLAS would not look at all elements, because a factor is 0; here 0 * NaN is NaN."""
    return alpha == 0 or (term.beta is not None and beta == 0)
