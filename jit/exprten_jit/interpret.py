"""What a kernel means: Python over NumPy scalars, one point at a time. Slow, and the judge of every backend."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .dtypes import DType
from .folds import combined
from .ir import Axis, Component, Const, Fold, Leaf, Load, Op, Param, Size, Table, Value, local
from .kernel import Kernel
from .ops import PRIMITIVE
from .reducers import along, brought_together, identities, reducer_of
from .rewrite import walk

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Mapping[str, tuple[Array, int]]
Folded = dict[
    tuple[Any, ...], Any
]  # folds that were computed, by where: a mean is not summed up again for every element


def interpret(
    kernel: Kernel, arrays: Arrays, sizes: Mapping[str, int], params: Mapping[str, Any], into: Arrays | None = None
) -> None:
    """Run `kernel`. `arrays` gives each leaf a 1-D array of elements and the position in it of the leaf's address; what is stored
    goes to those of `into`, where they are others.
    """
    arguments, folded = arguments_of(kernel, sizes, params), Folded()
    for part in kernel.parts:
        for point in _points(extents_of(part, arguments), part.reverse):
            if into is None:
                folded.clear()  # a store may have changed what they are made of
            for leaf, offset, value in stored(part, point, arrays, arguments, folded):
                array, base = (arrays if into is None else into)[leaf.name]
                array[base + offset] = value


def arguments_of(kernel: Kernel, sizes: Mapping[str, int], params: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes, and scalars in their types."""
    return dict(sizes) | {p.name: p.dtype.numpy.type(params[p.name]) for p in kernel.params}


def extents_of(part: Kernel, arguments: Mapping[str, Any]) -> list[int]:
    """Of the loops."""
    return [int(evaluate(extent, {}, {}, arguments)) for _, extent in part.axes]


def stored(
    part: Kernel, point: Sequence[int], arrays: Arrays, arguments: Mapping[str, Any], folded: Folded | None = None
) -> list[tuple[Leaf, int, Any]]:
    """What is stored at a point of the loops: leaves, offsets and values. `folded` keeps folds for other points."""
    folded = {} if folded is None else folded
    at = {axis: i for (axis, _), i in zip(part.axes, point, strict=True)}
    with np.errstate(all="ignore"):
        return [
            (
                store.leaf,
                int(evaluate(store.offset, at, arrays, arguments)),
                evaluate(store.value, at, arrays, arguments, folded),
            )
            for store in part.stores
        ]


def _points(extents: list[int], reverse: bool) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(n - 1, -1, -1) if reverse else range(n) for n in extents))


def evaluate(
    root: Value, at: Mapping[Axis, int], arrays: Arrays, arguments: Mapping[str, Any], folded: Folded | None = None
) -> Any:
    """The value of `root` at one point. `folded` keeps folds for other values and points."""
    known: dict[int, Any] = {}
    folded = {} if folded is None else folded
    for node in walk(root, into_folds=False):
        if not isinstance(node, Fold):
            known[id(node)] = _value(node, known, at, arrays, arguments)
            continue
        place = (id(node), *(at[axis] for axis in node.free if isinstance(axis, Axis)))
        if place not in folded:
            folded[place] = _fold(node, int(known[id(node.extent)]), at, arrays, arguments, folded)
        found = folded[place]
        known[id(node)] = found if len(found) > 1 else found[0]
    return known[id(root)]


def _fold(
    node: Fold, extent: int, at: Mapping[Axis, int], arrays: Arrays, arguments: Mapping[str, Any], folded: Folded
) -> tuple[Any, ...]:
    a, b = (tuple(local(f"{name}{k}", dtype) for k, dtype in enumerate(node.dtypes)) for name in "ab")
    results = combined(node, a, b)

    def combine(x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[Any, ...]:
        known: dict[int, Any] = {id(name): value for name, value in zip((*a, *b), (*x, *y), strict=True)}
        for part in walk(*results):
            if id(part) not in known:
                known[id(part)] = _value(part, known, at, arrays, arguments)
        return tuple(known[id(result)] for result in results)

    def element(k: int) -> tuple[Any, ...]:
        return tuple(evaluate(body, {**at, node.axis: k}, arrays, arguments, folded) for body in node.bodies)

    numbers = zip(identities(reducer_of(node.reducer), node.dtypes), node.dtypes, strict=True)
    identity = tuple(dtype.numpy.type(number) for number, dtype in numbers)
    return brought_together(map(element, range(extent)), combine, identity, node.order or along(*node.dtypes))


def _value(
    node: Value,
    known: dict[int, Any],
    at: Mapping[Axis, int],
    arrays: Arrays,
    arguments: Mapping[str, Any],
) -> Any:
    match node:
        case Const(value, dtype):
            return dtype.numpy.type(value)
        case Table(values, dtype):
            return np.array(values, dtype.numpy)
        case Param(name) | Size(name):
            return node.dtype.numpy.type(arguments[name])
        case Axis():
            return np.int64(at[node])
        case Load(leaf, offset, when):
            if when is not None and not known[id(when)]:
                return leaf.dtype.numpy.type(0)
            array, base = arrays[leaf.name]
            return array[base + int(known[id(offset)])]
        case Component(of, position):
            return known[id(of)][position]
        case Op("cast", (a,), dtype):
            return convert(known[id(a)], a.dtype, dtype)
        case Op("bits", (a,), dtype):
            return np.asarray(known[id(a)]).view(dtype.numpy)[()]
        case Op("floor_divide", (a, b)):
            return known[id(a)] // known[id(b)]
        case Op(name, args, dtype):
            return dtype.numpy.type(PRIMITIVE[name].reference(*(known[id(a)] for a in args)))
    raise AssertionError(f"no such value: {type(node).__name__}")


def convert(x: Any, source: DType, dtype: DType) -> Any:
    """`x` of type `source` as `dtype`: floats go to integers truncated and saturated, NaN goes to 0, integers wrap."""
    if dtype.kind in "iu" and source.kind == "f":
        number = 0.0 if np.isnan(x) else float(x)
        return dtype.numpy.type(max(dtype.smallest, min(dtype.largest, int(np.clip(np.trunc(number), -1e30, 1e30)))))
    return x.astype(dtype.numpy)
