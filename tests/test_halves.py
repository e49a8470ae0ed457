"""Rows that leave half of a long register empty, and are read by halves: which, and that their bits are those of all registers."""

from dataclasses import replace

import numpy as np
import pytest
from strategies import SMALL, WIDE
from test_drawn_blocks import forget
from test_few_rows import nested, softmax, standard
from test_folds import judged

import exprten as xt
from exprten.statement import blocks, halves, lying, registers, rest

WIDTHS = (None, 128, 256)
STORED = (softmax, standard, nested)


@pytest.fixture
def wide(monkeypatch):
    """A processor whose registers are a line, to what decides on halves."""
    monkeypatch.setattr(halves, "machine", lambda: WIDE)
    forget()
    yield
    forget()


def is_halved(shape, function, dtype="float32", axis=1):
    value = function(xt.zeros(shape, dtype), axis)
    _, launch = xt.plan(xt.zeros(value.shape, value.dtype), value)._prepared
    return launch.arranged.signature.halved


@pytest.mark.parametrize(
    ("function", "dtype", "bounds"),
    [
        (standard, "float32", {2: (12, 24), 4: (5, 16), 5: (3, 100), 8: (3, 100), 9: None}),
        (softmax, "float32", {2: (12, 16), 4: (5, 16), 5: (5, 16), 8: (5, 16), 9: None}),
        (xt.sum, "float32", {2: None, 4: (5, 7), 5: (5, 100), 8: (5, 100), 9: None}),
        (xt.max, "float32", {2: (12, 16), 4: (5, 7), 8: (5, 100), 9: None}),
        (xt.max, "uint8", {3: (12, 16), 16: (5, 16), 17: (5, 100), 32: (5, 100), 33: None}),
        (xt.max, "float16", {3: None, 8: (5, 7), 9: (5, 100), 17: None}),
        (xt.argmax, "float32", {4: None, 8: None}),
        (standard, "float64", {2: (5, 16), 3: (3, 100), 4: (3, 100), 5: None}),
        (standard, "int16", {2: (17, 24), 8: (17, 24), 9: None}),
        (softmax, "float16", {2: None, 8: None}),
    ],
)
def test_rows_are_read_by_halves_where_they_are_measured_to_be_better(function, dtype, bounds, wide, monkeypatch):
    def chosen(columns):
        found = [rows for rows in (*range(2, 26), 100) if is_halved((9, rows, columns), function, dtype)]
        return (found[0], found[-1]) if found else None

    assert {columns: chosen(columns) for columns in bounds} == bounds
    monkeypatch.setattr(halves, "machine", lambda: SMALL)
    forget()
    assert not is_halved((9, 12, max(bounds)), function, dtype)


def test_what_comes_from_memory_fills_registers(wide):
    assert is_halved((4000, 12, 8), xt.sum)
    assert not is_halved((400_000, 12, 8), xt.sum)


@pytest.mark.covering(2)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "uint8", "int64"])
@pytest.mark.parametrize(("rows", "columns"), [(12, 2), (12, 4), (6, 5), (20, 8), (13, 17), (19, 3)])
@pytest.mark.parametrize("function", [*STORED, xt.sum, xt.max, xt.mean])
def test_the_bits_are_those_of_whole_registers(function, rows, columns, dtype, wide):
    data = (np.random.default_rng(rows).uniform(0, 9, (3, rows, columns))).astype(dtype)
    value = function(xt.asarray(data), 1)
    target = xt.zeros(value.shape, value.dtype)
    plan = xt.plan(target, value)
    plan.run()
    want = judged(plan)
    for bits in WIDTHS:
        for threads in (1, 3):
            with xt.options(vector_bits=bits, num_threads=threads):
                target[...] = 0
                target[...] = value
                np.testing.assert_array_equal(target.numpy(), want)
    padded = xt.zeros((*value.shape[:-1], value.shape[-1] + 2), value.dtype)
    padded[..., 1:-1] = value
    np.testing.assert_array_equal(padded.numpy()[..., 1:-1], want)
    assert not padded.numpy()[..., [0, -1]].any()


TURNED = (  # shapes, orders, what is computed and along which axis, and whether by halves
    ((1024, 4, 8), (2, 1, 0), xt.max, 1, True),
    ((500, 10, 2), (2, 1, 0), xt.sum, 1, True),
    ((1000, 5, 3), (2, 1, 0), xt.max, 1, False),  # no whole parts of a register
    ((1024, 2, 8), (2, 1, 0), xt.max, 1, False),
    ((512, 4, 8), (0, 1, 2), xt.max, 1, False),  # stored by rows
    ((17, 700), (1, 0), standard, 1, True),
    ((500, 33), (1, 0), standard, 1, False),  # long columns
    ((40, 33, 24), (1, 2, 0), standard, 2, True),
    ((17, 700), (1, 0), softmax, 1, False),  # dear
)


@pytest.mark.parametrize(("shape", "order", "function", "axis", "halved"), TURNED)
def test_what_is_stored_across_is_turned_by_halves(shape, order, function, axis, halved, monkeypatch):
    for decides in (halves, rest):
        monkeypatch.setattr(decides, "machine", lambda: replace(WIDE, waits=True))
    forget()
    data = np.random.default_rng(3).uniform(-9, 9, shape).astype("float32")
    value = function(xt.transpose(xt.asarray(data), order), axis)
    target = xt.zeros(value.shape)
    plan = xt.plan(target, value)
    assert plan._launch.arranged.signature.halved == halved
    want = plan.run().numpy().copy()
    monkeypatch.undo()
    forget()
    for bits in WIDTHS:
        with xt.options(vector_bits=bits, num_threads=2):
            target[...] = value
        np.testing.assert_array_equal(target.numpy(), want)


def test_nothing_is_halved_after_a_plan_that_fails():
    def fail():
        with registers.halves():
            assert registers.are_halved()
            raise RuntimeError("no plan")

    with pytest.raises(RuntimeError, match="no plan"):
        fail()
    assert not registers.are_halved()


@pytest.mark.parametrize(
    ("dtype", "along", "often"),
    [("uint8", 64, 0), ("uint8", 33, 1), ("int8", 24, 2), ("int16", 20, 1), ("float16", 20, 0), ("float32", 17, 0)],
)
def test_a_register_is_halved_until_the_axis_that_vectors_run_along_fills_it(dtype, along, often, wide, monkeypatch):
    for decides in (lying, blocks):
        monkeypatch.setattr(decides, "machine", lambda: WIDE)
    values = np.random.default_rng(0).integers(0, 100, (40, along, 7)).astype(dtype)
    source, target = xt.asarray(values), xt.empty((40, 7, along), dtype)
    plan = xt.plan(target, xt.transpose(source, (0, 2, 1)) * 2)
    assert plan._launch.arranged.signature.halved == often
    np.testing.assert_array_equal(plan.run().numpy(), (values * 2).astype(dtype).transpose(0, 2, 1))
