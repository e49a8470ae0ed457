"""Records of a few rows of a few columns of which something is made row by row, as they lie: in short registers, into which no lane has
to be moved.

Two records are read beside each other if their rows are half a register or less. What is left of one is stored over what the one before
stored too much. Registers of a line are not used: while those are under way a processor has one unit less for shorter ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..ir import Axis, Load, Local, Op, Store, Value, load, local
from ..rewrite import substitute, walk
from ..vectors import cost_of
from .llvm_records import FURTHER, Found, Records
from .llvm_text import Lanes
from .llvm_where import Known, Where

BITS = 256  # of what is read at once
# columns from which on this takes fewer steps than all else; and rows of which else it takes more
LONG, FEWEST = 5, 3
CHEAP = 3  # additions a row: of more, lanes that are idle take longer than moving elements
ZERO, NAN = "0.0", "0x7FF8000000000000"


@dataclass(frozen=True)
class Rows:
    """The rows of a record, and what is made of them for each of its columns."""

    found: Found
    names: list[Local]
    made: Value

    @property
    def columns(self) -> int:
        return len(self.found.roots)

    @property
    def beside(self) -> int:
        """How many records are read beside each other."""
        return 2 if 2 * self.columns * self.made.dtype.bits <= BITS else 1


class ShortRecords(Records):
    """Emits them."""

    def rows_stored(self, stores: Sequence[Store], each: Sequence[tuple[Known, Where]]) -> bool:
        """Make and store records row by row, if that is all that `stores` do."""
        where = each[0][1]
        found = self.records_of(stores, where)
        rows = _rows_of(found) if found else None
        if rows is None or not _is_short(rows, self.folded_of(rows.found, where) is not None):
            return False
        quick = _extreme_of(rows)
        for known, at in each:
            if quick is not None:
                self._extremes_stored(rows, quick, stores, known, at)
            else:
                made = [self.value(rows.made, {**known, **row}, None) for row in self._read(rows, known, at)]
                self._store(rows, made, stores[0], known, at)
        return True

    def _extremes_stored(self, rows: Rows, like: Op, stores: Sequence[Store], known: Known, where: Where) -> None:
        """By one comparison an element; by the full rule where there may be a NaN, or an extreme is a zero, whose sign decides."""
        clear, found = list[Lanes](), list[Lanes]()
        for row in self._read(rows, known, where):
            best, *more = (row[name] for name in rows.names)
            seen = list[Lanes]()
            for x in more:  # a NaN stays in the extreme until the next one comes
                seen.append(best)
                best = self.further_of(like, x, best)
            found.append(best)
            for a, b in zip(seen[::2], [*seen[1::2], best], strict=False):
                self.numbers(clear, a, b)
            self.no_zero(clear, best, _zeros(rows, best))

        def by_the_rule() -> None:
            inside = dict(known)
            self.stores(stores, self.values_of(stores, known, where, None), inside, where)

        as_found = partial(self._store, rows, found, stores[0], known, where)
        self.text.either(self.not_clear(clear), by_the_rule, as_found)

    def _read(self, rows: Rows, known: Known, where: Where) -> Iterator[Known]:
        """The rows of one record after the other, or of two beside each other."""
        leaf, places = rows.found.read
        width = BITS // leaf.dtype.bits // rows.beside
        many, end = len(places), where.count * len(places)
        first = self._group_places(load(leaf, places[0]), dict(known), where)[0]
        for begin in range(0, end, rows.beside * many):
            read: Known = {}
            for name, row in zip(rows.names, range(begin, begin + many, rows.columns), strict=True):
                sides = [row + n * many for n in range(rows.beside)]
                parts = [self.some_from(leaf.dtype, first, at, min(width, end - at), width) for at in sides]
                read[name] = self._joined(parts)
            yield read

    def _store(self, rows: Rows, made: Sequence[Lanes], store: Store, known: Known, where: Where) -> None:
        width = made[0].count // rows.beside
        sides = [[*range(n, n + width)] for n in range(0, made[0].count, width)]
        records = [self._shuffled(x, x, side) if rows.beside > 1 else x for x in made for side in sides]
        self.store_rows(rows.found.stored, [(x, rows.columns) for x in records], store, known, where)


def _rows_of(found: Found) -> Rows | None:
    """What is made of rows, if that is the same for each column."""
    columns = len(found.roots)
    many, left = divmod(len(found.row), columns)
    if left or many < 2:
        return None
    names = [local(f"row{h}", found.row[0].dtype) for h in range(many)]
    made = {
        substitute(root, dict(zip(found.row[c::columns], names, strict=True))) for c, root in enumerate(found.roots)
    }
    one, *others = made
    nodes = [*walk(one)]
    whole = {*names} <= {*nodes} and not any(isinstance(x, Load | Axis) for x in nodes)
    return Rows(found, names, one) if whole and not others else None


def _is_short(rows: Rows, several: bool) -> bool:
    """Whether rows fit into a short register, and most of its lanes; and whether that is faster than what else there is, which may be registers of `several` records."""
    columns, many, bits = rows.columns, len(rows.names), rows.made.dtype.bits
    lanes = BITS // bits // rows.beside
    if columns > lanes or 2 * columns <= lanes or cost_of(rows.made) > CHEAP * many:
        return False
    if several and many & (many - 1) == 0:
        return columns > LONG or (many, columns) == (4, 3)
    if many == FEWEST:
        return columns > LONG or (columns == lanes > 2 and not several)
    return not several or many == 5 or columns > 3


def _extreme_of(rows: Rows) -> Op | None:
    """The operation, if all that is made of numbers is their extreme."""
    made = [x for x in walk(rows.made) if isinstance(x, Op)]
    one, *others = {x.op for x in made}
    return made[0] if not others and one in FURTHER and made[0].dtype.kind == "f" else None


def _zeros(rows: Rows, found: Lanes) -> str:
    """For each lane that is stored a zero, for others what nothing is equal to."""
    width = found.count // rows.beside
    return f"<{', '.join(f'{found.lane} {ZERO if n % width < rows.columns else NAN}' for n in range(found.count))}>"
