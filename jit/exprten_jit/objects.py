"""Where Python's numbers and lists keep what they hold: read as memory where probes find it as expected, asked for otherwise.

A call of the C API takes 1 to 2 ns; a call of a kernel made 8 of them, a row of a list 4.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from .backends.llvm_text import Text
from .methods import HEADER

DIGIT = 30  # bits of an int's digit
MASK = (1 << DIGIT) - 1


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _two_digits(probes: Sequence[int]) -> int | None:
    """The word that tells an int of two digits, which follow it; None where an int is made otherwise."""
    tags = {_word(id(x) + HEADER) for x in probes}
    found = [_word(id(x) + HEADER + 8) for x in probes]
    as_expected = all((w & MASK) | (w >> 32 << DIGIT) == x for w, x in zip(found, probes, strict=True))
    others = {_word(id(x) + HEADER) for x in (0, 1, MASK, -probes[0], -1, 1 << 60, -(1 << 60))}
    return tags.pop() if as_expected and len(tags) == 1 and not tags & others else None


def _items_of_a_tuple(probe: tuple[object, ...]) -> int | None:
    """The offset of the first item."""
    offsets = range(HEADER + 8, probe.__sizeof__() - 8 * len(probe) + 1, 8)
    return next(
        (o for o in offsets if [_word(id(probe) + o + 8 * k) for k in range(len(probe))] == [*map(id, probe)]), None
    )


def _items_of_a_list(probe: list[object]) -> int | None:
    """The offset of the pointer to the first item, the first word behind the size."""
    if _word(id(probe) + HEADER) != len(probe):
        return None
    items = _word(id(probe) + HEADER + 8)
    return HEADER + 8 if items and _word(items) == id(probe[0]) else None


TWO_DIGITS = _two_digits((1 << DIGIT, (1 << 60) - 1, 0x7F12_3456_7890, 0x5566_7788_9AB0))
FLOAT = HEADER if all(ctypes.c_double.from_address(id(x) + HEADER).value == x for x in (1.5, -2.25e300)) else None
TUPLE = _items_of_a_tuple((object(), object()))
LIST = _items_of_a_list([object(), object()])


def _at(t: Text, base: str, offset: int) -> str:
    return t.let(f"getelementptr i8, ptr {base}, i64 {offset}", "ptr").name


def _load(t: Text, kind: str, base: str, offset: int) -> str:
    return t.let(f"load {kind}, ptr {_at(t, base, offset)}", kind).name


def integer(t: Text, obj: str) -> str:
    """An int that fits 64 bits; addresses have two digits."""

    def asked() -> str:
        return t.let(f"call i64 @PyLong_AsSsize_t(ptr {obj})", "i64").name

    if TWO_DIGITS is None:
        return asked()
    place = t.reserve("i64")

    def read() -> None:
        word = _load(t, "i64", obj, HEADER + 8)
        upper = t.index("shl", t.index("lshr", word, 32), DIGIT)
        t.put(f"store i64 {t.index('add', upper, t.index('and', word, MASK))}, ptr {place}")

    two = t.let(f"icmp eq i64 {_load(t, 'i64', obj, HEADER)}, {TWO_DIGITS}", "i1").name
    t.either(two, read, lambda: t.put(f"store i64 {asked()}, ptr {place}"))
    return t.let(f"load i64, ptr {place}", "i64").name


def double(t: Text, obj: str, kind: type) -> str:
    """A number of class `kind` and of no class derived from it."""
    if kind is float and FLOAT is not None:
        return _load(t, "double", obj, FLOAT)
    return t.let(f"call double @PyFloat_AsDouble(ptr {obj})", "double").name


def items(t: Text, is_list: str, given: str) -> str | None:
    """The address of the items of a list, or else of a tuple, as long as nobody changes it; None where that is not known."""
    if LIST is None or TUPLE is None:
        return None
    place = t.reserve("ptr")
    t.either(
        is_list,
        lambda: t.put(f"store ptr {_load(t, 'ptr', given, LIST)}, ptr {place}"),
        lambda: t.put(f"store ptr {_at(t, given, TUPLE)}, ptr {place}"),
    )
    return t.let(f"load ptr, ptr {place}", "ptr").name


def item(t: Text, items: str, i: str) -> str:
    """One of the items."""
    return t.let(f"load ptr, ptr {t.let(f'getelementptr ptr, ptr {items}, i64 {i}', 'ptr').name}", "ptr").name
