"""A kernel as CUDA C++: a function for every grid that is launched for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce

from ..bounds import Bounds, is_index, reach, upper
from ..grid import PER_PROCESSOR, WARP, Grid, Loops, Program
from ..gridsquares import side_of, walked
from ..ir import Const, Fold, Leaf, Load, Op, Param, Size, Value, axis, index
from ..passes import passes
from ..rewrite import rebuild, walk
from ..vmath.bits import FORMULAS
from .cuda_squares import Squares
from .cuda_text import in_memory, in_register, prelude
from .cuda_values import Known, bare, encoded

THREADS = 256  # of a block
ORDERED_THREADS = 1024  # of the one block that walks a target in order
LARGE_ROW = 768  # elements that a warp holds: registers decide how many blocks a multiprocessor has room for,
RESIDENT = 3  # which is to be so many
AHEAD = {
    1: 8,
    2: 4,
    3: 4,
    4: 4,
    6: 2,
    8: 2,
}  # rows of so many elements a thread that are loaded ahead: else too little is under way
NARROW = (1 << 31) - (1 << 26)  # indices below are 32 bits wide, and may be stepped once beyond their end
WIDEST = 16  # bytes that a thread reads or writes at once

Argument = Leaf | Size | Param


@dataclass(frozen=True)
class Entry:
    """A function to launch: its arguments, how many threads a block has, and for how many points (threads) there are to be some."""

    name: str
    arguments: tuple[Argument, ...]
    threads: int
    count: Value
    each: int  # threads a point
    alone: bool  # one block, whatever the count
    capped: bool = True  # no more blocks than keep the device busy, however many points
    at_once: int = 1  # elements that a thread reads and writes at once, where they lie so


@dataclass(frozen=True)
class Cuda:
    """The CUDA text of a program, and what to launch of it, in order. `wide`: its indices have 64 bits."""

    text: str
    entries: tuple[Entry, ...]
    program: Program
    wide: bool


def emit(program: Program, sizes: Mapping[str, int]) -> Cuda:
    """The CUDA text of a program whose sizes are at most such that indices are as wide as for `sizes`."""
    known = dict(sizes) | {s.name: n for s, n in program.sizes}
    grids = [prepared(grid) for grid in program.grids]
    wide = any(greatest(grid, known) >= NARROW for grid in grids)
    functions, entries = list[str](), list[Entry]()
    for n, grid in enumerate(grids):
        writer = Function(grid, known)
        entries.append(writer.function(f"kernel{n or ''}"))
        functions.append("\n".join(writer.lines))
    return Cuda(module("\n\n".join(functions), wide), tuple(entries), program, wide)


def module(body: str, wide: bool) -> str:
    """The text of functions, with all that they need."""
    kind = "long long" if wide else "int"
    head = [*prelude(body), f"typedef {kind} idx;", f"typedef unsigned {kind} count;"]
    return "\n\n".join(["\n".join(head), body]) + "\n"


def fits(cuda: Cuda, sizes: Mapping[str, int]) -> bool:
    """Whether the text is that for other sizes of the same kernel, too: without folds only the width of indices depends on them, and
    whether what lies across goes by way of shared memory.
    """
    program = cuda.program
    if any(isinstance(node, Fold) for grid in program.grids for s in grid.stores for node in walk(s.value)):
        return False
    for grid in program.grids:
        if (side_of(grid.square, grid.axes, sizes), walked(grid.square, grid.axes, sizes)) != (grid.side, grid.walked):
            return False
    return any(greatest(grid, sizes) >= NARROW for grid in program.grids) == cuda.wide


def narrow(program: Program, size: str) -> int:
    """The most that the one size of a program without folds may be for indices of 32 bits."""
    low, high = 0, NARROW
    grids = [(grid, dict((*grid.axes, *grid.inner)), _indices(grid)) for grid in program.grids]
    while low < high:
        middle = (low + high + 1) // 2
        fits = all(_greatest(grid, bounds, indices, {size: middle}) < NARROW for grid, bounds, indices in grids)
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def prepared(grid: Grid) -> Grid:
    """Without operations that CUDA has not."""
    made: dict[Value, Value] = {}
    for node in walk(*grid.folds, *(s.value for s in grid.stores)):
        new = rebuild(node, tuple(made[child] for child in node.children))
        made[node] = FORMULAS[new.op](*new.children) if isinstance(new, Op) and new.op in FORMULAS else new
    stores = tuple(replace(s, value=made[s.value]) for s in grid.stores)
    square = grid.square
    if square is not None:
        again = dict(zip(grid.stores, stores, strict=True))
        square = replace(
            square,
            loads=tuple(x for x in map(made.get, square.loads) if isinstance(x, Load)),
            stores=tuple(again[s] for s in square.stores),
        )
    folds = tuple(f for f in (made[f] for f in grid.folds) if isinstance(f, Fold))
    return replace(grid, stores=stores, folds=folds, square=square)


def _roots(grid: Grid) -> list[Value]:
    extents = [e for _, e in (*grid.axes, *grid.inner)]
    return [*extents, *(x for s in grid.stores for x in (s.offset, s.value))]


def _bounds(grid: Grid, sizes: Mapping[str, int]) -> Bounds:
    """The extents of all axes in a grid; where folds share one, the greatest."""
    found: Bounds = dict((*grid.axes, *grid.inner))
    for node in walk(*_roots(grid)):
        if isinstance(node, Fold):
            before = found.get(node.axis)
            if before is None or upper(before, found, sizes) < upper(node.extent, found, sizes):
                found[node.axis] = node.extent
    return found


def greatest(grid: Grid, sizes: Mapping[str, int]) -> int:
    """The greatest index in a grid."""
    return _greatest(grid, _bounds(grid, sizes), _indices(grid), sizes)


def _indices(grid: Grid) -> list[Value]:
    plain: dict[Value, bool] = {}
    return [n for n in walk(*_roots(grid)) if is_index(n, plain) and not isinstance(n, Const)]


def _greatest(grid: Grid, bounds: Bounds, indices: Sequence[Value], sizes: Mapping[str, int]) -> int:
    rows, points = (reduce(lambda a, b: a * b, (e for _, e in loops), index(1)) for loops in (grid.axes, grid.inner))
    farthest = max((max(map(abs, reach(n, bounds, sizes))) for n in indices), default=0)
    return max(farthest, upper(rows, bounds, sizes) * max(grid.team, upper(points, bounds, sizes)))


class Function(Squares):
    apart = True  # what does not lie as it is to be read at once goes by a loop of its own

    def __init__(self, grid: Grid, sizes: Mapping[str, int]) -> None:
        self.bounds = _bounds(grid, sizes)
        self.sizes = sizes
        super().__init__(_roots(grid), self._longer)
        self.grid = grid
        self.at_once = 1
        self.arguments = _arguments(grid)
        self.rooms: set[str] = set()  # of shared memory
        self.taken = {x.name for x in self.arguments} | {a.name for a in self.bounds} | {"lane", "idx", "count"}

    def _longer(self, node: Fold, size: int) -> bool:
        return upper(node.extent, self.bounds, self.sizes) > size

    def name(self, stem: str = "t") -> str:
        while (name := super().name(stem)) in self.taken:
            pass
        return name

    def function(self, name: str) -> Entry:
        """Write the function."""
        grid = self.grid
        known = Known()
        for x in self.arguments:
            if isinstance(x, Size):
                known.indices[x] = x.name
            elif isinstance(x, Param):
                known.values[x] = x.name
        count = reduce(lambda a, b: a * b, (e for _, e in grid.axes), index(1))
        each, threads = 1, ORDERED_THREADS if grid.order != "any" else grid.team if grid.team > WARP else THREADS
        self.called, self.block_threads = name, threads
        self._begin()
        self.body = len(self.lines)
        if grid.order != "any":
            self._in_order(known, count)
        elif grid.team > 1:
            each = grid.team
            self._team(known, count)
        elif grid.side:
            each, count = threads, self.squares(known)
        elif grid.walked:
            count = self._walked(known)
        else:
            count = self._points(known, count)
        self._end()
        return Entry(name, self.arguments, threads, count, each, grid.order != "any", grid.team > 1, self.at_once)

    def _begin(self) -> None:
        """The line before the body."""
        given = ", ".join(self._parameter(x) for x in self.arguments)
        bounds = ", ".join(str(n) for n in (self.block_threads, self._resident()) if n)
        self.lines.append(f'extern "C" __global__ void __launch_bounds__({bounds}) {self.called}({given}) {{')

    def _resident(self) -> int:
        """How many blocks a multiprocessor is to have room for; 0 where registers are few, or fewer would be of no use."""
        grid = self.grid
        if grid.held * WARP >= LARGE_ROW:
            return RESIDENT
        plain = grid.team == WARP and not grid.held and all(isinstance(x, Load) for f in grid.folds for x in f.bodies)
        return PER_PROCESSOR // THREADS if plain and not self.lean else 0

    def _end(self) -> None:
        """The line after the body."""
        self.lines.append("}")

    def _parameter(self, x: Argument) -> str:
        if isinstance(x, Size):
            return f"idx {x.name}"
        if isinstance(x, Param):
            return f"{in_register(x.dtype)} {x.name}"
        stored = any(s.leaf == x for s in self.grid.stores)
        return f"{'' if stored else 'const '}{in_memory(x.dtype)}* {x.name}"

    # a thread at every point

    def _points(self, known: Known, count: Value) -> Value:
        many = self.at_once = self.many()
        loops = list(self.grid.axes)
        if many > 1:
            innermost, extent = loops[-1]
            groups = (extent + (many - 1)) // many
            loops[-1] = (axis(f"{innermost.name}_group"), groups)
            count = reduce(lambda a, b: a * b, (e for _, e in loops), index(1))
        packed = self.packed(many, known) if many > 1 and self.apart else ""
        self.looked = packed != ""
        with self.block(f"if ({packed})") if packed else nullcontext():
            self._each(tuple(loops), many, count, known.copy())
        if packed:
            with self.block("else"):
                self._apart(many, known)
        return count

    def _each(self, loops: Loops, many: int, count: Value, known: Known) -> None:
        with self._all_points(count, known) as t:
            self.unfolded(loops, t, known)
            if many > 1:
                self.packs(many, known)
            else:
                self.store_all(known)

    def _apart(self, many: int, known: Known) -> None:
        """Elements that do not lie so: neighbouring threads take neighbours, and each as many as it would have taken at once."""
        total = self.total(reduce(lambda a, b: a * b, (e for _, e in self.grid.axes), index(1)), known)
        start, step, at, t, u = (self.name(stem) for stem in ("start", "step", "place", "point", "u"))
        self.put(f"const idx {step} = (idx)gridDim.x * blockDim.x;")
        self.put(f"const idx {start} = (idx)blockIdx.x * blockDim.x + threadIdx.x;")
        there, point = (
            f"{at} < {total}",
            (f"const long long {at} = {start} + (long long){u} * {step};", f"const idx {t} = (idx){at};"),
        )

        def unfold(inside: Known) -> None:
            for line in point:
                self.put(line)
            self.unfolded(self.grid.axes, t, inside)

        self._together_at(u, many, there, known, unfold)

    def _together_at(self, u: str, many: int, there: str, known: Known, unfold: Callable[[Known], None]) -> None:
        """Several points of a thread: all is computed before anything is stored, so that all that is loaded is under way at once."""
        held = [self.name("r") for _ in self.grid.stores]
        for s, r in zip(self.grid.stores, held, strict=True):
            self.put(f"{in_memory(s.leaf.dtype)} {r}[{many}];")
        for stored in (False, True):
            self.put("#pragma unroll")
            with self.block(f"for (int {u} = 0; {u} < {many}; ++{u})"):
                inside = known.copy()
                unfold(inside)
                with self.block(f"if ({there})"):
                    for s, r in zip(self.grid.stores, held, strict=True):
                        if stored:
                            self.put(f"{self.place(s, inside)} = {r}[{u}];")
                        else:
                            self.put(f"{r}[{u}] = {bare(encoded(self.value(s.value, inside), s.leaf.dtype))};")

    def _walked(self, known: Known) -> Value:
        """A thread at every point of the other axes walks along a short one."""
        assert self.grid.square is not None, "what is walked along is the row of squares"
        row, u = self.grid.square.row, self.name("u")
        loops = tuple((a, e) for a, e in self.grid.axes if a is not row)
        count = reduce(lambda a, b: a * b, (e for _, e in loops), index(1))

        def unfold(inside: Known) -> None:
            inside.indices[row] = u

        with self._all_points(count, known) as t:
            self.unfolded(loops, t, known)
            extent = self.index(dict(self.grid.axes)[row], known)
            self._together_at(u, self.grid.walked, f"{u} < {extent}", known, unfold)
        return count

    @contextmanager
    def _all_points(self, count: Value, known: Known) -> Iterator[str]:
        """A loop over the points that are a thread's."""
        t, step = self.name("point"), self.name("step")
        self.put(f"const idx {step} = (idx)gridDim.x * blockDim.x;")
        total = self.total(count, known)
        with self.block(f"for (idx {t} = (idx)blockIdx.x * blockDim.x + threadIdx.x; {t} < {total}; {t} += {step})"):
            yield t

    # a warp at every point

    def _team(self, known: Known, count: Value) -> None:
        grid, alone = self.grid, self.grid.team > WARP
        if grid.held:
            self._held_team(known, count)
            return
        with self._all_rows(count, known) as t:
            if grid.axes:
                self.unfolded(grid.axes, t, known)
            self.team(grid.folds, known)
            self.put("__syncthreads();" if alone else "__syncwarp();")  # what was folded may be stored to
            number = "threadIdx.x" if alone else "lane"
            if not grid.inner:
                with self.block(f"if ({number} == 0)"):
                    self.store_all(known)
                return
            bound = frozenset(a for a, _ in grid.axes)
            self.outside([s.value for s in grid.stores], lambda x: x.free <= bound, known)
            points = reduce(lambda a, b: a * b, (e for _, e in grid.inner), index(1))
            q, inner = self.name("point"), self.total(points, known)
            done = self.packs_of_row(grid.inner[0][0], inner, number, known) if len(grid.inner) == 1 else "0"
            start = number if done == "0" else f"{done} + {number}"
            with self.block(f"for (idx {q} = {start}; {q} < {inner}; {q} += {grid.team})"):
                inside = known.copy()
                self.unfolded(grid.inner, q, inside)
                self.store_all(inside)

    def _held_team(self, known: Known, count: Value) -> None:
        grid = self.grid
        steps = passes(grid.folds, grid.stores, grid.along[0])
        ahead = AHEAD.get(grid.held, 0) if self.apart and grid.axes else 0
        if not ahead:
            with self._all_rows(count, known) as t:
                if grid.axes:
                    self.unfolded(grid.axes, t, known)
                self.held_rows(grid, known, steps)
            return
        t, start, step, total = self._rows_of_team(count, known)
        first, d, beside = self.name("first"), self.name("d"), max(1, WARP // grid.team)  # rows of a warp at once
        each, many = f"for (int {d} = 0; {d} < {ahead}; ++{d})", ahead * beside
        with self.block(f"for (idx {first} = {many} * ({start}); {first} < {total}; {first} += {many} * {step})"):
            come = self.rows_to_come(grid, steps[0], known, ahead)
            self.put("#pragma unroll")
            with self.block(each):
                inside, there = known.copy(), self._row_of(t, first, d, beside, total)
                self.unfolded(grid.axes, t, inside)
                self.come(come, grid, inside, d, there)
            self.put("#pragma unroll")
            with self.block(each):
                there = self._row_of(t, first, d, beside, total)
                with self.block(f"if ({there})") if beside == 1 else nullcontext():
                    self.unfolded(grid.axes, t, known)
                    here: dict[Value, str] = {x: f"{name}[{d}]" for x, name in come.items()}
                    self.held_rows(grid, known, steps, here, "" if beside == 1 else there)

    def _row_of(self, t: str, first: str, d: str, beside: int, total: str) -> str:
        """The row that a thread has at a turn. Returns what says whether there is one: of several in a warp, the last is another one again."""
        if beside == 1:
            self.put(f"const idx {t} = {first} + {d};")
            return f"{t} < {total}"
        own, there = self.name("own"), self.name("there")
        self.put(f"const idx {own} = {first} + {d} * {beside} + (int)threadIdx.x % {WARP} / {WARP // beside};")
        self.put(f"const bool {there} = {own} < {total};")
        self.put(f"const idx {t} = {there} ? {own} : {total} - 1;")
        return there

    @contextmanager
    def _all_rows(self, count: Value, known: Known) -> Iterator[str]:
        """A loop over the points that are a team's, and in which thread of a warp it is."""
        t, start, step, total = self._rows_of_team(count, known)
        with self.block(f"for (idx {t} = {start}; {t} < {total}; {t} += {step})"):
            yield t

    def _rows_of_team(self, count: Value, known: Known) -> tuple[str, str, str, str]:
        """A point, the first of a team, the step to its next one, and how many there are."""
        t, step, alone = self.name("row"), self.name("step"), self.grid.team > WARP
        self.put(f"const int lane = threadIdx.x % {min(self.grid.team, WARP)};")
        self.put(f"const idx {step} = {'gridDim.x' if alone else f'(idx)gridDim.x * blockDim.x / {WARP}'};")
        start = "blockIdx.x" if alone else f"((idx)blockIdx.x * blockDim.x + threadIdx.x) / {WARP}"
        return t, start, step, self.total(count, known)

    # one block, in order

    def _in_order(self, known: Known, count: Value) -> None:
        grid = self.grid
        start, t = self.name("start"), self.name("point")
        total = self.total(count, known)
        held = [self.name("r") for _ in grid.stores]
        with self.block(f"for (idx {start} = 0; {start} < {total}; {start} += blockDim.x)"):
            self.put(f"const bool here = {total} - {start} > (idx)threadIdx.x;")
            at = f"{start} + threadIdx.x" if grid.order == "forward" else f"{total} - 1 - {start} - threadIdx.x"
            self.put(f"const idx {t} = here ? {at} : 0;")
            for s, r in zip(grid.stores, held, strict=True):
                self.put(f"{in_memory(s.leaf.dtype)} {r};")
            self.unfolded(grid.axes, t, known)
            with self.block("if (here)"):
                inside = known.copy()
                for s, r in zip(grid.stores, held, strict=True):
                    self.put(f"{r} = {bare(encoded(self.value(s.value, inside), s.leaf.dtype))};")
            self.put("__syncthreads();")  # all is read that this stretch overwrites
            with self.block("if (here)"):
                for s, r in zip(grid.stores, held, strict=True):
                    self.put(f"{self.place(s, known)} = {r};")


def _arguments(grid: Grid) -> tuple[Argument, ...]:
    """What a grid needs: memory, sizes, scalars."""
    leaves, sizes, params = dict.fromkeys(s.leaf for s in grid.stores), dict[Size, None](), dict[Param, None]()
    for node in walk(*_roots(grid)):
        match node:
            case Load(leaf):
                leaves.setdefault(leaf)
            case Size():
                sizes.setdefault(node)
            case Param():
                params.setdefault(node)
    return (*leaves, *sizes, *params)
