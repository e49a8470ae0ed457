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


@xt.kernel
def trusted(w, g, *, lr):  # type: ignore[no-untyped-def]  # a kernel's parameters are what it is called with
    w -= lr * (xt.norm(w) / (xt.norm(g) + 1e-6)) * (g - xt.mean(g))


@xt.kernel
def soft(y, x):  # type: ignore[no-untyped-def]
    e = xt.exp(x - xt.max(x, axis=-1, keepdims=True))
    y[...] = e / xt.sum(e, axis=-1, keepdims=True)


@xt.kernel
def centred(w):  # type: ignore[no-untyped-def]
    w -= xt.mean(w, axis=0)


@xt.kernel
def last(y, x):  # type: ignore[no-untyped-def]
    y[...] = xt.argmax(x, axis=-1) + xt.sum(xt.cast(x, xt.int64), axis=-1)


@group("lists of tensors that fold")
def folded_lists(bench: Bench) -> None:
    rng = np.random.default_rng(3)

    def some(shapes: list[tuple[int, ...]], dtype: str = "f4", lie: str = "contiguous") -> list[xt.Tensor]:
        return [bench.tensor(rng.standard_normal(shape).astype(dtype), lie) for shape in shapes]

    shapes = [(3,), (70,), (4097,), (13000,), (5, 7), (2, 3, 4), (0,), (30, 300)]
    bench.about("norms of whole tensors")
    trusted.foreach(some(shapes), some(shapes), lr=0.1)
    trusted.foreach(some(shapes[:5], "f8"), some(shapes[:5], "f8"), lr=0.1)
    trusted.foreach(some(shapes[4:6], lie="padded"), some(shapes[4:6]), lr=0.1)
    bench.about("rows")
    tall = [(6, 40), (200, 5), (3, 4, 7), (7, 600), (3, 5000), (2, 9000), (4, 17)]
    soft.foreach(some(tall), some(tall))
    soft.foreach(some(tall[:3], "f2"), some(tall[:3], "f2"))
    last.foreach([bench.tensor(np.zeros(shape[:-1], "i8")) for shape in tall], some(tall))
    bench.about("columns")
    centred.foreach(some([(6, 40), (600, 5), (3, 7), (1, 20)]))


@xt.kernel
def moved(a, b, c, *, by):  # type: ignore[no-untyped-def]
    a[...] = by * b + c
    c -= a


@xt.kernel
def spread(y, x):  # type: ignore[no-untyped-def]
    y -= (x - xt.mean(x, axis=1, keepdims=True)) / xt.std(x) * xt.max(x, axis=1, keepdims=True)


@group("lists of tensors that wait")
def waiting_lists(bench: Bench) -> None:
    rng = np.random.default_rng(4)

    def some(*shapes: tuple[int, ...]) -> list[xt.Tensor]:
        return [bench.tensor(rng.standard_normal(shape).astype("f4")) for shape in shapes]

    bench.about("stores in order")
    for first, second in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        whole = some((5,), (1100,), (1,), (64,), (3000,))
        rest = some(*((len(x.numpy()) - 1,) for x in whole))
        moved.foreach([x[first] for x in whole], [x[second] for x in whole], rest, by=0.5)
    bench.about("a few long rows")
    shapes = [(2, 8500), (1, 20000), (3, 8200), (0, 9000)]
    soft.foreach(some(*shapes), some(*shapes))
    last.foreach([bench.tensor(np.zeros(shape[:-1], "i8")) for shape in shapes], some(*shapes))
    bench.about("folds of folds, of rows of many lengths")
    shapes = [*shapes, (6, 40), (200, 5), (40, 700), (20, 5000), (1, 1)]
    spread.foreach(some(*shapes), some(*shapes))


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
