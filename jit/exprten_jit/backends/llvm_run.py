"""LLVM text in, addresses of machine code out; object files come from the disk cache where it has them."""

from __future__ import annotations

import ctypes.util
import hashlib
import itertools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..locks import lock
from ..machine import Machine
from ..store import LOG, digest_of, store

C_MATH = ("fma", "fmaf", "fmod", "fmodf", "roundeven", "roundevenf")
_LOCK = lock()  # one compilation at a time: LLVM's own lock, taken once
_libraries = itertools.count()
_loaded: list[Any] = []  # machine code is never unloaded: a builtin or a plan may still hold its address


@dataclass(frozen=True)
class Compiled:
    """A module that was linked: its object file, the addresses of its functions, and whether it was `loaded` from disk, with what
    text about it.
    """

    object: bytes
    address: Mapping[str, int]
    loaded: bool = False
    about: str = ""


@dataclass
class Counts:
    """Modules that LLVM compiled in this process, and those that came from disk."""

    compiled: int = 0
    loaded: int = 0


counts = Counts()


@cache
def _llvm() -> Any:  # llvmlite has no types
    """llvmlite, imported by the first compilation: importing exprten stays as cheap as importing NumPy."""
    import llvmlite.binding

    return llvmlite.binding


# SSE4a has no instructions in AVX's encoding: one of them in a kernel that has filled wide registers takes a hundred nanoseconds
UNUSED = ("sse4a",)
AMD = ("znver", "bdver", "btver", "amdfam", "k8", "opteron", "athlon")  # how LLVM calls its processors


@cache
def host_cpu() -> tuple[str, str]:
    """(name, features) of this processor as LLVM calls them, but for those that it is not to use."""
    features = _llvm().get_host_cpu_features()
    return _llvm().get_host_cpu_name(), type(features)({**features, **dict.fromkeys(UNUSED, False)}).flatten()


@cache
def machine() -> Machine:
    """What the schedule wants to know of this processor."""
    features = set(host_cpu()[1].split(","))
    x86 = _llvm().get_process_triple().startswith("x86_64")
    if "+avx512bw" in features and "+avx512vl" in features:
        dots, ranges = "+avx512vnni" in features, "+avx512dq" in features
        found = Machine(512, frozenset((8, 16, 32, 64)), x86, True, scales=True, dots=dots, ranges=ranges)
    elif "+avx" in features:
        found = Machine(256, frozenset((8, 16, 32, 64)), x86, permutes="+avx2" in features)
    else:
        return Machine(128, frozenset())  # SSE2 and NEON have no masked moves: the tail goes one element at a time
    amd = host_cpu()[0].startswith(AMD)
    return found if amd or not x86 else replace(found, waits=True, assists=True, follows=64)


@cache
def _target() -> Any:
    _llvm().initialize_native_target()
    _llvm().initialize_native_asmprinter()
    cpu, features = host_cpu()
    return (
        _llvm()
        .Target.from_default_triple()
        .create_target_machine(cpu=cpu, features=features, opt=3, reloc="pic", codemodel="jitdefault", jit=True)
    )


@cache
def _jit() -> Any:
    """What links object files; where all of them come from disk no compiler is set up."""
    _llvm().initialize_native_target()
    return _llvm().create_lljit_compiler(use_jit_link=False)


def _parse(text: str, level: int) -> Any:
    module = _llvm().parse_assembly(text)
    module.triple = _llvm().get_process_triple()
    module.data_layout = str(_target().target_data)
    module.verify()
    if level:
        # Explicit vectors need no passes (same speed, a third of the time); the option is there to look and compare.
        options = _llvm().create_pipeline_tuning_options(level)
        builder = _llvm().create_pass_builder(_target(), options)
        builder.getModulePassManager().run(module, builder)
    return module


