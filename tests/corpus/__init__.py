"""Statements that run on every device: each puts tensors there, assigns, and leaves memory behind, which must be the same everywhere.

A group is a function of a `Bench`, which gives tensors on the device under every layout. All memory is compared in the end, also what
lies beside a tensor and what is only read.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from strategies import LAYOUTS, MARGIN, assert_same_bits, place

import exprten as xt
from exprten.expression.shape import layout as layout_of
from exprten.tensor import view_of

Group = Callable[["Bench"], None]
GROUPS: dict[str, Group] = {}


def group(name: str) -> Callable[[Group], Group]:
    """Add a function to the corpus."""

    def add(function: Group) -> Group:
        assert name not in GROUPS, name
        GROUPS[name] = function
        return function

    return add


def put(target: xt.Tensor, value: Any) -> None:
    """The statement `target[...] = value`, as a call."""
    target[...] = value


class Bench:
    """Gives tensors on a device, and keeps the memory of all that were given."""

    def __init__(self, device: xt.Device) -> None:
        self.device = device
        self._kept: list[tuple[str, xt.Tensor]] = []
        self._what = ""

    def about(self, what: str) -> None:
        """What the tensors from here on are for, as a failure will say."""
        self._what = what
        self.device.synchronize()

    def tensor(self, elements: Any, lie: str = "contiguous") -> xt.Tensor:
        """A tensor with these elements, in memory full of canaries."""
        array = np.asarray(elements)
        memory = place(array, lie).memory
        held = xt.array(memory, device=self.device)
        self._kept.append((self._what, held))
        strides, first, _ = LAYOUTS[lie](array.shape)
        return view_of(held, MARGIN + first, layout_of(array.shape, strides))

    def keep(self, tensor: xt.Tensor) -> xt.Tensor:
        """Compare this one as well in the end."""
        self._kept.append((self._what, tensor))
        return tensor

    def evaluate(self, value: Any) -> xt.Tensor:
        """A new tensor of that value, as the statement `out[...] = value`."""
        out = self.tensor(np.zeros(value.shape, value.dtype))
        out[...] = value
        return out

    def found(self) -> list[tuple[str, np.ndarray]]:
        """All memory, with what it was for."""
        return [(what, tensor.numpy()) for what, tensor in self._kept]


def run(name: str, device: xt.Device) -> list[tuple[str, np.ndarray]]:
    """The memory that a group leaves on a device."""
    bench = Bench(device)
    GROUPS[name](bench)
    return bench.found()


def assert_same(found: list[tuple[str, np.ndarray]], want: list[tuple[str, np.ndarray]], where: str) -> None:
    """Fail unless all memory is the same to the bit; all NaNs are equal."""
    assert len(found) == len(want)
    for k, ((what, got), (_, wanted)) in enumerate(zip(found, want, strict=True)):
        assert_same_bits(_numbers(got), _numbers(wanted), f"{what}, tensor {k}, {where}")


def _numbers(x: np.ndarray) -> np.ndarray:
    return x.view(x.real.dtype) if x.dtype.kind == "c" else x


# What adds to GROUPS.
from . import elementwise, folded, laid_out, moved, programs, random_trees  # noqa: E402, F401
