"""A product as a fold: what it is wherever it is not called.

sum(a[..., :, None, :] * b.mT[..., None, :, :], axis=-1): operands keep their memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import CompileError
from .expr import Apply, Expr, Weak, build, cast, late
from .key import remap_key
from .leaf import Leaf
from .product import Dot, dot_of
from .reduction import Reduce, folded_again, reduction
from .remap import Remap, remap
from .show import tree

# of an element type's kind: what multiplies two elements, and the reducer
_WAYS = {
    "b": ("logical_and", "any"),
    "u": ("multiply", "sum"),
    "i": ("multiply", "sum"),
    "f": ("multiply", "sum"),
    "c": ("multiply", "sum"),
}


Origins = dict[int, Expr]  # by the identity of a view the operand that it is a view of


def folded(dot: Dot, origins: Origins) -> Expr:
    """A Dot as a fold."""
    row = dot.key.dtype
    multiply, reducer = _WAYS[row.kind]
    spread = _spread(dot)
    origins |= {id(view): x for view, x in zip(spread, dot.operands, strict=True)}
    inner = row.computed
    a, b = (x if x.key.dtype is inner else cast(x, inner.numpy) for x in spread)
    found = reduction(reducer, build(multiply, a, b), -1, keepdims=False, dtype=inner.numpy, operation="dot")
    return found if inner is row else cast(found, row.numpy)


def _spread(dot: Dot) -> tuple[Expr, Expr]:
    """Both operands with the axes (..., m, n, k), as far as they have them."""
    a, b = dot.a, dot.b
    if b.ndim > 1:
        a = _scattered(a, b) if _dense_rows(b) else a[..., :, None, :] if a.ndim > 1 else a
        b = late["transpose"](b, (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2))
    if a.ndim > 1 and b.ndim > 1:
        b = b[..., None, :, :]
    return a, b


def _dense_rows(b: Expr) -> bool:
    return not isinstance(b, Leaf) or b.layout.strides[-1] == 1 != b.layout.strides[-2]


def _scattered(a: Expr, b: Expr) -> Expr:
    """`a` with the axes (..., m, 1, k), in steps along k that nobody knows to be 1: so vectors run along the rows of `b`, whose
    elements follow each other, not along k. Of 256³ float32: 36 GFlop/s, not 0.4.
    """
    shape = (*a.shape[:-1], *(1,) * (a.ndim > 1 and b.ndim > 1), a.shape[-1])
    return remap(a, shape, lambda i, p: [*i[: a.ndim - 1], i[-1] * p[0]], params=[1], name=("rows", len(shape), a.ndim))


def rebuilt(root: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The tree with what `change` gives for each node, which has its operands already."""

    def changed(node: Expr, args: list[Any]) -> Expr:
        same = all(new is old for new, old in zip(args, node.operands, strict=True))
        return change(node if same else over(node, args))

    return remade(root, changed)


def remade(root: Expr, make: Callable[[Expr, list[Any]], Expr]) -> Expr:
    """The tree with what is made of each node and its operands. No recursion: trees may be deep."""
    made: dict[int, Expr] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [x for x in node.operands if isinstance(x, Expr) and id(x) not in made]
        if id(node) in made or missing:
            stack = stack[:-1] if id(node) in made else [*stack, *reversed(missing)]
            continue
        stack.pop()
        made[id(node)] = make(node, [made[id(x)] if isinstance(x, Expr) else x for x in node.operands])
    return made[id(root)]


def over(node: Expr, args: list[Any]) -> Expr:
    """A node over other operands of the same shapes."""
    match node:
        case Apply(key=key):
            return cast(args[0], key.dtype.numpy) if key.op == "cast" else build(key.op, *args)
        case Dot():
            return dot_of(args[0], args[1], "dot")
        case Reduce():
            return folded_again(node, args)
        case Remap():
            made, (src, *rest) = Remap(), args
            other = rest[0] if rest else None
            other_key = other.key if isinstance(other, Expr) else None if other is None else type(other)
            made.key = remap_key(node.map, src.key, other_key, node.map.title)
            made.shape, made.map, made.params = node.shape, node.map, node.params
            made.src, made.other, made.reads = src, other, node.reads
            return made
    raise AssertionError(f"a {type(node).__name__} has no operands")


def expanded(root: Expr) -> tuple[Expr, Origins]:
    """The tree with a fold for every product in it, and where the views in it come from."""
    origins: Origins = {}
    return rebuilt(root, lambda node: folded(node, origins) if isinstance(node, Dot) else node), origins


def without_calls(x: Expr | Weak, operation: str) -> Expr | Weak:
    """A value with folds for products of two vectors. Raises CompileError for another product: that is a call, for which there is no place."""
    if not isinstance(x, Expr) or not x.key.products:
        return x
    calls = [node for node in _dots(x) if node.a.ndim > 1 or node.b.ndim > 1]
    if calls:
        raise CompileError(
            f"{operation}: {tree(calls[0], 2)} is a call, and a kernel of several statements has no place for one; make it a statement of "
            "its own beside the kernel, or a fold inside with xt.implicit_dot"
        )
    return expanded(x)[0]


def _dots(root: Expr) -> list[Dot]:
    """Every product in a tree."""
    found: list[Dot] = []

    def look(node: Expr) -> Expr:
        if isinstance(node, Dot):
            found.append(node)
        return node

    rebuilt(root, look)
    return found
