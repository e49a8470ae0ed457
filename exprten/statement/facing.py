"""In which direction the axes of a statement with folds are walked: forwards in what it reads most of, whatever that makes of the target.

An axis that no fold takes, and whose index is no number, may be walked either way, by all operands alike: no bit depends on it. So may one along which folds come to the same
in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from exprten_jit.reducers import TABLE

from ..expression.shape import Layout
from ..expression.shape import layout as layout_of
from .axes import TARGET, Place, Same, counted_axes, extent_of, views_of
from .few import ONE_NUMBER, is_dear
from .gather import WEAK, Gathered
from .lying import MEMORY, MOST_WOVEN
from .orders import folded_by

NEAR = 64  # elements: rows that are folded from the last to the first, and lie no further apart, are brought in order first
FEW = 32  # elements: shorter rows of a target, one after the other downwards, take longer than reading backwards does
# the same of such as are folded, where what follows in memory is read backwards: if it is more than a register, and something dear is made of it; else
FEW_ACROSS, LESS_ACROSS = 24, 17
LONG = 4096  # elements: shorter rows of a target are stored upwards where it has another order, longer ones where it has not


@dataclass(frozen=True)
class Facing:
    """The statement, its target, and from which element of each leaf the walk begins, and of the target, which is -1."""

    found: Gathered
    target: Layout
    begin: Mapping[int, int]


def forwards(same: Same, target: Layout, is_other: Callable[[], bool]) -> Facing | None:
    """The statement walked forwards in its largest operand, if that is no smaller than the target and lies backwards: folds read it more than once. Where the target's
    axes have another order than that has, if it `is_other`, all is turned as it is stored, in either direction.
    """
    turned = _backwards(same, target, is_other)
    if not turned:
        return None
    own, *leaves = [(same.dims(n), view) for n, view in views_of(same.found, target)]

    def begin(dims: Sequence[Place | None], view: Layout) -> int:
        steps = zip(dims, view.shape, view.strides, strict=True)
        return sum((extent - 1) * step for p, extent, step in steps if p in turned)

    def layout(dims: Sequence[Place | None], view: Layout) -> Layout:
        steps = zip(dims, view.strides, strict=True)
        return layout_of(view.shape, tuple(-step if p in turned else step for p, step in steps))

    found = replace(same.found, layouts=[layout(*leaf) for leaf in leaves])
    first = {-1: begin(*own), **{n: begin(*leaf) for n, leaf in enumerate(leaves)}}
    return Facing(found, layout(*own), first)


def _backwards(same: Same, target: Layout, is_other: Callable[[], bool]) -> set[Place | None]:
    """The axes that the largest operand has backwards, and that may be walked the other way."""
    found, views = same.found, views_of(same.found, target)[1:]
    remapped = any(entry[0] != WEAK and entry[0].op == "remap" for entry in found.structure)
    if not views or remapped or found.several or any(_twice(same, n) for n, _ in views_of(found, target)):
        return set()
    n, largest = max(views, key=lambda view: view[1].size)
    if largest.size < target.size:
        return set()
    taken = {p for at in found.folds for p in folded_by(same, at)}
    steps = [(p, step) for p, step in zip(same.dims(n), largest.strides, strict=True) if p is not None]
    ordered = {p for at in found.folds if not _in_any_order(found, at) for p in folded_by(same, at)}
    free = {same.of((TARGET, k)) for k, extent in enumerate(target.shape) if extent != 1} | taken
    own = free - ordered - counted_axes(same)
    downwards: set[Place | None] = {p for p, step in steps if p in own and step < 0}
    if not downwards:
        return set()
    other, stored = is_other(), largest.size == target.size
    across = {same.of((TARGET, k)) for k, step in enumerate(target.strides) if abs(step) == 1}
    rows = (abs(step) == 1 or (-NEAR < step < 0 and p not in across) for p, step in steps if p in taken)
    if stored and not other and any(rows):
        return set()  # rows are read as rows, and are better stored as they lie; or all is brought in order first, if it is not stored across
    lies = _Lies(same, dict(steps), taken, downwards)
    return set() if stored and lies.is_better_upwards(target, other) else downwards


@dataclass(frozen=True)
class _Lies:
    """How the largest operand lies: its `steps` along the axes, of which some are `folded`, and some are `downwards` and may be walked the other way."""

    same: Same
    steps: Mapping[Place, int]
    folded: Collection[Place | None]
    downwards: Collection[Place | None]

    def is_better_upwards(self, target: Layout, other: bool) -> bool:
        """Whether as much is stored as is read, and better as it is: where the target has an `other` order short rows are, but not from memory if they are rows of what is read as well, nor where rows
        that are folded run on, and of what is folded from its end else long ones; and so are a few elements between rows that follow each other downwards.
        """
        order = sorted((k for k, n in enumerate(target.shape) if n != 1), key=lambda k: abs(target.strides[k]))
        places = [(self.same.of((TARGET, k)), target.shape[k]) for k in order]
        row = prod(n for _, n in itertools.takewhile(lambda place: place[0] not in self.downwards, places))
        (inner, many), reverse = places[0], any(p in self.folded and step < 0 for p, step in self.steps.items())
        if row > 1:
            return self._are_few(row, inner, reverse)
        long, lies = many >= LONG, self.steps.get(inner) == -1 and target.size >= MEMORY
        return not (long or lies or self._runs_on(inner)) if other else long and reverse

    def _are_few(self, many: int, inner: Place, reverse: bool) -> bool:
        """Whether so many elements that follow each other in the target are so few that all is better walked upwards."""
        row = next((p for p, step in self.steps.items() if abs(step) == 1), None)
        if row is None:
            return reverse and many < FEW
        dear = is_dear(self.same.found)
        if row in self.downwards and inner in self.folded:
            return many < (FEW_ACROSS if dear and extent_of(self.same, row) > MOST_WOVEN else LESS_ACROSS)
        across = row in self.folded and abs(self.steps.get(inner, 0)) != extent_of(self.same, row)
        if across and not dear:
            return many < (FEW if reverse else MOST_WOVEN + 1)
        return reverse and many < FEW

    def _runs_on(self, inner: Place) -> bool:
        """Whether rows that are folded run on where they are read forwards, and not as they are stored, with the target's `inner` axis not the next one; or where something dear is computed
        for each element, which takes more than the copy that turns them round: rows of more than one register then, too, as all of them are one.
        """
        row = next((p for p, step in self.steps.items() if abs(step) == 1 and p in self.folded), None)
        free = [p for p in self.steps if p not in self.folded and extent_of(self.same, p) != 1]
        if row is None or not free:
            return False
        free.sort(key=lambda p: abs(self.steps[p]))
        dear = is_dear(self.same.found)
        if any(self.steps[p] * extent_of(self.same, p) != self.steps[q] for p, q in itertools.pairwise(free)):
            return dear or free[0] != inner
        return dear and self.steps[row] > 0 and extent_of(self.same, row) > MOST_WOVEN


def _in_any_order(found: Gathered, n: int) -> bool:
    """Whether a Reduce comes to the same in any order."""
    key = found.structure[n][0]
    return key.map.reducer in ONE_NUMBER and TABLE[key.map.reducer].exact(key.dtype)


def _twice(same: Same, n: int) -> bool:
    """Whether an axis stands twice in an entry."""
    live = [p for p in same.dims(n) if p is not None]
    return len({*live}) < len(live)
