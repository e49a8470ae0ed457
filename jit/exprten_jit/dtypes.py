"""Element types: one row a type.

A type is known to everything else by its row: how it lies in memory, what a lane of it is in an LLVM register, its name in
CUDA, and how a scalar of it travels into a kernel. No other file asks for a type by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np


@dataclass(frozen=True)
class DType:
    """One element type.

    `kind` is `b` (bool), `u` (unsigned), `i` (signed), `f` (IEEE binary) or `c` (complex: two of its `part`, side by side in memory and
    apart everywhere else, so that it has no lane); operations are chosen by it.
    `memory` and `lane` are LLVM types: a bool is a byte in memory and one bit in a register.
    `word` is the `struct` code of a scalar argument: every argument of a kernel is one 8-byte word, a complex one is two.
    A *narrow* float has no arithmetic of its own: a lane of it is the number as a `wide`, every operation is that type's, and what
    it comes to is rounded to the narrow type by `rounding`.
    """

    name: str
    kind: str
    bits: int
    memory: str
    lane: str
    suffix: str  # of an LLVM intrinsic: llvm.sqrt.<suffix>
    cuda: str
    word: str
    wide: str = ""  # of a narrow float, the type it is computed in
    rounding: str = ""  # likewise: `half`, by the processor's own conversion; `upper`, the upper 16 bits
    library: str = "numpy"  # the module that has it
    like: str = ""  # the type of NumPy's whose loops it has, where it is none of NumPy's
    dlpack: int = 0  # likewise, its code in DLPack
    part: str = ""  # what a complex number is two of

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def computed(self) -> DType:
        """The type that arithmetic is done in."""
        return DTYPES[self.wide] if self.wide else self

    @cached_property
    def numpy(self) -> np.dtype[np.generic]:
        """Its NumPy dtype. Raises ImportError where the library that has it is not installed."""
        try:
            return np.dtype(getattr(import_module(self.library), self.name) if self.like else self.name)
        except ImportError:
            raise ImportError(
                f"{self.name}: NumPy has no such type, and {self.library}, which has it, is not installed; "
                "pip install exprten[bf16]"
            ) from None

    def rounded(self, value: bool | int | float) -> bool | int | float:
        """The number of this type that a constant is."""
        if not self.wide:
            return value
        with np.errstate(over="ignore"):
            return float(self.numpy.type(value))

    @property
    def python(self) -> type[Any]:
        """The Python type of a constant."""
        return {"b": bool, "f": float, "c": complex}.get(self.kind, int)

    @property
    def real(self) -> DType:
        """What a complex number is two of; of every other type itself."""
        return DTYPES[self.part] if self.part else self

    @property
    def smallest(self) -> int:
        """The smallest value of an integer type; 0 for bool."""
        return -(1 << (self.bits - 1)) if self.kind == "i" else 0

    @property
    def largest(self) -> int:
        """The largest value of an integer type; 1 for bool."""
        return {"b": 1, "u": (1 << self.bits) - 1}.get(self.kind, (1 << (self.bits - 1)) - 1)

    def __repr__(self) -> str:
        return self.name


# fmt: off
#       name       kind bits memory  lane      suffix  cuda             word  wide  rounding  library  like  dlpack
ROWS = (
    DType("bool", "b", 8, "i8", "i1", "i1", "bool", "q"),
    DType("int8", "i", 8, "i8", "i8", "i8", "signed char", "q"),
    DType("int16", "i", 16, "i16", "i16", "i16", "short", "q"),
    DType("int32", "i", 32, "i32", "i32", "i32", "int", "q"),
    DType("int64", "i", 64, "i64", "i64", "i64", "long long", "q"),
    DType("uint8", "u", 8, "i8", "i8", "i8", "unsigned char", "q"),
    DType("uint16", "u", 16, "i16", "i16", "i16", "unsigned short", "q"),
    DType("uint32", "u", 32, "i32", "i32", "i32", "unsigned int", "q"),
    DType("uint64", "u", 64, "i64", "i64", "i64", "unsigned long long", "Q"),
    DType("float16", "f", 16, "i16", "float", "f32", "__half", "d", "float32", "half"),
    DType("bfloat16", "f", 16, "i16", "float", "f32", "__nv_bfloat16", "d", "float32", "upper", "ml_dtypes", "float16", 4),
    DType("float32", "f", 32, "float", "float", "f32", "float", "d"),
    DType("float64", "f", 64, "double", "double", "f64", "double", "d"),
    DType("complex64", "c", 64, "", "", "", "", "dd", part="float32"),
    DType("complex128", "c", 128, "", "", "", "", "dd", part="float64"),
)
# fmt: on

DTYPES: dict[str, DType] = {row.name: row for row in ROWS}

BOOL = DTYPES["bool"]
INDEX = DTYPES["int64"]  # what loop indices, extents, strides and offsets are


def of_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """The row of a NumPy dtype in native byte order, or None where there is no row."""
    found = _seen.get(dtype)
    if found is None and dtype.isnative and dtype.name in DTYPES:
        found = _seen[dtype] = DTYPES[dtype.name]
    return found


_seen: dict[np.dtype[np.generic], DType] = {}  # a dtype's name takes NumPy 2 us
