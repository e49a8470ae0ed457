"""Which statements are called directly, and how machine code finds their operands.

A statement that has run a few times, element-wise over packed tensors of one layout, gets a builtin that reads addresses and
scalars out of the tree by itself: no Python between the operator and the kernel. It checks what may differ the next time -
layouts, memory, overlap - and hands back to Python whatever it was not made for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from exprten_jit.dtypes import DTYPES
from exprten_jit.hostcall import Direct, Reader, direct, slot_offsets

from .buffer import Buffer
from .device import cpu
from .expr import Apply, Expr, Scalar, Weak
from .key import Key
from .shape import Layout
from .statement import Arranged, Gathered

if TYPE_CHECKING:
    from .tensor import Tensor

MAX_OPERANDS = 64  # leaves and scalars of a directly called statement

Path = tuple[int, ...]
FLOAT64 = DTYPES["float64"]


@cache
def _reader(tensor: type) -> Reader:
    t = slot_offsets(tensor(()), ("layout", "buffer", "offset", "writable"))
    b = slot_offsets(Buffer(0, 0, None, cpu(), owned=False, readonly=True), ("address",))
    y = slot_offsets(Layout((), ()), ("size", "packed"))
    return Reader(t["layout"], t["buffer"], t["offset"], t["writable"], b["address"], y["size"], y["packed"])


@cache
def _operands() -> tuple[tuple[int, int, int], int]:
    """Offsets of the operands of an Apply, and of the value of a Scalar."""
    a = slot_offsets(Apply(), ("a", "b", "c"))
    return (a["a"], a["b"], a["c"]), slot_offsets(Scalar(0.0, FLOAT64), ("value",))["value"]


def make(
    target: Tensor,
    e: Expr | Weak,
    found: Gathered,
    operand_of: Sequence[int],
    arranged: Arranged,
    address: int,
    most: int,
) -> Callable[[Any, Any], Any] | None:
    """The direct call of a statement, or None where it is not one for it."""
    alike = target.layout.packed and all(leaf.layout is target.layout for leaf in found.leaves)
    plain = not (arranged.signature.indexed or arranged.signature.reverse) and len(arranged.sizes) == 1
    if not (alike and plain and isinstance(e, Expr) and e.key.paths <= MAX_OPERANDS):
        return None
    tree = _Tree()
    if not tree.walk(e, ()):
        return None
    number = {id(leaf): operand_of[n] for n, leaf in enumerate(found.leaves, 1)}
    leaves = tuple((path, number[id(leaf)], leaf.key.dtype.itemsize) for path, leaf in tree.leaves)
    return direct(
        Direct(address, target.key.dtype.itemsize, leaves, tuple(tree.scalars), most), _reader(_plain_type(target))
    )


def _plain_type(target: Tensor) -> type:
    """Tensor itself: a subclass keeps the offsets of its slots, and may be awkward to make."""
    return next(c for c in type(target).__mro__ if c.__name__ == "Tensor")


class _Tree:
    """Paths to the leaves and scalars of a tree, in the order in which `gather` meets them."""

    def __init__(self) -> None:
        self.leaves: list[tuple[Path, Tensor]] = []
        self.scalars: list[tuple[Path, str]] = []
        self.seen: set[int] = set()

    def walk(self, node: Expr, path: Path) -> bool:
        """False where the tree shares a node (the next one with this key may not) or has a scalar to be range-checked."""
        slots, value = _operands()
        if isinstance(node, Scalar):
            self.scalars.append(((*path, value), node.key.dtype.word))
            again, convertible = id(node) in self.seen, node.key.dtype.kind in "fi"
            self.seen.add(id(node))
            return convertible and not again
        if not isinstance(node, Apply):
            self.leaves.append((path, node))  # type: ignore[arg-type]  # a plain statement has no other kind
            return True
        if id(node) in self.seen:
            return False
        self.seen.add(id(node))
        steps = list(zip(node.operands, node.key.types, slots, strict=False))
        if not all(self.walk(x, (*path, slot)) for x, _, slot in steps if isinstance(x, Expr)):
            return False
        for x, row, slot in steps:
            if not isinstance(x, Expr):
                if row.word != "d":
                    return False
                self.scalars.append(((*path, slot), row.word))
        return True


def keep(key: Key, mode: str, value: Key, call: Callable[[Any, Any], Any]) -> None:
    """Let the assignment operator find the call."""
    name = f"{mode}_call"
    if not hasattr(key, name):
        setattr(key, name, {})
    getattr(key, name)[value] = call
