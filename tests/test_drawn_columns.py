"""Drawn statements of few columns for each outer index: normalised, weighed, folded in folds, beside operands of fewer axes."""

import random
from typing import Any

import numpy as np
import pytest

import exprten as xt

OUTER, ROWS, COLUMNS = (2, 3, 5, 9, 20), (2, 3, 4, 7, 8, 17, 40), (2, 3, 4, 5, 8, 11, 16, 17, 33)
FOLDS = ("sum", "max", "mean", "min")
LEAVES = ("x", "weighed", "shifted", "exp", "centred", "inner")
STEPS = ("divided", "less", "share", "softmax", "standard", "times", "scaled")
CLOSE = {"float32": 5e-3, "float64": 1e-7}


class Drawn:
    """An expression of x (n, m, c), v (1, 1, c), w (n, m, 1) and z (n, m, k, c), drawn by a seed: the same of NumPy's and of ours."""

    def __init__(self, seed: int, module: Any, operands: list[Any]) -> None:
        self.rng, self.of, (self.x, self.v, self.w, self.z) = random.Random(seed), module, operands

    def fold(self, e: Any, axis: int = 1) -> Any:
        return getattr(self.of, self.rng.choice(FOLDS))(e, axis, keepdims=True)

    def leaf(self) -> Any:
        match self.rng.choice(LEAVES):
            case "weighed":
                return self.x * self.v
            case "shifted":
                return self.x + self.w
            case "exp":
                return self.of.exp(self.x * 0.3)
            case "centred":
                return self.x - self.of.max(self.x, 1, keepdims=True)
            case "inner":
                return self.of.max(self.z, 2)
            case _:
                return self.x

    def mapped(self, e: Any) -> Any:
        match self.rng.randrange(4):
            case 0:
                return self.of.exp(-abs(e))
            case 1:
                return self.of.sqrt(abs(e) + 1)
            case 2:
                return e * 0.5
            case _:
                return e

    def step(self, e: Any) -> Any:
        match self.rng.choice(STEPS):
            case "divided":
                return self.mapped(e) / (1 + abs(self.fold(self.leaf())))
            case "less":
                return self.mapped(e - self.fold(e))
            case "share":
                return e / (1 + self.of.sum(abs(e), 1, keepdims=True))
            case "softmax":
                p = self.of.exp(e - self.of.max(e, 1, keepdims=True))
                return 0.1 * p / self.of.sum(p * self.rng.choice((1, self.leaf() ** 2 + 1)), 1, keepdims=True)
            case "standard":
                return (e - self.of.mean(e, 1, keepdims=True)) / (1e-3 + self.of.std(e, 1, keepdims=True))
            case "scaled":
                return self.mapped(e) * self.v
            case _:
                return e * self.fold(self.leaf(), self.rng.choice((0, 1, 2)))

    def whole(self) -> Any:
        e = self.leaf()
        for _ in range(self.rng.randint(1, 3)):
            e = self.step(e)
        return e


@pytest.mark.parametrize("seed", range(32))
def test_drawn_statements_of_few_columns_are_numpys(seed: int) -> None:
    """Of one shape, at two widths, into a new target, one of every other element, and the first operand."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    n, m, c, k = rng.choice(OUTER), rng.choice(ROWS), rng.choice(COLUMNS), rng.choice((2, 3))
    dtype = rng.choice(tuple(CLOSE))
    data = [numbers.standard_normal(s).astype(dtype) for s in ((n, m, c), (1, 1, c), (n, m, 1), (n, m, k, c))]
    for each in range(2):
        want = Drawn(1000 * seed + each, np, [x.astype("float64") for x in data]).whole()
        into = rng.choice(("new", "every other", "own"))
        lie = [
            rng.choice((range(x.ndim), rng.sample(range(x.ndim), x.ndim))) for x in data
        ]  # the order of axes in memory
        for bits in (None, 128):
            with xt.options(vector_bits=bits, max_recompute=1e9):
                operands = [
                    xt.transpose(xt.array(x.transpose(o)), tuple(np.argsort(o))) for x, o in zip(data, lie, strict=True)
                ]
                y = {"new": xt.zeros((n, m, c), dtype=dtype), "own": operands[0]}.get(into)
                y = xt.zeros((n, m, 2 * c), dtype=dtype)[..., ::2] if y is None else y
                try:
                    y[...] = Drawn(1000 * seed + each, xt, operands).whole()
                except xt.AliasError:  # reads other rows of its target, which is as it was
                    assert into == "own"
                    np.testing.assert_array_equal(y.numpy(), data[0])
                    continue
            close = CLOSE[dtype] * max(1, abs(want).max())
            what = f"{seed}: {each}, {dtype}{want.shape} into {into}, {bits} bits"
            np.testing.assert_allclose(y.numpy(), want, rtol=CLOSE[dtype], atol=close, err_msg=what)
