"""Functions that threads share: a part of a loop or of a fold, called with what was computed before it.

Each is `void (ptr context, i64 low, i64 high)`: the pool calls it for parts of the range where there is work enough, the kernel's entry
for all of it where there is not. What was computed before lies in the context.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dtypes import DTYPES
from ..ir import Leaf, Value
from ..nest import Nest
from ..work import ENOUGH
from .llvm_emit import Loops
from .llvm_text import INDEX_TYPE, Text
from .llvm_where import Known

POOL = "@parallel"
FEW_LINES = 200  # of a function: what they compute fits into registers


class Outlined(Loops):
    """Begins and ends functions, and calls them."""

    def __init__(self, nest: Nest, fast_math: bool) -> None:
        super().__init__(nest, fast_math)
        self.functions: list[str] = []
        self.extra: list[Leaf] = []  # of scratch that the words behind the arguments tell of
        self.declared = self.text.declared

    def _new(self) -> None:
        """Begin a function."""
        self.text = Text()
        self.text.declared = self.declared
        self.splats, self.waiting = {}, ""

    def _end(self, head: str) -> str:
        t = self.text
        if t.stored_past:
            flag = t.let(f"load i8, ptr {t.stored_past}", "i8").name
            t.when(t.let(f"icmp ne i8 {flag}, 0", "i1").name, lambda: t.call_void("@llvm.x86.sse.sfence"))
        t.put("ret void")
        if not t.reserved and len(t.lines) > FEW_LINES:
            t.reserve("i64")  # so that the stack is aligned, and no register is saved across two lines of the cache
        body = "\n".join(["entry:", *t.reserved, *_needed(t.lines)])
        return f"define {head} nounwind {{\n{body}\n}}"

    def _arguments(self) -> Known:
        """One word each, in the kernel's order; a scalar is a double or an int64 until it is here."""
        t, kernel, known = self.text, self.nest.kernel, Known()
        self.address = {}
        for n, leaf in enumerate(kernel.leaves):
            self.address[leaf.name] = t.let(f"load ptr, ptr {self._slot('%words', n)}", "ptr").name
        behind = len(kernel.leaves) + len(kernel.sizes) + len(kernel.params)
        for n, leaf in enumerate(self.extra, behind):
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

    def _copy_words(self, into: str, words: str, many: int) -> None:
        """Copy so many words."""
        self.text.declare("@llvm.memcpy.p0.p0.i64", "void", "ptr", "ptr", INDEX_TYPE, "i1")
        self.text.put(f"call void @llvm.memcpy.p0.p0.i64(ptr {into}, ptr {words}, i64 {8 * many}, i1 false)")

    def _slot(self, words: str, n: int) -> str:
        return self.text.let(f"getelementptr i64, ptr {words}, i64 {n}", "ptr").name

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
        arguments = f"ptr {name}, ptr {context}, i64 {extent}, i64 {grain}, i64 %threads"
        t.either(
            self._pays(much),
            lambda: t.put(f"call void {POOL}({arguments})"),
            lambda: t.put(f"call void {name}(ptr {context}, i64 0, i64 {extent})"),
        )

    def _pays(self, much: str) -> str:
        """Whether threads share so much work, if there are several."""
        t = self.text
        enough = t.let(f"icmp sge i64 {much}, {ENOUGH}", "i1").name
        several = t.let("icmp ne i64 %threads, 1", "i1").name
        return t.let(f"and i1 {enough}, {several}", "i1").name


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
