"""Layouts, modes and shapes of target and sources; tensors that overlap."""

from typing import Any

import numpy as np
from strategies import TARGETS, values
from test_aliasing import LEGAL_1D, MATRIX, numbers
from test_layouts import MODES, ROWS, TREES

import exprten as xt

from . import Bench, group, put


@group("layouts, modes and shapes")
def covered(bench: Bench) -> None:
    """Half of a covering array, in which any two values of tree, mode, layouts and shape meet."""
    for tree, mode, target, a, b, shape in ROWS[::2]:
        bench.about(f"{tree} {mode} {target} from {a}, {b} of {shape}")
        row = TREES[tree]
        out = bench.tensor(values(row.target, shape, 1), target)
        e = row.ours(bench.tensor(values(row.a, shape, 2), a), bench.tensor(values(row.b, shape, 3), b))
        try:
            MODES[mode][0](out, e)
        except xt.DTypeError:
            continue


@group("long rows")
def long_rows(bench: Bench) -> None:
    """Around what several threads read and write at once, and beyond one block."""
    for dtype in ("float32", "float64", "uint8", "int16", "float16"):
        for n in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 256, 1023, 5000):
            for k, lie in enumerate(("contiguous", "offset")):
                bench.about(f"{n} of {dtype}, {lie}")
                x, y = (values(dtype, (n,), seed) for seed in (n, n + 1))
                out = bench.tensor(y, lie if k else "contiguous")
                out += bench.tensor(x, lie) * 2


@group("rows with room between")
def padded_rows(bench: Bench) -> None:
    for dtype in ("float32", "uint8", "float64"):
        for shape in ((3, 8), (5, 33), (2, 3, 16), (7, 64), (4, 3, 5)):
            for target in TARGETS:
                bench.about(f"{shape} of {dtype} into {target}")
                out = bench.tensor(values(dtype, shape, 1), target)
                put(out, bench.tensor(values(dtype, shape, 2), "padded") + bench.tensor(values(dtype, shape[-1:], 3)))
    bench.about("allocated with padded rows")
    x = bench.keep(xt.array(values("float32", (5, 33), 4), device=bench.device, pad=True))
    x *= 2
    bench.evaluate(x + x[:, :1])


@group("scalars")
def scalars(bench: Bench) -> None:
    for dtype, scalar in (
        ("float32", 0.1),
        ("float64", 0.1),
        ("int64", 2**62),
        ("uint64", 2**63),
        ("int8", -3),
        ("float16", 0.1),
    ):
        bench.about(f"{scalar} with {dtype}")
        x = bench.tensor(values(dtype, (37,), 1))
        x[...] = scalar
        put(bench.tensor(values(dtype, (2, 37), 1)), x + scalar)
        bench.evaluate(x * np.dtype(dtype).type(3) + x)
        put(bench.tensor(np.zeros((), dtype)), x[3] + scalar)


def _sources(name: str) -> Any:
    return LEGAL_1D[name] if name in LEGAL_1D else MATRIX[name][0]


@group("targets that are read")
def aliased(bench: Bench) -> None:
    for name in LEGAL_1D:
        for n in (1, 7, 33, 300, 3000):
            bench.about(f"{name} of {n}")
            t = bench.tensor(numbers(n))
            try:
                LEGAL_1D[name](t, t)
            except (xt.AliasError, xt.ShapeError):
                continue
    for name, (statement, refused) in MATRIX.items():
        bench.about(f"matrix: {name}")
        t = bench.tensor(numbers((8, 8)))
        if not refused:
            statement(t, t)


@xt.kernel
def both_ways(along: Any, across: Any, x: Any) -> None:
    along[...] = along * 0.5 + x
    across[...] = across - along


@group("what lies across its target")
def across(bench: Bench) -> None:
    """Long enough on both sides that a GPU goes by way of shared memory."""
    for dtype in ("float32", "float64", "float16", "uint8"):
        for shape, lie in (((33, 70), "contiguous"), ((64, 96), "padded"), ((17, 40), "negative")):
            bench.about(f"{shape} of {dtype}, {lie}")
            x, y = bench.tensor(values(dtype, shape, 1), lie), bench.tensor(values(dtype, shape[::-1], 2), lie)
            y += x.T * 2
            put(y, xt.maximum(x.T, y))
    for order in ((1, 0, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0)):
        bench.about(f"axes {order}")
        x = xt.transpose(bench.tensor(values("float32", (33, 18, 21), 3)), order)
        put(bench.tensor(np.zeros(x.shape, "f4"), "padded"), x - xt.mean(x, -1, keepdims=True))
    bench.about("targets along and across")
    along, across, x = (bench.tensor(values("float32", shape, 4)) for shape in ((35, 45), (45, 35), (45, 35)))
    for _ in range(2):
        both_ways(along, across.T, x.T)
    bench.about("a list of transposed tensors")
    rows = [[bench.tensor(values("float32", (n, 20), k)).T for n in (17, 40)] for k in range(2)]
    both_ways.foreach([bench.tensor(values("float32", (20, n), 5)) for n in (17, 40)], *rows)
