"""Statements on a GPU against CuPy, PyTorch and JAX: `python tests/benchmarks/gpu.py --json FILE`, some minutes on an H200.

    sgd        w -= eta * (g + lam * w)              gelu       0.5 * x * (1 + erf(x / sqrt(2)))
    momentum   m = mu * m + g + lam * w; w -= eta*m  softmax    of rows of 1,024
    adam       three lines                           rowsum     of rows of 1,024
    sigmoid    sigmoid(2 * x) + 1                    sum        of everything
    overhead   sgd of 1,000 elements: the host's time for a call, beside a single ufunc of CuPy

Arrays have 256 MiB, more than any cache holds. Times are CUDA events around some calls (of JAX, which has streams of its own, the
host's clock around many), medians of rounds in which all take turns; the share is that of the bandwidth of a copy from device to
device, by the bytes that the statement has to move. Who is not installed, or fails, is named with the reason.

`--check` compares everybody's results with NumPy's on small arrays, and times nothing. `--emulated` is the same without a GPU: exprten on
an emulated device, PyTorch and JAX on the CPU.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from gpu_contenders import CONTENDERS, OWN_NUMBERS, CuPy, Exprten, Make
from gpu_rows import COLUMNS, ROWS, Row

import exprten as xt

SMALL, FEW = 4 * COLUMNS, 1000
CALLS, JAX_CALLS, OVERHEAD_CALLS = 20, 50, 200
PACKAGES = (
    "exprten",
    "numpy",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "torch",
    "jax",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
)


@dataclass
class Given:
    """A contender's way of doing a row."""

    name: str
    step: Callable[[], Any]
    wait: Callable[[], None] | None  # where events do not see it
    fetch: Callable[[], dict[str, np.ndarray]]


Errors = dict[str, str]


def failure(step: Callable[[], Any]) -> str:
    """What goes wrong in a step; empty if nothing does. Whatever a library raises where something of it is missing is told, not raised."""
    try:
        step()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return ""


def available() -> tuple[list[Any], Errors]:
    """Who can take part, and why others cannot."""
    found, missing = list[Any](), Errors()
    for contender in CONTENDERS:
        why = failure(lambda contender=contender: found.append(contender()))
        if why:
            missing[contender.name] = why
    return found, missing


def prepared(row: Row, n: int, contenders: Sequence[Any]) -> tuple[list[Given], Errors]:
    """All ways of doing a row, each with arrays of its own and done once, which compiles it; and who failed."""
    found, errors = list[Given](), Errors()
    arrays = row.make(n)
    for contender in contenders:
        for name, make in contender.ways(row).items():
            why = failure(lambda: found.append(_given(contender, row, arrays, name, make)))  # noqa: B023  # called here
            if why:
                errors[name] = why
    return found, errors


def _given(contender: Any, row: Row, arrays: dict[str, np.ndarray], name: str, make: Make) -> Given:
    on = contender.put(arrays)
    step = make(on)
    step()
    wait = (lambda: contender.wait(on)) if hasattr(contender, "wait") else None
    return Given(name, step, wait, lambda: {key: contender.get(on[key]) for key in row.changes})


def wrong(row: Row, n: int, given: Given) -> str:
    """How far a step that was done once is from NumPy's; empty where it is near."""
    if (row.name, given.name) in OWN_NUMBERS:
        return ""
    found = given.fetch()
    for name, want in row.expected(row.make(n)).items():
        error = float(np.abs(found[name].reshape(want.shape) - want).max())
        if not error <= 1e-5 * max(1.0, float(np.abs(want).max())):
            return f"{name} differs from NumPy's by {error:.3g}"
    return ""


def check(contenders: Sequence[Any], n: int = SMALL) -> dict[str, dict[str, str]]:
    """For every row and everybody `ok`, or what is wrong."""
    results = {}
    for row in ROWS:
        given, errors = prepared(row, n, contenders)
        results[row.name] = {one.name: wrong(row, n, one) or "ok" for one in given} | errors
        print(f"{row.name:<10}" + ", ".join(f"{name} {said}" for name, said in results[row.name].items()), flush=True)
    return results


