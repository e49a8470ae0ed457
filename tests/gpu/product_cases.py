"""Products that hold on every GPU, real or emulated: by cuBLAS, with what is around them, or as folds."""

import numpy as np
import pytest
from exprten_jit.dtypes import DTYPES
from strategies import HALVES

import exprten as xt

NARROW = [dtype.name for dtype in HALVES]
TYPES = ["float32", "float64", "complex64", "complex128", *NARROW]


@pytest.fixture
def gpu(gpus):
    return gpus[0]


def numbers(shape, dtype=np.float32, seed=0):
    """Small whole numbers: products of them are exact in any order."""
    made = np.random.default_rng((seed, *shape)).integers(-4, 5, shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * numbers(shape, seed=seed + 100)
    return made.astype(dtype)


def named(name):
    return DTYPES[name].numpy


# Layouts: how an array lies on a device, as part of memory that is full of sevens.


def packed(a):
    return a.shape, (slice(None),) * a.ndim


def padded(a):
    return (*a.shape[:-1], a.shape[-1] + 5), (..., slice(0, a.shape[-1]))


def inside(a):
    return tuple(n + 3 for n in a.shape), tuple(slice(1, n + 1) for n in a.shape)


def stepped(a):
    return (*a.shape[:-1], 2 * a.shape[-1]), (..., slice(None, None, 2))


class Placed:
    """An array on a device, `t`, and all the memory that it is part of."""

    def __init__(self, array, how, device):
        turned = how.endswith("T")
        array = array.T if turned else array
        shape, self.part = globals()[how.removesuffix("T")](array)
        self.all = xt.array(np.full(shape, 7, array.dtype), device=device)
        part = self.all[self.part]
        xt.copy(part, np.ascontiguousarray(array))
        self.t = part.T if turned else part

    def assert_untouched(self):
        around = self.all.numpy()
        around[self.part] = 7
        assert (around == 7).all()


LAYOUTS = ["packed", "padded", "inside", "packedT", "insideT"]


def of(array, device):
    return xt.array(array, device=device)


def tensors(device, *shapes, dtype=np.float32):
    """Whole numbers as tensors, then as arrays."""
    made = [numbers(shape, dtype, n) for n, shape in enumerate(shapes)]
    return [*(of(a, device) for a in made), *made]


# Values.


@pytest.mark.parametrize("dtype", TYPES)
def test_product_of_every_type(gpu, dtype):
    a, b = numbers((6, 5), named(dtype), 1), numbers((5, 7), named(dtype), 2)
    out = xt.zeros((6, 7), named(dtype), gpu)
    plan = xt.plan(out, -xt.dot(of(a, gpu), of(b, gpu)), "add")
    assert plan.call.startswith("cublas: ") and plan.call.endswith("m 6, n 7, k 5, alpha -1, beta 1")
    plan.run()
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    np.testing.assert_array_equal(out.numpy().astype(wide), -(a.astype(wide) @ b.astype(wide)))


@pytest.mark.parametrize("target", LAYOUTS)
def test_every_layout_that_has_rows_or_columns_is_called_where_it_lies(gpu, target):
    """What lies beside the target stays, and what it held before is not read: it is NaN."""
    for m, k, n in ((6, 5, 7), (1, 4, 6), (6, 4, 1)):
        a, b = numbers((m, k), seed=1), numbers((k, n), seed=2)
        for left, right in (("inside", "packed"), ("packedT", "insideT"), ("insideT", "padded")):
            out = Placed(np.full((m, n), np.nan, np.float32), target, gpu)
            x, w = Placed(a, left, gpu).t, Placed(b, right, gpu).t
            assert xt.plan(out.t, xt.dot(x, w)).call.startswith("cublas: sgemm")
            out.t[...] = xt.dot(x, w)
            np.testing.assert_array_equal(out.t.numpy(), a @ b, f"{left} @ {right}")
            out.t += xt.dot(x, w)
            out.t -= -xt.dot(x, w)
            np.testing.assert_array_equal(out.t.numpy(), 3 * (a @ b), f"{left} @ {right}")
            out.assert_untouched()


@pytest.mark.parametrize(
    "shapes", [((4, 3), (3,)), ((3,), (3, 5)), ((1, 3), (3, 1)), ((4, 1), (1, 5)), ((3,), (2, 3, 5))]
)
def test_vectors_are_matrices_of_one_row_or_column(gpu, shapes):
    a, b = (numbers(shape, seed=n) for n, shape in enumerate(shapes))
    out = of(np.full((a @ b).shape, np.nan, np.float32), gpu)
    for steps in ("packed", "stepped"):
        x, y = (Placed(v, steps if v.ndim == 1 else "packed", gpu).t for v in (a, b))
        assert xt.plan(out, xt.dot(x, y) if b.ndim < 3 else x @ y).call.startswith("cublas: sgemm")
        out[...] = x @ y
        np.testing.assert_array_equal(out.numpy(), a @ b)


def test_layouts_and_types_that_cublas_has_not_are_folds(gpu):
    a, b = numbers((6, 5), seed=1), numbers((5, 7), seed=2)
    for x, w, out in (
        (Placed(a, "stepped", gpu).t, of(b, gpu), xt.zeros((6, 7), device=gpu)),
        (of(a, gpu), of(b, gpu), Placed(np.zeros((6, 7), np.float32), "stepped", gpu).t),
        (of(a.astype(np.int32), gpu), of(b.astype(np.int32), gpu), xt.zeros((6, 7), np.int32, gpu)),
        (of(a, gpu), xt.cast(of(b.astype(np.int8), gpu), np.float32), xt.zeros((6, 7), device=gpu)),
    ):
        plan = xt.plan(out, xt.dot(x, w))
        assert plan.call == ""
        for _ in range(2):
            out[...] = xt.dot(x, w)
            np.testing.assert_array_equal(out.numpy(), a @ b)


FACTORS = {  # statement, alpha, beta
    "out[...] = xt.dot(x, w)": (1, 0),
    "out += xt.dot(x, w)": (1, 1),
    "out -= eta * xt.dot(x, w)": (-0.5, 1),
    "out[...] = 2 * (xt.dot(x, w) / 4) * eta": (0.25, 0),
    "out[...] = mu * out - eta * xt.dot(x, w)": (-0.5, 0.25),
    "out[...] = (out + xt.dot(x, w)) / 2": (0.5, 0.5),
    "out[...] = xt.dot(x, w) - out": (1, -1),
}


def planned(statement, names):
    """The plan of a statement as text."""
    for symbol, mode in (("[...] =", "write"), (" +=", "add"), (" -=", "sub")):
        if symbol in statement:
            return xt.plan(names["out"], eval(statement.split(symbol)[1].strip(), names), mode)
    raise AssertionError(statement)


@pytest.mark.parametrize("statement", FACTORS)
def test_factors_are_part_of_the_call(gpu, statement):
    alpha, beta = FACTORS[statement]
    out, x, w, held, p, q = tensors(gpu, (6, 7), (6, 5), (5, 7))
    names = {"out": out, "x": x, "w": w, "xt": xt, "eta": 0.5, "mu": 0.25}
    plan = planned(statement, names)
    assert (plan.phases, plan.launches, plan.temporaries, plan.flops) == (1, 1, 0, 2 * 6 * 7 * 5)
    assert plan.call == f"cublas: sgemm N N, m 6, n 7, k 5, alpha {alpha:g}, beta {beta:g}"
    assert plan.call in plan.explain()
    exec(statement, names)
    np.testing.assert_array_equal(out.numpy(), alpha * (p @ q) + beta * held)


SUMS = {
    "out[...] = xt.dot(x, w) + eta * xt.dot(y, v)": lambda out, p, q, b, eta: p + eta * q,
    "out[...] = eta * out - xt.dot(x, w) + xt.dot(y, v) / eta": lambda out, p, q, b, eta: eta * out - p + q / eta,
    "out[...] = xt.maximum(eta * (xt.dot(x, w) - xt.dot(y, v)) + b, 1.0)": lambda out, p, q, b, eta: np.maximum(
        eta * (p - q) + b, 1
    ),
}


@pytest.mark.parametrize("statement", SUMS)
def test_sums_of_products_are_a_call_each_and_another_number_compiles_nothing(gpu, statement):
    out, x, w, y, v, b, held, p, q, r, s, bias = tensors(gpu, (6, 7), (6, 5), (5, 7), (6, 3), (3, 7), (7,))
    names = {"out": out, "x": x, "w": w, "y": y, "v": v, "b": b, "xt": xt}
    exec(statement, names | {"eta": 0.5})
    held = SUMS[statement](held, p @ q, r @ s, bias, 0.5)
    with xt.no_compile():
        for eta in (0.25, 2.0, 0.0 if "/ eta" not in statement else 8.0):
            exec(statement, names | {"eta": eta})
            held = SUMS[statement](held, p @ q, r @ s, bias, eta)
            np.testing.assert_array_equal(out.numpy(), held)
    assert planned(statement, names | {"eta": 1.0}).call.count("cublas: ") == 2


AROUND = {
    "xt.maximum(b - 2 * e, 0.0)": lambda p, b: np.maximum(b - 2 * p, 0),
    "e / xt.max(e, axis=1, keepdims=True)": lambda p, b: p / p.max(1, keepdims=True),
    "xt.where(e > 1.0, b, y)": lambda p, b: np.where(p > 1, b, 2),
}


@pytest.mark.parametrize("value", AROUND)
def test_what_is_around_a_product_comes_after_it_over_the_target(gpu, value):
    p, q, bias = numbers((6, 5), seed=1) + 5, numbers((5, 7), seed=2) + 5, numbers((7,))
    out = of(np.full((6, 7), np.nan, np.float32), gpu)
    names = {"b": of(bias, gpu), "xt": xt, "y": xt.full((6, 7), 2.0, device=gpu), "e": xt.dot(of(p, gpu), of(q, gpu))}
    plan = xt.plan(out, eval(value, names))
    assert plan.call.startswith("cublas: ") and plan.ir and plan.phases == plan.launches >= 2 and not plan.temporaries
    for _ in range(3):
        out[...] = eval(value, names)
    np.testing.assert_array_equal(out.numpy(), AROUND[value](p @ q, bias))


FOLDS = {  # what neither a call nor a call and a launch can be
    "out += xt.abs(xt.dot(x, w))": lambda out, x, w: out + np.abs(x @ w),
    "out *= xt.dot(x, w)": lambda out, x, w: out * (x @ w),
    "out[...] = xt.flip(xt.dot(x, w), 0)": lambda out, x, w: (x @ w)[::-1],
    "out[...] = xt.dot(x, w) * xt.dot(x[0], x[0])": lambda out, x, w: x @ w * (x[0] @ x[0]),
}


@pytest.mark.parametrize("statement", FOLDS)
def test_every_other_place_of_a_product_is_right(gpu, statement):
    out, x, w, held, p, q = tensors(gpu, (6, 7), (6, 5), (5, 7))
    for _ in range(3):
        held = FOLDS[statement](held, p, q)
        exec(statement, {"out": out, "x": x, "w": w, "xt": xt})
    np.testing.assert_array_equal(out.numpy(), held)


def test_a_batch_is_one_call_where_one_step_leads_through_it(gpu):
    a, b, out, p, q, held = tensors(gpu, (3, 5, 4), (3, 6, 5), (3, 4, 6))
    plan = xt.plan(out, -xt.batch_dot(a, b, transpose_a=True, transpose_b=True), "add")
    assert plan.call.endswith("3 times")
    plan.run()
    np.testing.assert_array_equal(out.numpy(), held - np.matmul(p.mT, q.mT))
    out[...] = xt.batch_dot(a[:1], b, True, True)
    np.testing.assert_array_equal(out.numpy(), np.matmul(p[:1].mT, q.mT))


@pytest.mark.parametrize("shapes", [((2, 3, 4, 5), (2, 3, 5, 6)), ((2, 1, 4, 5), (3, 5, 6)), ((2, 3, 4, 5), (5, 6))])
@pytest.mark.parametrize("how", ["packed", "inside"])
def test_a_batch_of_more_axes(gpu, shapes, how):
    a, b = (numbers(shape, seed=n) for n, shape in enumerate(shapes))
    wanted = a @ b
    out = Placed(np.full(wanted.shape, np.nan, np.float32), how, gpu)
    x, y = Placed(a, how, gpu).t, Placed(b, how, gpu).t
    out.t[...] = x @ y
    np.testing.assert_array_equal(out.t.numpy(), wanted)
    out.assert_untouched()
    out.t[::-1][...] = x @ y  # matrices of the target walk backwards
    np.testing.assert_array_equal(out.t.numpy(), wanted[::-1])


# Narrow floats.


@pytest.mark.parametrize("dtype", NARROW)
def test_narrow_floats_are_added_up_in_float32_and_rounded_once(gpu, dtype):
    row = named(dtype)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 4, shape).astype(row) for shape in ((3, 3000), (3000, 4)))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    out = xt.zeros((3, 4), row, gpu)
    out[...] = 0.375 * xt.dot(of(a, gpu), of(b, gpu))
    np.testing.assert_array_equal(out.numpy(), (0.375 * exact).astype(row))
    wide = xt.ones((3, 4), xt.float32, gpu)
    plan = xt.plan(wide, 0.5 * xt.dot(xt.cast(of(a, gpu), xt.float32), xt.cast(of(b, gpu), xt.float32)), "add")
    assert plan.call.startswith(f"cublas: gemm {dtype} {dtype} float32")
    plan.run()
    np.testing.assert_array_equal(wide.numpy(), 1 + 0.5 * exact)


