"""Tiles of what comes from memory and does not run on as the target does: so small that what is read stays in the first cache until it is stored, in long runs, past the caches.

The first cache has few lines for rows that lie far apart, and no processor fetches many rows early by itself. So a tile has a line or two of each row that is read, and
those of the next tile are fetched beside. Other tiles are for the caches, where the lines of many are at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from exprten_jit.machine import LINE
from exprten_jit.vectors import STREAM_BYTES

from .gather import Gathered, widest
from .lying import SHORT_ROW, WAYS
from .signature import Flat, Tile

WORD, PAGE = 4, 4096  # bytes
BLOCK = 1 << 16  # elements that are turned where they lie: what is read and what is stored runs on from block to block
# bytes of the target from one unit to the next of a row that is read: of fewer several units fill registers, of more they are better stored as they are read
LEAST, MOST = 128, 8192
LINES = 256  # bytes of whole lines between two units, for which these are stored as they lie
LONG_ROW = 2048  # bytes of a row of the target: of so many those that are parts of lines are few
RUN = 8192  # bytes of a tile of units: fewer ends of which are parts of lines
# the same of each row of those that are far apart in the target, as they lie and turned: of twice as many too many lines may share sets of the second cache
FAR_RUN, TURNED_RUN = 512, 1024
AHEAD = 192  # bytes of a row that is read, at least, which lie between what is read and what is fetched: three lines
UNIT, TURNED_UNIT = 256, 144  # elements of a unit, and of one that is turned: of more, rows are long enough
MOST_EXACT, MOST_EXACT_UNIT = 16, 128  # elements of rows, and of units that are turned, that are written out
FEW_ROWS = 32  # of units that follow each other in memory, but are far apart in the target
JOINED = 512, 4096  # bytes of rows of the target that are stored as one, of more than squares are
MOST_JOINED = 1024  # elements, each of which another line is read for
# rows of which some are read at a time, how many, and of those that share sets of the first cache
LEAST_STREAMS, STREAMS, SHARED_STREAMS = 32, 48, 16
EVEN = 1.25  # of all rows as many are in whole tiles
ROWS = 16  # of a tile of those, at least: whole lines of what is read
ROOM = 72 << 10  # bytes of a tile
LEAST_SHORT, SHORT, ACROSS = 3, 16, 2048  # elements of short rows that are read, and bytes of a tile of the target then


def from_memory(
    found: Gathered, axes: Sequence[int], extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> Flat | None:
    """The tiles of a statement without folds whose target, and what lies across that, fill memory; None where others are better. The target's strides come first."""
    if found.several or len(axes) < 2 or prod(extents) * widest(found) < STREAM_BYTES or strides[0][axes[-1]] != 1:
        return None
    if any(leaf.key.dtype.kind in "cb" for leaf in found.leaves):
        return None
    far = [s for s in strides[1:] if any(s) and any(s[k] != strides[0][k] for k in axes)]
    near = {k for s in far for k in axes if s[k] == 1}
    if len(near) != 1 or not all(far[0]) or any(s != far[0] for s in far):
        return None
    size, (nearest,) = widest(found), near
    return _Afar(axes, dict(zip(axes, extents, strict=True)), strides, far[0], nearest, size, len(far)).flat


