"""Threads share a statement's loops, and no bit of the result tells how many they were."""

import ctypes
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from exprten_jit import threads, work
from exprten_jit.backends import llvm_module, llvm_outline, llvm_parts
from exprten_jit.dtypes import DTYPES
from exprten_jit.reducers import ACROSS, along, brought_together
from strategies import TARGETS, place
from test_folds import ALL, normal, softmax, standardised

import exprten as xt
from exprten.statement import launch

SHARED = (2, 3, 7)


@pytest.fixture
def always(monkeypatch):
    """Every statement is shared, however small, and every block of a fold is a part of it."""
    monkeypatch.setattr(llvm_outline, "ENOUGH", 0)
    monkeypatch.setattr(llvm_module, "LEAST", 0)
    monkeypatch.setattr(llvm_parts, "LEAST", 0)
    monkeypatch.setattr(llvm_module, "GRAIN", 8)
    for table in (launch._launches, launch._kernels):
        monkeypatch.setattr(launch, "_launches" if table is launch._launches else "_kernels", {})


def bits(x):
    return x.numpy().tobytes()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.usefixtures("always")
def test_a_statement_with_folds_has_the_same_bits_with_any_number_of_threads(name):
    ours, _ = ALL[name]
    for shape in ((5, 7), (70, 33), (3, 5000), (300, 4)):
        e = ours(xt.asarray(normal(shape)))
        with xt.options(num_threads=1):
            want = bits(xt.evaluate(e))
        for n in SHARED:
            with xt.options(num_threads=n):
                assert bits(xt.evaluate(e)) == want, f"{name} of {shape}, {n} threads"


@pytest.mark.parametrize("layout", TARGETS)
@pytest.mark.parametrize("mode", ["write", "add", "mul", "inplace"])
@pytest.mark.parametrize("shape", [(1,), (1000,), (3, 500), (200, 3), (2, 3, 129), (70, 2, 3)], ids=str)
@pytest.mark.usefixtures("always")
def test_elements_are_stored_once(shape, mode, layout):
    x, y = normal(shape), normal(shape, 1)
    want = {"write": x * 2 + 1, "inplace": x * 2 + 1, "add": y + (x * 2 + 1), "mul": y * (x * 2 + 1)}[mode]
    for n in SHARED:
        out = place(y, layout)
        with xt.options(num_threads=n):
            xt.assign(xt.asarray(out.array), mode, xt.asarray(place(x, layout).array) * 2 + 1)
        np.testing.assert_array_equal(out.array, want)
        out.assert_untouched()


@pytest.mark.parametrize("parts", [2, 4, 1024])
@pytest.mark.usefixtures("always")
def test_parts_of_a_fold_are_its_subtrees(monkeypatch, parts):
    monkeypatch.setattr(llvm_module, "PARTS", parts)
    order = along(DTYPES["float32"])
    for n in (1, 4095, 4096, 4097, 3 * 4096, 5 * 4096 + 1, 13 * 4096 + 77):
        x = normal((n,))
        want = brought_together(list(x), np.add, np.float32(-0.0), order)
        for t in (1, 3):
            with xt.options(num_threads=t):
                assert xt.evaluate(xt.sum(xt.asarray(x))).item() == want, f"{n} elements, {t} threads"


@pytest.mark.parametrize("parts", [2, 3, 1024])
@pytest.mark.usefixtures("always")
def test_rows_that_are_not_adjacent_are_shared(monkeypatch, parts):
    monkeypatch.setattr(llvm_module, "PARTS", parts)
    wide = normal((4100, 7))
    for x in (normal((40, 600))[:, :501], normal((9, 5000))[::2], wide[:, :5], normal((3, 4, 5, 70))[:, 1:, ::2]):
        source = xt.asarray(x)
        folds = xt.sum(source), xt.var(source), xt.argmax(source), xt.sum(xt.max(source, -1) * xt.sum(source, -1))
        for e in folds:
            with xt.options(num_threads=1):
                want = bits(xt.evaluate(e))
            for n in SHARED:
                with xt.options(num_threads=n):
                    assert bits(xt.evaluate(e)) == want, f"{e}, {x.shape}, {n} threads"


DOWN = {
    "sum": lambda x: xt.sum(x, 0), "max": lambda x: xt.max(x, 0), "argmax": lambda x: xt.argmax(x, 0), "softmax": lambda x: softmax(xt, x, 0),
    "normalised": lambda x: standardised(xt, x, 0), "of every other": lambda x: xt.var(x[::2], 0),
}  # fmt: skip


