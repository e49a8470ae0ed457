"""The order of outer loops in which the fewest lines come from memory, and in the longest runs.

What one index of a loop has brought is still there at the next one, where all that the loops inside of it move has room in the cache: then what lies in
the same line, or between two runs, is not brought again. So what counts are the runs that the loops up to that one make together, and how often those
outside of it repeat them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod
from typing import Any

from exprten_jit.machine import LINE
from exprten_jit.vectors import FAR_BYTES

from ..expression.shape import Layout
from .axes import TARGET, Same, extent_of, leaves_of, views_of
from .gather import Gathered, widest
from .orders import MAX_PERMUTED, needed_by_all

CACHE, FIRST_CACHE = 512 << 10, 24 << 10  # bytes that stay in the second cache, and in the first one
# lines: as many could come until the first of a run is there, from memory and from the second cache
START, NEAR_START = 4, 1
LESS = 0.75  # of the traffic, for which another order is taken

Steps = Mapping[Any, int]  # bytes from one element to the next, along each axis that an operand has
Order = tuple[Any, ...]


def least_traffic(axes: list[int], fixed: int, same: Same, target: Layout) -> list[int]:
    """The target's axes in an order in which far less is moved, if there is one. `fixed` of them stay innermost, and only what all folds depend on is
    moved: no loop may repeat a fold.
    """
    found = same.found
    if found.params or found.several:
        return axes
    count = min(needed_by_all(axes, same), len(axes) - fixed)
    if not 2 <= count <= MAX_PERMUTED:
        return axes
    types = [found.structure[n][0].dtype for n in (-1, *leaves_of(found))]
    operands: list[Steps] = [
        {p: abs(s) * dtype.itemsize for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and s}
        for (n, view), dtype in zip(views_of(found, target), types, strict=True)
    ]
    at = {same.of((TARGET, k)): k for k in axes[:count]}
    extents = {p: extent_of(same, p) for n in (TARGET, *leaves_of(found)) for p in same.dims(n) if p is not None}
    order = least(itertools.permutations(at), [p for p in extents if p not in at], operands, extents)
    return [*(at[p] for p in order), *axes[count:]]


def least(
    orders: Iterable[Order],
    inside: Collection[Any],
    operands: Sequence[Steps],
    extents: Mapping[Any, int],
    near: bool = False,
) -> Order:
    """That of these orders of loops, over all axes that are not `inside` of them, by which least is moved: the first, if none is far better. From memory, or where `near` is asked
    for, from the second cache too.
    """
    first, *others = orders
    total = sum(min(steps.values(), default=0) * prod(extents[p] for p in steps) for steps in operands)
    far = total >= FAR_BYTES
    if not others or not (far or (near and total >= FIRST_CACHE)):
        return first
    cache = (CACHE, START) if far else (FIRST_CACHE, NEAR_START)
    moved = {order: _moved(order, inside, operands, extents, *cache) for order in (first, *others)}
    best = min(moved, key=moved.__getitem__)
    return best if moved[best] < LESS * moved[first] else first


def _moved(
    order: Order,
    inside: Collection[Any],
    operands: Sequence[Steps],
    extents: Mapping[Any, int],
    cache: int,
    start: int,
) -> float:
    """Lines, and what it takes to begin runs of them, of which each takes as long as `start` lines, into a cache of so many bytes."""
    depth = len(order)
    while (
        depth > 1
        and LINE * sum(_lines({*inside, *order[depth - 1 :]}, steps, extents, 0) for steps in operands) <= cache
    ):
        depth -= 1
    within, repeats = {*inside, *order[depth - 1 :]}, prod(extents[p] for p in order[: depth - 1])
    return repeats * sum(_lines(within, steps, extents, start) for steps in operands)


def _lines(within: Collection[Any], steps: Steps, extents: Mapping[Any, int], start: int) -> float:
    """Lines of an operand that loops over some axes move, and so many for each run."""
    run, many, apart = 0, 1, False
    for step, extent in sorted((step, extents[p]) for p, step in steps.items() if p in within):
        if step <= max(run, LINE):
            run = step * extent
        else:
            many, apart = many * extent, apart or step % LINE > 0
    return many * (max(run, 1) / LINE + apart + start)


def in_reading_order(
    found: Gathered, axes: list[int], kept: int, extents: Mapping[int, int], strides: Sequence[Sequence[int]]
) -> list[int]:
    """The axes of a large statement without folds, of which all but the last `kept` are in the order in which its largest operand lies: what is stored past the caches
    may begin anywhere, but what is read is fetched where it follows. Or in one in which far less is moved.
    """
    if len(axes) < 2 + kept or widest(found) * prod(extents.values()) < FAR_BYTES or not strides[1:]:
        return axes
    largest = max(strides[1:], key=lambda s: prod(extents[k] for k in axes if s[k]))
    outer, inner = axes[: len(axes) - kept], axes[len(axes) - kept :]
    outer.sort(key=lambda k: -abs(largest[k]))
    if len(outer) <= MAX_PERMUTED:
        operands = [{k: abs(s[k]) * widest(found) for k in axes if s[k]} for s in strides]
        outer = [*least(itertools.permutations(outer), inner, operands, extents)]
    return [*outer, *inner]
