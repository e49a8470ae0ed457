"""sinh, cosh and tanh, of exp(abs(x)), and near 0 polynomials; their inverses, of a logarithm whose argument has two parts."""

from __future__ import annotations

from . import coefficients as c
from .double import Double, choice, double, product, sqrt, total
from .exp import exp_between, exp_parts
from .log import LN2, log1p_double
from .terms import INF, NAN, Term, copysign, fabs, fma, lesser, polynomial, scale, where

_SINH = {32: c.SINH_32, 64: c.SINH_64}
_TANH = {32: (c.TANH_32, 0.92, 10.0), 64: (c.TANH_64, 0.9**0.5, 20.0)}
_FAST_TANH = {32: (c.TANH_FAST_32, 0.6, 10.0), 64: (c.TANH_FAST_64, 0.6, 20.0)}


def tanh(a: Term) -> Term:
    """A polynomial up to 1 or so, then 1 - 2 / (exp(2 x) + 1). Within 1 unit of the last place, of float64 within 1.1."""
    return _tanh(a, *_TANH[a.dtype.bits])


def fast_tanh(a: Term) -> Term:
    """Within 3 units of the last place."""
    return _tanh(a, *_FAST_TANH[a.dtype.bits], fast=True)


def _tanh(a: Term, series: tuple[float, ...], bound: float, most: float, fast: bool = False) -> Term:
    y = lesser(fabs(a), most)
    z = y * y
    near = fma(y * z, polynomial(series, z), y)
    far = 1.0 - 2.0 / (exp_between(y + y, fast) + 1.0)
    return copysign(where(y < bound, near, far), a)


def _half_exps(y: Term, sign: float) -> Term:
    """(exp(y) + sign exp(-y)) / 2, for a y above 0: 2**k (1 + r + rest) has another power of two in it."""
    r, rest, k = exp_parts(lesser(y, 90.0 if y.dtype.bits == 32 else 711.0))
    value = 1.0 + (r + rest)
    lost = (r - (value - 1.0)) + rest
    power = scale(y.like(1.0), -k)
    return scale(value + fma(power * power, sign / value, lost), k - 1.0)


def sinh(a: Term) -> Term:
    """A polynomial up to 1. Within 1 unit of the last place."""
    y = fabs(a)
    z = y * y
    near = fma(y * z, polynomial(_SINH[a.dtype.bits], z), y)
    return copysign(where(y < 1.0, near, _half_exps(y, -1.0)), a)


def cosh(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return _half_exps(fabs(a), 1.0)


def _log_of_sum(x: Term, sum_less_one: Double) -> Term:
    """log(1 + sum_less_one), or of a large x log(2 x)."""
    high, low = LN2[x.dtype.bits]
    large = x > 2.0 ** (x.form.mantissa // 2 + 4)
    u = choice(large, total(x, -1.0), sum_less_one)
    log = log1p_double(u.high, u.low)
    log = choice(large, log + Double(x.like(high), x.like(low)), log)
    return where(x < INF, log.value, x)


def arcsinh(a: Term) -> Term:
    """log(x + sqrt(x² + 1)), where sqrt(x² + 1) - 1 is x² / (1 + sqrt(x² + 1)). Within 1 unit of the last place."""
    x = fabs(a)
    square, one = product(x, x), double(x.like(1.0))
    return copysign(_log_of_sum(x, double(x) + square / (sqrt(square + one) + one)), a)


def arccosh(a: Term) -> Term:
    """log(x + sqrt(x² - 1)) with t = x - 1: 1 + t + sqrt(t (t + 2)). Within 1 unit of the last place; NaN below 1."""
    t = total(a, -1.0)
    value = _log_of_sum(a, t + sqrt(t * (t + double(a.like(2.0)))))
    return where(a >= 1.0, value, NAN)


def arctanh(a: Term) -> Term:
    """log((1 + x) / (1 - x)) / 2. Within 1 unit of the last place; NaN beyond 1."""
    x = fabs(a)
    u = double(x + x) / total(-x, 1.0)
    value = log1p_double(u.high, u.low).value * 0.5
    return copysign(where(x < 1.0, value, where(x.equals(1.0), x.like(INF), NAN)), a)
