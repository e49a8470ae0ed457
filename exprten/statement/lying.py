"""How operands lie to the target: what runs on along another axis, and rows of few elements, which kernels of their own are for."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from math import gcd, prod

from exprten_jit.kernel import Order
from exprten_jit.machine import LINE
from exprten_jit.reducers import FEW
from exprten_jit.squares import NEARLY, SET_BYTES, SETS_BYTES, SHARED_SETS

from ..expression.shape import Layout
from .axes import Same
from .gather import WEAK, Gathered, widest
from .orders import lies_across
from .registers import are_halved, machine

RUNNING = 32  # columns
MEMORY = 1 << 22  # elements of which most are in no cache
SHORT_ROW, LONG_TARGET = 112, 256  # elements
SHARED_TARGET = 64  # of a target whose source's rows share sets: lines of more are gone before they are read again
MOVED = 112  # the same of rows that are moved
LEAST_MOVED = 3  # of these, where vectors are small; where they are not, more than half a vector


def rows_run_on(extents: Sequence[int], strides: Sequence[Sequence[int]]) -> bool:
    """Whether rows of few elements run on in all operands, the target first, that are not one row or one column."""
    if len(extents) < 2 or not 1 < extents[-1] <= RUNNING or extents[-2] < 2:
        return False
    run = [s[-1] == 1 and s[-2] == extents[-1] for s in strides]
    return run[0] and all(along or 0 in s[-2:] for along, s in zip(run, strides, strict=True))


MOST_WOVEN = 15  # elements of rows that are taken apart in registers: those of 16 are a line


def rows_apart(
    found: Gathered, axes: list[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]] | None:
    """The axes and their extents where packed rows of few elements lie across what else is read or stored: the long axis innermost, the rows'
    own before it.
    """
    if len(axes) < 2 or found.several:
        return None
    lengths = dict(zip(axes, extents, strict=True))
    for rows, along in itertools.permutations(axes, 2):
        if not 2 <= lengths[rows] <= MOST_WOVEN or lengths[along] <= MOST_WOVEN:
            continue
        in_rows = [abs(s[rows]) == 1 and abs(s[along]) == lengths[rows] for s in strides]
        across = [s[along] == 1 and s[rows] != 0 for s in strides]
        rest = [s[along] == 0 or (s[along] == 1 and s[rows] == 0) for s in strides]
        if any(in_rows) and any(across) and all(map(any, zip(in_rows, across, rest, strict=True))):
            order = [*(k for k in axes if k not in (rows, along)), rows, along]
            return order, [lengths[k] for k in order]
    return None


def rows_reversed(
    found: Gathered, axes: list[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]] | None:
    """The same where rows that are stored as they follow each other, and so few elements are taken apart in registers, are read from their ends."""
    if len(axes) < 2 or found.several or not 2 <= extents[-1] <= MOST_WOVEN:
        return None
    rows, lengths = axes[-1], dict(zip(axes, extents, strict=True))
    for along in axes[:-1]:
        in_rows = [abs(s[rows]) == 1 and s[along] == lengths[rows] for s in strides]
        rest = [s[along] == 0 for s in strides]
        backwards = any(row and s[rows] < 0 for row, s in zip(in_rows, strides, strict=True))
        if in_rows[0] and backwards and lengths[along] > MOST_WOVEN and all(map(any, zip(in_rows, rest, strict=True))):
            order = [*(k for k in axes if k not in (rows, along)), rows, along]
            return order, [lengths[k] for k in order]
    return None


MOST_HALVINGS = 2  # of a long register, one of a small one
MOST_STRUNG = 8  # vectors that hold whole rows


def strung_rows(found: Gathered, extents: Sequence[int], strides: Sequence[Sequence[int]]) -> tuple[int, int] | None:
    """How many elements rows have that follow each other where they are stored, and are read from the last to the first, or with small gaps between them, so
    that they are put together in registers; and how often registers are halved, until whole rows fill whole ones.
    """
    if len(extents) < 2 or found.several or not 2 <= extents[-1] <= MOST_WOVEN:
        return None
    (count, many), steps = extents[-2:], [s[-2:] for s in strides]
    if [*steps[0]] != [many, 1] or any(abs(row) > 2 * many or abs(each) > 1 for row, each in steps):
        return None
    lanes = machine().vector_bits // (8 * widest(found))
    other = any(row < 0 or row > many or (each < 0 and count <= MOST_WOVEN) for row, each in steps)
    plain = all(leaf.key.dtype.kind not in "cb" for leaf in found.leaves)
    halved = next((n for n in range(MOST_HALVINGS + 1) if count >= (lanes >> n) // gcd(lanes >> n, many) > 0), None)
    if not other or not plain or halved is None or (halved and are_halved()):
        return None
    long = many // gcd(lanes >> halved, many) > MOST_STRUNG and writes_out(prod(extents))
    return None if long else (many, halved)


def halvings(found: Gathered, along: int) -> int:
    """How often a register is halved until an axis of so many elements, along which vectors run, fills it: else each element would take a step. 0 where halves are planned for, or a part of a
    long one is not filled either.
    """
    bits = machine().vector_bits
    if are_halved():
        return 0
    if machine().small:
        return int(along * 8 * widest(found) < bits)
    filled = along * max((leaf.key.dtype.computed.bits for leaf in found.leaves), default=bits)
    return next((n for n in range(1, MOST_HALVINGS + 1) if filled < bits <= filled << n), 0)


def writes_out(count: int) -> bool:
    """Whether loops of few elements, of so many in all, are written out: in the caches."""
    return count < MEMORY // 4


def fills_small(count: int) -> bool:
    """Whether vectors are small, and so many elements in the caches."""
    return machine().small and writes_out(count)


def moved_rows(extents: Sequence[int], strides: Sequence[Sequence[int]]) -> int:
    """How many elements rows have that lie in another order in some operand, where they are so few that they are written out; in the
    caches, that is: whole lines that go past them are made of several rows. From memory, too, where they are read from their ends.
    """
    backwards = len(extents) > 1 and any(s[-1] == -1 for s in strides)
    if len(extents) < 2 or not (backwards or writes_out(prod(extents))):
        return 0
    moved = backwards or any(
        abs(a) < abs(b) for s in strides for a, b in itertools.pairwise(s[:-1])
    )  # others, padded ones, are one kernel for all lengths
    least = LEAST_MOVED if machine().small else machine().words // 2 + 1
    if not moved or not least <= extents[-1] <= MOVED:
        return 0
    # what is one for a row, or for all rows, is computed once for it elsewhere, but not of such as are read from their ends
    every = all(abs(s[-1]) == 1 and (backwards or 0 not in s) for s in strides if any(s))
    return extents[-1] if every else 0


LONG_SIZES = (4, 8)  # bytes of an element: of smaller ones rows of few are put together in other ways
SQUARED = (1, 2, *LONG_SIZES)  # the same, that squares are read and stored directly of
TILED = 5  # rows and columns: fewer are read faster one by one


def turns(found: Gathered, target: Layout, same: Same | None) -> bool:
    """Whether something may lie across the target."""
    if same is not None:
        return lies_across(same, target)
    transposes = any(
        entry[0] != WEAK and entry[0].op == "remap" and entry[0].map.title == "transpose" for entry in found.structure
    )
    return transposes or any(
        1 in view.strides[:-1] and view.strides[-1] not in (0, 1, -1) for view in (target, *found.layouts)
    )


def across(
    axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]], least: int = TILED
) -> list[int]:
    """The axes along which some source runs on that does not along the innermost one, where there are so many elements in both."""
    if not axes or extents[-1] < least:
        return []
    long = [k for k, n in zip(axes[:-1], extents, strict=False) if n >= least]
    return [k for k in long if any(steps[k] == 1 and abs(steps[axes[-1]]) > 1 for steps in strides)]


def narrow_rows(axes: Sequence[int], extents: Sequence[int], target: Layout) -> int:
    """How many elements the target's packed rows have, where the innermost loop is over rows; 0 for many, and where rows are padded."""
    if len(axes) < 2 or not 1 < extents[-2] <= FEW or extents[-1] <= MOST_WOVEN:
        return 0
    return extents[-2] if [target.strides[k] for k in axes[-2:]] == [1, extents[-2]] else 0


