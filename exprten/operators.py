"""Operators on expressions: the hot path of building a tree.

Equal shapes are one object, and the key of the result is one look-up away: a node costs no walk and no check. Whatever is not
found here - another shape, another type, a first time - goes to `expr.build`, which decides everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .expr import Apply, Expr, build

_new = object.__new__


def _binary(op: str) -> Callable[[Expr, Any], Expr]:
    def method(self: Expr, other: Any) -> Expr:
        cls = other.__class__
        try:
            if cls is float or cls is int:
                key = self.key.links[op][cls]
            elif other.shape is self.shape:
                key = self.key.links[op][other.key]
            else:
                return build(op, self, other)
        except (KeyError, AttributeError):
            return build(op, self, other)
        node = _new(Apply)
        node.key = key
        node.shape = self.shape
        node.a = self
        node.b = other
        return node

    return method


def _reflected(op: str) -> Callable[[Expr, Any], Expr]:
    name = "r" + op

    def method(self: Expr, other: Any) -> Expr:
        try:
            key = self.key.links[name][other.__class__]
        except KeyError:
            return build(op, other, self)
        node = _new(Apply)
        node.key = key
        node.shape = self.shape
        node.a = other
        node.b = self
        return node

    return method


def _unary(op: str) -> Callable[[Expr], Expr]:
    def method(self: Expr) -> Expr:
        return build(op, self)

    return method


_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARE = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}

for _method, _op in _BINARY.items():
    setattr(Expr, f"__{_method}__", _binary(_op))
    setattr(Expr, f"__r{_method}__", _reflected(_op))
for _method, _op in _COMPARE.items():
    setattr(Expr, f"__{_method}__", _binary(_op))
for _method, _op in _UNARY.items():
    setattr(Expr, f"__{_method}__", _unary(_op))