# Timing, on a device.


class Clock:
    """Milliseconds of calls, by events on CuPy's current stream, which exprten, CuPy and PyTorch use."""

    def __init__(self) -> None:
        import cupy

        self.cuda = cupy.cuda
        self.synchronize = cupy.cuda.Device().synchronize

    def __call__(self, one: Given) -> float:
        """Of one call of a way."""
        if one.wait is not None:
            return self._by_host(one.step, one.wait)
        start, end = self.cuda.Event(), self.cuda.Event()
        start.record()
        for _ in range(CALLS):
            one.step()
        end.record()
        end.synchronize()
        return float(self.cuda.get_elapsed_time(start, end)) / CALLS

    def _by_host(self, step: Callable[[], Any], wait: Callable[[], None]) -> float:
        wait()
        start = time.perf_counter()
        for _ in range(JAX_CALLS):
            step()
        wait()
        return (time.perf_counter() - start) / JAX_CALLS * 1e3

    def on_the_host(self, step: Callable[[], Any]) -> float:
        """Milliseconds until a call returns, when the device has nothing else to do."""
        self.synchronize()
        start = time.perf_counter()
        for _ in range(OVERHEAD_CALLS):
            step()
        took = time.perf_counter() - start
        self.synchronize()
        return took / OVERHEAD_CALLS * 1e3


def in_turns(clocks: dict[str, Callable[[], float]], rounds: int) -> tuple[dict[str, list[float]], Errors]:
    """Times of each, one a round; the first round warms up. Who fails takes no more turns."""
    times: dict[str, list[float]] = {name: [] for name in clocks}
    errors = Errors()
    for _ in range(rounds + 1):
        for name in [*times]:
            why = failure(lambda name=name: times[name].append(clocks[name]()))
            if why:
                errors[name] = why
                del times[name]
    return {name: taken[1:] for name, taken in times.items()}, errors


def summary(times: list[float]) -> dict[str, Any]:
    """Median and quartiles, in milliseconds."""
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return {"ms": middle, "quartiles": [low, high], "rounds": times}


def copied(n: int, rounds: int, clock: Clock) -> float:
    """Gigabytes a second of a large copy from device to device: what was read and what was written."""
    import cupy

    a, b = cupy.zeros(n, "f"), cupy.zeros(n, "f")
    way = Given("copy", lambda: cupy.copyto(b, a), None, dict)
    return 8e-6 * n / statistics.median(in_turns({"copy": lambda: clock(way)}, rounds)[0]["copy"])


def timed(row: Row, n: int, contenders: Sequence[Any], rounds: int, clock: Clock, bandwidth: float) -> dict[str, Any]:
    """Of everybody times and the share of the bandwidth; or an error."""
    given, errors = prepared(row, n, contenders)
    times, late = in_turns({one.name: (lambda one=one: clock(one)) for one in given}, rounds)
    found: dict[str, Any] = {name: {"error": said} for name, said in (errors | late).items()}
    for name, one in times.items():
        found[name] = summary(one)
        found[name]["GB/s"] = row.moves * n * 4e-6 / found[name]["ms"]
        found[name]["share"] = found[name]["GB/s"] / bandwidth
    return found


def overhead(rounds: int, clock: Clock) -> dict[str, Any]:
    """The host's time for the update of few elements, and for a single ufunc."""
    import cupy

    row, ours, theirs = ROWS[0], Exprten(), CuPy()
    arrays = {name: np.ones((1, FEW), np.float32) for name in row.names}
    a, b = (cupy.asarray(x) for x in arrays.values())
    ways = {
        name: lambda make=make, by=by: make(by.put(arrays))
        for by in (ours, theirs)
        for name, make in by.ways(row).items()
    }
    clocks, errors = dict[str, Callable[[], float]](), dict[str, Any]()
    for name, make in {**ways, "cupy ufunc": lambda: lambda: cupy.add(a, b, a)}.items():
        why = failure(lambda name=name, make=make: clocks.update({name: _hosted(make(), clock)}))
        if why:
            errors[name] = {"error": why}
    times, late = in_turns(clocks, rounds)
    errors |= {name: {"error": why} for name, why in late.items()}
    return {name: summary(taken) for name, taken in times.items()} | errors


