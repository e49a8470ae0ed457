"""Instances that are called as machine code: a class whose objects hold the address of the function behind the call.

The interpreter calls such an object without packing its arguments (PEP 590). The type is made with `PyType_FromSpecWithBases`,
from a Python class that says everything else: until an instance has an address, calling it is calling that class's `__call__`.
"""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

from .hostcall import keep
from .methods import works_here

DEFAULT, BASETYPE, HAVE_VECTORCALL = 1 << 18, 1 << 10, 1 << 11  # Py_TPFLAGS_*
TP_MEMBERS, T_PYSSIZET, READONLY = 72, 19, 1


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


T = TypeVar("T")


def callable_type(base: type[T]) -> type[T]:
    """A subclass of `base` whose instances may be given machine code with `redirect`; `base` itself where that does not work."""
    if not works_here():
        return base
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", T_PYSSIZET, base.__basicsize__, READONLY, None))
    slots = (_Slot * 2)(_Slot(TP_MEMBERS, ctypes.addressof(members)))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    spec = _Spec(name, base.__basicsize__ + 8, 0, DEFAULT | BASETYPE | HAVE_VECTORCALL, slots)
    keep(members, slots, spec)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.argtypes = [ctypes.c_void_p, ctypes.py_object]
    make.restype = ctypes.py_object
    made: type[T] = make(ctypes.addressof(spec), (base,))
    return made


def redirectable(instance: Any) -> bool:
    """Whether calls of an instance can be machine code."""
    return bool(type(instance).__flags__ & HAVE_VECTORCALL)


def redirect(instance: Any, address: int) -> None:
    """Let calls of an instance of a `callable_type` enter the function at `address`: (self, args, count, keyword names)."""
    _slot(instance).value = address


def redirected(instance: Any) -> int:
    """The address that calls of an instance enter; 0 where there is none yet."""
    return _slot(instance).value


def _slot(instance: Any) -> ctypes.c_size_t:
    assert redirectable(instance), "an instance of a callable type"
    return ctypes.c_size_t.from_address(id(instance) + type(instance).__basicsize__ - 8)
