"""Sums and squared distances from the mean in one pass over memory: block by block, in the order of all folds along a row.

The mean of a block is taken, and the squares of the distances from it, while the block lies in the first cache; blocks' results are paired by
the rule of Chan, Golub and LeVeque (1979). Of two means near each other and far from zero it takes the difference, so each is kept with
what it was rounded by. The sum is that of `sum`, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from .derived import apply
from .dtypes import DType
from .ir import Axis, Value, axis, cast, components, const, fold, index, op
from .reducers import PAIRS, SEVERAL, Reducer, along
from .rewrite import substitute

Folded = Sequence[tuple[Axis, Value]]  # axes that are folded, with their extents, outermost first


def _chan(a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
    """The number, the sum, the mean in two parts and the squares of two sides, of which one may have nothing."""
    (n, total, mean, squares, rest), (k, others, middle, beside, more) = a, b
    nothing, both = const(0.0, n.dtype), apply("add", n, k)
    way = apply("add", apply("subtract", middle, mean), apply("subtract", more, rest))
    share = apply("divide", k, both)
    step = apply("multiply", way, share)
    there = apply("add", mean, step)
    left = apply("add", rest, apply("add", apply("subtract", mean, there), step))
    between = apply("multiply", apply("square", way), apply("multiply", n, share))
    made = there, apply("add", apply("add", squares, beside), between), left
    first, second = apply("equal", n, nothing), apply("equal", k, nothing)
    sides = zip(made, (mean, squares, rest), (middle, beside, more), strict=True)
    found = (apply("where", first, y, apply("where", second, x, z)) for z, x, y in sides)
    return both, apply("add", total, others), *found


def _nothing(*_: DType) -> tuple[float, ...]:
    return 0.0, -0.0, 0.0, 0.0, 0.0


SEVERAL["moments"] = Reducer("moments", _chan, np.var, lambda dtype: dtype, _nothing, exact=lambda _: False)


def moments(folded: Folded, x: Value) -> tuple[Value, Value, dict[Value, Value]]:
    """The sum of `x` and the squares of its distances from the mean; and what other folds become, which come to the same."""
    if len(folded) == 1 and x.free == {folded[0][0]}:
        return _in_blocks(*folded[0], x)
    total = x
    for made, extent in reversed(folded):
        total = fold("sum", made, extent, (total,))
    count = prod((extent for _, extent in folded), start=index(1))
    others: dict[Value, Axis] = {made: axis(f"{made.name}m") for made, _ in folded}
    squares = _distance(substitute(x, dict(others.items())), apply("divide", total, cast(count, x.dtype)))
    for made, extent in reversed(folded):
        squares = fold("sum", others[made], extent, (squares,))
    return total, squares, {}


def _in_blocks(made: Axis, extent: Value, x: Value) -> tuple[Value, Value, dict[Value, Value]]:
    """The same of one long row."""
    block, first, second = (axis(f"{made.name}{k}") for k in ("b", "s", "m"))
    size = index(along(x.dtype).block)
    low = block * size
    count = op("minimum", (size, extent - low), size.dtype)
    number = cast(count, x.dtype)
    total = fold("sum", first, count, (substitute(x, {made: low + first}),))
    mean = apply("divide", total, number)
    away = apply("subtract", substitute(x, {made: low + second}), mean)
    rest, squares = (fold("sum", second, count, (body,)) for body in (away, apply("square", away)))
    further = apply("divide", rest, number)  # what the mean was rounded by
    spread = apply(
        "subtract", squares, apply("multiply", rest, further)
    )  # stands before what it needs: one walk for both folds
    whole = fold("moments", block, (extent + (size - 1)) // size, (number, total, mean, spread, further), PAIRS)
    _, summed, _, squared, _ = components(whole)
    return summed, squared, {fold("sum", made, extent, (x,)): summed}


def _distance(x: Value, mean: Value) -> Value:
    return apply("square", apply("subtract", x, mean))
