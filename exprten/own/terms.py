"""What a scalar function computes: a graph of operations of the table, and its value of numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from exprten_jit.derived import TABLE

from ..errors import CompileError
from ..expression.expr import MAX_NODES
from ..expression.key import COMPARE

Plain = Any  # a Python number, a bool or a NumPy scalar
PLAIN = (bool, int, float, complex, np.generic)
WEAK = (int, float, complex)  # Python numbers, which have no type of their own

COMPARISONS = frozenset(COMPARE.values())
LOGICAL = frozenset(("logical_and", "logical_or", "logical_xor", "logical_not"))
TRUTHS = COMPARISONS | LOGICAL | {"isnan", "isinf", "isfinite", "signbit"}  # their values are true or false


class Term:
    """A scalar value. Operators build simplified terms: what the `derivative` columns of the table are written with."""

    __slots__ = ()

    @property
    def args(self) -> tuple[Term, ...]:
        """What it is computed from."""
        return ()

    def __add__(self, other: Any) -> Term:
        return sum_of(self, term_of(other))

    def __radd__(self, other: Any) -> Term:
        return sum_of(term_of(other), self)

    def __sub__(self, other: Any) -> Term:
        return self if term_of(other) is ZERO else call("subtract", self, term_of(other))

    def __rsub__(self, other: Any) -> Term:
        return call("subtract", term_of(other), self)

    def __mul__(self, other: Any) -> Term:
        return product_of(self, term_of(other))

    def __rmul__(self, other: Any) -> Term:
        return product_of(term_of(other), self)

    def __truediv__(self, other: Any) -> Term:
        return ZERO if self is ZERO else call("divide", self, term_of(other))

    def __rtruediv__(self, other: Any) -> Term:
        return call("divide", term_of(other), self)

    def __neg__(self) -> Term:
        return _negative(self)

    def __lt__(self, other: Any) -> Term:
        return call("less", self, term_of(other))

    def __le__(self, other: Any) -> Term:
        return call("less_equal", self, term_of(other))

    def __gt__(self, other: Any) -> Term:
        return call("greater", self, term_of(other))

    def __ge__(self, other: Any) -> Term:
        return call("greater_equal", self, term_of(other))

    def __and__(self, other: Any) -> Term:
        return call("logical_and", self, term_of(other))


@dataclass(frozen=True, eq=False)
class Operand(Term):
    """An operand of the function, by its position."""

    index: int


@dataclass(frozen=True, eq=False)
class Number(Term):
    """A number in the function. A Python int or float has no type of its own."""

    value: Plain


@dataclass(frozen=True, eq=False)
class Call(Term):
    """An operation of the table; `at` is the file, line and column where it is written."""

    op: str
    operands: tuple[Term, ...]
    at: str

    @property
    def args(self) -> tuple[Term, ...]:
        """What it is computed from."""
        return self.operands


@dataclass(frozen=True, eq=False)
class Like(Term):
    """`value` in the type of `like`, if that is a floating one."""

    value: Term
    like: Term

    @property
    def args(self) -> tuple[Term, ...]:
        """What it is computed from."""
        return (self.value, self.like)


ZERO, ONE = Number(0), Number(1)


@dataclass(frozen=True)
class Definition:
    """An operation said with others: its parameters, the numbers that stand for those left out, and its value.

    `python`: its source computes numbers from numbers; else, or where there is none, `computed` does.
    """

    name: str
    parameters: tuple[str, ...]
    defaults: tuple[Plain, ...]
    root: Term
    python: bool

    def __post_init__(self) -> None:
        count = sum(1 for _ in walk(self.root))
        if count > MAX_NODES:
            raise CompileError(f"{self.name}: it has {count} operations, {MAX_NODES} are the most; make two of it")

    def text(self) -> str:
        """What it computes, a line an operation; neither its name nor those of its parameters matter."""
        number: dict[Term, int] = {}
        lines = []
        for term in walk(self.root):
            number[term] = len(number)
            match term:
                case Operand(index):
                    said = f"operand {index}"
                case Number(value):
                    said = f"{type(value).__name__} {value!r}"
                case Call(op):
                    said = f"{op}"
                case _:
                    said = type(term).__name__
            lines.append(" ".join((said, *(str(number[x]) for x in term.args))))
        return f"{len(self.parameters)}\n" + "\n".join(lines)


class Defined:
    """What has a definition, so that another operation can call it."""

    definition: Definition


def bind(called: Definition, operands: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """One operand for each parameter. Raises TypeError as Python does for a wrong call."""
    parameters, given = called.parameters, dict(zip(called.parameters, operands, strict=False))
    wrong = ""
    if len(operands) > len(parameters):
        wrong = f"not {len(operands)}"
    for name in named:
        if name in given or name not in parameters:
            wrong = wrong or (f"{name} is given twice" if name in given else f"none is called {name}")
    default = dict(zip(parameters[len(parameters) - len(called.defaults) :], called.defaults, strict=True))
    given = default | given | dict(named)
    missing = [name for name in parameters if name not in given]
    if missing and not wrong:
        wrong = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if wrong:
        raise TypeError(f"{called.name}: takes the operand{'s' * (len(parameters) > 1)} {signature(called)}; {wrong}")
    return tuple(given[name] for name in parameters)


def signature(called: Definition) -> str:
    """The parameters, as they are written."""
    first = len(called.parameters) - len(called.defaults)
    shown = [*called.parameters[:first]]
    shown += [f"{name}={value!r}" for name, value in zip(called.parameters[first:], called.defaults, strict=True)]
    return f"({', '.join(shown)})"


def walk(root: Term, reads: Callable[[Term], Sequence[Term]] = lambda term: term.args) -> Iterator[Term]:
    """Every term below `root` once, what it `reads` before it."""
    seen: set[Term] = set()
    stack = [root]
    while stack:
        term = stack[-1]
        missing = [] if term in seen else [t for t in reads(term) if t not in seen]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        if term not in seen:
            seen.add(term)
            yield term


def is_truth(term: Term) -> bool:
    """Whether the value is true or false, whatever the operands."""
    return (isinstance(term, Call) and term.op in TRUTHS) or (isinstance(term, Number) and isinstance(term.value, bool))


def substitute(root: Term, operands: Sequence[Term]) -> Term:
    """`root` of other operands: an operation called by another."""
    made: dict[Term, Term] = {}
    for term in walk(root):
        match term:
            case Operand(k):
                made[term] = operands[k]
            case Call(op, args, at):
                made[term] = Call(op, tuple(made[a] for a in args), at)
            case Like(value, like):
                made[term] = Like(made[value], made[like])
            case _:
                made[term] = term
    return made[root]


# Simplified terms, for derivatives.

DERIVED = "a derivative"  # where a term stands that nobody wrote


def term_of(x: Any) -> Term:
    """A number as a term."""
    if isinstance(x, Term):
        return x
    return ZERO if x == 0 else ONE if x == 1 else Number(x)


def call(op: str, *operands: Term) -> Term:
    """An operation of terms; of numbers alone the number."""
    if op == "power" and operands[1] is ONE:
        return operands[0]
    values = [t.value for t in operands if isinstance(t, Number)]
    if len(values) == len(operands) and op in _PYTHON and op != "divide":
        return term_of(of_numbers(op, *values))
    return Call(op, operands, DERIVED)


def _negative(a: Term) -> Term:
    return a if a is ZERO else call("negative", a)


def sum_of(a: Term, b: Term) -> Term:
    """a + b, without a term that is 0."""
    return b if a is ZERO else a if b is ZERO else call("add", a, b)


def product_of(a: Term, b: Term) -> Term:
    """a * b, without a factor that is 1 or -1, and 0 where one is 0."""
    if a is ZERO or b is ZERO:
        return ZERO
    if a is ONE or b is ONE:
        return b if a is ONE else a
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Number) and one.value == -1:
            return _negative(other)
    return call("multiply", a, b)


# Numbers.

_PYTHON: dict[str, Callable[..., Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow, "negative": operator.neg,
    "positive": operator.pos, "absolute": abs, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne, "logical_not": operator.not_,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "left_shift": operator.lshift, "right_shift": operator.rshift,
}  # fmt: skip


def of_numbers(op: str, *operands: Plain) -> Plain:
    """Operation `op` of numbers, by Python's operators, else by NumPy."""
    if op in _PYTHON:
        return _PYTHON[op](*operands)
    with np.errstate(all="ignore"):
        found = np.asarray(TABLE[op].reference(*operands))[()]
    return found if any(isinstance(x, np.generic) for x in operands) else found.item()


