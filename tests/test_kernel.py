"""@xt.kernel: several statements in one pass, one test a sentence of the contract."""

import gc
import pickle
import re
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import exprten as xt


@xt.kernel
def momentum(w, g, m, *, lr, mu, wd=0.0):
    """A step with momentum."""
    m[...] = mu * m - lr * (g + wd * w)
    w += m


def numpy_momentum(w, g, m, lr, mu, wd=0.0):
    m[...] = mu * m - lr * (g + wd * w)
    w += m


def arrays(*shape, count=3, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for _ in range(count)]


def tensors(given):
    return [xt.array(a) for a in given]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (16,), (3, 7), (40, 50), (2, 3, 4), (0,), (3, 0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_statements_one_after_another_are_numpys_bits(shape, dtype):
    given = arrays(*shape, dtype=dtype)
    mine = tensors(given)
    for step in range(4):
        numpy_momentum(*given, 0.1 / (step + 1), 0.9, 1e-4)
        momentum(*mine, lr=0.1 / (step + 1), mu=0.9, wd=1e-4)
    for a, t in zip(given, mine, strict=True):
        assert np.array_equal(t.numpy(), a)


def test_two_statements_are_one_kernel_and_allocate_nothing():
    mine = tensors(arrays(1003))
    momentum(*mine, lr=0.1, mu=0.9, wd=0.5)
    before, allocations = xt.stats().compiles, xt.memory.allocations
    with xt.no_compile():
        for _ in range(5):
            momentum(*mine, lr=0.2, mu=0.8, wd=0.1)
        momentum(*tensors(arrays(77)), lr=0.2, mu=0.8)  # another extent, another scalar
    assert xt.stats().compiles == before
    assert xt.memory.allocations == allocations + 3


# Meaning: statements one after another.


def as_if(function, given, **scalars):
    """Run a function on NumPy arrays, as Python would."""
    function.__wrapped__(*given, **scalars)


def check(kernel, given, repeat=4, **scalars):
    """A kernel against its function on NumPy arrays, several times, so that calls through Python and machine code both count."""
    mine = tensors(given)
    for _ in range(repeat):
        as_if(kernel, given, **scalars)
        kernel(*mine, **scalars)
        for a, t in zip(given, mine, strict=True):
            np.testing.assert_array_equal(t.numpy(), a)
    return mine


def test_a_later_read_sees_the_value_as_stored():
    @xt.kernel
    def rounded(half, wide):
        half[...] = wide * 3.0  # rounded to float32 when it is stored
        wide[...] = half * 1.0

    @xt.kernel
    def cut(n, x):
        n[...] = xt.cast(x * 10.0, np.int32)
        x[...] = xt.cast(n, np.float32)

    wide = np.array([0.1, 1 / 3, 7.7])
    half, double = xt.zeros(3), xt.array(wide)
    for _ in range(4):
        rounded(half, double)
        expected = (wide * 3.0).astype(np.float32)
        assert np.array_equal(half.numpy(), expected) and np.array_equal(double.numpy(), expected.astype(np.float64))
        wide = expected.astype(np.float64)
    n, x = xt.zeros(3, np.int32), xt.array(np.float32([0.19, 2.55, -1.0]))
    cut(n, x)
    assert n.numpy().tolist() == [1, 25, -10] and x.numpy().tolist() == [1.0, 25.0, -10.0]


def test_a_target_may_be_stored_to_again():
    @xt.kernel
    def twice(w, g, *, a):
        w += g
        w *= a
        g[...] = w - g
        w -= g

    check(twice, arrays(33, count=2), a=0.5)


def test_reads_before_the_store_see_the_old_value():
    @xt.kernel
    def swap(a, b, t):
        t[...] = a
        a[...] = b
        b[...] = t

    check(swap, arrays(4, 5))


def test_an_expression_holds_handles_and_is_read_where_it_is_assigned():
    @xt.kernel
    def held(a, b):
        e = a * 2.0
        a[...] = 1.0
        b[...] = e

    a, b = tensors(arrays(4, count=2))
    held(a, b)
    assert b.numpy().tolist() == [2.0] * 4


@pytest.mark.parametrize(
    "statement",
    ["w += g", "w -= g", "w *= g", "w /= g", "w[...] = g", "w.assign(g, 'add')", "xt.assign(w, 'sub', g)", "w **= 2"],
)
def test_every_way_to_assign_is_recorded(statement):
    made = {"xt": xt}
    exec(f"def f(w, g):\n    {statement}", made)
    kernel = xt.kernel(made["f"])
    a, b = arrays(7, count=2)
    w, g = tensors([a, b])
    wanted, other = tensors([a, b])
    kernel(w, g)
    made["f"](wanted, other)
    assert np.array_equal(w.numpy(), wanted.numpy())


def test_operations_of_the_language_are_operations_of_kernels():
    @xt.op
    def soft(a, t):
        return a - t if a > t else (a + t if a < -t else 0.0 * a)

    @xt.kernel
    def many(w, g, n, *, t):
        w[...] = soft(xt.where(g > 0, g, -w), t) + xt.clip(g, -t, t)
        n[...] = xt.maximum(abs(w), xt.sqrt(g * g)) ** 2

    given = arrays(100)
    w, g, n = tensors(given)
    many(w, g, n, t=0.25)
    a, b, c = tensors(given)
    a[...] = soft(xt.where(b > 0, b, -a), 0.25) + xt.clip(b, -0.25, 0.25)
    c[...] = xt.maximum(abs(a), xt.sqrt(b * b)) ** 2
    assert np.array_equal(w.numpy(), a.numpy()) and np.array_equal(n.numpy(), c.numpy())


def test_inputs_are_broadcast_and_folded_and_moved():
    @xt.kernel
    def normalise(o, x, b, s):
        o[...] = (x - xt.mean(x, 1, keepdims=True)) * b
        s[...] = xt.flip(x, 1) + xt.sum(x, 0) + o

    x, b = arrays(6, 8, count=1)[0], arrays(8, count=1)[0]
    o, s = xt.zeros((6, 8)), xt.zeros((6, 8))
    for k in range(4):
        t = xt.array(x + k)
        normalise(o, t, xt.array(b), s)
        wanted, other = xt.zeros((6, 8)), xt.zeros((6, 8))
        wanted[...] = (t - xt.mean(t, 1, keepdims=True)) * xt.array(b)
        other[...] = xt.flip(t, 1) + xt.sum(t, 0) + wanted
        assert np.array_equal(o.numpy(), wanted.numpy()) and np.array_equal(s.numpy(), other.numpy())


def test_folds_of_several_accumulators_take_the_arguments_of_each_call():
    @xt.kernel
    def places(most, least, x):
        most[...] = xt.argmax(x, 1)
        least[...] = xt.argmin(x, 1) + xt.max(x, 1)

    for k in range(4):
        x = arrays(6, 9, count=1)[0][:, ::-1] * (-1) ** k
        most, least = xt.zeros(6, dtype=xt.int64), xt.zeros(6)
        places(most, least, xt.array(x))
        assert np.array_equal(most.numpy(), x.argmax(1)) and np.array_equal(
            least.numpy(), x.argmin(1).astype("f4") + x.max(1)
        )


def test_a_target_may_be_folded_before_it_is_stored():
    @xt.kernel
    def unit(w, n, *, eps):
        w /= xt.sqrt(xt.sum(w * w, 1, keepdims=True)) + eps
        n[...] = w * 2.0

    given = arrays(5, 40, count=2)
    w, n = tensors(given)
    unit(w, n, eps=1e-3)
    wanted = xt.array(given[0])
    wanted /= xt.sqrt(xt.sum(wanted * wanted, 1, keepdims=True)) + 1e-3
    assert np.array_equal(w.numpy(), wanted.numpy()) and np.array_equal(n.numpy(), 2 * wanted.numpy())


LAYOUTS = {
    "strided": lambda a: xt.asarray(np.repeat(a, 2, -1)[..., ::2]),
    "reversed": lambda a: xt.asarray(a[..., ::-1].copy()[..., ::-1]),
    "padded": lambda a: xt.array(a, pad=True),
    "transposed": lambda a: xt.asarray(a.T.copy().T),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("others", ["packed", *LAYOUTS])
def test_every_layout(layout, others):
    given = arrays(6, 10)
    rest = LAYOUTS.get(others, xt.array)
    mine = [LAYOUTS[layout](given[0]), rest(given[1]), rest(given[2])]
    for _ in range(4):
        numpy_momentum(*given, 0.1, 0.9)
        momentum(*mine, lr=0.1, mu=0.9)
        for a, t in zip(given, mine, strict=True):
            assert np.array_equal(t.numpy(), a)


def test_arrays_are_borrowed():
    given, mine = arrays(10), arrays(10)
    for _ in range(4):
        numpy_momentum(*given, 0.1, 0.9)
        momentum(*mine, lr=0.1, mu=0.9)
    for a, b in zip(given, mine, strict=True):
        assert np.array_equal(a, b)


def test_views_of_arguments():
    @xt.kernel
    def shifted(w, g):
        w[1:] -= g[:-1]
        w[1:] *= 2.0

    given = arrays(9, count=2)
    check(shifted, given)


def test_views_of_all_of_an_argument():
    @xt.kernel
    def whole(w, g):
        w[:] -= g[...].T
        w.T += g.reshape(-1) if False else g[:]

    for n in (5, 3, 9, 5, 3, 9):
        w, g = tensors(arrays(n, count=2))
        expected = w.numpy() - g.numpy() + g.numpy()
        whole(w, g)
        assert np.array_equal(w.numpy(), expected)


# What is traced, and when.


def counting():
    calls = []

    @xt.kernel
    def step(w, g, *, lr, mode="plain"):
        calls.append(mode)
        w -= lr * g if mode == "plain" else lr * xt.sign(g)

    return step, calls


def test_traced_once_for_other_extents_and_scalars():
    step, calls = counting()
    for n in (3, 4, 100, 3):
        for lr in (0.1, 0.2):
            step(xt.ones(n), xt.ones(n), lr=lr)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda: ((xt.ones(4, np.float64), xt.ones(4)), {"lr": 0.1}),  # element types
        lambda: ((xt.ones((2, 4)), xt.ones(4)), {"lr": 0.1}),  # ranks
        lambda: ((xt.ones(8)[::2], xt.ones(4)), {"lr": 0.1}),  # axis classes
        lambda: ((xt.ones(4), xt.ones(1)), {"lr": 0.1}),
        lambda: ((xt.ones(4), xt.ones(4)), {"lr": 1}),  # kinds of scalars
        lambda: ((xt.ones(4), xt.ones(4)), {"lr": np.float32(0.1)}),
        lambda: ((xt.ones(4), xt.ones(4)), {"lr": 0.1, "mode": "sign"}),  # static values
        lambda: ((xt.ones(4),) * 2, {"lr": 0.1}),  # identity
    ],
)
def test_traced_again_for_what_is_in_the_signature(change):
    step, calls = counting()
    for _ in range(4):
        step(xt.ones(4), xt.ones(4), lr=0.1)
    assert len(calls) == 1
    args, scalars = change()
    for _ in range(4):
        step(*args, **scalars)
    assert len(calls) == 2
    step(xt.ones(4), xt.ones(4), lr=0.1)
    assert len(calls) == 2


