"""Operations said with other operations: one row each, and nothing more for any backend.

`expand` is a Python function over kernel IR, written once: every backend and the interpreter see only the primitives it uses.
It gets operands that are already of the types `resolve` asks for.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import references
from .dtypes import BOOL, DType
from .ir import Value, const, op
from .ops import (
    NONZERO,
    POSITIVE,
    PRIMITIVE,
    PRIMITIVES,
    REAL,
    SHIFT,
    Domain,
    Row,
    Types,
    common_types,
    loops_of,
    promoted,
)
from .pairs import Pair, cast
from .vmath import analytic, exp, hyperbolic, inverse, kahan, log, paired, quick, special, trig
from .vmath import bits as representation
from .vmath import power as powers
from .vmath.terms import formula, of_format, rounded_once


@dataclass(frozen=True)
class Derived(Row):
    """A row that `expand` turns into primitives, or where `FAST` is set and there is one, `fast`: within 4 units of the last place."""

    expand: Callable[..., Value] | None = None
    fast: Callable[..., Value] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.expand is None:
            raise ValueError(f"operation {self.name}: a derived row needs `expand`")


FAST: ContextVar[bool] = ContextVar("exprten_fast", default=False)


@contextlib.contextmanager
def tier(fast: bool) -> Iterator[None]:
    """Inside, `apply` takes the fast column of a row where there is one."""
    token = FAST.set(fast)
    try:
        yield
    finally:
        FAST.reset(token)


class OwnName(str):
    """The name of an operation of somebody's own: it reads like any other, and equals none but itself. `definition` gives what it
    is, as a text that is the same in every process.
    """

    __slots__ = ("definition",)

    definition: Callable[[], str]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)


def row_of(name: str) -> Row:
    """The row of an operation, of the table or of somebody's own."""
    return OWN[name] if isinstance(name, OwnName) else TABLE[name]


def apply(name: str, *args: Value, to: DType | None = None) -> Value:
    """Operation `name` on operands of its own types; `to` is the result's type where it is not the last operand's."""
    if name in OF_PAIRS and any(isinstance(a, Pair) for a in args):
        return OF_PAIRS[name](*args)
    row = row_of(name)
    if isinstance(row, Derived):
        expand = row.fast if row.fast and FAST.get() else row.expand
        assert expand is not None
        return expand(*args)
    if (
        args[0].dtype.kind not in PRIMITIVE[name].llvm
    ):  # NumPy has loops that change nothing, and that are another operation's
        return _BY_KIND[name, args[0].dtype.kind](*args)
    if name in _COMPARISONS and args[0].dtype is not args[1].dtype:
        return _of_both_signs(name, *args)
    return op(name, args, to or (BOOL if name in _COMPARISONS else args[-1].dtype))


OF_PAIRS = paired.TABLE | analytic.TABLE | kahan.TABLE  # what an operation is of complex operands
# Rows whose `expand` is right of complex operands too, because it is made of operations that are.
_COMPOSED = frozenset(
    ("identity", "positive", "cube", "clip", "logical_and", "logical_or", "logical_xor", "logical_not")
)


def takes_complex(name: str) -> bool:
    """Whether an operation is defined for complex numbers."""
    return isinstance(name, OwnName) or name in _COMPOSED or name in OF_PAIRS


# comparisons, and what they are of a negative number and one that is not
_COMPARISONS = {
    "less": True, "less_equal": True, "greater": False, "greater_equal": False, "equal": False, "not_equal": True,
}  # fmt: skip


def _of_both_signs(name: str, a: Value, b: Value) -> Value:
    """A comparison of int64 and uint64, which have no common type: by value, as NumPy's."""
    signed, unsigned = (a, b.dtype) if a.dtype.kind == "i" else (b, a.dtype)
    negative, below = apply("less", signed, _number(0, signed)), _COMPARISONS[name]
    first = below if signed is a or name in ("equal", "not_equal") else not below
    return _where(negative, const(first, BOOL), apply(name, cast(a, unsigned), cast(b, unsigned)))


