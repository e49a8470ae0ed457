"""Which axes of a statement are one because of how it is built, not because their extents are equal by chance.

They have one extent in the kernel, so that loops over them can be shared: in x / sum(x, 1) the axis that is folded is the axis that
is divided. And where two neighbours stand side by side in everything that has one of them, and memory runs on from one to the
next, they are merged: a sum over all of a packed tensor is a sum of one row.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from exprten_jit.reducers import ACROSS, COLUMNS, FEW, SHORT, UNROLLED

from ..expression.reduction import Over
from ..expression.shape import Layout, Shape, intern_shape
from ..expression.shape import layout as layout_of
from .gather import WEAK, Gathered

Place = tuple[int, int]  # an entry of the structure, or the target; and one of its axes
TARGET = -2
MAX_PERMUTED = 5  # outer loops; 120 orders are tried at most


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

    def _built(self) -> Iterator[tuple[Place, Place]]:
        """Pairs that an operation makes one."""
        found = self.found
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
            for ref in refs[1:] if key.op == "remap" else refs:
                if ref != WEAK:
                    yield from _aligned(n, shape, ref, found.shapes[ref])

    def _equal_views(self, views: Sequence[int], alone: bool) -> Iterator[tuple[Place, Place]]:
        """Pairs of equal views, the target among them."""
        first: dict[int, int] = {0: TARGET} if alone else {}
        for n, view in zip(_leaves(self.found), views, strict=True):
            other = first.setdefault(view, n)
            shape = self.target if other == TARGET else self.found.shapes[other] or ()
            if other != n:
                yield from _aligned(other, shape, n, self.found.shapes[n])


def _leaves(found: Gathered) -> list[int]:
    return [n for n, entry in enumerate(found.structure) if entry[0] != WEAK and entry[0].op == "leaf"]


def _aligned(n: int, shape: Shape, ref: int, operand: Shape | None) -> Iterator[tuple[Place, Place]]:
    lead = len(shape) - len(operand or ())
    yield from (((n, lead + k), (ref, k)) for k, m in enumerate(operand or ()) if m != 1 and lead + k >= 0)


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


def folds_first(axes: list[int], same: Same) -> list[int]:
    """The target's axes in the order in which fewest folds are repeated by a loop that they do not depend on; the innermost
    stays.
    """
    if not 2 < len(axes) <= MAX_PERMUTED + 1:
        return axes
    needs = [{d[1] for d in same.dims(n) if d is not None and d[0] == TARGET} for n in same.found.folds]

    def repeated(order: tuple[int, ...]) -> int:
        total = 0
        for need in needs:
            outer = need - {axes[-1]}
            depth = max((k + 1 for k, a in enumerate(order) if a in outer), default=0)
            total += sum(a not in outer for a in order[:depth])
        return total

    return [*min(itertools.permutations(axes[:-1]), key=repeated), axes[-1]]


PACKED = 16  # rows that lie side by side: as many as a vector has lanes


def short_rows(axes: list[int], same: Same, target: Layout) -> tuple[list[int], int, bool] | None:
    """Where every fold takes rows of a few elements only: the target's axes with the longest that no fold takes innermost, and which
    of `reducers.SHORT` the rows fit; or how many elements they have, and True, where there is a kernel for that number.
    """
    found, taken = same.found, set[Place]()
    for n in found.folds:
        key, ref = found.structure[n][:2]
        live = [p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes]
        if len(live) != 1 or _extent(same, live[0]) > SHORT[-1] or not _is_row(same, live[0], _below(found, ref)):
            return None
        taken.update(live)
    outer = [k for k in axes if same.of((TARGET, k)) not in taken]
    fits = {next(most for most in SHORT if _extent(same, place) <= most) for place in taken}
    if found.params or not outer or len(fits) != 1:
        return None
    inner = max(outer, key=lambda k: target.shape[k])
    for k in sorted(outer, key=lambda k: -target.shape[k]):
        enough = k == inner or target.shape[k] >= PACKED
        if enough and (length := _packed_rows(same, target, taken, (TARGET, k))):
            return [*(n for n in axes if n != k), k], length, True
    order = [*(k for k in axes if k != inner), inner]
    return order, fits.pop(), False  # however few rows there are: another batch is not to be compiled for


def _packed_rows(same: Same, target: Layout, rows: set[Place], inner: Place) -> int:
    """The length of all rows that are folded, where it is one of those for which there is a kernel, and the rows lie side by side
    wherever their elements do; else 0.
    """
    lengths = {_extent(same, place) for place in rows}
    length = lengths.pop()
    if lengths or length > UNROLLED:
        return 0
    for n, view in ((TARGET, target), *zip(_leaves(same.found), same.found.layouts, strict=True)):
        at = {p: s for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None}
        along, step = [at[p] for p in rows if p in at], at.get(same.of(inner), 0)
        if along and step and (along, step) != ([1], length) and abs(step) != 1:
            return 0
    return length


def across_inside(axes: list[int], same: Same) -> list[int]:
    """The target's axes with the one innermost along which what is folded lies nearest together, where that is no axis that is folded:
    such folds are taken across, however many elements there are. Nothing where there is none, or where a fold runs along its elements
    and depends on that axis.
    """
    found, wanted, rows = same.found, list[Place](), set[Place | None]()
    near = {n: _nearest(same, n, view) for n, view in zip(_leaves(found), found.layouts, strict=True)}
    for n in found.folds:
        key, ref = found.structure[n][:2]
        over = {p for k, p in enumerate(same.dims(ref)) if k in key.map.axes}
        places = [near[m] for m in sorted(_below(found, ref))]
        if over.isdisjoint(p for p in places if p is not None):
            wanted += [p for p in places if p in same.dims(n) and p is not None]
        else:
            rows.update(same.dims(n))
    inner = [k for p in wanted if p not in rows for k in axes if same.of((TARGET, k)) == p]
    if not inner:
        return []
    last = axes[-1] if axes[-1] in inner else inner[0]
    return [*(k for k in axes if k != last), last]


def _nearest(same: Same, n: int, view: Layout) -> Place | None:
    """The axis along which a leaf's elements lie nearest together."""
    steps = [(abs(s), p) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and s]
    return min(steps)[1] if steps else None


