"""Primitive scalar operations: one row an operation, all of its columns side by side.

A *primitive* is what a machine does in an instruction or a call. Everything that can be said with primitives is a row of
`derived` instead and needs no column for any backend. Operands have been converted to the types that `resolve` gives before
an operation is built, so a column depends only on the *kind* of the first operand.

Columns:
    name, arity   NumPy's name
    reference     the NumPy function whose result is right
    resolve       operand types -> operand types to convert to, then the result's; default: `reference`'s own loops (NEP 50)
    llvm          kind -> an instruction (`strict`: without flags), `@llvm.…` (an intrinsic, overloaded on the type) or `%…` (a helper,
                  called lane by lane)
    cuda          kind -> C text of the value with {0} {1} {2} for the operands, {T} for its type and {U} for the unsigned type that
                  integers are computed in, {N} for the last number of an entry of a table
    derivative    (o, *operands) -> one partial derivative an operand; `o` is any namespace with NumPy's names; None: not
                  differentiable there
    domain        an interval for each operand, for tests and for error texts
    rounds        whether the result may lie between two numbers of the operands' type, and is rounded to one
    cost          in additions; what hoisting and recomputation are weighed by
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np

from .dtypes import of_numpy

Types = Sequence[Any]  # np.dtype, or the classes int and float for a weak Python scalar
Resolve = Callable[[Types], tuple[np.dtype[Any], ...]]
Derivative = Callable[..., tuple[Any, ...]]  # over any namespace with NumPy's names, so over any kind of value


class Domain(NamedTuple):
    """Where an operand may lie: between `low` and `high`, zero or not."""

    low: float = -inf
    high: float = inf
    zero: bool = True


REAL = Domain()
NONZERO = Domain(zero=False)
POSITIVE = Domain(low=0.0, zero=False)
NONNEGATIVE = Domain(low=0.0)
SHIFT = Domain(low=0.0, high=7.0)


@dataclass(frozen=True)
class Row:
    """What every operation has, primitive or derived."""

    name: str
    arity: int
    reference: Callable[..., Any]
    derivative: Derivative | None = None
    domain: tuple[Domain, ...] = ()
    cost: int = 1
    resolve: Resolve | None = None

    def __post_init__(self) -> None:
        if not self.domain:
            object.__setattr__(self, "domain", (REAL,) * self.arity)
        if self.resolve is None:
            object.__setattr__(self, "resolve", loops_of(self.reference))
        if len(self.domain) != self.arity:
            raise ValueError(f"operation {self.name}: {len(self.domain)} domains for {self.arity} operands")


@dataclass(frozen=True)
class Primitive(Row):
    """A row that backends know."""

    llvm: Mapping[str, str] = field(default_factory=dict)
    cuda: Mapping[str, str] = field(default_factory=dict)
    rounds: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.llvm) != set(self.cuda):
            raise ValueError(f"operation {self.name}: llvm knows {sorted(self.llvm)}, cuda knows {sorted(self.cuda)}")


def loops_of(reference: Callable[..., Any]) -> Resolve:
    if not isinstance(reference, np.ufunc):
        raise ValueError(f"{reference} is no ufunc: the row needs a `resolve` of its own")

    def resolve(types: Types) -> tuple[np.dtype[Any], ...]:
        return reference.resolve_dtypes((*types, None))

    return resolve


def resolved(resolve: Resolve, types: Types) -> tuple[np.dtype[Any], ...]:
    """What `resolve` gives for operand types, of which one may be none of NumPy's: it has the loops of the type it is like, and
    integers beside it take its type, as Python's do (the lattice of JAX). Raises TypeError beside the type itself that it is like.
    """
    rows = [of_numpy(t) if isinstance(t, np.dtype) else None for t in types]
    own = next((row for row in rows if row is not None and row.like), None)
    if own is None:
        return resolve(types)
    like = np.dtype(own.like)
    if any(t == like for t in types if isinstance(t, np.dtype)):
        raise TypeError(f"{own} and {like} have no common type")
    whole = [row is not None and row.kind in "iu" for row in rows]
    wanted = resolve([like if row is own else int if n else t for t, row, n in zip(types, rows, whole, strict=True)])
    return tuple(own.numpy if t == like else t for t in wanted)


def promoted(types: Types) -> np.dtype[Any]:
    """NumPy's common type of all operands, Python scalars weak."""
    common = types[0]
    for other in types[1:]:
        common = np.maximum.resolve_dtypes((common, other, None))[-1]
    return common if isinstance(common, np.dtype) else np.dtype(common)


