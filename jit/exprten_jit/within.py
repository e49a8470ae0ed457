"""Rows of few elements that are folded inside of another fold: they are written out there, and vectors run over rows, as where all that is
folded are rows of few elements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from .folds import folds_of
from .ir import Axis, Fold, Load, Value, components, index
from .kernel import Kernel
from .machine import Machine
from .nest import Plain, Reduce, Stmt
from .reducers import TABLE
from .rewrite import steps, substitute, walk
from .unrolled import WRITTEN_OUT, Group, along, group_of
from .vectors import by_lanes, computed, cost_of

Pairs = tuple[tuple[Value, Value], ...]


def written_within(kernel: Kernel) -> tuple[Kernel, tuple[Group, ...], Pairs]:
    """A kernel with the folds of `within` written out, what lies in groups in them, and the folds around them, each with what it is now."""
    counts = dict(kernel.within)
    if not counts:
        return kernel, (), ()
    folds = folds_of(*(store.value for store in kernel.stores))
    known: dict[Value, Value] = {}
    groups = dict[Group, None]()
    for node, axis in _inner(folds, counts):
        bodies, many = [substitute(body, known) for body in node.bodies], counts[node.extent]
        found = along(node, [tuple(substitute(x, {node.axis: index(j)}) for x in bodies) for j in range(many)])
        loads = (x for x in walk(*bodies) if isinstance(x, Load) and node.axis in x.offset.free)
        mine = [group for x in loads if (group := group_of(x, node.axis, axis, many))]
        if _in_lanes(found, axis, [*groups, *mine]):
            known |= dict(zip(components(node), found, strict=True))
            groups |= dict.fromkeys(mine)
    stores = tuple(replace(store, value=substitute(store.value, known)) for store in kernel.stores)
    around = [(node, substitute(node, known)) for node in folds if node not in known]
    return replace(kernel, stores=stores), tuple(groups), tuple(pair for pair in around if pair[0] is not pair[1])


def _inner(folds: Sequence[Fold], extents: Collection[Value]) -> Iterator[tuple[Fold, Axis]]:
    """Each fold of such an extent that another one computes for each of its elements, with the axis of that."""
    inside = {node: set(walk(*node.bodies)) for node in folds if node.extent not in extents}
    for node in folds:
        around = [other.axis for other, found in inside.items() if node in found and other.axis in node.free]
        if around and node.extent in extents and node.reducer in TABLE:
            yield node, around[0]


def _in_lanes(roots: Sequence[Value], axis: Axis, groups: Collection[Group]) -> bool:
    """Whether this is little text, and all that it reads lies along an axis, or in groups."""
    nodes = [x for x in computed(roots, axis) if axis in x.free]
    loads = [x for x in nodes if isinstance(x, Load)]
    known = {(leaf, at) for leaf, places in groups for at in places}
    near = all(steps(x, axis) in (1, -1, 2) or (x.leaf, x.offset) in known for x in loads)
    alone = not any(isinstance(x, Fold) for x in nodes) and all(x.when is None for x in loads)
    return near and alone and by_lanes(nodes, loads, axis) and cost_of(*roots) <= WRITTEN_OUT


def masked_tails(stmts: Sequence[Stmt], groups: Collection[Group], machine: Machine) -> list[Stmt]:
    """The statements, with the last elements of folds under a mask where they were taken one at a time for no more than what lies in groups."""
    known = {(leaf, at) for leaf, places in groups for at in places}

    def maskable(x: Load, axis: Axis) -> bool:
        return (steps(x, axis) == 1 or (x.leaf, x.offset) in known) and x.leaf.dtype.bits in machine.masked_bits

    def within(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Reduce) and stmt.lanes > 1:
            nodes = computed([body for node in stmt.folds for body in node.bodies], stmt.axis)
            loads = [x for x in nodes if isinstance(x, Load) and stmt.axis in x.offset.free]
            return replace(stmt, masked=stmt.masked or (not stmt.saved and all(maskable(x, stmt.axis) for x in loads)))
        return stmt if isinstance(stmt, Plain) else replace(stmt, body=tuple(map(within, stmt.body)))

    return list(map(within, stmts)) if known else list(stmts)
