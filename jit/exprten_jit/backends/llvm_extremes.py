"""Extremes along vectors: what is done first, in one comparison an element, and the full rule only where that does not suffice.

A NaN, and the sign of a zero, are decided by the full rule; where an extreme stands is looked for only where the greatest is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ..derived import apply
from ..ir import Fold, Load, Op, fold, local
from ..nest import Reduce
from ..reducers import halved, reducer_of
from .llvm_accumulators import Accumulators, Row
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known

Elements = Callable[..., Row]  # from an index on; with which mask, and how many
Quick = tuple[Row, str]  # what all elements make, and whether it is right
ORDERED = 4  # chains of comparisons that look for NaN


class Extremes(Accumulators):
    """Emits them for whole multiples of `Reduce.chains` times the accumulators."""

    def chained(
        self, stmt: Reduce, lanes: list[Row], start: str, end: str, elements: Elements, known: Known
    ) -> tuple[list[Row], str, Quick | None]:
        """The elements up to `end` in several times the accumulators, if there are any: bringing those together takes a while. Returns
        where to go on: at the start, where a quick comparison was not enough; and what was found by quick ones.
        """
        t, folds, width = self.text, stmt.folds, stmt.lanes
        many = len(lanes) * stmt.chains
        quick = [bool(reducer_of(node.reducer).quick) and node.dtype.kind == "f" for node in folds for _ in node.bodies]
        merge, join = self._merge(folds, self._quick), self._merge(folds, self._quick_join)

        def step(k: str, carried: list[Row]) -> list[Row]:
            *chains, ordered = carried
            self.fetch_on(stmt, known, k, many * width)
            found = [elements(t.index("add", k, g * width)) for g in range(many)]
            some = [[x for x, fast in zip(row, quick, strict=True) if fast] for row in found]
            return [
                *(join(chain, row) for chain, row in zip(chains, found, strict=True)),
                self._still(ordered, _pairs(some)),
            ]

        def once(_: str, carried: list[Row]) -> list[Row]:
            before = carried[2:]
            first = [self._identity(folds, width) for _ in range(many)]
            *found, ordered = self._carry(start, end, many * width, [*first, self._all_ordered(first[0][0])], step)
            joined = [halved(found[g :: len(lanes)], merge) for g in range(len(lanes))]
            whole = self._tree(joined, merge)
            bad = t.let(f"xor {self._in_order(ordered)}, true", "i1")
            for x, fast in zip(whole, quick, strict=True):
                if fast:  # among zeros the sign decides
                    bad = t.let(f"or {bad}, {t.let(f'fcmp oeq {x}, 0.0', 'i1').name}", "i1")
            kept = [
                [t.let(f"select {bad}, {o}, {n}", o.lane, width) for o, n in zip(old, new, strict=True)]
                for old, new in zip(before, joined, strict=True)
            ]
            return [[t.let(f"select {bad}, i64 {start}, i64 {end}", INDEX_TYPE)], whole, *kept]

        some = t.let(f"icmp slt i64 {start}, {end}", "i1")
        times = t.let(f"zext {some} to i64", INDEX_TYPE).name
        nothing = self._identity(folds, 1)
        (at,), whole, *rest = self._carry("0", times, 1, [[Lanes(start, INDEX_TYPE)], nothing, *lanes], once)
        enough = t.let(f"and {some}, {t.let(f'icmp eq i64 {at.name}, {end}', 'i1').name}", "i1").name
        return rest, at.name, (whole, enough) if all(quick) else None

    def quickly(self, stmt: Reduce, start: str, end: str, elements: Elements, known: Known) -> Quick:
        """What all elements make by quick comparisons alone, and whether it is right; the last ones with a mask."""
        t, folds, width = self.text, stmt.folds, stmt.lanes
        merge, groups = self._merge(folds, self._quick), _groups(stmt)
        nothing = self._identity(folds, width)

        def steps(many: int) -> Callable[[str, list[Row]], list[Row]]:
            def step(k: str, carried: list[Row]) -> list[Row]:
                *chains, ordered = carried
                if many > groups:
                    self.fetch_on(stmt, known, k, many * width)
                found = [elements(t.index("add", k, g * width)) for g in range(many)]
                joined = [merge(chain, row) for chain, row in zip(chains, found, strict=True)]
                return [*joined, self._still(ordered, _pairs(found))]

            return step

        def masked(k: str, carried: list[Row]) -> list[Row]:
            *chains, ordered = carried
            found = []
            for g in range(groups):
                at = t.index("add", k, g * width)
                found.append(self._some(elements, at, self.before(at, end, width), nothing))
            joined = [merge(chain, row) for chain, row in zip(chains, found, strict=True)]
            return [*joined, self._still(ordered, _pairs(found))]

        fast, whole = (self._multiple(start, end, groups * width * n) for n in (stmt.chains, 1))
        first = [nothing] * (groups * stmt.chains)
        size = groups * stmt.chains * width
        every = [*first, self._all_ordered(nothing[0])]
        *found, ordered = self._carry(start, fast, size, every, steps(groups * stmt.chains))
        found = [halved(found[g::groups], merge) for g in range(groups)]
        *found, ordered = self._carry(fast, whole, groups * width, [*found, ordered], steps(groups))
        *found, ordered = self._perhaps(whole, end, [*found, ordered], masked)
        row, good = self._tree(found, merge), self._in_order(ordered)
        for x in row:  # among zeros the sign decides
            good = t.let(f"and {good}, {t.let(f'fcmp une {x}, 0.0', 'i1').name}", "i1")
        return row, good.name

    def sought(self, stmt: Reduce, start: str, end: str, elements: Elements, known: Known) -> tuple[Row, str, str]:
        """The extreme of elements, which are its candidates, and where it stands first: each lane notes in which step its own grew last. Up to where they
        were compared: all, or whole steps if the last ones cannot be read with a mask. And whether that is right: not with a NaN.
        """
        t, width, node = self.text, stmt.lanes, alone(*stmt.folds)
        floats, step, kind = node.dtype.kind == "f", stmt.chains * width, f"i{node.dtype.bits}"
        nothing, quick = self._identity([node], width), partial(self._quick, node)

        def read(k: str, n: int, some: bool) -> Row:
            at = t.index("add", k, n * width)
            return self._some(elements, at, self.before(at, end, width), nothing) if some else elements(at)[:1]

        def once(k: str, carried: list[Row], some: bool = False) -> list[Row]:
            *chains, ordered = carried
            if not some:
                self.fetch_on(stmt, known, k, step)
            every, now = [read(k, n, some) for n in range(stmt.chains)], self._number(k, start, step, kind, width)
            out = []
            for (best, at), (x,) in zip(chains, every, strict=True):
                more = self.which_further(node, x, best)
                out.append([*quick([best], [x]), t.let(f"select {more}, {now}, {at}", kind, width)])
            return [*out, self._still(ordered, _pairs(every)) if floats else ordered]

        fast = self._multiple(start, end, step)
        first = [*nothing, self.splat(Lanes("0", kind), width)]
        every = [*[first] * stmt.chains, self._all_ordered(first[0])]
        found = self._carry(start, fast, step, every, once)
        if stmt.masked:
            found = self._perhaps(fast, end, found, partial(once, some=True))
        *chains, ordered = found
        (best,) = self._tree([[x] for x, _ in chains], quick)
        place = t.index("add", start, self._first_of(chains, best, step))
        good = self._in_order(ordered).name
        if not stmt.masked:
            good = t.let(f"and i1 {good}, {t.let(f'icmp slt i64 {start}, {fast}', 'i1').name}", "i1").name
        return [best, elements(place, None, 1)[1]], end if stmt.masked else fast, good

    def _number(self, k: str, start: str, step: int, kind: str, count: int) -> Lanes:
        """How many steps an index is from the start, `count` times."""
        number = self.text.index("udiv", self.text.index("sub", k, start), step)
        if kind == INDEX_TYPE:
            return self.splat(Lanes(number, kind), count)
        return self.splat(self.text.let(f"trunc i64 {number} to {kind}", kind), count)

    def _first_of(self, chains: list[Row], wanted: Lanes, step: int) -> str:
        """The first place of a value, counted from the start; the vectors of a step each have a chain, of extremes and of the steps in which they grew."""
        t, width, places = self.text, chains[0][0].count, []
        for n, (best, at) in enumerate(chains):
            here = self._alike(best, self.splat(wanted, width))
            bits = int(at.lane[1:])
            wide = (
                at if bits == 32 else t.let(f"{'zext' if bits < 32 else 'trunc'} {at} to <{width} x i32>", "i32", width)
            )
            numbers = ", ".join(f"i32 {n * width + lane}" for lane in range(width))
            first = t.let(f"mul {wide}, splat (i32 {step})", "i32", width)
            place = t.let(f"add {first}, <{numbers}>", "i32", width)
            places.append(t.let(f"select {here}, {place}, {place.type} splat (i32 -1)", "i32", width))
        least = halved(places, lambda a, b: t.call(f"@llvm.umin.v{width}i32", "i32", width, a, b))
        found = t.call(f"@llvm.vector.reduce.umin.v{width}i32", "i32", 1, least)
        return t.let(f"zext {found} to i64", INDEX_TYPE).name

    def _alike(self, x: Lanes, like: Lanes) -> Lanes:
        equal = "fcmp oeq" if x.lane in ("half", "bfloat", "float", "double") else "icmp eq"
        return self.text.let(f"{equal} {x}, {like.name}", "i1", x.count)

    def before(self, k: str, end: str, count: int) -> Lanes:
        """Which of `count` indices from `k` on are before the end."""
        t = self.text
        left = self.splat(t.let(f"trunc i64 {t.index('sub', end, k)} to i32", "i32"), count)
        numbers = ", ".join(f"i32 {n}" for n in range(count))
        return t.let(f"icmp slt <{count} x i32> <{numbers}>, {left.name}", "i1", count)

    def _some(self, elements: Elements, k: str, mask: Lanes, nothing: Row) -> Row:
        """Elements from `k` on, as many as have a mask, and `nothing` in place of others."""
        row = elements(k, mask.name)[: len(nothing)]
        return [self.text.let(f"select {mask}, {x}, {o}", x.lane, x.count) for x, o in zip(row, nothing, strict=True)]

    def _multiple(self, start: str, end: str, step: int) -> str:
        """As far as steps from the start go, which are a power of two."""
        t = self.text
        return t.index("add", start, t.index("and", t.index("sub", end, start), -step))

    def _all_ordered(self, like: Lanes) -> Row:
        return [self.noted(self.widened(Lanes("true", "i1"), like.count), like)] * ORDERED

    def _still(self, ordered: Row, pairs: Sequence[tuple[Lanes, Lanes]]) -> Row:
        """Which lanes have had numbers alone, when these were met too: one masked comparison for two, in several chains."""
        t, out = self.text, list(ordered)
        for n, (x, y) in enumerate(pairs):
            one = out[n % ORDERED]
            both = self.noted(t.let(f"fcmp ord {x}, {y.name}", "i1", x.count), x)
            out[n % ORDERED] = t.let(f"and {one}, {both.name}", one.lane, x.count)
        return out

    def _in_order(self, ordered: Row) -> Lanes:
        """Whether no lane has met a NaN."""
        t = self.text
        (every,) = halved(
            [[x] for x in ordered], lambda a, b: [t.let(f"and {a[0]}, {b[0].name}", a[0].lane, a[0].count)]
        )
        return self._met("and", every)

    def _further(self, node: Fold, x: Lanes, best: Lanes) -> str:
        """1 where an element of `x` is further than `best`, else 0."""
        some = self.text.call(f"@llvm.vector.reduce.or.v{x.count}i1", "i1", 1, self.which_further(node, x, best))
        return self.text.let(f"zext {some} to i64", INDEX_TYPE).name

    def which_further(self, node: Fold, x: Lanes, best: Lanes) -> Lanes:
        """Which elements of `x` are further than those of `best`."""
        a, b = local("a", node.dtype), local("b", node.dtype)
        return self.value(apply(reducer_of(node.reducer).quick, a, b), {a: x, b: best}, None)


def _pairs(rows: Sequence[Row]) -> list[tuple[Lanes, Lanes]]:
    """The values of two rows, and the next two."""
    return [pair for a, b in zip(rows[::2], rows[1::2], strict=False) for pair in zip(a, b, strict=True)] + [
        (x, x) for x in (rows[-1] if len(rows) % 2 else ())
    ]


def _groups(stmt: Reduce) -> int:
    """How many vectors hold the accumulators of a block."""
    order = stmt.folds[0].order
    assert order is not None, "a scheduled fold has an order"
    return order.lanes // stmt.lanes


def is_quick(stmt: Reduce) -> bool:
    """Whether quick comparisons are all that is done, with a mask for the last ones."""
    quick = all(reducer_of(node.reducer).quick and node.dtype.kind == "f" for node in stmt.folds)
    return quick and stmt.masked and not stmt.saved


def is_sought(stmt: Reduce) -> bool:
    """Whether a pass is for the place of an extreme of real numbers, and for nothing else."""
    (node, *others), kinds = stmt.folds, "fiu"
    return bool(not others and stmt.chains > 1 and reducer_of(node.reducer).extreme and node.dtypes[0].kind in kinds)


def alone(node: Fold) -> Fold:
    """The extreme, without its place."""
    found = fold(reducer_of(node.reducer).extreme, node.axis, node.extent, node.bodies[:1], node.order)
    assert isinstance(found, Fold), "a fold of one body"
    return found


def is_position(node: Fold) -> bool:
    """Whether a fold tells where an extreme of what lies in memory stands: nothing that is computed might differ the second time."""
    if not reducer_of(node.reducer).extreme or not isinstance(node.bodies[0], Load):
        return False
    return isinstance(node.bodies[1], Op) and node.bodies[1].op == "cast" and node.bodies[1].args[0] is node.axis
