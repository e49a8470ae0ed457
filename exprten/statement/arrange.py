"""An assignment's signature: what decides its kernel's machine code, from how its operands lie."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

from exprten_jit.dtypes import DType
from exprten_jit.kernel import OWN, PIECE, START
from exprten_jit.reducers import is_gap, is_known, partial_sum

from ..expression.joined import Joined, parts_of
from ..expression.leaf import Leaf
from ..expression.shape import Layout, Shape
from ..modes import Mode
from ..options import Options
from . import blocks
from .axes import Same, count_of, extent_of, folded, merged
from .facing import forwards
from .gather import WEAK, Gathered, ones
from .halves import fills_half, halves_block, turns_in_halves
from .lying import MOST_WOVEN, TILED, across, stays_cached
from .memory_order import in_memory_order
from .orders import folded_by
from .registers import are_halved, halves
from .rest import is_better_apart, with_rest
from .signature import Arranged, Operand, Signature, Ways
from .walk import Given, Walk, walked
from .ways import ways_of


def arrange(
    mode: Mode,
    types: tuple[DType, ...],
    target: Leaf | Joined,
    found: Gathered,
    operand_of: Sequence[int],
    reverse: bool,
    options: Options,
    loops: Sequence[int] | None = None,
    apart: bool = False,
) -> Arranged:
    """The axes and the operands of a statement. `operand_of` names equal views once; the targets come first. `loops` is
    another order of the loops, by position in the usual one. `apart`: no operand overlaps the target at other places.
    """
    again = partial(arrange, mode, types, target, found, operand_of, reverse, options, loops, apart)
    targets, joined = parts_of(target), target.axis if isinstance(target, Joined) else None
    count = len(targets)
    leaves, cpu = operand_of[count:], target.device.kind == "cpu"
    goals, either = [part.layout for part in targets], cpu and apart and not reverse
    found, goals, same, begin = _merged_folds(found, target.shape, goals, leaves, joined, either)
    first = [n - count for n in range(count, len(operand_of)) if operand_of[n] not in operand_of[:n]]
    views, layouts = [*targets, *(found.leaves[n] for n in first)], [*goals, *(found.layouts[n] for n in first)]
    fresh = mode.op is None and not any(n < count for n in leaves)
    given = Given(
        found=found, layouts=layouts, same=same, joined=joined, reverse=reverse, loops=loops, cpu=cpu, apart=apart, numbers=leaves, fresh=fresh,
    )  # fmt: skip
    walk = walked(given)
    few = _is_for_halves(given, walk)
    over, rows = folded(same, {k: f"n{n}" for n, k in enumerate(walk.axes)}, joined) if same else ((), [])
    walk = with_rest(walk, given, over, target.key if mode.op is None and count == 1 else None)
    if few and not _strings_rows(walk):  # which fill whole ones
        with halves():
            return again()
    every, lengths = _extents(walk.axes, walk.extents, targets, joined)
    other = _across(given, walk, count)
    cached = cpu and stays_cached(walk.extents, [n for _, n in rows], _largest(views, layouts))
    ways = replace(ways_of(given, walk, over, other), cached=cached)
    operands, unknown = _operands(
        [f"x{n}" if n >= count else f"out{n or ''}" for n in range(len(views))],
        [view.key.dtype for view in views],
        walk.strides,
        None if found.indexed else [*walk.axes[-1 - walk.packed :], *other, *_beside(walk)],
        _known_strides(walk, ways),
        cpu,
    )
    lead = max(0, len(found.shapes[-1] or ()) - len(goals[0].shape)) if found.indexed else 0
    counted = _counted(found, walk, ways)
    signature = Signature(
        mode.op, joined, count, types, _renumbered(found, leaves), operands, tuple(walk.axes), found.indexed, reverse, options, lead, over, _small_sums(same, cpu), counted,
        target.device.kind, **vars(ways),
    )  # fmt: skip
    turned = _begin(walk.shifts, [begin.get(n, 0) for n in (*range(-count, 0), *first)], operands)
    return Arranged(signature, (*lengths, *unknown, *_params(found), *rows, *_sizes_of_pieces(walk)), every, turned)


def _begin(shifts: Sequence[int], further: Sequence[int], operands: Sequence[Operand]) -> tuple[int, ...]:
    """Bytes from the first element of each operand to the one that the kernel begins with."""
    return tuple(operand.dtype.itemsize * (a + b) for operand, a, b in zip(operands, shifts, further, strict=True))


def _is_for_halves(given: Given, walk: Walk) -> bool:
    """Whether a statement is better planned for halves of registers, and is not yet."""
    same, own = given.same, given.vectors and given.free and not are_halved()
    if same is None or not own:
        return False
    target = given.layouts[0]
    apart = halves_block(walk.block, same, target) if walk.block else turns_in_halves(walk.axes, same, target)
    return apart or fills_half(walk.axes, same, walk.extents)


def _strings_rows(walk: Walk) -> bool:
    """Whether what is left when folds are computed before has rows that are strung together."""
    left = walk.rest.left if walk.rest else None
    return left is not None and left.ways.strung > 0


def _across(given: Given, walk: Walk, count: int) -> list[int]:
    """The axes along which an operand behind so many targets runs on across the innermost one of a plain statement."""
    if not given.loose or given.found.indexed:
        return []
    return across(walk.axes, walk.extents, walk.strides[count:], TILED if given.cpu else 2)


def _counted(found: Gathered, walk: Walk, ways: Ways) -> int:
    """How many elements all folds take whose number is an operand, where the kernel knows it, or a part of it does; or 0."""
    every = [ways, *(each.ways for each in (walk.rest.every if walk.rest else ()))]
    many = max(way.packed * way.short or way.down for way in every)
    return many if found.counts and all(n == many for n in found.counts) else 0


def _params(found: Gathered) -> list[tuple[str, Any]]:
    return [(f"r{r}_p{n}", value) for r, params in enumerate(found.params) for n, value in enumerate(params)]


MOST_SMALL = 16  # bits of an integer whose sums are in twice as many, where these hold them


def _small_sums(same: Same | None, cpu: bool) -> tuple[bool, ...]:
    """For each Reduce, whether it adds integers of 8 or 16 bits, so few that what they come to fits twice as many: vectors hold four times as many, or two, as of sums of 64 bits."""
    if same is None:
        return ()

    def fits(n: int) -> bool:
        key, ref = same.found.structure[n][:2]
        made: Any = same.found.structure[ref][0] if ref != WEAK else WEAK
        if not cpu or made == WEAK or key.map.reducer != "sum" or key.dtype.kind not in "iu":
            return False
        dtype, many = made.dtype, prod(extent_of(same, p) for p in folded_by(same, n) if p is not None)
        small = dtype.kind in "iub" and dtype.bits <= MOST_SMALL
        return small and many * max(dtype.largest, -dtype.smallest) <= partial_sum(dtype).largest

    return tuple(map(fits, same.found.folds))


def _largest(views: Sequence[Leaf], layouts: Sequence[Layout]) -> int:
    """Bytes of the elements of the largest operand."""
    return max(layout.size * view.key.dtype.itemsize for view, layout in zip(views, layouts, strict=True))


def _sizes_of_pieces(walk: Walk) -> _Sizes:
    """How many elements of axes are computed at a time; a kernel in pieces sets those of lined ones itself."""
    lined = [(OWN, 0), (START, 0)] if walk.rest and walk.rest.lined else []
    return [*((f"{PIECE}{n}", length) for n, length in enumerate(walk.pieces)), *lined]


def _beside(walk: Walk) -> list[int]:
    """Axes that vectors may run along besides the innermost: those of a block, and of rows that several axes are taken as."""
    block = [walk.block.lanes, *(k for k, _ in walk.block.axes if isinstance(k, int))] if walk.block else []
    return [*block, *walk.flat.rows[-1:], *walk.flat.columns[-2:]] if walk.flat else block


def _known_strides(walk: Walk, ways: Ways) -> set[int]:
    """The strides that a kernel is made for: of packed rows, of few columns, of rows of few with gaps, and of blocks."""
    few = [few for _, _, few in ways.first]
    alone = [each.ways for each in ways.rest.every] if ways.rest else []
    few += [way.few for way in alone]
    few += [many for way in alone for _, many in way.within]
    strung = walk.strung or any(way.strung for way in alone)
    return {
        *(s for n in range(2, blocks.MOST + 1) for s in (n, -n) if walk.block or any(way.block for way in alone)),
        walk.packed * walk.short or ways.narrow,
        *dict(ways.within).values(),
        *(way.packed * way.short or way.narrow for way in alone),
        *(-way.short for way in (ways, *alone) if way.packed),
        *(many for way in (ways, *alone) for many in (way.columns, way.columns * way.down)),
        *(n * way for n in filter(is_known, [ways.few, *few]) for way in (1, -1)),
        *(s for steps in walk.strides for s in steps if strung and 1 < abs(s) <= 2 * MOST_WOVEN),
        *(s for steps in walk.strides for s in steps if 1 in steps and is_gap(walk.packed * walk.short or ways.few, s)),
    } - {0}


_Sizes = list[tuple[str, int]]  # names and numbers


def _merged_folds(
    found: Gathered, shape: Shape, goals: list[Layout], leaves: Sequence[int], joined: int | None, either: bool
) -> tuple[Gathered, list[Layout], Same | None, Mapping[int, int]]:
    """Which axes of a statement with folds are one, after those became one that every operand runs on over; of others, nothing. And where `either` direction will do,
    from which element on leaves are walked, and the target, which is -1.
    """
    if not found.folds:
        return found, goals, None, {}
    same = Same(found, shape, leaves, joined is None)
    if joined is not None or found.params:
        return found, goals, same, {}
    begin: Mapping[int, int] = {}
    if either and (facing := forwards(same, goals[0], partial(_is_apart, same, goals[0]))):
        found, goals, begin = facing.found, [facing.target], facing.begin
        same = Same(found, shape, leaves, alone=True)
    found, goal = merged(same, goals[0])
    best = Same(found, goal.shape, leaves, alone=True)
    if count_of(best) > 2 and (turned := in_memory_order(same, goals[0])):
        other, lying = merged(Same(turned.found, turned.target.shape, leaves, alone=True), turned.target)
        fewer = Same(other, lying.shape, leaves, alone=True)
        if count_of(fewer) < count_of(best):
            return other, [lying], fewer, begin
    return found, [goal], best, begin


def _is_apart(same: Same, target: Layout) -> bool:
    """Whether folds are better computed alone, so that what they come to is turned as it is stored: upwards."""
    turned = in_memory_order(same, target)
    return turned is not None and is_better_apart(turned)


def _extents(
    axes: Sequence[int], extents: Sequence[int], targets: Sequence[Leaf], joined: int | None
) -> tuple[tuple[tuple[int, ...], ...], _Sizes]:
    """The extents of the loops for each target, and the sizes that say them: targets differ along the joined axis alone."""
    lengths = {t: part.shape[joined] for t, part in enumerate(targets) if t and joined is not None}
    others = (tuple(m if k == joined else n for k, n in zip(axes, extents, strict=True)) for m in lengths.values())
    sizes = [(f"n{k}", n) for k, n in enumerate(extents)]
    return (tuple(extents), *others), [*sizes, *((f"m{t}", m) for t, m in lengths.items())]


def _operands(
    names: Sequence[str],
    dtypes: Sequence[DType],
    strides: Sequence[Sequence[int]],
    near: Sequence[int] | None,
    rows: Collection[int] = (),
    lanes: bool = False,
) -> tuple[tuple[Operand, ...], _Sizes]:
    """The operands, and their strides that are arguments; `near` are the axes that lanes may run along, None for all. The stride
    of packed `rows` is known; for `lanes` that of every other element of a source is.
    """
    operands, unknown = [], []
    for name, dtype, steps in zip(names, dtypes, strides, strict=True):
        classes = tuple(
            s
            if s in rows or (s == 2 and lanes and name[0] == "x" and 1 not in map(abs, steps))
            else _class(s, near is None or k in near)
            for k, s in enumerate(steps)
        )
        unknown += [(f"{name}_s{k}", s) for k, (s, c) in enumerate(zip(steps, classes, strict=True)) if c is None]
        operands.append(Operand(name, dtype, classes))
    return tuple(operands), unknown


def _renumbered(found: Gathered, operand_of: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    """The structure with each leaf as its operand, `operand_of` the leaves: equal views are one."""

    def entry_of(entry: tuple[Any, ...], shape: Shape | None) -> tuple[Any, ...]:
        if entry[0] == WEAK or shape is None:
            return entry
        if entry[0].op == "leaf":
            return (entry[0], operand_of[entry[1]])
        return (*entry, *ones(shape)) if entry[0].op == "reduce" else entry

    return tuple(map(entry_of, found.structure, found.shapes))


def _class(stride: int, near: bool) -> int | None:
    """0 is always worth knowing; 1 and -1 where lanes may run along the axis."""
    return stride if stride == 0 or (near and stride in (1, -1)) else None
