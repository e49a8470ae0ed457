"""What a fold has computed lies in the target's row until it is needed again: where there is room, and nowhere else."""

import numpy as np
import pytest

import exprten as xt

X = np.random.default_rng(0).standard_normal((67, 83)).astype(np.float32)


def softmax(x, axis=1):
    e = xt.exp(x - xt.max(x, axis, keepdims=True))
    return e / xt.sum(e, axis, keepdims=True)


def reference(x, axis=1):
    with xt.options(vector_bits=128):  # into a wider type nothing is kept
        wide = xt.empty(x.shape, dtype=xt.float64)
        wide[...] = softmax(xt.asarray(x), axis)
        return wide.numpy().astype(np.float32)


KEPT = {
    "rows": lambda x, y: (y, softmax(x), reference(X)),
    "in place": lambda x, y: (x, softmax(x), reference(X)),
    "all elements": lambda x, y: (y, softmax(x, None), reference(X, None)),
    "all elements in place": lambda x, y: (x, softmax(x, None), reference(X, None)),
    "part": lambda x, y: (x[10:50], softmax(x[10:50]), reference(X[10:50])),
    "upwards": lambda x, y: (y[::-1, ::-1], softmax(x), reference(X)),
    "strided": lambda x, y: (y[:, :82:2], softmax(x[:, :82:2]), reference(X[:, :82:2].copy())),
    "several rows": lambda x, y: (y.reshape((67, 83)), softmax(x) * 2, reference(X) * 2),
}

LEFT = {
    "added": (lambda x, y: (y, softmax(x), "add"), lambda e: X + e),
    "target read": (lambda x, y: (y, softmax(x) + y, "write"), lambda e: e + X),
    "source read": (lambda x, y: (x, softmax(x) + x, "write"), lambda e: e + X),
    "target folded": (lambda x, y: (y, softmax(x) * xt.max(y, 1, keepdims=True), "write"),
                      lambda e: e * X.max(1, keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("bits", [128, None])
@pytest.mark.parametrize("name", KEPT)
def test_a_dear_value_is_computed_once(name, bits):
    target, e, expected = KEPT[name](xt.asarray(X.copy()), xt.asarray(X.copy()))
    with xt.options(vector_bits=bits):
        plan = xt.plan(target, e)
        plan.run()
    assert plan.recompute == 1
    assert np.array_equal(target.numpy(), expected)


def test_what_is_kept_is_counted_once():
    x = xt.asarray(X)
    e = xt.exp(x - xt.max(x, 1, keepdims=True))
    total = xt.plan(xt.empty((67, 1)), xt.sum(e, 1, keepdims=True))
    assert xt.plan(xt.empty((67, 83)), softmax(x)).flops == total.flops + 67 * 83  # a division each


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(67, 83), (40, 17), (30, 33), (9, 300), (3, 20, 24)], ids=str)
def test_what_is_kept_in_half_the_bits_is_what_was_computed(shape, dtype):
    """A value of such a type is a number of it before it is stored."""
    x = xt.evaluate(xt.asarray(np.random.default_rng(2).standard_normal(shape).astype(np.float32) * 4).astype(dtype))
    x[..., 5] = float("nan")
    axis = len(shape) - 1
    e = xt.evaluate(xt.exp(x - xt.max(x, axis, keepdims=True)))
    want = xt.evaluate(e / xt.sum(e, axis, keepdims=True)).numpy().astype(np.float32)
    for bits in (128, 512):
        own = xt.array(x.numpy())
        for target, source in ((xt.zeros(shape, dtype), x), (own, own)):
            with xt.options(vector_bits=bits):
                plan = xt.plan(target, softmax(source, axis))
                plan.run()
            assert plan.recompute == 1
            np.testing.assert_array_equal(target.numpy().astype(np.float32), want)


@pytest.mark.parametrize("name", LEFT)
def test_a_target_that_is_read_holds_nothing_else(name):
    make, expected = LEFT[name]
    target, e, mode = make(xt.asarray(X.copy()), xt.asarray(X.copy()))
    plan = xt.plan(target, e, mode)
    plan.run()
    assert plan.recompute > 1
    assert np.array_equal(target.numpy(), expected(reference(X)))


def test_a_target_that_overlaps_an_operand_holds_nothing_else():
    memory = xt.asarray(np.arange(200, dtype=np.float32) / 100)
    x, y, total = memory[:100], memory[50:150], memory[40:140].numpy().copy().sum()
    z = xt.asarray(np.linspace(0, 1, 100, dtype=np.float32))
    e = xt.exp(z)
    y[...] = e / xt.sum(e) * xt.sum(memory[40:140])  # the last sum is of what the target is written over
    share = np.exp(z.numpy().astype(np.float64))
    np.testing.assert_allclose(y.numpy(), share / share.sum() * total, rtol=1e-5)
    assert x.numpy()[0] == 0


def test_threads_keep_the_same():
    x = xt.asarray(np.random.default_rng(1).standard_normal(300_000).astype(np.float32))
    found = []
    for threads in (1, 2, 3):
        y = xt.empty(x.shape)
        with xt.options(num_threads=threads):
            y[...] = softmax(x, 0)
        found.append(y.numpy().copy())
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    assert abs(float(found[0].astype(np.float64).sum()) - 1) < 1e-5


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 256, None])
@pytest.mark.parametrize(
    "shape", [(5, 7, 2), (9, 64, 3), (2, 8, 5), (33, 17, 8), (3, 40, 11), (6, 256, 16), (2, 5, 33), (4, 3, 64)], ids=str
)
def test_few_rows_of_few_columns_of_each_outer_index(shape, bits):
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    x[0, 1, 1] = np.inf  # NaN in its column
    source, own, target = xt.array(x), xt.array(x), xt.zeros(shape)
    expected = reference(source, 1)
    every_other = xt.zeros((*shape[:2], 2 * shape[2]))[..., ::2]
    with xt.options(vector_bits=bits):
        for into, e in ((target, softmax(source, 1)), (own, softmax(own, 1)), (every_other, softmax(source, 1))):
            plan = xt.plan(into, e)
            plan.run()
            assert (plan.recompute == 1) == (into is not every_other)
            np.testing.assert_array_equal(into.numpy(), expected)


