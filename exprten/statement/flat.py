"""Which axes of a statement are taken as one row: several short ones, where something lies across the target."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from math import prod

from exprten_jit.flat import DOWN
from exprten_jit.kernel import Order
from exprten_jit.vectors import STREAM_BYTES

from .gather import Gathered, widest
from .lying import MOST_WOVEN, SQUARE, Places, fills_small, fits_squares, rows_run_on, turned_directly, writes_out
from .orders import MAX_PERMUTED
from .registers import machine
from .signature import Direct, Flat
from .traffic import least as least_moved

LONG = 64  # elements of a row: of so many one axis is enough
MOVED = 256  # the same of what fills memory: rows that are no lines are joined, and stored past the caches; no chain but for its first axis has more
DEEP = MOST_WOVEN + 1  # and of what runs on along other axes
FEW_FAR = 4  # of rows of what is made of folds, from memory: of more, squares that are filled by a quarter are better than one element at a time
MOST_SQUARED = 47  # elements along the target, or along a source: of more along both, squares are better turned as they are computed, with few lanes idle
MOST_ALONE = 32  # the same of one axis each, where loops are better inside of a tile
UNITS, WIDEST = (2, 4, 8), 16  # elements of a row that is turned as one, and its bytes
TILE, FOLDED_TILE = 128, 64  # columns of a tile, and of one of what is made of folds
MOST_UNIT, MOST_EXACT = 225, 16  # elements of a unit that is turned, and of a row, that are written out
# elements of a statement, and of what is left of folds: for fewer no table is worth making
LEAST, LEAST_LEFT = 2048, 512


def flat_axes(
    found: Gathered, axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> Flat | None:
    """The axes of a statement without folds that are taken as one, if there are any; of operands with these strides, the target first."""
    least = LEAST_LEFT if found.folds and writes_out(prod(extents)) else LEAST
    if len(axes) < 2 or found.several or prod(extents) < least or strides[0][axes[-1]] != 1:
        return None
    if rows_run_on(extents, strides) or any(leaf.key.dtype.kind == "c" for leaf in found.leaves):
        return None
    lengths = dict(zip(axes, extents, strict=True))
    moved = LONG <= lengths[axes[-1]] <= MOVED and all(s[axes[-1]] == 1 or not any(s) for s in strides)
    moved = moved and prod(extents) * widest(found) >= STREAM_BYTES
    few = FEW_FAR if found.folds and not writes_out(prod(extents)) else DEEP
    columns, rows = _chains(axes, lengths, strides, MOVED + 1 if moved else LONG, few)
    inner = columns[-1]
    others = [s for s in strides if not _runs_on(s, columns, lengths) and any(s[k] for k in columns)]
    far = any(s[inner] not in (0, 1) for s in others)
    deep = prod(lengths[k] for k in rows) >= DEEP
    across = bool(rows) and (
        any(s[inner] not in (0, 1) and not s[rows[-1]] for s in strides)
        or (deep and bool(found.folds) and sum(s[inner] not in (0, 1) and s[rows[-1]] == 1 for s in strides) > 1)
    )
    direct = _directly(found, axes, strides, columns, rows, lengths)
    deeper = direct.rows if direct else rows
    within, least = _within(found, axes, columns, rows, lengths, strides), min(lengths[k] for k in (inner, *rows[-1:]))
    alone = len(columns) + len(deeper) < 2 + (len(rows) > 0) and not across
    if not others or (alone and not (rows and within and least <= MOST_ALONE)):
        return None
    if lengths[inner] > MOST_WOVEN and not any(all(s) for s in others):  # what is broadcast is read as it is
        return None
    if far and rows:
        along = direct is not None and direct.order == "along" and len(deeper) == 1 and not machine().waits
        squares = along and fits_squares(found, lengths[inner], least, prod(extents))
        if (least > MOST_SQUARED or squares) and not across:
            return None
    elif lengths[inner] >= LONG and not moved:
        return None
    running, down = (_running(strides, chain, lengths) for chain in (columns, rows))
    exact = () if direct and far else _exact(strides, columns, rows, lengths)
    if paired := _paired(found, strides, columns, rows, lengths):
        return Flat(tuple(columns), tuple(rows), running, down, deep, paired, lengths[inner], within, exact=exact)
    return Flat(tuple(columns), tuple(rows), running, down, deep, within=within, direct=direct, exact=exact)


def _exact(
    strides: Sequence[Sequence[int]],
    columns: Sequence[int],
    rows: Sequence[int],
    lengths: Mapping[int, int],
) -> tuple[tuple[int, int], ...]:
    """The axes that have few elements, so that what is brought is written out: in the caches, and what is read from its end, which else comes an element at a time."""
    others = [s for s in strides if not _runs_on(s, columns, lengths)]
    few, (*_, between, inner) = list[int](), (-1, *columns)
    if not writes_out(prod(lengths.values())):
        back = lengths[inner] <= MOST_EXACT and any(s[inner] == -1 for s in others)
        return ((inner, lengths[inner]),) if back else ()
    many = lengths[inner] * lengths.get(between, 1)
    if between >= 0 and many <= MOST_UNIT and any(abs(s[between]) == 1 and abs(s[inner]) > 1 for s in others):
        few = [between, inner]
    elif lengths[inner] <= MOST_EXACT and any(abs(s[inner]) == 1 for s in others):
        few = [inner]
    if len(rows) == 1 and lengths[rows[0]] <= MOST_EXACT:
        few += rows
    return tuple((k, lengths[k]) for k in few)


def _directly(
    found: Gathered,
    axes: Sequence[int],
    strides: Sequence[Sequence[int]],
    columns: Sequence[int],
    rows: Sequence[int],
    lengths: Mapping[int, int],
) -> Direct | None:
    """How what is turned is read and stored with no scratch, if it is: tiles have more elements along a source then, as few of its axes are filled by squares."""
    order = _order(found, strides, columns, rows, lengths)
    long = all(lengths[k] > MOST_WOVEN for k in (columns[-1], *rows[-1:]))
    if machine().waits and not found.folds and len(columns) > 1 and prod(lengths[k] for k in rows) < DEEP:
        return None  # squares that no row fills
    if order is None or (order == "halved" and long and not fills_small(prod(lengths.values()))):
        return None
    source = [s for s in strides if s[columns[-1]] not in (0, 1) and s[rows[-1]] == 1]
    rows = _longer(rows, columns, axes, lengths, source, DOWN) if source else rows
    order = _order(found, strides, columns, rows, lengths)
    within = _within(found, axes, columns, rows, lengths, strides)
    return Direct(order, tuple(rows), _running(strides, rows, lengths), within) if order else None


def _order(
    found: Gathered,
    strides: Sequence[Sequence[int]],
    columns: Sequence[int],
    rows: Sequence[int],
    lengths: Mapping[int, int],
) -> Order | None:
    """In which order squares are turned with no scratch, if they are."""
    least = SQUARE // 2 if fills_small(prod(lengths.values())) else SQUARE  # half of a register
    if min(prod(lengths[k] for k in chain) for chain in (columns, rows)) < least:
        return None

    def places(chain: Sequence[int], many: int) -> list[Places]:
        """Where the elements of each operand lie that is not read, or stored, as they follow each other."""
        others = [s for s in strides if not _runs_on(s, chain, lengths) and any(s[k] for k in chain)]
        return [_places(s, chain, lengths, many) for s in others]

    return turned_directly(found, places(columns, TILE), places(rows, SQUARE), prod(lengths.values()))


def _places(steps: Sequence[int], chain: Sequence[int], lengths: Mapping[int, int], most: int) -> Places:
    """Where the first elements of some axes that are taken as one lie, at most so many."""
    found = [0]
    for k in reversed(chain):
        many = min(lengths[k], -(-most // len(found)))
        found = [n * steps[k] + at for n in range(many) for at in found]
    return found[:most]


def _within(
    found: Gathered,
    axes: Sequence[int],
    columns: Sequence[int],
    rows: Sequence[int],
    lengths: Mapping[int, int],
    strides: Sequence[Sequence[int]],
) -> tuple[int, ...]:
    """The other axes over which loops run inside of those over tiles of columns: where a line is read again in them."""
    size = widest(found)
    first, tiles = columns[0], -1
    each = max(1, (FOLDED_TILE if found.folds else TILE) // prod(lengths[k] for k in columns[1:]))
    outer = [k for k in axes if k not in (*columns, *rows)]
    if len(outer) > MAX_PERMUTED:
        return ()
    extents = {**lengths, first: min(each, lengths[first]), tiles: -(-lengths[first] // each)}
    operands = [
        {k: abs(step) * size for k, step in ((*zip(axes, s, strict=True), (tiles, s[first] * each))) if step}
        for s in strides
    ]
    few = (some for n in range(len(outer) + 1) for some in itertools.combinations(outer, n))
    orders = ((*(k for k in outer if k not in some), tiles, *some) for some in few)
    order = least_moved(orders, [*columns, *rows], operands, extents, writes_out(prod(lengths.values())))
    return order[order.index(tiles) + 1 :]


def _paired(
    found: Gathered,
    strides: Sequence[Sequence[int]],
    columns: Sequence[int],
    rows: Sequence[int],
    lengths: Mapping[int, int],
) -> tuple[int, ...]:
    """The operands whose rows of the innermost axis are taken as one wide element each, which follow each other along the rows of a tile."""
    inner, sizes = columns[-1], {leaf.key.dtype.itemsize for leaf in found.leaves}
    if len(rows) != 1 or lengths[inner] not in UNITS or max(sizes, default=WIDEST) * lengths[inner] > WIDEST:
        return ()
    return tuple(
        n
        for n, s in enumerate(strides)
        if n and s[inner] == 1 and s[rows[0]] == lengths[inner] and not _runs_on(s, columns, lengths)
    )


def _chains(
    axes: Sequence[int], lengths: Mapping[int, int], strides: Sequence[Sequence[int]], long: int, least: int
) -> tuple[list[int], list[int]]:
    """The axes along which the target runs on, and others along which most of what lies across it does; each until there are enough elements, so many
    along the target. With fewer than the `least` of these there are no others.
    """
    columns, rows, inner = [axes[-1]], list[int](), axes[-1]
    far = [s for s in strides if s[inner] not in (0, 1)]
    along = {k: [s for s in far if s[k] == 1] for k in axes[:-1]}
    first = max(along, key=lambda k: (max(map(_axes_of, along[k]), default=0), len(along[k])))
    largest = [s for s in along[first] if _axes_of(s) == max(map(_axes_of, along[first]))]
    if largest:
        rows = [first]
    for most in (DEEP, long):
        columns = _longer(columns, rows, axes, lengths, strides[:1], most)
        rows = _longer(rows, columns, axes, lengths, largest, DEEP) if rows else rows
    if (many := prod(lengths[k] for k in columns)) < least:
        longer = _longer(columns, [], axes, lengths, strides[:1], LONG)
        if lengths[inner] < SQUARE or not rows or prod(lengths[k] for k in longer) > many:
            columns, rows = longer, []
    if rows:
        return columns, rows
    near = _lines(columns[-1:], axes, lengths, strides)
    if near and fills_small(prod(lengths.values())):
        own = columns[columns.index(near[0]) + 1 :] if near[0] in columns else columns
        if prod(lengths[k] for k in own) >= DEEP:  # those of a line, too, are read one after the other
            return own, near
    return columns, _lines(columns, axes, lengths, strides)


def _axes_of(steps: Sequence[int]) -> int:
    """How many axes an operand has."""
    return sum(map(bool, steps))


def _lines(
    columns: Sequence[int], axes: Sequence[int], lengths: Mapping[int, int], strides: Sequence[Sequence[int]]
) -> list[int]:
    """The axis along which rows of few elements that are read follow each other: those of a line are read one after the other."""
    few = lengths[columns[-1]]
    found = [k for k in axes if k not in columns and any(s[columns[-1]] == 1 and s[k] == few for s in strides[1:])]
    return found[-1:]


def _longer(
    chain: Sequence[int],
    others: Collection[int],
    axes: Sequence[int],
    lengths: Mapping[int, int],
    strides: Sequence[Sequence[int]],
    most: int,
) -> list[int]:
    """A chain of axes, the nearest last, with those along which all of some operands run on, until there are so many elements."""
    chain = list(chain)
    while (many := prod(lengths[k] for k in chain)) < most:
        near = [k for k in axes if k not in chain and k not in others and all(s[k] == many for s in strides)]
        if not near:
            break
        chain.insert(0, near[0])
    return chain


def _runs_on(steps: Sequence[int], axes: Sequence[int], lengths: Mapping[int, int]) -> bool:
    """Whether elements along some axes follow each other."""
    return all(steps[k] == prod(lengths[j] for j in axes[n + 1 :]) for n, k in enumerate(axes))


def _running(strides: Sequence[Sequence[int]], axes: Sequence[int], lengths: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(n for n, steps in enumerate(strides) if axes and _runs_on(steps, axes, lengths))