def test_a_function_that_looks_at_extents_is_traced_for_each():
    @xt.kernel
    def mean_step(w, g, *, lr):
        w -= lr * g / g.shape[0]

    for n in (2, 4, 8, 2):
        for _ in range(4):
            w = xt.zeros(n)
            mean_step(w, xt.ones(n), lr=1.0)
            assert w.numpy().tolist() == [-1 / n] * n


class Scaled:
    """Looks at extents where a kernel's own text does not."""

    def __init__(self, by):
        self.by = by

    def of(self, g):
        return g * (self.by / g.shape[0])

    @staticmethod
    def doubled(g):
        return g * (2 / len(g))


scaled = Scaled(3.0)


def halved(g):
    return g * 1.0 * (0.5 / (g * 1.0).size)


@pytest.mark.parametrize(
    "value",
    [
        scaled.of,
        Scaled.doubled,
        lambda g: 1.0 * scaled.of(g),
        lambda g: 1.0 * Scaled.doubled(g),
        halved,
        lambda g: g / np.size(g),
        lambda g: xt.mean(g) + g,
    ],
)
def test_extents_are_found_wherever_they_are_asked_for(value):
    @xt.kernel
    def step(w, g):
        w -= value(g)

    for n in (2, 4, 8, 2):
        for _ in range(3):
            w, g = xt.zeros(n), xt.ones(n)
            step(w, g)
            w += value(g)
            assert w.numpy().tolist() == [0.0] * n


