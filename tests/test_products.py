"""Products: by every provider, in every layout, against NumPy."""

import contextlib
import ctypes
import gc
import importlib.util
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
from exprten_jit import gemm
from exprten_jit.backends import llvm_gemm
from exprten_jit.backends.llvm_gemm import Gemm
from exprten_jit.backends.llvm_run import compile_text, machine
from exprten_jit.dtypes import DTYPES as ROWS
from exprten_jit.hostcall import c_api
from exprten_jit.machine import Machine
from exprten_jit.threads import parallel
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, LAYOUTS, TARGETS, place

import exprten as xt
from exprten import blas
from exprten.options import DEFAULT

ROOT = Path(__file__).parents[1]
PROVIDERS = blas.available()
SHAPES = [
    ((3,), (3,)), ((4, 3), (3,)), ((3,), (3, 5)), ((4, 3), (3, 5)), ((1, 3), (3, 1)), ((1, 3), (3, 5)), ((17, 33), (33, 19)),
    ((1, 1), (1, 1)), ((2, 4, 3), (3, 5)), ((2, 1, 4, 3), (6, 3, 5)), ((3,), (2, 3, 5)), ((2, 4, 3), (3,)), ((2, 2, 3, 4), (2, 2, 4, 1)),
    ((4, 0), (0, 5)), ((0, 3), (3, 5)), ((4, 3), (3, 0)), ((0,), (0,)), ((2, 0), (0,)), ((0,), (0, 2)), ((0, 4, 3), (3, 5)),
]  # fmt: skip


@pytest.fixture(params=PROVIDERS)
def provider(request):
    """Everything with each way to multiply that there is here."""
    with xt.options(blas=request.param.split(",")[0]):
        yield request.param