# elements along a target and along a source of squares, where memory is not filled
LEAST_ALONG, LEAST_ACROSS = 11, 8
WAYS = 8  # lines that a set of the first cache holds
SQUARE = 8  # rows of a target that are stored next to each other
Places = Sequence[int]  # elements from the first one


def fills_squares(axes: Sequence[int], extents: Sequence[int], across: Sequence[int], found: Gathered) -> bool:
    """Whether squares are filled by the innermost axis and those that something runs on along across it."""
    along, down = _least_sides(found, prod(extents))
    return (
        bool(across)
        and extents[-1] >= along
        and all(n >= down for k, n in zip(axes, extents, strict=True) if k in across)
    )


def fits_squares(found: Gathered, along: int, down: int, count: int) -> bool:
    """Whether so many elements along a target and along a source fill squares that need no scratch: of small elements these are large."""
    least = _least_sides(found, count)
    return along >= least[0] and down >= least[1] and widest(found) in LONG_SIZES


def turned_directly(
    found: Gathered, sources: Collection[Places], targets: Collection[Places], count: int
) -> Order | None:
    """In which order squares are turned with no scratch: in the caches, if not both the lines of rows of a source, at such places
    along a tile of a target, and those of a target along a tile of a source are more than a set of the first cache holds; nor, where lines that are stored are claimed, if most of these come into one.
    """
    if not _in_halves(found, count):
        return None
    size = widest(found)
    if size == 1:  # a line has four squares of bytes: their order matters less than what scratch takes
        return "along"
    read = any(in_one_set(places, size) > WAYS for places in sources)
    crowded = max((in_one_set(places, size) for places in targets), default=0)
    stored = 2 * crowded >= WAYS
    if stored and (read or (machine().waits and 2 * crowded > WAYS)):
        return None
    return "down" if read else "halved" if stored else "along"


