"""The values of a loop nest as LLVM instructions: operations, conversions, loads and stores.

Every value is emitted *uniform* (one lane) where it does not depend on the innermost axis, else in `count` lanes. A load is
emitted by the coefficient of the innermost axis in its offset: 1 is one wide load, -1 a wide load turned round, anything else a
load per lane from a running pointer (faster than a hardware gather), none a scalar load. A uniform guard chooses between the
address and a row of zeros, so nothing branches and nothing is read where the guard is false.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dtypes import DTYPES, INDEX, DType
from ..ir import Axis, Component, Const, Fold, Leaf, Load, Local, Op, Param, Size, Store, Value, components
from ..ops import CASTS, PRIMITIVE
from ..pairs import twins
from ..rewrite import affine, steps
from ..vmath.exp import by_factors
from .llvm_narrow import decoded, encoded, rounded, to_odd
from .llvm_text import INDEX_TYPE, Lanes, Text, literal

ZERO_ROW = 64  # bytes behind @zeros: the widest vector there is

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
_HELPERS = {"ipow": _IPOW, "euclid": _EUCLID}


@dataclass(frozen=True)
class Where:
    """The lanes being computed: `count` of them from scalar index `at` along `axis`; `mask` names those that exist."""

    axis: Axis
    at: str
    count: int
    mask: str | None = None
    stream: bool = False


Known = dict[Value, Lanes]  # values are hash-consed: kept by the table, found by identity


def _cut(root: Value, known: Known) -> list[Value]:
    """The values that `root` can be computed from: what is known, and what is no operation; but no constants."""
    stack, found = [root], dict[Value, None]()
    seen = set[Value]()
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Const):
            continue
        seen.add(node)
        if node in known or not isinstance(node, Op):
            found[node] = None
        else:
            stack.extend(node.args)
    return list(found)


def _pairs_in_row(at: Load | Store, where: Where) -> bool:
    """Whether lanes are the parts of pairs that lie side by side."""
    return at.leaf.pairs and where.count > 1 and steps(at, where.axis) in (1, -1)


class Values(ABC):
    """Emits values into `text`, all but folds; `known` is what has been emitted where the next instruction goes."""

    def __init__(self, fast_math: bool) -> None:
        self.text = Text()
        self.address: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.given: set[str] = set()  # the names of a kernel's arguments
        self.behind: dict[tuple[object, ...], str] = {}
        self.splats: Known = {}
        self.flags = " contract" if fast_math else ""  # a * b + c may become one fma
        self.scales = False  # the machine's

    def value(self, root: Value, known: Known, where: Where | None) -> Lanes:
        """Emit `root` and what it needs, all of it added to `known`."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in known:
                stack.pop()
                continue
            missing = [need for need in self._needs(node, known, where) if need not in known]
            if missing:
                stack.extend(reversed(missing))
                continue
            known[node] = self._node(node, known, where)
            stack.pop()
        return known[root]

    def _needs(self, node: Value, known: Known, where: Where | None) -> tuple[Value, ...]:
        if isinstance(node, Load) and where is not None and where.axis in node.offset.free:
            form = affine((twins(node)[0] if _pairs_in_row(node, where) else node).offset, where.axis)
            if form:
                return (*form,) if node.when is None else (*form, node.when)
        if isinstance(node, Op) and node.op == "cast" and where is not None and node.args[0] is where.axis:
            return ()  # counted in the type it is converted to
        if isinstance(node, Op) and node.op == "rarely":
            condition, rare, common = node.args
            first = (condition, common)
            return first if any(v not in known for v in first) else tuple(_cut(rare, known))
        return (node.extent,) if isinstance(node, Fold) else node.children

    @abstractmethod
    def across(self, node: Fold, known: Known, where: Where | None) -> list[Lanes]:
        """A fold for each lane: its components."""

    @abstractmethod
    def alone(self, node: Fold, known: Known) -> list[Lanes]:
        """A fold that is one value in all lanes, and that no statement has computed."""

    def settle(self, folds: Sequence[Fold], results: Sequence[Lanes], known: Known) -> None:
        """Folds are known by their components, one fold after the other."""
        left = iter(results)
        for node in folds:
            for value in components(node):
                known[value] = next(left)
            known[node] = known[components(node)[0]]

    def _node(self, node: Value, known: Known, where: Where | None) -> Lanes:
        match node:
            case Const(value, dtype):
                return Lanes(literal(value, dtype), dtype.lane)
            case Axis():
                assert where is not None and node is where.axis, f"axis {node.name} is not open"
                return self._axis(where)
            case Load():
                return self._load(node, known, where)
            case Fold():
                in_lanes = where is not None and where.axis in node.free
                found = self.across(node, known, where) if in_lanes else self.alone(node, known)
                self.settle([node], found, known)
                return found[0]
            case Component():
                raise AssertionError("a component is known when its fold is")
            case Op("cast", (Axis() as a,), dtype) if where is not None and a is where.axis and a not in known:
                if where.count == 1 or dtype.kind != "i":
                    return self.cast(self._axis(where), a.dtype, dtype)
                at = self.cast(Lanes(where.at, INDEX_TYPE), a.dtype, dtype)
                steps = self.iota(dtype.lane, where.count).split("> ", 1)[1]
                return self.text.let(f"add {self.splat(at, where.count)}, {steps}", dtype.lane, where.count)
            case Op("cast", (a,), dtype):
                return self.cast(known[a], a.dtype, dtype)
            case Op("bits", (a,), dtype):
                x = self.in_memory(known[a], a.dtype)
                held = Lanes("", dtype.memory, x.count)
                return self.in_register(self.text.let(f"bitcast {x} to {held.type}", held.lane, x.count), dtype)
            case Op("rarely"):
                return self._rarely(node, known, where)
            case Op("scale", args) if not self.scales or max(known[a].count for a in args) * node.dtype.bits < 128:
                return self.value(by_factors(*args), known, where)
            case Op(name, args, dtype):
                operands = [self._operand(a, known, where, node) for a in args]
                widest = max(x.count for x in operands)
                operands = [self.widened(x, widest) for x in operands]
                return (
                    self._floor_divide(*operands)
                    if name == "floor_divide"
                    else self._op(name, args[0].dtype, operands, dtype)
                )
            case Param() | Size() | Local():
                raise AssertionError(f"{node.name} is not bound")
        raise AssertionError(f"no such value: {type(node).__name__}")

    def _operand(self, value: Value, known: Known, where: Where | None, user: Value) -> Lanes:
        lanes = known[value]
        if where is None or where.count in (1, lanes.count) or where.axis not in user.free:
            return lanes
        return self.splats.get(value) or self.splat(lanes, where.count)

    def _rarely(self, node: Op, known: Known, where: Where | None) -> Lanes:
        """A choice whose first side is a call behind a branch, taken where any lane has the condition."""
        t = self.text
        chosen, rare, common = node.args
        condition, usual = (self._operand(v, known, where, node) for v in (chosen, common))
        some = condition.name
        if condition.count > 1:
            lanes = t.let(f"bitcast {condition} to i{condition.count}", f"i{condition.count}")
            some = t.let(f"icmp ne {lanes}, 0", "i1").name
        inside, after, before = t.label("rare"), t.label("usual"), t.block
        t.put(f"br i1 {some}, label %{inside}, label %{after}")
        t.open(inside)
        inputs = _cut(rare, known)
        call = f"{self._behind(rare, inputs, where, usual, known)}({', '.join(str(known[v]) for v in inputs)})"
        there = t.let(f"call {usual.type} {call}", usual.lane, usual.count)
        mixed = t.let(f"select {condition}, {there}, {usual}", usual.lane, usual.count)
        t.put(f"br label %{after}")
        t.open(after)
        choices = f"[ {mixed.name}, %{inside} ], [ {usual.name}, %{before} ]"
        return t.let(f"phi {usual.type} {choices}", usual.lane, usual.count)

    def _behind(self, rare: Value, inputs: list[Value], where: Where | None, like: Lanes, known: Known) -> str:
        """The name of a function that computes `rare` from its inputs: one for all groups and tails of as many lanes."""
        given = {v: Lanes(f"%p{n}", known[v].lane, known[v].count) for n, v in enumerate(inputs)}
        key = (rare, like.count, *((v, lanes.count) for v, lanes in given.items()))
        if key in self.behind:
            return self.behind[key]
        name = self.behind[key] = f"@rare{len(self.behind)}"
        outer = self.text, self.splats
        self.text, self.splats = Text(), {}
        self.text.declared = outer[0].declared
        result = self.value(rare, dict(given), where)
        result = result if result.count == like.count else self.splat(result, like.count)
        body = "\n".join(["entry:", *self.text.lines, f"  ret {result}"])
        parameters = ", ".join(map(str, given.values()))
        self.helpers[name] = f"define internal {like.type} {name}({parameters}) noinline cold {{\n{body}\n}}"
        self.text, self.splats = outer
        return name

    def _axis(self, where: Where) -> Lanes:
        if where.count == 1:
            return Lanes(where.at, INDEX_TYPE)
        base = self.splat(Lanes(where.at, INDEX_TYPE), where.count)
        return self.text.let(
            f"add {base}, {self.iota(INDEX_TYPE, where.count).split('> ', 1)[1]}", INDEX_TYPE, where.count
        )

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

    def splat_invariants(self, roots: list[Value], axis: Axis, lanes: int, known: Known) -> None:
        """Spread the uniform operands of lane-wise operations before the loop, not in it."""
        stack, seen = list(roots), set[Value]()
        while stack:
            node = stack.pop()
            if node in seen or not isinstance(node, Op):
                continue
            seen.add(node)
            if axis in node.free:
                for arg in node.args:
                    if axis not in arg.free and not isinstance(arg, Const):
                        self.splats[arg] = self.splat(self.value(arg, known, None), lanes)
                stack.extend(node.args)

    def _op(self, name: str, operand: DType, args: list[Lanes], dtype: DType) -> Lanes:
        column, count = PRIMITIVE[name].llvm[operand.kind], args[0].count
        if column.startswith("@"):
            made = self.text.call(self._intrinsic(column, args[-1]), dtype.lane, count, *args)
            return self.rounded(made, dtype, own=True) if PRIMITIVE[name].rounds else made
        if column == "%scale":
            return self._scale(args, dtype)
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
        return rounded(self.text, value, dtype, own) if dtype.wide else value

    def _intrinsic(self, stem: str, *types: Lanes) -> str:
        suffix = {d.lane: d.suffix for d in DTYPES.values()}
        return ".".join([stem, *(("" if t.count == 1 else f"v{t.count}") + suffix[t.lane] for t in types)])

    def _scale(self, args: list[Lanes], dtype: DType) -> Lanes:
        """AVX-512's vscalef."""
        t, bits = self.text, dtype.bits * args[0].count
        function = f"@llvm.x86.avx512.mask.scalef.p{'s' if dtype.bits == 32 else 'd'}.{bits}"
        mask = f"i{max(8, args[0].count)}"
        rounding = ["i32"] if bits == 512 else []
        t.declare(function, args[0].type, *(args[0].type,) * 3, mask, *rounding)
        given = [*map(str, args), str(args[0]), f"{mask} -1", *(f"{r} 4" for r in rounding)]
        return t.let(f"call {args[0].type} {function}({', '.join(given)})", dtype.lane, args[0].count)

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

    # memory

    def _load(self, node: Load, known: Known, where: Where | None) -> Lanes:
        dtype, when = node.leaf.dtype, None if node.when is None else known[node.when]
        assert when is None or when.count == 1, "a guard of a load is uniform here"
        if where is not None and _pairs_in_row(node, where):
            return self._pair_load(node, known, where, when)
        form = affine(node.offset, where.axis) if where is not None and where.axis in node.offset.free else None
        if where is None or form is None or where.count == 1:
            offset = self._offset(form, known, where) if form and where else known[node.offset].name
            return self.in_register(
                self.text.let(f"load {dtype.memory}, {self._at(node, offset, when)}", dtype.memory), dtype
            )
        coefficient = form[0]
        offset = self._offset(form, known, where)
        if isinstance(coefficient, Const) and coefficient.value == 1:
            return self._wide_load(self._at(node, offset, when), dtype, self._whole(node.leaf, where))
        assert where.mask is None, "a masked step has unit strides only"
        if isinstance(coefficient, Const) and coefficient.value == -1:
            last = self.text.index("sub", offset, where.count - 1)
            turned = ", ".join(f"i32 {k}" for k in reversed(range(where.count)))
            wide = self.text.let(
                f"load {self._memory(dtype, where)}, {self._at(node, last, when)}", dtype.memory, where.count
            )
            wide = self.text.let(
                f"shufflevector {wide}, {wide.type} poison, <{where.count} x i32> <{turned}>", dtype.memory, where.count
            )
            return self.in_register(wide, dtype)
        return self._strided_load(node, offset, known[coefficient].name, when, where)

    def _pair_load(self, node: Load, known: Known, where: Where, when: Lanes | None) -> Lanes:
        """The parts of a row of pairs, from one load: one of them, and the other is known from now on."""
        t, dtype = self.text, node.leaf.dtype
        even, odd = twins(node)
        form, order = affine(even.offset, where.axis), range(where.count)
        assert form is not None, "a row is affine"
        offset = self._offset(form, known, where)
        if steps(even, where.axis) == -1:
            offset, order = t.index("sub", offset, 2 * (where.count - 1)), order[::-1]
        wide = t.let(
            f"load <{2 * where.count} x {dtype.memory}>, {self._at(even, offset, when)}", dtype.memory, 2 * where.count
        )
        for twin, first in ((even, 0), (odd, 1)):
            known[twin] = self._shuffled(wide, wide, [2 * k + first for k in order])
        return known[node]

    def _shuffled(self, a: Lanes, b: Lanes, order: Sequence[int]) -> Lanes:
        mask = ", ".join(f"i32 {k}" for k in order)
        return self.text.let(f"shufflevector {a}, {b}, <{len(order)} x i32> <{mask}>", a.lane, len(order))

    def _whole(self, leaf: Leaf, where: Where) -> Where:
        """All lanes where memory is our own: it has room for them, and what was stored under a mask is long in coming back."""
        return where if where.mask is None or leaf.name in self.given else replace(where, mask=None)

    def _offset(self, form: tuple[Value, Value], known: Known, where: Where) -> str:
        """The offset of lane 0."""
        coefficient, rest = (known[v].name for v in form)
        return self.text.index("add", rest, self.text.index("mul", where.at, coefficient))

    def _at(self, node: Load, offset: str, when: Lanes | None) -> str:
        dtype = node.leaf.dtype
        address = self._pointer(node.leaf.name, dtype, offset)
        if when is not None:
            address = self.text.let(f"select {when}, ptr {address}, ptr @zeros", "ptr").name
        return f"ptr {address}, align {dtype.itemsize}"

    def _pointer(self, leaf: str, dtype: DType, offset: str) -> str:
        return self.text.let(f"getelementptr {dtype.memory}, ptr {self.address[leaf]}, i64 {offset}", "ptr").name

    def _memory(self, dtype: DType, where: Where) -> str:
        return f"<{where.count} x {dtype.memory}>"

    def _wide_load(self, at: str, dtype: DType, where: Where) -> Lanes:
        t, memory = self.text, self._memory(dtype, where)
        if where.mask is None:
            return self.in_register(t.let(f"load {memory}, {at}", dtype.memory, where.count), dtype)
        function = f"@llvm.masked.load.v{where.count}{memory_suffix(dtype)}.p0"
        mask = f"<{where.count} x i1>"
        t.declare(function, memory, "ptr", "i32 immarg", mask, memory)
        pointer = at.split(",", maxsplit=1)[0]
        call = (
            f"call {memory} {function}({pointer}, i32 {dtype.itemsize}, {mask} {where.mask}, {memory} zeroinitializer)"
        )
        return self.in_register(t.let(call, dtype.memory, where.count), dtype)

    def _strided_load(self, node: Load, offset: str, stride: str, when: Lanes | None, where: Where) -> Lanes:
        t, dtype = self.text, node.leaf.dtype
        if when is not None:
            stride = t.let(f"select {when}, i64 {stride}, i64 0", INDEX_TYPE).name
        at = self._at(node, offset, when).split(",")[0]
        result = Lanes("poison", dtype.memory, where.count)
        for k in range(where.count):
            if k:
                at = f"ptr {t.let(f'getelementptr {dtype.memory}, {at}, i64 {stride}', 'ptr').name}"
            result = self._insert(result, t.let(f"load {dtype.memory}, {at}, align {dtype.itemsize}", dtype.memory), k)
        return self.in_register(result, dtype)

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

    def stores(self, stores: Sequence[Store], values: Sequence[Lanes], known: Known, where: Where) -> None:
        """What stores values; the parts of a row of pairs, which stand side by side, at once."""
        left = iter(zip(stores, values, strict=True))
        for store, value in left:
            if _pairs_in_row(store, where):
                _, other = next(left)
                self._pair_store(store, value, other, known, where)
            else:
                self.store(store, value, known, where)

    def _pair_store(self, store: Store, even: Lanes, odd: Lanes, known: Known, where: Where) -> None:
        t, dtype, count = self.text, store.leaf.dtype, where.count
        form, order = affine(store.offset, where.axis), range(count)
        assert form is not None, "a row is affine"
        for part in form:
            self.value(part, known, None)
        offset = self._offset(form, known, where)
        if steps(store, where.axis) == -1:
            offset, order = t.index("sub", offset, 2 * (count - 1)), order[::-1]
        mixed = self._shuffled(
            self.widened(even, count), self.widened(odd, count), [k + n for k in order for n in (0, count)]
        )
        address = self._pointer(store.leaf.name, dtype, offset)
        kind = f"align {mixed.count * dtype.itemsize}, !nontemporal !0" if where.stream else f"align {dtype.itemsize}"
        t.put(f"store {mixed}, ptr {address}, {kind}")

    def store(self, store: Store, value: Lanes, known: Known, where: Where) -> None:
        t, dtype = self.text, store.leaf.dtype
        value = self.in_memory(self.widened(value, where.count), dtype)
        form = affine(store.offset, where.axis)
        assert form is not None, "a store is affine"
        for part in form:
            self.value(part, known, None)
        coefficient, stride = form[0], known[form[0]].name
        offset = self._offset(form, known, where)
        address = self._pointer(store.leaf.name, dtype, offset)
        where = self._whole(store.leaf, where)
        if where.mask is not None:
            function, mask = f"@llvm.masked.store.v{where.count}{memory_suffix(dtype)}.p0", f"<{where.count} x i1>"
            t.declare(function, "void", value.type, "ptr", "i32 immarg", mask)
            t.put(f"call void {function}({value}, ptr {address}, i32 {dtype.itemsize}, {mask} {where.mask})")
        elif where.stream:
            t.put(f"store {value}, ptr {address}, align {where.count * dtype.itemsize}, !nontemporal !0")
        elif where.count == 1 or (isinstance(coefficient, Const) and coefficient.value == 1):
            t.put(f"store {value}, ptr {address}, align {dtype.itemsize}")
        else:
            self._strided_store(value, address, stride, dtype)

    def _strided_store(self, value: Lanes, address: str, stride: str, dtype: DType) -> None:
        t = self.text
        for k in range(value.count):
            if k:
                address = t.let(f"getelementptr {dtype.memory}, ptr {address}, i64 {stride}", "ptr").name
            t.put(f"store {self._extract(value, k)}, ptr {address}, align {dtype.itemsize}")


def memory_suffix(dtype: DType) -> str:
    """Of an intrinsic over elements as they lie in memory."""
    return dtype.suffix if dtype.memory == dtype.lane else dtype.memory


assert INDEX.lane == INDEX_TYPE
