"""Statements with products: which become calls, which calls and a pass over the target, and which folds.

`target = alpha * dot(a, b) + beta * target` is one call, a sum of products one call each. `target = f(dot(a, b), ...)` is a call
into the target, then the statement `target = f(target, ...)`, which a check of its own proves right. Everything else is folds.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from exprten_jit import gemm
from exprten_jit.backends.llvm_call import Product, Program, Words

from ..errors import AliasError, CompileError
from ..expression.expand import Origins, expanded, rebuilt
from ..expression.expr import Expr
from ..expression.leaf import Leaf
from ..expression.product import Dot
from ..modes import MODES, Mode
from ..options import count, may_compile
from ..statement.arrange import Arranged, Signature
from ..statement.launch import RELEASE, Launch, Statement, launch_of
from .calltext import flops
from .matrices import Matrices, matrices, tensors
from .scaled import Scaled, kept, part, terms_of, whole

RELEASED_FLOPS = 1 << 22  # 0.1 ms: below it letting the interpreter lock go costs more than it gives
NEVER = 1 << 62  # elements: no target has as many
Prepared = tuple[Statement, Launch]
Prepare = Callable[[Mode, Any, Any], Prepared | None]


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
    nbytes: tuple[int, ...] = ()  # of the target and each leaf of what comes after


@dataclass(frozen=True)
class _Then:
    """A statement that follows, its launch, the scalars of the whole one that are its own, and where its views come from."""

    statement: Statement
    launch: Launch
    scalars: Sequence[int]
    origins: Origins = field(default_factory=dict)


class _UnlikeError(Exception):
    """The statement of folds has other scalars than the one it came from, or one operand where that has two."""


def prepared(s: Statement, prepare: Prepare) -> Prepared | None:
    """The launch of a statement with products. `prepare` does what an assignment does with the statement that is left."""
    if s.options.interpret or s.target.device.kind != "cpu":
        assert isinstance(s.value, Expr), "a product is an expression"
        return prepare(s.mode, s.target, expanded(s.value)[0])  # nothing is called
    try:
        return s, launch_of(s, lambda s: _new(s, prepare))
    except _UnlikeError:
        assert isinstance(s.value, Expr), "a product is an expression"
        return prepare(s.mode, s.target, expanded(s.value)[0])


def _new(s: Statement, prepare: Prepare) -> Launch:
    terms = terms_of(s)
    found = _calls(s)
    if found is not None:
        factors = whole(s, terms)
        if factors is not None:
            _check_apart(s, found)
            return _called(s, found, factors, None)
        some = part(s, terms)
        scalars = None if some is None else kept(s, some[0])
        then = None if some is None else _around(s, found, s.found.above[some[0]], prepare)
        if some is not None and then is not None and scalars is not None:
            _check_apart(s, found)
            return _called(s, found, some[1], _Then(*then, scalars))
    return _folded(s, prepare)


@dataclass(frozen=True)
class _Call:
    """A product that can be called, and its operands."""

    matrices: Matrices
    operands: tuple[Leaf, Leaf]


def _calls(s: Statement) -> list[_Call] | None:
    """How each product is called; None unless all can be: products of tensors, as large as the target and of its type."""
    calls = []
    for dot in s.found.dots:
        assert isinstance(dot, Dot), "found as one"
        like_target = dot.shape == s.target.shape and dot.key.dtype is s.target.key.dtype
        operands = tensors(dot)
        if operands is None or not isinstance(s.target, Leaf) or not like_target:
            return None
        found = matrices(dot, *operands, s.target, s.options.blas)
        if found is None:
            return None
        calls.append(_Call(found, operands))
    return calls


def _terms(calls: Sequence[_Call], factors: Scaled) -> tuple[Term, ...]:
    """The calls in order: the first has the target's factor, the others add to what is there."""
    beta = factors.beta
    terms = []
    for n, alpha in factors.alphas:
        nbytes = sum(x.nbytes for x in calls[n].operands)
        terms.append(Term(n, calls[n].matrices, alpha, beta, nbytes))
        beta = ()
    return tuple(terms)


def _check_apart(s: Statement, calls: Sequence[_Call]) -> None:
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


# What is left beside the calls.


def _around(s: Statement, calls: Sequence[_Call], products: Expr, prepare: Prepare) -> Prepared | None:
    """The statement over the target that follows when it holds `products`; None where there is none that is right."""
    assert isinstance(s.value, Expr) and isinstance(s.target, Leaf), "found by _calls"
    target = s.target
    value = rebuilt(s.value, lambda node: target if node is products else node)
    multiplied = {x for call in calls for x in call.operands}
    if s.mode.op or value.key.products or any(r and x not in multiplied for x, r in _reads_target(s).items()):
        return None
    try:
        return prepare(MODES["write"], target, value)
    except AliasError:  # the products are read elsewhere than where they are stored
        return None


