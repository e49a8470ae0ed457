"""xt.optim against PyTorch's formulas, written in NumPy in its order of operations."""

import re

import numpy as np
import pytest

import exprten as xt

# Each reference takes the weight, the gradient, the state by name and the options, and does one step in place.


def gradient(w, g, o, decay=True):
    if o.get("clip_gradient") is not None:
        g = np.clip(g, -o["clip_gradient"], o["clip_gradient"])
    return g + o["weight_decay"] * w if decay and o.get("weight_decay") else g


def sgd(w, g, o):
    w -= o["lr"] * gradient(w, g, o)


def momentum(w, g, m, o):
    """torch.optim.SGD: buf.mul_(momentum).add_(grad, alpha=1 - dampening)"""
    m[...] = m * o["momentum"] + (1 - o.get("dampening", 0)) * gradient(w, g, o)
    w -= o["lr"] * m


def nesterov(w, g, m, o):
    d = gradient(w, g, o)
    m[...] = m * o["momentum"] + d
    w -= o["lr"] * (d + o["momentum"] * m)


def adagrad(w, g, s, o):
    d = gradient(w, g, o)
    s += d * d
    w -= o["lr"] * (d / (np.sqrt(s) + o["eps"]))


def rmsprop(w, g, s, o):
    d = gradient(w, g, o)
    s[...] = s * o["alpha"] + (1 - o["alpha"]) * (d * d)
    w -= o["lr"] * (d / (np.sqrt(s) + o["eps"]))


def rmsprop_momentum(w, g, s, m, o):
    d = gradient(w, g, o)
    s[...] = s * o["alpha"] + (1 - o["alpha"]) * (d * d)
    m[...] = m * o["momentum"] + d / (np.sqrt(s) + o["eps"])
    w -= o["lr"] * m


def rmsprop_centered(w, g, s, m, mean, o):
    d = gradient(w, g, o)
    s[...] = s * o["alpha"] + (1 - o["alpha"]) * (d * d)
    mean += (1 - o["alpha"]) * (d - mean)
    m[...] = m * o["momentum"] + d / (np.sqrt(s - mean * mean) + o["eps"])
    w -= o["lr"] * m


def adam_step(w, d, m, v, o, spread):
    b1, b2, t = *o["betas"], o["t"]
    m += (1 - b1) * (d - m)  # exp_avg.lerp_(grad, 1 - beta1)
    v[...] = v * b2 + (1 - b2) * (d * d)
    denominator = np.sqrt(spread(v)) / (1 - b2**t) ** 0.5 + o["eps"]
    w -= o["lr"] / (1 - b1**t) * (m / denominator)


def adam(w, g, m, v, o):
    adam_step(w, gradient(w, g, o), m, v, o, lambda v: v)


def amsgrad(w, g, m, v, vmax, o):
    def largest(v):
        np.maximum(vmax, v, out=vmax)
        return vmax

    adam_step(w, gradient(w, g, o), m, v, o, largest)


def adamw(w, g, m, v, o):
    w *= 1 - o["lr"] * o["weight_decay"]
    adam_step(w, gradient(w, g, o, decay=False), m, v, o, lambda v: v)


def lion(w, g, m, o):
    """Chen et al. 2023, algorithm 2."""
    g, (b1, b2) = gradient(w, g, o, decay=False), o["betas"]
    if o.get("weight_decay"):
        w *= 1 - o["lr"] * o["weight_decay"]
    w -= o["lr"] * np.sign(m * b1 + (1 - b1) * g)
    m[...] = m * b2 + (1 - b2) * g


