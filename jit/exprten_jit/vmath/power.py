"""power, and what is made of roots: cbrt, hypot, rsqrt."""

from __future__ import annotations

from dataclasses import dataclass

from . import coefficients as c
from . import terms
from .double import Double, product
from .exp import LOG2_E
from .log import LN2, interval
from .terms import (
    INF,
    NAN,
    Term,
    as_float,
    copysign,
    fabs,
    fast_two_sum,
    floor,
    fma,
    greater,
    lesser,
    lookup,
    nearest,
    ordinary,
    polynomial,
    rarely,
    scale,
    trunc,
    two_product,
    where,
)


def log2_double(k: Term, f: Term) -> Double:
    """The logarithm to base 2 of 2**k (1 + f), within 2**-64 of itself: k and s (c0 + z (c1 + z P(z))), s = f / (2 + f), z = s²."""
    below = f + 2.0
    inverse = 1.0 / below
    s = f * inverse
    s_low = fma(-s, f - (below - 2.0), fma(-s, below, f)) * inverse
    z, lost = two_product(s, s)
    z_low = fma(s + s, s_low, lost)
    t, t_low = fast_two_sum(c.LOG2_SECOND[0], z * polynomial(c.LOG2_64, z))
    u, lost = two_product(z, t)
    u_low = fma(z, t_low + c.LOG2_SECOND[1], fma(z_low, t, lost))
    v, v_low = fast_two_sum(c.LOG2_FIRST[0], u)
    near, lost = two_product(s, v)
    low = fma(s, v_low + (u_low + c.LOG2_FIRST[1]), fma(s_low, v, lost))
    high, lost = fast_two_sum(k, near)
    return Double(high, lost + low)


_HALF_INVERSE = {32: 0x7E7311C3, 64: 0x7FCE623822FC16E6}
_CBRT = {32: c.CBRT_32, 64: c.CBRT_64}


def exp2_double(a: Double, above: float = 2.0) -> tuple[Double, Term]:
    """2**a over a power of two, and its exponent, which is right up to so far `above` the largest of the type."""
    form = a.high.form
    high = lesser(greater(a.high, -2.0 * form.bias), form.bias + above)
    low = where(high.equals(a.high), a.low, 0.0)
    k, _ = nearest(high, 1.0)
    t, low = fast_two_sum(high - k, low)
    r, lost = two_product(t, c.LN2_64[0])
    r_low = fma(low, c.LN2_64[0], fma(t, c.LN2_64[1], lost))
    one, lost = fast_two_sum(1.0, r)
    return Double(one, fma(t * t, polynomial(c.EXP2_64[1:], t), lost + fma(r, r_low, r_low))), k


@dataclass(frozen=True)
class _Power:
    """Of a format: twice the arguments at which exp is 0 and infinite; the logarithm of 4 and those of c², each in two parts, the first
    so short that they add up without an error, and a polynomial in two halves; 2**(j / 16), what is left of it, and a polynomial.
    """

    bound: float
    two: tuple[float, ...]
    coarse: tuple[float, ...]
    fine: tuple[float, ...]
    log: tuple[tuple[float, ...], ...]
    powers: tuple[float, ...]
    rest: tuple[float, ...]
    exp: tuple[float, ...]


_POWER = {
    32: _Power(
        224.0,
        c.LOG_TWO_32,
        c.LOG_COARSE_32,
        c.LOG_FINE_32,
        (c.POWER_LOG_32,),
        c.EXP_SIXTEENTH_32,
        c.EXP_SIXTEENTH_REST_32,
        c.EXP_TABLE_32,
    ),
    64: _Power(
        1500.0,
        c.LOG_TWO_64,
        c.LOG_COARSE_64,
        c.LOG_FINE_64,
        (c.POWER_LOG_64[:5], c.POWER_LOG_64[5:]),
        c.EXP_SIXTEENTH_64,
        c.EXP_SIXTEENTH_REST_64,
        c.EXP_TABLE_64,
    ),
}


