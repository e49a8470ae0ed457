"""Folds down columns that fill memory: what is stored past the caches, and how wide a strip is, changes no bit."""

from pathlib import Path

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from test_folds import normal, softmax, standardised

import exprten as xt

SHAPES = ((70, 30_000), (700, 3_072), (9_000, 260), (1_050_000, 2))  # 8 MiB of float32: strips of every width


@pytest.mark.covering(1)
@pytest.mark.parametrize("statement", [softmax, standardised])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("before", "bits"), [(0, None), (16, 256), (3, None)])
def test_columns_of_a_large_target_are_what_they_are_alone(statement, shape, before, bits):
    rows, columns = shape
    x = normal(shape)
    memory = np.full((rows, before + columns + 1), 7, np.float32)
    inside = memory[:, before : before + columns]
    source, target = xt.asarray(x), xt.asarray(inside)
    for threads in (1, 2):
        inside[...] = 0
        with xt.options(vector_bits=bits, num_threads=threads):
            plan = xt.plan(target, statement(xt, source, 0))
            plan.run()
            assert "nontemporal" in plan.llvm or not llvm_run.machine().streams
            for first in {0, columns // 2 - 1, columns - 2}:
                alone = xt.evaluate(statement(xt, source[:, first : first + 2], 0))
                assert inside[:, first : first + 2].tobytes() == alone.numpy().tobytes(), (first, threads)
        assert (memory[:, :before] == 7).all() and (memory[:, before + columns :] == 7).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int32"])
def test_every_type_is_stored_past_the_caches(dtype):
    x = xt.asarray(np.random.default_rng(0).integers(-9, 9, (2_100, 2_016)).astype(np.float32))
    x = xt.evaluate(xt.cast(x, dtype))
    least = xt.min(x, 0, keepdims=True)
    target = xt.empty(x.shape, dtype=x.dtype)
    target[...] = x - least
    wanted = xt.evaluate(x - xt.evaluate(least))
    assert target.numpy().tobytes() == wanted.numpy().tobytes()


def test_a_target_that_is_read_is_not_stored_past_the_caches():
    x = xt.ones((3_000, 1_000))
    plan = xt.plan(x, standardised(xt, x, 0))
    assert "nontemporal" not in plan.llvm


def reversed_columns(x):
    return x[:, ::-1]


def every_other_column(x):
    return x[:, ::2]


def every_other_row(x):
    return x[::2]


def transposed(x):
    return x.T


def channels_first(x):
    return x.transpose(2, 0, 1)


def same(x):
    return x


FAR = (
    ((2_100, 1_024), reversed_columns, 0),
    ((2_100, 2_060), every_other_column, 0),
    ((4_200, 1_003), every_other_row, 0),
    ((130, 64, 256), same, 1),
    ((3, 70, 10_240), same, 1),
    ((2, 1_100_003), same, 0),
    ((700_009, 3), same, 0),
    ((420_001, 5), same, 0),
    ((11_000, 64, 3), same, 1),
    ((4_200, 1_003), every_other_row, 1),
    ((2_100, 1_024), reversed_columns, 1),
    ((200_003, 11), same, 1),
    ((140_001, 16), transposed, 0),
    ((70_001, 31), transposed, 0),
    ((70_001, 31), transposed, 1),
    ((2_100, 64, 16), channels_first, 1),
)


@pytest.mark.parametrize("statement", [softmax, standardised])
@pytest.mark.parametrize(("shape", "view", "axis"), FAR, ids=lambda x: getattr(x, "__name__", str(x)))
def test_what_is_fetched_early_changes_no_bit(statement, shape, view, axis):
    """Of a large tensor, against pieces of it that are small."""
    x = view(normal(shape))
    whole = xt.evaluate(statement(xt, xt.asarray(x), axis)).numpy()
    kept = [k for k in range(x.ndim) if k != axis]
    for at in (0, 1):
        for longest in kept[:1] if x.ndim > 2 else kept:
            part = [slice(None)] * x.ndim
            part[longest] = slice(None, 2) if at == 0 else slice(-2, None)
            alone = xt.evaluate(statement(xt, xt.asarray(x[tuple(part)].copy("K")), axis))
            assert whole[tuple(part)].tobytes() == alone.numpy().tobytes(), (at, longest)


@pytest.mark.parametrize("count", [1_500_001, 1_500_000, 1_500_016])
@pytest.mark.parametrize("columns", [2, 3])
def test_rows_of_a_target_that_begin_anywhere_are_stored_past_the_caches(count, columns):
    x = xt.asarray(normal((count, columns)))
    memory = np.zeros(columns * count + 64, np.float32)
    first = -memory.ctypes.data % 256 // 4
    target = xt.asarray(memory[first : first + columns * count].reshape(columns, count))
    target[...] = standardised(xt, x.T, 1)
    wanted = xt.evaluate(standardised(xt, x, 0)).numpy()
    assert (wanted == target.numpy().T).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64"])
@pytest.mark.parametrize("bits", [None, 256, 128])
def test_rows_that_do_not_run_on_are_stored_past_the_caches(dtype, bits):
    rows, columns = 4_100, 1_120 if dtype == "int16" else 600  # 8 MiB, and more than whole vectors
    x = np.arange(2 * rows * columns).reshape(2 * rows, columns).astype(dtype)
    for threads in (1, 2):
        with xt.options(vector_bits=bits, num_threads=threads):
            for view in (x[rows:][::-1], x[:rows, ::-1], x[::2], x[:rows, :-5]):
                for pad in (False, True):
                    out = xt.empty(view.shape, dtype, pad=pad)
                    out[...] = xt.asarray(view) * 2
                    assert np.array_equal(out.numpy(), view * 2)
                turned = xt.zeros(view.shape, dtype)
                turned[::-1] += xt.asarray(view)
                assert np.array_equal(turned.numpy()[::-1], view)


@pytest.mark.parametrize("statement", [softmax, standardised])
@pytest.mark.parametrize("shape", [(70, 64, 16), (33, 50, 21), (1_030, 40, 50)], ids=str)
@pytest.mark.parametrize("bits", [None, 256, 128])
def test_columns_of_two_axes_that_are_stored_across_are_turned_in_registers(statement, shape, bits):
    x = xt.asarray(normal(shape))
    wanted = xt.evaluate(statement(xt, x, 0)).numpy()
    for threads in (1, 3):
        with xt.options(vector_bits=bits, num_threads=threads):
            target = xt.empty((shape[2], *shape[:2]))
            plan = xt.plan(target, statement(xt, xt.transpose(x, (2, 0, 1)), 1))
            plan.run()
            assert "squares" in plan.nest or not {32, 64} <= llvm_run.machine().masked_bits or bits == 128
            assert np.array_equal(np.transpose(target.numpy(), (1, 2, 0)), wanted)


@pytest.mark.parametrize("shape", [(70, 64, 16), (300, 5, 7), (24, 40, 63), (2, 40, 63), (1, 3, 2)], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_positions_in_columns_of_two_axes_are_found_at_once(shape, threads):
    """What counts along the rows, or along one of the two axes, is as it is for columns of one axis."""
    values = np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)
    view, along = values.transpose(2, 0, 1), xt.transpose(xt.asarray(values), (2, 0, 1))
    n, middle, inner = shape
    with xt.options(num_threads=threads):
        target = xt.empty((inner, middle), np.int64)
        plan = xt.plan(target, xt.argmax(along, 1))
        plan.run()
        assert "columns of i1i0" in plan.nest or 1 in shape or middle < 8 or ("known0[" in plan.nest and n < 19)
        assert np.array_equal(target.numpy(), view.argmax(1))
        for axis, count in enumerate((inner, n, middle)):
            lie = tuple(count if k == axis else 1 for k in range(3))
            counted = xt.reshape(xt.range(count, dtype=np.float32), lie) * along
            mine = view * np.arange(count, dtype=np.float32).reshape(lie)
            assert np.array_equal(xt.evaluate(xt.argmax(counted, 1)).numpy(), mine.argmax(1))
            assert np.array_equal(xt.evaluate(xt.sum(counted, 1)).numpy(), mine.sum(1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "uint64", "bool"])
def test_integers_down_few_columns_are_read_as_they_lie(dtype):
    rng = np.random.default_rng(0)
    for columns in range(2, 9):
        for rows in (1, 3, 255, 257, 1_024, 4_097, 20_011):
            x = rng.integers(0, 2 if dtype == "bool" else 120, (rows, columns)).astype(dtype)
            weights = rng.integers(0, 3, (1, columns)).astype(dtype)
            a, b = xt.asarray(x), xt.asarray(weights)
            for bits in (512, 256, 128):
                with xt.options(vector_bits=bits, num_threads=1 + rows % 2):
                    for name in ("max", "min", "sum", "prod", "any", "all", "count_nonzero"):
                        got = xt.evaluate(getattr(xt, name)(a, 0)).numpy()
                        assert np.array_equal(got, getattr(np, name)(x, axis=0)), (name, x.shape, bits)
                    got = xt.evaluate(xt.sum(a * b, 0, keepdims=True)).numpy()
                    assert np.array_equal(got, np.sum(x * weights, axis=0, keepdims=True)), (x.shape, bits)


STATM = Path("/proc/self/statm")
WIDE = ((3_000, 2_900), (1_100, 9_003), (600, 20_011))  # strips wider than the stack's, whole ones and what is left
ONE_FOLD = {
    "sum": lambda x: xt.sum(x, 0),
    "max": lambda x: xt.max(x, 0),
    "argmin": lambda x: xt.argmin(x, 0),
    "var": lambda x: xt.var(x, 0),
    "dear": lambda x: xt.sum(xt.exp(x), 0),
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("statement", ONE_FOLD)
@pytest.mark.parametrize(
    ("dtype", "shape"),
    [*(("float32", s) for s in WIDE), *((d, WIDE[1]) for d in ("float64", "uint8", "float16", "int16"))],
)
def test_strips_in_memory_of_their_own_change_no_bit(statement, dtype, shape):
    fold = ONE_FOLD[statement]
    x = np.random.default_rng(3).uniform(0, 9, shape).astype(dtype)
    alone = [xt.evaluate(fold(xt.asarray(x[:, k : k + 900]))).numpy() for k in range(0, shape[1], 900)]
    for threads in (1, 2):
        for bits in (None, 256):
            with xt.options(num_threads=threads, vector_bits=bits):
                whole = xt.evaluate(fold(xt.asarray(x))).numpy()
            assert whole.tobytes() == np.concatenate(alone).tobytes(), (threads, bits)


@pytest.mark.skipif(not STATM.exists(), reason="Linux tells what is resident")
def test_memory_for_wide_strips_is_given_back():
    x, o = xt.ones((1_100, 9_003)), xt.empty((9_003,))
    o[...] = xt.sum(x, 0)

    def resident():
        return int(STATM.read_text(encoding="ascii").split()[1]) * 4096

    before = resident()
    for _ in range(200):  # some 100 KiB each
        o[...] = xt.sum(x, 0)
    assert resident() - before < 8 << 20
    assert (o.numpy() == 1_100).all()


def test_rows_ask_for_no_memory():
    assert "@malloc" not in xt.plan(xt.empty((9_003,)), xt.sum(xt.ones((9_003, 40)), 1)).llvm
    assert "@malloc" in xt.plan(xt.empty((9_003,)), xt.sum(xt.ones((40, 9_003)), 0)).llvm
