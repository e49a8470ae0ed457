"""The list of functions: nothing of NumPy or of the array API's elements is missing without a reason, and names that mean the same are the same."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from exprten_jit.derived import TABLE
from strategies import SPECIAL, assert_same_bits

import exprten as xt
from exprten.functions import ALIASES

REFUSED = {"isnat": "there are no dates"}
UFUNCS = sorted(name for name in dir(np) if isinstance(getattr(np, name), np.ufunc))

# The array API's element-wise functions, 2024.12.
ARRAY_API = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift
    bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot imag
    isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum
    minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt
    subtract tan tanh trunc
""".split()  # noqa: SIM905
NO_COMPLEX = {"imag": "a part of complex numbers", "real": "a part of complex numbers"}

# SciPy's, and others that are asked for.
SPECIAL_NAMES = """
    cbrt cube digamma erf erfc erfinv expit gamma gelu ldexp lgamma log_sigmoid logit mish psi rsqrt sigmoid silu sinc softplus trigamma xlogy
""".split()  # noqa: SIM905


def test_every_ufunc_of_numpy_is_there_or_refused_with_a_reason():
    assert len(UFUNCS) > 90
    missing = [name for name in UFUNCS if not callable(getattr(xt, name, None))]
    assert missing == sorted(REFUSED)


def test_every_element_wise_function_of_the_array_api_is_there_or_refused_with_a_reason():
    missing = {name for name in ARRAY_API if not callable(getattr(xt, name, None))}
    assert missing <= set(NO_COMPLEX)


def test_every_special_function_is_there():
    assert not [name for name in SPECIAL_NAMES if not callable(getattr(xt, name, None))]


def _example(ufunc: np.ufunc) -> list[np.ndarray]:
    """Operands that a ufunc takes."""
    rng = np.random.default_rng(3)
    if ufunc.signature is not None:
        shape = (3, 3) if ufunc is np.matmul else (3,)
        return [
            rng.random((3, 3) if ("m" in part) == (part.count(",") > 0) and "," in part else shape)
            for part in _parts(ufunc)
        ]
    for dtype in (np.float64, np.int32):
        operands = [rng.uniform(1, 5, 7).astype(dtype) for _ in range(ufunc.nin)]
        if ufunc is np.ldexp:
            operands[1] = operands[1].astype(np.int32)
        if ufunc in (np.arccos, np.arcsin, np.arctanh):
            operands[0] /= 6
        try:
            ufunc(*operands)
        except TypeError:
            continue
        return operands
    raise AssertionError(ufunc)


def _parts(ufunc: np.ufunc) -> list[str]:
    return ufunc.signature.split("->")[0].replace(")(", ")|(").replace("),(", ")|(").split("|")


@pytest.mark.parametrize("name", [n for n in UFUNCS if n not in REFUSED])
def test_a_ufunc_of_a_tensor_is_ours_of_it_and_gives_numpys_values(name):
    ufunc = getattr(np, name)
    operands = _example(ufunc)
    made, ours = (f(*map(xt.asarray, operands)) for f in (ufunc, getattr(xt, name)))
    want = ufunc(*operands)
    pairs = zip(made, ours, want, strict=True) if ufunc.nout > 1 else [(made, ours, want)]
    for e, own, value in pairs:
        got = xt.evaluate(e).numpy()
        assert got.dtype == value.dtype
        np.testing.assert_allclose(got, value, rtol=2e-15)
        assert_same_bits(xt.evaluate(own).numpy(), got, name)


def test_other_names_are_the_same_functions():
    for alias, name in ALIASES.items():
        assert getattr(xt, alias) is getattr(xt, name)
    assert (xt.abs, xt.pow, xt.expit) == (xt.absolute, xt.power, xt.sigmoid)
    page = (Path(xt.__file__).parents[1] / "docs/expressions.md").read_text(encoding="utf-8")
    for alias, name in ALIASES.items():
        assert f"| `{alias}` | `{name}` |" in page


