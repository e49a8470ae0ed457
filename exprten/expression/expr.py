"""Expressions: what operators build. A node holds its key, its shape and its operands, and computes nothing.

Kinds of expression are few and closed: Tensor (a leaf), Scalar, Iota, Apply, Remap, Reduce, Dot. What grows is a row in a table.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NoReturn

import numpy as np
from exprten_jit.derived import TABLE
from exprten_jit.dtypes import DType, of_numpy

from ..errors import CompileError, DTypeError
from ..storage.device import Device, cpu
from . import shape as shapes
from .key import COMPARE, Key, Operand, cast_key, count_key, dtype_row, leaf_key, op_key
from .shape import Shape
from .show import tree

MAX_DEPTH = 512  # nested operations of one statement
MAX_NODES = 4096  # distinct nodes of one statement

Operator = Callable[["Expr", Any], "Expr"]
Weak = float | int | complex  # a Python scalar: it takes the type of what it meets
_WEAK = (float, int, complex)


class Expr:
    """A value for every point of a shape, known when it is assigned. Raises at construction what can be known then."""

    __slots__ = ("key", "shape")

    key: Key
    shape: Shape

    # set by `operators`, a floor above
    __add__: Operator
    __radd__: Operator
    __sub__: Operator
    __rsub__: Operator
    __mul__: Operator
    __rmul__: Operator
    __truediv__: Operator
    __rtruediv__: Operator
    __floordiv__: Operator
    __rfloordiv__: Operator
    __mod__: Operator
    __rmod__: Operator
    __and__: Operator
    __rand__: Operator
    __or__: Operator
    __ror__: Operator
    __xor__: Operator
    __rxor__: Operator
    __lshift__: Operator
    __rlshift__: Operator
    __rshift__: Operator
    __rrshift__: Operator
    __lt__: Operator
    __le__: Operator
    __gt__: Operator
    __ge__: Operator
    __eq__: Operator  # type: ignore[assignment]  # element by element, as NumPy's: not object's truth value
    __ne__: Operator  # type: ignore[assignment]
    __neg__: Callable[[Expr], Expr]
    __pos__: Callable[[Expr], Expr]
    __abs__: Callable[[Expr], Expr]
    __invert__: Callable[[Expr], Expr]

    # set by `reduce`, likewise
    sum: Callable[..., Expr]
    prod: Callable[..., Expr]
    max: Callable[..., Expr]
    min: Callable[..., Expr]
    any: Callable[..., Expr]
    all: Callable[..., Expr]
    mean: Callable[..., Expr]
    var: Callable[..., Expr]
    std: Callable[..., Expr]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self.key.dtype.numpy

    @property
    def device(self) -> Device:
        """Where it is computed."""
        return self.key.device

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def operands(self) -> tuple[Expr | Weak, ...]:
        """What it is computed from."""
        return ()

    def astype(self, dtype: Any) -> Expr:
        """Every element converted to `dtype`; floats to integers are truncated, saturated, NaN becomes 0."""
        return cast(self, dtype)

    @property
    def T(self) -> Expr:  # noqa: N802  # NumPy's name
        """All axes reversed."""
        return late["transpose"](self)  # type: ignore[no-any-return]

    @property
    def real(self) -> Expr:
        """The real part of every element; of numbers that are real these themselves."""
        return build("real", self)

    @property
    def imag(self) -> Expr:
        """The imaginary part of every element; of numbers that are real 0."""
        return build("imag", self)

    def conj(self) -> Expr:
        """Every element with the other sign of its imaginary part."""
        return build("conjugate", self)

    conjugate = conj

    def reshape(self, *shape: Any) -> Expr:
        """The same elements in the same order under another shape; one extent may be -1."""
        return late["reshape"](self, shape[0] if len(shape) == 1 else shape)  # type: ignore[no-any-return]

    def numpy(self) -> NoReturn:
        """Raises TypeError: an expression has no memory."""
        raise TypeError("an expression has no elements yet: assign it (out[...] = e), or use xt.evaluate(e).numpy()")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's functions on expressions: those that exprten has build a node, no other is evaluated behind your back."""
        if method == "__call__" and not kwargs:
            name = _SAME.get(ufunc.__name__, ufunc.__name__)
            if name in TABLE:
                return build(name, *inputs)
            if name in late:
                return late[name](*inputs)
        if "out" in kwargs:
            raise TypeError(
                f"np.{ufunc.__name__} into a NumPy array: write xt.asarray(array)[...] = expression, or use t.numpy()"
            )
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise TypeError(f"np.{name} of an expression or tensor: exprten has no such function yet; give NumPy t.numpy()")

    def __divmod__(self, other: Any) -> tuple[Expr, Expr]:
        return late["divmod"](self, other)  # type: ignore[no-any-return]

    def __rdivmod__(self, other: Any) -> tuple[Expr, Expr]:
        return late["divmod"](other, self)  # type: ignore[no-any-return]

    def __round__(self, decimals: int = 0) -> Expr:
        return late["round"](self, decimals)  # type: ignore[no-any-return]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an expression without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return late["pick"](self, shapes.pick(self.shape, index))

    def item(self) -> Any:
        """The one element as a Python number. Raises TypeError for another size."""
        if self.size != 1:
            raise TypeError(f"item: shape {self.shape} has {self.size} elements, not one")
        return self._item()

    def _item(self) -> Any:
        return late["evaluate"](self).item()

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __bool__(self) -> bool:
        if not self.shape:
            return bool(self.item())
        raise TypeError(
            f"bool() of an expression of shape {self.shape}: a condition on elements is no single truth; "
            "choose element by element with xt.where(condition, a, b)"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        self.numpy()

    def __repr__(self) -> str:
        return f"<{tree(self)}: {self.dtype} {self.shape}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            "an expression holds handles, not values, and cannot be pickled or copied; pickle xt.evaluate(e)"
        )

    __hash__ = object.__hash__

    def __pow__(self, exponent: Any) -> Expr:
        return power(self, exponent)

    def __rpow__(self, base: Any) -> Expr:
        return build("power", base, self)

    def __matmul__(self, other: Any) -> Expr:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Expr:
        return matmul(other, self)


