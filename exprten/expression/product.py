"""Dot: the matrix product of two expressions, as a node. What it becomes is decided where it is assigned (`call`)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from exprten_jit.ops import loops_of, resolved

from ..errors import CompileError, DTypeError, ShapeError
from . import shape as shapes
from .expr import Expr, check_size, late
from .key import MANY_PATHS, Key, dot_key, dtype_row, shared_device
from .shape import Shape
from .show import tree


@dataclass(frozen=True)
class Contraction:
    """The number of axes of both operands: the last of the first meets the last but one of the second. Part of the key."""

    a: int
    b: int


class Dot(Expr):
    """`a` (..., m, k) times `b` (..., k, n); an operand of one axis is a vector, and has no m or n."""

    __slots__ = ("a", "b")

    a: Expr
    b: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What it is computed from."""
        return (self.a, self.b)

    @property
    def T(self) -> Expr:  # noqa: N802  # NumPy's name
        """All axes reversed: of two matrices the product of their transposes, the other way round."""
        if self.key.map == Contraction(2, 2):
            return product(self.b.T, self.a.T, "dot")
        return super().T


_ready: dict[
    tuple[Any, ...], tuple[Key, Shape]
] = {}  # what is known of a product by operation, operands' keys and shapes
MAX_READY = 65536  # of them; beyond it the table starts afresh


def again(a: Any, b: Any, operation: str) -> Dot | None:
    """The product of operands like some before, in 0.5 us where checks and types take 4; None where there were none."""
    try:
        found = _ready[a.key, b.key, a.shape, b.shape, operation]
    except (KeyError, AttributeError):
        return None
    node = Dot()
    node.key, node.shape = found
    node.a = a
    node.b = b
    return node


def product(a: Expr, b: Expr, operation: str) -> Dot:
    """(..., m, k), (..., k, n) -> (..., m, n), by np.matmul's rules. Raises ShapeError, DTypeError, DeviceError, and CompileError for
    an operand that would have to be computed more than once.
    """
    node = dot_of(a, b, operation)
    if a.key.depth > 1 or b.key.depth > 1:
        _check_computed(node, operation)
    if node.key.paths <= MANY_PATHS:
        if len(_ready) >= MAX_READY:
            _ready.clear()
        _ready[a.key, b.key, a.shape, b.shape, operation] = node.key, node.shape
    return node


def dot_of(a: Expr, b: Expr, operation: str) -> Dot:
    """The same of any operands."""
    node = Dot()
    node.shape = shapes.intern_shape(_shape(a.shape, b.shape, operation))
    node.key = _key(a.key, b.key, Contraction(a.ndim, b.ndim), operation)
    node.a, node.b = a, b
    check_size(node)
    return node


def _shape(a: Shape, b: Shape, operation: str) -> Shape:
    if not a or not b:
        raise ShapeError(f"{operation}: shapes {a} and {b}: a product needs an axis of each; use * for a number")
    axis = max(len(b) - 2, 0)
    if a[-1] != b[axis]:
        raise ShapeError(
            f"{operation}: shapes {a} and {b}: axis {len(a) - 1} of the first has {a[-1]} elements, axis {axis} of the second "
            f"has {b[axis]}; they must be as long as each other"
        )
    before = f"{operation}: shapes {a} and {b}: before their last two axes"
    return (*shapes.broadcast((a[:-2], b[:-2]), before), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def _check_computed(dot: Dot, operation: str) -> None:
    """Raise CompileError for an operand that is no tensor, but computed, and needed more than once."""
    a, b = dot.a, dot.b
    lines = (prod(a.shape[:-1]), prod(b.shape[:-2]) * (b.shape[-1] if b.ndim > 1 else 1))
    for which, x, count in zip(("first", "second"), (a, b), lines, strict=True):
        times = dot.size // max(count, 1)
        if times > 1 and _computed(x):
            raise CompileError(
                f"{operation}: the {which} operand, {tree(x, 3)}, is computed, and each of its elements is needed {times} times; make it "
                "a tensor first, xt.evaluate(operand), or let xt.implicit_dot compute it again and again"
            )


def _computed(root: Expr) -> bool:
    """Whether there is an operation in a tree; index maps and conversions are none."""
    seen, stack = {id(root)}, [root]
    while stack:
        node = stack.pop()
        if node.key.op not in _FREE:
            return True
        below = [x for x in node.operands if isinstance(x, Expr) and id(x) not in seen]
        seen.update(map(id, below))
        stack.extend(below)
    return False


_FREE = frozenset({"leaf", "scalar", "iota", "remap", "cast", "positive", "identity", "conjugate", "real", "imag"})
_MATMUL = loops_of(np.matmul)
_found: dict[tuple[Key, Key, Contraction], Key] = {}


def _key(a: Key, b: Key, how: Contraction, operation: str) -> Key:
    found = _found.get((a, b, how))
    if found is None:
        try:
            wanted = resolved(_MATMUL, (a.dtype.numpy, b.dtype.numpy))[-1]
        except TypeError:
            raise DTypeError(f"{operation}: not defined for {a.dtype}, {b.dtype}; convert with xt.cast") from None
        row = dtype_row(wanted, f"{operation}: of {a.dtype}, {b.dtype}")
        found = _found[a, b, how] = dot_key(how, a, b, row, shared_device(operation, (a, b)))
    return found


late |= {"product": product, "again": again}
