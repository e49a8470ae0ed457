"""How large index values may become, once the sizes are numbers: what decides whether 32 bits hold them."""

from __future__ import annotations

from collections.abc import Mapping

from .dtypes import INDEX
from .ir import Axis, Const, Op, Size, Value
from .rewrite import walk

Bounds = dict[Axis, Value]  # the extents of axes
ARITHMETIC = ("add", "subtract", "multiply", "floor_divide", "minimum", "maximum")


def is_index(value: Value, known: dict[Value, bool]) -> bool:
    """Whether a value is made of axes and sizes alone, by index arithmetic."""
    stack = [value]
    while stack:
        node = stack[-1]
        arithmetic = isinstance(node, Op) and node.op in ARITHMETIC and node.dtype is INDEX
        missing = [a for a in node.children if a not in known] if arithmetic and node not in known else []
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if arithmetic:
            known[node] = all(known[a] for a in node.children)
        else:
            known[node] = node.dtype is INDEX and isinstance(node, Axis | Size | Const)
    return known[value]


def upper(value: Value, extents: Bounds, sizes: Mapping[str, int]) -> int:
    """The greatest value of an index."""
    return reach(value, extents, sizes)[1]


def reach(value: Value, extents: Bounds, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value of an index, or less and more."""
    found: dict[Value, tuple[int, int]] = {}
    for node in walk(value):
        found[node] = _reach(node, found, extents, sizes)
    return found[value]


def _reach(
    node: Value, found: Mapping[Value, tuple[int, int]], extents: Bounds, sizes: Mapping[str, int]
) -> tuple[int, int]:
    match node:
        case Const(value):
            return int(value), int(value)
        case Size(name):
            return sizes[name], sizes[name]
        case Axis():
            return 0, max(0, upper(extents[node], extents, sizes) - 1)
        case Op(name, (a, b)):
            (a0, a1), (b0, b1) = found[a], found[b]
            match name:
                case "add":
                    return a0 + b0, a1 + b1
                case "subtract":
                    return a0 - b1, a1 - b0
                case "multiply":
                    corners = (a0 * b0, a0 * b1, a1 * b0, a1 * b1)
                case "floor_divide":
                    corners = (a0 // max(1, b0), a0 // max(1, b1), a1 // max(1, b0), a1 // max(1, b1))
                case "minimum":
                    return min(a0, b0), min(a1, b1)
                case _:
                    return max(a0, b0), max(a1, b1)
            return min(corners), max(corners)
    raise AssertionError(f"{node} is no index")
