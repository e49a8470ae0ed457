"""Rows of so few elements, or so few rows, that a kernel is made for each number: what is folded is written out, and there is no loop over it.

Each value of a row is then one value of the kernel IR, which is computed once however often it is needed: the `exp` of a softmax in its
sum and in what is stored. Of rows of few elements vectors run over rows. Elements that lie side by side in memory, and so do the rows,
make a group: it is read or stored in whole vectors, in which rows are one behind the other, and taken apart into columns in registers.
Of few rows vectors run along their columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import frexp, prod

from .folds import combined, folds_of, joined
from .ir import Axis, Const, Fold, Leaf, Load, Op, Store, Value, components, const, index, op
from .kernel import Kernel
from .pairs import first_of
from .reducers import ROW, TABLE, brought_together, identities, is_gap, reducer_of
from .rewrite import affine, steps, substitute, walk

# of a leaf, the offsets of the elements of a row; for the next index of the innermost axis each is as many further as there are
Group = tuple[Leaf, tuple[Value, ...]]
WRITTEN_OUT = 600  # additions: a statement of more takes longer to compile than its rows are worth


def blocked(kernel: Kernel) -> Kernel:
    """A kernel of blocks as one of packed rows: the axis that vectors run along innermost, those of blocks before it."""
    extents = [extent for extent, _ in kernel.block]
    axes = sorted(kernel.axes, key=lambda pair: (pair[0] is kernel.lanes, pair[1] in extents))
    return Kernel(
        tuple(axes),
        kernel.stores,
        kernel.leaves,
        kernel.sizes,
        kernel.params,
        short=prod(count for _, count in kernel.block),
        packed=True,
        block=kernel.block,
    )


def unrolled(kernel: Kernel) -> tuple[Kernel, tuple[Group, ...]]:
    """A kernel of rows of `short` elements, or of `down` rows, without folds and without loops over rows, and what lies in groups; another
    as it is.
    """
    many = kernel.written
    if not many:
        return kernel, ()
    folds = [] if kernel.packed and kernel.within else folds_of(*(store.value for store in kernel.stores))
    counts = dict(kernel.block) or dict.fromkeys((node.extent for node in folds), many)
    rows = {axis: counts[extent] for axis, extent in kernel.axes[:-1] if extent in counts}
    rows = rows if counts else {kernel.axes[-2][0]: many}
    stores = kernel.stores
    short = rows | {node.axis: counts[node.extent] for node in folds}
    groups = dict.fromkeys(_groups(stores, short, kernel.axes[-1][0]))
    known: dict[Value, Value] = {}
    for node in folds:
        bodies = [substitute(body, known) for body in node.bodies]
        elements = [tuple(substitute(x, {node.axis: index(j)}) for x in bodies) for j in range(counts[node.extent])]
        bring = _across if kernel.down or (node.order and node.order.grouped) else along
        known |= dict(zip(components(node), bring(node, elements), strict=True))
    stores = tuple(replace(s, value=_divided(substitute(s.value, known))) for s in stores)
    for axis, count in rows.items():
        leaves = dict.fromkeys(store.leaf for store in stores)  # the parts of a complex number stay side by side
        stores = tuple(_at(s, axis, j) for leaf in leaves for j in range(count) for s in stores if s.leaf == leaf)
    axes = tuple(pair for pair in kernel.axes if pair[0] not in rows)
    return replace(kernel, axes=axes, stores=_in_groups(stores, groups)), tuple(groups)


def _in_groups(stores: Sequence[Store], groups: Iterable[Group]) -> tuple[Store, ...]:
    """Stores, those of a group one after the other."""
    beside = {(leaf, place): places for leaf, places in groups for place in places}
    every = {(store.leaf, store.offset): store for store in stores}
    order = (
        (store.leaf, place) for store in stores for place in beside.get((store.leaf, store.offset), (store.offset,))
    )
    return tuple(every[key] for key in dict.fromkeys(order))


def _divided(root: Value) -> Value:
    """What is divided by a power of two is multiplied by its inverse, which is exact."""
    known: dict[Value, Value] = {}
    for node in walk(root):
        match node:
            case Op("divide", (a, Const(value))) if node.dtype.kind == "f" and value >= 1 and frexp(value)[0] == 0.5:
                known[node] = op("multiply", (substitute(a, known), const(1 / value, node.dtype)), node.dtype)
    return substitute(root, known)


def _at(store: Store, axis: Axis, j: int) -> Store:
    here: dict[Value, Value] = {axis: index(j)}
    return replace(store, offset=substitute(store.offset, here), value=substitute(store.value, here))


def along(node: Fold, elements: Sequence[Sequence[Value]]) -> Sequence[Value]:
    """The elements of a row in the order of all: l with l + half, those that exist; where any order does, neighbours first."""
    found, half = list(elements), ROW // 2
    if reducer_of(node.reducer).exact(node.dtype):
        return _neighbours(node, found)
    assert len(found) <= ROW, "a longer row has another order"
    while half:
        found = [combined(node, x, found[k + half]) if k + half < len(found) else x for k, x in enumerate(found[:half])]
        half //= 2
    return found[0]


def _neighbours(node: Fold, found: list[Sequence[Value]]) -> Sequence[Value]:
    while len(found) > 1:
        found = [joined(node, x, found[k + 1]) if k + 1 < len(found) else x for k, x in enumerate(found) if k % 2 == 0]
    return found[0]


def _across(node: Fold, elements: Sequence[Sequence[Value]]) -> Sequence[Value]:
    """The elements of a column in the order of rows; where any order does, neighbours first. The identity of a reducer of the table is left
    out: it changes no bit.
    """
    row, found = reducer_of(node.reducer), list(elements)
    if row.exact(node.dtype):
        return _neighbours(node, found)
    assert node.order is not None, "a scheduled fold has an order"
    numbers = zip(identities(row, node.dtypes), node.dtypes, strict=True)
    nothing = tuple(const(number, dtype) for number, dtype in numbers)

    def combine(a: Sequence[Value], b: Sequence[Value]) -> Sequence[Value]:
        if node.reducer in TABLE and nothing in (a, b):
            return a if b == nothing else b
        return combined(node, a, b)

    return brought_together(found, combine, nothing, node.order)


def rows_apart(kernel: Kernel) -> tuple[Group, ...]:
    """The elements of rows that are written out, and read together where they do not follow each other: the next row is at a distance that is no number, or has others
    before it.
    """
    if not kernel.packed or kernel.within or kernel.block:
        return ()
    inner, values = kernel.axes[-1][0], [store.value for store in kernel.stores]
    folds, found = folds_of(*values), dict[Group, None]()
    extents = {node.extent for node in folds}
    rows = {node.axis for node in folds} | {axis for axis, extent in kernel.axes[:-1] if extent in extents}
    for at in walk(*values):
        if isinstance(at, Load) and at.when is None:
            mine, form = [axis for axis in rows if axis in at.offset.free], affine(at.offset, inner)
            apart = form and (not isinstance(form[0], Const) or is_gap(kernel.short, int(form[0].value)))
            if len(mine) == 1 and steps(at, mine[0]) == 1 and apart:
                found[at.leaf, row_of(at, mine[0], kernel.short)] = None
    return tuple(found)


def _groups(stores: Sequence[Store], short: Mapping[Axis, int], inner: Axis) -> Iterator[Group]:
    """The elements along short axes that are read or stored together."""
    loads = [node for node in walk(*(store.value for store in stores)) if isinstance(node, Load)]
    every: list[Load | Store] = [*stores, *loads]
    for at in every:
        mine = {axis: count for axis, count in short.items() if axis in at.offset.free}
        found = [(steps(at, axis) or 0, count) for axis, count in mine.items()]
        if (isinstance(at, Load) and at.when is not None) or not (
            part := packed_part(found, abs(steps(at, inner) or 0))
        ):
            continue
        axes = list(mine)
        inside, apart = [axes[k] for k in part], [axis for k, axis in enumerate(axes) if k not in part]
        for here in itertools.product(*(range(mine[axis]) for axis in apart)):
            yield at.leaf, _places(at, dict(zip(apart, here, strict=True)), {axis: mine[axis] for axis in inside})


def packed_part(axes: Sequence[tuple[int, int]], step: int) -> list[int]:
    """Of axes with their strides and extents those along which elements lie side by side, the nearest last, where for the next index of
    another axis they are as many further, or back, as there are, `step`; else nothing.
    """
    need, part = 1, list[int]()
    while need < step:
        near = [k for k, (stride, count) in enumerate(axes) if abs(stride) == need and count > 1 and k not in part]
        if not near:
            return []
        part.insert(0, near[0])
        need *= axes[near[0]][1]
    return part if need == step else []


def group_of(at: Load | Store, row: Axis, rows: Axis, many: int) -> Group | None:
    """What is read or stored together with an element of a row, where rows of so many follow each other along `rows`."""
    if (isinstance(at, Load) and at.when is not None) or steps(at, row) != 1 or steps(at, rows) != many:
        return None
    return at.leaf, row_of(at, row, many)


def row_of(at: Load | Store, axis: Axis, many: int) -> tuple[Value, ...]:
    """Where so many elements of a row along an axis lie, and of pairs both parts of each; of whichever it is said."""
    return _places(at, {}, {axis: many})


def _places(at: Load | Store, here: Mapping[Axis, int], along: Mapping[Axis, int]) -> tuple[Value, ...]:
    """Where the elements along some axes lie, at an index of others, in the order of memory; of pairs both parts of each."""
    indices = (range(many) if (steps(at, axis) or 1) > 0 else reversed(range(many)) for axis, many in along.items())
    found = (dict(zip(along, there, strict=True)) for there in itertools.product(*indices))
    firsts = [substitute(first_of(at), {a: index(j) for a, j in {**here, **there}.items()}) for there in found]
    return tuple(part for place in firsts for part in ((place, place + 1) if at.leaf.pairs else (place,)))
