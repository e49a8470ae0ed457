"""A kernel that is run for some elements of axes at a time: its entry calls it with other addresses, and with so many elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

from ..ir import Size, Value, index, size
from ..kernel import OWN, START
from ..nest import Nest
from ..piece import Piece
from ..work import work
from .llvm_outline import POOL
from .llvm_parts import Parts
from .llvm_text import INDEX_TYPE

SHARED = 32  # pieces: so many are shared by threads, of fewer each is


class InPieces(Parts):
    """Calls a kernel for one piece after the other."""

    def in_pieces(self, root: Nest, body: str, name: str) -> None:
        """The function `name`, which calls `body` for each piece."""
        self.extra, self.nest = [], root
        self._new()
        t, known = self.text, self._arguments()
        all_of_it = sum((work(part.body) for part in root.every), start=index(0))
        count = self.value(prod(map(_count, root.pieces), start=index(1)), known, None).name
        run = self._outlined_pieces(root.pieces, body)
        enough = t.let(f"icmp sge i64 {count}, {SHARED}", "i1").name
        pays = t.let(f"and i1 {enough}, {self._pays(self.value(all_of_it, known, None).name)}", "i1").name
        shared, alone = (self._context(known, [], threads) for threads in ("1", "%threads"))
        t.declare(POOL, "void", "ptr", "ptr", INDEX_TYPE, INDEX_TYPE, INDEX_TYPE)
        t.either(
            pays,
            partial(t.put, f"call void {POOL}(ptr {run}, ptr {shared}, i64 {count}, i64 1, i64 %threads)"),
            partial(t.put, f"call void {run}(ptr {alone}, i64 0, i64 {count})"),
        )
        self.functions.append(self._end(f"void @{name}(ptr %words, i64 %threads)"))

    def _outlined_pieces(self, pieces: Sequence[Piece], body: str) -> str:
        """The function that runs some pieces; how many threads a piece may have lies in its context."""
        outside = self.text, self.address, self.waiting
        known, first = self._within([])
        t, kernel = self.text, self.nest.kernel
        threads = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        many = len(kernel.leaves) + len(kernel.sizes) + len(kernel.params)
        words = t.reserve(f"[{many} x i64]")
        counts = [self.value(_count(piece), known, None).name for piece in pieces]
        steps = [[(leaf, self.value(stride, known, None).name) for leaf, stride in piece.strides] for piece in pieces]
        more = [self.value(piece.beyond or index(0), known, None).name for piece in pieces]

        def put(name: Size, x: str) -> None:
            t.put(f"store i64 {x}, ptr {self._slot(words, len(kernel.leaves) + kernel.sizes.index(name))}")

        def one(n: str) -> None:
            self._copy_words(words, "%words", many)
            places = {leaf: self.address[leaf.name] for row in steps for leaf, _ in row}
            for k in reversed(range(len(pieces))):
                mine, n = (t.index("urem", n, counts[k]), t.index("udiv", n, counts[k])) if k else (n, n)
                extent, length = known[pieces[k].extent].name, known[pieces[k].length].name
                start = t.index("mul", mine, length)
                if pieces[k].alike:
                    start = t.lesser(start, t.index("sub", extent, length))
                for leaf, step in steps[k]:
                    places[leaf] = t.further(places[leaf], leaf.dtype.memory, t.index("mul", start, step))
                left = t.index("sub", extent, start)
                some = t.lesser(length, left)
                if pieces[k].beyond:
                    put(size(OWN), some)
                    put(size(START), start)
                    some = t.lesser(t.index("add", length, more[k]), left)
                put(pieces[k].extent, some)
                put(pieces[k].length, counts[k])
            for leaf, place in places.items():
                t.put(f"store ptr {place}, ptr {self._slot(words, kernel.leaves.index(leaf))}")
            t.put(f"call void @{body}(ptr {words}, i64 {threads})")

        t.loop("%low", "%high", 1, one)
        return self._finished("pieces", outside)


def _count(piece: Piece) -> Value:
    """How many there are along an axis."""
    return (piece.extent + piece.length - 1) // piece.length
