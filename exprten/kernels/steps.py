"""The steps of the optimisers: kernels, one pass over a weight, its gradient and its state.

`weight_decay` and `clip_gradient` are run-time numbers, or None, and then nothing is computed for them. Formulas are those of PyTorch
2 in its order of operations, where it has the optimiser; `clip_gradient` is MXNet's.
"""

from __future__ import annotations

from typing import Any

from ..functions import clip, maximum, sign, sqrt
from .kernel import kernel

# `Any`: a tensor or None, a run-time scalar or a static value, as the kernel is called


def _gradient(w: Any, g: Any, weight_decay: Any, clip_gradient: Any) -> Any:
    """The gradient, each element clipped, with the decay of the weight."""
    if clip_gradient is not None:
        g = clip(g, -clip_gradient, clip_gradient)
    return g if weight_decay is None else g + weight_decay * w


@kernel
def sgd(w: Any, g: Any, *, lr: Any, weight_decay: Any, clip_gradient: Any) -> None:
    w -= lr * _gradient(w, g, weight_decay, clip_gradient)


@kernel
def momentum(
    w: Any, g: Any, m: Any, *, lr: Any, momentum: Any, dampening: Any, weight_decay: Any, clip_gradient: Any
) -> None:
    g = _gradient(w, g, weight_decay, clip_gradient)
    m[...] = momentum * m + (g if dampening is None else (1 - dampening) * g)
    w -= lr * m


@kernel
def nesterov(w: Any, g: Any, m: Any, *, lr: Any, momentum: Any, weight_decay: Any, clip_gradient: Any) -> None:
    g = _gradient(w, g, weight_decay, clip_gradient)
    m[...] = momentum * m + g
    w -= lr * (g + momentum * m)


@kernel
def adagrad(w: Any, g: Any, s: Any, *, lr: Any, eps: Any, weight_decay: Any, clip_gradient: Any) -> None:
    g = _gradient(w, g, weight_decay, clip_gradient)
    s += g * g
    w -= lr * (g / (sqrt(s) + eps))


@kernel
def rmsprop(
    w: Any,
    g: Any,
    s: Any,
    mean: Any,
    m: Any,
    *,
    lr: Any,
    alpha: Any,
    eps: Any,
    momentum: Any,
    weight_decay: Any,
    clip_gradient: Any,
) -> None:
    g = _gradient(w, g, weight_decay, clip_gradient)
    s[...] = alpha * s + (1 - alpha) * (g * g)
    spread = s
    if mean is not None:
        mean += (1 - alpha) * (g - mean)
        spread = s - mean * mean
    step = g / (sqrt(spread) + eps)
    if m is not None:
        m[...] = momentum * m + step
        step = m
    w -= lr * step


@kernel
def adam(
    w: Any, g: Any, m: Any, v: Any, vmax: Any, *,
    lr: Any, beta1: Any, beta2: Any, eps: Any, t: Any, weight_decay: Any, decoupled: Any, clip_gradient: Any,
) -> None:  # fmt: skip
    if decoupled and weight_decay is not None:
        w *= 1 - lr * weight_decay
    g = _gradient(w, g, None if decoupled else weight_decay, clip_gradient)
    m += (1 - beta1) * (g - m)
    v[...] = beta2 * v + (1 - beta2) * (g * g)
    spread = v
    if vmax is not None:
        vmax[...] = maximum(vmax, v)
        spread = vmax
    w -= lr / (1 - beta1**t) * (m / (sqrt(spread) / (1 - beta2**t) ** 0.5 + eps))


@kernel
def lion(w: Any, g: Any, m: Any, *, lr: Any, beta1: Any, beta2: Any, weight_decay: Any, clip_gradient: Any) -> None:
    g = _gradient(w, g, None, clip_gradient)
    if weight_decay is not None:
        w *= 1 - lr * weight_decay
    w -= lr * sign(beta1 * m + (1 - beta1) * g)
    m[...] = beta2 * m + (1 - beta2) * g


@kernel
def scale(g: Any, *, by: Any) -> None:
    g *= by
