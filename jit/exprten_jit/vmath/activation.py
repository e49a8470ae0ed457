"""Sigmoids and what is made of them, with the relative accuracy of their tails, in twice the type's precision; but for sigmoid and silu
that of float32 is float64.

exp(-abs(x)) never overflows. Where a value goes to 0 with it, its power of two comes last, so that it is rounded once.
"""

from __future__ import annotations

from . import coefficients as c
from . import narrow
from .double import Double, choice, constant, double, normal, product, total
from .exp import LOG2_E, exp_parts
from .log import LN2, log, log1p, log1p_double
from .terms import (
    INF,
    NAN,
    Pair,
    Term,
    copysign,
    fabs,
    fast_two_sum,
    fma,
    greater,
    lesser,
    nearest,
    polynomial,
    rint,
    scale,
    two_product,
    where,
)
from .trig import angle_of_turns, sine

LOWEST = {32: -160.0, 64: -1400.0}  # exp of it, and of it times a thousand, is 0
SURE = 50.0  # exp(-50) is nothing beside 1
CUBIC = 0.044715
# Numbers in two parts.
ROOT_HALF = (0.7071067811865476, -4.833646656726457e-17)
TANH_SCALE = (1.5957691216057308, -9.96930880911092e-17)  # 2 sqrt(2 / pi)
TANH_CUBIC = (0.07135481627260025, -4.1218577217431825e-18)  # CUBIC times that
PI = (3.141592653589793, 1.2246467991473532e-16)
# erf(x / sqrt(2)) / (2 x) in x² up to 1/4: around 0 the half that is added to it is exact.
HALF_ERF = (
    0.3989422804014327, -0.06649038006690543, 0.00997355701003445, -0.001187328215434226, 0.00011543468683929947,
    -9.444649022487403e-06, 6.659305284792983e-07, -4.110884876036098e-08, 2.089174116531912e-09,
)  # fmt: skip


def _exp(a: Double) -> tuple[Double, Double, Term]:
    """exp(a): over a power of two, with it (as exact as it can be beside 1), and its exponent. Of what is below LOWEST, of that."""
    high, low = LN2[64]
    x = greater(a.high, LOWEST[64])
    k, _ = nearest(x, LOG2_E)
    above = fma(k, -high, x)
    r = fma(k, -low, above)
    lost = fma(k, -low, above - r) + where(x.equals(a.high), a.low, 0.0)
    r, lost = fast_two_sum(r, lost)
    one, rest = fast_two_sum(1.0, r)
    value = normal(one, rest + fma(polynomial(c.EXPM1_64, r), r * r, fma(lost, r, lost)))
    return value, Double(scale(value.high, k), scale(value.low, k)), k


def _bounded(a: Term) -> Term:
    """a between what exp makes 0 and what makes all else nothing beside it."""
    return lesser(greater(a, LOWEST[a.dtype.bits]), SURE)


def _one(like: Term) -> Double:
    return double(like.like(1.0))


def _scaled(value: Double, condition: Term, k: Term) -> Term:
    """Times 2**k where the condition holds."""
    return scale(value.value, where(condition, k, 0.0))


def _quotient(n: Pair, e: Term) -> Term:
    """n / (1 + e) for an e up to 1, of a sum and a product that lose nothing: what a rounded quotient leaves is divided once more."""
    whole, lost = fast_two_sum(1.0, e)
    inverse = 1.0 / whole
    q = n[0] * inverse
    return fma(fma(-q, whole, n[0]) + fma(-q, lost, n[1]), inverse, q)


def sigmoid(a: Term) -> Term:
    """1 / (1 + exp(-a)). Within 1 unit of the last place, of float64 within 1.1."""
    (high, low), k = exp_in_two(greater(-fabs(a), LOWEST[a.dtype.bits]))
    below = a < 0.0
    found = _quotient((where(below, high, 1.0), where(below, low, 0.0)), scale(high + low, k))
    return scale(found, where(below, k, 0.0))


