"""Loads and stores of some of a register's lanes where a processor has no such instructions for elements of that size.

LLVM asks for each lane there. What is left of a row are the first lanes, nearly always, and these are two parts of a power of two each that may
overlap: nothing is read, or written, that is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NAME = re.compile(r"@llvm\.masked\.(load|store)\.v(\d+)(f16|bf16|i16)\.p0")
_LANES = {"f16": "half", "bf16": "bfloat", "i16": "i16"}
SIZE = 2  # bytes of such an element


def first_of(mask: str) -> int | None:
    """How many lanes a mask has, where they are known and the first ones."""
    if not mask.startswith("<"):
        return None
    lanes = ["true" in lane for lane in mask.split(",")]
    return sum(lanes) if lanes == sorted(lanes, reverse=True) else None


def own(function: str) -> str:
    """What is called in place of an intrinsic, or that."""
    return f"@{function[6:]}" if _NAME.fullmatch(function) else function


def definition(function: str) -> str:
    """The function in place of an intrinsic, which it calls where other lanes than the first ones are asked for; nothing for others."""
    found = _NAME.fullmatch(function)
    if found is None:
        return ""
    what, count, kind = found[1], int(found[2]), f"<{found[2]} x {_LANES[found[3]]}>"
    loads = what == "load"
    given = f"ptr %p, i32 %align, <{count} x i1> %mask, {kind} %nothing"
    given = given if loads else f"{kind} %x, ptr %p, i32 %align, <{count} x i1> %mask"
    passed = given.replace("i32 %align", f"i32 {SIZE}")
    lines = [
        f"define internal {kind if loads else 'void'} {own(function)}({given}) {{",
        f"  %bits = bitcast <{count} x i1> %mask to i{count}",
        f"  %next = add i{count} %bits, 1",
        f"  %others = and i{count} %bits, %next",
        f"  %first = icmp eq i{count} %others, 0",
        f"  %many = call i{count} @llvm.ctpop.i{count}(i{count} %bits)",
        f"  %n = {'zext' if count < 64 else 'bitcast'} i{count} %many to i64",
        "  br i1 %first, label %some, label %any",
        "any:",
        f"  {'%all = ' if loads else ''}call {kind if loads else 'void'} {function}({passed})",
        f"  ret {kind + ' %all' if loads else 'void'}",
        "some:",
        *(_loads(count, kind) if loads else _stores(count, kind)),
        "}",
    ]
    return "\n".join(lines)


def in_place(functions: str, declared: Iterable[str]) -> tuple[str, list[str]]:
    """The text of functions without such intrinsics among those that are `declared`, and what it calls instead."""
    made, counts = list[str](), set[str]()
    for name in declared:
        if found := _NAME.fullmatch(name):
            asked = rf"{re.escape(name)}(\([^\n]*<{found[2]} x i1> %)"  # of lanes that are known the compiler makes no question
            functions = re.sub(asked, rf"{own(name)}\1", functions)
            made.append(definition(name))
            counts.add(f"declare i{found[2]} @llvm.ctpop.i{found[2]}(i{found[2]})")
    return functions, [*sorted(counts), *made]


def _steps(count: int) -> Iterator[tuple[int, int, int]]:
    """The numbers of lanes of a part, its bits, and the bits of half of it, down to two lanes."""
    while count > 1:
        yield count, count * SIZE * 8, count * SIZE * 4
        count //= 2


def _loads(count: int, kind: str) -> Iterator[str]:
    last, back = f"i{count * SIZE * 8}", ""

    def done(value: str) -> Iterator[str]:
        yield f"  %as{value[1:]} = bitcast {last} {value} to {kind}"
        yield f"  %to{value[1:]} = select <{count} x i1> %mask, {kind} %as{value[1:]}, {kind} %nothing"
        yield f"  ret {kind} %to{value[1:]}"

    def widened(value: str, bits: int) -> Iterator[str]:
        whole = bits == count * SIZE * 8
        yield f"  {value} = {'bitcast' if whole else 'zext'} i{bits} {value}.own to {last}"
        yield from done(value)

    for lanes, bits, half in _steps(count):
        if not back:
            yield f"  %all{lanes} = icmp eq i64 %n, {lanes}"
            yield f"  br i1 %all{lanes}, label %whole{lanes}, label %less{lanes}"
            yield f"whole{lanes}:"
            yield f"  %w{lanes}.own = load i{bits}, ptr %p, align {SIZE}"
            yield from widened(f"%w{lanes}", bits)
            yield f"less{lanes}:"
        back = str(lanes)
        yield f"  %two{lanes} = icmp uge i64 %n, {lanes // 2}"
        yield f"  br i1 %two{lanes}, label %both{lanes}, label %few{lanes}"
        yield f"both{lanes}:"
        yield f"  %l{lanes} = load i{half}, ptr %p, align {SIZE}"
        yield f"  %at{lanes} = sub i64 %n, {lanes // 2}"
        yield f"  %q{lanes} = getelementptr i{SIZE * 8}, ptr %p, i64 %at{lanes}"
        yield f"  %r{lanes} = load i{half}, ptr %q{lanes}, align {SIZE}"
        yield f"  %lw{lanes} = zext i{half} %l{lanes} to i{bits}"
        yield f"  %rw{lanes} = zext i{half} %r{lanes} to i{bits}"
        yield f"  %by{lanes} = mul i64 %at{lanes}, {SIZE * 8}"
        yield f"  %by{lanes}.own = {_resized('i64', f'i{bits}')} i64 %by{lanes} to i{bits}"
        yield f"  %rs{lanes} = shl i{bits} %rw{lanes}, %by{lanes}.own"
        yield f"  %b{lanes}.own = or i{bits} %lw{lanes}, %rs{lanes}"
        yield from widened(f"%b{lanes}", bits)
        yield f"few{lanes}:"
    yield f"  ret {kind} %nothing"


def _stores(count: int, kind: str) -> Iterator[str]:
    yield f"  %x{count} = bitcast {kind} %x to i{count * SIZE * 8}"
    yield f"  %all = icmp eq i64 %n, {count}"
    yield "  br i1 %all, label %whole, label %less"
    yield "whole:"
    yield f"  store i{count * SIZE * 8} %x{count}, ptr %p, align {SIZE}"
    yield "  ret void"
    yield "less:"
    for lanes, bits, half in _steps(count):
        yield f"  %two{lanes} = icmp uge i64 %n, {lanes // 2}"
        yield f"  br i1 %two{lanes}, label %both{lanes}, label %few{lanes}"
        yield f"both{lanes}:"
        yield f"  %l{lanes} = trunc i{bits} %x{lanes} to i{half}"
        yield f"  store i{half} %l{lanes}, ptr %p, align {SIZE}"
        yield f"  %at{lanes} = sub i64 %n, {lanes // 2}"
        yield f"  %by{lanes} = mul i64 %at{lanes}, {SIZE * 8}"
        yield f"  %by{lanes}.own = {_resized('i64', f'i{bits}')} i64 %by{lanes} to i{bits}"
        yield f"  %rs{lanes} = lshr i{bits} %x{lanes}, %by{lanes}.own"
        yield f"  %r{lanes} = trunc i{bits} %rs{lanes} to i{half}"
        yield f"  %q{lanes} = getelementptr i{SIZE * 8}, ptr %p, i64 %at{lanes}"
        yield f"  store i{half} %r{lanes}, ptr %q{lanes}, align {SIZE}"
        yield "  ret void"
        yield f"few{lanes}:"
        if lanes > 2:
            yield f"  %x{lanes // 2} = trunc i{bits} %x{lanes} to i{half}"
    yield "  ret void"


def _resized(a: str, b: str) -> str:
    wide, new = int(a[1:]), int(b[1:])
    return "bitcast" if wide == new else "zext" if wide < new else "trunc"