def compile_text(
    text: str, functions: tuple[str, ...], symbols: Mapping[str, int], level: int = 0, keep: bool = True
) -> Compiled:
    """Compile and link a module, or load it from disk, where it is found and with `keep` left. `symbols` are the addresses of the
    functions and objects it names, besides the C library's: no address of this process may stand in the text itself.
    """
    found = load_text(text, functions, symbols, level) if keep else None
    if found is not None:
        return found
    with _LOCK:
        code = _target().emit_object(_parse(text, level))
        counts.compiled += 1
    if keep and (name := _name_of_text(text, level)) is not None:
        write(name, "", code)
    return Compiled(code, _linked(code, functions, symbols))


def load_text(text: str, functions: tuple[str, ...], symbols: Mapping[str, int], level: int = 0) -> Compiled | None:
    """What `compile_text` gives, where that is on disk."""
    name = _name_of_text(text, level)
    return None if name is None else load(name, functions, symbols)


def _name_of_text(text: str, level: int) -> str | None:
    return name_of("text", str(level), text)


def load(name: str, functions: tuple[str, ...], symbols: Mapping[str, int]) -> Compiled | None:
    """The entry `name` of the disk cache, linked; None where there is none."""
    disk = store()
    found = None if disk is None else disk.read(name)
    if disk is None or found is None:
        return None
    try:
        address = _linked(found[1], functions, symbols)
    except (RuntimeError, KeyError) as error:  # it has its digest, and is no object file for these symbols all the same
        LOG.warning("cache: %s cannot be linked; it is compiled again: %s", name, error)
        disk.remove(name)
        return None
    counts.loaded += 1
    return Compiled(found[1], address, True, found[0])


def write(name: str, about: str, code: bytes) -> None:
    """Keep an object file on disk, where there is a cache."""
    disk = store()
    if disk is not None:
        disk.write(name, about, code)


@cache
def _identity() -> str | None:
    """All that machine code depends on besides its text; None: there is no cache."""
    sources = digest_of(Path(__file__).parents[1])
    if store() is None or not sources:
        return None
    return "\n".join((sys.platform, _llvm().get_process_triple(), *versions().values(), *host_cpu(), sources))


def name_of(*texts: str) -> str | None:
    """The name under which the disk cache has what follows from `texts` on this processor; None: there is no cache."""
    identity = _identity()
    if identity is None:
        return None
    return hashlib.sha256("\0".join((identity, *texts)).encode()).hexdigest()


def _linked(code: bytes, functions: tuple[str, ...], symbols: Mapping[str, int]) -> dict[str, int]:
    """The addresses of functions of an object file that is machine code of this process from now on."""
    with _LOCK:
        builder = _llvm().JITLibraryBuilder().add_object_img(code).add_current_process()
        for name, address in symbols.items():
            builder.import_symbol(name, address)
        for name in C_MATH:
            if (
                name.encode() in code and name in _c_math()
            ):  # among the names it asks for; to look them up costs 2 ms once, to import them 0.1 each time
                builder.import_symbol(name, _c_math()[name])
        for name in functions:
            builder.export_symbol(name)
        library = builder.link(_jit(), f"exprten{next(_libraries)}")
        _loaded.append(library)
        return {name: library[name] for name in functions}


@cache
def _c_math() -> dict[str, int]:
    """The C library functions that LLVM calls for an intrinsic, whatever the interpreter was linked with."""
    found = ctypes.util.find_library("m") or ctypes.util.find_library("c")
    library = ctypes.CDLL(found)
    there = [name for name in C_MATH if hasattr(library, name)]
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in there}


def assembly(text: str, level: int = 0) -> str:
    """The machine code of a module, as assembly text."""
    with _LOCK:
        return str(_target().emit_assembly(_parse(text, level)))


def optimised(text: str, level: int) -> str:
    """The module after LLVM's own passes at `level`."""
    with _LOCK:
        return str(_parse(text, level))


def versions() -> dict[str, str]:
    import llvmlite

    return {"llvmlite": llvmlite.__version__, "LLVM": ".".join(map(str, _llvm().llvm_version_info))}
