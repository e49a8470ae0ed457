"""Which kernel calls are machine code from end to end, and what it has to know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from exprten_jit.directcall import Seen, slot_offsets
from exprten_jit.entries import Entry, Operand, Row, Scope
from exprten_jit.kernelcall import kernel_call
from exprten_jit.listcall import HEADER, ListCode, list_call
from exprten_jit.locks import lock
from exprten_jit.scalarcode import supported
from exprten_jit.vectorcall import callable_type, redirect, redirectable, redirected

from ..expression.leaf import Leaf
from ..expression.number import formula
from ..options import DEFAULT, USE_CTYPES, Options, scope, variable
from ..statement.direct import reader
from ..statement.grids import Grids
from ..statement.launch import DIRECT_AFTER
from ..statement.lists import Lists, Table
from ..statement.running import RELEASE, Launch, Statement, run_pinned
from ..storage.buffer import Promised, pinned
from ..storage.device import Stream
from ..tensor import Tensor
from .trace import Trace

E = TypeVar("E", bound="Entrance")
MAX_OPERANDS = 64
MAX_ENTRIES = 16  # ways of calling one thing that are machine code, under one set of options
MAX_FORMS = 256  # ways of calling that are counted; beyond it counting starts afresh


@dataclass(frozen=True)
class Form:
    """How a call was written: `positional` many arguments, then those called `names`; `places` are those of the parameters given."""

    positional: int
    names: tuple[str, ...]
    places: Mapping[str, int]
    scalars: Mapping[str, tuple[type, str]]  # of those that are given: class, and how it travels
    defaults: Mapping[str, int | float]
    statics: Mapping[str, object]


class Entrance:
    """What is called in Python (`_run`) until a call of one form has come a few times: then in machine code."""

    def __init__(self) -> None:
        self._forms: dict[object, int] = {}  # how often each form came
        self._made: dict[int, int] = {}  # entries under each set of options, by its identity: options are interned

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self._run(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def _python(self, names: tuple[str, ...] | None, values: tuple[Any, ...]) -> None:
        """A call that machine code was not made for: `values`, the last of them called `names`."""
        positional = len(values) - len(names or ())
        self._run(*values[:positional], **dict(zip(names or (), values[positional:], strict=True)))

    def _counted(self, form: object, options: Options) -> int:
        """How often calls of this form have come to Python by now."""
        if len(self._forms) >= MAX_FORMS:
            self._forms.clear()
        count = self._forms[id(options), form] = self._forms.get((id(options), form), 0) + 1
        return count

    def _due(self, count: int, options: Options) -> bool:
        """Whether it is time for machine code for calls that have come so often."""
        return (
            not options.watched
            and redirectable(self)
            and count == DIRECT_AFTER
            and self._made.get(id(options), 0) < MAX_ENTRIES
        )

    def _install(
        self,
        options: Options,
        make: Callable[[Entry], int],
        form: Form,
        traces: Sequence[Trace],
        tensors: Iterable[Tensor],
    ) -> None:
        """Let calls under `options`, of tensors of the classes of `tensors`, enter what `make` gives for an entry."""
        limits = [limit for trace in traces for limit in trace.limits]
        if not all(supported(limit.number) for limit in limits):
            return
        places = form.places
        entry = Entry(
            tensor=tuple(dict.fromkeys((Tensor, *map(type, tensors)))),
            key=_key_offset(),
            positional=form.positional,
            names=form.names,
            arguments=tuple((name, places[name], *kind) for name, kind in form.scalars.items()),
            defaults=tuple(form.defaults.items()),
            statics=tuple((places[name], x) for name, x in form.statics.items() if name in places),
            limits=tuple((limit.number, limit.low, limit.high) for limit in limits),
            many=RELEASE,
            threads=options.num_threads or 0,
            pinned=_nothing,
            scope=_scope(),
            options=options,
            previous=redirected(self),
            slow=self._python,
        )
        redirect(self, make(entry))
        self._made[id(options)] = self._made.get(id(options), 0) + 1


def enterable(cls: type[E]) -> type[E]:
    """The class to make instances of that can be called in machine code; where there is no such thing, `cls` itself."""
    return cls if USE_CTYPES else callable_type(cls)


def row_of(
    form: Form, trace: Trace, tensors: Sequence[Tensor], statement: Statement, launch: Launch, grids: Grids | None
) -> Row | None:
    """A row of tensors as machine code reads it, if it can; `grids` run it on a GPU."""
    words = tuple(zip(trace.gathered.scalars, trace.gathered.words, strict=True))
    if statement.direction != "any" or statement.overlapping or len(statement.operand_of) > MAX_OPERANDS:
        return None
    if not all(supported(x) for x, _ in words):
        return None
    if {_position(leaf) for leaf in (*trace.template.targets, *trace.gathered.leaves)} < set(range(len(tensors))):
        return None  # an argument that is not used, or is another one: what the function made of it is not known
    operands, again = _operands(form, trace, tensors, statement, launch)
    layout = statement.target.layout if isinstance(statement.target, Leaf) else None
    alike = (
        trace.generic
        and layout is not None
        and layout.packed
        and len(launch.arranged.sizes) == 1
        and all(o.seen.layout is layout is o.layout for o in operands)
    )
    if alike:  # layouts say nothing, so that rows of any shape are of one kind
        operands = tuple(
            replace(o, layout=None, seen=replace(o.seen, layout=None, size=0, low=0, high=0)) for o in operands
        )
    sizes = None if alike else tuple(n for _, n in launch.arranged.sizes)
    if grids is None:
        return Row(launch.code.address, operands, again, words, sizes)
    if not isinstance(grids, Lists):
        return Row(grids.address, operands, again, words, sizes, grids.queued(alike))
    listed = grids.row
    sizes = None if sizes is None else sizes[: len(listed.kernel.sizes)]
    return Row(grids.address, operands, again, words, sizes, grids.queued(alike), listed.words, listed.given)


def _operands(
    form: Form, trace: Trace, tensors: Sequence[Tensor], statement: Statement, launch: Launch
) -> tuple[tuple[Operand, ...], tuple[tuple[int, int], ...]]:
    """What the kernel reads and writes, and arguments that are among it already."""
    views = (*statement.targets, *statement.found.leaves)
    own = (trace.template.targets[0], *trace.gathered.leaves)
    written = {id(t) for t in trace.template.targets}
    made = []
    for number, first in enumerate(launch.first):
        same = [leaf for leaf, n in zip(own, statement.operand_of, strict=True) if n == number]
        tensor, view = tensors[_position(own[first])], views[first]
        shift = launch.arranged.shifts[number]
        seen, stored = _seen(view, shift), any(id(leaf) in written for leaf in same)
        place = form.places[trace.names[_position(own[first])]]
        made.append(Operand(place, tensor.key, tensor.layout, view.offset - tensor.offset, seen, stored))
    places = [form.places[trace.names[_position(leaf)]] for leaf in own]
    again = [(place, n) for place, n in zip(places, statement.operand_of, strict=True) if place != made[n].argument]
    return tuple(made), tuple(dict.fromkeys(again))


def _position(leaf: Leaf) -> int:
    assert isinstance(leaf.buffer, Promised), "a trace has no other leaves"
    return leaf.buffer.position


def _seen(t: Leaf, shift: int) -> Seen:
    size = t.key.dtype.itemsize
    return Seen(t.layout, t.layout.size, size, t.layout.low * size, t.layout.high * size, shift)


def single(row: Row) -> Callable[[Entry], int]:
    """Machine code for one row of tensors."""

    def make(entry: Entry) -> int:
        def pinned(words: bytes, buffers: tuple[Any, ...]) -> None:
            run_pinned(row.kernel, words, buffers, entry.threads)

        return kernel_call(replace(entry, pinned=pinned), row, reader())

    return make


def several(rows: Sequence[Row]) -> Callable[[Entry], int]:
    """Machine code for lists of tensors whose rows are of these kinds."""

    def make(entry: Entry) -> int:
        many: list[int] = []

        def pinned(words: bytes, buffers: tuple[Any, ...]) -> None:
            run_pinned(many[0], words, buffers, entry.threads)

        code = list_call(replace(entry, pinned=pinned), rows, reader())
        many.append(code.run)
        return code.enter

    return make


def launched(rows: Sequence[Row], lists: Sequence[Lists]) -> Callable[[Entry], int]:
    """Machine code for lists of tensors on a GPU: rows of these kinds, each of which `lists` launch."""
    told = dict[Any, int]()
    alike = [(row.kernel, *((formula(row.words[k][0], told), row.words[k][1]) for k in row.given)) for row in rows]
    leaders = [alike.index(one) for one in alike]

    def make(entry: Entry) -> int:
        codes: list[ListCode] = []
        held: list[object] = []  # what machine code has the addresses of
        turn = lock()

        def upload(words: bytes, buffers: tuple[Any, ...]) -> None:
            (code,), stream = codes, buffers[0].stream
            head = np.frombuffer(words, np.int64)
            given = head[HEADER:].reshape(head[0], head[1])
            kinds = np.array(leaders)[given[:, 0]]
            try:
                with pinned(buffers, "foreach"):
                    found = {int(k): _table(lists[k], given[kinds == k], stream) for k in np.unique(kinds)}
                with turn:
                    for k in range(len(rows)):
                        code.place(k, int(np.argmax(kinds == k)), found[k].words if k in found else ())
                    held[:] = [stream, *found.values()]
                    lists[0].run(code.run, words, stream, max(table.scratch for table in found.values()))
                    if code.changes() != head[2]:  # it has seen another thread's rows since
                        code.forget()
            except BaseException:
                code.forget()
                raise

        codes.append(list_call(replace(entry, pinned=upload), rows, reader()))
        return codes[0].enter

    return make


def _table(lists: Lists, rows: np.ndarray[Any, Any], stream: Stream) -> Table:
    """The table of rows as machine code has written them: their kind, addresses, sizes, and all scalars."""
    kernel, own = lists.row.kernel, lists.row.own
    plain = len(kernel.leaves) + len(kernel.sizes)
    columns = [*range(1, 1 + plain), *(1 + plain + k for k in own)]
    return lists.table(np.ascontiguousarray(rows[:, columns]), stream)


def _nothing(_words: bytes, _buffers: tuple[Any, ...]) -> None:
    raise AssertionError("an entry says how it runs what is large")


@cache
def _key_offset() -> int:
    return slot_offsets(Leaf(), ("key",))["key"]


@cache
def _scope() -> Scope:
    return Scope(scope, slot_offsets(scope, ("open",))["open"], variable, DEFAULT)
