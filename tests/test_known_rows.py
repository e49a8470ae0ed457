"""Extremes along packed rows of 9 to 24 elements of floats, whose places are constants where registers are lines."""

import numpy as np
import pytest
from guarded import Memories

import exprten as xt

ROWS = (1, 15, 16, 17, 40, 300)


def taken(x, name, **options):
    with xt.options(**options):
        return xt.evaluate(getattr(xt, name)(xt.asarray(x), -1)).numpy()


@pytest.mark.covering(2)
@pytest.mark.parametrize("length", [9, 10, 11, 12, 13, 15, 16, 17, 18, 20, 23, 24, 25])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_every_length(name, dtype, length, bits):
    memories = Memories()
    for rows in ROWS:
        values = (np.random.default_rng(rows).standard_normal((rows, length)) * 99).astype(dtype)
        for at_end in (False, True):
            memories.clear()
            x = memories.take(values.size, values.dtype, at_end).reshape(values.shape)
            x[...] = values
            assert (taken(x, name, vector_bits=bits) == getattr(np, name)(values, -1)).all(), (rows, at_end)


@pytest.mark.parametrize("length", [11, 17, 24])
@pytest.mark.parametrize("name", ["max", "min"])
def test_a_nan_in_any_place_stays_in_its_row_alone(name, length):
    values = np.random.default_rng(length).uniform(1, 9, (48, length)).astype("float32")
    wanted = getattr(np, name)(values, -1)
    for row in (0, 7, 8, 15, 16, 47):
        for place in range(length):
            x = values.copy()
            x[row, place] = np.nan
            found = taken(x, name, vector_bits=512)
            assert np.isnan(found[row])
            assert (np.delete(found, row) == np.delete(wanted, row)).all()


@pytest.mark.parametrize("length", [12, 19])
def test_zeros_have_their_sign_and_infinities_are_numbers(length):
    x = np.full((64, length), -1.0, "float32")
    x[::3, length // 2], x[1::3, 2], x[1::3, 5] = -0.0, 0.0, -0.0
    x[2::3, 1], x[2::3, -1] = np.inf, -np.inf
    found = taken(x, "max", vector_bits=512)
    assert (found == x.max(-1)).all()
    assert np.signbit(found[::3]).all()
    assert not np.signbit(found[1::3]).any()


@pytest.mark.parametrize("length", [11, 18])
def test_what_is_computed_and_rows_that_are_not_packed(length):
    """Not a load alone, rows with gaps or backwards, and what is stored again: the same numbers by other ways."""
    x = np.random.default_rng(2).standard_normal((200, length + 2)).astype("float32")
    view, packed = x[:, :length], np.ascontiguousarray(x[:, :length])
    assert (taken(view, "max") == view.max(-1)).all()
    assert (taken(view[:, ::-1], "min") == view.min(-1)).all()
    assert (taken(packed[::-1], "max") == packed[::-1].max(-1)).all()
    doubled = xt.evaluate(xt.max(xt.asarray(packed) * 2 + 1, -1)).numpy()
    assert (doubled == (packed * 2 + 1).max(-1)).all()
    shifted = xt.evaluate(xt.asarray(packed) - xt.max(xt.asarray(packed), -1, keepdims=True)).numpy()
    assert (shifted == packed - packed.max(-1, keepdims=True)).all()
    matrix = np.random.default_rng(3).standard_normal((30, 6, length)).astype("float32")
    assert (taken(matrix, "max") == matrix.max(-1)).all()
    assert (taken(matrix.transpose(1, 0, 2), "min") == matrix.transpose(1, 0, 2).min(-1)).all()
