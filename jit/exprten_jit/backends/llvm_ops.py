"""Operations and conversions as LLVM instructions, in any number of lanes."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import DTYPES, DType
from ..ir import Leaf, Value
from ..machine import Machine
from ..ops import CASTS, PRIMITIVE
from ..squares import PART_BYTES
from ..unrolled import Group
from .llvm_narrow import decoded, encoded, rounded, to_odd
from .llvm_text import INDEX_TYPE, Lanes, Text, literal

# x ** n for integers by squaring; negative exponents give 0 (semantics: Numbers)
_IPOW = """
define internal {t} @ipow_{t}_{s}({t} %x, {t} %n) {{
entry:
  %negative = icmp slt {t} %n, {low}
  br i1 %negative, label %none, label %head
head:
  %b = phi {t} [ %x, %entry ], [ %b2, %body ]
  %e = phi {t} [ %n, %entry ], [ %e2, %body ]
  %r = phi {t} [ 1, %entry ], [ %r2, %body ]
  %more = icmp ne {t} %e, 0
  br i1 %more, label %body, label %done
body:
  %bit = trunc {t} %e to i1
  %rb = mul {t} %r, %b
  %r2 = select i1 %bit, {t} %rb, {t} %r
  %b2 = mul {t} %b, %b
  %e2 = lshr {t} %e, 1
  br label %head
done:
  ret {t} %r
none:
  ret {t} 0
}}
"""

# the greatest common divisor of unsigned integers
_EUCLID = """
define internal {t} @euclid_{t}_{s}({t} %x, {t} %y) {{
entry:
  br label %head
head:
  %a = phi {t} [ %x, %entry ], [ %r, %body ]
  %b = phi {t} [ %y, %entry ], [ %a, %body ]
  %done = icmp eq {t} %a, 0
  br i1 %done, label %end, label %body
body:
  %r = urem {t} %b, %a
  br label %head
end:
  ret {t} %b
}}
"""
RANGES = {"minimum": 4, "maximum": 5}  # vrange's immediate operand: which, with the sign that it has
_HELPERS = {"ipow": _IPOW, "euclid": _EUCLID}

Elements = dict[tuple[Leaf, Value], Group]


class Operations:
    """Emits operations into `text`."""

    def __init__(self, fast_math: bool) -> None:
        self.text = Text()
        self.address: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.given: set[str] = set()  # the names of a kernel's arguments
        self.groups: Elements = {}  # of an element of each
        self.apart: Elements = {}  # the same of rows that do not follow each other
        self.behind: dict[tuple[object, ...], str] = {}
        self.splats: dict[Value, Lanes] = {}
        self.flags = " contract" if fast_math else ""  # a * b + c may become one fma
        self.machine = Machine(128, frozenset())

    @property
    def registers_for_masks(self) -> bool:
        """Whether the processor has such; elsewhere a mask is a vector, and what is stored with one takes as long as ten are."""
        return self.machine.masks

    def iota(self, lane: str, count: int) -> str:
        return f"<{count} x {lane}> <{', '.join(f'{lane} {k}' for k in range(count))}>"

    def splat(self, value: Lanes, count: int) -> Lanes:
        if count == 1:
            return value
        if not value.name.startswith("%"):
            return Lanes(f"splat ({value})", value.lane, count)
        t = self.text
        one = t.let(f"insertelement <{count} x {value.lane}> poison, {value}, i32 0", value.lane, count)
        return t.let(f"shufflevector {one}, {one.type} poison, <{count} x i32> zeroinitializer", value.lane, count)

    def widened(self, value: Lanes, count: int) -> Lanes:
        """The same in every lane, where it is one value."""
        return value if value.count == count else self.splat(value, count)

    def _op(self, name: str, operand: DType, args: list[Lanes], dtype: DType) -> Lanes:
        column, count = PRIMITIVE[name].llvm[operand.kind], args[0].count
        if name in RANGES and self.machine.ranges and (many := registers(args[0])):
            each = zip(*(self._parted(x, many) for x in args), strict=True)
            return self._joined([self._extreme(name, *pair) for pair in each])
        if column.startswith("@"):
            made = self.text.call(self._intrinsic(column, args[-1]), dtype.lane, count, *args)
            return self.rounded(made, dtype, own=True) if PRIMITIVE[name].rounds else made
        if column == "%scale":
            return self._scale(args)
        if column.startswith("%"):
            return self._by_lane(column[1:], operand, args, dtype)
        if column == "select":
            return self.text.let(f"select {', '.join(map(str, args))}", dtype.lane, count)
        flags = self.flags if column in ("fadd", "fsub", "fmul") else ""
        rest = "".join(f", {a.name}" for a in args[1:])
        made = self.text.let(f"{column.removeprefix('strict ')}{flags} {args[0]}{rest}", dtype.lane, count)
        return self.rounded(made, dtype, own=True) if PRIMITIVE[name].rounds else made

    def rounded(self, value: Lanes, dtype: DType, own: bool = False) -> Lanes:
        """What was computed as a number of `dtype`; `own`: from such numbers."""
        return rounded(self.text, value, dtype, own, self.machine.dots) if dtype.wide else value

    def _intrinsic(self, stem: str, *types: Lanes) -> str:
        suffix = {d.lane: d.suffix for d in DTYPES.values()}
        return ".".join([stem, *(("" if t.count == 1 else f"v{t.count}") + suffix[t.lane] for t in types)])

    def _scale(self, args: list[Lanes]) -> Lanes:
        """AVX-512's vscalef."""
        return self._avx512("scalef", args)

    def _extreme(self, name: str, a: Lanes, b: Lanes) -> Lanes:
        """AVX-512's vrange, which tells zeros by their signs, and takes the number beside a NaN: that is their sum instead."""
        t = self.text
        some = self._avx512("range", [a, b], RANGES[name])
        both = t.let(f"fadd {a}, {b.name}", a.lane, a.count)
        return t.let(f"select {t.let(f'fcmp uno {a}, {b.name}', 'i1', a.count)}, {both}, {some}", a.lane, a.count)

    def _avx512(self, name: str, args: list[Lanes], *how: int) -> Lanes:
        """An instruction that rounds, of registers; `how` is an operand of its own."""
        t, x = self.text, args[0]
        kind, bits = ("s", 32) if x.lane == "float" else ("d", 64)
        function = f"@llvm.x86.avx512.mask.{name}.p{kind}.{bits * x.count}"
        mask, rounding = f"i{max(8, x.count)}", ["i32"] if bits * x.count == 512 else []
        t.declare(function, x.type, *(x.type,) * 2, *("i32" for _ in how), x.type, mask, *rounding)
        given = [*map(str, args), *(f"i32 {n}" for n in how), str(x), f"{mask} -1", *(f"{r} 4" for r in rounding)]
        return t.let(f"call {x.type} {function}({', '.join(given)})", x.lane, x.count)

    def _by_lane(self, helper: str, operand: DType, args: list[Lanes], dtype: DType) -> Lanes:
        function = f"@{helper}_{operand.lane}_{operand.kind}"
        low = -(1 << (operand.bits - 1)) if operand.kind == "u" else 0  # nothing unsigned is negative
        self.helpers[function] = _HELPERS[helper].format(t=operand.lane, s=operand.kind, low=low)
        count = args[0].count
        result = Lanes("poison", dtype.lane, count)
        for k in range(count):
            lanes = [self._extract(a, k) for a in args]
            one = self.text.let(f"call {dtype.lane} {function}({', '.join(map(str, lanes))})", dtype.lane)
            result = self._insert(result, one, k)
        return result

    def _extract(self, value: Lanes, k: int) -> Lanes:
        return value if value.count == 1 else self.text.let(f"extractelement {value}, i32 {k}", value.lane)

    def _insert(self, value: Lanes, one: Lanes, k: int) -> Lanes:
        return (
            one
            if value.count == 1
            else self.text.let(f"insertelement {value}, {one}, i32 {k}", value.lane, value.count)
        )

    def _floor_divide(self, a: Lanes, b: Lanes) -> Lanes:
        """Rounded down, for a divisor above 0: LLVM truncates."""
        t = self.text
        q = t.let(f"sdiv {a}, {b.name}", INDEX_TYPE)
        r = t.let(f"sub {a}, {t.let(f'mul {q}, {b.name}', INDEX_TYPE).name}", INDEX_TYPE)
        below = t.let(f"ashr {r}, 63", INDEX_TYPE)  # -1 where the remainder is negative
        return t.let(f"add {q}, {below.name}", INDEX_TYPE)

    def cast(self, value: Lanes, source: DType, target: DType) -> Lanes:
        if source is target:
            return value
        how, to = CASTS[source.kind, target.kind], Lanes("", target.lane, value.count).type
        if how.startswith("@"):
            suffix = Lanes("", target.lane, value.count)
            return self.text.call(self._intrinsic(how, suffix, value), target.lane, value.count, value)
        if target.kind == "b":
            zero = self.splat(Lanes(literal(0, source), source.lane), value.count)
            return self.text.let(f"{how} {value}, {zero.name}", target.lane, value.count)
        if how.startswith("resize"):
            wide, new = source.computed.bits, target.computed.bits
            if wide != new:
                if source.kind == "f" and target.rounding == "half":
                    value = to_odd(self.text, value)  # to a float now, and to the type below: rounded once
                narrow = "fptrunc" if source.kind == "f" else "trunc"
                value = self.text.let(
                    f"{how.split()[1] if wide < new else narrow} {value} to {to}", target.lane, value.count
                )
            return self.rounded(value, target) if source.kind == "f" else value
        return self.rounded(self.text.let(f"{how} {value} to {to}", target.lane, value.count), target)

    def in_register(self, value: Lanes, dtype: DType) -> Lanes:
        """What was loaded, as it lies in a register: any byte but 0 is true."""
        if dtype.memory == dtype.lane:
            return value
        if dtype.wide:
            return decoded(self.text, value, dtype)
        zero = self.splat(Lanes("0", value.lane), value.count)
        return self.text.let(f"icmp ne {value}, {zero.name}", dtype.lane, value.count)

    def in_memory(self, value: Lanes, dtype: DType) -> Lanes:
        """A value as it lies in memory: a bool is a byte there, for an array of bits has no addresses."""
        if dtype.memory == dtype.lane:
            return value
        if dtype.wide:
            return encoded(self.text, value, dtype)
        to = Lanes("", dtype.memory, value.count)
        return self.text.let(f"zext {value} to {to.type}", to.lane, value.count)

    def _shuffled(self, a: Lanes, b: Lanes, order: Sequence[int]) -> Lanes:
        mask = ", ".join(f"i32 {k}" for k in order)
        return self.text.let(f"shufflevector {a}, {b}, <{len(order)} x i32> <{mask}>", a.lane, len(order))

    def _woven(self, a: Lanes, b: Lanes, group: int, size: int, half: int) -> Lanes:
        """Of every `group` elements one half, `size` of `a` and `size` of `b` in turn."""
        starts = range(0, a.count, group)
        units = [at + u for at in starts for u in range(half * group // 2, (half + 1) * group // 2, size)]
        return self._shuffled(a, b, [x + n for u in units for x in (u, a.count + u) for n in range(size)])

    def _turned(self, rows: Sequence[Lanes], group: int, unit: int = 1) -> list[Lanes]:
        """Column j holds element j of all rows, in their order; elements of `unit` lanes."""
        parts, size = [self._joined(rows[c::group]) for c in range(group)], 1
        while size < group:
            pairs = [(parts[k], parts[k + size]) for k in range(group) if not k & size]
            parts = [self._woven(a, b, group * unit, size * unit, half) for a, b in pairs for half in (0, 1)]
            size *= 2
        return parts

    def _square(self, rows: list[Lanes], size: int, each: int = 1) -> list[Lanes]:
        """As many vectors as they have elements, of `each` lanes of `size` bytes, turned round: element k of vector n becomes element n of vector
        k. First within the parts of 16 bytes, where that is cheap, then whole parts. Vectors of several squares, a part of 16 bytes of
        each, have all of them turned.
        """
        width = len(rows)
        part = min(width, PART_BYTES // (size * each))
        found = {(n, 0): row for n, row in enumerate(rows)}  # the first row, and the first column in each part
        many = 1
        while many < part:
            columns, pairs = part // many, [at for at in found if not at[0] & many]
            found = {
                (r, c + half * columns // 2): self._woven(
                    found[r, c], found[r + many, c], part * each, many * each, half
                )
                for r, c in pairs
                for half in (0, 1)
            }
            many *= 2
        step = 0
        while many < width:
            pairs = [at for at in found if not at[0] & many]
            found = {
                (r, c + (half * part << step)): self._parts_in_turn(found[r, c], found[r + many, c], part * each, half)
                for r, c in pairs
                for half in (0, 1)
            }
            many, step = 2 * many, step + 1
        return [found[0, c] for c in range(width)]

    def _parts_in_turn(self, a: Lanes, b: Lanes, part: int, half: int) -> Lanes:
        """Every other part of `a`, from part `half` on, and then of `b`."""
        starts = range(half * part, 2 * a.count, 2 * part)
        return self._shuffled(a, b, [at + n for at in starts for n in range(part)])

    def _halves(self, a: Lanes, b: Lanes, size: int, half: int) -> Lanes:
        """One half of every `size` elements, first of all of `a`, then of all of `b`."""
        mine = [at + n for at in range(0, a.count, size) for n in range(half * size // 2, (half + 1) * size // 2)]
        return self._shuffled(a, b, [*mine, *(a.count + n for n in mine)])

    def _parted(self, x: Lanes, many: int) -> list[Lanes]:
        """So many vectors of its lanes in their order."""
        size = x.count // many
        return [self._shuffled(x, x, range(k, k + size)) for k in range(0, x.count, size)] if many > 1 else [x]

    def _joined(self, parts: Sequence[Lanes]) -> Lanes:
        """Short vectors as one, in their order."""
        found = list(parts)
        while len(found) > 1:
            found = [
                self._shuffled(a, b, range(a.count + b.count)) for a, b in zip(found[::2], found[1::2], strict=True)
            ]
        return found[0]


def registers(x: Lanes) -> int:
    """How many registers of AVX-512 lanes of float or double fill, or the first part of one; else 0."""
    bits = x.count * {"float": 32, "double": 64}.get(x.lane, 0)
    return bits // 512 if bits % 512 == 0 else int(bits in (128, 256))


def memory_suffix(dtype: DType) -> str:
    """Of an intrinsic over elements as they lie in memory."""
    return dtype.suffix if dtype.memory == dtype.lane else dtype.memory
