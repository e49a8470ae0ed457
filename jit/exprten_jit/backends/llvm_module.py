"""A kernel as an LLVM module: its entry, and a function for every loop that threads may share.

The entry is `void kernel(ptr words, i64 threads)`: `words` are the leaves' addresses, the sizes and the scalars, 8 bytes each, and
`threads` bounds how many work, 0 being the pool's own number. It runs the nest from top to bottom. A loop at the top of the nest,
and a fold there, is a function of its own, `void (ptr context, i64 low, i64 high)`: the pool calls it for parts of the range
where there is work enough, the entry for all of it where there is not. What was computed before lies in the context. Threads divide
nothing that is brought together in one order: of a fold they take whole subtrees, and store what those come to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..ir import Leaf, Value, components, index
from ..machine import Machine
from ..nest import Blocks, Columns, Let, Loop, Nest, Pieces, Reduce, Stmt, Vector
from ..reducers import PAIRS, PARTS
from ..work import GRAIN, MANY, Range, levels, shared, work
from .llvm_accumulators import Row
from .llvm_fold import by_element, groups_of
from .llvm_masked import in_place
from .llvm_memory import ZERO_ROW
from .llvm_pieces import InPieces
from .llvm_text import INDEX_TYPE, Lanes
from .llvm_where import Known, Where

LEAST = 2  # a part of a fold along vectors is 2 ** 2 blocks at least: their results cost little then


def emit(nest: Nest, name: str, fast_math: bool, machine: Machine) -> str:
    """The LLVM module text of `nest`: function `name`, `void (ptr, i64)`."""
    module = _Module(nest, fast_math)
    module.machine = machine
    return module.module(name)


class _Module(InPieces):
    def module(self, name: str) -> str:
        self._new()
        room = [pair for part in self.nest.parts for pair in part.room]
        known = self._with_room(room) if room else self._arguments()
        root = self.nest
        for part in root.every:
            self.nest = part if any(part in x.first for x in root.parts) else root
            self.groups, self.apart = groups_of(part), by_element(part.apart)
            self.down = part.kernel.reverse
            self._part(part, dict(known))
        head = f"internal void @{name}_piece" if root.pieces else f"void @{name}"
        self.functions.append(self._end(f"{head}(ptr %{'given' if room else 'words'}, i64 %threads)"))
        if root.pieces:
            self.in_pieces(root, f"{name}_piece", name)
        zeros = f"@zeros = internal constant [{ZERO_ROW} x i8] zeroinitializer, align 64"
        functions, masked = "\n".join(self.functions), list[str]()
        if not self.registers_for_masks:
            functions, masked = in_place(functions, self.declared)
        metadata = ["!0 = !{i32 1}"] if "!nontemporal" in functions else []
        return "\n".join([zeros, *self.declared.values(), *masked, *self.helpers.values(), functions, *metadata, ""])

    def _with_room(self, room: Sequence[tuple[Leaf, int]]) -> Known:
        """The arguments in a copy of the words, behind which is where the scratch of each leaf is."""
        t, kernel = self.text, self.nest.kernel
        many = len(kernel.leaves) + len(kernel.sizes) + len(kernel.params)
        t.put(f"%words = alloca [{many + len(room)} x i64]")
        self._copy_words("%words", "%given", many)
        for n, (leaf, count) in enumerate(room, many):
            place = t.reserve(f"[{count} x {leaf.dtype.memory}]")
            t.put(f"store ptr {place}, ptr {self._slot('%words', n)}")
            self.extra.append(leaf)
        return self._arguments()

    # what is at the top of a nest

    def _part(self, part: Nest, known: Known) -> None:
        before: list[Value] = []
        threaded = {id(stmt) for stmt in shared(part)}
        for stmt in part.body:
            match stmt:
                case Reduce() if id(stmt) in threaded:
                    self._shared_fold(stmt, known, before)
                    before += _values(stmt)
                case Columns() if id(stmt) in threaded and self.in_parts(stmt):
                    self.rows_in_parts(stmt, known, before)
                case Columns() if id(stmt) in threaded and stmt.one_fold:
                    self.text.either(
                        self.long_and_narrow(stmt, known),
                        partial(self.rows_in_parts, stmt, dict(known), before),
                        partial(self._shared_loop, stmt, dict(known), before),
                    )
                case Loop() | Vector() | Pieces() | Columns() | Blocks() if id(stmt) in threaded:
                    self._shared_loop(stmt, known, before)
                case _:
                    self._run([stmt], known)
                    before += [stmt.value] if isinstance(stmt, Let) else []

    def _shared_loop(self, stmt: Range, known: Known, before: Sequence[Value]) -> None:
        """A loop over elements: any part of its axis, or of the axis of a loop that is all there is in it."""
        loops = levels(stmt)
        extents = [self._extent(loop, known) for loop in loops]
        level, extent, grain = self._level(loops, extents, known)
        context = self._context(known, before, level)
        name = self._outlined(stmt, loops, before)
        self._share(name, context, extent, grain, self.value(work([stmt]), known, None).name)

    def _extent(self, loop: Range, known: Known) -> str:
        return self.value(loop.high if isinstance(loop, Vector | Blocks) else loop.extent, known, None).name

    def _level(self, loops: Sequence[Range], extents: Sequence[str], known: Known) -> tuple[str, str, str]:
        """Which loop is shared, its extent, and the smallest part of it: the outermost with many rounds, else the one with most."""
        t = self.text
        grains = [1 if isinstance(loop, Loop) else GRAIN for loop in loops]
        found = ("0", extents[0], self._grain(loops[0], known))
        if len(loops) == 1:
            return found
        rounds = t.index("sdiv", extents[0], found[2])
        for n in range(1, len(loops)):
            few = t.let(f"icmp slt i64 {rounds}, {MANY}", "i1").name
            these = t.index("sdiv", extents[n], grains[n])
            more = t.let(f"icmp sgt i64 {these}, {rounds}", "i1").name
            inner = t.let(f"and i1 {few}, {more}", "i1").name
            pairs = zip((str(n), extents[n], str(grains[n])), found, strict=True)
            a, b, c = (t.let(f"select i1 {inner}, i64 {x}, i64 {y}", INDEX_TYPE).name for x, y in pairs)
            found, rounds = (a, b, c), t.let(f"select i1 {inner}, i64 {these}, i64 {rounds}", INDEX_TYPE).name
        return found

    def _grain(self, loop: Range, known: Known) -> str:
        """The smallest part of a loop that a thread takes; less than 0, where it takes as much as there is for it."""
        if isinstance(loop, Columns) and loop.each is not None:
            return self.text.index("mul", self.value(loop.each, known, None).name, GRAIN // 4)
        if (
            isinstance(loop, Columns) and loop.strips
        ):  # narrow ones make little of a page, and what rows have is made for each
            return str(-GRAIN)
        return str(1 if isinstance(loop, Loop) else GRAIN)

    def _outlined(self, stmt: Stmt, loops: Sequence[Range], before: Sequence[Value]) -> str:
        """The function that runs a part of a loop."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
        for table in self.nest.offsets:
            self.offsets(table, known)
        if len(loops) == 1:
            self.bounds = {id(loops[0]): ("%low", "%high")}
        else:
            level = self.text.let(f"load i64, ptr {first}", INDEX_TYPE).name
            extents = [self._extent(loop, known) for loop in loops]
            self.bounds = {id(loop): self._between(n, level, extents[n]) for n, loop in enumerate(loops)}
        self._run([stmt], known)
        self.bounds = {}
        return self._finished("loop", outside)

    def _between(self, n: int, level: str, extent: str) -> tuple[str, str]:
        t = self.text
        here = t.let(f"icmp eq i64 {level}, {n}", "i1").name
        low = t.let(f"select i1 {here}, i64 %low, i64 0", INDEX_TYPE).name
        return low, t.let(f"select i1 {here}, i64 %high, i64 {extent}", INDEX_TYPE).name

    def _shared_fold(self, stmt: Reduce, known: Known, before: Sequence[Value]) -> None:
        """Folds at the top: their blocks are shared, or, where there are few, what is folded inside of their elements."""
        t, folds = self.text, stmt.folds
        places = [t.reserve(f"[{PARTS} x {value.dtype.memory}]") for value in _values(stmt)]
        if not stmt.body or folds[0].order == PAIRS:  # results of blocks, of which each is one already
            self.settle(folds, self._by_parts(stmt, known, before, places), known)
            return
        result = self._places(folds, [self._identity(folds, 1)])

        def put(row: Row) -> None:
            self._put(folds, result, "0", row)

        rows, each = self._outlined_rows(stmt, before), self.value(_of_one(stmt), known, None).name
        extent = self.value(stmt.extent, known, None).name
        context = self._context(known, before, "0", *places)

        def call(base: str, many: str) -> None:
            t.put(f"store i64 {base}, ptr {self._slot(context, 1 + len(before))}")
            self._share(rows, context, many, "1", t.index("mul", each, many))

        t.either(
            self._of_few_rows(stmt, extent, each),
            lambda: put(self._row_by_row(stmt, places, call, "0", extent)),
            lambda: put(self._by_parts(stmt, dict(known), before, places, rows)),
        )
        self.settle(folds, self._get(folds, result, "0", 1), known)

    def _by_parts(
        self, stmt: Reduce, known: Known, before: Sequence[Value], places: Sequence[str], rows: str = ""
    ) -> Row:
        """Each part is a subtree of 2 ** n blocks, n such that there are at most PARTS."""
        t, order = self.text, stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        extent = self.value(stmt.extent, known, None).name
        many = t.index("udiv", extent, order.block * PARTS)
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(many, INDEX_TYPE), Lanes("false", "i1")).name
        doubled = t.greater(t.index("sub", "64", zeros), str(LEAST if stmt.lanes > 1 else 0))
        size = t.index("shl", str(order.block), doubled)
        parts = t.index("udiv", t.index("add", extent, t.index("sub", size, 1)), size)
        context = self._context(known, before, size, *places)
        self._share(
            self._outlined_fold(stmt, before, rows), context, parts, "1", self.value(work([stmt]), known, None).name
        )
        return self.blocks(stmt.folds, PAIRS, 1, "0", parts, lambda n, _: self._result(stmt, places, n))

    def _result(self, stmt: Reduce, places: Sequence[str], n: str) -> Row:
        found = zip(_values(stmt), places, strict=True)
        return [self.kept(x.dtype, self.accumulator(x.dtype, place, n, 1), 1) for x, place in found]

    def _of_few_rows(self, stmt: Reduce, extent: str, each: str) -> str:
        """Whether there are few blocks of elements, of which some take long."""
        t, order = self.text, stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        few = t.let(f"icmp slt i64 {extent}, {order.block * MANY}", "i1").name
        pays = self._pays(t.index("mul", each, t.lesser(extent, str(PARTS))))
        return t.let(f"and i1 {few}, {pays}", "i1").name

    def _row_by_row(
        self, stmt: Reduce, places: Sequence[str], call: Callable[[str, str], None], low: str, high: str
    ) -> Row:
        """`call` computes the next elements, PARTS at most, each a fold itself; then they join the accumulators one after the other."""
        t, folds, order = self.text, stmt.folds, stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"

        def block(start: str, end: str) -> Row:
            lanes = self._places(folds, [self._identity(folds, order.lanes)])

            def one(at: str, n: str) -> None:
                row = self._result(stmt, places, n)
                self._join(folds, lanes, order.lanes, start, t.index("add", at, n), row)

            def some(at: str) -> str:
                many = t.lesser(str(PARTS), t.index("sub", end, at))
                call(at, many)
                t.loop("0", many, 1, partial(one, at))
                return t.index("add", at, many)

            t.repeat(start, end, some)
            return self._tree(self._fetch(folds, lanes, 1, order.lanes), self._merge(folds))

        return self.blocks(folds, order, 1, low, high, block)

    def _outlined_rows(self, stmt: Reduce, before: Sequence[Value]) -> str:
        """The function that computes some elements of folds."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
        t = self.text
        base = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        places = self._own_places(stmt, first)

        def row(n: str) -> None:
            k = t.index("add", base, n)
            inside = {**known, stmt.axis: Lanes(k, INDEX_TYPE)}
            self._run(stmt.body, inside)
            where = Where(stmt.axis, k, 1)
            bodies = [body for node in stmt.folds for body in node.bodies]
            for value, place, body in zip(_values(stmt), places, bodies, strict=True):
                self.keep(value.dtype, self.value(body, inside, where), self.accumulator(value.dtype, place, n, 1))

        t.loop("%low", "%high", 1, row)
        return self._finished("rows", outside)

    def _own_places(self, stmt: Reduce, first: str) -> list[str]:
        """Where a function stores its results, as its context tells."""
        t = self.text
        at = [t.let(f"getelementptr i64, ptr {first}, i64 {1 + n}", "ptr").name for n in range(len(_values(stmt)))]
        return [t.let(f"load ptr, ptr {x}", "ptr").name for x in at]

    def _outlined_fold(self, stmt: Reduce, before: Sequence[Value], rows: str) -> str:
        """The function that computes some parts of folds; `rows` computes elements, where these are folds themselves."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
        t = self.text
        size = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        places, extent = self._own_places(stmt, first), self.value(stmt.extent, known, None).name
        own = [t.reserve(f"[{PARTS} x {value.dtype.memory}]") for value in _values(stmt)] if rows else []
        context = self._context(known, before, "0", *own) if rows else ""

        def call(base: str, many: str) -> None:
            t.put(f"store i64 {base}, ptr {self._slot(context, 1 + len(before))}")
            t.put(f"call void {rows}(ptr {context}, i64 0, i64 {many})")

        def part(n: str) -> None:
            low = t.index("mul", n, size)
            high = t.lesser(t.index("add", low, size), extent)
            if rows:
                results = self._row_by_row(stmt, own, call, low, high)
            else:
                results = self.partials(stmt, dict(known), lambda inside: self._run(stmt.body, inside), low, high)
            for value, place, x in zip(_values(stmt), places, results, strict=True):
                self.keep(value.dtype, x, self.accumulator(value.dtype, place, n, 1))

        t.loop("%low", "%high", 1, part)
        return self._finished("fold", outside)


def _values(stmt: Reduce) -> list[Value]:
    """What the folds of a statement come to."""
    return [value for node in stmt.folds for value in components(node)]


def _of_one(stmt: Reduce) -> Value:
    """The work of one element of a fold."""
    return work([replace(stmt, extent=index(1))])
