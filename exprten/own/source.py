"""The source of a Python function: its tree, and where in a file each part of it stands."""

from __future__ import annotations

import ast
import inspect
import tokenize
from types import CellType, FunctionType
from typing import Any

from ..errors import CompileError


class Source:
    """The source of `function`, parsed. Raises CompileError where there is none, or none of a plain `def`."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.name, self.file = function.__name__, code.co_filename
        if self.name == "<lambda>":
            raise CompileError(f"op: {self.file}:{code.co_firstlineno}: a lambda is no operation; write it as a `def`")
        try:
            lines, self._first = inspect.getsourcelines(code)
            self._indented = int(
                lines[0][:1].isspace()
            )  # then a line more stands above, and columns stay what they are
            self._text = "if True:\n" * self._indented + "".join(lines)
            tree: Any = ast.parse(self._text).body[0]  # Any: kinds of statements have no `body` in common
        except (OSError, SyntaxError, tokenize.TokenError):
            raise CompileError(
                f"{self.name}: {self.file}:{code.co_firstlineno}: its source cannot be read; an operation is compiled from it, "
                "so define it in a file or a notebook"
            ) from None
        self.tree: ast.FunctionDef = tree.body[0] if self._indented else tree
        if not isinstance(self.tree, ast.FunctionDef):
            raise self.refusal(self.tree, "an operation is a plain function")
        if self.tree.name != code.co_name:
            raise self.refusal(self.tree, f"the file has changed since {self.name} was read from it; import it again")

    def at(self, node: ast.AST) -> str:
        """File, line and column of a part of it that has a place."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        before = self._text.split("\n")[line - 1].encode()[:offset]  # Python counts bytes
        return f"{self.file}:{self._first + line - 1 - self._indented}:{len(before.decode()) + 1}"

    def shown(self, node: ast.AST) -> str:
        """The first line of a part of it."""
        first, *more = (ast.get_source_segment(self._text, node) or "").split("\n")
        return f"{first} ..." if more else first

    def refusal(self, node: ast.AST, why: str) -> CompileError:
        """The error of a part that no operation can have."""
        return CompileError(f"{self.name}: {self.at(node)}: `{self.shown(node)}`: {why}")


def captured(function: FunctionType) -> FunctionType:
    """`function` with the globals and closure that it has now."""
    code = function.__code__
    names = {"__builtins__", "__name__", *code.co_names}
    scope = {name: value for name, value in function.__globals__.items() if name in names}
    cells = [CellType(*contents(cell)) for cell in function.__closure__ or ()]
    return FunctionType(code, scope, function.__name__, function.__defaults__, tuple(cells))


def contents(cell: CellType) -> tuple[Any, ...]:
    """What a variable of a function around holds: one value, or none yet."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()
