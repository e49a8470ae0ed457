"""float16 and bfloat16: every value of both, against NumPy and ml_dtypes, and against the interpreter."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exprten_jit.backends.llvm_run import host_cpu
from exprten_jit.check import IRError
from exprten_jit.derived import TABLE
from exprten_jit.dtypes import DTYPES as ROW
from exprten_jit.ir import cast, op
from exprten_jit.ops import PRIMITIVES
from strategies import (
    BFLOAT16,
    SPECIAL,
    assert_same_bits,
    assert_within_ulps,
    pairs,
    reference_cast,
    reference_maximum,
    reference_minimum,
    values,
)
from test_ops import compiled, interpreted, kernel_of

import exprten as xt
from exprten.functions import FUNCTIONS

ROOT = Path(__file__).parents[1]
NO_LIBRARY = pytest.mark.skipif(BFLOAT16 is None, reason="no ml_dtypes: install exprten[bf16]")
BOTH = pytest.mark.parametrize("name", ["float16", pytest.param("bfloat16", marks=NO_LIBRARY)])
WIDTHS = (None, 128)
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # ml_dtypes' word for a signalling NaN
PLACES = {"float16": 11, "bfloat16": 8}  # bits of the significand


def dtype_of(name):
    return np.dtype("float16") if name == "float16" else BFLOAT16


def every(name):
    """All 65536 numbers, and NaNs."""
    return np.arange(1 << 16, dtype=np.uint16).view(dtype_of(name))


def quiet(function, *operands):
    with np.errstate(all="ignore"):
        return np.asarray(function(*operands))


def doubled(x):
    return np.asarray(x).astype(np.float64)


# Operations.

EXACT_UNARY = (
    "sqrt", "negative", "fabs", "absolute", "floor", "ceil", "trunc", "rint", "square", "reciprocal", "positive", "isnan", "isinf",
    "isfinite", "signbit", "logical_not", "ones_like",
)  # fmt: skip


@BOTH
@pytest.mark.parametrize("function", EXACT_UNARY)
def test_every_value_has_the_bits_of_numpy(function, name):
    x = every(name)
    assert_same_bits(xt.evaluate(FUNCTIONS[function](x)).numpy(), quiet(getattr(np, function), x), function)


@BOTH
def test_sign_is_that_of_the_wide_type(name):
    x = every(name)
    want = np.sign(x.astype(np.float32)).astype(x.dtype)  # ml_dtypes' own sign of -0 is -0, NumPy's is 0
    assert_same_bits(xt.evaluate(xt.sign(x)).numpy(), want)


@BOTH
def test_the_cube_is_rounded_once(name):
    x = every(name)
    with np.errstate(all="ignore"):
        want = (doubled(x) ** 3).astype(np.float32).astype(x.dtype)
    assert_within_ulps(xt.evaluate(xt.cube(x)).numpy(), want, 1)


BINARY = (
    "add", "subtract", "multiply", "divide", "fmod", "floor_divide", "remainder", "copysign", "nextafter", "less", "less_equal",
    "greater", "greater_equal", "equal", "not_equal", "fmax", "fmin", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip


NO_FLOAT = ("invert", "bitwise_count", "popcount", "real", "imag")
EITHER_ZERO = ("fmax", "fmin", "nextafter")  # what NumPy's loops of float16 have their own way with


def operands_of(name):
    """Special values against special values, and all values against others."""
    x = every(name)
    a, b = pairs(x.dtype, x.dtype)
    return np.concatenate([a, x]), np.concatenate([b, np.random.default_rng(7).permutation(x)])


@BOTH
@pytest.mark.parametrize("function", BINARY)
def test_two_operands_have_the_bits_of_numpy(function, name):
    a, b = operands_of(name)
    want = quiet(getattr(np, function), a, b)
    for bits in WIDTHS if function in ("add", "multiply", "nextafter") else WIDTHS[:1]:
        with xt.options(vector_bits=bits):
            got = xt.evaluate(FUNCTIONS[function](a, b)).numpy()
        assert_same_bits(got, want, f"{function}, {bits} bits", signed_zero=function not in EITHER_ZERO)


@BOTH
def test_maximum_minimum_and_clip_follow_the_contract(name):
    a, b = operands_of(name)
    assert_same_bits(xt.evaluate(xt.maximum(a, b)).numpy(), quiet(reference_maximum, a, b))
    assert_same_bits(xt.evaluate(xt.minimum(a, b)).numpy(), quiet(reference_minimum, a, b))
    low, high = a.dtype.type(-1), a.dtype.type(2)
    want = quiet(lambda x: reference_minimum(reference_maximum(x, np.full_like(x, low)), np.full_like(x, high)), a)
    assert_same_bits(xt.evaluate(xt.clip(a, -1.0, 2.0)).numpy(), want)


@BOTH
@pytest.mark.parametrize("function", ["hypot", "arctan2", "power"])
def test_a_function_of_two_is_within_one_unit(function, name):
    a, b = operands_of(name)
    want = quiet(lambda x, y: getattr(np, function)(doubled(x), doubled(y)).astype(a.dtype), a, b)
    assert_within_ulps(xt.evaluate(getattr(xt, function)(a, b)).numpy(), want, 1, function)


@BOTH
def test_spacing_is_that_of_the_type(name):
    x = every(name)
    want = quiet(lambda: np.nextafter(np.abs(x), x.dtype.type(np.inf)) - np.abs(x))
    want = np.where(np.isfinite(x), want, x.dtype.type(np.nan))
    assert_same_bits(quiet(np.abs, xt.evaluate(xt.spacing(x)).numpy()), want)


@BOTH
@pytest.mark.parametrize(
    "row",
    [row for row in TABLE.values() if row.arity == 1 and row.name not in (*NO_FLOAT, *EXACT_UNARY)],
    ids=lambda row: row.name,
)
def test_every_function_of_the_table_has_it_and_is_rounded_once(row, name):
    x = every(name)[:: 1 if isinstance(row.reference, np.ufunc) else 131]  # others are slow
    e = getattr(xt, row.name)(x)
    want = quiet(lambda: np.asarray(row.reference(doubled(x))).astype(e.dtype))
    got = xt.evaluate(e).numpy()
    if e.dtype != x.dtype:
        assert_same_bits(got, want)
    elif row.name != "spacing":
        assert_within_ulps(got, want, 1)


@BOTH
def test_where_chooses(name):
    a, b = operands_of(name)
    chosen = np.arange(len(a)) % 3 == 0
    assert_same_bits(xt.evaluate(xt.where(chosen, a, b)).numpy(), np.where(chosen, a, b))


@BOTH
def test_ldexp_is_rounded_once(name):
    x = every(name)[::7]
    n = np.random.default_rng(3).integers(-60, 60, len(x)).astype(np.int32)
    want = quiet(lambda: np.ldexp(doubled(x), n).astype(np.float32).astype(x.dtype))
    assert_same_bits(xt.evaluate(xt.ldexp(x, n)).numpy(), want)


@BOTH
@pytest.mark.parametrize("row", [row for row in PRIMITIVES if "f" in row.llvm], ids=lambda row: row.name)
def test_the_interpreter_and_machine_code_give_a_primitives_value(row, name):
    d = ROW[name]
    compares = row.name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
    result = ROW["bool"] if compares else d
    kernel = kernel_of(lambda *args: op(row.name, args, result), (d,) * row.arity, result)
    rng = np.random.default_rng(11)
    sources = [rng.choice(np.concatenate([SPECIAL[d.numpy], values(d.numpy, (60,), 2)]), 333) for _ in range(row.arity)]
    if row.name in ("fma", "scale", "times_power"):
        with pytest.raises(IRError, match=f"{row.name} of"):
            compiled(kernel, sources)
        return
    want = interpreted(kernel, sources)
    for bits in WIDTHS:
        assert_same_bits(compiled(kernel, sources, bits), want, f"{row.name}, {bits} bits")


# Conversions.

OTHERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


@BOTH
@pytest.mark.parametrize("to", [*OTHERS, "float16", pytest.param("bfloat16", marks=NO_LIBRARY)])
def test_every_value_as_another_type(name, to):
    x, target = every(name), dtype_of(to) if "float16" in to else np.dtype(to)
    want = reference_cast(x.astype(np.float32), target) if target.kind in "iu" else quiet(x.astype, target)
    assert_same_bits(xt.evaluate(xt.cast(x, target)).numpy(), want, f"{name} to {to}")


def numbers(dtype, name):
    """Numbers of a type, many of them near the middle between two of `name`."""
    rng = np.random.default_rng(5)
    if dtype.kind == "b":
        return np.array([False, True] * 9)
    if dtype.kind != "f":
        wide = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 20_000, dtype, endpoint=True)
        return wide >> rng.integers(0, 8 * dtype.itemsize, 20_000).astype(dtype)
    x = every(name)
    finite = np.sort(doubled(x[np.isfinite(x)]))
    middle = (finite[1:] + finite[:-1]) / 2
    near = [np.nextafter(middle.astype(dtype), dtype.type(side)) for side in (-np.inf, np.inf)]
    scattered = rng.standard_normal(20_000) * 10.0 ** rng.integers(-45, 45, 20_000)
    with np.errstate(over="ignore"):
        return np.concatenate(
            [middle.astype(dtype), *near, finite.astype(dtype), scattered.astype(dtype), SPECIAL[dtype]]
        )


@BOTH
@pytest.mark.parametrize("source", OTHERS)
def test_a_number_of_another_type_is_rounded_to_the_nearest(name, source):
    x, target = numbers(np.dtype(source), name), dtype_of(name)
    want = quiet(x.astype, target)
    for bits in WIDTHS:
        with xt.options(vector_bits=bits):
            assert_same_bits(xt.evaluate(xt.cast(x, target)).numpy(), want, f"{source} to {name}, {bits} bits")


@BOTH
def test_the_interpreter_converts_as_machine_code(name):
    for source, to in [(s, name) for s in (*OTHERS, "float16")] + [(name, s) for s in OTHERS]:
        x = np.random.default_rng(1).choice(SPECIAL[ROW[source].numpy], 70)
        if source == to:
            continue
        kernel = kernel_of(lambda a, to=to: cast(a, ROW[to]), (ROW[source],), ROW[to])
        assert_same_bits(compiled(kernel, [x]), interpreted(kernel, [x]), f"{source} to {to}")


def test_a_double_is_rounded_to_float16_once():
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, 1 + 2.0**-11 - 2.0**-40, 65520.0, 65519.999999999])
    want = [1 + 2.0**-10, 1.0, 1.0, math.inf, 65504.0]  # through float32 the first would be 1.0, the last infinite
    assert xt.evaluate(xt.cast(x, xt.float16)).numpy().tolist() == want
    scalars = [xt.evaluate(xt.ones((), xt.float16) * float(v)).item() for v in x]
    assert scalars == want


CONVERSION = re.compile(r"__\w*(?:hf|bf|trunc|extend)\w*", re.IGNORECASE)


@BOTH
def test_conversions_are_the_processors_and_call_nothing(name):
    x = xt.zeros(1000, dtype_of(name))
    for other in OTHERS:
        y = xt.ones(1000, other)
        for target, value in ((x, xt.cast(y, x.dtype)), (y, xt.cast(x, y.dtype))):
            text = xt.plan(target, value).asm
            assert not CONVERSION.findall(text), f"{value}"
    text = xt.plan(x, x - 0.1 * (x + 0.01 * x)).asm
    assert "bf16" not in text
    if name == "float16" and "+f16c" in host_cpu()[1].split(","):
        assert "vcvtph2ps" in text and "vcvtps2ph" in text


# Types.

BESIDE_FLOAT16 = {
    "bool": "float16", "int8": "float16", "uint8": "float16", "int16": "float32", "uint16": "float32", "int32": "float64",
    "uint32": "float64", "int64": "float64", "uint64": "float64", "float32": "float32", "float64": "float64", "float16": "float16",
}  # fmt: skip


def test_types_beside_float16_are_numpys():
    x = xt.ones(3, xt.float16)
    for other, want in BESIDE_FLOAT16.items():
        y = np.ones(3, other)
        assert (x + y).dtype == (y + x).dtype == np.result_type(np.float16, other) == want


@NO_LIBRARY
def test_integers_beside_bfloat16_take_its_type_and_floats_give_theirs():
    x = xt.ones(3, "bfloat16")
    for other in OTHERS:
        want = np.dtype(other) if other.startswith("float") else BFLOAT16
        for e in (x + np.ones(3, other), np.ones(3, other) * x, xt.where(x > 0, x, np.ones(3, other))):
            assert e.dtype == want, other
    assert (
        (x + 1).dtype == (x * 2.5).dtype == (1 - x).dtype == xt.exp(x).dtype == (x + BFLOAT16.type(1)).dtype == BFLOAT16
    )
    assert (x < 1).dtype == np.bool_
    assert (x + np.float32(1)).dtype == np.float32


@NO_LIBRARY
@pytest.mark.parametrize(
    "statement", ["x + h", "h * x", "x @ h", "xt.where(x > 0, x, h)", "x < h", "x + np.float16(1)"]
)
def test_the_two_have_no_common_type(statement):
    names = {"xt": xt, "np": np, "x": xt.ones((3, 3), "bfloat16"), "h": xt.ones((3, 3), "float16")}
    with pytest.raises(xt.DTypeError, match=r"not defined for.*convert"):
        eval(statement, names)


@BOTH
def test_python_numbers_take_the_type(name):
    x = values(dtype_of(name), (300,), 1)
    one = x.dtype.type
    got = xt.evaluate(0.1 * xt.asarray(x) + 3 - 1e9).numpy()
    assert_same_bits(got, quiet(lambda: one(0.1) * x + one(3) - one(1e9)))


SPELLED = {
    "float16": ("float16", "f2", "e", np.float16, np.dtype("float16")),
    "bfloat16": ("bfloat16", *([BFLOAT16, BFLOAT16.type] if BFLOAT16 else [])),
}


@BOTH
def test_every_spelling_is_the_type(name):
    for spelling in (*SPELLED[name], getattr(xt, name)):
        t = xt.zeros((2, 3), spelling)
        assert t.dtype == dtype_of(name) and t.dtype.itemsize == 2
        assert (
            xt.Tensor(3, spelling).dtype
            == xt.cast(t, spelling).dtype
            == xt.evaluate(t + 1.0, spelling).dtype
            == t.dtype
        )
    assert xt.float16 is np.float16


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import exprten as xt
print(xt.evaluate(xt.ones(2, "float16") * 2.0))
for what in (lambda: xt.bfloat16, lambda: xt.zeros(3, "bfloat16"), lambda: xt.cast(xt.ones(2), "bfloat16")):
    try:
        what()
    except ImportError as error:
        print(error)
print(hasattr(xt, "float17"))
"""


def python(code):
    path = os.pathsep.join([str(ROOT), str(ROOT / "jit")])
    environment = os.environ | {"PYTHONPATH": path + os.pathsep + os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_the_library_the_error_says_what_to_install():
    first, *errors, last = python(WITHOUT)
    assert first == "tensor([2., 2.], shape=(2,), dtype=float16)"
    wanted = (
        "bfloat16: NumPy has no such type, and ml_dtypes, which has it, is not installed; pip install exprten[bf16]"
    )
    assert errors == [wanted] * 3
    assert last == "False"


@NO_LIBRARY
def test_the_library_is_imported_when_it_is_asked_for():
    code = (
        "import exprten as xt, sys; print('ml_dtypes' in sys.modules); xt.bfloat16; print('ml_dtypes' in sys.modules)"
    )
    assert python(code) == ["False", "True"]
    assert python("import exprten as xt; print(xt.ones(2, 'bfloat16'))") == [
        "tensor([1, 1], shape=(2,), dtype=bfloat16)"
    ]
