"""Which axes of a statement are one because of how it is built, not because their extents are equal by chance.

They have one extent in the kernel, so that loops over them can be shared: in x / sum(x, 1) the axis that is folded is the axis that
is divided. And where two neighbours stand side by side in everything that has one of them, and memory runs on from one to the
next, they are merged: a sum over all of a packed tensor is a sum of one row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from exprten_jit.ir import Value, axis, index, size
from exprten_jit.rewrite import affine

from ..expression.reduction import Over
from ..expression.remap import IndexMap
from ..expression.shape import Layout, Shape, intern_shape
from ..expression.shape import layout as layout_of
from .gather import WEAK, Gathered, ones

Place = tuple[int, int]  # an entry of the structure, or the target; and one of its axes
TARGET = -2


class Same:
    """Classes of axes: `of(place)` stands for all that are the same, and is the target's where that is among them."""

    def __init__(self, found: Gathered, target: Shape, views: Sequence[int], alone: bool) -> None:
        """`views` gives equal leaves one number; 0 is the target, if it is `alone`."""
        self.found = found
        self.target = target
        self._above: dict[Place, Place] = {}
        for one, other in (*self._built(), *self._equal_views(views, alone)):
            first, second = sorted((self.of(one), self.of(other)))
            if first != second:
                self._above[second] = first

    def of(self, place: Place) -> Place:
        while place in self._above:
            place = self._above[place]
        return place

    def dims(self, n: int) -> list[Place | None]:
        """The class of each axis of an entry, or of the target; None for an axis of one element, which is repeated."""
        shape = (self.target if n == TARGET else self.found.shapes[n]) or ()
        return [None if extent == 1 else self.of((n, k)) for k, extent in enumerate(shape)]

    @cached_property
    def reads(self) -> list[dict[int, set[int]]]:
        """For each entry and its axes, the target's axes whose index decides what is read along it, through Remaps too."""
        found, last = self.found, len(self.found.shapes) - 1
        reads: list[dict[int, set[int]]] = [{} for _ in found.shapes]

        def pass_on(n: int, k: int, axes: set[int]) -> None:
            reads[n][k] = reads[n].get(k, set()) | axes

        for (_, k), (_, of) in _aligned(TARGET, self.target, last, found.shapes[last]):
            pass_on(last, of, {k})
        for n, (entry, shape) in reversed(list(enumerate(zip(found.structure, found.shapes, strict=True)))):
            if entry[0] == WEAK or shape is None or entry[0].op == "leaf":
                continue
            key, refs, own = entry[0], [ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK], reads[n]
            if key.op == "reduce":
                kept = key.map.kept
                for ref in refs:
                    for k, of in zip(kept if key.map.keepdims else range(len(kept)), kept, strict=True):
                        pass_on(ref, of, own.get(k, set()))
                continue
            if key.op == "remap":
                source, *refs = refs
                for k, value in enumerate(key.map.index):
                    pass_on(source, k, {a for o, axes in own.items() if axis(f"o{o}") in value.free for a in axes})
            for ref in refs:
                for (_, k), (_, of) in _aligned(n, shape, ref, found.shapes[ref]):
                    pass_on(ref, of, own.get(k, set()))
        return reads

    def axes_of(self, n: int) -> set[int]:
        """The target's axes whose index decides which of an entry's elements is read."""
        return set().union(*self.reads[n].values())

    def _built(self) -> Iterator[tuple[Place, Place]]:
        """Pairs that an operation makes one."""
        found = self.found
        params = iter(found.params)
        yield from _aligned(TARGET, self.target, len(found.shapes) - 1, found.shapes[-1])
        for n, (entry, shape) in enumerate(zip(found.structure, found.shapes, strict=True)):
            if entry[0] == WEAK or shape is None:
                continue
            key, refs = entry[0], entry[1 : 1 + len(entry[0].args)]
            if key.op == "reduce":
                kept = key.map.kept
                mine = kept if key.map.keepdims else range(len(kept))
                yield from (((n, k), (ref, of)) for ref in refs for k, of in zip(mine, kept, strict=True))
                yield from (((refs[0], k), (ref, k)) for ref in refs[1:] for k in key.map.axes)
                continue
            if key.op == "remap":
                yield from _read_alike(n, shape, refs[0], found.shapes[refs[0]], key.map, next(params))
                refs = refs[1:]
            for ref in refs:
                if ref != WEAK:
                    yield from _aligned(n, shape, ref, found.shapes[ref])

    def _equal_views(self, views: Sequence[int], alone: bool) -> Iterator[tuple[Place, Place]]:
        """Pairs of equal views, the target among them."""
        first: dict[int, int] = {0: TARGET} if alone else {}
        for n, view in zip(leaves_of(self.found), views, strict=True):
            other = first.setdefault(view, n)
            shape = self.target if other == TARGET else self.found.shapes[other] or ()
            if other != n:
                yield from _aligned(other, shape, n, self.found.shapes[n])


def leaves_of(found: Gathered) -> list[int]:
    """The entries that are operands."""
    return [n for n, entry in enumerate(found.structure) if entry[0] != WEAK and entry[0].op == "leaf"]


def views_of(found: Gathered, target: Layout) -> list[tuple[int, Layout]]:
    """The target, and all operands, and how they lie."""
    return [(TARGET, target), *zip(leaves_of(found), found.layouts, strict=True)]


def _aligned(n: int, shape: Shape, ref: int, operand: Shape | None) -> Iterator[tuple[Place, Place]]:
    lead = len(shape) - len(operand or ())
    yield from (((n, lead + k), (ref, k)) for k, m in enumerate(operand or ()) if m != 1 and lead + k >= 0)


