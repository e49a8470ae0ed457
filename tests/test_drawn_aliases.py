"""Drawn statements, kernels and lists whose operands may share memory with what is stored: NumPy's numbers, or AliasError and nothing.

Operands lie at the beginning or the end of memory between two pages that nobody may touch: what reads beside them ends the process.
"""

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from guarded import Array, Memories

import exprten as xt

Value = Callable[[Any, Sequence[Any]], Any]  # of a module and operands

SIDES = (1, 1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 33, 64)
MOST = 1500  # elements of a target
OPTIONS = ({"num_threads": 1}, {"vector_bits": 128, "num_threads": 3})


@pytest.fixture(scope="module")
def memories() -> Memories:
    return Memories()


class World:
    """Arrays in drawn layouts, some of them in the memory of the first, which is the target's."""

    def __init__(self, rng: random.Random, memories: Memories, dtype: np.dtype) -> None:
        memories.clear()
        self.rng, self.dtype, self._memories = rng, dtype, memories
        self.numbers = np.random.default_rng(rng.randrange(1 << 30))
        self.all: list[Array] = []  # memories

    def place(self, shape: Sequence[int], repeat: bool = False) -> Array:
        """Whole numbers in memory of their own."""
        strides, first, span = self._lie(shape, repeat)
        before, behind = (self.rng.choice((0, 0, 3)) for _ in "ab")
        memory = self._memories.take(before + span + behind, self.dtype, self.rng.random() < 0.6)
        memory[...] = self.numbers.integers(-2, 3, len(memory))
        self.all.append(memory)
        return _view(memory, shape, before + first, strides)

    def beside(self, of: Array, memory: Array) -> Array:
        """Another view of the memory that an array lies in: shifted, turned round, transposed, a part of it, or anything."""
        shape, size = of.shape, of.itemsize
        first = (of.ctypes.data - memory.ctypes.data) // size
        strides = [s // size for s in of.strides]
        match self.rng.choice((0, 0, 0, 1, 2, 3, 4, 5)):
            case 0:
                first += self.rng.choice((-3, -2, -1, 1, 2, 3, shape[-1], -shape[-1]))
            case 1:
                first, strides = (
                    first + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)),
                    [-s for s in strides],
                )
            case 2 if len(set(shape)) == 1:
                strides = strides[::-1]
            case 3:
                return of[tuple(slice(0, 1) if self.rng.random() < 0.4 else slice(None) for _ in shape)]
            case 4:
                return of[tuple(slice(None, None, -1) if self.rng.random() < 0.4 else slice(None) for _ in shape)]
            case _:
                shape = tuple(1 if self.rng.random() < 0.3 else n for n in shape)
                strides, first, span = self._lie(shape, repeat=True)
                first += self.rng.randrange(max(1, len(memory) - span + 1))
        reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
        inside = first + sum(r for r in reach if r < 0) >= 0 and first + sum(r for r in reach if r > 0) < len(memory)
        return _view(memory, shape, first, strides) if inside else of

    def _lie(self, shape: Sequence[int], repeat: bool) -> tuple[list[int], int, int]:
        """Strides in elements, where the first element lies, and how many elements all span."""
        rng, strides, span = self.rng, [0] * len(shape), 1
        gaps = rng.random() < 0.5
        for k in rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.5 else reversed(range(len(shape))):
            if repeat and rng.random() < 0.15:
                continue
            step = span + (rng.choice((0, 0, 1, 3)) if gaps else 0)
            span += step * (shape[k] - 1)
            strides[k] = -step if rng.random() < 0.2 else step
        low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
        return strides, -low, span

    def copies(self) -> list[Array]:
        return [memory.copy() for memory in self.all]

    def reset(self, to: Sequence[Array]) -> None:
        for memory, old in zip(self.all, to, strict=True):
            memory[...] = old

    def check(self, want: Sequence[Array], what: str) -> None:
        for memory, one in zip(self.all, want, strict=True):
            np.testing.assert_array_equal(memory, one, what)


