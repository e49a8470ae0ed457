"""A process has memory for some 18,000 kernels: the one too many is an error, not the end of the process."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exprten_jit.backends import room

import exprten as xt

LIMIT = Path("/proc/sys/vm/max_map_count")


def fill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_limit", lambda: 1_024)
    monkeypatch.setattr(room, "_taken", lambda: 1_000)
    monkeypatch.setattr(room._room, "unasked", 0)


def test_a_statement_without_room_for_its_kernel_is_refused_and_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = xt.array(np.arange(7, dtype=np.float32)), xt.zeros(7)
    fill(monkeypatch)
    with pytest.raises(xt.CompileError, match=r"^this process has 1,000 memory mappings of 1,024 \(vm.max_map_count\)"):
        y[...] = x * 7.0 + xt.sqrt(x) * 0.1875 - 131.0 / (x + 17.0)
    assert not y.numpy().any()


def test_a_product_without_room_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    a, y = xt.ones((3, 3), dtype="int16"), xt.zeros((3, 3), dtype="int16")
    fill(monkeypatch)
    with pytest.raises(xt.CompileError, match="no room for another one"), xt.options(blas="own"):
        y -= 3 * xt.dot(a.T, a) * 5
    assert not y.numpy().any()


def test_kernels_that_are_there_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = xt.ones(7), xt.zeros(7)
    y[...] = x * 7.0 + xt.sqrt(x) * 0.375
    monkeypatch.setattr(room, "_limit", lambda: 0)
    monkeypatch.setattr(room._room, "unasked", 0)
    y[...] = x * 9.0 + xt.sqrt(x) * 0.375
    assert (y.numpy() == 9.375).all()


def test_room_is_counted_again_only_when_it_may_be_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(room, "_limit", lambda: room.MARGIN + 1_000 + 10 * room.MOST)
    monkeypatch.setattr(room, "_taken", lambda: asked.append(1) or 1_000)
    monkeypatch.setattr(room._room, "unasked", 0)
    for _ in range(30):
        room.take()
    assert len(asked) == 3


def test_mappings_that_others_take_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter((1_000, 100_000))
    monkeypatch.setattr(room, "_limit", lambda: 100_000)
    monkeypatch.setattr(room, "_taken", lambda: next(taken))
    monkeypatch.setattr(room._room, "unasked", 0)
    for _ in range(room.MARGIN // room.MOST):
        room.take()
    with pytest.raises(room.RoomError):
        room.take()


def test_where_no_limit_is_known_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_LIMIT", Path("/nowhere"))
    room._limit.cache_clear()
    try:
        monkeypatch.setattr(room._room, "unasked", 0)
        room.take()
    finally:
        room._limit.cache_clear()


_FULL = """
import itertools, mmap
import exprten as xt
from exprten_jit.backends import room

kept, x, most = [], xt.ones(3), room._limit() - room.MARGIN - 64
while (left := most - room._taken()) > 0:  # kinds of access in turns, for neighbours of one kind are one mapping
    kept += [mmap.mmap(-1, 4096, prot=mmap.PROT_READ | k % 2 * mmap.PROT_WRITE) for k in range(left)]
made = 0
try:
    for steps in itertools.product((0, 1), repeat=9):
        e = x
        for step in steps:
            e = xt.abs(e) if step else e * e
        xt.evaluate(e)
        made += 1
except xt.CompileError as error:
    print(made, error)
"""


@pytest.mark.skipif(not LIMIT.exists(), reason="this system does not limit mappings")
def test_a_process_that_fills_its_mappings_with_kernels_goes_on() -> None:
    if int(LIMIT.read_text()) > 1 << 18:
        pytest.skip("it would take too long to fill them")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "EXPRTEN_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", _FULL], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made, said = done.stdout.split(" ", 1)
    assert 1 < int(made) < 512
    assert "memory mappings" in said
