"""log, log2, log10 and log1p: an argument is 2**k (1 + f) with 1 + f between the roots of 1/2 and 2, or 2**k c (1 + r) with c one of 16
numbers and r up to 0.036.
"""

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
    fma,
    lookup,
    ordinary,
    polynomial,
    power_of_two,
    rarely,
    side_by_side,
    two_sum,
    where,
)

LN2 = {32: (0.693145751953125, 1.4286068203094172e-06), 64: (6.93147180369123816490e-01, 1.90821492927058770002e-10)}
FIRST = {32: 0x3F33C000, 64: 0x3FE6780000000000}  # the bits of the number at which the intervals of LOG_INVERSE begin
ROOT_HALF = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}  # the bits of sqrt(1/2)


def split(a: Term) -> tuple[Term, Term]:
    """(k, f) with a = 2**k (1 + f), for a normal a above 0; k as an integer."""
    form = a.form
    count = a.bits() - ROOT_HALF[a.dtype.bits]
    k = count >> form.mantissa
    m = ((count & ((1 << form.mantissa) - 1)) + ROOT_HALF[a.dtype.bits]).bits(a.dtype)
    return k, m - 1.0


def interval(a: Term) -> tuple[Term, Term, Term]:
    """(k, the interval, r) with a = 2**k c (1 + r), for a normal a above 0; k as an integer, r without an error."""
    form, first = a.form, FIRST[a.dtype.bits]
    count = a.bits() - first
    entry = count >> (form.mantissa - 4)
    z = ((count & ((1 << form.mantissa) - 1)) + first).bits(a.dtype)
    return count >> form.mantissa, entry, fma(z, lookup(entry, c.LOG_INVERSE), -1.0)


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

    def of_normal(x: Term, more: int) -> Term:
        k, f = split(x)
        return core(as_float(k + more if more else k), f)

    return _every(of_normal, a)


def _every(core: Callable[[Term, int], Term], a: Term) -> Term:
    """`core(x, more)`, which is of 2**more x, for every argument."""
    up = a.form.mantissa + 2
    return _finished(~ordinary(a), a, core(a, 0), core(a * 2.0**up, -up))


@dataclass(frozen=True)
class _Short:
    """Of a base and float32: 1 / ln(base) and the logarithm of 2 in two parts, those of c in two, and a polynomial. k times the first of
    2 and the first of c add up without an error.
    """

    factor: tuple[float, float]
    two: tuple[float, float]
    most: tuple[float, ...]
    least: tuple[float, ...]
    rest: tuple[float, ...]

    def of_normal(self, a: Term, more: int = 0) -> Term:
        k, entry, r = interval(a)
        return self.of_interval(as_float(k + more if more else k), entry, r)

    def of_interval(self, k: Term, entry: Term, r: Term, more: Term | None = None) -> Term:
        """The logarithm of 2**k c (1 + r), and `more`."""
        two, beyond = self.two
        base, least = lookup(entry, self.most), lookup(entry, self.least)
        base = k + base if two == 1.0 else fma(k, two, base)
        least = fma(k, beyond, least) if beyond else least
        least = least if more is None else least + more
        factor, lost = self.factor
        series = polynomial if r.dtype.bits == 32 else side_by_side
        least = fma(r, lost, least) if lost else least
        rest = fma(r * r, series(self.rest, r), least)
        return base + (r + rest if factor == 1.0 else fma(r, factor, rest))


_NATURAL_32 = _Short((1.0, 0.0), LN2[32], c.LOG_MOST_32, c.LOG_LEAST_32, c.LOG_TABLE_32)
_LOG2_32 = _Short(
    (1.4426950216293335, 1.925963033500011e-08), (1.0, 0.0), c.LOG2_MOST_32, c.LOG2_LEAST_32, c.LOG2_TABLE_32
)
_LOG10_32 = _Short(
    (0.4342944920063019, -1.010305011847e-08),
    (0.301025390625, 4.605038981195214e-06),
    c.LOG10_MOST_32,
    c.LOG10_LEAST_32,
    c.LOG10_TABLE_32,
)


def _natural(k: Term, f: Term, more: Term | None = None) -> Term:
    """k ln 2 + log(1 + f) + more, of float64."""
    high, low = LN2[f.dtype.bits]
    least = k * low if more is None else fma(k, low, more)
    h = f * f * 0.5
    s = f / (f + 2.0)
    z = s * s
    rest = h - fma(s, fma(z, polynomial(c.LOG_64, z), h), least)
    return fma(k, high, f - rest)


def log_of_product(a: Term, ratio: Term, twos: int = 0) -> Term:
    """log(2**twos a (1 + ratio)) for a normal a above 0 and a ratio of some units of its last place."""
    if a.dtype.bits == 32:
        k, entry, r = interval(a)
        return _NATURAL_32.of_interval(as_float(k + twos if twos else k), entry, r, ratio)
    k, f = split(a)
    return _natural(as_float(k + twos if twos else k), f, ratio)


def log(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return _every(_NATURAL_32.of_normal, a) if a.dtype.bits == 32 else whole_range(_natural, a)


_LOG2_64 = _Short((1.4426950408889634, 2.0355273740931033e-17), (1.0, 0.0), c.LOG2_COARSE, c.LOG2_FINE, c.LOG2_TABLE_64)
_LOG10_64 = _Short(
    (0.4342944819032518, 1.098319650216765e-17), c.LOG10_TWO, c.LOG10_COARSE, c.LOG10_FINE, c.LOG10_TABLE_64
)


def log2(a: Term) -> Term:
    """Within 1 unit of the last place; exact for powers of 2."""
    return _every((_LOG2_32 if a.dtype.bits == 32 else _LOG2_64).of_normal, a)


def log10(a: Term) -> Term:
    """Within 1 unit of the last place; exact for powers of 10."""
    return _every((_LOG10_32 if a.dtype.bits == 32 else _LOG10_64).of_normal, a)


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
    special = where(a.equals(-1.0), -INF, where(a > 0.0, a, NAN))
    return copysign(rarely(~ordinary(total), special, log_of_product(total, lost / total)), a)
