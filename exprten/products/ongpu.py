"""Statements with products on a GPU: launches of cuBLAS into the target, then those of what is around the products.

What cuBLAS cannot take, or all where it is not installed, is folds.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from exprten_jit.backends.cuda_run import Queue
from exprten_jit.directcall import Queued
from exprten_jit.dtypes import DType
from exprten_jit.gemm import Calling
from exprten_jit.hostcall import keep

from ..expression.expand import expanded, folded
from ..expression.expr import Expr, cast, late
from ..expression.leaf import Leaf
from ..expression.product import Dot, dot_of
from ..gpu.driver import driver, launching
from ..modes import MODES
from ..statement.grids import Launching, refused
from ..statement.running import Launch, Statement, call
from ..statement.signature import Arranged, Signature
from ..storage.buffer import borrow
from ..storage.device import Device
from .gemms import Multiplied, at_run_time, batch_of, factors_of, gemms, looks_away
from .matrices import matrices, on_gpu
from .scaled import Scaled
from .terms import Call, Called, Prepare, Prepared, Term, Then, called_terms, calls_of, divided, places_of

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_NOWHERE = 1 << 60  # no address of anything


@dataclass(frozen=True)
class Kernel:
    """A kernel on the same memory: for each of its views the operand of the whole statement, and which scalars are its own."""

    launch: Launch
    views: tuple[int, ...]
    scalars: tuple[int, ...] = ()

    @property
    def launched(self) -> Launching:
        """What launches it."""
        assert self.launch.launched is not None, "a kernel on a GPU"
        return self.launch.launched

    def run(self, addresses: Sequence[int], scalars: Sequence[Any], queue: int) -> None:
        """Launch it."""
        call(self.launched.address, self.launch.words([addresses[n] for n in self.views], scalars), queue)


class Products:
    """Products by cuBLAS, then a kernel, entered as a kernel is: with words, addresses and scalars, and a queue. `folds` are what
    computes a product where a factor of it is 0.
    """

    def __init__(
        self,
        device: Device,
        products: Sequence[Multiplied],
        folds: Sequence[Kernel | None],
        then: Kernel | None,
        words: str,
        operands: int,
    ) -> None:
        self.driver = driver()
        self._device, self._operands, self._words = device.index, operands, struct.Struct(words)
        self._products, self._then = list(zip(products, folds, strict=True)), then
        self._workspace = max(product.term.matrices.workspace for product in products)
        self.scratch = max(self._workspace, *(x.launched.scratch for x in (*folds, then) if x is not None), 0)
        self._entry = _ENTRY(self._enter)

    @property
    def current(self) -> bool:
        """Whether the driver that this was made for is still in force."""
        return self.driver is driver()

    @property
    def address(self) -> int:
        """Of what machine code calls."""
        return ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def queued(self, alike: bool) -> Queued:
        """What machine code has to check before it calls this, which lives for ever then."""
        assert not alike, "a product reads whole rows"
        keep(self)
        return Queued(*launching(), self.driver, self.scratch, 0, 1 << 62)

    def _enter(self, words: int, queue: int) -> None:
        try:
            numbers = self._words.unpack(ctypes.string_at(words, self._words.size))
            self._launch(numbers[: self._operands], numbers[self._operands :], queue)
        except Exception as error:  # noqa: BLE001  # whoever looks at the queue raises it: machine code cannot
            refused(queue, error)

    def _launch(self, addresses: Sequence[int], scalars: Sequence[Any], queue: int) -> None:
        there = Queue.from_address(queue)
        stream, scratch = there.stream, there.scratch
        for product, fold in self._products:
            factors = factors_of(product.term, scalars)
            if fold is not None and looks_away(product.term, *factors):
                fold.run(addresses, factors[: 1 + (product.term.beta is not None)], queue)
                continue
            for gemm in gemms(product, factors, addresses):
                self.driver.gemm(self._device, stream, gemm, scratch, self._workspace)
        if self._then is not None:
            self._then.run(addresses, [scalars[n] for n in self._then.scalars], queue)


@dataclass
class Multiplying(Called):
    """A launch of `products`."""

    products: Products | None = None

    @property
    def launched(self) -> Launching | None:
        """What launches it."""
        return self.products


@dataclass
class Folded(Called):
    """Products as folds of one kernel, `then`."""

    prepare: Prepare | None = None

    direct: bool = False

    @property
    def current(self) -> bool:
        """Whether the driver that it was made for is still in force."""
        assert self.then is not None, "made with it"
        return self.then.current

    def enter(self, s: Statement) -> None:
        """Launch it."""
        statement, launch = _folds(s, self.prepare)
        launch.enter(statement)


def launched(s: Statement, prepare: Prepare) -> Called:
    """The launch of a statement with products on a GPU. `prepare` does what an assignment does with the statement that is left.
    Raises AliasError where the target shares memory with an operand of a product that could be called, here or on the CPU.
    """
    missing = driver().without_gemm()
    calls = None if s.options.blas == "own" else calls_of(s, on_gpu)
    found = None if calls is None else divided(s, calls, prepare)
    if calls is not None and found is not None and not missing:
        return _multiplying(s, calls, *found, prepare)
    likewise = calls_of(s, partial(matrices, wanted="own"))
    if likewise is not None:
        divided(s, likewise, prepare)
    statement, launch = _folds(s, prepare)
    note = f"products are folds: {missing}" if missing and found is not None else ""
    return Folded(**_launch(s), then=launch, spans=places_of(statement), prepare=prepare, note=note)


def _folds(s: Statement, prepare: Prepare | None) -> Prepared:
    assert isinstance(s.value, Expr) and prepare is not None, "a product is an expression"
    found = prepare(s.mode, s.target, expanded(s.value)[0])
    assert found is not None, "a target with elements is stored to"
    return found


def _launch(s: Statement) -> dict[str, Any]:
    """What a launch is called with: no machine code of its own, an address an operand, no sizes."""
    operands = max(s.operand_of) + 1
    signature = Signature(
        s.mode.op, None, len(s.targets), s.types, tuple(s.found.structure), (), (), indexed=True, reverse=False, options=s.options,
        device=s.target.device.kind,
    )  # fmt: skip
    return {
        "code": Calling("", 0),
        "arranged": Arranged(signature, (), (), (0,) * operands),
        "pointers": struct.Struct(f"={operands}q"),
        "sizes": b"",
        "scalars": struct.Struct("=" + "".join(s.found.words)),
        "first": tuple(s.operand_of.index(n) for n in range(operands)),
        "release": False,
        "threads": 1,
        "recompute": 1.0,
    }


def _multiplying(
    s: Statement, calls: Sequence[Call], factors: Scaled, then: Then | None, prepare: Prepare
) -> Multiplying:
    number = {id(view): n for view, n in zip((*s.targets, *s.found.leaves), s.operand_of, strict=True)}
    products: list[Multiplied] = []
    folds: list[Kernel | None] = []
    for term in called_terms(calls, factors):
        a, b = calls[term.number].operands
        products.append(Multiplied(term, (number[id(a)], number[id(b)]), *batch_of(term)))
        folds.append(_fold(s, term, (a, b), products[-1].operands, prepare) if at_run_time(term) else None)
    made = Multiplying(**_launch(s), terms=tuple(p.term for p in products))
    after = None
    if then is not None:
        views = (*then.statement.targets, *then.statement.found.leaves)
        after = Kernel(then.launch, tuple(number[id(view)] for view in views), tuple(then.scalars))
        made.then, made.spans = then.launch, places_of(then.statement)
        made.recompute = then.launch.recompute
    operands = len(made.first)
    words = f"={operands}q" + "".join(s.found.words)
    made.more = sum(p.launches - 1 for p in products)
    made.products = Products(s.target.device, products, folds, after, words, operands)
    return made


# A factor of 0.


def _fold(s: Statement, term: Term, operands: tuple[Leaf, Leaf], numbers: tuple[int, int], prepare: Prepare) -> Kernel:
    """A product with its factors, alpha and then beta, as a fold, rounded once as cuBLAS does it; it is there for every memory."""
    dot = s.found.dots[term.number]
    assert isinstance(dot, Dot) and isinstance(s.target, Leaf), "found as one"
    row = dot.key.dtype
    views = [_elsewhere(x, n) for n, x in enumerate(operands, 1)]
    a, b = (_as(x, row.computed) for x in views)
    value: Any = folded(dot_of(a, b, "dot"), {}) * 0.0
    if term.beta is not None:
        value = value + _as(s.target, row.computed) * 0.0
    found = prepare(MODES["write"], s.target, _as(value, row))
    assert found is not None, "a target with elements is stored to"
    statement, launch = found
    assert launch.grids is not None, "a kernel on a GPU"
    launch.grids.load()
    number = {id(x.buffer): n for x, n in zip((*views, s.target), (*numbers, 0), strict=True)}
    return Kernel(launch, tuple(number[id(x.buffer)] for x in (*statement.targets, *statement.found.leaves)))


def _as(x: Expr, row: DType) -> Expr:
    return x if x.key.dtype is row else cast(x, row.numpy)


def _elsewhere(x: Leaf, n: int) -> Leaf:
    """A view like this one, of memory that nothing else has: what is compiled for it takes any."""
    at = _NOWHERE + n * (_NOWHERE >> 4)
    buffer = borrow(at, x.buffer.nbytes, None, x.key.device, readonly=True, stream=x.buffer.stream)
    made: Leaf = late["handle"](x.key.dtype, buffer, 0, x.layout, False)
    return made
