"""Folds: every reducer against NumPy, the order of additions to the bit, whole statements, and folds of the target."""

import itertools
import math
import operator

import numpy as np
import pytest
from exprten_jit import reducers
from exprten_jit.interpret import interpret
from exprten_jit.nest import Vector, statements
from exprten_jit.reducers import ACROSS, brought_together
from strategies import DTYPES, LAYOUTS, SPECIAL, TARGETS, assert_same_bits, ordinary, place, values

import exprten as xt

REDUCERS = ("sum", "prod", "max", "min", "any", "all")
LENGTHS = (1, 2, 31, 32, 33, 100, 4095, 4096, 4097, 8193, 20000)  # around vectors, rounds of accumulators and blocks
WIDTHS = (128, 256, None)  # None: the processor's, 512 where it has them
FLOATS = ("float32", "float64")
NAN, INF = math.nan, math.inf


def elements(reducer, dtype, shape, seed=0):
    """Numbers that a reducer brings to the same bits in every order, with all that is special about their type."""
    dtype, rng, size = np.dtype(dtype), np.random.default_rng(seed), math.prod(shape)
    if reducer in ("any", "all"):
        found = rng.choice(SPECIAL[dtype], size)
        common = found == 0 if reducer == "any" else found != 0
        keep = common | (rng.random(size) < 1 / (1 + shape[0] if shape else 2))
        found = np.where(keep, found, dtype.type(reducer == "all"))
    elif dtype.kind != "f" or reducer in ("max", "min"):
        found = values(dtype, (size,), seed) if seed % 2 else ordinary(dtype, size, rng)
    elif reducer == "sum":
        found = rng.integers(-8, 9, size)
    else:
        found = rng.choice([1.0, -1.0, 2.0, 0.5], size, p=[0.49, 0.49, 0.01, 0.01])
    return found.astype(dtype).reshape(shape)


def reference(reducer, x, axis=None, keepdims=False):
    """NumPy's answer; +0 is above -0, and a sum of nothing but -0 is -0."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    with np.errstate(all="ignore"):
        found = np.asarray(getattr(np, reducer)(x, axis, keepdims=keepdims))
    if reducer in ("max", "min") and x.dtype.kind == "f":
        sign = {"max": 0.0, "min": -0.0}[reducer]
        there = ((x == 0) & (np.signbit(x) == np.signbit(sign))).any(axis, keepdims=keepdims)
        found = np.where(found == 0, np.where(there, sign, -sign), found).astype(x.dtype)
    if reducer == "sum" and x.dtype.kind == "f":
        found = np.where(((x == 0) & np.signbit(x)).all(axis, keepdims=keepdims), -found, found).astype(x.dtype)
    return found


def same(got, want, what=""):
    """Type, shape and bits."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    assert_same_bits(got.reshape(-1), want.reshape(-1), what)


def check(reducer, x, axis=None, keepdims=False, what=""):
    got = xt.evaluate(getattr(xt, reducer)(xt.asarray(x), axis, keepdims)).numpy()
    same(got, reference(reducer, x, axis, keepdims), f"{reducer} of {x.dtype}{x.shape}, {axis}, {what}")


# Every reducer is NumPy's.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("reducer", REDUCERS)
def test_a_vector_of_every_length(reducer, dtype):
    for n, seed in itertools.product(LENGTHS, (1, 2)):
        check(reducer, elements(reducer, dtype, (n,), seed))


# each layout and axis meets one of these
KINDS = [
    ("sum", "float32"), ("max", "uint8"), ("any", "bool"), ("prod", "int32"), ("min", "float64"), ("all", "int64"),
    ("sum", "uint8"), ("max", "float32"), ("min", "bool"), ("sum", "int32"), ("any", "float64"),
]  # fmt: skip
CYCLE = itertools.cycle(KINDS)
LAID = [
    (layout, axis, next(CYCLE)) for layout, axis in itertools.product(LAYOUTS, (0, 1, None))
]  # the cycle is endless


@pytest.mark.parametrize(("reducer", "dtype"), KINDS)
def test_columns_of_every_length(reducer, dtype):
    for n, width in itertools.product((2, 3, 4, 5, 31, 100, 255, 256, 257, 513, 4097), (3, 17)):
        check(reducer, elements(reducer, dtype, (n, width), n), 0)


@pytest.mark.parametrize(("layout", "axis", "kind"), LAID, ids=str)
def test_every_layout(layout, axis, kind):
    reducer, dtype = kind
    for k, shape in enumerate([(3, 5), (65, 2), (7, 100), (300, 3), (2, 4100), (33, 33)]):
        source = place(elements(reducer, dtype, shape, k), layout)
        check(reducer, source.array, axis, what=layout)
        source.assert_unchanged()


@pytest.mark.parametrize("layout", TARGETS)
def test_every_layout_is_stored_to(layout):
    x = elements("sum", "float32", (7, 33, 5))
    for axis in (0, 2):
        want = x.sum(axis)
        out = place(np.zeros_like(want), layout)
        xt.asarray(out.array)[...] = xt.sum(xt.asarray(x), axis)
        same(out.array, want, f"axis {axis} into {layout}")
        out.assert_untouched()


AXES = [None, (), 0, 1, 2, -1, -3, (0, 1), (0, 2), (2, 1), (-1, 0), (0, 1, 2), [1, 2]]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_every_axis(axis, keepdims):
    shapes = [(2, 3, 5), (4, 31, 33), (3, 300, 2), (300, 2, 3), (1, 7, 1), *([(5, 1, 9)] if axis else [])]
    reducer = "max" if keepdims else "sum"
    for shape in shapes:
        check(reducer, elements(reducer, "float32", shape, 1), axis, keepdims)


@pytest.mark.parametrize("axis", [0, 1, (0, 3), (1, 2), (2, 3)], ids=str)
def test_axes_of_four_transposed(axis):
    for shape in ((2, 3, 5, 7), (3, 2, 40, 33)):
        check("sum", elements("sum", "float64", shape).transpose(2, 0, 3, 1), axis)


@pytest.mark.parametrize("axis", [0, 3, (0, 3), (1, 2), (0, 2), (1, 2, 3), (0, 1, 3), None], ids=str)
def test_axes_of_four(axis):
    for shape in ((2, 3, 5, 7), (3, 2, 40, 33)):
        check("sum", elements("sum", "float64", shape), axis)


@pytest.mark.parametrize("reducer", REDUCERS)
def test_a_tensor_without_axes(reducer):
    for x in (np.float32(3), np.float64(-0.0), np.bool_(True), np.uint8(200)):
        check(reducer, np.asarray(x))
        check(reducer, np.asarray(x), ())


# What is special.

SPECIALS = [
    ("sum", [-0.0]), ("sum", [-0.0, -0.0]), ("sum", [-0.0, 0.0]), ("sum", [INF, 1.0]), ("sum", [-INF, 1.0]), ("sum", [INF, -INF]),
    ("sum", [NAN, 1.0]), ("sum", [2.0**127, 2.0**127]), ("prod", [-0.0, 1.0, 1.0]), ("prod", [INF, 2.0]), ("prod", [INF, 0.0]),
    ("prod", [1.0, NAN]), ("max", [0.0, -0.0]), ("max", [-0.0, 0.0]), ("max", [-0.0, -0.0]), ("max", [NAN, INF]),
    ("max", [-INF, -INF]), ("max", [INF, 1.0]), ("min", [0.0, -0.0]), ("min", [-0.0, 0.0]), ("min", [0.0, 0.0]),
    ("min", [-INF, NAN]), ("min", [INF, INF]), ("min", [-INF, 1.0]), ("any", [-0.0, 0.0]), ("any", [0.0, NAN]), ("all", [NAN, INF]),
    ("all", [1.0, -0.0]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("reducer", "pattern"), SPECIALS, ids=str)
def test_special_numbers(reducer, pattern, dtype):
    for n in (len(pattern), 7, 33, 4097):
        x = np.resize(np.array(pattern, dtype), n)
        check(reducer, x)
        check(reducer, np.repeat(x[:, None], 3, 1), 0)


@pytest.mark.parametrize("reducer", ["sum", "max", "min"])
def test_one_special_number_anywhere(reducer):
    for special, n in itertools.product((NAN, INF, -INF), (7, 33, 300)):
        for at in {0, 1, n // 2, n - 2, n - 1}:
            x = elements("sum", "float32", (n,))
            x[at] = special
            check(reducer, x)
            check(reducer, np.stack([x, x, x], 1), 0)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reducer", ["max", "min"])
def test_a_zero_of_either_sign_or_nan_anywhere_in_a_long_row(reducer, dtype):
    sign = 1.0 if reducer == "min" else -1.0  # of all other numbers: a zero is the extreme
    for n, others in itertools.product((128, 256, 300, 4500), (sign, sign * 0.0, -sign * 0.0)):
        for at, special in itertools.product((0, 17, 127, n - 1), (0.0, -0.0, NAN, -sign)):
            x = np.full((2, n), others, dtype)
            x[1, at] = special
            check(reducer, x, 1, what=f"{special} at {at} among {others}")


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "int8", "int32", "int64", "uint16"])
def test_where_an_extreme_of_a_long_row_stands(dtype, bits):
    n, floats = 9000, np.dtype(dtype).kind == "f"
    info = np.finfo(dtype) if floats else np.iinfo(dtype)
    pieces = (0, 31, 64, 127, 128, 4095, 4096, 8959, n - 1)  # about the ends of what is taken together
    for name, extreme, least in (("argmax", info.max, info.min), ("argmin", info.min, info.max)):
        rows = [np.full(n, least, dtype), np.arange(n).astype(dtype), np.arange(n)[::-1].astype(dtype)]
        for at, later in itertools.combinations(pieces, 2):
            row = np.arange(n).astype(dtype) % 7
            row[[at, later]] = extreme
            rows.append(row)
        for at, later in itertools.combinations(pieces if floats else (), 2):
            row = np.full(n, -np.inf if name == "argmax" else np.inf, dtype)
            row[at], row[later] = 1, NAN
            rows += [row, row[::-1].copy(), np.where(np.isnan(row), row, -row)]
        x = np.stack(rows)
        with xt.options(vector_bits=bits):
            found = xt.evaluate(getattr(xt, name)(xt.asarray(x), 1)).numpy()
            alone = xt.evaluate(getattr(xt, name)(xt.asarray(x[-1]))).numpy()
        same(found, getattr(x, name)(1))
        same(alone, getattr(x[-1], name)())


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 512])
@pytest.mark.parametrize("dtype", [*FLOATS, "float16", "int8", "uint16", "int32", "uint32", "int64"])
def test_where_an_extreme_of_a_short_row_stands(dtype, bits):
    """The first of equals, among them least numbers, infinities and zeros of either sign; the first NaN, where there is one."""
    rng = np.random.default_rng(bits)
    for count in (3, 5, 8, 11, 16, 17, 20, 24, 25, 31, 33, 40, 48, 64, 100, 128):
        drawn = rng.integers(0, 100, (150, count)).astype(dtype)
        if drawn.dtype.kind == "f":
            special = np.array([NAN, np.inf, -np.inf, 0.0, -0.0, 1.0], dtype)
            some = [np.full_like(drawn, x) for x in special] + [
                rng.choice(special, drawn.shape),
                rng.choice(special[1:], drawn.shape),
            ]
            some.append(np.where(rng.random(drawn.shape) < 0.002, special[0], drawn))
        else:
            some = [np.full_like(drawn, x) for x in (np.iinfo(dtype).min, np.iinfo(dtype).max)]
        some += [drawn % 3, np.sort(drawn, axis=1), np.sort(drawn, axis=1)[:, ::-1]]
        for x in (drawn, *some):
            apart = np.zeros((150, count + 3), dtype)
            apart[:, 1:-2] = x
            for name, view in itertools.product(("argmax", "argmin"), (xt.asarray(x), xt.asarray(apart)[:, 1:-2])):
                with xt.options(vector_bits=bits):
                    same(xt.evaluate(getattr(xt, name)(view, 1)).numpy(), getattr(x, name)(1), f"{name} of {count}")


