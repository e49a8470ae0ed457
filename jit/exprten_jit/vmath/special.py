"""erf, erfc, erfinv, gamma, lgamma, digamma and trigamma. But for erf of float32 they are computed in float64."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

from . import coefficients as c
from . import narrow
from .double import Double, choice, constant, double, normal, product, total
from .double import sqrt as root_of
from .exp import exp_parts
from .log import log, log1p_double, split
from .power import exp2_double, exp_of_half, log2_double
from .terms import (
    INF,
    NAN,
    Term,
    as_float,
    copysign,
    fabs,
    fast_two_sum,
    fma,
    greater,
    lesser,
    lookup,
    polynomial,
    rarely,
    rint,
    scale,
    side_by_side,
    sqrt,
    two_product,
    where,
)
from .trig import angle_of_turns, sine

_ERF = tuple(getattr(c, f"ERF_{n}_64") for n in range(14))
_ERFCX = tuple(getattr(c, f"ERFCX_{n}_64") for n in range(15))


def erf(a: Term) -> Term:
    """Within 1.02 units of the last place."""
    return copysign(_erf64(fabs(a)) if a.dtype.bits == 64 else _erf32(fabs(a)), a)


def _erf32(x: Term) -> Term:
    """A polynomial up to 1 or so, then 1 - exp(log(erfc(x))); from 4 on it is 1."""
    y = lesser(x, 4.0)
    near = fma(y, polynomial(c.ERF_32, y * y), y)
    high, low = fast_two_sum(c.LOG_ERFC_32[0], y * polynomial(c.LOG_ERFC_32[1:], y))
    size, lost = two_product(y, high)
    r, rest, k = exp_parts(-size)
    return where(y <= 0.97, near, 1.0 - scale(1.0 + (r + (rest - fma(y, low, lost))), k))


def _erf64(x: Term) -> Term:
    y = lesser(x, 5.9375)  # from there on it is 1
    count = fma(y, 15 / 16, 0.375)
    s, r, m = _in_pieces(y, count, c.ERF_AT_64, _ERF)
    return fma(m, r, where(count < 0.4375, y, s))  # in the first piece s is 0, and m that of erf(x) - x


def _in_pieces(
    x: Term, count: Term, middles: tuple[float, ...], tables: Sequence[tuple[float, ...]]
) -> tuple[Term, Term, Term]:
    """(s, r, m): a function is s + r m, where x is r more than the middle of a piece, the quarter of a binade in which `count` lies."""
    piece = count.bits() >> (x.form.mantissa - 2)
    r = x - lookup(piece, middles)
    s, *series = (lookup(piece, entries) for entries in tables)
    return s, r, side_by_side(series, r)


def _last_step(coefficients: tuple[float, ...], t: Term) -> Double:
    """A polynomial whose last sum is not rounded."""
    return total(t * polynomial(coefficients[1:], t), coefficients[0])


def erfc(a: Term) -> Term:
    """exp(-x²) g(x), g in 16 pieces; of float32, in float64, g(t) / (1 + 2 x) with t = (x - 3.75) / (x + 3.75). (Shepherd and Laframboise
    1981) Within 1 unit of the last place.
    """
    return _erfc64(a) if a.dtype.bits == 64 else _erfc32(a)


def _erfc32(a: Term) -> Term:
    """In float64, whose rounding float32 does not see."""
    x = lesser(fabs(a), 10.4).to("float64")
    value = narrow.exp(-x * x) * polynomial(c.ERFC_F, (x - 3.75) / (x + 3.75)) / (x + x + 1.0)
    return where(a < 0.0, 2.0 - value, value).to(a.dtype)


def _erfc64(a: Term) -> Term:
    y = lesser(fabs(a), 27.5)
    s, r, m = _in_pieces(y, fma(y, 15 / 32, 0.875), c.ERFCX_AT_64, _ERFCX)
    near, lost = two_product(m, r)
    g, low = fast_two_sum(s, near)
    twice = y * -2.0
    square = twice * y
    power, r, series, k = exp_of_half(Double(square, fma(twice, y, -square)))
    value, beyond = two_product(power, g)
    far = scale(value + fma(value, r * series, fma(power, low + lost, beyond)), k)
    return where(a < 0.0, 2.0 - far, far)


def erfinv(a: Term) -> Term:
    """a times a function of w = -log(1 - a²). (Giles 2010) Within 1 unit of the last place; NaN beyond 1."""
    value = _erfinv64(a) if a.dtype.bits == 64 else _erfinv32(a.to("float64")).to(a.dtype)
    return copysign(where(fabs(a) < 1.0, value, where(fabs(a).equals(1.0), a.like(INF), NAN)), a)


def _erfinv32(a: Term) -> Term:
    """In float64, where 1 - a² of a float32 has no error. Near ±1 only few numbers lie."""
    w = narrow.log2(1.0 - a * a) * -narrow.LN2
    far = polynomial(c.ERFINV_MIDDLE_F, sqrt(greater(w, 6.0)) - 3.25)
    return a * rarely(w >= 6.25, far, side_by_side(c.ERFINV_NEAR_F, w - 3.0))


def _erfinv64(a: Term) -> Term:
    square = product(a, a)
    log = log1p_double(lesser(-square.high, 0.0), -square.low)
    log = normal(-log.high, -log.low)
    w = log.high
    root = root_of(choice(w > 6.0, log, double(w.like(6.0))))
    middle = _refined(c.ERFINV_MIDDLE, c.ERFINV_MIDDLE_LOW, root + double(w.like(-3.25)))
    far = choice(w < 16.0, middle, _refined(c.ERFINV_FAR, c.ERFINV_FAR_LOW, root + double(w.like(-5.0))))
    near = _refined(c.ERFINV_NEAR, c.ERFINV_NEAR_LOW, log + double(w.like(-3.0)))
    return rarely(w >= 6.25, (double(a) * far).value, (double(a) * near).value)


def _refined(coefficients: tuple[float, ...], low: tuple[float, ...], t: Double) -> Double:
    """A polynomial whose last two sums are not rounded, nor the coefficients there, of which `low` is the rest."""
    last, next_to_last, *others = coefficients
    slope = total(t.high * side_by_side(others, t.high), next_to_last)
    slope = Double(slope.high, slope.low + low[1])
    return double(t.high) * slope + Double(t.high.like(last), fma(t.low, next_to_last, low[0]))


# Gamma. Of x from 8 on: (x - 1/2) log(x) - x + log(2 pi) / 2 + S(1 / x²) / x (Stirling); below 8 of x + 8, less the product of x to x + 7.

_SHIFT = 8


def _logs(x: Term) -> tuple[Double, Double]:
    """Of a positive x: log2 of gamma of x or x + 8, and the product of what lies between, or 1."""
    near = x < float(_SHIFT)
    base = total(x, where(near, x.like(float(_SHIFT)), 0.0))
    y = base.high
    k, f = split(y)
    log2 = log2_double(as_float(k), f)
    log2_e = constant(x, c.LOG2_E)
    tail = constant(x, c.STIRLING) + product(polynomial(c.STIRLING_64, 1.0 / (y * y)) / y, log2_e.high)
    value = total(y, -0.5) * log2 + tail - double(y) * log2_e
    value = value + double(base.low * log2.high)
    w, steps = _steps(x)
    for step in steps:
        w = w * step
    return value, choice(near, w, double(x.like(1.0)))


def _steps(x: Term) -> tuple[Double, list[Double]]:
    """x (x + 1) ... (x + 7) in four factors, of which the first is w = x (x + 7)."""
    w = product(x, x) + product(x, x.like(7.0))
    return w, [w + double(x.like(n)) for n in (6.0, 10.0, 12.0)]


@narrow.beside(narrow.gamma)
def gamma(a: Term) -> Term:
    """Within 2 units of the last place; NaN for whole numbers below 0."""
    size = fabs(a)
    value, k = _gamma(lesser(size, 190.0))
    turned = sine(angle_of_turns(a * 0.5))
    odd = ~((a > 2.0**-60) & (a < INF))
    # gamma(a) gamma(1 - a) = pi / sin(pi a), and gamma(1 - a) = -a gamma(-a), which is infinite before gamma(a) is 0
    far = -(constant(a, c.PI_64) / product(a, turned) / value).value * scale(a.like(1.0), 200.0 - k) * 2.0**-200
    far = where(rint(a).equals(a), NAN, far)
    far = where(size <= 2.0**-60, 1.0 / a, far)
    return rarely(odd, where(a.equals(INF), a, far), scale(value.value, k))


def _gamma(x: Term) -> tuple[Double, Term]:
    """Of a positive x, over a power of two, and its exponent."""
    size, between = _logs(x)
    value, k = exp2_double(size, 200.0)
    return value / between, k


@narrow.beside(narrow.lgamma)
def lgamma(a: Term) -> Term:
    """log(abs(gamma(a))). Above 0 within 2 units of the last place; below 0 within 2 of the larger of it and 1."""
    x = fabs(a)
    positive = _lgamma(x)
    turned = fabs(sine(angle_of_turns(a * 0.5)) * a)
    far = where(x < 1e-100, -log(x), -log(turned * (1 / pi)) - positive)
    far = where(rint(a).equals(a) | x.equals(INF), INF, far)
    return rarely(~((a > 1e-100) & (a < INF)), where(a.equals(a), far, a), positive)


def _lgamma(x: Term) -> Term:
    ln2 = constant(x, c.LN2_64)
    size, between = _logs(lesser(x, 2.0**60))
    # around 1 and 2: log(gamma(2 + u)) is u H(u), and log(gamma(1 + u)) log(1 + u) less
    middle, first = (x >= 0.5) & (x < 2.5), x < 1.5
    u = where(first, x - 1.0, x - 2.0)
    between = choice(middle, double(where(first, x, 1.0)), between)
    k, f = split(between.high)
    less = (log2_double(as_float(k), f) + double(between.low / between.high * (1 / c.LN2_64[0]))) * ln2
    value = (choice(middle, double(u) * _last_step(c.LGAMMA_64, u), size * ln2) - less).value
    k, f = split(lesser(x, 2.0**1023))
    large = x * (log2_double(as_float(k), f) * ln2 - double(x.like(1.0))).value
    return rarely(x > 2.0**57, large, value)


@narrow.beside(narrow.digamma)
def digamma(a: Term) -> Term:
    """The derivative of lgamma. Above 0 within 2 units of the last place; below 0 within 2 of its larger part."""
    x = where(a > 0.0, a, 1.0 - a)
    positive = _digamma(x)
    part = pi * sine(angle_of_turns(a * 0.5, 1)) / sine(angle_of_turns(a * 0.5))
    far = where(rint(a).equals(a), NAN, positive - part)
    far = where(fabs(a) < 2.0**-60, -1.0 / a, far)
    return rarely(~((a > 0.0) & (a < INF)), where(a > 0.0, a, far), positive)


def _digamma(x: Term) -> Term:
    near = x < float(_SHIFT)
    base = total(x, where(near, x.like(float(_SHIFT)), 0.0))
    y = base.high
    k, f = split(y)
    ln = log2_double(as_float(k), f) * constant(x, c.LN2_64)
    below, steps = _steps(x)
    above = double(x.like(1.0))
    for step in steps:
        above, below = above * step + below, below * step
    above = above * total(x + x, 7.0)
    w = 1.0 / (y * y)
    value = ln - double(x.like(0.5)) / double(y) - double(w * polynomial(c.DIGAMMA_64, w)) + double(base.low / y)
    value = value - choice(near, above / below, double(x.like(0.0)))
    root = total(x - c.DIGAMMA_ROOT[0], -c.DIGAMMA_ROOT[1])
    found = where(fabs(root.high) < 0.1, _digamma_near(root), value.value)
    return where(x < 2.0**-60, -1.0 / x, found)


def _digamma_near(root: Double) -> Term:
    """The slope at the root is a number of twice the precision."""
    (slope, *rest), low = c.DIGAMMA_NEAR, c.DIGAMMA_NEAR_LOW
    more = fma(root.high, polynomial(rest, root.high), low[0])
    return fma(root.high, slope, fma(root.high, more, root.low * slope))


@narrow.beside(narrow.trigamma)
def trigamma(a: Term) -> Term:
    """The derivative of digamma. Above 0 within 2 units of the last place, below 0 within 4."""
    x = where(a > 0.0, a, 1.0 - a)
    positive = _trigamma(x)
    # trigamma(a) + trigamma(1 - a) = (pi / sin(pi a))²
    part = constant(a, c.PI_64) / double(sine(angle_of_turns(a * 0.5)))
    far = (part * part - double(positive)).value
    far = where(rint(a).equals(a), where(a.equals(-INF), NAN, a.like(INF)), far)
    far = where(fabs(a) < 2.0**-60, (1.0 / a) * (1.0 / a), far)
    return rarely(~((a > 0.0) & (a < INF)), where(a > 0.0, 0.0, far), positive)


def _trigamma(x: Term) -> Term:
    near = x < float(_SHIFT)
    inverse = double(x.like(1.0)) / total(x, where(near, x.like(float(_SHIFT)), 0.0))
    v = inverse.high * inverse.high
    value = inverse + (inverse * inverse).times(0.5) + double(v * inverse.high * polynomial(c.TRIGAMMA_64, v))
    # of x + n and x + 7 - n, whose product is w + k, the squares of the reciprocals are (2 w + 49 - 2 k) / (w + k)²
    w, steps = _steps(x)
    between = double(x.like(0.0))
    for step, more in zip((*steps[::-1], w), (25.0, 29.0, 37.0, 49.0), strict=True):
        between = between + (w.times(2.0) + double(x.like(more))) / (step * step)
    first = 1.0 / x
    value = value + choice(near, between, double(x.like(0.0)))
    found = where(x > 2.0**30, fma(first * 0.5, first, first), value.value)
    return where(x < 2.0**-60, first * first, found)
