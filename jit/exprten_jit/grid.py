"""What a GPU launches for a kernel: one grid of threads after the other, as data.

grid ::= Grid(axes, stores)                            # a thread at every point; it computes the folds in the values itself
       | Grid(axes, stores, square)                    # the same, a square of points at a time, for what lies across
       | Grid(axes, stores, team, folds, inner, held)  # a warp at every point, or a block; it computes the folds, then walks the inner axes

A fold that is needed at fewer points than there are elements is computed by a grid of its own, into scratch, and read from there.
One of few and long rows is cut into parts: a grid for the parts, and what remains is a fold of their results, which pair up as
blocks do (`reducers`). So folds have the order, and the bits, that they have everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from .bounds import upper
from .dtypes import INDEX
from .folds import folds_of, loads
from .gridsquares import Square, side_of, square_of, walked
from .ir import Axis, Fold, Leaf, Size, Store, Value, axis, components, fold, index, load, op, size
from .kernel import Kernel
from .passes import Pass, passes
from .reducers import PAIRS, Order, reducer_of
from .rewrite import substitute

SHORT = 16  # elements that a thread folds by itself along a row: no more than the least order has lanes
FEW = 16  # results of parts that a thread brings together by itself
WARP, BLOCK, WHOLE = 32, 256, 1024  # threads
MOST_PARTS = FEW * WHOLE
LISTED = ((WARP, 16), (128, 16), (BLOCK, 16))  # who holds a row: so many threads, so many elements each
HOLDS = (
    *((team, 1) for team in (2, 4, 8, 16)),
    *((WARP, n) for n in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32)),
    *((team, n) for team in (128, BLOCK, 512) for n in (12, 16)),
)
REGISTERS = 64  # of a thread, for what it holds: more leave a multiprocessor idle
SHARED = 32 << 10  # bytes of a block, for elements on their way
MANY = 1 << 16  # elements that threads read again rather than wait for another launch
PER_PROCESSOR = 2048  # threads that keep a multiprocessor busy

Loops = tuple[tuple[Axis, Value], ...]


@dataclass(frozen=True)
class Grid:
    """`axes` are flattened and shared out, to threads or to teams: warps, or blocks of threads. With `order`, `forward` or `reverse`, one block of
    threads walks them in that order, a stretch at a time, and stores a stretch when all of it is computed.
    """

    axes: Loops
    stores: tuple[Store, ...]
    team: int = 1  # threads at a point
    folds: tuple[Fold, ...] = ()
    inner: Loops = ()
    order: str = "any"
    held: int = 0  # elements of a row that stay in the registers of each thread,
    sure: int = 0  # of which so many are there, whatever the row
    square: Square | None = None  # what lies across the innermost axis
    side: int = 0  # of squares of points, where it goes by way of shared memory
    walked: int = 0  # indices, at most, of the squares' row that each thread walks along

    @property
    def along(self) -> tuple[Axis, Value]:
        """Of rows that are held, what runs along them."""
        return self.inner[0] if self.inner else (self.folds[0].axis, self.folds[0].extent)


@dataclass(frozen=True)
class Program:
    """Grids to launch one after the other. `scratch` is memory with so many elements, `sizes` are arguments besides the kernel's own."""

    kernel: Kernel
    grids: tuple[Grid, ...]
    scratch: tuple[tuple[Leaf, Value], ...]
    sizes: tuple[tuple[Size, int], ...]


def program(
    kernel: Kernel,
    sizes: Mapping[str, int],
    multiprocessors: int,
    order: str = "any",
    overlapping: Collection[Leaf] = (),
    listed: bool = False,
) -> Program:
    """What to launch for a kernel of these sizes. `overlapping` are leaves that may share memory with a target at other places. Rows that are
    `listed` are to be of few kinds.
    """
    planner = _Planner(dict(sizes), multiprocessors, listed)
    for part in kernel.parts:
        planner.part(part, order, overlapping)
    return Program(kernel, tuple(planner.grids), tuple(planner.scratch), tuple(planner.extra))