class Scalar(Expr):
    """A number that keeps its type: a NumPy scalar, a bool."""

    __slots__ = ("value",)

    def __init__(self, value: Any, dtype: DType) -> None:
        self.key = leaf_key("scalar", dtype, cpu())
        self.shape = ()
        self.value = value  # a Python number: reading it runs nobody's code


@lru_cache(1024)
def count_of(number: int, dtype: DType) -> Scalar:
    """How many elements are folded, as a number that keeps its type: one for all expressions, so that equal means are one value."""
    made = Scalar(float(number), dtype)
    made.key = count_key(dtype, cpu())
    return made


class Iota(Expr):
    """The index along one axis of `shape`, as int64."""

    __slots__ = ("axis",)

    def __init__(self, shape: Shape, axis: int, device: Device) -> None:
        self.key = leaf_key("iota", dtype_row(np.int64, "iota"), device)
        self.shape = shapes.intern_shape(shape)
        self.axis = axis


class Apply(Expr):
    """An operation of the table on each element. `b` and `c` are set as far as the operation has operands."""

    __slots__ = ("a", "b", "c")
    a: Expr | Weak
    b: Expr | Weak
    c: Expr | Weak

    @property
    def operands(self) -> tuple[Expr | Weak, ...]:
        """What it is computed from."""
        count = len(self.key.args)
        return (self.a, self.b) if count == 2 else (self.a,) if count == 1 else (self.a, self.b, self.c)


# Building.


def build(op: str, *operands: Any) -> Apply:
    """The node of operation `op`. Raises ShapeError, DTypeError, DeviceError, and OverflowError for an int that does not fit."""
    args = [x if isinstance(x, Expr) else coerce(x, op) for x in operands]
    if op in _COMPARISONS:
        args = _comparable(args)
    keys: list[Operand] = []
    first: Shape | None = None
    alike = plain = True  # all shapes are one object, and there is no int
    for x in args:
        if isinstance(x, Expr):
            keys.append(x.key)
            alike = alike and (first is None or x.shape is first)
            first = x.shape
        else:
            keys.append(x.__class__)
            plain = plain and x.__class__ is float
    key = op_key(op, keys)
    if not plain:
        for x, row in zip(args, key.types, strict=True):
            if isinstance(x, int):
                check_range(x, row, op)
    return apply_key(key, args, (first or ()) if alike else shape_of(args, op))


