"""Handwritten digits by softmax regression: mini-batch gradient descent with momentum and weight decay, in fused lines.

    score (n, 10)  = pixels (n, 64) @ weight (64, 10) + bias (10,)
    chance (n, 10) = exp(score) / sum(exp(score))        of each digit; the sum is over the row
    loss           = -log(chance of the right digit)     its gradient by score is chance - one_hot(digit)

Every line below that assigns is one kernel, the sums and maxima of rows included. Matrix products are NumPy's, on the same memory:
this version of exprten has none. After the first step nothing is compiled and no tensor is allocated, although the last batch of
an epoch is shorter than the others.

    python examples/digits.py --out digits.png
"""

import argparse
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import exprten as xt

PIXELS, DIGITS = 64, 10  # an image is 8 × 8
EPOCHS, BATCH = 30, 100
ETA, MOMENTUM, DECAY = 0.2, 0.9, 1e-3
SEED = 0


class Parameter(NamedTuple):
    """What is learned, the gradient of the loss by it, and how fast it moves."""

    value: xt.Tensor
    grad: xt.Tensor
    velocity: xt.Tensor


class Model(NamedTuple):
    weight: Parameter  # (64, 10)
    bias: Parameter  # (10,)


@dataclass
class Batch:
    """Memory for n images on their way through the model."""

    pixels: xt.Tensor  # (n, 64)
    digit: xt.Tensor  # (n, 1)
    score: xt.Tensor  # (n, 10)
    chance: xt.Tensor  # (n, 10)
    loss: xt.Tensor  # (n, 1), of each image
    right: xt.Tensor  # (n, 1), whether the greatest score is that of the digit

    def first(self, n):
        """The first n images: views, on the same memory."""
        return Batch(*(getattr(self, field.name)[:n] for field in fields(self)))


def make_parameter(shape, xpu):
    return Parameter(*(xt.zeros(shape, device=xpu) for _ in Parameter._fields))


def make_model(xpu):
    return Model(weight=make_parameter((PIXELS, DIGITS), xpu), bias=make_parameter(DIGITS, xpu))


def make_batch(n, xpu):
    def rows(columns, dtype=xt.float32):
        return xt.empty((n, columns), dtype, device=xpu)

    return Batch(rows(PIXELS), rows(1, xt.int64), rows(DIGITS), rows(DIGITS), rows(1), rows(1, xt.bool_))


# NumPy's part, written into memory that is there.


def matmul(a, b, out):
    np.matmul(a.numpy(), b.numpy(), out=out.numpy())


def fill(batch, images, digits, rows):
    """Put the images of `rows` into a batch."""
    for source, target in ((images, batch.pixels), (digits, batch.digit)):
        np.take(source.numpy(), rows, axis=0, out=target.numpy(), mode="clip")  # "raise" would make a copy of `out`


# The model.


def forward(model, batch):
    """Scores and chances of a batch."""
    matmul(batch.pixels, model.weight.value, out=batch.score)
    batch.score += model.bias.value
    powers = xt.exp(batch.score - xt.max(batch.score, axis=1, keepdims=True))  # none is above 1
    batch.chance[...] = powers / xt.sum(powers, axis=1, keepdims=True)


def one_hot(digit):
    """(n, 1) -> (n, 10), true where the column is the digit: an expression, computed inside the kernels that use it."""
    return digit == xt.range(DIGITS, device=digit.device)


def mean_loss(batch):
    """The loss after `forward`, a mean over the images."""
    score = batch.score - xt.max(batch.score, axis=1, keepdims=True)
    total = xt.sum(xt.exp(score), axis=1, keepdims=True)
    batch.loss[...] = xt.log(total) - xt.sum(score * one_hot(batch.digit), axis=1, keepdims=True)
    return float(np.mean(batch.loss.numpy()))


def backward(model, batch):
    """The gradients of the mean loss, after `forward`. The chances become the gradient by the scores."""
    batch.chance[...] = (batch.chance - one_hot(batch.digit)) / len(batch.chance)
    matmul(batch.pixels.T, batch.chance, out=model.weight.grad)
    model.bias.grad[...] = xt.sum(batch.chance, axis=0)


