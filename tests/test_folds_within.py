"""Rows of few elements that are folded inside of another fold: they are written out there, and the bits are those of a fold of a fold."""

import numpy as np
import pytest
from exprten_jit.nest import Reduce, statements
from test_folds import judged

import exprten as xt

FEW = (2, 3, 4, 7, 12, 15, 16)
ROWS = (10, 31, 97, 4096, 4097, 12345)
WIDTHS = (128, 256, 512)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "uint8", "bool")


def numbers(shape, dtype="float32", seed=0):
    x = np.random.default_rng(seed + sum(shape)).uniform(-4, 4, shape)
    return xt.evaluate(xt.cast(xt.asarray(abs(x) if dtype == "uint8" else x), dtype)).numpy()


def product(x, w):
    return x & w if np.dtype(x.dtype) == bool else x * w


STATEMENTS = {
    "sum": lambda x, w, v: xt.sum(product(x, w)),
    "max": lambda x, w, v: xt.max(product(x, w)),
    "mean": lambda x, w, v: xt.mean(product(x, v)),
    "any": lambda x, w, v: xt.any(x > w) | xt.all(x > v),
    "of maxima": lambda x, w, v: xt.sum(xt.max(x, 1)),
}
FLOATS = {
    "distances": lambda x, w, v: xt.sum((x - v) * (x - v) * w),
    "var": lambda x, w, v: xt.var(x * w),
    "two": lambda x, w, v: xt.sum(x * xt.max(x, 1, keepdims=True)) / xt.max(x * w),
    "length": lambda x, w, v: xt.mean(xt.sqrt(xt.sum(x * x * v, 1))),
    "exp": lambda x, w, v: xt.sum(xt.exp(x * w)),
    "stored": lambda x, w, v: x * v / xt.sum(x * w),
    "softmax": lambda x, w, v: xt.exp(x * w) / xt.sum(xt.exp(x * w)),
    "rows and all": lambda x, w, v: x / xt.sum(x, 1, keepdims=True) / xt.sum(x * w),
}


def apart(x):
    """The same numbers in rows that do not lie side by side: those have a loop of their own."""
    return np.pad(x, ((0, 0),) * (x.ndim - 1) + ((0, 1),))[..., :-1]


def written(plan):
    """Whether some fold is written out in the one around it, and none has another one inside."""
    nest = plan._code.nest
    return bool(nest.folds) and not any(isinstance(s, Reduce) and s.body for s in statements(nest.body))


def bits(statement, *operands):
    return xt.evaluate(statement(*map(xt.asarray, operands))).numpy().tobytes()


@pytest.mark.covering(1)
@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("name", [*STATEMENTS, *FLOATS])
def test_the_bits_are_those_of_rows_that_are_folded_one_by_one(name, few):
    statement = (STATEMENTS | FLOATS)[name]
    for rows, width in ((10, 512), (97, 128), (12345, 256), (4097, 512)):
        x, w, v = numbers((rows, few)), numbers((rows, 1)), numbers((1, few))
        with xt.options(vector_bits=width):
            assert bits(statement, x, w, v) == bits(statement, apart(x), w, v), (rows, width)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STATEMENTS)
def test_every_type(name, dtype):
    for rows, few in ((31, 3), (4097, 4), (97, 15)):
        x, w, v = (numbers(shape, dtype) for shape in ((rows, few), (rows, 1), (1, few)))
        for width in WIDTHS:
            with xt.options(vector_bits=width):
                assert bits(STATEMENTS[name], x, w, v) == bits(STATEMENTS[name], apart(x), w, v), (rows, few, width)


@pytest.mark.parametrize("few", [2, 3, 5, 8, 15, 16])
def test_whole_numbers_are_exact(few):
    for rows in (0, 1, 7, *ROWS):
        x, w = numbers((rows, few), "int32"), numbers((rows, 1), "int32")
        got = xt.evaluate(xt.sum(xt.asarray(x) * xt.asarray(w))).numpy()
        assert got == (x * w).sum()
        if rows:
            assert xt.evaluate(xt.max(xt.asarray(x) * xt.asarray(w))).numpy() == (x * w).max()


@pytest.mark.parametrize("name", ["sum", "max", "any", "of maxima", "length", "two"])
def test_the_interpreter_has_the_same_bits(name):
    for rows, few in ((10, 2), (37, 3), (70, 7), (33, 16)):
        operands = [xt.asarray(numbers(shape)) for shape in ((rows, few), (rows, 1), (1, few))]
        value = (STATEMENTS | FLOATS)[name](*operands)
        for mode in ("write", "add") if name != "any" else ("write",):
            plan = xt.plan(xt.ones((), value.dtype), value, mode)
            assert written(plan)
            wanted = judged(plan).copy()
            assert plan.run().numpy().tobytes() == wanted.tobytes()


