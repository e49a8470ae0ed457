"""Operators and assignments of a Python class as machine code, in the slots where the interpreter looks for them.

They do what a Python method would do when everything is found, and call that Python method otherwise. What they know of the class
is data: where its slots lie, and which slots of a key hold the links of an operation.

A method written in Python is reached through its name: the interpreter fills the slot with a function that looks it up. A *slot
wrapper* is what built-in types have instead: its function is the slot. We make ours with `PyDescr_NewWrapper` from the kind of an
existing one (NumPy's array has them all), which saves that look-up and the call behind it: 30 ns an operator, 110 an assignment.
"""

from __future__ import annotations

import ctypes
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .backends.llvm_run import compile_text
from .hostcall import c_api, keep

HEADER = object.__basicsize__
TYPE = HEADER - 8  # where an object holds its type; checked by `works_here`
WRAPPER_NAME, WRAPPER_KIND = (
    HEADER + 8,
    HEADER + 24,
)  # in a slot wrapper: its name, and what the interpreter knows of such slots


@dataclass(frozen=True)
class Slots:
    """Offsets: of `key` and `shape` in every expression, of the operands `a` and `b` in a node; in `scope`, an object, of the
    number that is not 0 while no assignment may take the direct way.
    """

    key: int
    shape: int
    a: int
    b: int
    scope: object
    open: int


@dataclass(frozen=True)
class Binary:
    """`left op right`: the offsets in a key of the results with a float or an int on either side, and of the table of other keys;
    and the Python methods `(self, other)` to call where that does not do, forward and reflected.
    """

    name: str
    with_float: int
    with_int: int
    float_with: int
    int_with: int
    table: int
    forward: Callable[[Any, Any], Any]
    reflected: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Assign:
    """`target op= value`: the offset in a key of the table of direct calls, and the Python method to call without one."""

    name: str
    calls: int
    otherwise: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class SetItem:
    """`target[...] = value`, likewise; every other index goes to `otherwise(target, index, value)`."""

    calls: int
    otherwise: Callable[[Any, Any, Any], Any]
    name: str = "__setitem__"


_BINARY = """
define ptr @{name}(ptr %left, ptr %right) {{
  %r = tail call ptr @binary(ptr %left, ptr %right, i64 {with_float}, i64 {with_int}, i64 {float_with}, i64 {int_with}, i64 {table},
    ptr @{name}_forward, ptr @{name}_reflected)
  ret ptr %r
}}
@{name}_forward = external global i8
@{name}_reflected = external global i8
"""

_ASSIGN = """
define ptr @{name}(ptr %self, ptr %value) {{
entry:
  %done = call i32 @assign(ptr %self, ptr %value, i64 {calls})
  switch i32 %done, label %slow [ i32 1, label %stored  i32 -1, label %failed ]
stored:
  call void @Py_IncRef(ptr %self)
  ret ptr %self
failed:
  ret ptr null
slow:
  %r = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @{name}_otherwise, ptr %self, ptr %value, ptr null)
  ret ptr %r
}}
@{name}_otherwise = external global i8
"""

_SET_ITEM = """
define i32 @{name}(ptr %self, ptr %index, ptr %value) {{
entry:
  %delete = icmp eq ptr %value, null
  br i1 %delete, label %refuse, label %given
refuse:
  %type_error = load ptr, ptr @PyExc_TypeError
  call void @PyErr_SetString(ptr %type_error, ptr @no_deletion)
  ret i32 -1
given:
  %whole = icmp eq ptr %index, @ellipsis
  br i1 %whole, label %all, label %slow
all:
  %itself = icmp eq ptr %value, %self
  br i1 %itself, label %stored, label %store
store:
  %done = call i32 @assign(ptr %self, ptr %value, i64 {calls})
  switch i32 %done, label %slow [ i32 1, label %stored  i32 -1, label %failed ]
slow:
  %r = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @{name}_otherwise, ptr %self, ptr %index, ptr %value, ptr null)
  %none = icmp eq ptr %r, null
  br i1 %none, label %failed, label %release
release:
  call void @Py_DecRef(ptr %r)
  br label %stored
stored:
  ret i32 0
failed:
  ret i32 -1
}}
@{name}_otherwise = external global i8
"""

