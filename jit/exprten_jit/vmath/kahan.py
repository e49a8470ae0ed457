"""Inverse sines and tangents of complex numbers, and powers.

The inverse functions are W. Kahan's (Branch Cuts for Complex Elementary Functions, 1987): roots of 1 + z and 1 - z, whose products add
numbers of one sign.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import wide
from .analytic import LN2, by_size, cos_sin, exp, in_turn, log_size, raised, roots, table
from .angles import angle_of
from .coefficients import PI_64
from .double import Double, choice, constant, double, normal, product, total
from .double import sqrt as root
from .inverse import arctan2
from .log import log as real_log
from .log import log1p_double
from .paired import Complex, chosen, divide, multiply
from .power import hypot
from .terms import INF, NAN, Term, copysign, fabs, trunc, where

FAR = 2.0**30  # beyond it 1 + z² is z² to the last place
HALF_PI, PI = 1.5707963267948966, 3.141592653589793


def _asinh(a: Double) -> Term:
    """Of a number from 0 to 2**31."""
    square = a * a
    one = double(a.high.like(1.0))
    u = a + square / (root(square + one) + one)
    return log1p_double(u.high, u.low).value


def _kahan(z: Complex) -> tuple[Term, Complex, Complex]:
    """Where abs(z) is not too large, and there the parts, as they are for the absolute values of those of z, of arcsin and arccos."""
    x, y = fabs(z.re), fabs(z.im)
    near = (x < FAR) & (y < FAR)
    x, y = where(near, x, 0.0), where(near, y, 0.0)
    up_re, up_im = roots(total(x, 1.0), y)
    down_re, down_im = roots(total(-x, 1.0), y)  # of 1 - x - i y: the imaginary part with its other sign
    across = up_re * down_re + up_im * down_im
    size = _asinh(down_re * up_im + down_im * up_re)
    return near, Complex(angle_of(double(x), across), size), Complex(angle_of(down_re, up_re) * 2.0, size)


def arcsin(z: Complex) -> Complex:
    near, found, _ = _kahan(z)
    far = Complex(arctan2(fabs(z.re), fabs(z.im)), log_size(z).value + LN2)
    found = chosen(near, found, far)
    flat = z.re.equals(0.0)
    return Complex(where(flat, z.re, copysign(found.re, z.re)), copysign(found.im, z.im))


def arccos(z: Complex) -> Complex:
    near, _, found = _kahan(z)
    far = Complex(arctan2(fabs(z.im), fabs(z.re)), log_size(z).value + LN2)
    found = chosen(near, found, far)
    behind = copysign(z.re.like(1.0), z.re) < 0.0
    mirrored = total(found.re.like(PI), -found.re)
    re = where(behind, (mirrored.high + (mirrored.low + 1.2246467991473532e-16)), found.re)
    return Complex(where(z.re.equals(0.0), HALF_PI, re), -copysign(found.im, z.im))


def arccosh(z: Complex) -> Complex:
    """i arccos(z), on the side on which the real part is not below 0."""
    found = arccos(z)
    return Complex(fabs(found.im), copysign(found.re, z.im))


arcsinh = in_turn(arcsin)


def arctanh(z: Complex) -> Complex:
    """log(1 + 4 x / ((1 - x)² + y²)) / 4, and half the angle of ((1 - x) (1 + x) - y², 2 y)."""
    x, y = fabs(z.re), fabs(z.im)
    near = (x < 2.0**400) & (y < 2.0**400)
    pole = x.equals(1.0) & y.equals(0.0)
    p, q = where(near & ~pole, x, 0.0), where(near & ~pole, y, 0.0)
    less, more = total(-p, 1.0), total(p, 1.0)
    below = less * less + product(q, q)
    u = double(p * 4.0) / below
    re = log1p_double(u.high, u.low).value * 0.25
    re = where(below.high < 2.0**-900, (LN2 - real_log(where(q > 0.0, q, 1.0))) * 0.5, re)  # y² may have vanished
    along = less * more - product(q, q)
    behind = along.high < 0.0
    im = angle_of(double(q + q), choice(behind, -along, along), behind) * 0.5
    re, im = where(pole, INF, re), where(pole, 0.0, where(along.high.equals(0.0), HALF_PI / 2, im))
    quarter = x * 0.25
    size = hypot(quarter, y * 0.25)  # that of x and y may be none
    there = Complex(
        where(z.infinite, 0.0, quarter / size / size * 0.25),
        where(y.equals(y) & ~(z.nan & ~z.infinite), HALF_PI, y.like(NAN)),
    )
    re, im = where(near, re, there.re), where(near, im, there.im)
    re = where(x.equals(0.0), 0.0, re)
    return Complex(copysign(re, z.re), copysign(im, z.im))


arctan = in_turn(arctanh)


# Powers.


def power(a: Complex, b: Complex) -> Complex:
    """exp(b log(a)); to whole numbers below 100 products. Of 0 it is 0 where the exponent's real part is above 0, else NaN."""
    size, angle = log_size(a), _wide_angle(a)
    x, y = double(b.re), double(b.im)
    re, im = x * size - y * angle, x * angle + y * size
    finite = (fabs(re.high) < INF) & (fabs(im.high) < INF)
    cos, sin = cos_sin(im)
    usual = chosen(finite, Complex(*raised(re, cos, sin)), exp(multiply(b, Complex(size.high, angle.high))))
    none, real = a.re.equals(0.0) & a.im.equals(0.0), b.im.equals(0.0)
    zero, nan = x.high.like(0.0), x.high.like(NAN)
    usual = chosen(none, chosen(b.re > 0.0, Complex(zero, zero), Complex(nan, nan)), usual)
    whole = real & trunc(b.re).equals(b.re) & (fabs(b.re) < 100.0)
    products, lost = _whole_power(a, b.re, whole)
    return chosen(whole & ~(none & b.re.differs(0.0)) & ~(lost & ~a.infinite & ~a.nan), products, usual)


