"""Rows of few columns beside each other in one vector: as many blocks of rows are folded at once, each in its lanes.

Blocks do not depend on each other until they are paired, so that their rows may be taken abreast. Where rows lie side by side in memory
the rows of a group come with one load, and are turned into vectors of one row of each block.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..dtypes import INDEX
from ..ir import Axis, Const, Fold, Load, Op, Value
from ..nest import Vector
from ..reducers import Order, halved
from ..rewrite import affine
from ..vectors import by_lanes, computed
from .llvm_fold import Row
from .llvm_memory import Items, Known, Where, first_lanes
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_turned import Turned

MOST_ITEMS = 16  # blocks at once


class Beside(Turned):
    """Emits folds of several blocks of rows at once."""

    def shape_beside(self, loop: Vector) -> tuple[int, int]:
        """Lanes of a row, a power of two, and how many rows a vector has."""
        width = 1 << (self.nest.kernel.few - 1).bit_length()
        return width, min(MOST_ITEMS, loop.lanes // width)

    def fits_beside(self, node: Fold, loop: Vector) -> bool:
        """Whether rows of the kernel's few columns can be taken so."""
        if not self.nest.kernel.few or not loop.masked or self.shape_beside(loop)[1] < 2:
            return False
        nodes = list(computed(node.bodies, loop.axis))
        loads = [x for x in nodes if isinstance(x, Load)]
        if any(isinstance(x, Fold) and {loop.axis, node.axis} & x.free for x in nodes):
            return False
        return by_lanes(nodes, loads, node.axis) and all(_plain(x, loop.axis) for x in loads)

    def abreast_blocks(self, node: Fold, order: Order, loop: Vector, known: Known, low: str, start: str) -> Row:
        """As many whole blocks as a vector has rows, from `start` on, paired."""
        t, combine = self.text, partial(self.combine, node)
        width, many = self.shape_beside(loop)
        columns, count = self.nest.kernel.few, width * many
        firsts = [t.index("add", start, n * order.block) for n in range(many)]
        origin: Known = {**known, loop.axis: Lanes(low, INDEX_TYPE)}
        column = self._counted(low, [c for _ in range(many) for c in range(width)])
        inside: Known = {**known, loop.axis: column}
        self._compute_outside(
            node, inside, Where(loop.axis, low, count, items=Items(node.axis, width, columns, (origin,) * many))
        )
        packed = self._packed(node, loop, many)

        def group(k: str) -> list[Row]:
            places = [
                self._places_of(node, origin, firsts, t.index("add", k, n), (width, columns))
                for n in range(order.lanes)
            ]
            found = {x: self._group_of(x, loop.axis, places[0], order.lanes) for x in packed}
            rows = []
            for n, items in enumerate(places):
                at = t.index("add", start, t.index("add", k, n))
                row = self._counted(at, [b * order.block for b in range(many) for _ in range(width)])
                own: Known = {**inside, node.axis: row, **{x: each[n] for x, each in found.items()}}
                where = Where(loop.axis, low, count, items=items)
                rows.append([self.widened(self.value(body, own, where), count) for body in node.bodies])
            return rows

        def step(k: str, sums: list[Row]) -> list[Row]:
            return [combine(sums[0], halved(group(k), combine))]

        (sums,) = self._carry("0", str(order.block), order.lanes, [self._identity([node], count)], step)
        while sums[0].count > width:
            even, odd = ([self._every_other(x, width, half) for x in sums] for half in (0, 1))
            sums = combine(even, odd)
        return sums

    def _counted(self, at: str, steps: Sequence[int]) -> Lanes:
        base = self.splat(Lanes(at, INDEX_TYPE), len(steps))
        listed = ", ".join(f"{INDEX_TYPE} {n}" for n in steps)
        return self.text.let(f"add {base}, <{listed}>", INDEX_TYPE, len(steps))

    def _every_other(self, x: Lanes, width: int, first: int) -> Lanes:
        return self._shuffled(x, x, [at + n for at in range(first * width, x.count, 2 * width) for n in range(width)])

    def _places_of(self, node: Fold, known: Known, firsts: Sequence[str], k: str, shape: tuple[int, int]) -> Items:
        """Row k of each block."""
        each = ({**known, node.axis: Lanes(self.text.index("add", first, k), INDEX_TYPE)} for first in firsts)
        return Items(node.axis, *shape, tuple(each))

    def _packed(self, node: Fold, loop: Vector, many: int) -> list[Load]:
        """The loads whose rows lie side by side, known when this is compiled; none where there are fewer rows than a group has."""
        assert node.order is not None, "a scheduled fold has an order"
        loads = [x for x in computed(node.bodies, loop.axis) if isinstance(x, Load) and loop.axis in x.offset.free]
        steps = {x: affine(x.offset, node.axis) for x in loads if many >= node.order.lanes}
        rows = {x: form[0].value for x, form in steps.items() if form and isinstance(form[0], Const)}
        return [x for x, step in rows.items() if step == self.nest.kernel.few]

    def _group_of(self, load: Load, axis: Axis, items: Items, rows: int) -> list[Lanes]:
        """The next `rows` of each item, one vector for each, from one load an item."""
        found = [self._one_item(load, axis, items, n, rows) for n in range(len(items.each))]
        if items.columns < items.width:
            spread = [
                min(r * items.columns + c, rows * items.columns - 1) for r in range(rows) for c in range(items.width)
            ]
            found = [self._shuffled(x, x, spread) for x in found]
        return self._turned(found, rows, items.width)

    def items_load(self, node: Load, axis: Axis, items: Items) -> Lanes:
        """What a load reads for each item, side by side; the same for all, if it does not depend on the row."""
        if items.row in node.offset.free:
            return self._joined([self._one_item(node, axis, items, n) for n in range(len(items.each))])
        one = self._one_item(node, axis, items, 0)
        return self._shuffled(one, one, list(range(items.width)) * len(items.each))

    def _one_item(self, node: Load, axis: Axis, items: Items, n: int, rows: int = 1) -> Lanes:
        """What a load reads for an item: `rows` of them, that lie side by side."""
        offset, dtype = self.value(node.offset, items.each[n], None).name, node.leaf.dtype
        at = self._at(node, offset, None)
        if axis not in node.offset.free:
            one = self.text.let(f"load {dtype.memory}, {at}", dtype.memory)
            return self.splat(self.in_register(one, dtype), items.width)
        mask = first_lanes(rows * items.columns, rows * items.width)
        return self._wide_load(at, dtype, self._whole(node.leaf, Where(axis, "0", rows * items.width, mask)))

    def _compute_outside(self, node: Fold, known: Known, where: Where) -> None:
        """What the body needs in every lane, but not of its own axis: before the loop, not in it."""
        stack, seen = list(node.bodies), set[Value]()
        while stack:
            part = stack.pop()
            if part in seen or where.axis not in part.free:
                continue
            seen.add(part)
            if node.axis in part.free:
                stack.extend(reversed(part.children))
            elif isinstance(part, Fold | Load) or (isinstance(part, Op) and part.dtype is not INDEX):
                self.value(part, known, where)


def _plain(x: Load, axis: Axis) -> bool:
    """Whether a load reads columns that lie side by side, or one number for a row."""
    form = affine(x.offset, axis)
    side_by_side = form is not None and isinstance(form[0], Const) and form[0].value in (0, 1)
    return side_by_side and x.when is None and not x.leaf.pairs
