"""Blocks of few elements: several short axes that a kernel is made for, all of whose elements are written out.

Vectors take a block in each lane, along another axis. So small matrices, of which a sum runs down the columns or is subtracted from each,
have no loop of a few steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from exprten_jit.reducers import ACROSS, UNROLLED
from exprten_jit.unrolled import packed_part

from ..expression.shape import Layout
from .axes import TARGET, Folded, Place, Same, extent_of, views_of
from .few import are_rows_better, from_memory, has_index
from .gather import Gathered, widest
from .lying import LONG_SIZES, MOST_WOVEN, WAYS, in_one_set, rows_run_on
from .orders import folded_by, lies_across, taken_across
from .registers import machine

Key = TypeVar("Key", int, Place)

MOST = 72  # elements: of more, a kernel is longer than its loops are worth
MOST_PLAIN, MOST_ENDS = 32, 56  # without folds, and of those that are read from their ends along some axis
PART, MOST_PARTS = 4, 24  # elements of rows that fill parts of a register, and of a block of which only one side does
FAR, FAR_ROWS = 1 << 21, 20  # elements that are in no cache of one processor alone: of those no block has more rows
MOST_FOLDED = 36  # of which nothing but folds is stored, as they lie: further ones are read down a few columns as fast
NARROW = 3  # columns that blocks of all rows are better for, where vectors are small
MOST_ROWS = 11  # of these, where there are more than are surely better
SURELY = {
    True: 32,
    False: 16,
}  # by whether all of it is stored: of so many rows of all lengths; of more none that fill vectors otherwise


@dataclass(frozen=True)
class Block:
    """The axes of a block, with how many elements each has, and the one that vectors run along. An axis is the target's, by its number, or
    one that is folded.
    """

    axes: tuple[tuple[int | Place, int], ...]
    lanes: int


def plain_block(
    found: Gathered, axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> Block | None:
    """The block of a statement without folds, if there is one, where its innermost axis is short, or something lies across it."""
    if len(axes) < 3 or found.several:
        return None
    if extents[-1] > MOST_WOVEN and all(s[axes[-1]] in (0, 1) for s in strides):
        return None
    if extents[-2] > MOST_WOVEN and rows_run_on(extents, strides):  # they are taken as one row, which is long enough
        return None
    lengths = dict(zip(axes, extents, strict=True))
    steps = [dict(zip(axes, map(abs, row), strict=True)) for row in strides]  # in whichever direction
    ends = min(strides[0]) < 0 or any(-1 in row for row in strides)  # else each element would be brought by itself
    units = machine().waits and len(strides) == 2 and not ends  # of one operand may be turned by themselves
    for lanes, block, _ in _blocks(axes, [], lengths, steps):
        most = MOST_ENDS if ends and all(lengths[k] <= MOST_WOVEN for k in block) else MOST_PLAIN
        if prod(lengths[k] for k in block) > most or _fills_squares(block, lanes, lengths):
            continue
        if units and _fills_parts([lengths[k] for k in block], widest(found)):
            continue
        return Block(tuple((k, lengths[k]) for k in block), lanes)
    return None


def _fills_parts(rows: Sequence[int], size: int) -> bool:
    """Whether a block of two axes is units that are sooner turned one after the other, in parts of a register that these fill."""
    filled = [n % PART == 0 for n in rows]
    mostly = any(filled) and size in LONG_SIZES and prod(rows) >= MOST_PARTS
    return len(rows) == 2 and size > 1 and (all(filled) or mostly)


def _fills_squares(block: Sequence[int], lanes: int, lengths: Mapping[int, int]) -> bool:
    """Whether a block is rows that are turned sooner in squares: one and a half vectors of them, or two; and where elements come from memory about as many."""
    if len(block) > 1 or min(lengths[block[0]], lengths[lanes]) <= MOST_WOVEN:
        return False
    rows = lengths[block[0]]
    return rows in (MOST_PLAIN * 3 // 4, MOST_PLAIN) or (rows > FAR_ROWS and prod(lengths.values()) >= FAR)


def folded_block(same: Same, axes: Sequence[int], target: Layout) -> Block | None:
    """The block of a statement with folds, all of which it has in it, once for each index of the axes that are left."""
    found, places = same.found, {same.of((TARGET, k)): k for k in axes}
    taken = list(dict.fromkeys(p for n in found.folds for p in folded_by(same, n) if p is not None))
    lengths, across = {p: extent_of(same, p) for p in (*places, *taken)}, lies_across(same, target)
    stays = places.keys() >= {*taken} and machine().small and all(taken_across([*axes], same))
    most = MOST if stays else UNROLLED  # of rows that are stored; a row that is folded along has ROW elements at most
    if not taken or found.params or found.several or any(lengths[p] > most for p in taken):
        return None
    steps = [
        {p: abs(s) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None}
        for n, view in views_of(found, target)
    ]
    free = [p for p in places if p not in taken]
    apart = not machine().small and lies_across(same, target) and from_memory(same)  # else turned once more
    if not apart and are_rows_better([*axes], same, [lengths[p] for p in places]):
        return None
    narrow = machine().small and not has_index(found) and prod(lengths.values()) < FAR
    for lanes, block, loops in _blocks(free, taken, lengths, steps, machine().words):
        many, stored = prod(lengths[p] for p in block), places.keys() >= {*block} or across
        near = {lengths[p] for s in steps[1:] for p in block if s.get(p) == 1}
        if lengths[lanes] <= MOST_WOVEN and (stored or many > SURELY[False]):  # loops are better than one vector each
            continue
        if len(block) == 1 and many > UNROLLED:  # a row in each lane has a kernel of its own
            continue
        rows = [lengths[p] for p in taken]
        pays = narrow and max(near, default=many) <= NARROW and max(rows) <= UNROLLED
        pays = (pays or _pays(many, rows, near, stored)) and (many <= MOST_PLAIN or not across)
        pays = pays and all({lanes, *loops} <= {*same.dims(n)} for n in found.folds)
        if pays and not (machine().small and _are_in_one_set(block, lengths, steps[1:], widest(found))):
            return Block(tuple((places.get(p, p), lengths[p]) for p in block), places[lanes])
    return None


def _are_in_one_set(
    block: Sequence[Place], lengths: Mapping[Place, int], steps: Sequence[Mapping[Place, int]], size: int
) -> bool:
    """Whether the elements of a block are rows of which more come into the same set of the first cache than it holds: each line of one is read again for each vector of it."""
    for s in steps:
        counts = [(s.get(p, 0), lengths[p]) for p in block]
        places = [
            sum(where) for where in itertools.product(*(range(0, n * step or 1, step or 1) for step, n in counts))
        ]
        if in_one_set(places, size) > WAYS:
            return True
    return False


def _pays(many: int, folded: Sequence[int], near: Collection[int], stored: bool) -> bool:
    """Whether a block of so many elements is better than loops, of which axes of these lengths are folded, and rows of so many are read: loops are where
    those fill vectors.
    """
    if many <= SURELY[stored] or (stored and machine().small):
        return True
    few = stored or (many <= MOST_FOLDED and max(folded) <= MOST_ROWS)
    groups = (2, 4) if max(folded) % ACROSS.lanes == 0 else ()  # of fewer rows than one some lanes hold nothing
    return few and not any(n in ((2, 16, 32) if stored else (*groups, 8, 16)) for n in near)


def named(
    block: Block, same: Same | None, axes: Sequence[int], over: tuple[Folded, ...]
) -> tuple[tuple[str, int], ...]:
    """The extents of a block by name; `over` is what each Reduce folds."""
    names: dict[int | Place | None, str] = {k: f"n{n}" for n, k in enumerate(axes)}
    for n, (_, row) in zip(same.found.folds if same else (), over, strict=True):
        assert same is not None, "a statement with folds"
        names |= {p: name for p, name in zip(folded_by(same, n), row, strict=True) if name and p not in names}
    return tuple(sorted((names[k], count) for k, count in block.axes))


def _blocks(
    axes: Sequence[Key],
    taken: Sequence[Key],
    lengths: Mapping[Key, int],
    steps: Sequence[Mapping[Key, int]],
    least: int = MOST_WOVEN + 1,
) -> Iterator[tuple[Key, Sequence[Key], Sequence[Key]]]:
    """An axis of at least so many elements for the lanes, the longest first, the axes of a block, the most first, what is `taken` among them, and those that are left."""
    for lanes in sorted((k for k in axes if lengths[k] >= least), key=lambda k: -lengths[k]):
        others = [k for k in axes if k != lanes]
        most = min(len(others), MOST.bit_length() - 1)  # axes, of two elements at least
        for count in range(most, -1, -1):
            for more in map(list, itertools.combinations(others, count)):
                block = more + list(taken)
                if _is_block(lanes, block, lengths, steps):
                    yield lanes, block, [k for k in others if k not in more]


def _is_block(lanes: Key, block: Sequence[Key], lengths: Mapping[Key, int], steps: Sequence[Mapping[Key, int]]) -> bool:
    """Whether elements are few, and all operands run on along an axis, or in packed parts of a block, as some do."""
    if not 1 < prod(lengths[k] for k in block) <= MOST:
        return False
    packed = [packed_part([(s.get(k, 0), lengths[k]) for k in block], s.get(lanes, 0)) for s in steps]
    return any(packed) and all(part or s.get(lanes, 0) in (0, 1) for part, s in zip(packed, steps, strict=True))
