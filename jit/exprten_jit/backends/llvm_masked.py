"""Loads and stores of some of a register's lanes where a processor has no such instructions for elements of that size.

LLVM asks for each lane there. What is left of a row are the first lanes, nearly always, and these are two parts of a power of two each that may
overlap: nothing is read, or written, that is not asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_NAME = re.compile(r"@llvm\.masked\.(load|store)\.v(2|4|8|16|32|64)(f16|i16|i8)\.p0")
_LANES = {"f16": "half", "i16": "i16", "i8": "i8"}
MOST = 2  # bytes of such an element


def of_first(many: int, count: int) -> str:
    """The mask of so many first lanes of `count`."""
    return f"<{', '.join(f'i1 {str(k < many).lower()}' for k in range(count))}>"


def first_of(mask: str) -> int | None:
    """How many lanes a mask has, where they are known and the first ones."""
    if not mask.startswith("<"):
        return None
    lanes = ["true" in lane for lane in mask.split(",")]
    return sum(lanes) if lanes == sorted(lanes, reverse=True) else None


def _own(function: str) -> str:
    return f"@{function.removeprefix('@llvm.')}"


def definition(function: str) -> str:
    """The function in place of an intrinsic, which it calls where other lanes than the first ones are asked for."""
    found = _NAME.fullmatch(function)
    assert found is not None, f"{function} is left as it is"
    what, count, kind = found[1], int(found[2]), f"<{found[2]} x {_LANES[found[3]]}>"
    loads = what == "load"
    given = f"ptr %p, i32 %align, <{count} x i1> %mask, {kind} %nothing"
    given = given if loads else f"{kind} %x, ptr %p, i32 %align, <{count} x i1> %mask"
    size = 1 if found[3] == "i8" else MOST
    passed = given.replace("i32 %align", f"i32 {size}")
    lines = [
        f"define internal {kind if loads else 'void'} {_own(function)}({given}) {{",
        f"  %bits = bitcast <{count} x i1> %mask to i{count}",
        f"  %next = add i{count} %bits, 1",
        f"  %others = and i{count} %bits, %next",
        f"  %first = icmp eq i{count} %others, 0",
        f"  %many = call i{count} @llvm.ctpop.i{count}(i{count} %bits)",
        f"  %n = {_resized(count, 64)} i{count} %many to i64",
        "  br i1 %first, label %some, label %any",
        "any:",
        f"  {'%all = ' if loads else ''}call {kind if loads else 'void'} {function}({passed})",
        f"  ret {kind + ' %all' if loads else 'void'}",
        "some:",
        *(_loads(count, size, kind) if loads else _stores(count, size, kind)),
        "}",
    ]
    return "\n".join(lines)


def in_place(functions: str, declared: Iterable[str]) -> tuple[str, list[str]]:
    """The text of functions without such intrinsics among those that are `declared`, and what it calls instead."""
    made, counts = list[str](), set[str]()
    for name in declared:
        if found := _NAME.fullmatch(name):
            asked = rf"{re.escape(name)}(\([^\n]*<{found[2]} x i1> %)"  # of lanes that are known the compiler makes no question
            functions = re.sub(asked, rf"{_own(name)}\1", functions)
            made.append(definition(name))
            counts.add(f"declare i{found[2]} @llvm.ctpop.i{found[2]}(i{found[2]})")
    return functions, [*sorted(counts), *made]


def _steps(count: int, size: int) -> Iterator[tuple[int, int]]:
    """The numbers of lanes of a part, down to two, and the bits of half of it."""
    while count > 1:
        yield count, count * size * 4
        count //= 2


def _loads(count: int, size: int, kind: str) -> Iterator[str]:
    """A part of which more than a half is asked for is that half, and the last one as long, of which the first lanes are shifted out."""
    lane = f"i{size * 8}"  # numbers are not looked at
    bits_of = f"<{count} x {lane}>"
    yield f"  %other = bitcast {kind} %nothing to {bits_of}"
    yield f"  %whole = icmp eq i64 %n, {count}"
    yield "  br i1 %whole, label %full, label %less"
    yield "full:"
    yield f"  %every = load {kind}, ptr %p, align {size}"
    yield f"  ret {kind} %every"
    yield "less:"
    for lanes, half in _steps(count, size):
        side = lanes // 2
        yield f"  %two{lanes} = icmp uge i64 %n, {side}"
        yield f"  br i1 %two{lanes}, label %both{lanes}, label %few{lanes}"
        yield f"both{lanes}:"
        yield f"  %first{lanes} = load i{half}, ptr %p, align {size}"
        yield f"  %at{lanes} = sub i64 %n, {side}"
        yield f"  %q{lanes} = getelementptr {lane}, ptr %p, i64 %at{lanes}"
        yield f"  %last{lanes} = load i{half}, ptr %q{lanes}, align {size}"
        yield f"  %left{lanes} = sub i64 {lanes}, %n"
        yield f"  %bits{lanes} = mul i64 %left{lanes}, {size * 8}"
        yield f"  %less{lanes} = sub i64 %bits{lanes}, 1"  # a shift by all bits is none
        yield f"  %by{lanes} = {_resized(64, half)} i64 %less{lanes} to i{half}"
        yield f"  %most{lanes} = lshr i{half} %last{lanes}, %by{lanes}"
        yield f"  %rest{lanes} = lshr i{half} %most{lanes}, 1"
        yield f"  %a{lanes} = bitcast i{half} %first{lanes} to <{side} x {lane}>"
        yield f"  %b{lanes} = bitcast i{half} %rest{lanes} to <{side} x {lane}>"
        yield f"  %ab{lanes} = {_beside(f'%a{lanes}', f'%b{lanes}', side, lane, lanes)}"
        found = f"%ab{lanes}"
        if lanes < count:
            yield f"  %z{lanes} = {_beside(found, 'zeroinitializer', lanes, lane, count)}"
            found = f"%z{lanes}"
        yield f"  %to{lanes} = select <{count} x i1> %mask, {bits_of} {found}, {bits_of} %other"
        yield f"  %found{lanes} = bitcast {bits_of} %to{lanes} to {kind}"
        yield f"  ret {kind} %found{lanes}"
        yield f"few{lanes}:"
    yield f"  ret {kind} %nothing"


def _beside(a: str, b: str, many: int, lane: str, count: int) -> str:
    """Two vectors of so many lanes as one; what is behind both is the second one's first lane."""
    order = ", ".join(f"i32 {min(k, many) if k >= 2 * many else k}" for k in range(count))
    return f"shufflevector <{many} x {lane}> {a}, <{many} x {lane}> {b}, <{count} x i32> <{order}>"


