"""Folds down columns that fill memory: what is stored past the caches, and how wide a strip is, changes no bit."""

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from test_folds import normal, softmax, standardised

import exprten as xt

SHAPES = ((70, 30_000), (700, 3_072), (9_000, 260), (1_050_000, 2))  # 8 MiB of float32: strips of every width


@pytest.mark.parametrize("statement", [softmax, standardised])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("before", "bits"), [(0, None), (16, 256), (3, None)])
def test_columns_of_a_large_target_are_what_they_are_alone(statement, shape, before, bits):
    rows, columns = shape
    x = normal(shape)
    memory = np.full((rows, before + columns + 1), 7, np.float32)
    inside = memory[:, before : before + columns]
    source, target = xt.asarray(x), xt.asarray(inside)
    for threads in (1, 2):
        inside[...] = 0
        with xt.options(vector_bits=bits, num_threads=threads):
            plan = xt.plan(target, statement(xt, source, 0))
            plan.run()
            assert "nontemporal" in plan.llvm or not llvm_run.machine().streams
            for first in {0, columns // 2 - 1, columns - 2}:
                alone = xt.evaluate(statement(xt, source[:, first : first + 2], 0))
                assert inside[:, first : first + 2].tobytes() == alone.numpy().tobytes(), (first, threads)
        assert (memory[:, :before] == 7).all() and (memory[:, before + columns :] == 7).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64", "int32"])
def test_every_type_is_stored_past_the_caches(dtype):
    x = xt.asarray(np.random.default_rng(0).integers(-9, 9, (2_100, 2_016)).astype(np.float32))
    x = xt.evaluate(xt.cast(x, dtype))
    least = xt.min(x, 0, keepdims=True)
    target = xt.empty(x.shape, dtype=x.dtype)
    target[...] = x - least
    wanted = xt.evaluate(x - xt.evaluate(least))
    assert target.numpy().tobytes() == wanted.numpy().tobytes()


def test_a_target_that_is_read_is_not_stored_past_the_caches():
    x = xt.ones((3_000, 1_000))
    plan = xt.plan(x, standardised(xt, x, 0))
    assert "nontemporal" not in plan.llvm
