"""The axes of a statement: in which order they are walked, and what each operand's strides along them are.

A statement of element-wise operations only is *plain*: its axes are ordered by the target's strides, turned to run upwards, and
merged where every operand runs on. A statement with a Remap, a counter or a fold is *indexed*: its axes are the target's, because
indices mean something there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from exprten_jit.dtypes import DType
from exprten_jit.reducers import is_known

from ..expression.joined import Joined, parts_of
from ..expression.leaf import Leaf
from ..expression.shape import Layout, Shape, broadcast_strides
from ..modes import Mode
from ..options import Options
from .axes import Folded, Same, folded, merged
from .gather import WEAK, Gathered, ones
from .lying import TILED, across, fills_squares, narrow_rows, rows_apart, rows_run_on, turns
from .nested import named, rows_last, rows_within
from .orders import few_columns, few_rows, loops_of, rows_are_near, runs_onto, short_rows


@dataclass(frozen=True)
class Operand:
    """A leaf as a kernel sees it: for each of its axes a stride that is known (0, 1, -1) or an argument (None).

    In a plain statement the axes are the statement's, else the leaf's own.
    """

    name: str
    dtype: DType
    classes: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What of the layouts decides how a kernel is scheduled: fields of `exprten_jit.ir.Kernel`, `onto` as the number of the axis, `within`
    with the names of extents.
    """

    short: int = 0  # most elements of the rows that are folded, where vectors take one in each lane
    packed: bool = False  # all of these have as many, and lie side by side
    keeps: bool = False  # of a target that nothing overlaps: a value may lie in it until it is stored
    tiles: bool = False  # something runs on along another axis than the target; elements may be stored in any order
    runs: bool = (
        False  # rows of few columns run on, where a row or a column is broadcast; and short rows that are folded
    )
    rows: bool = False  # folds lie nearer together than the innermost axis does
    few: int = 0  # most columns that folds run across, where rows are taken whole
    low: bool = False  # and each fold takes one block of rows
    narrow: int = 0  # elements of the target's packed rows, where what is folded runs on across them
    squares: bool = False  # what lies across has a vector of elements on both axes
    onto: int | None = None  # the axis along which the columns that folds run across run on
    down: int = 0  # rows that every fold takes, across the innermost axis
    within: tuple[tuple[str, int], ...] = ()  # extents of rows that are folded inside of another fold, which are so few


@dataclass(frozen=True)
class Signature(Ways):
    """What decides a kernel's machine code; two statements with equal signatures share it."""

    op: str | None  # what combines the target with the value
    joined: int | None  # the axis along which the targets, the first `targets` operands, are one
    targets: int
    types: tuple[DType, ...]  # what both are converted to for it; without an `op`, the target's type
    structure: tuple[tuple[Any, ...], ...]
    operands: tuple[Operand, ...]
    axes: tuple[int, ...]  # the target's axes, outermost loop first; in a plain statement just numbered
    indexed: bool
    reverse: bool
    options: Options
    lead: int = 0  # axes of one element that the value has before the target's
    folded: tuple[Folded, ...] = ()  # for each Reduce
    count: int = 0  # what each number is that counts what is folded, where that is known
    device: str = "cpu"  # the kind of device
    decided: tuple[
        bool | None, ...
    ] = ()  # of a joined target: guards of Remaps that hold everywhere in a part, or nowhere


@dataclass(frozen=True)
class Arranged:
    """A signature, and the sizes that go with it: names and numbers, in the kernel's order."""

    signature: Signature
    sizes: tuple[tuple[str, int], ...]
    extents: tuple[tuple[int, ...], ...]  # of the loops, outermost first, for each target
    shifts: tuple[int, ...]  # bytes from each operand's address to the kernel's, where an axis was turned round


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
    targets = parts_of(target)
    count = len(targets)
    joined = target.axis if isinstance(target, Joined) else None
    leaves = operand_of[count:]
    found, goals, same = _merged_folds(found, target.shape, [part.layout for part in targets], leaves, joined)
    first = [n for n in range(count, len(operand_of)) if operand_of[n] not in operand_of[:n]]
    views = [*targets, *(found.leaves[n - count] for n in first)]
    layouts = [*goals, *(found.layouts[n - count] for n in first)]
    # The order of folds follows from that of the axes, which is therefore one on all devices.
    loose = apart and not reverse and joined is None
    cpu = target.device.kind == "cpu"
    free, vectors = loose and cpu, cpu and not reverse and joined is None and loops is None
    (axes, extents, strides, shifts), short, packed, side_by_side = _walked(
        layouts, found.indexed, joined, same, reverse, loops, loose, vectors
    )
    woven = free and loops is None and same is None and not found.indexed and rows_apart(found, axes, extents, strides)
    if woven:
        axes, extents, short, packed = *woven, woven[1][-2], True
    pairs = rows_within(same) if vectors and same is not None and not short else {}
    if pairs and same is not None and free and (order := rows_last(axes, same, goals[0], pairs)):
        axes, extents, short, packed = order, [goals[0].shape[k] for k in order], goals[0].shape[order[-2]], True
    over, rows = folded(same, {k: f"n{n}" for n, k in enumerate(axes)}, joined) if same else ((), [])
    every, lengths = _extents(axes, extents, targets, joined)
    names = [f"x{n}" if n >= count else f"out{n or ''}" for n in range(len(views))]
    other = across(axes, extents, strides[count:]) if loose and not found.indexed else []
    near = None if found.indexed else [*axes[-1 - packed :], *other]
    moved = free and found.indexed and len(axes) > 1 and min(extents) >= TILED and turns(found, goals[0], same)
    down = _down(found, same, goals[0], axes, extents, free) if vectors and same is not None and not short else Ways()
    beside = other or ([down.onto] if down.onto is not None else axes[:-1] if moved else [])
    ways = replace(
        down,
        short=short,
        packed=packed,
        keeps=bool(same) and apart and not reverse,
        tiles=moved or (cpu and bool(other)),
        squares=cpu and fills_squares(axes, extents, beside),
        runs=free and (side_by_side if same else not found.indexed and rows_run_on(extents, strides)),
        rows=same is not None and not short and rows_are_near(axes, same),
        within=named(same, pairs, over) if pairs and same is not None else (),
    )
    operands, unknown = _operands(
        names,
        [view.key.dtype for view in views],
        strides,
        near,
        {packed * short or ways.narrow or (ways.few if is_known(ways.few) else 0), *dict(ways.within).values()} - {0},
        cpu,
    )
    params = [(f"r{r}_p{n}", value) for r, params in enumerate(found.params) for n, value in enumerate(params)]
    lead = max(0, len(found.shapes[-1] or ()) - target.ndim) if found.indexed else 0
    many = packed * short or ways.down
    counted = many if found.counts and all(n == many for n in found.counts) else 0
    signature = Signature(
        mode.op, joined, count, types, _renumbered(found, leaves), operands, tuple(axes), found.indexed, reverse, options, lead, over, counted,
        target.device.kind, **vars(ways),
    )  # fmt: skip
    turned = tuple(shift * operand.dtype.itemsize for shift, operand in zip(shifts, operands, strict=True))
    return Arranged(signature, (*lengths, *unknown, *params, *rows), every, turned)


