"""Mathematical functions against NumPy, numexpr, PyTorch, JAX and C with gcc's vector library: `python tests/benchmarks/functions.py`.

Each function runs over 65,536 numbers of float32 and 32,768 of float64: operands and target lie in the second cache. All contenders
run in one process, on the same numbers, in turns, with one thread; medians are compared. A figure is a contender's time / exprten's,
so above 1 exprten is faster; behind it stands the contender's largest error, in units of the last place: on these numbers, and where a
function is hard beside them. What is wrong by more than exprten's own functions may be has a star: it is to be held against the column of
fast_math. The truth is NumPy's in the next wider type; where NumPy has no such function mpmath's for a sample (of float32 ours of float64).

C is `gcc -O3 -ffast-math -march=native -fopenmp-simd`, which calls libmvec where that has the function. JAX and PyTorch give new
arrays each time, exprten, NumPy, numexpr and C store into one. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measure import interleave

import exprten as xt
from exprten.blas import bound_threads

THREADS = ("EXPRTEN_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
COUNT = {np.dtype(np.float32): 1 << 16, np.dtype(np.float64): 1 << 15}
OURS = 2.0  # units of the last place: what the functions promise
Array = np.ndarray[Any, np.dtype[Any]]
Call = Callable[[], Any]
Ranges = tuple[tuple[float, float], ...]
SMALL = (-1e-3, 1e-3)


@dataclass(frozen=True)
class Function:
    """A name, where its operands lie, and what C calls it."""

    name: str
    low: float
    high: float
    c: str = ""
    two: bool = False
    hard: Ranges = ()  # where its errors are looked for, too: around zeros, in tails

    def operands(self, dtype: np.dtype[Any], ranges: Ranges = ()) -> list[Array]:
        rng = np.random.default_rng(0)
        bounds = [ranges or ((self.low, self.high),), ((-4.0, 4.0),)][: 1 + self.two]
        if self.name == "xlogy":
            bounds.reverse()
        types = [dtype, np.dtype(np.int32) if self.name == "ldexp" else dtype]
        return [aligned(drawn(b, COUNT[dtype], rng).astype(t)) for b, t in zip(bounds, types, strict=False)]


def drawn(ranges: Ranges, count: int, rng: np.random.Generator) -> Array:
    """As many numbers in each range."""
    return np.concatenate(
        [
            rng.uniform(*b, len(part))
            for b, part in zip(ranges, np.array_split(np.empty(count), len(ranges)), strict=True)
        ]
    )


FUNCTIONS = (
    Function("exp", -20, 20, "exp"), Function("sin", -30, 30, "sin"), Function("cos", -30, 30, "cos"),
    Function("tanh", -4, 4, "tanh"), Function("log", 0.01, 50, "log"), Function("power", 0.02, 50, "pow", two=True),
    Function("log2", 0.01, 50, "log2"), Function("log10", 0.01, 50, "log10"), Function("exp2", -20, 20, "exp2"),
    Function("expm1", -20, 20, "expm1"), Function("log1p", -0.9, 50, "log1p"), Function("tan", -30, 30, "tan"),
    Function("arcsin", -1, 1, "asin"), Function("arccos", -1, 1, "acos"), Function("arctan", -4, 4, "atan"),
    Function("arctan2", -4, 4, "atan2", two=True), Function("sinh", -20, 20, "sinh"), Function("cosh", -20, 20, "cosh"),
    Function("arcsinh", -20, 20, "asinh"), Function("arccosh", 1, 20, "acosh"), Function("arctanh", -0.99, 0.99, "atanh"),
    Function("cbrt", -100, 100, "cbrt"), Function("rsqrt", 0.01, 50, hard=((1e-30, 1e-20), (1e20, 1e30))),
    Function("hypot", -4, 4, "hypot", two=True),
    Function("erf", -4, 4, "erf", hard=(SMALL, (0.4, 1.2), (3, 6))),
    Function("erfc", -4, 4, "erfc", hard=(SMALL, (4, 9), (9, 26))), Function("erfinv", -0.99, 0.99, hard=(SMALL, (0.99, 0.9999999))),
    Function("gamma", 0.1, 20, "tgamma", hard=((1e-3, 0.1), (20, 35), (35, 171))),
    Function("lgamma", 0.1, 20, "lgamma", hard=((0.99, 1.01), (1.99, 2.01), (20, 1e6))),
    Function("digamma", 0.1, 20, hard=((1e-3, 0.1), (1.4, 1.5), (20, 1e6))),
    Function("xlogy", 0.01, 50, two=True, hard=((0.99, 1.01), (1e-30, 1e-20))),
    Function("logaddexp", 0.1, 8, "logaddexp", two=True),
    Function("sigmoid", -20, 20, "sigmoid", hard=(SMALL, (-87, -20), (-700, -87))),
    Function("softplus", -20, 20, "softplus", hard=(SMALL, (-87, -20), (-700, -87))),
    Function("gelu", -4, 4, "gelu", hard=(SMALL, (-12, -4), (-37, -12))),
    Function("nextafter", -4, 4, "nextafter", two=True), Function("ldexp", -4, 4, two=True),
)  # fmt: skip


def aligned(values: Array) -> Array:
    """The same numbers in memory of exprten's."""
    tensor = xt.empty(values.shape, dtype=values.dtype)
    tensor.numpy()[...] = values
    return tensor.numpy()


