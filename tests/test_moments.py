"""The variance of all elements of a long row, block by block: one pass over memory, and the sum in it is that of `sum`."""

import math

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated
from exprten_jit.dtypes import DTYPES
from exprten_jit.reducers import along, brought_together
from test_folds import normal

import exprten as xt
from exprten import reduce


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """From so few elements on that tests are quick."""
    monkeypatch.setattr(reduce, "LONG", 4096)


def bits(x):
    return x.numpy().tobytes()


def in_blocks(x):
    """The sum and the squares of distances as they are defined."""
    order, kind = along(DTYPES[x.dtype.name]), x.dtype.type
    found = []
    for start in range(0, len(x), order.block):
        block = x[start : start + order.block]
        number, total = kind(len(block)), brought_together(list(block), np.add, kind(-0.0), order)
        away = block - total / number
        rest, squares = (brought_together(list(e), np.add, kind(-0.0), order) for e in (away, away * away))
        found.append((number, total, total / number, squares - rest * (rest / number), rest / number))

    def chan(a, b):
        (n, s, m, q, c), (k, t, p, r, d) = a, b
        way, share = (p - m) + (d - c), k / (n + k)
        mean = m + way * share
        return n + k, s + t, mean, (q + r) + way * way * (n * share), c + ((m - mean) + way * share)

    return _paired(found, chan)


def _paired(blocks, chan):
    """As the bits of a counter pair up: the largest power of two, and what is left."""
    if len(blocks) == 1:
        return blocks[0]
    size = 1 << (len(blocks) - 1).bit_length() - 1
    return chan(_paired(blocks[:size], chan), _paired(blocks[size:], chan))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [4097, 3 * 4096, 7 * 4096 + 5, 100_003])
def test_any_width_and_number_of_threads_has_the_defined_bits(dtype, count):
    x = (normal((count,)) + 3).astype(dtype)
    squares = in_blocks(x)[3]
    for width in (128, 256, 512):
        for threads in (1, 2, 7):
            with xt.options(vector_bits=width, num_threads=threads):
                assert bits(xt.evaluate(xt.var(xt.asarray(x)))) == (squares / x.dtype.type(count)).tobytes()


def test_the_mean_beside_it_is_that_of_the_sum():
    x = xt.asarray(normal((50_003,)) * 5 + 1)
    plan = xt.plan(xt.zeros(x.shape), (x - xt.mean(x)) / xt.std(x))
    assert plan.nest.count("sum(x1") == 1 and plan.phases == 2
    both = xt.evaluate(xt.mean(x) + xt.var(x) * 0)
    assert bits(both) == bits(xt.evaluate(xt.mean(x)))


def test_data_far_from_zero_are_within_their_bound():
    rng = np.random.default_rng(0)
    for far, dtype in ((1e6, "float64"), (1e9, "float64"), (1e3, "float32"), (1e6, "float32"), (0, "float32")):
        x = (rng.standard_normal(300_000) + far).astype(dtype)
        exact = [float(v) for v in x]
        mean = math.fsum(exact) / len(exact)
        wanted = math.fsum((v - mean) ** 2 for v in exact) / len(exact)
        eps = float(np.finfo(dtype).eps)
        assert abs(float(xt.evaluate(xt.var(xt.asarray(x)))) - wanted) <= wanted * (40 * eps + (eps * far) ** 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "complex64", "float64"])
def test_every_type_and_form(dtype):
    x = xt.evaluate(xt.cast(xt.asarray(np.round(normal((90, 100)) * 8)), dtype))
    plain = np.asarray(xt.evaluate(xt.cast(x, "complex128" if dtype == "complex64" else "float64")).numpy())
    for source, numbers in ((x, plain), (x[:, :90], plain[:, :90]), (x.T, plain.T), (x[::2, ::2], plain[::2, ::2])):
        for more in ({}, {"ddof": 1}, {"keepdims": True}):
            got = xt.evaluate(xt.var(source, **more))
            assert got.shape == np.var(numbers, **more).shape
            near = 1e-2 if dtype in ("float16", "bfloat16") else 1e-5
            np.testing.assert_allclose(got.numpy().astype(float), np.var(numbers, **more), rtol=near)


def test_nan_and_infinity():
    for special in (np.nan, np.inf):
        x = normal((9000,))
        x[5000] = special
        assert np.isnan(xt.evaluate(xt.var(xt.asarray(x))).item())


def test_in_place():
    x = normal((70, 100))
    target = xt.array(x)
    target[...] = (target - xt.mean(target)) / xt.std(target)
    np.testing.assert_allclose(target.numpy(), (x - x.mean()) / x.std(), rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_a_gpu_has_the_same_bits():
    x = normal((5 * 4096 + 77,)) + 2
    with emulated():
        for fold in (xt.var, xt.std, lambda t: (t - xt.mean(t)) / xt.std(t)):
            ours, theirs = (xt.evaluate(fold(xt.array(x, device=xpu))) for xpu in (xt.cpu(), xt.gpu(0)))
            assert bits(ours) == bits(theirs)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_a_plan_counts_what_is_folded_in_blocks(monkeypatch):
    monkeypatch.setattr(reduce, "LONG", 10_000)
    with emulated():
        x, y = xt.zeros(1_000_000, device=xt.gpu(0)), xt.zeros(1_000_000, device=xt.gpu(0))
        plan = xt.plan(y, (x - xt.mean(x)) / xt.std(x))
        assert plan.flops >= 4 * 1_000_000
        assert 1 <= plan.recompute < 1.4  # the quotients by numbers of elements are each thread's, which stores four