class _Planner:
    def __init__(self, sizes: dict[str, int], multiprocessors: int, listed: bool) -> None:
        self.sizes = sizes
        self.listed = listed
        self.enough = PER_PROCESSOR * multiprocessors
        self.grids: list[Grid] = []
        self.scratch: list[tuple[Leaf, Value]] = []
        self.extra: list[tuple[Size, int]] = []
        self.extents: dict[Axis, Value] = {}

    def part(self, part: Kernel, order: str, overlapping: Collection[Leaf]) -> None:
        self.memory = {store.leaf for store in part.stores} | set(overlapping)
        self.axes, stores = part.axes, part.stores
        if order != "any":
            self.grids.append(Grid(part.axes, stores, order=order))
            return
        while found := self._next(stores):
            stores = self._computed(found, stores)
        rows = self._rows(stores)
        if rows:
            depth = len(rows[0].free)
            self.grids.append(
                self._of_rows(Grid(part.axes[:depth], stores, self._threads(rows), tuple(rows), part.axes[depth:]))
            )
        elif short := self._short_rows(stores):
            self.grids.append(short)
        else:
            square = square_of(part.axes, stores, frozenset(overlapping))
            side, along = (f(square, part.axes, self.sizes) for f in (side_of, walked))
            self.grids.append(Grid(part.axes, stores, square=square, side=side, walked=along))

    # which folds

    def _next(self, stores: Sequence[Store]) -> list[Fold]:
        """Folds for a grid of their own, that can share one: those that need no other such grid before."""
        folds = folds_of(*(s.value for s in stores))
        self.extents = self._extents(folds)
        here = set(self._rows(stores))
        apart = [f for f in folds if f not in here and not self._alone(f)]
        apart += [f for f in here if any(f is not g and f in folds_of(*g.bodies) for g in apart)]  # it is needed before
        ready = [f for f in apart if not any(f is not g and g in apart for g in folds_of(*f.bodies))]
        first = ready[:1]
        return [f for f in ready if (f.free, f.extent, f.order) == (first[0].free, first[0].extent, first[0].order)]

    def _extents(self, folds: Sequence[Fold]) -> dict[Axis, Value]:
        """Of the axes of the loops, and of folds where all that have an axis agree."""
        found: dict[Axis, set[Value]] = {}
        for f in folds:
            found.setdefault(f.axis, set()).add(f.extent)
        return {a: next(iter(e)) for a, e in found.items() if len(e) == 1} | dict(self.axes)

    def _rows(self, stores: Sequence[Store]) -> list[Fold]:
        """Folds that a warp computes before it stores its row: all at the same outer loops, as far in as there are any."""
        folds = [f for f in folds_of(*(s.value for s in stores)) if self._by_team(f)]
        outer = [frozenset(a for a, _ in self.axes[:k]) for k in range(len(self.axes), -1, -1)]
        for depth in outer:
            found = [f for f in folds if f.free == depth and not self._cut(f)]
            if found and (depth or not self.axes):
                rows = [f for f in found if f.order != PAIRS]
                return rows or (found if self._are_blocks_enough(found[0]) else [])
        return []

    def _are_blocks_enough(self, f: Fold) -> bool:
        """Whether a block at every point that a fold depends on is enough to store what lies along the other axes."""
        return len(f.free) == len(self.axes) or self._points(f) * BLOCK >= self.enough

    def _short_rows(self, stores: tuple[Store, ...]) -> Grid | None:
        """Rows that are folded and stored, and so short that a warp has several, an element a thread."""
        folds = folds_of(*(s.value for s in stores))
        if self.listed or len(self.axes) < 2 or not folds:
            return None
        outer = frozenset(a for a, _ in self.axes[:-1])
        if any(f.free != outer or f.order is None or f.order == PAIRS or f.order.grouped for f in folds):
            return None
        grid = self._of_rows(Grid(self.axes[:-1], stores, WARP, tuple(folds), self.axes[-1:]))
        return grid if 0 < grid.held * grid.team <= SHORT else None

    def _of_rows(self, grid: Grid) -> Grid:
        """With the elements of a row held, where they are few enough, and folds and stores walk the same row."""
        if len(grid.inner) > 1 or grid.folds[0].order == PAIRS or (self.listed and not grid.inner):
            return grid
        along, extent = grid.along
        if any(f.extent is not extent for f in grid.folds) or extent.free:
            return grid
        if not grid.inner and self._points(grid.folds[0]) * WARP < self.enough:
            return grid  # few rows gain nothing, and so have one text for all lengths
        n = upper(extent, {}, self.sizes)
        steps = passes(grid.folds, grid.stores, along)
        kept = [x for step in steps for x in step.keeps]
        holds = LISTED if self.listed else HOLDS if kept else [x for x in HOLDS if x[0] <= WARP]
        able = [x for x in holds if _have_room(steps, *x)]
        team, held = next((x for x in able if prod(x) >= n), (grid.team, 0))
        shorter = max((prod(x) for x in able if prod(x) < n), default=0)
        return replace(grid, team=team, held=held, sure=0 if self.listed else min(shorter // team, held))

    def _by_team(self, f: Fold) -> bool:
        """Whether a fold is a warp's, not a thread's: along a row that is not short, or of many parts at few points."""
        assert f.order is not None, "a scheduled fold has an order"
        if not f.free <= self.extents.keys():
            return False
        if f.order == PAIRS:
            return self._length(f) > FEW and self._points(f) < self.enough
        return not f.order.grouped and self._length(f) > SHORT

    def _alone(self, f: Fold) -> bool:
        """Whether every thread that needs a fold computes it."""
        if self._by_team(f) or self._cut(f):
            return False
        around = f.free <= self.extents.keys()
        loops = frozenset(a for a, _ in self.axes)
        everywhere = f.free >= loops if loops else not f.free
        if not around or everywhere:
            return True
        if f.order == PAIRS:  # each of its elements was itself a launch's result
            return self._length(f) * prod(upper(e, self.extents, self.sizes) for _, e in self.axes) < MANY
        reads = {at.leaf for at, _ in loads(f)}
        return self._length(f) <= SHORT and not reads & self.memory

    def _cut(self, f: Fold) -> bool:
        """Whether a fold is worth cutting into parts: long, and at too few points to keep the device busy."""
        if f.order is None or not f.free <= self.extents.keys():
            return False
        if f.order == PAIRS:
            return self._length(f) > MOST_PARTS
        threads = self._points(f) * (1 if f.order.grouped else WARP)
        return self._length(f) > 2 * f.order.block and 2 * threads < self.enough

    def _threads(self, folds: Sequence[Fold]) -> int:
        """How many threads compute some folds together."""
        if folds and folds[0].order == PAIRS:
            return BLOCK if self._length(folds[0]) <= FEW * BLOCK else WHOLE
        return WARP if folds else 1

    def _length(self, f: Fold) -> int:
        return upper(f.extent, self.extents, self.sizes)

    def _points(self, f: Fold) -> int:
        return prod(upper(self.extents[a], {}, self.sizes) for a in f.free if a in self.extents)

    # grids of their own

    def _computed(self, folds: list[Fold], stores: tuple[Store, ...]) -> tuple[Store, ...]:
        """The stores, with folds that were computed before, or at least in part."""
        free = folds[0].free
        loops = tuple((a, e) for a, e in self.axes if a in free)
        loops += tuple(sorted(((a, self.extents[a]) for a in free - dict(loops).keys()), key=lambda x: x[0].name))  # type: ignore[index, misc]
        made = self._parts(folds, loops) if self._cut(folds[0]) else self._whole(folds, loops)
        return tuple(replace(s, value=substitute(s.value, made)) for s in stores)

    def _whole(self, folds: list[Fold], loops: Loops) -> dict[Value, Value]:
        place, count = _row_major(loops)
        made = {value: load(self._into(value, count), place) for f in folds for value in components(f)}
        stores = tuple(Store(at.leaf, place, value) for value, at in made.items())
        team = folds if self._by_team(folds[0]) else []
        grid = Grid(loops, stores, self._threads(team), tuple(team))
        self.grids.append(self._of_rows(grid) if team else grid)
        return dict(made)

    def _parts(self, folds: list[Fold], loops: Loops) -> dict[Value, Value]:
        """Folds cut into parts of whole blocks, as many as two to some power."""
        first, n = folds[0], self._length(folds[0])
        assert first.order is not None, "a scheduled fold has an order"
        most = self.enough if first.order.grouped and not self.listed else MOST_PARTS
        wanted = max(2, min(most, self.enough // max(1, self._points(first))))
        each = first.order.block if first.order != PAIRS else FEW * BLOCK
        while -(-n // each) > wanted:
            each *= 2
        per = size(f"per{len(self.extra)}")
        self.extra.append((per, each))
        self.sizes[per.name] = each
        part, parts = axis(f"part{len(self.extra)}"), (first.extent + (per - 1)) // per
        place, count = _row_major(((part, parts), *loops))
        stores, made, partial = list[Store](), dict[Value, Value](), list[Fold]()
        for f in folds:
            moved = tuple(substitute(body, {f.axis: f.axis + part * per}) for body in f.bodies)
            partial.append(fold(f.reducer, f.axis, lesser(per, f.extent - part * per), moved, f.order))
            kept = [self._into(value, count) for value in components(f)]
            stores += [Store(leaf, place, x) for leaf, x in zip(kept, components(partial[-1]), strict=True)]
            whole = fold(f.reducer, part, parts, tuple(load(leaf, place) for leaf in kept), PAIRS)
            made |= dict(zip(components(f), components(whole), strict=True))
        self.extents[part] = parts
        team = [] if first.order.grouped else partial
        self.grids.append(Grid(((part, parts), *loops), tuple(stores), self._threads(team), tuple(team)))
        return made

    def _into(self, value: Value, count: Value) -> Leaf:
        leaf = Leaf(f"scratch{len(self.scratch)}", value.dtype)
        self.scratch.append((leaf, count))
        return leaf


def _have_room(steps: Sequence[Pass], team: int, held: int) -> bool:
    """Whether so many threads have room for a row: in registers, and in shared memory for folds that ask for another order."""
    kept = sum(max(1, x.dtype.computed.bits // 32) for step in steps for x in step.keeps)
    own = [[exact(f) or team < WARP or team == WARP == _order(f).lanes for f in step.folds] for step in steps]
    ordered = [
        [f for f, x in zip(step.folds, each, strict=True) if not x] for step, each in zip(steps, own, strict=True)
    ]
    rooms = {(n, f.dtype) for folds in ordered for n, f in enumerate(folds)}  # steps share those of one number and type
    room = sum(dtype.computed.bits // 8 for _, dtype in rooms) * max(team, BLOCK) * held
    return kept * held <= REGISTERS and room <= SHARED and all(len(f.bodies) == 1 for folds in ordered for f in folds)


def _order(f: Fold) -> Order:
    assert f.order is not None, "a scheduled fold has an order"
    return f.order


def lesser(a: Value, b: Value) -> Value:
    """The lesser of two indices."""
    return op("minimum", (a, b), INDEX)


def _row_major(loops: Loops) -> tuple[Value, Value]:
    """Where a point lies among all of them, the last axis running fastest, and how many there are."""
    place, count = index(0), index(1)
    for a, extent in loops:
        place, count = place * extent + a, count * extent
    return place, count


def exact(f: Fold) -> bool:
    """Whether a fold has one result in every order."""
    return all(reducer_of(f.reducer).exact(dtype) for dtype in f.dtypes)
