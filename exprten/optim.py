"""Optimisers: functions that take one step, in place, in one pass over a weight, its gradient and its state.

Every function takes tensors, or lists of tensors of one length, which is one call too. State is the caller's: tensors like the
weight, zero at first. Rates are plain numbers at every call, so a schedule is any Python function of the step; a new one compiles
nothing. They are written with `@xt.kernel`, in `kernels/steps.py`, and with nothing else.

`weight_decay` is added to the gradient as in PyTorch (of `adamw` and `lion`: taken from the weight); `clip_gradient`, where it is
given, first bounds each element of the gradient (MXNet's option).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import DTypeError
from .expression.reduction import wide
from .functions import conjugate, multiply
from .interop import zeros
from .kernels import steps
from .kernels.kernel import Kernel
from .reduce import sum as total_of
from .tensor import Tensor

__all__ = ["adagrad", "adam", "adamw", "clip_norm", "lion", "momentum", "nesterov", "rmsprop", "sgd"]

Tensors = Tensor | Sequence[Tensor]


def _step(kernel: Kernel, *tensors: Tensors | None, **scalars: Any) -> None:
    """One step for one weight, or for a list of them. Raises TypeError without a rate."""
    if scalars["lr"] is None:
        raise TypeError(f"{kernel.__name__}: lr is None; it must be a number")
    (kernel.foreach if isinstance(tensors[0], (list, tuple)) else kernel)(*tensors, **scalars)


def _counted(t: int, operation: str) -> None:
    """Raises ValueError for a step before the first one: both means would be divided by 0; TypeError for what counts nothing."""
    if not hasattr(t, "__index__"):
        raise TypeError(f"{operation}: t is {t!r}; it must be an int, counted from 1")
    if t < 1:
        raise ValueError(f"{operation}: t is {t}; steps are counted from 1")


def _pair(betas: Any, operation: str) -> tuple[Any, Any]:
    """Both rates of two means. Raises TypeError for anything else, ValueError for a mean that would never take anything in, or grow."""
    try:
        first, second = betas
    except (TypeError, ValueError):
        raise TypeError(f"{operation}: betas is {betas!r}; it must be two numbers, as in betas=(0.9, 0.99)") from None
    if not all(0 <= beta < 1 for beta in (first, second) if isinstance(beta, int | float)):
        raise ValueError(f"{operation}: betas is {betas!r}; each must be at least 0 and less than 1")
    return first, second


def sgd(w: Tensors, g: Tensors, *, lr: float, weight_decay: float = 0.0, clip_gradient: float | None = None) -> None:
    """w -= lr * g. (torch.optim.SGD)"""
    _step(steps.sgd, w, g, lr=lr, weight_decay=weight_decay or None, clip_gradient=clip_gradient)


def momentum(
    w: Tensors,
    g: Tensors,
    m: Tensors,
    *,
    lr: float,
    momentum: float = 0.9,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """m = momentum * m + (1 - dampening) * g; w -= lr * m. (torch.optim.SGD with `momentum`, whose first step has no dampening)"""
    decay, damp = weight_decay or None, dampening or None
    _step(
        steps.momentum,
        w,
        g,
        m,
        lr=lr,
        momentum=momentum,
        dampening=damp,
        weight_decay=decay,
        clip_gradient=clip_gradient,
    )


def nesterov(
    w: Tensors,
    g: Tensors,
    m: Tensors,
    *,
    lr: float,
    momentum: float = 0.9,
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """m = momentum * m + g; w -= lr * (g + momentum * m). (torch.optim.SGD with `nesterov=True`)"""
    _step(
        steps.nesterov,
        w,
        g,
        m,
        lr=lr,
        momentum=momentum,
        weight_decay=weight_decay or None,
        clip_gradient=clip_gradient,
    )


def adagrad(
    w: Tensors,
    g: Tensors,
    s: Tensors,
    *,
    lr: float = 1e-2,
    eps: float = 1e-10,
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """s += g * g; w -= lr * g / (sqrt(s) + eps). (torch.optim.Adagrad; its `lr_decay` is a schedule: lr / (1 + (t - 1) * lr_decay))"""
    _step(steps.adagrad, w, g, s, lr=lr, eps=eps, weight_decay=weight_decay or None, clip_gradient=clip_gradient)


def rmsprop(
    w: Tensors,
    g: Tensors,
    s: Tensors,
    m: Tensors | None = None,
    mean: Tensors | None = None,
    *,
    lr: float = 1e-2,
    alpha: float = 0.99,
    eps: float = 1e-8,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """s = alpha * s + (1 - alpha) * g * g; w -= lr * g / (sqrt(s) + eps). (torch.optim.RMSprop)

    With `m` steps have momentum; with `mean`, the mean of the gradients, it is `centered`. Raises ValueError for a momentum
    without `m`.
    """
    if momentum and m is None:
        raise ValueError(f"rmsprop: momentum is {momentum}; give its state, `m`, tensors like the weights")
    _step(
        steps.rmsprop, w, g, s, mean, m, lr=lr, alpha=alpha, eps=eps, momentum=momentum if m is not None else None,
        weight_decay=weight_decay or None, clip_gradient=clip_gradient,
    )  # fmt: skip


def adam(
    w: Tensors,
    g: Tensors,
    m: Tensors,
    v: Tensors,
    vmax: Tensors | None = None,
    *,
    t: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """Adam's step `t`, counted from 1: means `m` of gradients and `v` of their squares, both corrected for their start at 0.

    With `vmax` it is `amsgrad`. (torch.optim.Adam)
    """
    _counted(t, "adam")
    beta1, beta2 = _pair(betas, "adam")
    _step(
        steps.adam, w, g, m, v, vmax, lr=lr, beta1=beta1, beta2=beta2, eps=eps, t=t, weight_decay=weight_decay or None,
        decoupled=False, clip_gradient=clip_gradient,
    )  # fmt: skip


def adamw(
    w: Tensors,
    g: Tensors,
    m: Tensors,
    v: Tensors,
    vmax: Tensors | None = None,
    *,
    t: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    clip_gradient: float | None = None,
) -> None:
    """Adam with the decay taken from the weight: w *= 1 - lr * weight_decay, then Adam's step. (torch.optim.AdamW)"""
    _counted(t, "adamw")
    beta1, beta2 = _pair(betas, "adamw")
    _step(
        steps.adam, w, g, m, v, vmax, lr=lr, beta1=beta1, beta2=beta2, eps=eps, t=t, weight_decay=weight_decay or None,
        decoupled=True, clip_gradient=clip_gradient,
    )  # fmt: skip