# name: (the step, its reference, number of states, options)
STEPS = {
    "sgd": (xt.optim.sgd, sgd, 0, {}),
    "momentum": (xt.optim.momentum, momentum, 1, {"momentum": 0.9}),
    "dampened": (xt.optim.momentum, momentum, 1, {"momentum": 0.9, "dampening": 0.25}),
    "nesterov": (xt.optim.nesterov, nesterov, 1, {"momentum": 0.9}),
    "adagrad": (xt.optim.adagrad, adagrad, 1, {"eps": 1e-10}),
    "rmsprop": (xt.optim.rmsprop, rmsprop, 1, {"alpha": 0.99, "eps": 1e-8}),
    "rmsprop momentum": (xt.optim.rmsprop, rmsprop_momentum, 2, {"alpha": 0.99, "eps": 1e-8, "momentum": 0.9}),
    "rmsprop centered": (xt.optim.rmsprop, rmsprop_centered, 3, {"alpha": 0.9, "eps": 1e-5, "momentum": 0.5}),
    "adam": (xt.optim.adam, adam, 2, {"betas": (0.9, 0.999), "eps": 1e-8, "t": 1}),
    "amsgrad": (xt.optim.adam, amsgrad, 3, {"betas": (0.9, 0.99), "eps": 1e-8, "t": 1}),
    "adamw": (xt.optim.adamw, adamw, 2, {"betas": (0.9, 0.999), "eps": 1e-8, "t": 1, "weight_decay": 0.01}),
    "lion": (xt.optim.lion, lion, 1, {"betas": (0.9, 0.99)}),
}


def schedule(step, base=0.1):
    """Warm-up, then half a cosine."""
    return base * min(step / 3, 0.5 + 0.5 * float(np.cos(0.2 * step)))


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "extra", [{}, {"weight_decay": 1e-2}, {"clip_gradient": 0.5}, {"weight_decay": 0.1, "clip_gradient": 1.0}]
)
def test_steps_are_the_formulas_bits(name, dtype, extra):
    step, reference, states, options = STEPS[name]
    rng = np.random.default_rng(5)
    shape = (7, 13)
    w = rng.standard_normal(shape).astype(dtype)
    state = [np.zeros(shape, dtype) for _ in range(states)]
    mine = [xt.array(a) for a in (w, *state)]
    for t in range(1, 7):
        g = rng.standard_normal(shape).astype(dtype)
        now = options | extra | {"lr": schedule(t)} | ({"t": t} if "t" in options else {})
        reference(w, g, *state, now)
        step(mine[0], xt.array(g), *mine[1:], **now)
        for a, x in zip((w, *state), mine, strict=True):
            np.testing.assert_array_equal(x.numpy(), a)
    assert np.isfinite(w).all()


@pytest.mark.parametrize("name", STEPS)
def test_lists_are_a_step_each(name):
    step, _, states, options = STEPS[name]
    rng = np.random.default_rng(1)
    shapes = [(3,), (2, 5), (), (4, 1, 3), (64,)]
    one, many = ([[xt.array(np.float32(rng.standard_normal(s))) for s in shapes] for _ in range(2)] for _ in range(2))
    for a, b in zip(one, many, strict=True):
        for x, y in zip(a, b, strict=True):
            y[...] = x
    state, states_of_many = ([[xt.zeros(s) for s in shapes] for _ in range(states)] for _ in range(2))
    for t in range(1, 6):
        now = options | {"lr": schedule(t)} | ({"t": t} if "t" in options else {})
        for k in range(len(shapes)):
            step(one[0][k], one[1][k], *(s[k] for s in state), **now)
        step(*many, *states_of_many, **now)
    for a, b in zip((one[0], *state), (many[0], *states_of_many), strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x.numpy(), y.numpy())


def test_a_schedule_compiles_nothing():
    w, g, m, v = (xt.ones(10) for _ in range(4))
    xt.optim.adam(w, g, m, v, t=1)
    with xt.no_compile():
        for t in range(2, 30):
            xt.optim.adam(w, g, m, v, t=t, lr=schedule(t), betas=(0.9, 0.99), eps=1e-6)


def test_a_step_is_one_kernel_and_no_memory():
    w, g, m, v = (xt.ones(10) for _ in range(4))
    xt.optim.adamw(w, g, m, v, t=1)
    before = xt.memory.allocations
    for t in range(2, 9):
        xt.optim.adamw(w, g, m, v, t=t)
    assert xt.memory.allocations == before