def _number(value: float, like: Value) -> Value:
    return const(like.dtype.python(value), like.dtype)


def _same(a: Value, *_: Value) -> Value:
    return a


def _truth(a: Value) -> Value:
    return cast(a, BOOL)


def _not(a: Value) -> Value:
    return op("bitwise_xor", (_truth(a), const(True, BOOL)), BOOL)


def _where(condition: Value, a: Value, b: Value) -> Value:
    return op("where", (condition, a, b), a.dtype)


def _absolute(a: Value) -> Value:
    if a.dtype.kind == "f":
        return op("fabs", (a,), a.dtype)
    if a.dtype.kind == "i":
        return _where(apply("less", a, _number(0, a)), apply("negative", a), a)
    return a


def _sign(a: Value) -> Value:
    zero, one = _number(0, a), _number(1, a)
    up = _where(apply("greater", a, zero), one, zero)
    if a.dtype.kind == "u":
        return up
    signed = _where(apply("less", a, zero), apply("negative", one), up)
    return signed if a.dtype.kind == "i" else _where(apply("equal", a, a), signed, a)  # NaN stays


def _safe_quotient(a: Value, b: Value) -> tuple[Value, Value]:
    """(a / b towards zero, where it is 0 instead): `sdiv` traps on b = 0 and on the smallest integer / -1."""
    undefined = apply("equal", b, _number(0, b))
    divisor = _where(undefined, _number(1, b), b)
    if a.dtype.kind == "u":
        return op("quotient", (a, divisor), a.dtype), undefined
    minus = apply("equal", b, _number(-1, b))
    q = op("quotient", (a, _where(minus, _number(1, b), divisor)), a.dtype)
    return _where(minus, apply("negative", a), q), undefined


def _floor_divide(a: Value, b: Value) -> Value:
    if a.dtype.kind == "f":
        return _float_divmod(a, b)[0]
    q, undefined = _safe_quotient(a, b)
    if a.dtype.kind == "i":
        r = apply("subtract", a, apply("multiply", q, b))
        down = apply("logical_and", apply("not_equal", r, _number(0, a)), _opposite(r, b))
        q = apply("subtract", q, cast(down, a.dtype))
    return _where(undefined, _number(0, a), q)


def _remainder(a: Value, b: Value) -> Value:
    if a.dtype.kind == "f":
        return _float_divmod(a, b)[1]
    r = _fmod(a, b)
    if a.dtype.kind == "u":
        return r
    wrong = apply("logical_and", apply("not_equal", r, _number(0, a)), _opposite(r, b))
    return _where(wrong, apply("add", r, b), r)


def _fmod(a: Value, b: Value) -> Value:
    q, undefined = _safe_quotient(a, b)
    return _where(undefined, _number(0, a), apply("subtract", a, apply("multiply", q, b)))


def _opposite(a: Value, b: Value) -> Value:
    return apply("not_equal", apply("less", a, _number(0, a)), apply("less", b, _number(0, b)))


def _float_divmod(a: Value, b: Value) -> tuple[Value, Value]:
    """NumPy's npy_divmod: the remainder is exact, the quotient is the nearest whole number to (a - remainder) / b."""
    zero, one = _number(0, a), _number(1, a)
    exact = op("fmod", (a, b), a.dtype)
    division = apply("divide", a, b)
    by_zero = apply("equal", b, zero)
    whole = apply("equal", exact, zero)  # false for NaN
    fix = apply("logical_and", _not(whole), _opposite(exact, b))
    remainder = _where(whole, apply("copysign", zero, b), _where(fix, apply("add", exact, b), exact))
    near = apply("divide", apply("subtract", a, exact), b)
    near = _where(fix, apply("subtract", near, one), near)
    down = op("floor", (near,), a.dtype)
    far = apply("greater", apply("subtract", near, down), const(0.5, a.dtype))
    quotient = _where(
        apply("equal", near, zero), apply("copysign", zero, division), _where(far, apply("add", down, one), down)
    )
    return _where(by_zero, division, quotient), _where(by_zero, exact, remainder)


