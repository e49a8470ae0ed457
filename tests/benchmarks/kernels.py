"""Kernels of several statements against the same statements apart, Numba and PyTorch: `python tests/benchmarks/kernels.py`.

The figures are ratios, contender's time / the kernel's time, so above 1 the kernel is faster; behind each stand the quartiles of the
ratios within single rounds. All run in one process, on the same memory, in turns, on one thread unless --threads says otherwise.

    call       momentum of 16 elements: what a call costs
    momentum   m = mu * m - lr * (g + wd * w); w += m: one pass
    adam       three statements, one pass
    small      SGD of 200 tensors of 64 elements, one call of `foreach`
    resnet50   SGD of the 161 tensors of a ResNet-50, 25.6 million elements, one call of `foreach`

    statements is exprten's statements one by one; numba a function compiled for the same loop, called once for each tensor, on the
    same memory; torch is PyTorch's fused optimiser, with its own parameters. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import timeit
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from measure import Result, interleave

import exprten as xt

SIZES = (16, 1_000, 100_000, 1_000_000, 16_000_000)
NAMES = ("call", "momentum", "adam", "small", "resnet50")
LR, MU, WD, B1, B2, EPS = 1e-9, 0.9, 1e-4, 0.9, 0.999, 1e-8
THREADS = ("EXPRTEN_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")  # read when they are first needed
Timers = Mapping[str, timeit.Timer]


@xt.kernel
def momentum(w, g, m, *, lr, mu, wd):
    m[...] = mu * m - lr * (g + wd * w)
    w += m


@xt.kernel
def sgd(w, g, *, lr, wd):
    w -= lr * (g + wd * w)


@xt.kernel
def adam(w, g, m, v, *, t, lr):
    m[...] = B1 * m + (1 - B1) * g
    v[...] = B2 * v + (1 - B2) * (g * g)
    w -= lr / (1 - B1**t) * (m / (xt.sqrt(v) / (1 - B2**t) ** 0.5 + EPS))


def adam_apart(w, g, m, v, t, lr):
    m[...] = B1 * m + (1 - B1) * g
    v[...] = B2 * v + (1 - B2) * (g * g)
    w -= lr / (1 - B1**t) * (m / (xt.sqrt(v) / (1 - B2**t) ** 0.5 + EPS))


def momentum_apart(w, g, m):
    m[...] = MU * m - LR * (g + WD * w)
    w += m


def sgd_apart(ws, gs):
    for weight, g in zip(ws, gs, strict=True):
        w = weight
        w -= LR * (g + WD * w)


def loops() -> dict[str, Callable[..., None]]:
    """The same loops for Numba, by name; none where it is not installed."""
    if importlib.util.find_spec("numba") is None:
        return {}
    import numba

    f = np.float32

    @numba.njit
    def momentum(w, g, m, lr, mu, wd):
        for i in range(w.size):
            m[i] = mu * m[i] - lr * (g[i] + wd * w[i])
            w[i] += m[i]

    @numba.njit
    def sgd(w, g, lr, wd):
        for i in range(w.size):
            w[i] -= lr * (g[i] + wd * w[i])

    @numba.njit
    def adam(w, g, m, v, lr, b2):
        for i in range(w.size):
            m[i] = f(B1) * m[i] + f(1 - B1) * g[i]
            v[i] = f(B2) * v[i] + f(1 - B2) * (g[i] * g[i])
            w[i] -= lr * (m[i] / (np.sqrt(v[i]) / b2 + f(EPS)))

    def all_of(ws, gs):
        for w, g in zip(ws, gs, strict=True):
            sgd(w, g, f(LR), f(WD))

    return {"momentum": momentum, "adam": adam, "sgd": all_of}


def torch_step(kind: str, arrays: Sequence[np.ndarray], threads: int) -> Callable[[], Any] | None:
    """A step of PyTorch's fused optimiser for parameters of these shapes; None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    torch.set_num_threads(threads)
    parameters = [torch.nn.Parameter(torch.from_numpy(a.copy())) for a in arrays]
    for p in parameters:
        p.grad = torch.ones_like(p)
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=LR, fused=True).step
    return torch.optim.SGD(parameters, lr=LR, momentum=MU * (kind == "momentum"), weight_decay=WD, fused=True).step


def timers(calls: Mapping[str, tuple[str, dict[str, Any]] | None]) -> Timers:
    """Each call as text with its names, which are locals."""
    made = {}
    for name, call in calls.items():
        if call is not None:
            setup = "; ".join(f"{n} = names[{n!r}]" for n in call[1]) or "pass"
            made[name] = timeit.Timer(call[0], setup, globals={"names": call[1]})
    return made


def tensors(shapes: Sequence[tuple[int, ...]]) -> list[xt.Tensor]:
    rng = np.random.default_rng(0)
    return [xt.array(rng.uniform(-1, 1, s).astype(np.float32)) for s in shapes]