def lion(
    w: Tensors,
    g: Tensors,
    m: Tensors,
    *,
    lr: float = 1e-4,
    betas: tuple[float, float] = (0.9, 0.99),
    weight_decay: float = 0.0,
    clip_gradient: float | None = None,
) -> None:
    """w = w * (1 - lr * weight_decay) - lr * sign(betas[0] * m + (1 - betas[0]) * g); m = betas[1] * m + (1 - betas[1]) * g.

    (Chen et al. 2023, Symbolic Discovery of Optimization Algorithms, algorithm 2)
    """
    beta1, beta2 = _pair(betas, "lion")
    _step(
        steps.lion, w, g, m, lr=lr, beta1=beta1, beta2=beta2, weight_decay=weight_decay or None, clip_gradient=clip_gradient
    )  # fmt: skip


def clip_norm(g: Tensors, max_norm: float) -> float:
    """The norm of all gradients together; where it is above `max_norm`, they are scaled down to that.

    Sums in float64, in memory for one number on each device; of complex numbers their absolute values. Raises ValueError for a negative `max_norm`,
    DTypeError for integers, which cannot be scaled. (torch.nn.utils.clip_grad_norm_)
    """
    if max_norm < 0:
        raise ValueError(f"clip_norm: max_norm is {max_norm}; it must be at least 0")
    gradients = [g] if isinstance(g, Tensor) else list(g)
    totals = {device: zeros((), "float64", device) for device in {one.device: None for one in gradients}}
    for one in gradients:
        if one.key.dtype.kind not in "fc":
            raise DTypeError(f"clip_norm: a gradient of {one.dtype} cannot be scaled; convert it with xt.cast")
        x, total = wide(one), totals[one.device]  # squares of what is narrow need not fit its type
        squares = multiply(x, conjugate(x)).real if one.key.dtype.kind == "c" else multiply(x, x)
        total += total_of(squares, dtype="float64")
    norm: float = sum(map(float, totals.values())) ** 0.5
    by = max_norm / (norm + 1e-6)
    if by < 1.0:
        steps.scale.foreach(gradients, by=by)
    return norm
