"""Reduce: an expression folded over some of its axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exprten_jit.dtypes import DType
from exprten_jit.reducers import TABLE, Reducer

from ..errors import ShapeError
from . import shape as shapes
from .expr import MAX_DEPTH, MAX_NODES, Expr, Scalar, cast, check_size, late
from .key import Key, dtype_row, reduce_key
from .shape import Shape


@dataclass(frozen=True)
class Over:
    """Which axes of an expression of `ndim` axes are folded; `keepdims` leaves them with one element. Part of the key."""

    reducer: str
    ndim: int
    axes: tuple[int, ...]
    keepdims: bool
    part: int = 0  # which of several accumulators

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that stay, with all their elements."""
        return tuple(k for k in range(self.ndim) if k not in self.axes)


class Reduce(Expr):
    """The elements of `src` along the axes of `key.map`, brought together by a row of the reducer table; those of `second` and `third`
    with them, where the reducer has so many accumulators.
    """

    __slots__ = ("second", "src", "third")

    src: Expr
    second: Expr
    third: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        """What it is computed from."""
        count = len(self.key.args)
        return (
            (self.src,)
            if count == 1
            else (self.src, self.second)
            if count == 2
            else (self.src, self.second, self.third)
        )


def reduction(name: str, src: Expr, axis: Any, keepdims: bool, dtype: Any = None, operation: str | None = None) -> Expr:
    """`src` folded by reducer `name` over `axis`: an int, several, or None for all. `dtype` is what elements are converted to.

    Raises ShapeError where there is no such axis, or nothing along it and the reducer has no value for that. `operation` is what
    the user called, where that is not the reducer.
    """
    operation = operation or name
    narrow = src.key.dtype if dtype is None else dtype_row(dtype, operation)
    if narrow.wide:
        return _rounded_once(name, src, axis, keepdims, None if dtype is None else narrow, operation)
    return _reduction(name, src, axis, keepdims, dtype, operation)


def wide(e: Expr) -> Expr:
    """Narrow floats as the type that they are computed in: what is made of several folds and operations is rounded once."""
    row = e.key.dtype
    return cast(e, row.computed.numpy) if row.wide else e


def rounded(value: Expr, narrow: DType) -> Expr:
    """What was computed in a wider type as `narrow`, if it is one."""
    return cast(value, narrow.numpy) if narrow.wide and value.key.dtype is narrow.computed else value


def _rounded_once(name: str, src: Expr, axis: Any, keepdims: bool, dtype: DType | None, operation: str) -> Expr:
    """A fold of narrow floats, of which only the result is rounded; without a `dtype` it is of their type, if it is of floats."""
    if dtype is None:
        return rounded(_reduction(name, src, axis, keepdims, None, operation), src.key.dtype)
    elements = src if src.key.dtype is dtype else cast(src, dtype.numpy)
    return cast(_reduction(name, elements, axis, keepdims, dtype.computed.numpy.type, operation), dtype.numpy)


def _reduction(name: str, src: Expr, axis: Any, keepdims: bool, dtype: Any, operation: str) -> Expr:
    plain = _plain(axis, keepdims, dtype) and name.__class__ is str
    known = _known.get((name, src.key, src.shape, axis, keepdims, dtype)) if plain else None
    if known is None:
        return _new_reduction(name, src, axis, keepdims, dtype, operation)
    return node_of(*known, src)


# What was folded before, as it was asked for: (key, shape). Resolving axes and types takes 15 us, more than a small kernel.
_known: dict[tuple[Any, ...], tuple[Key, Shape]] = {}


_known_parts: dict[tuple[Any, ...], tuple[tuple[Key, Shape], ...]] = {}  # likewise, of each accumulator


def _plain(axis: Any, keepdims: Any, dtype: Any) -> bool:
    """Whether these tell one fold from another: 1.0 is equal to 1, and no axis."""
    axes = axis.__class__ is int or axis is None or (axis.__class__ is tuple and all(a.__class__ is int for a in axis))
    return axes and keepdims.__class__ is bool and (dtype is None or dtype.__class__ is type)


