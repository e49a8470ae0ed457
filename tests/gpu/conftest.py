"""Every test here needs a CUDA device: without one it is skipped, or fails where `EXPRTEN_REQUIRE=cuda` says that there is one."""

from pathlib import Path

import pytest

import exprten as xt


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture
def gpus():
    """All devices there are. Nothing of exprten's lies on them after the test."""
    yield [xt.gpu(k) for k in range(xt.gpu.count())]
    for k in range(xt.gpu.count()):
        xt.gpu(k).synchronize()
