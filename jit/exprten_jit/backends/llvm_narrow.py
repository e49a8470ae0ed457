"""Narrow floats as LLVM instructions: from memory to a register, to memory, and rounded to the nearest in between.

In a register a narrow float is a float of 32 bits that is one of its numbers. Sums, products, quotients and square roots are so
rounded as if at once: 24 bits are at least twice the narrow type's and two more (Figueroa, When is double rounding innocuous?).
"""

from __future__ import annotations

from ..dtypes import DType
from .llvm_text import Lanes, Text

UPPER = -0x10000  # the upper half of an i32


def decoded(t: Text, value: Lanes, dtype: DType) -> Lanes:
    """What lies in memory, as a float."""
    if dtype.rounding == "half":
        return _float(t, _as(t, "bitcast", value, "half"))
    upper = t.let(f"shl {_as(t, 'zext', value, 'i32')}, {_all(value, 16)}", "i32", value.count)
    return _as(t, "bitcast", upper, "float")


def encoded(t: Text, value: Lanes, dtype: DType) -> Lanes:
    """A float that is a number of the type, as it lies in memory."""
    if dtype.rounding == "half":
        return _as(t, "bitcast", _as(t, "fptrunc", value, "half"), "i16")
    upper = t.let(f"lshr {_as(t, 'bitcast', value, 'i32')}, {_all(value, 16)}", "i32", value.count)
    return _as(t, "trunc", upper, "i16")


def even_and_odd(t: Text, value: Lanes) -> list[Lanes]:
    """Of upper halves that lie in memory, every other one and those in between, as floats; a value's lane is two of them."""
    lower = t.let(f"shl {value}, {_all(value, 16)}", "i32", value.count)
    upper = t.let(f"and {value}, {_all(value, UPPER)}", "i32", value.count)
    return [_as(t, "bitcast", half, "float") for half in (lower, upper)]


def side_by_side(t: Text, lower: Lanes, upper: Lanes) -> Lanes:
    """Two vectors as they were before `even_and_odd`."""
    low, high = (_as(t, "bitcast", half, "i32") for half in (lower, upper))
    down = t.let(f"lshr {low}, {_all(low, 16)}", "i32", low.count)
    return t.let(f"or {down}, {high.name}", "i32", low.count)


def rounded(t: Text, value: Lanes, dtype: DType, own: bool = False, dots: bool = False) -> Lanes:
    """The number of the type nearest to a float, of two the even one. `own`: the float is an operation's on numbers of the type, so
    that a NaN has zeros where bits are cut off, and stays one. `dots` as a Machine's.
    """
    if dtype.rounding == "half":
        if value.count == 1:  # or LLVM takes a copysign through, and calls for its sign a __truncdfhf2 that is nowhere
            value = t.call("@llvm.arithmetic.fence.f32", "float", 1, value)
        return _float(t, _as(t, "fptrunc", value, "half"))
    # by integers: the processor's own conversion (AVX512_BF16) takes subnormal numbers to 0
    n = value.count
    bits = _as(t, "bitcast", value, "i32")
    up = _dot(t, bits) if dots and n * 32 in (128, 256, 512) else _up(t, bits)
    if not own:
        nan = t.let(f"fcmp uno {value}, {value.name}", "i1", n)
        up = t.let(f"select {nan}, {Lanes(_all(value, 0x7FC00000), 'i32', n)}, {up}", "i32", n)
    return _as(t, "bitcast", t.let(f"and {up}, {_all(value, UPPER)}", "i32", n), "float")


def _up(t: Text, bits: Lanes) -> Lanes:
    """0x7fff more, and one more where the bit above is set: what then stands in the upper half is rounded."""
    n = bits.count
    odd = t.let(f"and {t.let(f'lshr {bits}, {_all(bits, 16)}', 'i32', n)}, {_all(bits, 1)}", "i32", n)
    return t.let(f"add {t.let(f'add {bits}, {_all(bits, 0x7FFF)}', 'i32', n)}, {odd.name}", "i32", n)


def _dot(t: Text, bits: Lanes) -> Lanes:
    """The same as a dot product with (1, 1): one instruction, and one (vpternlog) that makes its other operand."""
    n = bits.count
    added = t.let(f"or {t.let(f'and {bits}, {_all(bits, 0x10000)}', 'i32', n)}, {_all(bits, 0x7FFF)}", "i32", n)
    ones = Lanes(_all(bits, 0x10001), "i32", n)
    return t.call(f"@llvm.x86.avx512.vpdpwssd.{32 * n}", "i32", n, bits, added, ones)


def to_odd(t: Text, value: Lanes) -> Lanes:
    """A double that `fptrunc` takes to a float without rounding, and from which a narrower type rounds as from the number itself:
    what is cut off leaves the last bit set. (Boldo and Melquiond, Emulation of FMA and correctly rounded sums)
    """
    n = value.count
    bits = _as(t, "bitcast", value, "i64")
    low = t.let(f"and {bits}, {_all(value, (1 << 29) - 1)}", "i64", n)
    some = t.let(f"add {low}, {_all(value, (1 << 29) - 1)}", "i64", n)  # its bit 29: whether anything is cut off
    both = t.let(f"or {bits}, {some.name}", "i64", n)
    return _as(t, "bitcast", t.let(f"and {both}, {_all(value, -(1 << 29))}", "i64", n), "double")


def _as(t: Text, how: str, value: Lanes, lane: str) -> Lanes:
    return t.let(f"{how} {value} to {Lanes('', lane, value.count).type}", lane, value.count)


def _float(t: Text, value: Lanes) -> Lanes:
    return _as(t, "fpext", value, "float")


def _all(like: Lanes, number: int) -> str:
    """A number in as many lanes; an integer of the width of a float's or a double's."""
    lane = "i64" if like.lane in ("double", "i64") else "i32"
    return str(number) if like.count == 1 else f"splat ({lane} {number})"
