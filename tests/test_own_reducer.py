"""Reducers of one's own: `@xt.reducer`, with one accumulator and with several."""

import itertools
import math
import pickle

import numpy as np
import pytest
from exprten_jit import reducers
from exprten_jit.interpret import interpret
from exprten_jit.reducers import brought_together
from strategies import assert_same_bits, place

import exprten as xt


def _magnitude(x):
    return abs(x)


@xt.reducer(identity=0.0, element=_magnitude)
def hypotenuse(a, b):
    return xt.sqrt(a * a + b * b)


@xt.reducer(identity=0)
def either(a, b):
    return a | b


@xt.reducer(identity=-0.0)
def total(a, b):
    return a + b


def _power(x):
    return x, 1.0


def _logarithm(most, powers):
    return most + xt.log(powers)


@xt.reducer(identity=(-math.inf, 0.0), element=_power, result=_logarithm)
def logsumexp(m, s, n, t):
    most = max(m, n)
    left = s * xt.exp(m - most) if s > 0 else 0.0
    right = t * xt.exp(n - most) if t > 0 else 0.0
    return most, left + right


def _scaled(most, powers):
    return most * powers


@xt.reducer(identity=(-math.inf, 0.0), element=_power, result=_scaled)
def powers(m, s, n, t):
    most = max(m, n)
    return most, (s * xt.exp(m - most) if s > 0 else 0.0) + (t * xt.exp(n - most) if t > 0 else 0.0)


def _one(x):
    return 1.0, x, 0.0


def _variance(n, mean, squares):
    return squares / n


@xt.reducer(identity=(0.0, 0.0, 0.0), element=_one, result=_variance)
def variance(n, mean, squares, k, other, more):
    """Chan, Golub and LeVeque (1979): the squares of two sides, and of the way between their means."""
    both = n + k
    way, share = other - mean, k / both if both > 0 else 0.0
    return both, mean + way * share, squares + more + way * way * n * share


@xt.reducer(identity=(-math.inf, 2**31 - 1))
def furthest(v, i, w, k):
    take = w > v or (w == v and k < i)
    return (w if take else v), (k if take else i)


def _weighted(x, w):
    return x * w, w


def _quotient(total, weight):
    return total / weight


@xt.reducer(identity=(0.0, 0.0), element=_weighted, result=_quotient)
def average(total, weight, more, other):
    return total + more, weight + other


