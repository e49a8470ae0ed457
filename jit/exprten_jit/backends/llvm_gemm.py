"""Our own matrix product as LLVM text: for element types and strides that BLAS has none for, and where there is no BLAS.

Both operands are packed into panels (`llvm_pack`). A tile of the result is summed in registers over a block of `DEPTH` elements of
k, and blocks are added one after the other: so every element is summed in the order of k, and its bits depend on nothing else, not
on the width of the registers, not on where in the matrix it lies.

`void gemm(ptr c, ptr a, ptr b, ptr sizes, alpha, beta, i64 read, i64 threads)`: c = alpha * (a @ b), and + beta * c where `read` is
not 0. `sizes` are nine int64: m, n, k, then strides in elements along m and n of c, m and k of a, k and n of b. Threads share the
rows of the result, or its columns where there are more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..dtypes import DTYPES, DType
from ..machine import Machine
from .llvm_pack import DEPTH, Operand, Packing
from .llvm_share import shared
from .llvm_text import Lanes

ROW_TILES = 8  # tiles in a block of rows: the packed block stays in the second cache
COLUMNS = 1024  # in a block of columns
STACK = 1 << 16  # bytes on the stack: small operands are packed there, and large ones where there is no memory
SIZES = ("m", "n", "k", "cm", "cn", "am", "ak", "bk", "bn")


@dataclass(frozen=True)
class Gemm:
    """The element types of a product: of the operands, and of the result, in which it is computed."""

    a: DType
    b: DType
    c: DType

    @property
    def inner(self) -> DType:
        """What is added up. Narrow integers wrap when they are stored; bool counts, and is true for a count above 0; of a narrow
        float only the whole sum is rounded.
        """
        return DTYPES["int32"] if self.c.kind in "biu" and self.c.bits < 32 else self.c.computed

    @property
    def apart(self) -> bool:
        """Whether sums wait in memory of their own while blocks of k are added, because the result cannot hold them."""
        return bool(self.c.wide)

    @property
    def factor(self) -> str:
        """The LLVM type of alpha and beta."""
        return self.c.lane if self.c.kind == "f" else "i64"


@dataclass(frozen=True)
class Tile:
    """Rows and columns of the result that are summed in registers, and the lanes of one register."""

    rows: int
    columns: int
    lanes: int


def tile(gemm: Gemm, machine: Machine) -> Tile:
    """As many registers as there are, but for two of b and two of a: 32 with AVX-512, else 16."""
    lanes = machine.vector_bits // gemm.inner.bits
    return Tile(14 if machine.vector_bits == 512 else 6, 2 * lanes, lanes)


def scratch_bytes(gemm: Gemm, machine: Machine) -> int:
    """The most memory that packed operands take at a time."""
    t = tile(gemm, machine)
    waiting = ROW_TILES * t.rows * COLUMNS * gemm.apart
    return STACK + ((ROW_TILES * t.rows + COLUMNS) * DEPTH + waiting) * gemm.inner.itemsize


def emit(gemm: Gemm, machine: Machine, fused: bool, threads: int) -> str:
    """The module with the function `gemm`, which calls `parallel`. `fused`: the processor multiplies and adds at once, and rounds
    once. `threads`: as many as there are.
    """
    t = tile(gemm, machine)
    sizes = (gemm.c.itemsize, gemm.a.itemsize, gemm.b.itemsize)
    return _Emitter(gemm, machine, fused).module() + shared(gemm.factor, sizes, (t.rows, t.columns), threads)


class _Emitter(Packing):
    def __init__(self, gemm: Gemm, machine: Machine, fused: bool) -> None:
        self.tile = tile(gemm, machine)
        super().__init__(gemm.inner, self.tile.lanes)
        self.gemm = gemm
        self.masked = gemm.c.bits in machine.masked_bits and (machine.masks or gemm.c.bits > 16)
        self.fused = fused

    def module(self) -> str:
        t, gemm, tile = self.text, self.gemm, self.tile
        size = {name: self.load(self.at("i64", "%sizes", str(n)), "i64") for n, name in enumerate(SIZES)}
        self.m, self.n, self.k, self.cm, self.cn = (size[name] for name in SIZES[:5])
        self.a = Operand(gemm.a, "%a", size["ak"], size["am"], tile.rows)
        self.b = Operand(gemm.b, "%b", size["bk"], size["bn"], tile.columns)
        self.span = t.lesser(self.k, str(DEPTH))
        self.sums = t.reserve(f"[{tile.rows * 2} x {Lanes('', gemm.inner.lane, tile.lanes).type}]")
        self._memory()
        t.repeat("0", self.n, self._columns)
        t.when(
            t.let(f"icmp ne ptr {self.heap}, null", "i1").name,
            lambda: t.call_void("@PyMem_RawFree", f"ptr {self.heap}"),
        )
        t.put("ret void")
        f = gemm.factor
        head = f"define internal void @alone(ptr %c, ptr %a, ptr %b, ptr %sizes, {f} %alpha, {f} %beta, i64 %read) {{"
        return "\n".join([*t.declared.values(), head, "entry:", *t.reserved, *t.lines, "}", ""])

    def _memory(self) -> None:
        """Where panels are packed, and the blocks that fit there: whole tiles, no more than there are."""
        t, tile = self.text, self.tile
        rows = self.rounded(t.lesser(self.m, str(ROW_TILES * tile.rows)), tile.rows)
        columns = self.rounded(t.lesser(self.n, str(COLUMNS)), tile.columns)
        depth = t.index("mul", self.span, self.inner.itemsize)
        wanted = t.index("mul", t.index("add", rows, columns), depth)
        if self.gemm.apart:
            wanted = t.index("add", wanted, t.index("mul", t.index("mul", rows, columns), self.inner.itemsize))
        large = t.let(f"icmp sgt i64 {wanted}, {STACK}", "i1").name
        place, stack = t.reserve("ptr"), t.reserve(f"[{STACK} x i8]")
        t.put(f"store ptr null, ptr {place}")

        def ask() -> None:
            size = Lanes(t.index("add", wanted, 64), "i64")
            t.put(f"store ptr {t.call('@PyMem_RawMalloc', 'ptr', 1, size).name}, ptr {place}")

        t.when(large, ask)
        self.heap = self.load(place, "ptr")
        none = t.let(f"icmp eq ptr {self.heap}, null", "i1").name
        scarce = t.let(f"and i1 {none}, {large}", "i1").name
        number = t.index("and", t.index("add", t.let(f"ptrtoint ptr {self.heap} to i64", "i64").name, 63), -64)
        aligned = t.let(f"inttoptr i64 {number} to ptr", "ptr").name
        self.panel_a = t.let(f"select i1 {none}, ptr {stack}, ptr {aligned}", "ptr").name
        self.row_block = t.let(f"select i1 {scarce}, i64 {tile.rows}, i64 {rows}", "i64").name
        self.column_block = t.let(f"select i1 {scarce}, i64 {tile.columns}, i64 {columns}", "i64").name
        self.panel_b = self.at(self.inner.lane, self.panel_a, t.index("mul", self.row_block, self.span))
        self.waiting = self.at(self.inner.lane, self.panel_b, t.index("mul", self.column_block, self.span))

    # blocks

    def _columns(self, j: str) -> str:
        """A block of columns, for all of k; with nothing to add where k is 0."""
        t = self.text
        count = t.lesser(t.index("sub", self.n, j), self.column_block)

        def depth(p: str, row: str | None = None) -> str:
            deep = t.lesser(t.index("sub", self.k, p), str(DEPTH))
            self.pack(self.b, self.panel_b, (p, deep), (j, count))
            if row is None:
                t.repeat("0", self.m, lambda i: self._rows(i, j, p, deep, count))
            else:
                self._rows(row, j, p, deep, count)
            return t.index("add", p, DEPTH)

        def rows(i: str) -> str:
            t.repeat("0", self.greater(self.k, "1"), lambda p: depth(p, i))
            return t.index("add", i, self.row_block)

        if self.gemm.apart:  # b is packed again for each block of rows: of 112 rows that is a hundredth of the work
            t.repeat("0", self.m, rows)
        else:
            t.repeat("0", self.greater(self.k, "1"), depth)
        return t.index("add", j, self.column_block)

    def _rows(self, i: str, j: str, p: str, deep: str, columns: str) -> str:
        """A block of rows of a block of columns: its tiles, column after column."""
        t, tile, factor = self.text, self.tile, self.gemm.factor
        rows = t.lesser(t.index("sub", self.m, i), self.row_block)
        self.pack(self.a, self.panel_a, (p, deep), (i, rows))
        later = t.let(f"icmp sgt i64 {p}, 0", "i1").name
        read, beta = t.let("icmp ne i64 %read, 0", "i1").name, "%beta"
        if not self.gemm.apart:
            read = t.let(f"or i1 {later}, {read}", "i1").name
            one = "1.0" if self.gemm.c.kind == "f" else "1"
            beta = t.let(f"select i1 {later}, {factor} {one}, {factor} %beta", factor).name
        last = t.let(f"icmp sge i64 {t.index('add', p, deep)}, {self.k}", "i1").name

        def column(jr: str) -> str:
            def one_tile(ir: str) -> str:
                if self.gemm.apart:
                    self.sums = self._waiting(ir, jr)
                self._sum(ir, jr, deep, later)
                row, col = t.index("add", i, ir), t.index("add", j, jr)
                offset = t.index("add", t.index("mul", row, self.cm), t.index("mul", col, self.cn))
                high = t.lesser(t.index("sub", rows, ir), str(tile.rows))
                wide = t.lesser(t.index("sub", columns, jr), str(tile.columns))
                at = self.at(self.gemm.c.memory, "%c", offset)
                if self.gemm.apart:
                    t.when(last, lambda: self._store(at, high, wide, read, beta))
                else:
                    self._store(at, high, wide, read, beta)
                return t.index("add", ir, tile.rows)

            t.repeat("0", rows, one_tile)
            return t.index("add", jr, tile.columns)

        t.repeat("0", columns, column)
        return t.index("add", i, self.row_block)

    # a tile

    def _waiting(self, ir: str, jr: str) -> str:
        """Where the sums of a tile wait: tiles of a column of them follow each other."""
        t, tile = self.text, self.tile
        here = t.index("mul", jr, self.row_block)
        return self.at(self.inner.lane, self.waiting, t.index("add", here, t.index("mul", ir, tile.columns)))

    def _begin(self, later: str) -> list[Lanes]:
        """What a tile is added to: nothing, or its sums over the blocks of k before."""
        t, tile = self.text, self.tile
        zero = Lanes("zeroinitializer", self.inner.lane, tile.lanes)
        if not self.gemm.apart:
            return [zero] * (2 * tile.rows)
        held = [self.vector(self.sums, n * tile.lanes) for n in range(2 * tile.rows)]
        return [t.let(f"select i1 {later}, {x}, {zero}", x.lane, x.count) for x in held]

    def _sum(self, ir: str, jr: str, deep: str, later: str) -> None:
        """The sums of a tile over a block of k, from registers to `sums`."""
        t, tile, lane = self.text, self.tile, self.inner.lane
        a = self.at(lane, self.panel_a, t.index("mul", ir, self.span))
        b = self.at(lane, self.panel_b, t.index("mul", jr, self.span))

        def step(p: str, sums: list[Lanes]) -> list[Lanes]:
            left = self.at(lane, a, t.index("mul", p, tile.rows))
            right = self.at(lane, b, t.index("mul", p, tile.columns))
            halves = [self.vector(right, v * tile.lanes) for v in range(2)]
            out = []
            for r in range(tile.rows):
                element = self.splat(self.load(self.at(lane, left, str(r)), lane))
                out += [self._added(element, half, sums[2 * r + v]) for v, half in enumerate(halves)]
            return out

        for n, total in enumerate(t.carry("0", deep, 1, self._begin(later), step)):
            t.put(f"store {total}, ptr {self.at(lane, self.sums, str(n * tile.lanes))}, align {self.inner.itemsize}")

    def _added(self, a: Lanes, b: Lanes, total: Lanes) -> Lanes:
        t = self.text
        if self.inner.kind == "f" and self.fused:
            suffix = f"v{a.count}{self.inner.suffix}"
            return t.call(f"@llvm.fma.{suffix}", a.lane, a.count, a, b, total)
        multiply, add = ("fmul", "fadd") if self.inner.kind == "f" else ("mul", "add")
        product = t.let(f"{multiply} {a}, {b.name}", a.lane, a.count)
        return t.let(f"{add} {product}, {total.name}", a.lane, a.count)

    def _store(self, c: str, rows: str, columns: str, read: str, beta: str) -> None:
        """A tile of the result from `sums`, as far as the result reaches."""
        t, tile = self.text, self.tile
        dense = t.let(f"icmp eq i64 {self.cn}, 1", "i1").name
        if not self.masked:
            whole = t.let(f"icmp eq i64 {columns}, {tile.columns}", "i1").name
            dense = t.let(f"and i1 {dense}, {whole}", "i1").name

        def each(body: Callable[[str, str], None]) -> None:
            def row(r: str) -> None:
                from_ = self.at(self.inner.lane, self.sums, t.index("mul", r, tile.columns))
                body(self.at(self.gemm.c.memory, c, t.index("mul", r, self.cm)), from_)

            t.loop("0", rows, 1, row)

        def vectors(to: str, from_: str) -> None:
            for v in range(2):
                at = v * tile.lanes
                self._update(
                    self.at(self.gemm.c.memory, to, str(at)),
                    self.vector(from_, at),
                    read,
                    beta,
                    self._mask(columns, at),
                )

        def elements(to: str, from_: str) -> None:
            def element(j: str) -> None:
                total = Lanes(self.load(self.at(self.inner.lane, from_, j), self.inner.lane), self.inner.lane)
                self._update(self.at(self.gemm.c.memory, to, t.index("mul", j, self.cn)), total, read, beta, None)

            t.loop("0", columns, 1, element)

        self.text.either(dense, lambda: each(vectors), lambda: each(elements))

    def _mask(self, columns: str, start: int) -> str | None:
        """Which of the lanes from `start` on belong to the result; None: they all do."""
        if not self.masked:
            return None
        t, lanes = self.text, self.tile.lanes
        left = self.splat(t.let(f"trunc i64 {t.index('sub', columns, start)} to i32", "i32").name, "i32")
        counting = ", ".join(f"i32 {n}" for n in range(lanes))
        return t.let(f"icmp slt <{lanes} x i32> <{counting}>, {left.name}", "i1", lanes).name

    def _update(self, to: str, total: Lanes, read: str, beta: str, mask: str | None) -> None:
        """to = alpha * total, and + beta * to where it is to be read."""
        t, c = self.text, self.gemm.c
        times, plus = ("fmul", "fadd") if c.kind == "f" else ("mul", "add")
        value = total
        if c.kind != "b":
            value = t.let(f"{times} {total}, {self._factor('%alpha', total.count).name}", total.lane, total.count)
        place = t.reserve(value.type)
        t.put(f"store {value}, ptr {place}")

        def combine() -> None:
            old = self.widened(self._old(to, total.count, mask), c)
            if c.kind != "b":
                old = t.let(f"{times} {old}, {self._factor(beta, total.count).name}", old.lane, old.count)
            t.put(f"store {t.let(f'{plus} {value}, {old.name}', value.lane, value.count)}, ptr {place}")

        t.when(read, combine)
        self._write(self.narrowed(t.let(f"load {value.type}, ptr {place}", value.lane, value.count), c), to, mask)

    def _factor(self, name: str, lanes: int) -> Lanes:
        """alpha or beta as the result is computed."""
        t, lane = self.text, self.inner.lane
        if self.gemm.factor != lane:
            name = t.let(f"trunc i64 {name} to {lane}", lane).name
        return self.splat(name) if lanes > 1 else Lanes(name, lane)

    def _old(self, at: str, lanes: int, mask: str | None) -> Lanes:
        t, memory, align = self.text, self.gemm.c.memory, self.gemm.c.itemsize
        held = Lanes("", memory, lanes).type
        if mask is None or lanes == 1:
            return t.let(f"load {held}, ptr {at}, align {align}", memory, lanes)
        suffix = f"v{lanes}{_suffix(memory)}.p0"
        function = f"@llvm.masked.load.{suffix}"
        t.declare(function, held, "ptr", "i32", f"<{lanes} x i1>", held)
        call = f"call {held} {function}(ptr {at}, i32 {align}, <{lanes} x i1> {mask}, {held} zeroinitializer)"
        return t.let(call, memory, lanes)

    def _write(self, value: Lanes, at: str, mask: str | None) -> None:
        t, align = self.text, self.gemm.c.itemsize
        if mask is None or value.count == 1:
            t.put(f"store {value}, ptr {at}, align {align}")
            return
        function = f"@llvm.masked.store.v{value.count}{_suffix(value.lane)}.p0"
        t.call_void(function, f"{value}", f"ptr {at}", f"i32 {align}", f"<{value.count} x i1> {mask}")


def _suffix(lane: str) -> str:
    return {"float": "f32", "double": "f64"}.get(lane, lane)
