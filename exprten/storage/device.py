"""Devices: where tensors lie and kernels run; and streams, the order in which work on a device is done."""

from __future__ import annotations

import contextlib
import operator
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import DeviceError
from ..gpu.driver import driver
from ..gpu.recording import refuse


class Device:
    """A device by kind and number; equal devices are one object. `xt.cpu()` and `xt.gpu(i)` make them."""

    __slots__ = ("index", "kind")

    kind: str
    index: int

    def __new__(cls, kind: str, index: int = 0) -> Device:
        found = _devices.get((kind, index))
        if found is None:
            if kind not in ("cpu", "gpu"):
                raise DeviceError(f"Device: there is no kind of device {kind!r}; use xt.cpu() or xt.gpu(i)")
            found = super().__new__(cls)
            found.kind, found.index = kind, index
            found = _devices.setdefault((kind, index), found)
        return found

    def synchronize(self) -> None:
        """Wait until everything given to this device has ended. On the CPU an assignment has ended when it returns."""
        if self.kind == "gpu":
            refuse("synchronize")
            driver().synchronize(self.index)
            for stream in list(_streams.values()):
                if stream.device is self:
                    stream.check()

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self.kind, self.index)

    def __str__(self) -> str:
        return self.kind if self.kind == "cpu" else f"{self.kind}:{self.index}"

    def __repr__(self) -> str:
        return f"xt.{self.kind}({self.index if self.kind != 'cpu' else ''})"


_devices: dict[tuple[str, int], Device] = {}
_CPU = Device("cpu")


def cpu() -> Device:
    """The host processor and its memory.

    >>> cpu()
    xt.cpu()
    """
    return _CPU


class _Gpu:
    """`xt.gpu(i)`: CUDA device `i`. Raises DeviceError where there is none: it says what is missing, and how to get it."""

    def __call__(self, index: int = 0) -> Device:
        number = operator.index(index)
        there = driver().count()
        if not 0 <= number < there:
            raise DeviceError(
                f"gpu({number}): there {'is' if there == 1 else 'are'} {there} CUDA device{'s' * (there != 1)}, from gpu(0) on; "
                "CUDA_VISIBLE_DEVICES decides which are seen"
            )
        return Device("gpu", number)

    def count(self) -> int:
        """How many CUDA devices there are; 0 where CuPy or the driver is missing."""
        try:
            return driver().count()
        except DeviceError:
            return 0


gpu = _Gpu()


def check_device(device: Device | None, operation: str) -> None:
    """Raise TypeError for what is no device."""
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"{operation}: {device!r} is no device; use xt.cpu() or xt.gpu(i)")


class Stream:
    """An order of work on a device. The CPU has one: statements run when they are written. `xt.Stream(xt.gpu(0))` makes one more,
    which waits for no other. In a `with` block it is the current one, for CuPy too: tensors made there carry it.
    """

    __slots__ = ("__weakref__", "_owner", "device", "handle", "queue")

    queue: Any  # of a floor above: what launches on it share, once there was one
    device: Device
    handle: int  # a cudaStream_t; 0: the default stream

    def __init__(self, device: Device) -> None:
        check_device(device, "Stream")
        self.device = device
        self.handle, self._owner = (0, None) if device.kind == "cpu" else driver().create_stream(device.index)
        _streams.setdefault((device, self.handle), self)

    @staticmethod
    def external(stream: Any, device: Device | None = None) -> Stream:
        """The stream of another library: anything with `__cuda_stream__`, as CuPy's and PyTorch's have it, or a handle, which the
        caller keeps alive. `device` is gpu(0) unless given. Raises DeviceError for cudaStreamPerThread.
        """
        handle = stream.__cuda_stream__()[1] if hasattr(stream, "__cuda_stream__") else operator.index(stream)
        return _stream(gpu(0) if device is None else device, handle, stream)

    @staticmethod
    def here(handle: int, device: Device) -> Stream:
        """A stream that is waited for, or told to wait, at once and by this thread: here cudaStreamPerThread is one, too."""
        if handle != _PER_THREAD:
            return _stream(device, handle, None)
        made = Stream.__new__(Stream)
        made.device, made.handle, made._owner = device, handle, None
        return made

    def synchronize(self) -> None:
        """Wait until everything on this stream has ended. Raises DeviceError where a launch on it was refused."""
        if self.device.kind == "gpu":
            refuse("synchronize")
            driver().synchronize_stream(self.device.index, self.handle)
            self.check()

    def check(self) -> None:
        """Raise DeviceError where a launch was refused: machine code that launches does not look."""
        queue = getattr(self, "queue", None)
        if queue is not None:
            queue.check()

    def __enter__(self) -> Stream:
        if self.device.kind == "gpu":
            driver().enter_stream(self.device.index, self.handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self.device.kind == "gpu":
            driver().leave_stream(self.device.index)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.handle) == (other.device, other.handle)

    def __hash__(self) -> int:
        return hash((self.device, self.handle))

    def __repr__(self) -> str:
        return f"<stream {self.handle:#x} of {self.device!r}>" if self.handle else f"xt.Stream({self.device!r})"


# Equal streams are one object while anybody holds it. It holds what destroys the stream, so no handle comes twice.
_streams: weakref.WeakValueDictionary[tuple[Device, int], Stream] = weakref.WeakValueDictionary()
DEFAULT_STREAM = Stream(_CPU)
_LEGACY = 1  # another name of stream 0
_PER_THREAD = 2  # cudaStreamPerThread: of each thread another one


def _stream(device: Device, handle: int, owner: object) -> Stream:
    if handle == _PER_THREAD:
        raise DeviceError(
            f"stream: cudaStreamPerThread, handle {handle}, is another stream in every thread, and memory is in the order of one; use "
            f"`with xt.Stream({device!r}):`, or the default stream: without CuPy's CUPY_CUDA_PER_THREAD_DEFAULT_STREAM, and for "
            "PyTorch torch.cuda.default_stream()"
        )
    known = _streams.get((device, 0 if handle == _LEGACY else handle))
    if known is not None:
        return known
    made = Stream.__new__(Stream)
    made.device, made.handle, made._owner = device, 0 if handle == _LEGACY else handle, owner
    return _streams.setdefault((device, made.handle), made)


def current_stream(device: Device) -> Stream:
    """The stream that is current in this thread: of the innermost `with`, exprten's or CuPy's."""
    return DEFAULT_STREAM if device.kind == "cpu" else _stream(device, *driver().current_stream(device.index))


def order(before: Stream, after: Stream) -> None:
    """Let what comes on one stream wait for what is on another."""
    if before != after and "cpu" not in (before.device.kind, after.device.kind):
        driver().order(before.device.index, before.handle, after.device.index, after.handle)


@contextlib.contextmanager
def fenced(stream: Stream, others: Iterable[Stream]) -> Iterator[None]:
    """Work inside the block goes to `stream`, on memory of `others`: it waits for these, and they wait for it. So all work on a
    buffer is in the order of the buffer's own stream, whoever does it.
    """
    apart = [other for other in others if other is not stream]  # mostly none: equal streams are one object
    apart = [other for other in dict.fromkeys(apart) if other != stream] if apart else apart
    for other in apart:
        order(other, stream)
    try:
        yield
    finally:
        for other in apart:
            order(stream, other)
