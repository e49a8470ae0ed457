"""Statements with folds that are computed as a whole in the order of memory, to scratch, and then copied to a target whose axes have another order."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from exprten_jit import beforehand
from exprten_jit.machine import LINE
from exprten_jit.reducers import is_known

from ..expression.key import Key
from ..expression.shape import Shape
from .alone import packed, whole_alone
from .axes import folded_axes, own_axes, own_of
from .few import is_dear
from .gather import Gathered
from .lines import breaks_lines, by_scratch, cut_run, may_be_lined, with_line
from .lying import MOST_WOVEN, SQUARE, TILED
from .memory_order import Turned
from .orders import NARROW
from .pieces import (
    FILLED,
    Tile,
    chained,
    cut,
    extents_of,
    is_for,
    is_from_memory,
    leaves_few,
    long_tiles,
    square_tiles,
    tiles_of,
    turns,
)
from .plain import copy_alone
from .registers import machine
from .signature import SCRATCH, Alone, Rest, Ways
from .walk import Given, Walk

# as much room for what comes from memory, where a thread has so much stack: what is stored at a time is longer
FAR_TIMES = {8 << 20: 16, 2 << 20: 8}
WIDE_TIMES = 2  # as much for all that is stored, where the second cache is larger
PAGE = 4096  # bytes
FILLED_ROOM = 0.8  # of room for pieces that have a line more
LEAST_STACK = 2 << 20  # bytes: where the limit of the process is none, what threads get


def stack_bytes() -> int:
    """The stack of a thread that runs statements, as far as it is known: with glibc, where the limit of the process is what threads get that do not ask for less."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", {}):
        return 0
    import resource

    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    most = limit if limit >= 0 else LEAST_STACK
    return min(threading.stack_size() or most, most)


def may_be_whole(turned: Turned, given: Given) -> bool:
    """Whether what is stored has all axes of the target, and reads nothing of it. Of folds of several axes some would be computed again."""
    found, own = turned.found, own_axes(turned.target.shape)
    return (
        own_of(found, len(found.structure) - 1) == own
        and len({own_of(found, n) for n in found.folds} | {own}) == 2
        and not found.counters
        and 0 not in given.numbers
        and not any(leaf.key.dtype.kind == "c" for leaf in found.leaves)
    )


def is_better_whole(turned: Turned, first: Walk | None, apart: bool) -> bool:
    """Whether a statement is better computed as a whole, and then copied: where what is left of it would have been brought to scratch, or in pieces, or
    packed rows of few elements are read, or few rows across those that are folded; or where each element takes something dear, which folds mostly take too. And where the elements of vectors would lie `apart`
    because it is stored along another axis than it is read.
    """
    if is_dear(turned.found):
        return True
    if _turns_well(turned, first) or (first is not None and _goes_up_few_columns(turned.found)):
        return False
    target, own, inner = turned.target, own_axes(turned.target.shape), innermost(turned)
    if first is None or first.rest is None or first.rest.left is None:
        few = min(n for n in target.shape if n != 1) < TILED or _is_of_few_rows(turned)
        return few or (inner != own[-1] if apart else is_from_memory(turned))
    ways = first.rest.left.ways
    few = ways.short > 0 and target.shape[own[-1]] <= MOST_WOVEN and inner not in folded_axes(turned.found)
    return ways.flat is not None or bool(first.pieces) or few or _lies_across(turned, ways)


def innermost(turned: Turned) -> int:
    """The innermost axis of the target."""
    return min(own_axes(turned.target.shape), key=lambda k: abs(turned.target.strides[k]))


def _is_of_few_rows(turned: Turned) -> bool:
    """Whether rows that are folded, a row in each lane, are rows of the target, and so few of them follow each other there that no vector is filled."""
    own, steps = own_axes(turned.target.shape), turned.target.strides
    inner, *beside = sorted(own, key=lambda k: abs(steps[k]))
    rows = bool(beside) and inner == own[-1] and inner in folded_axes(turned.found)
    return rows and turned.target.shape[inner] <= NARROW and turned.target.shape[beside[0]] < FILLED


