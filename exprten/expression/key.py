"""The structure of an expression as one interned object.

A Key says what an expression computes, not on what: operations, element types, device. It depends on nothing but the operation
and the operands' keys, so building a node is one look-up (`LINKS`), and an assignment finds its direct call in another. Types
are resolved here, once per structure, by NumPy's own rules (NEP 50).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from exprten_jit.derived import row_of, takes_complex
from exprten_jit.dtypes import DTYPES as BY_NAME
from exprten_jit.dtypes import ROWS as DTYPES
from exprten_jit.dtypes import DType, of_numpy
from exprten_jit.ops import resolved

from ..errors import DeviceError, DTypeError
from ..modes import OPERATORS, ROWS
from ..storage.device import Device, cpu

MANY_PATHS = 256  # paths to leaves above which sharing decides whether a tree is small, and its depth is near the limit
Operand = Any  # a Key, or the class `float`, `int` or `complex` for a Python scalar, which has no type of its own


# What operators look up, each in a slot of its own, unset until it was needed once: for an operation the other operand's key -> the
# result's key, and the result's key beside a Python float or int on either side; for a mode the value's key -> its direct call.
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARE = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal"}
_OPS = (*BINARY.values(), *COMPARE.values())
_MODES = tuple(mode.name for mode in (*ROWS, *OPERATORS))
LINKS = (
    *(f"{op}_key" for op in _OPS), *(f"{op}_float" for op in _OPS), *(f"r{op}_float" for op in _OPS),
    *(f"{op}_int" for op in _OPS), *(f"r{op}_int" for op in _OPS), *(f"{mode}_call" for mode in _MODES),
)  # fmt: skip


class Key:
    """`op` and `types` (what the operands are converted to) describe an operation; `paths` and `depth` measure the tree."""

    __slots__ = ("anywhere", "args", "depth", "device", "dtype", "map", "op", "paths", "products", "types", *LINKS)

    def __init__(
        self, op: str, dtype: DType, device: Device, args: Sequence[Operand], types: tuple[DType, ...]
    ) -> None:
        self.op = op
        self.dtype = dtype
        self.device = device
        self.types = types
        self.args = tuple(args)
        keys = [a for a in args if isinstance(a, Key)]
        self.paths: int = sum(k.paths for k in keys) + len(args) - len(keys) if args else 1
        self.depth: int = 1 + max((k.depth for k in keys), default=0)
        self.anywhere: bool = op == "scalar" or (bool(args) and all(k.anywhere for k in keys))  # made of numbers alone
        self.products: bool = op == "dot" or any(k.products for k in keys)  # whether there is a Dot in the tree
        self.map: Any = None  # of a Remap: where it reads; of a Reduce: what it folds; of a Dot: how many axes meet; of a number: whether it is a count


_keys: dict[tuple[Any, ...], Key] = {}


def leaf_key(kind: str, dtype: DType, device: Device) -> Key:
    """The key of a tensor (`leaf`), a NumPy scalar (`scalar`) or a counter (`iota`)."""
    name = (kind, dtype, device)
    return _keys.get(name) or _keys.setdefault(name, Key(kind, dtype, device, (), ()))


def count_key(dtype: DType, device: Device) -> Key:
    """The key of a number that counts what is folded: where a kernel is for one such number, it is a constant there."""
    name = ("count", dtype, device)
    found = _keys.get(name)
    if found is None:
        found = Key("scalar", dtype, device, (), ())
        found.map = "count"
        found = _keys.setdefault(name, found)
    return found


def remap_key(index_map: object, src: Key, other: Operand, title: str) -> Key:
    """The key of the values of `src` read at other places, `other` (of the same type) elsewhere; None: there is no elsewhere. `title`
    is what the user wrote.
    """
    name = ("remap", index_map, src, other)
    args = (src,) if other is None else (src, other)
    types = (src.dtype,) * len(args)
    found = _keys.get(name)
    if found is None:
        found = _keys.setdefault(name, Key("remap", src.dtype, shared_device(title, args), args, types))
        found.map = index_map
    return found


def reduce_key(over: object, part: int, sources: Sequence[Key], accumulators: tuple[DType, ...]) -> Key:
    """The key of one of the values that `sources` come to, folded; `over` says by what and along which axes."""
    name = ("reduce", over, part, *sources, *accumulators)
    found = _keys.get(name)
    if found is None:
        made = Key("reduce", accumulators[part], shared_device("reduce", sources), sources, accumulators)
        found = _keys.setdefault(name, made)
        found.map = over
    return found


def dot_key(how: object, a: Key, b: Key, dtype: DType, device: Device) -> Key:
    """The key of a product of `a` and `b` in `dtype`."""
    name = ("dot", how, a, b)
    found = _keys.get(name)
    if found is None:
        found = _keys.setdefault(name, Key("dot", dtype, device, (a, b), (dtype, dtype)))
        found.map = how
    return found


def op_key(op: str, operands: Sequence[Operand]) -> Key:
    """The key of an operation. Raises DTypeError where NumPy has no such operation, or exprten no such type."""
    name = (op, *operands)
    found = _keys.get(name)
    if found is None:
        device = shared_device(op, operands)
        types = resolve(op, operands)
        found = _keys.setdefault(name, Key(op, types[-1], device, operands, types[:-1]))
        _link(op, operands, found)
    return found


def shared_device(op: str, operands: Sequence[Operand]) -> Device:
    """Where all operands lie. Raises DeviceError where they lie apart."""
    devices = list(dict.fromkeys(k.device for k in operands if isinstance(k, Key) and not k.anywhere))
    if len(devices) > 1:
        raise DeviceError(
            f"{op}: operands lie on {' and '.join(map(str, devices))}; bring them to one device with t.to(device)"
        )
    return devices[0] if devices else cpu()


def _link(op: str, operands: Sequence[Operand], key: Key) -> None:
    """Let the operator find `key` by itself next time. Trees that are large as paths are built one checked node at a time."""
    if len(operands) != 2 or max(key.paths, key.depth) > MANY_PATHS or op not in _OPS:
        return
    left, right = operands
    if complex in (left, right):
        return
    if not isinstance(left, Key):
        if left is float or key.types[0].kind in "fc":  # an int that stays one is checked for its range
            setattr(right, f"r{op}_{left.__name__}", key)
    elif not isinstance(right, Key):
        if right is float or key.types[1].kind in "fc":
            setattr(left, f"{op}_{right.__name__}", key)
    elif isinstance(right, Key):
        if not hasattr(left, f"{op}_key"):
            setattr(left, f"{op}_key", {})
        getattr(left, f"{op}_key")[right] = key


def cast_key(src: Key, dtype: DType) -> Key:
    """The key of the values of `src` as `dtype`."""
    name = ("cast", src, dtype)
    return _keys.get(name) or _keys.setdefault(name, Key("cast", dtype, src.device, (src,), (src.dtype,)))


def resolve(op: str, operands: Sequence[Operand]) -> tuple[DType, ...]:
    """The types that the operands of `op` are converted to, then the result's."""
    return resolve_types(op, [k.dtype.numpy if isinstance(k, Key) else k for k in operands])


