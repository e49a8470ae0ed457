"""CUDA graphs: the launches of a block of statements, recorded once and replayed as one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from .errors import DeviceError
from .gpu.driver import driver, paused
from .gpu.recording import record, refuse
from .statement.grids import StreamQueue, queue_of
from .storage.buffer import Buffer, graphed, pinned
from .storage.device import Device, Stream, check_device, current_stream, fenced


class Graph:
    """The launches of the statements in a `graph_capture` block. It holds their memory: freeing that is a BufferError meanwhile."""

    def __init__(self, device: Device) -> None:
        self._buffers: dict[int, Buffer] = {}
        self._device, self._driver = device, driver()
        self._stream = Stream(device)
        self._queue = queue_of(self._stream)
        self._memory: list[object] = []  # scratch and tables: every launch has the addresses of its own
        self._streams: tuple[Stream, ...] = ()
        self._made: object = None

    @contextlib.contextmanager
    def place(self, buffers: Sequence[Buffer], nbytes: int, more: object) -> Iterator[StreamQueue]:
        """The queue to launch on inside the block, with so much scratch memory. `more`, memory that is read, is kept. Raises DeviceError
        for another device.
        """
        other = next((buffer.device for buffer in buffers if buffer.device is not self._device), None)
        if other is not None:
            raise DeviceError(
                f"graph_capture: a statement on {other} inside of a block for {self._device}; move it out"
            )
        self._keep(buffers)
        self._queue.reserve(nbytes, buffers[0].stream.handle)
        self._memory += [self._queue.memory, more]
        with pinned(buffers, "graph_capture"):
            yield self._queue
        self._queue.check()

    def _keep(self, buffers: Sequence[Buffer]) -> None:
        for buffer in buffers:
            if id(buffer) not in self._buffers:
                graphed(buffer, 1)
                self._buffers[id(buffer)] = buffer

    def replay(self) -> None:
        """Run what was recorded, after all that was given to the streams of its tensors, and before what is given to them. Does not
        wait. Raises DeviceError before the end of the block.
        """
        if self._made is None or self._driver is not driver():
            raise DeviceError("replay: there is no graph: graph_capture has not ended, or an error ended it")
        refuse("replay")
        stream = self._streams[0] if self._streams else current_stream(self._device)
        with fenced(stream, self._streams):
            self._driver.launch_graph(self._device.index, self._made, stream.handle)

    @contextlib.contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record inside the block."""
        here, index, handle = self._driver, self._device.index, self._stream.handle
        here.begin_capture(index, handle)
        record(self)
        try:
            yield
        except BaseException:
            record(None)
            with contextlib.suppress(Exception):  # the first error says more
                here.end_capture(index, handle)
            raise
        record(None)
        self._made = here.end_capture(index, handle)
        self._streams = tuple(dict.fromkeys(buffer.stream for buffer in self._buffers.values()))

    def __del__(self) -> None:
        for buffer in self._buffers.values():
            graphed(buffer, -1)

    def __repr__(self) -> str:
        return f"<graph on {self._device!r} over {len(self._buffers)} buffers>"


@contextlib.contextmanager
def graph_capture(device: Device) -> Iterator[Graph]:
    """A graph of the statements inside the block, which run when it is replayed: `with xt.graph_capture(xt.gpu(0)) as g: ...`, then
    `g.replay()`, as often as wanted, at the price of one launch.

    Addresses, sizes and scalars are those of the block; what is to differ has to be read from a tensor, one of shape () for a number.
    Raises DeviceError for the CPU, and inside the block for copies from and to the host, for whatever waits, for another device.
    """
    check_device(device, "graph_capture")
    if device.kind != "gpu":
        raise DeviceError(
            "graph_capture: on the CPU there are no graphs; run the statements, which have ended when they return"
        )
    refuse("graph_capture")
    graph = Graph(device)
    with paused(), graph._recorded():
        yield graph
