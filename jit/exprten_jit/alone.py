"""What is computed before the rest of a kernel, as a kernel of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from .folds import folds_of, vector_axis
from .ir import Axis, Size, Store, Value, axis, index
from .kernel import Alone, Kernel
from .rewrite import substitute


def as_own(way: Alone, stores: Sequence[Store], axes: Sequence[tuple[Axis, Size]], kernel: Kernel) -> Kernel:
    """The kernel of such stores as a statement of its own. An axis without a loop has one element at a time."""
    named, loops = {n.name: (a, n) for a, n in axes}, list[tuple[Axis, Value]]()
    looped = {name for names in way.loops for name in names}
    zero: dict[Value, Value] = {a: index(0) for a, n in axes if n.name not in looped}
    for names in way.loops:
        found = [named[name] for name in names]
        zero |= {a: index(0) for a, _ in found[:-1]}
        loops.append((found[-1][0], prod((n for _, n in found), start=index(1))))
    fields, at = dict(way.ways), {axis(f"i{n}"): a for n, (a, _) in enumerate(loops)}
    for key in ("onto", "lanes", "inside"):
        fields[key] = None if fields[key] is None else at[fields[key]]
    fields["flat"] = fields["flat"] and fields["flat"].over(lambda a: at[a], str)
    if way.backwards:
        turned: dict[Value, Value] = {named[name][0]: named[name][1] - 1 - named[name][0] for name in way.backwards}
        stores = [replace(s, offset=substitute(s.offset, turned), value=substitute(s.value, turned)) for s in stores]
    folded = folds_of(*(s.value for s in stores))
    if fields["packed"] and not folded:  # rows of so many elements: scratch is known to be packed
        zero[loops[-2][1]] = index(fields["short"])
    if fields["columns"] and len(way.loops[-1]) == 1:
        zero[loops[-1][1]] = index(fields["columns"])
    if fields["strung"]:
        zero[loops[-1][1]] = index(fields["strung"])
    block = dict(fields["block"])
    written: dict[Value, Value] = {n: index(block[n]) for _, n in axes if n in block}  # folds count by the extents
    known = zero | written
    moved = tuple(replace(s, offset=substitute(s.offset, known), value=substitute(s.value, zero)) for s in stores)
    return Kernel(tuple(loops), moved, kernel.leaves, kernel.sizes, kernel.params, times=kernel.times, **fields)


def is_in_order(kernel: Kernel) -> bool:
    """Whether all folds of a kernel run the way that their order is for."""
    axis = None if kernel.short else vector_axis(kernel)
    every = folds_of(*(store.value for store in kernel.stores))
    return all(node.order is None or node.order.grouped == (axis in node.free) for node in every)


def row_major(loops: Sequence[tuple[Axis, Size]], wide: Mapping[str, int] | None = None) -> Value:
    """Where an element lies that is packed; along a `wide` axis, by the name of its extent, so many elements more are between two."""
    place: Value = index(0)
    for n, (a, extent) in enumerate(loops):
        place = place * extent + a
        if more := (wide or {}).get(extent.name):
            inner = prod((m for _, m in loops[n + 1 :]), start=index(1))
            return place * (inner + more) + row_major(loops[n + 1 :])
    return place
