"""An assignment taken apart: what is read, in which structure, over which axes.

`gather` walks the tree once, each node once. `arrange` decides the axes: a statement of element-wise operations only is
*plain*: its axes are ordered by the target's strides, turned to run upwards, and merged where every operand runs on. A
statement with a Remap or a counter is *indexed*: its axes are the target's, because indices mean something there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from exprten_jit.dtypes import DType

from .expr import Expr, Weak
from .joined import Joined, parts_of
from .key import leaf_key
from .leaf import Leaf
from .modes import Mode
from .options import Options
from .reduction import Reduce
from .shape import Layout, Shape, broadcast_strides

WEAK = -1  # in a structure: a Python scalar stands here


@dataclass
class Gathered:
    """What a tree is made of. `structure` has an entry a node, operands before what uses them."""

    structure: list[tuple[Any, ...]] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    nodes: list[Expr | None] = field(
        default_factory=list
    )  # one for each entry; None: a Python scalar is the whole value
    scalars: list[Any] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # how each scalar travels
    params: list[tuple[int, ...]] = field(default_factory=list)  # of each Remap
    folds: list[tuple[int, Reduce]] = field(default_factory=list)  # the entry of each Reduce, and itself
    indexed: bool = False

    @property
    def elements(self) -> list[int]:
        """The number of elements of each node."""
        return [1 if node is None else node.size for node in self.nodes]


def gather(root: Expr | Weak, weak: DType, target: Leaf | Joined) -> Gathered:
    """Everything below `root`; `weak` is what a Python scalar as the whole value becomes. A joined target is known where it is
    read as a whole. No recursion: trees may be deep.
    """
    joined = target if isinstance(target, Joined) else None
    found = Gathered(indexed=joined is not None)
    if not isinstance(root, Expr):
        _scalar(found, root, weak)
        found.structure.append((WEAK,))
        found.nodes.append(None)
        return found
    position: dict[int, int] = {}
    stack: list[Expr] = [root]
    while stack:
        node = stack[-1]
        if id(node) in position:
            stack.pop()
            continue
        if joined is not None and isinstance(node, Joined) and node.same(joined):
            stack.pop()
            position[id(node)] = len(found.nodes)
            found.structure.append((leaf_key("own", node.key.dtype, node.device),))
            found.nodes.append(node)
            continue
        operands = node.operands
        missing = [x for x in operands if isinstance(x, Expr) and id(x) not in position]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        refs = [position[id(x)] if isinstance(x, Expr) else WEAK for x in operands]
        if WEAK in refs:
            for x, row in zip(operands, node.key.types, strict=True):
                if not isinstance(x, Expr):
                    _scalar(found, x, row)
        _ENTER[node.key.op if node.key.op in _ENTER else "apply"](found, node, refs)
        position[id(node)] = len(found.nodes)
        found.nodes.append(node)
    return found


def _enter_apply(found: Gathered, node: Any, refs: list[int]) -> None:
    found.structure.append((node.key, *refs))


def _enter_leaf(found: Gathered, node: Any, _: list[int]) -> None:
    found.structure.append((node.key, len(found.leaves)))
    found.leaves.append(node)


def _enter_scalar(found: Gathered, node: Any, _: list[int]) -> None:
    found.structure.append((node.key,))
    _scalar(found, node.value, node.key.dtype)


def _enter_iota(found: Gathered, node: Any, _: list[int]) -> None:
    found.structure.append((node.key, node.axis, *_ones(node)))
    found.indexed = True


def _enter_remap(found: Gathered, node: Any, refs: list[int]) -> None:
    found.structure.append((node.key, *refs, *_ones(node)))
    found.params.append(node.params)
    found.indexed = True


def _enter_reduce(found: Gathered, node: Any, refs: list[int]) -> None:
    found.folds.append((len(found.structure), node))
    found.structure.append((node.key, *refs, *_ones(node)))
    found.indexed = True


# `Any`: the kind of a node is told by its key's operation, once, not by isinstance for each
_ENTER: dict[str, Callable[[Gathered, Any, list[int]], None]] = {
    "apply": _enter_apply, "leaf": _enter_leaf, "scalar": _enter_scalar, "iota": _enter_iota, "remap": _enter_remap,
    "reduce": _enter_reduce,
}  # fmt: skip


def _ones(node: Expr) -> tuple[bool, ...]:
    return tuple(n == 1 for n in node.shape)


def _scalar(found: Gathered, value: Any, row: DType) -> None:
    found.scalars.append(float(value) if row.word == "d" else int(bool(value) if row.kind == "b" else value))
    found.words.append(row.word)


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
    folded: tuple[tuple[str, ...], ...] = ()  # for each Reduce the names of the extents of its folded axes


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
) -> Arranged:
    """The axes and the operands of a statement. `operand_of` names equal views once; the targets come first. `loops` is
    another order of the loops, by position in the usual one.
    """
    targets = parts_of(target)
    count = len(targets)
    views = [*targets, *(leaf for n, leaf in enumerate(found.leaves, count) if operand_of[n] not in operand_of[:n])]
    layouts = [view.layout for view in views]
    axes, extents, strides, shifts = _indexed(layouts) if found.indexed else _plain(layouts)
    if found.folds:
        axes = _folds_first(axes, found, target)
        extents = [parts_of(target)[0].shape[k] for k in axes]
    if loops is not None:
        axes, extents = [axes[k] for k in loops], [extents[k] for k in loops]
    sizes = [(f"n{k}", n) for k, n in enumerate(extents)]
    every = [tuple(extents)]
    joined = target.axis if isinstance(target, Joined) else None
    for t in range(1, count):
        assert joined is not None, "several targets are joined"
        length = targets[t].shape[joined]
        every.append(tuple(length if k == joined else n for k, n in zip(axes, extents, strict=True)))
        sizes.append((f"m{t}", length))
    operands = []
    for number, (view, steps) in enumerate(zip(views, strides, strict=True)):
        name = f"x{number}" if number >= count else f"out{number or ''}"
        near = range(len(steps)) if found.indexed else axes[-1:]
        classes = tuple(_class(s, k in near) for k, s in enumerate(steps))
        sizes += [(f"{name}_s{k}", s) for k, (s, c) in enumerate(zip(steps, classes, strict=True)) if c is None]
        operands.append(Operand(name, view.key.dtype, classes))
    for r, params in enumerate(found.params):
        sizes += [(f"r{r}_p{n}", value) for n, value in enumerate(params)]
    structure = _renumbered(found, operand_of[count:])
    root = found.nodes[-1]
    lead = 0 if root is None or not found.indexed else max(0, root.ndim - target.ndim)
    folded, lengths = _folded(found, target, {k: f"n{n}" for n, k in enumerate(axes)}) if found.folds else ((), [])
    sizes += lengths
    signature = Signature(
        mode.op,
        joined,
        count,
        types,
        structure,
        tuple(operands),
        tuple(axes),
        found.indexed,
        reverse,
        options,
        lead,
        folded,
    )
    turned = tuple(shift * operand.dtype.itemsize for shift, operand in zip(shifts, operands, strict=True))
    return Arranged(signature, tuple(sizes), tuple(every), turned)


def _renumbered(found: Gathered, operand_of: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    """The structure with each leaf as its operand, `operand_of` the leaves: equal views are one."""
    return tuple(
        (entry[0], operand_of[entry[1]]) if entry[0] != WEAK and entry[0].op == "leaf" else entry
        for entry in found.structure
    )


def _class(stride: int, near: bool) -> int | None:
    """0 is always worth knowing; 1 and -1 where lanes may run along the axis."""
    return stride if stride == 0 or (near and stride in (1, -1)) else None


# Extents of folds. Axes that are one by how the statement is built have one extent in the kernel, so that loops over them can be
# shared: in x / sum(x, 1) the axis that is folded is the axis that is divided. Extents that are equal by chance are two.

_Place = tuple[int, int]  # an entry of the structure, or the target; and one of its axes
_TARGET = -2


def _folded(
    found: Gathered, target: Leaf | Joined, loops: dict[int, str]
) -> tuple[tuple[tuple[str, ...], ...], list[tuple[str, int]]]:
    """For each Reduce the names of the extents of its folded axes, and the extents that are no loop's."""
    find = _classes(found, target)
    joined = target.axis if isinstance(target, Joined) else None
    names: dict[_Place, str] = {(_TARGET, k): name for k, name in loops.items() if k != joined}
    sizes: list[tuple[str, int]] = []
    out = []
    for entry, node in found.folds:
        ref, row = found.structure[entry][1], []
        for k in node.key.map.axes:
            place = find((ref, k))
            if place not in names:
                names[place] = f"m{len(sizes)}_f"
                sizes.append((names[place], node.src.shape[k]))
            row.append(names[place])
        out.append(tuple(row))
    return tuple(out), sizes


