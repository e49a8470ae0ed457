"""A statement as the scheduler takes it: axes with their extents, what is stored for each index, and how that may be computed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Generic, Literal, TypeVar

from .ir import FALSE, Axis, Leaf, Param, Size, Store, Value, index

A = TypeVar("A")  # an axis, or its number
B = TypeVar("B")
N = TypeVar("N")  # the name of a leaf, or the number of an operand
M = TypeVar("M")

First = tuple[tuple[tuple[str, ...], int, int], ...]  # names of extents, bytes at each place, few columns

# of squares: along the target, or so with half of its rows at a time, or down the source, of which some rows are read on and on
Order = Literal["along", "halved", "down"]


@dataclass(frozen=True)
class Direct(Generic[A, N]):
    """Fields of Flat that are others where no scratch is needed, as a tile may have more elements along a source, and the order of its squares."""

    order: Order
    rows: tuple[A, ...]
    down: tuple[N, ...]
    within: tuple[A, ...]


@dataclass(frozen=True)
class Tile(Generic[A]):
    """How tiles of a target that comes from memory are made: in an `order` of loops, in which the first of the columns, and that of the rows, is the loop over tiles;
    so many `columns` and `rows` each, stored `as_one` where these rows follow each other. What is so many tiles `ahead` is fetched.
    """

    order: tuple[A, ...]
    columns: int
    rows: int
    as_one: bool
    ahead: int


@dataclass(frozen=True)
class Flat(Generic[A, N]):
    """Axes of the target, the innermost last, that are taken as one row; others that are taken as one along which something runs on, the nearest last; the names of leaves
    whose elements follow each other along these, and along those; and whether those others fill a vector. Of the leaves that are `paired` the rows of the
    innermost axis, of `each` elements, follow each other along those others. Loops over what is `within` run inside of those over tiles of columns.
    What is turned may be turned `direct`ly, with no scratch. Some axes have `exact`ly so many elements. A `tile` is given for what comes from memory.
    """

    columns: tuple[A, ...]
    rows: tuple[A, ...]
    along: tuple[N, ...]
    down: tuple[N, ...]
    deep: bool
    paired: tuple[N, ...] = ()
    each: int = 1
    within: tuple[A, ...] = ()
    direct: Direct[A, N] | None = None
    exact: tuple[tuple[A, int], ...] = ()
    tile: Tile[A] | None = None

    def of_any_length(self, uneven: Collection[A]) -> Flat[A, N]:
        """The same for axes of which some have several lengths."""
        flat = replace(self, exact=tuple((k, many) for k, many in self.exact if k not in uneven))
        return replace(flat, paired=(), each=1) if flat.columns[-1] in uneven else flat

    def over(self, axis: Callable[[A], B], leaf: Callable[[N], M | None]) -> Flat[B, M]:
        """With other axes, and other leaves, or without those for which there is none."""

        def axes(each: Iterable[A]) -> tuple[B, ...]:
            return tuple(map(axis, each))

        def leaves(each: Iterable[N]) -> tuple[M, ...]:
            return tuple(found for n in each if (found := leaf(n)) is not None)

        direct, tile, exact = self.direct, self.tile, tuple((axis(k), many) for k, many in self.exact)
        return Flat(
            axes(self.columns), axes(self.rows), leaves(self.along), leaves(self.down), self.deep, leaves(self.paired), self.each, axes(self.within),
            Direct(direct.order, axes(direct.rows), leaves(direct.down), axes(direct.within)) if direct else None,
            exact,
            Tile(axes(tile.order), tile.columns, tile.rows, tile.as_one, tile.ahead) if tile else None,
        )  # fmt: skip


@dataclass(frozen=True)
class Alone:
    """How all folds of some axes, that read these leaves, and folds that were `known` before, by the names of their extents, are computed before: their loops,
    outermost first, each by the names of the extents that are taken as one, and fields of `Kernel`, with an axis of the name of its position, i0, for each of `loops`. So too the
    whole of a statement, the copy of what it came to, and what is left of one. Axes with extents of names that are `backwards` are walked so.
    """

    leaves: tuple[str, ...]
    known: tuple[tuple[str, ...], ...]
    loops: tuple[tuple[str, ...], ...]
    ways: tuple[tuple[str, Any], ...]
    backwards: tuple[str, ...] = ()

    @property
    def extents(self) -> tuple[str, ...]:
        """The names of all."""
        return tuple(sorted(name for row in self.loops for name in row))


PIECE = "piece"  # the name of sizes, numbered
WHOLE = "whole"  # of scratch for all that is stored, or read
STORED = "stored"  # of scratch for what is stored, in the order of the target
OWN, START = (
    "own",
    "start",
)  # the names of sizes: elements of a piece that are stored whole lines of, and where it starts


@dataclass(frozen=True)
class Rest:
    """What is left of a kernel when all folds are computed before: `first` is room for them, of `room` bytes if that is more than usual, `memory` the names of all extents in the order of memory; `alone` are kernels of their own,
    and so is what is `left`. Of the axes `pieces` there are PIECE0, PIECE1 … elements at a time: what is computed before has room then. Or all that is stored is computed before,
    as the first of `whole` says, into `room` of so many bytes, and is then copied, or copied to the order of the target first; where it is `brought`, all that is read is
    copied before it is computed. Of `lined` pieces the last loop has a line more than each has to store. Pieces that are `alike` have as many elements each: the last one begins in the one before,
    and what both have is computed twice. The whole of what is stored lies so many elements more apart along a `wide` axis, by the name of its extent.
    """

    first: First
    memory: tuple[str, ...]
    alone: tuple[Alone, ...] = ()
    left: Alone | None = None
    pieces: tuple[Axis, ...] = ()
    whole: tuple[Alone, ...] = ()
    brought: bool = False
    lined: bool = False
    exact: tuple[tuple[str, int], ...] = ()
    room: int = 0
    alike: bool = False
    wide: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Kernel:
    """`axes` are ordered, outermost first, each with its extent; `leaves`, `sizes` and `params` are the arguments, in order.
    `then` is what runs after it, with the same arguments: a target that lies in several places has loops for each. `short`: no row
    that is folded has more elements, and vectors are to take a row in each lane; where rows are `packed`, every one has as many, and they
    lie side by side; `exact`: so many, where such are folded in lanes. `rows`: what is folded lies
    nearer together than what the innermost axis runs over. `keeps`: nothing else lies in the target's memory, which may hold a value
    until its row is stored; `shared`: something does, or may, and each element is stored once. `tiles`: stores may come in any order; `squares`: and what lies across has a vector of elements on both axes. The loop over the axis `inside` runs inside of those over tiles of the target. `runs`: so they may, and rows of few columns run on, or the short rows that are folded. `few`: the innermost
    axis, across which all folds run, has no more columns: as many where they are fewer than the first of COLUMNS or a power of two, else any number down to the next of those. `low`: and
    folds take no more rows than a block of their order, for each index of an outer axis; `near`: what they take stays in the caches. `onto`: the axis along which rows of few columns run
    on in all that is folded. `narrow`: elements of the target's packed rows, the axis before the innermost. `down`: every fold takes so many
    rows, across the innermost axis, and they are written out; and so are its elements, where there are so many `columns`. `within`: extents of rows that are folded inside of another fold, which have so
    few elements that they are written out there. `block`: extents of axes, folded ones among them, that have so few that all are written out,
    and `lanes` the axis that vectors run along then. `first`: of folds that depend on axes with extents of these names and are needed again by
    others, so many bytes at each place may be kept until then; and as `few` the last number, where all of them run across these columns.
    `flat`: axes that are taken as one. `rest`: what is left when all folds are computed before, where there is room for them. `times`: in so many
    pieces, of which it sees one. `lined`: how many elements of its last loop are a piece's own, and whether rows of the target begin with them: lines that begin in them are stored.
    `cached`: all of it stays in the caches, and is neither fetched early nor stored past them. `strung`: the two innermost axes are taken as one, of rows of so many elements. `halved`: registers are halved so often, as few elements has the axis along which vectors run, or a row.
    """

    axes: tuple[tuple[Axis, Value], ...]
    stores: tuple[Store, ...]
    leaves: tuple[Leaf, ...]
    sizes: tuple[Size, ...]
    params: tuple[Param, ...]
    reverse: bool = False  # walk every axis downwards, for a target that is also read at earlier addresses
    then: Kernel | None = None
    short: int = 0
    exact: int = 0
    rows: bool = False
    keeps: bool = False
    shared: bool = False
    tiles: bool = False
    runs: bool = False
    few: int = 0
    low: bool = False
    tall: bool = False
    near: bool = False
    packed: bool = False
    onto: Axis | None = None
    squares: bool = False
    inside: Axis | None = None
    narrow: int = 0
    down: int = 0
    columns: int = 0
    within: tuple[tuple[Value, int], ...] = ()
    block: tuple[tuple[Value, int], ...] = ()
    lanes: Axis | None = None
    first: tuple[tuple[tuple[str, ...], int, int], ...] = ()
    flat: Flat[Axis, str] | None = None
    rest: Rest | None = None
    times: Value | None = None
    lined: tuple[Value, Value] | None = None
    cached: bool = False
    halved: int = 0
    strung: int = 0

    @property
    def every(self) -> Value:
        """How many elements its loops run over, in all pieces."""
        return prod((extent for _, extent in self.axes), start=index(1) if self.times is None else self.times)

    def folded(self, extent: Value) -> Value:
        """How many elements it folds along axes of an extent."""
        return self.every if extent in {n for _, n in self.axes} else self.every * extent

    def far(self, elements: Value, many: int) -> Value:
        """Whether these are so many `elements` that those that come later are to be fetched."""
        return FALSE if self.cached else elements >= many

    @property
    def written(self) -> int:
        """How many elements, or rows, of a fold are written out: 0 where it is a loop."""
        return self.short if self.packed else self.down

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """This kernel and all that follow it."""
        return (self, *(self.then.parts if self.then else ()))
