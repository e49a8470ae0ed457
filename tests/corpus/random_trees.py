"""Random statements over random types, shapes, layouts, modes and index maps: the same ones in every run."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from strategies import LAYOUTS, TARGETS, place, values
from test_random_trees import TYPES, Both, drawn_mode, shapes, tree

import exprten as xt
from exprten.modes import MODES

from . import Bench, group

STATEMENTS = 240
# Nothing is shrunk: an error that one device raises is not looked for in a simpler statement.
FIXED = settings(
    max_examples=STATEMENTS, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def _statement(bench: Bench, draw: Any, remaps: bool) -> None:
    def leaf(draw: Any, shape: tuple[int, ...]) -> Both:
        elements = values(draw(st.sampled_from(TYPES)), shape, draw(st.integers(0, 99)))
        lie = draw(st.sampled_from(list(LAYOUTS)))
        return Both(bench.tensor(elements, lie), place(elements, lie).array)

    shape = draw(shapes())
    dtype = draw(st.sampled_from(TYPES))
    bench.about(f"random statement into {dtype} {shape}")
    target = bench.tensor(values(dtype, shape, draw(st.integers(0, 99))), draw(st.sampled_from(list(TARGETS))))
    value = tree(draw, shape, draw(st.integers(1, 4)), leaf, remaps)
    mode = drawn_mode(draw, np.dtype(dtype))
    try:
        if mode.name in MODES:
            xt.assign(target, mode.name, value.ours)
        else:
            getattr(target, mode.method)(value.ours)
    except (xt.DTypeError, xt.CompileError):  # the same on every device
        return


class GivenUpError(Exception):
    """Here hypothesis gave a statement up."""


_drawn: dict[bool, list[list[Any]]] = {}  # with index maps or not: what each statement is made of


def _again(values_drawn: list[Any]) -> Callable[[Any], Any]:
    left = iter(values_drawn)

    def draw(_: Any) -> Any:
        for found in left:
            return found
        raise GivenUpError

    return draw


def _statements(bench: Bench, remaps: bool) -> None:
    """hypothesis draws once; what it drew makes the same statements on other devices, without the time that drawing takes."""
    if remaps in _drawn:
        for values_drawn in _drawn[remaps]:
            with suppress(GivenUpError):
                _statement(bench, _again(values_drawn), remaps)
        return
    _drawn[remaps] = []

    @FIXED
    @given(data=st.data())
    def run(data: Any) -> None:
        values_drawn: list[Any] = []
        _drawn[remaps].append(values_drawn)

        def draw(strategy: Any) -> Any:
            values_drawn.append(data.draw(strategy))
            return values_drawn[-1]

        _statement(bench, draw, remaps)

    run()


@group("random statements")
def element_wise(bench: Bench) -> None:
    _statements(bench, remaps=False)


@group("random statements with index maps")
def with_index_maps(bench: Bench) -> None:
    _statements(bench, remaps=True)
