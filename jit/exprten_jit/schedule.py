"""From a kernel to a loop nest.

The last axis of a kernel is its innermost loop. What needs no inner axis is computed outside of it: a Let at the outermost loop
that binds all of its axes. What needs the innermost axis alone, and is dear, is saved before the outer loops. A guard or a
quotient of the innermost axis is made constant by cutting the axis into pieces: within a piece `i >= 3` is true or false and
`i // 4` is a number, so every load is affine and an unpadded row stays a row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from .beforehand import Beforehand, beforehand
from .columns import Saving, across, by_columns, columns_of
from .cuts import PIECE, PIECE_NAME, cuts_of, pieced
from .derived import OwnName
from .dtypes import INDEX
from .early import folded_rows, lying_rows, next_row, packed_rows
from .flat import flattened
from .folds import combined, folds_of, owns_rows, vector_axis
from .ir import Axis, Component, Fold, Load, Local, Op, Store, Value, index, local
from .keeping import kept, kept_before
from .kernel import Kernel
from .machine import Machine
from .nest import ONE, Blocks, Loop, Nest, Pieces, Stmt, Vector
from .onward import onward
from .past import in_lines, rows_past_caches
from .placing import affine_lets, known_first, loop_over, place
from .reducers import NARROW_ROW, ROW, SHORT, reducer_of
from .repeating import as_one_row
from .rewrite import steps, substitute
from .squares import inside_of, squares_of, taken_apart
from .strung import strung
from .tiles import BEGIN, NAMES, NEXT, REACH, SHIFT, Bounds, Tile, as_stored, other_inside, tile_of
from .unrolled import WRITTEN_OUT, Group, blocked, rows_apart, unrolled
from .vectors import LEAST_BITS, cheap, computed, cost_of, roots_of, vector_over
from .within import masked_tails, written_within
from .without import without_folds


def schedule(kernel: Kernel, machine: Machine) -> Nest:
    """The loop nest of `kernel` for `machine`."""
    if kernel.block and (nest := _of_blocks(kernel, machine)):
        return nest
    if kernel.rest:
        if before := without_folds(kernel):
            return _after(before, kernel, machine)
        kernel = replace(kernel, rest=None, flat=None)
    if kernel.strung:
        if nest := strung(kernel, machine):
            return nest
        kernel = replace(kernel, strung=0)
    if kernel.flat:
        if nest := flattened(kernel, machine):
            return nest
        kernel = replace(kernel, flat=None)
    if before := beforehand(kernel):
        return _after(before, kernel, machine)
    kernel = _left(kernel) if kernel.first else kernel
    then = schedule(replace(kernel.then, cached=kernel.cached), machine) if kernel.then else None
    kernel = other_inside(kernel)
    kernel, opened, groups = _rows(kernel, machine)
    if kernel.columns:
        opened = replace(opened, axes=(*opened.axes[:-1], (opened.axes[-1][0], index(kernel.columns))))
    loops = [(axis, index(0), extent) for axis, extent in opened.axes]
    if vector_axis(opened) is None:
        loops.append((ONE, index(0), index(1)))
    apart = rows_apart(kernel)
    written = bool(groups or apart) or opened.down > 0
    turned = not written and opened.axes != kernel.axes
    opened, inside, folds = written_within(opened)
    body = masked_tails(_open(opened, machine, loops, frozenset(), set()), inside, machine)
    body = rows_past_caches(body, opened, machine, groups)
    if kernel.lined:
        body = in_lines(body, *kernel.lined, machine)
    return Nest(kernel, tuple(known_first(body)), then, (*groups, *inside), turned, written, folds, apart=apart)


def _of_blocks(kernel: Kernel, machine: Machine) -> Nest | None:
    """The loop nest of a kernel of blocks, whose axes it has in their order; None where that would be long."""
    opened, groups = unrolled(blocked(kernel))
    if cost_of(*roots_of(opened.stores)) > BLOCK_COST:
        return None
    loops = [(axis, index(0), extent) for axis, extent in opened.axes]
    body = rows_past_caches(_open(opened, machine, loops, frozenset(), set()), opened, machine, groups)
    own = replace(opened, axes=kernel.axes, stores=kernel.stores)
    return Nest(own, tuple(known_first(body)), None, groups, written=True)


def _after(before: Beforehand, kernel: Kernel, machine: Machine) -> Nest:
    """The loop nests of what is computed before, and of what is left."""
    nest, back = Nest(kernel, ()), {here: given for given, here in before.folds}
    if before.kernel is not None:
        nest = schedule(replace(_left(before.kernel), cached=kernel.cached), machine)
    return replace(
        nest,
        kernel=replace(nest.kernel, axes=kernel.axes, stores=kernel.stores, rest=kernel.rest),
        folds=(*before.folds, *((substitute(given, back), here) for given, here in nest.folds)),
        first=tuple(schedule(replace(part, cached=kernel.cached), machine) for part in before.parts),
        room=before.room,
        pieces=before.pieces,
        brought=before.brought,
    )


def _left(kernel: Kernel) -> Kernel:
    """A kernel of which some folds were to be computed before, as what is left: not of short rows, where others are folded too, and vectors run
    along its innermost axis where the folds that depend on it are across rows.
    """
    folds = folds_of(*(store.value for store in kernel.stores))
    if kernel.short and not all(map(owns_rows, folds)):
        kernel = replace(kernel, short=0, packed=False)
    inner = [node for node in folds if kernel.axes and kernel.axes[-1][0] in node.free]
    return replace(kernel, rows=any(node.order is not None and not node.order.grouped for node in inner))


BLOCK_COST = (
    1700  # additions: a block of more takes longer to compile than it is worth; a softmax of 64 elements takes 1,500
)
JOINED = 30  # additions: an `argmax` of complex numbers takes 28
NARROW_BITS = 16  # of integers whose rows are taken apart in a few steps
# elements: from here on a row of which nothing but cheap folds is made is folded along sooner; of floats' extremes, which have a quick rule there
ALONE, QUICK_ALONE = 12, 10
ALONE_NARROW = 10  # the same where registers are small: taking rows apart takes more steps


def _rows(kernel: Kernel, machine: Machine) -> tuple[Kernel, Kernel, tuple[Group, ...]]:
    """A kernel of rows of few elements, what it is without loops over them, and its groups. Where that would be long, the kernel for
    rows of any length up to one of `reducers.SHORT`, twice, and no groups. Where longer rows are not folded in lanes, the kernel, and
    what it is with the loop over a row innermost.
    """
    if kernel.down and not folds_of(*(store.value for store in kernel.stores)):  # a position among one element is 0
        kernel = replace(kernel, down=0)
    folds = folds_of(*(store.value for store in kernel.stores))
    if kernel.packed and kernel.short > ROW and not all(reducer_of(x.reducer).exact(x.dtype) for x in folds):
        kernel = _in_lanes_alone(kernel)  # the order of longer rows is not written out
    opened, groups = unrolled(kernel)
    if kernel.down and not _runs_along(opened, groups):
        kernel = replace(kernel, down=0)
        return kernel, kernel, ()
    if kernel.down:
        return kernel, replace(opened, tiles=False), groups
    alone = _long_enough(kernel, machine) and len(opened.axes) == len(kernel.axes)
    along = alone and not _extremes_of_narrow(kernel) and _in_lanes(kernel, machine)
    if (groups or rows_apart(kernel)) and not along and cost_of(*roots_of(opened.stores)) <= WRITTEN_OUT:
        return kernel, opened, groups
    if kernel.packed and (kernel.within or not any(folds_of(store.value) for store in kernel.stores)):
        kernel = replace(kernel, short=0, packed=False)
        return kernel, kernel, ()
    if kernel.packed:
        kernel = _in_lanes_alone(kernel)
    if kernel.short <= NARROW_ROW or _in_lanes(kernel, machine):
        return kernel, kernel, ()
    *outer, lanes = kernel.axes
    return kernel, other_inside(replace(kernel, short=0, exact=0, axes=(*outer[:-1], lanes, *outer[-1:]))), ()


def _in_lanes_alone(kernel: Kernel) -> Kernel:
    """A kernel of packed rows, which are folded in lanes and not written out."""
    most = next(most for most in SHORT if kernel.short <= most)
    return replace(kernel, short=most, exact=kernel.short, packed=False)


def _long_enough(kernel: Kernel, machine: Machine) -> bool:
    """Whether packed rows of which nothing but cheap folds is made are folded along: long ones, and where registers are small such as fill one."""
    small = machine.small
    bits = max((leaf.dtype.computed.bits for leaf in kernel.leaves), default=1)
    least = QUICK_ALONE if _extremes_of_floats(kernel) else ALONE_NARROW if small else ALONE
    return kernel.short >= least or (small and kernel.short * bits == machine.vector_bits and bits <= 32)


def _extremes_of_floats(kernel: Kernel) -> bool:
    """Whether all that is folded are extremes of floats that have arithmetic of their own."""
    folds = folds_of(*(store.value for store in kernel.stores))
    return all(reducer_of(x.reducer).quick and x.dtype.kind == "f" and not x.dtype.wide for x in folds)


def _extremes_of_narrow(kernel: Kernel) -> bool:
    """Whether all that is folded are extremes of integers of 8 or 16 bits."""
    folds = folds_of(*(store.value for store in kernel.stores))
    return all(x.reducer in ("max", "min") and x.dtype.kind in "iu" and x.dtype.bits <= NARROW_BITS for x in folds)


def _runs_along(kernel: Kernel, groups: Collection[Group]) -> bool:
    """Whether few rows that are written out are little text, and all lie along the innermost axis, or in groups."""
    axis, values = kernel.axes[-1][0], [store.value for store in kernel.stores]
    loads = [x for x in computed(values, axis) if isinstance(x, Load)]
    every: list[Load | Store] = [*kernel.stores, *loads]
    known = {(leaf, at) for leaf, places in groups for at in places}
    near = all(steps(x, axis) in (0, 1, -1, 2) or (x.leaf, x.offset) in known for x in every)
    return (
        near
        and all(x.when is None for x in loads)
        and not folds_of(*values)
        and not cuts_of(kernel.stores, axis)
        and cost_of(*roots_of(kernel.stores)) <= WRITTEN_OUT
    )


def _in_lanes(kernel: Kernel, machine: Machine) -> bool:
    """Whether rows that are not so short are folded in lanes: where that is cheap, and little text, and rows are stored as they lie."""
    folds = folds_of(*(store.value for store in kernel.stores))
    rows = [axis for axis, extent in kernel.axes[:-1] if extent in {node.extent for node in folds}]
    if any(steps(store, axis) != 1 for store in kernel.stores for axis in rows):
        return False
    held = kept_before(kernel, folds, -2)
    wide = machine.vector_bits >= LEAST_BITS and {32, 64} <= machine.masked_bits
    kept = [node for node in folds if held is not None and node is held[0]]
    return wide and all((cheap(node, machine) or node in kept) and _joined_cheaply(node) for node in folds)


def _joined_cheaply(node: Fold) -> bool:
    """Whether results are brought together by little text: each of the table's is, of others those that cost little."""
    if not isinstance(node.reducer, OwnName):
        return True
    a, b = ([local(f"{name}{n}", dtype) for n, dtype in enumerate(node.dtypes)] for name in "ab")
    return cost_of(*combined(node, a, b)) <= JOINED