def _folded(s: Statement, prepare: Prepare) -> Called:
    """The statement with a fold for every product."""
    assert isinstance(s.value, Expr), "a product is an expression"
    value, origins = expanded(s.value)
    then = prepare(s.mode, s.target, value)
    assert then is not None, "a target with elements is stored to"
    if then[0].found.words != s.found.words:
        raise _UnlikeError
    return _called(s, (), Scaled((), None), _Then(*then, range(len(s.found.words)), origins))


def nbytes_of(s: Statement) -> tuple[int, ...]:
    """Bytes of the elements of the targets and of each leaf."""
    return tuple(view.nbytes for view in (*s.targets, *s.found.leaves))


# The function of a statement. Its words: an address an operand; the sizes of each product, the shifts and the sizes of what
# follows; scalars.

_compiled: dict[tuple[tuple[Product, ...], tuple[int, Words] | None], gemm.Calling] = {}


def _called(s: Statement, calls: Sequence[_Call], factors: Scaled, then: _Then | None) -> Called:
    terms = _terms(calls, factors)
    operands = max(s.operand_of) + 1
    sizes = [_sizes(term.matrices) for term in terms]
    rest = [] if then is None else [*then.launch.arranged.shifts, *(n for _, n in then.launch.arranged.sizes)]
    first = operands + sum(map(len, sizes))
    scalars = first + len(rest)
    products, at = [], operands
    for term, words in zip(terms, sizes, strict=True):
        products.append(_product(s, calls[term.number].operands, term, at, scalars))
        at += len(words)
    after = None if then is None else (then.launch.code.address, _words(s, then, first, scalars))
    numbers = [*(n for words in sizes for n in words), *rest]
    named = tuple((f"w{n}", value) for n, value in enumerate(numbers, operands))
    signature = Signature(
        s.mode.op, None, len(s.targets), s.types, tuple(s.found.structure), (), (), indexed=True, reverse=False, options=s.options
    )  # fmt: skip
    release = s.target.size >= RELEASE or sum(flops(term.matrices) for term in terms) >= RELEASED_FLOPS
    return Called(
        _compile(s, tuple(products), after),
        Arranged(signature, named, (), (0,) * operands),
        struct.Struct(f"={operands}q"),
        struct.pack(f"={len(numbers)}q", *numbers),
        struct.Struct("=" + "".join(s.found.words)),
        tuple(s.operand_of.index(n) for n in range(operands)),
        release,
        s.options.num_threads or 0,
        1.0 if then is None else then.launch.recompute,
        many=0 if release else NEVER,
        terms=terms,
        then=None if then is None else then.launch,
        nbytes=() if then is None else nbytes_of(then.statement),
    )


def _sizes(found: Matrices) -> list[int]:
    return [*found.sizes, *found.arguments, *(n for axis in found.batch for n in axis)]


def _product(s: Statement, operands: tuple[Leaf, Leaf], term: Term, sizes: int, scalars: int) -> Product:
    found, numbers = term.matrices, _numbers(s)
    a, b = (numbers[id(x)] for x in (operands[::-1] if found.exchanged else operands))
    return Product(found.types, found.blas, a, b, sizes, scalars, len(found.batch), term.alpha, term.beta)


def _words(s: Statement, then: _Then, first: int, scalars: int) -> Words:
    """Where the words of the statement that follows lie among those of the whole one: its operands are the same memory."""
    inner, launch, numbers = then.statement, then.launch, _numbers(s)
    targets = range(len(s.targets))
    outer = [*targets, *(numbers[id(then.origins.get(id(leaf), leaf))] for leaf in inner.found.leaves)]
    if len({*zip(outer, inner.operand_of, strict=True)}) > len({*inner.operand_of}):
        raise _UnlikeError  # one operand here would be two with other memory
    count = len(launch.first)
    words: list[tuple[int, int | None]] = [(outer[n], first + k) for k, n in enumerate(launch.first)]
    words += [(first + count + k, None) for k in range(len(launch.arranged.sizes))]
    words += [(scalars + k, None) for k in then.scalars]
    return tuple(words)


def _numbers(s: Statement) -> dict[int, int]:
    """The operand that each leaf of a statement is, by its identity; a target is one, where it stands in the value."""
    views = (*s.targets, *s.found.leaves)
    return {id(view): n for view, n in zip(views, s.operand_of, strict=True)}


def _compile(s: Statement, products: tuple[Product, ...], then: tuple[int, Words] | None) -> gemm.Calling:
    name = (products, then)
    found = _compiled.get(name)
    if found is None:
        start = time.perf_counter()
        found = gemm.calling(products, then, may_compile())
        if found is None:
            raise CompileError(
                f"no_compile: {s} has no kernel yet; none was compiled for its types, layouts and factors"
            )
        _compiled[name] = found
        count(time.perf_counter() - start, found.loaded)
    return found
