"""Repeating values along axes. A Tensor gives a view with strides of 0, an expression a Remap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from exprten_jit.ir import index as number

from ..errors import ShapeError
from ..expression import shape as shapes
from ..expression.expr import Expr, as_expr, coerce, late
from ..expression.remap import remap
from ..tensor import Tensor, require_memory, view_of

E = TypeVar("E", bound=Expr)


def operand(x: Any, operation: str) -> Expr:
    """The operand of an extension as an expression."""
    return as_expr(coerce(x, operation))


def broadcast_to(src: Any, shape: Any) -> Expr:
    """`src` repeated to `shape` by NumPy's rule. Raises ShapeError where it does not broadcast.

    >>> import exprten as xt
    >>> xt.evaluate(xt.broadcast_to(xt.array([1.0, 2.0]), (2, 2))).numpy().tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    e, to = operand(src, "broadcast_to"), shapes.shape_of(shape, "broadcast_to")
    lead = len(to) - len(e.shape)
    if lead < 0 or any(n not in (1, m) for n, m in zip(e.shape, to[lead:], strict=True)):
        raise ShapeError(
            f"broadcast_to: shape {e.shape} does not broadcast to {to}: every extent must be equal, or 1 and repeated"
        )
    if isinstance(e, Tensor):
        require_memory(e, "broadcast_to")
        return view_of(e, 0, shapes.layout(to, shapes.broadcast_strides(e.shape, e.layout.strides, to)))

    return remap(
        e,
        to,
        lambda i, p: [number(0) if n == 1 else i[lead + k] for k, n in enumerate(e.shape)],
        name=("broadcast_to", len(to), *(n == 1 for n in e.shape)),
    )


def broadcast(src: Any, shape: Any, axis: int) -> Expr:
    """A vector along `axis` of `shape`: out[..., k, ...] = src[k] (mshadow broadcast<axis>). Raises ShapeError."""
    e, to = operand(src, "broadcast"), shapes.shape_of(shape, "broadcast")
    at = shapes.axis_of(axis, len(to), "broadcast")
    if e.shape != (to[at],):
        raise ShapeError(f"broadcast: src has shape {e.shape}; along axis {at} of {to} it must have shape ({to[at]},)")
    return broadcast_to(e[(slice(None), *(None,) * (len(to) - at - 1))], to)


def broadcast_scalar(src: Any, shape: Any) -> Expr:
    """One element everywhere: (1,) or () -> shape (mshadow broadcast_scalar). Raises ShapeError."""
    e = operand(src, "broadcast_scalar")
    if e.size != 1:
        raise ShapeError(f"broadcast_scalar: src has shape {e.shape}, it must have one element")
    return broadcast_to(e[(0,) * e.ndim], shape)


def repmat(src: Any, nrow: int) -> Expr:
    """A vector as each of `nrow` rows: (n,) -> (nrow, n) (mshadow repmat). Raises ShapeError."""
    e = operand(src, "repmat")
    if e.ndim != 1:
        raise ShapeError(f"repmat: src has shape {e.shape}, it must be a vector")
    return broadcast_to(e, (nrow, e.shape[0]))


def broadcast_with_axis(src: Any, axis: int, size: int) -> Expr:
    """A new axis of `size` after `axis`; -1 puts it first (mshadow broadcast_with_axis). Raises ShapeError."""
    e = operand(src, "broadcast_with_axis")
    if not -1 <= axis < e.ndim:
        raise ShapeError(f"broadcast_with_axis: axis {axis} is not between -1 and {e.ndim - 1}, for shape {e.shape}")
    at = axis + 1
    return broadcast_to(e[(slice(None),) * at + (None,)], (*e.shape[:at], size, *e.shape[at:]))


def broadcast_keepdim(src: Any, axis: int, size: int) -> Expr:
    """`axis`, of extent 1, repeated to `size` (mshadow broadcast_keepdim). Raises ShapeError."""
    return broadcast_multi_axes(src, (axis,), (size,))


def broadcast_multi_axes(src: Any, axes: Sequence[int], sizes: Sequence[int]) -> Expr:
    """Each of `axes`, of extent 1, repeated to its size (mshadow broadcast_multi_axes). Raises ShapeError."""
    e = operand(src, "broadcast_multi_axes")
    if len(axes) != len(sizes):
        raise ShapeError(f"broadcast_multi_axes: {len(axes)} axes and {len(sizes)} sizes")
    to = list(e.shape)
    for axis, size in zip(axes, sizes, strict=True):
        at = shapes.axis_of(axis, e.ndim, "broadcast_multi_axes")
        if e.shape[at] != 1:
            raise ShapeError(
                f"broadcast_multi_axes: axis {axis} of shape {e.shape} has extent {e.shape[at]}, it must be 1"
            )
        to[at] = size
    return broadcast_to(e, to)


late["broadcast_to"] = broadcast_to
