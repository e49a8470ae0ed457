"""sin, cos and tan: an argument is k pi/2 + r with r at most pi/4 in size, known to twice the precision of its type.

Up to a bound, k times pi/2 in three parts is subtracted: the first difference is exact. Beyond it, in a branch, come the bits of 2/pi
that matter, and integers (Payne and Hanek, Radian reduction for trigonometric functions, 1983).

Sine and cosine of float32 are polynomials around one of 16 angles, pi/8 apart; where little is left of an argument, those above.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from ..dtypes import INDEX
from ..ir import const
from . import coefficients as c
from .double import Double, choice
from .terms import (
    INF,
    NAN,
    Term,
    as_float,
    copysign,
    fabs,
    fast_two_sum,
    fma,
    lookup,
    nearest,
    polynomial,
    rarely,
    two_product,
    where,
)

PI, TWO_OVER_PI = 3.14159265358979323846, 0.63661977236758134308


@dataclass(frozen=True)
class _Trig:
    """Of a format: pi/2 in three parts, twice what has to be left of k where they are not enough, and polynomials; the last up to pi/2."""

    half_pi: tuple[float, ...]
    unit: float
    sin: tuple[float, ...]
    cos: tuple[float, ...]
    fast: tuple[float, ...]


_TRIG = {
    32: _Trig(c.HALF_PI_32, 2.0**-15, c.SIN_32, c.COS_32, c.SIN_FAST_32),
    64: _Trig(c.HALF_PI_64, 2.0**-28, c.SIN_64, c.COS_64, c.SIN_FAST_64),
}


@dataclass(frozen=True)
class _Angle:
    """quarter * pi/2 + r - less; of `quarter` the last two bits count. `less` of 0 is +0: then r - less is the zero that r is."""

    r: Term
    less: Term
    quarter: Term


def _right_angles(x: Term, scale: float, base: int = 0) -> tuple[Term, Term, tuple[float, ...]]:
    """(k in a unit, in which it is 2 or more where the parts of pi/2 are not enough; a float whose last bits are k; these parts, for
    that unit).
    """
    rows = _TRIG[x.dtype.bits]
    k, shifted = nearest(x, scale, base, rows.unit)
    return k, shifted, tuple(part / rows.unit for part in rows.half_pi)


def near(x: Term, quarters: int = 0) -> tuple[_Angle, Term]:
    """Of an argument and `quarters` right angles more, and whether it is too large for that."""
    k, shifted, (one, two, three) = _right_angles(x, TWO_OVER_PI, quarters)
    first = fma(k, -one, x)
    product, lost = two_product(k, two)
    r = first - product
    return _Angle(r, fma(k, three, lost) - ((first - r) - product), shifted.bits()), _is_far(k)


def _is_far(k: Term) -> Term:
    """Whether k is 2 or more, infinite, or no number: one bit of it, so that several vectors are asked at once."""
    return (k.bits() & (1 << (k.dtype.bits - 2))).differs(0)


# Far arguments, as float64: x is m 2**e with m of 53 bits; what counts of m 2**e 2/pi is its last two whole bits and its fraction.

_MASK = (1 << 32) - 1


def _integer(n: int) -> Term:
    return Term(const((n + (1 << 63)) % (1 << 64) - (1 << 63), INDEX))


def _window(position: Term) -> list[Term]:
    """192 bits of 2/pi from a bit on, as six limbs, the highest first; 2/pi stands behind 40 zeros."""
    words = [_integer(word) for word in c.TWO_OVER_PI_WORDS]
    index, keep = position >> 6, 4
    for stage in (8, 4, 2, 1):
        far = (index & stage).differs(0)
        words = [where(far, words[n + stage], words[n]) for n in range(keep + stage - 1)]
    shift = position & 63
    limbs = []
    for above, below in pairwise(words):
        word = (above << shift) | (((below >> 1) & ((1 << 63) - 1)) >> (63 - shift))
        limbs += [(word >> 32) & _MASK, word & _MASK]
    return limbs


def _times(m: Term, limbs: list[Term]) -> list[Term]:
    """The product without what goes beyond its highest limb; m has less than 31 bits."""
    found: list[Term] = []
    carry = m.like(0)
    for limb in reversed(limbs):
        t = m * limb + carry
        found, carry = [t & _MASK, *found], t >> 32
    return found


def _added(a: list[Term], b: list[Term]) -> list[Term]:
    found: list[Term] = []
    carry = a[0].like(0)
    for x, y in zip(reversed(a), reversed(b), strict=True):
        t = x + y + carry
        found, carry = [t & _MASK, *found], t >> 32
    return found


def _far(x: Term) -> _Angle:
    """Of any float64 from 2**14 on."""
    size = fabs(x).bits()
    limbs = _window((size >> 52) - 1075 - 2 + 40)
    m = (size & ((1 << 52) - 1)) | (1 << 52)
    high = _times(m >> 27, limbs)
    moved = [((n << 27) | (after >> 5)) & _MASK for n, after in zip(high, [*high[1:], m.like(0)], strict=True)]
    g = _added(_times(m & ((1 << 27) - 1), limbs), moved)  # the fraction of a quarter of what is sought
    top = (g[0] << 32) | g[1]
    quarter = (top + (1 << 61)) >> 62
    left = top - (quarter << 62)
    h, low = fast_two_sum(as_float(left >> 32) * 2.0**-30, as_float(left & _MASK) * 2.0**-62)
    h, low = fast_two_sum(h, low + (as_float(g[2]) * 2.0**-94 + as_float(g[3]) * 2.0**-126))
    one, two, _ = c.HALF_PI_64
    r, lost = two_product(h, one)
    r, rest = fast_two_sum(r, fma(low, one, fma(h, two, lost)))
    sign = copysign(x.like(1.0), x)
    quarter = where(x < 0.0, -quarter, quarter)
    return _Angle(r * sign, -rest * sign, quarter)


def _far_of(x: Term, quarters: int = 0) -> _Angle:
    angle = _far(x.to("float64"))
    r, quarter = angle.r.to(x.dtype), (angle.quarter + quarters).to(x.form.integer)
    return _Angle(r, angle.less if x.dtype.bits == 64 else (r.to("float64") - angle.r).to(x.dtype), quarter)


def angle_of_turns(x: Term, quarters: int = 0) -> _Angle:
    """The angle of x full turns and `quarters` right angles, in float64; x below 2**50 in size."""
    k, shifted = nearest(x, 4.0, quarters)
    left = fma(k, -0.25, x) * 4.0
    one, two, _ = c.HALF_PI_64
    r, lost = two_product(left, one)
    return _Angle(r, -fma(left, two, lost), shifted.bits())


def _of_angle(core: Callable[[_Angle], Term], quarters: int = 0) -> Callable[[Term], Term]:
    def function(a: Term) -> Term:
        angle, far = near(a, quarters)
        return _unless(far, a, core(angle), core(_far_of(a, quarters)))

    return function


def _unless(is_far: Term, a: Term, near: Term, far: Term) -> Term:
    return rarely(is_far, where(fabs(a) < INF, far, NAN), near)


# Around j pi/8.

_SINES = c.SINE_0_32, c.SINE_1_32, c.SINE_2_32, c.SINE_3_32, c.SINE_4_32, c.SINE_5_32
_COSINES = tuple(entries[4:] + entries[:4] for entries in _SINES)  # a quarter of a turn on
_LEAST = (
    2.0**-19
)  # of k: where less is left than that, and nothing added to it, what is lost of k times the second part of pi/8 shows


def _by_intervals(tables: tuple[tuple[float, ...], ...], otherwise: Callable[[Term], Term]) -> Callable[[Term], Term]:
    """The sine of j pi/8 + r is s + r m, m a polynomial of r: of all but s only m and the product round. r is the difference of
    `first`, which is exact, and `second`; both are multiplied, so that nothing is lost of r unless it is a small part of `second`.
    """
    one, two = c.EIGHTH_PI_32

    def function(a: Term) -> Term:
        least, shifted = nearest(a, 8 / PI, unit=_LEAST)
        first, second = fma(least, -one / _LEAST, a), least * (two / _LEAST)
        s, *series = (lookup(shifted.bits(), entries) for entries in tables)
        m = polynomial(series, first - second)
        product = fma(m, first, -(m * second))
        return rarely(_smaller(s + first, least), otherwise(a), s + product)

    return function


def _smaller(a: Term, b: Term) -> Term:
    """abs(a) < abs(b), of two that are no NaN: the sign of the difference of their bits, and where one is below 0 the other sign."""
    return ((a.bits() - b.bits()) ^ a.bits() ^ b.bits()) < 0


MIDDLE = (
    0.8125  # between the least and the greatest cosine up to pi/4: what is added to it is small, and rounded finely
)


def sine(angle: _Angle) -> Term:
    """sin(r) = r - (less + r z S), and where the quarter is odd cos(r) = MIDDLE - (MIDDLE - 1 + z / 2 - r less + z z C), z = r²: one sum, in
    which some terms are chosen, costs less than two.
    """
    r, rows = angle.r, _TRIG[angle.r.dtype.bits]
    z = r * r
    even = (angle.quarter & 1).equals(0)
    series = [where(even, z.like(-s), -c) for s, c in zip(rows.sin, rows.cos, strict=True)]
    total = series.pop()
    for term in reversed(series):
        total = fma(total, z, term)
    rest = where(even, angle.less, fma(-r, angle.less, fma(z, 0.5, MIDDLE - 1.0)))
    value = where(even, r, MIDDLE) - fma(where(even, r, z) * z, total, rest)
    return _turned(value, angle.quarter >> 1)


def _turned(value: Term, halves: Term) -> Term:
    """With the other sign where `halves` is odd."""
    return (value.bits() ^ (halves << (value.dtype.bits - 1))).bits(value.dtype)


def _fast_sine(quarters: int) -> Callable[[Term], Term]:
    """x is k pi + r, where k is whole for the sine and half a number for the cosine: up to pi/2 there is one polynomial."""

    def function(a: Term) -> Term:
        rows = _TRIG[a.dtype.bits]
        k, shifted, parts = _right_angles(a, TWO_OVER_PI / 2)
        if quarters:
            shifter = 1.5 * 2.0**a.form.mantissa * rows.unit
            shifted = fma(a, TWO_OVER_PI / 2 * rows.unit, 0.5 * rows.unit) + shifter
            k = (shifted - shifter) - 0.5 * rows.unit
        r = a
        for part in parts:
            r = fma(k, -2.0 * part, r)
        z = r * r
        near = _turned(polynomial((1.0, *rows.fast), z) * r, shifted.bits())
        return _unless(_is_far(k), a, near, sine(_far_of(a, quarters)))

    return function


def _tan_of_float64(angle: _Angle) -> Term:
    """abs(r) is one of 16 angles, whose tangents T are numbers, all but, and s: tan(r) is (T + t) / (1 - T t) with t = tan(s), or where
    the quarter is odd the other way round; t and both sums are in two parts.
    """
    y = fabs(angle.r)
    entry = (y + 1.5 * 2.0**48).bits()
    whole, s = lookup(entry, c.TAN_OF), y - lookup(entry, c.TAN_AT)
    z = s * s
    series = fma(z * z, polynomial(c.TAN_64[2:], z), polynomial(c.TAN_64[:2], z))
    t, more = fast_two_sum(s, fma(s * z, series, -_turned(angle.less, angle.r.bits() >> 63)))
    above, lost = fast_two_sum(whole, t)
    below = fma(-whole, t, 1.0)
    sums = Double(above, lost + more), Double(below, fma(-whole, t, 1.0 - below))
    even = (angle.quarter & 1).equals(0)
    n, d = choice(even, *sums), choice(even, *reversed(sums))
    inverse = 1.0 / d.high
    q = n.high * inverse
    q = fma(fma(-q, d.low, fma(-q, d.high, n.high) + n.low), inverse, q)
    return _turned(copysign(q, angle.r), angle.quarter)


def _tan_of_float32(angle: _Angle) -> Term:
    """tan(r) as r and more, in two parts; where the quarter is odd -1 over it, with one step of Newton's."""
    r = angle.r
    z = r * r
    cube, lost = two_product(r, z)
    lost = fma(r, fma(r, r, -z), lost) * (1 / 3)
    more = fma(cube, polynomial(c.TAN_32, z), lost - fma(z, angle.less, angle.less))
    t, lost = fast_two_sum(r, more)
    q = -1.0 / t
    reciprocal = fma(q, fma(q, lost, fma(q, t, 1.0)), q)
    return where((angle.quarter & 1).equals(0), copysign(t, r), reciprocal)


def fast_tan(a: Term) -> Term:
    """Of float32; within 3 units of the last place."""
    if a.dtype.bits == 64:
        return tan(a)
    k, shifted, parts = _right_angles(a, TWO_OVER_PI)
    r = a
    for part in parts:
        r = fma(k, -part, r)
    z = r * r
    t = fma(r * z, polynomial(c.TAN_32, z), r)
    near = where((shifted.bits() & 1).equals(0), t, -1.0 / t)
    return _unless(_is_far(k), a, near, _tan_of_float32(_far_of(a)))


def _of_formats(far: Callable[[Term], Term], tables: tuple[tuple[float, ...], ...]) -> Callable[[Term], Term]:
    near = _by_intervals(tables, far)
    return lambda a: far(a) if a.dtype.bits == 64 else near(a)


sin, cos = _of_formats(_of_angle(sine), _SINES), _of_formats(_of_angle(sine, 1), _COSINES)
tan = _of_angle(lambda angle: (_tan_of_float64 if angle.r.dtype.bits == 64 else _tan_of_float32)(angle))
fast_sin, fast_cos = _fast_sine(0), _fast_sine(1)
