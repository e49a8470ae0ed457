"""Direct calls: a builtin that reads the operands of a statement out of Python objects by itself.

It is made for one structure, so it walks the tree with fixed steps; whatever is not as it was compiled for, it leaves to Python by
returning NotImplemented.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .backends.cuda_run import Queue
from .backends.llvm_run import compile_text
from .backends.llvm_text import Text
from .hostcall import builtin, c_api, keep
from .methods import TYPE
from .objects import double, integer


def slot_offsets(probe: Any, names: tuple[str, ...]) -> dict[str, int]:
    """Where the named `__slots__` lie in instances of the class of `probe`, which is filled with marks and left as it was."""
    marks = {name: object() for name in names}
    before = {name: getattr(probe, name) for name in names if hasattr(probe, name)}
    for name, mark in marks.items():
        setattr(probe, name, mark)
    words = (ctypes.c_ssize_t * (type(probe).__basicsize__ // 8)).from_address(id(probe))
    places = {word: 8 * n for n, word in enumerate(words)}
    offsets = {name: places[id(mark)] for name, mark in marks.items()}
    for name in names:
        setattr(probe, name, before[name]) if name in before else delattr(probe, name)
    return offsets


@dataclass(frozen=True)
class Reader:
    """Where to find things: offsets of the slots of a tensor, of its buffer and of its layout."""

    layout: int
    buffer: int
    offset: int
    writable: int
    address: int  # of a buffer
    stream: int  # of a buffer
    queue: int  # of a stream
    words: int  # of a queue
    size: int  # of a layout
    packed: int  # of a layout


@dataclass(frozen=True)
class Queued:
    """What has to hold of a call that launches on a GPU: all memory is in the order of one stream, whose queue has `scratch` bytes and
    was made for `driver`, which stands in the slot at `offset` of `holder`; and of a number of elements that the call reads from a
    layout, that it is `least` to `most`. The kernel gets the queue in place of the threads.
    """

    holder: object
    offset: int
    driver: object
    scratch: int
    least: int
    most: int


@dataclass(frozen=True)
class Direct:
    """One structure: `leaves` are what is read, `scalars` are (path, word), in the kernel's order.

    A path is the offsets to follow from the value. The target is operand 0. The kernel's words are an address an operand, the
    sizes, and the scalars. Without `sizes` every layout is the target's, packed, and the one size is its number of elements: so
    the call serves every shape. With them every layout is the very object it was made with. From `many` elements on,
    `pinned(words, buffers)` makes the call, so that it can let the interpreter lock go. `previous` is asked where this call does
    not apply.
    """

    kernel: int
    target: Seen
    leaves: tuple[tuple[tuple[int, ...], int, Seen], ...]  # path, operand, view
    scalars: tuple[tuple[tuple[int, ...], str], ...]
    same: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]  # paths that end at one object
    fixed: tuple[tuple[tuple[int, ...], object], ...]  # a path, and the object it ends at
    sizes: tuple[int, ...] | None
    many: int
    pinned: Callable[[bytes, tuple[Any, ...]], None]
    previous: Callable[[Any, Any], Any] | None
    elementwise: bool  # a leaf with the target's layout may lie where the target lies
    threads: int = 0  # at most; 0: as many as there are
    queued: Queued | None = None  # of a kernel on a GPU: it returns at once, so `many` says nothing


@dataclass(frozen=True)
class Seen:
    """A view as it was: its layout object, bytes an element, the bytes it spans from its address, and from there to the kernel's."""

    layout: object
    size: int
    itemsize: int
    low: int
    high: int
    shift: int


_C_API = {
    "PyLong_AsSsize_t": "i64 (ptr)",
    "PyLong_AsLongLong": "i64 (ptr)",
    "PyLong_AsUnsignedLongLongMask": "i64 (ptr)",
    "PyFloat_AsDouble": "double (ptr)",
    "PyComplex_RealAsDouble": "double (ptr)",
    "PyComplex_ImagAsDouble": "double (ptr)",
    "PyErr_Occurred": "ptr ()",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
    "PyBytes_FromStringAndSize": "ptr (ptr, i64)",
    "PyTuple_Pack": "ptr (i64, ...)",
    "PyObject_CallFunctionObjArgs": "ptr (ptr, ...)",
}


