"""Operations said with other operations: one row each, and nothing more for any backend.

`expand` is a Python function over kernel IR, written once: every backend and the interpreter see only the primitives it uses.
It gets operands that are already of the types `resolve` asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import BOOL, DType
from .ir import Value, cast, const, op
from .ops import NONZERO, PRIMITIVE, PRIMITIVES, REAL, SHIFT, Row, Types, common_types, promoted


@dataclass(frozen=True)
class Derived(Row):
    """A row that `expand` turns into primitives."""

    expand: Callable[..., Value] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.expand is None:
            raise ValueError(f"operation {self.name}: a derived row needs `expand`")


def apply(name: str, *args: Value, to: DType | None = None) -> Value:
    """Operation `name` on operands of its own types; `to` is the result's type where it is not the last operand's."""
    row = TABLE[name]
    if isinstance(row, Derived):
        assert row.expand is not None
        return row.expand(*args)
    if (
        args[0].dtype.kind not in PRIMITIVE[name].llvm
    ):  # NumPy has loops that change nothing, and that are another operation's
        return _BY_KIND[name, args[0].dtype.kind](*args)
    return op(name, args, to or (BOOL if name in _COMPARISONS else args[-1].dtype))


_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


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
    Derived("cube", 1, _cube_reference, lambda o, a: (3 * a * a,), resolve=common_types, expand=_cube),
    Derived("reciprocal", 1, np.reciprocal, lambda o, a: (-1 / (a * a),), (NONZERO,), cost=4, expand=_reciprocal),
    Derived("floor_divide", 2, np.floor_divide, lambda o, a, b: (0 * a, 0 * b), (REAL, NONZERO), cost=30, expand=_floor_divide),
    Derived("remainder", 2, np.remainder, lambda o, a, b: (1, -o.floor(a / b)), (REAL, NONZERO), cost=30, expand=_remainder),
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

TABLE: dict[str, Row] = {row.name: row for row in (*PRIMITIVES, *DERIVED)}