# Contenders: each gives a call that returns its result, or None where it has no such function.


def exprten(f: Function, operands: Sequence[Array], out: Array) -> Call:
    function, target = getattr(xt, f.name), xt.asarray(out)
    tensors = [xt.asarray(x) for x in operands]

    def one(a: Any = tensors[0]) -> Array:
        target[...] = function(a)
        return out

    def two(a: Any = tensors[0], b: Any = tensors[-1]) -> Array:
        target[...] = function(a, b)
        return out

    return two if f.two else one


def numpy(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    function = getattr(np, f.name, None)
    return None if function is None else lambda: function(*operands, out=out)


def numexpr(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    import numexpr

    names = dict(zip("ab", operands, strict=False))
    text = "a ** b" if f.name == "power" else f"{f.name}({', '.join(names)})"
    try:
        numexpr.evaluate(text, local_dict=names, out=out)
    except (TypeError, KeyError, NotImplementedError, NameError):
        return None
    return lambda: numexpr.evaluate(text, local_dict=names, out=out)


def torch(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    import torch

    torch.set_num_threads(1)
    name = {"power": "pow"}.get(f.name, f.name)
    tensors, target = [torch.from_numpy(x) for x in operands], torch.from_numpy(out)
    if f.name == "gamma":
        return None
    if not hasattr(torch, name):
        function = getattr(torch.nn.functional, name, None)
        return function and (lambda: function(*tensors).numpy())
    function = getattr(torch, name)
    return lambda: function(*tensors, out=target).numpy()


def jax(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    import jax

    jax.config.update("jax_enable_x64", True)
    places = (jax.numpy, jax.lax, jax.scipy.special, jax.nn)
    name = {"lgamma": "gammaln"}.get(f.name, f.name)
    found = next((getattr(place, name) for place in places if hasattr(place, name)), None)
    if found is None:
        return None
    if f.name == "gelu":
        found = functools.partial(found, approximate=False)
    function, arrays = jax.jit(found), [jax.numpy.array(x) for x in operands]
    return lambda: function(*arrays).block_until_ready()


def c(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    if not f.c:
        return None
    function = getattr(_library(), f"{f.name}{out.dtype.itemsize}")
    given = [ctypes.c_void_p(x.ctypes.data) for x in (out, *operands)]
    count = ctypes.c_long(len(out))

    def call() -> Array:
        function(*given, count)
        return out

    return call


# What the C library lacks, as one would write it.
FORMULAS = """#include <math.h>
#define FORMULAS(T, S) \\
static inline T logaddexp##S(T a, T b) { return fmax##S(a, b) + log1p##S(exp##S(-fabs##S(a - b))); } \\
static inline T sigmoid##S(T x) { return 1 / (1 + exp##S(-x)); } \\
static inline T softplus##S(T x) { return fmax##S(x, 0) + log1p##S(exp##S(-fabs##S(x))); } \\
static inline T gelu##S(T x) { return x * (1 + erf##S(x * (T)0.70710678118654752)) / 2; }
FORMULAS(float, f)
FORMULAS(double, )"""


@functools.cache
def _library() -> ctypes.PyDLL:
    lines = [FORMULAS]
    for f in FUNCTIONS:
        for bits, kind, suffix in ((4, "float", "f"), (8, "double", "")) if f.c else ():
            names = "ab"[: 1 + f.two]
            given = "".join(f"const {kind} *restrict {x}, " for x in names)
            value = f"{f.c}{suffix}({', '.join(f'{x}[i]' for x in names)})"
            lines.append(
                f"void {f.name}{bits}({kind} *restrict o, {given}long n) {{ for (long i = 0; i < n; i++) o[i] = {value}; }}"
            )
    with tempfile.TemporaryDirectory() as folder:
        source, made, library = (Path(folder, f"functions.{kind}") for kind in ("c", "o", "so"))
        source.write_text("\n".join(lines), encoding="ascii")
        flags = ["-O3", "-ffast-math", "-march=native", "-fopenmp-simd", "-fPIC"]
        subprocess.run(["gcc", *flags, "-c", "-o", made, source], check=True)
        # linked without the option, which would take subnormal numbers from all contenders of this process
        subprocess.run(["gcc", "-shared", "-o", library, made, "-lm"], check=True)
        return ctypes.PyDLL(str(library))


def fast(f: Function, operands: Sequence[Array], out: Array) -> Call | None:
    from exprten_jit.derived import TABLE

    if getattr(TABLE[f.name], "fast", None) is None:
        return None
    call = exprten(f, operands, out)

    def quickly() -> Array:
        with xt.options(fast_math=True):
            for _ in range(FAST_CALLS):  # entering the context costs as much as some calls
                call()
        return out

    return quickly


FAST_CALLS = 100
ASKED = 2000  # what mpmath is asked in a second or two
PRECISION = 120  # bits, of float64 enough for thousandths of a unit
TURN = 0.3e-3  # seconds: less than what a scheduler gives another process before it comes back
MODULES = ("numexpr", "torch", "jax")
PEERS: dict[str, Callable[[Function, Sequence[Array], Array], Call | None]] = {
    "exprten": exprten, "fast_math": fast, "numpy": numpy, "numexpr": numexpr, "torch": torch, "jax": jax, "C": c,
}  # fmt: skip


def truth(f: Function, operands: Sequence[Array], asked: int) -> Array:
    """NumPy's in the next wider type; where NumPy has no such function ours of float64, for float32, and mpmath's of some numbers."""
    wide: Any = np.float64 if operands[0].dtype == np.float32 else np.longdouble
    given = [x.astype(wide) if x.dtype.kind == "f" else x for x in operands]
    if f.name == "nextafter":
        return np.nextafter(*operands).astype(wide)
    if hasattr(np, f.name):
        return np.asarray(getattr(np, f.name)(*given))
    if wide is np.longdouble:
        return sampled(f, operands, asked)
    return xt.evaluate(getattr(xt, f.name)(*map(xt.asarray, given))).numpy()


def sampled(f: Function, operands: Sequence[Array], asked: int) -> Array:
    """The truth of `asked` elements, NaN elsewhere, as the sum of two numbers of float64; all of it NaN without mpmath."""
    want = np.full(operands[0].shape, np.nan, np.longdouble)
    if importlib.util.find_spec("mpmath") is None:
        return want
    sys.path.append(str(Path(__file__).parents[1] / "accuracy"))
    from accuracy import TRUTH, mp

    places = np.linspace(0, len(want) - 1, asked).astype(int)
    with mp.workprec(PRECISION):
        for place, *xs in zip(places.tolist(), *(x[places].tolist() for x in operands), strict=True):
            value = TRUTH[f.name](*map(mp.mpf, xs))
            high = float(value)
            want[place] = np.longdouble(high) + np.longdouble(float(value - high))
    return want


def error(got: Array, want: Array) -> float:
    """The largest where the truth is known and a normal number, in units of the last place; NaN where it is nowhere known."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        known = ~np.isnan(want) & (want == 0) | (np.abs(want) >= info.tiny) & (np.abs(want) <= info.max)
        got, want = got[known], want[known]
        unit = np.spacing(np.abs(want.astype(got.dtype))).astype(want.dtype)
        apart = np.abs(got.astype(want.dtype) - want) / unit
    return float(np.max(np.where(np.isnan(apart), np.inf, apart))) if apart.size else np.nan


def errors(f: Function, dtype: np.dtype[Any], ranges: Ranges, peers: Sequence[str], asked: int) -> dict[str, float]:
    """Of each contender."""
    operands, out = f.operands(dtype, ranges), aligned(np.empty(COUNT[dtype], dtype))
    want = truth(f, operands, asked)
    calls = {name: PEERS[name](f, operands, out) for name in peers}
    return {name: error(np.array(call()), want) for name, call in calls.items() if call is not None}


def shown(units: float) -> str:
    return f"{units:.2f}" if not units >= 1000 else f"{units:.0e}".replace("e+0", "e").replace("e+", "e")


def present() -> Iterator[str]:
    """Those that can run here. Prints who is left out."""
    for name in PEERS:
        here = shutil.which("gcc") if name == "C" else name not in MODULES or importlib.util.find_spec(name)
        if here:
            yield name
        else:
            print(f"left out: {name} is not installed")


def row(f: Function, dtype: np.dtype[Any], peers: Sequence[str], rounds: int, seconds: float, asked: int) -> str:
    operands, out = f.operands(dtype), aligned(np.empty(COUNT[dtype], dtype))
    made = {name: PEERS[name](f, operands, out) for name in peers}
    calls = {name: call for name, call in made.items() if call is not None}
    timers = {name: timeit.Timer("call()", globals={"call": call}) for name, call in calls.items()}
    times = {name: median(found) for name, found in interleave(timers, rounds, seconds).items()}
    if "fast_math" in times:
        times["fast_math"] /= FAST_CALLS
    ours, wrong = times["exprten"], errors(f, dtype, (), peers, asked)
    if f.hard:
        hard = errors(f, dtype, f.hard, peers, asked)
        wrong = {name: float(np.fmax(most, hard[name])) for name, most in wrong.items()}
    cells = [f"`{f.name}`", dtype.name, f"{ours / len(out) * 1e9:.3f} ({shown(wrong['exprten'])})"]
    for name in peers[1:]:
        star = "\\*" if name in wrong and wrong[name] > OURS and name != "fast_math" else ""
        cells.append(f"{times[name] / ours:.2f} ({shown(wrong[name])}){star}" if name in times else "")
    return f"| {' | '.join(cells).replace('(nan)', '')} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions; all of them if none is named")
    parser.add_argument("--rounds", type=int, default=41, help="turns of each contender, at least 2: 41")
    parser.add_argument("--quick", action="store_true", help="shows that it runs; its figures mean nothing")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    bound_threads(1)
    peers = list(present())
    print(f"| function | type | exprten, ns | {' | '.join(peers[1:])} |\n|{'---|' * (2 + len(peers))}")
    for f in FUNCTIONS:
        for dtype in COUNT if not given.names or f.name in given.names else ():
            how = (2, 0.1e-3, 20) if given.quick else (given.rounds, TURN, ASKED)
            print(row(f, dtype, peers, *how), flush=True)


if __name__ == "__main__":
    main()
