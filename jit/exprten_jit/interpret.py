"""What a kernel means: Python over NumPy scalars, one point at a time. Slow, and the judge of every backend."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .dtypes import DType
from .ir import Axis, Const, Kernel, Load, Op, Param, Size, Value
from .ops import PRIMITIVE
from .rewrite import walk

Array = np.ndarray[Any, np.dtype[Any]]


def interpret(
    kernel: Kernel, arrays: Mapping[str, tuple[Array, int]], sizes: Mapping[str, int], params: Mapping[str, Any]
) -> None:
    """Run `kernel`. `arrays` gives each leaf a 1-D array of elements and the position in it of the leaf's address."""
    arguments = dict(sizes) | {p.name: p.dtype.numpy.type(params[p.name]) for p in kernel.params}
    for part in kernel.parts:
        _interpret_part(part, arrays, arguments)


def _interpret_part(kernel: Kernel, arrays: Mapping[str, tuple[Array, int]], arguments: Mapping[str, Any]) -> None:
    extents = [int(evaluate(extent, {}, arrays, arguments)) for _, extent in kernel.axes]
    with np.errstate(all="ignore"):
        for point in _points(extents, kernel.reverse):
            at = {axis: i for (axis, _), i in zip(kernel.axes, point, strict=True)}
            for store in kernel.stores:
                array, base = arrays[store.leaf.name]
                value = evaluate(store.value, at, arrays, arguments)
                array[base + int(evaluate(store.offset, at, arrays, arguments))] = value


def _points(extents: list[int], reverse: bool) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(n - 1, -1, -1) if reverse else range(n) for n in extents))


def evaluate(
    root: Value, at: Mapping[Axis, int], arrays: Mapping[str, tuple[Array, int]], arguments: Mapping[str, Any]
) -> Any:
    """The value of `root` at one point."""
    known: dict[int, Any] = {}
    for node in walk(root):
        known[id(node)] = _value(node, known, at, arrays, arguments)
    return known[id(root)]


def _value(
    node: Value,
    known: dict[int, Any],
    at: Mapping[Axis, int],
    arrays: Mapping[str, tuple[Array, int]],
    arguments: Mapping[str, Any],
) -> Any:
    match node:
        case Const(value, dtype):
            return dtype.numpy.type(value)
        case Param(name) | Size(name):
            return node.dtype.numpy.type(arguments[name])
        case Axis():
            return np.int64(at[node])
        case Load(leaf, offset, when):
            if when is not None and not known[id(when)]:
                return leaf.dtype.numpy.type(0)
            array, base = arrays[leaf.name]
            return array[base + int(known[id(offset)])]
        case Op("cast", (a,), dtype):
            return convert(known[id(a)], dtype)
        case Op("floor_divide", (a, b)):
            return known[id(a)] // known[id(b)]
        case Op(name, args, dtype):
            return dtype.numpy.type(PRIMITIVE[name].reference(*(known[id(a)] for a in args)))
    raise AssertionError(f"no such value: {type(node).__name__}")


def convert(x: Any, dtype: DType) -> Any:
    """`x` as `dtype`: floats go to integers truncated and saturated, NaN goes to 0, integers wrap."""
    if dtype.kind in "iu" and x.dtype.kind == "f":
        number = 0.0 if np.isnan(x) else float(x)
        return dtype.numpy.type(max(dtype.smallest, min(dtype.largest, int(np.clip(np.trunc(number), -1e30, 1e30)))))
    return x.astype(dtype.numpy)