@pytest.mark.parametrize("rows", [300, 5000, 70_000])
def test_strips_of_every_width(rows):
    for columns in (1, 63, 700, 2049, 4200) if rows == 300 else (1, 40):
        x = elements("sum", "float32", (rows, columns), columns)
        check("sum", x, 0)
        out = xt.zeros(x.shape)
        out[...] = x - xt.max(xt.asarray(x), 0) * xt.min(xt.asarray(x), 0)
        same(out.numpy(), x - x.max(0) * x.min(0), "two folds that are read again")


def test_what_is_far_is_fetched_early_and_summed_in_the_same_order():
    x = np.random.default_rng(0).standard_normal((1100, 2100)).astype(np.float32)  # above 8 MiB
    few = xt.evaluate(xt.sum(xt.asarray(x)[:, :40], 0)).numpy()
    same(xt.evaluate(xt.sum(xt.asarray(x), 0)).numpy()[:40], few)


def test_the_least_integers_are_their_own_maximum():
    for dtype in ("int32", "int64", "uint8", "bool"):
        for reducer, x in itertools.product(
            ("max", "min"), (SPECIAL[np.dtype(dtype)][:1], SPECIAL[np.dtype(dtype)][-1:])
        ):
            check(reducer, np.repeat(x, 33))


NOTHING = {
    "sum": 0,
    "prod": 1,
    "any": False,
    "all": True,
    "mean": NAN,
    "var": NAN,
    "std": NAN,
    "norm": 0,
    "count_nonzero": 0,
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_fold_of_nothing(name):
    for shape, axis, left in [
        ((0,), None, ()), ((0,), 0, ()), ((3, 0, 2), 1, (3, 2)), ((3, 0, 2), (0, 1), (2,)), ((3, 0, 2), None, ()), ((0, 0), 0, (0,)),
    ]:  # fmt: skip
        for source in (xt.zeros(shape), xt.zeros(shape) * 2):
            got = xt.evaluate(getattr(xt, name)(source, axis)).numpy()
            want = np.full(left, NOTHING[name], np.asarray(NOTHING[name]).dtype if name in ("any", "all") else None)
            assert got.shape == left
            np.testing.assert_array_equal(got, want)
    kept = getattr(xt, name)(xt.zeros((3, 0)), 1, keepdims=True)
    np.testing.assert_array_equal(xt.evaluate(kept).numpy(), np.full((3, 1), NOTHING[name]))


@pytest.mark.parametrize("name", [*NOTHING, "max", "min"])
def test_no_fold_at_all(name):
    got = xt.evaluate(getattr(xt, name)(xt.zeros((0, 3)), 1))
    assert got.shape == (0,)


@pytest.mark.parametrize("reducer", ["max", "min"])
def test_the_extremes_of_nothing_are_an_error_that_names_the_axis(reducer):
    for shape, axis, named in [
        ((0,), None, 0),
        ((3, 0, 2), 1, 1),
        ((3, 0, 2), -2, 1),
        ((3, 0, 2), None, 1),
        ((2, 3, 0), (1, 2), 2),
    ]:
        with pytest.raises(xt.ShapeError) as error:
            getattr(xt, reducer)(xt.zeros(shape), axis)
        assert str(error.value) == (
            f"{reducer}: shape {shape} has nothing along axis {named}, and {reducer} of nothing is no number"
        )


def test_nothing_takes_part_in_a_statement():
    x = xt.ones((3, 4))
    x += xt.sum(xt.zeros((3, 0)), 1, keepdims=True) + 2
    np.testing.assert_array_equal(x.numpy(), np.full((3, 4), 3))
    none = xt.zeros((3, 0))
    none[...] = none / xt.sum(none, 0)
    none -= xt.max(none, 0, keepdims=True)


# Types.


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [*REDUCERS, "mean", "var", "std", "count_nonzero"])
def test_result_types_are_numpys(name, dtype):
    x = np.ones(3, dtype)
    if name in ("mean", "var", "std"):
        want = getattr(np, name)(x.astype(np.int32) if dtype.kind == "b" else x).dtype
    else:
        want = np.asarray(getattr(np, name)(x)).dtype
    assert getattr(xt, name)(xt.asarray(x)).dtype == want


@pytest.mark.parametrize(
    ("source", "to"),
    [
        ("uint8", "float32"),
        ("float32", "float64"),
        ("int64", "int32"),
        ("int32", "uint8"),
        ("bool", "float64"),
        ("float64", "float32"),
    ],
)
@pytest.mark.parametrize("reducer", ["sum", "prod"])
def test_elements_are_converted_to_the_type_asked_for(reducer, source, to):
    x = np.resize([1, 2, 1, 1, 1, 1, 1], (40, 3)).astype(source)
    for axis in (None, 0) if reducer == "sum" else (0,):
        want = np.asarray(getattr(np, reducer)(x.astype(to), axis, dtype=to))
        same(xt.evaluate(getattr(xt, reducer)(xt.asarray(x), axis, dtype=to)).numpy(), want)


# Derived folds.


