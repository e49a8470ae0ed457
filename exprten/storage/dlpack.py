"""DLPack with element types that NumPy does not exchange: they go through it as integers, and the capsule says what they are.

The layout of a capsule is that of dlpack.h: a `DLTensor`, behind a header where the capsule has a version.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from exprten_jit.dtypes import ROWS, DType

_HEADER = {b"dltensor": 0, b"dltensor_versioned": 32}  # bytes in front of the DLTensor
_CODE = 20  # of the element type, in a DLTensor: behind an address, a device and the number of axes
_UNSIGNED = 1  # kDLUInt
_OWN = {row.dlpack: row for row in ROWS if row.dlpack}


def exported(array: np.ndarray[Any, Any], row: DType, how: Mapping[str, Any]) -> Any:
    """The DLPack capsule of an array, made as `how` says."""
    if not row.dlpack:
        return array.__dlpack__(**how)
    capsule = array.view(f"u{row.itemsize}").__dlpack__(**how)
    _code(capsule).value = row.dlpack
    return capsule


def imported(obj: Any) -> np.ndarray[Any, Any]:
    """An array on the memory of a DLPack exporter."""
    try:
        return np.from_dlpack(obj)
    except (BufferError, RuntimeError):  # NumPy has no such type
        capsule = _capsule(obj)
        code = _code(capsule)
        row = _OWN.get(code.value)
        if row is None:
            raise
        code.value = _UNSIGNED
        return np.from_dlpack(_Capsule(capsule, obj.__dlpack_device__())).view(row.numpy)


def _capsule(obj: Any) -> Any:
    """With a version where the exporter knows of it: without one NumPy takes the memory as read-only."""
    try:
        return obj.__dlpack__(max_version=(1, 0))
    except TypeError:
        return obj.__dlpack__()


class _Capsule:
    """An exporter of one capsule."""

    def __init__(self, capsule: Any, device: tuple[int, int]) -> None:
        self._capsule = capsule
        self._device = device

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device


def _code(capsule: Any) -> ctypes.c_uint8:
    """The code of the element type, in the memory behind a capsule."""
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = name(capsule)
    return ctypes.c_uint8.from_address(pointer(capsule, kind) + _HEADER[kind] + _CODE)
