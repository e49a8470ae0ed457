"""Which way folds run, and which of them other folds need again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .folds import folds_of, owns_rows, vector_axis
from .ir import Axis, Fold, Load, Local, Size, Value, axis, fold
from .kernel import Kernel
from .reducers import ACROSS, along
from .rewrite import rewrite, steps, substitute, walk


def repeated(kernel: Kernel) -> list[Fold]:
    """The folds that another one computes for each of its elements, and that again for each of a loop on which they do not depend; those
    of columns, which are read side by side: the one around them comes by them one after the other; where both fold columns, those that need
    fewer loops: the one around them could not fold all columns at once inside of its own loops; and those that a loop around theirs repeats.
    """
    axis, folds = vector_axis(kernel), folds_of(*(store.value for store in kernel.stores))
    found = dict[Fold, None]()
    for around in folds:
        lanes = {axis} if axis is not None and not kernel.short else set()
        below = folds_of(*around.bodies)
        inner = [node for node in below if around.axis in node.free]
        found |= dict.fromkeys(node for node in inner if not around.free - lanes <= node.free)
        found |= dict.fromkeys(node for node in below if lanes and lanes <= node.free < around.free)
        found |= dict.fromkeys(_of_columns(around, inner))
    if not kernel.short:
        loops = [
            a for a, _ in kernel.axes if a is not axis
        ]  # vectors run along this one, or nothing that they fold depends on it
        found |= dict.fromkeys(node for node in folds if _repeats(node, loops))
    return list(found)


def _repeats(node: Fold, loops: Sequence[Axis]) -> bool:
    """Whether one of the loops around those that a fold depends on is none of them."""
    needs = [a in node.free for a in loops]
    return False in needs[: max((n for n, need in enumerate(needs) if need), default=0)]


def _of_columns(around: Fold, inner: Sequence[Fold]) -> list[Fold]:
    """Those of the folds inside of another one that are of columns, and so are all in which they stand; but not of a fold of two axes."""
    two = {node for node in inner if around.bodies == (node,) and around.reducer == node.reducer}
    others = [node for node in inner if node in two or not _is_of_columns(node, around.axis)]
    below = {x for node in others for x in folds_of(*node.bodies)}
    return [node for node in inner if node not in others and node not in below]


def ordered(kernel: Kernel) -> Callable[[Value], Value]:
    """Gives every fold of a kernel its order, which follows from the structure and the strides that are known. Across rows are folds of
    columns that vectors run along, here or where they are computed before.
    """
    axis, folds = vector_axis(kernel), folds_of(*(store.value for store in kernel.stores))
    every = named(folds, extents_of(folds, kernel), kernel)
    again = {every[node][0] for node in repeated(kernel) if node in every and _is_of_columns(node, *node.free)}
    columns = {node for node, (own, _) in every.items() if own in again}

    def change(node: Value) -> Value | None:
        if not isinstance(node, Fold) or node.order is not None:
            return None
        beside = axis is not None and axis in node.free and not kernel.short
        order = ACROSS if beside or node in columns else along(*node.dtypes)
        return fold(node.reducer, node.axis, node.extent, tuple(rewrite(body, change) for body in node.bodies), order)

    return lambda value: rewrite(value, change)


def _is_of_columns(node: Fold, *axes: Axis | Local) -> bool:
    """Whether a fold reads rows along one of these axes, and not along its own."""
    found = [x for x in walk(*node.bodies) if isinstance(x, Load) and node.axis in x.offset.free]
    return any(steps(x, a) in (1, -1) for x in found for a in axes if isinstance(a, Axis)) and not owns_rows(node)


@dataclass(frozen=True)
class Own:
    """A value over axes of its own, with their extents: one for all that differ in the names of axes."""

    value: Value
    axes: tuple[tuple[Axis, Size], ...]

    @property
    def extents(self) -> tuple[str, ...]:
        return tuple(sorted(extent.name for _, extent in self.axes))


Named = dict[
    Value, tuple[Own, tuple[Axis, ...]]
]  # values as they are over axes of their own, with those that these stand for


def extents_of(folds: Sequence[Fold], kernel: Kernel) -> dict[Axis, Value]:
    """Of the axes of the loops, and of folds where all that have an axis agree."""
    found: dict[Axis, set[Value]] = {}
    for node in folds:
        found.setdefault(node.axis, set()).add(node.extent)
    return {a: next(iter(e)) for a, e in found.items() if len(e) == 1} | dict(kernel.axes)


def named(values: Iterable[Value], extents: Mapping[Axis, Value], kernel: Kernel) -> Named:
    """Those of `values` that depend on axes with known extents alone."""
    order = list(kernel.rest.memory) if kernel.rest else [n.name for _, n in kernel.axes if isinstance(n, Size)]
    out: Named = {}
    for node in values:
        sizes = {a: n for a in node.free if isinstance(a, Axis) and isinstance(n := extents.get(a), Size)}
        if not sizes or len(sizes) < len(node.free):
            continue
        known = {a: order.index(n.name) if n.name in order else len(order) for a, n in sizes.items()}
        axes = sorted(sizes, key=lambda a: (known[a], sizes[a].name, a.name))
        own = tuple((axis(f"h{n}"), sizes[a]) for n, a in enumerate(axes))
        made = substitute(node, {a: h for a, (h, _) in zip(axes, own, strict=True)})
        out[node] = Own(made, own), tuple(axes)
    return out
