"""Folds that another fold would compute again for every row: in `sum(x * max(x, 0), 1)` the maxima of all columns are needed by the sum
of each row. They are computed before, each once, with what is made of them for the same columns, into scratch, where there is room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .alone import as_own, is_in_order, row_major
from .folds import folds_of, loads
from .ir import Axis, Component, Fold, Leaf, Load, Local, Op, Store, Value, components, load
from .kernel import Kernel
from .needed import Named, Own, extents_of, named, repeated
from .piece import Piece
from .rewrite import substitute, walk

ROOM = 64 << 10  # bytes on the stack of whoever runs a statement, some of which have no more than 512 KiB
WHOLE_ROOM = 128 << 10  # for all that is stored
MOST = 64  # bytes at each place
Pairs = tuple[tuple[Value, Value], ...]


def room_for(places: int, shares: int, room: int = 0) -> int:
    """Bytes at each of so many places, a power of two, where `shares` divide all the `room`, or what is usual; 0 where there is none."""
    each = (room or ROOM) // shares // max(1, places)
    return min(MOST, 1 << (each.bit_length() - 1)) if each else 0


@dataclass(frozen=True)
class Beforehand:
    """What is left of a kernel, if something is, the kernels that come before it, in their order, and memory for so many elements of each leaf that they
    store to; `folds`, and what is made of them, with what stands for each, and for what is `brought`.
    """

    kernel: Kernel | None
    parts: tuple[Kernel, ...]
    room: tuple[tuple[Leaf, int], ...]
    folds: Pairs
    pieces: tuple[Piece, ...] = ()
    brought: Pairs = ()


def beforehand(kernel: Kernel, every: bool = False) -> Beforehand | None:
    """A kernel without the folds that it would compute again and again, or without all; nothing where there is none, or no room."""
    if kernel.reverse or not kernel.first:
        return None
    roots = [store.value for store in kernel.stores]
    folds = folds_of(*roots)
    extents = extents_of(folds, kernel)
    known_axes = named(folds, extents, kernel)
    again = {known_axes[node][0] for node in (folds if every else repeated(kernel)) if node in known_axes}
    early = [node for node, (own, _) in known_axes.items() if own in again]
    alone = [x for node in early if isinstance(node, Fold) for x in components(node)]
    made = _made_of_nothing_else(early, roots) if every else _made_of(early, roots)
    found = _that_fit(made, alone, extents, kernel)
    if not found or (every and len(found) < len(made)):
        return None
    owns = list(dict.fromkeys(own for own, _ in found.values()))
    stored = {own: Leaf(f"known{n}", own.value.dtype) for n, own in enumerate(owns)}
    parts = tuple(_part(now, done, stored, kernel) for now, done in _stages(owns, kernel))
    known = _loads(found, stored)
    stores = tuple(replace(store, value=substitute(store.value, known)) for store in kernel.stores)
    others = ((node, substitute(node, known)) for node in folds if node not in known)
    share, room = ((kernel.rest and kernel.rest.room) or ROOM) // len(kernel.first), _room(kernel)
    return Beforehand(
        replace(kernel, stores=stores, first=()),
        parts,
        tuple((leaf, share // room[own.extents]) for own, leaf in stored.items()),
        (*known.items(), *(pair for pair in others if pair[0] is not pair[1])),
    )


def _room(kernel: Kernel) -> dict[tuple[str, ...], int]:
    """The bytes at each place, by the names of the extents of axes."""
    return {names: nbytes for names, nbytes, _ in kernel.first}


def _made_of_nothing_else(apart: Collection[Value], roots: Sequence[Value]) -> list[Value]:
    """The largest values that are made of folds of the same axes, and of numbers."""
    none, near = frozenset[Axis | Local](), {node: node.free for node in apart}
    for node in walk(*roots):
        if node not in near and isinstance(node, Op | Component):
            axes = {near.get(x, none) for x in node.children if x.free}
            near |= {node: node.free} if len(axes) == 1 and none not in axes else {}
    found, seen = dict[Value, None](), set[tuple[Value, frozenset[Axis | Local]]]()
    stack: list[tuple[Value, frozenset[Axis | Local]]] = [(root, none) for root in roots]
    while stack:
        node, around = stack.pop()
        if (node, around) in seen:
            continue
        seen.add((node, around))
        whole = isinstance(node, Fold) and len(node.bodies) > 1  # its components are values
        own = none if whole else near.get(node, none)
        if own and own != around:  # else it is computed with what is around it
            found[node], around = None, own
        stack.extend((child, around) for child in node.children)
    return list(found)


def _made_of(apart: Collection[Value], roots: Sequence[Value]) -> list[Value]:
    """The largest values that are made of folds and have their axes, no others."""
    near = {id(node): {node.free} for node in apart}  # the axes of the folds that a value is made of
    for node in walk(*roots):
        if not isinstance(node, Fold):
            near.setdefault(id(node), set()).update(*(near[id(child)] for child in node.children if id(child) in near))
    found, seen = dict[Value, None](), set[tuple[Value, bool]]()
    stack = [(root, False) for root in roots]
    while stack:
        node, place = stack.pop()
        if (node, place) in seen:
            continue
        seen.add((node, place))
        whole = isinstance(node, Fold) and len(node.bodies) > 1  # its components are values
        if node.free in near.get(id(node), ()) and not whole and (isinstance(node, Fold | Component) or not place):
            found[node] = None
        else:
            stack.extend((child, place or isinstance(node, Load)) for child in node.children)
    return list(found)


def _that_fit(made: Sequence[Value], alone: Sequence[Value], extents: Mapping[Axis, Value], kernel: Kernel) -> Named:
    """What is made of folds, or, where there is no room for all of it, these alone, as far as there is."""
    room = _room(kernel)
    for values in (made, alone):
        found = {x: pair for x, pair in named(values, extents, kernel).items() if pair[0].extents in room}
        sizes = dict.fromkeys(room, 0)
        for own in dict.fromkeys(own for own, _ in found.values()):
            sizes[own.extents] += own.value.dtype.itemsize
        fits = {x: pair for x, pair in found.items() if sizes[pair[0].extents] <= room[pair[0].extents]}
        if len(fits) == len(found):
            break
    return fits


def _stages(left: list[Own], kernel: Kernel) -> Iterator[tuple[list[Own], list[Own]]]:
    """Values that one kernel may compute, with what was computed before: they have the same axes, are folded along rows or across them alike,
    and need no others but those.
    """
    needs = {own: _needs(own, left, kernel) for own in left}
    done: list[Own] = []
    while left:
        ready = [own for own in left if all(x in done for x in needs[own])]
        now = [own for own in ready if own.axes == ready[0].axes and _along(own) == _along(ready[0])]
        yield now, list(done)
        done += now
        left = [own for own in left if own not in now]


def _along(own: Own) -> bool:
    """Whether some of the folds of a value's own axes run along rows."""
    axes = {a for a, _ in own.axes}
    return any(not node.order.grouped for node in folds_of(own.value) if node.order and axes & node.free)


