"""Binary operators of a Python class as machine code: they find the result's key and make its node.

They do what a Python method would do when everything is found, and call that Python method otherwise. What they know of the class
is data: where its slots lie, and which slots of a key hold the links of an operation.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .backends.llvm_run import compile_text
from .hostcall import PyMethodDef, c_api, keep

METH_O = 0x8
TYPE = object.__basicsize__ - 8  # where an object holds its type; checked by `works_here`


@dataclass(frozen=True)
class NodeSlots:
    """Offsets: of `key` and `shape` in every expression, of the operands `a` and `b` in a node."""

    key: int
    shape: int
    a: int
    b: int


@dataclass(frozen=True)
class Operator:
    """A method: its name, the offset in a key of the result beside a float and of the table of other keys (None: reflected), and
    the Python method to call where that does not do.
    """

    name: str
    beside_float: int
    table: int | None
    otherwise: Callable[[Any, Any], Any]


_FORWARD = """
define ptr @{name}(ptr %self, ptr %other) {{
  %r = tail call ptr @forward(ptr %self, ptr %other, i64 {beside_float}, i64 {table}, ptr @{name}_otherwise)
  ret ptr %r
}}
@{name}_otherwise = external global i8
"""

_REFLECTED = """
define ptr @{name}(ptr %self, ptr %other) {{
  %r = tail call ptr @reflected(ptr %self, ptr %other, i64 {beside_float}, ptr @{name}_otherwise)
  ret ptr %r
}}
@{name}_otherwise = external global i8
"""

_COMMON = """
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyTuple_Pack(i64, ...)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@float_type = external global i8
@node_type = external global i8
@leaf_type = external global i8
@pairs = external global i8

define internal ptr @node(ptr %key, ptr %shape, ptr %a, ptr %b) {{
entry:
  %n = call ptr @PyType_GenericAlloc(ptr @node_type, i64 0)
  %none = icmp eq ptr %n, null
  br i1 %none, label %fail, label %ok
ok:
  %q12 = getelementptr i8, ptr %n, i64 {key}
  store ptr %key, ptr %q12
  call void @Py_IncRef(ptr %key)
  %q13 = getelementptr i8, ptr %n, i64 {shape}
  store ptr %shape, ptr %q13
  call void @Py_IncRef(ptr %shape)
  %q14 = getelementptr i8, ptr %n, i64 {a}
  store ptr %a, ptr %q14
  call void @Py_IncRef(ptr %a)
  %q15 = getelementptr i8, ptr %n, i64 {b}
  store ptr %b, ptr %q15
  call void @Py_IncRef(ptr %b)
  ret ptr %n
fail:
  ret ptr null
}}

define internal ptr @slow(ptr %f, ptr %self, ptr %other) {{
  %r = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %f, ptr %self, ptr %other, ptr null)
  ret ptr %r
}}

define internal ptr @forward(ptr %self, ptr %other, i64 %beside_float, i64 %table, ptr %otherwise) {{
entry:
  %q1 = getelementptr i8, ptr %self, i64 {key}
  %key = load ptr, ptr %q1
  %q2 = getelementptr i8, ptr %self, i64 {shape}
  %shape = load ptr, ptr %q2
  %q3 = getelementptr i8, ptr %other, i64 {type}
  %type = load ptr, ptr %q3
  %isfloat = icmp eq ptr %type, @float_type
  br i1 %isfloat, label %float, label %expression
float:
  %q4 = getelementptr i8, ptr %key, i64 %beside_float
  %kf = load ptr, ptr %q4
  %nof = icmp eq ptr %kf, null
  br i1 %nof, label %other_way, label %made_float
made_float:
  %rf = call ptr @node(ptr %kf, ptr %shape, ptr %self, ptr %other)
  ret ptr %rf
expression:
  %isnode = icmp eq ptr %type, @node_type
  %isleaf = icmp eq ptr %type, @leaf_type
  %isexpr = or i1 %isnode, %isleaf
  br i1 %isexpr, label %known, label %other_way
known:
  %q5 = getelementptr i8, ptr %key, i64 %table
  %links = load ptr, ptr %q5
  %nolinks = icmp eq ptr %links, null
  br i1 %nolinks, label %other_way, label %look
look:
  %q6 = getelementptr i8, ptr %other, i64 {key}
  %okey = load ptr, ptr %q6
  %ke = call ptr @PyDict_GetItemWithError(ptr %links, ptr %okey)
  %noe = icmp eq ptr %ke, null
  br i1 %noe, label %other_way, label %shapes
shapes:
  %q7 = getelementptr i8, ptr %other, i64 {shape}
  %oshape = load ptr, ptr %q7
  %same = icmp eq ptr %shape, %oshape
  br i1 %same, label %made, label %pair
pair:
  %both = call ptr (i64, ...) @PyTuple_Pack(i64 2, ptr %shape, ptr %oshape)
  %together = call ptr @PyDict_GetItemWithError(ptr @pairs, ptr %both)
  call void @Py_DecRef(ptr %both)
  %nopair = icmp eq ptr %together, null
  br i1 %nopair, label %other_way, label %made
made:
  %to = phi ptr [ %shape, %shapes ], [ %together, %pair ]
  %re = call ptr @node(ptr %ke, ptr %to, ptr %self, ptr %other)
  ret ptr %re
other_way:
  %rs = call ptr @slow(ptr %otherwise, ptr %self, ptr %other)
  ret ptr %rs
}}

