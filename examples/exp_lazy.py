"""A = B + C, lazily: the sum is an expression until it is assigned (mshadow guide/exp-template/exp_lazy.cpp).

`B + C` cannot know where its result is to go, so an operator that computes has to allocate. An operator that only notes what is
to be done has not: the assignment sees target and operands together, and runs one loop over them.
"""

import exprten as xt

A = xt.zeros(3)
B = xt.array([2.0, 3.0, 4.0])
C = xt.array([3.0, 4.0, 5.0])

total = B + C
print(repr(total))  # what is to be done; no element was read

A[...] = total
print(A.numpy())
print(xt.plan(A, total).ir)  # what the assignment compiled
assert A.numpy().tolist() == [5, 7, 9]

B[...] = 0.0  # the expression holds handles, not values: it is evaluated when it is assigned
A[...] = total
print(A.numpy())
assert A.numpy().tolist() == [3, 4, 5]
