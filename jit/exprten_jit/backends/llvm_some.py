"""Some lanes of a register, from memory and to it."""

from __future__ import annotations

from ..dtypes import DType
from .llvm_masked import MOST, first_of
from .llvm_ops import memory_suffix
from .llvm_quotients import Quotients
from .llvm_text import Lanes

EASY = (1, 2, 4)  # lanes that one load fills, with zeros behind them


class Some(Quotients):
    """Emits loads with a mask, and parts of registers where a processor has none and the lanes are known."""

    def _masked_load(self, pointer: str, dtype: DType, mask: Lanes, nothing: str = "zeroinitializer") -> Lanes:
        """What lies in memory, `nothing` where the mask is false."""
        halves = mask.count & (mask.count - 1) == 0
        some = first_of(mask.name) if halves else None
        if some is not None and (self.without_masks(dtype) or (self.machine.small and some in EASY)):
            found = self._first_lanes(pointer, dtype, mask.count, some)
            if nothing == "zeroinitializer":
                return found
            return self.text.let(f"select {mask}, {found}, {found.type} {nothing}", found.lane, found.count)
        function, kind = f"@llvm.masked.load.v{mask.count}{memory_suffix(dtype)}.p0", f"<{mask.count} x {dtype.memory}>"
        self.text.declare(function, kind, "ptr", "i32 immarg", mask.type, kind)
        call = f"call {kind} {function}(ptr {pointer}, i32 {dtype.itemsize}, {mask}, {kind} {nothing})"
        return self.text.let(call, dtype.memory, mask.count)

    def without_masks(self, dtype: DType) -> bool:
        """Whether a processor has no loads and stores of some lanes of such elements."""
        return dtype.itemsize <= MOST and not self.registers_for_masks

    def _first_lanes(self, pointer: str, dtype: DType, count: int, some: int) -> Lanes:
        """So many elements in the first lanes, zeros in the others: in parts whose lengths are powers of two."""
        t, lane, half = self.text, dtype.memory, count // 2
        if some == 0:
            return Lanes("zeroinitializer", lane, count)
        if some == count:
            return t.let(f"load <{count} x {lane}>, ptr {pointer}, align {dtype.itemsize}", lane, count)
        if count == 2:
            one = t.let(f"load {lane}, ptr {pointer}, align {dtype.itemsize}", lane)
            return t.let(f"insertelement <2 x {lane}> zeroinitializer, {one}, i32 0", lane, 2)
        low = self._first_lanes(pointer, dtype, half, min(some, half))
        high = self._first_lanes(t.further(pointer, lane, str(half)), dtype, half, max(some - half, 0))
        return self._joined([low, high])

    def put_first(self, value: Lanes, address: str, dtype: DType, some: int) -> None:
        """Store as many of the first lanes, in such parts."""
        at, size = 0, value.count
        while some:
            if some >= size:
                place = self.text.further(address, dtype.memory, str(at))
                part = self._some_of(value, at, size)
                self.text.put(f"store {part}, ptr {place}, align {dtype.itemsize}")
                at, some = at + size, some - size
            size //= 2

    def _some_of(self, value: Lanes, first: int, count: int) -> Lanes:
        """So many lanes from the first one on."""
        if count == 1:
            return self.text.let(f"extractelement {value}, i32 {first}", value.lane)
        return self._shuffled(value, value, range(first, first + count))
