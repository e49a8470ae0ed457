"""Run-time scalars of a kernel while it is traced: numbers that are known when it is called.

A Number says that it is a Python float, int or complex, so it goes wherever one goes, and keeps how it is computed from the arguments of
a call. Whatever needs the value itself raises.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from exprten_jit.dtypes import INDEX

from ..errors import CompileError
from .expr import Expr, coerce

MAX_DEPTH = 256  # operations of a scalar, one in the other
PLAIN = (float, int, bool, complex)
_UNARY: dict[str, Callable[[Any], Any]] = {"neg": operator.neg, "pos": operator.pos, "abs": abs}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "pow": pow,
}  # fmt: skip
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
_PARTS: dict[str, Callable[[Any], Any]] = {"real": operator.attrgetter("real"), "imag": operator.attrgetter("imag")}
OPERATIONS: dict[str, Callable[..., Any]] = {**_UNARY, **_BINARY, **_COMPARE, **_PARTS}
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_SIGNS = {"neg": "-", "pos": "+"}
_UNDEFINED = {"lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^", "matmul": "@"}
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True)
class Limit:
    """What has to hold of a Number when it is called: `low <= number <= high`, or `check(value)` raises."""

    number: Number
    low: int
    high: int
    check: Callable[[Any], None]


class Number:
    """`op` of `args`, Numbers or Python numbers; of an argument of the kernel, op "argument" and its name."""

    __slots__ = ("args", "depth", "kind", "limits", "op")

    def __init__(self, kind: type, op: str, args: tuple[Any, ...], limits: list[Limit]) -> None:
        self.kind = kind
        self.op = op
        self.args = args
        self.limits = limits
        self.depth: int = 1 + max((x.depth for x in args if type(x) is Number), default=0)
        if self.depth > MAX_DEPTH:
            raise CompileError(
                f"a run-time scalar of {MAX_DEPTH} nested operations is as much as a kernel may have; compute it before the call"
            )

    @property
    def __class__(self) -> type:  # as a Python float or int, it is weak in every expression
        return self.kind

    @__class__.setter
    def __class__(self, kind: type) -> NoReturn:
        raise TypeError("a run-time scalar has the type of its argument")

    def limit(self, low: int, high: int, check: Callable[[Any], None]) -> None:
        """Ask for a range at every call; `check` raises for a value outside."""
        self.limits.append(Limit(self, low, high, check))

    def refuse(self, what: str) -> NoReturn:
        """Raise TypeError: `what` would need the value."""
        raise TypeError(
            f"{what} of {self!r}: it is a run-time scalar of a kernel, known only when the kernel is called; compute it before the "
            "call and pass it, choose element by element with xt.where, or pass a bool, a str or a tuple, which the kernel is traced for"
        )

    def __bool__(self) -> NoReturn:  # noqa: PLE0304  # it raises
        self.refuse("a decision on the value")

    def __float__(self) -> NoReturn:
        self.refuse("float() or a function of math")

    def __int__(self) -> NoReturn:
        self.refuse("int()")

    def __index__(self) -> NoReturn:  # noqa: PLE0305  # likewise
        self.refuse("an index or a count made")

    def __round__(self, ndigits: Any = None) -> NoReturn:
        self.refuse("round()")

    def __complex__(self) -> NoReturn:
        self.refuse("complex()")

    def __invert__(self) -> NoReturn:
        _refuse(f"~{self!r}", self)

    __trunc__ = __floor__ = __ceil__ = __int__
    __hash__ = object.__hash__
    __array_ufunc__ = Expr.__array_ufunc__  # NumPy's functions, and operators of its scalars, build nodes

    def __repr__(self) -> str:
        if self.op == "argument":
            return str(self.args[0])
        if self.op in SYMBOLS:
            return f"({self.args[0]!r} {SYMBOLS[self.op]} {self.args[1]!r})"
        if self.op in _SIGNS:
            return f"({_SIGNS[self.op]}{self.args[0]!r})"
        return f"{self.op}({self.args[0]!r})"


Number.__name__ = "run-time scalar"  # Python's own errors say it


def is_number(x: object) -> bool:
    """Whether x is a run-time scalar, which says otherwise itself."""
    return type(x) is Number


def formula(x: Any, known: dict[Any, int]) -> int:
    """A number that Numbers which are computed in one way have in common, of whatever trace they are. `known` are those that it has
    given.
    """
    if not is_number(x):
        return known.setdefault((type(x), repr(x)), len(known))
    if id(x) not in known:
        args = x.args if x.op == "argument" else tuple(formula(a, known) for a in x.args)
        known[id(x)] = known.setdefault((x.kind, x.op, args), len(known))
    return known[id(x)]


def _kind(op: str, args: Iterable[Any]) -> type:
    kinds = [x.__class__ for x in args]
    if op in _COMPARE:
        return bool
    if complex in kinds:
        return float if op == "abs" else complex
    return float if float in kinds or op == "truediv" else int


def parts(number: Number) -> tuple[Any, Any]:
    """The real and the imaginary part, each a run-time scalar."""
    if number.kind is not complex:
        return number, 0.0
    real, imag = (Number(float, part, (number,), number.limits) for part in _PARTS)
    return real, imag


def _operation(op: str, *args: Any) -> Any:
    number = next(x for x in args if type(x) is Number)
    whole = all(x.__class__ in (int, bool) for x in args)
    if op == "pow" and whole and not is_number(args[1]):
        kind: type = int if args[1] >= 0 else float
    else:
        kind = _kind(op, args)
    return Number(kind, op, args, number.limits)


def _known(op: str, number: Number, other: Any) -> bool | None:
    """A comparison whose answer does not depend on the value: an int fits int64."""
    if number.kind in (float, complex) or type(other) not in (int, float):
        return None
    if op in ("eq", "ne") and INDEX.smallest <= other <= INDEX.largest:
        return None
    low, high = (_COMPARE[op](end, other) for end in (INDEX.smallest, INDEX.largest))
    return low if low == high else None


def _method(op: str) -> Callable[[Number, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        if type(other) is not Number and type(other) not in PLAIN:
            return _strong(op, self, other)
        known = _known(op, self, other) if op in _COMPARE else None
        return _operation(op, self, other) if known is None else known

    return method


def _reflected(op: str) -> Callable[[Number, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        return _operation(op, other, self) if type(other) in PLAIN else _strong(op, self, other, reflected=True)

    return method


def _strong(op: str, number: Number, other: Any, reflected: bool = False) -> Any:
    """With a NumPy scalar it is an expression; whatever else answers itself."""
    if isinstance(other, Expr) or not hasattr(other, "dtype"):
        return _asked(op, number, other, reflected)
    strong = coerce(other, op)
    return OPERATIONS[op](strong, number) if reflected else OPERATIONS[op](number, strong)


def _asked(op: str, number: Number, other: Any, reflected: bool = False) -> Any:
    """What `other` answers. Raises TypeError where it does not: it was asked before where this is `reflected`."""
    if op in ("eq", "ne"):
        return NotImplemented  # Python knows
    turned = _TURNED.get(op, f"r{op}")
    answer = None if reflected else getattr(type(other), f"__{turned}__", None)
    found = NotImplemented if answer is None else answer(other, number)
    if found is NotImplemented:
        left, right = (other, number) if reflected else (number, other)
        _refuse(f"{reprlib.repr(left)} {SYMBOLS.get(op) or _UNDEFINED[op]} {reprlib.repr(right)}", number)
    return found


def _refuse(what: str, number: Number) -> NoReturn:
    raise TypeError(
        f"{what}: {number!r} is a run-time scalar of a kernel, which takes + - * / // % ** and comparisons, with numbers; compute it before "
        "the call and pass it"
    )


def _undefined(op: str, reflected: bool = False) -> Callable[[Number, Any], Any]:
    return lambda self, other: _asked(op, self, other, reflected)


def _unary(op: str) -> Callable[[Number], Any]:
    return lambda self: _operation(op, self)


for _op in (*_BINARY, *_COMPARE):
    setattr(Number, f"__{_op}__", _method(_op))
for _op in _BINARY:
    setattr(Number, f"__r{_op}__", _reflected(_op))
for _op in _UNARY:
    setattr(Number, f"__{_op}__", _unary(_op))
for _op in _UNDEFINED:
    setattr(Number, f"__{_op}__", _undefined(_op))
    setattr(Number, f"__r{_op}__", _undefined(_op, reflected=True))


def evaluate(number: Any, given: Mapping[str, Any], known: dict[int, Any]) -> Any:
    """The value of a Number where arguments have the values `given`, as Python computes it; a Python number is its own.

    Raises what Python raises, and OverflowError for an int beyond 64 bits.
    """
    if type(number) is not Number:
        return number
    if id(number) not in known:
        if number.op == "argument":
            known[id(number)] = given[number.args[0]]
        else:
            value = OPERATIONS[number.op](*(evaluate(x, given, known) for x in number.args))
            known[id(number)] = _checked(number, value)
    return known[id(number)]


def _checked(number: Number, value: Any) -> Any:
    if number.kind is int and type(value) is float:
        raise ValueError(f"{number!r} is {value!r}: an int to a negative power; write the base as a float")
    if isinstance(value, complex) and number.kind is not complex:
        raise ValueError(f"{number!r} is {value!r}, which is no real number")
    if type(value) is int and not INDEX.smallest <= value <= INDEX.largest:
        raise OverflowError(f"{number!r} is {value}, which does not fit int64")
    return value
