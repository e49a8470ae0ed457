"""Entering CUDA functions from machine code: a kernel like those of the CPU, but `void (ptr words, ptr queue)`, that launches.

It reads the same words, computes from the sizes how many blocks there are to be, and calls the driver: so whatever calls kernels
of the CPU calls these, and a launch costs what the driver takes. Where it launches is said by a `Queue`, so one serves every stream.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dtypes import DTYPES
from ..ir import Const, Op, Param, Size, Value
from ..rewrite import walk
from . import room
from .cuda_emit import Argument, Cuda, Entry
from .llvm_ops import Operations
from .llvm_run import compile_text
from .llvm_text import INDEX_TYPE, Text

BLOCKS = (
    32  # of 256 threads, for each multiprocessor: four times what it holds at once, so that all are busy to the end
)
MOST = (1 << 31) - 1  # blocks of a launch
DRIVER = ("cuLaunchKernel", "cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent")
ALIGNED = 256  # bytes: where each part of the scratch memory begins


class Queue(ctypes.Structure):
    """A stream of a device: `context` must be current when something is launched; `scratch` is where its `room` bytes of scratch memory
    lie; `failure` is the driver's first error; `driver` says whose stream it is.
    """

    _fields_ = (
        ("context", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("scratch", ctypes.c_uint64),
        ("failure", ctypes.c_uint64),
        ("room", ctypes.c_uint64),
        ("driver", ctypes.c_uint64),
    )


@dataclass(frozen=True)
class Chip:
    """What is to be known of a device."""

    arch: str
    multiprocessors: int


def launcher(cuda: Cuda, functions: Sequence[int], chip: Chip, driver: Mapping[str, int]) -> int:
    """The address of a kernel that launches `functions`, those of `cuda.entries`, on the queue that it is given. `driver` holds the
    addresses of the functions of CUDA's driver. Raises RoomError where the process has no room for another one.
    """
    symbols = {name: driver[name] for name in DRIVER}
    symbols |= {f"function{n}": handle for n, handle in enumerate(functions)}
    text = _Launcher(cuda, chip).module()
    key = text, tuple(symbols.values())
    if key not in _launchers:  # other sizes have another program, and mostly the same launcher
        room.take()
        _launchers[key] = compile_text(text, ("kernel",), symbols).address["kernel"]
    return _launchers[key]


_launchers: dict[tuple[str, tuple[int, ...]], int] = {}


def scratch_bytes(cuda: Cuda, sizes: Mapping[str, int]) -> int:
    """How much scratch memory a program takes."""
    known = dict(sizes) | {s.name: n for s, n in cuda.program.sizes}
    counts = [(leaf, int(number(count, known))) for leaf, count in cuda.program.scratch]
    return sum(-(-count * leaf.dtype.itemsize // ALIGNED) * ALIGNED for leaf, count in counts)


def launched(cuda: Cuda, entry: Entry, sizes: Mapping[str, int], chip: Chip) -> tuple[int, int]:
    """For how many points a function is launched, and in how many blocks."""
    points = int(number(entry.count, dict(sizes) | {s.name: n for s, n in cuda.program.sizes}))
    if entry.alone:
        return points, 1
    blocks = -(-points * entry.each // entry.threads)
    return points, min(blocks, _most(entry, chip))


def _most(entry: Entry, chip: Chip) -> int:
    """Blocks of a launch; they take the rest of the points one after the other."""
    return chip.multiprocessors * BLOCKS * 256 // entry.threads if entry.capped else MOST


def number(value: Value, sizes: Mapping[str, Any]) -> Any:
    """An index, given sizes: integers, or arrays of them."""
    done: dict[Value, Any] = {}
    for node in walk(value):
        match node:
            case Const(x):
                done[node] = int(x)
            case Size(name):
                done[node] = sizes[name]
            case Op(name, (a, b)):
                done[node] = _PYTHON[name](done[a], done[b])
    return done[value]


_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": lambda a, b: a // b,
    "minimum": np.minimum,
}
_LLVM = {"add": "add", "subtract": "sub", "multiply": "mul", "floor_divide": "sdiv"}  # none of them negative


class _Launcher:
    def __init__(self, cuda: Cuda, chip: Chip) -> None:
        self.cuda = cuda
        self.chip = chip
        self.ops = Operations(False)
        self.text: Text = self.ops.text
        self.known: dict[Value, str] = {}
        self.slots: dict[str, str] = {}  # of each argument, where the driver is to read it

    def module(self) -> str:
        t = self.text
        self._words()
        self._scratch()
        ours = t.let("load i64, ptr %queue", INDEX_TYPE).name
        current = t.reserve("i64")
        t.put(f"call i32 @cuCtxGetCurrent(ptr {current})")
        found = t.let(f"load i64, ptr {current}", INDEX_TYPE).name
        other = t.let(f"icmp ne i64 {found}, {ours}", "i1").name
        t.when(other, lambda: t.put(f"call i32 @cuCtxPushCurrent(i64 {ours})"))
        for n, entry in enumerate(self.cuda.entries):
            self._launch(n, entry)
        t.when(other, lambda: t.put(f"call i32 @cuCtxPopCurrent(ptr {current})"))
        t.put("ret void")
        body = "\n".join(["entry:", *t.reserved, *t.lines])
        launch = "declare i32 @cuLaunchKernel(ptr, i32, i32, i32, i32, i32, i32, i32, i64, ptr, ptr)"
        context = [f"declare i32 @{name}({'i64' if 'Push' in name else 'ptr'})" for name in DRIVER[1:]]
        functions = [f"@function{n} = external global i8" for n in range(len(self.cuda.entries))]
        head = [launch, *context, *functions, *t.declared.values()]
        return "\n".join([*head, f"define void @kernel(ptr %words, ptr %queue) nounwind {{\n{body}\n}}", ""])

    def _words(self) -> None:
        """Where the arguments lie: most of them in the words, of which a narrower one is the lower bytes."""
        t, kernel = self.text, self.cuda.program.kernel
        sizes = [*kernel.sizes, *(s for s, _ in self.cuda.program.sizes)]
        arguments: list[Argument] = [*kernel.leaves, *sizes, *kernel.params]
        for n, x in enumerate(arguments):
            slot = t.let(f"getelementptr i64, ptr %words, i64 {n}", "ptr").name
            self.slots[x.name] = slot
            if isinstance(x, Size):
                self.known[x] = t.let(f"load i64, ptr {slot}", INDEX_TYPE).name
            if isinstance(x, Param):
                self.slots[x.name] = self._converted(x, slot)

    def _converted(self, x: Param, slot: str) -> str:
        """A scalar is a double or an int64 until it is here."""
        wide = DTYPES["float64" if x.dtype.word == "d" else "int64"]
        if x.dtype.kind != "f" or x.dtype is wide:
            return slot
        t = self.text
        word = t.let(f"load {wide.lane}, ptr {slot}", wide.lane)
        own = t.reserve(x.dtype.lane)
        t.put(f"store {self.ops.cast(word, wide, x.dtype)}, ptr {own}")
        return own

    def _scratch(self) -> None:
        t = self.text
        if not self.cuda.program.scratch:
            return
        place = t.let("getelementptr i64, ptr %queue, i64 2", "ptr").name
        at = t.let(f"load i64, ptr {place}", INDEX_TYPE).name
        for leaf, count in self.cuda.program.scratch:
            own = t.reserve("i64")
            t.put(f"store i64 {at}, ptr {own}")
            self.slots[leaf.name] = own
            nbytes = t.index("mul", self._number(count), leaf.dtype.itemsize)
            at = t.index("add", at, t.index("and", t.index("add", nbytes, ALIGNED - 1), -ALIGNED))

    def _number(self, value: Value) -> str:
        for node in walk(value):
            if node in self.known:
                continue
            match node:
                case Const(number):
                    self.known[node] = str(int(number))
                case Op("minimum", (a, b)):
                    self.known[node] = self.text.lesser(self.known[a], self.known[b])
                case Op(name, (a, b)):
                    self.known[node] = self.text.index(_LLVM[name], self.known[a], self.known[b])
                case _:
                    raise AssertionError(f"{node} is no size")
        return self.known[value]

    def _launch(self, n: int, entry: Entry) -> None:
        t = self.text
        blocks = "1"
        if not entry.alone:
            threads = t.index("mul", self._number(entry.count), entry.each)
            blocks = t.index("udiv", t.index("add", threads, entry.threads - 1), entry.threads)
            blocks = t.lesser(blocks, str(_most(entry, self.chip)))
        table = t.reserve(f"[{max(1, len(entry.arguments))} x ptr]")
        for k, x in enumerate(entry.arguments):
            at = t.let(f"getelementptr ptr, ptr {table}, i64 {k}", "ptr").name
            t.put(f"store ptr {self._slot(x)}, ptr {at}")
        place = t.let("getelementptr i64, ptr %queue, i64 1", "ptr").name
        stream = t.let(f"load i64, ptr {place}", INDEX_TYPE)
        wide = t.let(f"trunc i64 {blocks} to i32", "i32").name
        some = t.let(f"icmp ne i32 {wide}, 0", "i1").name
        call = f"call i32 @cuLaunchKernel(ptr @function{n}, i32 {wide}, i32 1, i32 1, i32 {entry.threads}, i32 1, i32 1, i32 0, {stream}, ptr {table}, ptr null)"
        t.when(some, lambda: self._checked(call))

    def _checked(self, call: str) -> None:
        """Launch; the first error stays until somebody asks."""
        t = self.text
        code = t.let(call, "i32").name
        place = t.let("getelementptr i64, ptr %queue, i64 3", "ptr").name
        failed = t.let(f"icmp ne i32 {code}, 0", "i1").name
        t.when(failed, lambda: t.put(f"store i64 {t.let(f'zext i32 {code} to i64', INDEX_TYPE).name}, ptr {place}"))

    def _slot(self, x: Argument) -> str:
        return self.slots[x.name]
