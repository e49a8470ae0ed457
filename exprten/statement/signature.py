"""What decides a kernel's machine code, and the sizes that go with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from exprten_jit import kernel
from exprten_jit.dtypes import DType
from exprten_jit.ir import Axis, axis, size
from exprten_jit.kernel import STORED, WHOLE, First

from ..options import Options
from .axes import Folded

SCRATCH, LATER = (
    -1,
    -2,
)  # the numbers of operands that are scratch: of all that is computed, or read, and in the order of the target
SCRATCHES = {SCRATCH: WHOLE, LATER: STORED}
FOLDED = -3  # and less: what a Reduce comes to, by its entry


@dataclass(frozen=True)
class Operand:
    """A leaf as a kernel sees it: for each of its axes a stride that is known (0, 1, -1) or an argument (None).

    In a plain statement the axes are the statement's, else the leaf's own.
    """

    name: str
    dtype: DType
    classes: tuple[int | None, ...]


Direct = kernel.Direct[int, int]  # with numbers of axes and of operands
Flat = kernel.Flat[int, int]
Tile = kernel.Tile[int]


@dataclass(frozen=True)
class Rest:
    """What is left of a statement when all folds are computed before: `first` is room for them, of `room` bytes if that is more than usual, `memory` the names of all extents in the order of
    memory. `alone` are those folds that are computed as statements of their own, and what is `left`, which comes after them, is one as well. Of the axes `pieces` some elements are computed at a time. Or all that is
    stored is computed before, as a statement of its own, into `room` of so many bytes, and copied by another, or two: `whole`, which is made for `exact` extents with these names; or
    all that is read is `brought` before by one. Of `lined` pieces the last one has a line more than it has to store. Pieces that are `alike` have as many elements each.
    What is stored before lies so many elements more apart along a `wide` axis, by the name of its extent.
    """

    memory: tuple[str, ...]
    first: First = ()
    alone: tuple[Alone, ...] = ()
    left: Alone | None = None
    pieces: tuple[int, ...] = ()
    whole: tuple[Alone, ...] = ()
    brought: bool = False
    lined: bool = False
    exact: tuple[tuple[str, int], ...] = ()
    room: int = 0
    alike: bool = False
    wide: tuple[tuple[str, int], ...] = ()

    @property
    def every(self) -> tuple[Alone, ...]:
        """All statements."""
        return (*self.alone, *((self.left,) if self.left else ()), *self.whole)


@dataclass(frozen=True)
class Alone:
    """How all folds of some axes, that read these operands, and folds `known` before, by the names of their extents, are computed before: their loops, outermost first, each by the names of the extents that are
    taken as one, and what decides how they are scheduled, with positions in `loops` for axes. So too the whole of a statement, the copy of what it came to, and what is left of
    one. Axes with extents of names that are `backwards` are walked so.
    """

    operands: tuple[int, ...]
    known: tuple[tuple[str, ...], ...]
    loops: tuple[tuple[str, ...], ...]
    ways: Ways
    backwards: tuple[str, ...] = ()

    def of_kernel(self, leaves: Sequence[str]) -> kernel.Alone:
        """The same of a kernel whose leaves have these names."""
        names = tuple(SCRATCHES[n] if n < 0 else leaves[n] for n in self.operands)
        return kernel.Alone(names, self.known, self.loops, tuple(self.ways.of_kernel(names).items()), self.backwards)


@dataclass(frozen=True, kw_only=True)
class Ways:
    """What of the layouts decides how a kernel is scheduled: fields of `exprten_jit.kernel.Kernel`, `onto` and others as the number of the axis, `within`
    with the names of extents.
    """

    short: int = 0  # most elements of the rows that are folded, where vectors take one in each lane
    packed: bool = False  # all of these have as many, and lie side by side
    keeps: bool = False  # of a target that nothing overlaps: a value may lie in it until it is stored
    shared: bool = False  # of a target that something else overlaps at other places: each element is stored once
    tiles: bool = False  # something runs on along another axis than the target; elements may be stored in any order
    runs: bool = (
        False  # rows of few columns run on, where a row or a column is broadcast; and short rows that are folded
    )
    rows: bool = False  # folds lie nearer together than the innermost axis does
    few: int = 0  # most columns that folds run across, where rows are taken whole
    low: bool = False  # and each fold takes one block of rows
    tall: bool = False  # or some do not
    near: bool = False  # and what it takes stays in the caches
    narrow: int = 0  # elements of the target's packed rows, where what is folded runs on across them
    squares: bool = False  # what lies across has a vector of elements on both axes
    inside: int | None = None  # the axis along which what lies across runs on from row to row, where these are short
    onto: int | None = None  # the axis along which the columns that folds run across run on
    down: int = 0  # rows that every fold takes, across the innermost axis
    columns: int = 0  # elements that this has, where these are written out too
    within: tuple[tuple[str, int], ...] = ()  # extents of rows that are folded inside of another fold, which are so few
    block: tuple[tuple[str, int], ...] = ()  # extents of axes that are written out, so few elements have they
    lanes: int | None = None  # the axis that vectors run along then
    first: First = ()  # room for folds that others need again, by the names of extents
    flat: Flat | None = None  # axes that are taken as one
    rest: Rest | None = None  # what is left when all folds are computed before
    cached: bool = False  # all of it stays in the caches
    halved: int = 0  # so often registers are halved
    strung: int = 0  # elements of rows that are taken as one with the axis along which they follow each other

    def of_kernel(self, leaves: Sequence[str]) -> dict[str, Any]:
        """The same as fields of a kernel whose leaves have these names."""
        found = {field.name: getattr(self, field.name) for field in fields(Ways)}
        for key in ("onto", "lanes", "inside"):
            found[key] = None if found[key] is None else axis(f"i{found[key]}")
        for key in ("within", "block"):
            found[key] = tuple((size(name), many) for name, many in found[key])
        found["flat"] = self.flat and self.flat.over(lambda k: axis(f"i{k}"), lambda n: leaves[n])
        if rest := self.rest:
            alone = tuple(each.of_kernel(leaves) for each in rest.alone)
            pieces = _axes(rest.pieces)
            whole = tuple(each.of_kernel(leaves) for each in rest.whole)
            found["rest"] = kernel.Rest(
                rest.first,
                rest.memory,
                alone,
                rest.left.of_kernel(leaves) if rest.left else None,
                pieces,
                whole,
                rest.brought,
                rest.lined,
                rest.exact,
                rest.room,
                rest.alike,
                rest.wide,
            )
        return found


def _axes(numbers: Iterable[int]) -> tuple[Axis, ...]:
    return tuple(axis(f"i{k}") for k in numbers)


# of these what holds of several statements in one pass
OF_SEVERAL = ("short", "rows", "runs", "few", "low", "tall", "near", "packed", "down", "within", "first")


@dataclass(frozen=True)
class Signature(Ways):
    """What decides a kernel's machine code; two statements with equal signatures share it."""

    op: str | None  # what combines the target with the value
    joined: int | None  # the axis along which the targets, the first `targets` operands, are one
    targets: int
    types: tuple[DType, ...]  # what both are converted to for it; without an `op`, the target's type
    structure: tuple[tuple[Any, ...], ...]
    operands: tuple[Operand, ...]
    axes: tuple[int, ...]  # the target's axes, outermost loop first; in a plain statement just numbered
    indexed: bool
    reverse: bool
    options: Options
    lead: int = 0  # axes of one element that the value has before the target's
    folded: tuple[Folded, ...] = ()  # for each Reduce
    small_sums: tuple[bool, ...] = ()  # whether it adds so few small integers that they fit twice their width
    count: int = 0  # what each number is that counts what is folded, where that is known
    device: str = "cpu"  # the kind of device
    decided: tuple[
        bool | None, ...
    ] = ()  # of a joined target: guards of Remaps that hold everywhere in a part, or nowhere


@dataclass(frozen=True)
class Arranged:
    """A signature, and the sizes that go with it: names and numbers, in the kernel's order."""

    signature: Signature
    sizes: tuple[tuple[str, int], ...]
    extents: tuple[tuple[int, ...], ...]  # of the loops, outermost first, for each target
    shifts: tuple[int, ...]  # bytes from each operand's address to the kernel's, where an axis was turned round
