"""Extremes along rows, and where they stand: quick comparisons, and the full rule where a NaN or zeros are met; rows of every remainder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from strategies import reference_maximum, reference_minimum

import exprten as xt

NAMES = ("max", "min", "argmax", "argmin")
LENGTHS = (129, 130, 143, 144, 145, 159, 161, 191, 200, 255, 257, 300, 511, 1000, 4097, 4111, 9000)


def rows(count: int, dtype: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Numbers as they come, many that are equal, none but the worst; of floats also NaN, infinities and zeros of both signs."""
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    x = rng.integers(0, 100, (6, count)).astype(dtype)
    yield from (x, x // 50, np.sort(x, 1), np.sort(x, 1)[:, ::-1])
    yield from (np.full_like(x, bound) for bound in (info.min, info.max))
    if x.dtype.kind == "f":
        yield np.where(rng.random(x.shape) < 0.5, -0.0, 0.0).astype(dtype)
        yield from (np.full_like(x, bound) for bound in (np.inf, -np.inf, np.nan, -0.0))
        for at in (0, 127, 128, count - 2, count - 1):
            one = x.copy()
            one[::2, at] = np.nan
            yield one


def expected(name: str, x: np.ndarray) -> np.ndarray:
    if name.startswith("arg") or x.dtype.kind != "f":
        return getattr(x, name)(1)
    join, found = reference_maximum if name == "max" else reference_minimum, x[:, 0]
    for k in range(1, x.shape[1]):
        found = join(found, x[:, k])
    return found


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "uint16"])
def test_extremes_of_rows_of_every_remainder(dtype, bits):
    rng = np.random.default_rng(bits)
    with xt.options(vector_bits=bits):
        for count in LENGTHS:
            x = np.concatenate(list(rows(count, dtype, rng)))
            apart = np.zeros((len(x), 2 * count + 3), dtype)
            apart[:, 1 : 2 * count : 2] = x
            for name in NAMES:
                want = expected(name, x)
                for view in (xt.asarray(x), xt.asarray(apart)[:, 1 : 2 * count : 2]):
                    found = xt.evaluate(getattr(xt, name)(view, 1)).numpy()
                    np.testing.assert_array_equal(found, want, f"{name} of {count}")
                    if found.dtype.kind == "f":
                        np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(want)[want == 0])


@pytest.mark.parametrize("shape", [(3, 130), (259, 100), (31, 2100), (600, 65), (5, 40, 300)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_a_strip_by_one_comparison_knows_nan_zeros_and_infinities(name, shape, dtype):
    chance = np.random.default_rng(0)
    x = (chance.standard_normal(shape) * 9).astype(dtype)
    x = abs(x) if name == "min" else -abs(x)
    x[..., ::7] = chance.choice(np.array([-0.0, 0.0], dtype), x[..., ::7].shape)
    x[..., 3::11] = chance.choice(np.array([-np.inf, np.inf, 1], dtype), x[..., 3::11].shape)
    for case in range(3):
        if case == 1:  # in the last row, and in the first
            x[..., -1, 5] = x[..., 0, -1] = np.nan
        if case == 2:
            x[..., 1] = np.nan
        result = getattr(np, name)(x, -2)
        source, target = xt.asarray(x), xt.empty(result.shape, dtype=dtype)
        for threads, bits in ((1, 512), (2, 512), (3, 128), (1, 256)):
            target[...] = 3
            with xt.options(num_threads=threads, vector_bits=bits):
                target[...] = getattr(xt, name)(source, -2)
            np.testing.assert_array_equal(target.numpy(), result)
            zero = result == 0
            signs = np.signbit(target.numpy()[zero])
            mixed = (np.signbit(x) == (name == "min")) & (x == 0)  # the zero that is further, where there is one
            assert (signs == np.where(mixed.any(-2)[zero], name == "min", name != "min")).all()


@pytest.mark.covering(2)
@pytest.mark.parametrize("columns", [17, 18, 23, 24, 25, 31, 33, 40, 64, 65, 129, 256, 257])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint16", "int8", "float64"])
@pytest.mark.parametrize("bits", [128, 256])
def test_small_registers_of_columns_one_after_the_other(columns, name, dtype, bits):
    chance = np.random.default_rng(columns)
    for rows_of_it, outer in ((1, 3), (3, 2), (4, 1), (18, 5), (63, 2), (270, 1), (261, 3)):
        x = chance.integers(0, 60, (outer, rows_of_it, columns)).astype(dtype)  # many that are equal
        if x.dtype.kind == "f":
            x[..., 3::7] = chance.choice(np.array([-0.0, 0.0], dtype), x[..., 3::7].shape)
        wide = np.zeros((outer, rows_of_it, columns + 5), dtype)
        for case in range(3 if x.dtype.kind == "f" else 1):
            if case == 1:
                x[..., -1, 5] = x[..., 0, -1] = np.nan
            if case == 2:
                x[-1, rows_of_it // 2, 9:] = np.nan
            wide[..., 2:-3] = x
            want = np.stack([expected(name, each.T) for each in x])
            for view in (xt.asarray(x), xt.asarray(wide)[..., 2:-3]):
                with xt.options(vector_bits=bits):
                    found = xt.evaluate(getattr(xt, name)(view, 1)).numpy()
                np.testing.assert_array_equal(found, want, f"{name} of {x.shape}")
                if found.dtype.kind == "f":
                    np.testing.assert_array_equal(np.signbit(found)[found == 0], np.signbit(want)[want == 0])


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
@pytest.mark.parametrize("length", [17, 33, 50, 65, 100, 127, 128])
def test_first_places_in_rows_whose_last_parts_are_read_again(length, dtype):
    """However many rows are left for the last block; the first of equals, one of which lies in two parts."""
    for rows in (1, 7, 8, 63, 65, 71, 72, 79, 80, 129, 327):
        x = (np.random.default_rng(rows).standard_normal((rows, length)) * 2).round().astype(dtype)
        some = x.copy()
        if x.dtype.kind == "f":
            some[rows // 2, length - 1] = np.nan
        for values in (x, some, np.sort(x, axis=1), np.zeros_like(x)):
            for bits in (128, 256, 512):
                with xt.options(vector_bits=bits):
                    for name in ("argmax", "argmin"):
                        found = xt.evaluate(getattr(xt, name)(xt.asarray(values), 1)).numpy()
                        np.testing.assert_array_equal(found, getattr(np, name)(values, 1), f"{name} of {values.shape}")
