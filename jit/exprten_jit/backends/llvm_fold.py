"""Folds as LLVM instructions, in the order that `reducers` defines.

A fold *along* vectors holds its accumulators in registers, `lanes` elements wide in all. *Across* rows there is one for each
lane of the vector loop: in a register, for a few columns, or in a strip of memory as wide as the first cache allows. Where there
is more than one block, results wait on a stack for their partners.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..derived import apply
from ..dtypes import INDEX
from ..folds import folds_of
from ..ir import Fold, Load, Op, Value, local
from ..nest import WAITING_BYTES, Columns, Nest, Reduce, Stmt, Strip
from ..reducers import SHORT, TABLE, Order, halved
from .llvm_text import INDEX_TYPE, Lanes, literal
from .llvm_values import Known, Values, Where

CACHE_BYTES = 512 << 10  # of a strip that is read again: half a second cache
LEAST_BYTES = 2048  # of a row of a strip: narrower ones make too little of a page
DEPTH = 64  # results of blocks that wait for their partner: enough for 2^64 blocks

Partials = list[Lanes]  # one for each fold


class Folds(Values):
    """Emits folds."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(fast_math)
        self.nest = nest
        self.waiting = ""

    def across(self, node: Fold, known: Known, where: Where | None) -> Lanes:
        """A fold for each lane of `where`, rows brought together one after the other."""
        assert where is not None and node.order is not None, f"the fold over {node.axis.name} is not placed"
        order, count = node.order, where.count
        self._compute_outside(node, known, where)

        def element(k: str) -> Lanes:
            inside = {**known, node.axis: Lanes(k, INDEX_TYPE)}
            x = self.value(node.body, inside, where)
            return x if x.count == count else self.splat(x, count)

        def block(start: str, end: str) -> Partials:
            one = self._by_rows if any(node.axis in inner.free for inner in folds_of(node.body)) else self._by_groups
            return [one(node, order, count, start, end, element)]

        if not order.grouped:
            return self._short(node, count, known[node.extent].name, element)
        return self.blocks([node], order, count, "0", known[node.extent].name, block)[0]

    def alone(self, node: Fold, known: Known) -> Lanes:
        """A fold in the body of one across rows: there is a value for each row, and no place before its loop."""
        found = dict(known)
        self.reduce(Reduce(node.axis, node.extent, (node,), 1, False, ()), found, lambda _: None)
        return found[node]

    def _short(self, node: Fold, count: int, extent: str, element: Callable[[str], Lanes]) -> Lanes:
        """Rows of few elements, one in each lane: an accumulator for each element, and those that exist are halved."""
        t = self.text
        place = self.text.reserve(f"[{SHORT} x {Lanes('', node.dtype.memory, count).type}]")

        def at(k: str) -> str:
            return self._accumulator(node, place, k, count)

        def join(k: str, half: int) -> None:
            a, b = (self._kept(node, at(x), count) for x in (k, t.index("add", k, half)))
            self._keep(node, self.combine(node, a, b), at(k))

        t.loop("0", extent, 1, lambda k: self._keep(node, element(k), at(k)))
        half = SHORT // 2
        while half:
            t.loop("0", t.lesser(str(half), t.index("sub", extent, half)), 1, partial(join, half=half))
            half //= 2
        return self._kept(node, at("0"), count)

    def _by_groups(
        self, node: Fold, order: Order, count: int, start: str, end: str, element: Callable[[str], Lanes]
    ) -> Lanes:
        """A group of rows after the other, all of its rows at once."""
        t = self.text
        whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))
        identity = self._identity(node, count)

        def step(k: str, sums: list[Lanes]) -> list[Lanes]:
            group = [element(t.index("add", k, n)) for n in range(order.lanes)]
            return [self.combine(node, sums[0], halved(group, lambda a, b: self.combine(node, a, b)))]

        def rest(k: str, sums: list[Lanes]) -> list[Lanes]:
            group = [element(k)]
            for n in range(1, order.lanes):
                row, there = self._row(t.index("add", k, n), end)
                x = element(row)
                group.append(t.let(f"select i1 {there}, {x}, {identity}", x.lane, count))
            return [self.combine(node, sums[0], halved(group, lambda a, b: self.combine(node, a, b)))]

        sums = t.carry(start, whole, order.lanes, [identity], step)
        return t.carry(whole, end, order.lanes, sums, rest)[0]

    def _by_rows(
        self, node: Fold, order: Order, count: int, start: str, end: str, element: Callable[[str], Lanes]
    ) -> Lanes:
        """The same sum with one copy of the body, for a body that holds another fold: rows wait in memory for their group."""
        t = self.text
        identity = self._identity(node, count)
        group = self._place(node, [identity] * order.lanes)

        def step(k: str, sums: list[Lanes]) -> list[Lanes]:
            at = t.index("and", t.index("sub", k, start), order.lanes - 1)
            x = element(k)
            for n in range(order.lanes):  # a new group begins with the identity everywhere
                here = t.let(f"icmp eq i64 {at}, {n}", "i1").name
                later = t.let(f"icmp ugt i64 {n}, {at}", "i1").name
                place = self._accumulator(node, group, str(n), count)
                kept = t.let(f"select i1 {later}, {identity}, {self._kept(node, place, count)}", x.lane, count)
                self._keep(node, t.let(f"select i1 {here}, {x}, {kept}", x.lane, count), place)
            last = t.let(f"icmp eq i64 {t.index('add', k, 1)}, {end}", "i1").name
            full = t.let(f"icmp eq i64 {at}, {order.lanes - 1}", "i1").name
            lanes = self._fetch(node, group, order.lanes, count)
            joined = self.combine(node, sums[0], halved(lanes, lambda a, b: self.combine(node, a, b)))
            ends = t.let(f"or i1 {last}, {full}", "i1").name
            return [t.let(f"select i1 {ends}, {joined}, {sums[0]}", x.lane, count)]

        return t.carry(start, end, 1, [identity], step)[0]

    def _row(self, k: str, end: str) -> tuple[str, str]:
        """A row that exists, and whether it is the one asked for."""
        t = self.text
        return t.lesser(k, t.index("sub", end, 1)), t.let(f"icmp slt i64 {k}, {end}", "i1").name

    def strip(self, stmt: Strip, known: Known, run: Callable[[Sequence[Stmt], Known], None]) -> None:
        """A fold across rows, one strip of columns wide; `run` does statements."""
        t, order = self.text, stmt.fold.order
        assert order is not None, "a scheduled fold has an order"
        self.address[stmt.waiting.name] = self._waiting()

        def block(start: str, end: str) -> None:
            run(stmt.first, known)
            whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))

            def step(k: str) -> None:
                rows: Known = {row: Lanes(t.index("add", k, n), INDEX_TYPE) for n, row in enumerate(stmt.rows)}
                run(stmt.body, {**known, **rows})

            def rest(k: str) -> None:
                inside = dict(known)
                for n, (row, there) in enumerate(zip(stmt.rows, stmt.there, strict=True)):
                    at, exists = self._row(t.index("add", k, n), end)
                    inside |= {row: Lanes(at, INDEX_TYPE), there: Lanes(exists, "i1")}
                run(stmt.rest, inside)

            t.loop(start, whole, order.lanes, step)
            t.loop(whole, end, order.lanes, rest)

        def at(statements: Sequence[Stmt]) -> Callable[[str], None]:
            return lambda top: run(statements, {**known, stmt.top: Lanes(top, INDEX_TYPE)})

        self._pairing(order, "0", self.value(stmt.extent, known, None).name, block, at(stmt.pair), at(stmt.keep))

    def _waiting(self) -> str:
        """Memory for the rows that wait: one for all strips, which run one after the other."""
        if not self.waiting:
            self.waiting = self.text.reserve(f"[{WAITING_BYTES} x i8]")
        return self.waiting

    def width(self, stmt: Columns, known: Known) -> str:
        """How many columns are taken at a time, a multiple of 64: all bytes of a line, and whole groups of vectors."""
        t, width = self.text, str(stmt.block)
        for strip in stmt.strips:
            assert strip.fold.order is not None, "a scheduled fold has an order"
            block, size = strip.fold.order.block, strip.into.dtype.itemsize
            rows = self.value(strip.extent, known, None).name
            last = t.index("sdiv", t.index("sub", rows, 1), block)
            zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(last, INDEX_TYPE), Lanes("true", "i1"))
            wait = t.index("sub", "64", t.select(t.let(f"icmp sgt i64 {last}, 0", "i1").name, zeros.name, "63"))
            width = t.lesser(width, t.index("sdiv", str(WAITING_BYTES // size), wait))
            if stmt.again:
                fits = t.index("sdiv", str(CACHE_BYTES // size), t.greater(rows, "1"))
                width = t.lesser(width, t.greater(fits, str(LEAST_BYTES // size)))
        return t.index("and", width, -64)

    def _compute_outside(self, node: Fold, known: Known, where: Where) -> None:
        """What the body needs in every lane, but not of its own axis: before the loop, not in it."""
        stack, seen = [node.body], set[Value]()
        while stack:
            part = stack.pop()
            if part in seen or where.axis not in part.free:
                continue
            seen.add(part)
            if node.axis in part.free:
                stack.extend(reversed(part.children))
            elif isinstance(part, Fold | Load) or (isinstance(part, Op) and part.dtype is not INDEX):
                self.value(part, known, where)

    def reduce(self, stmt: Reduce, known: Known, run: Callable[[Known], None]) -> None:
        """The folds of a statement into `known`; `run` does the statements of its body, for one element."""
        extent = self.value(stmt.extent, known, None).name
        known.update(zip(stmt.folds, self.partials(stmt, known, run, "0", extent), strict=True))

    def partials(self, stmt: Reduce, known: Known, run: Callable[[Known], None], low: str, high: str) -> Partials:
        """The folds of the elements low to high; low is the start of a block."""
        order = stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        splats, self.splats = self.splats, {}
        if stmt.lanes > 1:
            self.splat_invariants([node.body for node in stmt.folds], stmt.axis, stmt.lanes, known)

        def block(start: str, end: str) -> Partials:
            if stmt.lanes > 1:
                return self._along(stmt, order, known, start, end)
            return self._one_by_one(stmt, order, known, start, end, run)

        results = self.blocks(stmt.folds, order, 1, low, high, block)
        self.splats = splats
        return results

    def _along(self, stmt: Reduce, order: Order, known: Known, start: str, end: str) -> Partials:
        t, width, folds = self.text, stmt.lanes, stmt.folds
        groups = order.lanes // width
        whole = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes))

        def elements(k: str, mask: str | None, count: int = width) -> list[Lanes]:
            where, inside = Where(stmt.axis, k, count, mask), dict(known)
            values = [self.value(node.body, inside, where) for node in folds]
            return [x if x.count == count else self.splat(x, count) for x in values]

        def step(k: str, lanes: list[Lanes]) -> list[Lanes]:
            out = list(lanes)
            for g in range(groups):
                for f, x in enumerate(elements(t.index("add", k, g * width), None)):
                    out[f * groups + g] = self.combine(folds[f], out[f * groups + g], x)
            return out

        def masked_step(k: str, lanes: list[Lanes]) -> list[Lanes]:
            out = list(lanes)
            left = t.let(f"trunc i64 {t.index('sub', end, k)} to i32", "i32")
            for g in range(groups):
                many = self.splat(left, width)
                positions = ", ".join(f"i32 {g * width + n}" for n in range(width))
                mask = t.let(f"icmp slt <{width} x i32> <{positions}>, {many.name}", "i1", width)
                for f, x in enumerate(elements(t.index("add", k, g * width), mask.name)):
                    old = out[f * groups + g]
                    new = self.combine(folds[f], old, x)
                    out[f * groups + g] = t.let(f"select {mask}, {new}, {old}", old.lane, width)
            return out

        lanes = [self._identity(node, width) for node in folds for _ in range(groups)]
        if stmt.chains > 1:
            fast = t.index("add", start, t.index("and", t.index("sub", end, start), -order.lanes * stmt.chains))
            lanes, start = self._chained(stmt, order, lanes, start, fast, lambda k: elements(k, None))
        lanes = t.carry(start, whole, order.lanes, lanes, step)
        if stmt.masked:
            lanes = t.carry(whole, end, order.lanes, lanes, masked_step)
            return [
                self._tree(lanes[f * groups : (f + 1) * groups], partial(self.combine, node))
                for f, node in enumerate(folds)
            ]
        results = []
        for f, node in enumerate(folds):
            mine = lanes[f * groups : (f + 1) * groups]
            mine = self._singles(node, mine, whole, end, lambda k, f=f: elements(k, None, 1)[f])  # type: ignore[misc]
            results.append(self._tree(mine, partial(self.combine, node)))
        return results

    def _chained(
        self,
        stmt: Reduce,
        order: Order,
        lanes: list[Lanes],
        start: str,
        end: str,
        elements: Callable[[str], list[Lanes]],
    ) -> tuple[list[Lanes], str]:
        """The elements up to `end` in several times the accumulators, if there are any: bringing those together takes a while. Returns
        where to go on: at the start, where a quick comparison was not enough.
        """
        t, folds, width, groups = self.text, stmt.folds, stmt.lanes, order.lanes // stmt.lanes
        many = groups * stmt.chains
        quick = [bool(TABLE[node.reducer].quick) and node.dtype.kind == "f" for node in folds]
        ways = [partial(self._quick if fast else self.combine, node) for node, fast in zip(folds, quick, strict=True)]

        def step(k: str, carried: list[Lanes]) -> list[Lanes]:
            out = list(carried)
            found = [elements(t.index("add", k, g * width)) for g in range(many)]
            for f, way in enumerate(ways):
                mine = slice(f * many, (f + 1) * many)
                out[mine] = [way(lane, xs[f]) for lane, xs in zip(out[mine], found, strict=True)]
                for a, b in zip(found[::2], found[1::2], strict=True) if quick[f] else ():
                    unordered = t.let(f"fcmp uno {a[f]}, {b[f].name}", "i1", width)
                    out[-1] = t.let(f"or {out[-1]}, {unordered.name}", "i1", width)
            return out

        def once(_: str, carried: list[Lanes]) -> list[Lanes]:
            none = self.splat(Lanes("false", "i1"), width)
            found = t.carry(
                start, end, many * width, [*(x for x in carried[1:] for _ in range(stmt.chains)), none], step
            )
            bad = t.call("@llvm.vector.reduce.or." + f"v{width}i1", "i1", 1, found[-1])
            out: list[Lanes] = []
            for f, way in enumerate(ways):
                mine = found[f * many : (f + 1) * many]
                out += [halved(mine[g::groups], way) for g in range(groups)]
                if quick[f]:  # among zeros the sign decides
                    total = self._tree(out[-groups:], way)
                    bad = t.let(f"or {bad}, {t.let(f'fcmp oeq {total}, 0.0', 'i1').name}", "i1")
            kept = [
                t.let(f"select {bad}, {old}, {new}", new.lane, width) for old, new in zip(carried[1:], out, strict=True)
            ]
            return [t.let(f"select {bad}, i64 {start}, i64 {end}", INDEX_TYPE), *kept]

        some = t.let(f"icmp slt i64 {start}, {end}", "i1")
        first, *rest = t.carry(
            "0", t.let(f"zext {some} to i64", INDEX_TYPE).name, 1, [Lanes(start, INDEX_TYPE), *lanes], once
        )
        return rest, first.name

    def _quick(self, node: Fold, a: Lanes, b: Lanes) -> Lanes:
        """The greater of two, or the less: in one instruction."""
        x, y = local("a", node.dtype), local("b", node.dtype)
        chosen = apply("where", apply(TABLE[node.reducer].quick, x, y), x, y)
        return self.value(chosen, {x: b, y: a}, None)

    def _one_by_one(
        self, stmt: Reduce, order: Order, known: Known, start: str, end: str, run: Callable[[Known], None]
    ) -> Partials:
        """Every element on its own, into accumulators in memory."""
        places = [self._place(node, [self._identity(node, order.lanes)]) for node in stmt.folds]

        def step(k: str) -> None:
            inside = {**known, stmt.axis: Lanes(k, INDEX_TYPE)}
            run(inside)
            where = Where(stmt.axis, k, 1)
            for node, place in zip(stmt.folds, places, strict=True):
                self._join(node, place, order.lanes, start, k, self.value(node.body, inside, where))

        self.text.loop(start, end, 1, step)
        return [
            self._tree(self._fetch(node, place, 1, order.lanes), partial(self.combine, node))
            for node, place in zip(stmt.folds, places, strict=True)
        ]

    def _singles(
        self, node: Fold, lanes: list[Lanes], low: str, high: str, element: Callable[[str], Lanes]
    ) -> list[Lanes]:
        """The elements low to high, one at a time; element k belongs to lane k - low."""
        place, count = self._place(node, lanes), len(lanes) * lanes[0].count
        self.text.loop(low, high, 1, lambda k: self._join(node, place, count, low, k, element(k)))
        return self._fetch(node, place, len(lanes), lanes[0].count)

    def _join(self, node: Fold, place: str, count: int, base: str, k: str, x: Lanes) -> None:
        at = self.text.index("and", self.text.index("sub", k, base), count - 1)
        address = self._accumulator(node, place, at, 1)
        self._keep(node, self.combine(node, self._kept(node, address, 1), x), address)

    def _place(self, node: Fold, lanes: list[Lanes]) -> str:
        """Memory that holds the accumulators, one after the other."""
        place = self.text.reserve(f"[{len(lanes) * lanes[0].count} x {node.dtype.memory}]")
        for n, x in enumerate(lanes):
            self._keep(node, x, self._accumulator(node, place, str(n), x.count))
        return place

    def _fetch(self, node: Fold, place: str, count: int, width: int) -> list[Lanes]:
        return [self._kept(node, self._accumulator(node, place, str(n), width), width) for n in range(count)]

    def _accumulator(self, node: Fold, place: str, at: str, width: int) -> str:
        kind = Lanes("", node.dtype.memory, width).type
        return self.text.let(f"getelementptr {kind}, ptr {place}, i64 {at}", "ptr").name

    def _keep(self, node: Fold, x: Lanes, address: str) -> None:
        t, dtype = self.text, node.dtype
        if dtype.memory != dtype.lane:  # a bool is a byte here: an array of bits has no addresses
            x = t.let(f"zext {x} to {Lanes('', dtype.memory, x.count).type}", dtype.memory, x.count)
        t.put(f"store {x}, ptr {address}, align {dtype.itemsize}")

    def _kept(self, node: Fold, address: str, width: int) -> Lanes:
        dtype = node.dtype
        kind = Lanes("", dtype.memory, width).type
        return self._lanes(
            self.text.let(f"load {kind}, ptr {address}, align {dtype.itemsize}", dtype.memory, width), dtype
        )

    def _identity(self, node: Fold, count: int) -> Lanes:
        text = literal(TABLE[node.reducer].identity(node.dtype), node.dtype)
        return self.splat(Lanes(text, node.dtype.lane), count)

    def combine(self, node: Fold, a: Lanes, b: Lanes) -> Lanes:
        x, y = local("a", node.dtype), local("b", node.dtype)
        return self.value(apply(TABLE[node.reducer].combine, x, y), {x: a, y: b}, None)

    def _tree(self, lanes: list[Lanes], combine: Callable[[Lanes, Lanes], Lanes]) -> Lanes:
        """All lanes as one: whole registers first, then inside the last one."""
        result = halved(lanes, combine)
        while result.count > 1:
            half = result.count // 2
            result = combine(self._half(result, 0, half), self._half(result, half, half))
        return result

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
        block: Callable[[str, str], Partials],
    ) -> Partials:
        """The results of all blocks from low to high, paired."""
        t = self.text
        kinds = [Lanes("", node.dtype.lane, width) for node in folds]
        waiting = [t.reserve(f"[{DEPTH} x {kind.type}]") for kind in kinds]
        now = [t.reserve(kind.type) for kind in kinds]

        def top(which: int, at: str) -> str:
            return t.let(f"getelementptr {kinds[which].type}, ptr {waiting[which]}, i64 {at}", "ptr").name

        def fetch(address: str, kind: Lanes) -> Lanes:
            return t.let(f"load {kind.type}, ptr {address}", kind.lane, width)

        def one(start: str, end: str) -> None:
            for place, x in zip(now, block(start, end), strict=True):
                t.put(f"store {x}, ptr {place}")

        def pair(at: str) -> None:
            for n, (node, kind) in enumerate(zip(folds, kinds, strict=True)):
                paired = self.combine(node, fetch(top(n, at), kind), fetch(now[n], kind))
                t.put(f"store {paired}, ptr {now[n]}")

        def keep(at: str) -> None:
            for n, kind in enumerate(kinds):
                t.put(f"store {fetch(now[n], kind)}, ptr {top(n, at)}")

        self._pairing(order, low, high, one, pair, keep)
        return [fetch(place, kind) for place, kind in zip(now, kinds, strict=True)]

    def _pairing(
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
