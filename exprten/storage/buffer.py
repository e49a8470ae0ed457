"""Memory: who owns it, who may free it, and how much there is.

A Buffer is memory with a lifetime. Handles, expressions and exports hold it; the last of them to go frees it. `free` gives
owned memory back early, for every handle at once: its address becomes 0, which is what every use checks.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from exprten_jit.locks import lock

from ..errors import FreedSpaceError, OutOfMemoryError
from ..gpu.driver import driver
from .device import DEFAULT_STREAM, Device, Stream, cpu, current_stream, gpu

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
ROW_ALIGNMENT = {
    "cpu": ALIGNMENT,
    "gpu": 256,
}  # bytes, of the rows of a padded tensor: on a GPU that of every base address


@dataclass
class Memory:
    """Tensor memory that exprten allocated: `allocations` and `frees` count, `bytes_in_use` and `peak_bytes` measure. Of one device:
    `xt.memory.on(device)`; page-locked memory of the host is the CPU's.
    """

    allocations: int = 0
    frees: int = 0
    bytes_in_use: int = 0
    peak_bytes: int = 0

    def __post_init__(self) -> None:
        self._lock = lock()  # a buffer may die while another is being counted
        self._of: dict[Device, Memory] = {}

    def on(self, device: Device) -> Memory:
        """The part of one device."""
        return self._of.get(device) or self._of.setdefault(device, Memory())

    def _allocated(self, nbytes: int, device: Device) -> None:
        with self._lock:
            for part in (self, self.on(device)):
                part.allocations += 1
                part.bytes_in_use += nbytes
                part.peak_bytes = max(part.peak_bytes, part.bytes_in_use)

    def _freed(self, nbytes: int, device: Device) -> None:
        with self._lock:
            for part in (self, self.on(device)):
                part.frees += 1
                part.bytes_in_use -= nbytes


memory = Memory()


pin_lock = lock()  # of every buffer's `pins` and of freeing: a kernel may begin while another thread frees


class Buffer:
    """`nbytes` of memory from `address`; an address of 0 means there is none any more. All work on it is in the order of `stream`."""

    __slots__ = ("address", "device", "exports", "graphs", "nbytes", "owned", "owner", "pins", "readonly", "stream")

    def __init__(
        self,
        address: int,
        nbytes: int,
        owner: object,
        device: Device,
        owned: bool,
        readonly: bool,
        stream: Stream = DEFAULT_STREAM,
    ) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.device = device
        self.stream = stream
        self.owned = owned  # counted by `memory`, may be freed early
        self.readonly = readonly
        self.exports = 0  # NumPy or DLPack views that live
        self.pins = 0  # kernels that run on it, or are about to
        self.graphs = 0  # recorded, that have its address

    def free(self) -> None:
        """Give the memory back now. Raises FreedSpaceError the second time, BufferError while it is in use elsewhere."""
        with pin_lock:
            if not self.address:
                raise FreedSpaceError("free_space: the tensor has no memory: it was freed already, or never allocated")
            self.check_unused("free_space")
            owner = self._release()
        del owner  # somebody's destructor may run: not under the lock

    def check_unused(self, operation: str) -> None:
        """Raise BufferError while an export lives or a kernel runs on this memory."""
        if self.exports:
            raise BufferError(
                f"{operation}: {self.exports} exported view(s) of the memory live (t.numpy(), np.asarray(t) or DLPack); delete them first"
            )
        if self.graphs:
            raise BufferError(f"{operation}: {self.graphs} recorded graph(s) use the memory; delete them first")
        if self.pins:
            raise BufferError(f"{operation}: a kernel is running on the memory in another thread")

    def _release(self) -> object:
        """Let the memory go; returns what kept it."""
        if self.owned:
            memory._freed(self.nbytes, self.device)
        owner, self.owner, self.address = self.owner, None, 0
        return owner

    def __del__(self) -> None:
        if self.address:
            self._release()


@contextlib.contextmanager
def pinned(buffers: Sequence[Buffer], operation: str) -> Iterator[None]:
    """Memory that nobody frees inside the block. Raises FreedSpaceError where somebody has already: in another thread, since its
    address was read.
    """
    with pin_lock:
        if not all(buffer.address for buffer in buffers):
            raise FreedSpaceError(f"{operation}: the memory of an operand was freed by another thread")
        for buffer in buffers:
            buffer.pins += 1
    try:
        yield
    finally:
        with pin_lock:
            for buffer in buffers:
                buffer.pins -= 1


def graphed(buffer: Buffer, more: int) -> None:
    """Count the graphs that have the address of a buffer. Raises FreedSpaceError for one more where it was freed."""
    with pin_lock:
        if more > 0 and not buffer.address:  # a graph and its buffers may die together, in any order
            raise FreedSpaceError("graph_capture: the memory of an operand was freed by another thread")
        buffer.graphs += more


NO_MEMORY = Buffer(0, 0, None, cpu(), owned=False, readonly=False)  # of every handle that was not allocated yet


class Promised(Buffer):
    """Memory of an argument of a kernel while the kernel is traced: there is none yet. `trace` records what is stored to it."""

    __slots__ = ("position", "trace")

    def __init__(self, trace: Any, position: int, device: Device) -> None:
        super().__init__(0, 0, None, device, owned=False, readonly=False)
        self.trace = trace  # Any: a floor above
        self.position = position


class HostBuffer(Buffer):
    """Page-locked memory of the host: a GPU copies from and to it by itself."""

    __slots__ = ()


def allocate(nbytes: int, device: Device, zeroed: bool = False) -> Buffer:
    """Memory, aligned to 64 bytes, on a GPU to 256 and in the order of the current stream; of the CPU it may be `zeroed`. Raises
    OutOfMemoryError with the amounts.
    """
    if device.kind == "gpu":
        return _on_gpu(nbytes, gpu(device.index))
    try:
        block = (np.zeros if zeroed else np.empty)(nbytes + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError) as error:  # ValueError: more than NumPy can count
        raise _out_of_memory(nbytes, device, "") from error
    start = ctypes.addressof(ctypes.c_char.from_buffer(block.data))  # an array's own `ctypes` takes five times as long
    address = -(-start // ALIGNMENT) * ALIGNMENT
    memory._allocated(nbytes, device)
    return Buffer(address, nbytes, block, device, owned=True, readonly=False)


def _on_gpu(nbytes: int, device: Device) -> Buffer:
    stream = current_stream(device)
    address, owner = from_pool(nbytes, device, stream.handle)
    memory._allocated(nbytes, device)
    return Buffer(address, nbytes, owner, device, owned=True, readonly=False, stream=stream)


def from_pool(nbytes: int, device: Device, stream: int) -> tuple[int, object]:
    """Memory of a GPU that no tensor has, in the order of a stream, and what gives it back by dying. Where it is short the pool gives
    back what it does not use. Raises OutOfMemoryError.
    """
    here = driver()
    asked = (device.index, max(nbytes, 1), stream)  # of 0 bytes there would be no address
    try:
        return here.allocate(*asked)
    except MemoryError:
        here.release(device.index)
    try:
        return here.allocate(*asked)
    except MemoryError as error:
        free, total = here.room(device.index)
        held = f", the pool holds {here.pooled(device.index)}, and {free} of {total} are free"
        raise _out_of_memory(nbytes, device, held) from error


def allocate_host(nbytes: int) -> Buffer:
    """Uninitialised page-locked memory. Raises OutOfMemoryError."""
    address, owner = page_locked(nbytes)
    memory._allocated(nbytes, cpu())
    return HostBuffer(address, nbytes, owner, cpu(), owned=True, readonly=False)


def page_locked(nbytes: int) -> tuple[int, object]:
    """Page-locked memory that no tensor has, and what gives it back by dying. Raises OutOfMemoryError."""
    try:
        return driver().allocate_host(max(nbytes, 1))
    except MemoryError as error:
        raise _out_of_memory(nbytes, cpu(), ", and it must be page-locked") from error


def _out_of_memory(nbytes: int, device: Device, more: str) -> OutOfMemoryError:
    in_use = memory.on(device).bytes_in_use
    return OutOfMemoryError(
        f"allocate: {nbytes} bytes on {device} are not to be had; {in_use} bytes are in use by exprten{more}"
    )


def borrow(
    address: int, nbytes: int, owner: object, device: Device, readonly: bool, stream: Stream = DEFAULT_STREAM
) -> Buffer:
    """Memory of somebody else, kept alive by holding `owner`."""
    return Buffer(address or NO_ADDRESS, nbytes, owner, device, owned=False, readonly=readonly, stream=stream)


NO_ADDRESS = ALIGNMENT  # stands for the address of borrowed memory of 0 bytes: not 0, never read


class Export:
    """The base of an array that NumPy sees over a buffer: while it lives, so does the memory, and `free` refuses."""

    __slots__ = ("__array_interface__", "buffer")

    def __init__(self, buffer: Buffer, interface: dict[str, Any]) -> None:
        self.buffer = buffer
        self.__array_interface__ = interface
        buffer.exports += 1

    def __del__(self) -> None:
        self.buffer.exports -= 1
