"""Quotients of integers, all lanes at once, in floats: processors divide one integer at a time.

Of 8 and 16 bits in float32, of 32 in float64, a rounded quotient is never the next whole number: what is not whole is 1 / b from it,
which is more than half of the last place. One divisor for all lanes is a factor instead: 1 / b, larger by so much that whole
quotients are not below themselves, and by so little that no others become whole.

Of 64 bits the factor is smaller than 1 / b: the float64 of a dividend times it is not above the quotient. It lacks what the same of
the remainder gives, or one more.
"""

from __future__ import annotations

from ..dtypes import DTYPES, DType
from .llvm_ops import Operations
from .llvm_text import Lanes, literal

FLOAT, DOUBLE = DTYPES["float32"], DTYPES["float64"]
ABOVE = {FLOAT: 1 + 2.0**-20, DOUBLE: 1 + 2.0**-50}
BELOW = 1 - 2.0**-50


class Quotients(Operations):
    """Emits quotients towards zero, by one divisor for all lanes or by as many."""

    def quotients(self, a: Lanes, b: Lanes, dtype: DType) -> Lanes:
        """Of numbers of up to 32 bits."""
        t, wide = self.text, DOUBLE if dtype.bits == 32 else FLOAT
        x, y = (self._made("uitofp" if dtype.kind == "u" else "sitofp", v, wide.lane) for v in (a, b))
        if b.count == 1:
            factor = t.let(f"fdiv {wide.lane} {literal(ABOVE[wide], wide)}, {y.name}", wide.lane)
            q = self._of("fmul", x, self.splat(factor, a.count))
        else:
            q = self._of("fdiv", x, y)
        whole = self._made("fptoui" if dtype.kind == "u" and dtype.bits == 32 else "fptosi", q, "i32")
        return whole if dtype.bits == 32 else self._made("trunc", whole, a.lane)

    def long_quotients(self, a: Lanes, b: Lanes, dtype: DType) -> Lanes:
        """Of numbers of 64 bits."""
        negative = None
        if dtype.kind == "i":
            negative = self._negative(self._of("xor", a, self.widened(b, a.count)))
            a, b = (self._negated(x, self._negative(x)) for x in (a, b))
        below = self.splat(Lanes(literal(BELOW, DOUBLE), "double"), b.count)
        factor = self.widened(self._of("fdiv", below, self._made("uitofp", b, "double")), a.count)
        b = self.widened(b, a.count)

        def near(x: Lanes) -> Lanes:
            """No more than the quotient of x."""
            return self._made("fptoui", self._of("fmul", self._made("uitofp", x, "double"), factor), x.lane)

        def rest(x: Lanes, q: Lanes) -> Lanes:
            return self._of("sub", x, self._of("mul", q, b))

        first = near(a)
        left = rest(a, first)
        second = near(left)
        one = self.text.let(f"icmp uge {rest(left, second)}, {b.name}", "i1", a.count)
        q = self._of("add", self._of("add", first, second), self._made("zext", one, a.lane))
        return self._negated(q, negative) if negative else q

    def _made(self, how: str, x: Lanes, lane: str) -> Lanes:
        return self.text.let(f"{how} {x} to {Lanes('', lane, x.count).type}", lane, x.count)

    def _of(self, how: str, a: Lanes, b: Lanes) -> Lanes:
        return self.text.let(f"{how} {a}, {b.name}", a.lane, a.count)

    def _negative(self, x: Lanes) -> Lanes:
        """All bits where x is."""
        return self._of("ashr", x, self.splat(Lanes("63", x.lane), x.count))

    def _negated(self, x: Lanes, negative: Lanes) -> Lanes:
        """-x where there are all bits."""
        return self._of("sub", self._of("xor", x, negative), negative)
