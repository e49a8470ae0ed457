"""A loop nest as data: which loop computes what, and where lanes come from.

stmt ::= Let(value)                          # computed here, known to everything below
| Loop(axis, extent, body, low)       # one index at a time
| Reduce(axis, extent, folds, ...)    # folds that share an axis, computed here, known to everything below
| Pieces(axis, extent, ..., body)     # the axis cut where a guard or a quotient changes
| Strip(axis, extent, fold, ...)      # a fold across rows, in a row of accumulators
| Columns(axis, extent, ..., body)    # values of the innermost axis alone, saved before the outer loops
| Blocks(axis, low, high, ..., body)  # a side of a tile at a time
| Turn(into, load, ...), TurnBack(tile, store, ...)  # a tile of what runs, or is stored, across, turned round
| Squares(store, turned, ...)         # a tile that is turned as it is computed
| Past(store, along, ...)             # a row of a tile, stored past the caches
| Fetch(loads, when)                  # what is read later, a row of the next tile, fetched early
| Bring(into, load, ...)              # what does not run on as the target does, in the target's order
| AtOnce(bring, store, body)          # that, computed and stored as it comes
| Spread(into, value, ...)            # what is one for some columns of that order, for each of them
| Vector(axis, low, high, ..., stores)  # `lanes` indices at a time
nest ::= Nest(kernel, body, then)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .bring import Bring, Offsets, Spread
from .ir import FALSE, Axis, Fold, Leaf, Load, Local, Store, Value, index
from .ir import axis as named_axis
from .kernel import Kernel
from .machine import LINE
from .piece import Piece
from .reducers import ARENA, PARTS
from .rewrite import substitute
from .unrolled import Group

ZERO = index(0)
ONE = named_axis("one")  # the axis of a kernel without axes: a single step


@dataclass(frozen=True)
class Let:
    value: Value
    early: bool = False  # nothing but what is fetched early needs it


@dataclass(frozen=True)
class Loop:
    """`body` for one index at a time; inside of Columns, for as many as run on where each of `runs` is the number of columns. Before it, `spread` is
    stored to scratch, a value for an index for each of the columns.
    """

    axis: Axis
    extent: Value
    body: tuple[Stmt, ...]
    low: Value = ZERO
    runs: tuple[Value, ...] = ()
    spread: tuple[tuple[Leaf, Value], ...] = ()


@dataclass(frozen=True)
class Reduce:
    """All `folds` in one pass over their axis: `lanes` elements at a time, or one at a time after the statements of `body`. With
    `chains` there are so many times the accumulators of the order, to be brought together before the last elements; `chained` are those of
    which this holds where it does not of others: each block is passed over again for them. What is `saved` on the way is stored for each
    element. `ahead` will be read soon, and is fetched where `far` holds; where `on` does, what lies behind what is read. A turn takes so many
    `steps`, each of as many elements as there are sums.
    """

    axis: Axis
    extent: Value
    folds: tuple[Fold, ...]
    lanes: int
    masked: bool
    body: tuple[Stmt, ...]
    chains: int = 1
    chained: tuple[Fold, ...] = ()
    saved: tuple[Store, ...] = ()
    ahead: tuple[Load, ...] = ()
    far: Value | None = None
    on: Value | None = None
    steps: int = 1


# of rows of results that wait: the more rows of blocks there are, the fewer columns are taken at a time
WAITING_BYTES = 48 << 10


@dataclass(frozen=True)
class Strip:
    """`fold` for a block of columns, into scratch: `body` brings the next `rows` in, `rest` those of them that are `there`. A block of
    rows starts with `first`; its result is kept in `waiting`, at `top`, until there is one to pair it with. `few` is the same fold in
    terms of what was saved before, for a block of as many columns as a vector has lanes: there it is computed in registers. `each` is run
    before: it saves, for the next rows, from `begin` up to `stop`, the `made` values that do not depend on the column. `quick` is an extreme by one comparison
    an element, and beside it the sum of all, which tells whether one is NaN: that comes first, in one block, and all again where that is so, or the extreme is a zero.
    """

    axis: Axis
    extent: Value
    fold: Fold
    into: tuple[Leaf, ...]
    waiting: tuple[Leaf, ...]
    rows: tuple[Local, ...]
    there: tuple[Local, ...]
    top: Local
    first: tuple[Stmt, ...]
    body: tuple[Stmt, ...]
    rest: tuple[Stmt, ...]
    pair: tuple[Stmt, ...]
    keep: tuple[Stmt, ...]
    few: Fold | None = None
    each: tuple[Stmt, ...] = ()
    made: tuple[Leaf, ...] = ()
    quick: Strip | None = None


@dataclass(frozen=True)
class Vector:
    """`unroll` groups of `lanes` at a time, then `lanes`, then a tail: one masked step, or one element at a time. Where `stream`
    holds, a large target that is not read is stored past the caches, of a `peeled` one from the first line on. `ahead` will be read soon, and is fetched where `far` holds, what is
    `near` into the first cache. A `short` one has masked steps only; of a `whole` one the last ends where the row does, if it has a step or more. Of a `woven` one two
    vectors are taken from alternating elements: of a number that is the upper half of a float, one is then a shift away and the other a mask. Elements of `groups` are read together.
    Of rows of so many elements that are `strung` together there are whole ones in all groups of vectors. A part of a row has `lines`, whether the row begins with it and up to where there are elements: past the caches those that begin in it are stored, whole.
    """

    axis: Axis
    low: Value
    high: Value
    lanes: int
    unroll: int
    masked: bool
    stores: tuple[Store, ...]
    stream: Value | None = None
    ahead: tuple[Load, ...] = ()
    far: Value | None = None
    short: bool = False
    woven: bool = False
    whole: bool = False
    groups: tuple[Group, ...] = ()
    near: bool = False
    peeled: bool = False
    lines: tuple[Value, Value] | None = None
    strung: int = 0


@dataclass(frozen=True)
class Pieces:
    """From `start` to `end`, again and again up to `extent`: `end` is the least of `changes` above `start`.

    `known` are the guards and quotients of the axis, each bound to a local for the length of a piece.
    """

    axis: Axis
    extent: Value
    start: Local
    end: Local
    known: tuple[tuple[Local, Value], ...]
    changes: tuple[Value, ...]
    body: tuple[Stmt, ...]

    @property
    def given(self) -> dict[Value, Value]:
        """What each local stands for, at any index of the axis."""
        found: dict[Value, Value] = {self.start: self.axis}
        for name, value in self.known:
            found[name] = substitute(value, found)
        del found[self.start]
        return found


@dataclass(frozen=True)
class Columns:
    """At most `block` indices of the innermost axis at a time: each saved value is computed once for them, into scratch, and `body`
    runs the outer loops over them. A fold has its scratch from its Strip. How many it is, `width`, follows from the rows of the
    strips: so many that the results which wait have room; and, where the rows are read `again`, that they stay in the cache. What is `held` lies
    in the target's short rows on its way. With `each`, a multiple of it. `at_once` rows that run on are one, or as many as there is room for.
    """

    axis: Axis
    extent: Value
    start: Local
    end: Local
    block: int
    saved: tuple[tuple[Leaf, Value], ...]
    body: tuple[Stmt, ...]
    width: Local
    again: bool = False
    held: Value | None = None
    each: Value | None = None
    at_once: int = 0
    low: Value = ZERO

    @property
    def strips(self) -> tuple[Strip, ...]:
        """The folds that are computed here."""
        return tuple(stmt for stmt in self.body if isinstance(stmt, Strip))

    @property
    def rows_made(self) -> bool:
        """Whether folds down the columns are of what was folded along the rows."""
        return any(strip.made for strip in self.strips)

    @property
    def one_fold(self) -> bool:
        """Whether all there is is a fold, and no loop over rows."""
        return len(self.strips) == 1 and self.each is None and not any(isinstance(s, Loop) for s in self.body)


SIDE = 64  # elements of a tile: four lines of float32
ONE_SIDE, ONE_ELEMENT = index(SIDE), index(1)


@dataclass(frozen=True)
class Past:
    """How a target is stored past the caches `when` it is large: whole lines at a time. What is computed lies in `stage` first, and `goal`
    is that, else the target. In each row of it a tile starts and ends where a line does: after `start`, but for the first one, at `begin`,
    and no later than `reach`, which is beyond `end`. Where `aliased` holds too, it is the stage alone that is wanted: the lines go through
    the caches. Where `joined` does instead, all rows of a tile follow each other in the target, and are stored from the stage as one.
    """

    store: Store
    along: Axis
    stage: Leaf
    goal: Leaf
    begin: Local
    start: Local
    end: Local
    reach: Local
    when: Value
    length: int
    aliased: Value = FALSE
    joined: Value = FALSE

    @property
    def beyond(self) -> int:
        """Elements of a line: as many may be computed beyond the end of a tile."""
        return LINE // self.stage.dtype.itemsize


FIRST, SECOND = 3, 2  # caches, as LLVM's prefetches name them


@dataclass(frozen=True)
class Fetch:
    """`count` elements from each of `loads` on, into the cache of a `locality`, `when` they are far."""

    loads: tuple[Load, ...]
    when: Value
    count: Value = ONE_SIDE
    locality: int = SECOND


@dataclass(frozen=True)
class Blocks:
    """From `low` to `high`, `side` indices at a time, from `start` to `end`; where less than `least` would be left, these too. `scratch` is memory for so many elements of each leaf. With
    `past` the target runs on along this axis. `ahead` are the first index of the next block and 0, or after the last block the first one's and `around`: how far it is along the
    axis of the loop around this one. Of each index the body runs over `inner` elements; it may ask for the `first` block.
    """

    axis: Axis
    low: Value
    high: Value
    start: Local
    end: Local
    body: tuple[Stmt, ...]
    scratch: tuple[tuple[int, Leaf], ...] = ()
    past: Past | None = None
    ahead: tuple[Local, Local] | None = None
    side: Value = ONE_SIDE
    around: Value = ONE_SIDE
    least: int = 1
    inner: Value = ONE_ELEMENT
    first: Local | None = None


@dataclass(frozen=True)
class Turn:
    """A tile of `load`, which runs on along `row`, copied so that `into`, of rows of `length`, runs on along `column`: squares of `lanes`
    rows at a time. `ahead` is the next tile of it, fetched early `when` it is far.
    """

    into: Leaf
    load: Load
    row: Axis
    column: Axis
    top: Local
    bottom: Local
    left: Local
    right: Local
    lanes: int
    length: int
    ahead: Load
    when: Value


@dataclass(frozen=True)
class TurnBack:
    """A tile on the stack, which runs on along `column`, stored by `store`, which runs on along `row`: `past` the caches, if at all."""

    tile: Leaf
    store: Store
    row: Axis
    column: Axis
    top: Local
    bottom: Local
    left: Local
    right: Local
    lanes: int
    length: int = SIDE
    past: Past | None = None


@dataclass(frozen=True)
class Squares:
    """`stores`, one or the two parts of a complex number, for a tile, in squares of `lanes` rows and columns, `abreast` of them at a time as the
    target runs on. Each of `turned`, with what stands for it in the value, runs on along `row` and is turned round in registers, of complex
    numbers by its real part; where the store goes `across`, along `row`, what is stored is. `past` the caches, if at all, as many lines
    side by side as a square has. Of the next tile `ahead` is fetched early `when` it is far. Whole lines are computed `woven`, as a Vector is. Where `halved` holds,
    squares have half as many lines of the target, and no stage. Where `down` holds not those along the target are next to each other, but those along the source.
    """

    stores: tuple[Store, ...]
    turned: tuple[tuple[Load, Load], ...]
    row: Axis
    column: Axis
    top: Value
    bottom: Value
    left: Value
    right: Value
    lanes: int
    abreast: int
    across: bool
    past: Past | None
    ahead: tuple[Load, ...]
    when: Value
    woven: bool = False
    halved: Value = FALSE
    down: Value = FALSE

    @property
    def long(self) -> int:
        """Elements along the target that are computed at a time."""
        return self.lanes * self.abreast


@dataclass(frozen=True)
class AtOnce:
    """`store` of what is brought and turned as it comes, in registers, where there are as many as `usual`, and the target is not read; or of so many `rows` of it, several
    columns of which fill a register. Else `body`, which brings it to scratch.
    """

    bring: Bring
    rows: Value
    store: Store
    body: tuple[Stmt, ...]


Plain = Let | Turn | TurnBack | Squares | Past | Fetch | Bring | Spread | Vector  # statements without others inside
Stmt = Plain | Loop | Reduce | Strip | Pieces | Columns | Blocks | AtOnce


@dataclass(frozen=True)
class Nest:
    """A kernel and the statements that run it; `then` those of what follows it. `groups` are read and stored together, `apart` those that are read so
    whose rows do not follow each other. `written`: rows that
    are folded have no loops. `turned`: the last two loops are in the other order. `folds` are those of the kernel that have others
    written out in them, or are computed by the nests of `first`, which run before, into `room` for so many elements of each leaf;
    each with what it is here; so is what is read and was `brought` before. `offsets` are tables that are made before. All of it is for some elements of the axes of `pieces` at a time.
    """

    kernel: Kernel
    body: tuple[Stmt, ...]
    then: Nest | None = None
    groups: tuple[Group, ...] = ()
    turned: bool = False
    written: bool = False
    folds: tuple[tuple[Value, Value], ...] = ()
    first: tuple[Nest, ...] = ()
    room: tuple[tuple[Leaf, int], ...] = ()
    offsets: tuple[Offsets, ...] = ()
    pieces: tuple[Piece, ...] = ()
    brought: tuple[tuple[Value, Value], ...] = ()
    apart: tuple[Group, ...] = ()

    @property
    def known(self) -> list[tuple[Value, Leaf]]:
        """The values of the kernel that are computed before, each with where it lies."""
        return [(given, here.leaf) for given, here in self.folds if isinstance(here, Load)]

    @property
    def every(self) -> tuple[Nest, ...]:
        """All nests in the order in which they run."""
        return (*self.first, self, *(self.then.every if self.then else ()))

    @property
    def parts(self) -> tuple[Nest, ...]:
        """This nest and all that follow it."""
        return (self, *(self.then.parts if self.then else ()))

    def as_given(self, value: Value) -> Value:
        """A value that is computed here as it is in the kernel."""
        for stmt in self.body:
            if isinstance(stmt, Pieces) and self.columns:
                value = substitute(value, stmt.given)
        return substitute(value, {here: given for given, here in self.folds}) if self.folds else value

    @property
    def columns(self) -> Columns | None:
        """The statement that saves columns, if there is one."""
        return next((stmt for stmt in statements(self.body) if isinstance(stmt, Columns)), None)

    @property
    def scratch_bytes(self) -> int:
        """Memory on the stack for saved columns, for rows of results that wait for their partner, and for parts of folds."""
        every = [stmt for nest in self.every for stmt in statements(nest.body)]
        saved = [(c.block, leaf) for c in every if isinstance(c, Columns) for leaf, _ in c.saved]
        saved += [(many, leaf) for stmt in every if isinstance(stmt, Blocks) for many, leaf in stmt.scratch]
        saved += [(many, leaf) for nest in self.parts for leaf, many in nest.room]
        saved += [(table.many, table.into) for nest in self.every for table in nest.offsets]
        strips = any(isinstance(stmt, Strip) for stmt in every)
        tops = [stmt for nest in self.every for stmt in nest.body if isinstance(stmt, Reduce)]
        folds = [node for stmt in tops for node in stmt.folds * (2 if stmt.body else 1)]  # elements wait as well
        tall = [(nest.kernel.few, stmt) for nest in self.every for stmt in nest.body if isinstance(stmt, Columns)]
        shared = any(stmt.strips and (few or stmt.one_fold) for few, stmt in tall) and not self.kernel.reverse
        arena = ARENA if shared else 0
        parts = 0 if self.kernel.reverse else sum(PARTS * dtype.itemsize for node in folds for dtype in node.dtypes)
        return (
            sum(block * leaf.dtype.itemsize for block, leaf in saved) + (WAITING_BYTES if strips else 0) + parts + arena
        )


def statements(stmts: Iterable[Stmt]) -> Iterator[Stmt]:
    """All statements, each before those inside of it."""
    for stmt in stmts:
        yield stmt
        if not isinstance(stmt, Plain):
            yield from statements(stmt.body)