def computed(root: Term, operands: Sequence[Plain]) -> Plain:
    """The value of numbers, as Python would compute it: only what is needed, along the path that the conditions choose."""
    known: dict[Term, Plain] = {}
    stack = [root]
    while stack:
        term = stack[-1]
        needs = _needed(term, known)
        missing = [t for t in needs if t not in known]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        if term not in known:
            known[term] = _computed(term, [known[t] for t in needs], operands)
    return known[root]


_DECISIVE = {"logical_and": False, "logical_or": True}  # the first operand that leaves no question


def _needed(term: Term, known: dict[Term, Plain]) -> tuple[Term, ...]:
    match term:
        case Like(value):
            return (value,)
        case Call("where", (condition, a, b)):
            return (condition,) if condition not in known else (condition, a if known[condition] else b)
        case Call("logical_and" | "logical_or" as op, (a, b)):
            return (a,) if a not in known or bool(known[a]) is _DECISIVE[op] else (a, b)
    return term.args


def _computed(term: Term, args: list[Plain], operands: Sequence[Plain]) -> Plain:
    match term:
        case Operand(k):
            return operands[k]
        case Number(value):
            return value
        case Like():
            return float(args[0])
        case Call("where"):
            return args[1]
        case Call("logical_and" | "logical_or"):
            return bool(args[-1])
        case Call(op):
            return of_numbers(op, *args)
    raise AssertionError(f"no such term: {type(term).__name__}")
