"""Kernels whose narrow floats stay as wide as they are computed: rounded where they are stored, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .ir import Const, Load, Local, Op, Param, Store, Value, bits, cast, const, local, op, param
from .kernel import Kernel
from .rewrite import rebuild, walk


def widened(kernel: Kernel, values: Sequence[Sequence[Value]]) -> tuple[Kernel, list[list[Value]]]:
    """`kernel`, and values of each of its parts, with every number in between as wide as it is computed. What a later store reads of
    an earlier one is what was stored.
    """
    made, out = [], []
    for part, own in zip(kernel.parts, values, strict=True):
        wide: dict[Value, Value] = {}
        made.append(_part(part, wide))
        out.append([_wide(value, wide) for value in own])
    whole = made.pop()
    while made:
        whole = replace(made.pop(), then=whole)
    return whole, out


def _part(kernel: Kernel, wide: dict[Value, Value]) -> Kernel:
    stores = []
    for s in kernel.stores:
        value = cast(_wide(s.value, wide), s.leaf.dtype)
        wide[s.value] = cast(value, s.leaf.dtype.computed)
        stores.append(Store(s.leaf, _wide(s.offset, wide), value))
    params = tuple(param(p.name, p.dtype.computed) for p in kernel.params)
    return replace(kernel, stores=tuple(stores), params=params)


def _wide(root: Value, wide: dict[Value, Value]) -> Value:
    for node in walk(root):
        if node not in wide:
            wide[node] = _one(node, tuple(wide[child] for child in node.children))
    return wide[root]


def _one(node: Value, children: tuple[Value, ...]) -> Value:
    to = node.dtype.computed
    match node:
        case Const(value, dtype) if dtype.wide:
            return const(value, to)
        case Param(name, dtype) if dtype.wide:
            return param(name, to)
        case Local(name, dtype) if dtype.wide:
            return local(name, to)
        case Load():
            return cast(rebuild(node, children), to)
        case Op("cast"):
            return cast(children[0], to)
        case Op("bits", (a,)):
            return cast(bits(cast(children[0], a.dtype), node.dtype), to)
        case Op(name, dtype=dtype) if dtype.wide:
            return op(name, children, to)
    return rebuild(node, children)
