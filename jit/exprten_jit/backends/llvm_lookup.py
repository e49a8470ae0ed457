"""Entries of small tables, looked up in registers where the machine has an instruction for it, and in memory elsewhere."""

from __future__ import annotations

from ..ir import Table
from .llvm_text import Lanes, Text, literal

REGISTER = 512  # bits: narrower vectors are a part of one
EIGHT = 8  # lanes of float32 in one of AVX2's registers


def looked_up(text: Text, index: Lanes, table: Table) -> Lanes:
    """The entries at an index, by AVX-512's permutations of one register or two; of a longer table they are chosen among."""
    dtype, count = table.dtype, index.count
    width = REGISTER // dtype.bits
    if is_permuted(index, table):  # half as many bits take half the time
        return permuted(text, index, table)
    found = []
    for first in range(0, count, width):
        part = _lanes(text, index, range(first, first + width))
        found.append(
            _among(text, part, [Lanes(_vector(table, k, width), dtype.lane, width) for k in _starts(table, width)])
        )
    while len(found) > 1:
        found = [_joined(text, a, b) for a, b in zip(found[::2], found[1::2], strict=True)]
    return found[0] if found[0].count == count else _lanes(text, found[0], range(count))


def _starts(table: Table, width: int) -> range:
    return range(0, max(len(table.values), width), width)


def _vector(table: Table, first: int, width: int) -> str:
    """Some entries as a constant; a shorter table is repeated."""
    values = table.values
    lane = table.dtype.lane
    return (
        f"<{', '.join(f'{lane} {literal(values[k % len(values)], table.dtype)}' for k in range(first, first + width))}>"
    )


def _among(text: Text, index: Lanes, registers: list[Lanes]) -> Lanes:
    one, kind = registers[0], "ps" if registers[0].lane == "float" else "pd"
    if len(registers) == 1:
        function = f"@llvm.x86.avx512.permvar.{'sf' if kind == 'ps' else 'df'}.512"
        return text.call(function, one.lane, one.count, one, index)
    if len(registers) == 2:
        return text.call(f"@llvm.x86.avx512.vpermi2var.{kind}.512", one.lane, one.count, one, index, registers[1])
    half = len(registers) // 2
    low, high = _among(text, index, registers[:half]), _among(text, index, registers[half:])
    bit = text.let(f"and {index}, splat ({index.lane} {half * one.count})", index.lane, index.count)
    upper = text.let(f"icmp ne {bit}, zeroinitializer", "i1", index.count)
    return text.let(f"select {upper}, {high}, {low}", one.lane, one.count)


def is_permuted(index: Lanes, table: Table) -> bool:
    """Whether AVX2's permutation of 8 lanes of float32 finds the entries."""
    return table.dtype.bits == 32 and 1 < index.count <= EIGHT and len(table.values) <= 2 * EIGHT


def permuted(text: Text, index: Lanes, table: Table) -> Lanes:
    """The entries at an index, by this permutation: of more than 8 one half or the other."""
    lanes = _lanes(text, index, range(EIGHT))
    first, *second = (Lanes(_vector(table, k, EIGHT), table.dtype.lane, EIGHT) for k in _starts(table, EIGHT))
    found = _eight(text, lanes, first)
    if second:
        half = text.let(f"shl {lanes}, splat (i32 28)", lanes.lane, EIGHT)  # its sign says in which half an entry is
        found = (
            _turned(text, found, half) if _is_odd(table) else _either(text, half, _eight(text, lanes, *second), found)
        )
    return _lanes(text, found, range(index.count))


def _eight(text: Text, index: Lanes, entries: Lanes) -> Lanes:
    return text.call("@llvm.x86.avx2.permps", entries.lane, EIGHT, entries, index)


def _is_odd(table: Table) -> bool:
    """Whether the last 8 of 16 entries are the first ones with the other sign, as those of a sine are."""
    one, other = (
        [literal(x, table.dtype) for x in part] for part in ((-x for x in table.values[:EIGHT]), table.values[EIGHT:])
    )
    return one == other


def _turned(text: Text, value: Lanes, sign: Lanes) -> Lanes:
    """With the other sign where `sign` is below 0."""
    bit = text.let(f"and {sign}, splat (i32 {-(1 << 31)})", sign.lane, EIGHT)
    bits = text.let(f"bitcast {value} to {sign.type}", sign.lane, EIGHT)
    turned = text.let(f"xor {bits}, {bit.name}", sign.lane, EIGHT)
    return text.let(f"bitcast {turned} to {value.type}", value.lane, EIGHT)


def _either(text: Text, half: Lanes, second: Lanes, first: Lanes) -> Lanes:
    upper = text.let(f"icmp slt {half}, zeroinitializer", "i1", EIGHT)
    return text.let(f"select {upper}, {second}, {first}", first.lane, EIGHT)


def _lanes(text: Text, value: Lanes, wanted: range) -> Lanes:
    """Some lanes of a vector, or a register whose upper ones are anything."""
    if len(wanted) == value.count:
        return value
    order = ", ".join(f"i32 {k}" if k < value.count else "i32 poison" for k in wanted)
    return text.let(
        f"shufflevector {value}, {value.type} poison, <{len(wanted)} x i32> <{order}>", value.lane, len(wanted)
    )


def _joined(text: Text, a: Lanes, b: Lanes) -> Lanes:
    order = ", ".join(f"i32 {k}" for k in range(a.count + b.count))
    return text.let(f"shufflevector {a}, {b}, <{a.count + b.count} x i32> <{order}>", a.lane, a.count + b.count)


def loaded(text: Text, helpers: dict[str, str], index: Lanes, table: Table) -> Lanes:
    """The entries at an index, lane by lane from memory."""
    dtype, size = table.dtype, len(table.values)
    content = ", ".join(f"{dtype.lane} {literal(x, dtype)}" for x in table.values)
    type_ = f"[{size} x {dtype.lane}]"
    name = next(
        (n for n, made in helpers.items() if made.endswith(f"{type_} [{content}], align 64")), f"@table{len(helpers)}"
    )
    helpers[name] = f"{name} = internal constant {type_} [{content}], align 64"
    last = f"splat ({index.lane} {size - 1})" if index.count > 1 else str(size - 1)
    index = text.let(f"and {index}, {last}", index.lane, index.count)
    found = Lanes("poison", dtype.lane, index.count)
    for k in range(index.count):
        one = index if index.count == 1 else text.let(f"extractelement {index}, i32 {k}", index.lane)
        at = text.let(f"getelementptr inbounds {dtype.lane}, ptr {name}, {one}", "ptr")
        value = text.let(f"load {dtype.lane}, ptr {at.name}", dtype.lane)
        found = (
            value if index.count == 1 else text.let(f"insertelement {found}, {value}, i32 {k}", dtype.lane, index.count)
        )
    return found
