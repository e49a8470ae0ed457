"""Drawn views of one tensor, computed, folded and stored to drawn views of another: padded, flipped, with steps, their axes in any order, of odd sizes that
fill no vector. What is stored of whole numbers is NumPy's; what lies around it stays.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from test_drawn_blocks import softmax

import exprten as xt

SIDES = (1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 100)
ELEMENTS = (600, 3_000, 20_000, 70_000)
DTYPES = ("float32", "float32", "float64", "int32", "int16", "uint8", "float16")
MARK = 1


class View(NamedTuple):
    """How a tensor of some shape lies in memory: with so many elements more along each axis, steps, and its axes in an order."""

    more: tuple[int, ...]
    steps: tuple[int, ...]
    order: tuple[int, ...]

    def of(
        self, shape: tuple[int, ...], make: Callable[[tuple[int, ...]], np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Memory that `make` makes, and the view of it that has this shape."""
        sizes = (((shape[k] - 1) * abs(s) + 1 + m) for k, s, m in zip(self.order, self.steps, self.more, strict=True))
        memory = make(tuple(sizes))
        inside = memory[
            (..., *(slice(0, n - m) for n, m in zip(memory.shape, self.more, strict=True)))
        ]  # a view, of no axes too
        view = inside[(..., *(slice(None, None, step) for step in self.steps))]
        return memory, view.transpose(np.argsort(self.order))


def view(chance: random.Random, ndim: int, steps: tuple[int, ...], padded: float) -> View:
    more = tuple(chance.choice((0, 1, 2)) if chance.random() < padded else 0 for _ in range(ndim))
    return View(more, tuple(chance.choice(steps) for _ in range(ndim)), tuple(chance.sample(range(ndim), ndim)))


def dear(x: Any, module: Any) -> Any:
    return module.sin(x) * module.sqrt(x) + module.log1p(x) * module.cos(x)


EXACT: dict[str, tuple[Callable[[xt.Expr, int], xt.Expr], Callable[[np.ndarray, int], np.ndarray]]] = {
    "twice": (lambda x, _: x * 2, lambda x, _: x * x.dtype.type(2)),
    "max": (xt.max, lambda x, axis: x.max(axis)),
    "argmax": (xt.argmax, lambda x, axis: x.argmax(axis)),
    "argmin": (xt.argmin, lambda x, axis: x.argmin(axis)),
    "count": (xt.count_nonzero, np.count_nonzero),
    "sum": (xt.sum, lambda x, axis: x.sum(axis)),
    "apart": (lambda x, axis: x - xt.max(x, axis, keepdims=True), lambda x, axis: x - x.max(axis, keepdims=True)),
}
NEARLY: dict[str, tuple[Callable[[xt.Expr, int], xt.Expr], Callable[[np.ndarray, int], np.ndarray]]] = {
    "softmax": (softmax, lambda x, axis: (e := np.exp(x - x.max(axis, keepdims=True))) / e.sum(axis, keepdims=True)),
    "dear sum": (lambda x, axis: xt.sum(dear(x, xt), axis), lambda x, axis: dear(x, np).sum(axis)),
    "dear apart": (
        lambda x, axis: x - xt.max(dear(x, xt), axis, keepdims=True),
        lambda x, axis: x - dear(x, np).max(axis, keepdims=True),
    ),
}


def drawn_shape(chance: random.Random) -> tuple[int, ...]:
    left, sides = chance.choice(ELEMENTS), list[int]()
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        sides.append(min(left, chance.choice(SIDES)))
        left //= sides[-1]
    return tuple(chance.sample([*sides, max(1, left)], len(sides) + 1))


@pytest.mark.parametrize("seed", range(40))
def test_drawn_views_are_stored_to_drawn_views(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(4):
        shape, dtype = drawn_shape(chance), chance.choice(DTYPES)
        values = np.random.default_rng(chance.randrange(1 << 30)).integers(0, 6, shape).astype(dtype)
        lies = view(chance, len(shape), (1, 1, -1, -1, 2, -2), 0.15)
        _, source = lies.of(shape, lambda sizes, dtype=dtype: np.zeros(sizes, dtype))
        source[...] = values
        names = [*EXACT, *(NEARLY if dtype in ("float32", "float64") else ())]
        names = [each for each in names if dtype != "float16" or each != "sum"]  # which rounds
        name, axis = chance.choice(names), chance.randrange(len(shape))
        compute, reference = EXACT[name] if name in EXACT else NEARLY[name]
        result = compute(xt.asarray(source), axis)
        wide = values.astype("float64") if name in NEARLY or name == "sum" else values
        want = reference(wide, axis)
        goal = view(chance, want.ndim, (1, 1, 1, -1), 0.15)
        room, target = goal.of(want.shape, lambda sizes, like=result: np.full(sizes, MARK, str(like.dtype)))
        threads, bits = chance.choice((1, 2, 3)), chance.choice((None, 128, 256, 512))
        mode = chance.choice(("write", "write", "add"))
        about = f"{name} {axis} of {dtype} {shape}, {lies} to {goal}, {mode}, {threads} threads, {bits} bits"
        with xt.options(num_threads=threads, vector_bits=bits), np.errstate(all="ignore"):
            xt.asarray(target).assign(result, mode)
            want = want.astype(target.dtype) + (target.dtype.type(MARK) if mode == "add" else 0)
        if name in EXACT:
            np.testing.assert_array_equal(target, want.astype(target.dtype), about)
        else:
            np.testing.assert_allclose(target, want, 3e-4 if dtype == "float32" else 1e-11, 1e-4, err_msg=about)
        stored = np.zeros(room.shape, bool)
        goal.of(want.shape, lambda sizes, of=stored: of)[1][...] = True
        assert (room[~stored] == MARK).all(), about
