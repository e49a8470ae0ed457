"""Statements with products on a GPU: launches of cuBLAS into the target, then those of what is around the products.

What cuBLAS cannot take, or all where it is not installed, is folds.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from exprten_jit.gemm import Calling

from ..expression.expand import expanded, folded
from ..expression.expr import Expr, cast
from ..expression.product import Dot, dot_of
from ..gpu.cublas import Gemm
from ..gpu.driver import Driver, driver
from ..modes import MODES
from ..statement.arrange import Arranged, Signature
from ..statement.launch import Launch, Statement, place, run_at
from .calltext import worth
from .matrices import matrices, on_gpu
from .scaled import Scaled
from .terms import Call, Called, Prepare, Prepared, Term, Then, called_terms, calls_of, divided, nbytes_of

_STEPS = tuple[
    int, int, int, int
]  # an axis of a batch: its extent, and elements from one matrix of target, a and b to the next


@dataclass(frozen=True)
class Multiplied:
    """A term, where its operands stand among targets and leaves, and its batch: one axis that cuBLAS walks, and others."""

    term: Term
    operands: tuple[int, int]
    strided: _STEPS
    others: tuple[_STEPS, ...]

    @property
    def launches(self) -> int:
        """How often cuBLAS is called."""
        count = 1
        for extent, *_ in self.others:
            count *= extent
        return count


@dataclass
class Multiplying(Called):
    """Products by cuBLAS, then a kernel: where its views and its scalars are among those of the whole statement."""

    products: tuple[Multiplied, ...] = ()
    views: tuple[int, ...] = ()
    own: tuple[int, ...] = ()
    made_for: Driver = field(default_factory=driver)
    prepare: Prepare | None = None

    direct = False

    @property
    def current(self) -> bool:
        """Whether the driver that it was made for is still in force."""
        return self.made_for is driver()

    def enter(self, s: Statement) -> None:
        """Launch all of it on the target's stream."""
        device = s.target.device.index
        nbytes = driver().workspace(device)
        for product in self.products:
            factors = _factors(product.term, s.found.scalars)
            if _looks_away(product.term, *factors):
                statement, launch = _as_fold(s, product.term, factors, self.prepare)
                launch.enter(statement)
                continue
            with place(s.buffers, nbytes) as queue:
                for gemm in _gemms(product, factors, s.addresses):
                    driver().gemm(device, queue.words.stream, gemm, queue.words.scratch, nbytes)
        if self.then is not None:
            at, scalars = s.addresses, s.found.scalars
            run_at(self.then, [at[n] for n in self.views], [scalars[n] for n in self.own], s.buffers)


@dataclass
class Folded(Called):
    """Products as folds of one kernel, `then`."""

    prepare: Prepare | None = None

    direct = False

    @property
    def current(self) -> bool:
        """Whether the driver that it was made for is still in force."""
        assert self.then is not None, "made with it"
        return self.then.current

    def enter(self, s: Statement) -> None:
        """Launch it."""
        statement, launch = _folds(s, self.prepare)
        launch.enter(statement)


def launched(s: Statement, prepare: Prepare) -> Called:
    """The launch of a statement with products on a GPU. `prepare` does what an assignment does with the statement that is left.
    Raises AliasError where the target shares memory with an operand of a product that could be called, here or on the CPU.
    """
    calls = None if s.options.blas == "own" or driver().without_gemm() else calls_of(s, on_gpu)
    found = None if calls is None else divided(s, calls, prepare)
    if calls is not None and found is not None:
        return _multiplying(s, calls, *found, prepare)
    likewise = calls_of(s, partial(matrices, wanted="own"))
    if likewise is not None:
        divided(s, likewise, prepare)
    statement, launch = _folds(s, prepare)
    missing = driver().without_gemm() if s.options.blas != "own" and calls_of(s, on_gpu) else ""
    note = f"products are folds: {missing}" if missing else ""
    return Folded(**_launch(s), then=launch, nbytes=nbytes_of(statement), prepare=prepare, note=note)


def _folds(s: Statement, prepare: Prepare | None) -> Prepared:
    assert isinstance(s.value, Expr) and prepare is not None, "a product is an expression"
    found = prepare(s.mode, s.target, expanded(s.value)[0])
    assert found is not None, "a target with elements is stored to"
    return found


