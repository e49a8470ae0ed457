"""Sums and squared distances from the mean in one pass over memory: block by block, in the order of all folds.

The mean of a block is taken, and the squares of the distances from it, while the block lies in a cache; blocks' results are paired by
the rule of Chan, Golub and LeVeque (1979). Of two means near each other and far from zero it takes the difference, so each is kept with
what it was rounded by. The sum is that of `sum`, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod

import numpy as np

from .derived import apply
from .folds import folds_of, ordered, vector_axis
from .ir import Axis, Fold, Kernel, Load, Op, Value, axis, cast, components, const, fold, index, op
from .reducers import ACROSS, PAIRS, SEVERAL, Reducer, along
from .rewrite import affine, rewrite, substitute, walk

LONG = "moments"  # of so many elements that a row of them is taken in blocks; and so are columns
DOWN = "moments down columns"  # of so many rows that columns are taken in blocks, not rows
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


def _both(a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(apply("add", x, y) for x, y in zip(a, b, strict=True))


SEVERAL[LONG] = Reducer(LONG, _chan, np.var, lambda x: x, lambda *_: (0.0, -0.0, 0.0, 0.0, 0.0), exact=lambda _: False)
SEVERAL["sums"] = Reducer("sums", _both, np.add.reduce, lambda x: x, lambda *_: (-0.0, -0.0), exact=lambda _: False)


def moments(folded: Folded, x: Value) -> tuple[Value, Value]:
    """The sum of `x` and the squares of its distances from the mean, in two passes."""
    total = x
    for made, extent in reversed(folded):
        total = fold("sum", made, extent, (total,))
    count = prod((extent for _, extent in folded), start=index(1))
    others: dict[Value, Axis] = {made: axis(f"{made.name}m") for made, _ in folded}
    squares = _distance(substitute(x, dict(others.items())), apply("divide", total, cast(count, x.dtype)))
    for made, extent in reversed(folded):
        squares = fold("sum", others[made], extent, (squares,))
    return total, squares


def settled(kernel: Kernel, asked: Iterable[tuple[str, Folded, Value]]) -> Callable[[Value], Value]:
    """Gives every fold of a kernel its order, and takes in blocks what of `asked` is to be: a kind of moments, and their arguments."""
    inner, now = vector_axis(kernel), dict[Value, Value]()
    for kind, folded, x in asked:
        if len(folded) != 1:
            continue
        across = inner is not None and inner in x.free and not kernel.short
        down = across and _plain(x, folded[0][0])
        if down or (kind == LONG and x.free == {folded[0][0]}):
            size = ACROSS.block if down else along(x.dtype).block
            now |= zip(moments(folded, x), _in_blocks(*folded[0], x, size, down), strict=True)
    settle = ordered(kernel)

    def change(node: Value) -> Value | None:
        return rewrite(now[node], change) if node in now else None

    return lambda value: settle(rewrite(value, change))


def _plain(x: Value, along: Axis) -> bool:
    """Whether blocks of `x` can be read without a guard, a quotient or a fold for each element."""
    if any(along in node.free for node in folds_of(x)):
        return False
    loads = (node for node in walk(x) if isinstance(node, Load))
    return all(node.when is None and affine(node.offset, along) is not None for node in loads)


def _in_blocks(made: Axis, extent: Value, x: Value, block: int, down: bool) -> tuple[Value, Value]:
    """The same in one pass, of one axis."""
    blocks, first, second = (axis(f"{made.name}{k}") for k in ("b", "s", "m"))
    size = index(block)
    low = blocks * size
    count = op("minimum", (size, extent - low), size.dtype)
    number = cast(count, x.dtype)
    total = fold("sum", first, count, (substitute(x, {made: low + first}),))
    mean = apply("divide", total, number)
    away = apply("subtract", substitute(x, {made: low + second}), mean)
    bodies = away, apply("square", away)
    if down:
        made_of = fold("sums", second, count, bodies)
        assert isinstance(made_of, Fold)
        rest, squares = components(made_of)
    else:
        rest, squares = (fold("sum", second, count, (body,)) for body in bodies)
    further = apply("divide", rest, number)  # what the mean was rounded by
    spread = apply(
        "subtract", squares, apply("multiply", rest, further)
    )  # stands before what it needs: one walk for both folds
    whole = fold(LONG, blocks, (extent + (size - 1)) // size, (number, total, mean, spread, further), PAIRS)
    _, summed, _, squared, _ = components(whole)
    return summed, squared


def rows_of(folds: Sequence[Fold]) -> dict[Value, Value]:
    """What the folds around a load, outermost first, run over, with its extent: a block and what is in it are one."""
    found, blocks = dict[Value, Value](), dict[Value, Fold]()
    for node in folds:
        match node.extent:
            case Op("minimum", (_, Op("subtract", (extent, low)))) if low in blocks:
                found.pop(blocks[low].axis, None)
                found[low + node.axis] = extent
            case _:
                if node.order == PAIRS:
                    blocks[node.axis * index(ACROSS.block)] = node
                found[node.axis] = node.extent
    return found


def _distance(x: Value, mean: Value) -> Value:
    return apply("square", apply("subtract", x, mean))