def _classes(found: Gathered, target: Leaf | Joined) -> Callable[[_Place], _Place]:
    """From an axis to the one that stands for all that are the same: the target's, where it is among them."""
    above: dict[_Place, _Place] = {}

    def find(place: _Place) -> _Place:
        while place in above:
            place = above[place]
        return place

    for one, other in _same_axes(found, target):
        first, second = sorted((find(one), find(other)))
        if first != second:
            above[second] = first
    return find


MAX_PERMUTED = 5  # outer loops; 120 orders are tried at most


def _folds_first(axes: list[int], found: Gathered, target: Leaf | Joined) -> list[int]:
    """The axes in the order in which fewest folds are repeated by a loop that they do not depend on; the innermost stays."""
    if not 2 < len(axes) <= MAX_PERMUTED + 1:
        return axes
    find = _classes(found, target)
    needs = []
    for n, node in found.folds:
        kept = node.key.map.kept if node.key.map.keepdims else range(node.ndim)
        places = [find((n, k)) for k in kept]
        needs.append({k for entry, k in places if entry == _TARGET})

    def repeated(order: tuple[int, ...]) -> int:
        total = 0
        for need in needs:
            outer = need - {axes[-1]}
            depth = max((k + 1 for k, a in enumerate(order) if a in outer), default=0)
            total += sum(a not in outer for a in order[:depth])
        return total

    return [*min(itertools.permutations(axes[:-1]), key=repeated), axes[-1]]


