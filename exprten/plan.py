"""A statement looked at instead of run."""

from __future__ import annotations

from typing import Any

from exprten_jit import Code, gridtext, nesttext, text
from exprten_jit.backends import llvm_run
from exprten_jit.interpret import evaluate
from exprten_jit.ir import Fold, Load, Op, Param, Size, Value
from exprten_jit.nest import Nest, Stmt
from exprten_jit.rewrite import walk
from exprten_jit.threads import default_threads
from exprten_jit.work import ENOUGH, shared, work

from .assign import prepare
from .errors import DeviceError
from .expression.show import tree
from .modes import mode_of
from .products.calltext import described, divided, flops, scratch
from .products.terms import Called, Place, Term, distinct, places_of
from .statement import recompute
from .statement.cached import Facts
from .statement.gather import WEAK
from .statement.grids import Grids
from .statement.running import Launch, Statement, run
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
        """Passes, one after the other: a product that is called, those over the target, after those of folds that all of it needs; 0
        where there is nothing to do.
        """
        looped = 0 if not self._looped else self._facts.phases if self._grids is None else len(self._grids.launches)
        return len(self._terms) + looped

    @property
    def launches(self) -> int:
        """Entries into machine code; on a GPU products that are called and functions that are launched: one a phase, of a batch perhaps more."""
        if self._target.device.kind == "gpu":
            return self.phases + (0 if self._called is None else self._called.more)
        return 0 if self._prepared is None else 1

    @property
    def threads(self) -> int:
        """How many threads share the phase with most work, at most; 1 where that would not pay. BLAS has threads of its own, a GPU the
        most that a function is launched with.
        """
        if self._prepared is None:
            return 1
        if self._grids is not None:
            return max((one.threads for one in self._grids.launches), default=1)
        most = self._prepared[1].threads or default_threads()
        if any(divided(term.matrices) for term in self._terms):
            return most
        if self._looped is None:
            return 1
        sizes = dict(self._looped[0].arranged.sizes)
        most_work = max((int(evaluate(work([stmt]), {}, {}, sizes)) for stmt in self._shared()), default=0)
        return most if most_work >= ENOUGH else 1

    def _shared(self) -> list[Stmt]:
        return [stmt for part in self._code.nest.every for stmt in shared(part)]

    @property
    def temporaries(self) -> int:
        """Tensors made for intermediate values: none, by contract."""
        return 0

    @property
    def scratch_bytes(self) -> int:
        """Memory for values that are computed once and read by many rows, for parts of folds, and for packed matrices of our own
        product. On a GPU what a stream keeps for them.
        """
        packed = max((scratch(term.matrices) for term in self._terms), default=0)
        if self._grids is not None:
            return packed + self._grids.scratch
        return packed + (self._facts.scratch if self._looped else 0)

    @property
    def recompute(self) -> float:
        """Operations evaluated over those needed. On a GPU every thread evaluates what its elements need, and every launch."""
        spread = 1.0 if self._grids is None else self._grids.spread
        return 1.0 if self._prepared is None else max(1.0, spread * self._prepared[1].recompute)

    @property
    def bytes_read(self) -> int:
        """Bytes of all the elements that are read, each once: of views that reach into each other, what lies between their ends at most."""
        return self._bytes_multiplied + self._bytes_looped

    @property
    def _bytes_multiplied(self) -> int:
        reads = [term for term in self._terms if term.beta is not None]
        return len(reads) * self._target.nbytes + sum(term.nbytes for term in self._terms)

    @property
    def _bytes_looped(self) -> int:
        if self._looped is None:
            return 0
        launch, places = self._looped
        stores = [s for part in self._code.kernel.parts for s in part.stores]
        loaded = {n.leaf.name for s in stores for n in walk(s.value) if isinstance(n, Load)}
        operands = launch.arranged.signature.operands
        return distinct(places[k] for k, o in zip(launch.first, operands, strict=True) if o.name in loaded)

    @property
    def bytes_written(self) -> int:
        """Bytes of the target's elements."""
        return 0 if self._prepared is None else self._target.nbytes

    @property
    def flops(self) -> int:
        """Operations on elements that are evaluated, conversions and index arithmetic not counted."""
        multiplied = sum(flops(term.matrices) for term in self._terms)
        if self._looped is None:
            return multiplied
        if self._grids is not None:
            return multiplied + self._grids.operations
        arranged = self._looped[0].arranged
        parts = zip(self._code.nest.parts, arranged.extents, strict=True)
        sizes = dict(arranged.sizes)
        placed = ((recompute.Reach(nest), nest, extents) for nest, extents in parts)
        return multiplied + sum(
            recompute.times(n, reach, extents) * recompute.repeats(n, reach, around, sizes)
            for reach, nest, extents in placed
            for n, around in _operations(nest, reach)
        )

    @property
    def call(self) -> str:
        """The products that are called, one a line: who computes it, the routine, sizes and factors; empty where there is none."""
        if self._prepared is None:
            return ""
        scalars = self._prepared[0].found.scalars
        return "\n".join(described(t.matrices, t.alpha, t.beta, scalars) for t in self._terms)

    @property
    def ir(self) -> str:
        """The kernel IR, as text; empty where all is one call."""
        return "" if self._looped is None else text.text(self._code.kernel)

    @property
    def nest(self) -> str:
        """The loop nest, as text, and of a GPU what is launched; empty where all is one call."""
        if self._grids is not None:
            return gridtext.show(self._grids.cuda.program)
        return "" if self._looped is None else nesttext.show(self._code.nest)

    @property
    def llvm(self) -> str:
        """The LLVM IR, as text: of a product the call, then the kernel after it. Raises DeviceError for a statement on a GPU."""
        return "\n".join(self._modules)

    @property
    def asm(self) -> str:
        """The machine code, as assembly text. Raises DeviceError for a statement on a GPU."""
        if self._prepared is None:
            return ""
        level = self._prepared[0].options.llvm_level
        return "\n".join(llvm_run.assembly(module, level) for module in self._modules)

    @property
    def _modules(self) -> list[str]:
        if self._grids is not None:
            raise DeviceError(
                f"plan: {self!r} has no LLVM IR: it is on {self._target.device}; plan.cuda and plan.ptx are what runs there"
            )
        called = [] if self._called is None else [self._called.code.llvm]
        return [*called, *([] if self._looped is None else [self._code.llvm])]

    @property
    def cuda(self) -> str:
        """The CUDA text of what runs on a GPU. Raises DeviceError for a statement on the CPU."""
        return self._on_gpu("CUDA text").cuda.text

    @property
    def ptx(self) -> str:
        """The PTX of what runs on a GPU. Raises DeviceError for a statement on the CPU, CompileError where NVRTC is missing."""
        return self._on_gpu("PTX").ptx

    def _on_gpu(self, what: str) -> Grids:
        grids = self._grids
        if grids is None:
            raise DeviceError(
                f"plan: {self!r} has no {what}: {'nothing of it is a kernel' if self._looped is None else 'it is on the CPU'}; a kernel whose "
                "tensors are on xt.gpu(0) has"
            )
        return grids

    @property
    def _grids(self) -> Grids | None:
        """What runs in loops on a GPU."""
        return None if self._looped is None else self._looped[0].grids

    @property
    def _called(self) -> Called | None:
        """The launch of a statement with products."""
        launch = None if self._prepared is None else self._prepared[1]
        return launch if isinstance(launch, Called) else None

    @property
    def _terms(self) -> tuple[Term, ...]:
        """The products that are called."""
        return () if self._called is None else self._called.terms

    @property
    def _looped(self) -> tuple[Launch, tuple[Place, ...]] | None:
        """What runs in loops, the statement itself or what is around its products, and where the targets and leaves there lie."""
        if self._prepared is None:
            return None
        if self._called is None:
            return self._prepared[1], places_of(self._prepared[0])
        return None if self._called.then is None else (self._called.then, self._called.spans)

    @property
    def _launch(self) -> Launch:
        assert self._looped is not None, "a call has no loops"
        return self._looped[0]

    @property
    def _facts(self) -> Facts:
        assert self._launch.facts is not None, "loops are a kernel's"
        return self._launch.facts

    @property
    def _code(self) -> Code:
        code = self._launch.code
        assert isinstance(code, Code), "loops were compiled from kernel IR"
        return code

    def explain(self) -> str:
        """The statement, its loops, what it moves and computes, and what may surprise."""
        lines = self._statements()
        if self._prepared is None:
            return "\n".join([*lines, "nothing to do"])
        lines += self._targets()
        lines += [f"  call {line}" for line in self.call.splitlines()]
        lines += [f"  {line}" for line in self.nest.splitlines()]
        lines.append(
            f"phases {self.phases}, launches {self.launches}, threads {self.threads}, temporaries {self.temporaries}, "
            f"scratch {self.scratch_bytes} bytes"
        )
        lines.append(f"reads {self.bytes_read} bytes, writes {self.bytes_written} bytes, {self.flops} operations")
        lines.append(f"recompute {self.recompute:.2f}")
        lines += [] if self._grids is None else self._grids.explained(self._grids.launches)
        if self._prepared[1].arranged.signature.reverse:
            lines.append("stored backwards: an operand overlaps the target at lower addresses")
        if self._called is not None and self._called.note:
            lines.append(f"note: {self._called.note}")
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


def _operations(nest: Nest, reach: recompute.Reach) -> list[tuple[Value, recompute.Folded]]:
    """Operations on elements, without those on the index alone, each with the folds around it. A fold is one for each element of
    its body.
    """
    found: list[tuple[Value, recompute.Folded]] = []
    kept, stores = recompute.kept(nest), nest.kernel.stores
    every = (one for store in stores for one in recompute.elements(store.value))
    for n, around in dict.fromkeys((n, tuple(f for f in around if f[0] in reach.of(n))) for n, around in every):
        if n in kept:
            continue
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