def silu(a: Term) -> Term:
    """a / (1 + exp(-a)). Within 1 unit of the last place, of float64 within 1.1; 0 at -inf."""
    (high, low), k = exp_in_two(greater(-fabs(a), LOWEST[a.dtype.bits]))
    below, x = a < 0.0, _bounded(a)
    product, lost = two_product(x, where(below, high, 1.0))
    found = _quotient((product, fma(x, where(below, low, 0.0), lost)), scale(high + low, k))
    return where(a > SURE, a, copysign(scale(found, where(below, k, 0.0)), a))


def exp_in_two(x: Term) -> tuple[Pair, Term]:
    """exp(x) over a power of two, as a sum of two, and its exponent."""
    r, rest, k = exp_parts(x)
    one, lost = fast_two_sum(1.0, r)
    return (one, lost + rest), k


def _narrow_softplus(a: Term) -> Term:
    return greater(a, 0.0) + narrow.log1p_exp(-fabs(a))


@narrow.beside(_narrow_softplus)
def softplus(a: Term) -> Term:
    """log(1 + exp(a)). Within 1 unit of the last place."""
    value, e, k = _exp(double(-fabs(a)))
    log = log1p_double(e.high, e.low)
    near = (double(lesser(greater(a, 0.0), SURE)) + log).value
    return where(a > SURE, a, where(a < -SURE, scale(value.value, k), near))


def log_sigmoid(a: Term) -> Term:
    """log(1 / (1 + exp(-a))). Within 1 unit of the last place."""
    return -softplus(-a)


def _logaddexp(a: Term, b: Term, log_of: Double, exp_of: Double) -> Term:
    """log(exp(a) + exp(b)) to another base: its logarithm, and what 1 is in it."""
    larger = a > b
    high, low = where(larger, a, b), where(larger, b, a)
    apart = total(low, -high)
    far = apart.high < LOWEST[64]
    d = choice(far, double(a.like(LOWEST[64])), apart) * log_of
    _, e, _ = _exp(d)
    sum_ = double(high) + log1p_double(e.high, e.low) * exp_of
    number = a.equals(a) & b.equals(b)
    return where((fabs(a) < INF) & (fabs(b) < INF), sum_.value, where(number, high + 0.0, NAN))  # log(1 + 0) is +0


def _narrow_logaddexp(a: Term, b: Term) -> Term:
    high, low = where(a > b, a, b), where(a > b, b, a)
    found = high + narrow.log1p_exp(where(high.equals(low), 0.0, low - high))
    return where(a.equals(a) & b.equals(b), found, NAN)


@narrow.beside(_narrow_logaddexp)
def logaddexp(a: Term, b: Term) -> Term:
    """log(exp(a) + exp(b)). Within 1 unit of the last place of it or of the operands, whichever is larger."""
    return _logaddexp(a, b, _one(a), _one(a))


def _narrow_logaddexp2(a: Term, b: Term) -> Term:
    high, low = where(a > b, a, b), where(a > b, b, a)
    found = fma(narrow.log1p_exp((low - high) * c.LN2_64[0]), c.LOG2_E[0], high)
    return where(a.equals(b), a + 1.0, where(a.equals(a) & b.equals(b), found, NAN))


@narrow.beside(_narrow_logaddexp2)
def logaddexp2(a: Term, b: Term) -> Term:
    """log2(2**a + 2**b), likewise; exact where both are equal."""
    return where(a.equals(b), a + 1.0, _logaddexp(a, b, constant(a, c.LN2_64), constant(a, c.LOG2_E)))


def _narrow_gelu(a: Term) -> Term:
    x = lesser(fabs(a), 14.7)
    y = x * ROOT_HALF[0]
    tail = narrow.exp(x * x * -0.5) * polynomial(c.ERFC_F, (y - 3.75) / (y + 3.75)) / (y * 4.0 + 2.0)
    return greater(a, -14.7) * where(a < 0.0, tail, 1.0 - tail)


