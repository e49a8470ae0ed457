"""Reducers of one's own: a Python function that brings two results together, folded over axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np
from exprten_jit.derived import OwnName
from exprten_jit.dtypes import DType
from exprten_jit.ir import Value
from exprten_jit.pairs import cast
from exprten_jit.reducers import SEVERAL
from exprten_jit.reducers import Reducer as Row

from ..errors import DTypeError
from ..expression.expr import Expr, as_expr, check_range, coerce, late
from ..expression.reduction import rounded, several, wide
from ..expression.shape import broadcast
from .body import MAX_OPERANDS, Returns
from .body import definition as defined_by
from .op import Op
from .promote import typed
from .source import captured
from .terms import PLAIN, TRUTHS, WEAK, Call, Definition, Like, Number, Operand, Term, signature

Numbers = tuple[Any, ...]


class Reducer:
    """A fold by a function of one's own: called with an expression, it is the fold over `axis`, None for all."""

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], identity: Numbers, element: Any, result: Any) -> None:
        for what, given in (("reducer", function), ("element", element), ("result", result)):
            if given is not None and not isinstance(given, FunctionType):
                raise TypeError(f"reducer: {what} is a {type(given).__name__}; it must be a Python function")
        functools.update_wrapper(self, function)
        assert isinstance(function, FunctionType)
        self.identity, count = identity, len(identity)
        frozen = captured(function)
        self._combine = [defined_by(frozen, Returns(k, count, 2 * count)) for k in range(count)]
        self._element = _components(element, count) if element else []
        self._result = Op(result) if result else None
        if self._result is not None and len(self._result.definition.parameters) != count:
            shown = signature(self._result.definition)
            raise TypeError(f"{self.__name__}: result has the parameters {shown}; there are {count} accumulators")
        self._checked: dict[tuple[DType, ...], Numbers] = {}  # the identity in accumulators of these types
        self._name = OwnName(self.__name__)
        self._name.definition = self._text
        SEVERAL[self._name] = Row(
            self.__name__, self._combined, function, lambda dtype: dtype, self._identities, None, _never
        )

    def __call__(self, *operands: Any, axis: Any = None, keepdims: bool = False) -> Any:
        """The fold; without `result` and of several accumulators a tuple. Raises TypeError for a wrong number of operands, ShapeError
        for an axis that is not there, DTypeError where the types do not fit.
        """
        name = self.__name__
        taken = (
            self._element[0].definition.parameters
            if self._element
            else self._combine[0].parameters[: len(self.identity)]
        )
        if len(operands) != len(taken):
            raise TypeError(
                f"{name}: folds {len(taken)} operand{'s' * (len(taken) > 1)}, not {len(operands)}; axis is given by name"
            )
        given = [as_expr(coerce(x, name)) for x in operands]
        sources = [made(*given) for made in self._element] or _of_one_shape(given, name)
        given_types = [src.key.dtype for src in sources]
        sources = [wide(src) for src in sources]
        dtypes = tuple(src.key.dtype for src in sources)
        if dtypes not in self._checked:
            self._check(dtypes)
            self._checked[dtypes] = self._identities(*dtypes)
        found = several(self._name, sources, axis, keepdims, self._checked[dtypes], name)
        if self._result is not None:
            made: Expr = self._result(*found)
            floats = {row for row in given_types if row.kind == "f"}
            return rounded(made, floats.pop()) if len(floats) == 1 else made
        found = tuple(rounded(x, row) for x, row in zip(found, given_types, strict=True))
        return found if len(found) > 1 else found[0]

    def _check(self, dtypes: Sequence[DType]) -> None:
        """Raise DTypeError where what is brought together does not fit the accumulators."""
        for k, (definition, dtype) in enumerate(zip(self._combine, dtypes, strict=True)):
            found = typed(definition, [row.numpy for row in (*dtypes, *dtypes)]).result
            if not np.can_cast(found.numpy, dtype.numpy, "same_kind"):
                which = f" {k}" if len(dtypes) > 1 else ""
                raise DTypeError(
                    f"{self.__name__}: accumulator{which} is {dtype}, and what two of them come to is {found}; convert the operand "
                    f"with xt.cast(x, xt.{found})"
                )

    def _text(self) -> str:
        numbers = [f"{type(x).__name__} {x!r}" for x in self.identity]
        return "\n".join([*numbers, *(definition.text() for definition in self._combine)])

    def _combined(self, a: Sequence[Value], b: Sequence[Value]) -> tuple[Value, ...]:
        operands = (*a, *b)
        kinds = [x.dtype.numpy for x in operands]
        return tuple(cast(typed(d, kinds).value(operands), x.dtype) for d, x in zip(self._combine, a, strict=True))

    def _identities(self, *dtypes: DType) -> Numbers:
        return tuple(_number(x, dtype, self.__name__) for x, dtype in zip(self.identity, dtypes, strict=True))

    def __reduce__(self) -> Any:
        return self.__qualname__  # by reference, as a function

    def __repr__(self) -> str:
        return f"<reducer {self.__name__}{signature(self._combine[0])}, identity {self.identity}>"


