"""Rows of few elements, one for each lane: how they are read.

An element of each row is a load for each lane. There are two better ways. What is cheap is computed along the rows, a whole row in a
register, and the rows are brought together two by two, halves beside halves: in the end each lane holds a row's result. What is
dear has to have a row in each lane; its rows are turned into columns in registers, 16 bytes of each at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce

from ..derived import apply
from ..dtypes import DType
from ..extremes import COMPARED, of_numbers
from ..ir import Axis, Fold, Load, Value, local
from ..reducers import NARROW_ROW, ROW, TABLE, halved, in_order, reducer_of, rounded_up
from ..rewrite import affine, steps, walk
from ..vectors import LEAST_BITS, cheap, computed
from .llvm_accumulators import Combine, Row
from .llvm_extremes import alone, is_position
from .llvm_known_rows import KnownRows
from .llvm_lookup import EIGHT
from .llvm_text import INDEX_TYPE, Lanes, number
from .llvm_where import Known, Part, Where, first_lanes

INDEX_BITS = 32  # of where an extreme stands in a row
SOUGHT_BITS = 1024  # a row of integers of so many is sought through as fast as its indices are kept
# parts of a row, counted twice where they are compared: of more each row is read in a loop; and where vectors are small
IN_REGISTERS, IN_SMALL = 5, 10
# elements: rows of up to so many are read by half a register, of which fewer lie in two lines; where they are compared
HALF, HALF_COMPARED = 48, 24
TURNED_ROW = 24  # elements: in rows of up to so many columns are compared
GROUP_BYTES = 16  # of a row at a time: the part of a register within which shuffles are cheap


class Turned(KnownRows):
    """Emits folds of short rows."""

    def _row_length(self, node: Fold, known: Known) -> str:
        """How many elements a row has."""
        exact = self.nest.kernel.exact
        return str(exact) if exact else known[node.extent].name

    def along_rows_pays(self, node: Fold, where: Where) -> bool:
        """Whether a fold is cheap enough to be computed along its rows."""
        bits = max(dtype.computed.bits for dtype in node.dtypes)
        return where.count * bits >= LEAST_BITS and where.mask is None and cheap(node, self.machine)

    def along_rows(self, node: Fold, known: Known, where: Where, fetching: bool = True) -> Row:
        """A fold of short rows, a row for each lane of `where`, computed along the rows. A maximum is first taken with one comparison an
        element, and with the full rule where there was a NaN, or where it is a zero, whose sign decides. What is `fetching` also sees
        that later rows are on their way.
        """
        if is_position(node):
            return (self._with_index if self._carries(node.dtypes[0]) else self._positions)(node, known, where)
        each = fetching and self._read_once(node)
        if fetching and not each:
            self.fetch_rows(node, known, where, range(where.count))
        full = partial(self._along_rows, node, known, where, partial(self.combine, node), partial(self.join, node))
        if not reducer_of(node.reducer).quick or node.dtype.kind != "f":
            return full(None, each)
        t, sums = self.text, list[Lanes]()
        if self.rows_known(node, known, where):
            if each:
                self.know_rows_ahead(node, known, where)
                self.fetch_rows(node, known, where, range(where.count))
            numbers, doubt = self.extreme_of_rows(node, known, where)
            return t.perhaps(doubt, numbers, lambda _: full(None))
        quick = partial(self._quick, node)
        (found,) = self._along_rows(node, dict(known), where, quick, quick, sums, each)
        bad = t.let(f"fcmp oeq {found}, zeroinitializer", "i1", found.count)
        nan = t.let(f"fcmp uno {sums[0]}, {sums[0].name}", "i1", sums[0].count)
        some = [t.call(f"@llvm.vector.reduce.or.v{x.count}i1", "i1", 1, x).name for x in (bad, nan)]
        return t.perhaps(t.let(f"or i1 {some[0]}, {some[1]}", "i1").name, [found], lambda _: full(None))

    def _carries(self, dtype: DType) -> bool:
        """Whether the index of an extreme is kept beside it: seeking it takes more steps in rows of few elements than it saves."""
        sought = dtype.kind != "f" and TURNED_ROW < self.most <= SOUGHT_BITS // dtype.bits
        return dtype.bits >= INDEX_BITS and not sought

    def _with_index(self, node: Fold, known: Known, where: Where) -> Row:
        """An extreme of each row and where it stands, in lanes of both, by a rule that knows of no NaN; the other way where there was one."""
        sums = list[Lanes]() if node.dtypes[0].kind == "f" else None
        _, loads = self.together(node, where)
        turned = bool(loads) and self.most <= TURNED_ROW
        if not (each := self._read_once(node) and not turned):
            self.fetch_rows(node, known, where, range(where.count), turned)
        if turned:
            found = self._in_columns(node, loads[0], known, where, sums)
        else:
            combine, join = (partial(self._of_numbers, node, later) for later in (False, True))
            found = self._along_rows(node, dict(known), where, combine, join, sums, each)
        if sums is None:
            return found
        nan = self.text.let(f"fcmp uno {sums[0]}, {sums[0].name}", "i1", sums[0].count)
        bad = self.text.call(f"@llvm.vector.reduce.or.v{nan.count}i1", "i1", 1, nan)
        return self.text.perhaps(bad.name, found, lambda _: self._positions(node, known, where))

    def _in_columns(self, node: Fold, load: Load, known: Known, where: Where, sums: list[Lanes] | None) -> Row:
        """The same of rows that are turned into columns, some at a time; the last ones end with the row, and of what comes again the first stays."""
        t, count, extent = self.text, where.count, self._row_length(node, known)
        group = GROUP_BYTES // load.leaf.itemsize
        best, total = self._identity([node], count), self.splat(Lanes("0.0", node.dtypes[0].lane), count)

        def some(k: str, carried: list[Row], again: int = 0) -> list[Row]:
            best, rest = carried[0], carried[1:]
            first = t.lesser(k, t.index("sub", extent, group))
            inside = {**known, node.axis: Lanes(first, INDEX_TYPE)}
            columns = self.columns(load, node.axis, inside, where, str(group), group)
            for j, x in enumerate(columns[again:], again):
                at = self.splat(Lanes(self._narrow(t.index("add", first, j)), "i32"), count)
                best = self._of_numbers(node, True, best, [x, at])
            if rest:  # one chain of sums would take longer than all comparisons
                rest = [[self._added(rest[0][0], in_order(columns, self._added))]]
            return [best, *rest]

        found = [best, *([] if sums is None else [[total]])]
        if (many := number(extent)) is not None and many >= group:
            for k in range(0, many, group):
                found = some(str(k), found, max(0, k + group - many))
        else:
            found = self._carry("0", extent, group, found, some)
        if sums is not None:
            sums[:] = found[1]
        return found[0]

    def _of_numbers(self, node: Fold, later: bool, a: Row, b: Row) -> Row:
        return self._brought(lambda node, x, y: of_numbers(node.reducer, later, x, y), node, a, b)

    def _positions(self, node: Fold, known: Known, where: Where) -> Row:
        """An extreme of each row and where it stands: it is found alone, and then the first element that equals it, or is NaN. Lanes that
        hold no element are behind all others.
        """
        t, dtype, bits_of = self.text, node.dtypes[0], rounded_up(self.most)
        width, long = min(bits_of, where.count), self.most > NARROW_ROW
        (found,) = self.along_rows(alone(node), dict(known), where, not long)
        x, extreme = local("a", dtype), local("b", dtype)
        here = apply("equal", x, extreme)
        here = apply("logical_or", here, apply("not_equal", x, x)) if dtype.kind == "f" else here
        left, kind = (
            self.splat(Lanes(self._narrow(self._row_length(node, known)), "i32"), width),
            f"i{bits_of}",
        )
        place, index = t.reserve(f"[{where.count} x {node.dtypes[1].memory}]"), node.dtypes[1]
        for r in range(where.count):
            if long:  # a few lines with each, while what is read lies in the first cache (1.8 times)
                self.fetch_rows(node, known, where, [r])
            inside, bits = self._one_row(node, known, where, r), "0"
            best = self._shuffled(found, found, [r] * width)
            for first in range(0, self.most, width):
                mask = None if first + width <= self.least else self._below(left, first).name
                element = self.value(node.bodies[0], dict(inside), Where(node.axis, str(first), width, mask))
                same = self.value(here, {x: element, extreme: best}, None)
                part = t.let(f"bitcast {same} to i{width}", f"i{width}")
                part = t.let(f"zext {part} to {kind}", kind) if width < bits_of else part
                bits = t.let(f"or {kind} {bits}, {t.let(f'shl {part}, {first}', kind).name}", kind).name
            at = t.call(f"@llvm.cttz.{kind}", kind, 1, Lanes(bits, kind), Lanes("false", "i1"))
            change = "trunc" if bits_of > index.bits else "zext"
            at = at if bits_of == index.bits else t.let(f"{change} {at} to {index.lane}", index.lane)
            self.keep(index, at, self.accumulator(index, place, str(r), 1))
        return [found, self.kept(index, self.accumulator(index, place, "0", where.count), where.count)]

    def _along_rows(
        self,
        node: Fold,
        known: Known,
        where: Where,
        combine: Combine,
        join: Combine,
        sums: list[Lanes] | None,
        fetching: bool = False,
    ) -> Row:
        """The same with these rules. `sums` will hold the sum of all elements in a lane: NaN where one is, or where there are infinities. With each row a
        later one may be fetched.
        """
        t, width = self.text, self._read_at_once(node, where, compared=sums is not None)
        abreast = where.count // width if where.count * _widest(node) <= self.machine.vector_bits else 1
        if fetching:
            self.know_rows_ahead(node, known, where)
        turned = self._in_any_lanes(node)
        parts_of, identity = self._parts_of_row(node, known, width, turned), self._identity([node], width)
        shifted = {} if turned else self._shifted_parts(node, known, width, parts_of)
        kept = self.registers_for_masks and sums is None and parts_of[0][1] is None
        alone = [not shifted and self._is_masked(x, node.axis) and _once(x, node.bodies) for x in node.bodies]

        def row(r: str | int) -> Row:
            if fetching:
                self.fetch_rows(node, known, where, [r])
            inside, parts = self._one_row(node, known, where, r), []
            for start, mask, lanes in parts_of:
                first, order = shifted.get(start, (start, None))
                under = mask.name if mask and not order else None
                at, found, own = Where(node.axis, first, lanes, under, turned=turned), [], dict(inside)
                for body, nothing, once in zip(node.bodies, identity, alone, strict=True):
                    loaded = mask and once and not kept  # with the identity of the only one that it is for
                    x = self.value(body, own, replace(at, nothing=nothing.name) if loaded else at)
                    x = self.filled(self.widened(x, lanes), Part(first, lanes, width // lanes))
                    x = t.call("@llvm.x86.avx2.permps", x.lane, width, x, order) if order else x
                    plain = loaded or kept or not mask
                    found.append(x if plain else t.let(f"select {mask}, {x}, {nothing}", x.lane, width))
                parts.append((found, mask if kept else None))
            if sums is not None:
                total = reduce(self._added, (x for (x, *_), _ in parts))
                sums[:] = [self._added(sums[0], total) if sums else total]
            return self._of_parts(node, parts, identity, combine, join)

        most = IN_SMALL if self.machine.small else IN_REGISTERS
        many_parts = len(parts_of) * (2 if sums is not None else 1) > most
        brought = self._in_turn(node, row, where, known, width, sums) if many_parts else row

        def rows(first: int, many: int) -> Row:
            """A number for each of as many lanes, `abreast` times: first of the first row."""
            if many == 1:
                beside = [brought(first + n) for n in range(abreast)]
                return [self._joined(column) for column in zip(*beside, strict=True)]
            a, b = rows(first, many // 2), rows(first + many // 2 * abreast, many // 2)
            size = 2 * width // many
            low, high = ([self._halves(x, y, size, half) for x, y in zip(a, b, strict=True)] for half in (0, 1))
            return combine(low, high)

        found = [rows(first, width) for first in range(0, where.count, width * abreast)]
        return [self._joined(column) for column in zip(*found, strict=True)]

    def _of_parts(
        self, node: Fold, parts: list[tuple[Row, Lanes | None]], identity: Row, combine: Combine, join: Combine
    ) -> Row:
        """The parts of a row brought together, lane by lane; those with a mask where it holds."""

        def joined(parts: Sequence[tuple[Row, Lanes | None]]) -> Row:
            (found, mask), *more = parts
            if mask is not None:
                found = self._where(mask, found, identity)
            for x, mask in more:
                found = join(found, x) if mask is None else self._where(mask, join(found, x), found)
            return found

        if reducer_of(node.reducer).extreme:  # in any order
            return joined(parts)
        assert node.order is not None, "a scheduled fold has an order"
        chains = max(1, node.order.lanes // identity[0].count)
        lanes = [joined(parts[n::chains]) for n in range(min(chains, len(parts)))]
        if node.reducer not in TABLE or len(node.dtypes) > 1:  # an identity may change what it is brought together with
            lanes += [identity] * (rounded_up(len(lanes)) - len(lanes))
        return halved(lanes, combine)

    def _where(self, mask: Lanes, a: Row, b: Row) -> Row:
        return [self.text.let(f"select {mask}, {x}, {y}", x.lane, x.count) for x, y in zip(a, b, strict=True)]

    def _read_at_once(self, node: Fold, where: Where, compared: bool) -> int:
        """Elements of a row: a register, or half of one."""
        width = min(rounded_up(self.most), where.count)
        half = ROW < self.most <= (HALF_COMPARED if compared else HALF) and where.count * _widest(node) > LEAST_BITS
        return width // 2 if half else width

    def _in_any_lanes(self, node: Fold) -> bool:
        """Whether what is folded lies from the last to the first, and its lanes may as well: halves are brought together with the same bits, whichever is first."""
        nodes = list(computed(node.bodies, node.axis))
        along = [x for x in nodes if isinstance(x, Load) and node.axis in x.offset.free]
        turned = all(x.when is None and not x.leaf.pairs and steps(x, node.axis) == -1 for x in along)
        one = node.reducer in TABLE and len(node.dtypes) == 1 and node.axis not in nodes
        return bool(along) and turned and one and self.registers_for_masks

    def _parts_of_row(self, node: Fold, known: Known, width: int, turned: bool) -> list[tuple[str, Lanes | None, int]]:
        """Where the parts of a row begin, which of their lanes hold an element, and how many there are: of extremes all hold one, as the last parts end with the row,
        and the last one has no more lanes than are left for it.
        """
        t, extent = self.text, self._row_length(node, known)
        surely = [first + width <= self.least for first in range(0, self.most, width)]
        firsts = [str(first) for first in range(0, self.most, width)]
        again = reducer_of(node.reducer).quick or node.reducer in COMPARED
        if again and self.least >= width:
            last, lanes = t.index("sub", extent, width), min(width, max(2, rounded_up(self.most - int(firsts[-1]))))
            starts = [first if there else t.lesser(first, last) for first, there in zip(firsts, surely, strict=True)]
            return [*((start, None, width) for start in starts[:-1]), (t.index("sub", extent, lanes), None, lanes)]
        left = self.splat(Lanes(self._narrow(extent), "i32"), width)
        masks = [None if there else self._below(left, int(first)) for first, there in zip(firsts, surely, strict=True)]
        if turned:
            masks = [x and self._shuffled(x, x, range(width)[::-1]) for x in masks]
        return [(first, mask, width) for first, mask in zip(firsts, masks, strict=True)]

    def _shifted_parts(
        self, node: Fold, known: Known, width: int, parts: Sequence[tuple[str, Lanes | None, int]]
    ) -> dict[str, tuple[str, Lanes]]:
        """Of parts with a mask, where elements have no loads with one and a row is as long as a part: where they are read instead, so that they end with
        the row, and which lanes they take from that.
        """
        loads = [x for x in computed(node.bodies, node.axis) if isinstance(x, Load) and x.when is None]
        floats = self.machine.permutes and all(dtype.lane == "float" for dtype in node.dtypes)
        small = any(self.without_masks(x.leaf.dtype) for x in loads)
        if not (small and floats and width == EIGHT and self.least >= width):
            return {}
        t, found = self.text, dict[str, tuple[str, Lanes]]()
        last = t.index("sub", self._row_length(node, known), width)
        for start in (start for start, mask, _ in parts if mask):
            first = t.lesser(start, last)
            by = self.splat(Lanes(self._narrow(t.index("sub", start, first)), "i32"), width)
            lanes = self.iota("i32", width).split("> ", 1)[1]
            found[start] = first, t.let(f"add {by}, {lanes}", "i32", width)
        return found

    def _in_turn(
        self,
        node: Fold,
        row: Callable[[str | int], Row],
        where: Where,
        known: Known,
        width: int,
        sums: list[Lanes] | None,
    ) -> Callable[[int], Row]:
        """The accumulators of rows of several registers, which are read in a loop: all at once they would wait on the stack, whatever is made of them."""
        if any(where.axis in part.free and x.count > 1 for part, x in known.items()):
            return row
        places = [self.text.reserve(f"[{where.count * width} x {dtype.memory}]") for dtype in node.dtypes]

        def one(r: str, carried: list[Row]) -> list[Row]:
            if sums is not None:
                sums[:] = carried[0]
            self._put([node], places, r, row(r))
            return [] if sums is None else [list(sums)]

        first = [] if sums is None else [[self.splat(Lanes("0.0", node.dtypes[0].lane), width)]]
        left = self._carry("0", str(where.count), 1, first, one)
        if sums is not None:
            sums[:] = left[0]
        return lambda r: self._get([node], places, str(r), width)

    def _added(self, a: Lanes, b: Lanes) -> Lanes:
        """A sum that tells whether there is a NaN."""
        return self.text.let(f"fadd {a}, {b.name}", a.lane, a.count)

    def _is_masked(self, x: Value, axis: Axis) -> bool:
        """Whether an element is what a load with a mask gives, and nothing else."""
        if not isinstance(x, Load) or x.when is not None or x.leaf.name not in self.given or steps(x, axis) != 1:
            return False
        return x.leaf.dtype.memory == x.leaf.dtype.lane and not x.leaf.pairs

    def _one_row(self, node: Fold, known: Known, where: Where, r: str | int) -> Known:
        """What is known of the row of lane r."""
        inside: Known = {**known, where.axis: Lanes(self.text.index("add", where.at, r), INDEX_TYPE)}
        stack, seen = list(node.bodies), set[Value]()
        while stack:
            part = stack.pop()
            if part in seen or where.axis not in part.free or part is where.axis:
                continue
            seen.add(part)
            if part in known and known[part].count > 1:
                assert isinstance(r, int), "what differs from lane to lane is not read in a loop"
                inside[part] = self._extract(known[part], r)
            else:
                inside.pop(part, None)
                stack.extend(part.children)
        return inside

    def _narrow(self, name: str) -> str:
        if number(name) is not None:
            return name
        return self.text.let(f"trunc {INDEX_TYPE} {name} to i32", "i32").name

    def _below(self, left: Lanes, first: int) -> Lanes:
        if left.name.startswith("splat"):
            some = int(left.name.removeprefix("splat (i32 ").removesuffix(")")) - first
            return Lanes(first_lanes(some, left.count) or "splat (i1 true)", "i1", left.count)
        positions = ", ".join(f"i32 {first + n}" for n in range(left.count))
        return self.text.let(f"icmp slt <{left.count} x i32> <{positions}>, {left.name}", "i1", left.count)

    def below(self, left: str, width: int) -> str:
        """The mask of the first lanes, as many as are left."""
        return self._below(self.splat(Lanes(self._narrow(left), "i32"), width), 0).name

    def together(self, node: Fold, where: Where) -> tuple[int, list[Load]]:
        """How many elements of a row come at a time, and the loads that read rows; no loads where that is not for this fold."""
        loads = [x for x in computed(node.bodies, where.axis) if isinstance(x, Load) and _is_row(x, node, where)]
        sizes = {x.leaf.dtype.itemsize for x in loads}
        if len(sizes) != 1 or sizes & {1, 2} or where.mask is not None:
            return 1, []
        (size,) = sizes
        fits = where.count * size * 8 >= LEAST_BITS
        return (GROUP_BYTES // size, loads) if fits else (1, [])

    def columns(self, load: Load, axis: Axis, inside: Known, where: Where, left: str, group: int) -> list[Lanes]:
        """What `load` reads of each lane's row along an axis, from the present element on: `group` columns, of which `left` exist."""
        t, dtype, backwards = self.text, load.leaf.dtype, steps(load, axis) == -1
        form = affine(load.offset, where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, inside, None)
        address = self._pointer(load.leaf.name, dtype, self._offset(form, inside, where))
        address = t.further(address, dtype.memory, str(1 - group)) if backwards else address
        order = [*reversed(range(group))] if backwards else [*range(group)]
        positions = ", ".join(f"{INDEX_TYPE} {j}" for j in order)
        many = self.splat(Lanes(left, INDEX_TYPE), group)
        mask = t.let(f"icmp slt <{group} x {INDEX_TYPE}> <{positions}>, {many.name}", "i1", group)
        function, kind = f"@llvm.masked.load.v{group}{dtype.suffix}.p0", f"<{group} x {dtype.memory}>"
        t.declare(function, kind, "ptr", "i32 immarg", f"<{group} x i1>", kind)
        rows = []
        for r in range(where.count):
            if r:
                step = f"{INDEX_TYPE} {inside[form[0]].name}"
                address = t.let(f"getelementptr {dtype.memory}, ptr {address}, {step}", "ptr").name
            call = f"call {kind} {function}(ptr {address}, i32 {dtype.itemsize}, {mask}, {kind} zeroinitializer)"
            rows.append(t.let(call, dtype.memory, group))
        found = self._turned(rows, group)
        return [found[j] for j in order]


def _is_row(x: Load, node: Fold, where: Where) -> bool:
    dtype = x.leaf.dtype
    side_by_side = node.axis in x.offset.free and steps(x, node.axis) in (1, -1)
    plain = x.when is None and dtype.memory == dtype.lane and not x.leaf.pairs
    return side_by_side and plain and where.axis in x.offset.free and affine(x.offset, where.axis) is not None


def _once(x: Value, bodies: Sequence[Value]) -> bool:
    """Whether a value is one of the bodies, and no other is made of it."""
    return sum(x is node for body in bodies for node in walk(body)) == 1


def _widest(node: Fold) -> int:
    return max(dtype.bits for dtype in node.dtypes)
