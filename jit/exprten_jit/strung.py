"""Rows of few elements strung together: two axes as one, along which the target runs on.

What is read may lie otherwise: its rows from the last to the first, or with gaps between them. Of as many vectors as hold whole rows each takes its
elements from the same places, counted from the first of them: parts that are read as they lie, and put in order in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd
from typing import NamedTuple

from .derived import apply
from .dtypes import INDEX
from .ir import FALSE, Axis, Const, Load, Local, Op, Store, Value, axis, both, index, load, local
from .kernel import Kernel
from .machine import LINE, Machine
from .nest import Let, Loop, Nest, Stmt, Vector
from .past import are_multiples, large_target
from .placing import place
from .rewrite import affine, substitute, walk
from .unrolled import WRITTEN_OUT
from .vectors import FAR_BYTES, computed, cost_of, roots_of, widest_bits

ROW = local("row", INDEX)  # the first of those that are taken at a time
# bytes of rows, of which those are fetched that come so much later; and where they are whole lines, which are stored past the caches
AHEAD, FAR_AHEAD = 4096, 8192


class Places(NamedTuple):
    """Where elements lie along two axes that are one, of rows of `many`: `step` further from row to row, `each` from element to element."""

    step: int
    each: int
    many: int

    def of(self, first: int, count: int) -> list[int]:
        """The places of so many elements, from the first of a row on."""
        return [n // self.many * self.step + n % self.many * self.each for n in range(first, first + count)]


def strung(kernel: Kernel, machine: Machine) -> Nest | None:
    """The loop nest of a kernel whose two innermost axes are taken as one; None where it is much text, or elements lie at distances that are no numbers."""
    (rows, count), (inner, _) = kernel.axes[-2:]
    many, one = kernel.strung, axis(f"{rows.name}{inner.name}")
    given = dict.fromkeys(x for x in walk(*(s.value for s in kernel.stores)) if isinstance(x, Load))
    every: list[Load | Store] = [*given, *kernel.stores]
    if not all(_are_known(x.offset, rows, inner) for x in every):
        return None
    known: dict[Value, Value] = {x: load(x.leaf, _as_one(x.offset, rows, inner, one, many)) for x in given}
    stores = tuple(
        replace(s, offset=_as_one(s.offset, rows, inner, one, many), value=substitute(s.value, known))
        for s in kernel.stores
    )
    nodes = [x for x in computed([s.value for s in stores], one) if one in x.free]
    lanes = max(1, machine.vector_bits // widest_bits(kernel, machine, nodes, stores))
    groups = many // gcd(lanes, many)
    if lanes == 1 or groups * cost_of(*roots_of(stores)) > WRITTEN_OUT:
        return None
    extent = count * many
    past = _past_caches(kernel, machine, stores[0], extent)
    far, ahead = _ahead(kernel, [x for x in known.values() if isinstance(x, Load)], one, extent, past)
    vector = Vector(one, index(0), extent, lanes, groups, False, stores, past, ahead, far, strung=many)
    body = _nested(kernel.axes[:-2], vector, machine, frozenset(), set())
    return Nest(kernel, ((Let(far, early=True), *body) if far else tuple(body)), None, written=True)


def _are_known(offset: Value, rows: Axis, inner: Axis) -> bool:
    """Whether an offset has known steps along both axes."""
    along = affine(offset, inner)
    across = affine(along[1], rows) if along else None
    return along is not None and across is not None and isinstance(along[0], Const) and isinstance(across[0], Const)


def _as_one(offset: Value, rows: Axis, inner: Axis, one: Axis, many: int) -> Value:
    """An offset along two axes as one along that which they are."""
    found = affine(offset, inner)
    outside = affine(found[1], rows) if found else None
    if found and outside and outside[0] is found[0] * many:
        return outside[1] + found[0] * one
    row = one // many
    return substitute(offset, {rows: row, inner: one - row * many})


def _past_caches(kernel: Kernel, machine: Machine, store: Store, extent: Value) -> Value | None:
    """Whether rows, so long as one, are stored past the caches: all are whole lines of a large target."""
    large, outer = large_target(kernel, machine), [a for a, _ in kernel.axes[:-2]]
    if large is None:
        return None
    parts = apply("bitwise_and", extent, index(LINE // store.leaf.itemsize - 1))
    return both(
        both(large, apply("equal", parts, index(0))), are_multiples(store.offset, outer, LINE // store.leaf.itemsize)
    )


def _ahead(
    kernel: Kernel, loads: Sequence[Load], one: Axis, extent: Value, past: Value | None
) -> tuple[Value | None, tuple[Load, ...]]:
    """What is read some rows later, and whether it is fetched: from memory, as no processor sees it coming."""
    row = kernel.axes[-3][0] if len(kernel.axes) > 2 else None
    found = [x for x in loads if row in x.offset.free and places_of(x, one)]
    size = max((x.leaf.itemsize for x in found), default=1)
    far = kernel.far(kernel.every, FAR_BYTES // size)
    if row is None or not found or far is FALSE:
        return None, ()
    most = (
        index(AHEAD // size) if past is None else apply("where", past, index(FAR_AHEAD // size), index(AHEAD // size))
    )
    further = apply("maximum", most // apply("maximum", extent, index(1)), index(1))
    return far, tuple(load(x.leaf, substitute(x.offset, {row: row + further})) for x in found)


def _nested(
    axes: Sequence[tuple[Axis, Value]],
    vector: Vector,
    machine: Machine,
    bound: frozenset[Axis | Local],
    done: set[Value],
) -> list[Stmt]:
    """The loops over other axes around it."""
    placed = place(roots_of(vector.stores), machine, bound, done)
    if not axes:
        return [*placed, vector]
    (first, extent), *others = axes
    return [*placed, Loop(first, extent, tuple(_nested(others, vector, machine, bound | {first}, done)), index(0))]


def places_of(at: Load, one: Axis) -> Places | None:
    """Where elements lie that are strung together along an axis, but do not run on; else None."""
    quotient = _row_of(at, one)
    if quotient is None:
        return None
    found = affine(substitute(at.offset, {quotient: ROW}), one)
    assert found is not None, "strung elements lie at regular distances"
    step, each, many = affine(substitute(found[1], {ROW: _ROWS}), _ROWS), found[0], quotient.args[1]
    assert step is not None and isinstance(step[0], Const) and isinstance(each, Const) and isinstance(many, Const)
    return Places(int(step[0].value + each.value * many.value), int(each.value), int(many.value))


_ROWS = axis("rows")


def begins(at: Load, one: Axis) -> Value:
    """Where the first element of a ROW lies."""
    quotient = _row_of(at, one)
    assert quotient is not None, "elements that are strung together"
    return substitute(at.offset, {quotient: ROW, one: ROW * quotient.args[1]})


def _row_of(at: Load, one: Axis) -> Op | None:
    nodes = walk(at.offset) if one in at.offset.free else ()
    return next((x for x in nodes if isinstance(x, Op) and x.op == "floor_divide" and x.args[0] is one), None)
