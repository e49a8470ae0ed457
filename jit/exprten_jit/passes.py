"""The walks along a row whose elements stay at hand: what each computes, and what of it the next ones need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .folds import folds_of
from .ir import Axis, Const, Fold, Load, Op, Store, Value
from .rewrite import substitute, walk
from .vectors import DEAR, cost_of


@dataclass(frozen=True)
class Pass:
    """One walk along a row: what is computed for each element, for folds or, without, for the stores; `keeps` is needed later."""

    folds: tuple[Fold, ...]
    roots: tuple[Value, ...]
    keeps: tuple[Value, ...]


def passes(folds: Sequence[Fold], stores: Sequence[Store], along: Axis) -> list[Pass]:
    """The walks along a row: folds that wait for no other, together; then the stores."""
    left, groups = list(folds), list[list[Fold]]()
    while left:
        groups.append([f for f in left if not any(g in left for g in folds_of(*f.bodies))])
        left = [f for f in left if f not in groups[-1]]
    roots = [[substitute(body, {f.axis: along}) for f in group for body in f.bodies] for group in groups]
    roots.append([s.value for s in stores])
    found, held = list[Pass](), set[Value]()
    for n, group in enumerate([*groups, []]):
        here = _reached(roots[n], held)
        later = dict.fromkeys(x for r in roots[n + 1 :] for x in _needed(r, here, held, along))
        found.append(Pass(tuple(group), tuple(roots[n]), tuple(later)))
        held |= set(later)
    return found


def _reached(roots: Sequence[Value], held: set[Value]) -> set[Value]:
    return set(walk(*roots, into_folds=False, known={id(x) for x in held})) - held


def _needed(roots: Sequence[Value], here: set[Value], held: set[Value], along: Axis) -> list[Value]:
    """What a later pass needs of what is computed here, and is worth to be kept."""
    found, stack, seen = list[Value](), list(roots), set[Value]()
    while stack:
        node = stack.pop()
        if node in seen or node in held or along not in node.free or isinstance(node, Const | Fold):
            continue
        seen.add(node)
        if node in here and (isinstance(node, Load) or (isinstance(node, Op) and cost_of(node) >= DEAR)):
            found.append(node)
        elif isinstance(node, Op):
            stack.extend(node.args)
    return found