def of_momentum(n: int, threads: int, scalar: Callable[[float], Any] = np.float32) -> Timers:
    """`scalar` is what Numba gets: a float32 keeps its loop in that type, a Python float is told apart faster."""
    w, g, m = tensors([(n,)] * 3)
    names = {"w": w, "g": g, "m": m, "lr": LR, "mu": MU, "wd": WD}
    arrays = {"w": w.numpy(), "g": g.numpy(), "m": m.numpy()}
    single = {k: scalar(x) for k, x in (("lr", LR), ("mu", MU), ("wd", WD))}
    jit, step = loops().get("momentum"), torch_step("momentum", [w.numpy()], threads)
    return timers({
        "exprten": ("f(w, g, m, lr=lr, mu=mu, wd=wd)", {"f": momentum, **names}),
        "statements": ("f(w, g, m)", {"f": momentum_apart, "w": w, "g": g, "m": m}),
        "numba": jit and ("f(w, g, m, lr, mu, wd)", {"f": jit, **arrays, **single}),
        "torch": step and ("f()", {"f": step}),
    })  # fmt: skip


def of_adam(n: int, threads: int) -> Timers:
    w, g, m, v = tensors([(n,)] * 4)
    v[...] = abs(v)
    arrays = {"w": w.numpy(), "g": g.numpy(), "m": m.numpy(), "v": v.numpy()}
    jit, step = loops().get("adam"), torch_step("adam", [w.numpy()], threads)
    return timers({
        "exprten": ("f(w, g, m, v, t=10, lr=lr)", {"f": adam, "w": w, "g": g, "m": m, "v": v, "lr": LR}),
        "statements": ("f(w, g, m, v, 10, lr)", {"f": adam_apart, "w": w, "g": g, "m": m, "v": v, "lr": LR}),
        "numba": jit and ("f(w, g, m, v, lr, b2)", {"f": jit, **arrays, "lr": np.float32(LR), "b2": np.float32(0.1)}),
        "torch": step and ("f()", {"f": step}),
    })  # fmt: skip


def of_lists(shapes: Sequence[tuple[int, ...]], threads: int) -> Timers:
    ws, gs = tensors(shapes), tensors(shapes)
    jit, step = loops().get("sgd"), torch_step("sgd", [w.numpy() for w in ws], threads)
    flat = {"ws": [w.numpy().ravel() for w in ws], "gs": [g.numpy().ravel() for g in gs]}
    return timers({
        "exprten": ("f(ws, gs, lr=lr, wd=wd)", {"f": sgd.foreach, "ws": ws, "gs": gs, "lr": LR, "wd": WD}),
        "statements": ("f(ws, gs)", {"f": sgd_apart, "ws": ws, "gs": gs}),
        "numba": jit and ("f(ws, gs)", {"f": jit, **flat}),
        "torch": step and ("f()", {"f": step}),
    })  # fmt: skip


def resnet50() -> list[tuple[int, ...]]:
    """The shapes of the parameters of a ResNet-50."""
    shapes: list[tuple[int, ...]] = [(64, 3, 7, 7), (64,), (64,)]
    width = 64
    for planes, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            convolutions = [(planes, width, 1, 1), (planes, planes, 3, 3), (4 * planes, planes, 1, 1)]
            if block == 0:
                convolutions.append((4 * planes, width, 1, 1))
            width = 4 * planes
            shapes += [s for c in convolutions for s in (c, (c[0],), (c[0],))]
    return [*shapes, (1000, 2048), (1000,)]


def rows(
    names: Sequence[str], sizes: Sequence[int], threads: int
) -> list[tuple[str, tuple[int, ...], Callable[[], Timers]]]:
    table: list[tuple[str, tuple[int, ...], Callable[[], Timers]]] = [
        ("call", (16,), lambda: of_momentum(16, threads, float))
    ]
    table += [("momentum", (n,), lambda n=n: of_momentum(n, threads)) for n in sizes]
    table += [("adam", (n,), lambda n=n: of_adam(n, threads)) for n in sizes]
    table.append(("small", (200, 64), lambda: of_lists([(64,)] * 200, threads)))
    table.append(("resnet50", (161,), lambda: of_lists(resnet50(), threads)))
    return [row for row in table if row[0] in names]


def line(result: Result, peers: Sequence[str]) -> str:
    ours = statistics.median(result.times["exprten"])
    cells = []
    for name in peers:
        ratio, low, high = result.ratio(name) if name in result.times else (0.0, 0.0, 0.0)
        cells.append(f"{ratio:.3g} ({low:.3g}..{high:.3g})" if ratio else "-")
    shape = " x ".join(f"{n:,}" for n in result.shape)
    return f"{result.row:<10}{shape:>12}{ours * 1e6:>12.3g} us" + "".join(f"{cell:>24}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--sizes", nargs="+", type=lambda text: int(float(text)), default=SIZES, metavar="N")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each contender, at least 2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="small and short: shows that it runs")
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, str(given.threads)))
    rounds, seconds, sizes = (2, 1e-4, (16,)) if given.quick else (given.rounds, 10e-3, tuple(given.sizes))
    peers = ("statements", "numba", "torch")
    print(f"time / the kernel's time (quartiles), {rounds} rounds, threads {given.threads}")
    print(f"{'row':<10}{'shape':>12}{'exprten':>15}" + "".join(f"{name:>24}" for name in peers))
    for name, shape, make in rows(given.rows, sizes, given.threads):
        print(line(Result(name, shape, interleave(make(), rounds, seconds)), peers), flush=True)


if __name__ == "__main__":
    main()
