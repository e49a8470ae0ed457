"""Lists of rows of tensors on a GPU: all rows of one kind are one launch, which finds them in a table in the device's memory.

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
from exprten_jit.backends.cuda_list import CHUNK, Listed
from exprten_jit.backends.cuda_run import number
from exprten_jit.directcall import Queued
from exprten_jit.hostcall import keep
from exprten_jit.locks import lock

from ..gpu.driver import Driver, driver
from ..gpu.staging import hold, room_for
from ..storage.buffer import Buffer, pinned
from ..storage.device import Stream
from .grids import Grids
from .running import Launch, call, enter, run_at

MAX_TABLES = 16  # of one kind of rows on a stream; beyond it they start afresh


class Row(NamedTuple):
    """One call of a kernel: its launch, and what it is called with."""

    launch: Launch
    addresses: Sequence[int]
    scalars: Sequence[Any]
    buffers: Sequence[Buffer]


@dataclass(frozen=True)
class Table:
    """Rows in the memory of a device: where they lie, where it is said which row a block works on, and how many blocks there are."""

    rows: int
    row_of: int
    blocks: int
    memory: object


class Lists(Grids):
    """A kernel for lists of rows of tensors, whose layouts are of one kind, on a device."""

    def __init__(self, of: Grids, row: Listed) -> None:
        self.like(of, row.cuda)
        self.row, self._of = row, of
        self._queued: dict[bool, Queued] = {}
        self._tables: weakref.WeakKeyDictionary[Stream, dict[bytes, Table]] = weakref.WeakKeyDictionary()

    def queued(self, alike: bool) -> Queued:
        """As for one row: which rows share a text is decided by it."""
        if alike not in self._queued:
            self._queued[alike] = replace(self._of.queued(alike), scratch=0)
        return self._queued[alike]

    def run(self, address: int, words: bytes, stream: Stream) -> None:
        """Call machine code that launches lists."""
        queue = self.on(stream)
        call(address, words, queue.address)
        queue.check()

    def table(self, rows: np.ndarray[Any, Any], stream: Stream) -> Table:
        """The table of rows: a line of addresses and sizes each. It is there when what comes on the stream now runs."""
        key, known = rows.tobytes(), self._tables.setdefault(stream, {})
        found = known.get(key)
        if found is None:
            if len(known) >= MAX_TABLES:
                known.clear()
            found = known[key] = self._uploaded(rows, stream)
        return found

    def _uploaded(self, rows: np.ndarray[Any, Any], stream: Stream) -> Table:
        leaves, sizes = len(self.row.leaves), self.row.sizes
        known = {size.name: rows[:, leaves + n] for n, size in enumerate(sizes)}
        points = np.broadcast_to(number(self.row.points, known), len(rows))
        blocks = -(-points // CHUNK)
        first = np.cumsum(blocks) - blocks
        row_of = np.repeat(np.arange(len(rows), dtype=np.int32), blocks)
        words = np.concatenate([first[:, None], rows], axis=1)
        address, memory = upload(words.tobytes() + row_of.tobytes(), stream)
        return Table(address, address + words.nbytes, len(row_of), memory)


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


_lists: weakref.WeakKeyDictionary[Driver, dict[tuple[Any, ...], Lists | None]] = weakref.WeakKeyDictionary()
_lock = lock()


def lists_of(launch: Launch) -> Lists | None:
    """The launch of lists of rows like one; None where such rows are launched one by one."""
    grids = launch.grids
    if grids is None:
        return None
    with _lock:
        known = _lists.setdefault(driver(), {})
        key = id(launch.code), *grids.kind  # launches are for ever what their code is of
        if key not in known:
            keep(launch.code)
            row = grids.listed
            known[key] = None if row is None else Lists(grids, row)
        return known[key]


def run_rows(rows: Sequence[Row]) -> None:
    """Run rows that share no memory, those of one kind in one launch."""
    kinds: dict[tuple[Lists, bytes], list[Row]] = {}
    for row in rows:
        lists = lists_of(row.launch)
        if lists is None:
            run_at(*row)
        else:
            kinds.setdefault((lists, row.launch.scalars.pack(*row.scalars)), []).append(row)
    for (lists, scalars), alike in kinds.items():
        if len(alike) == 1:
            run_at(*alike[0])
        else:
            _run_listed(lists, scalars, alike)


def _run_listed(lists: Lists, scalars: bytes, rows: Sequence[Row]) -> None:
    words = b"".join(row.launch.places(row.addresses) + row.launch.sizes for row in rows)
    buffers = [buffer for row in rows for buffer in row.buffers]
    with pinned(buffers, "foreach"):
        table = lists.table(np.frombuffer(words, np.int64).reshape(len(rows), -1), buffers[0].stream)
    enter(lists, struct.pack("=3q", table.rows, table.row_of, table.blocks) + scalars, buffers, table.memory)
