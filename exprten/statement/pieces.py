"""Some elements of axes at a time: how many, so that there is room for what is computed before."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod

from exprten_jit import beforehand
from exprten_jit.beforehand import room_for

from ..expression.shape import Layout, Shape, intern_shape
from ..expression.shape import layout as layout_of
from .axes import folded_axes, own_axes
from .gather import Gathered
from .lying import MEMORY, MOST_WOVEN
from .memory_order import Turned
from .orders import MAX_PERMUTED
from .signature import Alone, Ways

FILLED = MOST_WOVEN + 1  # elements that fill squares
EXACT = 64  # elements: of an axis of so few kernels may be for their number
RUN = 128  # elements that are to follow each other in memory, in a piece of what is not in the second cache
LEAST_RUN = 96  # and do at least
LEAST_LONG = LEAST_RUN, 48  # elements that are to do so, and in the target, where else there are few of these
READ_ON = 512  # elements that follow each other in memory: of more it does not matter how many more
MANY = 8  # pieces: of an axis of so many one may be shorter than the others
STREAMED_RUN, LITTLE = 512, 16  # in pieces of folds alone, which take so many elements for each that they store
FEWEST_RUN = 16  # in those of any
SQUARE = 80  # elements of both axes of a piece: more than such as are exactly so many
FAR = 1 << 18  # elements: of more some are not in the second cache
LEAST_STORED = 8  # elements of an axis of the target, in a piece of what is read on
MOST_TWICE = 1.125  # of all elements, so many are computed in pieces that are alike


def extents_of(found: Gathered) -> list[int]:
    """Of all axes."""
    return [max(column) for column in zip(*(s for s in found.shapes if s is not None), strict=True)]


Tile = dict[int, int]  # how many elements of some axes are computed at a time


def cut(turned: Turned, tile: Tile) -> Turned:
    """The same of a tile."""
    if not tile:
        return turned

    def shape(extents: Shape) -> Shape:
        return intern_shape(tuple(n if n == 1 else tile.get(k, n) for k, n in enumerate(extents)))

    def layout(view: Layout) -> Layout:
        return layout_of(shape(view.shape), view.strides)

    found = turned.found
    found = replace(found, shapes=[s and shape(s) for s in found.shapes], layouts=list(map(layout, found.layouts)))
    return replace(turned, found=found, target=layout(turned.target))


def pieces_of(turned: Turned, spaces: Mapping[tuple[int, ...], int], room: int) -> list[Tile]:
    """In what pieces folds can be computed that come to so many bytes at each place of these axes, in so much room, the best first: along an axis, or all at once where
    that is enough. None where there is no such axis: all have it, and nothing counts it.
    """
    found, target, shape = turned.found, turned.target, extents_of(turned.found)
    if not all(spaces) or max(spaces.values()) > beforehand.MOST:
        return []
    if all(room_for(prod(shape[k] for k in axes), len(spaces), room) >= nbytes for axes, nbytes in spaces.items()):
        return [{}]
    taken = folded_axes(found)
    taken |= {found.structure[n][1] for n in found.counters}
    own, near = own_axes(target.shape), near_axes(target)
    runs, others = dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for k in {*own}.intersection(*spaces) - taken:
        each = max(prod(shape[j] for j in axes if j != k) * nbytes for axes, nbytes in spaces.items())
        most = room // len(spaces) // each
        steps = zip(target.shape, target.strides, strict=True)
        inner = min(prod(shape[k + 1 :]), prod(n for n, s in steps if abs(s) < abs(target.strides[k])))
        exact, about = _length(shape[k], most, k in near), _length(shape[k], most, near=False)
        runs |= {(k, exact): exact * inner} if exact > 1 else {}
        others |= {(k, about): about * inner} if about > 1 else {}
    runs |= others if runs and prod(shape) > FAR else {}
    return [{k: length} for k, length in sorted(runs, key=lambda each: -runs[each])]


def square_of(turned: Turned, spaces: Mapping[tuple[int, ...], int], room: int) -> Tile | None:
    """A piece of two axes and more of what folds come to, where these have its two innermost axes, on either side, and what follows each other in
    memory, or in the target, is less in pieces of one: about as many elements of both, of others two or three.
    """
    found, target = turned.found, turned.target
    if not all(spaces) or max(spaces.values()) > beforehand.MOST:
        return None
    taken = folded_axes(found)
    shape = [1 if k in taken else n for k, n in enumerate(extents_of(found))]
    every = own_axes(target.shape)
    room = room // len(spaces) // max(spaces.values())
    near = [every[-1], min(every, key=lambda k: abs(target.strides[k]))]
    own = [k for k in every if k not in taken]
    if (
        near[0] == near[1]
        or not {*near} <= {*own}
        or any({*own} != {*axes} for axes in spaces)
        or prod(extents_of(found)) <= FAR
    ):
        return None
    tile: Tile = {}

    def others(*apart: int) -> int:
        return prod(tile.get(k, shape[k]) for k in own if k not in apart)

    for k in own:
        if k not in near and others(*near) * prod(min(SQUARE, shape[j]) for j in near) > room:
            tile |= {k: next(n for n in (2, 3, shape[k]) if shape[k] % n == 0)}
    for k, other in (near[::-1], near):
        most = room // (others(*near) * (tile.get(other) or min(SQUARE, shape[other])))
        if most < shape[k]:
            tile[k] = _length(shape[k], most, near=True)
    return tile if all(tile.get(k, shape[k]) > MOST_WOVEN for k in near) and others() <= room else None


def near_axes(target: Layout) -> set[int]:
    """The two innermost ones, on either side."""
    own = own_axes(target.shape)
    return {*own[-2:], *sorted(own, key=lambda k: -abs(target.strides[k]))[-2:]}


def leaves_few(turned: Turned, tile: Tile, near: Collection[int]) -> bool:
    """Whether the last piece has fewer elements of one of these axes than what turns them needs, which the others have."""
    shape = extents_of(turned.found)
    return any(0 < shape[k] % n <= MOST_WOVEN for k, n in tile.items() if k in near)


def is_read_on(turned: Turned, tile: Tile) -> bool:
    """Whether what comes from memory is read on and on in a piece, of which enough is stored side by side: it is cut along the axis that is outermost in memory."""
    outer = own_axes(turned.target.shape)[0]
    return [*tile] == [outer] and tile[outer] >= LEAST_STORED and is_from_memory(turned)


def may_be_alike(turned: Turned, tile: Tile) -> bool:
    """Whether the last piece may begin in the one before, so that it is no shorter: where little of all there is is computed twice."""
    shape = extents_of(turned.found)
    return prod(-(-shape[k] // n) * n for k, n in tile.items()) <= MOST_TWICE * prod(shape[k] for k in tile)


def is_streamed_better(turned: Turned, tile: Tile) -> bool:
    """Whether folds across rows that are all there is are better not computed in pieces: where too few elements follow each other in memory, and little is
    stored.
    """
    found, shape, target = turned.found, extents_of(turned.found), turned.target
    along = any(len(shape) - 1 in found.structure[n][0].map.axes for n in found.folds)
    if not tile or along or prod(shape) <= FAR:
        return False
    run = _run(shape, tile, target)
    return run < FEWEST_RUN or (run < STREAMED_RUN and prod(shape) >= LITTLE * target.size)


def tiles_of(turned: Turned, room: int, other: Tile | None = None) -> list[Tile]:
    """Tiles of which all elements are no more than there is room for, and enough follow each other in memory and in the target, the best first; none
    where in another tile as many do.
    """
    shape, target = extents_of(turned.found), turned.target
    tile = _tile(turned, room, FILLED)
    if prod(shape) <= FAR:
        return [] if tile is None else [tile]
    found = [] if tile is None or _run(shape, tile, target) < LEAST_RUN else [tile]
    enough = other is not None and _run(shape, other, target) >= LEAST_RUN
    if not found and enough and _run_of_target(shape, other or {}, target) >= FILLED:
        return []
    near = chained(turned, RUN)
    orders = itertools.permutations(near) if len(near) <= MAX_PERMUTED else ()
    others = filter(None, (_tile(turned, room, RUN), *(_tile(turned, room, RUN, order) for order in orders)))
    every = {tuple(each.items()): each for each in others if _run(shape, each, target) >= LEAST_RUN}.values()
    return [*found, *sorted(every, key=lambda each: (len(each), -_run_of_target(shape, each, target)))]


def is_from_memory(turned: Turned) -> bool:
    """Whether most of all there is comes from memory, in many pieces."""
    return prod(extents_of(turned.found)) >= MEMORY


def is_long(turned: Turned, tile: Tile, least: tuple[int, int] | None = None) -> bool:
    """Whether lines follow each other in memory and in the target, in a tile: `least` so many elements."""
    shape, target = extents_of(turned.found), turned.target
    run, stored = (RUN, EXACT) if least is None else least
    return _run(shape, tile, target) >= run and _run_of_target(shape, tile, target) >= stored


def long_tiles(turned: Turned, room: int, other: Tile | None = None) -> list[Tile]:
    """Tiles where they do; or nearly so, where in another tile the elements that follow each other in the target fill no squares. None where in that
    one more than twice as many do in memory, up to some KiB.
    """
    least = LEAST_LONG if other is not None and _stores_few(turned, other) else None
    shape, target = extents_of(turned.found), turned.target
    enough = 0 if other is None else min(READ_ON, _run(shape, other, target) // 2)
    found = (tile for tile in tiles_of(turned, room) if is_long(turned, tile, least))
    return [tile for tile in found if _run(shape, tile, target) >= enough]


def square_tiles(turned: Turned, room: int) -> list[Tile]:
    """The tile of which as many elements as fill squares follow each other on either side, if there is room for it."""
    tile = _tile(turned, room, FILLED)
    return [] if tile is None else [tile]


def _stores_few(turned: Turned, tile: Tile) -> bool:
    """Whether the elements that follow each other in the target fill no squares, in a tile."""
    return _run_of_target(extents_of(turned.found), tile, turned.target) < FILLED


def chained(turned: Turned, least: int = FILLED) -> dict[int, int]:
    """The axes that are innermost in memory until so many elements follow each other, and in the target until these fill squares; and how many of each that
    takes.
    """
    shape, own = extents_of(turned.found), own_axes(turned.target.shape)
    chains = [
        _chain(shape, reversed(own), least),
        _chain(shape, sorted(own, key=lambda k: abs(turned.target.strides[k])), FILLED),
    ]
    return {k: max(chain.get(k, 1) for chain in chains) for chain in chains for k in chain}


def _tile(turned: Turned, room: int, least: int, order: Sequence[int] = ()) -> Tile | None:
    """A tile where so many elements are to follow each other in memory, and as many in the target as fill squares, if possible: these axes are cut in this
    order.
    """
    found, target, shape = turned.found, turned.target, list(extents_of(turned.found))
    taken = folded_axes(found)
    own, out, near, squares = own_axes(target.shape), dict[int, int](), chained(turned, least), chained(turned)
    alone = {k for k in near if near[k] <= room * shape[k] // prod(shape) < shape[k]}  # to cut one of these is enough
    usual = sorted(near, key=lambda k: (k not in alone, k if k in alone else -shape[k]))
    for k in (*(k for k in own if k not in near), *(order or usual)):
        others = prod(shape) // shape[k]
        if k in taken or others * shape[k] <= room:
            continue
        most = max(near.get(k, 1), room // others)
        length, enough = _length(shape[k], min(most, shape[k]), k in squares), min(near.get(k, 1), FILLED)
        if length < enough and shape[k] >= MANY * most:
            length = max((n for n in range(enough, most + 1) if shape[k] % n > MOST_WOVEN), default=most)
        if enough <= length < shape[k]:
            shape[k] = out[k] = length
    return dict(sorted(out.items())) if prod(shape) <= room else None


def _run(shape: Sequence[int], tile: Tile, target: Layout) -> int:
    """How many elements follow each other in memory."""
    return _following(shape, tile, own_axes(target.shape))


def _run_of_target(shape: Sequence[int], tile: Tile, target: Layout) -> int:
    """And in the target."""
    return _following(shape, tile, sorted(own_axes(target.shape), key=lambda k: -abs(target.strides[k])))


def _following(shape: Sequence[int], tile: Tile, axes: Sequence[int]) -> int:
    """How many elements of a tile follow each other along some axes, the innermost last."""
    cut_at = next((n for n, k in enumerate(reversed(axes)) if k in tile), len(axes))
    return prod(tile.get(k, shape[k]) for k in axes[::-1][: cut_at + 1])


def _chain(shape: Sequence[int], axes: Iterable[int], least: int) -> dict[int, int]:
    """Axes, the innermost first, until so many elements follow each other; and how many of each that takes."""
    out, many = dict[int, int](), 1
    for k in axes:
        if many >= least:
            break
        out[k] = min(shape[k], -(-least // many))
        many *= shape[k]
    return out


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
        for each in (-(-length // FILLED) * FILLED, length):  # whole lines, if possible
            if each <= most and extent - each * (count - 1) > MOST_WOVEN:
                return each
    return exact


def turns(ways: Ways) -> bool:
    """Whether something is turned in registers."""
    return ways.squares or ways.tiles


def is_for(alone: Alone, name: str, squares: bool = True) -> bool:
    """Whether a kernel is for the extent of this name, or for no less than fills squares."""
    ways, exact = alone.ways, tuple[str, ...]()
    if ways.few or ways.columns:  # or for no fewer than half as many columns
        exact = alone.loops[-1]
    elif ways.narrow:
        exact = alone.loops[-2]
    if ways.flat and ways.flat.each > 1:
        exact += alone.loops[ways.flat.columns[-1]]
    return (squares and ways.squares) or name in exact or name in dict(ways.block)
