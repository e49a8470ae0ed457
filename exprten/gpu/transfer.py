"""Copies between devices: rows where both sides have rows, else through packed memory on the side that has other strides.

To a GPU a copy is asynchronous on the target's stream; what lies in pageable memory is read before it returns. To the host a copy
waits for the source's stream: nothing else in exprten waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from exprten_jit.dtypes import DType

from ..assign import check_target, store, types_of
from ..expression import shape as shapes
from ..expression.expr import late
from ..expression.shape import Layout
from ..modes import MODES
from ..statement.overlap import shares
from ..storage.buffer import HostBuffer, borrow, page_locked, pinned
from ..storage.device import cpu, fenced
from ..tensor import Tensor, elements, handle, new, require_memory
from .driver import driver
from .recording import recording, refuse
from .staging import PIECE, hold, room_for

_WRITE = MODES["write"]
MAX_PITCH = 1 << 27  # elements: below 2 GiB between rows, CUDA's limit, for the widest of them


@dataclass(frozen=True)
class Rows:
    """`height` rows of `width` elements, so many elements apart in each of two tensors."""

    width: int
    height: int
    into: int
    out_of: int


def rows(into: Layout, out_of: Layout) -> Rows | None:
    """Two layouts of one shape as rows without gaps in either; None where there are none."""
    axes: list[tuple[int, int, int]] = []
    for n, a, b in zip(into.shape, into.strides, out_of.strides, strict=True):
        if n == 1:
            continue
        if axes and axes[-1][1:] == (n * a, n * b):
            axes[-1] = (axes[-1][0] * n, a, b)
        else:
            axes.append((n, a, b))
    width = axes.pop()[0] if axes and axes[-1][1:] == (1, 1) else 1
    height, a, b = axes.pop() if axes else (1, width, width)
    apart = width <= min(a, b) and (height == 1 or max(a, b) < MAX_PITCH)
    return None if axes or not apart or (width == 1 < height) else Rows(width, height, a, b)


def transfer(dst: Tensor, src: Tensor) -> Tensor:
    """The elements of `src` in `dst`, of the same shape, on any devices. Returns `dst`."""
    require_memory(src, "copy")
    check_target(dst)
    row = types_of(_WRITE, dst, src)[0]
    if not dst.size:
        return dst
    kinds = dst.device.kind, src.device.kind
    if dst.device is src.device and (kinds[0] == "cpu" or recording() or not _apart(dst, src, row)):
        return store(_WRITE, dst, src)
    refuse("copy")
    if kinds == ("gpu", "cpu"):
        _upload(dst, src)
    elif kinds == ("cpu", "gpu"):
        _download(dst, src if _by_rows(src) else _packed(src, src.key.dtype))
    else:
        _across(dst, src, row)
    return dst


def _apart(dst: Tensor, src: Tensor, row: DType) -> bool:
    """Whether rows can be copied as bytes: of one type, in different memory."""
    if src.key.dtype is not row or rows(dst.layout, src.layout) is None:
        return False
    to, at = dst.buffer.address + dst.offset, src.buffer.address + src.offset
    return not shares(to, dst.layout, row.itemsize, at, src.layout, row.itemsize)


def _by_rows(t: Tensor) -> bool:
    """Whether it can be copied from or to packed memory."""
    return rows(t.layout, _packed_layout(t)) is not None


def _packed_layout(t: Tensor) -> Layout:
    return shapes.layout(t.shape, shapes.packed_strides(t.shape))


def _packed(src: Tensor, row: DType) -> Tensor:
    """The elements in packed memory beside them, as another type."""
    return store(_WRITE, new(src.shape, row, src.device), src)


def _across(dst: Tensor, src: Tensor, row: DType) -> None:
    """From one GPU to another, or on one. What is no row there is packed on its side."""
    found = rows(dst.layout, src.layout) if src.key.dtype is row else None
    if found is not None:
        _copy_rows(dst, src, found)
        return
    here = src if src.key.dtype is row and _by_rows(src) else _packed(src, row)
    there = dst if _by_rows(dst) else new(dst.shape, row, dst.device)
    _across(there, here, row)
    if there is not dst:
        store(_WRITE, dst, there)


def _copy_rows(dst: Tensor, src: Tensor, found: Rows) -> None:
    """Copy bytes on the target's stream, or on the source's where the target is on the host."""
    here = dst if dst.device.kind == "gpu" else src
    stream, size = here.buffer.stream, here.key.dtype.itemsize
    to, at = dst.buffer.address + dst.offset, src.buffer.address + src.offset
    device, width = here.device.index, found.width * size
    with pinned((dst.buffer, src.buffer), "copy"), fenced(stream, _streams(dst, src)):
        if found.height == 1:
            driver().copy(device, to, at, width, stream.handle)
        else:
            driver().copy_rows(
                device, to, found.into * size, at, found.out_of * size, width, found.height, stream.handle
            )


def _streams(*tensors: Tensor) -> list[Any]:
    return [t.buffer.stream for t in tensors if t.device.kind == "gpu"]


# To a GPU.


def _upload(dst: Tensor, src: Tensor) -> None:
    if not _by_rows(dst):
        there = new(dst.shape, dst.key.dtype, dst.device)
        _upload(there, src)
        store(_WRITE, dst, there)
        return
    found = rows(dst.layout, src.layout) if src.key.dtype is dst.key.dtype else None
    stream = dst.buffer.stream
    if found is not None and isinstance(src.buffer, HostBuffer):
        owner = src.buffer.owner
        _copy_rows(dst, src, found)
        hold(dst.device.index, stream.handle, 0, owner)
        return
    for to, at in _pieces(dst, src):
        room_for(to.nbytes)
        staged, owner = _staging(to)
        _pack(staged, at)
        _copy_rows(to, staged, _row_of(to))
        hold(dst.device.index, stream.handle, to.nbytes, owner)


def _row_of(t: Tensor) -> Rows:
    found = rows(t.layout, _packed_layout(t))
    assert found is not None, "a piece of rows is rows"
    return found


def _pieces(dst: Tensor, src: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Both in parts of at most PIECE bytes."""
    if dst.nbytes <= PIECE:
        yield dst, src
        return
    step = PIECE // max(dst.nbytes // dst.shape[0], 1)
    if not step:
        for k in range(dst.shape[0]):
            yield from _pieces(dst[k], src[k])
    for k in range(0, dst.shape[0] if step else 0, max(step, 1)):
        yield dst[k : k + step], src[k : k + step]