_COMMON = """
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyTuple_Pack(i64, ...)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyObject_VectorcallDict(ptr, ptr, i64, ptr)
declare i32 @PyObject_IsInstance(ptr, ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare void @PyErr_SetString(ptr, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyExc_TypeError = external global ptr
@not_implemented = external global i8
@ellipsis = external global i8
@float_type = external global i8
@int_type = external global i8
@expression_type = external global i8
@node_type = external global i8
@leaf_type = external global i8
@pairs = external global i8
@scope = external global i8
@zero = external global i8
@no_deletion = private constant [39 x i8] c"elements of a tensor cannot be deleted\\00"

define internal ptr @field(ptr %object, i64 %offset) alwaysinline {{
  %at = getelementptr i8, ptr %object, i64 %offset
  %value = load ptr, ptr %at
  ret ptr %value
}}

define internal void @set(ptr %object, i64 %offset, ptr %value) alwaysinline {{
  %at = getelementptr i8, ptr %object, i64 %offset
  store ptr %value, ptr %at
  call void @Py_IncRef(ptr %value)
  ret void
}}

; a Python number that becomes a float without a question: a float, or an int of 64 bits
define internal i1 @is_number(ptr %object, ptr %type) {{
entry:
  %overflow = alloca i32
  %float = icmp eq ptr %type, @float_type
  br i1 %float, label %yes, label %other
other:
  %int = icmp eq ptr %type, @int_type
  br i1 %int, label %measure, label %no
measure:
  call i64 @PyLong_AsLongLongAndOverflow(ptr %object, ptr %overflow)
  %over = load i32, ptr %overflow
  %fits = icmp eq i32 %over, 0
  ret i1 %fits
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal i1 @is_expression(ptr %type) alwaysinline {{
  %node = icmp eq ptr %type, @node_type
  %leaf = icmp eq ptr %type, @leaf_type
  %either = or i1 %node, %leaf
  ret i1 %either
}}

define internal ptr @node(ptr %key, ptr %shape, ptr %a, ptr %b) {{
entry:
  %n = call ptr @PyType_GenericAlloc(ptr @node_type, i64 0)
  %none = icmp eq ptr %n, null
  br i1 %none, label %fail, label %ok
ok:
  call void @set(ptr %n, i64 {key}, ptr %key)
  call void @set(ptr %n, i64 {shape}, ptr %shape)
  call void @set(ptr %n, i64 {a}, ptr %a)
  call void @set(ptr %n, i64 {b}, ptr %b)
  ret ptr %n
fail:
  ret ptr null
}}

; a slot is asked for either operand, so one of the two is an expression, maybe of a subclass
define internal ptr @binary(ptr %left, ptr %right, i64 %with_float, i64 %with_int, i64 %float_with, i64 %int_with, i64 %table,
                            ptr %forward, ptr %reflected) {{
entry:
  %ltype = call ptr @field(ptr %left, i64 {type})
  %rtype = call ptr @field(ptr %right, i64 {type})
  %lexpr = call i1 @is_expression(ptr %ltype)
  br i1 %lexpr, label %first, label %second
first:
  %lkey = call ptr @field(ptr %left, i64 {key})
  %lshape = call ptr @field(ptr %left, i64 {shape})
  %nokey = icmp eq ptr %lkey, null
  %noshape = icmp eq ptr %lshape, null
  %notset = or i1 %nokey, %noshape
  br i1 %notset, label %python_forward, label %set
set:
  %rexpr = call i1 @is_expression(ptr %rtype)
  br i1 %rexpr, label %known, label %maybe
maybe:
  %rnumber = call i1 @is_number(ptr %right, ptr %rtype)
  br i1 %rnumber, label %number, label %python_forward
number:
  %rfloat = icmp eq ptr %rtype, @float_type
  %link = select i1 %rfloat, i64 %with_float, i64 %with_int
  %kf = call ptr @field(ptr %lkey, i64 %link)
  %nof = icmp eq ptr %kf, null
  br i1 %nof, label %python_forward, label %made
known:
  %links = call ptr @field(ptr %lkey, i64 %table)
  %nolinks = icmp eq ptr %links, null
  br i1 %nolinks, label %python_forward, label %look
look:
  %rkey = call ptr @field(ptr %right, i64 {key})
  %norkey = icmp eq ptr %rkey, null
  br i1 %norkey, label %python_forward, label %find
find:
  %ke = call ptr @PyDict_GetItemWithError(ptr %links, ptr %rkey)
  %noe = icmp eq ptr %ke, null
  br i1 %noe, label %python_forward, label %shapes
shapes:
  %rshape = call ptr @field(ptr %right, i64 {shape})
  %norshape = icmp eq ptr %rshape, null
  br i1 %norshape, label %python_forward, label %compare
compare:
  %same = icmp eq ptr %lshape, %rshape
  br i1 %same, label %made, label %pair
pair:
  %both = call ptr (i64, ...) @PyTuple_Pack(i64 2, ptr %lshape, ptr %rshape)
  %together = call ptr @PyDict_GetItemWithError(ptr @pairs, ptr %both)
  call void @Py_DecRef(ptr %both)
  %nopair = icmp eq ptr %together, null
  br i1 %nopair, label %python_forward, label %made
made:
  %result = phi ptr [ %kf, %number ], [ %ke, %compare ], [ %ke, %pair ]
  %shape = phi ptr [ %lshape, %number ], [ %lshape, %compare ], [ %together, %pair ]
  %n = call ptr @node(ptr %result, ptr %shape, ptr %left, ptr %right)
  ret ptr %n
second:
  %right_expr = call i1 @is_expression(ptr %rtype)
  %lnumber = call i1 @is_number(ptr %left, ptr %ltype)
  %quick = and i1 %right_expr, %lnumber
  br i1 %quick, label %behind, label %subclass
behind:
  %rkey2 = call ptr @field(ptr %right, i64 {key})
  %shape2 = call ptr @field(ptr %right, i64 {shape})
  %nokey2 = icmp eq ptr %rkey2, null
  %noshape2 = icmp eq ptr %shape2, null
  %notset2 = or i1 %nokey2, %noshape2
  br i1 %notset2, label %python_reflected, label %set2
set2:
  %lfloat = icmp eq ptr %ltype, @float_type
  %link2 = select i1 %lfloat, i64 %float_with, i64 %int_with
  %kb = call ptr @field(ptr %rkey2, i64 %link2)
  %nob = icmp eq ptr %kb, null
  br i1 %nob, label %python_reflected, label %made_behind
made_behind:
  %n2 = call ptr @node(ptr %kb, ptr %shape2, ptr %left, ptr %right)
  ret ptr %n2
subclass:
  %is = call i32 @PyObject_IsInstance(ptr %left, ptr @expression_type)
  %yes = icmp sgt i32 %is, 0
  br i1 %yes, label %python_forward, label %other
other:
  %is2 = call i32 @PyObject_IsInstance(ptr %right, ptr @expression_type)
  %yes2 = icmp sgt i32 %is2, 0
  br i1 %yes2, label %python_reflected, label %neither
neither:
  call void @Py_IncRef(ptr @not_implemented)
  ret ptr @not_implemented
python_forward:
  %pf = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %forward, ptr %left, ptr %right, ptr null)
  ret ptr %pf
python_reflected:
  %pr = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %reflected, ptr %right, ptr %left, ptr null)
  ret ptr %pr
}}

; 1: stored, 0: not yet, -1: failed
define internal i32 @assign(ptr %self, ptr %value, i64 %slot) {{
entry:
  %args = alloca [2 x ptr]
  %open = call ptr @field(ptr @scope, i64 {open})
  %closed = icmp eq ptr %open, @zero
  br i1 %closed, label %start, label %no
start:
  %key = call ptr @field(ptr %self, i64 {key})
  %nokey = icmp eq ptr %key, null
  br i1 %nokey, label %no, label %table
table:
  %calls = call ptr @field(ptr %key, i64 %slot)
  %none = icmp eq ptr %calls, null
  br i1 %none, label %no, label %kind
kind:
  %type = call ptr @field(ptr %value, i64 {type})
  %expr = call i1 @is_expression(ptr %type)
  br i1 %expr, label %expression, label %other
expression:
  %vkey = call ptr @field(ptr %value, i64 {key})
  %novkey = icmp eq ptr %vkey, null
  br i1 %novkey, label %no, label %look
other:
  %number = call i1 @is_number(ptr %value, ptr %type)
  br i1 %number, label %look, label %no
look:
  %by = phi ptr [ %vkey, %expression ], [ %type, %other ]
  %call = call ptr @PyDict_GetItemWithError(ptr %calls, ptr %by)
  %missing = icmp eq ptr %call, null
  br i1 %missing, label %no, label %go
go:
  store ptr %self, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  store ptr %value, ptr %second
  ; PyObject_Vectorcall is no symbol in Python 3.10
  %r = call ptr @PyObject_VectorcallDict(ptr %call, ptr %args, i64 2, ptr null)
  %failed = icmp eq ptr %r, null
  br i1 %failed, label %error, label %answered
answered:
  call void @Py_DecRef(ptr %r)
  %refused = icmp eq ptr %r, @not_implemented
  br i1 %refused, label %no, label %yes
yes:
  ret i32 1
no:
  ret i32 0
error:
  ret i32 -1
}}
"""


