"""A kernel as CUDA C++: a function for every grid that is launched for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ..bounds import Bounds, is_index, reach, upper
from ..grid import WARP, Grid, Loops, Program
from ..ir import Axis, Component, Const, Fold, Leaf, Load, Op, Param, Size, Store, Value, axis, index
from ..rewrite import affine, rewrite, steps, walk
from ..vmath.exp import by_factors
from .cuda_folds import Folds
from .cuda_text import in_memory, in_register, prelude
from .cuda_values import Known, bare, decoded, encoded

THREADS = 256  # of a block
ORDERED_THREADS = 1024  # of the one block that walks a target in order
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


@dataclass(frozen=True)
class Cuda:
    """The CUDA text of a program, and what to launch of it, in order."""

    text: str
    entries: tuple[Entry, ...]
    program: Program


def emit(program: Program, sizes: Mapping[str, int]) -> Cuda:
    """The CUDA text of a program whose sizes are at most such that indices are as wide as for `sizes`."""
    known = dict(sizes) | {s.name: n for s, n in program.sizes}
    grids = [_prepared(grid) for grid in program.grids]
    wide = any(_reach(grid, known) >= NARROW for grid in grids)
    functions, entries = list[str](), list[Entry]()
    for n, grid in enumerate(grids):
        writer = _Function(grid, known)
        entries.append(writer.function(f"kernel{n or ''}"))
        functions.append("\n".join(writer.lines))
    body = "\n\n".join(functions)
    head = [*prelude(body), f"typedef {'long long' if wide else 'int'} idx;"]
    return Cuda("\n\n".join(["\n".join(head), body]) + "\n", tuple(entries), program)


def _prepared(grid: Grid) -> Grid:
    """Without operations that CUDA has not."""

    def change(node: Value) -> Value | None:
        if isinstance(node, Op) and node.op == "scale":
            return by_factors(*(rewrite(a, change) for a in node.args))
        return None

    stores = tuple(replace(s, value=rewrite(s.value, change)) for s in grid.stores)
    return replace(
        grid, stores=stores, folds=tuple(f for f in (rewrite(f, change) for f in grid.folds) if isinstance(f, Fold))
    )


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


def _reach(grid: Grid, sizes: Mapping[str, int]) -> int:
    """The greatest index in a grid."""
    plain: dict[Value, bool] = {}
    bounds = _bounds(grid, sizes)
    points = reduce(lambda a, b: a * b, (e for _, e in (*grid.axes, *grid.inner)), index(1))
    indices = (n for n in walk(*_roots(grid)) if is_index(n, plain) and not isinstance(n, Const))
    farthest = max((max(map(abs, reach(n, bounds, sizes))) for n in indices), default=0)
    return max(farthest, upper(points, bounds, sizes) * grid.team)


class _Function(Folds):
    def __init__(self, grid: Grid, sizes: Mapping[str, int]) -> None:
        self.bounds = _bounds(grid, sizes)
        self.sizes = sizes
        super().__init__(_roots(grid), self._longer)
        self.grid = grid
        self.arguments = _arguments(grid)
        self.taken = {x.name for x in self.arguments} | {a.name for a in self.bounds} | {"lane", "idx"}

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
        each, threads = 1, THREADS
        if grid.order != "any":
            threads = ORDERED_THREADS
        parameters = ", ".join(self._parameter(x) for x in self.arguments)
        self.lines.append(f'extern "C" __global__ void __launch_bounds__({threads}) {name}({parameters}) {{')
        if grid.order != "any":
            self._in_order(known, count)
        elif grid.team > 1:
            each = grid.team
            self._team(known, count)
        else:
            count = self._points(known, count)
        self.lines.append("}")
        return Entry(name, self.arguments, threads, count, each, grid.order != "any")

    def _parameter(self, x: Argument) -> str:
        if isinstance(x, Size):
            return f"idx {x.name}"
        if isinstance(x, Param):
            return f"{in_register(x.dtype)} {x.name}"
        stored = any(s.leaf == x for s in self.grid.stores)
        return f"{'' if stored else 'const '}{in_memory(x.dtype)}* {x.name}"

    # a thread at every point

    def _points(self, known: Known, count: Value) -> Value:
        many = self._many()
        loops = list(self.grid.axes)
        if many > 1:
            innermost, extent = loops[-1]
            groups = (extent + (many - 1)) // many
            loops[-1] = (axis(f"{innermost.name}_group"), groups)
            count = reduce(lambda a, b: a * b, (e for _, e in loops), index(1))
        t, step = self.name("point"), self.name("step")
        self.put(f"const idx {step} = (idx)gridDim.x * blockDim.x;")
        total = self._total(count, known)
        with self.block(f"for (idx {t} = (idx)blockIdx.x * blockDim.x + threadIdx.x; {t} < {total}; {t} += {step})"):
            self._unfolded(tuple(loops), t, known)
            if many > 1:
                self._packs(many, known)
            else:
                self._store_all(known)
        return count

    def _total(self, count: Value, known: Known) -> str:
        text = self.index(count, known)
        if text.isidentifier() or text.isdigit():
            return text
        name = self.name("points")
        self.put(f"const idx {name} = {bare(text)};")
        return name

    def _unfolded(self, loops: Loops, point: str, known: Known) -> None:
        """The axes at a point, the last running fastest."""
        rest = point
        for n, (a, extent) in enumerate(reversed(loops), 1):
            known.indices[a] = a.name
            if n == len(loops):
                self.put(f"const idx {a.name} = {rest};")
                return
            outer, size = self.name("rest"), self.index(extent, known)
            self.put(f"const idx {outer} = {rest} / {size};")
            self.put(f"const idx {a.name} = {rest} - {outer} * {size};")
            rest = outer

    def _store_all(self, known: Known) -> None:
        """Everything is computed before anything is stored."""
        for line in self._computed(known):
            self.put(line)

    def _computed(self, known: Known) -> list[str]:
        found = [(s, self.value(s.value, known)) for s in self.grid.stores]
        if len(found) > 1:
            found = [(s, self.named(s.value, known)) for s, _ in found]
        return [f"{self._place(s, known)} = {bare(encoded(text, s.leaf.dtype))};" for s, text in found]

    def _place(self, store: Store, known: Known) -> str:
        return f"{store.leaf.name}[{bare(self.index(store.offset, known))}]"

    # several elements at once

    def _many(self) -> int:
        """How many elements along the innermost axis a thread reads and writes at once."""
        grid = self.grid
        if not grid.axes or any(isinstance(n, Fold) for s in grid.stores for n in walk(s.value)):
            return 1
        innermost = grid.axes[-1][0]
        if any(steps(s, innermost) != 1 or s.leaf.pairs for s in grid.stores):
            return 1
        leaves = [*(s.leaf for s in grid.stores), *(x.leaf for x in self._in_a_row(innermost))]
        widest = max(leaf.dtype.itemsize for leaf in leaves)
        return WIDEST // widest

    def _in_a_row(self, innermost: Axis) -> list[Load]:
        """The loads of elements that lie one behind the other."""
        nodes = dict.fromkeys(n for s in self.grid.stores for n in walk(s.value, into_folds=False))
        return [
            n for n in nodes
            if isinstance(n, Load) and n.when is None and steps(n, innermost) == 1 and not n.leaf.pairs and is_index(n.offset, self.plain)
        ]  # fmt: skip

    def _packs(self, many: int, known: Known) -> None:
        innermost, extent = self.grid.axes[-1]
        loads, u = self._in_a_row(innermost), self.name("u")
        first = self.name("first")
        self.put(f"const idx {first} = {innermost.name}_group * {many};")
        here = known.copy()
        here.indices[innermost] = first
        n = self.index(extent, known)
        with self.block(f"if ({' && '.join([*self._aligned(many, loads, known), f'{first} + {many} <= {n}'])})"):
            inside = here.copy()
            packs: dict[Load, str] = {}
            for x in loads:
                packs[x] = self.name("x")
                kind = f"xt_pack<{in_memory(x.leaf.dtype)}, {many}>"
                at = f"{x.leaf.name} + {self.index(x.offset, here)}"
                self.put(f"const {kind} {packs[x]} = *({'const ' + kind}*)({at});")
            results = [self.name("r") for _ in self.grid.stores]
            for s, r in zip(self.grid.stores, results, strict=True):
                self.put(f"xt_pack<{in_memory(s.leaf.dtype)}, {many}> {r};")
            self._outside(inside, frozenset(a for a, _ in self.grid.axes[:-1]))
            self.put("#pragma unroll")
            with self.block(f"for (int {u} = 0; {u} < {many}; ++{u})"):
                inside.indices[innermost] = f"({first} + {u})"
                for x, pack in packs.items():
                    inside.values[x] = decoded(f"{pack}.at[{u}]", x.leaf.dtype)
                for s, r in zip(self.grid.stores, results, strict=True):
                    self.put(f"{r}.at[{u}] = {bare(encoded(self.value(s.value, inside), s.leaf.dtype))};")
            for s, r in zip(self.grid.stores, results, strict=True):
                kind = f"xt_pack<{in_memory(s.leaf.dtype)}, {many}>"
                self.put(f"*({kind}*)({s.leaf.name} + {self.index(s.offset, here)}) = {r};")
        rest = self.name("i")
        with self.block(f"else for (idx {rest} = {first}; {rest} < {n} && {rest} < {first} + {many}; ++{rest})"):
            inside = known.copy()
            inside.indices[innermost] = rest
            self._store_all(inside)

    def _aligned(self, many: int, loads: Sequence[Load], known: Known) -> Iterator[str]:
        """What makes every group of elements lie at a multiple of its size."""
        seen = set[str]()
        innermost = self.grid.axes[-1][0]
        places: list[Load | Store] = [*loads, *self.grid.stores]
        for x in places:
            size = x.leaf.dtype.itemsize * many
            conditions = [f"(size_t){x.leaf.name} % {size} == 0"]
            form = affine(x.offset, innermost)
            assert form is not None, "a row has a step"
            rest = form[1]
            for a, _ in self.grid.axes[:-1]:
                form = affine(rest, a)
                if form is None:  # a quotient: at this point
                    break
                conditions += self._multiple(form[0], many, known)
                rest = form[1]
            conditions += self._multiple(rest, many, known)
            for c in conditions:
                if c not in seen:
                    seen.add(c)
                    yield c

    def _multiple(self, value: Value, many: int, known: Known) -> list[str]:
        if isinstance(value, Const):
            return [] if value.value % many == 0 else ["false"]
        return [f"{self.index(value, known)} % {many} == 0"]

    # a warp at every point

    def _team(self, known: Known, count: Value) -> None:
        grid = self.grid
        t, step = self.name("row"), self.name("step")
        self.put(f"const int lane = threadIdx.x % {WARP};")
        alone = grid.team > WARP
        self.put(f"const idx {step} = {'gridDim.x' if alone else f'(idx)gridDim.x * blockDim.x / {WARP}'};")
        total = self._total(count, known)
        start = "blockIdx.x" if alone else f"((idx)blockIdx.x * blockDim.x + threadIdx.x) / {WARP}"
        with self.block(f"for (idx {t} = {start}; {t} < {total}; {t} += {step})"):
            if grid.axes:
                self._unfolded(grid.axes, t, known)
            self.team(grid.folds, known)
            self.put("__syncthreads();" if alone else "__syncwarp();")  # what was folded may be stored to
            number = "threadIdx.x" if alone else "lane"
            if not grid.inner:
                with self.block(f"if ({number} == 0)"):
                    self._store_all(known)
                return
            self._outside(known, frozenset(a for a, _ in grid.axes))
            points = reduce(lambda a, b: a * b, (e for _, e in grid.inner), index(1))
            q, inner = self.name("point"), self._total(points, known)
            with self.block(f"for (idx {q} = {number}; {q} < {inner}; {q} += {grid.team})"):
                inside = known.copy()
                self._unfolded(grid.inner, q, inside)
                self._store_all(inside)

    def _outside(self, known: Known, bound: frozenset[Axis]) -> None:
        """What needs no other axes is computed here, once."""
        stack, seen = [s.value for s in self.grid.stores], set[Value]()
        while stack:
            node = stack.pop()
            if node in seen or isinstance(node, Const | Param) or is_index(node, self.plain):
                continue
            seen.add(node)
            if node.free <= bound and isinstance(node, Op | Load | Fold | Component):
                self.named(node, known)
            elif isinstance(node, Op):
                stack.extend(a for n, a in enumerate(node.args) if node.op != "rarely" or n != 1)

    # one block, in order

    def _in_order(self, known: Known, count: Value) -> None:
        grid = self.grid
        start, t = self.name("start"), self.name("point")
        total = self._total(count, known)
        held = [self.name("r") for _ in grid.stores]
        with self.block(f"for (idx {start} = 0; {start} < {total}; {start} += blockDim.x)"):
            self.put(f"const bool here = {total} - {start} > (idx)threadIdx.x;")
            at = f"{start} + threadIdx.x" if grid.order == "forward" else f"{total} - 1 - {start} - threadIdx.x"
            self.put(f"const idx {t} = here ? {at} : 0;")
            for s, r in zip(grid.stores, held, strict=True):
                self.put(f"{in_memory(s.leaf.dtype)} {r};")
            self._unfolded(grid.axes, t, known)
            with self.block("if (here)"):
                inside = known.copy()
                for s, r in zip(grid.stores, held, strict=True):
                    self.put(f"{r} = {bare(encoded(self.value(s.value, inside), s.leaf.dtype))};")
            self.put("__syncthreads();")  # all is read that this stretch overwrites
            with self.block("if (here)"):
                for s, r in zip(grid.stores, held, strict=True):
                    self.put(f"{self._place(s, known)} = {r};")


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
