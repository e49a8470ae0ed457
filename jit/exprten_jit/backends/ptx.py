"""What PTX says of its kernels: their parameters, and the instructions they are made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

# `.param .align 8 .b8 k_param_0[24]` is a struct; NVRTC of CUDA 13 writes pointers as `.param .u64 .ptr .align 1 k_param_0`.
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)\s+(?:\.ptr\s+(?:\.\w+\s+)*(?:\d+\s+)?)?[\w$]+(?:\[(\d+)\])?"
)
_BODY = re.compile(
    r"\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*\(([^)]*)\)[^{;]*\{(.*?)(?=^\s*\.(?:visible|weak|extern|entry|func|global)\b|\Z)",
    re.DOTALL | re.MULTILINE,
)
_INSTRUCTION = re.compile(r"(?:^|[{;])\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*)(?=[ \t;])", re.MULTILINE)
_CALL = re.compile(r"\bcall(?:\.uni)?\s*(?:\([^)]*\)\s*,\s*)?([\w$]+)")


class Parameter(NamedTuple):
    """A kernel's parameter: PTX's type (`u64`, `f32`; `b8` for a struct's bytes) and its size in bytes."""

    type: str
    bytes: int


def parameters(ptx: str) -> Mapping[str, tuple[Parameter, ...]]:
    """What each kernel is to be launched with, in order."""
    return {name: tuple(_parameters(head)) for kind, name, head, _ in _bodies(ptx) if kind == "entry"}


def instructions(ptx: str, entry: str) -> Counter[str]:
    """How often each instruction (`mul.rn.f32`, `ld.global.v4.f32`) stands in the text of a kernel and of the functions it calls.
    Raises KeyError for a kernel that is not there.
    """
    bodies = {name: body for _, name, _, body in _bodies(ptx)}
    if entry not in bodies:
        raise KeyError(f"ptx: there is no kernel {entry!r}; there are {', '.join(parameters(ptx)) or 'none'}")
    reached = [entry]
    for one in reached:
        called = dict.fromkeys(_CALL.findall(bodies[one]))
        reached += [name for name in called if name in bodies and name not in reached]
    return Counter(name for one in reached for name in _INSTRUCTION.findall(bodies[one]))


def uses_float64(ptx: str, entry: str) -> bool:
    """Whether a kernel computes in, or converts from or to, 64-bit floats. Raises KeyError for one that is not there."""
    return any(".f64" in name for name in instructions(ptx, entry))


@lru_cache(maxsize=4)  # a program of many kernels is asked about each
def _bodies(ptx: str) -> list[tuple[str, str, str, str]]:
    """Of each kernel and function: which of them it is, its name, its parameters, its text."""
    return _BODY.findall(ptx)


def _parameters(head: str) -> Iterator[Parameter]:
    for kind, bits, count in _PARAMETER.findall(head):
        yield Parameter(kind + bits, int(bits) // 8 * int(count or 1))
