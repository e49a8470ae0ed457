"""Batches of small blocks: drawn statements have the same bits as without them, at every width, for any threads; and named ones no loop for
few elements, nor a value that is computed twice.
"""

import random
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from strategies import DTYPES, HALVES, SMALL, assert_same_bits
from test_drawn_folds import laid_out
from test_drawn_types import COMPLEX, OPTIONS, Drawn, operands_of

import exprten as xt
from exprten.statement import blocks, direct, launch

SIDES = "2x2 3x2 2x3 3x3 4x4 5x3 2x8 4x2 2x2x3 2x1x4 3x5 7x2 8x3 4x6 2x16 5x2x3 5x7 7x5 3x12 9x6 4x3x3 16x3"
BLOCKS = [tuple(map(int, sides.split("x"))) for sides in SIDES.split()]


def data_of(rng: random.Random, dtype: np.dtype, kind: str) -> list[np.ndarray]:
    """Operands of a long axis, short ones, and perhaps another."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    shape = [rng.choice((16, 17, 33, 70, 130)), *rng.choice(BLOCKS)]
    shape += [rng.choice((2, 18))] if rng.random() < 0.3 else []
    if rng.random() < 0.5:
        rng.shuffle(shape)
    return operands_of(rng, numbers, shape, dtype, kind, 0.4)


def forget() -> None:
    """What is kept of statements before: blocks are turned off behind its back."""
    launch._launches.clear()
    direct._made.clear()
    direct._optioned.clear()


def stored(
    value: Callable[[], xt.Expr], order: list[int], mode: str, bits: int | None = None, threads: int = 1
) -> np.ndarray:
    """What a target of ones becomes whose axes lie in this order, by a statement that is new."""
    forget()
    with xt.options(vector_bits=bits, num_threads=threads, max_recompute=1e9):
        made = value()
        y = xt.transpose(xt.ones([made.shape[k] for k in order], dtype=made.dtype), tuple(np.argsort(order)))
        xt.assign(y, mode, made)
    return y.numpy().copy()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("seed", range(48))
def test_blocks_are_what_loops_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    dtype = rng.choice((*HALVES, *COMPLEX, *(np.dtype("float32"),) * 4, *(d for d in DTYPES if d.kind != "b")))
    kind = "c" if dtype in COMPLEX else "i" if dtype.kind in "iu" else "f"
    data, depth, draw = data_of(rng, dtype, kind), rng.randint(1, 3), rng.randrange(1 << 30)
    axes, what = data[0].ndim, f"{seed}: {dtype}{data[0].shape}"
    straight = list(range(axes))
    lie = [
        (straight if rng.random() < 0.5 else rng.sample(straight, axes), rng.choice(("packed", "packed", "reversed")))
        for _ in data
    ]
    order, mode = straight if rng.random() < 0.5 else rng.sample(straight, axes), rng.choice(("write", "write", "add"))

    def value() -> xt.Expr:
        return Drawn(draw, xt, [laid_out(x, *how) for x, how in zip(data, lie, strict=True)], kind).whole(depth)

    found = [stored(value, order, mode, *how) for how in OPTIONS]
    monkeypatch.setattr(blocks, "MOST", 0)
    want = stored(value, order, mode)
    for y, how in zip(found, OPTIONS, strict=True):
        assert_same_bits(y, want, f"{what}, {how}")


def softmax(x: xt.Expr, axis: int) -> xt.Expr:
    powers = xt.exp(x - xt.max(x, axis, keepdims=True))
    return powers / xt.sum(powers, axis, keepdims=True)


@pytest.mark.parametrize(
    ("shape", "order", "axis", "loops"),
    [
        ((100, 3, 2), (0, 1, 2), 1, 1),
        ((100, 4, 4), (0, 1, 2), 1, 1),
        ((100, 8, 3), (0, 1, 2), 1, 1),
        ((100, 2, 2), (1, 2, 0), 0, 1),
        ((100, 3, 2), (2, 1, 0), 1, 1),
        ((7, 100, 3, 2), (0, 3, 1, 2), 3, 2),
    ],
)
def test_what_is_folded_in_a_block_has_no_loop(
    shape: tuple[int, ...], order: tuple[int, ...], axis: int, loops: int
) -> None:
    x = xt.transpose(xt.asarray(np.random.default_rng(0).standard_normal(shape)), order)
    a, y = xt.evaluate(xt.max(x, axis, keepdims=True)), xt.zeros(x.shape, "float64")
    for value in (softmax(x, axis), x - a):
        plan = xt.plan(y, value)
        assert str(plan.nest).count("for i") == loops
        assert (plan.recompute, plan.scratch_bytes) == (1, 0)


@pytest.mark.parametrize(("shape", "axis"), [((70, 17, 2), 1), ((33, 23, 3), 1), ((8, 9, 5, 4), 1)], ids=str)
@pytest.mark.parametrize("function", [softmax, lambda x, axis: x - xt.mean(x, axis, keepdims=True)])
def test_rows_of_a_few_columns_are_a_block_where_vectors_are_small(
    function: Callable[[xt.Expr, int], xt.Expr], shape: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = xt.asarray(np.random.default_rng(0).standard_normal(shape).astype(np.float32))

    def value() -> xt.Expr:
        return function(x, axis)

    monkeypatch.setattr(blocks, "machine", lambda: SMALL)
    assert str(xt.plan(xt.empty(shape), value()).nest).count("for i") == len(shape) - 2
    found = [stored(value, list(range(len(shape))), "write", *how) for how in OPTIONS]
    monkeypatch.setattr(blocks, "MOST", 0)
    want = stored(value, list(range(len(shape))), "write")
    for y, how in zip(found, OPTIONS, strict=True):
        assert_same_bits(y, want, f"{shape}, {how}")


def test_a_small_vector_is_filled_by_a_short_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight elements, where no longer axis runs on: what is folded, a few of them, has no loops of its own."""
    data = np.random.default_rng(0).integers(0, 9, (30, 13, 2, 5)).astype(np.float32)
    x, y = xt.asarray(data)[:, :12], xt.empty((30, 12, 5), "float32")
    monkeypatch.setattr(blocks, "machine", lambda: SMALL)
    forget()
    assert re.findall("for (i.)|(strip)", xt.plan(y, xt.max(x, 2)).nest) == [("i0", ""), ("i1", "")]
    for bits in (None, 256, 128):
        with xt.options(vector_bits=bits):
            y[...] = xt.max(x, 2)
        np.testing.assert_array_equal(y.numpy(), data[:, :12].max(2))


