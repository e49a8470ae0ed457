"""What does not run on as a target does, brought to scratch in the target's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..bring import FEWEST_BETWEEN, Bring, Offsets, Spread
from ..ir import FALSE, TRUE, Store
from ..machine import LINE
from ..nest import SECOND
from .llvm_memory import Known, Where
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_tile import Tiles

AT_ONCE = 4  # elements
WIDTHS = (4, 8, 16)  # lanes: of rows of fewer elements fewer are stored at a time


class Brought(Tiles):
    """Emits tables of places, and what is brought."""

    def offsets(self, table: Offsets, known: Known) -> None:
        """A table, one place after the other."""
        t = self.text
        self.address[table.into.name] = address = t.reserve(f"[{table.many} x {INDEX_TYPE}]")
        counts = [self.value(extent, known, None).name for _, extent in table.axes]

        def fill(depth: int, first: str, inside: Known) -> None:
            if depth == len(counts):
                place = t.further(address, INDEX_TYPE, first)
                t.put(f"store i64 {self.value(table.value, dict(inside), None).name}, ptr {place}")
                return
            axis = table.axes[depth][0]

            def one(i: str) -> None:
                at = t.index("add", t.index("mul", first, counts[depth]), i)
                fill(depth + 1, at, {**inside, axis: Lanes(i, INDEX_TYPE)})

            t.loop("0", counts[depth], 1, one)

        fill(0, "0", known)

    def bring(self, stmt: Bring, known: Known) -> None:
        """A tile, or a row of one."""
        if stmt.when is TRUE:
            self._bring(stmt, known)
        else:
            self.text.when(self.value(stmt.when, known, None).name, lambda: self._bring(stmt, dict(known)))

    def _bring(self, stmt: Bring, known: Known) -> None:
        t, columns, far = self.text, self.value(stmt.columns, known, None).name, self.value(stmt.far, known, None).name
        unit, between = (x and self.value(x, known, None).name for x in (stmt.unit, stmt.between))
        if stmt.turned:
            self._in_squares(stmt, known, columns)
            return
        if unit and not between:
            few = partial(self._few_at_a_time, stmt, columns=columns, unit=unit)
            with_next, alone = (partial(few, dict(known), fetching=x) for x in (True, False))
            if stmt.far is FALSE:
                alone()
            else:
                t.either(far, with_next, alone)
            return
        if stmt.far is not FALSE:
            t.when(far, partial(self._fetch_later, stmt, known, columns))
        if not (unit and between):
            self._each_alone(stmt, known, columns)
            return
        fits = t.let(f"icmp ule i64 {t.index('sub', unit, FEWEST_BETWEEN)}, {stmt.lanes - FEWEST_BETWEEN}", "i1").name
        t.either(
            fits,
            lambda: self._units_between(stmt, known, columns, unit, between),
            lambda: self._each_alone(stmt, known, columns),
        )

    def _fetch_later(self, stmt: Bring, known: Known, columns: str) -> None:
        """The lines of what a later tile brings, into the second cache: in the first one all of a tile may have the same place."""
        t, dtype, known = self.text, stmt.load.leaf.dtype, dict(known)
        further = self.value(stmt.further, known, None).name
        unit = self.value(stmt.unit, known, None).name if stmt.unit is not None else "1"
        between = self.value(stmt.between, known, None).name if stmt.between is not None else "1"
        nbytes = t.index("mul", between if stmt.between is not None else unit, dtype.itemsize)

        def lines(column: str) -> None:
            self._fetch_lines_of(t.further(self._from_and_to(stmt, known, column)[0], dtype.memory, further), nbytes)

        def some(first: str) -> str:
            if stmt.between is not None:
                t.loop("0", unit, 1, lambda k: lines(t.index("add", first, k)))
            else:
                lines(first)
            return t.index("add", first, t.index("mul", unit, between))

        t.repeat("0", columns, some)

    def _fetch_lines_of(self, first: str, nbytes: str) -> None:
        """What the lines from an address on hold, wherever in one that lies."""
        self.text.loop("0", nbytes, LINE, partial(self._fetch_line, first, SECOND))
        self._fetch_line(first, SECOND, self.text.index("sub", nbytes, 1))

    def _each_alone(self, stmt: Bring, known: Known, columns: str) -> None:
        t = self.text
        some = t.index("and", columns, -AT_ONCE)
        t.loop("0", some, AT_ONCE, lambda j: self._elements(stmt, known, j, AT_ONCE))
        t.loop(some, columns, 1, lambda j: self._elements(stmt, known, j, 1))

    def _from_and_to(self, stmt: Bring, known: Known, column: str, row: str = "0") -> tuple[str, str]:
        """Where an element lies, and where it is stored."""
        inside: Known = {**known, stmt.column: Lanes(column, INDEX_TYPE)}
        inside.setdefault(stmt.row, Lanes(row, INDEX_TYPE))
        places = (self.value(x, inside, None).name for x in (stmt.load.offset, stmt.place))
        source, to = (
            self._pointer(x.name, x.dtype, at) for x, at in zip((stmt.load.leaf, stmt.into), places, strict=True)
        )
        return source, to

    def _elements(self, stmt: Bring, known: Known, column: str, many: int) -> None:
        t, memory = self.text, stmt.into.dtype.memory
        for k in range(many):
            source, to = self._from_and_to(stmt, known, t.index("add", column, k))
            t.put(f"store {memory} {t.let(f'load {memory}, ptr {source}', memory).name}, ptr {to}")

    def _few_at_a_time(self, stmt: Bring, known: Known, columns: str, unit: str, fetching: bool) -> None:
        """Rows of few elements, in vectors no wider than has to be: of what is too much the next row overwrites. Beside each the one of a later tile
        is fetched, where that is: of all at once many would have to wait.
        """
        t, dtype = self.text, stmt.into.dtype
        further = self.value(stmt.further, known, None).name if fetching else "0"

        def rows(width: int) -> None:
            kind = f"<{width} x {dtype.memory}>"

            def part(source: str, to: str, k: str) -> None:
                mask = Lanes(f"{self.below(t.index('sub', unit, k), width)}", "i1", width)
                x = self._masked_load(t.further(source, dtype.memory, k), dtype, mask)
                t.put(f"store {kind} {x.name}, ptr {t.further(to, dtype.memory, k)}, align {dtype.itemsize}")

            def row(column: str) -> str:
                source, to = self._from_and_to(stmt, known, column)
                if fetching:
                    nbytes = t.index("mul", unit, dtype.itemsize) if width == stmt.lanes else str(LINE)
                    later = t.further(source, dtype.memory, further)
                    t.loop("0", nbytes, LINE, partial(self._fetch_line, later, SECOND))
                if width < stmt.lanes:
                    part(source, to, "0")
                else:
                    t.loop("0", unit, width, partial(part, source, to))
                return t.index("add", column, unit)

            t.repeat("0", columns, row)

        self._of_width(unit, WIDTHS, stmt.lanes, rows)

    def _of_width(self, unit: str, widths: Sequence[int], most: int, rows: Callable[[int], None]) -> None:
        """What is done with vectors no wider than a unit."""
        t = self.text

        def upto(left: Sequence[int]) -> None:
            first, *more = left
            if more:
                few = t.let(f"icmp sle i64 {unit}, {first}", "i1").name
                t.either(few, partial(rows, first), partial(upto, more))
            else:
                rows(first)

        upto([w for w in widths if w < most] + [most])

    def _units_between(self, stmt: Bring, known: Known, columns: str, unit: str, between: str) -> None:
        """Units whose elements lie between each other's: turned, and stored one after the other, each over what was too much of the last."""
        t, dtype = self.text, stmt.into.dtype

        def units(width: int) -> None:
            def of(some: int) -> None:
                t.repeat("0", columns, partial(group, some))

            def group(some: int, first: str) -> str:
                last = t.index("sub", unit, 1)
                each = [t.index("add", first, t.lesser(str(k), last)) for k in range(width)]
                places = [self._from_and_to(stmt, known, k)[0] for k in each]
                to = self._from_and_to(stmt, known, first)[1]

                def square(n: str) -> None:
                    mask = Lanes(self.below(t.index("sub", between, n), some), "i1", some)
                    found = [self._masked_load(t.further(at, dtype.memory, n), dtype, mask) for at in places]
                    turned = self._square(found, dtype.itemsize) if some == width else self._turned(found, some)
                    for k, x in enumerate(turned):
                        at = t.further(to, dtype.memory, t.index("mul", t.index("add", n, k), unit))
                        t.put(f"store {x}, ptr {at}, align {dtype.itemsize}")

                t.loop("0", between, some, square)
                return t.index("add", first, t.index("mul", unit, between))

            self._of_width(between, WIDTHS, width, of)

        self._of_width(unit, WIDTHS, stmt.lanes, units)

    def spread(self, stmt: Spread, known: Known) -> None:
        """A value for each of its columns, in vectors no wider than has to be."""
        t = self.text
        columns, unit = (self.value(x, known, None).name for x in (stmt.columns, stmt.unit))

        def values(width: int) -> None:
            def one(first: str) -> str:
                here: Known = {**known, stmt.column: Lanes(first, INDEX_TYPE)}
                x, last = self.splat(self.value(stmt.value, here, None), width), t.index("add", first, unit)

                def put(k: str) -> str:
                    at = Where(stmt.column, k, width)
                    self.store(Store(stmt.into, stmt.column, stmt.value), x, dict(known), at)
                    return t.index("add", k, width)

                if width < stmt.lanes:
                    put(first)
                else:
                    t.repeat(first, last, put)
                return last

            t.repeat("0", columns, one)

        self._of_width(unit, WIDTHS, stmt.lanes, values)

    def _in_squares(self, stmt: Bring, known: Known, columns: str) -> None:
        """Squares, as many columns at a time as a vector has lanes; of few rows in parts of a register."""
        width, rows = stmt.lanes // stmt.each, self.value(stmt.rows, known, None).name

        def squares(some: int) -> None:
            self._of_rows(stmt, dict(known), columns, rows, some)

        if stmt.each > 1:
            squares(width)
        else:
            self._of_width(rows, WIDTHS, width, squares)

    def _of_rows(self, stmt: Bring, known: Known, columns: str, rows: str, some: int) -> None:
        """The same with so many rows at a time: all there are, where these are fewer than a vector has lanes."""
        t, each, dtype = self.text, stmt.each, stmt.into.dtype
        width = stmt.lanes // each
        nbytes = t.index("mul", rows, each * dtype.itemsize)
        far, further = (self.value(x, known, None).name for x in (stmt.far, stmt.further))

        def fetch(places: Sequence[str]) -> None:
            for place in places:
                self._fetch_lines_of(t.further(place, dtype.memory, further), nbytes)

        def beside(column: str) -> None:
            last = t.index("sub", columns, each)
            places = [
                self._from_and_to(stmt, known, t.lesser(t.index("add", column, k * each), last))[0]
                for k in range(width)
            ]

            if stmt.far is not FALSE:
                t.when(far, partial(fetch, places))

            def square(row: str) -> None:
                left, lanes = t.index("mul", t.index("sub", rows, row), each), some * each
                mask, along = Lanes(self.below(left, lanes), "i1", lanes), t.index("mul", row, each)
                found = [self._masked_load(t.further(at, dtype.memory, along), dtype, mask) for at in places]
                turned = self._square(found, dtype.itemsize, each) if some == width else self._turned(found, some)
                for k, x in enumerate(turned):
                    to = self._from_and_to(stmt, known, column, t.index("add", row, k))[1]
                    t.put(f"store {x}, ptr {to}, align {dtype.itemsize}")

            if some == width:
                t.loop("0", rows, width, square)
            else:
                square("0")

        whole = t.index("and", t.index("add", columns, stmt.lanes - 1), -stmt.lanes)

        def last_first(at: str) -> None:  # they overwrite what follows a row
            first = t.let(f"icmp eq i64 {at}, 0", "i1").name
            beside(t.index("sub", t.select(first, whole, at), stmt.lanes))

        t.loop("0", whole, stmt.lanes, last_first)