def _open(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that run the remaining loops, all of `bound` being known."""
    (axis, low, high), *inner = loops
    placed = place(roots_of(kernel.stores), machine, bound, done)
    if inner and (pieces := _in_pieces(kernel, machine, loops, bound, done)):
        return [*placed, *pieces]
    few = len(inner) == 1 and kernel.runs and not kernel.short and by_columns(kernel, inner[0][0], bound)
    if few and (columns := as_one_row(kernel, machine, loops, bound, done, _open)):
        return [*placed, columns]
    if made := onward(kernel, machine, loops, bound, done, partial(_stored, machine)):
        return [*placed, made]
    folds = across(kernel, loops, bound)
    if kernel.short and not inner and folds and all(_is_of(folds, store.value) for store in kernel.stores):
        return [*placed, *loop_over(kernel, machine, axis, low, high, kernel.stores, bound, done)]  # nothing waits
    saved = [] if folds or not inner else columns_of(kernel, loops, bound)
    if folds or saved:
        return [*placed, Saving(kernel, machine, loops, bound, set(done), _open).nest(folds, saved)]
    if len(inner) == 1 and (apart := taken_apart(kernel, machine, loops, bound, done)):
        return [*placed, *apart]
    if len(inner) == 1 and (squares := squares_of(kernel, machine, loops, bound, done)):
        return [*placed, squares]
    if len(inner) == 1 and (tile := tile_of(kernel, machine, axis, inner[0][0], bound)):
        return [*placed, _tiled(kernel, tile, machine, loops, bound, done)]
    if not inner:
        placed, kernel = kept(kernel, machine, placed, axis, high)
        *rest, last = _innermost(kernel, machine, axis, low, high, bound, done)
        if kernel.packed:
            outer = [a for a, _ in kernel.axes if a is not axis and a in bound]
            return [*placed, *rest, *packed_rows(last, kernel.written, axis, high, kernel, outer)]
        if kernel.down and (fetching := lying_rows(last, kernel, axis, high, bound)):
            return [*placed, *rest, *fetching]
        if axis is ONE:
            return [*folded_rows(placed, kernel, bound), *rest, last]
        return [*placed, *rest, *next_row(last, placed, kernel, axis, high, bound)]
    body = _open(kernel, machine, inner, bound | {axis}, done)
    if axis is kernel.inside and len(inner) == 2 and isinstance(body[-1], Blocks):
        return [*placed, inside_of(body[-1], axis, low, high, body[:-1])]
    return [*placed, Loop(axis, high, tuple(body), low)]


def _in_pieces(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """All loops for a piece of the innermost axis after the other, where guards or quotients of it stand beside what is saved for its columns, and
    no outer loop moves them. Nothing where that is not so.
    """
    *outer, (axis, _, extent) = loops
    if kernel.reverse or kernel.short or axis is ONE or any(isinstance(x, Local) for x in bound):
        return []
    cuts, folds = cuts_of(kernel.stores, axis), folds_of(*(store.value for store in kernel.stores))
    if not cuts or not all(cut.original.free | cut.rest.free | cut.other.free <= bound | {axis} for cut in cuts):
        return []
    found = pieced(kernel.stores, cuts, axis, PIECE[0], PIECE_NAME)
    within = bound.union(PIECE, (name for name, _ in found.known))
    kernel, loops = replace(kernel, stores=found.stores, few=0, low=False, runs=False), [*outer, (axis, *PIECE)]
    down = any(axis in node.free and node.free <= bound | {axis} for node in folds)
    if not down and not columns_of(kernel, loops, within):
        return []
    body = _open(kernel, machine, loops, within, set(done))
    outside = place([*found.changes, *(value for _, value in found.known)], machine, bound, done)
    return [*outside, Pieces(axis, extent, *PIECE, found.known, found.changes, tuple(body))]


def _is_of(folds: Collection[Fold], value: Value) -> bool:
    """Whether a value is one of these folds, or of what one of them gives, as it is or in another type."""
    match value:
        case Op("cast", (x,)):
            return _is_of(folds, x)
        case Component(fold):
            return fold in folds
    return value in folds


def _stored(
    machine: Machine, kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that store what is made of folds that are known."""
    return _open(kernel, machine, as_stored(kernel, loops), bound, done)


def _tiled(
    kernel: Kernel, tile: Tile, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> Blocks:
    """Two loops, a tile at a time."""
    (row, low, high), (column, first, last) = loops
    (top, bottom, left, right), (above, below, before, behind) = NAMES, tile.names
    within = bound | set(NAMES) | {BEGIN, REACH, NEXT, SHIFT}
    saved: list[Stmt] = []
    if tile.saved:
        known = place(roots_of(tile.saved), machine, within | {row}, set(done))
        saved.append(Loop(row, below, (*known, Vector(ONE, index(0), index(1), 1, 1, False, tile.saved)), above))
    body = _open(tile.kernel, machine, [(row, above, below), (column, before, behind)], within, set(done))
    inside = (*tile.turns, *(_by_rows_of(tile, stmt, row, column, kernel) for stmt in body), *tile.back)
    ahead = NEXT, SHIFT
    if tile.across:
        squares = Blocks(column, first, last, left, right, inside, ahead=ahead)
        return Blocks(row, low, high, top, bottom, (*saved, squares), tile.scratch, tile.past)
    squares = Blocks(row, low, high, top, bottom, inside, ahead=ahead)
    return Blocks(column, first, last, left, right, (squares,), tile.scratch, tile.past)


def _by_rows_of(tile: Tile, stmt: Stmt, row: Axis, column: Axis, kernel: Kernel) -> Stmt:
    """The loop over the rows of a tile, which fetches those of the next one, and stores past the caches."""
    if not isinstance(stmt, Loop) or stmt.axis is not row:
        return stmt
    values = [store.value for store in tile.kernel.stores]
    loads = (x for x in computed(values, column) if isinstance(x, Load) and x.leaf in kernel.leaves)
    before, after = tile.fetch(loads, row, column), None if tile.across else tile.past
    return replace(stmt, body=(*([before] if before else []), *stmt.body, *([after] if after else [])))


def _innermost(
    kernel: Kernel,
    machine: Machine,
    axis: Axis,
    low: Value,
    extent: Value,
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    cuts = cuts_of(kernel.stores, axis)
    if not cuts:
        return loop_over(kernel, machine, axis, low, extent, kernel.stores, bound, done)
    start, end = (local(name, INDEX) for name in ("start", "end"))
    if start in bound:  # of a block of columns
        start, end = (local(name, INDEX) for name in ("from", "to"))
    found = pieced(kernel.stores, cuts, axis, start, "at")
    vector = vector_over(kernel, machine, axis, start, end, found.stores)
    within = bound | {start, end} | {name for name, _ in found.known}
    inside = set(done)
    body = [
        *place(roots_of(found.stores), machine, within, inside),
        *affine_lets(vector, machine, within, inside),
        vector,
    ]
    outside = place([*found.changes, *(value for _, value in found.known)], machine, bound, done)
    return [*outside, Pieces(axis, extent, start, end, found.known, found.changes, tuple(body))]
