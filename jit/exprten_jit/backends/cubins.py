"""Cubins from memory, else from the disk cache, where they lie beside the CPU's kernels, else from NVRTC."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from ..locks import Turns
from ..store import LOG, Store, store
from . import nvrtc
from .nvrtc import Cubin
from .nvrtc_library import MissingError, headers

_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([\w./]+)>", re.MULTILINE)
_CUDA = 190  # EM_CUDA: ELF's number of NVIDIA's machine


@dataclass
class Counts:
    """Programs that NVRTC compiled in this process, and those that came from disk."""

    compiled: int = 0
    loaded: int = 0


counts = Counts()
_kept: dict[tuple[str, str, bool], Cubin] = {}
_turns = Turns()  # two threads that need one program do not both compile it


def cubin_for(source: str, arch: str, fast_math: bool = False) -> Cubin:
    """The machine code of CUDA text for `arch` (`sm_90`), compiled once, ever. Raises NvrtcError where it cannot be."""
    key = source, arch, fast_math
    found = _kept.get(key)
    if found is not None:
        return found
    with _turns.of(key):
        return _kept.get(key) or _kept.setdefault(key, _loaded_or_compiled(source, arch, fast_math))


def is_kept(source: str, arch: str, fast_math: bool = False) -> bool:
    """Whether `cubin_for` finds it, so that nothing has to be compiled."""
    key, disk = (source, arch, fast_math), store()
    if key not in _kept and disk is not None:
        with _turns.of(key), suppress(MissingError):  # without a compiler nothing is compiled, or kept
            found = _read(disk, _name(*key), arch)
            if found is not None:
                _kept.setdefault(key, found)
    return key in _kept


def _loaded_or_compiled(source: str, arch: str, fast_math: bool) -> Cubin:
    disk = store()
    name = "" if disk is None else _name(source, arch, fast_math)
    found = None if disk is None else _read(disk, name, arch)
    if found is None:
        found = nvrtc.compile_cuda(source, arch, fast_math)
        counts.compiled += 1
        if disk is not None:
            disk.write(name, found.log, found.image)
    return found


def _name(source: str, arch: str, fast_math: bool) -> str:
    """Of the entry: all that a cubin follows from, and not where CUDA's headers are."""
    told = [option for option in nvrtc.options(source, arch, fast_math) if not option.startswith("-I")]
    included = [_digest_of_header(header) for header in _HEADER.findall(source)]
    texts = ("cubin", str(nvrtc.version()), *told, *included, source)
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@cache
def _digest_of_header(name: str) -> str:
    """Of a header of CUDA's and what it has its bodies in (`cuda_fp16.hpp`)."""
    path = headers() / name
    return hashlib.sha256(b"".join(p.read_bytes() for p in (path, path.with_suffix(".hpp")) if p.is_file())).hexdigest()


def _read(disk: Store, name: str, arch: str) -> Cubin | None:
    """The entry, where it is a cubin for that architecture."""
    found = disk.read(name)
    if found is None:
        return None
    log, image = found
    if image[:4] == b"\x7fELF" and int.from_bytes(image[18:20], "little") == _CUDA and f" for '{arch}'" in log:
        counts.loaded += 1
        return Cubin(image, log)
    LOG.warning("cache: %s is no cubin for %s; it is compiled again", name, arch)
    disk.remove(name)
    return None
