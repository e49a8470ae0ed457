"""Kernels on a GPU: their CUDA text for given sizes, compiled when it is first launched, and a launcher for every stream.

The text depends on the sizes only in which way folds are computed and how wide indices are, so other sizes mostly find their functions.
"""

from __future__ import annotations

import ctypes
import time
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from exprten_jit import gridwork
from exprten_jit.backends.cubins import cubin_for, is_kept
from exprten_jit.backends.cuda_emit import Cuda, Entry, emit, fits, narrow
from exprten_jit.backends.cuda_list import Listed, is_wide, listed
from exprten_jit.backends.cuda_run import Chip, Queue, launched, launcher, scratch_bytes
from exprten_jit.backends.nvrtc import Cubin, Resources, ptx_of
from exprten_jit.backends.nvrtc_library import NvrtcError
from exprten_jit.directcall import Queued
from exprten_jit.grid import program
from exprten_jit.gridlist import Rows, alike, rows
from exprten_jit.ir import Leaf
from exprten_jit.kernel import Kernel
from exprten_jit.locks import lock

from ..errors import CompileError, DeviceError
from ..gpu.driver import Driver, driver, launching
from ..options import count, in_room, may_compile
from ..storage.buffer import from_pool
from ..storage.device import Device, Stream

SCRATCH = 1 << 16  # bytes that a stream's scratch memory has at least, once it is needed


class Launching(Protocol):
    """What launches on a queue."""

    @property
    def driver(self) -> Driver:
        """The driver that it was made for."""

    @property
    def scratch(self) -> int:
        """Bytes of scratch memory that it needs."""

    @property
    def current(self) -> bool:
        """Whether the driver that this was made for is still in force."""

    @property
    def address(self) -> int:
        """Of what is called with words and a queue."""

    def queued(self, alike: bool) -> Queued:
        """What machine code has to check before it launches."""


_refused: dict[int, Exception] = {}  # by the address of a queue


def refused(queue: int, error: Exception) -> None:
    """Let whoever looks at the queue next raise an error."""
    _refused.setdefault(queue, error)
    Queue.from_address(queue).failure = 1


class StreamQueue:
    """What all launches on a stream share: its scratch memory, and the first error. `address` is where machine code reads it."""

    __slots__ = ("_device", "address", "memory", "words")

    def __init__(self, device: int, handle: int) -> None:
        here = driver()
        self._device = device
        self.words = Queue(here.context(device), handle, driver=id(here))
        self.address = ctypes.addressof(self.words)
        self.memory: object = None

    def reserve(self, nbytes: int, stream: int | None = None) -> None:
        """Have so much scratch memory, allocated in the order of its own stream, or another one."""
        words = self.words
        with _growing:  # another thread on this stream may need less: it is not to have the last word
            if nbytes > words.room:
                room = max(nbytes, 2 * words.room, SCRATCH)
                here = words.stream if stream is None else stream
                words.scratch, memory = from_pool(room, Device("gpu", self._device), here)
                # What was there before is less than that in all, and another thread may be about to launch with it.
                self.memory = memory, self.memory
                words.room = room

    def check(self) -> None:
        """Raise DeviceError where the driver refused a launch."""
        code, self.words.failure = self.words.failure, 0
        error = _refused.pop(self.address, None)
        if error is not None:
            raise error
        if code:
            raise DeviceError(
                f"gpu: a launch on gpu({self._device}) failed with the driver's error {code}; an error of an earlier kernel shows in "
                "every launch after it"
            )


_functions: weakref.WeakKeyDictionary[Driver, dict[tuple[int, str, bool], list[int]]] = weakref.WeakKeyDictionary()
_lock, _growing = lock(), lock()


def queue_of(stream: Stream) -> StreamQueue:
    """The queue of a stream, which lives as long as that."""
    with _lock:
        found: StreamQueue | None = getattr(stream, "queue", None)
        if found is None or found.words.driver != id(driver()):
            found = stream.queue = StreamQueue(stream.device.index, stream.handle)
        return found


