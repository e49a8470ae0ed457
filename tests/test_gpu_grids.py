"""What is launched for statements on a GPU, which is emulated: as text, as numbers, and how often operations are evaluated."""

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated
from exprten_jit.backends import nvrtc_library
from exprten_jit.backends.nvrtc_library import MissingError

import exprten as xt

Golden = Callable[[str, str], None]


@pytest.fixture
def gpu() -> Iterator[xt.Device]:
    with emulated(arch="sm_90"):
        yield xt.gpu(0)


def empty(gpu: xt.Device, *shape: int) -> xt.Tensor:
    return xt.empty(shape, device=gpu)


def softmax(x: xt.Tensor) -> Any:
    e = xt.exp(x - xt.max(x, axis=1, keepdims=True))
    return e / xt.sum(e, axis=1, keepdims=True)


def update(w: xt.Tensor, g: xt.Tensor) -> xt.Plan:
    return xt.plan(w, 0.1 * (g + 0.01 * w), "sub")


# statement -> (phases, threads of the largest launch, scratch bytes)
LAUNCHED: dict[str, tuple[Callable[[xt.Device], xt.Plan], int, int, int]] = {
    "update": (lambda d: update(empty(d, 64, 70), empty(d, 64, 70)), 1, 5 * 256, 0),
    "many elements": (lambda d: update(empty(d, 1 << 20), empty(d, 1 << 20)), 1, (1 << 20) // 4, 0),
    "rows": (lambda d: xt.plan(empty(d, 5), xt.sum(empty(d, 5, 100), axis=1)), 1, 256, 0),
    "softmax": (lambda d: xt.plan(empty(d, 5, 100), softmax(empty(d, 5, 100))), 1, 256, 0),
    "long sum": (lambda d: xt.plan(empty(d), xt.sum(empty(d, 40960))), 2, 512, 256),
    "columns": (lambda d: xt.plan(empty(d, 40, 7), empty(d, 40, 7) - xt.max(empty(d, 40, 7), axis=0)), 2, 256, 256),
    "across": (lambda d: xt.plan(empty(d, 40, 70), empty(d, 70, 40).T * 2 + empty(d, 70)), 1, 6 * 256, 0),
    "in order": (lambda d: _shifted(empty(d, 100)), 1, 1024, 0),
}


def _shifted(x: xt.Tensor) -> xt.Plan:
    return xt.plan(x[1:], x[:-1] * 2)


@pytest.mark.parametrize("name", LAUNCHED)
def test_plan_says_what_is_launched(gpu: xt.Device, name: str) -> None:
    make, phases, threads, scratch = LAUNCHED[name]
    plan = make(gpu)
    assert (plan.phases, plan.launches, plan.threads, plan.scratch_bytes) == (phases, phases, threads, scratch)
    assert plan.cuda.count("__global__") == phases
    assert sum(line.startswith("launch kernel") for line in plan.explain().splitlines()) == phases


@pytest.mark.parametrize("name", ["softmax", "long sum", "columns", "in order", "across"])
def test_launches_as_text(gpu: xt.Device, golden: Golden, name: str) -> None:
    golden(f"gpu_{name.replace(' ', '_')}.nest", LAUNCHED[name][0](gpu).nest + "\n")


def test_a_few_very_long_rows_are_stored_by_as_many_threads_as_they_have_elements(gpu: xt.Device) -> None:
    w = empty(gpu, 2, 1 << 20)
    plan = xt.plan(w, w - xt.mean(w, axis=1, keepdims=True))
    assert plan.launches == 3
    assert "kernel2: for i0 < n0, i1 < n1: a thread each" in plan.nest
    assert xt.plan(empty(gpu, 2), xt.sum(w, axis=1)).launches == 2


def test_plan_of_nothing_launches_nothing(gpu: xt.Device) -> None:
    t = empty(gpu, 0, 4)
    for plan in (xt.plan(t, t + 1), xt.plan(empty(gpu, 3), 1.0, "null")):
        assert (plan.phases, plan.launches, plan.threads, plan.nest, plan.llvm) == (0, 0, 1, "", "")
        assert plan.explain().endswith("nothing to do")


def test_bytes_are_those_of_the_cpu_and_operations_those_of_the_threads(gpu: xt.Device) -> None:
    cases: tuple[tuple[Callable[[xt.Tensor], Any], int], ...] = (
        (lambda x: x + x * 2.0, 90),
        (lambda x: x - xt.sum(x, axis=1, keepdims=True), 45 + 45),
    )
    for make, operations in cases:
        plan = xt.plan(empty(gpu, 5, 9), make(empty(gpu, 5, 9)))
        assert (plan.bytes_read, plan.bytes_written, plan.flops) == (180, 180, operations)


def test_explain_does_without_nvrtc(gpu: xt.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise MissingError("nvrtc: it is not installed")

    monkeypatch.setattr(nvrtc_library, "library", missing)
    monkeypatch.setattr("exprten_jit.backends.nvrtc.library", missing)
    monkeypatch.setattr("exprten_jit.backends.nvrtc.version", missing)
    plan = xt.plan(empty(gpu, 7), empty(gpu, 7) * 3.5 + 17)
    said = plan.explain()
    assert "\nlaunch kernel: 2 points of 1 thread, 1 block of 256, vector 4, index 32 bits\n" in said
    assert "\nregisters, spills and shared memory are not known: gpu: nvrtc: it is not installed" in said
    with pytest.raises(xt.CompileError, match="it is not installed"):
        _ = plan.ptx


# statement of (x (40, 30), a column (40, 1)) -> what a GPU evaluates beside what is needed: the additions of both
EVALUATED: dict[str, tuple[Callable[[xt.Tensor, xt.Tensor], Any], float]] = {
    "once": (lambda x, c: x * x + 1.0, 1.0),
    "column in every group of four": (lambda x, c: x + (c + c), 40 * (30 + 8) / (40 * 30 + 40)),
    "row sums": (lambda x, c: x - xt.sum(x, axis=1, keepdims=True), 1.0),
    "fold and element": (lambda x, c: (e := x + x) - xt.max(e, axis=1, keepdims=True), 1.5),
}


@pytest.mark.parametrize("name", EVALUATED)
def test_recompute_is_counted_by_threads(gpu: xt.Device, name: str) -> None:
    make, expected = EVALUATED[name]
    assert xt.plan(empty(gpu, 40, 30), make(empty(gpu, 40, 30), empty(gpu, 40, 1))).recompute == pytest.approx(expected)


def test_a_softmax_computes_an_exponential_once_where_rows_are_held(gpu: xt.Device) -> None:
    short, long = (xt.plan(empty(gpu, 5, n), softmax(empty(gpu, 5, n))).recompute for n in (1000, 9000))
    assert short < 1.1 and 1.5 < long <= 2


def test_only_what_is_read_at_many_places_is_refused(gpu: xt.Device) -> None:
    out, row, column = empty(gpu, 100, 99), empty(gpu, 1, 99), empty(gpu, 100, 1)
    with xt.options(max_recompute=2):
        assert xt.plan(out, xt.exp(row) * xt.exp(column)).recompute > 10
        powers = xt.exp(empty(gpu, 1008))
        shifted = functools.reduce(operator.add, (xt.slice(powers, k, k + 1000) for k in range(9)))
        with pytest.raises(xt.CompileError, match="7 times the operations needed, most of them in exp"):
            xt.plan(empty(gpu, 1000), shifted)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_plan_runs(gpu: xt.Device) -> None:
    w, g = xt.ones(70, device=gpu), xt.ones(70, device=gpu)
    plan = update(w, g)
    assert (w.numpy() == 1).all()
    assert plan.run() is w
    np.testing.assert_allclose(w.numpy(), 1 - 0.1 * 1.01, rtol=1e-6)


def test_plan_of_a_kernel(gpu: xt.Device) -> None:
    @xt.kernel
    def momentum(w: Any, g: Any, m: Any, *, lr: float) -> None:
        m[...] = 0.9 * m + g
        w -= lr * m

    plan = momentum.plan(*(empty(gpu, 3, 50) for _ in "wgm"), lr=0.1)
    assert plan.launches == 1 and plan.cuda.count("__global__") == 1
    assert "kernel: for i0 < n0: a thread each" in plan.explain()
    assert plan.bytes_written == 2 * 600
