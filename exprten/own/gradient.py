"""The derivative of a term by an operand, from the `derivative` columns of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from exprten_jit.derived import TABLE

from ..errors import CompileError
from .terms import (
    DERIVED,
    ONE,
    ZERO,
    Call,
    Like,
    Number,
    Operand,
    Term,
    call,
    is_truth,
    product_of,
    sum_of,
    term_of,
    walk,
)


class _Names:
    """NumPy's names for terms: the `o` of the table's `derivative` columns."""

    def __getattr__(self, op: str) -> Callable[..., Term]:
        return lambda *operands: call(op, *map(term_of, operands))


def derivative(name: str, root: Term, k: int) -> Term:
    """The partial derivative of `root` by operand `k`, in the type of `root`; conditions are constants. Raises CompileError, for
    the gradient `name`, at an operation that has none.
    """
    d: dict[Term, Term] = {}
    for term in walk(root, _moving):
        match term:
            case Operand(index):
                d[term] = ONE if index == k else ZERO
            case Number():
                d[term] = ZERO
            case Like(value, like):
                d[term] = ZERO if d[value] is ZERO else Like(d[value], like)
            case Call("where", (condition, a, b)):
                d[term] = d[a] if d[a] is d[b] else Call("where", (condition, d[a], d[b]), term.at)
            case Call(op, args, at):
                moving = [d[a] for a in args]
                if all(t is ZERO for t in moving):
                    d[term] = ZERO
                    continue
                partial = TABLE[op].derivative
                if partial is None:
                    place = f"what is derived again has {op}, which" if at == DERIVED else f"{at}: {op}"
                    raise CompileError(f"{name}: {place} has no derivative")
                d[term] = _chain([term_of(p) for p in partial(_Names(), *args)], moving)
    return Like(d[root], root)


def _moving(term: Term) -> tuple[Term, ...]:
    """What a derivative goes through."""
    match term:
        case Like(value):
            return (value,)
        case Call("where", (_, a, b)):
            return (a, b)
    return term.args


def _chain(partials: Sequence[Term], moving: Sequence[Term]) -> Term:
    total: Term = ZERO
    for partial, d in zip(partials, moving, strict=True):
        if is_truth(partial) and d is not ZERO:
            total = sum_of(total, Call("where", (partial, d, ZERO), DERIVED))  # not a product: 0 * inf is NaN
        else:
            total = sum_of(total, product_of(partial, d))
    return total
