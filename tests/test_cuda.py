"""The CUDA text of kernels: what it reads like, and that it compiles."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from exprten_jit.backends.cuda_emit import Cuda, emit
from exprten_jit.dtypes import DTYPES
from exprten_jit.grid import program
from exprten_jit.ir import Leaf, Store, axis, load, size
from exprten_jit.kernel import Kernel

import exprten as xt
from exprten.assign import prepare
from exprten.modes import MODES

MULTIPROCESSORS = 132


def cuda_of(target: xt.Tensor, value: Any, req: str = "write") -> Cuda:
    """The CUDA text of a statement, as if its tensors lay on a GPU."""
    prepared = prepare(MODES[req], target, value)
    assert prepared is not None
    statement, launch = prepared
    sizes = dict(launch.arranged.sizes)
    return emit(program(launch.code.kernel, sizes, MULTIPROCESSORS, statement.direction), sizes)


def softmax(x: xt.Tensor) -> Any:
    e = xt.exp(x - xt.max(x, axis=1, keepdims=True))
    return e / xt.sum(e, axis=1, keepdims=True)


def test_update_text(golden: Callable[[str, str], None]) -> None:
    w, g = xt.zeros((64, 4096)), xt.zeros((64, 4096))
    golden("cuda_update.cu", cuda_of(w, w - 0.1 * (g + 0.01 * w)).text)


def test_text_of_what_lies_across(golden: Callable[[str, str], None]) -> None:
    x, out = xt.zeros((640, 480)), xt.zeros((480, 640))
    golden("cuda_across.cu", cuda_of(out, x.T * 2).text)


def test_softmax_text_is_one_launch(golden: Callable[[str, str], None]) -> None:
    x, out = xt.zeros((640, 4096)), xt.zeros((640, 4096))
    cuda = cuda_of(out, softmax(x))
    assert len(cuda.entries) == 1
    golden("cuda_softmax.cu", cuda.text)


@pytest.mark.parametrize(("n", "launches"), [(4096, 1), (1 << 20, 2)])
def test_a_long_sum_is_cut_into_parts(n: int, launches: int) -> None:
    assert len(cuda_of(xt.zeros(()), xt.zeros(n).sum()).entries) == launches


def test_indices_are_as_wide_as_they_must_be() -> None:
    few, many = xt.Tensor(8), xt.Tensor(1 << 31)
    texts = []
    for t in (few, many):
        a = xt.zeros(8)
        _, launch = prepare(MODES["write"], a, a + 1.0)  # type: ignore[misc]
        sizes = {name: t.size for name, _ in launch.arranged.sizes}
        texts.append(emit(program(launch.code.kernel, sizes, MULTIPROCESSORS), sizes).text)  # type: ignore[arg-type]
    assert "typedef int idx;" in texts[0]
    assert "typedef long long idx;" in texts[1]


def test_where_an_element_lies_that_data_say_has_64_bits() -> None:
    i, n = axis("i"), size("n")
    out, x, where = (
        Leaf(name, DTYPES[dtype]) for name, dtype in (("out", "float32"), ("x", "float32"), ("at", "int64"))
    )
    kernel = Kernel(((i, n),), (Store(out, i, load(x, load(where, 2 * i))),), (out, x, where), (n,), ())
    cuda = emit(program(kernel, {"n": 1000}, MULTIPROCESSORS), {"n": 1000})
    assert not cuda.wide
    assert re.search(r"= x\[at\[2 \* \w+\]\];", cuda.text)
    assert "(idx)at" not in cuda.text
