"""A value that lies in several tensors, one after the other along an axis: what `concat` of tensors is. It can be stored to."""

from __future__ import annotations

from .leaf import Leaf
from .remap import Remap


class Joined(Remap):
    """The elements of `parts` along `axis`, all of one type; parts without elements are left out."""

    __slots__ = ("axis", "parts")

    axis: int
    parts: tuple[Leaf, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the elements of all parts."""
        return sum(part.nbytes for part in self.parts)

    @property
    def strides(self) -> tuple[tuple[int, ...], ...]:
        """Of each part, in bytes."""
        return tuple(part.strides for part in self.parts)

    @property
    def described(self) -> str:
        """Shape and type, for an error text."""
        return f"of shape {self.shape} and type {self.key.dtype} in {len(self.parts)} parts"

    def same(self, other: Joined) -> bool:
        """Whether both are the same elements in the same order."""
        return self.axis == other.axis and [*map(_place, self.parts)] == [*map(_place, other.parts)]


def _place(part: Leaf) -> tuple[object, ...]:
    return part.buffer.address + part.offset, part.layout, part.key


def parts_of(target: Leaf | Joined) -> tuple[Leaf, ...]:
    """Where a target lies."""
    return target.parts if isinstance(target, Joined) else (target,)
