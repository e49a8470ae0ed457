"""What of a statement is products that can be called, what is around them, and what the target may not be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from exprten_jit.backends.llvm_call import Program

from ..errors import AliasError
from ..expression.expand import Origins, rebuilt
from ..expression.expr import Expr
from ..expression.leaf import Leaf
from ..expression.product import Dot
from ..modes import MODES, Mode
from ..statement.running import Launch, Statement
from .matrices import Matrices, tensors
from .scaled import Scaled, kept, part, terms_of, whole

Prepared = tuple[Statement, Launch]
Place = tuple[int, int, int]  # of a view: the address of its first byte, that after its last, and bytes of its elements
Prepare = Callable[[Mode, Any, Any], Prepared | None]
Matched = Callable[[Dot, Leaf, Leaf, Leaf], Matrices | None]  # how a product of two tensors into a target is called


@dataclass(frozen=True)
class Term:
    """A product that is called: which of the statement's, how, with which factors, and how many bytes its operands have."""

    number: int  # of its product in the statement
    matrices: Matrices
    alpha: Program
    beta: Program | None
    nbytes: int


@dataclass
class Called(Launch):
    """A launch of calls, `terms`, none where all is folds; `then` is the kernel after them. No tensor is held."""

    terms: tuple[Term, ...] = ()
    then: Launch | None = None
    spans: tuple[Place, ...] = ()  # of the target and each leaf of what comes after
    note: str = ""  # what should be known of it
    more: int = 0  # launches on a GPU beside one a product


@dataclass(frozen=True)
class Call:
    """A product that can be called, and its operands."""

    matrices: Matrices
    operands: tuple[Leaf, Leaf]


@dataclass(frozen=True)
class Then:
    """A statement that follows, its launch, the scalars of the whole one that are its own, and where its views come from."""

    statement: Statement
    launch: Launch
    scalars: Sequence[int]
    origins: Origins = field(default_factory=dict)


def divided(s: Statement, calls: Sequence[Call], prepare: Prepare) -> tuple[Scaled, Then | None] | None:
    """A statement as a sum of its products and what follows it; None where it is none. Raises AliasError where an operand of a product
    shares memory with the target.
    """
    terms = terms_of(s)
    factors = whole(s, terms)
    if factors is not None:
        _check_apart(s, calls)
        return factors, None
    some = part(s, terms)
    scalars = None if some is None else kept(s, some[0])
    then = None if some is None else _around(s, calls, s.found.above[some[0]], prepare)
    if some is None or then is None or scalars is None:
        return None
    _check_apart(s, calls)
    return some[1], Then(*then, scalars)


def calls_of(s: Statement, matched: Matched) -> list[Call] | None:
    """How each product is called; None unless all can be: products of tensors, as large as the target and of its type."""
    calls = []
    for dot in s.found.dots:
        assert isinstance(dot, Dot), "found as one"
        like_target = dot.shape == s.target.shape and dot.key.dtype is s.target.key.dtype
        operands = tensors(dot)
        if operands is None or not isinstance(s.target, Leaf) or not like_target:
            return None
        found = matched(dot, *operands, s.target)
        if found is None:
            return None
        calls.append(Call(found, operands))
    return calls


def called_terms(calls: Sequence[Call], factors: Scaled) -> tuple[Term, ...]:
    """The calls in order: the first has the target's factor, the others add to what is there."""
    beta = factors.beta
    terms = []
    for n, alpha in factors.alphas:
        nbytes = sum(x.nbytes for x in calls[n].operands)
        terms.append(Term(n, calls[n].matrices, alpha, beta, nbytes))
        beta = ()
    return tuple(terms)


def _check_apart(s: Statement, calls: Sequence[Call]) -> None:
    """Raise AliasError where an operand of a product shares memory with the target."""
    for leaf, reads in _reads_target(s).items():
        if reads and any(leaf is x for call in calls for x in call.operands):
            raise AliasError(
                f"assign: the target {s.target.described} shares memory with an operand of the product, of shape {leaf.shape} and "
                f"strides {leaf.strides}; each element of a product needs a whole row, so write into another tensor, or copy the "
                "operand first: xt.evaluate(operand)"
            )


def _reads_target(s: Statement) -> dict[Leaf, bool]:
    """Whether each leaf has an element of the target."""
    numbers = zip(s.found.leaves, s.operand_of[len(s.targets) :], strict=True)
    return {leaf: n == 0 or n in s.overlapping for leaf, n in numbers}


def _around(s: Statement, calls: Sequence[Call], products: Expr, prepare: Prepare) -> Prepared | None:
    """The statement over the target that follows when it holds `products`; None where there is none that is right."""
    assert isinstance(s.value, Expr) and isinstance(s.target, Leaf), "found by calls_of"
    target = s.target
    value = rebuilt(s.value, lambda node: target if node is products else node)
    multiplied = {x for call in calls for x in call.operands}
    if s.mode.op or value.key.products or any(r and x not in multiplied for x, r in _reads_target(s).items()):
        return None
    try:
        return prepare(MODES["write"], target, value)
    except AliasError:  # the products are read elsewhere than where they are stored
        return None


def places_of(s: Statement) -> tuple[Place, ...]:
    """Where the targets and each leaf lie, and how many bytes."""
    views = zip(s.addresses, (*s.targets, *s.found.leaves), strict=True)
    return tuple((*view.layout.span(address, view.key.dtype.itemsize), view.nbytes) for address, view in views)


def distinct(places: Iterable[Place]) -> int:
    """Bytes of views, of those that reach into each other no more than from their first byte to their last."""
    total = start = end = inside = 0
    for first, after, nbytes in sorted(places):
        if first >= end:
            total, start, inside = total + min(inside, end - start), first, 0
        end, inside = max(end, after), inside + nbytes
    return total + min(inside, end - start)
