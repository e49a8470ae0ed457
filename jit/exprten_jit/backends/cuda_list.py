"""A kernel for a list of rows of tensors as CUDA functions: a block of threads finds in a table which row is its own.

A line of the table is, of a row, the number of its first block in every launch, the addresses, the sizes, how long parts of folds are,
where its scratch memory begins, and the scalars that are its own; `row_of` says for each block of a launch which row it works on. So a
list may have any number of rows, of any sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dtypes import DTYPES, DType
from ..grid import SHORT, WARP, Grid, Program
from ..gridlist import Cut, Rows, cuts
from ..ir import Fold, Kernel, Leaf, Param, Size, Value, size
from ..reducers import PAIRS
from .cuda_emit import NARROW, THREADS, Cuda, Entry, Function, greatest, module, prepared
from .cuda_run import number
from .cuda_text import in_memory, in_register
from .cuda_values import Known, bare

CHUNK = 4 * THREADS  # points of a block: finding the row takes two loads, one after the other
LINES, SCRATCH, ROOM = Leaf("rows", DTYPES["int64"]), Leaf("scratch", DTYPES["int8"]), size("room")

Column = Leaf | Size | Param


@dataclass(frozen=True)
class Launched:
    """One launch for all rows: how many points a row has, how many of them a block takes, and threads a point."""

    points: Value
    each: int
    team: int


@dataclass(frozen=True)
class Listed:
    """The functions for rows of one kind. They are called with the table, `row_of` and the number of blocks of each launch, bytes of
    scratch memory where there is some, and the scalars that are not `own`, of each row.
    """

    cuda: Cuda
    program: Program  # of a row
    launches: tuple[Launched, ...]
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
        return 1 + 2 * len(self.launches) + bool(self.program.scratch)


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
    """The functions for lists of rows. `own` are the scalars that may differ between rows, by their number."""
    program, kernel = rows.program, rows.program.kernel
    found = cuts(program)
    scalars = [kernel.params[n] for n in own]
    columns: list[Column] = [
        *kernel.leaves,
        *kernel.sizes,
        *(c.per for c in found),
        *(x for x, _ in program.scratch),
        *scalars,
    ]
    bodies, entries, launches = list[str](), list[Entry](), list[Launched]()
    for n, grid in enumerate(map(prepared, program.grids)):
        writer = _OfRows(grid, rows, n, columns, sizes)
        entry = writer.function(f"kernel{n or ''}")
        params = tuple(x for x in entry.arguments if isinstance(x, Param) and x not in scalars)
        scratch = (SCRATCH,) if writer.scratch else ()
        given = (LINES, _row_of(n), *scratch, *params)
        entries.append(replace(entry, arguments=given, count=_blocks(n), each=entry.threads, capped=False))
        bodies.append("\n".join(writer.lines))
        launches.append(Launched(entry.count, writer.each, entry.each))
    cuda = Cuda(module("\n\n".join(bodies), wide), tuple(entries), _called(program, scalars), wide)
    return Listed(cuda, program, tuple(launches), found, tuple(own))


def _called(program: Program, own: Sequence[Param]) -> Program:
    """The arguments of a launch, as a program has them."""
    numbers = range(len(program.grids))
    room = ((SCRATCH, ROOM),) if program.scratch else ()
    sizes = (*map(_blocks, numbers), *(size for _, size in room))
    params = tuple(x for x in program.kernel.params if x not in own)
    return Program(Kernel((), (), (LINES, *map(_row_of, numbers)), sizes, params), (), room, ())


def _row_of(launch: int) -> Leaf:
    return Leaf(f"row_of{launch or ''}", DTYPES["int32"])


def _blocks(launch: int) -> Size:
    return size(f"blocks{launch or ''}")


class _OfRows(Function):
    def __init__(
        self, grid: Grid, rows: Rows, number: int, columns: Sequence[Column], sizes: Mapping[str, int]
    ) -> None:
        super().__init__(grid, dict(sizes) | {s.name: n for s, n in rows.program.sizes})
        self.number, self.short = number, rows.short
        first = len(rows.program.grids)
        self.columns = {x: first + n for n, x in enumerate(columns)}
        self.words = first + len(columns)
        self.scratch = [x for x, _ in rows.program.scratch if x in self.arguments]
        self.each = CHUNK if grid.team == 1 else THREADS // WARP if grid.team == WARP else 1
        self.taken |= {"rows", "row_of", "row", "scratch"}

    def _longer(self, node: Fold, size: int) -> bool:
        """Rows of any size may come; but what a thread folds by itself along a row is short where rows are of one kind for it."""
        along = node.order is not None and node.order != PAIRS and not node.order.grouped
        return not (self.short and along and size == SHORT)

    def _begin(self, name: str, threads: int) -> None:
        own = self.columns
        given = [self._parameter(x) for x in self.arguments if isinstance(x, Param) and x not in own]
        memory = ["signed char* scratch"] if self.scratch else []
        head = f"{name}({', '.join(['const long long* rows', 'const int* row_of', *memory, *given])})"
        self.lines.append(f'extern "C" __global__ void __launch_bounds__({threads}) {head} {{')
        self.put(f"const long long* row = rows + (size_t)row_of[blockIdx.x] * {self.words};")
        for x in self.arguments:
            if x in own:
                self._read(x, f"row[{own[x]}]")

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
        self.put(f"const idx {first} = (idx)(blockIdx.x - row[{self.number}]) * {self.each};")
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
