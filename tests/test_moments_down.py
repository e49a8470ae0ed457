"""Variances down many rows, block by block: one pass over memory for the mean and the squares, and the sum in it is that of `sum`."""

import math

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated
from exprten_jit.reducers import ACROSS, brought_together
from test_folds import normal
from test_moments import bits, paired

import exprten as xt
from exprten import reduce
from exprten.errors import AliasError

MANY = 300  # rows: more of them are taken in blocks here


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """From so few rows on that tests are quick."""
    monkeypatch.setattr(reduce, "DOWN", MANY)


def normalised(x, axis):
    return (x - xt.mean(x, axis, keepdims=True)) / xt.std(x, axis, keepdims=True)


def down(x):
    """The variances of columns as they are defined."""
    kind, nothing, found = x.dtype.type, np.full(x.shape[1:], -0.0, x.dtype), []
    for start in range(0, len(x), ACROSS.block):
        block = x[start : start + ACROSS.block]
        number, total = kind(len(block)), brought_together(list(block), np.add, nothing, ACROSS)
        away = block - total / number
        rest, squares = (brought_together(list(e), np.add, nothing, ACROSS) for e in (away, away * away))
        found.append((number, total, total / number, squares - rest * (rest / number), rest / number))
    return paired(found)[3] / kind(len(x))


def every_other(x):
    wide = np.zeros((len(x), 2 * x.shape[1]), x.dtype)
    wide[:, ::2] = x
    return xt.asarray(wide)[:, ::2]


def padded(x):
    wide = np.full((len(x), x.shape[1] + 5), 9, x.dtype)
    wide[:, 2:-3] = x
    return xt.asarray(wide)[:, 2:-3]


SAMPLES = (  # rows, columns, element type, width of vectors, threads
    (301, 3, "float32", 512, 1), (2_560, 2, "float32", 512, 2), (2_561, 2, "float64", 512, 1), (8_197, 5, "float32", 256, 1),
    (5_001, 8, "float32", 512, 3), (5_001, 8, "float64", 128, 1), (8_200, 3, "float32", 128, 1), (700, 17, "float32", 512, 1),
    (700, 64, "float64", 256, 2), (4_400, 100, "float32", 512, 3), (600, 1_030, "float32", 512, 1), (600, 1_030, "float64", 256, 1),
)  # fmt: skip


@pytest.mark.parametrize(("rows", "columns", "dtype", "width", "threads"), SAMPLES)
def test_any_width_and_number_of_threads_has_the_defined_bits(rows, columns, dtype, width, threads):
    x = (normal((rows, columns)) + 3).astype(dtype)
    wanted = down(x)
    for layout in (xt.asarray, every_other, padded)[: 3 if columns == 100 else 1]:
        with xt.options(vector_bits=width, num_threads=threads):
            assert bits(xt.evaluate(xt.var(layout(x), 0))) == wanted.tobytes()


def test_a_thread_takes_whole_blocks():
    x = (normal((200_000, 3)) + 3).astype(np.float32)
    wanted = down(x)
    for threads in (1, 7):
        with xt.options(num_threads=threads):
            assert bits(xt.evaluate(xt.var(xt.asarray(x), 0))) == wanted.tobytes()
            assert bits(xt.evaluate(xt.var(xt.asarray(x[:70_000]), 0))) == down(x[:70_000]).tobytes()


def test_the_interpreter_agrees():
    x = xt.asarray((normal((601, 3)) + 3).astype(np.float32))
    ours = xt.evaluate(normalised(x, 0))
    with xt.options(interpret=True):
        assert bits(xt.evaluate(normalised(x, 0))) == bits(ours)


def test_columns_of_an_array_of_three_axes():
    x = normal((4, 900, 6))
    for source, axis in ((xt.asarray(x), 1), (xt.transpose(xt.asarray(x), (2, 1, 0)), 1)):
        numbers = source.numpy() if hasattr(source, "numpy") else np.transpose(x, (2, 1, 0))
        got = xt.evaluate(xt.var(source, axis)).numpy()
        np.testing.assert_allclose(got, numbers.astype(float).var(axis), rtol=1e-5)
    one_by_one = [down(np.ascontiguousarray(part)) for part in x]
    assert bits(xt.evaluate(xt.var(xt.asarray(x), 1))) == np.stack(one_by_one).tobytes()


