"""A kernel for a list of rows of tensors as one CUDA function: a block of threads finds in a table which row is its own.

A line of the table is, of a row, the number of its first block, the addresses, the sizes, how long parts of folds are, where its
scratch memory begins, and the scalars that are its own; `row_of` says for each block which row it works on. So a list may have any number
of rows, of any sizes.

Where a program has several grids, they are stages: a stage of a row begins when all blocks of the stages before it are done with that row.
Blocks take their work in the order in which they begin, all of a stage before any of the next, so what one waits for is done or being
done, however few run at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import starmap
from typing import Any

import numpy as np

from ..dtypes import DTYPES, DType
from ..grid import SHORT, WARP, Grid, Program
from ..gridlist import Cut, Rows, cuts
from ..ir import Fold, Leaf, Param, Size, Value, index, size
from ..kernel import Kernel
from ..reducers import PAIRS
from .cuda_emit import NARROW, THREADS, Argument, Cuda, Entry, Function, greatest, module, prepared
from .cuda_run import number
from .cuda_text import in_memory, in_register
from .cuda_values import Known, bare

CHUNK = 4 * THREADS  # points of a block: finding the row takes two loads, one after the other
LINES, ROW_OF, DONE = Leaf("rows", DTYPES["int64"]), Leaf("row_of", DTYPES["int32"]), Leaf("done", DTYPES["int32"])
SCRATCH, ROOM, BLOCKS = Leaf("scratch", DTYPES["int8"]), size("room"), size("blocks")

Column = Leaf | Size | Param


@dataclass(frozen=True)
class Stage:
    """One grid for all rows: how many points a row has, how many of them a block takes, threads a point, and elements that a thread reads
    and writes at once.
    """

    points: Value
    each: int
    team: int
    at_once: int


@dataclass(frozen=True)
class Listed:
    """The function for rows of one kind. It is called with the table, `row_of`, with several stages how many blocks have begun, and of
    each row are done, all 0, the number of blocks, bytes of scratch memory where there is some, and the scalars that are not `own`, of each row.
    """

    cuda: Cuda
    program: Program  # of a row
    stages: tuple[Stage, ...]
    cuts: tuple[Cut, ...]
    own: tuple[int, ...]  # scalars, by their number

    @property
    def kernel(self) -> Kernel:
        """Of a row."""
        return self.program.kernel

    @property
    def given(self) -> tuple[int, ...]:
        """The other scalars."""
        return tuple(n for n in range(len(self.kernel.params)) if n not in self.own)

    @property
    def words(self) -> int:
        """Of what a launch is called with, before the scalars."""
        return 3 + self.staged + bool(self.program.scratch)

    @property
    def staged(self) -> bool:
        """Whether there are several stages."""
        return len(self.stages) > 1


def is_wide(rows: Rows, sizes: Mapping[str, int]) -> bool:
    """Whether indices have 64 bits in the functions for a row of these sizes."""
    known = dict(sizes) | {name: int(n) for name, n in lengths(cuts(rows.program), sizes).items()}
    return any(greatest(grid, known) >= NARROW for grid in map(prepared, rows.program.grids))


def lengths(found: Sequence[Cut], sizes: Mapping[str, Any]) -> dict[str, Any]:
    """How many elements a part of each cut fold has, by the size that says so: for a row, or for arrays of sizes."""
    made = dict[str, Any]()
    for cut in found:
        per: Any = np.int64(cut.least)
        while np.any(more := number(cut.parts, {**sizes, cut.per.name: per}) > cut.most):
            per = np.where(more, 2 * per, per)
        made[cut.per.name] = per
    return made


def scalar_words(words: Any, dtype: DType) -> Any:
    """Scalars as the table has them, of words that hold doubles or ints: as a register holds them, so that nothing is left to convert."""
    if dtype.kind != "f" or dtype.bits == 64:
        return words
    numbers = [dtype.rounded(float(x)) for x in words.view(np.float64)]
    with np.errstate(over="ignore"):
        return np.array(numbers, np.float32).view(np.int32).astype(np.int64)


def listed(rows: Rows, sizes: Mapping[str, int], wide: bool, own: Sequence[int]) -> Listed:
    """The function for lists of rows. `own` are the scalars that may differ between rows, by their number."""
    program, kernel = rows.program, rows.program.kernel
    found = cuts(program)
    scalars = [kernel.params[n] for n in own]
    table = _Table(
        len(program.grids),
        (*kernel.leaves, *kernel.sizes, *(c.per for c in found), *(x for x, _ in program.scratch), *scalars),
    )
    writers = [_OfRows(grid, rows, n, table, sizes) for n, grid in enumerate(map(prepared, program.grids))]
    entries = [writer.function("kernel") for writer in writers]
    stages = tuple(starmap(_stage, zip(writers, entries, strict=True)))
    params = tuple(dict.fromkeys(x for w in writers for x in w.arguments if isinstance(x, Param) and x not in scalars))
    scratch = (SCRATCH,) if program.scratch else ()
    given = (LINES, ROW_OF, *((DONE,) if table.staged else ()), *scratch, *params)
    threads = entries[0].threads
    assert all(entry.threads == threads for entry in entries), "stages of one launch have blocks of one size"
    entry = Entry("kernel", given, threads, BLOCKS, threads, alone=False, capped=False, at_once=entries[-1].at_once)
    body = "\n".join([*_head(entry, table), *(line for w in writers for line in w.lines), *_foot(table)])
    return Listed(Cuda(module(body, wide), (entry,), _called(program, given), wide), program, stages, found, tuple(own))


def _stage(writer: _OfRows, entry: Entry) -> Stage:
    points = index(1) if entry.alone else entry.count
    return Stage(points, writer.each, entry.each, entry.at_once)


def _called(program: Program, given: Sequence[Argument]) -> Program:
    """The arguments of a launch, as a program has them."""
    room = ((SCRATCH, ROOM),) if program.scratch else ()
    leaves = tuple(x for x in given if isinstance(x, Leaf) and x != SCRATCH)
    params = tuple(x for x in program.kernel.params if x in given)
    return Program(Kernel((), (), leaves, (BLOCKS, *(size for _, size in room)), params), (), room, ())


@dataclass(frozen=True)
class _Table:
    """The words of a line: of each stage the number of the first block, with several how many blocks there are to its end, and `columns`."""

    stages: int
    columns: tuple[Column, ...]

    @property
    def staged(self) -> bool:
        return self.stages > 1

    @property
    def first(self) -> int:
        """Where the columns begin."""
        return 2 * self.stages if self.staged else 1

    @property
    def words(self) -> int:
        return self.first + len(self.columns)

    def end(self, stage: int) -> str:
        """How many blocks of a row there are in this stage and those before."""
        return f"(int)row[{self.stages + stage}]"


def _head(entry: Entry, table: _Table) -> Iterator[str]:
    """The function up to where a block knows its row."""
    memory = {
        LINES: "const long long* rows", ROW_OF: "const int* row_of", DONE: "int* done", SCRATCH: "signed char* scratch",
    }  # fmt: skip
    given = ", ".join(memory[x] if isinstance(x, Leaf) else f"{in_register(x.dtype)} {x.name}" for x in entry.arguments)
    yield f'extern "C" __global__ void __launch_bounds__({entry.threads}) {entry.name}({given}) {{'
    if not table.staged:
        yield f"    const long long* row = rows + (size_t)row_of[blockIdx.x] * {table.words};"
        return
    yield "    __shared__ int taken[1];"
    yield "    if (threadIdx.x == 0) *taken = xt_taken(done);"
    yield "    __syncthreads();"
    yield "    const int piece = *taken;"
    yield f"    const int stage = row_of[piece] % {table.stages};"
    yield f"    const long long* row = rows + (size_t)(row_of[piece] / {table.stages}) * {table.words};"
    yield f"    done += 1 + row_of[piece] / {table.stages};"


def _foot(table: _Table) -> Iterator[str]:
    """The end of the function."""
    if table.staged:
        yield f"    xt_done(done, {table.end(table.stages - 1)});"
    yield "}"


class _OfRows(Function):
    """Writes a stage."""

    apart = False
    lean = True

    def __init__(self, grid: Grid, rows: Rows, number: int, table: _Table, sizes: Mapping[str, int]) -> None:
        super().__init__(grid, dict(sizes) | {s.name: n for s, n in rows.program.sizes})
        self.number, self.short, self.table = number, rows.short, table
        self.columns = {x: n for n, x in enumerate(table.columns, table.first)}
        self.scratch = [x for x, _ in rows.program.scratch if x in self.arguments]
        self.each = (
            1 if grid.order != "any" else CHUNK if grid.team == 1 else THREADS // WARP if grid.team == WARP else 1
        )
        self.taken |= {"rows", "row_of", "row", "scratch", "done", "taken", "piece", "stage"}

    def _longer(self, node: Fold, size: int) -> bool:
        """Rows of any size may come; but what a thread folds by itself along a row is short where rows are of one kind for it."""
        along = node.order is not None and node.order != PAIRS and not node.order.grouped
        return not (self.short and along and size == SHORT)

    def _begin(self) -> None:
        if self.table.staged:
            self.put(f"if (stage == {self.number}) {{")
            self.depth += 1
            if self.number:
                self.put(f"xt_wait(done, {self.table.end(self.number - 1)});")
        for x in self.arguments:
            if x in self.columns:
                self._read(x, f"row[{self.columns[x]}]")

    def _end(self) -> None:
        if self.table.staged:
            self.depth -= 1
            self.put("}")

    def _read(self, x: Column, word: str) -> None:
        match x:
            case Size(name):
                self.put(f"const idx {name} = (idx){word};")
            case Leaf(_, dtype):
                address = f"scratch + {word}" if x in self.scratch else word
                self.put(f"{self._parameter(x)} = ({in_memory(dtype)}*)({address});")
            case Param(_, dtype):
                kind = in_register(dtype)
                bits = word if dtype.computed.bits == 64 else f"(int){word}"
                self.put(
                    f"const {kind} {x.name} = {f'xt_bits<{kind}>({bits})' if dtype.kind == 'f' else f'({kind}){word}'};"
                )

    def _own_points(self, count: Value, known: Known) -> tuple[str, str]:
        """The first point of a block, and the one after its last."""
        first, end = self.name("first"), self.name("end")
        total = bare(self.total(count, known))
        piece = "piece" if self.table.staged else "blockIdx.x"
        self.put(f"const idx {first} = (idx)({piece} - row[{self.number}]) * {self.each};")
        self.put(f"const idx {end} = {total} - {first} < {self.each} ? {total} : {first} + {self.each};")
        return first, end

    @contextmanager
    def _all_points(self, count: Value, known: Known) -> Iterator[str]:
        t = self.name("point")
        first, end = self._own_points(count, known)
        with self.block(f"for (idx {t} = {first} + (idx)threadIdx.x; {t} < {end}; {t} += {THREADS})"):
            yield t

    @contextmanager
    def _all_rows(self, count: Value, known: Known) -> Iterator[str]:
        t, alone = self.name("row"), self.grid.team > WARP
        self.put(f"const int lane = threadIdx.x % {WARP};")
        first, end = self._own_points(count, known)
        start = first if alone else f"{first} + (idx)threadIdx.x / {WARP}"
        with self.block(f"for (idx {t} = {start}; {t} < {end}; {t} += {1 if alone else THREADS // WARP})"):
            yield t
