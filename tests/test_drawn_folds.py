"""Drawn statements with several folds, along any axes of operands that lie in any way: whole numbers, so NumPy's results are exact."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exprten as xt

SIDES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 20, 31, 33, 48, 64, 70, 130)
MOST = 5_000  # elements
LAID_OUT: dict[str, Callable[[np.ndarray], xt.Tensor]] = {
    "packed": xt.array,
    "reversed": lambda x: xt.array(np.ascontiguousarray(x[..., ::-1]))[..., ::-1],
    "every other": lambda x: xt.array(np.repeat(x, 2, axis=-1))[..., ::2],
}
Tree = tuple[Any, ...]


def drawn(rng: random.Random, axes: int, operands: int, depth: int = 0) -> Tree:
    """An expression: an operand, a fold of one, a sum or a product of two."""
    kind = rng.random()
    if depth > 2 or kind < 0.25:
        return ("operand", rng.randrange(operands))
    if kind < 0.65:
        over = rng.sample(range(axes), rng.randint(1, min(2, axes)))
        return ("fold", rng.choice(("sum", "max", "min")), tuple(over), drawn(rng, axes, operands, depth + 1))
    two = [drawn(rng, axes, operands, depth + 1) for _ in range(2)]
    return (rng.choice(("add", "subtract", "maximum")), *two)


def evaluated(tree: Tree, module: Any, operands: list[Any]) -> Any:
    match tree:
        case ("operand", n):
            return operands[n]
        case ("fold", name, over, inner):
            return getattr(module, name)(evaluated(inner, module, operands), axis=over, keepdims=True)
        case (name, a, b):
            return getattr(module, name)(evaluated(a, module, operands), evaluated(b, module, operands))
    raise AssertionError(tree)


def statement(rng: random.Random) -> tuple[list[np.ndarray], list[tuple[list[int], str]], Tree, list[int]]:
    """Operands, how each lies, an expression of them, and how the target lies."""
    axes = rng.choice((1, 2, 2, 2, 3, 3, 4))
    shape = [MOST]
    while np.prod(shape) >= MOST:
        shape = [rng.choice(SIDES) for _ in range(axes)]
    dtype = rng.choice(("int32", "int64", "float64"))
    operands, lie = [], []
    for n in range(rng.randint(1, 3)):
        own = [1 if n and rng.random() < 0.3 else m for m in shape]
        operands.append(np.random.default_rng(rng.randrange(1 << 30)).integers(-3, 4, own).astype(dtype))
        lie.append((rng.sample(range(axes), axes), rng.choice(tuple(LAID_OUT))))
    return operands, lie, drawn(rng, axes, len(operands)), rng.sample(range(axes), axes)


def laid_out(x: np.ndarray, order: list[int], how: str) -> Any:
    return xt.transpose(LAID_OUT[how](np.ascontiguousarray(x.transpose(order))), tuple(np.argsort(order)))


@pytest.mark.parametrize("seed", range(24))
def test_drawn_statements_with_folds_are_numpys_at_every_width(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(2):
        data, lie, tree, target = statement(rng)
        want = data[0] + evaluated(tree, np, data)
        for bits, threads in ((128, 1), (256, 2), (512, 1)):
            with xt.options(vector_bits=bits, num_threads=threads, max_recompute=1e9):
                operands = [laid_out(x, *how) for x, how in zip(data, lie, strict=True)]
                value = operands[0] + evaluated(tree, xt, operands)
                y = xt.transpose(
                    xt.zeros([value.shape[k] for k in target], dtype=value.dtype), tuple(np.argsort(target))
                )
                y[...] = value
            np.testing.assert_array_equal(y.numpy(), want, f"{tree} of {lie} into {target}, {bits} bits")
