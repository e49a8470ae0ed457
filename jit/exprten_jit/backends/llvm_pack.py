"""Operands of a product packed into panels: as many elements as a tile has rows or columns, one step of k after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..dtypes import DType
from .llvm_narrow import decoded, encoded, rounded
from .llvm_text import Lanes, Text

DEPTH = 256  # elements of k in a block: two panels of it fit the first cache


@dataclass(frozen=True)
class Operand:
    """A matrix: where it lies, its strides along k and across, and how many elements across make a panel."""

    dtype: DType
    place: str
    along: str
    across: str
    width: int


class Packing:
    """Elements as they are added up, in memory as in registers."""

    def __init__(self, inner: DType, lanes: int) -> None:
        self.inner = inner
        self.lanes = lanes
        self.text = Text()
        self.span = ""  # of a panel, in steps of k

    def pack(self, x: Operand, panel: str, depth: tuple[str, str], across: tuple[str, str]) -> None:
        """A block of `x`, (from, how many) along k and across, as panels converted to what is added up; zeros fill the last one."""
        t, (at, count) = self.text, (across[0], across[1])
        start = t.index("add", t.index("mul", depth[0], x.along), t.index("mul", at, x.across))
        first = self.at(x.dtype.memory, x.place, start)

        def one_panel(n: str) -> str:
            from_ = self.at(x.dtype.memory, first, t.index("mul", n, x.across))
            to = self.at(self.inner.lane, panel, t.index("mul", n, self.span))
            there = t.lesser(t.index("sub", count, n), str(x.width))
            whole = t.let(f"icmp eq i64 {there}, {x.width}", "i1").name
            self.text.either(
                whole,
                lambda: self._whole(x, from_, to, depth[1]),
                lambda: self._each(x, from_, to, depth[1], lambda a, b: self._some(x, a, b, there)),
            )
            return t.index("add", n, x.width)

        t.repeat("0", count, one_panel)

    def _each(self, x: Operand, from_: str, to: str, deep: str, copy: Callable[[str, str], None]) -> None:
        """`copy(from, to)` for each step of k of a panel."""
        t = self.text

        def step(p: str) -> None:
            source = self.at(x.dtype.memory, from_, t.index("mul", p, x.along))
            copy(source, self.at(self.inner.lane, to, t.index("mul", p, x.width)))

        t.loop("0", deep, 1, step)

    def _whole(self, x: Operand, from_: str, to: str, deep: str) -> None:
        """A panel without zeros: by vectors where elements follow each other and fill them."""

        def elements(source: str, target: str) -> None:
            for n in range(x.width):
                self._copy(x, source, target, str(n))

        def vectors(source: str, target: str) -> None:
            for n in range(0, x.width, self.lanes):
                memory = Lanes("", x.dtype.memory, self.lanes)
                at = self.at(x.dtype.memory, source, str(n))
                loaded = self.text.let(
                    f"load {memory.type}, ptr {at}, align {x.dtype.itemsize}", memory.lane, self.lanes
                )
                self._put(self.widened(loaded, x.dtype), target, str(n))

        if x.width % self.lanes:
            self._each(x, from_, to, deep, elements)
            return
        dense = self.text.let(f"icmp eq i64 {x.across}, 1", "i1").name
        self.text.either(
            dense,
            lambda: self._each(x, from_, to, deep, vectors),
            lambda: self._each(x, from_, to, deep, elements),
        )

    def _some(self, x: Operand, source: str, target: str, there: str) -> None:
        """The first elements across, zeros behind them."""
        zero = Lanes("0.0" if self.inner.kind == "f" else "0", self.inner.lane)
        for n in range(x.width):
            self._put(zero, target, str(n))
        self.text.loop("0", there, 1, lambda n: self._copy(x, source, target, n))

    def _copy(self, x: Operand, source: str, target: str, n: str) -> None:
        at = self.at(x.dtype.memory, source, self.text.index("mul", n, x.across))
        self._put(self.widened(Lanes(self.load(at, x.dtype.memory), x.dtype.memory), x.dtype), target, n)

    def _put(self, value: Lanes, target: str, n: str) -> None:
        self.text.put(f"store {value}, ptr {self.at(self.inner.lane, target, n)}, align {self.inner.itemsize}")

    # elements

    def widened(self, value: Lanes, dtype: DType) -> Lanes:
        """An element from memory as it is added up."""
        inner, t = self.inner, self.text
        to = Lanes("", inner.lane, value.count).type
        if dtype.wide:
            value = decoded(t, value, dtype)
        if value.lane == inner.lane:
            return value
        if dtype.kind == "f":
            return t.let(f"fpext {value} to {to}", inner.lane, value.count)
        signed = dtype.kind == "i"
        if inner.kind == "f":
            return t.let(f"{'si' if signed else 'ui'}tofp {value} to {to}", inner.lane, value.count)
        return t.let(f"{'sext' if signed else 'zext'} {value} to {to}", inner.lane, value.count)

    def narrowed(self, value: Lanes, dtype: DType) -> Lanes:
        """A sum as the element that is stored."""
        t = self.text
        to = Lanes("", dtype.memory, value.count).type
        if dtype.kind == "b":
            zero = "zeroinitializer" if value.count > 1 else "0"
            true = t.let(f"icmp ne {value}, {zero}", "i1", value.count)
            return t.let(f"zext {true} to {to}", dtype.memory, value.count)
        if dtype.wide:
            return encoded(t, rounded(t, value, dtype), dtype)
        if value.lane == dtype.memory:
            return value
        return t.let(f"trunc {value} to {to}", dtype.memory, value.count)

    # text

    def at(self, lane: str, base: str, offset: str) -> str:
        """The address of an element."""
        return base if offset == "0" else self.text.let(f"getelementptr {lane}, ptr {base}, i64 {offset}", "ptr").name

    def load(self, at: str, lane: str) -> str:
        return self.text.let(f"load {lane}, ptr {at}", lane).name

    def vector(self, base: str, offset: int) -> Lanes:
        """A register of sums or of a panel."""
        lane, align = self.inner.lane, self.inner.itemsize
        held = Lanes("", lane, self.lanes).type
        return self.text.let(f"load {held}, ptr {self.at(lane, base, str(offset))}, align {align}", lane, self.lanes)

    def splat(self, name: str, lane: str = "") -> Lanes:
        """One element in every lane."""
        t, lane, n = self.text, lane or self.inner.lane, self.lanes
        one = t.let(f"insertelement <{n} x {lane}> poison, {lane} {name}, i64 0", lane, n)
        return t.let(f"shufflevector {one}, <{n} x {lane}> poison, <{n} x i32> zeroinitializer", lane, n)

    def rounded(self, n: str, step: int) -> str:
        """The next multiple of `step`."""
        t = self.text
        return t.index("mul", t.let(f"udiv i64 {t.index('add', n, step - 1)}, {step}", "i64").name, step)

    def greater(self, a: str, b: str) -> str:
        return self.text.call("@llvm.smax.i64", "i64", 1, Lanes(a, "i64"), Lanes(b, "i64")).name
