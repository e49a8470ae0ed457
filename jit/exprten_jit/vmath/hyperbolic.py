"""sinh, cosh and tanh, of exp(abs(x)) - 1 in two parts; their inverses, of a logarithm whose argument has two parts."""

from __future__ import annotations

from .double import Double, choice, double, product, sqrt, total
from .exp import expm1_quarter
from .log import LN2, log1p_double
from .terms import INF, NAN, Pair, Term, copysign, fabs, fast_two_sum, fma, lesser, two_sum, where


def _quotient(a: Pair, b: Pair) -> Pair:
    """a / b in two parts."""
    inverse = 1.0 / b[0]
    q = a[0] * inverse
    return q, (fma(-q, b[0], a[0]) + fma(-q, b[1], a[1])) * inverse


def _small(a: Term, value: Term) -> Term:
    """The odd function `value` with the sign of a; a itself where its cube is less than it can show."""
    return copysign(where(fabs(a) < 2.0 ** -(a.form.mantissa // 2 + 2), fabs(a), value), a)


def tanh(a: Term) -> Term:
    """E / (E + 2) for E = exp(2 abs(a)) - 1. Within 1 unit of the last place."""
    high, low = fast_two_sum(*expm1_quarter(lesser(fabs(a), 10.0 if a.dtype.bits == 32 else 20.0) * 2.0))
    base, lost = two_sum(high, high.like(0.5))
    q, rest = _quotient((high, low), (base, lost + low))
    return _small(a, q + rest)


def fast_tanh(a: Term) -> Term:
    """Within 3 units of the last place."""
    high, low = expm1_quarter(lesser(fabs(a), 10.0 if a.dtype.bits == 32 else 20.0) * 2.0)
    quarter = high + low
    return _small(a, quarter / (quarter + 0.5))


def sinh(a: Term) -> Term:
    """(E + E / (E + 1)) / 2 for E = exp(abs(a)) - 1. Within 1 unit of the last place."""
    high, low = fast_two_sum(*expm1_quarter(fabs(a)))
    base, lost = two_sum(high, high.like(0.25))
    q, rest = _quotient((high, low), (base, lost + low))
    total, missing = fast_two_sum(high, q * 0.25)
    return _small(a, (total + (missing + (low + rest * 0.25))) * 2.0)


def cosh(a: Term) -> Term:
    """(exp(abs(a)) + 1 / exp(abs(a))) / 2. Within 1 unit of the last place."""
    high, low = fast_two_sum(*expm1_quarter(fabs(a)))
    base, lost = two_sum(high, high.like(0.25))
    total, missing = fast_two_sum(base, 0.0625 / base)
    return (total + (missing + (lost + low))) * 2.0


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