def _stores(count: int, size: int, kind: str) -> Iterator[str]:
    """Parts whose lengths are powers of two, one behind the other."""
    lane, value, place = f"i{size * 8}", "%own", "%p"
    yield f"  %own = bitcast {kind} %x to <{count} x {lane}>"
    yield f"  %whole = icmp eq i64 %n, {count}"
    yield "  br i1 %whole, label %full, label %less"
    yield "full:"
    yield f"  store {kind} %x, ptr %p, align {size}"
    yield "  ret void"
    yield "less:"
    for lanes, _ in _steps(count, size):
        side = lanes // 2
        low, high = (", ".join(f"i32 {k}" for k in range(first, first + side)) for first in (0, side))
        given = f"<{lanes} x {lane}> {value}, <{lanes} x {lane}> poison"
        yield f"  %low{lanes} = shufflevector {given}, <{side} x i32> <{low}>"
        yield f"  %high{lanes} = shufflevector {given}, <{side} x i32> <{high}>"
        yield f"  %bit{lanes} = and i64 %n, {side}"
        yield f"  %there{lanes} = icmp ne i64 %bit{lanes}, 0"
        yield f"  br i1 %there{lanes}, label %part{lanes}, label %next{lanes}"
        yield f"part{lanes}:"
        yield f"  store <{side} x {lane}> %low{lanes}, ptr {place}, align {size}"
        yield f"  br label %next{lanes}"
        yield f"next{lanes}:"
        yield f"  %v{lanes} = select i1 %there{lanes}, <{side} x {lane}> %high{lanes}, <{side} x {lane}> %low{lanes}"
        yield f"  %q{lanes} = getelementptr {lane}, ptr {place}, i64 %bit{lanes}"
        value, place = f"%v{lanes}", f"%q{lanes}"
    yield "  ret void"


def _resized(wide: int, new: int) -> str:
    return "bitcast" if wide == new else "zext" if wide < new else "trunc"