def normal(shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


REFERENCE = {
    hypotenuse: lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
    logsumexp: lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
    variance: lambda x, axis, keepdims: x.var(axis, keepdims=keepdims),
}
SHAPES = [(7,), (33, 5), (100, 3), (2, 4500), (700, 2), (4, 33, 6), (3, 300, 2), (1, 9, 1)]


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("made", REFERENCE, ids=lambda made: made.__name__)
def test_every_axis(made, dtype):
    for shape in SHAPES:
        x = normal(shape, 1, dtype)
        axes = [None, *range(len(shape)), *itertools.combinations(range(len(shape)), 2)]
        for axis, keepdims in itertools.product(axes, (False, True)):
            e = made(xt.asarray(x), axis=axis, keepdims=keepdims)
            want = REFERENCE[made](x.astype(np.float64), axis, keepdims)
            assert e.shape == want.shape
            assert e.dtype == dtype
            np.testing.assert_allclose(xt.evaluate(e).numpy(), want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("layout", ["padded", "transposed", "step2", "negative", "mirrored", "repeated rows"])
def test_every_layout(layout):
    for shape, axis in itertools.product(((5, 40), (70, 3), (300, 7)), (0, 1, None)):
        x = place(normal(shape), layout).array
        got = xt.evaluate(logsumexp(xt.asarray(x), axis=axis)).numpy()
        np.testing.assert_allclose(got, REFERENCE[logsumexp](x.astype(np.float64), axis, False), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("shape", [(70, 3), (5, 40), (3, 4500), (300, 3)], ids=str)
def test_the_order_is_a_sums(shape):
    x = normal(shape)
    for axis in (0, 1, None):
        for bits in (128, 256, None):
            with xt.options(vector_bits=bits):
                got, want = xt.evaluate(total(xt.asarray(x), axis=axis)), xt.evaluate(xt.sum(xt.asarray(x), axis))
                assert_same_bits(np.atleast_1d(got.numpy()), np.atleast_1d(want.numpy()), f"axis {axis}, {bits} bits")


@pytest.mark.parametrize("statement", [lambda x: powers(x, axis=1), lambda x: powers(x, axis=0), variance])
def test_machine_code_has_the_interpreters_bits_at_every_width(statement):
    for shape in ((3, 33), (67, 3), (9, 2)):
        x = normal(shape)
        e, want = statement(xt.asarray(x)), None
        for bits in (128, 256, None):
            with xt.options(vector_bits=bits):
                out = xt.zeros(e.shape)
                plan = xt.plan(out, e)
                if want is None:
                    (_, launch), kernel = plan._prepared, plan._code.kernel
                    arrays = {leaf.name: (x.reshape(-1).copy(), 0) for leaf in kernel.leaves}
                    arrays[kernel.leaves[0].name] = (np.zeros(max(1, out.size), np.float32), 0)
                    interpret(kernel, arrays, dict(launch.arranged.sizes), {})
                    want = arrays[kernel.leaves[0].name][0].reshape(e.shape)
                got = plan.run().numpy()
                assert_same_bits(np.atleast_1d(got), np.atleast_1d(want), f"{shape}, {bits} bits")


def test_several_accumulators_are_brought_together_as_it_is_defined():
    x = normal(5000)
    order = reducers.along(xt.zeros(1).key.dtype)

    def combine(a, b):
        return a[0] + b[0], np.float32(np.sqrt(a[1] * a[1] + b[1] * b[1]))

    @xt.reducer(identity=(0.0, 0.0))
    def both(a, p, b, q):
        return a + b, xt.sqrt(p * p + q * q)

    for n in (1, 31, 33, 4096, 4097, 5000):
        want = brought_together(zip(x[:n], x[:n], strict=True), combine, (np.float32(0), np.float32(0)), order)
        got = both(xt.asarray(x[:n]), xt.asarray(x[:n]))
        assert [float(v) for v in got] == [float(v) for v in want]


def test_without_a_result_the_accumulators_are_a_tuple():
    x, at = normal((20, 30)), np.broadcast_to(np.arange(30, dtype=np.int32), (20, 30))
    value, index = furthest(xt.asarray(x), xt.asarray(at), axis=1)
    assert (xt.evaluate(index).numpy() == x.argmax(1)).all()
    assert (xt.evaluate(value).numpy() == x.max(1)).all()


def test_both_accumulators_in_one_statement_are_one_pass():
    x, at = xt.asarray(normal((20, 200))), xt.array(np.broadcast_to(np.arange(200, dtype=np.int32), (20, 200)))
    value, index = furthest(x, at, axis=1)
    plan = xt.plan(xt.zeros(20, dtype=xt.float64), value * index)
    assert plan.nest.count("fold f0") == 1
    assert (plan.run().numpy() == x.numpy().max(1) * x.numpy().argmax(1)).all()


def test_several_operands_are_broadcast():
    x, w = normal((20, 30)), np.abs(normal(30, 1)) + 0.1
    np.testing.assert_allclose(
        xt.evaluate(average(xt.asarray(x), xt.asarray(w), axis=1)).numpy(), np.average(x, axis=1, weights=w), rtol=1e-4
    )
    np.testing.assert_allclose(xt.evaluate(average(xt.asarray(x), 2.0)).numpy(), x.mean(), rtol=1e-4, atol=1e-6)


def test_integers():
    x = np.random.default_rng(0).integers(0, 2**20, (9, 300)).astype(np.int32)
    for axis in (0, 1, None):
        got = xt.evaluate(either(xt.asarray(x), axis=axis))
        assert got.dtype == np.int32
        assert (got.numpy() == np.bitwise_or.reduce(x, axis)).all()


def test_in_an_expression_and_in_place():
    x = normal((40, 50))
    t = xt.array(x)
    t /= hypotenuse(t, axis=1, keepdims=True)
    np.testing.assert_allclose(t.numpy(), x / np.linalg.norm(x, axis=1, keepdims=True), rtol=2e-5)


def test_a_second_run_compiles_nothing():
    t = xt.zeros(30)
    t[...] = logsumexp(xt.ones((30, 19)), axis=1)
    with xt.no_compile():
        t[...] = logsumexp(xt.ones((30, 22)), axis=1)
    np.testing.assert_allclose(t.numpy(), 1 + math.log(22), rtol=1e-6)


def test_over_nothing_it_is_the_identity():
    empty = xt.zeros((3, 0))
    assert xt.evaluate(hypotenuse(empty, axis=1)).numpy().tolist() == [0.0, 0.0, 0.0]
    assert float(hypotenuse(xt.zeros(0))) == 0.0
    assert np.isneginf(xt.evaluate(logsumexp(empty, axis=1)).numpy()).all()


def test_over_no_axis_it_is_the_element():
    assert xt.evaluate(variance(xt.array([1.0, 2.0]), axis=())).numpy().tolist() == [0.0, 0.0]


def test_the_variance_of_large_numbers_does_not_cancel():
    x = (normal(30_000) + 3000).astype(np.float32)
    want = x.astype(np.float64).var()
    two = abs(float(xt.var(xt.asarray(x))) - want)
    one = abs(float(variance(xt.asarray(x))) - want)
    assert max(one, two) < 1e-3 * want


def test_it_is_shown_and_pickled_by_reference():
    assert repr(total) == "<reducer total(a, b), identity (-0.0,)>"
    assert pickle.loads(pickle.dumps(total)) is total
    assert "total(float32(2, 3), axis=1)" in repr(total(xt.zeros((2, 3)), axis=1))
    assert variance.__doc__.startswith("Chan")


# Errors.


def _made(count, body):
    def three(a, b, c):
        return a

    def pair(a, b):
        return a, b

    def one(a, b, c, d):
        return a

    def loop(a, b):
        for _ in range(3):
            a = a + b
        return a

    return xt.reducer(identity=(0.0,) * count)({"three": three, "pair": pair, "one": one, "loop": loop}[body])


REFUSED = {
    "parameters": (1, "three", "it has 3 parameters, not 2: the accumulators of one side, then those of the other"),
    "two": (2, "pair", "it has 2 parameters, not 4"),
    "numbers": (2, "one", r"`a`: there are 2 accumulators; return a number for each"),
    "loop": (1, "loop", "an operation has no loops"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_reducer_is_refused_where_it_is_written(name):
    count, body, text = REFUSED[name]
    with pytest.raises(xt.CompileError, match=rf"test_own_reducer\.py:\d+:\d+: .*{text}"):
        _made(count, body)


def test_wrong_calls():
    x = xt.zeros((3, 4))
    with pytest.raises(TypeError, match=r"^total: folds 1 operand, not 2; axis is given by name$"):
        total(x, 1)
    with pytest.raises(TypeError, match=r"^average: folds 2 operands, not 1; axis is given by name$"):
        average(x)
    with pytest.raises(xt.ShapeError, match=r"^total: axis 2 "):
        total(x, axis=2)
    with pytest.raises(xt.ShapeError, match=r"^furthest: "):
        furthest(x, xt.zeros(3), axis=1)
    with pytest.raises(TypeError, match=r"^reducer: identity is 'x'; it must be a number, or a tuple of up to 3$"):
        xt.reducer(identity="x")
    with pytest.raises(
        TypeError, match=r"^reducer: _power is given without a name; write @xt\.reducer\(identity=\.\.\.\) above"
    ):
        xt.reducer(_power)
    with pytest.raises(TypeError, match=r"^reducer: 0\.0 is given without a name; "):
        xt.reducer(0.0)
    with pytest.raises(TypeError, match=r"^reducer: identity is None; it must be a number"):
        xt.reducer()
    with pytest.raises(TypeError, match=r"^reducer: element is a int; it must be a Python function$"):
        xt.reducer(identity=0.0, element=3)(_power)
    with pytest.raises(
        TypeError, match=r"^furthest: result has the parameters \(total, weight\); there are 3 accumulators$"
    ):
        xt.reducer(identity=(0.0, 0.0, 0.0), result=_quotient)(_renamed())


def _renamed():
    def furthest(a, b, c, d, e, f):
        return a + d, b + e, c + f

    return furthest


def _itself(x):
    return x, x


def _square_and_itself(x):
    return x * x, x


@xt.reducer(identity=(math.inf, -math.inf), element=_itself)
def extremes(a, b, c, d):
    return min(a, c), max(b, d)


@xt.reducer(identity=(0.0, 1.0), element=_square_and_itself)
def squares_and_product(a, b, c, d):
    return a + c, b * d


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("length", [3, 7, 12, 15, 16, 17, 24, 40, 63, 100, 127, 130])
def test_accumulators_of_one_element_have_their_own_identities(length, bits):
    """Also in the lanes of a row that hold no element."""
    for dtype in ("float32", "float64"):
        x = 1 + np.random.default_rng(length).integers(0, 2, (8, length)).astype(dtype) / 4
        with xt.options(vector_bits=bits):
            least, most = (xt.evaluate(part).numpy() for part in extremes(xt.asarray(x), axis=1))
            squares, product = (xt.evaluate(part).numpy() for part in squares_and_product(xt.asarray(x), axis=1))
        np.testing.assert_array_equal(least, x.min(1))
        np.testing.assert_array_equal(most, x.max(1))
        np.testing.assert_allclose(squares, (x * x).sum(1), rtol=1e-5)
        np.testing.assert_allclose(product, x.prod(1), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float32"])
def test_an_identity_may_be_a_bool(dtype):
    @xt.reducer(identity=True)
    def every(a, b):
        return a * b

    x = np.array([[1, 1, 0], [1, 1, 1]], dtype)
    np.testing.assert_array_equal(xt.evaluate(every(xt.asarray(x), axis=1)).numpy(), x.prod(1).astype(dtype))


def _turned():
    @xt.reducer(identity=1j)
    def turned(a, b):
        return a * b

    return turned


def test_wrong_types():
    ints = xt.zeros(3, dtype=xt.int32)
    with pytest.raises(xt.DTypeError, match=r"^total: the identity -0.0 is no int32; convert the operand"):
        total(ints)
    with pytest.raises(xt.DTypeError, match=r"^turned: the identity 1j is no float32; .* xt.cast\(x, xt.complex128\)$"):
        _turned()(xt.ones(3))
    with pytest.raises(OverflowError, match=r"^furthest: 2147483647 does not fit uint8"):
        furthest(xt.zeros(3), xt.zeros(3, dtype=xt.uint8))

    @xt.reducer(identity=1)
    def ratio(a, b):
        return a / b

    with pytest.raises(
        xt.DTypeError,
        match=r"^ratio: accumulator is int32, and what two of them come to is float64; .* xt.cast\(x, xt.float64\)$",
    ):
        ratio(ints)
