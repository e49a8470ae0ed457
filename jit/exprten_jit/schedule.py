"""From a kernel to a loop nest.

The last axis of a kernel is its innermost loop. What needs no inner axis is computed outside of it: a Let at the outermost loop
that binds all of its axes. What needs the innermost axis alone, and is dear, is saved before the outer loops. A guard or a
quotient of the innermost axis is made constant by cutting the axis into pieces: within a piece `i >= 3` is true or false and
`i // 4` is a number, so every load is affine and an unpadded row stays a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial

from .cuts import cuts_of, others, rename
from .derived import OwnName, apply
from .dtypes import INDEX
from .folds import folds_of, vector_axis
from .ir import TRUE, Axis, Fold, Kernel, Leaf, Load, Local, Op, Store, Value, components, index, load, local
from .keeping import kept, kept_of_rows
from .nest import ONE, Blocks, Columns, Loop, Machine, Nest, Pieces, Stmt, Vector
from .onward import onward
from .placing import affine_lets, folds_inside, loop_over, place
from .reducers import SHORT
from .rewrite import steps, substitute, walk
from .runs import repeated, running_on
from .strips import Stripping
from .tiles import BEGIN, NAMES, NEXT, REACH, SHIFT, Bounds, Tile, as_stored, other_inside, tile_of
from .unrolled import Group, unrolled
from .vectors import DEAR, LEAST_BITS, cheap, computed, cost_of, roots_of, vector_over


def schedule(kernel: Kernel, machine: Machine) -> Nest:
    """The loop nest of `kernel` for `machine`."""
    then = schedule(kernel.then, machine) if kernel.then else None
    kernel = other_inside(kernel)
    kernel, opened, groups = _rows(kernel, machine)
    loops = [(axis, index(0), extent) for axis, extent in opened.axes]
    if vector_axis(opened) is None:
        loops.append((ONE, index(0), index(1)))
    turned = not groups and opened.axes != kernel.axes
    return Nest(kernel, tuple(_open(opened, machine, loops, frozenset(), set())), then, groups, turned)


WRITTEN_OUT = 600  # additions: a statement of more takes longer to compile than its rows are worth
ALONE = 12  # elements: from here on a row of which nothing but cheap folds is made is folded along sooner


def _rows(kernel: Kernel, machine: Machine) -> tuple[Kernel, Kernel, tuple[Group, ...]]:
    """A kernel of rows of few elements, what it is without loops over them, and its groups. Where that would be long, the kernel for
    rows of any length up to one of `reducers.SHORT`, twice, and no groups. Where longer rows are not folded in lanes, the kernel, and
    what it is with the loop over a row innermost.
    """
    opened, groups = unrolled(kernel)
    alone = kernel.short >= ALONE and len(opened.axes) == len(kernel.axes)
    along = alone and _in_lanes(kernel, machine)
    if groups and not along and cost_of(*roots_of(opened.stores)) <= WRITTEN_OUT:
        return kernel, opened, groups
    if kernel.packed:
        kernel = replace(kernel, short=next(most for most in SHORT if kernel.short <= most), packed=False)
    if kernel.short <= SHORT[1] or _in_lanes(kernel, machine):
        return kernel, kernel, ()
    *outer, lanes = kernel.axes
    return kernel, other_inside(replace(kernel, short=0, axes=(*outer[:-1], lanes, *outer[-1:]))), ()


def _in_lanes(kernel: Kernel, machine: Machine) -> bool:
    """Whether rows that are not so short are folded in lanes: where that is cheap, and little text, and rows are stored as they lie."""
    folds = folds_of(*(store.value for store in kernel.stores))
    rows = [axis for axis, extent in kernel.axes[:-1] if extent in {node.extent for node in folds}]
    if any(steps(store, axis) != 1 for store in kernel.stores for axis in rows):
        return False
    held = kept_of_rows(kernel, folds)
    wide = machine.vector_bits >= LEAST_BITS and {32, 64} <= machine.masked_bits
    kept = [node for node in folds if held is not None and node is held[0]]
    return wide and all((cheap(node) or node in kept) and not isinstance(node.reducer, OwnName) for node in folds)


def _open(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that run the remaining loops, all of `bound` being known."""
    (axis, low, high), *inner = loops
    placed = place(roots_of(kernel.stores), machine, bound, done)
    if len(inner) == 1 and kernel.runs and (columns := _running(kernel, machine, loops, bound, done)):
        return [*placed, columns]
    if made := onward(kernel, machine, loops, bound, done, partial(_stored, machine)):
        return [*placed, made]
    folds = _across(kernel, loops, bound)
    saved = [] if folds or not inner else _columns(kernel, loops, bound)
    if folds or saved:
        return [*placed, *_save(kernel, machine, loops, bound, done, folds, saved)]
    if len(inner) == 1 and (tile := tile_of(kernel, machine, axis, inner[0][0], bound)):
        return [*placed, _tiled(kernel, tile, machine, loops, bound, done)]
    if not inner:
        placed, kernel = kept(kernel, machine, placed, axis, high)
        return [*placed, *_innermost(kernel, machine, axis, low, high, bound, done)]
    return [*placed, Loop(axis, high, tuple(_open(kernel, machine, inner, bound | {axis}, done)), low)]


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


