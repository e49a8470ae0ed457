"""Lists of rows of tensors on a GPU: all rows of one kind share a launch, which finds them in a table in the device's memory.

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
from exprten_jit import gridtext, gridwork
from exprten_jit.backends.cuda_list import Listed, lengths, scalar_words
from exprten_jit.backends.cuda_run import number
from exprten_jit.directcall import Queued
from exprten_jit.locks import lock

from ..gpu.driver import Driver, driver
from ..gpu.staging import hold, room_for
from ..storage.buffer import Buffer, pinned
from ..storage.device import Stream
from .grids import Grids, Launched
from .running import Launch, call, place, run_at

MAX_TABLES = 16  # of one kind of rows on a stream; beyond it they start afresh
Numbers = np.ndarray[Any, Any]
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

    def looked_at(self, rows: Numbers) -> Looked:
        made = filled(self.row, rows)
        (entry,), program, stages = self.cuda.entries, self.row.program, self.row.stages
        blocks = sum(int(each.sum()) for each in made.blocks)
        shared = Launched(entry, blocks, blocks)
        if not self.row.staged:
            shared = replace(shared, entry=replace(entry, each=stages[0].team), points=int(made.points[0].sum()))
        at_once, work = [one.at_once for one in stages], list[tuple[int, float]]()
        for n in range(len(rows)):
            sizes = {name: int(numbers[n]) for name, numbers in made.sizes.items()}
            threads = [int(each[n]) * entry.threads for each in made.blocks]
            given = replace(program, sizes=()), sizes, at_once, threads
            work.append((gridwork.evaluated(*given), gridwork.spread(*given)))
        nest = gridtext.show(replace(program, sizes=()), gridtext.STAGES if self.row.staged else gridtext.LAUNCHES)
        return Looked(nest, [shared], self.explained([shared]), made.scratch, work)

    def run(self, address: int, words: bytes, stream: Stream, scratch: int) -> None:
        """Call machine code that launches lists."""
        queue = self.on(stream)
        queue.reserve(scratch)
        call(address, words, queue.address)
        queue.check()

    def table(self, rows: Numbers, stream: Stream) -> Table:
        """The table of rows: addresses, sizes and scalars of each. It is there when what comes on the stream now runs."""
        key, known = rows.tobytes(), self._tables.setdefault(stream, {})
        found = known.get(key)
        if found is None:
            if len(known) >= MAX_TABLES:
                known.clear()
            found = known[key] = self._uploaded(rows, stream)
        return found

    def _uploaded(self, rows: Numbers, stream: Stream) -> Table:
        made = filled(self.row, rows)
        listed, numbers = self.row, np.arange(len(rows), dtype=np.int32) * len(made.blocks)
        row_of = np.concatenate([np.repeat(numbers + stage, each) for stage, each in enumerate(made.blocks)])
        done = np.zeros(1 + len(rows) if listed.staged else 0, np.int32)
        address, memory = upload(made.lines.tobytes() + row_of.tobytes() + done.tobytes(), stream)
        starts = [address + made.lines.nbytes, address + made.lines.nbytes + row_of.nbytes]
        room = (made.scratch,) if listed.program.scratch else ()
        return Table((address, *starts[: 1 + listed.staged], len(row_of), *room), made.scratch, memory)


@dataclass(frozen=True)
class Looked:
    """What is launched for a list, as a plan shows it: bytes of scratch memory, and of each row operations, and these over the needed."""

    nest: str
    launches: list[Launched]
    lines: list[str]
    scratch: int
    work: list[tuple[int, float]]


@dataclass(frozen=True)
class Filled:
    """A table: its lines, the sizes in them by name, for each stage how many points and blocks every row has, and bytes of scratch
    memory for all.
    """

    lines: Numbers
    sizes: dict[str, Numbers]
    points: list[Numbers]
    blocks: list[Numbers]
    scratch: int


def filled(listed: Listed, rows: Numbers) -> Filled:
    """The table for rows."""
    kernel, many = listed.kernel, len(rows)
    leaves, sizes = len(kernel.leaves), len(kernel.sizes)
    known: dict[str, Any] = {size.name: rows[:, leaves + n] for n, size in enumerate(kernel.sizes)}
    known |= {name: np.broadcast_to(per, many) for name, per in lengths(listed.cuts, known).items()}
    points = [np.broadcast_to(number(one.points, known), many) for one in listed.stages]
    blocks = [-(-count // one.each) for count, one in zip(points, listed.stages, strict=True)]
    first = np.cumsum(np.stack(blocks)).reshape(len(blocks), many) - blocks
    ends: Any = np.cumsum(blocks, axis=0) if listed.staged else ()
    begins, end = list[Any](), 0
    for leaf, count in listed.program.scratch:
        nbytes = -(-np.broadcast_to(number(count, known), many) * leaf.dtype.itemsize // PART) * PART
        begins.append(end + np.cumsum(nbytes) - nbytes)
        end += int(nbytes.sum())
    pers = [known[cut.per.name] for cut in listed.cuts]
    scalars = [
        scalar_words(np.ascontiguousarray(words), kernel.params[n].dtype)
        for n, words in zip(listed.own, rows[:, leaves + sizes :].T, strict=True)
    ]
    columns = [*first, *ends, *rows[:, : leaves + sizes].T, *pers, *begins, *scalars]
    return Filled(np.stack(columns, axis=1, dtype=np.int64), known, points, blocks, end)


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
    """The launch of lists of rows like one, whose scalars `own` may differ; None on the CPU."""
    grids = launch.grids
    if grids is None:
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


def lists_of_rows(rows: Sequence[Row]) -> list[Lists | None]:
    """The launch of each row's list. Scalars that rows of one launch are called with differently are in its table."""
    found = [lists_of(row.launch, row.own) for row in rows]
    first, differing = dict[Lists, list[bytes]](), dict[Lists, set[int]]()
    for row, lists in zip(rows, found, strict=True):
        if lists is not None:
            words = _scalars(row)
            known = first.setdefault(lists, words)
            if known != words:
                numbers = {n for n, (a, b) in enumerate(zip(known, words, strict=True)) if a != b}
                differing.setdefault(lists, set(row.own)).update(numbers)
    own = {lists: tuple(sorted(numbers)) for lists, numbers in differing.items()}
    return [
        lists_of(row.launch, own.get(lists, row.own)) if lists is not None else None
        for row, lists in zip(rows, found, strict=True)
    ]


