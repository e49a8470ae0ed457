"""What functions that NumPy lacks are to give: slow, in Python's floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """`function` of every element, in the type that NumPy's exp gives."""

    def reference(a: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.vectorize(function, otypes=[np.float64])(np.asarray(a, np.float64)).astype(np.exp(a).dtype)

    return reference


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0 and x.is_integer()):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _lgamma(x: float) -> float:
    if x <= 0 and x.is_integer():
        return math.inf
    u = x - 1
    if abs(u) < 1e-4:  # Python's is exact to 1e-16, not to the last places of what is small
        return 0.0 + u * (
            -0.5772156649015329 + u * (0.8224670334241132 + u * (-0.40068563438653143 + u * 0.27058080842778454))
        )
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


def _digamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, -x)
    if not math.isfinite(x):
        return x if x > 0 else math.nan
    if x > 0:
        return float(_digamma_above(Decimal(x)))
    if x.is_integer():
        return math.nan
    r = math.remainder(x, 1)
    cosine = math.copysign(math.sin(math.pi * (0.5 - abs(r))), 1)
    return float(_digamma_above(1 - Decimal(x)) - Decimal(math.pi * cosine / math.sin(math.pi * r)))


def _digamma_above(x: Decimal) -> Decimal:
    """Upwards to where the asymptotic series is good for more than a float: it has a root, near which sums cancel."""
    shifted = Decimal(0)
    while x < 20:
        shifted, x = shifted - 1 / x, x + 1
    w, series = 1 / (x * x), Decimal(0)
    for above, below in ((1, -12), (691, 32760), (-1, 132), (1, 240), (-1, 252), (1, 120), (-1, 12)):
        series = w * (Decimal(above) / below + series)
    return x.ln() - 1 / (2 * x) + series + shifted


def _trigamma(x: float) -> float:
    if math.isnan(x) or math.isinf(x):
        return 0.0 if x > 0 else math.nan
    if x <= 0 and x.is_integer():
        return math.inf
    if x > -1e4:
        return float(_trigamma_from(Decimal(x)))
    part = math.pi / math.sin(math.pi * math.remainder(x, 1))
    return part * part - float(_trigamma_from(1 - Decimal(x)))


def _trigamma_from(x: Decimal) -> Decimal:
    """Upwards, as that of digamma: all that is added is above 0, also where x is below it."""
    shifted = Decimal(0)
    while x < 20:
        shifted, x = shifted + 1 / (x * x), x + 1
    w, series = 1 / (x * x), Decimal(0)
    for above, below in ((7, 6), (-691, 2730), (5, 66), (-1, 30), (1, 42), (-1, 30), (1, 6)):
        series = w * (Decimal(above) / below + series)
    return 1 / x + w / 2 + series / x + shifted


def _erfinv(y: float) -> float:
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    w = -math.log1p(-y * y)
    x = math.copysign(math.sqrt(max(0.0, math.sqrt((4.33 - w / 2) ** 2 + w / 0.147) - (4.33 - w / 2))), y)
    for _ in range(4):  # Halley's; of what is left to 1 where that is small
        apart = math.erf(x) - y if abs(y) < 0.5 else math.copysign(1, y) * ((1 - abs(y)) - math.erfc(abs(x)))
        step = apart / (2 / math.sqrt(math.pi) * math.exp(-x * x))
        x -= step / (1 + x * step)
    return x if y else y


erf = _elementwise(math.erf)
erfc = _elementwise(math.erfc)
erfinv = _elementwise(_erfinv)
gamma = _elementwise(_gamma)
lgamma = _elementwise(_lgamma)
digamma = _elementwise(_digamma)
trigamma = _elementwise(_trigamma)


def rsqrt(a: Any) -> Any:
    return 1 / np.sqrt(a)


def xlogy(a: Any, b: Any) -> Any:
    dtype = np.hypot(a, b).dtype  # whose loops are xlogy's
    x, y = np.asarray(a).astype(dtype), np.asarray(b).astype(dtype)
    return np.where((x == 0) & ~np.isnan(y), dtype.type(0), x * np.log(y))


