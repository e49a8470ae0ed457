"""Statements that were found legal, their launches, and how these are run: on the CPU at once, on a GPU in the order of streams."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from exprten_jit import Code
from exprten_jit.dtypes import DType
from exprten_jit.gemm import Calling
from exprten_jit.hostcall import launch_ctypes, launcher

from ..expression.expr import Expr, Weak, late
from ..expression.joined import Joined, parts_of
from ..expression.leaf import Leaf
from ..expression.show import tree
from ..expression.stores import Stores
from ..expression.views import Written
from ..gpu.recording import recording
from ..modes import Mode
from ..options import USE_CTYPES, Options
from ..storage.buffer import Buffer, pinned
from ..storage.device import fenced
from . import cached
from .gather import Gathered
from .grids import Grids, Launching, StreamQueue, queue_of
from .signature import Arranged

RELEASE = 1 << 20  # elements, 0.1 ms and more: letting the interpreter lock go, with the memory pinned, costs 3 to 7 us


@dataclass(frozen=True)
class Statement:
    """A checked assignment: what is stored where, taken apart, and the order of stores that is right.

    `types`: what target and value are converted to for the mode's operation, or what the value is stored as. `addresses`: of
    the parts of the target and of each leaf, in `buffers`; `operand_of` gives equal views one number. `direction`: `any`, `forward` or `reverse`;
    `overlapping`: operands that share memory with the target at other places, so that only a fold may read them. `written`: what `value` was made of.
    """

    mode: Mode
    types: tuple[DType, ...]
    target: Leaf | Joined
    value: Expr | Weak
    found: Gathered
    addresses: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    operand_of: tuple[int, ...]
    direction: str
    overlapping: tuple[int, ...]
    options: Options
    written: Written | None = None

    @property
    def targets(self) -> tuple[Leaf, ...]:
        """Where the target lies."""
        return parts_of(self.target)

    @property
    def given(self) -> Expr | Weak:
        """The value as it was written."""
        return self.written.tree if self.written else self.value

    def __str__(self) -> str:
        return self.value.title if isinstance(self.value, Stores) else f"target {self.mode.symbol} {tree(self.given)}"


@dataclass
class Launch:
    """A kernel and what it is called with besides addresses and scalars."""

    code: Code | Calling
    arranged: Arranged
    pointers: struct.Struct
    sizes: bytes
    scalars: struct.Struct
    first: tuple[int, ...]  # of each operand, the position among targets and leaves
    release: bool
    threads: int  # at most; 0: as many as there are
    recompute: float
    hits: int = 0
    many: int = RELEASE  # elements of a target from which a direct call lets the interpreter lock go
    facts: cached.Facts | None = None  # of its kernel, if it is one
    grids: Grids | None = None  # of a kernel on a GPU

    direct: bool = True  # whether a direct call may be made for it

    @property
    def launched(self) -> Launching | None:
        """What launches it on a GPU."""
        return self.grids

    @property
    def address(self) -> int:
        """Of its machine code."""
        return self.code.address if self.launched is None else self.launched.address

    @property
    def current(self) -> bool:
        """Whether the driver that it was made for is still in force."""
        return self.launched is None or self.launched.current

    def enter(self, s: Statement) -> None:
        """Do what a statement does with it."""
        run_at(self, s.addresses, s.found.scalars, s.buffers)

    def words(self, addresses: Sequence[int], scalars: Sequence[Any]) -> bytes:
        """The kernel's arguments."""
        return self.places(addresses) + self.sizes + self.scalars.pack(*scalars)

    def places(self, addresses: Sequence[int]) -> bytes:
        """The first of them: where each operand lies."""
        at = [addresses[n] + shift for n, shift in zip(self.first, self.arranged.shifts, strict=True)]
        return self.pointers.pack(*at)


def run(s: Statement, launch: Launch) -> None:
    """Call the kernel."""
    if s.options.watched:
        late["watched"](s, launch)
        return
    launch.enter(s)


def run_at(launch: Launch, addresses: Sequence[int], scalars: Sequence[Any], buffers: Sequence[Buffer]) -> None:
    """Call the kernel of a launch with addresses in `buffers`."""
    words = launch.words(addresses, scalars)
    if launch.launched is not None:
        enter(launch.launched, words, buffers)
        return
    call = launch_ctypes if USE_CTYPES else launcher()
    with pinned(buffers, "assign"):
        call(launch.code.address, words, launch.release, launch.threads)


def enter(grids: Launching, words: bytes, buffers: Sequence[Buffer], more: object = None) -> None:
    """Launch on the target's stream, after all that was given to the streams of the operands, and before what is given to them. A
    graph that records it keeps `more`.
    """
    with place(buffers, grids.scratch, more) as queue:
        call(grids.address, words, queue.address)


@contextlib.contextmanager
def place(buffers: Sequence[Buffer], nbytes: int, more: object = None) -> Iterator[StreamQueue]:
    """The queue to launch on inside the block, with so much scratch memory: that of the target's stream, or of a graph that records."""
    graph = recording()
    if graph is not None:
        with graph.place(buffers, nbytes, more) as queue:
            yield queue
        return
    stream = buffers[0].stream
    queue = queue_of(stream)
    queue.reserve(nbytes)
    with pinned(buffers, "assign"), fenced(stream, [buffer.stream for buffer in buffers]):
        yield queue
    queue.check()


def call(address: int, words: bytes, queue: int) -> None:
    """Call machine code that launches on a queue."""
    (launch_ctypes if USE_CTYPES else launcher())(address, words, False, queue)


def run_pinned(address: int, words: bytes, buffers: Sequence[Buffer], threads: int = 0) -> None:
    """Call the kernel without the interpreter lock. The memory is pinned: nobody frees it meanwhile."""
    call = launch_ctypes if USE_CTYPES else launcher()
    with pinned(buffers, "assign"):
        call(address, words, True, threads)
