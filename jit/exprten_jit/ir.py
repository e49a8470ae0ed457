"""Kernel IR: what a kernel stores, as scalar values over loop axes.

    kernel ::= Kernel(axes, stores, leaves, sizes, params)     # of `kernel`: for every point of the axes: all values, then the stores; and `then`
    store  ::= Store(leaf, offset, value)                      # leaf[offset] = value
    value  ::= Const(value, dtype)
             | Param(name, dtype)                              # a scalar argument
             | Size(name)                                      # an int64 argument: an extent, a stride, an offset
             | Axis(name)                                      # the index of a loop, from 0 below its extent
             | Load(leaf, offset, when)                        # leaf[offset]; 0, and memory untouched, where `when` is false
             | Op(op, args, dtype)                             # a row of `ops`, "cast", or "bits": the same bits as another type
             | Fold(reducer, axis, extent, bodies, order, dtype)  # bodies for every index of an axis, brought together
             | Component(fold, position, dtype)                     # one value of a fold of several bodies; of one it is the Fold itself
             | Local(name, dtype)                              # bound by the loop nest (schedule), never by a front end
             | Table(values, dtype)                            # 2, 4, 8 ... floats: what a `lookup` takes one of

Offsets count elements from the leaf's address. Index arithmetic is int64 and exact; `//` rounds down and asks for a positive
divisor. A guard sits on the loads below it, not around them, so any value may be computed anywhere its axes are known.

The axis of a fold is named by its height, 1 above the highest fold in its body, so that equal folds are equal wherever they
stand, and none captures another's axis. Its order is the schedule's to choose; `interpret` says what an order means.

Values are hash-consed: equal values are the same object, so equality is identity and common sub-expressions are one node.
"""

from __future__ import annotations

import operator
import struct
import weakref
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from .dtypes import BOOL, INDEX, DType
from .locks import lock
from .reducers import Order


class Value:
    """A scalar value. Operators are index arithmetic; element arithmetic is built by name with `derived.apply`."""

    dtype: DType
    __match_args__: tuple[str, ...] = ()

    @property
    def children(self) -> tuple[Value, ...]:
        return ()

    @cached_property
    def free(self) -> frozenset[Axis | Local]:
        """The axes and locals that must be bound before this value is known."""
        return frozenset().union(*(child.free for child in self.children))

    @cached_property
    def reads(self) -> bool:
        """Whether something is loaded for it."""
        return any(child.reads for child in self.children)

    @cached_property
    def forms(self) -> dict[Axis, tuple[Value, Value] | None]:
        """What `rewrite.affine` found."""
        return {}

    def __add__(self, other: Value | int) -> Value:
        return _add(self, index(other))

    def __radd__(self, other: int) -> Value:
        return _add(index(other), self)

    def __sub__(self, other: Value | int) -> Value:
        return _subtract(self, index(other))

    def __rsub__(self, other: int) -> Value:
        return _subtract(index(other), self)

    def __mul__(self, other: Value | int) -> Value:
        return _multiply(self, index(other))

    def __rmul__(self, other: int) -> Value:
        return _multiply(index(other), self)

    def __floordiv__(self, other: Value | int) -> Value:
        return _divide(self, index(other))

    def __mod__(self, other: Value | int) -> Value:
        return self - (self // other) * other  # one division serves both

    def __lt__(self, other: Value | int) -> Value:
        return op("less", (self, index(other)), BOOL)

    def __ge__(self, other: Value | int) -> Value:
        return op("greater_equal", (self, index(other)), BOOL)

    def __and__(self, other: Value) -> Value:
        return both(self, other)


@dataclass(frozen=True, eq=False)
class Const(Value):
    value: bool | int | float
    dtype: DType


@dataclass(frozen=True, eq=False)
class Table(Value):
    values: tuple[float, ...]
    dtype: DType


@dataclass(frozen=True, eq=False)
class Param(Value):
    name: str
    dtype: DType


@dataclass(frozen=True, eq=False)
class Size(Value):
    name: str
    dtype: DType = INDEX


@dataclass(frozen=True, eq=False)
class Axis(Value):
    name: str
    dtype: DType = INDEX

    @cached_property
    def free(self) -> frozenset[Axis | Local]:
        return frozenset((self,))


@dataclass(frozen=True, eq=False)
class Local(Value):
    name: str
    dtype: DType

    @cached_property
    def free(self) -> frozenset[Axis | Local]:
        return frozenset((self,))


@dataclass(frozen=True)
class Leaf:
    """An array argument: elements of one type behind one address. `pairs`: they come in twos, at 2 k and 2 k + 1, both or neither."""

    name: str
    dtype: DType
    pairs: bool = False

    @property
    def itemsize(self) -> int:
        """Bytes of an element, of a pair those of both parts."""
        return self.dtype.itemsize * (1 + self.pairs)


@dataclass(frozen=True, eq=False)
class Load(Value):
    leaf: Leaf
    offset: Value
    when: Value | None
    dtype: DType
    reads = True

    @property
    def children(self) -> tuple[Value, ...]:
        return (self.offset,) if self.when is None else (self.offset, self.when)


@dataclass(frozen=True, eq=False)
class Op(Value):
    op: str
    args: tuple[Value, ...]
    dtype: DType

    @property
    def children(self) -> tuple[Value, ...]:
        return self.args


@dataclass(frozen=True, eq=False)
class Fold(Value):
    reducer: str
    axis: Axis
    extent: Value
    bodies: tuple[Value, ...]
    order: Order | None
    dtype: DType

    @property
    def children(self) -> tuple[Value, ...]:
        return (self.extent, *self.bodies)

    @cached_property
    def free(self) -> frozenset[Axis | Local]:
        return self.extent.free | (frozenset().union(*(body.free for body in self.bodies)) - {self.axis})

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """Of its accumulators: its bodies' types."""
        return tuple(body.dtype for body in self.bodies)


@dataclass(frozen=True, eq=False)
class Component(Value):
    fold: Fold
    position: int
    dtype: DType

    @property
    def children(self) -> tuple[Value, ...]:
        return (self.fold,)


@dataclass(frozen=True)
class Store:
    leaf: Leaf
    offset: Value
    value: Value


N = TypeVar("N", bound=Value)
_LOCK = lock()
_interned: weakref.WeakValueDictionary[tuple[Any, ...], Value] = weakref.WeakValueDictionary()


def _intern(node: N) -> N:
    """The one object equal to `node`. Children count by identity: an entry lives no longer than the node, which holds them."""
    key = (type(node), *(_identity(getattr(node, f)) for f in node.__match_args__))
    found = _interned.get(key)
    if found is None:
        with _LOCK:  # or two threads might each keep one
            found = _interned.setdefault(key, node)
    _ = found.free, found.reads  # known while the children's are: no recursion later
    return found  # type: ignore[return-value]


def _identity(x: Any) -> Any:
    if isinstance(x, Value):
        return id(x)
    if isinstance(x, tuple):
        return tuple(_identity(y) for y in x)
    if isinstance(x, float):
        return struct.pack("d", x)  # 0.0 == -0.0 == False, and NaN != NaN: constants are told apart by their bits
    return (type(x), x)


def const(value: bool | int | float, dtype: DType) -> Const:
    return _intern(Const(value, dtype))


def table(values: tuple[float, ...], dtype: DType) -> Table:
    return _intern(Table(values, dtype))


def param(name: str, dtype: DType) -> Param:
    return _intern(Param(name, dtype))


def size(name: str) -> Size:
    return _intern(Size(name))


def axis(name: str) -> Axis:
    return _intern(Axis(name))


def local(name: str, dtype: DType) -> Local:
    return _intern(Local(name, dtype))


def load(leaf: Leaf, offset: Value, when: Value | None = None) -> Load:
    return _intern(Load(leaf, offset, when, leaf.dtype))


def op(name: str, args: tuple[Value, ...], dtype: DType) -> Value:
    if name in _OF_INDICES and args[0].dtype is INDEX and all(isinstance(x, Const) for x in args):
        return TRUE if _OF_INDICES[name](*(x.value for x in args if isinstance(x, Const))) else FALSE
    if name == "where" and isinstance(args[0], Const):
        return args[1 if args[0].value else 2]
    return _intern(Op(name, args, dtype))


_OF_INDICES = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}  # what is known of two numbers


