"""exp, exp2 and expm1: an argument is k ln 2 + r with r at most half of ln 2, and the value 2**k exp(r)."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import DType
from . import coefficients as c
from .double import Double, normal
from .terms import (
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
    """`scale` where the machine has no instruction for it: times two powers of two, of which the second rounds. For k up to twice the exponent's bias,
    below 0 and above.
    """
    form = a.form
    count = (k + (1.5 * 2.0**form.mantissa + 2 * form.bias)).bits()
    half = count >> 1
    return a * (half << form.mantissa).bits(a.dtype) * ((count - half) << form.mantissa).bits(a.dtype)


def reduced(x: Term, k: Term) -> Term:
    high, low = _EXP[x.dtype.bits].ln2
    return fma(k, -low, fma(k, -high, x))


def bounds(dtype: DType) -> tuple[float, float]:
    """Arguments at which exp is 0 and infinite."""
    rows = _EXP[dtype.bits]
    return rows.low, rows.high


def exp(a: Term) -> Term:
    """Within 1 unit of the last place."""
    rows = _EXP[a.dtype.bits]
    return exp_between(lesser(greater(a, rows.low), rows.high))


def fast_exp(a: Term) -> Term:
    """Within 2 units of the last place."""
    rows = _EXP[a.dtype.bits]
    return exp_between(lesser(greater(a, rows.low), rows.high), fast=True)


def exp_between(x: Term, fast: bool = False) -> Term:
    """exp of what lies between the arguments whose values are 0 and infinite."""
    rows = _EXP[x.dtype.bits]
    k, _ = nearest(x, LOG2_E)
    return scale(polynomial((1.0, 1.0, *(rows.fast if fast else rows.exp)), reduced(x, k)), k)


def exp2(a: Term) -> Term:
    """Within 1 unit of the last place; exact for whole numbers."""
    x = lesser(greater(a, -2.0 * a.form.bias), a.form.bias + 2.0)
    k, _ = nearest(x, 1.0)
    return scale(polynomial((1.0, *_EXP[a.dtype.bits].exp2), x - k), k)


def exp_double(a: Double, beyond: float = 0.0) -> tuple[Double, Term]:
    """exp(a) over a power of two, and its exponent; of numbers up to `beyond` above those at which exp is finite."""
    rows = _EXP[a.high.dtype.bits]
    x = lesser(greater(a.high, rows.low), rows.high + beyond)
    k, _ = nearest(x, LOG2_E)
    above = fma(k, -rows.ln2[0], x)
    r = fma(k, -rows.ln2[1], above)
    lost = fma(k, -rows.ln2[1], above - r) + where(x.equals(a.high), a.low, 0.0)
    r, lost = fast_two_sum(r, lost)
    one, rest = fast_two_sum(1.0, r)
    return normal(one, rest + fma(polynomial(rows.expm1, r), r * r, fma(lost, r, lost))), k


def exp_parts(x: Term, small: bool = False) -> tuple[Term, Term, Term]:
    """(r, rest, k): exp(x) is 2**k (1 + r + rest), where r has no error and rest is less than 0.07. `small`: right in proportion to r."""
    rows = _EXP[x.dtype.bits]
    k, _ = nearest(x, LOG2_E)
    r, less = fma(k, -rows.ln2[0], x), k * -rows.ln2[1]
    all_of_it = r + less
    return r, fma(polynomial(rows.expm1 if small else rows.exp, all_of_it), all_of_it * all_of_it, less), k


def expm1(a: Term) -> Term:
    """Half of it is 2**(k - 1) - 1/2 + 2**(k - 1) (r + rest). Within 1 unit of the last place."""
    rows = _EXP[a.dtype.bits]
    r, rest, k = exp_parts(lesser(greater(a, -2.0 * a.form.mantissa), rows.high), small=True)
    power = scale(a.like(0.5), k)
    base = power - 0.5
    near = fma(power, r, base)
    lost = fma(power, r, base - near) + ((power - base) - 0.5)
    return copysign(where(fabs(a) < 2.0 ** -(a.form.mantissa + 3), a, (near + fma(power, rest, lost)) * 2.0), a)
