"""What a fold has computed and the stored value needs again lies in the target's own row until then.

`exp(x - max(x)) / sum(exp(x - max(x)))` takes one `exp` an element: the sum's loop stores it, the last loop divides what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .dtypes import BOOL
from .ir import Axis, Fold, Leaf, Load, Op, Store, Value, load, local
from .kernel import Kernel
from .machine import Machine
from .nest import Let, Reduce, Stmt
from .rewrite import affine, steps, substitute, walk
from .vectors import DEAR, cost_of


def kept(kernel: Kernel, machine: Machine, placed: list[Stmt], axis: Axis, extent: Value) -> tuple[list[Stmt], Kernel]:
    """`placed`, which runs before the loop over `axis`, and the kernel: with a value kept, if there is a dear one and room for it."""
    if not kernel.keeps or kernel.reverse or len(kernel.stores) != 1:
        return placed, kernel
    (store,) = kernel.stores
    in_place = axis in store.offset.free and affine(store.offset, axis)
    masked = steps(store, axis) == 1 and store.leaf.dtype.bits in machine.masked_bits
    if not in_place or store.leaf.dtype is BOOL:
        return placed, kernel
    for n, stmt in reversed(list(enumerate(placed))):
        if not isinstance(stmt, Reduce) or stmt.extent is not extent or stmt.lanes == 1 or stmt.chains > 1:
            continue
        value = _shared(store, [body for node in stmt.folds for body in node.bodies], stmt.axis, axis)
        if value is None:
            continue
        along: dict[Value, Value] = {axis: stmt.axis}
        saved = Store(store.leaf, substitute(store.offset, along), substitute(value, along))
        rest = substitute(store.value, {value: local("kept", value.dtype)})
        before, after = placed[:n], placed[n + 1 :]
        if _room(stmt, saved, rest, before, after):
            left = replace(store, value=substitute(store.value, {value: load(store.leaf, store.offset)}))
            return [*before, replace(stmt, saved=(saved,), masked=stmt.masked and masked), *after], replace(
                kernel, stores=(left,)
            )
    return placed, kernel


def kept_before(kernel: Kernel, folds: Sequence[Fold], along: int) -> tuple[Fold, Store] | None:
    """Of `folds` over the last axis but one, inner ones first, one that is computed from a dear value which is stored in the target before. That
    runs on `along` the axis of this number: the folded one where rows are short, the last one where columns are few.
    """
    if not kernel.keeps or kernel.reverse or len(kernel.stores) != 1 or len(kernel.axes) < 2:
        return None
    (store,), (row, extent) = kernel.stores, kernel.axes[-2]
    if steps(store, kernel.axes[along][0]) != 1 or store.leaf.dtype is BOOL:
        return None
    for n, node in reversed(list(enumerate(folds))):
        value = _shared(store, node.bodies, node.axis, row) if node.extent is extent else None
        if value is None:
            continue
        here, there = local("kept", value.dtype), substitute(value, {row: node.axis})
        rest = [substitute(store.value, {value: here}), *(substitute(body, {there: here}) for body in node.bodies)]
        rest += [body for other in folds[n + 1 :] for body in other.bodies]
        now, later = _reads([value], store.leaf, folds[:n]), _reads(rest, store.leaf, folds[: n + 1])
        if not later and all(read is load(store.leaf, store.offset) for read in now):
            return node, replace(store, value=value)
    return None


def _shared(store: Store, bodies: Sequence[Value], along: Axis, axis: Axis) -> Value | None:
    """The dearest value of the target's type that both are made of, a fold over `along` and what is stored along `axis`."""
    computed = set(walk(*bodies))
    found: list[Value] = []
    seen, stack = set[Value](), [store.value]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op) or axis not in node.free or cost_of(node) < DEAR:
            continue
        seen.add(node)
        if node.dtype is store.leaf.dtype and substitute(node, {axis: along}) in computed:
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return max(found, key=cost_of, default=None)


def _room(stmt: Reduce, saved: Store, rest: Value, before: Iterable[Stmt], after: Iterable[Stmt]) -> bool:
    """Whether nothing needs what the target held, once a value is kept there: what reads it reads where it is stored, or has done so.
    `rest` is what is still to be computed.
    """
    finished = {node for s in before if isinstance(s, Reduce) for node in s.folds}
    own = load(saved.leaf, saved.offset)
    now = _reads(_values(stmt), saved.leaf, finished)
    later = _reads([rest, *(value for s in after for value in _values(s))], saved.leaf, finished.union(stmt.folds))
    return not later and all(read is own for read in now)


def _values(stmt: Stmt) -> list[Value]:
    if isinstance(stmt, Let):
        return [stmt.value]
    assert isinstance(stmt, Reduce), "folds and values are placed before a loop"
    return [body for node in stmt.folds for body in node.bodies]


def _reads(roots: Iterable[Value], leaf: Leaf, finished: Iterable[Fold]) -> list[Load]:
    """The loads of a leaf below some values, not those of folds that are finished."""
    stack, seen, found = list(roots), set[Value](finished), list[Load]()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.children)
            if isinstance(node, Load) and node.leaf == leaf:
                found.append(node)
    return found
