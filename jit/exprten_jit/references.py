"""What functions that NumPy lacks are to give: slow, in Python's floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """`function` of every element, in the type that NumPy's exp gives."""

    def reference(a: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.vectorize(function, otypes=[np.float64])(a).astype(np.exp(a).dtype)

    return reference


def _gamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    if x == -math.inf or (x < 0 and x.is_integer()):
        return math.nan
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


def _lgamma(x: float) -> float:
    if x <= 0 and x.is_integer():
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, -x)
    if x < 0:
        return (
            math.nan
            if x == -math.inf or x.is_integer()
            else _digamma(1 - x) - math.pi / math.tan(math.pi * math.remainder(x, 1))
        )
    terms: list[float] = []
    while x < 12:
        terms, x = [*terms, -1 / x], x + 1
    w = 1 / (x * x)
    series = w * (1 / 12 - w * (1 / 120 - w * (1 / 252 - w * (1 / 240 - w * (1 / 132 - w * (691 / 32760 - w / 12))))))
    return math.fsum([math.log(x), -0.5 / x, -series, *terms])


def _erfinv(y: float) -> float:
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    w = -math.log1p(-y * y)
    x = math.copysign(math.sqrt(max(0.0, math.sqrt((4.33 - w / 2) ** 2 + w / 0.147) - (4.33 - w / 2))), y)
    for _ in range(4):  # Halley's; of what is left to 1 where that is small
        apart = math.erf(x) - y if abs(y) < 0.5 else math.copysign((1 - abs(y)) - math.erfc(abs(x)), y)
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
    return np.where((a == 0) & ~np.isnan(b), 0, a * np.log(b)).astype((a * np.log(b)).dtype)
