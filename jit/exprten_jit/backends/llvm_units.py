"""What is brought in units of few elements, and in squares: turned in registers where it runs on along another axis than it is stored along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import gcd, log2

from ..bring import WORD, Bring
from ..dtypes import DType
from ..ir import FALSE, Load, index
from ..machine import LINE
from ..nest import SECOND
from ..rewrite import substitute, walk
from ..squares import PART_BYTES
from .llvm_masked import MOST, of_first
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_where import Known
from .llvm_words import Words

WIDTHS = (4, 8, 16)  # lanes: of rows of fewer elements fewer are stored at a time
TOGETHER = 4  # units

# stores a vector that begins at a column of a row, with so many elements of it
Put = Callable[[Lanes, str, str, int], None]


class Units(Words):
    """Emits what is brought a unit, or a square, at a time."""

    def _from_and_to(self, stmt: Bring, known: Known, column: str, row: str = "0") -> tuple[str, str]:
        """Where an element lies, and where it is stored."""
        inside: Known = {**known, stmt.column: Lanes(column, INDEX_TYPE)}
        inside.setdefault(stmt.row, Lanes(row, INDEX_TYPE))
        places = (self.value(x, inside, None).name for x in (stmt.load.offset, stmt.place))
        source, to = (
            self._pointer(x.name, x.dtype, at) for x, at in zip((stmt.load.leaf, stmt.into), places, strict=True)
        )
        return source, to

    def _columns_lie(self, stmt: Bring, known: Known) -> Callable[[str], str]:
        """Where a column lies: as far as a table says from where all begin, which is found once."""
        t, leaf, offset = self.text, stmt.load.leaf, stmt.load.offset
        table = next((x for x in walk(offset) if isinstance(x, Load)), None)
        inside: Known = dict(known)
        inside.setdefault(stmt.row, Lanes("0", INDEX_TYPE))
        if table is None:
            return lambda column: self._from_and_to(stmt, known, column)[0]
        begin = self.value(substitute(offset, {table: index(0)}), inside, None).name
        first = self._pointer(leaf.name, leaf.dtype, begin)

        def place(column: str) -> str:
            here: Known = {**inside, stmt.column: Lanes(column, INDEX_TYPE)}
            return t.further(first, leaf.dtype.memory, self.value(table, here, None).name)

        return place

    def _fetch_lines_of(self, first: str, nbytes: str) -> None:
        """What the lines from an address on hold, wherever in one that lies."""
        self.text.loop("0", nbytes, LINE, partial(self._fetch_line, first, SECOND))
        self._fetch_line(first, SECOND, self.text.index("sub", nbytes, 1))

    def _if_usual(self, many: str, usual: int, usually: Callable[[], None], else_: Callable[[], None]) -> None:
        """What is made for a number, where that is what there is."""
        if not usual:
            else_()
            return
        known = number(many)
        if known is not None:
            (usually if known == usual else else_)()
            return
        self.text.either(self.text.let(f"icmp eq i64 {many}, {usual}", "i1").name, usually, else_)

    def _of_width(self, unit: str, widths: Sequence[int], most: int, rows: Callable[[int], None]) -> None:
        """What is done with vectors no wider than a unit."""
        t, known = self.text, number(unit)
        if known is not None:
            rows(next((w for w in widths if known <= w < most), most))
            return

        def upto(left: Sequence[int]) -> None:
            first, *more = left
            if more:
                few = t.let(f"icmp sle i64 {unit}, {first}", "i1").name
                t.either(few, partial(rows, first), partial(upto, more))
            else:
                rows(first)

        upto([w for w in widths if w < most] + [most])

    # units that lie side by side

    def _side_by_side(self, stmt: Bring, known: Known, columns: str, unit: str, far: str) -> None:
        """Rows of few elements, beside which those of a later tile are fetched where that is far."""
        few = partial(self._few_at_a_time, stmt, columns=columns, unit=unit)
        with_next, alone = (partial(few, dict(known), fetching=x) for x in (True, False))
        if (many := number(unit)) is not None:
            with_next, alone = (
                partial(self._rows_written, stmt, dict(known), columns, many, fetching=x) for x in (True, False)
            )
        if stmt.far is FALSE:
            alone()
        else:
            self.text.either(far, with_next, alone)

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

    def _rows_written(self, stmt: Bring, known: Known, columns: str, unit: int, fetching: bool) -> None:
        """The same of a known number of elements, several rows at a time."""
        further = self.value(stmt.further, known, None).name if fetching else "0"
        t, dtype, place = self.text, stmt.into.dtype, self._columns_lie(stmt, known)
        width = next((w for w in (2, *WIDTHS) if unit <= w < stmt.lanes), stmt.lanes)

        def row(column: str) -> None:
            source, to = place(column), self._from_and_to(stmt, known, column)[1]
            source = t.further(source, dtype.memory, str(1 - unit)) if stmt.back else source
            later = self.text.further(source, dtype.memory, further)
            for k in range(0, unit * dtype.itemsize if fetching else 0, LINE):
                self._fetch_line(later, SECOND, str(k))
            for k in _starts(unit, width):
                some = min(width, unit - k)
                first = unit - k - some if stmt.back else k
                x = self._few_of(t.further(source, dtype.memory, str(first)), dtype, width, unit - k)
                x = self._shuffled(x, x, [*reversed(range(some)), *range(some, width)]) if stmt.back else x
                t.put(f"store {x}, ptr {t.further(to, dtype.memory, str(k))}, align {dtype.itemsize}")

        def together(first: str) -> str:
            for k in range(TOGETHER):
                row(t.index("add", first, k * unit))
            return t.index("add", first, TOGETHER * unit)

        def alone(first: str) -> str:
            row(first)
            return t.index("add", first, unit)

        each = TOGETHER * unit
        whole = t.index("mul", t.index("udiv", columns, each), each)
        t.repeat("0", whole, together)
        t.repeat(whole, columns, alone)

    def _few_of(self, place: str, dtype: DType, width: int, left: int) -> Lanes:
        """A vector of as many elements as are left."""
        return self._masked_load(place, dtype, Lanes(of_first(left, width), "i1", width))

    def _rows_put_together(self, stmt: Bring, known: Known, columns: str, rows: str, unit: int, put: Put) -> None:
        """As many units as fill vectors, one row after the other, as rows of the target may share sets of the first cache; the last ones alone. They are `put`."""
        t, dtype, offset = self.text, stmt.into.dtype, stmt.load.offset
        table = next(x for x in walk(offset) if isinstance(x, Load))
        begin, width = substitute(offset, {table: index(0)}), self._together(dtype, unit)
        many = width // gcd(unit, width)
        each = many * unit
        whole = t.index("mul", t.index("udiv", columns, each), each)
        again = many > 1 and dtype.itemsize <= MOST  # alone each takes long: the last ones with some that were stored
        enough = t.let(f"icmp sge i64 {columns}, {each}", "i1").name if again else "false"
        more = t.let(f"icmp sgt i64 {columns}, {whole}", "i1").name if again else "false"
        more = t.let(f"and i1 {more}, {enough}", "i1").name if again else more

        def group(units: int, beyond: bool, i: str, first: str) -> None:
            here: Known = {stmt.row: Lanes(i, INDEX_TYPE), **known}
            start = self._pointer(stmt.load.leaf.name, dtype, self.value(begin, here, None).name)
            at = [t.index("add", first, k * unit) for k in range(units)]
            known_at: list[Known] = [{**known, stmt.column: Lanes(x, INDEX_TYPE)} for x in at]
            lie = [t.further(start, dtype.memory, self.value(table, x, None).name) for x in known_at]
            if units == 1:
                found = [(self._part_of(lie[0], dtype, width, unit, k), k) for k in _starts(unit, width)]
            else:
                together = self.words_beyond if beyond else self._put_together
                found = [(x, n * width) for n, x in enumerate(together(lie, dtype, width, unit))]
            for x, k in found:
                put(x, t.index("add", first, k), i, unit - k if units == 1 else width)

        def row(beyond: bool, i: str) -> None:
            some = partial(group, many, beyond, i)
            t.loop("0", whole, each, some)
            if again:
                t.when(more, lambda: some(t.index("sub", columns, each)))
            if many > 1:
                t.loop(t.select(enough, columns, whole) if again else whole, columns, unit, partial(group, 1, False, i))

        follow = self.rows_that_follow(stmt, begin, known, rows, unit) if many > 1 else "0"
        if follow != "0":
            t.loop("0", follow, 1, partial(row, True))
        t.loop(follow, rows, 1, partial(row, False))

    def _together(self, dtype: DType, unit: int) -> int:
        """Elements of vectors that units are put together to, two of them at most to one: of words they are two."""
        least = max(2, PART_BYTES // dtype.itemsize)
        twice = 2 * least
        words = dtype.itemsize <= MOST and unit * dtype.itemsize <= WORD
        if words or self.machine.vector_bits // 8 < 2 * PART_BYTES:
            return least
        begins = range(0, twice * unit // gcd(twice, unit), twice)
        return twice if all(2 * unit - at % unit >= twice for at in begins) else least

    def _part_of(self, place: str, dtype: DType, width: int, unit: int, k: int) -> Lanes:
        """A vector of a unit from element k on."""
        return self._few_of(self.text.further(place, dtype.memory, str(k)), dtype, width, unit - k)

    def _put_together(self, places: Sequence[str], dtype: DType, width: int, unit: int) -> list[Lanes]:
        """Units that lie at some places, behind each other in whole vectors: each of one unit, or the end of one and the beginning of the next, or of several."""
        if dtype.itemsize <= MOST and unit * dtype.itemsize <= WORD:
            return self.words_together(places, dtype, width, unit)
        loaded, least = dict[tuple[int, int], Lanes](), min(width, unit)

        def part(n: int, k: int) -> Lanes:
            if (n, k) not in loaded:
                loaded[n, k] = self._part_of(places[n], dtype, width, unit, k)
            return loaded[n, k]

        def vector(at: int) -> Callable[[], Lanes]:
            n, k = divmod(at, unit)
            if k + width <= unit:
                one = part(n, k)
                return lambda: one
            rest = unit - k  # of the first one
            order = [*range(least - rest, least), *range(width, 2 * width - rest)]
            two = part(n, unit - least), part(n + 1, 0)
            return lambda: self._shuffled(*two, order)

        made = [vector(at) for at in range(0, len(places) * unit, width)]
        return [make() for make in made]

    # units that lie between each other

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

    def _units_written(
        self, stmt: Bring, known: Known, columns: str, unit: int, between: int, put: Put | None = None
    ) -> None:
        """The same of known numbers: the last squares of a unit end where it does. They are stored to scratch, or `put`, where no more than there is is. What lies from
        the last to the first is turned as it lies upwards, and stored the other way round.
        """
        t, dtype, place = self.text, stmt.into.dtype, self._columns_lie(stmt, known)
        widths = [w for w in WIDTHS if w < stmt.lanes] + [stmt.lanes]
        least = next((w for w in widths if unit <= w), stmt.lanes) if put is None else widths[0]
        some, width = min(
            ((n, w) for w in widths if w <= max(unit, least) for n in widths if n <= w),
            key=lambda x: len(_starts(between, x[0])) * len(_starts(unit, x[1])) * _instructions(*x),
        )
        put = put or self._to_scratch(stmt, known)

        def group(first: str) -> str:
            for k in _starts(unit, width):
                each = [place(t.index("add", first, k + n)) for n in range(min(width, unit - k))]
                each = [t.further(x, dtype.memory, str(1 - between)) for x in each] if stmt.back else each
                for n in reversed(_starts(between, some)) if stmt.back else _starts(between, some):
                    found = [self._few_of(t.further(x, dtype.memory, str(n)), dtype, some, between - n) for x in each]
                    found += found[-1:] * (width - len(found))
                    turned = self._square(found, dtype.itemsize) if some == width else self._turned(found, some)
                    rows = list(enumerate(turned[: between - n], n))
                    for m, x in reversed(rows) if stmt.back else rows:
                        row = between - 1 - m if stmt.back else m
                        put(x, t.index("add", first, row * unit + k), "0", unit - k)
            return t.index("add", first, unit * between)

        t.repeat("0", columns, group)

    def _to_scratch(self, stmt: Bring, known: Known) -> Put:
        """Stores vectors to scratch, over what is there."""

        def put(x: Lanes, column: str, row: str, _: int) -> None:
            to = self._from_and_to(stmt, known, column, row)[1]
            self.text.put(f"store {x}, ptr {to}, align {stmt.into.dtype.itemsize}")

        return put

    # squares

    def _in_squares(self, stmt: Bring, known: Known, columns: str) -> None:
        """Squares, as many columns at a time as a vector has lanes; of few rows in parts of a register."""
        rows = self.value(stmt.rows, known, None).name

        def of(rows: str) -> None:
            self._squares_of(stmt, dict(known), columns, rows)

        self._if_usual(rows, stmt.usual, lambda: of(str(stmt.usual)), lambda: of(rows))

    def _squares_of(self, stmt: Bring, known: Known, columns: str, rows: str, put: Put | None = None) -> None:
        """Those of so many rows: to scratch, or `put`, where there are the columns of one at least."""
        width, many = stmt.lanes // stmt.each, number(rows)
        part = PART_BYTES // stmt.into.dtype.itemsize
        if stmt.each > 1:
            self._of_rows(stmt, known, columns, rows, width, put)
        elif many is not None and 2 <= part <= many and 2 * part == width:  # two parts of a register
            self._of_rows(stmt, known, columns, rows, part, put)
        else:
            self._of_width(rows, WIDTHS, width, lambda some: self._of_rows(stmt, dict(known), columns, rows, some, put))

    def _of_rows(self, stmt: Bring, known: Known, columns: str, rows: str, some: int, put: Put | None) -> None:
        """The same with so many rows at a time: all there are, where these are fewer than a vector has lanes. The last columns come first: in scratch they overwrite
        what follows a row.
        """
        t, each, dtype, place = self.text, stmt.each, stmt.into.dtype, self._columns_lie(stmt, known)
        width, to = stmt.lanes // each, put or self._to_scratch(stmt, known)
        far = "false" if put else self.value(stmt.far, known, None).name

        def fetch(places: Sequence[str]) -> None:
            further = self.value(stmt.further, known, None).name
            nbytes = t.index("mul", rows, each * dtype.itemsize)
            for x in places:
                self._fetch_lines_of(t.further(x, dtype.memory, further), nbytes)

        def beside(column: str, last: str | None = None) -> None:
            every = [t.index("add", column, k * each) for k in range(width)]
            places = [place(k if last is None else t.lesser(k, last)) for k in every]
            t.when(far, partial(fetch, places))
            if (many := number(rows)) is not None:
                for row in _starts(many, some):
                    square(column, places, str(row), many - row)
            elif some == width:
                t.loop("0", rows, width, lambda row: square(column, places, row))
            else:
                square(column, places, "0")

        def square(column: str, places: Sequence[str], row: str, left: int | None = None) -> None:
            lanes, along = some * each, t.index("mul", row, each)
            at = [t.further(x, dtype.memory, along) for x in places]

            def put(found: list[Lanes]) -> None:
                turned = self._square(found, dtype.itemsize, each) if some == width else self._turned(found, some)
                for k, x in enumerate(turned if left is None else turned[:left]):
                    to(x, column, t.index("add", row, k), stmt.lanes)

            def masked() -> None:
                mask = Lanes(self.below(beyond, lanes), "i1", lanes)
                put([self._masked_load(x, dtype, mask) for x in at])

            if left is not None:
                put([self._few_of(x, dtype, lanes, left * each) for x in at])
                return
            beyond = t.index("mul", t.index("sub", rows, row), each)
            if dtype.itemsize > MOST:
                masked()
                return
            every = t.let(f"icmp sge i64 {beyond}, {lanes}", "i1").name  # a mask of such takes long
            t.either(every, lambda: put([self._few_of(x, dtype, lanes, lanes) for x in at]), masked)

        whole = t.index("and", columns, -stmt.lanes)
        part = t.let(f"icmp slt i64 {whole}, {columns}", "i1").name
        if put:
            t.when(part, lambda: beside(t.index("sub", columns, stmt.lanes)))
        else:
            t.when(part, lambda: beside(whole, t.index("sub", columns, each)))
        t.loop("0", whole, stmt.lanes, beside)


def _starts(many: int, each: int) -> list[int]:
    """Where parts of so many begin: the last one ends with all, where there are enough."""
    return [0] if many <= each else [*range(0, many - each, each), many - each]


def _instructions(some: int, width: int) -> float:
    """That it takes to turn `width` vectors of `some` elements."""
    return width + some + (width - some) + some * log2(some)
