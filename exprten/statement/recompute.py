"""How often operations are evaluated, against how often they would have to be.

An operation is evaluated once for every point of the loops down to the innermost one it depends on. It has to be evaluated once
for every element of its own node. The ratio of the two sums, weighed by cost, is `plan.recompute`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from exprten_jit.cuts import PIECE
from exprten_jit.folds import folds_of
from exprten_jit.ir import Axis, Component, Fold, Local, Op, Size, Value, index
from exprten_jit.kernel import Kernel
from exprten_jit.nest import Columns, Loop, Nest, Pieces, Reduce, Stmt, statements
from exprten_jit.rewrite import substitute, walk

from .lower import Made

MAX_PERMUTED = 5  # axes; 120 orders are tried at most


Folded = tuple[tuple[Axis, str], ...]  # axes of folds, with the names of their extents


def elements(root: Value) -> Iterator[tuple[Value, Folded]]:
    """The nodes computed as elements, not those that only make an offset or a guard; each with the folds around it."""
    seen = set()
    stack: list[tuple[Value, Folded]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        if (node, around) not in seen:
            seen.add((node, around))
            yield node, around
            if isinstance(node, Op):
                stack.extend((arg, around) for arg in node.args)
            elif isinstance(node, Fold):
                stack.extend((body, (*around, *_extents(node))) for body in node.bodies)
            elif isinstance(node, Component):
                stack.append((node.fold, around))


def _extents(node: Fold) -> Folded:
    """The axis of a fold with the name of its extent. Of the blocks of a row nothing: what is folded in one has the row's."""
    if isinstance(node.extent, Op) and node.extent.op == "floor_divide":
        return ()
    (name,) = (x.name for x in walk(node.extent) if isinstance(x, Size))
    return ((node.axis, name),)


def repeats(value: Value, reach: Reach, around: Folded, sizes: Mapping[str, int]) -> int:
    """How often a value is evaluated by the folds around it."""
    needed = reach.of(value)
    return prod(sizes[name] for axis, name in around if axis in needed)


def times(value: Value, reach: Reach, extents: Sequence[int]) -> int:
    """How often a value is evaluated by a loop nest; `extents` of its axes, outermost first."""
    depth, block = reach.placed(value)
    if depth is None:
        needed = reach.of(value)
        return prod(n for (axis, _), n in zip(reach.kernel.axes, extents, strict=True) if axis in needed)
    return _count(depth, block, extents)


