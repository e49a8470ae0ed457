"""Folds under NumPy's names: sums and extremes, and what is made of them, anywhere in an expression."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from .errors import ShapeError
from .expression import shape as shapes
from .expression.expr import Expr, Iota, as_expr, build, cast, coerce, count_of
from .expression.key import Key
from .expression.reduction import axes_of, node_of, reduction, rounded, several, wide
from .storage.device import Device

# elements, 16 MiB: a variance of more of them is taken block by block, for memory is read once then (1.3 times; in a cache 0.95)
LONG = 1 << 22
Axes = Any  # an int, several, or None for all


def sum(src: Any, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Expr:  # noqa: A001
    """The sum over `axis`, None for all; of integers and bool in int64. Added up as a tree that the extent alone decides."""
    return reduction("sum", _operand(src, "sum"), axis, keepdims, dtype)


def prod(src: Any, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Expr:
    """The product over `axis`, None for all; of integers and bool in int64."""
    return reduction("prod", _operand(src, "prod"), axis, keepdims, dtype)


def max(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:  # noqa: A001
    """The greatest over `axis`, None for all; NaN where there is one. Raises ShapeError where there is nothing."""
    return reduction("max", _operand(src, "max"), axis, keepdims)


def min(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:  # noqa: A001
    """The least over `axis`, None for all; NaN where there is one. Raises ShapeError where there is nothing."""
    return reduction("min", _operand(src, "min"), axis, keepdims)


def any(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:  # noqa: A001
    """Whether one over `axis`, None for all, is not 0."""
    return reduction("any", _operand(src, "any"), axis, keepdims)


def all(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:  # noqa: A001
    """Whether none over `axis`, None for all, is 0."""
    return reduction("all", _operand(src, "all"), axis, keepdims)


def mean(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:
    """The sum over `axis`, None for all, by the number of elements; of integers and bool as float64, NaN for none."""
    e = _float(src, "mean")
    count = _count(e, axis, "mean")
    total = sum(wide(e), axis, keepdims)
    return rounded(total / count_of(count, total.key.dtype), e.key.dtype)


def var(src: Any, axis: Axes = None, keepdims: bool = False, ddof: int = 0) -> Expr:
    """The mean of squared distances from the mean over `axis`, None for all; `ddof` is taken from the number of elements. Of complex
    numbers it is real.

    The mean comes first, in a pass of its own, or block by block where all of many elements are folded: nothing is lost by cancellation.
    """
    e = _float(src, "var")
    return rounded(_var(wide(e), axis, keepdims, ddof, "var"), e.key.dtype)


def _var(e: Expr, axis: Axes, keepdims: bool, ddof: int, operation: str) -> Expr:
    count = _count(e, axis, operation)
    if not isinstance(ddof, int | float | np.integer | np.floating):
        raise TypeError(
            f"{operation}: ddof is {ddof!r}; it must be a number, which is taken from the number of elements"
        )
    freedom = count - ddof
    over = float(freedom) if freedom > 0 else 0.0
    if count > LONG and len(axes_of(axis, e, operation)) == e.ndim and e.key.dtype.kind == "f":
        return several("moments", (e, e), axis, keepdims, (), operation)[1] / over
    distance = _size_squared(e - mean(e, axis, keepdims=True))
    total = sum(distance, axis, keepdims)
    return total / (over if ddof or not count else count_of(count, total.key.dtype))


def std(src: Any, axis: Axes = None, keepdims: bool = False, ddof: int = 0) -> Expr:
    """The square root of `var`."""
    e = _float(src, "std")
    return rounded(build("sqrt", _var(wide(e), axis, keepdims, ddof, "std")), e.key.dtype)


def norm(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:
    """The square root of the sum of squares over `axis`, None for all."""
    e = _float(src, "norm")
    squares = _size_squared(wide(e))
    return rounded(build("sqrt", reduction("sum", squares, axis, keepdims, operation="norm")), e.key.dtype)


def count_nonzero(src: Any, axis: Axes = None, keepdims: bool = False) -> Expr:
    """How many over `axis`, None for all, are not 0, as int64."""
    e = _operand(src, "count_nonzero")
    short = e.key.dtype.itemsize < 8 and _count(e, axis, "count_nonzero") < 2**31
    narrow = np.int32 if short else np.int64  # of which a vector holds half as many
    return cast(reduction("sum", cast(e, np.bool_), axis, keepdims, narrow, "count_nonzero"), np.int64)


def argmax(src: Any, axis: int | None = None, keepdims: bool = False) -> Expr:
    """The index of the greatest along `axis`, as int64; None: counted through all elements. The first of equals, the first NaN.
    Raises ShapeError where there is nothing.
    """
    return _position("argmax", _operand(src, "argmax"), axis, keepdims)


def argmin(src: Any, axis: int | None = None, keepdims: bool = False) -> Expr:
    """The index of the least along `axis`, likewise."""
    return _position("argmin", _operand(src, "argmin"), axis, keepdims)


def _position(name: str, e: Expr, axis: int | None, keepdims: bool, operation: str = "") -> Expr:
    """The extreme and its index, counted through the folded axes: in 32 bits where they do. `operation` is what the user called."""
    plain = (axis is None or axis.__class__ is int) and keepdims.__class__ is bool  # 1.0 is equal to 1, and no axis
    asked = (name, e.key, e.shape, axis, keepdims, e.device) if plain else ()
    if (known := _known_positions.get(asked)) is not None:
        key, shape, counted = known
        return cast(node_of(key, shape, e, counted), np.int64)
    operation = operation or name
    axes = tuple(range(e.ndim)) if axis is None else (shapes.axis_of(axis, e.ndim, operation),)
    count = math.prod(e.shape[k] for k in axes)
    if not count:
        return reduction(name.removeprefix("arg"), e, axes, keepdims, operation=operation)  # raises
    if not axes:
        return cast(cast(e, np.bool_), np.int64) * 0  # the one element there is
    counted = _counted(e.shape, axes, e.device)
    node = several(name, (e, counted), axes, keepdims, (), operation)[1]
    if plain:
        if len(_known_positions) >= shapes.MAX_SHAPES:
            _known_positions.clear()
        _known_positions[asked] = (node.key, node.shape, counted)
    return cast(node, np.int64)


# What was asked for before: resolving axes and counting elements takes longer than a small kernel.
_known_positions: dict[tuple[Any, ...], tuple[Key, shapes.Shape, Expr]] = {}


@lru_cache(1024)
def _counted(shape: shapes.Shape, axes: tuple[int, ...], device: Device) -> Expr:
    """The index of each element, counted through `axes`; it has no memory, and is one for all expressions."""
    narrow = np.int32 if math.prod(shape[k] for k in axes) < 2**31 else np.int64
    first, *others = (cast(Iota(shape, k, device), narrow) for k in axes)
    for k, along in zip(axes[1:], others, strict=True):
        first = first * shape[k] + along
    return first


def _operand(src: Any, operation: str) -> Expr:
    return as_expr(coerce(src, operation))


def _float(src: Any, operation: str) -> Expr:
    e = _operand(src, operation)
    return e if e.key.dtype.kind in "fc" else cast(e, np.float64)


def _size_squared(e: Expr) -> Expr:
    """The square of the absolute value."""
    if not e.key.dtype.part:
        return build("square", e)
    return build("add", build("square", build("real", e)), build("square", build("imag", e)))


def _count(e: Expr, axis: Axes, operation: str) -> int:
    return math.prod(e.shape[k] for k in axes_of(axis, e, operation))


# mshadow's spellings


def sumall_except_dim(src: Any, dim: int) -> Expr:
    """One sum for each index of axis `dim`, over all other axes (mshadow sumall_except_dim<dim>)."""
    return _except(src, dim, "sum", "sumall_except_dim")


def reduce_except_dim(src: Any, dim: int, reducer: str = "sum") -> Expr:
    """All axes but `dim` folded: `sum`, `prod`, `max`, `min`, `any` or `all` (mshadow reduce_except_dim<dim, Reducer>)."""
    return _except(src, dim, reducer, "reduce_except_dim")


def _except(src: Any, dim: int, reducer: str, operation: str) -> Expr:
    e = _operand(src, operation)
    kept = shapes.axis_of(dim, e.ndim, operation)
    return reduction(reducer, e, [k for k in range(e.ndim) if k != kept], False, operation=operation)


def reduce_with_axis(src: Any, axis: int, reducer: str = "sum", mask: bool = False) -> Expr:
    """One axis folded, and gone; with `mask` the index of its `max` or `min`, as int64. (mshadow reduce_with_axis<Reducer, mask>)"""
    return _along(src, axis, reducer, mask, False, "reduce_with_axis")


def reduce_keepdim(src: Any, axis: int, reducer: str = "sum", mask: bool = False) -> Expr:
    """(..., n, ...) -> (..., 1, ...): one axis folded likewise, and left with one element. (mshadow reduce_keepdim<Reducer, mask>)"""
    return _along(src, axis, reducer, mask, True, "reduce_keepdim")


def _along(src: Any, axis: int, reducer: str, mask: bool, keepdims: bool, operation: str) -> Expr:
    e = _operand(src, operation)
    folded = shapes.axis_of(axis, e.ndim, operation)
    if not mask:
        return reduction(reducer, e, folded, keepdims, operation=operation)
    if reducer not in ("max", "min"):
        raise ValueError(
            f"{operation}: mask is for the index of an extreme, and {reducer!r} is none; give 'max' or 'min'"
        )
    return _position(f"arg{reducer}", e, folded, keepdims, operation)


def sum_rows(src: Any) -> Expr:
    """(n, m) -> (m,): the sum of the rows (mshadow sum_rows). Raises ShapeError for another number of axes."""
    e = _operand(src, "sum_rows")
    if e.ndim != 2:
        raise ShapeError(f"sum_rows: shape {e.shape} has {e.ndim} axes, it must have two")
    return reduction("sum", e, 0, False)


def _method(name: str) -> Callable[..., Expr]:
    function: Callable[..., Expr] = globals()[name]

    def method(self: Expr, axis: Axes = None, keepdims: bool = False, *, out: None = None, **more: Any) -> Expr:
        if out is not None:
            raise TypeError(f"{name}: there is no out=; assign the expression: target[...] = xt.{name}(e)")
        given = {key: value for key, value in more.items() if value is not None}  # np.mean passes dtype=None
        return function(self, axis, keepdims, **given)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = function.__doc__
    return method


for _name in ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin"):
    setattr(Expr, _name, _method(_name))
