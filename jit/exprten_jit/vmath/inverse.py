"""arctan, arctan2, arcsin and arccos: some right angles, in two parts, and what one polynomial says of an argument up to 1, or 1/2."""

from __future__ import annotations

from . import coefficients as c
from .power import root
from .terms import INF, NAN, Term, copysign, fabs, fma, lesser, polynomial, rarely, where

_HALF_PI = {32: c.HALF_PI_32, 64: c.HALF_PI_64}
_ATAN = {32: c.ATAN_32, 64: c.ATAN_64}
_FAST_ATAN = {32: c.ATAN_FAST_32, 64: c.ATAN_FAST_64}
_ASIN = {32: c.ASIN_32, 64: c.ASIN_64}


def _angle(quarters: Term, t: Term, rest: Term, times: Term, more: Term | None = None) -> Term:
    """quarters * pi/2 + t + times * rest + more, where there is no quarter or t is less than one."""
    first, second, _ = _HALF_PI[t.dtype.bits]
    base = quarters * first
    total = base + t
    lost = t - (total - base)
    lost = lost if more is None else lost + more
    return total + fma(rest, times, fma(quarters, second, lost))


def arctan(a: Term) -> Term:
    """arctan(y) is pi/2 + arctan(-1 / y). Within 1.05 units of the last place."""
    y = lesser(fabs(a), 2.0 ** (a.form.bias - 20))  # as far as 1 / y is normal
    far = y > 1.0
    above, below = where(far, y.like(-1.0), y), where(far, y, 1.0)
    t = above / below
    more = fma(-t, below, above) * (t * -0.6)  # what the quotient lacks, times a derivative between 1/2 and 1
    return copysign(_angle(where(far, y.like(1.0), 0.0), t, *_arctan_rest(t), more), a)


def _arctan_rest(t: Term) -> tuple[Term, Term]:
    """Two factors of arctan(t) - t."""
    z = t * t
    return polynomial(_ATAN[t.dtype.bits], z), t * z


def fast_arctan(a: Term) -> Term:
    """Within 3 units of the last place."""
    y = fabs(a)
    far = y > 1.0
    t = where(far, y.like(-1.0), y) / where(far, y, 1.0)
    z = t * t
    near = fma(t * z, polynomial(_FAST_ATAN[a.dtype.bits], z), t)
    return copysign(near + where(far, y.like(_HALF_PI[a.dtype.bits][0]), 0.0), a)


def arctan2(y: Term, x: Term) -> Term:
    """Within 1.05 units of the last place; C's values for zeros and infinities."""
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
    far = _direction(far_high, far_wide, behind)
    far = where(y.equals(y) & x.equals(x), far, NAN)
    odd = ~((least >= 1 / bound) & (most <= bound))
    return copysign(rarely(odd, far, _direction(high, wide, x < 0.0)), y)


def _direction(y: Term, x: Term, behind: Term) -> Term:
    """The angle of (x, y), or where `behind` of (-x, y); neither below 0, not both 0 or infinite."""
    steep = y > x
    above, below = where(steep, -x, y), where(steep, y, x)
    inverse = where(behind, y.like(-1.0), 1.0) / below
    t = above * inverse
    lost = fma(-t, below, where(behind, -above, above)) * fabs(inverse)
    more = fma(t * t * -0.5, lost, lost)
    return _angle(where(steep, t.like(1.0), where(behind, t.like(2.0), 0.0)), t, *_arctan_rest(t), more)


def _arcsin(y: Term, far: Term) -> tuple[Term, Term]:
    """arcsin(y) in two parts, or where `far` arcsin(sqrt((1 - y) / 2)), of which the first is the root and its rest small."""
    z = where(far, fma(y, -0.5, 0.5), y * y)
    found = root(z, z.like(0.0))
    t = where(far, found.high, y)
    return t, fma(t * z, polynomial(_ASIN[y.dtype.bits], z), where(far, found.low, 0.0))


def arcsin(a: Term) -> Term:
    """Beyond 1/2 pi/2 - 2 arcsin(sqrt((1 - y) / 2)). Within 1 unit of the last place; NaN beyond 1."""
    y = fabs(a)
    far = y > 0.5
    t, rest = _arcsin(y, far)
    times = where(far, t.like(-2.0), 1.0)
    return copysign(_angle(where(far, t.like(1.0), 0.0), t * times, rest, times), a)


def arccos(a: Term) -> Term:
    """pi/2 - arcsin(a), and beyond 1/2 2 arcsin(sqrt((1 - y) / 2)). Within 1 unit of the last place; NaN beyond 1."""
    y = fabs(a)
    far, below = y > 0.5, a < 0.0
    t, rest = _arcsin(y, far)
    times = where(far, t.like(2.0), -1.0)
    times = where(below, -times, times)
    return _angle(where(far, where(below, t.like(2.0), 0.0), 1.0), t * times, rest, times)
