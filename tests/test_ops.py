"""Every operation of the table on every combination of types, against NumPy, the interpreter, C++ and finite differences."""

import ctypes
import ctypes.util
import itertools
import operator
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exprten_jit import compile_kernel, references
from exprten_jit.backends import llvm_run
from exprten_jit.backends.cuda_text import unsigned
from exprten_jit.check import IRError, check
from exprten_jit.derived import DERIVED, TABLE
from exprten_jit.dtypes import BOOL, DType
from exprten_jit.dtypes import DTYPES as DTYPE_OF
from exprten_jit.dtypes import ROWS as ALL_ROWS
from exprten_jit.hostcall import launcher
from exprten_jit.interpret import interpret
from exprten_jit.ir import Leaf, Store, Value, axis, cast, load, op, size, table
from exprten_jit.kernel import Kernel
from exprten_jit.ops import CASTS, PRIMITIVES, Domain
from strategies import (
    DTYPES,
    LAYOUTS,
    SPECIAL,
    TARGETS,
    assert_same_bits,
    assert_within_ulps,
    combinations,
    pairs,
    place,
    reference_cast,
    reference_maximum,
    reference_minimum,
    values,
)  # fmt: skip

import exprten as xt
from exprten.functions import FUNCTIONS

OPERATIONS = {name: getattr(xt, name) for name in xt.library.__all__ if name in TABLE}  # those with derivatives
FUNCTION: dict[str, Callable[..., Any]] = FUNCTIONS | {"power": xt.power, "real": xt.real, "imag": xt.imag} | OPERATIONS
FREE = ("identity", "positive", "conjugate", "real", "imag")  # of a real number nothing is computed
PRIMITIVE_ONLY = {
    "euclid",
    "fma",
    "ipow",
    "lookup",
    "popcount",
    "quotient",
    "rarely",
    "scale",
    "shift_left",
    "shift_right",
    "times",
    "times_power",
}  # what derived rows are made of
# Within 4 ULP; every other operation to the bit.
MATH = {
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt", "cos", "cosh", "digamma", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "gamma", "hypot", "lgamma", "log", "log10", "log1p", "log2", "power", "rsqrt", "sin", "sinh",
    "tan", "tanh", "trigamma", "xlogy", "float_power", "gelu", "gelu_tanh", "log_sigmoid", "logaddexp", "logaddexp2", "logit", "mish", "sigmoid",
    "silu", "sinc", "softplus",
}  # fmt: skip
EITHER_ZERO = {"maximum", "minimum", "fmax", "fmin", "clip"}  # NumPy's choice between +0 and -0 depends on the machine
RESULTS = {*DTYPES, np.dtype("float16")}  # what NumPy's functions of small integers give
COMPARISONS = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}

# NumPy's function of the same name; where there is none, what the documentation of ours says.
NUMPY: dict[str, Callable[..., Any]] = {
    name: getattr(np, name) for name in FUNCTION if hasattr(np, name) and name not in {"identity", "sinc"}
} | {
    "identity": np.array,
    "cube": lambda a: a * a * a,
    **{
        name: getattr(references, name)
        for name in FUNCTION
        if hasattr(references, name) and name not in {"isposinf", "isneginf"}
    },
    "clip": lambda a, low, high: np.minimum(np.maximum(a, low), high),
}


