"""Squares turned round in registers, for targets that lie across their sources."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Leaf, Load, Store
from ..nest import SIDE, Turn, TurnBack
from ..rewrite import affine
from .llvm_across import Across
from .llvm_memory import Known
from .llvm_ops import memory_suffix
from .llvm_text import INDEX_TYPE, Lanes


class Tiles(Across):
    """Emits what turns a tile: squares of as many rows and columns as a vector has lanes."""

    def turn(self, stmt: Turn, known: Known) -> None:
        """A tile of a source, onto the stack."""
        t, width, dtype = self.text, stmt.lanes, stmt.into.dtype
        function, kind = f"@llvm.masked.load.v{width}{memory_suffix(dtype)}.p0", f"<{width} x {dtype.memory}>"
        t.declare(function, kind, "ptr", "i32 immarg", f"<{width} x i1>", kind)

        def square(row: str, column: str) -> None:
            mask = f"<{width} x i1> {self.below(t.index('sub', known[stmt.bottom].name, row), width)}"
            given = f"i32 {dtype.itemsize}, {mask}, {kind} zeroinitializer"
            rows = [
                t.let(f"call {kind} {function}(ptr {address}, {given})", dtype.memory, width)
                for address in self._columns_of(stmt, stmt.load, known, row, column)
            ]
            for x, address in zip(self._square(rows), self._rows_of(stmt, stmt.into, known, row, column), strict=True):
                t.put(f"store {x}, ptr {address}, align {dtype.itemsize}")

        self._squares(stmt, known, square)

    def turn_back(self, stmt: TurnBack, known: Known) -> None:
        """A tile on the stack, into the target."""
        t, width, dtype = self.text, stmt.lanes, stmt.tile.dtype
        function, kind = f"@llvm.masked.store.v{width}{memory_suffix(dtype)}.p0", f"<{width} x {dtype.memory}>"
        t.declare(function, "void", kind, "ptr", "i32 immarg", f"<{width} x i1>")

        def square(row: str, column: str) -> None:
            rows = [
                t.let(f"load {kind}, ptr {address}, align {dtype.itemsize}", dtype.memory, width)
                for address in self._rows_of(stmt, stmt.tile, known, row, column)
            ]
            below, right = t.index("sub", known[stmt.bottom].name, row), known[stmt.right].name
            columns = zip(self._square(rows), self._columns_of(stmt, stmt.store, known, row, column), strict=True)
            for k, (x, address) in enumerate(columns):
                there = t.let(f"icmp slt i64 {t.index('add', column, k)}, {right}", "i1").name
                mask = self.below(t.select(there, below, "0"), width)
                t.put(f"call void {function}({x}, ptr {address}, i32 {dtype.itemsize}, <{width} x i1> {mask})")

        self._squares(stmt, known, square)

    def _squares(self, stmt: Turn | TurnBack, known: Known, square: Callable[[str, str], None]) -> None:
        """All squares of a tile, side by side along what lies in memory as it runs there."""
        t = self.text
        top, bottom, left, right = (known[name].name for name in (stmt.top, stmt.bottom, stmt.left, stmt.right))
        t.loop(left, right, stmt.lanes, lambda k: t.loop(top, bottom, stmt.lanes, lambda row: square(row, k)))

    def _columns_of(self, stmt: Turn | TurnBack, at: Load | Store, known: Known, row: str, column: str) -> list[str]:
        """Where the columns of a square begin in a tensor; for those that do not exist, the last one."""
        t = self.text
        form = affine(at.offset, stmt.column)
        assert form is not None, "columns lie at regular distances"
        inside: Known = {**known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        found = [self._pointer(at.leaf.name, at.leaf.dtype, self.value(at.offset, inside, None).name)]
        stride, left = self.value(form[0], inside, None).name, t.index("sub", known[stmt.right].name, column)
        for k in range(1, stmt.lanes):
            step = t.select(t.let(f"icmp sgt i64 {left}, {k}", "i1").name, stride, "0")
            found.append(t.let(f"getelementptr {at.leaf.dtype.memory}, ptr {found[-1]}, i64 {step}", "ptr").name)
        return found

    def _rows_of(self, stmt: Turn | TurnBack, leaf: Leaf, known: Known, row: str, column: str) -> list[str]:
        """Where the rows of a square begin on the stack."""
        t = self.text
        rows, columns = t.index("sub", row, known[stmt.top].name), t.index("sub", column, known[stmt.left].name)
        at = t.index("add", t.index("mul", rows, SIDE), columns)
        return [self._pointer(leaf.name, leaf.dtype, t.index("add", at, k * SIDE)) for k in range(stmt.lanes)]

    def _square(self, rows: list[Lanes]) -> list[Lanes]:
        """As many vectors as they have lanes, turned round: lane k of vector n becomes lane n of vector k."""
        rows, width = list(rows), len(rows)
        size = width
        while size > 1:
            size //= 2
            for n in (n for n in range(width) if not n & size):
                a, b = rows[n], rows[n + size]
                low = [k if not k & size else width + k - size for k in range(width)]
                high = [k + size if not k & size else width + k for k in range(width)]
                rows[n], rows[n + size] = self._shuffled(a, b, low), self._shuffled(a, b, high)
        return rows
