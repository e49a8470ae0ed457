"""Statements over many layouts on a GPU: `python tests/benchmarks/gpu_layouts.py [WORDS] --json FILE`, a minute on an H200.

Maps of aligned, shifted, stepped and reversed rows, transposes, folds along and across rows of all lengths, softmax and normalisation.
Arrays have 256 MiB. Times are of a graph of ten runs, by events, medians of rounds; the share is that of a copy from device to device,
by the bytes that a statement has to read and store if it does so once. PyTorch's, where it is installed, is its own function, eager.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exprten as xt

RUNS = 10  # in a graph
SLOW = 10.0  # milliseconds of a call: one is enough
ROW_LENGTHS = (3, 17, 32, 64, 100, 256, 1000, 1024, 4096, 5000, 8192, 16384, 1 << 20)
TURNED = {  # the shape that lies in memory, -1 for as many as there are; the order of its axes
    "8192, n": ((8192, -1), (1, 0)), "n, 1024": ((-1, 1024), (1, 0)), "n, 4": ((-1, 4), (1, 0)), "4, n": ((4, -1), (1, 0)),
    "n, 3": ((-1, 3), (1, 0)), "3, n": ((3, -1), (1, 0)), "n, 17": ((-1, 17), (1, 0)), "n, 100": ((-1, 100), (1, 0)),
    "n, 1001": ((-1, 1001), (1, 0)), "n, 1024, 1024 to 021": ((-1, 1024, 1024), (0, 2, 1)), "n, 1024, 1024 to 210": ((-1, 1024, 1024), (2, 1, 0)),
    "n, 1024, 1024 to 120": ((-1, 1024, 1024), (1, 2, 0)), "n, 1024, 1024 to 102": ((-1, 1024, 1024), (1, 0, 2)),
    "n, 3, 224, 224 to 0231": ((-1, 3, 224, 224), (0, 2, 3, 1)), "n, 224, 224, 3 to 0312": ((-1, 224, 224, 3), (0, 3, 1, 2)),
    "n, 1024, 8 to 210": ((-1, 1024, 8), (2, 1, 0)), "n, 8, 8 to 201": ((-1, 8, 8), (2, 0, 1)),
}  # fmt: skip


def softmax(x, axis):
    e = xt.exp(x - xt.max(x, axis, keepdims=True))
    return e / xt.sum(e, axis, keepdims=True)


def normalised(x, axis):
    return (x - xt.mean(x, axis, keepdims=True)) / (xt.std(x, axis, keepdims=True) + 1e-5)


@dataclass(frozen=True)
class Case:
    """A statement of one operand: how that lies in an array of `shape`, and what PyTorch has for it."""

    name: str
    shape: tuple[int, ...]
    made: Callable[[Any], Any]
    theirs: Callable[[Any], Any] | None = None
    view: Callable[[Any], Any] = lambda x: x
    dtype: str = "float32"


def cases(n: int) -> Iterator[Case]:
    """All of them, over arrays of `n` words of 4 bytes."""
    yield from maps(n)
    for name, (shape, order) in TURNED.items():
        rest = n // -math.prod(shape)
        whole = tuple(rest if k < 0 else k for k in shape)
        yield Case(
            f"turned {name}", whole, lambda x: x * 2, lambda x: x.contiguous(), lambda x, o=order: x.transpose(o)
        )
    for length in ROW_LENGTHS:
        rows = (n // length, length)
        for axis in (0, 1):
            names = f"axis {axis} of n, {length}"
            yield Case(f"sum {names}", rows, lambda x, a=axis: xt.sum(x, a), lambda x, a=axis: x.sum(a))
            yield Case(f"max {names}", rows, lambda x, a=axis: xt.max(x, a), lambda x, a=axis: x.amax(a))
            yield Case(f"var {names}", rows, lambda x, a=axis: xt.var(x, a), lambda x, a=axis: x.var(a, correction=0))
            yield Case(f"argmax {names}", rows, lambda x, a=axis: xt.argmax(x, a), lambda x, a=axis: x.argmax(a))
            yield Case(f"softmax {names}", rows, lambda x, a=axis: softmax(x, a), lambda x, a=axis: x.softmax(a))
            yield Case(f"normalised {names}", rows, lambda x, a=axis: normalised(x, a))
    yield Case("sum of all", (n,), xt.sum, lambda x: x.sum())
    yield Case("max of all", (n,), xt.max, lambda x: x.max())
    yield Case("var of all", (n,), xt.var, lambda x: x.var(correction=0))
    for shape, axes in (
        ((64, -1, 1024), 1),
        ((64, -1, 1024), (0, 2)),
        ((-1, 17, 33), 1),
        ((-1, 1000, 3), 1),
        ((4, -1, 64), 1),
    ):
        whole = tuple(n // -math.prod(shape) if k < 0 else k for k in shape)
        names = f"axis {axes} of {', '.join('n' if k < 0 else str(k) for k in shape)}"
        yield Case(f"sum {names}", whole, lambda x, a=axes: xt.sum(x, a), lambda x, a=axes: x.sum(a))


def maps(n: int) -> Iterator[Case]:
    yield Case("twice", (n,), lambda x: x * 2, lambda x: x * 2)
    yield Case("twice, float64", (n // 2,), lambda x: x * 2, lambda x: x * 2, dtype="float64")
    yield Case("twice, float16", (2 * n,), lambda x: x * 2, lambda x: x * 2, dtype="float16")
    yield Case("one more, int8", (4 * n,), lambda x: x + 1, lambda x: x + 1, dtype="int8")
    yield Case("twice, from the second on", (n,), lambda x: x * 2, lambda x: x * 2, lambda x: x[1:])
    yield Case(
        "twice, 1025 of 1028 columns", (n // 1028, 1028), lambda x: x * 2, lambda x: x * 2, lambda x: x[:, 1:1026]
    )
    yield Case("twice, every other", (n,), lambda x: x * 2, lambda x: x * 2, lambda x: x[::2])
    yield Case("twice, backwards", (n,), lambda x: x[::-1] * 2, lambda x: x.flip(0))
    yield Case("a row on rows of 1024", (n // 1024, 1024), lambda x: x + x[0], lambda x: x + x[0])
    yield Case("a row on rows of 3", (n // 3, 3), lambda x: x + x[0], lambda x: x + x[0])
    yield Case("a column on rows of 1000", (n // 1000, 1000), lambda x: x + x[:, :1], lambda x: x + x[:, :1])
    for name in ("exp", "tanh", "sin", "sigmoid"):
        yield Case(name, (n,), getattr(xt, name), lambda x, f=name: getattr(x, f)())


class Bench:
    """Memory on the device for all cases, and a clock."""

    def __init__(self, mib: int, rounds: int) -> None:
        import cupy

        self.cupy, self.rounds, self.n = cupy, rounds, mib << 18
        self.source = cupy.random.default_rng(0).random(self.n, dtype="f")
        self.target = cupy.empty(2 * self.n, "f")  # positions have 8 bytes
        try:
            import torch
        except ImportError:
            torch = None
        self.torch = torch
        copied = self.timed(lambda: cupy.copyto(self.target[: self.n], self.source), RUNS)
        self.bandwidth = 8e-9 * self.n / copied  # TB/s

    def timed(self, run: Callable[[], Any], times: int, rounds: int | None = None) -> float:
        """Milliseconds of what takes place once, if `run` does `times` of it, or once where it is called so often."""
        found, event = list[float](), self.cupy.cuda.Event
        run()
        for _ in range(rounds or self.rounds):
            start, end = event(), event()
            start.record()
            for _ in range(times):
                run()
            end.record()
            end.synchronize()
            found.append(self.cupy.cuda.get_elapsed_time(start, end) / times)
        return statistics.median(found)

    def __call__(self, case: Case) -> dict[str, float]:
        """Times and the share of a case."""
        bytes_of = {"float64": 8, "float16": 2, "int8": 1}.get(case.dtype, 4) * math.prod(case.shape)
        array = case.view(self.source.view("int8")[:bytes_of].view(case.dtype).reshape(case.shape))
        x = xt.asarray(array)
        value = case.made(x)
        to = self.target.view("int8")[: math.prod(value.shape) * value.dtype.itemsize]
        out = xt.asarray(to.view(str(value.dtype)).reshape(value.shape))
        out[...] = value
        with xt.graph_capture(out.device) as graph:
            for _ in range(RUNS):
                out[...] = value
        ms = self.timed(graph.replay, 1) / RUNS
        moved = array.size * array.itemsize + math.prod(value.shape) * value.dtype.itemsize
        found = {"us": ms * 1e3, "share": moved * 1e-9 / ms / self.bandwidth}
        if self.torch and case.theirs:
            found["torch us"] = self._torch(case.theirs, self.torch.from_dlpack(array)) * 1e3
        return found

    def _torch(self, function: Callable[[Any], Any], tensor: Any) -> float:
        """Milliseconds; what takes long is timed once."""
        once = self.timed(lambda: function(tensor), 1, rounds=1)
        return once if once > SLOW else self.timed(lambda: function(tensor), RUNS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only cases whose names have all of them")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--mib", type=int, default=256, help="of the array: 256")
    parser.add_argument("--rounds", type=int, default=7, help="at least 1: 7")
    given = parser.parse_args()
    bench = Bench(given.mib, given.rounds)
    print(f"copy {bench.bandwidth:.2f} TB/s")
    report: dict[str, Any] = {"copy TB/s": bench.bandwidth, "MiB": given.mib, "cases": {}}
    for case in cases(bench.n):
        if all(word in case.name for word in given.words):
            found = report["cases"][case.name] = bench(case)
            theirs = f"  torch {found['torch us']:8.1f}" if "torch us" in found else ""
            print(f"{case.name:36}{found['us']:9.1f} us{found['share']:6.0%}{theirs}", flush=True)
            if given.json:
                given.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