@pytest.mark.parametrize(("shape", "order"), [((12, 5, 16, 12), (0, 2, 3, 1)), ((2, 48, 3, 7), (0, 2, 1, 3))], ids=str)
def test_few_rows_of_few_columns_that_are_normalised(shape, order):
    """What is made of a fold of stored values is no value to be saved a second time."""
    x = np.random.default_rng(4).standard_normal(shape).transpose(order)
    y = xt.zeros(x.shape, "float64")
    y[...] = (xt.asarray(x) - xt.mean(xt.asarray(x), 1, keepdims=True)) / xt.std(xt.asarray(x), 1, keepdims=True)
    np.testing.assert_allclose(
        y.numpy(), (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("reads", ["target", "source", "fold of it"])
def test_few_rows_of_few_columns_whose_target_is_needed(reads):
    x = np.random.default_rng(4).standard_normal((9, 20, 3)).astype(np.float32)
    source, target = xt.array(x), xt.array(x * 2)
    more = {"target": lambda: target, "source": lambda: source, "fold of it": lambda: xt.max(target, 1, keepdims=True)}
    into = source if reads == "source" else target
    added = {"target": x * 2, "source": x, "fold of it": (x * 2).max(1, keepdims=True)}[reads]
    expected = reference(xt.array(x), 1) + added
    into[...] = softmax(source, 1) + more[reads]()
    np.testing.assert_array_equal(into.numpy(), expected)


@pytest.mark.parametrize("shape", [(9, 20, 4, 3), (33, 8, 5, 2), (5, 64, 3, 8), (7, 17, 6, 16)], ids=str)
def test_columns_that_are_folded_one_by_one_between_others(shape):
    """What is folded in a fold for each column is known to the next fold."""
    rng = np.random.default_rng(5)
    x, z = rng.standard_normal((*shape[:2], shape[3])), rng.standard_normal(shape)

    def value(of, x, z):
        most, added = of.max(x, 1, keepdims=True), of.sum(of.max(z, 2), 1, keepdims=True)
        powers = of.exp(x - most)
        return powers / of.sum(powers * added, 1, keepdims=True) + of.max(x - added, 1, keepdims=True)

    target = xt.zeros(x.shape, dtype="float64")
    target[...] = value(xt, xt.asarray(x), xt.asarray(z))
    np.testing.assert_allclose(target.numpy(), value(np, x, z), rtol=1e-9)