def test_which_folds_are_written_out():
    w, v = xt.ones((100, 1)), xt.ones((1, 3))
    x = xt.ones((100, 3))
    for value in (xt.sum(x * w), xt.sum(x - v), xt.sum(xt.max(x, 1)), xt.var(x * w)):
        assert written(xt.plan(xt.zeros(()), value))
    assert written(xt.plan(xt.zeros(5), xt.sum(xt.ones((5, 100, 3)) * xt.ones((5, 100, 1)), (1, 2))))
    others = xt.sum(x[:9] * w[:9]), xt.sum(xt.ones((100, 4))[:, :3] * w), xt.sum(xt.ones((100, 17)) * w)
    for value in others:
        assert not written(xt.plan(xt.zeros(()), value))
    with xt.options(interpret=True):
        assert float(xt.evaluate(xt.sum(x * w)).numpy()) == 300


@pytest.mark.parametrize("rows", [10, 33, 4099])
def test_extremes_know_nan_and_signed_zeros(rows):
    for few in (2, 3, 8):
        x, w = -abs(numbers((rows, few))), np.ones((rows, 1), np.float32)
        x[0, 0] = -0.0
        statement = STATEMENTS["max"]
        found = xt.evaluate(statement(xt.asarray(x), xt.asarray(w), None)).numpy()
        assert found == 0 and np.signbit(found)
        x[rows // 2, few - 1] = 0.0
        assert not np.signbit(xt.evaluate(statement(xt.asarray(x), xt.asarray(w), None)).numpy())
        x[-1, few - 1] = np.nan
        assert np.isnan(xt.evaluate(statement(xt.asarray(x), xt.asarray(w), None)).numpy())


def test_masks_read_nothing_behind_the_last_row():
    for rows in range(10, 50):
        x = np.full((rows + 20, 3), np.nan, np.float32)
        x[:rows] = numbers((rows, 3))
        w = np.ones((rows, 1), np.float32)
        got = xt.evaluate(xt.sum(xt.asarray(x[:rows]) * xt.asarray(w))).numpy()
        np.testing.assert_allclose(got, x[:rows].sum(dtype=np.float64), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(50, 200, 3), (3, 4, 33, 5), (7, 4097, 2)])
def test_axes_around_the_folds(shape):
    over = (-2, -1)
    x, w = numbers(shape), numbers((*shape[:-1], 1))
    for statement in (lambda x, w: xt.sum(x * w, over), lambda x, w: x / xt.sum(x * w, over, keepdims=True)):
        assert bits(statement, x, w) == bits(statement, apart(x), w)
    got = xt.evaluate(xt.sum(xt.asarray(x) * xt.asarray(w), over)).numpy()
    np.testing.assert_allclose(got, (x * w).sum(over), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", ["stored", "softmax", "rows and all"])
def test_targets_of_rows(name):
    for rows, few in ((97, 3), (4097, 8)):
        x, w, v = numbers((rows, few)), numbers((rows, 1)), numbers((1, few))
        want = xt.evaluate(FLOATS[name](*map(xt.asarray, (apart(x), w, v)))).numpy()
        for place in (np.array, apart, np.asfortranarray, lambda a: np.repeat(a, 2, 0)[::2]):
            memory = place(np.full_like(want, 2))
            out = xt.asarray(memory)
            out[...] = FLOATS[name](*map(xt.asarray, (x, w, v)))
            assert memory.tobytes() == want.tobytes()
            out += FLOATS[name](*map(xt.asarray, (x, w, v)))
            assert np.array_equal(memory, want + want)
        here = xt.asarray(x.copy())
        here[...] = FLOATS[name](here, xt.asarray(w), xt.asarray(v))
        assert here.numpy().tobytes() == want.tobytes()


@pytest.mark.parametrize("name", ["sum", "max", "two", "stored"])
def test_threads_take_whole_blocks(name):
    found = set()
    operands = [xt.asarray(numbers(shape)) for shape in ((400_003, 3), (400_003, 1), (1, 3))]
    for threads in (1, 2, 3):
        with xt.options(num_threads=threads):
            found.add(xt.evaluate((STATEMENTS | FLOATS)[name](*operands)).numpy().tobytes())
    assert len(found) == 1


@xt.reducer(identity=0.5)
def strange(a, b):
    """Its identity changes what it is combined with."""
    return a * 0.75 + b


def test_a_reducer_of_ones_own_begins_with_its_identity():
    x, w = numbers((97, 3)), numbers((97, 1))

    def statement(x, w):
        return strange(x * w, axis=(0, 1))

    assert bits(statement, x, w) == bits(statement, apart(x), w)


@pytest.mark.parametrize("shape", [(20, 3), (2, 20, 3), (5, 20, 2), (1, 33, 5), (4, 64, 4), (3, 300, 7)], ids=str)
def test_rows_of_few_that_are_folded_inside_of_a_fold_down_their_columns(shape):
    x = np.random.default_rng(0).integers(-3, 4, shape).astype(np.float32)
    a, down = xt.asarray(x), len(shape) - 2
    d, e = a - xt.max(a, -1, keepdims=True), x - x.max(-1, keepdims=True)
    for width in (None, *WIDTHS):
        with xt.options(vector_bits=width):
            for fold in ("min", "max", "sum"):
                got, want = getattr(xt, fold)(d, down, keepdims=True), getattr(np, fold)(e, axis=down, keepdims=True)
                np.testing.assert_array_equal(xt.evaluate(got).numpy(), want)
                np.testing.assert_array_equal(xt.evaluate(d - got).numpy(), e - want)
