"""Which of a test's many parameters run every time: a covering array of them, as combinatorial testing calls it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

Tuples = frozenset[tuple[tuple[str, str], ...]]


def covering(cases: Sequence[Mapping[str, Any]], strength: int) -> list[int]:
    """Positions of cases with every combination of values that any `strength` parameters have in some case: with 1 each value, with 2
    each pair of values of two parameters. First such as share none with what was chosen, so that they lie along a diagonal.
    """
    found = [_tuples(case, strength) for case in cases]
    seen, chosen = set[tuple[tuple[str, str], ...]](), list[int]()
    for disjoint in (True, False):
        for n, tuples in enumerate(found):
            if seen.isdisjoint(tuples) if disjoint else not seen.issuperset(tuples):
                chosen.append(n)
                seen |= tuples
    return sorted(chosen)


def _tuples(case: Mapping[str, Any], strength: int) -> Tuples:
    values: Iterable[tuple[str, str]] = ((name, repr(value)) for name, value in sorted(case.items()))
    return frozenset(combinations(values, min(strength, len(case))))
