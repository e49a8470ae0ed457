"""Handwritten digits by softmax regression and momentum, then by a network with one hidden layer and Adam, in fused lines.

    hidden (n, 96) = tanh(pixels (n, 64) @ weight (64, 96) + bias (96,))           not in the regression
    chance (n, 10) = softmax(hidden (n, 96) @ weight (96, 10) + bias (10,))        of each digit
    loss           = -log(chance of the right digit), its gradient by what the softmax is of: chance - one_hot(digit)

Every line below that assigns runs without a temporary: a product is one call of BLAS into the target, and what is around it - bias,
tanh, the whole softmax - one kernel over the target. A step of the optimiser is one call for all weights and biases, each in one
pass. After the first step nothing is compiled and no tensor is allocated, although the last batch of an epoch is shorter than the others,
and the rate another one at every step.

    python examples/digits.py --out digits.png
    python examples/digits.py --xpu gpu                 the same on a GPU; batches are put together on the host, and copied
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import exprten as xt

PIXELS, HIDDEN, DIGITS = 64, 96, 10  # an image is 8 × 8
EPOCHS, BATCH = 30, 100
DECAY = 1e-4
SEED = 0


class Layer(NamedTuple):
    """What is learned, and the slopes of the loss by it."""

    weight: xt.Tensor  # (k, m)
    bias: xt.Tensor  # (m,)
    weight_slope: xt.Tensor
    bias_slope: xt.Tensor


@dataclass
class Batch:
    """Memory for n images on their way through the layers and back."""

    values: list[xt.Tensor]  # the pixels, then what each layer makes of them; last the chances
    slopes: list[xt.Tensor]  # of the loss, by the sums of each layer: before tanh or softmax
    digit: xt.Tensor  # (n, 1)
    loss: xt.Tensor  # (), a mean over the images
    right: xt.Tensor  # (), the share of images whose greatest chance is that of their digit

    def first(self, n):
        """The first n images: views, on the same memory."""
        values, slopes = ([t[:n] for t in tensors] for tensors in (self.values, self.slopes))
        return Batch(values, slopes, self.digit[:n], self.loss, self.right)


def make_layers(widths, rng, xpu):
    """Weights are random, so that no two units of a layer learn the same."""
    layers = []
    for k, m in pairwise(widths):
        layers.append(Layer(*(xt.zeros(shape, device=xpu) for shape in ((k, m), m, (k, m), m))))
        xt.copy(layers[-1].weight, rng.normal(0, k**-0.5, (k, m)).astype(np.float32))
    return layers


def make_batch(n, widths, xpu):
    def rows(columns, dtype=xt.float32):
        return xt.empty((n, columns), dtype, device=xpu)

    return Batch(
        [*map(rows, widths)], [*map(rows, widths[1:])], rows(1, xt.int64), *(xt.empty((), device=xpu) for _ in range(2))
    )


def fill(batch, images, digits, rows):
    """Put the images of `rows` into a batch, wherever that lies."""
    for source, target in ((images, batch.values[0]), (digits, batch.digit)):
        xt.copy(target, source[rows])


# The model. Expressions are made by plain functions, and computed where they are assigned.


def softmax(e):
    powers = xt.exp(e - xt.max(e, axis=1, keepdims=True))  # none is above 1
    return powers / xt.sum(powers, axis=1, keepdims=True)


def one_hot(digit):
    """(n, 1) -> (n, 10), true where the column is the digit."""
    return digit == xt.range(DIGITS, device=digit.device)


def forward(layers, batch):
    """The values of every layer, last the chances."""
    for n, layer in enumerate(layers):
        sums = xt.dot(batch.values[n], layer.weight) + layer.bias
        batch.values[n + 1][...] = softmax(sums) if layer is layers[-1] else xt.tanh(sums)


def mean_loss(batch):
    """The loss after `forward`, a mean over the images: one statement."""
    batch.loss[...] = -xt.mean(xt.log(xt.sum(batch.values[-1] * one_hot(batch.digit), axis=1)))
    return float(batch.loss)


def backward(layers, batch):
    """The slopes of the loss, after `forward`: from the last layer to the first."""
    batch.slopes[-1][...] = (batch.values[-1] - one_hot(batch.digit)) / len(batch.digit)
    for n, layer in reversed([*enumerate(layers)]):
        value, slope = batch.values[n], batch.slopes[n]
        if n:
            batch.slopes[n - 1][...] = xt.dot(slope, layer.weight.T) * (1 - value * value)  # tanh' is 1 - tanh²
        layer.weight_slope[...] = xt.dot(value.T, slope)
        layer.bias_slope[...] = xt.sum(slope, axis=0)


# The optimisers, for lists of tensors. `t` counts the steps from 1.


def rate(t, first):
    """It falls, after some hundred steps as the root of their number."""
    return first / (1 + t / 200) ** 0.5


def momentum(weights, slopes, velocities, *, t):
    xt.optim.momentum(weights, slopes, velocities, lr=rate(t, 0.5), momentum=0.9, weight_decay=DECAY)


def adam(weights, slopes, means, squares, *, t):
    xt.optim.adam(weights, slopes, means, squares, t=t, lr=rate(t, 0.015), weight_decay=DECAY)


class Model(NamedTuple):
    widths: tuple[int, ...]  # of the layers, from the pixels to the digits
    optimiser: Callable[..., None]
    states: int  # tensors that the optimiser keeps beside each that it moves


MODELS = {
    "softmax regression": Model((PIXELS, DIGITS), momentum, 1),
    "one hidden layer": Model((PIXELS, HIDDEN, DIGITS), adam, 2),
}


class Learner:
    """A model that is trained: its layers, and what the optimiser knows of them."""

    def __init__(self, model, layers):
        self.layers, self.optimiser, self.steps = layers, model.optimiser, 0
        self.learned = [t for layer in layers for t in (layer.weight, layer.bias)]
        self.slopes = [t for layer in layers for t in (layer.weight_slope, layer.bias_slope)]
        self.states = [[xt.zeros_like(t) for t in self.learned] for _ in range(model.states)]

    def step(self, batch):
        """Learn from one batch. Returns its loss."""
        forward(self.layers, batch)
        backward(self.layers, batch)
        self.steps += 1
        self.optimiser(self.learned, self.slopes, *self.states, t=self.steps)  # one call for all of them
        return mean_loss(batch)


def accuracy(batch):
    """The share of images whose greatest chance is that of their digit, after `forward`."""
    batch.right[...] = xt.mean(xt.argmax(batch.values[-1], axis=1, keepdims=True) == batch.digit)
    return float(batch.right)


# The training.


def load_data():
    """1797 images with pixels from 0 to 1, their digits, and which rows are for training and which for the test: NumPy arrays."""
    pixels, digits = load_digits(return_X_y=True)
    split = train_test_split(np.arange(len(digits)), test_size=0.25, stratify=digits, random_state=SEED)
    return (pixels / 16).astype(np.float32), digits[:, None], *split


def progress(epochs):
    """The epochs, with a bar where somebody watches, and how to print a line beside it."""
    if sys.stderr.isatty():
        try:
            from tqdm import tqdm
        except ImportError:
            pass
        else:
            return tqdm(epochs, unit="epoch"), tqdm.write
    return epochs, print


def train(layers, model, images, digits, train_rows, test_rows, xpu, epochs):
    """Train. Returns the loss of every step, the test loss of every epoch, and the test accuracy at the end."""
    rng = np.random.default_rng(SEED)
    batch, test = make_batch(BATCH, model.widths, xpu), make_batch(len(test_rows), model.widths, xpu)
    learner = Learner(model, layers)
    fill(test, images, digits, test_rows)

    fill(batch, images, digits, train_rows[:BATCH])
    losses, test_losses = [learner.step(batch)], []  # the first step compiles every kernel there is
    accuracy(batch)
    allocations = xt.memory.allocations

    starts = range(0, len(train_rows), BATCH)
    epochs, say = progress(range(epochs))
    with xt.no_compile():  # a statement without a kernel would raise
        for epoch in epochs:
            order = rng.permutation(train_rows)
            for start in starts:
                rows = order[start : start + BATCH]
                part = batch.first(len(rows))  # the last one is shorter, and costs no kernel
                fill(part, images, digits, rows)
                losses.append(learner.step(part))
            forward(layers, test)
            test_losses.append(mean_loss(test))
            if epoch % 10 == 9:
                say(
                    f"epoch {epoch + 1:2d}: loss {np.mean(losses[-len(starts) :]):.3f}, "
                    f"test loss {test_losses[-1]:.3f}, test accuracy {accuracy(test):.3f}"
                )

    assert xt.memory.allocations == allocations, "a step allocated a tensor"
    return losses, test_losses, accuracy(test)


def plot(results, path):
    """Of each model the loss of every step, and that of the test images after every epoch."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, (losses, test_losses, reached)), colour in zip(results.items(), ("C0", "C3"), strict=True):
        per_epoch = len(losses) / len(test_losses)
        axes.plot(np.arange(len(losses)) / per_epoch, losses, color=colour, alpha=0.25, linewidth=0.8)
        label = f"{name}: test accuracy {reached:.3f}"
        axes.plot(np.arange(len(test_losses)) + 1, test_losses, color=colour, linewidth=2, label=label)
    title = "Digits: loss of each step, and of the test images"
    axes.set(yscale="log", xlabel="epoch", ylabel="cross-entropy", title=title, xlim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("digits.png"), help="where the plot of the loss goes")
    parser.add_argument("--xpu", choices=("cpu", "gpu"), default="cpu", help="where it is computed")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"{EPOCHS} show what it can reach")
    given = parser.parse_args()

    xpu, out = {"cpu": xt.cpu, "gpu": xt.gpu}[given.xpu](), given.out
    data = load_data()
    results = {}
    for name, model in MODELS.items():
        start, before = time.perf_counter(), xt.stats()
        layers = make_layers(model.widths, np.random.default_rng(SEED), xpu)
        losses, _, reached = results[name] = train(layers, model, *data, xpu, given.epochs)
        stats = xt.stats()
        compiling, kernels = stats.compile_seconds - before.compile_seconds, stats.compiles - before.compiles
        print(f"{name}: test accuracy {reached:.3f}")
        print(
            f"{len(losses)} steps in {time.perf_counter() - start:.2f} s, {compiling:.2f} s of it for {kernels} kernels"
        )
    plot(results, out)
    print(f"wrote {out}")
    regression, network = (reached for _, _, reached in results.values())
    assert given.epochs < EPOCHS or (regression >= 0.95 and network >= 0.97)


if __name__ == "__main__":
    main()
