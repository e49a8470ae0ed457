"""Operations of one's own, as Python functions of numbers (mshadow guide/defop.cpp, and the smooth L1 loss).

mshadow asks for a struct with a function `Map`, and calls it as `F<op>(a, b)`. Here a function is decorated; it may have cases,
and its derivative comes with it.
"""

import numpy as np

import exprten as xt


@xt.op
def addone(a):
    return a + 1


@xt.op
def maxoftwo(a, b):
    if a > b:
        return a
    return b


@xt.op
def smooth_l1(x, sigma):
    """A parabola near 0, straight lines outside (Girshick, Fast R-CNN)."""
    width = 1 / (sigma * sigma)
    if x > width:
        return x - 0.5 * width
    if x < -width:
        return -x - 0.5 * width
    return 0.5 * x * x * (sigma * sigma)


# mshadow's guide: the larger of mat + 1.5 and mat2, in one kernel.

mat, mat2 = xt.zeros((2, 3)), xt.zeros((2, 3))
mat[0, 0] = -2.0
mat[...] = xt.F(maxoftwo)(xt.F(addone)(mat) + 0.5, mat2)
print(mat.numpy())
assert mat.numpy().tolist() == [[0, 1.5, 1.5], [1.5, 1.5, 1.5]]

# The loss and its gradient on numbers and on tensors, against NumPy.

r = np.linspace(-1, 1, 9)
gradient = smooth_l1.grad("x")  # another operation
far = np.abs(r) > 0.25
assert smooth_l1(0.1, 2.0) == 0.5 * 0.1 * 0.1 * 4  # of numbers it is the Python function
assert np.allclose(xt.evaluate(smooth_l1(r, 2.0)).numpy(), np.where(far, np.abs(r) - 0.125, 2 * r * r))
assert np.allclose(xt.evaluate(gradient(r, 2.0)).numpy(), np.where(far, np.sign(r), 4 * r))

# A line through points of which every twentieth is broken: least squares is pulled away, this loss is not.

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 200)
y = 3 * x + rng.normal(0, 0.05, 200)
y[::20] *= -5

slope = xt.zeros(1, xt.float64)
for _ in range(200):
    slope -= xt.mean(gradient(slope * x - y, 2.0) * x)  # one kernel
least_squares = (x @ y) / (x @ x)
print(f"slope {slope.item():.2f}, by least squares {least_squares:.2f}")

plan = xt.plan(xt.empty(200, xt.float64), smooth_l1(slope * x - y, 2.0))
print(plan)  # a node under the function's name
print(plan.ir)  # in the kernel its cases are a choice between values

assert abs(slope.item() - 3) < 0.05 < abs(least_squares - 3)
