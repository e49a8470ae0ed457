"""Complex numbers: every operation on special values against NumPy, in every layout, mode and width, and what stands around them."""

import itertools
import operator
from typing import Any

import mpmath
import numpy as np
import pytest
from exprten_jit.dtypes import DTYPES, ROWS
from exprten_jit.interpret import interpret
from strategies import TARGETS, assert_same_bits, assert_within_ulps, place, ulps

import exprten as xt

COMPLEX = [row.numpy for row in ROWS if row.part]
PARTS = [0.0, -0.0, 1.0, -1.0, 2.5, -0.1, 1e-30, 3e30, np.inf, -np.inf, np.nan]


def special(dtype: Any) -> np.ndarray:
    """Every special real part with every special imaginary one, and a few of all sizes."""
    part = DTYPES[np.dtype(dtype).name].real.numpy
    info = np.finfo(part)
    found = np.array([*PARTS, info.max, -info.tiny, info.smallest_subnormal], part)
    out = np.empty((len(found), len(found)), dtype)
    out.real, out.imag = found[:, None], found
    return out.ravel()


def every_pair(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    x = special(dtype)
    a, b = np.meshgrid(x, x)
    return a.ravel(), b.ravel()


def parts(x: np.ndarray) -> np.ndarray:
    """(..., n) complex -> (..., n, 2) real."""
    x = np.ascontiguousarray(x)
    return x.view(x.real.dtype).reshape(*x.shape, -1)


def assert_same(got: np.ndarray, want: Any, what: str = "", signed_zero: bool = True) -> None:
    """The same bits in both parts."""
    want = np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (
        f"{what}: {got.dtype} {got.shape}, not {want.dtype} {want.shape}"
    )
    assert_same_bits(parts(got), parts(want), what, signed_zero)


def some(dtype: Any, shape: Any, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def of_parts(re: Any, im: Any) -> np.ndarray:
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    out.real, out.imag = re, im
    return out


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Each product rounded, then each sum: NumPy's bits for scalars; of arrays it fuses them where the processor can."""
    return of_parts(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


# What the function of exprten's name is in NumPy, to the bit.
UNARY = {
    name: getattr(np, name)
    for name in ("negative", "positive", "conjugate", "real", "imag", "reciprocal", "rint", "isnan", "isinf", "isfinite",
                 "logical_not", "ones_like")
} | {"square": lambda a: product(a, a), "cube": lambda a: product(product(a, a), a), "identity": np.array}  # fmt: skip
BINARY = {
    name: getattr(np, name)
    for name in ("add", "subtract", "divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "maximum",
                 "minimum", "fmax", "fmin", "logical_and", "logical_or", "logical_xor")
} | {"multiply": product}  # fmt: skip


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_have_numpys_bits(name, dtype):
    x = special(dtype)
    with np.errstate(all="ignore"):
        want = UNARY[name](x)
    assert_same(xt.evaluate(getattr(xt, name)(x)).numpy(), want, name)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_have_numpys_bits(name, dtype):
    a, b = every_pair(dtype)
    with np.errstate(all="ignore"):
        want = BINARY[name](a, b)
    assert_same(xt.evaluate(getattr(xt, name)(a, b)).numpy(), want, name)


def test_a_product_is_that_of_numpys_scalars():
    a, b = some(np.complex128, 300), some(np.complex128, 300, 1)
    assert_same(xt.evaluate(xt.asarray(a) * b).numpy(), np.array([x * y for x, y in zip(a, b, strict=True)]))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", ["absolute", "angle", "sign"])
def test_size_and_angle(name, dtype):
    x = np.concatenate([special(dtype), some(dtype, 500)])
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x)
    assert_within_ulps(parts(xt.evaluate(getattr(xt, name)(x)).numpy()), parts(want), 2, name)


# Functions: each part within 4 units of its last place, also where it is a small difference of large numbers.

TRUTH: dict[str, Any] = {
    "sqrt": mpmath.sqrt, "exp": mpmath.exp, "exp2": lambda z: mpmath.exp(z * mpmath.log(2)), "expm1": lambda z: mpmath.exp(z) - 1,
    "log": mpmath.log, "log2": lambda z: mpmath.log(z) / mpmath.log(2), "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z), "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "tanh": mpmath.tanh, "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan,
    "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh, "arctanh": mpmath.atanh,
}  # fmt: skip
BOUNDED = {"exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"}  # of arguments of moderate size here


def samples(name: str, count: int = 12) -> np.ndarray:
    """Ordinary numbers, those with parts of all sizes, those near the unit circle, and near ±1 and ±i."""
    rng = np.random.default_rng(len(name))
    near = np.array([1, -1, 1j, -1j])[rng.integers(0, 4, count)]
    near = near + some(np.complex128, count, 1) * 10.0 ** rng.integers(-12, 0, count)
    turns = np.exp(1j * rng.uniform(-4, 4, count))
    far = 3 if name in BOUNDED else 150
    sizes = 10.0 ** rng.integers(-100, far, (2, count)) * rng.standard_normal((2, count))
    if name in BOUNDED:
        sizes = np.clip(sizes, -700, 700)
    return np.concatenate([some(np.complex128, count, 2) * 3, of_parts(*sizes), turns, near])


def units(got: Any, want: Any) -> float:
    """How far a number is from a true one, in units of its last place."""
    place = np.spacing(np.abs(type(got)(float(want))))
    return float(abs(mpmath.mpf(float(got)) - want) / mpmath.mpf(float(place)))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, COMPLEX[1]) for name in TRUTH), *((name, COMPLEX[0]) for name in ("sqrt", "log", "arccosh"))],
    ids=str,
)
def test_functions_are_within_four_units_of_mpmath(name, dtype):
    x = samples(name)
    if dtype == np.complex64:
        small = np.minimum(abs(x.real), abs(x.imag)) > 1e-6
        x = x[small & (abs(x) < (30 if name in BOUNDED else 1e15))].astype(dtype)
    got = xt.evaluate(getattr(xt, name)(x)).numpy()
    with mpmath.workprec(1000):
        for z, w in zip(x.tolist(), got, strict=True):
            want = TRUTH[name](mpmath.mpc(z))
            assert units(w.real, want.real) <= 4, (z, w, want)
            assert units(w.imag, want.imag) <= 4 or abs(want.imag) < 1e-290, (z, w, want)