def _scalars(row: Row) -> list[bytes]:
    """A word each."""
    packed = row.launch.scalars.pack(*row.scalars)
    return [packed[n : n + 8] for n in range(0, len(packed), 8)]


@dataclass
class Kind:
    """Rows that one kernel runs, by their number: one by one, or with `lists` together, called with the scalars `given`."""

    lists: Lists | None
    given: bytes
    rows: list[int]
    lines: list[bytes]  # what is each row's own

    @property
    def table(self) -> Numbers:
        """What is each row's own, as a line each."""
        return np.frombuffer(b"".join(self.lines), np.int64).reshape(len(self.lines), -1)


def kinds_of(rows: Sequence[Row]) -> list[Kind]:
    """The kinds of rows of a list that share no memory."""
    found: dict[object, Kind] = {}
    for n, (row, lists) in enumerate(zip(rows, lists_of_rows(rows), strict=True)):
        if lists is None:
            kind = found.setdefault(id(row.launch.code) if row.launch.grids is None else (n,), Kind(None, b"", [], []))
        else:
            given, line = taken_apart(lists.row, row)
            kind = found.setdefault((lists, given), Kind(lists, given, [], []))
            kind.lines.append(line)
        kind.rows.append(n)
    for kind in found.values():
        if len(kind.rows) == 1 and _is_one_launch(rows[kind.rows[0]].launch):
            kind.lists = None
    return list(found.values())


def _is_one_launch(launch: Launch) -> bool:
    """Whether a row alone needs no table for that."""
    return launch.grids is None or len(launch.grids.cuda.entries) == 1


def run_rows(rows: Sequence[Row]) -> None:
    """Run rows that share no memory, those of one kind together."""
    for kind in kinds_of(rows):
        if kind.lists is None:
            for n in kind.rows:
                rows[n].run()
        else:
            buffers = [buffer for n in kind.rows for buffer in rows[n].buffers]
            _run_listed(kind.lists, kind, buffers)


def taken_apart(listed: Listed, row: Row) -> tuple[bytes, bytes]:
    """The scalars that all rows of a launch have, and what is a row's own: addresses, sizes and scalars."""
    launch, words = row.launch, _scalars(row)
    given, own = (b"".join(words[n] for n in numbers) for numbers in (listed.given, listed.own))
    return given, launch.places(row.addresses) + launch.sizes[: 8 * len(listed.kernel.sizes)] + own


def _run_listed(lists: Lists, kind: Kind, buffers: Sequence[Buffer]) -> None:
    with pinned(buffers, "foreach"):
        table = lists.table(kind.table, buffers[0].stream)
    with place(buffers, table.scratch, table.memory) as queue:
        call(lists.address, struct.pack(f"={len(table.words)}q", *table.words) + kind.given, queue.address)
