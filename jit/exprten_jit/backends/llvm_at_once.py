"""What is turned in registers as it is read, computed and stored from there, where the kernel is for just so many elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from ..ir import Load, load
from ..nest import AtOnce, Stmt
from ..rewrite import affine, walk
from ..squares import SET_BYTES
from .llvm_masked import of_first
from .llvm_squares import InRegisters
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_where import Known, Where

CLOSE = 32  # bytes: rows so close to a multiple of SET_BYTES apart take places in the first cache from each other


class ComputedAtOnce(InRegisters):
    """Emits what passes through no scratch."""

    def _in_other_sets(self, stmt: AtOnce, known: Known) -> str:
        """Whether rows of the target that are stored side by side are not close to whole pages apart, which are two lines for each in a few sets of the first cache; or
        whole pages, with one line for each.
        """
        t, size = self.text, stmt.store.leaf.itemsize
        form = affine(stmt.store.offset, stmt.bring.row)
        stride = self.value(form[0], known, None).name if form else "1"
        close = t.index("and", t.index("add", t.index("mul", stride, size), CLOSE), SET_BYTES - 1)
        other, whole = (
            t.let(f"icmp {how}", "i1").name for how in (f"ugt i64 {close}, {2 * CLOSE}", f"eq i64 {close}, {CLOSE}")
        )
        return f"or i1 {other}, {whole}"

    def at_once(self, stmt: AtOnce, known: Known, run: Callable[[Iterable[Stmt], Known], None]) -> None:
        """A tile, or else what brings it to scratch: where another thread has a part of its elements, or where the target is read, as some elements
        are stored twice.
        """
        t, bring, store = self.text, stmt.bring, stmt.store
        extent = bring.rows if bring.between is None else bring.between
        many = self.value(extent, known, None).name if bring.usual else "0"
        columns = self.value(bring.columns, known, None).name
        read = [bring.load, *(x for x in walk(store.value) if isinstance(x, Load))]
        again = self.read_again(store.leaf, read)
        asked = [f"icmp eq i64 {many}, {bring.usual}"] if number(many) is None else []
        asked += [f"xor i1 {again}, true"] if again != "false" else []
        asked += [f"icmp sge i64 {columns}, {bring.lanes}", self._in_other_sets(stmt, known)] if bring.turned else []
        found = [t.let(x, "i1").name for x in asked]
        when = reduce(lambda a, b: t.let(f"and i1 {a}, {b}", "i1").name, found) if found else "true"
        own, into = dict(known), load(bring.into, bring.place)

        def put(x: Lanes, column: str, row: str, left: int) -> None:
            here: Known = {**own, bring.row: Lanes(row, INDEX_TYPE), **self._numbers(into, x)}
            where = Where(bring.column, column, x.count, of_first(left, x.count) if left < x.count else None)
            self.store(store, self.value(store.value, here, where), here, where)

        def usually() -> None:
            if bring.turned:
                self._squares_of(bring, own, columns, str(bring.usual), put)
                return
            assert bring.unit is not None, "units that lie side by side, or between each other"
            unit = number(self.value(bring.unit, own, None).name)
            assert unit is not None, "a kernel for so many elements"
            if bring.usual:
                self._units_written(bring, own, columns, unit, bring.usual, put)
            else:
                self._rows_put_together(bring, own, columns, self.value(stmt.rows, own, None).name, unit, put)

        t.either(when, usually, lambda: run(stmt.body, dict(known)))
