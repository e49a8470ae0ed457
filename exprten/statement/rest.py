"""Statements whose folds are computed before what is left of them: the folds as they lie in memory, what is left as it is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from exprten_jit import beforehand
from exprten_jit.beforehand import room_for
from exprten_jit.columns import BLOCK
from exprten_jit.kernel import First
from exprten_jit.reducers import rounded_up

from ..expression.key import Key
from ..expression.shape import Layout
from .alone import folds_alone
from .axes import TARGET, Folded, Same, count_of, folded_axes, leaves_of, own_axes, own_of, views_of
from .before import LEAST, names_of
from .brought import brought_first, is_scattered
from .few import ONE_NUMBER, WRITTEN_ROWS, is_dear
from .flat import LEAST as LEAST_ELEMENTS
from .gather import WEAK, Gathered
from .lying import MOST_WOVEN, fills_squares, writes_out
from .memory_order import Turned, in_memory_order
from .orders import folded_by, packed_rows, runs_onto
from .pieces import (
    EXACT,
    FAR,
    Tile,
    cut,
    extents_of,
    is_for,
    is_from_memory,
    is_read_on,
    is_streamed_better,
    leaves_few,
    may_be_alike,
    near_axes,
    pieces_of,
    square_of,
    turns,
)
from .plain import left_alone
from .registers import machine
from .signature import Rest
from .walk import Given, Walk
from .whole import (
    WIDE_TIMES,
    in_pieces,
    innermost,
    is_better_whole,
    is_far,
    is_wide,
    may_be_whole,
    of_any_length,
    room_from_memory,
    whole_first,
)

LEAST_APART = 6  # elements of packed rows, of which more follow each other in memory than as they are stored: of fewer all are read at once
NEAR = 64  # elements that are stored backwards: more are whole vectors
MOST_CUT = 24  # elements of rows that fill half of a second square, and less
TURNED = 3  # axes in all: of columns of two that run on squares are turned at once


def with_rest(walk: Walk, given: Given, over: tuple[Folded, ...], key: Key | None) -> Walk:
    """The loops of a statement with folds, with what is left of it when all of these are computed before, where that is better; `over` is what each
    Reduce folds, `key` that of a target that is only written.
    """
    same, goal = given.same, given.layouts[0]
    small = max(view.size for view in given.layouts) < LEAST_ELEMENTS
    if same is None or small or not (given.vectors and given.free):
        return walk
    if walk.packed and _reads_apart(walk, same, goal) and not (walk.short >= LEAST_APART and _stores_less(walk, given)):
        return walk
    onto = runs_onto(walk.axes, same, walk.extents)
    squares = (
        onto is not None and count_of(same) <= TURNED and fills_squares(walk.axes, walk.extents, [onto], same.found)
    )
    if squares and key is not None and is_dear(same.found):  # not of rows that stay rows, and are no whole vectors
        squares = goal.strides[walk.axes[-1]] != 1 or walk.extents[-1] % (MOST_WOVEN + 1) == 0
    if squares and prod(walk.extents) > FAR:  # of cut rows of a target too many lines are stored twice
        squares = prod(n for k, n in zip(walk.axes, walk.extents, strict=True) if k in (onto, walk.axes[-1])) <= BLOCK
    squares = squares and not _is_of_few_rows(walk, given)
    turned = in_memory_order(same, goal)
    if turned is None or any(goal.strides[k] == 0 for k in walk.axes):
        return walk
    across = key is not None and not walk.block and _is_dear_across(turned)
    if (walk.block or squares) and (onto is None or min(walk.extents) > MOST_WOVEN) and not across:
        return walk
    whole = key is not None and may_be_whole(turned, given)
    other = across or is_better_apart(turned) or _is_strewn(walk, same, turned)
    backwards = _backwards(walk, same, goal)
    if not (other or backwards or (whole and is_scattered(turned))):
        return walk
    named = names_of(same, walk.axes, over)
    names = [name for p in turned.places if (name := named.get(p))]
    own, (leaves, _) = own_axes(turned.target.shape), _outside(turned.found)
    if len(names) < len(turned.places) or any(not {*own_of(turned.found, n)} <= {*own} for n in leaves):
        return walk
    at = {same.of((TARGET, k)): k for k in walk.axes}
    numbers = {n: at[p] for n, p in enumerate(turned.places) if p in at}
    twice = key is not None and 0 not in given.numbers and not given.found.several  # an element may be stored so
    if whole and (found := brought_first(walk, given, turned, same, named, numbers)):
        return found
    first = None if squares or walk.block else _folds_first(walk, given, turned, names, numbers, twice)
    apart, dear = _lies_apart(walk, given, same), is_dear(turned.found)
    if not (other or dear or backwards > 1 or _takes_rows(first)):
        return walk
    if key is not None and whole and (is_better_whole(turned, first, apart) if other else dear):
        return whole_first(walk, given, turned, names, numbers, key, first, apart) or first or walk
    return first or walk


def _is_dear_across(turned: Turned) -> bool:
    """Whether something dear is made of rows that are stored across, and folded as rows of the target, and those fill squares badly, where lines that are stored are claimed: from the caches a copy
    turns them better.
    """
    own, folded = own_axes(turned.target.shape), folded_axes(turned.found)
    if not machine().waits or not is_dear(turned.found) or is_from_memory(turned) or len(own) < 2:
        return False
    inner = innermost(turned)
    return inner != own[-1] and inner in folded and MOST_WOVEN + 1 < turned.target.shape[inner] <= MOST_CUT


def _is_strewn(walk: Walk, same: Same, turned: Turned) -> bool:
    """Whether rows that are folded, a row in each lane, lie at some distance from each other, with others between them; in the caches where less is stored than is read."""
    taken = {p for n in same.found.folds for p in folded_by(same, n)}
    nearest = next((p for p in reversed(turned.places) if p not in taken), None)
    strewn = walk.short > 0 and not walk.packed and same.of((TARGET, walk.axes[-1])) != nearest
    return strewn and (2 * prod(walk.extents) <= prod(extents_of(turned.found)) or is_from_memory(turned))


def _backwards(walk: Walk, same: Same, goal: Layout) -> int:
    """How many elements, or rows of how many, are stored from the last to the first of those that are read, where they are few; else 0."""
    found, inner = same.found, same.of((TARGET, walk.axes[-1])) if walk.axes else None
    if inner is None or walk.short or not found.layouts or any(inner in folded_by(same, n) for n in found.folds):
        return 0
    n, largest = max(zip(leaves_of(found), found.layouts, strict=True), key=lambda leaf: leaf[1].size)
    read = {p: step for p, step in zip(same.dims(n), largest.strides, strict=True) if p is not None}
    steps = (abs(s) for k in walk.axes if (s := goal.strides[k]) * read.get(same.of((TARGET, k)), s) < 0)
    return min((step for step in steps if 1 < step <= NEAR or (step == 1 and walk.extents[-1] <= NEAR)), default=0)


def _takes_rows(walk: Walk | None) -> bool:
    """Whether what is left of a statement takes rows in registers."""
    left = walk.rest.left if walk is not None and walk.rest is not None else None
    return left is not None and (left.ways.short > 0 or left.ways.strung > 0)


def _is_of_few_rows(walk: Walk, given: Given) -> bool:
    """Whether folds that are stored as they are take few rows: these have no loop where they are computed before, and few elements are turned then."""
    return _stores_less(walk, given) and max(view.size for view in given.layouts) <= WRITTEN_ROWS * prod(walk.extents)


def _stores_less(walk: Walk, given: Given) -> bool:
    """Whether half as much is stored as is read, in the caches: it takes little time to turn it."""
    read = max(view.size for view in given.layouts)
    return 2 * prod(walk.extents) <= read and writes_out(read)


def _reads_apart(walk: Walk, same: Same, goal: Layout) -> bool:
    """Whether rows that are folded are read where they do not follow each other."""
    taken = {p for n in same.found.folds for p in folded_by(same, n) if p is not None}
    return walk.short > 0 and not packed_rows(same, goal, taken, (TARGET, walk.axes[-1]))


def _lies_apart(walk: Walk, given: Given, same: Same) -> bool:
    """Whether some elements along the innermost loop lie apart, and these are no rows that have a kernel of their own."""
    inner, views = same.of((TARGET, walk.axes[-1])), views_of(same.found, given.layouts[0])
    steps = (abs(s) for n, view in views for p, s in zip(same.dims(n), view.strides, strict=True) if p == inner)
    return not walk.packed and any(step > 1 for step in steps)


def _folds_first(
    walk: Walk, given: Given, turned: Turned, names: Sequence[str], numbers: Mapping[int, int], twice: bool
) -> Walk | None:
    """The loops of what is left when folds are computed before; `names` are those of the extents in the order of memory, `numbers` those that its axes
    have in the walk; `twice`: an element may be stored so.
    """
    leaves, spaces = _outside(turned.found)[0], _spaces(turned.found)
    room = beforehand.ROOM
    if not leaves and is_far(turned):
        room = room_from_memory() // 2
    elif not leaves and is_wide():
        room *= WIDE_TIMES
    tiles = pieces_of(turned, spaces, room)
    planes = {len(axes) for axes in spaces} == {2}  # of more axes a whole has longer rows
    square = square_of(turned, spaces, room) if tiles != [{}] and (planes or not leaves) else None
    long = [] if leaves else [tile for tile in tiles if is_read_on(turned, tile)]
    tiles.sort(key=lambda tile: tile not in long)
    if square and (len(square) > 1 or not leaves) and not long:
        tiles.insert(0, square)
    if not leaves and tiles and is_streamed_better(turned, tiles[0]):
        return None
    tiles = [tile for tile in tiles if leaves or not is_streamed_better(turned, tile)]
    found = (_folds_first_in(tile, walk, given, turned, spaces, names, numbers, twice, room) for tile in tiles)
    return next(filter(None, found), None)


def _folds_first_in(
    tile: Tile,
    walk: Walk,
    given: Given,
    turned: Turned,
    spaces: Mapping[tuple[int, ...], int],
    names: Sequence[str],
    numbers: Mapping[int, int],
    twice: bool,
    room: int,
) -> Walk | None:
    """The same in pieces, in so much room."""
    leaves, left = _outside(turned.found)[0], left_alone(cut(turned, tile), given.numbers, names)
    if left is None:
        return None
    before, extents, turned = turned, extents_of(turned.found), cut(turned, tile)
    ways = left.ways
    plain = not (ways.flat or ways.block or ways.short or ways.tiles or ways.strung)
    if (plain and (leaves or tile)) or (ways.short and leaves and walk.short and tile):
        return None  # all that is not done at once is read again
    alone, uneven = folds_alone(turned, given.numbers, names), [k for k, n in tile.items() if extents[k] % n]
    any_length = of_any_length(left, [names[k] for k in uneven])
    exact = any(is_for(each, names[k], tile[k] <= EXACT) for each in (*alone, any_length) for k in uneven)
    few = leaves_few(before, tile, near_axes(before.target)) and (
        ways.flat is None or any(turns(x.ways) for x in alone)
    )
    alike = exact or few
    if alike and (leaves or not twice or not may_be_alike(before, tile)):
        return None
    rest = Rest(
        tuple(names),
        first=_room(turned.found, spaces, names, room),
        alone=alone,
        left=left if alike else any_length,
        pieces=tuple(numbers[k] for k in tile),
        room=room if room > beforehand.ROOM else 0,
        alike=alike,
    )
    return in_pieces(walk, rest, tile)


def _room(found: Gathered, spaces: Collection[tuple[int, ...]], names: Sequence[str], room: int) -> First:
    """Room for what Reduces of these axes come to."""
    shape = extents_of(found)
    rows = [(own, room_for(prod(shape[k] for k in own), len(spaces), room)) for own in spaces]
    return tuple(sorted((tuple(sorted(names[k] for k in own)), nbytes, 0) for own, nbytes in rows))


def is_better_apart(turned: Turned) -> bool:
    """Whether folds are better computed alone: where the target's axes have another order than they have in the largest operand. But of two axes, across
    which all folds run, tiles serve both.
    """
    found, target = turned.found, turned.target
    largest = max((own_axes(view.shape) for view in found.layouts), key=len, default=())
    own = [k for k in own_axes(target.shape) if k in largest]
    along = bool(largest) and any(largest[-1] in found.structure[n][0].map.axes for n in found.folds)
    return sorted(own, key=lambda k: -abs(target.strides[k])) != own and (len(largest) > 2 or along)


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


def _spaces(found: Gathered) -> dict[tuple[int, ...], int]:
    """The axes that Reduces have, and bytes at each of their places for what those of the same axes come to."""
    out, least = dict[tuple[int, ...], int](), dict[tuple[int, ...], int]()
    for n in found.folds:
        own, key = own_of(found, n), found.structure[n][0]
        across = len(found.shapes[n] or ()) - 1 not in key.map.axes  # in pieces of whatever length
        alone = across and key.dtype.kind == "f" and key.map.reducer in ONE_NUMBER
        out[own] = out.get(own, 0) + max(key.dtype.itemsize, LEAST // 2)
        least[own] = max(least.get(own, 0), LEAST // 2 if alone else LEAST)
    return {own: max(least[own], rounded_up(nbytes)) for own, nbytes in out.items()}
