"""Rows that run on: where the next row's columns lie right behind this one's, many rows are one.

What is made of folds across rows has a number for each column, and no order. A row of few columns fills a part of a vector; of many such
rows all vectors are full, when the numbers of the columns are repeated as often.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .ir import Axis, Fold, Leaf, Load, Local, Op, Store, Value
from .nest import Let, Loop, Stmt, Vector
from .rewrite import affine, steps
from .vectors import computed


def repeated(
    stores: Sequence[Store], bound: frozenset[Axis | Local], row: Axis, axis: Axis
) -> tuple[list[Value], list[Value]]:
    """The largest values that a column has in all rows, and those that a row has in all columns."""
    columns: list[Value] = []
    rows: list[Value] = []
    seen, stack = set[Value](), [store.value for store in stores]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op | Load) or not {row, axis} & node.free:
            continue
        seen.add(node)
        if node.free <= bound | {axis}:
            columns.append(node)
        elif node.free <= bound | {row}:
            rows.append(node)
        elif isinstance(node, Op):
            stack.extend(reversed(node.args))
    return columns, rows


def running_on(stmts: Sequence[Stmt], axis: Axis, start: Local, end: Local, saved: Collection[Leaf]) -> list[Stmt]:
    """The statements; the innermost loop over rows knows when rows of `start` to `end` of `axis` run on. `saved` has a number for
    each column.
    """

    def within(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, Loop):
            return stmt
        inner = [s for s in stmt.body if not isinstance(s, Let)]
        if len(inner) == 1 and isinstance(inner[0], Vector):
            return replace(stmt, runs=_strides(stmt.axis, inner[0], axis, start, end, saved))
        return replace(stmt, body=tuple(map(within, stmt.body)))

    return list(map(within, stmts))


def _strides(
    row: Axis, vector: Vector, axis: Axis, start: Local, end: Local, saved: Collection[Leaf]
) -> tuple[Value, ...]:
    """From row to row, of all that is read and stored; nothing where the loop is of another kind."""
    if vector.axis is not axis or vector.low is not start or vector.high is not end or vector.lanes == 1:
        return ()
    found: list[Value] = []
    nodes = [n for n in computed([s.value for s in vector.stores], axis) if {axis, row} & n.free]
    for at in (*vector.stores, *nodes):
        if isinstance(at, Axis | Fold):
            return ()
        if not isinstance(at, Load | Store):
            continue
        guarded = isinstance(at, Load) and at.when is not None
        if at.leaf in saved and at.offset is axis - start and not guarded:
            continue
        down = affine(at.offset, row)
        if steps(at, axis) != 1 or not down or guarded:
            return ()
        found.append(down[0] // 2 if at.leaf.pairs else down[0])
    return tuple(dict.fromkeys(found))
