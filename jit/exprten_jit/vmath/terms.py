"""Formulas over kernel IR: a value of one float type with operators, and what a formula needs of the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

from ..dtypes import BOOL, DTYPES, DType
from ..ir import Value, bits, cast, const, op, table


@dataclass(frozen=True)
class Format:
    """A binary format: the integers of its width, the bits of its mantissa, its bias, and its least normal number."""

    integer: DType
    mantissa: int
    bias: int
    tiny: float


FORMATS = {
    32: Format(DTYPES["int32"], 23, 127, 2.0**-126),
    64: Format(DTYPES["int64"], 52, 1023, 2.0**-1022),
}
INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True, eq=False)
class Term:
    """A value in a formula; Python numbers take the type of what they meet."""

    value: Value

    @property
    def dtype(self) -> DType:
        return self.value.dtype

    @property
    def form(self) -> Format:
        return FORMATS[self.dtype.bits]

    def like(self, number: float) -> Term:
        return Term(const(self.dtype.python(number), self.dtype))

    def _two(self, name: str, other: Term | float, to: DType | None = None) -> Term:
        b = other if isinstance(other, Term) else self.like(other)
        return Term(op(name, (self.value, b.value), to or self.dtype))

    def __add__(self, other: Term | float) -> Term:
        return self._two("add", other)

    def __radd__(self, other: float) -> Term:
        return self.like(other) + self

    def __sub__(self, other: Term | float) -> Term:
        return self._two("subtract", other)

    def __rsub__(self, other: float) -> Term:
        return self.like(other) - self

    def __mul__(self, other: Term | float) -> Term:
        return self._two("times" if self.dtype.kind == "f" else "multiply", other)

    def __rmul__(self, other: float) -> Term:
        return self * other

    def __truediv__(self, other: Term | float) -> Term:
        return self._two("divide", other)

    def __rtruediv__(self, other: float) -> Term:
        return self.like(other) / self

    def __neg__(self) -> Term:
        return Term(op("negative", (self.value,), self.dtype)) if self.dtype.kind == "f" else self.like(0) - self

    def __lt__(self, other: Term | float) -> Term:
        return self._two("less", other, BOOL)

    def __le__(self, other: Term | float) -> Term:
        return self._two("less_equal", other, BOOL)

    def __gt__(self, other: Term | float) -> Term:
        return self._two("greater", other, BOOL)

    def __ge__(self, other: Term | float) -> Term:
        return self._two("greater_equal", other, BOOL)

    def equals(self, other: Term | float) -> Term:
        return self._two("equal", other, BOOL)

    def differs(self, other: Term | float) -> Term:
        return self._two("not_equal", other, BOOL)

    def __and__(self, other: Term | int) -> Term:
        return self._two("bitwise_and", other)

    def __or__(self, other: Term | int) -> Term:
        return self._two("bitwise_or", other)

    def __xor__(self, other: Term | int) -> Term:
        return self._two("bitwise_xor", other)

    def __lshift__(self, count: Term | int) -> Term:
        return self._two("shift_left", count)

    def __rshift__(self, count: Term | int) -> Term:
        return self._two("shift_right", count)

    def __invert__(self) -> Term:
        return self ^ (True if self.dtype is BOOL else -1)

    def bits(self, dtype: DType | None = None) -> Term:
        """The same bits as the integer of the width, or as `dtype`."""
        return Term(bits(self.value, dtype or DTYPES[f"int{self.dtype.bits}"]))

    def to(self, dtype: DType | str) -> Term:
        """Converted."""
        return Term(cast(self.value, DTYPES[dtype] if isinstance(dtype, str) else dtype))


def formula(build: Callable[..., Term]) -> Callable[..., Value]:
    """`build`, a function of terms, as the `expand` of a row: a function of values."""
    return rounded_once(of_format(build))


def of_format(build: Callable[..., Term]) -> Callable[..., Value]:
    """The same of a function that asks for the format of its operands, narrow ones too: the next number, say."""

    @wraps(build)
    def expand(*operands: Value) -> Value:
        return build(*map(Term, operands)).value

    return expand


def rounded_once(expand: Callable[..., Value]) -> Callable[..., Value]:
    """`expand` of narrow floats is computed in the wide type, and only the result is rounded."""

    @wraps(expand)
    def wide(*operands: Value) -> Value:
        result = expand(*(cast(x, x.dtype.computed) for x in operands))
        narrow = operands[0].dtype
        return cast(result, narrow) if narrow.wide and result.dtype is narrow.computed else result

    return wide


def _one(name: str, a: Term) -> Term:
    return Term(op(name, (a.value,), a.dtype))


def fabs(a: Term) -> Term:
    return _one("fabs", a)


def sqrt(a: Term) -> Term:
    return _one("sqrt", a)


def floor(a: Term) -> Term:
    return _one("floor", a)


def trunc(a: Term) -> Term:
    return _one("trunc", a)


def rint(a: Term) -> Term:
    return _one("rint", a)


def copysign(a: Term, b: Term) -> Term:
    return a._two("copysign", b)


def fma(a: Term, b: Term | float, c: Term | float) -> Term:
    """a * b + c, rounded once."""
    return Term(op("fma", (a.value, *(x.value if isinstance(x, Term) else a.like(x).value for x in (b, c))), a.dtype))


def lookup(k: Term, entries: Sequence[float]) -> Term:
    """The entry whose number the last bits of k are, as the float of its width."""
    dtype = DTYPES[f"float{k.dtype.bits}"]
    return Term(op("lookup", (k.value, table(tuple(entries), dtype)), dtype))


def scale(a: Term, k: Term) -> Term:
    """a * 2**k, rounded once, for an a near 1 and a whole number k as a float."""
    return a._two("scale", k)


def times_power(a: Term, n: Term) -> Term:
    """a * 2**n, rounded once, for an integer n."""
    return a._two("times_power", n)


def _choice(name: str, condition: Term, a: Term | float, b: Term | float) -> Term:
    typed = a if isinstance(a, Term) else b
    assert isinstance(typed, Term), "one side of a choice has a type"
    x, y = (t if isinstance(t, Term) else typed.like(t) for t in (a, b))
    return Term(op(name, (condition.value, x.value, y.value), x.dtype))


def where(condition: Term, a: Term | float, b: Term | float) -> Term:
    return _choice("where", condition, a, b)


def rarely(condition: Term, a: Term | float, b: Term | float) -> Term:
    """`where`, whose `a` costs nothing while no lane has the condition."""
    return _choice("rarely", condition, a, b)


def lesser(a: Term, bound: Term | float) -> Term:
    """The smaller; a where either is NaN."""
    return where(a > bound, bound, a)


def greater(a: Term, bound: Term | float) -> Term:
    """The greater; a where either is NaN."""
    return where(a < bound, bound, a)


def ordinary(a: Term, spared: int = 0, least: int | None = None) -> Term:
    """Whether a is above 0, normal and finite, not below 2**least and below the last `spared` powers of two: one comparison of its bits."""
    unsigned = DTYPES[f"uint{a.dtype.bits}"]
    first = 1 if least is None else least + a.form.bias
    low, high = first << a.form.mantissa, (2 * a.form.bias + 1 - spared) << a.form.mantissa
    return a.bits(unsigned) - low < high - low


def polynomial(coefficients: Sequence[float | Term], x: Term) -> Term:
    """The sum of c[k] x**k (Horner)."""
    *rest, last = coefficients
    total = last if isinstance(last, Term) else x.like(last)
    for c in reversed(rest):
        total = fma(total, x, c)
    return total


def side_by_side(coefficients: Sequence[float | Term], x: Term) -> Term:
    """The same as polynomials of four terms in one of x**4: of a dozen terms one chain would be waited for."""
    fours = [coefficients[n : n + 4] for n in range(0, len(coefficients), 4)]
    square = x * x
    return polynomial([four[0] if len(four) == 1 else polynomial(four, x) for four in fours], square * square)


def nearest(x: Term, scale: float, base: int = 0, unit: float = 1.0) -> tuple[Term, Term]:
    """(the whole number k nearest to scale * x, as a float, times `unit`, a power of two; a float whose last bits are k + base)."""
    shifter = x.like((1.5 * 2.0**x.form.mantissa + base) * unit)
    shifted = fma(x, scale * unit, shifter)
    return shifted - shifter, shifted


def power_of_two(k: Term, dtype: DType) -> Term:
    """2**k for an integer within the exponents of normal numbers."""
    form = FORMATS[dtype.bits]
    return ((k + form.bias) << form.mantissa).bits(dtype)


def as_float(k: Term) -> Term:
    """A small integer as the float of its width."""
    if k.dtype.bits == 32:
        return k.to("float32")
    shifter = Term(const(1.5 * 2.0**52, DTYPES["float64"]))  # before AVX-512 nothing converts vectors of int64
    return (k + shifter.bits()).bits(shifter.dtype) - shifter


# Pairs: an unevaluated sum of two numbers, the second at most half a unit of the first.

Pair = tuple[Term, Term]


def two_sum(a: Term, b: Term) -> Pair:
    """a + b, exactly. (Knuth)"""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def fast_two_sum(a: Term | float, b: Term) -> Pair:
    """a + b, exactly, where abs(a) is not below abs(b). (Dekker)"""
    a = a if isinstance(a, Term) else b.like(a)
    s = a + b
    return s, b - (s - a)


def two_product(a: Term, b: Term | float) -> Pair:
    """a * b, exactly."""
    p = a * b
    return p, fma(a, b, -p)