# Columns: what depends on the innermost axis, but on none of the loops still to open, would be computed again for every row.

STRIP_BYTES = 8192  # of a row of accumulators; from 32 KiB for all of them on less
BLOCK = 2048  # elements of scratch for a saved value
MAX_COLUMNS = 4  # saved values: 64 KiB of stack at most, where some threads have 128
BY_COLUMNS = (
    3,
    10,
)  # elements of a short row, of what is cheap and dear: up to here it is stored by columns, whose lanes are all in use
SHORT_ROWS = 256  # that are read again before they leave the first cache


def _columns(
    kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local], folds: Collection[Fold] = ()
) -> list[Value]:
    """The largest dear values that need no axis but the innermost one and those bound; whatever is made of `folds` is dear."""
    axis = loops[-1][0]
    if not _by_columns(kernel, axis, bound):
        return []
    found: list[Value] = []
    seen, stack = set[Value](), [store.value for store in kernel.stores]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op) or axis not in node.free:
            continue
        seen.add(node)
        made_of = any(n in folds for n in walk(node)) if folds else False
        if node.free <= bound | {axis} and (made_of or cost_of(node) >= DEAR):
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return sorted(found, key=cost_of, reverse=True)[:MAX_COLUMNS]


def _by_columns(kernel: Kernel, axis: Axis, bound: frozenset[Axis | Local]) -> bool:
    within = any(isinstance(x, Local) for x in bound)  # there is a block of columns already
    return not (axis is ONE or kernel.reverse or within or cuts_of(kernel.stores, axis))


def _across(kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local]) -> list[Fold]:
    """The folds across rows that can be computed here for all columns, inner ones first."""
    axis = loops[-1][0]
    if not _by_columns(kernel, axis, bound):
        return []
    folds = folds_of(*(store.value for store in kernel.stores))
    return [node for node in folds if axis in node.free and node.free <= bound | {axis}]


