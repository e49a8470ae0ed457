"""Activations of the fast tier, in the type's own precision: within 4 units of the last place."""

from __future__ import annotations

from . import coefficients as c
from .activation import LOWEST
from .exp import LOG2_E, reduced
from .log import log1p
from .terms import Pair, Term, fabs, fma, greater, lesser, nearest, polynomial, scale, where

_EXP = {32: c.EXP_32, 64: c.EXP_64}


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
