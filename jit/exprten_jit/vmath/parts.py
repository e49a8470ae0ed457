"""What a float is made of: frexp's two parts, modf's fraction, and the distance to the next float."""

from __future__ import annotations

from .terms import INF, NAN, Term, copysign, fabs, trunc, where


def _normal(a: Term) -> tuple[Term, Term]:
    """(a normal number of the same fraction, how often it was doubled for it)."""
    up = a.form.mantissa + 2
    small = fabs(a) < a.form.tiny
    return where(small, a * 2.0**up, a), where(small, a.bits().like(up), 0)


def _plain(a: Term) -> Term:
    """Neither zero, infinite, nor NaN."""
    return (fabs(a) < INF) & a.differs(0.0)


def mantissa(a: Term) -> Term:
    """a over a power of two, from 1/2 below 1 in size; zero, infinity and NaN stay."""
    x, _ = _normal(a)
    form = a.form
    inside = x.bits() & ~((2 * form.bias + 1) << form.mantissa)
    return where(_plain(a), (inside | ((form.bias - 1) << form.mantissa)).bits(a.dtype), a)


def exponent(a: Term) -> Term:
    """The power of two that `mantissa` leaves out; 0 of zero, infinity and NaN."""
    x, up = _normal(a)
    form = a.form
    power = ((x.bits() >> form.mantissa) & (2 * form.bias + 1)) - (form.bias - 1) - up
    return where(_plain(a), power, 0).to("int32")


def fraction(a: Term) -> Term:
    """What trunc leaves, with the sign of a."""
    return copysign(where(fabs(a).equals(INF), 0.0, a - trunc(a)), a)


def spacing(a: Term) -> Term:
    """The distance to the next float away from zero, with the sign of a; NaN of infinity."""
    away = where(a.equals(0.0), 0.0, a)
    found = (away.bits() + 1).bits(a.dtype) - away
    return where(fabs(a) < INF, found, NAN)