NEXT_TO_NOTHING = {
    "exp2": [complex(300, 0), complex(94.2, -0.0), complex(300, 5e-324), complex(-1000, 1e-310)],
    "arcsin": [complex(x, y) for x in (1, -1) for y in (5e-324, 1.5e-323, 1e-310)],
    "arctanh": [complex(x, y) for x in (1.7e308, -4e307) for y in (1.7e308, 4e307)],
}  # fmt: skip
NEXT_TO_NOTHING |= {"arccos": NEXT_TO_NOTHING["arcsin"], "arccosh": NEXT_TO_NOTHING["arcsin"]}
NEXT_TO_NOTHING |= {"arcsinh": [z * 1j for z in NEXT_TO_NOTHING["arcsin"]], "arctan": NEXT_TO_NOTHING["arctanh"]}


@pytest.mark.parametrize("name", NEXT_TO_NOTHING)
def test_parts_and_results_next_to_nothing_are_within_four_units(name):
    x = np.array(NEXT_TO_NOTHING[name])
    got = xt.evaluate(getattr(xt, name)(x)).numpy()
    with mpmath.workprec(3000):
        for z, w in zip(x.tolist(), got, strict=True):
            want = TRUTH[name](mpmath.mpc(z))
            assert units(w.real, want.real) <= 4 and units(w.imag, want.imag) <= 4, (z, w, want)


def cancelling() -> dict[str, list[np.ndarray]]:
    """Where a part is what two large numbers leave: nearly all of each other."""
    rng = np.random.default_rng(5)
    y, close = rng.uniform(-1.5, 1.5, 30), 2.0 ** rng.uniform(-52, -1, 30)
    small, turns = y * 2.0 ** -rng.integers(0, 20, 30), rng.uniform(-4, 4, 30)
    size = 10 ** rng.uniform(0, 3, 30)
    exponent, base = size * np.exp(1j * turns), np.exp(np.minimum(3, 500 / size) * of_parts(y, turns / 4))
    zeros = [-np.log(np.cos(y)) * (1 + close), small * small / 2 * (1 + close)]
    expm1 = np.concatenate([of_parts(x, angle) for x, angle in zip(zeros, (y, small), strict=True)])
    circle = np.array([-0.9999445893588922 + 0.010527022935116538j, -0.10224603324615553 - 0.9947591410414011j])
    return {"expm1": [expm1], "power": [base, exponent], "log": [circle]}


@pytest.mark.parametrize("name", cancelling())
def test_what_cancels_is_within_four_units_too(name):
    operands = cancelling()[name]
    got = xt.evaluate(getattr(xt, name)(*map(xt.asarray, operands))).numpy()
    with mpmath.workprec(2000):
        for *z, w in zip(*(x.tolist() for x in operands), got, strict=True):
            want = (TRUTH | {"power": mpmath.power})[name](*map(mpmath.mpc, z))
            assert units(w.real, want.real) <= 4 and units(w.imag, want.imag) <= 4, (z, w, want)


EDGES = [0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 1e300, -1e-300, 30.0, -710.0, 1500.0, np.inf, -np.inf, np.nan]
# where NumPy's, made of other functions, loses what the true value has
OWN_EDGES = {"expm1", "log1p", "exp2"}


