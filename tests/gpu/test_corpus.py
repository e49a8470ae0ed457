"""The statements of the corpus on real devices."""

import pytest
from corpus import GROUPS, assert_same, run

import exprten as xt


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", GROUPS)
def test_a_gpu_has_the_bits_of_the_cpu(name, gpus):
    want = run(name, xt.cpu())
    for gpu in gpus:
        assert_same(run(name, gpu), want, f"on {gpu}")
