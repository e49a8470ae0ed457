"""Rows of few columns as one long row, in registers that are full: what has the same result in any order, with one comparison an element where that is all it takes.

So many vectors as end with a row are a round. Each of them has an accumulator of its own, whose lanes are of the same columns in every round; once all rows were
read, these lanes are brought together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import gcd

from ..ir import Fold
from ..nest import Vector
from ..reducers import is_known, reducer_of
from .llvm_accumulators import Row
from .llvm_beside import Beside, Fetch
from .llvm_extremes import is_position
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known, Where

MOST_VECTORS = 7, 15  # of a round: each has a register, of 16 or 32
AT_ONCE = 8  # vectors: fewer would wait for each other


class Filled(Beside):
    """Emits what folds them."""

    def rows_filled(self, node: Fold, loop: Vector) -> int:
        """How many rows are a round, where all that a fold reads lies so; else 0."""
        few, lanes = self.nest.kernel.few, loop.lanes
        exact = reducer_of(node.reducer).exact(node.dtype) and not is_position(node)
        if not exact or not is_known(few) or lanes < 2 or not self.rows_lie(node, loop.axis):
            return 0
        if any(self._rises(x, node.axis) for x in self._packed(node, loop.axis)):
            return 0
        pitch = self.pitch_of(node, loop.axis)
        vectors = pitch // gcd(pitch, lanes)
        rounds = 1
        while 2 * rounds * vectors <= AT_ONCE:
            rounds *= 2
        fit = vectors <= MOST_VECTORS[not self.machine.small]
        return rounds * vectors * lanes // pitch if fit else 0

    def filled_beside(self, node: Fold, loop: Vector, known: Known, rows: int, low: str, high: str) -> tuple[str, Row]:
        """Where rows go on that are no whole round of so many, and what those before it come to."""
        t, gaps = self.text, self.pitch_of(node, loop.axis) > self.nest.kernel.few
        many = t.index("sub", high, low)
        if gaps:  # what lies behind the last row may be no memory
            many = t.greater(t.index("sub", many, 1), "0")
        end = t.index("add", low, t.index("and", many, -rows))
        first, every = (self.value(v, known, None).name for v in (loop.low, node.extent))
        at = Where(loop.axis, first, self.row_lanes)
        fetch = self.fetches(node, at, known, every, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}])

        def all_rounds(*_: object) -> list[Row]:
            return [self.all_filled(node, loop, dict(known), rows, low, end, fetch)]

        (row,) = self._perhaps(low, end, [self._identity([node], self.row_lanes)], all_rounds)
        return end, row

    def all_filled(self, node: Fold, loop: Vector, known: Known, rows: int, low: str, high: str, fetch: Fetch) -> Row:
        """A row of what all rows from `low` to `high` come to, whole rounds of so many `rows`; lanes behind the last column have what it has."""
        t, lanes = self.text, loop.lanes
        pitch = self.pitch_of(node, loop.axis)
        vectors = range(0, rows * pitch, lanes)
        every = [self._flat_rows(node, loop, known, n) for n in vectors]

        def each(k: str) -> list[Row]:
            fetch(k, rows)
            return [at(k) for at in every]

        join, nothing = partial(self.join, node), [self._identity([node], lanes) for _ in vectors]

        def all_rows(*_: object) -> Row:
            def step(k: str, sums: list[Row]) -> list[Row]:
                return [join(x, row) for x, row in zip(sums, each(k), strict=True)]

            return self._columns_joined(self._carry(low, high, rows, nothing, step), pitch, join)

        if node.dtype.kind == "f" and reducer_of(node.reducer).quick:
            sums, bad = self._quickly_filled(node, nothing, each, (low, high, rows), pitch)
            return t.perhaps(bad.name, sums, all_rows)
        return all_rows()

    def _quickly_filled(
        self, node: Fold, nothing: list[Row], each: Callable[[str], list[Row]], rounds: tuple[str, str, int], pitch: int
    ) -> tuple[Row, Lanes]:
        """The same with one comparison for two elements, and whether that was not enough: for a NaN, or a zero, whose sign decides."""
        t, join, lanes = self.text, partial(self._quick, node), nothing[0][0].count

        def step(k: str, carried: list[Row]) -> list[Row]:
            *sums, (unordered,) = carried
            found = each(k)
            for a, b in zip(found[::2], [*found[1::2], found[-1]], strict=False):
                some = self.noted(t.let(f"fcmp uno {a[0]}, {b[0].name}", "i1", lanes), a[0])
                unordered = t.let(f"or {unordered}, {some.name}", some.lane, lanes)
            return [*(join(x, row) for x, row in zip(sums, found, strict=True)), [unordered]]

        none = self.noted(self.widened(Lanes("false", "i1"), lanes), nothing[0][0])
        *found, (unordered,) = self._carry(*rounds, [*nothing, [none]], step)
        sums = self._columns_joined(found, pitch, join)
        zeros = self.splat(Lanes("0.0", sums[0].lane), sums[0].count).name
        zero = t.let(f"fcmp oeq {sums[0]}, {zeros}", "i1", sums[0].count)
        return sums, t.let(f"or {self._met('or', unordered)}, {self._met('or', zero).name}", "i1")

    def _flat_rows(self, node: Fold, loop: Vector, known: Known, first: int) -> Callable[[str], Row]:
        """What gives the vector that begins `first` elements behind the beginning of row k."""
        few, pitch = self.nest.kernel.few, self.pitch_of(node, loop.axis)
        spread = tuple(min((first + c) % pitch, few - 1) for c in range(loop.lanes))
        items = Items(node.axis, loop.lanes, loop.lanes, ({},), spread, down=node.axis, first=first)
        inside, begin = self.lanes_of(loop, known, items)
        lanes = begin.items
        assert lanes is not None, "lanes of items"
        self._compute_outside(node, inside, begin)

        def at(k: str) -> Row:
            here = {**lanes.each[0], node.axis: Lanes(k, INDEX_TYPE)}
            found, where = dict(inside), replace(begin, items=replace(lanes, each=(here,)))
            return [self.widened(self.value(x, found, where), where.count) for x in node.bodies]

        return at

    def _columns_joined(self, vectors: list[Row], pitch: int, join: Callable[[Row, Row], Row]) -> Row:
        """Of lanes of all columns, again and again, one for each column."""
        few, width, lanes = self.nest.kernel.few, self.row_lanes, vectors[0][0].count

        def part(at: int, count: int) -> Row:
            """Lanes that run on from one on, of two vectors at most."""
            n, begin = divmod(at, lanes)
            both = zip(vectors[n], vectors[min(n + 1, len(vectors) - 1)], strict=True)
            return [self._shuffled(a, b, [begin + min(c, count - 1) for c in range(lanes)]) for a, b in both]

        rows = len(vectors) * lanes // pitch  # a power of two
        while rows > 1:
            rows //= 2
            size = rows * pitch
            ends = [(n, min(lanes, size - n)) for n in range(0, size, lanes)]
            vectors = [join(part(n, count), part(size + n, count)) for n, count in ends]
        row = [vectors[min(n, len(vectors) - 1)] for n in range(max(1, width // lanes))]
        every = map(self._joined, zip(*row, strict=True))
        return [self._shuffled(x, x, [min(c, few - 1) for c in range(width)]) for x in every]
