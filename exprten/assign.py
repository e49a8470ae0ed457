"""Assignment: the one place where something is computed.

    check the target and the value -> gather -> prove the order of the stores -> launch

A launch is a compiled kernel with the sizes it is called with. It is found by everything that is the same the next time, so a
statement in a loop does no analysis; another shape finds its kernel by the signature; a new signature is compiled.
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from exprten_jit import Code, compile_kernel
from exprten_jit.dtypes import DType
from exprten_jit.hostcall import launch_ctypes, launcher
from exprten_jit.ir import Kernel as KernelIR
from exprten_jit.ir import Load, walk

from . import direct, recompute
from .buffer import NO_MEMORY, pin
from .errors import AliasError, CompileError, FreedSpaceError, ReadOnlyError, ShapeError
from .expr import Expr, Weak, check_range, coerce
from .key import op_key
from .lower import Made, lower
from .modes import Mode, mode_error, mode_of
from .options import DEFAULT, USE_CTYPES, Options, counters, current, may_compile, of_kernel
from .overlap import injective, order, overlap_ranges, shares
from .show import tree
from .statement import Arranged, Gathered, Operand, Signature, arrange, gather

if TYPE_CHECKING:
    from .tensor import Tensor

RELEASE = 1 << 15  # elements: below it, letting the interpreter lock go (40 ns) is a sizeable part of the kernel's time
DIRECT_AFTER = 2  # runs found again before a direct call is made: it costs as much as a small kernel
MAX_LAUNCHES = 4096  # remembered statements with their shapes; beyond it the table starts afresh


@dataclass
class Launch:
    """A kernel and what it is called with besides addresses and scalars."""

    code: Code
    arranged: Arranged
    pointers: struct.Struct
    sizes: bytes
    scalars: struct.Struct
    first: tuple[int, ...]  # of each operand, the position among target and leaves
    release: bool
    recompute: float
    hits: int = 0

    def words(self, addresses: Sequence[int], scalars: Sequence[Any]) -> bytes:
        """The kernel's arguments."""
        at = [addresses[n] + shift for n, shift in zip(self.first, self.arranged.shifts, strict=True)]
        return self.pointers.pack(*at) + self.sizes + self.scalars.pack(*scalars)


@dataclass(frozen=True)
class Kernel:
    """Machine code, and what each operation of the statement became in it."""

    code: Code
    made: tuple[Made, ...]


_launches: dict[tuple[Any, ...], Launch] = {}
_kernels: dict[Signature, Kernel] = {}
_compile_lock = threading.Lock()  # LLVM compiles one module at a time


def assign(target: Tensor, req: str, value: Any) -> Tensor:
    """`target` combined with `value` as the request mode says: `write`, `inplace`, `add`, `sub`, `mul`, `div`, or `null`, which
    does nothing at all. Returns the target.

    Raises ShapeError, DTypeError, AliasError, ReadOnlyError, FreedSpaceError, CompileError; nothing has been stored then.
    """
    mode = mode_of(req)
    return target if mode.name == "null" else store(mode, target, value)


def store(mode: Mode, target: Tensor, value: Any) -> Tensor:
    """The assignment of a mode of the table."""
    prepared = prepare(mode, target, value)
    if prepared is not None:
        run(prepared)
    return target


@dataclass(frozen=True)
class Prepared:
    """A statement ready to run: its launch, and this call's addresses and scalars."""

    launch: Launch
    target: Tensor
    found: Gathered
    addresses: tuple[int, ...]


def prepare(mode: Mode, target: Tensor, value: Any) -> Prepared | None:
    """Everything but the run: checks, analysis, and a kernel. None where there is nothing to do."""
    e = coerce(value, f"assign: target {mode.symbol} value")
    _check_target(target)
    _check_shape(mode, target, e)
    types = _types(mode, target, e)
    found = gather(e, types[-1])
    if found.indexed and isinstance(e, Expr) and e.ndim > target.ndim:  # indices count from the first axis
        e = e[(0,) * (e.ndim - target.ndim)]
        found = gather(e, types[-1])
    addresses = _addresses(target, found)
    operand_of = _operands(addresses, target, found)
    if e is target and not mode.op:
        return None
    direction = _direction(mode, target, found, addresses, operand_of)
    if not target.layout.size:
        return None
    now = current()
    key = (
        mode.op, types, target.key, target.layout, tuple(found.structure), operand_of, direction, now,
        *((leaf.key, leaf.layout) for leaf in found.leaves), *found.params,
    )  # fmt: skip
    launch = _launches.get(key)
    if launch is None:
        launch = _new_launch(mode, types, target, found, operand_of, direction, now, e)
        if len(_launches) >= MAX_LAUNCHES:
            _launches.clear()
        _launches[key] = launch
    else:
        counters.hits += 1
        launch.hits += 1
        if launch.hits == DIRECT_AFTER:
            _make_direct(mode, target, e, found, operand_of, launch)
    return Prepared(launch, target, found, addresses)


