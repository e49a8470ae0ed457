"""A kernel call looked at instead of run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..expression.show import tree
from ..expression.stores import Stores
from ..modes import MODES
from ..plan import Plan
from ..statement.running import run
from .arguments import Arguments
from .trace import Trace


class KernelPlan(Plan):
    """What a call of a kernel will do. Made by `kernel.plan(...)`; `run()` does it."""

    __slots__ = ("_arguments", "_names", "_trace")

    _trace: Trace

    def __init__(self, arguments: Callable[[], Arguments]) -> None:
        self._mode = MODES["write"]
        self._arguments = arguments
        self._look()

    def _look(self) -> None:
        """Check, and compile where that is necessary."""
        call = self._arguments()
        self._trace, self._prepared = call.prepare()
        self._names = {id(leaf): self._trace.shown(leaf) for leaf in self._trace.leaves}
        if self._prepared is not None:
            self._target = self._prepared[0].target  # type: ignore[assignment]  # a tensor, as every argument is
            self._value = self._prepared[0].value

    def run(self) -> None:  # type: ignore[override]  # a kernel has no one target to give back
        """Do it: check again, then call the kernel."""
        self._look()
        if self._prepared is not None:
            run(*self._prepared)

    @property
    def bytes_written(self) -> int:
        """Bytes of the elements of all targets, each once."""
        if self._prepared is None:
            return 0
        statement, launch = self._prepared
        views = (*statement.targets, *statement.found.leaves)
        names = [operand.name for operand in launch.arranged.signature.operands]
        stored = {store.leaf.name for store in self._code.kernel.stores}
        return sum(views[launch.first[names.index(name)]].nbytes for name in stored)

    def taken(self) -> list[str]:
        """What each launch on a GPU takes of it."""
        return [] if self._grids is None else self._grids.explained(self._grids.launches)

    def _statements(self) -> list[str]:
        return [f"kernel {self._trace.title}", *self.statements()]

    def statements(self) -> list[str]:
        """The statements, a line each."""
        shown = partial(tree, names=self._names)
        return [
            f"  {shown(s.target)}{'' if s.mode.op else '[...]'} {s.mode.symbol.split()[-1]} {shown(s.value)}"
            for s in self._trace.statements
        ]

    def _targets(self) -> list[str]:
        return self.operands()

    def operands(self) -> list[str]:
        """Which tensor is which operand, and what is stored to."""
        assert self._prepared is not None and isinstance(self._value, Stores), "there is something to do"
        launch = self._launch
        own = (self._trace.template.targets[0], *self._trace.gathered.leaves)
        operands = launch.arranged.signature.operands
        names = [f"{self._trace.name_of(own[k])} is {o.name}" for k, o in zip(launch.first, operands, strict=True)]
        return [", ".join(names), *super()._targets()]

    def __repr__(self) -> str:
        return f"<plan of kernel {self._trace.title}>"
