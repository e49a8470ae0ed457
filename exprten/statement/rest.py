"""Statements whose folds are computed before what is left of them: the folds as they lie in memory, what is left as it is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import prod

from exprten_jit import beforehand
from exprten_jit.beforehand import room_for
from exprten_jit.ir import First
from exprten_jit.reducers import rounded_up

from ..expression.shape import Layout, Shape, intern_shape
from ..expression.shape import layout as layout_of
from .alone import folds_alone, own_axes, packed
from .axes import TARGET, Folded, count_of
from .before import LEAST, names_of
from .flat import LEAST as LEAST_ELEMENTS
from .flat import flat_axes
from .gather import WEAK, Gathered
from .lying import MOST_WOVEN, across, fills_squares, rows_apart
from .memory_order import Turned, in_memory_order
from .orders import runs_onto
from .signature import Flat, Rest, Ways
from .walk import Given, Walk

TURNED = 3  # axes in all: of columns of two that run on squares are turned at once
EXACT = 64  # elements: of an axis of so few kernels may be for their number


def with_rest(walk: Walk, given: Given, over: tuple[Folded, ...]) -> Walk:
    """The loops of a statement with folds, with what is left of it when all of these are computed before, where that is better; `over` is what each
    Reduce folds.
    """
    same, goal = given.same, given.layouts[0]
    small = max(view.size for view in given.layouts) < LEAST_ELEMENTS
    if same is None or small or walk.block or not (given.vectors and given.free):
        return walk
    turned, onto = in_memory_order(same, goal), runs_onto(walk.axes, same, walk.extents)
    squares = onto is not None and count_of(same) <= TURNED and fills_squares(walk.axes, walk.extents, [onto])
    if turned is None or squares or any(goal.strides[k] <= 0 for k in walk.axes) or not _is_better(turned):
        return walk
    named = names_of(same, walk.axes, over)
    names = [name for p in turned.places if (name := named.get(p))]
    own, (leaves, folds), spaces = own_axes(turned.target.shape), _outside(turned.found), _spaces(turned.found)
    apart = any(not {*_own(turned.found, n)} <= {*own} for n in leaves)
    pieces = None if apart or len(names) < len(turned.places) else _pieces(turned, spaces)
    if pieces is None:
        return walk
    extents = _extents(turned.found)
    turned, numbers = _cut(turned, *pieces), {same.of((TARGET, k)): k for k in walk.axes}
    order = sorted(own, key=lambda k: -turned.target.strides[k])
    rest, flat = _left(
        turned.found,
        [numbers[turned.places[k]] for k in order],
        [turned.target.shape[k] for k in order],
        _strides(turned, order, leaves, folds, given),
        len(given.layouts),
    )
    axis, length = pieces
    plain = flat is None and not rest.tiles and not rest.short
    if (plain and (leaves or length)) or (rest.short and leaves and walk.short and length):
        return walk  # all that is not done at once is read again
    alone, uneven = folds_alone(turned, given.numbers, names), length and extents[axis] % length > 0
    if uneven and length <= EXACT and (rest.squares or any(_is_for(each.ways, names[axis]) for each in alone)):
        return walk
    rest = replace(
        rest,
        memory=tuple(names),
        first=_room(turned.found, spaces, names),
        alone=alone,
        piece=numbers[turned.places[axis]] if length else None,
    )
    return replace(walk, rest=rest, flat=flat, piece=length, short=0, packed=False, beside=False)


def _is_for(ways: Ways, name: str) -> bool:
    """Whether a kernel is for the extent of this name, or for no less than fills squares."""
    return ways.squares or name in dict(ways.block)


def _room(found: Gathered, spaces: Collection[tuple[int, ...]], names: Sequence[str]) -> First:
    """Room for what Reduces of these axes come to."""
    shape = _extents(found)
    rows = [(own, room_for(prod(shape[k] for k in own), len(spaces))) for own in spaces]
    return tuple(sorted((tuple(sorted(names[k] for k in own)), nbytes, 0) for own, nbytes in rows))


def _is_better(turned: Turned) -> bool:
    """Whether folds are better computed alone: where the target's axes have another order than they have in the largest operand. But of two axes, across
    which all folds run, tiles serve both.
    """
    found, target = turned.found, turned.target
    largest = max((own_axes(view.shape) for view in found.layouts), key=len, default=())
    own = [k for k in own_axes(target.shape) if k in largest]
    along = any(largest[-1] in found.structure[n][0].map.axes for n in found.folds)
    return sorted(own, key=lambda k: -target.strides[k]) != own and (len(largest) > 2 or along)


def _outside(found: Gathered) -> tuple[set[int], list[int]]:
    """The leaves, and the Reduces, that are not in a fold alone."""
    stack, seen = [len(found.structure) - 1], set[int]()
    while stack:
        n = stack.pop()
        entry = found.structure[n]
        if n not in seen and entry[0] != WEAK:
            seen.add(n)
            inside = entry[0].op in ("leaf", "reduce")
            stack.extend(ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK and not inside)
    return {n for n in seen if found.structure[n][0].op == "leaf"}, [n for n in found.folds if n in seen]


def _own(found: Gathered, n: int) -> tuple[int, ...]:
    return own_axes(found.shapes[n] or ())


def _spaces(found: Gathered) -> dict[tuple[int, ...], int]:
    """The axes that Reduces have, and bytes at each of their places for what those of the same axes come to."""
    out = dict[tuple[int, ...], int]()
    for n in found.folds:
        own = _own(found, n)
        out[own] = out.get(own, 0) + max(found.structure[n][0].dtype.itemsize, LEAST // 2)
    return {own: max(LEAST, rounded_up(nbytes)) for own, nbytes in out.items()}


def _extents(found: Gathered) -> list[int]:
    """Of all axes."""
    return [max(column) for column in zip(*(s for s in found.shapes if s is not None), strict=True)]


def _pieces(turned: Turned, spaces: Mapping[tuple[int, ...], int]) -> tuple[int, int] | None:
    """The axis along which some elements are computed at a time, and how many: 0 where there is room for what all folds come to, of so many bytes at
    each place of these axes. None where there is no such axis: all have it, and nothing counts it.
    """
    found, target, shape = turned.found, turned.target, _extents(turned.found)
    if not all(spaces) or max(spaces.values()) > beforehand.MOST:
        return None
    if all(room_for(prod(shape[k] for k in axes), len(spaces)) >= nbytes for axes, nbytes in spaces.items()):
        return 0, 0
    taken = {k for n in found.folds for k in found.structure[n][0].map.axes}
    taken |= {found.structure[n][1] for n in found.counters}
    own = own_axes(target.shape)
    near = {*own[-2:], *sorted(own, key=lambda k: -target.strides[k])[-2:]}
    runs = dict[tuple[int, int], int]()
    for k in {*own}.intersection(*spaces) - taken:
        each = max(prod(shape[j] for j in axes if j != k) * nbytes for axes, nbytes in spaces.items())
        length = _length(shape[k], beforehand.ROOM // len(spaces) // each, k in near)
        steps = zip(target.shape, target.strides, strict=True)
        inner = prod(shape[k + 1 :]), prod(n for n, s in steps if s < target.strides[k])
        if length > 1:
            runs[k, length] = length * min(inner)
    return max(runs, key=runs.__getitem__, default=None)


def _length(extent: int, most: int, near: bool) -> int:
    """How many elements of an axis are computed at a time, no more than `most`: all pieces are about as long. But where the axis is one of two innermost
    ones, on either side, short ones are exactly so if that halves them at worst, and the last of others has enough elements.
    """
    if most and not near:
        return -(-extent // -(-extent // most))
    exact = max((n for n in range(1, min(most, EXACT) + 1) if extent % n == 0), default=0)
    if most <= 2 * exact <= 2 * EXACT:
        return exact
    for count in range(-(-extent // max(1, most)), extent // MOST_WOVEN):
        length = -(-extent // count)
        if extent - length * (count - 1) > MOST_WOVEN:
            return length
    return exact


def _cut(turned: Turned, axis: int, length: int) -> Turned:
    """The same of so many elements of an axis, of all where that is 0."""
    if not length:
        return turned

    def shape(extents: Shape) -> Shape:
        return intern_shape(tuple(length if k == axis and n != 1 else n for k, n in enumerate(extents)))

    def layout(view: Layout) -> Layout:
        return layout_of(shape(view.shape), view.strides)

    found = turned.found
    found = replace(found, shapes=[s and shape(s) for s in found.shapes], layouts=list(map(layout, found.layouts)))
    return replace(turned, found=found, target=layout(turned.target))


def _strides(
    turned: Turned, order: Sequence[int], leaves: Collection[int], folds: Sequence[int], given: Given
) -> list[list[int]]:
    """The strides along some axes of the target, of the operands that what is left is made of, 0 for others, and of what folds come to."""
    found = turned.found
    strides = [[0] * len(order) for _ in given.layouts]
    strides[0] = [turned.target.strides[k] for k in order]
    for n in leaves:
        leaf = found.structure[n][1]
        if given.numbers[leaf]:
            strides[given.numbers[leaf]] = [found.layouts[leaf].strides[k] for k in order]
    return [*strides, *([packed(found.shapes[n] or ()).strides[k] for k in order] for n in folds)]


def _left(
    found: Gathered, axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]], operands: int
) -> tuple[Rest, Flat | None]:
    """What is left, of axes with these numbers, in the order of the target: of packed rows, or of axes that are taken as one, or neither."""
    every = list(range(len(axes)))
    if woven := rows_apart(found, every, extents, strides):
        return Rest(tuple(axes[k] for k in woven[0]), woven[1][-2]), None
    if flat := flat_axes(found, every, extents, strides):
        columns, rows = (tuple(axes[k] for k in each) for each in (flat.columns, flat.rows))
        along, down = (tuple(n for n in each if n < operands) for each in (flat.along, flat.down))
        return Rest(tuple(axes), 0), replace(flat, columns=columns, rows=rows, along=along, down=down)
    other = across(every, extents, strides)
    squares = fills_squares(every, extents, other)
    return Rest(tuple(axes), 0, tiles=bool(other), squares=squares), None
