"""Where an axis is cut: a guard or a quotient of it is constant within a piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .dtypes import INDEX
from .folds import folds_of
from .ir import Axis, Const, Local, Op, Store, Value, local
from .rewrite import affine, substitute, walk
from .vectors import roots_of

PIECE_NAME = "piece"  # of what is bound for a piece that outer loops run in
PIECE = local("piece_start", INDEX), local("piece_end", INDEX)


@dataclass(frozen=True)
class Cut:
    """One guard or quotient, of `sign * axis + rest`."""

    original: Op
    sign: int
    rest: Value
    other: Value  # what the guard compares with, or the divisor

    def change(self, now: Value) -> Value:
        """The first index at which this is no longer what it is at the start of the piece, if that lies ahead."""
        if self.original.op == "floor_divide":
            return (now + 1) * self.other - self.rest if self.sign > 0 else self.rest - now * self.other + 1
        return self.other - self.rest if self.sign > 0 else self.rest - self.other + 1


def cuts_of(stores: Iterable[Store], axis: Axis) -> list[Cut]:
    """All guards and quotients that can be cut at, inner quotients first: an outer one is affine once they are known."""
    found: dict[Value, Cut] = {}
    constant: dict[Value, Value] = {}
    roots = roots_of(stores)
    folded = {node.axis for node in folds_of(*roots)}
    for node in walk(*roots):
        if not isinstance(node, Op) or axis not in node.free or node.free & folded or not _is_index_op(node):
            continue
        left, right = (substitute(arg, constant) for arg in node.args)
        form = affine(left, axis)
        if axis in right.free or form is None or not isinstance(form[0], Const) or abs(form[0].value) != 1:
            continue
        if form[0].value:
            found[node] = Cut(node, int(form[0].value), form[1], right)
            constant[node] = local(f"cut{len(found)}", node.dtype)
    names = {constant[original]: original for original in found}
    back = dict[Value, Value](names)
    return [replace(c, rest=substitute(c.rest, back), other=substitute(c.other, back)) for c in found.values()]


@dataclass(frozen=True)
class Pieced:
    """Stores in terms of locals that are bound anew for every piece: to guards and quotients that are `known` where it starts, until one
    of `changes`.
    """

    stores: tuple[Store, ...]
    known: tuple[tuple[Local, Value], ...]
    changes: tuple[Value, ...]


def pieced(stores: Iterable[Store], cuts: Sequence[Cut], axis: Axis, start: Local, name: str) -> Pieced:
    """What stores are in a piece from `start` on."""
    names: dict[Value, Local] = {cut.original: local(f"{name}{n}", cut.original.dtype) for n, cut in enumerate(cuts)}
    at_start: dict[Value, Value] = {axis: start}
    known = tuple(
        (names[c.original], substitute(substitute(c.original, others(names, c.original)), at_start)) for c in cuts
    )
    changes = tuple(substitute(cut.change(names[cut.original]), dict(names)) for cut in cuts)
    return Pieced(tuple(rename(store, dict(names)) for store in stores), known, changes)


def others(names: dict[Value, Local], own: Value) -> dict[Value, Value]:
    """The names without that of `own`."""
    return {value: name for value, name in names.items() if value is not own}


def rename(store: Store, names: dict[Value, Value]) -> Store:
    """A store in terms of names."""
    return replace(store, offset=substitute(store.offset, names), value=substitute(store.value, names))


def _is_index_op(node: Op) -> bool:
    compares = node.op in ("less", "greater_equal") and node.args[0].dtype is INDEX
    return compares or node.op == "floor_divide"
