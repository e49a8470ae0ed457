"""Accumulators of folds as LLVM values and in memory: how they begin, and how they are brought together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..derived import apply
from ..dtypes import DType
from ..folds import combined, joined
from ..ir import Fold, Value, local
from ..nest import Reduce
from ..reducers import halved, identities, reducer_of
from .llvm_fetch import Fetching
from .llvm_text import Lanes, literal
from .llvm_where import Known

Row = list[Lanes]  # the accumulators of one fold or of several: one for each body, one fold after the other
Combine = Callable[[Row, Row], Row]


class Accumulators(Fetching):
    """What every fold needs, whichever way it runs."""

    def _places(self, folds: Sequence[Fold], rows: list[Row]) -> list[str]:
        """Memory that holds accumulators, one array for each body."""
        count = rows[0][0].count
        places = [self.text.reserve(f"[{len(rows) * count} x {dtype.memory}]") for dtype in dtypes_of(folds)]
        for n, row in enumerate(rows):
            self._put(folds, places, str(n), row)
        return places

    def _fetch(self, folds: Sequence[Fold], places: Sequence[str], count: int, width: int) -> list[Row]:
        return [self._get(folds, places, str(n), width) for n in range(count)]

    def _put(self, folds: Sequence[Fold], places: Sequence[str], at: str, row: Row) -> None:
        for dtype, place, x in zip(dtypes_of(folds), places, row, strict=True):
            self.keep(dtype, x, self.accumulator(dtype, place, at, x.count))

    def _get(self, folds: Sequence[Fold], places: Sequence[str], at: str, width: int) -> Row:
        found = zip(dtypes_of(folds), places, strict=True)
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

    def _identity(self, folds: Sequence[Fold], count: int) -> Row:
        rows = [identities(reducer_of(node.reducer), node.dtypes) for node in folds]
        numbers = zip((number for row in rows for number in row), dtypes_of(folds), strict=True)
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

    def noted(self, met: Lanes, like: Lanes) -> Lanes:
        """What lanes have met, as it goes from step to step: where a processor has no registers for masks, as wide as what was compared, or
        each step would make it narrow, and wide again.
        """
        if self.registers_for_masks or met.count == 1:
            return met
        kind = "i64" if like.lane in ("double", "i64") else "i32"
        return self.text.let(f"sext {met} to <{met.count} x {kind}>", kind, met.count)

    def _met(self, how: str, noted: Lanes) -> Lanes:
        """Whether one lane (`or`), or all (`and`), have met it."""
        t, count = self.text, noted.count
        if count == 1:
            return noted
        found = t.call(f"@llvm.vector.reduce.{how}.v{count}{noted.lane}", noted.lane, 1, noted)
        return found if noted.lane == "i1" else t.let(f"icmp ne {found}, 0", "i1")

    def _carry(
        self, low: str, high: str, step: int, initial: list[Row], body: Callable[[str, list[Row]], list[Row]]
    ) -> list[Row]:
        """`rows = body(i, rows)` for i = low, low + step, … below high, in registers."""
        shaped = _shaped(initial)
        return shaped(self.text.carry(low, high, step, _flat(initial), lambda i, xs: _flat(body(i, shaped(xs)))))

    def carry_on(
        self,
        stmt: Reduce,
        known: Known,
        low: str,
        high: str,
        step: int,
        initial: list[Row],
        body: Callable[[str, list[Row]], list[Row]],
    ) -> list[Row]:
        """The same, and what lies behind the elements of a step is fetched, where a fold is to."""
        if stmt.on is None:
            return self._carry(low, high, step, initial, body)

        def fetching(k: str, rows: list[Row]) -> list[Row]:
            self.fetch_behind(stmt, known, k, step)
            return body(k, rows)

        far = self.text.select(known[stmt.on].name, high, low)
        return self._carry(far, high, step, self._carry(low, far, step, initial, fetching), body)

    def _perhaps(
        self, low: str, high: str, initial: list[Row], body: Callable[[str, list[Row]], list[Row]]
    ) -> list[Row]:
        """`rows = body(low, rows)` where low is below high: what is less than a step. A loop would be thought to run often, and what runs
        before it would lose its registers.
        """
        shaped, some = _shaped(initial), self.text.let(f"icmp slt i64 {low}, {high}", "i1").name
        return shaped(self.text.perhaps(some, _flat(initial), lambda xs: _flat(body(low, shaped(xs)))))

    def _half(self, x: Lanes, first: int, count: int) -> Lanes:
        if count == 1:
            return self.text.let(f"extractelement {x}, i32 {first}", x.lane)
        picked = ", ".join(f"i32 {first + n}" for n in range(count))
        return self.text.let(f"shufflevector {x}, {x.type} poison, <{count} x i32> <{picked}>", x.lane, count)


def bodies_of(folds: Sequence[Fold]) -> list[Value]:
    return [body for node in folds for body in node.bodies]


def dtypes_of(folds: Sequence[Fold]) -> list[DType]:
    return [dtype for node in folds for dtype in node.dtypes]


def _flat(rows: list[Row]) -> list[Lanes]:
    return [x for row in rows for x in row]


def _shaped(like: list[Row]) -> Callable[[Sequence[Lanes]], list[Row]]:
    """What makes rows of as many accumulators again."""
    sizes = [len(row) for row in like]

    def shaped(flat: Sequence[Lanes]) -> list[Row]:
        rest = iter(flat)
        return [[next(rest) for _ in range(size)] for size in sizes]

    return shaped
