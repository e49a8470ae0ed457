"""Expressions that are read at other places as expressions of views: `(x - max(x, 0))[:, ::-1]` is `x[:, ::-1] - max(x[:, ::-1], 0)`.

So what is made of them has the axes that it is read along, and loops, folds and vectors go by those. What no stride shows, as a
counter or padding, is read at other places by a Remap.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from exprten_jit.ir import Value
from exprten_jit.ir import index as number

from . import shape as shapes
from .expand import over, remade
from .expr import Apply, Expr, applied_again, late
from .leaf import Leaf
from .reduction import Reduce, folded_again
from .remap import Read, Reads, Remap, remap
from .shape import Shape

Asked = tuple[Expr, Reads, Shape]
Origins = dict[int, tuple[Expr, Expr]]  # nodes that were made, by their identity, and what each has elements of


@dataclass(frozen=True)
class Written:
    """A tree as it was written, and what was made of it."""

    tree: Expr
    made: Expr
    origins: Origins

    def origin(self, node: Expr) -> Expr:
        """What a node of the one has elements of, in the other."""
        return self.origins[id(node)][1] if id(node) in self.origins else node


class ApartError(Exception):
    """Axes that a reshape brings together are apart in an operand."""


def as_views(root: Expr) -> Written:
    """The tree with views of its operands in place of Remaps, where there are such. What no view shows is read last, where that may be."""
    origins: Origins = {}

    def change(node: Expr, args: list[Any]) -> Expr:
        if not isinstance(node, Apply):  # these have the shape that their operands come to
            given = zip(args, node.operands, strict=True)
            args = [_under(x, old.shape, origins) if isinstance(old, Expr) else x for x, old in given]
        if isinstance(node, Remap) and node.reads is not None:
            with contextlib.suppress(ApartError):
                return read_at(args[0], node.reads(), node.shape, origins)
        sources = _sources(args)
        if sources and isinstance(node, Apply):
            moved = next(x for x in args if isinstance(x, Remap))
            return _noted(over(moved, [_noted(applied_again(node, sources), node, origins)]), node, origins)
        if sources and isinstance(node, Reduce) and len(node.key.map.axes) == node.key.map.ndim:
            ndim = sources[0].ndim
            all_of_it = replace(node.key.map, ndim=ndim, axes=tuple(range(ndim)), keepdims=False)
            return _noted(folded_again(node, sources, all_of_it), node, origins)
        if all(new is old for new, old in zip(args, node.operands, strict=True)):
            return node
        return _noted(over(node, args), node, origins)

    return Written(root, remade(root, change), origins)


def _under(x: Expr, shape: Shape, origins: Origins) -> Expr:
    """One element under the shape that it had."""
    return x if x.shape == shape else read_at(x, tuple(Read(0) for _ in x.shape), shape, origins)


def _sources(args: Sequence[Any]) -> list[Any]:
    """What all operands of more than one element are reshaped from alike, in their places; nothing where there are others."""
    several = [x for x in args if isinstance(x, Expr) and x.size != 1]
    moved = [x for x in several if isinstance(x, Remap) and x.map.title == "reshape"]
    if not moved or len(moved) < len(several):
        return []
    src = moved[0].src
    alike = len({(id(x.map), x.params, x.shape, x.src.shape) for x in moved}) == 1
    flat = all(x.ndim <= src.ndim for x in args if isinstance(x, Expr) and x.size == 1)
    return [x.src if isinstance(x, Remap) and x.size != 1 else x for x in args] if alike and flat else []


def _noted(made: Expr, of: Expr, origins: Origins) -> Expr:
    if made is not of:
        origins[id(made)] = made, origins[id(of)][1] if id(of) in origins else of
    return made


def read_at(e: Expr, reads: Reads, shape: Shape, origins: Origins) -> Expr:
    """`e` where `reads` says, under a shape whose axes these are; an axis that none of them has, has one element. Raises ApartError. No
    recursion: trees may be deep.
    """
    made: dict[tuple[int, Reads, Shape], Expr] = {}
    stack: list[Asked] = [(e, reads, shape)]
    while stack:
        node, at, to = stack[-1]
        needs = _needs(node, at, to)
        missing = [need for need in needs if (id(need[0]), need[1], need[2]) not in made]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        args = [made[id(x), read, extents] for x, read, extents in needs]
        made[id(node), at, to] = _noted(_made(node, at, to, args), node, origins)
    return made[id(e), reads, shape]


def _needs(node: Expr, reads: Reads, shape: Shape) -> list[Asked]:
    """The operands that are read at other places, and where."""
    if _as_it_is(node, reads, shape):
        return []
    if isinstance(node, Apply):
        return [_aligned(x, node.shape, reads, shape) for x in node.operands if isinstance(x, Expr)]
    if isinstance(node, Reduce):
        return [(x, *_unfolded(node, reads, shape)) for x in node.operands]
    return []


def _made(node: Expr, reads: Reads, shape: Shape, made: Sequence[Expr]) -> Expr:
    """A node of operands that are read at other places."""
    if _as_it_is(node, reads, shape):
        return node
    if isinstance(node, Apply | Reduce) and made:
        return _applied(node, made) if isinstance(node, Apply) else _folded(node, reads, shape, made)
    if isinstance(node, Leaf) and node.buffer.address:
        return _view(node, reads, shape)
    if any(read.joins for read in reads):
        raise ApartError
    return _remap(node, reads, shape)


def _applied(node: Apply, made: Sequence[Expr]) -> Apply:
    rest = iter(made)
    return applied_again(node, [next(rest) if isinstance(x, Expr) else x for x in node.operands])


def _folded(node: Reduce, reads: Reads, shape: Shape, made: Sequence[Expr]) -> Reduce:
    over = node.key.map
    if not _stays(node, reads, shape):
        last = tuple(range(len(shape), len(shape) + len(over.axes)))
        over = replace(over, ndim=len(shape) + len(last), axes=last, keepdims=False)
    return folded_again(node, made, over)


def _as_it_is(node: Expr, reads: Reads, shape: Shape) -> bool:
    """Whether every element is read where it is."""
    if node.shape != shape:
        return False
    places = ((0,) if n == 1 else (0, k) for k, n in enumerate(shape))
    return all(_place(read, shape) == place for read, place in zip(reads, places, strict=True))


def _place(read: Read, shape: Shape) -> tuple[int, ...] | None:
    """Where one starts that reads along axes of several elements, and these, if it takes each element of them."""
    terms = [(o, step) for o, step in read.terms if shape[o] != 1]
    return None if read.joins or any(step != 1 for _, step in terms) else (read.start, *(o for o, _ in terms))


def _aligned(x: Expr, around: Shape, reads: Reads, shape: Shape) -> Asked:
    """Where an operand of a node of a shape is read: it is aligned at the last axis, and repeated along those that it has not, or has once."""
    lead = len(around) - x.ndim
    has = [n >= lead and (x.shape[n - lead] != 1 or extent == 1) for n, extent in enumerate(around)]
    own = [read if has[n] else Read(0) for n, read in enumerate(reads)]
    for n, read in enumerate(reads):
        if read.joins and has[n] != has[n - read.joins]:
            raise ApartError
    used = {o for read in own[lead:] for o, _ in read.terms}
    gone = min(used, default=len(shape)) if lead else 0
    at = tuple(_along(read, lambda o: o - gone) for read in own[lead:])
    return x, at, tuple(n if o in used else 1 for o, n in enumerate(shape))[gone:]


def _unfolded(node: Reduce, reads: Reads, shape: Shape) -> tuple[Reads, Shape]:
    """Where the elements that a fold brings together are read: along the axes of the result, and then its own, unless these may stay in
    their places.
    """
    over, source = node.key.map, node.src.shape
    stays = _stays(node, reads, shape)
    mine = dict(zip(over.kept, over.kept if over.keepdims else range(node.ndim), strict=True))
    own = {k: k if stays else len(shape) + n for n, k in enumerate(over.axes)}
    of = {m: k for k, m in mine.items()}
    at, extents = [], dict(enumerate(shape))
    if stays:
        extents = {of[m]: shape[m] for m in of}
    extents |= {o: source[k] for k, o in own.items()}
    for k in range(over.ndim):
        if k in own:
            at.append(Read(0, ((own[k], 1),)))
            continue
        read = _along(reads[mine[k]], lambda o: of[o]) if stays else reads[mine[k]]
        at.append(read._replace(joins=k - of[mine[k] - read.joins]) if read.joins else read)
    return tuple(at), tuple(extents[o] for o in sorted(extents))


def _stays(node: Reduce, reads: Reads, shape: Shape) -> bool:
    """Whether the axes that are kept are those of the result, one for one."""
    over = node.key.map
    mine = over.kept if over.keepdims else range(node.ndim)
    return len(shape) == node.ndim and all(not reads[m].joins and [o for o, _ in reads[m].terms] == [m] for m in mine)


def _along(read: Read, name: Callable[[int], int]) -> Read:
    """The same along axes that have other names."""
    return read._replace(terms=tuple((name(o), step) for o, step in read.terms))


def _view(t: Leaf, reads: Reads, shape: Shape) -> Leaf:
    strides, extents = t.layout.strides, t.shape
    for n, read in enumerate(reads):
        if read.joins and strides[n - read.joins] != strides[n] * extents[n]:
            raise ApartError
    steps = [0] * len(shape)
    for read, stride in zip(reads, strides, strict=True):
        for o, step in read.terms:
            steps[o] += step * stride
    start = sum(read.start * stride for read, stride in zip(reads, strides, strict=True))
    view: Leaf = late["view"](t, 0 if 0 in shape else start, shapes.layout(shape, tuple(steps)))
    return view


def _remap(e: Expr, reads: Reads, shape: Shape) -> Remap:
    """A Remap; its name says which steps are 1 or -1: only these leave a row a row."""
    moved = any(read.start or any(step != 1 for _, step in read.terms) for read in reads)
    near = tuple(tuple((o, step if step in (1, -1) else None) for o, step in read.terms) for read in reads)

    def index(i: Sequence[Value], p: Sequence[Value]) -> list[Value]:
        numbers, out = iter(p), []
        for terms in near:
            at: Value = next(numbers) if moved else number(0)
            for o, step in terms:
                by = next(numbers) if moved else number(1)
                at = at + i[o] if step == 1 else at - i[o] if step == -1 else at + i[o] * by
            out.append(at)
        return out

    params = [n for read in reads for n in (read.start, *(step for _, step in read.terms))] if moved else []
    return remap(e, shape, index, params, name=("index", len(shape), moved, *near))
