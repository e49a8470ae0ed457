"""Statements run by the interpreter, or compared with it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from exprten_jit import Code
from exprten_jit.interpret import arguments_of, evaluate, extents_of, interpret, stored
from exprten_jit.ir import Fold, Size
from exprten_jit.kernel import Kernel
from exprten_jit.rewrite import walk

from ..assign import prepare
from ..errors import MismatchError
from ..expression.expand import expanded
from ..expression.expr import Expr
from ..options import unwatched
from ..products.terms import Called
from ..statement.running import Launch, Statement
from ..storage.buffer import pinned
from .places import Arrays, arrays, give_back

STEPS = 1 << 14  # operations of the interpreter for a statement: some 0.1 s
MOST = 16  # positions that are compared
ROOT = {2: 2.0**-4, 4: 2.0**-11.5, 8: 2.0**-26}  # of the precision of a type with so many bytes
_seeds = itertools.count()


def run_interpreted(s: Statement, launch: Launch) -> None:
    """Do what a statement does without its machine code: everything is read before the first store."""
    with pinned(s.buffers, "assign"):
        kernel, after = _kernel(launch), arrays(s, launch, copied=False)
        interpret(kernel, arrays(s, launch, copied=True), dict(launch.arranged.sizes), _scalars(s, launch), after)
    with unwatched(interpret=False):
        give_back(s, launch, after)


def run_compared(s: Statement, launch: Launch) -> None:
    """Run a statement, then compare what it has stored at some positions with the interpreter's. Raises MismatchError."""
    judged, kernel = (s, launch) if isinstance(launch.code, Code) else _folds(s)
    exact = not s.options.fast_math and not (isinstance(launch, Called) and launch.terms)
    with pinned(s.buffers, "assign"):
        before = arrays(judged, kernel, copied=True)
        launch.enter(s)
        _compare(judged, kernel, before, exact)


def _folds(s: Statement) -> tuple[Statement, Launch]:
    """A statement with products as one with folds, which the interpreter knows."""
    assert isinstance(s.value, Expr), "a product is an expression"
    with unwatched(interpret=True):
        found = prepare(s.mode, s.target, expanded(s.value)[0])
    assert found is not None, "a target with elements is stored to"
    return found


def _kernel(launch: Launch) -> Kernel:
    assert isinstance(launch.code, Code), "the interpreter runs kernels, not calls"
    return launch.code.kernel


def _scalars(s: Statement, launch: Launch) -> dict[str, Any]:
    return dict(zip((p.name for p in _kernel(launch).params), s.found.scalars, strict=True))


def _compare(s: Statement, launch: Launch, before: Arrays, exact: bool) -> None:
    kernel, after = _kernel(launch), arrays(s, launch, copied=False)
    arguments = arguments_of(kernel, dict(launch.arranged.sizes), _scalars(s, launch))
    for part in kernel.parts:
        extents = extents_of(part, arguments)
        for point in _sample(extents, max(1, STEPS // _steps(part, arguments))):
            for leaf, offset, want in stored(part, point, before, arguments):
                array, base = after[leaf.name]
                got = array[base + offset]
                if not (_same(got, want) or (not exact and _near(got, want))):
                    where = dict(zip((axis.name for axis, _ in part.axes), point, strict=True))
                    raise MismatchError(
                        f"check: {s}: {got!r} was stored to {leaf.name} at {where}, the interpreter computes {want!r}; the machine "
                        "code is wrong: xt.options(interpret=True) does without, and the statement is worth a report"
                    )


def _steps(part: Kernel, arguments: Mapping[str, Any]) -> int:
    """Operations of the interpreter for one position, roughly."""
    total = 0
    for store in part.stores:
        nodes = list(walk(store.value))
        extents = [n.extent for n in nodes if isinstance(n, Fold)]
        inside = [int(evaluate(x, {}, {}, arguments)) if isinstance(x, Size) else 8 for x in extents]
        total += len(nodes) * max(1, math.prod(inside))
    return max(1, total)


def _sample(extents: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """The first point, the last, and others, which the next statement has other ones of."""
    size, rng = math.prod(extents), random.Random(next(_seeds))
    chosen = {0, size - 1} | {rng.randrange(size) for _ in range(min(MOST, most))} if size else set()
    for number in sorted(chosen)[: max(1, most)]:
        yield tuple(int(i) for i in np.unravel_index(number, extents)) if extents else ()


def _same(got: Any, want: Any) -> bool:
    """Whether the bits are equal, or both are NaN."""
    return bool(np.isnan(got) and np.isnan(want)) or got.tobytes() == np.asarray(want, got.dtype).tobytes()


def _near(got: Any, want: Any) -> bool:
    """Whether sums in another order, or contracted products, may be the reason for a difference."""
    if got.dtype.kind in "bui":
        return False
    root = ROOT[got.real.dtype.itemsize]
    return bool(np.isclose(got, want, rtol=root, atol=root, equal_nan=True))
