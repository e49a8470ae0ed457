"""The loops over tiles of flattened axes: what they bring to scratch, what they compute there, and how rows are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import prod

from .bring import FEWEST_BETWEEN, FIRST_TILE, WORD, Bring, Spread
from .chain import Chain
from .derived import apply
from .ir import FALSE, TRUE, Axis, Const, Leaf, Load, Local, Op, Store, Value, both, index, load, negation
from .ir import axis as named_axis
from .kernel import WHOLE, Kernel, Order, Tile
from .machine import LINE, Machine
from .nest import ONE_ELEMENT, AtOnce, Blocks, Fetch, Loop, Squares, Stmt, Vector
from .placing import loop_over, place
from .rewrite import affine, eager, elements_of, rewrite, steps, substitute
from .vectors import CHEAP_ROWS, FAR_BYTES, MOST_TURNED, roots_of, work_of

LONG, DEEP = 128, 16  # elements of a tile along the target, and along a source
LONGEST = 2 * LONG  # where nothing is turned
MOST_DEEP = 2 * DEEP  # where that runs on over several axes
BOTH, BOTH_BYTES = 64, 256  # of both, where something is computed along the source and has no more bytes
MOST_LANES = 16
COLUMN, ROW = named_axis("column"), named_axis("row")  # of a tile
STAYS = 512 << 10  # bytes of a piece that are still in the second cache when they are read again
FETCHED = 2 * DEEP  # elements of a column of a tile: of so many they are fetched for what is made of them
# elements of rows that are put together in registers, and bytes of each: of smaller ones, of which more than two rows would be in one, those of a word
MOST_WOVEN, WOVEN_BYTES = 8, (4, 8)
MANY = 4  # tiles of a loop: the last one of fewer is too often
ROWS = 256  # of tiles: of no more what is fetched stays in the second cache until all are done


class Tiles:
    """Makes the loops over tiles."""

    def __init__(
        self,
        kernel: Kernel,
        machine: Machine,
        columns: Chain,
        rows: Chain | None,
        along_rows: Sequence[Value],
        past: Value | None,
        order: Order | None = None,
    ) -> None:
        self.machine, self.columns, self.rows = machine, columns, rows
        self.original, size = kernel, kernel.stores[0].leaf.itemsize
        self.within = kernel.flat.within if kernel.flat else ()
        self.tile = kernel.flat.tile if kernel.flat else None
        self.far, self.past = kernel.far(kernel.every, FAR_BYTES // size), past
        self.length = columns.most + MOST_LANES  # elements of a row of scratch: a vector more
        self.along_rows, self.made_in_lines = along_rows, bool(along_rows) and columns.beyond is not None
        self.joined = self._joined()
        self.deep, self.apart = self._strides()
        self.brought: list[Bring | Spread] = []
        self.made: list[Store] = []
        self.later: list[Load] = []  # where a later tile begins to read for what is made
        known = {x: self._turned_later(x) for x in along_rows}
        for x in self._apart([substitute(s.value, known) for s in kernel.stores]):
            known[x] = self._known(x)
        stores = (
            replace(s, offset=self._moved(s.leaf, s.offset), value=substitute(s.value, known)) for s in kernel.stores
        )
        self.kernel = replace(kernel, stores=tuple(stores))
        self.squares = self._squares(order) if order else None

    def _strides(self) -> tuple[Value, Value]:
        """How far it is in scratch from column to column of what is made, and from row to row of what is turned: tiles of more columns have fewer rows."""
        deep, apart = index(self._rows_of_scratch + MOST_LANES), index(self.length)
        if self.made_in_lines and self.past is not None:
            deep = apply("where", self.past, index(MOST_DEEP + MOST_LANES), deep)
            apart = apply("where", self.past, apart, index(BOTH + MOST_LANES))
        as_one = TRUE if self.tile and self.tile.as_one else self.joined
        return deep, apply("where", as_one, self.columns.total, apart)

    @property
    def _places(self) -> tuple[int, int]:
        """Elements of scratch for what is made, and for what is turned."""
        rows, lanes = self._rows_of_scratch, MOST_LANES
        if not self.made_in_lines:
            return self.columns.most * (rows + lanes), self.length * rows
        made = self.columns.most * (MOST_DEEP + lanes), BOTH * (rows + lanes)
        return max(made), max(self.length * MOST_DEEP, (BOTH + lanes) * rows)

    @property
    def _rows_of_scratch(self) -> int:
        return -(-self.rows.most // MOST_LANES) * MOST_LANES if self.rows else 0  # those of whole squares

    def _joined(self) -> Value:
        """Whether rows of a tile are whole ones of the target, which follow each other there, and in scratch: but for that all is one for the tile."""
        columns, rows, (store, *_) = self.columns, self.rows, self.original.stores
        if self.tile:
            return FALSE
        all_turned = store.value in self.along_rows or self._all_turned(store.value)
        if columns.beyond is None or rows is None or len(rows.axes) > 1 or not all_turned:
            return FALSE
        form = affine(store.offset, rows.axes[0][0])
        assert form is not None, "rows of the target lie at regular distances"
        follows = both(columns.beyond >= index(1), apply("equal", form[0], columns.total))
        return both(index(LONG if self.along_rows else LONGEST) >= columns.total, follows)

    def _all_turned(self, value: Value) -> bool:
        """Whether all that is read is turned, or one for the tile."""
        inner, found = self.columns.axes[-1][0], list(elements_of([value]))
        if any(isinstance(x, Axis) for x in found):
            return False
        loads = [(x, self._over_tiles(x)) for x in found if isinstance(x, Load)]
        return all(
            not {COLUMN, ROW} & x.free
            or (isinstance(x, Load) and inner in at.free and abs(steps(x, COLUMN) or 2) > 1 == steps(x, ROW))
            for at, x in loads
        )

    @property
    def read_again(self) -> Value:
        """Whether what is made of columns comes from memory, and these are long."""
        assert self.rows is not None, "values along rows"
        many, size = prod((n for _, n in self.original.axes), start=index(1)), self.original.stores[0].leaf.itemsize
        return both(self.far, both(many >= STAYS // size, self.rows.many >= FETCHED))

    @property
    def scratch(self) -> tuple[tuple[int, Leaf], ...]:
        """Elements of each leaf."""
        if self.squares:
            return ()
        made = [(self._places[0], s.leaf) for s in self.made]
        return (*((x.places, x.into) for x in self.brought), *made)

    def _squares(self, order: Order) -> Squares | None:
        """What turns a tile as it is computed, with nothing brought to scratch, where little is computed of what is turned, and of what runs on along columns."""
        (store, *more), turned = self.kernel.stores, list[tuple[Load, Load]]()
        if self.rows is None or self.made or more:
            return None
        for x in self.brought:
            if isinstance(x, Spread) or not x.turned or x.each > 1 or x.when is not TRUE:
                return None
            turned.append((load(x.into, x.place), x.load))
        loads = [x for x in elements_of([store.value]) if isinstance(x, Load) and COLUMN in x.offset.free]
        known = {x for x, _ in turned}
        strange = any(x not in known and steps(x, COLUMN) != 1 for x in loads) or not known <= {*loads}
        sizes = {store.leaf.dtype.itemsize, *(x.leaf.dtype.itemsize for x in loads)}
        if strange or not 0 < len(known) <= MOST_TURNED or len(sizes) > 1 or work_of([store.value]) > CHEAP_ROWS[1]:
            return None
        lanes, stores, zero = self.machine.vector_bits // (8 * max(sizes)), self.kernel.stores, index(0)
        sides = zero, self.rows.many, zero, self.columns.many
        halved = TRUE if order == "halved" else FALSE
        return Squares(
            stores, tuple(turned), ROW, COLUMN, *sides, min(lanes, MOST_LANES), 1, False, None, (), FALSE,
            halved=halved, down=TRUE if order == "down" else FALSE,
        )  # fmt: skip

    def _turned_later(self, value: Value) -> Value:
        """What stands for a value that is computed along rows."""
        assert self.rows is not None, "values along rows"
        made = Leaf(f"made{len(self.made)}", value.dtype)
        at = COLUMN * self.deep + ROW
        self.made.append(Store(made, at, self._over_tiles(value)))
        for x in elements_of([value]):
            if isinstance(x, Load) and x.leaf in self.original.leaves:
                first = substitute(self._moved(x.leaf, x.offset), {ROW: index(0)})
                self.later += [load(x.leaf, first + self._further(x))] if COLUMN in first.free else []
        return self._turned(load(made, at))

    def _turned(self, x: Value, origin: Load | None = None, each: int = 1) -> Value:
        """What stands for a load that runs on along rows, `each` elements of the columns at a time."""
        assert isinstance(x, Load) and self.rows is not None, "a load along rows"
        bring = self._bring(x, origin)
        place, places = COLUMN + ROW * self.apart, self._places[1]
        usual = self.rows.usual if len(self.rows.axes) == 1 else 0
        made = replace(bring, turned=True, rows=self.rows.many, place=place, places=places, each=each, usual=usual)
        self.brought.append(self._once(made, origin))
        return load(bring.into, place)

    def _turned_again(self, x: Load, origin: Load) -> Value:
        """What stands for a load that is the same for all indices of the outermost axis of the rows: it is brought for one, before the tiles of rows."""
        assert self.rows is not None, "a load along rows"
        offset = substitute(self.columns.moved(x.leaf, origin.offset), {a: index(0) for a, _ in self.rows.axes})
        bring = self._bring(load(x.leaf, offset + ROW), origin)
        place, places = COLUMN + ROW * self.length, self._places[1]
        made = replace(bring, turned=True, rows=self.rows.inner, place=place, places=places)
        self.brought.append(self._once(made, origin))
        return load(bring.into, COLUMN + self.rows.moved(bring.into, self.rows.within * self.length))

    def _once(self, bring: Bring, origin: Load | None) -> Bring:
        """What is brought by the first tile for all others, where it is the same for these: but for each tile of rows, if there are several."""
        others = {self.columns.axes[0][0], *self.within}
        if origin is None or others & origin.offset.free:
            return bring
        when: Value = FIRST_TILE
        if self.rows is not None and self.rows.start in bring.load.offset.free:
            when = apply("logical_or", when, self.rows.axes[0][1] > self.rows.each)
        return replace(bring, when=when)

    def _bring(self, x: Load, origin: Load | None = None) -> Bring:
        lanes = min(MOST_LANES, self.machine.vector_bits // x.leaf.dtype.bits)
        into = Leaf(f"brought{len(self.brought)}", x.leaf.dtype)
        return Bring(
            into, x, COLUMN, self.columns.reach, ROW, index(1), COLUMN, lanes, False, None, None, self.length,
            *((self._further(origin), self.far) if origin and origin.leaf.name != WHOLE else ()),  # that is in a cache
        )  # fmt: skip

    def _further(self, x: Load) -> Value:
        """How many elements further a later tile reads: the next one of the outermost loop that has several turns, of which one stays in the
        second cache.
        """

        def step(a: Axis, each: Value = ONE_ELEMENT) -> Value:
            form = affine(x.offset, a)
            return form[0] * each if form else index(0)

        (first, extent), each = self.columns.axes[0], self.columns.each
        if self.tile:
            return self._further_tile(self.tile, step)
        inner = {a for chain in (self.columns, self.rows) if chain for a, _ in chain.axes}.union(self.within)
        outer = [step(a) for a, _ in self.original.axes if a not in inner]
        several = extent > each * (MANY if self.rows else 1)
        along = apply("where", several, step(first, each), outer[-1]) if outer else step(first, each)
        if self.rows is None and not self.within:
            return along
        found, count = along, index(1)
        if self.rows:
            a, many = self.rows.axes[0]
            found, count = step(a, self.rows.each), many * self.rows.inner
        for a, n in reversed([pair for pair in self.original.axes if pair[0] in self.within]):
            found, count = apply("where", index(ROWS) >= count, step(a), found), count * n
        stays = index(ROWS) >= count
        return apply("where", stays if outer else both(stays, several), along, found)

    def _further_tile(self, tile: Tile[Axis], step: Callable[..., Value]) -> Value:
        """The same of tiles that are given: along the innermost loop that has several turns."""
        found, chains = index(0), {chain.axes[0][0]: chain for chain in (self.columns, self.rows) if chain}
        for a, extent in ((a, dict(self.original.axes)[a]) for a in tile.order):
            each = chains[a].each if a in chains else ONE_ELEMENT
            found = apply("where", extent > each, step(a, each * index(tile.ahead)), found)
        return found

    def _apart(self, roots: Iterable[Value]) -> list[Value]:
        """What is loaded, and the largest values that are one for a row of the target's innermost axis, but not for all columns."""
        (inner, _), others = self.columns.axes[-1], [a for a, _ in self.columns.axes[:-1]]
        stack, found = list(roots), dict[Value, None]()
        while stack:
            node = stack.pop()
            if isinstance(node, Load) or (
                isinstance(node, Op) and inner not in node.free and any(a in node.free for a in others)
            ):
                found[node] = None
            elif isinstance(node, Op):
                stack.extend(reversed(eager(node)))
        return [x for x in found if COLUMN not in x.free]

    def _moved(self, leaf: Leaf, offset: Value) -> Value:
        """An offset in terms of rows and columns of a tile."""
        offset = self.columns.moved(leaf, offset)
        return self.rows.moved(leaf, offset) if self.rows else offset

    def _over_tiles(self, value: Value) -> Value:
        return rewrite(value, lambda x: load(x.leaf, self._moved(x.leaf, x.offset)) if isinstance(x, Load) else None)

    def _known(self, value: Value) -> Value:
        """What stands for a value in a tile: itself, or what is brought for it."""
        columns, x = self.columns, self._over_tiles(value)
        inner, few = columns.axes[-1]
        if COLUMN not in x.free:
            return x
        if inner not in value.free:
            into = Leaf(f"brought{len(self.brought)}", value.dtype)
            lanes = min(MOST_LANES, self.machine.vector_bits // value.dtype.computed.bits)
            self.brought.append(Spread(into, x, COLUMN, columns.reach, few, lanes, self.length))
            return load(into, COLUMN)
        assert isinstance(value, Load) and isinstance(x, Load), "an operation along the target's row is computed there"
        if steps(x, COLUMN) in (1, -1):
            return x
        if self.rows is not None and steps(x, ROW) == 1:
            return self._turned(x, value)
        flat = self.original.flat
        if flat is not None and x.leaf.name in flat.paired and steps(value, inner) == 1:
            return self._turned(x, value, flat.each)
        if self.rows is not None and self.rows.repeats(value.offset):
            return self._turned_again(x, value)
        if affine(x.offset, COLUMN):
            return x  # at regular distances: vectors are read so
        bring, masked = self._bring(x, value), x.leaf.dtype.bits in self.machine.masked_bits
        way = steps(value, inner)
        if masked and (way == 1 or (way == -1 and _number(few))):
            bring = replace(bring, unit=few, back=way == -1)
        elif masked and bring.lanes >= FEWEST_BETWEEN and (beside := steps(value, columns.axes[-2][0])) in (1, -1):
            usual = columns.usual if len(columns.axes) == 2 else _number(columns.between)
            if beside == 1 or (usual and _number(few)):
                places = columns.most + MOST_LANES**2
                bring = replace(bring, unit=few, between=columns.between, places=places, usual=usual, back=beside == -1)
        self.brought.append(bring if ROW in x.free else self._once(bring, value))
        return load(bring.into, COLUMN)

    # the loops, from the outermost

    @property
    def _order(self) -> Sequence[Axis]:
        """The axes of the loops: those over tiles in place of the first of the columns, and of the rows."""
        if self.tile:
            return self.tile.order
        chains = [chain.axes for chain in (self.columns, self.rows) if chain]
        taken = {*self.within, *(a for axes in chains for a, _ in axes)}
        outer = (a for a, _ in self.original.axes if a not in taken)
        within = (a for a, _ in self.original.axes if a in self.within)
        (columns, *rows) = (axes[0][0] for axes in chains)
        return (*outer, columns, *within, *rows)

    def loops(self) -> list[Stmt]:
        """The statements that run all loops, those over tiles innermost."""
        return self._loops(self._order, frozenset(), set(), self.brought)

    def _loops(
        self, order: Sequence[Axis], bound: frozenset[Axis | Local], done: set[Value], needed: Sequence[Bring | Spread]
    ) -> list[Stmt]:
        """The remaining ones, which bring what is still needed in a tile of columns."""
        columns, rows, placed = self.columns, self.rows, self._placed(bound, done)
        first = [x for x in needed if columns.start in bound and bound | {COLUMN} >= x.needs]
        needed = [x for x in needed if x not in first]
        if not order:
            if rows is None:
                return [*placed, *self._at_once(first, [*first, *self._row(bound, done)])]
            return [*placed, *self._of_tile(bound, done, [*first, *needed])]
        a, *inner = order
        for chain in (columns, rows):
            if chain and a == chain.axes[0][0]:
                now = bound | {chain.start, chain.end, *([FIRST_TILE] if chain is columns else [])}
                return [*placed, *first, self._blocks(chain, self._loops(inner, now, done, needed))]
        extent = dict(self.original.axes)[a]
        return [*placed, *first, Loop(a, extent, tuple(self._loops(inner, bound | {a}, done, needed)))]

    def _of_tile(
        self, bound: frozenset[Axis | Local], done: set[Value], needed: Sequence[Bring | Spread]
    ) -> list[Stmt]:
        """What is done in a tile of rows, for which so much is still to be brought."""
        assert self.rows is not None, "tiles of rows"
        if self.squares:
            return [self.squares]
        rows, made = self.rows, self._made(bound, done)
        if self.tile and self.tile.as_one:
            return [*needed, *self._as_one(bound, done)]
        turned = [x for x in needed if isinstance(x, Bring) and x.turned]
        late = [x for x in needed if x not in turned]
        row = [*self._placed(bound | {ROW}, done), *late, *self._row(bound | {ROW}, done)]
        row = [*self._fetching(), *row]
        return self._at_once([*turned, *late], [*made, *turned, Loop(ROW, rows.many, tuple(row))])

    def _as_one(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """All rows of a tile, which follow each other in scratch and in the target."""
        assert self.rows is not None, "tiles of rows"
        first: dict[Value, Value] = {ROW: index(0)}
        stores = tuple(
            replace(s, offset=substitute(s.offset, first), value=substitute(s.value, first)) for s in self.kernel.stores
        )
        many = self.rows.many * self.columns.many
        stmts = loop_over(self.kernel, self.machine, COLUMN, index(0), many, stores, bound, done)
        return [self._past_caches(s) for s in stmts]

    def _at_once(self, inside: Sequence[Bring | Spread], body: list[Stmt]) -> list[Stmt]:
        """What brings something to scratch, `inside` of a tile, and computes with it, or computes it as it comes, where it is turned in squares of a known number or has rows
        of so few elements that several fill a register, little is computed, and what else is read runs on along columns.
        """
        store, bring = self.kernel.stores[0], next(iter(self.brought), None)
        several = len(self.kernel.stores) > 1 or len(self.brought) > 1 or self.made
        if several or self.past is not None or self.kernel.shared or not isinstance(bring, Bring):
            return body
        unit = _number(bring.unit)
        if bring.back or bring not in inside or bring.when is not TRUE or not (bring.usual if bring.turned else unit):
            return body
        into = load(bring.into, bring.place)
        loads = [x for x in elements_of([store.value]) if isinstance(x, Load) and x is not into]
        aligned = all(steps(x, COLUMN) == 1 or COLUMN not in x.offset.free for x in loads)
        sizes = {store.leaf.dtype.itemsize, into.leaf.dtype.itemsize, *(x.leaf.dtype.itemsize for x in loads)}
        read = any(x.leaf == store.leaf for x in loads)
        if not aligned or read or len(sizes) > 1 or work_of([store.value]) > CHEAP_ROWS[1]:
            return body
        alone = not bring.turned and bring.between is None
        size = min(sizes)
        woven = unit <= MOST_WOVEN if size in WOVEN_BYTES else unit * size <= WORD
        if bring.usual == 0 and not (alone and woven):
            return body
        return [AtOnce(bring, self.rows.many if self.rows else ONE_ELEMENT, store, tuple(body))]

    def _fetching(self) -> list[Fetch]:
        """What fetches the same row of a target in a later tile; scratch is in a cache."""
        original, store = self.original.stores[0], self.kernel.stores[0]
        if store.leaf not in self.original.leaves or self.far is FALSE:
            return []
        first = substitute(store.offset, {COLUMN: index(0)})
        later = load(store.leaf, first + self._further(load(original.leaf, original.offset)))
        when = both(self.far, apply("equal", self.past, FALSE)) if self.past is not None else self.far
        return [Fetch((later,), when, self.columns.many)]

    def _made(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """What is computed along rows, a column after the other."""
        if not self.made or self.rows is None:
            return []
        done, stores, within = set(done), tuple(self.made), bound | {COLUMN}
        body = loop_over(self.kernel, self.machine, ROW, index(0), self.rows.many, stores, within, done)
        again = bool(self.later) and self.read_again is not FALSE
        fetching = [Fetch(tuple(self.later), self.read_again, self.rows.many)] if again else []
        return [Loop(COLUMN, self.columns.reach, (*fetching, *body))]

    def _placed(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """What is known so far."""
        needed = [x.load.offset if isinstance(x, Bring) else x.value for x in self.brought]
        needed += [y for x in self.brought if isinstance(x, Bring) for y in (x.further, x.far, x.when)]
        needed += [*roots_of(self.made), *([self.far] if self.rows else []), *([self.read_again] if self.later else [])]
        needed += [self.past] if self.past is not None else []
        needed += [self.columns.indices, self.columns.reach] if self.columns.beyond is not None else []
        return place([*roots_of(self.kernel.stores), *needed], self.machine, bound, done)

    def _row(self, bound: frozenset[Axis | Local], done: set[Value]) -> list[Stmt]:
        """A row of a tile: of whole lines of a large target it is stored past the caches."""
        stores, columns = self.kernel.stores, self.columns
        stmts = loop_over(self.kernel, self.machine, COLUMN, index(0), columns.many, stores, bound, done)
        lines = self._lines(columns.beyond) if columns.beyond is not None else None
        return [self._past_caches(s, lines) for s in stmts]

    def _past_caches(self, stmt: Stmt, lines: tuple[Value, Value] | None = None) -> Stmt:
        """A loop over whole vectors, which stores so where that is asked for."""
        if not isinstance(stmt, Vector) or stmt.lanes == 1:
            return stmt
        return replace(stmt, stream=self.past, peeled=self.past is not None and stmt.masked, lines=lines)

    def _lines(self, beyond: Value) -> tuple[Value, Value]:
        """Whether a row of the target begins with one of a tile, and up to where there are elements for it: of joined ones those of the next follow."""
        columns, begins = self.columns, apply("equal", self.columns.start, index(0))
        reach = columns.reach
        if self.rows is not None and self.joined is not FALSE:
            begins = both(begins, negation(both(self.joined, index(0) < ROW)))
            behind = (self.rows.many - (ROW + 1)) * columns.total  # rows that follow may have less than a line each
            more = columns.many + apply("minimum", behind, index(LINE))
            reach = apply("where", both(self.joined, behind >= index(1)), more, reach)
        return apply("logical_or", begins, apply("equal", beyond, index(0))), reach

    def _blocks(self, chain: Chain, body: Sequence[Stmt]) -> Blocks:
        """A loop over tiles."""
        (a, extent), scratch = chain.axes[0], self.scratch if chain is self.columns else ()
        start, end = chain.start, chain.end
        first = FIRST_TILE if chain is self.columns else None
        return Blocks(
            a, index(0), extent, start, end, tuple(body), scratch, side=chain.each, inner=chain.inner, first=first
        )


def _number(x: Value | None) -> int:
    """What a value is, where it is known."""
    return int(x.value) if isinstance(x, Const) else 0
