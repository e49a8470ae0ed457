"""Whether a function may look at extents: then its trace is for the layouts it was made with."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from inspect import getattr_static
from types import CodeType, FunctionType
from typing import Any

from ..own.source import contents

ASKING = frozenset(("shape", "size", "strides", "nbytes", "is_contiguous", "len"))
OWN = __name__.partition(".")[0]


def asks(function: FunctionType) -> bool:
    """Whether a function, or one that it may call, names something that depends on the extents of a tensor. A name is enough."""
    seen: set[int] = set()
    stack = [function]
    while stack:
        one = stack.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        names = {name for code in _codes(one.__code__) for name in (*code.co_names, *code.co_freevars)}
        if names & ASKING:
            return True
        stack.extend(_called(one, names))
    return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _called(function: FunctionType, names: set[str]) -> Iterator[FunctionType]:
    """The Python functions that the names reach: globals, variables of functions around, and attributes of these."""
    cells = [contents(cell) for cell in function.__closure__ or ()]
    found: list[Any] = [function.__globals__.get(name, getattr(builtins, name, None)) for name in names]
    found += [value for cell in cells for value in cell]
    found += [getattr_static(x, name, None) for x in found if x is not None for name in names]
    for x in (getattr(x, "__func__", getattr(x, "__wrapped__", x)) for x in found):
        if isinstance(x, FunctionType) and x.__module__.partition(".")[0] != OWN:
            yield x
