"""Narrow floats as LLVM instructions: from memory to a register, to memory, and rounded to the nearest in between.

In a register a narrow float is a float of 32 bits that is one of its numbers. Sums, products, quotients and square roots are so
rounded as if at once: 24 bits are at least twice the narrow type's and two more (Figueroa, When is double rounding innocuous?).
"""

from __future__ import annotations

from ..dtypes import DType
from .llvm_text import Lanes, Text


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


def rounded(t: Text, value: Lanes, dtype: DType, own: bool = False) -> Lanes:
    """The number of the type nearest to a float, of two the even one. `own`: the float is an operation's on numbers of the type, so
    that a NaN has zeros where bits are cut off, and stays one.
    """
    if dtype.rounding == "half":
        return _float(t, _as(t, "fptrunc", value, "half"))
    # by integers: the processor's own conversion (AVX512_BF16) takes subnormal numbers to 0
    n = value.count
    bits = _as(t, "bitcast", value, "i32")
    odd = t.let(f"and {t.let(f'lshr {bits}, {_all(value, 16)}', 'i32', n)}, {_all(value, 1)}", "i32", n)
    up = t.let(f"add {t.let(f'add {bits}, {_all(value, 0x7FFF)}', 'i32', n)}, {odd.name}", "i32", n)
    if not own:
        nan = t.let(f"fcmp uno {value}, {value.name}", "i1", n)
        up = t.let(f"select {nan}, {Lanes(_all(value, 0x7FC00000), 'i32', n)}, {up}", "i32", n)
    return _as(t, "bitcast", t.let(f"and {up}, {_all(value, -0x10000)}", "i32", n), "float")


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
