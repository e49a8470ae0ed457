"""Products by cuBLAS on a real device."""

import pytest

from exprten.gpu.driver import driver
from gpu.product_cases import *  # noqa: F403  # the tests


@pytest.fixture(autouse=True)
def _cublas(gpus):
    missing = driver().without_gemm() if gpus else "no device"
    if missing:
        pytest.skip(missing)
