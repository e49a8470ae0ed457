"""Errors: the class, the exact words, the line they point at, and data that nobody touched."""

import gc
import sys
import textwrap
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from emulator.driver import emulated
from exprten_jit.dtypes import ROWS

import exprten as xt
from exprten.options import Options, from_environment

TYPES = ", ".join(row.name for row in ROWS)
CONVERT = f"convert with np.ascontiguousarray(x, dtype) to one of {TYPES}"
OURS = ("exprten", "exprten_jit", "contextlib", "dataclasses")  # the last two carry `with xt.options(...)`


class Case(NamedTuple):
    """`code` raises `error` with exactly `text`, at the line that ends in `# <-`, else at its last line."""

    name: str
    code: str
    error: type[BaseException]
    text: str


@pytest.fixture(autouse=True)
def two_gpus():
    """Emulated devices, and no others."""
    with emulated(devices=2):
        yield


class OnGpu:
    """What CuPy's arrays look like from outside."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


class OnTpu:
    """An array on a device that exprten knows nothing of."""

    def __dlpack__(self, **how):
        raise BufferError("asked for memory that nobody can read")

    def __dlpack_device__(self):
        return (12, 3)


def environment():
    """Names for the snippets: tensors a letter a type, all with memory."""
    numpy = {"f": np.float32, "d": np.float64, "i": np.int32, "k": np.int64, "u": np.uint8, "b": np.bool_}
    names = {name: xt.array(np.arange(6).reshape(2, 3).astype(dtype)) for name, dtype in numpy.items()}
    numpy_f = np.arange(6, dtype=np.float32).reshape(2, 3)
    readonly = np.arange(3, dtype=np.float32)
    readonly.flags.writeable = False
    packed = np.zeros(4, [("a", "<f4"), ("b", "u1")])
    return names | {
        "xt": xt, "np": np, "Fraction": Fraction, "v": xt.array([1.0, 2.0, 3.0]), "w": xt.array(np.arange(16, dtype=np.float32).reshape(4, 4)),
        "s": xt.array(2.0), "h": xt.Tensor((2, 3)), "readonly": readonly, "raw": np.zeros(64, np.uint8), "packed": packed,
        "OnGpu": OnGpu, "OnTpu": OnTpu, "g": xt.array(numpy_f, device=xt.gpu(0)), "g1": xt.array(numpy_f, device=xt.gpu(1)),
        "elsewhere": xt.Tensor((2, 3), device=xt.cpu()),
    }  # fmt: skip


def bytes_of(names):
    """The canaries: every element that the snippet could have written."""
    out = {}
    for name, x in names.items():
        if isinstance(x, xt.Tensor) and x.buffer.address:
            out[name] = (id(x.buffer), x.numpy().tobytes())
        elif isinstance(x, np.ndarray):
            out[name] = x.tobytes()
    return out


# fmt: off
SHAPES = [
    Case("broadcast", "f + xt.zeros((2, 4))", xt.ShapeError,
         "add: shapes (2, 3) and (2, 4) do not broadcast: axis -1 has extents 3 and 4; they must be equal, or 1"),
    Case("broadcast of three", "xt.where(b, f, xt.zeros(4))", xt.ShapeError,
         "where: shapes (2, 3) and (4,) do not broadcast: axis -1 has extents 3 and 4; they must be equal, or 1"),
    Case("write", "f[...] = xt.zeros((2, 4))", xt.ShapeError,
         "assign: target [...] = value: target has shape (2, 3), the value has shape (2, 4); axis 1 must be 3 or 1"),
    Case("add", "f += w", xt.ShapeError,
         "assign: target += value: target has shape (2, 3), the value has shape (4, 4); axis 1 must be 3 or 1"),
    Case("first axis", "f -= xt.zeros((4, 3))", xt.ShapeError,
         "assign: target -= value: target has shape (2, 3), the value has shape (4, 3); axis 0 must be 2 or 1"),
    Case("too many axes", "v *= f", xt.ShapeError,
         "assign: target *= value: target has shape (3,), the value has shape (2, 3); it must have at most 1 axes"),
    Case("broadcast target", "v[:1] /= v", xt.ShapeError,
         "assign: target /= value: target has shape (1,), the value has shape (3,); axis 0 must be 1"),
    Case("axis of a deviation", "xt.std(f, axis=2)", xt.ShapeError, "std: axis 2 is not one of the 2 axes -2 to 1"),
    Case("ddof", "xt.std(f, ddof='a')", TypeError, "std: ddof is 'a'; it must be a number, which is taken from the number of elements"),
    Case("vectors of different lengths", "xt.vecdot(f, xt.zeros(4))", xt.ShapeError,
         "vecdot: shapes (2, 3) and (4,): axis 1 of the first has 3 elements, axis 0 of the second has 4; they must be as long as "
         "each other"),
    Case("mT of a vector", "v.mT", xt.ShapeError, "mT: shape (3,) has no two axes to exchange"),
    Case("reshape view", "w.T.reshape(16)", xt.ShapeError,
         "reshape: no view of shape (16,) shows a tensor of shape (4, 4) and strides (4, 16); use the expression xt.reshape(t, shape)"),
    Case("reshape size", "w.reshape(3, -1)", xt.ShapeError, "reshape: 16 elements do not make shape (3, -1)"),
    Case("reshape two unknown", "xt.reshape(w + 1, (-1, -1))", xt.ShapeError, "reshape: 16 elements do not make shape (-1, -1)"),
    Case("negative extent", "xt.Tensor((2, -1))", xt.ShapeError, "Tensor: shape (2, -1) has a negative extent"),
    Case("too many elements", "xt.zeros((2**40, 2**40))", xt.ShapeError, f"zeros: shape ({2**40}, {2**40}) has more than {2**63 - 1} elements, which no index can count"),
    Case("a reshape that wraps", "xt.zeros(0).reshape(2**32, 2**32)", xt.ShapeError, f"reshape: 0 elements do not make shape ({2**32}, {2**32})"),
    Case("negative extent of zeros", "xt.zeros((2, -1))", xt.ShapeError, "zeros: shape (2, -1) has a negative extent"),
    Case("shape of letters", "xt.Tensor('ab')", xt.ShapeError, "Tensor: shape 'ab' is not made of integers"),
    Case("shape of a float", "xt.Tensor(1.5)", xt.ShapeError, "Tensor: shape 1.5 is not made of integers"),
    Case("copy", "xt.copy(f, v)", xt.ShapeError, "copy: shapes (2, 3) and (3,) differ"),
]

DTYPES = [
    Case("bool minus", "b - b", xt.DTypeError,
         "subtract: not defined for bool, bool (bool has no minus: use ^); convert an operand with xt.cast"),
    Case("minus bool", "-b", xt.DTypeError,
         "negative: not defined for bool (bool has no minus: use ~); convert an operand with xt.cast"),
    Case("shift of floats", "f << 1", xt.DTypeError,
         "left_shift: not defined for float32, a Python int; convert an operand with xt.cast"),
    Case("bits of floats", "f & f", xt.DTypeError,
         "bitwise_and: not defined for float32, float32; convert an operand with xt.cast"),
    Case("int /=", "i /= 2", xt.DTypeError,
         "int32 /= a Python int: the result is float64, which int32 cannot hold (same-kind rule); use //= to divide integers"),
    Case("int /= tensor", "i /= k", xt.DTypeError,
         "int32 /= int64: the result is float64, which int32 cannot hold (same-kind rule); use //= to divide integers"),
    Case("int = float", "i[...] = f", xt.DTypeError,
         "int32 [...] = float32: the result is float32, which int32 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'int32')"),
    Case("int = Python float", "i[...] = 1.5", xt.DTypeError,
         "int32 [...] = a Python float: the result is a Python float, which int32 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'int32')"),
    Case("unsigned = signed", "u[...] = i", xt.DTypeError,
         "uint8 [...] = int32: the result is int32, which uint8 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'uint8')"),
    Case("int += float", "k += 0.5", xt.DTypeError,
         "int64 += a Python float: the result is float64, which int64 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'int64')"),
    Case("bool = int", "b[...] = 1", xt.DTypeError,
         "bool [...] = a Python int: the result is a Python int, which bool cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'bool')"),
    Case("evaluate", "xt.evaluate(f * 2, xt.int32)", xt.DTypeError,
         "int32 [...] = float32: the result is float32, which int32 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'int32')"),
    Case("no type", "xt.Tensor(3, 'foo')", xt.DTypeError, "Tensor: 'foo' is no element type"),
    Case("no type to cast to", "xt.cast(f, 'S3')", xt.DTypeError, f"cast: exprten has no element type bytes24; {CONVERT}"),
    Case("array of objects", "xt.array([None])", xt.DTypeError, f"array: exprten has no element type object; {CONVERT}"),
    Case("longdouble operand", "f + np.ones(3, np.longdouble)", xt.DTypeError,
         f"add: exprten has no element type {np.dtype(np.longdouble).name}; {CONVERT}"),
    Case("longdouble scalar", "f + np.longdouble(1)", xt.DTypeError,
         "add: a scalar of type longdouble is none that exprten has; convert it first"),
    Case("fraction", "f * Fraction(1, 2)", xt.DTypeError, "multiply: a Fraction is no number that exprten has"),
    Case("complex operand", "xt.erf(f * 1j)", xt.DTypeError, "erf: not defined for complex64; convert an operand with xt.cast"),
    Case("complex to real", "f[...] = f * 1j", xt.DTypeError,
         "float32 [...] = complex64: the result is complex64, which float32 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'float32')"),
    Case("complex scalar to real", "f *= 1j", xt.DTypeError,
         "float32 *= a Python complex: the result is complex64, which float32 cannot hold (same-kind rule); "
         "convert the value with xt.cast(e, 'float32')"),
    Case("imaginary parts of real numbers", "f.imag = 1", TypeError,
         "imag: the tensor of shape (2, 3) and type float32 has no imaginary parts to store to"),
    Case("misaligned address", "xt.asarray(raw[1:41].view(np.float32))", xt.DTypeError,
         "asarray: float32 elements at strides (4,) are misaligned; copy them with np.ascontiguousarray(x, float32)"),
    Case("misaligned strides", "xt.asarray(packed['a'])", xt.DTypeError,
         "asarray: float32 elements at strides (5,) are misaligned; copy them with np.ascontiguousarray(x, float32)"),
    *(Case(f"asarray {name}", f"xt.asarray({code})", xt.DTypeError, f"asarray: exprten has no element type {name}; {CONVERT}")
      for name, code in {
          "bytes24": "np.zeros(2, 'S3')",
          "object": "np.array([None])", "str32": "np.array(['a'])", "bytes8": "np.array([b'a'])",
          "void32": "np.zeros(2, [('a', 'f4')])", "datetime64[s]": "np.zeros(2, 'M8[s]')", "timedelta64[s]": "np.zeros(2, 'm8[s]')",
          "float32 in foreign byte order": "np.zeros(2, np.dtype('f4').newbyteorder('S'))",
      }.items()),
]

SCALARS = [
    Case("operand too large", "u + 300", OverflowError,
         "add: 300 does not fit uint8 (0 to 255); convert the tensor with xt.cast"),
    Case("operand below 0", "-1 - u", OverflowError,
         "subtract: -1 does not fit uint8 (0 to 255); convert the tensor with xt.cast"),
    Case("operand beyond int64", "k * 2**63", OverflowError,
         "multiply: 9223372036854775808 does not fit int64 (-9223372036854775808 to 9223372036854775807); convert the tensor with xt.cast"),
    Case("value", "u[...] = 300", OverflowError,
         "assign: target [...] = value: 300 does not fit uint8 (0 to 255); convert the tensor with xt.cast"),
    Case("value of +=", "i += 2**31", OverflowError,
         "assign: target += value: 2147483648 does not fit int32 (-2147483648 to 2147483647); convert the tensor with xt.cast"),
    Case("fill", "pad = xt.pad(u, 1, value=256)", OverflowError,
         "pad: 256 does not fit uint8 (0 to 255); convert the tensor with xt.cast"),
    Case("choice", "xt.where(b, u, 256)", OverflowError,
         "where: 256 does not fit uint8 (0 to 255); convert the tensor with xt.cast"),
    Case("beyond every float", "f + 10**400", OverflowError,
         "add: an int of 1329 bits does not fit float32"),
    Case("negative power", "k ** -1", ValueError,
         "power: integers to the power -1 are no integers; convert with xt.cast(x, xt.float64) first"),
    Case("negative power by name", "xt.power(i, -2)", ValueError,
         "power: integers to the power -2 are no integers; convert with xt.cast(x, xt.float64) first"),
    Case("negative power in place", "k **= -1", ValueError,
         "power: integers to the power -1 are no integers; convert with xt.cast(x, xt.float64) first"),
]

OPERANDS = [
    Case("list", "f + [1, 2, 3]", TypeError, "add: a list is no operand; make it a tensor with xt.array(...)"),
    Case("list at left", "[1, 2, 3] * f", TypeError, "multiply: a list is no operand; make it a tensor with xt.array(...)"),
    Case("tuple", "xt.maximum(f, (1, 2, 3))", TypeError, "maximum: a tuple is no operand; make it a tensor with xt.array(...)"),
    Case("None", "f - None", TypeError, "subtract: a NoneType is no operand"),
    Case("str", "f == 'a'", TypeError, "equal: a str is no operand"),
    Case("list as value", "f[...] = [1, 2, 3]", TypeError,
         "assign: target [...] = value: a list is no operand; make it a tensor with xt.array(...)"),
    Case("None as value of +=", "f += None", TypeError, "assign: target += value: a NoneType is no operand"),
    Case("too few", "xt.maximum(f)", TypeError, "maximum: takes 2 operands, not 1"),
    Case("too many", "xt.exp(f, f)", TypeError, "exp: takes 1 operand, not 2"),
    Case("@", "f @ [1.0]", TypeError, "@: a list is no operand; make it a tensor with xt.array(...)"),
    Case("@ and a number", "2.0 @ f", xt.ShapeError, "@: shapes () and (2, 3): a product needs an axis of each; use * for a number"),
    Case("asarray of a list", "xt.asarray([1, 2])", TypeError,
         "asarray: a list has no memory to share; copy it with xt.array(...)"),
    Case("np.asarray of an expression", "np.asarray(f + 1)", TypeError,
         "an expression has no elements yet: assign it (out[...] = e), or use xt.evaluate(e).numpy()"),
    Case("assign to an array", "xt.assign(raw, 'write', 1)", TypeError, "assign: the target is a ndarray; it must be a tensor (xt.asarray makes one of an array)"),
    Case("assign to an expression", "xt.assign(f + 1, 'write', 1)", TypeError,
         "assign: the target is a Apply; it must be a tensor (xt.asarray makes one of an array)"),
    Case("plan of an array", "xt.plan(raw, 1)", TypeError, "plan: the target is a ndarray; it must be a tensor"),
    Case("alloc_space of an array", "xt.alloc_space(raw)", TypeError, "alloc_space: a ndarray is no tensor"),
    Case("free_space of an expression", "xt.free_space(f + 1)", TypeError, "free_space: a Apply is no tensor"),
]

TRUTH = [
    Case("if a < b", "if f < d:\n    pass\nelse:\n    pass", TypeError,
         "bool() of an expression of shape (2, 3): a condition on elements is no single truth; "
         "choose element by element with xt.where(condition, a, b)"),
    Case("and", "f and d", TypeError,
         "bool() of an expression of shape (2, 3): a condition on elements is no single truth; "
         "choose element by element with xt.where(condition, a, b)"),
    Case("chained comparison", "0 < v < 2", TypeError,
         "bool() of an expression of shape (3,): a condition on elements is no single truth; "
         "choose element by element with xt.where(condition, a, b)"),
    Case("bool of one element", "bool(v[:1])", TypeError,
         "bool() of an expression of shape (1,): a condition on elements is no single truth; "
         "choose element by element with xt.where(condition, a, b)"),
    Case("len", "len(s)", TypeError, "len() of an expression without axes"),
    Case("iter", "for x in s + 1:\n    pass", TypeError, "len() of an expression without axes"),
    Case("float", "float(v)", TypeError, "item: shape (3,) has 3 elements, not one"),
    Case("int", "int(f)", TypeError, "item: shape (2, 3) has 6 elements, not one"),
    Case("format", "f'{xt.zeros(2) + 1:.2f}'", TypeError, "item: shape (2,) has 2 elements, not one"),
    Case("item", "xt.zeros(0).item()", TypeError, "item: shape (0,) has 0 elements, not one"),
    Case("float as an index", "[1, 2, 3][s]", TypeError, "a tensor of shape () and type float32 is no index"),
    Case("vector as an index", "range(5)[k[0]]", TypeError, "a tensor of shape (3,) and type int64 is no index"),
]

_NO_INDEX = ("is no index of axis 0; use integers, slices, None and '...'; "
             "indexing by an array is not in this version; choose by a condition with xt.where")
INDICES = [
    Case("by a list", "f[[0, 1]]", TypeError, f"index: list {_NO_INDEX}"),
    Case("by an array", "f[np.array([0, 1])]", TypeError, f"index: ndarray {_NO_INDEX}"),
    Case("by a tensor", "f[k]", TypeError, f"index: an expression {_NO_INDEX}"),
    Case("by a condition", "f[f > 0]", TypeError, f"index: an expression {_NO_INDEX}"),
    Case("by True", "f[True]", TypeError, f"index: bool {_NO_INDEX}"),
    Case("by a float", "f[1.0]", TypeError, f"index: float {_NO_INDEX}"),
    Case("an expression by a list", "(f + 1)[[0, 1]]", TypeError, f"index: list {_NO_INDEX}"),
    Case("assignment by a condition", "f[f > 0] = 0", TypeError, f"index: an expression {_NO_INDEX}"),
    Case("out of range", "f[0, 3]", IndexError, "index: 3 is out of range for axis 1 of shape (2, 3)"),
    Case("out of range below", "(f + 1)[-3]", IndexError, "index: -3 is out of range for axis 0 of shape (2, 3)"),
    Case("too many", "f[0, 0, 0]", IndexError, "index: 3 indices for the 2 axes of shape (2, 3)"),
    Case("two ellipses", "f[..., ...]", IndexError, "index: an index can have one '...' only"),
    Case("step 0", "f[::0]", ValueError, "slice step cannot be zero"),
]

MODES = [
    Case("unknown mode", "xt.assign(f, 'set', 1)", ValueError,
         "assign: 'set' is no request mode; there are null, write, inplace, add, sub, mul, div"),
    Case("unhashable mode", "f.assign(1, ['add'])", ValueError,
         "assign: ['add'] is no request mode; there are null, write, inplace, add, sub, mul, div"),
    Case("unknown mode of a plan", "xt.plan(f, 1, 'set')", ValueError,
         "assign: 'set' is no request mode; there are null, write, inplace, add, sub, mul, div"),
    Case("unknown option", "with xt.options(fast_maths=True):\n    pass", TypeError,
         "options: there is no option fast_maths; there are fast_math, max_recompute, vector_bits, llvm_level, num_threads, blas, half, check, interpret"),
    Case("vector_bits", "with xt.options(vector_bits=100):\n    pass", ValueError,
         "options: vector_bits is 100; it must be None, 128, 256 or 512"),
    Case("llvm_level", "with xt.options(llvm_level=4):\n    pass", ValueError,
         "options: llvm_level is 4; it must be 0, 1, 2 or 3"),
    Case("max_recompute", "with xt.options(max_recompute=0.5):\n    pass", ValueError,
         "options: max_recompute is 0.5; it must be at least 1"),
    Case("max_recompute NaN", "with xt.options(max_recompute=float('nan')):\n    pass", ValueError,
         "options: max_recompute is nan; it must be at least 1"),
]

_UNALLOCATED = "the tensor of shape (2, 3) and type float32 was not allocated; call xt.alloc_space(t) first"
_FREED = "the tensor of shape (2, 3) and type float32 was freed"
MEMORY = [
    Case("unallocated target", "h[...] = 1", xt.FreedSpaceError,
         "assign: the target of shape (2, 3) and type float32 has no memory; call xt.alloc_space(t) first"),
    Case("unallocated +=", "h += 1", xt.FreedSpaceError,
         "assign: the target of shape (2, 3) and type float32 has no memory; call xt.alloc_space(t) first"),
    Case("unallocated operand", "e = h * 2 + f\nf[...] = e", xt.FreedSpaceError,
         "assign: the operand of shape (2, 3) and type float32 has no memory: it was freed, or never allocated (xt.alloc_space(t))"),
    Case("unallocated slice", "h[0]", xt.FreedSpaceError, f"index: {_UNALLOCATED}"),
    Case("unallocated T", "h.T", xt.FreedSpaceError, f"transpose: {_UNALLOCATED}"),
    Case("unallocated reshape", "h.reshape(6)", xt.FreedSpaceError, f"reshape: {_UNALLOCATED}"),
    Case("unallocated broadcast_to", "xt.broadcast_to(h, (4, 2, 3))", xt.FreedSpaceError, f"broadcast_to: {_UNALLOCATED}"),
    Case("unallocated numpy", "h.numpy()", xt.FreedSpaceError, f"numpy: {_UNALLOCATED}"),
    Case("unallocated np.asarray", "np.asarray(h)", xt.FreedSpaceError, f"numpy: {_UNALLOCATED}"),
    Case("unallocated free", "xt.free_space(h)", xt.FreedSpaceError,
         "free_space: the tensor has no memory: it was freed already, or never allocated"),
    Case("allocated twice", "xt.alloc_space(h)\nxt.alloc_space(h)", xt.FreedSpaceError,
         "alloc_space: the tensor of shape (2, 3) and type float32 has memory already"),
    Case("freed target", "xt.free_space(f)\nf[...] = 1", xt.FreedSpaceError,
         "assign: the target of shape (2, 3) and type float32 has no memory; it was freed; make a new handle"),
    Case("freed through another handle", "g = f[:, 1:]\nxt.free_space(g)\nf[0]", xt.FreedSpaceError, f"index: {_FREED}"),
    Case("freed, then copied", "xt.free_space(f)\nf.to(xt.cpu())", xt.FreedSpaceError, f"to: {_FREED}"),
    Case("freed, an older expression", "e = f * 2\nxt.free_space(f)\nd[...] = e", xt.FreedSpaceError,
         "assign: the operand of shape (2, 3) and type float32 has no memory: it was freed, or never allocated (xt.alloc_space(t))"),
    Case("freed twice", "g = f.T\nxt.free_space(f)\nxt.free_space(g)", xt.FreedSpaceError,
         "free_space: the tensor has no memory: it was freed already, or never allocated"),
    Case("freed, allocated again", "xt.free_space(f)\nxt.alloc_space(f)", xt.FreedSpaceError,
         "alloc_space: the tensor of shape (2, 3) and type float32 was freed; make a new handle"),
    Case("exported", "a = f.numpy()\nxt.free_space(f)", BufferError,
         "free_space: 1 exported view(s) of the memory live (t.numpy(), np.asarray(t) or DLPack); delete them first"),
    Case("read-only", "xt.asarray(readonly)[...] = 1", xt.ReadOnlyError,
         "assign: the target of shape (3,) and type float32 is read-only"),
    Case("read-only view", "t = xt.asarray(readonly)[1:]\nt += 1", xt.ReadOnlyError,
         "assign: the target of shape (2,) and type float32 is read-only"),
    Case("zero strides", "xt.broadcast_to(v, (2, 3))[...] = 0", xt.AliasError,
         "assign: elements of the target of shape (2, 3) and type float32 share memory (strides (0, 4)), so each would be stored "
         "more than once; write into a tensor of its own"),
    Case("alias", "w[...] = w.T + 1", xt.AliasError,
         "assign: the target of shape (4, 4) and type float32 is also read at other positions, through a view of shape (4, 4) and "
         "strides (4, 16); write into another tensor, or copy the operand first: xt.evaluate(operand)"),
    Case("alias of inplace", "xt.assign(w[1:], 'inplace', w[:-1])", xt.AliasError,
         "assign: mode 'inplace' asks that every element is read where it is stored, but the target of shape (3, 4) and type float32 "
         "is also read at other positions, through a view of shape (3, 4) and strides (16, 4); write into another tensor, or copy "
         "the operand first: xt.evaluate(operand)"),
    Case("out of memory", "xt.empty(1 << 50, xt.uint8)", xt.OutOfMemoryError,
         f"allocate: {1 << 50} bytes on cpu are not to be had; {{in_use}} bytes are in use by exprten"),
    Case("more bytes than NumPy counts", "xt.empty(1 << 62)", xt.OutOfMemoryError,
         f"allocate: {1 << 64} bytes on cpu are not to be had; {{in_use}} bytes are in use by exprten"),
]

DEVICES = [
    Case("gpu", "xt.gpu(7)", xt.DeviceError,
         "gpu(7): there are 2 CUDA devices, from gpu(0) on; CUDA_VISIBLE_DEVICES decides which are seen"),
    Case("no such kind", "xt.Device('tpu')", xt.DeviceError,
         "Device: there is no kind of device 'tpu'; use xt.cpu() or xt.gpu(i)"),
    Case("no device", "xt.zeros(3, device='gpu')", TypeError,
         "allocate: 'gpu' is no device; use xt.cpu() or xt.gpu(i)"),
    Case("a device made by hand", "xt.zeros(3, device=xt.Device('gpu', 2))", xt.DeviceError,
         "gpu(2): there are 2 CUDA devices, from gpu(0) on; CUDA_VISIBLE_DEVICES decides which are seen"),
    Case("operands on two", "f + g", xt.DeviceError,
         "add: operands lie on cpu and gpu:0; bring them to one device with t.to(device)"),
    Case("operands on two GPUs", "xt.maximum(g, g1)", xt.DeviceError,
         "maximum: operands lie on gpu:0 and gpu:1; bring them to one device with t.to(device)"),
    Case("an array in a tree on a GPU", "g * np.ones(3, np.float32)", xt.DeviceError,
         "multiply: operands lie on gpu:0 and cpu; bring them to one device with t.to(device)"),
    Case("an array on a GPU in a tree on the CPU", "f + OnGpu(g)", xt.DeviceError,
         "add: operands lie on cpu and gpu:0; bring them to one device with t.to(device)"),
    Case("target elsewhere", "g[...] = f", xt.DeviceError,
         "assign: the target lies on gpu:0, the operand of shape (2, 3) and type float32 on cpu; copy it there first, with t.to(device) or xt.copy"),
    Case("target on another GPU", "g1[...] = g * 2", xt.DeviceError,
         "assign: the target lies on gpu:1, the operand of shape (2, 3) and type float32 on gpu:0; copy it there first, with t.to(device) or xt.copy"),
    Case("NumPy and a GPU", "np.asarray(g)", xt.DeviceError,
         "np.asarray: the tensor of shape (2, 3) and type float32 lies on gpu:0; t.numpy() copies it to the host"),
    Case("asarray of a TPU's array", "xt.asarray(OnTpu())", xt.DeviceError,
         "asarray: a OnTpu lies on DLPack's device (12, 3)"),
    Case("cuda", "xt.plan(f, 1).cuda", xt.DeviceError,
         "plan: <plan of target [...] = 1> has no CUDA text: it is on the CPU; a kernel whose tensors are on xt.gpu(0) has"),
    Case("ptx", "xt.plan(f, 1).ptx", xt.DeviceError,
         "plan: <plan of target [...] = 1> has no PTX: it is on the CPU; a kernel whose tensors are on xt.gpu(0) has"),
]

EXTENSIONS = [
    Case("broadcast_to", "xt.broadcast_to(f, (3, 2))", xt.ShapeError,
         "broadcast_to: shape (2, 3) does not broadcast to (3, 2): every extent must be equal, or 1 and repeated"),
    Case("broadcast", "xt.broadcast(v, (3, 4), 1)", xt.ShapeError,
         "broadcast: src has shape (3,); along axis 1 of (3, 4) it must have shape (4,)"),
    Case("broadcast axis", "xt.broadcast(v, (3, 4), 2)", xt.ShapeError,
         "broadcast: axis 2 is not one of the 2 axes -2 to 1"),
    Case("broadcast_scalar", "xt.broadcast_scalar(v, (3,))", xt.ShapeError,
         "broadcast_scalar: src has shape (3,), it must have one element"),
    Case("repmat", "xt.repmat(f, 2)", xt.ShapeError, "repmat: src has shape (2, 3), it must be a vector"),
    Case("broadcast_with_axis", "xt.broadcast_with_axis(f, 2, 5)", xt.ShapeError,
         "broadcast_with_axis: axis 2 is not between -1 and 1, for shape (2, 3)"),
    Case("broadcast_keepdim", "xt.broadcast_keepdim(f, 1, 5)", xt.ShapeError,
         "broadcast_multi_axes: axis 1 of shape (2, 3) has extent 3, it must be 1"),
    Case("broadcast_multi_axes", "xt.broadcast_multi_axes(f, (0, 1), (5,))", xt.ShapeError,
         "broadcast_multi_axes: 2 axes and 1 sizes"),
    Case("range step", "xt.range(0, 4, 0)", ValueError,
         "range: step is 0 and repeat is 1; the step must not be 0, the repeat 1 or more"),
    Case("range repeat", "xt.range(4, repeat=0)", ValueError,
         "range: step is 1 and repeat is 0; the step must not be 0, the repeat 1 or more"),
    Case("arange step", "xt.arange(0, 4, 0)", ValueError, "arange: step is 0"),
    Case("transpose", "xt.transpose(f, (0, 0))", xt.ShapeError,
         "transpose: axes (0, 0) are no permutation of the 2 axes of shape (2, 3)"),
    Case("transposed", "f.transposed((0, 0))", xt.ShapeError,
         "transpose: axes (0, 0) are no permutation of the 2 axes of shape (2, 3)"),
    Case("swapaxis", "xt.swapaxis(f, 0, 2)", xt.ShapeError, "swapaxis: axis 2 is not one of the 2 axes -2 to 1"),
    Case("flip", "xt.flip(f + 1, -3)", xt.ShapeError, "flip: axis -3 is not one of the 2 axes -2 to 1"),
    Case("mirror", "xt.mirror(v)", xt.ShapeError, "mirror: src has shape (3,), it must have two axes or more"),
    Case("slice", "xt.slice(f, 1, 4, axis=1)", xt.ShapeError, "slice: 1 to 4 is no range of axis 1 of shape (2, 3)"),
    Case("slice backwards", "xt.slice(f, 2, 1)", xt.ShapeError, "slice: 2 to 1 is no range of axis 0 of shape (2, 3)"),
    Case("slice of all axes", "xt.slice(f, (0,), (1, 1))", xt.ShapeError,
         "slice: begin (0,) and end (1, 1) must have one entry for each axis of shape (2, 3)"),
    Case("crop", "xt.crop(f, (3, 3))", xt.ShapeError,
         "crop: (3, 3) from (-1, 0) does not lie in the last two axes of shape (2, 3)"),
    Case("crop of a vector", "xt.crop(v, (1, 1))", xt.ShapeError, "crop: src has shape (3,), it must have two axes or more"),
    Case("pad", "xt.pad(v, 1)", xt.ShapeError,
         "pad: widths [(1, 1), (1, 1)] do not fit the 1 axes of shape (3,); they must be 0 or more"),
    Case("pad below 0", "xt.pad(f, -1)", xt.ShapeError,
         "pad: widths [(-1, -1), (-1, -1)] do not fit the 2 axes of shape (2, 3); they must be 0 or more"),
    Case("concat of nothing", "xt.concat()", xt.ShapeError, "concat: there is nothing to join"),
    Case("concat", "xt.concat(f, w)", xt.ShapeError, "concat: shapes (2, 3), (4, 4) differ on another axis than 0"),
    Case("concat axis", "xt.concat(f, f, axis=2)", xt.ShapeError, "concat: axis 2 is not one of the 2 axes -2 to 1"),
]

LIMITS = [
    Case("depth", "e = f\nfor n in range(600):\n    e = e + 1", xt.CompileError,
         "add: this statement nests 513 operations, 512 are the most; assign a part of it to a tensor first"),
    Case("nodes", """\
