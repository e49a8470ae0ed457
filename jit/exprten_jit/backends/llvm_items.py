"""Lanes of several rows of few columns: which rows a vector holds, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dtypes import INDEX
from ..ir import Axis, Const, Fold, Load, Op, Value
from ..nest import Vector
from ..pairs import twins
from ..reducers import is_known, reducer_of
from ..rewrite import affine
from ..vectors import by_lanes, computed
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_turned import Turned
from .llvm_where import Items, Known, Where, first_lanes

MOST_ITEMS = 16  # rows at once
MOST_VECTORS = 4  # that hold a row
MOST_QUICK = 8  # where one comparison an element does, for which accumulators in memory have no rule


class InItems(Turned):
    """Emits what reads several rows at once."""

    @property
    def row_lanes(self) -> int:
        """Lanes of a row: a power of two."""
        return 1 << (self.nest.kernel.few - 1).bit_length()

    def rows_of(self, loop: Vector) -> int:
        """How many rows a vector has."""
        return max(1, min(MOST_ITEMS, loop.lanes // self.row_lanes))

    def fits_beside(self, node: Fold, loop: Vector, row: Axis) -> bool:
        """Whether rows of the kernel's few columns can be taken so, at several indices of `row`."""
        quick = bool(reducer_of(node.reducer).quick) and node.dtype.kind == "f"
        most = MOST_QUICK if quick else MOST_VECTORS
        if not self.nest.kernel.few or not loop.masked or self.row_lanes > most * loop.lanes:
            return False
        return self.in_lanes(node.bodies, loop, row, node.axis)

    def in_lanes(self, bodies: Sequence[Value], loop: Vector, *rows: Axis) -> bool:
        """Whether `bodies` can be computed for several rows at once."""
        nodes = list(computed(bodies, loop.axis))
        loads = [x for x in nodes if isinstance(x, Load)]
        if any(isinstance(x, Fold) and {loop.axis, *rows} & x.free for x in nodes):
            return False
        return by_lanes(nodes, loads, rows[0]) and all(_plain(x, loop.axis) for x in loads)

    @property
    def row_some(self) -> int:
        """Of the lanes of a row, how many exist: all that are in parts."""
        few = self.nest.kernel.few
        return few if is_known(few) else self.row_lanes

    def row_parts(self, columns: str, loop: Vector) -> tuple[str, ...]:
        """The columns with which the parts of a row begin, where their number is not known: more than half of its lanes, so that the last
        part may end with the last column, and no load needs a mask (1.3 to 1.5 times as fast where it lies across lines).
        """
        few, width = self.nest.kernel.few, min(loop.lanes, self.row_lanes // 2)
        if is_known(few):
            return ()
        t, last = self.text, self.text.index("sub", columns, width)
        firsts = range(0, self.row_lanes - width, width)
        return (*(str(n) if n + width <= self.row_lanes // 2 else t.lesser(str(n), last) for n in firsts), last)

    def lanes_of(self, loop: Vector, known: Known, items: Items) -> tuple[Known, Where]:
        """The columns of all items, each of which knows what is known here."""
        low = self.value(loop.low, known, None).name
        each = ({**known, **own, loop.axis: Lanes(low, INDEX_TYPE)} for own in items.each)
        if items.parts:
            column = self._joined([self.columns_of(low, items.parts, items.width)] * len(items.each))
        else:
            column = self._counted(low, [*(items.spread or range(items.width))] * len(items.each))
        where = Where(loop.axis, low, items.width * len(items.each), items=replace(items, each=tuple(each)))
        return {**known, loop.axis: column}, where

    def _counted(self, at: str, steps: Sequence[int]) -> Lanes:
        base = self.splat(Lanes(at, INDEX_TYPE), len(steps))
        listed = ", ".join(f"{INDEX_TYPE} {n}" for n in steps)
        return self.text.let(f"add {base}, <{listed}>", INDEX_TYPE, len(steps))

    def _packed(self, node: Fold, axis: Axis) -> list[Load]:
        """The loads whose rows lie side by side, as is known when this is compiled."""
        few = self.nest.kernel.few
        loads = [x for x in computed(node.bodies, axis) if isinstance(x, Load) and axis in x.offset.free]
        loads = [x for x in loads if not x.leaf.pairs]
        steps = {x: affine(x.offset, node.axis) for x in loads if is_known(few)}
        rows = {x: form[0].value for x, form in steps.items() if form and isinstance(form[0], Const)}
        return [x for x, step in rows.items() if abs(step) == few]

    def _rises(self, load: Load, rows: Axis) -> bool:
        """Whether each of these packed rows lies before the one that comes first."""
        form = affine(load.offset, rows)
        return form is not None and isinstance(form[0], Const) and form[0].value < 0

    def _group_of(self, load: Load, axis: Axis, items: Items, rows: int, down: Axis) -> list[Lanes]:
        """The next `rows` of each item, one vector for each, from one load an item."""
        columns, width = self.nest.kernel.few, items.width
        group = replace(items, width=rows * width, some=rows * columns, down=down)
        found = [self._one_item(load, axis, known, group) for known in items.each]
        if columns < width:
            spread = [min(r * columns + c, rows * columns - 1) for r in range(rows) for c in range(width)]
            found = [self._shuffled(x, x, spread) for x in found]
        square = len(found) == rows and columns == width
        return self._square(found, load.leaf.dtype.itemsize, width) if square else self._turned(found, rows, width)

    def _reads_over(self, items: Items, rows: int) -> bool:
        """Whether each row of a group is loaded in all lanes that it has, some of which it does not fill: in parts of it a load takes several instructions."""
        few = self.nest.kernel.few
        return self.machine.small and is_known(few) and few < items.width <= rows * few

    def _rows_over(self, load: Load, axis: Axis, items: Items, rows: int, down: Axis) -> list[Lanes]:
        """The next `rows` of each item, one vector for each, in whose last lanes is what lies behind a row; what is loaded ends with the group, which may
        be the end of memory.
        """
        columns, width, found = self.nest.kernel.few, items.width, list[Lanes]()
        whole, rises = replace(items, some=width), self._rises(load, down)
        for r in range(rows):
            back = max(0, width - (r + 1 if rises else rows - r) * columns)
            each = list[Lanes]()
            for known in items.each:
                first = self.text.index("add", known[axis].name, (-r if rises else r) * columns - back)
                x = self._one_item(load, axis, {**known, axis: Lanes(first, INDEX_TYPE)}, whole)
                each.append(self._shuffled(x, x, [min(c + back, width - 1) for c in range(width)]) if back else x)
            found.append(self._joined(each))
        return found

    def _further_on(self, numbers: Lanes, by: int) -> Lanes:
        """Integers that are so much greater."""
        more = self.splat(Lanes(str(by), numbers.lane), numbers.count)
        return self.text.let(f"add {numbers}, {more.name}", numbers.lane, numbers.count)

    def items_load(self, node: Load, axis: Axis, items: Items) -> Lanes:
        """What a load reads for each item, side by side; the same for all, if it does not depend on the row."""
        of_each = items.each if items.row in node.offset.free else items.each[:1]
        if items.spread and items.down not in node.offset.free:  # one row for all that an item has
            row = replace(items, width=self.row_lanes, some=self.nest.kernel.few)
            rows = [self._one_item(node, axis, x, row) for x in of_each]
            spread = [self._shuffled(x, x, items.spread) for x in rows]
            return self._joined(spread if len(spread) > 1 else spread * len(items.each))
        if items.row in node.offset.free:
            return self._joined([self._one_item(node, axis, x, items) for x in items.each])
        one = self._one_item(node, axis, items.each[0], items)
        return self._shuffled(one, one, list(range(items.width)) * len(items.each))

    def _one_item(self, node: Load, axis: Axis, known: Known, items: Items) -> Lanes:
        """What a load reads for an item."""
        offset, few = self.value(node.offset, known, None).name, self.nest.kernel.few
        if not items.down or items.some <= few or not self._rises(node, items.down):
            return self._one_item_at(offset, node, axis, known, items)
        x = self._one_item_at(self.text.index("sub", offset, items.some - few), node, axis, known, items)
        rows = range(items.some - few, -1, -few)  # the last one lies first
        return self._shuffled(x, x, [*(row + c for row in rows for c in range(few)), *range(items.some, items.width)])

    def _one_item_at(self, offset: str, node: Load, axis: Axis, known: Known, items: Items) -> Lanes:
        at, dtype = self._at(node, offset, None), node.leaf.dtype
        if axis not in node.offset.free:
            one = self.text.let(f"load {dtype.memory}, {at}", dtype.memory)
            return self.splat(self.in_register(one, dtype), items.width)
        where = Where(axis, "0", items.width, first_lanes(items.some, items.width), parts=items.parts)
        if not node.leaf.pairs:
            return self._wide_load(at, dtype, self._whole(node.leaf, where))
        even, _ = twins(node)
        at = self._at(node, self.value(even.offset, known, None).name, None)
        both = self._wide_load(at, dtype, self._twice(where))
        return self._shuffled(both, both, range(0 if node is even else 1, both.count, 2))

    def _compute_outside(self, node: Fold, known: Known, where: Where) -> None:
        """What the body needs in every lane, but not of its own axis, nor of a fold's within it: before the loop, not in it."""
        stack, seen = list(node.bodies), set[Value]()
        while stack:
            part = stack.pop()
            if part in seen or where.axis not in part.free:
                continue
            seen.add(part)
            if not part.free - {where.axis} <= known.keys() - {node.axis}:
                stack.extend(reversed(part.children))
            elif isinstance(part, Fold | Load) or (isinstance(part, Op) and part.dtype is not INDEX):
                self.value(part, known, where)


def _plain(x: Load, axis: Axis) -> bool:
    """Whether a load reads columns that lie side by side, or one number for a row."""
    form = affine(x.offset, axis)
    side_by_side = form is not None and isinstance(form[0], Const) and form[0].value in (0, 1 + x.leaf.pairs)
    return side_by_side and x.when is None