def test_the_mean_beside_it_is_that_of_the_sum():
    x = xt.asarray(normal((5_003, 40)) * 5 + 1)
    plan = xt.plan(xt.zeros(x.shape), normalised(x, 0))
    assert plan.nest.count("strip f0b") == 1 and plan.nest.count("strip f0 ") == 0
    both = xt.evaluate(xt.mean(x, 0) + xt.var(x, 0) * 0)
    assert bits(both) == bits(xt.evaluate(xt.mean(x, 0)))


def test_other_folds_beside_it_are_what_they_are_alone():
    x = xt.asarray(normal((1_000, 40)))
    both = xt.evaluate(xt.max(x, 0) + xt.std(x, 0) + xt.sum(x * x, 0))
    alone = [xt.evaluate(e) for e in (xt.max(x, 0), xt.std(x, 0), xt.sum(x * x, 0))]
    assert bits(both) == bits(xt.evaluate(alone[0] + alone[1] + alone[2]))


@pytest.mark.parametrize("target", [lambda m, n: xt.zeros((m, n)), lambda m, n: xt.zeros((n, m)).T], ids=["rows", "T"])
@pytest.mark.parametrize("shape", [(5_000, 3), (2_000, 16), (1_100, 131)])
def test_a_normalisation_is_stored_either_way(shape, target):
    x = normal(shape)
    wanted = xt.evaluate(normalised(xt.asarray(x), 0)).numpy()
    np.testing.assert_allclose(wanted, (x - x.mean(0)) / x.std(0), rtol=1e-4, atol=1e-5)
    for threads in (1, 2):
        into = target(*shape)
        with xt.options(num_threads=threads):
            into[...] = normalised(xt.asarray(x), 0)
        assert into.numpy().tobytes() == wanted.tobytes()


def test_a_source_whose_neighbours_are_folded_along_another_axis():
    x = normal((600, 7, 16))
    turned = xt.transpose(xt.asarray(x), (2, 0, 1))
    into = xt.zeros((16, 600, 7))
    into[...] = normalised(turned, 1)
    wanted = xt.evaluate(normalised(xt.asarray(x.reshape(600, 112)), 0)).numpy()
    assert into.numpy().tobytes() == np.ascontiguousarray(wanted.reshape(x.shape).transpose(2, 0, 1)).tobytes()


def test_rows_and_short_columns_are_two_passes():
    x = normal((MANY, 500))
    for axis in (0, 1):
        t, count = xt.asarray(x), float(x.shape[axis])
        squares = xt.sum(xt.square(t - xt.sum(t, axis, keepdims=True) / count), axis) / count
        assert bits(xt.evaluate(xt.var(t, axis))) == bits(xt.evaluate(squares))


