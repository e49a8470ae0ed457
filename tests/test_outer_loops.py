"""The order of outer loops: the one in which least is brought from memory, with the bits that any other has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from strategies import assert_same_bits
from test_drawn_blocks import forget, softmax, stored
from test_folds_apart import numbers
from test_wholes import normalised

import exprten as xt
from exprten.statement import rest, traffic, walk

Fold = Callable[[xt.Expr, int], xt.Expr]
ORDER = (2, 0, 1, 3)


def loops(value: xt.Expr, mode: str = "write") -> list[str]:
    """What the loops of a statement go over, the outermost first."""
    forget()
    lines = [line.split() for line in xt.plan(xt.empty(value.shape, value.dtype), value, mode).nest.splitlines()]
    return [f"{words[0]} {words[1 + (words[0] == 'columns')]}" for words in lines if words[0] in ("for", "columns")]


@pytest.mark.parametrize(("rows", "outer"), [(256, "for i2"), (64, "for i0")], ids=["in memory", "in a cache"])
def test_loops_between_which_lines_stay_in_the_cache(rows: int, outer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 17 elements of rows of 544, in 16 rows far apart, the rest is read by the loop inside."""
    monkeypatch.setattr(walk, "run_on_inside", lambda axes, *_: axes)
    monkeypatch.setattr(rest, "is_better_apart", lambda _: False)
    x = xt.transpose(xt.empty((16, rows, 32, 17)), ORDER)
    assert loops(normalised(x, 1))[0] == outer


def test_columns_run_on_inside_of_other_loops() -> None:
    x = xt.transpose(xt.empty((16, 1927, 32, 17)), ORDER)
    assert loops(normalised(x, 1), "add")[:2] == ["for i2", "columns i0i3"]


@pytest.mark.parametrize("dtype", [np.float32, np.int16])
def test_short_axes_run_inside_of_tiles(dtype: type) -> None:
    """Of rows of 168 elements a tile would read 21 at a time, in 8 passes."""
    memory = numbers((2**16, 8, 3, 7), dtype)
    x, y = xt.transpose(xt.asarray(memory), (3, 2, 1, 0)), xt.empty((7, 3, 8, 2**16), dtype)
    lines = [line.strip().split()[:3] for line in xt.plan(y, x + 1).nest.splitlines()]
    found = [(name, where) for name, where, *_ in lines if name == "for"]
    assert found[:3] == [("for", "i3"), ("for", "i2"), ("for", "i1")]
    for threads in (1, 2):
        with xt.options(num_threads=threads):
            y[...] = x + 1
        assert_same_bits(y.numpy(), memory.transpose(3, 2, 1, 0) + dtype(1), str(dtype))


@pytest.mark.covering(2)
@pytest.mark.parametrize("function", [normalised, softmax, xt.sum, xt.max, xt.argmax])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [
        ((5, 70, 7, 17), ORDER, 1),
        ((5, 70, 7, 17), (1, 2, 0, 3), 2),
        ((3, 90, 6, 2), (0, 2, 1, 3), 0),
        ((6, 70, 17, 30), (1, 3, 2, 0), 1),
        ((5, 3, 40, 101), (3, 0, 2, 1), 1),
    ],
    ids=str,
)
def test_another_order_has_the_same_bits(
    function: Fold,
    dtype: type,
    shape: tuple[int, ...],
    order: tuple[int, ...],
    axis: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if dtype is np.int16 and function in (normalised, softmax):
        dtype = np.float16
    x = xt.transpose(xt.asarray(numbers(shape, dtype)), order)
    value = partial(function, x, axis)
    straight = [*range(value().ndim)]
    turned = straight[::-1]
    for lie in (straight, turned):
        with monkeypatch.context() as without:
            without.setattr(walk, "least_traffic", lambda axes, *_: axes)
            without.setattr(rest, "is_better_apart", lambda _: False)
            want = stored(value, lie, "write")
        with monkeypatch.context() as small:
            small.setattr(traffic, "FAR_BYTES", 0)
            small.setattr(traffic, "CACHE", 8 << 10)
            small.setattr(traffic, "LESS", 1.0)
            every = [(None, 1), (128, 2), (256, 3)]
            found = [stored(value, lie, "write", bits, threads) for bits, threads in every]
            small.setattr(rest, "is_better_apart", lambda _: False)
            found += [stored(value, lie, "write", bits, threads) for bits, threads in every]
        for each in found:
            assert_same_bits(each, want, f"{dtype.__name__}{shape}")
