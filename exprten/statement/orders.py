"""In which order a statement's loops run: which axis is innermost, and what outer ones are before which."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from math import prod

from exprten_jit.reducers import AS_ONE, COLUMNS, ROW, SHORT, UNROLLED, UNROLLED_NARROW, rounded_up

from ..expression.shape import Layout
from .axes import TARGET, Place, Same, counted_axes, extent_of, leaves_of, views_of
from .gather import WEAK, Gathered
from .registers import machine

MAX_PERMUTED = 5  # outer loops; 120 orders are tried at most


def folds_first(axes: list[int], same: Same, others: Collection[int] = ()) -> list[int]:
    """The target's axes in the order in which fewest folds but `others` are repeated by a loop that they do not depend on; the
    innermost stays.
    """
    if not 2 < len(axes) <= MAX_PERMUTED + 1:
        return axes
    needs = [same.axes_of(n) for n in same.found.folds if n not in others]

    def repeated(order: tuple[int, ...]) -> int:
        total = 0
        for need in needs:
            outer = need - {axes[-1]}
            depth = max((k + 1 for k, a in enumerate(order) if a in outer), default=0)
            total += sum(a not in outer for a in order[:depth])
        return total

    return [*min(itertools.permutations(axes[:-1]), key=repeated), axes[-1]]


MOST_PADDED = 4, 8  # elements of rows with gaps, and of those that are stored, or whose extremes have places
LEAST_APART = 4  # elements of rows that do not: half a register
NEAR = 1 << 20  # elements that are in a cache
PACKED = 16  # rows that lie side by side: as many as a vector has lanes


def short_rows(
    axes: list[int], same: Same, target: Layout, others: Collection[int]
) -> tuple[list[int], int, bool, bool] | None:
    """Where every fold but `others` takes rows of a few elements only: the target's axes with the longest that no fold takes innermost, and which
    of `reducers.SHORT` the rows fit; or how many elements they have, and True, where there is a kernel for that number. Then
    whether longer rows lie side by side.
    """
    found, taken = same.found, set[Place]()
    for n in found.folds:
        if n in others:
            continue
        ref, live = found.structure[n][1], [p for p in folded_by(same, n) if p is not None]
        if (
            len(live) != 1
            or not same.axes_of(n)
            or extent_of(same, live[0]) > SHORT[-1]
            or not is_row(same, live[0], _largest_below(same, ref))
        ):
            return None
        taken.update(live)
    outer = [k for k in axes if same.of((TARGET, k)) not in taken]
    fits = {next(most for most in SHORT if extent_of(same, place) <= most) for place in taken}
    fits = fits if len(fits) == 1 else set(map(rounded_up, fits))
    if found.params or not outer or len(fits) != 1:
        return None
    inner = _lanes(outer, same, target, taken)
    known = _extremes_of_narrow(same, found.folds) or (
        not taken & {same.of((TARGET, k)) for k in axes} and _reads_floats_once(same)
    )
    unrolled = UNROLLED_NARROW if known else UNROLLED

    def around(lanes: int) -> list[int]:
        """All axes, rows next to lanes: what is folded is the same for the elements of a row."""
        apart, rows = ([k for k in axes if (k in outer) == given and k != lanes] for given in (True, False))
        return folds_first([*apart, *rows, lanes], same, others)

    for k in sorted(
        outer, key=lambda k: (abs(target.strides[k]) != 1, -target.shape[k])
    ):  # rows are stored best as they lie
        enough = k == inner or target.shape[k] >= PACKED
        if enough and 0 < (length := packed_rows(same, target, taken, (TARGET, k))) <= unrolled:
            return around(k), length, True, False
    if not others and (padded := _padded(outer, same, target, taken)):
        return around(padded[0]), padded[1], True, False
    if not others and _reads_halves(same) and (moved := _apart(outer, same, target, taken)) and moved[1] <= unrolled:
        return around(moved[0]), moved[1], True, False
    order, most = around(inner), fits.pop()
    runs = ROW < most <= AS_ONE and packed_rows(same, target, taken, (TARGET, inner)) > 0
    return order, most, False, runs  # however few rows there are: another batch is not to be compiled for


def _apart(outer: list[int], same: Same, target: Layout, rows: set[Place]) -> tuple[int, int] | None:
    """The longest axis along which what is stored lies side by side, and so do the rows that are stored, wherever those lie that are read; and their length."""
    for k in sorted(outer, key=lambda k: -target.shape[k]):
        length = packed_rows(same, target, rows, (TARGET, k), apart=True)
        moved = target.strides[k] == length < ROW  # rows of a line are as good where they lie
        if length >= LEAST_APART and target.shape[k] >= PACKED and (moved or target.strides[k] == 1):
            return k, length
    return None


def _padded(outer: list[int], same: Same, target: Layout, rows: set[Place]) -> tuple[int, int] | None:
    """The longest axis along which rows of a few elements that are read follow each other with gaps, or backwards, and what is stored lies side by side; and
    their length.
    """
    stored = any(same.of((TARGET, k)) in rows for k in range(len(target.shape)))
    indexed = any(same.found.structure[n][0].map.reducer in ("argmax", "argmin") for n in same.found.folds)
    most = MOST_PADDED[stored or indexed]
    for k in sorted(outer, key=lambda k: -target.shape[k]):
        length = packed_rows(same, target, rows, (TARGET, k), gaps=True)
        if 1 < length <= most and target.shape[k] >= PACKED and target.strides[k] in (1, length):
            return k, length
    return None


def _reads_halves(same: Same) -> bool:
    """Whether rows of a few elements that do not follow each other are read by half a register each: in the caches, where vectors are small."""
    found = same.found
    size = max((leaf.key.dtype.itemsize for leaf in found.leaves), default=0)
    return machine().small and size == 4 and max((view.size for view in found.layouts), default=0) < NEAR


def _lanes(outer: list[int], same: Same, target: Layout, rows: set[Place]) -> int:
    """The axis whose elements take a row each in a lane: of those that fill a vector one along which both the target's elements and the rows
    lie side by side, or what is larger of the two; otherwise the longest.
    """
    smaller = not any(same.of((TARGET, k)) in rows for k in range(len(target.shape)))

    def rank(k: int) -> tuple[bool, bool, int]:
        near, packed = abs(target.strides[k]) == 1, packed_rows(same, target, rows, (TARGET, k)) > 0
        return (packed, near, target.shape[k]) if smaller else (near, packed, target.shape[k])

    full = [k for k in outer if target.shape[k] >= PACKED]
    return max(full, key=rank) if full else max(outer, key=lambda k: target.shape[k])


def packed_rows(
    same: Same, target: Layout, rows: set[Place], inner: Place, apart: bool = False, gaps: bool = False
) -> int:
    """The length of all rows that are folded, where the rows lie side by side wherever their elements do, or `apart` where they are only read, or with small `gaps`;
    else 0.
    """
    lengths = {extent_of(same, place) for place in rows}
    length = lengths.pop()
    if lengths:
        return 0
    for n, view in views_of(same.found, target):
        at = {p: s for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None}
        along, step = [at[p] for p in rows if p in at], at.get(same.of(inner), 0)
        nearer = any(
            0 < abs(s) < abs(step) for p, s in at.items() if p not in rows
        )  # padded ones have a kernel for all lengths
        near = gaps and length < (step if step > 0 else 1 - step) <= 2 * length
        read = view is not target and along == [1] and ((apart and nearer) or near)
        step = abs(step) if length < ROW else step  # a group is taken apart in registers, and may lie backwards
        if along and step and (list(map(abs, along)), step) != ([1], length) and abs(step) != 1 and not read:
            return 0
    return length


def across_inside(axes: list[int], same: Same) -> list[int]:
    """The target's axes with the one innermost along which what is folded lies nearest together, where that is no axis that is folded:
    such folds are taken across, however many elements there are. Nothing where there is none, or where a fold runs along its elements
    and depends on that axis.
    """
    found, wanted, rows = same.found, list[int](), set[int]()
    near = {n: _nearest(same, n, view) for n, view in zip(leaves_of(found), found.layouts, strict=True)}
    for n in found.folds:
        key, ref = found.structure[n][:2]
        over = {p for k, p in enumerate(same.dims(ref)) if k in key.map.axes}
        places = [near[m] for m in sorted(_largest_below(same, ref))]
        if over.isdisjoint(p for p in places if p is not None):
            mine = enumerate(same.dims(n))
            near_it = {p: same.reads[n].get(k, set()) for k, p in mine if p is not None}
            wanted += [k for p in places if p in near_it for k in sorted(near_it[p])]
        else:
            rows |= same.axes_of(n)
    inner = [k for k in wanted if k not in rows and k in axes]
    if not inner:
        return []
    last = axes[-1] if axes[-1] in inner else inner[0]
    return [*(k for k in axes if k != last), last]


def _nearest(same: Same, n: int, view: Layout) -> Place | None:
    """The axis along which a leaf's elements lie nearest together."""
    steps = [(abs(s), p) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and s]
    return min(steps)[1] if steps else None


