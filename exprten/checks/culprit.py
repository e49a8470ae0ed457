"""The operation that made the first NaN or infinity: a statement is done again, one operation at a time.

An element is *gained* where it is NaN or infinite although all that was read for it is finite. An operation that is given such an
element hands it on, and has not made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from exprten_jit.interpret import evaluate
from exprten_jit.ir import axis

from ..errors import NonFiniteError
from ..expression.expand import over
from ..expression.expr import Apply, Expr, Weak, as_expr, build, cast, late
from ..expression.joined import Joined
from ..expression.leaf import Leaf
from ..expression.product import Dot
from ..expression.reduction import Reduce
from ..expression.remap import Remap
from ..expression.show import tree
from ..expression.stores import Row, Stores
from ..options import unwatched
from ..statement.running import Statement
from . import trail
from .places import Array, before, place

Index = tuple[int, ...]
OTHER, NONE = -1, -2


def run_and_look(s: Statement, run: Callable[[], None]) -> None:
    """Run a statement. Raises NonFiniteError where it gained a NaN or an infinity: the result stays stored."""
    state = before(s)
    run()
    stored = before(s)
    targets = [
        part for _, _, target in _rows(s) for part in (target.parts if isinstance(target, Joined) else (target,))
    ]
    if all(_finite(stored[place(part)]).all() for part in targets):
        return
    line = trail.here()
    with unwatched(s.options.interpret), np.errstate(all="ignore"):
        for row, value, target in _rows(s):
            look = _Look(state)
            whole = _whole(row, value, target)
            look.at(whole, line)
            if isinstance(target, Leaf):  # what is stored is what later statements read
                shape = (1,) * max(0, target.ndim - whole.ndim) + whole.shape[max(0, whole.ndim - target.ndim) :]
                state[place(target)] = np.broadcast_to(look.values[id(whole)].reshape(shape), target.shape)


def _rows(s: Statement) -> list[tuple[Row, Expr | Weak, Leaf | Joined]]:
    """The statements: how each value is stored, and to what."""
    if isinstance(s.value, Stores):
        return list(zip(s.value.key.map, s.value.values, s.value.targets, strict=True))
    return [(Row(s.mode.op, s.types), s.given, s.target)]


def _whole(row: Row, value: Expr | Weak, target: Leaf | Joined) -> Expr:
    """What is stored as one expression."""
    made = as_expr(value) if row.op is None else build(row.op, target, value)
    if made.key.dtype is not target.key.dtype:
        made = cast(made, target.key.dtype.numpy)
    if isinstance(value, Expr):
        trail.follow(made, value)
    return made


def _finite(x: Any) -> Array:
    array = np.asarray(x)
    return np.isfinite(array) if array.dtype.kind not in "bui" else np.ones(array.shape, bool)


def _order(root: Expr) -> Iterator[Expr]:
    """Every node below `root` once, operands first. No recursion: trees may be deep."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((x, False) for x in reversed(node.operands) if isinstance(x, Expr))


