"""Squares that are turned round as they are computed: for what costs little, no tile lies on the stack.

A square has as many rows and columns as a vector has lanes. What runs on along its rows is read that way and turned in registers, each row is
computed, and where the target lies across, what is to be stored is turned. A line of the source is read once, whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce

from .cuts import cuts_of
from .derived import apply
from .early import packed_rows
from .folds import folds_of
from .ir import FALSE, Axis, Load, Local, Store, Value, both, index, load, negation
from .kernel import Kernel
from .machine import LINE, Machine
from .nest import ONE, ONE_ELEMENT, SIDE, Blocks, Loop, Past, Squares, Stmt, Vector
from .pairs import places_of, twins
from .past import are_multiples
from .placing import loop_over, place
from .reducers import FEW
from .rewrite import affine, steps, substitute
from .tiles import AFTER, BEGIN, NAMES, NEXT, REACH, SHIFT, TURN, Bounds, across, past_of, stored_across, stores_one
from .unrolled import row_of
from .vectors import CHEAP_ROWS, FAR_BYTES, MOST_TURNED, computed, cost_of, roots_of, vector_over, work_of

LONG_SIDE = 256  # elements of a tile along the target, in the caches: sixteen lines of float32 follow each other
INSIDE = 96  # the same where the loop over an outer axis is inside of that over tiles, and rows of the source are short
WHOLE_SIDE = 112  # of a tile along the source, from memory, where that has no more
LEAST_LANES, MOST_LANES = 4, 16  # of a square
SET_BYTES = 4096  # from one line of the first cache to the next in the same set, on all processors of today
SETS_BYTES = 128 << 10  # from one line of the second cache to the next in the same set
NEARLY = 32  # bytes: from row to row fewer than that further come into the same sets, up to some rows on
# if every so many rows of the source are in the same sets, these hold so many rows, each with its line
SHARED_SETS = (4, 64), (3, 64), (2, 64), (1, 32)
JOINED_BYTES = 32 << 10  # of a tile whose rows are one
NEXT_SET = 1024  # bytes between rows of the target: then the second cache holds fewer than a thousand of them, each with its line
SET_LINES = 9  # in which there are 8 lines, or 12
# from line to line of a source, and elements of a tile along the target, of squares that are halved
HALVED_BYTES, HALVED_SIDE = 256, 64
NEAR_BYTES = 256 << 10  # of half of what stays in the second cache
NEAR_SETS = (1, 2, 3, 4)  # rows of which one is in the same sets
NEARLY_ALIASED = 16  # bytes that the rows of a target may lie further apart than a multiple of SET_BYTES, or less: eight of them share two sets then
PART_BYTES = 16  # of a register: shuffles within it are cheap
SMALL = 10  # additions an element, where squares are abreast: rows are as many, and longer


def squares_of(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> Blocks | None:
    """The last two loops as squares; None where nothing lies across, where stores have an order, or where much is computed."""
    (row, _, _), (column, _, _) = loops
    if (
        not kernel.tiles
        or not kernel.squares
        or kernel.short
        or not stores_one(kernel)
        or cuts_of(kernel.stores, column)
    ):
        return None
    inside, saved, tile = stored_across(kernel, row, column, bound)
    found = across(inside, column, pairs=True)
    loads = list(dict.fromkeys(twins(x)[0] for x in found[1])) if found and found[0] is row else []
    values, leaf = [store.value for store in inside.stores], inside.stores[0].leaf
    cheap = work_of(values) <= CHEAP_ROWS[len(values)] and not _has_folds(values, row, column)
    if not (loads or tile) or len(loads) > MOST_TURNED or not cheap:
        return None
    top, bottom, left, right = NAMES
    at = (row - top) * SIDE + (column - left)
    turned = {x: replace(x.leaf, name=f"turned{n}") for n, x in enumerate(loads)}
    parts = {x: [load(into, place) for place in places_of(into, at)] for x, into in turned.items()}
    instead: dict[Value, Value] = {part: y for x, own in parts.items() for part, y in zip(twins(x), own, strict=False)}
    values = [substitute(value, instead) for value in values]
    lanes, woven = _lanes(inside, machine, column, tuple(map(Store, [leaf, leaf], places_of(leaf, at), values)))
    lanes, abreast = _abreast(loads, lanes, machine) if not tile and work_of(values) <= SMALL else (lanes, 1)
    if not lanes or affine(kernel.stores[0].offset, row) is None:
        return None
    far = _far(kernel)
    (goal, other), ends = (loops, (top, bottom)) if tile else (loops[::-1], (left, right))
    past = past_of(kernel, machine, goal, *ends, far)
    past = _staged(past, kernel, goal, other[0], SET_LINES if abreast == 1 else lanes * abreast) if past else None
    names = (top, REACH if past and tile else bottom, left, REACH if past and not tile else right)
    ahead = _ahead(_lines(values, column, kernel) if tile else loads, row, column, bool(tile), kernel)
    stores = tuple(replace(store, value=value) for store, value in zip(kernel.stores, values, strict=True))
    brought = tuple((own[0], x) for x, own in parts.items())
    squares = Squares(
        stores, brought, row, column, *names, lanes, abreast, bool(tile), past, ahead, far, woven and abreast > 1
    )
    squares = _with_halves(squares, goal[0])
    if machine.small and not tile and abreast == 1:
        squares = _in_order(squares, loops, _is_near(kernel))
    blocks = _blocks(squares, kernel, machine, loops, saved, _of_rows(saved, names, row, machine, bound, done))
    if kernel.inside is None or kernel.inside not in bound:
        return blocks
    source = loops[1] if tile else loops[0]
    side = apply("where", index(SIDE) >= source[2], index(INSIDE), index(SIDE))
    return replace(blocks, side=apply("minimum", side, blocks.side))


def _lanes(kernel: Kernel, machine: Machine, column: Axis, stores: tuple[Store, ...]) -> tuple[int, bool]:
    """How many rows and columns a square has; 0 where it would be none. One of complex numbers has half as many: each is two. And whether what
    runs along the columns may be woven.
    """
    vector = vector_over(kernel, machine, column, *NAMES[2:], stores)
    loads = [x for x in computed([s.value for s in stores], column) if isinstance(x, Load) and column in x.offset.free]
    places: list[Load | Store] = [*stores, *loads]
    parts = 1 + any(x.leaf.pairs for x in places)
    wide = vector.masked and vector.lanes >= LEAST_LANES
    return min(MOST_LANES, vector.lanes) // parts if wide else 0, vector.woven


def _abreast(loads: Sequence[Load], lanes: int, machine: Machine) -> tuple[int, int]:
    """The rows of a square, and how many fill a register: of small elements more than one, a part of it each."""
    sizes, nbytes = {x.leaf.itemsize for x in loads}, machine.vector_bits // 8
    pairs = any(x.leaf.pairs for x in loads)  # a part of a register would hold half a number
    if len(sizes) > 1 or pairs or not lanes or max(sizes) * lanes >= nbytes:
        return lanes, 1
    return PART_BYTES // max(sizes), nbytes // PART_BYTES


def _with_halves(squares: Squares, along: Axis) -> Squares:
    """The same, of half as many lines of the target where these share a set of the first cache, and those of the source are so short that many of them lie in it: what is
    stored is whole lines then, with no stage.
    """
    store, read = squares.stores[0], [x for _, x in squares.turned]
    if squares.past is None or len(read) != 1 or squares.lanes * store.leaf.itemsize != 2 * PART_BYTES:
        return squares
    form = affine(read[0].offset, along)
    near = form and both(form[0] >= index(1), index(HALVED_BYTES // read[0].leaf.itemsize) >= form[0])
    return replace(squares, halved=both(squares.past.aliased, near)) if near else squares


def _is_near(kernel: Kernel) -> Value:
    """Whether what is read, and what is stored, stays in the second cache."""
    return index(NEAR_BYTES // kernel.stores[0].leaf.dtype.itemsize) >= kernel.every


def _in_order(squares: Squares, loops: Sequence[Bounds], near: Value) -> Squares:
    """The same, where all is `near`, down the source where that is no longer than the target, or where its rows share a set of the first cache: what is read is read as a whole
    then; else along the target, whose lines are stored as a whole. So are those that share a set.
    """
    (row, _, rows), (column, _, columns) = loops
    x = squares.turned[0][1]
    form, size = affine(x.offset, column), x.leaf.itemsize
    if form is None:
        return squares
    store = squares.stores[0]
    goal = affine(store.offset, row)
    assert goal is not None, "rows of the target lie at regular distances"
    shared, stored = (_share_sets(step, n) for step, n in ((form[0], size), (goal[0], store.leaf.dtype.itemsize)))
    down = apply("logical_or", columns > rows, both(shared, columns >= index(SET_LINES)))
    return replace(squares, down=both(both(near, down), negation(stored)))


def _share_sets(step: Value, size: int) -> Value:
    """Whether rows that lie so many elements apart, or every other, third or fourth of them, come into the same sets of the first cache."""
    near, found = LINE // size, list[Value]()
    for far in (step * many for many in NEAR_SETS):
        found.append(both(far > index(near), index(2 * near) >= (far + index(near)) % index(SET_BYTES // size)))
    return reduce(partial(apply, "logical_or"), found)


def _halved_side(squares: Squares, along: Axis, side: Value) -> Value:
    """Elements of a tile along the target: so many, or of halved squares as many whole lines as rows of the source stay for."""
    if squares.halved is FALSE:
        return side
    ((_, read),) = squares.turned
    form, size = affine(read.offset, along), read.leaf.itemsize
    assert form is not None, "lines of the source lie at regular distances"
    rows = index(HALVED_BYTES * HALVED_SIDE // size) // apply("maximum", form[0], ONE_ELEMENT)
    rows = apply("bitwise_and", rows, index(-LINE // size))
    return apply("where", squares.halved, apply("minimum", index(2 * HALVED_SIDE), rows), side)


def _staged(past: Past, kernel: Kernel, loop: Bounds, other: Axis, least: int) -> Past:
    """With a stage for lines of several squares, also where the rows of the target that a square has, at `least` so many, share a set of the
    first cache: it holds fewer of them than these are, so that each of their lines has to be made in one go.
    """
    form, size = affine(past.store.offset, other), past.store.leaf.dtype.itemsize
    assert form is not None, "rows of the target lie at regular distances"
    long = both(dict(kernel.axes)[past.along] >= SIDE, dict(kernel.axes)[other] >= least)
    near = max(1, NEARLY_ALIASED // size)
    aliased = both(long, index(2 * near) >= (form[0] + index(near)) % index(SET_BYTES // size))
    line, extents = LINE // size, dict(kernel.axes)
    outer = [a for a in extents if a is not past.along]
    lines = _are_lines(extents[past.along], line)
    if (bounds := loop[1:]) != (index(0), extents[past.along]):
        lines = both(lines, both(*(_are_lines(x, line) for x in bounds)))
    lines = both(_far(kernel), both(lines, are_multiples(past.store.offset, outer, line)))  # of whatever number
    few = index(JOINED_BYTES // (SIDE * size)) >= extents[past.along]
    joined = both(both(_far(kernel), few), both(apply("equal", form[0], extents[past.along]), negation(lines)))
    past = replace(past, when=apply("logical_or", both(past.when, negation(joined)), lines))
    when = apply("logical_or", past.when, aliased)
    aliased = both(aliased, negation(past.when))
    return replace(past, length=LONG_SIDE + 2 * past.beyond, when=when, aliased=aliased, joined=joined)


def _are_lines(extent: Value, line: int) -> Value:
    return apply("equal", apply("bitwise_and", extent, index(line - 1)), index(0))


def _blocks(
    squares: Squares,
    kernel: Kernel,
    machine: Machine,
    loops: list[Bounds],
    saved: tuple[Store, ...],
    of_rows: list[Stmt],
) -> Blocks:
    """The loops over tiles: the inner one as the source runs on."""
    (top, bottom, left, right), past = NAMES, squares.past
    by_rows, by_columns = (*loops[0], top, bottom), (*loops[1], left, right)
    goal, source = (by_rows, by_columns) if squares.across else (by_columns, by_rows)
    store, other = squares.stores[0], squares.column if squares.across else squares.row
    form = affine(store.offset, other)
    assert form is not None, "rows of the target lie at regular distances"
    in_sets = apply("equal", form[0] % (NEXT_SET // store.leaf.dtype.itemsize), index(0))
    long = apply("logical_or", apply("logical_or", squares.when, goal[2] >= source[2]), in_sets)
    side = apply("where", long, index(LONG_SIDE), index(squares.long))
    if squares.down is not FALSE:
        near = apply("where", squares.down, index(SIDE), index(LONG_SIDE))
        side = apply("where", _is_near(kernel), near, side)
    far = both(squares.when, negation(past.joined)) if past else squares.when
    side = apply("where", far, _even(goal[2], max(squares.long, LINE // store.leaf.itemsize), machine.follows), side)
    for x in dict.fromkeys(x for _, x in squares.turned):
        if step := affine(x.offset, goal[0]):
            size, apart_by = x.leaf.itemsize, apply("maximum", step[0], index(0) - step[0])
            for many, most in SHARED_SETS:
                behind = apart_by * many - index((SETS_BYTES - NEARLY) // size)
                shared = index(2 * NEARLY // size) >= behind % (SETS_BYTES // size)
                shared = both(far, both(behind >= index(0), shared))
                side = apply("where", shared, index(max(most, squares.long)), side)
    side = _halved_side(squares, goal[0], side)
    whole = apply("where", both(far, index(WHOLE_SIDE) >= source[2]), index(WHOLE_SIDE), index(SIDE))
    inner = Blocks(*source, (squares,), ahead=(NEXT, SHIFT), side=whole, around=ONE_ELEMENT, least=squares.lanes)
    scratch = [(past.length if past else LONG_SIDE + squares.long, store.leaf) for store in saved]
    if past:
        room = past.length * squares.long, JOINED_BYTES // past.stage.dtype.itemsize
        scratch += [(max(room), past.stage)]
    return Blocks(
        *goal, (*of_rows, inner), tuple(scratch), past, ahead=(AFTER, TURN), side=side, around=ONE_ELEMENT, least=squares.long
    )  # fmt: skip


def inside_of(squares: Blocks, axis: Axis, low: Value, high: Value, before: Sequence[Stmt]) -> Blocks:
    """The loops over tiles along the target with that over an axis inside of them, and what is known for each of its indices."""
    return replace(squares, body=(Loop(axis, high, (*before, *squares.body), low),))


def _even(extent: Value, long: int, most: int) -> Value:
    """Elements of a tile along the target, from memory, a multiple of whole lines and squares: all tiles of few are about as long, for what is fetched is as
    much as what is computed. Of more than 128 what waits for its line, and the lines that are read, have no room in the first cache.
    """
    found = index(most)
    for count in (4, 3, 2):
        each = (extent * ((1 << 16) // count + 1)) // (1 << 16)
        each = (each + (2 * long - 1)) // long * long
        found = apply("where", index(count * most - 2 * long) >= extent, each, found)
    return apply("where", extent >= index(most + 1), found, index(most))


WRITTEN_OUT = 600  # additions for all columns: more takes longer to compile than it is worth


def taken_apart(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt] | None:
    """The last two loops where the first of them is over the few columns of rows that lie side by side in what is read, or in the target:
    vectors run along the other, and of those that hold whole rows all columns are computed.
    """
    (row, _, _), (column, first, last) = loops
    many, values = kernel.few or kernel.narrow, [store.value for store in kernel.stores]
    if (
        not 1 < many <= FEW
        or not kernel.keeps
        or kernel.short
        or not stores_one(kernel)
        or cuts_of(kernel.stores, column)
    ):
        return None
    if row is not (kernel.axes[-1] if kernel.few else kernel.axes[-2])[0] or _has_folds(values, row, column):
        return None
    loads = [x for x in computed(values, column) if isinstance(x, Load) and column in x.offset.free]
    places: list[Load | Store] = [*kernel.stores, *(x for x in loads if x.when is None)]
    rows = [x for x in places if steps(x, row) == 1 and steps(x, column) == many]
    every: list[Load | Store] = [*kernel.stores, *loads]
    if not rows or any(x not in rows and steps(x, column) != 1 for x in every):
        return None
    at: list[dict[Value, Value]] = [{row: index(j)} for j in range(many)]
    stores = tuple(
        Store(s.leaf, substitute(s.offset, here), substitute(s.value, here)) for here in at for s in kernel.stores
    )
    if cost_of(*roots_of(stores)) > WRITTEN_OUT:
        return None
    inner = replace(kernel, axes=((column, last),), stores=stores)
    *before, vector = loop_over(inner, machine, column, first, last, stores, bound, done)
    assert isinstance(vector, Vector), "a loop"
    groups = dict.fromkeys((x.leaf, row_of(x, row, many)) for x in rows)
    others = replace(kernel, axes=tuple(loop for loop in kernel.axes if loop[0] is not row))
    return [*before, *packed_rows(replace(vector, groups=tuple(groups)), many, column, last, others)]


def _has_folds(values: Sequence[Value], *axes: Axis) -> bool:
    return any(axis in node.free for node in folds_of(*values) for axis in axes)


def _far(kernel: Kernel) -> Value:
    return kernel.far(kernel.every, FAR_BYTES // kernel.stores[0].leaf.dtype.itemsize)


def _of_rows(
    saved: tuple[Store, ...],
    names: tuple[Local, ...],
    row: Axis,
    machine: Machine,
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    """What is saved for the rows of a tile."""
    if not saved:
        return []
    above, below, *_ = names
    within = bound | set(NAMES) | {BEGIN, REACH} | {row}
    known = place(roots_of(saved), machine, within, set(done))
    return [Loop(row, below, (*known, Vector(ONE, index(0), index(1), 1, 1, False, saved)), above)]


def _lines(values: Sequence[Value], column: Axis, kernel: Kernel) -> Iterable[Load]:
    """What runs on as it is computed."""
    loads = [twins(x)[0] for x in computed(values, column) if isinstance(x, Load) and x.leaf in kernel.leaves]
    return [x for x in loads if x.when is None and steps(x, column) == 1]


def _ahead(loads: Iterable[Load], row: Axis, column: Axis, tile: bool, kernel: Kernel) -> tuple[Load, ...]:
    """Where the sources of the next tile begin: tiles follow each other as they run on, then as the target does, then come those of the next outer
    index, or before where its loop is inside.
    """
    top, _, left, _ = NAMES
    outer, turn = kernel.axes[-3][0] if len(kernel.axes) > 2 else None, SHIFT * TURN
    following: dict[Value, Value] = {row: row - top + NEXT, column: column + SHIFT * (AFTER - left)}
    if tile:
        following = {row: row + SHIFT * (AFTER - top), column: column - left + NEXT}
    if kernel.inside and kernel.inside is outer:
        following, turn = {column: column - left + NEXT} if tile else {row: row - top + NEXT}, SHIFT
    late = [x for x in loads if (row if tile else column) in x.offset.free]
    found = list[Load]()
    for x in late:
        form = affine(x.offset, outer) if outer else None
        offset = substitute(x.offset, following)
        found.append(load(x.leaf, offset + turn * form[0] if form else offset))
    return tuple(dict.fromkeys(found))
