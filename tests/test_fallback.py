"""The promise of C7 for the way into a kernel: with builtins switched off (EXPRTEN_CTYPES=1) everything is the same, only slower."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PARTS = ("tests/test_aliasing.py", "tests/test_keys.py")  # CI runs all that depends on the entry
LONG = "not random and not index_is_numpys and not reshape_is_a_view"  # the entry makes no difference to them


def with_ctypes(*command):
    """A command of this Python's, in the project's directory, with builtins switched off."""
    env = os.environ | {"EXPRTEN_CTYPES": "1", "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "jit")))}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=110
    )


@pytest.mark.skipif(os.environ.get("EXPRTEN_CTYPES") == "1", reason="this is the run with builtins switched off")
@pytest.mark.parametrize("part", PARTS)
def test_suite_passes_through_ctypes(part):
    done = with_ctypes("-m", "pytest", part, "-q", "-k", LONG, "-p", "no:cacheprovider", "-x")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_info_names_the_entry():
    done = with_ctypes("-m", "exprten", "info")
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("kernel entry"))
    assert line.split() == ["kernel", "entry", "ctypes"]


def test_no_builtin_is_made():
    code = (
        "import exprten as xt\n"
        "from exprten_jit import hostcall\n"
        "t = xt.zeros(40)\n"
        "for n in range(20):\n"
        "    t[...] = t * 2.0 + 1.0\n"
        "print(int(t.numpy()[39]), len(hostcall._kept), hostcall.launcher.cache_info().currsize)\n"
    )
    done = with_ctypes("-c", code)
    assert done.stdout.split() == ["1048575", "0", "0"], done.stderr