def in_one_set(places: Places, size: int) -> int:
    """How many of the lines at some places come into the same set of the first cache at most."""
    lines = {at * size // LINE for at in places}
    return max(Counter(line % (SET_BYTES // LINE) for line in lines).values(), default=0)


def _in_halves(found: Gathered, count: int) -> bool:
    """Whether squares are read by half a register, where few elements on either side fill them: in the caches."""
    return writes_out(count) and widest(found) in SQUARED


def _least_sides(found: Gathered, count: int) -> tuple[int, int]:
    if not _in_halves(found, count):
        return (MOST_WOVEN + 1, MOST_WOVEN + 1)
    masked = widest(found) in LONG_SIZES and not machine().waits  # else they are taken with other axes
    return (LEAST_ALONG if masked else MOST_WOVEN + 1, LEAST_ACROSS)


CACHED_BYTES = 2 << 20  # of the largest operand: nothing is fetched early, nor stored past the caches, of less
LONG_LOOP = 512  # elements of a loop beside which it takes no time to ask
NESTED = 3  # loops


def stays_cached(extents: Sequence[int], folded: Collection[int], nbytes: int) -> bool:
    """Whether a kernel is made that never fetches early, nor stores past the caches, and so does not ask whether to: where there are several loops, those inside of others so short
    that asking takes long, and the largest operand, of `nbytes`, has room in a cache.
    """
    loops = [*extents[-1:], *folded]
    return len(extents) + len(folded) >= NESTED and max(loops, default=0) <= LONG_LOOP and nbytes < CACHED_BYTES


def share_sets(step: int) -> bool:
    """Whether rows that lie so many bytes apart, or few of them, come into the same sets of the second cache."""
    return any((abs(step) * many + NEARLY) % SETS_BYTES <= 2 * NEARLY < abs(step) for many, _ in SHARED_SETS)


def runs_on_inside(
    axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]], across: Sequence[int], size: int
) -> int | None:
    """The axis along which the one operand that lies across runs on from row to row, where rows are short, come from memory, and are stored along a long axis:
    the lines at their ends are read twice, and what lies together not together, where the loop over it is outside of those over tiles.
    """
    if len(axes) < 3 or len(strides) != 2 or prod(extents) < MEMORY:
        return None
    if extents[-1] < (SHARED_TARGET if share_sets(strides[1][-1] * size) else LONG_TARGET):
        return None
    for row, n in enumerate(extents[:-1]):
        if strides[1][row] == 1 and axes[row] in across and n <= SHORT_ROW:
            return next((axes[k] for k, s in enumerate(strides[1][:-1]) if s == n and k != row), None)
    return None
