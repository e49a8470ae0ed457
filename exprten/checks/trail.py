"""Which line of the user's made a node: remembered while somebody asks for it, at no cost while nobody does.

While a block is open, classes of nodes have an `__init__` that writes the line down, and operators are the methods in Python,
which call it. A line is found again by the identity of its node: as every node that is made meanwhile is written down, none stands
under the identity of one that is gone.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..expression import operators
from ..expression.expr import Apply, Expr
from ..expression.product import Dot
from ..expression.reduction import Reduce
from ..expression.remap import Remap

NODES = (Apply, Dot, Reduce, Remap)
PACKAGE = str(Path(__file__).parents[1] / "_").removesuffix("_")

Line = tuple[str, int]  # file and number

_lines: dict[int, Line] = {}
_open = operators.held  # an entry a block
_periods: list[None] = []  # an entry for each time that lines began to be written down
_operators: dict[str, Any] = {}  # those that were replaced


def period() -> int:
    """0 while no lines are written down; else another number each time."""
    return len(_periods) if _open else 0


def _remember(node: Expr) -> None:
    _lines[id(node)] = here()


def here() -> Line:
    """The innermost line that is not exprten's."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def line_of(node: Expr) -> Line | None:
    """The line that made a node, where it is known."""
    return _lines.get(id(node)) if isinstance(node, NODES) else None


def follow(node: Expr, old: Expr) -> None:
    """Let a node stand where another one was made."""
    if _lines and id(old) in _lines:
        _lines[id(node)] = _lines[id(old)]


def shown(line: Line) -> str:
    """A line, with its text."""
    text = linecache.getline(*line).strip()
    return f"{line[0]}:{line[1]}{f': {text}' if text else ''}"


@contextlib.contextmanager
def written() -> Iterator[None]:
    """Inside the block lines are remembered."""
    begin()
    try:
        yield
    finally:
        _end()


def begin() -> None:
    """Remember lines from now on."""
    _open.append(None)
    if len(_open) > 1:
        return
    _lines.clear()
    _periods.append(None)
    for cls in NODES:
        cls.__init__ = _remember  # type: ignore[method-assign,assignment]
    for name, method in operators.METHODS.items():
        _operators[name] = vars(Expr)[name]
        setattr(Expr, name, method)


def _end() -> None:
    _open.pop()
    if _open:
        return
    for cls in NODES:
        del cls.__init__
    for name, method in _operators.items():
        setattr(Expr, name, method)
