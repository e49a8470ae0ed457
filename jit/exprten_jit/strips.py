"""Folds across rows as strips: a row of accumulators that the rows are brought into, a few at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .derived import apply
from .dtypes import BOOL, INDEX
from .folds import combined, folds_of, joined
from .ir import Axis, Fold, Kernel, Leaf, Load, Local, Op, Store, Value, components, const, fold, load, local
from .nest import Machine, Stmt, Strip, Vector
from .pairs import twins
from .placing import forms, loop_over, place
from .reducers import ACROSS, halved, identities, in_order, reducer_of
from .rewrite import steps, substitute
from .vectors import DEAR, computed, cost_of

WIDEST = 2048  # bytes of a block of rows that stays in half of a second cache
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
    rows: Value | None = None  # in memory, of which a fold takes some; None for all of its own
    further: int = 2 * ACROSS.lanes  # what is fetched early is read so many rows later

    def of(self, node: Fold, bodies: Sequence[Value], into: tuple[Leaf, ...]) -> Strip:
        """The strip of a fold, its `bodies` in terms of what was saved before."""
        order = node.order
        assert order is not None, "a scheduled fold has an order"
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
        far = (self.rows or node.extent) * self.extent >= FAR_BYTES // max((x.dtype.itemsize for x in ahead), default=1)
        rest = [group[0]]
        for t, xs in zip(there[1:], group[1:], strict=True):
            rest.append(tuple(apply("where", t, x, nothing) for x, nothing in zip(xs, identity, strict=True)))
        cheap = sum(map(cost_of, bodies)) < DEAR  # a dear one's time is in lanes that hold nothing, wherever its sum is
        registers = cheap or self.kernel.few > 0
        few = fold(node.reducer, node.axis, node.extent, tuple(bodies), order) if registers else None
        assert few is None or isinstance(few, Fold)
        waiting, top, pair, keep = self._pairing(node, into)
        return Strip(
            node.axis, node.extent, node, into, waiting, rows, there, top,
            first=self._loop(into, at, identity),
            body=self._loop(into, at, join(sums, together(group, join)), *rows, ahead=ahead, far=far),
            rest=self._loop(into, at, join(sums, together(rest, join)), *rows, *there),
            pair=pair, keep=keep, few=few,
        )  # fmt: skip

    def of_blocks(self, node: Fold, bodies: Sequence[Value], into: tuple[Leaf, ...]) -> Strip:
        """The strip of a fold of blocks of rows, each of which `bodies` fold: what they need lies in scratch."""
        row, at, rows = local("block", INDEX), self.axis - self.start, node.extent * ACROSS.block
        here = [substitute(body, {node.axis: row}) for body in bodies]
        again, body, scratch = dict[Value, Value](), list[Stmt](), list[Leaf]()

        def kept(values: Sequence[Value]) -> dict[Value, Value]:
            """Scratch for values, and what is read from there."""
            leaves = [Leaf(f"block{n}", x.dtype) for n, x in enumerate(values, len(scratch))]
            scratch.extend(leaves)
            return {x: load(leaf, at) for x, leaf in zip(values, leaves, strict=True)}

        for inner in (f for f in folds_of(*here) if row in f.free):
            within = replace(self, bound=self.bound | {row}, rows=rows)
            if again:  # the block is read again, from the second cache: meanwhile the next one comes
                within = replace(within, further=ACROSS.block)
            before = [substitute(x, again) for x in _known_before(inner, self.axis)]
            known = kept(before)
            if known:
                body += within._loop(tuple(scratch[-len(known) :]), at, before, row)
            folded = [substitute(substitute(x, again), known) for x in inner.bodies]
            again |= kept(components(inner))
            body.append(within.of(inner, folded, tuple(scratch[-len(folded) :])))
        body += replace(self, bound=self.bound | {row})._loop(into, at, [substitute(x, again) for x in here], row)
        few = fold(node.reducer, node.axis, node.extent, tuple(bodies), node.order) if self.kernel.few else None
        assert few is None or isinstance(few, Fold)
        waiting, top, pair, keep = self._pairing(node, into)
        return Strip(
            node.axis, node.extent, node, into, waiting, (row,), (local("there", BOOL),), top,
            first=(), body=tuple(body), rest=(), pair=pair, keep=keep, few=few,
            tall=ACROSS.block, scratch=tuple((WIDEST // leaf.dtype.itemsize, leaf) for leaf in scratch),
        )  # fmt: skip

    def _pairing(
        self, node: Fold, into: tuple[Leaf, ...]
    ) -> tuple[tuple[Leaf, ...], Local, tuple[Stmt, ...], tuple[Stmt, ...]]:
        """Where results wait, at what height, and how they are paired and kept."""
        waiting, top = tuple(Leaf(f"{leaf.name}_waiting", leaf.dtype) for leaf in into), local("top", INDEX)
        at = self.axis - self.start
        above, sums = top * self.width + at, tuple(load(leaf, at) for leaf in into)
        pair = self._loop(into, at, combined(node, tuple(load(leaf, above) for leaf in waiting), sums), top)
        return waiting, top, pair, self._loop(waiting, above, sums, top)

    def _ahead(self, group: list[Sequence[Value]], rows: Sequence[Local]) -> tuple[Load, ...]:
        """What a later group reads: lines in a row, of tensors."""
        found: list[Load] = []
        for bodies, row in zip(group, rows, strict=True):
            loads = (x for x in computed(bodies, self.axis) if isinstance(x, Load) and x.leaf in self.kernel.leaves)
            late = [x for x in loads if row in x.offset.free and steps(x, self.axis) in (1, -1, 2)]
            late = list(dict.fromkeys(twins(x)[0] for x in late))  # the parts of a complex number lie in one line
            found += [load(x.leaf, substitute(x.offset, {row: row + self.further})) for x in late]
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


def _known_before(node: Fold, columns: Axis) -> list[Value]:
    """The largest values in a fold that are the same for all of its rows, one for each column."""
    found: list[Value] = []
    seen, stack = set[Value](), list(node.bodies)
    while stack:
        value = stack.pop()
        if value in seen or not isinstance(value, Op) or columns not in value.free or value.dtype is INDEX:
            continue
        seen.add(value)
        if node.axis in value.free:
            stack.extend(reversed(value.args))
        else:
            found.append(value)
    return found
