"""What is made of folds down columns is stored past the caches, where it fills memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from .dtypes import BOOL
from .folds import folds_of
from .ir import Kernel, Load, index
from .nest import Loop, Machine, Stmt, Vector
from .rewrite import steps, walk
from .vectors import STREAM_BYTES


def past_caches(stmts: Sequence[Stmt], kernel: Kernel, machine: Machine) -> list[Stmt]:
    """The statements, of which loops over whole vectors store so where the one target of `kernel`, which nothing reads, is large; of a
    kernel without folds as they are.
    """
    values = [store.value for store in kernel.stores]
    targets, read = {store.leaf for store in kernel.stores}, {x.leaf for x in walk(*values) if isinstance(x, Load)}
    if not machine.streams or not folds_of(*values) or len(targets) > 1 or targets & read:
        return list(stmts)
    size = sum(store.leaf.dtype.itemsize for store in kernel.stores)  # the parts of a complex number are two stores
    extents = dict(kernel.axes)
    large = prod(extents.values(), start=index(1)) >= STREAM_BYTES // size

    def within(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(within, stmt.body)))
        if not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.axis not in extents:
            return stmt
        rows = all(steps(store, stmt.axis) == 1 and store.leaf.dtype is not BOOL for store in stmt.stores)
        return replace(stmt, stream=large if rows else None)

    return list(map(within, stmts))