def _lies_across(turned: Turned, ways: Ways) -> bool:
    """Whether few rows of the target lie across rows of the source that are folded, and what is left of the folds has no way but one element at a time."""
    inner, own = innermost(turned), own_axes(turned.target.shape)
    plain = not (ways.short or ways.block or ways.flat or ways.strung)
    return plain and own[-1] in folded_axes(turned.found) and inner != own[-1] and turned.target.shape[inner] < FILLED


def _goes_up_few_columns(found: Gathered) -> bool:
    """Whether few columns are folded from the last row to the first: whole rows of them do not run on as they are stored."""
    every = folded_axes(found)
    strides = [view.strides for view in found.layouts if len(view.strides) == len(found.shapes[-1] or ())]
    return any(1 < -row[k] <= MOST_WOVEN for row in strides for k in every)


def _is_turned_by_tiles(first: Walk) -> bool:
    """Whether what is left of folds is brought to tiles, and turned there."""
    return first.rest is not None and first.rest.left is not None and first.rest.left.ways.flat is not None


def _turns_well(turned: Turned, first: Walk | None) -> bool:
    """Whether what is left when the folds are there is turned as fast as a copy is, where lines that are stored are claimed: in squares, in pieces, in two axes, or brought to scratch by rows as they follow each other
    in the target, or those that are halves of a register; from the caches.
    """
    if not machine().waits or is_from_memory(turned):
        return False
    if first is None or first.rest is None or first.rest.left is None:
        return len(turned.target.shape) == 2
    ways, inner, own = first.rest.left.ways, innermost(turned), own_axes(turned.target.shape)
    if ways.flat is None:
        filled = bool(first.pieces) and turned.target.shape[own[-1]] >= SQUARE
        return filled or (ways.squares and not _lies_across(turned, ways))
    order = ways.flat.direct.order if ways.flat.direct else None
    along = order == "along" if inner in folded_axes(turned.found) else inner == own[-1]
    return not first.pieces and (order == "halved" or along)


