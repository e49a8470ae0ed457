"""Layouts against each other: `python tests/benchmarks/layouts.py`, with exprten installed.

Each statement runs on the same number of elements of one type, laid out in many ways. A figure is its time for a byte that is moved over
the time for a byte of the same statement along packed rows of 1,024 elements, so above 1 that layout is slower. Moved are the bytes
of the source and of the target, each once; where every other column is used, whole lines are. Softmax and normalisation read what they fold three
times: from memory, where the lines of one fold do not stay in the second cache, the source counts three times (`--once`: once there too). One thread, of which the processor's time
is taken, so that others on the machine count less; the layout and its base take turns, and the least times of both are compared, which repeat to 1 % where medians vary by 10: a machine may have several speeds. `--kib` says how large
a source is: a fourth of the second cache unless given, so that all there is lies in it with room to spare; 65,536 lies in memory. Tensors lie in large pages, and in several places: for which of the pages of a machine
a cache has room varies by 2.
"""

from __future__ import annotations

import argparse
import functools
import math
import mmap
import os
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from measure import caches, interleave

import exprten as xt
from exprten.statement import direct, launch


def _softmax(x: xt.Expr, axis: int) -> xt.Expr:
    powers = xt.exp(x - xt.max(x, axis, keepdims=True))
    return powers / xt.sum(powers, axis, keepdims=True)


STATEMENTS: dict[str, Callable[[xt.Expr, int], xt.Expr]] = {
    "sum": xt.sum,
    "max": xt.max,
    "argmax": xt.argmax,
    "softmax": _softmax,
    "norm": lambda x, axis: (x - xt.mean(x, axis, keepdims=True)) / xt.std(x, axis, keepdims=True),
    "scale": lambda x, axis: x * 3,
}


@dataclass(frozen=True)
class Layout:
    """What a source looks like (`n` is what makes it as large as it is to be), how it is viewed, the axes that are folded, and in which order the
    axes of a target lie that has the source's shape, where that is not theirs.
    """

    name: str
    shape: tuple[int, ...]  # in memory; 0 is as large as needed
    axes: tuple[int, ...]
    view: Callable[[xt.Tensor], xt.Tensor] = lambda x: x
    target: tuple[int, ...] = ()
    waste: float = 1  # as much is moved as is used, in whole lines


def _transposed(x: xt.Tensor) -> xt.Tensor:
    return x.T


def _square(shape: tuple[int, ...], name: str) -> tuple[Layout, Layout]:
    return (
        Layout(f"{name} -> T", shape, (0, 1), view=_transposed),
        Layout(f"T <- {name}", shape, (0, 1), target=(1, 0)),
    )


LAYOUTS = (
    Layout("(n, 1024)", (0, 1024), (0,)),
    Layout("(n, 64, 128)", (0, 64, 128), (0, 1, 2)),
    Layout("reversed rows", (0, 1024), (1,), view=lambda x: x[::-1]),
    Layout("reversed columns", (0, 1024), (1, 0), view=lambda x: x[:, ::-1]),
    Layout("every other row", (0, 1024), (1, 0), view=lambda x: x[::2]),
    Layout("every other column", (0, 1024), (1, 0), view=lambda x: x[:, ::2], waste=2),
    *(Layout(f"(n, {k}) backwards", (0, k), (1, 0), view=lambda x: x[:, ::-1]) for k in (3, 8, 24, 48)),
    Layout("(n, 3 of 4)", (0, 4), (1, 0), view=lambda x: x[:, :3], waste=4 / 3),
    Layout("(n, 32, 32, 3) flipped", (0, 32, 32, 3), (0, 1, 2, 3), view=lambda x: x[:, :, ::-1]),
    Layout("T backwards", (0, 1000), (0, 1), view=lambda x: x.T[::-1]),
    *(Layout(f"(n, {k})", (0, k), (1, 0)) for k in (2, 3, 4, 5, 6, 8, 11, 16, 17, 24, 31, 33, 48)),
    *(Layout(f"({k}, n)", (k, 0), (1, 0)) for k in (2, 3, 4, 5, 8)),
    Layout("(n, 8, 16)", (0, 8, 16), (0, 1)),
    Layout("(n, 3, 64)", (0, 3, 64), (0, 1)),
    Layout("(n, 64, 3)", (0, 64, 3), (1, 2)),
    *(Layout(f"(n, {m}, {c})", (0, m, c), (1,)) for m, c in ((3, 3), (4, 4), (5, 3), (8, 3))),
    *(pair for k in (2, 3, 5, 16, 31) for pair in _square((0, k), f"(n, {k})")),
    *_square((0, 1024), "(n, 1024)"),
    *_square((0, 1003), "(n, 1003)"),
    Layout("(n, 64, 16) -> (16, n, 64)", (0, 64, 16), (0, 1, 2), view=lambda x: xt.transpose(x, (2, 0, 1))),
    Layout("(n, 32, 32) -> (n, T)", (0, 32, 32), (1, 2), view=lambda x: xt.transpose(x, (0, 2, 1))),
    Layout("(n, 40, 40) -> (40, 40, n)", (0, 40, 40), (0, 1, 2), view=lambda x: xt.transpose(x, (2, 1, 0))),
)


LARGE_PAGE, LINE = 2 << 20, 64
SECOND_CACHE = caches().get(2, 1 << 20)
PASSES = {"softmax": 3, "norm": 3}  # over what is folded: two folds, and the last loop


