"""Operators on expressions: the hot path of building a tree.

Equal shapes are one object, and the key of the result is one look-up away. Whatever is not found here - another shape, another
type, a first time - goes to `expr.build`, which decides everything.

The methods are made from text so that every look-up is an attribute of a fixed name: 192 ns a node against 271 for a closure over
the operation's name (CPython 3.11; NumPy's `a + b` on 16 elements: 500).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exprten_jit.directcall import slot_offsets
from exprten_jit.dtypes import DTYPES
from exprten_jit.methods import Assign, Binary, SetItem, Slots, install, works_here

from ..modes import OPERATORS, ROWS
from ..options import scope
from ..storage.device import cpu
from .expr import Apply, Expr, build
from .key import BINARY, COMPARE, LINKS, Key
from .shape import pairs

FLOAT32 = DTYPES["float32"]
SMALL = 1 << 63  # ints from its negative up to it become floats without a question

_BINARY = """
def method(self, other):
    try:
        shape = self.shape
        if other.__class__ is float:
            key = self.key.{op}_float
        elif other.__class__ is int and SMALL > other >= -SMALL:
            key = self.key.{op}_int
        else:
            key = self.key.{op}_key[other.key]
            if other.shape is not shape:
                shape = pairs[shape, other.shape]
    except (KeyError, AttributeError):
        key = None
    if key is None:  # not inside `except`: an error of `build` has no other one behind it
        return NotImplemented if defers(other) else build("{op}", self, other)
    node = Apply()
    node.key = key
    node.shape = shape
    node.a = self
    node.b = other
    return node
"""

_REFLECTED = """
def method(self, other):
    try:
        if other.__class__ is float:
            key = self.key.r{op}_float
        else:
            key = self.key.r{op}_int if other.__class__ is int and SMALL > other >= -SMALL else None
    except AttributeError:
        key = None
    if key is None:
        return build("{op}", other, self)
    node = Apply()
    node.key = key
    node.shape = self.shape
    node.a = other
    node.b = self
    return node
"""


def _defers(other: Any) -> bool:
    """Whether an operand wants to answer itself: NumPy's sign for it."""
    return getattr(type(other), "__array_ufunc__", True) is None


def _method(template: str, op: str, name: str) -> Callable[..., Expr]:
    made: dict[str, Any] = {
        "__name__": __name__,
        "Apply": Apply,
        "build": build,
        "SMALL": SMALL,
        "pairs": pairs,
        "defers": _defers,
    }
    exec(compile(template.format(op=op), f"{__file__}:{name}", "exec"), made)
    method: Callable[..., Expr] = made["method"]
    method.__name__ = method.__qualname__ = name
    return method


def _unary(op: str) -> Callable[[Expr], Expr]:
    def method(self: Expr) -> Expr:
        return build(op, self)

    return method


def accelerate(leaf: type) -> None:
    """Replace the arithmetic operators, and the assignments of `leaf`, by machine code that does the same."""
    if _accelerated or held or not works_here():
        return
    _accelerated.append(leaf)
    expr = slot_offsets(Apply(), ("key", "shape", "a", "b"))
    slots = Slots(expr["key"], expr["shape"], expr["a"], expr["b"], scope, slot_offsets(scope, ("open",))["open"])
    links = slot_offsets(Key("leaf", FLOAT32, cpu(), (), ()), LINKS)
    operators = []
    for name, op in BINARY.items():
        if any(getattr(Expr, n) is not METHODS[n] for n in (f"__{name}__", f"__r{name}__")):
            continue  # somebody put a method of their own there
        names = (f"{op}_float", f"{op}_int", f"r{op}_float", f"r{op}_int", f"{op}_key")
        with_float, with_int, float_with, int_with, table = (links[n] for n in names)
        forward, reflected = getattr(Expr, f"__{name}__"), getattr(Expr, f"__r{name}__")
        operators.append(Binary(f"__{name}__", with_float, with_int, float_with, int_with, table, forward, reflected))
    assignments: list[Assign | SetItem] = [SetItem(links["write_call"], vars(leaf)["__setitem__"])]
    assignments += [
        Assign(mode.method, links[f"{mode.name}_call"], getattr(leaf, mode.method))
        for mode in (*ROWS, *OPERATORS)
        if mode.method
    ]
    install(Expr, Apply, leaf, slots, operators, assignments, pairs)


_accelerated: list[type] = []
held: list[None] = []  # while there is an entry, operators are Python's: somebody wants to see the nodes that they make

for _name, _op in (BINARY | COMPARE).items():
    setattr(Expr, f"__{_name}__", _method(_BINARY, _op, f"__{_name}__"))
for _name, _op in BINARY.items():
    setattr(Expr, f"__r{_name}__", _method(_REFLECTED, _op, f"__r{_name}__"))
METHODS: dict[str, Callable[..., Expr]] = {
    n: vars(Expr)[n] for _name in BINARY for n in (f"__{_name}__", f"__r{_name}__")
}
for _name, _op in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    setattr(Expr, f"__{_name}__", _unary(_op))
