"""Lanes of several rows of few columns: which rows a vector holds, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dtypes import INDEX
from ..ir import Axis, Const, Fold, Load, Op, Value
from ..nest import Vector
from ..pairs import twins
from ..reducers import FEW, fewest, is_gap, is_known, reducer_of, rounded_up
from ..rewrite import affine
from ..vectors import by_lanes, computed
from .llvm_extremes import is_position
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_turned import Turned
from .llvm_where import Items, Known, Part, Where, first_lanes

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

    def row_some(self, parts: Sequence[Part] = ()) -> int:
        """Of the lanes of a row, how many exist: all that are in parts."""
        few = self.nest.kernel.few
        return few if is_known(few) and not parts else self.row_lanes

    def row_parts(self, columns: str, loop: Vector, folds: Sequence[Fold]) -> tuple[Part, ...]:
        """The parts of a row of which the number of columns is not known, or is one of which no register holds two: the last one ends with the last column, so that no load needs a mask (1.3 to 1.5 times as
        fast where it lies across lines), and has no more lanes than are left for it, again and again: what is shorter lies across fewer lines (1.3).
        """
        few, width = self.nest.kernel.few, min(loop.lanes, self.row_lanes // 2)
        if is_known(few) and (few <= FEW or few == self.row_lanes or self._several_rows(folds)):
            return ()
        t, firsts = self.text, range(0, few - width, width)
        left = min(width, max(2, rounded_up(few - len(firsts) * width)))
        last = Part(t.index("sub", columns, left), left, width // left)
        end = t.index("sub", columns, width) if firsts and firsts[-1] + width > fewest(few) else ""
        begin = (t.lesser(str(n), end) if n + width > fewest(few) else str(n) for n in firsts)
        return (*(Part(n, width) for n in begin), *[last] * (self.row_lanes // width - len(firsts)))

    def _several_rows(self, folds: Sequence[Fold]) -> bool:
        """Whether a register holds several rows of what some folds read, or they are taken as they lie, where one stands in each lane of a column."""
        bits = min(x.dtype.computed.bits for fold in folds for x in fold.bodies)
        return any(map(is_position, folds)) or 2 * self.row_lanes * bits <= self.machine.vector_bits

    def lanes_of(self, loop: Vector, known: Known, items: Items) -> tuple[Known, Where]:
        """The columns of all items, each of which knows what is known here."""
        low = self.value(loop.low, known, None).name
        each = ({**known, **own, loop.axis: Lanes(low, INDEX_TYPE)} for own in items.each)
        if items.parts:
            column = self._joined([self.columns_of(low, items.parts)] * len(items.each))
        else:
            column = self._counted(low, [*(items.spread or range(items.width))] * len(items.each))
        where = Where(loop.axis, low, items.width * len(items.each), items=replace(items, each=tuple(each)))
        return {**known, loop.axis: column}, where

    def _counted(self, at: str, steps: Sequence[int]) -> Lanes:
        base = self.splat(Lanes(at, INDEX_TYPE), len(steps))
        listed = ", ".join(f"{INDEX_TYPE} {n}" for n in steps)
        return self.text.let(f"add {base}, <{listed}>", INDEX_TYPE, len(steps))

    def _packed(self, node: Fold, axis: Axis) -> list[Load]:
        """The loads whose rows lie side by side, or with gaps that are known, as is known when this is compiled."""
        pitch = self.pitch_of(node, axis)
        return [x for x, step in self._row_steps(node, axis).items() if abs(step) == pitch]

    def pitch_of(self, node: Fold, axis: Axis) -> int:
        """How many elements further the next row lies: the kernel's columns, or more where all that is read has the same gaps, which vectors of rows hold."""
        few, steps = self.nest.kernel.few, {*self._row_steps(node, axis).values()}
        (step,) = steps if len(steps) == 1 else [few]
        return step if is_gap(few, step) and step <= self.row_lanes else few

    def _row_steps(self, node: Fold, axis: Axis) -> dict[Load, int]:
        """The loads of rows of which it is known how far the next one is."""
        loads = [x for x in computed(node.bodies, axis) if isinstance(x, Load) and axis in x.offset.free]
        known = is_known(self.nest.kernel.few)
        forms = {x: affine(x.offset, node.axis) for x in loads if known and not x.leaf.pairs}
        return {x: int(form[0].value) for x, form in forms.items() if form and isinstance(form[0], Const)}

    def _row_step(self, load: Load, rows: Axis) -> int:
        """How far the next of these packed rows is."""
        form = affine(load.offset, rows)
        assert form is not None and isinstance(form[0], Const), "packed rows lie at a known distance"
        return int(form[0].value)

    def _rises(self, load: Load, rows: Axis) -> bool:
        """Whether each of these packed rows lies before the one that comes first."""
        form = affine(load.offset, rows)
        return form is not None and isinstance(form[0], Const) and form[0].value < 0

    def _group_of(self, load: Load, axis: Axis, items: Items, rows: int, down: Axis) -> list[Lanes]:
        """The next `rows` of each item, one vector for each, from one load an item."""
        few, columns, width = self.nest.kernel.few, abs(self._row_step(load, down)), items.width
        group = replace(items, width=rows * width, some=(rows - 1) * columns + few, down=down)
        found = [self._one_item(load, axis, known, group) for known in items.each]
        if columns < width:
            spread = [min(r * columns + c, rows * columns - 1) for r in range(rows) for c in range(width)]
            found = [self._shuffled(x, x, spread) for x in found]
        square = len(found) == rows and columns == width
        return self._square(found, load.leaf.dtype.itemsize, width) if square else self._turned(found, rows, width)

    def _reads_over(self, items: Items, rows: int, pitch: int) -> bool:
        """Whether each row of a group is loaded in all lanes that it has, some of which it does not fill: in parts of it a load takes several instructions."""
        few = self.nest.kernel.few
        fit = few == pitch and few < items.width <= rows * few
        return self.machine.small and is_known(few) and fit and not items.parts

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
        if items.first and items.down in node.offset.free:
            offset = self.text.index("add", offset, items.first)
        if not items.down or items.some <= few or not self._rises(node, items.down):
            return self._one_item_at(offset, node, axis, known, items)
        x = self._one_item_at(self.text.index("sub", offset, items.some - few), node, axis, known, items)
        if items.turned:
            return x
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
