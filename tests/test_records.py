"""Records of a few rows of a few columns, one behind the other, whose rows are folded in registers of several records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exprten_jit import _machine
from strategies import assert_same_bits, place

import exprten as xt

ROWS, COLUMNS = (2, 3, 4, 5, 6, 8), (2, 3, 5, 7)
TYPES = (np.float32, np.float64, np.int32, np.uint64)


def numbers(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    chance = np.random.default_rng(sum(shape))
    x = np.rint(chance.standard_normal(shape) * 9).astype(dtype)  # sums are exact in any order
    if np.dtype(dtype).kind == "f":
        x[chance.random(shape) < 0.1] = -0.0
        x[chance.random(shape) < 0.05] = 0.0
        x[chance.random(shape) < 0.01] = np.nan
        x[chance.random(shape) < 0.01] = -np.inf
    return x


@pytest.mark.covering(2)
@pytest.mark.parametrize("bits", [None, 256])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["sum", "max", "min", "prod"])
def test_records_of_any_number(name: str, dtype: Any, bits: int | None) -> None:
    options: dict[str, Any] = {} if bits is None else {"vector_bits": bits}
    for rows in ROWS:
        for columns in COLUMNS:
            for many in (1, 15, 16, 17, 33, 70):
                x = numbers((many, rows, columns), dtype)
                source = place(x)
                value = getattr(xt, name)(xt.asarray(source.array), 1)
                kind = {} if name in ("max", "min") else {"dtype": value.dtype}
                with np.errstate(invalid="ignore"):
                    want = getattr(x, name)(1, **kind)
                target = place(np.full_like(want, 7))
                with xt.options(num_threads=1, **options):
                    xt.asarray(target.array)[...] = value
                if name in ("max", "min"):
                    assert_same_bits(np.abs(target.array), np.abs(want), str(x.shape))
                    if np.dtype(dtype).kind == "f":
                        plus, minus = ((x == 0) & (np.signbit(x) == sign) for sign in (False, True))
                        signs = {"max": ~plus.any(1), "min": minus.any(1)}[name]
                        np.testing.assert_array_equal(np.signbit(target.array)[want == 0], signs[want == 0])
                else:
                    np.testing.assert_allclose(target.array, want, rtol=1e-5 * (name == "prod"))
                target.assert_untouched()


def test_records_are_not_taken_apart() -> None:
    if not _machine(None).scales:
        pytest.skip("for AVX-512 alone")
    x = xt.asarray(numbers((100, 8, 3), np.float32))
    for value, taken in (
        (xt.sum(x, 1), True),
        (xt.max(x, 1), True),
        (xt.sum(x, 1) + 1, True),
        (xt.sum(x * x, 1), True),
        (xt.sum(x * xt.arange(3, dtype=np.float32), 1), False),
    ):
        shuffles = xt.plan(xt.empty(value.shape), value).llvm.count("shufflevector")
        assert (shuffles < 150) == taken  # to take columns apart, and to put them together, takes 300


@pytest.mark.covering(2)
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_what_is_made_of_rows(rows: int, columns: int, dtype: Any) -> None:
    """Row by row as they lie: for each number of records, the last of which is read and stored in part."""
    scale = np.asarray(3, dtype)
    for many in (1, 16, 17, 31, 50):
        x = numbers((many, rows, columns), dtype)
        source = place(x)
        given = xt.asarray(source.array)
        with np.errstate(invalid="ignore"):
            for value, want in (
                (xt.sum(given * given, 1, dtype=dtype), (x * x).sum(1, dtype=dtype)),
                (xt.max(given, 1) * 2, x.max(1) * scale.dtype.type(2)),
                (xt.sum(given, 1, dtype=dtype) * 3 - 1, x.sum(1, dtype=dtype) * scale - scale.dtype.type(1)),
                (xt.min(xt.abs(given), 1), np.abs(x).min(1)),
            ):
                target = place(np.full((many, columns), 7, dtype))
                with xt.options(num_threads=1):
                    xt.asarray(target.array)[...] = value
                np.testing.assert_array_equal(target.array, want)
                target.assert_untouched()


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (8, 3), (7, 2), (6, 3), (5, 5), (6, 4), (2, 7), (7,), (5,), (11,)])
def test_numbers_alone_and_one_that_is_none(name: str, shape: tuple[int, ...]) -> None:
    """By one comparison an element, and by the full rule where a NaN or an extreme that is a zero asks for it: for the vector that it is in alone."""
    x = np.random.default_rng(len(shape)).uniform(1, 9, (64, *shape)).astype(np.float32)
    for sign in (1, -1):
        numbers_alone = x * np.float32(sign)
        for where in (None, 0, 17, 63):
            for odd in (np.nan, 0.0, -0.0, np.inf):
                some = numbers_alone.copy()
                if where is not None:
                    some[where, shape[0] // 2] = odd
                found, want = xt.evaluate(getattr(xt, name)(xt.asarray(some), 1)).numpy(), getattr(some, name)(1)
                assert_same_bits(np.abs(found), np.abs(want), f"{where} {odd}")
                np.testing.assert_array_equal(np.signbit(found)[~np.isnan(want)], np.signbit(want)[~np.isnan(want)])
