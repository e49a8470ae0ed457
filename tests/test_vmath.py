"""The functions of vmath: how far from the truth they are, what they do at the edges, and that their bits are the same everywhere."""

import numpy as np
import pytest
from exprten_jit.derived import TABLE, apply
from exprten_jit.dtypes import of_numpy
from strategies import SPECIAL, assert_same_bits, ordinary
from test_ops import compiled, interpreted, kernel_of

import exprten as xt

FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]
ONE = [
    "arccos", "arcsin", "arctan", "cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "rsqrt", "sin",
    "sinh", "tan", "tanh",
]  # fmt: skip
TWO = ["arctan2", "hypot", "power"]
MOST = {"tan": 1.15}  # units of the last place; every other function is within 1


def samples(dtype: np.dtype, seed: int = 0, count: int = 20_000) -> np.ndarray:
    """Every exponent and ordinary numbers, of both signs."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    wide = np.exp2(rng.uniform(info.minexp - info.nmant, info.maxexp, count))
    small = rng.uniform(-2, 2, count)
    signed = np.concatenate([wide, small, 20 * small, 400 * small]) * np.repeat(rng.choice([-1, 1], count), 4)
    with np.errstate(over="ignore"):
        return np.concatenate([signed.astype(dtype), ordinary(dtype, count, rng), SPECIAL[dtype]])


def truth(name: str, *operands: np.ndarray) -> np.ndarray:
    """Float32 by NumPy's float64, float64 by its long double where that is wider."""
    wide = np.float64 if operands[0].dtype == np.float32 else np.longdouble
    if np.finfo(wide).nmant == np.finfo(operands[0].dtype).nmant:
        pytest.skip("long double is no wider than float64 here")
    with np.errstate(all="ignore"):
        return TABLE[name].reference(*(x.astype(wide) for x in operands))


def errors(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """In units of the last place of `want`; 0 where both are NaN, or the same infinity."""
    with np.errstate(all="ignore"):
        near = want.astype(got.dtype)
        unit = np.maximum(np.spacing(np.abs(near)), np.finfo(got.dtype).smallest_subnormal)
        apart = np.abs(got.astype(want.dtype) - want) / unit
    same = (np.isnan(got) & np.isnan(want)) | (got == near)
    return np.where(same & ~np.isfinite(near), 0, apart)


def assert_close(got: np.ndarray, want: np.ndarray, most: float, *operands: np.ndarray) -> None:
    apart = errors(got, want)
    k = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    assert apart[k] < most, f"{apart[k]} units at {[x[k] for x in operands]}: {got[k]!r}, not {want[k]!r}"
    zeros = want == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ONE)
def test_a_function_is_within_one_unit_of_the_last_place(name, dtype):
    x = samples(dtype)
    assert_close(xt.evaluate(getattr(xt, name)(xt.asarray(x))).numpy(), truth(name, x), MOST.get(name, 1), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_is_within_one_unit_of_the_last_place(name, dtype):
    x = samples(dtype)
    with np.errstate(over="ignore"):
        near = x * dtype.type(1.25)
    y = np.concatenate([np.roll(x[::-1], 3), near, np.roll(ordinary(dtype, len(x), np.random.default_rng(2)), 1)])
    x = np.tile(x, 3)
    got = xt.evaluate(getattr(xt, name)(xt.asarray(x), xt.asarray(y))).numpy()
    assert_close(got, truth(name, x, y), MOST.get(name, 1), x, y)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_the_bits_are_the_interpreters_at_every_width(name, dtype):
    row = of_numpy(dtype)
    x = np.concatenate([SPECIAL[dtype], samples(dtype, seed=1, count=30)])
    kernel = kernel_of(lambda *args: apply(name, *args), (row,) * TABLE[name].arity, row)
    operands = [x, np.roll(x, 17), np.roll(x, 5)][: TABLE[name].arity]
    want = interpreted(kernel, operands)
    for bits in (128, 256, 512):
        assert_same_bits(compiled(kernel, operands, bits), want, f"{name}, {bits} bits")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact_powers_have_exact_logarithms(dtype):
    k = np.arange(-20, 21)
    twos = np.exp2(k).astype(dtype)
    np.testing.assert_array_equal(xt.evaluate(xt.log2(twos)).numpy(), k)
    np.testing.assert_array_equal(xt.evaluate(xt.exp2(k.astype(dtype))).numpy(), twos)
    tens = np.arange(11 if dtype == np.float32 else 23)
    np.testing.assert_array_equal(xt.evaluate(xt.log10((10.0**tens).astype(dtype))).numpy(), tens)
