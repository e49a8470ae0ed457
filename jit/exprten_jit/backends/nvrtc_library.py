"""Where NVIDIA's run-time compiler (NVRTC) and CUDA's headers are: in a process, a wheel, a toolkit. No driver is needed for either."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_void_p
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# NVRTC of CUDA 11 and before knows no architecture that CuPy 14 supports better.
_PATTERN = "nvrtc64_1[2-9]*_0.dll" if sys.platform == "win32" else "libnvrtc.so.1[2-9]*"
_BUILTINS = "nvrtc-builtins64_1[2-9]*.dll" if sys.platform == "win32" else "libnvrtc-builtins.so.1[2-9]*"
_LIBRARIES = ("cu13/lib", "cu13/bin/x86_64", "cuda_nvrtc/lib", "cuda_nvrtc/bin")  # CUDA 13's wheels, then CUDA 12's
_HEADERS = ("cu13/include", "cuda_runtime/include")
_TOOLKIT = ("lib64", "lib", "bin/x64", "bin")
_ARGUMENTS = {
    "nvrtcVersion": (POINTER(c_int), POINTER(c_int)),
    "nvrtcGetNumSupportedArchs": (POINTER(c_int),),
    "nvrtcGetSupportedArchs": (POINTER(c_int),),
    "nvrtcCreateProgram": (POINTER(c_void_p), c_char_p, c_char_p, c_int, c_void_p, c_void_p),
    "nvrtcDestroyProgram": (POINTER(c_void_p),),
    "nvrtcCompileProgram": (c_void_p, c_int, POINTER(c_char_p)),
    **{f"nvrtcGet{what}Size": (c_void_p, POINTER(c_size_t)) for what in ("ProgramLog", "PTX", "CUBIN")},
    **{f"nvrtcGet{what}": (c_void_p, c_char_p) for what in ("ProgramLog", "PTX", "CUBIN")},
}


class NvrtcError(RuntimeError):
    """NVRTC refuses something."""


class MissingError(NvrtcError):
    """Something of CUDA's is not installed; the text says what, and how to get it."""


@dataclass(frozen=True)
class Library:
    """NVRTC, loaded: `path` is its file, `where` how it was found."""

    path: Path
    where: str
    functions: ctypes.CDLL = field(repr=False)

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of it. Raises NvrtcError where that does not succeed."""
        status = getattr(self.functions, name)(*arguments)
        if status:
            raise NvrtcError(f"nvrtc: {name} failed: {self.functions.nvrtcGetErrorString(status).decode()}")


@cache
def library() -> Library:
    """NVRTC. Raises MissingError, at every call, where there is none."""
    failed: list[str] = []
    for path, where in _candidates():
        opened = _opened(path)
        if not isinstance(opened, str):
            return Library(path, where, opened)
        failed.append(f"{path} cannot be loaded: {opened}")
    raise MissingError(
        "nvrtc: CUDA text cannot be compiled: NVIDIA's run-time compiler (NVRTC, version 12 or later) is "
        f"{'not installed' if not failed else 'not usable'}{''.join(f'; {text}' for text in failed)}; "
        'pip install "exprten[cuda13]", or "exprten[cuda12]" for a driver of CUDA 12'
    )


@cache
def headers() -> Path:
    """The folder of `cuda_fp16.h`. Raises MissingError, at every call, where there is none."""
    for folder in _header_folders():
        if (folder / "cuda_fp16.h").is_file():
            return folder
    raise MissingError(
        "nvrtc: a kernel with float16 or bfloat16 needs CUDA's headers (cuda_fp16.h), and they are not installed; "
        'pip install "exprten[cuda13]", or "exprten[cuda12]" for a driver of CUDA 12'
    )


def _opened(path: Path) -> ctypes.CDLL | str:
    """A library, or why it is none: of another machine, or half installed."""
    try:
        for part in sorted(path.parent.glob(_BUILTINS)) if path.is_absolute() else ():
            ctypes.CDLL(str(part))  # opened later by its name, for which 13.0 does not look beside itself
        opened = ctypes.CDLL(str(path))
        for name, arguments in _ARGUMENTS.items():
            getattr(opened, name).argtypes = arguments
    except (OSError, AttributeError) as error:
        return str(error)
    opened.nvrtcGetErrorString.restype = c_char_p
    return opened


def _candidates() -> Iterator[tuple[Path, str]]:
    """Files that may be it, the likeliest first. What is in this process already costs no second 100 MB of address space; wheels
    come before `cuda.pathfinder`, which looks there too, and takes 70 ms to import.
    """
    yield from ((path, "loaded already") for path in _loaded())
    for folder in _wheel_folders(_LIBRARIES):
        yield from ((path, "wheel") for path in sorted(folder.glob(_PATTERN), reverse=True))
    if (found := _found_by_pathfinder()) is not None:
        yield found, "cuda.pathfinder"
    for root in _toolkits():
        for path in (path for part in _TOOLKIT for path in sorted((root / part).glob(_PATTERN), reverse=True)):
            yield path, "toolkit"
    if (name := ctypes.util.find_library("nvrtc")) is not None:
        yield Path(name), "system"


def _loaded() -> Iterator[Path]:
    maps = Path("/proc/self/maps")
    if not maps.exists():  # not on Linux
        return
    files = (line.split(maxsplit=5)[5:] for line in maps.read_text(errors="replace").splitlines())
    for path in dict.fromkeys(Path(file[0]) for file in files if file):
        if path.match(_PATTERN):
            yield path


def _wheel_folders(parts: tuple[str, ...]) -> Iterator[Path]:
    """Folders of NVIDIA's wheels; each folder of Python's path may have its own `nvidia`."""
    spec = find_spec("nvidia")
    roots = [] if spec is None else list(spec.submodule_search_locations or ())
    yield from (folder for part in parts for root in roots if (folder := Path(root) / part).is_dir())


def _found_by_pathfinder() -> Path | None:
    try:
        pathfinder: Any = import_module("cuda.pathfinder")  # untyped, and absent where CuPy is
        found = pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path
    except (ImportError, RuntimeError):  # RuntimeError: all of its own
        return None
    return None if found is None else Path(found)


def _toolkits() -> Iterator[Path]:
    named = [os.environ[name] for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    yield from map(Path, dict.fromkeys([*named, "/usr/local/cuda", sys.prefix]))  # the last is conda's


def _header_folders() -> Iterator[Path]:
    """Folders of headers, those beside NVRTC first: they are of its version."""
    beside = library().path.parents
    yield from (folder / "include" for folder in beside[1:3])
    yield from _wheel_folders(_HEADERS)
    yield from (root / part for root in _toolkits() for part in ("include", "targets/x86_64-linux/include"))
