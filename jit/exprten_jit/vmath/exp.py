"""exp, exp2 and expm1: an argument is k ln 2 + r with r at most half of ln 2, and the value 2**k exp(r)."""

from __future__ import annotations

from dataclasses import dataclass

from . import coefficients as c
from .terms import Term, copysign, fast_two_sum, fma, greater, lesser, polynomial, where

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class _Exp:
    """Of a format: where exp is 0 and infinite, ln 2 in two parts, of which k times the first is exact, and polynomials."""

    low: float
    high: float
    ln2: tuple[float, float]
    exp: tuple[float, ...]
    exp2: tuple[float, ...]
    expm1: tuple[float, ...]


_EXP = {
    32: _Exp(-104.0, 89.0, (0.693145751953125, 1.4286068203094172e-06), c.EXP_32, c.EXP2_32, c.EXPM1_32),
    64: _Exp(-746.0, 710.0, (6.93147180369123816490e-01, 1.90821492927058770002e-10), c.EXP_64, c.EXP2_64, c.EXPM1_64),
}


def nearest(x: Term, scale: float = 1.0) -> tuple[Term, Term]:
    """(the whole number nearest to scale * x, as a float; a float whose bits count it, see `scaled`)."""
    shifter = x.like(1.5 * 2.0**x.form.mantissa + 2 * x.form.bias)  # leaves a whole number in the last bits
    shifted = fma(x, scale, shifter)
    return shifted - shifter, shifted


def scaled(x: Term, shifted: Term) -> Term:
    """x * 2**k for the `shifted` that counts k + 2 bias, rounded once: by two factors, so that subnormals come out."""
    form = x.form
    count = shifted.bits()
    half = count >> 1
    return (x * (half << form.mantissa).bits(x.dtype)) * ((count - half) << form.mantissa).bits(x.dtype)


def reduced(x: Term, k: Term) -> Term:
    high, low = _EXP[x.dtype.bits].ln2
    return fma(k, -low, fma(k, -high, x))


def exp(a: Term) -> Term:
    """Within 1 unit of the last place."""
    rows = _EXP[a.dtype.bits]
    x = lesser(greater(a, rows.low), rows.high)
    k, shifted = nearest(x, LOG2_E)
    r = reduced(x, k)
    one, lost = fast_two_sum(1.0, r)
    return scaled(one + fma(polynomial(rows.exp, r), r * r, lost), shifted)


def exp2(a: Term) -> Term:
    """Within 1 unit of the last place; exact for whole numbers."""
    rows, form = _EXP[a.dtype.bits], a.form
    x = lesser(greater(a, -2.0 * form.bias), form.bias + 2.0)
    k, shifted = nearest(x)
    r = x - k
    return scaled(fma(polynomial(rows.exp2, r), r, 1.0), shifted)


def expm1(a: Term) -> Term:
    """exp(r) - 1 is r + t; 2**k (1 + r + t) - 1 is added up from large to small."""
    rows, form = _EXP[a.dtype.bits], a.form
    x = lesser(greater(a, -2.0 * form.mantissa), rows.high)
    k, shifted = nearest(x, LOG2_E)
    near = fma(k, -rows.ln2[0], x)
    r = fma(k, -rows.ln2[1], near)
    lost = fma(k, -rows.ln2[1], near - r)
    t = fma(polynomial(rows.expm1, r), r * r, fma(lost, r, lost))
    half = ((shifted.bits() - (form.bias + 1)) << form.mantissa).bits(a.dtype)  # 2**(k - 1), finite for every k
    rest = half - 0.5
    high = fma(r, half, rest)
    low = fma(t, half, fma(r, half, rest - high) + ((half - rest) - 0.5))
    return copysign(where(k.equals(0.0), r + t, (high + low) * 2.0), a)
