"""Memory, copies, streams and exchange on emulated devices: what holds on real ones too, and what only an emulation can show."""

import ast
import ctypes
import gc
import importlib
import inspect
import multiprocessing
import os
from pathlib import Path

import numpy as np
import pytest
from emulator.driver import EmulatedDriver, emulated
from exprten_jit.dtypes import ROWS
from gpu.memory_cases import *  # noqa: F403  # the tests
from gpu.memory_cases import counted

import exprten as xt
from exprten.gpu import driver as seam
from exprten.storage.capsule import CPU, Shared, capsule, taken

SOURCES = Path(xt.__file__).parent


@pytest.fixture(params=["eager", "lazy"])
def driver(request, _emulator):
    with emulated(devices=2, lazy=request.param == "lazy") as driver:
        yield driver


@pytest.fixture
def gpus(driver):
    return [xt.gpu(0), xt.gpu(1)]


def log(driver, *names):
    return [entry for entry in driver.log if entry[0] in names]


# What is missing.


def missing(monkeypatch):
    monkeypatch.setattr(seam._in_force, "driver", None)
    with pytest.raises(xt.DeviceError) as found:
        xt.gpu(0)
    assert xt.gpu.count() == 0
    return str(found.value)


INSTALL = 'pip install "exprten[cuda13]", or "exprten[cuda12]" for a driver of CUDA 12; or use xt.cpu()'


def test_without_cupy_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(seam.importlib.util, "find_spec", lambda name: None)
    assert missing(monkeypatch) == f"gpu: CuPy is not installed; {INSTALL}"


