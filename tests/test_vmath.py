"""The functions of vmath: how far from the truth they are, what they do at the edges, and that their bits are the same everywhere."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from exprten_jit.derived import TABLE, apply, tier
from exprten_jit.dtypes import of_numpy
from strategies import SPECIAL, assert_same_bits, ordinary
from test_ops import compiled, interpreted, kernel_of

import exprten as xt

sys.path.insert(0, str(Path(__file__).parent / "accuracy"))
import accuracy

FLOATS = [np.dtype(np.float32), np.dtype(np.float64)]
ONE = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "rsqrt", "sin",
    "sinh", "tan", "tanh",
]  # fmt: skip
TWO = ["arctan2", "hypot", "power", "xlogy"]
SPECIAL_FUNCTIONS = ["erf", "erfc", "erfinv", "gamma", "lgamma", "digamma", "trigamma"]
ACTIVATIONS = ["gelu", "gelu_tanh", "log_sigmoid", "logit", "mish", "sigmoid", "silu", "sinc", "softplus"]
SUMS = ["logaddexp", "logaddexp2"]
MOST = {
    "arctan": 1.05,
    "arctan2": 1.05,
    "sin": 1.005,
    "tan": 1.15,
    "tanh": 1.1,
}  # units of the last place; every other function is within 1


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
def test_large_powers_of_numbers_near_one_are_within_one_unit(dtype):
    """What is left of a logarithm is multiplied by the exponent, and may be as large as one of the 16 powers of 2**(1 / 16)."""
    rng, info = np.random.default_rng(7), np.finfo(dtype)
    x = (1 + rng.choice([-1, 1], 100_000) * np.exp2(rng.uniform(-info.nmant, -1, 100_000))).astype(dtype)
    y = (rng.uniform(-0.99, 0.99, len(x)) * np.log(float(info.max)) / np.log(x.astype(np.float64))).astype(dtype)
    assert_close(xt.evaluate(xt.power(xt.asarray(x), xt.asarray(y))).numpy(), truth("power", x, y), 1, x, y)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", [*ONE, *TWO, *SPECIAL_FUNCTIONS, *ACTIVATIONS, *SUMS])
def test_the_bits_are_the_interpreters_at_every_width(name, dtype):
    row = of_numpy(dtype)
    x = samples(dtype, seed=1, count=4)
    kernel = kernel_of(lambda *args: apply(name, *args), (row,) * TABLE[name].arity, row)
    operands = [x, np.roll(x, 17), np.roll(x, 5)][: TABLE[name].arity]
    want = interpreted(kernel, operands)
    for bits in (128, 256, 512):
        assert_same_bits(compiled(kernel, operands, bits), want, f"{name}, {bits} bits")


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["exp", "exp2", "gamma", "power"])
def test_the_bits_are_the_same_without_an_instruction_that_scales(monkeypatch, name, dtype):
    row, machine = of_numpy(dtype), llvm_run.machine()
    x = samples(dtype, seed=6, count=500)
    operands = [x, np.roll(x, 17)][: TABLE[name].arity]
    kernel = kernel_of(lambda *args: apply(name, *args), (row,) * len(operands), row)
    want = compiled(kernel, operands, 512)
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(machine, scales=False))
    assert_same_bits(compiled(kernel, operands, 512), want, name)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_exact_powers_have_exact_logarithms(dtype):
    k = np.arange(-20, 21)
    twos = np.exp2(k).astype(dtype)
    np.testing.assert_array_equal(xt.evaluate(xt.log2(twos)).numpy(), k)
    np.testing.assert_array_equal(xt.evaluate(xt.exp2(k.astype(dtype))).numpy(), twos)
    tens = np.arange(11 if dtype == np.float32 else 23)
    np.testing.assert_array_equal(xt.evaluate(xt.log10((10.0**tens).astype(dtype))).numpy(), tens)


def above_zero(name: str, x: np.ndarray) -> np.ndarray:
    return np.abs(x) if name in accuracy.POSITIVE else x


@pytest.mark.parametrize("name", [*ONE, *SPECIAL_FUNCTIONS, *ACTIVATIONS])
def test_a_thinned_sweep_of_float32_finds_nothing_worse_than_the_committed_results(name):
    """Every 4099th float: the committed results are of many more."""
    assert accuracy.swept(name, 4099).most <= accuracy.read()[name, "float32"].most + 0.01


@pytest.mark.parametrize("name", [*SPECIAL_FUNCTIONS, *ACTIVATIONS, *SUMS, "log", "sin", "tan", "power"])
def test_float64_is_within_two_units_of_mpmath(name):
    result = accuracy.measured(name, np.dtype(np.float64), 40)
    assert result.inputs > 30
    assert result.most < 2, result


def test_every_function_is_measured_and_within_two_units():
    results = accuracy.read()
    assert {name for name, _ in results} == {*ONE, *TWO, *SPECIAL_FUNCTIONS, *ACTIVATIONS, *SUMS} == set(accuracy.TRUTH)
    assert all(results[name, dtype.name].most < 2 for name in accuracy.TRUTH for dtype in FLOATS)


def test_the_page_shows_the_committed_results():
    assert accuracy.table(accuracy.read()) in accuracy.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SPECIAL_FUNCTIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_special_functions_have_their_values_at_the_edges(name, dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, -3, 0.5, -0.5], dtype)
    got, want = xt.evaluate(getattr(xt, name)(x)).numpy(), TABLE[name].reference(x)
    if name in {"gamma", "digamma", "trigamma"}:
        want[3] = np.nan
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize(("dtype", "low", "high"), [(np.float32, -45, -30), (np.float64, -184, -165)], ids=["f4", "f8"])
def test_gamma_below_zero_ends_in_subnormal_numbers(dtype, low, high):
    x = np.random.default_rng(3).uniform(low, high, 300).astype(dtype)
    got = xt.evaluate(xt.gamma(x)).numpy()
    for each, value in zip(x.tolist(), got.tolist(), strict=True):
        want = accuracy.mp.gamma(each)
        assert abs(value - want) <= 2 * accuracy.unit(want, np.dtype(dtype)), (each, value, want)
    assert 0 < np.min(np.abs(got[got != 0])) < np.finfo(dtype).tiny
    assert np.signbit(got[got == 0]).any() and not np.signbit(got[got == 0]).all()


def test_erfinv_of_small_numbers_is_within_one_unit():
    """Its polynomial is of log(1 - a²) + 3, and ends there."""
    rng = np.random.default_rng(8)
    x = np.concatenate([rng.uniform(-0.06, 0.06, 150), np.exp2(rng.uniform(-1000, -4, 50))])
    for each, value in zip(x.tolist(), xt.evaluate(xt.erfinv(x)).numpy().tolist(), strict=True):
        want = accuracy.mp.erfinv(each)
        assert abs(value - want) < accuracy.unit(want, x.dtype), (each, value, want)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp_rounds_once_and_nextafter_steps(dtype):
    x = np.tile(samples(dtype, count=500), 7)
    n = np.random.default_rng(5).integers(-2400, 2400, len(x))
    n[::2] //= 16
    with np.errstate(all="ignore"):
        assert_same_bits(xt.evaluate(xt.ldexp(x, n)).numpy(), np.ldexp(x, n), "ldexp")
        y = np.roll(x, 5)
        assert_same_bits(xt.evaluate(xt.nextafter(x, y)).numpy(), np.nextafter(x, y), "nextafter")


EDGES = (0, 1, -1, 23, -24, 52, -53, 126, 127, 128, -126, -127, -149, -150, 254, 277, -277, -298, 1023, 1024, -1022, -1023, -1074, -1075, 2046,
         2098, -2098, -2148, 2**24 + 1, -(2**31), 2**31 - 1, 2**31, 2**53 + 1, -(2**63), 2**63 - 1)  # fmt: skip


@pytest.mark.parametrize("whole", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp_has_one_rounding_for_every_exponent_at_every_width(monkeypatch, dtype, whole):
    """Of edges, with the interpreter, and without the instruction, too."""
    info = np.finfo(dtype)
    rng, limits = np.random.default_rng(4), np.iinfo(whole)
    some = (rng.integers(1, 2**20, 40) * float(info.smallest_subnormal)).astype(dtype)
    some = np.concatenate([SPECIAL[dtype], some, -some, rng.normal(size=40).astype(dtype), [info.tiny, -info.max]])
    x, n = (v.ravel() for v in np.meshgrid(some.astype(dtype), [n for n in EDGES if limits.min <= n <= limits.max]))
    n = n.astype(whole)
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    assert_same_bits(xt.evaluate(xt.ldexp(x, n)).numpy(), want, "ldexp")
    row, types = of_numpy(dtype), np.ldexp.resolve_dtypes((dtype, n.dtype, None))
    kernel = kernel_of(lambda *args: apply("ldexp", *args), (row, of_numpy(types[1])), row)
    operands, machine = [x, n.astype(types[1])], llvm_run.machine()
    assert_same_bits(interpreted(kernel, operands), want, "interpreted")
    for scales in {machine.scales, False}:
        monkeypatch.setattr(llvm_run, "machine", lambda scales=scales: replace(machine, scales=scales))
        for bits in (128, 256, 512):
            assert_same_bits(compiled(kernel, operands, bits), want, f"{bits} bits, {scales=}")


def test_ldexp_of_one_number_or_one_exponent_is_that_of_all():
    x, n = np.float32([1.5, -3e-40, np.inf, 3e38, -0.0] * 9), np.arange(-200, 205, 9, dtype=np.int32)
    with np.errstate(all="ignore"):
        assert_same_bits(xt.evaluate(xt.ldexp(np.float32(1.7), n)).numpy(), np.ldexp(np.float32(1.7), n))
        for one in (-160, 3, 2**31 - 1):
            assert_same_bits(xt.evaluate(xt.ldexp(x, np.int32(one))).numpy(), np.ldexp(x, np.int32(one)))
            assert_same_bits(xt.evaluate(xt.ldexp(x, one)).numpy(), np.ldexp(x, one))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_ldexp_is_an_instruction_where_the_machine_has_one(dtype):
    x, n, out = xt.ones(1000, dtype), xt.ones(1000, np.int32), xt.empty(1000, dtype=dtype)
    plan = xt.plan(out, xt.ldexp(x, n))
    assert "times_power(" in plan.ir
    if llvm_run.machine().scales:
        assert "vscalef" in plan.asm
        assert "rare" not in plan.llvm


def test_what_is_rare_is_computed_where_a_lane_asks_for_it():
    x = np.ones(67)
    for k in (0, 7, 33, 66):
        far = x.copy()
        far[k] = 1e300
        assert_same_bits(xt.evaluate(xt.sin(far)).numpy(), np.where(far > 1, np.sin(1e300), np.sin(1.0)), "sin")
    nested = xt.evaluate(xt.lgamma(np.array([-0.5, 3.0, -1e-200, np.inf]))).numpy()
    np.testing.assert_allclose(nested, [1.2655121234846454, np.log(2), 460.51701859880916, np.inf], rtol=1e-15)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_next_to_whole_quarters_little_is_left_of_an_argument_and_all_of_it_is_right(name):
    k = np.concatenate([np.arange(1, 2000), np.random.default_rng(7).integers(2000, 1 << 22, 4000)])
    near = (k * (np.pi / 2)).astype(np.float32)
    x = np.concatenate([near, np.nextafter(near, np.float32(0)), np.nextafter(near, np.float32(np.inf)), -near])
    got = xt.evaluate(getattr(xt, name)(xt.asarray(x))).numpy()
    assert_close(got, truth(name, x), MOST.get(name, 1), x)


@pytest.mark.parametrize("name", ["sin", "cos", "log", "sinh", "cbrt", "tanh"])
def test_the_bits_are_the_same_where_lookups_are_loads(monkeypatch, name):
    row, machine = of_numpy(np.dtype(np.float32)), llvm_run.machine()
    x = samples(row.numpy, seed=9, count=500)
    kernel = kernel_of(lambda a: apply(name, a), (row,), row)
    want = compiled(kernel, [x], 512)
    for permutes in (True, False):
        if permutes and "+avx2" not in llvm_run.host_cpu()[1].split(","):
            continue
        alike = replace(machine, scales=False, permutes=permutes)
        monkeypatch.setattr(llvm_run, "machine", lambda alike=alike: alike)
        assert_same_bits(compiled(kernel, [x], 256), want, f"{name}, {permutes=}")


LOGARITHMS = ["log", "log2", "log10"]
FAST = [row.name for row in TABLE.values() if getattr(row, "fast", None)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", FAST)
def test_the_fast_tier_is_within_four_units(name, dtype):
    x = samples(dtype, seed=3)
    function = getattr(xt, name)
    with xt.options(fast_math=True):
        got = xt.evaluate(function(xt.asarray(x))).numpy()
    # the references of activations are slow; ours of float64 are measured against mpmath
    want = xt.evaluate(function(x.astype(np.float64))).numpy() if name in ACTIVATIONS else truth(name, x)
    apart = errors(got, want)
    most = 4 - (accuracy.read()[name, "float64"].most if want.dtype == dtype else 0)
    assert apart.max() < most, f"{apart.max()} at {x[np.argmax(apart)]}"
    plain = xt.evaluate(function(xt.asarray(x))).numpy()
    assert (plain.tobytes() == got.tobytes()) == ((name, dtype) in ONE_TIER)  # it is another formula
    edges = ~np.isfinite(want) | (want == 0)
    assert_same_bits(got[edges], want[edges].astype(dtype), name)


ONE_TIER = [
    ("tan", np.float64),
    ("tanh", np.float32),
    ("arctan", np.float64),
    ("cosh", np.float64),
    ("log2", np.float32),
    ("log10", np.float32),
]


@pytest.mark.parametrize("name", FAST)
def test_the_bits_of_the_fast_tier_are_the_interpreters_at_every_width(name):
    row = of_numpy(np.dtype(np.float32))
    x = samples(row.numpy, seed=8, count=4)
    with tier(True):
        kernel = kernel_of(lambda a: apply(name, a), (row,), row)
    want = interpreted(kernel, [x])
    for bits in (128, 512):
        assert_same_bits(compiled(kernel, [x], bits), want, f"{name}, {bits} bits")


@pytest.mark.parametrize("name", [*LOGARITHMS, "log1p", "expm1", "tanh", "cosh", "tan", "sin", "cos", "exp"])
def test_a_thinned_sweep_of_float32_finds_the_fast_tier_within_four_units(name):
    """Every 16381st float."""
    with xt.options(fast_math=True):
        fast = xt.plan(xt.zeros(accuracy.CHUNK), getattr(xt, name)(x := xt.zeros(accuracy.CHUNK)))
    for each in accuracy.floats(16381):
        x.numpy()[: len(each)] = each
        with np.errstate(all="ignore"):
            want = getattr(np, name)(each.astype(np.float64))
        apart = errors(fast.run().numpy()[: len(each)], want)
        assert apart.max() < 4, f"{apart.max()} at {each[np.argmax(apart)]!r}"


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_fast_logarithms_of_powers_of_two_are_exact(dtype):
    k = np.arange(-120, 121)
    with xt.options(fast_math=True):
        np.testing.assert_array_equal(xt.evaluate(xt.log2(np.exp2(k).astype(dtype))).numpy(), k)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["arccosh", "arcsinh", "cbrt", "arcsin", "erf"])
def test_fast_math_does_not_contract_a_formula(name, dtype):
    x = samples(dtype, seed=4)
    plain = xt.evaluate(getattr(xt, name)(xt.asarray(x))).numpy()
    with xt.options(fast_math=True):
        assert_same_bits(xt.evaluate(getattr(xt, name)(xt.asarray(x))).numpy(), plain, name)


@pytest.mark.parametrize(("one", "other"), [("sin", "cos"), ("sinh", "cosh")])
def test_functions_of_one_argument_share_its_reduction(one, other):
    x, y = xt.zeros(100), xt.zeros(100)
    a, b = getattr(xt, one)(x), getattr(xt, other)(x)
    alone, both = len(xt.plan(y, a).ir.splitlines()), len(xt.plan(y, a + b).ir.splitlines())
    assert both < 1.4 * alone