def _save(
    kernel: Kernel,
    machine: Machine,
    loops: list[Bounds],
    bound: frozenset[Axis | Local],
    done: set[Value],
    folds: list[Fold],
    saved: list[Value],
) -> list[Stmt]:
    """The nest that computes `folds` and `saved` before the remaining outer loops, a block of the innermost axis at a time."""
    axis, _, extent = loops[-1]
    start, end, width = local("start", INDEX), local("end", INDEX), local("width", INDEX)
    sizes = [dtype.itemsize for node in folds for dtype in node.dtypes]
    room = max(STRIP_BYTES // 4, STRIP_BYTES // max(1, len(sizes) // 4))
    block = (
        SHORT_ROWS // max(1, kernel.short // 32)
        if kernel.short
        else min((room // size for size in sizes), default=BLOCK)
    )
    within, inside = bound | {start, end, width}, set(done)
    again: dict[Value, Value] = {}
    kept: list[tuple[Leaf, Value]] = []
    body: list[Stmt] = []
    held = kept_of_rows(kernel, folds) if _keeps_rows(kernel, machine, loops) else None
    for node in folds:
        if held and node is held[0]:
            (row, _, n), store = loops[-2], held[1]
            first = replace(kernel, stores=(replace(store, value=substitute(store.value, again)),))
            body += _whole(_open(first, machine, [*loops[:-2], (axis, start, end), loops[-2]], within, set(inside)))
            here = load(store.leaf, store.offset)
            again |= {
                substitute(x, {row: k}): substitute(here, {row: k}) for x in (store.value,) for k in (row, node.axis)
            }
        into = tuple(Leaf(f"column{len(kept) + k}", dtype) for k, dtype in enumerate(node.dtypes))
        if kernel.short or folds_inside(node):  # a strip would hold copies of copies
            pairs = zip(into, components(node), strict=True)
            stores = tuple(Store(leaf, axis - start, substitute(x, again)) for leaf, x in pairs)
            body += loop_over(kernel, machine, axis, start, end, stores, within, inside)
        else:
            strip = Stripping(kernel, machine, axis, extent, start, end, width, within, inside)
            body.append(strip.of(node, [substitute(x, again) for x in node.bodies], into))
        again |= {x: load(leaf, axis - start) for leaf, x in zip(into, components(node), strict=True)}
        kept += zip(into, components(node), strict=True)
    if folds and len(loops) > 1:
        saved = _columns(kernel, loops, bound, folds)
    scratch = [Leaf(f"column{len(kept) + n}", value.dtype) for n, value in enumerate(saved)]
    if saved:
        values = [substitute(value, again) for value in saved]
        fill = tuple(Store(leaf, axis - start, value) for leaf, value in zip(scratch, values, strict=True))
        body += loop_over(kernel, machine, axis, start, end, fill, within, inside)
        again |= {v: load(leaf, axis - start) for leaf, v in zip(scratch, saved, strict=True)}
        kept += zip(scratch, saved, strict=True)
    kernel = _with(kernel, again)
    columns = [*loops[:-1], (axis, start, end)]
    if kernel.short and len(loops) > 1 and _by_rows(kernel, machine, loops):
        (inner, _, n), dear = loops[-2], sum(cost_of(store.value) for store in kernel.stores) >= DEAR
        longer = TRUE if kernel.short > SHORT[0] else apply("greater", n, index(BY_COLUMNS[dear]))
        rows = (axis, start, end if longer is TRUE else apply("where", longer, end, start))
        stored = _open(kernel, machine, [*loops[:-2], rows, loops[-2]], within, set(inside))
        body += _whole(stored) if longer is TRUE and any(node.extent is n for node in folds) else stored
        columns = (
            [] if longer is TRUE else [*loops[:-2], (inner, index(0), apply("where", longer, index(0), n)), columns[-1]]
        )
    rest = _stored(machine, kernel, columns, within, inside) if columns else []
    runs = not (kernel.short or kernel.reverse)
    body += running_on(rest, axis, start, end, [leaf for leaf, _ in kept]) if runs else rest
    twice = len(folds) > 1 or len(loops) > 1
    value = held[1].value if held else None
    return [Columns(axis, extent, start, end, block, tuple(kept), tuple(body), width, twice, value)]


def _whole(stmts: Iterable[Stmt]) -> list[Stmt]:
    """Loops over rows that have at least half as many elements as the kernel is for."""

    def whole(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Vector):
            return replace(stmt, whole=stmt.short)
        return replace(stmt, body=tuple(_whole(stmt.body))) if isinstance(stmt, Loop) else stmt

    return list(map(whole, stmts))


def _keeps_rows(kernel: Kernel, machine: Machine, loops: list[Bounds]) -> bool:
    """Whether rows are short, and long enough to be stored one by one."""
    return (
        kernel.short > SHORT[0]
        and len(loops) > 1
        and loops[-2][:1] == kernel.axes[-2][:1]
        and _by_rows(kernel, machine, loops)
    )


MOST_REPEATED = 6  # values that are repeated
REPEATED = 1024  # elements of each


def _running(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> Columns | None:
    """The nest of rows of few columns that run on: what all rows, or all columns, have in common is repeated in scratch."""
    (row, _, _), (axis, _, extent) = loops
    if not _by_columns(kernel, axis, bound):
        return None
    columns, rows = repeated(kernel.stores, bound, row, axis)
    if len(columns) + len(rows) > MOST_REPEATED:
        return None
    start, end, width = local("start", INDEX), local("end", INDEX), local("width", INDEX)
    within, inside = bound | {start, end, width}, set(done)
    leaves = [Leaf(f"column{n}", value.dtype) for n, value in enumerate((*columns, *rows))]
    fill = tuple(Store(leaf, axis - start, value) for leaf, value in zip(leaves, columns, strict=False))
    before = loop_over(kernel, machine, axis, start, end, fill, within, inside) if fill else []
    kernel = _with(kernel, {v: load(leaf, axis - start) for leaf, v in zip(leaves, (*columns, *rows), strict=True)})
    rest = running_on(_open(kernel, machine, [loops[0], (axis, start, end)], within, inside), axis, start, end, leaves)
    *known, loop = rest
    if not isinstance(loop, Loop) or not loop.runs:
        return None
    spread = tuple(zip(leaves[len(columns) :], rows, strict=True))
    body = (*before, *known, replace(loop, spread=spread))
    saved = tuple(zip(leaves, (*columns, *rows), strict=True))
    return Columns(axis, extent, start, end, REPEATED, saved, body, width)


def _by_rows(kernel: Kernel, machine: Machine, loops: list[Bounds]) -> bool:
    """Whether what is made of short rows can be stored row by row, in masked steps."""
    axis, low, high = loops[-2]
    return vector_over(kernel, machine, axis, low, high, kernel.stores).masked


def _with(kernel: Kernel, values: dict[Value, Value]) -> Kernel:
    return replace(
        kernel, stores=tuple(replace(store, value=substitute(store.value, values)) for store in kernel.stores)
    )


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
    start, end = local("start", INDEX), local("end", INDEX)
    names: dict[Value, Local] = {cut.original: local(f"at{n}", cut.original.dtype) for n, cut in enumerate(cuts)}
    at_start: dict[Value, Value] = {axis: start}
    known = tuple(
        (names[c.original], substitute(substitute(c.original, others(names, c.original)), at_start)) for c in cuts
    )
    changes = tuple(substitute(cut.change(names[cut.original]), dict(names)) for cut in cuts)
    stores = tuple(rename(store, dict(names)) for store in kernel.stores)
    vector = vector_over(kernel, machine, axis, start, end, stores)
    within = bound | {start, end} | set(names.values())
    inside = set(done)
    body = [
        *place(roots_of(stores), machine, within, inside),
        *affine_lets(vector, machine, within, inside),
        vector,
    ]
    outside = place([*changes, *(value for _, value in known)], machine, bound, done)
    return [*outside, Pieces(axis, extent, start, end, known, changes, tuple(body))]
