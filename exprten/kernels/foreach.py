"""A kernel for lists of tensors, all of them checked before the first is stored to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from exprten_jit import entries

from ..errors import AliasError, ExprtenError
from ..expression.leaf import Leaf
from ..options import current
from ..statement.launch import DIRECT_AFTER
from ..statement.lists import Lists, Row, lists_of_rows, run_rows
from ..statement.overlap import shares
from ..statement.running import Launch, Statement, run
from .arguments import Arguments, Definition, Ready, traced
from .entry import Entrance, enterable, launched, row_of, several
from .listplan import ForeachPlan
from .plan import KernelPlan
from .trace import Trace

MAX_APART = 64  # lists that are remembered
MAX_KINDS = (
    64  # of rows that one call in machine code serves: 20 ms each to compile, and 70 us a row in Python without it
)

Prepared = tuple[Statement, Launch]


class Foreach(Entrance):
    """`kernel.foreach(ws, gs, ..., lr=...)`: the kernel for `ws[0], gs[0], ...`, for `ws[1], gs[1], ...` and so on, in one call.

    Lists or tuples of one length, in place of every tensor; bool, str and None stay what they are. Nothing is stored where any row is
    refused. No row stores to memory that another one reads or stores to: AliasError.
    """

    def __init__(self, of: Definition) -> None:
        super().__init__()
        self._of = of
        self._apart: set[tuple[Ready | None, ...]] = (
            set()
        )  # rows of which none stores to what another one reads or stores to

    def _run(self, *args: Any, **kwargs: Any) -> None:
        of = self._of
        calls = self._calls(args, kwargs)
        ready = tuple(call.remembered() for call in calls)
        if ready in self._apart:
            scalars = [call.scalars_of(one.trace) for call, one in zip(calls, ready, strict=True) if one]
            rows_ = zip(calls, ready, scalars, strict=True)
            _run([call.again(one, values) for call, one, values in rows_])  # type: ignore[arg-type]  # none of those is None
            return
        prepared = [_prepared(of, n, call) for n, call in enumerate(calls)]
        there = [(trace, *both) for trace, both in prepared if both is not None]
        _check_apart(of, {n: both[0] for n, (_, both) in enumerate(prepared) if both is not None})
        if current().watched:
            for _, statement, launch in there:
                run(statement, launch)
        else:
            _run([_row(*one) for one in there])
        if calls and len(there) == len(calls):
            self._again(calls, there, len(args), tuple(kwargs))

    def plan(self, *args: Any, **kwargs: Any) -> ForeachPlan:
        """What a call with these lists will do: checked and compiled, not run. Raises what the call would raise."""
        of, calls = self._of, self._calls(args, kwargs)
        prepared = [_prepared(of, n, call) for n, call in enumerate(calls)]
        there = {n: (trace, *both) for n, (trace, both) in enumerate(prepared) if both is not None}
        _check_apart(of, {n: statement for n, (_, statement, _) in there.items()})
        rows = [_row(*one) for one in there.values()]
        plans = {n: KernelPlan(lambda call=calls[n]: call) for n in there}  # type: ignore[misc]  # each its own
        return ForeachPlan(of.name, plans, rows, lambda: self._run(*args, **kwargs))

    def _calls(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Arguments]:
        """The call for each row."""
        of = self._of
        rows = _rows(of, of.bind(*args, **kwargs))
        if any(map(traced, rows)):
            raise TypeError(
                f"{of.name}.foreach: inside of a kernel there are no lists of tensors; call {of.name} itself"
            )
        return [Arguments(of, row, n) for n, row in enumerate(rows)]

    def _again(
        self,
        calls: Sequence[Arguments],
        prepared: Sequence[tuple[Trace, Statement, Launch]],
        positional: int,
        names: tuple[str, ...],
    ) -> None:
        launches = tuple(sorted({id(launch) for _, _, launch in prepared}))
        count = self._counted((positional, names, tuple(calls[0].statics.values()), launches), current())
        plain = all(call.plain for call in calls)
        if not plain or count > DIRECT_AFTER:
            if len(self._apart) >= MAX_APART:
                self._apart.clear()
            self._apart.add(tuple(call.remember(*row) for call, row in zip(calls, prepared, strict=True)))
        if not plain or not self._due(count, current()):
            return
        form = calls[0].form(positional, names)
        kinds: dict[entries.Row | None, tuple[Trace, Lists | None]] = {}
        every = lists_of_rows([_row(*one) for one in prepared])
        for call, (trace, statement, launch), lists in zip(calls, prepared, every, strict=True):
            if lists is not None or launch.grids is None:
                kinds[row_of(form, trace, call.tensors, statement, launch, lists)] = trace, lists
            else:
                kinds[None] = trace, None
        rows = [row for row in kinds if row is not None]
        if len(rows) == len(kinds) <= MAX_KINDS:
            tensors = (t for call in calls for t in call.tensors)
            traces = [trace for trace, _ in kinds.values()]
            lists_ = [lists for _, lists in kinds.values() if lists is not None]
            self._install(current(), launched(rows, lists_) if lists_ else several(rows), form, traces, tensors)

    def __repr__(self) -> str:
        return f"<kernel {self._of.name} for lists of tensors>"


def _run(rows: Sequence[Row]) -> None:
    """Run rows: on the CPU one by one."""
    if rows and rows[0].launch.grids is not None:
        run_rows(rows)
        return
    for row in rows:
        row.run()


def _row(trace: Trace, statement: Statement, launch: Launch) -> Row:
    return Row(launch, statement.addresses, statement.found.scalars, statement.buffers, trace.own)


def _prepared(of: Definition, n: int, call: Arguments) -> tuple[Trace, Prepared | None]:
    """A row, prepared. Errors say which it is."""
    try:
        return call.prepare()
    except (ExprtenError, TypeError) as error:
        error.args = (f"{of.name}.foreach: row {n}: {error}",)
        raise


def _rows(of: Definition, bound: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The arguments of each call. Raises TypeError for what is no list, ValueError for lists of several lengths."""
    count = len(of.positional)
    lists: dict[str, Sequence[Any]] = {}
    for name, x in zip(of.positional, bound[:count], strict=True):
        if isinstance(x, (list, tuple)):
            lists[name] = x
        elif not isinstance(x, (bool, str, type(None))):
            raise TypeError(
                f"{of.name}.foreach: {name} is a {type(x).__name__}; it must be a list of tensors, one for each call of {of.name}"
            )
    lengths = {name: len(x) for name, x in lists.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(
            f"{of.name}.foreach: lists of different lengths: {shown}; give one tensor of each for every call"
        )
    given = dict(zip((*of.positional, *of.scalars), bound, strict=True))
    length = next(iter(lengths.values()), 0)
    return [tuple(lists[name][k] if name in lists else x for name, x in given.items()) for k in range(length)]


def _check_apart(of: Definition, statements: Mapping[int, Statement]) -> None:
    """Raise AliasError where a row stores to memory that another one reads or stores to."""
    spans = sorted((span for n, s in statements.items() for span in _spans(n, s)), key=lambda span: span[:2])
    open_: list[tuple[int, int, int, bool, Leaf]] = []
    for span in spans:
        low, _, row, written, leaf = span
        open_ = [other for other in open_ if other[1] > low]
        for start, _, other_row, other_written, other in open_:
            if other_row == row or not (written or other_written):
                continue
            size, others = leaf.key.dtype.itemsize, other.key.dtype.itemsize
            here, there = low - leaf.layout.low * size, start - other.layout.low * others
            if shares(here, leaf.layout, size, there, other.layout, others):
                first, second = sorted((row, other_row))
                raise AliasError(
                    f"{of.name}.foreach: rows {first} and {second} share memory that one of them stores to, a tensor {leaf.described} "
                    f"and one {other.described}; give every row tensors of its own, or call {of.name} once for each"
                )
        open_.append(span)


def _spans(row: int, s: Statement) -> list[tuple[int, int, int, bool, Leaf]]:
    """First byte and the one after the last, the row, and whether it is stored to, of each view of a statement."""
    targets = {id(t) for t in s.value.targets}  # type: ignore[union-attr]  # of a kernel
    out = []
    for address, leaf in zip(s.addresses, (*s.targets, *s.found.leaves), strict=True):
        low, high = leaf.layout.span(address, leaf.key.dtype.itemsize)
        out.append((low, high, row, id(leaf) in targets, leaf))
    return out


@cache
def foreach_type() -> type[Foreach]:
    """The class of what is called, or where machine code cannot be put behind a call, Foreach itself."""
    return enterable(Foreach)
