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

import loops
import numpy as np
from rows import Row, fill

import exprten as xt

Tensors = Mapping[str, xt.Tensor]
GCC = ("gcc", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")
FOLDING = (*GCC, "-ffast-math")  # without it a fold is one addition after the other


@dataclass(frozen=True)
class Call:
    """A statement as text, with its names: timed as locals of a function, which is how a program would hold them."""

    text: str
    names: Mapping[str, Any]
    result: Callable[[], np.ndarray] | None = None  # what came out, if not in the tensors

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
    """Scalars are of the row's type: to NumPy a type of somebody else's is no match for a Python float."""
    one = tensors[row.target].dtype.type if row.narrow else float
    scalars = {name: one(x) for name, x in row.scalars.items()}
    return Call(row.statement, {**arrays(tensors), **scalars, **{name: getattr(np, name) for name in row.functions}})


def numpy_out_call(row: Row, tensors: Tensors) -> Call | None:
    """The temporaries t and u are allocated here, before the clock runs."""
    if row.functions or row.narrow:
        return None
    shape = tensors[row.target].shape
    names = {**arrays(tensors), **row.scalars, "t": np.zeros(shape, np.float32), "u": np.zeros(shape, np.float32)}
    return Call(row.chain, {**names, "add": np.add, "subtract": np.subtract, "multiply": np.multiply})


def numexpr_call(row: Row, tensors: Tensors) -> Call | None:
    """`re_evaluate` repeats the last `evaluate`, without parsing: a row's calls must be timed before the next row's is made."""
    if row.functions or row.narrow:
        return None
    import numexpr

    given = arrays(tensors)
    operands = {**given, **{name: np.float32(x) for name, x in {**row.scalars, **row.constants}.items()}}
    numexpr.evaluate(row.value, local_dict=operands, out=given[row.target])
    return Call("re_evaluate(operands)", {"re_evaluate": numexpr.re_evaluate, "operands": operands, "kept": given})


def numba_call(row: Row, tensors: Tensors) -> Call | None:
    if row.name in loops.PYTHON:
        return Call("loop(o, a)", {"loop": _numba_fold(row.name), **arrays(tensors)})
    if row.functions or row.narrow:
        return None
    loop = _numba_loop(row.element, row.axes, row.target, tuple(tensors), tuple(row.scalars), _items(row.constants))
    return Call(f"loop({', '.join([*tensors, *row.scalars])})", {"loop": loop, **arrays(tensors), **row.scalars})


@functools.cache
def _numba_loop(*row: Any) -> Callable[..., None]:
    import numba

    return numba.njit(python_loop(*row))


@functools.cache
def _numba_fold(name: str) -> Callable[..., None]:
    import numba

    names: dict[str, Any] = {"np": np, "zero": np.float32(0), "one": np.float32(1), "eps": np.float32(1e-5)}
    exec("\n".join(["def loop(o, a):", *(f"    {line}" for line in loops.PYTHON[name])]), names)
    return numba.njit(fastmath=True)(names["loop"])


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
    given = [ctypes.c_void_p(array.ctypes.data) for array in arrays(tensors).values()]
    if row.name in loops.C:
        given += map(ctypes.c_size_t, tensors["a"].shape)
        body = loops.C[row.name]
        loop = _compiled(
            f"void loop(float *restrict o, const float *restrict a, size_t n, size_t m) {{ {body} }}", FOLDING
        )
    elif row.axes == 1 and not row.narrow:
        given += [ctypes.c_size_t(tensors[row.target].size), *map(ctypes.c_float, row.scalars.values())]
        loop = _compiled(_c_loop(row, tuple(tensors)), GCC)
    else:
        return None
    names = {f"x{k}": argument for k, argument in enumerate(given)}
    return Call(f"loop({', '.join(names)})", {"loop": loop, **names, "kept": tensors})


def _c_loop(row: Row, operands: tuple[str, ...]) -> str:
    arrays = [f"float *restrict {name}" for name in operands]
    parameters = [*arrays, "size_t n", *(f"float {name}" for name in row.scalars)]
    lines = [f"static const float {name} = {x};" for name, x in row.constants.items()]
    lines += [f"void loop({', '.join(parameters)})", "{", f"    for (size_t i = 0; i < n; i++) {row.element};", "}"]
    return "\n".join(lines)


@functools.cache
def _compiled(text: str, command: tuple[str, ...]) -> Callable[..., None]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, library = Path(folder, "loop.c"), Path(folder, "loop.so")
        source.write_text(f"#include <stddef.h>\n#include <math.h>\n{text}\n", encoding="ascii")
        subprocess.run([*command, "-o", library, source, "-lm"], check=True)
        loop = ctypes.PyDLL(str(library)).loop  # PyDLL keeps the interpreter lock: the cheaper call
    loop.restype = None
    return loop


def _items(values: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(values.items())


def torch_call(row: Row, tensors: Tensors) -> Call | None:
    """Eager: a fold's value is a new tensor each time, everything else is stored where it belongs."""
    import torch

    views = {name: torch.from_dlpack(tensor) for name, tensor in tensors.items()}
    if not row.functions:
        return Call(row.statement, {**views, **row.scalars})
    kept: dict[str, Any] = {}
    names = {"torch": torch, "kept": kept, **views}
    return Call(f"kept['o'] = {row.torch}", names, lambda: np.asarray(kept["o"]))


def torch_compiled_call(row: Row, tensors: Tensors) -> Call | None:
    import torch

    torch._dynamo.config.cache_size_limit = 64
    views = {name: torch.from_dlpack(tensor) for name, tensor in tensors.items()}
    kept: dict[str, Any] = {}
    if row.functions:
        operands = ", ".join(name for name in views if name != row.target)
        function = torch.compile(eval(f"lambda {operands}: {row.torch}", {"torch": torch}), dynamic=False)
        names = {"f": function, "kept": kept, **views}
        return Call(f"kept['o'] = f({operands})", names, lambda: np.asarray(kept["o"]))
    given = [*views, *row.scalars]
    lines = [f"def f({', '.join(given)}):", f"    {row.statement}"]
    found: dict[str, Any] = {}
    exec("\n".join(lines), found)
    return Call(f"f({', '.join(given)})", {"f": torch.compile(found["f"], dynamic=False), **views, **row.scalars})


def jax_call(row: Row, tensors: Tensors) -> Call | None:
    """Compiled by `jax.jit`; JAX stores into no memory of others, so the result is a new array each time."""
    import jax
    from jax import numpy as jnp

    operands = {name: array for name, array in arrays(tensors).items() if row.functions == () or name != row.target}
    kept: dict[str, Any] = {}
    given = [*operands, *row.scalars]
    names = {"jax": jax, "jnp": jnp, **{name: np.float32(x) for name, x in row.constants.items()}}
    function = jax.jit(eval(f"lambda {', '.join(given)}: {row.jax or row.value}", names))
    fill(tensors)  # another contender's preparation may have stored something
    arguments = {name: jnp.array(array) for name, array in operands.items()}
    arguments |= {name: np.float32(x) for name, x in row.scalars.items()}
    text = f"kept['o'] = f({', '.join(given)}).block_until_ready()"
    return Call(text, {"f": function, "kept": kept, **arguments}, lambda: np.asarray(kept["o"]))


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
    Contender("torch", torch_call, lambda: _no_module("torch")),
    Contender("torch.compile", torch_compiled_call, lambda: _no_module("torch")),
    Contender("jax", jax_call, lambda: _no_module("jax")),
)
