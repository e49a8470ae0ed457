"""Folds that another fold needs for each of its rows are computed before, each once: in any layout, at any width, with any threads."""

import numpy as np
import pytest
from exprten_jit.beforehand import ROOM
from test_folds import close, cosine, log_softmax, normal, softmax, standardised

import exprten as xt

TWICE = {  # what is made of columns, and what a fold along the rows makes of that
    "sum of what columns sum to": (lambda m, x: x * m.sum(x, 0), lambda m, y: m.sum(y, 1)),
    "greatest above the columns' mean": (lambda m, x: x - m.mean(x, 0), lambda m, y: m.max(y, 1)),
    "where it is greatest beside the columns'": (lambda m, x: x - m.max(x, 0), lambda m, y: m.argmax(y, 1)),
    "softmax of softmax": (lambda m, x: softmax(m, x, 0), lambda m, y: softmax(m, y, 1)),
    "log-softmax of standardised": (lambda m, x: standardised(m, x, 0), lambda m, y: log_softmax(m, y, 1)),
    "spread of what stands where": (lambda m, x: x * m.argmin(x, 0), lambda m, y: m.std(y, 1)),
    "cosines with a row of columns": (lambda m, x: x - 2 * m.min(x, 0), lambda m, y: cosine(m, y, y[::-1], 1)),
    "sum of all": (lambda m, x: x - m.mean(x, 0), lambda m, y: m.sum(y * y)),
    "columns of rows of columns": (lambda m, x: softmax(m, softmax(m, x, 0), 1), lambda m, y: softmax(m, y, 0)),
    "read transposed": (lambda m, x: (x - m.max(x, 0)).T, lambda m, y: m.sum(y, 0)),
    "of another matrix": (lambda m, x: x * m.sum(x[::-1] * 2, 0) + m.max(x, 0), lambda m, y: m.min(y, 1)),
    "of a product of columns": (lambda m, x: x - m.sum(x * m.max(x, 0), 0), lambda m, y: m.sum(abs(y), 1)),
}
SHAPES = ((1, 9), (9, 1), (40, 3), (1000, 8), (300, 17), (70, 64), (65, 130), (7, 3000), (600, 257))


def both(name, x):
    """A statement, and the two that it is."""
    inner, outer = TWICE[name]
    made = xt.evaluate(inner(xt, x))
    return outer(xt, inner(xt, x)), outer(xt, made)


def stored(e):
    out = xt.zeros(e.shape, e.dtype)
    out[...] = e
    return out.numpy()


@pytest.mark.parametrize("name", TWICE)
def test_a_statement_is_what_two_are(name):
    inner, outer = TWICE[name]
    for k, shape in enumerate(SHAPES):
        for dtype in (np.float32, np.float64):
            x = normal(shape, k).astype(dtype)
            one, two = both(name, xt.asarray(x))
            found, want = stored(one), np.asarray(outer(np, inner(np, x.astype(np.float64))))
            if found.dtype.kind == "f":
                close(found, stored(two), f"{name} of {shape} against two statements", of=found.dtype.name)
                close(found, want, f"{name} of {shape}", of="float32")
            else:
                np.testing.assert_array_equal(found, stored(two), f"{name} of {shape}")


@pytest.mark.parametrize("name", TWICE)
def test_bits_are_the_same_at_every_width_and_with_any_threads(name):
    for shape in ((1000, 8), (70, 64), (65, 130), (900, 1031)):
        x = xt.asarray(normal(shape))
        found = []
        for bits, threads in ((512, 1), (256, 2), (128, 3)):
            with xt.options(vector_bits=bits, num_threads=threads):
                found.append(stored(both(name, x)[0]))
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes(), f"{name} of {shape}"


@pytest.mark.parametrize("name", TWICE)
def test_the_interpreter_agrees(name):
    x = xt.asarray(normal((9, 13)))
    found = stored(both(name, x)[0])
    with xt.options(interpret=True):
        assert stored(both(name, x)[0]).tobytes() == found.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "complex64", "complex128"])
def test_every_type(dtype):
    rng = np.random.default_rng(0)
    for shape in ((300, 5), (40, 70), (5, 300)):
        x = rng.integers(-4, 5, shape).astype(dtype)
        y = xt.asarray(x)
        for fold in ("sum", "max", "prod")[: {"c": 1, "f": 2}.get(x.dtype.kind, 3)]:
            first = getattr(np, fold)(x, 0, dtype=x.dtype) if fold != "max" else x.max(0)
            e = xt.sum(y + xt.cast(getattr(xt, fold)(y, 0), x.dtype), 1)
            want = (x + first).sum(1)
            if dtype != "float16":
                np.testing.assert_array_equal(stored(e), want, f"{fold} of {shape}")
            else:
                np.testing.assert_allclose(stored(e), (x + first).astype("f").sum(1), rtol=2e-2, atol=1)