def test_a_plan_names_views():
    @xt.kernel
    def shifted(w, g):
        w[1:] += g[:-1]

    w, g = tensors(arrays(5, count=2))
    assert shifted.plan(w, g).explain().splitlines()[1] == "  w(4,) += g(4,)"


def test_static_values_choose_statements():
    @xt.kernel
    def choose(w, m=None, *, nesterov=False, name="a", shape=(1, 2)):
        if m is not None:
            w += m
        if nesterov:
            w *= 2.0
        if name == "b":
            w -= shape[0]
        w += 0.0

    for given, expected in [
        (({}), 1.0), ({"nesterov": True}, 2.0), ({"name": "b"}, 0.0), ({"name": "b", "shape": (5,)}, -4.0),
        ({"m": xt.ones(2)}, 2.0), ({"m": xt.ones(2), "nesterov": True}, 4.0),
    ]:  # fmt: skip
        for _ in range(4):
            w = xt.ones(2)
            choose(w, **given)
            assert w.numpy().tolist() == [expected] * 2
    with pytest.raises(TypeError, match="a list in a tuple"):
        choose(xt.ones(2), shape=([],))


def test_static_values_are_told_apart_by_type():
    @xt.kernel
    def typed(w, *, flag):
        w[...] = 1.0 if flag == (True,) and flag[0] is True else 2.0

    w = xt.zeros(1)
    for flag, expected in [((True,), 1.0), ((1,), 2.0), ((1.0,), 2.0), ((True,), 1.0)] * 3:
        typed(w, flag=flag)
        assert w.item() == expected


def test_zeros_of_either_sign_are_two_static_values():
    @xt.kernel
    def filled(w, *, values):
        w[...] = values[0]

    w, traces = xt.zeros(1), 3
    for value in (0.0, -0.0, float("nan")) * traces:
        filled(w, values=(value,))
        assert repr(w.item()) == repr(value)


# Scalars.


@xt.kernel
def corrected(o, x, *, beta, t, lr):
    o[...] = x * (lr / (1 - beta**t)) + -t * 0.5 + abs(lr - 1) * 2 + (t + 1) / 2


@pytest.mark.parametrize(("beta", "t"), [(0.9, 1), (0.999, 10_000), (0.5, 3.5), (0.1, -2), (0.999, 1 << 40), (2, 3.0)])
def test_arithmetic_of_scalars_is_pythons(beta, t):
    x = arrays(5, count=1, dtype=np.float64)[0]
    o = xt.zeros(5, np.float64)
    for lr in (0.1, 2, 0.3, 0.25, 4, 1e-300):
        corrected(o, xt.array(x), beta=beta, t=t, lr=lr)
        expected = x * (lr / (1 - beta**t)) + -t * 0.5 + abs(lr - 1) * 2 + (t + 1) / 2
        assert np.array_equal(o.numpy(), expected)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a + b", (3, 4), 7), ("a - b", (3, 4.5), -1.5), ("a * b", (3, 4), 12), ("a / b", (1, 3), 1 / 3), ("a // b", (-7, 2), -4),
        ("a % b", (-7, 3), 2), ("a // b", (7.5, -2.0), -4.0), ("a % b", (7.5, -2.0), -0.5), ("a ** 2", (3, 0), 9), ("a ** -1", (4, 0), 0.25),
        ("a ** b", (2, 10), 1024), ("-a", (3, 0), -3), ("+a", (3, 0), 3), ("abs(a)", (-3.5, 0), 3.5), ("1 - a", (3, 0), -2),
        ("2 / a", (8, 0), 0.25), ("7 // a", (2, 0), 3), ("7 % a", (4, 0), 3), ("2 ** a", (0.5, 0), 2**0.5), ("a * a * a", (1 << 20, 0), 1 << 60),
        ("a / b", ((1 << 60) + 1, 3), ((1 << 60) + 1) / 3), ("a ** b", (0.0, 0.5), 0.0), ("a ** b", (1e-200, 1.6), 1e-200**1.6),
    ],
)  # fmt: skip
def test_every_operation_on_scalars(text, values, expected):
    made = {"xt": xt}
    exec(f"def f(o, *, a, b):\n    o[...] = xt.ones_like(o) * ({text})", made)
    kernel, o = xt.kernel(made["f"]), xt.zeros(1, np.float64)
    for _ in range(4):
        o[...] = 0
        kernel(o, a=values[0], b=values[1])
        assert o.item() == expected


