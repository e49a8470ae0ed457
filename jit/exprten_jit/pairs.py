"""Complex values: two real values of the kernel IR, which is all that a kernel, and every backend, sees of them.

A front end makes them: `load`, `cast`, `constant` and `arguments` stand here beside those of `ir`, and are the same for every other type.
A Pair is never a part of a kernel; `parts` takes it apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import ir
from .dtypes import BOOL, ROWS, DType
from .ir import Axis, Const, Leaf, Load, Local, Op, Store, Value, const, op

COMPLEX: dict[DType, DType] = {row.real: row for row in ROWS if row.part}  # what two of a type are


@dataclass(frozen=True, eq=False)
class Pair(Value):
    """re + im i."""

    re: Value
    im: Value

    @property
    def dtype(self) -> DType:  # type: ignore[override]
        return COMPLEX[self.re.dtype]

    @property
    def free(self) -> frozenset[Axis | Local]:
        return self.re.free | self.im.free


def parts(value: Value) -> tuple[Value, ...]:
    """The real and the imaginary part; of a real value itself."""
    return (value.re, value.im) if isinstance(value, Pair) else (value,)


def joined(values: Sequence[Value], dtypes: Sequence[DType]) -> tuple[Value, ...]:
    """Values of these types, of their parts one after the other."""
    left: Iterator[Value] = iter(values)
    return tuple(Pair(next(left), next(left)) if dtype.part else next(left) for dtype in dtypes)


def numbers(value: Any, dtype: DType) -> tuple[Any, ...]:
    """The parts of a number of a type, as Python numbers."""
    return (value.real, value.imag) if dtype.part else (value,)


def constant(value: Any, dtype: DType) -> Value:
    made = [const(x, dtype.real) for x in numbers(dtype.python(value), dtype)]
    return joined(made, [dtype])[0]


def arguments(first: int, dtype: DType) -> Value:
    """A scalar argument, the `first` of its kernel's; where it is complex, that and the next."""
    made = [ir.param(f"s{first + k}", dtype.real) for k in range(len(dtype.word))]
    return joined(made, [dtype])[0]


def leaf(name: str, dtype: DType) -> Leaf:
    return Leaf(name, dtype.real, bool(dtype.part))


def load(leaf: Leaf, offset: Value, when: Value | None = None) -> Value:
    """Element `offset` of a leaf."""
    if not leaf.pairs:
        return ir.load(leaf, offset, when)
    return Pair(*(ir.load(leaf, at, when) for at in places_of(leaf, offset)))


def stores(leaf: Leaf, offset: Value, value: Value) -> tuple[Store, ...]:
    """What stores element `offset` of a leaf, of its type."""
    return tuple(Store(leaf, at, part) for at, part in zip(places_of(leaf, offset), parts(value), strict=True))


def places_of(leaf: Leaf, offset: Value) -> tuple[Value, ...]:
    """Where the parts of element `offset` lie."""
    return (offset * 2, offset * 2 + 1) if leaf.pairs else (offset,)


def cast(value: Value, dtype: DType) -> Value:
    """`value` as `dtype`; a complex number that becomes a real one loses its imaginary part, and is true where either part is."""
    if isinstance(value, Pair):
        if dtype is BOOL:
            return op("bitwise_or", (ir.cast(value.re, BOOL), ir.cast(value.im, BOOL)), BOOL)
        return (
            Pair(ir.cast(value.re, dtype.real), ir.cast(value.im, dtype.real))
            if dtype.part
            else ir.cast(value.re, dtype)
        )
    real = ir.cast(value, dtype.real)
    return Pair(real, const(0.0, dtype.real)) if dtype.part else real


def first_of(at: Load | Store) -> Value:
    """Where the pair begins that is read or stored, or what is no pair."""
    match at.offset:
        case Op("add", (first, Const(1))) if at.leaf.pairs:
            return first
    return at.offset


def lines_of(loads: Iterable[Load]) -> list[Load]:
    """What is fetched for some loads: the parts of a complex number lie in one line."""
    return list(dict.fromkeys(twins(x)[0] for x in loads))


def twins(node: Load) -> tuple[Load, Load]:
    """Both parts of the pair that a load reads one of; of any other load itself."""
    if not node.leaf.pairs:
        return node, node
    first = first_of(node)
    if first is not node.offset:
        return ir.load(node.leaf, first, node.when), node
    return node, ir.load(node.leaf, first + 1, node.when)
