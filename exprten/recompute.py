"""How often operations are evaluated, against how often they would have to be.

An operation is evaluated once for every point of the loops down to the innermost one it depends on. It has to be evaluated once
for every element of its own node. The ratio of the two sums, weighed by cost, is `plan.recompute`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from exprten_jit.ir import Axis, Component, Fold, Op, Size, Value
from exprten_jit.nest import Nest, Reduce, statements
from exprten_jit.rewrite import substitute, walk

from .lower import Made

MAX_PERMUTED = 5  # axes; 120 orders are tried at most


Folded = tuple[tuple[Axis, str], ...]  # axes of folds, with the names of their extents


def elements(root: Value) -> Iterator[tuple[Value, Folded]]:
    """The nodes computed as elements, not those that only make an offset or a guard; each with the folds around it."""
    seen = set()
    stack: list[tuple[Value, Folded]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        if (node, around) not in seen:
            seen.add((node, around))
            yield node, around
            if isinstance(node, Op):
                stack.extend((arg, around) for arg in node.args)
            elif isinstance(node, Fold):
                assert isinstance(node.extent, Size), "the extent of a fold is an argument"
                stack.extend((body, (*around, (node.axis, node.extent.name))) for body in node.bodies)
            elif isinstance(node, Component):
                stack.append((node.fold, around))


def repeats(value: Value, around: Folded, sizes: Mapping[str, int]) -> int:
    """How often a value is evaluated by the folds around it."""
    return prod(sizes[name] for axis, name in around if axis in value.free)


def times(value: Value, nest: Nest, extents: Sequence[int]) -> int:
    """How often a value is evaluated by a loop nest; `extents` of its axes, outermost first."""
    columns = nest.columns
    if columns is not None and value.free and any(value in walk(saved) for _, saved in columns.saved):
        outer = [
            k for k, (axis, _) in enumerate(nest.kernel.axes[:-1]) if any(axis in v.free for _, v in columns.saved)
        ]
        columns_or_blocks = extents[-1] if columns.axis in value.free else -(-extents[-1] // columns.block)
        return prod(extents[: max(outer, default=-1) + 1]) * columns_or_blocks
    if columns is not None and value.free and columns.axis not in value.free:  # again for each block of columns
        return _looped(value, [axis for axis, _ in nest.kernel.axes], extents) * -(-extents[-1] // columns.block)
    return _looped(value, [axis for axis, _ in nest.kernel.axes], extents)


def _looped(value: Value, axes: Sequence[Value], extents: Sequence[int]) -> int:
    deepest = max((k + 1 for k, axis in enumerate(axes) if axis in value.free), default=0)
    return prod(extents[:deepest])


# what operations became, the loops, their extents, and all sizes by name
Part = tuple[Sequence[Made], Nest, Sequence[int], Mapping[str, int]]


def _evaluated(part: Part, sizes: Sequence[int]) -> dict[Value, int]:
    """How often each value is evaluated. Where a guard is false an evaluation is a lane left idle, not a repetition."""
    made, nest, extents, named = part
    axes = [axis for axis, _ in nest.kernel.axes]
    kept = _kept(nest)
    counts = {}
    for m in made:
        if m.value in kept:
            counts[m.value] = 0
            continue
        counts[m.value] = times(m.value, nest, extents) * repeats(m.value, m.folded, named)
        if m.guarded:
            repeated = [
                n for n, axis in zip(extents, axes, strict=True) if axis in m.value.free and axis not in m.along
            ]
            counts[m.value] = min(counts[m.value], sizes[m.node] * prod(repeated))
    return counts


def _kept(nest: Nest) -> set[Value]:
    """What the loop over elements does not compute again: a fold has stored it on its way."""
    reduces = [s for s in statements(nest.body) if isinstance(s, Reduce) and s.saved]
    if not reduces:
        return set()
    axis = nest.kernel.axes[-1][0]
    stored = [substitute(store.value, {s.axis: axis}) for s in reduces for store in s.saved]
    others = set(walk(*(store.value for store in nest.kernel.stores), known={id(value) for value in stored}))
    return {value for value in walk(*stored) if axis in value.free and value not in others}


def _costs(made: Sequence[Made]) -> dict[Value, int]:
    return {m.value: m.cost for m in made}


def ratio(parts: Sequence[Part], sizes: Sequence[int]) -> float:
    """Evaluated operations over those needed, `sizes` being the elements of each node; 1.0 for a statement without operations."""
    evaluated = sum(
        _costs(part[0])[value] * count for part in parts for value, count in _evaluated(part, sizes).items()
    )
    needed = sum(cost * sizes[node] for node, cost in {m.node: m.cost for m in parts[0][0]}.items())
    return max(1.0, evaluated / needed) if needed else 1.0


def best_order(part: Part) -> tuple[int, ...] | None:
    """The order of the loops that evaluates least, by position in the present one. Lanes left idle count here."""
    made, nest, extents, _ = part
    axes = [axis for axis, _ in nest.kernel.axes]
    if len(axes) > MAX_PERMUTED:
        return None

    def evaluated(loops: tuple[int, ...]) -> int:
        there, lengths = [axes[k] for k in loops], [extents[k] for k in loops]
        return sum(cost * _looped(value, there, lengths) for value, cost in _costs(made).items())

    return min(itertools.permutations(range(len(axes))), key=evaluated)


def worst(parts: Sequence[Part], sizes: Sequence[int]) -> int:
    """The node of the structure with the most evaluations beyond those needed."""
    beyond: dict[int, int] = {}
    for part in parts:
        counts = _evaluated(part, sizes)
        for m in part[0]:
            beyond[m.node] = beyond.get(m.node, -m.cost * sizes[m.node]) + m.cost * counts[m.value]
    return max(beyond, key=beyond.__getitem__)
