"""Units of a few small elements, read as numbers and put together to whole vectors: for a processor a mask of such elements takes long."""

from __future__ import annotations

from collections.abc import Sequence

from ..bring import WORD, Bring
from ..dtypes import DType
from ..ir import Value
from ..rewrite import affine
from ..squares import PART_BYTES
from .llvm_masked import MOST
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_tile import Tiles
from .llvm_where import Known


class Words(Tiles):
    """Emits what puts units together."""

    def words_together(self, places: Sequence[str], dtype: DType, width: int, unit: int) -> list[Lanes]:
        """Units that lie at some places, behind each other in whole vectors: each unit is a number, a word the bits of several, a vector two words."""
        t, nbytes = self.text, unit * dtype.itemsize
        words = ["0"] * (len(places) * nbytes // WORD)
        for n, place in enumerate(places):
            (k, at), one = divmod(n * nbytes, WORD), self._as_number(place, nbytes)
            words[k] = t.index("or", words[k], t.index("shl", one, 8 * at))
            if at + nbytes > WORD:
                words[k + 1] = t.let(f"lshr i64 {one}, {8 * (WORD - at)}", INDEX_TYPE).name
        found, side = list[Lanes](), PART_BYTES // WORD
        for k in range(0, len(words), side):
            x = "poison"
            for n, word in enumerate(words[k : k + side]):
                x = t.let(f"insertelement <{side} x i64> {x}, i64 {word}, i32 {n}", INDEX_TYPE, side).name
            found.append(t.let(f"bitcast <{side} x i64> {x} to <{width} x {dtype.memory}>", dtype.memory, width))
        return found

    def rows_that_follow(self, stmt: Bring, begin: Value, known: Known, rows: str, unit: int) -> str:
        """Of how many rows a unit may be read with a few bytes beyond it: of small elements, that are no power of two, where the next row's follows it."""
        t, size, form = self.text, stmt.into.dtype.itemsize, affine(begin, stmt.row)
        if size > MOST or unit * size > WORD or unit * size & (unit * size - 1) == 0 or form is None:
            return "0"
        inside: Known = {**known, stmt.row: Lanes("0", INDEX_TYPE)}
        near = t.let(f"icmp eq i64 {self.value(form[0], inside, None).name}, {unit}", "i1").name
        return t.select(near, t.index("sub", rows, 1), "0")

    def words_beyond(self, places: Sequence[str], dtype: DType, width: int, unit: int) -> list[Lanes]:
        """Units of small elements behind each other in whole vectors: each is read as a word, a few bytes of which are not its own."""
        t, nbytes = self.text, unit * dtype.itemsize
        each = WORD // 2 if nbytes <= WORD // 2 else WORD
        many, word, read = PART_BYTES // each, f"i{8 * each}", list[Lanes]()
        for n in range(0, len(places), many):
            made = "poison"
            for k, place in enumerate(places[n : n + many]):
                one = t.let(f"load {word}, ptr {place}, align {dtype.itemsize}", word).name
                made = t.let(f"insertelement <{many} x {word}> {made}, {word} {one}, i32 {k}", word, many).name
            read.append(t.let(f"bitcast <{many} x {word}> {made} to <{PART_BYTES} x i8>", "i8", PART_BYTES))
        found = list[Lanes]()
        for first in range(0, len(places) * nbytes, PART_BYTES):
            wanted = [divmod(at, nbytes) for at in range(first, first + PART_BYTES)]
            inside = [(n // many, n % many * each + k) for n, k in wanted]
            start = inside[0][0]
            x = self._shuffled(read[start], read[start], [at if v == start else 0 for v, at in inside])
            for v in range(start + 1, inside[-1][0] + 1):
                order = [PART_BYTES + at if of == v else j for j, (of, at) in enumerate(inside)]
                x = self._shuffled(x, read[v], order)
            found.append(t.let(f"bitcast {x} to <{width} x {dtype.memory}>", dtype.memory, width))
        return found

    def _as_number(self, place: str, nbytes: int) -> str:
        """So many bytes as a number of 64 bits, nothing else being read: in two parts that may overlap, where that is no power of two."""
        t, size = self.text, 1 << (nbytes.bit_length() - 1)
        parts = []
        for at in dict.fromkeys((0, nbytes - size)):
            x = t.let(f"load i{8 * size}, ptr {t.further(place, 'i8', str(at))}, align 1", f"i{8 * size}")
            wide = x.name if size == WORD else t.let(f"zext {x} to i64", INDEX_TYPE).name
            parts.append(t.index("shl", wide, 8 * at))
        return parts[0] if len(parts) == 1 else t.index("or", *parts)
