"""Folds as statements of their own: in the order of memory, and in pieces where what they come to has no room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exprten_jit import beforehand
from exprten_jit.backends import llvm_run
from test_drawn_blocks import forget, softmax

import exprten as xt
from exprten.statement import pieces, rest, whole

ROOT = Path(__file__).parents[1]
PATHS = ROOT, ROOT / "jit"

SUMS = (
    # source, its order, the folded axis, what the nest says
    ((100, 33, 31, 2), (1, 3, 2, 0), 3, "columns of h2 < ((n0 * n1) * n2)"),
    ((20, 32, 11, 17), (3, 1, 0, 2), 2, "columns of i2i3 < (n0 * n1)"),  # two are left, and turned in registers
    ((93, 64, 9), (2, 1, 0), 0, "known0[h1] = ((((x1[t0] + x1[(8 + t0)])"),
)


@pytest.fixture(autouse=True)
def usual_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor whose second cache is small."""
    monkeypatch.setattr(rest, "is_wide", lambda: False)
    forget()


def numbers(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    return (np.random.default_rng(prod(shape)).standard_normal(shape) * 9).astype(dtype)


@pytest.mark.parametrize(("shape", "order", "axis", "says"), SUMS, ids=str)
def test_axes_that_run_on_in_memory_are_one_whatever_their_numbers(
    shape: tuple[int, ...], order: tuple[int, ...], axis: int, says: str
) -> None:
    x = np.rint(numbers(shape))
    given = xt.transpose(xt.asarray(x), order)
    plan = xt.plan(xt.zeros([n for k, n in enumerate(given.shape) if k != axis]), xt.sum(given, axis))
    assert says in plan.nest
    assert plan.recompute == 1
    np.testing.assert_array_equal(plan.run().numpy(), x.transpose(order).sum(axis))


def in_pieces(plan: xt.Plan) -> int:
    """How many pieces a statement is computed in, 1 without any."""
    sizes = dict(plan._launch.arranged.sizes)
    return prod(-(-sizes[piece.extent.name] // sizes[piece.length.name]) for piece in plan._code.nest.pieces)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("reducer", ["sum", "max", "argmax"])
def test_pieces_have_the_bits_of_all_at_once(reducer: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = numbers((662, 4, 6, 7), dtype)
    given, function = xt.transpose(xt.asarray(x), (2, 0, 3, 1)), getattr(xt, reducer)
    want = xt.evaluate(function(given, 3)).numpy()
    found = set()
    for room in (beforehand.ROOM, 1 << 15, 20_000):
        monkeypatch.setattr(beforehand, "ROOM", room)
        for threads in (1, 3):
            forget()
            with xt.options(num_threads=threads):
                plan = xt.plan(xt.empty(want.shape, want.dtype), function(given, 3))
                found.add(in_pieces(plan))
                np.testing.assert_array_equal(plan.run().numpy(), want)
    assert max(found) >= 6


@pytest.mark.parametrize("reducer", ["sum", "max", "argmax"])
@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [((500, 1117, 3), (1, 0, 2), 2), ((333, 5, 2100), (2, 1, 0), 1), ((301, 8, 64, 3), (2, 1, 3, 0), 2)],
    ids=str,
)
def test_pieces_of_several_axes_hold_what_is_turned(
    reducer: str, shape: tuple[int, ...], order: tuple[int, ...], axis: int
) -> None:
    x = np.rint(numbers(shape))
    for threads in (1, 3):
        with xt.options(num_threads=threads):
            value = getattr(xt, reducer)(xt.transpose(xt.asarray(x), order), axis)
            plan = xt.plan(xt.empty(value.shape, value.dtype), value)
            assert len(plan._code.nest.pieces) == 2
            assert "squares of" in plan.nest
            np.testing.assert_array_equal(plan.run().numpy(), getattr(x.transpose(order), reducer)(axis))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_share_pieces(threads: int) -> None:
    x = numbers((3000, 7, 20, 2))
    turned = x.transpose(2, 1, 3, 0)
    with xt.options(num_threads=threads):
        plan = xt.plan(xt.empty((20, 7, 3000)), xt.max(xt.transpose(xt.asarray(x), (2, 1, 3, 0)), 2))
        assert in_pieces(plan) >= 32
        np.testing.assert_array_equal(plan.run().numpy(), turned.max(2))


@pytest.mark.parametrize("mode", ["write", "add"])
def test_what_is_stored_in_pieces_is_stored_once(mode: str) -> None:
    x = numbers((24, 48, 100, 2)).astype(np.float64)
    given = xt.transpose(xt.asarray(x), (0, 2, 1, 3))
    y = xt.ones(given.shape, "float64")
    plan = xt.plan(y, softmax(given, 0), mode)
    assert in_pieces(plan) > 1
    plan.run()
    powers = np.exp(x - x.max(0))
    want = (powers / powers.sum(0)).transpose(0, 2, 1, 3) + (mode == "add")
    np.testing.assert_allclose(y.numpy(), want, 1e-12)


@pytest.mark.parametrize(
    ("shape", "order", "axis", "whole"),
    [
        ((264, 16, 31, 128), (0, 3, 2, 1), 0, False),  # 4 of 31, so that rows of 128 stay whole
        ((3177, 5, 32, 6), (3, 2, 0, 1), 1, True),  # of what stores 15 elements at a time all is computed, and copied
        ((7, 16, 16, 400), (0, 1, 3, 2), 0, True),  # of what would be scattered too
        ((6, 9020, 31), (1, 2, 0), 1, True),
    ],
    ids=str,
)
def test_pieces_have_rows_of_memory_and_of_the_target(
    shape: tuple[int, ...], order: tuple[int, ...], axis: int, whole: bool
) -> None:
    data = numbers(shape)
    source = xt.asarray(data) if shape[0] > 200 else xt.transpose(xt.asarray(data), order)
    y = xt.zeros(source.shape)
    if shape[0] > 200:
        y = xt.transpose(xt.zeros([shape[k] for k in order]), tuple(np.argsort(order)))
    value = (source - xt.mean(source, axis, keepdims=True)) / xt.std(source, axis, keepdims=True)
    plan = xt.plan(y, value)
    assert ("whole[" in plan.nest) == whole
    assert in_pieces(plan) > 1
    plan.run()
    wide = source.numpy().astype(np.float64)
    want = (wide - wide.mean(axis, keepdims=True)) / wide.std(axis, keepdims=True)
    np.testing.assert_allclose(y.numpy(), want, 1e-4, 1e-5)


LAST = """
import sys, numpy as np, exprten as xt
from exprten_jit import beforehand
from exprten.statement import pieces
beforehand.ROOM, beforehand.WHOLE_ROOM, pieces.FAR = int(sys.argv[1]), 256, 0
data = np.random.default_rng(0).standard_normal((3, 12, 40, int(sys.argv[2]))).astype(np.float32)
x = xt.transpose(xt.asarray(data), (0, 1, 3, 2))
less = x - xt.max(x, 1, keepdims=True)
target, value = xt.empty(x.shape), less if sys.argv[3] == "less" else xt.exp(less) / xt.sum(xt.exp(less), 1, keepdims=True)
target[...] = value
want = data.astype(np.float64) - data.max(1, keepdims=True)
want = want if sys.argv[3] == "less" else np.exp(want) / np.exp(want).sum(1, keepdims=True)
np.testing.assert_allclose(target.numpy(), want.transpose(0, 1, 3, 2), 1e-4, 1e-5)
"""


@pytest.mark.parametrize("columns", [496, 500])
@pytest.mark.parametrize(
    ("name", "room"),
    [("less", 11 * 480), ("less", 18 * 480), ("less", 20 * 480), ("softmax", 10 * 960), ("softmax", 11 * 960)],
)
def test_a_last_piece_of_few_elements_is_not_computed_as_the_others(name: str, room: int, columns: int) -> None:
    """What turns squares reads whole ones, and kernels for few columns are for no less than half as many: not for the last 6 of 496, 10 at a time. In a
    process of its own, as kernels with less room are for nobody else.
    """
    environment = {**os.environ, "EXPRTEN_CACHE": "0", "EXPRTEN_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, PATHS), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", LAST, str(room), str(columns), name]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_what_reads_other_folds_is_not_arranged_as_what_reads_none() -> None:
    """The sum over two axes is one over rows inside of another, with the axes of the greatest of each row, but reads folds of other axes."""
    data = numbers((17, 22, 12))
    x = xt.transpose(xt.asarray(data), (1, 0, 2))
    y = xt.transpose(xt.empty((12, 17, 22)), (2, 1, 0))
    y[...] = softmax(x, 2) / (1 + xt.abs(xt.sum(softmax(x, 0), (1, 2), keepdims=True)))
    wide = data.transpose(1, 0, 2).astype(np.float64)
    rows, columns = (np.exp(wide - wide.max(k, keepdims=True)) for k in (2, 0))
    shares = (columns / columns.sum(0)).sum((1, 2), keepdims=True)
    np.testing.assert_allclose(y.numpy(), rows / rows.sum(2, keepdims=True) / (1 + shares), 1e-5)


@pytest.mark.parametrize("function", [xt.sum, xt.max, xt.argmax])
def test_folds_alone_are_in_pieces_that_are_read_on_and_on(
    function: Callable[..., xt.Expr], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = llvm_run.machine()  # one that waits for lines turns rows of 11 with others, whatever their number
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, waits=False))
    monkeypatch.setattr(whole, "stack_bytes", lambda: 0)
    forget()
    x = xt.transpose(xt.empty((317, 11, 48, 100)), (3, 1, 2, 0))
    plan = xt.plan(xt.empty((100, 11, 317), function(x, 2).dtype), function(x, 2))
    assert (
        in_pieces(plan) > 16
    )  # some of 317, the last of which begins earlier, as few would be left; four of 100 are a part of a line
    (piece,) = plan._code.nest.pieces
    assert piece.alike


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("reducer", ["max", "argmax", "sum"])
@pytest.mark.parametrize("flipped", [(0,), (1,), (2,), (0, 3), (0, 1, 3), (3,)], ids=str)
def test_rows_with_others_between_them_are_folded_before_they_are_stored(
    flipped: tuple[int, ...], reducer: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = np.rint(numbers((131, 2, 7, 31)))
    view = tuple(slice(None, None, -1 if k in flipped else 1) for k in range(4))
    x, want = xt.asarray(data)[view], getattr(data[view], reducer)(3)
    value = getattr(xt, reducer)(x, 3)
    monkeypatch.setattr(pieces, "MEMORY", 1 << 12)
    forget()
    with xt.options(num_threads=threads):
        plan = xt.plan(xt.full(want.shape, 7, value.dtype), value)
        assert ("known0" in plan.nest) == (flipped != (3,)), plan.nest
        np.testing.assert_array_equal(plan.run().numpy(), want)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("reducer", ["max", "argmax", "sum"])
@pytest.mark.parametrize(("room", "pieces"), [(1 << 14, 6), (1 << 13, 10)])
def test_a_last_piece_that_would_be_short_begins_in_the_one_before(
    room: int, pieces: int, reducer: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.rint(numbers((71, 128, 33)))
    given = xt.transpose(xt.asarray(x), (1, 0, 2))
    monkeypatch.setattr(beforehand, "ROOM", room)
    forget()
    with xt.options(num_threads=threads):
        value = getattr(xt, reducer)(given, 2)
        plan = xt.plan(xt.full(value.shape, 7, value.dtype), value)
        assert in_pieces(plan) == pieces
        assert all(piece.alike for piece in plan._code.nest.pieces)
        np.testing.assert_array_equal(plan.run().numpy(), getattr(x.transpose(1, 0, 2), reducer)(2))
        added = xt.plan(xt.full(value.shape, 7, value.dtype), value, "add")
        assert not any(piece.alike for piece in added._code.nest.pieces)
        np.testing.assert_array_equal(added.run().numpy(), 7 + getattr(x.transpose(1, 0, 2), reducer)(2))


def test_what_is_read_where_it_is_stored_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    x = numbers((71, 128, 33))
    monkeypatch.setattr(beforehand, "ROOM", 1 << 14)
    for order in ((1, 0, 2), (2, 0, 1), (0, 2, 1)):
        forget()
        y = xt.transpose(xt.asarray(x.copy()), order)
        plan = xt.plan(y, y - xt.max(y, 2, keepdims=True))
        assert not any(piece.alike for piece in plan._code.nest.pieces)
        moved = x.transpose(order)
        np.testing.assert_array_equal(plan.run().numpy(), moved - moved.max(2, keepdims=True))


@pytest.mark.parametrize("dtype", ["float32", "int16", "float16"])
@pytest.mark.parametrize("name", ["max", "argmin", "count_nonzero"])
@pytest.mark.parametrize(
    ("rows", "folded", "columns"), [(64, 2, 156), (100, 8, 130), (33, 3, 161), (40, 5, 158), (64, 2, 130)]
)
def test_pieces_of_several_lengths_have_no_kernel_for_one(
    rows: int, folded: int, columns: int, name: str, dtype: str
) -> None:
    """Columns that are written out are as many in each piece."""
    values = np.random.default_rng(0).integers(0, 6, (rows, folded, columns)).astype(dtype)
    for backwards in (1, -1):
        for order in ((2, 0, 1), (2, 1, 0)):
            turned, axis = values[:, ::backwards].transpose(order), order.index(1)
            x = xt.transpose(xt.asarray(values)[:, ::backwards], order)
            want = getattr(np, name)(turned, axis)
            target = xt.zeros(want.shape, dtype=want.dtype)
            target[...] = getattr(xt, name)(x, axis)
            assert np.array_equal(target.numpy(), want)
