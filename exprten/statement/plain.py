"""Statements without folds that are parts of others: copies, and what is left when all folds are computed before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from ..expression.key import Key
from ..expression.shape import Layout, intern_shape
from ..expression.shape import layout as layout_of
from .alone import by_target, part_of, scratch
from .gather import WEAK, Gathered
from .lying import across
from .memory_order import Turned
from .signature import FOLDED, Alone, Ways
from .walk import Given, backwards, walked
from .ways import ways_of


def copy_alone(
    target: Layout, source: Layout, operands: tuple[int, int], key: Key, names: Sequence[str]
) -> Alone | None:
    """How elements of this key's type are copied, in the order in which the target has them; `operands` are the numbers of both, or SCRATCH."""
    leaf = scratch(key)
    found = Gathered(structure=[(leaf.key, 0)], shapes=[source.shape], leaves=[leaf], layouts=[source])
    return _alone(found, target, operands, names)


def left_alone(turned: Turned, numbers: Sequence[int], names: Sequence[str]) -> Alone | None:
    """How what is left of a statement is computed when all of its folds are known, which are operands then, as they were stored."""
    found = turned.found
    part, views = part_of(found, [len(found.structure) - 1], (), numbers)
    leaves = ((n, entry[1]) for n, entry in enumerate(part.structure) if entry[0] != WEAK and entry[0].op == "leaf")
    part.indexed, part.folds = bool(part.counters), [n for n, leaf in leaves if views[leaf] <= FOLDED]
    return _alone(part, turned.target, (0, *views), names)


def _alone(found: Gathered, target: Layout, operands: Sequence[int], names: Sequence[str]) -> Alone | None:
    """How a statement is computed; `operands` are the numbers of its target and of its leaves, or less than none of scratch."""
    views = dict(zip(operands, (target, *found.layouts), strict=True))
    if any(views[n] != view for n, view in zip(operands[1:], found.layouts, strict=True)):
        return None
    every, order = sorted(views, key=lambda n: n <= FOLDED), by_target(target)
    steps = {k: [views[n].strides[k] for n in every] for k in order}
    strides = list(zip(*(steps[k] for k in order), strict=True))
    turned = [order[n] for n in backwards([target.shape[k] for k in order], strides, loose=True)]
    steps |= {k: [-s for s in steps[k]] for k in turned}
    loops = list[list[int]]()
    for k in order:
        if loops and not found.counters and steps[loops[-1][-1]] == [s * target.shape[k] for s in steps[k]]:
            loops[-1].append(k)
        else:
            loops.append([k])
    shape = intern_shape(tuple(prod(target.shape[k] for k in row) for row in loops))
    layouts = [layout_of(shape, strides) for strides in zip(*(steps[row[-1]] for row in loops), strict=True)]
    given = Given(
        found=found, layouts=layouts, same=None, joined=None, reverse=False, loops=None, cpu=True, apart=True, numbers=[],
    )  # fmt: skip
    walk = walked(given)
    if len(walk.axes) < len(loops):
        return None
    known = {f"n{n}": names[loops[k][0]] if len(loops[k]) == 1 else None for n, k in enumerate(walk.axes)}
    ways = ways_of(given, walk, (), across(walk.axes, walk.extents, walk.strides[1:]))
    numbers = tuple(n for n in every if n > FOLDED)
    known_steps = all(_is_known(steps[-2:], ways.strung) for steps in walk.strides[len(numbers) :])
    if ways.strung and (len(loops[-1]) > 1 or walk.halved or not known_steps):  # a part has the registers of the whole
        ways = replace(ways, strung=0)
    renamed = _renamed(ways, walk.axes, known, len(numbers))
    rows = tuple(tuple(names[j] for j in loops[k]) for k in walk.axes)
    return Alone(numbers, (), rows, renamed, tuple(names[k] for k in turned)) if renamed else None


def _is_known(steps: Sequence[int], many: int) -> bool:
    """Whether a kernel knows how far what a Reduce comes to lies from row to row, and from element to element of so many: by the extent of these alone."""
    return tuple(map(abs, steps)) in ((0, 0), (0, 1), (1, 0), (many, 1))


def _renamed(ways: Ways, axes: Sequence[int], known: Mapping[str, str | None], operands: int) -> Ways | None:
    """Ways with these names of extents, and positions in place of axes, of so many operands; None where there is no name."""
    if any(known[name] is None for name, _ in ways.block):
        return None
    at = {k: n for n, k in enumerate(axes)}
    block = tuple((str(known[name]), many) for name, many in ways.block)
    flat = ways.flat and ways.flat.over(lambda k: at[k], lambda n: n if n < operands else None)
    lanes, inside = (None if k is None else at[k] for k in (ways.lanes, ways.inside))
    return replace(ways, block=block, lanes=lanes, inside=inside, flat=flat)
