"""Reduces that others would compute again for every row: in `sum(x * max(x, 0), 1)` the maxima of all columns. They are computed before,
where there is room for what they come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from exprten_jit.beforehand import room_for
from exprten_jit.kernel import First

from .axes import TARGET, Folded, Place, Same, extent_of
from .orders import below, fitting_columns, folded_by, is_of_columns, taken_across


def needed_again(same: Same, axes: Sequence[int] = ()) -> set[int]:
    """The Reduces that stand in another one, for each of its elements, and have not all of its axes, or are of columns; where vectors run
    along the last of `axes`, what is folded across them has this axis once, and of two that are those that have fewer axes; and those
    that a loop around theirs repeats.
    """
    found, inner = set[int](), same.of((TARGET, axes[-1])) if axes else None
    ways = taken_across([*axes], same) if axes else [False] * len(same.found.folds)
    for m, beside in zip(same.found.folds, ways, strict=True):
        own = {p for p in same.dims(m) if p is not None and not (beside and p == inner)}
        taken = {p for p in folded_by(same, m) if p is not None}
        for n in below(same.found, m).intersection(same.found.folds) - {m}:
            dims = {p for p in same.dims(n) if p is not None}
            again = dims & taken and (not own | taken <= dims or is_of_columns(same, n, taken))
            if again or (beside and inner in dims and dims < {*same.dims(m)} - {None}):
                found.add(n)
        needs = [k in same.axes_of(m) for k in (axes[:-1] if beside else axes)]
        if False in needs[: max((k for k, need in enumerate(needs) if need), default=0)]:
            found.add(m)
    return found


LEAST = 8  # bytes at each place


def with_room(same: Same, axes: Sequence[int]) -> set[int]:
    """Those for which there is room."""
    groups: dict[tuple[Place, ...], set[int]] = {}
    for n in needed_again(same, axes):
        groups.setdefault(tuple(sorted(p for p in same.dims(n) if p is not None)), set()).add(n)
    fits = (
        folds
        for places, folds in groups.items()
        if room_for(prod(extent_of(same, p) for p in places), len(groups)) >= LEAST
    )
    return set().union(*fits)


def computed_before(same: Same, axes: Sequence[int], short: int, over: tuple[Folded, ...]) -> First:
    """Room for such Reduces; `axes` are those of the loops, `short` where vectors take a row in each lane, `over` what each Reduce folds."""
    groups = _by_places(same, axes, over, sorted(needed_again(same, () if short else axes)))
    names, out = names_of(same, axes, over), list[tuple[tuple[str, ...], int, int]]()
    for places, folds in groups.items():
        room = room_for(prod(extent_of(same, p) for p in places), len(groups))
        few = fitting_columns(same, folds, places[0]) if len(places) == 1 else 0
        out += [(tuple(sorted(names[p] for p in places)), room, few)] if room or short else []
    return tuple(sorted(out))


def names_of(same: Same, axes: Sequence[int], over: tuple[Folded, ...]) -> dict[Place, str]:
    """The names of the extents of places."""
    names: dict[Place, str] = {same.of((TARGET, k)): f"n{n}" for n, k in enumerate(axes)}
    for n, (_, row) in zip(same.found.folds, over, strict=True):
        names |= {p: name for p, name in zip(folded_by(same, n), row, strict=True) if p is not None and name}
    return names


def _by_places(
    same: Same, axes: Sequence[int], over: tuple[Folded, ...], folds: Sequence[int]
) -> dict[tuple[Place, ...], list[int]]:
    """Reduces by the axes that they have."""
    names, groups = names_of(same, axes, over), dict[tuple[Place, ...], list[int]]()
    for n in folds:
        places = tuple(sorted(p for p in same.dims(n) if p is not None))
        if places and all(p in names for p in places):
            groups.setdefault(places, []).append(n)
    return groups
