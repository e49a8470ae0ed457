"""More rows of the table: NumPy's rarer functions, and sigmoids with what is made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import references
from .derived import TABLE, Derived, apply
from .dtypes import BOOL, DTYPES
from .ir import Value, cast, const, op
from .ops import NONZERO, REAL, Domain, Types, common_types, loops_of
from .vmath import activation, parts, quick
from .vmath import power as powers
from .vmath.terms import formula, of_format, rounded_once

SMOOTH = Domain(-30.0, 30.0)


def _scaled(by: float) -> Callable[[Value], Value]:
    """Times a constant of the type, rounded to it first."""
    return lambda a: apply("multiply", a, const(float(a.dtype.numpy.type(by)), a.dtype))


def _radians(a: Value) -> Value:
    return _scaled(math.pi / 180 if a.dtype.bits == 64 else float(np.float32(np.pi) / np.float32(180)))(a)


def _degrees(a: Value) -> Value:
    return _scaled(180 / math.pi if a.dtype.bits == 64 else float(np.float32(180) / np.float32(np.pi)))(a)


def _heaviside(a: Value, there: Value) -> Value:
    zero, one = const(0.0, a.dtype), const(1.0, a.dtype)
    side = op(
        "where", (apply("less", a, zero), zero, op("where", (apply("equal", a, zero), there, one), a.dtype)), a.dtype
    )
    return op("where", (apply("equal", a, a), side, a), a.dtype)


def _unsigned(a: Value) -> Value:
    """The size of an integer, as one without a sign."""
    return cast(apply("absolute", a), DTYPES[f"uint{a.dtype.bits}"])


def _gcd(a: Value, b: Value) -> Value:
    x, y = _unsigned(a), _unsigned(b)
    return cast(op("euclid", (x, y), x.dtype), a.dtype)


def _lcm(a: Value, b: Value) -> Value:
    x, y = _unsigned(a), _unsigned(b)
    return cast(apply("multiply", apply("floor_divide", x, op("euclid", (x, y), x.dtype)), y), a.dtype)


def _bitwise_count(a: Value) -> Value:
    x = cast(a, DTYPES["uint8"]) if a.dtype is BOOL else _unsigned(a)
    return cast(op("popcount", (x,), x.dtype), DTYPES["uint8"])


def _infinite(infinity: float) -> Callable[[Value], Value]:
    def expand(a: Value) -> Value:
        return apply("equal", a, const(infinity, a.dtype)) if a.dtype.kind == "f" else const(False, BOOL)

    return expand


def _first_of(ufunc: np.ufunc, result: int) -> Callable[[Types], tuple[np.dtype[Any], ...]]:
    """Of a function with two results, the types of one."""

    def resolve(types: Types) -> tuple[np.dtype[Any], ...]:
        found = ufunc.resolve_dtypes((*types, None, None))
        wide = np.dtype(np.float32) if result and found[0] == np.float16 else found[0]  # an int is the same in both
        return wide, found[1 + result]

    return resolve


def _truths(types: Types) -> tuple[np.dtype[Any], ...]:
    return common_types(types)[0], np.dtype(bool)


def _float(name: str, derivative: Callable[..., tuple[Any, ...]], domain: Domain, cost: int) -> Derived:
    """A function of one float, whose formulas and reference have its name."""
    fast = getattr(quick, name, None)
    return Derived(name, 1, getattr(references, name), derivative, (domain,), cost=cost, resolve=loops_of(np.exp),
                   expand=formula(getattr(activation, name)), fast=fast and formula(fast))  # fmt: skip


# Slopes that are their limit at both ends: from the bound on they are, and what goes to 0 in them does so before inf times it is NaN.


def _silu_slope(o: Any, a: Any) -> tuple[Any, ...]:
    x = o.clip(a, -1000.0, 1000.0)
    return (o.sigmoid(x) * (1 + x * o.sigmoid(-x)),)


def _gelu_slope(o: Any, a: Any) -> tuple[Any, ...]:
    x = o.clip(a, -40.0, 40.0)
    density = o.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    return (0.5 * o.erfc(x * -math.sqrt(0.5)) + x * density,)


def _gelu_tanh_slope(o: Any, a: Any) -> tuple[Any, ...]:
    x, scale = o.clip(a, -30.0, 30.0), activation.TANH_SCALE[0]
    u = scale * (x + activation.CUBIC * x * x * x)
    return (o.sigmoid(u) * (1 + x * o.sigmoid(-u) * (scale + 3 * activation.CUBIC * scale * x * x)),)


def _mish_slope(o: Any, a: Any) -> tuple[Any, ...]:
    x = o.clip(a, -1000.0, 1000.0)
    t = o.tanh(o.softplus(x))
    return (t + x * (1 - t * t) * o.sigmoid(x),)


# fmt: off
FURTHER: tuple[Derived, ...] = (
    Derived("radians", 1, np.radians, lambda o, a: (math.pi / 180,), expand=rounded_once(_radians)),
    Derived("degrees", 1, np.degrees, lambda o, a: (180 / math.pi,), expand=rounded_once(_degrees)),
    Derived("float_power", 2, np.float_power, lambda o, a, b: (b * o.float_power(a, b - 1), o.float_power(a, b) * o.log(a)),
            (Domain(low=0.0, zero=False), Domain(-8.0, 8.0)), cost=80, expand=formula(powers.power)),
    Derived("heaviside", 2, np.heaviside, lambda o, a, b: (0 * a, o.equal(a, 0)), (NONZERO, REAL), cost=4, expand=_heaviside),
    Derived("gcd", 2, np.gcd, cost=60, expand=_gcd),
    Derived("lcm", 2, np.lcm, cost=70, expand=_lcm),
    Derived("bitwise_count", 1, np.bitwise_count, cost=2, expand=_bitwise_count),
    Derived("isposinf", 1, references.isposinf, resolve=_truths, expand=_infinite(math.inf)),
    Derived("isneginf", 1, references.isneginf, resolve=_truths, expand=_infinite(-math.inf)),
    Derived("mantissa", 1, references.mantissa, lambda o, a: (o.ldexp(1.0, -o.exponent(a)),), (Domain(1.1, 1.9),), cost=8, resolve=_first_of(np.frexp, 0),
            expand=formula(parts.mantissa)),
    Derived("exponent", 1, references.exponent, cost=6, resolve=_first_of(np.frexp, 1), expand=formula(parts.exponent)),
    Derived("fraction", 1, references.fraction, lambda o, a: (1,), cost=4, resolve=_first_of(np.modf, 0), expand=formula(parts.fraction)),
    Derived("spacing", 1, references.spacing, cost=3, resolve=loops_of(np.spacing), expand=of_format(parts.spacing)),
    _float("sigmoid", lambda o, a: (o.sigmoid(a) * o.sigmoid(-a),), SMOOTH, 60),
    _float("log_sigmoid", lambda o, a: (o.sigmoid(-a),), SMOOTH, 80),
    _float("logit", lambda o, a: (1 / (a * (1 - a)),), Domain(0.01, 0.99), 70),
    _float("softplus", lambda o, a: (o.sigmoid(a),), SMOOTH, 80),
    _float("silu", _silu_slope, SMOOTH, 60),
    _float("gelu", _gelu_slope, SMOOTH, 90),
    _float("gelu_tanh", _gelu_tanh_slope, SMOOTH, 70),
    _float("mish", _mish_slope, SMOOTH, 60),
    _float("sinc", lambda o, a: ((o.cos(math.pi * a) - o.sinc(a)) / a,), NONZERO, 50),
    Derived("logaddexp", 2, np.logaddexp, lambda o, a, b: (o.sigmoid(a - b), o.sigmoid(b - a)), (SMOOTH, SMOOTH), cost=80,
            expand=formula(activation.logaddexp)),
    Derived("logaddexp2", 2, np.logaddexp2,
            lambda o, a, b: (o.sigmoid(math.log(2) * (a - b)), o.sigmoid(math.log(2) * (b - a))), (SMOOTH, SMOOTH), cost=80,
            expand=formula(activation.logaddexp2)),
)
# fmt: on

TABLE.update((row.name, row) for row in FURTHER)
