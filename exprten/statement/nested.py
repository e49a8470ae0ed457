"""Folds within folds whose innermost axis has few elements that lie side by side: there are kernels for each number of these."""

from __future__ import annotations

from exprten_jit.reducers import UNROLLED

from ..expression.shape import Layout
from .axes import TARGET, Folded, Place, Same, extent_of, leaves_of
from .orders import below, folded_by, packed_rows

LEAST_ROWS = 10  # that a fold takes: fewer rows of 16 elements are folded faster one by one
Pairs = dict[int, tuple[Place, Place]]  # for a Reduce, the axis of rows, and that of the few elements of each


def rows_within(same: Same) -> Pairs:
    """The Reduces whose innermost axis is folded inside of another fold, and has few elements, all one number."""
    if same.found.params or any(leaf.key.dtype.kind == "c" for leaf in same.found.leaves):
        return {}
    found = {n: pair for n in same.found.folds if (pair := _innermost(same, n)) and _is_packed(same, n, *pair)}
    return found if len({extent_of(same, inner) for _, inner in found.values()}) == 1 else {}


def named(same: Same, pairs: Pairs, over: tuple[Folded, ...]) -> tuple[tuple[str, int], ...]:
    """The extents of these few elements, by name; `over` is what each Reduce folds."""
    names = dict(zip(same.found.folds, (row for _, row in over), strict=True))
    inner = {next(name for name in reversed(names[n]) if name): extent_of(same, p) for n, (_, p) in pairs.items()}
    return tuple(sorted(inner.items()))


def rows_last(axes: list[int], same: Same, target: Layout, pairs: Pairs) -> list[int]:
    """The target's axes with that of rows innermost, after that of their few elements, where both are the target's, and nothing else is
    folded for each of them: such rows are stored as they are read. Else nothing.
    """
    for rows, inner in pairs.values():
        own = [k for place in (inner, rows) for k in axes if same.of((TARGET, k)) == place]
        if len(own) < 2 or any({rows, inner} & {*same.dims(n)} for n in same.found.folds):
            continue
        if packed_rows(same, target, {inner}, rows):
            return [*(k for k in axes if k not in own), *own]
    return []


def _innermost(same: Same, n: int) -> tuple[Place, Place] | None:
    """The axis that a Reduce folds last, of few elements, and that of the fold around it, of more, first."""
    taken = _folded(same, n)
    if len(taken) == 1:
        around = [m for m in same.found.folds if m != n and n in below(same.found, m)]
        taken = [*(p for m in around for p in _folded(same, m)[-1:] if p in same.dims(n)), *taken]
    if len(taken) < 2 or not 2 <= extent_of(same, taken[-1]) <= UNROLLED or extent_of(same, taken[-2]) < LEAST_ROWS:
        return None
    return taken[-2], taken[-1]


def _folded(same: Same, n: int) -> list[Place]:
    """The axes of more than one element that a Reduce folds."""
    return [p for p in folded_by(same, n) if p is not None]


def _is_packed(same: Same, n: int, rows: Place, inner: Place) -> bool:
    """Whether all that a Reduce reads lies side by side in rows that do, or along the rows, or is the same for each."""
    read, found = below(same.found, n), False
    for m, view in zip(leaves_of(same.found), same.found.layouts, strict=True):
        steps = {p: s for p, s in zip(same.dims(m), view.strides, strict=True) if p is not None}
        row, step = steps.get(rows, 0), steps.get(inner, 0)
        if m not in read or not row:
            continue
        found = True
        if (row, step) != (extent_of(same, inner), 1) and (abs(row), step) != (1, 0):
            return False
    return found