def _twice_log(x: Term, more: Term | int) -> Double:
    """The logarithm of (2**more x)² for a normal x above 0, within 2**-36 of itself, of float64 2**-64: k of log(4), that of c², and
    2 log(1 + r).

    With c one of 16 and 1 + r = 2**-k x / c, r is exact; 2 r - r² is kept in two parts.
    """
    rows = _POWER[x.dtype.bits]
    count, entry, r = interval(x)
    k = as_float(count + more)
    square, double = r * r, r + r
    base = fma(k, rows.two[0], lookup(entry, rows.coarse))
    least = fma(k, rows.two[1], lookup(entry, rows.fine))
    near = double - square
    high, beyond = fast_two_sum(base, near)
    cube, (series, *further) = square * r, (polynomial(part, r) for part in rows.log)
    for part in further:
        series = fma(cube * square, part, series)
    least = fma(cube, series, least - fma(r, r, -square))
    return Double(high, least + (((double - near) - square) + beyond))


def exp_of_half(a: Double) -> tuple[Term, Term, Term, Term]:
    """(p, r, s, k): exp((a.high + a.low) / 2) is 2**k p (1 + r s), p one of 16 numbers and r at most ln(2) / 16."""
    rows, (high, low) = _POWER[a.high.dtype.bits], LN2[a.high.dtype.bits]
    k, shifted = nearest(a.value, 8 * LOG2_E, unit=1 / 16)
    power, rest = (lookup(shifted.bits(), entries) for entries in (rows.powers, rows.rest))
    r = fma(k, -2.0 * high, a.high) + (fma(k, -2.0 * low, a.low) + rest)
    return power, r, polynomial([x * 0.5**n for n, x in enumerate((1.0, *rows.exp), 1)], r), floor(k)


def _of_normal(x: Term, y: Term, more: Term | int = 0, far: bool = False) -> tuple[Term, Term]:
    """((2**more x)**y, twice its logarithm) for a normal x above 0; unless `far` the logarithm has to be within the bound."""
    log, bound = _twice_log(x, more), _POWER[x.dtype.bits].bound
    high = y * log.high
    low = fma(y, log.low, fma(y, log.high, -high))
    if far:
        near = lesser(greater(high, -bound), bound)
        high, low = near, where(near.equals(high), low, 0.0)
    p, r, series, k = exp_of_half(Double(high, low))
    return scale(fma(p * r, series, p), k), high


def power(x: Term, y: Term) -> Term:
    """Within 1 unit of the last place; C's values for zeros, infinities, NaN and a base below 0."""
    size, up = fabs(x), x.form.mantissa + 2
    base = where(size.equals(0.0) | ~(size < INF), 1.0, size)
    small = base < x.form.tiny
    there, _ = _of_normal(where(small, base * 2.0**up, base), y, where(small, base.bits().like(-up), 0), far=True)
    value, twice_log = _of_normal(x, y)
    odd = ~(ordinary(x) & (fabs(twice_log) < _POWER[x.dtype.bits].bound))
    return rarely(odd, _special(x, y, there), value)


def _special(x: Term, y: Term, ordinary: Term) -> Term:
    size = fabs(x)
    whole = trunc(y).equals(y)
    half = y * 0.5
    odd = whole & trunc(half).differs(half)
    edge = size.equals(0.0) | size.equals(INF)
    value = where(edge, where(size.equals(0.0) ^ (y < 0.0), x.like(0.0), INF), ordinary)
    value = where((copysign(x.like(1.0), x) < 0.0) & odd, -value, value)
    value = where((x < 0.0) & (size < INF) & ~whole, NAN, value)
    endless = where(size.equals(1.0), x.like(1.0), where((size > 1.0) ^ (y < 0.0), x.like(INF), 0.0))
    value = where(fabs(y).equals(INF), endless, value)
    value = where(x.equals(x) & y.equals(y), value, NAN)
    return where(x.equals(1.0) | y.equals(0.0), 1.0, value)


