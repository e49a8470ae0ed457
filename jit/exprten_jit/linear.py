"""Index values as linear forms of the axes, once the sizes are numbers: exact, so facts about them are proofs."""

from __future__ import annotations

from collections.abc import Mapping

from .dtypes import INDEX
from .ir import Axis, Const, Op, Size, Value, negation
from .kernel import Kernel
from .rewrite import walk

Form = dict[Axis | None, int]  # the coefficient of each axis, none of them 0, and under None the number beside them


def form(root: Value, sizes: Mapping[str, int]) -> Form | None:
    """`root` as a linear form, or None where it is none."""
    found: dict[Value, Form | None] = {}
    for node in walk(root):
        found[node] = _form(node, found, sizes)
    return found[root]


def _form(node: Value, found: Mapping[Value, Form | None], sizes: Mapping[str, int]) -> Form | None:
    match node:
        case Const(value, dtype) if dtype is INDEX:
            return _plain({None: int(value)})
        case Size(name):
            return _plain({None: sizes[name]})
        case Axis():
            return {node: 1}
        case Op(name, (a, b), dtype) if dtype is INDEX and name in ("add", "subtract", "multiply"):
            x, y = found[a], found[b]
            if x is None or y is None:
                return None
            if name != "multiply":
                return _sum(x, y, 1 if name == "add" else -1)
            if y.keys() - {None}:
                x, y = y, x
            return None if y.keys() - {None} else _plain({k: c * y.get(None, 0) for k, c in x.items()})
    return None


def _plain(x: Form) -> Form:
    return {k: c for k, c in x.items() if c}


def _sum(x: Form, y: Form, sign: int) -> Form:
    return _plain({k: x.get(k, 0) + sign * y.get(k, 0) for k in (*x, *y)})


def equal(a: Value, b: Value, sizes: Mapping[str, int]) -> bool:
    """Whether two index values are proved to be one at every point."""
    x, y = form(a, sizes), form(b, sizes)
    return x is not None and x == y


def never(guard: Value, kernel: Kernel, sizes: Mapping[str, int]) -> bool:
    """Whether `guard` is proved to be false at every point of `kernel`."""
    match guard:
        case Op("bitwise_and", args):
            return any(never(part, kernel, sizes) for part in args)
        case Op("less" | "greater_equal", (a, b)) if a.dtype is INDEX:
            x, y = form(a, sizes), form(b, sizes)
            if x is None or y is None:
                return False
            low, high = _range(_sum(x, y, -1), kernel, sizes)
            return low >= 0 if guard.op == "less" else high < 0
    return False


def always(guard: Value, kernel: Kernel, sizes: Mapping[str, int]) -> bool:
    """Whether `guard` is proved to be true at every point of `kernel`."""
    match guard:
        case Op("bitwise_and", args):
            return all(always(part, kernel, sizes) for part in args)
        case Op("less" | "greater_equal", (a, _)) if a.dtype is INDEX:
            return never(negation(guard), kernel, sizes)
    return False


def _range(x: Form, kernel: Kernel, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The least and the greatest value of a form at the points of `kernel`."""
    low = high = x.get(None, 0)
    for axis, extent in kernel.axes:
        length = form(extent, sizes)
        assert length is not None, "an extent is a number"
        last = x.get(axis, 0) * (length.get(None, 0) - 1)
        low, high = low + min(0, last), high + max(0, last)
    return low, high
