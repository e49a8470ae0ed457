"""What is stored from a block of columns reads them once more, while little else comes from memory: meanwhile the next block is fetched, or the
same columns of the next index of an outer axis. Of a block that does not stay in the caches the next rows are, where they are apart.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from math import prod
from typing import TypeGuard

from .derived import apply
from .folds import folds_of
from .ir import FALSE, TRUE, Axis, Fold, Leaf, Load, Local, Value, both, index, load, negation
from .kernel import Kernel
from .nest import FIRST, Columns, Fetch, Let, Loop, Reduce, Stmt, Vector
from .pairs import lines_of
from .placing import forms
from .reducers import reducer_of
from .rewrite import affine, steps, substitute
from .tiles import Bounds
from .vectors import FAR_BYTES, computed

NEAR_BYTES = 256 << 10  # of a block, so that the next one has room in the second cache beside it
AHEAD_BYTES = 32 << 10  # of rows that run on
SOON_BYTES = 1 << 10  # so much further lies what is brought from the second cache into the first one
ON_FURTHER = 8 << 10  # bytes: so much further lies what is fetched of it, for each tensor
ON_BYTES = (
    2 << 20
)  # of what is folded: beyond it what runs on is fetched (1.05 to 1.2 times; 0.9 times from the second cache)
ROWS = 4  # of a larger block
UPWARDS_BYTES = 384, 1280  # of a row that is read from its end, and that the processor sees coming upwards only
NEAR_ROW = 16  # elements: what is only folded of more takes so little time that the first cache cannot ask for as many lines at once
STORED_ROW = 24  # elements: of more that are stored the processor sees enough by itself, while one is computed


def fetched_early(
    stmts: Sequence[Stmt],
    kernel: Kernel,
    loops: Sequence[Bounds],
    bound: frozenset[Axis | Local],
    columns: tuple[Local, Local, Local],
) -> list[Stmt]:
    """The statements that store, of which loops over the columns, from the first to the second of `columns` of a width that is the third,
    fetch what is read later.
    """
    if kernel.reverse or kernel.few or not folds_of(*(store.value for store in kernel.stores)):
        return list(stmts)
    axis, size = loops[-1][0], kernel.stores[0].leaf.itemsize
    block = prod((high for _, _, high in loops[:-1]), start=apply("minimum", columns[2], loops[-1][2]))
    near = block < NEAR_BYTES // size
    far = kernel.far(kernel.every, FAR_BYTES // size)
    following, known = _following(kernel, loops, bound, columns, near), bound.union(columns, (a for a, *_ in loops))

    def within(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt, Loop):
            return [replace(stmt, body=tuple(s for inner in stmt.body for s in within(inner)))]
        if not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.axis is not axis or stmt.groups:
            return [stmt]
        loads = [x for x in computed([s.value for s in stmt.stores], axis) if isinstance(x, Load) and x.when is None]
        loads = [x for x in loads if x.offset.free <= known]  # not those of a fold that is computed there
        loads = lines_of(x for x in loads if x.leaf in kernel.leaves and steps(x, axis) in (1, -1, 2))
        ahead = tuple(dict.fromkeys(load(x.leaf, substitute(x.offset, following)) for x in loads))
        return _with(stmt, ahead, both(far, _either(near, _apart(loads, loops)))) if ahead else [stmt]

    return [s for stmt in stmts for s in within(stmt)]


def next_row(
    stmt: Stmt, placed: Sequence[Stmt], kernel: Kernel, axis: Axis, extent: Value, bound: Container[Axis | Local]
) -> list[Stmt]:
    """The loop that stores a row, which fetches the next one where rows do not run on: what is read by the folds of a row, `placed` before
    it, or where there are no folds by the loop itself.
    """
    loops = [(a, index(0), high) for a, high in kernel.axes if a in bound]
    if kernel.reverse or not loops or not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.groups:
        return [stmt]
    row, size = loops[-1][0], kernel.stores[0].leaf.itemsize
    values = [s.value for s in stmt.stores]
    loads = [] if folds_of(*values) else [x for x in computed(values, axis) if _fetchable(x, [row], axis, bound)]
    for folds in (s.folds for s in placed if isinstance(s, Reduce) and s.lanes > 1 and s.extent is extent):
        along = folds[0].axis
        found = [x for node in folds for x in computed(node.bodies, along) if _fetchable(x, [row], along, bound)]
        loads += [load(x.leaf, substitute(x.offset, {along: axis})) for x in found]
    ahead = tuple(dict.fromkeys(load(x.leaf, substitute(x.offset, {row: row + 1})) for x in lines_of(loads)))
    far = both(kernel.far(kernel.every, FAR_BYTES // (size * max(kernel.down, 1))), extent < NEAR_BYTES // size)
    apart = _apart(loads, [loops[-1], (axis, index(0), extent)])
    if not ahead or apart is FALSE:
        return [stmt]
    upwards, when = _upwards(lines_of(loads), axis, extent, both(far, apart))
    return [*upwards, *_with(stmt, ahead, when)]


def next_rows(stmts: Sequence[Stmt], kernel: Kernel, rows: Axis, further: Value) -> list[Stmt]:
    """Loops that store short rows, which fetch what is read, and stored, so many rows `further`."""
    far = kernel.far(kernel.every, FAR_BYTES // kernel.stores[0].leaf.itemsize)

    def within(stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt, Loop | Columns):
            return [replace(stmt, body=tuple(s for inner in stmt.body for s in within(inner)))]
        if not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.groups:
            return [stmt]
        loads = [x for x in computed([s.value for s in stmt.stores], stmt.axis) if isinstance(x, Load)]
        loads = [x for x in loads if x.when is None and x.leaf in kernel.leaves]
        places = [*(x for x in loads if steps(x, stmt.axis) == 1), *(load(s.leaf, s.offset) for s in stmt.stores)]
        places = lines_of(places)
        ahead = tuple(dict.fromkeys(load(x.leaf, substitute(x.offset, {rows: rows + further})) for x in places))
        return _with(stmt, ahead, far)

    return [s for stmt in stmts for s in within(stmt)]


def folded_rows(placed: Sequence[Stmt], kernel: Kernel, bound: Container[Axis | Local]) -> list[Stmt]:
    """What is `placed` before a single store: the first fold of a row fetches what it reads some rows later, where rows do not run on, else what lies behind
    what it reads; but not an extreme `alone`, which gains nothing by that.
    """
    loops = [(a, index(0), high) for a, high in kernel.axes if a in bound]
    where = [n for n, s in enumerate(placed) if isinstance(s, Reduce) and s.lanes > 1]
    if kernel.reverse or kernel.cached:
        return list(placed)
    if not loops:
        return [x for s in placed for x in _fetching_on(s, kernel, FALSE)]
    if not where:
        return list(placed)
    stmt, rows = placed[where[0]], [loop[0] for loop in loops[-1:]]
    assert isinstance(stmt, Reduce), "a fold"
    found = (
        x for node in stmt.folds for x in computed(node.bodies, stmt.axis) if _fetchable(x, rows, stmt.axis, bound)
    )
    loads = lines_of(found)
    apart = _apart(loads, [*loops[-1:], (stmt.axis, index(0), stmt.extent)])
    before, after = placed[: where[0]], placed[where[0] + 1 :]
    alone = stmt.chains > 1 and not any(reducer_of(node.reducer).extreme for node in stmt.folds)
    if not loads or apart is FALSE:
        return list(placed) if alone else [*before, *_fetching_on(stmt, kernel, FALSE), *after]
    size = max(x.leaf.itemsize for x in loads)
    elements = index(AHEAD_BYTES // size)
    further = apply(
        "where", stmt.extent < elements // ROWS, index(2 * ROWS), index(1)
    )  # a division would be seen beside a short row
    near = apply("logical_and", apart, stmt.extent < NEAR_BYTES // size)
    ahead = tuple(load(x.leaf, substitute(x.offset, {row: row + further for row in rows})) for x in loads)
    when = both(kernel.every * stmt.extent >= FAR_BYTES // size, near)
    upwards, when = _upwards(loads, stmt.axis, stmt.extent, when)
    fetching = replace(stmt, ahead=ahead, far=when)  # what that needs is computed there, where it is far
    every = [fetching] if alone else _fetching_on(fetching, kernel, near)
    return [*before, *upwards, Let(when, early=True), *every, *after]


def _upwards(loads: Iterable[Load], axis: Axis, extent: Value, when: Value) -> tuple[list[Stmt], Value]:
    """What fetches rows that are read from their ends, where they are short, from their lowest addresses on; and `when` others are fetched."""
    found = [load(x.leaf, substitute(x.offset, {axis: extent - 1})) for x in loads if steps(x, axis) == -1]
    if not found:
        return [], when
    size = max(x.leaf.itemsize for x in found)
    short, few = extent < 1 + UPWARDS_BYTES[1] // size, extent < UPWARDS_BYTES[0] // size
    low = both(both(when, short), negation(few))
    return [Let(low, early=True), Fetch(tuple(found), low, extent, FIRST)], both(when, negation(short))


def _fetching_on(stmt: Stmt, kernel: Kernel, near: Value) -> list[Stmt]:
    """A fold that fetches what lies behind what it reads where it folds much, and rows run on: where they are not `near`. What that needs is known
    before it.
    """
    if not isinstance(stmt, Reduce):
        return [stmt]
    if stmt.body:  # a fold of rows inside of one over them
        inside = [
            _fetching_on(s, replace(kernel, axes=((stmt.axis, stmt.extent), *kernel.axes)), _near(stmt, s))
            for s in stmt.body
        ]
        return [*(s for part in inside for s in part[:-1]), replace(stmt, body=tuple(part[-1] for part in inside))]
    loads, little = _read(stmt), stmt.steps > 1 or stmt.chains > 1
    if (
        stmt.lanes == 1 or not little or not loads or stmt.extent.free
    ):  # not a part of a row, whose length is known in a loop
        return [stmt]
    many = kernel.every * stmt.extent
    on = both(many >= ON_BYTES // max(x.leaf.itemsize for x in loads), TRUE if near is FALSE else negation(near))
    return [Let(on, early=True), replace(stmt, on=on)]


def _near(outer: Reduce, stmt: Stmt) -> Value:
    """Whether what a fold inside of another one reads does not run on."""
    if not isinstance(stmt, Reduce):
        return TRUE
    return _apart(_read(stmt), [(outer.axis, index(0), outer.extent), (stmt.axis, index(0), stmt.extent)])


def _read(stmt: Reduce) -> list[Load]:
    return [x for x in computed([b for node in stmt.folds for b in node.bodies], stmt.axis) if isinstance(x, Load)]


def packed_rows(
    stmt: Stmt, many: int, axis: Axis, extent: Value, kernel: Kernel, outer: Sequence[Axis] = ()
) -> list[Stmt]:
    """The loop along packed rows of `many` elements, each of which is read by columns: it fetches what comes two pages later, if so many follow, or those of the next
    index of the last of the `outer` axes do. Where it is the target that has such rows, what is read are as many longer ones: fetched as they lie, not as they are
    read. There are as many rows as the `kernel` has elements in all loops and pieces.
    """
    if not isinstance(stmt, Vector) or stmt.lanes == 1 or not many:
        return [stmt]
    loads = [x for x in computed([s.value for s in stmt.stores], axis) if isinstance(x, Load) and x.when is None]
    rows = {x.leaf: x.offset for x in lines_of(loads) if steps(x, axis) == many}
    follow: Value = extent >= ON_FURTHER // (many * max((x.itemsize for x in rows), default=1))
    if not rows and outer:
        first = {x.leaf: x for x in reversed(loads) if steps(x, axis) == 1}
        rows, follow = {x.leaf: substitute(x.offset, {axis: axis * many}) for x in lines_of(first.values())}, FALSE
    if not rows:
        return [stmt]
    nbytes = many * max(leaf.itemsize for leaf in rows)
    shifts: dict[Axis, Value] = {axis: index(ON_FURTHER // nbytes)}
    far = kernel.far(kernel.every, FAR_BYTES // nbytes)
    if outer and (run_on := _run_on(rows, outer[-1], extent, many)) is not None:
        on_it, further = _either(follow, run_on), _rows_on(ON_FURTHER // nbytes, extent)
        aside = index(0)  # indices of the last outer axis that are none, as what lies behind is of the one before
        if len(outer) > 1 and (next_one := _run_on(rows, outer[-2], extent, many)) is not None:
            aside = apply("where", both(next_one, negation(on_it)), further, index(0))
            shifts[outer[-2]] = aside
        shifts |= {
            axis: apply("where", on_it, shifts[axis], index(0)),
            outer[-1]: apply("where", on_it, index(0), further) - aside,
        }
        follow = TRUE
    if follow is FALSE:
        return [stmt]
    there: dict[Value, Value] = {a: a + shift for a, shift in shifts.items()}
    ahead = tuple(load(leaf, substitute(offset, there)) for leaf, offset in rows.items())
    stored = any(steps(store, axis) == many for store in stmt.stores)
    if stored and many > STORED_ROW:
        return [stmt]
    return _with(replace(stmt, near=not outer and (stored or many <= NEAR_ROW)), ahead, both(far, follow))


def _run_on(rows: Mapping[Leaf, Value], axis: Axis, extent: Value, many: int) -> Value | None:
    """Whether rows of so many elements follow those of the index of an outer axis before; None where some lie at no regular distances."""
    forms = [(leaf, affine(offset, axis)) for leaf, offset in rows.items()]
    on = [apply("equal", form[0], extent * (many * (1 + leaf.pairs))) for leaf, form in forms if form]
    return reduce(both, on) if len(on) == len(forms) else None


def lying_rows(stmt: Stmt, kernel: Kernel, axis: Axis, extent: Value, bound: Container[Axis | Local]) -> list[Stmt]:
    """The loop along rows that are written out, which fetches what lies two pages behind: of the next outer indices where rows are short; along rows where what
    it stores is wider than what it reads, half a line at a time and not in order, and nothing else, as the processor sees that by itself.
    """
    outer = [a for a, _ in kernel.axes if a in bound]
    if not isinstance(stmt, Vector) or stmt.lanes == 1 or stmt.groups:
        return []
    loads = (x for x in computed([s.value for s in stmt.stores], axis) if isinstance(x, Load) and x.when is None)
    wide = min(store.leaf.itemsize for store in stmt.stores)
    found = lines_of(x for x in loads if steps(x, axis) == 1 and x.leaf in kernel.leaves)
    if not outer:
        found = [x for x in found if x.leaf.itemsize < wide]
    if not found:
        return []
    size = max(x.leaf.itemsize for x in found)
    along, on = extent >= ON_FURTHER // wide, ON_FURTHER // size
    there: dict[Value, Value]
    far = kernel.far(kernel.every, FAR_BYTES // (kernel.down * max(wide, size)))
    if not outer:
        far, there = both(far, along), {axis: axis + on}
    elif size < wide:
        rows = _rows_on(on // kernel.down, extent)
        shifts = apply("where", along, index(on), index(0)), apply("where", along, index(0), rows)
        there = {axis: axis + shifts[0], outer[-1]: outer[-1] + shifts[1]}
    else:
        far, there = both(far, negation(along)), {outer[-1]: outer[-1] + _rows_on(on // kernel.down, extent)}
    ahead = tuple(load(x.leaf, substitute(x.offset, there)) for x in found)
    return _with(stmt, ahead, far)


def _rows_on(elements: int, extent: Value) -> Value:
    """How many rows so many elements come to: one at least."""
    return apply("maximum", index(elements) // apply("maximum", extent, index(1)), index(1))


def _with(stmt: Vector, ahead: tuple[Load, ...], far: Value) -> list[Stmt]:
    """A loop that fetches `ahead` where it is `far`, after what that needs."""
    if far is FALSE:
        return [stmt]
    lets = [Let(value, early=True) for value in forms(ahead, stmt.axis) if value.free]
    return [*lets, Let(far, early=True), replace(stmt, ahead=ahead, far=far)]


def _fetchable(x: Value, rows: Sequence[Axis], axis: Axis, bound: Container[Axis | Local]) -> TypeGuard[Load]:
    """Whether a value is read from each row, in lines along an axis, and for no other: not by a fold of columns inside of another one."""
    if not isinstance(x, Load) or x.when is not None or not x.offset.free.issuperset(rows):
        return False
    if not all(a is axis or a in bound for a in x.offset.free):
        return False
    return steps(x, axis) in (1, -1, 2)


def _following(
    kernel: Kernel,
    loops: Sequence[Bounds],
    bound: frozenset[Axis | Local],
    columns: tuple[Local, Local, Local],
    near: Value,
) -> dict[Value, Value]:
    """Where what is fetched lies: the next block of columns, of the last one the first of the next outer index; or some rows further."""
    (start, end, width), (axis, _, extent) = columns, loops[-1]
    outer, more = [a for a, _ in kernel.axes if a in bound], end < extent
    shifts: dict[Axis, Value] = {axis: apply("where", more, width, 0 - start) if outer else width}
    if outer:
        shifts[outer[-1]] = apply("where", more, index(0), index(1))
    shifts = {a: apply("where", near, shift, index(0)) for a, shift in shifts.items()}
    if len(loops) > 1:
        shifts[loops[-2][0]] = apply("where", near, index(0), index(ROWS))
    return {a: a + shift for a, shift in shifts.items()}


def _apart(loads: Sequence[Load], loops: Sequence[Bounds]) -> Value:
    """Whether rows do not run on, so that the processor would not see the next one coming."""
    if len(loops) < 2:
        return FALSE
    (row, *_), (axis, _, extent) = loops[-2:]
    forms_of = {x: affine(x.offset, row) for x in loads if row in x.offset.free}
    if any(steps(x, axis) != 1 for x in forms_of):
        return TRUE
    found = [
        apply("not_equal", form[0], extent * (1 + x.leaf.pairs)) for x, form in forms_of.items() if form is not None
    ]
    return reduce(partial(apply, "logical_or"), found) if found else FALSE


def begins_behind(loads: Iterable[Load], outer: Axis, node: Fold) -> Value:
    """Whether behind the last row that is folded the first one of the next outer index lies, in all that is read."""
    found: Value = TRUE
    for x in loads:
        step, row = affine(x.offset, outer), affine(x.offset, node.axis)
        found = both(found, apply("equal", step[0], row[0] * node.extent) if step and row else FALSE)
    return found


def _either(a: Value, b: Value) -> Value:
    return b if b is TRUE else a if b is FALSE else apply("logical_or", a, b)
