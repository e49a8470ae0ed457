"""Rows of few elements that later vectors read: fetched now, where the processor does not see where they go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..derived import apply
from ..early import AHEAD_BYTES, ON_FURTHER, SOON_BYTES
from ..folds import folds_of
from ..ir import TRUE, Axis, Fold, Load, Value, both, index, negation
from ..machine import LINE
from ..nest import FIRST, SECOND
from ..pairs import lines_of
from ..reducers import rows_from
from ..rewrite import affine, steps
from ..vectors import FAR_BYTES, computed
from .llvm_fold import Folds
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where

SOON_LINES = 2, 4  # of a row that is brought into the first cache


class RowsAhead(Folds):
    """Emits what fetches them."""

    @property
    def most(self) -> int:
        """Elements of a row."""
        return self.nest.kernel.exact or self.nest.kernel.short

    @property
    def least(self) -> int:
        """Elements that every row has."""
        return self.nest.kernel.exact or rows_from(self.most)

    def fetch_rows(
        self, node: Fold, known: Known, where: Where, lanes: Sequence[str | int], turned: bool = False
    ) -> None:
        """Fetch early what some lanes of a later vector read, where rows come from memory and the processor does not see where they go on: not of rows that are
        read once, one behind the other, but for whole lines that are `turned`, a part of each at a time. Some pages further where there are so many rows, or the last one is followed by the first of the next outer index; else
        four vectors, of rows of a line and more.
        """
        loads, locality, places = self._rows_ahead(node, where, turned)
        row = self.most * loads[0].leaf.itemsize if loads else 0
        if self.machine.waits and SOON_LINES[0] <= row // LINE <= SOON_LINES[1]:
            whole_lines = row // LINE * LINE
            self._fetch_few(loads, known, where, node.axis, SOON_BYTES // row, whole_lines, lanes, FIRST)
        for far, further, nbytes in places:
            self.text.when(
                self.value(far, known, None).name,
                partial(self._fetch_few, loads, known, where, node.axis, further, nbytes, lanes, locality),
            )

    def know_rows_ahead(self, node: Fold, known: Known, where: Where) -> None:
        """Whether rows are fetched, for a loop over lanes that fetches them: no pass moves that out of it."""
        for far, _, _ in self._rows_ahead(node, where, turned=False)[2]:
            self.value(far, known, None)

    def _rows_ahead(
        self, node: Fold, where: Where, turned: bool
    ) -> tuple[list[Load], int, list[tuple[Value, int, int]]]:
        """What is read of rows that are fetched, where to; and when, how many rows further, and how many bytes of each."""
        loads = [x for x in computed(node.bodies, node.axis) if isinstance(x, Load) and x.leaf.name in self.given]
        loads = [x for x in loads if x.when is None and where.axis in x.offset.free and steps(x, node.axis) == 1]
        loads = lines_of(loads)
        if not loads or self.nest.kernel.cached:
            return [], SECOND, []
        nbytes, size, kernel = self.most * loads[0].leaf.itemsize, loads[0].leaf.itemsize, self.nest.kernel
        every = kernel.folded(node.extent) >= FAR_BYTES // size
        many = dict(kernel.axes)[where.axis] * node.extent >= FAR_BYTES // size
        packed: Value = TRUE
        row = index(kernel.exact) if kernel.exact else node.extent
        for x in loads:
            if form := affine(x.offset, where.axis):
                packed = both(packed, apply("equal", form[0], row * (1 + x.leaf.pairs)))
        pages = apply("logical_or", many, both(every, packed))
        first = nbytes >= LINE and not folds_of(*node.bodies)  # what is folded again lies in a cache
        apart = [(both(every, negation(pages)), 4 * where.count)] if first else []
        if many is every:  # of the one axis there is
            pages, apart = every, []
        ahead, locality = AHEAD_BYTES, SECOND
        lines = turned and all((steps(x, where.axis) or 1) * x.leaf.itemsize % LINE == 0 for x in loads)
        if self._read_once(node) and not lines:
            pages, ahead, locality = both(pages, negation(packed)), ON_FURTHER, FIRST
        return loads, locality, [(far, further, nbytes) for far, further in ((pages, ahead // nbytes), *apart)]

    def _read_once(self, node: Fold) -> bool:
        """Whether the rows that are folded are read once."""
        return all(extent is not node.extent for _, extent in self.nest.kernel.axes)

    def _fetch_few(
        self,
        loads: Sequence[Load],
        known: Known,
        where: Where,
        axis: Axis,
        further: int,
        nbytes: int,
        lanes: Sequence[str | int],
        locality: int,
    ) -> None:
        """What some lanes read, so many rows further."""

        def first(n: str | int) -> Known:
            row = Lanes(self.text.index("add", self.text.index("add", where.at, further), n), INDEX_TYPE)
            return {**known, where.axis: row, axis: Lanes("0", INDEX_TYPE)}

        if nbytes < LINE and len(lanes) > 1:
            self._fetch_narrow(loads, first(lanes[0]), where, nbytes, len(lanes))
        else:
            for n in lanes:
                self.fetch_from(loads, first(n), nbytes, locality=locality)

    def _fetch_narrow(self, loads: Sequence[Load], known: Known, where: Where, nbytes: int, many: int) -> None:
        """The lines of so many rows, each of which is less than one, and what is between them, where they are no more than a line apart."""
        t = self.text
        for x in loads:
            form = affine(x.offset, where.axis)
            assert form is not None, "rows lie at regular distances"
            stride = t.index("mul", self.value(form[0], dict(known), None).name, x.leaf.itemsize)
            address = self._pointer(x.leaf.name, x.leaf.dtype, self.value(x.offset, dict(known), None).name)
            if_near = [t.let(f"icmp ule i64 {stride}, {most}", "i1").name for most in (nbytes, LINE)]
            all_lines, each_line = (partial(self.fetch_bytes, address, many * most) for most in (nbytes, LINE))
            t.either(if_near[0], all_lines, partial(t.when, if_near[1], each_line))