@narrow.beside(_narrow_gelu)
def gelu(a: Term) -> Term:
    """a times the normal distribution below a, a erfc(-a / sqrt(2)) / 2. (Shepherd and Laframboise 1981) Within 2 units of the last
    place; 0 at -inf.
    """
    most = 40.0
    x = lesser(fabs(a), most)
    value, _, k = _exp(product(x, x).times(-0.5))
    y = double(x) * constant(x, ROOT_HALF)
    t = ((y + double(x.like(-3.75))) / (y + double(x.like(3.75)))).value
    least, *rest = c.ERFC_64
    g = total(t * polynomial(rest, t), least)
    tail = (value * g / (y.times(2.0) + _one(x))).times(0.5)
    above = _one(x) - Double(scale(tail.high, k), scale(tail.low, k))
    found = _scaled(double(x) * choice(a < 0.0, tail, above), a < 0.0, k)
    near = fma(polynomial(HALF_ERF, a * a), a, 0.5) * a
    return where(a > most, a, where(x < 0.5, near, copysign(found, a)))


def _narrow_gelu_tanh(a: Term) -> Term:
    inside = a * fma(a * a, TANH_CUBIC[0], TANH_SCALE[0])
    return greater(a, -30.0) / (1.0 + narrow.exp(lesser(-inside, 500.0)))


@narrow.beside(_narrow_gelu_tanh)
def gelu_tanh(a: Term) -> Term:
    """a / (1 + exp(-2 sqrt(2 / pi) (a + 0.044715 a³))). Within 2 units of the last place; 0 at -inf."""
    x = lesser(fabs(a), 30.0)
    inside = double(x) * (constant(x, TANH_SCALE) + product(x, x) * constant(x, TANH_CUBIC))
    value, e, k = _exp(-inside)
    found = double(x) * choice(a < 0.0, value, _one(x)) / (_one(x) + e)
    return where(a > 30.0, a, copysign(_scaled(found, a < 0.0, k), a))


def _narrow_mish(a: Term) -> Term:
    e = narrow.exp(lesser(a, 30.0))
    more = e * (e + 2.0)
    return greater(a, -200.0) * (more / (more + 2.0))


@narrow.beside(_narrow_mish)
def mish(a: Term) -> Term:
    """a tanh(softplus(a)). Within 1 unit of the last place; 0 at -inf."""
    x = double(lesser(_bounded(a), 20.0))
    value, e, k = _exp(x)
    two = double(a.like(2.0))
    more = e + two
    found = x * value * more / (e * more + two)
    return where(a > 20.0, a, copysign(scale(found.value, k), a))


def _edges(a: Term, found: Term) -> Term:
    """Of a function from 0 to 1 that goes to infinity at both ends."""
    beyond = where(a.equals(0.0), -INF, where(a.equals(1.0), a.like(INF), NAN))
    return where((a > 0.0) & (a < 1.0), found, beyond)


def _narrow_logit(a: Term) -> Term:
    low = a < 0.5
    size = log1p(fabs(a + a - 1.0) / where(low, a, 1.0 - a))
    return _edges(a, where(low, -size, size))


@narrow.beside(_narrow_logit)
def logit(a: Term) -> Term:
    """log(a / (1 - a)), the inverse of sigmoid. Within 1 unit of the last place; NaN beyond 0 and 1."""
    low, tiny = a < 0.5, a < 2.0**-60
    p = where(tiny, 0.25, a)
    less, rest = total(p + p, -1.0), total(-p, 1.0)
    u = choice(low, -less, less) / choice(low, double(p), rest)
    size = log1p_double(u.high, u.low).value
    return _edges(a, where(tiny, log(a), where(low, -size, size)))


def _sine_of_turns(x: Term) -> Term:
    """sin(pi x), of what x has beside a whole number."""
    whole = rint(x)
    value = sine(angle_of_turns((x - whole) * 0.5))
    return where(rint(whole * 0.5).equals(whole * 0.5), value, -value)


def _around(x: Term, found: Term) -> Term:
    """1 at 0, and 0 at other whole numbers."""
    return where(x < 1e-160, 1.0, where(rint(x).equals(x), 0.0, found))


def _narrow_sinc(a: Term) -> Term:
    x = fabs(a)
    return _around(x, _sine_of_turns(x) / (x * PI[0]))


@narrow.beside(_narrow_sinc)
def sinc(a: Term) -> Term:
    """sin(pi a) / (pi a). Within 2 units of the last place; 1 at 0."""
    x = fabs(a)
    beside = double(x) * constant(x, PI)
    q = _sine_of_turns(x) / beside.high
    return _around(x, fma(-q, beside.low / beside.high, q))
