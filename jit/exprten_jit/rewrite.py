"""Walking and rewriting values: substitution, guards, and the affine form of an index."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from .dtypes import BOOL, INDEX
from .ir import (
    TRUE,
    Axis,
    Component,
    Const,
    Fold,
    Load,
    Op,
    Store,
    Table,
    Value,
    both,
    components,
    fold,
    index,
    load,
    negation,
    op,
)
from .kernel import Kernel


def walk(*roots: Value, into_folds: bool = True, known: Container[int] = ()) -> Iterator[Value]:
    """Every node below the roots, once each, children first; of a fold the extent only, unless `into_folds`; nothing below those
    whose id is `known`. No recursion: trees may be hundreds deep.
    """
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) not in seen and id(node) not in known:
            seen.add(id(node))
            stack.append((node, True))
            children = node.children if into_folds or not isinstance(node, Fold) else (node.extent,)
            stack.extend((child, False) for child in reversed(children))


def eager(node: Op) -> tuple[Value, ...]:
    """What is computed whenever `node` is: of a `rarely`, all but the operations behind its branch."""
    if node.op != "rarely":
        return node.args
    condition, rare, common = node.args
    stack, seen, begin = [rare], set[Value](), list[Value]()
    while stack:
        part = stack.pop()
        if part not in seen and not isinstance(part, Const | Table):
            seen.add(part)
            if isinstance(part, Op):
                stack.extend(part.args)
            else:
                begin.append(part)
    return condition, common, *begin


def elements_of(roots: Iterable[Value]) -> Iterator[Value]:
    """What is computed for an element, no offsets."""
    stack, seen = list(roots), set[Value]()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            if isinstance(node, Op):
                stack.extend(reversed(eager(node)))


def rebuild(node: Value, children: tuple[Value, ...]) -> Value:
    """`node` over other children, simplified as if newly built."""
    if all(new is old for new, old in zip(children, node.children, strict=True)):
        return node
    match node:
        case Load():
            return load(node.leaf, children[0], children[1] if len(children) > 1 else None)
        case Op(dtype=dtype) if (
            dtype is INDEX and node.op in _INDEX_ARITHMETIC and all(child.dtype is INDEX for child in children)
        ):
            made = _INDEX_ARITHMETIC[node.op](*children)
            dropped = not made.reads and any(
                child.reads for child in children
            )  # `x - x` of elements stays what it is elsewhere
            return op(node.op, children, dtype) if dropped else made
        case Op("bitwise_and") if node.dtype is BOOL:
            return both(*children)
        case Op():
            return op(node.op, children, node.dtype)
        case Fold():
            return fold(node.reducer, node.axis, children[0], children[1:], node.order)
        case Component():
            (made,) = children
            assert isinstance(made, Fold), "a part is a part of a fold"
            return components(made)[node.position]
    raise AssertionError(f"{node} has no children to replace")


_INDEX_ARITHMETIC: dict[str, Callable[[Value, Value], Value]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
}


def rewrite(root: Value, change: Callable[[Value], Value | None]) -> Value:
    """`root` with every node for which `change` gives a value replaced by it, the others rebuilt over their new children."""
    done: dict[int, Value] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        new = change(node)
        if new is None:
            missing = [child for child in node.children if id(child) not in done]
            if missing:
                stack.extend(missing)
                continue
            new = rebuild(node, tuple(done[id(child)] for child in node.children))
        done[id(node)] = new
        stack.pop()
    return done[id(root)]


def substitute(root: Value, values: dict[Value, Value]) -> Value:
    return rewrite(root, values.get)


def under(value: Value, guard: Value) -> Value:
    """`value` whose loads happen only where `guard` holds, as far as that tells of where they read: a fold of rows is not asked for columns."""

    def change(node: Value) -> Value | None:
        if not isinstance(node, Load):
            return None
        when = both(node.when, _about(guard, node.offset.free))
        return node if when is TRUE else load(node.leaf, node.offset, when)

    return rewrite(value, change)


def _about(guard: Value, places: Collection[Value]) -> Value:
    """What a guard asks of these places, or of none."""
    if isinstance(guard, Op) and guard.op == "bitwise_and" and guard.dtype is BOOL:
        a, b = guard.args
        return both(_about(a, places), _about(b, places))
    return guard if not guard.free or any(x in places for x in guard.free) else TRUE


def guarded(guard: Value | None, value: Value, other: Value) -> Value:
    """`value` where `guard` holds, else `other`; the loads of each side happen only there."""
    if guard is None or guard is TRUE:
        return value
    return op("where", (guard, under(value, guard), under(other, negation(guard))), value.dtype)


def affine(value: Value, v: Axis) -> tuple[Value, Value] | None:
    """(coefficient, rest), both free of `v`, with value = coefficient * v + rest; None where there is no such pair."""
    if v not in value.free:
        return index(0), value
    if value is v:
        return index(1), index(0)
    if v not in value.forms:
        value.forms[v] = _form(value, v)  # asked for at each load and store, of each group of rows
    return value.forms[v]


def _form(value: Value, v: Axis) -> tuple[Value, Value] | None:
    match value:
        case Op("add" | "subtract", (a, b)):
            p, q = affine(a, v), affine(b, v)
            if p and q:
                return (p[0] + q[0], p[1] + q[1]) if value.op == "add" else (p[0] - q[0], p[1] - q[1])
        case Op("multiply", (a, b)):
            if v in b.free:
                a, b = b, a
            p = None if v in b.free else affine(a, v)
            if p:
                return p[0] * b, p[1] * b
    return None


def steps(at: Load | Store, v: Axis) -> int | None:
    """How many elements further a load or store is for the next index along `v`, where that is a known number."""
    form = affine(at.offset, v)
    if not form or not isinstance(form[0], Const):
        return None
    each = 2 if at.leaf.pairs else 1
    return int(form[0].value) // each if form[0].value % each == 0 else None


def with_values(kernel: Kernel, values: Mapping[Value, Value]) -> Kernel:
    """The kernel with some values in place of others."""
    stores = (replace(store, value=substitute(store.value, dict(values))) for store in kernel.stores)
    return replace(kernel, stores=tuple(stores))
