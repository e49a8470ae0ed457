"""Whole lines of small elements that are turned round: a square has as many rows and columns as elements fit into a register.

More of them would be under way than there are registers, so that they wait on the stack in between, after what is turned within parts of 16
bytes. Each line of a source is read once, each of the target stored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..dtypes import DType
from ..ir import Load
from ..machine import LINE
from ..nest import Squares
from ..pairs import twins
from .llvm_bring import Brought
from .llvm_narrow import even_and_odd, side_by_side
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_values import Group
from .llvm_where import Known, Where


@dataclass(frozen=True)
class Tile:
    """What is known of a tile, and by name its rows and columns, the first of the last squares, whether the target is read again, whether it is far, whether the lines of squares
    are lines of the target, stored past the caches as they come, whether they wait on the stage, and whether all rows of the tile do, which are one.
    """

    known: Known
    top: str
    bottom: str
    left: str
    right: str
    last: tuple[str, str]
    again: str
    far: str
    straight: str
    staged: str
    joined: str


class Lines(Brought):
    """Emits what turns whole lines, and what all squares have in common."""

    def whole_lines(self, stmt: Squares, tile: Tile, row: str, column: str) -> None:
        """All of a square of whole lines: turned by as many as a part has elements, and then computed by as many rows as a line has parts."""
        t, many, parts = self.text, stmt.lanes, stmt.abreast
        here: Known = {**tile.known, stmt.row: Lanes(row, INDEX_TYPE), stmt.column: Lanes(column, INDEX_TYPE)}
        waiting = [t.reserve(f"[{stmt.long * stmt.long} x {x.leaf.dtype.memory}]") for _, x in stmt.turned]

        def turned(k: str) -> None:
            at = t.index("add", column, t.index("mul", k, many))
            for (_, x), memory in zip(stmt.turned, waiting, strict=True):
                dtype = x.leaf.dtype
                lines = self._lines(self.places(x, stmt.column, at, many, here), dtype, stmt.long)
                first = t.further(memory, dtype.memory, t.index("mul", k, stmt.long))
                places = self.steps(first, str(stmt.long * parts), dtype, many, None)
                for y, address in zip(self._square(lines, dtype.itemsize), places, strict=True):
                    t.put(f"store {y}, ptr {address}, align {dtype.itemsize}")

        t.loop("0", str(parts), 1, turned)
        rows = [t.index("add", row, n * many) for n in range(parts)]
        goal, stride = self.goal(stmt, tile, here, row, column)
        further = t.index("mul", stride, many)

        def computed(k: str) -> None:
            where = Where(stmt.column, column, stmt.long)
            each: list[Group] = [
                ({**tile.known, stmt.row: Lanes(t.index("add", at, k), INDEX_TYPE)}, where) for at in rows
            ]
            each = self.woven(stmt, each)
            for (into, x), memory in zip(stmt.turned, waiting, strict=True):
                first = t.further(memory, x.leaf.dtype.memory, t.index("mul", k, stmt.long * parts))
                lines = self._lines(
                    self.steps(first, str(stmt.long), x.leaf.dtype, parts, None), x.leaf.dtype, stmt.long
                )
                self.know(into, each, self._parts_turned(lines, many))
            dtype = stmt.stores[0].leaf.dtype
            first = t.further(goal, dtype.memory, t.index("mul", k, stride))
            self.put_lines(
                self.computed(stmt, each, stmt.long), self.steps(first, further, dtype, parts, None), dtype, tile
            )

        t.loop("0", str(many), 1, computed)

    def _lines(self, places: Iterable[str], dtype: DType, many: int) -> list[Lanes]:
        """So many elements from each place on."""
        kind = f"<{many} x {dtype.memory}>"
        return [self.text.let(f"load {kind}, ptr {at}, align {dtype.itemsize}", dtype.memory, many) for at in places]

    def put_lines(self, values: Sequence[Lanes], places: Sequence[str], dtype: DType, tile: Tile) -> None:
        """Store lines, past the caches where they are lines of the target."""
        t = self.text

        def stored(how: str) -> None:
            for x, address in zip(values, places, strict=True):
                t.put(f"store {x}, ptr {address}, align {how}")

        def through() -> None:
            nbytes = values[0].count * dtype.itemsize
            for address in places if 2 * nbytes >= LINE else ():
                self.claim(address, 0, nbytes - 1)
            stored(str(dtype.itemsize))

        if tile.straight == "false":
            through()
            return
        t.either(tile.straight, lambda: stored(f"{LINE}, !nontemporal !0"), through)

    def _parts_turned(self, lines: list[Lanes], part: int) -> list[Lanes]:
        """As many vectors as they have parts: part k of vector n becomes part n of vector k."""
        found, many = {(n, 0): x for n, x in enumerate(lines)}, 1
        while many < len(lines):
            found = {
                (n, k + half * many): self._parts_in_turn(x, found[n + many, k], part, half)
                for (n, k), x in found.items()
                if not n & many
                for half in (0, 1)
            }
            many *= 2
        return [found[0, k] for k in range(len(lines))]

    def goal(self, stmt: Squares, tile: Tile, here: Known, row: str, column: str) -> tuple[str, str]:
        """Where the first line is stored, and how far the next one is from it."""
        t, dtype = self.text, stmt.stores[0].leaf.dtype
        axis, first = (stmt.column, column) if stmt.across else (stmt.row, row)
        goal, stride = self.first_place(stmt.stores[0], axis, first, here)
        if not stmt.past or tile.staged == tile.joined == "false":
            return goal, stride
        along, other = ((row, tile.top), (column, tile.left))[:: 1 if stmt.across else -1]
        many = t.index("sub", *((tile.bottom, tile.top) if stmt.across else (tile.right, tile.left)))
        before = t.select(tile.joined, t.index("mul", t.index("sub", *other), many), "0")
        stage = self._pointer(stmt.past.stage.name, dtype, t.index("add", before, t.index("sub", *along)))
        waits = t.let(f"or i1 {tile.staged}, {tile.joined}", "i1").name
        goal = t.let(f"select i1 {waits}, ptr {stage}, ptr {goal}", "ptr").name
        return goal, t.select(tile.joined, many, t.select(tile.staged, str(stmt.past.length), stride))

    def woven(self, stmt: Squares, rows: list[Group]) -> list[Group]:
        """Rows of a square as they are computed: every other element of each, and those in between, where they are woven."""
        if not stmt.woven:
            return rows
        halves = [(known, replace(where, count=where.count // 2, woven=True)) for known, where in rows if where]
        return [(dict(known), where) for known, where in halves for _ in range(2)]

    def know(self, into: Load, groups: Sequence[Group], lines: Sequence[Lanes]) -> None:
        """What stands for the elements of each line, in the groups of its row."""
        halves = len(groups) // len(lines)
        for n, line in enumerate(lines):
            if halves == 1:
                groups[n][0].update(self._numbers(into, line))
                continue
            two = self.text.let(f"bitcast {line} to <{line.count // 2} x i32>", "i32", line.count // 2)
            for (inside, _), x in zip(groups[2 * n :], even_and_odd(self.text, two), strict=False):
                inside[into] = x

    def _numbers(self, into: Load, line: Lanes) -> Known:
        """What stands for the elements of a line; of complex numbers there are two."""
        own = twins(into) if into.leaf.pairs else (into,)
        lanes = [line] if len(own) == 1 else [self._shuffled(line, line, range(k, line.count, 2)) for k in (0, 1)]
        return {node: self.in_register(x, into.leaf.dtype) for node, x in zip(own, lanes, strict=True)}

    def computed(self, stmt: Squares, groups: Sequence[Group], width: int) -> list[Lanes]:
        """What is stored of some rows of a square, as it lies in memory."""
        if groups[0][1] and groups[0][1].woven:
            halves = [self.widened(x, width // 2) for x in self.abreast(stmt.stores[0].value, groups)]
            return [side_by_side(self.text, *both) for both in zip(halves[::2], halves[1::2], strict=True)]
        parts = [
            [self.in_memory(self.widened(x, width), store.leaf.dtype) for x in self.abreast(store.value, groups)]
            for store in stmt.stores
        ]
        if len(parts) == 1:
            return parts[0]
        order = [k + n for k in range(width) for n in (0, width)]
        return [self._shuffled(even, odd, order) for even, odd in zip(*parts, strict=True)]
