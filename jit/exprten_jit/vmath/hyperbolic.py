"""sinh and cosh, of powers of two and polynomials; tanh, of 16 pieces or exp(abs(x)); their inverses, of a logarithm whose argument has two parts."""

from __future__ import annotations

from dataclasses import dataclass

from . import coefficients as c
from .double import Double
from .exp import LOG2_E, exp_between
from .log import LN2, log_of_product
from .power import about_inverse, root
from .terms import (
    INF,
    NAN,
    Term,
    as_float,
    copysign,
    fabs,
    fast_two_sum,
    fma,
    lesser,
    lookup,
    nearest,
    polynomial,
    power_of_two,
    rarely,
    scale,
    side_by_side,
    two_product,
    two_sum,
    where,
)

_PIECES = (c.TANH_0_32, c.TANH_1_32, c.TANH_2_32, c.TANH_3_32, c.TANH_4_32, c.TANH_5_32, c.TANH_6_32)


def tanh(a: Term) -> Term:
    """Within 1 unit of the last place, of float64 within 1.1."""
    return copysign(_tanh32(fabs(a)) if a.dtype.bits == 32 else _tanh64(fabs(a)), a)


def _tanh32(x: Term) -> Term:
    """Of c + r it is s + r m, m a polynomial of r: of 16 pieces, which are quarters of binades of x + 3/4."""
    y = lesser(x, 10.0)
    piece = (y + 0.75).bits() >> 21
    r = y - lookup(piece, c.TANH_AT_32)
    s, *series = (lookup(piece, entries) for entries in _PIECES)
    return fma(polynomial(series, r), r, s)


def _tanh64(x: Term) -> Term:
    """A polynomial up to 1 or so, then 1 - 2 / (exp(2 x) + 1)."""
    y = lesser(x, 20.0)
    z = y * y
    near = fma(y * z, polynomial(c.TANH_64, z), y)
    return where(y < 0.9**0.5, near, 1.0 - 2.0 / (exp_between(y + y) + 1.0))


@dataclass(frozen=True)
class _Hyperbolic:
    """Of a format: up to where 2**k is finite, where both functions are infinite, and polynomials of sinh and cosh."""

    finite: float
    infinite: float
    sinh: tuple[float, ...]
    cosh: tuple[float, ...]


_ROWS = {
    32: _Hyperbolic(88.0, 89.5, c.SINH_32, c.COSH_32),
    64: _Hyperbolic(709.0, 710.6, c.SINH_64, c.COSH_64),
}


def _by_angles(y: Term, odd: bool, unit: float = 1.0) -> Term:
    """sinh(k ln 2 + r) = A cosh(r) + B sinh(r), A and B being sinh(k ln 2) and cosh(k ln 2); where not `odd` cosh, the other way round. Times
    `unit`. r is the difference of `first`, which is exact, and `second`.
    """
    rows, (high, low) = _ROWS[y.dtype.bits], LN2[y.dtype.bits]
    k, _ = nearest(y, LOG2_E)
    up, down = scale(y.like(0.5 * unit), k), scale(y.like(0.5 * unit), -k)
    base, lost = fast_two_sum(up, -down if odd else down)
    slope = up + down if odd else up - down
    first, second = fma(k, -high, y), k * low
    r = first - second
    z = r * r
    sinh_rest = fma(r * z, polynomial(rows.sinh, z), -second)
    rest = fma(base * z, polynomial(rows.cosh, z), fma(slope, sinh_rest, lost))
    if odd and y.dtype.bits == 32:  # the last bit of `slope` may be a third of a unit; of float64 that stays within one
        rest = fma(fast_two_sum(up, down)[1], first, rest)
    return base + fma(slope, first, rest)


def _everywhere(a: Term, odd: bool) -> Term:
    rows, y = _ROWS[a.dtype.bits], fabs(a)
    far = _by_angles(lesser(y, rows.infinite), odd, 0.5) * 2.0
    return rarely(y > rows.finite, far, _by_angles(y, odd))


def sinh(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return copysign(_everywhere(a, odd=True), a)


def cosh(a: Term) -> Term:
    """Within 1 unit of the last place."""
    return _everywhere(a, odd=False)


_ASINH = {32: c.ASINH_32, 64: c.ASINH_64}
_ACOSH = {32: c.ACOSH_32, 64: c.ACOSH_64}
_ATANH = {32: c.ATANH_32, 64: c.ATANH_64}


def _log_of_sum(s: Double, first: tuple[Term, Term]) -> Term:
    """log(x + s), `first` being x and s.high in falling order."""
    w, lost = fast_two_sum(*first)
    return log_of_product(w, (lost + s.low) * about_inverse(w))


def _unless_large(x: Term, value: Term) -> Term:
    """log(2 x), where 1 is nothing beside x²."""
    far = where(x < INF, log_of_product(x, x.like(0.0), 1), x)
    return rarely(~(x <= 2.0 ** (x.form.mantissa // 2 + 4)), far, value)


def arcsinh(a: Term) -> Term:
    """log(x + sqrt(x² + 1)), and up to 1/2 a polynomial. Within 1 unit of the last place."""
    x = fabs(a)
    z, lost = two_product(x, x)
    series = polynomial if a.dtype.bits == 32 else side_by_side
    near = fma(x * z, series(_ASINH[a.dtype.bits], z), x)
    square, beyond = two_sum(z, z.like(1.0))
    s = root(square, beyond + lost)
    return copysign(_unless_large(x, where(x < 0.5, near, _log_of_sum(s, (s.high, x)))), a)


def arccosh(a: Term) -> Term:
    """log(x + sqrt(x² - 1)), and up to 1.5, with t = x - 1, sqrt(2 t) and a polynomial. Within 1 unit of the last place; NaN below 1."""
    t = a - 1.0
    near = t < 0.5
    z, lost = two_product(a, a)
    square, beyond = fast_two_sum(z, z.like(-1.0))
    s = root(where(near, t + t, square), where(near, 0.0, beyond + lost))
    value = s.high + fma(s.high * t, polynomial(_ACOSH[a.dtype.bits], t), s.low)
    return _unless_large(a, where(near, value, _log_of_sum(s, (a, s.high))))


def arctanh(a: Term) -> Term:
    """k ln(2) / 2 + atanh(s), where 2**k is about (1 + x) / (1 - x), and s the difference of 1 + x and 2**k (1 - x) over their sum: both sides in two
    parts. Within 1 unit of the last place; NaN beyond 1.
    """
    x = fabs(a)
    high, low = (part / 2 for part in LN2[x.dtype.bits])
    (above, more), (below, less) = fast_two_sum(1.0, x), fast_two_sum(1.0, -x)
    apart = above.bits() - below.bits()  # about the logarithm of their quotient
    k = (apart + (1 << (x.form.mantissa - 1))) >> x.form.mantissa
    power = power_of_two(k, x.dtype)
    scaled, count = below * power, as_float(k)
    d, lost = fast_two_sum(above, scaled)
    n, inverse = above - scaled, 1.0 / d
    s = n * inverse
    rest = fma(-s, lost + fma(less, power, more), fma(-s, d, n) + fma(-less, power, more)) * inverse
    z = s * s
    rest = fma(z * s, polynomial(_ATANH[x.dtype.bits], z), fma(count, low, rest))
    value = fma(count, high, s + rest)
    return copysign(where(x < 1.0, value, where(x.equals(1.0), x.like(INF), NAN)), a)
