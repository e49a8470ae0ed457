"""What a kernel is called with: its parameters, the arguments of one call told apart, and the trace for arguments like these."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
from exprten_jit.dtypes import INDEX

from ..checks import trail
from ..errors import ExprtenError, FreedSpaceError
from ..expression.expr import Expr, Scalar, coerce
from ..expression.number import Number, evaluate
from ..expression.shape import Layout
from ..options import counters, current
from ..statement.lists import Row
from ..statement.running import Launch, Statement
from ..storage.buffer import Promised
from ..tensor import Tensor
from .entry import Form
from .extents import asks
from .sequence import prepare
from .trace import Trace

STATIC = (bool, str, type(None), tuple)
MAX_READY = 4096  # calls of a kernel that are remembered, likewise
MAX_TRACES = 1024  # of a kernel; beyond it the table starts afresh


@dataclass(frozen=True, eq=False)
class Ready:
    """What a call was prepared to, for another one with tensors at the same addresses. It holds no tensor."""

    trace: Trace
    launch: Launch
    addresses: tuple[int, ...]


@dataclass(frozen=True)
class Definition:
    """A function of tensors, its `positional` parameters, and of run-time scalars, its keyword-only ones; and its traces."""

    function: FunctionType
    positional: tuple[str, ...]
    scalars: tuple[str, ...]
    bind: Callable[..., tuple[Any, ...]]  # gives the values of all parameters, or raises as the function would
    traces: dict[Any, Trace] = field(default_factory=dict)
    ready: dict[Any, Ready] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.__name__


def definition(function: FunctionType) -> Definition:
    """The parameters of a function. Raises TypeError for `*args` and `**kwargs`."""
    positional: list[str] = []
    scalars: list[str] = []
    parameters = inspect.signature(function).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"{function.__name__}: `{p}`: a kernel has named parameters only")
        (scalars if p.kind is p.KEYWORD_ONLY else positional).append(p.name)
    bare = [p.replace(annotation=p.empty, default=p.default if p.default is p.empty else None) for p in parameters]
    made: dict[str, Any] = {}
    values = "".join(f"{name}, " for name in (*positional, *scalars))
    exec(f"def bind{inspect.Signature(bare)}: return ({values})", made)
    bind: Any = made["bind"]
    bind.__defaults__, bind.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    bind.__name__, bind.__qualname__ = function.__name__, function.__qualname__
    return Definition(function, tuple(positional), tuple(scalars), bind)


def traced(bound: Sequence[Any]) -> bool:
    """Whether there are tensors of a kernel that is being traced among the arguments."""
    return any(isinstance(x, Tensor) and isinstance(x.buffer, Promised) for x in bound)


class Arguments:
    """The arguments of one call: tensors, run-time scalars and static values. `row` is the one of lists, for texts.

    Raises TypeError, DTypeError, OverflowError and FreedSpaceError, naming the parameter.
    """

    def __init__(self, of: Definition, bound: Sequence[Any], row: int | None = None) -> None:
        self.of = of
        self.title = of.name if row is None else f"{of.name}.foreach"
        self.tensors: list[Tensor] = []
        self.names: list[str] = []  # of tensors
        self.scalars: dict[str, Any] = {}
        self.kinds: dict[str, tuple[type, str]] = {}  # of scalars
        self.statics: dict[str, Any] = {}
        self.plain = True  # tensors and numbers alone, no arrays
        count = len(of.positional)
        for name, x in zip(of.positional, bound[:count], strict=True):
            self._positional(name, x, f"{self.title}: {name}" + ("" if row is None else f"[{row}]"))
        for name, x in zip(of.scalars, bound[count:], strict=True):
            self._scalar(name, x, f"{self.title}: {name}")

    def _positional(self, name: str, x: Any, where: str) -> None:
        if isinstance(x, STATIC):
            self.statics[name] = x
            return
        t = coerce(x, where) if isinstance(x, np.ndarray) else x
        self.plain &= t is x
        if isinstance(t, Expr) and not isinstance(t, Tensor):
            raise TypeError(
                f"{where} is the expression {t}; a kernel is called with tensors, so give it xt.evaluate(...) of that"
            )
        if not isinstance(t, Tensor):
            hint = "; a list of tensors goes to .foreach" if isinstance(x, list) else ""
            raise TypeError(
                f"{where} is a {type(x).__name__}; positional parameters are tensors, run-time scalars are keyword-only{hint}"
            )
        if not t.buffer.address:
            raise FreedSpaceError(f"{where}, a tensor {t.described}, has no memory: it was freed, or never allocated")
        self.tensors.append(t)
        self.names.append(name)

    def _scalar(self, name: str, x: Any, where: str) -> None:
        if isinstance(x, STATIC):
            self.statics[name] = x
        elif isinstance(x, np.generic):
            self.plain &= isinstance(x, np.floating | np.integer)
            self.scalars[name] = coerce(x, where)
            self.kinds[name] = (type(x), "d" if isinstance(x, np.floating) else "q")
        elif type(x) in (int, float, complex):
            self.plain &= type(x) is not complex  # machine code reads a word an argument
            if type(x) is int and not INDEX.smallest <= x <= INDEX.largest:
                raise OverflowError(f"{where} is {x}, which does not fit int64")
            self.scalars[name] = x
            self.kinds[name] = (type(x), "d" if type(x) is float else "q")
        else:
            raise TypeError(
                f"{where} is a {type(x).__name__}; keyword-only parameters are run-time scalars (Python or NumPy numbers), or bool, str, "
                "None and tuples, which the kernel is traced for; tensors are positional"
            )

    def form(self, positional: int, names: Sequence[str]) -> Form:
        """How the call was written: `positional` many arguments, the others by name."""
        places = dict(zip(self.of.positional, range(positional), strict=False))
        places |= {name: positional + k for k, name in enumerate(names)}
        given = {name: kind for name, kind in self.kinds.items() if name in places}
        rest = {name: x.value if isinstance(x, Scalar) else x for name, x in self.scalars.items() if name not in places}
        return Form(positional, tuple(map(sys.intern, names)), places, given, rest, self.statics)

    def prepare(self) -> tuple[Trace, tuple[Statement, Launch] | None]:
        """The statements of this call, checked and compiled."""
        trace = self.trace()
        try:
            node = trace.at(self.tensors, self.values)
        except ExprtenError:
            self.new_trace()  # raises the same inside of the function, where the mistake is
            raise
        return trace, prepare(node)

    @property
    def values(self) -> dict[str, Any]:
        """The run-time scalars as Python numbers."""
        return {name: x.value if isinstance(x, Scalar) else x for name, x in self.scalars.items()}

    def remembered(self) -> Ready | None:
        """What was remembered of an equal call."""
        found = None if current().watched else self.of.ready.get(self._memory)
        return found if found is not None and found.launch.current else None

    def remember(self, trace: Trace, statement: Statement, launch: Launch) -> Ready:
        """Let equal calls be spared the analysis."""
        if len(self.of.ready) >= MAX_READY:
            self.of.ready.clear()
        ready = self.of.ready[self._memory] = Ready(trace, launch, statement.addresses)
        return ready

    @cached_property
    def _memory(self) -> tuple[Any, ...]:
        tensors = ((t.buffer.address + t.offset, t.layout) for t in self.tensors)
        return self.key, id(current()), *tensors

    def scalars_of(self, trace: Trace) -> list[Any]:
        """The scalars of the kernel. Raises what a call with them raises."""
        given, known = self.values, dict[int, Any]()
        trace.check_limits(given, known)
        words = zip(trace.gathered.scalars, trace.gathered.words, strict=True)
        return [(float if word == "d" else int)(evaluate(x, given, known)) for x, word in words]

    def again(self, ready: Ready, scalars: Sequence[Any]) -> Row:
        """The call that was prepared, once more."""
        counters.hits += 1
        return Row(ready.launch, ready.addresses, scalars, [t.buffer for t in self.tensors], ready.trace.own)

    def trace(self) -> Trace:
        """The trace for arguments like these: found, or made."""
        key = self.key
        traces, layouts = self.of.traces, (key, *(t.layout for t in self.tensors))
        found = traces.get(key) or traces.get(layouts)
        if found is None:
            if len(traces) >= MAX_TRACES:
                traces.clear()
            found = self.new_trace()
            traces[key if found.generic else layouts] = found
        return found

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What a trace depends on: element types, ranks and classes of axes, static values, kinds of scalars, equal arguments."""
        tensors = tuple(
            (name, t.key, t.writable, _classes(t.layout), k)
            for name, t, k in zip(self.names, self.tensors, self.equal(), strict=True)
        )
        scalars = tuple((name, x.key if isinstance(x, Scalar) else type(x)) for name, x in self.scalars.items())
        return tensors, scalars, tuple((name, _typed(x)) for name, x in self.statics.items()), trail.period()

    def equal(self) -> list[int]:
        """For each tensor the first that is the same view."""
        first: dict[Any, int] = {}
        return [first.setdefault((t.buffer.address + t.offset, t.layout, t.key), k) for k, t in enumerate(self.tensors)]

    def new_trace(self) -> Trace:
        """Call the function with tensors that have no memory and scalars that have no value."""
        of, trace = self.of, Trace(self.of.name, self.names, self.tensors)
        given: dict[str, Any] = dict(self.statics)
        given |= {name: trace.handles[k] for name, k in zip(self.names, self.equal(), strict=True)}
        for name, x in self.scalars.items():
            if isinstance(x, Scalar):
                given[name] = Scalar(Number(x.key.dtype.python, "argument", (name,), trace.limits), x.key.dtype)
            else:
                given[name] = Number(type(x), "argument", (name,), trace.limits)
        trace.generic = not asks(of.function) and all(t.size for t in self.tensors)  # a sum of nothing is a number
        try:
            result = of.function(*(given[name] for name in of.positional), **{name: given[name] for name in of.scalars})
        except RecursionError:
            raise RecursionError(
                f"{of.name}: the kernel calls itself without an end; its statements are written out when it is first called"
            ) from None
        if result is not None:
            raise TypeError(f"{of.name}: a kernel returns nothing; it stores to its arguments")
        if not trace.statements:
            raise TypeError(
                f"{of.name}: the kernel stores nothing: `w = e` names an expression, `w[...] = w` is what w holds; `w[...] = e` stores e"
            )
        return trace


def _classes(layout: Layout) -> tuple[int | None, ...]:
    """What is known of each axis: 2 for one element, else 0, 1 and -1 for such strides, None for others."""
    axes = zip(layout.shape, layout.strides, strict=True)
    return tuple(2 if n == 1 else s if s in (0, 1, -1) else None for n, s in axes)


def _typed(x: Any) -> Any:
    """A static value that differs from equal ones of another type. Raises TypeError for what is none."""
    if isinstance(x, tuple):
        return tuple(map(_typed, x))
    if not isinstance(x, (bool, str, int, float, type(None))):
        raise TypeError(
            f"kernel: a {type(x).__name__} in a tuple; a tuple is part of the signature, and holds bool, str, None and numbers"
        )
    return (type(x), x.hex() if isinstance(x, float) else x)  # zeros of either sign are two, and a NaN is itself
