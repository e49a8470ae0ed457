"""Statements with folds that are computed as a whole in the order of memory, in pieces of several axes where that is much, and copied then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pytest
from strategies import WIDE, assert_same_bits
from test_drawn_blocks import forget, softmax, stored
from test_folds_apart import in_pieces, numbers

import exprten as xt
from exprten.statement import flat, orders, pieces, rest, whole

LAYOUTS = (
    # source, its order, the folded axis, in how many pieces
    ((2, 1927, 17), (0, 2, 1), 0, 3),
    ((17, 550, 7), (1, 2, 0), 1, 2),
    ((128, 64, 3, 2), (3, 1, 0, 2), 0, 2),
    ((48, 4, 37, 8), (2, 1, 0, 3), 1, 2),  # packed rows of 8, and rows of 4 across
    ((70, 5, 90, 9), (3, 0, 1, 2), 2, 9),
    ((24, 50, 6, 47), (3, 0, 1, 2), 2, 12),
    ((80, 3, 500), (2, 1, 0), 1, 4),
    ((40, 40, 40), (2, 1, 0), 1, 2),  # the outermost axis in memory is cut
    ((5, 3, 128, 700), (3, 0, 2, 1), 1, 48),  # pieces of (3, 16, 128), though the last axis alone could be cut
)


def normalised(x: xt.Expr, axis: int) -> xt.Expr:
    return (x - xt.mean(x, axis, keepdims=True)) / xt.std(x, axis, keepdims=True)


@pytest.mark.covering(1)
@pytest.mark.parametrize(("shape", "order", "axis", "many"), LAYOUTS, ids=str)
@pytest.mark.parametrize("function", [softmax, normalised], ids=["softmax", "normalised"])
def test_a_statement_as_a_whole_has_its_bits(
    function: Callable[[xt.Expr, int], xt.Expr],
    shape: tuple[int, ...],
    order: tuple[int, ...],
    axis: int,
    many: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orders, "machine", lambda: WIDE)  # rows of a few elements are read where they lie elsewhere
    monkeypatch.setattr(whole, "is_wide", lambda: False)
    forget()
    for dtype in (np.float32, np.float64, np.float16):
        x = xt.transpose(xt.asarray(numbers(shape, dtype)), order)
        if dtype == np.float32:
            plan = xt.plan(xt.empty(x.shape), function(x, axis))
            assert "whole[" in plan.nest
            lying = xt.ones(shape)
            assert plan.recompute == xt.plan(xt.empty(shape), function(lying, order[axis])).recompute
            assert plan.scratch_bytes <= 288 << 10
            assert in_pieces(plan) == many
        value, straight = partial(function, x, axis), [*range(x.ndim)]
        found = [
            stored(value, straight, "write", bits, threads)
            for bits, threads in ((None, 1), (128, 2), (256, 3), (512, 1))
        ]
        with monkeypatch.context() as without:
            without.setattr(flat, "LEAST", 1 << 60)
            without.setattr(flat, "LEAST_LEFT", 1 << 60)
            without.setattr(rest, "is_better_apart", lambda _: False)
            want = stored(value, straight, "write")
        for each in found:
            assert_same_bits(each, want, f"{dtype.__name__}{shape}")


@pytest.mark.parametrize(("shape", "axis"), [((40, 40, 40), 0), ((24, 82, 33), 1), ((41, 40, 41), 1)])
@pytest.mark.parametrize("function", [softmax, normalised], ids=["softmax", "normalised"])
def test_as_much_is_a_whole_as_the_second_cache_has_room_for(
    function: Callable[[xt.Expr, int], xt.Expr], shape: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, found = xt.transpose(xt.asarray(numbers(shape, np.float32)), (2, 1, 0)), []
    monkeypatch.setattr(orders, "machine", lambda: WIDE)
    for wide in (False, True):
        monkeypatch.setattr(whole, "is_wide", lambda wide=wide: wide)
        forget()
        plan = xt.plan(xt.empty(x.shape), function(x, axis))
        fits = 4 * prod(shape) <= 256 << 10
        assert not wide or ("whole[" in plan.nest and in_pieces(plan) == 1) is fits
        assert wide or in_pieces(plan) > 1 or "whole[" not in plan.nest
        found.append(stored(partial(function, x, axis), [*range(3)], "write", None, 2))
    assert_same_bits(*found)


@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [((70, 5, 90, 9), (3, 0, 1, 2), 2), ((700, 17, 49), (2, 0, 1), 2), ((200, 17, 986), (1, 2, 0), 1)],
    ids=str,
)
def test_pieces_of_what_comes_from_memory_are_larger(
    shape: tuple[int, ...], order: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xt.transpose(xt.asarray(numbers(shape)), order)
    value, straight = partial(softmax, x, axis), [*range(x.ndim)]
    want, many = stored(value, straight, "write"), in_pieces(xt.plan(xt.empty(x.shape), value()))
    monkeypatch.setattr(pieces, "MEMORY", 0)
    for bits, threads in ((None, 1), (128, 2), (256, 3)):
        assert_same_bits(stored(value, straight, "write", bits, threads), want, f"{shape}")
    plan = xt.plan(xt.empty(x.shape), value())
    assert "whole[" in plan.nest
    assert (plan.scratch_bytes >= 512 << 10 and in_pieces(plan) < many) or not whole.stack_bytes()
    monkeypatch.setattr(threading, "stack_size", lambda: 1 << 20)  # of threads that are small
    forget()
    assert in_pieces(xt.plan(xt.empty(x.shape), value())) == many


@pytest.mark.parametrize("shape", [(682, 24, 2), (682, 16, 3), (400, 20, 4)], ids=str)
def test_what_was_computed_is_taken_apart_as_it_is_copied(shape: tuple[int, int, int]) -> None:
    """Scratch is known to be packed: rows of a few elements have no loop, and are loaded several at once."""
    x, (rows, more, columns) = numbers(shape, np.float32), shape
    made = xt.empty((rows, columns, more))
    plan = xt.plan(made, normalised(xt.transpose(xt.asarray(x), (0, 2, 1)), 0))
    assert plan.nest.count("= whole[") == columns
    want = xt.evaluate(normalised(xt.asarray(x), 0)).numpy()
    assert_same_bits(plan.run().numpy(), want.transpose(0, 2, 1), f"{columns} columns")


def test_what_the_target_is_part_of_is_not_computed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "machine", lambda: WIDE)
    forget()
    data = numbers((17, 550, 7))
    x, y = xt.transpose(xt.asarray(data), (1, 2, 0)), xt.asarray(np.ones((550, 7, 17), np.float32))
    plan = xt.plan(y, softmax(x, 1) * y)
    assert "whole[" not in plan.nest
    assert "whole[" in xt.plan(y, softmax(x, 1) * x).nest
    plan.run()
    powers = np.exp(data - data.max(2, keepdims=True))
    np.testing.assert_allclose(y.numpy(), (powers / powers.sum(2, keepdims=True)).transpose(1, 2, 0), 1e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_pieces_of_two_axes(threads: int) -> None:
    data: Any = numbers((40, 60, 6, 70))
    x = xt.transpose(xt.asarray(data), (3, 0, 1, 2))
    with xt.options(num_threads=threads):
        plan = xt.plan(xt.empty(x.shape), normalised(x, 3))
        assert in_pieces(plan) >= 32
        assert prod(x.shape) > 1_000_000
        found = plan.run().numpy()
    wide = data.astype(np.float64)
    want = (wide - wide.mean(2, keepdims=True)) / wide.std(2, keepdims=True)
    np.testing.assert_allclose(found, want.transpose(3, 0, 1, 2), 1e-4, 1e-5)
