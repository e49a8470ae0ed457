"""Extremes along vectors: what is done first, in one comparison an element, and the full rule only where that does not suffice.

A NaN, and the sign of a zero, are decided by the full rule; where an extreme stands is looked for only where the greatest is.
"""

from __future__ import annotations

from collections.abc import Callable

from ..derived import apply
from ..ir import Fold, Load, Op, fold, local
from ..nest import Reduce
from ..reducers import halved, reducer_of
from .llvm_accumulators import Accumulators, Row
from .llvm_memory import Known
from .llvm_text import INDEX_TYPE, Lanes

Elements = Callable[[str], Row]  # as many as a vector holds, from an index on
Quick = tuple[Row, str] | None  # what all elements make, and whether it is right


class Extremes(Accumulators):
    """Emits them for whole multiples of `Reduce.chains` times the accumulators."""

    def chained(
        self, stmt: Reduce, lanes: list[Row], start: str, end: str, elements: Elements, known: Known
    ) -> tuple[list[Row], str, Quick]:
        """The elements up to `end` in several times the accumulators, if there are any: bringing those together takes a while. Returns
        where to go on: at the start, where a quick comparison was not enough; and what was found by quick ones.
        """
        t, folds, width = self.text, stmt.folds, stmt.lanes
        many = len(lanes) * stmt.chains
        quick = [bool(reducer_of(node.reducer).quick) and node.dtype.kind == "f" for node in folds for _ in node.bodies]
        merge, join = self._merge(folds, self._quick), self._merge(folds, self._quick_join)

        def step(k: str, carried: list[Row]) -> list[Row]:
            *chains, (unordered,) = carried
            self.fetch_row(stmt, known, k, many * width)
            found = [elements(t.index("add", k, g * width)) for g in range(many)]
            for a, b in zip(found[::2], found[1::2], strict=True):
                for x, y, fast in zip(a, b, quick, strict=True):
                    if fast:
                        unordered = t.let(
                            f"or {unordered}, {t.let(f'fcmp uno {x}, {y.name}', 'i1', width).name}", "i1", width
                        )
            return [*(join(chain, row) for chain, row in zip(chains, found, strict=True)), [unordered]]

        def once(_: str, carried: list[Row]) -> list[Row]:
            before = carried[2:]
            first = [self._identity(folds, width) for _ in range(many)]
            *found, (unordered,) = self._carry(
                start, end, many * width, [*first, [self.widened(Lanes("false", "i1"), width)]], step
            )
            joined = [halved(found[g :: len(lanes)], merge) for g in range(len(lanes))]
            whole = self._tree(joined, merge)
            bad = t.call(f"@llvm.vector.reduce.or.v{width}i1", "i1", 1, unordered)
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

    def sought(self, stmt: Reduce, start: str, end: str, elements: Elements, known: Known) -> tuple[str, str]:
        """From where to where an extreme is to be looked for, of `elements` that are its candidates: the first piece that holds the greatest;
        all, where there is a NaN.
        """
        t, width, node = self.text, stmt.lanes, alone(*stmt.folds)
        order, floats = node.order, node.dtype.kind == "f"
        assert order is not None, "a scheduled fold has an order"
        piece = order.lanes * stmt.chains

        def quick(a: Row, b: Row) -> Row:
            return self._quick(node, a, b)

        def step(k: str, carried: list[Row]) -> list[Row]:
            (best,), (at,), (unordered,) = carried
            self.fetch_row(stmt, known, k, piece)
            found = [elements(t.index("add", k, first)) for first in range(0, piece, width)]
            for (a,), (b,) in zip(found[::2], found[1::2], strict=True):
                nan = t.let(f"fcmp uno {a}, {b.name}", "i1", width) if floats else None
                unordered = t.let(f"or {unordered}, {nan.name}", "i1", width) if nan else unordered
            here = halved(found, quick)
            further = self._further(node, here[0], best)

            def once(_: str, __: list[Row]) -> list[Row]:
                (greatest,) = self._tree([here], quick)
                return [[self.splat(greatest, width)], [Lanes(k, INDEX_TYPE)]]

            (best,), (at,) = self._carry("0", further, 1, [[best], [at]], once)
            return [[best], [at], [unordered]]

        none = self.widened(Lanes("false", "i1"), width)
        before = [self._identity([node], width), [Lanes(start, INDEX_TYPE)], [none]]
        _, (at,), (unordered,) = self._carry(start, end, piece, before, step)
        bad = t.call(f"@llvm.vector.reduce.or.v{width}i1", "i1", 1, unordered)
        last = t.lesser(t.index("add", at.name, piece), end)
        low, high = (t.let(f"select {bad}, i64 {a}, i64 {b}", INDEX_TYPE) for a, b in ((start, at.name), (end, last)))
        return low.name, high.name

    def _further(self, node: Fold, x: Lanes, best: Lanes) -> str:
        """1 where an element of `x` is further than `best`, else 0."""
        some = self.text.call(f"@llvm.vector.reduce.or.v{x.count}i1", "i1", 1, self.which_further(node, x, best))
        return self.text.let(f"zext {some} to i64", INDEX_TYPE).name

    def which_further(self, node: Fold, x: Lanes, best: Lanes) -> Lanes:
        """Which elements of `x` are further than those of `best`."""
        a, b = local("a", node.dtype), local("b", node.dtype)
        return self.value(apply(reducer_of(node.reducer).quick, a, b), {a: x, b: best}, None)


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
