"""Statements one after the other as one kernel: checked together, gathered together, compiled together."""

from __future__ import annotations

from collections.abc import Sequence

from ..assign import addresses_of, check_target, operands_of
from ..expression.leaf import Leaf
from ..expression.stores import Stores
from ..modes import MODES
from ..options import current
from ..statement.gather import WEAK, Gathered, gather
from ..statement.launch import launch_of
from ..statement.overlap import inside, order, shares, walked
from ..statement.running import Launch, Statement


def prepare(node: Stores) -> tuple[Statement, Launch] | None:
    """Everything but the run of all stores of `node`: checks, analysis, and a kernel. None where there is nothing to do."""
    first = node.targets[0]
    for target in node.targets:
        check_target(target)
    row = first.key.dtype
    found = gather(node, row, first)
    addresses, buffers = addresses_of(first, found)
    operand_of = operands_of(addresses, first, found)
    direction, overlapping = _direction(node, found, addresses, operand_of)
    if not first.size:
        return None
    statement = Statement(
        MODES["write"], (row,), first, node, found, addresses, buffers, operand_of, direction, overlapping, current()
    )
    return statement, launch_of(statement)


def _direction(
    node: Stores, found: Gathered, addresses: Sequence[int], operand_of: Sequence[int]
) -> tuple[str, tuple[int, ...]]:
    """The order of stores that is right although leaves overlap targets, and the operands that only a fold may read.

    What an earlier statement stored may be read through an equal view alone: then lowering takes the value.
    """
    needed: dict[str, Leaf] = {}
    overlapping: list[int] = []
    reads, targets = _reads(found, len(node.values))
    for k, t in enumerate(targets):
        stored = found.leaves[t]
        for n, leaf in enumerate(found.leaves):
            if operand_of[n + 1] == operand_of[t + 1]:
                continue
            mine = (addresses[t + 1], stored.layout, stored.key.dtype.itemsize)
            theirs = (addresses[n + 1], leaf.layout, leaf.key.dtype.itemsize)
            if not shares(*mine, *theirs):
                continue
            if n in targets or any(n in read for read in reads[k + 1 :]):
                raise node.refusal(leaf)
            if not any(n in read for read in reads[: k + 1]):
                continue
            if not found.indexed and inside(*mine, *theirs):
                continue
            way = order(mine[0], mine[1], *theirs) if theirs[2] == mine[2] and not found.indexed else None
            if way is not None:  # the loops are those of the first target
                way = walked(way, stored.layout, node.targets[0].layout)
            strict = node.key.map[k].strict and n in reads[k]
            if (way is None and not found.folds) or (strict and way != "same"):
                raise node.refusal(leaf)
            if way is None:
                overlapping.append(operand_of[n + 1])
            elif way != "same":
                needed[way] = leaf
    if len(needed) > 1:
        raise node.refusal(needed["reverse"])
    return next(iter(needed), "any"), tuple(overlapping)


def _reads(found: Gathered, count: int) -> tuple[list[frozenset[int]], list[int]]:
    """The leaves that each statement reads, and the leaf that each stores to."""
    below: list[frozenset[int]] = []
    for entry in found.structure[:-1]:
        if entry[0].op == "leaf":
            below.append(frozenset((entry[1],)))
            continue
        refs = [ref for ref in entry[1 : 1 + len(entry[0].args)] if ref != WEAK]
        below.append(frozenset().union(*(below[ref] for ref in refs)))
    _, *roots = found.structure[-1]
    reads = [frozenset[int]() if ref == WEAK else below[ref] for ref in roots[:count]]
    return reads, [found.structure[ref][1] for ref in roots[count:]]
