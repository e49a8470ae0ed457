"""From a kernel to a loop nest.

The last axis of a kernel is its innermost loop. What needs no inner axis is computed outside of it: a Let at the outermost loop
that binds all of its axes. What needs the innermost axis alone, and is dear, is saved before the outer loops. A guard or a
quotient of the innermost axis is made constant by cutting the axis into pieces: within a piece `i >= 3` is true or false and
`i // 4` is a number, so every load is affine and an unpadded row stays a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .derived import TABLE
from .dtypes import BOOL, INDEX
from .ir import Axis, Const, Kernel, Leaf, Load, Local, Op, Param, Size, Store, Value, index, load, local
from .ir import axis as named_axis
from .nest import Columns, Let, Loop, Machine, Nest, Pieces, Stmt, Vector
from .rewrite import affine, substitute, walk

ONE = named_axis("one")  # the axis of a kernel without axes: a single step


def schedule(kernel: Kernel, machine: Machine) -> Nest:
    """The loop nest of `kernel` for `machine`."""
    then = schedule(kernel.then, machine) if kernel.then else None
    axes = kernel.axes or ((ONE, index(1)),)
    saved = _columns(kernel)
    if saved:
        return Nest(kernel, tuple(_save(kernel, machine, saved)), then)
    loops = [(axis, index(0), extent) for axis, extent in axes]
    return Nest(kernel, tuple(_open(kernel, machine, loops, frozenset(), set())), then)


Bounds = tuple[Axis, Value, Value]  # an axis, from and to


def _open(
    kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that run the remaining loops, all of `bound` being known."""
    (axis, low, high), *inner = loops
    lets = _lets(kernel.stores, bound, done)
    if inner:
        return [*lets, Loop(axis, high, tuple(_open(kernel, machine, inner, bound | {axis}, done)))]
    return [*lets, *_innermost(kernel, machine, axis, low, high, bound, done)]


# Columns: what depends on the innermost axis alone would be computed again for every row.

BLOCK = 2048  # elements of scratch for a saved value
MAX_COLUMNS = 4  # saved values: 64 KiB of stack at most, where some threads have 128
DEAR = 15  # additions; what costs less is computed again sooner than saved


def _columns(kernel: Kernel) -> list[Value]:
    """The largest dear values that need no axis but the innermost one."""
    if len(kernel.axes) < 2 or kernel.reverse:
        return []
    axis = kernel.axes[-1][0]
    if _cuts(kernel.stores, axis):
        return []
    found: list[Value] = []
    seen, stack = set[Value](), [store.value for store in kernel.stores]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op) or axis not in node.free:
            continue
        seen.add(node)
        if node.free == {axis} and _cost(node) >= DEAR:
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return sorted(found, key=_cost, reverse=True)[:MAX_COLUMNS]


def _cost(node: Value) -> int:
    ops = [n for n in walk(node) if isinstance(n, Op) and n.free and n.op in TABLE]
    return sum(TABLE[n.op].cost for n in ops)


def _save(kernel: Kernel, machine: Machine, saved: list[Value]) -> list[Stmt]:
    """The nest that computes `saved` before the outer loops, a block of the innermost axis at a time."""
    axis, extent = kernel.axes[-1]
    start, end = local("start", INDEX), local("end", INDEX)
    scratch = [Leaf(f"column{n}", value.dtype) for n, value in enumerate(saved)]
    fill = tuple(Store(leaf, axis - start, value) for leaf, value in zip(scratch, saved, strict=True))
    again: dict[Value, Value] = {value: load(leaf, axis - start) for leaf, value in zip(scratch, saved, strict=True)}
    stores = tuple(replace(store, value=substitute(store.value, again)) for store in kernel.stores)
    bound: frozenset[Axis | Local] = frozenset((start, end))
    done: set[Value] = set()
    vector = _vector(kernel, machine, axis, start, end, fill)
    filled: list[Stmt] = [*_lets(fill, bound, done), *_affine_lets(vector, bound, done), vector]
    loops = [(outer, index(0), length) for outer, length in kernel.axes[:-1]] + [(axis, start, end)]
    body = [*filled, *_open(replace(kernel, stores=stores), machine, loops, bound, done)]
    return [Columns(axis, extent, start, end, BLOCK, tuple(zip(scratch, saved, strict=True)), tuple(body))]


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
        vector = _vector(kernel, machine, axis, low, extent, kernel.stores)
        return [*_affine_lets(vector, bound, done), vector]
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
    body: list[Stmt] = [*_lets(stores, within, done), *_affine_lets(vector, within, done), vector]
    outside = _lets_of([*changes, *(value for _, value in known)], bound, done)
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
    for node in walk(*(value for s in stores for value in (s.offset, s.value))):
        if not isinstance(node, Op) or axis not in node.free or not _is_index_op(node):
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


