"""Which way a fold runs: along a row that vectors run along, or across rows, element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from . import extremes  # noqa: F401  # its rows
from .derived import OwnName, apply
from .dtypes import DType
from .ir import Axis, Fold, Load, Value, components, fold
from .kernel import Kernel
from .pairs import joined as pairs_of
from .pairs import numbers, parts
from .reducers import SEVERAL, Reducer, identities, reducer_of
from .rewrite import steps, walk


def folds_of(*roots: Value) -> list[Fold]:
    """Every fold below the roots, inner ones first."""
    return [node for node in walk(*roots) if isinstance(node, Fold)]


def loads(root: Value) -> Iterator[tuple[Load, tuple[Fold, ...]]]:
    """Every load below `root`, once for each row of folds around it."""
    seen = set()
    stack: list[tuple[Value, tuple[Fold, ...]]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        if (node, around) in seen:
            continue
        seen.add((node, around))
        if isinstance(node, Load):
            yield node, around
        inside = (*around, node) if isinstance(node, Fold) else around
        stack.extend((child, inside) for child in node.children)


def folded(reducer: str, axis: Axis, extent: Value, bodies: Sequence[Value]) -> tuple[Value, ...]:
    """The values of a fold. One of complex bodies has two accumulators for each."""
    dtypes = tuple(body.dtype for body in bodies)
    flat = tuple(part for body in bodies for part in parts(body))
    name = reducer if len(flat) == len(bodies) else _of_parts(reducer, dtypes)
    return pairs_of(components(fold(name, axis, extent, flat)), dtypes)


@cache
def _of_parts(name: str, dtypes: tuple[DType, ...]) -> OwnName:
    """A reducer of complex accumulators as one of their parts."""
    row, made = reducer_of(name), OwnName(name)

    def whole(how: Callable[..., tuple[Value, ...]]) -> Callable[[Sequence[Value], Sequence[Value]], tuple[Value, ...]]:
        return lambda a, b: tuple(p for x in how(pairs_of(a, dtypes), pairs_of(b, dtypes)) for p in parts(x))

    start = zip(identities(row, dtypes), dtypes, strict=True)
    identity = tuple(part for number, dtype in start for part in numbers(number, dtype))
    SEVERAL[made] = replace(
        row,
        combine=whole(lambda a, b: _combined(row, a, b)),
        identity=lambda *_: identity,
        exact=lambda _: False,  # of several numbers with a NaN in them the first of the order stays
        quick="",
        after=whole(row.after) if row.after else None,
    )
    return made


def owns_rows(node: Fold) -> bool:
    """Whether a fold reads rows: its axis is one of unit stride. A column of weights beside what depends on more axes does not count."""
    loads = [x for x in walk(*node.bodies) if isinstance(x, Load) and node.axis in x.offset.free]
    largest = [x for x in loads if not any(x.offset.free < other.offset.free for other in loads)]
    return any(steps(x, node.axis) in (1, -1) for x in largest)


def combined(node: Fold, a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
    """Accumulators brought together."""
    return _combined(reducer_of(node.reducer), a, b)


def _combined(row: Reducer, a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
    how = row.combine
    return how(a, b) if callable(how) else (apply(how, *a, *b),)


def joined(node: Fold, a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
    """The same of elements `b` that stand behind all in the accumulators `a`."""
    after = reducer_of(node.reducer).after
    return after(a, b) if after else combined(node, a, b)


def vector_axis(kernel: Kernel) -> Axis | None:
    """The innermost axis, if vectors are to run along it: not where each of its elements is a fold of a row of its own."""
    if not kernel.axes:
        return None
    axis = kernel.axes[-1][0]
    if kernel.short:
        return axis
    found = folds_of(*(store.value for store in kernel.stores))
    return None if any(axis in node.free and (kernel.rows or owns_rows(node)) for node in found) else axis
