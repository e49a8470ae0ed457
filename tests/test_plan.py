"""Plans: a statement looked at instead of run, the loops it becomes, and its texts kept as golden files."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exprten_jit import dtypes, generate, text
from exprten_jit.backends import nvrtc
from exprten_jit.machine import Machine
from exprten_jit.nesttext import show

import exprten as xt

ROOT = Path(__file__).parents[1]
MACHINE = Machine(256, frozenset((32, 64)))  # one for all, so that a golden text is the same on every processor


def tensors():
    return xt.ones((4, 5)), xt.full((4, 5), 2.0), xt.zeros((4, 5))


# What a plan says.


def test_plan_does_not_run():
    a, b, out = tensors()
    plan = xt.plan(out, a + b)
    for name in ("ir", "nest", "llvm", "asm", "flops", "bytes_read", "recompute"):
        getattr(plan, name)
    plan.explain()
    repr(plan)
    assert (out.numpy() == 0).all()
    assert plan.run() is out
    assert (out.numpy() == 3).all()


def test_plan_runs_as_often_as_it_is_asked_and_reads_what_is_there_then():
    a, b, out = tensors()
    plan = xt.plan(out, a + b, "add")
    plan.run()
    a[...] = 10
    plan.run()
    assert (out.numpy() == 3 + 12).all()


def test_plan_checks_as_the_assignment_does():
    a, _, out = tensors()
    with pytest.raises(xt.ShapeError):
        xt.plan(out, xt.ones((4, 6)))
    with pytest.raises(xt.DTypeError):
        xt.plan(xt.zeros((4, 5), xt.int32), a, "div")
    with pytest.raises(xt.AliasError):
        xt.plan(out[:, :4], out[:, :4].T + 1)
    plan = xt.plan(out, a + 1)
    xt.free_space(a)
    with pytest.raises(xt.FreedSpaceError):
        plan.run()
    assert (out.numpy() == 0).all()


# statement -> (bytes read, bytes written, operations) for float32 tensors of 20 elements
COUNTED = {
    "copy": (lambda a, b, out: xt.plan(out, a), 80, 80, 0),
    "sum": (lambda a, b, out: xt.plan(out, a + b), 160, 80, 20),
    "sum of one": (lambda a, b, out: xt.plan(out, a + a), 80, 80, 20),
    "update": (lambda a, b, out: xt.plan(out, (a + out * 0.1) * 0.5, "sub"), 160, 80, 80),
    "number": (lambda a, b, out: xt.plan(out, 3.0), 0, 80, 0),
    "number added": (lambda a, b, out: xt.plan(out, 3.0, "add"), 80, 80, 20),
    "row": (lambda a, b, out: xt.plan(out, a + b[0]), 100, 80, 20),
    "column hoisted": (lambda a, b, out: xt.plan(out, a + b[:, :1] * 2), 96, 80, 24),
    "part": (lambda a, b, out: xt.plan(out[1:3], a[1:3] * 2), 40, 40, 10),
    "view in another": (lambda a, b, out: xt.plan(out, a + a[:, :1] * 2), 80, 80, 24),
    "views that reach into each other": (lambda a, b, out: xt.plan(out[:, 1:], a[:, 1:] - a[:, :-1]), 80, 64, 16),
    "views beside each other": (lambda a, b, out: xt.plan(out[:2], a[:2] - a[2:]), 80, 40, 10),
    "column of a tensor": (lambda a, b, out: xt.plan(out[:, 1], a[:, 0] * 2), 16, 16, 4),
    "conversion": (lambda a, b, out: xt.plan(out, xt.cast(a, xt.int32)), 80, 80, 0),
    "padded": (lambda a, b, out: xt.plan(out, xt.pad(a[1:-1, 1:-1], 1)), 24, 80, 20),
}


@pytest.mark.parametrize("name", COUNTED)
def test_plan_counts_bytes_and_operations(name):
    make, read, written, flops = COUNTED[name]
    plan = make(*tensors())
    assert (plan.bytes_read, plan.bytes_written, plan.flops) == (read, written, flops)
    scratch = 4096 if name in {"row", "column hoisted", "view in another"} else 0  # of rows of few columns
    assert (plan.phases, plan.launches, plan.temporaries, plan.scratch_bytes) == (1, 1, 0, scratch)
    assert plan.recompute == 1.0


EMPTY = {
    "null": lambda a, b, out: xt.plan(out, a, "null"),
    "itself": lambda a, b, out: xt.plan(out, out),
    "no elements": lambda a, b, out: xt.plan(out[:0], a[:0] + 1),
}


@pytest.mark.parametrize("name", EMPTY)
def test_plan_of_nothing(name):
    plan = EMPTY[name](*tensors())
    assert (plan.phases, plan.launches, plan.bytes_read, plan.bytes_written, plan.flops) == (0, 0, 0, 0, 0)
    assert plan.recompute == 1.0
    assert (plan.ir, plan.nest, plan.llvm, plan.asm) == ("", "", "", "")
    assert plan.explain().endswith("\nnothing to do")
    plan.run()


def test_texts_are_consistent():
    a, b, out = tensors()
    plan = xt.plan(out, a * 2 + b)
    assert plan.ir.startswith("kernel(out: float32*, x1: float32*, x2: float32*, n0, s0: float32)")
    assert "out[i0] = ((x1[i0] * s0) + x2[i0])" in plan.ir
    assert "out[i0] = ((x1[i0] * s0) + x2[i0])" in plan.nest
    assert "fmul" in plan.llvm and "fadd" in plan.llvm and "define void @kernel(ptr %words, i64 %threads)" in plan.llvm
    assert re.search(r"\bkernel:", plan.asm) and "ret" in plan.asm


def test_explain_says_everything():
    a, b, out = tensors()
    assert xt.plan(out[1:], out[:-1] * 2).explain().splitlines()[0] == "target [...] = (float32(3, 5) * 2)"
    said = xt.plan(out, a * 2.0 + b, "sub").explain()
    for fact in (
        "target -= ((float32(4, 5) * 2.0) + float32(4, 5))",
        "target: float32 (4, 5), strides (20, 4)",
        "phases 1, launches 1, threads 1, temporaries 0, scratch 0 bytes",
        "reads 240 bytes, writes 80 bytes, 60 operations",
        "recompute 1.00",
    ):
        assert fact in said.splitlines()
    assert "stored backwards" not in said and "note:" not in said


def test_explain_says_when_stores_run_backwards():
    _, _, out = tensors()
    assert "stored backwards" in xt.plan(out[1:], out[:-1] * 2).explain()
    assert "stored backwards" not in xt.plan(out[:-1], out[1:] * 2).explain()
    assert xt.plan(out[1:], out[:-1] * 2).nest.endswith("all loops downwards")


def test_explain_flags_float64_among_narrow_tensors():
    a, b, out = tensors()
    i = xt.ones((4, 5), xt.int32)
    notes = [line for line in xt.plan(out, i / 2 + a).explain().splitlines() if line.startswith("note:")]
    assert notes == [
        "note: divide is computed in float64, though no tensor is",
        "note: add is computed in float64, though no tensor is",
    ]
    assert "note: multiply is computed in float64" in xt.plan(out, a * np.float64(2)).explain()
    for quiet in (a * 2.0, a * np.float32(2), a * xt.cast(b, xt.float32)):
        assert "note:" not in xt.plan(out, quiet).explain()
    wide = xt.ones((4, 5), xt.float64)
    assert "note:" not in xt.plan(out, wide * 2 + a).explain()
    assert "note:" not in xt.plan(xt.zeros((4, 5), xt.float64), i / 2).explain()


def test_recomputation_is_seen_and_bounded():
    row, column, out = xt.ones((1, 40, 40)), xt.ones((40, 1, 40)), xt.zeros((40, 40, 40))
    plan = xt.plan(out, xt.exp(row) + xt.sin(column))
    assert plan.recompute > 2
    assert f"recompute {plan.recompute:.2f}" in plan.explain()
    with (
        xt.options(max_recompute=2),
        pytest.raises(xt.CompileError, match="times the operations needed, most of them in exp"),
    ):
        xt.plan(out, xt.exp(row) + xt.sin(column))


def test_column_of_the_innermost_axis_is_saved_and_computed_once():
    x, row, out = xt.ones((3, 5000)), xt.array(np.linspace(0, 1, 5000, dtype=np.float32)), xt.zeros((3, 5000))
    plan = xt.plan(out, x * xt.exp(row))
    assert plan.recompute == 1.0
    assert plan.scratch_bytes == 2048 * 4
    assert "columns of i1 < n1, 2048 at a time, into column0" in plan.nest
    plan.run()
    np.testing.assert_array_equal(out.numpy(), np.broadcast_to(xt.evaluate(xt.exp(row)).numpy(), (3, 5000)))


def test_loops_are_turned_where_that_recomputes_less():
    row, out = xt.ones((1, 300)), xt.zeros((300, 300))
    with xt.options(max_recompute=4):
        plan = xt.plan(out, xt.exp(row) + 1)
    assert plan.recompute == 1.0
    plan.run()
    np.testing.assert_allclose(out.numpy(), np.e + 1, rtol=1e-6)


def test_plan_prints_its_statement():
    a, _, out = tensors()
    assert repr(xt.plan(out, a + 1, "mul")) == "<plan of target *= (float32(4, 5) + 1)>"


def test_a_statement_on_the_cpu_has_no_text_for_a_gpu():
    a, _, out = tensors()
    for name, what in (("cuda", "CUDA text"), ("ptx", "PTX")):
        with pytest.raises(
            xt.DeviceError, match=rf"<plan of target .* has no {what}: it is on the CPU; .* xt.gpu\(0\) has"
        ):
            getattr(xt.plan(out, a + 1), name)
        with pytest.raises(xt.DeviceError, match=f"has no {what}: nothing of it is a kernel"):
            getattr(xt.plan(out, a, "null"), name)


# What is computed where.


def before_the_inner_loop(nest):
    """The lines of a nest that stand above its innermost loop."""
    lines = nest.splitlines()
    inner = max(n for n, line in enumerate(lines) if line.lstrip().startswith("for "))
    return lines[:inner]


def test_column_is_computed_outside_of_the_inner_loop():
    a, b, out = tensors()
    nest = xt.plan(out, a / xt.sqrt(b[:, :1] * 2)).nest
    assert any("= sqrt((x2[" in line for line in before_the_inner_loop(nest))
    assert nest.count("sqrt(") <= 2  # where it is computed, and by name where it is used


def test_scalars_are_combined_outside_of_all_loops():
    _, _, out = tensors()
    zero = xt.array(2.0)
    lines = xt.plan(out, xt.sqrt(zero) + xt.ones((4, 5))).nest.splitlines()
    assert lines[0].startswith("let t0 = sqrt(")


def test_packed_tensors_are_one_long_row():
    a = xt.ones((4, 5, 6))
    nest = xt.plan(xt.zeros((4, 5, 6)), a + 1).nest
    assert nest.count("for ") == 1
    padded = xt.plan(xt.zeros((4, 5, 6), pad=True), a + 1).nest
    assert padded.count("for ") == 2  # the first two axes are one: only rows have gaps


# Golden texts.


def golden_statements():
    a, _, out = tensors()
    column, row = xt.ones((4, 1)), xt.ones((1, 5))
    bytes_ = xt.ones((4, 5), xt.uint8)
    wide = xt.zeros((6, 7))
    vector, broad = xt.ones(40), xt.ones((4, 40))
    return {
        "sgd": (out, (a + out * 0.1) * 0.01, "sub"),
        "broadcast": (broad, xt.sqrt(column) * broad + xt.ones(40), "write"),
        "few_columns": (out, xt.sqrt(column) * a + row, "write"),
        "few_rows": (xt.zeros((4, 40)), broad - xt.mean(broad, 0, keepdims=True), "write"),
        "few_within": (xt.zeros(()), xt.sum(xt.ones((40, 3)) * xt.ones((40, 1))), "write"),
        "shift_backwards": (vector[1:], vector[:-1] * 2, "write"),
        "strided": (out[::3, ::3], a[::3, ::3] + 1, "write"),
        "where_int": (bytes_, xt.where(bytes_ > 3, bytes_ // 2, bytes_ + 1), "write"),
        "mixed_types": (out, bytes_ / 2 + a, "add"),
        "pad": (wide, xt.pad(a, 1), "write"),
        "reshape": (xt.zeros((2, 10)).T, xt.reshape(a + row, (10, 2)), "write"),
        "range": (out, xt.range(5) * 2 + a, "write"),
    }  # fmt: skip


@pytest.mark.parametrize("name", golden_statements())
def test_golden(name, golden):
    target, value, mode = golden_statements()[name]
    with xt.options(vector_bits=128):
        kernel = xt.plan(target, value, mode)._code.kernel
    nest, llvm = generate(kernel, MACHINE)
    golden(f"{name}.ir", text.text(kernel) + "\n")
    golden(f"{name}.nest", show(nest) + "\n")
    golden(f"{name}.ll", llvm)


def test_text_is_the_same_in_every_process():
    code = (
        "import sys; sys.path[:0] = ['tests']\n"
        "import test_plan as t, exprten as xt\n"
        "from exprten_jit import generate\n"
        "for name, (target, value, mode) in t.golden_statements().items():\n"
        "    print(generate(xt.plan(target, value, mode)._code.kernel, t.MACHINE)[1])\n"
    )
    texts = {run("-c", code, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}
    assert len(texts) == 1


# The command line.


def run(*args, **environment):
    """This Python in the project's directory."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "jit")))
    env = os.environ | {"PYTHONPATH": path} | environment
    return subprocess.run([sys.executable, *args], cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_info_as_json_is_xt_info():
    said = json.loads(run("-m", "exprten", "info", "--json").stdout)
    xt.gpu.count()  # the command asks, so that CuPy tells what devices there are
    here = json.loads(json.dumps(xt.info()))
    assert list(said) == list(here)
    assert {k: v for k, v in said.items() if k != "environment"} == {
        k: v for k, v in here.items() if k != "environment"
    }
    assert said["numpy"] == np.__version__
    assert said["llvmlite"] == importlib.metadata.version("llvmlite")
    assert said["element types"] == [row.name for row in dtypes.ROWS]
    assert said["vector bits"] in (128, 256, 512)


def test_info_tells_what_a_gpu_would_need():
    code = "import json, sys, exprten as xt; print(json.dumps([xt.info()['NVRTC'], xt.info()['CuPy'], 'cupy' in sys.modules]))"
    compiler, cupy, imported = json.loads(run("-c", code).stdout)
    assert compiler == "none" or re.fullmatch(r"1\d\.\d+ \(.*nvrtc.*\)", compiler)
    assert cupy == "none" or re.fullmatch(r"\d+\.\d+\S* \(cupy\S*\)", cupy)
    assert not imported


@pytest.mark.nvrtc
def test_info_finds_nvrtc_where_it_is():
    assert xt.info()["NVRTC"].startswith(".".join(map(str, nvrtc.version())))


def test_info_names_the_environment_in_force():
    said = json.loads(run("-m", "exprten", "info", "--json", EXPRTEN_VECTOR_BITS="128").stdout)
    assert said["environment"]["EXPRTEN_VECTOR_BITS"] == "128"


def test_info_is_one_fact_a_line():
    lines = run("-m", "exprten", "info").stdout.splitlines()
    assert [re.split(r"\s{2,}", line)[0] for line in lines] == list(xt.info())
    assert not any(line.endswith(" ") or "{}" in line for line in lines)


def test_command_without_a_subcommand_says_how():
    done = run("-m", "exprten")
    assert done.returncode == 2
    assert "usage: python -m exprten" in done.stderr
