"""Operations on complex numbers, said with those on their parts.

Arithmetic is NumPy's formulas: a product is four products and two sums, each rounded, a quotient is Smith's. An order is that of the
real parts, and of the imaginary ones where these are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ir import Value, op
from ..pairs import Pair, constant
from .inverse import arctan2
from .power import hypot
from .terms import INF, NAN, Term, copysign, fabs, rint, where


@dataclass(frozen=True, eq=False)
class Complex:
    """Two numbers of one float type."""

    re: Term
    im: Term

    @property
    def infinite(self) -> Term:
        return fabs(self.re).equals(INF) | fabs(self.im).equals(INF)

    @property
    def nan(self) -> Term:
        return self.re.differs(self.re) | self.im.differs(self.im)


def chosen(condition: Term, a: Complex, b: Complex) -> Complex:
    return Complex(where(condition, a.re, b.re), where(condition, a.im, b.im))


def _times(a: Term, b: Term) -> Term:
    """A product that fast_math may make part of an fma."""
    return Term(op("multiply", (a.value, b.value), a.dtype))


def add(a: Complex, b: Complex) -> Complex:
    return Complex(a.re + b.re, a.im + b.im)


def subtract(a: Complex, b: Complex) -> Complex:
    return Complex(a.re - b.re, a.im - b.im)


def multiply(a: Complex, b: Complex) -> Complex:
    return Complex(_times(a.re, b.re) - _times(a.im, b.im), _times(a.re, b.im) + _times(a.im, b.re))


def divide(a: Complex, b: Complex) -> Complex:
    """Smith's: the larger part of b is taken out."""
    real = fabs(b.re) >= fabs(b.im)
    most, least = where(real, b.re, b.im), where(real, b.im, b.re)
    ratio = least / most
    scale = 1.0 / (most + _times(least, ratio))
    re = where(real, a.re + _times(a.im, ratio), _times(a.re, ratio) + a.im)
    im = where(real, a.im - _times(a.re, ratio), _times(a.im, ratio) - a.re)
    zero = fabs(b.re).equals(0.0) & fabs(b.im).equals(0.0)
    return Complex(where(zero, a.re / fabs(b.re), _times(re, scale)), where(zero, a.im / fabs(b.re), _times(im, scale)))


def reciprocal(a: Complex) -> Complex:
    real = fabs(a.im) <= fabs(a.re)
    most, least = where(real, a.re, a.im), where(real, a.im, a.re)
    ratio = least / most
    below = most + _times(least, ratio)
    return Complex(where(real, ratio.like(1.0), ratio) / below, where(real, -ratio, -1.0) / below)


def negative(a: Complex) -> Complex:
    return Complex(-a.re, -a.im)


def conjugate(a: Complex) -> Complex:
    return Complex(a.re, -a.im)


def absolute(a: Complex) -> Term:
    return hypot(a.re, a.im)


def angle(a: Complex) -> Term:
    return arctan2(a.im, a.re)


def sign(a: Complex) -> Complex:
    """a / abs(a); 0 for 0, and where the size is infinite the sign of the part that is, as NumPy's."""
    size, one, zero = hypot(a.re, a.im), a.re.like(1.0), a.re.like(0.0)
    quotient = Complex(a.re / size, a.im / size)
    real = fabs(a.re).equals(INF)
    far = Complex(where(real, copysign(one, a.re), 0.0), where(real, 0.0, where(a.im > 0.0, one, -1.0)))
    far = chosen(real & fabs(a.im).equals(INF), Complex(one.like(NAN), one.like(NAN)), far)
    return chosen(size.equals(INF), far, chosen(size.equals(0.0), Complex(zero, zero), quotient))


# Comparison. A number with a NaN in it is not equal, and neither before nor behind another one.


def equal(a: Complex, b: Complex) -> Term:
    return a.re.equals(b.re) & a.im.equals(b.im)


def not_equal(a: Complex, b: Complex) -> Term:
    return a.re.differs(b.re) | a.im.differs(b.im)


def _before(
    strict: Callable[[Term, Term], Term], last: Callable[[Term, Term], Term]
) -> Callable[[Complex, Complex], Term]:
    def compare(a: Complex, b: Complex) -> Term:
        numbers = a.im.equals(a.im) & b.im.equals(b.im)
        return (strict(a.re, b.re) & numbers) | (a.re.equals(b.re) & last(a.im, b.im))

    return compare


less = _before(Term.__lt__, Term.__lt__)
less_equal = _before(Term.__lt__, Term.__le__)
greater = _before(Term.__gt__, Term.__gt__)
greater_equal = _before(Term.__gt__, Term.__ge__)


def maximum(a: Complex, b: Complex) -> Complex:
    """The greater; the first number with a NaN in it."""
    return chosen(a.nan | greater_equal(a, b), a, b)


def minimum(a: Complex, b: Complex) -> Complex:
    return chosen(a.nan | less_equal(a, b), a, b)


def fmax(a: Complex, b: Complex) -> Complex:
    """The greater; of a number and one with a NaN in it the number."""
    return chosen(b.nan | greater_equal(a, b), a, b)


def fmin(a: Complex, b: Complex) -> Complex:
    return chosen(b.nan | less_equal(a, b), a, b)


def isnan(a: Complex) -> Term:
    return a.nan


def isinf(a: Complex) -> Term:
    return a.infinite


def isfinite(a: Complex) -> Term:
    return (fabs(a.re) < INF) & (fabs(a.im) < INF)


# Operands and results that are values.


def formula(build: Callable[..., Complex | Term]) -> Callable[..., Value]:
    """`build`, a function of complex numbers, as one of values."""

    def expand(*operands: Value) -> Value:
        return _value(build(*(_complex(x) for x in operands)))

    return expand


def _complex(x: Value) -> Complex:
    assert isinstance(x, Pair), "operands have been converted"
    return Complex(Term(x.re), Term(x.im))


def _value(x: Complex | Term) -> Value:
    return Pair(x.re.value, x.im.value) if isinstance(x, Complex) else x.value


def _where(condition: Value, a: Value, b: Value) -> Value:
    return _value(chosen(Term(condition), _complex(a), _complex(b)))


def _ones(a: Value) -> Value:
    return constant(1, a.dtype)


def _rint(a: Complex) -> Complex:
    return Complex(rint(a.re), rint(a.im))


# What an operation of the table is of complex operands, all of one type.
TABLE: dict[str, Callable[..., Value]] = {
    "where": _where,
    "ones_like": _ones,
    "add": formula(add),
    "subtract": formula(subtract),
    "multiply": formula(multiply),
    "divide": formula(divide),
    "negative": formula(negative),
    "absolute": formula(absolute),
    "sign": formula(sign),
    "square": formula(lambda a: multiply(a, a)),
    "reciprocal": formula(reciprocal),
    "rint": formula(_rint),
    "conjugate": formula(conjugate),
    "real": formula(lambda a: a.re),
    "imag": formula(lambda a: a.im),
    "angle": formula(angle),
    "equal": formula(equal),
    "not_equal": formula(not_equal),
    "less": formula(less),
    "less_equal": formula(less_equal),
    "greater": formula(greater),
    "greater_equal": formula(greater_equal),
    "maximum": formula(maximum),
    "minimum": formula(minimum),
    "fmax": formula(fmax),
    "fmin": formula(fmin),
    "isnan": formula(isnan),
    "isinf": formula(isinf),
    "isfinite": formula(isfinite),
}
