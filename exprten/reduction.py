"""Reduce: an expression folded over some of its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exprten_jit.dtypes import DType
from exprten_jit.reducers import TABLE, Reducer

from . import shape as shapes
from .errors import ShapeError
from .expr import Expr, Scalar, cast, check_size, late
from .key import dtype_row, reduce_key


@dataclass(frozen=True)
class Over:
    """Which axes of an expression of `ndim` axes are folded; `keepdims` leaves them with one element. Part of the key."""

    reducer: str
    ndim: int
    axes: tuple[int, ...]
    keepdims: bool

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that stay, with all their elements."""
        return tuple(k for k in range(self.ndim) if k not in self.axes)


class Reduce(Expr):
    """The elements of `src` along the axes of `key.map`, brought together by a row of the reducer table."""

    __slots__ = ("src",)

    src: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What it is computed from."""
        return (self.src,)


def reduction(name: str, src: Expr, axis: Any, keepdims: bool, dtype: Any = None, operation: str | None = None) -> Expr:
    """`src` folded by reducer `name` over `axis`: an int, several, or None for all. `dtype` is what elements are converted to.

    Raises ShapeError where there is no such axis, or nothing along it and the reducer has no value for that. `operation` is what
    the user called, where that is not the reducer.
    """
    operation = operation or name
    row = TABLE.get(name)
    if row is None:
        raise ValueError(f"{operation}: there is no reducer {name!r}; there are {', '.join(TABLE)}")
    over = Over(name, src.ndim, axes_of(axis, src, operation), bool(keepdims))
    accumulator = row.accumulator(src.key.dtype) if dtype is None else dtype_row(dtype, operation)
    shape = tuple(1 if k in over.axes else n for k, n in enumerate(src.shape) if over.keepdims or k not in over.axes)
    if any(src.shape[k] == 0 for k in over.axes):
        return _nothing(row, src, over, shape, accumulator, operation)
    if not over.axes:
        return cast(src, accumulator.numpy)
    node = Reduce()
    node.key = reduce_key(over, src.key, accumulator)
    node.shape = shapes.intern_shape(shape)
    node.src = src
    check_size(node)
    return node


def axes_of(axis: Any, src: Expr, operation: str) -> tuple[int, ...]:
    """Axes as a user names them, None for all, counted from 0 and in order. Raises ShapeError for one that is not there."""
    if axis is None:
        return tuple(range(src.ndim))
    given = (axis,) if not isinstance(axis, tuple | list | range) else tuple(axis)
    if not all(hasattr(a, "__index__") for a in given):
        raise TypeError(f"{operation}: axis is {axis!r}; it must be an int, several, or None for all")
    axes = [shapes.axis_of(a, src.ndim, operation) for a in given]
    if len(set(axes)) < len(axes):
        raise ShapeError(f"{operation}: axes {given} name an axis of shape {src.shape} twice")
    return tuple(sorted(axes))


def _nothing(row: Reducer, src: Expr, over: Over, shape: tuple[int, ...], accumulator: DType, operation: str) -> Expr:
    """The fold over no elements."""
    if row.empty is None:
        axis = next(k for k in over.axes if src.shape[k] == 0)
        raise ShapeError(
            f"{operation}: shape {src.shape} has nothing along axis {axis}, and {row.name} of nothing is no number"
        )
    value: Expr = Scalar(accumulator.python(row.empty), accumulator)
    made: Expr = late["broadcast_to"](value, shape) if shape else value
    return made
