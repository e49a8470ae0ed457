"""Records of a few rows of a few columns, one behind the other, whose rows are folded: what is left of each is a row.

The same is done with elements of several records side by side in a register, two by two as the fold's tree says: those that are first come
into one register, those that are second into another one, and what is made of them takes half as many lanes. No column has to be taken
apart from the others for that, nor put together to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from ..derived import apply
from ..dtypes import DType
from ..ir import Load, Op, Store, Value, load, local
from ..reducers import TABLE
from ..rewrite import walk
from ..unrolled import Group
from .llvm_neighbours import Neighbours
from .llvm_text import Lanes
from .llvm_where import Known, Where, first_lanes

WORD, REGISTER = 32, 512  # bits: of shorter ones no instruction takes lanes from two at will
# the comparison of an operation that chooses one of two numbers
FURTHER = {str(row.combine): row.quick for row in TABLE.values() if row.quick}
FEWEST = 5  # columns: of fewer the question takes as long
SUMS = 4  # of all that is read, at once
CHAINS = 2  # of comparisons
MadeOf = Callable[..., Lanes]  # of an operation and two registers
Pair = tuple[int, int]  # elements of a record
Place = tuple[int, int]  # a record, and an element of it


@dataclass(frozen=True)
class Level:
    """What is made of the elements of a record two by two, in the order in which it stands then."""

    like: Op
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Found:
    """The groups of records that are read and stored, with the elements that are read of one, and what is stored of them."""

    read: Group
    stored: Group
    row: list[Value]
    roots: list[Value]


@dataclass(frozen=True)
class Folded:
    """A group of elements of each record, and of what is left of it, with the way there. All records are read `as_one` where some elements are taken twice."""

    read: Group
    stored: Group
    levels: tuple[Level, ...]
    as_one: bool = False


@dataclass(frozen=True)
class Register:
    """Lanes, and which of them holds what."""

    lanes: Lanes
    held: Mapping[Place, int]


@dataclass(frozen=True)
class Sources:
    """The registers from which the first and the second elements of so many pairs come."""

    first: Sequence[int]
    second: Sequence[int]
    many: int


class Records(Neighbours):
    """Emits them."""

    def records_stored(self, stores: Sequence[Store], each: Sequence[tuple[Known, Where]]) -> bool:
        """Fold and store records, if that is all that `stores` do."""
        where = each[0][1]
        found = self.records_of(stores, where)
        folded = self.folded_of(found, where) if found else None
        if folded is None:
            return False
        every = [self._rows_folded(folded, known, at) for known, at in each]
        for (known, at), rows in zip(each, every, strict=True):
            self.store_rows(folded.stored, rows, stores[0], known, at)
        return True

    def folded_of(self, found: Found, where: Where) -> Folded | None:
        """How records are folded in registers of several; nothing where they do not fill those, or something else is done."""
        if where.count * found.read[0].dtype.bits != REGISTER:
            return None
        levels = _levels(found.row, found.roots)
        return Folded(found.read, found.stored, levels) if levels else _extremes(found)

    def records_of(self, stores: Sequence[Store], where: Where) -> Found | None:
        """What is read and stored, if it is whole records of words, one group of each; nothing where it is not."""
        whole = where.mask is None and not (where.stream or where.woven) and where.count > 1 and self.machine.scales
        if not whole or stores[0].leaf.dtype.bits < WORD or not all(self.in_group(store, where) for store in stores):
            return None
        stored = self.groups[stores[0].leaf, stores[0].offset]
        roots = [store.value for store in stores]
        reads = [x for x in walk(*roots) if isinstance(x, Load)]
        groups = {self.groups.get((x.leaf, x.offset)) for x in reads}
        read = groups.pop() if groups else None
        if groups or read is None or read[0].pairs or read[0].dtype is not stores[0].leaf.dtype:
            return None
        if any(self.is_backwards(x, where) for x in stores) or any(self.is_backwards(x, where) for x in reads):
            return None
        if [store.offset for store in stores] != list(stored[1]) or len(stored[1]) < 2 or read[0].dtype.wide:
            return None
        return Found(read, stored, [load(read[0], at) for at in read[1]], roots)

    def _rows_folded(self, folded: Folded, known: Known, where: Where) -> list[tuple[Lanes, int]]:
        """Registers of rows one behind the other, and how many elements each has. Of extremes of numbers one comparison tells which is further; where there may be a NaN,
        as the sum of all says, or an extreme is a zero, whose sign decides, it is done again by the full rule.
        """
        op, *others = {level.like.op for level in folded.levels}
        if others or op not in FURTHER or folded.read[0].dtype.kind != "f":
            return self._rows_left(folded, dict(known), where, self._made_of)
        seen = list[Lanes]()
        found = self._rows_left(folded, dict(known), where, self.further_of, seen)
        some = self.in_doubt(self.sum_of_all(seen), [x for x, _ in found])

        def again(_: object) -> list[Lanes]:
            return [x for x, _ in self._rows_left(folded, dict(known), where, self._made_of)]

        rows = self.text.perhaps(some, [x for x, _ in found], again)
        return [(x, many) for x, (_, many) in zip(rows, found, strict=True)]

    def extremes_stored(self, stores: Sequence[Store], each: Sequence[tuple[Known, Where]]) -> bool:
        """Store extremes of columns that are taken apart, by the same rules, if that is all that `stores` do."""
        where, dtype = each[0][1], stores[0].leaf.dtype
        if where.mask is not None or where.stream or where.woven or where.count * dtype.bits != REGISTER:
            return False
        nodes = [x for x in walk(*(store.value for store in stores)) if x.dtype.kind == "f"]
        made, loads = [x for x in nodes if isinstance(x, Op)], [x for x in nodes if isinstance(x, Load)]
        ops, plain = {x.op for x in made}, len(made) + len(loads) == len(nodes)
        if len(ops) != 1 or not ops <= FURTHER.keys() or dtype.kind != "f" or dtype.wide or not plain:
            return False
        if not all(self.in_group(x, where) for x in loads):
            return False
        columns = [len(self.groups[x.leaf, x.offset][1]) for x in loads]
        if min(columns) < FEWEST or not all(many % 2 for many in columns):  # of even ones neighbours come first
            return False
        (op,) = ops
        quick = dict[Value, Value]()
        for x in made:
            quick[x] = _further(op, *(quick.get(arg, arg) for arg in x.args))
        for known, at in each:
            read = dict(known)
            found = [self.value(quick[store.value], read, at) for store in stores]
            some = self.in_doubt(self.sum_of_all(read[x] for x in loads), found)
            again = partial(self.values_of, stores, known, at)
            self.stores(stores, self.text.perhaps(some, found, again), read, at)
        return True

    def values_of(self, stores: Sequence[Store], known: Known, where: Where, _: object) -> list[Lanes]:
        inside = dict(known)
        return [self.value(store.value, inside, where) for store in stores]

    def sum_of_all(self, seen: Iterable[Lanes]) -> Lanes:
        """NaN where something of what is read is, or there are infinities of both signs. What is added as it is read waits in no register."""
        t, sums = self.text, list[Lanes]()
        for x in seen:
            sums = [*sums, x] if len(sums) < SUMS else [*sums[1:], t.let(f"fadd {sums[0]}, {x.name}", x.lane, x.count)]
        return reduce(lambda a, b: t.let(f"fadd {a}, {b.name}", a.lane, a.count), sums)

    def in_doubt(self, total: Lanes, found: Sequence[Lanes]) -> str:
        """Whether what has this sum may not be numbers, or an extreme that was found is a zero."""
        clear = list[Lanes]()
        self.numbers(clear, total, total)
        for x in found:
            self.no_zero(clear, x)
        return self.not_clear(clear)

    def numbers(self, clear: list[Lanes], a: Lanes, b: Lanes) -> None:
        """Note in which lanes there is no NaN: one comparison, under the mask of the one before, in two chains."""
        self._note(clear, self.text.let(f"fcmp ord {a}, {b.name}", "i1", a.count))

    def no_zero(self, clear: list[Lanes], x: Lanes, zeros: str = "zeroinitializer") -> None:
        """Note in which lanes there is no zero."""
        self._note(clear, self.text.let(f"fcmp une {x}, {zeros}", "i1", x.count))

    def _note(self, clear: list[Lanes], mask: Lanes) -> None:
        clear.append(mask if len(clear) < CHAINS else self._both(clear.pop(0), mask))

    def not_clear(self, clear: Sequence[Lanes]) -> str:
        """Whether that does not hold of all lanes."""
        t, every = self.text, reduce(self._both, clear)
        return t.let(f"xor {t.call(f'@llvm.vector.reduce.and.v{every.count}i1', 'i1', 1, every)}, true", "i1").name

    def _both(self, a: Lanes, b: Lanes) -> Lanes:
        return self.text.let(f"and {a}, {b.name}", "i1", a.count)

    def further_of(self, like: Op, a: Lanes, b: Lanes) -> Lanes:
        """The greater of two numbers, or the less."""
        x, y = local("a", like.dtype), local("b", like.dtype)
        return self.value(_further(like.op, x, y), {x: a, y: b}, None)

    def _rows_left(
        self, folded: Folded, known: Known, where: Where, made_of: MadeOf, seen: list[Lanes] | None = None
    ) -> list[tuple[Lanes, int]]:
        """The same by some rule. `seen` will hold all that is read."""
        leaf, places = folded.read
        count, many = where.count, len(places)
        first = self._group_places(load(leaf, places[0]), known, where)[0]
        batch = count if folded.as_one else max(1, count // (1 << (len(folded.stored[1]) - 1).bit_length()))
        return [
            x
            for r in range(0, count, batch)
            for x in self._batch(folded, first, range(r, r + batch), count * many, made_of, seen)
        ]

    def _batch(
        self, folded: Folded, first: str, records: range, end: int, made_of: MadeOf, seen: list[Lanes] | None
    ) -> list[tuple[Lanes, int]]:
        """The same of some records; `end` is where the last one ends."""
        registers = self._loaded(folded.read, first, records, end, folded.as_one)
        if seen is not None:
            seen += [x.lanes for x in registers]
        for level in folded.levels:
            left = [(r, k, pair) for r in records for k, pair in enumerate(level.pairs)]
            made = list[Register]()
            while left:
                sides = _sources(registers, [(r, pair) for r, _, pair in left])
                some, left = left[: sides.many], left[sides.many :]
                each = (
                    self._gathered(registers, of, [(r, pair[n]) for r, _, pair in some])
                    for n, of in enumerate((sides.first, sides.second))
                )
                held = {(r, k): lane for lane, (r, k, _) in enumerate(some)}
                made.append(Register(made_of(level.like, *each), held))
            registers = made
        return [(x.lanes, len(x.held)) for x in registers]

    def some_from(self, dtype: DType, first: str, place: int, some: int, count: int) -> Lanes:
        """So many lanes from an element on, of which some exist."""
        at = self.text.let(f"getelementptr {dtype.memory}, ptr {first}, i64 {place}", "ptr").name
        if some < count:
            mask = Lanes(str(first_lanes(some, count)), "i1", count)
            return self.in_register(self._masked_load(at, dtype, mask), dtype)
        load_of = f"load <{count} x {dtype.memory}>, ptr {at}, align {dtype.itemsize}"
        return self.in_register(self.text.let(load_of, dtype.memory, count), dtype)

    def _gathered(self, registers: Sequence[Register], of: Sequence[int], wanted: Sequence[Place]) -> Lanes:
        """Elements of one register or of two, side by side."""
        one, other = registers[of[0]], registers[of[-1]]
        count = one.lanes.count
        order = [one.held[x] if x in one.held else count + other.held[x] for x in wanted]
        order += [order[-1]] * (count - len(order))
        return self._shuffled(one.lanes, other.lanes, order)

    def _loaded(self, group: Group, first: str, records: range, end: int, as_one: bool) -> list[Register]:
        """Registers that hold records: several each, or a part of one, of which the last ends with it; or what all have `as_one`."""
        (leaf, places), out = group, list[Register]()
        many, dtype, count = len(places), leaf.dtype, REGISTER // leaf.dtype.bits
        at_once = len(records) if as_one else max(1, count // many)
        length = at_once * many if as_one else many
        starts = [*range(0, length - count, count), max(0, length - count)]
        for r in range(records.start, records.stop, at_once):
            for start in starts:
                place = r * many + start
                some = min(count, end - place)
                held = {divmod(place + n, many): n for n in range(some)}
                out.append(Register(self.some_from(dtype, first, place, some, count), held))
        return out

    def store_rows(
        self, group: Group, rows: Sequence[tuple[Lanes, int]], store: Store, known: Known, where: Where
    ) -> None:
        """What is left, as it lies: each over what the one before stored too much."""
        leaf, places = group
        first, at, end = self._group_places(store, dict(known), where)[0], 0, where.count * len(places)
        for x, many in rows:
            address = self.text.let(f"getelementptr {leaf.dtype.memory}, ptr {first}, i64 {at}", "ptr").name
            mask = first_lanes(many, x.count) if at + x.count > end else None
            self._wide_store(
                self.in_memory(x, leaf.dtype), address, leaf.dtype, Where(where.axis, where.at, x.count, mask)
            )
            at += many


def _further(op: str, a: Value, b: Value) -> Value:
    """The one of two numbers that an extreme chooses."""
    return apply("where", apply(FURTHER[op], b, a), b, a)


def _sources(registers: Sequence[Register], wanted: Sequence[tuple[int, Pair]]) -> Sources:
    """Where the first pairs come from: as many as fill a register, and come from two at most on each side."""
    sides, many = (list[int](), list[int]()), 0
    for r, pair in wanted[: registers[0].lanes.count]:
        chosen = [_register_of(registers, (r, e), side) for e, side in zip(pair, sides, strict=True)]
        if any(len({*side, n}) > 2 for side, n in zip(sides, chosen, strict=True)):
            break
        for side, n in zip(sides, chosen, strict=True):
            side.extend([] if n in side else [n])
        many += 1
    return Sources(*sides, many)


def _register_of(registers: Sequence[Register], wanted: Place, side: Sequence[int]) -> int:
    """Which register has an element: one of these, if any has it."""
    every = [*side, *range(len(registers))]
    found: int = next(n for n in every if wanted in registers[n].held)
    return found


def _levels(row: list[Value], roots: Sequence[Value]) -> tuple[Level, ...]:
    """The steps in which elements become what is stored; none where they do so otherwise."""
    used: dict[Value, list[Value]] = {root: [root] for root in roots}
    for node in walk(*roots):
        for child in node.children:
            used.setdefault(child, []).append(node)
    found = list[Level]()
    while row != list(roots):
        at = {x: n for n, x in enumerate(row)}
        users = [used.get(x, []) for x in row]
        ops = [mine[0] for mine in users if len(mine) == 1]
        if len(at) < len(row) or len(ops) < len(row):
            return ()
        made = dict[Op, Pair]()
        for user in ops:
            if not isinstance(user, Op) or len(user.args) != 2:
                return ()
            a, b = user.args
            if a not in at or b not in at:
                return ()
            made[user] = (at[a], at[b])
        like = next(iter(made))
        if any((user.op, user.dtype) != (like.op, like.dtype) for user in made):
            return ()
        found.append(Level(like, tuple(made.values())))
        row = list(made)
    return tuple(found)


def _extremes(found: Found) -> Folded | None:
    """How rows of which any order does are folded, some of them twice: halves that share one where there is an odd number."""
    row, roots = found.row, found.roots
    like, columns, at = roots[0], len(roots), {x: n for n, x in enumerate(row)}
    used = [[x for x in walk(root) if x.dtype.kind == "f"] for root in roots]
    if not isinstance(like, Op) or like.op not in FURTHER:
        return None
    if not all(x in at or (isinstance(x, Op) and x.op == like.op) for mine in used for x in mine):
        return None
    places = [sorted(at[x] for x in mine if x in at) for mine in used]
    if places != [[*range(n, len(row), columns)] for n in range(columns)] or len(row) % columns:
        return None
    many, levels = len(row) // columns, list[Level]()
    while many > 1:
        left = (many + 1) // 2
        pairs = [(k * columns + c, (k + many - left) * columns + c) for k in range(left) for c in range(columns)]
        levels.append(Level(like, tuple(pairs)))
        many = left
    return Folded(found.read, found.stored, tuple(levels), as_one=True) if levels else None
