"""CUDA text in, a cubin out: NVRTC with options of our own, which is what makes a GPU's bits those of the CPU.

CuPy's own compilation appends `-ftz=true` to what it is given (cupy#9576), so subnormal numbers would be lost; and it needs a driver.

Two things are left to the text: signed integers that are to wrap around are added as unsigned (there is no `-fwrapv`, and `a + 1 > a`
becomes 1), and functions of CUDA's own (`expf`) have bits of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p, create_string_buffer
from dataclasses import dataclass, field
from functools import cache, cached_property

from .nvrtc_library import Library, NvrtcError, headers, library

# Only -fmad differs from what NVRTC does by itself; that the others hold is not left to a version of it.
_EXACT = ("-std=c++17", "-ftz=false", "-prec-div=true", "-prec-sqrt=true")
_MINIMAL = "--minimal"  # no textures, no launches from kernels: 46 ms instead of 55 for a small one
_QUIET = "-w"  # the text is generated: that a comparison is pointless is nothing to tell
_VERBOSE = "--ptxas-options=-v"  # the log says what each kernel takes
_FILE = "kernel.cu"  # how the log calls the text
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)


@dataclass(frozen=True)
class Resources:
    """What a function takes of a GPU: registers of a thread, and bytes. Spills are stores and loads in its text."""

    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    constant: int = 0
    stack: int = 0


@dataclass(frozen=True)
class Cubin:
    """Machine code of a GPU, and what NVRTC said about it."""

    image: bytes = field(repr=False)
    log: str = field(repr=False)

    @cached_property
    def resources(self) -> Mapping[str, Resources]:
        """Of each kernel by its name, and of each function that was not compiled into one; of those only spills and stack."""
        return dict(_resources(self.log))


def compile_cuda(source: str, arch: str, fast_math: bool = False) -> Cubin:
    """The machine code of `source` for `arch` (`sm_90`). Raises NvrtcError with what NVRTC says of it."""
    return compile_both(source, arch, fast_math)[0]


def compile_both(source: str, arch: str, fast_math: bool = False) -> tuple[Cubin, str]:
    """The machine code of `source` for `arch` (`sm_90`), and the PTX on the way to it. Raises NvrtcError."""
    nvrtc = library()
    with _compiled(nvrtc, source, (*options(source, arch, fast_math), _VERBOSE)) as program:
        return Cubin(_bytes(nvrtc, program, "CUBIN"), _log(nvrtc, program)), _ptx(nvrtc, program)


def ptx_of(source: str, arch: str, fast_math: bool = False) -> str:
    """The PTX of `source` for `arch` (`sm_90`). Raises NvrtcError with what NVRTC says of it."""
    nvrtc = library()
    virtual = arch.replace("sm_", "compute_")  # spares the step from PTX to machine code, most of the time
    with _compiled(nvrtc, source, options(source, virtual, fast_math)) as program:
        return _ptx(nvrtc, program)


def options(source: str, arch: str, fast_math: bool = False) -> tuple[str, ...]:
    """What NVRTC is told besides the text: each operation rounds as IEEE 754 says, and but for `fast_math` none are joined."""
    quick = (_MINIMAL,) if version() >= (12, 8) else ()  # older ones, of a toolkit, may not know it
    where = (f"-I{headers()}",) if _INCLUDE.search(source) else ()
    return (f"-arch={arch}", *_EXACT, f"-fmad={'true' if fast_math else 'false'}", _QUIET, *quick, *where)


@cache
def version() -> tuple[int, int]:
    """Of NVRTC: (13, 0)."""
    major, minor = c_int(), c_int()
    library().call("nvrtcVersion", byref(major), byref(minor))
    return major.value, minor.value


@cache
def architectures() -> tuple[str, ...]:
    """What this NVRTC compiles for, the oldest first: `sm_75`, ..."""
    count = c_int()
    library().call("nvrtcGetNumSupportedArchs", byref(count))
    found = (c_int * count.value)()
    library().call("nvrtcGetSupportedArchs", found)
    return tuple(f"sm_{number}" for number in sorted(found))


def architecture_of(major: int, minor: int) -> str:
    """What to compile for a GPU of that compute capability: itself, or the nearest before it that it runs. Raises NvrtcError."""
    known = [divmod(int(arch.removeprefix("sm_")), 10) for arch in architectures()]
    fitting = [one for one in known if one[0] == major and one[1] <= minor]
    if not fitting:
        raise NvrtcError(
            f"nvrtc: a GPU of compute capability {major}.{minor} is not known to NVRTC {'.'.join(map(str, version()))}, which compiles "
            f'for {", ".join(architectures())}; pip install "exprten[cuda12]" for an older GPU, or a newer nvidia-cuda-nvrtc'
        )
    return "sm_{}{}".format(*max(fitting))


@contextmanager
def _compiled(nvrtc: Library, source: str, told: tuple[str, ...]) -> Iterator[c_void_p]:
    """A program that NVRTC has compiled, and forgets in the end. Other threads run, and compile, meanwhile."""
    program = c_void_p()
    nvrtc.call("nvrtcCreateProgram", byref(program), source.encode(), _FILE.encode(), 0, None, None)
    try:
        texts = (c_char_p * len(told))(*(text.encode() for text in told))
        if nvrtc.functions.nvrtcCompileProgram(program, len(told), texts):
            raise NvrtcError(_refusal(_log(nvrtc, program), source, told))
        yield program
    finally:
        nvrtc.functions.nvrtcDestroyProgram(byref(program))


def _bytes(nvrtc: Library, program: c_void_p, what: str) -> bytes:
    size = c_size_t()
    nvrtc.call(f"nvrtcGet{what}Size", program, byref(size))
    found = create_string_buffer(size.value)
    nvrtc.call(f"nvrtcGet{what}", program, found)
    return found.raw


def _ptx(nvrtc: Library, program: c_void_p) -> str:
    return _bytes(nvrtc, program, "PTX").rstrip(b"\0").decode()


def _log(nvrtc: Library, program: c_void_p) -> str:
    return _bytes(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace")


def _refusal(log: str, source: str, told: tuple[str, ...]) -> str:
    """What is wrong, and the lines of the text that it is about."""
    lines = source.splitlines()
    named = sorted({int(number) for number in re.findall(rf"^{_FILE}\((\d+)\)", log, re.MULTILINE)})
    shown = [f"{number:4} | {lines[number - 1]}" for number in named if number <= len(lines)]
    return "\n".join([f"nvrtc: CUDA text does not compile with {' '.join(told)}:", log.strip(), *shown])


_ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
_FUNCTION = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")


def _resources(log: str) -> Iterator[tuple[str, Resources]]:
    """What `ptxas -v` wrote: of each function its stack, and right after it, of a kernel, what it uses."""
    lines = log.splitlines()
    for k, line in enumerate(lines):
        if (name := _FUNCTION.search(line)) is None:
            continue
        stack, stores, loads = map(int, _STACK.findall(lines[k + 1])[0])
        used = lines[k + 2] if k + 2 < len(lines) else ""
        registers = _USED.search(used)
        yield (
            name[1],
            Resources(
                int(registers[1]) if registers else 0,
                stores,
                loads,
                sum(map(int, re.findall(r"(\d+) bytes smem", used))),
                sum(map(int, re.findall(r"(\d+) bytes cmem", used))),
                stack,
            ),
        )