def _shift(name: str) -> Callable[[Value, Value], Value]:
    def expand(a: Value, count: Value) -> Value:
        last = _number(a.dtype.bits - 1, a)
        inside = apply("logical_and", apply("greater_equal", count, _number(0, a)), apply("less_equal", count, last))
        if a.dtype.kind == "i" and name == "shift_right":  # the sign fills everything
            return op(name, (a, _where(inside, count, last)), a.dtype)
        return _where(inside, op(name, (a, _where(inside, count, last)), a.dtype), _number(0, a))

    return expand


def _reciprocal(a: Value) -> Value:
    return apply("divide", _number(1, a), a) if a.dtype.kind == "f" else _toward_zero(_number(1, a), a)


def _toward_zero(a: Value, b: Value) -> Value:
    q, undefined = _safe_quotient(a, b)
    return _where(undefined, _number(0, a), q)


def _is(test: Callable[[Value], Value], otherwise: bool) -> Callable[[Value], Value]:
    """A test of floats that has one answer for every integer and bool."""

    def expand(a: Value) -> Value:
        return test(a) if a.dtype.kind == "f" else const(otherwise, BOOL)

    return expand


def _isinf(a: Value) -> Value:
    return apply("equal", _absolute(a), const(float("inf"), a.dtype))


def _isfinite(a: Value) -> Value:
    return apply("less", _absolute(a), const(float("inf"), a.dtype))


def _isnan(a: Value) -> Value:
    return apply("not_equal", a, a)


def _signbit(a: Value) -> Value:
    if a.dtype.kind != "f":
        return apply("less", a, _number(0, a)) if a.dtype.kind == "i" else const(False, BOOL)
    return apply("less", apply("copysign", const(1.0, a.dtype), a), const(0.0, a.dtype))


def _quiet(name: str) -> Callable[[Value, Value], Value]:
    """The maximum or minimum that ignores a NaN beside a number."""

    def expand(a: Value, b: Value) -> Value:
        chosen = apply(name, a, b)
        return chosen if a.dtype.kind != "f" else _where(_isnan(a), b, _where(_isnan(b), a, chosen))

    return expand


def _clip(a: Value, low: Value, high: Value) -> Value:
    return apply("minimum", apply("maximum", a, low), high)


def _cube(a: Value) -> Value:
    return apply("multiply", apply("multiply", a, a), a)


def _power(a: Value, b: Value) -> Value:
    return formula(powers.power)(a, b) if a.dtype.kind == "f" else op("ipow", (a, b), a.dtype)