@pytest.mark.parametrize(
    ("shape", "squares"),
    [
        ((3, 32, 70), True),
        ((3, 70, 32), True),
        ((3, 24, 70), True),
        ((3, 23, 70), False),
        ((3, 70, 31), False),
        ((3, 32, 15), False),
    ],
    ids=str,
)
def test_rows_that_fill_squares_are_no_block(
    shape: tuple[int, ...], squares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    x, y = xt.transpose(xt.asarray(data), (0, 2, 1)), xt.empty([shape[k] for k in (0, 2, 1)])
    assert ("squares" in xt.plan(y, x * 3).nest) == squares
    monkeypatch.setattr(blocks, "FAR", 0)
    forget()
    assert ("squares" in xt.plan(y, x * 3).nest) == (squares or min(shape[1:]) > blocks.FAR_ROWS)
    y[...] = x * 3
    np.testing.assert_array_equal(y.numpy(), (data * np.float32(3)).transpose(0, 2, 1))


@pytest.mark.covering(2)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize("flips", [(-1, 1, 1), (-1, -1, 1), (-1, 1, -1), (1, -1, 1), (1, 1, -1), (-1, -1, -1)])
@pytest.mark.parametrize("shape", [(33, 7, 7), (40, 4, 3), (70, 5, 3), (35, 2, 11), (83, 3, 8)])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0)])
def test_blocks_that_lie_backwards(
    order: tuple[int, ...], shape: tuple[int, ...], flips: tuple[int, ...], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(len(dtype)).uniform(-9, 9, shape).astype(dtype)
    view = xt.asarray(x)[tuple(slice(None, None, step) for step in flips)]
    floats = x.dtype.kind == "f"
    values: list[Callable[[int], xt.Expr]] = [lambda axis: xt.sum(view, axis), lambda axis: xt.max(view, axis)]
    values += (
        [lambda axis: softmax(view, axis), lambda axis: view - xt.mean(view, axis, keepdims=True)] if floats else []
    )
    every = [(value, axis) for value in values for axis in (1, 2)]

    def found() -> list[np.ndarray]:
        made = [(value(axis).ndim, partial(value, axis)) for value, axis in every]
        return [stored(value, [k for k in order if k < ndim], "write") for ndim, value in made]

    with_blocks = found()
    monkeypatch.setattr(blocks, "MOST", 0)
    for (_, axis), got, want in zip(every, with_blocks, found(), strict=True):
        assert_same_bits(got, want, f"{shape} {flips} {axis} {order} {dtype}")


def test_few_columns_are_folded_from_their_last_row() -> None:
    x = np.random.default_rng(1).uniform(-9, 9, (48, 227, 3)).astype("float32")
    view = xt.transpose(xt.asarray(x)[::-1, ::-1], (1, 0, 2))
    value = (view - xt.mean(view, 0, keepdims=True)) / xt.sqrt(xt.var(view, 0, keepdims=True))
    want = x[::-1, ::-1].transpose(1, 0, 2).astype("float64")
    want = (want - want.mean(0, keepdims=True)) / want.std(0, keepdims=True)
    np.testing.assert_allclose(stored(lambda: value, [0, 1, 2], "write"), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("columns", [3, 5, 8, 16])
def test_columns_that_lie_backwards_come_to_the_same(columns: int) -> None:
    """An axis that is not folded is walked forwards in what is read, if the other one comes from its end, too."""
    x = np.random.default_rng(columns).uniform(-9, 9, (500, columns)).astype("float32")
    up, down = xt.asarray(x)[::-1], xt.asarray(x)[::-1, ::-1]
    for value in (softmax, lambda x, axis: x / xt.sum(xt.abs(x), axis, keepdims=True)):
        want = stored(partial(value, up, 0), [1, 0], "write")
        assert_same_bits(stored(partial(value, down, 0), [1, 0], "write"), want[:, ::-1], str(columns))
