"""Layouts drawn at random: `python tests/benchmarks/drawn.py`, with exprten installed.

Sources of two to four axes are turned round in any order, or their targets are, and folded along any axis. Figures are those of `layouts.py`: each above `--limit`
is printed, and how many there were. `--seed` draws others, `--packed` such as are folded along any axis but not turned, `--backwards` such as run backwards along any axes of the source, too; what was printed may be given again, `--again FILE`, to see what has become of it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import NamedTuple

from layouts import Layout, figure, options_of

import exprten as xt

SHORT = (2, 3, 4, 5, 6, 7, 8, 11, 16, 17, 24, 31, 32, 33, 48, 64, 100, 128)
LONG = (*SHORT, 200, 256, 455, 512, 1000, 1024)  # of two axes
AXES = (2, 3, 3, 3, 4)
STORED = ("softmax", "norm", "scale")  # statements whose targets have their source's shape
BOUNDS = (1, 2, 4, 8)


class Drawn(NamedTuple):
    """What is computed, along which axis of a view; the source's shape in memory, and the order in which its axes are viewed: of the
    target, if not of the source. It runs `backwards` along these axes.
    """

    statement: str
    axis: int
    shape: tuple[int, ...]
    order: tuple[int, ...]
    turned: str
    backwards: tuple[int, ...] = ()

    def __str__(self) -> str:
        shape, order, backwards = (",".join(map(str, x)) for x in (self.shape, self.order, self.backwards))
        return f"{self.statement} {self.axis} {shape} {order} {self.turned}{'-' * bool(backwards)}{backwards}"

    @property
    def layout(self) -> Layout:
        if self.turned == "target":
            return Layout(str(self), self.shape, (self.axis,), self.flipped, target=self.order)
        return Layout(str(self), self.shape, (self.axis,), lambda x: xt.transpose(self.flipped(x), self.order))

    def flipped(self, x: xt.Tensor) -> xt.Tensor:
        return x[tuple(slice(None, None, -1 if k in self.backwards else 1) for k in range(x.ndim))]


def read(line: str) -> Drawn:
    """What was printed, but for its figure."""
    statement, axis, shape, order, turned, *_ = line.split()
    turned, _, backwards = turned.partition("-")
    lengths, places, flips = (tuple(map(int, filter(None, x.split(",")))) for x in (shape, order, backwards))
    return Drawn(statement, int(axis), lengths, places, turned, flips)


def draw(
    count: int, statements: Sequence[str], chance: random.Random, packed: bool = False, backwards: bool = False
) -> Drawn:
    """A layout of about so many elements; a `packed` one is viewed and stored as it lies, or `backwards` along one axis and more."""
    ndim = chance.choice(AXES)
    shape = [count] * ndim
    while prod(shape[1:]) > count // 2:
        shape = [1, *(chance.choice(LONG if ndim == 2 else SHORT) for _ in range(ndim - 1))]
    shape[0] = count // prod(shape)
    chance.shuffle(shape)
    statement = chance.choice(statements)
    turned = "target" if statement in STORED and chance.random() < 0.3 else "source"
    axis, order = chance.randrange(ndim), tuple(chance.sample(range(ndim), ndim))
    flips = tuple(sorted(chance.sample(range(ndim), chance.randint(1, ndim)))) if backwards else ()
    if packed:
        order, turned = tuple(range(ndim)), "source"
    return Drawn(statement, axis, tuple(shape), order, turned, flips)


def cases(options: argparse.Namespace) -> Iterator[Drawn]:
    if options.again:
        yield from (read(line) for line in options.again.read_text().splitlines() if line.count(",") > 1)
        return
    chance = random.Random(options.seed)
    count = options.kib * 1024 // xt.empty(0, options.dtype).dtype.itemsize
    for _ in range(options.count):
        yield draw(count, options.statements, chance, options.packed, options.backwards)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options_of(__doc__)
    parser.add_argument("--count", type=int, default=200, help="layouts that are drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--packed", action="store_true", help="nothing is turned round: folds along any axis of what is packed"
    )
    parser.add_argument("--backwards", action="store_true", help="axes run backwards, too")
    parser.add_argument("--again", type=Path, help="a file of lines that were printed, measured in place of drawn ones")
    parser.add_argument("--limit", type=float, default=2, help="figures above it are printed")
    parser.set_defaults(rounds=5, places=3, seconds=5e-4)
    options = parser.parse_args(arguments)
    os.environ["EXPRTEN_NUM_THREADS"] = "1"
    found: dict[str, list[float]] = {name: [] for name in options.statements}
    with xt.options(num_threads=1):
        for case in cases(options):
            ratio = figure(case.layout, case.statement, case.axis, options)
            found[case.statement].append(ratio)
            if ratio > options.limit:
                print(f"{case} {ratio:.2f}", flush=True)
    print(f"{'above':<10}" + "".join(f"{bound:>6}" for bound in BOUNDS))
    for name, ratios in found.items():
        above = (sum(ratio > bound for ratio in ratios) for bound in BOUNDS)
        print(f"{name:<10}" + "".join(f"{many:>6}" for many in above) + f"  of {len(ratios)}")


if __name__ == "__main__":
    main(sys.argv[1:])
