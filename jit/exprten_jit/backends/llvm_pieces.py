"""A kernel that is run for some elements of an axis at a time: its entry calls it with other addresses, and with so many elements."""

from __future__ import annotations

from functools import partial

from ..ir import PIECE, index, size
from ..nest import Nest
from ..piece import Piece
from ..work import work
from .llvm_outline import POOL
from .llvm_parts import Parts
from .llvm_text import INDEX_TYPE

SHARED = 32  # pieces: so many are shared by threads, of fewer each is


class InPieces(Parts):
    """Calls a kernel for one piece after the other."""

    def in_pieces(self, root: Nest, piece: Piece, body: str, name: str) -> None:
        """The function `name`, which calls `body` for each piece."""
        self.extra, self.nest = [], root
        self._new()
        t, known = self.text, self._arguments()
        all_of_it = sum((work(part.body) for part in root.every), start=index(0))
        count = self.value((piece.extent + size(PIECE) - 1) // size(PIECE), known, None).name
        run = self._outlined_pieces(piece, body)
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

    def _outlined_pieces(self, piece: Piece, body: str) -> str:
        """The function that runs some pieces; how many threads a piece may have lies in its context."""
        outside = self.text, self.address, self.waiting
        known, first = self._within([])
        t, kernel = self.text, self.nest.kernel
        threads = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        many = len(kernel.leaves) + len(kernel.sizes) + len(kernel.params)
        words = t.reserve(f"[{many} x i64]")
        steps = [(leaf, self.value(stride, known, None).name) for leaf, stride in piece.strides]

        def one(n: str) -> None:
            start = t.index("mul", n, known[size(PIECE)].name)
            length = t.lesser(known[size(PIECE)].name, t.index("sub", known[piece.extent].name, start))
            self._copy_words(words, "%words", many)
            for leaf, step in steps:
                place = t.further(self.address[leaf.name], leaf.dtype.memory, t.index("mul", start, step))
                t.put(f"store ptr {place}, ptr {self._slot(words, kernel.leaves.index(leaf))}")
            place = self._slot(words, len(kernel.leaves) + kernel.sizes.index(piece.extent))
            t.put(f"store i64 {length}, ptr {place}")
            t.put(f"call void @{body}(ptr {words}, i64 {threads})")

        t.loop("%low", "%high", 1, one)
        return self._finished("pieces", outside)
