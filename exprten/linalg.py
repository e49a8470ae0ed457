"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from .errors import ShapeError
from .expression.expand import folded
from .expression.expr import Expr, as_expr, build, coerce, late, matmul
from .expression.product import again, dot_of, product
from .expression.shape import Shape

__all__ = ["batch_dot", "dot", "implicit_dot", "matmul", "matvec", "outer", "vecdot", "vecmat"]


def dot(a: Any, b: Any) -> Expr:
    """(m, k), (k, n) -> (m, n), and likewise where an operand is a vector: (k,), (k,) -> (). (mshadow dot)

    Assigned alone, scaled or added it is one call of BLAS; in a longer statement what is around it is computed over the
    target afterwards. Raises ShapeError for other shapes, DTypeError where NumPy has no such product, CompileError for an operand
    that is computed and would have to be again for every row or column.

    >>> import exprten as xt
    >>> xt.evaluate(xt.dot(xt.array([[1.0, 2.0], [3.0, 4.0]]), xt.array([1.0, 1.0]))).numpy().tolist()
    [3.0, 7.0]
    """
    made = again(a, b, "dot")
    return product(*_matrices(a, b, "dot"), "dot") if made is None else made


def implicit_dot(a: Any, b: Any) -> Expr:
    """(m, k), (k, n) -> (m, n) as a fold, never a call: operands may be any expressions, and are computed again wherever they are
    needed. (mshadow implicit_dot) Raises ShapeError, DTypeError.
    """
    return folded(dot_of(*_matrices(a, b, "implicit_dot"), "implicit_dot"), {})


def _matrices(a: Any, b: Any, operation: str) -> tuple[Expr, Expr]:
    left, right = _operand(a, operation), _operand(b, operation)
    if left.ndim > 2 or right.ndim > 2:
        raise ShapeError(
            f"{operation}: shapes {left.shape} and {right.shape}: operands have at most two axes; for one product a batch use "
            "a @ b or xt.batch_dot"
        )
    return left, right


def batch_dot(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Expr:
    """(..., m, k), (..., k, n) -> (..., m, n), the last two axes of an operand exchanged first where asked for; leading axes
    broadcast. Raises ShapeError below two axes. (MXNet batch_dot)
    """
    operands = [_operand(a, "batch_dot"), _operand(b, "batch_dot")]
    if min(e.ndim for e in operands) < 2:
        shapes: list[Shape] = [e.shape for e in operands]
        raise ShapeError(f"batch_dot: shapes {shapes[0]} and {shapes[1]}: an operand has two axes at least")
    left, right = (_exchanged(e) if t else e for e, t in zip(operands, (transpose_a, transpose_b), strict=True))
    return product(left, right, "batch_dot")


def outer(a: Any, b: Any) -> Expr:
    """(m,), (n,) -> (m, n): every element of one times every element of the other, fused like any other operation. Raises
    ShapeError for operands that are no vectors.
    """
    left, right = _operand(a, "outer"), _operand(b, "outer")
    if left.ndim != 1 or right.ndim != 1:
        raise ShapeError(f"outer: shapes {left.shape} and {right.shape}: both operands must have one axis")
    return build("multiply", left[:, None], right)


def vecdot(a: Any, b: Any) -> Expr:
    """(..., n), (..., n) -> (...): the sum of products along the last axis, of complex numbers of conj(a). Raises ShapeError. (np.vecdot)"""
    left, right = _vectors(a, b, "vecdot", 1, 1)
    left = left.conj() if left.key.dtype.part else left
    return matmul(left[..., None, :], right[..., :, None])[..., 0, 0]  # type: ignore[no-any-return]


def matvec(a: Any, b: Any) -> Expr:
    """(..., m, n), (..., n) -> (..., m): a matrix times a vector. Raises ShapeError. (np.matvec)"""
    left, right = _vectors(a, b, "matvec", 2, 1)
    return matmul(left, right[..., :, None])[..., 0]  # type: ignore[no-any-return]


def vecmat(a: Any, b: Any) -> Expr:
    """(..., m), (..., m, n) -> (..., n): a vector times a matrix, of complex numbers conj(a). Raises ShapeError. (np.vecmat)"""
    left, right = _vectors(a, b, "vecmat", 1, 2)
    left = left.conj() if left.key.dtype.part else left
    return matmul(left[..., None, :], right)[..., 0, :]  # type: ignore[no-any-return]


def _vectors(a: Any, b: Any, operation: str, *least: int) -> tuple[Expr, Expr]:
    left, right = _operand(a, operation), _operand(b, operation)
    if left.ndim < least[0] or right.ndim < least[1]:
        raise ShapeError(
            f"{operation}: shapes {left.shape} and {right.shape}: the operands have {least[0]} and {least[1]} axes at least"
        )
    along = right.ndim - least[1]
    if left.shape[-1] != right.shape[along]:
        raise ShapeError(
            f"{operation}: shapes {left.shape} and {right.shape}: axis {left.ndim - 1} of the first has {left.shape[-1]} elements, axis "
            f"{along} of the second has {right.shape[along]}; they must be as long as each other"
        )
    return left, right


late["vecdot"], late["matvec"], late["vecmat"] = vecdot, matvec, vecmat


def _operand(x: Any, operation: str) -> Expr:
    return as_expr(coerce(x, operation))


def _exchanged(e: Expr) -> Expr:
    """The last two axes the other way round."""
    exchanged: Expr = late["transpose"](e, (*range(e.ndim - 2), e.ndim - 1, e.ndim - 2))
    return exchanged
