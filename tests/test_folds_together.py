"""Folds of one axis in one statement: those that take their elements in chains pass over each block by themselves, with the bits of each alone."""

import itertools

import numpy as np
import pytest
from exprten_jit.nest import Loop
from strategies import assert_same_bits

import exprten as xt

FOLDS = ("sum", "max", "min", "argmax", "std", "prod", "count_nonzero", "any")


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "uint8"])
@pytest.mark.parametrize("names", list(itertools.combinations(FOLDS, 2)), ids="-".join)
def test_two_folds_have_the_bits_of_each_alone(names, dtype):
    rng = np.random.default_rng(0)
    for shape in ((3, 200), (2, 1000), (1, 9001)):
        x = rng.integers(-3, 3, shape).astype(dtype)
        for special in (None, -0.0, np.nan) if x.dtype.kind == "f" else (None,):
            if special is not None:
                x = np.where(rng.random(shape) < 0.3, np.asarray(special, dtype), np.minimum(x, 0)).astype(dtype)
            a = xt.asarray(x)
            alone = [xt.evaluate(getattr(xt, name)(a, 1)).numpy() for name in names]
            together = [getattr(xt, name)(a, 1).astype(xt.float64) for name in names]
            for threads in (1, 2):
                with np.errstate(all="ignore"), xt.options(num_threads=threads):
                    got = xt.evaluate(together[0] * 3 + together[1]).numpy()
                    want = alone[0].astype(np.float64) * 3 + alone[1].astype(np.float64)
                    assert_same_bits(got, want, f"{names}, {shape}, {special}, {threads} threads")


def test_an_extreme_beside_a_sum_passes_over_each_block_alone():
    x = xt.ones((4, 1000))
    nest = xt.plan(xt.empty(4), xt.sum(x, 1) + xt.max(x, 1))._code.nest
    (stmt,) = [s for loop in nest.body if isinstance(loop, Loop) for s in loop.body if hasattr(s, "chained")]
    assert [node.reducer for node in stmt.folds] == ["sum", "max"] and [node.reducer for node in stmt.chained] == [
        "max"
    ]
