"""A = B * max(C, B) with an operation of one's own, in the same loop (mshadow guide/exp-template/exp_template_op.cpp).

mshadow asks for a struct with a function `Map`. Here a function that returns an expression is an operation: it is called once,
when the tree is built, and what it says is compiled into the kernel.
"""

import exprten as xt


def greater_of(a, b):
    return xt.where(a > b, a, b)


A = xt.zeros(3)
B = xt.array([2.0, 3.0, 4.0])
C = xt.array([3.0, 4.0, 5.0])

product = B * greater_of(C, B)
print(repr(product))  # the operation is nodes of the tree, like any other

A[...] = product
print(A.numpy())

plan = xt.plan(A, product)
print(plan.ir)  # and no call is left in the kernel

assert A.numpy().tolist() == [6, 12, 20]
assert plan.phases == 1
assert "greater_of" not in plan.ir
