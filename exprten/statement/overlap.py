"""Do two views share memory, and in which order may one be written while the other is read?

The question is asked of byte ranges first, then of the strides exactly (the bounded Diophantine problem that NumPy's
`shares_memory` solves). Equal strides and one distance between the addresses decide the order: where walking the target visits
rising addresses, elements read further up are still old when walking forwards, elements read further down when backwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..expression.shape import Layout, broadcast_strides

MAX_WORK = 1_000_000  # candidates tried by the exact solver; beyond it the views count as overlapping
MAX_COUNTED = 1 << 24  # elements of a target whose addresses are counted one by one


class _View:
    """Memory as an array that NumPy sees, for its solver only."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, layout: Layout, itemsize: int) -> None:
        self.__array_interface__: dict[str, Any] = {
            "data": (address, True),
            "shape": layout.shape,
            "strides": tuple(s * itemsize for s in layout.strides),
            "typestr": f"|V{itemsize}",
            "version": 3,
        }


def shares(a: int, a_layout: Layout, a_size: int, b: int, b_layout: Layout, b_size: int) -> bool:
    """Whether two views (address, layout, bytes an element) have a byte in common."""
    if not overlap_ranges(a, a_layout, a_size, b, b_layout, b_size):
        return False
    views = np.asarray(_View(a, a_layout, a_size)), np.asarray(_View(b, b_layout, b_size))
    try:
        return bool(np.shares_memory(*views, max_work=MAX_WORK))  # type: ignore[arg-type]  # NumPy takes any bound
    except np.exceptions.TooHardError:
        return True


def overlap_ranges(a: int, a_layout: Layout, a_size: int, b: int, b_layout: Layout, b_size: int) -> bool:
    """Whether the byte ranges of two views meet."""
    if not a_layout.size or not b_layout.size:
        return False
    return (
        a + a_layout.low * a_size < b + b_layout.high * b_size
        and b + b_layout.low * b_size < a + a_layout.high * a_size
    )


def order(target: int, layout: Layout, address: int, of: Layout, itemsize: int) -> str | None:
    """How to walk the target while reading an overlapping view of the same item size, repeated over the target's shape:
    `same` (each element is read where it is stored), `forward`, `reverse`, or None where no order is proved.
    """
    strides = broadcast_strides(of.shape, of.strides, layout.shape)
    distance = address - target
    pairs = [(s, r) for n, s, r in zip(layout.shape, layout.strides, strides, strict=True) if n > 1]
    if any(s != r for s, r in pairs):
        return None
    if distance == 0:
        return "same"
    if not layout.nested or distance % itemsize:
        return None
    return "forward" if distance > 0 else "reverse"


def walked(way: str, layout: Layout, by: Layout) -> str | None:
    """What an order of the elements of `layout` is where they are walked as those of another layout are: the same, the opposite,
    or None where that one's axes are walked one inside of the other in another way.
    """
    live = [k for k, n in enumerate(layout.shape) if n > 1]
    mine, theirs = (sorted(live, key=lambda k: -abs(view.strides[k])) for view in (layout, by))
    turned = {(layout.strides[k] > 0) != (by.strides[k] > 0) for k in live}
    if way == "same" or (mine == theirs and turned <= {False}):
        return way
    return {"forward": "reverse", "reverse": "forward"}[way] if mine == theirs and turned == {True} else None


def inside(a: int, a_layout: Layout, a_size: int, b: int, b_layout: Layout, b_size: int) -> bool:
    """Whether each element of one view lies in the element of the other at the same place, and in no other element: the parts of
    complex numbers.
    """
    wide, narrow = ((a, a_layout, a_size), (b, b_layout, b_size))[:: 1 if a_size > b_size else -1]
    within = 0 <= narrow[0] - wide[0] <= wide[2] - narrow[2]
    if not within or wide[1].shape != narrow[1].shape or not wide[1].nested:
        return False
    steps = zip(wide[1].shape, wide[1].strides, narrow[1].strides, strict=True)
    return all(n == 1 or s * wide[2] == t * narrow[2] for n, s, t in steps)


def injective(layout: Layout) -> bool:
    """Whether no two elements of a layout lie at one address."""
    if layout.nested or layout.size < 2:
        return True
    if any(s == 0 and n > 1 for n, s in zip(layout.shape, layout.strides, strict=True)) or layout.size > MAX_COUNTED:
        return False
    offsets = np.zeros((), np.int64)
    for n, s in zip(layout.shape, layout.strides, strict=True):
        offsets = np.add.outer(offsets, np.arange(n, dtype=np.int64) * s)
    return len(np.unique(offsets)) == layout.size