def _read_alike(
    n: int, shape: Shape, ref: int, source: Shape | None, read: IndexMap, params: Sequence[int]
) -> Iterator[tuple[Place, Place]]:
    """The axes of a Remap whose index is that of its source, from the first to the last, wherever it reads."""
    for k, m in enumerate(source or ()) if read.valid is None else ():
        for of, own in enumerate(shape):
            form = affine(read.index[k], axis(f"o{of}")) if own == m != 1 else None
            if form and form[0] == index(1) and _is_zero(form[1], params):
                yield (n, of), (ref, k)


def _is_zero(value: Value, params: Sequence[int]) -> bool:
    return value == index(0) or any(value == size(f"p{n}") for n, number in enumerate(params) if number == 0)


Folded = tuple[Over, tuple[str | None, ...]]  # of a Reduce: what it folds, and the names of the extents of these axes


def folded(same: Same, loops: dict[int, str], joined: int | None) -> tuple[tuple[Folded, ...], list[tuple[str, int]]]:
    """For each Reduce its folded axes, None for one of one element, and the extents that are no loop's. `loops` names those."""
    names: dict[Place, str] = {(TARGET, k): name for k, name in loops.items() if k != joined}
    sizes: list[tuple[str, int]] = []
    out: list[Folded] = []
    for n in same.found.folds:
        key, ref = same.found.structure[n][:2]
        shape, dims = same.found.shapes[ref] or (), same.dims(ref)
        row: list[str | None] = []
        for k in key.map.axes:
            place = dims[k]
            if place is not None and place not in names:
                names[place] = f"m{len(sizes)}_f"
                sizes.append((names[place], shape[k]))
            row.append(None if place is None else names[place])
        out.append((key.map, tuple(row)))
    return tuple(out), sizes


# Merging.


def merged(same: Same, target: Layout) -> tuple[Gathered, Layout]:
    """The statement with neighbouring axes merged: the first of them has one element, the last all. Their index may mean nothing but a
    position in memory: an axis that is counted stays, and there is no Remap.
    """
    found, counted = same.found, counted_axes(same)
    after = {a: b for a, b in _neighbours(same) if not counted & {a, b} and _runs_on(same, target, a, b)}
    if not after:
        return found, target
    extent: dict[Place, int] = {}  # of what is merged into a place
    seen = set[Place]()
    for row in _rows(same):
        for place in row:
            last = place
            while last in after:
                last = after[last]
            extent.setdefault(place, 1)
            extent.setdefault(last, 1)
            if place not in seen:
                extent[last] *= extent_of(same, place)
            seen.add(place)

    def shape_of(n: int) -> Shape:
        return intern_shape(tuple(1 if place is None else extent[place] for place in same.dims(n)))

    shapes = [None if shape is None else shape_of(n) for n, shape in enumerate(found.shapes)]
    layouts = [layout_of(shape_of(n), old.strides) for n, old in zip(leaves_of(found), found.layouts, strict=True)]
    structure = list(found.structure)
    for n in found.counters:
        key, axis = structure[n][:2]
        structure[n] = (key, axis, *ones(shape_of(n)))
    found = replace(found, structure=structure, shapes=shapes, layouts=layouts)
    return found, layout_of(shape_of(TARGET), target.strides)


def counted_axes(same: Same) -> set[Place | None]:
    """The axes whose index is a number in the statement."""
    found = same.found
    return {same.dims(n)[found.structure[n][1]] for n in found.counters}


def extent_of(same: Same, place: Place) -> int:
    """How many elements an axis has."""
    n, k = place
    shape = same.target if n == TARGET else same.found.shapes[n]
    assert shape is not None, "a Python scalar has no axes"
    return shape[k]


def count_of(same: Same) -> int:
    """How many axes of more than one element there are."""
    return len({p for row in _rows(same) for p in row})


def _rows(same: Same) -> list[list[Place]]:
    """The classes of everything that has axes, without those of one element."""
    return [[p for p in same.dims(n) if p is not None] for n in (TARGET, *range(len(same.found.shapes)))]


def _neighbours(same: Same) -> list[tuple[Place, Place]]:
    """Pairs of classes that stand side by side, in this order and once, wherever one of them stands."""
    rows = _rows(same)
    pairs = {pair for row in rows for pair in itertools.pairwise(row)}
    return [(a, b) for a, b in sorted(pairs) if all(_side_by_side(row, a, b) for row in rows)]


def _side_by_side(row: list[Place], a: Place, b: Place) -> bool:
    if a not in row and b not in row:
        return True
    return a != b and row.count(a) == 1 == row.count(b) and row.index(b) == row.index(a) + 1


def _runs_on(same: Same, target: Layout, a: Place, b: Place) -> bool:
    """Whether memory runs on from axis `a` to axis `b`, and every fold takes both or neither."""
    found = same.found
    for n, layout in views_of(found, target):
        dims = same.dims(n)
        if a in dims and layout.strides[dims.index(a)] != layout.strides[dims.index(b)] * extent_of(same, b):
            return False
    for n in found.folds:
        key, ref = found.structure[n][:2]
        dims = same.dims(ref)
        if a in dims and (dims.index(a) in key.map.axes) != (dims.index(b) in key.map.axes):
            return False
    return True


def own_axes(shape: Shape) -> tuple[int, ...]:
    """The axes that have more than one element."""
    return tuple(k for k, extent in enumerate(shape) if extent != 1)


def own_of(found: Gathered, n: int) -> tuple[int, ...]:
    """Those of an entry."""
    return own_axes(found.shapes[n] or ())


def folded_axes(found: Gathered) -> set[int]:
    """The axes of operands that some fold takes."""
    return {k for n in found.folds for k in found.structure[n][0].map.axes}