# Lets: what is free of the loops still to open.


def _lets(stores: Iterable[Store], bound: frozenset[Axis | Local], done: set[Value]) -> list[Let]:
    return _lets_of([value for s in stores for value in (s.offset, s.value)], bound, done)


def _lets_of(roots: Iterable[Value], bound: frozenset[Axis | Local], done: set[Value]) -> list[Let]:
    """The largest values below `roots` that need nothing but `bound`, marked as done."""
    lets, seen, stack = [], set(done), list(reversed(list(roots)))
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Const | Param | Size | Axis | Local):
            continue
        seen.add(node)
        if node.free <= bound:
            lets.append(Let(node))
            done.add(node)
        else:
            stack.extend(reversed(node.children))
    return lets


def _affine_lets(vector: Vector, bound: frozenset[Axis | Local], done: set[Value]) -> list[Let]:
    """Base and stride of every load and store of a vector loop."""
    offsets = [store.offset for store in vector.stores]
    offsets += [node.offset for node in _computed(vector.stores) if isinstance(node, Load)]
    forms = [form for offset in offsets if vector.axis in offset.free and (form := affine(offset, vector.axis))]
    return _lets_of([value for form in forms for value in form], bound, done)


# The vector loop.


def _computed(stores: Iterable[Store]) -> Iterator[Value]:
    """The nodes that are computed as elements: not those that only make an offset or a guard."""
    seen: set[int] = set()
    stack = [store.value for store in stores]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if isinstance(node, Op):
                stack.extend(node.args)


def _vector(kernel: Kernel, machine: Machine, axis: Axis, low: Value, high: Value, stores: tuple[Store, ...]) -> Vector:
    nodes = [node for node in _computed(stores) if axis in node.free]
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
    alone = len(kernel.axes) == 1 and low is index(0) and not any(store.leaf in read for store in stores)
    stream = machine.streams and unit and alone and not kernel.reverse and all(s.leaf.dtype is not BOOL for s in stores)
    return Vector(axis, low, high, lanes, _unroll(nodes), masked and not kernel.reverse, stores, stream)


def _vectorizable(nodes: list[Value], loads: list[Load], stores: tuple[Store, ...], axis: Axis) -> bool:
    affine_loads = all(affine(load.offset, axis) for load in loads)
    free_guards = all(load.when is None or axis not in load.when.free for load in loads)
    no_division = not any(isinstance(node, Op) and node.op == "floor_divide" for node in nodes)
    along = all(axis in store.offset.free and affine(store.offset, axis) for store in stores)
    return affine_loads and free_guards and no_division and along


def _coefficient(offset: Value, axis: Axis) -> int | None:
    form = affine(offset, axis)
    return int(form[0].value) if form and isinstance(form[0], Const) else None


def _unroll(nodes: list[Value]) -> int:
    # Four groups hide the latency of arithmetic; a call does not gain, and every copy of a body costs compile time.
    cost = sum(TABLE[node.op].cost if node.op in TABLE else 1 for node in nodes if isinstance(node, Op))
    return 4 if cost <= 12 else 2 if cost < 24 else 1
