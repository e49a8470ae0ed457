"""What may be stored again at the end of a row, and which parts of rows are stored past the caches."""

from __future__ import annotations

from ..ir import Load, Value
from ..machine import LINE
from ..nest import Vector
from ..rewrite import walk
from .llvm_outer import Outer
from .llvm_text import INDEX_TYPE
from .llvm_where import Known

LEFT = 4  # a quarter of a vector: elements at the end of a row of which fewer are computed one by one


class PastCaches(Outer):
    """Emits the questions."""

    def _may_again(self, stmt: Vector, total: str) -> str:
        """Whether a row has as many elements as a vector has lanes, and some of them may be stored again: the last vector ends where the row does, where so many
        are left that one after the other takes longer; or with a mask, where there are no registers for masks.
        """
        if self._never_again(stmt):
            return "false"
        t = self.text
        may = t.let(f"icmp sge i64 {total}, {stmt.lanes}", "i1").name
        if not stmt.masked:
            left = t.index("and", total, stmt.lanes - 1)
            may = t.let(f"and i1 {may}, {t.let(f'icmp sge i64 {left}, {stmt.lanes // LEFT}', 'i1').name}", "i1").name
        return self._again(stmt, may)

    def _again(self, stmt: Vector, may: str) -> str:
        """Whether some elements may be stored again, where they `may` be for other reasons."""
        if self._never_again(stmt):
            return "false"
        t, into = self.text, dict.fromkeys(store.leaf for store in stmt.stores)
        read = [x for x in walk(*(store.value for store in stmt.stores)) if isinstance(x, Load)]
        for leaf in into if any(leaf.name in self.given for leaf in into) else ():
            may = t.let(f"and i1 {may}, {t.let(f'xor i1 {self.read_again(leaf, read)}, true', 'i1').name}", "i1").name
        return may

    def _never_again(self, stmt: Vector) -> bool:
        """Whether it is known that they may not: they are read, or belong to others, or are parts of pairs."""
        read = [x for x in walk(*(store.value for store in stmt.stores)) if isinstance(x, Load)]
        into = dict.fromkeys(store.leaf for store in stmt.stores)
        given = any(leaf.name in self.given for leaf in into)
        pairs = any(leaf.pairs for leaf in (*into, *(x.leaf for x in read)))
        return (given and (self.nest.kernel.shared or pairs)) or any(x.leaf in into for x in read)

    def _lined(self, stmt: Vector, begins: Value, reach: Value, known: Known, low: str, high: str) -> tuple[str, str]:
        """From where to where a part of a row is stored: past the caches from its first line to the end of its last one, or up to its `reach`, and that with which
        a row `begins` from there.
        """
        t, line = self.text, LINE // stmt.stores[0].leaf.itemsize
        assert stmt.stream is not None, "a row that may be stored past the caches"
        before = self._before_line(stmt, known, low)
        behind = t.index("and", t.index("sub", before, t.index("sub", high, low)), line - 1)
        past, whole, end = (self.value(x, known, None).name for x in (stmt.stream, begins, reach))
        end = t.lesser(t.index("add", high, behind), end)
        start = t.lesser(t.select(whole, low, t.index("add", low, before)), end)
        return t.select(past, start, low), t.select(past, end, high)

    def _before_line(self, stmt: Vector, known: Known, low: str) -> str:
        """Elements before the first line of a target."""
        t, store, size = self.text, stmt.stores[0], stmt.stores[0].leaf.itemsize
        start, _ = self.first_place(store, stmt.axis, low, known)
        address = t.index("sdiv", t.let(f"ptrtoint ptr {start} to i64", INDEX_TYPE).name, size)
        return t.index("and", t.index("sub", "0", address), LINE // size - 1)

    def _stored_past(self) -> None:
        """Something was stored past the caches, which is ordered by nothing else: the function ends with a fence. In between each would wait for all that is
        on its way.
        """
        self.text.put(f"store i8 1, ptr {self.text.flag()}")
