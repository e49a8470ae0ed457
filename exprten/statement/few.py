"""Few columns, and few rows, that folds run across: a kernel is made for their number, or for one that they fit."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import NamedTuple

from exprten_jit.derived import TABLE
from exprten_jit.machine import LINE
from exprten_jit.reducers import ACROSS, COLUMNS, FEW
from exprten_jit.vectors import DEAR, FAR_BYTES, LEAST_BITS

from .axes import TARGET, Place, Same, extent_of, leaves_of, own_of
from .gather import WEAK, Gathered, widest
from .orders import fitting_columns, folded_by, is_row, largest
from .registers import machine

TALL, TOGETHER = 4096, 16  # rows of so few columns, and indices of an outer axis, of which several are folded at once
ROWS_BYTES, FEWEST_KEPT = 3072, 40  # of a column that is read again, of less than all, and rows of such
NEAR_BYTES = 64 << 10  # of what is folded for an index of an outer axis
LEAST_COLUMNS = 9  # of few rows
WORD = 4  # bytes: of smaller elements a register has more than there are of what is computed
WRITTEN_ROWS = 18  # of many columns, of which nothing dear is made
WRITTEN_PARTS = 12  # whose columns are no whole vectors: in strips each pass has a part of a vector
LANES = 16  # of a vector
NEAR_ROWS = 8  # the ways of a first cache
PAGE, WINDOW = 4096, 256  # bytes of a way; rows that begin in the same of so many share sets
REGISTERS = 4  # that a row fills: beyond that none are taken several at once
LEAST_WRITTEN, MOST_COLUMNS, MOST_VECTORS = 5, 80, 160  # columns of rows without loops, and vectors of all of them
LEAST_INDEXED = 2  # the same of extremes with their places, which take more in blocks
INDEXED_ROWS, INDEXED_PAIRS = 17, 11  # of these, and of those of two columns, where there are fewer than of others
# where a vector is a line: columns of more rows than few, and rows of extremes with their places
WIDE_COLUMNS, WIDE_INDEXED = 9, 9
# there: bytes of rows of small integers, and the most rows of less that are written out for extremes
FEW_BYTES, FEW_APART = 16, 4
MOST_ROWS = 24  # of these, where they are stored: what is folded to one has one kernel for all numbers beyond that of a vector's lanes, and of more elements
FEW_ELEMENTS = 160  # of all rows: so few are written out where they are not stored too
MOST_WRITTEN = 64  # columns of rows that are written out, of which there is a loop over rows
ONE_NUMBER = ("sum", "prod", "max", "min")  # is all that these keep


class Few(NamedTuple):
    """Columns that folds run across: how many, or what number they fit, where they are few. `low`: of these folds take one block of rows at most, for each index
    of an outer axis, or `tall`, several. `near`: something dear is made of them, which may lie in the target until it is folded.
    """

    columns: int = 0
    low: bool = False
    tall: bool = False
    near: bool = False


class Rows(NamedTuple):
    """Few rows that folds take, and how many columns there are where these are few as well, and both are written out."""

    many: int = 0
    columns: int = 0


def few_columns(axes: list[int], same: Same, extents: list[int]) -> Few:
    """Where all folds run across the innermost axis, and how many columns it has."""
    if not axes or extents[-1] < 2:
        return Few()
    folds, inner = same.found.folds, same.of((TARGET, axes[-1]))
    taken = {p: extent_of(same, p) for n in folds for p in folded_by(same, n) if p is not None}
    if inner in taken or any(inner not in same.dims(same.found.structure[n][1]) for n in folds):
        return Few()
    columns = fitting_columns(same, folds, inner)
    outer = {p: same.target[k] for k in axes[:-1] if (p := same.of((TARGET, k))) not in taken}
    most, many = max(taken.values(), default=0), prod(outer.values())
    low = columns > 0 and bool(outer) and (most <= ACROSS.block or (most <= TALL and many >= TOGETHER >= columns))
    near = any_dear(same.found) and _stays_near(same, prod(taken.values()), columns, extents[-1], many)
    return Few(columns, low, low and most > ACROSS.block, near)


def _stays_near(same: Same, rows: int, columns: int, count: int, many: int) -> bool:
    """Whether so many rows of as many columns as are taken at once stay in the caches, for each index of outer axes. Of few rows from memory what is dear is made
    again in less time than it takes to store it.
    """
    size = max(leaf.key.dtype.itemsize for leaf in same.found.leaves)
    each, far = rows * count * size, rows * count * many * size >= FAR_BYTES
    if columns:
        return each <= NEAR_BYTES or not far
    return rows * size <= ROWS_BYTES and (not far or rows >= FEWEST_KEPT)


def any_dear(found: Gathered) -> bool:
    """Whether something that costs much is computed."""
    rows = (TABLE.get(entry[0].op) for entry in found.structure if entry[0] != WEAK)
    return any(row.cost >= DEAR for row in rows if row is not None)


def is_dear(found: Gathered) -> bool:
    """Whether something that costs much is computed for each element of what is stored."""
    own = own_of(found, len(found.structure) - 1)
    return any(
        entry[0] != WEAK
        and (row := TABLE.get(entry[0].op)) is not None
        and row.cost >= DEAR
        and own_of(found, n) == own
        for n, entry in enumerate(found.structure)
    )


def _most_columns(same: Same) -> int:
    """How many columns are few: no more than the vectors hold in which several rows are taken at once."""
    bits = REGISTERS * max(machine().vector_bits, LEAST_BITS)
    return min(COLUMNS[-1], bits // max((leaf.key.dtype.bits for leaf in same.found.leaves), default=1))


def few_rows(axes: list[int], same: Same, extents: list[int]) -> Rows:
    """The rows that all folds take where these are few, and lie across the innermost axis, and there is no loop that a fold does not depend on."""
    if not axes:
        return Rows()
    found, inner, taken = same.found, same.of((TARGET, axes[-1])), set[Place]()
    for n in found.folds:
        key, ref = found.structure[n][:2]
        taken.update(p for k, p in enumerate(same.dims(ref)) if p is not None and k in key.map.axes)
    own = {same.of((TARGET, k)) for k in axes}
    outer = own - taken
    leaves = list(leaves_of(found))
    if inner in taken or not is_row(same, inner, leaves):
        return Rows()
    if any(is_row(same, p, largest(same, leaves)) for p in taken):
        return Rows()
    numbers = {extent_of(same, place) for place in taken}
    if len(numbers) != 1 or any(not outer <= {*same.dims(n)} for n in found.folds):
        return Rows()
    rows = numbers.pop()
    least = 1 if len(outer) == 1 or own & taken else _most_columns(same) + 1
    many, part = extents[-1] > _most_columns(same), bool(own & taken) and _ends_in_part(same, extents[-1])
    most = WRITTEN_PARTS if part else FEW
    if (many or (part and extents[-1] > 2 * LANES)) and not any_dear(found):
        most = WRITTEN_ROWS
    if rows > NEAR_ROWS and (_crowded(same, taken, rows) or (own & taken and from_memory(same))):
        return Rows()
    if len(outer) > 1 and _few_columns_written(same, rows, extents[-1], bool(own & taken)):
        return Rows(rows, extents[-1])
    return Rows(rows) if rows <= most and extents[-1] >= max(LEAST_COLUMNS, least) else Rows()


def _few_columns_written(same: Same, rows: int, columns: int, stored: bool) -> bool:
    """Whether so many rows and columns have no loops at all, for each index of outer axes: a loop of a few steps takes longer than what is done in it.
    From memory many rows are not seen coming, and rows of whole lines that are `stored` go past the caches in a loop.
    Of what has an index with it there may be two columns: each comparison is several steps, which blocks take for all elements alone.
    """
    size = widest(same.found)
    vectors = rows * -(-columns // machine().words)
    least = LEAST_INDEXED if machine().small and has_index(same.found) and not stored else LEAST_WRITTEN
    if not least <= columns <= MOST_COLUMNS or vectors > MOST_VECTORS:
        return False
    if not machine().small and not _pays_in_wide(same, rows, columns, stored):
        return False
    if columns < LEAST_WRITTEN:
        return rows <= (INDEXED_ROWS if columns > LEAST_INDEXED else INDEXED_PAIRS) and not from_memory(same)
    if from_memory(same) and (rows > NEAR_ROWS or (stored and columns * size % LINE == 0)):
        return False
    few = stored or rows * columns <= FEW_ELEMENTS
    return rows <= LANES or (few and rows <= (WRITTEN_ROWS if any_dear(same.found) else MOST_ROWS))


def _pays_in_wide(same: Same, rows: int, columns: int, stored: bool) -> bool:
    """Whether so many rows of so many columns are better than loops, or than what is dear in blocks, where a vector is a line: few columns leave much of it empty."""
    if stored and any_dear(same.found) and rows <= NEAR_ROWS:
        return False
    size = widest(same.found)
    apart = size < WORD and columns * size < FEW_BYTES and rows > FEW_APART and not are_floats(same.found)
    if apart and not stored and are_extremes(same.found):  # a register for each takes longer than one for several
        return False
    if columns < WIDE_COLUMNS:
        return (columns > LEAST_WRITTEN or stored) and rows <= (WRITTEN_PARTS if stored else NEAR_ROWS - 1)
    return stored or not has_index(same.found) or rows <= WIDE_INDEXED


def are_rows_better(axes: list[int], same: Same, extents: list[int]) -> bool:
    """Whether few rows of few columns are better written out as they are than as a block: of extremes with their places, and such as fill more than half of a long register."""
    wide = bool(axes) and not machine().small and extents[-1] >= WIDE_COLUMNS and widest(same.found) >= WORD
    return (has_index(same.found) or wide) and few_rows(axes, same, extents).columns > 0


def written_columns(axes: list[int], same: Same, extents: list[int], onto: bool = False) -> int:
    """How many columns there are, where folds run across them for each index of an outer axis, and rows of few are written out: in the caches, where vectors are small. So are
    rows of what is stored again; and of what is folded to one number, as a strip of many rows has more loops than steps, but not of what has an index with it, nor where
    rows run `onto` each other, as strips are long there.
    """
    if not axes:
        return 0
    found, own, inner = same.found, {same.of((TARGET, k)) for k in axes}, same.of((TARGET, axes[-1]))
    taken = {p for n in found.folds for p in folded_by(same, n) if p is not None}
    stored, across, outer = taken <= own, inner not in taken, own - taken - {inner}
    numbers = not taken & own and all(found.structure[n][0].map.reducer in ONE_NUMBER for n in found.folds)
    few = LEAST_WRITTEN <= extents[-1] <= MOST_WRITTEN and machine().small and not from_memory(same)
    return extents[-1] if few and across and outer and (stored or (numbers and not onto)) else 0


def are_extremes(found: Gathered) -> bool:
    """Whether nothing but maxima and minima are folded."""
    return all(found.structure[n][0].map.reducer in ("max", "min") for n in found.folds)


def are_floats(found: Gathered) -> bool:
    """Whether all that is read is of floats."""
    return all(leaf.key.dtype.kind == "f" for leaf in found.leaves)


def has_index(found: Gathered) -> bool:
    """Whether some fold says where its extreme stands."""
    return any(found.structure[n][0].map.reducer in ("argmax", "argmin") for n in found.folds)


def _crowded(same: Same, taken: set[Place], rows: int) -> bool:
    """Whether more rows are in the same sets of a first cache than it has ways: a line is gone before its next elements are read."""
    steps = {
        stride * same.found.structure[n][0].dtype.itemsize
        for n, view in zip(leaves_of(same.found), same.found.layouts, strict=True)
        for place, stride in zip(same.dims(n), view.strides, strict=True)
        if place in taken and stride  # a row that is repeated stays
    }
    begins = [Counter(k * step % PAGE // WINDOW for k in range(rows)) for step in steps if step >= WINDOW]
    return any(max(each.values()) > NEAR_ROWS for each in begins)


def from_memory(same: Same) -> bool:
    """Whether an operand is so large. Processors do not see so many rows coming when they are stored as well."""
    found = same.found
    sizes = (found.structure[n][0].dtype.itemsize * prod(found.shapes[n] or ()) for n in leaves_of(found))
    return any(size >= FAR_BYTES for size in sizes)


def _ends_in_part(same: Same, columns: int) -> bool:
    """Whether rows of so many columns are more than a vector, and no whole vectors."""
    size = max((leaf.key.dtype.itemsize for leaf in same.found.leaves), default=1)
    return LANES < columns <= COLUMNS[-1] and columns * size % LINE != 0
