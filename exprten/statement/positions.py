"""Is the target read only where that is right? Indices decide here, those of a lowered statement.

A read of the target is right at the position that is being stored; in a part of a joined target that is stored later; in a fold
that is finished before the first store; and in a fold of a row that is finished before the first store to that row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from exprten_jit.folds import folds_of, loads
from exprten_jit.ir import Axis, Fold, Leaf, Load, Value
from exprten_jit.kernel import Kernel
from exprten_jit.linear import equal, never
from exprten_jit.nest import Blocks, Columns, Loop, Nest, Pieces, Plain, Reduce, Stmt
from exprten_jit.rewrite import substitute, walk


@dataclass(frozen=True)
class Elsewhere:
    """A load from memory of the target, in a part of the kernel, with the folds around it, outermost first."""

    part: int
    load: Load
    folds: tuple[Fold, ...]


def elsewhere(kernel: Kernel) -> tuple[Elsewhere, ...]:
    """The loads that are not obviously at the position being stored: from a target, and from any other leaf, because it may overlap
    the target another time. (A statement may have a fold, and its kernel none: a sum along an axis of one element is its operand.)
    """
    found: list[Elsewhere] = []
    for t, part in enumerate(kernel.parts):
        stored = {(store.leaf, store.offset) for store in part.stores}
        reads = dict.fromkeys(read for store in part.stores for read in loads(store.value))
        found += [Elsewhere(t, load, folds) for load, folds in reads if (load.leaf, load.offset) not in stored]
    return tuple(found)


def wrong(
    found: Sequence[Elsewhere],
    kernel: Kernel,
    nest: Nest,
    sizes: Mapping[str, int],
    overlapping: Collection[Leaf],
    strict: bool,
) -> Elsewhere | None:
    """The first load from a target, or from a leaf that overlaps one, that is not proved right, if there is one. `strict`: it must
    be at the position that is being stored.
    """
    memory = {store.leaf for part in kernel.parts for store in part.stores} | set(overlapping)
    reads = (read for read in found if read.load.leaf in memory)
    return next((read for read in reads if not _right(read, kernel, nest, sizes, strict)), None)


def _right(read: Elsewhere, kernel: Kernel, nest: Nest, sizes: Mapping[str, int], strict: bool) -> bool:
    part, load = kernel.parts[read.part], read.load
    here = [store.offset for store in part.stores if store.leaf == load.leaf]
    if not read.folds and any(equal(load.offset, offset, sizes) for offset in here):
        return True
    if load.when is not None and load.when.free <= {axis for axis, _ in part.axes} and never(load.when, part, sizes):
        return True
    return not strict and settled(read, kernel, nest)


def settled(read: Elsewhere, kernel: Kernel, nest: Nest) -> bool:
    """Whether a load from memory of the target is right whatever the sizes are, where it need not be at the position being stored."""
    part, leaf = kernel.parts[read.part], read.load.leaf
    if any(leaf == store.leaf for p in kernel.parts[: read.part] for store in p.stores):
        return False
    if any(leaf == store.leaf for p in kernel.parts[read.part + 1 :] for store in p.stores):
        return True
    if read.part and all(leaf != store.leaf for store in part.stores):
        return False  # no target: it may lie in one that was stored before
    return _finished(read, part, nest.parts[read.part])


def _finished(read: Elsewhere, part: Kernel, nest: Nest) -> bool:
    """Whether the outermost fold around a load is finished before the first store to what the load reads."""
    if not read.folds:
        return False
    if not set(read.folds).isdisjoint(walk(*(value for value, _ in nest.known))):
        return True
    here = [store.offset for store in part.stores if store.leaf == read.load.leaf]
    loops = {extent: axis for axis, extent in part.axes}
    outermost = dict(nest.folds).get(read.folds[0], read.folds[0])
    crossed = {fold.axis: loops.get(fold.extent) for fold in read.folds}
    if not read.folds[0].free:
        return _before(nest.body, outermost, {axis for axis, _ in part.axes})
    if not here or None in crossed.values():
        return False
    along: dict[Value, Value] = {axis: loop for axis, loop in crossed.items() if loop is not None}
    same = substitute(read.load.offset, along)
    if not any(same is offset for offset in here):
        return False
    whole_rows = nest.written  # which are read before they are stored
    return whole_rows or _before(nest.body, outermost, {loop for loop in crossed.values() if loop is not None})


def _before(body: Sequence[Stmt], fold: Value, axes: set[Axis]) -> bool:
    """Whether a loop nest computes `fold` outside of the loops over `axes`."""
    for stmt in body:
        if isinstance(stmt, Reduce) and fold in stmt.folds:
            return True
        if isinstance(stmt, Loop | Blocks | Columns | Pieces) and stmt.axis in axes:
            continue
        if isinstance(stmt, Columns) and any(fold in folds_of(value) for _, value in stmt.saved):
            return True
        if not isinstance(stmt, Plain) and _before(stmt.body, fold, axes):
            return True
    return False