def test_adam_finds_the_minimum():
    w, m, v = xt.array([3.0, -2.0]), xt.zeros(2), xt.zeros(2)
    goal = xt.array([1.0, 0.5])
    for t in range(1, 400):
        xt.optim.adam(w, xt.evaluate(2.0 * (w - goal)), m, v, t=t, lr=0.05)
    np.testing.assert_allclose(w.numpy(), goal.numpy(), atol=1e-3)


def test_norms_are_clipped_together():
    rng = np.random.default_rng(2)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in ((3, 4), (50,), ())]
    gradients = [xt.array(a) for a in arrays]
    norm = np.sqrt(sum(float((a.astype(np.float64) ** 2).sum()) for a in arrays))
    for limit in (norm * 2, norm / 3):
        found = xt.optim.clip_norm(gradients, limit)
        assert found == pytest.approx(norm, rel=1e-6)
        by = min(1.0, limit / (norm + 1e-6))
        for a, g in zip(arrays, gradients, strict=True):
            np.testing.assert_allclose(g.numpy(), a * by, rtol=1e-6)
    (g,) = gradients[:1]
    assert xt.optim.clip_norm(g, 1e-3) == pytest.approx(float(np.linalg.norm(arrays[0] * by)), rel=1e-5)


def test_momentum_without_its_state_is_refused():
    with pytest.raises(ValueError, match=r"rmsprop: momentum is 0\.9; give its state"):
        xt.optim.rmsprop(xt.ones(2), xt.ones(2), xt.zeros(2), momentum=0.9)
    with pytest.raises(TypeError, match="rmsprop: s is a float; positional parameters are tensors"):
        xt.optim.rmsprop(xt.ones(2), xt.ones(2), 0.0)


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_a_step_before_the_first_is_refused(name):
    w = xt.ones(2)
    with pytest.raises(ValueError, match=f"{name}: t is 0; steps are counted from 1"):
        getattr(xt.optim, name)(w, xt.ones(2), xt.zeros(2), xt.zeros(2), t=0)
    assert (w.numpy() == 1).all()


@pytest.mark.parametrize("betas", [0.9, (0.9,), (0.9, 0.99, 0.999), None])
@pytest.mark.parametrize("name", ["adam", "adamw", "lion"])
def test_rates_that_are_not_two_are_refused(name, betas):
    w, state = xt.ones(2), [xt.zeros(2)] * (1 if name == "lion" else 2)
    step = {} if name == "lion" else {"t": 1}
    with pytest.raises(TypeError, match=f"^{name}: betas is {re.escape(repr(betas))}; it must be two numbers"):
        getattr(xt.optim, name)(w, xt.ones(2), *state, betas=betas, **step)
    assert (w.numpy() == 1).all()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda w: xt.optim.sgd(w, w, lr=None), TypeError, "sgd: lr is None; it must be a number"),
        (lambda w: xt.optim.adam(w, w, w, w, lr=0.1, t=None), TypeError, "adam: t is None; it must be an int"),
        (lambda w: xt.optim.adam(w, w, w, w, lr=0.1, t=1, betas=(1, 0.9)), ValueError, r"adam: betas is \(1, 0.9\)"),
        (lambda w: xt.optim.clip_norm([w], -1.0), ValueError, "clip_norm: max_norm is -1.0"),
        (lambda w: xt.optim.clip_norm(xt.ones(8, "int32"), 1.0), xt.DTypeError, "clip_norm: a gradient of int32"),
    ],
)
def test_what_no_step_is_made_of_is_said(call, kind, text):
    w = xt.ones(8)
    with pytest.raises(kind, match=text):
        call(w)
    assert (w.numpy() == 1).all()


def test_the_norm_of_complex_gradients_is_of_their_absolute_values():
    g = xt.asarray(np.array([3 + 4j, 0, 12j], "complex64"))
    assert xt.optim.clip_norm(g, 1.0) == pytest.approx(13)
    np.testing.assert_allclose(np.linalg.norm(g.numpy()), 1, 1e-5)
