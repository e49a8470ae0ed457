"""The rules of kernel IR, checked whenever a kernel is made: a breach is our mistake, never the user's."""

from __future__ import annotations

from .derived import TABLE
from .dtypes import BOOL, INDEX
from .ir import Axis, Component, Const, Fold, Load, Local, Op, Param, Size, Table, Value
from .kernel import Kernel
from .ops import CASTS, PRIMITIVE
from .reducers import SEVERAL, identities, reducer_of
from .reducers import TABLE as REDUCERS
from .rewrite import walk

# what is rounded to a wide type, and then to a narrow one, is rounded twice
_OF_FORMULAS = ("fma", "scale", "times_power")


class IRError(AssertionError):
    """A kernel breaks a rule of the IR."""


def check(kernel: Kernel) -> None:
    """Raise IRError where `kernel` is not well formed."""
    arguments = (kernel.leaves, kernel.sizes, kernel.params)
    for part in kernel.parts:
        _require((part.leaves, part.sizes, part.params) == arguments, "a part has other arguments")
        _check_part(part)


def _check_part(kernel: Kernel) -> None:
    axes = {axis for axis, _ in kernel.axes}
    _require(len(axes) == len(kernel.axes), "an axis stands twice")
    roots = [extent for _, extent in kernel.axes]
    for extent in roots:
        _require(not extent.free, f"an extent depends on {extent.free}")
    places = {(store.leaf, store.offset if store.leaf.pairs else None) for store in kernel.stores}
    _require(len(places) == len(kernel.stores), "a leaf is stored to twice")
    for store in kernel.stores:
        _require(store.offset.dtype is INDEX, f"offset of {store.leaf.name} is {store.offset.dtype}")
        _require(store.value.dtype is store.leaf.dtype, f"{store.leaf.dtype} stored from {store.value.dtype}")
        _require(store.leaf in kernel.leaves, f"{store.leaf.name} is no argument")
        roots += [store.offset, store.value]
    for root in roots:
        _require(root.free <= axes, f"{type(root).__name__} needs {set(root.free) - axes}")
    for node in walk(*roots):
        _check_node(node, kernel)


def _require(holds: bool, fact: str) -> None:
    if not holds:
        raise IRError(f"kernel IR: {fact}")


def _check_node(node: Value, kernel: Kernel) -> None:
    match node:
        case Const(value, dtype):
            _require(type(value) is dtype.python, f"{dtype} constant is a {type(value).__name__}")
        case Table(values, dtype):
            _require(dtype.kind == "f" and not dtype.wide, f"a table of {dtype}")
            _require(len(values) > 1 and not len(values) & (len(values) - 1), f"a table of {len(values)}")
        case Size():
            _require(node in kernel.sizes, f"size {node.name} is no argument")
        case Param():
            _require(node in kernel.params, f"scalar {node.name} is no argument")
        case Load(leaf, offset, when):
            _require(leaf in kernel.leaves, f"{leaf.name} is no argument")
            _require(offset.dtype is INDEX, f"offset into {leaf.name} is {offset.dtype}")
            _require(when is None or when.dtype is BOOL, f"guard of {leaf.name} is not bool")
        case Op("cast", args, dtype):
            _require(
                len(args) == 1 and (args[0].dtype.kind, dtype.kind) in CASTS, f"no cast {args[0].dtype} to {dtype}"
            )
        case Op("bits", args, dtype):
            _require(
                len(args) == 1 and args[0].dtype.bits == dtype.bits, f"{args[0].dtype} has not the bits of {dtype}"
            )
        case Op("floor_divide", args, dtype):
            _require(all(x.dtype is INDEX for x in (*args, node)), "`//` is index arithmetic")
        case Op(name, args):
            _require(name in PRIMITIVE, f"{name} is no primitive" + (", it is derived" if name in TABLE else ""))
            _require(len(args) == PRIMITIVE[name].arity, f"{name} has {len(args)} operands")
            _require(args[0].dtype.kind in PRIMITIVE[name].llvm, f"{name} knows no {args[0].dtype}")
            _require((name == "lookup") == isinstance(args[-1], Table), f"{name} of {type(args[-1]).__name__}")
            _require(len({a.dtype for a in args[1:]}) < 2, f"{name} of {[a.dtype for a in args]}")
            of_formulas = name not in _OF_FORMULAS or not node.dtype.wide
            _require(of_formulas, f"{name} of {node.dtype}: formulas are computed in a wider type")
        case Fold(reducer, axis, extent, bodies):
            _require(reducer in REDUCERS or reducer in SEVERAL, f"{reducer} is no reducer")
            _require(axis not in {a for a, _ in kernel.axes}, f"a fold over the kernel's axis {axis.name}")
            apart = extent.free.isdisjoint(a for a, _ in kernel.axes)
            _require(apart and extent.dtype is INDEX, f"the extent of {axis.name} is no number")
            inner = [n.axis for n in walk(*bodies) if isinstance(n, Fold)]
            _require(axis not in inner, f"a fold over {axis.name} holds another one")
            _require(
                len(identities(reducer_of(reducer), node.dtypes)) == len(bodies), f"{reducer} of {len(bodies)} bodies"
            )
        case Component(fold, position):
            _require(0 <= position < len(fold.bodies) > 1, f"{fold.reducer} has no part {position}")
        case Axis() | Local():
            pass
        case _:
            raise IRError(f"kernel IR: no such value: {type(node).__name__}")