def test_what_is_read_by_another_index_is_right_too():
    x = normal((900, 12))
    t = xt.asarray(x)
    wanted = np.pad(x, 2)
    np.testing.assert_allclose(xt.evaluate(xt.var(xt.pad(t, 2), 0)).numpy(), wanted.var(0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(xt.evaluate(xt.var(t[::-2], 0)).numpy(), x[::-2].var(0), rtol=1e-5)


def test_a_fold_inside_and_several_axes():
    x = normal((20, 30, 9)) + 1
    np.testing.assert_allclose(xt.evaluate(xt.var(xt.asarray(x), (0, 1))).numpy(), x.var((0, 1)), rtol=1e-5)
    y = normal((800, 9)) + 1
    t = xt.asarray(y)
    np.testing.assert_allclose(xt.evaluate(xt.var(t - xt.mean(t, 0), 0)).numpy(), (y - y.mean(0)).var(0), rtol=1e-5)
    shares = t / xt.sum(t, 1, keepdims=True)
    np.testing.assert_allclose(xt.evaluate(xt.var(shares, 0)).numpy(), (y / y.sum(1, keepdims=True)).var(0), rtol=1e-3)


def test_data_far_from_zero_are_within_their_bound():
    rng = np.random.default_rng(0)
    for far, dtype in ((1e6, "float64"), (1e9, "float64"), (1e3, "float32"), (1e6, "float32"), (0, "float32")):
        x = (rng.standard_normal((50_000, 3)) + far).astype(dtype)
        got, eps = xt.evaluate(xt.var(xt.asarray(x), 0)).numpy(), float(np.finfo(dtype).eps)
        for column in range(3):
            exact = [float(v) for v in x[:, column]]
            mean = math.fsum(exact) / len(exact)
            wanted = math.fsum((v - mean) ** 2 for v in exact) / len(exact)
            assert abs(float(got[column]) - wanted) <= wanted * (40 * eps + (eps * far) ** 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "complex64"])
def test_every_type(dtype):
    x = xt.evaluate(xt.cast(xt.asarray(np.round(normal((900, 11)) * 8)), dtype))
    plain = np.asarray(xt.evaluate(xt.cast(x, "complex128" if dtype == "complex64" else "float64")).numpy())
    for more in ({}, {"ddof": 1}, {"keepdims": True}):
        got = xt.evaluate(xt.var(x, 0, **more))
        near = 1e-2 if dtype in ("float16", "bfloat16") else 1e-5
        np.testing.assert_allclose(got.numpy().astype(float), np.var(plain, 0, **more), rtol=near)


def test_nan_and_infinity_stay_in_their_columns():
    x = normal((1_000, 20))
    x[500, 3], x[700, 8] = np.nan, np.inf
    got = np.isnan(xt.evaluate(xt.var(xt.asarray(x), 0)).numpy())
    assert list(np.flatnonzero(got)) == [3, 8]


@pytest.mark.parametrize("shape", [(1_000, 3), (1_000, 40), (700, 600), (3, 700, 5)])
def test_in_place(shape):
    x, axis = normal(shape), len(shape) - 2
    target = xt.array(x)
    wanted = xt.evaluate(normalised(target, axis))
    target[...] = normalised(target, axis)
    assert bits(target) == bits(wanted)


def test_what_is_stored_too_soon_is_an_error_as_for_short_columns():
    for rows in (MANY - 100, 900):
        memory = xt.ones((rows + 1, 6))
        with pytest.raises(AliasError):
            memory[1:][...] = normalised(memory[:-1], 0)
        with pytest.raises(AliasError):
            memory[:6, :6][...] = memory[:6, :6] + xt.std(memory, 0)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
@pytest.mark.parametrize("shape", [(1_300, 3), (900, 37), (70_000, 2), (2, 700, 9)])
def test_a_gpu_has_the_same_bits(shape):
    x, axis = normal(shape) + 2, len(shape) - 2
    with emulated():
        for fold in (xt.var, normalised):
            ours, theirs = (xt.evaluate(fold(xt.array(x, device=xpu), axis)) for xpu in (xt.cpu(), xt.gpu(0)))
            assert bits(ours) == bits(theirs)


def test_columns_that_are_cut_have_the_same_bits():
    x, y = normal((700, 37)), normal((30, 33))
    spread = xt.evaluate(xt.std(xt.asarray(x), 0)).numpy()
    for width in (128, 512):
        into = xt.zeros((34, 37))
        with xt.options(vector_bits=width):
            into[...] = xt.pad(xt.asarray(y), 2) / xt.std(xt.asarray(x), 0)
        assert into.numpy().tobytes() == (np.pad(y, 2) / spread).tobytes()


def test_what_is_made_of_an_element_first_is_what_it_is_alone():
    x, weights = xt.asarray(normal((700, 37))), xt.asarray(normal((37,)))
    alone = xt.evaluate(xt.var(xt.evaluate(x * weights + 1), 0))
    assert bits(xt.evaluate(xt.var(x * weights + 1, 0))) == bits(alone)


def test_columns_of_a_large_target_are_what_they_are_alone():
    x = normal((9_000, 300))  # stored past the caches
    into = xt.zeros(x.shape)
    for threads in (1, 2):
        with xt.options(num_threads=threads):
            into[...] = normalised(xt.asarray(x), 0)
        alone = xt.evaluate(normalised(xt.asarray(x[:, 100:102]), 0))
        assert into.numpy()[:, 100:102].tobytes() == alone.numpy().tobytes()


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_plans_count_what_two_passes_do_at_most(monkeypatch):
    shape, made = (20_000, 8), []
    with emulated():
        target, x = (xt.zeros(shape, device=xt.gpu(0)) for _ in range(2))
        for least in (MANY, 1 << 40):
            monkeypatch.setattr(reduce, "DOWN", least)
            here = xt.plan(xt.zeros(shape), normalised(xt.zeros(shape), 0))
            made.append((here, xt.plan(target, normalised(x, 0))))
        for once, twice in zip(*made, strict=True):
            assert 4 * 160_000 <= once.flops < 1.01 * twice.flops
            assert once.recompute < 1.01 * twice.recompute and once.temporaries == 0
        assert made[0][1].launches < made[1][1].launches
