"""A kernel's function, called once with tensors that have no memory yet: what it stores is recorded, to be stored at every call.

record the statements -> (for each call) the same trees over the tensors of the call
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..assign import check_shape, types_of
from ..checks import trail
from ..errors import ShapeError
from ..expression.expand import without_calls
from ..expression.expr import Apply, Expr, Scalar, Weak, apply_key, coerce, shape_of
from ..expression.leaf import Leaf
from ..expression.number import Limit, Number, evaluate
from ..expression.reduction import Reduce
from ..expression.remap import Remap
from ..expression.stores import Row, Stores, stores
from ..modes import Mode
from ..statement.gather import Gathered, gather
from ..storage.buffer import Promised
from ..tensor import Tensor, handle, same_view, view_of

ELEMENTWISE = (Apply, Leaf, Scalar)


@dataclass(frozen=True)
class Recorded:
    """A statement of a kernel, over arguments without memory."""

    mode: Mode
    row: Row
    target: Leaf
    value: Expr | Weak


class Trace:
    """What a function stores to its arguments. `views` are tensors like those of a call: element types and layouts."""

    def __init__(self, title: str, names: Sequence[str], views: Sequence[Tensor]) -> None:
        self.title = title
        self.names = tuple(names)
        self.statements: list[Recorded] = []
        self.limits: list[Limit] = []
        self.generic = True  # for other extents too
        self.handles = tuple(
            handle(t.key.dtype, Promised(self, k, t.device), 0, t.layout, t.writable) for k, t in enumerate(views)
        )

    def record(self, mode: Mode, target: Leaf, value: Any) -> None:
        """A statement. Raises what can be known of it now."""
        e = without_calls(coerce(value, f"assign: target {mode.symbol} value"), self.title)
        if isinstance(e, Leaf) and same_view(e, target) and not mode.op:
            return
        if self.statements and self.statements[0].target.shape != target.shape:
            raise ShapeError(
                f"{self.title}: the targets of one kernel have one shape, and {self.name_of(target)} has {target.shape}, "
                f"{self.name_of(self.statements[0].target)} {self.statements[0].target.shape}; make it two kernels"
            )
        check_shape(mode, target, e)
        types = types_of(mode, target, e)
        self._check(e)
        self._check(target)
        self.statements.append(Recorded(mode, Row(mode.op, types, mode.name == "inplace"), target, e))

    def name_of(self, leaf: Leaf) -> str:
        """The parameter that a leaf is, or is a view of."""
        return self.names[leaf.buffer.position] if isinstance(leaf.buffer, Promised) else "a tensor"

    def shown(self, leaf: Leaf) -> str:
        """A leaf in a text: a view has its shape."""
        return self.name_of(leaf) if whole(leaf) else f"{self.name_of(leaf)}{leaf.shape}"

    @property
    def leaves(self) -> list[Leaf]:
        """All that the statements read and store to."""
        trees = (tree for s in self.statements for tree in (s.target, s.value))
        return [node for tree in trees for node in _nodes(tree) if isinstance(node, Leaf)]

    def _check(self, e: Expr | Weak) -> None:
        """Raise TypeError for a tensor that is no argument; note what depends on the extents."""
        for node in _nodes(e):
            if isinstance(node, Leaf):
                if not isinstance(node.buffer, Promised) or node.buffer.trace is not self:
                    raise TypeError(
                        f"{self.title}: the tensor {node.described} is no argument of the kernel; a kernel is traced once, so give it "
                        "every tensor as a positional argument"
                    )
                self.generic &= whole(node)
            elif not isinstance(node, ELEMENTWISE):
                self.generic = False

    def at(self, tensors: Sequence[Tensor], scalars: Mapping[str, Any]) -> Stores:
        """The statements over the tensors and scalars of a call. Raises ShapeError, OverflowError, and what Python's arithmetic raises."""
        known: dict[int, Any] = {}
        self.check_limits(scalars, known)
        return self._over(_Made(tensors, lambda x: evaluate(x, scalars, known)))

    def _over(self, made: _Made) -> Stores:
        values, targets = [], []
        for s in self.statements:
            target = made.leaf(s.target)
            value = made.of(s.value)
            check_shape(s.mode, target, value)
            values.append(value)
            targets.append(target)
        names = {id(t): name for t, name in zip(made.tensors, self.names, strict=True)}
        names |= {id(leaf): self.name_of(old) for leaf, old in made.views}
        return stores([s.row for s in self.statements], values, targets, self.title, names)

    def check_limits(self, scalars: Mapping[str, Any], known: dict[int, Any]) -> None:
        """Raise OverflowError or ValueError where an int is not what the statements take."""
        for limit in self.limits:
            value = evaluate(limit.number, scalars, known)
            if not limit.low <= value <= limit.high:
                limit.check(value)

    @cached_property
    def template(self) -> Stores:
        """The statements over the arguments without memory."""
        return self._over(_Made(self.handles, lambda x: x))

    @cached_property
    def gathered(self) -> Gathered:
        """The template taken apart: what a call is made of, in the same order."""
        return gather(self.template, self.template.key.dtype, self.template.targets[0])

    @cached_property
    def own(self) -> tuple[int, ...]:
        """The scalars, by their number, that no argument decides: of a mean the number of elements, which differs between shapes."""
        found = self.gathered
        if any(len(word) > 1 for word in found.words):  # a complex number is two
            return ()
        return tuple(n for n, x in enumerate(found.scalars) if type(x) is not Number)


