"""Elements of one and two bytes that lie across short axes, in the caches: squares of them with few rows at the rim, rows of a few bytes that are put together in words,
axes that fill half a register. All is NumPy's bits; nothing beyond a source is read, nor stored beyond a target.
"""

import itertools
import random

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from guarded import Memories
from strategies import SMALL, assert_same_bits
from test_at_once import check
from test_drawn_blocks import forget

import exprten as xt
from exprten.statement import blocks, lying

SMALL_TYPES = [np.dtype(name) for name in ("uint8", "int8", "bool", "int16", "uint16", "float16")]

# shapes with two numbers of elements, and their orders
TURNED = (
    (lambda a, b: (a, -(-5000 // (a * b)), b), (2, 1, 0)),
    (lambda a, b: (a, 5, -(-2000 // (a * b)), b), (3, 0, 2, 1)),
    (lambda a, b: (11, a + 14, b + 14), (0, 2, 1)),
    (lambda a, b: (a + 14, 4, 9, b), (1, 3, 2, 0)),
    (lambda a, b: (a + 14, 3, b + 30), (2, 1, 0)),
    (lambda a, b: (a + 70, b + 60), (1, 0)),
)
# and of rows that are moved, of up to eight elements
MOVED = (
    (lambda a, b: (a, 300 // a, b % 7 + 2), (1, 0, 2)),
    (lambda a, b: (a + 80, b + 7, b % 7 + 2), (1, 0, 2)),
    (lambda a, b: (5, a + 60, 17, b % 7 + 2), (0, 2, 1, 3)),
    (lambda a, b: (a + 14, 3, 20, b % 7 + 2), (2, 0, 1, 3)),
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lying, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("kind", range(len(TURNED + MOVED)))
@pytest.mark.parametrize("seed", range(8))
def test_small_elements_that_lie_across_are_numpys(seed: int, kind: int) -> None:
    rng, (shape_of, order) = random.Random(seed), (TURNED + MOVED)[kind]
    data = np.random.default_rng(seed).standard_normal(shape_of(rng.randint(2, 18), rng.randint(2, 18))) * 9
    check(data.astype(rng.choice(SMALL_TYPES)), order, rng)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16"])
@pytest.mark.parametrize(("shape_of", "order"), [*MOVED, TURNED[0], TURNED[4]])
def test_nothing_beyond_a_source_is_read(shape_of, order: tuple[int, ...], dtype: str) -> None:
    memories = Memories()
    for many, at_end in itertools.product(range(2, 9), (True, False)):
        memories.clear()
        shape, kind = shape_of(16, many + 5), np.dtype(dtype)
        source, target = (memories.take(int(np.prod(shape)), kind, at_end) for _ in range(2))
        source[:] = np.arange(source.size) % 61
        x = source.reshape(shape).transpose(order)
        y = target.reshape(x.shape)
        xt.asarray(y)[...] = xt.transpose(xt.asarray(source.reshape(shape)), order) + 1
        assert_same_bits(y, x + x.dtype.type(1), f"{dtype}{shape}")


@pytest.mark.parametrize(("along", "lanes"), [(16, 16), (31, 16), (32, 32), (100, 32)])
def test_an_axis_that_fills_half_a_register_is_in_vectors_of_half_a_register(along: int, lanes: int) -> None:
    x = xt.transpose(xt.ones((9, 7, along), dtype="uint8"), (0, 2, 1))
    with xt.options(vector_bits=256):
        plan = xt.plan(xt.zeros(x.shape, dtype="uint8"), x + 1)
    assert f"by {lanes} x" in plan.nest


def test_no_instruction_is_of_another_encoding_than_avx() -> None:
    assert "+sse4a" not in llvm_run.host_cpu()[1]


def test_rows_that_share_a_set_of_the_first_cache_are_no_block() -> None:
    """Each of their lines would be read again for each vector of it."""
    for width, before in ((1024, True), (1000, False)):
        x = xt.transpose(xt.ones((8, 4, width)), (2, 1, 0))
        plan = xt.plan(xt.zeros((width, 8)), xt.sum(x, 1))
        assert ("known0[" in plan.nest) == before, width


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((5, 257), 1),
        ((5, 258), 1),
        ((257, 5), 0),
        ((258, 40), 0),
        ((37, 7, 31), 2),
        ((7, 64, 9), 1),
        ((3, 4, 5, 6), (1, 3)),
    ],
)
def test_sums_of_few_small_integers_are_numpys(dtype: str, shape: tuple[int, ...], axis: int | tuple[int, ...]) -> None:
    """At the largest and the smallest that there are, too, where twice the bits just hold them or do not."""
    kind = np.dtype(dtype)
    least, most = (0, 1) if dtype == "bool" else (np.iinfo(kind).min, np.iinfo(kind).max)
    for x in (np.random.default_rng(0).integers(least, most + 1, shape), np.full(shape, most), np.full(shape, least)):
        data = x.astype(kind)
        y = xt.sum(xt.asarray(data), axis)
        made = xt.empty(y.shape, y.dtype)
        made[...] = y
        assert_same_bits(made.numpy(), np.sum(data, axis), f"{dtype}{shape}")
        made[...] = y + xt.max(xt.asarray(data), axis)
        assert_same_bits(made.numpy(), np.sum(data, axis) + np.max(data, axis), f"{dtype}{shape}")


def test_a_sum_that_twice_the_bits_hold_is_in_those() -> None:
    for many, narrow in ((257, True), (258, False)):
        x = xt.ones((30, many), dtype="uint8")
        assert ("uint16(" in xt.plan(xt.empty(30, "uint64"), xt.sum(x, 1)).nest) == narrow
