"""Tensors from nothing, from values, and from memory of others."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from exprten_jit.dtypes import of_numpy

from .errors import DeviceError, DTypeError, FreedSpaceError, ShapeError
from .expression import expr
from .expression import shape as shapes
from .expression.expr import Expr, Iota
from .expression.key import dtype_row
from .expression.number import is_number
from .gpu.exchange import adopt, on_cuda
from .gpu.transfer import transfer
from .storage.buffer import NO_MEMORY, allocate, allocate_host, borrow
from .storage.capsule import CPU, CUDA_HOST
from .storage.device import Device, cpu
from .storage.dlpack import imported
from .tensor import Tensor, handle, new, rows_of, show, space


def alloc_space(t: Tensor, pad: bool = False) -> Tensor:
    """Give a handle its memory, uninitialised and 64-byte aligned; `pad` starts every row at a multiple of 64 bytes. On a GPU both
    are 256, and the memory is of the stream that is current. Raises FreedSpaceError where it has memory already. (mshadow AllocSpace)
    """
    _require_tensor(t, "alloc_space")
    if t.buffer is not NO_MEMORY:
        state = "has memory already" if t.buffer.address else "was freed; make a new handle"
        raise FreedSpaceError(f"alloc_space: the tensor of shape {t.shape} and type {t.dtype} {state}")
    made = new(t.shape, t.key.dtype, t.device, pad)
    t.layout, t.buffer, t.offset = made.layout, made.buffer, made.offset
    return t


def free_space(t: Tensor) -> None:
    """Free the memory behind a tensor, for every handle on it. Raises FreedSpaceError the second time, BufferError while a
    NumPy or DLPack view of it lives. (mshadow FreeSpace)
    """
    _require_tensor(t, "free_space")
    t.buffer.free()


def _require_tensor(t: Any, operation: str) -> None:
    if not isinstance(t, Tensor):
        raise TypeError(f"{operation}: a {type(t).__name__} is no tensor")


def empty(shape: Any, dtype: Any = np.float32, device: Device | None = None, pad: bool = False) -> Tensor:
    """A tensor with uninitialised memory."""
    return _empty("empty", shape, dtype, device, pad)


def _empty(operation: str, shape: Any, dtype: Any, device: Device | None, pad: bool) -> Tensor:
    return new(shapes.shape_of(shape, operation), dtype_row(dtype, operation), device or cpu(), pad)


def alloc_host(shape: Any, dtype: Any = np.float32) -> Tensor:
    """A tensor of the CPU with uninitialised page-locked memory: a GPU copies from it and to it by itself, so `xt.copy` from it does
    not wait. Raises DeviceError where there is no GPU.
    """
    row = dtype_row(dtype, "alloc_host")
    layout = rows_of(shapes.shape_of(shape, "alloc_host"), row, cpu(), pad=False)
    return handle(row, allocate_host(space(layout, row)), 0, layout, True)


def full(shape: Any, value: Any, dtype: Any = None, device: Device | None = None, pad: bool = False) -> Tensor:
    """A tensor filled with a number; its type is the number's where `dtype` is not given: float32, int64, bool or NumPy's."""
    return _assigned(_empty("full", shape, _type_of(value) if dtype is None else dtype, device, pad), value)


def zeros(shape: Any, dtype: Any = np.float32, device: Device | None = None, pad: bool = False) -> Tensor:
    """A tensor of zeros."""
    if device is None or device is cpu():
        return new(shapes.shape_of(shape, "zeros"), dtype_row(dtype, "zeros"), cpu(), pad, zeroed=True)
    return _filled("zeros", shape, 0, dtype, device, pad)


def ones(shape: Any, dtype: Any = np.float32, device: Device | None = None, pad: bool = False) -> Tensor:
    """A tensor of ones."""
    return _filled("ones", shape, 1, dtype, device, pad)


def _filled(operation: str, shape: Any, value: Any, dtype: Any, device: Device | None, pad: bool) -> Tensor:
    t = _empty(operation, shape, dtype, device, pad)
    return _assigned(t, t.key.dtype.numpy.type(value))


def _assigned(t: Tensor, value: Any) -> Tensor:
    t[...] = value
    return t


def new_tensor(
    shape: Any, init: Any = 0.0, dtype: Any = np.float32, device: Device | None = None, pad: bool = False
) -> Tensor:
    """A tensor filled with `init`, converted to `dtype`. (mshadow NewTensor)"""
    return _filled("new_tensor", shape, init, dtype, device, pad)


def empty_like(x: Expr, dtype: Any = None) -> Tensor:
    """A tensor with uninitialised memory and the shape, type and device of `x`."""
    return empty(x.shape, x.dtype if dtype is None else dtype, x.device)


def zeros_like(x: Expr, dtype: Any = None) -> Tensor:
    """A tensor of zeros with the shape, type and device of `x`."""
    return zeros(x.shape, x.dtype if dtype is None else dtype, x.device)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, device: Device | None = None) -> Tensor:
    """The numbers from `start` below `stop`, `step` apart; int64 for Python ints, else float32."""
    if stop is None:
        start, stop = type(start)(0), start
    given = dtype if dtype is not None else _type_of(start + stop + step)
    row = dtype_row(given, "arange")
    if step == 0:
        raise ValueError("arange: step is 0")
    span = (stop - start) / step
    if not np.isfinite(span):
        raise ValueError(f"arange: from {start} to {stop} by {step} is no number of elements")
    count = max(0, int(np.ceil(span)))
    t = new((count,), row, device or cpu())
    k = Iota((count,), 0, t.device)
    wide = expr.cast(k, np.float64) if row.kind in "fc" else k
    return _assigned(t, expr.cast(wide * step + start, row.numpy))


def array(obj: Any, dtype: Any = None, device: Device | None = None, pad: bool = False) -> Tensor:
    """A tensor with a copy of the values of anything that NumPy can make an array of. Python floats become float32, complex numbers
    complex64, Python ints int64; NumPy objects keep their type.
    """
    if isinstance(obj, Expr):
        t = _empty("array", obj.shape, obj.dtype if dtype is None else dtype, device, pad)
        if isinstance(obj, Tensor) or obj.device is not t.device:
            return transfer(t, obj if isinstance(obj, Tensor) else evaluate(obj))
        return _assigned(t, obj)
    source = np.asarray(obj)
    if dtype is None:
        plain = not isinstance(obj, np.ndarray | np.generic)
        narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
        dtype = narrow.get(source.dtype, source.dtype) if plain else source.dtype
    row = dtype_row(dtype, "array")
    dtype_row(source.dtype.newbyteorder("="), "array")
    if source.dtype == np.int64 and row.kind in "iu" and not isinstance(obj, np.ndarray | np.generic):
        source = np.asarray(obj, row.numpy)  # Python ints: NumPy checks their range
    if not np.can_cast(source.dtype, row.numpy, "same_kind"):
        raise DTypeError(
            f"array: values of type {source.dtype} are not {row} (same-kind rule); convert them with np.asarray(x, {row})"
        )
    t = new(shapes.intern_shape(source.shape), row, device or cpu(), pad)
    if t.device.kind == "gpu":
        return transfer(t, _adopt(np.asarray(source, row.numpy, order="C")))
    t.numpy()[...] = source
    return t


def asarray(obj: Any) -> Tensor:
    """A tensor on the memory of a NumPy array, a CuPy array, a DLPack exporter or a buffer: nothing is copied, and `obj` is kept
    alive. Memory on a GPU is of the stream that is current, which waits for the exporter's.

    Raises DTypeError for element types exprten does not have, foreign byte order and misaligned memory, DeviceError for memory on
    a device that is neither a CPU nor a CUDA device.
    """
    if isinstance(obj, Tensor):
        return obj
    if on_cuda(obj):
        return adopt(obj)
    if hasattr(obj, "__dlpack_device__") and obj.__dlpack_device__()[0] not in (CPU, CUDA_HOST):
        raise DeviceError(f"asarray: a {type(obj).__name__} lies on DLPack's device {tuple(obj.__dlpack_device__())}")
    if isinstance(obj, np.ndarray):
        return _adopt(obj)
    if hasattr(obj, "__dlpack__"):
        return _adopt(imported(obj))
    if hasattr(obj, "__array_interface__"):
        return _adopt(np.asarray(obj))
    try:
        view = memoryview(obj)
    except TypeError:
        raise TypeError(f"asarray: a {type(obj).__name__} has no memory to share; copy it with xt.array(...)") from None
    return _adopt(np.asarray(view))


def _adopt(a: np.ndarray[Any, Any], operation: str = "asarray") -> Tensor:
    row = of_numpy(a.dtype)
    if row is None:
        dtype_row(a.dtype, operation)
        raise DTypeError(f"{operation}: exprten has no element type {a.dtype}")
    flags, itemsize = a.flags, row.itemsize
    if flags.c_contiguous and flags.aligned and flags.writeable and a.size and a.dtype.kind != "V":
        start = ctypes.addressof(ctypes.c_char.from_buffer(a.data))  # a quarter of what the array interface takes
        return handle(
            row, borrow(start, a.nbytes, a, cpu(), False), 0, shapes.packed(shapes.intern_shape(a.shape)), True
        )
    if not flags.aligned or any(s % itemsize for n, s in zip(a.shape, a.strides, strict=True) if n > 1):
        raise DTypeError(
            f"{operation}: {a.dtype} elements at strides {a.strides} are misaligned; copy them with np.ascontiguousarray(x, {a.dtype})"
        )
    strides = tuple(s // itemsize if n > 1 else 0 for n, s in zip(a.shape, a.strides, strict=True))
    packed = shapes.packed_strides(a.shape)
    strides = tuple(p if n == 1 else s for n, s, p in zip(a.shape, strides, packed, strict=True))
    layout = shapes.layout(a.shape, strides)
    address = a.__array_interface__["data"][0]
    owned = borrow(address, a.nbytes, a, cpu(), readonly=not a.flags.writeable)
    return handle(row, owned, 0, layout, a.flags.writeable)


def copy(dst: Any, src: Any) -> Any:
    """Copy the elements of `src` to `dst`, between tensors and arrays of one shape, on any devices; types as in an assignment. To the
    host it waits; to a GPU it goes on, in the order of the target's stream. Raises ShapeError where shapes differ.
    """
    into, out_of = asarray(dst), asarray(src)
    if into.shape != out_of.shape:
        raise ShapeError(f"copy: shapes {into.shape} and {out_of.shape} differ")
    transfer(into, out_of)
    return dst


def evaluate(e: Any, dtype: Any = None, pad: bool = False) -> Tensor:
    """The elements of an expression in new memory: the one allocation that a statement can ask for."""
    value = expr.as_expr(expr.coerce(e, "evaluate"))
    if isinstance(value, expr.Scalar) and is_number(value.value):
        value.value.refuse("the value")
    row = value.key.dtype if dtype is None else dtype_row(dtype, "evaluate")
    return _assigned(new(value.shape, row, value.device, pad), value)


def _type_of(value: Any) -> Any:
    """The type of a tensor made from a number."""
    if isinstance(value, np.generic):
        return value.dtype
    kinds = {bool: np.bool_, int: np.int64, complex: np.complex64}
    return next((dtype for kind, dtype in kinds.items() if isinstance(value, kind)), np.float32)


class TensorContainer(Tensor):
    """A tensor that owns its memory, can be resized, and frees it at the end of a `with` block. (mshadow TensorContainer)

    >>> with TensorContainer((2, 3), 1.0) as t:
    ...     t.resize((4, 5))
    ...     t.shape
    (4, 5)
    """

    __slots__ = ("pad",)

    def __init__(
        self,
        shape: Any = (0,),
        init: Any = None,
        dtype: Any = np.float32,
        device: Device | None = None,
        pad: bool = False,
    ) -> None:
        super().__init__(shape, dtype, device)
        self.pad = pad
        alloc_space(self, pad)
        if init is not None:
            _assigned(self, self.key.dtype.numpy.type(init))

    def resize(self, shape: Any, init: Any = None) -> None:
        """Another shape; the elements are not kept. Memory that is large enough is used again. Raises BufferError while a view of
        the memory is exported or a kernel runs on it.
        """
        wanted = shapes.shape_of(shape, "resize")
        self.buffer.check_unused("resize")
        row = self.key.dtype
        layout = rows_of(wanted, row, self.device, self.pad)
        if self.buffer.address == 0 or space(layout, row) > self.buffer.nbytes:
            self.buffer = allocate(space(layout, row), self.device)
            self.offset = 0
        show(self, layout)
        if init is not None:
            _assigned(self, row.numpy.type(init))

    def release(self) -> None:
        """Free the memory; the shape becomes (0,). `resize` gives memory again."""
        if self.buffer.address:
            self.buffer.free()
        show(self, rows_of(shapes.intern_shape((0,)), self.key.dtype, self.device, self.pad))

    def __enter__(self) -> TensorContainer:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


expr.late |= {"array": array, "borrow": _adopt, "empty_like": empty_like, "evaluate": evaluate}
