"""Comparisons for tests of code that uses exprten."""

from __future__ import annotations

from typing import Any

import numpy as np

from .expression.expr import Expr
from .gpu.exchange import on_cuda
from .interop import asarray, evaluate


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-6, atol: float = 0.0) -> None:
    """Raise AssertionError where tensors, expressions or arrays differ by more than atol + rtol * |desired|, or in shape or type.
    NaN equals NaN.
    """
    a, b = _array(actual), _array(desired)
    if isinstance(actual, Expr) and isinstance(desired, Expr) and a.dtype != b.dtype:
        raise AssertionError(f"types differ: {a.dtype} and {b.dtype}")
    if a.shape != b.shape:
        raise AssertionError(f"shapes differ: {a.shape} and {b.shape}")
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def _array(x: Any) -> np.ndarray[Any, Any]:
    return evaluate(x).numpy() if isinstance(x, Expr) else asarray(x).numpy() if on_cuda(x) else np.asarray(x)
