"""Functions of the representation, and products with a rule at zero."""

from __future__ import annotations

from collections.abc import Callable

from ..ir import Value
from . import coefficients as c
from .double import constant
from .exp import by_factors
from .log import log, split
from .power import log2_double
from .terms import INF, NAN, Term, as_float, copysign, fabs, fma, formula, power_of_two, rarely, times_power, where


def nextafter(a: Term, b: Term) -> Term:
    """The number next to a on the way to b; b where they are equal."""
    step = where((b > a).equals(a > 0.0), a.bits().like(1), -1)
    smallest = copysign((a.bits().like(1)).bits(a.dtype), b)
    moved = where(a.equals(0.0), smallest, (a.bits() + step).bits(a.dtype))
    return where(a.equals(a) & b.equals(b), where(a.equals(b), b, moved), NAN)


def ldexp(a: Term, n: Term) -> Term:
    """a * 2**n, rounded once."""
    return times_power(a, n)


@formula
def by_a_power(a: Term, n: Term) -> Term:
    """`times_power` where the machine has no instruction for it: one product, but for what is no exponent of normal numbers."""
    far = (n + (a.form.bias - 1)).to(f"uint{n.dtype.bits}") > 2 * a.form.bias - 1
    return rarely(far, _by_far_a_power(a, n), a * power_of_two(n.to(a.form.integer), a.dtype))


def _by_far_a_power(a: Term, n: Term) -> Term:
    """What a normal factor cannot say is first multiplied in where nothing is rounded yet."""
    form = a.form
    up, down = form.bias, 1 - form.bias + form.mantissa + 1
    for _ in range(2):
        large, small = n > up, n < 1 - form.bias
        factor = where(large, a.like(2.0**up), where(small, a.like(2.0**down), 1.0))
        a, n = a * factor, where(large, n - up, where(small, n - down, n))
    n = where(n > up, up, where(n < 1 - form.bias, 1 - form.bias, n))
    return a * power_of_two(n.to(form.integer), a.dtype)


FORMULAS: dict[str, Callable[..., Value]] = {"scale": by_factors, "times_power": by_a_power}  # of primitives


def xlogy(a: Term, b: Term) -> Term:
    """a log(b), as good as rounded once; 0 where a is 0 and b is a number."""
    if a.dtype.bits == 32:  # in float64, whose rounding float32 does not see
        value = a.to("float64") * log(b.to("float64"))
        return where(a.equals(0.0) & b.equals(b), 0.0, value.to(a.dtype))
    k, f = split(b)
    ln = log2_double(as_float(k), f) * constant(b, c.LN2_64)
    high = a * ln.high
    value = high + fma(a, ln.low, fma(a, ln.high, -high))
    odd = ~((b >= b.form.tiny) & (b < INF) & (fabs(a) < INF) & (fabs(high) < INF) & high.differs(0.0))
    return rarely(odd, where(a.equals(0.0) & b.equals(b), 0.0, a * log(b)), value)
