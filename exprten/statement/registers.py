"""The registers that a statement is planned for: those of the processor, or halves of them, where few elements follow each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import replace

from exprten_jit.backends import llvm_run
from exprten_jit.machine import Machine

_halved: ContextVar[bool] = ContextVar("halved", default=False)


def machine() -> Machine:
    """What must be known of the processor, as if its registers were half as long while a statement is planned for those."""
    own = llvm_run.machine()
    return replace(own, vector_bits=own.vector_bits // 2) if _halved.get() else own


def are_halved() -> bool:
    """Whether a statement is being planned for halves of registers."""
    return _halved.get()


@contextlib.contextmanager
def halves() -> Iterator[None]:
    """What is planned within is for halves of registers."""
    before = _halved.set(True)
    try:
        yield
    finally:
        _halved.reset(before)
