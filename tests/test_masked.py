"""Some lanes of a register, loaded and stored without instructions for it: all that is asked for, and nothing else."""

import ctypes
import mmap
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from exprten_jit.backends.llvm_masked import first_of, in_place
from strategies import place
from test_drawn_blocks import forget

import exprten as xt

KINDS = {"f16": "half", "i16": "i16", "i8": "i8"}


def compiled(count, suffix):
    """`copy(source, target, mask, nothing)`: what the mask names is loaded, `nothing` elsewhere, and stored under the mask; and all lanes to `every`."""
    kind, mask = f"<{count} x {KINDS[suffix]}>", f"<{count} x i1>"
    names = [f"@llvm.masked.{what}.v{count}{suffix}.p0" for what in ("load", "store")]
    body = f"""
define void @copy(ptr %from, ptr %to, ptr %mask, ptr %nothing, ptr %every) {{
  %bytes = load <{count} x i8>, ptr %mask, align 1
  %m = icmp ne <{count} x i8> %bytes, zeroinitializer
  %n = load {kind}, ptr %nothing, align 1
  %x = call {kind} {names[0]}(ptr %from, i32 1, {mask} %m, {kind} %n)
  store {kind} %x, ptr %every, align 1
  call void {names[1]}({kind} %x, ptr %to, i32 1, {mask} %m)
  ret void
}}"""
    declared = [
        f"declare {kind} {names[0]}(ptr, i32 immarg, {mask}, {kind})",
        f"declare void {names[1]}({kind}, ptr, i32 immarg, {mask})",
    ]
    functions, made = in_place(body, names)
    assert all(f"{name}(" not in functions for name in names)
    found = llvm_run.compile_text("\n".join([*declared, *made, functions]), ("copy",), {}, keep=False)
    return found, ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(found.address["copy"])


