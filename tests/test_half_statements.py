"""float16 and bfloat16 in statements: layouts, folds, products, kernels, and memory of others."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from exprten_jit.dtypes import DTYPES as ROW
from exprten_jit.ir import op
from exprten_jit.vectors import STREAM_BYTES
from strategies import (
    TARGETS,
    assert_same_bits,
    assert_within_ulps,
    pairs,
    place,
    values,
)
from test_folds import judged
from test_half import BOTH, NO_LIBRARY, PLACES, WIDTHS, doubled, dtype_of, quiet
from test_ops import compiled, kernel_of

import exprten as xt
from exprten.options import from_environment

pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # ml_dtypes' word for a signalling NaN

# Statements.


def update(w, g, eta=0.1, lam=0.01):
    return w - eta * (g + lam * w)


def updated(w, g, eta=0.1, lam=0.01):
    one = w.dtype.type
    return quiet(lambda: w - one(eta) * (g + one(lam) * w))


@BOTH
@pytest.mark.parametrize("layout", TARGETS)
def test_an_update_under_every_layout(layout, name):
    rng = np.random.default_rng(len(layout))
    for bits in WIDTHS:
        w, g = (values(dtype_of(name), (7, 37), seed=k) for k in range(2))
        out = place(w, layout)
        other = place(g, str(rng.choice(list(TARGETS))))
        target = xt.asarray(out.array)
        with xt.options(vector_bits=bits):
            target -= 0.1 * (xt.asarray(other.array) + 0.01 * target)
        assert_same_bits(out.array.copy(), updated(w, g), f"{layout}, {bits} bits")
        out.assert_untouched()
        other.assert_unchanged()


@BOTH
def test_sizes_around_a_vector(name):
    for n in (0, 1, 2, 15, 16, 17, 31, 33, 63, 65, 200):
        w, g = (values(dtype_of(name), (n,), seed=k) for k in range(2))
        assert_same_bits(xt.evaluate(update(xt.asarray(w), xt.asarray(g))).numpy(), updated(w, g), f"{n} elements")


WOVEN = {  # whether vectors of these are taken from alternating elements
    "update": (True, lambda x, y, f: update(x, y)),
    "division": (True, lambda x, y, f: x / y),
    "constant": (True, lambda x, y, f: xt.full(x.shape, 0.1, x.dtype)),
    "a row for all": (True, lambda x, y, f: x * y[:1]),
    "a number a row": (True, lambda x, y, f: x + y[:, :1]),
    "padded": (True, lambda x, y, f: xt.pad(x, 1) * y[0, 0]),
    "branches": (True, lambda x, y, f: xt.sin(x * 1e30)),
    "positions": (False, lambda x, y, f: x * xt.cast(xt.arange(f.shape[1]), x.dtype)),
    "float32 too": (False, lambda x, y, f: xt.cast(x * f, x.dtype)),
    "backwards": (False, lambda x, y, f: xt.flip(x, 1) * y),
    "folded": (True, lambda x, y, f: x - xt.max(y, 1, keepdims=True) * xt.sum(x, 0)),
}


@NO_LIBRARY
@pytest.mark.parametrize("case", WOVEN)
def test_two_vectors_of_alternating_elements_have_the_interpreters_bits(case):
    woven, made = WOVEN[case]
    x, y = (xt.asarray(values(dtype_of("bfloat16"), (3, 165), seed=k)) for k in range(2))
    e, want = made(x, y, xt.ones(x.shape)), None
    for bits in (128, 256, 512):
        with xt.options(vector_bits=bits):
            plan = xt.plan(xt.zeros(e.shape, e.dtype), e)
        assert (" woven" in plan.nest) == woven, plan.nest
        want = judged(plan) if want is None else want
        assert_same_bits(plan.run().numpy().copy(), want, f"{bits} bits")


@NO_LIBRARY
@pytest.mark.parametrize("shift", [0, 16, 1], ids="from element {}".format)
def test_a_large_target_of_bfloat16_is_stored_past_the_caches(shift):
    n = (STREAM_BYTES >> 1) + 77
    memory, x = xt.zeros(n + shift + 32, xt.bfloat16), values(dtype_of("bfloat16"), (n,))
    target = memory[shift:][:n]
    target[...] = xt.asarray(x) * 1.5
    assert_same_bits(target.numpy(), quiet(lambda: x * x.dtype.type(1.5)))
    assert not memory.numpy()[:shift].any() and not memory.numpy()[shift + n :].any()


@NO_LIBRARY
def test_rounding_to_bfloat16_is_the_same_without_an_instruction_that_adds_products(monkeypatch):
    machine, row = llvm_run.machine(), ROW["bfloat16"]
    a, b = (np.ascontiguousarray(x) for x in pairs(row.numpy, row.numpy))
    kernel = kernel_of(lambda x, y: op("multiply", (op("add", (x, y), row), y), row), (row, row), row)
    for bits in (128, 256, 512):
        monkeypatch.setattr(llvm_run, "machine", lambda: machine)
        want = compiled(kernel, [a, b], bits)
        monkeypatch.setattr(llvm_run, "machine", lambda: replace(machine, dots=False))
        assert_same_bits(compiled(kernel, [a, b], bits), want, f"{bits} bits")
    assert_same_bits(want, quiet(lambda: (a + b) * b))


@BOTH
@pytest.mark.parametrize("mode", ["add", "sub", "mul", "div"])
def test_a_mode_is_computed_in_the_common_type_and_rounded_once(mode, name):
    dtype = dtype_of(name)
    for other in (dtype, np.dtype("float32")):
        a, b = values(dtype, (100,), 1), values(other, (100,), 2)
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[mode]
        want = quiet(quiet(function, a.astype(other), b).astype, dtype)
        t = xt.array(a)
        xt.assign(t, mode, xt.asarray(b))
        assert_same_bits(t.numpy(), want, f"{mode} {other}")
    with pytest.raises(xt.DTypeError, match="same-kind"):
        xt.assign(xt.ones(3, xt.int32), mode, xt.ones(3, dtype))


@BOTH
def test_index_maps_move_every_bit(name):
    x = values(dtype_of(name), (5, 7), 3)
    t = xt.asarray(x)
    assert_same_bits(xt.evaluate(xt.flip(t, 1)).numpy(), x[:, ::-1])
    assert_same_bits(xt.evaluate(xt.pad(t, 1)).numpy(), np.pad(x, 1))
    assert_same_bits(xt.evaluate(xt.concat(t, t)).numpy(), np.concatenate([x, x]))
    assert_same_bits(
        xt.evaluate(xt.reshape(t + 0.0, (7, 5))).numpy(), quiet(lambda: (x + x.dtype.type(0)).reshape(7, 5))
    )


# Folds.


@BOTH
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_sum_is_rounded_once(name, axis):
    dtype, rng = dtype_of(name), np.random.default_rng(2)
    for shape in ((3, 5), (40, 33), (2, 5000), (600, 17)):
        x = rng.standard_normal(shape).astype(dtype)
        got = xt.evaluate(xt.sum(xt.asarray(x), axis)).numpy()
        assert got.dtype == dtype
        exact, size = doubled(x).sum(axis), np.abs(doubled(x)).sum(axis)
        allowed = 2.0 ** -PLACES[name] * np.abs(exact) + 2 * 2.0**-24 * math.log2(x.size) * size
        assert (np.abs(doubled(got) - exact) <= allowed).all()
    ones = xt.ones((3, 5000), dtype)
    assert xt.evaluate(xt.sum(ones, 1)).numpy().tolist() == [float(dtype.type(5000))] * 3  # not where adding 1 stops


@BOTH
@pytest.mark.parametrize("function", ["mean", "var", "std", "norm", "prod"])
def test_what_is_made_of_folds_is_rounded_once(function, name):
    x = (1 + 0.1 * np.random.default_rng(4).standard_normal((13, 37))).astype(dtype_of(name))
    reference = np.linalg.norm if function == "norm" else getattr(np, function)
    for axis in (None, 1):
        got = xt.evaluate(getattr(xt, function)(xt.asarray(x), axis)).numpy()
        assert_within_ulps(
            got, np.asarray(reference(doubled(x), axis=axis)).astype(x.dtype), 1, f"{function}, axis {axis}"
        )


@BOTH
def test_a_sum_may_be_of_another_type(name):
    dtype = dtype_of(name)
    x = xt.full(70_000, 2.0, dtype)
    wide = xt.sum(x, dtype=xt.float32)
    assert wide.dtype == np.float32 and xt.evaluate(wide).item() == 140_000
    narrow = xt.sum(xt.full(300, 1 / 3), dtype=dtype)
    assert narrow.dtype == dtype and xt.evaluate(narrow).item() == float(dtype.type(300 * float(dtype.type(1 / 3))))
    assert xt.evaluate(xt.sum(xt.full((3, 0), 1.0, dtype), 1)).numpy().tolist() == [0.0] * 3


@BOTH
@pytest.mark.parametrize("function", ["max", "min", "argmax", "argmin", "any", "all", "count_nonzero"])
def test_extremes_and_positions_are_numpys(function, name):
    for seed, shape in enumerate([(9, 31), (200, 3)]):
        x = values(dtype_of(name), shape, seed)
        x = np.where(np.isnan(x), x.dtype.type(0), x) if seed == 1 else x
        x = x + x.dtype.type(0)  # no -0
        for axis in (0, 1):
            got = xt.evaluate(getattr(xt, function)(xt.asarray(x), axis)).numpy()
            assert_same_bits(
                got, getattr(np, function)(x.astype(np.float32), axis=axis).astype(got.dtype), f"{shape}, {axis}"
            )


STRUCTURES = {
    "sum": lambda x: xt.sum(x * 0.3, 1),
    "across": lambda x: xt.sum(x, 0),
    "softmax": lambda x: xt.exp(x) / xt.sum(xt.exp(x), 1, keepdims=True),
    "argmax": lambda x: xt.argmax(x, 1),
    "variance": lambda x: xt.var(x, 0),
    "update": lambda x: update(x, xt.square(x)),
    "nextafter": lambda x: xt.nextafter(x, 0.5 - x),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("half", ["strict", "wide"])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_machine_code_has_the_interpreters_bits(structure, half, name):
    x = np.random.default_rng(9).standard_normal((2, 17)).astype(dtype_of(name))
    e, want = STRUCTURES[structure](xt.asarray(x)), None
    for bits in WIDTHS:
        with xt.options(vector_bits=bits, half=half):
            plan = xt.plan(xt.zeros(e.shape, e.dtype), e)
            want = judged(plan) if want is None else want
            assert_same_bits(plan.run().numpy().copy(), want, f"{structure}, {bits} bits")


@BOTH
def test_a_reducer_of_ones_own_adds_in_the_wide_type(name):
    @xt.reducer(identity=0.0)
    def total(a, b):
        return a + b

    def powers(x):
        return x, x * x

    def difference(a, b):
        return b - a * a

    @xt.reducer(identity=(0.0, 0.0), element=powers, result=difference)
    def spread(a, b, c, d):
        return a + c, b + d

    dtype = dtype_of(name)
    x = xt.full((2, 5000), 1.0, dtype)
    assert total(x, axis=1).dtype == dtype
    assert xt.evaluate(total(x, axis=1)).numpy().tolist() == [float(dtype.type(5000))] * 2
    y = xt.full(64, 0.0625, dtype)
    assert spread(y).dtype == dtype and xt.evaluate(spread(y)).item() == 64 * 0.0625**2 - 16


# Products.


@BOTH
@pytest.mark.parametrize(
    "size", [(2, 3, 1), (3, 5, 0), (17, 33, 7), (20, 70, 600), (1, 9, 300), (130, 9, 260)], ids=str
)
def test_a_product_adds_in_float32_and_is_rounded_once(size, name):
    (m, n, k), dtype, rng = size, dtype_of(name), np.random.default_rng(6)
    a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
    exact, most = doubled(a) @ doubled(b), np.abs(doubled(a)) @ np.abs(doubled(b))

    def check(got, want):
        assert got.dtype == dtype
        allowed = 1.001 * 2.0 ** -PLACES[name] * np.abs(want) + 2.0**-24 * (k + 2) * (most + 1)
        assert (np.abs(doubled(got) - want) <= allowed).all()

    for x, y in ((a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b))):
        check(xt.evaluate(xt.asarray(x) @ xt.asarray(y)).numpy(), exact)
    t = xt.array(c)
    t += 0.5 * xt.dot(xt.asarray(a), xt.asarray(b))
    if min(m, n) > 1:  # else it is a fold, and its parts are rounded
        check(t.numpy(), doubled(c) + 0.5 * exact)
    into = xt.zeros((n, m), dtype)
    into.T[...] = xt.asarray(a) @ xt.asarray(b)
    check(into.numpy().T, exact)


@BOTH
def test_a_product_of_ones_does_not_stop_growing(name):
    dtype = dtype_of(name)
    got = xt.evaluate(xt.ones((16, 3000), dtype) @ xt.ones((3000, 40), dtype)).numpy()
    assert (doubled(got) == float(dtype.type(3000))).all()
    assert xt.evaluate(xt.ones(3000, dtype) @ xt.ones(3000, dtype)).item() == float(dtype.type(3000))


@BOTH
def test_a_product_with_another_type(name):
    dtype, rng = dtype_of(name), np.random.default_rng(8)
    a = rng.integers(-4, 5, (9, 20)).astype(dtype)
    for other in ("float32", "float64", "int8", "bool"):
        b = rng.integers(0, 2, (20, 30)).astype(other)
        e = xt.asarray(a) @ xt.asarray(b)
        assert e.dtype == (np.dtype(other) if "float" in other else dtype)
        assert (doubled(xt.evaluate(e).numpy()) == doubled(a) @ doubled(b)).all()
    big = xt.evaluate(xt.asarray(a)[:, :2] @ xt.full((2, 3), 70_000, xt.float32)).numpy()
    assert (doubled(big) == doubled(a)[:, :2].sum(1)[:, None] * 70_000).all()
    batch = xt.evaluate(xt.batch_dot(xt.ones((3, 4, 5), dtype), xt.ones((3, 5, 6), dtype))).numpy()
    assert batch.dtype == dtype and (doubled(batch) == 5).all()


# What is rounded only when it is stored.


@BOTH
def test_wide_rounds_only_what_is_stored(name):
    dtype = dtype_of(name)
    w, g = (np.random.default_rng(k).standard_normal(500).astype(dtype) for k in range(2))
    f = np.float32
    want = (w.astype(f) - f(0.1) * (g.astype(f) + f(0.01) * w.astype(f))).astype(dtype)
    with xt.options(half="wide"):
        got = xt.evaluate(update(xt.asarray(w), xt.asarray(g)))
        plan = xt.plan(got, update(xt.asarray(w), xt.asarray(g)))
    assert_same_bits(got.numpy(), want)
    assert not np.array_equal(got.numpy(), updated(w, g))
    assert "s0: float32" in plan.ir and plan.ir.count(f"{name}(") == 1
    assert_same_bits(xt.evaluate(update(xt.asarray(w), xt.asarray(g))).numpy(), updated(w, g), "after the block")


def test_wide_is_an_option_with_two_values(monkeypatch):
    with (
        pytest.raises(ValueError, match="options: half is 'float32'; it must be 'strict' or 'wide'"),
        xt.options(half="float32"),
    ):
        pass
    monkeypatch.setenv("EXPRTEN_HALF", "wide")
    assert from_environment().half == "wide"


@xt.kernel
def momentum(w, g, m, *, lr, mu):
    m[...] = mu * m + g
    w -= lr * m


@BOTH
def test_a_kernel_reads_what_it_has_stored(name):
    dtype = dtype_of(name)
    given = [np.random.default_rng(k).standard_normal((3, 70)).astype(dtype) for k in range(3)]
    for half, one in (("strict", dtype.type), ("wide", np.float32)):
        w, g, m = (x.astype(one) for x in given)
        m = (one(0.9) * m + g).astype(dtype).astype(one)
        want = (w - one(0.1) * m).astype(dtype)
        for run in (momentum, lambda *ts, **how: momentum.foreach(*([t] for t in ts), **how)):
            tensors = [xt.array(x) for x in given]
            with xt.options(half=half):
                run(*tensors, lr=0.1, mu=0.9)
            assert_same_bits(tensors[2].numpy(), m.astype(dtype), half)
            assert_same_bits(tensors[0].numpy(), want, half)


@BOTH
def test_an_operation_of_ones_own_rounds_at_every_node(name):
    @xt.op
    def smooth(a, b):
        if a > 1 / b:
            return a - 0.5 / b
        return 0.5 * b * a * a

    x = np.random.default_rng(0).standard_normal(300).astype(dtype_of(name))
    one = x.dtype.type
    e = smooth(xt.asarray(x), 2.0)
    assert e.dtype == x.dtype
    half, two = one(0.5), one(2)
    want = np.where(x > one(1) / two, x - half / two, half * two * x * x)
    assert_same_bits(xt.evaluate(e).numpy(), want)
    assert smooth.grad(0)(xt.asarray(x), 2.0).dtype == x.dtype


@BOTH
def test_optimisers_step_in_the_type(name):
    dtype = dtype_of(name)
    w, g = (np.random.default_rng(k).standard_normal(50).astype(dtype) for k in range(2))
    one, t = dtype.type, xt.array(w)
    xt.optim.sgd(t, xt.asarray(g), lr=0.1, weight_decay=0.01)
    assert_same_bits(t.numpy(), w - one(0.1) * (g + one(0.01) * w))
    m, v = xt.zeros_like(t), xt.zeros_like(t)
    xt.optim.adam([t], [xt.asarray(g)], [m], [v], t=1)
    assert_same_bits(m.numpy(), one(1 - 0.9) * g)
    assert np.isfinite(doubled(t.numpy())).all()
    big = xt.full(4000, 100.0, dtype)
    assert xt.optim.clip_norm(big, 1.0) == pytest.approx(100 * 4000**0.5, rel=1e-6)


# Memory of others.


@BOTH
def test_numpy_shares_the_memory(name):
    x = values(dtype_of(name), (4, 6), 1)
    x = np.where(np.isnan(x), x.dtype.type(0), x)
    t = xt.asarray(x[:, ::2])
    assert t.dtype == x.dtype and t.strides == (12, 4)
    t += 1.0
    assert np.shares_memory(t.numpy(), x) and t.numpy().dtype == x.dtype
    assert_same_bits(np.asarray(t), x[:, ::2])
    assert_same_bits(pickle.loads(pickle.dumps(t)).numpy(), x[:, ::2])
    assert np.asarray(t, np.float32).dtype == np.float32
    assert t[0, 0].item() == float(x[0, 0]) and type(t[0, 0].item()) is float
    x.flags.writeable = False
    with pytest.raises(xt.ReadOnlyError):
        xt.asarray(x)[...] = 0


class Exporter:
    """Someone else's tensor, who may know no versions of DLPack."""

    def __init__(self, t, *, old):
        self.t, self.old = t, old

    def __dlpack__(self, **how):
        if self.old and how:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.t.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


