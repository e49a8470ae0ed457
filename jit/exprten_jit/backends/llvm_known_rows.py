"""Extremes along packed rows of a known length, read by half a register: all places are constants, and whether there is a NaN is asked of the lines as they lie.

A row is read in parts of half a register, the last of which ends with it and is no longer than what is left. Registers of a line are not used
for them: while those are under way a processor has one unit less for shorter ones.
"""

from __future__ import annotations

from functools import reduce

from ..ir import Fold, Load
from ..reducers import reducer_of, rounded_up
from ..rewrite import affine, steps
from .llvm_accumulators import Row
from .llvm_rows_ahead import RowsAhead
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_where import Known, Part, Where

BITS = 256  # of half a register
KNOWN = 9, 24  # elements of a row
# vectors that are compared by two, not added, to see whether there is a NaN: of two units one compares and shuffles, and adding waits for both
COMPARED, LEAST_COMPARED = 6, 10  # of rows from so many elements on
# how far the row is that is brought beside one, and which lanes of both are compared: no element leaves its quarter of a line but in the first step
STEPS = (
    (4, ((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15))),
    (1, ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))),
    (2, ((0, 2, 8, 10, 4, 6, 12, 14), (1, 3, 9, 11, 5, 7, 13, 15))),
)


class KnownRows(RowsAhead):
    """Emits them."""

    def rows_known(self, node: Fold, known: Known, where: Where) -> bool:
        """Whether this is for a fold."""
        least, most = KNOWN
        exact, (body, *others), dtype = self.nest.kernel.exact, node.bodies, node.dtypes[0]
        if self.machine.small or not least <= exact <= most or exact == where.count or others or dtype.lane != "float":
            return False
        if not reducer_of(node.reducer).quick or where.mask is not None or not isinstance(body, Load):
            return False
        plain = body.when is None and not body.leaf.pairs and body.leaf.name in self.given
        if not plain or abs(steps(body, node.axis) or 0) != 1:
            return False
        form = affine(body.offset, where.axis)
        step = form and number(self.value(form[0], known, None).name)
        return step == exact and where.count * dtype.bits == self.machine.vector_bits

    def extreme_of_rows(self, node: Fold, known: Known, where: Where) -> tuple[Row, str]:
        """The extreme of each row, of numbers, and whether that does not hold: there is a NaN, or infinities of both signs, or it is a zero, whose sign decides."""
        t, exact, (body,) = self.text, self.nest.kernel.exact, node.bodies
        assert isinstance(body, Load), "what is folded lies in memory"
        width, lanes = BITS // node.dtypes[0].bits, where.count
        firsts = range(0, exact - width, width)
        left = min(width, rounded_up(exact - len(firsts) * width))
        parts = [Part(str(n), width) for n in firsts]
        parts.append(Part(str(exact - left), left, width // left))
        first = exact - 1 if steps(body, node.axis) == -1 else 0  # in memory
        inside = {**known, where.axis: Lanes(where.at, INDEX_TYPE), node.axis: Lanes(str(first), INDEX_TYPE)}
        dtype, at = body.leaf.dtype, self.value(body.offset, inside, None).name
        begin = self._pointer(body.leaf.name, dtype, at)

        def read(first: int, count: int) -> Lanes:
            place = t.further(begin, dtype.memory, str(first))
            kind = Lanes("", dtype.memory, count).type
            x = t.let(f"load {kind}, ptr {place}, align {dtype.itemsize}", dtype.memory, count)
            return self.in_register(x, dtype)

        def row(r: int) -> Row:
            found = [[self.filled(read(r * exact + int(x.first), x.lanes), x)] for x in parts]
            return reduce(lambda a, b: self._quick(node, a, b), found)

        def rows(first: int, step: int) -> Row:
            """What `row` and those so far beyond it come to, in lanes of their own: eight numbers after the last step."""
            if step < 0:
                return row(first)
            apart, halves = STEPS[step]
            (a,), (b,) = (rows(at, step - 1) for at in (first, first + apart))
            return self._quick(node, *([self._shuffled(a, b, lanes)] for lanes in halves))

        many = COMPARED if exact >= LEAST_COMPARED else 0
        clear = list[Lanes]()
        for n in range(0, many, 2):
            self.numbers(clear, *(read(k * lanes, lanes) for k in (n, n + 1)))
        total = self.sum_of_all(read(n * lanes, lanes) for n in range(many, exact))
        self.numbers(clear, total, total)
        found = self._joined([x for first in range(0, lanes, width) for x in rows(first, len(STEPS) - 1)])
        self.no_zero(clear, found)
        return [found], self.not_clear(clear)
