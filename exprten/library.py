"""Operations written as a user would write them, each with its derivatives: activations, losses, and relatives.

They are read when they are first used, so that importing exprten does not wait for it. Those that are `Tabled` are rows of the
operation table, where a plain formula would lose the digits of what is small.
"""

from __future__ import annotations

from typing import Any

from .functions import expm1
from .own.op import Op, Tabled

Scalar = Any  # a number, whose place a tensor or an expression may take

sigmoid = Tabled("sigmoid", "1 / (1 + exp(-x)). (SciPy expit)", ("x",))
log_sigmoid = Tabled("log_sigmoid", "log(sigmoid(x)). (SciPy log_expit)", ("x",))
logit = Tabled("logit", "log(x / (1 - x)), the inverse of sigmoid; NaN beyond 0 and 1.", ("x",))
softplus = Tabled("softplus", "log(1 + exp(x)), without overflow. (MXNet softrelu)", ("x",))
silu = Tabled("silu", "x * sigmoid(x).", ("x",))
mish = Tabled("mish", "x * tanh(softplus(x)).", ("x",))
gelu = Tabled("gelu", "x times the normal distribution below x: x * (1 + erf(x / sqrt(2))) / 2.", ("x",))
gelu_tanh = Tabled("gelu_tanh", "gelu by a hyperbolic tangent, up to 5e-4 from it.", ("x",))
logaddexp = Tabled("logaddexp", "log(exp(a) + exp(b)), without overflow.", ("a", "b"))
logaddexp2 = Tabled("logaddexp2", "log2(2**a + 2**b), without overflow.", ("a", "b"))
expit = sigmoid


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
def lerp(a: Scalar, b: Scalar, t: Scalar) -> Scalar:
    """a at t = 0, b at t = 1, exactly, on a line between: from the end that is nearer."""
    if t < 0.5:
        return a + t * (b - a)
    return b - (1 - t) * (b - a)


@Op
def clamp(x: Scalar, bound: Scalar = 1.0) -> Scalar:
    """x, not further than bound from 0. (MXNet mshadow_op::clip, for gradients)"""
    if x > bound:
        return bound
    if x < -bound:
        return -bound
    return x


__all__ = [
    "clamp", "elu", "expit", "gelu", "gelu_tanh", "huber", "leaky_relu", "lerp", "log_sigmoid", "logaddexp", "logaddexp2",
    "logit", "mish", "relu", "sigmoid", "silu", "smooth_l1", "softplus",
]  # fmt: skip
