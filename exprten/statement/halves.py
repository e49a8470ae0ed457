"""Which statements are planned for halves of registers: on processors where a register is a line, rows that leave half of it empty."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..expression.shape import Layout
from .axes import TARGET, Same, count_of, extent_of, views_of
from .blocks import Block
from .few import WORD, any_dear, are_extremes, are_floats, from_memory, has_index
from .gather import Gathered, widest
from .lying import MOST_WOVEN
from .orders import folded_by, lies_across
from .registers import machine

ANY = 1 << 62
LONGEST = 256  # elements of rows of a target that are folded, which are columns of what is read
# elements of blocks that are taken apart by halves, a part of a register at a time, and rows of them that are folded
LEAST_APART, MOST_APART, PART, LEAST_ROWS = 16, 32, 4, 3
MOST_AWAITED = 48  # rows, where the processor waits for each line: half a register asks for less at a time

# The fewest rows and the most that are better read by halves, where the elements of one fill more than half of a half; half of it; less. Measured with an
# eighth of the second cache filled: docs/decisions/0049-halves-of-registers.md
Bounds = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
STORED: Bounds = ((3, ANY), (5, 16), (12, 24))
DEAR: Bounds = ((5, 16), (5, 16), (12, 16))  # what is stored
NONE: Bounds = ((1, 0), (1, 0), (1, 0))
SMALL: Bounds = ((17, 24), (17, 24), (17, 24))  # elements of less than a word, of which something is stored
FOLDED: Bounds = ((5, ANY), (5, 7), (1, 0))  # of which nothing is stored but what is folded
EXTREMES: Bounds = ((5, ANY), (5, 7), (12, 16))
SMALL_EXTREMES: Bounds = ((5, ANY), (5, 16), (12, 16))


def fills_half(axes: Sequence[int], same: Same, extents: Sequence[int]) -> bool:
    """Whether rows that folds run across fill half a long register at most, and are better read by halves: in the caches, and so many that they are
    not put together as blocks. Extremes with their places are better as they are.
    """
    found, bits = same.found, machine().vector_bits
    if machine().small or not axes or has_index(found) or from_memory(same):
        return False
    taken = {p for n in found.folds for p in folded_by(same, n) if p is not None}
    stored, size = taken <= {same.of((TARGET, k)) for k in axes}, widest(found)
    # what is computed of smaller elements than a word, and stored, is of words
    filled = 16 * extents[-1] * (max(size, WORD) if stored else size)
    if same.of((TARGET, axes[-1])) in taken or filled > bits:
        return False
    part = 0 if 2 * filled > bits else 1 if 2 * filled == bits else 2
    least, most = _bounds(found, stored, size < WORD)[part]
    rows = prod(extent_of(same, p) for p in taken)
    return least <= rows <= (min(most, MOST_AWAITED) if machine().waits else most)


def turns_in_halves(axes: Sequence[int], same: Same, target: Layout) -> bool:
    """Whether what is stored across two axes, with folds of it, is turned faster in squares of halves of a register, which waste less of rows that are no whole ones: where a processor waits for each line, and
    nothing dear is made of it; in the caches.
    """
    found, own = same.found, {same.of((TARGET, k)) for k in axes}
    taken = {p for n in found.folds for p in folded_by(same, n) if p is not None}
    if not machine().waits or machine().small or len(axes) != 2 or count_of(same) != 2 or not taken <= own:
        return False
    inner = min(axes, key=lambda k: abs(target.strides[k]))
    most = LONGEST if same.of((TARGET, inner)) in taken else ANY
    cut = all(target.shape[k] > MOST_WOVEN + 1 for k in axes) and target.shape[inner] <= most
    return cut and widest(found) == WORD and lies_across(same, target) and not (any_dear(found) or from_memory(same))


def halves_block(block: Block, same: Same, target: Layout) -> bool:
    """Whether a block of packed rows, of which what is folded is stored by columns, is taken apart faster in halves of a long register, which take two steps at a time: of so many elements, in the
    caches. Extremes with their places are better as they are.
    """
    found, lanes = same.found, same.of((TARGET, block.lanes))
    many, rows = (prod(n for at, n in block.axes if every or not isinstance(at, int)) for every in (True, False))
    if machine().small or has_index(found) or from_memory(same) or widest(found) != WORD or rows < LEAST_ROWS:
        return False
    if many % PART or not LEAST_APART <= many <= MOST_APART or abs(target.strides[block.lanes]) != 1:
        return False
    views = views_of(found, target)[1:]
    return all(
        abs(s) == many for n, view in views for p, s in zip(same.dims(n), view.strides, strict=True) if p == lanes
    )


def _bounds(found: Gathered, stored: bool, small: bool) -> Bounds:
    dear = any_dear(found)
    if stored:
        return NONE if small and dear else SMALL if small else DEAR if dear else STORED
    if not are_extremes(found) or (small and are_floats(found)):
        return FOLDED
    return SMALL_EXTREMES if small else EXTREMES
