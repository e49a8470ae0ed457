"""A = B + C + C: an expression of any length is one loop without a temporary (mshadow guide/exp-template/exp_template.cpp)."""

import exprten as xt

A = xt.zeros(3)
B = xt.array([2.0, 3.0, 4.0])
C = xt.array([3.0, 4.0, 5.0])

total = B + C + C
print(repr(total))  # a tree of two nodes: (B + C) was not computed

allocations = xt.memory.allocations
A[...] = total
print(A.numpy())

plan = xt.plan(A, total)
print(plan.ir)  # C is read once, though it stands there twice

assert A.numpy().tolist() == [8, 11, 14]
assert xt.memory.allocations == allocations
assert (plan.phases, plan.bytes_read, plan.bytes_written) == (1, 24, 12)
