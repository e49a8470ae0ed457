"""Statements that bring to scratch, in the order of a target's row, what does not run on as that does."""

from __future__ import annotations

from dataclasses import dataclass

from .dtypes import BOOL
from .ir import FALSE, TRUE, Axis, Leaf, Load, Local, Value, index, local

NO_FURTHER = index(0)
FEWEST_BETWEEN = 3  # elements of a unit: of fewer squares do not pay
WORD = 8  # bytes of a number: units of small elements that are no more are put together in such
FIRST_TILE = local("first_tile", BOOL)  # of a loop over tiles


@dataclass(frozen=True)
class Bring:
    """`load` for so many `columns`, and of what is `turned` for so many `rows`, along which it runs on, stored to scratch, `into`, at `place`, where
    it runs on along the columns, `each` elements of these at a time: in squares of `lanes`; or else `unit` columns at a time, where these lie side by side; those of so many units
    that lie `between` each other; or one. `usual` is how many rows, or units between, there are but for tiles that are cut off, if that is known. Scratch has room for so many `places`. Where they are `far` the lines of what lies so many elements
    `further` are fetched: those of a later tile. It is brought `when` it is not there already. A unit that is read `back` lies from its last column to the first.
    """

    into: Leaf
    load: Load
    column: Axis
    columns: Value
    row: Axis
    rows: Value
    place: Value
    lanes: int
    turned: bool
    unit: Value | None
    between: Value | None
    places: int
    further: Value = NO_FURTHER
    far: Value = FALSE
    each: int = 1
    when: Value = TRUE
    usual: int = 0
    back: bool = False

    @property
    def needs(self) -> frozenset[Axis | Local]:
        """What has to be known where it is brought, but for its columns."""
        return (self.load.free - {self.row}) | self.rows.free if self.turned else self.load.free


@dataclass(frozen=True)
class Spread:
    """A `value` that is one for `unit` columns, of so many of them, stored to scratch for each."""

    into: Leaf
    value: Value
    column: Axis
    columns: Value
    unit: Value
    lanes: int
    places: int

    @property
    def needs(self) -> frozenset[Axis | Local]:
        """The same."""
        return self.value.free


@dataclass(frozen=True)
class Offsets:
    """A table of `many` places at most: the `value` for all indices of some axes, each with its extent, the last one's following each other."""

    into: Leaf
    axes: tuple[tuple[Axis, Value], ...]
    value: Value
    many: int
