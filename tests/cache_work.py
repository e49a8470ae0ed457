"""What a process of `test_cache` does: something of every kind that is compiled. Prints its results and what they took, as JSON."""

import contextlib
import hashlib
import json
import sys

import numpy as np
from exprten_jit.backends.llvm_run import counts

import exprten as xt


@xt.op
def bend(x, y):
    return x * 0.5 if x < y else y - x


@xt.reducer(identity=1.0)
def product(a, b):
    return a * b


@xt.kernel
def momentum(w, v, g, *, lr):
    v[...] = v * 0.9 + g
    w -= lr * v


def work():
    """Statements of every kind. Returns their targets."""
    rng = np.random.default_rng(3)
    x, y, a, b = (xt.array(rng.uniform(0.5, 1.5, (6, 7))) for _ in range(4))
    square, weights = xt.array(rng.uniform(size=(7, 7))), xt.array(rng.uniform(size=(12, 7)))
    sums, total, pairs = xt.zeros((6, 1)), xt.zeros(1), xt.array([1 + 1j, 2 - 1j])
    x[...] = xt.exp(y) * 2 + x
    sums[...] = xt.sum(x, axis=1, keepdims=True)
    x[...] = x / xt.sum(x, axis=1, keepdims=True)  # the target is read where it is not stored
    y[...] = xt.flip(a, axis=1) + bend(a, b)
    pairs[...] = pairs * (1 + 2j) + 0.5
    total[...] = product(a)
    b[...] = xt.maximum(xt.dot(a, square) + 1, 0)
    xt.concat(a, b, axis=0)[...] = weights
    for _ in range(4):  # the last of them without Python
        x += y * 0.25
        momentum(x, y, a, lr=0.1)
        momentum.foreach([x, y], [a, b], [square[:6], weights[:6]], lr=0.1)
    return x, y, a, b, sums, total, pairs


def refused():
    """Whether a statement is refused that would read what it has stored: its kernel is kept all the same, for it is right elsewhere."""
    rows = xt.ones((5, 6))
    try:
        rows[1:] = rows[1:] - xt.sum(rows[:-1], axis=1, keepdims=True)
    except xt.AliasError:
        return True
    return False


def main():
    with xt.no_compile() if "--no-compile" in sys.argv else contextlib.nullcontext():
        targets, alias = work(), refused()
        plan = xt.plan(targets[0], targets[0] / xt.sum(targets[0], axis=1, keepdims=True))
    results = b"".join(t.numpy().tobytes() for t in targets)
    stats = xt.stats()
    facts = {
        "results": hashlib.sha256(results).hexdigest(),
        "plan": hashlib.sha256(f"{plan.ir}{plan.nest}{plan.llvm}{plan.explain()}".encode()).hexdigest(),
        "refused": alias,
        "compiles": stats.compiles,
        "loads": stats.loads,
        "modules": counts.compiled,
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
