"""Rows of few elements that are strung together with the axis along which they are stored, and read from the last to the first, or with gaps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from exprten_jit.backends.llvm_strung import parts_of
from exprten_jit.strung import Places

import exprten as xt

DTYPES = ("float32", "float64", "int16", "uint8", "float16")
BACK = slice(None, None, -1)


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 7, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 7, 8, 11, 12, 15])
def test_rows_from_the_last_to_the_first(columns: int, dtype: str) -> None:
    for rows, bits, threads in itertools.product((5, 17, 32, 65, 130), (None, 128, 256), (1, 3)):
        values, others = numbers((9, rows, columns), dtype), numbers((9, rows, columns), dtype, 1)
        x, y = xt.asarray(values), xt.asarray(others)
        one, row, column = (xt.asarray(each) for each in (others[0], others[0, 0], others[0, :, :1]))
        with xt.options(vector_bits=bits, num_threads=threads):
            for at in (np.s_[:, BACK], np.s_[BACK, BACK], np.s_[:, BACK, BACK]):
                target = xt.asarray(others.copy())
                target[...] = x[at] + y
                assert np.array_equal(target.numpy(), values[at] + others)
                target[...] = x[at] + one[::-1] + row + column
                want = values[at] + others[0, ::-1] + others[0, 0] + others[0, :, :1]
                assert np.array_equal(target.numpy(), want)
                target[at] = y
                target += x[at]
                assert np.array_equal(target.numpy(), others[at] + values[at])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("columns", "width"), [(2, 3), (3, 4), (3, 6), (4, 5), (7, 11), (8, 16), (15, 17)])
def test_rows_with_gaps(columns: int, width: int, dtype: str) -> None:
    for count in (3, 16, 50, 1001):
        values, others = numbers((count, width), dtype), numbers((count, columns), dtype, 1)
        x, y = xt.asarray(values), xt.asarray(others)
        for at in (np.s_[:, :columns], np.s_[::-1, width - columns :], np.s_[::-1, columns - 1 :: -1]):
            target = xt.zeros(others.shape, dtype)
            target[...] = x[at] * y
            assert np.array_equal(target.numpy(), values[at] * others)


def test_nothing_is_read_beyond_an_operand() -> None:
    """What is read of the last row ends where that does: beyond it lies what no thread may read."""
    values = numbers((4096 // 4 * 3,), "float32")
    for count in (48, 51, 96, 341):
        x = xt.asarray(values)[len(values) - 3 * count :]
        rows = xt.asarray(values[: 3 * count].reshape(count, 3))
        target = xt.zeros((count, 3))
        target[...] = x.reshape(count, 3)[::-1] + rows
        want = values[len(values) - 3 * count :].reshape(count, 3)[::-1] + values[: 3 * count].reshape(count, 3)
        assert np.array_equal(target.numpy(), want)


def test_images_from_memory_are_stored_past_the_caches() -> None:
    for width in (32, 33):
        values = numbers((800, 32, width, 3), "float32")
        target = xt.empty(values.shape)
        plan = xt.plan(target, xt.asarray(values)[:, :, ::-1] * 2)
        assert plan._code.kernel.strung == 3 and "rows of 3 strung together" in plan.nest
        assert np.array_equal(plan.run().numpy(), values[:, :, ::-1] * 2)


@pytest.mark.parametrize("many", range(2, 16))
def test_parts_hold_all_places(many: int) -> None:
    for step, each, lanes in itertools.product((-many, -2 * many, many + 1, 2 * many, 0, 1), (1, -1, 0), (4, 8, 16)):
        lie = Places(step, each, many)
        last = max(lie.of(0, many * lanes))
        first = min(lie.of(0, many * lanes))
        for begin in range(0, many * lanes, lanes):
            places = lie.of(begin, lanes)
            parts = parts_of(places, lanes)
            assert all(any(low <= p < low + count for low, count in parts) for p in places)
            assert all(first <= low and low + count - 1 <= last and count <= lanes for low, count in parts)


def test_what_a_target_is_made_of_is_not_stored_again() -> None:
    for count in (16, 70, 1001):
        values, others = numbers((count, 3), "float32"), numbers((count, 3), "float32", 1)
        target = xt.asarray(others.copy())
        target += xt.asarray(values)[::-1]
        assert np.array_equal(target.numpy(), others + values[::-1])
        target[...] = target * 2 + xt.asarray(values)[::-1]
        assert np.array_equal(target.numpy(), others * 2 + values[::-1] * 3)
