"""Rows of two, four or eight elements that stay together where all else is turned are turned as one wide element each: results stay what they are."""

import numpy as np
import pytest
from strategies import WIDE, place
from test_drawn_blocks import forget

import exprten as xt
from exprten.statement import flat, lying

UNITS = {"float32": (2, 4), "float64": (2,), "float16": (2, 4, 8), "int32": (2, 4), "int8": (2, 4, 8), "bool": (2, 8)}


def _values(shape, dtype):
    return np.random.default_rng(0).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize(("dtype", "unit"), [(dtype, unit) for dtype, units in UNITS.items() for unit in units])
@pytest.mark.parametrize("shape", [(64, 48), (300, 17), (17, 300), (33, 131), (2, 1500), (1500, 3)])
def test_units_are_turned(shape, dtype, unit):
    values = _values((*shape, unit), dtype)
    view = values.transpose(1, 0, 2)
    target = xt.zeros(view.shape, dtype=dtype)
    target[...] = ~xt.asarray(view) if dtype == "bool" else xt.asarray(view) + xt.asarray(view)
    np.testing.assert_array_equal(target.numpy(), ~view if dtype == "bool" else view + view)


@pytest.mark.parametrize("order", [(1, 0, 2, 3), (2, 1, 0, 3), (1, 2, 0, 3), (0, 2, 1, 3)])
def test_units_of_more_axes_and_of_views(order):
    values = _values((9, 34, 26, 6), "float32")[1:8, :33, 2:, 2:4]
    other, view = _values(values.shape, "float32").transpose(order), values.transpose(order)
    target = xt.zeros(view.shape)
    target[...] = xt.asarray(view) * 2 - xt.asarray(other)
    np.testing.assert_array_equal(target.numpy(), view * np.float32(2) - other)


def test_units_are_turned_in_the_plan():
    x, y = xt.ones((512, 64, 2)), xt.zeros((64, 512, 2))
    assert "turned from row to column, 2 at a time" in xt.plan(y, xt.transpose(x, (1, 0, 2)) * 3).nest


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_units_wider_than_sixteen_bytes_are_copied(dtype, monkeypatch):
    monkeypatch.setattr(lying, "machine", lambda: WIDE)
    forget()
    values = _values((100, 30, 4), dtype)
    source, target = xt.transpose(xt.array(values), (1, 0, 2)), xt.zeros((30, 100, 4), dtype=dtype)
    assert "at a time" in (nest := xt.plan(target, source + 1).nest)
    assert "turned" not in nest
    target[...] = source + 1
    np.testing.assert_array_equal(target.numpy(), values.transpose(1, 0, 2) + 1)


@pytest.mark.parametrize(
    "shape", [(700, 65, 2), (65, 700, 2), (130, 258, 4), (41, 3, 257, 2), (5000, 3, 2), (3, 5000, 2)]
)
@pytest.mark.parametrize("axis", [0, 1])
def test_units_of_what_is_computed_in_pieces(shape, axis):
    """The bits are those of the same numbers stored as they lie."""
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    order = (1, 0, *range(2, len(shape)))
    made = [xt.zeros(values.shape), xt.transpose(xt.zeros([shape[k] for k in order]), order)]
    source = xt.asarray(values)
    for target in made:
        target[...] = (source - xt.mean(source, axis, keepdims=True)) / xt.std(source, axis, keepdims=True)
    assert made[0].numpy().tobytes() == np.ascontiguousarray(made[1].numpy()).tobytes()


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8"])
@pytest.mark.parametrize("rows", [3, 4, 5, 8, 11, 14, 17])
def test_small_matrices_are_turned_one_after_the_other(rows, dtype):
    for columns in (3, 4, 7, 8, 11, 15, 16):
        values = _values((20_000 // (rows * columns) + 3, rows, columns), dtype)
        want = values.transpose(0, 2, 1) * values.dtype.type(3)
        for bits, threads in ((None, 1), (None, 3), (256, 2), (128, 1)):
            target = place(np.zeros(want.shape, dtype))
            with xt.options(vector_bits=bits, num_threads=threads):
                xt.asarray(target.array)[...] = xt.transpose(xt.asarray(values), (0, 2, 1)) * values.dtype.type(3)
            np.testing.assert_array_equal(target.array, want)
            target.assert_untouched()


@pytest.mark.parametrize(("rows", "columns"), [(8, 11), (4, 11), (14, 4), (8, 12)])
@pytest.mark.parametrize("first", [0, 3])
def test_small_matrices_are_turned_from_memory(rows, columns, first):
    values = _values(((9 << 18) // (rows * columns), rows, columns), "float32")
    memory = np.full(values.size + 64, -7, np.float32)
    target = memory[first : first + values.size].reshape(values.shape[0], columns, rows)
    xt.asarray(target)[...] = xt.transpose(xt.asarray(values), (0, 2, 1)) * 3
    np.testing.assert_array_equal(target, values.transpose(0, 2, 1) * 3)
    assert (memory[:first] == -7).all() and (memory[first + values.size :] == -7).all()


@pytest.mark.covering(2)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int8", "bool"])
@pytest.mark.parametrize("unit", [2, 3, 5, 7, 8, 9, 15, 16, 17, 33])
@pytest.mark.parametrize("flips", [(1, 1, -1), (-1, 1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("shape", [(40, 33), (3, 700), (130, 5)])
@pytest.mark.parametrize("far", [False, True])
def test_units_that_are_read_from_their_end(far, shape, flips, unit, dtype, monkeypatch):
    if far:
        monkeypatch.setattr(flat, "writes_out", lambda _: False)
    forget()
    placed = place(_values((*shape, unit), dtype))
    back = tuple(slice(None, None, step) for step in flips)
    view = placed.array[back].transpose(1, 0, 2)
    target = place(np.zeros(view.shape, dtype))
    xt.asarray(target.array)[...] = ~xt.asarray(view) if dtype == "bool" else xt.asarray(view) * 3
    np.testing.assert_array_equal(target.array, ~view if dtype == "bool" else view * 3)
    target.assert_untouched()


def test_units_that_are_read_from_their_end_come_at_once():
    forget()
    source, target = xt.transpose(xt.ones((100, 46, 7))[:, :, ::-1], (1, 0, 2)), xt.zeros((46, 100, 7))
    assert "7 at a time, from the last" in xt.plan(target, source * 3).nest
