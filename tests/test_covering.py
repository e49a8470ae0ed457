"""Which parameters run every time, where a test is marked `covering`."""

from itertools import combinations, product

import pytest
from covering import covering


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_every_combination_of_so_many_values_is_there(strength):
    cases = [dict(zip("abc", values, strict=True)) for values in product(range(4), "xyz", (None, 1.0))]
    chosen = [cases[n] for n in covering(cases, strength)]

    def met(some):
        return {pairs for case in some for pairs in combinations(sorted(case.items()), strength)}

    assert met(chosen) == met(cases)
    assert len(chosen) <= {1: 5, 2: 15, 3: 24}[strength]


def test_values_that_do_not_meet_in_any_case_are_not_asked_for():
    cases = [{"shape": 1, "axis": 0}, {"shape": 2, "axis": 0}, {"shape": 2, "axis": 1}]
    assert covering(cases, 2) == [0, 1, 2]
    assert covering(cases, 1) == [0, 2]


@pytest.mark.covering(1)
@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(3))
def test_the_others_are_marked(a, b, request):
    names = {item.name for item in request.session.items if item.originalname == request.node.originalname}
    assert request.node.name in names
    if "not full" in request.config.option.markexpr:
        assert names == {f"test_the_others_are_marked[{n}-{n}]" for n in range(3)}
