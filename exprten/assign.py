"""Assignment: the one place where something is computed.

check the target and the value -> gather -> prove the order of the stores -> launch
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any, TypeVar

import numpy as np
from exprten_jit.dtypes import DType

from .errors import AliasError, DeviceError, FreedSpaceError, ReadOnlyError, ShapeError
from .expression.expr import Expr, Weak, check_range, coerce, late
from .expression.joined import Joined, parts_of
from .expression.key import op_key
from .expression.leaf import Leaf
from .expression.number import is_number
from .expression.remap import Remap
from .expression.shape import Layout, reshaped
from .expression.stores import Stores
from .expression.views import Written, as_views
from .modes import Mode, mode_error, mode_of
from .options import current
from .products.call import prepared
from .statement.gather import Gathered, gather
from .statement.launch import alias_error, launch_of
from .statement.overlap import injective, inside, order, shares
from .statement.running import Launch, Statement, run
from .storage.buffer import NO_MEMORY, Buffer, Promised

T = TypeVar("T", bound=Leaf | Joined)


def assign(target: T, req: str, value: Any) -> T:
    """The assignment of a request mode, the whole way. Returns the target."""
    mode = mode_of(req)
    return target if mode.name == "null" else store(mode, target, value)


def store(mode: Mode, target: T, value: Any) -> T:
    """The assignment of a mode of the table."""
    if isinstance(target, Leaf) and isinstance(target.buffer, Promised):
        target.buffer.trace.record(mode, target, value)
        return target
    prepared = prepare(mode, target, value)
    if prepared is not None:
        run(*prepared)
    return target


def prepare(mode: Mode, target: Leaf | Joined, value: Any, views: bool = True) -> tuple[Statement, Launch] | None:
    """Everything but the run: checks, analysis, and a kernel. None where there is nothing to do. With `views` these stand for what is read
    at other places, where they can.
    """
    e = coerce(value, f"assign: target {mode.symbol} value")
    check_target(target)
    check_shape(mode, target, e)
    types = types_of(mode, target, e)
    found = gather(e, types[-1], target)
    written = _of_views(e, found) if views else None
    whole = _as_it_was(target, e if written is None else written.made) if views else None
    if whole is not None:
        return prepare(mode, *whole, views=False)
    if written is not None:
        e = written.made
        found = gather(e, types[-1], target, written.origins)
    for number in filter(is_number, found.scalars):
        number.refuse("the value")
    addresses, buffers = addresses_of(target, found)
    operand_of = operands_of(addresses, target, found)
    equal = isinstance(e, Leaf) and isinstance(target, Leaf) and operand_of[0] == operand_of[-1]
    if (e is target or equal) and not mode.op:
        return None  # after `t[...] -= x` Python assigns the view to itself
    direction, overlapping = _direction(mode, target, found, addresses, operand_of)
    if not target.size:
        return None
    statement = Statement(
        mode, types, target, e, found, addresses, buffers, operand_of, direction, overlapping, current(), written
    )
    return prepared(statement, partial(prepare, views=False)) if found.dots else (statement, launch_of(statement))


def _of_views(e: Expr | Weak, found: Gathered) -> Written | None:
    """A value made of views, where it was made of something else. A product is called, or expanded, first."""
    if not found.params or found.dots or not isinstance(e, Expr) or isinstance(e, Stores):
        return None
    written = as_views(e)
    return None if written.made is e else written


def _as_it_was(target: Leaf | Joined, e: Expr | Weak) -> tuple[Leaf, Expr] | None:
    """A target under the shape that its value had before that was reshaped, and this."""
    if not (isinstance(target, Leaf) and isinstance(e, Remap) and e.map.title == "reshape" and e.shape == target.shape):
        return None
    layout = reshaped(target.layout, e.src.shape)
    return None if layout is None else (late["view"](target, 0, layout), e.src)


# Checks.


def check_target(target: Leaf | Joined) -> None:
    """Raise TypeError, FreedSpaceError, ReadOnlyError or AliasError where the target cannot be stored to."""
    if isinstance(target, Joined):
        for n, part in enumerate(target.parts):
            check_target(part)
            for other in target.parts[:n]:
                if shares(*_place(part), *_place(other)):
                    raise AliasError(
                        f"assign: two parts of the target, {other.described} and {part.described}, share memory, so elements would "
                        "be stored more than once; join tensors that lie apart"
                    )
        return
    if not isinstance(target, Leaf):
        raise TypeError(
            f"assign: the target is a {type(target).__name__}; it must be a tensor (xt.asarray makes one of an array)"
        )
    if not target.buffer.address:
        why = "call xt.alloc_space(t) first" if target.buffer is NO_MEMORY else "it was freed; make a new handle"
        raise FreedSpaceError(f"assign: the target {target.described} has no memory; {why}")
    if not target.writable:
        raise ReadOnlyError(f"assign: the target {target.described} is read-only")
    if not injective(target.layout):
        raise AliasError(
            f"assign: elements of the target {target.described} share memory (strides {target.strides}), so each would be stored "
            "more than once; write into a tensor of its own"
        )


def _place(leaf: Leaf) -> tuple[int, Layout, int]:
    return leaf.buffer.address + leaf.offset, leaf.layout, leaf.key.dtype.itemsize


def check_shape(mode: Mode, target: Leaf | Joined, e: Expr | Weak) -> None:
    """Raise ShapeError where the value does not broadcast to the target; leading axes of one element may be dropped."""
    if not isinstance(e, Expr) or e.shape is target.shape:
        return
    given = e.shape
    extra = max(0, len(given) - len(target.shape))
    if all(n == 1 for n in given[:extra]):
        shape = given[extra:]
        wrong = [a for a in range(-len(shape), 0) if shape[a] not in (1, target.shape[a])]
        if not wrong:
            return
        axis = len(target.shape) + wrong[-1]
        fix = f"axis {axis} must be {target.shape[axis]}{' or 1' * (target.shape[axis] != 1)}"
    else:
        fix = f"it must have at most {len(target.shape)} axes"
    raise ShapeError(
        f"assign: target {mode.symbol} value: target has shape {target.shape}, the value has shape {given}; {fix}"
    )


def types_of(mode: Mode, target: Leaf | Joined, e: Expr | Weak) -> tuple[DType, ...]:
    """What target and value are converted to for the mode's operation; without one, what the value is stored as."""
    mine, value = target.key.dtype, e.key if isinstance(e, Expr) else e.__class__
    if mode.op:
        key = op_key(mode.op, (target.key, value))
        if not np.can_cast(key.dtype.numpy, mine.numpy, "same_kind"):
            raise mode_error(mode, mine.name, _type_name(e), key.dtype.name)
        types = key.types
    elif isinstance(e, Expr):
        if not np.can_cast(e.dtype, mine.numpy, "same_kind"):
            raise mode_error(mode, mine.name, e.key.dtype.name, e.key.dtype.name)
        types = (mine,)
    else:
        if (
            mine.kind == "b"
            or (mine.kind in "iu" and not isinstance(e, int))
            or (mine.kind != "c" and isinstance(e, complex))
        ):
            raise mode_error(mode, mine.name, _type_name(e), _type_name(e))
        types = (mine,)
    if isinstance(e, int):
        check_range(e, types[-1], f"assign: target {mode.symbol} value")
    return types


