"""How often a GPU evaluates the operations of a kernel, against once for every point of the axes that each depends on.

What a thread finds at its point it computes there, whatever other threads compute; what is the same for a whole warp, or for the
elements that a thread takes at once, counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod

from .derived import TABLE
from .grid import Grid, Loops, Program
from .interpret import evaluate
from .ir import Axis, Component, Fold, Load, Local, Op, Param, Value
from .kernel import Kernel
from .passes import passes
from .rewrite import walk

Around = tuple[Fold, ...]
Free = frozenset[Axis | Local]


def spread(program: Program, sizes: Mapping[str, int], at_once: Sequence[int], threads: Sequence[int]) -> float:
    """Operations that are evaluated over operations at their own points, weighed by cost. Of each grid: how many elements a thread
    takes `at_once`, and how many `threads` there are.
    """
    counts = _Counts(program, sizes, _cost)
    done = sum(counts.grid(*each) for each in zip(program.grids, at_once, threads, strict=True))
    own = sum(counts.part(part) for part in program.kernel.parts)
    return done / own if own else 1.0


def evaluated(program: Program, sizes: Mapping[str, int], at_once: Sequence[int], threads: Sequence[int]) -> int:
    """How many operations on elements are evaluated; the arguments are those of `spread`."""
    counts = _Counts(program, sizes, lambda _: 1)
    return round(sum(counts.grid(*each) for each in zip(program.grids, at_once, threads, strict=True)))


class _Counts:
    def __init__(self, program: Program, sizes: Mapping[str, int], cost: Callable[[Value], int]) -> None:
        self.sizes = dict(sizes) | {size.name: number for size, number in program.sizes}
        self.cost = cost

    def part(self, part: Kernel) -> float:
        """Of the operations of a kernel, each at its own points."""
        operations = dict.fromkeys(_operations([s.value for s in part.stores]))
        return sum(
            self.cost(node) * self._points([(a, e) for a, e in part.axes if a in free]) * self._folded(around)
            for node, free, around in operations
        )

    def grid(self, grid: Grid, at_once: int, threads: int) -> float:
        """Of the operations of a grid."""
        if grid.held:
            return self._held(grid)
        total = 0.0
        for node, free, around in dict.fromkeys(_operations([s.value for s in grid.stores])):
            points = self._team(grid, free) if grid.team > 1 else self._each(grid, free, at_once, threads)
            total += self.cost(node) * points * self._folded(around, grid.axes)
        return total

    def _held(self, grid: Grid) -> float:
        """What is kept of an element is not computed again."""
        total, known = 0.0, set[Value](grid.folds)
        for step in passes(grid.folds, grid.stores, grid.along[0]):
            for node, free, around in dict.fromkeys(_operations(step.roots, known)):
                total += self.cost(node) * self._team(grid, free) * self._folded(around, grid.axes)
            total += len(step.folds) * self._points((*grid.axes, grid.along))
            known |= set(step.keeps)
        return total

    def _team(self, grid: Grid, free: Free) -> int:
        loops = (grid.along,) if grid.held else grid.inner
        inner = self._points(loops) if any(a in free for a, _ in loops) else 1
        return self._points(grid.axes) * inner

    def _each(self, grid: Grid, free: Free, at_once: int, threads: int) -> int:
        if not any(a in free for a, _ in grid.axes):
            return min(threads, self._points(grid.axes))  # computed before the thread walks over its points
        if grid.axes[-1][0] in free:
            return self._points(grid.axes)
        return self._points(grid.axes[:-1]) * -(-self._points(grid.axes[-1:]) // at_once)

    def _points(self, loops: Loops | Sequence[tuple[Axis, Value]]) -> int:
        return prod(int(evaluate(extent, {}, {}, self.sizes)) for _, extent in loops)

    def _folded(self, around: Around, loops: Loops = ()) -> float:
        within = (*loops, *((f.axis, f.extent) for f in around if not f.extent.free))  # blocks are folded as well
        return prod((self._mean(f.extent, within) for f in around), start=1.0)

    def _mean(self, extent: Value, loops: Loops) -> float:
        """An extent, which of a part of a fold differs: all parts but the last are whole."""
        whole = {a: 0 for a in extent.free if isinstance(a, Axis)}
        cut = {a: self._points([(a, e)]) for a, e in loops if a in extent.free}
        if not cut:
            return int(evaluate(extent, whole, {}, self.sizes))
        ((part, parts),) = cut.items()
        first, last = (int(evaluate(extent, whole | {part: at}, {}, self.sizes)) for at in (0, parts - 1))
        return ((parts - 1) * first + last) / parts


def _operations(roots: Sequence[Value], known: Collection[Value] = ()) -> Iterator[tuple[Value, Free, Around]]:
    """Operations on elements: not conversions, and not what is made of indices alone. Each with the axes that it depends on,
    and those folds around it that it depends on. A fold is one of each element of its body. What is
    `known` is not computed.
    """
    seen = set()
    stack: list[tuple[Value, Around]] = [(root, ()) for root in roots]
    while stack:
        node, around = stack.pop()
        if (node, around) in seen or node in known:
            continue
        seen.add((node, around))
        match node:
            case Op():
                stack.extend((a, around) for a in node.args)
                if node.op != "cast" and any(isinstance(x, Load | Param) for x in walk(node)):
                    yield node, node.free, tuple(f for f in around if f.axis in node.free)
            case Fold():
                inside = (*around, node)
                stack.extend((body, inside) for body in node.bodies)
                free = node.free | {node.axis}
                yield node, free, tuple(f for f in inside if f.axis in free)
            case Component():
                stack.append((node.fold, around))


def _cost(node: Value) -> int:
    """In additions, which a fold brings elements together with."""
    row = TABLE.get(node.op) if isinstance(node, Op) else None
    return row.cost if row else 1
