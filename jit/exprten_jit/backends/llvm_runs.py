"""Rows that run on, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import gcd

from ..ir import Leaf, Load, Store
from ..machine import LINE
from ..nest import Columns, Loop, Nest, Vector
from ..reducers import COLUMNS, rounded_up
from ..rewrite import walk
from .llvm_at_once import ComputedAtOnce
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where

FEWEST, FEWEST_LOW = 16, 4  # lines of rows that are one; of few rows all are soon through
MOST_COLUMNS = 128  # from there on vectors are full as it is
PIECE = 32  # bytes of a row that are stored at a time: few of them lie in two lines


class Runs(ComputedAtOnce):
    """Emits what rows that run on need."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(nest, fast_math)
        self.taken: list[Columns] = []  # at the moment

    def rows_at_once(self, stmt: Loop, columns: Columns, known: Known, count: str, rows: str) -> str:
        """How many rows of `count` columns are one: a power of two, or all; 1 where they do not run on."""
        t, fixed = self.text, self._fixed_rows(stmt, columns)
        same = t.let(f"icmp sle i64 {count}, {MOST_COLUMNS}", "i1").name
        for stride in stmt.runs:
            next_ = t.let(f"icmp eq i64 {self.value(stride, known, None).name}, {count}", "i1").name
            same = t.let(f"and i1 {same}, {next_}", "i1").name
        if fixed or columns.at_once:
            return t.select(same, str(fixed or columns.at_once), "1")
        if few := self.nest.kernel.few:
            most = rounded_up(columns.block // 2 // few + 1) // 2
            return t.select(same, t.lesser(str(most), rows), "1")
        fit = t.index("udiv", str(columns.block // 2), count)
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(t.index("or", fit, 1), INDEX_TYPE), Lanes("true", "i1"))
        many = t.let(f"lshr i64 {-(1 << 63)}, {zeros.name}", INDEX_TYPE).name
        return t.select(same, t.lesser(many, rows), "1")

    def repeat_columns(self, stmt: Loop, columns: Columns, count: str, wanted: str) -> None:
        """What the loop reads of saved columns, again and again up to `wanted` of them: a row of few behind the other, each over what the last one stored too
        much; of others twice as many each time.
        """
        t, read = self.text, _read(stmt) - {leaf for leaf, _ in stmt.spread}
        leaves = [leaf for leaf, _ in columns.saved if leaf in read]
        if fixed := self._fixed_rows(stmt, columns):
            for leaf in leaves:
                self._patterns(leaf, fixed)
            return

        if self.nest.kernel.few:
            rows = [(leaf, self._in_lines(leaf)) for leaf in leaves]
            t.repeat(count, wanted, partial(self._row_behind, rows, count))
            return

        def double(filled: str) -> str:
            more = t.lesser(filled, t.index("sub", wanted, filled))
            for leaf in leaves:
                t.repeat("0", more, partial(self._copied, leaf, filled))
            return t.index("mul", filled, 2)

        t.repeat(count, wanted, double)

    def spread_rows(self, stmt: Loop, columns: Columns, known: Known, count: str, low: str, rows: str) -> None:
        """What a row has in all of `count` columns, for `rows` of them: in pieces, of which the next row overwrites what is too much."""
        t = self.text

        if not stmt.spread:
            return
        lanes = PIECE // max(leaf.dtype.computed.itemsize for leaf, _ in stmt.spread)
        pieces = columns.block // columns.at_once // lanes if columns.at_once else 1
        few = t.let(f"icmp sle i64 {count}, {pieces * lanes}", "i1").name
        by_four = t.select(few, t.index("and", rows, -4), "0")

        def values(n: str) -> tuple[list[Lanes], str]:
            inside = known | {stmt.axis: Lanes(t.index("add", low, n), INDEX_TYPE)}
            first = t.index("add", known[columns.start].name, t.index("mul", n, count))
            return [self.splat(self.value(value, dict(inside), None), lanes) for _, value in stmt.spread], first

        def put(splats: list[Lanes], at: str) -> None:
            where = Where(columns.axis, at, lanes)
            for (leaf, value), one in zip(stmt.spread, splats, strict=True):
                self.store(Store(leaf, columns.axis - columns.start, value), one, dict(known), where)

        def four(n: str) -> None:
            for splats, first in [values(t.index("add", n, k)) for k in range(4)]:
                for piece in range(pieces):
                    put(splats, t.index("add", first, piece * lanes))

        def row(n: str) -> None:
            splats, first = values(n)

            def piece(k: str) -> str:
                put(splats, t.index("add", first, k))
                return t.index("add", k, lanes)

            t.repeat("0", count, piece)

        t.loop("0", by_four, 4, four)
        t.loop(by_four, rows, 1, row)

    def _fixed_rows(self, stmt: Loop, columns: Columns) -> int:
        """How many rows of the kernel's known number of columns are taken as one: such as fill a number of lines; 0 where that is not known."""
        few, fewest = self.nest.kernel.few, FEWEST_LOW if self.nest.kernel.low else FEWEST
        if not 0 < few < COLUMNS[0]:
            return 0
        lanes = LINE // min(leaf.dtype.itemsize for leaf in _read(stmt))
        rows = lanes // gcd(lanes, few)
        rows *= -(-fewest * lanes // (rows * few))
        return rows if rows * few <= columns.block else 0

    def _patterns(self, leaf: Leaf, rows: int) -> None:
        """A saved column for so many rows: lines that differ are made in registers, and stored again and again."""
        few, lanes, dtype = self.nest.kernel.few, LINE // leaf.dtype.itemsize, leaf.dtype
        kind, width = dtype.memory, 1 << (few - 1).bit_length()
        one = self.text.let(
            f"load <{width} x {kind}>, ptr {self.address[leaf.name]}, align {dtype.itemsize}", kind, width
        )
        order = [k % few for k in range(lanes * few)]
        lines = [self._shuffled(one, one, order[n * lanes : (n + 1) * lanes]) for n in range(few // gcd(lanes, few))]
        for n in range(-(-rows * few // lanes)):
            place = self._pointer(leaf.name, dtype, str(n * lanes))
            self.text.put(f"store {lines[n % len(lines)]}, ptr {place}, align {dtype.itemsize}")

    def _in_lines(self, leaf: Leaf) -> list[Lanes]:
        """A saved row of the kernel's few columns, in registers of a line."""
        kind, lanes, nbytes = leaf.dtype.memory, LINE // leaf.dtype.itemsize, leaf.dtype.itemsize
        places = (self._pointer(leaf.name, leaf.dtype, str(n)) for n in range(0, self.nest.kernel.few, lanes))
        return [self.text.let(f"load <{lanes} x {kind}>, ptr {place}, align {nbytes}", kind, lanes) for place in places]

    def _row_behind(self, rows: Sequence[tuple[Leaf, Sequence[Lanes]]], count: str, at: str) -> str:
        """Rows, stored at an index. Returns where the next ones begin."""
        t = self.text
        for leaf, lines in rows:
            for n, line in enumerate(lines):
                place = self._pointer(leaf.name, leaf.dtype, t.index("add", at, n * line.count))
                t.put(f"store {line}, ptr {place}, align {leaf.dtype.itemsize}")
        return t.index("add", at, count)

    def _copied(self, leaf: Leaf, filled: str, at: str) -> str:
        """A line of a saved column, to `filled` further on. Returns where the next one begins."""
        t, kind, lanes = self.text, leaf.dtype.memory, LINE // leaf.dtype.itemsize
        source, to = (self._pointer(leaf.name, leaf.dtype, x) for x in (at, t.index("add", filled, at)))
        line = t.let(f"load <{lanes} x {kind}>, ptr {source}, align {leaf.dtype.itemsize}", kind, lanes)
        t.put(f"store {line}, ptr {to}, align {leaf.dtype.itemsize}")
        return t.index("add", at, lanes)


def _read(stmt: Loop) -> set[Leaf]:
    """What a loop over rows reads, and where it stores."""
    stores = [store for s in stmt.body if isinstance(s, Vector) for store in s.stores]
    loads = {x.leaf for x in walk(*(store.value for store in stores)) if isinstance(x, Load)}
    return loads | {store.leaf for store in stores}