@dataclass(frozen=True)
class Launched:
    """A function as it is launched: for how many points, in how many blocks."""

    entry: Entry
    points: int
    blocks: int

    @property
    def threads(self) -> int:
        """In all blocks."""
        return self.blocks * self.entry.threads


def _cuda(kernel: Kernel, sizes: Mapping[str, int], multiprocessors: int, *how: Any) -> Cuda:
    """The text of a kernel for some sizes: often the one for the sizes before."""
    key = (id(kernel), multiprocessors, *how)
    _, before = _texts.get(key, (kernel, None))
    if before is None or not fits(before, sizes):
        before = emit(program(kernel, sizes, multiprocessors, *how), sizes)
        _texts[key] = kernel, before  # which keeps the kernel, and so its id
    return before


_texts: dict[tuple[Any, ...], tuple[Kernel, Cuda]] = {}


class Grids:
    """A kernel for tensors of given sizes on a device."""

    def __init__(
        self,
        kernel: Kernel,
        sizes: Mapping[str, int],
        device: Device,
        order: str,
        overlapping: Collection[Leaf],
        fast_math: bool,
    ) -> None:
        here = driver()
        self._device, self.driver, self._fast_math = device, here, fast_math
        self._of = kernel, order, tuple(overlapping)
        self.lists: dict[tuple[int, ...], Any] = {}  # for lists of rows like this one; Any: of a floor above
        self._chip = Chip(here.arch(device.index), here.multiprocessors(device.index))
        self.cuda = _cuda(kernel, sizes, self._chip.multiprocessors, order, tuple(overlapping))
        self.scratch = scratch_bytes(self.cuda, sizes)
        self._sizes = dict(sizes)

    def like(self, other: Grids, cuda: Cuda) -> None:
        """Be another text, without scratch memory, where another kernel is."""
        self._device, self.driver, self._fast_math = other._device, other.driver, other._fast_math
        self._chip, self.cuda, self.scratch, self._sizes, self._of = other._chip, cuda, 0, {}, other._of
        self.lists = {}

    @property
    def where(self) -> tuple[Device, bool]:
        """Where it runs, and with which arithmetic."""
        return self._device, self._fast_math

    @cached_property
    def rows(self) -> tuple[Rows, bool]:
        """What lists of rows like this one launch, and whether their indices have 64 bits."""
        kernel, order, overlapping = self._of
        found = rows(alike(kernel), self._renamed, self._chip.multiprocessors, order, overlapping)
        return found, is_wide(found, self._renamed)

    def listed(self, own: Sequence[int]) -> Listed:
        """The text for lists of rows like this one, whose scalars `own` may differ."""
        return listed(self.rows[0], self._renamed, self.rows[1], own)

    @property
    def _renamed(self) -> dict[str, int]:
        """The kernel's sizes, as lists of rows call them."""
        kernel = self._of[0]
        again = zip(alike(kernel).sizes, kernel.sizes, strict=True)
        return {new.name: self._sizes[old.name] for new, old in again}

    @property
    def sizes(self) -> tuple[tuple[str, int], ...]:
        """Arguments besides those of the kernel, after its sizes."""
        return tuple((size.name, number) for size, number in self.cuda.program.sizes)

    @property
    def current(self) -> bool:
        """Whether the driver that this was made for is still in force."""
        return self.driver is driver()

    @cached_property
    def address(self) -> int:
        """Of the kernel that launches, on whatever queue it is given."""
        with in_room():
            return launcher(self.cuda, self._handles(), self._chip, self.driver.entries())

    def on(self, stream: Stream) -> StreamQueue:
        """The queue of a stream, with as much scratch memory as is needed."""
        queue = queue_of(stream)
        queue.reserve(self.scratch)
        return queue

    def queued(self, alike: bool) -> Queued:
        """What machine code has to check before it launches. `alike`: it does so for packed tensors of any size; so the text has to be
        the one for it.
        """
        least, most = 0, 1 << 62
        if alike:
            ((name, _),) = self._sizes.items()
            ends = narrow(self.cuda.program, name)
            least, most = (ends + 1, most) if self.cuda.wide else (least, ends)
        holder, offset = launching()
        return Queued(holder, offset, self.driver, self.scratch, least, most)

    def load(self) -> None:
        """Have the functions on the device. Raises CompileError where they would have to be compiled, and may not be."""
        self._handles()

    def _handles(self) -> list[int]:
        known = _functions.setdefault(self.driver, {})
        index, text = self._device.index, self.cuda.text
        key = (index, text, self._fast_math)
        if key not in known:
            kept = is_kept(text, self._chip.arch, self._fast_math)
            if not kept and not may_compile():
                raise CompileError(f"no_compile: this text is not compiled for {self._device} yet\n{text}")
            start = time.perf_counter()
            known[key] = [self.driver.load(index, text, self.image, entry.name) for entry in self.cuda.entries]
            count(time.perf_counter() - start, loaded=kept)
        return known[key]

    def image(self) -> bytes:
        """The machine code. Raises CompileError where NVRTC is missing, or refuses the text."""
        return self.cubin.image

    @property
    def cubin(self) -> Cubin:
        """What NVRTC makes of the text."""
        with _refusals():
            return cubin_for(self.cuda.text, self._chip.arch, self._fast_math)

    @property
    def ptx(self) -> str:
        """The PTX on the way to it. Raises CompileError where NVRTC is missing, or refuses the text."""
        with _refusals():
            return ptx_of(self.cuda.text, self._chip.arch, self._fast_math)

    @property
    def launches(self) -> tuple[Launched, ...]:
        """What is launched, one after the other."""
        return tuple(one for one in self._launched() if one.blocks)

    @property
    def spread(self) -> float:
        """How often operations are evaluated, over once for every point of the axes that each depends on."""
        return gridwork.spread(self.cuda.program, self._sizes, *self._shares())

    @property
    def operations(self) -> int:
        """How many operations on elements are evaluated."""
        return gridwork.evaluated(self.cuda.program, self._sizes, *self._shares())

    def _launched(self) -> Iterator[Launched]:
        for entry in self.cuda.entries:
            yield Launched(entry, *launched(self.cuda, entry, self._sizes, self._chip))

    def _shares(self) -> tuple[list[int], list[int]]:
        """Of each grid how many elements a thread takes at once, and how many threads there are."""
        every = list(self._launched())
        return [one.entry.at_once for one in every], [one.threads for one in every]

    def explained(self, launches: Sequence[Launched]) -> list[str]:
        """A line for each launch: the threads it has, and what a multiprocessor gives each of them. Where NVRTC is missing, one says so."""
        try:
            resources, why = self.cubin.resources, []
        except CompileError as error:
            resources, why = {}, [f"registers, spills and shared memory are not known: {error}"]
        return [*(self._line(one, resources.get(one.entry.name)) for one in launches if one.blocks), *why]

    def _line(self, one: Launched, took: Resources | None) -> str:
        entry = one.entry
        facts = [
            f"launch {entry.name}: {_several(one.points, 'point')} of {_several(entry.each, 'thread')}",
            f"{_several(one.blocks, 'block')} of {entry.threads}",
            f"vector {entry.at_once}, index {64 if self.cuda.wide else 32} bits",
        ]
        if took is not None:
            spilt = took.spill_stores + took.spill_loads
            facts += [f"{took.registers} registers"]
            facts += [f"spills {spilt} bytes"] if spilt else []
            facts += [f"{took.shared} bytes shared in a block"] if took.shared else []
        return ", ".join(facts)


def _several(number: int, what: str) -> str:
    """`1 point`, `2 points`."""
    return f"{number} {what}{'s' * (number != 1)}"


@contextmanager
def _refusals() -> Iterator[None]:
    """NVRTC's refusals as CompileError."""
    try:
        yield
    except NvrtcError as error:
        raise CompileError(f"gpu: {error}") from error