def _view(memory: Array, shape: Sequence[int], first: int, strides: Sequence[int]) -> Array:
    size = memory.itemsize
    return np.ndarray(tuple(shape), memory.dtype, memory, first * size, [s * size for s in strides])


def drawn(rng: random.Random, shape: Sequence[int], operands: int, depth: int) -> tuple[str, Value]:
    """An expression that broadcasts to a shape, and its text."""
    kind, axes = rng.random(), len(shape)
    if depth == 0 or kind < 0.2:
        n = rng.randrange(operands)
        return f"x{n}", lambda _, given: given[n]
    text, inner = drawn(rng, shape, operands, depth - 1)
    if kind < 0.5:
        name = rng.choice(("sum", "max", "min", "any", "count_nonzero"))
        single = [k for k, n in enumerate(shape) if n == 1]  # a fold that is none
        among = single if single and rng.random() < 0.6 else range(axes)
        over = tuple(sorted(rng.sample(among, rng.randint(1, len(among)))))
        return f"{name}({text}, {over})", lambda m, x: getattr(m, name)(inner(m, x), axis=over, keepdims=True) * 1
    if kind < 0.62:
        name, axis = rng.choice(("argmax", "argmin")), rng.randrange(axes)
        return f"{name}({text}, {axis})", lambda m, x: getattr(m, name)(inner(m, x), axis=axis, keepdims=True)
    if kind < 0.7:
        axis = rng.randrange(axes)
        return f"flip({text}, {axis})", lambda m, x: m.flip(inner(m, x), axis=axis)
    second, other = drawn(rng, shape, operands, depth - 1)
    if kind < 0.8:
        return f"where({text} > 0, {second}, 1)", lambda m, x: m.where(inner(m, x) > 0, other(m, x), 1)
    name = rng.choice(("add", "subtract", "maximum", "multiply"))
    return f"{name}({text}, {second})", lambda m, x: getattr(m, name)(inner(m, x), other(m, x))


COMBINED = {"write": None, "inplace": None, "add": np.add, "sub": np.subtract, "mul": np.multiply}


@pytest.mark.parametrize("seed", range(26))
def test_a_statement_with_folds_of_its_targets_memory(seed: int, memories: Memories) -> None:
    for k in range(4):
        rng = random.Random(1000 * seed + k)
        axes = rng.choice((1, 2, 2, 3, 4))
        shape: tuple[int, ...] = (MOST,)
        while math.prod(shape) >= MOST:
            shape = tuple(rng.choice(SIDES) for _ in range(axes))
        if axes == 2 and rng.random() < 0.3:
            shape = (shape[0],) * 2 if shape[0] < 33 else shape
        world = World(rng, memories, np.dtype(rng.choice(("int64", "float64"))))
        operands = [world.place(shape)]
        for _ in range(rng.randint(1, 3)):
            own = tuple(1 if rng.random() < 0.25 else n for n in shape)
            shared = rng.random() < 0.6
            operands.append(world.beside(operands[0], world.all[0]) if shared else world.place(own, repeat=True))
        text, value = drawn(rng, shape, len(operands), rng.choice((1, 2, 2, 3)))
        mode = rng.choice(("write", "write", "add", "sub", "mul", "inplace"))
        _check_statement(world, operands, value, mode, f"seed {1000 * seed + k}: {mode} {text} into {shape}")


def _check_statement(world: World, operands: Sequence[Array], value: Value, mode: str, what: str) -> None:
    target, combine, before = operands[0], COMBINED[mode], world.copies()
    new = np.array(value(np, operands))
    target[...] = new if combine is None else combine(target, new)
    want = world.copies()
    for options in OPTIONS:
        world.reset(before)
        t, *others = (xt.asarray(x) for x in operands)
        with xt.options(max_recompute=1e12, **options):
            try:
                xt.assign(t, mode, value(xt, [t, *others]) * world.dtype.type(1))
            except xt.AliasError:
                world.check(before, what)
            else:
                world.check(want, what)


