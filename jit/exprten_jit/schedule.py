"""From a kernel to a loop nest: which loop computes what, and where lanes come from.

    stmt ::= Let(value)                          # computed here, known to everything below
           | Loop(axis, extent, body)            # one index at a time
           | Pieces(axis, extent, …, body)       # the axis cut where a guard or a quotient changes
           | Vector(axis, low, high, …, stores)  # `lanes` indices at a time
    nest ::= Nest(kernel, body)

The last axis of a kernel is its innermost loop. What needs no inner axis is computed outside of it: a Let at the outermost loop
that binds all of its axes. A guard or a quotient of the innermost axis is made constant by cutting the axis into pieces:
within a piece `i >= 3` is true or false and `i // 4` is a number, so every load is affine and an unpadded row stays a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .derived import TABLE
from .dtypes import BOOL, INDEX
from .ir import Axis, Const, Kernel, Load, Local, Op, Param, Size, Store, Value, index, local
from .ir import axis as named_axis
from .rewrite import affine, substitute, walk
from .text import Namer
from .text import show as show_value


@dataclass(frozen=True)
class Machine:
    """What the schedule must know of a processor: register width, element widths it can load and store under a mask, and
    whether it has stores that pass the caches by.
    """

    vector_bits: int
    masked_bits: frozenset[int]
    streams: bool = False


@dataclass(frozen=True)
class Let:
    value: Value


@dataclass(frozen=True)
class Loop:
    axis: Axis
    extent: Value
    body: tuple[Stmt, ...]


@dataclass(frozen=True)
class Vector:
    """`unroll` groups of `lanes` at a time, then `lanes`, then a tail: one masked step, or one element at a time. With `stream`,
    a large target that is not read is stored past the caches.
    """

    axis: Axis
    low: Value
    high: Value
    lanes: int
    unroll: int
    masked: bool
    stores: tuple[Store, ...]
    stream: bool = False


@dataclass(frozen=True)
class Pieces:
    """From `start` to `end`, again and again up to `extent`: `end` is the least of `changes` above `start`.

    `known` are the guards and quotients of the axis, each bound to a local for the length of a piece.
    """

    axis: Axis
    extent: Value
    start: Local
    end: Local
    known: tuple[tuple[Local, Value], ...]
    changes: tuple[Value, ...]
    body: tuple[Stmt, ...]


Stmt = Let | Loop | Pieces | Vector


@dataclass(frozen=True)
class Nest:
    kernel: Kernel
    body: tuple[Stmt, ...]


ONE = named_axis("one")  # the axis of a kernel without axes: a single step


def schedule(kernel: Kernel, machine: Machine) -> Nest:
    """The loop nest of `kernel` for `machine`."""
    axes = kernel.axes or ((ONE, index(1)),)
    body = _open(kernel, machine, list(axes), frozenset(), set())
    return Nest(kernel, tuple(body))


def _open(
    kernel: Kernel, machine: Machine, axes: list[tuple[Axis, Value]], bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    """The statements that run the remaining `axes`, all of `bound` being known."""
    (axis, extent), *inner = axes
    lets = _lets(kernel.stores, bound, done)
    if inner:
        return [*lets, Loop(axis, extent, tuple(_open(kernel, machine, inner, bound | {axis}, done)))]
    return [*lets, *_innermost(kernel, machine, axis, extent, bound, done)]


def _innermost(
    kernel: Kernel, machine: Machine, axis: Axis, extent: Value, bound: frozenset[Axis | Local], done: set[Value]
) -> list[Stmt]:
    cuts = _cuts(kernel.stores, axis)
    if not cuts:
        vector = _vector(kernel, machine, axis, index(0), extent, kernel.stores)
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


# The nest as text.


def show(nest: Nest) -> str:
    """The loop nest on a few lines, for `plan.explain()` and golden files. What is used more than once has a name."""
    roots = [value for store in _stores(nest.body) for value in (store.offset, store.value)]
    lines = _Lines(Namer(*roots))
    lines.put(nest.body, 0)
    return "\n".join(lines.lines) + ("\nall loops downwards" if nest.kernel.reverse else "")


def _stores(stmts: Iterable[Stmt]) -> Iterator[Store]:
    for stmt in stmts:
        match stmt:
            case Vector():
                yield from stmt.stores
            case Loop() | Pieces():
                yield from _stores(stmt.body)


class _Lines:
    def __init__(self, namer: Namer) -> None:
        self.namer = namer
        self.lines: list[str] = []

    def put(self, stmts: Iterable[Stmt], depth: int) -> None:
        pad = "  " * depth
        for stmt in stmts:
            match stmt:
                case Let(value):
                    self.define(value, pad)
                case Loop(axis, extent, body):
                    self.lines.append(f"{pad}for {axis.name} < {self.value(extent)}")
                    self.put(body, depth + 1)
                case Pieces(axis, extent, _, _, known, changes, body):
                    at = ", ".join(map(self.value, changes))
                    self.lines.append(f"{pad}pieces of {axis.name} < {self.value(extent)}, cut at {at}")
                    self.lines.extend(f"{pad}  {name.name} = {self.value(v)}" for name, v in known)
                    self.put(body, depth + 1)
                case Vector():
                    self.vector(stmt, pad)

    def vector(self, stmt: Vector, pad: str) -> None:
        tail = "a masked tail" if stmt.masked else "a scalar tail"
        steps = f" by {stmt.lanes} x {stmt.unroll}, {tail}" if stmt.lanes > 1 else ""
        self.lines.append(f"{pad}for {stmt.axis.name} in {self.value(stmt.low)}..{self.value(stmt.high)}{steps}")
        for store in stmt.stores:
            shared = self.namer.lines(store.value)
            self.lines.extend(f"{pad}  {line}" for line in shared)
            self.lines.append(f"{pad}  {store.leaf.name}[{self.value(store.offset)}] = {self.value(store.value)}")

    def define(self, value: Value, pad: str) -> None:
        self.lines.extend(f"{pad}let {line}" for line in self.namer.lines(value))
        text = self.value(value)
        self.lines.append(f"{pad}let {self.namer.give(value)} = {text}")

    def value(self, value: Value) -> str:
        return show_value(value, self.namer.names)
