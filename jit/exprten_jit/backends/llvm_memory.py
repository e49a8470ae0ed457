"""Loads and stores as LLVM instructions.

A load is emitted by the coefficient of the innermost axis in its offset: 1 is one wide load, -1 a wide load turned round, 2 two of which
every other element is taken, anything else a load per lane from a running pointer (faster than a hardware gather), none a scalar load. A uniform guard chooses between the
address and a row of zeros, so nothing branches and nothing is read where the guard is false.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from ..dtypes import DType
from ..ir import Axis, Const, Leaf, Load, Store, Value
from ..pairs import twins
from ..rewrite import affine, steps
from ..strung import Places, places_of
from .llvm_groups import Groups
from .llvm_masked import first_of
from .llvm_narrow import even_and_odd, side_by_side
from .llvm_ops import memory_suffix
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known, Part, Where

ZERO_ROW = 64  # bytes behind @zeros: the widest vector there is


def pairs_in_row(at: Load | Store, where: Where) -> bool:
    """Whether lanes are the parts of pairs that lie side by side."""
    return at.leaf.pairs and where.count > 1 and steps(at, where.axis) in (1, -1)


class Memory(Groups):
    """Emits loads and stores."""

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
        if where is not None and where.block and (lie := places_of(node, where.axis)):
            return self.strung_load(node, lie, known, where)
        form = affine(node.offset, where.axis) if where is not None and where.axis in node.offset.free else None
        if where is None or form is None or where.count == 1:
            offset = self._offset(form, known, where) if form and where else known[node.offset].name
            return self.in_register(
                self.text.let(f"load {dtype.memory}, {self._at(node, offset, when)}", dtype.memory), dtype
            )
        coefficient = form[0]
        offset = self._offset(form, known, where)
        if isinstance(coefficient, Const) and coefficient.value == 1:
            found = self._wide_load(self._at(node, offset, when), dtype, self._whole(node.leaf, where))
            return found if node.leaf.name in self.given else self._there(found, dtype, where)
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
            mask = mask if where.turned else self._shuffled(mask, mask, order)
            wide = self._masked_load(place, dtype, mask, where.nothing)
        return self.in_register(wide if where.turned else self._shuffled(wide, wide, order), dtype)

    @abstractmethod
    def strung_load(self, node: Load, lie: Places, known: Known, where: Where) -> Lanes:
        """What a load reads of rows that are strung together."""

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
        parts = tuple(Part(self.text.index("mul", x.first, 2), 2 * x.lanes, x.times) for x in where.parts)
        mask = where.mask
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

    def first_of(self, node: Load, where: Where) -> Value:
        """The offset of the first of what is read with an element."""
        if self.in_group(node, where):
            return self.groups[node.leaf, node.offset][1][0]
        return (twins(node)[0] if pairs_in_row(node, where) else node).offset

    def _whole(self, leaf: Leaf, where: Where) -> Where:
        """All lanes where memory is our own: it has room for them, and what was stored under a mask is long in coming back."""
        return where if where.mask is None or leaf.name in self.given else replace(where, mask=None)

    def _there(self, found: Lanes, dtype: DType, where: Where) -> Lanes:
        """What was read of our own memory, zeros where nothing was stored: what was left there may be numbers for which a processor takes a hundred times as long."""
        if where.mask is None or not self.machine.assists or dtype.kind not in "fc":
            return found
        zeros = Lanes("zeroinitializer", found.lane, found.count)
        return self.text.let(f"select <{found.count} x i1> {where.mask}, {found}, {zeros}", found.lane, found.count)

    def _at(self, node: Load, offset: str, when: Lanes | None) -> str:
        dtype = node.leaf.dtype
        address = self._pointer(node.leaf.name, dtype, offset)
        if when is not None:
            address = self.text.let(f"select {when}, ptr {address}, ptr @zeros", "ptr").name
        return f"ptr {address}, align {dtype.itemsize}"

    def _wide_load(self, at: str, dtype: DType, where: Where) -> Lanes:
        t, memory = self.text, self._memory(dtype, where)
        if where.parts:
            found = dict[Part, Lanes]()
            for part, place in self.places_of(where.parts, dtype.memory, at.split(",", maxsplit=1)[0]).items():
                kind = Lanes("", dtype.memory, part.lanes).type
                x = t.let(f"load {kind}, ptr {place}, align {dtype.itemsize}", dtype.memory, part.lanes)
                found[part] = self.filled(x, part)
            return self.in_register(self._joined([found[part] for part in where.parts]), dtype)
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
        address = self._pointer(store.leaf.name, dtype, offset)
        self.claim_along(store, address, where)
        self._wide_store(mixed, address, dtype, self._twice(where))

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
            if where.count > 1:
                self.claim_along(store, address, where)
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
        elif where.mask is not None and first_of(where.mask) == 1:
            # What is narrowed, and stored under such a mask, LLVM 22 stores as wide as it was: beyond the lane.
            t.put(f"store {self._extract(value, 0)}, ptr {address}, align {size}")
        elif where.mask is not None:
            function, mask = f"@llvm.masked.store.v{where.count}{memory_suffix(dtype)}.p0", f"<{where.count} x i1>"
            t.declare(function, "void", value.type, "ptr", "i32 immarg", mask)
            t.put(f"call void {function}({value}, ptr {address}, i32 {size}, {mask} {where.mask})")
        else:
            self._put_lanes(value, address, size, where)

    def store_parts(self, row: Lanes, address: str, dtype: DType, parts: Sequence[Part]) -> None:
        """Store the parts of a row, as it lies in memory: where they overlap they are the same."""
        size = row.count // len(parts)
        for part, place in self.places_of(parts, row.lane, f"ptr {address}").items():
            first = parts.index(part) * size
            x = self._shuffled(row, row, range(first, first + part.lanes))
            self.text.put(f"store {x}, ptr {place}, align {dtype.itemsize}")

    def places_of(self, parts: Sequence[Part], lane: str, pointer: str) -> dict[Part, str]:
        """Where each part of a row lies."""
        row = self.text.opaque("ptr", pointer)
        return {x: self.text.let(f"getelementptr {lane}, ptr {row}, i64 {x.first}", "ptr").name for x in parts}

    def filled(self, x: Lanes, part: Part) -> Lanes:
        """A vector of what was read of a part."""
        if part.lanes == 1:
            return self.splat(x, part.times)
        return x if part.times == 1 else self._shuffled(x, x, [*range(part.lanes)] * part.times)

    def _strided_store(self, value: Lanes, address: str, stride: str, dtype: DType) -> None:
        t = self.text
        for k in range(value.count):
            if k:
                address = t.let(f"getelementptr {dtype.memory}, ptr {address}, i64 {stride}", "ptr").name
            t.put(f"store {self._extract(value, k)}, ptr {address}, align {dtype.itemsize}")
