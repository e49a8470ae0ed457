"""`import exprten` is cheap: what only some users need is loaded when they need it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAVY = ("cupy", "scipy", "sklearn", "matplotlib", "llvmlite", "ml_dtypes")


def test_import_loads_no_optional_library() -> None:
    code = f"import exprten, sys; assert exprten.__file__; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    path = os.pathsep.join([str(ROOT), str(ROOT / "jit")])  # also where exprten is not installed
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "", f"import exprten loads {run.stdout.strip()}"
