"""Extremes down columns, and where they stand, where registers are small: of four rows of more columns than a register holds, what is compared
would wait on the stack, and accumulators in memory are read and stored with every four rows. A few rows at a time, which stay in the first cache, are taken by one register of columns after the other.
"""

from __future__ import annotations

from functools import partial, reduce

from ..extremes import COMPARED
from ..ir import Fold
from ..nest import Strip, Vector
from ..reducers import ACROSS, reducer_of
from ..vectors import FAR_BYTES
from .llvm_across import Across, Run
from .llvm_where import Known, Where

# bits: of narrower elements rows of many columns fill registers, of wider ones four rows fit into them
NARROW, WIDE = 8, 32
LEAST, MOST = 2, 256  # registers that a row fills, and columns: of more, too few rows stay
NEAR_BYTES = 16 << 10  # of rows: half a first cache


class Compared(Across):
    """Emits all folds across rows."""

    def strip(self, stmt: Strip, known: Known, run: Run, rows: tuple[str, str] | None = None) -> None:
        """A fold across rows, or some of them, one strip of columns wide; `run` does statements."""
        *_, loop = stmt.body
        if stmt.few is None or not isinstance(loop, Vector) or not self.by_registers(stmt.few, loop):
            super().strip(stmt, known, run, rows)
            return
        rows = rows or ("0", self.value(stmt.extent, known, None).name)
        self.text.either(
            self._stays_near(stmt, loop, known),
            partial(self._one_after_the_other, stmt, stmt.few, loop, dict(known), run, rows),
            partial(super().strip, stmt, dict(known), run, rows),
        )

    def by_registers(self, node: Fold, loop: Vector) -> bool:
        """Whether extremes of floats are found, or where extremes stand, in rows that may fill so many small registers."""
        few, bits = self.nest.kernel.few, node.dtypes[0].bits
        quick = bool(reducer_of(node.reducer).quick) and node.dtype.kind == "f"
        pays = NARROW < bits <= WIDE or (few > 0 and bits <= NARROW)
        wide = loop.masked and loop.lanes > 1 and not 0 < few <= LEAST * loop.lanes
        return self.machine.small and (quick or node.reducer in COMPARED) and pays and wide

    def _stays_near(self, stmt: Strip, loop: Vector, known: Known) -> str:
        """Whether rows have so many columns, and are not read from memory, where those to come have to be fetched."""
        t, size = self.text, stmt.into[0].dtype.itemsize
        low, high = (self.value(v, known, None).name for v in (loop.low, loop.high))
        columns = t.index("sub", high, low)
        elements = self.value(self.nest.kernel.folded(stmt.extent), known, None).name
        tests = f"sge i64 {columns}, {LEAST * loop.lanes}", f"sle i64 {columns}, {MOST}"
        each = [t.let(f"icmp {test}", "i1").name for test in (*tests, f"slt i64 {elements}, {FAR_BYTES // size}")]
        return reduce(lambda a, b: t.let(f"and i1 {a}, {b}", "i1").name, each)

    def _one_after_the_other(
        self, stmt: Strip, node: Fold, loop: Vector, known: Known, run: Run, rows: tuple[str, str]
    ) -> None:
        """The rows, a few at a time, of a register of columns after the other; the last one ends with the row, and of what is compared again the first stays."""
        t, lanes, (first, end) = self.text, loop.lanes, rows
        low, high = (self.value(v, known, None).name for v in (loop.low, loop.high))
        last, size = t.index("sub", high, lanes), stmt.into[0].dtype.itemsize
        fit = t.index("udiv", str(NEAR_BYTES // size), t.index("sub", high, low))
        run(stmt.first, known)

        def some(start: str) -> str:
            stop = t.lesser(t.index("add", start, t.index("and", fit, -ACROSS.lanes)), end)

            def register(i: str) -> None:
                at = t.lesser(i, last)
                where, column = Where(loop.axis, at, lanes), t.index("sub", at, low)
                before = [self.kept(x.dtype, self._pointer(x.name, x.dtype, column), lanes) for x in stmt.into]
                found = self.across(node, dict(known), where, start, stop, few=True)
                for store, x in zip(loop.stores, self.join(node, before, found), strict=True):
                    self.store(store, x, dict(known), where)

            t.loop(low, high, lanes, register)
            return stop

        t.repeat(first, end, some)
