"""Memory of tensors as NumPy arrays, for what looks at statements from outside."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from exprten_jit import Code

from ..expression.expr import late
from ..expression.leaf import Leaf
from ..expression.stores import Stores
from ..gpu.driver import driver
from ..statement.running import Launch, Statement

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = dict[str, tuple[Array, int]]


def memory(leaf: Leaf, address: int) -> Array:
    """All elements from the lowest to the highest of a view, one after the other; of a GPU's memory a copy."""
    layout, row = leaf.layout, leaf.key.dtype
    if not layout.size:
        return np.empty(0, row.numpy)
    count = layout.high - layout.low
    if leaf.device.kind == "gpu":
        return _from_gpu(leaf, address + layout.low * row.itemsize, np.empty(count, row.numpy))
    raw = (ctypes.c_char * (count * row.itemsize)).from_address(address + layout.low * row.itemsize)
    return np.frombuffer(memoryview(raw), row.numpy)


def _from_gpu(leaf: Leaf, address: int, into: Array) -> Array:
    stream = leaf.buffer.stream
    driver().copy(leaf.device.index, into.ctypes.data, address, into.nbytes, stream.handle)
    stream.synchronize()
    return into


def view(leaf: Leaf, address: int) -> Array:
    """A view as an array over its memory."""
    return _shown(leaf, memory(leaf, address))


def _shown(leaf: Leaf, elements: Array) -> Array:
    layout = leaf.layout
    if not layout.size:
        return np.empty(layout.shape, leaf.key.dtype.numpy)
    return np.lib.stride_tricks.as_strided(elements[-layout.low :], layout.shape, leaf.strides)


def place(leaf: Leaf) -> tuple[Any, ...]:
    """What equal views have in common."""
    return leaf.buffer.address + leaf.offset, leaf.layout, leaf.key


def before(s: Statement) -> dict[tuple[Any, ...], Array]:
    """What all that a statement reads and stores to holds now; of what shares memory with a target a copy."""
    views = (*s.targets, *s.found.leaves)
    written = [_span(x, s.addresses[n]) for n, x in enumerate(views) if n < len(s.targets) or _stores_to(s, x)]
    found = {}
    places = [*zip(views, s.addresses, strict=True)]
    if s.written:
        origins = (s.written.origin(leaf) for leaf in s.found.leaves)
        places += [(x, x.buffer.address + x.offset) for x in origins if isinstance(x, Leaf)]
    for leaf, address in places:
        elements = view(leaf, address)
        found[place(leaf)] = elements.copy() if _overlaps(_span(leaf, address), written) else elements
    return found


def _stores_to(s: Statement, leaf: Leaf) -> bool:
    return isinstance(s.value, Stores) and any(leaf is target for target in s.value.targets)


def _overlaps(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def arrays(s: Statement, launch: Launch, copied: bool) -> Arrays:
    """For each operand of a kernel its elements, and the position among them of its address; copies of all that shares memory with
    a target.
    """
    views, found = (*s.targets, *s.found.leaves), dict[str, tuple[Array, int]]()
    assert isinstance(launch.code, Code), "only a kernel has operands like these"
    written = [_span(x, s.addresses[n]) for n, x in enumerate(views) if n < len(s.targets) or _stores_to(s, x)]
    for array, n, shift in zip(launch.code.kernel.leaves, launch.first, launch.arranged.shifts, strict=True):
        leaf, address = views[n], s.addresses[n]
        elements = memory(leaf, address).view(array.dtype.numpy)  # a complex number is two elements to a kernel
        if copied and _overlaps(_span(leaf, address), written):
            elements = elements.copy()
        first = shift - leaf.layout.low * leaf.key.dtype.itemsize
        found[array.name] = elements, first // array.dtype.itemsize
    return found


def give_back(s: Statement, launch: Launch, after: Arrays) -> None:
    """Store what was stored to copies of a GPU's memory."""
    views = (*s.targets, *s.found.leaves)
    assert isinstance(launch.code, Code), "only a kernel has operands like these"
    for array, n in zip(launch.code.kernel.leaves, launch.first, strict=True):
        leaf = views[n]
        if leaf.device.kind == "gpu" and (n < len(s.targets) or _stores_to(s, leaf)):
            late["transfer"](leaf, late["borrow"](_shown(leaf, after[array.name][0].view(leaf.key.dtype.numpy))))


def _span(leaf: Leaf, address: int) -> tuple[int, int]:
    return leaf.layout.span(address, leaf.key.dtype.itemsize)
