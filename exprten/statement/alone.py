"""Folds that are computed before what is left of a statement, each as a statement of its own: its target is scratch, packed in the order of memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..expression.key import Key, leaf_key
from ..expression.leaf import Leaf
from ..expression.shape import Layout, Shape
from ..expression.shape import layout as layout_of
from .axes import Same, merged, own_axes, own_of
from .gather import WEAK, Gathered
from .memory_order import Turned
from .signature import FOLDED, Alone, Ways
from .walk import Given, walked
from .ways import ways_of


def folds_alone(turned: Turned, numbers: Sequence[int], names: Sequence[str]) -> tuple[Alone, ...]:
    """How the Reduces that have the same axes are computed, where that can be said; `numbers` are those of the operands that leaves are, `names` those of
    the extents of all axes.
    """
    groups = dict[tuple[int, ...], list[int]]()
    for n in turned.found.folds:
        groups.setdefault(own_of(turned.found, n), []).append(n)
    found = (_alone(*_folds_of(turned.found, folds, numbers), names) for folds in groups.values())
    return tuple(alone for alone in found if alone)


def whole_alone(
    turned: Turned, numbers: Sequence[int], names: Sequence[str], target: Layout | None = None
) -> Alone | None:
    """The same of all that is stored, in scratch if no `target` is given."""
    return _alone(turned.found, numbers, names, keeps=True, target=target)


def part_of(
    found: Gathered, roots: Sequence[int], folds: Collection[int], numbers: Sequence[int]
) -> tuple[Gathered, list[int]]:
    """What computes some entries, and these Reduces among them, and numbers of its operands. Other Reduces that they need are operands, as they were stored."""
    kept, stack = set[int](), list(roots)
    while stack:
        n = stack.pop()
        key, *more = found.structure[n]
        if n not in kept:
            kept.add(n)
            stack.extend(ref for ref in more[: len(key.args)] if ref != WEAK and (key.op != "reduce" or n in folds))
    part, views, at = Gathered(indexed=True), list[int](), dict[int, int]()
    for n in sorted(kept):
        key, *more = found.structure[n]
        at[n] = len(part.structure)
        if key.op == "leaf" or (key.op == "reduce" and n not in folds):
            known = key.op == "reduce"
            views.append(FOLDED - n if known else numbers[more[0]])
            part.leaves.append(scratch(key) if known else found.leaves[more[0]])
            part.layouts.append(packed(found.shapes[n] or ()) if known else found.layouts[more[0]])
            part.structure.append((part.leaves[-1].key, len(part.leaves) - 1))
        else:
            refs, others = more[: len(key.args)], more[len(key.args) :]
            part.structure.append((key, *(WEAK if ref == WEAK else at[ref] for ref in refs), *others))
        part.shapes.append(found.shapes[n])
    part.folds, part.counters = ([at[n] for n in each if n in at] for each in (folds, found.counters))
    return part, views


def _folds_of(found: Gathered, folds: Sequence[int], numbers: Sequence[int]) -> tuple[Gathered, list[int]]:
    """What computes some Reduces of the same axes, as one value, and numbers of its operands."""
    part, views = part_of(found, folds, folds, numbers)
    keys = [found.structure[n][0] for n in folds]
    every = Key("alone", keys[0].dtype, keys[0].device, keys, tuple(k.dtype for k in keys))
    part.structure.append((every, *part.folds))
    part.shapes.append(found.shapes[folds[0]])
    return part, views


def scratch(key: Key) -> Leaf:
    """An operand of which nothing is known but its type."""
    leaf = Leaf()
    leaf.key = leaf_key("leaf", key.dtype, key.device)
    return leaf


def packed(shape: Shape, wide: int | None = None, more: int = 0) -> Layout:
    """The layout of scratch; what follows each other along a `wide` axis is so many elements `more` apart."""
    step, strides = 1, list[int]()
    for k, n in reversed([*enumerate(shape)]):
        step += more if k == wide else 0
        strides.insert(0, step if n != 1 else 0)
        step *= n
    return layout_of(shape, tuple(strides))


def by_target(target: Layout) -> list[int]:
    """The axes that have more than one element, in the order of memory."""
    return sorted(own_axes(target.shape), key=lambda k: -abs(target.strides[k]))


def _alone(
    part: Gathered, views: Sequence[int], names: Sequence[str], keeps: bool = False, target: Layout | None = None
) -> Alone | None:
    """How a part is computed, into scratch if no target is given; `names` are those of the extents of all axes, `keeps` is as in Ways."""
    shape = part.shapes[-1] or ()
    found, target = merged(Same(part, shape, views, alone=False), target or packed(shape))
    if any(_folded(part, n) != _folded(found, n) for n in found.folds):  # a fold of two axes stays one
        return None
    same = Same(found, target.shape, views, alone=False)
    given = Given(
        found=found, layouts=[target, *found.layouts], same=same, joined=None, reverse=False, loops=None, cpu=True, apart=True, numbers=views,
    )  # fmt: skip
    walk = walked(given)
    as_one = _taken_as_one(shape, target.shape, names)
    loops = [as_one[k] for k in walk.axes]
    known = {f"n{n}": row[0] if len(row) == 1 else None for n, row in enumerate(loops)}
    known |= {f"f{k}": name for k, name in enumerate(names)}
    over = tuple(
        (found.structure[n][0].map, tuple(f"f{k}" if m != 1 else None for k, m in _folded(found, n)))
        for n in found.folds
    )
    ways = _renamed(ways_of(given, walk, over, ()), walk.axes, known, keeps)
    operands = tuple(sorted(n for n in {*views} if n >= 0))
    spaces = {own_axes(layout.shape) for n, layout in zip(views, part.layouts, strict=True) if n < 0}
    before = sorted(tuple(sorted(names[k] for k in own)) for own in spaces)
    return Alone(operands, tuple(before), tuple(loops), ways) if ways else None


def _folded(found: Gathered, n: int) -> list[tuple[int, int]]:
    """The axes of a Reduce, with their extents."""
    key, ref = found.structure[n][:2]
    return [(k, (found.shapes[ref] or ())[k]) for k in key.map.axes]


def _taken_as_one(before: Shape, after: Shape, names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """For each axis that is left of a target the names of those that it is now."""
    found, row = dict[int, tuple[str, ...]](), list[str]()
    for k, (n, left) in enumerate(zip(before, after, strict=True)):
        row += [names[k]] if n != 1 else []
        if left != 1:
            found[k], row = tuple(row), []
    return found


def _renamed(ways: Ways, axes: Sequence[int], known: Mapping[str, str | None], keeps: bool = False) -> Ways | None:
    """Ways with these names of extents, and positions in place of axes; None where there is no name."""
    names = {name: known[name] for name, _ in (*ways.within, *ways.block)}
    if None in names.values():
        return None
    within, block = (tuple((str(names[name]), many) for name, many in each) for each in (ways.within, ways.block))
    onto, lanes = (None if k is None else [*axes].index(k) for k in (ways.onto, ways.lanes))
    return replace(ways, within=within, block=block, onto=onto, lanes=lanes, inside=None, first=(), keeps=keeps)
