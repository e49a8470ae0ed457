"""Statements as a whole from memory: pieces that store whole lines, and sources that are brought to the order of the target first."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from strategies import assert_same_bits, place
from test_drawn_blocks import forget, softmax
from test_folds_apart import in_pieces, numbers
from test_wholes import normalised

import exprten as xt
from exprten.statement import pieces, rest, whole

ROWS, SCRATCH, BROUGHT, COPIED = "lines of rows", "lines by scratch", "brought", "copied"
LAYOUTS = (
    # source, its order, the folded axis, what is done
    ((4, 17, 20_000), (1, 0, 2), 0, ROWS),
    ((32, 6, 9_011), (1, 0, 2), 1, ROWS),
    ((7, 33, 5_003), (2, 0, 1), 1, SCRATCH),
    ((11, 24, 4_001), (2, 0, 1), 1, SCRATCH),  # rows of 264 elements, 16.5 lines
    ((493, 100, 17, 2), (3, 2, 0, 1), 1, BROUGHT),
    ((11, 15_001, 7), (2, 0, 1), 1, BROUGHT),
    ((6, 60_001, 4), (0, 2, 1), 0, BROUGHT),
    ((3_001, 16, 33), (1, 0, 2), 0, BROUGHT),  # the same rows
    ((7, 601, 19, 31), (2, 0, 3, 1), 1, COPIED),  # rows of 31 that are cut between five and six others
    ((501, 1024, 3), (1, 0, 2), 0, COPIED),  # three pages apart, but for a line more
)
FUNCTIONS = pytest.mark.parametrize("function", [softmax, normalised], ids=["softmax", "normalised"])


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where threads have 2 MiB of stack: there are many pieces of little."""
    least = min(whole.stack_bytes(), *whole.FAR_TIMES)
    monkeypatch.setattr(whole, "stack_bytes", lambda: least)


def what_is_done(plan: xt.Plan) -> str:
    """How the kernel of a new plan is scheduled."""
    found = plan.nest
    if "whole[" not in found:
        return "nothing"
    if not re.search(r"^ *whole\[.* = .*(-|/|scale)", found, re.MULTILINE):  # it is a copy
        return BROUGHT
    if not re.search(r"in 0\.\.\(?own", found):
        return COPIED
    return SCRATCH if "stored[" in found else ROWS


@pytest.mark.covering(1)
@pytest.mark.skipif(not whole.stack_bytes(), reason="threads have not the stack")
@pytest.mark.parametrize(("shape", "order", "axis", "what"), LAYOUTS, ids=str)
@FUNCTIONS
def test_pieces_from_memory_have_the_bits_of_loops(
    function: Callable[[xt.Expr, int], xt.Expr],
    shape: tuple[int, ...],
    order: tuple[int, ...],
    axis: int,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pieces, "MEMORY", 1 << 20)
    for dtype in ("float32", "float64"):
        x = xt.transpose(xt.asarray(numbers(shape, np.dtype(dtype))), order)
        made = xt.empty(x.shape, dtype)
        if dtype == "float32":
            plan = xt.plan(made, function(x, axis))
            assert what_is_done(plan) == what, plan.nest
            assert in_pieces(plan) > 3
            assert plan.recompute == xt.plan(xt.empty(shape), function(xt.ones(shape), order[axis])).recompute
            assert plan.scratch_bytes <= 1152 << 10
        with monkeypatch.context() as without:
            without.setattr(rest, "is_better_apart", lambda _: False)
            forget()
            made[...] = function(x, axis)
        for bits, threads in ((None, 1), (None, 3), (256, 2), (128, 1)):
            forget()
            into = place(np.zeros(x.shape, dtype))  # at any address, among elements that nothing may touch
            with xt.options(vector_bits=bits, num_threads=threads):
                xt.asarray(into.array)[...] = function(x, axis)
            assert_same_bits(into.array, made.numpy(), f"{dtype} {bits} {threads}")
            into.assert_untouched()