# Two results, and arguments that are no operands.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frexp_and_modf_are_numpys_and_come_together_again(dtype):
    x = SPECIAL[np.dtype(dtype)]
    x = x[np.isfinite(x)]
    for ours, theirs in ((xt.frexp, np.frexp), (xt.modf, np.modf)):
        for e, want in zip(ours(x), theirs(x), strict=True):
            assert_same_bits(xt.evaluate(e).numpy(), want, ours.__name__)
    m, e = xt.frexp(xt.array(x))
    assert_same_bits(xt.evaluate(xt.ldexp(m, e)).numpy(), x, "ldexp of frexp")


def test_the_parts_of_infinity_and_nan():
    x = np.array([np.inf, -np.inf, np.nan, -0.0])
    m, e = (xt.evaluate(part).numpy() for part in xt.frexp(x))
    assert_same_bits(m, x, "mantissa")
    assert e.tolist() == [0, 0, 0, 0]
    assert_same_bits(xt.evaluate(xt.modf(x)[0]).numpy(), np.array([0.0, -0.0, np.nan, -0.0]), "fraction")


@pytest.mark.parametrize(("a", "b"), [("int32", "int32"), ("float64", "float64"), ("uint8", "int32")])
def test_divmod_is_numpys(a, b):
    x, y = (v.ravel() for v in np.meshgrid(SPECIAL[np.dtype(a)], SPECIAL[np.dtype(b)][1:]))
    with np.errstate(all="ignore"):
        want = np.divmod(x, y)
    for got in (divmod(xt.array(x), xt.array(y)), np.divmod(xt.array(x), y), xt.divmod(x, y)):
        for e, value in zip(got, want, strict=True):
            assert_same_bits(xt.evaluate(e).numpy(), value, "divmod")
    q, r = divmod(7.5, xt.array([2.0]))
    assert (q.item(), r.item()) == (3.0, 1.5)


def test_two_results_of_one_operand_in_a_kernel_share_the_work():
    x, y, q, r = (xt.array(v) for v in ([7, -7, 9], [4, 4, 4], [0, 0, 0], [0, 0, 0]))

    @xt.kernel
    def both(x, y, q, r):
        a, b = divmod(x, y)
        q[...] = a
        r[...] = b

    both(x, y, q, r)
    assert q.numpy().tolist() == [1, -2, 2]
    assert r.numpy().tolist() == [3, 1, 1]
    assert both.plan(x, y, q, r).nest.count("quotient(") == 1


@pytest.mark.parametrize("decimals", [0, 1, 2, -1])
def test_round_is_numpys(decimals):
    x = np.array([0.25, -1.55, 2.5, 1234.5678, -15.0, 1e300, np.inf, np.nan, -0.4])
    for e in (xt.round(x, decimals), round(xt.array(x), decimals)):
        assert_same_bits(xt.evaluate(e).numpy(), np.round(x, decimals), "round")


def test_round_of_integers_is_what_they_are():
    x = np.array([-5, 0, 7])
    assert_same_bits(xt.evaluate(xt.round(x)).numpy(), x, "round")
    with pytest.raises(ValueError, match="round: -1 decimals of integers"):
        xt.round(x, -1)


@pytest.mark.parametrize("given", [{}, {"nan": 1.5}, {"posinf": 7.0, "neginf": -3.0}])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_nan_to_num_is_numpys(dtype, given):
    x = SPECIAL[np.dtype(dtype)]
    assert_same_bits(xt.evaluate(xt.nan_to_num(x, **given)).numpy(), np.nan_to_num(x, **given), "nan_to_num")


@pytest.mark.parametrize("shapes", [((5,), (5,)), ((3, 5), (5,)), ((2, 1, 5), (3, 5))])
def test_products_of_vectors_are_numpys(shapes):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, s).astype(np.float64) for s in shapes)  # sums that are exact
    m = rng.integers(-9, 9, (4, 5)).astype(np.float64)
    assert_same_bits(xt.evaluate(xt.vecdot(a, b)).numpy(), np.vecdot(a, b), "vecdot")
    assert_same_bits(xt.evaluate(xt.matvec(m, b)).numpy(), np.matvec(m, b), "matvec")
    assert_same_bits(xt.evaluate(xt.vecmat(b, m.T)).numpy(), np.vecmat(b, m.T), "vecmat")


