"""Reducers of several accumulators: an extreme and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from .derived import apply
from .dtypes import DType
from .ir import Value
from .reducers import SEVERAL, TABLE, Reducer

Pair = Sequence[Value]  # a value and its index


def _any(*conditions: Value) -> Value:
    found, *rest = conditions
    for condition in rest:
        found = apply("logical_or", found, condition)
    return found


def _both(a: Value, b: Value) -> Value:
    return apply("logical_and", a, b)


def _nan(x: Value) -> Value | None:
    return apply("not_equal", x, x) if x.dtype.kind in "fc" else None


def _chosen(take: Value, a: Pair, b: Pair) -> tuple[Value, ...]:
    return tuple(apply("where", take, y, x) for x, y in zip(a, b, strict=True))


def _first(compare: str, a: Pair, b: Pair, nan: bool = True) -> tuple[Value, ...]:
    """The further of two in the order of `compare`; the first of equals; NaN before all, and the first NaN, where there may be any."""
    (v, i), (w, k) = a, b
    further, equal = apply(compare, w, v), apply("equal", w, v)
    nan_v, nan_w = (_nan(v), _nan(w)) if nan else (None, None)
    if nan_v is not None and nan_w is not None:
        further = _any(further, _both(nan_w, apply("logical_not", nan_v)))
        equal = _any(equal, _both(nan_w, nan_v))
    return _chosen(_any(further, _both(equal, apply("less", k, i))), a, b)


def _later(compare: str, a: Pair, b: Pair, nan: bool = True) -> tuple[Value, ...]:
    """The same where the second index is the greater: of equals the first stays."""
    (v, _), (w, _) = a, b
    if not nan or _nan(w) is None:
        return _chosen(apply(compare, w, v), a, b)
    not_further = apply(f"{'less' if compare == 'greater' else 'greater'}_equal", w, v)
    return _chosen(_both(apply("logical_not", not_further), apply("equal", v, v)), a, b)


def _nowhere(extreme: str, value: DType, index: DType) -> tuple[bool | int | float, ...]:
    """The least number there is stands first: so it is where all are the least, and of others one is further."""
    return TABLE[extreme].identity(value), index.python(0)


COMPARED = {"argmax": "greater", "argmin": "less"}


def of_numbers(name: str, later: bool, a: Pair, b: Pair) -> tuple[Value, ...]:
    """The further of two that are no NaN; `later` says that the second stands behind the first."""
    return (_later if later else _first)(COMPARED[name], a, b, False)


for _name, _extreme, _reference in (("argmax", "max", np.argmax), ("argmin", "min", np.argmin)):
    _compare = COMPARED[_name]
    SEVERAL[_name] = Reducer(
        _name,
        partial(_first, _compare),
        _reference,
        lambda dtype: dtype,
        partial(_nowhere, _extreme),
        exact=lambda _: True,
        after=partial(_later, _compare),
        extreme=_extreme,
    )
