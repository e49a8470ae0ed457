"""Squares that are turned round as they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..dtypes import DType
from ..ir import Leaf, Load
from ..nest import Squares
from ..pairs import twins
from ..rewrite import walk
from ..tiles import LINE
from .llvm_memory import Known, Where
from .llvm_ops import memory_suffix
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_tile import Tiles
from .llvm_values import Group

ABREAST = 4  # rows of a square that are computed at once: of all sixteen no register would be left for what is dear


class InRegisters(Tiles):
    """Emits what computes a tile in squares: all of their lanes inside of it, masked at its rim."""

    def squares(self, stmt: Squares, known: Known) -> None:
        """A tile: lines of the target side by side, as many as a square has, along all of it; then the next ones. The last square ends where
        the tile does; where the target is read, it has fewer lanes instead, for those would be computed twice.
        """
        t, splats, self.splats = self.text, self.splats, {}
        top, bottom, left, right = (known[name].name for name in (stmt.top, stmt.bottom, stmt.left, stmt.right))
        far = self.value(stmt.when, known, None).name
        straight = self._straight(stmt, known)
        staged = "false"
        if stmt.past:
            when, end = known[stmt.past.when].name, known[stmt.past.end].name
            staged = t.let(f"and i1 {when}, {t.let(f'xor i1 {straight}, true', 'i1').name}", "i1").name
            bottom, right = (
                t.select(straight, end, x) if name is stmt.past.reach else x
                for name, x in ((stmt.bottom, bottom), (stmt.right, right))
            )
        last = self._last_squares(stmt, (top, bottom), (left, right))

        def square(row: str, column: str) -> None:
            if stmt.ahead:
                t.when(far, lambda: self._next_lines(stmt, known, row, column))
            rows, columns = t.index("sub", bottom, row), t.index("sub", right, column)
            whole = t.let(f"icmp sge i64 {t.lesser(rows, columns)}, {stmt.lanes}", "i1").name
            one = partial(self._one_square, stmt, row=row, column=column, straight=straight, staged=staged)
            t.either(whole, lambda: one(dict(known)), lambda: one(dict(known), left=(rows, columns)))

        def from_(at: str, n: int) -> str:
            return t.lesser(at, last[n])

        def beside(at: str) -> None:
            first = from_(at, stmt.across)
            if stmt.across:
                t.loop(top, bottom, stmt.lanes, lambda row: square(from_(row, 0), first))
            else:
                t.loop(left, right, stmt.lanes, lambda column: square(first, from_(column, 1)))
            if stmt.past:
                t.when(staged, lambda: self._whole_side(stmt, known, first))

        t.loop(*((left, right) if stmt.across else (top, bottom)), stmt.lanes, beside)
        self.splats = splats

    def _last_squares(self, stmt: Squares, *spans: tuple[str, str]) -> list[str]:
        """Where the last squares begin: such that they end where the tile does, if there is one. Where the target is read, under whatever name,
        at their place: what was stored would be read again.
        """
        t, again, found = self.text, "false", list[str]()
        read = walk(*(store.value for store in stmt.stores))
        loads = [*(x for _, x in stmt.turned), *(x for x in read if isinstance(x, Load))]
        for leaf in dict.fromkeys(x.leaf for x in loads if x.leaf.name in self.given):
            addresses = (self.address[x.name] for x in (leaf, stmt.stores[0].leaf))
            here = t.let(f"icmp eq ptr {', '.join(addresses)}", "i1").name
            again = t.let(f"or i1 {again}, {here}", "i1").name
        for start, end in spans:
            before = t.greater(start, t.index("sub", end, stmt.lanes))
            found.append(t.select(again, end, before))
        return found

    def _straight(self, stmt: Squares, known: Known) -> str:
        """Whether the lines of all squares of a tile are lines of the target, which are stored past the caches as they come."""
        t, size = self.text, stmt.stores[0].leaf.dtype.itemsize
        if not stmt.past or stmt.lanes * size != LINE:
            return "false"
        here: Known = {**known, stmt.row: known[stmt.top], stmt.column: known[stmt.left]}
        axis, first = (stmt.column, stmt.left) if stmt.across else (stmt.row, stmt.top)
        goal, stride = self.first_place(stmt.stores[0], axis, known[first].name, here)
        many = t.index("sub", known[stmt.past.end].name, known[stmt.past.start].name)
        steps = t.index("mul", t.index("or", stride, many), size)
        rest = t.index("and", t.index("or", t.let(f"ptrtoint ptr {goal} to i64", INDEX_TYPE).name, steps), LINE - 1)
        aligned = t.let(f"icmp eq i64 {rest}, 0", "i1").name
        past = t.let(f"select i1 {known[stmt.past.aliased].name}, i1 false, i1 {known[stmt.past.when].name}", "i1").name
        return t.let(f"and i1 {aligned}, {past}", "i1").name

    def _one_square(
        self,
        stmt: Squares,
        known: Known,
        row: str,
        column: str,
        straight: str,
        staged: str,
        left: tuple[str, str] | None = None,
    ) -> None:
        """A square, stored past the caches where that is `straight`, or on the stage; `left` are the rows and columns from here to the rim, where
        it is not inside.
        """
        t, width, (rows, columns) = self.text, stmt.lanes, left or (None, None)
        mask = self.below(columns, width) if columns else None
        each: list[Group] = []
        for k in range(width):
            at = t.index("add", row, t.lesser(str(k), t.index("sub", rows, 1)) if rows and k else k)
            each.append(({**known, stmt.row: Lanes(at, INDEX_TYPE)}, Where(stmt.column, column, width, mask)))
        here: Known = {**known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        for into, source in stmt.turned:
            places = self.places(source, stmt.column, column, width, here, columns)
            lines = [self._line(address, source.leaf, width, rows) for address in places]
            for (inside, _), x in zip(each, self._square(lines, source.leaf.dtype.itemsize), strict=True):
                inside.update(self._numbers(into, x))
        values = [x for k in range(0, width, ABREAST) for x in self._computed(stmt, each[k : k + ABREAST])]
        dtype, size = stmt.stores[0].leaf.dtype, stmt.stores[0].leaf.dtype.itemsize
        lines, axis, first, many, some = (values, stmt.row, row, rows, columns)
        if stmt.across:
            lines, axis, first, many, some = (self._square(values, size), stmt.column, column, columns, rows)
        goal, stride = self.first_place(stmt.stores[0], axis, first, here)
        if stmt.past:
            at = t.index("sub", *((row, known[stmt.top].name) if stmt.across else (column, known[stmt.left].name)))
            stage = self._pointer(stmt.past.stage.name, dtype, at)
            goal = t.let(f"select i1 {staged}, ptr {stage}, ptr {goal}", "ptr").name
            stride = t.select(staged, str(stmt.past.length), stride)

        def stored(how: str) -> None:
            for x, address in zip(lines, self.steps(goal, stride, dtype, width, None), strict=True):
                t.put(f"store {x}, ptr {address}, align {how}")

        if not left and straight != "false":
            t.either(straight, lambda: stored(f"{LINE}, !nontemporal !0"), lambda: stored(str(size)))
            return
        for k, (x, address) in enumerate(zip(lines, self.steps(goal, stride, dtype, width, many), strict=True)):
            if not many or not some:
                t.put(f"store {x}, ptr {address}, align {size}")
                continue
            t.when(
                t.let(f"icmp sgt i64 {many}, {k}", "i1").name,
                partial(self._some_lanes, x, address, dtype, t.index("mul", some, x.count // width)),
            )

    def _numbers(self, into: Load, line: Lanes) -> Known:
        """What stands for the elements of a line; of complex numbers there are two."""
        own = twins(into) if into.leaf.pairs else (into,)
        lanes = [line] if len(own) == 1 else [self._shuffled(line, line, range(k, line.count, 2)) for k in (0, 1)]
        return {node: self.in_register(x, into.leaf.dtype) for node, x in zip(own, lanes, strict=True)}

    def _computed(self, stmt: Squares, groups: Sequence[Group]) -> list[Lanes]:
        """What is stored of some rows of a square, as it lies in memory."""
        parts = [
            [self.in_memory(self.widened(x, stmt.lanes), store.leaf.dtype) for x in self.abreast(store.value, groups)]
            for store in stmt.stores
        ]
        if len(parts) == 1:
            return parts[0]
        order = [k + n for k in range(stmt.lanes) for n in (0, stmt.lanes)]
        return [self._shuffled(even, odd, order) for even, odd in zip(*parts, strict=True)]

    def _some_lanes(self, x: Lanes, address: str, dtype: DType, some: str) -> None:
        """Store as many lanes as there are; under a mask that takes as long as several others."""
        function, masks = f"@llvm.masked.store.v{x.count}{memory_suffix(dtype)}.p0", f"<{x.count} x i1>"
        t, given = self.text, f"{x}, ptr {address}"
        t.declare(function, "void", x.type, "ptr", "i32 immarg", masks)
        t.either(
            t.let(f"icmp sge i64 {some}, {x.count}", "i1").name,
            lambda: t.put(f"store {given}, align {dtype.itemsize}"),
            lambda: t.put(f"call void {function}({given}, i32 {dtype.itemsize}, {masks} {self.below(some, x.count)})"),
        )

    def _line(self, address: str, leaf: Leaf, width: int, left: str | None) -> Lanes:
        """What is read of a line: all elements, or as many as are left."""
        dtype = leaf.dtype
        if leaf.pairs:
            width, left = 2 * width, left and self.text.index("mul", left, 2)
        kind = f"<{width} x {dtype.memory}>"
        if not left:
            return self.text.let(f"load {kind}, ptr {address}, align {dtype.itemsize}", dtype.memory, width)
        function = f"@llvm.masked.load.v{width}{memory_suffix(dtype)}.p0"
        self.text.declare(function, kind, "ptr", "i32 immarg", f"<{width} x i1>", kind)
        given = f"ptr {address}, i32 {dtype.itemsize}, <{width} x i1> {self.below(left, width)}, {kind} zeroinitializer"
        return self.text.let(f"call {kind} {function}({given})", dtype.memory, width)

    def _whole_side(self, stmt: Squares, known: Known, first: str) -> None:
        """Store the lines that were computed beside each other, past the caches."""
        t, past = self.text, stmt.past
        assert past is not None
        axis, end = (stmt.column, stmt.right) if stmt.across else (stmt.row, stmt.bottom)

        def line(k: str) -> None:
            inside = {**known, axis: Lanes(t.index("add", first, k), INDEX_TYPE)}
            self._whole_lines(past, inside, t.index("mul", k, past.length))

        t.loop("0", t.lesser(t.index("sub", known[end].name, first), str(stmt.lanes)), 1, line)

    def _next_lines(self, stmt: Squares, known: Known, row: str, column: str) -> None:
        """Fetch what the same square of the next tile reads."""
        here: Known = {**known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        axis, first = (stmt.row, row) if stmt.across else (stmt.column, column)
        for x in stmt.ahead:
            for address in self.places(x, axis, first, stmt.lanes, here):
                self.fetch_bytes(address, stmt.lanes * x.leaf.itemsize)
