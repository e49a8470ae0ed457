"""What depends on the innermost axis, but on none of the loops still to open, would be computed again for every row: it is computed
before them, a block of the innermost axis at a time, into scratch. Folds across rows come first, dear values after them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from .cuts import PIECE_NAME, cuts_of
from .derived import apply
from .dtypes import INDEX
from .early import fetched_early, next_rows
from .folds import folds_of
from .ir import TRUE, Axis, Fold, Leaf, Local, Op, Store, Value, components, index, load, local
from .keeping import kept_before
from .kernel import Kernel
from .machine import Machine
from .nest import ONE, Columns, Loop, Stmt, Vector
from .past import past_caches
from .placing import folds_inside, loop_over
from .reducers import ROW, rounded_up
from .repeating import MOST_REPEATED, as_one_row
from .rewrite import substitute, walk, with_values
from .runs import repeated, running_on
from .strips import STRIP_BYTES, Stripping, folded_by_columns
from .tiles import Bounds, as_stored, turned_round
from .vectors import DEAR, cost_of, vector_over

MADE_BYTES = 32768  # where each strip makes what its rows have
BLOCK = 2048  # elements of scratch for a saved value
MAX_COLUMNS = 4  # saved values: 64 KiB of stack at most, where some threads have 128
BY_COLUMNS = (
    3,
    10,
)  # elements of a short row, of what is cheap and dear: up to here it is stored by columns, whose lanes are all in use
ROWS_AS_ONE = 16  # short rows
ROWS_AHEAD = 2  # of a target that what is dear is stored in, of which the lines are not in the caches
OUTER_AHEAD = 8  # indices of an outer axis, of few rows of few columns
SHORT_ROWS = 256  # that are read again before they leave the first cache


def columns_of(
    kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local], folds: Collection[Fold] = ()
) -> list[Value]:
    """The largest dear values that need no axis but the innermost one and those bound; whatever is made of `folds` is dear."""
    axis = loops[-1][0]
    if not by_columns(kernel, axis, bound):
        return []
    found: list[Value] = []
    seen, stack = set[Value](), [store.value for store in kernel.stores]
    while stack:
        node = stack.pop()
        if node in seen or not isinstance(node, Op) or axis not in node.free:
            continue
        seen.add(node)
        made_of = any(n in folds for n in walk(node)) if folds else False
        if node.free <= bound | {axis} and (made_of or cost_of(node) >= DEAR):
            found.append(node)
        else:
            stack.extend(reversed(node.args))
    return sorted(found, key=cost_of, reverse=True)[:MAX_COLUMNS]


def by_columns(kernel: Kernel, axis: Axis, bound: frozenset[Axis | Local]) -> bool:
    # there is a block of columns already
    within = any(isinstance(x, Local) and not x.name.startswith(PIECE_NAME) for x in bound)
    return not (axis is ONE or kernel.reverse or within or cuts_of(kernel.stores, axis))


def across(kernel: Kernel, loops: list[Bounds], bound: frozenset[Axis | Local]) -> list[Fold]:
    """The folds across rows that can be computed here for all columns, inner ones first."""
    axis = loops[-1][0]
    if not by_columns(kernel, axis, bound):
        return []
    folds = folds_of(*(store.value for store in kernel.stores))
    return [node for node in folds if axis in node.free and node.free <= bound | {axis}]


class Opening(Protocol):
    """What gives the statements that run the remaining loops, all of `bound` being known."""

    def __call__(
        self, kernel: Kernel, machine: Machine, loops: list[Bounds], bound: frozenset[Axis | Local], done: set[Value]
    ) -> list[Stmt]: ...


@dataclass
class Saving:
    """The nest that computes folds across rows and dear values before the remaining outer loops."""

    kernel: Kernel
    machine: Machine
    loops: list[Bounds]
    bound: frozenset[Axis | Local]
    inside: set[Value]  # what is known already
    opened: Opening
    start: Local = field(default_factory=lambda: local("start", INDEX))
    end: Local = field(default_factory=lambda: local("end", INDEX))
    width: Local = field(default_factory=lambda: local("width", INDEX))
    kept: list[tuple[Leaf, Value]] = field(default_factory=list)  # the scratch, and what is in it
    again: dict[Value, Value] = field(default_factory=dict)  # what is read now instead of computed
    body: list[Stmt] = field(default_factory=list)

    def nest(self, folds: list[Fold], saved: Sequence[Value]) -> Columns:
        axis, low, extent = self.loops[-1]
        held, columns = None, _keeps_columns(self.kernel, self.loops)
        if columns or _keeps_rows(self.kernel, self.machine, self.loops):
            held = kept_before(self.kernel, folds, -1 if columns else -2)
        for node in folds:
            if held and node is held[0] and folds_of(substitute(held[1].value, self.again)):
                held = None  # some of these are no numbers of the columns yet
            if held and node is held[0]:
                self._hold(node, held[1], columns)
            self._fold(node)
        instead: dict[Value, Value] = {held[1].value: load(held[1].leaf, held[1].offset)} if held else {}
        if folds and len(self.loops) > 1:
            saved = columns_of(with_values(self.kernel, instead), self.loops, self.bound, folds)
        if saved:
            self._fill(saved)
        alone = self.kernel.few and len(self.loops) == 2 and not held  # else what only the held value needs were saved
        rest = self._repeating(folds) if alone else []
        self.body += rest or self._stored(folds)
        twice = (len(folds) > 1 or len(self.loops) > 1) and not any(map(folds_inside, folds))
        return Columns(
            axis,
            extent,
            self.start,
            self.end,
            self._block(folds),
            tuple(self.kept),
            tuple(self.body),
            self.width,
            twice,
            held[1].value if held else None,
            low=low,
        )

    def _stored(self, folds: list[Fold]) -> list[Stmt]:
        """The remaining loops, which know when rows run on, store past the caches, and fetch early."""
        rest = self._rest(folds)
        if self.kernel.short or self.kernel.reverse:
            return rest
        rest = past_caches(rest, self.kernel, self.machine)
        rest = fetched_early(rest, self.kernel, self.loops, self.bound, (self.start, self.end, self.width))
        return running_on(rest, self.loops[-1][0], self.start, self.end, [leaf for leaf, _ in self.kept])

    def _repeating(self, folds: list[Fold]) -> list[Stmt]:
        """The same with what else all rows, or all columns, have in common in scratch, such that rows run on; nothing where there is nothing of
        it, or they do not.
        """
        row, (axis, _, _) = self.loops[0][0], self.loops[1]
        columns, rows = repeated(self.kernel.stores, self.bound, row, axis)
        columns = [x for x in columns if x not in self.again]
        if (
            not 0 < len(columns) + len(rows) <= MOST_REPEATED
            or self.kernel.reverse
            or cuts_of(self.kernel.stores, axis)
        ):
            return []
        before = dict(self.again), list(self.kept), list(self.body), set(self.inside)
        if columns:
            self._fill(columns)
        leaves = self._scratch(rows)
        self._know(leaves, rows)
        spread = tuple(zip(leaves, rows, strict=True))
        rest = self._stored(folds)
        if any(isinstance(stmt, Loop) and stmt.runs for stmt in rest):
            return [replace(s, spread=spread) if isinstance(s, Loop) else s for s in rest]
        self.again, self.kept, self.body, self.inside = before
        return []

    @property
    def _within(self) -> frozenset[Axis | Local]:
        return self.bound | {self.start, self.end, self.width}

    @property
    def _short_rows(self) -> int:
        return SHORT_ROWS // max(1, rounded_up(self.kernel.short) // 32)

    def _block(self, folds: list[Fold]) -> int:
        """How much of the innermost axis is taken at a time."""
        if self.kernel.short:
            return self._short_rows
        sizes = [dtype.itemsize for node in folds for dtype in node.dtypes]
        if any(map(folds_inside, folds)):
            return MADE_BYTES // sum(sizes)
        room = max(STRIP_BYTES // 4, STRIP_BYTES // max(1, len(sizes) // 4))
        return min((room // size for size in sizes), default=BLOCK)

    def _hold(self, node: Fold, store: Store, columns: bool) -> None:
        """Store a dear value that the fold reads; it is read from there."""
        axis, (row, *_) = self.loops[-1][0], self.loops[-2]
        first = replace(self.kernel, stores=(replace(store, value=substitute(store.value, self.again)),))
        rows = axis, self.start, self.end
        if columns:
            stored = self.opened(first, self.machine, [*self.loops[:-1], rows], self._within, set(self.inside))
            if not self.kernel.few:
                stored = next_rows(stored, self.kernel, row, index(ROWS_AHEAD))
            elif len(self.kernel.axes) > 2:
                further = OUTER_AHEAD if self.kernel.low else 1
                stored = next_rows(stored, self.kernel, self.kernel.axes[-3][0], index(further))
            self.body += running_on(stored, axis, self.start, self.end, [leaf for leaf, _ in self.kept])
        else:
            self._hold_rows(first, rows)
        here = load(store.leaf, store.offset)
        self.again |= {substitute(store.value, {row: k}): substitute(here, {row: k}) for k in (row, node.axis)}

    def _hold_rows(self, first: Kernel, rows: Bounds) -> None:
        loops = [*self.loops[:-2], rows, self.loops[-2]]
        stored = self._as_one(first, rows) or _whole(
            self.opened(first, self.machine, loops, self._within, set(self.inside))
        )
        self.body += next_rows(stored, self.kernel, rows[0], index(self._short_rows))

    def _as_one(self, kernel: Kernel, rows: Bounds) -> list[Stmt]:
        """What is stored to short rows that lie side by side, which are one: no lane is idle. Nothing where they may lie apart."""
        if not kernel.runs or len(self.loops) != 2 or cuts_of(kernel.stores, self.loops[-2][0]):
            return []
        kernel, loops, most = replace(kernel, short=0), [rows, self.loops[-2]], kernel.short
        inside = set(self.inside)
        one = as_one_row(kernel, self.machine, loops, self._within, inside, self.opened, "_run", ROWS_AS_ONE, most)
        return [one] if one else []

    def _fold(self, node: Fold) -> None:
        axis, _, extent = self.loops[-1]
        into = self._scratch(components(node))
        if self.kernel.short or folded_by_columns(node, axis):
            self._store(into, components(node))
        else:
            strip = Stripping(
                self.kernel, self.machine, axis, extent, self.start, self.end, self.width, self._within, self.inside
            )
            self.body.append(strip.of(node, [substitute(x, self.again) for x in node.bodies], into))
        self._know(into, components(node))

    def _fill(self, values: Sequence[Value]) -> None:
        into = self._scratch(values)
        self._store(into, values)
        self._know(into, values)

    def _scratch(self, values: Sequence[Value]) -> tuple[Leaf, ...]:
        return tuple(Leaf(f"column{n}", value.dtype) for n, value in enumerate(values, len(self.kept)))

    def _store(self, into: Sequence[Leaf], values: Sequence[Value]) -> None:
        axis = self.loops[-1][0]
        pairs = zip(into, values, strict=True)
        stores = tuple(Store(leaf, axis - self.start, substitute(value, self.again)) for leaf, value in pairs)
        self.body += loop_over(self.kernel, self.machine, axis, self.start, self.end, stores, self._within, self.inside)

    def _know(self, into: Sequence[Leaf], values: Sequence[Value]) -> None:
        axis = self.loops[-1][0]
        self.again |= {value: load(leaf, axis - self.start) for leaf, value in zip(into, values, strict=True)}
        self.kept += zip(into, values, strict=True)

    def _rest(self, folds: list[Fold]) -> list[Stmt]:
        """The remaining loops: short rows one by one from some length on, everything else by columns."""
        kernel, machine, within = with_values(self.kernel, self.again), self.machine, self._within
        *outer, (axis, _, _) = self.loops
        columns: list[Bounds] = [*outer, (axis, self.start, self.end)]
        stored: list[Stmt] = []
        turned = replace(kernel, short=0)
        if kernel.short and outer and turned_round(turned, axis, outer[-1][0]):
            return self.opened(turned, machine, columns, within, self.inside)
        if kernel.short and outer and _by_rows(kernel, machine, self.loops):
            *outer, (inner, low, n) = outer
            dear = sum(cost_of(store.value) for store in kernel.stores) >= DEAR
            always = kernel.short > ROW
            longer = TRUE if always else apply("greater", n, index(BY_COLUMNS[dear]))
            rows = (axis, self.start, self.end if always else apply("where", longer, self.end, self.start))
            stored = self.opened(kernel, machine, [*outer, rows, (inner, low, n)], within, set(self.inside))
            if always:
                return _whole(stored) if any(node.extent is n for node in folds) else stored
            columns = [*outer, (inner, index(0), apply("where", longer, index(0), n)), columns[-1]]
        return [*stored, *self.opened(kernel, machine, as_stored(kernel, columns), within, self.inside)]


def _whole(stmts: Iterable[Stmt]) -> list[Stmt]:
    """Loops over rows that have at least half as many elements as the kernel is for."""

    def whole(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Vector):
            return replace(stmt, whole=stmt.short)
        return replace(stmt, body=tuple(_whole(stmt.body))) if isinstance(stmt, Loop) else stmt

    return list(map(whole, stmts))


def _keeps_rows(kernel: Kernel, machine: Machine, loops: list[Bounds]) -> bool:
    """Whether rows are short, and long enough to be stored one by one."""
    return (
        kernel.short > ROW
        and len(loops) > 1
        and loops[-2][:1] == kernel.axes[-2][:1]
        and _by_rows(kernel, machine, loops)
    )


def _keeps_columns(kernel: Kernel, loops: list[Bounds]) -> bool:
    """Whether what is stored of columns is in the caches when it is read."""
    return kernel.near and not kernel.short and len(loops) > 1 and loops[-2][:1] == kernel.axes[-2][:1]


def _by_rows(kernel: Kernel, machine: Machine, loops: list[Bounds]) -> bool:
    """Whether what is made of short rows can be stored row by row, in masked steps."""
    axis, low, high = loops[-2]
    return vector_over(kernel, machine, axis, low, high, kernel.stores).masked