# NaN, 0 and nothing.


def test_a_factor_of_0_looks_at_every_element(gpu):
    out, x, w, _, p, _ = tensors(gpu, (4, 4), (4, 4), (4, 4))
    p[1, 2] = np.nan
    xt.copy(x, p)
    for eta in (0.5, 0.0, -0.0):
        out[...] = 1.0
        out -= eta * xt.dot(x, w)
        found = out.numpy()
        assert np.isnan(found[1]).all() and not np.isnan(found[[0, 2, 3]]).any()
    xt.copy(x, np.zeros((4, 4), np.float32))
    out[...] = 0.0 * out + xt.dot(x, w)
    assert np.isnan(out.numpy()[1]).all() and not out.numpy()[[0, 2, 3]].any()


def test_nothing_to_add_up_is_0(gpu):
    out = xt.full((3, 4), 7.0, device=gpu)
    x, w = xt.zeros((3, 0), device=gpu), xt.zeros((0, 4), device=gpu)
    out += xt.dot(x, w)
    assert (out.numpy() == 7).all()
    out[...] = xt.dot(x, w)
    assert (out.numpy() == 0).all()
    none = xt.zeros((0, 4), device=gpu)
    none[...] = xt.dot(xt.zeros((0, 3), device=gpu), xt.zeros((3, 4), device=gpu))
    assert none.shape == (0, 4)