def test_broken_cupy_is_named(monkeypatch):
    monkeypatch.setattr(seam.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(importlib.sys.modules, "cupy", None)
    monkeypatch.delitem(importlib.sys.modules, "exprten.gpu.cupy_driver", raising=False)
    text = missing(monkeypatch)
    assert text.startswith("gpu: CuPy cannot be imported: ") and text.endswith(INSTALL)


def test_missing_driver_is_named(monkeypatch):
    class Broken:
        def __init__(self):
            raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    fake = type(importlib)("exprten.gpu.cupy_driver")
    fake.CupyDriver = Broken
    monkeypatch.setattr(seam.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(importlib.sys.modules, "exprten.gpu.cupy_driver", fake)
    text = missing(monkeypatch)
    assert text.startswith("gpu: CUDA does not start: cudaErrorInsufficientDriver") and "nvidia-smi" in text


@pytest.mark.parametrize("index", [-1, 2, 100])
def test_device_out_of_range_says_how_many_there_are(driver, index):
    with pytest.raises(xt.DeviceError, match=rf"^gpu\({index}\): there are 2 CUDA devices"):
        xt.gpu(index)
    assert xt.gpu.count() == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_child_of_a_fork_says_to_spawn():
    def ask(pipe):
        try:
            xt.gpu(0)
        except xt.DeviceError as error:
            pipe.send(str(error))

    ours, theirs = multiprocessing.Pipe()
    with emulated():
        xt.gpu(0)
        child = multiprocessing.get_context("fork").Process(target=ask, args=(theirs,))
        child.start()
    assert ours.poll(30) and "get_context('spawn')" in ours.recv()
    child.join()


# Memory.


def test_memory_that_is_short_is_taken_from_the_pool_first():
    with emulated(devices=2, capacity=4096) as driver:
        xt.free_space(xt.empty(3000, xt.uint8, xt.gpu(0)))
        assert driver.pooled(0) == 3072
        t = xt.empty(4096, xt.uint8, xt.gpu(0))  # another size: the pool has to let go
        assert log(driver, "release") == [("release", 0)]
        assert t.buffer.address and driver.pooled(0) == 4096


def test_memory_that_is_not_there_is_named_in_bytes():
    with emulated(devices=2, capacity=4096) as driver:
        gc.collect()
        in_use = xt.memory.on(xt.gpu(0)).bytes_in_use
        t = xt.empty(3000, xt.uint8, xt.gpu(0))
        before = xt.memory.allocations
        with pytest.raises(xt.OutOfMemoryError) as found:
            xt.empty(2000, xt.uint8, xt.gpu(0))
        assert str(found.value) == (
            f"allocate: 2000 bytes on gpu:0 are not to be had; {in_use + 3000} bytes are in use by exprten, the pool holds 3072, and 1024 "
            "of 4096 are free"
        )
        assert xt.memory.allocations == before
        assert len(log(driver, "allocate")) == 3  # one retry
        assert xt.empty(2000, xt.uint8, xt.gpu(1)).device is xt.gpu(1)
        del t


def test_page_locked_memory_that_is_not_there_is_named_in_bytes():
    with (
        emulated(capacity=4096),
        pytest.raises(xt.OutOfMemoryError, match=r"^allocate: 5000 bytes on cpu .* page-locked$"),
    ):
        xt.alloc_host(5000, xt.uint8)


def test_freed_memory_comes_again_on_its_stream_only(driver, gpus):
    stream = xt.Stream(gpus[0])
    with stream:
        t = xt.empty(100, device=gpus[0])
        address = t.buffer.address
        xt.free_space(t)
        elsewhere = xt.empty(100, device=gpus[1])
    other = xt.empty(100, device=gpus[0])
    with stream:
        again = xt.empty(100, device=gpus[0])
    assert again.buffer.address == address != other.buffer.address
    assert elsewhere.stream.device is gpus[1] and elsewhere.stream != stream


def test_streams_are_destroyed_with_the_last_that_needs_them(driver, gpus):
    with xt.Stream(gpus[0]) as stream:
        t = xt.empty(3, device=gpus[0])
    handle = stream.handle
    del stream
    gc.collect()
    assert handle in driver.streams
    del t
    gc.collect()
    assert handle not in driver.streams


# What is asked of CUDA.


def test_packed_memory_is_one_copy_and_rows_are_one():
    with emulated() as driver:
        a, gpu = counted((6, 5)), xt.gpu(0)
        t, p = xt.empty(a.shape, device=gpu), xt.empty(a.shape, device=gpu, pad=True)
        driver.log.clear()
        for dst, src in (
            (t, a),
            (p, a),
            (p, t),
            (t, p),
            (t[1:4], p[1:4]),
            (np.zeros_like(a), p),
            (np.zeros_like(a), t),
        ):
            xt.copy(dst, src)
        names = [entry[0] for entry in log(driver, "copy", "copy_rows", "synchronize_stream", "synchronize")]
        wait = "synchronize_stream"
        assert names == ["copy", "copy_rows", "copy_rows", "copy_rows", "copy_rows", "copy_rows", wait, "copy", wait]


def test_copies_to_a_gpu_wait_for_nothing(driver, gpus):
    one, other = (xt.empty(1000, device=gpu) for gpu in gpus)
    host = xt.alloc_host(1000)
    host[...] = 1
    driver.log.clear()
    xt.copy(one, np.ones(1000, "f"))
    xt.copy(one, host)
    xt.copy(other, one)
    xt.copy(one, other)
    assert not log(driver, "synchronize", "synchronize_stream")


def test_page_locked_memory_needs_no_staging(driver, gpus):
    host, t = xt.alloc_host((3, 4)), xt.empty((3, 4), device=gpus[0])
    driver.log.clear()
    xt.copy(t, host)
    assert not log(driver, "allocate_host")
    xt.copy(t, np.ones((3, 4), "f"))
    assert log(driver, "allocate_host") == [("allocate_host", 48)]


def test_staging_is_bounded_and_given_back(monkeypatch):
    from exprten.gpu import staging, transfer

    monkeypatch.setattr(transfer, "PIECE", 1024)
    monkeypatch.setattr(staging, "MOST", 4096)
    staging.room_for(staging.MOST)
    with emulated(lazy=True) as driver:
        t = xt.empty(100_000, xt.uint8, xt.gpu(0))
        xt.copy(t, np.zeros(100_000, np.uint8))
        taken = most = 0
        for entry in log(driver, "allocate_host", "free_host"):
            taken += entry[1] if entry[0] == "allocate_host" else -entry[1]
            most = max(most, taken)
        assert 4096 <= most <= 5 * 1024
        xt.gpu(0).synchronize()
        staging.room_for(0)
        taken = sum(
            entry[1] if entry[0] == "allocate_host" else -entry[1]
            for entry in log(driver, "allocate_host", "free_host")
        )
        assert taken == 0


def test_export_lets_the_consumers_stream_wait(driver, gpus):
    with xt.Stream(gpus[0]) as stream:
        t = xt.empty(4, device=gpus[0])
    theirs = xt.Stream(gpus[0])
    driver.log.clear()
    t.__dlpack__(stream=stream.handle)
    t.__dlpack__(stream=-1)
    assert not driver.log
    t.__dlpack__(stream=theirs.handle)
    assert driver.log == [("record", 0, stream.handle), ("wait", 0, theirs.handle)]
    driver.log.clear()
    t.__dlpack__()
    assert driver.log == [("record", 0, stream.handle), ("wait", 0, 0)]


def test_import_waits_for_the_exporters_stream(driver, gpus):
    with xt.Stream(gpus[0]) as stream:
        t = xt.empty(4, device=gpus[0])
    mine = xt.Stream(gpus[0])
    for through in (Exporter, Interface):  # noqa: F405
        driver.log.clear()
        with mine:
            shared = xt.asarray(through(t))
        assert shared.stream is mine
        assert driver.log == [("record", 0, stream.handle), ("wait", 0, mine.handle)]
    assert through is Interface  # noqa: F405
    older = Exporter(t)  # noqa: F405
    older.__class__ = type("Older", (Exporter,), {"__dlpack__": lambda self, stream: t.__dlpack__(stream=stream)})  # noqa: F405
    assert xt.asarray(older).shape == (4,)


def test_devices_of_other_memory_are_found_by_its_address(gpus):
    t = xt.array(counted(4), device=gpus[1])
    assert xt.asarray(Interface(t)).device is gpus[1]  # noqa: F405


def test_interface_that_exprten_cannot_share_is_refused(gpus):
    t = xt.empty(8, device=gpus[0])
    for change, match in (
        ({"typestr": "|V4"}, "void32"), ({"mask": t}, "no masks"), ({"strides": (6,), "shape": (2,)}, "misaligned"),
    ):  # fmt: skip
        theirs = Interface(t)  # noqa: F405
        theirs.__cuda_array_interface__ = theirs.__cuda_array_interface__ | change
        with pytest.raises(xt.DTypeError, match=match):
            xt.asarray(theirs)


def test_info_lists_the_devices_that_were_asked_for(monkeypatch):
    monkeypatch.setattr(seam._in_force, "driver", None)
    assert xt.info()["devices"] == ["cpu"]
    with emulated(devices=2, arch="sm_80"):
        assert xt.info()["devices"] == ["cpu", "gpu:0 emulated device 0 sm_80", "gpu:1 emulated device 1 sm_80"]


# Mistakes with two devices, and looking at statements.


def test_devices_are_not_mixed():
    with emulated():
        a, b = (xt.array(counted((2, 3)), device=xt.gpu(k)) for k in (0, 1))

        @xt.kernel
        def update(w, g, *, lr):
            w -= lr * g

        for mistake, operation in (
            (lambda: xt.concat(a, b), "concat"), (lambda: a @ b.T, "@"), (lambda: update(a, b, lr=1.0), "subtract"),
            (lambda: a.__iadd__(b), "add"), (lambda: xt.where(a > 0, a, b), "where"), (lambda: xt.flip(a, 0) - xt.flip(b + 1, 0), "subtract"),
        ):  # fmt: skip
            with pytest.raises(xt.DeviceError) as found:
                mistake()
            assert str(found.value).startswith(f"{operation}: ") and "gpu:0 and gpu:1" in str(found.value)


def test_statements_on_a_gpu_can_be_looked_at():
    with emulated():
        a = counted((3, 4))
        t = xt.array(a, device=xt.gpu(0))
        with xt.options(interpret=True):
            t[:, ::2] += 1
        a[:, ::2] += 1
        assert t.numpy().tolist() == a.tolist()
        with xt.options(check="oracle"):
            t[::-1] *= 2
        assert t.numpy().tolist() == (a * 2).tolist()
        with xt.options(check="nan"), pytest.raises(xt.NonFiniteError, match="is inf at index"):
            t[1:] /= 0


# The emulated driver itself: it sees what is not ordered, and what is not there.


def test_missing_order_is_a_race_and_wrong_numbers():
    driver = EmulatedDriver(devices=1, lazy=True)
    a, b = (driver.create_stream(0) for _ in range(2))
    (first, keep), (second, keep_too) = (driver.allocate(0, 8, 0) for _ in range(2))
    source, out = np.full(8, 7, np.uint8), np.zeros(8, np.uint8)
    driver.copy(0, first, source.ctypes.data, 8, a[0])
    driver.copy(0, second, first, 8, b[0])
    assert len(driver.races) == 1 and "copy on" in driver.races[0]
    driver.copy(0, out.ctypes.data, second, 8, b[0])
    driver.synchronize_stream(0, b[0])
    assert out.tolist() != [7] * 8
    driver.synchronize(0)
    driver.races.clear()
    driver.copy(0, first, source.ctypes.data, 8, a[0])
    driver.order(0, a[0], 0, b[0])
    driver.copy(0, second, first, 8, b[0])
    driver.copy(0, out.ctypes.data, second, 8, b[0])
    driver.synchronize_stream(0, b[0])
    assert out.tolist() == [7] * 8 and not driver.races
    del keep, keep_too


def test_freed_memory_and_unknown_streams_are_noticed():
    driver = EmulatedDriver(devices=1)
    address, owner = driver.allocate(0, 600, 0)
    host = np.zeros(600, np.uint8)
    with pytest.raises(AssertionError, match="over the end of a block"):
        driver.copy(0, address + 512, host.ctypes.data, 600, 0)
    del owner
    with pytest.raises(AssertionError, match="freed"):
        driver.copy(0, address, host.ctypes.data, 8, 0)
    with pytest.raises(AssertionError, match="cudaErrorInvalidResourceHandle"):
        driver.synchronize_stream(0, 12345)
    with pytest.raises(AssertionError, match="cudaErrorInvalidDevice"):
        driver.allocate(1, 8, 0)


def test_contexts_are_a_stack_of_each_thread():
    driver = EmulatedDriver(devices=2)
    out = ctypes.c_void_p()
    driver._get_context(ctypes.pointer(out))
    assert out.value is None
    driver._push_context(driver.context(1))
    driver._get_context(ctypes.pointer(out))
    assert out.value == driver.context(1) != driver.context(0)
    driver._pop_context(ctypes.pointer(out))
    driver._get_context(ctypes.pointer(out))
    assert out.value is None


# The seam.


def methods(kind):
    return {name: f for name, f in vars(kind).items() if inspect.isfunction(f) and not name.startswith("_")}


def test_drivers_have_the_methods_of_the_protocol():
    wanted = {name: list(inspect.signature(f).parameters) for name, f in methods(seam.Driver).items()}
    tree = ast.parse((SOURCES / "gpu/cupy_driver.py").read_text(encoding="utf-8"))
    [cupy] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "CupyDriver"]
    theirs = {f.name: [a.arg for a in f.args.args] for f in cupy.body if isinstance(f, ast.FunctionDef)}
    ours = {name: list(inspect.signature(f).parameters) for name, f in methods(EmulatedDriver).items()}
    assert {name: theirs.get(name) for name in wanted} == wanted
    assert {name: ours.get(name) for name in wanted} == wanted
    assert {name for name in theirs if not name.startswith("_")} == set(wanted)


def chain(node):
    """`a.b.c` of an expression, or None."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def test_cupy_has_every_name_that_is_asked_of_it():
    module = pytest.importorskip("exprten.gpu.cupy_driver", reason="no CuPy")
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    roots = ("cupy", "runtime", "driver", "Device", "Event", "Module", "Stream")
    names = {tuple(c) for node in ast.walk(tree) if (c := chain(node)) and c[0] in roots}
    assert len(names) > 20
    for root, *rest in names:
        found = getattr(module, root)
        for name in rest:
            assert hasattr(found, name), f"{root}.{'.'.join(rest)}"
            assert not name.startswith("_"), f"{root}.{'.'.join(rest)} is private"
            found = getattr(found, name)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and (c := chain(node.func)) and c[0] in ("runtime", "driver")
    ]
    for call in calls:  # CuPy's compiled functions say their parameters in the first line of their documentation
        function = getattr(getattr(module, call.func.value.id), call.func.attr)
        first = function.__doc__.splitlines()[0]
        parameters = [p for p in first[first.index("(") + 1 : first.rindex(")")].split(",") if p.strip()]
        fewest = sum("=" not in p for p in parameters)
        assert fewest <= len(call.args) <= len(parameters), first


# Capsules, against NumPy's.


class Given:
    def __init__(self, capsule, device=(CPU, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, **how):
        return self.capsule

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("row", [row for row in ROWS if not row.like], ids=str)
def test_numpy_reads_the_capsules_that_are_made(row, versioned):
    a = counted((3, 4), row.name)
    kept = [a]
    shared = Shared(a.ctypes.data, (CPU, 0), (3, 2), (4, 2), row, False, kept)
    there = np.from_dlpack(Given(capsule(shared, versioned)))
    del shared
    assert there.tolist() == a[:, ::2].tolist() and there.dtype == a.dtype
    assert there.flags.writeable is versioned
    references = len(gc.get_referrers(kept))
    del there
    gc.collect()
    assert len(gc.get_referrers(kept)) < references


@pytest.mark.parametrize("how", [{}, {"max_version": (1, 0)}])
@pytest.mark.parametrize("row", [row for row in ROWS if not row.like], ids=str)
def test_capsules_of_numpy_are_read(row, how):
    a = counted((3, 4), row.name)
    given = a[:, ::2].__dlpack__(**how)
    shared = taken(given, "asarray")
    assert (shared.address, shared.device, shared.shape, shared.strides) == (a.ctypes.data, (CPU, 0), (3, 2), (4, 2))
    assert shared.row is row and not shared.readonly
    with pytest.raises(BufferError, match="used already"):
        taken(given, "asarray")


def test_capsule_of_an_unknown_type_stays_with_its_maker():
    a = np.zeros(3, np.int64)
    given = a.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    ctypes.c_uint8.from_address(pointer(given, b"dltensor") + 20).value = 77
    with pytest.raises(xt.DTypeError, match="code 77 with 64 bits"):
        taken(given, "asarray")


def test_capsule_that_nobody_takes_lets_go():
    class Owner:
        pass

    owner = Owner()
    before = gc.get_referrers(owner)
    made = capsule(Shared(0, (CPU, 0), (0,), (1,), ROWS[0], True, owner), True)
    assert len(gc.get_referrers(owner)) > len(before)
    del made
    assert len(gc.get_referrers(owner)) == len(before)


# A stream that is another one in every thread.


def test_the_stream_of_each_thread_is_refused_as_an_order_of_memory(driver, monkeypatch):
    gpu = xt.gpu(0)
    with pytest.raises(xt.DeviceError, match=r"cudaStreamPerThread, handle 2, .* use `with xt.Stream\(xt.gpu\(0\)\):`"):
        xt.Stream.external(2, gpu)
    monkeypatch.setattr(driver, "current_stream", lambda device: (2, None))
    with pytest.raises(xt.DeviceError, match="CUPY_CUDA_PER_THREAD_DEFAULT_STREAM"):
        xt.zeros(3, device=gpu)


def test_a_consumer_may_be_on_the_stream_of_its_thread(driver):
    t = xt.ones(3, device=xt.gpu(0))
    start = len(driver.log)
    t.__dlpack__(stream=2)
    assert [entry[0] for entry in driver.log[start:]] == ["record", "wait"]
    facts = dict(t.__cuda_array_interface__) | {"stream": 2}

    class Theirs:
        __cuda_array_interface__ = facts
        keep = t

    np.testing.assert_array_equal(xt.asarray(Theirs()).numpy(), np.ones(3))
