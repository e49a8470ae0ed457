"""Folds of what is turned: what they came to lies in scratch as the rows of the target do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from strategies import SMALL
from test_drawn_blocks import forget, softmax
from test_folds_apart import numbers
from test_wholes import normalised

import exprten as xt
from exprten.statement import orders


@pytest.mark.parametrize(
    ("shape", "pieces"), [((200, 300, 280), 2), ((3495, 96, 50), 0)], ids=["in pieces of both axes", "at once"]
)
def test_columns_that_are_folded_and_turned_are_no_cut_rows(shape: tuple[int, ...], pieces: int) -> None:
    x = numbers(shape)
    given = xt.transpose(xt.asarray(x), (0, 2, 1))
    want = xt.evaluate(softmax(xt.asarray(x), 0)).numpy().transpose(0, 2, 1)
    plan = xt.plan(xt.zeros(given.shape), softmax(given, 0))
    assert "known1[" in plan.nest
    assert len(plan._code.nest.pieces) == pieces
    for threads in (1, 3):
        with xt.options(num_threads=threads):
            assert plan.run().numpy().tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("shape", "source", "goal", "axis", "says"),
    [
        ((16, 585, 7), (1, 2, 0), (0, 1, 2), 0, "brought1["),  # the same for all tiles of rows
        ((8, 1365, 6), (0, 1, 2), (2, 1, 0), 1, "for all tiles"),  # and of columns
        ((1365, 24, 2), (0, 2, 1), (0, 1, 2), 0, "a scalar tail"),  # and a vector that ends with a row
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_what_folds_came_to_is_in_the_order_of_rows(
    monkeypatch: pytest.MonkeyPatch,
    shape: tuple[int, ...],
    source: tuple[int, ...],
    goal: tuple[int, ...],
    axis: int,
    says: str,
    dtype: Any,
) -> None:
    own = llvm_run.machine()  # one that waits for lines has other plans
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, waits=False))
    forget()
    x, back = numbers(shape, dtype), tuple(np.argsort(goal))
    given = xt.transpose(xt.asarray(x), source)
    want = xt.evaluate(normalised(xt.asarray(np.ascontiguousarray(x.transpose(source))), axis)).numpy()
    for bits, threads in ((None, 1), (None, 3), (256, 2), (128, 1)):
        with xt.options(vector_bits=bits, num_threads=threads):
            target = xt.transpose(xt.zeros([given.shape[k] for k in goal], given.dtype), back)
            assert bits or dtype != np.float32 or says in xt.plan(target, normalised(given, axis)).nest
            target[...] = normalised(given, axis)
            assert target.numpy().tobytes() == want.tobytes(), (bits, threads)


@pytest.mark.parametrize(
    ("shape", "source", "goal"),
    [
        ((100, 12, 6), (0, 1, 2), (2, 1, 0)),
        ((41, 17, 15), (2, 1, 0), (0, 1, 2)),  # a scalar tail
        ((50, 5, 16), (0, 1, 2), (2, 1, 0)),
        ((33, 31, 4), (1, 0, 2), (0, 1, 2)),  # rows that stay rows
        ((5, 16, 7, 9), (0, 2, 1, 3), (0, 3, 1, 2)),
    ],
    ids=str,
)
@pytest.mark.parametrize("function", [softmax, normalised, lambda x, axis: x - xt.max(x, axis, keepdims=True)])
def test_rows_of_a_few_elements_are_read_where_they_lie(
    shape: tuple[int, ...],
    source: tuple[int, ...],
    goal: tuple[int, ...],
    function: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where vectors are small: along the axis that the target runs on along, half a register of a row at a time, with no scratch."""
    monkeypatch.setattr(orders, "machine", lambda: SMALL)
    forget()
    x, axis = numbers(shape), source.index(len(shape) - 1)
    given = xt.transpose(xt.asarray(x), source)
    want = xt.evaluate(function(xt.asarray(x), len(shape) - 1)).numpy().transpose(source)
    room = np.zeros(x.size + 32, np.float32)
    target = xt.asarray(room[16:-16].reshape(tuple(want.shape[k] for k in goal)))
    y = xt.transpose(target, tuple(np.argsort(goal)))
    plan = xt.plan(y, function(given, axis))
    assert (plan._code.kernel.packed, plan.scratch_bytes) == (True, 0)
    for bits, threads in ((None, 1), (256, 3), (128, 1)):
        room[16:-16] = 0
        with xt.options(vector_bits=bits, num_threads=threads):
            y[...] = function(given, axis)
        assert y.numpy().tobytes() == want.tobytes()
        assert not room[:16].any() and not room[-16:].any()


def test_padded_rows_of_any_length_have_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "machine", lambda: SMALL)
    forget()
    for n in (5, 6):
        for width, packed in ((8, True), (20, False)):  # of few elements with small gaps there is one for each length
            x = xt.zeros((40, width))[:, :n]
            assert xt.plan(xt.zeros((40, n)), softmax(x, 1))._code.kernel.packed == packed


@pytest.mark.parametrize("mode", ["write", "add"])
def test_squares_read_no_scratch_that_nothing_is_brought_to(mode: str) -> None:
    """What is one for the outermost axis of the rows is brought before them: such rows are no squares of their own."""
    x = (np.random.default_rng(0).integers(0, 6, (2000, 33, 4))).astype(np.int16)
    given, lying = xt.transpose(xt.asarray(x), (1, 2, 0)), x.transpose(1, 2, 0)
    target = np.ones((4, 33, 2000), np.int16)
    xt.transpose(xt.asarray(target), (1, 0, 2)).assign(given - xt.max(given, 0, keepdims=True), mode)
    want = lying - lying.max(0, keepdims=True)
    assert np.array_equal(target.transpose(1, 0, 2), want + (mode == "add"))
