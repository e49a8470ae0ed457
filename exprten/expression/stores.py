"""Several values, each stored to a tensor of its own: what a kernel of several statements is, as one expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exprten_jit.dtypes import DType

from ..errors import AliasError
from . import shape as shapes
from .expr import Expr, Weak, check_size
from .key import Key
from .leaf import Leaf


@dataclass(frozen=True)
class Row:
    """How a value is stored: combined with the target by `op` in `types`, or, without one, converted to the one type. `strict`: it
    reads the target only where it is stored.
    """

    op: str | None
    types: tuple[DType, ...]
    strict: bool = False


class Stores(Expr):
    """`values[k]` goes to `targets[k]`, one after the other. `title` and `names`, of leaves, are for texts."""

    __slots__ = ("names", "targets", "title", "values")

    values: tuple[Expr | Weak, ...]
    targets: tuple[Leaf, ...]
    title: str
    names: Mapping[int, str]  # by identity

    @property
    def operands(self) -> tuple[Expr | Weak, ...]:
        """What it is computed from, and what is stored to."""
        return (*self.values, *self.targets)

    def refusal(self, leaf: Leaf) -> AliasError:
        """The error for a target that is read, through `leaf`, where it holds neither its old nor its new value for certain."""
        what = self.names.get(id(leaf), "a view")
        return AliasError(
            f"{self.title}: {what} {leaf.described} and strides {leaf.strides} reads memory that the kernel stores to, at other positions "
            "or through a fold; a kernel reads what it stores only where it stores it: make it two kernels, or read a copy"
        )


_keys: dict[tuple[Any, ...], Key] = {}


def stores(
    rows: Sequence[Row], values: Sequence[Expr | Weak], targets: Sequence[Leaf], title: str, names: Mapping[int, str]
) -> Stores:
    """The node of several stores. Targets have one shape; values broadcast to it, but for leading axes of one element."""
    kinds = [x.key if isinstance(x, Expr) else x.__class__ for x in values]
    name = (tuple(rows), *kinds, *(t.key for t in targets))
    key = _keys.get(name)
    if key is None:
        types = (*(row.types[-1] for row in rows), *(t.key.dtype for t in targets))
        key = Key("stores", targets[0].key.dtype, targets[0].key.device, (*kinds, *(t.key for t in targets)), types)
        key.map = tuple(rows)
        key = _keys.setdefault(name, key)
    node = Stores()
    lead = max((len(x.shape) - len(targets[0].shape) for x in values if isinstance(x, Expr)), default=0)
    node.key, node.shape = key, shapes.intern_shape((1,) * max(lead, 0) + targets[0].shape)
    node.values, node.targets, node.title, node.names = tuple(values), tuple(targets), title, names
    check_size(node)
    return node