@pytest.mark.parametrize(("a", "b"), [(1, 2), (2, 1), (1.5, 1.5), (1, 1.0), (float("nan"), 1.0), (1 << 60, 1.0)])
def test_comparisons_of_scalars_choose_elements(a, b):
    @xt.kernel
    def compare(o, *, a, b):
        o[...] = (
            xt.where(a < b, 1, 0) + xt.where(a <= b, 2, 0) + xt.where(a > b, 4, 0) + xt.where(a >= b, 8, 0)
            + xt.where(a == b, 16, 0) + xt.where(a != b, 32, 0)
        )  # fmt: skip

    o = xt.zeros(1, np.int64)
    expected = (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b)
    for _ in range(4):
        o[...] = 0
        compare(o, a=a, b=b)
        assert o.item() == expected


def test_python_scalars_are_weak_and_numpys_are_strong():
    @xt.kernel
    def scale(o, x, *, a):
        o[...] = xt.cast(x * a, np.float64)

    x, o = xt.array(np.float32([0.1, 3.0])), xt.zeros(2, np.float64)
    for a in (0.1, np.float32(0.1), np.float64(0.1), np.int32(3), 3):
        for _ in range(4):
            scale(o, x, a=a)
            assert np.array_equal(o.numpy(), (x.numpy() * a).astype(np.float64))


def test_arithmetic_of_numpys_scalars_is_numpys():
    @xt.kernel
    def scale(o, *, a, b):
        o[...] = xt.ones_like(o) * (1 - a * b + a / 3)

    o = xt.zeros(2, np.float64)
    for a, b in [(np.float32(0.1), 0.3), (0.3, np.float32(0.1)), (np.float32(0.1), np.float64(0.3)), (np.int32(7), 2)]:
        scale(o, a=a, b=b)
        assert o.numpy().tolist() == [float(1 - a * b + a / 3)] * 2


INTS = [
    (np.int32, 1 << 31),
    (np.uint8, 256),
    (np.uint8, -1),
    (np.int64, 1 << 62),
    (np.uint64, -1),
    (np.uint64, 1 << 62),
    (np.int16, -32769),
]


@pytest.mark.parametrize(("dtype", "value"), INTS)
def test_an_int_is_checked_for_its_range_at_every_call(dtype, value):
    @xt.kernel
    def add(o, *, a):
        o += a

    o = xt.zeros(3, dtype)
    for k in (1, 2, 3, 4):
        add(o, a=k)
    if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        add(o, a=value)
        assert o.numpy().tolist() == [10 + value] * 3
        return
    with pytest.raises(OverflowError, match=f"{value} does not fit {np.dtype(dtype).name}"):
        add(o, a=value)
    assert o.numpy().tolist() == [10] * 3


def test_constants_beyond_int64():
    @xt.kernel
    def large(o, *, a):
        o[...] = o + (1 << 63)
        o += xt.cast(a * 1.0 < (1 << 70), np.uint64)

    o = xt.zeros(2, np.uint64)
    for k in range(1, 5):
        o[...] = 0
        large(o, a=k)
        assert o.numpy().tolist() == [(1 << 63) + 1] * 2


def test_a_scalar_of_too_many_operations():
    @xt.kernel
    def deep(w, *, lr):
        for _ in range(1000):
            lr = lr * 1.0
        w += lr

    with pytest.raises(xt.CompileError, match="a run-time scalar of 256 nested operations"):
        deep(xt.ones(3), lr=1.0)


def test_a_scalar_alone_is_a_value():
    @xt.kernel
    def fill(w, n, *, lr, k):
        w[...] = lr * 2
        n[...] = k
        n += k + 1

    w, n = xt.zeros(5), xt.zeros(5, np.uint8)
    for k in range(5):
        fill(w, n, lr=0.1 * k, k=k)
        assert w.numpy().tolist() == [np.float32(0.2 * k)] * 5 and n.numpy().tolist() == [2 * k + 1] * 5
    for k in (-1, 255, 256):
        with pytest.raises(OverflowError, match="does not fit uint8"):
            fill(w, n, lr=0.5, k=k)
    assert n.numpy().tolist() == [9] * 5


def test_comparisons_with_elements_take_every_int():
    @xt.kernel
    def below(o, x, *, k):
        o[...] = x < k

    o, x = xt.zeros(3, bool), xt.array(np.array([1, 2, 200], np.uint8))
    for k in (2, 300, -5, 2, 1 << 40, 201):
        below(o, x, k=k)
        assert o.numpy().tolist() == [n < k for n in (1, 2, 200)]


def test_scalars_that_python_cannot_compute_raise_what_python_raises():
    @xt.kernel
    def divided(o, *, a, b):
        o[...] = a / b * xt.ones_like(o)

    @xt.kernel
    def raised(o, *, a, b):
        o[...] = a**b * xt.ones_like(o)

    o = xt.zeros(2)
    for _ in range(4):
        divided(o, a=1.0, b=2.0)
        raised(o, a=2.0, b=2.0)
    with pytest.raises(ZeroDivisionError):
        divided(o, a=1.0, b=0.0)
    with pytest.raises(OverflowError):
        raised(o, a=10.0, b=1000.0)
    with pytest.raises(ValueError, match="no real number"):
        raised(o, a=-2.0, b=0.5)
    with pytest.raises(ValueError, match="an int to a negative power"):
        raised(o, a=2, b=-1)
    with pytest.raises(OverflowError, match="does not fit int64"):
        raised(o, a=10, b=30)
    with pytest.raises(OverflowError, match="raised: a is 18446744073709551616"):
        raised(o, a=1 << 64, b=30)
    assert o.numpy().tolist() == [4.0, 4.0]


