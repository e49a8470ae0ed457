"""Operations, kernels and optimisers of one's own; lists of tensors."""

import numpy as np
from strategies import values

import exprten as xt

from . import Bench, group, put


@xt.op
def bent(a, b):
    if a > b:
        return a - 0.5 * b
    if a < -b:
        return a * a
    return xt.exp(a) if b > 1 else b / (a * a + 1)


@xt.op
def counted(a, b):
    return (a // 3 if a > b else a % 5) + b


@xt.kernel
def momentum(w, g, m, *, lr, mu, wd=0.0):
    m[...] = mu * m + g + wd * w
    w -= lr * m


@xt.kernel
def rounded(n, x, y):
    n[...] = xt.cast(10 * x, xt.int32)
    x[...] = xt.cast(n, xt.float32)
    y += x * x - xt.sum(y, 0)


@group("operations of one's own")
def own_operations(bench: Bench) -> None:
    for dtype in ("float32", "float64", "float16"):
        bench.about(f"of {dtype}")
        a, b = (bench.tensor(values(dtype, (5, 61), k), lie) for k, lie in enumerate(("padded", "contiguous")))
        bench.evaluate(bent(a, b))
        bench.evaluate(bent.grad(0)(a, b) + bent.grad(1)(a, b))
        bench.evaluate(xt.sum(bent(a, 0.5), 1))
    for dtype in ("int32", "int64", "uint8"):
        bench.about(f"of {dtype}")
        bench.evaluate(counted(bench.tensor(values(dtype, (300,), 1)), bench.tensor(values(dtype, (300,), 2))))


@group("kernels of several statements")
def several(bench: Bench) -> None:
    rng = np.random.default_rng(0)
    for shape in ((1,), (7, 33), (3, 5, 64), (5000,), (0, 4)):
        for lie in ("contiguous", "padded", "transposed"):
            bench.about(f"{shape}, {lie}")
            w, g, m = (bench.tensor(rng.standard_normal(shape).astype("f4"), lie) for _ in "wgm")
            momentum(w, g, m, lr=0.1, mu=0.9)
            momentum(w, g, m, lr=0.2, mu=np.float32(0.9), wd=1e-3)
    bench.about("what was stored is read")
    rounded(
        bench.tensor(np.zeros((6, 21), "i4")),
        bench.tensor(rng.standard_normal((6, 21)).astype("f4")),
        bench.tensor(np.ones((6, 21), "f4")),
    )


@group("lists of tensors")
def lists(bench: Bench) -> None:
    rng = np.random.default_rng(1)
    shapes = [(3,), (64,), (), (5, 7), (1,), (2, 3, 4), (0,), (1300,)]
    bench.about("foreach")
    rows = [[bench.tensor(rng.standard_normal(shape).astype("f4")) for shape in shapes] for _ in "wgm"]
    momentum.foreach(*rows, lr=0.1, mu=0.9)
    momentum.foreach(*rows, lr=0.1, mu=0.9, wd=0.5)
    bench.about("foreach of every layout and of two types")
    mixed = [
        [
            bench.tensor(rng.standard_normal((4, 9)).astype(dtype), lie)
            for dtype in ("f4", "f8")
            for lie in ("padded", "contiguous", "negative")
        ]
        for _ in "wgm"
    ]
    momentum.foreach(*mixed, lr=0.1, mu=0.9)


@group("optimisers")
def optimisers(bench: Bench) -> None:
    rng = np.random.default_rng(2)

    def some(count: int) -> list[xt.Tensor]:
        return [bench.tensor(np.abs(rng.standard_normal((9, 30)).astype("f4"))) for _ in range(count)]

    bench.about("optimisers")
    for t in (1, 2):
        xt.optim.sgd(*some(2), lr=0.1)
        xt.optim.nesterov(*some(3), lr=0.1)
        xt.optim.adam(*some(4), t=t, lr=0.1)
        xt.optim.adamw(*some(4), t=t, lr=0.1)
        xt.optim.rmsprop(*some(3), lr=0.1)
        xt.optim.lion(*some(3), lr=0.1)
    w = some(1)[0]
    put(w, xt.gelu(w) + xt.sigmoid(w) - xt.softplus(w))
