"""Expressions as text: the tree, and no element of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip


NOTHING: Mapping[int, str] = {}


def tree(x: Any, depth: int = 8, names: Mapping[int, str] = NOTHING) -> str:
    """An expression or a Python scalar on one line, `...` below `depth`; `names` are those of tensors, by identity."""
    if not hasattr(x, "key"):
        return repr(x)
    op = x.key.map.title if x.key.op == "remap" else x.key.op
    if op == "reduce":
        over = x.key.map
        axes = "" if len(over.axes) == over.ndim else f", axis={over.axes[0] if len(over.axes) == 1 else over.axes}"
        sources = ", ".join(tree(a, depth - 1, names) for a in x.operands) if depth else "..."
        return f"{over.reducer}({sources}{axes})"
    if op == "scalar":
        return str(x.dtype.type(x.value))
    if op == "iota":
        return f"iota(axis={x.axis})"
    if op == "leaf":
        return names.get(id(x), f"{x.dtype}{x.shape}")
    if not depth:
        return "..."
    args = [tree(a, depth - 1, names) for a in x.operands]
    if op in SYMBOLS:
        return f"({args[0]} {SYMBOLS[op]} {args[1]})"
    return f"{f'cast[{x.dtype}]' if op == 'cast' else op}({', '.join(args)})"
