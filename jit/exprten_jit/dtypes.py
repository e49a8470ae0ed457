"""Element types: one row a type.

A type is known to everything else by its row: how it lies in memory, what a lane of it is in an LLVM register, its name in
CUDA, and how a scalar of it travels into a kernel. No other file asks for a type by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class DType:
    """One element type.

    `kind` is `b` (bool), `u` (unsigned), `i` (signed), `f` (IEEE binary) or `c` (complex: two of its `part`, side by side in memory and
    apart everywhere else, so that it has no lane); operations are chosen by it.
    `memory` and `lane` are LLVM types: a bool is a byte in memory and one bit in a register.
    `word` is the `struct` code of a scalar argument: every argument of a kernel is one 8-byte word, a complex one is two.
    """

    name: str
    kind: str
    bits: int
    memory: str
    lane: str
    suffix: str  # of an LLVM intrinsic: llvm.sqrt.<suffix>
    cuda: str
    word: str
    part: str = ""  # what a complex number is two of

    @property
    def itemsize(self) -> int:
        return self.bits // 8

    @property
    def numpy(self) -> np.dtype[np.generic]:
        return np.dtype(self.name)

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


#       name       kind bits memory  lane      suffix  cuda             word
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
    DType("float32", "f", 32, "float", "float", "f32", "float", "d"),
    DType("float64", "f", 64, "double", "double", "f64", "double", "d"),
    DType("complex64", "c", 64, "", "", "", "", "dd", part="float32"),
    DType("complex128", "c", 128, "", "", "", "", "dd", part="float64"),
)

DTYPES: dict[str, DType] = {row.name: row for row in ROWS}

BOOL = DTYPES["bool"]
INDEX = DTYPES["int64"]  # what loop indices, extents, strides and offsets are


def of_numpy(dtype: np.dtype[np.generic]) -> DType | None:
    """The row of a NumPy dtype in native byte order, or None where there is no row."""
    return DTYPES.get(dtype.name) if dtype.isnative else None