def fitting_columns(same: Same, folds: Sequence[int], inner: Place) -> int:
    """How many columns, or what number they fit, where these folds run across an axis of few; else 0."""
    count, taken = extent_of(same, inner), set[Place | None]()
    for n in folds:
        taken.update(folded_by(same, n))
        if inner not in same.dims(same.found.structure[n][1]) or inner in taken:
            return 0
    leaves = list(leaves_of(same.found))
    if not is_row(same, inner, leaves) or any(is_row(same, p, largest(same, leaves)) for p in taken if p is not None):
        return 0
    if count < COLUMNS[0]:
        return count
    return next((most for most in COLUMNS if count <= most), 0)


def is_of_columns(same: Same, n: int, axes: Collection[Place]) -> bool:
    """Whether a Reduce reads rows along one of these axes, and not along its own."""
    leaves, own = _largest_below(same, same.found.structure[n][1]), folded_by(same, n)
    across = not any(is_row(same, p, leaves) for p in own if p is not None)
    return across and any(is_row(same, p, leaves) for p in axes)


def _extremes_of_narrow(same: Same, folds: Sequence[int]) -> bool:
    """Whether these are extremes of integers of 8 or 16 bits, of which a vector holds many rows as they lie."""
    narrow = all(leaf.key.dtype.kind in "iu" and leaf.key.dtype.bits <= 16 for leaf in same.found.leaves)
    return narrow and all(same.found.structure[n][0].map.reducer in ("max", "min") for n in folds)