def _same_axes(found: Gathered, target: Leaf | Joined) -> Iterator[tuple[_Place, _Place]]:
    """Pairs of axes that are one. An axis of one element is repeated, so it is no other axis."""
    yield from _aligned(_TARGET, target.shape, len(found.nodes) - 1, found.nodes[-1])
    for n, (entry, node) in enumerate(zip(found.structure, found.nodes, strict=True)):
        if entry[0] == WEAK or node is None:
            continue
        key, refs = entry[0], entry[1 : 1 + len(entry[0].args)]
        if key.op == "reduce":
            kept = key.map.kept
            mine = kept if key.map.keepdims else range(len(kept))
            yield from (((n, k), (refs[0], of)) for k, of in zip(mine, kept, strict=True))
            continue
        for ref in refs[1:] if key.op == "remap" else refs:
            if ref != WEAK:
                yield from _aligned(n, node.shape, ref, found.nodes[ref])


def _aligned(n: int, shape: Shape, ref: int, operand: Expr | None) -> Iterator[tuple[_Place, _Place]]:
    if operand is None:
        return
    lead = len(shape) - operand.ndim
    yield from (((n, lead + k), (ref, k)) for k, m in enumerate(operand.shape) if m != 1 and lead + k >= 0)


_Axes = tuple[list[int], list[int], list[list[int]], list[int]]  # axes, extents, strides an operand, shifts an operand


def _indexed(layouts: Sequence[Layout]) -> _Axes:
    target = layouts[0]
    axes = sorted(range(len(target.shape)), key=lambda k: -abs(target.strides[k]))
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
