"""From a kernel to a loop nest.

The last axis of a kernel is its innermost loop. What needs no inner axis is computed outside of it: a Let at the outermost loop
that binds all of its axes. What needs the innermost axis alone, and is dear, is saved before the outer loops. A guard or a
quotient of the innermost axis is made constant by cutting the axis into pieces: within a piece `i >= 3` is true or false and
`i // 4` is a number, so every load is affine and an unpadded row stays a row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .derived import TABLE, apply
from .dtypes import BOOL, INDEX
from .folds import combined, folds_of, vector_axis
from .ir import (
    Axis,
    Component,
    Const,
    Fold,
    Kernel,
    Leaf,
    Load,
    Local,
    Op,
    Param,
    Size,
    Store,
    Value,
    components,
    const,
    index,
    load,
    local,
)
from .nest import ONE, Columns, Let, Loop, Machine, Nest, Pieces, Reduce, Stmt, Strip, Vector
from .reducers import halved, identities, reducer_of
from .rewrite import affine, eager, substitute, walk


def schedule(kernel: Kernel, machine: Machine) -> Nest:
    """The loop nest of `kernel` for `machine`."""
    then = schedule(kernel.then, machine) if kernel.then else None
    loops = [(axis, index(0), extent) for axis, extent in kernel.axes]
    if vector_axis(kernel) is None:
        loops.append((ONE, index(0), index(1)))
    return Nest(kernel, tuple(_open(kernel, machine, loops, frozenset(), set())), then)


Bounds = tuple[Axis, Value, Value]  # an axis, from and to


def _open(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that run the remaining loops, all of `bound` being known."""
    (axis, low, high), *inner = loops
    placed = _place(_roots(kernel.stores), machine, bound, done)
    folds = _across(kernel, loops, bound)
    saved = [] if folds or not inner else _columns(kernel, loops, bound)
    if folds or saved:
        return [*placed, *_save(kernel, machine, loops, bound, done, folds, saved)]
    if not inner:
        return [*placed, *_innermost(kernel, machine, axis, low, high, bound, done)]
    return [*placed, Loop(axis, high, tuple(_open(kernel, machine, inner, bound | {axis}, done)))]


def _roots(stores: Iterable[Store]) -> list[Value]:
    return [value for s in stores for value in (s.offset, s.value)]


# Columns: what depends on the innermost axis, but on none of the loops still to open, would be computed again for every row.

STRIP_BYTES = 8192  # of a row of accumulators; from 32 KiB for all of them on less
FAR_BYTES = (
    8 << 20
)  # of what is folded: beyond it the next rows are fetched early (1.5 times from memory; 0.85 times from a cache)
BLOCK = 2048  # elements of scratch for a saved value
MAX_COLUMNS = 4  # saved values: 64 KiB of stack at most, where some threads have 128
SHORT_ROWS = 256  # that are read again before they leave the first cache
CHAINS = 4
DEAR = 15  # additions; what costs less is computed again sooner than saved


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
        if node.free <= bound | {axis} and (made_of or _cost(node) >= DEAR):
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return sorted(found, key=_cost, reverse=True)[:MAX_COLUMNS]


def _by_columns(kernel: Kernel, axis: Axis, bound: frozenset[Axis | Local]) -> bool:
    within = any(isinstance(x, Local) for x in bound)  # there is a block of columns already
    return not (axis is ONE or kernel.reverse or within or _cuts(kernel.stores, axis))


def _across(kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local]) -> list[Fold]:
    """The folds across rows that can be computed here for all columns, inner ones first."""
    axis = loops[-1][0]
    if not _by_columns(kernel, axis, bound):
        return []
    folds = folds_of(*(store.value for store in kernel.stores))
    return [node for node in folds if axis in node.free and node.free <= bound | {axis}]


