"""Quotients and remainders of integers, computed in floats where there are many: exactly NumPy's, at both ends of every type."""

import numpy as np
import pytest
from strategies import assert_same_bits

import exprten as xt

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
CALLS = {
    "floor_divide": lambda a, b, m: a // b,
    "remainder": lambda a, b, m: a % b,
    "fmod": lambda a, b, m: m.fmod(a, b),
}


def _numbers(dtype: str, count: int) -> np.ndarray:
    """Small and large ones, powers of two and what is beside them and the ends, in any order; all of 8 bits."""
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    if info.bits == 8:
        return np.arange(info.min, info.max + 1, dtype=dtype)
    ends = [int(info.min) + k for k in range(9)] + [int(info.max) - k for k in range(9)] + list(range(12))
    powers = [s * (1 << k) + d for k in range(info.bits) for d in (-1, 0, 1) for s in (1, -1)]
    fixed = [x for x in ends + powers if info.min <= x <= info.max]
    drawn = rng.integers(info.min, info.max, count, dtype, endpoint=True)
    return rng.permutation(
        np.concatenate([np.array(fixed, dtype), drawn, drawn >> rng.integers(0, info.bits, count).astype(dtype)])
    )


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_number_by_each_other(dtype, name, bits):
    a = _numbers(dtype, 400)
    b = a[:, None]
    out = np.empty((b.size, a.size), dtype)
    with np.errstate(all="ignore"), xt.options(vector_bits=bits):
        want = CALLS[name](a, b, np)
        xt.asarray(out)[...] = CALLS[name](xt.asarray(a), xt.asarray(b), xt)  # one divisor for a row
        assert_same_bits(out, want, "one divisor")
        many = np.ascontiguousarray(np.broadcast_to(b, want.shape))
        xt.asarray(out)[...] = CALLS[name](xt.asarray(a), xt.asarray(many), xt)
        assert_same_bits(out, want, "as many divisors")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_scalar_and_whole_multiples(dtype):
    """Products of what is divided by, and what is beside them: nearest to the next whole number."""
    info, rng = np.iinfo(dtype), np.random.default_rng(1)
    for divisor in (
        1,
        2,
        3,
        5,
        7,
        10,
        100,
        int(info.max),
        int(info.max) // 2 + 1,
        int(rng.integers(2, (1 << (info.bits - 1)) - 1)),
    ):
        factors = rng.integers(0, int(info.max) // divisor, 500, dtype, endpoint=True)
        a = np.unique(np.concatenate([factors * np.array(divisor, dtype) + np.array(d, dtype) for d in (0, 1)]))
        a = np.concatenate([a, a - np.array(1, dtype)])
        x = xt.asarray(a)
        assert_same_bits(xt.evaluate(x // divisor).numpy(), a // np.array(divisor, dtype), f"// {divisor}")
        assert_same_bits(xt.evaluate(x % divisor).numpy(), a % np.array(divisor, dtype), f"% {divisor}")
