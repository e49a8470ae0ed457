"""Flattened axes: several short axes of a target are taken as one row, wherever their elements lie in what is read.

A tile has up to LONG elements along the target and, where something runs on along other axes, some of these. What does not run on as the target does
is brought to scratch, in the target's order: squares are turned in registers, rows of few elements are copied as they lie, and else one element
after the other. How far from its first each element of a row lies is in a table that is made once. Then vectors run along the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from .dtypes import INDEX
from .ir import Axis, Kernel, Leaf, Load, Local, Op, Value, index, load, local
from .ir import axis as named_axis
from .nest import FEWEST_BETWEEN, Blocks, Bring, Loop, Machine, Nest, Offsets, Spread, Stmt
from .placing import loop_over, place
from .rewrite import affine, eager, rewrite, steps, substitute, walk
from .vectors import roots_of

LONG, DEEP = 128, 16  # elements of a tile along the target, and along a source
LONGEST = 2 * LONG  # where nothing is turned
MOST_DEEP = 2 * DEEP  # where that runs on over several axes
STRIDE = LONG + 16  # elements from row to row of scratch: a vector more
MOST_LANES = 16
ROOM = 64 << 10  # bytes of scratch
COLUMN, ROW = named_axis("column"), named_axis("row")  # of a tile


@dataclass
class _Chain:
    """Axes that are taken as one, of which `index` counts the elements: of the outermost one from `start` to `end`, `most` elements in all.
    Of `running` leaves they follow each other.
    """

    axes: tuple[tuple[Axis, Value], ...]
    index: Axis
    start: Local
    end: Local
    most: int
    running: frozenset[str]
    tables: dict[tuple[Value, ...], Leaf] = field(default_factory=dict)

    @property
    def inner(self) -> Value:
        return prod((extent for _, extent in self.axes[1:]), start=index(1))

    @property
    def each(self) -> Value:
        """Indices of the outermost axis at a time."""
        return index(self.most) // self.inner

    @property
    def many(self) -> Value:
        """Elements of a tile."""
        return (self.end - self.start) * self.inner

    @property
    def between(self) -> Value:
        """Indices of the axis before the innermost in a tile."""
        return self.axes[-2][1] if len(self.axes) > 2 else self.end - self.start

    def moved(self, leaf: Leaf, offset: Value) -> Value:
        """An offset in terms of the index."""
        if not any(a in offset.free for a, _ in self.axes):
            return offset
        forms = [affine(offset, a) for a, _ in self.axes]
        strides = tuple(form[0] for form in forms if form is not None)
        assert len(strides) == len(self.axes), "an operand lies at regular distances"
        base = substitute(offset, {a: self.start if n == 0 else index(0) for n, (a, _) in enumerate(self.axes)})
        if len(self.axes) == 1:
            return base + self.index * strides[0]
        if leaf.name in self.running:
            return base + self.index
        table = self.tables.setdefault(strides, Leaf(f"{self.index.name}s{len(self.tables)}", INDEX))
        return base + load(table, self.index)

    @property
    def offsets(self) -> list[Offsets]:
        """The tables; none without axes."""
        if not self.tables:
            return []
        axes = ((self.axes[0][0], self.each), *self.axes[1:])
        return [
            Offsets(
                leaf, axes, sum((a * s for (a, _), s in zip(axes, strides, strict=True)), start=index(0)), self.most
            )
            for strides, leaf in self.tables.items()
        ]


def flattened(kernel: Kernel, machine: Machine) -> Nest | None:
    """The loop nest of a kernel some of whose axes are taken as one; None where scratch has no room for it."""
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    extents, (across, down, along, on) = dict(kernel.axes), kernel.flat
    loads = (x for x in walk(*(s.value for s in kernel.stores)) if isinstance(x, Load))
    most = LONG if down and any(steps(x, down[-1]) == 1 for x in loads) else LONGEST
    columns = _Chain(
        _pairs(across, extents), COLUMN, local("left", INDEX), local("right", INDEX), most, frozenset(along)
    )
    most = DEEP if len(down) == 1 else MOST_DEEP
    rows = _Chain(_pairs(down, extents), ROW, local("top", INDEX), local("bottom", INDEX), most, frozenset(on))
    made = _Flat(kernel, machine, columns, rows if down else None)
    if sum(x.places * x.into.dtype.itemsize for x in made.brought) > ROOM:
        return None
    outer = [(a, n) for a, n in kernel.axes if a not in (*across, *down)]
    body = made.loops(outer, frozenset(), set())
    return Nest(kernel, tuple(body), offsets=tuple(x for chain in (columns, rows) for x in chain.offsets))


def _pairs(axes: Iterable[Axis], extents: dict[Axis, Value]) -> tuple[tuple[Axis, Value], ...]:
    return tuple((a, extents[a]) for a in axes)


class _Flat:
    """Makes the loops over tiles."""

    def __init__(self, kernel: Kernel, machine: Machine, columns: _Chain, rows: _Chain | None) -> None:
        self.machine, self.columns, self.rows = machine, columns, rows
        self.brought: list[Bring | Spread] = []
        known: dict[Value, Value] = {}
        for x in self._apart([s.value for s in kernel.stores]):
            known[x] = self._known(x)
        stores = (
            replace(s, offset=self._moved(s.leaf, s.offset), value=substitute(s.value, known)) for s in kernel.stores
        )
        self.kernel = replace(kernel, stores=tuple(stores))

    def _apart(self, roots: Iterable[Value]) -> list[Value]:
        """What is loaded, and the largest values that are one for a row of the target's innermost axis, but not for all columns."""
        (inner, _), others = self.columns.axes[-1], [a for a, _ in self.columns.axes[:-1]]
        stack, found = list(roots), dict[Value, None]()
        while stack:
            node = stack.pop()
            if isinstance(node, Load) or (
                isinstance(node, Op) and inner not in node.free and any(a in node.free for a in others)
            ):
                found[node] = None
            elif isinstance(node, Op):
                stack.extend(reversed(eager(node)))
        return list(found)

    def _moved(self, leaf: Leaf, offset: Value) -> Value:
        """An offset in terms of rows and columns of a tile."""
        offset = self.columns.moved(leaf, offset)
        return self.rows.moved(leaf, offset) if self.rows else offset

    def _over_tiles(self, value: Value) -> Value:
        return rewrite(value, lambda x: load(x.leaf, self._moved(x.leaf, x.offset)) if isinstance(x, Load) else None)

    def _known(self, value: Value) -> Value:
        """What stands for a value in a tile: itself, or what is brought for it."""
        columns, x = self.columns, self._over_tiles(value)
        (inner, few), into = columns.axes[-1], Leaf(f"brought{len(self.brought)}", value.dtype)
        lanes = min(MOST_LANES, self.machine.vector_bits // value.dtype.computed.bits)
        if COLUMN not in x.free:
            return x
        if inner not in value.free:
            self.brought.append(Spread(into, x, COLUMN, columns.many, few, lanes, columns.most + MOST_LANES))
            return load(into, COLUMN)
        assert isinstance(value, Load) and isinstance(x, Load), "an operation along the target's row is computed there"
        if steps(x, COLUMN) in (1, -1):
            return x
        turned = self.rows is not None and steps(x, ROW) == 1
        if not turned and affine(x.offset, COLUMN):
            return x  # at regular distances: vectors are read so
        lanes, masked = (
            min(MOST_LANES, self.machine.vector_bits // into.dtype.bits),
            into.dtype.bits in self.machine.masked_bits,
        )
        bring = Bring(
            into, x, COLUMN, columns.many, ROW, index(1), COLUMN, lanes, False, None, None, columns.most + MOST_LANES
        )
        if turned and self.rows is not None:
            place = COLUMN + ROW * STRIDE
            bring = replace(bring, turned=True, rows=self.rows.many, place=place, places=STRIDE * MOST_DEEP)
        elif masked and steps(value, inner) == 1:
            bring = replace(bring, unit=few)
        elif masked and lanes >= FEWEST_BETWEEN and steps(value, columns.axes[-2][0]) == 1:
            bring = replace(bring, unit=few, between=columns.between, places=columns.most + MOST_LANES**2)
        self.brought.append(bring)
        return load(into, bring.place)

    # the loops, from the outermost

    def loops(
        self, outer: Sequence[tuple[Axis, Value]], bound: frozenset[Axis | Local], done: set[Value]
    ) -> list[Stmt]:
        """The statements that run the remaining loops, those over tiles innermost."""
        placed = self._placed(bound, done)
        if outer:
            (a, extent), *inner = outer
            return [*placed, Loop(a, extent, tuple(self.loops(inner, bound | {a}, done)))]
        columns, rows = self.columns, self.rows
        bound |= {columns.start, columns.end}
        placed_here = self._placed(bound, done)
        first = [x for x in self.brought if bound | {COLUMN} >= _of(x).free]
        if rows is None:
            return [*placed, self._blocks(columns, [*placed_here, *first, *self._row(bound, done)])]
        within = bound | {rows.start, rows.end}
        lets = self._placed(within, done)
        turned = [x for x in self.brought if isinstance(x, Bring) and x.turned]
        late = [x for x in self.brought if x not in first and x not in turned]
        row = [*self._placed(within | {ROW}, done), *late, *self._row(within | {ROW}, done)]
        tiles = self._blocks(rows, [*lets, *turned, Loop(ROW, rows.many, tuple(row))])
        return [*placed, self._blocks(columns, [*placed_here, *first, tiles])]

    def _placed(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """What is known so far."""
        needed = [x.load.offset if isinstance(x, Bring) else x.value for x in self.brought]
        return place([*roots_of(self.kernel.stores), *needed], self.machine, bound, done)

    def _row(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """A row of a tile."""
        stores, many = self.kernel.stores, self.columns.many
        return loop_over(self.kernel, self.machine, COLUMN, index(0), many, stores, bound, done)

    def _blocks(self, chain: _Chain, body: Sequence[Stmt]) -> Blocks:
        """A loop over tiles."""
        (a, extent), outermost = chain.axes[0], chain is self.columns
        scratch = tuple((x.places, x.into) for x in self.brought) if outermost else ()
        start, end = chain.start, chain.end
        return Blocks(a, index(0), extent, start, end, tuple(body), scratch, side=chain.each, inner=chain.inner)


def _of(x: Bring | Spread) -> Value:
    return x.load if isinstance(x, Bring) else x.value
