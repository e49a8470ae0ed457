"""Folds as CUDA C++: by a thread for itself, or by a warp, in the order that `reducers` defines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..folds import combined, folds_of, joined
from ..grid import FEW, SHORT, WARP, exact
from ..ir import Const, Fold, Local, Op, Param, Value, components, local
from ..reducers import PAIRS, Order, identities, reducer_of
from ..rewrite import walk
from .cuda_text import in_register, literal
from .cuda_values import Known, Values, bare

AT_ONCE = 16  # elements that a thread of a warp loads before it brings them together
LEVELS = 32  # blocks whose results wait: so many times 2 to the power of it there may be

Row = list[str]  # a name for each component
Block = Callable[[str, str], Row]  # (from, to) -> what the elements between come to


class Folds(Values):
    """Writes folds. `long` tells those that may have more elements than a block."""

    block_threads: int
    lean = False  # whether registers are short: a function of several stages has those of the greediest

    def __init__(self, roots: Sequence[Value], long: Callable[[Fold, int], bool]) -> None:
        super().__init__(roots)
        self.long = long
        self._made: dict[tuple[Fold, bool], tuple[tuple[Local, ...], tuple[Local, ...], tuple[Value, ...]]] = {}

    # by a thread

    def fold(self, node: Fold, known: Known) -> Row:
        """By the thread for itself."""
        order = node.order
        assert order is not None, "a scheduled fold has an order"
        n = self.extent(node, known)
        self._before(node, known)
        if exact(node):
            return self._elements(node, known, self._begun([node])[0], "0", n, "1")
        if order == PAIRS and not self.long(node, FEW):
            return self._neighbours(node, known, n, "0", FEW)
        if order == PAIRS:
            return self._in_blocks([node], n, 1, lambda first, last: self._one(node, known, first, last))[0]
        if order.grouped:
            return self._in_blocks([node], n, order.block, lambda a, b: self._grouped(node, order, known, a, b))[0]
        if not self.long(node, SHORT):
            return self._short(node, known, n)
        return self._in_blocks([node], n, order.block, lambda a, b: self._by_lanes(node, order, known, a, b))[0]

    def _one(self, node: Fold, known: Known, first: str, last: str) -> Row:
        """A block of one element, if it is there."""
        (found,) = self._begun([node])
        with self.block(f"if ({first} < {last})"):
            self._set(found, self._bodies(node, known, first))
        return found

    def _grouped(self, node: Fold, order: Order, known: Known, first: str, last: str) -> Row:
        (found,) = self._begun([node])
        k = self.name("k")
        self.put(f"idx {k} = {first};")
        self.put("#pragma unroll 4")
        with self.block(f"for (; {k} + {order.lanes} <= {last}; {k} += {order.lanes})"):
            self._group(node, found, [self._bodies(node, known, f"{k} + {n}") for n in range(order.lanes)])
        with self.block(f"if ({k} < {last})"):
            rest = []
            for n in range(order.lanes):
                rest += self._begun([node])
                with self.block(f"if ({k} + {n} < {last})"):
                    self._set(rest[-1], self._bodies(node, known, f"{k} + {n}"))
            self._group(node, found, rest)
        return found

    def _group(self, node: Fold, found: Row, group: list[Row]) -> None:
        """Elements that become one before they join the accumulator."""
        while len(group) > 1:
            half = len(group) // 2
            group = [self._together(node, group[n], group[n + half]) for n in range(half)]
        self._set(found, self._together(node, found, group[0]))

    def _short(self, node: Fold, known: Known, n: str) -> Row:
        """A row of few elements: one a lane, in registers."""
        count = next(c for c in (2, 4, 8, SHORT) if not self.long(node, c))
        lanes = self._lanes(node, count)
        k = self.name("k")
        self.put(
            f"#pragma unroll{' 1' if self._folds_again(node) else ''}"
        )  # 16 times 16 elements: NVRTC takes minutes for the text
        with self.block(f"for (int {k} = 0; {k} < {count}; ++{k})"):
            self._set([f"{x}[{k}]" for x in lanes], self._identity(node))
            with self.block(f"if ({k} < {n})"):
                self._set([f"{x}[{k}]" for x in lanes], self._bodies(node, known, k))
        return self._halved(node, lanes, count)

    def _folds_again(self, node: Fold) -> bool:
        """Whether there are other folds for each element."""
        return any(isinstance(x, Fold) and node.axis in x.free for x in walk(*node.bodies))

    def _by_lanes(self, node: Fold, order: Order, known: Known, first: str, last: str) -> Row:
        lanes = self._lanes(node, order.lanes)
        k = self.name("k")
        with self.block(f"for (int {k} = 0; {k} < {order.lanes}; ++{k})"):
            self._set([f"{x}[{k}]" for x in lanes], self._identity(node))
        k = self.name("k")
        with self.block(f"for (idx {k} = {first}; {k} < {last}; ++{k})"):
            at = [f"{x}[({k} - {first}) % {order.lanes}]" for x in lanes]
            self._set(at, self._together(node, at, self._bodies(node, known, k), after=True))
        return self._halved(node, lanes, order.lanes)

    def _lanes(self, node: Fold, count: int) -> Row:
        lanes = [self.name("l") for _ in node.dtypes]
        for x, dtype in zip(lanes, node.dtypes, strict=True):
            self.put(f"{in_register(dtype)} {x}[{count}];")
        return lanes

    def _halved(self, node: Fold, lanes: Row, count: int) -> Row:
        half, k = self.name("h"), self.name("k")
        self.put("#pragma unroll")
        with self.block(f"for (int {half} = {count // 2}; {half} > 0; {half} /= 2)"):
            self.put("#pragma unroll")
            with self.block(f"for (int {k} = 0; {k} < {half}; ++{k})"):
                here, there = ([f"{x}[{place}]" for x in lanes] for place in (k, f"{k} + {half}"))
                self._set(here, self._together(node, here, there))
        return [f"{x}[0]" for x in lanes]

    # by a warp

    def team(self, folds: Sequence[Fold], known: Known) -> None:
        """Folds by all threads of a warp, `lane` being a thread's number in it: every thread knows the results."""
        left = list(folds)
        while left:
            first = left[0]
            group = [f for f in left if _alike(f, first) and not any(g in left for g in folds_of(*f.bodies))]
            left = [f for f in left if f not in group]
            for f in group:
                self._before(f, known)
            for node, found in zip(group, self._by_warp(group, known), strict=True):
                for value, text in zip(components(node), found, strict=True):
                    name = self.name()
                    self.put(f"const {in_register(value.dtype)} {name} = xt_first({text});")
                    known.values[value] = name
                known.values[node] = known.values[components(node)[0]]

    def _by_warp(self, group: list[Fold], known: Known) -> list[Row]:
        order = group[0].order
        assert order is not None, "a scheduled fold has an order"
        n = self.extent(group[0], known)
        if all(exact(f) for f in group) and order != PAIRS:
            found = self._begun(group)
            self._strided(group, known, found, "0", n, WARP)
            return [self._down(f, row, (16, 8, 4, 2, 1)) for f, row in zip(group, found, strict=True)]
        if order == PAIRS:
            return self._pairs(group, known, n)
        return self._in_blocks(group, n, order.block, lambda a, b: self._block(group, order, known, a, b))

    def _pairs(self, group: list[Fold], known: Known, n: str) -> list[Row]:
        """Results of parts by a block of threads: pairs of neighbours in a thread, in a warp, of warps."""
        found, warps = [], self.block_threads // WARP
        for f in group:
            row = self._neighbours(f, known, n, f"(idx)threadIdx.x * {FEW}", FEW)
            steps = [1 << k for k in range(warps.bit_length() - 1)]
            found.append(self._of_warps(f, self._down(f, row, (1, 2, 4, 8, 16)), steps, warps))
        return found

    def _neighbours(self, node: Fold, known: Known, n: str, start: str, count: int) -> Row:
        """`count` results of parts, one behind the other, in pairs."""
        own, k, half = [self.name("l") for _ in node.dtypes], self.name("k"), self.name("h")
        for x, dtype in zip(own, node.dtypes, strict=True):
            self.put(f"{in_register(dtype)} {x}[{count}];")
        self._read_parts(node, known, n, start, count, own)
        self.put("#pragma unroll")
        with self.block(f"for (int {half} = 1; {half} < {count}; {half} *= 2)"):
            self.put("#pragma unroll")
            with self.block(f"for (int {k} = 0; {k} < {count}; {k} += 2 * {half})"):
                here, there = ([f"{x}[{place}]" for x in own] for place in (k, f"{k} + {half}"))
                self._set(here, self._together(node, here, there))
        return [f"{x}[0]" for x in own]

    def _read_parts(self, node: Fold, known: Known, n: str, start: str, count: int, own: Row) -> None:
        k = self.name("k")
        self.put("#pragma unroll")
        with self.block(f"for (int {k} = 0; {k} < {count}; ++{k})"):
            here = [f"{x}[{k}]" for x in own]
            at = k if start == "0" else f"{start} + {k}"
            self._set(here, self._identity(node))
            with self.block(f"if ({at} < {n})"):
                self._set(here, self._bodies(node, known, at))

    def _of_warps(self, node: Fold, row: Row, steps: Sequence[int], count: int) -> Row:
        """What so many warps have, in the first thread of each, brought together: the first thread of each knows it."""
        shared = [self.name("shared") for _ in row]
        for x, text, dtype in zip(shared, row, node.dtypes, strict=True):
            self.put(f"__shared__ {in_register(dtype)} {x}[{count}];")
            self.put(f"if (lane == 0) {x}[threadIdx.x / {WARP}] = {text};")
        self.put("__syncthreads();")
        found = []
        for x, dtype in zip(shared, node.dtypes, strict=True):
            found.append(self.name("a"))
            self.put(f"{in_register(dtype)} {found[-1]} = {x}[lane % {count}];")
        self.put("__syncthreads();")  # the next row's may come
        return self._down(node, found, steps)

    def _block(self, group: list[Fold], order: Order, known: Known, first: str, last: str) -> list[Row]:
        found = self._begun(group)
        self._strided(group, known, found, first, last, order.lanes)
        steps = [order.lanes >> n for n in range(1, order.lanes.bit_length())]
        return [self._down(f, row, steps) for f, row in zip(group, found, strict=True)]

    def _strided(self, group: list[Fold], known: Known, found: list[Row], first: str, last: str, lanes: int) -> None:
        """Each of so many threads brings every so-manyth element to its accumulators."""
        k = self.name("k")
        self.put(f"idx {k} = {'lane' if first == '0' else f'{first} + lane'};")
        only = "" if lanes == WARP else f"lane < {lanes} && "

        def join(at: str) -> None:
            inside = known.copy()
            for f, row in zip(group, found, strict=True):
                self._set(row, self._together(f, row, self._bodies(f, inside, at, fresh=False), after=True))

        if self._is_light(group):  # all loads of a step are under way at once
            u = self.name("u")
            with self.block(f"for (; {only}{k} + {(AT_ONCE - 1) * lanes} < {last}; {k} += {AT_ONCE * lanes})"):
                self.put("#pragma unroll")
                with self.block(f"for (int {u} = 0; {u} < {AT_ONCE}; ++{u})"):
                    join(f"{k} + {u} * {lanes}")
        else:
            self.put("#pragma unroll 8")
        with self.block(f"for (; {only}{k} < {last}; {k} += {lanes})"):
            join(k)

    def _is_light(self, group: Sequence[Fold]) -> bool:
        """Whether little is done with what is loaded, and registers are not short."""
        operations = [
            x for x in walk(*(b for f in group for b in f.bodies)) if isinstance(x, Op) and not self.is_plain(x)
        ]
        return len(operations) <= 1 and not self.lean

    def _down(self, node: Fold, row: Row, steps: Sequence[int]) -> Row:
        """What the threads of a warp have, in the first of them."""
        by = self.name("h")
        halving = steps[0] > steps[-1]
        step = f"{by} > 0; {by} /= 2" if halving else f"{by} <= {steps[-1]}; {by} *= 2"
        self.put("#pragma unroll")
        with self.block(f"for (int {by} = {steps[0]}; {step})"):
            self._set(row, self._together(node, row, [f"xt_down({x}, {by})" for x in row]))
        return row

    # parts that both have

    def _in_blocks(
        self, group: list[Fold], n: str, size: int, block: Callable[[str, str], list[Row] | Row]
    ) -> list[Row]:
        """Blocks of `size` elements, one after the other; their results pair up like the bits of a counter."""

        def rows(first: str, last: str) -> list[Row]:
            made = block(first, last)
            return made if isinstance(made[0], list) else [made]

        if not any(self.long(f, size) for f in group):
            return rows("0", n)
        waiting = [[self.name("w") for _ in f.dtypes] for f in group]
        for f, names in zip(group, waiting, strict=True):
            for x, dtype in zip(names, f.dtypes, strict=True):
                self.put(f"{in_register(dtype)} {x}[{LEVELS}];")
        top, first, last, number, carries = (self.name(stem) for stem in ("top", "from", "to", "number", "carry"))
        self.put(f"int {top} = 0;")
        self.put(f"idx {number} = 0;")
        with self.block(f"for (idx {first} = 0; {first} == 0 || {first} < {n}; {first} += {size}, ++{number})"):
            self.put(f"const idx {last} = {n} - {first} < {size} ? {n} : {first} + {size};")
            found = rows(first, last)
            with self.block(f"for (idx {carries} = {number}; {carries} & 1; {carries} >>= 1)"):
                self._join_waiting(group, waiting, top, found)
            for names, row in zip(waiting, found, strict=True):
                self._set([f"{x}[{top}]" for x in names], row)
            self.put(f"++{top};")
        self.put(f"--{top};")
        found = self._begun(group)
        for names, row in zip(waiting, found, strict=True):
            self._set(row, [f"{x}[{top}]" for x in names])
        with self.block(f"while ({top} > 0)"):
            self._join_waiting(group, waiting, top, found)
        return found

    def _join_waiting(self, group: list[Fold], waiting: list[Row], top: str, found: list[Row]) -> None:
        self.put(f"--{top};")
        for f, names, row in zip(group, waiting, found, strict=True):
            self._set(row, self._together(f, [f"{x}[{top}]" for x in names], row))

    def _before(self, node: Fold, known: Known) -> None:
        """What is the same for all elements of a fold is computed before it."""
        self.outside(node.bodies, lambda x: node.axis not in x.free, known)

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

    def _elements(self, node: Fold, known: Known, found: Row, first: str, last: str, step: str) -> Row:
        k = self.name("k")
        few = not self._folds_again(node) and sum(isinstance(x, Op) for x in walk(*node.bodies)) <= SHORT
        self.put(f"#pragma unroll {8 if few else 1}")
        with self.block(f"for (idx {k} = {first}; {k} < {last}; {k} += {step})"):
            self._set(found, self._together(node, found, self._bodies(node, known, k), after=True))
        return found

    def extent(self, node: Fold, known: Known) -> str:
        """How many elements a fold has."""
        text = self.index(node.extent, known)
        if text.isidentifier() or text.isdigit():
            return text
        name = self.name("n")
        self.put(f"const idx {name} = {bare(text)};")
        return name

    def _begun(self, group: Sequence[Fold]) -> list[Row]:
        """Accumulators."""
        found = []
        for f in group:
            names = [self.name("a") for _ in f.dtypes]
            for name, dtype, text in zip(names, f.dtypes, self._identity(f), strict=True):
                self.put(f"{in_register(dtype)} {name} = {bare(text)};")
            found.append(names)
        return found

    def _identity(self, node: Fold) -> Row:
        numbers = identities(reducer_of(node.reducer), node.dtypes)
        return [literal(x, dtype) for x, dtype in zip(numbers, node.dtypes, strict=True)]

    def _bodies(self, node: Fold, known: Known, at: str, fresh: bool = True) -> Row:
        """The element at an index, which no name outside is to know."""
        inside = known.copy() if fresh else known
        inside.indices[node.axis] = at if at.isidentifier() else f"({at})"
        return [self.value(body, inside) for body in node.bodies]

    def _together(self, node: Fold, a: Row, b: Row, after: bool = False) -> Row:
        """Accumulators brought together; `after`: the second are elements that stand behind all of the first."""
        mine, theirs, results = self._combination(node, after)
        known = Known()
        for names, given in ((mine, a), (theirs, b)):
            for x, text in zip(names, given, strict=True):
                once = text.replace("[", "_").replace("]", "_").isidentifier() or self.uses[x] < 2
                known.values[x] = text if once else self.let(x.dtype, text)
        return [self.value(result, known) for result in results]

    def _combination(self, node: Fold, after: bool) -> tuple[tuple[Local, ...], tuple[Local, ...], tuple[Value, ...]]:
        if (node, after) not in self._made:
            mine, theirs = (tuple(local(f"{s}{n}", d) for n, d in enumerate(node.dtypes)) for s in ("mine", "theirs"))
            results = joined(node, mine, theirs) if after else combined(node, mine, theirs)
            for value in walk(*results):
                self.uses.update(value.children)
            self._made[node, after] = mine, theirs, results
        return self._made[node, after]

    def _set(self, names: Sequence[str], texts: Sequence[str]) -> None:
        """Assign all at once."""
        if len(names) > 1:
            texts = [x if x.isidentifier() and x not in names else self._kept(x) for x in texts]
        for name, text in zip(names, texts, strict=True):
            if name != text:
                self.put(f"{name} = {bare(text)};")

    def _kept(self, text: str) -> str:
        name = self.name()
        self.put(f"const auto {name} = {bare(text)};")
        return name


def _alike(f: Fold, g: Fold) -> bool:
    return (f.axis, f.extent, f.order, exact(f)) == (g.axis, g.extent, g.order, exact(g))
