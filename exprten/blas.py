"""Who multiplies matrices: SciPy's pointers to BLAS, NumPy's own OpenBLAS, or nobody but us. Found when the first product is assigned.

A routine is an address and the width of its integers; every argument is a pointer, as Fortran has it.
"""

from __future__ import annotations

import ctypes
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from exprten_jit.threads import default_threads

from .errors import CompileError

PROVIDERS = ("scipy", "numpy", "own")
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_ROUTINES = ("gemm", "gemv")
_THREADS = ("get_num_threads", "set_num_threads")
_FOLDERS = ("{0}.libs", "{0}/.dylibs", "{0}/.libs")  # where wheels keep libraries, beside the package and inside of it


@dataclass(frozen=True)
class Provider:
    """A BLAS: its name, the LLVM type of its integers, the address of each routine for each element type, and what tells and what
    sets how many threads it uses.
    """

    name: str
    integer: str
    address: Mapping[tuple[str, str], int]
    get_threads: Any  # functions of ctypes, or None
    set_threads: Any

    def __post_init__(self) -> None:
        if self.set_threads is not None and os.environ.get("EXPRTEN_NUM_THREADS"):
            self.set_threads(default_threads())

    @property
    def threads(self) -> tuple[int, int] | None:
        """The addresses of both."""
        if self.get_threads is None or self.set_threads is None:
            return None
        get, set_ = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (self.get_threads, self.set_threads))
        return get, set_


def provider(wanted: str | None) -> Provider | None:
    """The BLAS of that name; None: the first there is, in the order of PROVIDERS. No BLAS: our own kernel does it all.
    Raises CompileError where the one asked for is not here.
    """
    if wanted == "own":
        return None
    if wanted is None:
        return _scipy() or _numpy()
    found = _scipy() if wanted == "scipy" else _numpy()
    if found is None:
        raise CompileError(
            f"dot: options ask for blas={wanted!r}, which is not on this machine; install exprten[blas] for SciPy's, or choose "
            f"another of {', '.join(PROVIDERS)}"
        )
    return found


def available() -> list[str]:
    """Who can multiply on this machine, the first choice first."""
    return [name for name, found in (("scipy", _scipy()), ("numpy", _numpy())) if found is not None] + ["own"]


def bound_threads(most: int) -> tuple[str, ...]:
    """Let every BLAS use `most` threads from now on, in the whole process. Returns the names of those that say how."""
    bounded = [found for found in (_scipy(), _numpy()) if found is not None and found.set_threads is not None]
    for found in bounded:
        found.set_threads(most)
    return tuple(found.name for found in bounded)


@cache
def _scipy() -> Provider | None:
    try:
        capsules: dict[str, Any] = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
    except ImportError:
        return None
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = {
        (routine, dtype): pointer(capsules[letter + routine], name(capsules[letter + routine]))
        for routine in _ROUTINES
        for dtype, letter in LETTERS.items()
    }
    scipy = importlib.import_module("scipy")
    libraries = _libraries(str(scipy.__file__))
    functions = (next(filter(None, (_function(x, what) for x in libraries)), None) for what in _THREADS)
    return Provider("scipy", "i32", found, *functions)


@cache
def _numpy() -> Provider | None:
    for library in _libraries(str(np.__file__)):
        for prefix, suffix, integer in (("scipy_", "_64_", "i64"), ("", "_64_", "i64"), ("scipy_", "_", "i32")):
            names = {(r, t): f"{prefix}{s}{r}{suffix}" for r in _ROUTINES for t, s in LETTERS.items()}
            if all(hasattr(library, n) for n in names.values()):
                found = {k: ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for k, n in names.items()}
                return Provider("numpy", integer, found, *(_function(library, what) for what in _THREADS))
    return None


def _libraries(package: str) -> list[ctypes.CDLL]:
    """The OpenBLAS that a wheel carries; it is loaded already, so this gives it a name only."""
    folder = Path(package).parent
    places = [folder.parent / pattern.format(folder.name) for pattern in _FOLDERS]
    return [ctypes.CDLL(str(path)) for place in places for path in sorted(place.glob("*openblas*"))]


def _function(library: ctypes.CDLL, what: str) -> Any:
    for name in (f"scipy_openblas_{what}64_", f"scipy_openblas_{what}", f"openblas_{what}"):
        if hasattr(library, name):
            return getattr(library, name)
    return None
