"""The axes of a statement with folds in the order in which its largest operand has them in memory.

Neighbours become one where memory runs on from one to the next (`axes.merged`). How a user numbers axes is no matter of how they lie: in
`sum(x, 3)` of a transposed `x` the columns may run on from axis 2 to axis 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..expression.key import reduce_key
from ..expression.shape import Layout, Shape, intern_shape
from ..expression.shape import layout as layout_of
from .axes import TARGET, Place, Same, extent_of, leaves_of
from .gather import Gathered, ones

Live = dict[int, list[Place]]  # the axes of each entry that have more than one element


@dataclass(frozen=True)
class Turned:
    """A statement that has all its axes in everything, of one element where it had none, its target, and what the axes were before."""

    found: Gathered
    target: Layout
    places: Sequence[Place]


def in_memory_order(same: Same, target: Layout) -> Turned | None:
    """The statement with its axes in the order of memory; nothing where there is a Remap, an axis stands twice somewhere, or a fold's axes would
    come in another order.
    """
    return _in_order(same, target, _by_memory)


def in_target_order(same: Same, target: Layout) -> Turned | None:
    """The same in the order of the target, which has all axes."""
    return _in_order(same, target, _by_target)


def _in_order(same: Same, target: Layout, order: Callable[[Same, Layout, Live], list[Place]]) -> Turned | None:
    found = same.found
    if found.params or found.several:
        return None
    rows = {n: same.dims(n) for n, shape in enumerate(found.shapes) if shape is not None} | {TARGET: same.dims(TARGET)}
    live = {n: [p for p in row if p is not None] for n, row in rows.items()}
    if any(len({*places}) < len(places) for places in live.values()):
        return None
    counted = {n: rows[n][found.structure[n][1]] for n in found.counters}
    if None in counted.values():
        return None
    places = order(same, target, live)
    at = {p: k for k, p in enumerate(places)}
    folded = {n: [at[p] for k, p in _folded(same, n)] for n in found.folds}
    if any(axes != sorted(axes) for axes in folded.values()):
        return None

    def shape_of(n: int) -> Shape:
        return intern_shape(tuple(extent_of(same, p) if p in live[n] else 1 for p in places))

    def layout(n: int, view: Layout) -> Layout:
        steps = dict(zip(rows[n], view.strides, strict=True))
        return layout_of(shape_of(n), tuple(steps.get(p, 0) for p in places))

    structure: list[tuple[Any, ...]] = list(found.structure)
    for n in found.folds:
        key, *refs = structure[n]
        over = replace(key.map, ndim=len(places), axes=tuple(folded[n]), keepdims=True)
        structure[n] = (reduce_key(over, over.part, key.args, key.types), *refs)
    for n in found.counters:
        structure[n] = (structure[n][0], at[counted[n]], *ones(shape_of(n)))
    shapes = [None if shape is None else shape_of(n) for n, shape in enumerate(found.shapes)]
    layouts = [layout(n, view) for n, view in zip(leaves_of(found), found.layouts, strict=True)]
    found = replace(found, structure=structure, shapes=shapes, layouts=layouts)
    return Turned(found, layout(TARGET, target), places)


def _folded(same: Same, n: int) -> list[tuple[int, Place]]:
    """The axes of a Reduce that have more than one element."""
    key, ref = same.found.structure[n][:2]
    dims = same.dims(ref)
    return [(k, p) for k in key.map.axes if (p := dims[k]) is not None]


def _by_memory(same: Same, target: Layout, live: Live) -> list[Place]:
    """All axes, those first that the operand with most of them does not have."""
    views = [*zip(leaves_of(same.found), same.found.layouts, strict=True), (TARGET, target)]
    n, view = max(views, key=lambda found: len(live[found[0]]))
    steps = {p: abs(s) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None}
    return _by_steps(steps, live)


def _by_target(same: Same, target: Layout, live: Live) -> list[Place]:
    steps = {p: abs(s) for p, s in zip(same.dims(TARGET), target.strides, strict=True) if p is not None}
    return _by_steps(steps, live)


def _by_steps(steps: dict[Place, int], live: Live) -> list[Place]:
    every = dict.fromkeys(itertools.chain.from_iterable(live.values()))
    return [*(p for p in every if p not in steps), *sorted(steps, key=lambda p: -steps[p])]
