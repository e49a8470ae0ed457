"""The seam: everything that exprten asks of CUDA, and who answers.

Devices are numbers, streams are handles; handle 0 is the default stream of whatever device is named beside it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from typing import Protocol

from exprten_jit.directcall import slot_offsets
from exprten_jit.locks import lock

from ..errors import DeviceError
from .cublas import Gemm


class Event(Protocol):
    """A point in a stream."""

    @property
    def done(self) -> bool:
        """Whether everything before it has ended."""

    def synchronize(self) -> None:
        """Wait until everything before it has ended."""


class Driver(Protocol):
    """What exprten asks of CUDA. Nothing here waits for the device but the three functions named so."""

    # devices

    def count(self) -> int:
        """How many devices there are."""

    def name(self, device: int) -> str:
        """What the maker calls it."""

    def arch(self, device: int) -> str:
        """What code for it is compiled for: `sm_90`."""

    def multiprocessors(self, device: int) -> int:
        """How many blocks run at once, at least."""

    def room(self, device: int) -> tuple[int, int]:
        """Bytes of its memory that are free, and all of them."""

    def context(self, device: int) -> int:
        """The primary context, a CUcontext: machine code checks that it is current."""

    # memory

    def allocate(self, device: int, nbytes: int, stream: int) -> tuple[int, object]:
        """Memory from the pool, ordered by `stream`, at a multiple of 256 bytes, and what gives it back by dying.
        Raises MemoryError.
        """

    def allocate_host(self, nbytes: int) -> tuple[int, object]:
        """Page-locked memory of the host, and what gives it back by dying. Raises MemoryError."""

    def pooled(self, device: int) -> int:
        """Bytes that the pool holds, in use or not."""

    def release(self, device: int) -> None:
        """Give back to the device what the pool does not use."""

    def device_of(self, address: int) -> int:
        """The device that an address is of."""

    # copies: the addresses say which memory they are of, of the host or of any device

    def copy(self, device: int, dst: int, src: int, nbytes: int, stream: int) -> None:
        """Copy bytes."""

    def copy_rows(
        self, device: int, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: int
    ) -> None:
        """Copy `height` rows of `width` bytes, `pitch` bytes from one to the next."""

    # streams

    def current_stream(self, device: int) -> tuple[int, object]:
        """The stream that is current in this thread, and what it must not outlive."""

    def create_stream(self, device: int) -> tuple[int, object]:
        """A stream that waits for no other, and what destroys it by dying."""

    def enter_stream(self, device: int, stream: int) -> None:
        """Make a stream the current one of this thread."""

    def leave_stream(self, device: int) -> None:
        """Make the stream before the last that was entered the current one."""

    def synchronize(self, device: int) -> None:
        """Wait for everything on a device."""

    def synchronize_stream(self, device: int, stream: int) -> None:
        """Wait for everything on a stream."""

    def record(self, device: int, stream: int) -> Event:
        """An event after everything on a stream."""

    def order(self, before_device: int, before: int, after_device: int, after: int) -> None:
        """Let what comes on one stream wait for what is on another."""

    # kernels

    def load(self, device: int, source: str, image: Callable[[], bytes], name: str) -> int:
        """The kernel `name`, a CUfunction; `image` gives the cubin made of `source`."""

    def entries(self) -> dict[str, int]:
        """Addresses of `cuLaunchKernel`, `cuCtxGetCurrent`, `cuCtxPushCurrent` and `cuCtxPopCurrent`."""

    # products

    def without_gemm(self) -> str:
        """Why there is no `gemm`, and how to get it; empty where there is one."""

    def workspace(self, device: int) -> int:
        """Bytes of memory that `gemm` is to have to work in."""

    def gemm(self, device: int, stream: int, product: Gemm, workspace: int, nbytes: int) -> None:
        """Launch a product. Raises DeviceError where it is refused."""

    # graphs

    def begin_capture(self, device: int, stream: int) -> None:
        """Record what is given to a stream instead of running it."""

    def end_capture(self, device: int, stream: int) -> object:
        """What was recorded."""

    def launch_graph(self, device: int, graph: object, stream: int) -> None:
        """Run what was recorded."""


INSTALL = 'pip install "exprten[cuda13]", or "exprten[cuda12]" for a driver of CUDA 12'


class _InForce:
    """The driver in force, and whether this process was forked from one that had it. `launching` is the driver as well, while machine
    code may launch by itself: it reads that slot.
    """

    __slots__ = ("_driver", "_paused", "forked", "launching")

    def __init__(self) -> None:
        self._paused = 0
        self.forked = False
        self.driver = None

    @property
    def driver(self) -> Driver | None:
        return self._driver

    @driver.setter
    def driver(self, driver: Driver | None) -> None:
        self._driver = driver
        self.pause(0)

    def pause(self, more: int) -> None:
        """Let everything that launches go through Python: until it was paused as often less."""
        with _lock:
            self._paused += more
            self.launching = None if self._paused else self._driver

    def fork(self) -> None:
        """A CUDA context does not live on in a child."""
        self.forked = self.driver is not None
        self.driver = None


INSTALL = 'pip install "exprten[cuda13]", or "exprten[cuda12]" for a driver of CUDA 12'
_lock = lock()
_in_force = _InForce()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_force.fork)


def driver() -> Driver:
    """The driver in force; the first call makes it, with CuPy. Raises DeviceError, which says what is missing and how to get it."""
    if _in_force.driver is None:
        _in_force.driver = _cupy()
    return _in_force.driver


def made() -> Driver | None:
    """The driver in force, if anybody asked for it before."""
    return _in_force.driver


def launching() -> tuple[object, int]:
    """An object, and where in it machine code finds the driver while it may launch by itself."""
    return _in_force, slot_offsets(_in_force, ("launching",))["launching"]


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """Inside the block machine code launches nothing by itself, in any thread."""
    _in_force.pause(1)
    try:
        yield
    finally:
        _in_force.pause(-1)


@contextlib.contextmanager
def install(replacement: Driver) -> Iterator[Driver]:
    """Inside the block `replacement` answers. For tests: no memory of one driver may be used with another."""
    before, _in_force.driver = _in_force.driver, replacement
    try:
        yield replacement
    finally:
        _in_force.driver = before


def _cupy() -> Driver:
    if _in_force.forked:
        raise DeviceError(
            "gpu: this process was forked from one that used CUDA, and a CUDA context does not live on in a child; start it with "
            "multiprocessing.get_context('spawn')"
        )
    if importlib.util.find_spec("cupy") is None:
        raise DeviceError(f"gpu: CuPy is not installed; {INSTALL}; or use xt.cpu()")
    try:
        from .cupy_driver import CupyDriver

        return CupyDriver()
    except ImportError as error:
        raise DeviceError(f"gpu: CuPy cannot be imported: {error}; {INSTALL}; or use xt.cpu()") from error
    except RuntimeError as error:  # CUDARuntimeError is one
        raise DeviceError(
            f"gpu: CUDA does not start: {error}; it needs an NVIDIA GPU and its driver (nvidia-smi shows them), and a CuPy of the "
            f"driver's CUDA version: {INSTALL}; or use xt.cpu()"
        ) from error
