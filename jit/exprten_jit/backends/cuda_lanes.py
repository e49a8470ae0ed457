"""Long folds by a warp that reads 16 bytes a thread, in the order that `reducers` defines.

Eight threads have all lanes of a block, neighbouring ones in each: of float32 four, so that they read 128 bytes that lie together. A warp
has four such teams, and they take four blocks at once, whose results are a subtree of the blocks' pairs. Lanes halve as anywhere: those
half of all apart lie four threads apart, then two, one; the last ones are in a thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..bounds import is_index
from ..grid import WARP, exact
from ..gridlist import BLOCKS_AT_ONCE
from ..ir import Fold, Load, Op, index
from ..reducers import PAIRS
from ..rewrite import affine, walk
from .cuda_folds import Folds, Row
from .cuda_text import in_memory
from .cuda_values import Known, decoded

THREADS = WARP // BLOCKS_AT_ONCE  # that have the lanes of a block
WIDEST = 16  # bytes that a thread reads at once
UNROLLED = 64  # operations that a loop has at most where it is unrolled


class Lanes(Folds):
    """Writes folds of which a thread reads several elements at once, where they lie so."""

    at_once: int  # elements, at most

    def _by_warp(self, group: list[Fold], known: Known) -> list[Row]:
        order, loads = group[0].order, self._runs(group)
        if order is None or order == PAIRS or not loads:
            return super()._by_warp(group, known)
        free = all(exact(f) for f in group)
        if not free and not any(self.long(f, (BLOCKS_AT_ONCE - 1) * order.block) for f in group):
            return super()._by_warp(group, known)  # of few blocks most of the warp would have none
        n = self.extent(group[0], known)
        if free:
            at_once = WIDEST // max(x.leaf.dtype.itemsize for x in loads)
            packed = self._aligned_here(group[0], loads, at_once, known)
            return self._in_any_order(group, loads, known, n, at_once, packed)
        packed = self._aligned_here(group[0], loads, order.lanes // THREADS, known)
        return self._in_blocks(
            group, n, BLOCKS_AT_ONCE * order.block, lambda a, b: self._four_blocks(group, loads, known, packed, a, b)
        )

    def _runs(self, group: Sequence[Fold]) -> list[Load]:
        """The loads of elements that lie one behind the other."""
        bodies = [body for f in group for body in f.bodies]
        found = dict.fromkeys(x for x in walk(*bodies, into_folds=False) if isinstance(x, Load))
        return [x for x in found if self._runs_on(x, group[0])]

    def _runs_on(self, x: Load, f: Fold) -> bool:
        if x.when is not None or x.leaf.pairs or not is_index(x.offset, self.plain):
            return False
        form = affine(x.offset, f.axis)
        return form is not None and form[0] is index(1)

    def _aligned_here(self, f: Fold, loads: Sequence[Load], at_once: int, known: Known) -> str:
        """The name of what says whether the elements begin at multiples of what is read at once."""
        start = known.copy()
        start.indices[f.axis] = "0"
        tests = [
            f"(size_t)({x.leaf.name} + {self.index(x.offset, start)}) % {at_once * x.leaf.dtype.itemsize} == 0"
            for x in loads
        ]
        self.at_once = max(self.at_once, at_once)
        name = self.name("packed")
        self.put(f"const bool {name} = {' && '.join(dict.fromkeys(tests))};")
        return name

    def _in_any_order(
        self, group: list[Fold], loads: Sequence[Load], known: Known, n: str, at_once: int, packed: str
    ) -> list[Row]:
        """Folds with one result in every order."""
        found, whole, k, c = self._begun(group), self.name("whole"), self.name("k"), self.name("c")
        stretch = WARP * at_once
        self.put(f"const idx {whole} = {packed} ? {n} / {stretch} * {stretch} : 0;")
        self.put(f"#pragma unroll {self._unrolled(group, at_once)}")
        with self.block(f"for (idx {k} = lane * {at_once}; {k} < {whole}; {k} += {stretch})"):
            inside = known.copy()
            packs = self._packs(loads, group[0], k, at_once, inside)
            self.put("#pragma unroll")
            with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
                self._unpacked(packs, c, inside)
                self._joined(group, found, inside, f"{k} + {c}")
        self._strided(group, known, found, whole, n, WARP)
        return [self._down(f, row, (16, 8, 4, 2, 1)) for f, row in zip(group, found, strict=True)]

    def _four_blocks(
        self, group: list[Fold], loads: Sequence[Load], known: Known, packed: str, first: str, last: str
    ) -> list[Row]:
        """What up to four blocks come to, each of eight threads."""
        order = group[0].order
        assert order is not None, "a scheduled fold has an order"
        at_once = order.lanes // THREADS
        lanes = [self._lanes(f, at_once) for f in group]
        k, end, c = self.name("k"), self.name("end"), self.name("c")
        self.put(f"idx {k} = {first} + lane / {THREADS} * {order.block};")
        self.put(f"const idx {end} = min(idx({last}), idx({k} + {order.block}));")
        self.put(f"{k} += lane % {THREADS} * {at_once};")
        self.put("#pragma unroll")
        with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
            for f, row in zip(group, lanes, strict=True):
                self._set([f"{x}[{c}]" for x in row], self._identity(f))
        here = [[f"{x}[{c}]" for x in row] for row in lanes]
        self.put(f"#pragma unroll {self._unrolled(group, at_once)}")
        with self.block(f"for (; {packed} && {k} + {at_once} <= {end}; {k} += {order.lanes})"):
            inside = known.copy()
            packs = self._packs(loads, group[0], k, at_once, inside)
            self.put("#pragma unroll")
            with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
                self._unpacked(packs, c, inside)
                self._joined(group, here, inside, f"{k} + {c}")
        self.put(f"#pragma unroll {self._unrolled(group, at_once)}")
        with self.block(f"for (; {k} + {at_once} <= {end}; {k} += {order.lanes})"):
            self.put("#pragma unroll")
            with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
                self._joined(group, here, known.copy(), f"{k} + {c}")
        self.put("#pragma unroll")
        with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"), self.block(f"if ({k} + {c} < {end})"):
            self._joined(group, here, known.copy(), f"{k} + {c}")
        return [self._of_lanes(f, row, at_once) for f, row in zip(group, lanes, strict=True)]

    def _of_lanes(self, f: Fold, lanes: Row, at_once: int) -> Row:
        """The lanes of each team halved, then the teams' results in pairs."""
        h, c = self.name("h"), self.name("c")
        self.put("#pragma unroll")
        with self.block(f"for (int {h} = {THREADS // 2}; {h} > 0; {h} /= 2)"):
            self.put("#pragma unroll")
            with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
                here = [f"{x}[{c}]" for x in lanes]
                self._set(here, self._together(f, here, [f"xt_down({x}, {h})" for x in here]))
        row = self._halved(f, lanes, at_once)
        return self._down(f, row, [THREADS << n for n in range(BLOCKS_AT_ONCE.bit_length() - 1)])

    def _read_parts(self, node: Fold, known: Known, n: str, start: str, count: int, own: Row) -> None:
        """Results that lie one behind the other are read at once: those of a thread are as many lines as a warp has threads."""
        loads = [x for x in node.bodies if isinstance(x, Load) and self._runs_on(x, node)]
        if self.lean or start == "0" or len(loads) < len(node.bodies):
            super()._read_parts(node, known, n, start, count, own)
            return
        at_once = min(count, WIDEST // max(x.leaf.dtype.itemsize for x in loads))
        packed, k, c = self._aligned_here(node, loads, at_once, known), self.name("k"), self.name("c")
        with self.block(f"if ({packed} && {start} + {count} <= {n})"):
            self.put("#pragma unroll")
            with self.block(f"for (int {k} = 0; {k} < {count}; {k} += {at_once})"):
                inside = known.copy()
                packs = self._packs(loads, node, f"({start} + {k})", at_once, inside)
                self.put("#pragma unroll")
                with self.block(f"for (int {c} = 0; {c} < {at_once}; ++{c})"):
                    self._unpacked(packs, c, inside)
                    self._set([f"{x}[{k} + {c}]" for x in own], [inside.values[x] for x in loads])
        with self.block("else"):
            super()._read_parts(node, known, n, start, count, own)

    def _packs(self, loads: Sequence[Load], f: Fold, k: str, at_once: int, known: Known) -> dict[Load, str]:
        """Elements from `k` on, read at once."""
        known.indices[f.axis] = k
        packs = {}
        for x in loads:
            packs[x] = self.name("x")
            kind = f"xt_pack<{in_memory(x.leaf.dtype)}, {at_once}>"
            self.put(f"const {kind} {packs[x]} = *(const {kind}*)({x.leaf.name} + {self.index(x.offset, known)});")
        return packs

    def _unpacked(self, packs: dict[Load, str], c: str, known: Known) -> None:
        for x, pack in packs.items():
            known.values[x] = decoded(f"{pack}.at[{c}]", x.leaf.dtype)

    def _joined(self, group: list[Fold], found: list[Row], known: Known, at: str) -> None:
        """An element, brought to the accumulators."""
        for f, row in zip(group, found, strict=True):
            self._set(row, self._together(f, row, self._bodies(f, known, at, fresh=False), after=True))

    def _unrolled(self, group: Sequence[Fold], at_once: int) -> int:
        """How often a loop over such groups is, so that a thread has loads under way, and the text stays short."""
        bodies = [body for f in group for body in f.bodies]
        operations = sum(isinstance(x, Op) and not self.is_plain(x) for x in walk(*bodies))
        return next((n for n in (8, 4, 2) if n * at_once * operations <= UNROLLED), 1)
