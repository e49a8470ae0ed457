"""The matrices of a product as BLAS wants them: which routine, which flags, which strides; or as our own kernel takes any."""

from __future__ import annotations

from dataclasses import dataclass

from exprten_jit.backends.llvm_call import Blas
from exprten_jit.backends.llvm_gemm import Gemm
from exprten_jit.dtypes import DType

from ..blas import provider
from ..expression.expr import Apply, Expr
from ..expression.leaf import Leaf
from ..expression.product import Dot
from ..expression.shape import broadcast_strides
from ..gpu.driver import driver

Pair = tuple[int, int]


@dataclass(frozen=True)
class Matrices:
    """A product into a target: m, n, k and strides as `llvm_gemm` has them, the arguments of `blas`, and a batch: for each axis an
    extent and the steps of target, a and b, in bytes. `exchanged`: all of it is told of the transposes, b first.
    """

    types: Gemm
    sizes: tuple[int, ...]
    blas: Blas | None
    provider: str
    arguments: tuple[int, ...]
    batch: tuple[tuple[int, int, int, int], ...]
    exchanged: bool = False
    workspace: int = 0  # bytes that a GPU's BLAS has to work in


@dataclass(frozen=True)
class _Matrix:
    """Rows, columns, and the strides of both in elements."""

    shape: Pair
    strides: Pair

    def leading(self) -> tuple[str, int] | None:
        """`R` where rows are dense, `C` where columns are, with the step from one to the next; None where neither is."""
        for name, (far, near), (step, one) in (
            ("R", self.shape, self.strides),
            ("C", self.shape[::-1], self.strides[::-1]),
        ):
            if (one == 1 or near == 1) and (far == 1 or step >= max(near, 1)):
                return name, step if far > 1 else max(near, 1)
        return None


def tensors(dot: Dot) -> tuple[Leaf, Leaf] | None:
    """The operands of a product of tensors, or of tensors converted to its type in a way that packing does; None for another."""
    a, b = (_tensor(x, dot.key.dtype) for x in dot.operands)
    return None if a is None or b is None else (a, b)


def _tensor(x: Expr, row: DType) -> Leaf | None:
    if isinstance(x, Apply) and x.key.op == "cast" and x.key.dtype is row and isinstance(x.a, Leaf):
        old = x.a.key.dtype
        wider = old.bits < row.bits and (old.kind == row.kind or old.kind in "bu")
        if wider or old is row or (row.kind == "f" and old.kind != "f" and not row.wide):
            return x.a
    return x if isinstance(x, Leaf) else None


@dataclass(frozen=True)
class _Product:
    """A product of two tensors into a target of its shape; `lead` axes of these count matrices."""

    types: Gemm
    into: _Matrix
    left: _Matrix
    right: _Matrix
    lead: int

    @property
    def sizes(self) -> tuple[int, ...]:
        strides = (self.into.strides, self.left.strides, self.right.strides)
        return (*self.into.shape, self.left.shape[1], *(step for pair in strides for step in pair))


def _product(dot: Dot, a: Leaf, b: Leaf, target: Leaf) -> _Product | None:
    """None for one of two vectors."""
    if a.ndim == b.ndim == 1:
        return None
    rows, columns = min(a.ndim - 1, 1), min(b.ndim - 1, 1)
    k = a.shape[-1]
    m = a.shape[-2] if rows else 1
    n = b.shape[-1] if columns else 1
    lead = len(dot.shape) - rows - columns
    c_strides = target.layout.strides[lead:]
    *_, a_rows, a_k = (0, *a.layout.strides)
    *_, b_k, b_columns = b.layout.strides if columns else (*b.layout.strides, 0)
    left = _Matrix((m, k), (a_rows, a_k))
    right = _Matrix((k, n), (b_k, b_columns))
    into = _Matrix((m, n), (c_strides[0] if rows else 0, c_strides[-1] if columns else 0))
    return _Product(Gemm(a.key.dtype, b.key.dtype, target.key.dtype), into, left, right, lead)


def matrices(dot: Dot, a: Leaf, b: Leaf, target: Leaf, wanted: str | None) -> Matrices | None:
    """How a product of two tensors into a target of its shape is called; None where a fold is the better way: of vectors without
    BLAS, and where both operands are vectors.
    """
    p = _product(dot, a, b, target)
    if p is None:
        return None
    types, into, left, right = p.types, p.into, p.left, p.right
    found = _blas(types, into, left, right, wanted)
    if found is None and (1 in into.shape or dot.key.dtype.part):  # our own kernel knows no complex numbers
        return None
    batch = _batch(dot, target, a, b, p.lead)
    if found is None and into.strides[0] == 1 != into.strides[1]:  # our own kernel stores rows
        m, n, k = p.sizes[:3]
        sizes = (n, m, k, *into.strides[::-1], *right.strides[::-1], *left.strides[::-1])
        swapped = tuple((extent, c, j, i) for extent, c, i, j in batch)
        return Matrices(Gemm(types.b, types.a, types.c), sizes, None, "own", (), swapped, exchanged=True)
    blas, name, arguments = found or (None, "own", ())
    return Matrices(types, p.sizes, blas, name, arguments, batch)


