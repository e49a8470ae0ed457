"""The kernel compiler under exprten: kernel IR in, machine code out. It knows nothing of tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from . import further as further  # its rows stand in the table
from .backends import llvm_module, llvm_run, room
from .check import check as check_kernel
from .machine import Machine
from .schedule import schedule as make_nest
from .threads import parallel

if TYPE_CHECKING:
    from .kernel import Kernel
    from .nest import Nest

__all__ = ["Code", "Source", "compile_kernel", "generate", "kernel_without_code", "load_kernel", "source_of"]


@dataclass(frozen=True)
class Source:
    """What machine code was made from: kernel IR, its loop nest, its LLVM text."""

    kernel: Kernel
    nest: Nest
    llvm: str


@dataclass(frozen=True)
class Code:
    """A compiled kernel: where its machine code starts, and `rebuild`, which gives what it was made from."""

    address: int
    object: bytes = field(repr=False)
    rebuild: Callable[[], Source] = field(repr=False)

    @cached_property
    def source(self) -> Source:
        """Built when it is asked for: a kernel that was loaded runs without."""
        return self.rebuild()

    @property
    def kernel(self) -> Kernel:
        return self.source.kernel

    @property
    def nest(self) -> Nest:
        return self.source.nest

    @property
    def llvm(self) -> str:
        return self.source.llvm


def generate(kernel: Kernel, machine: Machine, fast_math: bool = False) -> tuple[Nest, str]:
    """The loop nest and the LLVM text of a kernel; nothing is compiled."""
    check_kernel(kernel)
    machine = _for_kernel(machine, kernel)
    nest = make_nest(kernel, machine)
    return nest, llvm_module.emit(nest, "kernel", fast_math, machine)


def source_of(kernel: Kernel, vector_bits: int | None = None, fast_math: bool = False) -> Source:
    """What a kernel is compiled from for this processor; `vector_bits` narrows its registers."""
    return Source(kernel, *generate(kernel, _machine(vector_bits), fast_math))


def _machine(vector_bits: int | None) -> Machine:
    host = llvm_run.machine()
    return replace(host, vector_bits=min(vector_bits or host.vector_bits, host.vector_bits))


def _for_kernel(machine: Machine, kernel: Kernel) -> Machine:
    if not kernel.halved:
        return machine
    least = 2 * max((leaf.dtype.computed.bits for leaf in kernel.leaves), default=1)  # of two lanes: one is no vector
    return replace(machine, vector_bits=min(max(machine.vector_bits >> kernel.halved, least), machine.vector_bits))


def kernel_without_code(kernel: Kernel, vector_bits: int | None = None) -> Code:
    """A kernel that only the interpreter runs: checked and scheduled, at no address."""
    check_kernel(kernel)
    source = Source(kernel, make_nest(kernel, _for_kernel(_machine(vector_bits), kernel)), "")
    return Code(0, b"", lambda: source)


def compile_kernel(kernel: Kernel, vector_bits: int | None = None, fast_math: bool = False, level: int = 0) -> Code:
    """Machine code for this processor. The disk cache has no part in it: who knows what the kernel follows from asks `load_kernel`.
    Raises RoomError where the process has no room for it.
    """
    room.take()
    source = source_of(kernel, vector_bits, fast_math)
    compiled = llvm_run.compile_text(source.llvm, ("kernel",), {"parallel": parallel()}, level, keep=False)
    return Code(compiled.address["kernel"], compiled.object, lambda: source)


def load_kernel(name: str, rebuild: Callable[[], Source]) -> tuple[str, Code] | None:
    """The kernel of that name in the disk cache, and the text about it; None where there is none. Raises RoomError."""
    room.take()
    found = llvm_run.load(name, ("kernel",), {"parallel": parallel()})
    return None if found is None else (found.about, Code(found.address["kernel"], found.object, rebuild))
