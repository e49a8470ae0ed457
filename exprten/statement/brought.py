"""Statements with folds whose source is copied to scratch, in the order of the target, before they are computed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from exprten_jit import beforehand
from exprten_jit.reducers import is_known

from .alone import packed, whole_alone
from .axes import Place, Same, folded_axes, own_axes, own_of
from .few import WRITTEN_ROWS, is_dear
from .gather import WEAK
from .lying import MOST_WOVEN
from .memory_order import Turned, in_target_order
from .orders import NARROW
from .pieces import FILLED, RUN, Tile, cut, extents_of, is_from_memory, long_tiles, tiles_of
from .plain import copy_alone
from .registers import machine
from .signature import SCRATCH
from .walk import Given, Walk
from .whole import fit_pieces, in_pieces, is_far, of_any_length, rest_of, room_from_memory, uneven_pieces

PART = 7  # elements of a row that are less than a register of 256 bits
PARTS = 8  # elements: rows of several such are read as fast where they lie
TALL = 32  # rows that are folded: of fewer, of which nothing dear is made, columns are read from their ends
COLUMNS = 48  # of a row at most, where all columns of several rows are folded at once


def is_better_brought(turned: Turned, stored: Turned) -> bool:
    """Whether a statement whose target has another order is better computed in that: from memory where its source has short rows, and the target long
    ones, neither of which is folded; or where both have the same rows, and few columns are folded that lie apart in the target, where these run on. In the
    caches where rows that are folded across are less than a register; and where few columns are folded from the last row to the first, and are rows of the target.
    """
    shape, folded = extents_of(turned.found), _folded(turned)
    (*_, beside, inner), outer = turned.places, stored.places[-1]
    if inner in folded:
        return False
    if _goes_down(turned):
        return True
    if outer in folded:  # rows of the target are few columns as they lie
        few = beside == outer and shape[-1] <= PARTS and shape[-2] > FILLED
        return few and is_dear(turned.found) and is_scattered(turned)
    if is_scattered(turned) or (inner == outer and _is_read_back(turned)):
        return True
    if not is_far(turned):  # of rows that fill no register, where squares are turned without scratch
        row = itertools.takewhile(lambda k: turned.places[k] not in folded, reversed(range(len(shape))))
        few = not is_from_memory(turned) and prod(shape[k] for k in row) <= PART and not is_dear(turned.found)
        return few and shape[turned.places.index(outer)] > FILLED
    if inner == outer:
        return FILLED <= shape[-1] <= COLUMNS and beside in folded and stored.places[-2] not in folded
    return shape[turned.places.index(outer)] >= RUN and shape[-1] <= FILLED


def _is_read_back(turned: Turned) -> bool:
    """Whether rows of less than a few vectors, across which folds run, are read from their ends, and something dear is made of them, or many are folded."""
    shape, own = extents_of(turned.found), own_axes(turned.target.shape)
    back = any(steps[own[-1]] == -1 for steps in _steps_of(turned)) and 1 < shape[own[-1]] < NARROW
    tall = prod(shape[k] for k in folded_axes(turned.found)) >= TALL
    return back and (tall or is_dear(turned.found))


def _goes_down(turned: Turned) -> bool:
    """Whether something dear is made of short rows that are read from their ends, one after the other, or from their beginnings, but follow each other downwards: such do not run on either way."""
    shape, own, folded = extents_of(turned.found), own_axes(turned.target.shape), folded_axes(turned.found)
    if not machine().waits or len(own) < 2 or not is_dear(turned.found) or is_from_memory(turned):
        return False
    many, rows = shape[own[-1]], own[-2] not in folded
    down = any(
        (rows and steps[own[-2]] == -many and steps[own[-1]] == 1) or (steps[own[-1]] == -1 and steps[own[-2]] > 0)
        for steps in _steps_of(turned)
    )
    return down and 1 < many < NARROW


def is_scattered(turned: Turned) -> bool:
    """Whether short rows, along which nothing is folded, have gaps between them, of no more than their length, in an operand that has all axes, or are folded
    from the last to the first; but not where several packed ones are read at once, and nothing dear is made of them.
    """
    shape, own = extents_of(turned.found), own_axes(turned.target.shape)
    folded = folded_axes(turned.found)
    views = _steps_of(turned)
    if len(own) < 2 or own[-1] in folded or not 1 < shape[own[-1]] <= NARROW:
        return False
    columns = shape[own[-1]]
    short, tall = columns <= MOST_WOVEN, prod(shape[k] for k in folded) > WRITTEN_ROWS
    at_once = is_known(columns) and not is_dear(turned.found)
    downwards = [(steps[k], steps[own[-1]]) for steps in views for k in folded if steps[k] < 0]
    one_by_one = any(not at_once or (row, step) != (-columns, 1) for row, step in downwards)
    if (short or (tall and columns % PARTS)) and one_by_one:
        return True
    rows = [(steps[own[-2]], steps[own[-1]]) for steps in views]
    return any(short and step == 1 and columns < row <= 2 * columns for row, step in rows)


def brought_first(
    walk: Walk, given: Given, turned: Turned, same: Same, named: Mapping[Place, str], numbers: Mapping[int, int]
) -> Walk | None:
    """The loops of a statement whose source is copied first, where that is better."""
    stored, leaf = in_target_order(same, given.layouts[0]), _source(turned, given.numbers)
    if stored is None or leaf is None or not is_better_brought(turned, stored):
        return None
    names, order = [named[p] for p in stored.places], [stored.places.index(p) for p in turned.places]
    room, size = beforehand.WHOLE_ROOM, turned.found.leaves[leaf].key.dtype.itemsize
    tiles = tiles_of(turned, room // size)
    if longer := long_tiles(turned, room_from_memory() // size):
        room, tiles = room_from_memory(), longer
    cuts = {order[k]: n for k, n in numbers.items()}
    for tile in tiles:
        here = dict(sorted((order[k], length) for k, length in tile.items()))
        if found := _in_pieces(here, walk, given, stored, leaf, names, cuts, room):
            return found
    return None


def _in_pieces(
    tile: Tile,
    walk: Walk,
    given: Given,
    turned: Turned,
    leaf: int,
    names: Sequence[str],
    numbers: Mapping[int, int],
    room: int,
) -> Walk | None:
    """The same in pieces, into so many bytes."""
    found, number = cut(turned, tile), given.numbers[leaf]
    scratch, source = packed(found.target.shape), found.found.layouts[leaf]
    layouts = [scratch if n == number else view for n, view in zip(given.numbers, found.found.layouts, strict=True)]
    copy = copy_alone(scratch, source, (SCRATCH, number), turned.found.leaves[leaf].key, names)
    lying = replace(found, found=replace(found.found, layouts=layouts))
    way = whole_alone(lying, given.numbers, names, found.target)
    if way is None or copy is None:
        return None
    uneven = uneven_pieces(turned, tile, names)
    copy = of_any_length(copy, uneven)
    if not fit_pieces(turned, tile, (way, copy), uneven):
        return None
    rest = rest_of((way, copy), found, names, [numbers[k] for k in tile], room)
    return in_pieces(walk, replace(rest, whole=(copy, way), brought=True), tile)


def _source(turned: Turned, numbers: Sequence[int]) -> int | None:
    """The one leaf that has all axes of the target; nothing where several operands do."""
    found, own = turned.found, own_axes(turned.target.shape)
    every = [entry[1] for n, entry in enumerate(found.structure) if _is_leaf(entry) and own_of(found, n) == own]
    return every[0] if len({numbers[leaf] for leaf in every}) == 1 else None


def _is_leaf(entry: tuple[object, ...]) -> bool:
    return entry[0] != WEAK and getattr(entry[0], "op", "") == "leaf"


def _steps_of(turned: Turned) -> list[tuple[int, ...]]:
    """The strides of operands that have all axes of the target."""
    own = own_axes(turned.target.shape)
    return [view.strides for view in turned.found.layouts if own_axes(view.shape) == own]


def _folded(turned: Turned) -> set[Place]:
    return {turned.places[k] for k in folded_axes(turned.found)}