def fold(reducer: str, axis: Axis, extent: Value, bodies: tuple[Value, ...], order: Order | None = None) -> Fold:
    return _intern(Fold(reducer, axis, extent, bodies, order, bodies[0].dtype))


def components(node: Fold) -> tuple[Value, ...]:
    """The values of a fold, one for each body."""
    if len(node.bodies) == 1:
        return (node,)
    return tuple(_intern(Component(node, k, dtype)) for k, dtype in enumerate(node.dtypes))


def cast(value: Value, dtype: DType) -> Value:
    return value if value.dtype is dtype else op("cast", (value,), dtype)


def bits(value: Value, dtype: DType) -> Value:
    """The bits of `value` as another type of the same width."""
    return op("bits", (value,), dtype)


# Index arithmetic: exact identities only, enough for strides of 0 and 1 and for offsets of 0 to disappear.


def index(x: Value | int) -> Value:
    return _of_number(x) if isinstance(x, int) else x


@lru_cache(4096)
def _of_number(n: int) -> Value:
    """Few numbers are asked for again and again: strides, lanes, 0 and 1."""
    return const(int(n), INDEX)


def _number(x: Value) -> int | None:
    return int(x.value) if isinstance(x, Const) and abs(x.value) < 1 << 31 else None  # folding never overflows


def _add(a: Value, b: Value) -> Value:
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return index(m + n)
    if m == 0:
        return b
    if n == 0:
        return a
    return op("add", (a, b), INDEX)


def _subtract(a: Value, b: Value) -> Value:
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return index(m - n)
    if a is b:
        return index(0)
    if n == 0:
        return a
    return op("subtract", (a, b), INDEX)


def _multiply(a: Value, b: Value) -> Value:
    m, n = _number(a), _number(b)
    if m is not None and n is not None:
        return index(m * n)
    if m == 0 or n == 0:
        return index(0)
    if m == 1:
        return b
    if n == 1:
        return a
    return op("multiply", (a, b), INDEX)


def _divide(a: Value, b: Value) -> Value:
    m, n = _number(a), _number(b)
    if m is not None and n:
        return index(m // n)
    if n == 1:
        return a
    return op("floor_divide", (a, b), INDEX)


TRUE = const(True, BOOL)
FALSE = const(False, BOOL)


def both(a: Value | None, b: Value | None) -> Value:
    """`a and b`, where None is true."""
    if a is FALSE or b is FALSE:
        return FALSE
    if a is None or a is TRUE or a is b:
        return b if b is not None else TRUE
    if b is None or b is TRUE:
        return a
    return op("bitwise_and", (a, b), BOOL)


def negation(a: Value) -> Value:
    """`not a`; a comparison turns round, so that it stays a comparison."""
    match a:
        case Const():
            return FALSE if a.value else TRUE
        case Op("less", args) if args[0].dtype is INDEX:  # an index is never NaN
            return op("greater_equal", args, BOOL)
        case Op("greater_equal", args) if args[0].dtype is INDEX:
            return op("less", args, BOOL)
    return op("bitwise_xor", (a, TRUE), BOOL)
