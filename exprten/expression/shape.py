"""Shapes, strides and what indexing does to them. A layout is interned: equal layouts are one object.

Strides of a layout count elements; a Tensor shows them in bytes, as NumPy does.
"""

from __future__ import annotations

import operator
import weakref
from collections import deque
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ..errors import DTypeError, ShapeError

Shape = tuple[int, ...]

_shapes: dict[Shape, Shape] = {}
MAX_SIZE = 2**63 - 1
MAX_SHAPES = 65536  # interned shapes; beyond it the table starts afresh and equal shapes are only found equal


def intern_shape(shape: Shape) -> Shape:
    """The one tuple equal to `shape`: equal shapes are told by identity on the hot path."""
    if len(_shapes) >= MAX_SHAPES:
        _shapes.clear()
    return _shapes.setdefault(shape, shape)


def shape_of(shape: Any, operation: str) -> Shape:
    """A shape as a user writes it: an int or a sequence of them. Raises ShapeError for a negative extent, and for too many
    elements.
    """
    try:
        extents = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
        checked = tuple(operator.index(n) for n in extents)
    except TypeError:
        raise ShapeError(f"{operation}: shape {shape!r} is not made of integers") from None
    if any(n < 0 for n in checked):
        raise ShapeError(f"{operation}: shape {checked} has a negative extent")
    if prod(max(n, 1) for n in checked) > MAX_SIZE:
        raise ShapeError(f"{operation}: shape {checked} has more than {MAX_SIZE} elements, which no index can count")
    return intern_shape(checked)


def pair(values: Any, what: str) -> tuple[int, int]:
    """Two integers. Raises ShapeError for anything else."""
    try:
        a, b = map(operator.index, values)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} is {values!r}; it must be two integers") from None
    return a, b


class Layout:
    """A shape with a stride, in elements, for each axis.

    `packed`: one row after the other without a gap, the last axis fastest. Elements lie at offsets `low` to `high - 1` from
    the handle's address; both are 0 for an empty shape. `nested`: walking the axes by falling stride visits the addresses in
    one direction, so no two elements share an address.
    """

    __slots__ = ("__weakref__", "high", "low", "nested", "packed", "shape", "size", "strides")

    def __init__(self, shape: Shape, strides: Shape) -> None:
        self.shape = shape
        self.strides = strides
        size, low, high, packed = 1, 0, 1, True
        for n, step in zip(reversed(shape), reversed(strides), strict=True):
            packed = packed and (n == 1 or step == size)
            size *= n
            reach = (n - 1) * step
            if reach < 0:
                low += reach
            else:
                high += reach
        self.size = size
        self.low, self.high = (low, high) if size else (0, 0)
        self.packed = packed or not size
        self.nested = bool(packed and size) or _nested(shape, strides)

    def span(self, address: int, itemsize: int) -> tuple[int, int]:
        """Of a view at `address` whose elements are `itemsize` bytes: the address of its first byte, and of the one after its last."""
        return address + self.low * itemsize, address + self.high * itemsize


_layouts: weakref.WeakValueDictionary[tuple[Shape, Shape], Layout] = weakref.WeakValueDictionary()
_recent: deque[Layout] = deque(maxlen=256)  # a view in a loop is gone before the next one comes, its layout is not


def layout(shape: Shape, strides: Shape) -> Layout:
    """The one layout with this shape and these strides in elements."""
    key = (shape, strides)
    found = _layouts.get(key)
    if found is None:
        found = _layouts.setdefault(key, Layout(intern_shape(shape), strides))
        _recent.append(found)
    return found


_packed: weakref.WeakValueDictionary[Shape, Layout] = weakref.WeakValueDictionary()


def packed(shape: Shape) -> Layout:
    """The one layout of a shape without gaps."""
    found = _packed.get(shape)
    if found is None:
        found = _packed.setdefault(shape, layout(shape, packed_strides(shape)))
    return found


def packed_strides(shape: Shape) -> Shape:
    """The strides, in elements, of a layout without gaps, the last axis fastest."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def padded_strides(shape: Shape, itemsize: int, alignment: int) -> Shape:
    """Packed, but rows of the last axis start at multiples of `alignment` bytes."""
    if len(shape) < 2:
        return packed_strides(shape)
    per = max(alignment // itemsize, 1)
    row = -(-max(shape[-1], 1) // per) * per
    return (*(s * row for s in packed_strides(shape[:-1])), 1)


def _nested(shape: Shape, strides: Shape) -> bool:
    axes = sorted((abs(s), n) for n, s in zip(shape, strides, strict=True) if n > 1)
    reach = 1
    for step, n in axes:
        if step < reach:
            return False
        reach = step * n
    return True


# Broadcasting.

pairs: dict[tuple[Shape, Shape], Shape] = {}  # what two shapes broadcast to, for the operators


def broadcast(shapes: Sequence[Shape], operation: str) -> Shape:
    """NumPy's rule: aligned at the last axis, extents are equal or 1. Raises ShapeError naming the axis."""
    found = pairs.get((shapes[0], shapes[-1])) if len(shapes) == 2 else None
    if found is not None:
        return found
    ndim = max(map(len, shapes))
    extents = []
    for axis in range(-ndim, 0):
        here = {shape[axis] for shape in shapes if -axis <= len(shape)} - {1}
        if len(here) > 1:
            listed = " and ".join(str(shape) for shape in dict.fromkeys(shapes))
            raise ShapeError(
                f"{operation}: shapes {listed} do not broadcast: axis {axis} has extents "
                f"{' and '.join(map(str, sorted(here)))}; they must be equal, or 1"
            )
        extents.append(here.pop() if here else 1)
    together = intern_shape(tuple(extents))
    if len(shapes) == 2:
        if len(pairs) >= MAX_SHAPES:
            pairs.clear()
        pairs[shapes[0], shapes[1]] = together
    return together


