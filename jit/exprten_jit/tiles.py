"""Tiles: where a source runs on along another axis than the target does, squares are turned round in registers.

Each lane of a vector would read, or store, a line of its own, of which one element is used. Instead a square of a source is copied to
the stack, where it lies as rows of the target run; or what is computed along a source lies on the stack until it is stored as the target
runs. Folds run as their operands do: their results are saved for the rows of a tile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .cuts import cuts_of
from .dtypes import INDEX
from .folds import folds_of
from .ir import Axis, Kernel, Leaf, Load, Local, Op, Store, Value, load, local
from .nest import SIDE, Machine, Turn, TurnBack
from .rewrite import affine, steps, substitute
from .vectors import DEAR, computed, cost_of

MOST_TURNED = 4  # sources: 64 KiB of stack for float32
WIDEST = 8  # lanes: 16 are as fast where there are as many rows and columns

Names = tuple[Local, Local, Local, Local]  # of a tile: its first row and the one after its last, and the columns
NAMES: Names = (local("top", INDEX), local("bottom", INDEX), local("left", INDEX), local("right", INDEX))


@dataclass(frozen=True)
class Tile:
    """The kernel of a tile, which reads what `turns` bring to the stack. What is `saved` is computed for its rows before, and `back` is
    how it is stored where the target lies across.
    """

    kernel: Kernel
    turns: tuple[Turn, ...]
    saved: tuple[Store, ...]
    back: tuple[TurnBack, ...]

    @property
    def scratch(self) -> tuple[tuple[int, Leaf], ...]:
        """Elements on the stack."""
        squares = [*(turn.into for turn in self.turns), *(turn.tile for turn in self.back)]
        return (*((SIDE * SIDE, leaf) for leaf in squares), *((SIDE, store.leaf) for store in self.saved))


def tile_of(kernel: Kernel, machine: Machine, row: Axis, column: Axis, bound: frozenset[Axis | Local]) -> Tile | None:
    """The tile of the last two loops; None where nothing lies across, or where stores have an order."""
    if not kernel.tiles or kernel.short or cuts_of(kernel.stores, column):
        return None
    inside, saved, back = _stored_across(kernel, machine, row, column, bound)
    found = across(inside, column)
    loads = found[1] if found and found[0] is row else []
    if not loads and not back:
        return None
    leaves = [Leaf(f"turned{n}", node.leaf.dtype) for n, node in enumerate(loads)]
    instead: dict[Value, Value] = {node: load(leaf, _at(row, column)) for leaf, node in zip(leaves, loads, strict=True)}
    stores = tuple(replace(store, value=substitute(store.value, instead)) for store in inside.stores)
    turns = [Turn(leaf, x, row, column, *NAMES, _lanes(machine, leaf)) for leaf, x in zip(leaves, loads, strict=True)]
    return Tile(replace(inside, stores=stores, tiles=False), tuple(turns), saved, back)


def _at(row: Axis, column: Axis) -> Value:
    top, _, left, _ = NAMES
    return (row - top) * SIDE + (column - left)


def _lanes(machine: Machine, leaf: Leaf) -> int:
    return min(WIDEST, machine.vector_bits // (8 * leaf.dtype.itemsize))


def across(kernel: Kernel, axis: Axis) -> tuple[Axis, list[Load]] | None:
    """Another axis, and the loads that run on along it and not along the innermost one, `axis`, as the target does. None where there are
    none, or where folds are computed among them.
    """
    values = [store.value for store in kernel.stores]
    if not kernel.tiles or any(steps(store, axis) != 1 for store in kernel.stores):
        return None
    loads = [node for node in computed(values, axis) if isinstance(node, Load) and node.when is None]
    loads = [node for node in loads if _strided(node, axis)]
    along = {other: [x for x in loads if steps(x, other) == 1] for other, _ in kernel.axes if other is not axis}
    other = max(along, key=lambda k: len(along[k]), default=axis)
    return (other, along[other][:MOST_TURNED]) if along.get(other) and not _folds(values, axis, other) else None


def _folds(values: Iterable[Value], *axes: Axis) -> bool:
    """Whether there are folds that are not the same for all indices of some axes."""
    return any(axis in node.free for node in folds_of(*values) for axis in axes)


def _strided(node: Load | Store, axis: Axis) -> bool:
    """Whether the next index along an axis is at some distance."""
    there = axis in node.offset.free and affine(node.offset, axis) is not None
    return there and steps(node, axis) is None and not node.leaf.pairs


def other_inside(kernel: Kernel) -> Kernel:
    """The kernel with the axis that sources run along as the last but one."""
    if len(kernel.axes) < 2 or cuts_of(kernel.stores, kernel.axes[-1][0]):
        return kernel
    found = across(kernel, kernel.axes[-1][0])
    if found is None:
        return kernel
    outer = [pair for pair in kernel.axes[:-1] if pair[0] is not found[0]]
    own = [pair for pair in kernel.axes[:-1] if pair[0] is found[0]]
    return replace(kernel, axes=(*outer, *own, kernel.axes[-1]))


def _stored_across(
    kernel: Kernel, machine: Machine, row: Axis, column: Axis, bound: frozenset[Axis | Local]
) -> tuple[Kernel, tuple[Store, ...], tuple[TurnBack, ...]]:
    """Where the target runs on along `row` and everything is computed along `column`: the kernel that stores on the stack, what is saved
    for its rows, and how it is stored. Else, or where a fold stands at every element, the kernel as it is.
    """
    store, top = kernel.stores[0], NAMES[0]
    if len(kernel.stores) != 1 or not _strided(store, column) or steps(store, row) != 1:
        return kernel, (), ()
    of_rows = _of_rows(store.value, row, bound)
    leaves = [Leaf(f"row{n}", value.dtype) for n, value in enumerate(of_rows)]
    instead: dict[Value, Value] = {x: load(leaf, row - top) for leaf, x in zip(leaves, of_rows, strict=True)}
    value = substitute(store.value, instead)
    if _folds([value], row, column):
        return kernel, (), ()
    tile = Leaf("tile", store.leaf.dtype)
    saved = tuple(Store(leaf, row - top, x) for leaf, x in zip(leaves, of_rows, strict=True))
    back = TurnBack(tile, store, row, column, *NAMES, _lanes(machine, tile))
    return replace(kernel, stores=(Store(tile, _at(row, column), value),)), saved, (back,)


def _of_rows(root: Value, row: Axis, bound: frozenset[Axis | Local]) -> list[Value]:
    """The largest values that are one for a row, and are folds or dear."""
    found: list[Value] = []
    stack, seen = [root], set[Value]()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if row in node.free and node.free <= bound | {row} and (folds_of(node) or cost_of(node) >= DEAR):
            found.append(node)
        elif isinstance(node, Op):
            stack.extend(reversed(node.args))
    return found
