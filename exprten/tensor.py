"""Tensors: handles (shape, strides) over memory that somebody allocated on purpose."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from exprten_jit.dtypes import DType

from .assign import T, store
from .assign import assign as assign_value
from .errors import DeviceError, FreedSpaceError, ShapeError
from .expression import shape as shapes
from .expression.expr import Expr, late, matmul, power
from .expression.key import dtype_row, leaf_key
from .expression.leaf import Leaf
from .expression.operators import SMALL
from .expression.shape import Layout, Shape
from .modes import MODES, OPERATORS, ROWS, Mode
from .options import current, scope
from .statement.direct import calls_of
from .storage.buffer import NO_MEMORY, ROW_ALIGNMENT, Buffer, Export, Promised, allocate
from .storage.capsule import DEVICES
from .storage.device import Device, Stream, check_device, cpu, current_stream
from .storage.dlpack import exported

_SLOT = {"shape": vars(Expr)["shape"], "writable": vars(Leaf)["writable"]}  # the slots behind properties


class Tensor(Leaf):
    """A handle without memory: shape, element type and device. `xt.alloc_space(t)` gives it memory.

    >>> t = Tensor((2, 3))
    >>> t.shape, t.dtype, t.device
    ((2, 3), dtype('float32'), xt.cpu())
    """

    __slots__ = ()

    # set below, one for each mode
    __iadd__: Callable[[Tensor, Any], Tensor]
    __isub__: Callable[[Tensor, Any], Tensor]
    __imul__: Callable[[Tensor, Any], Tensor]
    __itruediv__: Callable[[Tensor, Any], Tensor]
    __ifloordiv__: Callable[[Tensor, Any], Tensor]
    __imod__: Callable[[Tensor, Any], Tensor]
    __ipow__: Callable[[Tensor, Any], Tensor]
    __imatmul__: Callable[[Tensor, Any], Tensor]
    __iand__: Callable[[Tensor, Any], Tensor]
    __ior__: Callable[[Tensor, Any], Tensor]
    __ixor__: Callable[[Tensor, Any], Tensor]
    __ilshift__: Callable[[Tensor, Any], Tensor]
    __irshift__: Callable[[Tensor, Any], Tensor]

    def __init__(self, shape: Any, dtype: Any = np.float32, device: Device | None = None) -> None:
        check_device(device, "Tensor")
        row = dtype_row(dtype, "Tensor")
        extents = shapes.shape_of(shape, "Tensor")
        _set(self, row, device or cpu(), NO_MEMORY, 0, shapes.packed(extents), True)

    # facts; those that a handle is made with are set by `_set` alone

    shape = property(_SLOT["shape"].__get__, doc="Extent of each axis.")
    writable = property(_SLOT["writable"].__get__, doc="Whether it may be a target.")

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow each other without a gap, the last axis fastest."""
        return self.layout.packed

    @property
    def stream(self) -> Stream:
        """The stream that statements with this target run on: the one that was current when its memory was allocated."""
        return current_stream(self.device) if self.buffer is NO_MEMORY else self.buffer.stream

    def __repr__(self) -> str:
        if not self.buffer.address:
            return f"<tensor {self.shape} {self.dtype}, no memory>"
        values = np.array2string(elements(self), separator=", ", prefix="tensor(")
        return f"tensor({values}, shape={self.shape}, dtype={self.dtype})"

    # views

    def __getitem__(self, index: Any) -> Tensor:
        require_memory(self, "index")
        offset, layout = shapes.view(self.layout, shapes.pick(self.shape, index))
        return view_of(self, offset, layout)

    @property
    def T(self) -> Tensor:  # noqa: N802  # NumPy's name
        """All axes reversed; a view."""
        return self.transposed(range(self.ndim)[::-1])

    @T.setter
    def T(self, value: Any) -> None:  # noqa: N802
        _settle(self.T, value)

    @property
    def mT(self) -> Tensor:  # noqa: N802  # NumPy's name
        """The last two axes exchanged; a view. Raises ShapeError below two axes."""
        if self.ndim < 2:
            raise ShapeError(f"mT: shape {self.shape} has no two axes to exchange")
        return self.transposed((*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    @mT.setter
    def mT(self, value: Any) -> None:  # noqa: N802
        _settle(self.mT, value)

    @property
    def real(self) -> Tensor:
        """The real parts; a view, and of numbers that are real the tensor itself."""
        return _part(self, 0)

    @real.setter
    def real(self, value: Any) -> None:
        _settle(self.real, value)

    @property
    def imag(self) -> Expr:
        """The imaginary parts; a view, and of numbers that are real an expression that is 0."""
        return _part(self, 1) if self.key.dtype.part else super().imag

    @imag.setter
    def imag(self, value: Any) -> None:
        view = self.imag
        if not isinstance(view, Tensor):
            raise TypeError(f"imag: the tensor {self.described} has no imaginary parts to store to")
        _settle(view, value)

    def transposed(self, axes: Any) -> Tensor:
        """The axes in another order; a view. Raises ShapeError unless `axes` is a permutation."""
        require_memory(self, "transpose")
        order = shapes.permutation(axes, self.shape)
        shape = tuple(self.shape[a] for a in order)
        return view_of(self, 0, shapes.layout(shape, tuple(self.layout.strides[a] for a in order)))

    def reshape(self, *shape: Any) -> Tensor:
        """The same elements under another shape, one extent may be -1; a view, or ShapeError (`xt.reshape` copies nothing either)."""
        require_memory(self, "reshape")
        wanted = resolve_shape(self.size, shape[0] if len(shape) == 1 else shape, "reshape")
        layout = shapes.reshaped(self.layout, wanted)
        if layout is None:
            raise ShapeError(
                f"reshape: no view of shape {wanted} shows a tensor of shape {self.shape} and strides {self.strides}; "
                "use the expression xt.reshape(t, shape)"
            )
        return view_of(self, 0, layout)

    def flat_to_2d(self) -> Tensor:
        """(..., n) -> (everything else, n); a view, or ShapeError (mshadow FlatTo2D)."""
        last = self.shape[-1] if self.shape else 1
        return self.reshape((self.size // last if last else 0, last))

    # assignment

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is Ellipsis:
            if value is not self:
                _assign_whole(self, value)
            return
        _settle(self[index], value)

    def assign(self, value: Any, req: str = "write") -> Tensor:
        """`xt.assign(self, req, value)`."""
        return assign(self, req, value)

    # as a Python object

    def _item(self) -> Any:
        require_memory(self, "item")
        return elements(self).item()

    def __index__(self) -> int:
        if self.shape or self.key.dtype.kind not in "iu":
            raise TypeError(f"a tensor of shape {self.shape} and type {self.dtype} is no index")
        return int(self.item())

    def __copy__(self) -> Tensor:
        require_memory(self, "copy")
        return view_of(self, 0, self.layout)

    def __reduce__(self) -> tuple[Any, ...]:
        return late["array"], (np.array(self.numpy()),)  # the elements, without padding

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self._copy(self.device)

    # exchange

    def numpy(self) -> np.ndarray[Any, Any]:  # type: ignore[override]  # an expression has none
        """The elements as a NumPy array on the same memory, which cannot be freed while it lives. From a GPU, a copy."""
        require_memory(self, "numpy")
        if self.device.kind == "gpu":
            return elements(self)
        return _array(self, Export(self.buffer, _interface(self).__array_interface__))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:  # type: ignore[override]
        if self.device.kind == "gpu":
            raise DeviceError(
                f"np.asarray: the tensor {self.described} lies on {self.device}; t.numpy() copies it to the host"
            )
        array = self.numpy()
        wanted = array.dtype if dtype is None else np.dtype(dtype)
        if wanted != array.dtype and copy is False:
            raise ValueError(f"np.asarray: {array.dtype} elements as {wanted} need a copy")
        return array.astype(wanted) if copy or wanted != array.dtype else array

    def __dlpack__(self, **how: Any) -> Any:  # every argument belongs to NumPy's implementation
        require_memory(self, "__dlpack__")
        if self.device.kind == "gpu":
            return late["export"](self, **how)
        return exported(self.numpy(), self.key.dtype, how)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (DEVICES[self.device.kind], self.device.index)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return late["cuda_interface"](self)  # type: ignore[no-any-return]

    def to(self, device: Device) -> Tensor:
        """The tensor itself where it lies on `device` already, else a copy of the elements there, packed."""
        require_memory(self, "to")
        check_device(device, "to")
        return self if device == self.device else self._copy(device)

    def _copy(self, device: Device) -> Tensor:
        require_memory(self, "copy")
        return late["transfer"](new(self.shape, self.key.dtype, device), self)  # type: ignore[no-any-return]

    __hash__ = object.__hash__


def _set(t: Tensor, row: DType, device: Device, buffer: Buffer, offset: int, layout: Layout, writable: bool) -> Tensor:
    t.key = leaf_key("leaf", row, device)
    show(t, layout)
    t.buffer = buffer
    t.offset = offset
    _SLOT["writable"].__set__(t, writable)
    return t


def show(t: Tensor, layout: Layout) -> None:
    """Let a handle show its memory under another layout."""
    t.layout = layout
    _SLOT["shape"].__set__(t, layout.shape)


def handle(row: DType, buffer: Buffer, offset: int, layout: Layout, writable: bool) -> Tensor:
    """A handle on existing memory."""
    return _set(Tensor.__new__(Tensor), row, buffer.device, buffer, offset, layout, writable)


def new(shape: Shape, row: DType, device: Device, pad: bool = False, zeroed: bool = False) -> Tensor:
    """A tensor with memory of its own: uninitialised, or of zeros on the CPU."""
    check_device(device, "allocate")
    layout = rows_of(shape, row, device, pad)
    return handle(row, allocate(space(layout, row), device, zeroed), 0, layout, True)


def rows_of(shape: Shape, row: DType, device: Device, pad: bool) -> Layout:
    """The layout of a tensor with memory of its own."""
    if not pad:
        return shapes.packed(shape)
    return shapes.layout(shape, shapes.padded_strides(shape, row.itemsize, ROW_ALIGNMENT[device.kind]))


def space(layout: Layout, row: DType) -> int:
    """Bytes that a layout takes, padding of the last row included."""
    rows = layout.shape[0] * layout.strides[0] if layout.shape else 1
    return max(rows, layout.high) * row.itemsize


def view_of(t: Tensor, elements: int, layout: Layout) -> Tensor:
    """A handle on the same memory, `elements` further on, under another layout."""
    made = Tensor.__new__(Tensor)
    made.key, made.buffer, made.offset = t.key, t.buffer, t.offset + elements * t.key.dtype.itemsize
    show(made, layout)
    _SLOT["writable"].__set__(made, t.writable)
    return made


def _part(t: Tensor, which: int) -> Tensor:
    """One of the two numbers that each element is; a view."""
    require_memory(t, "index")
    row = t.key.dtype
    if not row.part:
        return t
    layout = shapes.layout(t.shape, tuple(2 * s for s in t.layout.strides))
    return handle(row.real, t.buffer, t.offset + which * row.real.itemsize, layout, t.writable)


def elements(t: Tensor) -> np.ndarray[Any, Any]:
    """The elements as NumPy's, for as long as somebody else keeps the memory; from a GPU, a copy."""
    if t.device.kind == "gpu":
        array = np.empty(t.shape, t.dtype)
        late["transfer"](late["borrow"](array), t)
        return array
    return _array(t, _interface(t))


class _Interface:
    __slots__ = ("__array_interface__",)
    __array_interface__: dict[str, Any]


def _interface(t: Tensor) -> _Interface:
    """The array interface of a tensor with memory; whoever keeps it must keep the buffer."""
    made = _Interface()
    made.__array_interface__ = {
        "data": (t.buffer.address + t.offset, not t.writable),
        "shape": t.shape,
        "strides": t.strides,
        "typestr": t.dtype.str,
        "version": 3,
    }
    return made


def _array(t: Tensor, exporter: Any) -> np.ndarray[Any, Any]:
    """The elements that an exporter of a tensor's array interface shows: of a type that is none of NumPy's it says the size only."""
    found = np.asarray(exporter)
    return found if found.dtype == t.dtype else found.view(t.dtype)


_VIEWS = frozenset(("index", "transpose", "reshape"))  # what an argument of a kernel has before it has memory


def require_memory(t: Tensor, operation: str) -> None:
    """Raise FreedSpaceError for a tensor that was not allocated, or was freed."""
    if isinstance(t.buffer, Promised):
        if operation in _VIEWS:
            return
        raise TypeError(
            f"{operation}: the tensor is an argument of a kernel that is being traced, so it has no elements yet; in a kernel write "
            "expressions and assignments"
        )
    if not t.buffer.address:
        why = "was not allocated; call xt.alloc_space(t) first" if t.buffer is NO_MEMORY else "was freed"
        raise FreedSpaceError(f"{operation}: the tensor of shape {t.shape} and type {t.dtype} {why}")


def resolve_shape(size: int, shape: Any, operation: str) -> Shape:
    """A shape of `size` elements in which one extent may be -1. Raises ShapeError where the sizes differ."""
    extents = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    given = [operator.index(n) for n in extents]
    if given.count(-1) == 1:
        others = prod(n for n in given if n != -1)
        given[given.index(-1)] = size // others if others and size % others == 0 else -1
    if min(given, default=0) < 0 or prod(given) != size:
        raise ShapeError(f"{operation}: {size} elements do not make shape {tuple(extents)}")
    return shapes.intern_shape(tuple(given))


# Assignment operators: the direct call where this statement has one, the whole way otherwise.


_ASSIGN = """
def method(self, value):
    if scope.open:
        call = optioned(self, row, value)
    else:
        cls = type(value)  # not its __class__: a run-time scalar of a kernel says that it is a number
        try:
            if cls is float or (cls is int and SMALL > value >= -SMALL):
                call = self.key.{mode}_call[cls]
            else:
                call = self.key.{mode}_call[value.key]
        except (KeyError, AttributeError):
            call = None
    if call is None or call(self, value) is NotImplemented:
        return store(row, self, value)
    return self
"""


def _optioned(target: Tensor, mode: Mode, value: Any) -> Callable[[Any, Any], Any] | None:
    """The direct call under the options in force here, while an `options` block is open somewhere."""
    kind = value.key if isinstance(value, Expr) else type(value)
    if kind is int and abs(value) >= SMALL:
        return None
    return calls_of(target.key, mode.name, current()).get(kind)


def _assignment(mode: Mode) -> Callable[[Tensor, Any], Tensor]:
    """The method of a mode, made from text as the operators are."""
    made: dict[str, Any] = {"__name__": __name__, "scope": scope, "store": store, "row": mode}
    made |= {"optioned": _optioned, "SMALL": SMALL}
    exec(compile(_ASSIGN.format(mode=mode.name), f"{__file__}:{mode.symbol}", "exec"), made)
    method: Callable[[Tensor, Any], Tensor] = made["method"]
    return method


def _raise_to(self: Tensor, exponent: Any) -> Tensor:
    """`t **= exponent` as `t[...] = t ** exponent`: the same fast forms, the same errors."""
    return store(MODES["write"], self, power(self, exponent))


def _multiply_by(self: Tensor, value: Any) -> Tensor:
    """`t @= b` as `t[...] = t @ b`: an AliasError, because every element needs a whole row of the target."""
    return store(MODES["write"], self, matmul(self, value))


_assignments = {name: _assignment(mode) for name, mode in MODES.items() if mode.name != "null"}
_assign_whole = _assignments["write"]
for _mode in (*ROWS, *OPERATORS):
    if _mode.method:
        setattr(Tensor, _mode.method, _assignment(_mode))
Tensor.__ipow__ = _raise_to
Tensor.__imatmul__ = _multiply_by


def assign(target: T, req: str, value: Any) -> T:
    """`target` combined with `value` as the request mode says: `write`, `inplace`, `add`, `sub`, `mul`, `div`, or `null`, which
    does nothing at all. Returns the target.

    Raises ShapeError, DTypeError, AliasError, ReadOnlyError, FreedSpaceError, CompileError; nothing has been stored then.
    """
    if isinstance(target, Tensor) and req.__class__ is str and req in _assignments:
        _assignments[req](target, value)
        return target
    return assign_value(target, req, value)


def _settle(view: Tensor, value: Any) -> None:
    """`t[index] = value`. After `t[index] -= e` Python assigns the view to itself: that is done already."""
    if not (isinstance(value, Tensor) and same_view(value, view)):
        _assign_whole(view, value)


def same_view(a: Leaf, b: Leaf) -> bool:
    """Whether two handles show the same elements of the same memory."""
    return a.layout is b.layout and a.key is b.key and a.buffer is b.buffer and a.offset == b.offset


late["handle"], late["view"] = handle, view_of
