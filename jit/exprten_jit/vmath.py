"""Mathematical functions in kernel IR: arithmetic that every backend and the interpreter do alike, lane by lane or not at all.

No operation is contracted, so the bits are the same everywhere and at every width.
"""

from __future__ import annotations

from dataclasses import dataclass

from .dtypes import BOOL, DTYPES, DType
from .ir import Value, bits, const, op


def _where(condition: Value, a: Value, b: Value) -> Value:
    return op("where", (condition, a, b), a.dtype)


def _two(name: str, a: Value, b: Value | float) -> Value:
    return op(name, (a, b if isinstance(b, Value) else const(a.dtype.python(b), a.dtype)), a.dtype)


def _add(a: Value, b: Value | float) -> Value:
    return _two("add", a, b)


def _sub(a: Value, b: Value | float) -> Value:
    return _two("subtract", a, b)


def _mul(a: Value, b: Value | float) -> Value:
    return _two("multiply", a, b)


@dataclass(frozen=True)
class _Format:
    """A binary format: the integers of its width, its mantissa and bias; and for exp where it is 0 and infinite, ln 2 in a part that
    k times is exact and a rest, and the coefficients of r (1 - 2 (exp(r) - 1) / (exp(r) + 1)) / r² in r² (fdlibm e_exp.c, e_expf.c).
    """

    integer: DType
    mantissa: int
    bias: int
    low: float
    high: float
    ln2: tuple[float, float]
    exp: tuple[float, ...]


_FORMATS = {
    32: _Format(DTYPES["int32"], 23, 127, -104.0, 89.0, (6.9314575195e-01, 1.4286067653e-06),
                (1.6666625440e-1, -2.7667332906e-3)),
    64: _Format(DTYPES["int64"], 52, 1023, -746.0, 710.0, (6.93147180369123816490e-01, 1.90821492927058770002e-10),
                (1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
                 -1.65339022054652515390e-06, 4.13813679705723846039e-08)),
}  # fmt: skip
LOG2_E = 1.44269504088896340736


def exp(a: Value) -> Value:
    """exp(k ln 2 + r) = 2^k exp(r), with r at most half of ln 2, and exp(r) from a rational function. Within 1 unit in the last
    place; subnormal results are rounded once more.
    """
    form = _FORMATS[a.dtype.bits]
    low, high = const(form.low, a.dtype), const(form.high, a.dtype)
    x = _where(op("less", (a, low), BOOL), low, _where(op("greater", (a, high), BOOL), high, a))  # NaN stays
    shifter = const(1.5 * 2.0**form.mantissa, a.dtype)  # added, it leaves a whole number in the last bits
    shifted = _add(_mul(x, LOG2_E), shifter)
    k = _sub(shifted, shifter)
    above, below = _sub(x, _mul(k, form.ln2[0])), _mul(k, form.ln2[1])
    r = _sub(above, below)
    square = _mul(r, r)
    polynomial: Value = const(form.exp[-1], a.dtype)
    for coefficient in reversed(form.exp[:-1]):
        polynomial = _add(_mul(polynomial, square), coefficient)
    c = _sub(r, _mul(square, polynomial))
    quotient = _two("divide", _mul(r, c), _sub(const(2.0, a.dtype), c))
    result = _sub(const(1.0, a.dtype), _sub(_sub(below, quotient), above))
    whole = _sub(bits(shifted, form.integer), bits(shifter, form.integer))
    half = _two("shift_right", whole, 1)
    return _mul(_mul(result, _power_of_two(half, a.dtype)), _power_of_two(_sub(whole, half), a.dtype))


def _power_of_two(k: Value, dtype: DType) -> Value:
    form = _FORMATS[dtype.bits]
    return bits(_two("shift_left", _add(k, form.bias), form.mantissa), dtype)
