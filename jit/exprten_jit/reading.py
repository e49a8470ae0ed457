"""How machine code reads the arguments of a kernel call: which objects there are to be, and the code that looks.

One function serves one way of writing a call, and one or several kinds of tensors. Whatever is not as it was made for goes to the
function made before it, and at last to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .backends.llvm_text import Text
from .directcall import Reader
from .entries import Entry, Operand, Row, Scope
from .methods import TYPE
from .objects import integer
from .scalarcode import Scalars


@dataclass(frozen=True)
class Read:
    """The tensors of a row as they were found: SSA names."""

    tensors: tuple[str, ...]  # of each operand
    addresses: tuple[str, ...]
    spans: tuple[tuple[str, str], ...]  # first byte, and the one after the last
    count: str  # elements of the first
    words: tuple[str, ...]  # addresses and sizes, as i64


C_API = {
    "PyLong_AsSsize_t": "i64 (ptr)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyFloat_AsDouble": "double (ptr)",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
    "PyBytes_FromStringAndSize": "ptr (ptr, i64)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "PyTuple_Pack": "ptr (i64, ...)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyTuple_Size": "i64 (ptr)",
    "PyList_GetItem": "ptr (ptr, i64)",
    "PyList_Size": "i64 (ptr)",
    "PyMem_RawRealloc": "ptr (ptr, i64)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "PyObject_CallFunctionObjArgs": "ptr (ptr, ...)",
}
HEAD = "define ptr @enter(ptr %self, ptr %args, i64 %given, ptr %names) {\nentry:\n"
LEVEL = 1  # of LLVM's passes: what is written with memory here is kept in registers
COUNT = (1 << 63) - 1  # the argument count without the flag that the interpreter adds


class Reading:
    """Code that reads Python objects; what is not as expected goes to the label `failing`."""

    def __init__(self, entry: Entry, reader: Reader) -> None:
        self.entry = entry
        self.reader = reader
        self.text = Text()
        self.failing = "other"
        self.objects: dict[str, object] = {"none": None, "true": True, "zero": 0}  # by symbol

    # pieces

    def object(self, thing: object) -> str:
        """The symbol of an object that has to live as long as the code."""
        found = next((name for name, one in self.objects.items() if one is thing), None)
        if found is None:
            found = f"object{len(self.objects)}"
            self.objects[found] = thing
        return f"@{found}"

    def word(self, base: str, offset: int) -> str:
        t = self.text
        return t.let(f"load ptr, ptr {t.let(f'getelementptr i8, ptr {base}, i64 {offset}', 'ptr').name}", "ptr").name

    def slot(self, base: str, offset: int) -> str:
        """What a slot holds; one that was never set is not as expected."""
        held = self.word(base, offset)
        self.require(self.text.let(f"icmp ne ptr {held}, null", "i1").name)
        return held

    def number(self, obj: str) -> str:
        return integer(self.text, obj)

    def same(self, a: str, b: str) -> None:
        self.require(self.text.let(f"icmp eq ptr {a}, {b}", "i1").name)

    def require(self, condition: str, otherwise: str | None = None) -> None:
        going_on = self.text.label("ok")
        self.text.put(f"br i1 {condition}, label %{going_on}, label %{otherwise or self.failing}")
        self.text.open(going_on)

    def argument(self, k: int) -> str:
        return self.word("%args", 8 * k)

    # the call but for its tensors

    def head(self) -> None:
        """Require that the call may be taken, was written as expected, and has the static arguments."""
        t, entry = self.text, self.entry
        self.same(self._options(entry.scope), self.object(entry.options))
        count = t.let(f"and i64 %given, {COUNT}", "i64").name
        self.require(t.let(f"icmp eq i64 {count}, {entry.positional}", "i1").name)
        self.require(t.let(f"icmp {'ne' if entry.names else 'eq'} ptr %names, null", "i1").name)
        if entry.names:
            last = t.let("load ptr, ptr @last", "ptr").name
            t.when(t.let(f"icmp ne ptr %names, {last}", "i1").name, lambda: self._other_names(last))
        for argument, thing in entry.statics:
            self.same(self.argument(argument), self.object(thing))

    def _options(self, scope: Scope) -> str:
        """The options in force: the variable is asked only where there may be others than the usual ones."""
        t, place = self.text, self.text.reserve("ptr")
        t.put(f"store ptr {self.object(scope.default)}, ptr {place}")

        def ask() -> None:
            variable = self.object(scope.variable)
            failed = t.let(f"call i32 @PyContextVar_Get(ptr {variable}, ptr null, ptr {place})", "i32").name
            self.require(t.let(f"icmp eq i32 {failed}, 0", "i1").name)
            t.put(f"call void @Py_DecRef(ptr {t.let(f'load ptr, ptr {place}', 'ptr').name})")  # the variable holds it

        opened = self.word(self.object(scope.opened), scope.offset)
        t.when(t.let(f"icmp ne ptr {opened}, @zero", "i1").name, ask)
        return t.let(f"load ptr, ptr {place}", "ptr").name

    def _other_names(self, last: str) -> None:
        """Compare names one by one, and remember their tuple, which every call from one place gives: 6 ns of 60."""
        t, names = self.text, self.entry.names
        size = t.let("call i64 @PyTuple_Size(ptr %names)", "i64").name
        self.require(t.let(f"icmp eq i64 {size}, {len(names)}", "i1").name)
        for k, name in enumerate(names):
            self.same(t.let(f"call ptr @PyTuple_GetItem(ptr %names, i64 {k})", "ptr").name, self.object(name))
        t.put("call void @Py_IncRef(ptr %names)")
        t.put("store ptr %names, ptr @last")
        t.put(f"call void @Py_DecRef(ptr {last})")

    def scalars(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """The scalars of each kind of row, as words."""
        made = Scalars(self)
        for name, argument, kind, word in self.entry.arguments:
            made.argument(name, argument, kind, word)
        for name, x in self.entry.defaults:
            made.default(name, x)
        for number, low, high in self.entry.limits:
            made.within(number, low, high)
        return [tuple(made.word(number, word) for number, word in row.words) for row in rows]

    # tensors

    def row(self, row: Row, argument: Callable[[int], str]) -> Read:
        """Read the tensors of a row, given what each argument is."""
        self._layout, self._count = "", "0" if row.sizes is None else str(row.operands[0].seen.size)
        tensors, addresses = [], []
        for operand in row.operands:
            tensors.append(argument(operand.argument))
            addresses.append(self._operand(tensors[-1], operand, row.sizes is None))
        for k, number in row.again:
            address = self._operand(argument(k), row.operands[number], row.sizes is None)
            self.require(self.text.let(f"icmp eq i64 {address}, {addresses[number]}", "i1").name)
        self._distinct(row, tensors)
        sizes = [self._count] if row.sizes is None else [str(n) for n in row.sizes]
        spans = [self._span(row, *pair) for pair in zip(row.operands, addresses, strict=True)]
        words = tuple(f"i64 {x}" for x in (*addresses, *sizes))
        return Read(tuple(tensors), tuple(addresses), tuple(spans), self._count, words)

    def _distinct(self, row: Row, tensors: Sequence[str]) -> None:
        """Require that operands that are only read, which may lie anywhere, are no one tensor: a function may ask that."""
        only = [x for x, operand in zip(tensors, row.operands, strict=True) if not operand.written]
        for n, one in enumerate(only):
            for other in only[:n]:
                self.require(self.text.let(f"icmp ne ptr {one}, {other}", "i1").name)

    def _operand(self, tensor: str, operand: Operand, alike: bool) -> str:
        """The address of an operand, once its tensor is what was expected."""
        self._kind(tensor, operand)
        layout = self.slot(tensor, self.reader.layout)
        if not alike:
            self.same(layout, self.object(operand.layout))
        elif self._layout:
            self.same(layout, self._layout)
        else:
            self._layout = layout
            self._count = self.packed_size(layout)
        t = self.text
        base = self.number(self.slot(self.slot(tensor, self.reader.buffer), self.reader.address))
        self.require(t.let(f"icmp ne i64 {base}, 0", "i1").name)
        offset = self._offset(self.slot(tensor, self.reader.offset))
        return t.index("add", t.index("add", base, offset), operand.delta + operand.seen.shift)

    def packed_size(self, layout: str) -> str:
        """The number of elements of a layout, which is to be packed. The last one is remembered, and held: 3 ns of 50."""
        t, place = self.text, self.text.reserve("i64")
        last = t.let("load ptr, ptr @layout", "ptr").name
        t.put(f"store i64 {t.let('load i64, ptr @size', 'i64').name}, ptr {place}")

        def look() -> None:
            found = self.look_at(layout)
            t.put(f"store i64 {found}, ptr {place}")
            t.put(f"store i64 {found}, ptr @size")
            t.put(f"call void @Py_IncRef(ptr {layout})")
            t.put(f"store ptr {layout}, ptr @layout")
            t.put(f"call void @Py_DecRef(ptr {last})")  # may run anything: nothing else has been read yet

        t.when(t.let(f"icmp ne ptr {layout}, {last}", "i1").name, look)
        return t.let(f"load i64, ptr {place}", "i64").name

    def look_at(self, layout: str) -> str:
        """The number of elements of a layout, which is to be packed."""
        self.same(self.slot(layout, self.reader.packed), "@true")
        return self.number(self.slot(layout, self.reader.size))

    def _offset(self, obj: str) -> str:
        """The number, which is mostly 0."""
        t, place = self.text, self.text.reserve("i64")
        t.put(f"store i64 0, ptr {place}")
        t.when(
            t.let(f"icmp ne ptr {obj}, @zero", "i1").name, lambda: t.put(f"store i64 {self.number(obj)}, ptr {place}")
        )
        return t.let(f"load i64, ptr {place}", "i64").name

    def _kind(self, tensor: str, operand: Operand) -> None:
        """Require a tensor of one of the known classes and of the element type, which may be written where it is."""
        t, entry = self.text, self.entry
        kind = self.word(tensor, TYPE)
        known = t.let(f"icmp eq ptr {kind}, {self.object(entry.tensor[0])}", "i1").name
        for other in entry.tensor[1:]:
            one = t.let(f"icmp eq ptr {kind}, {self.object(other)}", "i1").name
            known = t.let(f"or i1 {known}, {one}", "i1").name
        self.require(known)
        self.same(self.word(tensor, entry.key), self.object(operand.key))
        if operand.written:
            self.same(self.word(tensor, self.reader.writable), "@true")

    def _span(self, row: Row, operand: Operand, address: str) -> tuple[str, str]:
        t, seen = self.text, operand.seen
        if row.sizes is None:
            return address, t.index("add", address, t.index("mul", self._count, seen.itemsize))
        return t.index("add", address, seen.low - seen.shift), t.index("add", address, seen.high - seen.shift)

    # the end

    def pinned(self, words: str, size: str, held: str) -> None:
        """Return what `pinned` does with `size` bytes of words and a new tuple of buffers."""
        t = self.text
        self.require(t.let(f"icmp ne ptr {held}, null", "i1").name, "failed")
        packed = t.let(f"call ptr @PyBytes_FromStringAndSize(ptr {words}, i64 {size})", "ptr").name
        self.require(t.let(f"icmp ne ptr {packed}, null", "i1").name, "failed")
        function = self.object(self.entry.pinned)
        call = f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr {function}, ptr {packed}, ptr {held}, ptr null)"
        result = t.let(call, "ptr").name
        t.put(f"call void @Py_DecRef(ptr {packed})")
        t.put(f"call void @Py_DecRef(ptr {held})")
        t.put(f"ret ptr {result}")
        t.open(t.label("never"))

    def done(self) -> None:
        """Return None; and whatever failed goes on elsewhere."""
        t = self.text
        t.put("call void @Py_IncRef(ptr @none)")
        t.put("ret ptr @none")
        t.open("other")
        if self.entry.previous:
            result = t.let("call ptr @previous(ptr %self, ptr %args, i64 %given, ptr %names)", "ptr").name
        else:
            result = self._slow()
        t.put(f"ret ptr {result}")
        t.open("failed")
        t.put("ret ptr null")

    def _slow(self) -> str:
        """What `slow` gives for the names of keyword arguments, or None, and a tuple of all arguments."""
        t = self.text
        many = t.reserve("i64")
        t.put(f"store i64 0, ptr {many}")
        there = t.let("icmp ne ptr %names, null", "i1").name
        t.when(there, lambda: t.put(f"store i64 {t.let('call i64 @PyTuple_Size(ptr %names)', 'i64').name}, ptr {many}"))
        positional = t.let(f"and i64 %given, {COUNT}", "i64").name
        count = t.index("add", positional, t.let(f"load i64, ptr {many}", "i64").name)
        values = t.let(f"call ptr @PyTuple_New(i64 {count})", "ptr").name
        self.require(t.let(f"icmp ne ptr {values}, null", "i1").name, "failed")

        def put(i: str) -> None:
            value = t.let(f"load ptr, ptr {t.let(f'getelementptr ptr, ptr %args, i64 {i}', 'ptr').name}", "ptr").name
            t.put(f"call void @Py_IncRef(ptr {value})")
            t.let(f"call i32 @PyTuple_SetItem(ptr {values}, i64 {i}, ptr {value})", "i32")

        t.loop("0", count, 1, put)
        names = t.let(f"select i1 {there}, ptr %names, ptr @none", "ptr").name
        slow = self.object(self.entry.slow)
        call = f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr {slow}, ptr {names}, ptr {values}, ptr null)"
        result = t.let(call, "ptr").name
        t.put(f"call void @Py_DecRef(ptr {values})")
        return result

    def function(self, *more: str) -> str:
        """The module: the function `enter`, and what `more` declares or defines."""
        t = self.text
        functions = [f"declare {kind.split(' ')[0]} @{name}{kind.split(' ', 1)[1]}" for name, kind in C_API.items()]
        objects = [f"@{name} = external global i8" for name in self.objects]
        known = ["declare ptr @previous(ptr, ptr, i64, ptr)", "@last = internal global ptr @none"]
        known += ["@layout = internal global ptr @none", "@size = internal global i64 0"]
        body = "\n".join([*t.reserved, *t.lines])
        return "\n".join([*functions, *objects, *known, *t.declared.values(), *more, f"{HEAD}{body}\n}}\n"])

    def symbols(self, c_api: dict[str, int]) -> dict[str, int]:
        """The addresses that the module needs."""
        found = c_api | {name: id(thing) for name, thing in self.objects.items()}
        return found | ({"previous": self.entry.previous} if self.entry.previous else {})