def _hosted(step: Callable[[], Any], clock: Clock) -> Callable[[], float]:
    step()
    return lambda: clock.on_the_host(step)


def machine() -> dict[str, Any]:
    """What the figures are of."""
    import cupy

    runtime = cupy.cuda.runtime
    versions = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="minutes"),
        "gpu": runtime.getDeviceProperties(0)["name"].decode(),
        "driver": runtime.driverGetVersion(),
        "runtime": runtime.runtimeGetVersion(),
        "python": sys.version.split()[0],
        "versions": versions,
        "info": {name: _without_path(x) for name, x in xt.info().items() if name != "disk cache"},
    }


def _without_path(x: Any) -> Any:
    """Where something lies is nobody's business."""
    return x.split(" (/")[0] if isinstance(x, str) else x


def line(name: str, found: dict[str, Any]) -> str:
    cells = []
    for who, one in found.items():
        share = f" {one['share']:.0%}" if "share" in one else ""
        cells.append(f"{who}: {one['error']}" if "error" in one else f"{who} {one['ms'] * 1e3:.4g} us{share}")
    return f"{name:<10}" + "; ".join(cells)


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Everything, as the JSON has it."""
    contenders, missing = available()
    if "exprten" in missing:
        sys.exit(missing["exprten"])
    missing |= {one.name: "it has no GPU here" for one in contenders if not one.on_gpu}
    contenders = [one for one in contenders if one.on_gpu]
    clock, n = Clock(), max(SMALL, given.mib << 18)
    bandwidth = copied(n, given.rounds, clock)
    report = {**machine(), "MiB": given.mib, "missing": missing, "copy GB/s": bandwidth, "rows": {}}
    print(
        f"{report['gpu']}, copy {bandwidth:.0f} GB/s, arrays of {given.mib} MiB; missing: {missing or 'nobody'}",
        flush=True,
    )
    report["overhead"] = overhead(given.rounds, clock)
    print(line("overhead", report["overhead"]), flush=True)
    end = time.monotonic() + given.seconds
    for row in ROWS:
        if time.monotonic() > end:
            report["rows"][row.name] = {"exprten": {"error": f"left out: {given.seconds} s have passed"}}
            continue
        import cupy

        report["rows"][row.name] = timed(row, n, contenders, given.rounds, clock, bandwidth)
        cupy.get_default_memory_pool().free_all_blocks()
        print(line(row.name, report["rows"][row.name]), flush=True)
        if given.json:  # what is known so far
            given.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--mib", type=int, default=256, help="of each array: 256")
    parser.add_argument("--rounds", type=int, default=15, help="turns of everybody, at least 2: 15")
    parser.add_argument("--seconds", type=int, default=480, help="no row begins later than that: 480")
    parser.add_argument("--check", action="store_true", help="compare with NumPy, on small arrays")
    parser.add_argument("--emulated", action="store_true", help="the same without a GPU")
    given = parser.parse_args()
    if not (given.check or given.emulated):
        measure(given)
        return
    block: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if given.emulated:
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from emulator.driver import emulated

        block = emulated(devices=1)
    with block:
        contenders, missing = available()
        print(f"missing: {missing or 'nobody'}")
        results = check(contenders)
    if given.json:
        given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if not all(found.get("exprten") == "ok" for found in results.values()):
        sys.exit(missing.get("exprten", "exprten differs"))


if __name__ == "__main__":
    main()
