"""Numbers of twice the precision: a sum of two, the second at most about a unit of the first's last place."""

from __future__ import annotations

from dataclasses import dataclass

from . import terms
from .terms import Term, fast_two_sum, fma, two_product, two_sum, where


@dataclass(frozen=True, eq=False)
class Double:
    """high + low. Operations lose a few units in the square of the type's precision; what is added may cancel."""

    high: Term
    low: Term

    def __add__(self, other: Double) -> Double:
        s, lost = two_sum(self.high, other.high)
        return normal(s, lost + (self.low + other.low))

    def __sub__(self, other: Double) -> Double:
        return self + -other

    def __neg__(self) -> Double:
        return Double(-self.high, -self.low)

    def __mul__(self, other: Double) -> Double:
        p, lost = two_product(self.high, other.high)
        return normal(p, fma(self.high, other.low, fma(self.low, other.high, lost)))

    def __truediv__(self, other: Double) -> Double:
        inverse = 1.0 / other.high
        q = self.high * inverse
        rest = fma(-q, other.high, self.high) + fma(-q, other.low, self.low)
        return normal(q, rest * inverse)

    def times(self, power: Term | float) -> Double:
        """By a power of two."""
        return Double(self.high * power, self.low * power)

    @property
    def value(self) -> Term:
        return self.high + self.low


def normal(high: Term, low: Term) -> Double:
    return Double(*fast_two_sum(high, low))


def double(a: Term) -> Double:
    return Double(a, a.like(0.0))


def constant(like: Term, x: tuple[float, ...]) -> Double:
    return Double(like.like(x[0]), like.like(x[1]))


def product(a: Term, b: Term) -> Double:
    return Double(*two_product(a, b))


def total(a: Term, b: Term | float) -> Double:
    return Double(*two_sum(a, b if isinstance(b, Term) else a.like(b)))


def sqrt(a: Double) -> Double:
    """Of nothing below 0; 0 of 0."""
    s = terms.sqrt(a.high)
    rest = (fma(-s, s, a.high) + a.low) / (s + s)
    return Double(s, where(s > 0.0, rest, 0.0))


def choice(condition: Term, a: Double, b: Double) -> Double:
    return Double(where(condition, a.high, b.high), where(condition, a.low, b.low))
