"""Kernel IR as text: for people, for golden files, and the same text for the same kernel in every process."""

from __future__ import annotations

from collections import Counter

from .ir import Axis, Component, Const, Fold, Load, Local, Op, Param, Size, Table, Value
from .kernel import Kernel
from .rewrite import walk

_INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "times": "*", "divide": "/", "floor_divide": "//",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip


class Namer:
    """Names for the values used more than once, given out in the order in which they are first needed."""

    def __init__(self, *roots: Value) -> None:
        uses: Counter[int] = Counter()
        for node in walk(*roots):
            uses.update(id(child) for child in node.children)
        uses.update(id(root) for root in roots)
        self._shared = {key for key, count in uses.items() if count > 1}
        self.names: dict[int, str] = {}

    def lines(self, root: Value, whole: bool = False) -> list[str]:
        """Definitions of the shared values below `root`, and with `whole` of itself, that have no name yet."""
        out = []
        for node in walk(*([root] if id(root) not in self.names else []), known=self.names):
            if (
                id(node) in self._shared
                and id(node) not in self.names
                and (node.children or isinstance(node, Table))
                and (whole or node is not root)
            ):
                text = show(node, self.names)
                out.append(f"{self.give(node)} = {text}")
        return out

    def give(self, node: Value) -> str:
        """A name for `node`, used from now on."""
        return self.names.setdefault(id(node), f"t{len(self.names)}")


def show(value: Value, names: dict[int, str] | None = None) -> str:
    """One value on one line; a node with a name is shown by it."""
    names = names or {}
    done: dict[int, str] = {}
    stack = [value]
    while stack:
        node = stack[-1]
        if id(node) in names:
            return names[id(node)]
        missing = [c for c in node.children if id(c) not in names and id(c) not in done]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        done[id(node)] = _one(node, [names.get(id(c)) or done[id(c)] for c in node.children])
    return done[id(value)]


def _one(node: Value, args: list[str]) -> str:
    match node:
        case Const(value, dtype):
            return str(value) if dtype.kind == "b" or dtype.name == "int64" else f"{dtype}({value!r})"
        case Table(values, dtype):
            return f"{dtype}[{', '.join(map(repr, values))}]"
        case Param(name) | Size(name) | Axis(name) | Local(name):
            return name
        case Load(leaf):
            return f"{leaf.name}[{args[0]}]" + (f" when {args[1]}" if len(args) > 1 else "")
        case Fold(reducer, axis):
            return f"{reducer}[{axis.name} < {args[0]}]({', '.join(args[1:])})"
        case Component(_, position):
            return f"{args[0]}.{position}"
        case Op("cast", _, dtype):
            return f"{dtype}({args[0]})"
        case Op(name) if name in _INFIX:
            return f"({args[0]} {_INFIX[name]} {args[1]})"
        case Op(name):
            return f"{name}({', '.join(args)})"
    raise AssertionError(f"no such value: {type(node).__name__}")


def text(kernel: Kernel) -> str:
    """The kernel as its arguments, its axes and its stores."""
    arguments = [f"{leaf.name}: {leaf.dtype}*" for leaf in kernel.leaves]
    arguments += [s.name for s in kernel.sizes] + [f"{p.name}: {p.dtype}" for p in kernel.params]
    return "\n".join([f"kernel({', '.join(arguments)})", *(line for part in kernel.parts for line in _part(part))])


def _part(kernel: Kernel) -> list[str]:
    down = " downwards" if kernel.reverse else ""
    lines = [f"  for {axis.name} < {show(extent)}{down}" for axis, extent in kernel.axes]
    names = Namer(*(value for s in kernel.stores for value in (s.offset, s.value)))
    for store in kernel.stores:
        body = names.lines(store.offset) + names.lines(store.value, whole=True)
        body.append(f"{store.leaf.name}[{show(store.offset, names.names)}] = {show(store.value, names.names)}")
        lines += [f"    {line}" for line in body]
    return lines