def few_columns(axes: list[int], same: Same, extents: list[int]) -> tuple[int, bool]:
    """Where all folds run across the innermost axis and its columns are few: how many, or what number they fit; and whether folds take
    one block of rows at most, for each index of an outer axis.
    """
    if not axes or extents[-1] < 2:
        return 0, False
    count, inner, taken = extents[-1], same.of((TARGET, axes[-1])), dict[Place, int]()
    for n in same.found.folds:
        key, ref = same.found.structure[n][:2]
        dims = same.dims(ref)
        taken |= {p: _extent(same, p) for k, p in enumerate(dims) if p is not None and k in key.map.axes}
        if inner not in dims or inner in taken:
            return 0, False
    leaves = list(_leaves(same.found))
    if not _is_row(same, inner, leaves) or any(_is_row(same, p, leaves) for p in taken):
        return 0, False
    outer = [k for k in axes[:-1] if same.of((TARGET, k)) not in taken]
    low = bool(outer) and max(taken.values(), default=0) <= ACROSS.block
    fits = count if count <= FEW else next((most for most in COLUMNS[: None if low else -1] if count <= most), 0)
    return fits, low and fits > 0


SMALL = 4  # times smaller than what is folded: how a target is stored matters less then than how that is read


NARROW = 64  # columns: of so many and more a row is long enough


def runs_onto(axes: list[int], same: Same, extents: list[int]) -> int | None:
    """The outer axis along which the columns of all folds run on behind those of the innermost one, where these are few."""
    found = same.found
    if len(axes) < 2 or extents[-1] >= NARROW or found.params or found.counters:
        return None
    inner, below = same.of((TARGET, axes[-1])), set[int]().union(*(_below(found, n) for n in found.folds))
    views = [(same.dims(n), view.strides) for n, view in zip(_leaves(found), found.layouts, strict=True) if n in below]
    for k in axes[:-1]:
        outer = same.of((TARGET, k))
        alike = all(inner in same.dims(n) and outer in same.dims(n) for n in found.folds)
        if alike and all(_follows(dims, steps, outer, inner, extents[-1]) for dims, steps in views):
            return k
    return None


def _follows(dims: list[Place | None], steps: Sequence[int], outer: Place, inner: Place, count: int) -> bool:
    """Whether rows of so many elements along one axis follow each other along another, or neither is an operand's."""
    found = [steps[dims.index(p)] if p in dims else None for p in (outer, inner)]
    return found[1] == 1 and found[0] == count if found[1] is not None else found[0] is None


def loops_of(axes: list[int], same: Same, target: Layout, free: bool, reverse: bool) -> list[int]:
    """The target's axes in the order of the loops. `free`: elements may be stored in any order. Where some are side by side in what is
    folded and others in the target, sizes decide what is innermost, but not which way a fold is taken.
    """
    if free and (inside := across_inside(axes, same)):
        return folds_first(inside, same)
    near = axes if reverse else nearest_inside(axes, same, target)
    found = [folds_first(rows_outside(x, same) if free and x else x, same) for x in (axes, near)]
    ways = [_across(each, same) for each in found]
    return found[ways[0] == ways[1]]


def _across(axes: list[int], same: Same) -> list[bool]:
    """Whether each fold is taken across its elements, vectors running along the innermost loop: what `folds.ordered` says of the kernel."""
    found, inner = same.found, same.of((TARGET, axes[-1])) if axes else None
    of_rows, needs = False, []
    for n in found.folds:
        key, ref = found.structure[n][:2]
        over = [p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes]
        needs.append(inner is not None and inner in same.dims(n))
        of_rows |= needs[-1] and any(_is_row(same, place, _below(found, ref)) for place in over)
    along = of_rows or rows_are_near(axes, same)
    return [need and not along for need in needs]


