"""Placing: what is free of the loops still to open is computed before them, folds before what is computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .dtypes import BOOL
from .folds import folds_of
from .ir import Axis, Component, Const, Fold, Load, Local, Op, Param, Size, Store, Table, Value
from .kernel import Kernel
from .machine import Machine
from .nest import Let, Loop, Reduce, Stmt, Vector
from .reducers import reducer_of
from .rewrite import affine, steps, walk
from .vectors import MOST, by_lanes, computed, roots_of, unroll, vector_over


def place(roots: Iterable[Value], machine: Machine, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
    """The largest values below `roots` that need nothing but `bound`, marked as done."""
    placed: list[Stmt] = []
    seen, stack = set(done), list(reversed(list(roots)))
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Const | Table | Param | Size | Axis | Local):
            continue
        seen.add(node)
        if node.free <= bound:
            _reduce(node, machine, bound, done, placed)
            if not isinstance(node, Fold | Component):
                placed.append(Let(node))
            done.add(node)
        else:
            stack.extend(reversed(node.children))
    return placed


def known_first(stmts: Sequence[Stmt]) -> list[Stmt]:
    """The statements, with what loops ask before each row that is the same for all rows computed before them."""
    found, stack = dict[Value, None](), list[Value]()
    loops = [stmt for stmt in stmts if isinstance(stmt, Loop)]
    while loops:
        for stmt in loops.pop().body:
            if isinstance(stmt, Loop):
                loops.append(stmt)
            elif isinstance(stmt, Let) and stmt.early:
                stack.append(stmt.value)
            elif isinstance(stmt, Vector) and stmt.stream is not None:
                stack.append(stmt.stream)
    while stack:
        node = stack.pop()
        if isinstance(node, Op) and not node.free:
            found[node] = None
        else:
            stack.extend(node.children)
    return [*(Let(node, early=True) for node in found), *stmts]


CHAINS = 4  # of a maximum


def _reduce(
    root: Value, machine: Machine, bound: frozenset[Axis | Local], done: set[Value], placed: list[Stmt]
) -> None:
    """Place the folds that `root` is computed from, each after those it needs; neighbours over one axis share a pass."""
    for node in walk(root, into_folds=False):
        if not isinstance(node, Fold) or node in done:
            continue
        before = place([node.extent, *node.bodies], machine, bound, done)
        inside = set(done)
        lanes, masked = (1, False) if _by_rows(node) else _lanes(machine, node)
        again = lanes == 1 and folds_inside(node)
        body = place(node.bodies, machine, bound | {node.axis}, inside) if again else []
        if lanes > 1:
            before += place(forms(node.bodies, node.axis), machine, bound, done)
        last = placed[-1] if placed else None
        chains = _chains(node, lanes)
        steps = _steps(node, lanes) if chains == 1 else 1
        reduce = Reduce(node.axis, node.extent, (node,), lanes, masked, tuple(body), chains, steps=steps)
        if not before and isinstance(last, Reduce) and _alike(last, reduce):
            placed[-1] = _together(last, reduce)
        else:
            placed += [*before, reduce]
        done.add(node)


def _together(a: Reduce, b: Reduce) -> Reduce:
    """The folds of both in one pass; those that have chains in another one over each block, if there are others."""
    lanes, masked, chains = min(a.lanes, b.lanes), a.masked and b.masked, min(a.chains, b.chains)
    found = [*a.chained, *(node for x in (a, b) if x.chains > chains for node in x.folds)]
    steps = max(a.steps, b.steps) if a.lanes == b.lanes else 1
    return replace(
        a, folds=(*a.folds, *b.folds), lanes=lanes, masked=masked, chains=chains, chained=tuple(found), steps=steps
    )


def _chains(node: Fold, lanes: int) -> int:
    """How many times the accumulators of its order a fold has: a maximum of floats takes six instructions that wait for each other."""
    exact = lanes > 1 and reducer_of(node.reducer).exact(node.dtype)
    return CHAINS if exact and unroll(list(computed(node.bodies, node.axis))) == MOST else 1


def _by_rows(node: Fold) -> bool:
    """Whether a fold comes by those inside of it one after the other; those of columns are computed in lanes, one for each element."""
    return folds_inside(node) and not all(x.order is not None and x.order.grouped for x in folds_of(*node.bodies))


def folds_inside(node: Fold) -> bool:
    """Whether another fold stands in the body of this one, for each of its elements."""
    return any(node.axis in inner.free for inner in folds_of(*node.bodies))


def _alike(a: Reduce, b: Reduce) -> bool:
    shared = a.extent is b.extent and a.axis is b.axis and a.folds[0].order == b.folds[0].order
    dependent = any(node in walk(*b.folds[0].bodies) for node in a.folds)
    return shared and not dependent and not a.body and not b.body and (a.lanes > 1) == (b.lanes > 1)


def _lanes(machine: Machine, node: Fold) -> tuple[int, bool]:
    """How many elements of its axis a fold takes at a time, and whether the last ones are masked."""
    nodes = [n for n in computed(node.bodies, node.axis) if node.axis in n.free]
    loads = [n for n in nodes if isinstance(n, Load)]
    assert node.order is not None, "a scheduled fold has an order"
    if node.order.grouped or not by_lanes(nodes, loads, node.axis):
        return 1, False
    dtypes = {n.dtype for n in (*node.bodies, *nodes) if n.dtype is not BOOL} | {n.dtype for n in loads}
    widest = max((dtype.computed.bits for dtype in dtypes), default=8)
    rows = all(steps(n, node.axis) in ((1,) if n.leaf.pairs else (1, -1)) for n in loads)
    masked = rows and all(n.dtype.bits in machine.masked_bits for n in loads)
    return min(node.order.lanes, machine.vector_bits // widest), masked


def _steps(node: Fold, lanes: int) -> int:
    """How many steps a turn takes: where little is done with an element as many as there are vectors to be read at a time."""
    assert node.order is not None, "a scheduled fold has an order"
    little = lanes > 1 and unroll([n for n in computed(node.bodies, node.axis) if node.axis in n.free]) == MOST
    return max(1, MOST * lanes // node.order.lanes) if little else 1


def forms(roots: Iterable[Value], axis: Axis) -> list[Value]:
    """Base and stride along `axis` of every load below `roots`."""
    offsets = [node.offset for node in computed(roots, axis) if isinstance(node, Load) and axis in node.offset.free]
    return [value for offset in offsets if (form := affine(offset, axis)) for value in form]


def affine_lets(vector: Vector, machine: Machine, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
    """Base and stride of every load and store of a vector loop."""
    found = [affine(store.offset, vector.axis) for store in vector.stores if vector.axis in store.offset.free]
    values = [value for form in found if form for value in form]
    values += forms([store.value for store in vector.stores], vector.axis)
    return place(values, machine, bound, done)


def loop_over(
    kernel: Kernel,
    machine: Machine,
    axis: Axis,
    low: Value,
    high: Value,
    stores: tuple[Store, ...],
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    """A vector loop, after what it needs."""
    vector = vector_over(kernel, machine, axis, low, high, stores)
    placed = place(roots_of(stores), machine, bound, done)
    return [*placed, *affine_lets(vector, machine, bound, done), vector]
