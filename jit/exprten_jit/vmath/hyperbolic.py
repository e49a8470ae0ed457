"""sinh, cosh and tanh, of exp(abs(x)) - 1 in two parts."""

from __future__ import annotations

from .exp import expm1_quarter
from .terms import Pair, Term, copysign, fabs, fast_two_sum, fma, lesser, two_sum, where


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
