"""Squares that are turned round as they are computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce

from ..dtypes import DType
from ..ir import FALSE, TRUE, Leaf, Load
from ..machine import LINE
from ..nest import Squares
from ..rewrite import affine, walk
from ..squares import JOINED_BYTES, PART_BYTES
from .llvm_lines import Lines, Tile
from .llvm_ops import memory_suffix
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_values import Group
from .llvm_where import Known, Where

FEW_ROWS = (4, 8)  # of a last square: of no more they are turned in parts of a register
ABREAST = 4  # rows of a square that are computed at once: of all sixteen no register would be left for what is dear


class InRegisters(Lines):
    """Emits what computes a tile in squares: all of their lanes inside of it, masked at its rim."""

    def squares(self, stmt: Squares, known: Known) -> None:
        """A tile: lines of the target side by side, as many as a square has, along all of it; then the next ones. Small elements are turned as
        whole lines where there are enough rows.
        """
        t, splats, self.splats = self.text, self.splats, {}
        tile = self._tile(stmt, known)
        beside = partial(self._side, stmt, tile)

        def lines(at: str) -> str:
            many = t.select(self._least((t.index("sub", tile.bottom, at), stmt.long)), most, str(stmt.lanes))
            whole = t.let(f"icmp eq i64 {many}, {stmt.long}", "i1").name
            t.either(whole, lambda: self._side_of_lines(stmt, tile, at), lambda: beside(at))
            return t.index("add", at, many)

        if stmt.abreast > 1:
            wide = self._least((t.index("sub", tile.right, tile.last[1]), stmt.long))
            most = t.select(wide, str(stmt.long), str(stmt.lanes))
            t.repeat(tile.top, tile.bottom, lines)
        else:
            sizes = () if stmt.across else tuple(n for n in FEW_ROWS if n < stmt.lanes)
            beside = partial(self._last_side, stmt, tile, sizes=sizes)
            first, end = (tile.left, tile.right) if stmt.across else (tile.top, tile.bottom)
            t.loop(self._near_squares(stmt, tile, first, end), end, stmt.lanes, beside)
        if stmt.past:
            t.when(tile.joined, lambda: self._all_rows(stmt, tile))
        self.splats = splats

    def _near_squares(self, stmt: Squares, tile: Tile, first: str, end: str) -> str:
        """Squares of a tile that are stored where they belong, with nothing fetched beside them: each of them has all of its lanes, and little is asked for it.
        How far they go along the loop over sides; the last ones have half as many rows where registers are two parts, or one; and a fourth, where there are no more.
        """
        t, (row, column) = self.text, tile.last
        near = replace(tile, known=dict(tile.known), staged="false", joined="false")
        least = stmt.lanes // 2 if self._in_parts(stmt) else stmt.lanes
        fewer = least >= 2 * FEW_ROWS[0] and not stmt.across and stmt.down is not TRUE
        fewest = least // 2 if fewer else least
        when = self._is_near(stmt, tile, least, fewest)

        def side(many: int, last: str, at: str) -> None:
            here = t.lesser(at, last) if many < stmt.lanes else at
            if stmt.across:
                one = partial(self._one_square, stmt, near, column=here, many=many)
                t.loop(tile.top, tile.bottom, stmt.lanes, lambda i: one(row=t.lesser(i, row)))
            else:
                one = partial(self._one_square, stmt, near, here, many=many)
                t.loop(tile.left, tile.right, stmt.long, lambda j: one(column=t.lesser(j, column)))

        if stmt.down is TRUE:
            return self._down(stmt, near, when, least)
        whole = t.index("add", first, t.index("and", t.index("sub", end, first), -stmt.lanes))
        whole = t.select(when, t.select(self.value(stmt.halved, near.known, None).name, first, whole), first)
        along = whole
        if stmt.down is not FALSE:
            down = self.value(stmt.down, near.known, None).name
            t.when(down, partial(self._down_to, stmt, near, whole))
            along = t.select(down, first, whole)
        t.loop(first, along, stmt.lanes, partial(side, stmt.lanes, ""))
        if least == stmt.lanes:
            return whole
        last = halves = t.select(when, end, first)
        if fewer:
            halves = t.select(t.let(f"icmp sge i64 {t.index('sub', end, first)}, {least}", "i1").name, last, whole)
            t.loop(halves, last, fewest, partial(side, fewest, t.index("sub", end, fewest)))
        t.loop(whole, halves, least, partial(side, least, t.index("sub", end, least)))
        return last

    def _down_to(self, stmt: Squares, tile: Tile, whole: str) -> None:
        """All squares of a tile up to a row, those along the source next to each other: a line of it is read as a whole, before others need its place."""
        t, column = self.text, tile.last[1]

        def beside(at: str) -> None:
            left = t.lesser(at, column)
            t.loop(tile.top, whole, stmt.lanes, lambda row: self._one_square(stmt, tile, row, left, many=stmt.lanes))

        t.loop(tile.left, tile.right, stmt.lanes, beside)

    def _down(self, stmt: Squares, tile: Tile, when: str, least: int) -> str:
        """The same in all tiles, with the last rows of each column of squares behind the others."""
        t, (_, column) = self.text, tile.last
        end = t.select(when, tile.bottom, tile.top)
        whole = t.index("add", tile.top, t.index("and", t.index("sub", end, tile.top), -stmt.lanes))

        def square(many: int, left: str, last: str, at: str) -> None:
            self._one_square(stmt, tile, t.lesser(at, last) if last else at, left, many=many)

        def squares(at: str) -> None:
            left = t.lesser(at, column)
            t.loop(tile.top, whole, stmt.lanes, partial(square, stmt.lanes, left, ""))
            t.loop(whole, end, least, partial(square, least, left, t.index("sub", end, least)))

        t.loop(tile.left, t.select(when, tile.right, tile.left), stmt.long, squares)
        return end

    def _is_near(self, stmt: Squares, tile: Tile, least: int, fewest: int) -> str:
        """Whether a tile is such a one, with as many rows, or as the `fewest` are, and columns; where what was stored would be read again, these are whole squares."""
        t, found = self.text, list[str]()
        rows, columns = (tile.top, tile.bottom), (tile.left, tile.right)
        beside = (rows, stmt.lanes, stmt.lanes) if stmt.across else (columns, stmt.long, stmt.long)
        for (first, end), many, few in (beside, (columns if stmt.across else rows, least, fewest)):
            extent = t.index("sub", end, first)
            rest = t.let(f"icmp eq i64 {t.index('and', extent, many - 1)}, 0", "i1").name
            found += [
                t.let(f"icmp sge i64 {extent}, {few}", "i1").name,
                t.let(f"select i1 {tile.again}, i1 {rest}, i1 true", "i1").name,
            ]
        staged = tile.staged
        if stmt.halved is not FALSE:
            other = t.let(f"xor i1 {self.value(stmt.halved, dict(tile.known), None).name}, true", "i1").name
            staged = t.let(f"and i1 {tile.staged}, {other}", "i1").name
        for x in (tile.far if stmt.ahead else "false", staged, tile.joined):
            found += [] if x == "false" else [t.let(f"xor i1 {x}, true", "i1").name]
        return reduce(lambda a, b: t.let(f"and i1 {a}, {b}", "i1").name, found)

    def _in_parts(self, stmt: Squares) -> bool:
        """Whether rows of a square are two parts of a register, or one part, of which there may be half as many."""
        sizes = {x.leaf.itemsize for _, x in stmt.turned} | {stmt.stores[0].leaf.itemsize}
        parts = (2 * PART_BYTES,) if stmt.across else (PART_BYTES, 2 * PART_BYTES)
        return stmt.lanes > 2 and len(sizes) == 1 and sizes.pop() * stmt.lanes in parts

    def _tile(self, stmt: Squares, known: Known) -> Tile:
        """What is known of a tile. The last square ends where the tile does; where the target is read, it has fewer lanes instead, for those
        would be computed twice.
        """
        t = self.text
        top, bottom, left, right = (
            self.value(x, known, None).name for x in (stmt.top, stmt.bottom, stmt.left, stmt.right)
        )
        far = self.value(stmt.when, known, None).name
        straight, staged = self._straight(stmt, known), "false"
        if stmt.past:
            when, end = known[stmt.past.when].name, known[stmt.past.end].name
            staged = t.let(f"and i1 {when}, {t.let(f'xor i1 {straight}, true', 'i1').name}", "i1").name
            near = self.value(stmt.halved, known, None).name
            own = straight if stmt.halved is FALSE else t.let(f"or i1 {straight}, {near}", "i1").name
            bottom, right = (
                t.select(own, end, x) if name is stmt.past.reach else x
                for name, x in ((stmt.bottom, bottom), (stmt.right, right))
            )
        joined = self._rows_as_one(stmt, known, (top, bottom), (left, right)) if stmt.past else "false"
        again = self._reads_target(stmt)
        last = self._last_squares(stmt, again, (top, bottom), (left, right))
        return Tile(known, top, bottom, left, right, last, again, far, straight, staged, joined)

    def _rows_as_one(self, stmt: Squares, known: Known, rows: tuple[str, str], columns: tuple[str, str]) -> str:
        """Whether all rows of a tile wait on the stage: where they are whole rows of the target that follow each other, and there is room."""
        t, past = self.text, stmt.past
        assert past is not None
        (start, end), (first, last) = (rows, columns) if stmt.across else (columns, rows)
        many, extent = t.index("sub", end, start), dict(self.nest.kernel.axes)[past.along]
        whole = t.let(f"icmp eq i64 {many}, {self.value(extent, known, None).name}", "i1").name
        count = t.index("mul", many, t.index("sub", last, first))
        room = JOINED_BYTES // past.stage.dtype.itemsize
        fits = t.let(f"icmp sle i64 {count}, {room}", "i1").name
        both = t.let(f"and i1 {whole}, {fits}", "i1").name
        return t.let(f"and i1 {self.value(past.joined, known, None).name}, {both}", "i1").name

    def _all_rows(self, stmt: Squares, tile: Tile) -> None:
        """Store all rows of a tile, which are one."""
        t, past = self.text, stmt.past
        assert past is not None
        here: Known = {**tile.known, stmt.row: Lanes(tile.top, INDEX_TYPE), stmt.column: Lanes(tile.left, INDEX_TYPE)}
        dtype = past.store.leaf.dtype
        target = self._pointer(past.store.leaf.name, dtype, self.value(past.store.offset, here, None).name)
        count = t.index("mul", t.index("sub", tile.bottom, tile.top), t.index("sub", tile.right, tile.left))
        self.put_joined(self._pointer(past.stage.name, dtype, "0"), target, dtype, count)

    def _side(self, stmt: Squares, tile: Tile, at: str) -> None:
        """Squares beside each other along the target, or as they come along the source where they are stored across."""
        t, (row, column) = self.text, tile.last
        if stmt.across:
            first = t.lesser(at, column)
            t.loop(tile.top, tile.bottom, stmt.lanes, lambda i: self._from(stmt, tile, t.lesser(i, row), first))
        else:
            first = t.lesser(at, row)
            t.loop(tile.left, tile.right, stmt.long, lambda j: self._from(stmt, tile, first, t.lesser(j, column)))
        if stmt.past:
            t.when(tile.staged, lambda: self._whole_side(stmt, tile.known, first, stmt.lanes))

    def _last_side(self, stmt: Squares, tile: Tile, at: str, sizes: Sequence[int]) -> None:
        """The same of the last rows along the source, which may be few: as many as have to be, some of them again."""
        if not sizes:
            self._side(stmt, tile, at)
            return
        t, (many, *more) = self.text, sizes
        first, last = t.index("sub", tile.bottom, many), tile.last[1]
        before = t.let(f"icmp sgt i64 {at}, {tile.top}", "i1").name  # else there are no more rows
        fits = self._least((t.index("sub", at, first), 0), (t.index("sub", tile.right, tile.left), stmt.long))
        again = t.let(f"icmp ne i64 {tile.last[0]}, {tile.bottom}", "i1").name
        few = reduce(lambda a, b: t.let(f"and i1 {a}, {b}", "i1").name, (before, fits, again))

        def side() -> None:
            here = replace(tile, known=dict(tile.known))
            t.loop(
                tile.left, tile.right, stmt.long, lambda j: self._few_rows(stmt, here, first, t.lesser(j, last), many)
            )
            if stmt.past:
                t.when(tile.staged, lambda: self._whole_side(stmt, here.known, first, many))

        t.either(few, side, lambda: self._last_side(stmt, replace(tile, known=dict(tile.known)), at, more))

    def _few_rows(self, stmt: Squares, tile: Tile, row: str, column: str, many: int) -> None:
        if stmt.ahead:
            self.text.when(tile.far, lambda: self._next_lines(stmt, tile.known, row, column, stmt.lanes))
        self._one_square(stmt, tile, row, column, many=many)

    def _side_of_lines(self, stmt: Squares, tile: Tile, row: str) -> None:
        """Squares of whole lines beside each other."""
        t = self.text

        def lines(at: str) -> None:
            column = t.lesser(at, tile.last[1])
            if stmt.ahead:
                t.when(tile.far, lambda: self._next_lines(stmt, tile.known, row, column, stmt.long))
            self.whole_lines(stmt, tile, row, column)

        t.loop(tile.left, tile.right, stmt.long, lines)
        if stmt.past:
            t.when(tile.staged, lambda: self._whole_side(stmt, tile.known, row, stmt.long))

    def _from(self, stmt: Squares, tile: Tile, row: str, column: str) -> None:
        """A square, or as many as are computed at a time, from a row and a column on; at the rim one by one, the last one of which ends where the tile
        does, or masked, as far as they go.
        """
        t = self.text
        if stmt.ahead:
            t.when(tile.far, lambda: self._next_lines(stmt, tile.known, row, column, stmt.lanes))
        rows, columns = t.index("sub", tile.bottom, row), t.index("sub", tile.right, column)

        def alone(at: str) -> None:
            self._one_square(stmt, tile, row, at, (rows, t.index("sub", tile.right, at)))

        def at_rim() -> None:
            if stmt.abreast == 1:
                alone(column)
                return
            end, last = t.lesser(tile.right, t.index("add", column, stmt.long)), t.index("sub", tile.right, stmt.lanes)
            whole = self._least((rows, stmt.lanes), (columns, stmt.lanes))
            whole = t.let(f"select i1 {tile.again}, i1 false, i1 {whole}", "i1").name
            one = partial(self._one_square, replace(stmt, abreast=1), replace(tile, known=dict(tile.known)), row)
            t.either(
                whole,
                lambda: t.loop(column, end, stmt.lanes, lambda at: one(t.lesser(at, last))),
                lambda: t.loop(column, end, stmt.lanes, alone),
            )

        inside = self._least((rows, stmt.lanes), (columns, stmt.long))
        t.either(inside, lambda: self._one_square(stmt, tile, row, column), at_rim)

    def _least(self, *given: tuple[str, int]) -> str:
        """Whether all are as much as that."""
        t, found = self.text, "true"
        for x, least in given:
            found = t.let(f"and i1 {found}, {t.let(f'icmp sge i64 {x}, {least}', 'i1').name}", "i1").name
        return found

    def _last_squares(self, stmt: Squares, again: str, *spans: tuple[str, str]) -> tuple[str, str]:
        """Where the last squares begin: such that they end where the tile does, if there is one. Where the target is read `again`, at their place."""
        t, found = self.text, list[str]()
        for (start, end), many in zip(spans, (stmt.lanes, stmt.long), strict=True):
            before = t.greater(start, t.index("sub", end, many))
            found.append(t.select(again, end, before))
        row, column = found
        return row, column

    def _reads_target(self, stmt: Squares) -> str:
        """Whether the target is read, under whatever name: what was stored would be read again where squares overlap."""
        read = walk(*(store.value for store in stmt.stores))
        loads = [*(x for _, x in stmt.turned), *(x for x in read if isinstance(x, Load))]
        return self.read_again(stmt.stores[0].leaf, loads)

    def read_again(self, target: Leaf, loads: Iterable[Load]) -> str:
        """Whether something is read where the target lies."""
        t, again = self.text, "false"
        for leaf in dict.fromkeys(x.leaf for x in loads if x.leaf.name in self.given):
            here = t.let(f"icmp eq ptr {self.address[leaf.name]}, {self.address[target.name]}", "i1").name
            again = t.let(f"or i1 {again}, {here}", "i1").name
        return again

    def _straight(self, stmt: Squares, known: Known) -> str:
        """Whether the lines of all squares of a tile are lines of the target, which are stored past the caches as they come."""
        t, size = self.text, stmt.stores[0].leaf.dtype.itemsize
        if not stmt.past or stmt.long * size % LINE:
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
        tile: Tile,
        row: str,
        column: str,
        left: tuple[str, str] | None = None,
        many: int = 0,
    ) -> None:
        """What is computed at a time; or one square at the rim, with as many rows and columns as are `left`, or with so many along the source."""
        t, known, few = self.text, dict(tile.known), many or stmt.lanes
        rows, columns = left or (None, None)
        height, width = (stmt.lanes, few) if stmt.across and many else (few, stmt.lanes if left else stmt.long)
        mask = self.below(columns, width) if columns else None
        each: list[Group] = []
        for k in range(height):
            at = t.index("add", row, t.lesser(str(k), t.index("sub", rows, 1)) if rows and k else k)
            each.append(({**known, stmt.row: Lanes(at, INDEX_TYPE)}, Where(stmt.column, column, width, mask)))
        each = each if left else self.woven(stmt, each)
        here: Known = {**known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        for into, source in stmt.turned:
            places = self.places(source, stmt.column, column, width, here, columns)
            self.know(into, each, self._turned_lines(stmt, source.leaf, places, height, rows))
        at_once = ABREAST * len(each) // height
        values = [x for k in range(0, len(each), at_once) for x in self.computed(stmt, each[k : k + at_once], width)]
        dtype, size = stmt.stores[0].leaf.dtype, stmt.stores[0].leaf.dtype.itemsize
        lines, some, along = values, rows, columns
        if stmt.across:
            unit = len(stmt.stores)
            lines = self._square(values, size, unit) if height == width else self._turned(values, width, unit)
            some, along = columns, rows
        if affine(stmt.stores[0].offset, stmt.column if stmt.across else stmt.row):
            goal, stride = self.goal(stmt, tile, here, row, column)
            addresses = self.steps(goal, stride, dtype, len(lines), some)
        else:
            addresses = self.places(stmt.stores[0], stmt.row, row, len(lines), here, some)
        if not some or not along:
            self.put_lines(lines, addresses, dtype, tile)
            return
        for k, (x, address) in enumerate(zip(lines, addresses, strict=True)):
            t.when(
                t.let(f"icmp sgt i64 {some}, {k}", "i1").name,
                partial(self._some_lanes, x, address, dtype, t.index("mul", along, x.count // width)),
            )

    def _turned_lines(
        self, stmt: Squares, leaf: Leaf, places: Sequence[str], height: int, rows: str | None
    ) -> list[Lanes]:
        """The columns of a square whose lines begin at some places, of so many elements, or of as many as there are rows. Where these are two parts of a
        register they are read by parts, of which two are brought together as they are loaded.
        """
        unit, half = 1 + leaf.pairs, height // 2
        if not rows and half > 1 and height == stmt.lanes and height * leaf.itemsize == 2 * PART_BYTES:
            found = list[Lanes]()
            for first in (0, half):
                at = [self.text.further(x, leaf.dtype.memory, str(first * unit)) if first else x for x in places]
                found += self._turned([self._line(x, leaf, half, None) for x in at], half, unit)
            return found
        lines = [self._line(address, leaf, height, rows) for address in places]
        if height < stmt.lanes:
            return self._turned(lines, height, unit)
        lines = [self._joined(lines[k::height]) for k in range(height)]
        return self._square(lines, leaf.dtype.itemsize, unit)

    def _some_lanes(self, x: Lanes, address: str, dtype: DType, some: str) -> None:
        """Store as many lanes as there are; under a mask that takes as long as several others."""
        function, masks = f"@llvm.masked.store.v{x.count}{memory_suffix(dtype)}.p0", f"<{x.count} x i1>"
        t, given = self.text, f"{x}, ptr {address}"
        if number(some) == 1:
            t.put(f"store {self._extract(x, 0)}, ptr {address}, align {dtype.itemsize}")
            return
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

    def _whole_side(self, stmt: Squares, known: Known, first: str, many: int) -> None:
        """Store the lines that were computed beside each other, past the caches."""
        t, past = self.text, stmt.past
        assert past is not None
        axis, end = (stmt.column, stmt.right) if stmt.across else (stmt.row, stmt.bottom)

        def line(k: str) -> None:
            inside = {**known, axis: Lanes(t.index("add", first, k), INDEX_TYPE)}
            self._whole_lines(past, inside, t.index("mul", k, past.length))

        t.loop("0", t.lesser(t.index("sub", known[end].name, first), str(many)), 1, line)

    def _next_lines(self, stmt: Squares, known: Known, row: str, column: str, many: int) -> None:
        """Fetch what the same square, of so many rows and columns, of the next tile reads."""
        here: Known = {**known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        axis, first = (stmt.row, row) if stmt.across else (stmt.column, column)
        for x in stmt.ahead:
            for address in self.places(x, axis, first, many, here):
                self.fetch_bytes(address, many * x.leaf.itemsize)