def works_here() -> bool:
    """Whether this interpreter lays objects out as the machine code expects, and has one lock for all of them."""
    probes: tuple[object, ...] = (1.5, "x", object(), (), {})
    if sysconfig.get_config_var("Py_GIL_DISABLED") or not hasattr(ctypes.pythonapi, "PyDescr_NewWrapper"):
        return False
    if not all(_word(p, TYPE) == id(type(p)) for p in probes):
        return False
    wrapper = dict.__setitem__
    kind = _word(wrapper, WRAPPER_KIND)
    return _word(wrapper, WRAPPER_NAME) == id(wrapper.__name__) and _text_at(kind) == b"__setitem__"


def _word(obj: object, offset: int) -> int:
    return ctypes.c_size_t.from_address(id(obj) + offset).value


def _text_at(address: int) -> bytes | None:
    """The text that a pointer at `address` points to: the first field of what a slot wrapper knows is its name."""
    return ctypes.c_char_p.from_address(address).value


def install(
    expression: type,
    node: type,
    leaf: type,
    slots: Slots,
    operators: Sequence[Binary],
    assignments: Sequence[Assign | SetItem],
    pairs: dict[Any, Any],
) -> None:
    """Replace operators of `expression`, and assignments of `leaf`, by machine code. `node` is what operators make, and what they
    take besides `leaf` and a float; `pairs` gives the shape that two shapes broadcast to.
    """
    text = [
        _COMMON.format(key=slots.key, shape=slots.shape, a=slots.a, b=slots.b, type=TYPE, open=slots.open),
        *(_BINARY.format_map(vars(op)) for op in operators),
        *((_SET_ITEM if isinstance(row, SetItem) else _ASSIGN).format_map(vars(row)) for row in assignments),
    ]
    symbols = c_api(
        "PyType_GenericAlloc", "PyDict_GetItemWithError", "PyTuple_Pack", "PyObject_CallFunctionObjArgs", "PyObject_VectorcallDict",
        "PyObject_IsInstance", "PyLong_AsLongLongAndOverflow", "PyErr_SetString", "PyExc_TypeError", "Py_IncRef", "Py_DecRef",
    )  # fmt: skip
    objects = {
        "not_implemented": NotImplemented, "ellipsis": Ellipsis, "float_type": float, "int_type": int, "expression_type": expression,
        "node_type": node, "leaf_type": leaf, "pairs": pairs, "scope": slots.scope, "zero": 0,
    }  # fmt: skip
    for op in operators:
        objects |= {f"{op.name}_forward": op.forward, f"{op.name}_reflected": op.reflected}
    objects |= {f"{row.name}_otherwise": row.otherwise for row in assignments}
    symbols |= {name: id(thing) for name, thing in objects.items()}
    names = tuple(row.name for row in (*operators, *assignments))
    compiled = compile_text("\n".join(text), names, symbols, level=1)
    keep(*objects.values())
    for op in operators:
        reflected = f"__r{op.name[2:]}"
        for name in (op.name, reflected):  # one slot serves both
            setattr(expression, name, _wrapper(expression, name, compiled.address[op.name]))
    for row in assignments:
        setattr(leaf, row.name, _wrapper(leaf, row.name, compiled.address[row.name]))


def _wrapper(cls: type, name: str, address: int) -> Any:
    """The slot wrapper `name` of a class."""
    like = dict.__setitem__ if name == "__setitem__" else getattr(np.ndarray, name)  # an array's could be a sequence's
    new = ctypes.pythonapi.PyDescr_NewWrapper
    new.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    new.restype = ctypes.py_object
    return new(cls, _word(like, WRAPPER_KIND), address)