def _staging(like: Tensor) -> tuple[Tensor, object]:
    """A packed tensor of the host in page-locked memory, and what keeps that."""
    address, owner = page_locked(like.nbytes)
    buffer = borrow(address, like.nbytes, owner, cpu(), readonly=False)
    return handle(like.key.dtype, buffer, 0, _packed_layout(like), True), owner


def _pack(into: Tensor, out_of: Tensor) -> None:
    """On the host: as NumPy does it where the type stays, else as an assignment does."""
    if into.key.dtype is out_of.key.dtype:
        with pinned((into.buffer, out_of.buffer), "copy"):
            np.copyto(elements(into), elements(out_of))
    else:
        store(_WRITE, into, out_of)


# To the host.


def _download(dst: Tensor, src: Tensor) -> None:
    stream = src.buffer.stream
    found = rows(dst.layout, src.layout) if src.key.dtype is dst.key.dtype else None
    if found is not None:
        with pinned((dst.buffer, src.buffer), "copy"):  # until the copy has ended
            _copy_rows(dst, src, found)
            stream.synchronize()
        return
    for to, at in _pieces(dst, src):
        staged, _ = _staging(at)
        found = rows(staged.layout, at.layout)
        assert found is not None, "a piece of rows is rows"
        _copy_rows(staged, at, found)
        stream.synchronize()
        _pack(to, staged)


late |= {"transfer": transfer}
