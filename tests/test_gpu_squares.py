"""On a GPU, which is emulated: what lies across goes by way of shared memory, with the values that the CPU stores."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated

import exprten as xt

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "")

TYPES = ("bool", "int8", "int16", "float16", "float32", "int64", "float64", "complex64", "complex128")
SHAPES = ((32, 32), (33, 31), (16, 100), (97, 64), (70, 3), (15, 40), (1, 50), (64, 128), (48, 132), (2, 33), (40, 2))


@pytest.fixture(scope="module")
def gpu() -> Iterator[xt.Device]:
    with emulated():
        yield xt.gpu(0)


def drawn(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    if dtype.startswith("complex"):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return (rng.standard_normal(shape) * 9).astype(dtype)


def staged(plan: xt.Plan) -> int:
    """How many squares of shared memory a launch has."""
    assert plan.cuda is not None
    return plan.cuda.count("__shared__")


def on_both(gpu: xt.Device, run: Callable[[xt.Device], np.ndarray]) -> None:
    np.testing.assert_array_equal(run(gpu), run(xt.cpu()))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(50, 45), (64, 144), (32, 16), (3, 70), (80, 8), (9, 16)])
def test_a_transposed_operand_of_every_type(gpu: xt.Device, dtype: str, shape: tuple[int, int]) -> None:
    a = drawn(shape, dtype)

    def run(device: xt.Device) -> np.ndarray:
        y = xt.zeros(shape[::-1], dtype=dtype, device=device)
        y[...] = xt.array(a, device=device).T
        return y.numpy()

    np.testing.assert_array_equal(run(gpu), a.T)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["write", "add", "inplace"])
def test_shapes_and_modes_with_operands_along_and_across(gpu: xt.Device, shape: tuple[int, int], mode: str) -> None:
    a, b, row = drawn(shape, "float32"), drawn(shape[::-1], "float32"), drawn(shape[:1], "float32")

    def run(device: xt.Device) -> np.ndarray:
        y, x, along, r = (xt.array(v, device=device) for v in (b * 2, a, b, row))
        xt.assign(y, mode, (x.T - along) * r + xt.exp(-x.T * x.T))
        return y.numpy()

    on_both(gpu, run)


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("shape", [(33, 18, 21), (48, 6, 50), (3, 64, 52)])
def test_three_axes_and_pitched_targets(
    gpu: xt.Device, order: tuple[int, ...], pad: bool, shape: tuple[int, ...]
) -> None:
    a = drawn(shape, "float64")

    def run(device: xt.Device) -> np.ndarray:
        x = xt.transpose(xt.array(a, device=device), order)
        y = xt.zeros(x.shape, dtype="float64", device=device, pad=pad)
        y[...] = x * 2 + 1
        return y.numpy()

    np.testing.assert_array_equal(run(gpu), a.transpose(order) * 2 + 1)


@pytest.mark.parametrize("first", [3, 4])
def test_views_at_an_offset_and_reversed_rows(gpu: xt.Device, first: int) -> None:
    a = drawn((60, 72), "float32")

    def run(device: xt.Device) -> np.ndarray:
        x, y = xt.array(a, device=device), xt.zeros((70, 80), device=device)
        y[first : first + 60, first + 4 : first + 56] = x[8:60, first : first + 60].T + 1
        y[::2, 60:80] += x[10:30, 70:0:-2].T
        return y.numpy()

    on_both(gpu, run)


def test_a_transpose_as_an_expression(gpu: xt.Device) -> None:
    a = drawn((40, 50), "float32")

    def run(device: xt.Device) -> np.ndarray:
        x = xt.array(a, device=device)
        return xt.evaluate(xt.transpose(x * 2) + xt.flip(xt.transpose(x), 0)).numpy()

    on_both(gpu, run)


@pytest.mark.parametrize("shape", [(40, 70), (64, 96), (48, 51)])
def test_what_is_made_of_columns_is_stored_across(gpu: xt.Device, shape: tuple[int, int]) -> None:
    a = drawn(shape, "float32")

    def normalised(x: xt.Tensor) -> Any:
        return (x - xt.mean(x, 1, keepdims=True)) / xt.std(x, 1, keepdims=True)

    def run(device: xt.Device) -> np.ndarray:
        x, y = xt.array(a, device=device), xt.zeros(shape[::-1], device=device)
        y[...] = normalised(x.T)
        return y.numpy()

    on_both(gpu, run)
    plan = xt.plan(xt.zeros(shape[::-1], device=gpu), normalised(xt.array(a, device=gpu).T))
    assert "through shared memory" in plan.nest
    assert staged(plan) == 1


@pytest.mark.parametrize("shape", [(35, 45), (64, 96)])
def test_a_kernel_with_targets_along_and_across(gpu: xt.Device, shape: tuple[int, int]) -> None:
    @xt.kernel
    def both(along: Any, across: Any, x: Any) -> None:
        along[...] = along * 0.5 + x
        across[...] = across - along

    a, b = drawn(shape, "float32"), drawn(shape[::-1], "float32")

    def run(device: xt.Device) -> np.ndarray:
        along, across, x = xt.array(a, device=device), xt.array(b, device=device), xt.array(b + 1, device=device)
        both(along, across.T, x.T)
        both(along, across.T, x.T)
        return np.concatenate((along.numpy(), across.numpy().T))

    on_both(gpu, run)


def test_the_same_statement_for_long_and_short_sides(gpu: xt.Device) -> None:
    x = xt.array(drawn((100, 90), "float32"), device=gpu)
    y = xt.zeros((90, 100), device=gpu)
    for n, m in ((40, 90), (5, 90), (100, 6), (100, 90), (64, 15), (64, 16)):
        y[...] = 0
        y[:m, :n] = x[:n, :m].T * 3
        np.testing.assert_array_equal(y[:m, :n].numpy(), x[:n, :m].numpy().T * np.float32(3))
        assert not y[m:].numpy().any()
        assert not y[:m, n:].numpy().any()
        assert staged(xt.plan(y[:m, :n], x[:n, :m].T * 3)) == (min(n, m) >= 16)


def test_what_shared_memory_has_no_room_for_is_read_as_it_lies(gpu: xt.Device) -> None:
    many = [xt.array(drawn((40, 40), "float64") + k, device=gpu) for k in range(6)]
    y = xt.zeros((40, 40), dtype="float64", device=gpu)
    plan = xt.plan(y, xt.maximum(many[0].T, sum((v.T for v in many[1:]), 0)))
    assert staged(plan) == 4
    plan.run()
    expected = np.maximum(many[0].numpy().T, sum((v.numpy().T for v in many[1:]), np.zeros((40, 40))))
    np.testing.assert_array_equal(y.numpy(), expected)


def test_lists_of_transposed_tensors(gpu: xt.Device) -> None:
    @xt.kernel
    def step(w: Any, g: Any) -> None:
        w[...] = w - 0.5 * g

    def run(device: xt.Device) -> np.ndarray:
        ws = [xt.array(drawn((20, n), "float32"), device=device) for n in (17, 40)]
        step.foreach(ws, [xt.array(drawn((n, 20), "float32"), device=device).T for n in (17, 40)])
        return np.concatenate([w.numpy() for w in ws], 1)

    on_both(gpu, run)
    here = [xt.zeros((20, n), device=gpu) for n in (17, 40)]
    assert "shared" not in step.foreach.plan(here, [xt.zeros((n, 20), device=gpu).T for n in (17, 40)]).nest
