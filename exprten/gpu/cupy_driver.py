"""CUDA as CuPy knows it: its memory pool, its current device and stream, its modules.

CuPy's public names only. The current device of the thread is the caller's again after every call.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import cupy
from cupy.cuda import Device, Event, Module, Stream, driver, runtime
from exprten_jit.locks import lock

from ..errors import DeviceError
from .cublas import Cublas, CublasError, Gemm, library, workspace

_NO_MEMORY = 2  # cudaErrorMemoryAllocation, which CuPy has no name for
_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"  # CuPy has loaded it: this gives it a name


class CupyDriver:
    """The devices that CuPy sees. Raises `cupy.cuda.runtime.CUDARuntimeError` where there is no driver."""

    def __init__(self) -> None:
        self._devices = [Device(n) for n in range(runtime.getDeviceCount())]
        self._modules: list[Any] = []  # a kernel may be launched as long as the process lives
        self._local = threading.local()
        self._cublas: dict[int, Cublas] = {}
        self._lock = lock()

    # devices

    def count(self) -> int:
        """How many devices there are."""
        return len(self._devices)

    def name(self, device: int) -> str:
        """What the maker calls it."""
        return str(runtime.getDeviceProperties(device)["name"], "utf-8")

    def arch(self, device: int) -> str:
        """What code for it is compiled for: `sm_90`."""
        return f"sm_{self._devices[device].compute_capability}"

    def multiprocessors(self, device: int) -> int:
        """How many blocks run at once, at least."""
        return int(self._devices[device].attributes["MultiProcessorCount"])

    def room(self, device: int) -> tuple[int, int]:
        """Bytes of its memory that are free, and all of them."""
        free, total = self._devices[device].mem_info
        return free, total

    def context(self, device: int) -> int:
        """The primary context."""
        with self._devices[device]:
            runtime.free(0)  # makes the context current, which a thread's first call does
            return int(driver.ctxGetCurrent())

    # memory

    def allocate(self, device: int, nbytes: int, stream: int) -> tuple[int, object]:
        """Memory from the pool that CuPy uses in this thread, ordered by `stream`, and what gives it back by dying."""
        with self._devices[device], _memory_errors():
            if cupy.cuda.get_current_stream().ptr == stream:
                found = cupy.cuda.alloc(nbytes)
            else:
                with Stream.from_external(_Handle(stream)):
                    found = cupy.cuda.alloc(nbytes)
            return int(found.ptr), found

    def allocate_host(self, nbytes: int) -> tuple[int, object]:
        """Page-locked memory of the host."""
        with _memory_errors():
            found = cupy.cuda.alloc_pinned_memory(nbytes)
            return int(found.ptr), found

    def pooled(self, device: int) -> int:
        """Bytes that the pool holds, in use or not."""
        with self._devices[device]:
            return int(cupy.get_default_memory_pool().total_bytes())

    def release(self, device: int) -> None:
        """Give back to the device what the pool does not use."""
        with self._devices[device]:
            cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()

    def device_of(self, address: int) -> int:
        """The device that an address is of."""
        return int(runtime.pointerGetAttributes(address).device)

    # copies

    def copy(self, device: int, dst: int, src: int, nbytes: int, stream: int) -> None:
        """Copy bytes; the addresses say which memory they are of."""
        with self._devices[device]:
            runtime.memcpyAsync(dst, src, nbytes, runtime.memcpyDefault, stream)

    def copy_rows(
        self, device: int, dst: int, dst_pitch: int, src: int, src_pitch: int, width: int, height: int, stream: int
    ) -> None:
        """Copy `height` rows of `width` bytes, `pitch` bytes from one to the next."""
        with self._devices[device]:
            runtime.memcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, runtime.memcpyDefault, stream)

    # streams

    def current_stream(self, device: int) -> tuple[int, object]:
        """The stream that is CuPy's in this thread, and what it must not outlive."""
        found = cupy.cuda.get_current_stream(device)
        return int(found.ptr), found

    def create_stream(self, device: int) -> tuple[int, object]:
        """A stream that waits for no other, and what destroys it by dying."""
        with self._devices[device]:
            made = Stream(non_blocking=True)
        return int(made.ptr), made

    def enter_stream(self, device: int, stream: int) -> None:
        """Make a stream the current one of the thread, for CuPy too."""
        entered = self._entered()
        with self._devices[device]:
            made = Stream.from_external(_Handle(stream))
            made.__enter__()
        entered.append(made)

    def leave_stream(self, device: int) -> None:
        """Make the stream before the last that was entered the current one."""
        with self._devices[device]:  # CuPy's default stream belongs to whatever device is current
            self._entered().pop().__exit__()

    def _entered(self) -> list[Any]:
        if not hasattr(self._local, "entered"):
            self._local.entered = []
        entered: list[Any] = self._local.entered
        return entered

    def synchronize(self, device: int) -> None:
        """Wait for everything on a device."""
        self._devices[device].synchronize()

    def synchronize_stream(self, device: int, stream: int) -> None:
        """Wait for everything on a stream."""
        with self._devices[device]:
            runtime.streamSynchronize(stream)

    def record(self, device: int, stream: int) -> Any:
        """An event after everything on a stream: it has `done` and `synchronize()`."""
        with self._devices[device]:
            event = Event(disable_timing=True)
            runtime.eventRecord(event.ptr, stream)
        return event

    def order(self, before_device: int, before: int, after_device: int, after: int) -> None:
        """Let what comes on one stream wait for what is on another."""
        event = self._event(before_device)
        with self._devices[before_device]:
            runtime.eventRecord(event.ptr, before)
        with self._devices[after_device]:
            runtime.streamWaitEvent(after, event.ptr)

    def _event(self, device: int) -> Any:
        """The event of a thread for `order`: a wait is for the record before it, so one event serves all."""
        events: dict[int, Any] = self._local.__dict__.setdefault("events", {})
        if device not in events:
            with self._devices[device]:
                events[device] = Event(disable_timing=True)
        return events[device]

    # kernels

    def load(self, device: int, source: str, image: Callable[[], bytes], name: str) -> int:  # noqa: ARG002  # another driver reads the text
        """The kernel `name` of a cubin, as a CUfunction."""
        with self._devices[device]:
            module = Module()
            module.load(image())
            function = module.get_function(name)
        self._modules.append(function)
        return int(function.ptr)

    def entries(self) -> dict[str, int]:
        """Addresses of functions of the driver."""
        library = ctypes.CDLL(_LIBRARY)
        names = ("cuLaunchKernel", "cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2")
        return {n.removesuffix("_v2"): ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for n in names}

    # products

    @cached_property
    def _products(self) -> ctypes.PyDLL | str:
        return library(runtime.runtimeGetVersion() // 1000)

    def without_gemm(self) -> str:
        """Why there is no cuBLAS, and how to get it."""
        return self._products if isinstance(self._products, str) else ""

    def workspace(self, device: int) -> int:
        """What NVIDIA recommends for the chip."""
        return workspace(self.arch(device))

    def gemm(self, device: int, stream: int, product: Gemm, workspace: int, nbytes: int) -> None:
        """Launch a product with a handle of our own: CuPy's has CuPy's stream, workspace and modes."""
        with self._devices[device]:
            try:
                self._handle(device).gemm(product, stream, workspace, nbytes)
            except CublasError as error:
                raise DeviceError(f"gpu: {error}, on gpu({device}), for {product}") from error

    def _handle(self, device: int) -> Cublas:
        with self._lock:
            if device not in self._cublas:
                assert not isinstance(self._products, str), "nobody asks for a product without cuBLAS"
                self._cublas[device] = Cublas(self._products)
            return self._cublas[device]

    # graphs

    def begin_capture(self, device: int, stream: int) -> None:
        """Record what is given to a stream instead of running it."""
        with self._devices[device]:
            runtime.streamBeginCapture(stream)

    def end_capture(self, device: int, stream: int) -> object:
        """What was recorded."""
        with self._devices[device]:
            return _Graph(runtime.streamEndCapture(stream))

    def launch_graph(self, device: int, graph: Any, stream: int) -> None:
        """Run what was recorded."""
        with self._devices[device]:
            runtime.graphLaunch(graph.executable, stream)


@contextlib.contextmanager
def _memory_errors() -> Iterator[None]:
    """CuPy's pool raises MemoryError; without a pool, and for page-locked memory, the error is CUDA's."""
    try:
        yield
    except runtime.CUDARuntimeError as error:
        if error.status != _NO_MEMORY:
            raise
        raise MemoryError(str(error)) from error


class _Handle:
    """A stream as CuPy takes one of another library (the CUDA stream protocol)."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class _Graph:
    """A recorded graph, made executable."""

    def __init__(self, graph: int) -> None:
        try:
            self.executable = runtime.graphInstantiate(graph)
        finally:
            runtime.graphDestroy(graph)  # what is executable is a copy

    def __del__(self) -> None:
        if hasattr(self, "executable"):
            runtime.graphExecDestroy(self.executable)