def _make_direct(
    mode: Mode, target: Tensor, e: Expr | Weak, found: Gathered, operand_of: tuple[int, ...], launch: Launch
) -> None:
    """A statement that comes again and again is called without Python from now on."""
    if USE_CTYPES or launch.arranged.signature.options is not DEFAULT or not isinstance(e, Expr):
        return
    address = launch.code.address

    def pinned(words: bytes, tensors: tuple[Tensor, ...]) -> None:
        _run_pinned(address, words, tensors)

    direct.make(mode.name, target, e, found, operand_of, launch.arranged, address, RELEASE, pinned)


def run(prepared: Prepared) -> None:
    """Call the kernel."""
    launch = prepared.launch
    words = launch.words(prepared.addresses, prepared.found.scalars)
    call = launch_ctypes if USE_CTYPES else launcher()
    if not launch.release:
        call(launch.code.address, words, False)
        return
    _run_pinned(launch.code.address, words, (prepared.target, *prepared.found.leaves))


def _run_pinned(address: int, words: bytes, tensors: Sequence[Tensor]) -> None:
    """Call the kernel without the interpreter lock. The memory is pinned: nobody frees it meanwhile."""
    buffers = [t.buffer for t in tensors]
    pin(buffers, 1)
    try:
        (launch_ctypes if USE_CTYPES else launcher())(address, words, True)
    finally:
        pin(buffers, -1)


# Checks.


def _check_target(target: Tensor) -> None:
    if not hasattr(target, "buffer"):
        raise TypeError(
            f"assign: the target is a {type(target).__name__}; it must be a tensor (xt.asarray makes one of an array)"
        )
    if not target.buffer.address:
        why = "call xt.alloc_space(t) first" if target.buffer is NO_MEMORY else "it was freed; make a new handle"
        raise FreedSpaceError(f"assign: the target {_named(target)} has no memory; {why}")
    if not target.writable:
        raise ReadOnlyError(f"assign: the target {_named(target)} is read-only")
    if not injective(target.layout):
        raise AliasError(
            f"assign: elements of the target {_named(target)} share memory (strides {target.strides}), so each would be stored "
            "more than once; write into a tensor of its own"
        )


def _check_shape(mode: Mode, target: Tensor, e: Expr | Weak) -> None:
    """Raise ShapeError where the value does not broadcast to the target; leading axes of one element may be dropped."""
    if not isinstance(e, Expr) or e.shape is target.shape:
        return
    given = e.shape
    extra = max(0, len(given) - len(target.shape))
    if all(n == 1 for n in given[:extra]):
        shape = given[extra:]
        wrong = [a for a in range(-len(shape), 0) if shape[a] not in (1, target.shape[a])]
        if not wrong:
            return
        axis = len(target.shape) + wrong[-1]
        fix = f"axis {axis} must be {target.shape[axis]}{' or 1' * (target.shape[axis] != 1)}"
    else:
        fix = f"it must have at most {len(target.shape)} axes"
    raise ShapeError(
        f"assign: target {mode.symbol} value: target has shape {target.shape}, the value has shape {given}; {fix}"
    )


def _types(mode: Mode, target: Tensor, e: Expr | Weak) -> tuple[DType, ...]:
    """What target and value are converted to for the mode's operation; without one, what the value is stored as."""
    mine, value = target.key.dtype, e.key if isinstance(e, Expr) else e.__class__
    if mode.op:
        key = op_key(mode.op, (target.key, value))
        if not np.can_cast(key.dtype.numpy, mine.numpy, "same_kind"):
            raise mode_error(mode, mine.name, _type_name(e), key.dtype.name)
        types = key.types
    elif isinstance(e, Expr):
        if not np.can_cast(e.dtype, mine.numpy, "same_kind"):
            raise mode_error(mode, mine.name, e.key.dtype.name, e.key.dtype.name)
        types = (mine,)
    else:
        if mine.kind == "b" or (mine.kind in "iu" and isinstance(e, float)):
            raise mode_error(mode, mine.name, _type_name(e), _type_name(e))
        types = (mine,)
    if isinstance(e, int):
        check_range(e, types[-1], f"assign: target {mode.symbol} value")
    return types


def _type_name(e: Expr | Weak) -> str:
    return e.key.dtype.name if isinstance(e, Expr) else f"a Python {type(e).__name__}"


def _addresses(target: Tensor, found: Gathered) -> tuple[int, ...]:
    """Where target and leaves lie. Raises FreedSpaceError for a leaf without memory."""
    addresses = [target.buffer.address + target.offset]
    for leaf in found.leaves:
        address = leaf.buffer.address
        if not address:
            raise FreedSpaceError(
                f"assign: the operand {_named(leaf)} has no memory: it was freed, or never allocated (xt.alloc_space(t))"
            )
        addresses.append(address + leaf.offset)
    return tuple(addresses)


def _named(t: Tensor) -> str:
    return f"of shape {t.shape} and type {t.key.dtype}"


def _operands(addresses: tuple[int, ...], target: Tensor, found: Gathered) -> tuple[int, ...]:
    """Equal views are one operand: for the target and each leaf its number."""
    numbers: dict[tuple[Any, ...], int] = {}
    views = (target, *found.leaves)
    return tuple(
        numbers.setdefault((address, view.layout, view.key), len(numbers))
        for address, view in zip(addresses, views, strict=True)
    )