def test_every_int64_is_a_scalar():
    least = -(1 << 63)

    @xt.kernel
    def fill(o, s, *, a):
        o[...] = a
        s[...] = xt.where(a == least, 1, 0) + xt.where(a > least, 2, 0) + (4 if a >= least else 0)

    @xt.kernel
    def less(o, *, a):
        o[...] = a - 1

    o, s = xt.zeros(2, np.int64), xt.zeros(2, np.int64)
    for a in (least, least + 1, least, 5, (1 << 63) - 1):
        fill(o, s, a=a)
        assert o.numpy().tolist() == [a] * 2 and s.numpy().tolist() == [5 if a == least else 6] * 2
        fill.foreach([o], [s], a=a)
        assert o.numpy().tolist() == [a] * 2
        if a > least:
            less(o, a=a)
            assert o.numpy().tolist() == [a - 1] * 2
            continue
        with pytest.raises(OverflowError, match=f"{least - 1}, which does not fit int64"):
            less(o, a=a)


USES = {
    "if lr > 0.1: pass": "a decision on the value of \\(lr > 0.1\\)",
    "while lr: pass": "a decision on the value of lr",
    "lr and g": "a decision",
    "min(lr, 1.0)": "a decision",
    "float(lr)": "float\\(\\) or a function of math of lr",
    "math.sqrt(1 - lr)": "float\\(\\) or a function of math of \\(1 - lr\\)",
    "math.floor(lr)": "int\\(\\)",
    "int(lr)": "int\\(\\)",
    "round(lr)": "round\\(\\)",
    "complex(lr)": "complex",
    "range(lr)": "an index or a count made",
    "g[lr]": "an index or a count made",
}


@pytest.mark.parametrize("text", USES)
def test_what_needs_the_value_of_a_scalar_raises_at_that_line(text):
    made = {"xt": xt, "math": __import__("math")}
    exec(compile(f"def f(w, g, *, lr):\n    w += g\n    {text}\n", "here.py", "exec"), made)
    w = xt.zeros(3)
    with pytest.raises(TypeError, match=f"{USES[text]}.*known only when the kernel is called") as caught:
        xt.kernel(made["f"])(w, xt.ones(3), lr=1)
    frames = [(Path(f.path).name, f.lineno + 1) for f in caught.traceback]
    assert ("here.py", 3) in frames
    assert w.numpy().tolist() == [0.0] * 3


@pytest.mark.parametrize("scalar", [np.float32(1), np.float64(1), np.int32(1), np.bool_(True)], ids=repr)
@pytest.mark.parametrize(
    "text",
    [
        "if lr: pass",
        "if lr > 0.5: pass",
        "min(lr, 0.5)",
        "float(lr)",
        "math.sqrt(1 - lr)",
        "int(lr)",
        "xt.evaluate(lr * 2)",
    ],
)
def test_what_needs_the_value_of_a_numpy_scalar_raises_at_that_line(text, scalar):
    made = {"xt": xt, "math": __import__("math")}
    exec(compile(f"def f(w, g, *, lr):\n    w += g\n    {text}\n", "here.py", "exec"), made)
    w, before = xt.zeros(3), xt.stats().compiles
    with pytest.raises(TypeError, match=r"^the value of .*lr.*known only when the kernel is called") as caught:
        xt.kernel(made["f"])(w, xt.ones(3), lr=scalar)
    assert ("here.py", 3) in [(Path(f.path).name, f.lineno + 1) for f in caught.traceback]
    assert xt.stats().compiles == before and w.numpy().tolist() == [0.0] * 3


@pytest.mark.parametrize("before", [0, 5])  # numbers stored there: from the third on by a direct call
@pytest.mark.parametrize("number", [1, 1.0])
def test_a_scalar_is_stored_to_arguments_only(number, before):
    outside = xt.zeros(3)
    for _ in range(before):
        outside[...] = number
        outside += number

    @xt.kernel
    def leaks(w, *, lr):
        w += lr
        outside[...] = lr

    @xt.kernel
    def adds(w, *, lr):
        w += lr
        outside.__iadd__(lr)

    for k in (leaks, adds):
        with pytest.raises(TypeError, match=r"^the value of lr: it is a run-time scalar of a kernel"):
            k(xt.zeros(3), lr=number)


# Refusals.


@pytest.mark.parametrize(
    "text", ["None * lr", "lr * None", "lr << 70", "70 << lr", "~lr", "'a' + lr", "lr < None", "lr @ 3", "-lr | lr"]
)
def test_what_a_scalar_does_not_take_is_refused_in_the_words_of_the_user(text):
    def f(w, *, lr):
        eval(text)

    shown = re.escape(text.replace("-lr", "(-lr)"))
    with pytest.raises(TypeError, match=f"^{shown}: .*lr.? is a run-time scalar of a kernel, which takes"):
        xt.kernel(f)(xt.zeros(3), lr=1)


@pytest.mark.parametrize("text", ["lr.shape", "lr[0]", "len(lr)", "lr()", "divmod(lr, 2)"])
def test_errors_of_python_call_a_scalar_what_the_user_does(text):
    def f(w, *, lr):
        eval(text)

    with pytest.raises((TypeError, AttributeError), match="'run-time scalar'"):
        xt.kernel(f)(xt.zeros(3), lr=1)


def test_a_target_at_another_position_is_refused():
    @xt.kernel
    def flipped(w, g):
        w[...] = g * 2.0
        g[...] = xt.flip(w, 0)

    @xt.kernel
    def folded(w, g):
        w[...] = g * 2.0
        g[...] = w / xt.sum(w)

    @xt.kernel
    def through_a_view(w, g):
        w[...] = g * 2.0
        g[...] = w[::-1]

    for kernel, stride in ((flipped, -4), (folded, 4), (through_a_view, -4)):
        w, g = tensors(arrays(6, count=2))
        before = w.numpy().copy(), g.numpy().copy()
        with pytest.raises(xt.AliasError) as caught:
            kernel(w, g)
        assert str(caught.value) == (
            f"{kernel.__name__}: w of shape (6,) and type float32 and strides ({stride},) reads memory that the kernel stores to, at "
            "other positions or through a fold; a kernel reads what it stores only where it stores it: make it two kernels, or read a copy"
        )
        assert np.array_equal(w.numpy(), before[0]) and np.array_equal(g.numpy(), before[1])


