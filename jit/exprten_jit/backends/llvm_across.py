"""Folds across rows: one for each lane of a vector loop.

In a register, for a few columns; or in a strip of memory as wide as the caches allow. Rows of a few elements lie across too, when
every lane takes a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..early import AHEAD_BYTES
from ..extremes import COMPARED
from ..folds import folds_of
from ..ir import Fold, Value
from ..nest import WAITING_BYTES, Columns, Stmt, Strip, Vector
from ..reducers import ROW, Order, halved, reducer_of, rounded_up
from ..strips import BEGIN, FAR_BYTES, STOP
from .llvm_accumulators import Row
from .llvm_beside import Groups, Rows
from .llvm_places import Places
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known, Where, first_lanes

CACHE_BYTES = 512 << 10  # of a strip that is read again: half a second cache
SHORTEST = 4  # elements of a row: up to here it is read by columns
THIRD_BYTES = 4 << 20  # likewise, of one that processors share
WIDE_BYTES = 64 << 10  # of a row of a strip that is read from memory once: in the second cache
QUICK_COLUMNS = 128  # of rows from memory, whose extremes are taken by one comparison an element
LEAST_BYTES = 2048  # of a row of a strip: narrower ones make too little of a page

NOTHING: Mapping[Value, Lanes] = {}
Element = Callable[..., Row]  # the bodies of a fold for a row
Run = Callable[[Sequence[Stmt], Known], None]


class Across(Places):
    """Emits all folds."""

    waiting_bytes = str(WAITING_BYTES)

    def across(
        self, node: Fold, known: Known, where: Where | None, low: str = "0", high: str = "", few: bool = False
    ) -> Row:
        """A fold for each lane of `where`, rows brought together one after the other: all, or those from low to high, which may be `few`, a block at most."""
        assert where is not None and node.order is not None, f"the fold over {node.axis.name} is not placed"
        order, count = node.order, where.count
        self._compute_outside(node, known, where)

        def element(k: str, own: Mapping[Value, Lanes] = NOTHING) -> Row:
            inside = {**known, **own, node.axis: Lanes(k, INDEX_TYPE)}
            return [self.widened(self.value(body, inside, where), count) for body in node.bodies]

        def block(start: str, end: str) -> Row:
            if any(node.axis in inner.free for inner in folds_of(*node.bodies)):
                return self._by_rows(node, order, count, start, end, element)
            return self.by_groups(node, where, start, end, *rows)

        def group(k: str) -> list[Row]:
            return [element(self.text.index("add", k, n)) for n in range(order.lanes)]

        rows: Rows = group, element
        if self.nest.kernel.few and count == self.row_lanes:
            every = known[node.extent].name
            fetch = self.fetches(node, where, known, every, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}], AHEAD_BYTES)
            rows = self.fetching(node, fetch, rows)

        assert self.is_across(node), f"the fold over {node.axis.name} runs along its elements"
        if not order.grouped:
            if not self.along_rows_pays(node, where):
                return self._short(node, known, where, element)
            return self._either_way(node, known, where, element)
        if few:
            return block(low, high)
        return self.blocks([node], order, count, low, high or known[node.extent].name, block)

    def _either_way(self, node: Fold, known: Known, where: Where, element: Element) -> Row:
        """Rows of few elements: the shortest in lanes, the others along."""
        if self.most > ROW:
            return self.along_rows(node, dict(known), where)
        return self.text.chosen(
            self.text.let(f"icmp sgt {known[node.extent]}, {SHORTEST}", "i1").name,
            lambda: self.along_rows(node, dict(known), where),
            lambda: self._short(node, dict(known), where, element),
        )

    def _short(self, node: Fold, known: Known, where: Where, element: Element) -> Row:
        """Rows of few elements, one in each lane: an accumulator for each element, and those that exist are halved."""
        t, folds, count, extent = self.text, [node], where.count, known[node.extent].name
        if where.mask is None:
            self.fetch_rows(node, known, where, range(count))
        group, loads = self.together(node, where)
        room = -(-self.most // group) * group  # those of the last group that do not exist are stored, too
        places = [t.reserve(f"[{room} x {Lanes('', dtype.memory, count).type}]") for dtype in node.dtypes]

        def join(k: str, half: int) -> None:
            a, b = (self._get(folds, places, x, count) for x in (k, t.index("add", k, half)))
            self._put(folds, places, k, self.combine(node, a, b))

        def some(k: str) -> None:
            """`group` elements, of which those that do not exist are the last one again."""
            inside = {**known, node.axis: Lanes(k, INDEX_TYPE)}
            found = {x: self.columns(x, node.axis, inside, where, t.index("sub", extent, k), group) for x in loads}
            for j in range(group):
                at = t.index("add", k, j)
                own = {x: columns[j] for x, columns in found.items()}
                self._put(folds, places, at, element(t.lesser(at, t.index("sub", extent, 1)) if j else at, own))

        t.loop("0", extent, group, some)
        assert node.order is not None, "a scheduled fold has an order"
        most = min(rounded_up(self.most), node.order.lanes)
        if most < self.most:  # elements that join the lanes behind others

            def behind(k: str) -> None:
                at = t.index("and", k, most - 1)
                rows = (self._get(folds, places, x, count) for x in (at, k))
                self._put(folds, places, at, self.join(node, *rows))

            t.loop(str(most), t.greater(extent, str(most)), 1, behind)
            extent = t.lesser(extent, str(most))
        half = most // 2
        while half:
            t.loop("0", t.lesser(str(half), t.index("sub", extent, half)), 1, partial(join, half=half))
            half //= 2
        return self._get(folds, places, "0", count)

    def by_groups(
        self,
        node: Fold,
        where: Where,
        start: str,
        end: str,
        group: Callable[[str], list[Row]],
        element: Callable[[str], Row],
    ) -> Row:
        """A group of rows after the other, all of its rows at once."""
        assert node.order is not None, "a scheduled fold has an order"
        t, order, count = self.text, node.order, where.count
        whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))
        identity = self._identity([node], count)

        def rest(k: str, sums: list[Row]) -> list[Row]:
            group = [element(k)]
            for n in range(1, order.lanes):
                row, there = self._row(t.index("add", k, n), end)
                found = zip(element(row), identity, strict=True)
                group.append([t.let(f"select i1 {there}, {x}, {nothing}", x.lane, count) for x, nothing in found])
            return [self.with_group(node, sums[0], group)]

        groups, left = Groups(start, whole), whole
        if reducer_of(node.reducer).quick or node.reducer in COMPARED:  # rows may come again: an extreme stays the same
            left = t.select(t.let(f"icmp sgt i64 {whole}, {start}", "i1").name, end, whole)
            groups = Groups(start, whole, left)
        sums = self.in_groups(node, groups, count, group, where.mask)
        return self._perhaps(left, end, [sums], rest)[0]

    def _by_rows(self, node: Fold, order: Order, count: int, start: str, end: str, element: Element) -> Row:
        """The same sum with one copy of the body, for a body that holds another fold: rows wait in memory for their group."""
        t, combine = self.text, partial(self.combine, node)
        identity = self._identity([node], count)
        places = self._places([node], [identity] * order.lanes)

        def chosen(condition: str, a: Row, b: Row) -> Row:
            return [t.let(f"select i1 {condition}, {x}, {y}", x.lane, count) for x, y in zip(a, b, strict=True)]

        def step(k: str, sums: list[Row]) -> list[Row]:
            at = t.index("and", t.index("sub", k, start), order.lanes - 1)
            new = element(k)
            for n in range(order.lanes):  # a new group begins with the identity everywhere
                here = t.let(f"icmp eq i64 {at}, {n}", "i1").name
                later = t.let(f"icmp ugt i64 {n}, {at}", "i1").name
                kept = chosen(later, identity, self._get([node], places, str(n), count))
                self._put([node], places, str(n), chosen(here, new, kept))
            last = t.let(f"icmp eq i64 {t.index('add', k, 1)}, {end}", "i1").name
            full = t.let(f"icmp eq i64 {at}, {order.lanes - 1}", "i1").name
            joined = combine(sums[0], halved(self._fetch([node], places, order.lanes, count), combine))
            return [chosen(t.let(f"or i1 {last}, {full}", "i1").name, joined, sums[0])]

        return self._carry(start, end, 1, [identity], step)[0]

    def _row(self, k: str, end: str) -> tuple[str, str]:
        """A row that exists, and whether it is the one asked for."""
        t = self.text
        return t.lesser(k, t.index("sub", end, 1)), t.let(f"icmp slt i64 {k}, {end}", "i1").name

    def strip(self, stmt: Strip, known: Known, run: Run, rows: tuple[str, str] | None = None) -> None:
        """A fold across rows, or some of them, one strip of columns wide; `run` does statements."""
        *_, loop = stmt.body
        rows = rows or ("0", self.value(stmt.extent, known, None).name)
        few = stmt.few
        if few is not None and isinstance(loop, Vector) and self.fits_beside(few, loop, few.axis):
            self._beside(few, loop, known, rows)
            return
        if few is None or not isinstance(loop, Vector) or not loop.masked or loop.lanes == 1:
            self._in_memory(stmt, known, run, rows)
            return
        low, high = (self.value(v, known, None).name for v in (loop.low, loop.high))
        left = self.text.index("sub", high, low)
        where = Where(loop.axis, low, loop.lanes, self.below(left, loop.lanes))
        self.text.either(
            self.text.let(f"icmp sle i64 {left}, {loop.lanes}", "i1").name,
            lambda: self._in_registers(few, loop, dict(known), where, rows),
            lambda: self._in_memory(stmt, dict(known), run, rows),
        )

    def _beside(self, node: Fold, loop: Vector, known: Known, rows: tuple[str, str]) -> None:
        """A strip of the kernel's few columns: as many blocks of rows at once as a vector holds rows, the last ones one by one."""
        assert node.order is not None, "a scheduled fold has an order"
        t, order, folds = self.text, node.order, [node]
        first, end = (self.value(v, known, None).name for v in (loop.low, loop.high))
        width, many, filled = self.row_lanes, self.rows_of(loop), self.rows_filled(node, loop)
        parts = () if filled else self.row_parts(t.index("sub", end, first), loop, folds)
        some = self.row_some(parts)
        where = Where(loop.axis, first, width, first_lanes(some, width), parts=parts)
        items = Items(node.axis, width, some, ({},) * many, parts=parts)
        splats, self.splats = self.splats, {}
        low, high = rows
        if lying := self.rows_sought(node, loop):
            low, before = self.sought_beside(node, loop, known, lying, *rows)
        if filled:
            low, before = self.filled_beside(node, loop, known, filled, *rows)
            result = self.across(node, dict(known), where, low, high, few=True)
        elif many == 1:
            result = self.across(node, dict(known), where, low, high)
        else:

            def blocks(start: str, end: str) -> Row:
                return t.chosen(
                    t.let(f"icmp eq i64 {t.index('sub', end, start)}, {order.block * many}", "i1").name,
                    lambda: self.abreast_blocks(node, loop, dict(known), start, items),
                    lambda: self.across(node, dict(known), where, start, end),
                )

            result = self.blocks(folds, replace(order, block=order.block * many), width, low, high, blocks)
        result = self.join(node, before, result) if lying or filled else result
        for store, x in zip(loop.stores, result, strict=True):
            self.store(store, x, known, where)
        self.splats = splats

    def _in_registers(self, node: Fold, loop: Vector, known: Known, where: Where, rows: tuple[str, str]) -> None:
        """A strip of no more columns than a vector has lanes."""
        for store, x in zip(loop.stores, self.across(node, known, where, *rows), strict=True):
            self.store(store, x, known, where)

    def _in_memory(self, stmt: Strip, known: Known, run: Run, rows: tuple[str, str]) -> None:
        """A strip of columns with a row of accumulators in memory."""
        t, order = self.text, stmt.fold.order
        assert order is not None, "a scheduled fold has an order"
        waiting = self._waiting()
        for n, leaf in enumerate(stmt.waiting):
            first = t.index("mul", t.index("udiv", self.waiting_bytes, len(stmt.waiting)), n) if n else "0"
            self.address[leaf.name] = t.let(f"getelementptr i8, ptr {waiting}, i64 {first}", "ptr").name
        for leaf in stmt.made:
            self.address[leaf.name] = t.reserve(f"[{order.lanes} x {leaf.dtype.memory}]")

        def at(statements: Sequence[Stmt]) -> Callable[[str], None]:
            return lambda top: run(statements, {**known, stmt.top: Lanes(top, INDEX_TYPE)})

        def all_rows() -> None:
            self.pairing(order, *rows, partial(self._block, stmt, known, run), at(stmt.pair), at(stmt.keep))

        if stmt.quick is None:
            all_rows()
            return
        quick, left = stmt.quick, t.reserve("i1")
        self.address[quick.into[1].name] = waiting  # nothing waits in it yet
        t.put(f"store i1 true, ptr {left}")

        def quickly() -> None:
            self._block(quick, dict(known), run, *rows)
            t.put(f"store i1 {self._is_strange(quick, known)}, ptr {left}")

        t.when(self._pays_quickly(quick, known, rows), quickly)
        t.when(t.let(f"load i1, ptr {left}", "i1").name, all_rows)

    def _pays_quickly(self, stmt: Strip, known: Known, rows: tuple[str, str]) -> str:
        """Whether a quick strip is better: of rows from memory where they are not short, else the processor waits as long for what it reads."""
        t, (*_, loop) = self.text, stmt.body
        assert isinstance(loop, Vector), "a strip is a vector loop"
        low, high = (self.value(v, dict(known), None).name for v in (loop.low, loop.high))
        columns = t.index("sub", high, low)
        elements = t.index("mul", columns, t.index("sub", rows[1], rows[0]))
        tests = (
            f"sge i64 {columns}, {QUICK_COLUMNS}",
            f"slt i64 {elements}, {FAR_BYTES // stmt.into[0].dtype.itemsize}",
        )
        long, near = (t.let(f"icmp {test}", "i1").name for test in tests)
        return t.let(f"or i1 {long}, {near}", "i1").name

    def _block(self, stmt: Strip, known: Known, run: Run, start: str, end: str) -> None:
        """Some rows of a strip."""
        t, order = self.text, stmt.fold.order
        assert order is not None, "a scheduled fold has an order"
        run(stmt.first, known)
        whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))

        def next_rows(k: str, stop: str) -> Known:
            inside: Known = {**known, BEGIN: Lanes(k, INDEX_TYPE), STOP: Lanes(stop, INDEX_TYPE)}
            run(stmt.each, inside)
            return inside

        def step(k: str) -> None:
            rows: Known = {row: Lanes(t.index("add", k, n), INDEX_TYPE) for n, row in enumerate(stmt.rows)}
            run(stmt.body, {**next_rows(k, t.index("add", k, order.lanes)), **rows})

        def rest(k: str) -> None:
            inside = next_rows(k, end)
            for n, (row, there) in enumerate(zip(stmt.rows, stmt.there, strict=True)):
                at, exists = self._row(t.index("add", k, n), end)
                inside |= {row: Lanes(at, INDEX_TYPE), there: Lanes(exists, "i1")}
            run(stmt.rest, inside)

        t.loop(start, whole, order.lanes, step)
        t.loop(whole, end, order.lanes, rest)

    def _is_strange(self, stmt: Strip, known: Known) -> str:
        """Whether a quick strip has a column of which an element is NaN, or there are infinities of both signs; or one whose extreme is a zero, whose sign
        decides.
        """
        t, (*_, loop) = self.text, stmt.body
        assert isinstance(loop, Vector), "a strip is a vector loop"
        low, high = (self.value(v, dict(known), None).name for v in (loop.low, loop.high))
        lanes, count = loop.lanes, t.index("sub", high, low)

        def some(k: str, found: list[Row]) -> list[Row]:
            best, total = (self.kept(x.dtype, self._pointer(x.name, x.dtype, k), lanes) for x in stmt.into)
            zero = t.let(f"fcmp oeq {best}, zeroinitializer", "i1", lanes)
            bad = t.let(f"or {zero}, {t.let(f'fcmp uno {total}, {total.name}', 'i1', lanes).name}", "i1", lanes)
            mask = Lanes(self.below(t.index("sub", count, k), lanes), "i1", lanes)
            bad = t.let(f"and {bad}, {mask.name}", "i1", lanes)
            bad = self.noted(bad, best)
            return [[t.let(f"or {found[0][0]}, {bad.name}", bad.lane, lanes)]]

        nothing = self.noted(self.widened(Lanes("false", "i1"), lanes), Lanes("", stmt.into[0].dtype.lane))
        ((found,),) = self._carry("0", count, lanes, [[nothing]], some)
        return self._met("or", found).name

    def _waiting(self) -> str:
        """Memory for the rows that wait: one for all strips, which run one after the other."""
        if not self.waiting:
            self.waiting = self.text.reserve(f"[{WAITING_BYTES} x i8]")
        return self.waiting

    def in_memory_of_its_own(self, stmt: Columns, known: Known, columns: str, run: Callable[[str], None]) -> None:
        """`run` what is as wide as `width` says, or wider, in memory for the time of the call, where many columns are read from memory, once:
        processors see long stretches of a row coming. Where there is none to be had, the stack does.
        """
        t, width = self.text, self.width(stmt, known)
        if not stmt.one_fold or stmt.again or stmt.rows_made or self.nest.kernel.few:
            run(width)
            return
        (strip,) = stmt.strips
        sizes = [leaf.dtype.itemsize for leaf in strip.into]
        rows, row = self.value(strip.extent, known, None).name, sum(sizes)
        results = t.index("add", self._results_waiting(strip, rows), 1)
        most = WIDE_BYTES // row // 64 * 64
        parts = t.greater(t.index("sdiv", t.index("add", columns, most - 1), most), "1")  # of the same width
        each = t.index("sdiv", t.index("add", columns, t.index("sub", parts, 1)), parts)
        wide = t.index("and", t.index("add", each, 63), -64)
        elements = self.value(self.nest.kernel.folded(strip.extent), known, None).name
        far = t.let(f"icmp sge i64 {elements}, {FAR_BYTES // max(sizes)}", "i1").name
        wider = t.let(f"icmp sgt i64 {wide}, {width}", "i1").name
        own, stack = t.reserve("ptr"), self._waiting()
        t.put(f"store ptr null, ptr {own}")

        def ask() -> None:
            nbytes = t.index("mul", t.index("mul", wide, max(sizes) * len(sizes)), results)
            t.put(f"store ptr {t.call('@malloc', 'ptr', 1, Lanes(nbytes, INDEX_TYPE)).name}, ptr {own}")

        t.when(t.let(f"and i1 {far}, {wider}", "i1").name, ask)
        memory = t.let(f"load ptr, ptr {own}", "ptr").name
        found = t.let(f"icmp ne ptr {memory}, null", "i1").name
        part = t.index("mul", wide, max(sizes))
        for n, leaf in enumerate(strip.into):
            place = t.let(f"getelementptr i8, ptr {memory}, i64 {t.index('mul', part, n)}", "ptr").name
            here = f"select i1 {found}, ptr {place}, ptr {self.address[leaf.name]}"
            self.address[leaf.name] = t.let(here, "ptr").name
        behind = t.let(f"getelementptr i8, ptr {memory}, i64 {t.index('mul', part, len(sizes))}", "ptr").name
        self.waiting = t.let(f"select i1 {found}, ptr {behind}, ptr {stack}", "ptr").name
        room = t.index("mul", t.index("mul", part, len(sizes)), t.index("sub", results, 1))
        self.waiting_bytes = t.select(found, room, str(WAITING_BYTES))
        run(t.select(found, wide, width))
        self.waiting, self.waiting_bytes = stack, str(WAITING_BYTES)
        t.when(found, lambda: t.call_void("@free", f"ptr {memory}"))

    def _results_waiting(self, strip: Strip, rows: str) -> str:
        """How many results of blocks of so many rows wait at most: one for each bit of the last block's number."""
        t = self.text
        assert strip.fold.order is not None, "a scheduled fold has an order"
        last = t.index("sdiv", t.index("sub", rows, 1), strip.fold.order.block)
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(last, INDEX_TYPE), Lanes("true", "i1"))
        return t.index("sub", "64", t.select(t.let(f"icmp sgt i64 {last}, 0", "i1").name, zeros.name, "63"))

    def width(self, stmt: Columns, known: Known) -> str:
        """How many columns are taken at a time, a multiple of 64: all bytes of a line, and whole groups of vectors."""
        t, width = self.text, str(stmt.block)
        for strip in stmt.strips:
            size = max(leaf.dtype.itemsize for leaf in strip.into)
            rows = self.value(strip.extent, known, None).name
            wait = self._results_waiting(strip, rows)
            width = t.lesser(width, t.index("sdiv", str(WAITING_BYTES // len(strip.into) // size), wait))
            if stmt.again:
                width = t.lesser(width, self._read_again(rows, 2 * size if stmt.held is not None else size, width))
        if stmt.each is not None:
            each = self.value(stmt.each, known, None).name
            return t.index("mul", t.index("sdiv", width, each), each)
        return t.index("and", width, -64)

    def _read_again(self, rows: str, size: int, all_: str) -> str:
        """How many columns of so many rows stay in the second cache, or in the third; of more rows, which are read from memory again, `all_`."""
        t, least = self.text, LEAST_BYTES // size
        second, third = (t.index("sdiv", str(fit // size), t.greater(rows, "1")) for fit in (CACHE_BYTES, THIRD_BYTES))
        beyond = t.select(t.let(f"icmp sge i64 {third}, {least // 2}", "i1").name, third, all_)
        near = t.let(f"icmp sge i64 {second}, {least // 2}", "i1").name
        return t.select(near, t.greater(second, str(least)), beyond)
