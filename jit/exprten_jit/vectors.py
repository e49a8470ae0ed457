"""Loops that vectors run along: how many lanes they take, and how many groups of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .derived import TABLE
from .dtypes import BOOL, INDEX
from .folds import folds_of
from .ir import Axis, Component, Const, Fold, Leaf, Load, Op, Store, Value, index
from .kernel import Kernel
from .machine import Machine
from .nest import ONE, Vector
from .reducers import NARROW_ROW
from .rewrite import affine, eager, steps, walk

MOST = 4  # groups of lanes at a time
MOST_ROWS = 8  # vectors of rows that are read whole: as many registers
ROW_BITS = 256  # of a vector along one of `NARROW_ROW` elements: registers of as many hold it better
# of a target: from there on a store past the caches saves reading what is overwritten (1.2 to 1.5 times)
STREAM_BYTES = 8 << 20
FAR_BYTES = (
    8 << 20
)  # of a tensor: from there on tiles are fetched early, and stored past the caches where the target is not read
WORD = 32  # bits
LONG = 250  # additions; a body from there on is not copied
CHEAP = 8  # additions an element: what costs more is not computed for lanes that hold nothing
FEW_REGISTERS = 16  # all there are, where they are small; where they are long, half of them
LEAST_BITS = 256  # of vectors in which rows are taken along: narrower ones have no masked loads everywhere
DEAR = 15  # additions; what costs less is computed again sooner than saved
MOST_TURNED = 2  # sources: more registers than there are
# Additions an element, an `exp` and a few: each row of a square is a copy of the body, and of more compiling takes too long. Of complex numbers
# there are half as many rows, and to normalise one takes a quotient.
CHEAP_ROWS = {1: 24, 2: 56}


def cost_of(*roots: Value) -> int:
    """What values cost for each element, in additions."""
    ops = [n for n in walk(*roots) if isinstance(n, Op) and n.free and n.op in TABLE]
    return sum(TABLE[n.op].cost for n in ops)


def work_of(values: Sequence[Value]) -> int:
    """What an element costs, in additions, but for where it lies."""
    return cost_of(*values) - cost_of(*(x.offset for x in walk(*values) if isinstance(x, Load)))


def roots_of(stores: Iterable[Store]) -> list[Value]:
    """What is computed for some stores: where they go, and what."""
    return [value for s in stores for value in (s.offset, s.value)]


def computed(roots: Iterable[Value], axis: Axis) -> Iterator[Value]:
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


def vector_over(
    kernel: Kernel, machine: Machine, axis: Axis, low: Value, high: Value, stores: tuple[Store, ...]
) -> Vector:
    """The loop of some stores from `low` to `high`."""
    nodes = [node for node in computed([s.value for s in stores], axis) if axis in node.free]
    loads = [node for node in nodes if isinstance(node, Load)]
    memory = {node.dtype for node in loads} | {store.leaf.dtype for store in stores}
    if axis is ONE or not _vectorizable(nodes, loads, stores, axis):
        return Vector(axis, low, high, 1, 1, False, stores)
    widest = widest_bits(kernel, machine, nodes, stores)
    short = kernel.short > 0 and axis is not kernel.axes[-1][0]
    narrow = short and kernel.short <= NARROW_ROW
    lanes = max(1, (min(machine.vector_bits, ROW_BITS) if narrow else machine.vector_bits) // widest)
    every: list[Load | Store] = [*stores, *loads]
    places = [x for x in every if axis in x.offset.free]
    unit = all(steps(x, axis) == 1 for x in places)
    few = short or kernel.columns > 0 or kernel.few > 0
    rows = [x for x in places if not (few and steps(x, axis) == -1 and not x.leaf.pairs)]
    masked = all(steps(x, axis) == 1 for x in rows) and all(dtype.bits in machine.masked_bits for dtype in memory)
    read = {load.leaf for load in loads}
    alone = len(kernel.axes) == len({s.leaf for s in stores}) == 1 and low is index(0) and stores[0].leaf not in read
    apart = max((abs(steps(x, axis) or 1) for x in places), default=1) if kernel.short or kernel.down else 1
    in_rows = unit or (kernel.written and all(steps(s, axis) in (1, kernel.written) for s in stores))
    streams = machine.streams and not (kernel.cached or kernel.reverse)
    stream = streams and in_rows and alone and all(s.leaf.dtype is not BOOL for s in stores)
    size = sum(s.leaf.dtype.itemsize for s in stores)  # of an element: the parts of a complex number are two stores
    masked = masked and not kernel.reverse
    groups, short = min(unroll(nodes), max(1, MOST_ROWS // apart)), short and masked
    if 2 * len(stores) >= FEW_REGISTERS and not any(_is_dear(node) for node in nodes):
        groups = 1  # each waits in a register until all are folded
    if groups == MOST and not kernel.short and all(dtype.wide for dtype in memory):
        groups *= 2  # numbers rounded after each operation make long chains (1.04 to 1.08)
    upper = unit and not short and all(dtype.rounding == "upper" for dtype in memory)
    woven = upper and groups % 2 == 0 and not any(_counts(node) for node in nodes)
    return Vector(
        axis,
        low,
        high,
        lanes,
        groups,
        masked,
        stores,
        high >= STREAM_BYTES // size if stream else None,
        short=short,
        woven=woven,
    )


def _counts(node: Value) -> bool:
    """Whether a value along an axis asks where on it a lane is, or for other lanes."""
    counted = isinstance(node, Op) and node.op == "cast" and isinstance(node.args[0], Axis)
    return counted or isinstance(node, Axis | Fold | Component)


def _vectorizable(nodes: list[Value], loads: list[Load], stores: tuple[Store, ...], axis: Axis) -> bool:
    along = all(axis in store.offset.free and affine(store.offset, axis) for store in stores)
    return along and by_lanes(nodes, loads, axis)


def by_lanes(nodes: list[Value], loads: list[Load], axis: Axis) -> bool:
    """Whether these can be computed for several indices of an axis at once."""
    affine_loads = all(affine(load.offset, axis) for load in loads)
    free_guards = all(load.when is None or axis not in load.when.free for load in loads)
    no_division = not any(isinstance(node, Op) and node.op == "floor_divide" for node in nodes)
    return affine_loads and free_guards and no_division


def _is_dear(node: Value) -> bool:
    """Whether it is an operation that takes so long that its latency counts."""
    return isinstance(node, Op) and node.op in TABLE and TABLE[node.op].cost >= DEAR


def widest_bits(kernel: Kernel, machine: Machine, nodes: Sequence[Value], stores: Sequence[Store]) -> int:
    """Bits of the widest element that is computed or stored; but of rows that are written out, and more than half a register of columns, not of what is only
    converted to be stored: the index that `argmax` gives has twice as many as all that it is made of.
    """
    found = {node.dtype for node in nodes if node.dtype is not BOOL} | {store.leaf.dtype for store in stores}
    widest = max(dtype.computed.bits for dtype in found)
    last = {s.value for s in stores if isinstance(s.value, Op) and s.value.op == "cast"}
    few = 0 < kernel.columns <= machine.vector_bits // (2 * WORD)
    several = not machine.small and 2 * len(stores) > FEW_REGISTERS  # more than there are, with all that is compared
    if not (kernel.written or kernel.short) or few or several or widest <= WORD or len(last) < len(stores):
        return widest
    return max(
        (node.dtype.computed.bits for node in nodes if node.dtype is not BOOL and node not in last), default=widest
    )


def read_backwards(stores: Sequence[Store], axis: Axis) -> list[Load]:
    """What stores would read of each tensor from its last row to the first, as an index is folded, in the order in which it lies: a processor sees only
    in that what comes next (up to 2.2 times, from memory).
    """
    found: dict[Leaf, list[Load]] = {}
    for x in walk(*(store.value for store in stores)):
        if isinstance(x, Load) and x.when is None and axis in x.offset.free:
            found.setdefault(x.leaf, []).append(x)
    places = [[_place(x.offset) for x in loads] for loads in found.values()]
    backwards = all(row[0] > row[-1] and row == sorted(row, reverse=True) for row in places)
    return [x for loads in found.values() for x in reversed(loads)] if backwards else []


def _place(offset: Value) -> int:
    """How many elements, or rows, it is further than others that begin alike."""
    match offset:
        case Const(value) | Op("multiply", (_, Const(value)) | (Const(value), _)):
            return int(value)
        case Op("add", (a, b)):
            return _place(a) + _place(b)
    return 0


def unroll(nodes: list[Value]) -> int:
    """How many groups of lanes a loop takes at a time."""
    if any(isinstance(node, Fold) for node in nodes):
        return 1
    # Four groups hide the latency of arithmetic, two that of functions; every copy of a body costs compile time.
    cost = sum(TABLE[node.op].cost if node.op in TABLE else 1 for node in nodes if isinstance(node, Op))
    return MOST if cost <= 12 else 2 if cost < LONG else 1


def cheap(node: Fold, machine: Machine) -> bool:
    """Whether a fold of short rows is computed along them: they lie side by side, and little is done with an element."""
    ops = [
        n
        for n in walk(*node.bodies, into_folds=False)
        if isinstance(n, Op) and node.axis in n.free and n.dtype is not INDEX
    ]
    cost = sum(TABLE[n.op].cost for n in ops if n.op in TABLE)
    if cost > CHEAP or any(node.axis in inner.free for inner in folds_of(*node.bodies)):
        return False
    loads = [x for x in computed(node.bodies, node.axis) if isinstance(x, Load) and node.axis in x.offset.free]
    masked = all(x.leaf.dtype.bits in machine.masked_bits for x in loads)
    return masked and all(x.when is None and steps(x, node.axis) in (1, -1) for x in loads)