def on_gpu(dot: Dot, a: Leaf, b: Leaf, target: Leaf) -> Matrices | None:
    """How cuBLAS computes it: as gemm, vectors too; None where it cannot."""
    p = _product(dot, a, b, target)
    if p is None or p.types.a is not p.types.b or p.types.c.kind not in "fc" or not p.left.shape[1]:
        return None
    widened = p.types.a.wide and p.types.a.computed is p.types.c  # the result is what sums are
    found = _gemm(p.into, p.left, p.right) if p.types.a is p.types.c or widened else None
    if found is None:
        return None
    routine, flags, swapped, arguments = found
    blas = Blas(routine, "i64", 0, flags, swapped)
    room = driver().workspace(target.key.device.index)
    batch = _batch(dot, target, a, b, p.lead)
    return Matrices(p.types, p.sizes, blas, "cublas", arguments, batch, workspace=room)


def _batch(dot: Dot, target: Leaf, a: Leaf, b: Leaf, lead: int) -> tuple[tuple[int, int, int, int], ...]:
    """Of each axis in front that has more than one element, its extent and the bytes from one matrix to the next."""
    shape = dot.shape[:lead]
    steps = [[s * target.key.dtype.itemsize for s in target.layout.strides[:lead]]]
    for x in (a, b):
        own = max(x.ndim - 2, 0)
        spread = broadcast_strides(x.shape[:own], x.layout.strides[:own], shape)
        steps.append([s * x.key.dtype.itemsize for s in spread])
    return tuple((n, c, i, j) for n, c, i, j in zip(shape, *steps, strict=True) if n != 1)


Found = tuple[Blas, str, tuple[int, ...]]


def _blas(types: Gemm, c: _Matrix, a: _Matrix, b: _Matrix, wanted: str | None) -> Found | None:
    """The call of BLAS, where there is one for these types and layouts."""
    if types.c.kind not in "fc" or not types.a is types.b is types.c or a.shape[1] == 0:
        return None
    by = provider(wanted)
    if by is None or ("gemm", types.c.name) not in by.address:
        return None
    found = _gemv(c, a, b) if 1 in c.shape else _gemm(c, a, b)
    if found is None:
        return None
    routine, flags, swapped, arguments = found
    if by.integer == "i32" and max(arguments) >= 1 << 31:
        return None
    return Blas(routine, by.integer, by.address[routine, types.c.name], flags, swapped, by.threads), by.name, arguments


_Call = tuple[str, str, bool, tuple[int, ...]]  # routine, flags, b before a, integers


def _gemm(c: _Matrix, a: _Matrix, b: _Matrix) -> _Call | None:
    """Matrices by columns, as Fortran has them: of rows the transposes, the other way round."""
    into, left, right = c.leading(), a.leading(), b.leading()
    if into is None or left is None or right is None:
        return None
    m, n, k = *c.shape, a.shape[1]
    if into[0] == "R":
        flags = "".join("N" if x[0] == "R" else "T" for x in (right, left))
        return "gemm", flags, True, (n, m, k, right[1], left[1], into[1])
    flags = "".join("N" if x[0] == "C" else "T" for x in (left, right))
    return "gemm", flags, False, (m, n, k, left[1], right[1], into[1])


def _gemv(c: _Matrix, a: _Matrix, b: _Matrix) -> _Call | None:
    """A matrix and a vector: of one row the matrix is b, transposed."""
    swapped = c.shape[1] != 1
    matrix = _Matrix(b.shape[::-1], b.strides[::-1]) if swapped else a
    x, y = (a.strides[1], c.strides[1]) if swapped else (b.strides[0], c.strides[0])
    rows, k = matrix.shape
    lead = matrix.leading()
    x, y = (x if k > 1 else 1), (y if rows > 1 else 1)
    if lead is None or x < 1 or y < 1:
        return None
    if lead[0] == "C":
        return "gemv", "N", swapped, (rows, k, lead[1], x, y)
    return "gemv", "T", swapped, (k, rows, lead[1], x, y)