def nearest_inside(axes: list[int], same: Same, target: Layout) -> list[int]:
    """The target's axes with the one innermost along which the largest folded operand runs on, where the target is small beside it."""
    views = [(view.size, n, view) for n, view in zip(_leaves(same.found), same.found.layouts, strict=True)]
    size, n, view = max(views, key=lambda found: found[:2], default=(0, 0, target))
    if size < SMALL * target.size:
        return axes
    near = {p for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and abs(s) == 1}
    inner = [k for k in axes if same.of((TARGET, k)) in near]
    return [*(k for k in axes if k not in inner), *inner]


def rows_outside(axes: list[int], same: Same) -> list[int]:
    """The target's axes with one innermost that no fold depends on, where folds of rows depend on the innermost one: vectors cannot run
    along it, and every fold would be repeated for each of its elements.
    """
    found, needs, owned = same.found, set[Place](), False
    units = {n: _unit(same, n, view) for n, view in zip(_leaves(found), found.layouts, strict=True)}
    for n in found.folds:
        key, ref = found.structure[n][:2]
        folded = {p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes}
        needs.update(p for p in same.dims(n) if p is not None)
        owned = owned or (
            same.of((TARGET, axes[-1])) in same.dims(n) and any(units[m] in folded for m in _below(found, ref))
        )
    free = [k for k in axes if same.of((TARGET, k)) not in needs]
    return [*(k for k in axes if k != free[-1]), free[-1]] if owned and free else axes


def _unit(same: Same, n: int, view: Layout) -> Place | None:
    return next((p for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and abs(s) == 1), None)


def _below(found: Gathered, n: int) -> set[int]:
    """The leaves that an entry is made of."""
    stack, seen = [n], set[int]()
    while stack:
        n = stack.pop()
        entry = found.structure[n]
        if n not in seen and entry[0] != WEAK:
            seen.add(n)
            stack.extend(ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK and entry[0].op != "leaf")
    return seen.intersection(_leaves(found))


def rows_are_near(axes: list[int], same: Same) -> bool:
    """Whether the elements of a fold lie nearer together than those along the innermost loop, though not side by side: then the fold is
    taken along them, where else every lane would read a line of its own.
    """
    if not axes:
        return False
    inner, views = same.of((TARGET, axes[-1])), list(zip(_leaves(same.found), same.found.layouts, strict=True))
    for n in same.found.folds:
        key, ref = same.found.structure[n][:2]
        mine = {p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes}
        for leaf, view in views:
            strides = {p: abs(s) for p, s in zip(same.dims(leaf), view.strides, strict=True) if p is not None and s}
            steps = [strides[p] for p in mine if p in strides]
            if inner in strides and inner not in mine and steps and 1 < min(steps) < strides[inner]:
                return True
    return False


def lies_across(same: Same, target: Layout) -> bool:
    """Whether memory runs on along one axis in one operand, or the target, and along another in another."""
    units = set[Place]()
    for n, view in ((TARGET, target), *zip(_leaves(same.found), same.found.layouts, strict=True)):
        steps = [(p, abs(s)) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and s]
        if len(steps) > 1:
            units.update(p for p, s in steps if s == 1)
    return len(units) > 1


def _is_row(same: Same, place: Place, leaves: Collection[int]) -> bool:
    """Whether the elements along an axis lie side by side in some of the leaves."""
    views = [(n, view) for n, view in zip(_leaves(same.found), same.found.layouts, strict=True) if n in leaves]
    return any(abs(s) == 1 for n, view in views for p, s in zip(same.dims(n), view.strides, strict=True) if p == place)


# Merging.


def merged(same: Same, target: Layout) -> tuple[Gathered, Layout]:
    """The statement with neighbouring axes merged: the first of them has one element, the last all. No index may mean anything in
    it but a position in memory: no Remap, no counter.
    """
    found = same.found
    after = {a: b for a, b in _neighbours(same) if _runs_on(same, target, a, b)}
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
                extent[last] *= _extent(same, place)
            seen.add(place)

    def shape_of(n: int) -> Shape:
        return intern_shape(tuple(1 if place is None else extent[place] for place in same.dims(n)))

    shapes = [None if shape is None else shape_of(n) for n, shape in enumerate(found.shapes)]
    layouts = [layout_of(shape_of(n), old.strides) for n, old in zip(_leaves(found), found.layouts, strict=True)]
    return replace(found, shapes=shapes, layouts=layouts), layout_of(shape_of(TARGET), target.strides)


def _extent(same: Same, place: Place) -> int:
    n, k = place
    shape = same.target if n == TARGET else same.found.shapes[n]
    assert shape is not None, "a Python scalar has no axes"
    return shape[k]


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
    views = [(TARGET, target), *zip(_leaves(found), found.layouts, strict=True)]
    for n, layout in views:
        dims = same.dims(n)
        if a in dims and layout.strides[dims.index(a)] != layout.strides[dims.index(b)] * _extent(same, b):
            return False
    for n in found.folds:
        key, ref = found.structure[n][:2]
        dims = same.dims(ref)
        if a in dims and (dims.index(a) in key.map.axes) != (dims.index(b) in key.map.axes):
            return False
    return True
