"""Statements whose operands fill memory and lie in another order than the target: tiles that are put together in its order."""

import random

import numpy as np
import pytest
from strategies import assert_same_bits

import exprten as xt

ALIGNED, MARK = 64, 7
CASES = (  # what is read, and the order of its axes in the target
    ((17, 5, 5400, 5), (2, 1, 0, 3)),  # units that are read as they are stored, two axes after each other
    ((7, 30100, 11), (1, 0, 2)),
    ((3, 22500, 33), (1, 0, 2)),
    ((17, 62000, 2), (1, 0, 2)),
    ((100, 7010, 3), (1, 0, 2)),
    ((8, 45000, 6), (1, 0, 2)),  # a few lines of these
    ((9, 901, 260), (1, 0, 2)),  # units that are too long
    ((8, 1821, 6, 24), (1, 0, 3, 2)),  # units that are turned
    ((128, 1366, 3, 4), (1, 0, 3, 2)),
    ((6, 8, 22000, 2), (2, 0, 3, 1)),
    ((11, 6810, 7, 4), (2, 1, 3, 0)),  # as they follow each other in memory in several rows
    ((910, 31, 11, 7), (2, 1, 0, 3)),  # and are read as they are stored
    ((1000, 17, 30, 5), (2, 1, 0, 3)),
    ((100, 3000, 7), (2, 1, 0)),  # short rows
    ((1300, 33, 7, 7), (3, 0, 2, 1)),
    ((16, 22000, 6), (2, 1, 0)),
    ((327, 6500), (1, 0)),  # rows of the target that are no lines
    ((1000, 2111), (1, 0)),
    ((8, 33, 8000), (2, 1, 0)),
    ((12, 128, 134, 13), (1, 0, 3, 2)),  # of blocks
    ((31, 12, 254, 24), (1, 0, 3, 2)),
    ((128, 5500, 3), (1, 0, 2)),  # runs of some of many units
    ((24, 24, 1217, 3), (2, 1, 0, 3)),  # of two axes
    ((8, 16, 3277, 5), (2, 1, 0, 3)),
    ((64, 10923, 3), (1, 0, 2)),  # of those that share sets of a cache
    ((24, 6, 4855, 3), (2, 1, 3, 0)),  # of those that are turned
    ((40, 1748, 5, 12), (1, 0, 3, 2)),
    ((128, 964, 17), (2, 1, 0)),  # squares of such
    ((380, 33, 24, 7), (0, 2, 1, 3)),  # small ones, each of which is turned where it lies
    ((5001, 10, 17, 3), (0, 2, 1, 3)),
    ((700, 17, 33, 6), (0, 2, 1, 3)),
)


def of_ints(shape: tuple[int, ...], dtype: str, by: int = 113) -> np.ndarray:
    return (np.arange(np.prod(shape)) % by).astype(dtype).reshape(shape)


def stored(want: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray, slice]:
    """A target that begins with its `first` element in a line, and all of the memory around it."""
    size = want.dtype.itemsize
    room = np.full(want.size + 3 * ALIGNED, MARK, want.dtype)
    begin = (-room.ctypes.data % ALIGNED) // size + ALIGNED // size + first
    own = slice(begin, begin + want.size)
    return room[own].reshape(want.shape), room, own


def assert_all_stored(target: np.ndarray, want: np.ndarray, room: np.ndarray, own: slice) -> None:
    assert_same_bits(target, want)
    assert (room[: own.start] == MARK).all() and (room[own.stop :] == MARK).all()


@pytest.mark.parametrize(("shape", "order"), CASES)
@pytest.mark.parametrize(("threads", "bits", "first"), [(1, None, 0), (3, 256, 0), (1, 128, 5)])
def test_elements_are_stored_in_another_order(
    shape: tuple[int, ...], order: tuple[int, ...], threads: int, bits: int | None, first: int
) -> None:
    source = of_ints(shape, "float32")
    want = np.ascontiguousarray(source.transpose(order)) * np.float32(3)
    target, room, own = stored(want, first)
    with xt.options(num_threads=threads, vector_bits=bits):
        xt.asarray(target)[...] = xt.transpose(xt.asarray(source), order) * np.float32(3)
    assert_all_stored(target, want, room, own)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "int16", "uint8"])
