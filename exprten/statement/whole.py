"""Statements with folds that are computed as a whole in the order of memory, to scratch, and then copied to a target whose axes have another order."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from exprten_jit import beforehand
from exprten_jit.derived import TABLE
from exprten_jit.reducers import is_known
from exprten_jit.vectors import DEAR

from ..expression.key import Key
from .alone import copy_alone, own_axes, own_of, whole_alone
from .gather import WEAK, Gathered
from .lying import MOST_WOVEN, TILED
from .memory_order import Turned
from .pieces import Tile, chained, cut, extents_of, is_for, is_from_memory, is_long, leaves_few, tiles_of, turns
from .signature import Alone, Rest
from .walk import Given, Walk

FAR_TIMES = 4  # as much room for what comes from memory, where a thread has so much stack
LEAST_STACK = 2 << 20  # bytes


def stack_bytes() -> int:
    """The stack of a thread that runs statements, as far as it is known: with glibc, where the limit of the process is what threads get that do not ask for less."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", {}):
        return 0
    import resource

    limit, own = resource.getrlimit(resource.RLIMIT_STACK)[0], threading.stack_size()
    return min(own or LEAST_STACK, limit if limit >= 0 else LEAST_STACK)


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
    packed rows of few elements are read; or where each element takes something dear, which folds mostly take too. And where the elements of vectors would lie `apart`
    because it is stored along another axis than it is read.
    """
    if is_dear(turned.found):
        return True
    found, target, own = turned.found, turned.target, own_axes(turned.target.shape)
    inner = min(own, key=lambda k: target.strides[k])
    if first is None or first.rest is None:
        few = min(n for n in target.shape if n != 1) < TILED
        return few or (inner != own[-1] if apart else is_from_memory(turned))
    along = any(inner in found.structure[n][0].map.axes for n in found.folds)
    few = first.rest.short > 0 and target.shape[own[-1]] <= MOST_WOVEN and not along
    return first.flat is not None or bool(first.pieces) or few


def is_dear(found: Gathered) -> bool:
    """Whether something that costs much is computed for each element of what is stored."""
    own = own_of(found, len(found.structure) - 1)
    return any(
        entry[0] != WEAK
        and (row := TABLE.get(entry[0].op)) is not None
        and row.cost >= DEAR
        and own_of(found, n) == own
        for n, entry in enumerate(found.structure)
    )


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
    room, size = beforehand.WHOLE_ROOM, key.dtype.itemsize
    tiles = tiles_of(turned, room // size, other)
    better = is_dear(turned.found) or not (apart or (first and first.flat))
    if better and is_from_memory(turned) and stack_bytes() >= LEAST_STACK:
        more = FAR_TIMES * room
        if longer := [tile for tile in tiles_of(turned, more // size, other) if is_long(turned, tile)]:
            room, tiles = more, longer
    return next(filter(None, (_whole_in(tile, walk, given, turned, names, numbers, key, room) for tile in tiles)), None)


def _whole_in(
    tile: Tile,
    walk: Walk,
    given: Given,
    turned: Turned,
    names: Sequence[str],
    numbers: Mapping[int, int],
    key: Key,
    room: int,
) -> Walk | None:
    """The same in pieces, into so many bytes."""
    extents, few = extents_of(turned.found), leaves_few(turned, tile, chained(turned))
    turned = cut(turned, tile)
    whole, copy = whole_alone(turned, given.numbers, names), copy_alone(turned, key, names)
    uneven = [names[k] for k, length in tile.items() if extents[k] % length]
    if (
        whole is None
        or copy is None
        or any(is_for(each, name, squares=False) for each in (whole, copy) for name in uneven)
        or (few and (copy.ways.flat is None or turns(whole.ways)))
    ):
        return None
    rest = Rest(
        (),
        0,
        tuple(names),
        pieces=tuple(numbers[k] for k in tile),
        whole=(whole, copy),
        exact=_exact(turned, whole, names),
        room=room,
    )
    return replace(
        walk, rest=rest, flat=None, pieces=tuple(tile.values()), short=0, packed=False, beside=False, block=None
    )


def _exact(turned: Turned, whole: Alone, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The extents that a kernel is made for: of blocks, of packed rows and of few columns."""
    ways, extents = whole.ways, dict(zip(names, turned.target.shape, strict=True))
    few, last = ways.few > 0 and is_known(ways.few), names[own_axes(turned.target.shape)[-1]]
    rows = next(row for row in whole.loops if last in row) if few or ways.narrow or ways.packed else ()
    return tuple((name, extents[name]) for name in sorted({*dict(ways.block), *rows}))
