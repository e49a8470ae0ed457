"""Operators and assignments once they are machine code: what Python's methods did, they do."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import exprten as xt
from exprten.options import USE_CTYPES
from exprten.statement import direct

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod]
NUMBERS = [0.5, -3, 2**40, 2**63, -(2**63), 2**70, True, np.float32(0.5), np.float64(0.5), np.int32(3)]


@pytest.fixture(autouse=True)
def accelerated():
    """A statement run often enough for its direct call, which brings the machine code of all operators."""
    t = xt.asarray(np.ones(4, np.float32))
    for _ in range(6):
        t[...] = t + 0.0
    if not USE_CTYPES:
        assert type(xt.Tensor.__setitem__) is type(dict.__setitem__)
        assert type(xt.Tensor.__add__) is type(dict.__setitem__)


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_on_either_side(op, number, dtype):
    a = np.linspace(1, 5, 7, dtype=dtype)
    t = xt.asarray(a.copy())
    for ours, theirs in ((lambda: op(t, number), op(a, number)), (lambda: op(number, t), op(number, a))):
        for _ in range(2):  # the second time the key is linked
            got = ours()
            assert got.dtype == theirs.dtype
            np.testing.assert_array_equal(xt.evaluate(got).numpy(), theirs)


@pytest.mark.parametrize("op", IN_PLACE)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_assigned_in_place(op, number):
    a = np.linspace(1, 5, 7, dtype=np.float64)
    t = xt.asarray(a.copy())
    for _ in range(6):
        same = op(t, number)
        a = op(a, number)
        assert same is t
        np.testing.assert_array_equal(t.numpy(), a)


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_numbers_assigned_to_everything(number):
    t = xt.asarray(np.zeros(5))
    for _ in range(6):
        t[...] = 0.25
        t[...] = number
        np.testing.assert_array_equal(t.numpy(), np.full(5, float(number)))


def test_an_int_beyond_the_type_is_refused_every_time():
    t = xt.asarray(np.zeros(5, np.int32))
    for _ in range(6):
        t[...] = 5
        with pytest.raises(OverflowError, match="does not fit int32"):
            t[...] = 2**40
        with pytest.raises(OverflowError, match="does not fit int32"):
            t += 2**40
        with pytest.raises(OverflowError):
            t[...] = 10**400
        np.testing.assert_array_equal(t.numpy(), 5)


def test_elements_cannot_be_deleted():
    t = xt.asarray(np.zeros(5))
    with pytest.raises((TypeError, AttributeError)):
        del t[0]


@pytest.mark.parametrize("wrong", [None, {1}, [1.0], object()])
def test_no_operand(wrong):
    t = xt.asarray(np.zeros(5))
    for op in (*BINARY, *IN_PLACE):
        with pytest.raises(TypeError):
            op(t, wrong)
    for op in BINARY:
        with pytest.raises(TypeError):
            op(wrong, t)
    with pytest.raises(TypeError):
        t[...] = wrong


def test_a_subclass_keeps_its_own_operators():
    class Own(xt.Tensor):
        def __add__(self, other):
            return "own add"

        def __rsub__(self, other):
            return "own rsub"

        def __imul__(self, other):
            return "own imul"

        def __setitem__(self, index, value):
            raise KeyError("own setitem")

    own, t = Own((3,)), xt.asarray(np.ones(3, np.float32))
    assert own + 1.0 == own + t == "own add"
    assert 1.0 - own == t - own == "own rsub"
    own_before = own
    own_before *= 2.0
    assert own_before == "own imul"
    with pytest.raises(KeyError, match="own setitem"):
        own[...] = 1.0
    assert (t + own).shape == (1.0 + own).shape == (3,)  # what it does not define is inherited


def test_an_operand_with_operators_of_its_own():
    class Left:
        def __add__(self, other):
            return "left"

        def __radd__(self, other):
            return "right"

    t = xt.asarray(np.ones(3))
    assert Left() + t == "left"
    with pytest.raises(TypeError):  # as in NumPy's order: the tensor is asked first, and it knows no Left
        t + Left()


def test_arrays_stay_operands():
    t, a = xt.asarray(np.arange(4.0)), np.full(4, 2.0)
    for _ in range(6):
        np.testing.assert_array_equal(xt.evaluate(a * t + a).numpy(), a * np.arange(4.0) + a)
        t[...] = a
        np.testing.assert_array_equal(t.numpy(), a)
        t[...] = np.arange(4.0)


def test_options_are_heard_by_machine_code():
    t = xt.asarray(np.full(4, 3.0, np.float32))
    for _ in range(6):
        t[...] = t * 1.0
    before = xt.stats()
    with xt.options(fast_math=True):
        for _ in range(4):
            t[...] = t * 1.0
    after = xt.stats()
    assert after.compiles + after.loads == before.compiles + before.loads + 1


def test_assigning_a_tensor_to_itself_does_nothing():
    t = xt.asarray(np.arange(4.0))
    hits = xt.stats().hits
    t[...] = t
    assert xt.stats().hits == hits


def test_depth_is_refused_every_time():
    e = xt.ones(3)
    for _ in range(511):
        e = -e
    for _ in range(3):
        with pytest.raises(xt.CompileError, match="512 are the most"):
            e + 1.0


def test_comparison_with_an_int_beyond_every_float():
    t = xt.asarray(np.array([1, 2]))
    assert xt.evaluate(t < 10**400).numpy().all()
    assert xt.evaluate(t > -(10**400)).numpy().all()


def test_a_handle_that_is_not_made_yet():
    class Early(xt.Tensor):
        def __init__(self):
            self += 1.0

    t, blank = xt.ones(4), xt.Tensor.__new__(xt.Tensor)
    for statement in (
        Early,
        lambda: blank + 1.0,
        lambda: 1.0 + blank,
        lambda: t + blank,
        lambda: t.__setitem__(..., blank),
    ):
        with pytest.raises(AttributeError):
            statement()


FUNCTIONS = (xt.hypot, xt.maximum, xt.arctan2, xt.less, xt.multiply)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_two_operands_are_the_same_every_time(function):
    theirs = getattr(np, function.__name__)
    a = np.linspace(0.5, 2, 6, dtype=np.float32).reshape(2, 3)
    operands = [a, a[:1], a.astype(np.float64), 0.5, 2, 2**63, 2**70, np.float64(0.5), np.int32(3), True, a > 1]
    for other in operands:
        ours = xt.asarray(other) if isinstance(other, np.ndarray) else other
        x = xt.asarray(a)
        for args, given in (((x, ours), (a, other)), ((ours, x), (other, a))):
            want = theirs(*given)
            keys = {function(*args).key for _ in range(3)}  # the second time the key is known
            assert len(keys) == 1
            got = function(*args)
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(xt.evaluate(got).numpy(), want, rtol=1e-6)


def test_functions_of_known_operands_refuse_every_time():
    x, y, small = xt.ones((2, 3)), xt.ones((4, 3)), xt.ones(3, np.uint8)
    for _ in range(3):
        assert xt.maximum(small, 7).dtype == np.uint8
        assert xt.exp(x).shape == (2, 3)
        with pytest.raises(OverflowError, match="300 does not fit uint8"):
            xt.maximum(small, 300)
        with pytest.raises(xt.ShapeError, match="maximum"):
            xt.maximum(x, y)
        with pytest.raises(TypeError, match="maximum: takes 2 operands, not 3"):
            xt.maximum(x, x, x)
        with pytest.raises(TypeError, match="exp: takes 1 operand, not 0"):
            xt.exp()
        with pytest.raises(TypeError, match="maximum: a list is no operand") as caught:
            xt.maximum(x, [1.0])
        assert caught.value.__context__ is None
        xt.maximum(x, x), xt.maximum(y, y)


def test_depth_of_functions_is_refused_every_time():
    x = xt.ones(3)
    for _ in range(2):
        e = x
        for _ in range(511):
            e = xt.maximum(e, x)
        with pytest.raises(xt.CompileError, match="nests 513 operations"):
            xt.maximum(e, x)


def test_a_node_that_lost_an_operand():
    t = xt.ones(4)
    for _ in range(6):
        t[...] = t + t
    node = t + t
    del node.b
    with pytest.raises(AttributeError):
        t[...] = node


@pytest.mark.parametrize("name", ["shape", "writable", "dtype", "strides"])
def test_facts_of_a_handle_are_not_set(name):
    t = xt.ones(4)
    with pytest.raises(AttributeError):
        setattr(t, name, (2, 2))


def test_scalars_are_taken_when_the_node_is_made():
    t = xt.ones(1000)

    class Late(np.float32):
        def __float__(self):
            xt.free_space(t)
            return 3.0

    for _ in range(5):
        t[...] = t * 0.0 + Late(2)
    np.testing.assert_array_equal(t.numpy(), 2)


@pytest.mark.parametrize("req", ["write", "inplace", "add", "sub", "mul", "div", "kAddTo"])
def test_assign_finds_the_direct_call_of_its_mode(req):
    y, x, n = xt.full((5,), 8.0), xt.full((5,), 2.0), xt.full((5,), 8.0).numpy().copy()
    ways = {"add": n + 4, "kAddTo": n + 4, "sub": n - 4, "mul": n * 4, "div": n / 4}
    hits = -1
    for _ in range(6):
        y[...] = 8.0
        before = xt.stats().hits
        assert xt.assign(y, req, x * 2.0) is y
        hits = xt.stats().hits - before
        assert np.array_equal(y.numpy(), ways.get(req, n / 2))
    assert hits == int(USE_CTYPES)  # nothing was looked up: machine code was called


def test_assign_in_place_stays_strict_when_called_directly():
    x = xt.arange(8.0)
    for _ in range(5):
        xt.assign(x[1:], "inplace", x[1:] * 2.0)
    with pytest.raises(xt.AliasError, match="inplace"):
        xt.assign(x[1:], "inplace", x[:-1] * 2.0)


@pytest.mark.skipif(USE_CTYPES, reason="nothing is called directly through ctypes")
def test_more_layouts_are_called_directly_the_more_often_they_came(monkeypatch):
    """Of forty in turn four, then ten, then all."""
    monkeypatch.setattr(direct, "AFTER", {2: 4, 8: 10, 16: 64})
    sources = [xt.asarray(np.full((n, 7), n, np.float32)) for n in range(30, 70)]
    targets = [xt.zeros(n, dtype="float32") for n in range(30, 70)]
    looked_up = []
    for _ in range(20):
        before = xt.stats().hits
        for target, source in zip(targets, sources, strict=True):
            target[...] = xt.sum(source * 0.125, 1)
        looked_up.append(xt.stats().hits - before)
    assert [looked_up[n] for n in (4, 10, 19)] == [36, 30, 0]
    assert [target.numpy()[-1] for target in targets] == [0.875 * n for n in range(30, 70)]
