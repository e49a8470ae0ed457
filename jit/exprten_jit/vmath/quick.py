"""Functions of the fast tier, in the type's own precision: within 4 units of the last place."""

from __future__ import annotations

from collections.abc import Callable

from . import coefficients as c
from .activation import LOWEST, TANH_CUBIC, TANH_SCALE
from .exp import LOG2_E, bounds, reduced
from .hyperbolic import cosh as exact_cosh
from .hyperbolic import tanh as exact_tanh
from .log import log2 as exact_log2
from .log import log10 as exact_log10
from .log import split, whole_range
from .terms import (
    INF,
    NAN,
    Pair,
    Term,
    as_float,
    copysign,
    fabs,
    fma,
    greater,
    lesser,
    nearest,
    ordinary,
    polynomial,
    power_of_two,
    rarely,
    scale,
    two_product,
    two_sum,
    where,
)

LN2, LN10 = 0.6931471805599453, 2.302585092994046
_LOG = {32: c.LOG_FAST_32, 64: c.LOG_64}
_EXP = {32: c.EXP_32, 64: c.EXP_64}
_EXPM1 = {32: c.EXPM1_FAST_32, 64: c.EXPM1_FAST_64}


def _natural(k: Term, f: Term) -> Term:
    """log(2**k (1 + f)): k log(2) + 2 atanh(s), s = f / (f + 2)."""
    s = f / (f + 2.0)
    return fma(k, LN2, s * polynomial((2.0, *_LOG[f.dtype.bits]), s * s))


def _log_to(base: float) -> Callable[[Term, Term], Term]:
    """The same to a base of which this is the natural logarithm."""

    def core(k: Term, f: Term) -> Term:
        s = f / (f + 2.0)
        z = s * s
        series = polynomial([term / base for term in _LOG[f.dtype.bits]], z)
        return fma(k, LN2 / base, fma(s, 2.0 / base, s * z * series))

    return core


def log(a: Term) -> Term:
    return whole_range(_natural, a)


def log2(a: Term) -> Term:
    """Exact for powers of 2; of float32 there is none faster."""
    return exact_log2(a) if a.dtype.bits == 32 else whole_range(_log_to(LN2), a)


def log10(a: Term) -> Term:
    """Of float32 there is none faster."""
    return exact_log10(a) if a.dtype.bits == 32 else whole_range(_log_to(LN10), a)


def log1p(a: Term) -> Term:
    """1 + a is 2**k (1 + f); f is 2**-k a + (2**-k - 1), rounded once, while 2**-k is a normal number."""
    total = a + 1.0
    k, large = split(total)
    s = power_of_two(-k, a.dtype)
    near, far = (_natural(as_float(k), f) for f in (fma(a, s, s - 1.0), large))
    special = where(a.equals(-1.0), -INF, where(a > 0.0, where(a < INF, far, a), NAN))
    return copysign(rarely(~ordinary(total, spared=2), special, near), a)


def _expm1_parts(x: Term) -> Pair:
    """(p, k): exp(x) is 2**k (1 + p), right in proportion to p."""
    k, _ = nearest(x, LOG2_E)
    r = reduced(x, k)
    return fma(polynomial(_EXPM1[x.dtype.bits], r), r * r, r), k


def expm1(a: Term) -> Term:
    """Twice 2**(k - 1) p + (2**(k - 1) - 1/2)."""
    p, k = _expm1_parts(lesser(greater(a, -2.0 * a.form.mantissa), bounds(a.dtype)[1]))
    half = scale(a.like(0.5), k)
    return copysign(fma(half, p, half - 0.5) * 2.0, a)


def tanh(a: Term) -> Term:
    """e / (e + 2) with e = exp(2 x) - 1; of float32 there is none faster."""
    if a.dtype.bits == 32:
        return exact_tanh(a)
    y = lesser(fabs(a), 20.0)
    p, k = _expm1_parts(y + y)
    power = scale(a.like(1.0), k)
    e = fma(power, p, power - 1.0)
    return copysign(e / (e + 2.0), a)


def cosh(a: Term) -> Term:
    """u + 1 / (4 u) with u = exp(abs(x)) / 2; of float64 there is none faster."""
    if a.dtype.bits == 64:
        return exact_cosh(a)
    value, k = _exp(lesser(fabs(a), 89.5))
    u = scale(value, k - 1.0)
    return u + 0.25 / u


def _exp(x: Term) -> Pair:
    """exp(x) over a power of two, and its exponent."""
    k, _ = nearest(x, LOG2_E)
    return polynomial((1.0, 1.0, *_EXP[x.dtype.bits]), reduced(x, k)), k


def _tail(a: Term) -> Pair:
    """exp(-abs(a)) over a power of two, and its exponent."""
    return _exp(greater(-fabs(a), LOWEST[a.dtype.bits]))


def sigmoid(a: Term) -> Term:
    e = scale(*_tail(a))
    return where(a < 0.0, e, 1.0) / (1.0 + e)


def silu(a: Term) -> Term:
    """Its power of two comes last, so that it is rounded once."""
    value, k = _tail(a)
    below = a < 0.0
    found = greater(a, 10.0 * LOWEST[a.dtype.bits]) * where(below, value, 1.0) / (1.0 + scale(value, k))
    return scale(found, where(below, k, 0.0))


def softplus(a: Term) -> Term:
    return greater(a, 0.0) + log1p(scale(*_tail(a)))


def log_sigmoid(a: Term) -> Term:
    return -softplus(-a)


def mish(a: Term) -> Term:
    """a w / (w + 2) with w = e (e + 2)."""
    value, k = _exp(lesser(greater(a, LOWEST[a.dtype.bits]), 30.0))
    e = scale(value, k)
    ratio = fma(value, e, value + value) / fma(e, e + 2.0, 2.0)
    return scale(greater(a, 10.0 * LOWEST[a.dtype.bits]) * ratio, k)


# Numbers in two parts, of either type.
_TANH_SCALE = {32: (1.5957691669464111, -4.534068054340423e-08), 64: TANH_SCALE}
_TANH_CUBIC = {32: (0.07135481387376785, 2.3988324659995897e-09), 64: TANH_CUBIC}


def gelu_tanh(a: Term) -> Term:
    """What exp is of, x (s + c x²), in two parts: its error is the tail's in proportion."""
    (first, second), (cubic, beyond) = _TANH_SCALE[a.dtype.bits], _TANH_CUBIC[a.dtype.bits]
    x = lesser(fabs(a), 15.0 if a.dtype.bits == 32 else 30.0)
    square, lost = two_product(x, x)
    part, rest = two_product(square, cubic)
    factor, more = two_sum(part, part.like(first))
    more = more + (fma(square, beyond, fma(lost, cubic, rest)) + second)
    inside, lost = two_product(x, factor)
    k, _ = nearest(-inside, LOG2_E)
    r = reduced(-inside, k) - fma(x, more, lost)
    value = polynomial((1.0, 1.0, *_EXP[a.dtype.bits]), r)
    below, k = a < 0.0, greater(k, -2.0 * a.form.bias)  # of which the power is 0
    found = scale(x * where(below, value, 1.0) / (1.0 + scale(value, k)), where(below, k, 0.0))
    return where(a > x, a, copysign(found, a))
