"""The launch path of statements on a GPU, which is emulated: direct calls, lists in one launch, graphs."""

import ctypes
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from compiled import ARCHITECTURES
from emulator import why_not
from emulator.driver import EmulatedDriver, emulated
from exprten_jit.backends import cuda_emit, ptx
from exprten_jit.backends.nvrtc import compile_both
from exprten_jit.ir import Leaf

import exprten as xt
from exprten.gpu.driver import install
from exprten.kernels.arguments import Arguments
from exprten.options import USE_CTYPES
from exprten.statement.grids import queue_of
from exprten.statement.lists import lists_of

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
direct = pytest.mark.skipif(USE_CTYPES, reason="calls from machine code are switched off")


@pytest.fixture
def driver() -> Iterator[EmulatedDriver]:
    with emulated() as there:
        there.emulator.seed = 0  # forwards; tests share the emulator
        yield there
        there.emulator.seed = 0


def python_runs(call: Callable[[], object]) -> int:
    """How many launches were looked up in Python."""
    before = xt.stats().hits
    call()
    return xt.stats().hits - before


def launches(driver: EmulatedDriver) -> list[tuple[int, int]]:
    """Device and stream of every launch so far."""
    return [entry[1:3] for entry in driver.log if entry[0] == "launch"]


def update(w: xt.Tensor, g: xt.Tensor, eta: float) -> None:
    w -= eta * (g + 0.25 * w)


@xt.kernel
def momentum(w, g, m, *, lr, mu):  # type: ignore[no-untyped-def]
    m[...] = mu * m + g
    w -= lr * m


def on(device: xt.Device, *shapes: tuple[int, ...]) -> list[xt.Tensor]:
    rng = np.random.default_rng(len(shapes))
    return [xt.array(rng.standard_normal(shape).astype(np.float32), device=device) for shape in shapes]