_COMPARISONS = frozenset(COMPARE.values())


def _comparable(args: list[Expr | Weak]) -> list[Expr | Weak]:
    """A comparison has an answer for every int, as in NumPy: one that its type cannot hold is compared as int64, or as infinite."""
    rows = [x.key.dtype for x in args if isinstance(x, Expr)]
    out: list[Expr | Weak] = []
    for x in args:
        if isinstance(x, int) and not known(x):
            out.append(as_expr(x))
        elif isinstance(x, int) and any(row.kind in "iu" and not row.smallest <= x <= row.largest for row in rows):
            wide = dtype_row(np.int64, "compare")
            fits = wide.smallest <= x <= wide.largest
            out.append(as_expr(x) if fits else as_expr(math.inf if x > 0 else -math.inf))
        else:
            out.append(x)
    return out


def apply_key(key: Key, args: Sequence[Expr | Weak], shape: Shape) -> Apply:
    """The node of a key that is known, over checked operands. Raises CompileError for a tree that is too large."""
    node = Apply()
    node.key, node.shape, node.a = key, shape, args[0]
    if len(args) > 1:
        node.b = args[1]
    if len(args) > 2:
        node.c = args[2]
    if key.depth > MAX_DEPTH or key.paths > MAX_NODES:
        check_size(node)
    return node


def applied_again(node: Apply, args: Sequence[Expr | Weak]) -> Apply:
    """The same operation of other operands of the same types."""
    keys = [x.key if isinstance(x, Expr) else old for x, old in zip(args, node.key.args, strict=True)]
    key = node.key
    if any(new is not old for new, old in zip(keys, key.args, strict=True)):
        key = cast_key(keys[0], key.dtype) if key.op == "cast" else op_key(key.op, keys)
    return apply_key(key, args, shape_of(args, key.op))


def shape_of(args: Sequence[Expr | Weak], op: str) -> Shape:
    """The shape that operands broadcast to. Raises ShapeError."""
    given = [x.shape for x in args if isinstance(x, Expr)]
    first = given[0] if given else ()
    return first if all(s is first for s in given) else shapes.broadcast(given, op)


def check_size(node: Expr) -> None:
    """Raise CompileError for a statement that is too deep or too large to be one kernel."""
    key = node.key
    if key.depth > MAX_DEPTH:
        raise CompileError(
            f"{key.op}: this statement nests {key.depth} operations, {MAX_DEPTH} are the most; assign a part of it to a tensor first"
        )
    if key.paths > MAX_NODES and _nodes(node, MAX_NODES) > MAX_NODES:
        raise CompileError(
            f"{key.op}: this statement has more than {MAX_NODES} operations; assign a part of it to a tensor first"
        )


def _nodes(root: Expr, most: int) -> int:
    """How many distinct nodes there are below `root`, counted up to `most` + 1."""
    seen = {id(root)}
    stack: list[Expr] = [root]
    while stack and len(seen) <= most:
        for x in stack.pop().operands:
            if isinstance(x, Expr) and id(x) not in seen:
                seen.add(id(x))
                stack.append(x)
    return len(seen)


_SAME = {"deg2rad": "radians", "rad2deg": "degrees"}  # ufuncs that NumPy has twice

# What floors above put here: `borrow` makes a leaf of a NumPy array for an operation, `adopt` one of an array on a GPU, `transfer` copies between devices, `evaluate` a tensor of an expression; `pick`,
# `transpose`, `reshape` and `broadcast_to` are methods of expressions that are Remaps, `product` is a Dot, `again` one that is
# like one before; ufuncs that are no operation of the table stand here under NumPy's names.
late: dict[str, Callable[..., Any]] = {}


