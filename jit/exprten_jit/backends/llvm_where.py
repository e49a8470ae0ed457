"""The lanes that are computed: which elements they are, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Axis, Value
from .llvm_text import Lanes

Known = dict[Value, Lanes]  # values are hash-consed: kept by the table, found by identity


def first_lanes(some: int, count: int, times: int = 1) -> str | None:
    """The mask of the first of `count` lanes, so many times; None for all."""
    lanes = ("i1 true" if k < some else "i1 false" for k in [*range(count)] * times)
    return None if some == count else f"<{', '.join(lanes)}>"


@dataclass(frozen=True)
class Part:
    """Lanes of a row from column `first` on: so many, and as many times as fill a vector."""

    first: str
    lanes: int
    times: int = 1


@dataclass(frozen=True)
class Items:
    """Lanes of several rows: `width` of each, the first `some` of which exist. `each` knows where a row and its columns begin."""

    row: Axis
    width: int
    some: int
    each: tuple[Known, ...]
    spread: tuple[int, ...] = ()  # of rows as they lie: which column a lane is of
    parts: tuple[Part, ...] = ()  # of a row
    down: Axis | None = None  # of rows as they lie: the axis along which they follow each other
    first: int = 0  # of these: how many elements lie before the first lane
    turned: bool = False  # of these: they may stand in the order of memory, where it is not theirs

    @property
    def mask(self) -> str | None:
        """Of all lanes, those that exist; None for all."""
        return first_lanes(self.some, self.width, len(self.each))


@dataclass(frozen=True)
class Where:
    """The lanes being computed: `count` of them from scalar index `at` along `axis`; `mask` names those that exist. Lanes of `items`
    begin again for each, those of `parts` with each of these: the last part ends with the row, so that all lanes exist. `nothing` is in lanes
    that are loaded and do not exist. What lies from the last to the first is `turned`: lanes, and the mask, are in the order of memory. Of a `block` of rows that are strung together: where it begins, and how many elements are before these.
    """

    axis: Axis
    at: str
    count: int
    mask: str | None = None
    stream: bool = False
    woven: bool = False  # with the vector beside it, from alternating elements: `at` is that of the first of the two
    items: Items | None = None
    parts: tuple[Part, ...] = ()
    nothing: str = "zeroinitializer"
    turned: bool = False
    block: tuple[str, int] | None = None
