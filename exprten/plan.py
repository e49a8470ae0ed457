"""A statement looked at instead of run."""

from __future__ import annotations

from typing import Any

from exprten_jit import Code, nest, text
from exprten_jit.backends import llvm_run
from exprten_jit.interpret import evaluate
from exprten_jit.ir import Fold, Kernel, Load, Op, Param, Size, Value
from exprten_jit.rewrite import walk
from exprten_jit.threads import default_threads
from exprten_jit.work import ENOUGH, shared, work

from . import recompute
from .assign import prepare
from .errors import DeviceError
from .gather import WEAK
from .launch import Launch, Statement, run
from .modes import mode_of
from .show import tree
from .target import Target
from .tensor import Tensor


class Plan:
    """What an assignment will do. Made by `xt.plan`; `run()` does it."""

    __slots__ = ("_mode", "_prepared", "_target", "_value")

    def __init__(self, target: Tensor | Target, value: Any, req: str) -> None:
        self._mode = mode_of(req)
        self._target = target
        self._value = value
        self._prepared: tuple[Statement, Launch] | None = None if req == "null" else prepare(self._mode, target, value)

    def run(self) -> Tensor | Target:
        """Do it: check again, then call the kernel. Returns the target."""
        self._prepared = None if self._mode.name == "null" else prepare(self._mode, self._target, self._value)
        if self._prepared is not None:
            run(*self._prepared)
        return self._target

    @property
    def phases(self) -> int:
        """Passes, one after the other: those over the target, after those of folds that all of it needs; 0 where there is nothing to do."""
        return 0 if self._prepared is None else max(1, *(len(shared(part)) for part in self._code.nest.parts))

    @property
    def launches(self) -> int:
        """Entries into machine code."""
        return 0 if self._prepared is None else 1

    @property
    def threads(self) -> int:
        """How many threads share the phase with most work, at most; 1 where that would not pay."""
        if self._prepared is None:
            return 1
        sizes = dict(self._launch.arranged.sizes)
        most = max((int(evaluate(work([stmt]), {}, {}, sizes)) for stmt in self._shared()), default=0)
        return (self._launch.threads or default_threads()) if most >= ENOUGH else 1

    def _shared(self) -> list[nest.Stmt]:
        return [stmt for part in self._code.nest.parts for stmt in shared(part)]

    @property
    def temporaries(self) -> int:
        """Tensors made for intermediate values: none, by contract."""
        return 0

    @property
    def scratch_bytes(self) -> int:
        """Memory on the stack: for values that are computed once and read by many rows, and for parts of folds."""
        return 0 if self._prepared is None else self._code.nest.scratch_bytes

    @property
    def recompute(self) -> float:
        """Operations evaluated over those needed."""
        return 1.0 if self._prepared is None else self._launch.recompute

    @property
    def bytes_read(self) -> int:
        """Bytes of all the elements that are read, each view once."""
        if self._prepared is None:
            return 0
        statement, launch = self._prepared
        views = (*statement.targets, *statement.found.leaves)
        stores = [s for part in self._code.kernel.parts for s in part.stores]
        loaded = {n.leaf.name for s in stores for n in walk(s.value) if isinstance(n, Load)}
        operands = launch.arranged.signature.operands
        return sum(views[k].nbytes for k, o in zip(launch.first, operands, strict=True) if o.name in loaded)

    @property
    def bytes_written(self) -> int:
        """Bytes of the target's elements."""
        return 0 if self._prepared is None else self._target.nbytes

    @property
    def flops(self) -> int:
        """Operations on elements that are evaluated, conversions and index arithmetic not counted."""
        if self._prepared is None:
            return 0
        parts = zip(self._code.nest.parts, self._launch.arranged.extents, strict=True)
        sizes = dict(self._launch.arranged.sizes)
        return sum(
            recompute.times(n, nest, extents) * recompute.repeats(n, around, sizes)
            for nest, extents in parts
            for n, around in _operations(nest.kernel)
        )

    @property
    def ir(self) -> str:
        """The kernel IR, as text."""
        return "" if self._prepared is None else text.text(self._code.kernel)

    @property
    def nest(self) -> str:
        """The loop nest, as text."""
        return "" if self._prepared is None else nest.show(self._code.nest)

    @property
    def llvm(self) -> str:
        """The LLVM IR, as text."""
        return "" if self._prepared is None else self._code.llvm

    @property
    def asm(self) -> str:
        """The machine code, as assembly text."""
        if self._prepared is None:
            return ""
        return llvm_run.assembly(self._code.llvm, self._launch.arranged.signature.options.llvm_level)

    @property
    def cuda(self) -> str:
        """The CUDA text. Raises DeviceError: this version runs on the CPU only."""
        raise DeviceError(
            f"plan: a statement on {self._target.device} has no CUDA text; this version runs on the CPU only"
        )

    @property
    def ptx(self) -> str:
        """The PTX. Raises DeviceError: this version runs on the CPU only."""
        raise DeviceError(f"plan: a statement on {self._target.device} has no PTX; this version runs on the CPU only")

    @property
    def _launch(self) -> Launch:
        assert self._prepared is not None, "an empty plan has no kernel"
        return self._prepared[1]

    @property
    def _code(self) -> Code:
        return self._launch.code

    def explain(self) -> str:
        """The statement, its loops, what it moves and computes, and what may surprise."""
        lines = self._statements()
        if self._prepared is None:
            return "\n".join([*lines, "nothing to do"])
        lines += self._targets()
        lines += [f"  {line}" for line in self.nest.splitlines()]
        lines.append(
            f"phases {self.phases}, launches {self.launches}, threads {self.threads}, temporaries {self.temporaries}, "
            f"scratch {self.scratch_bytes} bytes"
        )
        lines.append(f"reads {self.bytes_read} bytes, writes {self.bytes_written} bytes, {self.flops} operations")
        lines.append(f"recompute {self.recompute:.2f}")
        if self._launch.arranged.signature.reverse:
            lines.append("stored backwards: an operand overlaps the target at lower addresses")
        lines += self._wide_nodes()
        return "\n".join(lines)

    def _statements(self) -> list[str]:
        return [f"target {self._mode.symbol} {tree(self._value)}"]

    def _targets(self) -> list[str]:
        return [f"target: {self._target.dtype} {self._target.shape}, strides {self._target.strides}"]

    def _wide_nodes(self) -> list[str]:
        """A float64 operation among tensors of 32 bits and fewer is rarely meant."""
        assert self._prepared is not None
        found = self._prepared[0].found
        if any(t.key.dtype.bits > 32 for t in (self._target, *found.leaves)):
            return []
        wide = [e[0] for e in found.structure if e[0] != WEAK and e[0].dtype.name == "float64" and e[0].op != "scalar"]
        return [f"note: {key.op} is computed in float64, though no tensor is" for key in wide]

    def __repr__(self) -> str:
        return f"<plan of target {self._mode.symbol} {tree(self._value)}>"


def _operations(kernel: Kernel) -> list[tuple[Value, recompute.Folded]]:
    """Operations on elements, without those on the index alone, each with the folds around it. A fold is one for each element of
    its body.
    """
    found: list[tuple[Value, recompute.Folded]] = []
    for n, around in dict.fromkeys(one for store in kernel.stores for one in recompute.elements(store.value)):
        if isinstance(n, Op) and n.op != "cast" and (not n.free or any(isinstance(x, Load | Param) for x in walk(n))):
            found.append((n, around))
        elif isinstance(n, Fold) and isinstance(n.extent, Size):
            found += [(body, (*around, (n.axis, n.extent.name))) for body in n.bodies]
    return found


def plan(target: Tensor | Target, value: Any, req: str = "write") -> Plan:
    """What `xt.assign(target, req, value)` will do: checked and compiled, not run. Raises what the assignment would raise."""
    if not isinstance(target, Tensor | Target):
        raise TypeError(f"plan: the target is a {type(target).__name__}; it must be a tensor")
    return Plan(target, value, req)
