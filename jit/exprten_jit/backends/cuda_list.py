"""A kernel for a list of rows of tensors as one CUDA function: a block of threads finds in a table which row is its own.

A row of the table is the number of its first block, the address of each operand, and the sizes; `row_of` says for each block which
row it works on. So a list may have any number of rows, of any sizes, in one launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..dtypes import DTYPES
from ..grid import Grid, Program
from ..ir import Fold, Kernel, Leaf, Param, Size, Value
from ..rewrite import walk
from .cuda_emit import NARROW, THREADS, Cuda, Function, greatest, module, prepared
from .cuda_text import in_memory
from .cuda_values import Known, bare

CHUNK = 4 * THREADS  # points of a block: finding the row takes two loads, one after the other
ROWS, ROW_OF, BLOCKS = Leaf("rows", DTYPES["int64"]), Leaf("row_of", DTYPES["int32"]), Size("blocks")


@dataclass(frozen=True)
class Listed:
    """The function for rows of one kind, called with the table, `row_of`, the number of blocks and the scalars. A row of the table has
    `words`; `points` is how many points a row has.
    """

    cuda: Cuda
    leaves: tuple[Leaf, ...]
    sizes: tuple[Size, ...]
    points: Value

    @property
    def words(self) -> int:
        return 1 + len(self.leaves) + len(self.sizes)


def listed(program: Program, sizes: Mapping[str, int]) -> Listed | None:
    """The function for lists of rows like one with these sizes; None where a row is more than a thread at every point of one grid, or
    its sizes decide more of its text than how wide indices are.
    """
    if len(program.grids) != 1 or program.scratch or program.sizes:
        return None
    grid = prepared(program.grids[0])
    folds = any(isinstance(node, Fold) for s in grid.stores for node in walk(s.value))
    if grid.order != "any" or grid.folds or folds:
        return None
    kernel = program.kernel
    writer = _OfRows(kernel, grid, sizes)
    entry = writer.function("kernel")
    wide = greatest(grid, sizes) >= NARROW
    own = Program(Kernel((), (), (ROWS, ROW_OF), (BLOCKS,), kernel.params), (), (), ())
    params = tuple(x for x in entry.arguments if isinstance(x, Param))
    points, entry = (
        entry.count,
        replace(entry, arguments=(ROWS, ROW_OF, *params), count=BLOCKS, each=THREADS, capped=False),
    )
    cuda = Cuda(module("\n".join(writer.lines), wide), (entry,), own, wide)
    return Listed(cuda, kernel.leaves, kernel.sizes, points)


class _OfRows(Function):
    def __init__(self, kernel: Kernel, grid: Grid, sizes: Mapping[str, int]) -> None:
        super().__init__(grid, sizes)
        self.kernel = kernel
        self.taken |= {"rows", "row_of", "row"}

    def _begin(self, name: str, threads: int) -> None:
        scalars = "".join(f", {self._parameter(x)}" for x in self.arguments if isinstance(x, Param))
        head = f"{name}(const long long* rows, const int* row_of{scalars})"
        self.lines.append(f'extern "C" __global__ void __launch_bounds__({threads}) {head} {{')
        words = [*self.kernel.leaves, *self.kernel.sizes]
        self.put(f"const long long* row = rows + (size_t)row_of[blockIdx.x] * {1 + len(words)};")
        for n, x in enumerate(words, 1):
            if x not in self.arguments:
                continue
            if isinstance(x, Size):
                self.put(f"const idx {x.name} = (idx)row[{n}];")
            else:
                self.put(f"{self._parameter(x)} = ({in_memory(x.dtype)}*)row[{n}];")

    @contextmanager
    def _all_points(self, count: Value, known: Known) -> Iterator[str]:
        t, first, end = self.name("point"), self.name("first"), self.name("end")
        total = bare(self._total(count, known))
        self.put(f"const idx {first} = (idx)(blockIdx.x - row[0]) * {CHUNK};")
        self.put(f"const idx {end} = {total} - {first} < {CHUNK} ? {total} : {first} + {CHUNK};")
        with self.block(f"for (idx {t} = {first} + (idx)threadIdx.x; {t} < {end}; {t} += {THREADS})"):
            yield t