def _reads_floats_once(same: Same) -> bool:
    """Whether all are sums or extremes of floats of 32 bits, of which registers of a line hold 16, or their places: rows are read by constants."""
    floats = all(leaf.key.dtype.kind == "f" and leaf.key.dtype.computed.bits == 32 for leaf in same.found.leaves)
    reducers = {same.found.structure[n][0].map.reducer for n in same.found.folds}
    return floats and reducers <= {"sum", "max", "min", "argmax", "argmin"} and not machine().small


def folded_by(same: Same, n: int) -> list[Place | None]:
    """The axes that a Reduce folds, None for those of one element."""
    key, ref = same.found.structure[n][:2]
    dims = same.dims(ref)
    return [dims[k] for k in key.map.axes]


SMALL = 4  # times smaller than what is folded: how a target is stored matters less then than how that is read


NARROW = 64  # columns: of so many and more a row is long enough


def runs_onto(axes: list[int], same: Same, extents: list[int]) -> int | None:
    """The outer axis along which the columns of all folds run on behind those of the innermost one, where these are few."""
    found = same.found
    if len(axes) < 2 or extents[-1] >= NARROW or found.params:
        return None
    inner, below = same.of((TARGET, axes[-1])), set[int]().union(*(_below(found, n) for n in found.folds))
    views = [
        (same.dims(n), view.strides) for n, view in zip(leaves_of(found), found.layouts, strict=True) if n in below
    ]
    for k in axes[:-1]:
        outer = same.of((TARGET, k))
        if counted_axes(same) & {inner, outer}:
            continue
        alike = all(inner in same.dims(n) and outer in same.dims(n) for n in found.folds)
        if alike and all(_follows(dims, steps, outer, inner, extents[-1]) for dims, steps in views):
            return k
    return None