def test_batches_have_folds_of_their_own():
    for shape in ((3, 40, 50), (5, 7, 3), (2, 300, 9)):
        x = normal(shape)
        y, wide = xt.asarray(x), x.astype(np.float64)
        for e, want in (
            (xt.sum(y * xt.max(y, 1, keepdims=True), 2), (wide * wide.max(1, keepdims=True)).sum(2)),
            (xt.sum(y * xt.max(y, (0, 1)), 2), (wide * wide.max((0, 1))).sum(2)),
            (xt.max(y - xt.sum(y, 0), (1, 2)), (wide - wide.sum(0)).max((1, 2))),
            (softmax(xt, y - xt.mean(y, 1, keepdims=True), 2), softmax(np, wide - wide.mean(1, keepdims=True), 2)),
        ):
            plan = xt.plan(xt.zeros(e.shape), e)
            assert plan.recompute < 3
            close(plan.run().numpy(), want, f"of {shape}", of="float32")


PAIRS = {
    "squared lengths": lambda m, x, y: m.sum(x * x, 1)[:, None] + m.sum(y * y, 1)[None, :],
    "rows of a column's own": lambda m, x, y: (
        (x - m.max(x, 1, keepdims=True))[:90, :90] + (y - m.min(y, 1, keepdims=True))[:90, :90].T
    ),
    "of each batch": lambda m, x, y: m.max(x.reshape(10, -1, 4), 1)[:, None] * m.max(y, 1)[:, None],
}


@pytest.mark.parametrize("shape", [(100, 90), (130, 400), (300, 16), (1000, 3)])
@pytest.mark.parametrize("name", PAIRS)
def test_rows_for_each_of_other_rows(name, shape):
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.int16):
        x, y = rng.integers(-9, 9, (2, *shape)).astype(dtype)
        if name == "rows of a column's own" and min(shape) < 90:
            continue
        with np.errstate(over="ignore"):
            want = PAIRS[name](np, x, y)
        e = PAIRS[name](xt, xt.asarray(x), xt.asarray(y))
        for out in (xt.empty(want.shape, want.dtype), xt.empty(want.shape[::-1], want.dtype).T):
            assert xt.plan(out, e).recompute < 2
            for threads in (1, 2):
                with xt.options(num_threads=threads):
                    out[...] = e
                np.testing.assert_array_equal(out.numpy(), want)


def test_what_is_said_of_it():
    x = xt.asarray(normal((300, 400)))
    plan = xt.plan(xt.zeros(300), xt.sum(x * xt.max(x, 0), 1))
    assert (plan.phases, plan.recompute, plan.temporaries, plan.launches) == (2, 1.0, 0, 1)
    assert 0 < plan.scratch_bytes <= 2 * ROOM
    assert "known0[h0]" in plan.nest
    assert plan.flops == 300 * 400 * 3
    assert xt.plan(xt.zeros((300, 400)), softmax(xt, softmax(xt, x, 0), 1)).recompute < 2


def test_the_target_may_be_what_is_read():
    for shape in ((40, 70), (300, 5), (9, 500)):
        x = normal(shape)
        y = xt.asarray(x.copy())
        y[...] = softmax(xt, softmax(xt, y, 0), 1)
        want = softmax(np, softmax(np, x.astype(np.float64), 0), 1)
        close(y.numpy(), want, f"in place, of {shape}", of="float32")
        y = xt.asarray(x.copy())
        y -= xt.sum(y * xt.max(y, 0), 1, keepdims=True)
        wide = x.astype(np.float64)
        close(y.numpy(), wide - (wide * wide.max(0)).sum(1, keepdims=True), f"in place, of {shape}", of="float32")