def whole_first(
    walk: Walk,
    given: Given,
    turned: Turned,
    names: Sequence[str],
    numbers: Mapping[int, int],
    key: Key,
    first: Walk | None,
    apart: bool,
) -> Walk | None:
    """The loops of a statement that is computed in the order of memory, and copied to the target, whose elements are of this key's type; `first` are those
    that it has else, `apart` is as in `is_better_whole`.
    """
    tile_else = dict(zip(first.rest.pieces, first.pieces, strict=True)) if first and first.rest else None
    other = tile_else and {k: tile_else[n] for k, n in numbers.items() if n in tile_else}
    room, size, far = beforehand.WHOLE_ROOM, key.dtype.itemsize, is_far(turned)
    if prod(extents_of(turned.found)) * size <= WIDE_TIMES * room and is_wide():
        room *= WIDE_TIMES
    far_room = room_from_memory()
    longer = long_tiles(turned, far_room // size, other) if far else []
    made = _Made(walk, given, turned, names, numbers, key, far)
    every = [(tile, far_room) for tile in longer]
    every = every or [(tile, room) for tile in tiles_of(turned, room // size, other)]
    if not every and not far and machine().waits and is_wide() and first and _is_turned_by_tiles(first):
        room = WIDE_TIMES * beforehand.WHOLE_ROOM
        tiles = tiles_of(turned, room // size, other)
        every = [(tile, room) for tile in tiles if all(abs(turned.target.strides[k]) == 1 for k in tile)]
    if not every and far and apart and first is None:  # each element would be stored by itself
        every = [(tile, far_room) for tile in square_tiles(turned, far_room // size)]
    found = next(filter(None, (made.in_pieces(*each) for each in every)), None)
    if far and may_be_lined(key) and (found is None or made.breaks_lines(found)):
        half = far_room // 2
        longer = long_tiles(turned, int(half * FILLED_ROOM) // size, other)
        return next(filter(None, (made.by_scratch(tile, half) for tile in longer)), found)
    return found


def is_wide() -> bool:
    """Whether there is more room for what is computed in the caches: where the second one has a MiB, as it has beside registers of a line."""
    return not machine().small and stack_bytes() >= LEAST_STACK


def is_far(turned: Turned) -> bool:
    """Whether there is more room: for what comes from memory, and where threads have the stack for it."""
    return is_from_memory(turned) and stack_bytes() >= min(FAR_TIMES)


def room_from_memory() -> int:
    """Bytes for all that is stored, where there is more room."""
    return next((times for least, times in FAR_TIMES.items() if stack_bytes() >= least), 1) * beforehand.WHOLE_ROOM


@dataclass(frozen=True)
class _Made:
    """What makes the loops of a statement in pieces of some tile; from `far` they may be lined."""

    walk: Walk
    given: Given
    turned: Turned
    names: Sequence[str]
    numbers: Mapping[int, int]
    key: Key
    far: bool

    def in_pieces(self, tile: Tile, room: int) -> Walk | None:
        """All computed into so many bytes, and copied to the target: where rows of it are cut, and are no other rows in memory, in whole lines."""
        found, names, key = cut(self.turned, tile), self.names, self.key
        run = cut_run(found.target, tile) if self.far and may_be_lined(key) else []
        copy = self._in_squares(tile) or copy_alone(found.target, packed(found.target.shape), (0, SCRATCH), key, names)
        rows = copy is not None and bool(run) and _is_of_rows(copy, names[run[0]])
        if copy and (more := with_line(self.turned, tile, run, key, room) if rows else None):
            return self._walk(tile, more, (copy,), room, run[0])
        flat = self.far and copy is not None and copy.ways.flat is not None  # squares have a way of their own with such
        wide = in_one_set_along(found.target.shape, key.dtype.itemsize) if flat else None
        if wide is not None:
            lies = packed(found.target.shape, wide, LINE // key.dtype.itemsize)
            copy = copy_alone(found.target, lies, (0, SCRATCH), key, names)
        return self._walk(tile, found, (copy,) if copy else (), room, wide=wide)

    def _in_squares(self, tile: Tile) -> Alone | None:
        """How all is copied from memory to memory, where that is in squares, which know nothing of how many there are of the axes that are cut."""
        goal = self.turned.target
        copy = copy_alone(goal, packed(goal.shape), (0, SCRATCH), self.key, self.names) if self.far else None
        if (
            copy is None
            or not copy.ways.squares
            or replace(copy.ways, tiles=False, squares=False, inside=None) != Ways()
        ):
            return None
        inner = {name for loop in copy.loops for name in loop[1:]}
        return copy if inner.isdisjoint(self.names[k] for k in tile) else None

    def by_scratch(self, tile: Tile, room: int) -> Walk | None:
        """The same, with what was computed copied to the order of the target before, where that turns it, and many rows are whole lines."""
        found, names, key = cut(self.turned, tile), self.names, self.key
        run = cut_run(found.target, tile)
        copy = copy_alone(found.target, packed(found.target.shape), (0, SCRATCH), key, names)
        more = with_line(self.turned, tile, run, key, room) if run else None
        if more is None or copy is None or not copy.ways.squares or names[run[0]] in copy.loops[-1]:
            return None
        return self._walk(tile, more, by_scratch(more.target, run, key, names) or (), room, run[0])

    def breaks_lines(self, walk: Walk) -> bool:
        """Whether what it stores at a time begins and ends with parts of lines."""
        assert walk.rest is not None, "a statement as a whole"
        return not walk.rest.lined and breaks_lines(walk.rest.whole[-1], self.turned.target, self.names, self.key)

    def _walk(
        self,
        tile: Tile,
        turned: Turned,
        copies: tuple[Alone, ...],
        room: int,
        lined: int | None = None,
        wide: int | None = None,
    ) -> Walk | None:
        """The loops of pieces with these copies, where there are kernels for all of their lengths."""
        line, names = LINE // self.key.dtype.itemsize, self.names
        lies = None if wide is None else packed(turned.target.shape, wide, line)
        whole = whole_alone(turned, self.given.numbers, names, lies)
        if whole is None or not copies:
            return None
        uneven = uneven_pieces(self.turned, tile, names, lined)
        copies = tuple(of_any_length(copy, uneven) for copy in copies)
        rest = rest_of((whole, *copies), turned, names, [self.numbers[k] for k in tile], room)
        if wide is not None:
            rest = replace(rest, room=room + room * LINE // PAGE, wide=((names[wide], line),))
        if not fit_pieces(self.turned, tile, (whole, *copies), uneven):
            return None
        return in_pieces(self.walk, replace(rest, lined=lined is not None), tile)


def in_one_set_along(shape: Shape, size: int) -> int | None:
    """The axis along which elements of so many bytes lie a multiple of a page apart, and come into the same sets of the caches, in scratch of a shape."""
    steps = packed(shape).strides
    return next((k for k, n in enumerate(shape) if n >= FILLED and steps[k] * size % PAGE == 0), None)


def _is_of_rows(copy: Alone, name: str) -> bool:
    """Whether rows that begin with the axis of this extent are copied as they lie."""
    return copy.loops[-1][0] == name and replace(copy.ways, columns=0) == Ways()


def uneven_pieces(turned: Turned, tile: Tile, names: Sequence[str], lined: int | None = None) -> list[str]:
    """The names of axes whose last piece has another length than the others."""
    extents = extents_of(turned.found)
    return [names[k] for k, length in tile.items() if extents[k] % length or k == lined]


def of_any_length(copy: Alone, uneven: Sequence[str]) -> Alone:
    """A copy that is for no number of elements of what has several lengths."""
    several = [k for k, names in enumerate(copy.loops) if not {*uneven}.isdisjoint(names)]
    columns = 0 if len(copy.loops) - 1 in several else copy.ways.columns
    flat = copy.ways.flat and replace(copy.ways.flat, exact=copy.ways.flat.of_any_length(several).exact)
    return replace(copy, ways=replace(copy.ways, columns=columns, flat=flat))


def fit_pieces(turned: Turned, tile: Tile, ways: Sequence[Alone], uneven: Sequence[str]) -> bool:
    """Whether kernels, of which the first computes folds, are for pieces of all lengths."""
    whole, *copies = ways
    if any(is_for(each, name, squares=False) for each in ways for name in uneven):
        return False
    few = leaves_few(turned, tile, chained(turned))
    return not few or (any(copy.ways.flat for copy in copies) and not turns(whole.ways))


def rest_of(ways: tuple[Alone, ...], turned: Turned, names: Sequence[str], cuts: Sequence[int], room: int) -> Rest:
    """What a statement as a whole has, the first of these ways computes it, of pieces of axes with these numbers."""
    exact = _exact(turned, ways[0], names)
    return Rest(tuple(names), pieces=tuple(cuts), whole=ways, exact=exact, room=room)


def in_pieces(walk: Walk, rest: Rest, tile: Tile) -> Walk:
    """The loops of pieces."""
    lengths = tuple(tile.values())
    return replace(walk, rest=rest, flat=None, pieces=lengths, short=0, packed=False, beside=False, block=None)


def _exact(turned: Turned, whole: Alone, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The extents that a kernel is made for: of blocks, of packed rows and of few columns."""
    ways, extents = whole.ways, dict(zip(names, turned.target.shape, strict=True))
    few, last = ways.few > 0 and is_known(ways.few), names[own_axes(turned.target.shape)[-1]]
    rows = next(row for row in whole.loops if last in row) if few or ways.narrow or ways.packed else ()
    return tuple((name, extents[name]) for name in sorted({*dict(ways.block), *rows}))