@pytest.mark.parametrize("name", TRUTH)
def test_functions_have_numpys_special_values(name):
    x = np.array([complex(a, b) for a in EDGES for b in EDGES])
    with np.errstate(all="ignore"):
        want = parts(getattr(np, name)(x))
    got = parts(xt.evaluate(getattr(xt, name)(x)).numpy())
    # NumPy's exp2 multiplies by ln 2 first, and loses what its exp asks for
    turned = np.isfinite(x) & (np.maximum(abs(x.real), abs(x.imag)) > 1.2)
    compared = ~(turned & (name == "exp2"))[:, None] & ~((name in OWN_EDGES) & (np.isnan(want) | (abs(want) < 1e-290)))
    both = np.isinf(x.real) & ~np.isfinite(x.imag) | np.isinf(x.imag) & ~np.isfinite(x.real)
    got, want = (np.where(both[:, None] & np.isinf(v), np.inf, v) for v in (got, want))  # C leaves their sign open
    apart = np.where(compared, ulps(got, want), 0)
    assert (apart <= 8).all(), [(x[k // 2], got[k // 2], want[k // 2]) for k in np.flatnonzero(apart > 8)[:4]]
    zeros = (got == 0) & (want == 0) & compared & np.isfinite(x)[:, None]
    assert (np.signbit(got) == np.signbit(want))[zeros].all(), "the side of a branch cut"


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_powers(dtype):
    a, b = some(dtype, 300), some(dtype, 300, 1)
    got = xt.evaluate(xt.asarray(a) ** xt.asarray(b)).numpy()
    with mpmath.workprec(300):
        for z, n, w in zip(a[::10].tolist(), b[::10].tolist(), got[::10], strict=True):
            want = mpmath.power(mpmath.mpc(z), mpmath.mpc(n))
            assert units(w.real, want.real) <= 4 and units(w.imag, want.imag) <= 4
    for exponent in (-1, 0, 0.5, 2, 3):
        np.testing.assert_allclose(xt.evaluate(xt.asarray(a) ** exponent).numpy(), a**exponent, rtol=1e-5)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_float_power_is_power_of_complex128(dtype):
    a, b = some(dtype, 40), some(dtype, 40, 1)
    got = xt.evaluate(xt.float_power(a, b)).numpy()
    assert got.dtype == np.float_power(a, b).dtype
    assert_same(got, xt.evaluate(xt.power(a.astype("c16"), b.astype("c16"))).numpy(), "float_power")


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("exponent", [2, 3, 7, 24, 99, -1, -5, -60])
def test_whole_powers_are_right_where_they_cancel(dtype, exponent):
    rng = np.random.default_rng(exponent + 100)
    # The power lies on an axis, nearly.
    quarters = rng.integers(0, 4 * abs(exponent), 60) + 2.0 ** rng.uniform(-44, -1, 60)
    turns = quarters / abs(exponent) * np.pi / 2
    a = (2 ** rng.uniform(-0.9, 0.9, 60) * np.exp(1j * turns)).astype(dtype)
    got = xt.evaluate(xt.power(xt.asarray(a), np.full(60, exponent, dtype))).numpy()
    with mpmath.workprec(700):
        for z, w in zip(a.tolist(), got, strict=True):
            want = mpmath.mpc(z) ** exponent
            assert units(w.real, want.real) <= 4 and units(w.imag, want.imag) <= 4, (z, w, want)


def test_whole_powers_have_numpys_special_values():
    edges = np.array([0.0, -0.0, 1.0, 1e200, -1e-200, 5e-324, np.inf, -np.inf, np.nan])
    a = (edges[:, None] + 0j).repeat(len(edges), 1)
    a.imag = edges
    for n in (0, 1, 2, 3, 5, -1, -2, -3):
        with np.errstate(all="ignore"):
            want = parts(np.power(a.ravel(), np.full(a.size, n, complex)))
        got = parts(xt.evaluate(xt.power(xt.asarray(a.ravel()), np.full(a.size, n, complex))).numpy())
        apart = ~np.isclose(got, want, rtol=1e-14, atol=0, equal_nan=True)
        apart &= ~np.isnan(want) | (n > 0)  # NumPy's quotient by what overflowed is NaN, ours 0
        assert not apart.any(), (n, a.ravel()[np.nonzero(apart)[0][:4]], got[apart][:4], want[apart][:4])


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_negative_powers_are_0_where_the_positive_one_is_no_number(dtype):
    a = np.array([-1e4 + 88j, 3e38 + 1j, -1e38 - 3e38j, 1e30 + 1e20j], dtype)
    assert np.array_equal(xt.evaluate(xt.power(a, np.full(4, -88, dtype))).numpy(), np.zeros(4))
    small = np.array(
        [1.2e3 + 8e2j, -1.3e3 - 6e2j], np.complex128
    )  # beyond the largest number, and one over it above the least
    got = xt.evaluate(xt.power(small, np.full(2, -98, np.complex128))).numpy()
    with mpmath.workprec(700):
        for z, w in zip(small.tolist(), got, strict=True):
            want = mpmath.mpc(z) ** -98
            assert units(w.real, want.real) <= 4 and units(w.imag, want.imag) <= 4, (z, w, want)


def test_powers_of_0_are_numpys():
    exponents = np.array(
        [1, 1 + 1j, 1e-3 + 5j, 5 - 1j, 0.5, -1 + 1j, 1j, -1, 0, complex(1, np.inf), complex(1, np.nan)]
    )
    for zero in (0j, complex(-0.0, -0.0)):
        got = xt.evaluate(xt.power(np.full(exponents.shape, zero), exponents)).numpy()
        nan = complex(np.nan, np.nan)
        assert_same(got, np.array([0, 0, 0, 0, 0, nan, nan, nan, 1, 0, 0], complex))


def test_whole_powers_of_whole_numbers_are_exact():
    rng = np.random.default_rng(0)
    a = of_parts(rng.integers(-5, 6, 40).astype(float), rng.integers(-5, 6, 40).astype(float))
    for n in (0, 1, 2, 3, 4, 7, 11):
        with np.errstate(all="ignore"):
            want = np.power(a, np.full(40, n, complex))
        assert_same(xt.evaluate(xt.power(a, np.full(40, n, complex))).numpy(), want, str(n), signed_zero=False)


def judged(plan: Any) -> np.ndarray:
    """What the interpreter says that a plan of packed tensors will store, as the parts of complex numbers."""
    (statement, launch), kernel = plan._prepared, plan._code.kernel
    views = (*statement.targets, *statement.found.leaves)
    arrays = {
        leaf.name: (
            parts(views[k].numpy().copy()).ravel() if views[k].key.dtype.part else views[k].numpy().copy().ravel(),
            0,
        )
        for leaf, k in zip(kernel.leaves, launch.first, strict=True)
    }
    params = dict(zip([p.name for p in kernel.params], statement.found.scalars, strict=True))
    interpret(kernel, arrays, dict(launch.arranged.sizes), params)
    return arrays["out"][0]


STATEMENTS: dict[str, Any] = {
    "arithmetic": lambda a, b: (a * b - 2.5j) / (b + a.conj() * 3),
    "comparison": lambda a, b: xt.where(a < b, xt.maximum(a, b), a * 0),
    "sum": lambda a, b: a - xt.sum(a * b, axis=1, keepdims=True),
    "product": lambda a, b: a * xt.prod(b, axis=0),
    "largest": lambda a, b: xt.max(a, axis=1, keepdims=True) + xt.argmin(b, axis=0),
    "parts": lambda a, b: (a * b).real * b + abs(b) * 1j,
    **{name: lambda a, b, name=name: getattr(xt, name)(a) for name in ("exp", "arcsin")},
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_machine_code_has_the_interpreters_bits_at_every_width(name):
    shape = (1, 9) if name in TRUTH else (2, 11)
    a, b = xt.asarray(some(np.complex64, shape)), xt.asarray(some(np.complex64, shape, 1))
    want = None
    for bits in (128, None):
        with xt.options(vector_bits=bits):
            plan = xt.plan(xt.zeros(shape, np.complex64), STATEMENTS[name](a, b))
            want = judged(plan) if want is None else want
            assert_same_bits(parts(plan.run().numpy()).ravel(), want, f"{name}, {bits} bits")


# Types.


@pytest.mark.parametrize(
    ("dtype", "other"),
    [*((COMPLEX[0], row.numpy) for row in ROWS), *((COMPLEX[1], np.dtype(name)) for name in ("float32", "complex64"))],
    ids=str,
)
def test_types_are_numpys(dtype, other):
    z, x = xt.ones(3, dtype), xt.ones(3, other)
    for op, (a, b) in ((operator.mul, (z, x)), (operator.truediv, (x, z))):
        e = op(a, b)
        want = op(a.numpy(), b.numpy())
        assert e.dtype == want.dtype
        assert (xt.evaluate(e).numpy() == want).all()


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
def test_a_python_complex_is_weak(dtype):
    x = np.array([1, 2, 3], dtype)
    for op in (operator.mul, operator.sub):
        for a, b in ((xt.asarray(x), 2.5 - 1j), (2.5 - 1j, xt.asarray(x))):
            want = op(*(v.numpy() if isinstance(v, xt.Tensor) else v for v in (a, b)))
            got = xt.evaluate(op(a, b)).numpy()
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_scalars_are_read_at_every_assignment():
    a = some(np.complex64, 5)
    x, out = xt.asarray(a), xt.zeros(5, np.complex64)
    out[...] = x * 0j + np.complex64(0) - 0
    out[...] = 0j
    with xt.no_compile():
        for n in range(6):
            out[...] = x * complex(n, 2) + np.complex64(n - 1j) - n
            np.testing.assert_allclose(out.numpy(), a * complex(n, 2) + np.complex64(n - 1j) - n, rtol=1e-5)
            out[...] = n * 1j
            assert (out.numpy() == n * 1j).all()


@pytest.mark.parametrize(
    ("source", "to"),
    [(a, b) for a, b in itertools.product(ROWS, ROWS) if "complex64" in (a.name, b.name) or (a.part and b.part)],
    ids=str,
)
def test_casts(source, to):
    x = special(source.numpy) if source.part else np.array([0, 1, 100], source.numpy)
    if to.kind in "iu":
        x = x[np.isfinite(x) & (abs(x.real) < 100) & (x.real >= 0)]
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.exceptions, "ComplexWarning", UserWarning)
        want = x.astype(to.numpy) if to.part or to.kind == "b" else x.real.astype(to.numpy)
    assert_same(xt.evaluate(xt.cast(xt.asarray(x), to.name)).numpy(), want)


def test_numbers_made_from_python_are_complex64():
    assert xt.array([1j, 2]).dtype == xt.full(3, 1j).dtype == np.complex64
    assert xt.array(np.array([1j])).dtype == np.complex128
    assert xt.array([1 + 2j], np.complex128).numpy().tolist() == [1 + 2j]
    assert xt.zeros(2, "c16").dtype == np.complex128


@pytest.mark.parametrize(
    "name", ["floor_divide", "remainder", "floor", "arctan2", "hypot", "cbrt", "erf", "gamma", "rsqrt", "copysign"]
)
def test_what_is_not_defined_is_a_dtype_error(name):
    z = xt.ones(3, np.complex64)
    with pytest.raises(xt.DTypeError, match=f"{name}: not defined for complex64"):
        getattr(xt, name)(*(z,) * xt.functions.TABLE[name].arity)


# Layouts, modes, widths.

MODES = {"write": lambda t, e: e, "add": operator.add, "sub": operator.sub, "mul": product, "div": operator.truediv}


@pytest.mark.parametrize("layout", TARGETS)
@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_an_ugly_layout_changes_no_bit_and_writes_nothing_else(dtype, layout):
    rng = np.random.default_rng(len(layout))
    for k, mode in enumerate(rng.permutation(list(MODES))[:2]):
        shape, conj = [((7, 19), True), ((65,), False)][k]
        source, old = some(dtype, shape, 3), some(dtype, shape, 4)
        a, out = place(source, rng.choice(list(TARGETS))), place(old, layout)
        t, x = xt.asarray(out.array), xt.asarray(a.array)
        xt.assign(t, mode, xt.conj(x) if conj else x)
        want = MODES[mode](old, source.conj() if conj else source)
        assert_same(out.array.copy(), want, f"{mode} {layout}", signed_zero=False)
        out.assert_untouched()


@pytest.mark.parametrize("bits", [128, 256, 512])
def test_the_width_of_vectors_changes_no_bit(bits):
    a, b = every_pair(np.complex64)
    a, b = a[::37], b[::37]
    with xt.options(vector_bits=bits):
        for name in ("multiply", "divide", "maximum"):
            with np.errstate(all="ignore"):
                want = BINARY[name](a, b)
            assert_same(xt.evaluate(getattr(xt, name)(a, b)).numpy(), want, name)
        sums = [
            xt.evaluate(xt.sum(xt.asarray(some(np.complex64, (3, n))), axis)).numpy()
            for n in (5, 1000)
            for axis in (0, 1)
        ]
    for got, want in zip(
        sums,
        [
            xt.evaluate(xt.sum(xt.asarray(some(np.complex64, (3, n))), axis)).numpy()
            for n in (5, 1000)
            for axis in (0, 1)
        ],
        strict=True,
    ):
        assert_same(got, want)


@pytest.mark.parametrize("n", [1 << 20])
def test_a_target_larger_than_the_caches(n):
    a, b = some(np.complex128, n), some(np.complex128, n, 1)
    assert_same(xt.evaluate(xt.asarray(a) * b).numpy(), product(a, b))


# Parts of tensors, and what they share.


def test_parts_are_views():
    a = some(np.complex64, (3, 4))
    z = xt.array(a)
    assert z.real.strides == z.imag.strides == (32, 8) and z.real.dtype == np.float32
    z.real[...] = 1
    z.imag += 2
    z.imag[0] = z.real[1] * 5
    a.real[...] = 1
    a.imag += 2
    a.imag[0] = a.real[1] * 5
    assert_same(z.numpy(), a)
    z.real = z.imag * 2
    a.real = a.imag * 2
    assert_same(z.numpy(), a)
    x = xt.ones(3)
    assert x.real is x and xt.evaluate(x.imag).numpy().tolist() == [0, 0, 0]


def test_parts_of_expressions():
    a = some(np.complex128, 6)
    z = xt.asarray(a)
    assert_same(xt.evaluate((z * 2).real).numpy(), a.real * 2)
    assert_same(xt.evaluate((z * 2).imag).numpy(), a.imag * 2)
    assert_same(xt.evaluate((z * 2).conj()).numpy(), (a * 2).conj())
    assert_same(xt.evaluate(np.conjugate(z)).numpy(), a.conj())
    assert np.real(z).strides == (16,)
    assert complex(z[0]) == a[0] == z[0].item()


@pytest.mark.parametrize(
    "statement",
    [
        lambda z: z.real.assign(abs(z.real) + z.imag * z.real),
        lambda z: z.imag.assign((z * z).real),
        lambda z: z.assign(z.imag * 2 + z),
        lambda z: z[::2].assign(z.real[::2] - z[::2]),
        lambda z: z[1:].assign(z[:-1] * 2),
        lambda z: z[:-1].assign(z[1:] + z[:-1]),
        lambda z: z.real[1:].assign(z.real[:-1]),
        lambda z: z[::-1].imag.assign(z[::-1].real),
        lambda z: z.real.assign(z.imag[::-1]),
    ],
)
def test_a_statement_reads_before_it_stores(statement):
    class Numpy(np.ndarray):
        real = property(lambda self: self.view(np.ndarray).real.view(Numpy))
        imag = property(lambda self: self.view(np.ndarray).imag.view(Numpy))

        def assign(self, value):
            self[...] = np.array(value)

    a = some(np.complex128, 37)
    z, want = xt.array(a), a.copy().view(Numpy)
    statement(z)
    statement(want)
    np.testing.assert_allclose(z.numpy(), want, rtol=1e-14)


@pytest.mark.parametrize(
    "statement",
    [
        lambda z: z.assign(z.real[::-1]),
        lambda z: z[1:].assign(z.imag[:-1]),
        lambda z: z.real[1:].assign(abs(z[:-1])),
        lambda z: z.assign(z[::-1]),
    ],
)
def test_what_no_order_makes_right_is_an_alias_error(statement):
    z = xt.array(some(np.complex128, 9))
    before = z.numpy().copy()
    with pytest.raises(xt.AliasError):
        statement(z)
    assert_same(z.numpy(), before)


# Folds and products.

FOLDS = ("sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero")


@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, COMPLEX[0]) for name in FOLDS), ("sum", COMPLEX[1]), ("var", COMPLEX[1])], ids=str
)
def test_folds(name, dtype):
    cases: list[Any] = [((5, 40), 0), ((5, 40), 1), ((5, 40), None), ((3, 4, 5), (0, 2)), ((70, 3), 1)]
    for shape, axis in cases if name in ("sum", "argmax") and dtype == np.complex64 else (cases[0], cases[-1]):
        if isinstance(axis, tuple) and name.startswith("arg"):
            continue
        a = np.exp(some(dtype, shape) * 0.1j)
        want = np.asarray(getattr(np, name)(a, axis=axis))
        got = xt.evaluate(getattr(xt, name)(xt.asarray(a), axis=axis)).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(
            got, want, rtol=3e-5 if dtype == np.complex64 else 1e-13, atol=1e-12 if name in ("var", "std") else 0
        )


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_extremes_are_those_of_numpys_order(name):
    rng = np.random.default_rng(5)
    for n in (1, 3, 40):
        a = of_parts(rng.integers(-2, 3, (20, n)).astype(float), rng.integers(-2, 3, (20, n)).astype(float))
        a[5] = -np.inf
        for axis, nan in itertools.product((0, 1), (1, complex(np.nan, 1), complex(1, np.nan))):
            a[3, n // 2] = nan
            got = xt.evaluate(getattr(xt, name)(xt.asarray(a), axis=axis)).numpy()
            assert_same(got, getattr(np, name)(a, axis=axis), name)


def test_sums_are_within_the_error_of_a_tree():
    a = some(np.complex64, 100_000)
    got, want = complex(xt.sum(xt.asarray(a))), a.astype(np.complex128).sum()
    bound = 2 * np.finfo(np.float32).eps * 17
    assert (
        abs(got.real - want.real) <= bound * abs(a.real).sum()
        and abs(got.imag - want.imag) <= bound * abs(a.imag).sum()
    )


def test_folds_inside_of_statements():
    a = some(np.complex128, (6, 11))
    z = xt.array(a)
    z /= xt.sum(abs(z), axis=1, keepdims=True)
    want = a / abs(a).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(z.numpy(), want, rtol=1e-14)
    z[...] = z - xt.mean(z, axis=0)
    np.testing.assert_allclose(z.numpy(), want - want.mean(0), rtol=1e-13, atol=1e-16)
    assert float(xt.norm(z)) == pytest.approx(np.linalg.norm(z.numpy()), rel=1e-14)


def test_folds_over_nothing():
    z = xt.zeros((0, 3), np.complex64)
    assert xt.evaluate(xt.sum(z, axis=0)).numpy().tolist() == [0j] * 3
    assert xt.evaluate(xt.prod(z, axis=0)).numpy().tolist() == [1 + 0j] * 3
    with pytest.raises(xt.ShapeError):
        xt.max(z, axis=0)


@xt.reducer(identity=(0.0, 0.0))
def moments(a, b, c, d):
    return a + c, b + d


def test_a_reducer_of_ones_own():
    a = some(np.complex128, (4, 50))
    first, second = moments(xt.asarray(a), xt.square(xt.asarray(a)), axis=1)
    np.testing.assert_allclose(xt.evaluate(first).numpy(), a.sum(1), rtol=1e-13)
    np.testing.assert_allclose(xt.evaluate(second).numpy(), (a * a).sum(1), rtol=1e-13)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize(("a", "b"), [((7,), (7,)), ((3, 4), (4,)), ((2, 3, 4), (2, 4, 5)), ((33, 65), (65, 34))])
def test_products(a, b, dtype):
    x, y = some(dtype, a), some(dtype, b, 1)
    got = xt.evaluate(xt.asarray(x) @ xt.asarray(y)).numpy()
    np.testing.assert_allclose(
        got, x @ y, rtol=1e-4 if dtype == np.complex64 else 1e-12, atol=1e-5 if dtype == np.complex64 else 1e-13
    )
    out = xt.zeros(got.shape, dtype) + 1 if got.ndim else None
    if out is not None:
        target = xt.evaluate(out)
        target += 2j * (xt.asarray(x) @ xt.asarray(y))
        np.testing.assert_allclose(
            target.numpy(), 1 + 2j * (x @ y), rtol=1e-4, atol=1e-4 if dtype == np.complex64 else 1e-12
        )


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_products_of_matrices_are_calls_of_blas(dtype):
    a, b = some(dtype, (17, 9)), some(dtype, (9, 21), 1)
    out = xt.zeros((17, 21), dtype)
    plan = xt.plan(out, xt.asarray(a) @ xt.asarray(b))
    assert ("cgemm" if dtype == np.complex64 else "zgemm") in plan.call or xt.info()["matrix products"] == ["own"]
    close = {"rtol": 1e-4 if dtype == np.complex64 else 1e-12}
    product = xt.asarray(a) @ xt.asarray(b)
    for statement, want in (
        (lambda: out.assign(product), a @ b),
        (lambda: out.assign(product, "add"), 2 * (a @ b)),
        (lambda: out.assign(2j * product + 1), 2j * (a @ b) + 1),
        (lambda: out.assign(out - product), (2j - 1) * (a @ b) + 1),
    ):
        statement()
        np.testing.assert_allclose(out.numpy(), want, **close)
    with xt.options(blas="own"):
        assert xt.plan(out, product).call == ""
        np.testing.assert_allclose(xt.evaluate(product).numpy(), a @ b, **close)


def test_vectors_are_conjugated_where_numpys_are():
    a, b = some(np.complex128, (3, 4)), some(np.complex128, (4, 5), 1)
    x, y = xt.asarray(a), xt.asarray(b)
    np.testing.assert_allclose(xt.evaluate(xt.vecdot(x, x[::-1])).numpy(), np.vecdot(a, a[::-1]), rtol=1e-13)
    np.testing.assert_allclose(xt.evaluate(xt.vecmat(x[0], y)).numpy(), np.conj(a[0]) @ b, rtol=1e-13)
    np.testing.assert_allclose(xt.evaluate(x @ y.conj()).numpy(), a @ b.conj(), rtol=1e-13)


def test_scalars_of_two_words_beside_a_product():
    r, q = some(np.complex128, (5, 4)).real.copy(), some(np.complex128, (4, 6)).real.copy()
    z, out = some(np.complex128, 6), xt.zeros((5, 6), np.float64)
    for n in range(4):
        out[...] = (xt.asarray(r) @ xt.asarray(q)) * 2.5 + (xt.asarray(z) * complex(n, 1)).real + n
        np.testing.assert_allclose(out.numpy(), (r @ q) * 2.5 + (z * complex(n, 1)).real + n, rtol=1e-12)


# Kernels, operations of one's own, other places.


@xt.kernel
def turned(a, b, *, s):
    a[...] = a * s + b
    b[...] = a.conj() * 1j
    a.real -= b.imag


@xt.op
def mixed(x, y):
    return x * y + 2.0 * x if abs(x) > abs(y) else x - y


def test_a_kernel():
    p, q = some(np.complex64, 29), some(np.complex64, 29, 1)
    a, b = xt.array(p), xt.array(q)
    with pytest.raises(xt.AliasError):
        turned(a, b, s=0.5)


@xt.kernel
def stepped(a, b, *, s):
    a[...] = a * s + b
    b[...] = a.conj() * 1j


def test_a_kernel_of_two_statements():
    p, q = some(np.complex64, 29), some(np.complex64, 29, 1)
    a, b = xt.array(p), xt.array(q)
    lists = [xt.array(p) for _ in range(3)], [xt.array(q) for _ in range(3)]
    for n in range(4):
        stepped(a, b, s=0.5 + n)
        stepped.foreach(*lists, s=0.5 + n)
        p = p * np.float32(0.5 + n) + q
        q = p.conj() * np.complex64(1j)
        np.testing.assert_allclose(a.numpy(), p, rtol=1e-5)
        np.testing.assert_allclose(b.numpy(), q, rtol=1e-5)
        for x, y in zip(*lists, strict=True):
            assert_same(x.numpy(), a.numpy())
            assert_same(y.numpy(), b.numpy())


@xt.kernel
def rotated(a, b, *, s, t):
    a[...] = a * s + b * (s * t + 1)
    b[...] = b * abs(s) + t**2


def test_scalars_of_a_kernel_may_be_complex():
    p, q = some(np.complex128, 5), some(np.complex128, 5, 1)
    a, b = xt.array(p), xt.array(q)
    for n in range(5):
        for s, t in ((1j * n, 2.0), (np.complex128(0.3 + 0.1j), 3), (0.5, 1j)):
            rotated(a, b, s=s, t=t)
            p, q = p * s + q * (s * t + 1), q * abs(s) + t**2
            np.testing.assert_allclose(a.numpy(), p, rtol=1e-12)
            np.testing.assert_allclose(b.numpy(), q, rtol=1e-12)


def test_an_operation_of_ones_own():
    p, q = some(np.complex128, 29), some(np.complex128, 29, 1)
    got = xt.evaluate(mixed(xt.asarray(p), xt.asarray(q))).numpy()
    np.testing.assert_allclose(got, np.where(abs(p) > abs(q), p * q + 2 * p, p - q), rtol=1e-13)


@xt.op
def turned_by(x, y=1j):
    return x * (1 + 2j) + y


def test_an_operation_may_hold_complex_numbers():
    p = some(np.complex64, 9)
    got = xt.evaluate(turned_by(xt.asarray(p))).numpy()
    assert got.dtype == np.complex64
    np.testing.assert_allclose(got, p * (1 + 2j) + 1j, rtol=1e-5)
    assert xt.evaluate(turned_by(xt.ones(2), 2)).numpy().tolist() == [3 + 2j] * 2
    assert turned_by(2.0, 1) == 3 + 4j


def test_other_places():
    a = some(np.complex64, (3, 5))
    z = xt.asarray(a)
    assert_same(xt.evaluate(xt.flip(z * 1, axis=1)).numpy(), a[:, ::-1])
    assert_same(xt.evaluate(xt.pad(z, 2)).numpy(), np.pad(a, 2))
    assert_same(xt.evaluate(xt.concat(z, z * 1, axis=0)).numpy(), np.concatenate([a, a]))
    assert_same(xt.evaluate(xt.reshape(z * 1, (5, 3))).numpy(), a.reshape(5, 3))
    assert_same(xt.evaluate((z + 0).T).numpy(), (a + 0).T)
    assert_same(xt.evaluate((z * 1)[::2, ::-2]).numpy(), (a * 1)[::2, ::-2])
    assert_same(xt.evaluate(xt.where(z.real > 0, z, 1j)).numpy(), np.where(a.real > 0, a, np.complex64(1j)))
    x, y = xt.zeros((3, 5), np.complex64), xt.zeros((2, 5), np.complex64)
    xt.concat(x, y, axis=0)[...] = xt.concat(z, z[:2] * 2, axis=0)
    assert_same(np.concatenate([x.numpy(), y.numpy()]), np.concatenate([a, a[:2] * 2]))
    assert_same(xt.evaluate(xt.outer(z[0], z[1])).numpy(), product(a[0][:, None], a[1]))


# Interop.


def test_exchange():
    a = some(np.complex128, (2, 3))
    z = xt.asarray(a)
    z *= 2
    assert np.shares_memory(z.numpy(), a)
    assert_same(np.from_dlpack(z), a)
    assert_same(xt.asarray(np.from_dlpack(a)).numpy(), a)
    assert_same(xt.asarray(memoryview(a)).numpy(), a)
    assert repr(xt.array([1 + 2j])) == "tensor([1.+2.j], shape=(1,), dtype=complex64)"
    assert z[0, 0].item() == a[0, 0] and type(z[0, 0].item()) is complex
    with pytest.raises(TypeError):
        float(z[0, 0])


def test_a_plan_counts_what_complex_numbers_are():
    z, out = xt.ones(10, np.complex64), xt.zeros(10, np.complex64)
    plan = xt.plan(out, z * z)
    assert (plan.bytes_read, plan.bytes_written, plan.flops) == (80, 80, 60)
    assert "complex64" in plan.explain()


def _centred(x: Any, axis: int) -> Any:
    return x - x.mean(axis, keepdims=True)


SHORT_AND_FEW = {
    "transposed": lambda x, w: x.T * 2 + w.T,
    "a number a row": lambda x, w: x * w + 1j,
    "sums of rows": lambda x, w: (x * w).sum(1),
    "sums of columns": lambda x, w: (x * w).sum(0),
    "deviations of columns": lambda x, w: (x * w).std(0),
    "centred rows": lambda x, w: _centred(x, 1),
    "centred columns": lambda x, w: _centred(x, 0),
    "centred columns, transposed": lambda x, w: _centred(x, 0).T,
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", SHORT_AND_FEW)
@pytest.mark.parametrize("dtype", COMPLEX)
def test_short_rows_and_few_columns(dtype, name):
    """Packed ones are read whole and taken apart, others under masks or one by one: of the same numbers the same bits."""
    rng, call = np.random.default_rng(0), SHORT_AND_FEW[name]
    for columns, rows in itertools.product((2, 3, 5, 8, 16, 17, 33), (1, 37, 300)):
        x = (rng.standard_normal((rows, columns)) + 1j * rng.standard_normal((rows, columns))).astype(dtype)
        w = (rng.standard_normal((rows, 1)) - 2j).astype(dtype)
        want = call(x, w)
        ours = []
        for layout, threads in (("contiguous", 1), ("padded", 2), ("contiguous", 3)):
            source, out = place(x, layout), place(want, layout)
            with xt.options(num_threads=threads):
                target = xt.asarray(out.array)
                target[...] = call(xt.asarray(source.array), xt.asarray(w))
            ours.append(out.array.copy())
            out.assert_untouched()
        np.testing.assert_allclose(
            ours[0], want, rtol=2e-4 if x.real.itemsize == 4 else 1e-12, atol=1e-5 if x.real.itemsize == 4 else 1e-13
        )
        for other in ours[1:]:
            assert_same_bits(other, ours[0], f"{rows} x {columns}")


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("shape", [(4, 4), (16, 16), (33, 20), (17, 18), (100, 3), (2, 40, 41)], ids=str)
def test_transposed_numbers_become_wider_ones(shape, bits):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64").swapaxes(-1, -2)
    out = xt.zeros(x.shape, "complex128")
    with xt.options(vector_bits=bits):
        out[...] = xt.asarray(x)
        np.testing.assert_array_equal(out.numpy(), x)
        out -= 2 * xt.asarray(x)
    np.testing.assert_array_equal(out.numpy(), -x.astype("complex128"))