def test_inplace_reads_its_target_only_where_it_is_stored():
    def of(mode):
        @xt.kernel
        def scaled(w, g):
            g[...] = g * xt.sum(w)
            xt.assign(w, mode, w / xt.sum(w))

        return scaled

    w, g = tensors(arrays(6, count=2))
    before = w.numpy().copy(), g.numpy().copy()
    with pytest.raises(xt.AliasError, match=r"scaled: w of shape .* through a fold"):
        of("inplace")(w, g)
    assert np.array_equal(w.numpy(), before[0]) and np.array_equal(g.numpy(), before[1])
    of("write")(w, g)
    np.testing.assert_allclose(w.numpy(), before[0] / before[0].sum(), rtol=1e-5)

    @xt.kernel
    def halved(w, g):
        g[...] = g * xt.sum(w)  # another statement may
        xt.assign(w, "inplace", w * 0.5)

    w, g = tensors(arrays(6, count=2))
    before = w.numpy().copy(), g.numpy().copy()
    halved(w, g)
    assert np.array_equal(w.numpy(), before[0] * np.float32(0.5))
    np.testing.assert_allclose(g.numpy(), before[1] * before[0].sum(), rtol=1e-5)


def test_inplace_refuses_arguments_that_overlap_at_other_positions():
    @xt.kernel
    def strict(w, g):
        xt.assign(w, "inplace", g * 2.0)

    @xt.kernel
    def ordered(w, g):
        w[...] = g * 2.0

    x = xt.arange(8.0)
    with pytest.raises(xt.AliasError, match="strict: "):
        strict(x[1:], x[:-1])
    strict(x, x)
    ordered(x[1:], x[:-1])
    assert x.numpy().tolist() == [0, 0, 4, 8, 12, 16, 20, 24]


def test_an_earlier_read_at_another_position_is_refused():
    @xt.kernel
    def early(w, g):
        g[...] = xt.flip(w, 0)
        w[...] = g

    w, g = tensors(arrays(6, count=2))
    with pytest.raises(xt.AliasError, match=r"early: w .*at other positions"):
        early(w, g)


def test_arguments_that_overlap_are_refused_or_ordered():
    base = xt.array(np.arange(10, dtype=np.float32))

    @xt.kernel
    def shift(a, b):
        a[...] = b * 1.0

    for _ in range(4):
        shift(base[1:], base[:-1])  # one statement: a proved order, as in any assignment
    assert base.numpy().tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]
    m = xt.zeros(9)
    before = base.numpy().copy()
    for w, g in [(base[1:], base[:-1]), (base[:-1], base[1:])]:
        with pytest.raises(xt.AliasError, match=r"momentum: .*memory that the kernel stores to"):
            momentum(w, m, g, lr=0.1, mu=0.9)
    assert np.array_equal(base.numpy(), before)


@pytest.mark.parametrize("shift", [-1, 1])
@pytest.mark.parametrize("turned", [False, True], ids=["a runs as b", "a runs the other way"])
def test_an_order_is_that_of_the_loops_whichever_target_needs_it(turned, shift):
    @xt.kernel
    def two(a, b, c):
        a[...] = c * 2.0
        b[...] = c + a

    for n in (5, 200):
        base = np.arange(n + 2.0)
        b, c = base[1 : n + 1][::-1], base[1 + shift : n + 1 + shift][::-1]
        a, want = np.zeros(n)[:: 1 if turned else -1], 3 * c
        two(xt.asarray(a), xt.asarray(b), xt.asarray(c))
        np.testing.assert_array_equal(b, want)


def test_an_order_that_the_loops_do_not_have_is_refused():
    @xt.kernel
    def two(a, b, c):
        a[...] = c * 2.0
        b[...] = c + a

    base = np.arange(13.0)
    b, c, a = base[:-1].reshape(3, 4), base[1:].reshape(3, 4), np.zeros((4, 3)).T  # columns outside, rows inside
    with pytest.raises(xt.AliasError, match="two: c of shape"):
        two(*map(xt.asarray, (a, b, c)))
    assert base.tolist() == list(range(13)) and not a.any()
    two(*map(xt.asarray, (np.zeros((3, 4)), b, c)))
    assert base.tolist() == [*range(3, 39, 3), 12]


def test_a_kernel_made_for_tensors_apart_is_not_taken_for_those_that_overlap():
    @xt.kernel
    def both(a, b):
        a[...] = b + 1.0
        b[...] = a * 2.0

    for _ in range(5):
        both(xt.ones(9), xt.ones(9))
    base = xt.array(np.arange(10, dtype=np.float32))
    with pytest.raises(xt.AliasError, match="both: "):
        both(base[1:], base[:-1])
    same = xt.ones(9)
    both(same, same)
    assert same.numpy().tolist() == [4.0] * 9
    assert base.numpy().tolist() == list(range(10))


def test_all_targets_have_one_shape():
    @xt.kernel
    def two(w, b):
        w += 1.0
        b += 1.0

    with pytest.raises(
        xt.ShapeError,
        match=r"^two: the targets of one kernel have one shape, and b has \(3,\), w \(2, 3\); make it two kernels$",
    ):
        two(xt.zeros((2, 3)), xt.zeros(3))


def test_errors_of_expressions_point_into_the_function():
    @xt.kernel
    def add(w, g):
        w += 1.0
        w += g

    for n in (3, 3, 3, 4, 3):
        add(xt.zeros(n), xt.zeros(n))
    with pytest.raises(xt.ShapeError, match="the value has shape") as caught:
        add(xt.zeros(3), xt.zeros(4))
    assert caught.traceback[-1].path != __file__
    assert any(Path(f.path).name == "test_kernel.py" and f.name == "add" for f in caught.traceback)
    with pytest.raises(xt.DTypeError, match="same-kind"):
        add(xt.zeros(3, np.int32), xt.zeros(3))