class _Look:
    """The values of all nodes of an expression over what tensors hold, and where each is gained or made of what is."""

    def __init__(self, state: dict[Any, Array]) -> None:
        self.state = state
        self.values: dict[int, Array] = {}
        self.gained: dict[int, Array] = {}
        self.sources: dict[int, Array] = {}  # of a Remap: which element each is, -1 for the other value

    def at(self, root: Expr, line: trail.Line) -> None:
        """Raise NonFiniteError for the first operation that made what `root` gained; `line` is that of the statement."""
        for node in _order(root):
            self._visit(node)
        gained = self.gained[id(root)]
        if gained.any():
            raise self._error(*self._first(root, _nth(gained)), line)

    def _visit(self, node: Expr) -> None:
        value = self.values[id(node)] = self._value(node)
        bad = ~_finite(value)
        operands = [x for x in node.operands if isinstance(x, Expr)]
        if not operands or not bad.any():
            self.gained[id(node)] = np.zeros(value.shape, bool)
            return
        given = self._reads(node, [~_finite(self._of(x)) for x in node.operands])
        handed = self._reads(node, [self.gained[id(x)] if isinstance(x, Expr) else np.False_ for x in node.operands])
        self.gained[id(node)] = bad & (~given | handed)

    def _value(self, node: Expr) -> Array:
        if isinstance(node, Leaf):
            return self.state[place(node)]
        if isinstance(node, Remap):
            return self._moved(node, [self._of(x) for x in node.operands])
        args = [late["borrow"](self.values[id(x)], "check") if isinstance(x, Expr) else x for x in node.operands]
        value: Array = late["evaluate"](over(node, args) if args else node).numpy()
        return value

    def _of(self, x: Expr | Weak) -> Any:
        return self.values[id(x)] if isinstance(x, Expr) else x

    def _reads(self, node: Expr, marks: list[Any]) -> Array:
        """For each element whether any that it is made of is marked."""
        match node:
            case Reduce(key=key):
                marked = np.asarray(np.logical_or.reduce(marks))
                return np.asarray(marked.any(axis=key.map.axes, keepdims=key.map.keepdims))
            case Dot():
                rows = marks[0].any(axis=-1)[..., None] if node.b.ndim > 1 else marks[0].any(axis=-1)
                columns = marks[1].any(axis=-2 if node.b.ndim > 1 else -1)
                columns = columns[..., None, :] if node.a.ndim > 1 and node.b.ndim > 1 else columns
                return np.broadcast_to(rows | columns, node.shape)
            case Remap():
                return self._moved(node, marks)
            case Apply() if node.key.op == "where":
                return np.broadcast_to(np.where(self._of(node.a), marks[1], marks[2]), node.shape)
        return np.broadcast_to(np.logical_or.reduce(np.broadcast_arrays(*marks)), node.shape)

    def _moved(self, node: Remap, operands: list[Any]) -> Array:
        """What a Remap makes of these values of its operands; 0 where it reads nothing."""
        source, src = self._sources(node), np.asarray(operands[0])
        found = src.ravel()[np.maximum(source, 0)] if src.size else np.zeros(node.shape, src.dtype)
        other = operands[1] if len(operands) > 1 else 0
        return np.where(source >= 0, found, np.where(source == OTHER, other, 0)).astype(src.dtype)

    def _sources(self, node: Remap) -> Array:
        """For each element the one of the source that it is, OTHER, or NONE: below a guard an index may lie outside."""
        found = self.sources.get(id(node))
        if found is None:
            at = {axis(f"o{k}"): i for k, i in enumerate(np.indices(node.shape))}
            sizes = {f"p{n}": value for n, value in enumerate(node.params)}

            def of(x: Any) -> Array:
                return np.broadcast_to(evaluate(x, at, {}, sizes), node.shape)

            index = [of(x) for x in node.map.index]
            inside = [(i >= 0) & (i < n) for i, n in zip(index, node.src.shape, strict=True)]
            there = np.logical_and.reduce(np.broadcast_arrays(np.ones(node.shape, bool), *inside))
            flat = (
                np.ravel_multi_index([np.where(there, i, 0) for i in index], node.src.shape)
                if index and node.src.size
                else 0
            )
            found = np.where(there, flat, NONE)
            if node.map.valid is not None:
                found = np.where(of(node.map.valid), found, OTHER)
            self.sources[id(node)] = found
        return found

    def _first(self, node: Expr, index: Index) -> tuple[Expr, Index]:
        """The operation that made an element, and the element of it: the first operand that has it, as long as one does."""
        while True:
            for operand, places in self._operands(node, index):
                marked = self.gained[id(operand)] & places
                if marked.any():
                    node, index = operand, _nth(marked)
                    break
            else:
                return node, index

    def _operands(self, node: Expr, index: Index) -> Iterator[tuple[Expr, Array]]:
        """What an element of a node is made of: operands, and which elements of them."""
        for k, x in enumerate(node.operands):
            if isinstance(x, Expr):
                yield x, self._places(node, index, k, x)

    def _places(self, node: Expr, index: Index, k: int, operand: Expr) -> Array:
        mask = np.zeros(operand.shape, bool)
        match node:
            case Reduce(key=key):
                at = iter(index if not key.map.keepdims else [i for a, i in enumerate(index) if a not in key.map.axes])
                mask[tuple(slice(None) if a in key.map.axes else next(at) for a in range(operand.ndim))] = True
            case Dot():
                if operand.ndim == 1:
                    return ~mask
                own = (node.a.ndim > 1) + (node.b.ndim > 1)
                lead, inner = _aligned(operand.shape[:-2], index[: len(index) - own]), index[len(index) - own :]
                (mask[lead] if k == 0 else mask[lead].T)[inner[0] if k == 0 else inner[-1]] = True
            case Remap():
                source = int(self._sources(node)[index])
                if k == 0 and source >= 0:
                    mask.ravel()[source] = True
                elif k == 1 and source == OTHER:
                    mask[_aligned(operand.shape, index)] = True
            case Apply() if node.key.op == "where" and k and (k == 1) is not bool(self._number(node.a, index)):
                pass
            case _:
                mask[_aligned(operand.shape, index)] = True
        return mask

    def _number(self, x: Expr | Weak, index: Index) -> Any:
        return self.values[id(x)][_aligned(x.shape, index)] if isinstance(x, Expr) else x

    def _error(self, node: Expr, index: Index, line: trail.Line) -> NonFiniteError:
        value = self.values[id(node)][index]
        if isinstance(node, Apply):
            numbers = " and ".join(repr(np.asarray(self._number(x, index)).item()) for x in node.operands)
            many = len(node.operands) > 1
            of = f"its operand{'s are' if many else ' is'} {numbers}"
        else:
            read = np.concatenate([self._of(x)[mask] for x, mask in self._operands(node, index)])
            of = f"it is made of {read.size} finite numbers, the largest {np.abs(read).max().item()!r} in size"
        at = f" at index {index}" if node.shape else ""
        return NonFiniteError(
            f"check: {tree(node, 3)} is {value.item()!r}{at}, and {of}\n  {trail.shown(trail.line_of(node) or line)}"
        )


def _aligned(shape: Index, index: Index) -> Index:
    """The index of an operand that is broadcast."""
    own = index[len(index) - len(shape) :] if shape else ()
    return tuple(0 if n == 1 else i for n, i in zip(shape, own, strict=True))


def _nth(marked: Array) -> Index:
    """The first that is marked."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(marked)), marked.shape))