def root(a: Term, beyond: Term) -> Double:
    """sqrt(a + beyond), where `beyond` is less than a unit of the last place of a; its second part is right to an eighth."""
    s = terms.sqrt(a)
    return Double(s, (fma(-s, s, a) + beyond) * _half_inverse(s))


def _half_inverse(a: Term) -> Term:
    """About 1 / (2 a): its bits are a constant less those of a."""
    return (a.bits().like(_HALF_INVERSE[a.dtype.bits]) - a.bits()).bits(a.dtype)


def about_inverse(a: Term) -> Term:
    """1 / a, wrong by an eighth at most."""
    return (a.bits().like(_HALF_INVERSE[a.dtype.bits] + (1 << a.form.mantissa)) - a.bits()).bits(a.dtype)


def rsqrt(a: Term) -> Term:
    """1 / sqrt(a), with one step of Newton's. Within 1 unit of the last place."""
    q = 1.0 / terms.sqrt(a)
    t = product(a, q)
    rest = fma(-t.high, q, 1.0) - t.low * q
    return where((a > 0.0) & (a < INF), fma(q * 0.5, rest, q), q)


def hypot(a: Term, b: Term) -> Term:
    """sqrt(a² + b²), without overflow. Within 1 unit of the last place."""
    x, y = fabs(a), fabs(b)
    most, least = where(x > y, x, y), where(x > y, y, x)
    bias, up = a.form.bias, 30 if a.dtype.bits == 32 else 62  # what squares lose is not lost from 2**(2 up - bias) on
    scale = where(most > 1.0, a.like(2.0 ** -(bias // 2 + 4)), 2.0 ** (bias // 2 + up))
    far, _ = _length(most * scale, least * scale)
    far = where(most > 0.0, far / scale, most + least)
    far = where(x.equals(INF) | y.equals(INF), INF, where(x.equals(x) & y.equals(y), far, NAN))
    value, square = _length(most, least)
    return rarely(~ordinary(square, least=2 * up - bias), far, value)


def _length(most: Term, least: Term) -> tuple[Term, Term]:
    """sqrt(most² + least²) and its square: of the second square, the smaller one, it is not kept what is lost."""
    square, other = most * most, least * least
    total = square + other
    beyond = (other - (total - square)) + fma(most, most, -square)
    s = terms.sqrt(total)
    return fma(fma(-s, s, total) + beyond, _half_inverse(s), s), total


def cbrt(a: Term) -> Term:
    """Within 1 unit of the last place; of float64 nearly always the nearest number."""
    size, form = fabs(a), a.form
    up = 3 * (form.mantissa // 3 * 2 + 4)
    least = up - form.bias - form.mantissa  # below, what is left of a cube is subnormal
    there = where((size > 0.0) & (size < INF), _cube_root(size * 2.0**up) * 2.0 ** (-up // 3), size)
    return copysign(rarely(~ordinary(size, least=least), there, _cube_root(size)), a)


def _cube_root(x: Term) -> Term:
    """A third of the bits says y, about 1 / cbrt(x). The root is x y² (1 - d)**(-2 / 3) with d = 1 - x y³, which is at most 0.104, and a
    step of Newton's, whose derivative is made of the same.
    """
    form, last = x.form, {32: 8, 64: 32}[x.dtype.bits]  # bits of x that are not looked at
    guess = round((4 / 3 * form.bias - 0.07) * 2.0 ** (form.mantissa - last))
    y = (fma(as_float(x.bits() >> last), -1 / 3, 2.0**form.mantissa + guess).bits() << last).bits(x.dtype)
    square = y * y
    root = x * square
    d = fma(-root, y, 1.0)
    factor = fma(d, polynomial(_CBRT[x.dtype.bits], d), 1.0)
    root, inverse = root * factor, square * factor
    rest = _less_cube(x, root) * (1 / 3)
    return fma(rest, inverse, root)


def _less_cube(x: Term, root: Term) -> Term:
    """x - root³; of float64 as if rounded once."""
    if x.dtype.bits == 32:
        return fma(-(root * root), root, x)
    square, lost = two_product(root, root)
    return fma(-lost, root, fma(-square, root, x))