def _cost(node: Value) -> int:
    ops = [n for n in walk(node) if isinstance(n, Op) and n.free and n.op in TABLE]
    return sum(TABLE[n.op].cost for n in ops)


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
    block = SHORT_ROWS if kernel.short else min((room // size for size in sizes), default=BLOCK)
    within, inside = bound | {start, end, width}, set(done)
    again: dict[Value, Value] = {}
    kept: list[tuple[Leaf, Value]] = []
    body: list[Stmt] = []
    for node in folds:
        into = tuple(Leaf(f"column{len(kept) + k}", dtype) for k, dtype in enumerate(node.dtypes))
        if kernel.short or _folds_inside(node):  # a strip would hold copies of copies
            pairs = zip(into, components(node), strict=True)
            stores = tuple(Store(leaf, axis - start, substitute(x, again)) for leaf, x in pairs)
            body += _loop_over(kernel, machine, axis, start, end, stores, within, inside)
        else:
            strip = _Stripping(kernel, machine, axis, extent, start, end, width, within, inside)
            body.append(strip.of(node, [substitute(x, again) for x in node.bodies], into))
        again |= {x: load(leaf, axis - start) for leaf, x in zip(into, components(node), strict=True)}
        kept += zip(into, components(node), strict=True)
    if folds and len(loops) > 1:
        saved = _columns(kernel, loops, bound, folds)
    scratch = [Leaf(f"column{len(kept) + n}", value.dtype) for n, value in enumerate(saved)]
    if saved:
        values = [substitute(value, again) for value in saved]
        fill = tuple(Store(leaf, axis - start, value) for leaf, value in zip(scratch, values, strict=True))
        body += _loop_over(kernel, machine, axis, start, end, fill, within, inside)
        again |= {v: load(leaf, axis - start) for leaf, v in zip(scratch, saved, strict=True)}
        kept += zip(scratch, saved, strict=True)
    kernel = _with(kernel, again)
    body += _open(kernel, machine, [*loops[:-1], (axis, start, end)], within, inside)
    twice = len(folds) > 1 or len(loops) > 1
    return [Columns(axis, extent, start, end, block, tuple(kept), tuple(body), width, twice)]


def _with(kernel: Kernel, values: dict[Value, Value]) -> Kernel:
    return replace(
        kernel, stores=tuple(replace(store, value=substitute(store.value, values)) for store in kernel.stores)
    )


def _loop_over(
    kernel: Kernel,
    machine: Machine,
    axis: Axis,
    low: Value,
    high: Value,
    stores: tuple[Store, ...],
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    """A vector loop, after what it needs."""
    vector = _vector(kernel, machine, axis, low, high, stores)
    placed = _place(_roots(stores), machine, bound, done)
    return [*placed, *_affine_lets(vector, machine, bound, done), vector]


@dataclass(frozen=True)
class _Stripping:
    """Makes Strips over the columns `start` to `end` of an axis."""

    kernel: Kernel
    machine: Machine
    axis: Axis
    extent: Value
    start: Local
    end: Local
    width: Local
    bound: frozenset[Axis | Local]
    done: set[Value]

    def of(self, node: Fold, bodies: Sequence[Value], into: tuple[Leaf, ...]) -> Strip:
        """The strip of a fold, its `bodies` in terms of what was saved before."""
        order = node.order
        assert order is not None, "a scheduled fold has an order"
        waiting, top = tuple(Leaf(f"{leaf.name}_waiting", leaf.dtype) for leaf in into), local("top", INDEX)
        rows = tuple(local(f"row{n}", INDEX) for n in range(order.lanes))
        there = tuple(local(f"there{n}", BOOL) for n in range(order.lanes))
        at = self.axis - self.start
        numbers = zip(identities(reducer_of(node.reducer), node.dtypes), node.dtypes, strict=True)
        identity = tuple(const(number, dtype) for number, dtype in numbers)
        sums = tuple(load(leaf, at) for leaf in into)

        def combine(a: Sequence[Value], b: Sequence[Value]) -> Sequence[Value]:
            return combined(node, a, b)

        group: list[Sequence[Value]] = [tuple(substitute(body, {node.axis: r}) for body in bodies) for r in rows]
        ahead = self._ahead(group, rows)
        far = node.extent * self.extent >= FAR_BYTES // max((x.dtype.itemsize for x in ahead), default=1)
        rest = [group[0]]
        for t, xs in zip(there[1:], group[1:], strict=True):
            rest.append(tuple(apply("where", t, x, nothing) for x, nothing in zip(xs, identity, strict=True)))
        above = top * self.width + at
        return Strip(
            node.axis, node.extent, node, into, waiting, rows, there, top,
            first=self._loop(into, at, identity),
            body=self._loop(into, at, combine(sums, halved(group, combine)), *rows, ahead=ahead, far=far),
            rest=self._loop(into, at, combine(sums, halved(rest, combine)), *rows, *there),
            pair=self._loop(into, at, combine(tuple(load(leaf, above) for leaf in waiting), sums), top),
            keep=self._loop(waiting, above, sums, top),
        )  # fmt: skip

    def _ahead(self, group: list[Sequence[Value]], rows: Sequence[Local]) -> tuple[Load, ...]:
        """What the group after the next one reads: lines in a row, of tensors."""
        found: list[Load] = []
        for bodies, row in zip(group, rows, strict=True):
            loads = (x for x in _computed(bodies, self.axis) if isinstance(x, Load) and x.leaf in self.kernel.leaves)
            late = [x for x in loads if row in x.offset.free and _coefficient(x.offset, self.axis) == 1]
            found += [load(x.leaf, substitute(x.offset, {row: row + 2 * len(rows)})) for x in late]
        return tuple(found)

    def _loop(
        self,
        leaves: tuple[Leaf, ...],
        offset: Value,
        values: Sequence[Value],
        *known: Local,
        ahead: tuple[Load, ...] = (),
        far: Value | None = None,
    ) -> tuple[Stmt, ...]:
        bound, done = self.bound | set(known), set(self.done)
        stores = tuple(Store(leaf, offset, value) for leaf, value in zip(leaves, values, strict=True))
        *before, vector = _loop_over(self.kernel, self.machine, self.axis, self.start, self.end, stores, bound, done)
        assert isinstance(vector, Vector)
        if not ahead or vector.lanes == 1:
            return (*before, vector)
        before += _place([*([far] if far else []), *_forms(ahead, self.axis)], self.machine, bound, done)
        return (*before, replace(vector, ahead=ahead, far=far))


def _innermost(
    kernel: Kernel,
    machine: Machine,
    axis: Axis,
    low: Value,
    extent: Value,
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    cuts = _cuts(kernel.stores, axis)
    if not cuts:
        return _loop_over(kernel, machine, axis, low, extent, kernel.stores, bound, done)
    start, end = local("start", INDEX), local("end", INDEX)
    names: dict[Value, Local] = {cut.original: local(f"at{n}", cut.original.dtype) for n, cut in enumerate(cuts)}
    at_start: dict[Value, Value] = {axis: start}
    known = tuple(
        (names[c.original], substitute(substitute(c.original, _others(names, c.original)), at_start)) for c in cuts
    )
    changes = tuple(substitute(cut.change(names[cut.original]), dict(names)) for cut in cuts)
    stores = tuple(_rename(store, dict(names)) for store in kernel.stores)
    vector = _vector(kernel, machine, axis, start, end, stores)
    within = bound | {start, end} | set(names.values())
    inside = set(done)
    body = [
        *_place(_roots(stores), machine, within, inside),
        *_affine_lets(vector, machine, within, inside),
        vector,
    ]
    outside = _place([*changes, *(value for _, value in known)], machine, bound, done)
    return [*outside, Pieces(axis, extent, start, end, known, changes, tuple(body))]


def _others(names: dict[Value, Local], own: Value) -> dict[Value, Value]:
    return {value: name for value, name in names.items() if value is not own}


def _rename(store: Store, names: dict[Value, Value]) -> Store:
    return replace(store, offset=substitute(store.offset, names), value=substitute(store.value, names))


# Cuts: guards and quotients of the innermost axis, +i or -i plus something else.


@dataclass(frozen=True)
class _Cut:
    original: Op
    sign: int
    rest: Value
    other: Value  # what the guard compares with, or the divisor

    def change(self, now: Value) -> Value:
        """The first index at which this is no longer what it is at the start of the piece, if that lies ahead."""
        if self.original.op == "floor_divide":
            return (now + 1) * self.other - self.rest if self.sign > 0 else self.rest - now * self.other + 1
        return self.other - self.rest if self.sign > 0 else self.rest - self.other + 1


def _cuts(stores: Iterable[Store], axis: Axis) -> list[_Cut]:
    """All guards and quotients that can be cut at, inner quotients first: an outer one is affine once they are known."""
    found: dict[Value, _Cut] = {}
    constant: dict[Value, Value] = {}
    roots = _roots(stores)
    folded = {node.axis for node in folds_of(*roots)}
    for node in walk(*roots):
        if not isinstance(node, Op) or axis not in node.free or node.free & folded or not _is_index_op(node):
            continue
        left, right = (substitute(arg, constant) for arg in node.args)
        form = affine(left, axis)
        if axis in right.free or form is None or not isinstance(form[0], Const) or abs(form[0].value) != 1:
            continue
        if form[0].value:
            found[node] = _Cut(node, int(form[0].value), form[1], right)
            constant[node] = local(f"cut{len(found)}", node.dtype)
    names = {constant[original]: original for original in found}
    back = dict[Value, Value](names)
    return [replace(c, rest=substitute(c.rest, back), other=substitute(c.other, back)) for c in found.values()]


def _is_index_op(node: Op) -> bool:
    compares = node.op in ("less", "greater_equal") and node.args[0].dtype is INDEX
    return compares or node.op == "floor_divide"


# Placing: what is free of the loops still to open, folds before what is computed from them.


def _place(roots: Iterable[Value], machine: Machine, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
    """The largest values below `roots` that need nothing but `bound`, marked as done."""
    placed: list[Stmt] = []
    seen, stack = set(done), list(reversed(list(roots)))
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Const | Param | Size | Axis | Local):
            continue
        seen.add(node)
        if node.free <= bound:
            _reduce(node, machine, bound, done, placed)
            if not isinstance(node, Fold | Component):
                placed.append(Let(node))
            done.add(node)
        else:
            stack.extend(reversed(node.children))
    return placed


def _reduce(
    root: Value, machine: Machine, bound: frozenset[Axis | Local], done: set[Value], placed: list[Stmt]
) -> None:
    """Place the folds that `root` is computed from, each after those it needs; neighbours over one axis share a pass."""
    for node in walk(root, into_folds=False):
        if not isinstance(node, Fold) or node in done:
            continue
        before = _place([node.extent, *node.bodies], machine, bound, done)
        inside = set(done)
        body = _place(node.bodies, machine, bound | {node.axis}, inside) if _folds_inside(node) else []
        lanes, masked = (1, False) if body else _lanes(machine, node)
        if lanes > 1:
            before += _place(_forms(node.bodies, node.axis), machine, bound, done)
        last = placed[-1] if placed else None
        reduce = Reduce(node.axis, node.extent, (node,), lanes, masked, tuple(body), _chains(node, lanes))
        if not before and isinstance(last, Reduce) and _alike(last, reduce):
            folds, fewer, chains = (*last.folds, node), min(last.lanes, lanes), min(last.chains, reduce.chains)
            placed[-1] = replace(last, folds=folds, lanes=fewer, masked=last.masked and masked, chains=chains)
        else:
            placed += [*before, reduce]
        done.add(node)


def _chains(node: Fold, lanes: int) -> int:
    """How many times the accumulators of its order a fold has: a maximum of floats takes six instructions that wait for each other."""
    exact = lanes > 1 and reducer_of(node.reducer).exact(node.dtype)
    return CHAINS if exact and _unroll(list(_computed(node.bodies, node.axis))) == CHAINS else 1


def _folds_inside(node: Fold) -> bool:
    return any(node.axis in inner.free for inner in folds_of(*node.bodies))


def _alike(a: Reduce, b: Reduce) -> bool:
    shared = a.extent is b.extent and a.axis is b.axis and a.folds[0].order == b.folds[0].order
    dependent = any(node in walk(*b.folds[0].bodies) for node in a.folds)
    return shared and not dependent and not a.body and not b.body and (a.lanes > 1) == (b.lanes > 1)


def _lanes(machine: Machine, node: Fold) -> tuple[int, bool]:
    """How many elements of its axis a fold takes at a time, and whether the last ones are masked."""
    nodes = [n for n in _computed(node.bodies, node.axis) if node.axis in n.free]
    loads = [n for n in nodes if isinstance(n, Load)]
    if not _by_lanes(nodes, loads, node.axis):
        return 1, False
    assert node.order is not None, "a scheduled fold has an order"
    dtypes = {n.dtype for n in (*node.bodies, *nodes) if n.dtype is not BOOL} | {n.dtype for n in loads}
    widest = max((dtype.bits for dtype in dtypes), default=8)
    unit = all(_coefficient(n.offset, node.axis) == 1 for n in loads)
    masked = unit and all(n.dtype.bits in machine.masked_bits for n in loads)
    return min(node.order.lanes, machine.vector_bits // widest), masked


def _forms(roots: Iterable[Value], axis: Axis) -> list[Value]:
    """Base and stride along `axis` of every load below `roots`."""
    offsets = [node.offset for node in _computed(roots, axis) if isinstance(node, Load) and axis in node.offset.free]
    return [value for offset in offsets if (form := affine(offset, axis)) for value in form]


def _affine_lets(vector: Vector, machine: Machine, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
    """Base and stride of every load and store of a vector loop."""
    forms = [affine(store.offset, vector.axis) for store in vector.stores if vector.axis in store.offset.free]
    values = [value for form in forms if form for value in form]
    values += _forms([store.value for store in vector.stores], vector.axis)
    return _place(values, machine, bound, done)


# The vector loop.


def _computed(roots: Iterable[Value], axis: Axis) -> Iterator[Value]:
    """The nodes that are computed as elements along `axis`: not those that only make an offset or a guard, and of a fold that is
    one value for the whole axis nothing.
    """
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if isinstance(node, Op):  # an index that is converted is counted in the narrow type
                stack.extend(arg for arg in eager(node) if node.op != "cast" or not isinstance(arg, Axis))
            elif isinstance(node, Fold) and axis in node.free:
                stack.extend(node.bodies)
            elif isinstance(node, Component) and axis in node.free:
                stack.append(node.fold)


def _vector(kernel: Kernel, machine: Machine, axis: Axis, low: Value, high: Value, stores: tuple[Store, ...]) -> Vector:
    nodes = [node for node in _computed([s.value for s in stores], axis) if axis in node.free]
    loads = [node for node in nodes if isinstance(node, Load)]
    memory = {node.dtype for node in loads} | {store.leaf.dtype for store in stores}
    if axis is ONE or not _vectorizable(nodes, loads, stores, axis):
        return Vector(axis, low, high, 1, 1, False, stores)
    widest = max(dtype.bits for dtype in {node.dtype for node in nodes if node.dtype is not BOOL} | memory)
    lanes = max(1, machine.vector_bits // widest)
    offsets = [store.offset for store in stores] + [load.offset for load in loads]
    unit = all(_coefficient(offset, axis) == 1 for offset in offsets if axis in offset.free)
    masked = unit and all(dtype.bits in machine.masked_bits for dtype in memory)
    read = {load.leaf for load in loads}
    alone = len(kernel.axes) == len(stores) == 1 and low is index(0) and stores[0].leaf not in read
    stream = machine.streams and unit and alone and not kernel.reverse and all(s.leaf.dtype is not BOOL for s in stores)
    return Vector(axis, low, high, lanes, _unroll(nodes), masked and not kernel.reverse, stores, stream)


def _vectorizable(nodes: list[Value], loads: list[Load], stores: tuple[Store, ...], axis: Axis) -> bool:
    along = all(axis in store.offset.free and affine(store.offset, axis) for store in stores)
    return along and _by_lanes(nodes, loads, axis)


def _by_lanes(nodes: list[Value], loads: list[Load], axis: Axis) -> bool:
    affine_loads = all(affine(load.offset, axis) for load in loads)
    free_guards = all(load.when is None or axis not in load.when.free for load in loads)
    no_division = not any(isinstance(node, Op) and node.op == "floor_divide" for node in nodes)
    return affine_loads and free_guards and no_division


def _coefficient(offset: Value, axis: Axis) -> int | None:
    form = affine(offset, axis)
    return int(form[0].value) if form and isinstance(form[0], Const) else None


def _unroll(nodes: list[Value]) -> int:
    if any(isinstance(node, Fold) for node in nodes):
        return 1
    # Four groups hide the latency of arithmetic; a call does not gain, and every copy of a body costs compile time.
    cost = sum(TABLE[node.op].cost if node.op in TABLE else 1 for node in nodes if isinstance(node, Op))
    return 4 if cost <= 12 else 2 if cost < 24 else 1
