"""What a block of threads does with squares of points: what lies across goes by way of shared memory, so that neighbours reach for
neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ..gridsquares import SIDE, Square
from ..ir import Load, Store, Value, axis
from .cuda_packs import Packs
from .cuda_text import in_memory
from .cuda_values import Known, bare, decoded, encoded

AT_ONCE = 8  # rows or columns of a square that the 256 threads of a block take

Body = Callable[[Known, str], None]  # what is known at a point, and its place in shared memory


class Squares(Packs):
    """Writes the function of a grid of squares."""

    def squares(self, known: Known) -> Value:
        """All squares, a block of threads each. Returns how many there are."""
        square, axes = self.grid.square, self.grid.axes
        assert square is not None, "a grid of squares has one"
        sides = (square.row, axes[-1][0])
        loops = tuple((axis(f"{a.name}_square"), (e + (SIDE - 1)) // SIDE) if a in sides else (a, e) for a, e in axes)
        count = reduce(lambda a, b: a * b, (e for _, e in loops))
        rooms = {at: self.name("square") for at in square.places}
        for at, room in rooms.items():
            self.put(f"__shared__ {in_memory(at.leaf.dtype)} {room}[{SIDE}][{SIDE + 1}];")
        near, far = self.name("near"), self.name("far")
        self.put(f"const int {near} = threadIdx.x % {SIDE}, {far} = threadIdx.x / {SIDE};")
        t, total = self.name("point"), self.total(count, known)
        with self.block(f"for (idx {t} = blockIdx.x; {t} < {total}; {t} += gridDim.x)"):
            self.unfolded(loops, t, known)
            self._square(square, rooms, (near, far), known)
        return count

    def _square(self, square: Square, rooms: dict[Load | Store, str], thread: tuple[str, str], known: Known) -> None:
        def read(here: Known, at: str) -> None:
            for x in square.loads:
                self.put(f"{rooms[x]}{at} = {x.leaf.name}[{bare(self.index(x.offset, here))}];")

        def compute(here: Known, at: str) -> None:
            here.values |= {x: decoded(f"{rooms[x]}{at}", x.leaf.dtype) for x in square.loads}
            found = [(s, self.named(s.value, here)) for s in self.grid.stores]
            for s, text in found:
                to = f"{rooms[s]}{at}" if s in rooms else self.place(s, here)
                self.put(f"{to} = {bare(encoded(text, s.leaf.dtype))};")

        def write(here: Known, at: str) -> None:
            for s in square.stores:
                self.put(f"{self.place(s, here)} = {rooms[s]}{at};")

        if square.loads:
            self._points_of(square, thread, True, known, read)
            self.put("__syncthreads();")
        self._points_of(square, thread, False, known, compute)
        self.put("__syncthreads();")
        if square.stores:
            self._points_of(square, thread, True, known, write)
        if not square.loads:
            self.put("__syncthreads();")  # before the next square is computed into the same memory

    def _points_of(self, square: Square, thread: tuple[str, str], along_row: bool, known: Known, body: Body) -> None:
        """A loop over a thread's points of a square; threads that are neighbours are so along the row, or along the column."""
        extents, column = dict(self.grid.axes), self.grid.axes[-1][0]
        near, far = thread
        k, here = self.name("k"), known.copy()
        self.put("#pragma unroll")
        with self.block(f"for (int {k} = {far}; {k} < {SIDE}; {k} += {AT_ONCE})"):
            inside = []
            row, col = (near, k) if along_row else (k, near)
            for a, own in ((square.row, row), (column, col)):
                here.indices[a] = a.name
                self.put(f"const idx {a.name} = {a.name}_square * {SIDE} + {own};")
                inside.append(f"{a.name} < {self.index(extents[a], known)}")
            with self.block(f"if ({' && '.join(inside)})"):
                body(here, f"[{col}][{row}]")
