"""DLPack capsules, made and taken apart: dlpack.h in ctypes. For memory that NumPy, which does this for the CPU, cannot see."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from math import prod
from typing import Any

from exprten_jit.dtypes import ROWS, DType

from ..errors import DTypeError

CPU, CUDA, CUDA_HOST = 1, 2, 3  # kDLCPU, kDLCUDA, kDLCUDAHost
DEVICES = {"cpu": CPU, "gpu": CUDA}
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_READONLY, _COPIED = 1, 2  # flags


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("index", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


_PLAIN, _VERSIONED = b"dltensor", b"dltensor_versioned"  # a capsule keeps the address of its name only, so these stay
_KINDS: dict[bytes, type[_Managed | _Versioned]] = {_PLAIN: _Managed, _VERSIONED: _Versioned}
_USED = {_PLAIN: b"used_dltensor", _VERSIONED: b"used_dltensor_versioned"}

# Prototypes of our own: a capsule that dies is no object any more and goes by its address.
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_exported: dict[int, tuple[Any, ...]] = {}  # what a capsule's memory consists of, until its consumer is done


def _consumed(pointer: int) -> None:
    """The consumer is done."""
    _exported.pop(pointer, None)


def _died(capsule: int) -> None:
    """The capsule is gone: where nobody took what was in it, that goes too."""
    for name in _KINDS:
        if _is_valid(capsule, name):
            _exported.pop(_pointer(capsule, name), None)


_delete, _capsule_died = _DELETER(_consumed), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_died)


@dataclass(frozen=True)
class Shared:
    """A tensor in a capsule: `strides` in elements; `owner` keeps the memory."""

    address: int
    device: tuple[int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    row: DType
    readonly: bool
    owner: object
    copied: bool = False


def capsule(x: Shared, versioned: bool) -> Any:
    """A capsule; with a version it says what is read-only."""
    ndim = len(x.shape)
    shape, strides = (ctypes.c_int64 * ndim)(*x.shape), (ctypes.c_int64 * ndim)(*x.strides)
    code = x.row.dlpack or _CODES[x.row.kind]
    tensor = _Tensor(x.address, *x.device, ndim, code, 8 * x.row.itemsize, 1, shape, strides, 0)
    deleter = ctypes.cast(_delete, ctypes.c_void_p)
    flags = _READONLY * x.readonly | _COPIED * x.copied
    made = _Versioned(1, 0, None, deleter, flags, tensor) if versioned else _Managed(tensor, None, deleter)
    pointer = ctypes.addressof(made)
    _exported[pointer] = (made, shape, strides, x.owner)
    return _new(pointer, _VERSIONED if versioned else _PLAIN, ctypes.cast(_capsule_died, ctypes.c_void_p))


class _Owner:
    """Memory of an exporter, who is told when nobody uses it any more."""

    def __init__(self, pointer: int, deleter: int | None) -> None:
        self._pointer, self._deleter = pointer, deleter

    def __del__(self) -> None:
        if self._deleter:
            _DELETER(self._deleter)(self._pointer)


def taken(from_: Any, operation: str) -> Shared:
    """What is in a capsule; it is used up. Raises DTypeError for element types that exprten does not have."""
    name = _name(from_)
    kind = _KINDS.get(name)
    if kind is None:
        raise BufferError(f"{operation}: the DLPack capsule is named {name!r}; it was used already")
    pointer = _pointer(id(from_), name)
    made = kind.from_address(pointer)
    t = made.tensor
    row = _rows.get((t.code, t.bits)) if t.lanes == 1 else None
    if row is None:
        raise DTypeError(f"{operation}: exprten has no element type of DLPack's code {t.code} with {t.bits} bits")
    shape = tuple(t.shape[k] for k in range(t.ndim))
    packed = tuple(prod(shape[k + 1 :]) for k in range(t.ndim))
    strides = tuple(t.strides[k] for k in range(t.ndim)) if t.strides else packed
    _rename(from_, _USED[name])
    readonly = isinstance(made, _Versioned) and bool(made.flags & _READONLY)
    address = (t.data or 0) + t.offset
    return Shared(address, (t.device, t.index), shape, strides, row, readonly, _Owner(pointer, made.deleter))


_rows = {(row.dlpack or _CODES[row.kind], 8 * row.itemsize): row for row in ROWS}