@dataclass(frozen=True)
class _Afar:
    """A statement: the strides of what lies across, and the axis along which that runs on."""

    axes: Sequence[int]
    lengths: dict[int, int]
    strides: Sequence[Sequence[int]]
    source: Sequence[int]
    nearest: int
    size: int
    count: int  # of operands that lie so

    @property
    def flat(self) -> Flat | None:
        place = self.axes.index(self.nearest)
        block = self.source[self.axes[0]] == self.strides[0][self.axes[0]] and self._many(1) <= BLOCK
        if block and self.size >= WORD and not (place == len(self.axes) - 1 and self._breaks_lines()):
            return None
        after = self._many(place + 1)
        if place == len(self.axes) - 1:
            return self._units() if after * self.lengths[self.nearest] <= UNIT else None
        if place == len(self.axes) - 2 and after * self.lengths[self.nearest] <= TURNED_UNIT:
            return self._units()
        if self.source[self.axes[-1]] * self.size % PAGE == 0:  # few of such lines stay in any cache
            return None
        return self._short(place) or self._joined(place)

    def _many(self, first: int) -> int:
        """Elements of the axes from one on."""
        return prod(self.lengths[k] for k in self.axes[first:])

    def _packed(self, first: int) -> bool:
        """Whether the target runs on along all axes from one on."""
        return all(self.strides[0][k] == self._many(first + n + 1) for n, k in enumerate(self.axes[first:]))

    def _breaks_lines(self) -> bool:
        """Whether units that follow each other in memory lie in short rows of the target that are no whole lines, one in each."""
        first = self._follows(self.lengths[self.nearest])
        between = 0 if first is None else self._many(first + 1) * self.size
        return between % LINE > 0 and between < LONG_ROW

    def _follows(self, run: int) -> int | None:
        """The place of the axis along which runs of so many elements follow each other where they are read."""
        return next((n for n, k in enumerate(self.axes) if self.source[k] == run and self.lengths[k] > 1), None)

    def _units(self) -> Flat | None:
        """Units that are read as they are stored, or that are turned: as many as lie between two that follow each other in memory, several times."""
        (*_, last), few = self.axes, self.lengths[self.nearest]
        turned, unit = last != self.nearest, few * (self.lengths[last] if last != self.nearest else 1)
        as_they_lie = not turned or self.source[last] == few
        if turned and as_they_lie and few < 3:  # pairs are taken apart in registers
            return None
        run = unit if as_they_lie else few
        first = self._follows(run)
        if first is None or first >= len(self.axes) - 1 - turned:
            return None
        rows: tuple[int, ...] = ()
        between = self._many(first + 1) * self.size
        near = len(self.axes) - 2 - turned
        exact: tuple[int, ...] = (self.nearest, last) if turned and unit <= MOST_EXACT_UNIT else ()
        if not turned and few <= MOST_EXACT:
            exact = (last,)
        if runs := self._runs(first, near, unit, run, exact):
            return runs
        if between > MOST and self.lengths[self.axes[first]] <= FEW_ROWS and first < near - (not turned):
            rows, first = (self.axes[first],), near
            between = self._many(first + 1) * self.size
        as_lines = not turned and between % LINE == 0 and between >= LINES
        if not self._packed(first) or between > MOST or as_lines or (between < LEAST and not rows):
            return None
        many = -(-((TURNED_RUN if turned else FAR_RUN) if rows else RUN) // between)
        deep = prod(self.lengths[k] for k in rows)
        columns = tuple(self.axes[first:])
        order = tuple(k for k in self.axes if k not in columns[1:])
        if rows and not turned:  # as they are read
            order = (columns[0], *(k for k in order if k not in (columns[0], *rows)), *rows)
        tile = Tile(order, many * between // self.size, deep, False, -(-AHEAD // (many * run * deep * self.size)))
        return self._flat(columns, rows, exact, tile)

    def _runs(self, first: int, near: int, unit: int, run: int, exact: tuple[int, ...]) -> Flat | None:
        """Units of many rows: of few rows at a time, so many that these are whole lines of the target, and some lines of each row. The axis along which they follow
        each other is the `first` of those that are in runs, `near` the one outside of units; of these a row has so long a `run`.
        """
        beside = unit // run  # rows that a unit is of
        shift = self.source[self.axes[near if beside == 1 else -1]] * self.size % PAGE
        most, found, units = STREAMS, (0, 0), 1
        if (
            WAYS * (1 + STREAMS * min(shift, PAGE - shift) // LINE) < STREAMS
        ):  # a line is gone before its next elements are read
            most = SHARED_STREAMS
        for place in range(near, first, -1):
            n = self.lengths[self.axes[place]]
            each = units * unit * self.size
            fits = range(1, min(n, most // (units * beside)) + 1) if n * each % LINE == 0 else ()
            runs = (m * units for m in fits if m * each % LINE == 0 and -(-n // m) * m <= EVEN * n)
            found, units = max(found, (max(runs, default=0), place)), units * n
        many, place = found
        if units * beside < LEAST_STREAMS or not many or not self._packed(place):
            return None
        rows, columns = (self.axes[first],), tuple(self.axes[place:])
        order = (columns[0], *(k for k in self.axes if k not in (*columns, *rows)), *rows)
        tile = Tile(order, many * unit, min(-(-FAR_RUN // (run * self.size)), self.lengths[rows[0]]), False, 1)
        return self._flat(columns, rows, exact, tile)

    def _short(self, place: int) -> Flat | None:
        """Short rows, all of which are turned in a tile whose columns follow where these end."""
        few, most = self.lengths[self.nearest], ACROSS // self.size
        follows = self._follows(few)
        if not LEAST_SHORT <= few <= SHORT or follows is None or follows <= place or self.count > 1:
            return None
        first = next(n for n in range(place + 1, follows + 1) if n == follows or self._many(n + 1) <= most)
        inner = self._many(first + 1)
        if not self._packed(first) or inner > most or follows == len(self.axes) - 1:
            return None
        columns = tuple(self.axes[first:])
        order = tuple(k for k in self.axes if k not in (self.nearest, *columns[1:]))
        tile = Tile((*order, self.nearest), most // inner * inner, few, False, 1)
        return self._flat(columns, (self.nearest,), (self.nearest,), tile)

    def _joined(self, place: int) -> Flat | None:
        """Rows of the target that are no lines, so long that few are in a tile: as one, which has whole lines."""
        after, columns, rows = self._many(place + 1), tuple(self.axes[place + 1 :]), max(ROWS, LINE // self.size)
        apart = after * self.size % (4 * LINE if len(columns) > 1 and self.lengths[self.nearest] > SHORT else LINE)
        if not JOINED[0] < after * self.size < JOINED[1] or not apart or not self._packed(place):
            return None
        if self.size > WORD or after > MOST_JOINED or self.count * rows * after * self.size > ROOM:
            return None
        follows = self._follows(self.lengths[self.nearest])  # the ends of short rows lie in lines of the next ones
        short = follows is not None and follows < place and self.lengths[self.nearest] <= SHORT_ROW
        inside = [self.axes[follows]] if follows is not None and short else []
        outer = (k for k in self.axes[:place] if k not in inside)
        tile = Tile((*outer, *inside, self.nearest, columns[0]), after, rows, True, 1)
        return self._flat(columns, (self.nearest,), columns, tile)  # no thread has a part of a known number of columns

    def _flat(self, columns: tuple[int, ...], rows: tuple[int, ...], exact: tuple[int, ...], tile: Tile) -> Flat:
        along = [n for n, s in enumerate(self.strides) if all(s[k] == self.strides[0][k] for k in columns)]
        down = [n for n, s in enumerate(self.strides) if rows and s[rows[0]] == 1]
        known = tuple((k, self.lengths[k]) for k in exact)
        return Flat(columns, rows, tuple(along), tuple(down), True, exact=known, tile=tile)
