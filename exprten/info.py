"""What exprten finds on this machine: `python -m exprten info`."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from typing import Any

import numpy as np
from exprten_jit.backends import llvm_run, nvrtc, nvrtc_library
from exprten_jit.dtypes import ROWS
from exprten_jit.store import store
from exprten_jit.threads import default_threads, processors

from .blas import available
from .gpu.driver import made
from .options import USE_CTYPES, Stats, counters
from .storage.buffer import memory


def info() -> dict[str, Any]:
    """Versions, processor, element types, and the environment variables in force."""
    name, features = llvm_run.host_cpu()
    machine = llvm_run.machine()
    vector = [f[1:] for f in features.split(",") if f.startswith(("+avx", "+sse4", "+fma", "+neon", "+sve"))]
    return {
        "exprten": _version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        **llvm_run.versions(),
        "cpu": name,
        "cpu features": " ".join(sorted(vector)),
        "vector bits": machine.vector_bits,
        "masked element bits": sorted(machine.masked_bits),
        "processors": processors(),
        "threads": default_threads(),
        "element types": [row.name for row in ROWS],
        "matrix products": available(),
        "kernel entry": "ctypes" if USE_CTYPES else "builtin",
        "disk cache": "none" if (disk := store()) is None else str(disk.folder),
        "NVRTC": _nvrtc(),
        "CuPy": _wheel("cupy-cuda13x", "cupy-cuda12x", "cupy"),
        "cuBLAS": _wheel("nvidia-cublas", "nvidia-cublas-cu12"),
        "devices": ["cpu", *_gpus()],
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith("EXPRTEN_")},
    }


def _version() -> str:
    return _installed("exprten") or "not installed"


def _installed(name: str) -> str | None:
    """The version of an installed distribution."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _nvrtc() -> str:
    """Version, and where it was found; a driver is not needed for that."""
    try:
        found = nvrtc_library.library()
    except nvrtc_library.MissingError:
        return "none"
    return f"{'.'.join(map(str, nvrtc.version()))} ({found.path})"


def _wheel(*names: str) -> str:
    """The distribution that is installed: to import CuPy, or to load cuBLAS, would take longer than all the rest."""
    found = {name: _installed(name) for name in names}
    return next((f"{version} ({name})" for name, version in found.items() if version), "none")


def _gpus() -> list[str]:
    """Those that CuPy sees, once a GPU was asked for: to ask would load it."""
    here = made()
    return [] if here is None else [f"gpu:{k} {here.name(k)} {here.arch(k)}" for k in range(here.count())]


def stats() -> Stats:
    """What has been compiled and allocated so far in this process."""
    return replace(counters, allocations=memory.allocations)