@BOTH
@pytest.mark.parametrize("old", [False, True])
def test_dlpack_gives_and_takes(old, name):
    t = xt.arange(12, dtype=dtype_of(name)).reshape(3, 4)
    u = xt.asarray(Exporter(t.T, old=old))
    assert u.dtype == t.dtype and u.shape == (4, 3) and u.writable is not old
    t *= 2.0
    assert_same_bits(u.numpy(), t.numpy().T)
    with pytest.raises(BufferError):
        xt.free_space(t)
    del u


@NO_LIBRARY
def test_dlpack_of_bfloat16_says_so():
    torch = pytest.importorskip("torch", reason="no PyTorch to exchange with")
    t = xt.full(3, 2.5, "bfloat16")
    theirs = torch.from_dlpack(t)
    assert theirs.dtype == torch.bfloat16
    theirs += 1
    assert t.numpy().tolist() == xt.asarray(theirs).numpy().tolist() == [3.5] * 3


def test_a_buffer_of_float16_is_shared():
    x = np.arange(6, dtype=np.float16).reshape(2, 3)
    t = xt.asarray(memoryview(x))
    t *= 2.0
    assert x.tolist() == [[0, 2, 4], [6, 8, 10]]


@BOTH
def test_constructors_and_containers(name):
    dtype = dtype_of(name)
    assert xt.full((2,), 1.1, dtype).numpy().tolist() == [float(dtype.type(1.1))] * 2
    assert xt.full((2,), dtype.type(3)).dtype == dtype
    assert xt.arange(0, 1, 0.25, dtype=dtype).numpy().tolist() == [0, 0.25, 0.5, 0.75]
    assert xt.array([1.5, 2], dtype).numpy().tolist() == [1.5, 2]
    assert xt.array(np.arange(3), dtype).dtype == xt.empty_like(xt.zeros(2, dtype)).dtype == dtype
    with pytest.raises(xt.DTypeError, match="same-kind"):
        xt.array(np.ones(2, dtype), xt.int32)
    with xt.TensorContainer((3, 40), 0.5, dtype, pad=True) as c:
        assert c.strides == (128, 2) and (doubled(c.numpy()) == 0.5).all()
        c.resize((2, 2), 1.5)
        assert repr(c) == f"tensor([[1.5, 1.5],\n        [1.5, 1.5]], shape=(2, 2), dtype={name})"