@pytest.fixture(scope="module")
def pages():
    """A page between two that nobody may touch."""
    page, libc = mmap.PAGESIZE, ctypes.CDLL(None)
    mapped = mmap.mmap(-1, 3 * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    for address in (base, base + 2 * page):
        assert libc.mprotect(ctypes.c_void_p(address), page, 0) == 0
    return np.frombuffer(mapped, np.uint8, page, page)


@pytest.mark.skipif(os.name != "posix", reason="pages are kept from being touched by mprotect")
@pytest.mark.parametrize("suffix", KINDS)
@pytest.mark.parametrize("count", [2, 4, 8, 16, 32, 64])
def test_the_lanes_that_are_asked_for(count, suffix, pages):
    held, copy = compiled(count, suffix)
    dtype = np.uint8 if suffix == "i8" else np.uint16
    rng = np.random.default_rng(count)
    nothing = rng.integers(1, 200, count, dtype)
    masks = [[k < n for k in range(count)] for n in range(count + 1)]
    masks += [list(rng.random(count) < 0.5) for _ in range(8)] + [[k == count - 1 for k in range(count)]]
    for given in masks:
        mask = np.array(given, np.uint8)
        last = int(np.max(np.nonzero(mask)[0], initial=-1)) + 1
        room = pages.view(dtype)
        for first in (0, len(room) - last):  # nothing before, and nothing behind it
            source = room[first : first + last]
            source[...] = rng.integers(0, 256, last, dtype)
            own, every = source.copy(), np.empty(count, dtype)
            target = np.full(count + 2, 7, dtype)
            address = pages.ctypes.data + first * room.itemsize
            copy(address, target[1:].ctypes.data, mask.ctypes.data, nothing.ctypes.data, every.ctypes.data)
            want = np.where(mask, np.resize(own, count) if last else 0, nothing)
            np.testing.assert_array_equal(every, want)
            np.testing.assert_array_equal(target[1:-1], np.where(mask, want, 7))
            assert target[0] == target[-1] == 7
            kept = room[first : first + last].copy()
            np.testing.assert_array_equal(kept, own)
            copy(every.ctypes.data, address, mask.ctypes.data, nothing.ctypes.data, every.ctypes.data)
            np.testing.assert_array_equal(room[first : first + last], own)
    assert held.address


def test_masks_whose_lanes_are_known():
    assert first_of("<i1 true, i1 true, i1 false>") == 2
    assert first_of("<i1 false, i1 false>") == 0
    assert first_of("<i1 true, i1 false, i1 true>") is None
    assert first_of("%v3") is None


# In a process of its own: what a processor has is asked once.
STATEMENTS = """
import sys
import numpy as np
from exprten_jit.backends import llvm_run
from exprten_jit.machine import Machine

llvm_run.machine = lambda: Machine(256, frozenset((8, 16, 32, 64)), True, permutes=True)
import exprten as xt

rng = np.random.default_rng(3)
for shape, padded in (((9, 16), 0), ((40, 17), 3), ((50, 33), 0), ((5, 6, 24), 0), ((3, 41, 2), 0), ((4, 8, 11), 3), ((70, 100), 3)):
    x = (rng.standard_normal((*shape[:-1], shape[-1] + padded)) * 9).astype(sys.argv[1])[..., : shape[-1]]
    a = xt.asarray(x)
    for axis in range(x.ndim):
        for name in ("max", "argmax", "sum"):
            made = getattr(xt, name)(a, axis)
            out = xt.zeros(made.shape, made.dtype)
            out[...] = made
            want = getattr(np, name)(x if name != "sum" else x.astype(np.float64), axis)
            if name == "sum":
                np.testing.assert_allclose(out.numpy(), want, rtol=4e-3, atol=0.2)
            else:
                np.testing.assert_array_equal(out.numpy(), want)
    for order in {tuple(range(x.ndim)), tuple(range(x.ndim))[::-1], (1, 0, *range(2, x.ndim))}:
        room = xt.zeros((*[shape[k] for k in order][:-1], shape[order[-1]] + 2), sys.argv[1])
        target = room[..., : shape[order[-1]]]
        target[...] = xt.transpose(a, order) + xt.transpose(a, order)
        np.testing.assert_array_equal(target.numpy(), x.transpose(order) + x.transpose(order))
        assert not room.numpy()[..., shape[order[-1]] :].any()
    if x.dtype.kind == "f":
        made = xt.zeros(shape, sys.argv[1])
        made[...] = (a - xt.mean(a, -1, keepdims=True)) / xt.std(a, -1, keepdims=True)
        wide = x.astype(np.float64)
        want = (wide - wide.mean(-1, keepdims=True)) / wide.std(-1, keepdims=True)
        np.testing.assert_allclose(made.numpy(), want, rtol=1e-2, atol=1e-2)
print("all right")
"""


@pytest.mark.parametrize("dtype", ["float16", "int16", "uint16", "int8", "uint8", "float32", "float64", "int32"])
def test_statements_where_registers_are_two_halves_and_none_is_for_masks(dtype):
    if "+avx2" not in llvm_run.host_cpu()[1].split(","):
        pytest.skip("the processor has no AVX2")
    root = Path(__file__).parents[1]
    own = {**os.environ, "EXPRTEN_CACHE": "0", "PYTHONPATH": os.pathsep.join([str(root), str(root / "jit")])}
    done = subprocess.run(
        [sys.executable, "-c", STATEMENTS, dtype], env=own, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0 and "all right" in done.stdout, done.stderr[-4000:]


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("many", [5, 9, 17])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int16", "uint8"])
def test_one_lane_that_is_left_is_stored_alone(dtype, many, bits, monkeypatch):
    """LLVM 22 stores it as wide as it was before it was narrowed."""
    own = llvm_run.machine()
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, vector_bits=256, waits=False))
    forget()
    kind = np.dtype(dtype) if dtype != "bfloat16" else pytest.importorskip("ml_dtypes").bfloat16
    values = (np.arange(15 * 55 * many) % 50).reshape(15, 55, many).astype(kind)
    made = place(np.ones((55, 15, many), kind))
    target, source = xt.asarray(made.array), xt.transpose(xt.asarray(values), (1, 0, 2))
    with xt.options(vector_bits=bits):
        target[...] = target + source
        target += source
    np.testing.assert_array_equal(made.array, 1 + 2 * values.transpose(1, 0, 2).astype("float32"))
    made.assert_untouched()
    forget()
