"""Who runs a row: a table of what is called, and with which names.

Every contender works on the same memory, made by exprten: 64-byte aligned, the same pages for all.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import shutil
import subprocess
import tempfile
import timeit
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rows import Row

import exprten as xt

Tensors = Mapping[str, xt.Tensor]
GCC = ("gcc", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


@dataclass(frozen=True)
class Call:
    """A statement as text, with its names: timed as locals of a function, which is how a program would hold them."""

    text: str
    names: Mapping[str, Any]

    def timer(self) -> timeit.Timer:
        setup = "; ".join(f"{name} = names[{name!r}]" for name in self.names)
        return timeit.Timer(self.text, setup or "pass", globals={"names": self.names})


@dataclass(frozen=True)
class Contender:
    """`prepare` gives the call that runs a row on these tensors, or None where it has none; `missing` says why it cannot."""

    name: str
    prepare: Callable[[Row, Tensors], Call | None]
    missing: Callable[[], str] = lambda: ""


def arrays(tensors: Tensors) -> dict[str, np.ndarray]:
    """NumPy's views of the same memory."""
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def exprten_call(row: Row, tensors: Tensors) -> Call:
    return Call(row.statement, {**tensors, **row.scalars, **{name: getattr(xt, name) for name in row.functions}})


def numpy_call(row: Row, tensors: Tensors) -> Call:
    return Call(
        row.statement, {**arrays(tensors), **row.scalars, **{name: getattr(np, name) for name in row.functions}}
    )


def numpy_out_call(row: Row, tensors: Tensors) -> Call | None:
    """The temporaries t and u are allocated here, before the clock runs."""
    if row.functions:
        return None
    shape = tensors[row.target].shape
    names = {**arrays(tensors), **row.scalars, "t": np.zeros(shape, np.float32), "u": np.zeros(shape, np.float32)}
    return Call(row.chain, {**names, "add": np.add, "subtract": np.subtract, "multiply": np.multiply})


def numexpr_call(row: Row, tensors: Tensors) -> Call | None:
    """`re_evaluate` repeats the last `evaluate`, without parsing: a row's calls must be timed before the next row's is made."""
    if row.functions:
        return None
    import numexpr

    given = arrays(tensors)
    operands = {**given, **{name: np.float32(x) for name, x in {**row.scalars, **row.constants}.items()}}
    numexpr.evaluate(row.value, local_dict=operands, out=given[row.target])
    return Call("re_evaluate(operands)", {"re_evaluate": numexpr.re_evaluate, "operands": operands, "kept": given})


def numba_call(row: Row, tensors: Tensors) -> Call | None:
    if row.functions:
        return None
    loop = _numba_loop(row.element, row.axes, row.target, tuple(tensors), tuple(row.scalars), _items(row.constants))
    return Call(f"loop({', '.join([*tensors, *row.scalars])})", {"loop": loop, **arrays(tensors), **row.scalars})


@functools.cache
def _numba_loop(*row: Any) -> Callable[..., None]:
    import numba

    return numba.njit(python_loop(*row))


def python_loop(
    element: str,
    axes: int,
    target: str,
    operands: tuple[str, ...],
    scalars: tuple[str, ...],
    constants: tuple[tuple[str, float], ...],
) -> Callable[..., None]:
    """The function that one would write for Numba. Its scalars become float32 inside: passing np.float32 costs 90 ns a call."""
    lines = [f"def loop({', '.join([*operands, *scalars])}):"]
    lines += [f"    {name} = float32({name})" for name in scalars]
    lines += [f"{'    ' * (k + 1)}for {'ij'[k]} in range({target}.shape[{k}]):" for k in range(axes)]
    lines += [f"{'    ' * (axes + 1)}{element}"]
    names: dict[str, Any] = {"float32": np.float32, **{name: np.float32(x) for name, x in constants}}
    exec("\n".join(lines), names)
    return names["loop"]


def c_call(row: Row, tensors: Tensors) -> Call | None:
    """A call through ctypes with arguments built beforehand: up to 1,000 elements its time is the price of that call."""
    if row.axes != 1:
        return None
    given = [ctypes.c_void_p(array.ctypes.data) for array in arrays(tensors).values()]
    given += [ctypes.c_size_t(tensors[row.target].size), *map(ctypes.c_float, row.scalars.values())]
    names = {f"x{k}": argument for k, argument in enumerate(given)}
    loop = _c_loop(row.element, tuple(tensors), tuple(row.scalars), _items(row.constants))
    return Call(f"loop({', '.join(names)})", {"loop": loop, **names, "kept": tensors})


@functools.cache
def _c_loop(
    element: str, operands: tuple[str, ...], scalars: tuple[str, ...], constants: tuple[tuple[str, float], ...]
) -> Callable[..., None]:
    parameters = [*(f"float *restrict {name}" for name in operands), "size_t n", *(f"float {name}" for name in scalars)]
    lines = ["#include <stddef.h>", *(f"static const float {name} = {x};" for name, x in constants)]
    lines += [f"void loop({', '.join(parameters)})", "{", f"    for (size_t i = 0; i < n; i++) {element};", "}"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        source.write_text("\n".join(lines), encoding="ascii")
        subprocess.run([*GCC, "-o", library, source], check=True)
        loop = ctypes.PyDLL(str(library)).loop  # PyDLL keeps the interpreter lock: the cheaper call
    loop.restype = None
    return loop


def _items(values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(values.items())


def _no_module(name: str) -> str:
    try:
        importlib.import_module(name)
    except ImportError as error:
        return f"{name} cannot be imported: {error}"
    return ""


def _no_gcc() -> str:
    return "" if shutil.which(GCC[0]) else f"{GCC[0]} is not on the path"


# exprten is first: the others' times are given as multiples of its.
CONTENDERS = (
    Contender("exprten", exprten_call),
    Contender("numpy", numpy_call),
    Contender("numpy out=", numpy_out_call),
    Contender("numexpr", numexpr_call, lambda: _no_module("numexpr")),
    Contender("numba", numba_call, lambda: _no_module("numba")),
    Contender("C", c_call, _no_gcc),
)
