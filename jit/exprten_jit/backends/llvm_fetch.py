"""What is read later is fetched now, a line at a time, into the second cache, which it leaves for the first one in good time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from ..early import ON_FURTHER
from ..ir import Axis, Const, Load
from ..machine import LINE
from ..nest import FIRST, SECOND, Fetch, Reduce, Vector
from ..pairs import lines_of
from ..rewrite import affine, steps
from ..strung import places_of
from ..vectors import computed
from .llvm_short_records import ShortRecords
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where


class Fetching(ShortRecords):
    """Emits what fetches."""

    def fetch_bytes(self, address: str, nbytes: int, further: int = 0, locality: int = SECOND) -> None:
        """The lines of so many bytes, so many bytes further than an address."""
        for first in range(further, further + nbytes, LINE):
            self.text.prefetch(address, first, locality)

    def fetch(self, stmt: Fetch, known: Known) -> None:
        """What is far, line by line."""
        self.text.when(self.value(stmt.when, known, None).name, lambda: self._fetch_lines(stmt, dict(known)))

    def _fetch_lines(self, stmt: Fetch, known: Known) -> None:
        for x in stmt.loads:
            size = x.leaf.itemsize
            if isinstance(stmt.count, Const):
                self.fetch_from([x], known, int(stmt.count.value) * size, locality=stmt.locality)
                continue
            t, count = self.text, self.value(stmt.count, known, None).name
            first = self._pointer(x.leaf.name, x.leaf.dtype, self.value(x.offset, known, None).name)
            before = t.index("and", t.let(f"ptrtoint ptr {first} to i64", INDEX_TYPE).name, LINE - 1)  # in its line
            end, back = t.index("add", t.index("mul", count, size), before), t.index("sub", "0", before)
            lines = t.index("and", t.index("add", end, LINE - 1), -LINE)
            t.loop("0", lines, LINE, partial(self._fetch_line, t.further(first, "i8", back), stmt.locality))

    def _fetch_line(self, first: str, locality: int, n: str) -> None:
        self.fetch_bytes(self.text.let(f"getelementptr i8, ptr {first}, i64 {n}", "ptr").name, LINE, locality=locality)

    def fetch_strung(self, stmt: Vector, known: Known, begin: str) -> None:
        """What lies as far ahead as is fetched of a block."""
        where = Where(stmt.axis, begin, stmt.lanes, block=(begin, 0))
        for node in stmt.ahead:
            lie = places_of(node, stmt.axis)
            assert lie is not None, "elements that are strung together"
            places = lie.of(0, stmt.lanes * stmt.unroll)
            start, size = self.first_of_block(node, begin, lie.many, known, where), node.leaf.dtype.itemsize
            for low in range(min(places) * size, (max(places) + 1) * size, LINE):
                self._fetch_line(start, SECOND, str(low))

    def fetch_from(
        self, loads: Iterable[Load], known: Known, nbytes: int, further: int = 0, locality: int = SECOND
    ) -> None:
        """The lines of so many bytes, so many bytes further than where `loads` read."""
        for x in loads:
            offset = self.value(x.offset, known, None).name
            self.fetch_bytes(self._pointer(x.leaf.name, x.leaf.dtype, offset), nbytes, further, locality)

    def fetch_row(self, stmt: Reduce, known: Known, low: str, step: int, high: str) -> None:
        """What a fold reads some rows later, in steps of so many indices."""

        def some(at: str) -> None:
            self.fetch_along(stmt.ahead, stmt.axis, dict(known), at, step)

        if stmt.far is not None:
            self.text.when(known[stmt.far].name, lambda: self.text.loop(low, high, step, some))

    def fetch_on(self, stmt: Reduce, known: Known, k: str, count: int) -> None:
        """What lies behind what a fold reads of `count` indices from `k` on, if it is to be fetched."""
        if stmt.on is not None:
            self.text.when(known[stmt.on].name, lambda: self.fetch_behind(stmt, known, k, count))

    def fetch_behind(self, stmt: Reduce, known: Known, k: str, count: int) -> None:
        """What lies behind that."""
        bodies = [body for node in stmt.folds for body in node.bodies]
        loads = lines_of(x for x in computed(bodies, stmt.axis) if isinstance(x, Load))
        loads = [x for x in loads if x.when is None and steps(x, stmt.axis) == 1]
        for x in loads:
            here = {**known, stmt.axis: Lanes(k, INDEX_TYPE)}
            self.fetch_from([x], here, count * x.leaf.itemsize, ON_FURTHER * len(loads), FIRST)

    def fetch_along(
        self, loads: Sequence[Load], axis: Axis, known: Known, i: str, count: int, locality: int = SECOND
    ) -> None:
        """The lines of `count` indices of an axis, from `i` on; and those in between."""
        for x in loads:
            nbytes = x.leaf.itemsize * abs(steps(x, axis) or 1)
            for first in range(0, count, max(1, LINE // nbytes)):
                where = Where(axis, self.text.index("add", i, first), 1)
                form = affine(x.offset, axis)
                assert form is not None, "what is fetched lies in a row"
                for part in form:
                    self.value(part, known, None)
                address = self._pointer(x.leaf.name, x.leaf.dtype, self._offset(form, known, where))
                self.fetch_bytes(address, nbytes, locality=locality)