def resolve_types(op: str, given: Sequence[Any]) -> tuple[DType, ...]:
    """The same of operands of given types, `float`, `int` or `complex` for a Python scalar."""
    shown = ", ".join(str(d) if isinstance(d, np.dtype) else f"a Python {d.__name__}" for d in given)
    row = row_of(op)
    assert row.resolve is not None
    try:
        wanted = resolved(row.resolve, given)
    except DTypeError:
        raise  # of an operation inside of one of somebody's own: it says more
    except TypeError:
        wanted = ()
    if not wanted or (any(d.kind == "c" for d in wanted) and not takes_complex(op)):
        raise DTypeError(f"{op}: not defined for {shown}{_HINTS.get(op, '')}; convert an operand with xt.cast")
    rows = [of_numpy(d) for d in wanted]
    if None in rows:
        missing = wanted[rows.index(None)]
        raise DTypeError(
            f"{op}: of {shown} is {missing}, which exprten does not have; convert an operand with xt.cast first"
        )
    return tuple(r for r in rows if r is not None)


_HINTS = {
    "subtract": " (bool has no minus: use ^)",
    "negative": " (bool has no minus: use ~)",
}


def dtype_row(dtype: Any, operation: str) -> DType:
    """The row of a type in any spelling that np.dtype takes. Raises DTypeError for a type that exprten does not have, ImportError
    for one whose library is not installed.
    """
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        named = BY_NAME.get(dtype) if isinstance(dtype, str) else None
        if named is None:
            raise DTypeError(f"{operation}: {dtype!r} is no element type") from None
        wanted = named.numpy  # NumPy knows the name once the library that has it is imported
    row = of_numpy(wanted)
    if row is None:
        order = " in foreign byte order" if not wanted.isnative else ""
        raise DTypeError(
            f"{operation}: exprten has no element type {wanted.name}{order}; convert with np.ascontiguousarray(x, dtype) to one of "
            f"{', '.join(d.name for d in DTYPES)}"
        )
    return row
