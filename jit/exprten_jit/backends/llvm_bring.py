"""What does not run on as a target does, brought to scratch in the target's order."""

from __future__ import annotations

from functools import partial

from ..bring import FEWEST_BETWEEN, Bring, Offsets, Spread
from ..ir import FALSE, TRUE, Store
from ..machine import LINE
from ..nest import SECOND
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_units import WIDTHS, Units
from .llvm_where import Known, Where

AT_ONCE = 4  # elements


class Brought(Units):
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
            self._side_by_side(stmt, known, columns, unit, far)
            return
        if stmt.far is not FALSE:
            t.when(far, partial(self._fetch_later, stmt, known, columns))
        if not (unit and between):
            self._each_alone(stmt, known, columns)
            return
        many = stmt.usual or number(between) or 0
        if (each := number(unit)) is not None and many:
            usually = partial(self._units_written, stmt, dict(known), columns, each, many)
            self._if_usual(between, many, usually, lambda: self._each_alone(stmt, dict(known), columns))
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

        few = number(nbytes) is not None and int(nbytes) <= LINE // 2  # those that follow are fetched for others

        def lines(column: str) -> None:
            later = t.further(self._from_and_to(stmt, known, column)[0], dtype.memory, further)
            if few:
                self._fetch_line(later, SECOND, "0")
            else:
                self._fetch_lines_of(later, nbytes)

        def some(first: str) -> str:
            if stmt.between is not None:
                t.loop("0", unit, 1, lambda k: lines(t.index("add", first, k)))
            else:
                lines(first)
            return t.index("add", first, t.index("mul", unit, between))

        t.repeat("0", columns, some)

    def _each_alone(self, stmt: Bring, known: Known, columns: str) -> None:
        t = self.text
        some = t.index("and", columns, -AT_ONCE)
        t.loop("0", some, AT_ONCE, lambda j: self._elements(stmt, known, j, AT_ONCE))
        t.loop(some, columns, 1, lambda j: self._elements(stmt, known, j, 1))

    def _elements(self, stmt: Bring, known: Known, column: str, many: int) -> None:
        t, memory = self.text, stmt.into.dtype.memory
        for k in range(many):
            source, to = self._from_and_to(stmt, known, t.index("add", column, k))
            t.put(f"store {memory} {t.let(f'load {memory}, ptr {source}', memory).name}, ptr {to}")

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