def run_on_inside(axes: list[int], same: Same, extents: list[int]) -> list[int]:
    """The target's axes with the one along which columns run on innermost of those that all folds depend on, but for the columns' own."""
    onto, count = runs_onto(axes, same, extents), needed_by_all(axes, same)
    if onto is None or onto not in axes[:count]:
        return axes
    return [*(k for k in axes[:count] if k != onto), onto, *axes[count:]]


def needed_by_all(axes: list[int], same: Same) -> int:
    """How many of the outermost loops all folds depend on; the innermost is none."""
    needs = [same.axes_of(n) for n in same.found.folds]
    return next((n for n, k in enumerate(axes[:-1]) if any(k not in need for need in needs)), len(axes) - 1)


def _follows(dims: list[Place | None], steps: Sequence[int], outer: Place, inner: Place, count: int) -> bool:
    """Whether rows of so many elements along one axis follow each other along another, or neither is an operand's."""
    found = [steps[dims.index(p)] if p in dims else None for p in (outer, inner)]
    return found[1] == 1 and found[0] == count if found[1] is not None else found[0] is None


def loops_of(
    axes: list[int], same: Same, target: Layout, free: bool, reverse: bool, others: Collection[int] = ()
) -> list[int]:
    """The target's axes in the order of the loops. `free`: elements may be stored in any order. Where some are side by side in what is
    folded and others in the target, sizes decide what is innermost, but not which way a fold is taken. `others` are folds that are computed
    before the loops.
    """
    if free and (inside := across_inside(axes, same)):
        return folds_first(inside, same)
    near = axes if reverse else nearest_inside(axes, same, target)
    found = [folds_first(rows_outside(x, same, others) if free and x else x, same) for x in (axes, near)]
    ways = [taken_across(each, same) for each in found]
    return found[ways[0] == ways[1]]


def taken_across(axes: list[int], same: Same) -> list[bool]:
    """Whether each fold is taken across its elements, vectors running along the innermost loop: what `folds.ordered` says of the kernel."""
    found, inner = same.found, same.of((TARGET, axes[-1])) if axes else None
    of_rows, needs = False, []
    for n in found.folds:
        key, ref = found.structure[n][:2]
        over = [p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes]
        needs.append(inner is not None and inner in same.dims(n))
        of_rows |= needs[-1] and any(is_row(same, place, _largest_below(same, ref)) for place in over)
    along = of_rows or rows_are_near(axes, same)
    return [need and not along for need in needs]


def nearest_inside(axes: list[int], same: Same, target: Layout) -> list[int]:
    """The target's axes with the one innermost along which the largest folded operand runs on, where the target is small beside it."""
    views = [(view.size, n, view) for n, view in zip(leaves_of(same.found), same.found.layouts, strict=True)]
    size, n, view = max(views, key=lambda found: found[:2], default=(0, 0, target))
    if size < SMALL * target.size:
        return axes
    near = set().union(*(same.reads[n].get(k, set()) for k, s in enumerate(view.strides) if abs(s) == 1))
    inner = [k for k in axes if k in near]
    return [*(k for k in axes if k not in inner), *inner]


