"""Folds across rows as strips: a row of accumulators that the rows are brought into, a few at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from .derived import apply
from .dtypes import BOOL, INDEX
from .folds import combined, joined
from .ir import Axis, Fold, Kernel, Leaf, Load, Local, Store, Value, const, fold, index, load, local
from .nest import Machine, Stmt, Strip, Vector
from .pairs import twins
from .placing import forms, loop_over, place
from .reducers import halved, identities, in_order, reducer_of
from .rewrite import steps, substitute
from .vectors import DEAR, computed, cost_of

FAR_BYTES = (
    8 << 20
)  # of what is folded: beyond it the next rows are fetched early (1.5 times from memory; 0.85 times from a cache)


@dataclass(frozen=True)
class Stripping:
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

        exact = reducer_of(node.reducer).exact(node.dtype)
        together = in_order if exact else halved

        def combine(a: Sequence[Value], b: Sequence[Value]) -> Sequence[Value]:
            return combined(node, a, b)

        def join(a: Sequence[Value], b: Sequence[Value]) -> Sequence[Value]:
            return joined(node, a, b) if exact else combined(node, a, b)

        group: list[Sequence[Value]] = [tuple(substitute(body, {node.axis: r}) for body in bodies) for r in rows]
        ahead = self._ahead(group, rows)
        every, size = [extent for _, extent in self.kernel.axes], max((x.dtype.itemsize for x in ahead), default=1)
        far = prod(every, start=index(1) if node.extent in every else node.extent) >= FAR_BYTES // size
        rest = [group[0]]
        for t, xs in zip(there[1:], group[1:], strict=True):
            rest.append(tuple(apply("where", t, x, nothing) for x, nothing in zip(xs, identity, strict=True)))
        above = top * self.width + at
        cheap = sum(map(cost_of, bodies)) < DEAR  # a dear one's time is in lanes that hold nothing, wherever its sum is
        registers = cheap or self.kernel.few > 0
        few = fold(node.reducer, node.axis, node.extent, tuple(bodies), order) if registers else None
        assert few is None or isinstance(few, Fold)
        return Strip(
            node.axis, node.extent, node, into, waiting, rows, there, top,
            first=self._loop(into, at, identity),
            body=self._loop(into, at, join(sums, together(group, join)), *rows, ahead=ahead, far=far),
            rest=self._loop(into, at, join(sums, together(rest, join)), *rows, *there),
            pair=self._loop(into, at, combine(tuple(load(leaf, above) for leaf in waiting), sums), top),
            keep=self._loop(waiting, above, sums, top), few=few,
        )  # fmt: skip

    def _ahead(self, group: list[Sequence[Value]], rows: Sequence[Local]) -> tuple[Load, ...]:
        """What the group after the next one reads: lines in a row, of tensors."""
        found: list[Load] = []
        for bodies, row in zip(group, rows, strict=True):
            loads = (x for x in computed(bodies, self.axis) if isinstance(x, Load) and x.leaf in self.kernel.leaves)
            late = [x for x in loads if row in x.offset.free and steps(x, self.axis) in (1, -1, 2)]
            late = list(dict.fromkeys(twins(x)[0] for x in late))  # the parts of a complex number lie in one line
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
        *before, vector = loop_over(self.kernel, self.machine, self.axis, self.start, self.end, stores, bound, done)
        assert isinstance(vector, Vector)
        if not ahead or vector.lanes == 1:
            return (*before, vector)
        before += place([*([far] if far else []), *forms(ahead, self.axis)], self.machine, bound, done)
        return (*before, replace(vector, ahead=ahead, far=far))
