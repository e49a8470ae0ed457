"""Statements with products: which become calls, which calls and a pass over the target, and which folds.

`target = alpha * dot(a, b) + beta * target` is one call, a sum of products one call each. `target = f(dot(a, b), ...)` is a call
into the target, then the statement `target = f(target, ...)`, which a check of its own proves right. Everything else is folds.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from functools import partial

from exprten_jit import gemm
from exprten_jit.backends.llvm_call import Product, Words

from ..errors import CompileError
from ..expression.expand import expanded
from ..expression.expr import Expr
from ..expression.leaf import Leaf
from ..options import count, in_room, may_compile
from ..statement.launch import launch_of
from ..statement.running import RELEASE, Launch, Statement
from ..statement.signature import Arranged, Signature
from .calltext import flops
from .matrices import Matrices, matrices
from .ongpu import launched
from .scaled import Scaled
from .terms import Call, Called, Prepare, Prepared, Term, Then, called_terms, calls_of, divided, places_of

RELEASED_FLOPS = 1 << 22  # 0.1 ms: below it letting the interpreter lock go costs more than it gives
NEVER = 1 << 62  # elements: no target has as many


class _UnlikeError(Exception):
    """The statement of folds has other scalars than the one it came from, or one operand where that has two."""


def prepared(s: Statement, prepare: Prepare) -> Prepared | None:
    """The launch of a statement with products. `prepare` does what an assignment does with the statement that is left."""
    if s.options.interpret:
        assert isinstance(s.value, Expr), "a product is an expression"
        return prepare(s.mode, s.target, expanded(s.value)[0])  # nothing is called
    if s.target.device.kind != "cpu":
        return s, launch_of(s, lambda s: launched(s, prepare))
    try:
        return s, launch_of(s, lambda s: _new(s, prepare))
    except _UnlikeError:
        assert isinstance(s.value, Expr), "a product is an expression"
        return prepare(s.mode, s.target, expanded(s.value)[0])


def _new(s: Statement, prepare: Prepare) -> Launch:
    calls = calls_of(s, partial(matrices, wanted=s.options.blas))
    found = None if calls is None else divided(s, calls, prepare)
    if calls is None or found is None:
        return _folded(s, prepare)
    return _called(s, calls, *found)


def _folded(s: Statement, prepare: Prepare) -> Called:
    """The statement with a fold for every product."""
    assert isinstance(s.value, Expr), "a product is an expression"
    value, origins = expanded(s.value)
    then = prepare(s.mode, s.target, value)
    assert then is not None, "a target with elements is stored to"
    if then[0].found.words != s.found.words:
        raise _UnlikeError
    return _called(s, (), Scaled((), None), Then(*then, range(len(s.found.words)), origins))


# The function of a statement. Its words: an address an operand; the sizes of each product, the shifts and the sizes of what
# follows; scalars.

_compiled: dict[tuple[tuple[Product, ...], tuple[int, Words] | None], gemm.Calling] = {}


def _called(s: Statement, calls: Sequence[Call], factors: Scaled, then: Then | None) -> Called:
    terms = called_terms(calls, factors)
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
        spans=() if then is None else places_of(then.statement),
    )


def _sizes(found: Matrices) -> list[int]:
    return [*found.sizes, *found.arguments, *(n for axis in found.batch for n in axis)]


def _product(s: Statement, operands: tuple[Leaf, Leaf], term: Term, sizes: int, scalars: int) -> Product:
    found, numbers = term.matrices, _numbers(s)
    a, b = (numbers[id(x)] for x in (operands[::-1] if found.exchanged else operands))
    return Product(found.types, found.blas, a, b, sizes, scalars, len(found.batch), term.alpha, term.beta)


def _words(s: Statement, then: Then, first: int, scalars: int) -> Words:
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
        with in_room():
            found = gemm.calling(products, then, may_compile())
        if found is None:
            raise CompileError(
                f"no_compile: {s} has no kernel yet; none was compiled for its types, layouts and factors"
            )
        _compiled[name] = found
        count(time.perf_counter() - start, found.loaded)
    return found
