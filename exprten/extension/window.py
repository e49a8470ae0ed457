"""Parts of an expression, and expressions put into larger ones."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from exprten_jit.ir import Value, both

from ..errors import DTypeError, ShapeError
from ..expression import shape as shapes
from ..expression.expr import Expr, cast, check_range, coerce
from ..expression.key import resolve
from ..expression.leaf import Leaf
from ..expression.remap import Remap, remap
from ..target import join
from .broadcast import operand


def slice(src: Any, begin: Any, end: Any, axis: int | None = None) -> Expr:  # noqa: A001  # mshadow's name
    """src[begin:end] along `axis` (0 if not given); sequences `begin` and `end` give all axes at once. A writable view of a
    Tensor. Raises ShapeError where a range leaves the axis. (mshadow slice<axis>, slice_ex)
    """
    e = operand(src, "slice")
    if axis is None and not hasattr(begin, "__index__"):
        begins, ends = tuple(begin), tuple(end)
        if not len(begins) == len(ends) == e.ndim:
            raise ShapeError(
                f"slice: begin {begins} and end {ends} must have one entry for each axis of shape {e.shape}"
            )
        ranges = list(zip(builtins.range(e.ndim), begins, ends, strict=True))
    else:
        ranges = [(shapes.axis_of(axis or 0, e.ndim, "slice"), begin, end)]
    index = [builtins.slice(None)] * e.ndim
    for k, low, high in ranges:
        if not 0 <= low <= high <= e.shape[k]:
            raise ShapeError(f"slice: {low} to {high} is no range of axis {k} of shape {e.shape}")
        index[k] = builtins.slice(low, high)
    part: Expr = e[tuple(index)]
    return part


def crop(src: Any, shape: Sequence[int], offset: Sequence[int] | None = None) -> Expr:
    """(..., H, W) -> (..., h, w) from `offset` (y, x), by default the middle. A view of a Tensor. Raises ShapeError.
    (mshadow extension/crop.h)
    """
    e = operand(src, "crop")
    if e.ndim < 2:
        raise ShapeError(f"crop: src has shape {e.shape}, it must have two axes or more")
    (h, w), (y_extent, x_extent) = shapes.pair(shape, "crop: shape"), e.shape[-2:]
    y, x = ((y_extent - h) // 2, (x_extent - w) // 2) if offset is None else shapes.pair(offset, "crop: offset")
    if not (0 <= y <= y + h <= y_extent and 0 <= x <= x + w <= x_extent):
        raise ShapeError(f"crop: ({h}, {w}) from ({y}, {x}) does not lie in the last two axes of shape {e.shape}")
    part: Expr = e[..., y : y + h, x : x + w]
    return part


def pad(src: Any, width: Any, width_x: int | None = None, value: Any = 0) -> Expr:
    """(..., h, w) -> (..., h + 2y, w + 2x) with `value` around.

    `pad(e, p)` and `pad(e, y, x)` pad the last two axes alike on both sides (mshadow extension/pad.h); a sequence of (before,
    after) pairs pads as many last axes (NumPy's pad). Raises ShapeError.
    """
    e = operand(src, "pad")
    widths = _widths(width, width_x)
    if len(widths) > e.ndim or any(n < 0 for pair in widths for n in pair):
        raise ShapeError(
            f"pad: widths {widths} do not fit the {e.ndim} axes of shape {e.shape}; they must be 0 or more"
        )
    first = e.ndim - len(widths)
    shape = e.shape[:first] + tuple(n + a + b for n, (a, b) in zip(e.shape[first:], widths, strict=True))
    padded = [k for k, pair in enumerate(widths) if pair != (0, 0)]
    params = [n for k in padded for n in (widths[k][0], widths[k][0] + e.shape[first + k])]

    def index(i: Sequence[Value], p: Sequence[Value]) -> list[Value]:
        at = list(i)
        for n, k in enumerate(padded):
            at[first + k] = i[first + k] - p[2 * n]
        return at

    def valid(i: Sequence[Value], p: Sequence[Value]) -> Value:
        inside: Value | None = None
        for n, k in enumerate(padded):
            inside = both(inside, (i[first + k] >= p[2 * n]) & (i[first + k] < p[2 * n + 1]))
        assert inside is not None
        return inside

    around = _elsewhere(e, value, "pad")
    if not padded:
        return remap(e, shape, index, name=("pad", e.ndim))
    return remap(e, shape, index, params, valid, around, ("pad", e.ndim, first, *padded))


def _widths(width: Any, width_x: int | None) -> list[tuple[int, int]]:
    if hasattr(width, "__index__"):
        return [(width, width), (width, width) if width_x is None else (width_x, width_x)]
    return [shapes.pair(part, "pad: width of an axis") for part in width]


def _elsewhere(e: Expr, value: Any, operation: str) -> Any:
    """A value of `e`'s type for the places that `e` does not reach."""
    other = coerce(value, operation)
    if isinstance(other, Expr):
        return other if other.key.dtype is e.key.dtype else cast(other, e.dtype)
    if isinstance(other, int):
        check_range(other, e.key.dtype, operation)
    if e.key.dtype.kind != "f" and not isinstance(other, int):
        raise DTypeError(f"{operation}: value {value} is no {e.key.dtype}; convert the expression with xt.cast")
    return other


def concat(*parts: Any, axis: int = 0) -> Expr:
    """The parts one after the other along `axis`, in their common type (mshadow concat<axis>). Of tensors of one type it is a
    `Target`, to which `[...] = e` and `+= e` assign. Raises ShapeError where another axis differs.
    """
    if not parts:
        raise ShapeError("concat: there is nothing to join")
    es = [operand(part, "concat") for part in parts]
    at = shapes.axis_of(axis, es[0].ndim, "concat")
    rest = {(*e.shape[:at], *e.shape[at + 1 :]) if e.ndim == es[0].ndim else None for e in es}
    if len(rest) > 1:
        raise ShapeError(f"concat: shapes {', '.join(str(e.shape) for e in es)} differ on another axis than {at}")
    dtype = es[0].key.dtype
    for e in es[1:]:
        dtype = resolve("maximum", (_typed(dtype, es[0]), e.key))[-1]
    same = [e if e.key.dtype is dtype else cast(e, dtype.numpy) for e in es]
    joined = same[-1]
    for e in reversed(same[:-1]):
        joined = _join(e, joined, at)
    leaves = [e for e in same if isinstance(e, Leaf)]
    if isinstance(joined, Remap) and len(leaves) == len(same):
        return join(joined, leaves, at)
    return joined


def _typed(dtype: Any, like: Expr) -> Any:
    return cast(like, dtype.numpy).key if like.key.dtype is not dtype else like.key


def _join(a: Expr, b: Expr, axis: int) -> Remap:
    cut = a.shape[axis]
    shape = tuple(n + b.shape[axis] if k == axis else n for k, n in enumerate(a.shape))
    back = ("shift", a.ndim, axis)
    shifted = remap(b, shape, lambda i, p: [x - p[0] if k == axis else x for k, x in enumerate(i)], [cut], name=back)
    return remap(a, shape, lambda i, p: i, [cut], lambda i, p: i[axis] < p[0], shifted, ("concat", a.ndim, axis))