PARTS = (
    "{a} + {b}",
    "{a} - s * {b}",
    "xt.maximum({a}, {b})",
    "{a} * 2.0",
    "xt.where({a} > s, {b}, {a})",
    "({a} if flag else {b})",
)
FOLDS = ("xt.max({a}, axis=-1, keepdims=True)", "xt.sum({a})", "xt.min({a}, axis=0)")


def _text(rng: random.Random, names: Sequence[str]) -> str:
    """A function of some statements."""

    def value(depth: int) -> str:
        if not depth:
            return rng.choice(names)
        if rng.random() < 0.1:
            return rng.choice(FOLDS).format(a=rng.choice(names))
        return f"({rng.choice(PARTS).format(a=value(depth - 1), b=value(depth - 1))})"

    if rng.random() < 0.4:  # a later target needs an order, which the first one's loops may not have
        return f"def f({', '.join(names)}, flag, *, s):\n    a[...] = 1.0 * {names[-1]}\n    b[...] = {value(2)} + {names[-1]}"
    targets = rng.sample(names, rng.randint(1, len(names)))
    lines = [
        f"    {rng.choice(targets)}{rng.choice(('[...] =', ' +=', ' -='))} 1.0 * {value(rng.randint(0, 2))}"
        for _ in range(rng.randint(1, 4))
    ]
    return "\n".join([f"def f({', '.join(names)}, flag, *, s):", *lines])


def _rows(rng: random.Random, world: World, names: Sequence[str]) -> Iterator[list[Array]]:
    """Tensors for each row of a list; some of a row overlap."""
    for _ in range(rng.randint(1, 3)):
        shape = tuple(rng.choice((1, 2, 3, 5, 8, 17)) for _ in range(rng.choice((1, 1, 2, 2, 3))))
        first, memory = world.place(shape), len(world.all) - 1
        row = [first]
        for _ in names[1:]:
            near = rng.random() < 0.5
            row.append(world.beside(first, world.all[memory]) if near else world.place(shape))
        if rng.random() < 0.5:
            rng.shuffle(row)
        else:
            row = [world.place(shape), *row[:-2], world.beside(first, world.all[memory])]
        yield [x if x.shape == shape else world.place(shape) for x in row]


@pytest.mark.parametrize("seed", range(16, 28))
def test_a_kernel_and_a_list_of_tensors_of_one_memory(seed: int, memories: Memories) -> None:
    for k in range(3):
        rng = random.Random(1000 * seed + k)
        names, world = list("abcd")[: rng.randint(2, 4)], World(rng, memories, np.dtype("float64"))
        text, rows, flag = _text(rng, names), list(_rows(rng, world, names)), rng.random() < 0.5
        found: dict[Any, Callable[..., None]] = {}
        scope: dict[str, Any]
        for module in (xt, np):
            exec(text, scope := {"xt": module})
            found[module] = scope["f"]
        kernel, before = xt.kernel(found[xt]), world.copies()
        tensors = [[xt.asarray(x) for x in row] for row in rows]
        for s, options in itertools.product((2.0, -1.0), (*OPTIONS, {})):
            world.reset(before)
            for row in rows:
                found[np](*row, flag, s=s)
            want = world.copies()
            world.reset(before)
            with xt.options(max_recompute=1e12, **options):
                try:
                    if len(rows) > 1:
                        kernel.foreach(*map(list, zip(*tensors, strict=True)), flag, s=s)
                    else:
                        kernel(*tensors[0], flag, s=s)
                except xt.AliasError:
                    want = before
            world.check(want, f"seed {1000 * seed + k}, s {s}, {options}, {[x.strides for x in rows[0]]}\n{text}")
