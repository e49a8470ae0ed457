"""Operations written as a user would write them, each with its derivatives: activations, losses, and relatives.

They are read when they are first used, so that importing exprten does not wait for it.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from .functions import erf, exp, expm1, isinf, log1p, tanh
from .own_op import Op

Scalar = Any  # a number, whose place a tensor or an expression may take

HALF_ROOT = 1 / sqrt(2)
TANH_SCALE = sqrt(2 / pi)


@Op
def sigmoid(x: Scalar) -> Scalar:
    """1 / (1 + exp(-x)), exact on both sides."""
    e = exp(x if x < 0 else -x)
    return (e if x < 0 else 1) / (1 + e)


@Op
def relu(x: Scalar) -> Scalar:
    """x, or 0 below 0."""
    if x <= 0:
        return 0
    return x


@Op
def leaky_relu(x: Scalar, slope: Scalar = 0.01) -> Scalar:
    """x, or slope * x below 0."""
    return slope * x if x <= 0 else x


@Op
def elu(x: Scalar, alpha: Scalar = 1.0) -> Scalar:
    """x, or alpha * (exp(x) - 1) below 0."""
    return alpha * expm1(x) if x <= 0 else x


@Op
def softplus(x: Scalar) -> Scalar:
    """log(1 + exp(x)), without overflow. (MXNet softrelu)"""
    return log1p(exp(x if x < 0 else -x)) + max(x, 0)


@Op
def silu(x: Scalar) -> Scalar:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


@Op
def gelu(x: Scalar) -> Scalar:
    """x times the normal distribution below x: x * (1 + erf(x / sqrt(2))) / 2."""
    return 0.5 * x * (1 + erf(HALF_ROOT * x))


@Op
def gelu_tanh(x: Scalar) -> Scalar:
    """gelu by a hyperbolic tangent, up to 5e-4 from it."""
    return 0.5 * x * (1 + tanh(TANH_SCALE * (x + 0.044715 * x**3)))


@Op
def smooth_l1(x: Scalar, sigma: Scalar = 1.0) -> Scalar:
    """abs(x) - 0.5 / sigma², a parabola where abs(x) is below 1 / sigma². (MXNet smooth_l1_loss)"""
    width = 1 / (sigma * sigma)
    if x > width:
        return x - 0.5 * width
    if x < -width:
        return -x - 0.5 * width
    return 0.5 * x * x * (sigma * sigma)


@Op
def huber(x: Scalar, delta: Scalar = 1.0) -> Scalar:
    """x² / 2, a line beyond delta. (Huber 1964)"""
    size = abs(x)
    return 0.5 * x * x if size <= delta else delta * (size - 0.5 * delta)


@Op
def logaddexp(a: Scalar, b: Scalar) -> Scalar:
    """log(exp(a) + exp(b)), without overflow."""
    high = max(a, b)
    low = b if high == a else a
    return high if isinf(high) else high + log1p(exp(low - high))


@Op
def lerp(a: Scalar, b: Scalar, t: Scalar) -> Scalar:
    """a at t = 0, b at t = 1, on a line between."""
    return a + t * (b - a)


@Op
def clamp(x: Scalar, bound: Scalar = 1.0) -> Scalar:
    """x, not further than bound from 0. (MXNet mshadow_op::clip, for gradients)"""
    if x > bound:
        return bound
    if x < -bound:
        return -bound
    return x


__all__ = [
    "clamp", "elu", "gelu", "gelu_tanh", "huber", "leaky_relu", "lerp", "logaddexp", "relu", "sigmoid", "silu",
    "smooth_l1", "softplus",
]  # fmt: skip