row = [f * 2.0 + n for n in range(2048)]
while len(row) > 1:
    row = [a * b for a, b in zip(row[::2], row[1::2])]""", xt.CompileError,
         "multiply: this statement has more than 4096 operations; assign a part of it to a tensor first"),
    Case("recompute", "n = 120\nwide, a1, a2, a3 = (xt.zeros(s) for s in ((n, n, n), (1, n, n), (n, 1, n), (n, n, 1)))\n"
         "wide[...] = xt.exp(xt.sin(xt.exp(a1))) * xt.sin(xt.exp(xt.cos(a2))) * xt.cos(xt.exp(xt.sin(a3)))", xt.CompileError,
         "target [...] = ((exp(sin(exp(float32(1, 120, 120)))) * sin(exp(cos(float32(120, 1, 120))))) * "
         "cos(exp(sin(float32(120, 120, 1))))): 19 times the operations needed, most of them in sin, which is evaluated again for every place that reads it; assign that part to a "
         "tensor first, or raise xt.options(max_recompute=...) above 16"),
]
# fmt: on

GROUPS = {
    "shape": SHAPES, "type": DTYPES, "scalar": SCALARS, "operand": OPERANDS, "truth": TRUTH, "index": INDICES, "mode": MODES,
    "memory": MEMORY, "device": DEVICES, "extension": EXTENSIONS, "limit": LIMITS,
}  # fmt: skip
TABLE = {f"{group}: {case.name}": case for group, cases in GROUPS.items() for case in cases}


def raised(code, names):
    """The error of a snippet, run as a file of its own."""
    with pytest.raises(BaseException) as found:  # noqa: PT011  # the caller compares class and text
        exec(compile(code, "<snippet>", "exec"), names)
    return found.value


def theirs(error):
    """The entries of a traceback that do not lie in our modules. Methods made from text name their module, as others do."""
    entries, tb = [], error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_globals.get("__name__", "?").split(".")[0] not in OURS:
            entries.append(tb)
        tb = tb.tb_next
    return entries


def wrong_line(code):
    """Where the mistake stands."""
    lines = code.splitlines()
    marked = [n for n, line in enumerate(lines, 1) if line.endswith("# <-")]
    if marked:
        return marked[0]
    return 1 if lines[0].endswith(":") and "pass" in code else len(lines)


@pytest.mark.parametrize("name", TABLE)
def test_error_says_exactly(name):
    case = TABLE[name]
    names = environment()
    before = bytes_of(names)
    if "{in_use}" in case.text:
        gc.collect()  # what other tests left behind is not to be freed between the message and the count
    error = raised(case.code, names)
    assert str(error) == case.text.replace("{in_use}", str(xt.memory.on(xt.cpu()).bytes_in_use))
    assert isinstance(error, case.error)
    freed = {name for name, x in names.items() if isinstance(x, xt.Tensor) and not x.buffer.address}
    after = bytes_of(names)
    assert {n: x for n, x in before.items() if n not in freed} == {n: x for n, x in after.items() if n in before}


@pytest.mark.parametrize("name", TABLE)
def test_error_points_at_the_line_of_the_user(name):
    code = TABLE[name].code
    last = theirs(raised(code, environment()))[-1]
    assert last.tb_frame.f_code.co_filename == "<snippet>"
    assert last.tb_lineno == wrong_line(code)


def test_every_case_has_a_name_of_its_own():
    assert len(TABLE) == sum(map(len, GROUPS.values()))


def test_longdouble_is_refused():
    if np.dtype(np.longdouble) == np.dtype(np.float64):
        pytest.skip("here a long double is a double")
    with pytest.raises(xt.DTypeError, match=f"^asarray: exprten has no element type {np.dtype(np.longdouble).name}; "):
        xt.asarray(np.zeros(2, np.longdouble))


# C6: the line of the wrong operator, in an expression over several lines.

MULTI_LINE = {
    "shape of the second operator": (
        """\
        e = (
            f
            * d
            + w  # <-
            - i
        )""",
        xt.ShapeError,
    ),
    "shape of the first operator": (
        """\
        e = (
            f
            * w  # <-
            + d
        )""",
        xt.ShapeError,
    ),
    "type of a function's operand": (
        """\
        e = xt.maximum(
            f,
            -b,  # <-
        ) + d""",
        xt.DTypeError,
    ),
    "scalar range": (
        """\
        f[...] = (
            f
            + (u
               - 256)  # <-
            * d
        )""",
        OverflowError,
    ),
    "list": (
        """\
        e = xt.where(
            f > 0,
            f
            + [1, 2, 3],  # <-
            d,
        )""",
        TypeError,
    ),
    "assignment itself": (
        """\
        f[...] = (  # <-
            w
            + 1
        )""",
        xt.ShapeError,
    ),
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="before Python 3.11 code has no positions")
@pytest.mark.parametrize("name", MULTI_LINE)
def test_traceback_ends_at_the_wrong_operator(name):
    code, error = MULTI_LINE[name]
    code = textwrap.dedent(code)
    names = environment()
    before = bytes_of(names)
    found = raised(code, names)
    assert isinstance(found, error)
    assert theirs(found)[-1].tb_frame.f_code.co_filename == "<snippet>"
    first, last = lines_of(found)  # of the operation with its operands: they stand on two lines or three
    assert first <= wrong_line(code) <= last
    assert bytes_of(names) == before


def lines_of(error):
    """The lines over which the last operation of the user runs, by the bytecode's positions."""
    entry = theirs(error)[-1]
    positions = list(entry.tb_frame.f_code.co_positions())
    return positions[entry.tb_lasti // 2][:2]


# Operations that must go on working where an error could be expected.


def test_unallocated_handle_can_be_built_on():
    h = xt.Tensor((2, 3))
    e = xt.exp(h * 2 + 1)
    assert e.shape == (2, 3) and e.dtype == np.float32
    xt.alloc_space(h)
    h[...] = 0
    assert np.allclose(xt.evaluate(e).numpy(), np.e)


@pytest.mark.parametrize("op", ["floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"])
def test_every_in_place_operator_exists_and_never_rebinds(op):
    t = xt.array([[5, 6], [7, 8]])
    method = getattr(type(t), f"__i{op}__")
    if op == "matmul":
        with pytest.raises(xt.AliasError):
            method(t, t)
    else:
        assert method(t, 2) is t


def test_null_looks_at_nothing_but_the_name():
    t = xt.zeros(3)
    assert xt.assign(t, "null", object()) is t
    assert t.numpy().tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="is no request mode"):
        xt.assign(t, "nul", 1)


