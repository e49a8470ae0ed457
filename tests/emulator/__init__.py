"""CUDA C++ executed on the CPU as a driver would: sources in, handles out, and an address to launch them through.

Threads are fibers that switch where CUDA threads wait for each other. A seed decides in which order they run, so what depends on a
missing barrier differs between seeds. What it cannot show: the memory model between blocks, occupancy, speed.
"""

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .build import CompileError, Folder, why_not
from .memory import Memory
from .translate import kernels

__all__ = ["CompileError", "Emulator", "Launch", "Memory", "why_not"]

Extent = tuple[int, int, int]


class Launch(NamedTuple):
    """One launch of a kernel."""

    name: str
    grid: Extent
    block: Extent


class Counters(NamedTuple):
    """What an emulator has done. A barrier is passed by a block; exited: after some of its threads had returned."""

    launches: int
    blocks: int
    barriers: int
    exited_barriers: int
    divergent_barriers: int


class _Kernel(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("enter", ctypes.c_void_p),
        ("shared", ctypes.c_void_p * 2),
        ("most_threads", ctypes.c_uint),
    )


class Emulator:
    """Executes CUDA C++ on the CPU. All emulators of a process run one launch at a time."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = Folder(folder)
        self._runtime = _runtime(self._folder.runtime)
        self._state = ctypes.c_void_p(self._runtime.emulator_new())
        self.memory = Memory(self._runtime)
        self._libraries: dict[Path, ctypes.CDLL] = {}
        self._functions: dict[tuple[str, str], int] = {}
        self._unbound: list[tuple[int, str, str]] = []
        self._collecting = False
        self._seed = 0

    def prepare(self, sources: Iterable[str]) -> None:
        """Compile the sources together, some 200 a translation unit: one alone takes far longer."""
        self._folder.find(list(dict.fromkeys(sources)))

    @property
    def compiled(self) -> int:
        """How many sources g++ has compiled for this emulator; the others came from the folder."""
        return self._folder.compiled

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Inside the block functions are promised, and launching one does nothing; behind it all of them are compiled together."""
        self._collecting = True
        try:
            yield
        finally:
            self._collecting = False
        self.prepare(source for _, source, _ in self._unbound)
        while self._unbound:
            self._bind(*self._unbound.pop())

    def function(self, source: str, name: str) -> int:
        """A handle of a `__global__` function, for `launch_address` in place of a CUfunction."""
        if (source, name) not in self._functions:
            if name not in kernels(source):
                raise KeyError(
                    f"emulator: the source has no __global__ function {name!r}, only {list(kernels(source))}"
                )
            handle: int = self._runtime.emulator_function(self._state)
            if self._collecting:
                self._unbound.append((handle, source, name))
            else:
                self._bind(handle, source, name)
            self._functions[source, name] = handle
        return self._functions[source, name]

    def _bind(self, handle: int, source: str, name: str) -> None:
        [(path, k)] = self._folder.find([source])
        if path not in self._libraries:
            self._libraries[path] = ctypes.CDLL(str(path))
        names = list(kernels(source))
        table = (_Kernel * len(names)).in_dll(self._libraries[path], f"emulator_source_{k}")
        self._runtime.emulator_bind(handle, ctypes.byref(table[names.index(name)]))

    @property
    def launch_address(self) -> int:
        """The address of a C function with the signature and the results of cuLaunchKernel.

        It returns when the kernel has ended: 0; 1 for extents or shared memory that no device has; 701 for more threads than the
        kernel's launch bounds; 700 for an index outside of an array or an address of no memory, 716 for a misaligned address, 719
        for a deadlock.
        """
        return ctypes.cast(self._runtime.emulator_launch, ctypes.c_void_p).value or 0

    def launch(self, function: int, grid: Extent, block: Extent, arguments: Sequence[Any], shared: int = 0) -> int:
        """Launch with NumPy arrays, whose addresses are passed, and NumPy scalars, which are passed by value."""
        values = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments]
        held = [np.array(v, np.uintp if isinstance(v, int) else None) for v in values]
        parameters = (ctypes.c_void_p * len(held))(*(v.ctypes.data for v in held))
        status: int = self._runtime.emulator_launch(function, *grid, *block, shared, None, parameters, None)
        return status

    @property
    def error(self) -> str:
        """What was wrong with the last launch that did not return 0."""
        text: bytes = self._runtime.emulator_error(self._state)
        return text.decode()

    @property
    def seed(self) -> int:
        """In which order threads and blocks run: 0 forwards, 1 backwards, others shuffle."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = seed
        self._runtime.emulator_seed(self._state, seed)

    @property
    def counters(self) -> Counters:
        """What was done since the last `reset`."""
        found = (ctypes.c_uint64 * len(Counters._fields))()
        self._runtime.emulator_counters(self._state, found)
        return Counters(*found)

    @property
    def launches(self) -> list[Launch]:
        """Every launch since the last `reset`, in order."""
        return [self._launched(k) for k in range(self.counters.launches)]

    def _launched(self, k: int) -> Launch:
        n = (ctypes.c_uint * 6)()
        name: bytes = self._runtime.emulator_launched(self._state, k, n)
        return Launch(name.decode(), (n[0], n[1], n[2]), (n[3], n[4], n[5]))

    def reset(self) -> None:
        """Counters, launches and the error from nothing."""
        self._runtime.emulator_reset(self._state)


def _runtime(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    pointer = ctypes.c_void_p
    for name, result, arguments in (
        ("new", pointer, ()),
        ("function", pointer, (pointer,)),
        ("bind", None, (pointer, pointer)),
        ("seed", None, (pointer, ctypes.c_uint64)),
        ("reset", None, (pointer,)),
        ("launch", ctypes.c_int, (pointer, *[ctypes.c_uint] * 7, pointer, pointer, pointer)),
        ("error", ctypes.c_char_p, (pointer,)),
        ("counters", None, (pointer, pointer)),
        ("allocate", pointer, (ctypes.c_size_t,)),
        ("free", None, (pointer, ctypes.c_size_t)),
        ("written_beside", ctypes.c_int64, (pointer, ctypes.c_size_t)),
        ("launched", ctypes.c_char_p, (pointer, ctypes.c_size_t, pointer)),
    ):
        function = getattr(library, f"emulator_{name}")
        function.restype, function.argtypes = result, arguments
    return library
