"""The call of a product, as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any

from exprten_jit.backends.llvm_call import Program
from exprten_jit.backends.llvm_share import ENOUGH
from exprten_jit.gemm import scratch_bytes

from ..blas import LETTERS
from .matrices import Matrices


def described(found: Matrices, alpha: Program, beta: Program | None, scalars: Sequence[Any]) -> str:
    """Provider, routine, flags, sizes and factors: `numpy: sgemm N T, m 3, n 4, k 5, alpha 1.0, beta 0.0`."""
    batch = " x ".join(str(axis[0]) for axis in found.batch)
    sizes = ", ".join(f"{name} {n}" for name, n in zip("mnk", found.sizes, strict=False))
    routine = f"gemm {found.types.a} {found.types.b} {found.types.c}"
    if found.blas is not None:
        name = LETTERS.get(found.types.a.name) if found.types.a is found.types.c else None
        routine = " ".join((f"{name}{found.blas.routine}" if name else routine, *found.blas.flags))
    times = f", {batch} times" if batch else ""
    return f"{found.provider}: {routine}, {sizes}, alpha {worth(alpha, scalars):g}, beta {0 if beta is None else worth(beta, scalars):g}{times}"


def worth(program: Program, scalars: Sequence[Any]) -> float:
    """What a factor is with these scalars."""
    value = 1.0
    for op, n in program:
        if n is None:
            value = -value
        elif op == "mul":
            value *= scalars[n]
        elif scalars[n]:
            value /= scalars[n]
        else:  # Python raises where IEEE's division has a value
            value *= math.copysign(math.inf, scalars[n])
    return value


def flops(found: Matrices) -> int:
    """Multiplications and additions of a product."""
    return 2 * prod(found.sizes[:3]) * prod(axis[0] for axis in found.batch)


def scratch(found: Matrices) -> int:
    """The most memory that our own kernel takes, or that cuBLAS is given; another BLAS has its own, and tells nobody."""
    return scratch_bytes(found.types) if found.blas is None else found.workspace


def divided(found: Matrices) -> bool:
    """Whether our own kernel lets threads share a product."""
    return found.blas is None and prod(found.sizes[:3]) >= ENOUGH
