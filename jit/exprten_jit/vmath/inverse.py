"""arctan, arctan2, arcsin and arccos: the angle of a point, in twice the precision up to the last step.

Of y / x up to tan(pi/8) it is the arctangent of the quotient, up to tan(3 pi/8) pi/4 and that of (y - x) / (y + x), beyond pi/2 less
that of x / y.
"""

from __future__ import annotations

from . import coefficients as c
from .double import Double, choice, double, product, sqrt
from .terms import INF, NAN, Term, copysign, fabs, fast_two_sum, fma, lesser, polynomial, rarely, where

_HALF_PI = {32: c.HALF_PI_32, 64: c.HALF_PI_64}
_ATAN = {32: c.ATAN_32, 64: c.ATAN_64}
TAN_EIGHTH, TAN_THREE_EIGHTHS = 0.41421356237309503, 2.414213562373095


def _angle(y: Double, x: Double, behind: Term | None = None) -> Term:
    """The angle of (x, y), neither below 0, not both 0 or infinite; where `behind` of (-x, y)."""
    small, large = y.high <= x.high * TAN_EIGHTH, y.high > x.high * TAN_THREE_EIGHTHS
    above = choice(small, y, choice(large, -x, y - x))
    below = choice(small, x, choice(large, y, y + x))
    t = above / below
    first, second, _ = _HALF_PI[y.high.dtype.bits]
    quarters = where(small, 0.0, where(large, y.high.like(1.0), 0.5))
    if behind is not None:
        quarters = where(behind, 2.0 - quarters, quarters)
        t = choice(behind, -t, t)
    z = t.high * t.high
    base = quarters * first
    beyond = fma(quarters, first, -base) + quarters * second
    rest = fma(t.high * z, polynomial(_ATAN[z.dtype.bits], z), beyond + fma(-z, t.low, t.low))
    near, lost = fast_two_sum(base, t.high)
    return near + (lost + rest)


def arctan(a: Term) -> Term:
    """Within 1 unit of the last place."""
    y = lesser(fabs(a), 2.0 ** (a.form.bias - 20))  # as far as 1 / y is normal
    return copysign(_angle(double(y), double(a.like(1.0))), a)


def fast_arctan(a: Term) -> Term:
    """Within 3 units of the last place."""
    y = fabs(a)
    small, large = y <= TAN_EIGHTH, y > TAN_THREE_EIGHTHS
    t = where(small, y, where(large, y.like(-1.0), y - 1.0)) / where(small, 1.0, where(large, y, y + 1.0))
    first, second, _ = _HALF_PI[a.dtype.bits]
    quarters = where(small, 0.0, where(large, y.like(1.0), 0.5))
    z = t * t
    rest = fma(t * z, polynomial(_ATAN[a.dtype.bits], z), quarters * second)
    return copysign(fma(quarters, first, t + rest), a)


def arctan2(y: Term, x: Term) -> Term:
    """Within 1 unit of the last place; C's values for zeros and infinities."""
    high, wide = fabs(y), fabs(x)
    most, least = where(high > wide, high, wide), where(high > wide, wide, high)
    bound = 2.0 ** (y.form.bias - 30)
    infinite = most.equals(INF)
    half = y.form.bias // 2
    small = (least < 1 / bound) & (most < 2.0 ** (half // 2))
    scale = where(most > bound, y.like(2.0**-half), where(small, y.like(2.0**half), 1.0))
    far_high = where(infinite, where(high.equals(INF), y.like(1.0), 0.0), high * scale)
    far_wide = where(infinite, where(wide.equals(INF), y.like(1.0), 0.0), wide * scale)
    far_wide = where(most.equals(0.0), 1.0, far_wide)
    behind = copysign(x.like(1.0), x) < 0.0
    far = _angle(double(far_high), double(far_wide), behind)
    far = where(y.equals(y) & x.equals(x), far, NAN)
    odd = ~((least >= 1 / bound) & (most <= bound))
    return copysign(rarely(odd, far, _angle(double(high), double(wide), x < 0.0)), y)


def _other_side(a: Term) -> Double:
    """sqrt(1 - a²)."""
    return sqrt(double(a.like(1.0)) - product(a, a))


def arcsin(a: Term) -> Term:
    """Within 1 unit of the last place; NaN beyond 1."""
    return copysign(_angle(double(fabs(a)), _other_side(a)), a)


def arccos(a: Term) -> Term:
    """Within 1 unit of the last place; NaN beyond 1."""
    return _angle(_other_side(a), double(fabs(a)), a < 0.0)
