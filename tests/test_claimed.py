"""Processors that ask for a line to be stored when the one before is there, and take long for numbers that are not normal: what is done for them, and that results stay."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from exprten_jit.machine import Machine
from test_drawn_blocks import forget

import exprten as xt
from exprten.statement import launch

CLAIM = "i32 1, i32 3, i32 1)"  # of a line that will be stored, into the first cache
SHAPES = (((5, 700), (1, 0)), ((700, 5), (1, 0)), ((91, 37), (1, 0)), ((9, 40, 33), (2, 1, 0)), ((16, 2048), (1, 0)))


def machine_of(monkeypatch: pytest.MonkeyPatch, **facts: bool) -> Machine:
    """This processor, but for some facts: nothing that was compiled before is used."""
    machine = replace(llvm_run.machine(), **facts)
    monkeypatch.setattr(llvm_run, "machine", lambda: machine)
    nothing_kept()
    return machine


def nothing_kept() -> None:
    """Kernels are forgotten, too: no part of a statement says for which processor they were compiled."""
    forget()
    launch._kernels.clear()


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    nothing_kept()


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(("shape", "order"), SHAPES, ids=str)
def test_lines_are_claimed_and_results_stay(monkeypatch, shape, order, bits):
    x = np.random.default_rng(1).standard_normal(shape).astype("float32")
    want = x.transpose(order) * np.float32(3)
    for claimed in (False, True):
        machine_of(monkeypatch, waits=claimed)
        with xt.options(vector_bits=bits):
            target, value = xt.zeros(want.shape), xt.transpose(xt.asarray(x), order) * 3
            assert (
                CLAIM in xt.plan(target, value).llvm
            ) == claimed or bits == 128  # a quarter of a line may claim none
            target[...] = value
        np.testing.assert_array_equal(target.numpy(), want)


@pytest.mark.parametrize("dtype", ["float64", "int16", "uint8", "complex64"])
def test_lines_of_every_type_are_claimed(monkeypatch, dtype):
    x = (np.random.default_rng(2).standard_normal((300, 6)) * 9).astype(dtype)
    target, value = xt.zeros((6, 300), dtype=dtype), xt.transpose(xt.asarray(x), (1, 0)) * 3
    machine_of(monkeypatch, waits=True)
    assert CLAIM in xt.plan(target, value).llvm
    target[...] = value
    np.testing.assert_array_equal(target.numpy(), x.T * x.dtype.type(3))


def test_what_is_stored_past_the_caches_is_not_claimed(monkeypatch):
    machine_of(monkeypatch, waits=True)
    blocks = re.split(r"\n\w+:\n", xt.plan(xt.zeros(1 << 22), xt.zeros(1 << 22) * 3).llvm)
    past = [block for block in blocks if "!nontemporal" in block]
    assert past
    assert not any(CLAIM in block for block in past)
    assert any(CLAIM in block for block in blocks)


@pytest.mark.parametrize("columns", [17, 25, 30, 77, 100])
def test_lanes_beyond_the_last_column_hold_zeros_where_others_would_take_long(monkeypatch, columns):
    """Of numbers left on the stack a quotient may be no normal one."""
    x = np.random.default_rng(3).standard_normal((33, 7, columns)).astype("float32")
    texts = []
    for assists in (False, True):
        machine_of(monkeypatch, assists=assists)
        source = xt.asarray(x)
        target, value = xt.zeros(x.shape), (source - xt.mean(source, 0)) / xt.std(source, 0)
        texts.append(xt.plan(target, value).llvm)
        target[...] = value
        np.testing.assert_allclose(target.numpy(), (x - x.mean(0)) / x.std(0), rtol=2e-4, atol=2e-5)
    loaded, beyond = texts[1].count("select <"), texts[0].count("select <")
    assert loaded > beyond


def test_a_target_that_is_read_is_not_claimed(monkeypatch):
    machine_of(monkeypatch, waits=True)
    target = xt.zeros(1000)
    assert CLAIM not in xt.plan(target, target * 3).llvm


@pytest.mark.parametrize("name", ["sum", "max", "argmax"])
@pytest.mark.parametrize(("shape", "axis"), [((900, 5), 0), ((300, 17), 0), ((500, 33), 1), ((333, 48), 1)], ids=str)
def test_what_is_folded_is_brought_into_the_first_cache_and_results_stay(monkeypatch, shape, axis, name):
    x = np.random.default_rng(4).integers(-99, 99, shape).astype("float32")
    want, soon = getattr(np, name)(x, axis), "i32 0, i32 3, i32 1)"
    counts = []
    for claimed in (False, True):
        machine_of(monkeypatch, waits=claimed)
        target, value = xt.zeros(want.shape, dtype=want.dtype), getattr(xt, name)(xt.asarray(x), axis)
        counts.append(xt.plan(target, value).llvm.count(soon))
        target[...] = value
        np.testing.assert_array_equal(target.numpy(), want)
    assert counts[1] > counts[0]


@pytest.mark.parametrize(("shape", "order"), [((2048, 1100), (1, 0)), ((1403, 40, 40), (2, 1, 0))], ids=str)
def test_tiles_from_memory_have_as_many_rows_as_are_followed_and_results_stay(monkeypatch, shape, order):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    texts = set()
    for follows in (32, 64, 128):
        machine_of(monkeypatch, follows=follows)
        target, value = xt.zeros([shape[k] for k in order]), xt.transpose(xt.asarray(x), order) * 3
        texts.add(xt.plan(target, value).nest)
        for threads in (1, 2):
            target[...] = -1
            with xt.options(num_threads=threads):
                target[...] = value
            np.testing.assert_array_equal(target.numpy(), x.transpose(order) * np.float32(3))
    assert len(texts) == 3
