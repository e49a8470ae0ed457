"""What a GPU launches, as text: for plans and golden files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .folds import folds_of
from .grid import WARP, Grid, Loops, Program
from .ir import Axis, Fold, Store, Value
from .reducers import PAIRS
from .text import Namer
from .text import show as show_value

LAUNCHES, STAGES = "kernel", "kernel, stage "  # what the grids of a program are: the first launch has no number


def show(program: Program, called: str = LAUNCHES) -> str:
    """The launches, or the stages of one, on a few lines each: what a thread or a warp is for, the folds, what is stored."""
    memory = [f"scratch {leaf.name}: {leaf.dtype}[{show_value(count)}]" for leaf, count in program.scratch]
    names = [f"{called}{n or ('' if called == LAUNCHES else n)}" for n in range(len(program.grids))]
    lines = [line for name, grid in zip(names, program.grids, strict=True) for line in _Grid(grid).lines(name)]
    return "\n".join([*memory, *(f"{size.name} = {number}" for size, number in program.sizes), *lines])


class _Grid:
    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.namer = Namer(*(x for s in grid.stores for x in (s.offset, s.value)))

    def lines(self, name: str) -> Iterator[str]:
        """A launch."""
        grid, pad = self.grid, "  "
        yield f"{name}: {self._shared_out()}"
        own = [f for f in folds_of(*(s.value for s in grid.stores)) if f.free <= {a for a, _ in grid.axes}]
        yield from (f"{pad}{line}" for line in self._folds(grid.folds or own))
        if grid.inner:
            yield f"{pad}for {self._loops(grid.inner)}, {grid.team} at a time"
            pad = "    "
        for store in grid.stores:
            yield from (f"{pad}{line}" for line in self._store(store))

    def _shared_out(self) -> str:
        grid = self.grid
        where = f"for {self._loops(grid.axes)}" if grid.axes else "once"
        if grid.order != "any":
            return f"{where}, {grid.order}: one block of threads, a stretch at a time"
        who = "a thread" if grid.team == 1 else "a warp" if grid.team == WARP else f"{grid.team} threads"
        if grid.side:
            return (
                f"{where}: {grid.side} x {grid.side} points a block of threads, {self._staged()} through shared memory"
            )
        if grid.walked and grid.square:
            row = grid.square.row
            rest = self._loops([x for x in grid.axes if x[0] is not row])
            return f"for {rest}: a thread each, along {self._loops([x for x in grid.axes if x[0] is row])}"
        held = ", the row in registers" if grid.held else ""
        return f"{where}: {who}{' each' if grid.axes else ''}{held}"

    def _staged(self) -> str:
        square = self.grid.square
        assert square is not None, "a grid of squares has one"
        return ", ".join(dict.fromkeys(f"{at.leaf.name}[{self._value(at.offset)}]" for at in square.places))

    def _loops(self, loops: Loops | Sequence[tuple[Axis, Value]]) -> str:
        return ", ".join(f"{a.name} < {self._value(extent)}" for a, extent in loops)

    def _folds(self, folds: Sequence[Fold]) -> Iterator[str]:
        """Each fold with its order: of how many lanes, in blocks of how many elements."""
        for f in folds:
            assert f.order is not None, "a scheduled fold has an order"
            for body in f.bodies:
                yield from self.namer.lines(body)
            text = ", ".join(map(self._value, f.bodies))
            extent = self._value(f.extent)
            order = f"{f.order.lanes} lanes, blocks of {f.order.block}" if f.order != PAIRS else "in pairs"
            yield f"{self.namer.give(f)} = {f.reducer}[{f.axis.name} < {extent}]({text})   # {order}"

    def _store(self, store: Store) -> Iterator[str]:
        yield from self.namer.lines(store.offset)
        yield from self.namer.lines(store.value, whole=True)
        yield f"{store.leaf.name}[{self._value(store.offset)}] = {self._value(store.value)}"

    def _value(self, value: Value) -> str:
        return show_value(value, self.namer.names)