def coerce(x: Any, op: str) -> Expr | Weak:
    """An operand as an expression or a Python scalar. Raises TypeError for what is neither, and says what to use."""
    cls = x.__class__
    if isinstance(x, Expr) or cls in _WEAK:
        return x  # type: ignore[no-any-return]
    if cls is bool or isinstance(x, np.generic):
        row = of_numpy(np.dtype(cls) if cls is bool else x.dtype)
        if row is None:
            raise DTypeError(f"{op}: a scalar of type {cls.__name__} is none that exprten has; convert it first")
        return Scalar(x if cls is bool else x.item(), row)
    if isinstance(x, np.ndarray):
        return late["borrow"](x, op)  # type: ignore[no-any-return]
    if hasattr(x, "__cuda_array_interface__"):
        return late["adopt"](x, op)  # type: ignore[no-any-return]
    if isinstance(x, numbers.Number):
        raise DTypeError(f"{op}: a {cls.__name__} is no number that exprten has")
    hint = "; make it a tensor with xt.array(...)" if isinstance(x, list | tuple) else ""
    raise TypeError(f"{op}: a {cls.__name__} is no operand{hint}")


def known(x: Weak) -> bool:
    """Whether a Python scalar has its value already: a run-time scalar of a kernel has it when the kernel is called."""
    return type(x) in _WEAK


def limit_of(x: Any) -> Callable[[int, int, Callable[[int], None]], None]:
    """How a run-time scalar is told the range that it must be in whenever the kernel is called."""
    return x.limit  # type: ignore[no-any-return]  # Number stands a floor above


def matmul(a: Any, b: Any) -> Expr:
    """(..., m, k), (..., k, n) -> (..., m, n): the product that `@` is; of one axis an operand is a vector (np.matmul).
    Raises ShapeError, DTypeError, DeviceError.
    """
    made: Expr | None = late["again"](a, b, "@")
    return late["product"](as_expr(coerce(a, "@")), as_expr(coerce(b, "@")), "@") if made is None else made


late["matmul"] = matmul


def check_range(value: int, row: DType, op: str) -> None:
    """Raise OverflowError where a Python int is no value of a type."""
    if not known(value):
        if row.kind in "iu":
            limit_of(value)(row.smallest, row.largest, lambda n: check_range(n, row, op))
        return
    if row.kind in "fc" and abs(value) > sys.float_info.max:
        raise OverflowError(f"{op}: an int of {value.bit_length()} bits does not fit {row}")
    if row.kind in "iu" and not row.smallest <= value <= row.largest:
        raise OverflowError(
            f"{op}: {value} does not fit {row} ({row.smallest} to {row.largest}); convert the tensor with xt.cast"
        )


def cast(x: Any, dtype: Any) -> Expr:
    """`x` converted to `dtype`, element by element; floats to integers are truncated, saturated, and NaN becomes 0."""
    row, e = dtype_row(dtype, "cast"), coerce(x, "cast")
    if not isinstance(e, Expr):
        e = as_expr(e)
    return apply_key(cast_key(e.key, row), [e], e.shape)


def as_expr(x: Expr | Weak) -> Expr:
    """A Python scalar on its own, as the NumPy scalar it would become."""
    if isinstance(x, Expr):
        return x
    if isinstance(x, int):
        check_range(x, dtype_row(np.int64, "scalar"), "scalar")
    return Scalar(x, dtype_row({float: np.float64, complex: np.complex128}.get(x.__class__, np.int64), "scalar"))


POWERS: dict[complex, str] = {-1: "reciprocal", 0: "ones_like", 0.5: "sqrt", 1: "positive", 2: "square", 3: "cube"}


def _check_exponent(exponent: Any) -> None:
    """Raise ValueError for an exponent at which integers are no integers."""
    if type(exponent) not in _WEAK and not isinstance(exponent, np.integer):
        limit_of(exponent)(0, (1 << 63) - 1, _check_exponent)
    elif exponent < 0:
        raise ValueError(
            f"power: integers to the power {exponent} are no integers; convert with xt.cast(x, xt.float64) first"
        )


def power(base: Expr, exponent: Any) -> Expr:
    """`base ** exponent`; the Python scalars -1, 0, 0.5, 1, 2, 3 are the fast forms that NumPy has."""
    if exponent.__class__ not in _WEAK and not isinstance(exponent, np.integer):
        return build("power", base, exponent)
    e = coerce(exponent, "power")
    row = op_key("power", (base.key, e.key if isinstance(e, Expr) else e.__class__)).dtype
    if row.kind not in "fc":
        _check_exponent(exponent)
    fast = None if isinstance(e, Expr) or not known(e) else POWERS.get(complex(exponent))
    if fast is None:
        return build("power", base, exponent)
    return build(fast, base if base.key.dtype is row else cast(base, row.numpy))
