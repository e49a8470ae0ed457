"""A call of a kernel for lists of tensors looked at instead of run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import DeviceError
from ..statement.lists import Looked, Row, kinds_of
from .plan import KernelPlan

SHOWN = 8  # rows of a kind that are named


@dataclass(frozen=True)
class _Kind:
    """Rows that one kernel runs, with the plan of each: one by one, or on a GPU together, as `looked` says."""

    rows: Sequence[int]
    plans: Sequence[KernelPlan]
    looked: Looked | None
    cuda: str

    @property
    def nest(self) -> str:
        return self.plans[0].nest if self.looked is None else self.looked.nest

    @property
    def launches(self) -> int:
        return sum(plan.launches for plan in self.plans) if self.looked is None else len(self.looked.launches)

    @property
    def threads(self) -> int:
        if self.looked is None:
            return max(plan.threads for plan in self.plans)
        return max((one.threads for one in self.looked.launches), default=1)

    @property
    def scratch(self) -> int:
        return max(plan.scratch_bytes for plan in self.plans) if self.looked is None else self.looked.scratch

    @property
    def work(self) -> list[tuple[int, float]]:
        """Of each row operations, and these over the needed."""
        return [(plan.flops, plan.recompute) for plan in self.plans] if self.looked is None else self.looked.work

    def lines(self) -> Iterator[str]:
        """Which rows these are, and what runs for them."""
        many, shown = len(self.rows), ", ".join(map(str, self.rows[:SHOWN]))
        yield f"row {shown}" if many == 1 else f"{many} rows: {shown}{', …' if many > SHOWN else ''}"
        yield from (f"  {line}" for line in self.plans[0].operands())
        yield from (f"  {line}" for line in self.nest.splitlines())
        yield from (f"  {line}" for line in (self.plans[0].taken() if self.looked is None else self.looked.lines))


class ForeachPlan:
    """What a call of `kernel.foreach` will do. Made by `kernel.foreach.plan(...)`; `run()` does it.

    Rows of one kind have one kernel; texts are those of all kinds, one behind the other.
    """

    __slots__ = ("_kinds", "_plans", "_run", "_title")

    def __init__(
        self, title: str, plans: Mapping[int, KernelPlan], rows: Sequence[Row], run: Callable[[], None]
    ) -> None:
        self._title = title
        self._plans = list(plans.values())
        self._run = run
        self._kinds = list(_kinds(list(plans), self._plans, rows))

    def run(self) -> None:
        """Do it: check again, then call the kernel for every row."""
        self._run()

    @property
    def rows(self) -> int:
        """How many rows have something to do."""
        return len(self._plans)

    @property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """The rows of each kind, by their number: what one kernel runs, and on a GPU together."""
        return tuple(tuple(kind.rows) for kind in self._kinds)

    @property
    def launches(self) -> int:
        """Functions that a GPU launches for all rows; on the CPU entries into kernels, one a row."""
        return sum(kind.launches for kind in self._kinds)

    @property
    def threads(self) -> int:
        """How many threads share the phase with most work, at most; on a GPU the most that a function is launched with."""
        return max((kind.threads for kind in self._kinds), default=1)

    @property
    def temporaries(self) -> int:
        """Tensors made for intermediate values: none, by contract."""
        return 0

    @property
    def scratch_bytes(self) -> int:
        """Memory for values that are computed once and for parts of folds; kinds use it one after the other."""
        return max((kind.scratch for kind in self._kinds), default=0)

    @property
    def bytes_read(self) -> int:
        """Bytes of all the elements that are read, for each row."""
        return sum(plan.bytes_read for plan in self._plans)

    @property
    def bytes_written(self) -> int:
        """Bytes of the elements of all targets, each once."""
        return sum(plan.bytes_written for plan in self._plans)

    @property
    def flops(self) -> int:
        """Operations on elements that are evaluated, conversions and index arithmetic not counted."""
        return sum(operations for kind in self._kinds for operations, _ in kind.work)

    @property
    def recompute(self) -> float:
        """Operations evaluated over those needed, of all rows."""
        needed = sum(operations / ratio for kind in self._kinds for operations, ratio in kind.work)
        return max(1.0, self.flops / needed) if needed else 1.0

    @property
    def ir(self) -> str:
        """The kernel IR, as text."""
        return "\n\n".join(kind.plans[0].ir for kind in self._kinds)

    @property
    def nest(self) -> str:
        """The loop nests, as text, or what a GPU launches."""
        return "\n\n".join(kind.nest for kind in self._kinds)

    @property
    def llvm(self) -> str:
        """The LLVM IR, as text. Raises DeviceError for rows on a GPU."""
        return "\n\n".join(kind.plans[0].llvm for kind in self._kinds)

    @property
    def asm(self) -> str:
        """The machine code, as assembly text. Raises DeviceError for rows on a GPU."""
        return "\n\n".join(kind.plans[0].asm for kind in self._kinds)

    @property
    def cuda(self) -> str:
        """The CUDA texts of what a GPU launches. Raises DeviceError for rows on the CPU."""
        if any(not kind.cuda for kind in self._kinds):
            raise DeviceError(
                f"plan: {self!r} has no CUDA text: it is on the CPU; one whose tensors are on xt.gpu(0) has"
            )
        return "\n\n".join(kind.cuda for kind in self._kinds)

    def explain(self) -> str:
        """The statements, for each kind of rows what runs, what all of them move and compute."""
        lines = [f"kernel {self._title} for {_several(self.rows, 'row')} of tensors"]
        if not self._kinds:
            return "\n".join([*lines, "nothing to do"])
        lines += self._plans[0].statements()
        for kind in self._kinds:
            lines += kind.lines()
        lines.append(
            f"launches {self.launches}, threads {self.threads}, temporaries {self.temporaries}, scratch {self.scratch_bytes} bytes"
        )
        lines.append(f"reads {self.bytes_read} bytes, writes {self.bytes_written} bytes, {self.flops} operations")
        lines.append(f"recompute {self.recompute:.2f}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<plan of kernel {self._title} for {_several(self.rows, 'row')} of tensors>"


def _kinds(numbers: Sequence[int], plans: Sequence[KernelPlan], rows: Sequence[Row]) -> Iterator[_Kind]:
    for kind in kinds_of(rows):
        mine, named = [plans[n] for n in kind.rows], [numbers[n] for n in kind.rows]
        if kind.lists is not None:
            yield _Kind(named, mine, kind.lists.looked_at(kind.table), kind.lists.cuda.text)
        else:
            yield _Kind(named, mine, None, "" if rows[0].launch.grids is None else mine[0].cuda)


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
