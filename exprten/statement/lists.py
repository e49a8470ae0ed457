"""Lists of rows of tensors on a GPU: all rows of one kind share their launches, which find them in a table in the device's memory.

The table is uploaded through page-locked memory without waiting, and again only where an address or a size is another one.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from exprten_jit.backends.cuda_list import Listed, lengths
from exprten_jit.backends.cuda_run import number
from exprten_jit.directcall import Queued
from exprten_jit.locks import lock

from ..gpu.driver import Driver, driver
from ..gpu.staging import hold, room_for
from ..storage.buffer import Buffer, pinned
from ..storage.device import Stream
from .grids import Grids
from .running import Launch, call, place, run_at

MAX_TABLES = 16  # of one kind of rows on a stream; beyond it they start afresh
PART = 16  # bytes: where the scratch memory of each row begins


class Row(NamedTuple):
    """One call of a kernel: its launch, and what it is called with. `own` are the scalars, by their number, that rows may differ in."""

    launch: Launch
    addresses: Sequence[int]
    scalars: Sequence[Any]
    buffers: Sequence[Buffer]
    own: tuple[int, ...] = ()

    def run(self) -> None:
        """Run it alone."""
        run_at(self.launch, self.addresses, self.scalars, self.buffers)


@dataclass(frozen=True)
class Table:
    """Rows in the memory of a device: the words that a launch is called with before its scalars, and how many bytes of scratch memory
    it takes.
    """

    words: tuple[int, ...]
    scratch: int
    memory: object


class Lists(Grids):
    """A kernel for lists of rows of tensors, whose layouts are of one kind, on a device."""

    def __init__(self, of: Grids, listed: Listed) -> None:
        self.like(of, listed.cuda)
        self.row, self._like = listed, of
        self._queued: dict[bool, Queued] = {}
        self._tables: weakref.WeakKeyDictionary[Stream, dict[bytes, Table]] = weakref.WeakKeyDictionary()

    def queued(self, alike: bool) -> Queued:
        """As for one row: which rows share a text is decided by it. Scratch memory is there once a table is."""
        if alike not in self._queued:
            self._queued[alike] = replace(self._like.queued(alike), scratch=0)
        return self._queued[alike]

    def run(self, address: int, words: bytes, stream: Stream, scratch: int) -> None:
        """Call machine code that launches lists."""
        queue = self.on(stream)
        queue.reserve(scratch)
        call(address, words, queue.address)
        queue.check()

    def table(self, rows: np.ndarray[Any, Any], stream: Stream) -> Table:
        """The table of rows: addresses, sizes and scalars of each. It is there when what comes on the stream now runs."""
        key, known = rows.tobytes(), self._tables.setdefault(stream, {})
        found = known.get(key)
        if found is None:
            if len(known) >= MAX_TABLES:
                known.clear()
            found = known[key] = self._uploaded(rows, stream)
        return found

    def _uploaded(self, rows: np.ndarray[Any, Any], stream: Stream) -> Table:
        lines, blocks, scratch = filled(self.row, rows)
        row_of = [np.repeat(np.arange(len(rows), dtype=np.int32), each) for each in blocks]
        address, memory = upload(lines.tobytes() + b"".join(one.tobytes() for one in row_of), stream)
        counts = [len(one) for one in row_of]
        starts = address + lines.nbytes + 4 * (np.cumsum(counts) - counts)
        room = (scratch,) if self.row.scratch else ()
        return Table((address, *map(int, starts), *counts, *room), scratch, memory)


def filled(listed: Listed, rows: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], list[np.ndarray[Any, Any]], int]:
    """The lines of a table, for each launch how many blocks every row has, and bytes of scratch memory for all."""
    kernel, many = listed.kernel, len(rows)
    leaves, sizes = len(kernel.leaves), len(kernel.sizes)
    known: dict[str, Any] = {size.name: rows[:, leaves + n] for n, size in enumerate(kernel.sizes)}
    known |= {name: np.broadcast_to(per, many) for name, per in lengths(listed.cuts, known).items()}
    blocks = [-(-np.broadcast_to(number(one.points, known), many) // one.each) for one in listed.launches]
    first = [np.cumsum(each) - each for each in blocks]
    begins, end = list[Any](), 0
    for leaf, count in listed.scratch:
        nbytes = -(-np.broadcast_to(number(count, known), many) * leaf.dtype.itemsize // PART) * PART
        begins.append(end + np.cumsum(nbytes) - nbytes)
        end += int(nbytes.sum())
    pers = [known[cut.per.name] for cut in listed.cuts]
    columns = [*first, *rows[:, : leaves + sizes].T, *pers, *begins, *rows[:, leaves + sizes :].T]
    return np.stack(columns, axis=1, dtype=np.int64), blocks, end


def upload(data: bytes, stream: Stream) -> tuple[int, object]:
    """Memory of a device with these bytes, in the order of a stream, and what keeps it. The host goes on at once: the staging memory
    is held until the copy has read it.
    """
    device, nbytes = stream.device.index, max(len(data), 1)
    room_for(nbytes)
    staged, owner = driver().allocate_host(nbytes)
    ctypes.memmove(staged, data, len(data))
    address, memory = driver().allocate(device, nbytes, stream.handle)
    driver().copy(device, address, staged, nbytes, stream.handle)
    hold(device, stream.handle, nbytes, owner)
    return address, memory


_lists: weakref.WeakKeyDictionary[Driver, dict[tuple[Any, ...], Lists]] = weakref.WeakKeyDictionary()
_lock = lock()


def lists_of(launch: Launch, own: tuple[int, ...] = ()) -> Lists | None:
    """The launches of lists of rows like one, whose scalars `own` may differ; None where such rows are launched one by one."""
    grids = launch.grids
    if grids is None or grids.rows is None:
        return None
    with _lock:
        if own not in grids.lists:
            known = _lists.setdefault(driver(), {})
            key = own, grids.where, *grids.rows
            if key not in known:
                known[key] = Lists(grids, grids.listed(own))
            grids.lists[own] = known[key]
        found: Lists = grids.lists[own]
        return found


def run_rows(rows: Sequence[Row]) -> None:
    """Run rows that share no memory, those of one kind together."""
    kinds: dict[tuple[Lists, bytes], list[tuple[Row, bytes]]] = {}
    for row in rows:
        lists = lists_of(row.launch, row.own)
        if lists is None:
            row.run()
        else:
            given, line = taken_apart(lists.row, row)
            kinds.setdefault((lists, given), []).append((row, line))
    for (lists, given), alike in kinds.items():
        if len(alike) == 1:
            alike[0][0].run()
        else:
            _run_listed(lists, given, [row for row, _ in alike], b"".join(line for _, line in alike))


def taken_apart(listed: Listed, row: Row) -> tuple[bytes, bytes]:
    """The scalars that all rows of a launch have, and what is a row's own: addresses, sizes and scalars."""
    launch, scalars = row.launch, row.launch.scalars.pack(*row.scalars)
    words = [scalars[8 * n : 8 * n + 8] for n in range(len(listed.kernel.params))]
    given, own = (b"".join(words[n] for n in numbers) for numbers in (listed.given, listed.own))
    return given, launch.places(row.addresses) + launch.sizes[: 8 * len(listed.kernel.sizes)] + own


def _run_listed(lists: Lists, given: bytes, rows: Sequence[Row], lines: bytes) -> None:
    buffers = [buffer for row in rows for buffer in row.buffers]
    with pinned(buffers, "foreach"):
        table = lists.table(np.frombuffer(lines, np.int64).reshape(len(rows), -1), buffers[0].stream)
    with place(buffers, table.scratch, table.memory) as queue:
        call(lists.address, struct.pack(f"={len(table.words)}q", *table.words) + given, queue.address)