@direct
def test_a_statement_is_entered_from_machine_code_with_the_bits_of_the_cpu(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        w, g = on(device, (333,), (333,))
        for eta in (0.1, 0.2, 0.3):
            update(w, g, eta)
        assert python_runs(lambda: update(w, g, 0.5)) == 0  # noqa: B023
        v, h = on(device, (7,), (7,))
        assert python_runs(lambda: update(v, h, 0.5)) == 0  # noqa: B023  # one for every size
        results += [w.numpy(), v.numpy()]
    for here, there in zip(results[:2], results[2:], strict=True):
        np.testing.assert_array_equal(here, there)
    assert len(launches(driver)) == 5


@direct
def test_one_direct_call_serves_every_stream(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    w, g = on(gpu, (50,), (50,))
    for _ in range(4):
        update(w, g, 0.1)
    with xt.Stream(gpu) as other:
        w, g = on(gpu, (60,), (60,))
        update(w, g, 0.1)  # in Python, which makes the stream's queue
    assert python_runs(lambda: update(w, g, 0.1)) == 0
    assert launches(driver)[-1] == (0, other.handle)


@direct
def test_operands_of_another_stream_are_ordered_by_python(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    (w,) = on(gpu, (50,))
    with xt.Stream(gpu):
        (g,) = on(gpu, (50,))
    for _ in range(4):
        update(w, g, 0.1)
        assert driver.log[-2:] == [("record", 0, w.buffer.stream.handle), ("wait", 0, g.buffer.stream.handle)]


@direct
def test_scratch_memory_is_there_before_machine_code_launches(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)

    def total(x: xt.Tensor, out: xt.Tensor) -> None:
        out[...] = xt.sum(x)

    x, out = on(gpu, (100_000,), ())
    for _ in range(3):
        total(x, out)
    assert python_runs(lambda: total(x, out)) == 0
    with xt.Stream(gpu):
        y, there = on(gpu, (100_000,), ())
        there += y[0]  # a queue without scratch memory
        assert python_runs(lambda: total(y, there)) == 1
        assert python_runs(lambda: total(y, there)) == 0
    for a, s in ((x, out), (y, there)):
        np.testing.assert_array_equal(s.numpy(), xt.evaluate(xt.sum(xt.array(a.numpy()))).numpy())


@direct
def test_a_kernel_of_several_statements_is_entered_from_machine_code(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        w, g, m = on(device, (90,), (90,), (90,))
        for lr in (0.1, 0.2, 0.3, 0.4):
            momentum(w, g, m, lr=lr, mu=0.9)
        assert python_runs(lambda: momentum(w, g, m, lr=0.5, mu=0.9)) == 0  # noqa: B023
        results += [w.numpy(), m.numpy()]
    np.testing.assert_array_equal(results[:2], results[2:])
    assert len(launches(driver)) == 5


@direct
def test_a_size_beyond_narrow_indices_has_a_text_of_its_own(
    driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_emit, "NARROW", 1000)
    gpu, widths = xt.gpu(0), []
    load = EmulatedDriver.load

    def loaded(self: EmulatedDriver, device: int, source: str, image: Callable[[], bytes], name: str) -> int:
        widths.append("typedef long long idx" in source)
        return load(self, device, source, image, name)

    def negate(t: xt.Tensor) -> None:
        t[...] = -3.5 * t

    monkeypatch.setattr(EmulatedDriver, "load", loaded)
    for size in (600, 1500, 999, 1000):
        t = xt.full(size, 2.0, device=gpu)
        widths.clear()
        for _ in range(4):
            negate(t)
        assert widths == {600: [False], 1500: [True]}.get(size, [])
        assert python_runs(lambda: negate(t)) == 0  # noqa: B023
        np.testing.assert_array_equal(t.numpy(), np.full(size, 2 * (-3.5) ** 5, np.float32))


def test_another_driver_loads_its_own_functions(driver: EmulatedDriver) -> None:
    for there in (driver, EmulatedDriver()):
        with install(there):
            w, g = on(xt.gpu(0), (50,), (50,))
            for _ in range(5):
                update(w, g, 0.1)
            assert len(launches(there)) == 5
            del w, g


@pytest.mark.parametrize(
    "wait", [lambda t: t.device.synchronize(), lambda t: t.buffer.stream.synchronize(), lambda t: t.numpy()]
)
def test_a_launch_that_was_refused_is_raised_by_what_waits_next(
    driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch, wait: Callable[[xt.Tensor], object]
) -> None:
    w, g = on(xt.gpu(0), (50,), (50,))
    for _ in range(4):
        update(w, g, 0.1)
    monkeypatch.setattr(driver, "_run", lambda *_: 719)

    def both() -> None:
        update(w, g, 0.1)  # raises here where Python launches
        wait(w)

    with pytest.raises(xt.DeviceError, match="719"):
        both()
    wait(w)  # it is told once


# lists


@xt.kernel
def sgd(w, g, *, lr, wd=0.0):  # type: ignore[no-untyped-def]
    w -= lr * (g + wd * w)


SHAPES = [(3,), (64,), (5, 7), (1, 4), (0,), (9000,)]


def lists(device: xt.Device, dtype: str = "float32", pad: bool = False) -> tuple[list[xt.Tensor], list[xt.Tensor]]:
    rng = np.random.default_rng(5)
    made = [[xt.array(rng.integers(-9, 9, s).astype(dtype), device=device, pad=pad) for s in SHAPES] for _ in range(2)]
    return made[0], made[1]


def new(driver: EmulatedDriver, call: Callable[[], object], *names: str) -> list[str]:
    """Which of these the driver was asked for."""
    start = len(driver.log)
    call()
    return [entry[0] for entry in driver.log[start:] if entry[0] in names]


def test_a_list_is_one_launch_and_its_table_is_uploaded_once(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        ws, gs = lists(device)
        start = len(launches(driver))
        for lr in (0.5, 0.25, 0.125, 0.5, 0.25):
            sgd.foreach(ws, gs, lr=lr, wd=0.5)
        assert len(launches(driver)) - start == (5 if device.kind == "gpu" else 0)
        results.append([w.numpy() for w in ws])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)
    asked = ("allocate_host", "copy", "launch")
    assert new(driver, lambda: sgd.foreach(ws, gs, lr=0.5, wd=0.5), *asked) == ["launch"]
    ws[0] = xt.zeros(3, device=xt.gpu(0))
    assert new(driver, lambda: sgd.foreach(ws, gs, lr=0.5, wd=0.5), *asked) == ["allocate_host", "copy", "launch"]
    np.testing.assert_array_equal(ws[0].numpy(), -0.5 * gs[0].numpy())


def test_a_table_is_not_overwritten_before_it_was_read() -> None:
    with emulated(lazy=True) as driver:
        ws, gs = lists(xt.gpu(0))
        sgd.foreach(ws, gs, lr=0.5)
        sgd.foreach(ws[:3], gs[:3], lr=0.5)
        sgd.foreach(ws[3:], gs[3:], lr=0.5)
        assert len(launches(driver)) >= 3
        there = [w.numpy() for w in ws]
    ws, gs = lists(xt.cpu())
    sgd.foreach(ws, gs, lr=1.0)
    for w, t in zip(ws, there, strict=True):
        np.testing.assert_array_equal(w.numpy(), t)


def test_rows_of_several_kinds_are_a_launch_a_kind(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        parts = [lists(device), lists(device, "float64"), lists(device, pad=True)]
        ws, gs = ([t for part in parts for t in part[k]] for k in (0, 1))
        start = len(launches(driver))
        sgd.foreach(ws, gs, lr=0.5, wd=0.25)
        results.append([w.numpy() for w in ws])
    assert len(launches(driver)) - start < 8  # 18 rows: of two types, of one axis or two, with and without gaps
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


@xt.kernel
def trusted(w, g, *, lr):  # type: ignore[no-untyped-def]
    w -= lr * (xt.norm(w) / (xt.norm(g) + 1e-6)) * (g - xt.mean(g))


FOLDED = ((3,), (64,), (4097,), (13000,), (5, 7), (2, 3, 4), (60, 300))


def test_rows_that_fold_are_one_launch(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        ws, gs = on(device, *FOLDED), on(device, *FOLDED)
        for lr in (0.5, 0.25, 0.125, 0.5):
            start = len(launches(driver))
            trusted.foreach(ws, gs, lr=lr)
            assert len(launches(driver)) - start == (device.kind == "gpu")  # parts, their results, stores
        results.append([w.numpy() for w in ws])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)
    asked = ("allocate_host", "copy", "allocate", "launch")
    assert new(driver, lambda: trusted.foreach(ws, gs, lr=0.75), *asked) == ["launch"]


@direct
def test_rows_that_fold_are_entered_from_machine_code(driver: EmulatedDriver) -> None:
    shapes = [(n + 1, 3) for n in range(20)]  # as many kinds of rows: sizes are those of a kind
    ws, gs = on(xt.gpu(0), *shapes), on(xt.gpu(0), *shapes)
    us, hs = ([xt.array(t.numpy()) for t in ts] for ts in (ws, gs))
    for _ in range(5):
        runs = python_runs(lambda: trusted.foreach(ws, gs, lr=0.5))
        trusted.foreach(us, hs, lr=0.5)
    assert runs == 0
    for w, u in zip(ws, us, strict=True):
        np.testing.assert_array_equal(w.numpy(), u.numpy())


def test_rows_that_are_folded_along_share_launches_where_they_are_held_alike(driver: EmulatedDriver) -> None:
    @xt.kernel
    def centred(w):  # type: ignore[no-untyped-def]
        w -= xt.mean(w, axis=1, keepdims=True)

    shapes, results = ((3, 40), (2, 50), (9, 333), (8, 5), (70, 9), (2, 600), (9, 2000)), []
    for device in (xt.cpu(), xt.gpu(0)):
        ws = on(device, *shapes)
        for _ in range(4):
            start = len(launches(driver))
            centred.foreach(ws)
            # rows of 32 to 512 elements, of up to 16, of up to 2,048
            assert len(launches(driver)) - start == (3 if device.kind == "gpu" else 0)
        results.append([w.numpy() for w in ws])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


@xt.kernel
def whitened(w, x):  # type: ignore[no-untyped-def]
    w -= (x - xt.mean(x, axis=1, keepdims=True)) / (xt.std(x) + xt.max(x, axis=1, keepdims=True))


@xt.kernel
def after(a, b, c, *, by):  # type: ignore[no-untyped-def]
    a[...] = by * b + c
    c -= a


@xt.kernel
def columns(w):  # type: ignore[no-untyped-def]
    w -= xt.mean(w, axis=0)


def wholes(device: xt.Device) -> tuple[list[xt.Tensor], list[xt.Tensor]]:
    shapes = [(n,) for n in (5, 1100, 3, 64, 1, 2500)]
    return on(device, *shapes), on(device, *((n - 1,) for (n,) in shapes))


def forwards(device: xt.Device) -> list[list[xt.Tensor]]:
    ws, rest = wholes(device)
    return [[w[:-1] for w in ws], [w[1:] for w in ws], rest]


def backwards(device: xt.Device) -> list[list[xt.Tensor]]:
    ws, rest = wholes(device)
    return [[w[1:] for w in ws], [w[:-1] for w in ws], rest]


def two_of(*shapes: tuple[int, ...]) -> Callable[[xt.Device], list[list[xt.Tensor]]]:
    return lambda device: [on(device, *shapes), on(device, *shapes)]


# A kernel, its lists, and how many launches these are.
WAITING: dict[str, tuple[Any, Callable[[xt.Device], list[list[xt.Tensor]]], dict[str, float], int]] = {
    "whole tensors": (trusted, two_of(*FOLDED, (2, 0)), {"lr": 0.5}, 1),
    "a few long rows": (whitened, two_of((2, 9000), (3, 8200), (2, 20000), (0, 9000)), {}, 1),
    "many long rows": (whitened, two_of((70, 5000), (90, 4200)), {}, 1),
    "few long, many long, held by 32, 256": (
        whitened, two_of((2, 9000), (3, 8300), (70, 4100), (80, 4100), (3, 40), (5, 70), (9, 1000), (8, 1500)), {}, 4,
    ),
    "columns": (columns, lambda device: [on(device, (6, 40), (70, 5), (3, 7), (0, 4), (8, 20))], {}, 1),
    "tensors of one element are a kind": (trusted, two_of(*FOLDED, (1,), (1, 1)), {"lr": 0.5}, 2),
    "few columns of many rows": (columns, lambda device: [on(device, (3000, 4), (2000, 3), (5000, 2))], {}, 1),
    "stores forwards": (after, forwards, {"by": 0.5}, 1),
    "stores backwards": (after, backwards, {"by": 0.5}, 1),
}  # fmt: skip


@pytest.mark.covering(1)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("name", WAITING)
def test_rows_that_wait_are_one_launch_with_the_bits_of_each_alone(
    driver: EmulatedDriver, name: str, seed: int
) -> None:
    kernel, lists, scalars, expected = WAITING[name]
    driver.emulator.seed = seed  # blocks begin forwards, backwards, shuffled
    alone, together, here = lists(xt.gpu(0)), lists(xt.gpu(0)), lists(xt.cpu())
    for _ in range(4):  # from the third on in machine code
        for row in zip(*alone, strict=True):
            kernel(*row, **scalars)
        start = len(launches(driver))
        kernel.foreach(*together, **scalars)
        assert len(launches(driver)) - start == expected
        kernel.foreach(*here, **scalars)
    for ones, others, cpus in zip(alone, together, here, strict=True):
        for one, other, cpu in zip(ones, others, cpus, strict=True):
            np.testing.assert_array_equal(other.numpy(), one.numpy())
            np.testing.assert_array_equal(other.numpy(), cpu.numpy())


def test_a_stage_waits_for_all_of_the_stages_before(driver: EmulatedDriver) -> None:
    ws, gs = on(xt.gpu(0), *FOLDED), on(xt.gpu(0), *FOLDED)
    trusted.foreach(ws, gs, lr=0.0)
    trace, prepared = Arguments(trusted._of, trusted._of.bind(ws[0], gs[0], lr=0.0)).prepare()
    assert prepared is not None
    lists = lists_of(prepared[1], trace.own)
    assert lists is not None
    ((table,),) = (known.values() for known in lists._tables.values())
    rows, row_of, done, pieces = table.words[:4]
    stages = len(lists.row.stages)
    owner = np.ctypeslib.as_array((ctypes.c_int32 * pieces).from_address(row_of))
    words = (row_of - rows) // 8 // len(FOLDED)
    lines = np.ctypeslib.as_array((ctypes.c_int64 * (words * len(FOLDED))).from_address(rows)).reshape(-1, words)
    counters = np.ctypeslib.as_array((ctypes.c_int32 * (1 + len(FOLDED))).from_address(done))
    assert not counters.any()
    assert (np.diff(owner % stages) >= 0).all()
    for piece in np.flatnonzero(owner % stages):
        row, stage = divmod(owner[piece], stages)
        counters[0], counters[1 + row] = piece, lines[row, stages + stage - 1] - 1  # one is not done
        with pytest.raises(xt.DeviceError, match="719"):
            trusted.foreach(ws, gs, lr=0.0)
        assert "block 0 waits for one that has not run" in driver.emulator.error  # the first to begin
        counters[:] = 0
    trusted.foreach(ws, gs, lr=0.0)
    assert not counters.any()


@pytest.mark.parametrize("count", [2, 700])
def test_the_number_of_tensors_is_not_the_number_of_launches(driver: EmulatedDriver, count: int) -> None:
    ws, gs = ([xt.full(2 + n % 7, 2.0 + k, device=xt.gpu(0)) for n in range(count)] for k in range(2))
    assert new(driver, lambda: trusted.foreach(ws, gs, lr=0.5), "launch") == ["launch"]
    u, g = xt.full(3, 2.0), xt.full(3, 3.0)
    trusted(u, g, lr=0.5)
    np.testing.assert_array_equal(ws[-1].numpy()[:1], u.numpy()[:1])


def test_a_list_of_folds_is_replayed_by_a_graph(driver: EmulatedDriver) -> None:
    ws, gs = on(xt.gpu(0), *FOLDED), on(xt.gpu(0), *FOLDED)
    us, hs = ([xt.array(t.numpy()) for t in ts] for ts in (ws, gs))
    with xt.graph_capture(xt.gpu(0)) as graph:
        trusted.foreach(ws, gs, lr=0.5)
    big = xt.ones((300, 4100), device=xt.gpu(0))  # other scratch memory, for others
    assert float(xt.evaluate(xt.sum(big * 2))) == 2 * 300 * 4100
    for _ in range(2):
        graph.replay()
        trusted.foreach(us, hs, lr=0.5)
    for w, u in zip(ws, us, strict=True):
        np.testing.assert_array_equal(w.numpy(), u.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
def test_a_scalar_that_differs_between_rows_stands_in_the_table(driver: EmulatedDriver, dtype: str) -> None:
    @xt.kernel
    def scaled(w, *, lr, by):  # type: ignore[no-untyped-def]
        w[...] = w * (lr * w.shape[0]) + by

    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        ws = [xt.ones(n, dtype, device=device) for n in (2, 4, 2, 3, 50)]
        for lr, by in ((3, 2), (3, 2), (3, 2), (3, 2), (3, 1), (5, 1), (5, 1)):
            start = len(launches(driver))
            scaled.foreach(ws, lr=lr, by=by)
            assert len(launches(driver)) - start == (device.kind == "gpu")
        results.append([w.numpy() for w in ws])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


@direct
def test_a_scalar_that_differs_between_rows_is_uploaded_where_it_is_another(driver: EmulatedDriver) -> None:
    @xt.kernel
    def scaled(w, *, lr, by):  # type: ignore[no-untyped-def]
        w[...] = w * (lr / w.shape[0]) + by

    ws = [xt.ones(n, device=xt.gpu(0)) for n in (2, 4, 8)]
    for _ in range(4):
        scaled.foreach(ws, lr=8.0, by=0.0)
    asked = ("copy", "launch")
    for lr, by, expected in ((8.0, 1.0, ["launch"]), (4.0, 1.0, ["copy", "launch"]), (4.0, 2.0, ["launch"])):
        for w in ws:
            w[...] = 1
        assert new(driver, lambda: scaled.foreach(ws, lr=lr, by=by), *asked) == expected  # noqa: B023
        assert python_runs(lambda: scaled.foreach(ws, lr=lr, by=by)) == 0  # noqa: B023
        each = [lr / len(w.numpy()) for w in ws]
        assert [float(w.numpy()[0]) for w in ws] == [(x + by) * x + by for x in each]


def test_rows_of_several_streams_are_fenced(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    ws, gs = lists(gpu)
    with xt.Stream(gpu):
        more, grads = lists(gpu)
    for _ in range(4):
        assert len(new(driver, lambda: sgd.foreach(ws + more, gs + grads, lr=0.5), "launch")) == 1
        assert [entry[0] for entry in driver.log[-2:]] == ["record", "wait"]
    for w, other in zip(ws, more, strict=True):
        np.testing.assert_array_equal(w.numpy(), other.numpy())


def test_rows_that_share_memory_are_refused(driver: EmulatedDriver) -> None:
    ws, gs = lists(xt.gpu(0))
    with pytest.raises(xt.AliasError, match="rows 1 and 6"):
        sgd.foreach([*ws, ws[1]], [*gs, gs[1]], lr=0.5)
    assert not new(driver, lambda: sgd.foreach([], [], lr=0.5), "launch")


def mixed(device: xt.Device, seed: int = 5) -> tuple[list[xt.Tensor], list[xt.Tensor]]:
    """Packed rows of two types, and rows with gaps: of two layouts, so of two kinds for machine code."""
    parts = [lists(device), lists(device, "float64"), lists(device, pad=True)]
    ws, gs = ([t for part in parts for t in part[k] if t.size] for k in (0, 1))
    for t in ws:
        t[...] = t + seed
    return ws, gs


@direct
def test_lists_are_entered_from_machine_code(driver: EmulatedDriver) -> None:
    results = []
    for device in (xt.cpu(), xt.gpu(0)):
        scale.foreach([xt.ones(3, device=device)], [xt.ones(3, device=device)], lr=1.0)
        one, other = mixed(device), mixed(device, seed=6)
        with xt.Stream(device):
            third = mixed(device, seed=7)
        for ws, gs in (one, one, one, one, other, one, third, one):
            assert python_runs(lambda: scale.foreach(ws, gs, lr=0.5)) >= 0  # noqa: B023
        assert python_runs(lambda: scale.foreach(*one, lr=0.25)) == 0  # noqa: B023
        kinds = len({(d, str(s)) for d, s in launches(driver)[-5:]}) if device.kind == "gpu" else 1
        assert kinds == 1
        one[0][0] = xt.ones(77, device=device)  # another size
        one[1][0] = xt.ones(77, device=device)
        assert python_runs(lambda: scale.foreach(*one, lr=0.25)) == 0  # noqa: B023
        results.append([t.numpy() for pair in (one, other, third) for t in pair[0]])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


@xt.kernel
def scale(w, g, *, lr):  # type: ignore[no-untyped-def]
    w[...] = (w + lr * g) * 0.5


@pytest.mark.nvrtc
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_text_of_a_list_takes_what_it_is_given(driver: EmulatedDriver, arch: str) -> None:
    def ones(*shape: int, pad: bool = False) -> xt.Tensor:
        return xt.ones(shape, device=xt.gpu(0), pad=pad)

    @xt.kernel
    def centred(w):  # type: ignore[no-untyped-def]
        w -= xt.mean(w, axis=1, keepdims=True)

    whole = ones(100)
    cases = (
        (sgd, [ones(5, 7), ones(5, 7)], {"lr": 0.5}, 1),
        (sgd, [ones(5, 7, pad=True), ones(5, 7)], {"lr": 0.5}, 1),
        (trusted, [ones(5, 7), ones(5, 7)], {"lr": 0.5}, 3),
        (centred, [ones(2, 9000)], {}, 3),
        (centred, [ones(150, 9000)], {}, 1),
        (columns, [ones(3000, 4)], {}, 3),
        (after, [whole[1:], whole[:-1], ones(99)], {"by": 0.5}, 1),
    )
    texts = set()
    for kernel, tensors, scalars, stages in cases:
        trace, prepared = Arguments(kernel._of, kernel._of.bind(*tensors, **scalars)).prepare()
        assert prepared is not None
        lists = lists_of(prepared[1], trace.own)
        assert lists is not None and len(lists.row.stages) == stages
        texts.add(lists.cuda.text)
        cubin, text = compile_both(lists.cuda.text, arch)
        (entry,) = lists.cuda.entries
        given = [8 if isinstance(x, Leaf) else x.dtype.itemsize for x in entry.arguments]
        assert [p.bytes for p in ptx.parameters(text)[entry.name]] == given
        most = 16 if stages > 1 else 0  # bytes: registers are those of all stages
        assert cubin.resources[entry.name].spill_stores <= most
    assert len(texts) == len(cases)


def test_the_text_of_a_list_that_folds(driver: EmulatedDriver, golden: Callable[[str, str], None]) -> None:
    @xt.kernel
    def unit(w):  # type: ignore[no-untyped-def]
        w /= xt.max(w)

    ws = [xt.ones(n, device=xt.gpu(0)) for n in (3, 5)]
    golden("cuda_list.cu", unit.foreach.plan(ws).cuda)


@direct
def test_rows_that_were_left_to_python_have_no_table(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    (ws, gs), (vs, hs) = ([[t for t in part if t.size] for part in lists(gpu)] for _ in range(2))
    for _ in range(4):
        sgd.foreach(ws, gs, lr=0.5)
    kept, before = [w.numpy() for w in ws], [v.numpy() for v in vs]
    with xt.graph_capture(gpu):
        sgd.foreach(vs, hs, lr=0.5)
    sgd.foreach(vs, hs, lr=0.5)
    for w, k in zip(ws, kept, strict=True):
        np.testing.assert_array_equal(w.numpy(), k)
    for v, b, h in zip(vs, before, hs, strict=True):
        np.testing.assert_array_equal(v.numpy(), b - 0.5 * h.numpy())


@direct
def test_rows_of_another_thread_have_no_table_of_these(driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = xt.gpu(0)
    (ws, gs), (vs, hs), (us, fs) = ([[t for t in part if t.size] for part in lists(gpu)] for _ in range(3))
    for _ in range(4):
        sgd.foreach(us, fs, lr=0.5)
    before, allocate = [[t.numpy() for t in one] for one in (ws, vs)], driver.allocate_host

    def meanwhile(nbytes: int) -> tuple[int, object]:
        monkeypatch.undo()
        other = threading.Thread(target=lambda: sgd.foreach(vs, hs, lr=0.5))
        other.start()
        other.join()
        return allocate(nbytes)

    monkeypatch.setattr(driver, "allocate_host", meanwhile)
    sgd.foreach(ws, gs, lr=0.5)
    sgd.foreach(vs, hs, lr=0.5)
    for w, b, g in zip(ws, before[0], gs, strict=True):
        np.testing.assert_array_equal(w.numpy(), b - 0.5 * g.numpy())
    for v, b, h in zip(vs, before[1], hs, strict=True):
        np.testing.assert_array_equal(v.numpy(), b - 0.5 * h.numpy() - 0.5 * h.numpy())


@direct
def test_a_table_that_was_not_uploaded_is_not_used(driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = xt.gpu(0)
    ws, gs = lists(gpu)
    ws, gs = [w for w in ws if w.size], [g for g in gs if g.size]
    for _ in range(4):
        sgd.foreach(ws, gs, lr=0.5)
    before, ws[0] = ws[0], xt.zeros(3, device=gpu)

    def full(nbytes: int) -> tuple[int, object]:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(driver, "allocate_host", full)
        with pytest.raises(MemoryError):
            sgd.foreach(ws, gs, lr=0.5)
    kept = before.numpy()
    sgd.foreach(ws, gs, lr=0.5)
    np.testing.assert_array_equal(ws[0].numpy(), -0.5 * gs[0].numpy())
    np.testing.assert_array_equal(before.numpy(), kept)


# graphs


def test_a_graph_replays_what_was_recorded(driver: EmulatedDriver) -> None:
    w, g = on(xt.gpu(0), (100,), (100,))
    expected, grad = xt.array(w.numpy()), xt.array(g.numpy())
    total = xt.zeros((), device=xt.gpu(0))

    def block(w: xt.Tensor, g: xt.Tensor, total: xt.Tensor) -> None:
        for _ in range(4):  # as often as makes direct calls
            update(w, g, 0.1)
        total[...] = xt.sum(w * w)

    start = len(launches(driver))
    with xt.graph_capture(xt.gpu(0)) as graph:
        block(w, g, total)
    assert len(launches(driver)) == start
    np.testing.assert_array_equal(w.numpy(), expected.numpy())
    sums = xt.zeros(())
    for _ in range(3):
        assert new(driver, graph.replay, "graph", "launch", "synchronize", "record") == ["graph"]
        block(expected, grad, sums)
        np.testing.assert_array_equal(w.numpy(), expected.numpy())
        np.testing.assert_array_equal(total.numpy(), sums.numpy())


@direct
def test_direct_calls_stand_back_while_a_block_is_recorded(driver: EmulatedDriver) -> None:
    w, g = on(xt.gpu(0), (100,), (100,))
    for _ in range(4):
        update(w, g, 0.1)
    with xt.graph_capture(xt.gpu(0)):
        assert not new(driver, lambda: update(w, g, 0.1), "launch")
    assert python_runs(lambda: update(w, g, 0.1)) == 0


def test_scalars_are_frozen_and_a_tensor_of_one_number_is_not(driver: EmulatedDriver) -> None:
    gpu, lr = xt.gpu(0), 0.5
    w, g, rate = xt.zeros(10, device=gpu), xt.ones(10, device=gpu), xt.full((), 0.5, device=gpu)
    with xt.graph_capture(gpu) as graph:
        w -= lr * g
        w -= rate * g
    lr = 100.0
    graph.replay()
    rate[...] = 2.0
    graph.replay()
    np.testing.assert_array_equal(w.numpy(), np.full(10, -(0.5 + 0.5 + 0.5 + 2), np.float32))


def test_a_graph_of_kernels_and_lists(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    ws, gs = lists(gpu)
    w, g, m = on(gpu, (90,), (90,), (90,))
    here, there = [t.numpy() for t in (w, g, m)], [t.numpy() for t in (*ws, *gs)]
    with xt.graph_capture(gpu) as graph:
        momentum(w, g, m, lr=0.5, mu=0.5)
        sgd.foreach(ws, gs, lr=0.5)
    for k in range(20):  # tables of other lists drop that of the graph
        sgd.foreach(
            [xt.ones(k + 2, device=gpu)] * 1 + [xt.ones(5, device=gpu)],
            [xt.ones(k + 2, device=gpu)] * 1 + [xt.ones(5, device=gpu)],
            lr=0.5,
        )
    graph.replay()
    w_, g_, m_ = (xt.array(a) for a in here)
    momentum(w_, g_, m_, lr=0.5, mu=0.5)
    np.testing.assert_array_equal(w.numpy(), w_.numpy())
    for t, a, b in zip(ws, there[: len(ws)], there[len(ws) :], strict=True):
        np.testing.assert_array_equal(t.numpy(), a - 0.5 * b)


def test_a_graph_of_products(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    a, b, c, out = on(gpu, (5, 7), (7, 3), (5, 3), (5, 3))
    with xt.graph_capture(gpu) as graph:
        out[...] = xt.dot(a, b)
        c += out
    expected, called = c.numpy().copy(), len(driver.products)
    for _ in range(2):
        a *= 2
        graph.replay()
        expected += a.numpy() @ b.numpy()
    assert len(driver.products) == called == 1
    np.testing.assert_allclose(c.numpy(), expected, rtol=1e-5)


def test_a_replay_is_in_the_order_of_all_its_streams(driver: EmulatedDriver) -> None:
    gpu = xt.gpu(0)
    (w,) = on(gpu, (50,))
    with xt.Stream(gpu) as other:
        (g,) = on(gpu, (50,))
    with xt.graph_capture(gpu) as graph:
        w += g
    start = len(driver.log)
    graph.replay()
    assert driver.log[start:] == [
        ("record", 0, other.handle), ("wait", 0, 0), ("graph", 0, 0), ("record", 0, 0), ("wait", 0, other.handle),
    ]  # fmt: skip


def test_memory_of_a_graph_is_not_freed_before_it(driver: EmulatedDriver) -> None:
    w, g = on(xt.gpu(0), (50,), (50,))
    with xt.graph_capture(xt.gpu(0)) as graph:
        w += g
    with pytest.raises(BufferError, match="recorded graph"):
        xt.free_space(w)
    del graph
    xt.free_space(w)


def test_a_graph_outlives_its_tensors(driver: EmulatedDriver) -> None:
    out = xt.zeros(50, device=xt.gpu(0))
    with xt.graph_capture(xt.gpu(0)) as graph:
        one = xt.ones(50, device=xt.gpu(0))  # filled when the graph is replayed
        out += one
        del one
    for _ in range(2):
        xt.ones(50, device=xt.gpu(0))
        graph.replay()
    np.testing.assert_array_equal(out.numpy(), np.full(50, 2, np.float32))


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda t: t.numpy(), "copy: not inside of graph_capture"),
        (lambda t: xt.copy(t, np.zeros(3, np.float32)), "copy: not inside"),
        (lambda t: t.device.synchronize(), "synchronize: not inside"),
        (lambda t: t.buffer.stream.synchronize(), "synchronize: not inside"),
        (lambda t: xt.graph_capture(xt.gpu(0)).__enter__(), "graph_capture: not inside"),
        (lambda t: xt.ones(3, device=xt.gpu(1)), "a statement on gpu:1 inside of a block for gpu:0"),
    ],
)
def test_what_a_graph_cannot_hold_is_an_error(
    driver: EmulatedDriver, act: Callable[[xt.Tensor], object], says: str
) -> None:
    t = xt.ones(3, device=xt.gpu(0))

    def block() -> None:
        with xt.graph_capture(xt.gpu(0)) as graph:
            with pytest.raises(xt.DeviceError, match="not ended"):
                graph.replay()
            act(t)

    with pytest.raises(xt.DeviceError, match=says):
        block()
    t += 1  # everything is as before
    np.testing.assert_array_equal(t.numpy(), np.full(3, 2, np.float32))


def test_the_cpu_records_no_graphs() -> None:
    with pytest.raises(xt.DeviceError, match="the CPU"), xt.graph_capture(xt.cpu()):
        pass


def test_scratch_memory_of_one_thread_is_not_replaced_by_less(
    driver: EmulatedDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, more, sizes = xt.Stream(xt.gpu(0)), 1 << 20, {}
    queue, allocate = queue_of(stream), driver.allocate
    other = threading.Thread(target=lambda: queue.reserve(more))

    def meanwhile(device: int, nbytes: int, handle: int) -> tuple[int, object]:
        if not sizes:
            sizes[0] = 0
            other.start()
            other.join(0.1)  # it may have to wait
        found = allocate(device, nbytes, handle)
        sizes[found[0]] = nbytes
        return found

    monkeypatch.setattr(driver, "allocate", meanwhile)
    queue.reserve(1)
    other.join()
    assert sizes[queue.words.scratch] >= queue.words.room >= more
