"""Folds as LLVM instructions, in the order that `reducers` defines.

A fold *along* vectors holds its accumulators in registers, `lanes` elements wide in all; those across rows are a floor above. Where
there is more than one block, results wait on a stack for their partners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..derived import apply
from ..dtypes import DType
from ..folds import combined, joined
from ..ir import Fold, Value, components, local
from ..nest import Nest, Reduce, Vector, statements
from ..reducers import Order, halved, identities, reducer_of
from ..rewrite import affine
from .llvm_memory import Known, Where
from .llvm_text import INDEX_TYPE, Lanes, literal
from .llvm_values import Values

DEPTH = 64  # results of blocks that wait for their partner: enough for 2^64 blocks

Row = list[Lanes]  # the accumulators of one fold or of several: one for each body, one fold after the other
Combine = Callable[[Row, Row], Row]


class Folds(Values):
    """Emits folds along vectors, and what all folds need."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(fast_math)
        self.nest = nest
        self.given = {leaf.name for leaf in nest.kernel.leaves}
        loops = (stmt for part in nest.parts for stmt in statements(part.body))
        groups = [*nest.groups, *(group for stmt in loops if isinstance(stmt, Vector) for group in stmt.groups)]
        self.groups = {(group[0], at): group for group in groups for at in group[1]}
        self.waiting = ""

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
        splats, self.splats = self.splats, {}
        if stmt.lanes > 1:
            self.splat_invariants(_bodies(stmt.folds), stmt.axis, stmt.lanes, known)
            for saved in stmt.saved:
                for part in affine(saved.offset, stmt.axis) or ():
                    self.value(part, known, None)

        def block(start: str, end: str) -> Row:
            if stmt.lanes > 1:
                return self._along(stmt, order, known, start, end)
            return self._one_by_one(stmt, order, known, start, end, run)

        results = self.blocks(stmt.folds, order, 1, low, high, block)
        self.splats = splats
        return results

    def _along(self, stmt: Reduce, order: Order, known: Known, start: str, end: str) -> Row:
        t, width, folds = self.text, stmt.lanes, stmt.folds
        groups = order.lanes // width
        whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))
        merge, join = self._merge(folds), self._merge(folds, self.join)

        def elements(k: str, mask: str | None = None, count: int = width) -> Row:
            where, inside = Where(stmt.axis, k, count, mask), dict(known)
            values = [self.value(body, inside, where) for body in _bodies(folds)]
            for saved in stmt.saved:
                self.store(saved, self.value(saved.value, inside, where), inside, where)
            return [self.widened(x, count) for x in values]

        def step(k: str, lanes: list[Row]) -> list[Row]:
            return [join(lane, elements(t.index("add", k, g * width))) for g, lane in enumerate(lanes)]

        def masked_step(k: str, lanes: list[Row]) -> list[Row]:
            out = []
            left = t.let(f"trunc i64 {t.index('sub', end, k)} to i32", "i32")
            many = self.splat(left, width)
            for g, lane in enumerate(lanes):
                positions = ", ".join(f"i32 {g * width + n}" for n in range(width))
                mask = t.let(f"icmp slt <{width} x i32> <{positions}>, {many.name}", "i1", width)
                new = join(lane, elements(t.index("add", k, g * width), mask.name))
                out.append([t.let(f"select {mask}, {n}, {o}", o.lane, width) for n, o in zip(new, lane, strict=True)])
            return out

        lanes = [self._identity(folds, width) for _ in range(groups)]
        if stmt.chains > 1:
            fast = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes * stmt.chains))
            lanes, start = self._chained(stmt, lanes, start, fast, elements)
        lanes = self._carry(start, whole, order.lanes, lanes, step)
        if stmt.masked:
            lanes = self._carry(whole, end, order.lanes, lanes, masked_step)
        else:
            lanes = self._singles(folds, lanes, whole, end, lambda k: elements(k, None, 1))
        return self._tree(lanes, merge)

    def _chained(
        self, stmt: Reduce, lanes: list[Row], start: str, end: str, elements: Callable[[str], Row]
    ) -> tuple[list[Row], str]:
        """The elements up to `end` in several times the accumulators, if there are any: bringing those together takes a while. Returns
        where to go on: at the start, where a quick comparison was not enough.
        """
        t, folds, width = self.text, stmt.folds, stmt.lanes
        many = len(lanes) * stmt.chains
        quick = [bool(reducer_of(node.reducer).quick) and node.dtype.kind == "f" for node in folds for _ in node.bodies]
        merge, join = self._merge(folds, self._quick), self._merge(folds, self._quick_join)

        def step(k: str, carried: list[Row]) -> list[Row]:
            *chains, (unordered,) = carried
            found = [elements(t.index("add", k, g * width)) for g in range(many)]
            for a, b in zip(found[::2], found[1::2], strict=True):
                for x, y, fast in zip(a, b, quick, strict=True):
                    if fast:
                        unordered = t.let(
                            f"or {unordered}, {t.let(f'fcmp uno {x}, {y.name}', 'i1', width).name}", "i1", width
                        )
            return [*(join(chain, row) for chain, row in zip(chains, found, strict=True)), [unordered]]

        def once(_: str, carried: list[Row]) -> list[Row]:
            before = carried[1:]
            first = [self._identity(folds, width) for _ in range(many)]
            *found, (unordered,) = self._carry(
                start, end, many * width, [*first, [self.widened(Lanes("false", "i1"), width)]], step
            )
            joined = [halved(found[g :: len(lanes)], merge) for g in range(len(lanes))]
            bad = t.call(f"@llvm.vector.reduce.or.v{width}i1", "i1", 1, unordered)
            for x, fast in zip(self._tree(joined, merge), quick, strict=True):
                if fast:  # among zeros the sign decides
                    bad = t.let(f"or {bad}, {t.let(f'fcmp oeq {x}, 0.0', 'i1').name}", "i1")
            kept = [
                [t.let(f"select {bad}, {o}, {n}", o.lane, width) for o, n in zip(old, new, strict=True)]
                for old, new in zip(before, joined, strict=True)
            ]
            return [[t.let(f"select {bad}, i64 {start}, i64 {end}", INDEX_TYPE)], *kept]

        some = t.let(f"icmp slt i64 {start}, {end}", "i1")
        times = t.let(f"zext {some} to i64", INDEX_TYPE).name
        (at,), *rest = self._carry("0", times, 1, [[Lanes(start, INDEX_TYPE)], *lanes], once)
        return rest, at.name

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
            row = [self.value(body, inside, where) for body in _bodies(folds)]
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

    # accumulators in memory

    def _places(self, folds: Sequence[Fold], rows: list[Row]) -> list[str]:
        """Memory that holds accumulators, one array for each body."""
        count = rows[0][0].count
        places = [self.text.reserve(f"[{len(rows) * count} x {dtype.memory}]") for dtype in _dtypes(folds)]
        for n, row in enumerate(rows):
            self._put(folds, places, str(n), row)
        return places

    def _fetch(self, folds: Sequence[Fold], places: Sequence[str], count: int, width: int) -> list[Row]:
        return [self._get(folds, places, str(n), width) for n in range(count)]

    def _put(self, folds: Sequence[Fold], places: Sequence[str], at: str, row: Row) -> None:
        for dtype, place, x in zip(_dtypes(folds), places, row, strict=True):
            self.keep(dtype, x, self.accumulator(dtype, place, at, x.count))

    def _get(self, folds: Sequence[Fold], places: Sequence[str], at: str, width: int) -> Row:
        found = zip(_dtypes(folds), places, strict=True)
        return [self.kept(dtype, self.accumulator(dtype, place, at, width), width) for dtype, place in found]

    def accumulator(self, dtype: DType, place: str, at: str, width: int) -> str:
        """The address of one of those at a place."""
        kind = Lanes("", dtype.memory, width).type
        return self.text.let(f"getelementptr {kind}, ptr {place}, i64 {at}", "ptr").name

    def keep(self, dtype: DType, x: Lanes, address: str) -> None:
        """Store a value of a type."""
        self.text.put(f"store {self.in_memory(x, dtype)}, ptr {address}, align {dtype.itemsize}")

    def kept(self, dtype: DType, address: str, width: int) -> Lanes:
        """What was stored."""
        kind = Lanes("", dtype.memory, width).type
        found = self.text.let(f"load {kind}, ptr {address}, align {dtype.itemsize}", dtype.memory, width)
        return self.in_register(found, dtype)

    # accumulators brought together

    def _identity(self, folds: Sequence[Fold], count: int) -> Row:
        rows = [identities(reducer_of(node.reducer), node.dtypes) for node in folds]
        numbers = zip((number for row in rows for number in row), _dtypes(folds), strict=True)
        return [self.splat(Lanes(literal(number, dtype), dtype.lane), count) for number, dtype in numbers]

    def combine(self, node: Fold, a: Row, b: Row) -> Row:
        """The accumulators of one fold."""
        return self._brought(combined, node, a, b)

    def join(self, node: Fold, a: Row, b: Row) -> Row:
        """Elements behind those that are in the accumulators of one fold."""
        return self._brought(joined, node, a, b)

    def _brought(self, how: Callable[..., tuple[Value, ...]], node: Fold, a: Row, b: Row) -> Row:
        x, y = ([local(f"{name}{k}", dtype) for k, dtype in enumerate(node.dtypes)] for name in "ab")
        known: Known = dict(zip((*x, *y), (*a, *b), strict=True))
        return [self.widened(self.value(value, known, None), a[0].count) for value in how(node, x, y)]

    def _merge(self, folds: Sequence[Fold], how: Callable[[Fold, Row, Row], Row] | None = None) -> Combine:
        """What brings the accumulators of all `folds` together."""

        def merge(a: Row, b: Row) -> Row:
            out: Row = []
            for node in folds:
                mine = slice(len(out), len(out) + len(node.bodies))
                out += (how or self.combine)(node, a[mine], b[mine])
            return out

        return merge

    def _quick(self, node: Fold, a: Row, b: Row) -> Row:
        """The greater of two, or the less: in one instruction, where there is such a comparison."""
        if not reducer_of(node.reducer).quick or node.dtype.kind != "f":
            return self.combine(node, a, b)
        x, y = local("a", node.dtype), local("b", node.dtype)
        chosen = apply("where", apply(reducer_of(node.reducer).quick, x, y), x, y)
        return [self.value(chosen, {x: b[0], y: a[0]}, None)]

    def _quick_join(self, node: Fold, a: Row, b: Row) -> Row:
        return (self._quick if reducer_of(node.reducer).quick else self.join)(node, a, b)

    def _tree(self, lanes: list[Row], combine: Combine) -> Row:
        """All lanes as one: whole registers first, then inside the last one."""
        result = halved(lanes, combine)
        while result[0].count > 1:
            half = result[0].count // 2
            result = combine([self._half(x, 0, half) for x in result], [self._half(x, half, half) for x in result])
        return result

    def _carry(
        self, low: str, high: str, step: int, initial: list[Row], body: Callable[[str, list[Row]], list[Row]]
    ) -> list[Row]:
        """`rows = body(i, rows)` for i = low, low + step, … below high, in registers."""
        sizes = [len(row) for row in initial]

        def shaped(flat: Sequence[Lanes]) -> list[Row]:
            rest = iter(flat)
            return [[next(rest) for _ in range(size)] for size in sizes]

        def flat(rows: list[Row]) -> list[Lanes]:
            return [x for row in rows for x in row]

        return shaped(self.text.carry(low, high, step, flat(initial), lambda i, xs: flat(body(i, shaped(xs)))))

    def _half(self, x: Lanes, first: int, count: int) -> Lanes:
        if count == 1:
            return self.text.let(f"extractelement {x}, i32 {first}", x.lane)
        picked = ", ".join(f"i32 {first + n}" for n in range(count))
        return self.text.let(f"shufflevector {x}, {x.type} poison, <{count} x i32> <{picked}>", x.lane, count)

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
        kinds = [Lanes("", dtype.lane, width) for dtype in _dtypes(folds)]
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


def _bodies(folds: Sequence[Fold]) -> list[Value]:
    return [body for node in folds for body in node.bodies]


def _dtypes(folds: Sequence[Fold]) -> list[DType]:
    return [dtype for node in folds for dtype in node.dtypes]