def broadcast_strides(shape: Shape, strides: Shape, to: Shape) -> Shape:
    """The strides that repeat a layout over `to`: 0 on every axis it does not have or has once. Leading axes of one element that
    `to` does not have are dropped.
    """
    lead = len(to) - len(shape)
    if lead < 0:
        shape, strides, lead = shape[-lead:], strides[-lead:], 0
    return (0,) * lead + tuple(0 if n == 1 and m != 1 else s for n, s, m in zip(shape, strides, to[lead:], strict=True))


def axis_of(axis: int, ndim: int, operation: str) -> int:
    """`axis` counted from 0. Raises ShapeError where there is no such axis."""
    try:
        number = operator.index(axis)
    except TypeError:
        raise TypeError(f"{operation}: axis is {axis!r}; it must be an int") from None
    if not ndim:
        raise ShapeError(f"{operation}: axis {axis} of a shape without axes")
    if not -ndim <= number < ndim:
        raise ShapeError(f"{operation}: axis {axis} is not one of the {ndim} axes {-ndim} to {ndim - 1}")
    return number % ndim


def permutation(axes: Any, shape: Shape) -> Shape:
    """`axes` counted from 0. Raises ShapeError unless each axis of `shape` stands there once."""
    ndim = len(shape)
    order = tuple(axis_of(a, ndim, "transpose") for a in axes)
    if sorted(order) != list(range(ndim)):
        raise ShapeError(f"transpose: axes {tuple(axes)} are no permutation of the {ndim} axes of shape {shape}")
    return order


# Indexing: integers, slices, None and `...`, as one list of what becomes of every axis.


class Picked(NamedTuple):
    """Output axis `out` (None: the axis is gone) reads source axis `axis` at start + step * i; axis None is a new one."""

    axis: int | None
    start: int
    step: int
    extent: int
    keeps: bool


def pick(shape: Shape, key: Any) -> list[Picked]:
    """What NumPy's basic indexing does to each axis of `shape`. Raises IndexError, and TypeError for an array as an index."""
    parts = list(key) if isinstance(key, tuple) else [key]
    used, ellipses, at = 0, 0, len(parts)
    for n, part in enumerate(parts):
        if part is Ellipsis:
            ellipses, at = ellipses + 1, n
        elif part is not None:
            used += 1
    if ellipses > 1:
        raise IndexError("index: an index can have one '...' only")
    if used > len(shape):
        raise IndexError(f"index: {used} indices for the {len(shape)} axes of shape {shape}")
    if ellipses or used < len(shape):
        parts[at : at + 1] = [ALL] * (len(shape) - used)
    picked, axis = [], 0
    for part in parts:
        if part is None:
            picked.append(_NEW)
            continue
        picked.append(Picked(axis, 0, 1, shape[axis], True) if part is ALL else _pick_axis(shape, axis, part))
        axis += 1
    return picked


ALL, _NEW = slice(None), Picked(None, 0, 1, 1, keeps=True)


def _pick_axis(shape: Shape, axis: int, part: Any) -> Picked:
    extent = shape[axis]
    if isinstance(part, slice):
        start, stop, step = part.indices(extent)
        count = len(range(start, stop, step))
        return Picked(axis, start, step if count > 1 else 1, count, keeps=True)
    if isinstance(part, bool) or not hasattr(part, "__index__") or getattr(part, "ndim", False):
        raise DTypeError(
            f"index: {'an expression' if hasattr(part, 'key') else type(part).__name__} is no index of axis {axis}; use integers, slices, None and '...'; "
            "indexing by an array is not in this version; choose by a condition with xt.where"
        )
    i = operator.index(part)
    if not -extent <= i < extent:
        raise IndexError(f"index: {i} is out of range for axis {axis} of shape {shape}")
    return Picked(axis, i % extent, 0, 1, keeps=False)


def view(of: Layout, picked: list[Picked]) -> tuple[int, Layout]:
    """(offset, layout) of the view that `picked` selects."""
    offset, shape, strides = 0, [], []
    for axis, start, step, extent, keeps in picked:
        stride = 0 if axis is None else of.strides[axis]
        offset += start * stride if extent else 0
        if keeps:
            shape.append(extent)
            strides.append(step * stride)
    return offset, layout(tuple(shape), tuple(strides))


def reshaped(of: Layout, shape: Shape) -> Layout | None:
    """The layout that shows the same elements in the same order as `shape`, or None where no strides do."""
    if of.packed:
        return packed(shape)
    groups: list[tuple[int, int]] = []  # (extent, stride) of axes merged where they are one run
    for n, s in zip(of.shape, of.strides, strict=True):
        if n == 1:
            continue
        if groups and groups[-1][1] == n * s:
            groups[-1] = (groups[-1][0] * n, s)
        else:
            groups.append((n, s))
    strides = [0] * len(shape)
    axis = len(shape) - 1
    for extent, last_step in reversed(groups):
        left, step = extent, last_step
        while left > 1:
            if axis < 0 or left % max(shape[axis], 1) or shape[axis] == 0:
                return None
            strides[axis] = step
            step *= shape[axis]
            left //= shape[axis]
            axis -= 1
    return layout(shape, tuple(strides))
