"""The axes of a statement: in which order they are walked, and what each operand's strides along them are.

A statement of element-wise operations only is *plain*: its axes are ordered by the target's strides, turned to run upwards, and
merged where every operand runs on. A statement with a Remap, a counter or a fold is *indexed*: its axes are the target's, because
indices mean something there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exprten_jit.dtypes import DType

from ..expression.joined import Joined, parts_of
from ..expression.leaf import Leaf
from ..expression.shape import Layout, Shape, broadcast_strides
from ..modes import Mode
from ..options import Options
from .axes import Folded, Same, folded, folds_first, merged, nearest_inside, rows_are_near, short_rows
from .gather import WEAK, Gathered, ones


@dataclass(frozen=True)
class Operand:
    """A leaf as a kernel sees it: for each of its axes a stride that is known (0, 1, -1) or an argument (None).

    In a plain statement the axes are the statement's, else the leaf's own.
    """

    name: str
    dtype: DType
    classes: tuple[int | None, ...]


@dataclass(frozen=True)
class Signature:
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
    short: bool = False  # the rows that are folded: vectors take one in each lane
    keeps: bool = False  # of a target that nothing overlaps: a value may lie in it until it is stored
    rows: bool = False  # folds lie nearer together than the innermost axis does
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
    goals = [part.layout for part in targets]
    same = Same(found, target.shape, operand_of[count:], joined is None) if found.folds else None
    if same is not None and joined is None and not (found.params or found.counters):
        found, goals[0] = merged(same, goals[0])
        same = Same(found, goals[0].shape, operand_of[count:], alone=True)
    seen = [n for n in range(count, len(operand_of)) if operand_of[n] not in operand_of[:n]]
    views = [*targets, *(found.leaves[n - count] for n in seen)]
    layouts = [*goals, *(found.layouts[n - count] for n in seen)]
    axes, extents, strides, shifts = _indexed(layouts, joined) if found.indexed else _plain(layouts)
    short = (
        None if same is None or reverse or joined is not None or loops is not None else short_rows(axes, same, goals[0])
    )
    if short is not None:
        axes = short
    elif same is not None:
        axes = folds_first(axes if reverse else nearest_inside(axes, same, goals[0]), same)
    if same is not None:
        extents = [goals[0].shape[k] for k in axes]
    if loops is not None:
        axes, extents = [axes[k] for k in loops], [extents[k] for k in loops]
    sizes = [(f"n{k}", n) for k, n in enumerate(extents)]
    every = [tuple(extents)]
    for t in range(1, count):
        assert joined is not None, "several targets are joined"
        length = targets[t].shape[joined]
        every.append(tuple(length if k == joined else n for k, n in zip(axes, extents, strict=True)))
        sizes.append((f"m{t}", length))
    operands = []
    for number, (view, steps) in enumerate(zip(views, strides, strict=True)):
        name = f"x{number}" if number >= count else f"out{number or ''}"
        operand, unknown = _operand(name, view.key.dtype, steps, range(len(steps)) if found.indexed else axes[-1:])
        operands.append(operand)
        sizes += unknown
    for r, params in enumerate(found.params):
        sizes += [(f"r{r}_p{n}", value) for n, value in enumerate(params)]
    structure = _renumbered(found, operand_of[count:])
    lead = max(0, len(found.shapes[-1] or ()) - target.ndim) if found.indexed else 0
    over, lengths = folded(same, {k: f"n{n}" for n, k in enumerate(axes)}, joined) if same else ((), [])
    sizes += lengths
    signature = Signature(
        mode.op, joined, count, types, structure, tuple(operands), tuple(axes), found.indexed, reverse, options, lead, over,
        short is not None, bool(same) and apart and not reverse, same is not None and short is None and rows_are_near(axes, same),
    )  # fmt: skip
    turned = tuple(shift * operand.dtype.itemsize for shift, operand in zip(shifts, operands, strict=True))
    return Arranged(signature, tuple(sizes), tuple(every), turned)


def _operand(
    name: str, dtype: DType, strides: Sequence[int], near: Sequence[int]
) -> tuple[Operand, list[tuple[str, int]]]:
    """An operand, and its strides that are arguments; `near` are the axes that lanes may run along."""
    classes = tuple(_class(s, k in near) for k, s in enumerate(strides))
    unknown = [(f"{name}_s{k}", s) for k, (s, c) in enumerate(zip(strides, classes, strict=True)) if c is None]
    return Operand(name, dtype, classes), unknown


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


_Axes = tuple[list[int], list[int], list[list[int]], list[int]]  # axes, extents, strides an operand, shifts an operand


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
