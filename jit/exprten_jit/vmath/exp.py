"""exp, exp2 and expm1: an argument is k ln 2 + r with r at most half of ln 2, and the value 2**k exp(r)."""

from __future__ import annotations

from dataclasses import dataclass

from . import coefficients as c
from .double import Double, normal
from .terms import (
    Pair,
    Term,
    copysign,
    fabs,
    fast_two_sum,
    fma,
    formula,
    greater,
    lesser,
    nearest,
    polynomial,
    scale,
    where,
)

LOG2_E = 1.4426950408889634


@dataclass(frozen=True)
class _Exp:
    """Of a format: where exp is 0 and infinite, ln 2 in two parts, of which k times the first is exact, and polynomials."""

    low: float
    high: float
    ln2: tuple[float, float]
    exp: tuple[float, ...]
    fast: tuple[float, ...]
    exp2: tuple[float, ...]
    expm1: tuple[float, ...]


_EXP = {
    32: _Exp(-104.0, 89.0, (0.693145751953125, 1.4286068203094172e-06), c.EXP_32, c.EXP_FAST_32, c.EXP2_32, c.EXPM1_32),
    64: _Exp(
        -746.0,
        710.0,
        (6.93147180369123816490e-01, 1.90821492927058770002e-10),
        c.EXP_64,
        c.EXP_FAST_64,
        c.EXP2_64,
        c.EXPM1_64,
    ),
}


@formula
def by_factors(a: Term, k: Term) -> Term:
    """`scale` where the machine has no instruction for it: times two powers of two, of which the second rounds."""
    form = a.form
    count = (k + (1.5 * 2.0**form.mantissa + 2 * form.bias)).bits()
    half = count >> 1
    return a * (half << form.mantissa).bits(a.dtype) * ((count - half) << form.mantissa).bits(a.dtype)


def reduced(x: Term, k: Term) -> Term:
    high, low = _EXP[x.dtype.bits].ln2
    return fma(k, -low, fma(k, -high, x))


def exp(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return _exp(a, _EXP[a.dtype.bits].exp)


def fast_exp(a: Term) -> Term:
    """Within 2 units of the last place."""
    return _exp(a, _EXP[a.dtype.bits].fast)


def _exp(a: Term, rest: tuple[float, ...]) -> Term:
    rows = _EXP[a.dtype.bits]
    x = lesser(greater(a, rows.low), rows.high)
    k, _ = nearest(x, LOG2_E)
    return scale(polynomial((1.0, 1.0, *rest), reduced(x, k)), k)


def exp2(a: Term) -> Term:
    """Within 1 unit of the last place; exact for whole numbers."""
    x = lesser(greater(a, -2.0 * a.form.bias), a.form.bias + 2.0)
    k, _ = nearest(x, 1.0)
    return scale(polynomial((1.0, *_EXP[a.dtype.bits].exp2), x - k), k)


def exp_double(a: Double) -> tuple[Double, Term]:
    """exp(a) over a power of two, and its exponent."""
    rows = _EXP[a.high.dtype.bits]
    x = lesser(greater(a.high, rows.low), rows.high)
    k, _ = nearest(x, LOG2_E)
    above = fma(k, -rows.ln2[0], x)
    r = fma(k, -rows.ln2[1], above)
    lost = fma(k, -rows.ln2[1], above - r) + where(x.equals(a.high), a.low, 0.0)
    r, lost = fast_two_sum(r, lost)
    one, rest = fast_two_sum(1.0, r)
    return normal(one, rest + fma(polynomial(rows.expm1, r), r * r, fma(lost, r, lost))), k


def expm1_quarter(a: Term) -> Pair:
    """(exp(a) - 1) / 4: exp(r) - 1 is r + t; 2**k (1 + r + t) - 1 is added up from large to small. NaN and +-inf stay."""
    rows, form = _EXP[a.dtype.bits], a.form
    x = lesser(greater(a, -2.0 * form.mantissa), rows.high + 0.5)  # 2**(k - 2) is finite
    k, shifted = nearest(x, LOG2_E)
    near = fma(k, -rows.ln2[0], x)
    r = fma(k, -rows.ln2[1], near)
    lost = fma(k, -rows.ln2[1], near - r)
    t = fma(polynomial(rows.expm1, r), r * r, fma(lost, r, lost))
    quarter = ((shifted.bits() + (form.bias - 2)) << form.mantissa).bits(a.dtype)  # 2**(k - 2), finite for every k
    rest = quarter - 0.25
    high = fma(r, quarter, rest)
    return high, fma(t, quarter, fma(r, quarter, rest - high) + ((quarter - rest) - 0.25))


def expm1(a: Term) -> Term:
    """Within 1 unit of the last place."""
    high, low = expm1_quarter(a)
    return copysign(where(fabs(a) < 2.0 ** -(a.form.mantissa + 3), fabs(a), (high + low) * 4.0), a)
