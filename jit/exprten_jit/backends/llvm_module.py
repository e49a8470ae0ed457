"""A kernel as an LLVM module: its entry, and a function for every loop that threads may share.

The entry is `void kernel(ptr words, i64 threads)`: `words` are the leaves' addresses, the sizes and the scalars, 8 bytes each, and
`threads` bounds how many work, 0 being the pool's own number. It runs the nest from top to bottom. A loop at the top of the nest,
and a fold there, is a function of its own, `void (ptr context, i64 low, i64 high)`: the pool calls it for parts of the range
where there is work enough, the entry for all of it where there is not. What was computed before lies in the context. Threads divide
nothing that is brought together in one order: of a fold they take whole subtrees, and store what those come to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dtypes import DTYPES
from ..ir import Value, components
from ..nest import Blocks, Columns, Let, Loop, Machine, Nest, Pieces, Reduce, Stmt, Vector
from ..reducers import PARTS, Order
from ..work import ENOUGH, GRAIN, MANY, Range, levels, shared, work
from .llvm_emit import Loops
from .llvm_fold import Row
from .llvm_memory import ZERO_ROW, Known
from .llvm_text import INDEX_TYPE, Lanes, Text

POOL = "@parallel"
LEAST = 2  # a part of a fold along vectors is 2 ** 2 blocks at least: their results cost little then


def emit(nest: Nest, name: str, fast_math: bool, machine: Machine) -> str:
    """The LLVM module text of `nest`: function `name`, `void (ptr, i64)`."""
    module = _Module(nest, fast_math)
    module.machine = machine
    return module.module(name)


class _Module(Loops):
    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(nest, fast_math)
        self.functions: list[str] = []
        self.declared = self.text.declared

    def module(self, name: str) -> str:
        self._new()
        known = self._arguments()
        for part in self.nest.parts:
            self.down = part.kernel.reverse
            self._part(part, dict(known))
        self.functions.append(self._end(f"void @{name}(ptr %words, i64 %threads)"))
        zeros = f"@zeros = internal constant [{ZERO_ROW} x i8] zeroinitializer, align 64"
        functions = "\n".join(self.functions)
        metadata = ["!0 = !{i32 1}"] if "!nontemporal" in functions else []
        return "\n".join([zeros, *self.declared.values(), *self.helpers.values(), functions, *metadata, ""])

    def _new(self) -> None:
        """Begin a function."""
        self.text = Text()
        self.text.declared = self.declared
        self.splats, self.waiting = {}, ""

    def _end(self, head: str) -> str:
        self.text.put("ret void")
        body = "\n".join(["entry:", *self.text.reserved, *_needed(self.text.lines)])
        return f"define {head} nounwind {{\n{body}\n}}"

    def _arguments(self) -> Known:
        """One word each, in the kernel's order; a scalar is a double or an int64 until it is here."""
        t, kernel, known = self.text, self.nest.kernel, Known()
        self.address = {}
        for n, leaf in enumerate(kernel.leaves):
            self.address[leaf.name] = t.let(f"load ptr, ptr {self._slot('%words', n)}", "ptr").name
        first = len(kernel.leaves)
        for n, size in enumerate(kernel.sizes, first):
            known[size] = t.let(f"load i64, ptr {self._slot('%words', n)}", INDEX_TYPE)
        first += len(kernel.sizes)
        for n, param in enumerate(kernel.params, first):
            wide = DTYPES["float64" if param.dtype.word == "d" else "int64"]
            word = t.let(f"load {wide.lane}, ptr {self._slot('%words', n)}", wide.lane)
            known[param] = self.cast(word, wide, param.dtype)
        return known

    def _slot(self, words: str, n: int) -> str:
        return self.text.let(f"getelementptr i64, ptr {words}, i64 {n}", "ptr").name

    # what is at the top of a nest

    def _part(self, part: Nest, known: Known) -> None:
        before: list[Value] = []
        threaded = {id(stmt) for stmt in shared(part)}
        for stmt in part.body:
            match stmt:
                case Reduce() if id(stmt) in threaded:
                    self._shared_fold(stmt, known, before)
                    before += _values(stmt)
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
        """The smallest part of a loop that a thread takes."""
        if isinstance(loop, Columns) and loop.each is not None:
            return self.text.index("mul", self.value(loop.each, known, None).name, GRAIN // 4)
        return str(1 if isinstance(loop, Loop) else GRAIN)

    def _outlined(self, stmt: Stmt, loops: Sequence[Range], before: Sequence[Value]) -> str:
        """The function that runs a part of a loop."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
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
        """Folds at the top: each part is a subtree of 2 ** n blocks, n such that there are at most PARTS."""
        t, order = self.text, stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        extent = self.value(stmt.extent, known, None).name
        many = t.index("udiv", extent, order.block * PARTS)
        zeros = t.call("@llvm.ctlz.i64", INDEX_TYPE, 1, Lanes(many, INDEX_TYPE), Lanes("false", "i1")).name
        doubled = t.greater(t.index("sub", "64", zeros), str(LEAST if stmt.lanes > 1 else 0))
        size = t.index("shl", str(order.block), doubled)
        parts = t.index("udiv", t.index("add", extent, t.index("sub", size, 1)), size)
        places = [t.reserve(f"[{PARTS} x {value.dtype.memory}]") for value in _values(stmt)]
        context = self._context(known, before, size, *places)
        self._share(self._outlined_fold(stmt, before), context, parts, "1", self.value(work([stmt]), known, None).name)

        def one(n: str, _: str) -> Row:
            found = zip(_values(stmt), places, strict=True)
            return [self.kept(x.dtype, self.accumulator(x.dtype, place, n, 1), 1) for x, place in found]

        self.settle(stmt.folds, self.blocks(stmt.folds, Order(1, 1), 1, "0", parts, one), known)

    def _outlined_fold(self, stmt: Reduce, before: Sequence[Value]) -> str:
        """The function that computes some parts of folds."""
        outside = self.text, self.address, self.waiting
        known, first = self._within(before)
        t = self.text
        size = t.let(f"load i64, ptr {first}", INDEX_TYPE).name
        at = [t.let(f"getelementptr i64, ptr {first}, i64 {1 + n}", "ptr").name for n in range(len(_values(stmt)))]
        places = [t.let(f"load ptr, ptr {x}", "ptr").name for x in at]
        extent = self.value(stmt.extent, known, None).name

        def part(n: str) -> None:
            low = t.index("mul", n, size)
            high = t.lesser(t.index("add", low, size), extent)
            found = dict(known)
            results = self.partials(stmt, found, lambda inside: self._run(stmt.body, inside), low, high)
            for value, place, x in zip(_values(stmt), places, results, strict=True):
                self.keep(value.dtype, x, self.accumulator(value.dtype, place, n, 1))

        t.loop("%low", "%high", 1, part)
        return self._finished("fold", outside)

    # contexts

    def _context(self, known: Known, before: Sequence[Value], *own: str) -> str:
        """Memory with the words, what was computed before, and what is the function's own: numbers and addresses."""
        t = self.text
        context = t.reserve(f"[{1 + len(before) + len(own)} x i64]")
        t.put(f"store ptr %words, ptr {context}")
        for n, value in enumerate(before, 1):
            t.put(f"store {known[value]}, ptr {self._slot(context, n)}")
        for n, x in enumerate(own, 1 + len(before)):
            t.put(f"store {'ptr' if n > 1 + len(before) else 'i64'} {x}, ptr {self._slot(context, n)}")
        return context

    def _within(self, before: Sequence[Value]) -> tuple[Known, str]:
        """Inside a new function of a context: what is known, and where its own begins."""
        self._new()
        self.text.put("%words = load ptr, ptr %context")
        known = self._arguments()
        for n, value in enumerate(before, 1):
            lane = value.dtype.lane
            known[value] = self.text.let(f"load {lane}, ptr {self._slot('%context', n)}", lane)
        return known, self._slot("%context", 1 + len(before))

    def _finished(self, stem: str, outside: tuple[Text, dict[str, str], str]) -> str:
        """End the function, and go on with the one around it."""
        name = f"@{stem}{len(self.functions)}"
        self.functions.append(self._end(f"internal void {name}(ptr %context, i64 %low, i64 %high)"))
        self.text, self.address, self.waiting = outside
        self.splats = {}
        return name

    def _share(self, name: str, context: str, extent: str, grain: str, much: str) -> None:
        """Call a function of a context for its whole range, with threads where that pays."""
        t = self.text
        t.declare(POOL, "void", "ptr", "ptr", INDEX_TYPE, INDEX_TYPE, INDEX_TYPE)
        enough = t.let(f"icmp sge i64 {much}, {ENOUGH}", "i1").name
        several = t.let("icmp ne i64 %threads, 1", "i1").name
        shared = t.let(f"and i1 {enough}, {several}", "i1").name
        arguments = f"ptr {name}, ptr {context}, i64 {extent}, i64 {grain}, i64 %threads"
        t.either(
            shared,
            lambda: t.put(f"call void {POOL}({arguments})"),
            lambda: t.put(f"call void {name}(ptr {context}, i64 0, i64 {extent})"),
        )


def _values(stmt: Reduce) -> list[Value]:
    """What the folds of a statement come to."""
    return [value for node in stmt.folds for value in components(node)]


_ARGUMENT = re.compile(r"  (%v\d+) = (?:getelementptr i64, ptr %words, i64 \d+|load (?:ptr|i64|double), ptr (%v\d+))$")


def _needed(lines: list[str]) -> list[str]:
    """Without arguments that are not used: a kernel of many parts has a function for each, and they take all of its arguments."""
    first = int(lines[0].startswith("  %words ="))
    head = next((n for n, line in enumerate(lines) if n >= first and not _ARGUMENT.match(line)), len(lines))
    used = set(_NAME.findall("\n".join(lines[head:])))
    kept = []
    for line in reversed(lines[first:head]):
        found = _ARGUMENT.match(line)
        assert found is not None, "a head of arguments"
        if found[1] in used:
            used.add(found[2])
            kept.append(line)
    return [*lines[:first], *reversed(kept), *lines[head:]]


_NAME = re.compile(r"%v\d+")
