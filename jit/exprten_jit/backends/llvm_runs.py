"""Rows that run on, many at a time."""

from __future__ import annotations

from functools import partial

from ..ir import Leaf, Load
from ..nest import Columns, Loop, Vector
from ..vectors import computed
from .llvm_memory import Known
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_tile import Tiles

MOST_COLUMNS = 128  # from there on vectors are full as it is
LINE = 64  # bytes


class Runs(Tiles):
    """Emits what rows that run on need."""

    def rows_at_once(self, stmt: Loop, columns: Columns, known: Known, count: str, rows: str) -> str:
        """How many rows of `count` columns are one: a power of two, or all; 1 where they do not run on."""
        t = self.text
        same = t.let(f"icmp sle i64 {count}, {MOST_COLUMNS}", "i1").name
        for stride in stmt.runs:
            next_ = t.let(f"icmp eq i64 {self.value(stride, known, None).name}, {count}", "i1").name
            same = t.let(f"and i1 {same}, {next_}", "i1").name
        fit = t.index("udiv", str(columns.block // 2), count)
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(t.index("or", fit, 1), INDEX_TYPE), Lanes("true", "i1"))
        many = t.let(f"lshr i64 {-(1 << 63)}, {zeros.name}", INDEX_TYPE).name
        return t.select(same, t.lesser(many, rows), "1")

    def repeat_columns(self, stmt: Loop, columns: Columns, count: str, wanted: str) -> None:
        """What the loop reads of saved columns, again and again up to `wanted` of them: twice as many each time."""
        t = self.text
        vectors = [s for s in stmt.body if isinstance(s, Vector)]
        nodes = computed([s.value for v in vectors for s in v.stores], columns.axis)
        read = {x.leaf for x in nodes if isinstance(x, Load)}
        leaves = [leaf for leaf, _ in columns.saved if leaf in read]

        def double(filled: str) -> str:
            more = t.lesser(filled, t.index("sub", wanted, filled))
            for leaf in leaves:
                t.repeat("0", more, partial(self._copied, leaf, filled))
            return t.index("mul", filled, 2)

        t.repeat(count, wanted, double)

    def _copied(self, leaf: Leaf, filled: str, at: str) -> str:
        """A line of a saved column, to `filled` further on. Returns where the next one begins."""
        t, kind, lanes = self.text, leaf.dtype.memory, LINE // leaf.dtype.itemsize
        source, to = (self._pointer(leaf.name, leaf.dtype, x) for x in (at, t.index("add", filled, at)))
        line = t.let(f"load <{lanes} x {kind}>, ptr {source}, align {leaf.dtype.itemsize}", kind, lanes)
        t.put(f"store {line}, ptr {to}, align {leaf.dtype.itemsize}")
        return t.index("add", at, lanes)
