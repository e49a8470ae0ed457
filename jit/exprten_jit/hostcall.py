"""How Python enters machine code: builtins made at run time, and ctypes where they are switched off.

A kernel takes one pointer to 8-byte words, and how many threads may work on it. `launch` is a real builtin function over machine code: it takes a kernel's address
and its words as `bytes`, so a call costs no argument conversion; ctypes does the same at ten times the price and stays as the
fallback (`EXPRTEN_CTYPES=1`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from .backends.llvm_run import compile_text

METH_FASTCALL = 0x80
_kept: list[Any] = []


def keep(*things: Any) -> None:
    """Let things live for ever: machine code holds their addresses, and at the end builtins go after all modules."""
    _kept.extend(things)
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class PyMethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def builtin(name: str, address: int) -> Callable[..., Any]:
    """A Python builtin over machine code with the signature `PyObject *(PyObject *self, PyObject **args, Py_ssize_t n)`."""
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    new.restype = ctypes.py_object
    definition = PyMethodDef(name.encode(), address, METH_FASTCALL, None)
    keep(definition)
    made: Callable[..., Any] = new(ctypes.addressof(definition), None, None)
    return made


def c_api(*names: str) -> dict[str, int]:
    """Addresses of functions of the Python C API."""
    return {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names}


# launch(address, words, release, threads): the interpreter lock is let go where `release` is true.
_LAUNCH = """
declare ptr @PyLong_AsVoidPtr(ptr)
declare ptr @PyBytes_AsString(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
@none = external global i8

define ptr @launch(ptr %self, ptr %args, i64 %n) {
entry:
  %o0 = load ptr, ptr %args
  %q1 = getelementptr ptr, ptr %args, i64 1
  %o1 = load ptr, ptr %q1
  %q2 = getelementptr ptr, ptr %args, i64 2
  %o2 = load ptr, ptr %q2
  %q3 = getelementptr ptr, ptr %args, i64 3
  %o3 = load ptr, ptr %q3
  %threads = call i64 @PyLong_AsLongLong(ptr %o3)
  %kernel = call ptr @PyLong_AsVoidPtr(ptr %o0)
  %words = call ptr @PyBytes_AsString(ptr %o1)
  %bad0 = icmp eq ptr %kernel, null
  %bad1 = icmp eq ptr %words, null
  %bad = or i1 %bad0, %bad1
  br i1 %bad, label %fail, label %ready
ready:
  %r = call i32 @PyObject_IsTrue(ptr %o2)
  %release = icmp sgt i32 %r, 0
  br i1 %release, label %free, label %held
free:
  %state = call ptr @PyEval_SaveThread()
  call void %kernel(ptr %words, i64 %threads)
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
held:
  call void %kernel(ptr %words, i64 %threads)
  br label %done
done:
  call void @Py_IncRef(ptr @none)
  ret ptr @none
fail:
  ret ptr null
}
"""


@cache
def launcher() -> Callable[[int, bytes, bool, int], None]:
    """The builtin `launch(address, words, release, threads)`: at most so many threads, 0 for as many as there are."""
    symbols = c_api(
        "PyLong_AsVoidPtr",
        "PyBytes_AsString",
        "PyObject_IsTrue",
        "PyLong_AsLongLong",
        "PyEval_SaveThread",
        "PyEval_RestoreThread",
        "Py_IncRef",
    )
    symbols["none"] = id(None)
    return builtin("launch", compile_text(_LAUNCH, ("launch",), symbols).address["launch"])


@cache
def _prototypes() -> tuple[Any, Any]:
    kinds = (None, ctypes.c_char_p, ctypes.c_int64)
    return ctypes.CFUNCTYPE(*kinds), ctypes.PYFUNCTYPE(*kinds)


def launch_ctypes(address: int, words: bytes, release: bool, threads: int) -> None:
    """The same call through ctypes."""
    without_lock, with_lock = _prototypes()
    (without_lock if release else with_lock)(address)(words, threads)
