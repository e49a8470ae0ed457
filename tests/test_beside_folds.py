"""Few columns beside what is folded down them: a number a row, or a row, in the same statement, against two statements."""

import numpy as np
import pytest
from strategies import assert_same_bits

import exprten as xt

STATEMENTS = {
    "weights": lambda x, r, c, f, g: x * r * c / f,
    "a row": lambda x, r, c, f, g: (x - f) / g * r + r,
    "a number a row": lambda x, r, c, f, g: x + c * f,
    "dear": lambda x, r, c, f, g: (c * c) * (r * f) + x * (g + r),
    "no matrix": lambda x, r, c, f, g: c * f + r * g,
}


def _arrays(n, k, dtype, pad):
    rng = np.random.default_rng(n + k)
    x, r, c = (rng.integers(1, 9, shape).astype(dtype) for shape in ((n, k + pad), (1, k), (n, 1)))
    x, r, c = (a * dtype(1 - 2j) if a.dtype.kind == "c" else a for a in (x, r, c))
    return (xt.asarray(a) for a in (x[:, :k], r, c))


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", STATEMENTS)
@pytest.mark.parametrize(
    ("n", "k", "pad"),
    [(700, 2, 0), (700, 3, 0), (1, 5, 0), (90, 8, 0), (500, 17, 0), (300, 40, 0), (300, 6, 2), (60_000, 3, 0)],
)
def test_one_statement_has_the_bits_of_two(name, n, k, pad):
    for dtype in (np.float32, np.complex64, np.int16):
        x, r, c = _arrays(n, k, dtype, pad)
        folds = xt.sum(x * r, 0, keepdims=True), xt.max(x, 0, keepdims=True)
        alone = [xt.evaluate(f) for f in folds]
        want = xt.evaluate(STATEMENTS[name](x, r, c, *alone)).numpy()
        for threads in (1, 2, 3):
            for step in (1, 2):  # rows that run on, and rows that do not
                out = np.full((step * n, k), 7, want.dtype)
                with xt.options(num_threads=threads):
                    xt.asarray(out[::step])[...] = STATEMENTS[name](x, r, c, *folds)
                assert_same_bits(out[::step], want, f"{np.dtype(dtype)}, {threads} threads, every {step}. row")
                assert step == 1 or (out[1::2] == 7).all()


def test_rows_run_on_in_one_loop():
    x, r, c = _arrays(700, 3, np.float32, 0)
    nest = xt.plan(xt.empty((700, 3)), x * r * c / xt.sum(x, 0, keepdims=True)).nest
    assert "all that run on as one" in nest and "spread" in nest
    assert xt.plan(xt.empty((700, 3)), x * r * c / xt.sum(x, 0, keepdims=True)).recompute <= 2


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize("shape", [(3, 9, 7), (3, 20, 7), (5, 20, 3), (2, 300, 5), (9, 4, 2), (30, 33, 4)], ids=str)
def test_few_columns_beside_a_row_for_each_outer_index(shape, dtype):
    rng = np.random.default_rng(0)
    n, _, k = shape
    x, y, z = (rng.integers(-3, 4, s).astype(dtype) for s in (shape, (n, 1, k), (1, 1, k)))
    a, b, c = map(xt.asarray, (x, y, z))
    for bits in (512, 256, 128):
        with xt.options(vector_bits=bits):
            for name in ("min", "max", "sum"):
                for e, want in ((a * b, x * y), (a * b + c, x * y + z), (xt.maximum(a, b), np.maximum(x, y))):
                    got = xt.evaluate(getattr(xt, name)(e, 1)).numpy()
                    np.testing.assert_array_equal(got, getattr(np, name)(want, axis=1))


def test_a_row_that_every_outer_index_has_in_a_fold_of_a_fold():
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 4, s).astype(np.float32) for s in ((6, 33, 5), (1, 33, 5)))
    for a, b in ((xt.asarray(x), xt.asarray(y)), (xt.asarray(np.repeat(x, 2, 2))[..., ::2], xt.asarray(y))):
        got = xt.evaluate(xt.min(xt.sum(a - b, 1, keepdims=True), 0, keepdims=True)).numpy()
        np.testing.assert_array_equal(got, (x - y).sum(1, keepdims=True).min(0, keepdims=True))
