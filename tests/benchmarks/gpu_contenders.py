"""Who takes part in the GPU benchmark: each puts arrays on its device, gives steps, and gives arrays back."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from gpu_rows import B1, B2, ELEMENTWISE, EPS, ETA, LAM, MU, Arrays, Row

import exprten as xt

Step = Callable[[], Any]
Make = Callable[[dict[str, Any]], Step]  # of arrays on the device


class Exprten:
    """Statements of several lines are kernels."""

    name, on_gpu = "exprten", True
    lib = SimpleNamespace(
        exp=xt.exp, sqrt=xt.sqrt, sigmoid=xt.sigmoid, erf=xt.erf,
        rowmax=lambda x: xt.max(x, axis=1, keepdims=True), rowsum=lambda x: xt.sum(x, axis=1, keepdims=True),
        total=lambda x: xt.sum(x, axis=(0, 1), keepdims=True),
    )  # fmt: skip

    def __init__(self) -> None:
        self.device = xt.gpu(0)

    def put(self, arrays: Arrays) -> dict[str, Any]:
        return {name: xt.array(a, device=self.device) for name, a in arrays.items()}

    def ways(self, row: Row) -> dict[str, Make]:
        return {"exprten": lambda on: self._step(row, [on[name] for name in row.names])}

    def _step(self, row: Row, tensors: list[Any]) -> Step:
        if len(row.changes) == 1:
            return lambda: row.step(self.lib, *tensors)
        kernel = xt.kernel(_function(row, self.lib))
        return lambda: kernel(*tensors)

    def get(self, array: Any) -> np.ndarray:
        return array.numpy()


def _function(row: Row, lib: Any) -> Callable[..., None]:
    """The row's statements as a function of its arrays alone."""
    names, made = ", ".join(row.names), {"step": row.step, "lib": lib}
    exec(f"def {row.name}({names}): step(lib, {names})", made)
    return made[row.name]


class CuPy:
    """Plain, fused, and with its text given."""

    name, on_gpu = "cupy", True

    def __init__(self) -> None:
        self.cp = cp = importlib.import_module("cupy")
        special = importlib.import_module("cupyx.scipy.special")
        self.lib = SimpleNamespace(
            exp=cp.exp, sqrt=cp.sqrt, sigmoid=lambda x: 1 / (1 + cp.exp(-x)), erf=special.erf,
            rowmax=lambda x: x.max(1, keepdims=True), rowsum=lambda x: x.sum(1, keepdims=True), total=lambda x: x.sum(keepdims=True),
        )  # fmt: skip

    def put(self, arrays: Arrays) -> dict[str, Any]:
        return {name: self.cp.asarray(a) for name, a in arrays.items()}

    def ways(self, row: Row) -> dict[str, Make]:
        plain: dict[str, Make] = {"cupy": lambda on: self._called(_function(row, self.lib), row.names, on)}
        if row.name not in ELEMENTWISE:
            return plain
        return {**plain, "cupy.fuse": lambda on: self._called(self.cp.fuse()(_function(row, self.lib)), row.names, on),
                "cupy.ElementwiseKernel": lambda on: self._elementwise(row, on)}  # fmt: skip

    def _called(self, function: Callable[..., Any], names: Sequence[str], on: dict[str, Any]) -> Step:
        arrays = [on[name] for name in names]
        return lambda: function(*arrays)

    def _elementwise(self, row: Row, on: dict[str, Any]) -> Step:
        inputs, outputs, body, given, made = ELEMENTWISE[row.name]
        return self._called(self.cp.ElementwiseKernel(inputs, outputs, body, row.name), (*given, *made), on)

    def get(self, array: Any) -> np.ndarray:
        return self.cp.asnumpy(array)


