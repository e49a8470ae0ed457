"""What functions that NumPy lacks are to give: slow, in Python's floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
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


def rsqrt(a: Any) -> Any:
    return 1 / np.sqrt(a)


def xlogy(a: Any, b: Any) -> Any:
    dtype = np.hypot(a, b).dtype  # whose loops are xlogy's
    x, y = np.asarray(a).astype(dtype), np.asarray(b).astype(dtype)
    return np.where((x == 0) & ~np.isnan(y), dtype.type(0), x * np.log(y))
