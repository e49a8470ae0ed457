"""Rows of few columns that run on are one long row: what all rows, or all columns, have in common is repeated in scratch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .dtypes import INDEX
from .ir import Axis, Leaf, Local, Store, Value, load, local
from .kernel import Kernel
from .machine import Machine
from .nest import Columns, Loop, Stmt
from .placing import loop_over
from .rewrite import with_values
from .runs import repeated, running_on
from .tiles import Bounds

Opening = Callable[[Kernel, Machine, list[Bounds], frozenset[Axis | Local], set[Value]], list[Stmt]]

MOST_REPEATED = 6  # values that are repeated
REPEATED = 1024  # elements of each


def as_one_row(
    kernel: Kernel,
    machine: Machine,
    loops: list[Bounds],
    bound: frozenset[Axis | Local],
    done: set[Value],
    opened: Opening,
    tag: str = "",
    at_once: int = 0,
    most: int = 0,
) -> Columns | None:
    """The nest of two loops, over rows and over their columns; None where something is in the way. `at_once` rows of at `most` so many columns are
    one, or as many as there is room for; `tag` tells what is named here from what is in other loops.
    """
    row, (axis, _, extent) = loops[0][0], loops[1]
    columns, rows = repeated(kernel.stores, bound, row, axis)
    if len(columns) + len(rows) > MOST_REPEATED // (1 + bool(at_once)):
        return None
    start, end, width = (local(f"{name}{tag}", INDEX) for name in ("start", "end", "width"))
    within, inside = bound | {start, end, width}, set(done)
    leaves = [Leaf(f"column{tag}{n}", value.dtype) for n, value in enumerate((*columns, *rows))]
    fill = tuple(Store(leaf, axis - start, value) for leaf, value in zip(leaves, columns, strict=False))
    before = loop_over(kernel, machine, axis, start, end, fill, within, inside) if fill else []
    kernel = with_values(
        kernel, {v: load(leaf, axis - start) for leaf, v in zip(leaves, (*columns, *rows), strict=True)}
    )
    rest = running_on(opened(kernel, machine, [loops[0], (axis, start, end)], within, inside), axis, start, end, leaves)
    *known, loop = rest
    if not isinstance(loop, Loop) or not loop.runs:
        return None
    spread = tuple(zip(leaves[len(columns) :], rows, strict=True))
    body = (*before, *known, replace(loop, spread=spread))
    saved = tuple(zip(leaves, (*columns, *rows), strict=True))
    block = at_once * most or REPEATED
    return Columns(axis, extent, start, end, block, saved, body, width, at_once=at_once)