def test_where_there_is_no_room_it_is_refused():
    x = xt.asarray(normal((60, ROOM // 4 + 1)))
    out = xt.zeros(60)
    with pytest.raises(xt.CompileError, match="times the operations needed, most of them in max"):
        out[...] = xt.sum(x * xt.max(x, 0), 1)
    assert not out.numpy().any()
    with xt.options(max_recompute=1e9):
        out[...] = xt.sum(x * xt.max(x, 0), 1)
    wide = x.numpy().astype(np.float64)
    close(out.numpy(), (wide * wide.max(0)).sum(1), "without room", of="float32")


def test_nothing_is_compiled_again_for_other_sizes():
    def assign(shape):
        x = xt.asarray(normal(shape))
        out = xt.zeros(shape[0])
        out[...] = xt.sum(x * xt.max(x, 0), 1)

    assign((40, 170))
    with xt.no_compile():
        assign((50, 300))
        assign((500, 1000))


def test_many_statements_have_their_own_in_one_kernel():
    @xt.kernel
    def step(w, g):
        g = g - xt.max(g - xt.max(g, 0), 1, keepdims=True)
        w -= 0.5 * g

    x, d = normal((60, 70)), normal((60, 70), 1)
    w, g = xt.asarray(x.copy()), xt.asarray(d)
    step(w, g)
    close(w.numpy(), x - 0.5 * (d - (d - d.max(0)).max(1, keepdims=True)), "kernel", of="float32")


def test_threads_that_call_at_once_have_scratch_of_their_own():
    from concurrent.futures import ThreadPoolExecutor

    inputs = [normal((200, 300), k) for k in range(8)]

    def run(x):
        y, out = xt.asarray(x), xt.zeros(200)
        for _ in range(20):
            out[...] = xt.sum(y * xt.max(y, 0), 1)
        return out.numpy()

    with ThreadPoolExecutor(4) as pool:
        for x, found in zip(inputs, pool.map(run, inputs), strict=True):
            close(found, (x * x.max(0).astype(np.float64)).sum(1), "at once", of="float32")


def test_rows_of_scratch_end_where_the_next_ones_begin():
    """Which another thread may have stored by then."""
    x = np.random.default_rng(0).integers(-3, 4, (70, 64, 2, 2)).astype("int32")
    y = xt.transpose(xt.asarray(np.repeat(x, 2, axis=-1))[..., ::2], (1, 0, 2, 3))
    x = x.transpose(1, 0, 2, 3)
    lowest = np.maximum(x.max((1, 2), keepdims=True), x).min(0, keepdims=True)
    e = xt.min(xt.maximum(xt.max(y, (1, 2), keepdims=True), y), 0, keepdims=True)
    for threads in (1, 2, 3):
        with xt.options(num_threads=threads, max_recompute=1e9):
            for _ in range(5):
                assert np.array_equal(stored(xt.sum(e + y, (1, 2))), (lowest + x).sum((1, 2))), threads


def test_short_rows_are_none_where_some_of_what_they_need_has_no_room():
    x = np.random.default_rng(0).integers(-9, 9, (700, 40, 8)).astype(np.float64)
    a = xt.asarray(x)
    e, want = (
        xt.sum(a * xt.max(a, 1, keepdims=True) * xt.max(a, (0, 1)), 2),
        (x * x.max(1, keepdims=True) * x.max((0, 1))).sum(2),
    )
    for most in (16, 1e9):
        with xt.options(max_recompute=most):
            np.testing.assert_array_equal(stored(e), want)


COLUMNS = {
    "greatest sum of columns": lambda m, x: m.max(m.sum(abs(x), 0)),
    "over the greatest": lambda m, x: x / m.max(m.sum(abs(x), 0)),
    "column of the greatest sum": lambda m, x: m.argmax(m.sum(x, 0)),
    "sum of twice the maxima": lambda m, x: m.sum(m.max(x, 0) * 2),
    "spread of the means": lambda m, x: m.std(m.mean(x, 0)),
    "norm of the columns' norms": lambda m, x: m.sqrt(m.sum(m.sqrt(m.sum(x * x, 0)))),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_folds_of_columns_in_a_fold_along_them(name):
    """Also where there is no room for all columns: then some at a time, in lanes."""
    for k, shape in enumerate(((600, 257), (100, 100), (40, 3), (1000, 8), (3, 5000), (20, ROOM // 4 + 3))):
        x = normal(shape, k)
        e, want = COLUMNS[name](xt, xt.asarray(x)), np.asarray(COLUMNS[name](np, x.astype(np.float64)))
        found = []
        for bits, threads in ((512, 1), (256, 2), (128, 3)):
            with xt.options(vector_bits=bits, num_threads=threads):
                found.append(stored(e))
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes(), f"{name} of {shape}"
        close(found[0], want, f"{name} of {shape}", of="float32")


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_folds_of_columns_that_other_folds_stand_in(dtype):
    """Rows inside of columns, columns of two axes, and what vectors run along before and after: drawn, and mended."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 4, shape).astype(dtype) for shape in ((4, 17, 5, 12), (8, 3, 48, 5)))
    for order in ((0, 1, 2, 3), (2, 3, 1, 0), (3, 1, 2, 0), (1, 0, 2, 3)):
        for z in (x, y):
            a = xt.transpose(xt.asarray(np.ascontiguousarray(z.transpose(order))), tuple(np.argsort(order)))
            for make in (
                lambda m, v: m.sum(v - m.sum(v, (0, 1), keepdims=True), (3, 2)),
                lambda m, v: v + m.max(m.min(m.max(v, 1, keepdims=True), 3, keepdims=True), (0, 1), keepdims=True),
                lambda m, v: m.max(m.sum(v, 3) - m.min(m.max(v, 3), 0), (1, 2)),
            ):
                for bits in (128, 512):
                    with xt.options(vector_bits=bits, num_threads=2, max_recompute=1e9):
                        assert np.array_equal(stored(make(xt, a)), make(np, z)), f"{order} {z.shape} {bits}"
