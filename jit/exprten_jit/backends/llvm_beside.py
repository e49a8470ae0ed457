"""Rows of few columns beside each other in one vector: several folds at once, each in its lanes.

Blocks of rows do not depend on each other until they are paired, and the folds of an outer axis never do, so that their rows may be
taken abreast. Where rows lie side by side in memory those of a group come with one load, and are turned into vectors of one row of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeGuard

from ..early import AHEAD_BYTES, SOON_BYTES, begins_behind
from ..extremes import COMPARED
from ..ir import Axis, Fold, Load, Op, Value
from ..nest import FIRST, Vector
from ..reducers import halved, in_order, reducer_of
from ..rewrite import affine, steps
from ..vectors import DEAR, FAR_BYTES, computed, cost_of
from .llvm_accumulators import Row
from .llvm_items import InItems
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known, Where

Rows = tuple[Callable[[str], list[Row]], Callable[[str], Row]]  # the rows of a group from index k on; row k
Fetch = Callable[[str, int], None]  # of so many rows from index k on


@dataclass(frozen=True)
class Lying:
    """All rows of some items, `rows` of each in a vector as they lie: how many there are, what gives one of each, and what fetches them."""

    items: Items
    rows: int
    extent: str
    row: Callable[[str], Row]
    fetch: Fetch


class Groups(NamedTuple):
    """Whole groups of rows from `low` to `high`, and one that ends with the last row before `end`, if that is beyond them."""

    low: str
    high: str
    end: str = ""


class Beside(InItems):
    """Emits several folds at once."""

    def abreast_blocks(self, node: Fold, loop: Vector, known: Known, start: str, items: Items) -> Row:
        """As many whole blocks as a vector has rows, from `start` on, paired."""
        assert node.order is not None, "a scheduled fold has an order"
        t, order, many, width = self.text, node.order, len(items.each), items.width
        if (lying := self.rows_in_any_order(node, loop, width)) > 1:
            return self._in_any_order(node, loop, known, start, replace(items, each=items.each[:1]), lying, many)
        firsts = [t.index("add", start, n * order.block) for n in range(many)]

        def row(k: str) -> tuple[Lanes, list[Known]]:
            lanes = self._counted(
                t.index("add", start, k), [n * order.block for n in range(many) for _ in range(width)]
            )
            return lanes, [{node.axis: Lanes(t.index("add", first, k), INDEX_TYPE)} for first in firsts]

        group, row_of = self.rows_abreast(node, loop, known, items, row)
        behind = many * order.block

        def following(k: str) -> list[Known]:
            return [
                {node.axis: Lanes(t.index("add", first, t.index("add", k, behind)), INDEX_TYPE)} for first in firsts
            ]

        at, rows = Where(loop.axis, self.value(loop.low, known, None).name, width), self.value(node.extent, known, None)
        group, _ = self.fetching(node, self.fetches(node, at, known, rows.name, following), (group, row_of))
        sums = self.in_groups(node, Groups("0", str(order.block)), width * many, group, items.mask)
        while sums[0].count > width:
            even, odd = ([self._every_other(x, width, half) for x in sums] for half in (0, 1))
            sums = self.combine(node, even, odd)
        return sums

    def rows_in_any_order(self, node: Fold, loop: Vector, width: int) -> int:
        """How many rows that lie side by side a vector holds, of what has the same result in any order: of integers, and of floats where few
        instructions make an extreme of two; 0 where it is none of these.
        """
        few = node.dtype.kind != "f" or (self.machine.ranges and not node.dtype.wide)
        exact = reducer_of(node.reducer).exact(node.dtype) and few
        return loop.lanes // width if exact and self.rows_lie(node, loop.axis) else 0

    def all_rise(self, node: Fold, loop: Vector) -> bool:
        """Whether all that is read of rows lies from the last to the first: where any order does, they stay as they lie."""
        return all(self._rises(x, node.axis) for x in self._packed(node, loop.axis))

    def rows_lie(self, node: Fold, axis: Axis) -> bool:
        """Whether all that a fold reads of rows lies side by side, and they are taken so."""
        return self._lie(node, axis, self._packed(node, axis))

    def _in_any_order(
        self, node: Fold, loop: Vector, known: Known, start: str, items: Items, rows: int, many: int
    ) -> Row:
        """So many blocks, `rows` rows in a vector as they lie."""
        assert node.order is not None, "a scheduled fold has an order"
        t, join = self.text, partial(self.join, node)
        _, at = self._lying(node, loop, known, items, rows, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}])
        steps = min(node.order.lanes, node.order.block // rows)

        def step(k: str, sums: list[Row]) -> list[Row]:
            return [join(x, at(t.index("add", start, t.index("add", k, n * rows)))) for n, x in enumerate(sums)]

        nothing = [self._identity([node], rows * items.width) for _ in range(steps)]
        x = in_order(self._carry("0", str(many * node.order.block), steps * rows, nothing, step), join)
        return self._rows_joined(items, x, rows, self.pitch_of(node, loop.axis), join)

    def all_in_any_order(self, node: Fold, loop: Vector, known: Known, of: Lying) -> Row:
        """All rows of each item, some in a vector as they lie, the last ones one by one. Of floats one comparison an element is tried first."""
        t, join, items, rows = self.text, partial(self.join, node), of.items, of.rows
        many = len(items.each)
        _, at = self._lying(
            node,
            loop,
            known,
            items,
            rows,
            lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}] * many,
            self.all_rise(node, loop),
        )
        whole = t.index("and", of.extent, -rows)
        nothing = self._identity([node], rows * items.width * many)

        def step(k: str, sums: list[Row]) -> list[Row]:
            of.fetch(k, rows)
            return [join(sums[0], at(k))]

        def all_rows(*_: object) -> Row:
            (x,) = self._carry("0", whole, rows, [nothing], step)
            return self._rows_joined(items, x, rows, self.pitch_of(node, loop.axis), join)

        if node.dtype.kind == "f" and reducer_of(node.reducer).quick:
            sums, bad = self._quick_rows(node, of, whole, self.pitch_of(node, loop.axis), nothing, at)
            sums = t.perhaps(bad.name, sums, all_rows)
        else:
            sums = all_rows()
        return self._carry(whole, of.extent, 1, [sums], lambda k, sums: [join(sums[0], of.row(k))])[0]

    def _quick_rows(
        self, node: Fold, of: Lying, whole: str, pitch: int, nothing: Row, at: Callable[[str], Row]
    ) -> tuple[Row, Lanes]:
        """The same of whole vectors, with one comparison an element, and whether that was not enough."""
        t, join, (first,) = self.text, partial(self._quick, node), nothing
        halves = 2 if first.count * node.dtype.bits > self.machine.vector_bits else 1

        def step(k: str, carried: list[Row]) -> list[Row]:
            of.fetch(k, of.rows)
            sums, (unordered,) = carried
            (x,) = row = at(k)
            parts = [self._half(x, n, x.count // halves) for n in range(0, x.count, x.count // halves)]
            some = t.let(f"fcmp uno {parts[0]}, {parts[-1].name}", "i1", parts[0].count)
            some = self.noted(some, x)
            return [join(sums, row), [t.let(f"or {unordered}, {some.name}", some.lane, some.count)]]

        none = self.noted(self.widened(Lanes("false", "i1"), first.count // halves), first)
        x, (unordered,) = self._carry("0", whole, of.rows, [nothing, [none]], step)
        sums = self._rows_joined(of.items, x, of.rows, pitch, join)
        zero = t.let(
            f"fcmp oeq {sums[0]}, {self.splat(Lanes('0.0', sums[0].lane), sums[0].count).name}", "i1", sums[0].count
        )
        if of.items.mask:
            zero = t.let(f"and {zero}, {of.items.mask}", "i1", zero.count)
        return sums, t.let(f"or {self._met('or', unordered)}, {self._met('or', zero).name}", "i1")

    def _lying(
        self,
        node: Fold,
        loop: Vector,
        known: Known,
        items: Items,
        rows: int,
        row: Callable[[str], Sequence[Known]],
        turned: bool = False,
    ) -> tuple[Where, Callable[[str], Row]]:
        """The lanes of so many rows of each item as they lie, and what gives them from index k on; `row` tells where that is in each."""
        width, few, pitch = rows * items.width, self.nest.kernel.few, self.pitch_of(node, loop.axis)
        spread = tuple(min(c % pitch, few - 1) for c in range(width))
        lying = Items(items.row, width, (rows - 1) * pitch + few, items.each, spread, down=node.axis, turned=turned)
        inside, begin = self.lanes_of(loop, {**known, **self._spread(known, items, spread)}, lying)
        lanes = begin.items
        assert lanes is not None, "lanes of items"
        self._compute_outside(node, inside, begin)

        def at(k: str) -> Row:
            here = tuple({**origin, **own} for origin, own in zip(lanes.each, row(k), strict=True))
            found, where = dict(inside), replace(begin, items=replace(lanes, each=here))
            return [self.widened(self.value(x, found, where), where.count) for x in node.bodies]

        return begin, at

    def _spread(self, known: Known, items: Items, spread: Sequence[int]) -> Known:
        """What is known in lanes of items, for each column of several rows of them."""
        many = len(items.each)
        lanes = [n * items.width + c for n in range(many) for c in spread]
        return {v: self._shuffled(x, x, lanes) for v, x in known.items() if x.count == items.width * many > 1}

    def _rows_joined(self, items: Items, x: Row, rows: int, pitch: int, join: Callable[[Row, Row], Row]) -> Row:
        """One row of each item, of so many as they lie."""
        while rows > 1:
            x, rows = join(*self._row_halves(x, len(items.each), rows, pitch)), rows // 2
        return x

    def _row_halves(self, x: Row, many: int, rows: int, pitch: int) -> tuple[Row, Row]:
        """Of so many rows of each item, as they lie, the first and the second half."""
        size, half = x[0].count // many, rows // 2 * pitch
        lanes = [n * size + min(c, half - 1) for n in range(many) for c in range(size // 2)]
        first, second = ([self._shuffled(v, v, [k * half + c for c in lanes]) for v in x] for k in (0, 1))
        return first, second

    def fetching(self, node: Fold, fetch: Fetch, of: Rows) -> Rows:
        """What gives rows, and fetches early what is read later."""
        assert node.order is not None, "a scheduled fold has an order"
        lanes, (group, row) = node.order.lanes, of

        def fetched_group(k: str) -> list[Row]:
            fetch(k, lanes)
            return group(k)

        def fetched_row(k: str) -> Row:
            fetch(k, 1)
            return row(k)

        return fetched_group, fetched_row

    def fetches(
        self,
        node: Fold,
        at: Where,
        known: Known,
        rows: str,
        following: Callable[[str], list[Known]],
        further: int = 0,
    ) -> Fetch:
        """What fetches what is read later than some rows from row k on, of `rows` rows in memory: what lies so many bytes further than these of each
        item that `following` gives. Of items of a few pages the processor would see the beginning only when it is needed, and of loads
        with masks nothing. A constant distance takes no register, of which a loop of few columns has none to spare.
        """
        t, few = self.text, self.nest.kernel.few
        packed = [x for x in self._packed(node, at.axis) if x.leaf.name in self.given]
        loads = packed or [x for x in computed(node.bodies, at.axis) if self._in_rows(x, node, at.axis)]
        cached = self.nest.kernel.cached
        if not few or not loads or (cached and not self.machine.waits):
            return nothing_fetched
        pitch = self.pitch_of(node, at.axis) if packed else few
        nbytes = pitch * loads[0].leaf.dtype.itemsize  # of a row
        far = "false" if cached else self._far(node, loads, at.axis, rows, known)
        for x in loads if further and not cached else ():
            form = affine(x.offset, node.axis)
            assert form is not None, "what is fetched lies at regular distances"
            near = t.let(f"icmp sle {self.value(form[0], dict(known), None)}, {2 * few}", "i1").name
            far = t.let(f"and i1 {far}, {near}", "i1").name
        low = Lanes(at.at, INDEX_TYPE)

        def side_by_side(k: str, count: int) -> None:
            for own in following(k):
                self.fetch_from(loads, {**known, at.axis: low, **own}, count * nbytes, further)

        def one_by_one(k: str, count: int) -> None:
            for n in range(count):
                side_by_side(t.index("add", k, n), 1)

        def soon(k: str, count: int) -> None:
            for own in following(k):
                self.fetch_from(loads, {**known, at.axis: low, **own}, count * nbytes, SOON_BYTES, FIRST)

        if cached:
            return soon
        some = side_by_side if packed else one_by_one
        if self.machine.waits:
            return lambda k, count: t.either(far, lambda: some(k, count), lambda: soon(k, count))
        return lambda k, count: t.when(far, lambda: some(k, count))

    def _far(self, node: Fold, loads: Sequence[Load], at: Axis, rows: str, known: Known) -> str:
        """Whether much is folded, and what lies some pages behind a row is read later: there are so many `rows`, or behind the last one the next outer index
        begins.
        """
        t, kernel, size = self.text, self.nest.kernel, max(x.leaf.itemsize for x in loads)
        much = self.value(kernel.far(kernel.folded(node.extent), FAR_BYTES // size), dict(known), None).name
        on = t.let(f"icmp sge i64 {rows}, {AHEAD_BYTES // (kernel.few * size)}", "i1").name
        outer = [a for a, _ in kernel.axes if a is not at and all(a in x.offset.free for x in loads)]
        if outer:
            begins = self.value(begins_behind(loads, outer[-1], node), dict(known), None).name
            on = t.let(f"or i1 {on}, {begins}", "i1").name
        return t.let(f"and i1 {much}, {on}", "i1").name

    def _in_rows(self, x: Value, node: Fold, axis: Axis) -> TypeGuard[Load]:
        """Whether a value is read from each row of a tensor, side by side."""
        if not isinstance(x, Load) or x.when is not None or x.leaf.name not in self.given:
            return False
        return node.axis in x.offset.free and affine(x.offset, node.axis) is not None and steps(x, axis) == 1

    def in_groups(
        self, node: Fold, groups: Groups, count: int, group: Callable[[str], list[Row]], mask: str | None
    ) -> Row:
        """Groups of rows, one after the other; `mask` names the lanes that exist."""

        def step(k: str, sums: list[Row]) -> list[Row]:
            return [self.with_group(node, sums[0], group(k))]

        def all_groups() -> Row:
            return self._each_group(node, groups, [self._identity([node], count)], step)[0]

        quick = bool(reducer_of(node.reducer).quick) or node.reducer in COMPARED
        if not quick or node.dtypes[0].kind != "f" or sum(map(cost_of, node.bodies)) >= DEAR:
            return all_groups()
        sums, bad = self._quick_groups(node, groups, count, group, mask)
        return self.text.perhaps(bad.name, sums, lambda _: all_groups())

    def _each_group(
        self, node: Fold, groups: Groups, initial: list[Row], step: Callable[[str, list[Row]], list[Row]]
    ) -> list[Row]:
        assert node.order is not None, "a scheduled fold has an order"
        lanes, (low, high, end) = node.order.lanes, groups
        found = self._carry(low, high, lanes, initial, step)
        if not end:
            return found
        last = self.text.index("sub", end, lanes)
        return self._perhaps(high, end, found, lambda _, rows: step(last, rows))

    def _quick_groups(
        self, node: Fold, groups: Groups, count: int, group: Callable[[str], list[Row]], mask: str | None
    ) -> tuple[Row, Lanes]:
        """The same with one comparison an element, and whether that was not enough: for a NaN, or among zeros, whose sign decides where no
        place does.
        """
        t, placed = self.text, node.reducer in COMPARED
        join = partial(self._of_numbers, node, True) if placed else partial(self._quick_join, node)

        def step(k: str, carried: list[Row]) -> list[Row]:
            (sums, (unordered,)), rows = carried, group(k)
            for (a, *_), (b, *_) in zip(rows[::2], rows[1::2], strict=True):
                some = self.noted(t.let(f"fcmp uno {a}, {b.name}", "i1", count), a)
                unordered = t.let(f"or {unordered}, {some.name}", some.lane, count)
            return [join(sums, in_order(rows, join)), [unordered]]

        first = self._identity([node], count)
        nothing = [self.noted(self.widened(Lanes("false", "i1"), count), first[0])]
        sums, (bad,) = self._each_group(node, groups, [first, nothing], step)
        if not placed:
            zero = t.let(f"fcmp oeq {sums[0]}, {self.splat(Lanes('0.0', sums[0].lane), count).name}", "i1", count)
            if mask:
                zero = t.let(f"and {zero}, {mask}", "i1", count)
            bad = t.let(f"or {bad}, {self.noted(zero, sums[0]).name}", bad.lane, count)
        return sums, self._met("or", bad)

    def with_group(self, node: Fold, sums: Row, group: list[Row]) -> Row:
        """Accumulators and a group of rows behind those in them."""
        if reducer_of(node.reducer).exact(node.dtype):  # in any order; here no index has to be compared
            join = partial(self.join, node)
            return join(sums, in_order(group, join))
        combine = partial(self.combine, node)
        return combine(sums, halved(group, combine))

    def rows_abreast(
        self, node: Fold, loop: Vector, known: Known, items: Items, row: Callable[[str], tuple[Lanes, list[Known]]]
    ) -> Rows:
        """What gives the bodies of row k of all `items`, of a group of rows and of a single one. `row` tells how a row is known in
        lanes, and in each item.
        """
        assert node.order is not None, "a scheduled fold has an order"
        t, order, axis = self.text, node.order, loop.axis
        inside, begin = self.lanes_of(loop, known, items)
        assert begin.items is not None, "lanes of items"
        origins, count = begin.items.each, begin.count
        self._compute_outside(node, inside, begin)
        whole = self._packed(node, axis)
        over = whole if self._reads_over(items, order.lanes, self.pitch_of(node, axis)) else []
        packed = whole if len(origins) >= 2 else []

        def place(k: str) -> tuple[Lanes, Items]:
            lanes, each = row(k)
            known_in = ({**origin, **own} for origin, own in zip(origins, each, strict=True))
            return lanes, replace(items, each=tuple(known_in))

        def bodies(lanes: Lanes, at: Items, read: Known) -> Row:
            own: Known = {**inside, node.axis: lanes, **read}
            return [self.widened(self.value(x, own, replace(begin, items=at)), count) for x in node.bodies]

        def group(k: str) -> list[Row]:
            places = [place(t.index("add", k, n)) for n in range(order.lanes)]
            found = {x: self._rows_over(x, axis, places[0][1], order.lanes, node.axis) for x in over}
            if not over and len(origins) >= order.lanes:
                found = {x: self._group_of(x, axis, places[0][1], order.lanes, node.axis) for x in packed}
            read: list[Known] = [{x: of[n] for x, of in found.items()} for n in range(order.lanes)]
            first = bodies(*places[0], read[0])
            numbers = {x: at for x, at in zip(node.bodies, first, strict=True) if _is_number(x, node.axis)}
            for n, own in enumerate(read[1:], 1):  # of the first row's, not spread again from a scalar
                own |= {x: self._further_on(at, n) for x, at in numbers.items()}
            return [first, *(bodies(*at, own) for at, own in zip(places[1:], read[1:], strict=True))]

        lie = self._lie(node, axis, packed) and not over
        return self._as_they_lie(node, loop, known, items, row) if lie else group, lambda k: bodies(*place(k), {})

    def _lie(self, node: Fold, axis: Axis, packed: Sequence[Load]) -> bool:
        """Whether it pays to load several rows as they lie, and to add these to the next ones."""
        nodes = list(computed(node.bodies, axis))
        down = [x for x in nodes if isinstance(x, Load) and node.axis in x.offset.free]
        cheap = sum(map(cost_of, node.bodies)) < DEAR and not reducer_of(node.reducer).after  # no positions
        return cheap and bool(packed) and set(down) == set(packed) and node.axis not in nodes

    def _as_they_lie(
        self, node: Fold, loop: Vector, known: Known, items: Items, row: Callable[[str], tuple[Lanes, list[Known]]]
    ) -> Callable[[str], list[Row]]:
        """What gives a group of rows as one: the first two and the next two as they lie in memory, then both of these; or, where any order does,
        one by one. All four come with one load where a vector holds them.
        """
        assert node.order is not None, "a scheduled fold has an order"
        many, combine, rows = len(items.each), partial(self.combine, node), node.order.lanes
        pitch = self.pitch_of(node, loop.axis)
        exact = reducer_of(node.reducer).exact(node.dtype)
        some = rows if rows * items.width <= loop.lanes else rows // 2
        _, at = self._lying(node, loop, known, items, some, lambda k: row(k)[1])

        def group(k: str) -> list[Row]:
            x = at(k)
            first, second = (
                self._row_halves(x, many, rows, pitch) if some == rows else (x, at(self.text.index("add", k, some)))
            )
            if exact:
                return [
                    *self._row_halves(first, many, rows // 2, pitch),
                    *self._row_halves(second, many, rows // 2, pitch),
                ]
            return [combine(*self._row_halves(combine(first, second), many, rows // 2, pitch))]

        return group

    def _every_other(self, x: Lanes, width: int, first: int) -> Lanes:
        return self._shuffled(x, x, [at + n for at in range(first * width, x.count, 2 * width) for n in range(width)])


def nothing_fetched(_k: str, _count: int) -> None:
    """Fetches nothing."""


def _is_number(x: Value, axis: Axis) -> bool:
    """Whether a value is the number of a row, as an integer."""
    return isinstance(x, Op) and x.op == "cast" and x.args[0] is axis and x.dtype.kind in "iu"
