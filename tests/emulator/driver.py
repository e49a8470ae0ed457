"""A CUDA driver whose devices are memory of the host: what runs here is exprten's own order of copies, events and launches.

Every operation stands in a queue of its stream. An eager driver runs it at once; a lazy one as late as the events allow, so that a
missing order shows as wrong numbers. Either way `races` names every two operations that touch the same bytes, one of them
writing, without an order between them.
"""

# ruff: noqa: ARG002  # the methods are those of exprten.gpu.driver.Driver, needed here or not

import ctypes
import functools
import sys
import threading
from collections import deque
from contextlib import contextmanager

import numpy as np

from exprten.gpu.driver import install

from . import Emulator, why_not
from .gemm import WORKSPACE, Span, matrices, multiply
from .graphs import Graph, argument_bytes

ROUND = 512  # bytes: CuPy's pool holds multiples of it
FRESH, STALE = 0xFF, 0xFD  # bytes of memory that nobody wrote yet, or that was given back: NaNs
CONTEXT = 0xC0DE00  # + device


class Event:
    """A point in a stream; `clock`: what happens before it."""

    def __init__(self, emulated, key, clock):
        self.emulated, self.key, self.clock, self.passed = emulated, key, clock, False

    @property
    def done(self):
        if self.passed:
            self.emulated._seen(self.clock)
        return self.passed

    def synchronize(self):
        self.emulated._until(self)
        self.emulated._seen(self.clock)


class _Block:
    """Memory of a device; dying gives it back to the pool."""

    def __init__(self, emulated, device, stream, address):
        self.emulated, self.key, self.address = emulated, (device, stream), address

    def __del__(self):
        if sys is not None and not sys.is_finalizing():
            self.emulated._give_back(self.key, self.address)


class _Stream:
    """A stream that lives; dying destroys it."""

    def __init__(self, emulated, handle):
        self.emulated, self.handle = emulated, handle

    def __del__(self):
        self.emulated.streams.discard(self.handle)


class _HostBlock:
    """Page-locked memory; dying while a copy may still read it is a race."""

    def __init__(self, emulated, array, span):
        self.emulated, self.array, self.span = emulated, array, span

    def __del__(self):
        if sys is not None and not sys.is_finalizing():
            self.emulated._host_freed(self.span)


