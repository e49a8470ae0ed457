"""Squares turned round in registers, for targets that lie across their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..dtypes import DType
from ..ir import Axis, Leaf, Load, Store
from ..machine import LINE
from ..nest import SIDE, Past, Turn, TurnBack
from ..rewrite import affine
from .llvm_compared import Compared
from .llvm_ops import memory_suffix
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known


class Tiles(Compared):
    """Emits what turns a tile: squares of as many rows and columns as a vector has lanes."""

    def turn(self, stmt: Turn, known: Known) -> None:
        """A tile of a source, onto the stack."""
        t, width, dtype = self.text, stmt.lanes, stmt.into.dtype
        function, kind = f"@llvm.masked.load.v{width}{memory_suffix(dtype)}.p0", f"<{width} x {dtype.memory}>"
        t.declare(function, kind, "ptr", "i32 immarg", f"<{width} x i1>", kind)

        def square(row: str, column: str) -> None:
            mask = f"<{width} x i1> {self.below(t.index('sub', known[stmt.bottom].name, row), width)}"
            given = f"i32 {dtype.itemsize}, {mask}, {kind} zeroinitializer"
            rows = [
                t.let(f"call {kind} {function}(ptr {address}, {given})", dtype.memory, width)
                for address in self._columns_of(stmt, stmt.load, known, row, column)
            ]
            for x, address in zip(
                self._square(rows, dtype.itemsize), self._rows_of(stmt, stmt.into, known, row, column), strict=True
            ):
                t.put(f"store {x}, ptr {address}, align {dtype.itemsize}")

        far = self.value(stmt.when, known, None).name

        def squares(column: str) -> None:
            t.when(far, lambda: self._ahead(stmt, known, column))
            self._column(stmt, known, column, square)

        t.loop(known[stmt.left].name, known[stmt.right].name, stmt.lanes, squares)

    def _ahead(self, stmt: Turn, known: Known, column: str) -> None:
        """Fetch the rows of the next tile that will be turned together."""
        dtype = stmt.load.leaf.dtype
        for address in self.places(stmt.ahead, stmt.column, column, stmt.lanes, known):
            self.fetch_bytes(
                address, SIDE * dtype.itemsize
            )  # not into the first cache, where those of a tile may all have the same place

    def turn_back(self, stmt: TurnBack, known: Known) -> None:
        """A tile on the stack, into the target."""
        t, width, dtype = self.text, stmt.lanes, stmt.tile.dtype
        function, kind = f"@llvm.masked.store.v{width}{memory_suffix(dtype)}.p0", f"<{width} x {dtype.memory}>"
        t.declare(function, "void", kind, "ptr", "i32 immarg", f"<{width} x i1>")

        def square(row: str, column: str) -> None:
            rows = [
                t.let(f"load {kind}, ptr {address}, align {dtype.itemsize}", dtype.memory, width)
                for address in self._rows_of(stmt, stmt.tile, known, row, column)
            ]
            below, beside = (
                t.index("sub", known[end].name, at) for end, at in ((stmt.bottom, row), (stmt.right, column))
            )
            columns = list(zip(self._square(rows, dtype.itemsize), self._goals(stmt, known, row, column), strict=True))

            def whole() -> None:
                for x, address in columns:
                    t.put(f"store {x}, ptr {address}, align {dtype.itemsize}")

            def some() -> None:
                for k, (x, address) in enumerate(columns):
                    there = t.let(f"icmp sgt i64 {beside}, {k}", "i1").name
                    mask = self.below(t.select(there, below, "0"), width)
                    t.put(f"call void {function}({x}, ptr {address}, i32 {dtype.itemsize}, <{width} x i1> {mask})")

            t.either(t.let(f"icmp sge i64 {t.lesser(below, beside)}, {width}", "i1").name, whole, some)

        def squares(column: str) -> None:
            self._column(stmt, known, column, square)
            if stmt.past:
                t.when(known[stmt.past.when].name, lambda: self._past_rows(stmt, known, column))

        t.loop(known[stmt.left].name, known[stmt.right].name, stmt.lanes, squares)

    def _column(self, stmt: Turn | TurnBack, known: Known, column: str, square: Callable[[str, str], None]) -> None:
        """The squares of a tile side by side along what lies in memory as it runs there."""
        top, bottom = known[stmt.top].name, known[stmt.bottom].name
        self.text.loop(top, bottom, stmt.lanes, lambda row: square(row, column))

    # past the caches

    def stage(self, past: Past, known: Known) -> str:
        """Choose where rows of a tile are stored; returns how many elements beyond its end they may have."""
        t, when = self.text, self.value(past.when, known, None).name
        for value in (past.aliased, past.joined):
            self.value(value, known, None)
        stage, target = self.address[past.stage.name], self.address[past.store.leaf.name]
        self.address[past.goal.name] = t.let(f"select i1 {when}, ptr {stage}, ptr {target}", "ptr").name
        self.given.add(past.goal.name)  # no room beyond what exists
        return t.select(when, str(LINE // past.store.leaf.dtype.itemsize - 1), "0")

    def _past_rows(self, stmt: TurnBack, known: Known, column: str) -> None:
        """Store the rows of the target that were turned together."""
        t, past = self.text, stmt.past
        assert past is not None
        many = t.lesser(t.index("sub", known[stmt.right].name, column), str(stmt.lanes))

        def row(k: str) -> None:
            inside = {**known, stmt.column: Lanes(t.index("add", column, k), INDEX_TYPE)}
            self._whole_lines(past, inside, t.index("mul", k, past.length))

        t.loop("0", many, 1, row)

    def past_row(self, past: Past, known: Known, stage: str) -> None:
        """Store a row of the target from the stage, where it is stored past the caches."""
        self.text.when(known[past.when].name, lambda: self._whole_lines(past, known, stage))

    def _whole_lines(self, past: Past, known: Known, stage: str) -> None:
        """A row that lies from element `stage` on: whole lines past the caches, before and behind them what the first and the last tile have."""
        t, dtype = self.text, past.store.leaf.dtype
        size, many = dtype.itemsize, LINE // dtype.itemsize
        start, end, reach = (known[name].name for name in (past.start, past.end, past.reach))
        inside: Known = {**known, past.along: Lanes(start, INDEX_TYPE)}
        target = self._pointer(past.store.leaf.name, dtype, self.value(past.store.offset, inside, None).name)
        address = t.let(f"ptrtoint ptr {target} to i64", INDEX_TYPE).name
        skipped = t.index("and", t.index("sub", "0", t.index("sdiv", address, size)), many - 1)
        to = t.lesser(t.index("add", end, skipped), reach)
        lines = t.lesser(t.index("add", start, skipped), to)
        first = t.let(f"icmp eq i64 {start}, {known[past.begin].name}", "i1").name
        last = t.index("add", lines, t.index("and", t.index("sub", to, lines), -many))
        source = self._pointer(past.stage.name, dtype, stage)
        places = [t.index("sub", x, start) for x in (t.select(first, start, lines), lines, last, to)]
        self._put_whole(source, target, dtype, places, known[past.aliased].name)

    def put_joined(self, source: str, target: str, dtype: DType, count: str) -> None:
        """So many elements, which follow each other in the target: whole lines past the caches."""
        t, line = self.text, LINE // dtype.itemsize
        address = t.index("sdiv", t.let(f"ptrtoint ptr {target} to i64", INDEX_TYPE).name, dtype.itemsize)
        lines = t.lesser(t.index("and", t.index("sub", "0", address), line - 1), count)
        last = t.index("add", lines, t.index("and", t.index("sub", count, lines), -line))
        self._put_whole(source, target, dtype, ["0", lines, last, count], "false")

    def _put_whole(self, source: str, target: str, dtype: DType, places: Sequence[str], aliased: str) -> None:
        """Elements from the first to the last of four places, whole lines from the second to the third one, past the caches but where the target is `aliased`."""
        t, size, many = self.text, dtype.itemsize, LINE // dtype.itemsize
        first, lines, last, to = places

        def copied(kind: str, how: str, claimed: Sequence[int] = ()) -> Callable[[str], None]:
            def copy(i: str) -> None:
                here, there = (t.further(x, dtype.memory, i) for x in (source, target))
                self.claim(there, *claimed)
                x = t.let(f"load {kind}, ptr {here}, align {size}", kind).name
                t.put(f"store {kind} {x}, ptr {there}, {how}")

            return copy

        def some(low: str, high: str) -> None:
            """Less than a line: half of one, a fourth, and so on, as there are."""
            left, each = t.index("sub", high, low), many // 2
            while each:
                there = t.let(f"icmp ne i64 {t.index('and', left, each)}, 0", "i1").name
                kind = f"<{each} x {dtype.memory}>" if each > 1 else dtype.memory
                t.when(there, partial(copied(kind, f"align {size}"), low))
                low, each = t.index("add", low, t.index("and", left, each)), each // 2

        some(first, lines)
        kind, line = f"<{many} x {dtype.memory}>", f"align {LINE}"
        past, through = copied(kind, f"{line}, !nontemporal !0"), copied(kind, line, (LINE,))
        if aliased == "false":
            t.loop(lines, last, many, past)
        else:
            t.either(aliased, lambda: t.loop(lines, last, many, through), lambda: t.loop(lines, last, many, past))
        some(last, to)

    def _goals(self, stmt: TurnBack, known: Known, row: str, column: str) -> list[str]:
        """Where the columns of a square are stored: in the target, or in the stage."""
        found = self._columns_of(stmt, stmt.store, known, row, column)
        if not stmt.past:
            return found
        t, past = self.text, stmt.past
        at = t.index("sub", row, known[stmt.top].name)
        stage = [
            self._pointer(past.stage.name, past.stage.dtype, t.index("add", at, k * past.length))
            for k in range(stmt.lanes)
        ]
        when = known[past.when].name
        return [t.let(f"select i1 {when}, ptr {x}, ptr {y}", "ptr").name for x, y in zip(stage, found, strict=True)]

    def _columns_of(self, stmt: Turn | TurnBack, at: Load | Store, known: Known, row: str, column: str) -> list[str]:
        """Where the columns of a square begin in a tensor; for those that do not exist, the last one."""
        left = self.text.index("sub", known[stmt.right].name, column)
        return self.places(at, stmt.column, column, stmt.lanes, {**known, stmt.row: Lanes(row, INDEX_TYPE)}, left)

    def places(
        self, at: Load | Store, axis: Axis, first: str, many: int, known: Known, left: str | None = None
    ) -> list[str]:
        """Where an element is for so many indices of an axis from the first one on; where only some are left, for the others that of the last."""
        t = self.text
        if not affine(at.offset, axis):
            last = t.index("sub", left, 1) if left else None
            each = [t.index("add", first, t.lesser(str(k), last) if last and k else k) for k in range(many)]
            offsets = [self.value(at.offset, {**known, axis: Lanes(k, INDEX_TYPE)}, None).name for k in each]
            return [self._pointer(at.leaf.name, at.leaf.dtype, offset) for offset in offsets]
        return self.steps(*self.first_place(at, axis, first, known), at.leaf.dtype, many, left)

    def first_place(self, at: Load | Store, axis: Axis, first: str, known: Known) -> tuple[str, str]:
        """Where an element is for an index of an axis, and how many elements further for the next one."""
        form = affine(at.offset, axis)
        assert form is not None, "lines lie at regular distances"
        inside: Known = {**known, axis: Lanes(first, INDEX_TYPE)}
        address = self._pointer(at.leaf.name, at.leaf.dtype, self.value(at.offset, inside, None).name)
        return address, self.value(form[0], inside, None).name

    def steps(self, address: str, stride: str, dtype: DType, many: int, left: str | None) -> list[str]:
        """So many addresses, the last of those that are left again for the others."""
        t, found = self.text, [address]
        for k in range(1, many):
            step = t.select(t.let(f"icmp sgt i64 {left}, {k}", "i1").name, stride, "0") if left else stride
            found.append(t.let(f"getelementptr {dtype.memory}, ptr {found[-1]}, i64 {step}", "ptr").name)
        return found

    def _rows_of(self, stmt: Turn | TurnBack, leaf: Leaf, known: Known, row: str, column: str) -> list[str]:
        """Where the rows of a square begin on the stack."""
        t = self.text
        rows, columns = t.index("sub", row, known[stmt.top].name), t.index("sub", column, known[stmt.left].name)
        at = t.index("add", t.index("mul", rows, stmt.length), columns)
        return [self._pointer(leaf.name, leaf.dtype, t.index("add", at, k * stmt.length)) for k in range(stmt.lanes)]
