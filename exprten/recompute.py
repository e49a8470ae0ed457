"""How often operations are evaluated, against how often they would have to be.

An operation is evaluated once for every point of the loops down to the innermost one it depends on. It has to be evaluated once
for every element of its own node. The ratio of the two sums, weighed by cost, is `plan.recompute`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import prod

from exprten_jit.derived import TABLE
from exprten_jit.ir import Kernel, Op, Value

from .lower import Made

MAX_PERMUTED = 5  # axes; 120 orders are tried at most


def elements(root: Value) -> Iterator[Value]:
    """The nodes computed as elements: not those that only make an offset or a guard."""
    seen, stack = set(), [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            if isinstance(node, Op):
                stack.extend(node.args)


def times(value: Value, axes: Sequence[Value], extents: Sequence[int]) -> int:
    """How often a value is evaluated in loops over `axes`, outermost first."""
    deepest = max((k + 1 for k, axis in enumerate(axes) if axis in value.free), default=0)
    return prod(extents[:deepest])


def _cost(value: Value) -> int:
    return TABLE[value.op].cost if isinstance(value, Op) and value.op in TABLE else 1


def ratio(made: Made, extents: Sequence[int], kernel: Kernel, sizes: Sequence[int]) -> float:
    """Evaluated operations over those needed; 1.0 for a statement without operations."""
    axes = [axis for axis, _ in kernel.axes]
    evaluated = sum(_cost(v) * times(v, axes, extents) for v in {v for _, v in made})
    needed = sum(_cost(v) * sizes[n] for n, v in dict(made).items())
    return max(1.0, evaluated / needed) if needed else 1.0


def best_order(made: Made, extents: Sequence[int], kernel: Kernel) -> tuple[int, ...] | None:
    """The order of the loops that evaluates least, by position in the present one."""
    axes = [axis for axis, _ in kernel.axes]
    if len(axes) > MAX_PERMUTED:
        return None

    def evaluated(loops: tuple[int, ...]) -> int:
        there, lengths = [axes[k] for k in loops], [extents[k] for k in loops]
        return sum(_cost(v) * times(v, there, lengths) for _, v in made)

    return min(itertools.permutations(range(len(axes))), key=evaluated)


def worst(made: Made, extents: Sequence[int], kernel: Kernel, sizes: Sequence[int]) -> int:
    """The node of the structure with the most evaluations beyond those needed."""
    axes = [axis for axis, _ in kernel.axes]
    return max(made, key=lambda m: _cost(m[1]) * (times(m[1], axes, extents) - sizes[m[0]]))[0]
