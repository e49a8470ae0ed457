"""The values of a loop nest as LLVM instructions.

Every value is emitted *uniform* (one lane) where it does not depend on the innermost axis, else in `count` lanes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ..dtypes import INDEX, DType
from ..ir import Axis, Component, Const, Fold, Load, Local, Op, Param, Size, Table, Value, components
from ..nest import Vector
from ..rewrite import affine
from ..strung import places_of
from ..vectors import read_backwards
from ..vmath.bits import FORMULAS
from .llvm_lookup import is_permuted, loaded, looked_up, permuted
from .llvm_memory import Memory
from .llvm_text import INDEX_TYPE, Lanes, Text, literal
from .llvm_where import Known, Part, Where

Group = tuple[Known, Where | None]  # lanes of one vector, and what is known of them


def _cut(root: Value, known: Known) -> list[Value]:
    """The values that `root` can be computed from: what is known, and what is no operation; but no constants."""
    stack, found = [root], dict[Value, None]()
    seen = set[Value]()
    while stack:
        node = stack.pop()
        if node in seen or isinstance(node, Const | Table):
            continue
        seen.add(node)
        if node in known or not isinstance(node, Op):
            found[node] = None
        else:
            stack.extend(node.args)
    return list(found)


class Values(Memory):
    """Emits values, all but folds."""

    def value(self, root: Value, known: Known, where: Where | None) -> Lanes:
        """Emit `root` and what it needs, all of it added to `known`."""
        return self.abreast(root, [(known, where)])[0]

    def abreast(self, root: Value, groups: Sequence[Group]) -> list[Lanes]:
        """The same of groups of lanes in which the same is known, step by step: a processor that looks ahead over some dozens of
        instructions finds enough among them that wait for nothing (1.05 to 1.25 times for functions).
        """
        known, where = groups[0]
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
            found = self._each(node, groups)
            for (inside, _), lanes in zip(groups, found, strict=True):
                inside[node] = lanes
            stack.pop()
        return [inside[root] for inside, _ in groups]

    def read_forwards(self, stmt: Vector, groups: Sequence[Group]) -> None:
        """Of rows that are written out, what would be read from the last to the first: in the order in which it lies."""
        for x in read_backwards(stmt.stores, stmt.axis) if self.nest.kernel.down else ():
            self.abreast(x, groups)

    def _each(self, node: Value, groups: Sequence[Group]) -> list[Lanes]:
        if isinstance(node, Op) and node.op == "rarely":
            return self._rarely(node, groups)
        if isinstance(node, Op) and node.op in FORMULAS and not self._scales(node, groups[0][0]):
            return self.abreast(FORMULAS[node.op](*node.args), groups)
        where = groups[0][1]
        if isinstance(node, Load) and where is not None and where.woven and where.axis in node.offset.free:
            return self.woven_load(node, groups)
        return [self._node(node, *group) for group in groups]

    def _needs(self, node: Value, known: Known, where: Where | None) -> tuple[Value, ...]:
        if isinstance(node, Load) and where is not None and where.items is not None:
            return ()  # where each item lies is computed for itself
        if isinstance(node, Load) and where is not None and where.block and places_of(node, where.axis):
            return ()  # where each block begins is computed for itself
        if isinstance(node, Load) and where is not None and where.axis in node.offset.free:
            form = affine(self.first_of(node, where), where.axis)
            if form:
                return (*form,) if node.when is None else (*form, node.when)
        if isinstance(node, Op) and node.op == "cast" and where is not None and node.args[0] is where.axis:
            return ()  # counted in the type it is converted to
        if isinstance(node, Op) and node.op == "rarely":
            condition, rare, common = node.args
            first = (condition, common)
            return first if any(v not in known for v in first) else tuple(_cut(rare, known))
        if isinstance(node, Op) and node.op == "lookup":
            return node.args[:1]  # a table is no value
        return (node.extent,) if isinstance(node, Fold) else node.children

    def is_across(self, node: Fold) -> bool:
        """Whether there can be a fold in each lane: rows are brought together one after the other, or are short."""
        return self.nest.kernel.short > 0 or (node.order is not None and node.order.grouped)

    @abstractmethod
    def across(self, node: Fold, known: Known, where: Where | None, low: str = "0", high: str = "") -> list[Lanes]:
        """A fold for each lane, of all rows or those from low to high: its components."""

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
                if where is None or where.axis not in node.free:
                    found = self.alone(node, known)
                elif where.count == 1 and not self.is_across(node):
                    found = self.alone(node, {**known, where.axis: Lanes(where.at, INDEX_TYPE)})
                else:
                    found = self.across(node, known, where)
                self.settle([node], found, known)
                return found[0]
            case Component():
                raise AssertionError("a component is known when its fold is")
            case Op("cast", (Axis() as a,), dtype) if where is not None and a is where.axis and a not in known:
                if where.count == 1 or where.parts or dtype.kind != "i":
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
            case Op("lookup", (at, Table() as table)):
                k = known[at]
                if k.count == 1 or at.dtype.bits != table.dtype.bits:
                    return loaded(self.text, self.helpers, k, table)
                if self.machine.scales:
                    return looked_up(self.text, k, table)
                permutes = self.machine.permutes and is_permuted(k, table)
                return permuted(self.text, k, table) if permutes else loaded(self.text, self.helpers, k, table)
            case Op(name, args, dtype):
                operands = [self._operand(a, known, where, node) for a in args]
                widest = max(x.count for x in operands)
                operands = [self.widened(x, widest) for x in operands]
                if name == "times_power":  # whose rounding is of none but integers beyond all exponents
                    operands[1] = self.cast(operands[1], args[1].dtype, dtype)
                if name == "quotient" and widest > 1:
                    return self._quotient(operands, known[args[1]], args[1], dtype)
                return (
                    self._floor_divide(*operands)
                    if name == "floor_divide"
                    else self._op(name, args[0].dtype, operands, dtype)
                )
            case Table():
                raise AssertionError("a table is no value")
            case Param() | Size() | Local():
                raise AssertionError(f"{node.name} is not bound")
        raise AssertionError(f"no such value: {type(node).__name__}")

    def _scales(self, node: Op, known: Known) -> bool:
        """Whether there is an instruction that multiplies as many lanes by powers of two."""
        return self.machine.scales and max(known[a].count for a in node.args) * node.dtype.bits in (128, 256, 512)

    def _quotient(self, operands: list[Lanes], one: Lanes, divisor: Value, dtype: DType) -> Lanes:
        """Of many integers; `one` is the divisor where it is one for all lanes."""
        a, b = operands
        if dtype.bits < 64:
            return self.quotients(a, one if one.count == 1 else b, dtype)
        if self.machine.scales:
            return self.long_quotients(a, one if one.count == 1 else b, dtype)
        return self._op("quotient", dtype, [a, self._divisor(b, dtype) if self._saved(divisor) else b], dtype)

    def _saved(self, value: Value) -> bool:
        """Whether a value is read from scratch."""
        return isinstance(value, Load) and value.leaf not in self.nest.kernel.leaves

    def _divisor(self, lanes: Lanes, dtype: DType) -> Lanes:
        """One that was saved, never 0 or -1: lanes that hold nothing may be, and the division would trap."""
        t, kind = self.text, lanes.type
        above = t.let(f"add {lanes}, splat ({lanes.lane} {int(dtype.kind == 'i')})", lanes.lane, lanes.count)
        wrong = t.let(f"icmp ult {above}, splat ({lanes.lane} {1 + (dtype.kind == 'i')})", "i1", lanes.count)
        return t.let(f"select {wrong}, {kind} splat ({lanes.lane} 1), {lanes}", lanes.lane, lanes.count)

    def _operand(self, value: Value, known: Known, where: Where | None, user: Value) -> Lanes:
        lanes = known[value]
        if where is None or where.count in (1, lanes.count) or where.axis not in user.free:
            return lanes
        return self.splats.get(value) or self.splat(lanes, where.count)

    def _rarely(self, node: Value, groups: Sequence[Group]) -> list[Lanes]:
        """A choice whose first side is a call behind a branch, taken where any lane of any group has the condition."""
        t = self.text
        chosen, rare, common = node.children
        conditions, usual = ([self._operand(v, *group, node) for group in groups] for v in (chosen, common))
        some = conditions[0]
        for condition in conditions[1:]:
            some = t.let(f"or {some}, {condition.name}", some.lane, some.count)
        if some.count > 1:
            lanes = t.let(f"bitcast {some} to i{some.count}", f"i{some.count}")
            some = t.let(f"icmp ne {lanes}, 0", "i1")
        inside, after, before = t.label("rare"), t.label("usual"), t.block
        t.put(f"br i1 {some.name}, label %{inside}, label %{after}")
        t.open(inside)
        inputs, mixed = _cut(rare, groups[0][0]), []
        for (known, where), condition, like in zip(groups, conditions, usual, strict=True):
            call = f"{self._behind(rare, inputs, where, like, known)}({', '.join(str(known[v]) for v in inputs)})"
            there = t.let(f"call {like.type} {call}", like.lane, like.count)
            mixed.append(t.let(f"select {condition}, {there}, {like}", like.lane, like.count))
        t.put(f"br label %{after}")
        t.open(after)
        return [
            t.let(f"phi {a.type} [ {a.name}, %{inside} ], [ {b.name}, %{before} ]", a.lane, a.count)
            for a, b in zip(mixed, usual, strict=True)
        ]

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
        if where.parts:
            return self.columns_of(where.at, where.parts)
        base = self.splat(Lanes(where.at, INDEX_TYPE), where.count)
        return self.text.let(
            f"add {base}, {self.iota(INDEX_TYPE, where.count).split('> ', 1)[1]}", INDEX_TYPE, where.count
        )

    def columns_of(self, at: str, parts: Sequence[Part]) -> Lanes:
        """The columns of a row in parts."""
        found = list[Lanes]()
        for part in parts:
            first = self.splat(Lanes(self.text.index("add", at, part.first), INDEX_TYPE), part.lanes)
            steps = self.iota(INDEX_TYPE, part.lanes).split("> ", 1)[1]
            column = self.text.let(f"add {first}, {steps}", INDEX_TYPE, part.lanes)
            found.append(self.filled(column, part))
        return self._joined(found)

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
                    if axis not in arg.free and not isinstance(arg, Const | Table):
                        self.splats[arg] = self.splat(self.value(arg, known, None), lanes)
                stack.extend(node.args)


assert INDEX.lane == INDEX_TYPE
