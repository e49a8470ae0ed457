"""The same values in another order or under another shape."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from exprten_jit.ir import Value
from exprten_jit.ir import index as number

from ..errors import ShapeError
from ..expression import shape as shapes
from ..expression.expr import Expr, build, late
from ..expression.remap import Read, Reads, remap
from ..expression.shape import Shape
from ..tensor import Tensor, resolve_shape
from .broadcast import operand


def reshape(src: Any, shape: Any) -> Expr:
    """The same elements in the same order under another shape; one extent may be -1. Always an expression, for every layout.

    Raises ShapeError where the sizes differ. (mshadow extension/reshape.h)
    """
    e = operand(src, "reshape")
    to = resolve_shape(e.size, shape, "reshape")
    if isinstance(e, Tensor) and e.buffer.address and (layout := shapes.reshaped(e.layout, to)) is not None:
        return build("identity", e.reshape(layout.shape))
    groups = _groups(e.shape, to)
    params = [
        n for source, out in groups for n in (*_steps(e.shape, source), *_steps(to, out), *(e.shape[k] for k in source))
    ]

    def index(i: Sequence[Value], p: Sequence[Value]) -> list[Value]:
        found: list[Value] = [number(0)] * e.ndim
        rest = list(p)
        for source, out in groups:
            steps, rest = rest[: len(source)], rest[len(source) :]
            out_steps, rest = rest[: len(out)], rest[len(out) :]
            extents, rest = rest[: len(source)], rest[len(source) :]
            linear: Value = number(0)
            for k, step in zip(out, out_steps, strict=True):
                linear = linear + (i[k] if k == out[-1] else i[k] * step)
            for n, k in enumerate(source):
                at = linear if k == source[-1] else linear // steps[n]
                found[k] = at if n == 0 else at % extents[n]
        return found

    name = ("reshape", e.ndim, len(to), *((tuple(a), tuple(b)) for a, b in groups))
    return remap(e, to, index, params, name=name, reads=partial(_reads, e.shape, to, groups) if e.size else None)


def _reads(source: Shape, out: Shape, groups: Sequence[tuple[list[int], list[int]]]) -> Reads:
    """Each run of axes is read along the last of them, and from there on into those before."""
    reads = [Read(0)] * len(source)
    for axes, into in groups:
        run = [k for k in axes if source[k] != 1]
        for before, k in itertools.pairwise(run):
            reads[k] = Read(0, (), k - before)
        terms = zip(into, _steps(out, into), strict=True)
        reads[run[-1]] = reads[run[-1]]._replace(terms=tuple((o, step) for o, step in terms if out[o] != 1))
    return tuple(reads)


def _groups(source: Shape, out: Shape) -> list[tuple[list[int], list[int]]]:
    """Runs of axes of the same size on both sides, as small as can be: outside of its run an axis is not touched."""
    groups, a, b = [], 0, 0
    if 0 in source or 0 in out:
        return [(list(range(len(source))), list(range(len(out))))] if source and out else []
    while a < len(source) or b < len(out):
        first_a, first_b = a, b
        m = n = 1
        if a < len(source):
            m, a = source[a], a + 1
        if b < len(out):
            n, b = out[b], b + 1
        while m != n:
            if m < n:
                m, a = m * source[a], a + 1
            else:
                n, b = n * out[b], b + 1
        if m > 1:
            groups.append((list(range(first_a, a)), list(range(first_b, b))))
    return groups


def _steps(shape: Shape, axes: Sequence[int]) -> list[int]:
    return [prod(shape[k] for k in axes[n + 1 :]) for n in range(len(axes))]


def transpose(src: Any, axes: Sequence[int] | None = None) -> Expr:
    """out.shape[k] = src.shape[axes[k]]; without `axes`, all reversed. A view of a Tensor. Raises ShapeError unless `axes` is a
    permutation. (mshadow extension/transpose.h)
    """
    e = operand(src, "transpose")
    order = shapes.permutation(range(e.ndim)[::-1] if axes is None else axes, e.shape)
    if isinstance(e, Tensor):
        return e.transposed(order)
    return remap(
        e,
        tuple(e.shape[a] for a in order),
        lambda i, p: [i[order.index(k)] for k in range(e.ndim)],
        name=("transpose", *order),
        reads=lambda: tuple(Read(0, ((order.index(k), 1),)) for k in range(e.ndim)),
    )


def swapaxis(src: Any, a1: int, a2: int) -> Expr:
    """Two axes exchanged; a view of a Tensor (NumPy's swapaxes, mshadow swapaxis<a1, a2>). Raises ShapeError."""
    e = operand(src, "swapaxis")
    order = list(range(e.ndim))
    x, y = (shapes.axis_of(a, e.ndim, "swapaxis") for a in (a1, a2))
    order[x], order[y] = order[y], order[x]
    return transpose(e, order)


def flip(src: Any, axis: int) -> Expr:
    """out[..., k, ...] = src[..., n - 1 - k, ...]; a view of a Tensor (mshadow flip). Raises ShapeError."""
    e = operand(src, "flip")
    at = shapes.axis_of(axis, e.ndim, "flip")
    flipped: Expr = e[(slice(None),) * at + (slice(None, None, -1),)]
    return flipped


def mirror(src: Any) -> Expr:
    """The last of two or more axes turned round; a view of a Tensor (mshadow mirror). Raises ShapeError."""
    e = operand(src, "mirror")
    if e.ndim < 2:
        raise ShapeError(f"mirror: src has shape {e.shape}, it must have two axes or more")
    return flip(e, -1)


late |= {"transpose": transpose, "reshape": reshape}
