"""Gradient descent as one line: `weight -= eta * (grad + lam * weight)` is one kernel, which makes no temporary."""

import numpy as np

import exprten as xt


def update_sgd(weight, grad, eta, lam):
    weight -= eta * (grad + lam * weight)


weight = xt.array([1.0, 2.0, 3.0])
grad = xt.array([0.5, 0.5, 0.5])
expected = weight.numpy().copy()

for eta in (0.1, 0.05, 0.025):  # a number is an argument of the kernel: it compiles once
    update_sgd(weight, grad, eta, lam=0.01)
    update_sgd(expected, grad.numpy(), eta, lam=0.01)  # the same line on NumPy arrays

print(weight)
stats = xt.stats()
print("kernels:", stats.compiles + stats.loads)  # the second time this runs it is loaded from disk

assert np.array_equal(weight.numpy(), expected)  # every bit
assert stats.compiles + stats.loads <= 1  # 0 where EXPRTEN_INTERPRET=1 interprets it
