"""Reducers: what folds an axis into one value. One row each.

A fold adds in one order, whatever the width of the registers. Along a row element k of a block joins lane k mod `lanes`, and
lanes halve (l with l + lanes/2); across rows `lanes` of them are halved first, and then join the block. The blocks' results pair
up like the bits of a counter. So a sum of n elements has the rounding error of a tree,
and the same bits on every processor. Lanes begin with the identity, which changes no value: -0.0 for a sum of floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .dtypes import BOOL, DTYPES, DType, of_numpy

T = TypeVar("T")


@dataclass(frozen=True)
class Order:
    """How elements are brought together: `lanes` at once, elements of one `block` after the other. With `grouped` those at once
    become one before they join the accumulator; else each has an accumulator of its own.
    """

    lanes: int
    block: int
    grouped: bool = False


# along the elements of a row; lanes fill 128 bytes of the accumulator's type
ALONG = {32: Order(32, 4096), 64: Order(16, 4096)}
# elements: rows of up to so many may be folded one in each lane of a vector, a kernel for each number; halved with the identity
# behind them they are in the order of all, for the least has 16 lanes
SHORT = (16, 24, 32, 40, 48, 64, 96, 128)
ROW = SHORT[0]
NARROW_ROW = 32  # elements: up to here registers of 256 bits hold them better
AS_ONE = 64  # elements: up to here rows that lie side by side are one where what is dear is stored
UNROLLED = 16  # elements: up to here packed rows have a kernel for each length, in which there is no loop over them
UNROLLED_NARROW = 24  # the same of extremes of integers of 8 and 16 bits, whose rows are taken apart in a few steps
ACROSS = Order(4, 256, grouped=True)  # rows brought together element by element
PAIRS = Order(1, 1)  # results of blocks: each is a block
FEW = 8  # columns that fill half a register of AVX-512 at most
# kernels of few columns are for each number below the first of these, or for up to one of them; powers of two, which fill vectors, are exactly so many
COLUMNS = (16, 20, 24, 31, 32, 40, 48, 63, 64)
ARENA = 32 << 10  # bytes for rows of few columns that threads compute, each of a subtree
PARTS = 1024  # of a fold, at most: threads compute them, and their results wait in memory; each is a subtree of 2 ** n blocks


def rounded_up(elements: int) -> int:
    """The next power of two."""
    return 1 << (elements - 1).bit_length()


def rows_from(most: int) -> int:
    """The shortest rows of the kernel for one of SHORT. A power of two is for all of more than half, whose lengths may be unlike."""
    if most <= ROW:
        return 0
    return 1 + (most // 2 if most == rounded_up(most) else max(n for n in SHORT if n < most))


def is_known(few: int) -> bool:
    """Whether a kernel of few columns is for exactly so many."""
    return few < COLUMNS[0] or not few & (few - 1)


def is_gap(few: int, step: int) -> bool:
    """Whether rows of so few elements, so many from one to the next, have less between them than they are."""
    return 1 < few < step <= min(2 * few, ROW)


def fewest(few: int) -> int:
    """The columns that there are at least in a kernel of few columns."""
    return few if is_known(few) else max((n for n in COLUMNS if n < few), default=0) + 1


def along(*dtypes: DType) -> Order:
    """The order of a fold, of accumulators of these types, whose axis is the one that vectors run along."""
    return ALONG[max(32, *(dtype.bits for dtype in dtypes))]


@dataclass(frozen=True)
class Reducer:
    """`combine` is an operation of the table; `accumulator` gives the type that elements are converted to, and the result's.

    `identity` changes no value it is combined with; `empty` is the value of no elements, None where there is none. `exact` tells the
    types in which every order has the same result. `quick` is the comparison that chooses between two numbers that are neither equal
    nor NaN.

    A reducer may have several accumulators: `combine` is then a function of two tuples of kernel IR, and `identity`, of their types,
    gives a tuple. `after` does the same, in less, where all of the second stood behind all of the first. The second accumulator of one of an `extreme`
    tells where the first stood, which is that reducer's.
    """

    name: str
    combine: str | Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]]
    reference: Callable[..., Any]
    accumulator: Callable[[DType], DType]
    identity: Callable[..., Any]
    empty: bool | int | None = None
    exact: Callable[[DType], bool] = lambda dtype: dtype.kind != "f"
    quick: str = ""
    after: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]] | None = None
    extreme: str = ""


def _same(dtype: DType) -> DType:
    return dtype


def _bool(_: DType) -> DType:
    return BOOL


def _widened(dtype: DType) -> DType:
    """Integers are added as NumPy's: in 64 bits; a narrow float in the type it is computed in."""
    if dtype.wide:
        return dtype.computed
    wanted = of_numpy(np.add.reduce(np.zeros(1, dtype.numpy)).dtype)
    return wanted or DTYPES["int64"]


