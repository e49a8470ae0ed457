"""How far the functions are from the truth, measured and written to tests/accuracy/results.csv; docs/functions.md shows it.

`python tests/accuracy/accuracy.py [--step N] [NAME ...]` measures float64 and functions of two operands on samples against mpmath
(on many more where NumPy's long double can tell which of them are the worst), float32 functions of one operand on every N-th float
there is (1: on all of them) against ours of float64, which the first part has measured. `--table` only writes the page's table anew.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

import exprten as xt

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
PAGE = HERE.parents[1] / "docs" / "functions.md"
CHUNK = 1 << 17
mp.mp.prec = 300


def e_to(x: mp.mpf) -> mp.mpf:
    """exp(x); what is far below all floats is all the same."""
    return mp.exp(max(x, mp.mpf(-20000)))


def sigmoid(x: mp.mpf) -> mp.mpf:
    return 1 / (1 + e_to(-x)) if x > 0 else e_to(x) / (1 + e_to(x))


def softplus(x: mp.mpf) -> mp.mpf:
    return max(x, mp.mpf(0)) + mp.log1p(e_to(-abs(x)))


def gelu_tanh(x: mp.mpf) -> mp.mpf:
    return x * sigmoid(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))


def logaddexp(a: mp.mpf, b: mp.mpf) -> mp.mpf:
    return max(a, b) + mp.log1p(e_to(-abs(a - b)))


def logaddexp2(a: mp.mpf, b: mp.mpf) -> mp.mpf:
    return max(a, b) + mp.log1p(e_to(-abs(a - b) * mp.log(2))) / mp.log(2)


TRUTH: dict[str, Callable[..., mp.mpf]] = {
    "arccos": mp.acos, "arccosh": mp.acosh, "arcsin": mp.asin, "arcsinh": mp.asinh, "arctan": mp.atan, "arctan2": mp.atan2,
    "arctanh": mp.atanh, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)), "cos": mp.cos, "cosh": mp.cosh,
    "digamma": mp.digamma, "erf": mp.erf, "erfc": mp.erfc, "erfinv": mp.erfinv, "exp": mp.exp,
    "exp2": lambda x: mp.mpf(2) ** x, "expm1": mp.expm1, "gamma": mp.gamma, "hypot": mp.hypot,
    "lgamma": lambda x: mp.re(mp.loggamma(x)), "log": mp.log, "log10": lambda x: mp.log(x, 10), "log1p": mp.log1p,
    "log2": lambda x: mp.log(x, 2), "power": mp.power, "rsqrt": lambda x: 1 / mp.sqrt(x), "sin": mp.sin, "sinh": mp.sinh,
    "tan": mp.tan, "tanh": mp.tanh, "trigamma": lambda x: mp.psi(1, x), "xlogy": lambda a, b: a * mp.log(b),
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 100 else max(x, mp.mpf(0)), "gelu_tanh": gelu_tanh,
    "log_sigmoid": lambda x: -softplus(-x), "logaddexp": logaddexp, "logaddexp2": logaddexp2,
    "logit": lambda x: mp.log(x / (1 - x)), "mish": lambda x: x * mp.tanh(softplus(x)) if x > -60 else x * e_to(x),
    "sigmoid": sigmoid, "silu": lambda x: x * sigmoid(x), "sinc": mp.sincpi, "softplus": softplus,
}  # fmt: skip
TWO = ("arctan2", "hypot", "logaddexp", "logaddexp2", "power", "xlogy")
POSITIVE = {"digamma", "lgamma", "trigamma"}  # below 0 they have zeros, but the last: it has the square of a sine


@dataclass(frozen=True)
class Result:
    """The largest error of a function, in units of the last place, and where it is."""

    function: str
    dtype: str
    inputs: int
    most: float
    at: str


def samples(dtype: np.dtype, count: int, seed: int) -> np.ndarray:
    """All exponents, ordinary numbers, numbers near 1, and near multiples of pi / 2."""
    rng, info = np.random.default_rng(seed), np.finfo(dtype)
    sign = rng.choice([-1.0, 1.0], count)
    wide = sign * np.exp2(rng.uniform(info.minexp + 1, info.maxexp - 1, count))
    ordinary = sign * np.exp2(rng.uniform(-8, 7, count))
    one = sign * (1 + rng.choice([-1.0, 1.0], count) * np.exp2(rng.uniform(-info.nmant, -1, count)))
    quarters = rng.integers(1, 1 << 20, count) * (np.pi / 2)
    large = rng.uniform(-750, 750, count)
    return np.concatenate([wide, ordinary, rng.uniform(-1.5, 1.5, count), one, quarters, large]).astype(dtype)


def operands(name: str, dtype: np.dtype, count: int) -> list[np.ndarray]:
    x = samples(dtype, count, 1)
    if name not in TWO:
        return [abs(x) if name in POSITIVE else x]
    y = np.random.default_rng(2).permutation(samples(dtype, count, 3))
    if name == "power":  # what neither overflows nor is 1
        with np.errstate(all="ignore"):
            x = abs(x)
            fitting = np.random.default_rng(4).uniform(-1, 1, len(x)) * np.log(np.finfo(dtype).max) / np.log(x)
            y = np.where(np.arange(len(x)) % 2, fitting, np.clip(y, -40, 40)).astype(dtype)
    return [x, abs(y) if name in {"xlogy", "logaddexp", "logaddexp2"} else y]  # the latter have zeros below 0


def unit(want: mp.mpf, dtype: np.dtype) -> mp.mpf:
    """The distance of floats around `want`."""
    info = np.finfo(dtype)
    exponent = max(int(mp.floor(mp.log(abs(want), 2))), info.minexp) if want else info.minexp
    return mp.mpf(2) ** (exponent - info.nmant)


WIDER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
DENSE = 100  # times as many samples where NumPy has the function in a wider type: it says which of them mpmath is asked about
ASKED = 200


def measured(name: str, dtype: np.dtype, count: int) -> Result:
    """Against mpmath, where the truth is a number that the type can hold."""
    dense = WIDER and isinstance(getattr(np, name, None), np.ufunc)
    given = operands(name, dtype, count * DENSE if dense else count)
    got = xt.evaluate(getattr(xt, name)(*map(xt.asarray, given))).numpy()
    asked, tried = np.arange(len(got)), 0
    if dense:
        asked, tried = _worst(name, given, got)
    most, at = 0.0, ""
    for *xs, value in zip(*(x[asked].tolist() for x in given), got[asked].tolist(), strict=True):
        try:
            want = TRUTH[name](*map(mp.mpf, xs))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        if not isinstance(want, mp.mpf) or not mp.isfinite(want) or abs(want) > float(np.finfo(dtype).max):
            continue
        tried += not dense
        apart = float(abs(mp.mpf(value) - want) / unit(want, dtype)) if np.isfinite(value) else np.inf
        if apart > most:
            most, at = apart, " ".join(map(repr, xs))
    return Result(name, dtype.name, tried, round(most, 3), at)


def _worst(name: str, given: list[np.ndarray], got: np.ndarray) -> tuple[np.ndarray, int]:
    """Where NumPy's long double finds most to object to, and of how many."""
    with np.errstate(all="ignore"):
        want = getattr(np, name)(*(x.astype(np.longdouble) for x in given))
        near = want.astype(got.dtype)
        far = np.abs(got - want) / np.spacing(np.abs(near)).astype(np.longdouble)
    usable = np.isfinite(near)
    far = np.where(usable, np.where(np.isnan(far), np.inf, far), -1)
    return np.argsort(far)[-ASKED:], int(usable.sum())