def test_every_pair_of_sizes_of_both_types_in_one_statement():
    a, b = xt.ones((7, 33), xt.float16), xt.ones((7, 33), xt.float32)
    for x, y in itertools.product((a, b), (a, b)):
        assert (xt.evaluate(x + 2 * y).numpy() == 3).all()
    narrow = xt.zeros((7, 33), xt.float16)
    narrow[...] = b / 3
    assert (narrow.numpy() == np.float16(np.float32(1) / np.float32(3))).all()


@BOTH
@pytest.mark.parametrize("bits", WIDTHS)
def test_a_number_that_was_a_double_keeps_its_sign(bits, name):
    x = xt.array([[-2.0], [0.5]], xt.float64)
    with xt.options(vector_bits=bits):
        for e in (x[0, 0], x[:, 0], xt.array([-2.0, 0.5, 2.0] * 3, xt.float64)[::4], xt.sum(x)):
            narrow = xt.evaluate(xt.cast(e, name))
            for function in (xt.tanh, xt.expm1, xt.fraction):
                once = xt.evaluate(function(xt.cast(e, name)))
                assert_same_bits(once.numpy(), xt.evaluate(function(narrow)).numpy(), function.__name__)
        nothing = xt.evaluate(xt.tanh(xt.sum(xt.zeros(0, name)))).numpy()
        assert_same_bits(nothing, np.zeros((), dtype_of(name)), "nothing")
