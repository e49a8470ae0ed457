"""log, log2, log10 and log1p: an argument is 2**k (1 + f) with 1 + f between the roots of 1/2 and 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import coefficients as c
from .double import Double
from .terms import (
    INF,
    NAN,
    Pair,
    Term,
    as_float,
    copysign,
    fast_two_sum,
    fma,
    lookup,
    ordinary,
    polynomial,
    power_of_two,
    rarely,
    two_product,
    two_sum,
    where,
)

LN2 = {32: (0.693145751953125, 1.4286068203094172e-06), 64: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
FIRST_64 = 0x3FE6780000000000  # the bits of the float64 at which the intervals of LOG_INVERSE begin
ROOT_HALF = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}  # the bits of sqrt(1/2)


def split(a: Term) -> tuple[Term, Term]:
    """(k, f) with a = 2**k (1 + f), for a normal a above 0; k as an integer."""
    form = a.form
    count = a.bits() - ROOT_HALF[a.dtype.bits]
    k = count >> form.mantissa
    m = ((count & ((1 << form.mantissa) - 1)) + ROOT_HALF[a.dtype.bits]).bits(a.dtype)
    return k, m - 1.0


def log_near_one(f: Term) -> Pair:
    """log(1 + f) as f - f²/2, less than a unit of the last place from it, and what is left."""
    h = f * f * 0.5
    high = f - h
    if f.dtype.bits == 32:
        rest = f * f * f * polynomial(c.LOG_32, f)
        rest = rest - fma(f * 0.5, f, -h)
    else:
        s = f / (f + 2.0)
        z = s * s
        rest = s * fma(z, polynomial(c.LOG_64, z), h)
    return high, ((f - high) - h) + rest


def _finished(odd: Term, a: Term, common: Term, subnormal: Term) -> Term:
    """What a logarithm is where `odd`: of zero, of infinity, below zero, of NaN, and of a subnormal."""
    rest = where(a.equals(0.0), -INF, where(a > 0.0, a, NAN))
    return rarely(odd, where((a > 0.0) & (a < INF), subnormal, rest), common)


def whole_range(core: Callable[[Term, Term], Term], a: Term) -> Term:
    """`core(k, f)` for every argument; subnormals are made normal first."""
    up = a.form.mantissa + 2
    k, f = split(a)
    low, g = split(a * 2.0**up)
    return _finished(~ordinary(a), a, core(as_float(k), f), core(as_float(low - up), g))


def _natural(k: Term, f: Term, more: Term | None = None) -> Term:
    """k ln 2 + log(1 + f) + more."""
    high, low = LN2[f.dtype.bits]
    least = k * low if more is None else fma(k, low, more)
    if f.dtype.bits == 32:
        square = f * f
        rest = fma(square, -0.5, fma(square * f, polynomial(c.LOG_32, f), least))
        return fma(k, high, rest + f)
    h = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    rest = h - fma(s, fma(z, polynomial(c.LOG_64, z), h), least)
    return fma(k, high, f - rest)


def log_of_product(a: Term, twos: Term, ratio: Term) -> Term:
    """log(2**twos a (1 + ratio)) for a normal a above 0 and a ratio of some units of its last place."""
    k, f = split(a)
    return _natural(as_float(k) + twos, f, ratio)


def log(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return whole_range(_natural, a)


@dataclass(frozen=True)
class _Base:
    """1 / ln(base) in two parts, the logarithm of 2 in two parts, of which k times the first is exact, and of float32 a polynomial."""

    factor: tuple[float, float]
    two: tuple[float, float]
    rest: tuple[float, ...] = ()


_LOG2 = {
    32: _Base((1.4426950216293335, 1.925963033500011e-08), (1.0, 0.0), c.LOG2_32),
    64: _Base((1.4426950408889634, 2.0355273740931033e-17), (1.0, 0.0)),
}
_LOG10 = {
    32: _Base((0.4342944920063019, -1.010305011847e-08), (0.301025390625, 4.605038981195214e-06), c.LOG10_32),
    64: _Base((0.4342944819032518, 1.098319650216765e-17), (0.30102999566406652, -8.5323443170571066e-14)),
}


def _to_base(rows: dict[int, _Base]) -> Callable[[Term, Term], Term]:
    """log(1 + f) / ln(base) + k log(2): f over ln(base) in two parts and a polynomial, or what `log_near_one` says."""

    def core(k: Term, f: Term) -> Term:
        base = rows[f.dtype.bits]
        (factor, beyond), (two, two_beyond) = base.factor, base.two
        if base.rest:
            product, lost = two_product(f, factor)
            lost = fma(f * f, polynomial(base.rest, f), fma(f, beyond, lost))
        else:
            high, low = log_near_one(f)
            product, lost = two_product(high, factor)
            lost = fma(low, factor, fma(high, beyond, lost))
        s, rest = fast_two_sum(k if two == 1.0 else k * two, product)
        return s + (rest + (fma(k, two_beyond, lost) if two_beyond else lost))

    return core


def _binary(a: Term, more: int = 0) -> Term:
    """log2(2**more a) for a normal float64 above 0: k, that of c, one of 16, and of 1 + r = 2**-k a / c, where r is exact."""
    count = a.bits() - FIRST_64
    entry = count >> 48
    z = ((count & ((1 << 52) - 1)) + FIRST_64).bits(a.dtype)
    r = fma(z, lookup(entry, c.LOG_INVERSE), -1.0)
    base = as_float((count >> 52) + more) + lookup(entry, c.LOG2_COARSE)
    near, lost = two_product(r, _LOG2[64].factor[0])
    rest = fma(r * r, polynomial(c.LOG2_TABLE_64, r), fma(r, _LOG2[64].factor[1], lost))
    total, beyond = fast_two_sum(base, near)
    return total + (beyond + (rest + lookup(entry, c.LOG2_FINE)))


def log2(a: Term) -> Term:
    """Within 1 unit of the last place; exact for powers of 2."""
    if a.dtype.bits == 64:
        return _finished(~ordinary(a), a, _binary(a), _binary(a * 2.0**54, -54))
    return whole_range(_to_base(_LOG2), a)


def log10(a: Term) -> Term:
    """Within 1 unit of the last place; exact for powers of 10."""
    return whole_range(_to_base(_LOG10), a)


def log1p_double(a: Term, beyond: Term | None = None) -> Double:
    """log(1 + a + beyond), for a finite a above -1: k and f of 1 + a, where f is 2**-k a + (2**-k - 1) and what that loses."""
    high, low = LN2[a.dtype.bits]
    k, large = split(a + 1.0)
    s = power_of_two(-k, a.dtype)
    f = fma(a, s, s - 1.0)
    lost = fma(a, s, (s - 1.0) - f)
    if beyond is not None:
        f, lost = two_sum(f, fma(beyond, s, lost))
    far = a > 2.0 ** (a.form.mantissa + 2)
    f, lost = where(far, large, f), where(far, 0.0, lost)
    near, rest = log_near_one(f)
    rest = rest + fma(-lost, f, lost)
    exponent = as_float(k)
    total = fma(exponent, high, near)
    return Double(total, fma(exponent, low, rest) + (near - fma(-exponent, high, total)))


def log1p(a: Term) -> Term:
    """log of 1 + a, and over it what the sum loses. Within 1 unit of the last place."""
    total = a + 1.0
    lost = where(a > 1.0, 1.0 - (total - a), a - (total - 1.0))
    k, f = split(total)
    special = where(a.equals(-1.0), -INF, where(a > 0.0, a, NAN))
    return copysign(rarely(~ordinary(total), special, _natural(as_float(k), f, lost / total)), a)