def reference(name: str, *operands: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(NUMPY[name](*operands))


def result_type(name: str, *operands: Any) -> np.dtype | None:
    """NumPy's, or None where NumPy has no such loop or exprten no such type."""
    try:
        dtype = reference(name, *operands).dtype
    except TypeError:
        return None
    return dtype if dtype in RESULTS else None


def defined(name: str, operands: list[np.ndarray]) -> list[np.ndarray]:
    """The operands where NumPy's answer is the same on every machine; the rest has tests of its own below."""
    keep = np.ones(operands[0].shape, bool)
    whole = all(x.dtype.kind in "bui" for x in operands)
    if name == "power" and whole:
        keep &= operands[1] >= 0
    if name == "reciprocal" and whole:
        keep &= operands[0] != 0
    return [x[keep] for x in operands]


def assert_as_numpy(name: str, got: np.ndarray, operands: list[Any], what: str) -> None:
    want = reference(name, *operands)
    if name not in MATH or want.dtype.kind != "f":
        assert_same_bits(got, want, what, signed_zero=name not in EITHER_ZERO)
        return
    assert got.dtype == want.dtype, f"{what}: type {got.dtype}, not {want.dtype}"
    if want.dtype == np.float32:
        with np.errstate(over="ignore"):
            narrow = [np.float32(x) if isinstance(x, float) else np.asarray(x) for x in operands]
        want = reference(name, *(x.astype(np.float64) for x in narrow))
        with np.errstate(over="ignore", under="ignore"):
            want = want.astype(np.float32)
    if name in {"digamma", "lgamma", "logaddexp", "logaddexp2"}:  # around their zeros only the absolute error is small
        with np.errstate(invalid="ignore"):
            got = np.where(np.abs(got - want) < 4 * np.finfo(want.dtype).eps, want, got)
    assert_within_ulps(got, want, 4, what)


def described(case: Any) -> str | None:
    if isinstance(case, tuple) and all(isinstance(d, np.dtype) for d in case):
        return ",".join(d.name for d in case)
    return None


# Formulas that are slow to compile, of which types make float32 or float64 and nothing else.
SAMPLED = {*OPERATIONS, "float_power", "sinc"}
SAMPLE = {np.dtype(name) for name in ("int16", "int32", "float32", "float64")}


def cases_of(name: str) -> list[tuple[np.dtype, ...]]:
    found = combinations(TABLE[name].arity)
    if name in {"gcd", "lcm"}:
        return [types for types in found if len(set(types)) == 1]
    return [types for types in found if name not in SAMPLED or set(types) <= SAMPLE]


CASES = [(name, types) for name in FUNCTION for types in cases_of(name)]
SUPPORTED = [(n, t) for n, t in CASES if result_type(n, *(np.ones(1, d) for d in t))]
UNSUPPORTED = [case for case in CASES if case not in set(SUPPORTED)]


@pytest.mark.parametrize(("name", "types"), SUPPORTED, ids=described)
def test_every_special_value_gives_numpys_bits_and_type(name, types):
    operands = defined(name, pairs(*types))
    e = FUNCTION[name](*operands)
    assert e.dtype == result_type(name, *operands)
    assert_as_numpy(name, xt.evaluate(e).numpy(), operands, f"{name} of {types}")


@pytest.mark.covering(1)
@pytest.mark.parametrize(("name", "types"), SUPPORTED, ids=described)
def test_an_ugly_layout_changes_no_bit_and_writes_nothing_else(name, types):
    rng = np.random.default_rng(zlib.crc32(f"{name} {types}".encode()))
    operands = []
    for k, dtype in enumerate(types):
        elements = values(dtype, (7, 19), seed=k)
        if name == "power" and k == 1 and dtype.kind == "i":
            elements = np.where(elements < 0, 3, elements).astype(dtype)
        if name == "reciprocal" and dtype.kind in "iu":
            elements = np.where(elements == 0, 3, elements).astype(dtype)
        operands.append(place(elements, rng.choice(list(LAYOUTS))).array)
    layout = rng.choice(list(TARGETS))
    out = place(np.zeros((7, 19), result_type(name, *operands)), layout)
    xt.asarray(out.array)[...] = FUNCTION[name](*operands)
    assert_as_numpy(name, out.array.copy(), operands, f"{name} of {types} into {layout}")
    out.assert_untouched()


@pytest.mark.parametrize(("name", "types"), UNSUPPORTED, ids=described)
def test_a_result_that_exprten_has_no_type_for_is_a_dtype_error(name, types):
    with pytest.raises(xt.DTypeError, match=name):
        FUNCTION[name](*(np.ones(3, d) for d in types))


# Scalars.

BINARY = [name for name in FUNCTION if TABLE[name].arity == 2]
WEAK = (0, 2, -3, 200, 2.0, -0.5, 1e300, float("nan"))


def _accepted(name: str, *operands: Any) -> bool:
    """Whether NumPy takes these operands and the result is one of ours."""
    try:
        with np.errstate(all="ignore"):
            dtype = np.asarray(NUMPY[name](*operands)).dtype
    except (TypeError, OverflowError, ValueError):
        return False
    return dtype in RESULTS


FEW = SAMPLED | {"gcd", "lcm", "heaviside"}
MET = [(name, d) for name in BINARY for d in DTYPES if name not in FEW or d in SAMPLE]


@pytest.mark.covering(1)
@pytest.mark.parametrize(("name", "dtype"), MET, ids=str)
def test_a_python_scalar_takes_the_type_of_what_it_meets(name, dtype):
    tried = 0
    for scalar, left in itertools.product(WEAK, (False, True)):
        if name == "power" and not left and scalar in {-1, 0, 0.5, 1, 2, 3}:
            continue  # structural: test_structural_powers
        x = SPECIAL[dtype]
        if name == "power" and dtype.kind == "i" and isinstance(scalar, int):
            x = x[x >= 0] if left else x
        operands = [scalar, x] if left else [x, scalar]
        if not _accepted(name, *operands):
            continue
        got = xt.evaluate(FUNCTION[name](*operands)).numpy()
        assert_as_numpy(name, got, operands, f"{name} of {operands}")
        tried += 1
    assert tried or result_type(name, np.ones(1, dtype), 1) is None


STRONG = ("add", "multiply", "divide", "floor_divide", "maximum", "less", "bitwise_xor", "logical_and")


@pytest.mark.covering(1)
@pytest.mark.parametrize(("dtype", "scalar_type"), combinations(2), ids=str)
def test_a_numpy_scalar_keeps_its_type(dtype, scalar_type):
    x, scalars = SPECIAL[dtype], SPECIAL[scalar_type][-3:]
    for name, scalar, left in itertools.product(STRONG, scalars, (False, True)):
        operands = [scalar, x] if left else [x, scalar]
        if _accepted(name, *operands):
            e = FUNCTION[name](*operands)
            assert_as_numpy(name, xt.evaluate(e).numpy(), operands, f"{name} of {operands}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_zero_dimensional_tensor_is_strong(dtype):
    x = np.array([1, 2, 3], np.float32)
    zero = np.array(SPECIAL[dtype][1])
    assert_as_numpy("add", xt.evaluate(xt.asarray(x) + xt.asarray(zero)).numpy(), [x, zero], f"float32 + 0-d {dtype}")


@pytest.mark.parametrize(
    ("dtype", "scalar"), [("uint8", 256), ("uint8", -1), ("int32", 2**31), ("int64", -(2**63) - 1), ("int64", 2**63)]
)
@pytest.mark.parametrize("name", ["add", "multiply", "floor_divide", "maximum", "bitwise_and"])
def test_an_int_outside_of_the_type_is_an_overflow_error_in_the_constructor(name, dtype, scalar):
    x = xt.zeros(3, dtype)
    for operands in ((x, scalar), (scalar, x)):
        with pytest.raises(OverflowError, match=str(scalar)):
            FUNCTION[name](*operands)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
@pytest.mark.parametrize("symbol", OPERATORS)
def test_an_operator_means_the_same_from_both_sides(symbol, dtype):
    call, x = OPERATORS[symbol], np.array([1, 2, 3, 5, 7, 0], dtype)
    others = [2, np.array([3, 1, 2, 2, 0, 4], dtype), np.dtype(dtype).type(3), np.int64(2), True, 2.5]
    for other, left in itertools.product(others, (False, True)):
        t, operands = xt.array(x), ((other, x) if left else (x, other))
        try:
            with np.errstate(all="ignore"):
                want = call(*operands)
        except TypeError:
            continue
        if want.dtype not in RESULTS:
            continue
        got = xt.evaluate(call(other, t) if left else call(t, other)).numpy()
        if symbol == "**" and want.dtype.kind == "f":
            assert got.dtype == want.dtype
            assert_within_ulps(got, want, 4, f"{operands}")
        else:
            assert_same_bits(got, want, f"{operands[0]} {symbol} {operands[1]}")


@pytest.mark.parametrize(
    ("symbol", "name"), [("-", "negative"), ("+", "positive"), ("abs", "absolute"), ("~", "invert")]
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_unary_operator_is_its_function(symbol, name, dtype):
    call = {"-": operator.neg, "+": operator.pos, "abs": operator.abs, "~": operator.invert}[symbol]
    x = SPECIAL[dtype]
    if result_type(name, x) is None:
        with pytest.raises(xt.DTypeError, match=name):
            call(xt.array(x))
        return
    assert_same_bits(xt.evaluate(call(xt.array(x))).numpy(), reference(name, x), symbol)


POWERS: dict[float, Callable[[np.ndarray], np.ndarray]] = {
    -1: np.reciprocal, 0: np.ones_like, 0.5: np.sqrt, 1: np.positive, 2: np.square, 3: lambda a: a * a * a,
}  # fmt: skip


@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_structural_powers_are_numpys_fast_forms(dtype, exponent):
    x = SPECIAL[dtype]
    if dtype.kind != "f" and isinstance(exponent, int) and exponent < 0:
        with pytest.raises(ValueError, match="power"):
            xt.array(x) ** exponent
        return
    e = xt.array(x) ** exponent
    with np.errstate(all="ignore"):
        wide = x.astype(np.power(x[:1], abs(exponent)).dtype)
        want = POWERS[exponent](wide)
    assert_same_bits(xt.evaluate(e).numpy(), want, f"{dtype} ** {exponent}")
    assert_same_bits(xt.evaluate(xt.power(x, exponent)).numpy(), want, f"power({dtype}, {exponent})")


# Conversions.


def in_range(x: np.ndarray, to: np.dtype) -> np.ndarray:
    """Where NumPy's conversion is defined."""
    if x.dtype.kind != "f" or to.kind not in "iu":
        return np.ones(x.shape, bool)
    info = np.iinfo(to)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(x.astype(np.float64))
    return (whole >= float(info.min)) & (whole < float(info.max) + (to.itemsize < 8))


PAIRS = list(itertools.product(DTYPES, DTYPES))


@pytest.mark.parametrize(("source", "to"), PAIRS, ids=str)
def test_a_cast_in_range_is_numpys(source, to):
    x = SPECIAL[source]
    x = x[in_range(x, to)]
    with np.errstate(all="ignore"):
        want = x.astype(to)
    assert_same_bits(xt.evaluate(xt.cast(x, to)).numpy(), want, f"{source} to {to}")
    assert_same_bits(xt.evaluate(xt.array(x).astype(to)).numpy(), want, f"{source} to {to} by astype")


@pytest.mark.parametrize(("source", "to"), PAIRS, ids=str)
def test_a_cast_saturates_and_takes_nan_to_zero(source, to):
    x = np.concatenate([SPECIAL[source], values(source, (257,), 5)])
    assert_same_bits(xt.evaluate(xt.cast(x, to)).numpy(), reference_cast(x, to), f"{source} to {to}")


SATURATED = [
    ("uint8", [np.nan, -1.0, -0.9, 255.0, 255.9, 256.0, np.inf, -np.inf], [0, 0, 0, 255, 255, 255, 255, 0]),
    ("int32", [np.nan, 2.0**31, -(2.0**31), -(2.0**32), np.inf], [0, 2**31 - 1, -(2**31), -(2**31), 2**31 - 1]),
    ("int64", [np.nan, 2.0**63, -(2.0**63), -(2.0**64), -np.inf], [0, 2**63 - 1, -(2**63), -(2**63), -(2**63)]),
    ("bool", [np.nan, -0.0, 0.0, 1e-45, -1.0], [True, False, False, True, True]),
]


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize(("to", "given", "wanted"), SATURATED, ids=[row[0] for row in SATURATED])
def test_saturation_by_hand(source, to, given, wanted):
    x = np.array(given, source)
    assert xt.evaluate(xt.cast(x, to)).numpy().tolist() == wanted


# Choices of the contract.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_maximum_puts_plus_zero_above_minus_zero_and_minimum_below(dtype):
    a, b = np.array([0.0, -0.0, 0.0, -0.0], dtype), np.array([-0.0, 0.0, 0.0, -0.0], dtype)
    for bits in (None, 128):
        with xt.options(vector_bits=bits):
            high, low = (xt.evaluate(f(np.tile(a, 9), np.tile(b, 9))).numpy() for f in (xt.maximum, xt.minimum))
        assert np.signbit(high).tolist() == [False, False, False, True] * 9
        assert np.signbit(low).tolist() == [True, True, False, True] * 9


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fmax_and_clip_follow_the_rule_for_zeros(dtype):
    plus, minus = np.array([0.0], dtype), np.array([-0.0], dtype)
    assert not np.signbit(xt.evaluate(xt.fmax(minus, plus)).numpy()[0])
    assert not np.signbit(xt.evaluate(xt.fmax(plus, minus)).numpy()[0])
    assert np.signbit(xt.evaluate(xt.fmin(plus, minus)).numpy()[0])
    assert not np.signbit(xt.evaluate(xt.clip(minus, plus, plus)).numpy()[0])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integer_division_by_zero_is_zero(name, dtype):
    x = SPECIAL[np.dtype(dtype)]
    assert not xt.evaluate(FUNCTION[name](x, np.zeros_like(x))).numpy().any()
    assert not xt.evaluate(FUNCTION[name](x, 0)).numpy().any()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_smallest_integer_divided_by_minus_one_wraps(dtype):
    low = np.full(37, np.iinfo(dtype).min, dtype)
    assert (xt.evaluate(xt.floor_divide(low, -1)).numpy() == low).all()
    assert not xt.evaluate(xt.remainder(low, -1)).numpy().any()
    assert not xt.evaluate(xt.fmod(low, -1)).numpy().any()
    assert (xt.evaluate(xt.negative(low)).numpy() == low).all()
    assert (xt.evaluate(xt.absolute(low)).numpy() == low).all()


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_the_reciprocal_of_integer_zero_is_zero(dtype):
    assert xt.evaluate(xt.reciprocal(np.zeros(5, dtype))).numpy().tolist() == [0] * 5


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_negative_integer_exponent_is_zero_for_elements_and_an_error_for_a_scalar(dtype):
    x = np.array([1, 2, -1, -2, 0, 7], dtype)
    exponents = np.full(6, -1, dtype)
    assert xt.evaluate(xt.power(x, exponents)).numpy().tolist() == [0] * 6
    assert xt.evaluate(xt.power(x, np.iinfo(dtype).min * np.ones(6, dtype))).numpy().tolist() == [0] * 6
    with pytest.raises(ValueError, match="power"):
        xt.power(x, -2)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize("call", [np.left_shift, np.right_shift], ids=["left", "right"])
def test_a_shift_of_the_width_and_more_is_numpys(call, dtype):
    info, ours = np.iinfo(dtype), {np.left_shift: xt.left_shift, np.right_shift: xt.right_shift}[call]
    x = np.array([info.min, info.max, 1, 2, 77], dtype)
    for count in (0, 1, info.bits - 1, info.bits, info.bits + 1, info.max, *((-1, info.min) if info.min else ())):
        counts = np.full_like(x, count)
        assert_same_bits(xt.evaluate(ours(x, counts)).numpy(), call(x, counts), f"by {count}")


# The table itself.


def test_every_row_has_complete_columns():
    for row in PRIMITIVES:
        assert row.llvm, row.name
        assert set(row.llvm) == set(row.cuda), row.name
        assert set(row.llvm) <= set("fiub"), row.name
        for kind, template in row.cuda.items():
            used = {int(text[0]) for text in template.split("{")[1:] if text[0] not in "TUN"}
            assert used == set(range(row.arity)), f"cuda column of {row.name}, kind {kind}: {template}"
    for row in DERIVED:
        assert callable(row.expand), row.name
    for row in TABLE.values():
        assert callable(row.reference), row.name
        assert callable(row.resolve), row.name
        assert len(row.domain) == row.arity, row.name
        assert row.cost >= (row.name not in FREE), row.name
        assert all(d.low < d.high for d in row.domain), row.name


def test_every_row_but_building_blocks_is_public_under_its_name():
    assert set(FUNCTION) == set(TABLE) - PRIMITIVE_ONLY
    for name, function in FUNCTION.items():
        assert getattr(xt, name) is function, name
        assert function.__name__ == name
        assert function.__doc__, name


def test_a_wrong_number_of_operands_is_a_type_error():
    for name, function in FUNCTION.items():
        with pytest.raises(TypeError):
            function(*(np.ones(2, np.float32),) * (TABLE[name].arity + 1))


# Primitives, by hand-made kernels: the interpreter against NumPy, machine code against the interpreter, C++ against NumPy.

ROWS = [row for row in ALL_ROWS if not row.wide]  # the others: tests/test_half.py
ROW = {row.numpy: row for row in ROWS}
Case = tuple[str, tuple[DType, ...], DType]


def primitive_cases() -> list[Case]:
    """(name, operand types, result type) of every primitive and every type that it knows."""
    found: list[Case] = []
    for row in PRIMITIVES:
        if row.name == "lookup":  # of a table, which is no operand: it has a test of its own
            continue
        if row.name in {"where", "rarely"}:
            found += [(row.name, (BOOL, d, d), d) for d in ROWS if not d.part]
            continue
        if row.name == "times_power":
            reals, wholes = ([DTYPE_OF[f"{kind}{bits}"] for bits in (32, 64)] for kind in ("float", "int"))
            found += [(row.name, (d, n), d) for d in reals for n in wholes]
            continue
        for d in ROWS:
            if d.kind in row.llvm:
                found.append((row.name, (d,) * row.arity, BOOL if row.name in COMPARISONS else d))
    return found


PRIMITIVE_CASES = primitive_cases()


def primitive_id(case: Any) -> str | None:
    return f"{case[0]}-{'-'.join(map(str, dict.fromkeys(case[1][-2:])))}" if isinstance(case, tuple) else None


def inside(name: str, operands: list[np.ndarray]) -> list[np.ndarray]:
    """The operands where the primitive is defined: what derived rows guard against is left out."""
    a, b = operands[0], operands[-1]
    keep = np.ones(a.shape, bool)
    if name == "quotient":
        keep = b != 0
        if a.dtype.kind == "i":
            keep &= ~((a == np.iinfo(a.dtype).min) & (b == -1))
    if name in {"shift_left", "shift_right"}:
        keep = (b >= 0) & (b < 8 * b.itemsize)
    if name == "ipow" and a.dtype.kind == "i":
        keep = b >= 0
    if name == "scale":
        bound = 2 * (np.finfo(a.dtype).maxexp - 1)
        with np.errstate(all="ignore"):
            size, exponent = np.abs(a), np.rint(np.where(np.abs(b) < bound, b, bound * np.tanh(b)))
        operands = [np.where(size > 2.0**40, a.dtype.type(1.7), a), exponent.astype(a.dtype)]
        keep = np.where(np.isnan(b), np.isnan(size), (size == 0) | (size >= 2.0**-40) | np.isnan(size))
    found = [x[keep] for x in operands]
    if name == "quotient":  # whole vectors only: a lane that a mask leaves out is loaded as 0, and 0 / 0 traps
        found = [np.resize(x, -(-len(x) // 64) * 64) for x in found]
    return found


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Division towards zero, exactly."""
    found = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b, strict=True)]
    return np.array(found, a.dtype)


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The C library's fma."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    call, one = (library.fma, ctypes.c_double) if a.dtype == np.float64 else (library.fmaf, ctypes.c_float)
    call.restype, call.argtypes = one, (one,) * 3
    return np.array([call(*map(float, xs)) for xs in zip(a, b, c, strict=True)], a.dtype)


PRIMITIVE_REFERENCE: dict[str, Callable[..., Any]] = {
    "quotient": quotient, "shift_left": np.left_shift, "shift_right": np.right_shift, "maximum": reference_maximum,
    "minimum": reference_minimum, "euclid": np.gcd, "popcount": lambda a: np.bitwise_count(a).astype(a.dtype),
    "fma": fused, "rarely": np.where, "ipow": np.power, "times": np.multiply, "times_power": np.ldexp,
    "scale": lambda a, k: np.ldexp(a, np.nan_to_num(k).astype(int)),
}  # fmt: skip


def primitive_reference(name: str, operands: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(PRIMITIVE_REFERENCE.get(name, NUMPY.get(name))(*operands))


def kernel_of(value: Callable[..., Value], types: tuple[DType, ...], result: DType) -> Kernel:
    """out[i] = value(x0[i], x1[i], ...)."""
    i, n = axis("i"), size("n")
    out, *sources = leaves = [Leaf("out", result), *(Leaf(f"x{k}", d) for k, d in enumerate(types))]
    store = Store(out, i, value(*(load(leaf, i) for leaf in sources)))
    return Kernel(((i, n),), (store,), tuple(leaves), (n,), ())


def interpreted(kernel: Kernel, operands: list[np.ndarray]) -> np.ndarray:
    out = np.zeros(len(operands[0]), kernel.leaves[0].dtype.numpy)
    arrays = {leaf.name: (a, 0) for leaf, a in zip(kernel.leaves, [out, *operands], strict=True)}
    interpret(kernel, arrays, {"n": len(out)}, {})
    return out


def compiled(kernel: Kernel, operands: list[np.ndarray], bits: int | None = None) -> np.ndarray:
    out = np.zeros(len(operands[0]), kernel.leaves[0].dtype.numpy)
    code = compile_kernel(kernel, bits)
    words = struct.pack(f"={len(operands) + 2}q", *(a.ctypes.data for a in (out, *operands)), len(out))
    launcher()(code.address, words, False, 1)
    return out


def assert_primitive(name: str, got: np.ndarray, want: np.ndarray, what: str) -> None:
    if name in MATH and want.dtype.kind == "f":
        assert_within_ulps(got, want, 4, what)
    else:
        assert_same_bits(got, want, what)


@pytest.mark.parametrize("case", PRIMITIVE_CASES, ids=primitive_id)
def test_the_interpreter_and_machine_code_give_a_primitives_value(case):
    name, types, result = case
    operands = [np.ascontiguousarray(x) for x in inside(name, pairs(*(d.numpy for d in types)))]
    kernel = kernel_of(lambda *args: op(name, args, result), types, result)
    want = primitive_reference(name, operands)
    judged = interpreted(kernel, operands)
    assert_primitive(name, judged, want, f"interpreted {name}")
    for bits in (None, 128):
        assert_primitive(name, compiled(kernel, operands, bits), judged, f"compiled {name}, {bits} bits")


def lookup_of(values: tuple[float, ...], bits: int) -> Kernel:
    whole, real = DTYPE_OF[f"int{bits}"], DTYPE_OF[f"float{bits}"]
    return kernel_of(lambda k: op("lookup", (k, table(values, real)), real), (whole,), real)


@pytest.mark.parametrize("size", [2, 8, 16, 32, 64])
@pytest.mark.parametrize("bits", [32, 64])
def test_a_lookup_is_the_entry_whose_number_the_last_bits_are(monkeypatch, bits, size):
    rng = np.random.default_rng(size)
    entries = rng.normal(size=size).astype(f"float{bits}")
    entries[:2] = -0.0, np.finfo(entries.dtype).max
    at = rng.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), 77, f"int{bits}")
    kernel, want = lookup_of(tuple(entries.tolist()), bits), entries[at % size]
    assert_same_bits(interpreted(kernel, [at]), want, "interpreted")
    machine = llvm_run.machine()
    avx2 = "+avx2" in llvm_run.host_cpu()[1].split(",")
    for scales, permutes in ((machine.scales, False), (False, avx2), (False, False)):
        alike = replace(machine, scales=scales, permutes=permutes)
        monkeypatch.setattr(llvm_run, "machine", lambda alike=alike: alike)
        for width in (None, 128, 256, 512):
            assert_same_bits(compiled(kernel, [at], width), want, f"{width} bits, {scales=}, {permutes=}")


@pytest.mark.parametrize("width", [128, 256])
def test_a_table_whose_halves_differ_in_sign_is_looked_up_by_one_half(monkeypatch, width):
    machine = llvm_run.machine()
    if "+avx2" not in llvm_run.host_cpu()[1].split(","):
        pytest.skip("nothing permutes lanes here")
    half = np.float32([-0.0, 1.5, -2.0, 0.0, np.inf, 3e-45, 7.0, -9.25])
    entries = np.concatenate([half, -half])
    at = np.arange(-40, 41, dtype=np.int32)
    for scales in {machine.scales, False}:
        alike = replace(machine, scales=scales, permutes=True)
        monkeypatch.setattr(llvm_run, "machine", lambda alike=alike: alike)
        assert_same_bits(compiled(lookup_of(tuple(entries.tolist()), 32), [at], width), entries[at % 16], f"{scales=}")


@pytest.mark.parametrize(("values", "rule"), [((1.0, 2.0, 3.0), "a table of 3"), ((1.0,), "a table of 1")])
def test_a_table_has_two_four_eight_entries(values, rule):
    with pytest.raises(IRError, match=rule):
        check(lookup_of(values, 32))


def test_a_lookup_asks_for_a_table_and_nothing_else_for_one():
    real, whole = DTYPE_OF["float32"], DTYPE_OF["int32"]
    with pytest.raises(IRError, match="lookup of Load"):
        check(kernel_of(lambda k, x: op("lookup", (k, x), real), (whole, real), real))
    with pytest.raises(IRError, match="add of Table"):
        check(kernel_of(lambda x: op("add", (x, table((1.0, 2.0), real)), real), (real,), real))


@pytest.mark.parametrize("pair", CASTS, ids=lambda pair: f"{pair[0]}-to-{pair[1]}")
def test_the_interpreter_and_machine_code_give_a_cast(pair):
    tried = 0
    for source, to in itertools.product(ROWS, ROWS):
        if source is to or (source.kind, to.kind) != pair:
            continue
        x = np.concatenate([SPECIAL[source.numpy], values(source.numpy, (45,), 3)])
        kernel = kernel_of(lambda a, to=to: cast(a, to), (source,), to)
        judged = interpreted(kernel, [x])
        assert_same_bits(judged, reference_cast(x, to.numpy), f"interpreted {source} to {to}")
        assert_same_bits(compiled(kernel, [x]), judged, f"compiled {source} to {to}")
        tried += 1
    assert tried


@pytest.mark.parametrize("dtype", [d for d in ROWS if d.kind == "i"], ids=str)
def test_the_interpreter_gives_zero_for_a_negative_integer_exponent(dtype):
    x = np.array([1, 2, -1, 0], dtype.numpy)
    kernel = kernel_of(lambda a, b: op("ipow", (a, b), dtype), (dtype, dtype), dtype)
    exponents = np.array([-1, -2, -1, -5], dtype.numpy)
    assert compiled(kernel, [x, exponents]).tolist() == [0] * 4
    assert interpreted(kernel, [x, exponents]).tolist() == [0] * 4


# Derivatives.

STEP = 1e-5
DIFFERENTIABLE = [row for row in TABLE.values() if row.derivative is not None]


def sample(domain: Domain, rng: np.random.Generator, count: int) -> np.ndarray:
    low, high = max(domain.low, -3.0), min(domain.high, 3.0)
    x = rng.uniform(low, high, count)
    far = np.where(x < 0, np.minimum(x, -0.25), np.maximum(x, 0.25))
    return far if not domain.zero else x


class References:
    """NumPy's names, and those of rows that NumPy lacks."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(np, name, None) or TABLE[name].reference


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_a_derivative_is_the_limit_of_differences(row):
    rng = np.random.default_rng(20)
    operands = [sample(domain, rng, 200) for domain in row.domain]
    if row.name == "where":
        operands[0] = operands[0] > 0
    if row.name == "ldexp":
        operands[1] = rng.integers(-3, 4, 200)
    partial = row.derivative(References(), *operands)
    assert len(partial) == row.arity
    for k, x in enumerate(operands):
        if x.dtype.kind != "f":
            assert not np.any(partial[k])
            continue

        def at(step, k=k, x=x):
            return np.asarray(row.reference(*operands[:k], x + step, *operands[k + 1 :]), np.float64)

        ahead, behind = (at(STEP) - at(0)) / STEP, (at(0) - at(-STEP)) / STEP
        smooth = np.abs(ahead - behind) < 1e-2 * (1 + np.abs(ahead))  # not where a step leads over a kink
        assert smooth.mean() > 0.9
        want = (at(STEP) - at(-STEP)) / (2 * STEP)
        got = np.broadcast_to(np.asarray(partial[k], np.float64), x.shape)
        np.testing.assert_allclose(got[smooth], want[smooth], rtol=1e-6, atol=1e-7, err_msg=f"operand {k}")


def test_a_row_without_derivative_is_not_differentiable():
    smooth = {row.name for row in TABLE.values() if row.derivative is None}
    assert smooth == (
        COMPARISONS | PRIMITIVE_ONLY | {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert"}
        | {"logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf", "isfinite", "signbit", "trigamma", "nextafter"}
        | {"gcd", "lcm", "bitwise_count", "isposinf", "isneginf", "exponent", "spacing"}
    )  # fmt: skip


# The CUDA column is C++ text: a host compiler reads it where there is no GPU.

PRELUDE = """
#include <cmath>
#include <math.h>
template <class T> T xt_maximum(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T> T xt_minimum(T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T> T xt_times(T a, T b) { return a * b; }
template <class T> T xt_ipow(T a, T n) {
  if (n < 0) return 0;
  T r = 1;
  for (; n; n = n >> 1) { if (n & 1) r = r * a; a = a * a; }
  return r;
}
template <class T> T xt_euclid(T a, T b) {
  while (a) { T r = b % a; b = a; a = r; }
  return b;
}
template <class T> T xt_popcount(T a) {
  T n = 0;
  for (; a; a = a & (a - 1)) ++n;
  return n;
}
"""


def column_of(name: str, types: tuple[DType, ...]) -> str:
    return "_".join(["f", name, *map(str, types)])


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ to compile the CUDA column with")
    lines = [PRELUDE]
    for name, types, result in PRIMITIVE_CASES:
        template = {row.name: row for row in PRIMITIVES}[name].cuda[types[0].kind]
        parameters = ", ".join(f"const {d.cuda} *x{k}" for k, d in enumerate(types))
        value = template.format(*(f"x{k}[i]" for k in range(len(types))), T=result.cuda, U=unsigned(types[0]))
        lines.append(
            f'extern "C" void {column_of(name, types)}({result.cuda} *out, {parameters}, long long n) '
            f"{{ for (long long i = 0; i < n; ++i) out[i] = {value}; }}"
        )
    folder: Path = tmp_path_factory.mktemp("cuda")
    source, library = folder / "column.cpp", folder / "column.so"
    source.write_text("\n".join(lines), encoding="utf-8")
    # As a GPU computes: no contraction, integers wrap.
    flags = ["-O1", "-std=c++17", "-fPIC", "-shared", "-ffp-contract=off", "-fwrapv"]
    done = subprocess.run([compiler, *flags, source, "-o", library], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("case", PRIMITIVE_CASES, ids=primitive_id)
def test_the_cuda_column_is_cpp_of_the_same_value(cpp, case):
    name, types, result = case
    operands = [np.ascontiguousarray(x) for x in inside(name, pairs(*(d.numpy for d in types)))]
    out = np.zeros(len(operands[0]), result.numpy)
    function = getattr(cpp, column_of(name, types))
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (out, *operands)), ctypes.c_longlong(len(out)))
    assert_primitive(name, out, primitive_reference(name, operands), f"C++ of {name}")


@pytest.mark.parametrize(("dtype", "low", "high"), [(np.float32, -104, 89), (np.float64, -746, 710)])
def test_exp_is_within_one_unit_of_the_last_place(dtype, low, high):
    rng = np.random.default_rng(0)
    ranges = [(low, high), (-1, 1), (-1e-3, 1e-3), (low, 0.8 * low), (0.99 * high, high)]
    x = np.concatenate([rng.uniform(a, b, 40_000) for a, b in ranges]).astype(dtype)
    with np.errstate(over="ignore"):
        want = np.exp(x.astype(np.longdouble))
        rounded = want.astype(dtype)
    got = xt.evaluate(xt.exp(xt.asarray(x))).numpy()
    finite = np.isfinite(rounded)
    if np.finfo(np.longdouble).nmant > np.finfo(dtype).nmant:  # else there is nothing to measure with
        unit = np.maximum(np.spacing(rounded[finite]), np.finfo(dtype).smallest_subnormal)
        assert np.max(np.abs(got[finite] - want[finite]) / unit) < 1
    np.testing.assert_array_equal(np.isinf(got), np.isinf(rounded))
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30], dtype)
    np.testing.assert_array_equal(
        xt.evaluate(xt.exp(xt.asarray(special))).numpy(), [1, 1, np.inf, 0, np.nan, np.inf, 0]
    )


@pytest.mark.parametrize("scalar", [2, 0, 256, 1 << 40, -1, 0.5, float("nan"), 0.0, 1j])
def test_a_scalar_that_becomes_a_truth_value_does_so_again_and_again(scalar):
    b, k = np.array([True, False]), np.array([1, 0, 3])
    both, either = xt.zeros(2, bool), xt.zeros(3, bool)
    for _ in range(5):  # the last are direct calls, where there are any
        both[...] = xt.logical_and(xt.asarray(b), scalar)
        either[...] = xt.logical_or(xt.asarray(k), scalar)
        assert np.array_equal(both.numpy(), np.logical_and(b, scalar))
        assert np.array_equal(either.numpy(), np.logical_or(k, scalar))
