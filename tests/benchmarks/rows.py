"""What is timed: a table of statements, each with all that a contender's version of it is made from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import product

import numpy as np

import exprten as xt

Shape = tuple[int, ...]
DRAWN = 1 << 24  # numbers of a tensor, at most; then they begin again
PADDING = 16  # elements of float32: rows still start at multiples of 64 bytes


@dataclass(frozen=True)
class Layout:
    """How an array lies in memory, given the shape of the statement, and how a loop nest over (i) or (i, j) reads it."""

    make: Callable[[Shape], xt.Tensor]
    index: Mapping[int, str]  # by the number of axes


PACKED = Layout(xt.empty, {1: "[i]", 2: "[i, j]"})
STRIDED = Layout(lambda shape: xt.empty((*shape[:-1], 2 * shape[-1]))[..., ::2], PACKED.index)
PADDED = Layout(lambda shape: xt.empty((*shape[:-1], shape[-1] + PADDING))[..., : shape[-1]], PACKED.index)
ROW = Layout(lambda shape: xt.empty(shape[1:]), {2: "[j]"})
ONE = Layout(lambda shape: xt.empty((1, 1)), {})
COLUMN = Layout(lambda shape: xt.empty((shape[0], 1)), {2: "[i, 0]"})
HALF = Layout(lambda shape: xt.empty(shape, "float16"), PACKED.index)
BHALF = Layout(lambda shape: xt.empty(shape, "bfloat16"), PACKED.index)
SQUARE = Layout(lambda shape: xt.empty((shape[0], shape[0])), {})


@dataclass(frozen=True)
class Row:
    """A statement, in float32 unless it is `narrow`. `statement` is what users of exprten and NumPy write; `value` is what the target becomes, for
    those that take an expression or a loop; `chain` is NumPy's with `out=`, where t and u are made beforehand.
    """

    name: str
    statement: str
    target: str
    value: str
    chain: str
    layouts: Mapping[str, Layout]
    scalars: Mapping[str, float] = field(default_factory=dict)  # given at every call
    constants: Mapping[str, float] = field(
        default_factory=dict
    )  # literals of the statement, which are float32 to NumPy
    axes: int = 1
    functions: tuple[str, ...] = ()  # that exprten and NumPy both have; a row with some has no element
    torch: str = ""  # the value of such a row, as PyTorch's users write it
    jax: str = ""
    narrow: bool = False  # in float16 or bfloat16: for those who have them

    @property
    def element(self) -> str:
        """The statement for one element, in the words that C and Python share."""

        def indexed(match: re.Match[str]) -> str:
            name = match.group()
            return name + (self.layouts[name].index[self.axes] if name in self.layouts else "")

        return re.sub(r"[a-z]+", indexed, f"{self.target} = {self.value}")


SGD = Row(
    "sgd",
    statement="w -= eta * (g + lam * w)",
    target="w",
    value="w - eta * (g + lam * w)",
    chain="multiply(w, lam, t); add(g, t, t); multiply(t, eta, t); subtract(w, t, w)",
    layouts={"w": PACKED, "g": PACKED},
    scalars={"eta": 0.1, "lam": 0.01},
)
ADD = Row(
    "add",
    statement="o[...] = a + b",
    target="o",
    value="a + b",
    chain="add(a, b, o)",
    layouts={"o": PACKED, "a": PACKED, "b": PACKED},
)
NINE = Row(
    "nine",
    statement="o[...] = ((a*b+c)*(a-b)+a*2)*b-c*.5",
    target="o",
    value="((a*b+c)*(a-b)+a*two)*b-c*half",
    chain="multiply(a, b, t); add(t, c, t); subtract(a, b, u); multiply(t, u, t); multiply(a, 2, u); add(t, u, t); "
    "multiply(t, b, t); multiply(c, .5, u); subtract(t, u, o)",
    layouts={"o": PACKED, "a": PACKED, "b": PACKED, "c": PACKED},
    constants={"two": 2.0, "half": 0.5},
)
SOFTMAX = "o[...] = exp(a - max(a, {0}, keepdims=True)) / sum(exp(a - max(a, {0}, keepdims=True)), {0}, keepdims=True)"


def fold(name: str, statement: str, target: Layout, functions: str, torch: str, jax: str) -> Row:
    """A row of folds, over two axes."""
    layouts = {"o": target, "a": PACKED}
    return Row(name, statement, "o", "", "", layouts, axes=2, functions=tuple(functions.split()), torch=torch, jax=jax)


FOLDS = (
    fold("sum", "o[...] = sum(a)", ONE, "sum", "torch.sum(a)", "jnp.sum(a)"),
    fold("rowsum", "o[...] = sum(a, 1, keepdims=True)", COLUMN, "sum",
         "torch.sum(a, 1, keepdim=True)", "jnp.sum(a, 1, keepdims=True)"),
    fold("colsum", "o[...] = sum(a, 0)", ROW, "sum", "torch.sum(a, 0)", "jnp.sum(a, 0)"),
    fold("rowmax", "o[...] = max(a, 1, keepdims=True)", COLUMN, "max",
         "torch.amax(a, 1, keepdim=True)", "jnp.max(a, 1, keepdims=True)"),
    fold("argmax", "o[...] = argmax(a, 1, keepdims=True)", COLUMN, "argmax",
         "torch.argmax(a, 1, keepdim=True)", "jnp.argmax(a, 1, keepdims=True)"),
    fold("softmax", SOFTMAX.format(1), PACKED, "exp max sum", "torch.softmax(a, 1)", "jax.nn.softmax(a, 1)"),
    fold("softmax0", SOFTMAX.format(0), PACKED, "exp max sum", "torch.softmax(a, 0)", "jax.nn.softmax(a, 0)"),
    fold("layernorm", "o[...] = (a - mean(a, 1, keepdims=True)) / sqrt(var(a, 1, keepdims=True) + 1e-5)", PACKED,
         "mean var sqrt", "torch.nn.functional.layer_norm(a, a.shape[1:], eps=1e-5)",
         "(a - jnp.mean(a, 1, keepdims=True)) / jnp.sqrt(jnp.var(a, 1, keepdims=True) + 1e-5)"),
)  # fmt: skip
DOT = Row(
    "dot",
    statement="o[...] = maximum(dot(a, b) + c, 0)",
    target="o",
    value="",
    chain="",
    layouts={"o": PACKED, "a": SQUARE, "b": PACKED, "c": ROW},
    axes=2,
    functions=("dot", "maximum"),
    torch="torch.relu(a @ b + c)",
    jax="jax.nn.relu(a @ b + c)",
)
ROWS = (
    SGD,
    ADD,
    NINE,
    replace(ADD, name="strided", axes=2, layouts={"o": STRIDED, "a": PACKED, "b": PACKED}),
    replace(ADD, name="row", axes=2, layouts={"o": PACKED, "a": PACKED, "b": ROW}),
    replace(ADD, name="column", axes=2, layouts={"o": PACKED, "a": PACKED, "b": COLUMN}),
    replace(ADD, name="padded", axes=2, layouts={"o": PADDED, "a": PADDED, "b": PADDED}),
    *FOLDS,
    DOT,
    replace(SGD, name="sgd16", layouts={"w": HALF, "g": HALF}, narrow=True),
    *([replace(SGD, name="sgdb16", layouts={"w": BHALF, "g": BHALF}, narrow=True)] if find_spec("ml_dtypes") else []),
)


def sgd_variants() -> list[Row]:
    """Statements with SGD's operations, no two of one structure: each has to be compiled, at the same cost."""
    inner = [x for sign in "+-" for x in (f"g {sign} lam * w", f"g {sign} w * lam", f"lam * w {sign} g")]
    steps = [f(x) for f in ("eta * ({})".format, "({}) * eta".format) for x in inner]
    return [
        replace(SGD, name="compile", statement=f"w {mode}= {step}", value=f"w {mode} {step}")
        for mode, step in product("-+", steps)
    ]


def fill(tensors: Mapping[str, xt.Tensor]) -> None:
    """The same numbers in (-1, 1) every time, so that each contender starts from them; again and again where there are many."""
    rng = np.random.default_rng(0)
    for tensor in tensors.values():
        first, *rest = tensor.shape
        block = max(1, min(first, DRAWN // math.prod(rest)))
        numbers = rng.uniform(-1, 1, (block, *rest))
        for k in range(0, first, block):
            tensor.numpy()[k : k + block] = numbers[: first - k]
