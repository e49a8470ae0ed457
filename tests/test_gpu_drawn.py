"""Statements drawn at random on a GPU, which is emulated, have the bits of the CPU: folds of all lengths, and maps of all orders of axes."""

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated

import exprten as xt

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "")

# Around the lengths at which other threads, or more of them, hold a row.
LENGTHS = (
    2,
    3,
    5,
    8,
    11,
    16,
    17,
    33,
    64,
    100,
    129,
    500,
    513,
    700,
    1000,
    1024,
    1025,
    2048,
    3000,
    4097,
    5000,
    6200,
    8192,
    8193,
    13000,
    20000,
)
SIDES = (1, 2, 3, 4, 5, 7, 8, 13, 15, 16, 17, 31, 32, 33, 48, 50, 64, 65, 96, 100, 128)
ODD = (math.nan, 0.0, -0.0, math.inf, -math.inf)


def softmax(x: Any, axis: int) -> Any:
    e = xt.exp(x - xt.max(x, axis, keepdims=True))
    return e / xt.sum(e, axis, keepdims=True)


def normalised(x: Any, axis: int) -> Any:
    return (x - xt.mean(x, axis, keepdims=True)) / (xt.std(x, axis, keepdims=True) + 1e-5)


FOLDS: dict[str, Callable[..., Any]] = {
    name: getattr(xt, name) for name in ("sum", "prod", "max", "min", "argmax", "argmin", "var", "norm", "any", "all")
}
STORED: dict[str, Callable[..., Any]] = {"softmax": softmax, "normalised": normalised}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "as it lies": lambda x: x,
    "turned": xt.transpose,
    "backwards": lambda x: x[::-1],
    "from the second on": lambda x: x[..., 1:],
    "every other": lambda x: x[..., ::2],
}


@pytest.fixture(scope="module")
def gpu() -> Iterator[xt.Device]:
    with emulated(devices=1):
        yield xt.gpu(0)


def same_bits(a: np.ndarray, b: np.ndarray) -> None:
    """But those of NaNs."""
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    one, other = (np.atleast_1d(np.where(np.isnan(x), x.dtype.type(0), x)).view(np.uint8) for x in (a, b))
    np.testing.assert_array_equal(one, other)


def filled(draw: random.Random, shape: list[int], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(draw.randrange(1 << 30))
    a = rng.standard_normal(shape) * 9
    if dtype == "complex64":
        a = a + 1j * rng.standard_normal(shape)
    return (a > 0 if dtype == "bool" else a).astype(dtype)


@pytest.mark.parametrize("seed", range(40))
def test_folds(gpu: xt.Device, seed: int) -> None:
    draw = random.Random(seed)
    length = draw.choice(LENGTHS)
    shape, room = [length], max(1, 40000 // length)
    for _ in range(draw.choice((0, 1, 1, 1, 2))):
        shape.append(draw.randint(1, min(room, draw.choice((3, 9, 40, 3000)))))
        room = max(1, room // shape[-1])
    draw.shuffle(shape)
    axis = draw.choice((None, shape.index(length), draw.randrange(len(shape))))
    dtype = draw.choice(("float32", "float32", "float32", "float64", "float16", "int32", "int8"))
    known = FOLDS if dtype.startswith("int") or axis is None else {**FOLDS, **STORED, **STORED}
    name, view = draw.choice([*known]), draw.choice([*VIEWS])
    a = filled(draw, shape, dtype)
    if not dtype.startswith("int") and draw.random() < 0.3:
        a.flat[draw.randrange(a.size)] = draw.choice(ODD)
    if view in ("from the second on", "every other") and a.shape[-1] < 3:
        view = "as it lies"
    found = [xt.evaluate(known[name](VIEWS[view](xt.array(a, device=d)), axis)).numpy() for d in (gpu, xt.cpu())]
    same_bits(*found)


MAPS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "copied": lambda x, y, row: x,
    "with a number": lambda x, y, row: x | True if x.dtype == "bool" else x * 3,
    "with another": lambda x, y, row: x & y if x.dtype == "bool" else x * y + x,
    "with a row": lambda x, y, row: x | row if x.dtype == "bool" else x + row,
}


@pytest.mark.parametrize("seed", range(60))
def test_maps(gpu: xt.Device, seed: int) -> None:
    draw = random.Random(1000 + seed)
    shape = [draw.choice(SIDES) for _ in range(draw.choice((1, 2, 2, 3, 3, 4)))]
    while math.prod(shape) > 40000:
        shape[draw.randrange(len(shape))] = draw.choice((1, 2, 3))
    order, backwards, name = draw.sample(range(len(shape)), len(shape)), draw.random() < 0.15, draw.choice([*MAPS])
    dtype = draw.choice(("float32", "float32", "float64", "float16", "int32", "int8", "complex64", "bool", "int64"))
    a, b = filled(draw, shape, dtype), filled(draw, [shape[k] for k in order], dtype)
    margins = [(draw.choice((0, 0, 1, 4)), draw.choice((0, 0, 1, 4))) for _ in b.shape]
    inside = tuple(slice(before, before + n) for (before, _), n in zip(margins, b.shape, strict=True))
    one = draw.randrange(b.ndim)
    row = np.ascontiguousarray(b[tuple(slice(0, 1) if k == one else slice(None) for k in range(b.ndim))])
    found = []
    for device in (gpu, xt.cpu()):
        x, y, r = (xt.array(v, device=device) for v in (a, b, row))
        whole = xt.zeros([n + sum(m) for n, m in zip(b.shape, margins, strict=True)], dtype=dtype, device=device)
        turned = xt.transpose(x, order)
        whole[inside] = MAPS[name](turned[::-1] if backwards else turned, y, r)
        found.append(whole.numpy())
    same_bits(*found)


@pytest.mark.parametrize("length", [3073, 4096, 4097, 8192])
def test_rows_whose_folds_need_shared_memory_of_several_kinds(gpu: xt.Device, length: int) -> None:
    a = np.random.default_rng(0).standard_normal((3, length)).astype("float32")

    def run(device: xt.Device) -> list[np.ndarray]:
        x = xt.array(a, device=device)
        wide = xt.cast(x - xt.mean(x, 1, keepdims=True), "float64")
        beside = softmax(x, 1) - xt.mean(x, 1, keepdims=True)
        return [xt.evaluate(e).numpy() for e in (beside, x - xt.sum(wide, 1, keepdims=True))]

    for one, other in zip(run(gpu), run(xt.cpu()), strict=True):
        same_bits(one, other)