# Aliasing, memory, devices.

REFUSED = [
    "w[...] = xt.dot(w, x)", "w[...] = xt.dot(x, w.T)", "w += 2 * xt.dot(w, w)", "w[...] = xt.abs(xt.dot(x, w))",
    "whole[1:5] = xt.dot(whole[:4], x)", "w @= x", "whole[:4][...] = xt.dot(x, whole[3:7])",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("statement", REFUSED)
def test_target_in_a_product_is_refused_as_on_the_cpu(gpu, statement, dtype):
    texts = []
    for device in (xt.cpu(), gpu):
        whole, x = of(numbers((8, 4), dtype), device), of(numbers((4, 4), dtype, 1), device)
        with pytest.raises(xt.AliasError) as error:
            exec(statement, {"xt": xt, "whole": whole, "w": whole[:4], "x": x})
        texts.append(str(error.value))
        np.testing.assert_array_equal(whole.numpy(), numbers((8, 4), dtype))
    assert texts[0] == texts[1]


def test_no_tensor_memory_is_taken(gpu):
    out, x, w, *_ = tensors(gpu, (64, 64), (64, 64), (64, 64))
    before = xt.memory.on(gpu)
    for _ in range(3):
        out[...] = xt.maximum(xt.dot(x.T, w) + 1.0, 0.0)
        out -= xt.dot(x, w)
    assert (xt.memory.on(gpu).allocations, xt.memory.on(gpu).bytes_in_use) == (before.allocations, before.bytes_in_use)


def test_operands_of_other_streams_are_waited_for(gpu):
    p, q = numbers((40, 30), seed=1), numbers((30, 20), seed=2)
    with xt.Stream(gpu):
        x = of(p, gpu)
        x += 1.0
    with xt.Stream(gpu):
        w = of(q, gpu)
    out = xt.zeros((40, 20), device=gpu)
    for _ in range(3):
        out += xt.dot(x, w)
        x -= 1.0
    np.testing.assert_array_equal(out.numpy(), (p + 1) @ q + p @ q + (p - 1) @ q)
