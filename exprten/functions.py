"""Element-wise functions under NumPy's names: one line for each public row of the operation table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from exprten_jit.derived import TABLE

from .expression import expr
from .expression.expr import Apply, Expr, as_expr, build, cast, coerce, late
from .expression.key import MANY_PATHS, Key, Operand
from .expression.operators import SMALL
from .expression.shape import pairs

FUNCTIONS: dict[str, Callable[..., Expr]] = {}


def _function(op: str, doc: str) -> Callable[..., Expr]:
    """The function of a row: as many operands as it has, tensors, expressions, arrays or numbers."""
    function = {1: _of_one, 2: _of_two}.get(TABLE[op].arity, _of_several)(op)
    function.__name__ = function.__qualname__ = op
    function.__doc__ = doc
    return FUNCTIONS.setdefault(op, function)


_MISSING = object()  # in place of an operand that was not given


def _checked(op: str, *given: Any) -> Apply:
    """The node of as many operands as the operation has. Raises TypeError for another number of them."""
    arity, operands = TABLE[op].arity, [x for x in given if x is not _MISSING]
    if len(operands) != arity:
        raise TypeError(f"{op}: takes {arity} operand{'s' * (arity > 1)}, not {len(operands)}")
    return build(op, *operands)


def _small(key: Key) -> bool:
    """Whether no tree with that key is too large."""
    return key.paths <= MANY_PATHS and key.depth < MANY_PATHS


def _of_one(op: str) -> Callable[..., Expr]:
    known: dict[Operand, Key] = {}  # the operand's key -> the result's

    def function(a: Any = _MISSING, /, *more: Any) -> Expr:
        try:
            key = None if more else known[a.key]
        except (AttributeError, KeyError):
            key = None
        if key is None:  # not inside `except`: an error has no other one behind it
            made = _checked(op, a, *more)
            if isinstance(made.a, Expr) and _small(made.key):
                known[made.a.key] = made.key
            return made
        node = Apply()
        node.key = key
        node.shape = a.shape
        node.a = a
        return node

    return function


def _of_two(op: str) -> Callable[..., Expr]:
    known: dict[
        Operand, dict[Operand, Key]
    ] = {}  # the second operand's key, or `float` or `int` -> the first's -> the result's

    def function(a: Any = _MISSING, b: Any = _MISSING, /, *more: Any) -> Expr:
        cls = type(b)
        try:
            shape = a.shape
            if cls is float:
                key = known[float][a.key]
            elif cls is int and SMALL > b >= -SMALL:
                key = known[int][a.key]
            else:
                key = known[b.key][a.key]
                if b.shape is not shape:
                    shape = pairs[shape, b.shape]
        except (AttributeError, KeyError):
            key = None
        if key is None or more:
            made = _checked(op, a, b, *more)
            _keep(known, made)
            return made
        node = Apply()
        node.key = key
        node.shape = shape
        node.a = a
        node.b = b
        return node

    return function


def _keep(known: dict[Operand, dict[Operand, Key]], made: Apply) -> None:
    """Let a function of two operands find the key of a node by itself next time."""
    a, b, key = made.a, made.b, made.key
    if not isinstance(a, Expr) or not _small(key):
        return
    if isinstance(b, Expr):
        known.setdefault(b.key, {})[a.key] = key
    elif b.__class__ is float or (
        b.__class__ is int and key.types[1].kind in "fc"
    ):  # other ints are checked for their range
        known.setdefault(b.__class__, {})[a.key] = key


def _of_several(op: str) -> Callable[..., Expr]:
    def function(*operands: Any) -> Expr:
        return _checked(op, *operands)

    return function


def power(base: Any, exponent: Any) -> Expr:
    """`base ** exponent`. The Python scalars -1, 0, 0.5, 1, 2 and 3 as exponents are the fast forms.

    Integers to negative powers raise ValueError for a Python scalar, and are 0 for elements.
    """
    e = coerce(base, "power")
    return expr.power(e, exponent) if isinstance(e, Expr) else build("power", e, exponent)


add = _function("add", "a + b.")
subtract = _function("subtract", "a - b.")
multiply = _function("multiply", "a * b.")
divide = _function("divide", "a / b, of integers as float64.")
floor_divide = _function("floor_divide", "The quotient rounded down; of integers by 0 it is 0.")
remainder = _function("remainder", "What floor_divide leaves, with the sign of b; of integers by 0 it is 0.")
fmod = _function("fmod", "What division towards zero leaves, with the sign of a.")
negative = _function("negative", "-a.")
positive = _function("positive", "+a.")
identity = _function("identity", "a itself, as an expression.")
absolute = _function("absolute", "The value without its sign.")
fabs = _function("fabs", "The absolute value of a float.")
sign = _function("sign", "-1, 0 or 1; NaN stays NaN.")
copysign = _function("copysign", "a with the sign of b.")
signbit = _function("signbit", "Whether the sign bit is set.")
sqrt = _function("sqrt", "The square root, correctly rounded; NaN below 0.")
square = _function("square", "a * a.")
cube = _function("cube", "a * a * a.")
reciprocal = _function("reciprocal", "1 / a; of integers towards zero, 0 for 0.")
ones_like = _function("ones_like", "1 of the type of a.")
exp = _function("exp", "e to the power a.")
exp2 = _function("exp2", "2 to the power a.")
expm1 = _function("expm1", "exp(a) - 1, exact near 0.")
log = _function("log", "The natural logarithm.")
log2 = _function("log2", "The logarithm to base 2.")
log10 = _function("log10", "The logarithm to base 10.")
log1p = _function("log1p", "log(1 + a), exact near 0.")
erf = _function("erf", "The error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to a.")
erfc = _function("erfc", "1 - erf(a), exact where that is small.")
erfinv = _function("erfinv", "The number whose erf is a; NaN beyond 1.")
gamma = _function("gamma", "The gamma function: (a - 1)! for whole numbers; NaN for those below 0.")
lgamma = _function("lgamma", "The logarithm of the size of gamma.")
digamma = _function("digamma", "The derivative of lgamma.")
trigamma = _function(
    "trigamma", "The derivative of digamma, without one itself; infinite at 0 and at whole numbers below it."
)
sin = _function("sin", "The sine of radians.")
cos = _function("cos", "The cosine of radians.")
arcsin = _function("arcsin", "The angle of a sine, -pi/2 to pi/2; NaN beyond 1.")
arccos = _function("arccos", "The angle of a cosine, 0 to pi; NaN beyond 1.")
arctan = _function("arctan", "The angle of a tangent, -pi/2 to pi/2.")
arctan2 = _function("arctan2", "The angle of the point (b, a), -pi to pi.")
hypot = _function("hypot", "The length of (a, b), without overflow.")
cbrt = _function("cbrt", "The cube root.")
arcsinh = _function("arcsinh", "The inverse of sinh.")
arccosh = _function("arccosh", "The inverse of cosh; NaN below 1.")
arctanh = _function("arctanh", "The inverse of tanh; NaN beyond 1.")
nextafter = _function("nextafter", "The number next to a on the way to b.")
ldexp = _function("ldexp", "a * 2**b for integers b, rounded once.")
xlogy = _function("xlogy", "a * log(b); 0 where a is 0 and b is a number.")
rsqrt = _function("rsqrt", "1 / sqrt(a).")
tan = _function("tan", "The tangent of radians.")
sinh = _function("sinh", "The hyperbolic sine.")
cosh = _function("cosh", "The hyperbolic cosine.")
tanh = _function("tanh", "The hyperbolic tangent.")
floor = _function("floor", "Rounded down.")
ceil = _function("ceil", "Rounded up.")
trunc = _function("trunc", "Rounded towards zero.")
rint = _function("rint", "Rounded to the nearest whole number, ties to even.")
maximum = _function("maximum", "The greater; NaN where either is NaN, +0 above -0.")
minimum = _function("minimum", "The lesser; NaN where either is NaN, -0 below +0.")
fmax = _function("fmax", "The greater; a number where only one is NaN.")
fmin = _function("fmin", "The lesser; a number where only one is NaN.")
_clip = _function("clip", "a between low and high: minimum(maximum(a, low), high).")


def clip(a: Any, low: Any, high: Any) -> Expr:
    """a between low and high: minimum(maximum(a, low), high); None for no bound."""
    if low is None:
        return as_expr(coerce(a, "clip")) if high is None else minimum(a, high)
    return maximum(a, low) if high is None else _clip(a, low, high)


FUNCTIONS["clip"] = clip

conjugate = _function("conjugate", "a with the other sign of its imaginary part.")
angle = _function("angle", "The angle of a complex number, -pi to pi; of a real one 0 or pi.")


def real(a: Any) -> Expr:
    """The real part; of a complex tensor a view."""
    return as_expr(coerce(a, "real")).real


def imag(a: Any) -> Expr:
    """The imaginary part, 0 for real numbers; of a complex tensor a view."""
    return as_expr(coerce(a, "imag")).imag


where = _function("where", "a where the condition holds, else b; both are evaluated.")
less = _function("less", "a < b.")
less_equal = _function("less_equal", "a <= b.")
greater = _function("greater", "a > b.")
greater_equal = _function("greater_equal", "a >= b.")
equal = _function("equal", "a == b; NaN equals nothing.")
not_equal = _function("not_equal", "a != b.")
logical_and = _function("logical_and", "Whether both are true.")
logical_or = _function("logical_or", "Whether either is true.")
logical_xor = _function("logical_xor", "Whether one of them is true.")
logical_not = _function("logical_not", "Whether it is false.")
bitwise_and = _function("bitwise_and", "a & b.")
bitwise_or = _function("bitwise_or", "a | b.")
bitwise_xor = _function("bitwise_xor", "a ^ b.")
invert = _function("invert", "~a.")
left_shift = _function("left_shift", "a << b; 0 for counts of the width and more.")
right_shift = _function("right_shift", "a >> b; the sign alone for counts of the width and more.")
isnan = _function("isnan", "Whether it is NaN.")
isinf = _function("isinf", "Whether it is infinite.")
isfinite = _function("isfinite", "Whether it is neither NaN nor infinite.")
isposinf = _function("isposinf", "Whether it is infinite and above 0.")
isneginf = _function("isneginf", "Whether it is infinite and below 0.")
radians = _function("radians", "Degrees as radians.")
degrees = _function("degrees", "Radians as degrees.")
float_power = _function("float_power", "`base ** exponent` in float64.")
heaviside = _function("heaviside", "0 below 0, 1 above it, b at it; NaN stays NaN.")
gcd = _function("gcd", "The greatest common divisor of integers.")
lcm = _function("lcm", "The least common multiple of integers; 0 where one is 0.")
bitwise_count = _function("bitwise_count", "How many bits of the absolute value are set, as uint8.")
mantissa = _function("mantissa", "The first part of frexp: a over 2**exponent, from 1/2 below 1 in size.")
exponent = _function("exponent", "The second part of frexp, as int32; 0 of zero, infinity and NaN.")
fraction = _function("fraction", "The first part of modf: what trunc leaves, with the sign of a.")
spacing = _function("spacing", "The distance to the next float away from 0, with the sign of a.")
sinc = _function("sinc", "sin(pi * a) / (pi * a); 1 at 0.")


def frexp(a: Any) -> tuple[Expr, Expr]:
    """(mantissa, exponent) with a = mantissa * 2**exponent: two expressions, which share what they are computed from."""
    e = as_expr(coerce(a, "frexp"))
    return mantissa(e), exponent(e)


def modf(a: Any) -> tuple[Expr, Expr]:
    """(fraction, trunc), both with the sign of a: two expressions of floats."""
    e = as_expr(coerce(a, "modf"))
    part = fraction(e)
    return part, trunc(cast(e, part.dtype))


def quotient_remainder(a: Any, b: Any) -> tuple[Expr, Expr]:
    """(floor_divide, remainder): two expressions, which share the division. (np.divmod)"""
    return floor_divide(a, b), remainder(a, b)


def around(a: Any, decimals: int = 0) -> Expr:
    """Rounded to so many decimals, ties to even; integers stay what they are. (np.round)"""
    e = as_expr(coerce(a, "round"))
    if e.key.dtype.kind in "bui":
        if decimals < 0:
            raise ValueError(f"round: {decimals} decimals of integers; convert with xt.cast(x, xt.float64) first")
        return positive(e) if e.key.dtype.kind != "b" else identity(e)
    if decimals == 0:
        return rint(e)
    scale = float(10 ** abs(decimals))
    return rint(e * scale) / scale if decimals > 0 else rint(e / scale) * scale


def nan_to_num(a: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Expr:
    """a with numbers in place of NaN and infinities: the largest and the smallest of the type where none are given."""
    e = as_expr(coerce(a, "nan_to_num"))
    row = e.key.dtype
    if row.kind in "bui":
        return identity(e)
    most = float(np.finfo(row.name).max)
    high, low = most if posinf is None else posinf, -most if neginf is None else neginf
    return where(isnan(e), nan, where(isposinf(e), high, where(isneginf(e), low, e)))


# Other names of the same: the array API's, NumPy's and SciPy's.
ALIASES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift", "deg2rad": "radians", "fix": "trunc", "mod": "remainder",
    "conj": "conjugate", "psi": "digamma", "rad2deg": "degrees", "true_divide": "divide",
}  # fmt: skip
conj = conjugate
acos, acosh, asin, asinh = arccos, arccosh, arcsin, arcsinh
atan, atan2, atanh = arctan, arctan2, arctanh
bitwise_invert = bitwise_not = invert
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
deg2rad, fix, mod, psi, rad2deg, true_divide = radians, trunc, remainder, digamma, degrees, divide

late["frexp"], late["modf"], late["divmod"], late["round"] = frexp, modf, quotient_remainder, around

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cast",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "cube",
    "deg2rad",
    "degrees",
    "digamma",
    "divide",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expm1",
    "exponent",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "fraction",
    "frexp",
    "gamma",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "identity",
    "imag",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "mantissa",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "not_equal",
    "ones_like",
    "positive",
    "power",
    "psi",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "rsqrt",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trigamma",
    "true_divide",
    "trunc",
    "where",
    "xlogy",
]