def _direction(
    mode: Mode, target: Tensor, found: Gathered, addresses: tuple[int, ...], operand_of: tuple[int, ...]
) -> str:
    """`any`, `forward` or `reverse`: the order of stores that is right although leaves overlap the target. Raises AliasError."""
    needed: dict[str, Tensor] = {}
    at, mine, size = addresses[0], target.layout, target.key.dtype.itemsize
    for n, leaf in enumerate(found.leaves, 1):
        if operand_of[n] == 0 and not found.indexed:
            continue
        theirs = leaf.key.dtype.itemsize
        if not overlap_ranges(at, mine, size, addresses[n], leaf.layout, theirs):
            continue
        if operand_of[n] == 0 or not shares(at, mine, size, addresses[n], leaf.layout, theirs):
            continue  # of an indexed statement the lowered loads decide
        way = None
        if theirs == size and not found.indexed:
            way = order(at, mine, addresses[n], leaf.layout, size)
        if way == "same":
            continue
        if way is None or mode.name == "inplace":
            raise _alias(target, leaf, mode)
        needed[way] = leaf
    if len(needed) > 1:
        raise _alias(target, needed["reverse"], mode)
    return next(iter(needed), "any")


def _alias(target: Tensor, leaf: Tensor, mode: Mode) -> AliasError:
    why = (
        "mode 'inplace' asks that every element is read where it is stored, but the"
        if mode.name == "inplace"
        else "the"
    )
    return AliasError(
        f"assign: {why} target {_named(target)} is also read at other positions, through a view of shape {leaf.shape} and "
        f"strides {leaf.strides}; write into another tensor, or copy the operand first: xt.evaluate(operand)"
    )


# Kernels.


def _new_launch(
    mode: Mode,
    types: tuple[DType, ...],
    target: Tensor,
    found: Gathered,
    operand_of: tuple[int, ...],
    direction: str,
    now: Options,
    e: Expr | Weak,
) -> Launch:
    def arranged_by(loops: tuple[int, ...] | None) -> Arranged:
        return arrange(mode, types, target, found, operand_of, direction == "reverse", of_kernel(now), loops)

    arranged = arranged_by(None)
    kernel = _kernel(arranged, mode, target, e)
    ratio = recompute.ratio(kernel.made, arranged.extents, kernel.code.kernel, found.elements)
    if ratio > now.max_recompute:
        loops = recompute.best_order(kernel.made, arranged.extents, kernel.code.kernel, found.elements)
        if loops is not None and direction == "any":  # a proved order of the stores is not to be changed
            arranged = arranged_by(loops)
            kernel = _kernel(arranged, mode, target, e)
            ratio = recompute.ratio(kernel.made, arranged.extents, kernel.code.kernel, found.elements)
    if ratio > now.max_recompute:
        worst = recompute.worst(kernel.made, arranged.extents, kernel.code.kernel, found.elements)
        raise CompileError(
            f"target {mode.symbol} {tree(e)}: {ratio:.0f} times the operations needed, most of them in "
            f"{arranged.signature.structure[worst][0].op}, which is evaluated again for every place that reads it; assign that "
            f"part to a tensor first, or raise xt.options(max_recompute=...) above {now.max_recompute:g}"
        )
    operands = arranged.signature.operands
    values = [value for _, value in arranged.sizes]
    return Launch(
        kernel.code,
        arranged,
        struct.Struct(f"={len(operands)}q"),
        struct.pack(f"={len(values)}q", *values),
        struct.Struct("=" + "".join(found.words)),
        tuple(operand_of.index(n) for n in range(len(operands))),
        target.layout.size >= RELEASE,
        ratio,
    )


def _kernel(arranged: Arranged, mode: Mode, target: Tensor, e: Expr | Weak) -> Kernel:
    """The kernel of a signature: found, or compiled."""
    signature = arranged.signature
    found = _kernels.get(signature)
    if found is not None:
        counters.hits += 1
        return found
    if not may_compile():
        raise CompileError(f"no_compile: target {mode.symbol} {tree(e)} has no kernel yet; {_difference(signature)}")
    ir, made = lower(arranged)
    _check_positions(ir, target, mode)
    with _compile_lock:
        return _kernels.get(signature) or _kernels.setdefault(signature, Kernel(_compile(ir, signature.options), made))


def _check_positions(ir: KernelIR, target: Tensor, mode: Mode) -> None:
    """Raise AliasError where the target is read anywhere but where it is stored: the index of an element decides here."""
    (stored,) = ir.stores
    for node in walk(stored.value):
        if isinstance(node, Load) and node.leaf == stored.leaf and node.offset is not stored.offset:
            raise _alias(target, target, mode)


def _compile(ir: KernelIR, now: Options) -> Code:
    start = time.perf_counter()
    code = compile_kernel(ir, now.vector_bits, now.fast_math, now.llvm_level)
    counters.compiles += 1
    counters.compile_seconds += time.perf_counter() - start
    return code


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