_SCALARS = {  # the range of an integer was checked when its node was made
    "d": ("PyFloat_AsDouble", "double", "fcmp oeq double"),
    "r": ("PyComplex_RealAsDouble", "double", "fcmp oeq double"),
    "i": ("PyComplex_ImagAsDouble", "double", "fcmp oeq double"),
    "q": ("PyLong_AsLongLong", "i64", "icmp eq i64"),
    "Q": ("PyLong_AsUnsignedLongLongMask", "i64", "icmp eq i64"),
}


def direct(call: Direct, reader: Reader) -> Callable[[Any, Any], Any]:
    """The builtin `call(target, value)`: None when done, NotImplemented where it does not apply; nothing has happened then."""
    code = _DirectText(call, reader)
    text = code.module()
    keep(call)  # machine code holds the addresses of its objects
    symbols = c_api(*_C_API) | {"kernel": call.kernel} | {name: id(thing) for name, thing in code.objects.items()}
    return builtin("direct", compile_text(text, ("direct",), symbols).address["direct"])


class Checks(Protocol):
    """Code that goes on only where a condition holds."""

    text: Text
    reader: Reader

    def slot(self, base: str, offset: int) -> str: ...
    def number(self, obj: str) -> str: ...
    def same(self, a: str, b: str) -> None: ...
    def object(self, thing: object) -> str: ...
    def require(self, condition: str) -> None: ...


def queue(code: Checks, queued: Queued, tensors: Sequence[str], count: str | None) -> str:
    """The queue to launch on, where all that `queued` says holds of the tensors, and of a number of elements."""
    if count is not None:
        within(code, queued, count)
    streams = [code.slot(code.slot(x, code.reader.buffer), code.reader.stream) for x in tensors]
    for stream in streams[1:]:
        code.same(stream, streams[0])
    return queue_of(code, queued, streams[0])


def within(code: Checks, queued: Queued, count: str) -> None:
    """Require a number of elements that the kernel is right for."""
    t = code.text
    code.require(t.let(f"icmp sge i64 {count}, {queued.least}", "i1").name)
    code.require(t.let(f"icmp sle i64 {count}, {queued.most}", "i1").name)


def queue_of(code: Checks, queued: Queued, stream: str) -> str:
    """The queue of a stream, where it may be launched on."""
    t, reader = code.text, code.reader
    code.same(code.slot(code.object(queued.holder), queued.offset), code.object(queued.driver))
    address = code.number(code.slot(code.slot(stream, reader.queue), reader.words))
    place = t.let(f"inttoptr i64 {address} to ptr", "ptr").name

    def field(name: str) -> str:
        at = t.let(f"getelementptr i8, ptr {place}, i64 {getattr(Queue, name).offset}", "ptr").name
        return t.let(f"load i64, ptr {at}", "i64").name

    ours = f"ptrtoint (ptr {code.object(queued.driver)} to i64)"
    code.require(t.let(f"icmp eq i64 {field('driver')}, {ours}", "i1").name)
    if queued.scratch:
        code.require(t.let(f"icmp uge i64 {field('room')}, {queued.scratch}", "i1").name)
    return address


