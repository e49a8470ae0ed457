"""Random kernels against NumPy, which runs the same function on the same memory, statement by statement."""

import numpy as np
import pytest

import exprten as xt

VALUES = (
    "{a} + {b}", "{a} * {b}", "{a} - {s} * {b}", "xt.maximum({a}, {b})", "-{a}", "{s} / ({b} * {b} + 1.0)", "abs({a}) + {s}",
    "xt.where({a} > {b}, {a}, {s})", "{a}[::-1] * {b}",
)  # fmt: skip
SCALARS = ("s", "t", "0.5", "(1 - s * t)", "abs(t)")
MODES = ("[...] =", " +=", " -=", " *=")
LAYOUTS = (
    lambda a: a,
    lambda a: np.repeat(a, 2, -1)[..., ::2],
    lambda a: a[::-1],
    np.asfortranarray,
)


def value(rng, names, depth):
    if depth == 0 or rng.random() < 0.25:
        return str(rng.choice(names))
    kinds = VALUES if rng.random() < 0.1 else VALUES[:-1]
    a, b = (value(rng, names, depth - 1) for _ in range(2))
    return f"({rng.choice(kinds).format(a=a, b=b, s=rng.choice(SCALARS))})"


def function(rng, names):
    """Source of one to four statements."""
    lines = [
        f"    {rng.choice(names)}{rng.choice(MODES)} 1.0 * {value(rng, names, rng.integers(0, 4))}"
        for _ in range(rng.integers(1, 5))
    ]
    return "\n".join([f"def f({', '.join(names)}, *, s, t):", *lines])


def memory(rng, count):
    """Arrays of one shape; sometimes two are one, or overlap."""
    shape = [(7,), (3, 5), (33,), (1,), (4, 1)][rng.integers(5)]
    dtype = [np.float32, np.float64][rng.integers(2)]
    arrays = [LAYOUTS[rng.integers(4)](rng.standard_normal(shape).astype(dtype)) for _ in range(count)]
    how = rng.integers(6)
    if how == 0:
        arrays[1] = arrays[0]
    if how == 1 and len(shape) == 1:
        base, step = rng.standard_normal(shape[0] + 2).astype(dtype), rng.integers(2)
        arrays[0], arrays[1] = base[1:-1], base[2 * step : shape[0] + 2 * step]
    return arrays


@pytest.mark.parametrize("seed", range(40))
def test_a_kernel_is_its_statements_one_after_the_other(seed):
    rng = np.random.default_rng(seed)
    names = list("abcd")[: rng.integers(2, 5)]
    text, arrays = function(rng, names), memory(rng, len(names))
    mine, numpys = {"xt": xt}, {"xt": np}
    exec(text, mine)
    exec(text, numpys)
    kernel, start = xt.kernel(mine["f"]), [a.copy() for a in arrays]
    tensors = [xt.asarray(a) for a in arrays]
    for _ in range(4):
        scalars = {
            "s": float(rng.standard_normal()),
            "t": [float(rng.standard_normal()), int(rng.integers(1, 5))][seed % 2],
        }
        for a, b in zip(arrays, start, strict=True):
            a[...] = b
        before = [a.copy() for a in arrays]
        try:
            kernel(*tensors, **scalars)
        except xt.AliasError:
            for a, b in zip(arrays, before, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=text)
            return
        got = [a.copy() for a in arrays]
        for a, b in zip(arrays, start, strict=True):
            a[...] = b
        numpys["f"](*arrays, **scalars)
        for a, b in zip(arrays, got, strict=True):
            np.testing.assert_array_equal(b, a, err_msg=text)


def test_most_random_kernels_are_not_refused():
    refused = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        names = list("abcd")[: rng.integers(2, 5)]
        text, arrays = function(rng, names), memory(rng, len(names))
        made = {"xt": xt}
        exec(text, made)
        try:
            xt.kernel(made["f"]).plan(*map(xt.asarray, arrays), s=0.5, t=1.0)
        except xt.AliasError:
            refused += 1
    assert refused < 12
