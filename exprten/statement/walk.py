"""How a statement's loops go: over which axes, in which order, and what each operand's strides along them are.

A statement of element-wise operations only is *plain*: its axes are ordered by the target's strides, turned to run upwards, and
merged where every operand runs on. A statement with a Remap, a counter or a fold is *indexed*: its axes are the target's, because
indices mean something there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

from exprten_jit.bring import WORD

from ..expression.shape import Layout, broadcast_strides
from .afar import from_memory
from .axes import Same
from .before import needed_again, with_room
from .blocks import MOST_ENDS, Block, folded_block, plain_block
from .flat import DEEP, MOST_EXACT, MOST_UNIT, flat_axes
from .gather import Gathered, widest
from .lying import (
    LEAST_ACROSS,
    LONG_SIZES,
    MOST_WOVEN,
    halvings,
    moved_rows,
    rows_apart,
    rows_reversed,
    strung_rows,
    writes_out,
)
from .nested import Pairs, rows_last, rows_within
from .orders import folds_first, loops_of, run_on_inside, short_rows
from .signature import Flat, Rest
from .traffic import in_reading_order, least_traffic

UNITS_OF = 3  # axes: of so many, what is turned is one axis and another
MOST_TOGETHER = 4  # elements of rows that are moved, of which several are stored as one vector


@dataclass(frozen=True, kw_only=True)
class Given:
    """What the loops follow from: the operands' layouts, the target's first, and what may be done to them."""

    found: Gathered
    layouts: Sequence[Layout]
    same: Same | None  # of a statement with folds
    joined: int | None  # the axis along which the targets are one
    reverse: bool
    loops: Sequence[int] | None  # another order of the loops, by position in the usual one
    cpu: bool
    apart: bool  # no operand overlaps the target at other places
    numbers: Sequence[int]  # of the operands that leaves are
    fresh: bool = False  # nothing of the target is read, nor is the statement a part of another

    @property
    def loose(self) -> bool:
        """Whether elements may be stored in any order."""
        return self.apart and not self.reverse and self.joined is None

    @property
    def free(self) -> bool:
        """Whether loops of our own choice may run."""
        return self.loose and self.cpu

    @property
    def vectors(self) -> bool:
        """Whether a vector may take a row in each lane."""
        return self.cpu and not self.reverse and self.joined is None and self.loops is None


@dataclass(frozen=True)
class Walk:
    """The axes in the order of the loops, their extents, the strides of each operand along the target's axes, and elements from each
    operand's first to the kernel's, where an axis was turned round.
    """

    axes: list[int]
    extents: list[int]
    strides: list[list[int]]
    shifts: list[int]
    short: int = 0  # most elements of the rows that are folded, where vectors take one in each lane
    packed: bool = False  # all of these have as many, few, and lie side by side
    beside: bool = False  # more lie side by side
    block: Block | None = None  # axes that are written out
    flat: Flat | None = None  # axes that are taken as one
    rest: Rest | None = None  # what is left when all folds are computed before
    pieces: tuple[int, ...] = ()  # elements of some of its axes at a time
    columns: int = 0  # elements of moved rows, which are written out
    halved: int = 0  # so often registers are halved
    strung: int = 0  # elements of rows that are strung together
    pairs: Pairs = field(default_factory=dict)  # rows that are folded inside of another fold


def walked(given: Given) -> Walk:
    """The loops of a statement."""
    # The order of folds follows from that of the axes, which is therefore one on all devices.
    walk = _indexed(given.layouts, given.joined) if given.found.indexed else _plain(given.layouts, given.loose)
    if given.same is not None:
        walk = _folding(walk, given, given.same)
        if given.vectors and given.free and not walk.packed:
            walk = replace(walk, block=folded_block(given.same, walk.axes, given.layouts[0]))
    if given.loops is not None:
        return replace(walk, axes=[walk.axes[k] for k in given.loops], extents=[walk.extents[k] for k in given.loops])
    if not given.free or given.same is not None or given.found.indexed:
        return walk
    if given.fresh and (far := from_memory(given.found, walk.axes, walk.extents, walk.strides)):
        return replace(walk, flat=far)
    if strung := strung_rows(given.found, walk.extents, walk.strides):
        return replace(walk, strung=strung[0], halved=strung[1])
    ways = (find(given.found, walk.axes, walk.extents, walk.strides) for find in (rows_apart, rows_reversed))
    if woven := next(filter(None, ways), None):
        axes, lengths = woven[0], dict(zip(*woven, strict=True))
        short = lengths[axes[-2]]
        axes = in_reading_order(given.found, axes, 2, lengths, walk.strides)
        extents, halved = [lengths[k] for k in axes], halvings(given.found, lengths[axes[-1]])
        return replace(walk, axes=axes, extents=extents, short=short, packed=True, halved=halved)
    if block := plain_block(given.found, walk.axes, walk.extents, walk.strides):
        wide = prod(n for _, n in block.axes) >= LEAST_ACROSS and widest(given.found) in LONG_SIZES
        flat = flat_axes(given.found, walk.axes, walk.extents, walk.strides) if wide else None
        if flat and (flat.direct or _put_together(given, walk, flat)):
            return replace(walk, flat=flat)
        halved = halvings(given.found, walk.extents[walk.axes.index(block.lanes)])
        return replace(walk, block=block, halved=halved)
    columns = 0 if given.found.several else moved_rows(walk.extents, walk.strides)
    alone = columns and not _are_few(given, walk)
    flat = None if alone else flat_axes(given.found, walk.axes, walk.extents, walk.strides)
    if columns and not (flat and _put_together(given, walk, flat)):
        return replace(walk, columns=columns)
    return replace(walk, flat=flat)


def _put_together(given: Given, walk: Walk, flat: Flat) -> bool:
    """Whether rows of few elements of one operand stay rows, so that several are stored as one vector."""
    others = [s for n, s in enumerate(walk.strides) if n not in flat.along]
    return len(others) == 1 and others[0][-1] == 1 and bool(flat.exact) and _are_few(given, walk)


def _are_few(given: Given, walk: Walk) -> bool:
    """Whether rows have few elements, or such of a byte are less than a word, and enough follow each other to fill whole vectors."""
    *_, rows, many = walk.extents
    return many <= MOST_TOGETHER or (widest(given.found) == 1 and many < WORD and rows > MOST_WOVEN)


def _folding(walk: Walk, given: Given, same: Same) -> Walk:
    """The same of a statement with folds."""
    goal = given.layouts[0]

    def along(axes: list[int]) -> Walk:
        return replace(walk, axes=axes, extents=[goal.shape[k] for k in axes])

    if given.vectors and (rows := short_rows(walk.axes, same, goal, needed_again(same))):
        axes, short, packed, beside = rows
        return replace(along(axes), short=short, packed=packed, beside=beside)
    early = with_room(same, walk.axes) if given.loose else set()
    loops = loops_of(walk.axes, same, goal, given.loose, given.reverse, early)
    early = needed_again(same, loops) if given.loose else set()
    walk = along(folds_first(loops, same, early) if early else loops)
    pairs = rows_within(same) if given.vectors else {}
    order = rows_last(walk.axes, same, goal, pairs) if pairs and given.free else []
    if order:
        walk = replace(along(order), short=goal.shape[order[-2]], packed=True)
    if given.vectors and given.free:
        axes = least_traffic(walk.axes, 1 + walk.packed, same, goal)
        walk = along(axes if walk.packed else run_on_inside(axes, same, [goal.shape[k] for k in axes]))
    return replace(walk, pairs=pairs)


def _indexed(layouts: Sequence[Layout], joined: int | None) -> Walk:
    target = layouts[0]
    axes = [k for k, n in enumerate(target.shape) if n != 1 or k == joined]
    axes.sort(key=lambda k: -abs(target.strides[k]))
    strides = [[0 if n == 1 else s for n, s in zip(view.shape, view.strides, strict=True)] for view in layouts]
    return Walk(axes, [target.shape[k] for k in axes], strides, [0] * len(layouts))


def _plain(layouts: Sequence[Layout], loose: bool) -> Walk:
    target = layouts[0]
    spread = [broadcast_strides(view.shape, view.strides, target.shape) for view in layouts]
    axes = [k for k, n in enumerate(target.shape) if n != 1]
    axes.sort(key=lambda k: -abs(target.strides[k]))
    extents = [target.shape[k] for k in axes]
    strides = [[s[k] for k in axes] for s in spread]
    shifts = [0] * len(layouts)
    for k in backwards(extents, strides, loose):  # every operand turns round with it
        for view, steps in enumerate(strides):
            shifts[view] += (extents[k] - 1) * steps[k]
            steps[k] = -steps[k]
    return _merged(extents, strides, shifts)


def backwards(extents: Sequence[int], strides: Sequence[Sequence[int]], loose: bool) -> list[int]:
    """The axes with these strides, the target's first, that are better walked the other way: the target upwards, or in any order, what lies across it, as rows that are turned are read forwards. So are
    those along which short rows run on.
    """
    own, others = strides[0], strides[1:]
    found = {k for k, step in enumerate(own) if step < 0}
    inner = next((k for k, step in enumerate(own) if abs(step) == 1), None)
    beside = next((k for k, step in enumerate(own) if inner is not None and abs(step) == extents[inner]), None)
    for steps in others if loose else ():
        many, k = 1, next((n for n, step in enumerate(steps) if abs(step) == 1), None)
        if k is not None and k == beside and _are_units(abs(own[k]), extents[k], len(own), prod(extents)):
            continue
        while k is not None and many < DEEP and abs(own[k]) > 1 and _is_one_way(others, k):
            found = found | {k} if steps[k] < 0 else found - {k}
            many *= extents[k]
            k = next((n for n, step in enumerate(steps) if abs(step) == many), None)
    return sorted(found)


def _are_units(few: int, between: int, axes: int, count: int) -> bool:
    """Whether rows of few elements lie between each other in units of a known number of elements, which are turned in any direction, unless a block is made of them."""
    units = few < MOST_EXACT and few * between <= MOST_UNIT and writes_out(count)
    return units and (axes > UNITS_OF or few * between > MOST_ENDS)


def _is_one_way(strides: Sequence[Sequence[int]], k: int) -> bool:
    """Whether all that is read along an axis lies in one direction."""
    steps = [s[k] for s in strides if s[k]]
    return min(steps) > 0 or max(steps) < 0


def _merged(extents: list[int], strides: list[list[int]], shifts: list[int]) -> Walk:
    """Neighbouring axes become one where every operand runs on from one to the next."""
    kept: list[int] = []
    lengths: list[int] = []
    for k, n in enumerate(extents):
        if kept and all(s[kept[-1]] == s[k] * n for s in strides):
            lengths[-1] *= n
            kept[-1] = k
        else:
            kept.append(k)
            lengths.append(n)
    return Walk(list(range(len(kept))), lengths, [[s[k] for k in kept] for s in strides], shifts)
