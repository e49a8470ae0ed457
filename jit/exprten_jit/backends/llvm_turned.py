"""Rows of few elements, one for each lane: how they are read.

An element of each row is a load for each lane. There are two better ways. What is cheap is computed along the rows, a whole row in a
register, and the rows are brought together two by two, halves beside halves: in the end each lane holds a row's result. What is
dear has to have a row in each lane; its rows are turned into columns in registers, 16 bytes of each at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..folds import folds_of
from ..ir import Fold, Load, Value
from ..reducers import SHORT, halved
from ..rewrite import affine, in_a_row
from ..vectors import computed, cost_of
from .llvm_fold import Folds, Row
from .llvm_memory import Known, Where
from .llvm_text import INDEX_TYPE, Lanes

GROUP_BYTES = 16  # of a row at a time: the part of a register within which shuffles are cheap
CHEAP = 8  # additions an element: what costs more is not computed for lanes that hold nothing
LEAST_BITS = 256  # of the vectors: narrower ones have no masked loads everywhere


class Turned(Folds):
    """Emits folds of short rows."""

    @property
    def most(self) -> int:
        """Elements of a row."""
        return self.nest.kernel.short

    def along_rows_pays(self, node: Fold, where: Where) -> bool:
        """Whether a fold is cheap enough to be computed along its rows."""
        return where.count * _widest(node) >= LEAST_BITS and where.mask is None and _cheap(node)

    def along_rows(self, node: Fold, known: Known, where: Where) -> Row:
        """A fold of short rows, a row for each lane of `where`, computed along the rows."""
        width = min(self.most, where.count)
        combine = partial(self.combine, node)
        left = self.splat(Lanes(self._narrow(known[node.extent].name), "i32"), width)
        least = self.most // 2 if self.most > SHORT[0] else 0  # a kernel of longer rows has none of less than half
        firsts = range(0, self.most, width)
        masks = [None if first + width <= least else self._below(left, first) for first in firsts]
        identity = self._identity([node], width)

        def row(r: int) -> Row:
            inside, parts = self._one_row(node, known, where, r), []
            for first, mask in zip(firsts, masks, strict=True):
                at = Where(node.axis, str(first), width, mask.name if mask else None)
                own = dict(inside)
                found = [self.widened(self.value(body, own, at), width) for body in node.bodies]
                if mask:
                    pairs = zip(found, identity, strict=True)
                    found = [self.text.let(f"select {mask}, {x}, {y}", x.lane, width) for x, y in pairs]
                parts.append(found)
            return halved(parts, combine)

        def rows(first: int, many: int) -> Row:
            """A number for each of as many lanes: first of the first row."""
            if many == 1:
                return row(first)
            a, b = rows(first, many // 2), rows(first + many // 2, many // 2)
            size = 2 * width // many
            low, high = ([self._halves(x, y, size, half) for x, y in zip(a, b, strict=True)] for half in (0, 1))
            return combine(low, high)

        found = [rows(first, width) for first in range(0, where.count, width)]
        return [self._joined(column) for column in zip(*found, strict=True)]

    def _one_row(self, node: Fold, known: Known, where: Where, r: int) -> Known:
        """What is known of the row of lane r."""
        inside: Known = {**known, where.axis: Lanes(self.text.index("add", where.at, r), INDEX_TYPE)}
        stack, seen = list(node.bodies), set[Value]()
        while stack:
            part = stack.pop()
            if part in seen or where.axis not in part.free or part is where.axis:
                continue
            seen.add(part)
            if part in known and known[part].count > 1:
                inside[part] = self._extract(known[part], r)
            else:
                inside.pop(part, None)
                stack.extend(part.children)
        return inside

    def _narrow(self, name: str) -> str:
        return self.text.let(f"trunc {INDEX_TYPE} {name} to i32", "i32").name

    def _below(self, left: Lanes, first: int) -> Lanes:
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

    def columns(self, load: Load, inside: Known, where: Where, left: str, group: int) -> list[Lanes]:
        """What `load` reads of each lane's row from the present element on: `group` columns, of which `left` exist."""
        t, dtype = self.text, load.leaf.dtype
        form = affine(load.offset, where.axis)
        assert form is not None, "rows lie at regular distances"
        for part in form:
            self.value(part, inside, None)
        address = self._pointer(load.leaf.name, dtype, self._offset(form, inside, where))
        positions = ", ".join(f"{INDEX_TYPE} {j}" for j in range(group))
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
        return self._turned(rows, group)

    def _turned(self, rows: Sequence[Lanes], group: int, unit: int = 1) -> list[Lanes]:
        """Column j holds element j of all rows, in their order; elements of `unit` lanes."""
        parts, size = [self._joined(rows[c::group]) for c in range(group)], 1
        while size < group:
            pairs = [(parts[k], parts[k + size]) for k in range(group) if not k & size]
            parts = [self._woven(a, b, group * unit, size * unit, half) for a, b in pairs for half in (0, 1)]
            size *= 2
        return parts

    def _woven(self, a: Lanes, b: Lanes, group: int, size: int, half: int) -> Lanes:
        """Of every `group` elements one half, `size` of `a` and `size` of `b` in turn."""
        starts = range(0, a.count, group)
        units = [at + u for at in starts for u in range(half * group // 2, (half + 1) * group // 2, size)]
        return self._shuffled(a, b, [x + n for u in units for x in (u, a.count + u) for n in range(size)])

    def _halves(self, a: Lanes, b: Lanes, size: int, half: int) -> Lanes:
        """One half of every `size` elements, first of all of `a`, then of all of `b`."""
        mine = [at + n for at in range(0, a.count, size) for n in range(half * size // 2, (half + 1) * size // 2)]
        return self._shuffled(a, b, [*mine, *(a.count + n for n in mine)])

    def _joined(self, parts: Sequence[Lanes]) -> Lanes:
        """Short vectors as one, in their order."""
        found = list(parts)
        while len(found) > 1:
            found = [
                self._shuffled(a, b, range(a.count + b.count)) for a, b in zip(found[::2], found[1::2], strict=True)
            ]
        return found[0]


def _is_row(x: Load, node: Fold, where: Where) -> bool:
    dtype = x.leaf.dtype
    side_by_side = node.axis in x.offset.free and in_a_row(x, node.axis)
    plain = x.when is None and dtype.memory == dtype.lane
    return side_by_side and plain and where.axis in x.offset.free and affine(x.offset, where.axis) is not None


def _widest(node: Fold) -> int:
    return max(dtype.bits for dtype in node.dtypes)


def _cheap(node: Fold) -> bool:
    """Whether a fold is computed along its rows: they lie side by side, and little is done with an element."""
    if sum(map(cost_of, node.bodies)) > CHEAP or any(node.axis in inner.free for inner in folds_of(*node.bodies)):
        return False
    loads = [x for x in computed(node.bodies, node.axis) if isinstance(x, Load) and node.axis in x.offset.free]
    return all(x.when is None and in_a_row(x, node.axis) and x.leaf.dtype.itemsize >= 4 for x in loads)
