"""Rows whose elements a team of threads holds in registers, from the first fold to the last store: memory is read once.

Thread t of T has the elements t, t + T, ... A fold whose order matters takes them out of shared memory, where lane k of one warp brings
every so-manyth element together, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..grid import HELD, WARP, Grid, exact
from ..ir import Axis, Const, Fold, Op, Param, Value, components
from ..passes import Pass
from .cuda_folds import Row
from .cuda_lanes import Lanes
from .cuda_text import in_register
from .cuda_values import Known, bare, encoded


class Rows(Lanes):
    """Writes rows that are held."""

    rooms: set[str]
    body: int  # where the lines of a function begin
    block_threads: int
    team_size: int
    sync: str

    def held_rows(self, grid: Grid, known: Known, steps: Sequence[Pass]) -> None:
        """The row at a point."""
        along, extent = grid.inner[0]
        n, held = self.index(extent, known), dict[Value, str]()
        self.team_size, self.sync = grid.team, "__syncwarp();" if grid.team == WARP else "__syncthreads();"
        for step in steps:
            for node in step.keeps:
                held[node] = self.name("held")
                self.put(f"{in_register(node.dtype)} {held[node]}[{HELD}];")
            if not step.folds:
                self.outside(step.roots, lambda x: along not in x.free, known)
                self._along(along, n, held, step, known, lambda inside, _: self._stored(grid, inside))
                return
            found = self._begun(step.folds)
            loose = [exact(f) or self._by_their_lanes(f) for f in step.folds]
            rooms = [
                None if free else self._room(f, k) for k, (f, free) in enumerate(zip(step.folds, loose, strict=True))
            ]

            def join(
                inside: Known, k: str, step: Pass = step, found: list[Row] = found, rooms: list[str | None] = rooms
            ) -> None:
                roots = iter(step.roots)
                for f, row, room in zip(step.folds, found, rooms, strict=True):
                    texts = [self.value(next(roots), inside) for _ in f.bodies]
                    if room is None:
                        self._set(row, self._together(f, row, texts, after=True))
                    else:
                        self.put(f"{room}[{k}] = {bare(texts[0])};")

            self.outside(step.roots, lambda x: along not in x.free, known)
            self._along(along, n, held, step, known, join)
            for f, row, room in zip(step.folds, found, rooms, strict=True):
                self._settled(f, row, room, n, known)

    def _by_their_lanes(self, f: Fold) -> bool:
        """Whether the threads have the elements that their lanes bring together."""
        return f.order is not None and f.order.lanes == self.team_size == WARP

    def _along(
        self, along: Axis, n: str, held: dict[Value, str], step: Pass, known: Known, body: Callable[[Known, str], None]
    ) -> None:
        u, k = self.name("u"), self.name("k")
        number = "lane" if self.team_size == WARP else "(int)threadIdx.x"
        self.put("#pragma unroll")
        with self.block(f"for (int {u} = 0; {u} < {HELD}; ++{u})"):
            self.put(f"const int {k} = {u} * {self.team_size} + {number};")
            with self.block(f"if ({k} < {n})"):
                inside = known.copy()
                inside.indices[along] = k
                for node, name in held.items():
                    if node not in step.keeps:
                        inside.values[node] = f"{name}[{u}]"
                for node in step.keeps:
                    self.put(f"{held[node]}[{u}] = {bare(self.value(node, inside))};")
                    inside.values[node] = f"{held[node]}[{u}]"
                body(inside, k)

    def _stored(self, grid: Grid, inside: Known) -> None:
        found = [(s, self.value(s.value, inside)) for s in grid.stores]
        if len(found) > 1:
            found = [(s, self.named(s.value, inside)) for s, _ in found]
        for s, text in found:
            place = bare(self.index(s.offset, inside))
            self.put(f"{s.leaf.name}[{place}] = {bare(encoded(text, s.leaf.dtype))};")

    def _room(self, f: Fold, number: int) -> str:
        """Shared memory for the elements of a row."""
        (dtype,) = f.dtypes
        name, kind, teams = f"room{number}_{dtype}", in_register(dtype), max(1, self.block_threads // self.team_size)
        if name not in self.rooms:
            self.rooms.add(name)
            self.lines.insert(self.body, f"    __shared__ {kind} {name}[{teams * self.team_size * HELD}];")
        if teams == 1:
            return name
        own = self.name("room")
        self.put(f"{kind}* const {own} = {name} + threadIdx.x / {WARP} * {self.team_size * HELD};")
        return own

    def _settled(self, f: Fold, row: Row, room: str | None, n: str, known: Known) -> None:
        """What a fold comes to, known to all threads."""
        if room is not None:
            row = self._from_room(f, room, n)
        elif self.team_size == WARP:
            row = self._down(f, row, (16, 8, 4, 2, 1))
        else:
            count = self.team_size // WARP
            row = self._of_warps(
                f, self._down(f, row, (16, 8, 4, 2, 1)), [count >> k for k in range(1, count.bit_length())], count
            )
        for value, text in zip(components(f), row, strict=True):
            known.values[value] = self.name()
            self.put(f"const {in_register(value.dtype)} {known.values[value]} = xt_first({text});")
        known.values[f] = known.values[components(f)[0]]

    def _from_room(self, f: Fold, room: str, n: str) -> Row:
        """Lane k of a warp brings every so-manyth element together; of a block, that is the first warp."""
        if self.team_size == WARP:
            self.put(self.sync)
            found = self._lanes_of(f, room, n)
            self.put(self.sync)  # the next row's elements may come
            return found
        total = self._shared_name(in_register(f.dtype))
        self.put(self.sync)
        with self.block(f"if (threadIdx.x < {WARP})"):
            (one,) = self._lanes_of(f, room, n)
            self.put(f"if (lane == 0) *{total} = {one};")
        self.put(self.sync)
        return [f"*{total}"]

    def _lanes_of(self, f: Fold, room: str, n: str) -> Row:
        assert f.order is not None, "a scheduled fold has an order"
        lanes, k = f.order.lanes, self.name("k")
        (row,) = self._begun([f])
        self.put("#pragma unroll 8")
        only = "" if lanes == WARP else f"lane < {lanes} && "
        with self.block(f"for (int {k} = lane; {only}{k} < {n}; {k} += {lanes})"):
            self._set(row, self._together(f, row, [f"{room}[{k}]"], after=True))
        return self._down(f, row, [lanes >> s for s in range(1, lanes.bit_length())])

    def _shared_name(self, kind: str) -> str:
        """One number in shared memory."""
        name = self.name("total")
        self.lines.insert(self.body, f"    __shared__ {kind} {name}[1];")
        return name

    def outside(self, roots: Sequence[Value], same: Callable[[Value], bool], known: Known) -> None:
        """What is the same in all of a loop is computed before it."""
        stack, seen = list(roots), set[Value]()
        while stack:
            node = stack.pop()
            if node in seen or isinstance(node, Const | Param) or self.is_plain(node):
                continue
            seen.add(node)
            if same(node):
                self.named(node, known)
            elif isinstance(node, Op):
                stack.extend(a for k, a in enumerate(node.args) if node.op != "rarely" or k != 1)
