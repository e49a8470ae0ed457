"""Where the extremes of few columns stand: sought once all rows were compared, in the piece of each column in which its extreme was first met.

What is looked at is the extreme alone, of rows as they lie in memory; which piece it is of is noted where one grows, and that is seldom. A NaN
leaves everything to the full rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..dtypes import BOOL, DTYPES, INDEX
from ..ir import Fold
from ..nest import Vector
from ..reducers import in_order
from ..vectors import computed
from .llvm_accumulators import Row
from .llvm_beside import Lying
from .llvm_extremes import alone, is_position
from .llvm_filled import Filled
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known

VECTORS = 8  # of rows, a piece
LEAST = 16  # pieces: below that the search takes longer than what it saves


class Places(Filled):
    """Emits them."""

    def rows_sought(self, node: Fold, loop: Vector) -> int:
        """How many rows a vector holds as they lie, where places are sought so; else 0."""
        if not is_position(node) or node.dtypes[0].kind not in "iuf" or not self.rows_lie(alone(node), loop.axis):
            return 0
        values = [x for x in computed(node.bodies[:1], loop.axis) if x.dtype is not BOOL]
        return self.machine.vector_bits // max(x.dtype.computed.bits for x in values) // self.row_lanes

    def sought_beside(self, node: Fold, loop: Vector, known: Known, rows: int, low: str, high: str) -> tuple[str, Row]:
        """The extremes of whole pieces from `low` on, of rows up to `high`, and where they stand, `rows` of them in a vector; and where to go
        on: at `low`, where there are few, or is a NaN. A row is left in any case.
        """
        t, piece, nothing = self.text, rows * VECTORS, self._identity([node], self.row_lanes)
        many = t.index("sub", t.index("sub", high, low), 1)
        enough = t.let(f"icmp sge i64 {many}, {piece * LEAST}", "i1").name
        end = t.index("add", low, t.select(enough, t.index("and", many, -piece), "0"))

        def pieces(*_: object) -> list[Row]:
            found, bad = self._sought(node, loop, dict(known), rows, low, end)
            kept = zip(found, nothing, strict=True)
            row = [t.let(f"select {bad}, {o}, {x}", x.lane, x.count) for x, o in kept]
            return [[Lanes(t.select(bad.name, low, end), INDEX_TYPE)], row]

        ((end_here,), row) = self._perhaps(low, end, [[Lanes(low, INDEX_TYPE)], nothing], pieces)
        return end_here.name, row

    def _sought(self, node: Fold, loop: Vector, known: Known, rows: int, low: str, high: str) -> tuple[Row, Lanes]:
        """The extreme of each column and its place, and whether there is a NaN."""
        t, extreme, count = self.text, alone(node), rows * self.row_lanes
        items, quick = Items(node.axis, self.row_lanes, self.row_some(), ({},)), partial(self._quick, extreme)
        _, row = self._lying(extreme, loop, known, items, rows, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}])

        def at(k: str, n: int) -> Row:
            return row(t.index("add", k, n * rows))

        def place(k: str) -> Lanes:
            return self.value(node.bodies[1], {**known, node.axis: Lanes(k, INDEX_TYPE)}, None)

        def step(k: str, carried: list[Row]) -> list[Row]:
            (best, piece_of), (unordered,) = carried
            every = [at(k, n) for n in range(VECTORS)]
            for (a,), (b,) in zip(every[::2], every[1::2], strict=True):
                if node.dtypes[0].kind == "f":
                    nan = self.noted(t.let(f"fcmp uno {a}, {b.name}", "i1", count), a)
                    unordered = t.let(f"or {unordered}, {nan.name}", nan.lane, count)
            (here,) = in_order(every, quick)

            def grown(_: str, found: list[Row]) -> list[Row]:
                ((best, piece_of),) = found
                more, now = self.which_further(extreme, here, best), self.splat(place(k), count)
                return [[*quick([best], [here]), t.let(f"select {more}, {now}, {piece_of}", now.lane, count)]]

            (found,) = self._carry("0", self._further(extreme, here, best), 1, [[best, piece_of]], grown)
            return [found, [unordered]]

        first = [*self._identity([extreme], count), self.splat(place(low), count)]
        none = self.noted(self.widened(Lanes("false", "i1"), count), first[0])
        both, (unordered,) = self._carry(low, high, rows * VECTORS, [first, [none]], step)
        left, pitch = rows, self.pitch_of(extreme, loop.axis)
        while left > 1:
            both, left = self.combine(node, *self._row_halves(both, 1, left, pitch)), left // 2

        def sought(c: str, places: list[Row]) -> list[Row]:
            wanted, piece = (t.let(f"extractelement {x}, i64 {c}", x.lane) for x in both)
            start = self.cast(piece, node.dtypes[1], INDEX).name
            there = place(t.index("add", start, self._row_of(wanted, c, rows, pitch, partial(at, start))))
            return [[t.let(f"insertelement {places[0][0]}, {there}, i64 {c}", there.lane, self.row_lanes)]]

        ((places,),) = self._carry("0", str(self.nest.kernel.few), 1, [both[1:]], sought)
        return [both[0], places], self._met("or", unordered)

    def _row_of(self, wanted: Lanes, column: str, rows: int, pitch: int, at: Callable[[int], Row]) -> str:
        """The first row of a piece that holds a value in a column."""
        t, few, count = self.text, self.nest.kernel.few, rows * self.row_lanes
        columns = ", ".join(f"i8 {min(c % pitch, few) if c < rows * pitch else few}" for c in range(count))
        only = self.splat(t.let(f"trunc i64 {column} to i8", "i8"), count)
        mine = t.let(f"icmp eq <{count} x i8> <{columns}>, {only.name}", "i1", count)
        every, found = self.splat(wanted, count), "0"
        equal = "fcmp oeq" if every.lane in ("half", "bfloat", "float", "double") else "icmp eq"
        for n in reversed(range(VECTORS)):
            (x,) = at(n)
            here = t.let(f"and {t.let(f'{equal} {x}, {every.name}', 'i1', count)}, {mine.name}", "i1", count)
            bits = t.let(f"bitcast {here} to i{count}", f"i{count}")
            lane = t.call(f"@llvm.cttz.i{count}", bits.lane, 1, bits, Lanes("false", "i1"))
            wide = t.let(f"zext {lane} to i64", INDEX_TYPE) if count < 64 else lane
            row = t.index("add", t.let(f"udiv {wide}, {pitch}", INDEX_TYPE).name, n * rows)
            found = t.select(t.let(f"icmp ne {bits}, 0", "i1").name, row, found)
        return found

    def are_placed_by_lanes(self, node: Fold) -> bool:
        """Whether places of extremes of floats are kept lane by lane, as they lie: where they are as wide, and there are registers for both."""
        extreme, place = node.dtypes[0], node.dtypes[-1]
        return is_position(node) and extreme.kind == "f" and extreme.bits == place.bits and not self.machine.small

    def placed_by_lanes(self, node: Fold, loop: Vector, known: Known, of: Lying, general: Callable[[], Row]) -> Row:
        """The extreme of all rows of each item, and where it stands, some rows at once as they lie, each lane for itself; what is `general` where there is a NaN."""
        t, extreme, kind = self.text, alone(node), node.dtypes[1].lane
        items, rows, many, pitch = of.items, of.rows, len(of.items.each), self.pitch_of(node, loop.axis)
        turned = self.all_rise(extreme, loop)
        _, at = self._lying(
            extreme, loop, known, items, rows, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}] * many, turned
        )
        whole, (first,) = t.index("and", of.extent, -rows), at("0")
        half = first.count // 2 if first.count * node.dtypes[0].bits > self.machine.vector_bits else first.count

        def step(k: str, carried: list[Row]) -> list[Row]:
            of.fetch(k, rows)
            (best, place), (number,) = carried
            (x,) = at(k)
            here = t.let(f"trunc i64 {k} to {kind}", kind) if kind != INDEX_TYPE else Lanes(k, kind)
            further, now = self.which_further(extreme, x, best), self.splat(here, x.count)
            place = t.let(f"select {further}, {now}, {place}", kind, x.count)
            both = t.let(f"fcmp ord {self._half(x, 0, half)}, {self._half(x, x.count - half, half).name}", "i1", half)
            return [[*self._quick(extreme, [best], [x]), place], [t.let(f"and {number}, {both.name}", "i1", half)]]

        nowhere, all_numbers = self.splat(Lanes("0", kind), first.count), self.widened(Lanes("true", "i1"), half)
        (best, place), (number,) = self._carry("0", whole, rows, [[first, nowhere], [all_numbers]], step)
        each = [c // pitch for c in range(rows * items.width)]
        down = ", ".join(f"{kind} {rows - 1 - row if turned else row}" for row in each * many)
        both = [best, t.let(f"add {place}, <{down}>", kind, place.count)]
        while rows > 1:
            both, rows = self._of_numbers(node, False, *self._row_halves(both, many, rows, pitch)), rows // 2
        nan = t.let(f"xor {self._met('and', number)}, true", "i1")
        (both,) = self._carry(whole, of.extent, 1, [both], lambda k, found: [self.join(node, found[0], of.row(k))])
        return t.perhaps(nan.name, both, lambda _: general())

    def placed_in_each(self, node: Fold, loop: Vector, known: Known, of: Lying) -> Row:
        """The extreme of all rows of each item, no more than a block, and where it stands: it is found first, then its first place, counted in
        integers as wide as it is. Some rows are taken at once as they lie, the last ones one by one.
        """
        t, extreme, few = self.text, alone(node), self.nest.kernel.few
        items, rows, extent, row, many = of.items, of.rows, of.extent, of.row, len(of.items.each)
        (best,) = self.all_in_any_order(extreme, loop, known, replace(of, row=lambda k: row(k)[:1]))
        each, kind = rows * items.width, f"i{node.dtypes[0].bits}"
        _, at = self._lying(extreme, loop, known, items, rows, lambda k: [{node.axis: Lanes(k, INDEX_TYPE)}] * many)
        pitch = self.pitch_of(extreme, loop.axis)
        columns = [min(c % pitch, few - 1) for c in range(each)]
        wanted = self._shuffled(best, best, [n * items.width + c for n in range(many) for c in columns])
        listed = ", ".join(f"{kind} {c // pitch}" for c in range(each))
        down = f"<{', '.join([listed] * many)}>"

        def sooner(place: Lanes, x: Lanes, like: Lanes, k: str, further: str) -> Lanes:
            here = t.let(f"icmp eq {x}, {like.name}", "i1", x.count)
            first = self.splat(
                t.let(f"trunc i64 {k} to {kind}", kind) if kind != INDEX_TYPE else Lanes(k, kind), x.count
            )
            found = t.let(f"add {first}, {further}", kind, x.count)
            there = t.let(f"select {here}, {found}, {found.type} splat ({kind} -1)", kind, x.count)
            return t.call(f"@llvm.umin.v{x.count}{kind}", kind, x.count, place, there)

        whole = t.index("and", extent, -rows)
        nowhere = self.splat(Lanes("-1", kind), wanted.count)
        ((place,),) = self._carry(
            "0", whole, rows, [[nowhere]], lambda k, found: [[sooner(found[0][0], at(k)[0], wanted, k, down)]]
        )
        while rows > 1:
            ((a,), (b,)), rows = self._row_halves([place], many, rows, pitch), rows // 2
            place = t.call(f"@llvm.umin.v{a.count}{kind}", kind, a.count, a, b)
        ((place,),) = self._carry(
            whole, extent, 1, [[place]], lambda k, found: [[sooner(found[0][0], row(k)[0], best, k, "zeroinitializer")]]
        )
        return [best, self.cast(place, DTYPES[f"uint{node.dtypes[0].bits}"], node.dtypes[1])]