class Torch:
    """Compiled, its own functions, its fused optimisers. On the CPU where nothing is timed and it has no GPU."""

    name = "torch"

    def __init__(self) -> None:
        self.torch = torch = importlib.import_module("torch")
        self.on_gpu = torch.cuda.is_available()
        self.device = "cuda" if self.on_gpu else "cpu"
        self.lib = SimpleNamespace(
            exp=torch.exp, sqrt=torch.sqrt, sigmoid=torch.sigmoid, erf=torch.erf,
            rowmax=lambda x: x.amax(1, keepdim=True), rowsum=lambda x: x.sum(1, keepdim=True), total=lambda x: x.sum((0, 1), keepdim=True),
        )  # fmt: skip

    def put(self, arrays: Arrays) -> dict[str, Any]:
        return {name: self.torch.from_numpy(a.copy()).to(self.device) for name, a in arrays.items()}

    def ways(self, row: Row) -> dict[str, Make]:
        found: dict[str, Make] = {"torch.compile": lambda on: self._compiled(row, [on[name] for name in row.names])}
        if row.name in ("softmax", "rowsum", "sum"):
            found["torch"] = lambda on: self._own(row.name, on["out"], on["x"])
        if row.name in ("sgd", "momentum", "adam"):
            found["torch fused"] = lambda on: self._optimiser(row.name, on)
        return found

    def _compiled(self, row: Row, arrays: list[Any]) -> Step:
        compiled = self.torch.compile(lambda *a: row.step(self.lib, *a), dynamic=False)
        return lambda: compiled(*arrays)

    def _own(self, name: str, out: Any, x: Any) -> Step:
        if name == "softmax":
            return lambda: self.torch.softmax(x, 1, out=out)
        return lambda: self.torch.sum(x, 1 if name == "rowsum" else (0, 1), keepdim=True, out=out)

    def _optimiser(self, name: str, on: dict[str, Any]) -> Step:
        """Its parameter and its state are ours. Adam's decay and its steps are its own, so its numbers are."""
        p = self.torch.nn.Parameter(on["w"])
        p.grad = on["g"]
        if name == "adam":
            return self.torch.optim.Adam([p], lr=ETA, betas=(B1, B2), eps=EPS, fused=True).step
        how = {"momentum": MU} if name == "momentum" else {}
        made = self.torch.optim.SGD([p], lr=ETA, weight_decay=LAM, fused=True, **how)
        if how:
            made.state[p]["momentum_buffer"] = on["m"]
        return made.step

    def get(self, array: Any) -> np.ndarray:
        return array.detach().cpu().numpy()


class Jax:
    """Jitted, its arguments donated. It has streams of its own, so it is timed by the host's clock, with many steps in flight."""

    name = "jax"

    def __init__(self) -> None:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the others need memory too
        self.jax = jax = importlib.import_module("jax")
        self.on_gpu = jax.devices()[0].platform == "gpu"
        jnp, special = jax.numpy, importlib.import_module("jax.scipy.special")
        self.lib = SimpleNamespace(
            exp=jnp.exp, sqrt=jnp.sqrt, sigmoid=jax.nn.sigmoid, erf=special.erf,
            rowmax=lambda x: x.max(1, keepdims=True), rowsum=lambda x: x.sum(1, keepdims=True), total=lambda x: x.sum(keepdims=True),
        )  # fmt: skip

    def put(self, arrays: Arrays) -> dict[str, Any]:
        return {name: self.jax.device_put(a) for name, a in arrays.items()}

    def ways(self, row: Row) -> dict[str, Make]:
        return {"jax": lambda on: self._jitted(row, on)}

    def _jitted(self, row: Row, on: dict[str, Any]) -> Step:
        donated = tuple(k for k, name in enumerate(row.names) if name in row.changes and name != "out")
        jitted = self.jax.jit(lambda *a: row.values(self.lib, *a), donate_argnums=donated)
        return lambda: on.update(zip(row.changes, jitted(*(on[name] for name in row.names)), strict=True))

    def wait(self, on: dict[str, Any]) -> None:
        self.jax.block_until_ready([*on.values()])

    def get(self, array: Any) -> np.ndarray:
        return np.asarray(array)


OWN_NUMBERS = {("adam", "torch fused")}  # bias corrections by the number of steps: not the row's
CONTENDERS = (Exprten, CuPy, Torch, Jax)
