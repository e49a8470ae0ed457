"""Folds across rows of which another axis runs on: the columns of both are one row, which a strip takes at a time.

In a sum over the first axis of (n, 64, 16), stored as (16, 64), the columns to fold are 1,024 side by side, though no loop runs over them: the
target has them in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .dtypes import INDEX
from .folds import folds_of
from .ir import Axis, Fold, Leaf, Load, Local, Op, Store, Value, axis, components, index, load, local
from .kernel import Kernel
from .machine import Machine
from .nest import Columns, Stmt
from .placing import folds_inside, loop_over
from .rewrite import substitute, walk
from .strips import Stripping
from .tiles import Bounds

BLOCK = 2048  # columns
MOST_SAVED = 4  # values besides the folds
Open = Callable[[Kernel, list[Bounds], frozenset[Axis | Local], set[Value]], list[Stmt]]


def onward(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value], rest: Open
) -> Columns | None:
    """The nest where all folds depend on the innermost axis, on `kernel.onto`, along which it runs on, and on loops that are open; `rest` makes what
    stores.
    """
    inner, _, many = loops[-1]
    outer = next((loop for loop in loops[:-1] if loop[0] is kernel.onto), None)
    folds = folds_of(*(store.value for store in kernel.stores))
    if outer is None or not folds or any(isinstance(x, Local) for x in bound):
        return None
    if any(folds_inside(f) or f.free - bound != {inner, outer[0]} for f in folds):
        return None
    both = axis(f"{outer[0].name}{inner.name}")
    start, end, width = local("start", INDEX), local("end", INDEX), local("width", INDEX)
    within, inside = bound | {start, end, width}, set(done)
    as_one: dict[Value, Value] = {outer[0]: index(0), inner: both}
    here, there = both - start, outer[0] * many + inner - start
    saved: list[tuple[Leaf, Value]] = []
    body: list[Stmt] = []

    def now(value: Value) -> Value:
        known: dict[Value, Value] = {x: load(leaf, here) for leaf, x in saved}
        return substitute(substitute(value, known), as_one)

    def leaf_of(value: Value) -> Leaf:
        return Leaf(f"column{len(saved)}", value.dtype)

    for node in folds:
        strip = Stripping(kernel, machine, both, outer[2] * many, start, end, width, within, inside)
        into = tuple(Leaf(f"column{len(saved) + k}", dtype) for k, dtype in enumerate(node.dtypes))
        body.append(strip.of(node, [now(x) for x in node.bodies], into))
        saved += zip(into, components(node), strict=True)
    for value in _made_of(kernel, folds):
        leaf = leaf_of(value)
        body += loop_over(kernel, machine, both, start, end, (Store(leaf, here, now(value)),), within, inside)
        saved.append((leaf, value))
    again: dict[Value, Value] = {x: load(leaf, there) for leaf, x in reversed(saved)}
    stores = tuple(Store(s.leaf, s.offset, substitute(s.value, again)) for s in kernel.stores)
    left = [loop for loop in loops[:-1] if loop is not outer]
    columns = [*left, (outer[0], start // many, end // many), (inner, index(0), many)]
    body += rest(_with(kernel, stores), columns, within, inside)
    return Columns(both, outer[2] * many, start, end, BLOCK, tuple(saved), tuple(body), width, again=True, each=many)


def _with(kernel: Kernel, stores: tuple[Store, ...]) -> Kernel:
    return replace(kernel, stores=stores, onto=None)


def _made_of(kernel: Kernel, folds: list[Fold]) -> list[Value]:
    """The largest values that are made of folds alone."""
    found: list[Value] = []
    seen, stack = set[Value](), [store.value for store in kernel.stores]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op):
            continue
        seen.add(node)
        read = [x for x in walk(node, known={id(f) for f in folds}) if isinstance(x, Load | Axis)]
        if not read and node.free:
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return found[:MOST_SAVED]