@pytest.mark.parametrize(
    ("name", "shapes"), [("vecdot", ((), (3,))), ("matvec", ((3,), (3,))), ("vecmat", ((3,), (3,)))]
)
def test_products_of_vectors_refuse_what_is_none(name, shapes):
    with pytest.raises(xt.ShapeError, match=f"{name}: shapes .* axes at least"):
        getattr(xt, name)(*(np.ones(s) for s in shapes))


# Sigmoids: tails that a plain formula loses.


@pytest.mark.parametrize("name", [n for n in xt.library.__all__ if n in TABLE and TABLE[n].arity == 1 and n != "logit"])
def test_a_tail_keeps_its_digits(name):
    x = np.array([-700.0, -100.0, -38.0, -30.0, -12.0, -5.0, 5.0, 30.0, 100.0, 700.0])
    x = x[x > -39] if name.startswith("gelu") else x
    x = x[x > -20] if name == "gelu_tanh" else x
    got, want = xt.evaluate(getattr(xt, name)(x)).numpy(), TABLE[name].reference(x)
    assert np.all(want != 0)
    np.testing.assert_allclose(got, want, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sinc_is_zero_at_whole_numbers_alone(dtype):
    x = np.array([0.5, 1.5, 7, -8, 2.0**22 + 0.5, 2.0**50 + 0.25, 2.0**51 + 1.5, 2.0**53, 1e30, np.inf, -np.inf], dtype)
    np.testing.assert_allclose(
        xt.evaluate(xt.sinc(x)).numpy(), TABLE["sinc"].reference(x), rtol=3e-16 if dtype == "float64" else 1e-7
    )


def test_logaddexp_of_far_and_equal_numbers():
    with np.errstate(all="ignore"):
        for a, b in itertools.product([0.0, -0.0, -800.0, 1e308, -1e308, np.inf, -np.inf, np.nan], repeat=2):
            for name in ("logaddexp", "logaddexp2"):
                got, want = (
                    xt.evaluate(getattr(xt, name)(np.float64(a), np.array([b]))).numpy(),
                    getattr(np, name)(a, np.array([b])),
                )
                np.testing.assert_allclose(got, want, rtol=1e-15)
                assert np.signbit(got) == np.signbit(want) or np.isnan(want)


def test_operations_have_gradients_also_where_they_are_rows_of_the_table():
    x = xt.array([-3.0, 0.5])
    assert xt.evaluate(xt.softplus.grad(0)(x)).numpy() == pytest.approx(xt.evaluate(xt.sigmoid(x)).numpy(), rel=1e-15)
    assert xt.mish.grad(0).grad(0)(0.0) == pytest.approx(0.64)


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e300), ("float32", 1e38), ("float16", 6e4)])
@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_tanh", "mish"])
def test_slopes_of_activations_are_their_limits_at_both_ends(name, dtype, most, interpret):
    x, slope = np.array([-np.inf, -most, -300, 300, most, np.inf, np.nan], dtype), getattr(xt, name).grad(0)
    with xt.options(interpret=interpret):
        first, second = xt.evaluate(slope(x)).numpy(), xt.evaluate(slope.grad(0)(x)).numpy()
    np.testing.assert_allclose(first, np.array([0, 0, 0, 1, 1, 1, np.nan], dtype), atol=1e-120)
    np.testing.assert_allclose(second, np.array([0, 0, 0, 0, 0, 0, np.nan], dtype), atol=1e-120)


def test_clip_without_a_bound():
    x = np.array([-2.0, np.nan, 0.5, 3.0])
    for low, high in ((None, 1), (-1, None), (None, None), (-1, 1)):
        np.testing.assert_array_equal(xt.evaluate(xt.clip(xt.asarray(x), low, high)).numpy(), np.clip(x, low, high))