def _count(depth: int, block: int, extents: Sequence[int]) -> int:
    return prod(extents[:depth]) * (-(-extents[-1] // block) if block else 1)


def _times(row: Row, extents: Sequence[int]) -> int:
    """How often an operation is evaluated by the loops."""
    if row.depth is None:
        return prod(extents[k] for k in row.axes)
    return _count(row.depth, row.block, extents)


class Reach:
    """What the values of a nest are evaluated again for. One in a fold is for all that the fold is: in `sum(x * sum(x, 0), 1)` the inner
    fold depends on no row, but the outer one, which comes by it, does.
    """

    def __init__(self, nest: Nest) -> None:
        self.kernel = nest.kernel
        self._columns, self._loops = (
            nest.columns,
            not (nest.written or nest.turned or nest.kernel.flat or nest.kernel.rest),
        )
        self._pieces = self._columns is None and any(isinstance(s, Pieces) and s.start is PIECE[0] for s in nest.body)
        spread = {leaf for s in statements(nest.body) if isinstance(s, Loop) for leaf, _ in s.spread}
        saved = self._columns.saved if self._columns else ()
        self._saved = [nest.as_given(value) for leaf, value in saved if leaf not in spread]
        self._axes = [axis for axis, _ in nest.kernel.axes]
        named, left = (
            {n.name: a for a, n in nest.kernel.axes if isinstance(n, Size)},
            self.kernel.rest and self.kernel.rest.left,
        )
        self._left = [[named[name] for name in row] for row in left.loops] if left else []  # axes that are taken as one
        self._outer = frozenset(_around_columns(nest.body))
        self._inside = [
            (node, frozenset(walk(*node.bodies))) for node in folds_of(*(s.value for s in nest.kernel.stores))
        ]
        self._early = early(nest)
        self._made = [frozenset(walk(known)) for known, _ in nest.known]  # each before what is made of it
        self._known: dict[Value, frozenset[Axis | Local]] = {}

    def of(self, value: Value) -> frozenset[Axis | Local]:
        """The axes that a value is evaluated again for, those of folds among them."""
        rest, apart = self.kernel.rest, value not in self._early
        whole = rest is not None and bool(rest.whole)  # of which the loops here are a copy's
        if self.kernel.flat is not None and apart and not whole:
            free = value.free | {row[-1] for row in self._left if not value.free.isdisjoint(row)}
            found = self._of_tiles(free)
            return found | {axis for row in self._left if row[-1] in found for axis in row}
        if self._left and apart and not (self.kernel.short or self.kernel.block):
            most = max((n + 1 for n, row in enumerate(self._left) if not value.free.isdisjoint(row)), default=0)
            return frozenset(axis for row in self._left[:most] for axis in row)
        if value not in self._known:
            found = value.free
            for node, inside in self._inside:  # inner ones first
                before = any(value in made and node not in made for made in self._made)
                if node.axis in found and value in inside and not before:
                    found |= node.free - ({self._columns.axis} if self._columns and self._strip(node) else set())
            self._known[value] = found
        return self._known[value]

    def _of_tiles(self, free: frozenset[Axis | Local]) -> frozenset[Axis | Local]:
        """The axes that a value is evaluated again for, where some are taken as one; what is evaluated once for a row of a tile counts as for all of it."""
        assert self.kernel.flat is not None, "a kernel with axes that are taken as one"
        (*others, inner), rows = self.kernel.flat.columns, self.kernel.flat.rows
        loops = [row[-1] for row in self._left] or self._axes
        outer = [a for a in loops if a not in (*others, inner, *rows)]
        if inner in free:
            return frozenset(self._axes)
        if free & {*others}:
            return frozenset((*outer, *others, *(rows if free & {*rows} else ())))
        if free & {*rows}:
            return frozenset((*outer, *rows))
        return frozenset(outer[: _deepest(outer, free)])

    def placed(self, value: Value) -> tuple[int | None, int]:
        """How many of the outermost loops evaluate a value, and the elements of the innermost axis for which it is once more, 0 for none.
        Where two axes are taken as one, or rows written out, no loop does: it is evaluated once for every point of its own axes. So is what
        needs the innermost axis alone where all loops run within its pieces, and what is computed before all loops.
        """
        if not self._loops or value in self._early:
            return None, 0
        columns, needed = self._columns, self.of(value)
        if self._pieces and needed.isdisjoint(self._axes[:-1]):
            return None, 0
        depth = _deepest(self._axes, needed)
        if columns is None or self._before(value, needed):
            return depth, 0
        if any(value in walk(saved) for saved in self._saved):
            if columns.each is not None:
                return None, 0
            outer = [k for k, axis in enumerate(self._axes[:-1]) if any(axis in v.free for v in self._saved)]
            return max(outer, default=-1) + 1, 1 if columns.axis in value.free else columns.block
        return depth, 0 if columns.axis in needed else columns.block

    def _before(self, value: Value, needed: frozenset[Axis | Local]) -> bool:
        """Whether a value is known before the blocks of columns."""
        within = any(self._strip(node) and node.axis in needed and value in inside for node, inside in self._inside)
        return not within and needed & {*self._axes} <= self._outer

    def _strip(self, node: Fold) -> bool:
        """Whether a fold is computed for all columns of a block at once."""
        columns = self._columns
        return columns is not None and columns.axis in node.free and node.free <= self._outer | {columns.axis}


def _around_columns(stmts: Sequence[Stmt], around: tuple[Axis | Local, ...] = ()) -> tuple[Axis | Local, ...]:
    """The axes of the loops around the Columns, none where there are no Columns."""
    for stmt in stmts:
        if isinstance(stmt, Columns):
            return around
        if isinstance(stmt, Loop) and any(isinstance(s, Columns) for s in statements(stmt.body)):
            return _around_columns(stmt.body, (*around, stmt.axis))
    return ()


def _deepest(loops: Sequence[object], free: Collection[object]) -> int:
    """How many of the loops, outermost first, what depends on `free` stands in."""
    return max((k + 1 for k, loop in enumerate(loops) if loop in free), default=0)


@dataclass(frozen=True)
class Row:
    """How often an operation is evaluated, in numbers: what is kept of it on disk, where its IR is not.

    It is evaluated once for every point of the `depth` outermost loops, or there for each `block` of the innermost one too, where
    that is not 0; without a depth, as where there are no loops, once for every point of `axes`, which it depends on, by position.
    And again in the folds whose extents are named. `value` is one number for equal values. Where it is `guarded`, not all that it is evaluated for are elements of its node: `beside` are the
    positions of axes that are not the node's. A fold brings together what it has for each element of another node, `of`.
    """

    node: int
    of: int
    value: int
    cost: int
    axes: tuple[int, ...]
    depth: int | None
    block: int
    folded: tuple[str, ...]
    guarded: bool
    beside: tuple[int, ...]


def rows(made: Sequence[Made], nest: Nest) -> tuple[Row, ...]:
    """The operations of a part, whose loop nest this is."""
    done, one, brought = kept(nest), _taken_as_one(nest), dict(nest.brought)
    left = [m for m in made if substitute(substitute(m.value, brought), one) not in done]
    reach = Reach(nest)
    return _rows(left, nest.kernel, reach.placed, reach.of)


def rows_without_loops(made: Sequence[Made], part: Kernel) -> tuple[Row, ...]:
    """The operations of a part, each evaluated at its own points: what depends on the kernel alone."""
    return _rows(made, part, lambda _: (None, 0), lambda value: value.free)


def _rows(
    made: Sequence[Made],
    part: Kernel,
    placed: Callable[[Value], tuple[int | None, int]],
    needed: Callable[[Value], frozenset[Axis | Local]],
) -> tuple[Row, ...]:
    axes = [axis for axis, _ in part.axes]
    number: dict[tuple[Value, bool], int] = {}
    out = []
    for m in made:
        free = needed(m.value)
        depth, block = placed(m.value)
        out.append(
            Row(
                m.node,
                m.of,
                number.setdefault((m.value, m.node == m.of), len(number)),
                m.cost,
                tuple(k for k, axis in enumerate(axes) if axis in free),
                depth,
                block,
                tuple(name for axis, name in m.folded if axis in free),
                m.guarded,
                tuple(k for k, axis in enumerate(axes) if axis in free and axis not in m.along),
            )
        )
    return tuple(out)


def early(nest: Nest) -> set[Value]:
    """What is computed before the loops of a nest, and not there."""
    values = [value for value, _ in nest.known]
    ids, stores = {id(value) for value in values}, nest.kernel.stores
    return set(walk(*values)).difference(walk(*(store.value for store in stores), known=ids)) if values else set()


def _computes(nest: Nest) -> Nest | None:
    """What computes a statement as a whole."""
    rest = nest.kernel.rest
    return nest.first[int(rest.brought)] if rest and rest.whole else None


def _taken_as_one(nest: Nest) -> dict[Value, Value]:
    """Axes that are one with others where a statement is computed as a whole."""
    computes = _computes(nest)
    if computes is None:
        return {}
    loops = {a for a, _ in computes.kernel.axes}
    return {a: index(0) for a, _ in nest.kernel.axes if a not in loops}


def kept(nest: Nest) -> set[Value]:
    """What the loop over elements does not compute again: a fold has stored it on its way, or is computed from the same."""
    if computes := _computes(nest):
        return kept(computes)
    return _known_already(nest) | _kept(nest)


def _known_already(nest: Nest) -> set[Value]:
    """What differs in the names of axes from what is computed before the loops."""
    first = {leaf: value for value, leaf in reversed(nest.known)}
    again = [value for value, leaf in nest.known if value is not first[leaf]]
    return early(nest).intersection(walk(*again)).difference(walk(*first.values())) if again else set()


def _kept(nest: Nest) -> set[Value]:
    if nest.written:
        return _whole_rows(nest.kernel)
    reduces = [s for s in statements(nest.body) if isinstance(s, Reduce) and s.saved]
    held = nest.columns.held if nest.columns else None
    if not reduces and held is None:
        return set()
    axis = nest.kernel.axes[-2 if held is not None or nest.turned else -1][0]
    stored = [substitute(store.value, {s.axis: axis}) for s in reduces for store in s.saved] if held is None else [held]
    stored = [nest.as_given(value) for value in stored]
    others = set(walk(*(store.value for store in nest.kernel.stores), known={id(value) for value in stored}))
    return {value for value in walk(*stored) if axis in value.free and value not in others}


def _whole_rows(kernel: Kernel) -> set[Value]:
    """What folds over rows are computed from, where what is stored is too: elements of a row have no loop, and are computed once."""
    roots = [store.value for store in kernel.stores]
    folds, found = folds_of(*roots), set[Value]()
    stored = set(walk(*roots, into_folds=False))
    for node in folds:
        for axis in (axis for axis, extent in kernel.axes if extent is node.extent):
            among = [value for value in walk(*node.bodies) if node.axis in value.free]
            found.update(value for value in among if substitute(value, {node.axis: axis}) in stored)
    return found


# operations, the extents of the loops, and all sizes by name
Part = tuple[Sequence[Row], Sequence[int], Mapping[str, int]]


def _evaluated(part: Part, sizes: Sequence[int]) -> dict[int, int]:
    """How often each value is evaluated. Where a guard is false an evaluation is a lane left idle, not a repetition."""
    operations, extents, named = part
    counts = {}
    for m in operations:
        count = _times(m, extents) * prod(named[name] for name in m.folded)
        counts[m.value] = min(count, sizes[m.of] * prod(extents[k] for k in m.beside)) if m.guarded else count
    return counts


def _costs(operations: Sequence[Row]) -> dict[int, int]:
    return {m.value: m.cost for m in operations}


def without_folds(parts: Sequence[Part]) -> list[Part]:
    """Without what it takes to bring elements together."""
    return [([m for m in operations if m.of == m.node], extents, named) for operations, extents, named in parts]


Copies = Mapping[int, tuple[int, int]]  # nodes that have elements of one: the first of them, and how many that one has


def _needed(operations: Sequence[Row], sizes: Sequence[int], copies: Copies) -> dict[int, int]:
    """What it takes to evaluate each node once, `sizes` being the elements of each; of those that have elements of one no more than that has."""
    every: dict[int, dict[int, int]] = {}
    whole: dict[int, int] = {}
    for m in operations:
        first, most = copies.get(m.node, (m.node, 0))
        every.setdefault(first, {})[m.node] = m.cost * sizes[m.of]
        if most:  # a fold of some of the rows takes these
            whole[first] = m.cost * most * sizes[m.of] // max(1, sizes[m.node])
    return {n: min(sum(costs.values()), whole.get(n, sum(costs.values()))) for n, costs in every.items()}


def ratio(parts: Sequence[Part], sizes: Sequence[int], copies: Copies) -> float:
    """Evaluated operations over those needed, `sizes` being the elements of each node; 1.0 for a statement without operations."""
    evaluated = sum(
        _costs(part[0])[value] * count for part in parts for value, count in _evaluated(part, sizes).items()
    )
    needed = sum(_needed(parts[0][0], sizes, copies).values())
    return max(1.0, evaluated / needed) if needed else 1.0


def best_order(part: Part, folds: bool) -> tuple[int, ...] | None:
    """The order of the loops that evaluates least, by position in the present one. Lanes left idle count here. With `folds` the innermost
    loop stays, and with it the order of a sum, which is no matter of sizes.
    """
    operations, extents, _ = part
    if len(extents) > MAX_PERMUTED:
        return None
    free = range(len(extents) - folds)
    values = {m.value: (m.cost, m.axes) for m in operations}

    def evaluated(loops: tuple[int, ...]) -> int:
        lengths = [extents[k] for k in loops]
        return sum(cost * prod(lengths[: _deepest(loops, axes)]) for cost, axes in values.values())

    return min(((*outer, *range(len(free), len(extents))) for outer in itertools.permutations(free)), key=evaluated)


def worst(parts: Sequence[Part], sizes: Sequence[int], copies: Copies) -> int:
    """The node of the structure with the most evaluations beyond those needed."""
    beyond = {n: -cost for n, cost in _needed(parts[0][0], sizes, copies).items()}
    for part in parts:
        counts = _evaluated(part, sizes)
        for m in part[0]:
            first, _ = copies.get(m.node, (m.node, 0))
            beyond[first] = beyond.get(first, -m.cost * sizes[m.of]) + m.cost * counts[m.value]
    return max(beyond, key=beyond.__getitem__)
