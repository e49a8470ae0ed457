"""exp, sin and cos in twice the precision of float64, for what cancels: Taylor's series, whose first terms are sums of two numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from . import coefficients as c
from .double import Double, choice, constant, double, normal
from .exp import LOG2_E
from .terms import Term, nearest, polynomial, scale
from .trig import near

Parts = tuple[float, float]


def _parts(x: Fraction) -> Parts:
    high = float(x)
    return high, float(x - Fraction(high))


# As many terms as 2**-104 needs of arguments up to ln(2) / 2 and pi / 4.
_EXP = [_parts(Fraction(1, factorial(n))) for n in range(23)]
_SIN = [_parts(Fraction((-1) ** n, factorial(2 * n + 1))) for n in range(15)]
_COS = [_parts(Fraction((-1) ** n, factorial(2 * n))) for n in range(15)]


def _series(terms: Sequence[Parts], x: Double, first: int) -> Double:
    """A polynomial; behind the first terms one number is enough."""
    total = double(polynomial([high for high, _ in terms[first:]], x.high))
    for term in reversed(terms[:first]):
        total = total * x + constant(x.high, term)
    return total


def expm1(a: Double) -> Double:
    """Of numbers between -700 and 700."""
    k, _ = nearest(a.high, LOG2_E)
    r = a - double(k) * constant(k, c.LN2_64)
    power = scale(k.like(1.0), k)
    return (r * _series(_EXP[1:], r, 12)).times(power) + double(power - 1.0)


def turn(x: Term, terms: int = 8) -> tuple[Double, Double, Double]:
    """cos, sin, and cos less 1, of numbers below 2**30 in size; with 2 terms of two numbers within 2**-64."""
    angle, _ = near(x)
    r = normal(angle.r, -angle.less)
    z, one = r * r, double(x.like(1.0))
    less, sin = z * _series(_COS[1:], z, terms), r * _series(_SIN, z, terms + 1)
    cos = one + less
    even, half = (angle.quarter & 1).equals(0), (angle.quarter & 2).equals(0)
    cos, sin = choice(even, cos, -sin), choice(even, sin, cos)
    cos, sin = choice(half, cos, -cos), choice(half, sin, -sin)
    return cos, sin, choice(even & half, less, cos - one)