@pytest.mark.parametrize(("shape", "order"), CASES[::2])
def test_elements_of_all_sizes_are(shape: tuple[int, ...], order: tuple[int, ...], dtype: str) -> None:
    longest = max(range(len(shape)), key=shape.__getitem__)
    least = (8 << 20) // np.dtype(dtype).itemsize + 1
    times = -(-least // int(np.prod(shape)))
    shape = tuple(n * times if k == longest else n for k, n in enumerate(shape))
    source = of_ints(shape, dtype)
    want = np.ascontiguousarray(source.transpose(order)) + np.dtype(dtype).type(3)
    target, room, own = stored(want, 1)
    xt.asarray(target)[...] = xt.transpose(xt.asarray(source), order) + np.dtype(dtype).type(3)
    assert_all_stored(target, want, room, own)


@pytest.mark.parametrize(("shape", "order"), CASES[::3])
def test_other_operands_may_lie_as_the_target_does_or_are_read_again(
    shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    source = of_ints(shape, "float32")
    turned = source.transpose(order)
    other, row = of_ints(turned.shape, "float32", 17), of_ints(turned.shape[-1:], "float32", 5)
    x, y, z = (xt.asarray(each) for each in (source, other, row))
    both, all_three = np.empty_like(other), np.empty_like(other)
    xt.asarray(both)[...] = xt.transpose(x, order) * y + 1
    xt.asarray(all_three)[...] = xt.transpose(x, order) * y + z
    assert_same_bits(both, turned * other + 1)
    assert_same_bits(all_three, turned * other + row)


@pytest.mark.parametrize(("shape", "order"), CASES[::3])
def test_several_operands_lie_so(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    source, more = of_ints(shape, "float32"), of_ints(shape, "float32", 31)
    target = np.empty(tuple(shape[k] for k in order), "float32")
    a, b = xt.asarray(source), xt.asarray(more)
    xt.asarray(target)[...] = xt.transpose(a, order) - xt.transpose(b, order)
    assert_same_bits(target, (source - more).transpose(order))


@pytest.mark.parametrize(("shape", "order"), CASES[::3])
def test_a_target_that_is_read_is_added_to(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    source = of_ints(shape, "float32")
    target = of_ints(tuple(shape[k] for k in order), "float32", 31)
    want = target + source.transpose(order)
    t = xt.asarray(target)
    t += xt.transpose(xt.asarray(source), order)
    assert_same_bits(target, want)


@pytest.mark.parametrize(("shape", "order"), CASES[1::4])
def test_rows_may_be_padded(shape: tuple[int, ...], order: tuple[int, ...]) -> None:
    *others, last = shape
    source = of_ints((*others, last + 3), "float32")[..., :last]
    goal = np.full((*(shape[k] for k in order[:-1]), shape[order[-1]] + 5), MARK, "float32")
    target = goal[..., :-5]
    xt.asarray(target)[...] = xt.transpose(xt.asarray(source), order) * np.float32(2)
    assert_same_bits(np.ascontiguousarray(target), np.ascontiguousarray(source.transpose(order) * np.float32(2)))
    assert (goal[..., -5:] == MARK).all()


@pytest.mark.parametrize(
    ("shape", "order", "text"),
    [
        (CASES[0][0], CASES[0][1], "for i0 in 0..n0, (2125 // "),
        (CASES[13][0], CASES[13][1], "turned from row to column"),
        (CASES[16][0], CASES[16][1], "for i0 in 0..n0, 16 at a time from top to bottom"),
        (CASES[21][0], CASES[21][1], "for i0 in 0..n0, 43 at a time from top to bottom"),
    ],
)
def test_tiles_are_planned(shape: tuple[int, ...], order: tuple[int, ...], text: str) -> None:
    source = xt.empty(shape, "float32")
    target = xt.empty(tuple(shape[k] for k in order), "float32")
    assert text in str(xt.plan(target, xt.transpose(source, order) * np.float32(3)).nest)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_no_thread_has_a_part_of_rows_that_are_stored_as_one(threads: int) -> None:
    source = of_ints((11, 985, 7, 34), "float32")[..., :31]  # most elements along the innermost axis
    want = np.ascontiguousarray(source.transpose(0, 2, 3, 1)) * np.float32(3)
    target, room, own = stored(want, 12)
    with xt.options(num_threads=threads):
        xt.asarray(target)[...] = xt.transpose(xt.asarray(source), (0, 2, 3, 1)) * np.float32(3)
    assert_all_stored(target, want, room, own)


@pytest.mark.parametrize("few", [(2, 2), (3, 2), (5, 3)])
def test_rows_of_a_few_elements_of_two_axes_are_made_along_what_is_read(few: tuple[int, int]) -> None:
    rows = 40
    x = of_ints((rows, *few, 2200000 // (rows * few[0] * few[1])), "float32", 29) / np.float32(8)
    e = np.exp(x - x.max(axis=0))
    want = (e / e.sum(axis=0)).transpose(0, 3, 2, 1)
    target = np.empty(want.shape, "float32")
    turned = xt.transpose(xt.asarray(x), (0, 3, 2, 1))
    exponentials = xt.exp(turned - xt.max(turned, axis=0, keepdims=True))
    xt.asarray(target)[...] = exponentials / xt.sum(exponentials, axis=0, keepdims=True)
    np.testing.assert_allclose(target, want, rtol=1e-5)


LENGTHS = (2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 17, 24, 31, 33, 48, 100, 128, 200, 300, 985)


@pytest.mark.parametrize("seed", range(40))
def test_drawn_orders_are_stored_by_several_threads(seed: int) -> None:
    draw = random.Random(seed)
    axes = draw.choice((2, 3, 4, 4))
    shape = [draw.choice(LENGTHS) for _ in range(axes - 1)]
    while np.prod(shape) > 300000:
        shape[shape.index(max(shape))] = draw.choice((2, 3, 5, 7))
    shape.insert(draw.randrange(axes), 2200000 // int(np.prod(shape)) + 1)
    order, pad = draw.sample(range(axes), axes), draw.choice((0, 0, 3))
    source = of_ints((*shape[:-1], shape[-1] + pad), "float32")[..., : shape[-1]]
    want = np.ascontiguousarray(source.transpose(order)) * np.float32(3)
    target, room, own = stored(want, draw.randrange(16))
    with xt.options(num_threads=draw.choice((1, 2, 3))):
        xt.asarray(target)[...] = xt.transpose(xt.asarray(source), order) * np.float32(3)
    assert_all_stored(target, want, room, own)