@pytest.mark.skipif(not whole.stack_bytes(), reason="threads have not the stack")
@pytest.mark.parametrize("shape", [(48, 100, 20, 54), (128, 40, 10, 70)], ids=str)
def test_what_would_be_stored_one_by_one_is_a_whole(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    x = xt.transpose(xt.asarray(numbers(shape)), (2, 1, 3, 0))
    y, z = xt.empty(x.shape), xt.empty(x.shape)
    y[...] = normalised(x, 1)
    monkeypatch.setattr(pieces, "MEMORY", 1 << 20)
    forget()
    plan = xt.plan(z, normalised(x, 1))
    assert what_is_done(plan) == COPIED
    assert in_pieces(plan) >= shape[2]
    assert_same_bits(plan.run().numpy(), y.numpy(), f"{shape}")


@pytest.mark.covering(1)
@FUNCTIONS
@pytest.mark.parametrize("first", range(1, 17, 5))
def test_rows_that_begin_within_a_line(
    function: Callable[[xt.Expr, int], xt.Expr], first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "MEMORY", 1 << 18)
    for shape, order, axis, _ in LAYOUTS:
        x = xt.transpose(xt.asarray(numbers(shape)), order)
        memory = xt.full((x.size + 32,), 7.0)
        target = memory[first : first + x.size].reshape(x.shape)
        target[...] = function(x, axis)
        want = xt.evaluate(function(x, axis))
        assert_same_bits(target.numpy(), want.numpy(), f"{shape}")
        rim = np.concatenate([memory.numpy()[:first], memory.numpy()[first + x.size :]])
        assert (rim == 7).all()


def test_a_source_is_brought_where_it_alone_has_all_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MEMORY", 1 << 18)
    data, scale = numbers((11, 15_001, 7)), numbers((11, 1, 7))
    x, s = (xt.transpose(xt.asarray(a), (2, 0, 1)) for a in (data, scale))
    y = xt.empty(x.shape)
    scaled = xt.plan(y, (x - xt.mean(x, 1, keepdims=True)) * s)
    assert (what_is_done(scaled) == BROUGHT) == bool(whole.stack_bytes())
    want = (data - data.mean(0, keepdims=True, dtype=np.float64)) * scale
    np.testing.assert_allclose(scaled.run().numpy(), want.transpose(2, 0, 1), 1e-4, 1e-6 * np.abs(want).max())
    both = xt.plan(y, normalised(x, 1) * xt.transpose(xt.asarray(numbers((11, 15_001, 7))), (2, 0, 1)))
    assert what_is_done(both) != BROUGHT
    assert what_is_done(xt.plan(y, normalised(x, 0))) != BROUGHT  # its rows are folded


@pytest.mark.parametrize(("stack", "most"), [(8 << 20, 2 << 20), (4 << 20, 1 << 20), (1 << 20, 128 << 10)])
def test_pieces_are_as_long_as_the_stack_of_threads_lets_them_be(
    stack: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "stack_bytes", lambda: stack)
    forget()
    data = numbers((4200, 1003))
    x = xt.transpose(xt.asarray(data))
    plan = xt.plan(xt.empty(x.shape), softmax(x, 0))
    assert in_pieces(plan) >= -(-data.nbytes // most)
    assert most // 2 < plan.scratch_bytes <= 1.2 * most + (64 << 10)
    want = np.exp(data - data.max(1, keepdims=True), dtype=np.float64)
    np.testing.assert_allclose(plan.run().numpy(), (want / want.sum(1, keepdims=True)).T, 1e-5)


@pytest.mark.parametrize(("stack", "many"), [(8 << 20, 3), (4 << 20, 5), (1 << 20, 38)])
def test_folds_that_are_stored_in_another_order_have_room_as_the_stack_lets_them(
    stack: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole, "stack_bytes", lambda: stack)
    forget()
    data = np.rint(numbers((100, 3001, 15)))
    x = xt.transpose(xt.asarray(data), (1, 0, 2))
    plan = xt.plan(xt.empty((3001, 100), "int64"), xt.argmax(x, 2))
    assert in_pieces(plan) == many
    np.testing.assert_array_equal(plan.run().numpy(), data.argmax(2).T)
    with xt.options(num_threads=3):
        np.testing.assert_array_equal(xt.evaluate(xt.argmax(x, 2)).numpy(), data.argmax(2).T)


def test_a_small_stack_has_no_lined_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MEMORY", 1 << 20)
    monkeypatch.setattr(whole, "stack_bytes", lambda: 0)
    forget()
    for shape, order, axis, _ in LAYOUTS:
        x = xt.transpose(xt.asarray(numbers(shape)), order)
        plan = xt.plan(xt.empty(x.shape), normalised(x, axis))
        assert what_is_done(plan) in ("nothing", COPIED)
        assert plan.scratch_bytes <= 288 << 10