def update(value, grad, velocity, eta, momentum, decay):
    """One step downhill. Weight and bias differ in their sizes alone, so they share these two kernels."""
    velocity[...] = momentum * velocity - eta * (grad + decay * value)
    value += velocity


def train_step(model, batch):
    """Learn from one batch. Returns its loss."""
    forward(model, batch)
    loss = mean_loss(batch)
    backward(model, batch)
    update(*model.weight, ETA, MOMENTUM, DECAY)
    update(*model.bias, ETA, MOMENTUM, decay=0.0)  # a bias does not decay
    return loss


def accuracy(batch):
    """The share of images whose greatest score is that of their digit, after `forward`."""
    batch.right[...] = xt.argmax(batch.score, axis=1, keepdims=True) == batch.digit
    return float(np.mean(batch.right.numpy()))


# The training.


def load_data(xpu):
    """1797 images with pixels from 0 to 1, their digits, and which rows are for training and which for the test."""
    pixels, digits = load_digits(return_X_y=True)
    images = xt.array(xt.asarray(pixels) / 16, dtype=xt.float32, device=xpu)
    split = train_test_split(np.arange(len(digits)), test_size=0.25, stratify=digits, random_state=SEED)
    return images, xt.array(digits[:, None], device=xpu), *split


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


def train(model, images, digits, train_rows, test_rows, xpu):
    """Train. Returns the loss of every step, the test loss of every epoch, and the test accuracy at the end."""
    rng = np.random.default_rng(SEED)
    batch, test = make_batch(BATCH, xpu), make_batch(len(test_rows), xpu)
    fill(test, images, digits, test_rows)

    fill(batch, images, digits, train_rows[:BATCH])
    losses, test_losses = [train_step(model, batch)], []  # the first step compiles every kernel there is
    accuracy(batch)
    allocations = xt.memory.allocations

    starts = range(0, len(train_rows), BATCH)
    epochs, say = progress(range(EPOCHS))
    with xt.no_compile():  # a statement without a kernel would raise
        for epoch in epochs:
            order = rng.permutation(train_rows)
            for start in starts:
                rows = order[start : start + BATCH]
                part = batch.first(len(rows))  # the last one is shorter, and costs no kernel
                fill(part, images, digits, rows)
                losses.append(train_step(model, part))
            forward(model, test)
            test_losses.append(mean_loss(test))
            if epoch % 5 == 4:
                say(
                    f"epoch {epoch + 1:2d}: loss {np.mean(losses[-len(starts) :]):.3f}, "
                    f"test loss {test_losses[-1]:.3f}, test accuracy {accuracy(test):.3f}"
                )

    assert xt.memory.allocations == allocations, "a step allocated a tensor"
    return losses, test_losses, accuracy(test)


def plot(losses, test_losses, title, path):
    """The loss of every step, and of the test images after every epoch."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    per_epoch = len(losses) / len(test_losses)
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    axes.plot(np.arange(len(losses)) / per_epoch, losses, color="0.75", linewidth=0.8, label="training, each step")
    axes.plot(np.arange(len(test_losses)) + 1, test_losses, color="C3", linewidth=2, label="test, each epoch")
    axes.set(yscale="log", xlabel="epoch", ylabel="cross-entropy", title=title, xlim=(0, len(test_losses)))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("digits.png"), help="where the plot of the loss goes")
    out = parser.parse_args().out

    xpu = xt.cpu()
    data = load_data(xpu)
    start = time.perf_counter()
    losses, test_losses, reached = train(make_model(xpu), *data, xpu)
    seconds = time.perf_counter() - start

    stats = xt.stats()
    print(f"test accuracy {reached:.3f}")
    print(f"{len(losses)} steps in {seconds:.2f} s, {stats.compile_seconds:.2f} s of it for {stats.compiles} kernels")
    plot(losses, test_losses, f"Softmax regression on digits: test accuracy {reached:.3f}", out)
    print(f"wrote {out}")
    assert reached >= 0.95


if __name__ == "__main__":
    main()
