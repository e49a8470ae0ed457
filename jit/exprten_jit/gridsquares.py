"""What a GPU reads or stores across its innermost axis, and by which other axis it lies side by side.

Threads that are neighbours reach for elements far apart then, each in a line of memory of its own. So such elements go by way of shared
memory, a square of SIDE by SIDE points at a time: neighbours read or store along the one axis, and compute along the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .bounds import is_index, upper
from .folds import folds_of
from .ir import Axis, Leaf, Load, Store, Value
from .rewrite import steps, walk

SIDE = 32  # points: a warp
LEAST = 16  # indices of an axis: of fewer a square would be half empty
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
        room -= SIDE * (SIDE + 1) * at.leaf.dtype.itemsize
        if room >= 0:
            yield at


def _is_apart(at: Load | Store, column: Axis) -> bool:
    """Whether neighbours along an axis lie apart."""
    return column in at.offset.free and steps(at, column) not in (1, -1)


def worth(square: Square | None, axes: Loops, sizes: Mapping[str, int]) -> bool:
    """Whether both sides of squares are long enough."""
    if square is None:
        return False
    extents = dict(axes)
    return all(upper(extents[a], {}, sizes) >= LEAST for a in (square.row, axes[-1][0]))
