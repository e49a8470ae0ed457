"""Rows of so few elements, or so few rows, that a kernel is made for each number: what is folded is written out, and there is no loop over it.

Each value of a row is then one value of the kernel IR, which is computed once however often it is needed: the `exp` of a softmax in its
sum and in what is stored. Of rows of few elements vectors run over rows. Elements that lie side by side in memory, and so do the rows,
make a group: it is read or stored in whole vectors, in which rows are one behind the other, and taken apart into columns in registers.
Of few rows vectors run along their columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import frexp

from .folds import combined, folds_of, joined
from .ir import Axis, Const, Fold, Kernel, Leaf, Load, Op, Store, Value, components, const, index, op
from .pairs import first_of
from .reducers import ROW, TABLE, brought_together, identities, reducer_of
from .rewrite import steps, substitute, walk

# of a leaf, the offsets of the elements of a row; for the next index of the innermost axis each is as many further as there are
Group = tuple[Leaf, tuple[Value, ...]]
WRITTEN_OUT = 600  # additions: a statement of more takes longer to compile than its rows are worth


def unrolled(kernel: Kernel) -> tuple[Kernel, tuple[Group, ...]]:
    """A kernel of rows of `short` elements, or of `down` rows, without folds and without loops over rows, and what lies in groups; another
    as it is.
    """
    many, bring = kernel.written, along if kernel.packed else _across
    if not many:
        return kernel, ()
    folds = [] if kernel.packed and kernel.within else folds_of(*(store.value for store in kernel.stores))
    lengths = {node.extent for node in folds}
    rows = [axis for axis, extent in kernel.axes[:-1] if extent in lengths] if folds else [kernel.axes[-2][0]]
    stores = kernel.stores
    groups = dict.fromkeys(_groups(stores, [*rows, *(node.axis for node in folds)], kernel.axes[-1][0], many))
    known: dict[Value, Value] = {}
    for node in folds:
        bodies = [substitute(body, known) for body in node.bodies]
        elements = [tuple(substitute(body, {node.axis: index(j)}) for body in bodies) for j in range(many)]
        known |= dict(zip(components(node), bring(node, elements), strict=True))
    stores = tuple(replace(s, value=_divided(substitute(s.value, known))) for s in stores)
    for axis in rows:
        leaves = dict.fromkeys(store.leaf for store in stores)  # the parts of a complex number stay side by side
        stores = tuple(_at(s, axis, j) for leaf in leaves for j in range(many) for s in stores if s.leaf == leaf)
    axes = tuple(pair for pair in kernel.axes if pair[0] not in rows)
    return replace(kernel, axes=axes, stores=stores), tuple(groups)


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


def _groups(stores: Sequence[Store], rows: Sequence[Axis], inner: Axis, many: int) -> Iterator[Group]:
    """The elements of rows that are read or stored together."""
    loads = [node for node in walk(*(store.value for store in stores)) if isinstance(node, Load)]
    every: list[Load | Store] = [*stores, *loads]
    for at in every:
        mine = list({axis for axis in rows if axis in at.offset.free})
        if len(mine) == 1 and (group := group_of(at, mine[0], inner, many)):
            yield group


def group_of(at: Load | Store, row: Axis, rows: Axis, many: int) -> Group | None:
    """What is read or stored together with an element of a row, where rows of so many follow each other along `rows`."""
    if (isinstance(at, Load) and at.when is not None) or steps(at, row) != 1 or steps(at, rows) != many:
        return None
    return at.leaf, row_of(at, row, many)


def row_of(at: Load | Store, axis: Axis, many: int) -> tuple[Value, ...]:
    """Where so many elements of a row along an axis lie, and of pairs both parts of each; of whichever it is said."""
    firsts = [substitute(first_of(at), {axis: index(j)}) for j in range(many)]
    return tuple(part for place in firsts for part in ((place, place + 1) if at.leaf.pairs else (place,)))
