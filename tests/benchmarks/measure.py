"""How a row is timed: check every contender against NumPy, then take turns, and compare medians."""

from __future__ import annotations

import os
import statistics
import timeit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contenders import Call, Contender, Tensors, numpy_call
from rows import NINE, Row, Shape, fill, sgd_variants

import exprten as xt
from exprten.options import current


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # what a contender's turn is meant to take
    grid: Shape  # of the rows with two axes
    variants: int  # of the statement that is compiled
    large: Shape = ()  # of folds in memory; none if empty


@dataclass(frozen=True)
class Result:
    """The times of one row at one shape: for each contender seconds a call, one a round."""

    row: str
    shape: Shape
    times: Mapping[str, Sequence[float]]

    def ratio(self, name: str) -> tuple[float, float, float]:
        """A contender's median over exprten's; then the quartiles of the ratios within each round."""
        ours, theirs = self.times["exprten"], self.times[name]
        within = [b / a for a, b in zip(ours, theirs, strict=True)]
        low, _, high = statistics.quantiles(within, n=4, method="inclusive")
        return statistics.median(theirs) / statistics.median(ours), low, high


CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
LEAST_SIDE = 4096  # of what is "in memory": 64 MiB


def caches() -> dict[int, int]:
    """Bytes of the largest cache of each level; none where the system does not tell."""
    found: dict[int, int] = {}
    for folder in CACHES.glob("index*"):
        level, size = (folder.joinpath(name).read_text().strip() for name in ("level", "size"))
        nbytes = int(size[:-1]) << {"K": 10, "M": 20}[size[-1]]
        found[int(level)] = max(nbytes, found.get(int(level), 0))
    return found


def beyond_caches() -> int:
    """Rows and columns of float32 that take twice the last cache, but no more than a sixteenth of the memory."""
    last = max(caches().values(), default=0)
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16 if hasattr(os, "sysconf") else 0
    side = LEAST_SIDE
    while 4 * side**2 < 2 * last and 4 * (2 * side) ** 2 <= most:
        side *= 2
    return side


WARM = 10  # calls before the clock: compilers work in the first few


def interleave(timers: Mapping[str, timeit.Timer], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Seconds a call, `rounds` of each, in turns; a turn repeats the call for about `seconds`, after one that brings into the caches what
    this contender leaves there: JAX reads a copy of its own. timeit stops the collector.
    """
    for timer in timers.values():
        timer.timeit(WARM)
    repeats = {name: _repeats(timer, seconds) for name, timer in timers.items()}
    times: dict[str, list[float]] = {name: [] for name in timers}
    for _ in range(rounds):
        for name, timer in timers.items():
            timer.timeit(1)
            times[name].append(timer.timeit(repeats[name]) / repeats[name])
    return times


def _repeats(timer: timeit.Timer, seconds: float) -> int:
    """How often to call for a turn of about `seconds`. Warms up on the way."""
    n = 1
    while (took := timer.timeit(n)) < seconds / 4:
        n *= 2
    return max(1, round(n * seconds / max(took, timer.timeit(n))))


CLOSE = ("torch.compile", "jax")  # they contract a * b + c
# Scalars stay float32 beside narrow floats, and compilers round less often; so does exprten where it is told to.
NARROW = (*CLOSE, "torch", *(["exprten"] if current().half == "wide" else []))


def check(row: Row, tensors: Tensors, calls: Mapping[str, Call]) -> None:
    """Each call once, from the same numbers. Exits where the bits are not NumPy's; of a fold, which has an order of its own, and of
    compilers that contract, where the numbers are not.
    """

    def outcome(call: Call) -> np.ndarray:
        fill(tensors)
        call.timer().timeit(1)
        target = tensors[row.target].numpy()
        return np.array(np.broadcast_to(call.result(), target.shape) if call.result else target)

    wanted = outcome(numpy_call(row, tensors))
    for name, call in calls.items():
        got = outcome(call)
        loose = row.functions or name in (NARROW if row.narrow else CLOSE)
        far, near = (x.astype(np.float32) for x in (got, wanted))
        rough = 100 if row.narrow else 1
        same = np.allclose(far, near, rough * 1e-4, 1e-3) if loose else got.tobytes() == wanted.tobytes()
        if not same:
            worst = np.abs(far - near).max()
            raise SystemExit(
                f"{row.name} {wanted.shape}: {name} differs from NumPy by up to {worst:.3g}: {row.statement}"
            )


def time_row(row: Row, shape: Shape, contenders: Sequence[Contender], effort: Effort) -> Result:
    tensors = {name: layout.make(shape) for name, layout in row.layouts.items()}
    fill(tensors)
    prepared = {contender.name: contender.prepare(row, tensors) for contender in contenders}
    calls = {name: call for name, call in prepared.items() if call is not None}
    check(row, tensors, calls)
    times = interleave({name: call.timer() for name, call in calls.items()}, effort.rounds, effort.seconds)
    return Result(row.name, shape, times)


def time_compile(contenders: Sequence[Contender], effort: Effort) -> Result:
    """First runs of statements with SGD's operations on 16 elements, by those that compile. Each has compiled another before.

    To be called before the row `sgd` is timed: its statement is one of these.
    """
    shape = (16,)
    times: dict[str, list[float]] = {c.name: [] for c in contenders if c.name in {"exprten", "numba"}}
    for row in [NINE, *sgd_variants()[: effort.variants]]:
        tensors = {name: layout.make(shape) for name, layout in row.layouts.items()}
        calls = {c.name: c.prepare(row, tensors) for c in contenders if c.name in times}
        fill(tensors)
        before = xt.stats().compiles
        for name, call in calls.items():
            took = call.timer().timeit(1)
            if row is not NINE:
                times[name].append(took)
        assert xt.stats().compiles == before + 1, f"{row.statement} was to be compiled by its first run"
        check(row, tensors, calls)
    return Result("compile", shape, times)