class _Unwatched:
    """Memory without g++: what is written beside a block is not noticed."""

    def __init__(self):
        self._arrays = {}

    def allocate(self, nbytes):
        array = np.empty(nbytes + 256, np.uint8)
        address = -(-array.ctypes.data // 256) * 256
        self._arrays[address] = array
        return address

    def free(self, address):
        del self._arrays[address]

    def verify(self):
        pass


@functools.cache
def _memory():
    return _Unwatched() if why_not() else _emulator().memory


class EmulatedDriver:
    """`devices` devices of `capacity` bytes each."""

    def __init__(self, devices=2, capacity=1 << 28, lazy=False, arch="sm_90"):
        self.devices, self.capacity, self.lazy, self._arch = devices, capacity, lazy, arch
        self.log = []  # what was asked for, in order
        self.races = []
        self.products = []  # the arguments of every one
        self.streams = set()  # handles that live
        self.held = [0] * devices  # bytes that each pool holds, in use or not
        self._used = []  # (name, key, time, reads, writes) of every operation
        self._clocks, self._queues, self._free = {}, {}, {}
        self._host = {}  # what has happened when the host goes on
        self._live = {}  # address -> device, bytes
        self._next = 0x5000
        self._current = threading.local()
        self._contexts = threading.local()
        self._callbacks = None
        self._graphs = {}  # streams that are recorded
        self._arguments = {}  # function -> bytes of each of its arguments
        self.failed = []  # results of launches of graphs, but for 0
        self.closed = False  # what dies from now on is no use to a pool

    # devices

    def count(self):
        return self.devices

    def name(self, device):
        return f"emulated device {device}"

    def arch(self, device):
        return self._arch

    def multiprocessors(self, device):
        return 4

    def room(self, device):
        return self.capacity - self.held[device], self.capacity

    def context(self, device):
        self._check(device, 0)
        return CONTEXT + device

    # memory

    def allocate(self, device, nbytes, stream):
        self._check(device, stream)
        self.log.append(("allocate", device, stream, nbytes))
        found = self._free.get((device, stream, nbytes))
        if found:
            address = found.pop()
        else:
            if self.held[device] + _rounded(nbytes) > self.capacity:
                raise MemoryError(f"emulated device {device} is full")
            self.held[device] += _rounded(nbytes)
            address = _memory().allocate(nbytes)
        if not self.lazy:  # else something that is still to run may use it
            ctypes.memset(address, FRESH, nbytes)
        self._live[address] = (device, nbytes)
        return address, _Block(self, device, stream, address)

    def _give_back(self, key, address):
        _, nbytes = self._live.pop(address)
        if not self.lazy:
            ctypes.memset(address, STALE, nbytes)
        self._free.setdefault((*key, nbytes), []).append(address)
        self.log.append(("free", *key, nbytes))
        if self.closed:
            self.release(key[0])

    def allocate_host(self, nbytes):
        if nbytes > self.capacity:
            raise MemoryError("the host has no such page-locked memory")
        array = np.empty(nbytes + 256, np.uint8)
        address = -(-array.ctypes.data // 256) * 256
        self.log.append(("allocate_host", nbytes))
        return address, _HostBlock(self, array, Span(address, nbytes, nbytes, 1))

    def _host_freed(self, span):
        self.log.append(("free_host", span.width))
        self._look("free_host", ("host", 0), self._host, (), (span,))

    def pooled(self, device):
        return self.held[device]

    def release(self, device):
        self.log.append(("release", device))
        for key in [k for k in self._queues if k[0] == device]:  # freeing memory waits for the device
            self._drain(key)
        for key in [k for k in self._free if k[0] == device]:
            for address in self._free.pop(key):
                self.held[device] -= _rounded(key[2])
                _memory().free(address)

    def device_of(self, address):
        return self._device_of(Span(address, 1, 1, 1))

    # copies

    def copy(self, device, dst, src, nbytes, stream):
        self.copy_rows(device, dst, nbytes, src, nbytes, nbytes, 1, stream)

    def copy_rows(self, device, dst, dst_pitch, src, src_pitch, width, height, stream):
        self._check(device, stream)
        assert min(dst_pitch, src_pitch) >= width > 0 and height > 0, "cudaErrorInvalidPitchValue"
        into, out_of = Span(dst, dst_pitch, width, height), Span(src, src_pitch, width, height)
        assert self._device_of(into) is not None or self._device_of(out_of) is not None, (
            "a copy on a device is not for the host"
        )

        def run():
            for row in range(height):
                ctypes.memmove(dst + row * dst_pitch, src + row * src_pitch, width)

        self._submit("copy" if height == 1 else "copy_rows", (device, stream), run, (out_of,), (into,))

    def _device_of(self, span):
        """The device that rows of bytes lie on, in memory that lives; None: on the host."""
        end = span.start + span._reach()
        for address, (device, size) in self._live.items():
            if address < end and span.start < address + size:
                assert address <= span.start and end <= address + size, "a copy over the end of a block"
                return device
        for (*_, size), blocks in self._free.items():
            for first in blocks:
                assert not (first < end and span.start < first + size), "a copy of memory that was freed"
        return None

    # streams

    def current_stream(self, device):
        return self._entered(device)[-1]

    def create_stream(self, device):
        self._next += 0x10
        self.streams.add(self._next)
        return self._next, _Stream(self, self._next)

    def enter_stream(self, device, stream):
        self._check(device, stream)
        self._entered(device).append((stream, None))

    def leave_stream(self, device):
        self._entered(device).pop()

    def _entered(self, device):
        stacks = self._current.__dict__.setdefault("stacks", {})
        return stacks.setdefault(device, [(0, None)])

    def synchronize(self, device):
        assert all(key[0] != device for key in self._graphs), "cudaErrorStreamCaptureUnsupported"
        self.log.append(("synchronize", device))
        for key in [k for k in self._queues if k[0] == device]:
            self._drain(key)
            self._seen(self._clocks[key])

    def synchronize_stream(self, device, stream):
        self._check(device, stream)
        assert (device, stream) not in self._graphs, "cudaErrorStreamCaptureUnsupported"
        self.log.append(("synchronize_stream", device, stream))
        self._drain((device, stream))
        self._seen(self._clocks.get((device, stream), {}))

    def record(self, device, stream):
        self._check(device, stream)
        key = (device, stream)
        event = Event(self, key, {})

        def run():
            event.passed = True

        event.clock.update(self._submit("record", key, run))
        return event

    def order(self, before_device, before, after_device, after):
        event = self.record(before_device, before)
        self._check(after_device, after)
        _merge(self._clocks.setdefault((after_device, after), {}), event.clock)
        self._submit("wait", (after_device, after), lambda: self._until(event))

    # the queues

    def _submit(self, name, key, run, reads=(), writes=()):
        assert key not in self._graphs, "cudaErrorStreamCaptureUnsupported"
        clock = self._clocks.setdefault(key, {})
        _merge(clock, self._host)
        clock[key] = clock.get(key, 0) + 1
        self.log.append((name, *key))
        self._look(name, key, clock, reads, writes)
        self._queues.setdefault(key, deque()).append(run)
        if not self.lazy:
            self._drain(key)
        return dict(clock)

    def _look(self, name, key, clock, reads, writes):
        """Note a race with anything before that has no order."""
        for other, where, time, read, written in self._used:
            if time <= clock.get(where, 0):
                continue
            pairs = [*((a, b) for a in writes for b in (*read, *written)), *((a, b) for a in reads for b in written)]
            if any(a.touches(b) for a, b in pairs):
                self.races.append(f"{other} on {where} and {name} on {key}")
        if key in self._clocks and (reads or writes):
            self._used.append((name, key, clock[key], reads, writes))

    def _drain(self, key):
        queue = self._queues.get(key, ())
        while queue:
            queue.popleft()()

    def _until(self, event):
        queue = self._queues[event.key]
        while not event.passed:
            queue.popleft()()

    def _seen(self, clock):
        _merge(self._host, clock)
        # What the host has seen is before everything that it asks for from now on.
        self._used = [used for used in self._used if used[2] > self._host.get(used[1], 0)]

    # kernels

    @property
    def emulator(self):
        """What runs the kernels: one for all drivers."""
        return _emulator()

    def load(self, device, source, image, name):
        self._check(device, 0)
        function = self.emulator.function(source, name)
        self._arguments[function] = argument_bytes(source, name)
        return function

    def entries(self):
        if self._callbacks is None:
            kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
            push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
            self._run = _LAUNCH(self.emulator.launch_address)
            self._callbacks = {
                "cuLaunchKernel": _LAUNCH(self._launch),
                "cuCtxGetCurrent": kind(self._get_context),
                "cuCtxPushCurrent": push(self._push_context),
                "cuCtxPopCurrent": kind(self._pop_context),
            }
        return {n: ctypes.cast(f, ctypes.c_void_p).value for n, f in self._callbacks.items()}

    def _launch(self, function, *how):
        """Run a kernel when everything before it on its stream has run; a kernel is not put off."""
        key = ((self._stack() or [CONTEXT])[-1] - CONTEXT, how[7] or 0)
        if key in self._graphs:
            self._graphs[key].launch(function, how[:7], how[8], self._arguments[function])
            return 0
        self._check(*key)
        status = []
        self._submit("launch", key, lambda: status.append(self._run(function, *how)))
        self._drain(key)
        return status[0]

    def _stack(self):
        return self._contexts.__dict__.setdefault("stack", [])

    def _get_context(self, out):
        out[0] = self._stack()[-1] if self._stack() else None
        return 0

    def _push_context(self, context):
        self._stack().append(context)
        return 0

    def _pop_context(self, out):
        context = self._stack().pop()
        if out:
            out[0] = context
        return 0

    # products

    missing_gemm = ""  # why there is no cuBLAS

    def without_gemm(self):
        return self.missing_gemm

    def workspace(self, device):
        return WORKSPACE

    def gemm(self, device, stream, product, workspace, nbytes):
        self._check(device, stream)
        a, b, c = matrices(product)
        room = Span(workspace, nbytes, nbytes, 1)
        assert workspace % 256 == 0 and nbytes == WORKSPACE, "a workspace at a multiple of 256 bytes"
        for span in (*a.spans, *b.spans, *c.spans, room):
            assert self._device_of(span) == device, f"{span} is not on device {device}"
        reads = (*a.spans, *b.spans, *(c.spans if product.beta else ()))
        self.products.append(product)
        if (device, stream) in self._graphs:
            self._graphs[device, stream].steps.append(lambda *_: multiply(product))
            return
        self._submit("gemm", (device, stream), lambda: multiply(product), reads, (*c.spans, room))

    # graphs

    def begin_capture(self, device, stream):
        self._check(device, stream)
        assert stream not in (0, 1, 2), "cudaErrorStreamCaptureUnsupported"
        self.log.append(("begin_capture", device, stream))
        self._graphs[device, stream] = Graph()

    def end_capture(self, device, stream):
        self.log.append(("end_capture", device, stream))
        return self._graphs.pop((device, stream))

    def launch_graph(self, device, graph, stream):
        self._check(device, stream)
        self._submit("graph", (device, stream), lambda: self.failed.extend(filter(None, graph.run(self._run, stream))))
        assert not self.failed, self.emulator.error

    def _check(self, device, stream):
        assert 0 <= device < self.devices, "cudaErrorInvalidDevice"
        assert stream in (0, 1, 2) or stream in self.streams or stream >= FOREIGN, "cudaErrorInvalidResourceHandle"


_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


@functools.cache
def _emulator():
    return Emulator()


FOREIGN = 0x900000  # handles from here on are streams of somebody else


def _rounded(nbytes):
    return -(-nbytes // ROUND) * ROUND


def _merge(clock, other):
    for key, time in other.items():
        clock[key] = max(clock.get(key, 0), time)


@contextmanager
def emulated(**how):
    """An EmulatedDriver in force; at the end no races, and nothing written beside a tensor."""
    with install(EmulatedDriver(**how)) as driver:
        yield driver
    driver.closed = True
    for device in range(driver.count()):
        driver.release(device)
    assert not driver.races, driver.races
    _memory().verify()