class _Made:
    """The nodes of a trace over other tensors and scalars, each made once."""

    def __init__(self, tensors: Sequence[Tensor], scalar: Callable[[Any], Any]) -> None:
        self.tensors = tensors
        self.scalar = scalar
        self.views: list[tuple[Leaf, Leaf]] = []
        self.nodes: dict[int, Expr] = {}

    def of(self, e: Expr | Weak) -> Expr | Weak:
        if not isinstance(e, Expr):
            return self.scalar(e)  # type: ignore[no-any-return]
        for node in _nodes(e):
            if id(node) not in self.nodes:
                self.nodes[id(node)] = self.leaf(node) if isinstance(node, Leaf) else self._again(node)
                trail.follow(self.nodes[id(node)], node)
        return self.nodes[id(e)]

    def leaf(self, old: Leaf) -> Leaf:
        found = self.nodes.get(id(old))
        if isinstance(found, Leaf):
            return found
        assert isinstance(old.buffer, Promised), "a trace has no other leaves"
        tensor = self.tensors[old.buffer.position]
        if whole(old):
            made = tensor
        else:
            made = view_of(tensor, old.offset // tensor.key.dtype.itemsize, old.layout)
            self.views.append((made, old))
        self.nodes[id(old)] = made
        return made

    def _again(self, node: Expr) -> Expr:
        """A node over operands that are made already."""
        match node:
            case Apply():
                args = [self._operand(x) for x in node.operands]
                return apply_key(node.key, args, shape_of(args, node.key.op))
            case Scalar(value=value):
                number = Scalar(self.scalar(value), node.key.dtype)
                number.key = node.key  # which may count
                return number
            case Reduce():
                folded = Reduce()
                folded.key, folded.shape = node.key, node.shape
                for name, x in zip(("src", "second", "third"), node.operands, strict=False):
                    setattr(folded, name, self.nodes[id(x)])
                return folded
            case Remap():
                moved = Remap.__new__(type(node))
                moved.key, moved.shape, moved.map, moved.params = node.key, node.shape, node.map, node.params
                moved.src = self.nodes[id(node.src)]
                moved.other = None if node.other is None else self._operand(node.other)
                moved.reads = node.reads
                return moved
        return node  # a counter

    def _operand(self, x: Expr | Weak) -> Expr | Weak:
        return self.nodes[id(x)] if isinstance(x, Expr) else self.scalar(x)


def whole(leaf: Leaf) -> bool:
    """Whether a leaf of a trace is all of an argument, as it is."""
    assert isinstance(leaf.buffer, Promised), "a trace has no other leaves"
    return not leaf.offset and leaf.layout is leaf.buffer.trace.handles[leaf.buffer.position].layout


def _nodes(e: Expr | Weak) -> list[Expr]:
    """All nodes below `e`, operands first. No recursion: trees may be deep."""
    order: list[Expr] = []
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(e, False)] if isinstance(e, Expr) else []
    while stack:
        node, expanded = stack.pop()
        if expanded:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((x, False) for x in node.operands if isinstance(x, Expr))
    return order