def close(got, want, what="", scale=1.0, of=None):
    """Within what the type promises (`of`: a narrower one that was computed in), measured against the largest number there is."""
    want = np.asarray(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    eps = np.finfo(of or got.dtype).eps if got.dtype.kind == "f" else 0
    size = np.abs(want[np.isfinite(want)])
    np.testing.assert_allclose(got, want, rtol=100 * eps, atol=100 * eps * scale * size.max(initial=0), err_msg=what)


DERIVED = {
    "mean": np.mean, "var": np.var, "std": np.std,
    "norm": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("name", DERIVED)
def test_derived_folds(name, dtype):
    axes = (None, 0, -1, (0, 2)) if (name, dtype) in (("mean", "float32"), ("var", "float32")) else (0,)
    for axis, shape in itertools.product(axes, [(2, 3, 5), (4, 40, 33), (100, 2, 3)]):
        x = elements("sum", dtype, shape, 2)
        for keepdims in (False, True) if axis == -1 else (False,):
            got = xt.evaluate(getattr(xt, name)(xt.asarray(x), axis, keepdims=keepdims)).numpy()
            close(got, DERIVED[name](x.astype(np.float64), axis=axis, keepdims=keepdims), f"{name}, {axis}")


@pytest.mark.parametrize("ddof", [0, 1, 2, 3, 5])
def test_degrees_of_freedom(ddof):
    x = elements("sum", "float64", (3, 4))
    for name, axis in itertools.product(("var", "std"), (0, 1, None)):
        with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if ddof >= 12 else np.errstate():
            count = x.size if axis is None else x.shape[axis]
            square = ((x - x.mean(axis, keepdims=True)) ** 2).sum(axis)
            want = square / max(count - ddof, 0)
        close(
            xt.evaluate(getattr(xt, name)(xt.asarray(x), axis, ddof=ddof)).numpy(),
            want if name == "var" else np.sqrt(want),
        )


def test_the_variance_of_large_numbers_does_not_cancel():
    x = (1e6 + elements("sum", "float64", (1000,))).astype(np.float32)
    got = float(xt.var(xt.asarray(x)))
    assert abs(got - x.astype(np.float64).var()) < 1e-3 * got


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_count_nonzero(dtype):
    for shape, axis in [
        ((7, 33), 1),
        ((300, 20), 1),
        *([((7, 33), 0), ((300, 2), None)] if dtype == "float32" else []),
    ]:
        x = values(dtype, shape, 3)
        x[x == SPECIAL[np.dtype(dtype)][-1]] = 0
        got = xt.evaluate(xt.count_nonzero(xt.asarray(x), axis)).numpy()
        same(got, np.asarray(np.count_nonzero(x, axis), np.int64))


# (mshadow's spelling, NumPy's)
SPELLINGS = {
    "sumall_except_dim 0": (lambda e: xt.sumall_except_dim(e, 0), lambda a: a.sum((1, 2))),
    "sumall_except_dim -1": (lambda e: xt.sumall_except_dim(e, -1), lambda a: a.sum((0, 1))),
    "reduce_except_dim": (lambda e: xt.reduce_except_dim(e, 1), lambda a: a.sum((0, 2))),
    "reduce_except_dim max": (lambda e: xt.reduce_except_dim(e, 1, "max"), lambda a: a.max((0, 2))),
    "reduce_with_axis": (lambda e: xt.reduce_with_axis(e, 1), lambda a: a.sum(1)),
    "reduce_with_axis min": (lambda e: xt.reduce_with_axis(e, -1, "min"), lambda a: a.min(-1)),
    "reduce_with_axis prod": (lambda e: xt.reduce_with_axis(e[:2] / 8, 0, "prod"), lambda a: (a[:2] / 8).prod(0)),
    "reduce_with_axis max, mask": (lambda e: xt.reduce_with_axis(e, 1, "max", mask=True), lambda a: a.argmax(1)),
    "reduce_with_axis min, mask": (lambda e: xt.reduce_with_axis(e, -1, "min", True), lambda a: a.argmin(-1)),
    "reduce_keepdim": (lambda e: xt.reduce_keepdim(e, 2), lambda a: a.sum(2, keepdims=True)),
    "reduce_keepdim any": (lambda e: xt.reduce_keepdim(e, 0, "any"), lambda a: a.any(0, keepdims=True)),
    "reduce_keepdim max, mask": (lambda e: xt.reduce_keepdim(e, -2, "max", True), lambda a: a.argmax(1, keepdims=True)),
    "sum_rows": (lambda e: xt.sum_rows(e[0]), lambda a: a[0].sum(0)),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_mshadows_spellings(name):
    ours, numpys = SPELLINGS[name]
    for shape in ((3, 5, 7), (4, 33, 2)):
        x = elements("sum", "float32", shape)
        for source in (xt.asarray(x), xt.asarray(x) * 1):
            same(xt.evaluate(ours(source)).numpy(), numpys(x), name)


@pytest.mark.parametrize("name", [*REDUCERS, "mean", "var", "std"])
def test_methods(name):
    t = xt.asarray(elements("sum", "float64", (3, 4)))
    for source, arguments, named in [(t, (), {}), (t * 1, (-1,), {"keepdims": True})]:
        want = xt.evaluate(getattr(xt, name)(source, *arguments, **named)).numpy()
        same(xt.evaluate(getattr(source, name)(*arguments, **named)).numpy(), want)
    assert t.sum(dtype=xt.float32).dtype == np.float32
    assert t.std(0, ddof=1).shape == (4,)


def test_arrays_and_expressions_without_memory_are_operands():
    x = elements("sum", "float32", (5, 33))
    same(xt.evaluate(xt.sum(x, 0)).numpy(), x.sum(0))
    assert float(xt.sum(3.0)) == 3.0
    assert xt.sum(xt.range(10)).item() == 45
    assert xt.sum(xt.broadcast_to(xt.asarray(x[:, :1]), (5, 40))).item() == 40 * x[:, :1].sum()


# The bits.

STRUCTURES = {
    "vector": ((), lambda x: xt.sum(x[0])),
    "vector strided": ((), lambda x: xt.sum(x[0, ::2])),
    "vector reversed": ((), lambda x: xt.sum(x[0, ::-1])),
    "vector repeated": ((), lambda x: xt.sum(xt.broadcast_to(x[0, :1], (x.shape[1],)))),
    "rows": (("r",), lambda x: xt.sum(x, 1)),
    "columns": (("c",), lambda x: xt.sum(x, 0)),
    "all": ((), xt.sum),
    "all of a transposed": ((), lambda x: xt.sum(x.T)),
    "all strided": ((), lambda x: xt.sum(x[:, ::3])),
    "squares": (("r",), lambda x: xt.sum(x * x, 1)),
    "products": (("r",), lambda x: xt.prod(1 + x * 0.01, 1)),
    "greatest": (("r",), lambda x: xt.max(x, 1)),
    "least of columns": (("c",), lambda x: xt.min(x, 0)),
    "any": (("r",), lambda x: xt.any(x > 2.5, 1)),
    "bytes": (("r",), lambda x: xt.sum(xt.cast(x * 100, xt.uint8), 1)),
    "bytes, greatest": ((), lambda x: xt.max(xt.cast(x * 100, xt.uint8))),
    "widened": (("r",), lambda x: xt.sum(x, 1, dtype=xt.float64)),
    "mean": (("c",), lambda x: xt.mean(x, 0)),
    "variance": (("r",), lambda x: xt.var(x, 1)),
    "over the sum": (("r", "c"), lambda x: x / xt.sum(x)),
    "over the sums of rows": (("r", "c"), lambda x: x / xt.sum(x, 1, keepdims=True)),
    "over the sums of columns": (("r", "c"), lambda x: x / xt.sum(x, 0)),
    "standardised columns": (("r", "c"), lambda x: (x - xt.mean(x, 0)) / xt.std(x, 0)),
    "fold of a fold": ((), lambda x: xt.max(xt.sum(x, 0))),
    "fold of a pad": (("r",), lambda x: xt.sum(xt.pad(x, [(3, 2)]), 1)),
    "fold of a join": (("c",), lambda x: xt.sum(xt.concat(x, x * 2), 0)),
    "pad of a fold": (("c", 2), lambda x: xt.pad(xt.sum(x, 0), [(1, 1)])),
    "cumulated": (("c",), lambda x: xt.sum(xt.where(xt.range(x.shape[1]) <= xt.reshape(xt.range(x.shape[1]), (-1, 1)), x[0], 0.0), 1)),
}  # fmt: skip


def shape_of(axes, x):
    """The shape of a target: `r` rows, `c` columns, and a number that is added."""
    extents = {"r": x.shape[0], "c": x.shape[1]}
    named = [extents[a] for a in axes if isinstance(a, str)]
    return tuple(n + sum(a for a in axes if isinstance(a, int)) for n in named)


def judged(plan):
    """What the interpreter says that a plan will store in its target."""
    (statement, launch), kernel = plan._prepared, plan._code.kernel
    views, arrays, finals = (*statement.targets, *statement.found.leaves), {}, []
    for k, (leaf, number) in enumerate(zip(kernel.leaves, launch.first, strict=True)):
        view = views[number]
        flat, base = np.zeros(view.layout.high - view.layout.low, view.dtype), -view.layout.low
        placed = np.lib.stride_tricks.as_strided(flat[base:], view.shape, view.strides, writeable=True)
        placed[...] = view.numpy()
        arrays[leaf.name] = (flat, base + launch.arranged.shifts[k] // view.dtype.itemsize)
        finals.append(placed)
    params = dict(zip([q.name for q in kernel.params], statement.found.scalars, strict=True))
    interpret(kernel, arrays, dict(launch.arranged.sizes), params)
    return finals[0]


SHORT = [(3, 33), (2, 17), (9, 3)]  # short: the interpreter computes a fold again at every point
LONG = {"vector": (1, 8193), "vector strided": (1, 8200), "rows": (1, 4097), "columns": (700, 2)}


@pytest.mark.parametrize("name", STRUCTURES)
def test_machine_code_has_the_interpreters_bits_at_every_width(name):
    axes, statement = STRUCTURES[name]
    for k, shape in enumerate([*SHORT, *([LONG[name]] if name in LONG else [])]):
        x = np.random.default_rng(k).standard_normal(shape).astype(np.float32)
        e = statement(xt.asarray(x))
        want = None
        for bits in (128, None):
            with xt.options(vector_bits=bits):
                plan = xt.plan(xt.zeros(shape_of(axes, x), e.dtype), e)
                want = judged(plan) if want is None else want
                same(plan.run().numpy(), want, f"{name} of {shape}, {bits} bits")


SHORT_ROWS = {  # statements that take a row in each lane
    "sums": (("r",), lambda x: xt.sum(x, 1)),
    "products": (("r",), lambda x: xt.prod(1 + x * 0.1, 1)),
    "positions": (("r",), lambda x: xt.argmax(x, 1)),
    "variances": (("r",), lambda x: xt.var(x, 1)),
    "any": (("r",), lambda x: xt.any(x > 1, 1)),
    "widened": (("r",), lambda x: xt.sum(x, 1, dtype=xt.float64)),
    "softmax": (("r", "c"), lambda x: softmax(xt, x, 1)),
    "standardised": (("r", "c"), lambda x: standardised(xt, x, 1)),
    "two rows": (("r",), lambda x: xt.sum(x * x[::-1], 1) / xt.norm(x, 1)),
    "with a row that is repeated": (("r",), lambda x: xt.sum(x * x[3], 1)),
    "with a column": (("r", "c"), lambda x: x - xt.max(x, 1, keepdims=True) * x[:, :1]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT_ROWS)
def test_short_rows_have_the_interpreters_bits_at_every_width(name):
    axes, statement = SHORT_ROWS[name]
    for rows, n in ((67, 3), (66, 2), (17, 7), (17, 12), (35, 19)):
        x = np.random.default_rng(n).standard_normal((rows, n)).astype(np.float32)
        e, want = statement(xt.asarray(x)), None
        for bits in WIDTHS:
            with xt.options(vector_bits=bits):
                plan = xt.plan(xt.zeros(shape_of(axes, x), e.dtype), e)
                assert plan._code.kernel.short, plan.nest
                found = plan.run().numpy()
                if want is None:  # which takes long for long rows: there the narrowest registers decide
                    want = judged(plan) if rows * n**3 < 10_000 else found.copy()
                same(found, want, f"{name} of {x.shape}, {bits} bits")


PACKED = ("bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("dtype", PACKED)
def test_packed_rows_are_taken_apart_and_put_together(dtype):
    for n, bits in ((2, 128), (5, 128), (3, 256), (6, 256), (2, None), (3, None), (4, None), (7, None), (16, None)):
        x = elements("sum", dtype, (131, n), n)
        with xt.options(vector_bits=bits):
            t = xt.array(x)
            assert xt.plan(t, xt.maximum(t, xt.max(t, 1, keepdims=True)))._code.nest.groups
            check("max", x, 1)
            t[...] = xt.where(t == xt.max(t, 1, keepdims=True), t, xt.zeros((1, n), dtype))
        same(t.numpy(), np.where(x == x.max(1, keepdims=True), x, x.dtype.type(0)), f"{n} elements, {bits} bits")


@pytest.mark.parametrize("n", [2, 3, 6])
def test_packed_rows_have_the_bits_of_padded_ones(n):
    rng = np.random.default_rng(n)
    x, row, column, across = (rng.standard_normal(s).astype(np.float32) for s in ((70, n), (n,), (70, 1), (n, 70)))
    packed, padded = xt.asarray(x), xt.asarray(np.pad(x, ((0, 0), (0, n + 1))))[:, :n]
    r, c, a = map(xt.asarray, (row, column, across))
    for statement in (
        lambda t: softmax(xt, t * r + c, 1),
        lambda t: t + xt.sum(a.T * t, 1, keepdims=True),
        lambda t: xt.sum(t * r, 1),
        lambda t: xt.var(t - c, 1) * xt.argmin(t, 1),
    ):
        plan, other = (
            xt.plan(xt.zeros(statement(t).shape, statement(t).dtype), statement(t)) for t in (packed, padded)
        )
        assert plan._code.nest.groups and not other._code.nest.groups
        same(plan.run().numpy(), other.run().numpy())
    want = xt.evaluate(softmax(xt, padded, 1)).numpy()
    for target, source in ((xt.zeros((n, 70)).T, packed), (xt.zeros((n, 70)), packed.T)):
        plan = xt.plan(target, softmax(xt, source, source.shape.index(n)))
        assert plan._code.nest.groups
        same(plan.run().numpy(), want if target.shape == want.shape else want.T)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_extremes_of_packed_rows_of_narrow_integers(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    for n, rows in itertools.product((2, 4, 6, 8, 12, 13, 16, 17, 22, 24, 25), (1, 63, 64, 200)):
        x = rng.integers(info.min, info.max, (rows, n), dtype, endpoint=True)
        a = xt.asarray(x)
        for bits in (128, 512):
            with xt.options(vector_bits=bits):
                same(xt.evaluate(xt.max(a, 1)).numpy(), x.max(1), f"rows of {n}")
                same(xt.evaluate(xt.max(a, 1) - xt.min(a, 1)).numpy(), x.max(1) - x.min(1), f"rows of {n}")
                same(xt.evaluate(a - xt.min(a, 1, keepdims=True)).numpy(), x - x.min(1, keepdims=True), f"rows of {n}")


def test_packed_rows_of_an_inner_axis():
    x = np.random.default_rng(0).standard_normal((70, 20, 3)).astype(np.float32)
    plan = xt.plan(xt.zeros((70, 20), "int64"), xt.argmax(xt.asarray(x), 2))
    assert plan._code.nest.groups
    same(plan.run().numpy(), x.argmax(2))


def test_packed_rows_of_what_takes_long_are_not_written_out():
    x = xt.ones((70, 16))
    plan = xt.plan(xt.zeros(70), xt.sum(xt.tanh(xt.sin(x)), 1))
    assert plan._code.kernel.packed and not plan._code.nest.groups
    close(plan.run().numpy(), np.full(70, 16 * np.tanh(np.sin(1.0))))


def test_rows_that_are_written_out_compute_each_element_once():
    plan = xt.plan(xt.zeros((70, 5)), softmax(xt, xt.ones((70, 5)), 1))
    assert plan.recompute == 1
    assert str(plan.nest).count("scale(") == 5


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("n", [11, 16, 17, 33, 100])
def test_extremes_of_short_rows(n, dtype):
    x = np.random.default_rng(n).integers(-9, 9, (163, n)).astype(dtype)
    if dtype != "int32":
        x[5, 3] = x[17, n - 1] = x[62] = np.nan
        x[40:60] = -np.abs(x[40:60])
        x[40:60, 5:9] = [-0.0, 0.0, -0.0, 0.0]
        x[61], x[100, 2], x[101, :2] = -np.inf, np.inf, [np.nan, -np.inf]
    for source in (xt.asarray(x), xt.asarray(np.pad(x, ((0, 0), (0, 1))))[:, :n]):
        for name in ("max", "min", "argmax", "argmin"):
            want = getattr(np, name)(x, 1)
            got = xt.evaluate(getattr(xt, name)(source, 1)).numpy()
            np.testing.assert_array_equal(got, want, f"{name} of {n}")
        assert not np.signbit(xt.evaluate(xt.max(source, 1)).numpy()[40:60]).any() or dtype == "int32"


LINED = ("contiguous", "offset", "padded", "repeated rows")  # elements of a row side by side


@pytest.mark.parametrize("dtype", FLOATS)
def test_short_rows_are_brought_together_as_long_ones(dtype):
    order = reducers.along(xt.zeros(1, dtype).key.dtype)
    for rows, n, layout in itertools.product((3, 63, 64, 200), (1, 2, 3, 10, 15, 16, 17, 31, 33, 65, 128), LINED):
        x = np.random.default_rng(n).standard_normal((rows, n)).astype(dtype)
        source = place(x, layout)
        want = [brought_together(row, operator.add, x.dtype.type(-0.0), order) for row in source.array]
        same(xt.evaluate(xt.sum(xt.asarray(source.array), 1)).numpy(), np.array(want), f"{rows} of {n}, {layout}")


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8", "complex64"])
def test_rows_of_every_kernel_for_short_ones_have_the_bits_of_a_row_alone(dtype, bits):
    """Of no power of two there are kernels as well, whose last elements have nothing to be halved with."""
    for least, most in zip((1, *reducers.SHORT), reducers.SHORT, strict=False):
        for n in (least + 1, most):
            x = (np.random.default_rng(n).standard_normal((19, n)) * 3).astype(dtype)
            folds = [xt.sum, xt.prod] if dtype == "complex64" else [xt.sum, xt.prod, xt.max, xt.argmax, xt.argmin]
            with xt.options(vector_bits=bits):
                for f in folds:
                    rows = [xt.evaluate(f(xt.asarray(x[r]), 0)).numpy() for r in (0, 7, 18)]
                    same(xt.evaluate(f(xt.asarray(x), 1)).numpy()[[0, 7, 18]], np.array(rows), f"{n}")


@pytest.mark.parametrize("shape", [(3, 70, 4), (70, 3, 4), (2, 5, 66, 3), (66, 1, 2)], ids=str)
def test_short_rows_of_more_axes(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for layout in ("contiguous", "padded", "step2", "negative"):
        t = xt.asarray(place(x, layout).array)
        short = {"contiguous": shape[-1], "step2": 0, "padded": 16, "negative": shape[-1]}[layout]
        assert xt.plan(xt.zeros(shape[:-1]), xt.sum(t, -1))._code.kernel.short == short, layout
        close(xt.evaluate(xt.sum(t, -1)).numpy(), x.sum(-1))
        close(xt.evaluate(softmax(xt, t, -1)).numpy(), softmax(np, x, -1))
        same(xt.evaluate(xt.argmin(t, -1)).numpy(), x.argmin(-1))


def test_elements_that_lie_nearer_than_the_next_row_are_taken_along_it():
    x = np.random.default_rng(0).standard_normal((9, 201)).astype(np.float32)
    order = reducers.along(xt.zeros(1).key.dtype)
    for step in (2, 3, -2):
        apart = x[:, ::step]
        plan = xt.plan(xt.zeros(9), xt.sum(xt.asarray(apart), 1))
        want = [brought_together(row, operator.add, np.float32(-0.0), order) for row in apart]
        same(plan.run().numpy(), np.array(want, np.float32), f"step {step}")
        same(judged(plan), np.array(want, np.float32), f"step {step}")
        check("max", apart, 1)
        check("max", apart, 0)


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_a_small_target_is_stored_across_where_what_is_folded_runs_along(axes):
    x = elements("sum", "float32", (6, 70, 33)).transpose(axes)
    for axis, reducer in itertools.product(range(3), ("sum", "max")):
        check(reducer, x, axis)
        out = place(np.zeros(reference(reducer, x, axis).shape, np.float32), "padded")
        xt.asarray(out.array)[...] = getattr(xt, reducer)(xt.asarray(x), axis)
        same(out.array, reference(reducer, x, axis))
        out.assert_untouched()


STORED_ACROSS = {
    "softmax": lambda x, w: softmax(xt, x, 1),
    "standardised": lambda x, w: standardised(xt, x, 1),
    "with a tensor that lies as the target": lambda x, w: x * w - xt.max(x, 1, keepdims=True),
    "over a sum of all": lambda x, w: x / xt.sum(x * x),
    "a fold that reads the target": lambda x, w: x - xt.sum(w, 1, keepdims=True),
}


@pytest.mark.parametrize("name", STORED_ACROSS)
def test_what_is_folded_along_the_source_is_stored_across(name):
    for shape in ((70, 130), (9, 65), (64, 40), (5, 33)):
        x, w = (np.random.default_rng(seed).standard_normal(shape).astype(np.float32) for seed in (1, 2))
        want = xt.evaluate(STORED_ACROSS[name](xt.asarray(x), xt.asarray(w))).numpy()
        for options in (*({"vector_bits": bits} for bits in WIDTHS), {"num_threads": 2}):
            out = place(np.ascontiguousarray(w.T), "padded")
            with xt.options(**options):
                target = xt.asarray(out.array).T
                plan = xt.plan(target, STORED_ACROSS[name](xt.asarray(x), target))
                assert plan._code.kernel.short or "turned from" in plan.nest, (
                    plan.nest
                )  # rows in lanes are as they were
                plan.run()
            if name in ("over a sum of all", "a fold that reads the target"):  # which have another order
                close(out.array.T, want)
            else:
                same(out.array.T, want, f"{name} of {shape}, {options}")
            out.assert_untouched()
    assert plan.scratch_bytes < 1 << 17


@pytest.mark.parametrize("columns", [2, 3, 4, 5, 17, 33, 70])
def test_what_lies_across_is_folded_across_whatever_the_sizes(columns):
    for rows in (2, 3, 5, 33, 300):
        x = elements("sum", "float32", (rows, columns), columns)
        sums = np.array([brought_together(column, operator.add, np.float32(-0.0), ACROSS) for column in x.T])
        for step in (1, 2):
            source = xt.asarray(np.repeat(x, step, 1)[:, ::step])
            plan = xt.plan(xt.zeros((columns, rows)), source.T - xt.sum(source.T, 1, keepdims=True))
            same(plan.run().numpy(), (x - sums).T, f"{x.shape}, every {step}")
            out = place(np.zeros((columns, rows), np.float32), "padded")
            xt.asarray(out.array).T[...] = source - xt.sum(source, 0)
            same(out.array, (x - sums).T, f"{x.shape}, every {step}")
            out.assert_untouched()


FEW_ACROSS = {
    "softmax": lambda x, w: softmax(xt, x, -2),
    "standardised": lambda x, w: standardised(xt, x, -2),
    "with a tensor that lies as the target": lambda x, w: x * w - xt.max(x, -2, keepdims=True),
}


@pytest.mark.parametrize(("count", "dtype"), [(2, "float32"), (3, "float64"), (5, "float32"), (8, "float16")])
def test_few_columns_are_taken_apart_when_they_are_stored_across(count, dtype):
    for many, lead in ((17, ()), (700, ()), (97, (3,)) if count == 5 else (333, ())):
        for shape in ((*lead, many, count), (*lead, count, many)):
            x, w = (np.random.default_rng(n).standard_normal(shape).astype(dtype) for n in (1, 2))
            for name, statement in FEW_ACROSS.items():
                want = xt.evaluate(statement(xt.asarray(x), xt.asarray(w))).numpy()
                for bits, threads in ((128, 1), (512, 2)):
                    out = place(np.ascontiguousarray(np.swapaxes(w, -1, -2)), "offset")
                    target = np.swapaxes(out.array, -1, -2)
                    with xt.options(vector_bits=bits, num_threads=threads):
                        into = xt.asarray(target)
                        into[...] = statement(xt.asarray(x), into)
                    same(target, want, f"{name} of {shape}, {bits} bits")
                    out.assert_untouched()


def test_rows_of_few_columns_have_no_loop_of_their_own():
    x, y = xt.ones((1000, 3)), xt.zeros((3, 1000))
    for plan in (xt.plan(y, softmax(xt, x.T, 1)), xt.plan(x, softmax(xt, y.T, 1))):
        nest = plan._code.nest
        assert nest.groups or any(isinstance(s, Vector) and s.groups for s in statements(nest.body)), plan.nest


@pytest.mark.parametrize("shape", [(70, 130), (300, 5)], ids=str)
def test_what_is_folded_across_the_source_is_stored_across(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for statement, different in ((softmax, [{"num_threads": 2}]), (standardised, [{"vector_bits": 128}, {}])):
        want = xt.evaluate(statement(xt, xt.asarray(x), 0)).numpy()
        for options in different:
            out = place(np.zeros(shape[::-1], np.float32), "padded")
            with xt.options(**options):
                plan = xt.plan(xt.asarray(out.array).T, statement(xt, xt.asarray(x), 0))
                turned = xt.evaluate(statement(xt, xt.asarray(x).T, 1)).numpy()
            apart = [loop for loop in statements(plan._code.nest.body) if isinstance(loop, Vector) and loop.groups]
            assert "strip" in str(plan.nest) and ("turned from" in plan.nest or apart), plan.nest
            same(plan.run().numpy(), want, f"{shape}, {options}")
            same(turned.T, want, f"{shape}, {options}")
            out.assert_untouched()
    few = x[:5, :32]
    plan = xt.plan(xt.zeros(few.T.shape).T, standardised(xt, xt.asarray(few), 0))
    same(plan.run().numpy(), judged(plan))


@pytest.mark.parametrize("shape", [(33, 7, 3), (300, 17, 16)], ids=str)
def test_columns_that_run_on_along_another_axis_are_folded_as_one_row(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    turned, row = xt.transpose(xt.asarray(x), (2, 0, 1)), xt.asarray(x.reshape(shape[0], -1))
    for bits, threads, statement in ((128, 2, standardised), (512, 1, standardised), (512, 2, softmax)):
        with xt.options(vector_bits=bits, num_threads=threads):
            plan = xt.plan(xt.zeros(turned.shape), statement(xt, turned, 1))
            want = xt.evaluate(statement(xt, row, 0)).numpy().reshape(shape).transpose(2, 0, 1)
            same(plan.run().numpy(), want, f"{bits} bits, {threads} threads")
            assert "columns of i2i0" in plan.nest and plan.recompute < 6, plan.nest
    for reducer in (xt.sum, xt.argmax):
        want = xt.evaluate(reducer(row, 0)).numpy().reshape(shape[1:]).T
        same(xt.evaluate(reducer(turned, 1)).numpy(), want)


@pytest.mark.parametrize("columns", [1, 2, 3, 10, 17, 31, 65])
def test_a_few_columns_of_many_rows(columns):
    for rows in (3, 257, 1000):
        x = elements("sum", "float32", (rows, columns), rows)
        check("sum", x, 0)
        out = place(np.zeros((rows, columns), np.float32), "padded")
        xt.asarray(out.array)[...] = xt.asarray(x) - xt.max(xt.asarray(x), 0)
        same(out.array, x - x.max(0))
        out.assert_untouched()


def test_short_rows_of_any_length_are_one_kernel_unless_they_are_few_and_packed():
    def run(x):  # what no other test compiles
        xt.evaluate(1 - softmax(xt, -x, 1))

    for n in (2, 3):
        run(xt.ones((100, 40))[:, :n])
        run(xt.ones((100, n)))
    with xt.no_compile():
        for rows, n in ((64, 16), (1000, 5), (70, 11)):
            run(xt.ones((rows, 40))[:, :n])
        run(xt.ones((70, 3)))
        with pytest.raises(xt.CompileError):
            run(xt.ones((70, 4)))
    run(xt.ones((100, 17)))
    with xt.no_compile():
        run(xt.ones((70, 24)))


def test_short_rows_of_unlike_lengths():
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal((67, n)).astype(np.float32) for n in (5, 20, 31))
    for x, y, short in ((a, a[:, :3], 16), (b, c, 32), (a, b, 0)):
        e = xt.sum(xt.asarray(x), 1) * xt.max(xt.asarray(y), 1)
        plan = xt.plan(xt.zeros(67), e)
        assert plan._code.kernel.short == short
        same(plan.run().numpy(), judged(plan))
        close(xt.evaluate(e).numpy(), x.sum(1) * y.max(1))


@pytest.mark.parametrize("mode", ["write", "add", "mul"])
def test_short_rows_in_place_and_in_every_mode(mode):
    x = np.random.default_rng(0).standard_normal((100, 6)).astype(np.float32)
    t, want = xt.array(x), {"write": lambda a, b: b, "add": np.add, "mul": np.multiply}[mode](x, softmax(np, x, 1))
    xt.assign(t, mode, softmax(xt, t, 1))
    close(t.numpy(), want)


@pytest.mark.parametrize("columns", [17, 32, 33, 64])
@pytest.mark.parametrize("bits", [None, 256])
def test_short_rows_side_by_side_have_the_bits_of_rows_apart(columns, bits):
    for rows in (2, 15, 16, 300):
        x = np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32)
        apart, t, weights = xt.asarray(np.hstack([x, x])[:, :columns]), xt.array(x), xt.asarray(x[0])
        wanted = xt.evaluate(softmax(xt, apart * weights, 1)).numpy()
        for threads in (1, 3):
            with xt.options(vector_bits=bits, num_threads=threads):
                plan = xt.plan(xt.empty(x.shape), softmax(xt, t * weights, 1))
                same(plan.run().numpy(), wanted)
                assert "column_run0" in plan.nest
        t[...] = softmax(xt, t * weights, 1)
        same(t.numpy(), wanted)


@pytest.mark.parametrize("name", ["rows", "columns", "over the sum", "variance", "fold of a pad"])
def test_the_order_is_the_same_for_all_widths_and_passes(name):
    _, statement = STRUCTURES[name]
    for shape in ((5, 9000), (2000, 37)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        e, found = statement(xt.asarray(x)), []
        for options in (*({"vector_bits": bits} for bits in WIDTHS), {"llvm_level": 3}):
            with xt.options(**options):
                found.append(xt.evaluate(e).numpy())
        for other in found[1:]:
            same(other, found[0], name)


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_sum_is_brought_together_as_it_is_defined(dtype):
    order = reducers.along(xt.zeros(1, dtype).key.dtype)
    for n in LENGTHS:
        x = np.random.default_rng(n).standard_normal(n).astype(dtype)
        want = brought_together(x, operator.add, x.dtype.type(-0.0), order)
        for layout in ("contiguous", "step2", "negative", "offset"):
            got = xt.evaluate(xt.sum(xt.asarray(place(x, layout).array))).numpy()
            same(got, np.asarray(want), f"{n} numbers, {layout}")


@pytest.mark.parametrize("dtype", FLOATS)
def test_columns_are_brought_together_as_they_are_defined(dtype):
    for n in (1, 3, 4, 5, 100, 256, 257, 1500):
        x = np.random.default_rng(n).standard_normal((n, 5)).astype(dtype)
        want = [brought_together(column, operator.add, x.dtype.type(-0.0), ACROSS) for column in x.T]
        for source in (x, np.repeat(x, 2, 1)[:, ::2]):
            same(xt.evaluate(xt.sum(xt.asarray(source), 0)).numpy(), np.array(want), f"{n} rows")


def test_a_sum_is_what_its_definition_says_by_hand():
    order = reducers.Order(2, 4)
    text = brought_together("abcdefghijk", lambda a, b: f"({a}{b})" if a else b, "", order)
    assert text == "((((ac)(bd))((eg)(fh)))((ik)j))"


BOUNDED = (2, 3, 10, 31, 100, 1000, 4097, 20000, 300_001)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("way", ["row", "strided", "column", "mean"])
def test_the_error_of_a_sum_is_bounded(way, dtype):
    eps = np.finfo(dtype).eps
    for n, scale in itertools.product(BOUNDED, (False, True)):
        rng = np.random.default_rng(n)
        x = (rng.standard_normal(n) * (10.0 ** rng.integers(-6, 7, n) if scale else 1) + (not scale)).astype(dtype)
        t = {
            "row": lambda x: xt.sum(xt.asarray(x)),
            "strided": lambda x: xt.sum(xt.asarray(np.repeat(x, 3))[::3]),
            "column": lambda x: xt.sum(xt.asarray(np.stack([x, x], 1)), 0)[0],
            "mean": lambda x: xt.mean(xt.asarray(x)) * float(x.size),
        }[way](x)
        exact, total = math.fsum(x.tolist()), math.fsum(np.abs(x).tolist())
        assert abs(float(t) - exact) <= (2 + 2 * (way == "mean")) * eps * math.log2(n) * total, f"{n} numbers"


# Whole statements. `m` is exprten or NumPy.


def softmax(m, x, axis):
    e = m.exp(x - m.max(x, axis, keepdims=True))
    return e / m.sum(e, axis, keepdims=True)


def log_softmax(m, x, axis):
    z = x - m.max(x, axis, keepdims=True)
    return z - m.log(m.sum(m.exp(z), axis, keepdims=True))


def standardised(m, x, axis):
    d = x - m.mean(x, axis, keepdims=True)
    return d / m.sqrt(m.mean(d * d, axis, keepdims=True) + 1e-5)


def cosine(m, x, y, axis):
    return m.sum(x * y, axis) / m.sqrt(m.sum(x * x, axis) * m.sum(y * y, axis))


def cross_entropy(m, x, y):
    return -m.mean(m.sum(y * log_softmax(m, x, -1), -1))


STATEMENTS = {
    "softmax": lambda m, x, y: softmax(m, x, 1),
    "softmax of columns": lambda m, x, y: softmax(m, x, 0),
    "softmax of all": lambda m, x, y: softmax(m, x, None),
    "log-softmax": lambda m, x, y: log_softmax(m, x, 1),
    "layer normalisation": lambda m, x, y: standardised(m, x, 1) * y[0] + y[1],
    "over the sum": lambda m, x, y: x / m.sum(x),
    "over rows and columns": lambda m, x, y: x / (1 + m.sum(x * x, 0)) / (1 + m.sum(x * x, 1, keepdims=True)),
    "over all three": lambda m, x, y: x * m.max(x) - m.sum(x, 0) * m.min(x, 1, keepdims=True),
    "double centred": lambda m, x, y: x - m.mean(x, 0) - m.mean(x, 1, keepdims=True) + m.mean(x),
    "scaled to a range": lambda m, x, y: (x - m.min(x)) / (m.max(x) - m.min(x)),
    "cosines of rows": lambda m, x, y: cosine(m, x, y, 1),
    "cosines of columns": lambda m, x, y: cosine(m, x, y, 0),
    "cosine": lambda m, x, y: cosine(m, x, y, None),
    "cross-entropy": cross_entropy,
    "all pairs": lambda m, x, y: m.sum(x[:, None, :] * y[None, :, :], 2),
    "distances of all pairs": lambda m, x, y: m.sqrt(m.sum((x[:, None] - y[None]) ** 2, -1)),
    "product of matrices": lambda m, x, y: m.sum(x.T[:, :, None] * y[None], 1),
    "greatest of the sums": lambda m, x, y: m.max(m.sum(x, 1)),
    "sum of the greatest": lambda m, x, y: m.sum(m.max(x, 0)),
    "variance of the means": lambda m, x, y: m.var(m.mean(x, 1)),
    "distance to the mean sum": lambda m, x, y: m.sum(x, 0) - m.mean(m.sum(x, 0)),
    "sum over the sum of sums": lambda m, x, y: x / m.sum(m.sum(x * x, 0) * m.sum(y, 0)),
    "sum of a softmax": lambda m, x, y: m.sum(softmax(m, x, 1) * y, 0),
    "sum of a transposed": lambda m, x, y: m.sum((x * 2).T, 0),
    "sum of the flipped": lambda m, x, y: m.sum(m.flip(x * y, 1) * x, 1),
    "sum of a slice": lambda m, x, y: m.sum((x + y)[1:, ::2], 0),
    "where it is greatest": lambda m, x, y: m.where(x == m.max(x, 1, keepdims=True), x, 0.0),
    "how many are above the mean": lambda m, x, y: m.sum(x > m.mean(x, 0), 0),
    "any above all": lambda m, x, y: m.any(x > m.max(y, 0), 1),
    "two of a mean": lambda m, x, y: m.mean(x, 0) * m.mean(x, 0) + m.mean(x, 0),
    "reciprocal sums": lambda m, x, y: 1 / (1 + m.sum(x * x, 1)),
    "a row between": lambda m, x, y: x * m.sum(y, 0) + m.sum(x[0]),
}

# (ours, NumPy's)
MOVED = {
    "sum of a pad": (lambda x: xt.sum(xt.pad(x * 2, [(1, 4)], value=1), 1), lambda x: np.pad(x * 2, ((0, 0), (1, 4)), constant_values=1).sum(1)),
    "columns of a pad": (lambda x: xt.sum(xt.pad(x, 2), 0), lambda x: np.pad(x, 2).sum(0)),
    "sum of a join": (lambda x: xt.sum(xt.concat(x, x * x), 0), lambda x: np.concatenate([x, x * x]).sum(0)),
    "rows of a join": (lambda x: xt.sum(xt.concat(x, x[:, 1:], axis=1), 1), lambda x: np.concatenate([x, x[:, 1:]], 1).sum(1)),
    "sum of a reshape": (lambda x: xt.sum(xt.reshape(x * 2, (x.shape[1], -1)), 0), lambda x: (x * 2).reshape(x.shape[1], -1).sum(0)),
    "rows of a reshape": (lambda x: xt.sum(xt.reshape(x, (x.shape[1], -1)), 1), lambda x: x.reshape(x.shape[1], -1).sum(1)),
    "reshape of a fold": (lambda x: xt.reshape(xt.sum(x, 1, keepdims=True), (1, -1)) * 2, lambda x: x.sum(1)[None] * 2),
    "pad of a fold": (lambda x: xt.pad(xt.sum(x, 0), [(2, 3)]), lambda x: np.pad(x.sum(0), (2, 3))),
    "pad of a softmax": (lambda x: xt.pad(softmax(xt, x, 1), 1), lambda x: np.pad(softmax(np, x, 1), 1)),
    "join of folds": (lambda x: xt.concat(xt.sum(x, 0), xt.max(x, 0)), lambda x: np.concatenate([x.sum(0), x.max(0)])),
    "join with a fold": (lambda x: xt.concat(x, xt.mean(x, 0, keepdims=True)), lambda x: np.concatenate([x, x.mean(0, keepdims=True)])),
    "flip of a fold": (lambda x: xt.flip(xt.sum(x, 1), 0) / 2, lambda x: x.sum(1)[::-1] / 2),
    "transposed softmax": (lambda x: xt.transpose(softmax(xt, x, 0)), lambda x: softmax(np, x, 0).T),
    "an index of a fold": (lambda x: x - xt.sum(x, 1, keepdims=True)[1], lambda x: x - x.sum(1, keepdims=True)[1]),
    "fold of a padded fold": (lambda x: xt.max(xt.pad(xt.sum(x, 1), [(1, 1)])), lambda x: np.pad(x.sum(1), 1).max()),
    "numbers of a range": (lambda x: xt.sum(x * xt.range(x.shape[1]), 1), lambda x: (x * np.arange(x.shape[1])).sum(1)),
    "centre of mass": (
        lambda x: xt.sum(xt.reshape(xt.range(x.shape[0]), (-1, 1)) * x * x, 0) / xt.sum(x * x, 0),
        lambda x: (np.arange(x.shape[0])[:, None] * x * x).sum(0) / (x * x).sum(0),
    ),
    "one-hot": (
        lambda x: xt.sum(xt.where(xt.range(x.shape[1]) == xt.reshape(xt.range(x.shape[0]), (-1, 1)), x, 0.0), 1),
        lambda x: np.where(np.arange(x.shape[1]) == np.arange(x.shape[0])[:, None], x, 0).sum(1),
    ),
    "sums so far": (
        lambda x: xt.sum(xt.where(xt.range(x.shape[1]) <= xt.reshape(xt.range(x.shape[1]), (-1, 1)), x[0], 0.0), 1),
        lambda x: np.cumsum(x[0]),
    ),
    "a kernel by hand": (
        lambda x: xt.sum(xt.concat(*(xt.pad(x, [(k, 2 - k)])[None] for k in range(3)), axis=0), 0),
        lambda x: sum(np.pad(x, ((0, 0), (k, 2 - k))) for k in range(3)),
    ),
    "repeated rows": (lambda x: xt.sum(xt.broadcast_to(x[0], x.shape) * x, 1), lambda x: (x[0] * x).sum(1)),
}  # fmt: skip
ALL = {**{name: (lambda x, f=f: f(xt, x, x[::-1] * 0.5 + 1), lambda x, f=f: f(np, x, x[::-1] * 0.5 + 1)) for name, f in STATEMENTS.items()}, **MOVED}  # fmt: skip
EVERY = pytest.mark.parametrize("name", ALL)
SQUARES = [(5, 7), (33, 4), (3, 100)]


def normal(shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


PHASES = {  # of statements with folds that all of the target needs
    "softmax of all": 3, "over the sum": 2, "over all three": 2, "double centred": 2, "scaled to a range": 2, "cosine": 3,
    "variance of the means": 2, "distance to the mean sum": 2, "sum over the sum of sums": 3, "a row between": 2,
    "sum of the greatest": 2, "an index of a fold": 2, "any above all": 2,
}  # fmt: skip
PASSES = {softmax: 3, log_softmax: 3, standardised: 3}


@pytest.mark.covering(1)
@pytest.mark.parametrize("shape", [(1, 70), (3, 33), (6, 2100), (70, 65), (517, 129)], ids=str)
@pytest.mark.parametrize("bits", [128, 512])
def test_what_rows_have_is_folded_once_a_row_where_columns_are_folded(shape, bits):
    """Not once for every vector of columns: it waits, for some rows at a time, while these are brought in."""
    x, y = normal(shape), normal(shape, 1)
    a, b = xt.asarray(x), xt.asarray(y)
    exact, other = x.astype(np.float64), y.astype(np.float64)
    p = softmax(np, exact, 1)
    rows = xt.sum(a * a, 1, keepdims=True)
    for e, want in (
        (xt.sum(softmax(xt, a, 1) * b, 0), (p * other).sum(0)),
        (xt.max(a / xt.sqrt(rows) + b, 0), (exact / np.sqrt((exact * exact).sum(1, keepdims=True)) + other).max(0)),
        (a * xt.sum(a * rows, 0), exact * (exact * (exact * exact).sum(1, keepdims=True)).sum(0)),
        (
            xt.argmax(a - xt.mean(a * b, 1, keepdims=True), 0),
            (exact - (exact * other).mean(1, keepdims=True)).argmax(0),
        ),
        (xt.var(softmax(xt, a, 1), 0), p.var(0)),
    ):
        found = []
        for threads in (1, 2):
            with xt.options(vector_bits=bits, num_threads=threads):
                plan = xt.plan(target := xt.empty(e.shape, e.dtype), e)
                plan.run()
                found.append(target.numpy().copy())
        np.testing.assert_allclose(found[0], want, rtol=2e-5, atol=2e-5 * abs(want).max())
        assert found[0].tobytes() == found[1].tobytes()
        assert shape[0] == 1 or shape[1] < 65 or "in first_row..last_row" in plan.nest, plan.nest


@EVERY
def test_a_statement_is_one_kernel_that_has_numpys_answer(name):
    ours, numpys = ALL[name]
    for k, shape in enumerate(SQUARES):
        x = normal(shape, k)
        want = np.asarray(numpys(x.astype(np.float64)))
        e = ours(xt.asarray(x))
        assert e.shape == want.shape
        out = xt.zeros(e.shape, e.dtype)
        plan = xt.plan(out, e)
        plan.run()
        assert (plan.phases, plan.launches, plan.temporaries) == (PHASES.get(name, 1), 1, 0)
        close(out.numpy(), want, f"{name} of {shape}", of="float32")


def labelled(x):
    """Cross-entropy with labels: the column of each row is the class it belongs to."""
    labels = xt.asarray(np.arange(x.shape[0]) % x.shape[1])
    return -xt.mean(xt.sum(xt.where(xt.range(x.shape[1]) == labels[:, None], log_softmax(xt, x, 1), 0.0), 1))


# statement: (phases, bytes of scratch, recompute)
NAMED = {
    "row softmax": (lambda x: softmax(xt, x, 1), 1, 0, 1.0),
    "log-softmax": (lambda x: log_softmax(xt, x, 1), 1, 0, 1.05),  # x - max(x) for the sum, and for the result
    "layer normalisation": (lambda x: standardised(xt, x, 1) * x[0] + x[1], 1, 0, 1.12),
    "over the sum": (lambda x: x / xt.sum(x), 2, 4 << 10, 1.0),  # of each of up to 1,024 parts
    "column softmax": (lambda x: softmax(xt, x, 0), 1, 64 << 10, 1.0),  # exp lies in the target
    "column standardisation": (lambda x: standardised(xt, x, 0), 1, 80 << 10, 1.16),
    "cosine similarity": (lambda x: cosine(xt, x, xt.asarray(normal(x.shape, 1)), None), 1, 12 << 10, 1.0),  # one pass
    "cosines of rows": (lambda x: cosine(xt, x, x[::-1], 1), 1, 0, 1.0),
    "cross-entropy": (labelled, 1, 8 << 10, 1.12),  # the numbers of the columns, for every row
}


@pytest.mark.parametrize("name", NAMED)
def test_scratch_and_recompute_of_named_statements_do_not_grow_with_the_tensors(name):
    statement, phases, scratch, recompute = NAMED[name]
    for shape in ((64, 100), (400, 1000)):
        e = statement(xt.asarray(normal(shape)))
        with xt.options(vector_bits=128):  # wider registers bring short rows together on the stack
            plan = xt.plan(xt.zeros(e.shape, e.dtype), e)
        assert (plan.phases, plan.temporaries, plan.scratch_bytes) == (phases, 0, scratch)
        assert plan.recompute == pytest.approx(recompute, abs=0.01)


def test_a_fold_that_is_known_before_the_columns_is_counted_once():
    x = xt.asarray(normal((3, 100_003)))
    whole = xt.sum(abs(x))
    for e in (xt.sum(x, 0) / whole, xt.sum(x * whole, 0), x * xt.sum(x, 0) * xt.sum(x, 1, keepdims=True) / whole):
        assert xt.plan(xt.zeros(e.shape), e).recompute == 1


@EVERY
def test_a_second_run_compiles_nothing_and_allocates_nothing(name):
    ours, _ = ALL[name]
    for shape in ((66, 67), (69, 71)):  # of up to 64 elements each number may have a kernel of its own
        with xt.no_compile() if shape == (69, 71) else xt.options():
            e = ours(xt.asarray(normal(shape)))
            out = xt.zeros(e.shape, e.dtype)
            allocations = xt.memory.allocations  # the bytes in use may fall meanwhile: garbage of other tests
            out[...] = e
            assert xt.memory.allocations == allocations


def test_columns_of_a_padded_expression_with_means_of_rows():
    x = normal((5, 7))
    got = xt.evaluate(xt.sum(xt.pad(xt.asarray(x), 1) + xt.mean(xt.pad(xt.asarray(x), 1), 1, keepdims=True), 0)).numpy()
    y = np.pad(x.astype(np.float64), 1)
    close(got, (y + y.mean(1, keepdims=True)).sum(0))


MODES = {
    "write": None,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "inplace": None,
}
IN_MODES = [
    "softmax",
    "over the sum",
    "cross-entropy",
    "columns of a pad",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", IN_MODES)
def test_every_mode(name, mode):
    ours, numpys = ALL[name]
    layouts = itertools.cycle(["contiguous", "padded", "transposed", "mirrored"])
    for shape in SQUARES[:2]:
        x = normal(shape, dtype="float64")
        value = np.asarray(numpys(x))
        out = place(normal(value.shape, 1, "float64"), next(layouts))
        with np.errstate(all="ignore"):
            want = value if MODES[mode] is None else MODES[mode](out.array.copy(), value)
        xt.assign(xt.asarray(out.array), mode, ours(xt.asarray(x)))
        close(out.array, want, f"{name}, {mode}", 10)
        out.assert_untouched()


def test_a_value_is_repeated_over_the_target():
    x = normal((5, 7))
    for source, want in (
        (xt.sum(x), x.sum()),
        (xt.sum(x, 0), x.sum(0)),
        (xt.sum(x, 1, keepdims=True), x.sum(1, keepdims=True)),
    ):
        out = xt.ones((3, 5, 7))
        out += source
        close(out.numpy(), np.broadcast_to(1 + want, (3, 5, 7)))


@pytest.mark.parametrize("function", [softmax, log_softmax, standardised])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [(shape, axis) for shape in ((9,), (5, 33), (3, 4, 17)) for axis in [*range(len(shape)), None]],
    ids=str,
)
def test_every_axis_of_every_number_of_axes(function, shape, axis):
    x = normal(shape)
    e = function(xt, xt.asarray(x), axis)
    plan = xt.plan(xt.zeros(shape), e)
    whole = axis is None or len(shape) == 1  # its folds come before the loop that needs them
    assert (plan.phases, plan.temporaries) == (PASSES[function] if whole else 1, 0)
    assert plan.recompute <= 3
    close(plan.run().numpy(), function(np, x.astype(np.float64), axis), scale=4)


@pytest.mark.parametrize("axis", [0, 1, 2, 3, (1, 2), (0, 3), (1, 3), None], ids=str)
def test_softmax_of_four_axes(axis):
    for shape in ((2, 3, 4, 5), (3, 2, 20, 33)):
        x = normal(shape)
        close(xt.evaluate(softmax(xt, xt.asarray(x), axis)).numpy(), softmax(np, x.astype(np.float64), axis), scale=4)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_of_every_layout(layout, axis):
    source = place(normal((7, 33)), layout)
    got = xt.evaluate(softmax(xt, xt.asarray(source.array), axis)).numpy()
    close(got, softmax(np, source.array.astype(np.float64), axis))
    source.assert_unchanged()


def test_softmax_of_what_overflows():
    x = np.array([[1e4, -1e4, 9.9e3], [-INF, 0.0, 0.0], [88.0, 89.0, 90.0]], np.float32)
    got = xt.evaluate(softmax(xt, xt.asarray(x), 1)).numpy()
    np.testing.assert_allclose(got, softmax(np, x.astype(np.float64), 1), rtol=1e-6, atol=1e-40)


def test_labels_are_one_hot():
    x, labels = normal((64, 10)), np.random.default_rng(1).integers(0, 10, 64)
    hot = xt.range(10) == xt.asarray(labels)[:, None]
    loss = -xt.mean(xt.sum(xt.where(hot, log_softmax(xt, xt.asarray(x), 1), 0.0), 1))
    want = -log_softmax(np, x.astype(np.float64), 1)[np.arange(64), labels].mean()
    assert float(loss) == pytest.approx(want, rel=1e-5)
    grad = (softmax(xt, xt.asarray(x), 1) - xt.cast(hot, xt.float32)) / 64.0
    close(xt.evaluate(grad).numpy(), (softmax(np, x.astype(np.float64), 1) - np.eye(10)[labels]) / 64)


# statement -> {what a nest holds: how often}
SHARED = {
    "softmax": (lambda x: softmax(xt, x, 1), {"max(": 1, "sum(": 1}),
    "softmax written out": (
        lambda x: xt.exp(x - xt.max(x, 1, keepdims=True)) / xt.sum(xt.exp(x - xt.max(x, 1, keepdims=True)), 1, keepdims=True),
        {"max(": 1, "sum(": 1},
    ),
    "log-softmax": (lambda x: log_softmax(xt, x, 1), {"max(": 1, "sum(": 1}),
    "softmax of columns": (lambda x: softmax(xt, x, 0), {"max into": 1, "sum into": 1}),
    "over the sum": (lambda x: x / xt.sum(x) + xt.sum(x), {"sum(": 1}),
    "mean twice": (lambda x: xt.mean(x, 1) * xt.mean(x, 1), {"sum(": 1}),
    "variance and mean": (lambda x: xt.var(x, 1) + xt.mean(x, 1), {"sum(": 2}),
    "least and greatest": (lambda x: xt.max(x, 1) - xt.min(x, 1), {"max(": 1, "min(": 1, "fold": 1}),
    "of squares and of all": (lambda x: xt.sum(x * x, 1) - xt.sum(x, 1), {"sum(": 2, "fold": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_equal_folds_are_computed_once(name):
    statement, counted = SHARED[name]
    e = statement(xt.asarray(normal((9, 140))))
    nest = xt.plan(xt.zeros(e.shape), e).nest
    assert {text: nest.count(text) for text in counted} == counted, nest


RECOMPUTED = {
    "rows": (lambda x: xt.sum(x * x, 1), 1),
    "columns": (lambda x: xt.sum(x * x, 0), 1),
    "all": (lambda x: xt.sum(x * x), 1),
    "over the sum": (lambda x: x / xt.sum(x), 1),
    "over the sums of columns": (lambda x: x / xt.sum(x, 0), 1),
    "softmax": (lambda x: softmax(xt, x, 1), 2),
    "softmax of columns": (lambda x: softmax(xt, x, 0), 2),
    "softmax of all": (lambda x: softmax(xt, x, None), 2),
    "layer normalisation": (lambda x: standardised(xt, x, 1), 2),
}


@pytest.mark.parametrize("name", RECOMPUTED)
def test_no_fold_is_computed_again_for_each_element(name):
    statement, most = RECOMPUTED[name]
    e = statement(xt.asarray(normal((40, 50))))
    assert 1 <= xt.plan(xt.zeros(e.shape), e).recompute <= most


def test_operations_are_counted():
    x = xt.ones((4, 5))
    plan = xt.plan(xt.zeros(4), xt.sum(x, 1))
    assert (plan.bytes_read, plan.bytes_written, plan.flops) == (80, 16, 20)
    assert xt.plan(xt.zeros((4, 5)), x / xt.sum(x, 1, keepdims=True)).flops == 40


def test_additions_and_what_is_added_are_counted():
    assert xt.plan(xt.zeros(4), xt.sum(xt.ones((4, 5)) * 2, 1)).flops == 40


def test_a_mean_of_columns_is_computed_once_and_one_kernel():
    for n in (5, 40):
        with xt.options() if n == 5 else xt.no_compile():
            assert xt.plan(xt.zeros((n, 64)), xt.mean(xt.ones((n, 64)), 0), "sub").recompute == 1


def test_code_does_not_grow_as_a_power_of_the_folded_axes():
    x = xt.transpose(xt.ones((64, 3, 4, 700)), (1, 0, 3, 2))
    one, two = (len(xt.plan(xt.zeros(e.shape), e).llvm.splitlines()) for e in (xt.sum(x, 3), xt.sum(x, (1, 3))))
    assert two <= 3 * one


def test_one_kernel_for_a_thousand_shapes():
    def step(n, m):
        x = normal((n, m), n)
        t = xt.asarray(x)
        out = xt.zeros((n, m))
        out[...] = softmax(xt, t, 1) - xt.mean(t, 0)
        close(out.numpy(), softmax(np, x.astype(np.float64), 1) - x.astype(np.float64).mean(0))

    step(2, 3)
    before = xt.stats().compiles
    with xt.no_compile():
        for n, m in itertools.product(range(2, 42), range(2, 52, 2)):
            step(n, m)
    assert xt.stats().compiles == before


def test_a_statement_that_comes_again_sees_what_is_there_then():
    x, out = normal((5, 33), dtype="float64"), xt.zeros((5, 33), xt.float64)
    t = xt.array(x)
    for k in range(8):
        t[...] = xt.asarray(x * (k + 1))
        out[...] = softmax(xt, t, 1)
        close(out.numpy(), softmax(np, x * (k + 1), 1))


# Folds of the target.


def put(target, value):
    target[...] = value


def statement_of(mode):
    return put if mode == "write" else lambda target, value: xt.assign(target, mode, value)


def in_place(x, statement, layout="contiguous"):
    """`statement(m, target, source)` on one tensor gives what it gives with NumPy's copy of it."""
    out = place(x, layout)
    want, old = out.array.astype(np.float64), out.array.astype(np.float64)
    statement(np, want, old)
    t = xt.asarray(out.array)
    statement(xt, t, t)
    close(out.array, want, scale=4)
    out.assert_untouched()


def reduce_to(target, operation, value):
    getattr(operator, operation)(target, value)


LEGAL = {
    "over the sum": lambda m, a, b: reduce_to(a, "itruediv", m.sum(b)),
    "less the mean": lambda m, a, b: reduce_to(a, "isub", m.mean(b)),
    "less the mean of columns": lambda m, a, b: reduce_to(a, "isub", m.mean(b, 0, keepdims=True)),
    "less the mean of rows": lambda m, a, b: reduce_to(a, "isub", m.mean(b, -1, keepdims=True)),
    "its square over its norm": lambda m, a, b: put(a, b * b / m.sum(b * b)),
    "scaled to a range": lambda m, a, b: put(a, (b - m.min(b)) / (m.max(b) - m.min(b))),
    "all but the first less the mean of all but the last": lambda m, a, b: reduce_to(a[1:], "isub", m.mean(b[:-1])),
    "half less the mean of the other half": lambda m, a, b: reduce_to(
        a[len(a) // 2 :], "isub", m.mean(b[: len(a) // 2], 0)
    ),
    "the sum of all everywhere": lambda m, a, b: put(a, m.sum(b)),
    "the greatest of each row everywhere": lambda m, a, b: put(a, m.max(b, -1, keepdims=True)),
    "added to the sum of the turned": lambda m, a, b: reduce_to(a, "iadd", m.sum(b[::-1])),
    "the first from all": lambda m, a, b: put(a[:1], m.sum(b)),
    "standardised": lambda m, a, b: put(a, standardised(m, b, None)),
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_fold_of_the_target_is_finished_before_it_is_stored_to(name):
    for shape, layout in [((9,), "step2"), ((5, 33), "contiguous"), ((6, 7), "padded"), ((2, 5000), "offset")]:
        in_place(normal(shape) + 3, LEGAL[name], layout)


@pytest.mark.parametrize(
    ("function", "shape", "axis"),
    [
        (softmax, (9,), 0), (softmax, (5, 33), 0), (softmax, (5, 33), 1), (softmax, (3, 4, 17), 0), (softmax, (3, 4, 17), 1),
        (softmax, (3, 4, 17), 2), (softmax, (3, 4, 17), None), (log_softmax, (5, 33), 0), (log_softmax, (3, 4, 17), 1),
        (standardised, (5, 33), 0), (standardised, (5, 33), 1),
    ],
    ids=lambda x: getattr(x, "__name__", str(x)),
)  # fmt: skip
def test_in_place_along_every_axis(function, shape, axis):
    for layout in ("contiguous", "transposed") if function is softmax else ("padded",):
        in_place(normal(shape), lambda m, a, b: put(a, function(m, b, axis)), layout)


@pytest.mark.parametrize("layout", TARGETS)
@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_in_place_in_every_layout(layout, axis):
    in_place(normal((7, 41)), lambda m, a, b: put(a, softmax(m, b, axis)), layout)


def test_wide_rows_in_place():
    """Wider than the columns that are saved at a time."""
    for axis in (0, 1, None):
        in_place(normal((4, 5000)), lambda m, a, b, axis=axis: put(a, softmax(m, b, axis)))
        in_place(normal((4, 5000)), lambda m, a, b, axis=axis: put(a, b - m.mean(b, axis, keepdims=True)))


def test_a_row_fold_inside_a_column_fold_of_wide_rows_is_right_or_refused():
    for width in (7, 600, 2100):
        right_or_refused(normal((3, width)), lambda m, a, b: put(a, m.sum(m.abs(b - m.min(b, 1, keepdims=True)), 0)))


def columns_before(target, source):
    target[:, 1:] -= xt.sum(source[:, :-1], 0)


def test_a_kernel_of_tensors_that_lie_apart_is_checked_where_they_overlap():
    x = normal((4, 5000))
    columns_before(xt.array(x), xt.array(x))
    assert right_or_refused(x, lambda m, a, b: reduce_to(a[:, 1:], "isub", m.sum(b[:, :-1], 0))) in ("refused", "done")


def test_a_refused_statement_is_taken_where_its_tensors_lie_apart():
    x = xt.array(normal((40, 50), dtype="float64"))
    with pytest.raises(xt.AliasError):
        columns_before(x, x)
    columns_before(xt.array(normal((40, 50), dtype="float64")), x)


def right_or_refused(x, statement):
    """NumPy's answer, or AliasError with every element as it was."""
    want, old = x.astype(np.float64), x.astype(np.float64)
    statement(np, want, old)
    t = xt.array(x)
    try:
        statement(xt, t, t)
    except xt.AliasError:
        np.testing.assert_array_equal(t.numpy(), x)
        return "refused"
    close(t.numpy(), want, scale=4)
    return "done"


MIXED = {
    "by the sums of columns and rows": lambda m, a, b: put(a, b / (9 + m.sum(b, 0)) / (9 + m.sum(b, 1, keepdims=True))),
    "double centred": lambda m, a, b: put(a, b - m.mean(b, 0) - m.mean(b, 1, keepdims=True) + m.mean(b)),
    "less its row and the sums of columns": lambda m, a, b: reduce_to(a, "isub", b[:1] + m.mean(b, 0)),
    "a fold of softmax": lambda m, a, b: reduce_to(a, "isub", m.sum(softmax(m, b, 1) * b, 0)),
    "softmax of softmax": lambda m, a, b: put(a, softmax(m, softmax(m, b, 1), 0)),
    "standardised twice": lambda m, a, b: put(a, standardised(m, standardised(m, b, 1), 1)),
    "of the columns before": lambda m, a, b: reduce_to(a[:, 1:], "isub", m.mean(b[:, :-1], 0)),
    "of the rows before": lambda m, a, b: reduce_to(a[1:], "isub", m.mean(b[:-1], 1, keepdims=True)),
    "of the turned": lambda m, a, b: put(a, b - m.mean(b[::-1], 1, keepdims=True)),
    "of the turned columns": lambda m, a, b: put(a, b - m.mean(b[:, ::-1], 1, keepdims=True)),
    "a row from all": lambda m, a, b: put(a[1], m.sum(b, 0)),
    "a column from all": lambda m, a, b: put(a[:, 1], m.sum(b, 1)),
    "half of each row from the other": lambda m, a, b: put(a[:, :2], b[:, 2:4] - m.mean(b, 1, keepdims=True)),
    "the flipped over its sum": lambda m, a, b: put(a, m.flip(b, 0) / (9 + m.sum(b))),
}


@pytest.mark.parametrize("shape", [(5, 7), (33, 4), (4, 5000)], ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_a_statement_on_its_target_is_right_or_refused(name, shape):
    right_or_refused(normal(shape), MIXED[name])


ILLEGAL = {
    "row sums down the columns": lambda t: put(t, t - xt.sum(t, 1)),
    "column sums along the rows": lambda t: put(t, t - xt.reshape(xt.sum(t, 0), (-1, 1))),
    "rows of the turned": lambda t: put(t, t - xt.sum(t[::-1], 1, keepdims=True)),
    "rows of the transposed": lambda t: put(t, t - xt.sum(t.T, 1, keepdims=True)),
    "all, and the transposed": lambda t: put(t, t.T * 1 - xt.sum(t)),
    "all, and the next": lambda t: put(t[:-1], t[1:][::-1] - xt.sum(t)),
    "sums so far": lambda t: put(t[0], xt.sum(xt.where(xt.range(8) <= xt.reshape(xt.range(8), (-1, 1)), t[0], 0.0), 1)),
    "a window": lambda t: put(
        t[0], xt.sum(xt.concat(*(xt.pad(t[0], [(k, 2 - k)])[None, 1:-1] for k in range(3)), axis=0), 0)
    ),
    "inplace": lambda t: xt.assign(t, "inplace", t / xt.sum(t)),
    "inplace, softmax": lambda t: xt.assign(t, "inplace", softmax(xt, t, 1)),
    "inplace, another view": lambda t: xt.assign(t[1:], "inplace", t[1:] - xt.mean(t[:-1])),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_a_fold_of_what_was_stored_is_refused(name):
    x = normal((8, 8))
    t = xt.array(x)
    for _ in range(2):
        with pytest.raises(xt.AliasError):
            ILLEGAL[name](t)
    np.testing.assert_array_equal(t.numpy(), x)


def test_inplace_allows_folds_of_other_tensors():
    x, y = normal((5, 7)), normal((5, 7), 1)
    t = xt.array(x)
    xt.assign(t, "inplace", t - xt.mean(y, 0))
    close(t.numpy(), x - y.mean(0))


def test_a_joined_target_takes_folds():
    a, b, x = xt.zeros(3), xt.zeros(4), normal((5, 7))
    xt.concat(a, b)[...] = xt.mean(xt.asarray(x), 0)
    close(np.concatenate([a.numpy(), b.numpy()]), x.mean(0))
    xt.concat(a, b)[...] = xt.ones(7) * xt.sum(xt.asarray(x))
    close(np.concatenate([a.numpy(), b.numpy()]), np.full(7, x.sum()))


# Errors.

A = xt.ones((3, 4))
WRONG = {
    "no such axis": (lambda: xt.sum(A, 2), xt.ShapeError, "sum: axis 2 is not one of the 2 axes -2 to 1"),
    "no such axis below": (lambda: xt.max(A, -3), xt.ShapeError, "max: axis -3 is not one of the 2 axes -2 to 1"),
    "no such axis among two": (lambda: xt.any(A, (0, 5)), xt.ShapeError, "any: axis 5 is not one of the 2 axes"),
    "no axes": (lambda: xt.sum(xt.zeros(()), 0), xt.ShapeError, "sum: axis 0 of a shape without axes"),
    "twice": (lambda: xt.sum(A, (0, 0)), xt.ShapeError, r"sum: axes \(0, 0\) name an axis of shape \(3, 4\) twice"),
    "twice, one negative": (lambda: xt.prod(A, (1, -1)), xt.ShapeError, r"prod: axes \(1, -1\) name an axis"),
    "var": (lambda: xt.var(A, 2), xt.ShapeError, "var: axis 2"),
    "std": (lambda: xt.std(A, (1, 1)), xt.ShapeError, "twice"),
    "method": (lambda: A.sum(7), xt.ShapeError, "sum: axis 7"),
    "unknown reducer": (lambda: xt.reduce_with_axis(A, 0, "avg"), ValueError, "'avg'; there are sum, prod, max, min, any, all"),
    "unknown reducer of others": (lambda: xt.reduce_except_dim(A, 0, "+"), ValueError, "no reducer '\\+'"),
    "no such dim": (lambda: xt.reduce_except_dim(A, 2), xt.ShapeError, "reduce_except_dim: axis 2"),
    "no such dim to keep": (lambda: xt.reduce_keepdim(A, -4), xt.ShapeError, "reduce_keepdim: axis -4"),
    "mask of a sum": (
        lambda: xt.reduce_with_axis(A, 0, mask=True), ValueError,
        "reduce_with_axis: mask is for the index of an extreme, and 'sum' is none; give 'max' or 'min'",
    ),
    "mask of nothing": (lambda: xt.reduce_keepdim(xt.ones((3, 0)), 1, "min", True), xt.ShapeError, "reduce_keepdim: .*axis 1"),
    "sum_rows": (
        lambda: xt.sum_rows(xt.zeros((2, 3, 4))), xt.ShapeError,
        r"sum_rows: shape \(2, 3, 4\) has 3 axes, it must have two",
    ),
    "sum_rows of a vector": (lambda: xt.sum_rows(xt.zeros(4)), xt.ShapeError, r"sum_rows: shape \(4,\) has 1 axes"),
    "axis is a float": (lambda: xt.sum(A, 1.0), TypeError, "sum: axis"),
    "axis is a string": (lambda: xt.sum(A, "x"), TypeError, "sum: axis"),
    "axes hold None": (lambda: xt.sum(A, (0, None)), TypeError, "sum: axis"),
    "two dims kept": (lambda: xt.reduce_except_dim(A, (0, 1)), (TypeError, xt.ShapeError), "reduce_except_dim"),
    "norm": (lambda: xt.norm(A, 2), xt.ShapeError, "norm: axis 2"),
    "count_nonzero": (lambda: xt.count_nonzero(A, 2), xt.ShapeError, "count_nonzero: axis 2"),
    "sumall_except_dim": (lambda: xt.sumall_except_dim(A, 2), xt.ShapeError, "sumall_except_dim: axis 2"),
    "reduce_with_axis": (lambda: xt.reduce_with_axis(A, 0, "avg"), ValueError, "reduce_with_axis: there is no reducer"),
    "a list": (lambda: xt.sum([1, 2]), TypeError, "sum: a list is no operand"),
    "no such type": (lambda: xt.sum(A, dtype="S3"), xt.DTypeError, "sum: exprten has no element type bytes24"),
    "another shape": (lambda: put(xt.zeros((3, 4)), xt.sum(A, 1)), xt.ShapeError, r"the value has shape \(3,\)"),
    "another type": (lambda: put(xt.zeros(3, xt.int32), xt.sum(A, 1)), xt.DTypeError, "float32"),
    "a product of modes": (lambda: xt.assign(xt.zeros(3, xt.int32), "div", xt.sum(A, 1)), xt.DTypeError, "//="),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_say_what_is_wrong(name):
    call, error, text = WRONG[name]
    with pytest.raises(error, match=text):
        call()


def test_an_axis_that_mean_does_not_have_is_an_error_of_mean():
    with pytest.raises(xt.ShapeError, match="mean: axis 2"):
        xt.mean(A, 2)


@pytest.mark.covering(2)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 70), (70, 5), (16, 16), (20, 33)])
def test_folds_along_both_axes_of_a_transposed_operand(shape, dtype, bits):
    x = (np.arange(math.prod(shape)) % 7).reshape(shape).astype(dtype)
    v = xt.array(x).T
    y = xt.zeros(v.shape, dtype=dtype)
    with xt.options(max_recompute=1e9, vector_bits=bits):
        y[...] = v - xt.sum(v, 0, keepdims=True) + xt.max(v, 1, keepdims=True)
    want = x.T.astype(np.float64)
    want = want - want.sum(0, keepdims=True) + want.max(1, keepdims=True)
    np.testing.assert_array_equal(y.numpy(), want.astype(dtype))


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("mode", ["write", "add"])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(7, 2, 3), (9, 3, 40)])
def test_a_fold_of_folds_along_its_axis_and_across_it(shape, dtype, mode, bits):
    x = np.random.default_rng(3).integers(-3, 4, shape).astype(dtype)
    v = xt.array(x)
    y = xt.transpose(xt.full(shape[::-1], 1, dtype=dtype), (2, 1, 0))
    inner = xt.min(v, 0, keepdims=True) + xt.min(v, (0, 2), keepdims=True)
    with xt.options(max_recompute=1e9, vector_bits=bits):
        xt.assign(y, mode, v + xt.min(inner, 1, keepdims=True))
    want = x + (x.min(0, keepdims=True) + x.min((0, 2), keepdims=True)).min(1, keepdims=True)
    np.testing.assert_array_equal(y.numpy(), want + (mode == "add"))


@pytest.mark.parametrize("shape", [(9, 3, 9, 5), (4, 3, 5, 40)])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_folds_of_four_kinds_in_one_statement(shape, dtype):
    """One of them is computed where columns of another are stored, in lanes: nothing of what it reads is fetched early."""
    x = np.random.default_rng(3).integers(-3, 4, shape).astype(dtype)

    def of(m, x):
        outer = m.var(x, (0, 1, 2), keepdims=True) * m.min(x, (0, 2), keepdims=True)
        return outer * m.sum(x, 3, keepdims=True) * x

    with xt.options(max_recompute=1e9):
        np.testing.assert_allclose(xt.evaluate(of(xt, xt.asarray(x))).numpy(), of(np, x.astype(np.float64)), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [2, 3, 5, 6, 7, 9, 11, 13, 15, 17])
def test_what_is_dear_is_folded_along_rows_of_any_number_of_elements(columns: int, dtype: str) -> None:
    """Elements come some at a time, of which the last ones of a row may be none: there is room for these, and nothing beside is overwritten."""
    values = np.random.default_rng(columns).random((309, columns)).astype(dtype)
    large = values.astype(np.float64)
    for bits in (None, 128, 256):
        with xt.options(vector_bits=bits):
            for fold, of in ((xt.sum, np.sum), (xt.max, np.max)):
                found = xt.evaluate(fold(xt.sin(xt.asarray(values)), 1)).numpy()
                np.testing.assert_allclose(found, of(np.sin(large), 1), 1e-5)
            found = xt.evaluate(xt.sum(xt.tan(xt.asarray(values)) * xt.pow(xt.asarray(values), 2.3), 1)).numpy()
            np.testing.assert_allclose(found, (np.tan(large) * large**2.3).sum(1), 1e-5)
