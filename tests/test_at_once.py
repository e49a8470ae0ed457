"""Few elements along a source and along a target, in the caches, where vectors are small: they are turned in registers, computed and stored with no scratch. All is
NumPy's bits, for every number of them, in every type, and nothing beyond a target is stored.
"""

import itertools
import random

import numpy as np
import pytest
from strategies import DTYPES, HALVES, SMALL, assert_same_bits, place
from test_drawn_blocks import forget
from test_drawn_types import OPTIONS

import exprten as xt
from exprten.statement import lying

# shapes with two numbers of elements, and their orders: of units, of rows of a tile, of those of wide elements, and of rows that stay rows
TURNED = (
    (lambda a, b: (-(-4100 // (a * b)), a, b), (0, 2, 1)),
    (lambda a, b: (-(-1100 // (a * b)), 4, a, b), (1, 0, 3, 2)),
    (lambda a, b: (a, -(-4100 // (a * b)), 5, b), (2, 1, 3, 0)),
    (lambda a, b: (31, -(-400 // (a * b)), a, b), (1, 3, 0, 2)),
    (lambda a, b: (a * b, 33, 3, 2), (2, 1, 0, 3)),
    (lambda a, b: (a * b, 24, 8, 2), (2, 0, 1, 3)),
    (lambda a, b: (b, 70, 4, a), (2, 1, 0, 3)),
    (lambda a, b: (a, -(-4100 // (a * (b % 7 + 2))), b % 7 + 2), (1, 0, 2)),
    (lambda a, b: (-(-4100 // (a * (b % 3 + 2))), a, b % 3 + 2), (1, 0, 2)),
    (lambda a, b: (5, a, -(-1100 // (a * (b % 3 + 2))), b % 3 + 2), (2, 0, 1, 3)),
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lying, "machine", lambda: SMALL)
    forget()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("kind", range(len(TURNED)))
@pytest.mark.parametrize("seed", range(12))
def test_few_elements_that_lie_across_are_numpys(seed: int, kind: int) -> None:
    rng, (shape_of, order) = random.Random(seed), TURNED[kind]
    numbers, dtype = np.random.default_rng(seed), rng.choice((*HALVES, *(np.dtype("float32"),) * 4, *DTYPES))
    shape = shape_of(rng.randint(2, 17), rng.randint(2, 17))
    data = (numbers.standard_normal(shape) * 9).astype(dtype)
    check(data, order, rng)


@pytest.mark.parametrize("shape", [(31, 66, 16), (32, 64, 16), (17, 120, 16), (31, 66, 8), (33, 62, 4)], ids=str)
def test_rows_of_a_target_that_lie_in_the_same_sets_are_numpys(shape: tuple[int, ...]) -> None:
    """8,192 bytes apart, or a few less."""
    data = np.random.default_rng(5).standard_normal(shape).astype("float32")
    check(data, (2, 1, 0), random.Random(6))


def check(data: np.ndarray, order: tuple[int, ...], rng: random.Random) -> None:
    """Stored from one order to another, with and without reading the target, it is NumPy's, and nothing beyond the target changes."""
    numbers, dtype, x = np.random.default_rng(rng.randrange(1 << 30)), data.dtype, data.transpose(order)
    beside = (numbers.standard_normal(x.shape if rng.random() < 0.5 else x.shape[-1:]) * 9).astype(dtype)
    start = (numbers.standard_normal(x.shape) * 9).astype(dtype)
    sign = np.bitwise_or if dtype.kind == "b" else np.add
    for (bits, threads), how in itertools.product(OPTIONS, ("contiguous", "padded")):
        made = place(start, how)
        y, z = xt.asarray(made.array), xt.transpose(xt.asarray(data), order)
        with xt.options(vector_bits=bits, num_threads=threads):
            y[...] = sign(z, xt.asarray(beside))
            what = f"{dtype}{data.shape} {order}, {bits} bits, {threads} threads, {how}"
            assert_same_bits(made.array, sign(x, beside), what)
            y[...] = sign(y, z)  # which reads the target: nothing is stored twice
            assert_same_bits(made.array, sign(sign(x, beside), x), what)
            if dtype.kind != "b":
                y += z
                assert_same_bits(made.array, sign(sign(x, beside), x) + x, what)
        made.assert_untouched()


@pytest.mark.parametrize(
    ("shape", "order", "many"),
    [
        ((248, 4, 11, 3), (1, 0, 3, 2), 3),
        ((425, 7, 11), (0, 2, 1), 11),
        ((364, 5, 6, 3), (1, 3, 0, 2), 3),
        ((33, 165, 3, 2), (2, 1, 0, 3), 3),
        ((109, 100, 3), (1, 0, 2), 0),
        ((16, 682, 3), (1, 0, 2), 0),
    ],
)
def test_what_is_turned_passes_through_no_scratch(shape: tuple[int, ...], order: tuple[int, ...], many: int) -> None:
    x = xt.transpose(xt.ones(shape), order)
    y = xt.zeros(x.shape)
    for value, apart in ((x * 3, True), (y + x * 3, False), (xt.exp(xt.tanh(x)), False)):
        plan = xt.plan(y, value)
        where = f"in registers, where there are {many}," if many else "in registers or"
        assert (where in plan.nest) is apart
        assert plan.recompute == 1


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_have_parts_of_what_lies_across(threads: int) -> None:
    for shape, order in (((2, 40000, 3, 4), (1, 3, 0, 2)), ((40000, 7, 3), (0, 2, 1)), ((3, 9000, 11), (1, 2, 0))):
        data = np.random.default_rng(0).standard_normal(shape).astype("float32")
        x = xt.transpose(xt.asarray(data), order)
        y = xt.zeros(x.shape)
        with xt.options(num_threads=threads):
            y[...] = x * 3
        assert_same_bits(y.numpy(), data.transpose(order) * np.float32(3), f"{shape}, {threads} threads")
