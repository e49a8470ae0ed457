"""Statements on a GPU, which is emulated: the CUDA text runs on the CPU, through the same launches."""

from collections.abc import Iterator

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated

import exprten as xt

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "")


@pytest.fixture(scope="module")
def gpu() -> Iterator[xt.Device]:
    with emulated():
        yield xt.gpu(0)


def test_an_update_is_one_launch_with_the_bits_of_the_cpu(gpu: xt.Device) -> None:
    rng = np.random.default_rng(0)
    w, g = (rng.standard_normal((33, 70)).astype(np.float32) for _ in range(2))
    results = []
    for device in (xt.cpu(), gpu):
        weight, grad = xt.array(w, device=device), xt.array(g, device=device)
        for eta in (0.1, 0.2):
            weight -= eta * (grad + 0.01 * weight)
        results.append(weight.numpy())
    np.testing.assert_array_equal(*results)


def test_an_optimiser_and_a_common_norm_of_gradients_wherever_they_lie(gpu: xt.Device) -> None:
    rng = np.random.default_rng(4)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (50,), ())]
    results = []
    for devices in ([xt.cpu()] * 3, [gpu] * 3, [gpu, xt.gpu(1), xt.cpu()]):
        w, g, m, v = ([xt.array(a, device=d) for a, d in zip(arrays, devices, strict=True)] for _ in "wgmv")
        norm = xt.optim.clip_norm(g, 2.0)
        for one in zip(w, g, m, v, strict=True):
            xt.optim.adam(*one, t=3, lr=0.1)
        results.append((norm, [t.numpy() for t in (*g, *w)]))
    (norm, here), (same, there), (near, apart) = results
    assert norm == same == pytest.approx(near, rel=1e-15)  # of several devices the sums are added last
    for want, got, other in zip(here, there, apart, strict=True):
        np.testing.assert_array_equal(got, want)
        np.testing.assert_allclose(other, want, rtol=2e-7)


@pytest.mark.parametrize("shape", [(3, 4), (5, 5000), (4100, 3), (0, 4)])
def test_folds_have_the_bits_of_the_cpu(gpu: xt.Device, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for axis in (None, 0, 1):
        here, there = (xt.evaluate(xt.sum(xt.array(x, device=device), axis=axis)).numpy() for device in (xt.cpu(), gpu))
        np.testing.assert_array_equal(here, there)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_by_tables_have_the_bits_of_the_cpu(gpu: xt.Device, dtype: type[np.floating]) -> None:
    x = (np.random.default_rng(3).standard_normal(500) * np.logspace(-3, 3, 500)).astype(dtype)
    here, there = (xt.array(x, device=device) for device in (xt.cpu(), gpu))
    for function in (xt.tan, xt.arctan, lambda a: xt.log2(xt.absolute(a)), lambda a: xt.power(xt.absolute(a), a / 99)):
        np.testing.assert_array_equal(*(xt.evaluate(function(a)).numpy() for a in (here, there)))
    np.testing.assert_array_equal(*(xt.evaluate(xt.arctan2(a, xt.flip(a, 0))).numpy() for a in (here, there)))


def test_a_statement_waits_for_the_streams_of_its_operands(gpu: xt.Device) -> None:
    with xt.Stream(gpu):
        a = xt.ones(1000, device=gpu)
    b = xt.ones(1000, device=gpu)
    b += a
    a += b
    np.testing.assert_array_equal(a.numpy(), np.full(1000, 3, np.float32))


@pytest.mark.parametrize("across", [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)])
def test_folds_have_the_bits_of_the_cpu_where_operands_lie_across_each_other(
    gpu: xt.Device, across: tuple[int, int, int]
) -> None:
    data = np.random.default_rng(2).standard_normal((70, 45)).astype(np.float32)

    def one(device: xt.Device, axis: int) -> np.ndarray:
        x, b, out = (xt.array(data.T if turned else data, device=device) for turned in across)
        x, b, t = (v.T if turned else v for v, turned in zip((x, b, out), across, strict=True))
        with xt.options(max_recompute=100):  # on a CPU, a fold along what is skipped is computed for every element
            t[...] = (x - xt.mean(x, axis=axis, keepdims=True)) * b / xt.sum(x * b, axis=1 - axis, keepdims=True)
        return out.numpy()

    for axis in (0, 1):
        np.testing.assert_array_equal(one(gpu, axis), one(xt.cpu(), axis))


@pytest.mark.parametrize("shape", [(70, 45), (300, 2), (2, 40), (9, 4, 16)])
def test_the_order_of_a_sum_that_lies_across_its_target_is_that_of_the_cpu(
    gpu: xt.Device, shape: tuple[int, ...]
) -> None:
    data = np.random.default_rng(3).standard_normal(shape).astype(np.float32)

    def turned(x: xt.Tensor) -> xt.Tensor:
        return xt.transpose(x, (len(shape) - 1, *range(len(shape) - 1)))

    def results(device: xt.Device, axis: int) -> list[np.ndarray]:
        x = turned(xt.array(data, device=device))
        e = xt.exp(x - xt.max(x, axis, keepdims=True))
        e = e / xt.sum(e, axis, keepdims=True)
        other = xt.zeros(shape, device=device)
        turned(other)[...] = e
        return [xt.evaluate(e).numpy(), other.numpy()]

    for axis in range(len(shape)):
        for here, there in zip(results(xt.cpu(), axis), results(gpu, axis), strict=True):
            np.testing.assert_array_equal(here, there)
