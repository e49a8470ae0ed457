"""What fills memory is stored past the caches: what is made of folds down columns, and rows that do not run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from .derived import apply
from .dtypes import BOOL
from .folds import folds_of
from .ir import TRUE, Axis, Load, Value, both, index
from .kernel import Kernel
from .machine import Machine
from .nest import Loop, Stmt, Vector
from .rewrite import affine, steps, walk
from .unrolled import Group
from .vectors import STREAM_BYTES

ROW_BYTES = 1024  # of a row that is not joined to the next: the lines at its ends are stored through the caches


def rows_past_caches(
    stmts: Sequence[Stmt], kernel: Kernel, machine: Machine, groups: Sequence[Group] = ()
) -> list[Stmt]:
    """The statements of a kernel without folds, of which loops over whole vectors, inside of others, store so where the target is large: rows that are
    long, and of several that are stored together, or in `groups`, those that are whole lines.
    """
    large = large_target(kernel, machine)
    if large is None or kernel.reverse or folds_of(*(store.value for store in kernel.stores)):
        return list(stmts)
    long, grouped = dict(kernel.axes), {(leaf, at) for leaf, places in groups for at in places}

    def within(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(within, stmt.body)))
        if (
            not isinstance(stmt, Vector)
            or stmt.lanes == 1
            or stmt.stream
            or stmt.short
            or not (_rows(stmt) or (stmt.stores[0].leaf, stmt.stores[0].offset) in grouped)
        ):
            return stmt
        if stmt.high is not long.get(stmt.axis):
            return stmt
        many = stmt.high - stmt.low
        row = many >= ROW_BYTES // stmt.stores[0].leaf.dtype.itemsize
        if len(stmt.stores) > 1 + stmt.stores[0].leaf.pairs:  # the processor sees no order in their lines (0.33 times)
            lines = apply("equal", apply("bitwise_and", many, index(stmt.lanes - 1)), index(0))
            row = apply("logical_or", row, lines)
        return replace(stmt, stream=both(both(large, row), _alike(stmt, [axis for axis, _ in kernel.axes[:-1]])))

    return [within(stmt) if isinstance(stmt, Loop) else stmt for stmt in stmts]


def in_lines(stmts: Sequence[Stmt], own: Value, begins: Value, machine: Machine) -> list[Stmt]:
    """The statements, whose innermost loop stores the lines that begin in so many elements, and before the first one where the target `begins` with them."""

    def within(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(within, stmt.body)))
        if not isinstance(stmt, Vector):
            return stmt
        found = replace(stmt, high=own)
        return replace(found, stream=TRUE, peeled=stmt.masked, lines=(begins, stmt.high)) if machine.streams else found

    return list(map(within, stmts))


def large_target(kernel: Kernel, machine: Machine) -> Value | None:
    """Whether the one target of a kernel, which nothing reads, is large; None where there is no such target."""
    values = [store.value for store in kernel.stores]
    targets, read = {store.leaf for store in kernel.stores}, {x.leaf for x in walk(*values) if isinstance(x, Load)}
    streams = machine.streams and not kernel.cached
    if not streams or len(targets) > 1 or targets & read or not targets <= {*kernel.leaves}:  # or it is scratch
        return None
    size = sum(store.leaf.dtype.itemsize for store in kernel.stores)  # the parts of a complex number are two stores
    return prod((extent for _, extent in kernel.axes), start=index(1)) >= STREAM_BYTES // size


def _alike(stmt: Vector, outer: Sequence[Axis]) -> Value:
    """Whether all rows are aligned alike: where some are stored past the caches, and some through them, all take longer."""
    found: Value = TRUE
    for store in stmt.stores:
        found = both(found, are_multiples(store.offset, outer, stmt.lanes))
    return found


def are_multiples(offset: Value, axes: Sequence[Axis], of: int) -> Value:
    """Whether the steps of an offset along some axes are multiples of a power of two."""
    found: Value = TRUE
    for axis in axes:
        form = affine(offset, axis)
        if form is not None:
            found = both(found, apply("equal", apply("bitwise_and", form[0], index(of - 1)), index(0)))
    return found


def _rows(stmt: Vector) -> bool:
    return all(steps(store, stmt.axis) == 1 and store.leaf.dtype is not BOOL for store in stmt.stores)


def past_caches(stmts: Sequence[Stmt], kernel: Kernel, machine: Machine) -> list[Stmt]:
    """The statements, of which loops over whole vectors store so where the one target of `kernel`, which nothing reads, is large; of a
    kernel without folds as they are.
    """
    large, extents = large_target(kernel, machine), dict(kernel.axes)
    if large is None or not folds_of(*(store.value for store in kernel.stores)):
        return list(stmts)

    def within(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(within, stmt.body)))
        if not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.axis not in extents:
            return stmt
        return replace(stmt, stream=large if _rows(stmt) else None)

    return list(map(within, stmts))