# Sigmoids and what is made of them, with decimals enough for their tails.

_DECIMALS = Context(prec=60, Emin=-999999, Emax=999999)


def _decimal(function: Callable[[Decimal], Decimal], above: Callable[[float], float]) -> Callable[[Any], Any]:
    """`function` of numbers up to 800, below -800 that of -800; `above` is what it is beyond."""

    def one(x: float) -> float:
        if math.isnan(x) or x > 800:
            return x if math.isnan(x) else above(x)
        with localcontext(_DECIMALS):
            found = float(function(Decimal(max(x, -800.0))))
        return found if x or found else x

    return _elementwise(one)


def _sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def _softplus(x: Decimal) -> Decimal:
    e = x.exp()
    return e - e * e / 2 if x < -60 else (1 + e).ln()


_CUBIC = Decimal(float("0.044715"))  # the float, which the formula has


def _gelu_tanh(x: Decimal) -> Decimal:
    if x < -40:
        return Decimal("-0")
    scale = Decimal("1.59576912160573071175978423973752747390343452465971")  # 2 sqrt(2 / pi)
    return x * _sigmoid(scale * (x + _CUBIC * x * x * x))


def _mish(x: Decimal) -> Decimal:
    n = x.exp() * (x.exp() + 2)
    return x * n / (n + 2)


def _gelu(x: float) -> float:
    """By erfc, corrected for what the rounding of its argument makes; far below 0 by its asymptotic series."""
    if math.isnan(x) or abs(x) > 40:
        return x if not x < 0 else -0.0
    if x < -30:
        with localcontext(_DECIMALS):
            w = 1 / Decimal(x) ** 2
            series = 1 - w * (1 - w * (3 - w * (15 - w * (105 - w * (945 - w * 10395)))))
            return float(-series * (-1 / (2 * w)).exp() / Decimal(2 * math.pi).sqrt())
    y = -x * math.sqrt(0.5)
    beside = float((Fraction(x) ** 2 / 2 - Fraction(y) ** 2) / (2 * Fraction(y))) if y else 0.0
    return 0.5 * x * (math.erfc(y) - 2 / math.sqrt(math.pi) * math.exp(-y * y) * beside)


def _logit(x: float) -> float:
    if not 0 < x < 1:
        return math.copysign(math.inf, x - 0.5) if x in (0, 1) else math.nan
    with localcontext(_DECIMALS):
        return float((Decimal(x) / (1 - Decimal(x))).ln())


def _sinc(x: float) -> float:
    if math.isinf(x) or x.is_integer():
        return 0.0 if x else 1.0
    turn = math.remainder(x, 2)
    near = math.remainder(turn, 1)
    return math.sin(math.pi * near) * (1 if near == turn else -1) / (math.pi * x)


def spacing(a: Any) -> Any:
    """NumPy's; of float16, where its own is always above 0 and less at powers of two below 0, as of the other types."""
    found = np.spacing(a)
    return (
        np.copysign(np.spacing(np.abs(a, dtype=found.dtype)), a, dtype=found.dtype)
        if found.dtype == np.float16
        else found
    )


def isposinf(a: Any) -> Any:
    return np.asarray(a) == math.inf


def isneginf(a: Any) -> Any:
    return np.asarray(a) == -math.inf


def mantissa(a: Any) -> Any:
    return np.frexp(a)[0]


def exponent(a: Any) -> Any:
    return np.where(np.isfinite(a), np.frexp(a)[1], np.int32(0))


def fraction(a: Any) -> Any:
    return np.modf(a)[0]


sigmoid = _decimal(_sigmoid, lambda x: 1.0)
softplus = _decimal(_softplus, lambda x: x)
log_sigmoid = _elementwise(lambda x: -float(softplus(-x)))
silu = _decimal(lambda x: x * _sigmoid(x), lambda x: x)
gelu = _elementwise(_gelu)
gelu_tanh = _decimal(_gelu_tanh, lambda x: x)
mish = _decimal(_mish, lambda x: x)
logit = _elementwise(_logit)
sinc = _elementwise(_sinc)
