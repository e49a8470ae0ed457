"""The angle of a point whose coordinates are in two parts each."""

from __future__ import annotations

from . import coefficients as c
from .double import Double, choice
from .terms import Term, fast_two_sum, fma, polynomial, where

TAN_EIGHTH, TAN_THREE_EIGHTHS = 0.41421356237309503, 2.414213562373095
_HALF_PI = {32: c.HALF_PI_32, 64: c.HALF_PI_64}
_ATAN = {32: c.ATAN_32, 64: c.ATAN_64}


def angle_of(y: Double, x: Double, behind: Term | None = None) -> Term:
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