def node_of(key: Key, shape: Shape, src: Expr, *more: Expr) -> Reduce:
    """The fold with this key, of sources that have the keys it is made of."""
    node = Reduce()
    node.key, node.shape, node.src = key, shape, src
    if more:
        node.second = more[0]
        if len(more) > 1:
            node.third = more[1]
    if key.depth > MAX_DEPTH or key.paths > MAX_NODES:
        check_size(node)
    return node


def folded_again(node: Reduce, sources: Sequence[Expr], over: Over | None = None) -> Reduce:
    """The fold of other sources of the same types, along the same axes or those of `over`."""
    over = over or node.key.map
    key = reduce_key(over, over.part, [src.key for src in sources], node.key.types)
    return node_of(key, shapes.intern_shape(_folded_shape(over, sources[0].shape)), *sources)


def _new_reduction(name: Any, src: Expr, axis: Any, keepdims: Any, dtype: Any, operation: str) -> Expr:
    row = TABLE.get(name) if name.__class__ is str else None
    if row is None:
        raise ValueError(f"{operation}: there is no reducer {name!r}; there are {', '.join(TABLE)}")
    over = Over(name, src.ndim, axes_of(axis, src, operation), bool(keepdims))
    accumulator = row.accumulator(src.key.dtype) if dtype is None else dtype_row(dtype, operation)
    shape = _folded_shape(over, src.shape)
    if any(src.shape[k] == 0 for k in over.axes):
        return _nothing(row, src, over, shape, accumulator, operation)
    if not over.axes:
        return cast(src, accumulator.numpy)
    found = reduce_key(over, 0, [src.key], (accumulator,)), shapes.intern_shape(shape)
    if _plain(axis, keepdims, dtype):
        if len(_known) >= shapes.MAX_SHAPES:
            _known.clear()
        _known[name, src.key, src.shape, axis, keepdims, dtype] = found
    return node_of(*found, src)


def _folded_shape(over: Over, shape: Shape) -> Shape:
    return tuple(1 if k in over.axes else n for k, n in enumerate(shape) if over.keepdims or k not in over.axes)


def several(
    name: str, sources: Sequence[Expr], axis: Any, keepdims: bool, identity: Sequence[Any], operation: str
) -> tuple[Expr, ...]:
    """The accumulators of reducer `name` over `sources` of one shape; over nothing the `identity`."""
    first = sources[0]
    plain = _plain(axis, keepdims, None)
    asked = (name, *(src.key for src in sources), first.shape, axis, keepdims)
    known = _known_parts.get(asked) if plain else None
    if known is not None:
        return tuple(node_of(key, shape, *sources) for key, shape in known)
    axes = axes_of(axis, first, operation)
    dtypes = tuple(src.key.dtype for src in sources)
    out: list[Expr] = []
    for part, dtype in enumerate(dtypes):
        over = Over(name, first.ndim, axes, bool(keepdims), part)
        shape = shapes.intern_shape(_folded_shape(over, first.shape))
        if any(first.shape[k] == 0 for k in axes):
            value: Expr = Scalar(identity[part], dtype)
            out.append(late["broadcast_to"](value, shape) if shape else value)
        elif not axes:
            out.append(sources[part])
        else:
            out.append(node_of(reduce_key(over, part, [src.key for src in sources], dtypes), shape, *sources))
    if plain and all(isinstance(node, Reduce) and node.key.map.reducer is name for node in out):
        if len(_known_parts) >= shapes.MAX_SHAPES:
            _known_parts.clear()
        _known_parts[asked] = tuple((node.key, node.shape) for node in out)
    return tuple(out)


def axes_of(axis: Any, src: Expr, operation: str) -> tuple[int, ...]:
    """Axes as a user names them, None for all, counted from 0 and in order. Raises ShapeError for one that is not there."""
    if axis is None:
        return tuple(range(src.ndim))
    if axis.__class__ is int and -src.ndim <= axis < src.ndim:
        return (axis % src.ndim,)
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
