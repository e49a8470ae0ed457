"""Momentum and Adam in one pass: several statements, one kernel, and what it moves.

A step of an optimiser is limited by memory. Statement by statement, state is stored and read again; as one kernel every tensor is
read once and written once.
"""

import numpy as np

import exprten as xt


@xt.kernel
def momentum(w, g, m, *, lr, mu):
    m[...] = mu * m - lr * g
    w += m


@xt.kernel
def adam(w, g, m, v, *, t, lr, b1=0.9, b2=0.999, eps=1e-8):
    m[...] = b1 * m + (1 - b1) * g
    v[...] = b2 * v + (1 - b2) * (g * g)
    w -= lr * (m / (1 - b1**t)) / (xt.sqrt(v / (1 - b2**t)) + eps)


n = 1000
w, g, m, v = (xt.zeros(n) for _ in range(4))

# One pass against two statements: bytes moved.

one = momentum.plan(w, g, m, lr=0.1, mu=0.9)
print(one.explain())
apart = [xt.plan(m, 0.9 * m - 0.1 * g), xt.plan(w, m, "add")]
together, separately = (sum(p.bytes_read + p.bytes_written for p in plans) for plans in ([one], apart))
print(f"momentum moves {together} bytes in one pass, {separately} in two statements")

one = adam.plan(w, g, m, v, t=1, lr=0.1)
print(one.explain())
apart = [
    xt.plan(m, 0.9 * m + 0.1 * g),
    xt.plan(v, 0.999 * v + 0.001 * (g * g)),
    xt.plan(w, 0.1 * m / (xt.sqrt(v) + 1e-8), "sub"),
]
together, separately = (sum(p.bytes_read + p.bytes_written for p in plans) for plans in ([one], apart))
print(f"adam moves {together} bytes in one pass, {separately} in three statements")

# Both find the minimum of a parabola; the rate changes from step to step, and nothing is compiled for it.

goal = xt.array(np.linspace(-1, 1, n))
for name, step in (
    ("momentum", lambda t: momentum(w, g, m, lr=0.1 / t**0.5, mu=0.9)),
    ("adam", lambda t: adam(w, g, m, v, t=t, lr=0.1 / t**0.5)),
):
    for state in (w, m, v):
        state[...] = 0.0
    g[...] = w - goal
    step(1)
    with xt.no_compile():
        for t in range(2, 500):
            g[...] = w - goal
            step(t)
    error = float(xt.max(abs(w - goal)))
    print(f"{name}: error {error:.1e} after 499 steps")
    assert error < 1e-2

# Lists of tensors are one call, with the numbers that one call for each would give.

shapes = [(30, 20), (20,), (20, 10), (10,)]
rng = np.random.default_rng(0)
ws, gs = ([xt.array(np.float32(rng.standard_normal(s))) for s in shapes] for _ in range(2))
ms, vs = ([xt.zeros(s) for s in shapes] for _ in range(2))
again = [xt.array(w) for w in ws]
for t in range(1, 6):
    adam.foreach(ws, gs, ms, vs, t=t, lr=0.01)
for w, g in zip(again, gs, strict=True):
    m, v = xt.zeros_like(w), xt.zeros_like(w)
    for t in range(1, 6):
        adam(w, g, m, v, t=t, lr=0.01)
same = all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(ws, again, strict=True))
print(f"a list of {len(ws)} tensors in one call: {'the same bits' if same else 'other numbers'}")
assert same
