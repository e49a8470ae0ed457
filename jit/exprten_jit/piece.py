"""Some elements of axes at a time: all of a kernel is run for them, then for the next, so that what is computed before has room."""

from __future__ import annotations

from dataclasses import dataclass

from .folds import loads
from .ir import Axis, Leaf, Load, Size, Value, size
from .kernel import PIECE, Kernel
from .rewrite import affine


@dataclass(frozen=True)
class Piece:
    """The extent of an axis, the size that says how many elements of it are computed at a time, and within a piece how many pieces of them there are, and how many
    elements each operand that has it goes on from one of its indices to the next. A piece has so many elements `beyond` those that are its own, where there are. Where pieces are `alike`
    the last one has as many elements as the others.
    """

    extent: Size
    length: Size
    strides: tuple[tuple[Leaf, Value], ...]
    beyond: Value | None = None
    alike: bool = False


def pieces_of(kernel: Kernel) -> tuple[Piece, ...] | None:
    """How a kernel is run for some elements of its axes `rest.pieces`; None where an operand is read at several distances, or an index is a number."""
    assert kernel.rest is not None, "a kernel that may be run in pieces"
    found = [_piece(kernel, along, size(f"{PIECE}{n}")) for n, along in enumerate(kernel.rest.pieces)]
    whole = tuple(each for each in found if each is not None)
    return whole if len(whole) == len(found) else None


def _piece(kernel: Kernel, along: Axis, length: Size) -> Piece | None:
    extent, found = dict(kernel.axes)[along], dict[Leaf, set[Value]]()
    if not isinstance(extent, Size) or any(leaf.pairs for leaf in kernel.leaves):
        return None
    places = [(store.leaf, store.offset) for store in kernel.stores]
    places += [(x.leaf, x.offset) for store in kernel.stores for x, _ in loads(store.value)]
    for leaf, offset in places:
        form = affine(offset, along)
        if form is None or form[0].free:
            return None
        found.setdefault(leaf, set()).add(form[0])
    if any(len(strides) > 1 for strides in found.values()) or _counts(kernel, along):
        return None
    alike = kernel.rest is not None and kernel.rest.alike
    return Piece(extent, length, tuple((leaf, next(iter(strides))) for leaf, strides in found.items()), alike=alike)


def _counts(kernel: Kernel, along: Axis) -> bool:
    """Whether something is made of the index."""
    stack, seen = [store.value for store in kernel.stores], set[Value]()
    while stack:
        node = stack.pop()
        if node in seen or along not in node.free:
            continue
        seen.add(node)
        if node is along:
            return True
        if not isinstance(node, Load):
            stack.extend(node.children)
    return False
