"""Matrix products as functions: our own kernel, once for each choice of element types, and the calls of it or of BLAS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from .backends import llvm_call, llvm_gemm, room
from .backends.llvm_call import Product, Words
from .backends.llvm_gemm import Gemm
from .backends.llvm_run import compile_text, host_cpu, load_text, machine
from .hostcall import c_api
from .threads import default_threads, parallel


@dataclass(frozen=True)
class Calling:
    """A statement that calls products, and perhaps a kernel after them: its LLVM text, where its machine code starts, and whether
    that came from disk.
    """

    llvm: str
    address: int
    loaded: bool = False


@cache
def own(gemm: Gemm) -> int:
    """The address of the function `gemm` of `llvm_gemm` for this processor."""
    features = host_cpu()[1].split(",")
    fused = "+fma" in features or "+neon" in features
    text = llvm_gemm.emit(gemm, machine(), fused, default_threads())
    symbols = c_api("PyMem_RawMalloc", "PyMem_RawFree") | {"parallel": parallel()}
    return compile_text(text, ("gemm",), symbols).address["gemm"]


def scratch_bytes(gemm: Gemm) -> int:
    """The most memory that our own kernel takes for packed operands."""
    return llvm_gemm.scratch_bytes(gemm, machine())


def calling(products: Sequence[Product], then: tuple[int, Words] | None, may_compile: bool = True) -> Calling | None:
    """The function of a statement: products, and a kernel (address, words) over the same target. None where it would have to be
    compiled, and may not be. Raises RoomError where the process has no room for it.
    """
    symbols = {}
    for n, product in enumerate(products):
        if product.blas is None or product.runtime:
            symbols[f"gemm{n}"] = own(product.types)
        if product.blas is not None:
            symbols[f"blas{n}"] = product.blas.address
            if product.blas.threads is not None:
                symbols[f"get{n}"], symbols[f"set{n}"] = product.blas.threads
    if then is not None:
        symbols["then"] = then[0]
    room.take()
    text = llvm_call.emit(products, None if then is None else then[1])
    found = (compile_text if may_compile else load_text)(text, ("kernel",), symbols)
    return None if found is None else Calling(text, found.address["kernel"], found.loaded)