def _never(_: DType) -> bool:
    return False


class _Element(Op):
    """One of the numbers that an element becomes."""

    def __init__(self, name: str, definition: Definition) -> None:
        self.__name__ = self.__qualname__ = name
        self._rows, self._gradients = {}, {}
        self.definition = definition


def _components(element: FunctionType, count: int) -> list[_Element]:
    """What an element becomes, an operation for each accumulator. A number alone takes the type of the first operand."""
    frozen, out = captured(element), []
    for k in range(count):
        d = defined_by(frozen, Returns(k, count))
        root = Like(d.root, Operand(0)) if _weak(d.root) else d.root
        name = element.__name__ if count == 1 else f"{element.__name__}[{k}]"
        out.append(_Element(name, Definition(name, d.parameters, d.defaults, root, python=False)))
    return out


def _weak(term: Term) -> bool:
    """Whether a term is a Python number, whatever the operands: it has no type of its own."""
    match term:
        case Number(value):
            return value.__class__ in WEAK
        case Call("where", (_, a, b)):
            return _weak(a) and _weak(b)
        case Call(op, args):
            return op not in TRUTHS and all(map(_weak, args))
    return False


def _number(x: Any, dtype: DType, name: str) -> Any:
    """The identity as a number of an accumulator's type."""
    if (isinstance(x, float) and dtype.kind not in "fc") or (isinstance(x, complex) and dtype.kind != "c"):
        wide = "complex128" if isinstance(x, complex) else "float64"
        raise DTypeError(f"{name}: the identity {x} is no {dtype}; convert the operand with xt.cast(x, xt.{wide})")
    if isinstance(x, int) and x.__class__ is not bool:
        check_range(x, dtype, name)
    return dtype.python(x)


def _of_one_shape(given: list[Expr], name: str) -> list[Expr]:
    shape = broadcast([e.shape for e in given], name)
    return [e if e.shape == shape else late["broadcast_to"](e, shape) for e in given]


def reducer(
    *unnamed: Any, identity: Any = None, element: Any = None, result: Any = None
) -> Callable[[Callable[..., Any]], Reducer]:
    """A fold by a Python function `combine(a, b)` of numbers, which may say what `@xt.op` may.

    It must be associative and commutative but for rounding: the order is that of a sum. `identity` changes nothing that it is combined
    with. A fold may have up to three accumulators: `identity` is then a tuple, and `combine(a, b, c, d)` takes those of one side
    and those of the other, and returns as many. `element(x)` says what an element becomes, `result(a, b)` what the accumulators
    come to; without them the operands are the accumulators. Raises CompileError as `@xt.op`.
    """
    if unnamed:
        shown = getattr(unnamed[0], "__name__", repr(unnamed[0]))
        raise TypeError(f"reducer: {shown} is given without a name; write @xt.reducer(identity=...) above the function")
    numbers = identity if isinstance(identity, tuple) else (identity,)
    if not 1 <= len(numbers) <= MAX_OPERANDS or not all(isinstance(x, PLAIN) for x in numbers):
        raise TypeError(f"reducer: identity is {identity!r}; it must be a number, or a tuple of up to {MAX_OPERANDS}")

    def decorate(combine: Callable[..., Any]) -> Reducer:
        return Reducer(combine, numbers, element, result)

    return decorate
