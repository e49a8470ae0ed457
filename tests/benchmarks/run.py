"""exprten against NumPy, numexpr, Numba, C, PyTorch and JAX: `python tests/benchmarks/run.py`, with exprten installed.

The figures are ratios, contender's time / exprten's time, so above 1 exprten is faster; behind each stand the quartiles of the
ratios within single rounds. All contenders run in one process, on the same memory, in turns: each turn repeats the call for
about 10 ms, and medians over the rounds are compared. Every result is checked against NumPy's bits before anything is timed.

    sgd                          w -= eta * (g + lam * w)
    add                          o[...] = a + b
    nine                         o[...] = ((a*b+c)*(a-b)+a*2)*b-c*.5
    strided row column padded    o[...] = a + b, 256 x 1024: the target's elements lie apart; b is one row; b is one column; the
                                 rows of all three are padded
    sum rowsum colsum            folds along rows and across them, of 256 x 1024 and of as many as no cache holds
    rowmax argmax
    softmax softmax0 layernorm   normalised along rows, and softmax0 across them
    dot                          o[...] = maximum(dot(a, b) + c, 0): a product, and what is around it over the target
    sgd16 sgdb16                 sgd in float16 and in bfloat16; EXPRTEN_HALF=wide rounds less often
    compile                      first runs of 24 statements like sgd's, each of another structure, by those that compile

What to know when reading: C's figure up to 1,000 elements is the price of a call through ctypes; Numba's is a call of a
compiled function, with no expression built; numexpr's is `re_evaluate`; PyTorch's folds and all of JAX give a new tensor each time.
"No cache" is twice the last one, which processors share: of what it holds, and of what another machine beside this one left in it,
ratios would tell who read last. Peers that are not installed are left out. Everybody has one thread, or as many as `--threads` says.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path

from contenders import CONTENDERS, Contender
from llvmlite import binding
from measure import Effort, Result, beyond_caches, time_compile, time_row
from rows import FOLDS, ROWS, Shape, sgd_variants

from exprten.blas import bound_threads

# Read when the peers are imported or first called, which is later.
THREADS = ("EXPRTEN_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
ALONE = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # what JAX reads, in XLA_FLAGS
SIZES = (16, 1_000, 10_000, 1_000_000, 16_000_000)
NAMES = (*(row.name for row in ROWS), "compile")
FULL = Effort(rounds=15, seconds=10e-3, grid=(256, 1024), variants=len(sgd_variants()))
QUICK = Effort(rounds=3, seconds=0.2e-3, grid=(8, 64), variants=2)
QUICK_SIZES = (16, 1_000)
WIDTH = 21  # of a column


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=_count, help=f"elements of the rows with one axis: {SIZES}")
    parser.add_argument("--rows", nargs="+", choices=NAMES, default=NAMES, help="what to time: everything")
    parser.add_argument("--rounds", type=_count, help=f"turns of each contender, at least 2: {FULL.rounds}")
    parser.add_argument("--threads", type=_count, default=1, help="of every contender: 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument(
        "--quick", action="store_true", help="small and short: shows that it runs, its figures mean nothing"
    )
    given = parser.parse_args(arguments)
    if given.rounds == 1:
        parser.error("--rounds is 1; a spread needs at least 2")
    return given


def _count(text: str) -> int:
    """A whole number above 0, also as 1e6."""
    number = float(text)
    if number < 1 or number != int(number):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return int(number)


def machine() -> dict[str, str]:
    """What the figures depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": binding.get_host_cpu_name(),
        "cores": str(cores),
        "load": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("exprten", "llvmlite", "numpy", "numexpr", "numba", "torch", "jax")},
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "not set"),
        **{name: os.environ[name] for name in THREADS},
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def present() -> Iterator[Contender]:
    """The contenders that can run here. Prints why another cannot."""
    for contender in CONTENDERS:
        if reason := contender.missing():
            print(f"left out: {contender.name}: {reason}")
        else:
            yield contender


def results(
    contenders: Sequence[Contender], names: Iterable[str], sizes: Sequence[int], effort: Effort
) -> Iterator[Result]:
    if "compile" in names:  # first, while no row has compiled its statement
        yield time_compile(contenders, effort)
    for row in ROWS:
        grids = (effort.grid, effort.large) if row in FOLDS and effort.large else (effort.grid,)
        shapes: list[Shape] = [(n,) for n in sizes] if row.axes == 1 else list(grids)
        for shape in shapes if row.name in names else ():
            yield time_row(row, shape, contenders, effort)


def header(contenders: Sequence[Contender]) -> str:
    peers = "".join(f"{contender.name:>{WIDTH}}" for contender in contenders[1:])
    return f"{'row':<10}{'shape':>12}{'exprten':>11}{peers}"


def line(result: Result, contenders: Sequence[Contender]) -> str:
    shape = " x ".join(f"{n:,}" for n in result.shape)
    peers = "".join(f"{_cell(result, contender.name):>{WIDTH}}" for contender in contenders[1:])
    return f"{result.row:<10}{shape:>12}{_time(statistics.median(result.times['exprten'])):>11}{peers}"


def _cell(result: Result, name: str) -> str:
    if name not in result.times:
        return "-"
    ratio, low, high = (f"{x:.2f}" if x < 10 else f"{x:.1f}" if x < 100 else f"{x:.0f}" for x in result.ratio(name))
    return f"{ratio} ({low}..{high})"


def _time(seconds: float) -> str:
    for unit, scale in (("ns", 1e9), ("us", 1e6)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e3:.3g} ms"


def record(result: Result) -> dict[str, object]:
    """A result for --json, with every round's time."""
    ratios = {name: dict(zip(("ratio", "low", "high"), result.ratio(name), strict=True)) for name in result.times}
    return {**asdict(result), "ratios": ratios}


def main() -> None:
    given = parse()
    os.environ.update(dict.fromkeys(THREADS, str(given.threads)))
    os.environ["EXPRTEN_CACHE"] = "0"  # the row `compile` is to compile
    if given.threads == 1:
        os.environ["XLA_FLAGS"] = ALONE
    default, sizes = (QUICK, QUICK_SIZES) if given.quick else (FULL, SIZES)
    large = () if given.quick else (beyond_caches(),) * 2
    effort = replace(default, rounds=given.rounds or default.rounds, large=large)
    if hasattr(os, "sched_setaffinity"):  # JAX has as many threads as there are processors, whatever the flags say
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
    bound_threads(given.threads)  # NumPy's BLAS has looked at the environment already
    facts = machine()
    print("\n".join(f"{name:<20} {value}" for name, value in facts.items()))
    contenders = list(present())
    print(
        f"\ntime / exprten's time (quartiles), {effort.rounds} rounds of {effort.seconds * 1e3:g} ms\n{header(contenders)}"
    )
    found = []
    for result in results(contenders, given.rows, given.sizes or sizes, effort):
        print(line(result, contenders), flush=True)
        found.append(record(result))
    if given.json:
        given.json.write_text(json.dumps({"machine": facts, "rows": found}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