def _type_name(e: Expr | Weak) -> str:
    return e.key.dtype.name if isinstance(e, Expr) else f"a Python {type(e).__name__}"


def addresses_of(target: Leaf | Joined, found: Gathered) -> tuple[tuple[int, ...], tuple[Buffer, ...]]:
    """Where targets and leaves lie, and in which buffers. Raises FreedSpaceError for one without memory."""
    addresses, buffers = [], []
    device = target.device
    for leaf in (*parts_of(target), *found.leaves):
        buffer = leaf.buffer
        if leaf.key.device is not device:
            raise DeviceError(
                f"assign: the target lies on {device}, the operand {leaf.described} on {leaf.key.device}; copy it there first, with "
                "t.to(device) or xt.copy"
            )
        address = buffer.address
        if isinstance(buffer, Promised):
            raise TypeError(
                f"assign: the operand {leaf.described} is an argument of a kernel that is being traced, the target is not; a kernel "
                "stores to its arguments, so pass the target as one"
            )
        if not address:
            raise FreedSpaceError(
                f"assign: the operand {leaf.described} has no memory: it was freed, or never allocated (xt.alloc_space(t))"
            )
        addresses.append(address + leaf.offset)
        buffers.append(buffer)
    return tuple(addresses), tuple(buffers)


def operands_of(addresses: tuple[int, ...], target: Leaf | Joined, found: Gathered) -> tuple[int, ...]:
    """Equal views are one operand: for the targets and each leaf its number."""
    numbers: dict[tuple[Any, ...], int] = {}
    views = (*parts_of(target), *found.leaves)
    return tuple(
        numbers.setdefault((address, view.layout, view.key), len(numbers))
        for address, view in zip(addresses, views, strict=True)
    )


def _direction(
    mode: Mode, target: Leaf | Joined, found: Gathered, addresses: tuple[int, ...], operand_of: tuple[int, ...]
) -> tuple[str, tuple[int, ...]]:
    """`any`, `forward` or `reverse`: the order of stores that is right although leaves overlap the target; and the operands that
    only a fold may read. Raises AliasError.
    """
    needed: dict[str, Leaf] = {}
    overlapping: list[int] = []
    targets = parts_of(target)
    pairs = itertools.product(enumerate(targets), enumerate(found.leaves, len(targets)))
    for (t, part), (n, leaf) in pairs:
        if operand_of[n] == t:
            continue  # element by element it is read where it is stored; of an indexed statement the lowered loads decide
        mine, theirs = (addresses[t], part.layout, part.key.dtype.itemsize), (addresses[n], *_place(leaf)[1:])
        if not shares(*mine, *theirs):
            continue
        way = None
        if theirs[2] == mine[2] and not found.indexed:
            way = order(mine[0], mine[1], *theirs)
        if way == "same" or (not found.indexed and inside(*mine, *theirs)):
            continue
        if way is None and found.folds and mode.name != "inplace":
            overlapping.append(operand_of[n])
            continue
        if way is None or mode.name == "inplace":
            raise alias_error(mode, target, leaf)
        needed[way] = leaf
    if len(needed) > 1:
        raise alias_error(mode, target, needed["reverse"])
    return next(iter(needed), "any"), tuple(overlapping)