def _power_partials(o: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """0 by `a` where b is 0, and by `b` where the power is 0: there the other factor is infinite where a is 0."""
    return o.where(o.equal(b, 0), 0, b * o.power(a, b - 1)), o.xlogy(o.power(a, b), a)


def _reference_power(a: Any, b: Any) -> Any:
    """np.power of arrays (a NumPy scalar as exponent takes another route), with 0 for integers to a negative power."""
    x, y = np.atleast_1d(a), np.atleast_1d(b)
    powers_ = np.power(x, y) if x.dtype.kind == "f" else np.where(y < 0, 0, np.power(x, np.maximum(y, 0)))
    return powers_.reshape(np.broadcast_shapes(np.shape(a), np.shape(b)))


def _part_types(types: Types) -> tuple[np.dtype[Any], ...]:
    whole = promoted(types)
    return whole, np.zeros(0, whole).real.dtype


def _angle_types(types: Types) -> tuple[np.dtype[Any], ...]:
    whole, part = _part_types(types)
    *_, result = np.arctan2.resolve_dtypes((part, part, None))
    if whole.kind == "b":  # NumPy's angle sets an int64 beside it
        result = np.dtype(np.float64)
    return (whole if whole.kind == "c" else result), result


def _predicate_types(types: Types) -> tuple[np.dtype[Any], ...]:
    return (*(promoted((t,)) for t in types), np.dtype(bool))


def _reference_clip(a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


def _cube_reference(a: Any) -> Any:
    return a * a * a


def _reference_identity(a: Any) -> Any:
    return np.array(a)


# fmt: off
DERIVED: tuple[Derived, ...] = (
    Derived("identity", 1, _reference_identity, lambda o, a: (1,), cost=0, resolve=common_types, expand=_same),
    Derived("ones_like", 1, np.ones_like, lambda o, a: (0 * a,), resolve=common_types, expand=lambda a: _number(1, a)),
    Derived("positive", 1, np.positive, lambda o, a: (1,), cost=0, expand=_same),
    Derived("absolute", 1, np.absolute, lambda o, a: (o.sign(a),), (NONZERO,), expand=_absolute),
    Derived("sign", 1, np.sign, lambda o, a: (0 * a,), (NONZERO,), cost=4, expand=_sign),
    Derived("square", 1, np.square, lambda o, a: (2 * a,), expand=lambda a: apply("multiply", a, a)),
    Derived("cube", 1, _cube_reference, lambda o, a: (3 * a * a,), resolve=common_types, expand=rounded_once(_cube)),
    Derived("reciprocal", 1, np.reciprocal, lambda o, a: (-1 / (a * a),), (NONZERO,), cost=4, expand=_reciprocal),
    Derived("conjugate", 1, np.conjugate, lambda o, a: (1,), cost=0, expand=_same),
    Derived("real", 1, np.real, lambda o, a: (1,), cost=0, resolve=_part_types, expand=_same),
    Derived("imag", 1, np.imag, lambda o, a: (0 * a,), cost=0, resolve=_part_types, expand=lambda a: _number(0, a)),
    Derived("angle", 1, np.angle, lambda o, a: (0 * a,), (NONZERO,), cost=70, resolve=_angle_types,
            expand=lambda a: apply("arctan2", _number(0, a), a)),
    Derived("floor_divide", 2, np.floor_divide, lambda o, a, b: (0 * a, 0 * b), (REAL, NONZERO), cost=30, expand=rounded_once(_floor_divide)),
    Derived("remainder", 2, np.remainder, lambda o, a, b: (1, -o.floor(a / b)), (REAL, NONZERO), cost=30, expand=rounded_once(_remainder)),
    Derived("left_shift", 2, np.left_shift, None, (REAL, SHIFT), expand=_shift("shift_left")),
    Derived("right_shift", 2, np.right_shift, None, (REAL, SHIFT), expand=_shift("shift_right")),
    Derived("invert", 1, np.invert,
            expand=lambda a: op("bitwise_xor", (a, const(True, BOOL) if a.dtype is BOOL else _ones(a)), a.dtype)),
    Derived("logical_and", 2, np.logical_and, expand=lambda a, b: op("bitwise_and", (_truth(a), _truth(b)), BOOL)),
    Derived("logical_or", 2, np.logical_or, expand=lambda a, b: op("bitwise_or", (_truth(a), _truth(b)), BOOL)),
    Derived("logical_xor", 2, np.logical_xor, expand=lambda a, b: op("bitwise_xor", (_truth(a), _truth(b)), BOOL)),
    Derived("logical_not", 1, np.logical_not, expand=_not),
    Derived("isnan", 1, np.isnan, resolve=_predicate_types, expand=_is(_isnan, otherwise=False)),
    Derived("isinf", 1, np.isinf, resolve=_predicate_types, expand=_is(_isinf, otherwise=False)),
    Derived("isfinite", 1, np.isfinite, resolve=_predicate_types, expand=_is(_isfinite, otherwise=True)),
    Derived("signbit", 1, np.signbit, resolve=_predicate_types, expand=_signbit),
    Derived("fmax", 2, np.fmax, lambda o, a, b: (a >= b, a < b), cost=3, expand=_quiet("maximum")),
    Derived("fmin", 2, np.fmin, lambda o, a, b: (a <= b, a > b), cost=3, expand=_quiet("minimum")),
    Derived("clip", 3, _reference_clip,
            lambda o, a, low, high: ((low <= a) & (a <= high), (a < low) & (low <= high), (o.maximum(a, low) > high)),
            cost=2, resolve=common_types, expand=_clip),
    Derived("exp", 1, np.exp, lambda o, a: (o.exp(a),), (Domain(-80.0, 80.0),), cost=20, expand=formula(exp.exp), fast=formula(exp.fast_exp)),
    Derived("exp2", 1, np.exp2, lambda o, a: (math.log(2) * o.exp2(a),), (Domain(-80.0, 80.0),), cost=20, expand=formula(exp.exp2)),
    Derived("expm1", 1, np.expm1, lambda o, a: (o.exp(a),), (Domain(-80.0, 80.0),), cost=24, expand=formula(exp.expm1), fast=formula(quick.expm1)),
    Derived("log", 1, np.log, lambda o, a: (1 / a,), (POSITIVE,), cost=25, expand=formula(log.log), fast=formula(quick.log)),
    Derived("log2", 1, np.log2, lambda o, a: (1 / (math.log(2) * a),), (POSITIVE,), cost=30, expand=formula(log.log2), fast=formula(quick.log2)),
    Derived("log10", 1, np.log10, lambda o, a: (1 / (math.log(10) * a),), (POSITIVE,), cost=30, expand=formula(log.log10), fast=formula(quick.log10)),
    Derived("log1p", 1, np.log1p, lambda o, a: (1 / (1 + a),), (Domain(low=-1.0),), cost=40, expand=formula(log.log1p), fast=formula(quick.log1p)),
    Derived("sin", 1, np.sin, lambda o, a: (o.cos(a),), (Domain(-100.0, 100.0),), cost=35, expand=formula(trig.sin), fast=formula(trig.fast_sin)),
    Derived("cos", 1, np.cos, lambda o, a: (-o.sin(a),), (Domain(-100.0, 100.0),), cost=35, expand=formula(trig.cos), fast=formula(trig.fast_cos)),
    Derived("tan", 1, np.tan, lambda o, a: (1 + o.square(o.tan(a)),), (Domain(-1.5, 1.5),), cost=45, expand=formula(trig.tan), fast=formula(trig.fast_tan)),
    Derived("sinh", 1, np.sinh, lambda o, a: (o.cosh(a),), (Domain(-80.0, 80.0),), cost=45, expand=formula(hyperbolic.sinh)),
    Derived("cosh", 1, np.cosh, lambda o, a: (o.sinh(a),), (Domain(-80.0, 80.0),), cost=40, expand=formula(hyperbolic.cosh), fast=formula(quick.cosh)),
    Derived("tanh", 1, np.tanh, lambda o, a: (1 - o.tanh(a) * o.tanh(a),), (Domain(-10.0, 10.0),), cost=40,
            expand=formula(hyperbolic.tanh), fast=formula(quick.tanh)),
    Derived("arctan", 1, np.arctan, lambda o, a: (1 / (1 + a * a),), cost=60, expand=formula(inverse.arctan), fast=formula(inverse.fast_arctan)),
    Derived("arctan2", 2, np.arctan2, lambda o, a, b: (b / (a * a + b * b), -a / (a * a + b * b)), (NONZERO, NONZERO), cost=70,
            expand=formula(inverse.arctan2)),
    Derived("arcsin", 1, np.arcsin, lambda o, a: (1 / o.sqrt((1 - a) * (1 + a)),), (Domain(-0.99, 0.99),), cost=80,
            expand=formula(inverse.arcsin)),
    Derived("arccos", 1, np.arccos, lambda o, a: (-1 / o.sqrt((1 - a) * (1 + a)),), (Domain(-0.99, 0.99),), cost=80,
            expand=formula(inverse.arccos)),
    Derived("power", 2, _reference_power, _power_partials,
            (POSITIVE, Domain(-8.0, 8.0)), cost=80, resolve=loops_of(np.power), expand=_power),
    Derived("rsqrt", 1, references.rsqrt, lambda o, a: (-0.5 * o.rsqrt(a) / a,), (POSITIVE,), cost=16,
            resolve=loops_of(np.sqrt), expand=formula(powers.rsqrt)),
    Derived("cbrt", 1, np.cbrt, lambda o, a: (1 / (3 * o.square(o.cbrt(a))),), (NONZERO,), cost=35, expand=formula(powers.cbrt)),
    Derived("hypot", 2, np.hypot, lambda o, a, b: (a / o.hypot(a, b), b / o.hypot(a, b)), (NONZERO, NONZERO), cost=30,
            expand=formula(powers.hypot)),
    Derived("arcsinh", 1, np.arcsinh, lambda o, a: (1 / o.hypot(a, 1.0),), cost=100, expand=formula(hyperbolic.arcsinh)),
    Derived("arccosh", 1, np.arccosh, lambda o, a: (1 / o.sqrt((a - 1) * (a + 1)),), (Domain(low=1.01),), cost=100,
            expand=formula(hyperbolic.arccosh)),
    Derived("arctanh", 1, np.arctanh, lambda o, a: (1 / ((1 - a) * (1 + a)),), (Domain(-0.99, 0.99),), cost=80,
            expand=formula(hyperbolic.arctanh)),
    Derived("erf", 1, references.erf, lambda o, a: (2 / math.sqrt(math.pi) * o.exp(-a * a),), cost=50, resolve=loops_of(np.exp),
            expand=formula(special.erf)),
    Derived("nextafter", 2, np.nextafter, cost=10, expand=of_format(representation.nextafter)),
    Derived("ldexp", 2, np.ldexp, lambda o, a, b: (o.ldexp(o.ones_like(a), b), 0), cost=4, expand=formula(representation.ldexp)),
    Derived("xlogy", 2, references.xlogy, lambda o, a, b: (o.log(b), a / b), (REAL, POSITIVE), cost=30, resolve=loops_of(np.hypot),
            expand=formula(representation.xlogy)),
    Derived("erfc", 1, references.erfc, lambda o, a: (-2 / math.sqrt(math.pi) * o.exp(-a * a),), cost=80, resolve=loops_of(np.exp),
            expand=formula(special.erfc)),
    Derived("erfinv", 1, references.erfinv, lambda o, a: (math.sqrt(math.pi) / 2 * o.exp(o.square(o.erfinv(a))),),
            (Domain(-0.99, 0.99),), cost=120, resolve=loops_of(np.exp), expand=formula(special.erfinv)),
    Derived("gamma", 1, references.gamma, lambda o, a: (o.gamma(a) * o.digamma(a),),
            (Domain(0.1, 30.0),), cost=200, resolve=loops_of(np.exp), expand=formula(special.gamma)),
    Derived("lgamma", 1, references.lgamma, lambda o, a: (o.digamma(a),), (Domain(low=0.1),), cost=250,
            resolve=loops_of(np.exp), expand=formula(special.lgamma)),
    Derived("digamma", 1, references.digamma, lambda o, a: (o.trigamma(a),), (Domain(low=0.1),), cost=200, resolve=loops_of(np.exp),
            expand=formula(special.digamma)),
    Derived("trigamma", 1, references.trigamma, None, (Domain(low=0.1),), cost=200, resolve=loops_of(np.exp),
            expand=formula(special.trigamma)),
)
# fmt: on


def _ones(a: Value) -> Value:
    return const(-1 if a.dtype.kind == "i" else a.dtype.largest, a.dtype)


# NumPy's loops on integers and bool for which a primitive has no column of its own: what they are instead.
_BY_KIND: dict[tuple[str, str], Callable[..., Value]] = {
    **{(name, kind): _same for name in ("floor", "ceil", "trunc") for kind in "iub"},
    **{("fmod", kind): _fmod for kind in "iu"},
    **{("negative", kind): lambda a: op("subtract", (_number(0, a), a), a.dtype) for kind in "iu"},
}

# Operations that somebody has written as a Python function (exprten's `op`). Not in the table: there names are NumPy's.
OWN: dict[OwnName, Derived] = {}

TABLE: dict[str, Row] = {row.name: row for row in (*PRIMITIVES, *DERIVED)}