@pytest.mark.parametrize("count", [2, 3, 8, 17, 40])
@pytest.mark.parametrize(("arena", "vector_bits"), [(llvm_parts.ARENA, None), (8 << 10, 256), (4 << 10, 128)])
@pytest.mark.usefixtures("always")
def test_rows_of_few_columns_are_shared_in_subtrees(monkeypatch, count, arena, vector_bits):
    monkeypatch.setattr(llvm_parts, "ARENA", arena)
    for blocks, more in ((1, 0), (5, 7), (37, 255)):
        x = normal((256 * blocks + more, count))
        for name, fold in DOWN.items():
            with xt.options(num_threads=1, vector_bits=vector_bits):
                want = bits(xt.evaluate(fold(xt.asarray(x))))
            for n in SHARED:
                with xt.options(num_threads=n, vector_bits=vector_bits):
                    assert bits(xt.evaluate(fold(xt.asarray(x)))) == want, f"{name} of {x.shape}, {n} threads"


@pytest.mark.parametrize(("columns", "dtype"), [(65, "float32"), (200, "int16"), (333, "float64"), (100, "complex64")])
@pytest.mark.usefixtures("always")
def test_a_fold_down_many_rows_is_shared_in_subtrees(monkeypatch, columns, dtype):
    monkeypatch.setattr(llvm_parts, "LONG", 0)
    monkeypatch.setattr(llvm_parts, "FAR", 0)
    for blocks, more in ((1, 0), (5, 7), (20, 255)):
        x = (normal((256 * blocks + more, columns)) * 9).astype(dtype)
        for fold in (xt.sum, xt.max, xt.argmax, xt.mean):
            e = fold(xt.asarray(x), 0)
            with xt.options(num_threads=1):
                want = bits(xt.evaluate(e))
            for n in SHARED:
                with xt.options(num_threads=n):
                    assert bits(xt.evaluate(e)) == want, f"{e} of {x.shape}, {n} threads"


def test_rows_of_few_columns_are_shared_where_there_are_many():
    x = normal((100_003, 5))
    order = brought_together(list(x), np.add, np.full(5, -0.0, np.float32), ACROSS)
    for n in (1, *SHARED):
        with xt.options(num_threads=n):
            assert bits(xt.evaluate(xt.sum(xt.asarray(x), 0))) == order.tobytes()
    plan = xt.plan(xt.zeros(5), xt.sum(xt.asarray(x), 0))
    assert "@few0" in plan.llvm and plan.scratch_bytes >= llvm_parts.ARENA


def test_a_large_sum_is_within_its_bound_and_the_same_with_any_number_of_threads():
    x = normal((3_000_001,))
    got = set()
    for n in (1, *SHARED):
        with xt.options(num_threads=n):
            got.add(xt.evaluate(xt.sum(xt.asarray(x))).item())
    assert len(got) == 1
    bound = 2 * np.finfo(np.float32).eps * math.log2(x.size) * float(np.abs(x, dtype=np.float64).sum())
    assert abs(got.pop() - math.fsum(x)) <= bound


@pytest.mark.usefixtures("always")
def test_stores_in_a_proved_order_are_one_threads():
    for n in SHARED:
        with xt.options(num_threads=n):
            forwards, backwards = xt.arange(5000, dtype=xt.float32), xt.arange(5000, dtype=xt.float32)
            forwards[:-1] = forwards[1:] + 1
            backwards[1:] = backwards[:-1] + 1
            assert xt.plan(forwards[:-1], forwards[1:]).threads == xt.plan(backwards[1:], backwards[:-1]).threads == 1
        x = np.arange(5000, dtype=np.float32)
        np.testing.assert_array_equal(forwards.numpy(), [*(x[1:] + 1), x[-1]])
        np.testing.assert_array_equal(backwards.numpy(), [x[0], *(x[:-1] + 1)])


@pytest.mark.usefixtures("always")
def test_a_joined_target_and_columns_are_shared():
    x = normal((40, 600))
    for n in SHARED:
        with xt.options(num_threads=n):
            a, b = xt.zeros((40, 200)), xt.zeros((40, 400))
            xt.concat(a, b, axis=1)[...] = xt.asarray(x) - xt.mean(xt.asarray(x), 0)
        want = x - x.mean(0, dtype=np.float64).astype(np.float32)
        np.testing.assert_allclose(np.concatenate([a.numpy(), b.numpy()], 1), want, atol=1e-6)


def test_number_of_threads_compiles_nothing():
    x, out = xt.ones(100), xt.zeros(100)
    out[...] = x + 1
    with xt.no_compile():
        for n in SHARED:
            with xt.options(num_threads=n):
                out[...] = x + 1


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"])
def test_a_wrong_number_of_threads(wrong):
    said = f"num_threads is {wrong!r}; it must be None or a whole number from 1 on"
    with pytest.raises(ValueError, match=said), xt.options(num_threads=wrong):
        pass


def test_the_plan_says_how_many_threads_share_it():
    small, large = xt.zeros(100), xt.zeros((1000, 1000))
    with xt.options(num_threads=3):
        assert xt.plan(small, small + 1).threads == 1
        assert xt.plan(large, large + 1).threads == 3
    with xt.options(num_threads=1):
        assert xt.plan(large, large + 1).threads == 1
    assert xt.plan(large, large + 1).threads == threads.default_threads()
    plan = xt.plan(large, large / xt.sum(large))
    assert (plan.phases, plan.launches) == (2, 1)
    assert plan.scratch_bytes == 1024 * 4


