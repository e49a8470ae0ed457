"""Remap: the values of an expression read at other places. Every extension that moves values is one of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from exprten_jit.ir import Value, axis, size

from . import shape as shapes
from .expr import Expr, Weak, check_size, late
from .key import remap_key
from .shape import Shape


@dataclass(frozen=True)
class IndexMap:
    """Where a Remap reads: `index` for each source axis and `valid`, over `Axis("o<k>")` (output axis k) and `Size("p<n>")`
    (parameter n). Parameters are numbers of the node, so another width or offset is no other kernel.
    """

    index: tuple[Value, ...]
    valid: Value | None
    count: int  # of parameters
    title: str  # what the user wrote, for texts


class Remap(Expr):
    """The value at i is `src[index(i)]` where `valid(i)`, else `other` at i. Where views could show it, `reads` says what they read."""

    __slots__ = ("map", "other", "params", "reads", "src")

    src: Expr
    map: IndexMap
    params: tuple[int, ...]
    other: Expr | Weak | None
    reads: Callable[[], Reads] | None

    @property
    def operands(self) -> tuple[Expr | Weak, ...]:
        """What it is computed from."""
        return (self.src,) if self.other is None else (self.src, self.other)


class Read(NamedTuple):
    """The index along an axis: `start`, and so many steps of each of some axes of the result. With `joins` it runs on beyond the axis: into the
    next index of the one so many before it.
    """

    start: int
    terms: tuple[tuple[int, int], ...] = ()
    joins: int = 0


Reads = tuple[Read, ...]  # one of each axis of what is read

Build = Callable[[Sequence[Value], Sequence[Value]], Sequence[Value]]
Guard = Callable[[Sequence[Value], Sequence[Value]], Value]

_maps: dict[tuple[Any, ...], IndexMap] = {}
_params: dict[tuple[int, ...], tuple[int, ...]] = {}  # equal parameters are one object
MAX_PARAMS = 65536  # of them; beyond it the table starts afresh
_named_maps: dict[tuple[Any, ...], IndexMap] = {}


def remap(
    src: Expr,
    shape: Shape,
    index: Build,
    params: Sequence[int] = (),
    valid: Guard | None = None,
    other: Expr | Weak | None = None,
    name: tuple[Any, ...] | None = None,
    reads: Callable[[], Reads] | None = None,
) -> Remap:
    """`src` read at other places. `index(i, p)` gives the source index for output index `i` and parameters `p`; where
    `valid(i, p)` is false the value is `other`, of `src`'s type, broadcast to `shape`. Two calls with one `name` build the same
    `index` and `valid`, so they are built once; its first entry is the name shown in texts. `reads` says the same where it is affine.
    """
    made = None if name is None else _named_maps.get(name)
    if made is None:
        made = _index_map(len(shape), len(params), index, valid, "remap" if name is None else str(name[0]))
        if name is not None:
            _named_maps[name] = made
    other_key = None if other is None else other.key if isinstance(other, Expr) else type(other)
    node = Remap()
    node.key = remap_key(made, src.key, other_key, made.title)
    node.shape = shapes.intern_shape(shape)
    node.src, node.map, node.other, node.reads = src, made, other, reads
    if len(_params) >= MAX_PARAMS:
        _params.clear()
    node.params = _params.setdefault(tuple(params), tuple(params))
    check_size(node)
    return node


def _index_map(
    ndim: int,
    count: int,
    index: Build,
    valid: Guard | None,
    title: str,
) -> IndexMap:
    i = [axis(f"o{k}") for k in range(ndim)]
    p = [size(f"p{n}") for n in range(count)]
    made = IndexMap(tuple(index(i, p)), valid(i, p) if valid else None, count, title)
    # values are hash-consed and kept by the map, so their identities name it
    return _maps.setdefault((*map(id, made.index), id(made.valid), count, title), made)


def picked_expr(src: Expr, picked: Sequence[shapes.Picked]) -> Remap:
    """Indexing of an expression, as a Remap."""
    kept = [p for p in picked if p.keeps]
    read = [p for p in picked if p.axis is not None]

    def index(i: Sequence[Value], p: Sequence[Value]) -> list[Value]:
        out = []
        for n, part in enumerate(read):
            start, step = p[2 * n], p[2 * n + 1]
            if not part.keeps:
                out.append(start)
            elif part.step in (1, -1):  # in the structure: only these leave a row a row
                at = i[kept.index(part)]
                out.append(start + at if part.step > 0 else start - at)
            else:
                out.append(start + i[kept.index(part)] * step)
        return out

    params = [value for part in read for value in (part.start, part.step)]
    name = (
        "index",
        len(kept),
        *((kept.index(p) if p.keeps else None, p.step if p.step in (1, -1) else None) for p in read),
    )

    def reads() -> Reads:
        return tuple(Read(p.start, ((kept.index(p), p.step),) if p.keeps else ()) for p in read)

    return remap(src, tuple(p.extent for p in kept), index, params, name=name, reads=reads)


late["pick"] = picked_expr