def _select_types(types: Types) -> tuple[np.dtype[Any], ...]:
    common = promoted(types[1:])
    return np.dtype(bool), common, common, common


def common_types(types: Types) -> tuple[np.dtype[Any], ...]:
    """Every operand and the result in the common type."""
    return (promoted(types),) * (len(types) + 1)


def _kinds(kinds: str, text: str) -> dict[str, str]:
    return dict.fromkeys(kinds, text)


def _compare(name: str, reference: np.ufunc, f: str, i: str, u: str, c: str) -> Primitive:
    return Primitive(
        name, 2, reference,
        llvm={"f": f"fcmp {f}", "i": f"icmp {i}", "u": f"icmp {u}", "b": f"icmp {u}"},
        cuda=_kinds("fiub", f"({{0}} {c} {{1}})"),
    )  # fmt: skip


def _rounding(name: str, reference: np.ufunc, intrinsic: str, c: str) -> Primitive:
    return Primitive(
        name, 1, reference, lambda o, a: (0 * a,),
        llvm={"f": f"@llvm.{intrinsic}"}, cuda={"f": f"{c}({{0}})"},
    )  # fmt: skip


def _reference_select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)


def _quotient(a: Any, b: Any) -> Any:
    """Integer division towards zero."""
    return ((abs(int(a)) // abs(int(b))) * (1 if (a < 0) == (b < 0) else -1)) if b else 0


def _maximum(a: Any, b: Any) -> Any:
    """np.maximum, with +0 above -0."""
    zeros = (a == 0) & (b == 0)
    return np.where(zeros & np.signbit(a), b, np.where(zeros, a, np.maximum(a, b)))


def _minimum(a: Any, b: Any) -> Any:
    """np.minimum, with -0 below +0."""
    zeros = (a == 0) & (b == 0)
    return np.where(zeros & np.signbit(a), a, np.where(zeros, b, np.minimum(a, b)))


def _ipow(a: Any, b: Any) -> Any:
    """np.power of integers, with 0 for negative powers."""
    x, y = np.atleast_1d(a), np.atleast_1d(b)
    powers = np.where(y < 0, 0, np.power(x, np.maximum(y, 0)))
    return powers.reshape(np.broadcast_shapes(np.shape(a), np.shape(b)))


def _wide_shift(types: Types) -> tuple[np.dtype[Any], ...]:
    return np.left_shift.resolve_dtypes((*types, None))


def _fma_once(a: Any, b: Any, c: Any) -> Any:
    """a * b + c of scalars, rounded once."""
    if not (np.isfinite(a) and np.isfinite(b)) or not np.isfinite(c):
        return c if np.isfinite(a) and np.isfinite(b) else a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return a * b + c  # nothing is rounded; a zero with its sign
    try:
        near = float(exact)
    except OverflowError:
        return inf if exact > 0 else -inf
    wrong = exact - Fraction(near)
    if a.itemsize == 8 or not wrong or struct.unpack("<q", struct.pack("<d", near))[0] & 1:
        return near
    return math.nextafter(near, inf if wrong > 0 else -inf)  # odd: rounding to float32 then sees on which side it lies


def _fma(a: Any, b: Any, c: Any) -> Any:
    return np.vectorize(_fma_once, otypes=[np.result_type(a)])(a, b, c)


def _lookup(k: Any, table: Any) -> Any:
    return table[k & (len(table) - 1)]


def _scale(a: Any, k: Any) -> Any:
    return np.ldexp(a, np.where(np.isfinite(k), k, 0).astype(np.int64))


# fmt: off
PRIMITIVES: tuple[Primitive, ...] = (
    # arithmetic; on bool, addition is `or` and multiplication is `and`, as in NumPy
    Primitive("add", 2, np.add, lambda o, a, b: (1, 1), rounds=True,
              llvm={"f": "fadd", "i": "add", "u": "add", "b": "or"},
              cuda={"f": "({0} + {1})", **_kinds("iu", "({T})(({U}){0} + ({U}){1})"), "b": "({0} | {1})"}),
    Primitive("subtract", 2, np.subtract, lambda o, a, b: (1, -1), rounds=True,
              llvm={"f": "fsub", "i": "sub", "u": "sub"}, cuda={"f": "({0} - {1})", **_kinds("iu", "({T})(({U}){0} - ({U}){1})")}),
    Primitive("multiply", 2, np.multiply, lambda o, a, b: (b, a), rounds=True,
              llvm={"f": "fmul", "i": "mul", "u": "mul", "b": "and"},
              cuda={"f": "({0} * {1})", **_kinds("iu", "({T})(({U}){0} * ({U}){1})"), "b": "({0} & {1})"}),
    # the same, and never part of an fma that is not written: what formulas are made of, whatever fast_math permits
    Primitive("times", 2, np.multiply, rounds=True, llvm={"f": "strict fmul"}, cuda={"f": "xt_times({0}, {1})"}),
    Primitive("divide", 2, np.divide, lambda o, a, b: (1 / b, -a / (b * b)), (REAL, NONZERO), cost=4, rounds=True,
              llvm={"f": "fdiv"}, cuda={"f": "({0} / {1})"}),
    Primitive("quotient", 2, _quotient, None, (REAL, NONZERO), cost=8, resolve=common_types,
              llvm={"i": "sdiv", "u": "udiv"}, cuda=_kinds("iu", "({T})({0} / {1})")),
    Primitive("fmod", 2, np.fmod, lambda o, a, b: (1, -o.trunc(a / b)), (REAL, NONZERO), cost=20,
              llvm={"f": "frem"}, cuda={"f": "fmod({0}, {1})"}),
    Primitive("negative", 1, np.negative, lambda o, a: (-1,),
              llvm={"f": "fneg"}, cuda={"f": "(-{0})"}),
    Primitive("fabs", 1, np.fabs, lambda o, a: (o.sign(a),), (NONZERO,),
              llvm={"f": "@llvm.fabs"}, cuda={"f": "fabs({0})"}),
    Primitive("sqrt", 1, np.sqrt, lambda o, a: (0.5 / o.sqrt(a),), (POSITIVE,), cost=6, rounds=True,
              llvm={"f": "@llvm.sqrt"}, cuda={"f": "sqrt({0})"}),
    Primitive("copysign", 2, np.copysign, lambda o, a, b: (o.sign(a) * o.sign(b), 0 * b), (NONZERO, NONZERO),
              llvm={"f": "@llvm.copysign"}, cuda={"f": "copysign({0}, {1})"}),
    # NaN wins, +0 > -0
    Primitive("maximum", 2, _maximum, lambda o, a, b: (a >= b, a < b), resolve=loops_of(np.maximum),
              llvm={"f": "@llvm.maximum", "i": "@llvm.smax", "u": "@llvm.umax", "b": "or"},
              cuda={"f": "xt_maximum({0}, {1})", **_kinds("iu", "({0} > {1} ? {0} : {1})"), "b": "({0} | {1})"}),
    Primitive("minimum", 2, _minimum, lambda o, a, b: (a <= b, a > b), resolve=loops_of(np.minimum),
              llvm={"f": "@llvm.minimum", "i": "@llvm.smin", "u": "@llvm.umin", "b": "and"},
              cuda={"f": "xt_minimum({0}, {1})", **_kinds("iu", "({0} < {1} ? {0} : {1})"), "b": "({0} & {1})"}),
    _rounding("floor", np.floor, "floor", "floor"),
    _rounding("ceil", np.ceil, "ceil", "ceil"),
    _rounding("trunc", np.trunc, "trunc", "trunc"),
    _rounding("rint", np.rint, "roundeven", "rint"),
    # comparison
    _compare("less", np.less, "olt", "slt", "ult", "<"),
    _compare("less_equal", np.less_equal, "ole", "sle", "ule", "<="),
    _compare("greater", np.greater, "ogt", "sgt", "ugt", ">"),
    _compare("greater_equal", np.greater_equal, "oge", "sge", "uge", ">="),
    _compare("equal", np.equal, "oeq", "eq", "eq", "=="),
    _compare("not_equal", np.not_equal, "une", "ne", "ne", "!="),
    # bits
    Primitive("bitwise_and", 2, np.bitwise_and, llvm=_kinds("iub", "and"), cuda={**_kinds("iu", "({T})({0} & {1})"), "b": "({0} & {1})"}),
    Primitive("bitwise_or", 2, np.bitwise_or, llvm=_kinds("iub", "or"), cuda={**_kinds("iu", "({T})({0} | {1})"), "b": "({0} | {1})"}),
    Primitive("bitwise_xor", 2, np.bitwise_xor, llvm=_kinds("iub", "xor"), cuda={**_kinds("iu", "({T})({0} ^ {1})"), "b": "({0} != {1})"}),
    # a shift by less than the width; `derived` has NumPy's, for every count
    Primitive("shift_left", 2, np.left_shift, None, (REAL, SHIFT), resolve=_wide_shift,
              llvm=_kinds("iu", "shl"), cuda=_kinds("iu", "({T})(({U}){0} << {1})")),
    Primitive("shift_right", 2, np.right_shift, None, (REAL, SHIFT), resolve=_wide_shift,
              llvm={"i": "ashr", "u": "lshr"}, cuda=_kinds("iu", "({T})({0} >> {1})")),
    Primitive("fma", 3, _fma, resolve=common_types, rounds=True,
              llvm={"f": "@llvm.fma"}, cuda={"f": "fma({0}, {1}, {2})"}),
    # a * 2**k, rounded once, for an a between 2**-40 and 2**40 and a whole k of at most twice the largest exponent; NaN where both are
    Primitive("scale", 2, _scale, None, (Domain(0.25, 4.0), Domain(-150.0, 150.0)), cost=2, resolve=common_types,
              llvm={"f": "%scale"}, cuda={"f": "ldexp({0}, (int){1})"}),
    # a * 2**n, rounded once, for every float and every integer
    Primitive("times_power", 2, np.ldexp, None, (REAL, Domain(-150.0, 150.0)), cost=4,
              llvm={"f": "%scale"}, cuda={"f": "ldexp({0}, {1} > 4000 ? 4000 : {1} < -4000 ? -4000 : (int){1})"}),
    Primitive("where", 3, _reference_select, lambda o, c, a, b: (0, o.where(c, 1, 0), o.where(c, 0, 1)),
              resolve=_select_types,
              llvm={"b": "select"}, cuda={"b": "({0} ? {1} : {2})"}),
    # the same, where the second operand is computed only if some lane asks for it: for what hardly ever is
    Primitive("rarely", 3, _reference_select, resolve=_select_types, llvm={"b": "branch"}, cuda={"b": "({0} ? {1} : {2})"}),
    # the entry of a Table whose number the last bits of an integer are
    Primitive("lookup", 2, _lookup, resolve=common_types, cost=2, llvm={"i": "table"}, cuda={"i": "{1}[{0} & {N}]"}),
    # called lane by lane
    Primitive("ipow", 2, _ipow, None, (POSITIVE, Domain(-8.0, 8.0)), cost=40, resolve=common_types,
              llvm=_kinds("iu", "%ipow"), cuda=_kinds("iu", "xt_ipow({0}, {1})")),
    Primitive("euclid", 2, np.gcd, cost=60, llvm={"u": "%euclid"}, cuda={"u": "xt_euclid({0}, {1})"}),
    # how many bits are set, in the type of the operand
    Primitive("popcount", 1, np.bitwise_count, cost=2, resolve=common_types, llvm={"u": "@llvm.ctpop"}, cuda={"u": "({T})xt_popcount(({U}){0})"}),
)
# fmt: on

PRIMITIVE: dict[str, Primitive] = {row.name: row for row in PRIMITIVES}

# Conversions: (from kind, to kind) -> an instruction or intrinsic. `widen` and `narrow` stand for the pair that the two widths
# decide. To bool is a comparison with zero. Float to integer truncates, saturates, and takes NaN to 0.
CASTS: dict[tuple[str, str], str] = {
    ("b", "u"): "zext", ("b", "i"): "zext", ("b", "f"): "uitofp",
    ("u", "u"): "resize zext", ("u", "i"): "resize zext", ("u", "f"): "uitofp",
    ("i", "i"): "resize sext", ("i", "u"): "resize sext", ("i", "f"): "sitofp",
    ("f", "f"): "resize fpext", ("f", "i"): "@llvm.fptosi.sat", ("f", "u"): "@llvm.fptoui.sat",
    ("f", "b"): "fcmp une", ("i", "b"): "icmp ne", ("u", "b"): "icmp ne",
}  # fmt: skip