def rows_outside(axes: list[int], same: Same, others: Collection[int]) -> list[int]:
    """The target's axes with one innermost that no fold depends on, where folds of rows depend on the innermost one: vectors cannot run
    along it, and every fold would be repeated for each of its elements. Where there is none, in the order in which least is folded again.
    """
    found, needs, owned = same.found, set[int](), False
    near = {n: _nearest(same, n, view) for n, view in zip(leaves_of(found), found.layouts, strict=True)}
    for n in (n for n in found.folds if n not in others):
        folded = {p for p in folded_by(same, n) if p is not None}
        needs |= same.axes_of(n)
        below = _largest_below(same, found.structure[n][1])
        owned = owned or (axes[-1] in same.axes_of(n) and any(near[m] in folded for m in below))
    free = [k for k in axes if k not in needs]
    if not owned:
        return axes
    return [*(k for k in axes if k != free[-1]), free[-1]] if free else _least_again(axes, same)


def _least_again(axes: list[int], same: Same) -> list[int]:
    """The target's axes in the order in which folds take the fewest elements, each of them in the innermost loop that it depends on."""
    if len(axes) > MAX_PERMUTED:
        return axes
    elements = {p: extent_of(same, p) for n in same.found.folds for p in folded_by(same, n) if p is not None}
    takes = [
        (same.axes_of(n), prod(elements[p] for p in folded_by(same, n) if p is not None)) for n in same.found.folds
    ]

    def taken(order: tuple[int, ...]) -> int:
        depths = [max((k + 1 for k, a in enumerate(order) if a in need), default=0) for need, _ in takes]
        return sum(
            many * prod(same.target[a] for a in order[:depth]) for (_, many), depth in zip(takes, depths, strict=True)
        )

    return [*min(itertools.permutations(axes), key=taken)]


def below(found: Gathered, n: int) -> set[int]:
    """The entries that an entry is made of, and itself."""
    stack, seen = [n], set[int]()
    while stack:
        n = stack.pop()
        entry = found.structure[n]
        if n not in seen and entry[0] != WEAK:
            seen.add(n)
            stack.extend(ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK and entry[0].op != "leaf")
    return seen


def _below(found: Gathered, n: int) -> set[int]:
    """The leaves that an entry is made of."""
    return below(found, n).intersection(leaves_of(found))


def _largest_below(same: Same, n: int) -> list[int]:
    return largest(same, _below(same.found, n))


def largest(same: Same, leaves: Collection[int]) -> list[int]:
    """The leaves whose axes are not all those of another one, and fewer: a column of weights says nothing of how a matrix lies."""
    layouts = dict(zip(leaves_of(same.found), same.found.layouts, strict=True))
    live = {
        n: {p for p, s in zip(same.dims(n), layouts[n].strides, strict=True) if p is not None and s} for n in leaves
    }
    return [n for n in leaves if not any(live[n] < other for other in live.values())]


def rows_are_near(axes: list[int], same: Same) -> bool:
    """Whether the elements of a fold lie nearer together than those along the innermost loop, though not side by side: then the fold is
    taken along them, where else every lane would read a line of its own.
    """
    if not axes:
        return False
    inner, views = same.of((TARGET, axes[-1])), list(zip(leaves_of(same.found), same.found.layouts, strict=True))
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
    for n, view in views_of(same.found, target):
        steps = [(p, abs(s)) for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None and s]
        if len(steps) > 1:
            units.update(p for p, s in steps if s == 1)
    return len(units) > 1


def is_row(same: Same, place: Place, leaves: Collection[int]) -> bool:
    """Whether the elements along an axis lie side by side in some of the leaves."""
    views = [(n, view) for n, view in zip(leaves_of(same.found), same.found.layouts, strict=True) if n in leaves]
    return any(abs(s) == 1 for n, view in views for p, s in zip(same.dims(n), view.strides, strict=True) if p == place)
