"""Kernels and how they are found.

A launch is a compiled kernel with the sizes it is called with. It is found by everything that is the same the next time, so a
statement in a loop does no analysis; another shape finds its kernel by the signature; a new signature is compiled.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from exprten_jit import Code, Source, compile_kernel, kernel_without_code, source_of
from exprten_jit.derived import tier
from exprten_jit.locks import Turns

from ..errors import AliasError, CompileError
from ..expression.joined import Joined
from ..expression.leaf import Leaf
from ..expression.stores import Stores
from ..modes import Mode
from ..options import USE_CTYPES, count, counters, in_room, may_compile, of_kernel
from ..storage.buffer import Buffer
from . import cached, direct, recompute
from .arrange import arrange
from .grids import Grids
from .lower import Lowered, MovedError, lower
from .positions import Elsewhere, elsewhere, wrong
from .running import RELEASE, Launch, Statement, run_pinned
from .signature import Arranged, Operand, Signature

DIRECT_AFTER = min(direct.AFTER)  # runs found again before anything is called directly
MAX_LAUNCHES = 4096  # remembered statements with their shapes; beyond it the table starts afresh


@dataclass(frozen=True)
class Kernel:
    """Machine code, and what is known of it. Where that is from disk, its IR is built when somebody asks for it."""

    code: Code
    facts: cached.Facts

    @cached_property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """The loads whose place decides whether a statement is legal."""
        return elsewhere(self.code.kernel)


_launches: dict[tuple[Any, ...], Launch] = {}
_kernels: dict[Signature, Kernel] = {}
_turns = Turns()


def launch_of(s: Statement, make: Callable[[Statement], Launch] | None = None) -> Launch:
    """The launch of a statement: the one it had before, or a new one, which `make` makes of a statement with products."""
    key = (
        s.mode.op, s.mode.name == "inplace", s.types, tuple(s.found.structure), s.operand_of, s.direction, s.overlapping, s.options, s.value.__class__,
        len(s.targets), s.target.axis if isinstance(s.target, Joined) else None,
        *((leaf.key, leaf.layout) for leaf in (*s.targets, *s.found.leaves)), *s.found.params, *s.found.copies.items(),
    )  # fmt: skip
    launch = _launches.get(key)
    if launch is None or not launch.current:
        launch = (make or _new_launch)(s)
        if len(_launches) >= MAX_LAUNCHES:
            _launches.clear()
        _launches[key] = launch
        return launch
    counters.hits += 1
    launch.hits += 1
    if launch.direct and launch.hits in direct.AFTER:
        _make_direct(s, launch)
    return launch


def _make_direct(s: Statement, launch: Launch) -> None:
    """A statement that comes again and again is called without Python from now on."""
    if (
        USE_CTYPES
        or s.options.watched
        or isinstance(s.target, Joined)
        or isinstance(s.value, Stores)
        or (launch.launched is not None and s.direction != "any")  # one block runs it, and only where operands overlap
    ):
        return
    address = launch.address

    def enter(words: bytes, buffers: tuple[Buffer, ...]) -> None:
        run_pinned(address, words, buffers, launch.threads)

    made = direct.make(
        s.mode.name, s.options, s.target, s.value, s.written, s.found, s.operand_of, launch.arranged, address, launch.many, enter, launch.threads,
        launch.launched, direct.AFTER[launch.hits],
    )  # fmt: skip
    launch.direct = not made


def _new_launch(s: Statement) -> Launch:
    arranged = _arrange(s)
    kernel, arranged = _kernel(arranged, s)
    work = _work(kernel, arranged)
    ratio = recompute.ratio(recompute.without_folds(work), s.found.elements, s.found.copies)
    # A proved order of the stores is not to be changed, and a GPU has no loops.
    if ratio > s.options.max_recompute and s.direction == "any" and s.target.device.kind == "cpu":
        loops = recompute.best_order(work[0], bool(s.found.folds))
        if loops is not None:
            arranged = _arrange(s, loops)
            kernel, arranged = _kernel(arranged, s)
            work = _work(kernel, arranged)
            ratio = recompute.ratio(recompute.without_folds(work), s.found.elements, s.found.copies)
    if (every := recompute.ratio(work, s.found.elements, s.found.copies)) > s.options.max_recompute:
        key = arranged.signature.structure[recompute.worst(work, s.found.elements, s.found.copies)][0]
        worst = key.map.reducer if key.op == "reduce" else key.op
        raise CompileError(
            f"{s}: {every:.0f} times the operations needed, most of them in {worst}, which is evaluated again for every place "
            f"that reads it; assign that part to a tensor first, or raise xt.options(max_recompute=...) above "
            f"{s.options.max_recompute:g}"
        )
    grids = _grids(s, kernel, arranged)
    if grids is not None:
        arranged = replace(arranged, sizes=arranged.sizes + grids.sizes)
    operands = arranged.signature.operands
    values = [value for _, value in arranged.sizes]
    return Launch(
        kernel.code,
        arranged,
        struct.Struct(f"={len(operands)}q"),
        struct.pack(f"={len(values)}q", *values),
        struct.Struct("=" + "".join(s.found.words)),
        tuple(s.operand_of.index(n) for n in range(len(operands))),
        s.target.size >= RELEASE,
        (s.options.num_threads or 0) if s.direction == "any" else 1,  # a proved order of the stores is one thread's
        ratio,
        facts=kernel.facts,
        grids=grids,
    )


def _grids(s: Statement, kernel: Kernel, arranged: Arranged) -> Grids | None:
    """What a GPU runs for a statement on one."""
    device = s.target.device
    if device.kind == "cpu":
        return None
    ir = kernel.code.kernel
    overlapping = [ir.leaves[n] for n in s.overlapping]
    return Grids(ir, dict(arranged.sizes), device, s.direction, overlapping, s.options.fast_math)


def _work(kernel: Kernel, arranged: Arranged) -> list[recompute.Part]:
    sizes = dict(arranged.sizes)
    return [(rows, extents, sizes) for rows, extents in zip(kernel.facts.rows, arranged.extents, strict=True)]


def _arrange(s: Statement, loops: tuple[int, ...] | None = None) -> Arranged:
    reverse, options = s.direction == "reverse", of_kernel(s.options)
    return arrange(
        s.mode,
        s.types,
        s.target,
        s.found,
        s.operand_of,
        reverse,
        options,
        loops,
        s.direction == "any" and not s.overlapping,
    )


def _kernel(arranged: Arranged, s: Statement) -> tuple[Kernel, Arranged]:
    """The kernel of a signature, found or compiled, and the arrangement with all of its sizes."""
    signature, lowered, before = arranged.signature, None, arranged
    if signature.joined is not None:
        lowered = _lowered(arranged, s)
        signature = replace(signature, decided=lowered.decided)
        arranged = replace(arranged, signature=signature, sizes=arranged.sizes + lowered.sizes)
    found = _kernels.get(signature)
    if found is not None:
        counters.hits += 1
        _check_positions(found, arranged, s)
        return found, arranged
    with _turns.of(signature), in_room():
        kernel = _kernels.get(signature) or _loaded(signature, before)
        if kernel is None and not may_compile():
            # The kernel of what stays in the caches is right for any size, and so is the other one.
            other = replace(signature, cached=not signature.cached)
            if (kernel := _kernels.get(other)) is None:
                raise CompileError(f"no_compile: {s} has no kernel yet; {_difference(signature)}")
            counters.hits += 1
        else:
            kernel = kernel or _compiled(lowered or _lowered(before, s), signature)
            _kernels[signature] = kernel
    _check_positions(kernel, arranged, s)
    return kernel, arranged


def _lowered(arranged: Arranged, s: Statement) -> Lowered:
    try:
        return _ir(arranged)
    except MovedError as moved:
        raise _refusal(s, moved.number) from None


def _ir(arranged: Arranged) -> Lowered:
    with tier(arranged.signature.options.fast_math):
        return lower(arranged)


def _check_positions(kernel: Kernel, arranged: Arranged, s: Statement) -> None:
    """Raise AliasError where the target is read anywhere but where it is stored: the index of an element decides here."""
    facts, strict = kernel.facts, s.mode.name == "inplace"
    asked = facts.moved if strict else {*facts.moved} - {*facts.settled}
    if not {*facts.stored, *s.overlapping}.isdisjoint(asked):
        code, sizes = kernel.code, dict(arranged.sizes)
        overlapping = [code.kernel.leaves[n] for n in s.overlapping]
        read = wrong(kernel.elsewhere, code.kernel, code.nest, sizes, overlapping, strict)
        if read is not None:
            raise _refusal(s, code.kernel.leaves.index(read.load.leaf))


def _refusal(s: Statement, operand: int) -> AliasError:
    """The error for a target that is read, as an operand, where that is not right."""
    leaf = (*s.targets, *s.found.leaves)[s.operand_of.index(operand)]
    return s.value.refusal(leaf) if isinstance(s.value, Stores) else alias_error(s.mode, s.target, leaf)


def alias_error(mode: Mode, target: Leaf | Joined, leaf: Leaf) -> AliasError:
    """The error for a target that is read, through `leaf`, where no order of the stores is right."""
    why = (
        "mode 'inplace' asks that every element is read where it is stored, but the"
        if mode.name == "inplace"
        else "the"
    )
    return AliasError(
        f"assign: {why} target {target.described} is also read at other positions, through a view of shape {leaf.shape} and "
        f"strides {leaf.strides}; write into another tensor, or copy the operand first: xt.evaluate(operand)"
    )


def _compiled(ir: Lowered, signature: Signature) -> Kernel:
    now, start = signature.options, time.perf_counter()
    if now.interpret or signature.device != "cpu":  # of a GPU's, machine code is made for the sizes
        code = kernel_without_code(ir.kernel, now.vector_bits)
        facts = cached.facts_of(code.source, ir.made)
        if signature.device != "cpu":
            parts = zip(ir.made, ir.kernel.parts, strict=True)
            facts = replace(facts, rows=tuple(recompute.rows_without_loops(*part) for part in parts))
        return Kernel(code, facts)
    code = compile_kernel(ir.kernel, now.vector_bits, now.fast_math, now.llvm_level)
    count(time.perf_counter() - start, loaded=False)
    facts = cached.facts_of(code.source, ir.made)
    cached.keep(signature, code, facts)
    return Kernel(code, facts)


def _loaded(signature: Signature, arranged: Arranged) -> Kernel | None:
    """The kernel of a signature, from disk."""
    now, start = signature.options, time.perf_counter()
    if now.interpret or signature.device != "cpu":
        return None

    def rebuild() -> Source:
        return source_of(_ir(arranged).kernel, now.vector_bits, now.fast_math)

    found = cached.load(signature, rebuild)
    if found is None:
        return None
    count(time.perf_counter() - start, loaded=True)
    return Kernel(*found)


def _difference(signature: Signature) -> str:
    """How a signature differs from the nearest one that has a kernel."""
    if not _kernels:
        return "no kernel was compiled yet"
    names = [f.name for f in fields(Signature)]

    def differing(other: Signature) -> list[str]:
        return [n for n in names if getattr(signature, n) != getattr(other, n)]

    nearest = min(_kernels, key=lambda other: len(differing(other)))
    facts = [f"{n} {_shown(getattr(signature, n))} is not {_shown(getattr(nearest, n))}" for n in differing(nearest)]
    return "compared with the nearest one there is: " + "; ".join(facts)


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, Operand):
        return f"{value.dtype}[{', '.join('stride' if c is None else str(c) for c in value.classes)}]"
    return str(getattr(value, "op", value))
