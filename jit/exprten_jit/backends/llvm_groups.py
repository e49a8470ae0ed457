"""Rows that lie one behind the other, which are read and stored in whole vectors, and taken apart into columns in registers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ..dtypes import DType
from ..ir import Const, Leaf, Load, Store, Value, load
from ..machine import LINE
from ..nest import FIRST, Nest
from ..rewrite import affine, steps, walk
from .llvm_masked import of_first
from .llvm_some import Some
from .llvm_text import Lanes
from .llvm_where import Known, Where
from .llvm_woven import blocks_of, crossed, unwoven, woven

TWO_HALVES = 256  # bits of registers of two halves, between which little goes
FOUR, FOURS = 4, (4, 8)  # elements of rows that do not follow each other, and bytes of one
CLAIMED = 256  # bytes: of a row that is stored, lines so much further are asked for, not yet those that are stored now
FEW_ODD = 5  # elements of rows whose lanes are exchanged in as few steps


class Groups(Some):
    """Emits what is read and stored of them; `known` is what has been emitted where the next instruction goes."""

    nest: Nest

    @abstractmethod
    def value(self, root: Value, known: Known, where: Where | None) -> Lanes:
        """Emit `root` and what it needs, all of it added to `known`."""

    def in_group(self, at: Load | Store, where: Where) -> bool:
        """Whether lanes are elements of rows that lie one behind the other."""
        in_rows = where.axis in at.offset.free and steps(at, where.axis) != 1
        return where.count > 1 and in_rows and (at.leaf, at.offset) in self.groups

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
        """Whether lanes are elements of rows that do not follow each other, which are read by half a register, of all of their lanes, or some elements at a time."""
        if (node.leaf, node.offset) not in self.apart or where.mask is not None or where.count < FOUR:
            return False
        dtype = node.leaf.dtype
        if self._pitch(node, where):
            return True
        return dtype.memory == dtype.lane and (dtype.itemsize in FOURS or self._by_halves(node, where))

    def _by_halves(self, node: Load, where: Where) -> bool:
        bits = where.count * node.leaf.dtype.computed.bits
        return bits == TWO_HALVES and where.count // 2 <= len(self.apart[node.leaf, node.offset][1])

    def _pitch(self, node: Load, where: Where) -> int:
        """From row to row how many elements there are, if that is known."""
        form = affine(self.apart[node.leaf, node.offset][1][0], where.axis)
        return int(form[0].value) if form and isinstance(form[0], Const) else 0

    def _gaps_load(self, node: Load, known: Known, where: Where) -> None:
        """Rows that others lie between, read as one, and taken apart: nothing behind the last row is read."""
        (leaf, offsets), pitch = self.apart[node.leaf, node.offset], self._pitch(node, where)
        form = affine(offsets[0], where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, known, None)
        begin, kind = self._pointer(leaf.name, leaf.dtype, self._offset(form, known, where)), leaf.dtype.memory
        *most, last = (self.text.further(begin, kind, str(n * where.count)) for n in range(pitch))
        read = f"load {self._memory(leaf.dtype, where)}, ptr"
        parts = [self.text.let(f"{read} {at}, align {leaf.itemsize}", kind, where.count) for at in most]
        there = of_first(where.count - (pitch - len(offsets)), where.count)
        parts.append(self._masked_load(last, leaf.dtype, Lanes(there, "i1", where.count)))
        for offset, column in zip(offsets, unwoven(parts, self._shuffled), strict=False):
            known[load(leaf, offset)] = self.in_register(column, leaf.dtype)

    def _apart_load(self, node: Load, known: Known, where: Where) -> Lanes:
        """An element of each row, and all others of these rows, which are known from now on."""
        if self._pitch(node, where):
            self._gaps_load(node, known, where)
            return known[node]
        t, (leaf, offsets), side = self.text, self.apart[node.leaf, node.offset], where.count // 2
        form = affine(offsets[0], where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, known, None)
        begin, stride = self._pointer(leaf.name, leaf.dtype, self._offset(form, known, where)), known[form[0]].name
        rows = [t.further(begin, leaf.dtype.memory, t.index("mul", stride, r)) for r in range(where.count)]
        if not self._by_halves(node, where):
            self._load_fours(leaf, offsets, rows, known)
            return known[node]
        read = f"load <{side} x {leaf.dtype.memory}>, ptr"
        for b in blocks_of(len(offsets), side):
            places = [t.further(row, leaf.dtype.memory, str(b)) for row in rows]
            halves = [t.let(f"{read} {at}, align {leaf.itemsize}", leaf.dtype.memory, side) for at in places]
            joined = [self._joined([halves[r], halves[r + side]]) for r in range(side)]
            for offset, column in zip(offsets[b : b + side], crossed(joined, self._shuffled), strict=True):
                known[load(leaf, offset)] = self.in_register(column, leaf.dtype)
        return known[node]

    def _load_fours(self, leaf: Leaf, offsets: Sequence[Value], rows: Sequence[str], known: Known) -> None:
        """A few elements of each row at a time, which are turned."""
        t, dtype = self.text, leaf.dtype
        for b in range(0, len(offsets), FOUR):
            here = offsets[b : b + FOUR]
            mask = Lanes(of_first(len(here), FOUR), "i1", FOUR)
            places = [t.further(row, dtype.memory, str(b)) for row in rows]
            if len(here) == FOUR:
                read = f"load <{FOUR} x {dtype.memory}>, ptr"
                parts = [t.let(f"{read} {at}, align {leaf.itemsize}", dtype.memory, FOUR) for at in places]
            else:
                parts = [self._masked_load(at, dtype, mask) for at in places]
            for offset, column in zip(here, self._turned(parts, FOUR), strict=False):
                known[load(leaf, offset)] = self.in_register(column, dtype)

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
            self.claim_along(store, place, where)
            self._put_lanes(part, place, dtype.itemsize, where)

    def _offset(self, form: tuple[Value, Value], known: Known, where: Where) -> str:
        """The offset of lane 0."""
        coefficient, rest = (known[v].name for v in form)
        return self.text.index("add", rest, self.text.index("mul", where.at, coefficient))

    def _pointer(self, leaf: str, dtype: DType, offset: str) -> str:
        return self.text.let(f"getelementptr {dtype.memory}, ptr {self.address[leaf]}, i64 {offset}", "ptr").name

    def _memory(self, dtype: DType, where: Where) -> str:
        return f"<{where.count} x {dtype.memory}>"

    def claim(self, address: str, *further: int) -> None:
        """Ask for the lines so many bytes further than where something is stored by way of the caches, where a processor asks for one after the other only."""
        for n in further if self.machine.waits else ():
            self.text.prefetch(address, n, FIRST, stored=True)

    def claim_along(self, store: Store, address: str, where: Where) -> None:
        """The same of what follows in a row of the target, of which nothing is read."""
        along = not where.stream and where.mask is None and store.leaf.name in self.given
        if along and not any(isinstance(x, Load) and x.leaf == store.leaf for x in walk(store.value)):
            self.claim(address, CLAIMED)

    def _put_lanes(self, value: Lanes, address: str, size: int, where: Where) -> None:
        """Store elements of so many bytes side by side: where that goes past the caches they begin with a line of the target, or fill none."""
        how = f"{min(value.count * size, LINE)}, !nontemporal !0" if where.stream else str(size)
        self.text.put(f"store {value}, ptr {address}, align {how}")
