"""Functions of complex numbers, of those of their parts.

All are computed in float64, those of complex64 as well: nothing overflows on the way there, and every result is rounded from a better one.
What the parts of a result are made of is kept in twice the precision where it cancels or is multiplied, so that each part is exact to a
few units of its own last place. Special values and the sides of branch cuts are those of C (ISO C99, Annex G), which NumPy's are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from ..ir import Value
from . import coefficients as c
from . import trig, wide
from .double import Double, choice, constant, double, product
from .double import sqrt as root
from .exp import exp_double, expm1
from .hyperbolic import cosh as real_cosh
from .hyperbolic import sinh as real_sinh
from .inverse import arctan2
from .log import log1p_double, split
from .paired import Complex, chosen, formula
from .power import log2_double
from .terms import INF, NAN, Term, as_float, copysign, fabs, fast_two_sum, fma, rarely, scale, two_sum, where

Function = Callable[..., Complex]
LN2 = 0.6931471805599453


def in_float64(build: Function) -> Function:
    """`build` on numbers of the wider format, its result rounded to theirs."""

    @wraps(build)
    def function(*operands: Complex) -> Complex:
        row = operands[0].re.dtype
        found = build(*(Complex(z.re.to("float64"), z.im.to("float64")) for z in operands))
        return Complex(found.re.to(row), found.im.to(row))

    return function


def _turned(z: Complex) -> Complex:
    """The parts exchanged: i times the conjugate."""
    return Complex(z.im, z.re)


def in_turn(build: Function) -> Function:
    """What sin is of sinh, and the like: sin(z) = -i sinh(i z)."""

    @wraps(build)
    def function(z: Complex) -> Complex:
        return _turned(build(_turned(z)))

    return function


# Exponentials.


def raised(a: Double, *factors: Term) -> tuple[Term, ...]:
    """exp(a) times each of some numbers of at most 1; neither is lost where the other makes up for it."""
    return _raised(a, *(x * 2.0**200 for x in factors))


def _raised(a: Double, *factors: Term) -> tuple[Term, ...]:
    """As `raised`, of factors times 2**200: those that are next to nothing have all their digits."""
    value, k = exp_double(a, 750.0)
    return tuple(scale(value.value * x, k - 200.0) for x in factors)


def exp(z: Complex) -> Complex:
    """exp(x) (cos y + i sin y)."""
    cos, sin = trig.cos(z.im), trig.sin(z.im)
    re, im = raised(double(z.re), cos, sin)
    infinite, none, finite = z.re.equals(INF), z.im.equals(0.0), fabs(z.im) < INF
    re = where(infinite, where(finite, copysign(re.like(INF), cos), INF), re)
    im = where(infinite & finite, copysign(im.like(INF), sin), im)
    lost = z.re.equals(-INF) & ~finite
    return Complex(
        where(lost, 0.0, where(none & z.re.differs(z.re), z.re, re)),
        where(none, z.im, where(lost, copysign(im.like(0.0), z.im), im)),
    )


def exp2(z: Complex) -> Complex:
    """exp(z ln 2)."""
    ln2 = constant(z.re, c.LN2_64)
    re, angle = double(z.re) * ln2, double(z.im) * ln2
    cos, sin = cos_sin(angle)
    finite, grown = fabs(re.high) < INF, z.im * 2.0**200
    sin = where(fabs(z.im) < 2.0**-500, grown * LN2, sin * 2.0**200)
    found = Complex(*_raised(Double(re.high, where(finite, re.low, 0.0)), cos * 2.0**200, sin))
    found = Complex(found.re, where(z.im.equals(0.0), z.im, found.im))
    usual = exp(Complex(z.re * LN2, z.im * LN2))
    return chosen(finite & (fabs(z.im) < INF), found, usual)


def cos_sin(a: Double) -> tuple[Term, Term]:
    """Of an angle below 2**26; of one above as if it were its first part."""
    cos, sin = trig.cos(a.high), trig.sin(a.high)
    low = where(fabs(a.low) < 2.0**-27, a.low, 0.0)
    return fma(-low, sin, cos), fma(low, cos, sin)


def minus_one(z: Complex) -> Complex:
    """expm1: exp(z) - 1 is (exp(x) - 1) cos y - 2 sin²(y / 2), and i exp(x) sin y."""
    half = trig.sin(z.im * 0.5)
    usual = exp(z)
    first = product(expm1(z.re), trig.cos(z.im))
    re = (first - product(half, half + half)).value
    near = (fabs(z.re) < 700.0) & (fabs(z.im) < INF)
    cancels = near & (fabs(re) < fabs(first.high) * 0.7) & (fabs(z.im) < 2.0**30)
    return Complex(rarely(cancels, _minus_one(z), where(near, re, usual.re - 1.0)), usual.im)


def _minus_one(z: Complex) -> Term:
    """(exp(x) - 1) cos(y) + (cos(y) - 1) in twice the precision."""
    cos, _, less = wide.turn(z.im)
    return (wide.expm1(double(z.re)) * cos + less).value


def _part(even: bool, z: Complex, turn: Term, large: Term) -> Term:
    """cosh(x), or where not `even` sinh(x), times cos(y) or sin(y); `large` is that of exp(abs(x)) / 2."""
    size = fabs(z.re)
    near, side = (real_cosh(z.re), 1.0) if even else (real_sinh(z.re), copysign(size.like(1.0), z.re))
    value = where(size > 30.0, where(size.equals(INF), size * turn, large) * side, near * turn)
    value = where(near.equals(0.0) & turn.differs(turn), near, value)
    return where(turn.equals(0.0) & ~(size < INF), turn * side, value)


def _sinh_cosh(z: Complex, even: bool) -> Complex:
    """cosh x cos y + i sinh x sin y, or sinh x cos y + i cosh x sin y."""
    cos, sin = trig.cos(z.im), trig.sin(z.im)
    size = fabs(z.re)
    large = raised(double(size) - constant(size, c.LN2_64), cos, sin)
    re, im = _part(even, z, cos, large[0]), _part(not even, z, sin, large[1])
    return Complex(where(size.equals(INF) & cos.differs(cos), size if even else z.re, re), im)


def sinh(z: Complex) -> Complex:
    return _sinh_cosh(z, even=False)


def cosh(z: Complex) -> Complex:
    return _sinh_cosh(z, even=True)


def tanh(z: Complex) -> Complex:
    """(sinh x cosh x + i sin y cos y) / (sinh² x + cos² y); beyond 22 ±1 and 4 sin y cos y exp(-2 x)."""
    size = fabs(z.re)
    x, near = where(size < 22.0, z.re, 1.0), size < 22.0
    s, h, sin, cos = real_sinh(x), real_cosh(x), trig.sin(z.im), trig.cos(z.im)
    below = product(s, s) + product(cos, cos)
    re, im = (product(s, h) / below).value, (product(sin, cos) / below).value
    one = copysign(size.like(1.0), z.re)
    (small,) = raised(double(where(size < 2000.0, size, 2000.0) * -2.0), sin * cos * 4.0)
    finite = fabs(z.im) < INF
    infinite = size.equals(INF)
    far = Complex(
        where(finite | infinite, one, NAN), where(finite, small, where(infinite, copysign(small.like(0.0), z.im), NAN))
    )
    none, lost = z.im.equals(0.0), z.re.differs(z.re)
    im = where(near, where(none, z.im, im), where(lost, NAN, far.im))
    re = where(near, where(z.re.equals(0.0), z.re, re), where(lost, NAN, far.re))
    return Complex(re, where(none & lost, z.im, im))


sin, tan = in_turn(sinh), in_turn(tanh)


def cos(z: Complex) -> Complex:
    """cosh(i z)."""
    return cosh(Complex(-z.im, z.re))


# Logarithms.


def _size_squared(x: Term, y: Term) -> Double:
    """x² + y² with all of its low part, which is what log has left where the sum is 1."""
    a, b = product(x, x), product(y, y)
    s, lost = two_sum(a.high, b.high)
    low, rest = two_sum(a.low, b.low)
    low, more = two_sum(lost, low)
    s, low = fast_two_sum(s, low)  # where the sum is next to 1 they cancel
    return Double(s, low + (more + rest))


def _log_of(s: Double) -> Double:
    """The logarithm of a number above 0, neither near the least nor near the largest."""
    k, f = split(s.high)
    return log2_double(as_float(k), f) * constant(f, c.LN2_64) + double(s.low / s.high)


def by_size(most: Term, small: float, usual: float, large: float) -> Term:
    """One of three numbers: for a number whose square would vanish, for one in between, for one whose square would overflow."""
    return where(most < 2.0**-400, most.like(small), where(most > 2.0**400, most.like(large), usual))


def log_size(z: Complex) -> Double:
    """log(abs(z)), where squares would overflow or vanish of z times a power of two."""
    x, y = fabs(z.re), fabs(z.im)
    most = where(x > y, x, y)
    by, more = by_size(most, 2.0**600, 1.0, 2.0**-600), by_size(most, -600.0, 0.0, 600.0)
    found = _log_of(_size_squared(x * by, y * by)).times(0.5)
    shifted = found + double(more) * constant(x, c.LN2_64)
    found = choice(more.equals(0.0), found, shifted)
    edge = where(z.infinite, INF, where(most.equals(0.0) & ~z.nan, -INF, most.like(NAN)))
    return choice((most > 0.0) & (most < INF) & ~z.nan, found, Double(edge, edge.like(0.0)))


def log(z: Complex) -> Complex:
    """log(abs(z)), and the angle."""
    return Complex(log_size(z).value, arctan2(z.im, z.re))


def _to_base(factor: tuple[float, float]) -> Function:
    def function(z: Complex) -> Complex:
        size, angle = log_size(z), arctan2(z.im, z.re)
        finite = fabs(size.high) < INF
        re = where(finite, (size * constant(angle, factor)).value, size.high)
        return Complex(re, copysign((double(angle) * constant(angle, factor)).value, angle))

    return function


log2 = _to_base((1.4426950408889634, 2.0355273740931033e-17))
log10 = _to_base((0.4342944819032518, 1.098319650216765e-17))


def plus_one(z: Complex) -> Complex:
    """log1p: log(1 + z), where abs(1 + z) is near 1 of what is beyond it, 2 x + x² + y²."""
    beyond = (double(z.re + z.re) + product(z.re, z.re)) + product(z.im, z.im)
    near = (beyond.high > -0.75) & (beyond.high < 3.0)
    moved = Complex(z.re + 1.0, z.im)
    re = where(near, log1p_double(beyond.high, beyond.low).value * 0.5, log_size(moved).value)
    none = z.im.equals(0.0) & z.re.equals(0.0)
    return Complex(where(none, z.re, re), arctan2(z.im, moved.re))


# Roots.


def roots(x: Double, y: Term, back: Term | float = 1.0, true: Term | None = None) -> tuple[Double, Double]:
    """The parts of the root of x + i abs(y), both at least 0: none is a difference. They are multiplied by `back`, and `true` is y
    times its square, where y itself may have vanished.
    """
    flat, behind = x.high.equals(0.0), x.high < 0.0
    tiny = flat & (fabs(y) < 2.0**-900)  # half of it may be no number
    up, down = where(tiny, y.like(2.0**200), 1.0), where(tiny, y.like(2.0**-100), 1.0)
    # y² may vanish, x² cannot but for 0
    size = choice(flat, double(fabs(y) * up), root(x * x + product(y, y)))
    s = root((size + choice(behind, -x, x)).times(0.5)).times(down).times(back)
    t = double(fabs(y if true is None else true)) / s.times(2.0)
    t = choice(s.high > 0.0, t, double(y.like(0.0)))
    return choice(behind, t, s), choice(behind, s, t)


def sqrt(z: Complex) -> Complex:
    """Of abs(z) and x, in which the larger part is a sum."""
    x, y = fabs(z.re), fabs(z.im)
    most = where(x > y, x, y)
    by, back = by_size(most, 2.0**600, 1.0, 2.0**-600), by_size(most, 2.0**-300, 1.0, 2.0**300)
    re, im = (part.value for part in roots(double(z.re * by), z.im * by, back, z.im))
    usual = Complex(re, copysign(im, z.im))
    up, down = z.re.equals(INF), z.re.equals(-INF)
    flat = where(y.equals(y), copysign(y.like(0.0), z.im), z.im)
    far = Complex(where(up, x, flat), where(up, flat, copysign(x, z.im)))
    far = chosen(down, Complex(fabs(flat), copysign(x, z.im)), far)
    far = chosen(y.equals(INF), Complex(y, z.im), far)
    odd = chosen(z.infinite, far, Complex(x + y, x + y))
    return chosen((x < INF) & (y < INF), usual, odd)


def table(functions: dict[str, Function]) -> dict[str, Callable[..., Value]]:
    """What operations of the table are of complex operands."""
    return {name: formula(in_float64(function)) for name, function in functions.items()}


TABLE = table({
    "exp": exp, "exp2": exp2, "expm1": minus_one, "log": log, "log2": log2, "log10": log10, "log1p": plus_one, "sqrt": sqrt,
    "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh,
})  # fmt: skip
