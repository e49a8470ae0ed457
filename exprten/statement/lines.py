"""Pieces of a target that is stored past the caches in whole lines: each has a line more, and stores those lines that begin in it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from exprten_jit.machine import LINE

from ..expression.key import Key
from ..expression.shape import Layout, Shape
from ..expression.shape import layout as layout_of
from .alone import by_target, packed
from .memory_order import Turned
from .pieces import Tile, cut, extents_of
from .plain import copy_alone
from .signature import LATER, SCRATCH, Alone, Ways

LONG = 512  # elements of a row: of longer ones that are no whole lines the parts at their ends are few


def cut_run(target: Layout, tile: Tile) -> list[int]:
    """The innermost axes of the target that follow each other, the outermost first, up to one that is cut; nothing where none of them is."""
    run = list[int]()
    for k in reversed(by_target(target)):
        if run and target.strides[k] != target.strides[run[0]] * target.shape[run[0]]:
            break
        run.insert(0, k)
        if k in tile:
            return run
    return []


def with_line(turned: Turned, tile: Tile, run: Sequence[int], key: Key, room: int) -> Turned | None:
    """A tile with a line more, of elements of this key's type; nothing where so many bytes are no room for it."""
    inner = prod(turned.target.shape[k] for k in run[1:])
    more = -(-(LINE // key.dtype.itemsize - 1) // inner)
    found = cut(turned, {**tile, run[0]: min(tile[run[0]] + more, turned.target.shape[run[0]])})
    return found if prod(extents_of(found.found)) * key.dtype.itemsize <= room else None


def may_be_lined(key: Key) -> bool:
    """Whether elements of this key's type can be stored so."""
    return key.dtype.kind not in "bc"


def breaks_lines(copy: Alone, target: Layout, names: Sequence[str], key: Key) -> bool:
    """Whether what turns short rows of the target has parts of lines at their ends."""
    extents = dict(zip(names, target.shape, strict=True))
    row = prod(extents[name] for name in copy.loops[-1])
    return copy.ways.squares and row <= LONG and row % (LINE // key.dtype.itemsize) > 0


def by_scratch(target: Layout, run: Sequence[int], key: Key, names: Sequence[str]) -> tuple[Alone, Alone] | None:
    """How elements are copied to the order of the target, in scratch, and from there to the target, rows as long as they follow each other."""
    order = by_target(target)
    turned = copy_alone(_in_order(target.shape, order), packed(target.shape), (LATER, SCRATCH), key, names)
    loops = (*((names[k],) for k in order if k not in run), tuple(names[k] for k in run))
    return (turned, Alone((0, LATER), (), loops, Ways())) if turned else None


def _in_order(shape: Shape, order: Sequence[int]) -> Layout:
    """Packed with its axes in this order."""
    strides = [0] * len(shape)
    for n, k in enumerate(order):
        strides[k] = prod(shape[j] for j in order[n + 1 :])
    return layout_of(shape, tuple(strides))
