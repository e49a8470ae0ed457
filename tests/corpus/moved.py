"""Elements that are read at other places than they are stored."""

import itertools

import numpy as np
from strategies import values
from test_extensions import CASES, MODES

import exprten as xt

from . import Bench, group, put


@group("index maps")
def index_maps(bench: Bench) -> None:
    """Each of a tensor and of an expression, in some mode, into some layout."""
    ways = itertools.cycle(itertools.product(MODES, ("padded", "contiguous", "transposed", "negative2")))
    for k, (name, shape, ours, _) in enumerate(CASES):
        for dtype in ("float32", "uint8")[: 1 + k % 2]:
            mode, layout = next(ways)
            if (dtype, mode) == ("uint8", "div"):
                mode = "add"
            bench.about(f"{name} of {dtype}, {mode} into {layout}")
            e = ours(bench.tensor(values(dtype, shape, 7)) * 2)
            xt.assign(bench.tensor(values(dtype, e.shape, 8), layout), mode, e)
        bench.about(f"{name} of a transposed tensor")
        e = ours(bench.tensor(values("float64", shape, 7), "transposed"))
        put(bench.tensor(values("float64", e.shape, 8), "padded"), e)


@group("joined targets")
def joined_targets(bench: Bench) -> None:
    for axis, lie in ((0, "contiguous"), (1, "padded"), (-1, "transposed")):
        bench.about(f"joined along {axis}, {lie}")
        shapes = [[3, 5], [3, 5], [3, 5]]
        for k, extent in enumerate((2, 4, 1)):
            shapes[k][axis] = extent
        parts = [bench.tensor(values("float32", shape, k), lie) for k, shape in enumerate(shapes)]
        target = xt.concat(*parts, axis=axis)
        x = bench.tensor(values("float32", target.shape, 9))
        target[...] = x * 2
        target += x[:1]


@group("ranges")
def ranges(bench: Bench) -> None:
    x, columns = bench.tensor(values("float32", (7, 33), 1)), xt.range(33, device=bench.device)
    bench.about("a range")
    bench.evaluate(columns + x)
    bench.evaluate(xt.where(columns % 3 == 0, x, 0.0))
    put(bench.tensor(np.zeros((33,), "int32")), columns * 2)
    put(bench.tensor(np.zeros((33,), "float32")), xt.range(33.0, 0.0, -1.0, device=bench.device))
