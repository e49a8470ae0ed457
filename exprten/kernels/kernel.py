"""Kernels: a Python function of tensors and scalars whose statements are one compiled unit."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..statement.launch import DIRECT_AFTER
from ..statement.running import Launch, Statement, run
from .arguments import Arguments, definition, traced
from .entry import Entrance, enterable, row_of, single
from .foreach import foreach_type
from .plan import KernelPlan
from .trace import Trace


class Kernel(Entrance):
    """A function of tensors (positional) and run-time scalars (keyword-only) as one kernel. `@xt.kernel` makes it.

    `foreach` takes lists of tensors.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        if not isinstance(function, FunctionType):
            raise TypeError(
                f"kernel: a {type(function).__name__} is no Python function; decorate a `def` with @xt.kernel"
            )
        functools.update_wrapper(self, function)
        self._of = definition(function)
        self.foreach = foreach_type()(self._of)

    def _run(self, *args: Any, **kwargs: Any) -> None:
        bound = self._of.bind(*args, **kwargs)
        if traced(bound):
            self._of.function(*args, **kwargs)  # inside of another kernel its statements are that one's
            return
        call = Arguments(self._of, bound)
        ready = call.remembered()
        if ready is not None:
            call.again(ready, call.scalars_of(ready.trace)).run()
            return
        trace, prepared = call.prepare()
        if prepared is None:
            return
        run(*prepared)
        self._again(call, trace, *prepared, len(args), tuple(kwargs))

    def _again(
        self,
        call: Arguments,
        trace: Trace,
        statement: Statement,
        launch: Launch,
        positional: int,
        names: tuple[str, ...],
    ) -> None:
        count = self._counted((positional, names, tuple(call.statics.values()), id(launch)), statement.options)
        if not call.plain or count > DIRECT_AFTER:
            call.remember(trace, statement, launch)
        if not call.plain or not self._due(count, statement.options):
            return
        form = call.form(positional, names)
        row = row_of(form, trace, call.tensors, statement, launch, launch.grids)
        if row is not None:
            self._install(statement.options, single(row), form, [trace], call.tensors)

    def plan(self, *args: Any, **kwargs: Any) -> KernelPlan:
        """What a call with these arguments will do: checked and compiled, not run. Raises what the call would raise."""
        return KernelPlan(lambda: Arguments(self._of, self._of.bind(*args, **kwargs)))

    def __reduce__(self) -> str:
        return self.__qualname__  # by reference, as a function

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}{inspect.signature(self._of.function)}>"


@functools.cache
def _kernel_type() -> type[Kernel]:
    return enterable(Kernel)


def kernel(function: Callable[..., Any]) -> Kernel:
    """The kernel of a function: its statements, one after the other, in one pass over its tensors.

    Positional parameters are tensors, keyword-only ones run-time scalars; bool, str, None and tuples are static. The function is
    called once for each kind of arguments, with tensors that have no elements: what it assigns to them is compiled.
    """
    return _kernel_type()(function)