def test_wrong_arguments_name_their_parameter():
    w, g, m = tensors(arrays(3))
    for args, scalars, error, text in [
        ((w, 1.0, m), {"lr": 1.0, "mu": 1.0}, TypeError, "momentum: g is a float; positional parameters are tensors"),
        ((w, [g], m), {"lr": 1.0, "mu": 1.0}, TypeError, "momentum: g is a list;.*goes to .foreach"),
        (
            (w, g * 2, m),
            {"lr": 1.0, "mu": 1.0},
            TypeError,
            r"momentum: g is the expression .*multiply|\*.*; a kernel is called with tensors",
        ),
        (
            (w, g, m),
            {"lr": g, "mu": 1.0},
            TypeError,
            "momentum: lr is a Tensor; keyword-only parameters are run-time scalars",
        ),
        ((w, g, m), {"lr": Fraction(1, 2), "mu": 1.0}, TypeError, "momentum: lr is a Fraction"),
        ((w, g, m), {"lr": 1j, "mu": 1.0}, xt.DTypeError, "the result is complex64, which float32 cannot hold"),
        ((w, np.ones(3, "S3"), m), {"lr": 1.0, "mu": 1.0}, xt.DTypeError, "momentum: g: "),
        ((w, g), {"lr": 1.0, "mu": 1.0}, TypeError, r"momentum\(\) missing 1 required positional argument: 'm'"),
        ((w, g, m), {"lr": 1.0}, TypeError, r"momentum\(\) missing 1 required keyword-only argument: 'mu'"),
        (
            (w, g, m),
            {"lr": 1.0, "mu": 1.0, "nu": 1.0},
            TypeError,
            r"momentum\(\) got an unexpected keyword argument 'nu'",
        ),
        ((w, g, m, 1.0), {"lr": 1.0, "mu": 1.0}, TypeError, r"momentum\(\) takes 3 positional arguments but 4"),
    ]:
        for _ in range(4):
            momentum(*tensors(arrays(3)), lr=1.0, mu=1.0)
        with pytest.raises(error, match=text):
            momentum(*args, **scalars)


def test_memory_that_is_not_there_or_not_to_be_written():
    for _ in range(4):
        momentum(*tensors(arrays(3)), lr=1.0, mu=1.0)
    w, g, m = tensors(arrays(3))
    xt.free_space(g)
    before = w.numpy().copy()
    with pytest.raises(xt.FreedSpaceError, match="momentum: g, a tensor"):
        momentum(w, g, m, lr=1.0, mu=1.0)
    with pytest.raises(xt.FreedSpaceError, match="momentum: g, a tensor"):
        momentum(w, xt.Tensor((3,)), m, lr=1.0, mu=1.0)
    only = np.ones(3, np.float32)
    only.flags.writeable = False
    for given in (only, xt.asarray(only)):
        with pytest.raises(xt.ReadOnlyError, match="read-only"):
            momentum(given, m, w, lr=1.0, mu=1.0)
    assert np.array_equal(w.numpy(), before) and only.tolist() == [1.0] * 3


