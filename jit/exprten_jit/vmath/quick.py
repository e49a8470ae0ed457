"""Activations of the fast tier, in the type's own precision: within 4 units of the last place."""

from __future__ import annotations

from .activation import LOWEST, plain_exp
from .log import log1p
from .terms import Pair, Term, fabs, fma, greater, lesser, scale, where


def _tail(a: Term) -> Pair:
    """exp(-abs(a)) over a power of two, and its exponent."""
    return plain_exp(greater(-fabs(a), LOWEST[a.dtype.bits]))


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
    value, k = plain_exp(lesser(greater(a, LOWEST[a.dtype.bits]), 30.0))
    e = scale(value, k)
    ratio = fma(value, e, value + value) / fma(e, e + 2.0, 2.0)
    return scale(greater(a, 10.0 * LOWEST[a.dtype.bits]) * ratio, k)