def _needs(own: Own, every: Collection[Own], kernel: Kernel) -> set[Own]:
    """What a value is made of elsewhere than at its own place."""
    here, inside = tuple(a for a, _ in own.axes), _inside(own, kernel)
    return {other for other, axes in inside.values() if other in every and (axes != here or other.axes != own.axes)}


def _inside(own: Own, kernel: Kernel) -> Named:
    folds = folds_of(own.value)
    values = (x for x in walk(own.value) if x is not own.value and isinstance(x, Op | Fold | Component))
    return named(values, {**extents_of(folds, kernel), **dict(own.axes)}, kernel)


def _part(owns: Sequence[Own], done: Collection[Own], stored: Mapping[Own, Leaf], kernel: Kernel) -> Kernel:
    """The kernel that stores some values."""
    axes, stores = owns[0].axes, list[Store]()
    at = row_major(axes)
    for own in owns:
        known = _loads(_inside(own, kernel), {x: stored[x] for x in done})
        stores.append(Store(stored[own], at, substitute(own.value, known)))
    read = {x.leaf.name for store in stores for x, _ in loads(store.value)}
    before = {own.extents for own in done if stored[own].name in read}
    for way in kernel.rest.alone if kernel.rest else ():
        leaves = read & {leaf.name for leaf in kernel.leaves}
        if way.extents == owns[0].extents and leaves <= {*way.leaves} and before <= {*way.known}:
            alone = as_own(way, stores, axes, kernel)
            if is_in_order(alone):
                return alone
    rows = _along(owns[0])
    few = 0 if rows else next(few for names, _, few in kernel.first if names == owns[0].extents)
    return Kernel(
        axes, tuple(stores), kernel.leaves, kernel.sizes, kernel.params, few=few, rows=rows, times=kernel.times
    )


def _loads(values: Named, stored: Mapping[Own, Leaf]) -> dict[Value, Value]:
    """What stands for values that were stored."""
    out: dict[Value, Value] = {}
    for node, (own, axes) in values.items():
        if own in stored:
            out[node] = load(stored[own], row_major([(a, n) for a, (_, n) in zip(axes, own.axes, strict=True)]))
    return out
