"""Folds of few rows of few columns, for several indices of an outer axis at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..early import AHEAD_BYTES
from ..extremes import COMPARED
from ..ir import Axis, Const, Fold, Leaf, Load, index, load
from ..machine import LINE
from ..nest import Columns, Let, Loop, Squares, Stmt, Strip, Vector, statements
from ..reducers import is_known
from ..rewrite import affine, walk
from ..vectors import computed
from .llvm_accumulators import Row
from .llvm_beside import Fetch, Lying, nothing_fetched
from .llvm_runs import Runs
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Items, Known, Part, Where, first_lanes

Run = Callable[[Sequence[Stmt], Known], None]
NARROW = 16  # bits: of wider integers a vector holds too few rows for two passes over them, and of these where no lane is left over
MOST_PARTS = 2  # of columns that are compared at once, where registers are small
FEWEST_TIMES = 4  # as many rows as a vector holds: of fewer to join them takes longer than to take floats apart


class Outer(Runs):
    """Emits a loop around folds across rows, whose folds do not wait for each other."""

    def taken_together(self, stmt: Loop) -> Columns | None:
        """The columns that a loop saves, where it takes several of its indices at once."""
        *before, last = stmt.body
        if not self.nest.kernel.low or not isinstance(last, Columns) or not all(isinstance(x, Let) for x in before):
            return None
        if not last.strips or not isinstance(last.body[0], Strip):
            return None
        saved = {
            leaf for leaf, _ in last.saved
        }  # of several indices at once: none is stored between folds, for one index
        between = [s for _, held in _split(last.body)[0] for s in statements(held) if isinstance(s, Vector | Squares)]
        lanes = all(store.leaf not in saved for s in between for store in s.stores)
        return last if lanes and all(self._fits(strip, stmt.axis) for strip in last.strips) else None

    def _fits(self, strip: Strip, outer: Axis) -> bool:
        loop, few = strip.body[-1], strip.few
        if few is None or not isinstance(loop, Vector) or outer in computed(few.bodies, loop.axis):
            return False
        return self.fits_beside(few, loop, outer)

    def outer_loop(self, stmt: Loop, columns: Columns, known: Known, low: str, high: str, run: Run) -> None:
        """All that is saved for several indices, then what is made of it, for one index after the other."""
        t, strips, width = self.text, columns.strips, self.row_lanes
        many = min(self.rows_of(loop) for loop in map(_loop_of, strips))
        end = self.value(columns.extent, known, None).name
        bounds = zip((columns.start, columns.end, columns.width), ("0", end, end), strict=True)
        known = known | {name: Lanes(at, INDEX_TYPE) for name, at in bounds}
        shortest = min(map(_loop_of, strips), key=lambda loop: loop.lanes)
        parts = self.row_parts(end, shortest, [strip.few for strip in strips if strip.few])
        fills = self._fills(columns, stmt.axis)
        groups, after = _split(columns.body)
        rest = [s for s in after if s not in fills]
        read = _read([*rest, *(s for _, held in groups for s in held)])
        kept = [leaf for leaf, _ in columns.saved if leaf in read]
        made_here = {leaf for strip in strips for leaf in strip.into} | {s.leaf for fill in fills for s in fill.stores}
        slots = [(leaf, t.reserve(f"[{many * width} x {leaf.dtype.memory}]")) for leaf in kept if leaf in made_here]
        for leaf in kept:
            self.address[leaf.name] = t.reserve(f"[{columns.block} x {leaf.dtype.memory}]")

        plain, last_to_read = self._plain_store(rest, stmt.axis), groups[0][0][-1]  # later ones read what is held

        def some(i: str) -> str:
            last = t.index("sub", high, 1)
            each = [Lanes(t.lesser(t.index("add", i, n), last) if n else i, INDEX_TYPE) for n in range(many)]
            items = Items(stmt.axis, width, self.row_some(parts), tuple({stmt.axis: x} for x in each), parts=parts)
            found, made = dict(known), dict[Leaf, Lanes]()
            for folds, held in groups:
                for strip in folds:
                    made |= zip(strip.into, self._in_lanes_of(strip, found, items, strip is last_to_read), strict=True)
                if held:
                    each_of(i, made, held)
            for fill in fills:
                made |= self._fill(fill, found, known, items)
            if plain is None:
                each_of(i, made, rest)
            else:
                near = t.let(f"icmp sle i64 {t.index('add', i, many)}, {high}", "i1").name
                if plain.stream is not None and self._fills_lines(plain):
                    far = self.value(plain.stream, dict(known), None).name
                    near = t.let(f"select i1 {far}, i1 false, i1 {near}", "i1").name
                t.either(near, lambda: self._store_all(plain, found, known, items), lambda: each_of(i, made, rest))
            return t.index("add", i, many)

        def each_of(i: str, made: Mapping[Leaf, Lanes], stmts: Sequence[Stmt]) -> None:
            own = [(leaf, slot) for leaf, slot in slots if leaf in made]
            for leaf, slot in own:
                self.keep(leaf.dtype, made[leaf], slot)
            t.loop("0", t.lesser(str(many), t.index("sub", high, i)), 1, partial(one, i, own, stmts))

        def one(i: str, own: Sequence[tuple[Leaf, str]], stmts: Sequence[Stmt], n: str) -> None:
            for leaf, slot in own:
                self._own_row(leaf, self.accumulator(leaf.dtype, slot, n, width), parts, strips)
            self.taken.append(columns)
            run([*stmt.body[:-1], *stmts], known | {stmt.axis: Lanes(t.index("add", i, n), INDEX_TYPE)})
            self.taken.pop()

        t.repeat(low, high, some)

    def _own_row(self, leaf: Leaf, slot: str, parts: tuple[Part, ...], strips: Sequence[Strip]) -> None:
        """One index's numbers of the columns, where they are read."""
        width = self.row_lanes
        row = self.kept(leaf.dtype, slot, width)
        if parts:
            self.store_parts(self.in_memory(row, leaf.dtype), self.address[leaf.name], leaf.dtype, parts)
            return
        # as wide as it is read: memory that holds a part of it would have to be written first
        lanes = max(width, *(loop.lanes for loop in map(_loop_of, strips)))
        row = self._shuffled(row, row, [min(c, width - 1) for c in range(lanes)])
        self.keep(leaf.dtype, row, self.address[leaf.name])

    def _plain_store(self, rest: Sequence[Stmt], outer: Axis) -> Vector | None:
        """What is made of the folds, where it is but a row for each index, and can be computed in lanes."""
        done = [s for s in rest if not isinstance(s, Let)]
        stmt = done[0] if len(done) == 1 else None
        if not isinstance(stmt, Vector) or stmt.groups:
            return None
        bodies, forms = [s.value for s in stmt.stores], [affine(s.offset, stmt.axis) for s in stmt.stores]
        rows = all(form and form[0] == index(1) for form in forms) and not any(s.leaf.pairs for s in stmt.stores)
        lanes = outer not in computed(bodies, stmt.axis) and self.in_lanes(bodies, stmt, outer)
        return stmt if rows and lanes else None

    def _fills_lines(self, stmt: Vector) -> bool:
        """Whether a row that is stored has whole lines: of others the parts that lie between are waited for, beside what is stored past the caches."""
        few = self.nest.kernel.few
        return is_known(few) and all(few * store.leaf.dtype.itemsize % LINE == 0 for store in stmt.stores)

    def _store_all(self, stmt: Vector, found: Known, known: Known, items: Items) -> None:
        """The rows of all items, where they belong."""
        splats, self.splats = self.splats, {}
        inside, where = self.lanes_of(stmt, known, items)
        inside = {**found, **inside}
        values = [self.widened(self.value(s.value, inside, where), where.count) for s in stmt.stores]
        mask = first_lanes(items.some, items.width)
        if self._run_on(stmt, items):
            lanes = [n * items.width + c for n in range(len(items.each)) for c in range(items.some)]
            for store, value in zip(stmt.stores, values, strict=True):
                row = Where(stmt.axis, where.at, len(lanes))
                self.store(store, self._shuffled(value, value, lanes), {**known, **items.each[0]}, row)
            self.splats = splats
            return
        for n, own in enumerate(items.each):
            row = Where(stmt.axis, where.at, items.width, mask, parts=items.parts)
            for store, value in zip(stmt.stores, values, strict=True):
                part = self._shuffled(value, value, range(n * items.width, (n + 1) * items.width))
                self.store(store, part, {**known, **own}, row)
        self.splats = splats

    def _run_on(self, stmt: Vector, items: Items) -> bool:
        """Whether the rows that are stored lie side by side, as is known when this is compiled."""
        few = self.nest.kernel.few
        forms = [affine(s.offset, items.row) for s in stmt.stores] if is_known(few) and not items.parts else [None]
        return all(form and isinstance(form[0], Const) and form[0].value == few for form in forms)

    def _fills(self, columns: Columns, outer: Axis) -> list[Vector]:
        """What else is saved for the columns, where it can be computed in lanes, from what is there by then."""
        saved, found = [leaf for leaf, _ in columns.saved], list[Vector]()
        made = {leaf for strip in columns.strips for leaf in strip.into}
        for stmt in _split(columns.body)[1]:
            if isinstance(stmt, Vector) and all(store.leaf in saved for store in stmt.stores):
                bodies = [store.value for store in stmt.stores]
                there = _read([stmt]).intersection(saved) <= made
                if there and outer not in computed(bodies, stmt.axis) and self.in_lanes(bodies, stmt, outer):
                    found.append(stmt)
                    made |= {store.leaf for store in stmt.stores}
        return found

    def _fill(self, fill: Vector, found: Known, known: Known, items: Items) -> dict[Leaf, Lanes]:
        """What is saved for the columns, in lanes."""
        splats, self.splats = self.splats, {}
        inside, where = self.lanes_of(fill, known, items)
        inside = {**found, **inside}
        made = dict[Leaf, Lanes]()
        for store in fill.stores:
            made[store.leaf] = self.widened(self.value(store.value, inside, where), where.count)
            found[load(store.leaf, store.offset)] = made[store.leaf]
        self.splats = splats
        return made

    def _in_lanes_of(self, strip: Strip, found: Known, items: Items, last: bool) -> Row:
        """The fold of a strip, and how what comes after reads it: one register of columns after the other, where four rows of all of them do not fit into registers."""
        node = strip.few
        assert node is not None, "what is taken together is a fold in registers"
        sums = (self._part_by_part if self._is_parted(node, items) else self._fold_of)(strip, found, items, last)
        for store, x in zip(_loop_of(strip).stores, sums, strict=True):
            found[load(store.leaf, store.offset)] = x
        return sums

    def _is_parted(self, node: Fold, items: Items) -> bool:
        """Whether four rows of all columns, and what is compared of them, are more than small registers hold."""
        given = all(x.leaf.name in self.given for x in computed(node.bodies, items.row) if isinstance(x, Load))
        parted = self.machine.small and len(items.each) == 1 and len(items.parts) > MOST_PARTS
        return parted and given and node.reducer in COMPARED

    def _part_by_part(self, strip: Strip, found: Known, items: Items, last: bool) -> Row:
        """The fold of one part of the columns after the other; of less than four the last two are one."""
        width, (*_, end) = items.width // len(items.parts), items.parts
        firsts = [x for x in items.parts if x is not end]

        def part(at: Part, *_: object) -> list[Row]:
            return [self._fold_of(strip, dict(found), replace(items, width=width, some=width, parts=(at,)), last)]

        (final,), half = part(end), len(firsts) // 2 + 1
        rows = [row for at in firsts[:half] for row in part(at)]
        rows += [row for x in firsts[half:] for row in self._perhaps(x.first, end.first, [final], partial(part, x))]
        rows += [final] * (len(items.parts) - len(firsts))
        return [self._joined(column) for column in zip(*rows, strict=True)]

    def _fold_of(self, strip: Strip, found: Known, items: Items, last: bool) -> Row:
        """The fold of a strip in lanes. The `last` one fetches what the next indices read."""
        node, loop = strip.few, _loop_of(strip)
        assert node is not None, "what is taken together is a fold in registers"
        splats, self.splats = self.splats, {}
        extent = self.value(node.extent, found, None).name

        def row(k: str) -> tuple[Lanes, list[Known]]:
            here = Lanes(k, INDEX_TYPE)
            return here, [{node.axis: here}] * len(items.each)

        on = len(items.each) if self.nest.kernel.tall else 0  # what lies behind tall ones is read by the next of them

        def here(k: str) -> list[Known]:
            every = [own[items.row] for own in items.each]
            if on:
                every = [Lanes(self.text.index("add", row.name, on), INDEX_TYPE) for row in every]
            return [{node.axis: Lanes(k, INDEX_TYPE), items.row: row} for row in every]

        fetch: Fetch = nothing_fetched
        rows = self.rows_abreast(node, loop, found, items, row)
        where = Where(loop.axis, "0", items.width * len(items.each), items.mask)
        if last:
            many = self.value(dict(self.nest.kernel.axes)[items.row] * node.extent, found, None).name
            fetch = self.fetches(node, where, found, many, here, 0 if on else AHEAD_BYTES)
            rows = self.fetching(node, fetch, rows)
        bits, filled = node.dtypes[0].bits, self.nest.kernel.few == self.row_lanes
        narrow = node.dtypes[0].kind in "iu" and (bits < NARROW or (bits == NARROW and not filled))
        sought = self.rows_sought(node, loop) if narrow else 0
        assert node.order is not None, "a scheduled fold has an order"
        lying = sought or self.rows_in_any_order(node, loop, items.width)
        general = partial(self.by_groups, node, where, "0", extent, *rows)
        placed = self.rows_sought(node, loop) if self.are_placed_by_lanes(node) else 0
        if placed > 1:
            sums = self.text.chosen(
                self.text.let(f"icmp slt i64 {extent}, {FEWEST_TIMES * placed}", "i1").name,
                general,
                lambda: self.placed_by_lanes(node, loop, found, Lying(items, placed, extent, rows[1], fetch), general),
            )
        elif lying > 1:
            all_rows = self.placed_in_each if sought else self.all_in_any_order
            least = 2 if sought else FEWEST_TIMES if node.dtype.kind == "f" else 1
            sums = self.text.chosen(
                self.text.let(f"icmp slt i64 {extent}, {least * lying}", "i1").name,
                general,
                lambda: all_rows(node, loop, found, Lying(items, lying, extent, rows[1], fetch)),
            )
        elif self.nest.kernel.tall:
            sums = self.blocks(
                [node], node.order, where.count, "0", extent, lambda a, b: self.by_groups(node, where, a, b, *rows)
            )
        else:
            sums = general()
        self.splats = splats
        return sums


def _split(body: Sequence[Stmt]) -> tuple[list[tuple[list[Strip], list[Stmt]]], list[Stmt]]:
    """Folds, some at a time, with what is stored before the next ones; and what comes after all of them."""
    groups = list[tuple[list[Strip], list[Stmt]]]()
    for stmt in body:
        if not isinstance(stmt, Strip):
            groups[-1][1].append(stmt)
        elif groups and not groups[-1][1]:
            groups[-1][0].append(stmt)
        else:
            groups.append(([stmt], []))
    *others, (folds, rest) = groups
    return [*others, (folds, [])], rest


def _loop_of(strip: Strip) -> Vector:
    loop = strip.body[-1]
    assert isinstance(loop, Vector), "what is taken together is a vector loop"
    return loop


def _read(stmts: Sequence[Stmt]) -> set[Leaf]:
    """What statements read."""
    stores = [store for s in statements(stmts) if isinstance(s, Vector | Squares) for store in s.stores]
    return {x.leaf for x in walk(*(store.value for store in stores)) if isinstance(x, Load)}
