"""What all tests share: hypothesis' profile and seed, golden files, and the reason why a GPU test is skipped."""

import functools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from covering import covering
from exprten_jit.backends import nvrtc_library
from exprten_jit.store import store
from hypothesis import settings

if TYPE_CHECKING:  # it needs POSIX
    from emulator import Emulator

pytest.register_assert_rewrite("gpu.memory_cases", "gpu.product_cases")  # tests that two modules import

GOLDEN = Path(__file__).parent / "golden"

# What a test compiles is the same whatever ran before it; tests of the cache switch it on. Of the modules that are named here kernels are kept, for who runs them
# another time in another way: what they assert does not depend on where a kernel came from.
os.environ["EXPRTEN_CACHE"] = "0"
KEPT = frozenset(f"test_{name}" for name in os.environ.get("EXPRTEN_TEST_KEPT", "").split())

# No deadline: the first example of a kernel compiles it. In CI the examples are the same in every run, so a red run is ours.
settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True, database=None)
PROFILE = "ci" if os.environ.get("CI") else "local"
settings.load_profile(PROFILE)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden from what the code gives now")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A kernel is some mappings of memory, of which a process may have 65,530: two workers would need more for all tests."""
    return max(4, os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # Chosen before hypothesis' own hook reads it and before xdist starts workers, so that all draw from one printed seed.
    if PROFILE == "local" and config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.randrange(2**32))


@pytest.fixture(autouse=True, scope="module")
def _kernels_are_kept(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.module.__name__ not in KEPT:
        yield
        return
    os.environ["EXPRTEN_CACHE"] = "1"
    store.cache_clear()
    yield
    os.environ["EXPRTEN_CACHE"] = "0"
    store.cache_clear()


@pytest.hookimpl(tryfirst=True)  # before those marked `full` are taken out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases: dict[object, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("covering"):
            cases.setdefault((item.module, item.originalname), []).append(item)
    for some in cases.values():
        (strength,) = next(some[0].iter_markers("covering")).args
        chosen = covering([item.callspec.params for item in some], strength)
        for n in set(range(len(some))).difference(chosen):
            some[n].add_marker("full")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    # At the end, not in the header: -q hides the header.
    seed = "derandomized" if PROFILE == "ci" else f"--hypothesis-seed={config.getoption('--hypothesis-seed')}"
    terminalreporter.write_line(f"hypothesis profile {PROFILE}, {seed}")
    corpus = [r.duration for r in terminalreporter.stats.get("passed", ()) if "test_gpu_corpus.py" in r.nodeid]
    if corpus:
        terminalreporter.write_line(
            f"statements on an emulated GPU: {len(corpus)} groups, {sum(corpus):.0f} seconds of a worker"
        )


@functools.cache
def _why_no_gpu() -> str:
    """Empty where a CUDA device answers."""
    try:
        import cupy
    except ImportError as error:
        return f"no CuPy: {error}"
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "no CUDA device"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no CUDA device: {error}"


@functools.cache
def _why_no_nvrtc() -> str:
    """Empty where CUDA text can be compiled, types of 16 bits included."""
    try:
        nvrtc_library.headers()
    except nvrtc_library.MissingError as error:
        return str(error)
    return ""


# marker -> the word that stands in EXPRTEN_REQUIRE where a skip is to be a failure, and why there is none
NEEDS = {"gpu": ("cuda", _why_no_gpu), "nvrtc": ("nvrtc", _why_no_nvrtc)}


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, (word, why) in NEEDS.items():
        if item.get_closest_marker(marker):
            need(word, why())


def need(what: str, reason: str) -> None:
    """Skip where something is missing, for a reason that is not empty; fail if EXPRTEN_REQUIRE, a list with commas, names it."""
    if reason and what in os.environ.get("EXPRTEN_REQUIRE", "").split(","):
        pytest.fail(f"EXPRTEN_REQUIRE asks for {what}: {reason}")
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def _emulator() -> "Emulator":
    from emulator import Emulator, why_not

    need("emulator", why_not())
    return Emulator()


@pytest.fixture
def emulator(_emulator: "Emulator") -> "Emulator":
    """Executes CUDA C++ on the CPU; threads run in order until a test says otherwise."""
    _emulator.reset()
    _emulator.seed = 0
    return _emulator


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: `text` is what `tests/golden/<name>` holds. A missing file fails; `--update-golden` writes it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.exists():
            pytest.fail(f"tests/golden/{name} is missing; write it with --update-golden and read it")
        assert text == path.read_text(encoding="utf-8"), (
            f"tests/golden/{name} differs; --update-golden if that is meant"
        )

    return compare
