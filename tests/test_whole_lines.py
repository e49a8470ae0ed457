"""Large targets that several short axes make up, stored past the caches: whole lines from tile to tile, wherever a target begins."""

import numpy as np
import pytest
from strategies import assert_same_bits

import exprten as xt

ALIGNED, MARK = 64, -7.0
CASES = (  # what is read, and the order of its axes in the target
    ((3000, 33, 23), (1, 0, 2)),  # rows of 23 elements are moved
    ((9000, 48, 6), (1, 0, 2)),
    ((6, 128, 2800), (2, 1, 0)),  # turned
    ((8000, 24, 11), (2, 1, 0)),
    ((4, 128, 4200), (2, 1, 0)),  # rows of a tile are whole lines
    ((2100, 64, 16), (1, 0, 2)),
    ((20, 11, 10000), (2, 1, 0)),  # rows of a tile are rows of the target, which follow each other
    ((33, 6, 11000), (2, 1, 0)),
)


@pytest.mark.parametrize(("shape", "order"), CASES)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("first", [0, 1, 15])
def test_whole_lines_are_stored_wherever_a_target_begins(
    shape: tuple[int, ...], order: tuple[int, ...], threads: int, first: int
) -> None:
    _assert_stored(shape, order, threads, first, np.dtype(np.float32))


@pytest.mark.parametrize(("shape", "dtype"), [((11, 16, 48000), "int8"), ((11, 12, 8000), "float64")])
def test_lines_of_all_sizes_are_stored_whole(shape: tuple[int, ...], dtype: str) -> None:
    _assert_stored(shape, (2, 1, 0), 2, 5, np.dtype(dtype))


def _assert_stored(shape: tuple[int, ...], order: tuple[int, ...], threads: int, first: int, dtype: np.dtype) -> None:
    source = (np.arange(np.prod(shape)) % 113).astype(dtype).reshape(shape)
    want = np.ascontiguousarray(source.transpose(order)) * dtype.type(3)
    room = np.full(want.size + 3 * ALIGNED, MARK, dtype)
    begin = (-room.ctypes.data % ALIGNED) // dtype.itemsize + ALIGNED // dtype.itemsize + first
    target = room[begin : begin + want.size].reshape(want.shape)
    with xt.options(num_threads=threads):
        xt.asarray(target)[...] = xt.transpose(xt.asarray(source), order) * dtype.type(3)
    assert_same_bits(target, want)
    assert (room[:begin] == MARK).all() and (room[begin + want.size :] == MARK).all()


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((4, 31, 6, 3000), (2, 3, 1, 0)),
        ((4, 45, 13000), (2, 1, 0)),
        ((5, 100, 4500), (2, 1, 0)),
        ((1100, 2000), (1, 0)),
    ],
)
@pytest.mark.parametrize("first", [0, 3])
def test_lines_of_what_is_computed_along_a_source_are_stored_whole(
    shape: tuple[int, ...], order: tuple[int, ...], first: int
) -> None:
    """A softmax along rows of the source, stored across them, has the bits that it has as it lies."""
    source = xt.asarray((np.arange(np.prod(shape)) % 113).astype(np.float32).reshape(shape))
    room = np.full(np.prod(shape) + 3 * ALIGNED, MARK, np.float32)
    begin = (-room.ctypes.data % ALIGNED) // 4 + ALIGNED // 4 + first
    target = room[begin : begin + np.prod(shape)].reshape([shape[k] for k in order])
    powers = xt.exp(source - xt.max(source, -1, keepdims=True))
    value = powers / xt.sum(powers, -1, keepdims=True)
    for threads in (1, 3):
        room[:] = MARK
        with xt.options(num_threads=threads):
            xt.transpose(xt.asarray(target), tuple(np.argsort(order)))[...] = value
        assert_same_bits(target, np.ascontiguousarray(xt.evaluate(value).numpy().transpose(order)))
        assert (room[:begin] == MARK).all() and (room[begin + np.prod(shape) :] == MARK).all()


def test_lines_are_whole_across_tiles_and_fenced_once() -> None:
    source, target = xt.ones((3000, 33, 23)), xt.empty((33, 3000, 23))
    plan = xt.plan(target, xt.transpose(source, (1, 0, 2)) * 3)
    assert "whole lines" in str(plan.nest)
    if "nontemporal" in plan.llvm:
        assert plan.llvm.count("call void @llvm.x86.sse.sfence") == 1


@pytest.mark.parametrize("first", range(0, 24, 4))
def test_two_lines_at_a_time_need_one_to_begin_with(first: int) -> None:
    """What `argmax` stores is twice as wide as what it is made of: two lines for a long register."""
    values = (np.arange(1 << 21) % 11 % 5).astype(np.float32).reshape(-1, 2)
    room = np.full(len(values) + 3 * ALIGNED, -1, np.int64)
    begin = (-room.ctypes.data % (2 * ALIGNED)) // 8 + first
    target = room[begin : begin + len(values)]
    plan = xt.plan(xt.asarray(target), xt.argmax(xt.asarray(values), 1))
    plan.run()
    np.testing.assert_array_equal(target, values.argmax(1))
    assert (room[:begin] == -1).all() and (room[begin + len(values) :] == -1).all()
    past = [line for line in plan.llvm.splitlines() if "nontemporal" in line]
    assert not any("align 128" in line for line in past)


@pytest.mark.parametrize(("rows", "columns"), [(16, 275), (24, 183)])
def test_rows_of_less_than_a_line_are_joined_to_no_more_than_there_is(rows: int, columns: int) -> None:
    values = np.random.default_rng(0).random((rows, 1000, columns)).astype(np.float16)
    source, room = xt.asarray(values), np.full(values.size + ALIGNED, MARK, np.float16)
    made = xt.exp(source - xt.max(source, 1, keepdims=True))
    want = xt.evaluate(made / xt.sum(made, 1, keepdims=True)).numpy()
    for first in range(0, 32, 5):
        room[...] = MARK
        target = room[first : first + values.size].reshape((1000, columns, rows))
        xt.transpose(xt.asarray(target), (2, 0, 1))[...] = made / xt.sum(made, 1, keepdims=True)
        assert_same_bits(target.transpose(2, 0, 1), want)
        assert (room[:first] == MARK).all() and (room[first + values.size :] == MARK).all(), first