def test_work_counts_every_element():
    x = xt.zeros((300, 200))
    (loop,) = work.shared(xt.plan(x, xt.exp(x))._code.nest)
    assert len(work.levels(loop)) == 1
    y = xt.zeros((300, 250))[:, :200]
    (loop,) = work.shared(xt.plan(y, x + 1)._code.nest)
    assert len(work.levels(loop)) == 2


def test_threads_of_python_share_the_pool():
    """The pool serves one of them at a time; the others' statements run alone."""
    wrong = []

    def work(k):
        x, out = xt.full((1 << 21,), float(k)), xt.zeros(1 << 21)
        for n in range(20):
            out[...] = x * 2.0 + n
            if not (out.numpy() == 2 * k + n).all():
                wrong.append((k, n))

    started = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not wrong


def test_a_loop_inside_of_a_shared_loop_runs_alone():
    """The pool may be entered again from inside of itself: by a caller that holds it, and by its threads."""
    body = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
    shared = ctypes.CFUNCTYPE(None, body, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(
        threads.parallel()
    )
    inner: list[tuple[int, int]] = []
    outer: list[tuple[int, int]] = []

    def inside(_: object, low: int, high: int) -> None:
        inner.append((low, high))

    def outside(_: object, low: int, high: int) -> None:
        outer.append((low, high))
        shared(body(inside), None, 1000, 10, 3)

    shared(body(outside), None, 90, 10, 3)
    assert sorted(k for low, high in outer for k in range(low, high)) == list(range(90))
    assert inner == [(0, 1000)] * len(outer)


# each in a process of its own, with a pool of its own

ROOT = Path(__file__).parents[1]
BEFORE = "import os, threading\nimport exprten as xt\ntasks = lambda: len(os.listdir('/proc/self/task'))\n"
SMALL = "x = xt.ones(64)\nx += 1.0\n"
BIG = "x = xt.ones(1 << 20)\nx += 1.0\n"
linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where Linux lists them")


def run(code, threads="3"):
    path = os.pathsep.join((str(ROOT), str(ROOT / "jit")))
    env = {**os.environ, "EXPRTEN_NUM_THREADS": threads, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, "-c", BEFORE + code], env=env, capture_output=True, text=True, check=False, timeout=120
    )


def printed(code, threads="3"):
    done = run(code, threads)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@linux
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_environment_says_how_many_threads_there_are(n):
    code = SMALL + "before = tasks()\n" + BIG + "print(tasks() - before, float(x[7]))"
    assert printed(code, str(n)) == [str(n - 1), "2.0"]


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="processors are chosen where Linux lets one choose them"
)
def test_there_is_a_thread_for_each_processor_that_the_process_may_use():
    code = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n" + SMALL + "before = tasks()\n" + BIG
    assert printed(code + "print(tasks() - before, xt.plan(x, x + 1).threads)", "") == ["0", "1"]


@linux
def test_a_small_statement_starts_no_thread():
    assert printed(SMALL + "before = tasks()\nx += 1.0\nprint(tasks() - before)") == ["0"]


@linux
@pytest.mark.parametrize("size", ["1 << 20", "1 << 22"])
@pytest.mark.parametrize("statement", ["x += 1.0", "x[...] = x * 2 + 1", "s[...] = xt.sum(x)"])
def test_a_statement_that_comes_often_has_no_more_threads_than_the_options_say(size, statement):
    code = f"""
before = tasks()
with xt.options(num_threads=1):
    x, s = xt.ones({size}), xt.zeros(())
    for _ in range(9):
        {statement}
print(tasks() - before)
for _ in range(9):
    {statement}
print(tasks() - before)
"""
    assert printed(code) == ["0", "2"]


@pytest.mark.parametrize("text", ["none", "0", "-2", "1.5"])
def test_a_wrong_environment_is_refused(text):
    said = run(BIG, text).stderr
    assert f"ValueError: EXPRTEN_NUM_THREADS is '{text}'; it must be a whole number from 1 on" in said


@linux
def test_a_child_after_fork_starts_threads_of_its_own():
    code = """
pid = os.fork()
if not pid:
    alone = tasks()
    x += 1.0
    right = bool((x.numpy() == 3).all()) and tasks() - alone == 2
    os._exit(0 if right else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
x += 1.0
print(float(x[5]))
"""
    assert printed(BIG + code) == ["0", "3.0"]


def test_fork_while_threads_are_at_work():
    code = """
def work():
    y = xt.zeros(1 << 21)
    while not stop:
        y += 1.0
stop = []
other = threading.Thread(target=work)
other.start()
for _ in range(10):
    pid = os.fork()
    if not pid:
        x += 1.0
        z = xt.evaluate(xt.sum(x * 3.5))
        os._exit(0 if z.item() == 3.0 * 3.5 * (1 << 20) else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
stop.append(1)
other.join()
"""
    assert printed(BIG + code) == ["0"] * 10
