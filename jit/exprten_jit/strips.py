"""Folds across rows as strips: a row of accumulators that the rows are brought into, a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from .derived import apply
from .dtypes import BOOL, INDEX
from .folds import combined, folds_of, joined
from .ir import FALSE, Axis, Fold, Leaf, Load, Local, Store, Value, both, const, fold, index, load, local
from .kernel import Kernel
from .machine import LINE, Machine
from .nest import ONE, Let, Loop, Stmt, Strip, Vector
from .pairs import lines_of
from .placing import forms, loop_over, place
from .reducers import halved, identities, in_order, reducer_of
from .rewrite import affine, steps, substitute
from .vectors import DEAR, computed, cost_of, roots_of

BEGIN, STOP = local("first_row", INDEX), local("last_row", INDEX)  # of those that are brought in next
STRIP_BYTES = 8192  # of a row of accumulators on the stack; from 32 KiB for all of them on less
DEAR_WIDE, WIDE = (
    (8192, 512),
    (4096, 1536),
)  # bytes: a row of a strip that is wide, and how far ahead along it lines are fetched
CLOSE_BYTES = 256, 8704  # of a row: of few lines, or as long as a strip is
CLOSE_AHEAD = 18 << 10  # bytes: half a page more, as whole pages fetched from their beginning take 1.7 times as long
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
        """The strip of a fold, its `bodies` in terms of what was saved before. Folds along the rows are made before these are brought in."""
        saved = [
            Store(Leaf(f"made{n}", x.dtype), node.axis - BEGIN, x)
            for n, x in enumerate(made_of_rows(node, bodies, self.axis))
        ]
        bodies = [substitute(x, {s.value: load(s.leaf, s.offset) for s in saved}) for x in bodies]
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
        cheap = sum(map(cost_of, bodies)) < DEAR  # a dear one's time is in lanes that hold nothing, wherever its sum is
        close = FALSE if self.kernel.few else self._close(node, bodies)
        size = max(dtype.itemsize for dtype in node.dtypes)
        ahead = self._ahead(group, rows, close, size, *(WIDE if cheap else DEAR_WIDE))
        every, widest = self.kernel.folded(node.extent), max((x.leaf.itemsize for x in ahead), default=1)
        far = self.kernel.far(every, FAR_BYTES // widest)
        rest = [group[0]]
        for t, xs in zip(there[1:], group[1:], strict=True):
            rest.append(tuple(apply("where", t, x, nothing) for x, nothing in zip(xs, identity, strict=True)))
        above = top * self.width + at
        registers = (cheap or self.kernel.few > 0) and not saved
        few = fold(node.reducer, node.axis, node.extent, tuple(bodies), order) if registers else None
        assert few is None or isinstance(few, Fold)
        quick = None if saved or self.kernel.few else self._quickly(node, group, into[0], rows, there, ahead, far)
        return Strip(
            node.axis, node.extent, node, into, waiting, rows, there, top,
            first=self._loop(into, at, identity),
            body=self._loop(into, at, join(sums, together(group, join)), BEGIN, *rows, ahead=ahead, far=far),
            rest=self._loop(into, at, join(sums, together(rest, join)), BEGIN, *rows, *there),
            pair=self._loop(into, at, combine(tuple(load(leaf, above) for leaf in waiting), sums), top),
            keep=self._loop(waiting, above, sums, top), few=few,
            each=self._each(node.axis, saved), made=tuple(s.leaf for s in saved), quick=quick,
        )  # fmt: skip

    def _quickly(
        self,
        node: Fold,
        group: Sequence[Sequence[Value]],
        leaf: Leaf,
        rows: tuple[Local, ...],
        there: tuple[Local, ...],
        ahead: tuple[Load, ...],
        far: Value,
    ) -> Strip | None:
        """The quick strip of an extreme of floats, of `group`, its rows; None of other folds."""
        reducer = reducer_of(node.reducer)
        if not reducer.quick or len(node.dtypes) > 1 or node.dtype.kind != "f" or node.dtype.wide:
            return None
        into, at = (leaf, Leaf(f"{leaf.name}_sum", node.dtype)), self.axis - self.start
        nothing = const(identities(reducer, node.dtypes)[0], node.dtype), const(0.0, node.dtype)

        def further(a: Value, b: Value) -> Value:
            return apply("where", apply(reducer.quick, a, b), a, b)

        def add(a: Value, b: Value) -> Value:
            return apply("add", a, b)

        def joined_with(rows: Sequence[Sequence[Value]]) -> list[Value]:
            every = [list(column) for column in zip(*rows, strict=True)]
            best, total = (load(x, at) for x in into)
            return [further(best, halved(every[0], further)), apply("add", total, halved(every[1], add))]

        first, *others = [(x, x) for (x,) in group]
        chosen = [
            tuple(apply("where", t, x, o) for x, o in zip(pair, nothing, strict=True))
            for t, pair in zip(there[1:], others, strict=True)
        ]
        return Strip(
            node.axis, node.extent, node, into, (), rows, there, local("top", INDEX),
            first=self._loop(into, at, nothing),
            body=self._loop(into, at, joined_with([first, *others]), BEGIN, *rows, ahead=ahead, far=far),
            rest=self._loop(into, at, joined_with([first, *chosen]), BEGIN, *rows, *there),
            pair=(), keep=(),
        )  # fmt: skip

    def _close(self, node: Fold, bodies: Sequence[Value]) -> Value:
        """Whether rows run on, and several lie in a page: the processor sees no order in the lines as they are read, but in those that are fetched as they
        follow each other.
        """
        close, columns = list[Value](), self.end - self.start
        for x in lines_of(self._read(bodies)):
            form = affine(x.offset, node.axis)
            if node.axis in x.offset.free and steps(x, self.axis) in (1, -1):
                if form is None:
                    return FALSE
                least, most = (n // x.leaf.dtype.itemsize for n in CLOSE_BYTES)
                within = both(form[0] >= least, form[0] < most)
                close.append(both(within, apply("equal", form[0], columns * (1 + x.leaf.pairs))))
        return reduce(both, close) if close else FALSE

    def _read(self, bodies: Iterable[Value]) -> list[Load]:
        """What is read of tensors, along the columns."""
        return [x for x in computed(bodies, self.axis) if isinstance(x, Load) and x.leaf in self.kernel.leaves]

    def _each(self, row: Axis, saved: Sequence[Store]) -> tuple[Stmt, ...]:
        """A loop over the next rows, which saves what they have."""
        if not saved:
            return ()
        here: set[Axis | Local] = {BEGIN, STOP, row}
        bound = self.bound | here
        known = place(roots_of(saved), self.machine, bound, set(self.done))
        return (Loop(row, STOP, (*known, Vector(ONE, index(0), index(1), 1, 1, False, tuple(saved))), BEGIN),)

    def _ahead(
        self, group: list[Sequence[Value]], rows: Sequence[Local], close: Value, size: int, least: int, further: int
    ) -> tuple[Load, ...]:
        """What the group after the next one reads: lines in a row, of tensors. In a strip of rows of at `least` so many bytes what this group
        reads so many `further` along: the processor has seen the row by then. Where rows are `close`, as many lines in the order in which they lie.
        """
        wide = apply("greater", self.width * size, index(least))
        rows_on = apply("where", wide, index(0), index(2 * len(rows)))
        found: list[Load] = []
        for n, (bodies, row) in enumerate(zip(group, rows, strict=True)):
            late = [x for x in self._read(bodies) if row in x.offset.free and steps(x, self.axis) in (1, -1, 2)]
            for x in lines_of(late):
                on = apply("where", wide, index(further // x.leaf.itemsize), index(0))
                later = load(x.leaf, substitute(x.offset, {row: row + rows_on, self.axis: self.axis + on}))
                found.append(self._either(close, self._in_order(x, row, len(rows), n), later))
        return tuple(found)

    def _in_order(self, x: Load, row: Local, many: int, n: int) -> Load:
        """The n-th of so many lines in a row that are fetched where each of so many rows is read."""
        part, each = x.leaf.dtype.itemsize, 1 + x.leaf.pairs
        first = self.start if steps(x, self.axis) == 1 else self.end - 1
        begin = substitute(x.offset, {row: BEGIN, self.axis: first})
        return load(
            x.leaf, begin + index((CLOSE_AHEAD + n * LINE) // part) + (self.axis - self.start) * index(many * each)
        )

    def _either(self, condition: Value, a: Load, b: Load) -> Load:
        """The one, or the other, from columns that are read as they lie."""
        if condition is FALSE or steps(b, self.axis) not in (1, -1):
            return b
        forms = zip(*(affine(x.offset, self.axis) or () for x in (a, b)), strict=True)
        step, begin = (apply("where", condition, *form) for form in forms)
        return load(b.leaf, self.axis * step + begin)

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
        if not ahead or vector.lanes == 1 or far is FALSE:
            return (*before, vector)
        for fetching in place([*([far] if far else []), *forms(ahead, self.axis)], self.machine, bound, done):
            before.append(replace(fetching, early=True) if isinstance(fetching, Let) else fetching)
        return (*before, replace(vector, ahead=ahead, far=far))


def made_of_rows(node: Fold, bodies: Sequence[Value], column: Axis) -> list[Value]:
    """The largest values that hold folds along the rows of a strip, and so are the same for all of its columns."""
    found, stack, seen = list[Value](), list(bodies), set[Value]()
    while stack:
        value = stack.pop()
        if value in seen or not any(node.axis in inner.free for inner in folds_of(value)):
            continue
        seen.add(value)
        if column in value.free:
            assert not isinstance(value, Fold), "a fold for each column of a row"
            stack.extend(reversed(value.children))
        else:
            found.append(value)
    return found


def folded_by_columns(node: Fold, column: Axis) -> bool:
    """Whether what stands in a fold has to be folded for each of its columns: the copies of a strip would hold copies of it."""
    return any({node.axis, column} <= inner.free for inner in folds_of(*node.bodies))
