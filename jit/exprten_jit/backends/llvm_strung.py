"""Rows of few elements strung together: vectors of what does not run on are put together of parts that do."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Load
from ..strung import ROW, Places, begins
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_values import Values
from .llvm_where import Known, Where


class Strung(Values):
    """Emits what is read of them."""

    def strung_load(self, node: Load, lie: Places, known: Known, where: Where) -> Lanes:
        """Elements of rows, from those on that a block begins with."""
        assert where.block is not None, "a vector of a block of rows"
        begin, first = where.block
        dtype, places = node.leaf.dtype, lie.of(first, where.count)
        start = self.first_of_block(node, begin, lie.many, known, where)
        found, kind = None, dtype.memory
        for low, many in parts_of(places, where.count):
            at = self.text.further(start, kind, str(low))
            if many == 1:
                return self.in_register(self.splat(self.text.let(f"load {kind}, ptr {at}", kind), where.count), dtype)
            part = self.text.let(f"load <{many} x {kind}>, ptr {at}, align {dtype.itemsize}", kind, many)
            if found is None:
                order = [min(max(p - low, 0), many - 1) for p in places]
                found = self._shuffled(part, part, order)
            else:
                order = [many + p - low if low <= p < low + many else n for n, p in enumerate(places)]
                found = self._shuffled(found, part, order)
        assert found is not None, "a vector has elements"
        return self.in_register(found, dtype)

    def first_of_block(self, node: Load, begin: str, many: int, known: Known, where: Where) -> str:
        """The address of the first element of rows of so many."""
        inside: Known = {x: lanes for x, lanes in known.items() if where.axis not in x.free}
        inside[ROW] = self.text.let(f"udiv {INDEX_TYPE} {begin}, {many}", INDEX_TYPE)
        offset = self.value(begins(node, where.axis), inside, None)
        return self._pointer(node.leaf.name, node.leaf.dtype, offset.name)


def parts_of(places: Sequence[int], lanes: int) -> list[tuple[int, int]]:
    """Where parts begin that hold all of these places, and how many elements each has: no more than lanes, none beyond the last place."""
    left, last = sorted({*places}), max(places)
    if last - left[0] < lanes:
        return [(left[0], last - left[0] + 1)]
    found = list[tuple[int, int]]()
    while left:
        low = min(left[0], last - lanes + 1)
        found.append((low, lanes))
        left = [p for p in left if p >= low + lanes]
    return found
