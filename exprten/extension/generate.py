"""Values made from their position alone."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from ..expression.expr import Expr, Iota, cast
from ..expression.key import dtype_row
from ..expression.shape import shape_of
from ..storage.device import Device, cpu


def range(  # noqa: A001  # mshadow's name
    start: Any, stop: Any = None, step: Any = 1, repeat: int = 1, dtype: Any = None, device: Device | None = None
) -> Expr:
    """Element k is start + (k // repeat) * step, below `stop` (mshadow range). int64 for ints, else float32.

    Raises ValueError for a step of 0 or a repeat below 1.

    >>> import exprten as xt
    >>> xt.evaluate(xt.range(0, 4, 2, repeat=3)).numpy().tolist()
    [0, 0, 0, 2, 2, 2]
    """
    if stop is None:
        start, stop = 0, start
    if step == 0 or repeat < 1:
        raise ValueError(f"range: step is {step} and repeat is {repeat}; the step must not be 0, the repeat 1 or more")
    whole = all(isinstance(x, int | np.integer) for x in (start, stop, step))
    row = dtype_row(dtype if dtype is not None else np.int64 if whole else np.float32, "range")
    count = max(0, ceil((stop - start) / step)) * repeat
    k: Expr = Iota(shape_of((count,), "range"), 0, device or cpu())
    if repeat > 1:
        k = k // repeat
    values = k * int(step) + int(start) if whole else cast(k, np.float64) * float(step) + float(start)
    return values if values.key.dtype is row else cast(values, row.numpy)