def test_tensors_of_elsewhere_are_refused():
    outside = xt.ones(3)

    @xt.kernel
    def reads(w):
        w += outside

    @xt.kernel
    def writes(w):
        outside[...] = w * 2.0

    @xt.kernel
    def evaluates(w):
        w += xt.evaluate(w * 2.0)

    @xt.kernel
    def shows(w):
        w += w.numpy()

    for kernel, text in [
        (reads, "reads: the tensor of shape .* is no argument"), (writes, "is an argument of a kernel that is being traced"),
        (evaluates, "is an argument of a kernel that is being traced"), (shows, "numpy: the tensor is an argument of a kernel"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match=text):
            kernel(xt.ones(3))


def test_functions_that_are_no_kernels():
    with pytest.raises(TypeError, match="kernel: a int is no Python function"):
        xt.kernel(3)
    with pytest.raises(TypeError, match=r"many: `\*ws`: a kernel has named parameters only"):

        @xt.kernel
        def many(*ws):
            pass

    @xt.kernel
    def nothing(w):
        w = w * 2.0

    @xt.kernel
    def returns(w):
        w += 1.0
        return w

    with pytest.raises(TypeError, match=r"nothing: the kernel stores nothing: `w = e` names"):
        nothing(xt.ones(3))
    with pytest.raises(TypeError, match="returns: a kernel returns nothing"):
        returns(xt.ones(3))


# As a Python object, and with everything else.


def test_a_kernel_is_a_function_with_more():
    assert momentum.__name__ == "momentum" and momentum.__doc__ == "A step with momentum."
    assert momentum.__wrapped__.__code__.co_varnames[0] == "w"
    assert repr(momentum) == "<kernel momentum(w, g, m, *, lr, mu, wd=0.0)>"
    assert isinstance(momentum, xt.Kernel) and callable(momentum)
    assert pickle.loads(pickle.dumps(momentum)) is momentum


def test_a_kernel_inside_of_a_kernel_is_its_statements():
    @xt.kernel
    def outer(w, g, m, *, lr):
        momentum(w, g * 1.0 if False else g, m, lr=lr / 2, mu=0.9)
        w *= 0.5

    given = arrays(12)
    mine = tensors(given)
    for _ in range(4):
        outer(*mine, lr=0.2)
        numpy_momentum(*given, 0.1, 0.9)
        given[0] *= np.float32(0.5)
    for a, t in zip(given, mine, strict=True):
        assert np.array_equal(t.numpy(), a)


def test_options_are_those_in_force():
    mine, other = tensors(arrays(50)), tensors(arrays(50))
    for _ in range(4):
        momentum(*mine, lr=0.1, mu=0.9)
        with xt.options(fast_math=True, vector_bits=128):
            momentum(*other, lr=0.1, mu=0.9)
    assert not np.array_equal(mine[0].numpy(), other[0].numpy())
    np.testing.assert_allclose(mine[0].numpy(), other[0].numpy(), rtol=1e-4, atol=1e-5)


def test_no_compile_refuses_what_is_new():
    @xt.kernel
    def fresh(a, b, c):
        a[...] = b * c - b / c + 17.25 * a
        b[...] = a - xt.tanh(c)

    with xt.no_compile(), pytest.raises(xt.CompileError, match="no_compile: fresh"):
        fresh(*tensors(arrays(3, dtype=np.float64)))


def test_keywords_in_any_order_and_tensors_by_name():
    given = arrays(8)
    w, g, m = tensors(given)
    for _ in range(4):
        momentum(w, m=m, g=g, wd=0.5, mu=0.9, lr=0.1)
        momentum(lr=0.1, mu=0.9, w=w, g=g, m=m)
        numpy_momentum(*given, 0.1, 0.9, 0.5)
        numpy_momentum(*given, 0.1, 0.9)
    assert np.array_equal(w.numpy(), given[0])


def test_threads_share_a_kernel():
    @xt.kernel
    def count(w, *, by):
        w += by

    mine = [xt.zeros(1000 + k) for k in range(4)]

    def work(t):
        for _ in range(200):
            count(t, by=1.0)

    threads = [threading.Thread(target=work, args=(t,)) for t in mine]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((t.numpy() == 200.0).all() for t in mine)


def test_large_tensors_are_pinned():
    n = (1 << 20) + 5
    given = arrays(n)
    mine = tensors(given)
    for _ in range(4):
        numpy_momentum(*given, 0.1, 0.9)
        momentum(*mine, lr=0.1, mu=0.9)
    assert np.array_equal(mine[0].numpy(), given[0])
    assert mine[0].buffer.pins == 0


# Looked at instead of run.


def test_a_plan_says_what_a_call_does():
    w, g, m = tensors(arrays(3, 5))
    before = w.numpy().copy()
    plan = momentum.plan(w, g, m, lr=0.1, mu=0.9, wd=0.5)
    lines = plan.explain().splitlines()
    assert lines[:4] == [
        "kernel momentum",
        "  m[...] = ((mu * m) - (lr * (g + (wd * w))))",
        "  w += m",
        "m is out, g is x1, w is x2",
    ]
    assert (plan.bytes_read, plan.bytes_written, plan.flops) == (3 * 60, 2 * 60, 6 * 15)
    assert (plan.phases, plan.launches, plan.temporaries) == (1, 1, 0)
    assert plan.ir.count("out[i0] = ") == 1 and "masked" in plan.llvm and plan.asm
    assert np.array_equal(w.numpy(), before)
    plan.run()
    given = arrays(3, 5)
    numpy_momentum(*given, 0.1, 0.9, 0.5)
    assert np.array_equal(w.numpy(), given[0])
    assert repr(plan) == "<plan of kernel momentum>"


def test_a_plan_of_nothing_and_of_what_is_refused():
    assert momentum.plan(*tensors(arrays(0)), lr=0.1, mu=0.9).explain().endswith("nothing to do")
    w, g, _ = tensors(arrays(3))
    with pytest.raises(xt.AliasError):
        momentum.plan(w[1:], g[1:], w[:-1], lr=0.1, mu=0.9)


def test_a_call_that_stays_in_python_is_remembered_and_still_checked():
    @xt.kernel
    def add(w, g, *, a, n=1):
        w += a * g
        w += n * g

    w, g = np.zeros(4, np.float32), np.ones(4, np.float32)
    for k in range(1, 6):
        add(w, g, a=0.5)
        assert w.tolist() == [1.5 * k] * 4
    hits = xt.stats().hits
    add(w, g, a=0.25)
    assert xt.stats().hits == hits + 1
    with pytest.raises(OverflowError):
        add(w, g, a=0.5, n=1 << 70)
    w.flags.writeable = False
    with pytest.raises(xt.ReadOnlyError):
        add(w, g, a=0.5)
    assert w.tolist() == [8.75] * 4


def test_remembered_calls_hold_no_memory():
    given = [np.zeros(4, np.float32), np.ones(4, np.float32)]
    m = np.zeros(4, np.float32)
    for _ in range(4):
        momentum(*given, m, lr=0.1, mu=0.9)
    counts = [sys.getrefcount(a) for a in (*given, m)]
    for _ in range(10):
        momentum(*given, m, lr=0.1, mu=0.9)
    gc.collect()
    assert [sys.getrefcount(a) for a in (*given, m)] == counts


def test_a_sum_of_nothing_is_not_that_of_other_tensors() -> None:
    @xt.kernel
    def unit(w):
        w /= xt.norm(w)

    unit(xt.zeros(0))
    w = xt.full(4, 2.0)
    unit(w)
    np.testing.assert_array_equal(w.numpy(), np.full(4, 0.5, np.float32))


@pytest.mark.parametrize("scalar", [2, 0, 256, 0.5, float("nan"), 0.0, True, 1j])
def test_a_scalar_may_become_a_truth_value(scalar):
    @xt.kernel
    def both(y, b, *, s):
        y[...] = xt.logical_and(b, 2 * s)

    b, y, z = np.array([True, False]), xt.zeros(2, bool), xt.zeros(2, bool)
    for _ in range(4):  # the last are direct calls, where there are any
        both(y, xt.asarray(b), s=scalar)
        both.foreach([z], [xt.asarray(b)], s=scalar)
        assert np.array_equal(y.numpy(), np.logical_and(b, scalar)) and np.array_equal(z.numpy(), y.numpy())


def test_a_kernel_that_calls_itself_without_end_says_so():
    @xt.kernel
    def again(a):
        again(a)

    with pytest.raises(RecursionError, match="again: the kernel calls itself without an end"):
        again(xt.ones(3))
