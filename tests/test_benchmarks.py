"""The benchmarks run: every row prints a line. What the figures are is nobody's promise."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from emulator import why_not

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


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_quick_run_of_launches_prints_every_row():
    environment = {**os.environ, "PYTHONPATH": PATH}
    command = [sys.executable, "tests/benchmarks/gpu_launch.py", "--quick"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[0] for line in ran.stdout.splitlines()] == ["statement", "kernel", "lists"] * 2


GPU_ROWS = {"sgd", "momentum", "adam", "sigmoid", "gelu", "softmax", "rowsum", "sum"}
# Enough of CuPy to show that the script times, and writes what it times: on NumPy's arrays, with a clock for events.
NO_CUPY = """if True:
    import sys, time, types
    import numpy as np

    class Event:
        def record(self): self.at = time.perf_counter()
        def synchronize(self): pass

    runtime = types.SimpleNamespace(
        getDeviceProperties=lambda n: {"name": b"no device"}, driverGetVersion=lambda: 0, runtimeGetVersion=lambda: 0)
    device = lambda: types.SimpleNamespace(synchronize=lambda: None)
    cupy, special = types.ModuleType("cupy"), types.ModuleType("cupyx.scipy.special")
    cupy.cuda = types.SimpleNamespace(
        Event=Event, Device=device, runtime=runtime, get_elapsed_time=lambda a, b: 1e3 * (b.at - a.at))
    for name in ("zeros", "add", "exp", "sqrt", "copyto"):
        setattr(cupy, name, getattr(np, name))
    calls = []

    def failing(*arrays):
        calls.append(arrays)
        if len(calls) > 9: raise RuntimeError("later")

    cupy.asarray, cupy.asnumpy, cupy.fuse = np.array, np.array, lambda: lambda f: failing
    cupy.get_default_memory_pool = lambda: types.SimpleNamespace(free_all_blocks=lambda: None)
    special.erf = np.tanh
    sys.modules |= {"cupy": cupy, "cupyx": cupy, "cupyx.scipy": cupy, "cupyx.scipy.special": special}
    sys.path[:0] = ["tests/benchmarks", "tests"]
    from emulator.driver import emulated
    import gpu
    with emulated():
        gpu.main()
"""


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_gpu_statements_are_numpys_on_an_emulated_device(tmp_path):
    file = tmp_path / "found.json"
    command = [sys.executable, "tests/benchmarks/gpu.py", "--emulated", "--json", file]
    ran = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.startswith("missing: ")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found.keys() == GPU_ROWS and {row["exprten"] for row in found.values()} == {"ok"}


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
def test_gpu_figures_are_written(tmp_path):
    file = tmp_path / "figures.json"
    command = [sys.executable, "-c", NO_CUPY, "--mib", "0", "--rounds", "2", "--json", file]
    ran = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": PATH}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {line.split()[0] for line in ran.stdout.splitlines()} >= GPU_ROWS | {"overhead"}
    report = json.loads(file.read_text(encoding="utf-8"))
    assert report["rows"].keys() == GPU_ROWS and report["copy GB/s"] > 0 and report["info"]["exprten"]
    for row in report["rows"].values():
        assert row["exprten"]["share"] > 0 and len(row["exprten"]["rounds"]) == 2
    assert "AttributeError" in report["rows"]["sgd"]["cupy.ElementwiseKernel"]["error"]  # who fails is told
    assert report["overhead"]["exprten"]["ms"] > 0
    assert report["overhead"]["cupy.fuse"] == {"error": "RuntimeError: later"}


def test_quick_run_of_functions_prints_both_types_and_how_wrong_each_is():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "jit")])}
    command = [sys.executable, "tests/benchmarks/functions.py", "--quick", "exp", "arctan2", "erfc"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows = [
        [cell.strip() for cell in line.split("|")[1:4]] for line in ran.stdout.splitlines() if line.startswith("| `")
    ]
    assert [row[:2] for row in rows] == [
        [f"`{name}`", dtype] for name in ("exp", "arctan2", "erfc") for dtype in ("float32", "float64")
    ]
    for name, dtype, ours in rows:  # NumPy tells the truth, and mpmath
        assert 0 < float(ours.split("(")[1].rstrip(")")) < 2, (name, dtype, ours)


def test_quick_run_of_layouts_prints_a_line_an_axis():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "jit")])}
    command = [sys.executable, "tests/benchmarks/layouts.py", "--kib", "64", "--rounds", "2", "--seconds", "1e-5"]
    command += ["--only", "(n, 64, 128)", "--statements", "sum", "softmax"]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = [line.split()[-3:] for line in ran.stdout.splitlines()]
    assert lines[0] == ["axis", "sum", "softmax"]
    assert [line[0] for line in lines[1:]] == ["0", "1", "2"]
    assert all(float(figure) > 0 for line in lines[1:] for figure in line[1:])


def test_quick_run_of_drawn_layouts_counts_them_and_reads_its_lines_again(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "jit")])}
    command = [sys.executable, "tests/benchmarks/drawn.py", "--kib", "16", "--rounds", "2", "--seconds", "1e-5"]
    command += ["--places", "1", "--statements", "sum", "scale"]

    def lines_of(*more: str) -> list[str]:
        ran = subprocess.run([*command, *more], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    first = lines_of("--count", "12", "--limit", "0")
    assert sum(int(line.split()[-1]) for line in first[-2:]) == 12
    printed = tmp_path / "printed"
    printed.write_text("\n".join(first))
    again = lines_of("--again", str(printed), "--limit", "0")
    assert [line.split()[:5] for line in again[:12]] == [line.split()[:5] for line in first[:12]]
    first = lines_of("--count", "6", "--limit", "0", "--backwards")
    printed.write_text("\n".join(first))
    again = lines_of("--again", str(printed), "--limit", "0")
    assert [line.split()[:5] for line in again[:6]] == [line.split()[:5] for line in first[:6]]
    assert all("-" in line.split()[4] for line in first[:6])
    packed = [line.split()[3:5] for line in lines_of("--count", "9", "--limit", "0", "--packed")[:9]]
    assert {",".join(map(str, range(1 + order.count(",")))) + turned for order, turned in packed} == {
        order + turned for order, turned in packed
    }
    assert {turned for _, turned in packed} == {"source"}
