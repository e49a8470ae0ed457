"""What float32 is computed with in float64, whose rounding it does not see: short polynomials, and one number where float64 has two."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import log, pi

from . import coefficients as c
from .log import split
from .terms import INF, NAN, Term, as_float, fabs, fma, greater, lesser, polynomial, rarely, rint, where
from .trig import angle_of_turns, sine

LN2, LOG2_E = log(2), 1 / log(2)
LOWEST = -160.0  # exp of it is 0, and so is what is a hundred thousand times as much


def beside(of_float32: Callable[..., Term]) -> Callable[[Callable[..., Term]], Callable[..., Term]]:
    """The formula of float64; of float32 it is the other one, in float64."""

    def decorated(build: Callable[..., Term]) -> Callable[..., Term]:
        @wraps(build)
        def function(*operands: Term) -> Term:
            row = operands[0].dtype
            return build(*operands) if row.bits == 64 else of_float32(*(a.to("float64") for a in operands)).to(row)

        return function

    return decorated


def exp2(a: Term) -> Term:
    """2**a, for an a between -1000 and 1000."""
    shifter = 1.5 * 2.0**a.form.mantissa
    shifted = a + shifter
    value = polynomial((1.0, *c.EXP2_F), a - (shifted - shifter))
    return (value.bits() + (shifted.bits() << a.form.mantissa)).bits(a.dtype)


def log2(a: Term) -> Term:
    """Of a normal number above 0."""
    k, f = split(a)
    s = f / (f + 2.0)
    return fma(s, polynomial(c.LOG2_F, s * s), as_float(k))


def exp(a: Term) -> Term:
    """Of numbers up to 600; 0 as float32 of those below LOWEST."""
    return exp2(greater(a, LOWEST) * LOG2_E)


def log1p_exp(a: Term) -> Term:
    """log(1 + exp(a)) of numbers up to 0: 2 arctanh(e / (2 + e)), to the last digit of what goes to 0."""
    e = exp(a)
    s = e / (e + 2.0)
    return s * polynomial(c.LOG1P_F, s * s)


# Gamma, as in `special`: Stirling's series from 8 on, of x + 8 below, less the product of x to x + 7.


def _log2_gamma(x: Term) -> tuple[Term, Term]:
    """log2 of gamma of x, or of x + 8 below 8; and what that is to be divided by."""
    near = x < 8.0
    y = x + where(near, x.like(8.0), 0.0)
    inverse = 1.0 / y
    rest = fma(inverse, polynomial(c.STIRLING_F, inverse * inverse), -y)
    w = x * (x + 7.0)  # x (x + 1) ... (x + 7) in four factors
    between = w * (w + 6.0) * ((w + 10.0) * (w + 12.0))
    return fma(y - 0.5, log2(y), fma(rest, LOG2_E, c.STIRLING[0])), where(near, between, 1.0)


def gamma(a: Term) -> Term:
    x = fabs(a)
    size, between = _log2_gamma(x)
    positive = exp2(lesser(size, 300.0)) / between
    # gamma(a) gamma(1 - a) = pi / sin(pi a), and gamma(1 - a) = -a gamma(-a)
    far = -pi / (a * sine(angle_of_turns(a * 0.5)) * positive)
    far = where(rint(a).equals(a), NAN, far)
    far = where(x <= 2.0**-60, 1.0 / a, far)
    return rarely(~((a > 0.0) & (a < INF)), where(a.equals(INF), a, far), positive)


def lgamma(a: Term) -> Term:
    x = fabs(a)
    positive = _lgamma(x)
    far = log2(fabs(sine(angle_of_turns(a * 0.5)) * a) * (1 / pi)) * -LN2 - positive
    far = where(rint(a).equals(a) | x.equals(INF), INF, far)
    return rarely(~((a > 0.0) & (a < INF)), where(a.equals(a), far, a), positive)


def _lgamma(x: Term) -> Term:
    """Around 1 and 2 a polynomial: log(gamma(2 + u)) is u H(u), and log(gamma(1 + u)) log(1 + u) less."""
    middle, first = (x >= 0.5) & (x < 2.5), x < 1.5
    u = where(first, x - 1.0, x - 2.0)
    size, between = _log2_gamma(x)
    less = log2(where(middle, where(first, x, 1.0), between)) * LN2
    return where(middle, u * polynomial(c.LGAMMA_F, u), size * LN2) - less


def digamma(a: Term) -> Term:
    x = where(a > 0.0, a, 1.0 - a)
    positive = _digamma(x)
    turns = a * 0.5
    far = positive - pi * sine(angle_of_turns(turns, 1)) / sine(angle_of_turns(turns))
    far = where(rint(a).equals(a), NAN, far)
    far = where(fabs(a) < 2.0**-60, -1.0 / a, far)
    return rarely(~((a > 0.0) & (a < INF)), where(a > 0.0, a, far), positive)


def _digamma(x: Term) -> Term:
    near = x < 8.0
    y = x + where(near, x.like(8.0), 0.0)
    inverse = 1.0 / y
    w = inverse * inverse
    above, below = x.like(1.0), x * (x + 7.0)
    for step in [below + n for n in (6.0, 10.0, 12.0)]:
        above, below = fma(above, step, below), below * step
    less = (x + x + 7.0) * above / below
    value = log2(y) * LN2 - fma(w, polynomial(c.DIGAMMA_F, w), inverse * 0.5) - where(near, less, 0.0)
    root = (x - c.DIGAMMA_ROOT[0]) - c.DIGAMMA_ROOT[1]
    return where(fabs(root) < 0.1, root * polynomial(c.DIGAMMA_NEAR_F, root), value)


def trigamma(a: Term) -> Term:
    x = where(a > 0.0, a, 1.0 - a)
    positive = _trigamma(x)
    part = pi / sine(angle_of_turns(a * 0.5))
    far = where(rint(a).equals(a), where(a.equals(-INF), NAN, a.like(INF)), fma(part, part, -positive))
    return rarely(~((a > 0.0) & (a < INF)), where(a > 0.0, 0.0, far), positive)


def _trigamma(x: Term) -> Term:
    near = x < 8.0
    inverse = 1.0 / (x + where(near, x.like(8.0), 0.0))
    v = inverse * inverse
    value = inverse + v * fma(inverse, polynomial(c.TRIGAMMA_F, v), 0.5)
    w = x * (x + 7.0)
    for more, step in ((49.0, w), (37.0, w + 6.0), (29.0, w + 10.0), (25.0, w + 12.0)):
        value = value + where(near, (w + w + more) / (step * step), 0.0)
    return value
