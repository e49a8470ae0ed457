"""What a block of threads does with squares of points: what lies across goes by way of shared memory, so that neighbours reach for
neighbours, 16 bytes each where everything lies so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce

from ..gridsquares import Square
from ..ir import Axis, Load, Store, Value, axis
from ..rewrite import steps
from .cuda_packs import WIDEST, Packs
from .cuda_text import in_memory
from .cuda_values import Known, bare, decoded, encoded

THREADS = 256  # of a block

Body = Callable[
    [Known, str, str], None
]  # what is known at a point, its place in shared memory, and which of a thread's points it is


class Squares(Packs):
    """Writes the function of a grid of squares."""

    def squares(self, known: Known) -> Value:
        """All squares, a block of threads each. Returns how many there are."""
        square, axes, side = self.grid.square, self.grid.axes, self.grid.side
        assert square is not None, "a grid of squares has one"
        sides = (square.row, axes[-1][0])
        loops = tuple((axis(f"{a.name}_square"), (e + (side - 1)) // side) if a in sides else (a, e) for a, e in axes)
        count = reduce(lambda a, b: a * b, (e for _, e in loops))
        rooms = {at: self.name("square") for at in square.places}
        for at, room in rooms.items():
            self.put(f"__shared__ {in_memory(at.leaf.dtype)} {room}[{side}][{side + 1}];")
        many = self.at_once = self._many_of(square)
        packed = self._are_packed(square, many, known) if many > 1 else ""
        near, far = self.name("near"), self.name("far")
        self.put(f"const int {near} = threadIdx.x % {side}, {far} = threadIdx.x / {side};")
        t, total = self.name("point"), self.total(count, known)
        with self.block(f"for (idx {t} = blockIdx.x; {t} < {total}; {t} += gridDim.x)"):
            self.unfolded(loops, t, known)
            if packed:
                with self.block(f"if ({packed})"):
                    self._packed_square(square, rooms, many, known.copy())
            with self.block("else") if packed else self.block(""):
                self._square(square, rooms, (near, far), known.copy())
        return count

    # an element a thread at a time

    def _square(self, square: Square, rooms: dict[Load | Store, str], thread: tuple[str, str], known: Known) -> None:
        held = {x: self.name("x") for x in square.loads}

        def read(here: Known, _: str, number: str) -> None:
            for x in square.loads:
                self.put(f"{held[x]}[{number}] = {x.leaf.name}[{bare(self.index(x.offset, here))}];")

        def put(_: Known, at: str, number: str) -> None:
            for x in square.loads:
                self.put(f"{rooms[x]}{at} = {held[x]}[{number}];")

        def compute(here: Known, at: str, _: str) -> None:
            here.values |= {x: decoded(f"{rooms[x]}{at}", x.leaf.dtype) for x in square.loads}
            found = [(s, self.named(s.value, here)) for s in self.grid.stores]
            for s, text in found:
                to = f"{rooms[s]}{at}" if s in rooms else self.place(s, here)
                self.put(f"{to} = {bare(encoded(text, s.leaf.dtype))};")

        def write(here: Known, at: str, _: str) -> None:
            for s in square.stores:
                self.put(f"{self.place(s, here)} = {rooms[s]}{at};")

        for x, name in held.items():
            self.put(f"{in_memory(x.leaf.dtype)} {name}[{self.grid.side**2 // THREADS}];")
        if square.loads:  # all that a thread reads is under way before the first is put into shared memory
            self._points_of(square, thread, True, known, read)
            self._points_of(square, thread, True, known, put)
            self.put("__syncthreads();")
        self._points_of(square, thread, False, known, compute)
        self.put("__syncthreads();")
        if square.stores:
            self._points_of(square, thread, True, known, write)
        if not square.loads:
            self.put("__syncthreads();")  # before the next square is computed into the same memory

    def _points_of(self, square: Square, thread: tuple[str, str], along_row: bool, known: Known, body: Body) -> None:
        """A loop over a thread's points of a square; threads that are neighbours are so along the row, or along the column."""
        column, side = self.grid.axes[-1][0], self.grid.side
        near, far = thread
        number, k, here = self.name("n"), self.name("k"), known.copy()
        self.put("#pragma unroll")
        with self.block(f"for (int {number} = 0; {number} < {side**2 // THREADS}; ++{number})"):
            self.put(f"const int {k} = {far} + {number} * {THREADS // side};")
            row, col = (near, k) if along_row else (k, near)
            inside = [self._index_of(a, own, here) for a, own in ((square.row, row), (column, col))]
            with self.block(f"if ({' && '.join(inside)})"):
                body(here, f"[{col}][{row}]", number)

    def _index_of(self, a: Axis, own: str, here: Known) -> str:
        """The index along a side of a square; returns what says whether it is one of the axis."""
        here.indices[a] = a.name
        self.put(f"const idx {a.name} = {a.name}_square * {self.grid.side} + {own};")
        return f"{a.name} < {self.index(dict(self.grid.axes)[a], here)}"

    # several elements a thread at once

    def _many_of(self, square: Square) -> int:
        """How many elements a thread reads and writes at once; 1 where they do not lie one behind the other."""
        column, side = self.grid.axes[-1][0], self.grid.side
        direct = [s for s in self.grid.stores if s not in square.stores]
        places: list[Load | Store] = [*square.places, *direct]
        behind = all(steps(x, square.row) == 1 for x in square.places) and all(steps(s, column) == 1 for s in direct)
        if not behind or any(x.leaf.pairs or not self.is_straight(x.offset) for x in places):
            return 1
        leaves = [*(x.leaf for x in places), *(x.leaf for x in self._along_column(square))]
        return min(WIDEST // max(leaf.dtype.itemsize for leaf in leaves), side * side // THREADS)

    def _along_column(self, square: Square) -> list[Load]:
        """What is loaded as it is computed."""
        return [x for x in self.in_a_row(self.grid.axes[-1][0]) if x not in square.loads and self.is_straight(x.offset)]

    def _are_packed(self, square: Square, many: int, known: Known) -> str:
        """The name of what says whether all groups of elements lie so."""
        extents, column = dict(self.grid.axes), self.grid.axes[-1][0]
        direct: list[Load | Store] = [
            *self._along_column(square),
            *(s for s in self.grid.stores if s not in square.stores),
        ]
        tests = [
            *self.aligned_along(square.row, many, square.places, known),
            *self.aligned_along(column, many, direct, known),
            *(f"{self.index(extents[a], known)} % {many} == 0" for a in (square.row, column)),
        ]
        name = self.name("packed")
        self.put(f"const bool {name} = {' && '.join(dict.fromkeys(tests))};")
        return name

    def _packed_square(self, square: Square, rooms: dict[Load | Store, str], many: int, known: Known) -> None:
        if square.loads:
            self._read_packed(square, rooms, many, known)
            self.put("__syncthreads();")
        with self._packs_of(square, many, False, known) as (here, _, near, far):
            self._computed_packed(square, rooms, many, here, near, far)
        self.put("__syncthreads();")
        if square.stores:
            with self._packs_of(square, many, True, known) as (here, _, near, far):
                for s in square.stores:
                    pack, u = self.name("r"), self.name("u")
                    kind = f"xt_pack<{in_memory(s.leaf.dtype)}, {many}>"
                    self.put(f"{kind} {pack};")
                    self.put("#pragma unroll")
                    self.put(
                        f"for (int {u} = 0; {u} < {many}; ++{u}) {pack}.at[{u}] = {rooms[s]}[{far}][{near} + {u}];"
                    )
                    self.put(f"*({kind}*)({s.leaf.name} + {self.index(s.offset, here)}) = {pack};")
        if not square.loads:
            self.put("__syncthreads();")

    def _read_packed(self, square: Square, rooms: dict[Load | Store, str], many: int, known: Known) -> None:
        """All groups that a thread reads are under way before the first is put into shared memory."""
        passes = self.grid.side**2 // (THREADS * many)
        packs = {x: self.name("x") for x in square.loads}
        for x, pack in packs.items():
            self.put(f"xt_pack<{in_memory(x.leaf.dtype)}, {many}> {pack}[{passes}];")
        with self._packs_of(square, many, True, known) as (here, k, _, _):
            for x, pack in packs.items():
                kind = f"const xt_pack<{in_memory(x.leaf.dtype)}, {many}>"
                self.put(f"{pack}[{k}] = *({kind}*)({x.leaf.name} + {self.index(x.offset, here)});")
        with self._packs_of(square, many, True, known) as (_, k, near, far):
            for x, pack in packs.items():
                u = self.name("u")
                to = f"{rooms[x]}[{far}][{near} + {u}]"
                self.put("#pragma unroll")
                self.put(f"for (int {u} = 0; {u} < {many}; ++{u}) {to} = {pack}[{k}].at[{u}];")

    @contextmanager
    def _packs_of(
        self, square: Square, many: int, along_row: bool, known: Known
    ) -> Iterator[tuple[Known, str, str, str]]:
        """A loop over a thread's groups of a square, which lie along the row, or along the column: what is known of the first element of each,
        its number, where in the square it lies along that side, and along the other.
        """
        side, column = self.grid.side, self.grid.axes[-1][0]
        each = side // many  # groups along a side
        k, near, far, here = self.name("k"), self.name("near"), self.name("far"), known.copy()
        self.put("#pragma unroll")
        with self.block(f"for (int {k} = 0; {k} < {side * each // THREADS}; ++{k})"):
            self.put(f"const int {near} = (int)threadIdx.x % {each} * {many};")
            self.put(f"const int {far} = (int)threadIdx.x / {each} + {k} * {THREADS // each};")
            row, col = (near, far) if along_row else (far, near)
            inside = [self._index_of(a, own, here) for a, own in ((square.row, row), (column, col))]
            with self.block(f"if ({' && '.join(inside)})"):
                yield here, k, near, far

    def _computed_packed(
        self, square: Square, rooms: dict[Load | Store, str], many: int, here: Known, near: str, far: str
    ) -> None:
        column, u, inside = self.grid.axes[-1][0], self.name("u"), here.copy()
        packs = {x: self.name("x") for x in self._along_column(square)}
        for x, pack in packs.items():
            kind = f"const xt_pack<{in_memory(x.leaf.dtype)}, {many}>"
            self.put(f"{kind} {pack} = *({kind}*)({x.leaf.name} + {self.index(x.offset, here)});")
        direct = {s: self.name("r") for s in self.grid.stores if s not in rooms}
        for s, r in direct.items():
            self.put(f"xt_pack<{in_memory(s.leaf.dtype)}, {many}> {r};")
        first = here.indices[column]
        self.put("#pragma unroll")
        with self.block(f"for (int {u} = 0; {u} < {many}; ++{u})"):
            inside.indices[column] = f"({first} + {u})"
            at = f"[{near} + {u}][{far}]"
            inside.values |= {x: decoded(f"{rooms[x]}{at}", x.leaf.dtype) for x in square.loads}
            inside.values |= {x: decoded(f"{pack}.at[{u}]", x.leaf.dtype) for x, pack in packs.items()}
            found = [(s, self.named(s.value, inside)) for s in self.grid.stores]
            for s, text in found:
                to = f"{rooms[s]}{at}" if s in rooms else f"{direct[s]}.at[{u}]"
                self.put(f"{to} = {bare(encoded(text, s.leaf.dtype))};")
        for s, r in direct.items():
            kind = f"xt_pack<{in_memory(s.leaf.dtype)}, {many}>"
            self.put(f"*({kind}*)({s.leaf.name} + {self.index(s.offset, here)}) = {r};")