def test_errors_are_the_built_in_ones_too():
    pairs = {
        xt.ShapeError: ValueError, xt.DTypeError: TypeError, xt.DeviceError: RuntimeError, xt.AliasError: ValueError,
        xt.ReadOnlyError: ValueError, xt.FreedSpaceError: RuntimeError, xt.CompileError: RuntimeError,
        xt.OutOfMemoryError: MemoryError,
    }  # fmt: skip
    for ours, builtin in pairs.items():
        assert issubclass(ours, builtin) and issubclass(ours, xt.ExprtenError)


def test_array_in_place_with_a_tensor_raises_instead_of_rebinding():
    a = np.zeros(3, np.float32)
    with pytest.raises(TypeError, match="into a NumPy array"):
        a += xt.ones(3)
    assert a.tolist() == [0, 0, 0]


def test_error_of_a_tensor_with_512_nested_operations_is_only_raised_above():
    e = xt.zeros(3)
    for _ in range(511):
        e = e + 1
    assert xt.evaluate(e).numpy().tolist() == [511, 511, 511]
    with pytest.raises(xt.CompileError, match="nests 513"):
        xt.sqrt(e)


SETTINGS = {
    "VECTOR_BITS": "128, 256 or 512", "LLVM_LEVEL": "0, 1, 2 or 3", "BLAS": "scipy, numpy or own", "HALF": "strict or wide",
    "CHECK": "nan or oracle",
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("text", ["abc", "-1", "100"])
def test_a_setting_of_the_environment_says_what_it_may_be(name, text, monkeypatch):
    monkeypatch.setenv(f"EXPRTEN_{name}", text)
    with pytest.raises(ValueError, match=f"^EXPRTEN_{name} is '{text}'; it must be {SETTINGS[name]}$"):
        from_environment()


def test_settings_of_the_environment(monkeypatch):
    for name, text in (("VECTOR_BITS", "256"), ("LLVM_LEVEL", "2"), ("BLAS", "own"), ("HALF", ""), ("CHECK", "nan")):
        monkeypatch.setenv(f"EXPRTEN_{name}", text)
    assert from_environment() == Options(vector_bits=256, llvm_level=2, blas="own", half="strict", check="nan")
