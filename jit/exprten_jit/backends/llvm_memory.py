"""Loads and stores as LLVM instructions.

A load is emitted by the coefficient of the innermost axis in its offset: 1 is one wide load, -1 a wide load turned round, 2 two of which
every other element is taken, anything else a load per lane from a running pointer (faster than a hardware gather), none a scalar load. A uniform guard chooses between the
address and a row of zeros, so nothing branches and nothing is read where the guard is false.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dtypes import DType
from ..ir import Axis, Const, Leaf, Load, Store, Value, load
from ..machine import LINE
from ..nest import Nest
from ..pairs import twins
from ..rewrite import affine, steps
from .llvm_masked import first_of
from .llvm_narrow import even_and_odd, side_by_side
from .llvm_ops import memory_suffix
from .llvm_some import Some
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_woven import blocks_of, crossed, unwoven, woven

TWO_HALVES = 256  # bits of registers of two halves, between which little goes
FEW_ODD = 5  # elements of rows whose lanes are exchanged in as few steps
ZERO_ROW = 64  # bytes behind @zeros: the widest vector there is


Known = dict[Value, Lanes]  # values are hash-consed: kept by the table, found by identity


def first_lanes(some: int, count: int, times: int = 1) -> str | None:
    """The mask of the first of `count` lanes, so many times; None for all."""
    lanes = ("i1 true" if k < some else "i1 false" for k in [*range(count)] * times)
    return None if some == count else f"<{', '.join(lanes)}>"


@dataclass(frozen=True)
class Items:
    """Lanes of several rows: `width` of each, the first `some` of which exist. `each` knows where a row and its columns begin."""

    row: Axis
    width: int
    some: int
    each: tuple[Known, ...]
    spread: tuple[int, ...] = ()  # of rows as they lie: which column a lane is of
    parts: tuple[str, ...] = ()  # of a row: the column that each begins with
    down: Axis | None = None  # of rows as they lie: the axis along which they follow each other

    @property
    def mask(self) -> str | None:
        """Of all lanes, those that exist; None for all."""
        return first_lanes(self.some, self.width, len(self.each))


@dataclass(frozen=True)
class Where:
    """The lanes being computed: `count` of them from scalar index `at` along `axis`; `mask` names those that exist. Lanes of `items`
    begin again for each, those of `parts` at each of these columns: the last part ends with the row, so that all lanes exist. `nothing` is in lanes
    that are loaded and do not exist.
    """

    axis: Axis
    at: str
    count: int
    mask: str | None = None
    stream: bool = False
    woven: bool = False  # with the vector beside it, from alternating elements: `at` is that of the first of the two
    items: Items | None = None
    parts: tuple[str, ...] = ()
    nothing: str = "zeroinitializer"


def pairs_in_row(at: Load | Store, where: Where) -> bool:
    """Whether lanes are the parts of pairs that lie side by side."""
    return at.leaf.pairs and where.count > 1 and steps(at, where.axis) in (1, -1)


class Memory(Some):
    """Emits loads and stores; `known` is what has been emitted where the next instruction goes."""

    nest: Nest

    @abstractmethod
    def value(self, root: Value, known: Known, where: Where | None) -> Lanes:
        """Emit `root` and what it needs, all of it added to `known`."""

    def _load(self, node: Load, known: Known, where: Where | None) -> Lanes:
        dtype, when = node.leaf.dtype, None if node.when is None else known[node.when]
        assert when is None or when.count == 1, "a guard of a load is uniform here"
        if where is not None and where.items is not None:
            return self.items_load(node, where.axis, where.items)
        if where is not None and pairs_in_row(node, where):
            return self._pair_load(node, known, where, when)
        if where is not None and self.in_group(node, where):
            return self._group_load(node, known, where)
        if where is not None and self._lies_apart(node, where):
            return self._apart_load(node, known, where)
        form = affine(node.offset, where.axis) if where is not None and where.axis in node.offset.free else None
        if where is None or form is None or where.count == 1:
            offset = self._offset(form, known, where) if form and where else known[node.offset].name
            return self.in_register(
                self.text.let(f"load {dtype.memory}, {self._at(node, offset, when)}", dtype.memory), dtype
            )
        coefficient = form[0]
        offset = self._offset(form, known, where)
        if isinstance(coefficient, Const) and coefficient.value == 1:
            return self._wide_load(self._at(node, offset, when), dtype, self._whole(node.leaf, where))
        if isinstance(coefficient, Const) and coefficient.value == -1:
            return self._backward_load(node, offset, when, where)
        assert where.mask is None, "a masked step has unit strides only"
        if isinstance(coefficient, Const) and coefficient.value == 2 and not node.leaf.pairs:
            return self._every_other_load(node, offset, when, where)
        return self._strided_load(node, offset, known[coefficient].name, when, where)

    def _backward_load(self, node: Load, offset: str, when: Lanes | None, where: Where) -> Lanes:
        """Elements that lie from the last to the first, those of a mask if there is one."""
        dtype, order = node.leaf.dtype, range(where.count)[::-1]
        at = self._at(node, self.text.index("sub", offset, where.count - 1), when)
        if where.mask is None:
            wide = self.text.let(f"load {self._memory(dtype, where)}, {at}", dtype.memory, where.count)
        else:
            mask = Lanes(where.mask, "i1", where.count)
            place = at.split(",", maxsplit=1)[0].removeprefix("ptr ")
            wide = self._masked_load(place, dtype, self._shuffled(mask, mask, order))
        return self.in_register(self._shuffled(wide, wide, order), dtype)

    @abstractmethod
    def items_load(self, node: Load, axis: Axis, items: Items) -> Lanes:
        """What a load reads for each item."""

    def _pair_load(self, node: Load, known: Known, where: Where, when: Lanes | None) -> Lanes:
        """The parts of a row of pairs, from one load: one of them, and the other is known from now on."""
        t, dtype = self.text, node.leaf.dtype
        even, odd = twins(node)
        form, order = affine(even.offset, where.axis), range(where.count)
        assert form is not None, "a row is affine"
        offset = self._offset(form, known, where)
        if steps(even, where.axis) == -1:
            offset, order = t.index("sub", offset, 2 * (where.count - 1)), order[::-1]
        wide = self._wide_load(self._at(even, offset, when), dtype, self._twice(where))
        for twin, first in ((even, 0), (odd, 1)):
            known[twin] = self._shuffled(wide, wide, [2 * k + first for k in order])
        return known[node]

    def _twice(self, where: Where) -> Where:
        """The lanes of both parts of what are pairs: a mask has one lane for each pair."""
        mask, parts = where.mask, tuple(self.text.index("mul", n, 2) for n in where.parts)
        if mask is not None:
            own = Lanes(mask, "i1", where.count)
            mask = self._shuffled(own, own, [k // 2 for k in range(2 * where.count)]).name
        return replace(where, count=2 * where.count, mask=mask, parts=parts)

    def woven_load(self, node: Load, groups: Sequence[tuple[Known, Where | None]]) -> list[Lanes]:
        """What lies in a row for every two vectors from one load."""
        t, found = self.text, list[Lanes]()
        for known, where in groups[::2]:
            assert where is not None, "lanes run along an axis"
            form = affine(node.offset, where.axis)
            assert form is not None, "a row is affine"
            at = self._at(node, self._offset(form, known, where), None if node.when is None else known[node.when])
            found += even_and_odd(t, t.let(f"load <{where.count} x i32>, {at}", "i32", where.count))
        return found

    def in_group(self, at: Load | Store, where: Where) -> bool:
        """Whether lanes are elements of rows that lie one behind the other."""
        in_rows = where.axis in at.offset.free and steps(at, where.axis) != 1
        return where.count > 1 and in_rows and (at.leaf, at.offset) in self.groups

    def first_of(self, node: Load, where: Where) -> Value:
        """The offset of the first of what is read with an element."""
        if self.in_group(node, where):
            return self.groups[node.leaf, node.offset][1][0]
        return (twins(node)[0] if pairs_in_row(node, where) else node).offset

    def _group_begins(self, at: Load | Store, known: Known, where: Where) -> str:
        """The address of the first of the rows."""
        leaf, offsets = self.groups[at.leaf, at.offset]
        form = affine(offsets[0], where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, known, None)
        first = self._offset(form, known, where)
        if self.is_backwards(at, where):
            first = self.text.index("sub", first, (where.count - 1) * len(offsets))
        return self._pointer(leaf.name, leaf.dtype, first)

    def is_backwards(self, at: Load | Store, where: Where) -> bool:
        """Whether the rows of a group lie from the last to the first."""
        return (steps(at, where.axis) or 0) < 0

    def in_order(self, columns: Sequence[Lanes], at: Load | Store, where: Where) -> list[Lanes]:
        """The columns of a group, whose lanes are turned round where rows lie from the last to the first."""
        order = range(where.count)[::-1]
        return [self._shuffled(x, x, order) for x in columns] if self.is_backwards(at, where) else list(columns)

    def _group_places(self, at: Load | Store, known: Known, where: Where) -> list[str]:
        """The addresses of the vectors that hold rows."""
        leaf, offsets = self.groups[at.leaf, at.offset]
        kind = f"getelementptr {self._memory(leaf.dtype, where)}, ptr {self._group_begins(at, known, where)}, i64"
        return [self.text.let(f"{kind} {n}", "ptr").name for n in range(len(offsets))]

    def _group_load(self, node: Load, known: Known, where: Where) -> Lanes:
        """An element of each row, and all others of these rows, which are known from now on."""
        leaf, offsets = self.groups[node.leaf, node.offset]
        if self._in_halves(leaf, len(offsets), where):
            self._load_halves(node, known, where)
            return known[node]
        columns = unwoven(self._group_parts(node, known, where), self._shuffled)
        for offset, column in zip(offsets, self.in_order(columns, node, where), strict=True):
            known[load(leaf, offset)] = self.in_register(column, leaf.dtype)
        return known[node]

    def _group_parts(self, node: Load, known: Known, where: Where) -> list[Lanes]:
        """The vectors that hold the rows, as they lie in memory."""
        dtype, kind = node.leaf.dtype, self._memory(node.leaf.dtype, where)
        places = self._group_places(node, known, where)
        if where.mask is not None:
            found = zip(places, self._group_masks(node, where, len(places)), strict=True)
            return [self._masked_load(place, dtype, mask) for place, mask in found]
        load_of = f"load {kind}, ptr"
        return [self.text.let(f"{load_of} {at}, align {dtype.itemsize}", dtype.memory, where.count) for at in places]

    def _group_masks(self, at: Load, where: Where, many: int) -> list[Lanes]:
        """For each vector which elements are of rows that exist."""
        (rows,) = self.in_order([Lanes(str(where.mask), "i1", where.count)], at, where)
        every = [n // many for n in range(many * where.count)]
        return [self._shuffled(rows, rows, every[n : n + where.count]) for n in range(0, len(every), where.count)]

    def _in_halves(self, leaf: Leaf, many: int, where: Where) -> bool:
        """Whether halves of registers are loaded or stored for rows of `many` elements: where registers have two halves that are as long as a row, or shorter. Of
        a small odd number lanes are exchanged in as few steps.
        """
        bits = where.count * leaf.dtype.computed.bits if leaf.dtype.memory == leaf.dtype.lane else 0
        halves = bits == self.machine.vector_bits == TWO_HALVES and where.count > 2
        long = many % 2 == 0 or many > FEW_ODD
        return halves and long and where.count // 2 <= many and where.mask is None and not where.stream

    def _halves_at(self, begin: str, dtype: DType, many: int, b: int, side: int) -> list[tuple[str, str]]:
        """Where half a register of a row begins at its element `b`, and that of as many rows further: for each row of a half."""
        t, rows = self.text, [(r * many + b, (r + side) * many + b) for r in range(side)]
        return [
            (t.further(begin, dtype.memory, str(low)), t.further(begin, dtype.memory, str(high))) for low, high in rows
        ]

    def _load_halves(self, node: Load, known: Known, where: Where) -> None:
        t, (leaf, offsets), side = self.text, self.groups[node.leaf, node.offset], where.count // 2
        read, begin = f"load <{side} x {leaf.dtype.memory}>, ptr", self._group_begins(node, known, where)
        for b in blocks_of(len(offsets), side):
            rows = []
            for places in self._halves_at(begin, leaf.dtype, len(offsets), b, side):
                halves = [t.let(f"{read} {at}, align {leaf.itemsize}", leaf.dtype.memory, side) for at in places]
                rows.append(self._joined(halves))
            columns = self.in_order(crossed(rows, self._shuffled), node, where)
            for offset, column in zip(offsets[b : b + side], columns, strict=True):
                known[load(leaf, offset)] = self.in_register(column, leaf.dtype)

    def _lies_apart(self, node: Load, where: Where) -> bool:
        """Whether lanes are elements of rows that do not follow each other, which are read by half a register, of all of their lanes."""
        if (node.leaf, node.offset) not in self.apart or where.mask is not None or where.count < 4:
            return False
        bits = where.count * node.leaf.dtype.computed.bits if node.leaf.dtype.memory == node.leaf.dtype.lane else 0
        return bits == TWO_HALVES and where.count // 2 <= len(self.apart[node.leaf, node.offset][1])

    def _apart_load(self, node: Load, known: Known, where: Where) -> Lanes:
        """An element of each row, and all others of these rows, which are known from now on."""
        t, (leaf, offsets), side = self.text, self.apart[node.leaf, node.offset], where.count // 2
        form = affine(offsets[0], where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, known, None)
        begin, stride = self._pointer(leaf.name, leaf.dtype, self._offset(form, known, where)), known[form[0]].name
        rows = [t.further(begin, leaf.dtype.memory, t.index("mul", stride, r)) for r in range(where.count)]
        read = f"load <{side} x {leaf.dtype.memory}>, ptr"
        for b in blocks_of(len(offsets), side):
            places = [t.further(row, leaf.dtype.memory, str(b)) for row in rows]
            halves = [t.let(f"{read} {at}, align {leaf.itemsize}", leaf.dtype.memory, side) for at in places]
            joined = [self._joined([halves[r], halves[r + side]]) for r in range(side)]
            for offset, column in zip(offsets[b : b + side], crossed(joined, self._shuffled), strict=True):
                known[load(leaf, offset)] = self.in_register(column, leaf.dtype)
        return known[node]

    def _store_halves(self, store: Store, columns: Sequence[Lanes], known: Known, where: Where) -> None:
        dtype, side, begin = store.leaf.dtype, where.count // 2, self._group_begins(store, known, where)
        for b in blocks_of(len(columns), side):
            rows = crossed(columns[b : b + side], self._shuffled)
            for row, places in zip(rows, self._halves_at(begin, dtype, len(columns), b, side), strict=True):
                for first, at in zip((0, side), places, strict=True):
                    half = self._shuffled(row, row, range(first, first + side))
                    self.text.put(f"store {half}, ptr {at}, align {dtype.itemsize}")

    def _group_store(self, store: Store, columns: Sequence[Lanes], known: Known, where: Where) -> None:
        dtype, side = store.leaf.dtype, where.count // 2
        columns = self.in_order([self.in_memory(self.widened(x, where.count), dtype) for x in columns], store, where)
        whole = len(columns) % side == 0 or not self.nest.kernel.shared
        if whole and self._in_halves(store.leaf, len(columns), where):
            self._store_halves(store, columns, known, where)
            return
        parts = woven(columns, self._shuffled)
        for part, place in zip(parts, self._group_places(store, known, where), strict=True):
            self._put_lanes(part, place, dtype.itemsize, where)

    def _whole(self, leaf: Leaf, where: Where) -> Where:
        """All lanes where memory is our own: it has room for them, and what was stored under a mask is long in coming back."""
        return where if where.mask is None or leaf.name in self.given else replace(where, mask=None)

    def _offset(self, form: tuple[Value, Value], known: Known, where: Where) -> str:
        """The offset of lane 0."""
        coefficient, rest = (known[v].name for v in form)
        return self.text.index("add", rest, self.text.index("mul", where.at, coefficient))

    def _at(self, node: Load, offset: str, when: Lanes | None) -> str:
        dtype = node.leaf.dtype
        address = self._pointer(node.leaf.name, dtype, offset)
        if when is not None:
            address = self.text.let(f"select {when}, ptr {address}, ptr @zeros", "ptr").name
        return f"ptr {address}, align {dtype.itemsize}"

    def _pointer(self, leaf: str, dtype: DType, offset: str) -> str:
        return self.text.let(f"getelementptr {dtype.memory}, ptr {self.address[leaf]}, i64 {offset}", "ptr").name

    def _memory(self, dtype: DType, where: Where) -> str:
        return f"<{where.count} x {dtype.memory}>"

    def _wide_load(self, at: str, dtype: DType, where: Where) -> Lanes:
        t, memory = self.text, self._memory(dtype, where)
        if where.parts:
            each = [
                t.let(f"load {x.type}, ptr {place}, align {dtype.itemsize}", x.lane, x.count)
                for x, place in self.parts_of(
                    Lanes("", dtype.memory, where.count), at.split(",", maxsplit=1)[0], where.parts
                )
            ]
            return self.in_register(self._joined(each), dtype)
        if where.mask is None:
            return self.in_register(t.let(f"load {memory}, {at}", dtype.memory, where.count), dtype)
        pointer = at.split(",", maxsplit=1)[0].removeprefix("ptr ")
        mask = Lanes(where.mask, "i1", where.count)
        return self.in_register(self._masked_load(pointer, dtype, mask, where.nothing), dtype)

    def _every_other_load(self, node: Load, offset: str, when: Lanes | None, where: Where) -> Lanes:
        """Every other element, from two wide loads that end with the last one."""
        dtype, count = node.leaf.dtype, where.count
        places = (self._at(node, self.text.index("add", offset, n), when) for n in (0, count - 1))
        first, last = (self.text.let(f"load {self._memory(dtype, where)}, {at}", dtype.memory, count) for at in places)
        return self.in_register(
            self._shuffled(first, last, [*range(0, count, 2), *range(count + 1, 2 * count, 2)]), dtype
        )

    def _strided_load(self, node: Load, offset: str, stride: str, when: Lanes | None, where: Where) -> Lanes:
        t, dtype = self.text, node.leaf.dtype
        if when is not None:
            stride = t.let(f"select {when}, i64 {stride}, i64 0", INDEX_TYPE).name
        at = self._at(node, offset, when).split(",")[0]
        result = Lanes("poison", dtype.memory, where.count)
        for k in range(where.count):
            if k:
                at = f"ptr {t.let(f'getelementptr {dtype.memory}, {at}, i64 {stride}', 'ptr').name}"
            result = self._insert(result, t.let(f"load {dtype.memory}, {at}, align {dtype.itemsize}", dtype.memory), k)
        return self.in_register(result, dtype)

    def stores(self, stores: Sequence[Store], values: Sequence[Lanes], known: Known, where: Where) -> None:
        """What stores values; the parts of a row of pairs, which stand side by side, at once, and those of a group."""
        left = iter(zip(stores, values, strict=True))
        for store, value in left:
            if self.in_group(store, where):
                others = len(self.groups[store.leaf, store.offset][1]) - 1
                self._group_store(store, [value, *(next(left)[1] for _ in range(others))], known, where)
            elif pairs_in_row(store, where):
                _, other = next(left)
                self._pair_store(store, value, other, known, where)
            else:
                self.store(store, value, known, where)

    def woven_store(self, store: Store, values: Sequence[Lanes], known: Known, where: Where) -> None:
        """Two vectors beside each other."""
        t, dtype = self.text, store.leaf.dtype
        form = affine(store.offset, where.axis)
        assert form is not None, "a store is affine"
        for part in form:
            self.value(part, known, None)
        both = side_by_side(t, *(self.widened(value, where.count) for value in values))
        address = self._pointer(store.leaf.name, dtype, self._offset(form, known, where))
        self._put_lanes(both, address, dtype.itemsize, where)

    def _pair_store(self, store: Store, even: Lanes, odd: Lanes, known: Known, where: Where) -> None:
        t, dtype, count = self.text, store.leaf.dtype, where.count
        form, order = affine(store.offset, where.axis), range(count)
        assert form is not None, "a row is affine"
        for part in form:
            self.value(part, known, None)
        offset = self._offset(form, known, where)
        if steps(store, where.axis) == -1:
            offset, order = t.index("sub", offset, 2 * (count - 1)), order[::-1]
        mixed = self._shuffled(
            self.widened(even, count), self.widened(odd, count), [k + n for k in order for n in (0, count)]
        )
        self._wide_store(mixed, self._pointer(store.leaf.name, dtype, offset), dtype, self._twice(where))

    def store(self, store: Store, value: Lanes, known: Known, where: Where) -> None:
        dtype = store.leaf.dtype
        value = self.in_memory(self.widened(value, where.count), dtype)
        form = affine(store.offset, where.axis)
        assert form is not None, "a store is affine"
        for part in form:
            self.value(part, known, None)
        coefficient, stride = form[0], known[form[0]].name
        offset = self._offset(form, known, where)
        if isinstance(coefficient, Const) and coefficient.value == -1 and where.count > 1 and not where.parts:
            self._backward_store(store, value, offset, where)
            return
        where, address = self._whole(store.leaf, where), self._pointer(store.leaf.name, dtype, offset)
        side_by_side = where.count == 1 or (isinstance(coefficient, Const) and coefficient.value == 1)
        if side_by_side or where.parts or where.mask is not None or where.stream:
            self._wide_store(value, address, dtype, where)
        else:
            self._strided_store(value, address, stride, dtype)

    def _backward_store(self, store: Store, value: Lanes, offset: str, where: Where) -> None:
        """The same of a store."""
        order, first = range(where.count)[::-1], self.text.index("sub", offset, where.count - 1)
        if where.mask is not None:
            mask = Lanes(where.mask, "i1", where.count)
            where = replace(where, mask=self._shuffled(mask, mask, order).name)
        address = self._pointer(store.leaf.name, store.leaf.dtype, first)
        self._wide_store(self._shuffled(value, value, order), address, store.leaf.dtype, where)

    def _wide_store(self, value: Lanes, address: str, dtype: DType, where: Where) -> None:
        t, size = self.text, dtype.itemsize
        if where.parts:
            self.store_parts(value, address, dtype, where.parts)
        elif where.mask is not None and not self.registers_for_masks and (some := first_of(where.mask)) is not None:
            self.put_first(value, address, dtype, some)
        elif where.mask is not None:
            function, mask = f"@llvm.masked.store.v{where.count}{memory_suffix(dtype)}.p0", f"<{where.count} x i1>"
            t.declare(function, "void", value.type, "ptr", "i32 immarg", mask)
            t.put(f"call void {function}({value}, ptr {address}, i32 {size}, {mask} {where.mask})")
        else:
            self._put_lanes(value, address, size, where)

    def _put_lanes(self, value: Lanes, address: str, size: int, where: Where) -> None:
        """Store elements of so many bytes side by side: where that goes past the caches they begin with a line of the target, or fill none."""
        how = f"{min(value.count * size, LINE)}, !nontemporal !0" if where.stream else str(size)
        self.text.put(f"store {value}, ptr {address}, align {how}")

    def store_parts(self, row: Lanes, address: str, dtype: DType, parts: Sequence[str]) -> None:
        """Store the parts of a row, as it lies in memory: where they overlap they are the same."""
        size = row.count // len(parts)
        for n, (_, place) in enumerate(self.parts_of(row, f"ptr {address}", parts)):
            part = self._shuffled(row, row, range(n * size, (n + 1) * size))
            self.text.put(f"store {part}, ptr {place}, align {dtype.itemsize}")

    def parts_of(self, row: Lanes, pointer: str, parts: Sequence[str]) -> list[tuple[Lanes, str]]:
        """What a part of a row is, and where it lies."""
        kind = replace(row, count=row.count // len(parts))
        pointer = f"ptr {self.text.opaque('ptr', pointer)}"
        return [(kind, self.text.let(f"getelementptr {row.lane}, {pointer}, i64 {n}", "ptr").name) for n in parts]

    def _strided_store(self, value: Lanes, address: str, stride: str, dtype: DType) -> None:
        t = self.text
        for k in range(value.count):
            if k:
                address = t.let(f"getelementptr {dtype.memory}, ptr {address}, i64 {stride}", "ptr").name
            t.put(f"store {self._extract(value, k)}, ptr {address}, align {dtype.itemsize}")
