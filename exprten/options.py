"""What a statement can be told beyond its text, and what may be counted.

Options are one frozen, interned object in a context variable: read once a statement, safe across threads and tasks.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from exprten_jit.backends.room import RoomError
from exprten_jit.locks import lock

from .errors import CompileError

T = TypeVar("T")
VECTOR_BITS, LLVM_LEVELS = (128, 256, 512), (0, 1, 2, 3)
BLAS, HALF, CHECKS = ("scipy", "numpy", "own"), ("strict", "wide"), ("nan", "oracle")


@dataclass(frozen=True)
class Options:
    """`fast_math` lets `a * b + c` be rounded once, and functions be wrong by up to 4
    units of the last place. `max_recompute` bounds `plan.recompute`. `vector_bits` narrows the
    registers used (None: the processor's). `llvm_level` runs LLVM's passes at 1, 2 or 3 over the explicit vectors. `num_threads`
    bounds how many threads share a statement (None: `EXPRTEN_NUM_THREADS`, or the number of processors). `blas` says who multiplies matrices: `scipy`, `numpy` or `own`
    (None: the first there is). `half` says where float16 and bfloat16 are rounded: `strict`, every operation's result, or `wide`,
    only what is stored.
    `check` looks at what statements do: `nan` names what made the first NaN or infinity, `oracle`
    compares with the interpreter. `interpret` runs statements through the interpreter instead of machine code.
    """

    fast_math: bool = False
    max_recompute: float = 16.0
    vector_bits: int | None = None
    llvm_level: int = 0
    num_threads: int | None = None
    blas: str | None = None
    half: str = "strict"
    check: str | None = None
    interpret: bool = False

    def __post_init__(self) -> None:
        if self.vector_bits not in (None, *VECTOR_BITS):
            raise ValueError(f"options: vector_bits is {self.vector_bits!r}; it must be None, 128, 256 or 512")
        if self.llvm_level not in LLVM_LEVELS:
            raise ValueError(f"options: llvm_level is {self.llvm_level!r}; it must be 0, 1, 2 or 3")
        if self.num_threads is not None and (type(self.num_threads) is not int or self.num_threads < 1):
            raise ValueError(
                f"options: num_threads is {self.num_threads!r}; it must be None or a whole number from 1 on"
            )
        if self.blas not in (None, *BLAS):
            raise ValueError(f"options: blas is {self.blas!r}; it must be None, 'scipy', 'numpy' or 'own'")
        if self.half not in HALF:
            raise ValueError(f"options: half is {self.half!r}; it must be 'strict' or 'wide'")
        if self.check not in (None, *CHECKS):
            raise ValueError(f"options: check is {self.check!r}; it must be None, 'nan' or 'oracle'")
        if not self.max_recompute >= 1:
            raise ValueError(f"options: max_recompute is {self.max_recompute}; it must be at least 1")

    @property
    def watched(self) -> bool:
        """Whether statements are looked at, so that none is called directly."""
        return self.check is not None or self.interpret


def _flag(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


def _chosen(name: str, allowed: tuple[T, ...], otherwise: T) -> T:
    """What the environment says, of what is allowed. Raises ValueError for anything else."""
    text = os.environ.get(name)
    if not text:
        return otherwise
    found = {str(x): x for x in allowed}
    if text not in found:
        *most, last = found
        raise ValueError(f"{name} is {text!r}; it must be {', '.join(most)} or {last}")
    return found[text]


def from_environment() -> Options:
    """The options of a process. Raises ValueError for a setting that is none."""
    return Options(
        fast_math=_flag("EXPRTEN_FAST_MATH"),
        vector_bits=_chosen("EXPRTEN_VECTOR_BITS", VECTOR_BITS, None),
        llvm_level=_chosen("EXPRTEN_LLVM_LEVEL", LLVM_LEVELS, 0),
        blas=_chosen("EXPRTEN_BLAS", BLAS, None),
        half=_chosen("EXPRTEN_HALF", HALF, "strict"),
        check=_chosen("EXPRTEN_CHECK", CHECKS, None),
        interpret=_flag("EXPRTEN_INTERPRET"),
    )


DEFAULT = from_environment()
USE_CTYPES = _flag("EXPRTEN_CTYPES")  # enter kernels through ctypes, not through builtins
_interned: dict[Options, Options] = {DEFAULT: DEFAULT}
variable: ContextVar[Options] = ContextVar("exprten_options", default=DEFAULT)
_compiling: ContextVar[bool] = ContextVar("exprten_compiling", default=True)


class _Scope:
    """How many `options` blocks are open anywhere: while there are any, no statement takes the direct path."""

    __slots__ = ("open",)

    def __init__(self) -> None:
        self.open = 0


scope = _Scope()


def of_kernel(options: Options) -> Options:
    """The options that decide machine code: a bound decides only whether there is any, or who runs it, and BLAS has its own."""
    plain = replace(options, max_recompute=DEFAULT.max_recompute, num_threads=None, blas=DEFAULT.blas, check=None)
    return _interned.setdefault(plain, plain)


def current() -> Options:
    """The options in force here."""
    return variable.get()


@contextlib.contextmanager
def options(**changes: bool | int | float | str | None) -> Iterator[Options]:
    """Statements inside the block are compiled with these options. Raises TypeError for a name that is none.

    >>> with options(fast_math=True) as now:
    ...     now.fast_math
    True
    """
    names = [f.name for f in fields(Options)]
    unknown = sorted(set(changes) - set(names))
    if unknown:
        raise TypeError(f"options: there is no option {', '.join(unknown)}; there are {', '.join(names)}")
    new = replace(variable.get(), **changes)  # type: ignore[arg-type]  # the fields check themselves
    with _inside(new), watching(new.check == "nan"):
        yield variable.get()


@contextlib.contextmanager
def _inside(new: Options) -> Iterator[None]:
    token = variable.set(_interned.setdefault(new, new))
    scope.open += 1
    try:
        yield
    finally:
        scope.open -= 1
        variable.reset(token)


# What floors above put here: a block in which nodes remember the lines that made them.
trails: list[Callable[[], contextlib.AbstractContextManager[None]]] = []


@contextlib.contextmanager
def watching(nodes: bool) -> Iterator[None]:
    """Inside the block nodes remember the lines that made them, if that is asked for."""
    with contextlib.ExitStack() as stack:
        for trail in trails if nodes else ():
            stack.enter_context(trail())
        yield


@contextlib.contextmanager
def unwatched(interpret: bool) -> Iterator[None]:
    """Inside the block statements are not looked at, and may be compiled: those that looking at another one takes."""
    token = _compiling.set(True)
    try:
        with _inside(replace(variable.get(), check=None, interpret=interpret)):
            yield
    finally:
        _compiling.reset(token)


@contextlib.contextmanager
def no_compile() -> Iterator[None]:
    """Inside the block a statement without a compiled kernel raises CompileError, which says what differs from those there are."""
    token = _compiling.set(False)
    try:
        yield
    finally:
        _compiling.reset(token)


def may_compile() -> bool:
    """Whether a missing kernel may be compiled here."""
    return _compiling.get()


@contextlib.contextmanager
def in_room() -> Iterator[None]:
    """A process without room for another kernel is a CompileError."""
    try:
        yield
    except RoomError as error:
        raise CompileError(str(error)) from None


@dataclass
class Stats:
    """`compiles`: kernels made; `compile_seconds`: the time that took; `hits`: statements whose kernel was found. The direct
    path, machine code from end to end, counts nothing. `allocations`: of tensor memory. `loads`: kernels from the disk cache, which
    are no compiles; `load_seconds`: the time that took.
    """

    compiles: int = 0
    hits: int = 0
    compile_seconds: float = 0.0
    allocations: int = field(default=0)
    loads: int = 0
    load_seconds: float = 0.0


counters = Stats()
_counting = lock()


def count(seconds: float, loaded: bool) -> None:
    """Note that a kernel was compiled, or loaded."""
    with _counting:
        if loaded:
            counters.loads += 1
            counters.load_seconds += seconds
        else:
            counters.compiles += 1
            counters.compile_seconds += seconds
