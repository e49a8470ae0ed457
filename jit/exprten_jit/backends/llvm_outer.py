"""Folds of few rows of few columns, for several indices of an outer axis at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..ir import Axis, load
from ..nest import Columns, Let, Loop, Stmt, Strip, Vector
from ..vectors import computed
from .llvm_fold import Row
from .llvm_memory import Items, Known, Where
from .llvm_runs import Runs
from .llvm_text import INDEX_TYPE, Lanes

Run = Callable[[Sequence[Stmt], Known], None]


class Outer(Runs):
    """Emits a loop around folds across rows, whose folds do not wait for each other."""

    def taken_together(self, stmt: Loop) -> Columns | None:
        """The columns that a loop saves, where it takes several of its indices at once."""
        *before, last = stmt.body
        if not self.nest.kernel.low or not isinstance(last, Columns) or not all(isinstance(x, Let) for x in before):
            return None
        count = len(last.strips)
        first = all(isinstance(x, Strip) for x in last.body[:count])
        return last if first and count and all(self._fits(strip, stmt.axis) for strip in last.strips) else None

    def _fits(self, strip: Strip, outer: Axis) -> bool:
        loop, few = strip.body[-1], strip.few
        if few is None or not isinstance(loop, Vector) or outer in computed(few.bodies, loop.axis):
            return False
        return self.fits_beside(few, loop, outer)

    def outer_loop(self, stmt: Loop, columns: Columns, known: Known, low: str, high: str, run: Run) -> None:
        """All folds of several indices, then what is made of them, of one index after the other."""
        t, strips, width = self.text, columns.strips, self.row_lanes
        loops = [strip.body[-1] for strip in strips]
        many = min(self.rows_of(loop) for loop in loops if isinstance(loop, Vector))
        end = self.value(columns.extent, known, None).name
        bounds = zip((columns.start, columns.end, columns.width), ("0", end, end), strict=True)
        known = known | {name: Lanes(at, INDEX_TYPE) for name, at in bounds}
        mask = self.row_mask(end)
        for leaf, _ in columns.saved:
            self.address[leaf.name] = t.reserve(f"[{columns.block} x {leaf.dtype.memory}]")
        results = [leaf for strip in strips for leaf in strip.into]
        slots = [t.reserve(f"[{many * width} x {leaf.dtype.memory}]") for leaf in results]

        def some(i: str) -> str:
            last = t.index("sub", high, 1)
            each = [Lanes(t.lesser(t.index("add", i, n), last) if n else i, INDEX_TYPE) for n in range(many)]
            items = Items(stmt.axis, width, mask, tuple({stmt.axis: x} for x in each))
            found, rows = dict(known), list[Lanes]()
            for strip in strips:
                rows += self._fold_of(strip, found, items)
            for leaf, slot, x in zip(results, slots, rows, strict=True):
                self.keep(leaf.dtype, x, slot)
            t.loop("0", t.lesser(str(many), t.index("sub", high, i)), 1, partial(one, i))
            return t.index("add", i, many)

        def one(i: str, n: str) -> None:
            for leaf, slot in zip(results, slots, strict=True):
                row = self.kept(leaf.dtype, self.accumulator(leaf.dtype, slot, n, width), width)
                self.keep(leaf.dtype, row, self.address[leaf.name])
            self.taken.append(columns)
            here = Lanes(t.index("add", i, n), INDEX_TYPE)
            run([*stmt.body[:-1], *columns.body[len(strips) :]], known | {stmt.axis: here})
            self.taken.pop()

        t.repeat(low, high, some)

    def _fold_of(self, strip: Strip, found: Known, items: Items) -> Row:
        """The fold of a strip in lanes, and how what comes after reads it."""
        node, loop = strip.few, strip.body[-1]
        assert node is not None and isinstance(loop, Vector), "what is taken together is a vector loop"
        splats, self.splats = self.splats, {}
        extent = self.value(node.extent, found, None).name

        def row(k: str) -> tuple[Lanes, list[Known]]:
            here = Lanes(k, INDEX_TYPE)
            return here, [{node.axis: here}] * len(items.each)

        group, element = self.rows_abreast(node, loop, found, items, row)
        where = Where(loop.axis, "0", items.width * len(items.each))
        sums = self.by_groups(node, where, "0", extent, group, element)
        for store, x in zip(loop.stores, sums, strict=True):
            found[load(store.leaf, store.offset)] = x
        self.splats = splats
        return sums
