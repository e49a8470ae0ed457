"""arctan, arctan2, arcsin and arccos: some right angles, in two parts, and what one polynomial says of an argument up to 1, or 1/2.

Arctangents of float64: that of c, one of 16, and of (y - c) / (1 + y c), which is at most 0.1.
"""

from __future__ import annotations

from . import coefficients as c
from .power import root
from .terms import INF, NAN, Term, copysign, fabs, fast_two_sum, fma, greater, lesser, lookup, polynomial, rarely, where

_HALF_PI = {32: c.HALF_PI_32, 64: c.HALF_PI_64}
_TABLES = c.ATAN_MIDDLE, c.ATAN_OF_MIDDLE, c.PI_LESS_ATAN, c.PI_LESS_ATAN_REST
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
    """Within 1.05 units of the last place."""
    return copysign(_of_float64(fabs(a)) if a.dtype.bits == 64 else _of_float32(fabs(a)), a)


def _of_float32(y: Term) -> Term:
    """arctan(y) is pi/2 + arctan(-1 / y)."""
    y = lesser(y, 2.0 ** (y.form.bias - 20))  # as far as 1 / y is normal
    far = y > 1.0
    above, below = where(far, y.like(-1.0), y), where(far, y, 1.0)
    t = above / below
    more = fma(-t, below, above) * (t * -0.6)  # what the quotient lacks, times a derivative between 1/2 and 1
    return _angle(where(far, y.like(1.0), 0.0), t, *_arctan_rest(t), more)


def _of_float64(y: Term) -> Term:
    y = lesser(y, 2.0**100)
    entry = lesser(greater(y, 0.0625), 12.0).bits() >> 51
    middle = lookup(entry, c.ATAN_MIDDLE)
    return _near(lookup(entry, c.ATAN_OF_MIDDLE), (y - middle) / fma(y, middle, 1.0))


def _near(base: Term, t: Term, more: Term | None = None) -> Term:
    """base + arctan(t) + more for a t up to 0.1, where there is no base or t is less."""
    z = t * t
    total, lost = fast_two_sum(base, t)
    return total + fma(t * z, polynomial(c.ATAN_TABLE_64, z), lost if more is None else lost + more)


def _arctan_rest(t: Term) -> tuple[Term, Term]:
    """Two factors of arctan(t) - t."""
    z = t * t
    return polynomial(c.ATAN_32, z), t * z


def fast_arctan(a: Term) -> Term:
    """Within 3 units of the last place; of float64 there is none faster."""
    if a.dtype.bits == 64:
        return arctan(a)
    y = fabs(a)
    far = y > 1.0
    t = where(far, y.like(-1.0), y) / where(far, y, 1.0)
    z = t * t
    near = fma(t * z, polynomial(c.ATAN_FAST_32, z), t)
    return copysign(near + where(far, y.like(c.HALF_PI_32[0]), 0.0), a)


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
    direction = _direction_of_float64 if y.dtype.bits == 64 else _direction_of_float32
    far = direction(far_high, far_wide, behind)
    far = where(y.equals(y) & x.equals(x), far, NAN)
    odd = ~((least >= 1 / bound) & (most <= bound))
    return copysign(rarely(odd, far, direction(high, wide, x < 0.0)), y)


def _direction_of_float32(y: Term, x: Term, behind: Term) -> Term:
    """The angle of (x, y), or where `behind` of (-x, y); neither below 0, not both 0 or infinite."""
    steep = y > x
    above, below = where(steep, -x, y), where(steep, y, x)
    inverse = where(behind, y.like(-1.0), 1.0) / below
    t = above * inverse
    lost = fma(-t, below, where(behind, -above, above)) * fabs(inverse)
    more = fma(t * t * -0.5, lost, lost)
    return _angle(where(steep, t.like(1.0), where(behind, t.like(2.0), 0.0)), t, *_arctan_rest(t), more)


def _direction_of_float64(y: Term, x: Term, behind: Term) -> Term:
    apart = (
        y.bits() - x.bits()
    )  # about the logarithm of y / x: as the bits of a number at most y / x, and at least 8 / 9 of it
    least, most = (x.like(bound).bits() - x.like(1.0).bits() for bound in (0.0625, 12.0))
    entry = lesser(greater(apart, least), most) >> 51
    middle, front, back, rest = (
        lookup(entry, entries[14:] + entries[:14]) for entries in _TABLES
    )  # 1 begins with 1023 << 1
    above, below = fma(-middle, x, y), fma(y, middle, x)
    inverse = 1.0 / below
    t = above * inverse
    lost = fma(-t, below, above) * inverse
    return _near(where(behind, back, front), where(behind, -t, t), where(behind, rest - lost, lost))


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
