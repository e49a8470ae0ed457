"""The statements of a loop nest as LLVM instructions.

`llvm_values` emits what is computed; here are the loops around it: whole groups of vectors, single vectors, a tail through the same
routine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import gcd

from ..bring import Bring, Spread
from ..ir import TRUE
from ..machine import LINE
from ..nest import (
    FIRST,
    SECOND,
    AtOnce,
    Blocks,
    Columns,
    Fetch,
    Let,
    Loop,
    Nest,
    Past,
    Pieces,
    Reduce,
    Squares,
    Stmt,
    Strip,
    Turn,
    TurnBack,
    Vector,
    statements,
)
from ..rewrite import affine, steps
from .llvm_masked import of_first
from .llvm_past import PastCaches
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where

WIDEST_BITS = 512  # of a register
LEAST_WIDTH = 64  # columns that are always taken at a time
LAST = 16  # columns of a last block, if there are so many: what fills no vector may be computed one by one


class Loops(PastCaches):
    """Emits statements; `bounds` are those of loops that run over a part of their axis."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(nest, fast_math)
        self.down = False  # the loops of the part being emitted
        self.rows_past = False  # a loop over rows that are stored past the caches is being emitted
        self.bounds: dict[int, tuple[str, str]] = {}

    def _bounds(self, stmt: Loop | Vector | Pieces | Columns | Blocks, low: str, high: str) -> tuple[str, str]:
        return self.bounds.get(id(stmt), (low, high))

    # statements

    def _run(self, stmts: Iterable[Stmt], known: Known) -> None:
        for stmt in stmts:
            match stmt:
                case Let(value, _):
                    self.value(value, known, None)
                case Loop():
                    self._loop(stmt, known)
                case Pieces():
                    self._pieces(stmt, known)
                case Columns():
                    self._columns(stmt, known)
                case Blocks():
                    self._blocks(stmt, known)
                case Turn():
                    self.turn(stmt, known)
                case TurnBack():
                    self.turn_back(stmt, known)
                case Squares():
                    self.squares(stmt, known)
                case Bring():
                    self.bring(stmt, known)
                case AtOnce():
                    self.at_once(stmt, known, self._run)
                case Spread():
                    self.spread(stmt, known)
                case Past():
                    self.past_row(stmt, known, "0")
                case Fetch():
                    self.fetch(stmt, known)
                case Reduce():
                    self.reduce(stmt, known, lambda inside, body=stmt.body: self._run(body, inside))  # type: ignore[misc]
                case Strip():
                    self.strip(stmt, known, lambda stmts, inside: self._run(stmts, dict(inside)))
                case Vector():
                    self._vector(stmt, known)

    def _loop(self, stmt: Loop, known: Known) -> None:
        def step(i: str) -> None:
            self._run(stmt.body, known | {stmt.axis: Lanes(i, INDEX_TYPE)})

        first, last = (self.value(v, known, None).name for v in (stmt.low, stmt.extent))
        low, high = self._bounds(stmt, first, last)
        if columns := self.taken_together(stmt):
            self.outer_loop(stmt, columns, known, low, high, self._run)
            return
        if stmt.runs:
            self._running_on(stmt, known, low, high)
            return
        rows = [s for s in statements(stmt.body) if isinstance(s, Vector) and s.stream]
        if not rows or self.taken or self.rows_past:
            self.text.loop(low, high, 1, step, self.down)
            return
        self.rows_past = True
        self.text.loop(low, high, 1, step, self.down)
        self.rows_past = False
        self._stored_past()

    def _running_on(self, stmt: Loop, known: Known, low: str, high: str) -> None:
        """A loop over rows of the columns that are being taken: as many rows at a time as run on."""
        t, columns = self.text, self.taken[-1]
        count = t.index("sub", known[columns.end].name, known[columns.start].name)
        many = self.rows_at_once(stmt, columns, known, count, t.index("sub", high, low))
        self.repeat_columns(stmt, columns, count, t.index("mul", many, count))

        def rows(i: str) -> str:
            here = t.lesser(many, t.index("sub", high, i))
            end = t.index("add", known[columns.start].name, t.index("mul", here, count))
            self.spread_rows(stmt, columns, known, count, i, here)
            self._run(stmt.body, known | {stmt.axis: Lanes(i, INDEX_TYPE), columns.end: Lanes(end, INDEX_TYPE)})
            return t.index("add", i, many)

        t.repeat(low, high, rows)

    def _pieces(self, stmt: Pieces, known: Known) -> None:
        t = self.text
        low, extent = self._bounds(stmt, "0", self.value(stmt.extent, known, None).name)

        def piece(start: str) -> str:
            inside = known | {stmt.start: Lanes(start, INDEX_TYPE)}
            for name, value in stmt.known:
                inside[name] = self.value(value, inside, None)
            end = extent
            for change in stmt.changes:
                at = self.value(change, inside, None).name
                ahead = t.let(f"icmp sgt i64 {at}, {start}", "i1").name
                end = t.lesser(end, t.let(f"select i1 {ahead}, i64 {at}, i64 {extent}", INDEX_TYPE).name)
            self._run(stmt.body, inside | {stmt.end: Lanes(end, INDEX_TYPE)})
            return end

        assert not self.down, "a cut axis is walked upwards"
        t.repeat(low, extent, piece)

    def _columns(self, stmt: Columns, known: Known) -> None:
        t = self.text
        low, extent = self._bounds(
            stmt, self.value(stmt.low, known, None).name, self.value(stmt.extent, known, None).name
        )

        vectors = [s for s in statements(stmt.body) if isinstance(s, Vector) and s.lanes > 1]
        alone = not stmt.strips and stmt.each is None and not all(s.masked for s in vectors)

        def blocks(width: str) -> None:
            def columns(start: str, end: str) -> None:
                bounds = zip((stmt.start, stmt.end, stmt.width), (start, end, width), strict=True)
                self._run(stmt.body, known | {name: Lanes(value, INDEX_TYPE) for name, value in bounds})

            def block(start: str) -> str:
                end = t.index("add", start, width)
                if alone:
                    left = t.index("sub", t.index("sub", extent, end), 1)
                    few = t.let(f"icmp ult i64 {left}, {LAST - 1}", "i1").name
                    end = t.index("sub", end, t.select(few, str(LAST), "0"))
                end = t.lesser(end, extent)
                columns(start, end)
                return end

            if low.isdecimal() and extent.isdecimal() and int(extent) <= LEAST_WIDTH:
                columns(low, extent)
            else:
                t.repeat(low, extent, block)

        for leaf, _ in stmt.saved:
            self.address[leaf.name] = t.reserve(f"[{stmt.block} x {leaf.dtype.memory}]")
        self.taken.append(stmt)
        self.in_memory_of_its_own(stmt, known, t.index("sub", extent, low), blocks)
        self.taken.pop()
        if any(isinstance(s, Vector) and s.stream for s in statements(stmt.body)):
            self._stored_past()

    def _blocks(self, stmt: Blocks, known: Known) -> None:
        t = self.text
        first, last = (self.value(v, known, None).name for v in (stmt.low, stmt.high))
        low, high = self._bounds(stmt, first, last)
        side, around = (self.value(v, known, None).name for v in (stmt.side, stmt.around))

        def block(start: str) -> str:
            following = t.index("add", start, side)
            more = t.let(f"icmp sge i64 {t.index('sub', high, following)}, {stmt.least}", "i1").name
            end = t.select(more, following, high)
            found = {stmt.start: start, stmt.end: end}
            if stmt.past:
                found |= {stmt.past.begin: low, stmt.past.reach: t.lesser(t.index("add", end, beyond), high)}
            if stmt.ahead:
                found |= zip(stmt.ahead, (t.select(more, following, low), t.select(more, "0", around)), strict=True)
            inside = known | {name: Lanes(value, INDEX_TYPE) for name, value in found.items()}
            if stmt.first is not None:
                inside[stmt.first] = t.let(f"icmp eq i64 {start}, {low}", "i1")
            self._run(stmt.body, inside)
            return end

        for many, leaf in stmt.scratch:
            self.address[leaf.name] = t.reserve(f"[{many} x {leaf.dtype.memory}]")
        beyond = self.stage(stmt.past, known) if stmt.past else "0"
        t.repeat(low, high, block)
        if stmt.past:
            joined = self.value(stmt.past.joined, known, None).name
            t.when(t.let(f"or i1 {known[stmt.past.when].name}, {joined}", "i1").name, self._stored_past)

    def _vector(self, stmt: Vector, known: Known) -> None:
        t = self.text
        low, high = (self.value(v, known, None).name for v in (stmt.low, stmt.high))
        low, high = self._bounds(stmt, low, high)
        if stmt.lanes == 1:
            t.loop(low, high, 1, lambda i: self._group(stmt, known, i, 1, 1, None), self.down)
            return
        self.splats = {}
        self.splat_invariants([s.value for s in stmt.stores], stmt.axis, stmt.lanes, known)
        if stmt.strung:
            self._strung(stmt, known, low, high)
            return
        if stmt.whole and stmt.lanes <= self.least:
            self._overlapping(stmt, known, low, high)
            return
        if stmt.short:
            t.loop(low, high, stmt.lanes, lambda i: self._masked(stmt, known, i, high))
            return
        if low.isdecimal() and high.isdecimal() and not self.down:
            self._written_out(stmt, known, int(low), int(high))
            return
        if stmt.stream and not all(steps(s, stmt.axis) == 1 or (s.leaf, s.offset) in self.groups for s in stmt.stores):
            stmt = replace(stmt, stream=None)
        if stmt.peeled and stmt.stream not in (None, TRUE):
            assert stmt.stream is not None, "a row that may be stored past the caches"
            past, through = replace(stmt, stream=TRUE), replace(stmt, stream=None, peeled=False)
            when = self.value(stmt.stream, known, None).name
            t.either(when, lambda: self._vector(past, dict(known)), lambda: self._vector(through, dict(known)))
            return
        if stmt.lines and stmt.stream:
            low, high = self._lined(stmt, *stmt.lines, known, low, high)
        if stmt.peeled and stmt.stream:
            low = self._peeled(stmt, known, low, high)
        total, wide = t.index("sub", high, low), stmt.lanes * stmt.unroll
        whole = t.index("add", low, t.index("and", total, -stmt.lanes))
        if self.down:
            self._tail(stmt, known, whole, high)
            t.loop(low, whole, stmt.lanes, lambda i: self._group(stmt, known, i, stmt.lanes, 1, None), True)
            return
        rows = bool(self.taken) or self.rows_past
        if stmt.unroll > 1 or stmt.stream:
            fast = t.index("add", low, t.index("and", total, -wide))
            if stmt.stream:
                low = self._streamed(stmt, known, low, fast, whole if rows else fast)
            if stmt.unroll > 1:
                fast = t.greater(low, fast) if stmt.stream and rows else fast
                t.loop(low, fast, wide, lambda i: self._group(stmt, known, i, stmt.lanes, stmt.unroll, None))
                low = fast
        if stmt.far is not None and stmt.unroll > 1:
            some = t.let(f"icmp slt i64 {low}, {high}", "i1").name
            left = t.let(f"and i1 {some}, {known[stmt.far].name}", "i1").name
            t.when(left, lambda: self._fetch_ahead(stmt, known, low, wide))
        end, last = whole, ""
        apart = not stmt.masked or not (stmt.short or self.registers_for_masks)
        if apart and (may := self._may_again(stmt, total)) != "false":
            end, last = t.select(may, high, whole), t.index("sub", high, stmt.lanes)
        t.loop(low, end, stmt.lanes, lambda i: self._single(stmt, known, i, last))
        self._tail(stmt, known, end, high)

    def _strung(self, stmt: Vector, known: Known, low: str, high: str) -> None:
        """Whole rows, as many as fill whole vectors; the last ones with some that were stored, or, as what is before the first one and behind the last, one
        element at a time.
        """
        t, many, each = self.text, stmt.strung, stmt.strung * stmt.lanes // gcd(stmt.strung, stmt.lanes)

        def whole(count: str, of: int) -> str:
            return t.index("mul", t.index("udiv", count, of), of)

        def single(i: str) -> None:
            self._group(stmt, known, i, 1, 1, None)

        def block(i: str) -> None:
            self._group(stmt, known, i, stmt.lanes, stmt.unroll, None)

        first = t.lesser(whole(t.index("add", low, many - 1), many), high)
        t.loop(low, first, 1, single)
        last = t.greater(first, whole(high, many))
        total = t.index("sub", last, first)
        end = t.index("add", first, whole(total, each))
        begin = self._streamed(stmt, known, first, end, end) if stmt.stream else first
        t.loop(begin, end, each, block)
        more = t.let(f"icmp slt i64 {end}, {last}", "i1").name
        enough = t.let(f"icmp sge i64 {total}, {each}", "i1").name
        again = self._again(stmt, t.let(f"and i1 {more}, {enough}", "i1").name)
        t.when(again, lambda: block(t.index("sub", last, each)))
        t.loop(t.select(again, last, end), high, 1, single)

    def _written_out(self, stmt: Vector, known: Known, low: int, high: int) -> None:
        """Elements whose number is known: without a loop."""
        whole = low + (high - low) // stmt.lanes * stmt.lanes
        while low < whole:
            groups = min(stmt.unroll, (whole - low) // stmt.lanes)
            groups -= groups % 2 if stmt.woven and groups > 1 else 0  # of which two are read as one
            self._group(stmt, known, str(low), stmt.lanes, groups, None)
            low += groups * stmt.lanes
        if whole < high and stmt.masked:
            self._group(stmt, known, str(whole), stmt.lanes, 1, of_first(high - whole, stmt.lanes))
        else:
            for at in range(whole, high):
                self._group(stmt, known, str(at), 1, 1, None)

    def _single(self, stmt: Vector, known: Known, i: str, last: str) -> None:
        """A vector from `i` on, or from `last` where that is before."""
        self._group(stmt, known, self.text.lesser(i, last) if last else i, stmt.lanes, 1, None)

    def _peeled(self, stmt: Vector, known: Known, low: str, high: str) -> str:
        """Store up to the first line of the target; those behind it are stored past the caches."""
        t = self.text
        first = t.lesser(t.index("add", low, self._before_line(stmt, known, low)), high)
        t.loop(low, first, stmt.lanes, lambda i: self._masked(stmt, known, i, first))
        return first

    def _streamed(self, stmt: Vector, known: Known, low: str, high: str, whole: str) -> str:
        """Run the whole groups up to `high` past the caches where the target is large and aligned to what is stored at once, or to lines, and single vectors
        up to `whole`. Returns where to go on.
        """
        assert stmt.stream is not None, "a row that may be stored past the caches"
        t, places = self.text, "0"
        for n, store in enumerate(stmt.stores):
            form = affine(store.offset, stmt.axis)
            assert form is not None, "a store is affine"
            for part in form:
                self.value(part, known, None)
            place = self._pointer(
                store.leaf.name, store.leaf.dtype, self._offset(form, known, Where(stmt.axis, low, 1))
            )
            beside = self.groups.get((store.leaf, store.offset), (store.leaf, (store.offset,)))[1]
            if store.offset is beside[0] and not (store.leaf.pairs and n % 2):  # imaginary parts lie behind real ones
                places = t.index("or", places, t.let(f"ptrtoint ptr {place} to i64", INDEX_TYPE).name)
        size = store.leaf.itemsize
        offset = t.let(f"and i64 {places}, {min(stmt.lanes * size * (1 + stmt.woven), LINE) - 1}", INDEX_TYPE)
        aligned = t.let(f"icmp eq {offset}, 0", "i1").name
        apply = t.let(f"and i1 {aligned}, {self.value(stmt.stream, known, None).name}", "i1").name
        end, step = t.select(apply, high, low), stmt.lanes * stmt.unroll
        t.loop(low, end, step, lambda i: self._group(stmt, known, i, stmt.lanes, stmt.unroll, None, stream=True))
        if not (self.taken or self.rows_past):  # of many rows it is said once
            t.when(apply, self._stored_past)
        if whole == high:
            return end
        last = t.select(apply, whole, low)
        t.loop(end, last, stmt.lanes, lambda i: self._group(stmt, known, i, stmt.lanes, 1, None, stream=True))
        return last

    def _tail(self, stmt: Vector, known: Known, low: str, high: str) -> None:
        t = self.text
        if not stmt.masked:
            t.loop(low, high, 1, lambda i: self._group(stmt, known, i, 1, 1, None), self.down)
            return

        t.when(t.let(f"icmp slt i64 {low}, {high}", "i1").name, lambda: self._few(stmt, known, low, high))

    def _few(self, stmt: Vector, known: Known, low: str, high: str) -> None:
        """Fewer elements than a vector has lanes. Of rows that are written out half as many are computed in half a register: some machines work on the widest ones
        by halves, and it is a third of the work for a row of 17.
        """
        t, half = self.text, stmt.lanes // 2
        bits = max(store.leaf.dtype.computed.bits for store in stmt.stores)
        if stmt.lanes * bits < WIDEST_BITS or not self.nest.kernel.down or self.groups or stmt.woven:
            self._masked(stmt, known, low, high)
            return
        few = t.let(f"icmp sle i64 {t.index('sub', high, low)}, {half}", "i1").name

        def narrow() -> None:
            splats, self.splats = self.splats, {}
            self._masked(replace(stmt, lanes=half), dict(known), low, high)
            self.splats = splats

        t.either(few, narrow, lambda: self._masked(stmt, dict(known), low, high))

    def _overlapping(self, stmt: Vector, known: Known, low: str, high: str) -> None:
        """A row that has at least as many elements as a vector has lanes: the last vector ends where the row does. It is computed before
        the others are stored, since the target may be what is read. A masked store takes as long as several others.
        """
        t, inside = self.text, dict(known)
        where = Where(stmt.axis, t.index("sub", high, stmt.lanes), stmt.lanes)
        last = [self.value(s.value, inside, where) for s in stmt.stores]
        whole = t.index("add", low, t.index("and", t.index("sub", where.at, low), -stmt.lanes))
        more = t.let(f"icmp slt i64 {whole}, {where.at}", "i1").name
        whole = t.select(more, t.index("add", whole, stmt.lanes), whole)
        t.loop(low, whole, stmt.lanes, lambda i: self._group(stmt, known, i, stmt.lanes, 1, None))
        self.stores(stmt.stores, last, inside, where)

    def _masked(self, stmt: Vector, known: Known, low: str, high: str) -> None:
        t = self.text
        left = t.let(f"trunc i64 {t.index('sub', high, low)} to i32", "i32")
        many = self.splat(left, stmt.lanes)
        mask = t.let(f"icmp ult {self.iota('i32', stmt.lanes)}, {many.name}", "i1", stmt.lanes)
        self._group(stmt, known, low, stmt.lanes, 1, mask.name)

    def _fetch_ahead(self, stmt: Vector, known: Known, i: str, count: int) -> None:
        if any(steps(x, stmt.axis) is None for x in stmt.ahead):
            i = self.text.opaque(INDEX_TYPE, f"{INDEX_TYPE} {i}")  # else each turn adds to addresses for this alone
        self.fetch_along(stmt.ahead, stmt.axis, dict(known), i, count, FIRST if stmt.near else SECOND)

    def _group(
        self, stmt: Vector, known: Known, i: str, lanes: int, groups: int, mask: str | None, stream: bool = False
    ) -> None:
        """`groups` times `lanes` indices from `i`: everything is loaded and computed before anything is stored."""
        first = groups == stmt.unroll and mask is None
        if stmt.far is not None and lanes > 1 and (first or stmt.short or stmt.whole):
            fetch = (
                (lambda: self.fetch_strung(stmt, known, i))
                if stmt.strung
                else (lambda: self._fetch_ahead(stmt, known, i, lanes * groups))
            )
            self.text.when(known[stmt.far].name, fetch)
        woven = stmt.woven and groups > 1
        starts = [(g & -2 if woven else g) * lanes for g in range(groups)]
        places = [Where(stmt.axis, self.text.index("add", i, g), lanes, mask, stream, woven) for g in starts]
        if stmt.strung and lanes > 1:
            places = [replace(where, block=(i, g)) for where, g in zip(places, starts, strict=True)]
        each = [(dict(known), where) for where in places]
        if self.rows_stored(stmt.stores, each) or self.records_stored(stmt.stores, each):
            return
        if self.extremes_stored(stmt.stores, each):
            return
        self.fold_neighbours(stmt.stores, each)
        self.read_forwards(stmt, each)
        values = [self.abreast(s.value, each) for s in stmt.stores]
        if woven:
            for n in range(0, groups, 2):
                for store, found in zip(stmt.stores, values, strict=True):
                    self.woven_store(store, found[n : n + 2], *each[n])
            return
        for n, (inside, where) in enumerate(each):
            self.stores(stmt.stores, [found[n] for found in values], inside, where)
