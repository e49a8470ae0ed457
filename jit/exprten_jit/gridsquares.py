"""What a GPU reads or stores across its innermost axis, and by which other axis it lies side by side.

Threads that are neighbours reach for elements far apart then, each in a line of memory of its own. So such elements go by way of shared
memory, a square of points at a time: neighbours read or store along the one axis, and compute along the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .bounds import is_index, upper
from .folds import folds_of
from .ir import Axis, Leaf, Load, Store, Value
from .rewrite import steps, walk

SIDES = (64, 32)  # points
LEAST = {64: 48, 32: 16}  # indices of an axis: of fewer a square would be half empty
ROOM = 40 << 10  # bytes of shared memory; a block may have 48 KiB

Loops = Sequence[tuple[Axis, Value]]


@dataclass(frozen=True)
class Square:
    """`loads` are read, and `stores` stored, along `row`, and everything is computed along the innermost axis."""

    row: Axis
    loads: tuple[Load, ...]
    stores: tuple[Store, ...]

    @property
    def places(self) -> tuple[Load | Store, ...]:
        """What goes by way of shared memory."""
        return (*self.loads, *self.stores)


def square_of(axes: Loops, stores: Sequence[Store], moved: frozenset[Leaf]) -> Square | None:
    """What lies across; None where nothing does. `moved` are leaves that may share memory with a target at other places: they are read
    by the thread that stores there.
    """
    if len(axes) < 2 or folds_of(*(s.value for s in stores)):
        return None
    own = {(s.leaf, s.offset) for s in stores}
    targets = {s.leaf for s in stores} | moved
    loads: list[Load] = [
        node
        for node in dict.fromkeys(n for s in stores for n in walk(s.value))
        if isinstance(node, Load)
        and node.when is None
        and (node.leaf not in targets or (node.leaf, node.offset) in own)
    ]
    *outer, (column, _) = axes
    plain: dict[Value, bool] = {}
    every: list[Load | Store] = [*loads, *stores]
    places = [at for at in every if is_index(at.offset, plain) and _is_apart(at, column)]
    across = [[at for at in places if steps(at, row) in (1, -1)] for row, _ in reversed(outer)]
    found = max(across, key=len)
    if not found:
        return None
    row = outer[-1 - across.index(found)][0]
    held = list(_in_room(found))
    return Square(
        row, tuple(at for at in held if isinstance(at, Load)), tuple(at for at in held if isinstance(at, Store))
    )


def _in_room(places: Sequence[Load | Store]) -> Iterator[Load | Store]:
    """As many as shared memory has room for."""
    room = ROOM
    for at in places:
        room -= _bytes(at, SIDES[-1])
        if room >= 0:
            yield at


def _bytes(at: Load | Store, side: int) -> int:
    """Of a square: a row has an element more, so that a column of it lies in many banks."""
    return side * (side + 1) * at.leaf.dtype.itemsize


def _is_apart(at: Load | Store, column: Axis) -> bool:
    """Whether neighbours along an axis lie apart."""
    return column in at.offset.free and steps(at, column) not in (1, -1)


def side_of(square: Square | None, axes: Loops, sizes: Mapping[str, int]) -> int:
    """Of squares for which both axes are long enough, and shared memory has room; 0 if there are none."""
    if square is None:
        return 0
    extents = dict(axes)
    shorter = min(upper(extents[a], {}, sizes) for a in (square.row, axes[-1][0]))
    fitting = (n for n in SIDES if shorter >= LEAST[n] and sum(_bytes(at, n) for at in square.places) <= ROOM)
    return next(fitting, 0)


def walked(square: Square | None, axes: Loops, sizes: Mapping[str, int]) -> int:
    """How many indices, at most, of the row a thread walks along at its point, where that is too short for squares: what it loads lies side
    by side, and what its neighbours store does. 0 where it does not.
    """
    if square is None:
        return 0
    extents = dict(axes)
    row, column = (upper(extents[a], {}, sizes) for a in (square.row, axes[-1][0]))
    if square.stores or not 1 < row < LEAST[SIDES[-1]] <= column:
        return 0
    return next(n for n in (2, 4, 8, 16) if row <= n)
