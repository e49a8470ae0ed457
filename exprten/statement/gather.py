"""A tree taken apart: what is read, in which structure. Each node once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

from exprten_jit.dtypes import DType

from ..expression.expr import Expr, Weak
from ..expression.joined import Joined
from ..expression.key import leaf_key
from ..expression.leaf import Leaf
from ..expression.number import is_number, parts
from ..expression.shape import Layout, Shape
from ..expression.views import Origins

WEAK = -1  # in a structure: a Python scalar stands here


@dataclass
class Gathered:
    """What a tree is made of. `structure` has an entry a node, operands before what uses them."""

    structure: list[tuple[Any, ...]] = field(default_factory=list)
    shapes: list[Shape | None] = field(default_factory=list)  # of each entry; None: a Python scalar is the whole value
    leaves: list[Leaf] = field(default_factory=list)
    layouts: list[Layout] = field(default_factory=list)  # of each leaf
    scalars: list[Any] = field(default_factory=list)
    words: list[str] = field(default_factory=list)  # how each scalar travels
    params: list[tuple[int, ...]] = field(default_factory=list)  # of each Remap
    folds: list[int] = field(default_factory=list)  # the entry of each Reduce and Dot
    dots: list[Expr] = field(default_factory=list)  # products, to be called or expanded before anything is lowered
    above: dict[int, Expr] = field(default_factory=dict)  # products and what is made of them, by their entries
    counts: list[float] = field(default_factory=list)  # the numbers that count what is folded
    counters: list[int] = field(default_factory=list)  # the entry of each Iota
    copies: dict[int, tuple[int, int]] = field(
        default_factory=dict
    )  # entries that have elements of one operation: the first of them, or that one, and how many it has
    indexed: bool = False

    @property
    def several(self) -> bool:
        """Whether these are several statements in one pass."""
        root = self.structure[-1][0]
        return root != WEAK and bool(root.op == "stores")

    @property
    def elements(self) -> list[int]:
        """The number of elements of each node."""
        return [prod(shape or ()) for shape in self.shapes]


def gather(root: Expr | Weak, weak: DType, target: Leaf | Joined, origins: Origins | None = None) -> Gathered:
    """Everything below `root`; `weak` is what a Python scalar as the whole value becomes. A joined target is known where it is
    read as a whole. `origins` says what nodes have elements of. No recursion: trees may be deep.
    """
    joined = target if isinstance(target, Joined) else None
    found = Gathered(indexed=joined is not None)
    if not isinstance(root, Expr):
        _scalar(found, root, weak)
        found.structure.append((WEAK,))
        found.shapes.append(None)
        return found
    position: dict[int, int] = {}
    moved: list[tuple[int, Expr]] = []
    stack: list[Expr] = [root]
    while stack:
        node = stack[-1]
        if id(node) in position:
            stack.pop()
            continue
        if joined is not None and isinstance(node, Joined) and node.same(joined):
            stack.pop()
            position[id(node)] = len(found.shapes)
            found.structure.append((leaf_key("own", node.key.dtype, node.device),))
            found.shapes.append(node.shape)
            continue
        operands = node.operands
        missing = [x for x in operands if isinstance(x, Expr) and id(x) not in position]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        refs = [position[id(x)] if isinstance(x, Expr) else WEAK for x in operands]
        if WEAK in refs:
            for x, row in zip(operands, node.key.types, strict=True):
                if not isinstance(x, Expr):
                    _scalar(found, x, row)
        _ENTER[node.key.op if node.key.op in _ENTER else "apply"](found, node, refs)
        if origins and id(node) in origins:
            moved.append((len(found.shapes), origins[id(node)][1]))
        if node.key.products:
            found.above[len(found.shapes)] = node
        position[id(node)] = len(found.shapes)
        found.shapes.append(node.shape)
    for n, origin in moved:
        found.copies[n] = position.setdefault(id(origin), n), origin.size
    return found


def _enter_apply(found: Gathered, node: Any, refs: list[int]) -> None:
    found.structure.append((node.key, *refs))


def _enter_leaf(found: Gathered, node: Any, _: list[int]) -> None:
    found.structure.append((node.key, len(found.leaves)))
    found.leaves.append(node)
    found.layouts.append(node.layout)


def _enter_scalar(found: Gathered, node: Any, _: list[int]) -> None:
    found.structure.append((node.key,))
    if node.key.map is not None:
        found.counts.append(node.value)
    _scalar(found, node.value, node.key.dtype)


def _enter_iota(found: Gathered, node: Any, _: list[int]) -> None:
    found.counters.append(len(found.structure))
    found.structure.append((node.key, node.axis, *ones(node.shape)))
    found.indexed = True


def _enter_remap(found: Gathered, node: Any, refs: list[int]) -> None:
    found.structure.append((node.key, *refs, *ones(node.shape)))
    found.params.append(node.params)
    found.indexed = True


def _enter_reduce(found: Gathered, node: Any, refs: list[int]) -> None:
    found.folds.append(len(found.structure))
    found.structure.append((node.key, *refs))
    found.indexed = True


def _enter_dot(found: Gathered, node: Any, refs: list[int]) -> None:
    found.dots.append(node)
    _enter_reduce(found, node, refs)


# `Any`: the kind of a node is told by its key's operation, once, not by isinstance for each
_ENTER: dict[str, Callable[[Gathered, Any, list[int]], None]] = {
    "apply": _enter_apply, "leaf": _enter_leaf, "scalar": _enter_scalar, "iota": _enter_iota, "remap": _enter_remap,
    "reduce": _enter_reduce, "dot": _enter_dot,
}  # fmt: skip


def widest(found: Gathered) -> int:
    """Bytes of an element of the operand that has most."""
    return max((leaf.key.dtype.itemsize for leaf in found.leaves), default=1)


def ones(shape: Shape) -> tuple[bool, ...]:
    """Which axes have one element."""
    return tuple(n == 1 for n in shape)


def _scalar(found: Gathered, value: Any, row: DType) -> None:
    if row.part:
        for part in parts(value) if is_number(value) else (complex(value).real, complex(value).imag):
            _scalar(found, part, row.real)
        return
    found.words.append(row.word)
    if is_number(value):  # a kernel is being traced: it has its value at the call
        found.scalars.append(value != 0 if row.kind == "b" and value.kind is not bool else value)
        return
    found.scalars.append(float(value) if row.word == "d" else int(bool(value) if row.kind == "b" else value))
