"""From a statement to kernel IR: the value of an expression at an index.

`_at(node, index)` is all there is. An operation is its operands' values at the same index; a Remap is its source's at another
index; a leaf is a load. The index of an operand is its parent's, aligned at the last axis, 0 where it has one element.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from exprten_jit.derived import apply, row_of
from exprten_jit.dtypes import DType
from exprten_jit.folds import folded, loads
from exprten_jit.ir import Axis, Leaf, Local, Op, Param, Size, Store, Value, axis, index, size
from exprten_jit.kernel import Kernel
from exprten_jit.linear import always, never
from exprten_jit.linear import form as linear_form
from exprten_jit.moments import moments
from exprten_jit.needed import ordered
from exprten_jit.pairs import arguments, cast, constant, joined, leaf, load, parts, stores
from exprten_jit.reducers import partial_sum
from exprten_jit.rewrite import affine, guarded, substitute, walk
from exprten_jit.widen import widened

from ..expression.key import Key
from .gather import WEAK
from .signature import OF_SEVERAL, Arranged, Operand, Signature

Index = tuple[Value, ...]
Loops = tuple[tuple[Axis, Value], ...]  # axes with their extents


@dataclass(frozen=True)
class Made:
    """What an operation became: `value` of the structure's `node` at an index over the axes `along`; `guarded`: not everywhere. A fold brings
    the elements of its operand together, which is the node `of`; else that is `node`.
    """

    node: int
    of: int
    value: Value
    along: frozenset[Axis | Local]
    guarded: bool
    folded: tuple[tuple[Axis, str], ...]  # axes of folds around it, with the names of their extents
    cost: int  # of the operation, in additions


@dataclass(frozen=True)
class Lowered:
    """The kernel IR of a statement; for each of its parts the value that each of its operations became; which guards were decided
    by its sizes: another kernel has others; and sizes that were computed, which it takes after the others.
    """

    kernel: Kernel
    made: tuple[tuple[Made, ...], ...]
    decided: tuple[bool | None, ...]
    sizes: tuple[tuple[str, int], ...]


def lower(arranged: Arranged) -> Lowered:
    """A statement in kernel IR."""
    lowering = _Lowering(arranged)
    kernel, made = lowering.kernel(), tuple(map(tuple, lowering.made))
    if arranged.signature.options.half == "wide":
        kernel, values = widened(kernel, [[m.value for m in part] for part in made])
        pairs = (zip(part, new, strict=True) for part, new in zip(made, values, strict=True))
        made = tuple(tuple(replace(m, value=value) for m, value in part) for part in pairs)
    return Lowered(kernel, made, tuple(lowering.decided.values()), tuple(lowering.computed))


class MovedError(Exception):
    """Operand `number`, a target, is read at other positions than it is stored at, where that is wrong whatever the sizes."""

    def __init__(self, number: int = 0) -> None:
        super().__init__(number)
        self.number = number


def _moved(values: Iterable[Value], own: Sequence[Store]) -> bool:
    """Whether values read what is stored to at other positions, or in a fold."""
    offsets = {store.offset for store in own}
    reads = (read for value in values for read in loads(value) if read[0].leaf == own[0].leaf)
    return any(folds or read.offset not in offsets for read, folds in reads)


def _stored(leaf: Leaf, dtype: DType, offset: Value, value: Value, op: str | None, types: Sequence[DType]) -> Value:
    """What an element of `dtype` becomes: `value`, combined with what is there by `op` in those types."""
    if op:
        value = apply(op, *(cast(v, t) for v, t in zip((load(leaf, offset), value), types, strict=True)))
    return cast(value, dtype)


def _other(guard: Value | None, value: Value, other: Value) -> Value:
    """`value` where the guard holds, else `other`; the loads of each happen only there."""
    found = [guarded(guard, x, y) for x, y in zip(parts(value), parts(other), strict=True)]
    return joined(found, [value.dtype])[0]


class _Lowering:
    def __init__(self, arranged: Arranged) -> None:
        self.signature: Signature = arranged.signature
        self.arranged = arranged
        self.sizes = dict(arranged.sizes)
        self.leaves = [leaf(operand.name, operand.dtype) for operand in self.signature.operands]
        self.params: list[Param] = []
        self.made: list[list[Made]] = []  # for each part
        self.around: dict[tuple[int, Index], tuple[tuple[Axis, str], ...]] = {}  # the folds around a node at an index
        self.decided: dict[tuple[int, int, Value], bool | None] = {}  # guards, by part and Remap
        self.computed: list[tuple[str, int]] = []
        self.added: dict[Value, Value] = {}
        self.loops: Loops = ()
        self.same: dict[Value, Value] = {}  # folds, and what they are read from
        self._number()
        self._guard()

    def _number(self) -> None:
        """Name the scalars and the Remaps in the order in which `gather` met them."""
        self.weak: dict[tuple[int, int], Value] = {}  # (node, operand) -> its scalar; operand -1: the node itself
        self.remap: dict[int, int] = {}
        self.reduce: dict[int, int] = {}
        self.height: dict[int, int] = {}  # folds nested below a node
        for n, entry in enumerate(self.signature.structure):
            if entry[0] == WEAK:
                self._param(n, -1, self.signature.types[-1])
                continue
            key: Key = entry[0]
            for k, row in enumerate(key.types):
                if entry[1 + k] == WEAK:
                    self._param(n, k, row)
            if key.op == "scalar":
                self._param(n, -1, key.dtype)
            if key.op == "scalar" and key.map is not None and self.signature.count:
                self.weak[n, -1] = constant(self.signature.count, key.dtype)
            if key.op == "remap":
                self.remap[n] = len(self.remap)
            if key.op == "reduce":
                self.reduce[n] = len(self.reduce)
            below = max((self.height[ref] for ref in entry[1 : 1 + len(key.args)] if ref != WEAK), default=0)
            self.height[n] = below
            if key.op == "reduce":
                self.height[n] += len(self._live(n))

    def _guard(self) -> None:
        """Find what lies below a guarded Remap."""
        self.guarded: set[int] = set()
        structure = self.signature.structure
        for n in reversed(range(len(structure))):  # operands stand before what uses them
            key = structure[n][0]
            if key != WEAK and (n in self.guarded or (key.op == "remap" and key.map.valid is not None)):
                self.guarded.update(ref for ref in structure[n][1 : 1 + len(key.args)] if ref != WEAK)

    def _param(self, node: int, operand: int, dtype: DType) -> None:
        made = arguments(len(self.params), dtype)
        self.params += [x for x in parts(made) if isinstance(x, Param)]
        self.weak[node, operand] = made

    def kernel(self) -> Kernel:
        """The loops of each target, from the last, which nothing follows, to the first."""
        if self.signature.structure[-1][0] != WEAK and self.signature.structure[-1][0].op == "stores":
            return self._several()
        targets, start = [], index(0)
        for t in range(self.signature.targets):
            extents = {k: size(f"n{n}") for n, k in enumerate(self.signature.axes)}
            if t and self.signature.joined is not None:
                extents[self.signature.joined] = size(f"m{t}")
            loops = tuple((axis(f"i{k}"), extents[k]) for k in self.signature.axes)
            self.loops = loops
            targets.append((loops, self._store(t, start)))
            if self.signature.joined is not None:
                start = start + extents[self.signature.joined]
        used = (
            {x.name for x in walk(*(s.value for _, each in targets for s in each)) if isinstance(x, Size)}
            if self.computed
            else set()
        )
        self.computed = [(name, number) for name, number in self.computed if name in used]
        sizes = tuple(size(name) for name, _ in (*self.arranged.sizes, *self.computed))
        kernel: Kernel | None = None
        for t, (loops, each) in reversed(list(enumerate(targets))):
            kernel = Kernel(
                loops,
                each,
                tuple(self.leaves),
                sizes,
                tuple(self.params),
                self.signature.reverse,
                kernel,
                **self.signature.of_kernel([leaf.name for leaf in self.leaves]),
            )
            if self.reduce:
                settle = ordered(kernel)
                kernel = replace(kernel, stores=tuple(replace(store, value=settle(store.value)) for store in each))
                self.made[t] = [replace(m, value=settle(m.value)) for m in self.made[t]]
        assert kernel is not None, "a statement has a target"
        return kernel

    def _store(self, t: int, start: Value) -> tuple[Store, ...]:
        """What is stored to target `t`, which begins at `start` of the joined axis."""
        signature, leaf = self.signature, self.leaves[t]
        ndim = len(signature.operands[t].classes) if signature.indexed else len(signature.axes)
        here = tuple(axis(f"i{k}") if k in signature.axes else index(0) for k in range(ndim))
        offset = self._offset(signature.operands[t], here)
        self.old = load(leaf, offset)
        self.made.append([])
        self.here = tuple(i + start if k == signature.joined else i for k, i in enumerate(here))
        self.here = (index(0),) * signature.lead + self.here
        value = substitute(self._at(len(signature.structure) - 1, self.here), self.same)
        value = _stored(leaf, signature.operands[t].dtype, offset, value, signature.op, signature.types)
        return stores(leaf, offset, value)

    def _several(self) -> Kernel:
        """Statements one after the other, in one pass: where one reads what another has stored, it takes the value itself."""
        signature, ways = self.signature, self.signature.of_kernel([leaf.name for leaf in self.leaves])
        loops = tuple((axis(f"i{k}"), size(f"n{n}")) for n, k in enumerate(signature.axes))
        ndim = len(signature.operands[0].classes) if signature.indexed else len(signature.axes)
        own = tuple(axis(f"i{k}") if k in signature.axes else index(0) for k in range(ndim))
        self.here = (index(0),) * signature.lead + own
        self.made.append([])
        node = len(signature.structure) - 1
        rows, refs = signature.structure[node][0].map, signature.structure[node][1:]
        stored: dict[Leaf, tuple[Store, ...]] = {}
        for k, (row, ref, target) in enumerate(zip(rows, refs, refs[len(rows) :], strict=False)):
            number = signature.structure[target][1]
            operand, leaf = signature.operands[number], self.leaves[number]
            offset = self._offset(operand, own)
            value = self.weak[node, k] if ref == WEAK else substitute(self._at(ref, self.here), self.same)
            value = _stored(leaf, operand.dtype, offset, value, row.op, row.types)
            made = [self._as_stored(part, stored) for part in parts(value)]
            stored[leaf] = stores(leaf, offset, joined(made, [operand.dtype])[0])
            if row.strict and _moved(parts(value), stored[leaf]):
                raise MovedError(number)
        sizes = tuple(size(name) for name, _ in self.arranged.sizes)
        kernel = Kernel(
            loops,
            tuple(store for each in stored.values() for store in each),
            tuple(self.leaves),
            sizes,
            tuple(self.params),
            signature.reverse,
            **{name: ways[name] for name in OF_SEVERAL},
            shared=True,
        )
        settle = ordered(kernel)
        self.made[0] = [replace(m, value=settle(m.value)) for m in self.made[0]]
        return replace(kernel, stores=tuple(replace(store, value=settle(store.value)) for store in kernel.stores))

    def _as_stored(self, value: Value, stored: dict[Leaf, tuple[Store, ...]]) -> Value:
        """`value` with what was stored in place of loads of it. Raises MovedError for a load at another place, or in a fold."""
        now: dict[Value, Value] = {}
        for read, folds in loads(value):
            if read.leaf not in stored:
                continue
            store = next((s for s in stored[read.leaf] if read.offset is s.offset), None)
            if folds or store is None or read.when is not None:
                raise MovedError(self.leaves.index(read.leaf))
            now[read] = store.value
        return substitute(value, now)

    def _at(self, root: int, here: Index) -> Value:
        """The value of a node at an index. No recursion: trees may be hundreds deep."""
        done: dict[tuple[int, Index], Value] = {}
        self.around = {(root, here): ()}
        stack = [(root, here)]
        while stack:
            node, at = stack[-1]
            needs = self._needs(node, at)
            missing = [need for need in needs if need is not None and need not in done]
            if missing:
                around = self.around[node, at] + (self._folds(node) if node in self.reduce else ())
                for need in missing:
                    self.around.setdefault(need, around)
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if (node, at) not in done:
                done[node, at] = self._value(node, at, [None if need is None else done[need] for need in needs])
        return done[root, here]

    def _needs(self, node: int, at: Index) -> list[tuple[int, Index] | None]:
        """The operands of a node, each with the index at which it is needed; None for a Python scalar."""
        entry = self.signature.structure[node]
        if entry[0] == WEAK:
            return []
        key: Key = entry[0]
        if key.op == "remap":
            where, valid = self._remapped(node, at)
            other = [(entry[2], self._aligned(node, at)) if entry[2] != WEAK else None] if len(key.args) > 1 else []
            decided = self._decided(node, valid)
            if decided is None:
                return [(entry[1], where), *other]
            return [(entry[1], where)] if decided else other
        if key.op == "reduce":
            inside = self._unfolded(node, at)
            return [(ref, inside) for ref in entry[1 : 1 + len(key.args)]]
        return [None if ref == WEAK else (ref, at) for ref in entry[1 : 1 + len(key.args)]]

    def _value(self, node: int, at: Index, args: Sequence[Value | None]) -> Value:
        entry = self.signature.structure[node]
        if entry[0] == WEAK:
            return self.weak[node, -1]
        key: Key = entry[0]
        first = int(
            key.op == "remap" and self._decided(node, self._remapped(node, at)[1]) is False
        )  # the other value alone
        operands = [self.weak[node, k] if a is None else cast(a, key.types[k]) for k, a in enumerate(args, first)]
        match key.op:
            case "leaf":
                operand = self.signature.operands[entry[1]]
                return load(self.leaves[entry[1]], self._offset(operand, at))
            case "own":
                if at[self.signature.lead :] != self.here[self.signature.lead :]:
                    raise MovedError
                return self.old
            case "scalar":
                return self.weak[node, -1]
            case "iota":
                ones = entry[2:]
                return index(0) if ones[entry[1]] else at[len(at) - len(ones) + entry[1]]
            case "cast":
                return cast(operands[0], key.dtype)
            case "remap":
                valid = self._remapped(node, at)[1]
                return _other(valid, operands[0], operands[1]) if len(operands) > 1 else operands[0]
            case "reduce":
                values: tuple[Value, ...] = tuple(operands)
                if args[0] is not None and self.signature.small_sums[self.reduce[node]]:
                    values = (cast(args[0], partial_sum(args[0].dtype)),)
                self._brought_together(node, at, values[0])
                if key.map.reducer == "moments":
                    return self._moments(node, operands[0])[key.map.part]
                for made, name in reversed(self._folds(node)):
                    values = folded(key.map.reducer, made, size(name), values)
                part: int = key.map.part
                return cast(values[part], operands[part].dtype)
        value = apply(key.op, *operands)
        along = frozenset[Axis | Local]().union(*(i.free for i in at))
        real, cost = parts(value)[0], row_of(key.op).cost  # the imaginary part stands where the real one does
        self.made[-1].append(Made(node, node, real, along, node in self.guarded, self.around[node, at], cost))
        return value

    def _brought_together(self, node: int, at: Index, element: Value) -> None:
        """Note that a fold is an operation for each element of its operand."""
        inside = self._unfolded(node, at)
        along = frozenset[Axis | Local]().union(*(i.free for i in inside))
        around = (*self.around[node, at], *self._folds(node))
        of = self.signature.structure[node][1]
        self.made[-1].append(Made(node, of, parts(element)[0], along, node in self.guarded, around, 1))

    def _moments(self, node: int, x: Value) -> tuple[Value, Value]:
        """The sum and the squares of distances from the mean; sums of the same are read from there."""
        total, squares, same = moments([(made, size(name)) for made, name in self._folds(node)], x)
        self.same |= same
        return total, squares

    def _decided(self, node: int, valid: Value | None) -> bool | None:
        """Whether the guard of a Remap holds everywhere in a part of a joined target, or nowhere. Else each part would have loops for all
        that is joined in the value: the square of the number of parts.
        """
        if valid is None or self.signature.joined is None:
            return None
        place = len(self.made), node, valid
        if place not in self.decided:
            part = Kernel(self.loops, (), (), (), ())
            known = valid.free <= {made for made, _ in self.loops}
            yes, no = (known and proved(valid, part, self.sizes) for proved in (always, never))
            self.decided[place] = True if yes else False if no else None
        return self.decided[place]

    def _aligned(self, node: int, at: Index) -> Index:
        """The index of a Remap's own shape: its last axes, 0 where it has one element."""
        entry = self.signature.structure[node]
        ones = entry[1 + len(entry[0].args) :]
        return tuple(index(0) if one else i for one, i in zip(ones, at[len(at) - len(ones) :], strict=True))

    def _folds(self, node: int) -> tuple[tuple[Axis, str], ...]:
        """The axes of a Reduce with the names of their extents, outermost first: the highest."""
        top = self.height[node] - 1
        return tuple((axis(f"f{top - k}"), name) for k, (_, name) in enumerate(self._live(node)))

    def _live(self, node: int) -> list[tuple[int, str]]:
        """The folded axes of a Reduce that have more than one element, with the names of their extents."""
        over, names = self.signature.folded[self.reduce[node]]
        return [(k, name) for k, name in zip(over.axes, names, strict=True) if name is not None]

    def _unfolded(self, node: int, at: Index) -> Index:
        """The index into the source of a Reduce."""
        over, _ = self.signature.folded[self.reduce[node]]
        own = iter(self._aligned(node, at))
        axes = {k: made for (k, _), (made, _) in zip(self._live(node), self._folds(node), strict=True)}
        out: list[Value] = []
        for k in range(over.ndim):
            kept = next(own) if over.keepdims or k not in over.axes else index(0)
            out.append(axes.get(k, index(0)) if k in over.axes else kept)
        return tuple(out)

    def _remapped(self, node: int, at: Index) -> tuple[Index, Value | None]:
        """(index into the source, guard) of a Remap at an index."""
        entry = self.signature.structure[node]
        made = entry[0].map
        names: dict[Value, Value] = {axis(f"o{k}"): i for k, i in enumerate(self._aligned(node, at))}
        r = self.remap[node]
        names |= {size(f"p{n}"): size(f"r{r}_p{n}") for n in range(made.count)}
        where = tuple(self._moved(substitute(i, names)) for i in made.index)
        return where, None if made.valid is None else substitute(made.valid, names)

    def _moved(self, i: Value) -> Value:
        """An index along the joined axis: what is added to it is computed by the host. Else it would be a sum over all parts before."""
        if self.signature.joined is None:
            return i
        along = axis(f"i{self.signature.joined}")
        form = affine(i, along)
        if form is None or form[0] is not index(1) or form[1].free or not isinstance(form[1], Op):
            return i
        if form[1] not in self.added:
            number = linear_form(form[1], self.sizes)
            if number is None:
                return i
            name = f"j{len(self.computed)}"
            self.sizes[name] = number.get(None, 0)
            self.computed.append((name, self.sizes[name]))
            self.added[form[1]] = size(name)
        return along + self.added[form[1]]

    def _offset(self, operand: Operand, at: Index) -> Value:
        """Where an operand's element lies, from its address. A plain operand has the statement's axes, else its own."""
        total = index(0)
        own = at[len(at) - len(operand.classes) :]
        for k, (known, i) in enumerate(zip(operand.classes, own, strict=True)):
            stride = size(f"{operand.name}_s{k}") if known is None else index(known)
            total = total + i * stride
        return total
