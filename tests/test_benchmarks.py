"""The benchmarks run: every row prints a line. What the figures are is nobody's promise."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATH = os.pathsep.join([str(ROOT), str(ROOT / "jit"), *filter(None, [os.environ.get("PYTHONPATH")])])
NAMES = {"sgd", "add", "nine", "strided", "row", "column", "padded", "compile", "rowsum", "colsum", "rowmax"}
NAMES |= {"sgd16", *(["sgdb16"] if find_spec("ml_dtypes") else [])}
NAMES |= {"sum", "argmax", "softmax", "softmax0", "layernorm", "dot"}


def test_quick_run_fills_the_table(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, "tests/benchmarks/run.py", "--quick", "--sizes", "16", "--rounds", "2", "--json", file]
    environment = {**os.environ, "PYTHONPATH": PATH}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert {line.split()[0] for line in ran.stdout.splitlines() if line} >= NAMES
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert {row["row"] for row in rows} == NAMES
    assert all(len(times) >= 2 for row in rows for times in row["times"].values())


def test_quick_run_of_the_cache_prints_what_a_load_takes():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "jit")])}
    command = [sys.executable, "tests/benchmarks/cache.py", "--quick"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert {line.split()[0] for line in ran.stdout.splitlines() if line} == {"load", "first"}


def test_quick_run_of_kernels_prints_every_row():
    environment = {**os.environ, "PYTHONPATH": PATH}
    command = [sys.executable, "tests/benchmarks/kernels.py", "--quick"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = {line.split()[0] for line in ran.stdout.splitlines() if line}
    assert rows >= {"call", "momentum", "adam", "small", "resnet50"}


def test_quick_run_of_functions_prints_both_types():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "jit")])}
    command = [sys.executable, "tests/benchmarks/functions.py", "--quick", "exp", "arctan2"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = [
        [cell.strip() for cell in line.split("|")[1:3]] for line in ran.stdout.splitlines() if line.startswith("| `")
    ]
    assert rows == [[f"`{name}`", dtype] for name in ("exp", "arctan2") for dtype in ("float32", "float64")]
