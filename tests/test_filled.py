"""Extremes and sums of integers down few columns, read as one long row; and rows whose last part is short."""

import numpy as np
import pytest
from guarded import Memories

import exprten as xt

COUNTS = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15]
ROWS = (1, 7, 33, 64, 257, 1500)
FOLDS = {"max": np.max, "min": np.min, "any": np.any, "count_nonzero": np.count_nonzero, "sum": np.sum}


def numbers(rows, columns, dtype):
    x = np.random.default_rng(rows * columns).uniform(-60, 60, (rows, columns))
    return (abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def bits_of(x):
    return x.view(f"u{x.dtype.itemsize}").copy() if x.dtype.kind == "f" else x


def taken(x, name):
    return xt.evaluate(getattr(xt, name)(x, 0)).numpy()


@pytest.mark.covering(2)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("columns", COUNTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("name", ["max", "min", "count_nonzero", "sum"])
def test_every_number_of_columns_and_rows(name, dtype, columns, bits):
    if name == "sum" and np.dtype(dtype).kind == "f":
        name = "max"  # a sum of floats has its order
    memories = Memories()
    for rows in ROWS:
        values = numbers(rows, columns, dtype)
        for at_end in (False, True):
            memories.clear()
            x = memories.take(values.size, values.dtype, at_end).reshape(values.shape)
            x[...] = values
            with xt.options(vector_bits=bits):
                assert (taken(xt.asarray(x), name) == FOLDS[name](values, axis=0)).all(), (rows, at_end)


@pytest.mark.parametrize("columns", [3, 5, 11])
@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_stays_and_zeros_have_their_sign(name, columns):
    zero = -0.0 if name == "max" else 0.0  # is beyond all others, but for the other zero
    for rows in (40, 700):
        for place in range(0, rows, 13):
            x = numbers(rows, columns, "float32")
            x = -abs(x) if name == "max" else abs(x)
            x[place, 1], x[rows // 2, 2], x[rows - 1 - place, 0] = np.nan, zero, -zero
            x[place, 0] = zero
            found = taken(xt.asarray(x), name)
            assert np.isnan(found[1])
            assert bits_of(found)[0] == bits_of(np.float32([-zero]))[0]
            assert bits_of(found)[2] == bits_of(np.float32([zero]))[0]


@pytest.mark.parametrize("columns", [2, 3, 5, 8, 14])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_what_is_computed_of_rows_and_of_columns(columns, threads):
    """Operands that all rows have, or all columns; and rows that threads share."""
    x, row, column = (numbers(*shape, "float32") for shape in ((9000, columns), (1, columns), (9000, 1)))
    with xt.options(num_threads=threads):
        found = xt.evaluate(xt.max((xt.asarray(x) - xt.asarray(row)) * xt.asarray(column), 0)).numpy()
        many = taken(xt.asarray(numbers(300_000, columns, "int32")), "sum")
    assert found.tobytes() == ((x - row) * column).max(0).tobytes()
    assert (many == numbers(300_000, columns, "int32").sum(0)).all()


@pytest.mark.parametrize("columns", [3, 7, 12])
def test_rows_from_the_last_to_the_first_and_rows_apart(columns):
    x = numbers(800, columns + 2, "float32")
    views = (x[::-1, :columns].copy()[::-1], x[:, :columns], x[::3, :columns], x[:, :columns].copy()[::-1, ::-1])
    for view in views:
        assert (taken(xt.asarray(view), "max") == view.max(0)).all()


@pytest.mark.covering(2)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("columns", [9, 11, 12, 14, 17, 20, 21, 24, 25, 31, 33, 40, 41, 48, 49, 63])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "complex64"])
def test_the_last_part_of_a_row_ends_with_it(columns, dtype, bits):
    memories = Memories()
    for rows, outer in ((300, 1), (5, 40)):
        values = numbers(rows * outer, columns, dtype).reshape(outer, rows, columns)
        for at_end in (False, True):
            memories.clear()
            x = memories.take(values.size, values.dtype, at_end).reshape(values.shape)
            x[...] = values
            with xt.options(vector_bits=bits):
                found = xt.evaluate(xt.sum(xt.asarray(x), 1)).numpy()
                stored = xt.evaluate(xt.asarray(x) - xt.mean(xt.asarray(x), 1, keepdims=True)).numpy()
            wide = values.astype("complex128" if values.dtype.kind == "c" else "float64")
            mean = wide.mean(1, keepdims=True)
            tolerance = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}.get(dtype, 1e-9)
            np.testing.assert_allclose(found, wide.sum(1), rtol=tolerance, atol=tolerance * 60)
            np.testing.assert_allclose(stored, wide - mean, rtol=tolerance, atol=tolerance * 60)


@pytest.mark.covering(2)
@pytest.mark.parametrize("columns", [2, 3, 5, 6, 8, 11])
@pytest.mark.parametrize("rows", [1, 15, 16, 33, 64, 300])
@pytest.mark.parametrize("name", ["argmax", "argmin", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("down", [1, -1])
def test_places_of_several_indices_at_once(down, dtype, name, rows, columns):
    """The first of equals, a NaN before all numbers, zeros that are equal; rows that lie from the last to the first, and two operands that lie each in its way."""
    x = np.random.default_rng(rows).integers(-3, 3, (9, rows, columns)).astype(dtype)
    if x.dtype.kind == "f":
        x[2, rows // 2, 1], x[3, rows - 1, 0], x[x == 0] = np.nan, np.nan, -0.0
        x[4] = -np.inf
    x[5] = 7
    view = x[:, ::down]
    for bits in (256, 512):
        with xt.options(vector_bits=bits):
            found = xt.evaluate(getattr(xt, name)(xt.asarray(view), 1)).numpy()
            both = xt.evaluate(getattr(xt, name)(xt.asarray(view) + xt.asarray(x), 1)).numpy()
        np.testing.assert_array_equal(found, getattr(np, name)(view, 1))
        np.testing.assert_array_equal(both, getattr(np, name)(view + x, 1))
