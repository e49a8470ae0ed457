"""Kernels without folds: these are computed before what is left, or all of a kernel is, and copied, or all that it reads is copied before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from .alone import as_own, is_in_order, row_major
from .beforehand import Beforehand, beforehand
from .derived import apply
from .folds import folds_of, loads
from .ir import Axis, Leaf, Size, Store, Value, index, load, size
from .kernel import OWN, START, STORED, WHOLE, Alone, Kernel
from .machine import LINE
from .needed import extents_of
from .piece import Piece, pieces_of
from .rewrite import substitute

Named = Mapping[str, tuple[Axis, Size]]  # axes with their extents, by the names of these


def without_folds(kernel: Kernel) -> Beforehand | None:
    """A kernel as what is left of it without folds; nothing where it has none, or there is no room for some."""
    rest = kernel.rest
    if rest is None:
        return None
    pieces = pieces_of(kernel)
    if pieces is None:
        return None
    kernel = (
        replace(kernel, times=prod((piece.length for piece in pieces[1:]), start=pieces[0].length))
        if pieces
        else kernel
    )
    if rest.whole:
        return (_brought if rest.brought else _copied)(kernel, pieces)
    assert rest.left is not None, "what is left of a statement"
    found = beforehand(replace(kernel, first=rest.first), every=True)
    if found is None or found.kernel is None or folds_of(*(store.value for store in found.kernel.stores)):
        return None
    left = as_own(rest.left, found.kernel.stores, [*_named(kernel).values()], kernel)
    return replace(found, kernel=replace(left, cached=kernel.cached), pieces=pieces)


def _named(kernel: Kernel) -> dict[str, tuple[Axis, Size]]:
    axes = {n.name: (a, n) for a, n in kernel.axes if isinstance(n, Size)}
    assert len(axes) == len(kernel.axes), "all extents have names"
    return axes


def _place(kernel: Kernel, named: Named, order: Sequence[str], wide: Sequence[tuple[str, int]] = ()) -> Value:
    """Where an element lies that is packed in this order, but for a `wide` axis; numbers stand for extents that a kernel is made for."""
    assert kernel.rest is not None, "what is computed as a whole"
    exact: dict[Value, Value] = {named[name][1]: index(many) for name, many in kernel.rest.exact}
    return substitute(row_major([named[name] for name in order if name in named], dict(wide)), exact)


def _copied(kernel: Kernel, pieces: tuple[Piece, ...]) -> Beforehand | None:
    """A kernel as the copy of what another one stored, packed in the order of memory; nothing where a fold would run another way than its order is for."""
    (store,), named, rest = kernel.stores, _named(kernel), kernel.rest
    assert rest is not None, "what is computed as a whole"
    axes, scratch = [*named.values()], Leaf(WHOLE, store.leaf.dtype)
    at = _place(kernel, named, rest.memory, rest.wide)
    computed = as_own(rest.whole[0], [Store(scratch, at, store.value)], axes, kernel)
    if not is_in_order(computed):
        return None
    parts, many = [computed], rest.room // scratch.dtype.itemsize
    room = [(scratch, many)]
    for way in rest.whole[1:-1]:  # to the order of the target
        stored = Leaf(STORED, scratch.dtype)
        place = _place(kernel, named, [name for row in rest.whole[-1].loops for name in row])
        turned = as_own(way, [Store(stored, place, load(scratch, at))], axes, kernel)
        parts.append(replace(turned, times=None))
        room.append((stored, many))
        scratch, at = stored, place
    copy = as_own(rest.whole[-1], [replace(store, value=load(scratch, at))], axes, kernel)
    if rest.lined:
        copy, pieces = _lined(copy, rest.whole[-1], named, pieces)
    return Beforehand(copy, tuple(parts), tuple(room), (), pieces)


def _lined(kernel: Kernel, way: Alone, named: Named, pieces: tuple[Piece, ...]) -> tuple[Kernel, tuple[Piece, ...]]:
    """A kernel that stores whole lines in each piece of the axis that is the outermost of its last loop: these have a line more."""
    (cut, *others), line = way.loops[-1], LINE // kernel.stores[0].leaf.itemsize
    inner = prod((named[name][1] for name in others), start=index(1))
    more = (inner + (line - 2)) // inner
    pieces = tuple(replace(piece, beyond=more) if piece.extent.name == cut else piece for piece in pieces)
    return replace(kernel, lined=(size(OWN) * inner, apply("equal", size(START), index(0)))), pieces


def _brought(kernel: Kernel, pieces: tuple[Piece, ...]) -> Beforehand | None:
    """A kernel of what was copied before, packed in the order of its target; nothing as in `_copied`, or where it is read at several places."""
    (store,), named, rest = kernel.stores, _named(kernel), kernel.rest
    assert rest is not None, "what is computed as a whole"
    copied, way = rest.whole
    axes, at = [*named.values()], _place(kernel, named, rest.memory)
    extents, places, known = extents_of(folds_of(store.value), kernel), set[Value](), dict[Value, Value]()
    read = [x for x, _ in loads(store.value) if x.leaf.name == copied.leaves[1]]
    scratch = Leaf(WHOLE, read[0].leaf.dtype)
    for x in read:
        free = {a: n for a in x.offset.free if isinstance(a, Axis) and isinstance(n := extents.get(a), Size)}
        here: dict[Value, Value] = {a: named[n.name][0] for a, n in free.items() if n.name in named}
        if {*here.values()} != {a for a, _ in axes} or len(here) < len(x.offset.free):
            return None
        places.add(substitute(x.offset, here))
        known[x] = load(scratch, substitute(at, {b: a for a, b in here.items()}))
    if len(places) != 1:
        return None
    copy = as_own(copied, [Store(scratch, at, load(read[0].leaf, places.pop()))], axes, kernel)
    computed = as_own(way, [replace(store, value=substitute(store.value, known))], axes, kernel)
    if not is_in_order(computed):
        return None
    return Beforehand(
        None, (copy, computed), ((scratch, rest.room // scratch.dtype.itemsize),), (), pieces, tuple(known.items())
    )
