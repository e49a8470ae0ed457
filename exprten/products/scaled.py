"""Where a value is alpha * dot(a, b) + ... + beta * target. Told from the structure: scalars are factors, whatever they are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from exprten_jit.backends.llvm_call import Program

from ..statement.gather import WEAK
from ..statement.running import Statement

_SIGNS: dict[str, Program] = {"add": (), "subtract": (("neg", None),)}  # modes that are calls


@dataclass(frozen=True)
class Scaled:
    """A sum of products, each by its number among them with what it is multiplied with; and of the target, unless `beta` is None."""

    alphas: tuple[tuple[int, Program], ...]
    beta: Program | None

    def times(self, *step: tuple[str, int | None]) -> Scaled:
        """All of it multiplied."""
        beta = None if self.beta is None else (*self.beta, *step)
        return Scaled(tuple((n, (*alpha, *step)) for n, alpha in self.alphas), beta)

    def plus(self, other: Scaled) -> Scaled | None:
        """The sum of different terms."""
        numbers = [n for n, _ in (*self.alphas, *other.alphas)]
        if len({*numbers}) < len(numbers) or (self.beta is not None and other.beta is not None):
            return None
        return Scaled((*self.alphas, *other.alphas), other.beta if self.beta is None else self.beta)


Term = Scaled | int | None  # of an entry of the structure; an int: the scalar of that number


def _scalars(structure: Sequence[tuple[Any, ...]]) -> Iterator[tuple[Any, tuple[int, ...], list[range]]]:
    """Of each entry the key, the entries of its operands, and the numbers of its scalars: for each operand that is one, or its own.
    A complex one is two.
    """
    count = 0
    for key, *rest in structure:
        refs = tuple(rest[: len(key.args)])
        rows = (
            [key.dtype] if key.op == "scalar" else [t for t, ref in zip(key.types, refs, strict=False) if ref == WEAK]
        )
        own = []
        for row in rows:
            own.append(range(count, count + len(row.word)))
            count += len(row.word)
        yield key, refs, own


def terms_of(s: Statement) -> list[Term]:
    """What each entry of a structure with products is; None for what is no such sum, or of another shape or type than the target."""
    terms: list[Term] = []
    dots = 0
    for (key, refs, own), entry, shape in zip(
        _scalars(s.found.structure), s.found.structure, s.found.shapes, strict=True
    ):
        numbers = iter(own)
        args = [next(numbers)[0] if ref == WEAK else terms[ref] for ref in refs]
        fits = key.dtype is s.target.key.dtype and shape == s.target.shape
        match key.op:
            case "scalar":
                terms.append(own[0][0] if (key.dtype.kind == "f") == (s.target.key.dtype.kind == "f") else None)
            case "leaf":
                terms.append(Scaled((), ()) if s.operand_of[len(s.targets) + entry[1]] == 0 else None)
            case "dot":
                terms.append(Scaled(((dots, ()),), None) if fits else None)
                dots += 1
            case _:
                terms.append(_term(key, args) if fits and {*key.types} == {key.dtype} else None)
    return terms


def _term(key: Any, args: list[Term]) -> Term:
    """An operation on terms; None for one that is no factor and no sum."""
    left, right = (*args, None)[:2]
    match key.op, left, right:
        case (("multiply" | "divide"), _, _) if (
            key.dtype.kind in "bc"
        ):  # a count of true pairs has none, a complex one is two words
            return None
        case "positive", Scaled(), _:
            return left
        case "negative", Scaled(), _:
            return left.times(("neg", None))
        case (("multiply" | "divide"), Scaled(), int()):
            return left.times(("mul" if key.op == "multiply" else "div", right))
        case "multiply", int(), Scaled():
            return right.times(("mul", left))
        case (("add" | "subtract"), Scaled(), Scaled()):
            return left.plus(right if key.op == "add" else right.times(("neg", None)))
    return None


def whole(s: Statement, terms: list[Term]) -> Scaled | None:
    """The whole statement as such a sum, with the factors of its mode; None where it is none."""
    last = terms[-1]
    if not isinstance(last, Scaled) or len(last.alphas) < len(s.found.dots):
        return None
    if s.mode.op is None:
        return last
    if s.mode.op not in _SIGNS or last.beta is not None or {*s.types} != {s.target.key.dtype}:
        return None
    return Scaled(last.times(*_SIGNS[s.mode.op]).alphas, ())


def kept(s: Statement, replaced: int) -> list[int] | None:
    """The scalars that stay when an entry is replaced; None where one of them is shared with what goes, so that their order is not known."""
    entries = [*_scalars(s.found.structure)]
    stay = _below(entries, len(entries) - 1, {replaced})
    go = _below(entries, replaced, set())
    if any(own for n, (_, _, own) in enumerate(entries) if n in stay and n in go):
        return None
    return [number for n, (_, _, own) in enumerate(entries) if n in stay for numbers in own for number in numbers]


def _below(entries: Sequence[tuple[Any, tuple[int, ...], list[range]]], root: int, without: set[int]) -> set[int]:
    """An entry and everything it is made of, but for what only `without` is made of."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        n = stack.pop()
        if n not in seen and n not in without:
            seen.add(n)
            stack.extend(ref for ref in entries[n][1] if ref != WEAK)
    return seen


def part(s: Statement, terms: list[Term]) -> tuple[int, Scaled] | None:
    """The largest part of a value that is such a sum, without the target: its entry, and what it is. None where products stand apart."""
    for n, term in reversed([*enumerate(terms)]):
        if isinstance(term, Scaled) and len(term.alphas) == len(s.found.dots) and term.beta is None:
            return n, term
    return None