define internal ptr @reflected(ptr %self, ptr %other, i64 %beside_float, ptr %otherwise) {{
entry:
  %q8 = getelementptr i8, ptr %other, i64 {type}
  %type = load ptr, ptr %q8
  %isfloat = icmp eq ptr %type, @float_type
  br i1 %isfloat, label %float, label %other_way
float:
  %q9 = getelementptr i8, ptr %self, i64 {key}
  %key = load ptr, ptr %q9
  %q10 = getelementptr i8, ptr %key, i64 %beside_float
  %kf = load ptr, ptr %q10
  %none = icmp eq ptr %kf, null
  br i1 %none, label %other_way, label %made
made:
  %q11 = getelementptr i8, ptr %self, i64 {shape}
  %shape = load ptr, ptr %q11
  %r = call ptr @node(ptr %kf, ptr %shape, ptr %other, ptr %self)
  ret ptr %r
other_way:
  %rs = call ptr @slow(ptr %otherwise, ptr %self, ptr %other)
  ret ptr %rs
}}
"""


def works_here() -> bool:
    """Whether this interpreter lays objects out as the machine code expects."""
    probes: tuple[object, ...] = (1.5, "x", object(), (), {})
    return all(ctypes.c_size_t.from_address(id(p) + TYPE).value == id(type(p)) for p in probes)


def install(
    cls: type, node: type, leaf: type, slots: NodeSlots, operators: Sequence[Operator], pairs: dict[Any, Any]
) -> None:
    """Replace operators of `cls` by machine code. `node` is what they make, `leaf` what else they take beside a float; `pairs`
    gives the shape that two shapes broadcast to.
    """
    text = [_COMMON.format(key=slots.key, shape=slots.shape, a=slots.a, b=slots.b, type=TYPE)]
    text += [
        (_REFLECTED if op.table is None else _FORWARD).format(
            name=op.name, beside_float=op.beside_float, table=op.table
        )
        for op in operators
    ]
    symbols = c_api(
        "PyType_GenericAlloc", "PyDict_GetItemWithError", "PyTuple_Pack", "PyObject_CallFunctionObjArgs", "Py_IncRef", "Py_DecRef"
    )  # fmt: skip
    symbols |= {"float_type": id(float), "node_type": id(node), "leaf_type": id(leaf), "pairs": id(pairs)}
    symbols |= {f"{op.name}_otherwise": id(op.otherwise) for op in operators}
    compiled = compile_text("\n".join(text), tuple(op.name for op in operators), symbols)
    keep(pairs, node, leaf, *operators)
    for op in operators:
        setattr(cls, op.name, _descriptor(cls, op.name, compiled.address[op.name]))


def _descriptor(cls: type, name: str, address: int) -> Any:
    new = ctypes.pythonapi.PyDescr_NewMethod
    new.argtypes = [ctypes.py_object, ctypes.c_void_p]
    new.restype = ctypes.py_object
    definition = PyMethodDef(name.encode(), address, METH_O, None)
    keep(definition)
    return new(cls, ctypes.addressof(definition))
