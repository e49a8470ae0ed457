"""The kernel compiler under exprten: kernel IR in, machine code out. It knows nothing of tensors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .backends import llvm_module, llvm_run
from .check import check as check_kernel
from .nest import Machine
from .schedule import schedule as make_nest
from .threads import parallel

if TYPE_CHECKING:
    from .ir import Kernel
    from .nest import Nest

__all__ = ["Code", "compile_kernel", "generate"]


@dataclass(frozen=True)
class Code:
    """A compiled kernel: the IR it came from, its loop nest, its LLVM text, and where its machine code starts."""

    kernel: Kernel
    nest: Nest
    llvm: str
    address: int
    object: bytes = field(repr=False)


def generate(kernel: Kernel, machine: Machine, fast_math: bool = False) -> tuple[Nest, str]:
    """The loop nest and the LLVM text of a kernel; nothing is compiled."""
    check_kernel(kernel)
    nest = make_nest(kernel, machine)
    return nest, llvm_module.emit(nest, "kernel", fast_math, machine.scales)


def compile_kernel(kernel: Kernel, vector_bits: int | None = None, fast_math: bool = False, level: int = 0) -> Code:
    """Machine code for this processor; `vector_bits` narrows its registers."""
    host = llvm_run.machine()
    machine = replace(host, vector_bits=min(vector_bits or host.vector_bits, host.vector_bits))
    nest, text = generate(kernel, machine, fast_math)
    compiled = llvm_run.compile_text(text, ("kernel",), {"parallel": parallel()}, level)
    return Code(kernel, nest, text, compiled.address["kernel"], compiled.object)
