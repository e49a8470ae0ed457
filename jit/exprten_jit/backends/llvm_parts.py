"""Folds down few columns, or one down many rows, which threads share: each takes whole subtrees of blocks, and stores a row of what they come to.

All columns are taken at once. What is made of the folds, row by row, is shared as well; every thread has the columns' numbers in
memory of its own, where it may repeat them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ..ir import Leaf, Value
from ..nest import ZERO, Columns, Loop, Strip, Vector, statements
from ..reducers import ARENA, PAIRS, Order
from ..work import GRAIN, work
from .llvm_accumulators import Row
from .llvm_outline import Outlined
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known

FAR = 2 << 20  # elements of columns: beyond the caches narrow strips take 2 times as long
LONG = 8192  # rows
MADE = 512  # rows whose own folds would be made again by each thread that took some of the columns
LEAST = 4  # a part is 2 ** 4 blocks of rows at least: as many as are folded abreast
ROW = 64  # elements of a part's row: whole vectors of any type
Places = Sequence[tuple[Leaf, str]]  # columns that were computed, and where they lie


class Parts(Outlined):
    """Emits columns of which there are few."""

    arena = ""

    def in_parts(self, stmt: Columns) -> bool:
        """Whether there are so few columns that rows are shared."""
        return self.nest.kernel.few > 0 and stmt.each is None and bool(stmt.strips)

    def long_and_narrow(self, stmt: Columns, known: Known) -> str:
        """Whether rows are shared sooner than columns: where all columns are one strip, of many rows."""
        t = self.text
        columns, rows = (self.value(v, known, None).name for v in (stmt.extent, stmt.strips[0].extent))
        tests = [
            t.let(f"icmp sle i64 {columns}, {self.width(stmt, known)}", "i1").name,
            t.let(f"icmp sge i64 {rows}, {MADE if stmt.rows_made else LONG}", "i1").name,
            t.let(f"icmp sge i64 {t.index('mul', rows, columns)}, {0 if stmt.rows_made else FAR}", "i1").name,
            t.let("icmp ne i64 %threads, 1", "i1").name,
        ]
        return reduce(lambda a, b: t.let(f"and i1 {a}, {b}", "i1").name, tests)

    def rows_in_parts(self, stmt: Columns, known: Known, before: Sequence[Value]) -> None:
        """All columns at once, one statement after the other, the rows of each shared."""
        t, ready = self.text, list[tuple[Leaf, str]]()
        inside = known | self._bounds_of(stmt, known)
        for leaf, _ in stmt.saved:
            self.address[leaf.name] = t.reserve(f"[{stmt.block} x {leaf.dtype.memory}]")
        self.arena = t.reserve(f"[{ARENA // 8} x i64]")  # for one strip after the other
        self.taken.append(stmt)
        for each in stmt.body:
            much = self.value(stmt.extent * work([each]), inside, None).name
            if isinstance(each, Strip):
                self._shared_strip(stmt, each, inside, before, ready, much)
            elif isinstance(each, Loop) and each.low is ZERO:
                self._shared_rows(stmt, each, inside, before, ready, much)
            else:
                self._run([each], inside)
            stored = {s.leaf for s in each.stores} if isinstance(each, Vector) else set()
            stored |= set(each.into) if isinstance(each, Strip) else set()
            ready += [(leaf, self.address[leaf.name]) for leaf, _ in stmt.saved if leaf in stored]
        self.taken.pop()

    def _bounds_of(self, stmt: Columns, known: Known) -> Known:
        t, extent = self.text, self.value(stmt.extent, known, None).name
        wide = str(ROW) if self.nest.kernel.few else t.index("and", t.index("add", extent, ROW - 1), -ROW)
        bounds = zip((stmt.start, stmt.end, stmt.width), ("0", extent, wide), strict=True)
        return {name: Lanes(value, INDEX_TYPE) for name, value in bounds}

    def _shared_rows(
        self, stmt: Columns, loop: Loop, known: Known, before: Sequence[Value], ready: Places, much: str
    ) -> None:
        """A loop over rows."""
        extent = self.value(loop.extent, known, None).name

        def rows(inside: Known, _: str) -> None:
            self.bounds = {id(loop): ("%low", "%high")}
            for leaf in dict(loop.spread):
                self.address[leaf.name] = self.text.reserve(f"[{stmt.block} x {leaf.dtype.memory}]")
            self._run([loop], inside)
            self.bounds = {}
            if any(isinstance(s, Vector) and s.stream for s in statements([loop])):
                self._stored_past()

        name = self._function(stmt, before, ready, (), rows)
        context = self._context(known, before, "0", *(place for _, place in ready))
        self._share(name, context, extent, str(GRAIN), much)

    def _shared_strip(
        self, stmt: Columns, strip: Strip, known: Known, before: Sequence[Value], ready: Places, much: str
    ) -> None:
        """A fold: parts of its rows, and then these."""
        t, order = self.text, strip.fold.order
        assert order is not None, "a scheduled fold has an order"
        extent = self.value(strip.extent, known, None).name
        sizes, wide = [leaf.dtype.itemsize for leaf in strip.into], known[stmt.width].name
        most = t.index("udiv", str(ARENA // sum(sizes)), wide)
        size = t.select(self._pays(much), self._subtree(extent, order, most, 0 if strip.made else LEAST), extent)
        parts = t.index("udiv", t.index("add", extent, t.index("sub", size, 1)), size)
        room = t.index("mul", most, wide)
        starts = [t.index("mul", room, sum(sizes[:n])) for n in range(len(sizes))]
        places = [t.let(f"getelementptr i8, ptr {self.arena}, i64 {at}", "ptr").name for at in starts]

        def some(inside: Known, first: str) -> None:
            self._parts(stmt, strip, inside, first)

        name = self._function(stmt, before, ready, strip.into, some)
        context = self._context(known, before, size, *places, *(place for _, place in ready))
        self._share(name, context, parts, "1", much)
        t.loop("0", wide, ROW, lambda c: self._bring_together(stmt, strip, known, places, parts, c))

    def _bring_together(
        self, stmt: Columns, strip: Strip, known: Known, places: Sequence[str], parts: str, column: str
    ) -> None:
        """What all parts have in ROW columns, paired; 0 in columns that there are not, as where rows are read: of what is infinite functions
        would take their rare way.
        """
        t, wide, splats = self.text, known[stmt.width].name, self.splats
        self.splats = {}
        mask = self.below(t.index("sub", known[stmt.end].name, column), ROW)

        def one(n: str, _: str) -> Row:
            at = t.index("add", t.index("mul", n, wide), column)
            found = zip(strip.into, places, strict=True)
            rows = [self.kept(leaf.dtype, self._pointer_to(leaf, place, at), ROW) for leaf, place in found]
            return [t.let(f"select <{ROW} x i1> {mask}, {x}, {x.type} zeroinitializer", x.lane, ROW) for x in rows]

        for leaf, x in zip(strip.into, self.blocks([strip.fold], PAIRS, ROW, "0", parts, one), strict=True):
            self.keep(leaf.dtype, x, self._pointer_to(leaf, self.address[leaf.name], column))
        self.splats = splats

    def _subtree(self, extent: str, order: Order, most: str, least: int) -> str:
        """How many rows a part has: 2 ** n blocks, n no less than `least` and such that there are at most so many parts."""
        t = self.text
        many = t.index("udiv", extent, t.index("mul", most, order.block))
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(many, INDEX_TYPE), Lanes("false", "i1")).name
        return t.index("shl", str(order.block), t.greater(t.index("sub", "64", zeros), str(least)))

    def _parts(self, stmt: Columns, strip: Strip, known: Known, first: str) -> None:
        """Some parts of a strip; the size of a part and where their rows lie are in the context from `first` on."""
        t = self.text
        size = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        places = [self._own(first, 1 + n) for n in range(len(strip.into))]
        extent = self.value(strip.extent, known, None).name

        def part(n: str) -> None:
            for leaf, place in zip(strip.into, places, strict=True):
                self.address[leaf.name] = self._pointer_to(leaf, place, t.index("mul", n, known[stmt.width].name))
            low = t.index("mul", n, size)
            rows = low, t.lesser(t.index("add", low, size), extent)
            self.strip(strip, dict(known), lambda stmts, inside: self._run(stmts, dict(inside)), rows)

        t.loop("%low", "%high", 1, part)

    def _function(
        self,
        stmt: Columns,
        before: Sequence[Value],
        ready: Places,
        into: Sequence[Leaf],
        run: Callable[[Known, str], None],
    ) -> str:
        """The function of a context that does `run`, with the columns in memory of its own. They lie behind what tells of `into`."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
        for n, (leaf, _) in enumerate(ready, 1 + len(into)):
            self.address[leaf.name] = self.text.reserve(f"[{stmt.block} x {leaf.dtype.memory}]")
            self._copy(leaf, self._own(first, n), self.address[leaf.name])
        run(known | self._bounds_of(stmt, known), first)
        return self._finished("few", outside)

    def _own(self, first: str, n: int) -> str:
        """An address that is a function's own."""
        at = self.text.let(f"getelementptr i64, ptr {first}, i64 {n}", "ptr").name
        return self.text.let(f"load ptr, ptr {at}", "ptr").name

    def _pointer_to(self, leaf: Leaf, place: str, at: str) -> str:
        return self.text.let(f"getelementptr {leaf.dtype.memory}, ptr {place}, i64 {at}", "ptr").name

    def _copy(self, leaf: Leaf, source: str, to: str) -> None:
        kind, size = leaf.dtype.memory, leaf.dtype.itemsize
        row = self.text.let(f"load <{ROW} x {kind}>, ptr {source}, align {size}", kind, ROW)
        self.text.put(f"store {row}, ptr {to}, align {size}")
