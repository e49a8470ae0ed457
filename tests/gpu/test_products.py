"""Products by cuBLAS on a real device."""

import pytest
from conftest import need

from exprten.gpu.driver import driver
from gpu.product_cases import *  # noqa: F403  # the tests


@pytest.fixture(autouse=True)
def _cublas(gpus):
    need("cuda", driver().without_gemm())