def _wide_angle(z: Complex) -> Double:
    """arctan2 within 2**-64, of a finite number that is not 0: one step of Newton's, with its cosine and sine."""
    x, y = fabs(z.re), fabs(z.im)
    most = where(x > y, x, y)
    by, usual = by_size(most, 2.0**600, 1.0, 2.0**-600), (most > 0.0) & (most < INF)
    x, y = where(usual, x * by, 1.0), where(usual, y * by, 0.0)
    first = arctan2(y, x)
    cos, sin, _ = wide.turn(first, 2)
    angle = normal(first, (double(y) * cos - double(x) * sin).value / (x * cos.high + y * sin.high))
    angle = choice(copysign(z.re.like(1.0), z.re) < 0.0, constant(first, PI_64) - angle, angle)
    return choice(usual, angle.times(copysign(x.like(1.0), z.im)), double(arctan2(z.im, z.re)))


def _whole_power(a: Complex, n: Term, known: Term) -> tuple[Complex, Term]:
    """Products of parts that are sums of two numbers: what cancels is right to the last place. Where there is no such sum, infinite or next to
    nothing, NumPy's products. And where they are infinite and divided by, and so tell nothing of the quotient.
    """
    left = where(known, fabs(n), 0.0)
    one, plain_square, square = Complex(n.like(1.0), n.like(0.0)), a, _Wide(double(a.re), double(a.im))
    plain, value = one, _Wide(double(one.re), double(one.im))
    for bit in range(7):
        half = trunc(left * 0.5)
        odd = left.differs(half + half)
        first = plain.re.equals(1.0) & plain.im.equals(0.0)
        plain = chosen(odd, chosen(first, plain_square, multiply(plain, plain_square)), plain)
        value = _either(odd, _either(first, square, value * square), value)
        left = half
        if bit < 6:
            plain_square, square = multiply(plain_square, plain_square), square * square
    below, most = n < 0.0, fabs(value.re.high) + fabs(value.im.high)
    by = by_size(most, 2.0**600, 1.0, 2.0**-600)
    x, y = value.re.times(by), value.im.times(by)
    size = x * x + y * y
    value = _either(below, _Wide((x / size).times(by), (-y / size).times(by)), value)
    plain = chosen(below, divide(one, plain), plain)
    inside = (most > 2.0**-900) & (most < INF)
    return chosen(inside, Complex(_sum(value.re), _sum(value.im)), plain), below & ~(most < INF)


@dataclass(frozen=True, eq=False)
class _Wide:
    """A complex number whose parts are sums of two."""

    re: Double
    im: Double

    def __mul__(self, other: _Wide) -> _Wide:
        return _Wide(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


def _either(condition: Term, a: _Wide, b: _Wide) -> _Wide:
    return _Wide(choice(condition, a.re, b.re), choice(condition, a.im, b.im))


def _sum(a: Double) -> Term:
    """Of both, with the sign of a zero."""
    return where(a.low.equals(0.0), a.high, a.value)


TABLE = table({
    "arcsin": arcsin, "arccos": arccos, "arctan": arctan, "arcsinh": arcsinh, "arccosh": arccosh, "arctanh": arctanh, "power": power,
    "float_power": power,
})  # fmt: skip
