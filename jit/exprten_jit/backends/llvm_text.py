"""LLVM IR text, one function at a time: instructions, blocks and loops, values that are one lane or many."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass

from ..dtypes import DType

INDEX_TYPE = "i64"
_OF_NUMBERS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


@dataclass(frozen=True)
class Lanes:
    """An SSA value: its name or literal, the LLVM type of a lane, and how many lanes."""

    name: str
    lane: str
    count: int = 1

    @property
    def type(self) -> str:
        return self.lane if self.count == 1 else f"<{self.count} x {self.lane}>"

    def __str__(self) -> str:
        return f"{self.type} {self.name}"


def number(name: str) -> int | None:
    """The integer that an operand is, where it is known."""
    return None if name.startswith("%") else int(name)


def literal(value: bool | int | float, dtype: DType) -> str:
    """A constant of `dtype` as LLVM reads it: floats by their bits."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind != "f":
        return str(int(value))
    value = dtype.rounded(value)
    if dtype.lane == "float":  # LLVM writes a float as the double of the same value
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Text:
    """The body of a function under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.reserved: list[str] = []  # memory on the stack, taken once, at the entry
        self.stored_past = ""  # what tells whether something was stored past the caches
        self.declared: dict[str, str] = {}
        self.block = "entry"
        self._names = 0
        self._labels = 0

    def name(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def put(self, line: str) -> None:
        self.lines.append("  " + line)

    def let(self, instruction: str, lane: str, count: int = 1) -> Lanes:
        name = self.name()
        self.put(f"{name} = {instruction}")
        return Lanes(name, lane, count)

    def call(self, function: str, lane: str, count: int, *args: Lanes) -> Lanes:
        result = Lanes("", lane, count).type
        self.declare(function, result, *(a.type for a in args))
        return self.let(f"call {result} {function}({', '.join(map(str, args))})", lane, count)

    def call_void(self, function: str, *args: str) -> None:
        self.declare(function, "void", *(a.rsplit(" ", 1)[0] for a in args))
        self.put(f"call void {function}({', '.join(args)})")

    def reserve(self, what: str) -> str:
        """Memory for `what` on the stack."""
        name = self.name()
        self.reserved.append(f"  {name} = alloca {what}, align 64")
        return name

    def flag(self) -> str:
        """A byte on the stack, 0 at the entry: whether something was stored past the caches."""
        if not self.stored_past:
            self.stored_past = self.reserve("i8")
            self.reserved.append(f"  store i8 0, ptr {self.stored_past}")
        return self.stored_past

    def declare(self, function: str, result: str, *types: str) -> None:
        self.declared.setdefault(function, f"declare {result} {function}({', '.join(types)})")

    # index arithmetic on scalars, by SSA name

    def index(self, instruction: str, a: str, b: str | int) -> str:
        m, n = number(a), number(str(b))
        if m is not None and n is not None and instruction in _OF_NUMBERS:
            return str(_OF_NUMBERS[instruction](m, n))
        if instruction == "add" and str(b) == "0":
            return a
        if instruction == "add" and a == "0":
            return str(b)
        if instruction == "mul" and "1" in (a, str(b)):
            return str(b) if a == "1" else a
        return self.let(f"{instruction} {INDEX_TYPE} {a}, {b}", INDEX_TYPE).name

    def further(self, address: str, element: str, many: str) -> str:
        """Where so many elements further is."""
        return self.let(f"getelementptr {element}, ptr {address}, i64 {many}", "ptr").name

    def prefetch(self, address: str, further: int, locality: int, stored: bool = False) -> None:
        """Bring the line so many bytes further than an address into a cache, to be read, or to be stored."""
        at = self.further(address, "i8", str(further)) if further else address
        self.call_void("@llvm.prefetch.p0", f"ptr {at}", f"i32 {int(stored)}", f"i32 {locality}", "i32 1")

    def greater(self, a: str, b: str) -> str:
        return self.call("@llvm.smax.i64", INDEX_TYPE, 1, Lanes(a, INDEX_TYPE), Lanes(b, INDEX_TYPE)).name

    def select(self, condition: str, a: str, b: str) -> str:
        return self.let(f"select i1 {condition}, i64 {a}, i64 {b}", INDEX_TYPE).name

    def opaque(self, kind: str, operand: str) -> str:
        """The same value, of which the compiler does not see where it comes from; the operand with its type."""
        return self.let(f'call {kind} asm "", "=r,0"({operand})', kind).name

    def lesser(self, a: str, b: str) -> str:
        m, n = number(a), number(b)
        if m is not None and n is not None:
            return str(min(m, n))
        return self.call("@llvm.smin.i64", INDEX_TYPE, 1, Lanes(a, INDEX_TYPE), Lanes(b, INDEX_TYPE)).name

    # blocks and loops

    def label(self, stem: str) -> str:
        self._labels += 1
        return f"{stem}{self._labels}"

    def open(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def loop(self, low: str, high: str, step: int, body: Callable[[str], None], down: bool = False) -> None:
        """`body(i)` for i = low, low + step, … below high; `down` visits the same indices from the last. high - low is a
        multiple of `step`.
        """
        head, inside, after = self.label("loop"), self.label("body"), self.label("after")
        i, following, more = self.name(), self.name(), self.name()
        first = self.index("sub", high, step) if down else low
        before = self.block
        self.put(f"br label %{head}")
        self.open(head)
        at = len(self.lines)
        self.put("")  # the phi, once the last block of the body is known
        self.put(f"{more} = icmp {'sge' if down else 'slt'} i64 {i}, {low if down else high}")
        self.put(f"br i1 {more}, label %{inside}, label %{after}")
        self.open(inside)
        body(i)
        self.put(f"{following} = {'sub' if down else 'add'} nsw i64 {i}, {step}")
        self.lines[at] = f"  {i} = phi i64 [ {first}, %{before} ], [ {following}, %{self.block} ]"
        self.put(f"br label %{head}")
        self.open(after)

    def carry(
        self, low: str, high: str, step: int, initial: list[Lanes], body: Callable[[str, list[Lanes]], list[Lanes]]
    ) -> list[Lanes]:
        """`values = body(i, values)` for i = low, low + step, … below high, in registers."""
        head, inside, after = self.label("loop"), self.label("body"), self.label("after")
        i, following, more = self.name(), self.name(), self.name()
        names = [Lanes(self.name(), x.lane, x.count) for x in initial]
        before = self.block
        self.put(f"br label %{head}")
        self.open(head)
        at = len(self.lines)
        self.lines += [""] * (1 + len(names))  # the phis, once the last block of the body is known
        self.put(f"{more} = icmp slt i64 {i}, {high}")
        self.put(f"br i1 {more}, label %{inside}, label %{after}")
        self.open(inside)
        new = body(i, names)
        self.put(f"{following} = add nsw i64 {i}, {step}")
        self.lines[at] = f"  {i} = phi i64 [ {low}, %{before} ], [ {following}, %{self.block} ]"
        for n, (name, first, then) in enumerate(zip(names, initial, new, strict=True), 1):
            self.lines[at + n] = (
                f"  {name.name} = phi {name.type} [ {first.name}, %{before} ], [ {then.name}, %{self.block} ]"
            )
        self.put(f"br label %{head}")
        self.open(after)
        return names

    def perhaps(self, condition: str, initial: list[Lanes], body: Callable[[list[Lanes]], list[Lanes]]) -> list[Lanes]:
        """`body(values)` under a condition, else the values, in registers."""
        inside, after, before = self.label("then"), self.label("after"), self.block
        self.put(f"br i1 {condition}, label %{inside}, label %{after}")
        self.open(inside)
        new, last = body(initial), self.block
        self.put(f"br label %{after}")
        self.open(after)
        pairs = zip(initial, new, strict=True)
        return [
            self.let(f"phi {x.type} [ {x.name}, %{before} ], [ {y.name}, %{last} ]", x.lane, x.count) for x, y in pairs
        ]

    def chosen(self, condition: str, body: Callable[[], list[Lanes]], other: Callable[[], list[Lanes]]) -> list[Lanes]:
        """The values of one of both, in registers."""
        after, ends = self.label("after"), list[tuple[list[Lanes], str]]()
        inside, outside = self.label("then"), self.label("else")
        self.put(f"br i1 {condition}, label %{inside}, label %{outside}")
        for label, run in ((inside, body), (outside, other)):
            self.open(label)
            values = run()
            ends.append((values, self.block))
            self.put(f"br label %{after}")
        self.open(after)
        (one, first), (two, second) = ends
        return [
            self.let(f"phi {x.type} [ {x.name}, %{first} ], [ {y.name}, %{second} ]", x.lane, x.count)
            for x, y in zip(one, two, strict=True)
        ]

    def while_(self, condition: Callable[[], str], body: Callable[[], None]) -> None:
        """`body()` as long as `condition()`; what changes lies in memory."""
        head, inside, after = self.label("while"), self.label("body"), self.label("after")
        self.put(f"br label %{head}")
        self.open(head)
        self.put(f"br i1 {condition()}, label %{inside}, label %{after}")
        self.open(inside)
        body()
        self.put(f"br label %{head}")
        self.open(after)

    def repeat(self, low: str, high: str, body: Callable[[str], str]) -> None:
        """`i = body(i)` from low while i < high."""
        head, inside, after = self.label("while"), self.label("body"), self.label("after")
        i, more = self.name(), self.name()
        before = self.block
        self.put(f"br label %{head}")
        self.open(head)
        at = len(self.lines)
        self.put("")
        self.put(f"{more} = icmp slt i64 {i}, {high}")
        self.put(f"br i1 {more}, label %{inside}, label %{after}")
        self.open(inside)
        following = body(i)
        self.lines[at] = f"  {i} = phi i64 [ {low}, %{before} ], [ {following}, %{self.block} ]"
        self.put(f"br label %{head}")
        self.open(after)

    def when(self, condition: str, body: Callable[[], None]) -> None:
        if condition in ("true", "false"):
            if condition == "true":
                body()
            return
        inside, after = self.label("then"), self.label("after")
        self.put(f"br i1 {condition}, label %{inside}, label %{after}")
        self.open(inside)
        body()
        self.put(f"br label %{after}")
        self.open(after)

    def either(self, condition: str, body: Callable[[], None], other: Callable[[], None]) -> None:
        if condition in ("true", "false"):
            (body if condition == "true" else other)()
            return
        inside, outside, after = self.label("then"), self.label("else"), self.label("after")
        self.put(f"br i1 {condition}, label %{inside}, label %{outside}")
        for label, run in ((inside, body), (outside, other)):
            self.open(label)
            run()
            self.put(f"br label %{after}")
        self.open(after)
