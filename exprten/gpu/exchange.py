"""Memory of a GPU shared with other libraries: `__cuda_array_interface__` and DLPack, both ways, in the order of streams."""

from __future__ import annotations

from typing import Any

import numpy as np
from exprten_jit.dtypes import DType, of_numpy

from ..errors import DTypeError
from ..expression import shape as shapes
from ..expression.expr import late
from ..expression.key import dtype_row
from ..storage.buffer import Export, borrow
from ..storage.capsule import CPU, CUDA, Shared, capsule, taken
from ..storage.device import Stream, current_stream, gpu, order
from ..tensor import Tensor, handle, require_memory
from .driver import driver

_LEGACY = 1  # the default stream, where 0 would be ambiguous
_UNORDERED = -1  # DLPack: the consumer takes care of it


# From exprten.


def cuda_interface(t: Tensor) -> dict[str, Any]:
    """Version 3 of the CUDA array interface. Raises AttributeError on the CPU, and for bfloat16, which it has no name for."""
    if t.device.kind != "gpu" or t.key.dtype.like:
        raise AttributeError(f"a tensor of type {t.dtype} on {t.device} has no __cuda_array_interface__")
    require_memory(t, "__cuda_array_interface__")
    return {
        "data": (t.buffer.address + t.offset if t.size else 0, not t.writable),
        "shape": t.shape,
        "strides": None if t.is_contiguous else t.strides,
        "stream": t.buffer.stream.handle or _LEGACY,
        "typestr": t.dtype.str,
        "version": 3,
    }


def export(
    t: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """The DLPack capsule of a tensor on a GPU; the consumer's stream waits for it. Raises BufferError for what is not to be had."""
    wanted = t.__dlpack_device__() if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (CPU, 0) and copy is not False:
        return t.numpy().__dlpack__(**({} if max_version is None else {"max_version": max_version}))
    if wanted != t.__dlpack_device__():
        raise BufferError(f"__dlpack__: a tensor on {t.device} is no memory of DLPack's device {wanted} without a copy")
    if stream == 0:
        raise ValueError("__dlpack__: stream 0 is ambiguous; 1 is the default stream, 2 that of the thread")
    versioned = max_version is not None and max_version[0] >= 1
    if copy:
        t = late["transfer"](late["empty_like"](t), t)
    elif not t.writable and not versioned:
        raise BufferError("__dlpack__: the tensor is read-only, which only a capsule with a version can say")
    if stream != _UNORDERED:
        order(t.buffer.stream, Stream.here(_LEGACY if stream is None else stream, t.device))
    kept, at = Export(t.buffer, {}), t.buffer.address + t.offset
    shared = Shared(at, t.__dlpack_device__(), t.shape, t.layout.strides, t.key.dtype, not t.writable, kept, bool(copy))
    return capsule(shared, versioned)


# To exprten.


def on_cuda(obj: Any) -> bool:
    """Whether an object of another library says that it lies on a CUDA device."""
    if hasattr(obj, "__dlpack_device__"):
        return bool(obj.__dlpack_device__()[0] == CUDA)
    return hasattr(obj, "__cuda_array_interface__")


def adopt(obj: Any, operation: str = "asarray") -> Tensor:
    """A tensor on the memory of an object on a GPU, in the order of the current stream. Raises DTypeError for what exprten has not."""
    return _from_dlpack(obj, operation) if hasattr(obj, "__dlpack__") else _from_interface(obj, operation)


def _from_dlpack(obj: Any, operation: str) -> Tensor:
    device = gpu(obj.__dlpack_device__()[1])
    stream = current_stream(device)
    mine = stream.handle or _LEGACY
    try:
        given = obj.__dlpack__(stream=mine, max_version=(1, 0))
    except TypeError:  # an exporter from before versions
        given = obj.__dlpack__(stream=mine)
    x = taken(given, operation)
    nbytes = x.row.itemsize * int(np.prod(x.shape, dtype=np.int64))
    return _tensor(x.row, x.address, nbytes, x.shape, x.strides, x.owner, stream, x.readonly)


def _from_interface(obj: Any, operation: str) -> Tensor:
    facts = obj.__cuda_array_interface__
    dtype, shape = np.dtype(facts["typestr"]), tuple(facts["shape"])
    address, readonly = facts["data"]
    row = of_numpy(dtype)
    if row is None or facts.get("mask") is not None:
        dtype_row(dtype, operation)
        raise DTypeError(f"{operation}: exprten has no element type {dtype}, and no masks")
    size = row.itemsize
    steps = facts.get("strides") or tuple(s * size for s in shapes.packed_strides(shape))
    if address % size or any(s % size for s in steps):
        raise DTypeError(f"{operation}: {dtype} elements at strides {steps} are misaligned; copy them first")
    device = gpu(driver().device_of(address) if address else 0)
    stream, theirs = current_stream(device), facts.get("stream")
    if theirs is not None:
        order(Stream.here(theirs, device), stream)
    nbytes = size * int(np.prod(shape, dtype=np.int64))
    return _tensor(row, address, nbytes, shape, tuple(s // size for s in steps), obj, stream, readonly)


def _tensor(
    row: DType,
    address: int,
    nbytes: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    owner: object,
    stream: Stream,
    readonly: bool,
) -> Tensor:
    packed = shapes.packed_strides(shape)
    steps = tuple(p if n == 1 else s for n, s, p in zip(shape, strides, packed, strict=True))
    buffer = borrow(address, nbytes, owner, stream.device, readonly, stream)
    return handle(row, buffer, 0, shapes.layout(shapes.intern_shape(shape), steps), not readonly)


late |= {"cuda_interface": cuda_interface, "export": export, "on_cuda": on_cuda, "adopt": adopt}
