"""Operations of one's own: a Python function of numbers, compiled for elements."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
from exprten_jit.derived import OWN, Derived, OwnName
from exprten_jit.ir import Value

from ..expression.expr import Apply, build
from ..functions import FUNCTIONS, power
from .body import definition as defined_by
from .gradient import derivative
from .promote import Kind, typed
from .source import captured
from .terms import PLAIN, WEAK, Call, Defined, Definition, Operand, bind, computed, signature

Weak = (
    type[int] | type[float] | type[complex] | None
)  # the class of an operand that is a Python number; None: it has a type of its own


class Op(Defined):
    """A scalar function as an operation: of tensors, expressions and arrays a node, of numbers alone a number."""

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError(f"op: a {type(function).__name__} is no Python function; decorate a `def` with @xt.op")
        functools.update_wrapper(self, function)
        self._function = captured(function)
        self._rows: dict[tuple[Weak, ...], OwnName] = {}
        self._gradients: dict[int, Op] = {}

    @cached_property
    def definition(self) -> Definition:  # type: ignore[override]  # computed once, when it is first needed
        """What it is in operations of the table."""
        return defined_by(self._function)

    def __call__(self, *operands: Any, **named: Any) -> Any:
        """The node, or of numbers the number. Raises TypeError for a wrong number of operands."""
        if named or len(operands) != len(self.definition.parameters):
            operands = bind(self.definition, operands, named)
        if all(isinstance(x, PLAIN) for x in operands):
            return self._of_numbers(operands)
        weak = tuple(x.__class__ if x.__class__ in WEAK else None for x in operands)
        return build(self._rows.get(weak) or self._rows.setdefault(weak, self._row(weak)), *operands)

    def _of_numbers(self, operands: Sequence[Any]) -> Any:
        if not self.definition.python:
            return computed(self.definition.root, operands)
        found = self._function(*operands)
        return found[()] if isinstance(found, np.ndarray) else found  # as np.where of numbers does

    def _row(self, weak: tuple[Weak, ...]) -> OwnName:
        """The name of a new row for operands of which those are Python numbers: they have no type, so types alone cannot say it."""
        definition, name = self.definition, OwnName(self.__name__)
        name.definition = definition.text

        def resolve(given: Sequence[Kind]) -> tuple[np.dtype[Any], ...]:
            found = typed(definition, given)
            rows = (*(found.operand(k, kind) for k, kind in enumerate(given)), found.result)
            return tuple(row.numpy for row in rows)

        def expand(*values: Value) -> Value:
            return typed(definition, [w or v.dtype.numpy for w, v in zip(weak, values, strict=True)]).value(values)

        OWN[name] = Derived(name, len(weak), self, resolve=resolve, expand=expand)
        return name

    def grad(self, operand: int | str) -> Op:
        """The partial derivative by an operand, given by position or name; conditions are constants, and the type is the value's.

        Raises CompileError at an operation that has no derivative.
        """
        parameters = self.definition.parameters
        k = parameters.index(operand) if operand in parameters else operand
        if not isinstance(k, int) or not 0 <= k < len(parameters):
            shown = ", ".join(f"{n} ({name})" for n, name in enumerate(parameters))
            raise ValueError(f"{self.__name__}.grad: there is no operand {operand!r}; there are {shown}")
        return self._gradients.get(k) or self._gradients.setdefault(k, Gradient(self, k))

    def __reduce__(self) -> Any:
        return self.__qualname__  # by reference, as a function

    def __repr__(self) -> str:
        return f"<op {self.__name__}{signature(self.definition)}>"


class Gradient(Op):
    """The partial derivative of an operation by an operand."""

    def __init__(self, of: Op, operand: int) -> None:
        self.of, self.operand = of, operand
        self.__name__ = self.__qualname__ = f"{of.__name__}.grad({operand})"
        self.__doc__ = f"The partial derivative of {of.__name__} by {of.definition.parameters[operand]}."
        self._rows = {}
        self._gradients = {}
        self.definition  # noqa: B018  # raises here, where it is asked for

    @cached_property
    def definition(self) -> Definition:  # type: ignore[override]
        """What it is in operations of the table."""
        of = self.of.definition
        root = derivative(self.__name__, of.root, self.operand)
        return Definition(self.__name__, of.parameters, of.defaults, root, python=False)

    def __reduce__(self) -> Any:
        return Op.grad, (self.of, self.operand)


class Tabled(Op):
    """A row of the operation table as an operation with derivatives, which computes on numbers."""

    def __init__(self, name: str, doc: str, parameters: tuple[str, ...]) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = __name__.partition(".")[0]  # where pickle finds it
        self.__doc__ = doc
        self._parameters = parameters
        self._rows = {}
        self._gradients = {}

    @cached_property
    def definition(self) -> Definition:  # type: ignore[override]
        """What it is in operations of the table."""
        root = Call(self.__name__, tuple(map(Operand, range(len(self._parameters)))), self.__name__)
        return Definition(self.__name__, self._parameters, (), root, python=False)

    def __call__(self, *operands: Any, **named: Any) -> Any:
        """The node, or of numbers the number. Raises TypeError for a wrong number of operands."""
        if named or len(operands) != len(self._parameters):
            operands = bind(self.definition, operands, named)
        return (
            self._of_numbers(operands)
            if all(isinstance(x, PLAIN) for x in operands)
            else build(self.__name__, *operands)
        )


def op(function: Callable[..., Any]) -> Op:
    """The operation that a Python function of numbers describes.

    Its body is assignments to locals, `if`, `elif` and `else`, conditional expressions, `and or not`, comparisons, arithmetic, and
    calls of other operations and functions. Every path is computed and returns; where conditions differ, a `where` chooses. Raises
    CompileError, with file, line and column, for anything else, and where there is no source. (mshadow: a struct with `Map`)
    """
    made = Op(function)
    made.definition  # noqa: B018  # raises here, at the decoration
    return made


def F(operation: Callable[..., Any]) -> Callable[..., Apply]:  # noqa: N802  # mshadow's name
    """The operation itself, to be called with its operands: `F(op)(a, b)` is `op(a, b)`. (mshadow F<OP>(a, b))"""
    if not isinstance(operation, Op) and operation not in (*FUNCTIONS.values(), power):
        shown = getattr(operation, "__name__", repr(operation))
        raise TypeError(f"F: {shown} is no operation; decorate it with @xt.op")
    return operation
