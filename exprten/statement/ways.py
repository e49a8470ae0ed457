"""What of the layouts decides how a kernel is scheduled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..expression.shape import Layout
from . import blocks
from .axes import Folded, Same
from .before import computed_before
from .few import Few, Rows, few_columns, few_rows, written_columns
from .gather import Gathered, widest
from .lying import TILED, fills_squares, narrow_rows, rows_run_on, runs_on_inside, turns
from .nested import named
from .orders import rows_are_near, runs_onto
from .registers import are_halved
from .signature import Ways
from .walk import Given, Walk


def ways_of(given: Given, walk: Walk, over: tuple[Folded, ...], other: Sequence[int]) -> Ways:
    """What of the layouts decides how the kernel is scheduled. `other` are the axes along which something runs on across a plain statement's
    innermost one.
    """
    found, same, goal, axes, extents = given.found, given.same, given.layouts[0], walk.axes, walk.extents
    long = len(axes) > 1 and min(extents) >= TILED
    moved = given.free and found.indexed and long and turns(found, goal, same)
    down = Ways()
    if given.vectors and same is not None and not walk.short:
        down = _down(found, same, goal, axes, extents, given.free)
    beside = other or ([down.onto] if down.onto is not None else axes[:-1] if moved else [])
    run_on = walk.beside if same else not found.indexed and rows_run_on(extents, walk.strides)
    return replace(
        down,
        short=walk.short,
        packed=walk.packed,
        block=blocks.named(walk.block, same, axes, over) if walk.block else (),
        lanes=walk.block.lanes if walk.block else None,
        halved=walk.halved or int(are_halved()),
        flat=walk.flat,
        strung=walk.strung,
        columns=walk.columns or down.columns,
        rest=walk.rest,
        keeps=bool(same) and given.apart and not given.reverse,
        shared=given.cpu and not given.apart,
        tiles=moved or (given.cpu and bool(other)),
        squares=given.cpu and fills_squares(axes, extents, beside, found),
        inside=runs_on_inside(axes, extents, walk.strides, other, widest(found))
        if given.cpu and same is None
        else None,
        runs=given.free and run_on,
        rows=same is not None and not walk.short and rows_are_near(axes, same),
        within=named(same, walk.pairs, over) if walk.pairs and same is not None else (),
        first=computed_before(same, axes, walk.short, over)
        if given.cpu and not given.reverse and same is not None and given.joined is None
        else (),
    )


def _down(found: Gathered, same: Same, goal: Layout, axes: list[int], extents: list[int], free: bool) -> Ways:
    """How folds are taken across the innermost axis, where they are."""
    onto = runs_onto(axes, same, extents) if free else None
    if onto is not None:
        return Ways(onto=onto, columns=written_columns(axes, same, extents, onto=True))
    down = Rows() if found.params else few_rows(axes, same, extents)
    few = Few() if down.many else few_columns(axes, same, extents)
    narrow = narrow_rows(axes, extents, goal) if free and not few.columns else 0
    columns = down.columns or written_columns(axes, same, extents)
    return Ways(
        down=down.many, columns=columns, few=few.columns, low=few.low, tall=few.tall, near=few.near, narrow=narrow
    )