def _down(found: Gathered, same: Same, goal: Layout, axes: list[int], extents: list[int], free: bool) -> Ways:
    """How folds are taken across the innermost axis, where they are."""
    onto = runs_onto(axes, same, extents) if free else None
    if onto is not None:
        return Ways(onto=onto)
    down = 0 if found.params else few_rows(axes, same, extents)
    few, low = (0, False) if down else few_columns(axes, same, extents)
    return Ways(down=down, few=few, low=low, narrow=narrow_rows(axes, extents, goal) if free and not few else 0)


_Sizes = list[tuple[str, int]]  # names and numbers
_Axes = tuple[list[int], list[int], list[list[int]], list[int]]  # axes, extents, strides an operand, shifts an operand


def _merged_folds(
    found: Gathered, shape: Shape, goals: list[Layout], leaves: Sequence[int], joined: int | None
) -> tuple[Gathered, list[Layout], Same | None]:
    """Which axes of a statement with folds are one, after those became one that every operand runs on over; of others, nothing."""
    if not found.folds:
        return found, goals, None
    same = Same(found, shape, leaves, joined is None)
    if joined is not None or found.params:
        return found, goals, same
    found, goal = merged(same, goals[0])
    return found, [goal], Same(found, goal.shape, leaves, alone=True)


def _walked(
    layouts: Sequence[Layout],
    indexed: bool,
    joined: int | None,
    same: Same | None,
    reverse: bool,
    loops: Sequence[int] | None,
    free: bool,
    vectors: bool,
) -> tuple[_Axes, int, bool, bool]:
    """The axes in the order of the loops, and most elements of the rows that are folded where `vectors` take one in each lane, else 0;
    whether all have as many, few, and lie side by side, and whether more do.
    """
    axes, extents, strides, shifts = _indexed(layouts, joined) if indexed else _plain(layouts)
    short = None
    if same is not None:
        goal = layouts[0]
        if vectors:
            short = short_rows(axes, same, goal)
        axes = short[0] if short else loops_of(axes, same, goal, free, reverse)
        extents = [goal.shape[k] for k in axes]
    if loops is not None:
        axes, extents = [axes[k] for k in loops], [extents[k] for k in loops]
    return (axes, extents, strides, shifts), *(short[1:] if short else (0, False, False))


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


def _indexed(layouts: Sequence[Layout], joined: int | None) -> _Axes:
    target = layouts[0]
    axes = [k for k, n in enumerate(target.shape) if n != 1 or k == joined]
    axes.sort(key=lambda k: -abs(target.strides[k]))
    strides = [[0 if n == 1 else s for n, s in zip(view.shape, view.strides, strict=True)] for view in layouts]
    return axes, [target.shape[k] for k in axes], strides, [0] * len(layouts)


def _plain(layouts: Sequence[Layout]) -> _Axes:
    target = layouts[0]
    spread = [broadcast_strides(view.shape, view.strides, target.shape) for view in layouts]
    axes = [k for k, n in enumerate(target.shape) if n != 1]
    axes.sort(key=lambda k: -abs(target.strides[k]))
    extents = [target.shape[k] for k in axes]
    strides = [[s[k] for k in axes] for s in spread]
    shifts = [0] * len(layouts)
    for k, n in enumerate(extents):
        if strides[0][k] < 0:  # walk the target upwards: every operand turns round with it
            for view, steps in enumerate(strides):
                shifts[view] += (n - 1) * steps[k]
                steps[k] = -steps[k]
    return _merged(extents, strides, shifts)


def _merged(extents: list[int], strides: list[list[int]], shifts: list[int]) -> _Axes:
    """Neighbouring axes become one where every operand runs on from one to the next."""
    kept: list[int] = []
    lengths: list[int] = []
    for k, n in enumerate(extents):
        if kept and all(s[kept[-1]] == s[k] * n for s in strides):
            lengths[-1] *= n
            kept[-1] = k
        else:
            kept.append(k)
            lengths.append(n)
    return list(range(len(kept))), lengths, [[s[k] for k in kept] for s in strides], shifts
