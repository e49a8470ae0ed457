"""Normalising real measurements: means, spreads and softmaxes inside the statement that needs them.

    standardise      every feature: away from its mean, in units of its spread
    layer norm       every sample likewise
    similarity       the cosine of the angle between each sample and one of them
    softmax          of the distances to the class means: how likely each class is
    loss             the mean negative logarithm of the true class's share

Each is one kernel and allocates nothing, also where it stores over what it reads.

    python examples/normalise.py
"""

import numpy as np
from sklearn.datasets import load_wine

import exprten as xt


def standardise(x, axis, lib):
    """Away from the mean along `axis`, in units of the spread: an expression where `lib` is exprten, an array where it is NumPy."""
    centred = x - lib.mean(x, axis, keepdims=True)
    return centred / lib.sqrt(lib.mean(centred * centred, axis, keepdims=True) + 1e-8)


def cosines(x, one, lib):
    """(n, d), (d,) -> (n,): the cosine of the angle between each row and one."""
    return lib.sum(x * one, 1) / lib.sqrt(lib.sum(x * x, 1) * lib.sum(one * one))


def softmax(x, axis, lib):
    """Shares that add up to 1 along `axis`."""
    powers = lib.exp(x - lib.max(x, axis, keepdims=True))
    return powers / lib.sum(powers, axis, keepdims=True)


def cross_entropy(scores, labels, lib):
    """(n, classes), one-hot (n, classes) -> the mean negative logarithm of the true class's share."""
    top = lib.max(scores, 1, keepdims=True)
    shares = scores - top - lib.log(lib.sum(lib.exp(scores - top), 1, keepdims=True))
    return -lib.mean(lib.sum(labels * shares, 1))


def main():
    wine = load_wine()
    data, kinds = wine.data.astype(np.float32), wine.target
    n, features = data.shape
    x = xt.array(data)

    plan = xt.plan(x, standardise(x, 0, xt))
    plan.run()
    print(
        f"standardise {n} x {features}: phases {plan.phases}, temporaries {plan.temporaries}, recompute {plan.recompute:.2f}"
    )
    print(plan.nest)
    wanted = standardise(data.astype(np.float64), 0, np)
    assert abs(x.numpy() - wanted).max() < 1e-4

    samples, angles, loss, right = xt.empty((n, features)), xt.empty(n), xt.empty(()), xt.empty(())
    means, scores = xt.empty((3, features)), xt.empty((n, 3))
    before = xt.memory.allocations
    samples[...] = standardise(x, 1, xt)
    angles[...] = cosines(x, x[0], xt)
    assert abs(samples.numpy() - standardise(wanted, 1, np)).max() < 1e-4
    assert abs(angles.numpy() - cosines(wanted, wanted[0], np)).max() < 1e-4
    nearest = np.argsort(-angles.numpy())[1:6]
    print(f"most like sample 0 (class {kinds[0]}): {', '.join(f'{k} (class {kinds[k]})' for k in nearest)}")

    # one sample against three class means: (n, 1, d) - (3, d), folded over d
    for kind in range(3):
        means[kind] = xt.mean(x * xt.asarray((kinds == kind)[:, None]), 0) * (n / (kinds == kind).sum())
    labels = xt.asarray(np.eye(3, dtype=np.float32)[kinds])
    scores[...] = -xt.sum((x[:, None] - means) ** 2, 2)
    loss[...] = cross_entropy(scores, labels, xt)
    scores[...] = softmax(scores, 1, xt)
    right[...] = xt.mean(xt.argmax(scores, 1) == xt.asarray(kinds))
    print(f"classes by the nearest mean: {float(right):.3f} right, loss {float(loss):.3f}")
    assert xt.memory.allocations == before
    assert float(right) > 0.95
    assert abs(scores.numpy().sum(1) - 1).max() < 1e-6


if __name__ == "__main__":
    main()