def floats(step: int) -> Iterator[np.ndarray]:
    """Every `step`-th float32, in pieces."""
    places = np.arange(CHUNK, dtype=np.uint64) * step
    for first in range(0, 1 << 32, CHUNK * step):
        here = places[: -(-((1 << 32) - first) // step)]
        yield (here + first).astype(np.uint32).view(np.float32)


def apart(got: Any, want: Any) -> Any:
    """How far float32 is from float64, in units of the last place of `want`; inf where only one of them is a number."""
    size = xt.absolute(xt.cast(want, np.float32))
    below = xt.where(xt.cast(size, np.float64) > xt.absolute(want), xt.nextafter(size, np.float32(0)), size)
    unit = xt.minimum(xt.nextafter(below, np.float32(np.inf)) - below, 2.0**104)  # the largest binade has one, too
    number, truth = (xt.clip(x, -(2.0**128), 2.0**128) for x in (xt.cast(got, np.float64), want))
    far = xt.absolute(number - truth) / xt.cast(unit, np.float64)
    same = (got == want) | (xt.isnan(got) & xt.isnan(want))
    return xt.where(xt.isfinite(want), xt.where(xt.isnan(got), np.inf, far), xt.where(same, 0.0, np.inf))


def swept(name: str, step: int) -> Result:
    """Float32 against ours of float64: a kernel finds the largest error of a piece, and where it lies is asked only of the worst."""
    function = getattr(xt, name)
    most, worst, tried = xt.zeros((), dtype=np.float64), np.float32([0]), 0
    largest = 0.0
    for each in floats(step):
        x = xt.asarray(abs(each) if name in POSITIVE else each)
        far = apart(function(x), function(xt.cast(x, np.float64)))
        most[...] = xt.max(far)
        tried += len(each)
        if most.item() > largest:
            largest, worst = most.item(), each[[xt.evaluate(xt.argmax(far)).item()]]
    return Result(name, "float32", tried, round(largest, 3), repr(float(worst[0])))


def read() -> dict[tuple[str, str], Result]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        rows = [
            Result(r["function"], r["dtype"], int(r["inputs"]), float(r["most"]), r["at"]) for r in csv.DictReader(file)
        ]
    return {(r.function, r.dtype): r for r in rows}


def write(results: dict[tuple[str, str], Result]) -> None:
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, [f.name for f in fields(Result)], lineterminator="\n")
        out.writeheader()
        out.writerows(asdict(results[key]) for key in sorted(results))


def table(results: dict[tuple[str, str], Result]) -> str:
    """The table of docs/functions.md."""
    lines = ["| function | float32 | of inputs | float64 | of inputs |", "|---|---|---|---|---|"]
    for name in sorted({function for function, _ in results}):
        cells = [results[name, dtype] for dtype in ("float32", "float64")]
        shown = " | ".join(f"{r.most:.2f} | {'all' if r.inputs == 1 << 32 else f'{r.inputs:,}'}" for r in cells)
        lines.append(f"| `{name}` | {shown} |")
    return "\n".join(lines) + "\n"


def rewrite_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(r"\| function \| float32 .*?\n(?=\n)", lambda _: table(read()), page, flags=re.DOTALL), encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(TRUTH))
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    for name in () if given.table else given.names:
        first = measured(name, np.dtype(np.float32), given.count) if name in TWO else swept(name, given.step)
        for result in (first, measured(name, np.dtype(np.float64), given.count)):
            print(result, flush=True)
            write(read() | {(result.function, result.dtype): result})
    rewrite_page()


if __name__ == "__main__":
    main()
