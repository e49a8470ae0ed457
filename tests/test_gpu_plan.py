"""What a plan says of a statement on a GPU, without one."""

import re
from contextlib import nullcontext

import numpy as np
import pytest
from emulator.driver import EmulatedDriver, emulated
from exprten_jit.backends import cubins, nvrtc_library, ptx
from exprten_jit.backends.nvrtc import Cubin
from exprten_jit.store import Store

import exprten as xt
from exprten.kernels import steps
from exprten.statement.grids import Grids

pytestmark = pytest.mark.nvrtc


@pytest.fixture
def gpu():
    with emulated(devices=1, arch="sm_80"):
        yield xt.gpu(0)


def test_texts_are_those_of_the_device(gpu):
    out, x = (xt.empty((40, 1000), device=gpu) for _ in range(2))
    plan = xt.plan(out, x * 2 + 1)
    assert plan.cuda.count("__global__") == plan.launches == 1
    assert ".target sm_80" in plan.ptx
    found = ptx.instructions(plan.ptx, "kernel")
    assert found["mul.rn.f32"] == found["add.rn.f32"] > 0
    with xt.options(fast_math=True):
        assert ptx.instructions(xt.plan(out, x * 2 + 1).ptx, "kernel")["fma.rn.f32"] == found["mul.rn.f32"]


@pytest.mark.parametrize("what", ["llvm", "asm"])
def test_there_is_no_llvm(gpu, what):
    out = xt.empty(3, device=gpu)
    with pytest.raises(xt.DeviceError, match=r"has no LLVM IR: it is on gpu:0; plan.cuda and plan.ptx"):
        getattr(xt.plan(out, out + 1), what)


def test_explain_tells_what_every_launch_takes(gpu):
    total, x = xt.empty((), device=gpu), xt.empty(1 << 20, device=gpu)
    plan = xt.plan(total, x.sum())
    lines = [line for line in plan.explain().splitlines() if line.startswith("launch ")]
    assert len(lines) == plan.launches == 2
    shape = r"launch kernel1?: \d+ points? of \d+ threads?, (\d+) blocks? of (\d+), vector [14], index 32 bits, \d+ registers(, \d+ bytes shared in a block)?"
    found = [re.fullmatch(shape, line) for line in lines]
    assert all(found), lines
    assert plan.threads == max(int(m[1]) * int(m[2]) for m in found)
    assert plan.scratch_bytes > 0
    assert f"launches 2, threads {plan.threads}, temporaries 0, scratch {plan.scratch_bytes} bytes" in plan.explain()


def test_explain_tells_what_is_spilt(gpu, monkeypatch):
    out = xt.empty(3, device=gpu)
    plan = xt.plan(out, out + 1)
    assert "spills" not in plan.explain()
    fits = plan._launch.grids.cubin
    log = fits.log.replace("0 bytes spill stores, 0 bytes spill loads", "8 bytes spill stores, 12 bytes spill loads")
    monkeypatch.setattr(Grids, "cubin", Cubin(fits.image, log))
    assert re.search(r"registers, spills 20 bytes$", plan.explain(), re.MULTILINE)


def test_a_kernel_of_several_statements(gpu):
    w, g, m = (xt.empty(1000, device=gpu) for _ in range(3))
    plan = steps.momentum.plan(w, g, m, lr=0.1, momentum=0.9, dampening=None, weight_decay=None, clip_gradient=None)
    assert plan.launches == plan.cuda.count("__global__") == 1
    assert plan.explain().startswith("kernel momentum\n")
    assert "\nlaunch kernel: 250 points of 1 thread, 1 block of 256, vector 4, index 32 bits, " in plan.explain()
    assert plan.bytes_written == 2 * 4000


def test_without_nvrtc_text_is_there_and_ptx_is_an_error_that_says_why(gpu, monkeypatch):
    out = xt.empty(3, device=gpu)
    plan = xt.plan(out, out * np.float32(3.25) - 7)
    monkeypatch.setattr(nvrtc_library, "_candidates", lambda: iter(()))
    nvrtc_library.library.cache_clear()
    try:
        assert "__global__" in plan.cuda
        with pytest.raises(xt.CompileError, match=r'gpu: nvrtc: .* is not installed; pip install "exprten\[cuda13\]"'):
            _ = plan.ptx
    finally:
        nvrtc_library.library.cache_clear()


def test_what_the_disk_has_is_no_compilation(gpu, tmp_path, monkeypatch):
    disk = Store(tmp_path)
    monkeypatch.setattr(cubins, "store", lambda: disk)
    monkeypatch.setattr(EmulatedDriver, "load", lambda self, device, source, image, name: len(image()))
    counted = []
    for _ in range(3):
        monkeypatch.setattr(cubins, "_kept", {})
        with emulated(devices=1) as driver:
            total, x = xt.empty((), device=xt.gpu(0)), xt.empty(1 << 20, device=xt.gpu(0))
            plan = xt.plan(total, (x * 1.5).sum())
            before = xt.stats()
            with xt.no_compile() if counted else nullcontext():
                handles = plan._launch.grids._handles()
            assert len(handles) == plan.launches == 2
            after = xt.stats()
            counted.append((after.compiles - before.compiles, after.loads - before.loads))
            del total, x, plan, driver
    assert counted == [(1, 0), (0, 1), (0, 1)]
    disk.clear()
    monkeypatch.setattr(cubins, "_kept", {})
    with emulated(devices=1):
        out = xt.empty(5, device=xt.gpu(0))
        plan = xt.plan(out, out * 1.5)
        with (
            xt.no_compile(),
            pytest.raises(xt.CompileError, match="no_compile: this text is not compiled for gpu:0 yet"),
        ):
            plan._launch.grids._handles()


def test_a_plan_of_lists_shows_the_launch_that_rows_share(gpu):
    @xt.kernel
    def unit(w):
        w /= xt.norm(w)

    ws = [xt.ones(shape, device=gpu) for shape in ((3,), (70, 100), (5000,), (2, 3, 4))]
    plan = unit.foreach.plan(ws)
    assert plan.kinds == ((0, 1, 2, 3),)
    assert plan.launches == plan.cuda.count("__global__") == 1
    assert plan.nest.count("kernel, stage ") == 3
    (line,) = [line for line in plan.explain().splitlines() if line.startswith("  launch ")]
    assert line.startswith("  launch kernel: 14 points of 256 threads, 14 blocks of 256, vector 4, index 32 bits, ")
    assert plan.scratch_bytes > 0
    assert plan.bytes_written == sum(w.nbytes for w in ws)
    strided = [*ws, xt.ones((6, 8), device=gpu)[:, ::2]]
    plan = unit.foreach.plan(strided)
    assert plan.kinds == ((0, 1, 2, 3), (4,))
    assert (plan.launches, unit.plan(strided[4]).launches) == (
        2,
        2,
    )  # a row alone has a table where that saves launches
    plan.run()
    np.testing.assert_allclose([np.linalg.norm(w.numpy()) for w in strided], 1, rtol=1e-6)
    with pytest.raises(xt.DeviceError, match="has no LLVM IR"):
        _ = plan.llvm
