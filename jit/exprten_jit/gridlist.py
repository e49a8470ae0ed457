"""What a GPU launches for a list of rows of tensors: one program for rows of every size.

What is folded is taken to be long: a warp folds along a row, and a fold of all elements is cut into parts. How long parts are is said
for each row, so rows of 3 and of 3 million elements share a launch. Rows that are held in registers share theirs among themselves, and
so do rows of which a few very long ones are folded along, in parts.

The grids of a program are stages of one launch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from .grid import BLOCK, FEW, WARP, Grid, Program, program
from .ir import Axis, Fold, Leaf, Size, Value, axis, size
from .kernel import Kernel
from .reducers import Order
from .rewrite import substitute, walk

BLOCKS_AT_ONCE = 4
ANY = 1 << 40  # elements: more than anything is short of


@dataclass(frozen=True)
class Rows:
    """A program for rows of a kernel. `short`: what a thread folds along a row is as short as `grid.SHORT`."""

    program: Program
    short: bool


def rows(
    kernel: Kernel, sizes: Mapping[str, int], multiprocessors: int, order: str, overlapping: Collection[Leaf]
) -> Rows:
    """The program of rows like one of these sizes."""

    def of(sizes: Mapping[str, int]) -> Program:
        return _staged(program(kernel, sizes, multiprocessors, order, overlapping, listed=True))

    own = of(sizes)
    if order != "any":
        return Rows(own, short=False)
    if not own.sizes and (any(g.held for g in own.grids) or (kernel.axes and [g.team for g in own.grids] == [1])):
        return Rows(own, short=True)
    every = of(dict.fromkeys(sizes, ANY))
    if len(own.sizes) <= len(every.sizes):
        return Rows(every, short=False)
    few = _few(own)
    found = of({name: 1 if name in few else ANY for name in sizes})
    return Rows(replace(found, grids=tuple(map(_of_any_length, found.grids))), short=False)


def _few(program: Program) -> set[str]:
    """The sizes that say at how many points a program has the folds that it cuts."""
    cut = [per for per, _ in program.sizes]
    extents = [
        extent
        for grid in program.grids
        if any(per in walk(*(e for _, e in grid.axes)) for per in cut)
        for _, extent in grid.axes
        if not any(per in walk(extent) for per in cut)
    ]
    return {x.name for x in walk(*extents) if isinstance(x, Size)}


def _staged(program: Program) -> Program:
    """Without squares: a block takes a stretch of a row's points. Stages of one launch have blocks of as many threads, and one of them
    has shared memory to hold rows.
    """
    grids, held = list[Grid](), False
    for grid in program.grids:
        now = replace(_of_any_length(grid) if held else grid, side=0, walked=0)
        if now.team > WARP and len(program.grids) > 1:
            now = replace(now, team=BLOCK)
        held = held or now.held > 0
        grids.append(now)
    return replace(program, grids=tuple(grids))


def _of_any_length(grid: Grid) -> Grid:
    """With rows in memory, not in registers."""
    return replace(grid, held=0, sure=0, team=WARP) if grid.held else grid


def alike(kernel: Kernel) -> Kernel:
    """The kernel with loops and sizes called by their order: tensors of several ranks whose axes are one, or two, have one kernel."""
    names: dict[Value, Value] = {a: axis(f"i{n}") for n, (a, _) in enumerate(kernel.axes)}
    count = Counter[str]()
    for x in kernel.sizes:
        stem = x.name.rstrip("0123456789")
        if stem != x.name:
            names[x] = size(f"{stem}{count[stem]}")
            count[stem] += 1
    again = replace(
        kernel,
        axes=tuple((_axis(names[a]), substitute(extent, names)) for a, extent in kernel.axes),
        sizes=tuple(_size(names.get(x, x)) for x in kernel.sizes),
        stores=tuple(
            replace(s, offset=substitute(s.offset, names), value=substitute(s.value, names)) for s in kernel.stores
        ),
        then=None if kernel.then is None else alike(kernel.then),
    )
    return kernel if again == kernel else again


def _axis(value: Value) -> Axis:
    assert isinstance(value, Axis), "an axis is called another name"
    return value


def _size(value: Value) -> Size:
    assert isinstance(value, Size), "a size is called another name"
    return value


@dataclass(frozen=True)
class Cut:
    """A fold that is cut: `per` elements a part, `least` or that times a power of two, so that there are `most` parts at most."""

    per: Size
    parts: Value
    least: int
    most: int = FEW * BLOCK


def cuts(found: Program) -> tuple[Cut, ...]:
    """The folds that a program cuts."""
    return tuple(_cut(per, found.grids) for per, _ in found.sizes)


def _cut(per: Size, grids: Collection[Grid]) -> Cut:
    for grid in grids:
        parts = next((extent for _, extent in grid.axes if per in walk(extent)), None)
        if parts is not None:
            folds = [n for s in grid.stores for n in walk(s.value) if isinstance(n, Fold) and per in walk(n.extent)]
            return Cut(per, parts, max(_least(f.order) for f in folds if f.order is not None))
    raise AssertionError(f"{per.name} cuts nothing")


def _least(order: Order) -> int:
    """Elements of a part: along a row as many blocks as a warp takes at once."""
    return order.block if order.grouped else BLOCKS_AT_ONCE * order.block
