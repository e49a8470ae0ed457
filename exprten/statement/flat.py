"""Which axes of a statement are taken as one row: several short ones, where something lies across the target."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from math import prod

from ..expression.shape import Layout
from .axes import TARGET, Place, Same, extent_of, leaves_of
from .gather import WEAK, Gathered
from .lying import MOST_WOVEN, rows_apart, rows_run_on
from .orders import folded_by
from .signature import Flat, Rest

LONG = 64  # elements of a row: of so many one axis is enough
DEEP = MOST_WOVEN + 1  # and of what runs on along other axes
MOST_SQUARED = 32  # elements along the target, or along a source: of more along both, squares are better turned as they are computed
MANY = 8192  # elements for an index of an outer axis
LEAST = 2048  # elements of a statement: for fewer no table is worth making


def flat_axes(
    found: Gathered, axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> Flat | None:
    """The axes of a statement without folds that are taken as one, if there are any; of operands with these strides, the target first."""
    if len(axes) < 2 or found.several or prod(extents) < LEAST or strides[0][axes[-1]] != 1:
        return None
    if rows_run_on(extents, strides) or any(leaf.key.dtype.kind == "c" for leaf in found.leaves):
        return None
    lengths = dict(zip(axes, extents, strict=True))
    columns, rows = _chains(axes, lengths, strides)
    inner = columns[-1]
    others = [s for s in strides if not _runs_on(s, columns, lengths) and any(s[k] for k in columns)]
    far = any(s[inner] not in (0, 1) for s in others)
    if not others or len(columns) + len(rows) < 2 + (len(rows) > 0):
        return None
    if lengths[inner] > MOST_WOVEN and not any(all(s) for s in others):  # what is broadcast is read as it is
        return None
    if far and rows:
        if min(lengths[inner], lengths[rows[-1]]) > MOST_SQUARED:
            return None
    elif lengths[inner] >= LONG:
        return None
    along, down = (_running(strides, chain, lengths) for chain in (columns, rows))
    return Flat(tuple(columns), tuple(rows), along, down, prod(lengths[k] for k in rows) >= DEEP)


def rest_of(
    same: Same, axes: Sequence[int], layouts: Sequence[Layout], numbers: Sequence[int]
) -> tuple[Rest, Flat | None] | None:
    """What is left of a statement with folds when these are known, where it is of packed rows, or some of its axes are taken as one. `numbers` are those of the
    operands, of which `layouts` are.
    """
    found, goal = same.found, layouts[0]
    order = sorted(axes, key=lambda k: -goal.strides[k])
    places = [same.of((TARGET, k)) for k in order]
    if found.params or len({*places}) < len(places) or any(goal.strides[k] <= 0 for k in order):
        return None
    outside = _outside(found)
    strides: list[Sequence[int]] = [[0] * len(order) for _ in layouts]
    strides[0] = [goal.strides[k] for k in order]
    for n, number, view in zip(leaves_of(found), numbers, found.layouts, strict=True):
        at = {p: s for p, s in zip(same.dims(n), view.strides, strict=True) if p is not None}
        if n in outside and not at.keys() <= {*places}:
            return None
        if n in outside and number:
            strides[number] = [at.get(p, 0) for p in places]
    extents = [goal.shape[k] for k in order]
    largest = max(strides[1:], key=lambda s: sum(map(bool, s)), default=strides[0])
    source = tuple(order[k] for k in sorted(range(len(order)), key=lambda k: -abs(largest[k])))
    if not _alone_is_better(same, [same.of((TARGET, k)) for k in source], places):
        return None
    if woven := rows_apart(found, list(range(len(order))), extents, strides):
        return Rest(source, tuple(order[k] for k in woven[0]), woven[1][-2]), None
    flat = flat_axes(found, range(len(order)), extents, strides)
    if flat is None:
        return None
    columns, rows = (tuple(order[k] for k in each) for each in (flat.columns, flat.rows))
    return Rest(source, tuple(order), 0), replace(flat, columns=columns, rows=rows)


def _alone_is_better(same: Same, source: Sequence[Place], target: Sequence[Place]) -> bool:
    """Whether folds are better computed alone, the axes being in the source's order, and in the target's: not where they run across the source, and
    there are two axes, or few elements for an index of one that both have outermost.
    """
    folded = [{*folded_by(same, n)} for n in same.found.folds]
    along = all(source[-1] in taken for taken in folded)
    near = source[0] == target[0] and not any(source[0] in taken for taken in folded)
    near = near and prod(extent_of(same, p) for p in source[1:]) < MANY
    return along or not (near or len(source) == 2)


def _outside(found: Gathered) -> set[int]:
    """The entries that are not in a fold alone."""
    stack, seen = [len(found.structure) - 1], set[int]()
    while stack:
        n = stack.pop()
        entry = found.structure[n]
        if n not in seen and entry[0] != WEAK:
            seen.add(n)
            inside = entry[0].op in ("leaf", "reduce")
            stack.extend(ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK and not inside)
    return seen


def _chains(
    axes: Sequence[int], lengths: dict[int, int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    """The axes along which the target runs on, and others along which most of what lies across it does; each until there are enough elements."""
    columns, rows, inner = [axes[-1]], list[int](), axes[-1]
    far = [s for s in strides if s[inner] not in (0, 1)]
    along = {k: [s for s in far if s[k] == 1] for k in axes[:-1]}
    first = max(along, key=lambda k: len(along[k]))
    if along[first]:
        rows = [first]
    for most in (DEEP, LONG):
        columns = _longer(columns, rows, axes, lengths, strides[:1], most)
        rows = _longer(rows, columns, axes, lengths, along[first], DEEP) if rows else rows
    if prod(lengths[k] for k in columns) < DEEP:
        columns, rows = _longer(columns, [], axes, lengths, strides[:1], LONG), []
    return columns, rows or _lines(columns, axes, lengths, strides)


def _lines(
    columns: Sequence[int], axes: Sequence[int], lengths: dict[int, int], strides: Sequence[Sequence[int]]
) -> list[int]:
    """The axis along which rows of few elements that are read follow each other: those of a line are read one after the other."""
    few = lengths[columns[-1]]
    found = [k for k in axes if k not in columns and any(s[columns[-1]] == 1 and s[k] == few for s in strides[1:])]
    return found[-1:]


def _longer(
    chain: list[int],
    others: Collection[int],
    axes: Sequence[int],
    lengths: dict[int, int],
    strides: Sequence[Sequence[int]],
    most: int,
) -> list[int]:
    """A chain of axes, the nearest last, with those along which all of some operands run on, until there are so many elements."""
    chain = list(chain)
    while (many := prod(lengths[k] for k in chain)) < most:
        near = [k for k in axes if k not in chain and k not in others and all(s[k] == many for s in strides)]
        if not near:
            break
        chain.insert(0, near[0])
    return chain


def _runs_on(steps: Sequence[int], axes: Sequence[int], lengths: dict[int, int]) -> bool:
    """Whether elements along some axes follow each other."""
    return all(steps[k] == prod(lengths[j] for j in axes[n + 1 :]) for n, k in enumerate(axes))


def _running(strides: Sequence[Sequence[int]], axes: Sequence[int], lengths: dict[int, int]) -> tuple[int, ...]:
    return tuple(n for n, steps in enumerate(strides) if axes and _runs_on(steps, axes, lengths))