def numbers(shape, dtype, seed=0):
    """Small whole numbers: float products of them are exact in any order."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng((seed, *shape))
    return rng.integers(0 if dtype.kind in "bu" else -4, 2 if dtype.kind == "b" else 5, shape).astype(dtype)


def tensors(*shapes, dtype=np.float32):
    """Whole numbers as tensors, and as arrays on the same memory."""
    made = [xt.array(numbers(shape, dtype, n)) for n, shape in enumerate(shapes)]
    return [*made, *(t.numpy() for t in made)]


# Values.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_product_is_numpys(shapes, dtype, provider):
    a, b = numbers(shapes[0], dtype, 1), numbers(shapes[1], dtype, 2)
    wanted = a @ b
    e = xt.asarray(a) @ xt.asarray(b)
    assert e.shape == wanted.shape and e.dtype == wanted.dtype
    np.testing.assert_array_equal(xt.evaluate(e).numpy(), wanted)


@pytest.mark.parametrize(
    "types", [("float32", "float64"), ("int32", "float64"), ("bool", "float32"), ("uint8", "int64"), ("int64", "bool")]
)
def test_types_promote_as_numpys(types, provider):
    a, b = numbers((5, 7), types[0]), numbers((7, 6), types[1])
    wanted = a @ b
    got = xt.evaluate(xt.dot(xt.asarray(a), b)).numpy()
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.covering(1)
@pytest.mark.parametrize("provider", [*PROVIDERS, "own, int32"], indirect=True)
@pytest.mark.parametrize("layout", TARGETS)
def test_every_layout_of_target_and_operands(layout, provider):
    """Canaries beside the target stay, and what a target held before is not read: it is NaN."""
    dtype = np.dtype(np.int32 if "int32" in provider else np.float32)
    for m, k, n in ((6, 5, 7), (1, 4, 6), (6, 4, 1)):
        for left in LAYOUTS:
            for right in ("contiguous", left) if m == 6 == n - 1 else ("transposed",):
                a, b = place(numbers((m, k), dtype, 1), left), place(numbers((k, n), dtype, 2), right)
                out = place(np.full((m, n), np.nan if dtype.kind == "f" else 77, dtype), layout)
                target = xt.asarray(out.array)
                wanted = a.array @ b.array
                target[...] = xt.dot(a.array, b.array)
                np.testing.assert_array_equal(out.array, wanted, f"{left} @ {right}")
                target += 2 * xt.dot(a.array, b.array)
                target -= xt.dot(a.array, b.array) * 4
                np.testing.assert_array_equal(out.array, -wanted, f"{left} @ {right}")
                out.assert_untouched()
                a.assert_unchanged()
                b.assert_unchanged()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_a_vector(layout, provider):
    for dtype in (np.dtype(np.float32), np.dtype(np.int64)):
        v, a = place(numbers((5,), dtype, 1), layout), numbers((4, 5), dtype, 2)
        np.testing.assert_array_equal(xt.evaluate(xt.dot(a, xt.asarray(v.array))).numpy(), a @ v.array)
        np.testing.assert_array_equal(xt.evaluate(xt.dot(v.array, xt.asarray(a.T))).numpy(), v.array @ a.T)
        if layout in TARGETS:
            out = place(numbers((4,), dtype, 3), layout)
            wanted = out.array - 2 * (a @ np.ones(5, dtype))
            target = xt.asarray(out.array)
            target -= 2 * xt.dot(a, xt.asarray(np.ones(5, dtype)))
            np.testing.assert_array_equal(out.array, wanted)
            out.assert_untouched()


STATEMENTS = {  # statement, alpha, beta
    "out[...] = xt.dot(x, w)": (1, 0),
    "out += xt.dot(x, w)": (1, 1),
    "out -= eta * xt.dot(x, w)": (-0.5, 1),
    "out[...] = -xt.dot(x, w)": (-1, 0),
    "out[...] = 2 * (xt.dot(x, w) / 4) * eta": (0.25, 0),
    "out -= -(xt.dot(x, w) * np.float32(2))": (2, 1),
    "out[...] = mu * out - eta * xt.dot(x, w)": (-0.5, 0.25),
    "out[...] = (out + xt.dot(x, w)) / 2": (0.5, 0.5),
    "out[...] = +xt.dot(x, w) - out": (1, -1),
    "out.assign(xt.dot(x, w), 'inplace')": (1, 0),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_factors_are_part_of_the_call(statement, provider):
    alpha, beta = STATEMENTS[statement]
    out, x, w, held, p, q = tensors((6, 7), (6, 5), (5, 7))
    names = {"out": out, "x": x, "w": w, "xt": xt, "np": np, "eta": 0.5, "mu": 0.25}
    wanted = alpha * (p @ q) + beta * held
    exec(statement, names)
    np.testing.assert_array_equal(held, wanted)
    if ".assign" not in statement:
        plan = planned(statement, names)
        assert (plan.phases, plan.launches, plan.temporaries, plan.flops, plan.ir) == (1, 1, 0, 2 * 6 * 7 * 5, "")
        assert plan.call.startswith(provider) and f"alpha {alpha:g}, beta {beta:g}" in plan.call
        assert plan.call in plan.explain() and plan.llvm and plan.asm


def planned(statement, names):
    """The plan of a statement as text."""
    for symbol, mode in (("[...] =", "write"), (" +=", "add"), (" -=", "sub")):
        if symbol in statement:
            return xt.plan(names["out"], eval(statement.split(symbol)[1].strip(), names), mode)
    raise AssertionError(statement)


FACTORS = [  # types of operands and target, and a factor with a type of its own
    ("float64", np.int32(-3)), ("float64", np.float32(0.5)), ("float32", np.True_), ("float32", np.int8(2)), ("int64", np.int8(-2)),
    ("int32", np.True_), ("int32", np.False_), ("bool", np.False_), ("bool", np.True_), ("uint8", np.uint8(200)), ("uint64", np.uint64(2**63 + 3)),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "factor"), FACTORS)
def test_factors_with_a_type_of_their_own(dtype, factor, provider):
    a, b, out, p, q, held = tensors((6, 5), (5, 7), (6, 7), dtype=dtype)
    for _ in range(4):
        wanted = held + factor * (p @ q)
        assert wanted.dtype == dtype
        out += factor * xt.dot(a, b)
        np.testing.assert_array_equal(held, wanted)
        wanted = factor * held + (p @ q)
        out[...] = factor * out + xt.dot(a, b)
        np.testing.assert_array_equal(held, wanted)
        wanted = (factor * (p @ q)) * (p @ q)[0] + factor
        out[...] = (factor * xt.dot(a, b)) * xt.asarray((p @ q)[0]) + factor
        np.testing.assert_array_equal(held, wanted)


SUMS = {  # statement: passes, and what NumPy says of products p and q
    "out[...] = xt.dot(x, w) + eta * xt.dot(y, v)": (2, lambda out, p, q, b, eta: p + eta * q),
    "out -= eta * (xt.dot(x, w) - xt.dot(y, v))": (2, lambda out, p, q, b, eta: out - eta * (p - q)),
    "out[...] = eta * out - xt.dot(x, w) + xt.dot(y, v) / eta": (2, lambda out, p, q, b, eta: eta * out - p + q / eta),
    "out[...] = xt.tanh(xt.dot(x, w) + xt.dot(y, v) * 0.5 + b)": (3, lambda out, p, q, b, eta: np.tanh(p + q * 0.5 + b)),
    "out[...] = xt.abs(2.0 * (eta * xt.dot(x, w)) + b * eta) * 3.0 + eta": (
        2, lambda out, p, q, b, eta: np.abs(2 * eta * p + b * eta) * 3 + eta),
    "out[...] = b * 4.0 - xt.sqrt(xt.square(xt.dot(y, v) * eta / 2.0)) * 3.0": (
        2, lambda out, p, q, b, eta: b * 4 - np.abs(q * eta / 2) * 3),
}  # fmt: skip


@pytest.mark.parametrize("statement", SUMS)
def test_sums_of_products_are_a_call_each(statement, provider):
    out, x, w, y, v, b, held, *_ = tensors((6, 7), (6, 5), (5, 7), (6, 3), (3, 7), (7,))
    names = {"out": out, "x": x, "w": w, "y": y, "v": v, "b": b, "xt": xt}
    passes, numpys = SUMS[statement]
    p, q = x.numpy() @ w.numpy(), y.numpy() @ v.numpy()
    for n, eta in enumerate((0.5, 0.25, 4.0, 2.0, 0.0 if "/ eta" not in statement else 8.0)):
        wanted = numpys(held.copy(), p, q, b.numpy(), eta)
        with contextlib.nullcontext() if n == 0 else xt.no_compile():
            exec(statement, names | {"eta": eta})
        np.testing.assert_allclose(held, wanted, rtol=2e-5, atol=1e-5)
    plan = planned(statement, names | {"eta": 0.5})
    assert (plan.phases, plan.launches, plan.temporaries) == (passes, 1, 0)
    assert plan.call.count(provider) == statement.count("xt.dot")


AROUND = {  # what is around the product e: its passes over the target, and what NumPy says
    "xt.tanh(e + b)": (1, lambda p, b: np.tanh(p + b)),
    "xt.maximum(b - 2 * e, 0.0)": (1, lambda p, b: np.maximum(b - 2 * p, 0)),
    "e * xt.max(e)": (2, lambda p, b: p * p.max()),
    "e + y": (1, lambda p, b: p + 2),
    "e / xt.sum(e, axis=1, keepdims=True)": (1, lambda p, b: p / p.sum(1, keepdims=True)),
    "xt.where(e > 1.0, b, y)": (1, lambda p, b: np.where(p > 1, b, 2)),
    "xt.dot(x, w) + x[0, 0] * y": (1, lambda p, b: p + 14),
}


@pytest.mark.parametrize("value", AROUND)
def test_what_is_around_a_product_is_a_phase_over_the_target(value, provider):
    passes, numpys = AROUND[value]
    out, x, w, b, held, p, q, bias = tensors((6, 7), (6, 5), (5, 7), (7,))
    p[...], q[...] = p + 5, q + 5  # no sum is 0
    p[0, 0] = 7
    held[...] = np.nan
    names = {"x": x, "w": w, "b": b, "xt": xt, "y": xt.full((6, 7), 2.0), "e": xt.dot(x, w)}
    plan = xt.plan(out, eval(value, names))
    assert (plan.phases, plan.launches, plan.temporaries) == (1 + passes, 1, 0)
    assert plan.call.startswith(provider) and plan.ir and plan.nest and plan.bytes_read > p.nbytes + q.nbytes
    plan.run()
    np.testing.assert_allclose(held, numpys(p @ q, bias), rtol=1e-5)


FOLDS = {  # what neither a call nor a call and a phase can be: products are folds
    "out += xt.tanh(xt.dot(x, w))": lambda out, x, w, b: out + np.tanh(x @ w),
    "out *= xt.dot(x, w)": lambda out, x, w, b: out * (x @ w),
    "out[...] = xt.dot(x, w) * out": lambda out, x, w, b: (x @ w) * out,
    "out[...] = xt.tanh(xt.dot(x, w)) + xt.dot(x, w[:])": lambda out, x, w, b: np.tanh(x @ w) + x @ w,
    "out[...] = xt.dot(x, w) + xt.implicit_dot(x, 2 * w)": lambda out, x, w, b: 3 * (x @ w),
    "out[...] = xt.implicit_dot(xt.dot(x, w), v)": lambda out, x, w, b: x @ w @ np.eye(7),
    "out[...] = xt.flip(xt.dot(x, w), 0)": lambda out, x, w, b: (x @ w)[::-1],
    "out[...] = xt.dot(x, w)[::-1, ::-1]": lambda out, x, w, b: (x @ w)[::-1, ::-1],
    "out[...] = xt.pad(xt.dot(x, w)[1:-1, 1:-1], 1)": lambda out, x, w, b: np.pad((x @ w)[1:-1, 1:-1], 1),
    "out[...] = xt.sum(xt.dot(x, w), axis=0)": lambda out, x, w, b: np.broadcast_to((x @ w).sum(0), out.shape),
    "out[...] = xt.dot(x[:1], w)": lambda out, x, w, b: np.broadcast_to(x[:1] @ w, out.shape),
    "out[...] = xt.dot(x, w) * xt.dot(b, b)": lambda out, x, w, b: x @ w * (b @ b),
    "out[...] = xt.dot(w.T, x.T).T": lambda out, x, w, b: x @ w,
    "out[...] = xt.dot(xt.pad(x[1:-1], ((1, 1), (0, 0)), value=1.0), w)": lambda out, x, w, b: (
        np.vstack([np.ones((1, 5)), x[1:-1], np.ones((1, 5))]) @ w
    ),
    "out[...] = xt.implicit_dot(x + 1, xt.abs(w))": lambda out, x, w, b: (x + 1) @ np.abs(w),
    "out /= xt.dot(x[0], x[0])": lambda out, x, w, b: out / (x[0] @ x[0]),
    "out[...] = out / (xt.dot(out[0], out[0]) + 1)": lambda out, x, w, b: out / (out[0] @ out[0] + 1),
}


@pytest.mark.parametrize("statement", FOLDS)
def test_every_other_place_of_a_product_is_right(statement, provider):
    out, x, w, b, v, held, p, q, bias, _ = tensors((6, 7), (6, 5), (5, 7), (7,), (7, 7))
    p[0, 0] = 2
    v[...] = np.eye(7, dtype=np.float32)
    names = {"out": out, "x": x, "w": w, "b": b, "v": v, "xt": xt}
    for _ in range(4):  # the last is a direct call
        wanted = FOLDS[statement](held, p, q, bias)
        exec(statement, names)
        np.testing.assert_allclose(held, wanted, rtol=1e-5, atol=1e-6)  # what is added may cancel


def test_product_in_another_type_than_the_target(provider):
    a, b, p, q = tensors((6, 5), (5, 7), dtype=np.float64)
    out = xt.zeros((6, 7))
    out[...] = xt.dot(a, b)
    np.testing.assert_array_equal(out.numpy(), p @ q)
    wide = xt.zeros((6, 7), xt.float64)
    wide += xt.dot(xt.cast(a, xt.float32), xt.cast(b, xt.float32))
    np.testing.assert_array_equal(wide.numpy(), p @ q)


@pytest.mark.parametrize(
    ("old", "new"),
    [("uint8", "float32"), ("float32", "float64"), ("int64", "float32"), ("bool", "int32"), ("int32", "int64")],
)
def test_a_conversion_is_part_of_packing(old, new, provider):
    a, b, p, q = tensors((6, 5), (5, 7), dtype=old)
    out = xt.zeros((6, 7), new)
    plan = xt.plan(out, xt.dot(xt.cast(a, new), xt.cast(b, new)))
    assert plan.call.startswith(f"own: gemm {old} {old} {new}")
    plan.run()
    np.testing.assert_array_equal(out.numpy(), p.astype(new) @ q.astype(new))
    narrow = xt.zeros((6, 7), xt.int32)
    narrow[...] = xt.dot(
        xt.cast(xt.array([[2.7]] * 6), xt.int32), xt.ones((1, 7), xt.int32)
    )  # truncated: not packing's work
    assert (narrow.numpy() == 2).all()


def test_batch_dot_transposes_and_broadcasts(provider):
    a, b, out, p, q, held = tensors((3, 5, 4), (3, 6, 5), (3, 4, 6))
    out[...] = 0.5 * xt.batch_dot(a, b, transpose_a=True, transpose_b=True)
    np.testing.assert_array_equal(held, 0.5 * np.matmul(p.mT, q.mT))
    out += xt.batch_dot(a[:1], b, True, True)
    np.testing.assert_array_equal(held, 0.5 * np.matmul(p.mT, q.mT) + np.matmul(p[:1].mT, q.mT))
    assert "3 times" in xt.plan(out, xt.batch_dot(a, b, True, True)).call
    got = xt.evaluate(xt.batch_dot(xt.cast(a, np.float64), b, True, True)).numpy()
    np.testing.assert_array_equal(got, np.matmul(p.mT.astype(np.float64), q.mT))


def test_outer_is_fused():
    a, b, out, p, q, held = tensors((6,), (7,), (6, 7))
    plan = xt.plan(out, 0.5 * xt.outer(a, b), "sub")
    assert (plan.phases, plan.call) == (1, "")
    wanted = held - 0.5 * np.outer(p, q)
    plan.run()
    np.testing.assert_array_equal(held, wanted)


def test_arrays_are_operands():
    t, a = tensors((4, 4))
    for got in (a @ t, t @ a, np.matmul(a, t), xt.matmul(a, t), xt.dot(a, a)):
        assert isinstance(got, xt.Expr)
        np.testing.assert_array_equal(xt.evaluate(got).numpy(), a @ a)


def test_transpose_of_a_product_is_a_product():
    x, w, out, p, q, held = tensors((6, 5), (5, 7), (7, 6))
    out[...] = xt.dot(x, w).T
    assert xt.plan(out, xt.dot(x, w).T).call
    np.testing.assert_array_equal(held, (p @ q).T)


@given(st.data())
def test_random_products(data):
    """Any shapes, layouts, provider, type and mode."""
    m, n, k = (data.draw(st.integers(0, 40), label) for label in "mnk")
    dtype = data.draw(st.sampled_from(DTYPES), "dtype")
    lies = [data.draw(st.sampled_from(sorted(where)), "layout") for where in (LAYOUTS, LAYOUTS, TARGETS)]
    a, b = place(numbers((m, k), dtype, 1), lies[0]).array, place(numbers((k, n), dtype, 2), lies[1]).array
    out = place(numbers((m, n), dtype, 3), lies[2])
    mode = data.draw(st.sampled_from(("write", "add") if dtype.kind == "b" else ("write", "add", "sub")), "mode")
    product = a @ b
    wanted = {"write": product, "add": out.array + product}.get(mode)
    wanted = out.array - product if wanted is None else wanted
    with xt.options(blas=data.draw(st.sampled_from(PROVIDERS), "provider")):
        xt.assign(xt.asarray(out.array), mode, xt.dot(a, b))
    np.testing.assert_array_equal(out.array, wanted)
    out.assert_untouched()


# NaN, 0 and nothing.


def test_a_factor_of_0_looks_at_every_element(provider):
    """BLAS would not: 0 * NaN is NaN here as anywhere else."""
    out, x, w, held, p, _ = tensors((4, 4), (4, 4), (4, 4))
    p[1, 2] = np.nan
    with np.errstate(all="ignore"):
        for eta in (0.5, 0.0, -0.0):
            held[...] = 1
            out -= eta * xt.dot(x, w)
            assert np.isnan(held[1]).all() and not np.isnan(held[[0, 2, 3]]).any()
        held[0, 0] = np.nan
        out[...] = 0.0 * out + xt.dot(x, w)
        assert np.isnan(held[0, 0]) and not np.isnan(held[0, 1:]).any()


def test_nothing_to_add_up_is_0(provider):
    out = xt.full((3, 4), 7.0)
    out += xt.dot(xt.zeros((3, 0)), xt.zeros((0, 4)))
    assert (out.numpy() == 7).all()
    out[...] = out * 0.5 - xt.dot(xt.zeros((3, 0)), xt.zeros((0, 4)))
    assert (out.numpy() == 3.5).all()
    out[...] = xt.exp(xt.dot(xt.zeros((3, 0)), xt.zeros((0, 4))))
    assert (out.numpy() == 1).all()
    out[...] = xt.dot(xt.zeros((3, 0)), xt.zeros((0, 4)))
    assert (out.numpy() == 0).all()


# Aliasing, errors.


APART = "each element of a product needs a whole row, so write into another tensor, or copy the operand first: xt.evaluate(operand)"


@pytest.mark.parametrize("statement", [
    "w[...] = xt.dot(w, x)", "w[...] = xt.dot(x, w.T)", "w += 0.5 * xt.dot(w, w)", "w[...] = xt.tanh(xt.dot(x, w))",
    "whole[1:5] = xt.dot(whole[:4], x)", "w @= x", "whole[:4][...] = xt.dot(x, whole[3:7])",
])  # fmt: skip
def test_target_in_a_product_is_refused(statement, provider):
    whole, x = xt.array(numbers((8, 4), np.float32)), xt.array(numbers((4, 4), np.float32, 1))
    before = whole.numpy().copy()
    with pytest.raises(xt.AliasError) as error:
        exec(statement, {"xt": xt, "whole": whole, "w": whole[:4], "x": x})
    assert str(error.value).endswith(APART)
    np.testing.assert_array_equal(whole.numpy(), before)


def test_alias_error_names_target_and_operand():
    w = xt.zeros((4, 4))
    with pytest.raises(xt.AliasError) as error:
        w[...] = xt.dot(w, w)
    assert str(error.value) == (
        "assign: the target of shape (4, 4) and type float32 shares memory with an operand of the product, of shape (4, 4) and "
        f"strides (16, 4); {APART}"
    )


ERRORS = {
    "xt.dot(a, a)": (xt.ShapeError, "dot: shapes (3, 4) and (3, 4): axis 1 of the first has 4 elements, axis 0 of the second has 3; they must be as long as each other"),
    "a @ xt.zeros(3)": (xt.ShapeError, "@: shapes (3, 4) and (3,): axis 1 of the first has 4 elements, axis 0 of the second has 3; they must be as long as each other"),
    "xt.dot(2.0, a)": (xt.ShapeError, "dot: shapes () and (3, 4): a product needs an axis of each; use * for a number"),
    "xt.dot(t, a)": (xt.ShapeError, "dot: shapes (2, 3, 4) and (3, 4): operands have at most two axes; for one product a batch use a @ b or xt.batch_dot"),
    "xt.batch_dot(a[0], a)": (xt.ShapeError, "batch_dot: shapes (4,) and (3, 4): an operand has two axes at least"),
    "xt.outer(a, a)": (xt.ShapeError, "outer: shapes (3, 4) and (3, 4): both operands must have one axis"),
    "xt.batch_dot(t, t[:1, :, :3].T)": (xt.ShapeError, "batch_dot"),
    "xt.dot([1.0], a)": (TypeError, "dot: a list is no operand; make it a tensor with xt.array(...)"),
}  # fmt: skip


@pytest.mark.parametrize("code", ERRORS)
def test_error_says(code):
    error, text = ERRORS[code]
    with pytest.raises(error) as raised:
        eval(code, {"xt": xt, "a": xt.zeros((3, 4)), "t": xt.zeros((2, 3, 4))})
    assert str(raised.value).startswith(text)


def test_an_operand_that_would_be_computed_again_and_again_is_refused():
    x, w = xt.ones((40, 30)), xt.ones((30, 50))
    with pytest.raises(xt.CompileError) as error:
        xt.dot(xt.tanh(x), w)
    assert str(error.value) == (
        "dot: the first operand, tanh(float32(40, 30)), is computed, and each of its elements is needed 50 times; make it a tensor "
        "first, xt.evaluate(operand), or let xt.implicit_dot compute it again and again"
    )
    with pytest.raises(xt.CompileError, match=r"@: the second operand, .* is needed 80 times"):
        xt.broadcast_to(x, (2, 40, 30)) @ -w


def test_an_operand_that_is_computed_once_is_taken(provider):
    x, v, p, _ = tensors((40, 30), (40,))
    for e, wanted in ((xt.dot(v, xt.abs(x)), v.numpy() @ np.abs(p)), (xt.dot(2 * x.T, v), 2 * p.T @ v.numpy())):
        out = xt.evaluate(e).numpy()
        np.testing.assert_allclose(out, wanted, rtol=1e-5)


def test_a_kernel_of_several_statements_has_products_of_vectors_only():
    @xt.kernel
    def scaled(w, m, g, *, eta):
        w -= eta * g / xt.sqrt(xt.dot(g, g))
        m[...] = 0.5 * w

    w, m, g, p, _, q = tensors((6,), (6,), (6,))
    wanted = p - 0.5 * q / np.sqrt(q @ q)
    scaled(w, m, g, eta=0.5)
    np.testing.assert_allclose(p, wanted, rtol=1e-6)
    np.testing.assert_allclose(m.numpy(), wanted / 2, rtol=1e-6)

    @xt.kernel
    def layer(h, x, w):
        h[...] = xt.dot(x, w)

    with pytest.raises(xt.CompileError) as error:
        layer(xt.zeros((2, 2)), xt.zeros((2, 3)), xt.zeros((3, 2)))
    assert str(error.value) == (
        "layer: dot(float32(2, 3), float32(3, 2)) is a call, and a kernel of several statements has no place for one; make it a statement "
        "of its own beside the kernel, or a fold inside with xt.implicit_dot"
    )


# Found again, directly called, memory.


def test_second_run_compiles_nothing(provider):
    def net(n, eta):
        x, w, b, h = xt.ones((n, 6)), xt.ones((6, 5)), xt.ones(5), xt.zeros((n, 5))
        for _ in range(4):
            h[...] = xt.tanh(xt.dot(x, w) + b)
            w -= eta * xt.dot(x.T, h)
            h += xt.tanh(xt.dot(x, w))
            b[...] = 0.5 * b - eta * xt.dot(h[0], xt.ones((5, 5)))

    net(8, 0.1)
    compiles = xt.stats().compiles
    with xt.no_compile():
        net(8, 0.2)
        net(8, 0.0)
        net(11, 0.3)
    assert xt.stats().compiles == compiles


def test_no_compile_refuses_a_new_statement():
    a = xt.ones((3, 3), xt.float64)
    out = xt.zeros((3, 3), xt.float64)
    with xt.no_compile(), pytest.raises(xt.CompileError, match="no_compile"):
        out[...] = 7.0 * (3.0 * (xt.dot(a, a) * 2.0) / 5.0) / 2.0 / 3.0


@pytest.mark.skipif(os.environ.get("EXPRTEN_CTYPES") == "1", reason="nothing is called directly through ctypes")
def test_repeated_products_are_called_directly():
    """The direct path counts nothing."""
    out, x, w, held, p, q = tensors((6, 7), (6, 5), (5, 7))
    bias = xt.ones(7)
    for _ in range(4):
        out[...] = xt.tanh(xt.dot(x, w) + bias)
        out -= 0.5 * xt.dot(x, w)
    hits = xt.stats().hits
    for eta in (0.5, 0.0, 2.0):
        out[...] = xt.tanh(xt.dot(x, w) + bias)
        out -= eta * xt.dot(x, w)
        np.testing.assert_allclose(held, np.tanh(p @ q + 1) - eta * (p @ q), rtol=1e-5)
    assert xt.stats().hits == hits


def test_other_memory_after_equal_views():
    """Operands that were one view of one memory the first time are two the next."""
    for _ in range(5):
        x, y, p, q = tensors((1, 6), (1, 6))
        for left, right, a, b in ((x, x, p, p), (x, y, p, q)):
            out = xt.zeros((1, 1))
            out += xt.tanh(xt.dot(left, right.T))
            np.testing.assert_allclose(out.numpy(), np.tanh(a @ b.T))


def test_nothing_is_allocated(provider):
    out, x, w, *_ = tensors((64, 64), (64, 64), (64, 64))

    def step():
        out[...] = xt.tanh(xt.dot(x, w) + 1.0)
        out.assign(0.5 * xt.dot(x.T, w), "sub")
        out.assign(xt.tanh(xt.dot(x, w)), "add")

    for _ in range(4):
        step()
    allocations = xt.memory.allocations
    tracemalloc.start()
    step()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert xt.memory.allocations == allocations
    scratch = xt.plan(out, xt.dot(x, w)).scratch_bytes
    assert scratch < 2 << 20 and peak < scratch + (16 << 10)


def test_a_kernel_keeps_no_tensor_alive():
    x, out = xt.zeros((8, 8)), xt.zeros((8, 8))
    for _ in range(4):
        out[...] = xt.tanh(xt.dot(x, x))
        out += xt.tanh(xt.dot(x, x))
        out -= 0.1 * xt.dot(x, x)
    kept = weakref.ref(x), weakref.ref(out)
    del x, out
    gc.collect()
    assert kept == (kept[0], kept[1]) and kept[0]() is None and kept[1]() is None


@pytest.mark.parametrize("repeats", [1, 5])
def test_a_large_product_runs_without_the_lock_on_pinned_memory(repeats, provider):
    n = 1500
    x, out = xt.ones((n, n), xt.float64), xt.zeros((n, n), xt.float64)
    refused = []

    def other():
        while not done:
            try:
                x.buffer.check_unused("test")
            except BufferError as error:
                refused.append(str(error))
                return
            time.sleep(0.0005)

    for _ in range(repeats - 1):
        out[:8, :8][...] = xt.dot(x[:8, :8], x[:8, :8])
    done = []
    watcher = threading.Thread(target=other)
    watcher.start()
    out[...] = xt.dot(x, x)
    done.append(True)
    watcher.join()
    assert refused == ["test: a kernel is running on the memory in another thread"]
    assert (out.numpy() == n).all()


# Providers.


def python(code, **environment):
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "jit")))} | environment
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CALL = "import sys, exprten as xt; a = xt.ones((3, 3)); print(xt.plan(xt.zeros((3, 3)), a @ a).call.split(':')[0], 'scipy' in sys.modules)"


@pytest.mark.parametrize("name", PROVIDERS)
def test_environment_chooses(name):
    assert python(CALL, EXPRTEN_BLAS=name) == f"{name} {name == 'scipy'}"


def test_building_a_product_loads_no_library():
    code = "import sys, exprten as xt; e = xt.dot(xt.ones((3, 3)), xt.ones(3)); print('scipy' in sys.modules)"
    assert python(code) == "False"


@pytest.mark.parametrize(("there", "wanted"), [(("scipy", "numpy"), "scipy"), (("numpy",), "numpy"), ((), "own")])
def test_order_of_providers(there, wanted, monkeypatch):
    for name in ("scipy", "numpy"):
        made = blas.Provider(name, "i64", {}, None, None) if name in there else None
        monkeypatch.setattr(blas, f"_{name}", lambda made=made: made)
    found = blas.provider(None)
    assert (found.name if found else "own") == wanted
    if wanted == "own":
        with pytest.raises(xt.CompileError, match=r"options ask for blas='numpy', which is not on this machine"):
            blas.provider("numpy")


def test_unknown_provider_is_refused():
    with (
        pytest.raises(ValueError, match="blas is 'mkl'; it must be None, 'scipy', 'numpy' or 'own'"),
        xt.options(blas="mkl"),
    ):
        pass
    assert DEFAULT.blas == (os.environ.get("EXPRTEN_BLAS") or None)


def test_threads_can_be_bounded():
    wanted = tuple(name for name in ("scipy", "numpy") if name in PROVIDERS)
    code = "from exprten import blas; import threadpoolctl as t; print(blas.bound_threads(1), {i['num_threads'] for i in t.threadpool_info()})"
    if importlib.util.find_spec("threadpoolctl") is None:
        code = "from exprten import blas; print(blas.bound_threads(1), {1})"
    assert python(code) == f"{wanted} {{1}}"


@pytest.mark.skipif(
    importlib.util.find_spec("threadpoolctl") is None, reason="threads of BLAS are counted by threadpoolctl"
)
@pytest.mark.parametrize(("threads", "seen"), [("1", "1 1 1"), ("3", "3 1 3")])
def test_blas_has_the_threads_of_statements(threads, seen):
    """From the environment; of a block's while it is in a call, here that of another thread's."""
    code = """