def _launch(s: Statement) -> dict[str, Any]:
    """What every launch has: there is no machine code, no argument and no size."""
    signature = Signature(
        s.mode.op, None, len(s.targets), s.types, tuple(s.found.structure), (), (), indexed=True, reverse=False, options=s.options,
        device=s.target.device.kind,
    )  # fmt: skip
    nothing = struct.Struct("")
    return {
        "code": Calling("", 0),
        "arranged": Arranged(signature, (), (), ()),
        "pointers": nothing,
        "sizes": b"",
        "scalars": nothing,
        "first": (),
        "release": False,
        "threads": 1,
        "recompute": 1.0,
    }


def _multiplying(
    s: Statement, calls: Sequence[Call], factors: Scaled, then: Then | None, prepare: Prepare
) -> Multiplying:
    place = {id(view): n for n, view in reversed([*enumerate((*s.targets, *s.found.leaves))])}
    products = []
    for term in called_terms(calls, factors):
        a, b = (place[id(x)] for x in calls[term.number].operands)
        products.append(Multiplied(term, (a, b), *_batch(term)))
        if _at_run_time(term):
            _load(_as_fold(s, term, (0.0, 0.0), prepare)[1])
    made = Multiplying(**_launch(s), terms=tuple(p.term for p in products), products=tuple(products), prepare=prepare)
    if then is not None:
        made.views = tuple(place[id(view)] for view in (*then.statement.targets, *then.statement.found.leaves))
        made.then, made.nbytes, made.own = then.launch, nbytes_of(then.statement), tuple(then.scalars)
        made.recompute = then.launch.recompute
    return made


def _load(launch: Launch) -> None:
    """Have a kernel that another number would ask for."""
    assert launch.grids is not None, "a kernel on a GPU"
    launch.grids.load()


# Batches.


def _batch(term: Term) -> tuple[_STEPS, tuple[_STEPS, ...]]:
    """The axes of a batch in elements, those merged that all three walk as one; the longest that cuBLAS can walk, and the others."""
    types = term.matrices.types
    sizes = (types.c.itemsize, types.a.itemsize, types.b.itemsize)
    axes: list[_STEPS] = []
    for extent, *steps in term.matrices.batch:
        c, a, b = (step // size for step, size in zip(steps, sizes, strict=True))
        runs_on = axes and axes[-1][1:] == (extent * c, extent * a, extent * b)
        axes.append((extent * axes.pop()[0] if runs_on else extent, c, a, b))
    walked = max((axis for axis in axes if min(axis[1:]) >= 0), default=(1, 0, 0, 0))
    if walked in axes:
        axes.remove(walked)
    return walked, tuple(axes)


def _offsets(axes: Sequence[_STEPS]) -> Iterator[tuple[int, int, int]]:
    """Elements to each matrix of target, a and b."""
    if not axes:
        yield 0, 0, 0
        return
    (extent, *steps), *rest = axes
    for i in range(extent):
        for c, a, b in _offsets(rest):
            yield c + i * steps[0], a + i * steps[1], b + i * steps[2]


def _gemms(p: Multiplied, factors: tuple[float, float], addresses: Sequence[int]) -> Iterator[Gemm]:
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


# Factors.


def _factors(term: Term, scalars: Sequence[Any]) -> tuple[float, float]:
    """alpha and beta, as precise as cuBLAS takes them."""
    exact = worth(term.alpha, scalars), 0.0 if term.beta is None else worth(term.beta, scalars)
    if term.matrices.types.c.real.name == "float64":
        return exact
    alpha, beta = (ctypes.c_float(x).value for x in exact)
    return alpha, beta


def _at_run_time(term: Term) -> bool:
    """Whether a factor is known only when the product is launched."""
    return any(n is not None for _, n in (*term.alpha, *(term.beta or ())))


def _looks_away(term: Term, alpha: float, beta: float) -> bool:
    """Whether BLAS would not look at all elements, because a factor is 0; here 0 * NaN is NaN."""
    return alpha == 0 or (term.beta is not None and beta == 0)


def _as_fold(s: Statement, term: Term, factors: tuple[float, float], prepare: Prepare | None) -> Prepared:
    """A product with its factors as a fold, rounded once as cuBLAS does it."""
    dot = s.found.dots[term.number]
    assert isinstance(dot, Dot) and prepare is not None, "found as one"
    inner = dot.key.dtype.computed.numpy
    a, b = (cast(x, inner) for x in dot.operands)
    value: Any = folded(dot_of(a, b, "dot"), {}) * factors[0]
    if term.beta is not None:
        value = value + cast(s.target, inner) * factors[1]
    found = prepare(MODES["write"], s.target, cast(value, dot.key.dtype.numpy))
    assert found is not None, "a target with elements is stored to"
    return found
