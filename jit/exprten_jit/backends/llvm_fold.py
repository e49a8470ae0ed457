"""Folds as LLVM instructions, in the order that `reducers` defines.

A fold *along* vectors holds its accumulators in registers, `lanes` elements wide in all; those across rows are a floor above. Where
there is more than one block, results wait on a stack for their partners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from ..ir import Fold, Value, components, index
from ..nest import ONE, Nest, Reduce, Vector, statements
from ..placing import CHAINS
from ..reducers import Order
from ..rewrite import affine
from ..unrolled import Group
from .llvm_accumulators import Row, bodies_of, dtypes_of
from .llvm_extremes import Extremes, is_quick, is_sought
from .llvm_ops import Elements
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where

DEPTH = 64  # results of blocks that wait for their partner: enough for 2^64 blocks


class Folds(Extremes):
    """Emits folds along vectors, and what all folds need."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(fast_math)
        self.nest = nest
        room = (leaf for part in nest.parts for leaf, _ in part.room)  # shared by threads: no row has room beyond it
        self.given = {leaf.name for leaf in (*nest.kernel.leaves, *room)}
        self.groups, self.apart = groups_of(nest), by_element(nest.apart)
        self.waiting = ""

    @property
    def times(self) -> Value:
        """In how many pieces the kernel is run."""
        return self.nest.kernel.times or index(1)

    def alone(self, node: Fold, known: Known) -> Row:
        """A fold in the body of one across rows: there is a value for each row, and no place before its loop."""
        found = dict(known)
        self.reduce(Reduce(node.axis, node.extent, (node,), 1, False, ()), found, lambda _: None)
        return [found[value] for value in components(node)]

    def reduce(self, stmt: Reduce, known: Known, run: Callable[[Known], None]) -> None:
        """The folds of a statement into `known`; `run` does the statements of its body, for one element."""
        extent = self.value(stmt.extent, known, None).name
        self.settle(stmt.folds, self.partials(stmt, known, run, "0", extent), known)

    def partials(self, stmt: Reduce, known: Known, run: Callable[[Known], None], low: str, high: str) -> Row:
        """The folds of the elements low to high; low is the start of a block."""
        order = stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        if order.grouped:
            return self._of_one_column(stmt, known, low, high)
        splats, self.splats = self.splats, {}
        if stmt.lanes > 1:
            self.splat_invariants(bodies_of(stmt.folds), stmt.axis, stmt.lanes, known)
            for saved in stmt.saved:
                for part in affine(saved.offset, stmt.axis) or ():
                    self.value(part, known, None)

        def block(start: str, end: str) -> Row:
            if stmt.chained:
                found: dict[Fold, Row] = {}
                for part in _passes(stmt):
                    row = iter(self._along(part, order, known, start, end))
                    found |= {node: [next(row) for _ in node.dtypes] for node in part.folds}
                return [x for node in stmt.folds for x in found[node]]
            if stmt.lanes > 1:
                return self._along(stmt, order, known, start, end)
            return self._one_by_one(stmt, order, known, start, end, run)

        results = self.blocks(stmt.folds, order, 1, low, high, block)
        self.splats = splats
        return results

    def _of_one_column(self, stmt: Reduce, known: Known, low: str, high: str) -> Row:
        """The same across rows: in a vector of one lane."""
        known[stmt.extent] = known.get(stmt.extent) or self.value(stmt.extent, known, None)
        where = Where(ONE, "0", 1)
        return [x for node in stmt.folds for x in self.across(node, dict(known), where, low, high)]

    def _along(self, stmt: Reduce, order: Order, known: Known, start: str, end: str) -> Row:
        t, width, folds = self.text, stmt.lanes, stmt.folds
        groups = order.lanes // width
        whole = self._multiple(start, end, order.lanes)
        merge, join = self._merge(folds), self._merge(folds, self.join)

        def elements(k: str, mask: str | None = None, count: int = width) -> Row:
            where, inside = Where(stmt.axis, k, count, mask), dict(known)
            values = [self.value(body, inside, where) for body in bodies_of(folds)]
            for saved in stmt.saved:
                self.store(saved, self.value(saved.value, inside, where), inside, where)
            return [self.widened(x, count) for x in values]

        def step(k: str, lanes: list[Row]) -> list[Row]:
            return [join(lane, elements(t.index("add", k, g * width))) for g, lane in enumerate(lanes)]

        def masked_step(k: str, lanes: list[Row]) -> list[Row]:
            out = []
            for g, lane in enumerate(lanes):
                at = t.index("add", k, g * width)
                mask = self.before(at, end, width)
                new = join(lane, elements(at, mask.name))
                out.append([t.let(f"select {mask}, {n}, {o}", o.lane, width) for n, o in zip(new, lane, strict=True)])
            return out

        def rest(lanes: list[Row], start: str) -> Row:
            lanes, start = self._turns(stmt, known, start, whole, lanes, step)
            lanes = self._carry(start, whole, order.lanes, lanes, step)
            if stmt.masked:
                lanes = self._perhaps(whole, end, lanes, masked_step)
            else:
                lanes = self._singles(folds, lanes, whole, end, lambda k: elements(k, None, 1))
            return self._tree(lanes, merge)

        lanes = [self._identity(folds, width) for _ in range(groups)]
        # at once: to ask in every step takes 1.07 times as long in a cache, and from memory up to twice
        self.fetch_row(stmt, known, start, order.lanes, whole)
        if stmt.chains > 1:
            if is_sought(stmt):
                row, upto, good = self.sought(stmt, start, end, elements, known)
                begin = t.select(good, upto, start)

                def both() -> Row:
                    kept = zip(row, self._identity(folds, 1), strict=True)
                    found = [t.let(f"select i1 {good}, {x}, {o}", x.lane) for x, o in kept]
                    return merge(found, rest(lanes, begin))

                return self._unless(folds, (row, good), t.let(f"icmp eq i64 {upto}, {end}", "i1").name, both)
            if is_quick(stmt):
                found = self.quickly(stmt, start, end, elements, known)
                return self._unless(folds, found, "true", partial(rest, lanes, start))
            fast = self._multiple(start, end, order.lanes * stmt.chains)
            lanes, start, quick = self.chained(stmt, lanes, start, fast, elements, known)
            if quick is not None:
                return self._unless(
                    folds, quick, t.let(f"icmp eq i64 {fast}, {end}", "i1").name, partial(rest, lanes, start)
                )
        return rest(lanes, start)

    def _turns(
        self,
        stmt: Reduce,
        known: Known,
        start: str,
        end: str,
        lanes: list[Row],
        step: Callable[[str, list[Row]], list[Row]],
    ) -> tuple[list[Row], str]:
        """Several steps at a time, as long as there are so many elements, and where that ends."""
        if stmt.steps == 1:
            return lanes, start
        t, order = self.text, stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        size = stmt.steps * order.lanes

        def turn(k: str, lanes: list[Row]) -> list[Row]:
            for at in [t.index("add", k, n * order.lanes) for n in range(stmt.steps)]:
                lanes = step(at, lanes)
            return lanes

        enough = self._multiple(start, end, size)
        return self.carry_on(stmt, known, start, enough, size, lanes, turn), enough

    def _unless(self, folds: Sequence[Fold], quick: tuple[Row, str], all_: str, rest: Callable[[], Row]) -> Row:
        """What was found quickly, where that is right and was `all_`; else the rest."""
        places = self._places(folds, [quick[0]])
        enough = self.text.let(f"and i1 {quick[1]}, {all_}", "i1").name
        self.text.either(enough, lambda: None, lambda: self._put(folds, places, "0", rest()))
        return self._get(folds, places, "0", 1)

    def _one_by_one(
        self, stmt: Reduce, order: Order, known: Known, start: str, end: str, run: Callable[[Known], None]
    ) -> Row:
        """Every element on its own, into accumulators in memory."""
        folds = stmt.folds
        places = self._places(folds, [self._identity(folds, order.lanes)])

        def step(k: str) -> None:
            inside = {**known, stmt.axis: Lanes(k, INDEX_TYPE)}
            run(inside)
            where = Where(stmt.axis, k, 1)
            row = [self.value(body, inside, where) for body in bodies_of(folds)]
            self._join(folds, places, order.lanes, start, k, row)

        self.text.loop(start, end, 1, step)
        return self._tree(self._fetch(folds, places, 1, order.lanes), self._merge(folds))

    def _singles(
        self, folds: Sequence[Fold], lanes: list[Row], low: str, high: str, element: Callable[[str], Row]
    ) -> list[Row]:
        """The elements low to high, one at a time; element k belongs to lane k - low."""
        places, width = self._places(folds, lanes), lanes[0][0].count
        self.text.loop(low, high, 1, lambda k: self._join(folds, places, len(lanes) * width, low, k, element(k)))
        return self._fetch(folds, places, len(lanes), width)

    def _join(self, folds: Sequence[Fold], places: Sequence[str], count: int, base: str, k: str, x: Row) -> None:
        at = self.text.index("and", self.text.index("sub", k, base), count - 1)
        self._put(folds, places, at, self._merge(folds)(self._get(folds, places, at, 1), x))

    # blocks

    def blocks(
        self,
        folds: Sequence[Fold],
        order: Order,
        width: int,
        low: str,
        high: str,
        block: Callable[[str, str], Row],
    ) -> Row:
        """The results of all blocks from low to high, paired."""
        t = self.text
        kinds = [Lanes("", dtype.lane, width) for dtype in dtypes_of(folds)]
        waiting = [t.reserve(f"[{DEPTH} x {kind.type}]") for kind in kinds]
        now = [t.reserve(kind.type) for kind in kinds]

        def fetch(places: Sequence[str]) -> Row:
            found = zip(places, kinds, strict=True)
            return [t.let(f"load {kind.type}, ptr {place}", kind.lane, width) for place, kind in found]

        def put(places: Sequence[str], row: Row) -> None:
            for place, x in zip(places, row, strict=True):
                t.put(f"store {x}, ptr {place}")

        def top(at: str) -> list[str]:
            found = zip(waiting, kinds, strict=True)
            return [t.let(f"getelementptr {kind.type}, ptr {w}, i64 {at}", "ptr").name for w, kind in found]

        merge = self._merge(folds)
        self.pairing(
            order,
            low,
            high,
            lambda start, end: put(now, block(start, end)),
            lambda at: put(now, merge(fetch(top(at)), fetch(now))),
            lambda at: put(top(at), fetch(now)),
        )
        return fetch(now)

    def pairing(
        self,
        order: Order,
        low: str,
        high: str,
        block: Callable[[str, str], None],
        pair: Callable[[str], None],
        keep: Callable[[str], None],
    ) -> None:
        """`block` after `block`; the last result waits, kept at some height, until its neighbour of the same size is there to be
        paired with it.
        """
        t = self.text
        height, number, carries = (t.reserve(INDEX_TYPE) for _ in range(3))
        for counter in (height, number):
            t.put(f"store i64 0, ptr {counter}")

        def get(counter: str) -> str:
            return t.let(f"load i64, ptr {counter}", INDEX_TYPE).name

        def pop() -> None:
            at = t.index("sub", get(height), 1)
            t.put(f"store i64 {at}, ptr {height}")
            pair(at)

        def pop_equal() -> None:
            pop()
            t.put(f"store i64 {t.index('lshr', get(carries), 1)}, ptr {carries}")

        def push() -> None:
            t.put(f"store i64 {get(number)}, ptr {carries}")
            t.while_(lambda: t.let(f"trunc i64 {get(carries)} to i1", "i1").name, pop_equal)
            keep(get(height))
            for counter in (height, number):
                t.put(f"store i64 {t.index('add', get(counter), 1)}, ptr {counter}")

        def one(start: str) -> str:
            t.when(t.let(f"icmp sgt i64 {start}, {low}", "i1").name, push)
            end = t.lesser(t.index("add", start, order.block), high)
            block(start, end)
            return end

        t.repeat(low, high, one)
        t.while_(lambda: t.let(f"icmp sgt i64 {get(height)}, 0", "i1").name, pop)


def _passes(stmt: Reduce) -> tuple[Reduce, Reduce]:
    """A pass over a block, and one over it as it lies in the first cache, for what is taken in chains."""
    others = tuple(node for node in stmt.folds if node not in stmt.chained)
    again = replace(stmt, folds=stmt.chained, chains=CHAINS, chained=(), saved=(), ahead=(), far=None)
    return replace(stmt, folds=others, chained=()), again


def groups_of(nest: Nest) -> Elements:
    """For each element of what is read or stored together in the body of a nest, all of these."""
    loops = (stmt for stmt in statements(nest.body) if isinstance(stmt, Vector))
    return by_element((*nest.groups, *(group for stmt in loops for group in stmt.groups)))


def by_element(groups: Iterable[Group]) -> Elements:
    return {(group[0], at): group for group in groups for at in group[1]}
