"""Targets that are no single tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .assign import assign as assign_value
from .assign import store
from .expression.expr import matmul, power
from .expression.joined import Joined
from .expression.leaf import Leaf
from .expression.remap import Remap
from .modes import MODES, OPERATORS, ROWS, Mode


class Target(Joined):
    """Tensors joined along an axis: an expression like any other, that can be assigned to as a whole. `xt.concat` makes it.

    One statement and one kernel store to all parts; nothing is stored where one of them is refused.
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return self if index is Ellipsis else super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise TypeError(
                "a joined target is assigned as a whole, target[...] = e; for some of its elements assign to views of its parts"
            )
        if value is not self:  # after `target[...] -= e`: that is done already
            store(MODES["write"], self, value)

    def assign(self, value: Any, req: str = "write") -> Target:
        """`xt.assign(self, req, value)`."""
        return assign_value(self, req, value)

    def __ipow__(self, exponent: Any) -> Target:
        return store(MODES["write"], self, power(self, exponent))

    def __imatmul__(self, other: Any) -> Target:
        return store(MODES["write"], self, matmul(self, other))

    __hash__ = Joined.__hash__


def _assignment(mode: Mode) -> Callable[[Target, Any], Target]:
    def method(self: Target, value: Any) -> Target:
        return store(mode, self, value)

    method.__name__ = mode.method
    return method


for _mode in (*ROWS, *OPERATORS):
    if _mode.method:
        setattr(Target, _mode.method, _assignment(_mode))


def join(read: Remap, parts: Sequence[Leaf], axis: int) -> Target:
    """The target that `read` reads: `parts` along `axis`."""
    made = Target()
    made.key, made.shape, made.src, made.map = read.key, read.shape, read.src, read.map
    made.params, made.other, made.reads = read.params, read.other, read.reads
    made.axis = axis
    made.parts = tuple(part for part in parts if part.layout.size) or tuple(parts[:1])
    return made