class Arena:
    """Room for tensors, one behind the other in pages of 2 MiB, where the system has them."""

    def __init__(self, nbytes: int) -> None:
        private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
        room = mmap.mmap(-1, -(-nbytes // LARGE_PAGE + 1) * LARGE_PAGE, **private)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            room.madvise(mmap.MADV_HUGEPAGE)
        self.memory = np.frombuffer(room, np.uint8)
        self.used = -self.memory.ctypes.data % LARGE_PAGE

    def empty(self, shape: Sequence[int], dtype: np.dtype) -> xt.Tensor:
        nbytes = math.prod(shape) * dtype.itemsize
        made = self.memory[self.used : self.used + nbytes].view(dtype).reshape(shape)
        self.used += (nbytes // 64 + 5) * 64  # not at the same place of a page
        return xt.asarray(made)


def shaped(shape: tuple[int, ...], count: int) -> tuple[int, ...]:
    known = math.prod(n for n in shape if n)
    return tuple(n or max(2, count // known) for n in shape)


Which = tuple[Layout, str, int]  # and the statement, and the axis


def from_memory(source: xt.Tensor, axis: int) -> bool:
    """Whether the lines of one fold take half of the second cache or more, and all is larger than that: they come from memory again."""
    lines = source.shape[axis] * min(LINE, abs(source.strides[axis]))
    return 2 * lines >= SECOND_CACHE < source.nbytes


@functools.lru_cache(maxsize=2)
def normal(count: int, dtype: np.dtype) -> np.ndarray:
    return (np.random.default_rng(0).standard_normal(count) * 9).astype(dtype)


class Case:
    """A statement on a layout: what to call, and how many bytes it moves."""

    def __init__(self, layout: Layout, statement: str, axis: int, count: int, dtype: str, once: bool = False) -> None:
        kind = xt.empty(0, dtype).numpy().dtype
        arena = Arena(16 * count * kind.itemsize + LARGE_PAGE)
        memory = arena.empty(shaped(layout.shape, count), kind)
        memory.numpy()[...] = normal(math.prod(memory.shape), memory.dtype).reshape(memory.shape)
        source = layout.view(memory)
        result = STATEMENTS[statement](source, axis)
        if result.shape == source.shape:
            order = layout.target or range(source.ndim)
            made = arena.empty([source.shape[k] for k in order], result.dtype)
            target = xt.transpose(made, [*map(order.index, range(source.ndim))])
        else:
            target = arena.empty(result.shape, result.dtype)
        read = memory.dtype.itemsize * layout.waste * math.prod(source.shape)
        passes = PASSES.get(statement, 1) if from_memory(source, axis) and not once else 1
        self.bytes = passes * read + target.dtype.itemsize * math.prod(target.shape)
        names = {"target": target, "result": result}
        self.timer = timeit.Timer("target[...] = result", timer=time.thread_time, globals=names)


def fresh() -> None:
    """Forget who is called directly, so that a statement's seventeenth layout is as well."""
    launch._launches.clear()
    direct._made.clear()
    direct._optioned.clear()


PACKED = Layout("packed", (0, 1024), (1,))


def figure(layout: Layout, statement: str, axis: int, options: argparse.Namespace) -> float:
    """The least over places in memory of what a byte takes, over the least that it takes in packed rows."""
    count = options.kib * 1024 // xt.empty(0, options.dtype).dtype.itemsize
    fresh()
    which = (PACKED, statement, 1), (layout, statement, axis)
    found = [_spent(*which, count, options) for _ in range(options.places)]
    return min(spent["case"] for spent in found) / min(spent["base"] for spent in found)


def _spent(base: Which, case: Which, count: int, options: argparse.Namespace) -> dict[str, float]:
    """Seconds for a byte of both."""
    cases = {key: Case(*one, count, options.dtype, options.once) for key, one in (("base", base), ("case", case))}
    times = interleave({key: case.timer for key, case in cases.items()}, options.rounds, options.seconds)
    return {key: min(values) / cases[key].bytes for key, values in times.items()}


def measure(options: argparse.Namespace) -> Iterator[tuple[str, int, dict[str, float]]]:
    for layout in LAYOUTS:
        if not all(part in layout.name for part in options.only):
            continue
        for axis in layout.axes:
            yield layout.name, axis, {name: figure(layout, name, axis, options) for name in options.statements}


def options_of(about: str | None) -> argparse.ArgumentParser:
    """What may be said of how a figure is measured."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kib", type=int, default=SECOND_CACHE >> 12, help=f"of a source: {SECOND_CACHE >> 12}")
    parser.add_argument("--dtype", default="float32", help="of a source")
    parser.add_argument("--once", action="store_true", help="count what is read again from memory once")
    parser.add_argument("--statements", nargs="+", choices=tuple(STATEMENTS), default=tuple(STATEMENTS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--places", type=int, default=5, help="in memory, of which the least times are taken")
    parser.add_argument("--seconds", type=float, default=1e-3, help="of a turn")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options_of(__doc__)
    parser.add_argument("--only", nargs="+", default=(), help="parts of a layout's name")
    options = parser.parse_args(arguments)
    os.environ["EXPRTEN_NUM_THREADS"] = "1"
    with xt.options(num_threads=1):
        print(f"{'source':<28} axis " + " ".join(f"{name:>8}" for name in options.statements))
        for name, axis, figures in measure(options):
            print(f"{name:<28} {axis:>4} " + " ".join(f"{x:>8.2f}" for x in figures.values()), flush=True)


if __name__ == "__main__":
    main()
