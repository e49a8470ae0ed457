"""A statement that multiplies matrices, as a function: calls of BLAS or of our own kernel, and the kernel that comes after them.

Like every kernel it takes one pointer to 8-byte words, addresses, sizes and scalars, and how many threads may work on it. Where the
words lie is told by number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .llvm_gemm import SIZES, Gemm
from .llvm_text import Lanes, Text

Program = tuple[
    tuple[str, int | None], ...
]  # what a factor of 1 is multiplied with, divided by, or negated, in this order
Words = tuple[
    tuple[int, int | None], ...
]  # for each word of another kernel the word it is, and one that is added to it


@dataclass(frozen=True)
class Blas:
    """A routine and how it is called: `N` or `T` for each matrix; `swapped`: b comes before a. `threads`: the addresses of what tells
    and what sets how many it uses, where it has them.
    """

    routine: str
    integer: str
    address: int
    flags: str
    swapped: bool
    threads: tuple[int, int] | None = None


@dataclass(frozen=True)
class Product:
    """A product into word 0. `a` and `b` are words of addresses; the sizes from word `sizes` on are those of `llvm_gemm`, then the
    arguments of the BLAS routine, then for each of `batch` axes an extent and the bytes from one matrix to the next, of the target,
    a and b. Without `beta` the target is not read.
    """

    types: Gemm
    blas: Blas | None
    a: int
    b: int
    sizes: int
    scalars: int  # the first word of them
    batch: int
    alpha: Program
    beta: Program | None

    @property
    def runtime(self) -> bool:
        """Whether alpha or beta is known only when it is called."""
        return any(n is not None for _, n in (*self.alpha, *(self.beta or ())))


ARGUMENTS = {
    "gemm": 6,
    "gemv": 5,
}  # integers: m n k and three leading dimensions; rows, columns, one, and two increments


def emit(products: Sequence[Product], then: Words | None) -> str:
    """The module: `kernel`, which calls `gemm0` or `blas0` of the first product, and so on, and `then`."""
    return _Emitter().module(products, then)


class _Emitter:
    def __init__(self) -> None:
        self.text = Text()

    def module(self, products: Sequence[Product], then: Words | None) -> str:
        t = self.text
        for number, product in enumerate(products):
            self.number = number
            self._product(product)
        if then is not None:
            self._then(then)
        t.put("ret void")
        head = "define void @kernel(ptr %words, i64 %threads) nounwind {\nentry:"
        return "\n".join([*t.declared.values(), head, *t.reserved, *t.lines, "}", ""])

    def _word(self, n: int, lane: str = "i64") -> Lanes:
        at = self.text.let(f"getelementptr i64, ptr %words, i64 {n}", "ptr").name
        return self.text.let(f"load {lane}, ptr {at}", lane)

    # the product

    def _product(self, p: Product) -> None:
        self.alpha, self.beta = self._factor(p, p.alpha), self._factor(p, p.beta or ())
        self.sizes = self.text.let(f"getelementptr i64, ptr %words, i64 {p.sizes}", "ptr").name
        first = p.sizes + len(SIZES)
        if p.blas is not None:
            count = ARGUMENTS[p.blas.routine]
            self.integers = [self._held(self._integer(p.blas, first + n)) for n in range(count)]
            self.flags = [self._held(Lanes(str(ord(flag)), "i8")) for flag in p.blas.flags]
            factors = [self.alpha, self.beta if p.beta is not None else _zero(self.beta)]
            self.factors = [self._held(x, bool(p.types.c.part)) for x in factors]
            first += count
        self._batch(p, first, p.batch, [self._word(n, "ptr").name for n in (0, p.a, p.b)])

    def _factor(self, p: Product, program: Program) -> Lanes:
        """alpha or beta: whole numbers for whole numbers, else worked out in float64. Of complex numbers it is real."""
        t, real = self.text, p.types.c.kind in "fc"
        value = Lanes("1.0" if real else "1", "double" if real else "i64")
        for op, n in program:
            if n is None:
                value = t.let(f"fneg {value}" if real else f"sub i64 0, {value.name}", value.lane)
            else:
                word = self._word(p.scalars + n, value.lane)
                value = t.let(f"{'f' * real}{op} {value}, {word.name}", value.lane)
        return t.let(f"fptrunc {value} to float", "float") if p.types.c.real.lane == "float" else value

    def _integer(self, blas: Blas, n: int) -> Lanes:
        word = self._word(n)
        return word if blas.integer == "i64" else self.text.let(f"trunc {word} to {blas.integer}", blas.integer)

    def _held(self, value: Lanes, imaginary: bool = False) -> str:
        """Where a value lies: BLAS takes addresses. With an `imaginary` part of 0 behind it, where it is to be a complex number."""
        place = self.text.reserve(f"[2 x {value.type}]" if imaginary else value.type)
        self.text.put(f"store {value}, ptr {place}")
        if imaginary:
            behind = self.text.let(f"getelementptr {value.type}, ptr {place}, i64 1", "ptr").name
            self.text.put(f"store {_zero(value)}, ptr {behind}")
        return place

    def _batch(self, p: Product, first: int, axes: int, places: list[str]) -> None:
        """The loops over the remaining `axes` of a batch, whose sizes begin at word `first`; then the call."""
        if not axes:
            self._call(p, *places)
            return
        extent, *steps = (self._word(first + n).name for n in range(4))

        def one(i: str) -> None:
            t = self.text
            moved = [
                t.let(f"getelementptr i8, ptr {place}, i64 {t.index('mul', i, step)}", "ptr").name
                for place, step in zip(places, steps, strict=True)
            ]
            self._batch(p, first + 4, axes - 1, moved)

        self.text.loop("0", extent, 1, one)

    def _call(self, p: Product, c: str, a: str, b: str) -> None:
        if p.blas is None:
            self._own(p, c, a, b)
        elif not p.runtime:
            self._blas(p.blas, c, a, b)
        else:  # BLAS takes a factor of 0 for leave to look at nothing; here 0 * NaN is NaN
            t = self.text
            zero = [t.let(f"fcmp oeq {x}, 0.0", "i1").name for x in (self.alpha, self.beta)]
            either = t.let(f"or i1 {zero[0]}, {zero[1]}", "i1").name
            self.text.either(either, lambda: self._own(p, c, a, b), lambda: self._blas(p.blas, c, a, b))  # type: ignore[arg-type]

    def _own(self, p: Product, c: str, a: str, b: str) -> None:
        read = Lanes(str(int(p.beta is not None)), "i64")
        self.text.call_void(
            f"@gemm{self.number}",
            *(f"ptr {x}" for x in (c, a, b, self.sizes)),
            *map(str, (self.alpha, self.beta, read)),
            "i64 %threads",
        )

    def _blas(self, blas: Blas, c: str, a: str, b: str) -> None:
        one, two = (b, a) if blas.swapped else (a, b)
        alpha, beta = self.factors
        n = self.integers
        if blas.routine == "gemm":
            arguments = [*self.flags, *n[:3], alpha, one, n[3], two, n[4], beta, c, n[5]]
        else:
            arguments = [*self.flags, *n[:2], alpha, one, n[2], two, n[3], beta, c, n[4]]
        call = f"@blas{self.number}", *(f"ptr {x}" for x in arguments)
        if blas.threads is None:
            self.text.call_void(*call)
        else:
            self._bounded(lambda: self.text.call_void(*call))

    def _bounded(self, call: Callable[[], None]) -> None:
        """`call` with as many threads of BLAS as this kernel may have, which is what they are set to where it may have any number."""
        t = self.text
        bound = t.let("icmp sgt i64 %threads, 0", "i1").name
        before = t.call(f"@get{self.number}", "i32", 1)
        asked = t.let("trunc i64 %threads to i32", "i32")
        t.when(bound, lambda: t.call_void(f"@set{self.number}", str(asked)))
        call()
        t.when(bound, lambda: t.call_void(f"@set{self.number}", str(before)))

    # what comes after it

    def _then(self, words: Words) -> None:
        t = self.text
        place = t.reserve(f"[{max(1, len(words))} x i64]")
        for n, (word, shift) in enumerate(words):
            value = self._word(word).name
            if shift is not None:
                value = t.index("add", value, self._word(shift).name)
            t.put(f"store i64 {value}, ptr {t.let(f'getelementptr i64, ptr {place}, i64 {n}', 'ptr').name}")
        t.call_void("@then", f"ptr {place}", "i64 %threads")


def _zero(like: Lanes) -> Lanes:
    return Lanes("0.0", like.lane)
