"""Every operation of the table on every element type, some ten of them a kernel, and every conversion."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from strategies import BFLOAT16, DTYPES, HALVES, SPECIAL, pairs, values
from test_complex import STATEMENTS as COMPLEX
from test_ops import FUNCTION, MATH, OPERATIONS, TABLE

import exprten as xt

from . import Bench, group

TOGETHER = 10  # statements of a kernel, at most
WHOLE = [d for d in DTYPES if d.kind in "biu"]
# Formulas are long: of types that are converted to float32 or float64 one stands for all.
LONG = {*MATH, *OPERATIONS, "float_power", "sinc", "angle", "radians", "degrees"}
WITH_FORMULAS = [np.dtype(name) for name in ("float32", "float64", "int32", "float16")]


def together(
    bench: Bench,
    statements: Sequence[tuple[str, Callable[..., Any]]],
    operands: Sequence[np.ndarray],
    most: int = TOGETHER,
) -> None:
    """Functions of the same operands, each stored to a target of its own, in kernels of several statements."""
    tensors = [bench.tensor(x) for x in operands]
    for k in range(0, len(statements), most):
        batch = statements[k : k + most]
        bench.about(", ".join(name for name, _ in batch) + " of " + ", ".join(str(x.dtype) for x in operands))
        functions = [function for _, function in batch]
        outs = [bench.tensor(np.zeros(e.shape, e.dtype)) for e in (f(*tensors) for f in functions)]
        _kernel(len(outs), len(tensors))(functions)(*outs, *tensors)


def _kernel(targets: int, operands: int) -> Callable[[Sequence[Callable[..., Any]]], xt.Kernel]:
    """Makes kernels that store a function each to their first arguments."""
    outs = ", ".join(f"o{k}" for k in range(targets))
    xs = ", ".join(f"x{k}" for k in range(operands))
    body = "\n".join(f"    o{k}[...] = functions[{k}]({xs})" for k in range(targets))
    made: dict[str, Any] = {}
    exec(f"def make(functions):\n  def several({outs}, {xs}):\n{body}\n  return several", made)
    return lambda functions: xt.kernel(made["make"](functions))


def supported(dtype: np.dtype, arity: int) -> list[tuple[str, Callable[..., Any]]]:
    """The operations that take so many operands of a type."""
    found = []
    operands = [xt.zeros(1, dtype=dtype)] * arity
    for name, function in FUNCTION.items():
        if TABLE[name].arity != arity or (name in LONG and dtype not in WITH_FORMULAS):
            continue
        try:
            function(*operands)
        except xt.DTypeError:
            continue
        found.append((name, function))
    return found


def operands_of(dtype: np.dtype, arity: int) -> list[np.ndarray]:
    if arity == 1:
        return [np.concatenate([SPECIAL[dtype], values(dtype, (70,), 5)])]
    if arity == 2:
        return pairs(dtype, dtype)
    return [values(dtype, (150,), k) for k in range(arity)]


def _operations(dtype: np.dtype) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        for arity in (1, 2, 3):
            if found := supported(dtype, arity):
                together(bench, found, operands_of(dtype, arity))

    return run


for _dtype in DTYPES + HALVES:
    group(f"operations of {_dtype}")(_operations(_dtype))


@group("conversions")
def conversions(bench: Bench) -> None:
    for dtype in DTYPES + HALVES:
        statements = [(f"cast to {to}", lambda x, to=to: xt.cast(x, to)) for to in DTYPES + HALVES]
        together(bench, statements, operands_of(dtype, 1))


@group("mixed types and weak scalars")
def mixed(bench: Bench) -> None:
    rng = np.random.default_rng(0)
    types = [*DTYPES, *HALVES]
    for _ in range(24):
        a, b, c = (types[k] for k in rng.integers(0, len(types), 3))
        if BFLOAT16 in (a, b, c) and np.dtype("float16") in (a, b, c):
            continue
        operands = [values(d, (97,), 3 + k) for k, d in enumerate((a, b, c))]
        statements = [
            ("sum", lambda x, y, z: x + y),
            ("greatest", lambda x, y, z: xt.maximum(x, y)),
            ("choice", xt.where),
            ("comparison", lambda x, y, z: (x < y) & (y <= z)),
            ("weak", lambda x, y, z: x * 3 + y),
            ("weak float", lambda x, y, z: (x + y) * 0.5),
        ]
        together(bench, statements, operands)
    for dtype in ("float16", "float32", "float64"):
        exponents = rng.integers(-2200, 2200, 300).astype("i4")
        exponents[::2] //= 64
        together(bench, [("ldexp", xt.ldexp)], [values(np.dtype(dtype), (300,), 9), exponents])


@group("complex numbers")
def complex_numbers(bench: Bench) -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.complex64, np.complex128):
        a, b = (rng.standard_normal((2, 5, 11)) + 1j * rng.standard_normal((2, 5, 11))).astype(dtype)
        for name, statement in COMPLEX.items():
            bench.about(f"{name} of {np.dtype(dtype)}")
            bench.evaluate(statement(bench.tensor(a), bench.tensor(b)))
            bench.evaluate(statement(bench.tensor(a, "transposed"), bench.tensor(b, "step2")))
