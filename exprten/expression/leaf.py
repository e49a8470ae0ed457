"""The leaf of an expression: elements in memory."""

from __future__ import annotations

from ..storage.buffer import Buffer
from .expr import Expr
from .shape import Layout


class Leaf(Expr):
    """A view: a layout over a buffer from `offset` bytes on. `Tensor` is what users hold; everything below it needs no more."""

    __slots__ = ("__weakref__", "buffer", "layout", "offset", "writable")

    buffer: Buffer
    layout: Layout
    offset: int
    writable: bool

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis, as NumPy's."""
        return tuple(s * self.key.dtype.itemsize for s in self.layout.strides)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, padding not counted."""
        return self.layout.size * self.key.dtype.itemsize

    @property
    def described(self) -> str:
        """Shape and type, for an error text."""
        return f"of shape {self.shape} and type {self.key.dtype}"
