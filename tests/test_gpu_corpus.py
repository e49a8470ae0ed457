"""The statements of the corpus on an emulated GPU: CUDA text that g++ has compiled, in several orders of threads and blocks."""

import pytest
from compiled import ARCHITECTURES, assert_right, compiled, recorded
from corpus import GROUPS, assert_same, run
from emulator.driver import emulated
from exprten_jit.backends.nvrtc_library import NvrtcError, library

import exprten as xt

SEEDS = (0, 1, 2)  # forwards, backwards, shuffled


@pytest.mark.usefixtures("emulator")  # or skipped, with the reason
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", GROUPS)
def test_a_gpu_has_the_bits_of_the_cpu_in_every_order_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    want, texts = run(name, xt.cpu()), recorded(monkeypatch)
    with emulated(devices=1) as driver:
        with driver.emulator.collecting():  # all texts of a group are one translation unit
            run(name, xt.gpu(0))
        driver.emulator.reset()
        for seed in SEEDS:
            driver.emulator.seed = seed
            assert_same(run(name, xt.gpu(0)), want, f"order {seed}")
        counted = driver.emulator.counters
        assert counted.launches and not counted.divergent_barriers, driver.emulator.error
    if has_nvrtc():
        for one in compiled(list(texts.values()), ARCHITECTURES[list(GROUPS).index(name) % len(ARCHITECTURES)], False):
            assert_right(one)


def has_nvrtc() -> bool:
    try:
        library()
    except NvrtcError:
        return False
    return True