import threading, threadpoolctl as t, numpy as np, exprten as xt
from exprten.blas import provider
a, o, found = xt.ones((2000, 2000)), xt.zeros((2000, 2000)), []
count = lambda: max(i["num_threads"] for i in t.threadpool_info() if provider(None).name + ".libs" in i["filepath"])
o[...] = a @ a
before = count()
def work():
    with xt.options(num_threads=1):
        o[...] = a @ a
worker = threading.Thread(target=work)
worker.start()
while worker.is_alive():
    found.append(count())
worker.join()
print(before, min(found), count())
"""
    if PROVIDERS[0] == "own":
        pytest.skip("there is no BLAS")
    assert python(code, EXPRTEN_NUM_THREADS=threads) == seen


# Our own kernel.


def run_own(address, gemm_types, c, a, b, alpha=1, beta=0, read=0, threads=1):
    kind = {"float32": ctypes.c_float, "float64": ctypes.c_double}.get(gemm_types.c.name, ctypes.c_int64)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, kind, kind, ctypes.c_int64, ctypes.c_int64)(address)
    strides = [s // x.itemsize for x in (c, a, b) for s in x.strides]
    sizes = np.array([*c.shape, a.shape[1], *strides], np.int64)
    function(c.ctypes.data, a.ctypes.data, b.ctypes.data, sizes.ctypes.data, alpha, beta, read, threads)


def own_kernel(types, by, **symbols):
    """Our own kernel compiled for another machine than this, or with other functions."""
    text = llvm_gemm.emit(types, by, fused=True, threads=2)
    found = c_api("PyMem_RawMalloc", "PyMem_RawFree") | {"parallel": parallel()} | symbols
    return compile_text(text, ("gemm",), found).address["gemm"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "bool"])
def test_bits_depend_neither_on_the_width_of_registers_nor_on_threads(dtype):
    types = Gemm(*[ROWS[dtype]] * 3)
    rng = np.random.default_rng(0)
    a, b = (
        rng.uniform(-1, 1, s).astype(np.float32) if dtype[0] == "f" else numbers(s, dtype)
        for s in ((37, 600), (600, 70))
    )
    a, b = a.astype(dtype), b.astype(dtype)
    results = []
    for bits in (128, 256, 512):
        if bits <= machine().vector_bits:
            masked = machine().masked_bits if bits == machine().vector_bits else frozenset()
            address = own_kernel(types, Machine(bits, masked))
            for threads in (0, 1, 2, 3, 5):
                for order in "CF":  # rows are divided, or columns
                    c = np.zeros((37, 70), dtype, order=order)
                    rows = (c, a, b) if order == "C" else (c.T, b.T, a.T)
                    run_own(address, types, *rows, threads=threads)
                    results.append(c)
    for c in results:
        np.testing.assert_array_equal(c, results[0])
    np.testing.assert_allclose(results[0], a @ b, rtol=1e-3, atol=1e-4)


def test_without_memory_for_panels_blocks_are_smaller():
    none = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(lambda _: None)
    for dtype in ("float32", "int64"):
        types = Gemm(*[ROWS[dtype]] * 3)
        address = own_kernel(types, machine(), PyMem_RawMalloc=ctypes.cast(none, ctypes.c_void_p).value)
        a, b, c = numbers((150, 300), dtype), numbers((300, 200), dtype, 1), np.zeros((150, 200), dtype)
        run_own(address, types, c, a, b)
        np.testing.assert_array_equal(c, a @ b)


def test_scratch_is_bounded_and_told():
    a, out = xt.ones((300, 300)), xt.zeros((300, 300))
    with xt.options(blas="own"):
        plan = xt.plan(out, xt.dot(a, a))
    assert plan.scratch_bytes == gemm.scratch_bytes(Gemm(*[ROWS["float32"]] * 3)) < 2 << 20
