"""What is made of folds, read at other places: loops go so that no fold is done again for every element, and every element is NumPy's."""

import numpy as np
import pytest

import exprten as xt

READ = {
    "transposed": lambda m, e: e.T,
    "reversed": lambda m, e: e[::-1],
    "reversed both ways, transposed": lambda m, e: e.T[::-1, ::-1],
    "some rows": lambda m, e: e.T[:, 1:],
    "some columns": lambda m, e: e[3:, 2:-1],
    "every third": lambda m, e: e.T[::2, ::3],
    "one row": lambda m, e: e[2],
    "one column": lambda m, e: e[:, 2],
    "twice": lambda m, e: e.T[::-1].T[:, 1:],
    "beside a transpose": lambda m, e: e.T * 2 + e.T[::-1],
    "repeated": lambda m, e: m.broadcast_to(e, (3, *e.shape)),
    "padded": lambda m, e: xt.pad(e.T, 1) if m is xt else np.pad(e.T, 1),
}
FOLDED = {
    "rows": lambda m, x: x - m.max(x, 1, keepdims=True),
    "columns": lambda m, x: x - m.max(x, 0, keepdims=True),
    "of a transpose": lambda m, x: (x.T - m.max(x.T, 0, keepdims=True)).T,
    "both": lambda m, x: x - m.max(x, 0, keepdims=True) * m.min(x, 1, keepdims=True),
    "nested": lambda m, x: x - m.sum(x - m.max(x, 1, keepdims=True), 1, keepdims=True),
    "a row of its own": lambda m, x: x - m.max(x.T, 0)[:, None],
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("folded", FOLDED)
@pytest.mark.parametrize("read", READ)
def test_folds_that_are_read_elsewhere(read, folded):
    rng = np.random.default_rng(0)
    for dtype in ("float32", "int16"):
        for shape in ((70, 90), (300, 5), (6, 400)):
            x = rng.integers(-9, 9, shape).astype(dtype)
            want = READ[read](np, FOLDED[folded](np, x))
            e = READ[read](xt, FOLDED[folded](xt, xt.asarray(x)))
            for out in (xt.empty(want.shape, want.dtype), xt.empty(want.shape[::-1], want.dtype).T):
                for threads in (1, 2):
                    with xt.options(num_threads=threads):
                        out[...] = e
                    np.testing.assert_array_equal(out.numpy(), want)


@pytest.mark.parametrize("read", [name for name in READ if name != "repeated"])
@pytest.mark.parametrize("folded", ["rows", "columns", "of a transpose"])
def test_no_fold_is_done_again_for_every_element(read, folded):
    e = READ[read](xt, FOLDED[folded](xt, xt.ones((70, 333))))
    assert xt.plan(xt.empty(e.shape), e).recompute <= 2


def test_a_fold_below_a_transpose_has_the_bits_of_one_above_it():
    x = np.random.default_rng(0).standard_normal((333, 1000)).astype(np.float32)
    a = xt.asarray(x)
    above = xt.evaluate(a.T / xt.sum(a.T, 0, keepdims=True)).numpy()
    assert xt.evaluate((a / xt.sum(a, 1, keepdims=True)).T).numpy().tobytes() == above.tobytes()
    assert (above == xt.evaluate(a / xt.sum(a, 1, keepdims=True)).numpy().T).all()


GUARDED = {
    "a padded fold of rows": lambda m, x, r, c: _pad(m, x - m.max(x, 1, keepdims=True)),
    "a padded fold of columns": lambda m, x, r, c: _pad(m, x - m.max(x, 0, keepdims=True)),
    "padded, of both, beside others": lambda m, x, r, c: (
        _pad(m, x - m.max(x, 0, keepdims=True) * m.min(x, 1, keepdims=True)) + _pad(m, x) * 2
    ),
    "joined columns": lambda m, x, r, c: _joined(m, x - m.max(x, 0, keepdims=True), x, 1),
    "joined columns, transposed": lambda m, x, r, c: _joined(m, x - m.max(x, 0, keepdims=True), x, 1).T,
    "joined rows": lambda m, x, r, c: _joined(m, x, x - m.sum(x, 0, keepdims=True), 0),
    "a padded transpose": lambda m, x, r, c: _pad(m, (x - m.max(x, 0, keepdims=True)).T),
    "a padded fold beside a fold": lambda m, x, r, c: _pad(m, x[:, 2:]) - m.max(_pad(m, x[:, 2:]), 0, keepdims=True),
    "what is dear, padded": lambda m, x, r, c: _pad(m, m.rint(m.sqrt(m.exp2(r + 0.0))) * c),
    "what is dear, joined": lambda m, x, r, c: _joined(m, m.rint(m.exp2(r * 1.0)) * c, m.rint(m.exp2(r + 1.0)) * c, 1),
}


def _pad(m, e):
    return xt.pad(e, 1) if m is xt else np.pad(e, 1)


def _joined(m, a, b, axis):
    return xt.concat(a, b, axis=axis) if m is xt else np.concatenate((a, b), axis)


@pytest.mark.parametrize("name", GUARDED)
def test_folds_and_what_is_dear_beside_guards(name):
    rng = np.random.default_rng(0)
    for shape in ((70, 90), (300, 5), (6, 400), (1, 70), (70, 3), (5, 3000)):
        x = rng.integers(-9, 9, shape).astype(np.float32)
        r, c = (rng.integers(0, 5, s).astype(np.float32) for s in ((1, shape[1]), (shape[0], 1)))
        want = GUARDED[name](np, x, r, c)
        e = GUARDED[name](xt, *map(xt.asarray, (x, r, c)))
        for out in (xt.empty(want.shape), xt.empty(want.shape[::-1]).T, xt.empty((*want.shape, 2))[..., 1]):
            for threads, bits in ((1, None), (2, 256), (3, 128)):
                with xt.options(num_threads=threads, vector_bits=bits):
                    out[...] = e
                np.testing.assert_array_equal(out.numpy(), want)


def test_columns_are_saved_within_pieces():
    x, r = xt.ones((300, 200)), xt.ones((1, 200))
    for e in (xt.pad(x - xt.max(x, 0, keepdims=True), 1), xt.concat(xt.exp(r) * x, x, axis=1)):
        nest = xt.plan(xt.empty(e.shape), e).nest
        assert nest.startswith("pieces of i1") and "columns of i1 in piece_start..piece_end" in nest


def test_a_load_is_guarded_by_what_tells_of_where_it_reads():
    x = xt.ones((300, 200))
    e = xt.pad(x - xt.max(x, 1, keepdims=True), 1)
    nest = xt.plan(xt.empty(e.shape), e).nest
    assert nest.index("fold f0") < nest.index("pieces of i1")
    empty = xt.pad(xt.ones((0, 5)) - xt.sum(xt.ones((0, 5)), 1, keepdims=True), 2)
    assert not xt.evaluate(empty).numpy().any()
    assert not xt.evaluate(xt.pad(xt.ones((5, 0)) + xt.sum(xt.ones((5, 0)), 1, keepdims=True), 2)).numpy().any()


def below_its_greatest(m, x, axis):
    return x - m.max(x, axis, keepdims=True)


NESTED = {
    "batch, then examples": lambda m, x: below_its_greatest(m, below_its_greatest(m, x, (0, 1)), 0),
    "middle, then first": lambda m, x: below_its_greatest(m, below_its_greatest(m, x, 1), 0),
    "first and last, then last": lambda m, x: m.sum(x - m.max(x, (0, 2), keepdims=True), 2),
    "three": lambda m, x: m.sum(x - m.max(x, 2, keepdims=True) * m.max(x, (0, 1), keepdims=True), 0),
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", NESTED)
def test_folds_of_different_axes_in_each_other(name, transposed):
    x = np.random.default_rng(0).integers(-9, 9, (50, 6, 400)).astype(np.float32)
    e, want = NESTED[name](xt, xt.asarray(x)), NESTED[name](np, x)
    out = xt.empty(want.shape[::-1]).T if transposed else xt.empty(want.shape)
    assert xt.plan(out, e).recompute < 2.5
    for threads in (1, 2):
        with xt.options(num_threads=threads):
            out[...] = e
        np.testing.assert_array_equal(out.numpy(), want)


SHAPED = {
    "split": lambda m, e: e.reshape(12, 10, 4, 5),
    "merged": lambda m, e: e.reshape(3, 4, 10, 20).reshape(12, 10, 20).reshape(120, 20),
    "flat": lambda m, e: e.reshape(-1),
    "flat, scaled": lambda m, e: 2 * e.reshape(-1) - 1,
    "flat, the greatest": lambda m, e: m.max(e.reshape(-1)),
    "flat, from the greatest on": lambda m, e: below_its_greatest(m, e.reshape(-1), 0) - m.min(e),
    "split, reversed, transposed": lambda m, e: e.reshape(12, 10, 4, 5)[::-1, :, 1:].T,
    "split, folded": lambda m, e: m.sum(e.reshape(12, 10, 4, 5), (1, 3)),
    "an element of all": lambda m, e: m.max(e.reshape(-1), 0, keepdims=True)[0] + e,
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("folded", ["rows", "middle", "all", "whole rows"])
@pytest.mark.parametrize("shaped", SHAPED)
def test_what_is_made_of_folds_is_reshaped(shaped, folded):
    make = {
        "rows": lambda m, x: x - m.max(x, 2, keepdims=True),
        "middle": lambda m, x: x - m.max(x, 1, keepdims=True),
        "all": lambda m, x: x - m.max(x),
        "whole rows": lambda m, x: m.max(x, 1, keepdims=True) - x * m.min(x, (0, 2), keepdims=True),
    }[folded]
    for dtype in ("float32", "int16"):
        x = np.random.default_rng(0).integers(-9, 9, (12, 10, 20)).astype(dtype)
        e, want = SHAPED[shaped](xt, make(xt, xt.asarray(x))), SHAPED[shaped](np, make(np, x))
        assert e.shape == want.shape
        for out in (xt.empty(want.shape, want.dtype), xt.empty(want.shape[::-1], want.dtype).T):
            if "flat" not in shaped or folded != "rows" or out.is_contiguous:
                out[...] = e
                np.testing.assert_array_equal(out.numpy(), want)


def test_what_it_takes_is_told_by_what_was_written():
    x = xt.ones((100, 100))
    e = xt.exp(x)
    twice, out = e + e.T, xt.empty((100, 100))
    assert xt.plan(out, e.T).recompute == 1
    assert xt.plan(out, twice).recompute > 1.9
    assert xt.plan(out, xt.exp(x) + xt.exp(x.T)).recompute == 1
    rows = e / xt.sum(e, 1, keepdims=True)
    assert xt.plan(out, rows.T).recompute < xt.plan(out, rows + rows.T).recompute < 4
    with (
        xt.options(max_recompute=1.5),
        pytest.raises(xt.CompileError, match=r"= \(exp\(.*transpose\(exp\(.*most of them in exp"),
    ):
        out[...] = twice


def test_runs_again_over_other_tensors():
    """From the third run on without Python, over other memory, where the tree is the same."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((60, 80)).astype(np.float32) for _ in range(4)]
    a, b, c, d = map(xt.asarray, arrays)
    out = xt.empty((80, 57))

    def of(x, y, scale):
        return ((x - xt.max(y, 1, keepdims=True)) * scale)[3:, ::-1].T + x[3:].T / scale

    def want(x, y, scale):
        return ((x - y.max(1, keepdims=True)) * np.float32(scale))[3:, ::-1].T + x[3:].T / np.float32(scale)

    for n in range(12):
        out[...] = of(a, a, n + 1)
        np.testing.assert_array_equal(out.numpy(), want(*arrays[:1] * 2, n + 1))
    for n, (x, y) in enumerate([(c, c), (c, d), (a, b), (b, b), (d, a)] * 3):
        out[...] = of(x, y, n + 1)
        np.testing.assert_array_equal(out.numpy(), want(x.numpy(), y.numpy(), n + 1))


def test_runs_again_over_other_rows_of_the_target():
    x = np.arange(40, dtype=np.float32).reshape(8, 5)
    t = xt.array(x)
    for _ in range(6):
        t[...] = x
        t[4:] = (t - 1)[:4]
        np.testing.assert_array_equal(t.numpy()[4:], x[:4] - 1)
        np.testing.assert_array_equal(t.numpy()[:4], x[:4])
    for _ in range(6):
        t[...] = x
        t[1:] = (t * 2)[:-1]  # backwards, or each row would be twice the one before
        np.testing.assert_array_equal(t.numpy()[1:], x[:-1] * 2)


def test_another_target_than_a_reshaped_one_is_refused():
    x, out = xt.ones((6, 8)), xt.empty(48)
    e = (x / xt.sum(x, 1, keepdims=True)).reshape(-1)
    for _ in range(5):
        out[...] = e
        with pytest.raises(xt.ShapeError):
            xt.empty((6, 8))[...] = e
    out.reshape(48)[...] = e
    assert (out.numpy() == np.float32(1 / 8)).all()


def test_a_column_of_every_second_element_does_not_decide_the_loops():
    x = np.random.default_rng(0).integers(-9, 9, (300, 400)).astype(np.float32)
    t = xt.asarray(x)[:, ::2]
    e, out = t - xt.max(t, 1, keepdims=True), xt.empty((200, 300)).T
    assert xt.plan(out, e).recompute == 1
    out[...] = e
    np.testing.assert_array_equal(out.numpy(), x[:, ::2] - x[:, ::2].max(1, keepdims=True))


def test_deep_trees_run_again():
    x, out, back = xt.ones((6, 5)), xt.empty((5, 6)), xt.empty((6, 5))
    for _ in range(5):
        e = x
        for _ in range(500):
            e = -e
        out[...] = (e * 2 - xt.max(e, 1, keepdims=True)).T
        back[...] = e
        assert (out.numpy() == 1).all()
        assert (back.numpy() == 1).all()
