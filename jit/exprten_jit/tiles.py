"""Tiles: where a source runs on along another axis than the target does, squares are turned round in registers.

Each lane of a vector would read, or store, a line of its own, of which one element is used. Instead a square of a source is copied to
the stack, where it lies as rows of the target run; or what is computed along a source lies on the stack until it is stored as the target
runs. Folds run as their operands do: their results are saved for the rows of a tile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .cuts import cuts_of
from .derived import apply
from .dtypes import INDEX
from .folds import folds_of
from .ir import FALSE, Axis, Leaf, Load, Local, Op, Store, Value, both, index, load, local
from .kernel import Kernel
from .machine import LINE, Machine
from .nest import SIDE, Fetch, Past, Turn, TurnBack
from .pairs import places_of, twins
from .reducers import FEW
from .rewrite import affine, steps, substitute, walk
from .vectors import DEAR, FAR_BYTES, computed, cost_of

MOST_TURNED = 4  # sources: 80 KiB of stack for float32
WIDEST = 8  # lanes: 16 are as fast where there are as many rows and columns

Bounds = tuple[Axis, Value, Value]  # an axis, from and to
Names = tuple[Local, Local, Local, Local]  # of a tile: its first row and the one after its last, and the columns
NAMES: Names = (local("top", INDEX), local("bottom", INDEX), local("left", INDEX), local("right", INDEX))
BEGIN, REACH = local("begin", INDEX), local("reach", INDEX)
NEXT, SHIFT = local("next", INDEX), local("shift", INDEX)  # where the next tile is
AFTER, TURN = local("after", INDEX), local("turn", INDEX)  # and the next one of the loop around its own


@dataclass(frozen=True)
class Tile:
    """The kernel of a tile, which reads what `turns` bring to the stack. What is `saved` is computed for its rows before. Where the target
    lies `across`, `back` is how it is stored. With `past` that is past the caches where the target is large. `far` says whether the next
    tile is fetched early: tiles follow each other as the sources run on.
    """

    kernel: Kernel
    turns: tuple[Turn, ...]
    saved: tuple[Store, ...]
    back: tuple[TurnBack, ...]
    past: Past | None
    far: Value
    across: bool

    @property
    def length(self) -> int:
        """Elements from row to row on the stack."""
        return self.past.length if self.past and not self.across else SIDE

    @property
    def scratch(self) -> tuple[tuple[int, Leaf], ...]:
        """Elements on the stack."""
        side = self.past.length if self.past else SIDE
        stage = [(side * (self.back[0].lanes if self.across else 1), self.past.stage)] if self.past else []
        squares = [*(turn.into for turn in self.turns), *(turn.tile for turn in self.back)]
        return (*((SIDE * side, leaf) for leaf in squares), *((side, store.leaf) for store in self.saved), *stage)

    @property
    def names(self) -> Names:
        """The bounds within which it is computed."""
        top, bottom, left, right = NAMES
        if not self.past:
            return NAMES
        return (top, REACH, left, right) if self.across else (top, bottom, left, REACH)

    def turn(self, into: Leaf, source: Load, row: Axis, column: Axis, lanes: int) -> Turn:
        """What brings a source to the stack."""
        top, bottom, left, _ = NAMES
        following: dict[Value, Value] = {row: NEXT, column: column + SHIFT}
        if self.across:
            following = {row: top + SHIFT, column: column - left + NEXT}
        ahead = load(source.leaf, substitute(source.offset, following))
        when = both(self.far, bottom - top >= SIDE)  # of less the processor sees what comes next
        return Turn(into, source, row, column, *self.names, lanes, self.length, ahead, when)

    def fetch(self, loads: Iterable[Load], row: Axis, column: Axis) -> Fetch | None:
        """What fetches a row of the next tile of all that runs on as it is computed."""
        top, _, left, right = NAMES
        following: dict[Value, Value] = {row: row - top + NEXT, column: left + SHIFT}
        if self.across:
            following = {row: row + SHIFT, column: NEXT}
        along = [
            x for x in loads if x.when is None and row in x.offset.free and steps(x, column) == 1 and not x.leaf.pairs
        ]
        found = dict.fromkeys(load(x.leaf, substitute(x.offset, following)) for x in along)
        return Fetch(tuple(found), both(self.far, right - left >= SIDE)) if found and self.far is not FALSE else None


def tile_of(kernel: Kernel, machine: Machine, row: Axis, column: Axis, bound: frozenset[Axis | Local]) -> Tile | None:
    """The tile of the last two loops; None where nothing lies across, or where stores have an order."""
    if not kernel.tiles or kernel.short or cuts_of(kernel.stores, column):
        return None
    pairs = kernel.stores[0].leaf.pairs  # these are turned in squares, or not at all
    inside, saved, tile = (kernel, (), None) if pairs else stored_across(kernel, row, column, bound)
    found = across(inside, column)
    loads = found[1] if found and found[0] is row else []
    if not loads and not tile:
        return None
    far = kernel.far(kernel.every, FAR_BYTES // kernel.stores[0].leaf.dtype.itemsize)
    along, names = (row, NAMES[:2]) if tile else (column, NAMES[2:])
    past = past_of(kernel, machine, (along, index(0), dict(kernel.axes)[along]), *names, far)
    made = Tile(inside, (), saved, (), past, far, bool(tile))
    leaves = [Leaf(f"turned{n}", node.leaf.dtype) for n, node in enumerate(loads)]
    at = _at(row, column, made.length)
    instead: dict[Value, Value] = {node: load(leaf, at) for leaf, node in zip(leaves, loads, strict=True)}
    stores = tuple(replace(store, value=substitute(store.value, instead)) for store in inside.stores)
    if past and not tile:
        stores = (replace(stores[0], leaf=past.goal, offset=_in_line(stores[0].offset, column, past)),)
    turns = [made.turn(leaf, x, row, column, _lanes(machine, leaf)) for leaf, x in zip(leaves, loads, strict=True)]
    store = kernel.stores[0]
    back = [TurnBack(tile, store, row, column, *made.names, _lanes(machine, tile), SIDE, past)] if tile else []
    return replace(made, kernel=replace(inside, stores=stores, tiles=False), turns=tuple(turns), back=tuple(back))


CUT_SIDE = 4 * SIDE  # elements: of fewer, of rows of which others are stored later, too many lines are no whole ones


def past_of(kernel: Kernel, machine: Machine, loop: Bounds, start: Local, end: Local, far: Value) -> Past | None:
    """How a target that runs on along the axis of a loop is stored past the caches, where it may be."""
    along, low, high = loop
    store = kernel.stores[0]
    read = {node.leaf for node in walk(*(store.value for store in kernel.stores)) if isinstance(node, Load)}
    if not machine.streams or len(kernel.stores) > 1 or store.leaf in read or store.leaf not in kernel.leaves:
        return None
    stage, goal = Leaf("stage", store.leaf.dtype), Leaf("goal", store.leaf.dtype)
    whole = low is index(0) and high is dict(kernel.axes)[along]
    when = both(far, high >= SIDE if whole else high - low >= CUT_SIDE)
    length = SIDE + LINE // store.leaf.dtype.itemsize
    return Past(store, along, stage, goal, BEGIN, start, end, REACH, when, length)


def _in_line(offset: Value, column: Axis, past: Past) -> Value:
    """Where an element of a row is stored: in the stage, or in the target."""
    form = affine(offset, column)
    assert form is not None, "a target that runs on"
    return column + apply("where", past.when, 0 - past.start, form[1])


def _at(row: Axis, column: Axis, length: int) -> Value:
    top, _, left, _ = NAMES
    return (row - top) * length + (column - left)


def _lanes(machine: Machine, leaf: Leaf) -> int:
    return min(WIDEST, machine.vector_bits // (8 * leaf.dtype.itemsize))


def across(kernel: Kernel, axis: Axis, pairs: bool = False) -> tuple[Axis, list[Load]] | None:
    """Another axis, and the loads that run on along it and not along the innermost one, `axis`, as the target does, those of complex numbers
    with `pairs`. None where there are none, or where folds are computed among them.
    """
    values = [store.value for store in kernel.stores]
    if not kernel.tiles or any(steps(store, axis) != 1 for store in kernel.stores):
        return None
    loads = [node for node in computed(values, axis) if isinstance(node, Load) and node.when is None]
    loads = [node for node in loads if _strided(node, axis) and (pairs or not node.leaf.pairs)]
    along = {other: [x for x in loads if steps(x, other) == 1] for other, _ in kernel.axes if other is not axis}
    other = max(along, key=lambda k: len(along[k]), default=axis)
    return (
        (other, along[other][: MOST_TURNED * (1 + pairs)])
        if along.get(other) and not _folds(values, axis, other)
        else None
    )


def turned_round(kernel: Kernel, axis: Axis, row: Axis) -> bool:
    """Whether what is stored along an axis is read along another, `row`."""
    found = across(kernel, axis)
    return found is not None and found[0] is row


def _folds(values: Iterable[Value], *axes: Axis) -> bool:
    """Whether there are folds that are not the same for all indices of some axes."""
    return any(axis in node.free for node in folds_of(*values) for axis in axes)


def _strided(node: Load | Store, axis: Axis) -> bool:
    """Whether the next index along an axis is at some distance."""
    there = axis in node.offset.free and affine(node.offset, axis) is not None
    return there and steps(node, axis) not in (0, 1, -1)


def as_stored(kernel: Kernel, loops: list[Bounds]) -> list[Bounds]:
    """The loops that are left when folds across rows are known, with the one innermost along which the target runs on: what else runs on along
    their columns is turned, and no lane idle where these are few. As they are where that is more than is stored, or where what is left to
    fold would differ from lane to lane.
    """
    if not kernel.keeps or kernel.short or kernel.narrow or kernel.reverse or not stores_one(kernel):
        return loops
    store, values, (axis, *_) = kernel.stores[0], [s.value for s in kernel.stores], loops[-1]
    if store.leaf.pairs and not 1 < kernel.few <= FEW:
        return loops  # squares of these are better stored across
    inner = [loop for loop in loops[:-1] if steps(store, loop[0]) == 1]
    if not inner or axis not in store.offset.free or steps(store, axis) == 1:
        return loops
    if any(inner[0][0] in node.free for node in folds_of(*values)):
        return loops
    reads = {twins(x)[0] for x in computed(values, axis) if isinstance(x, Load)}
    turned = [x for x in reads if _strided(x, inner[0][0]) and steps(x, axis) == 1]
    return [*(loop for loop in loops if loop not in inner[:1]), *inner[:1]] if len(turned) <= 1 else loops


def other_inside(kernel: Kernel) -> Kernel:
    """The kernel with the axis that sources run along as the last but one."""
    if len(kernel.axes) < 2 or cuts_of(kernel.stores, kernel.axes[-1][0]):
        return kernel
    found = across(kernel, kernel.axes[-1][0], pairs=True)
    if found is None:
        return kernel
    last = [kernel.inside, found[0]] if kernel.inside else [found[0]]
    outer = [pair for pair in kernel.axes[:-1] if pair[0] not in last]
    own = [(a, n) for each in last for a, n in kernel.axes[:-1] if a is each]
    return replace(kernel, axes=(*outer, *own, kernel.axes[-1]))


def stored_across(
    kernel: Kernel, row: Axis, column: Axis, bound: frozenset[Axis | Local]
) -> tuple[Kernel, tuple[Store, ...], Leaf | None]:
    """Where the target runs on along `row` and everything is computed along `column`: the kernel that stores on the stack, what is saved
    for its rows, and the tile there. Else, or where a fold stands at every element, the kernel as it is.
    """
    store, top = kernel.stores[0], NAMES[0]
    if not stores_one(kernel) or not _strided(store, column) or steps(store, row) != 1:
        return kernel, (), None
    of_rows = list(dict.fromkeys(x for s in kernel.stores for x in _of_rows(s.value, row, bound)))
    leaves = [Leaf(f"row{n}", value.dtype) for n, value in enumerate(of_rows)]
    instead: dict[Value, Value] = {x: load(leaf, row - top) for leaf, x in zip(leaves, of_rows, strict=True)}
    values = [substitute(s.value, instead) for s in kernel.stores]
    if _folds(values, row, column):
        return kernel, (), None
    tile = replace(store.leaf, name="tile")
    saved = tuple(Store(leaf, row - top, x) for leaf, x in zip(leaves, of_rows, strict=True))
    stores = map(Store, [tile, tile], places_of(tile, _at(row, column, SIDE)), values)
    return replace(kernel, stores=tuple(stores)), saved, tile


def stores_one(kernel: Kernel) -> bool:
    """Whether there is one number an element to be stored."""
    return len(kernel.stores) == 1 + kernel.stores[0].leaf.pairs


def _of_rows(root: Value, row: Axis, bound: frozenset[Axis | Local]) -> list[Value]:
    """The largest values that are one for a row, and are folds or dear."""
    found: list[Value] = []
    stack, seen = [root], set[Value]()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if row in node.free and node.free <= bound | {row} and (folds_of(node) or cost_of(node) >= DEAR):
            found.append(node)
        elif isinstance(node, Op):
            stack.extend(reversed(node.args))
    return found
