"""Entries of small tables, looked up in registers where the machine has an instruction for it, and in memory elsewhere."""

from __future__ import annotations

from ..ir import Table
from .llvm_text import Lanes, Text, literal

REGISTER = 512  # bits: narrower vectors are a part of one


def looked_up(text: Text, index: Lanes, table: Table) -> Lanes:
    """The entries at an index, by AVX-512's permutations of one register or two; of a longer table they are chosen among."""
    dtype, count = table.dtype, index.count
    width = REGISTER // dtype.bits
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
