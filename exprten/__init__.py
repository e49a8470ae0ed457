"""exprten: lazy tensor expressions over explicitly allocated memory; an assignment is one fused kernel.

weight -= eta * (grad + lam * weight)        # one kernel, no temporary
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exprten_jit.dtypes import DTYPES as _DTYPES
from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from . import functions, library, linalg, optim, testing
from .checks import watch as watch  # options that look at statements
from .errors import (
    AliasError,
    CompileError,
    DeviceError,
    DTypeError,
    ExprtenError,
    FreedSpaceError,
    MismatchError,
    NonFiniteError,
    OutOfMemoryError,
    ReadOnlyError,
    ShapeError,
)
from .expression.expr import Expr
from .extension.broadcast import (
    broadcast,
    broadcast_keepdim,
    broadcast_multi_axes,
    broadcast_scalar,
    broadcast_to,
    broadcast_with_axis,
    repmat,
)
from .extension.generate import range
from .extension.reorder import flip, mirror, reshape, swapaxis, transpose
from .extension.window import concat, crop, pad, slice
from .functions import *  # noqa: F403  # the element-wise functions, named in functions.__all__
from .functions import absolute as abs
from .functions import around as round
from .functions import power as pow
from .functions import quotient_remainder as divmod
from .graphs import graph_capture
from .info import info, stats
from .interop import (
    TensorContainer,
    alloc_host,
    alloc_space,
    arange,
    array,
    asarray,
    copy,
    empty,
    empty_like,
    evaluate,
    free_space,
    full,
    new_tensor,
    ones,
    zeros,
    zeros_like,
)
from .kernels.kernel import Kernel, kernel
from .library import *  # noqa: F403  # likewise, in library.__all__
from .linalg import *  # noqa: F403  # likewise
from .modes import kAddTo, kNullOp, kWriteInplace, kWriteTo, req
from .options import no_compile, options
from .own.op import F, Op, op
from .own.reducer import Reducer, reducer
from .plan import Plan, plan
from .reduce import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    max,
    mean,
    min,
    norm,
    prod,
    reduce_except_dim,
    reduce_keepdim,
    reduce_with_axis,
    std,
    sum,
    sum_rows,
    sumall_except_dim,
    var,
)
from .storage.buffer import memory
from .storage.device import Device, Stream, cpu, gpu
from .target import Target
from .tensor import Tensor, assign

__all__ = [
    "AliasError", "CompileError", "DTypeError", "Device", "DeviceError", "Expr", "ExprtenError", "F",
    "FreedSpaceError", "Kernel", "MismatchError", "NonFiniteError", "Op", "OutOfMemoryError", "Plan", "ReadOnlyError", "Reducer", "ShapeError",
    "Stream", "Target", "Tensor", "TensorContainer", "abs", "all", "alloc_host", "alloc_space", "any", "arange", "argmax",
    "argmin", "array", "asarray", "assign", "bool_", "broadcast", "broadcast_keepdim", "broadcast_multi_axes",
    "broadcast_scalar", "broadcast_to", "broadcast_with_axis", "complex64", "complex128", "concat", "copy", "count_nonzero", "cpu", "crop",
    "divmod", "empty", "empty_like", "evaluate", "flip", "float16", "float32", "float64", "free_space", "full",
    "gpu", "graph_capture", "info", "int8", "int16", "int32", "int64", "kAddTo", "kNullOp", "kWriteInplace", "kWriteTo", "kernel",
    "max", "mean", "memory", "min", "mirror", "new_tensor", "no_compile", "norm", "ones", "op", "optim", "options",
    "pad", "plan", "pow", "prod", "range", "reduce_except_dim", "reduce_keepdim", "reduce_with_axis", "reducer",
    "repmat", "req", "reshape", "round", "slice", "stats", "std", "sum", "sum_rows", "sumall_except_dim",
    "swapaxis", "testing", "transpose", "uint8", "uint16", "uint32", "uint64", "var", "zeros", "zeros_like",
]  # fmt: skip
__all__ += functions.__all__ + library.__all__ + linalg.__all__

if TYPE_CHECKING:
    bfloat16: Any  # a scalar type of ml_dtypes, which has no types of its own
else:

    def __getattr__(name: str) -> type:
        """`bfloat16`: the library that has it is imported when somebody asks."""
        row = _DTYPES.get(name)
        if row is None or not row.like:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return row.numpy.type