class _DirectText:
    def __init__(self, call: Direct, reader: Reader) -> None:
        self.call = call
        self.reader = reader
        self.text = Text()
        self.addresses: dict[int, str] = {}
        self.objects: dict[str, object] = {  # by symbol: an address would be another in the next process
            "none": None, "not_implemented": NotImplemented, "true": True, "previous": call.previous, "pinned": call.pinned,
        }  # fmt: skip
        self.layout = self.count = ""

    def module(self) -> str:
        t, call = self.text, self.call
        target = self.word("%args", 0)
        value = self.word("%args", 8)
        self.same(self.slot(target, self.reader.writable), "@true")
        self.layout = self.slot(target, self.reader.layout)
        if call.sizes is None:
            self.same(self.slot(self.layout, self.reader.packed), "@true")
            self.count = self.number(self.slot(self.layout, self.reader.size))
            self.require(t.let(f"icmp sgt i64 {self.count}, 0", "i1").name)
        else:
            self._require_layout(self.layout, call.target)
            self.count = str(call.target.size)
        for one, other in call.same:
            self.same(self._follow(value, one), self._follow(value, other))
        for path, thing in call.fixed:
            self.same(self._follow(value, path), self.object(thing))
        self.addresses[0] = self._address(target)
        tensors = [target] + [self._follow(value, path) for path, _, _ in call.leaves]
        for leaf, (_, operand, seen) in zip(tensors[1:], call.leaves, strict=True):
            self._leaf(leaf, operand, seen)
        sizes = [self.count] if call.sizes is None else [str(n) for n in call.sizes]
        shifts = {operand: seen.shift for _, operand, seen in call.leaves} | {0: call.target.shift}
        words = [f"i64 {t.index('add', self.addresses[k], shifts[k])}" for k in range(len(self.addresses))]
        words += [f"i64 {n}" for n in sizes]
        words += [self._scalar(self._follow(value, path), word) for path, word in call.scalars]
        place = t.let(f"alloca i64, i64 {len(words)}", "ptr").name
        for k, word in enumerate(words):
            t.put(f"store {word}, ptr {t.let(f'getelementptr i64, ptr {place}, i64 {k}', 'ptr').name}")
        threads = str(call.threads)
        if call.queued is None:
            t.when(
                t.let(f"icmp sge i64 {self.count}, {call.many}", "i1").name,
                lambda: self._pinned(place, len(words), [self.slot(x, self.reader.buffer) for x in tensors]),
            )
        else:
            threads = queue(self, call.queued, tensors, self.count if call.sizes is None else None)
        t.put(f"call void @kernel(ptr {place}, i64 {threads})")
        self._return("@none")
        self._otherwise(target, value)
        t.open("failed")
        t.put("ret ptr null")
        return (
            self._declared()
            + "define ptr @direct(ptr %self, ptr %args, i64 %count) {\nentry:\n"
            + "\n".join([*t.reserved, *t.lines])
            + "\n}\n"
        )

    def _pinned(self, words: str, count: int, buffers: list[str]) -> None:
        """Return what `pinned` does with the words and the buffers."""
        t = self.text
        listed = ", ".join(f"ptr {x}" for x in buffers)
        packed = t.let(f"call ptr @PyBytes_FromStringAndSize(ptr {words}, i64 {8 * count})", "ptr").name
        self.require(t.let(f"icmp ne ptr {packed}, null", "i1").name, "failed")
        held = t.let(f"call ptr (i64, ...) @PyTuple_Pack(i64 {len(buffers)}, {listed})", "ptr").name
        self.require(t.let(f"icmp ne ptr {held}, null", "i1").name, "failed")
        call = f"call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @pinned, ptr {packed}, ptr {held}, ptr null)"
        result = t.let(call, "ptr").name
        t.put(f"call void @Py_DecRef(ptr {packed})")
        t.put(f"call void @Py_DecRef(ptr {held})")
        t.put(f"ret ptr {result}")
        t.open(t.label("never"))

    def _otherwise(self, target: str, value: str) -> None:
        t = self.text
        t.open("other")
        if self.call.previous is None:
            self._return("@not_implemented")
            return
        call = "call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr @previous, ptr {}, ptr {}, ptr null)"
        t.put(f"ret ptr {t.let(call.format(target, value), 'ptr').name}")

    def _declared(self) -> str:
        functions = [f"declare {kind.split(' ')[0]} @{name}{kind.split(' ', 1)[1]}" for name, kind in _C_API.items()]
        objects = [f"@{name} = external global i8" for name in self.objects]
        return "\n".join([*functions, *objects, "declare void @kernel(ptr, i64)", ""])

    def _require_layout(self, layout: str, seen: Seen) -> None:
        self.same(layout, self.object(seen.layout))

    def object(self, thing: object) -> str:
        """The symbol of an object."""
        found = next((name for name, one in self.objects.items() if one is thing), None)
        if found is None:
            found = f"object{len(self.objects)}"
            self.objects[found] = thing
        return f"@{found}"

    def _leaf(self, leaf: str, operand: int, seen: Seen) -> None:
        """The layout asked for, and an address that is another operand's, the target's, or beside the target."""
        t, target = self.text, self.call.target
        layout = self.slot(leaf, self.reader.layout)
        if self.call.sizes is None:
            self.same(layout, self.layout)
        else:
            self._require_layout(layout, seen)
        address = self._address(leaf)
        if operand in self.addresses:
            self.require(t.let(f"icmp eq i64 {address}, {self.addresses[operand]}", "i1").name)
            return
        self.addresses[operand] = address
        low, high = self._range(address, seen)
        target_low, target_high = self._range(self.addresses[0], target)
        above = t.let(f"icmp uge i64 {low}, {target_high}", "i1").name
        below = t.let(f"icmp ule i64 {high}, {target_low}", "i1").name
        apart = t.let(f"or i1 {above}, {below}", "i1").name
        if self.call.elementwise and seen.itemsize == target.itemsize and seen.layout is target.layout:
            same = t.let(f"icmp eq i64 {address}, {self.addresses[0]}", "i1").name
            apart = t.let(f"or i1 {apart}, {same}", "i1").name
        self.require(apart)

    def _range(self, address: str, seen: Seen) -> tuple[str, str]:
        """The first byte of a view and the one after its last."""
        t = self.text
        if self.call.sizes is None:
            return address, t.index("add", address, t.index("mul", self.count, seen.itemsize))
        return t.index("add", address, seen.low), t.index("add", address, seen.high)

    def _follow(self, start: str, path: tuple[int, ...]) -> str:
        for offset in path:
            start = self.slot(start, offset)
        return start

    def _address(self, tensor: str) -> str:
        base = self.number(self.slot(self.slot(tensor, self.reader.buffer), self.reader.address))
        self.require(self.text.let(f"icmp ne i64 {base}, 0", "i1").name)
        return self.text.index("add", base, self.number(self.slot(tensor, self.reader.offset)))

    def _scalar(self, obj: str, word: str) -> str:
        t = self.text
        if word == "d":
            return f"double {self._double(obj)}"
        function, kind, failed = _SCALARS[word]
        value = t.let(f"call {kind} @{function}(ptr {obj})", kind).name
        self._unless_failed(value, kind, failed)
        return f"{kind} {value}"

    def _double(self, obj: str) -> str:
        """A float is read; another number is asked for one."""
        t, place = self.text, self.text.reserve("double")

        def ask() -> None:
            function, kind, failed = _SCALARS["d"]
            value = t.let(f"call {kind} @{function}(ptr {obj})", kind).name
            self._unless_failed(value, kind, failed)
            t.put(f"store double {value}, ptr {place}")

        is_float = t.let(f"icmp eq ptr {self.word(obj, TYPE)}, {self.object(float)}", "i1").name
        t.either(is_float, lambda: t.put(f"store double {double(t, obj, float)}, ptr {place}"), ask)
        return t.let(f"load double, ptr {place}", "double").name

    def _unless_failed(self, value: str, kind: str, failed: str) -> None:
        t = self.text
        suspect = t.let(f"{failed} {value}, {'-1.0' if kind == 'double' else '-1'}", "i1").name

        def check() -> None:
            error = t.let("call ptr @PyErr_Occurred()", "ptr").name
            self.require(t.let(f"icmp eq ptr {error}, null", "i1").name, "failed")

        t.when(suspect, check)

    def slot(self, base: str, offset: int) -> str:
        """What a slot holds; where it was never set, this call does not apply."""
        held = self.word(base, offset)
        self.require(self.text.let(f"icmp ne ptr {held}, null", "i1").name)
        return held

    def word(self, base: str, offset: int) -> str:
        t = self.text
        return t.let(f"load ptr, ptr {t.let(f'getelementptr i8, ptr {base}, i64 {offset}', 'ptr').name}", "ptr").name

    def number(self, obj: str) -> str:
        return integer(self.text, obj)

    def same(self, a: str, b: str) -> None:
        self.require(self.text.let(f"icmp eq ptr {a}, {b}", "i1").name)

    def require(self, condition: str, otherwise: str = "other") -> None:
        going_on = self.text.label("ok")
        self.text.put(f"br i1 {condition}, label %{going_on}, label %{otherwise}")
        self.text.open(going_on)

    def _return(self, obj: str) -> None:
        self.text.put(f"call void @Py_IncRef(ptr {obj})")
        self.text.put(f"ret ptr {obj}")
