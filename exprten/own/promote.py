"""The types inside of an operation of one's own, and its kernel IR.

NumPy's rules as between expressions. A path not taken is computed too, and left out by a `where`. A Python number inside stays
one: it takes the type of what it meets, and a choice between numbers is a number still.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from exprten_jit.derived import apply
from exprten_jit.dtypes import BOOL, DTYPES, DType, of_numpy
from exprten_jit.ir import Value
from exprten_jit.pairs import cast, constant

from ..errors import DTypeError
from ..expression.expr import POWERS, check_range
from ..expression.key import resolve_types
from .terms import COMPARISONS, WEAK, Call, Definition, Like, Number, Operand, Plain, Term, walk

Kind = Any  # np.dtype, or the class `int` or `float` for a Python number

# what a Python number is on its own
DEFAULT: dict[Kind, DType] = {int: DTYPES["int64"], float: DTYPES["float64"], complex: DTYPES["complex128"]}


@dataclass(frozen=True)
class Typed:
    """A definition over operands of given kinds: `wanted` is what the operands of each call are converted to."""

    definition: Definition
    kinds: dict[Term, Kind]
    wanted: dict[Term, tuple[DType, ...]]

    @property
    def result(self) -> DType:
        """The type of its value."""
        return _row(self.kinds[self.definition.root])

    def operand(self, k: int, given: Kind) -> DType:
        """The type in which operand `k` comes. A Python number comes in the one it is used in; of several, in one that holds it
        for all, and where an integer has to fit, in the smallest.
        """
        if not isinstance(given, type):
            return _row(given)
        uses = {
            row
            for term, rows in self.wanted.items()
            for a, row in zip(term.args, rows, strict=True)
            if isinstance(a, Operand) and a.index == k
        }
        whole = [row for row in uses if row.kind in "iu"]
        if given is int and whole:
            return min(whole, key=lambda row: (row.kind == "i" and any(w.kind == "u" for w in whole), row.largest))
        wide = DTYPES["float64"] if given is int and any(row.kind in "fc" for row in uses) else DEFAULT[given]
        return uses.pop() if len(uses) == 1 else wide

    def value(self, operands: Sequence[Value]) -> Value:
        """The kernel IR of its value."""
        made: dict[Term, Value] = {}

        def converted(term: Term, row: DType) -> Value:
            return _constant(term.value, row) if isinstance(term, Number) else cast(made[term], row)

        for term in walk(self.definition.root, lambda t: (t.value,) if isinstance(t, Like) else t.args):
            match term:
                case Operand(k):
                    made[term] = operands[k]
                case Like(value):
                    made[term] = converted(value, _row(self.kinds[term]))
                case Call(op, args):
                    made[term] = _applied(
                        op, args, [converted(a, w) for a, w in zip(args, self.wanted[term], strict=True)]
                    )
        return converted(self.definition.root, self.result)


def typed(definition: Definition, given: Sequence[Kind]) -> Typed:
    """Raises DTypeError where an operation inside has no such types, and OverflowError for a number that does not fit one."""
    kinds: dict[Term, Kind] = {}
    wanted: dict[Term, tuple[DType, ...]] = {}
    for term in walk(definition.root):
        match term:
            case Operand(k):
                kinds[term] = given[k]
            case Number(value):
                kinds[term] = _kind(value)
            case Like(value, like):
                kinds[term] = kinds[like if _row(kinds[like]).kind in "fc" else value]
            case Call(args=args):
                try:
                    wanted[term], kinds[term] = _call_types(term, [kinds[a] for a in args])
                except (DTypeError, OverflowError, ValueError) as error:
                    raise type(error)(f"{definition.name}: {term.at}: {error}") from None
    return Typed(definition, kinds, wanted)


def _kind(value: Plain) -> Kind:
    return value.__class__ if value.__class__ in WEAK else np.dtype(value.__class__)


def _row(kind: Kind) -> DType:
    row = DEFAULT[kind] if isinstance(kind, type) else of_numpy(kind)
    assert row is not None, f"{kind} is one of exprten's types"
    return row


def _call_types(term: Call, given: list[Kind]) -> tuple[tuple[DType, ...], Kind]:
    """What the operands are converted to, and the kind of the value."""
    weak = all(isinstance(k, type) for k in (given[1:] if term.op == "where" else given))
    if term.op in COMPARISONS:
        given = _comparable(term.args, given)
    if term.op == "power":
        given = _powers(term.args, given, weak)
    if weak:
        given = [DEFAULT[k].numpy if isinstance(k, type) else k for k in given]
    *rows, result = resolve_types(term.op, given)
    for a, row in zip(term.args, rows, strict=True):
        if isinstance(a, Number) and a.value.__class__ is not bool and isinstance(a.value, int):
            check_range(a.value, row, term.op)
    if not weak or result is BOOL:
        return tuple(rows), result.numpy
    return tuple(rows), {"f": float, "c": complex}.get(result.kind, int)


def _comparable(args: Sequence[Term], given: list[Kind]) -> list[Kind]:
    """A comparison of integers has an answer for every int: one that need not fit the type is compared as int64, or float64."""
    rows = [row for k in given if not isinstance(k, type) and (row := _row(k)).kind in "iu"]
    out = []
    for a, kind in zip(args, given, strict=True):
        whole = kind is int and bool(rows)
        fits = whole and isinstance(a, Number) and all(row.smallest <= a.value <= row.largest for row in rows)
        if not whole or fits:
            out.append(kind)
        else:
            wide = isinstance(a, Number) and not -(2**63) <= a.value < 2**63
            out.append(np.dtype(np.float64 if wide else np.int64))
    return out


def _powers(args: Sequence[Term], given: list[Kind], weak: bool) -> list[Kind]:
    """The kinds of a power's operands. Raises ValueError for integers to a negative number."""
    base, exponent = given
    n = args[1].value if isinstance(args[1], Number) and exponent is int else 0
    if n >= 0 or base in (float, complex) or (not isinstance(base, type) and base.kind in "fc"):
        return given
    if weak:
        return [np.dtype(np.float64), int]  # 2 ** -1 is 0.5
    raise ValueError(f"power: integers to the power {n} are no integers; convert with xt.cast(x, xt.float64) first")


def _constant(value: Plain, row: DType) -> Value:
    with np.errstate(over="ignore"):
        narrow = row.python(row.numpy.type(value))
    return constant(narrow if row.part or narrow in (np.inf, -np.inf) else row.python(value), row)


def _applied(op: str, args: Sequence[Term], operands: Sequence[Value]) -> Value:
    exponent = args[1] if op == "power" else None
    if isinstance(exponent, Number) and exponent.value.__class__ in WEAK and exponent.value in POWERS:
        return apply(POWERS[exponent.value], operands[0])
    return apply(op, *operands)
