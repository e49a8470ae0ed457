"""Folds: of every shape, type and place in a statement. The CPU's order of additions is everywhere's, so the bits are equal."""

from typing import Any

import numpy as np
from strategies import values
from test_folds import ALL, LONG, SHORT_ROWS, STRUCTURES, normal, softmax
from test_folds_beforehand import COLUMNS, TWICE
from test_own_reducer import average, furthest, hypotenuse, logsumexp, variance

import exprten as xt

from . import Bench, group
from .elementwise import together

FUNCTIONS = (
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
    "mean",
    "var",
    "std",
    "norm",
    "count_nonzero",
)


# Of statements elsewhere those that name no device for a range. `ranged` has its own.
OF_THE_CPU = {"cumulated", "numbers of a range", "centre of mass", "one-hot", "sums so far"}


@group("structures of folds")
def structures(bench: Bench) -> None:
    for name, (_, statement) in {**STRUCTURES, **SHORT_ROWS}.items():
        shapes = [(9, 33), (67, 3), *([LONG[name]] if name in LONG else [])]
        for k, shape in enumerate(shapes if name not in OF_THE_CPU else []):
            bench.about(f"{name} of {shape}")
            bench.evaluate(statement(bench.tensor(normal(shape, k))))


@group("statements with folds")
def statements(bench: Bench) -> None:
    for name, (statement, _) in ALL.items():
        for shape in ((5, 7), (33, 40)) if name not in OF_THE_CPU else ():
            bench.about(f"{name} of {shape}")
            bench.evaluate(statement(bench.tensor(normal(shape))))


@group("folds that folds need again")
def needed_again(bench: Bench) -> None:
    for name, (inner, outer) in TWICE.items():
        for shape in ((9, 13), (70, 33), (5, 300)):
            bench.about(f"{name} of {shape}")
            bench.evaluate(outer(xt, inner(xt, bench.tensor(normal(shape)))))
    for name, of_columns in COLUMNS.items():
        for shape in ((9, 13), (70, 33), (5, 300)):
            bench.about(f"{name} of {shape}")
            bench.evaluate(of_columns(xt, bench.tensor(normal(shape))))


@group("folds and ranges")
def ranged(bench: Bench) -> None:
    x = bench.tensor(normal((9, 33)))
    columns, rows = (xt.range(n, device=bench.device) for n in (33, 9))
    bench.evaluate(xt.sum(x * columns, 1))
    bench.evaluate(xt.sum(xt.reshape(rows, (-1, 1)) * x * x, 0) / xt.sum(x * x, 0))
    bench.evaluate(xt.sum(xt.where(columns == xt.reshape(rows, (-1, 1)), x, 0.0), 1))
    bench.evaluate(xt.sum(xt.where(columns <= xt.reshape(columns, (-1, 1)), x[0], 0.0), 1))


@group("folds of every type")
def types(bench: Bench) -> None:
    """Five functions of a type over an axis are one kernel: more of them take the CPU's compiler long."""
    for dtype in map(np.dtype, ("bool", "uint8", "int32", "float32", "float64", "float16")):
        x = values(dtype, (9, 70), 1)
        functions = [
            getattr(xt, name) for name in FUNCTIONS if not (dtype.kind == "b" and name in {"argmax", "argmin"})
        ]
        for axis in (None, 0, 1):
            together(bench, [(f.__name__, lambda x, f=f, axis=axis: f(x, axis)) for f in functions], [x], 5)


def _extents(bench: Bench, name: str, shape: tuple[int, ...], axis: Any, lie: str) -> None:
    bench.about(f"{name} of {shape} over {axis}, {lie}")
    bench.evaluate(getattr(xt, name)(bench.tensor(normal(shape), lie), axis))


@group("folds of every extent")
def extents(bench: Bench) -> None:
    for n in (0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 1000, 4095, 4097, 9000, 70_000):
        _extents(bench, "sum", (n,), None, "contiguous")
    for shape in (
        (1, 70_000),
        (3, 20_000),
        (5000, 3),
        (2000, 17),
        (300, 300),
        (40, 1000),
        (6, 2, 900),
        (900, 2, 6),
        (4, 70, 33),
    ):
        for axis in range(len(shape)):
            _extents(bench, "sum", shape, axis, "contiguous")
        _extents(bench, "argmax", shape, -1, "contiguous")
    for lie in ("padded", "step2", "negative", "transposed", "offset", "repeated rows", "repeated columns"):
        for axis in (None, 0, 1):
            _extents(bench, "sum", (37, 70), axis, lie)
            _extents(bench, "max", (37, 70), axis, lie)


@group("folds of several blocks")
def long_rows(bench: Bench) -> None:
    """Rows that a warp reads several blocks of at once: enough that they are not cut, of more than two blocks, aligned and not."""
    for shape, dtype in (((65, 8300), "f4"), ((64, 8193), "f4"), ((64, 8204), "f8"), ((64, 12500), "f2")):
        bench.about(f"rows of {shape} of {dtype}")
        x = bench.tensor(normal(shape).astype(dtype))
        bench.evaluate(xt.sum(x * x, 1))
        bench.evaluate(xt.max(x, 1))
        bench.evaluate(xt.sum(x[:, 1:], 1))
    x = bench.tensor(normal((64, 8300)))
    bench.evaluate(softmax(xt, x, 1))
    bench.evaluate((x - xt.mean(x, 1, keepdims=True)) / xt.std(x, 1, keepdims=True))
    bench.evaluate(hypotenuse(x, axis=1))
    bench.evaluate(xt.argmax(x, 1))


@group("folds in modes and layouts")
def in_modes(bench: Bench) -> None:
    for mode in ("write", "add", "sub", "mul", "div"):
        for target, lie in (("contiguous", "padded"), ("step2", "transposed"), ("padded", "contiguous")):
            bench.about(f"{mode} into {target} from {lie}")
            x = bench.tensor(normal((6, 41)), lie)
            xt.assign(bench.tensor(normal((6,)), target), mode, xt.sum(x * x, 1))
            xt.assign(bench.tensor(normal((6, 41)), target), mode, softmax(xt, x, 1))
            t = bench.tensor(normal((6, 41)), target)
            xt.assign(t, mode, t - xt.max(t, 1, keepdims=True))


@group("reducers of one's own")
def own_reducers(bench: Bench) -> None:
    for shape in ((7,), (33, 5), (3, 300), (2, 4500), (700, 2), (4, 33, 6)):
        x = bench.tensor(normal(shape))
        for axis in (None, *range(len(shape))):
            bench.about(f"of {shape} over {axis}")
            for made in (hypotenuse, logsumexp, variance):
                bench.evaluate(made(x, axis=axis))
            bench.evaluate(average(x, x * x, axis=axis))
            value, place = furthest(x, xt.range(shape[-1], device=bench.device), axis=axis)
            bench.evaluate(value)
            bench.evaluate(place)


@group("special numbers in folds")
def special(bench: Bench) -> None:
    for dtype in ("float32", "float64", "float16"):
        for seed in range(3):
            bench.about(f"special numbers of {dtype}")
            x = bench.tensor(values(dtype, (5, 130), seed))
            for name in ("sum", "max", "min", "argmax", "argmin", "prod"):
                for axis in (None, 0, 1):
                    bench.evaluate(getattr(xt, name)(x, axis))
    bench.about("zeros of both signs")
    bench.evaluate(xt.max(bench.tensor(np.array([-0.0, 0.0] * 40, "f4"))))