def partial_sum(dtype: DType) -> DType:
    """Integers of twice as many bits, in which so many of 8 and 16 bits are added as surely fit."""
    return DTYPES[f"{'u' if dtype.kind == 'u' else ''}int{2 * dtype.bits}"]


def _nothing(dtype: DType) -> Any:
    """What a sum begins with."""
    return {"f": -0.0, "c": complex(-0.0, -0.0)}.get(dtype.kind, 0)


def _least(dtype: DType) -> Any:
    infinite = {"f": float("-inf"), "c": complex(float("-inf"), float("-inf"))}
    return infinite[dtype.kind] if dtype.kind in infinite else dtype.python(dtype.smallest)


def _greatest(dtype: DType) -> Any:
    infinite = {"f": float("inf"), "c": complex(float("inf"), float("inf"))}
    return infinite[dtype.kind] if dtype.kind in infinite else dtype.python(dtype.largest)


ROWS = (
    Reducer("sum", "add", np.sum, _widened, _nothing, 0),
    Reducer("prod", "multiply", np.prod, _widened, lambda t: t.python(1), 1),
    Reducer("max", "maximum", np.max, _same, _least, exact=lambda _: True, quick="greater"),
    Reducer("min", "minimum", np.min, _same, _greatest, exact=lambda _: True, quick="less"),
    Reducer("any", "logical_or", np.any, _bool, lambda _: False, False),
    Reducer("all", "logical_and", np.all, _bool, lambda _: True, True),
)
TABLE: dict[str, Reducer] = {row.name: row for row in ROWS}
SEVERAL: dict[
    str, Reducer
] = {}  # of several accumulators; and of somebody's own, by names that equal none but themselves


def reducer_of(name: str) -> Reducer:
    """The row of a reducer, of the table or of somebody's own."""
    return SEVERAL[name] if name in SEVERAL else TABLE[name]


def identities(row: Reducer, dtypes: Sequence[DType]) -> tuple[bool | int | float, ...]:
    """What each accumulator begins with."""
    found = row.identity(*dtypes)
    return found if isinstance(found, tuple) else (found,)


def halved(lanes: list[T], combine: Callable[[T, T], T]) -> T:
    """One value of a power of two, or of those of them that exist: l with l + half, again and again."""
    while len(lanes) > 1:
        half = rounded_up(len(lanes)) // 2
        lanes = [combine(x, lanes[k + half]) if k + half < len(lanes) else x for k, x in enumerate(lanes[:half])]
    return lanes[0]


def in_order(elements: list[T], combine: Callable[[T, T], T]) -> T:
    """The same of neighbours, all of the second always behind all of the first: where the order does not matter."""
    while len(elements) > 1:
        elements = [combine(a, b) for a, b in zip(elements[::2], elements[1::2], strict=True)]
    return elements[0]


def brought_together(values: Iterable[T], combine: Callable[[T, T], T], identity: T, order: Order) -> T:
    """The definition of the order: what every backend's code does."""
    elements = list(values)
    waiting: list[T] = []
    for number, start in enumerate(range(0, max(1, len(elements)), order.block)):
        block = elements[start : start + order.block]
        groups = [block[k : k + order.lanes] for k in range(0, len(block), order.lanes)]
        if order.grouped:
            result = identity
            for group in groups:
                result = combine(result, halved([*group, *[identity] * (order.lanes - len(group))], combine))
        else:
            lanes = [identity] * order.lanes
            for group in groups:
                lanes[: len(group)] = [combine(lane, x) for lane, x in zip(lanes, group, strict=False)]
            result = halved(lanes, combine)
        carries = number
        while carries & 1:
            result, carries = combine(waiting.pop(), result), carries >> 1
        waiting.append(result)
    result = waiting.pop()
    while waiting:
        result = combine(waiting.pop(), result)
    return result
