"""Rows whose elements a team of threads holds in registers, from the first fold to the last store: memory is read once.

Thread t of T has the elements t, t + T, ... A fold whose order matters takes them out of shared memory, where lane k of one warp brings
every so-manyth element together, as everywhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count

from ..grid import REGISTERS, WARP, Grid, Loops, exact
from ..ir import Axis, Fold, Load, Op, Value, components
from ..passes import Pass
from ..rewrite import walk
from .cuda_folds import Row
from .cuda_lanes import Lanes
from .cuda_text import in_register, literal
from .cuda_values import Known, bare


class Rows(Lanes):
    """Writes rows that are held."""

    rooms: set[str]
    body: int  # where the lines of a function begin
    block_threads: int
    team_size: int
    sync: str
    held: int  # elements of a thread,
    sure: int  # of which so many are there in any row
    left: str  # how far the end of a row is
    length: str
    here: dict[Value, str]  # elements that have come

    def held_rows(
        self, grid: Grid, known: Known, steps: Sequence[Pass], come: Mapping[Value, str] | None = None, there: str = ""
    ) -> None:
        """The row at a point, of which some elements may have `come` already; where it is not `there`, nothing is stored."""
        along, extent = grid.along
        n, held = self.index(extent, known), dict[Value, str]()
        self.team_size, self.sync = grid.team, "__syncwarp();" if grid.team <= WARP else "__syncthreads();"
        self.held, self.sure, self.here = grid.held, grid.sure, dict(come or {})
        assert not there or (grid.inner and not self.sure), "where there may be no row each store looks"
        self.left = self.name("left")
        left = f"(int)({n} - {self._number()})"
        self.put(f"const int {self.left} = {f'{there} ? {left} : 0' if there else left};")
        for step in steps:
            for node in step.keeps:
                held[node] = self.here.get(node) or self.name("held")
                if node not in self.here:
                    self.put(f"{in_register(node.dtype)} {held[node]}[{self.held}];")
            self.outside(step.roots, lambda x: along not in x.free, known)
            if not step.folds:
                self._stored(grid, held, step, known)
                return
            found = self._begun(step.folds)
            loose = [exact(f) or self._by_their_lanes(f) for f in step.folds]
            number = count()  # of those that need one
            rooms = [None if free else self._room(f, next(number)) for f, free in zip(step.folds, loose, strict=True)]

            def join(
                inside: Known, k: str, step: Pass = step, found: list[Row] = found, rooms: list[str | None] = rooms
            ) -> None:
                roots = iter(step.roots)
                for f, row, room in zip(step.folds, found, rooms, strict=True):
                    texts = [inside.values[next(roots)] for _ in f.bodies]
                    if room is None:
                        self._set(row, self._together(f, row, texts, after=True))
                    else:
                        self.put(f"{room}[{k}] = {bare(texts[0])};")

            self._along(along, held, step, known, join)
            for f, row, room in zip(step.folds, found, rooms, strict=True):
                self._settled(f, row, room, n, known)

    def _by_their_lanes(self, f: Fold) -> bool:
        """Whether the threads have the elements that their lanes bring together: of a short row one each."""
        return f.order is not None and (f.order.lanes == self.team_size == WARP or self.team_size < WARP)

    def _along(
        self, along: Axis, held: dict[Value, str], step: Pass, known: Known, body: Callable[[Known, str], None]
    ) -> None:
        early = self._early(along, held, step, known)
        plain = self._is_plain_arithmetic(along, step, {*early, *held} - ({*step.keeps} - {*early}))
        for start, end, sure in self._stretches():
            with self._elements_of(start, end) as (u, k):
                guard = nullcontext if sure else partial(self.block, f"if ({u} * {self.team_size} < {self.left})")
                inside = known.copy()
                inside.indices[along] = k
                with nullcontext() if plain else guard():
                    for node, name in (held | early).items():
                        if node in early or node not in step.keeps:
                            inside.values[node] = f"{name}[{u}]"
                    for node in step.keeps:
                        if node not in early:
                            self.put(f"{held[node]}[{u}] = {bare(self.value(node, inside))};")
                            inside.values[node] = f"{held[node]}[{u}]"
                    for root in step.roots:
                        self.named(root, inside)
                    with guard() if plain else nullcontext():
                        body(inside, k)

    def _stretches(self) -> list[tuple[int, int, bool]]:
        """A thread's elements: from, to, and whether they are there in any row."""
        return [x for x in ((0, self.sure, True), (self.sure, self.held, False)) if x[0] < x[1]]

    def _is_plain_arithmetic(self, along: Axis, step: Pass, known: set[Value]) -> bool:
        """Whether what is computed of an element may be computed where there is none: nothing is loaded, and nothing rare."""
        nodes = walk(*step.roots, *step.keeps, into_folds=False, known={id(x) for x in known})
        return not any(
            (isinstance(x, Load | Fold) and along in x.free) or (isinstance(x, Op) and x.op == "rarely") for x in nodes
        )

    @contextmanager
    def _elements_of(self, start: int, end: int) -> Iterator[tuple[str, str]]:
        """A loop over a thread's elements: their number, and where in the row they lie."""
        u, k = self.name("u"), self.name("k")
        self.put("#pragma unroll")
        with self.block(f"for (int {u} = {start}; {u} < {end}; ++{u})"):
            self.put(f"const int {k} = {u} * {self.team_size} + {self._number()};")
            yield u, k

    def _number(self) -> str:
        return "lane" if self.team_size <= WARP else "(int)threadIdx.x"

    def _early(self, along: Axis, held: dict[Value, str], step: Pass, known: Known) -> dict[Value, str]:
        """What a walk loads, loaded before anything is computed or stored, so that all of it is under way at once."""
        before = [x for x in held if x not in step.keeps]
        loads = [x for x in self._loads(along, step, before) if x not in self.here]
        if (len(held) + sum(x not in held for x in loads)) * self.held > REGISTERS:
            loads = [x for x in loads if x in step.keeps]
        early = dict(self.here)
        for x in loads:
            early[x] = held.get(x) or self.name("early")
            if x not in held:
                self.put(f"{in_register(x.dtype)} {early[x]}[{self.held}];")
        if loads:
            for start, end, sure in self._stretches():
                with self._elements_of(start, end) as (u, k):
                    inside = known.copy()
                    inside.indices[along] = k
                    there = [] if sure else [f"{u} * {self.team_size} < {self.left}"]
                    self._load([(x, f"{early[x]}[{u}]") for x in loads], there, inside)
        return early

    def _load(self, loads: Sequence[tuple[Load, str]], there: Sequence[str], known: Known) -> None:
        """Elements, where they are there."""
        for x, to in loads:
            text = bare(self.loaded(x, known))
            zero = literal(x.dtype.python(0), x.dtype)
            self.put(f"{to} = " + (f"{' && '.join(there)} ? {text} : {zero}" if there else text) + ";")

    def _loads(self, along: Axis, step: Pass, before: Sequence[Value]) -> list[Load]:
        """What a walk loads of the row that was not kept before."""
        nodes = walk(*step.roots, into_folds=False, known={id(x) for x in before})
        return [x for x in dict.fromkeys(nodes) if isinstance(x, Load) and self._is_early(x, along)]

    # rows to come

    def rows_to_come(self, grid: Grid, step: Pass, known: Known, ahead: int) -> dict[Load, str]:
        """Names of what the first walk loads, for rows that are loaded before they are worked on."""
        self.team_size, self.held, self.sure = grid.team, grid.held, grid.sure
        self.length = self.index(grid.along[1], known)
        found = {x: self.name("next") for x in self._loads(grid.along[0], step, ())}
        for x, name in found.items():
            self.put(f"{in_register(x.dtype)} {name}[{ahead}][{self.held}];")
        return found

    def come(self, names: Mapping[Load, str], grid: Grid, known: Known, number: str, there: str) -> None:
        """Load one of the rows."""
        for start, end, sure in self._stretches():
            with self._elements_of(start, end) as (u, k):
                known.indices[grid.along[0]] = k
                here = [(x, f"{name}[{number}][{u}]") for x, name in names.items()]
                self._load(here, [there] if sure else [there, f"{k} < {self.length}"], known)

    @abstractmethod
    def unfolded(self, loops: Loops, point: str, known: Known) -> None:
        """The axes at a point."""

    def _is_early(self, x: Load, along: Axis) -> bool:
        return along in x.free and x.when is None and self.is_plain(x.offset)

    def _stored(self, grid: Grid, held: dict[Value, str], step: Pass, known: Known) -> None:
        if grid.inner:
            self._along(grid.inner[0][0], held, step, known, lambda inside, _: self.store_all(inside))
            return
        with self.block(f"if ({self._number()} == 0)"):
            self.store_all(known)

    @abstractmethod
    def store_all(self, known: Known) -> None:
        """Store what is at a point."""

    def _room(self, f: Fold, number: int) -> str:
        """Shared memory for the elements of a row."""
        (dtype,) = f.dtypes
        name, kind, teams = f"room{number}_{dtype}", in_register(dtype), max(1, self.block_threads // self.team_size)
        if name not in self.rooms:
            self.rooms.add(name)
            self.lines.insert(self.body, f"    __shared__ {kind} {name}[{teams * self.team_size * self.held}];")
        if teams == 1:
            return name
        own = self.name("room")
        self.put(f"{kind}* const {own} = {name} + threadIdx.x / {WARP} * {self.team_size * self.held};")
        return own

    def _settled(self, f: Fold, row: Row, room: str | None, n: str, known: Known) -> None:
        """What a fold comes to, known to all threads."""
        if room is not None:
            row = self._from_room(f, room, n)
        elif self.team_size <= WARP:
            row = self._down(f, row, [self.team_size >> k for k in range(1, self.team_size.bit_length())])
        else:
            count = self.team_size // WARP
            row = self._of_warps(
                f, self._down(f, row, (16, 8, 4, 2, 1)), [count >> k for k in range(1, count.bit_length())], count
            )
        for value, text in zip(components(f), row, strict=True):
            known.values[value] = self.name()
            among = f", {self.team_size}" if self.team_size < WARP else ""
            self.put(f"const {in_register(value.dtype)} {known.values[value]} = xt_first({text}{among});")
        known.values[f] = known.values[components(f)[0]]

    def _from_room(self, f: Fold, room: str, n: str) -> Row:
        """Lane k of a warp brings every so-manyth element together; of a block, that is the first warp."""
        if self.team_size == WARP:
            self.put(self.sync)
            found = self._lanes_of(f, room, n)
            self.put(self.sync)  # the next row's elements may come
            return found
        assert f.order is not None, "a scheduled fold has an order"
        block = f.order.block
        blocks = -(-self.team_size * self.held // block) if self.long(f, block) else 1
        total, warp = self._shared_name(in_register(f.dtype), blocks), self.name("block")
        self.put(self.sync)
        with self.block(f"if (threadIdx.x < {WARP * blocks})"):
            self.put(f"const int {warp} = threadIdx.x / {WARP};")
            start, end = ("", n) if blocks == 1 else (f"{warp} * {block} + ", f"min(int({n}), ({warp} + 1) * {block})")
            (one,) = self._lanes_of(f, room, end, start)
            self.put(f"if (lane == 0) {total}[{warp}] = {one};")
        self.put(self.sync)
        rows = [[f"{total}[{k}]"] for k in range(blocks)]
        while len(rows) > 1:  # of no elements it is what changes nothing
            pairs = [rows[k : k + 2] for k in range(0, len(rows), 2)]
            rows = [self._together(f, pair[0], pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
        return rows[0]

    def _lanes_of(self, f: Fold, room: str, end: str, start: str = "") -> Row:
        assert f.order is not None, "a scheduled fold has an order"
        lanes, k = f.order.lanes, self.name("k")
        (row,) = self._begun([f])
        self.put("#pragma unroll 8")
        only = "" if lanes == WARP else f"lane < {lanes} && "
        with self.block(f"for (int {k} = {start}lane; {only}{k} < {end}; {k} += {lanes})"):
            self._set(row, self._together(f, row, [f"{room}[{k}]"], after=True))
        return self._down(f, row, [lanes >> s for s in range(1, lanes.bit_length())])

    def _shared_name(self, kind: str, count: int) -> str:
        """Some numbers in shared memory."""
        name = self.name("total")
        self.lines.insert(self.body, f"    __shared__ {kind} {name}[{count}];")
        return name
