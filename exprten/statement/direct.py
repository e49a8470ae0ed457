"""Which statements are called directly, and how machine code finds their operands.

A statement that has run a few times gets a builtin that reads addresses and scalars out of the tree by itself: no
Python between the operator and the kernel. It checks what may differ the next time - layouts, memory, overlap - and hands back
to Python whatever it was not made for. Over packed tensors of one layout it serves every shape, else the layouts it was made with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from exprten_jit.directcall import Direct, Reader, Seen, direct, slot_offsets
from exprten_jit.dtypes import DTYPES, DType

from ..expression import operators
from ..expression.expr import Apply, Expr, Iota, Scalar, Weak
from ..expression.key import Key, Operand
from ..expression.leaf import Leaf
from ..expression.product import Dot
from ..expression.reduction import Reduce
from ..expression.remap import Remap
from ..expression.shape import Layout
from ..expression.views import Written
from ..options import DEFAULT, Options
from ..storage.buffer import Buffer
from ..storage.device import DEFAULT_STREAM, cpu
from .gather import Gathered
from .grids import Launching, StreamQueue
from .signature import Arranged

MAX_OPERANDS = 64  # leaves and scalars of a directly called statement
# Runs found again before a direct call is made, and how many the statement may have then. To make one takes 10 ms and saves 20 us a
# run: the first few layouts get theirs soon, others when they have come so often that it is paid for. They are asked one after the other, in 0.1 us each.
AFTER = {2: 4, 256: 16, 512: 128}

Path = tuple[int, ...]
Word = tuple[Path, str]  # a scalar, and how it travels
Reading = tuple[Path, int, Seen]  # a leaf, the operand that it is, and how it lay
FLOAT64 = DTYPES["float64"]


@cache
def reader() -> Reader:
    """Where machine code finds the parts of a tensor, of its buffer and of its layout."""
    t = slot_offsets(Leaf(), ("layout", "buffer", "offset", "writable"))
    b = slot_offsets(Buffer(0, 0, None, cpu(), owned=False, readonly=True), ("address", "stream"))
    y = slot_offsets(Layout((), ()), ("size", "packed"))
    queue = slot_offsets(DEFAULT_STREAM, ("queue",))["queue"]
    words = slot_offsets(StreamQueue.__new__(StreamQueue), ("address",))["address"]
    of_tensor = (t["layout"], t["buffer"], t["offset"], t["writable"])
    return Reader(*of_tensor, b["address"], b["stream"], queue, words, y["size"], y["packed"])


@dataclass(frozen=True)
class _Slots:
    """Where the operands of each kind of node lie, and what else of it a kernel's sizes depend on."""

    apply: tuple[int, int, int]
    value: int  # of a Scalar
    reduce: tuple[int, int, int]
    dot: tuple[int, int]  # a and b
    remap: tuple[int, int]  # src and other
    params: int
    shape: int

    def of(self, node: Expr) -> tuple[int, ...]:
        """Where the operands of a node lie."""
        match node:
            case Remap():
                return self.remap
            case Reduce():
                return self.reduce
            case Dot():
                return self.dot
        return self.apply


@cache
def _slots() -> _Slots:
    a = slot_offsets(Apply(), ("a", "b", "c", "shape"))
    r = slot_offsets(Remap(), ("src", "other", "params"))
    value = slot_offsets(Scalar(0.0, FLOAT64), ("value",))["value"]
    f = slot_offsets(Reduce(), ("src", "second", "third"))
    folded = (f["src"], f["second"], f["third"])
    d = slot_offsets(Dot(), ("a", "b"))
    return _Slots(
        (a["a"], a["b"], a["c"]), value, folded, (d["a"], d["b"]), (r["src"], r["other"]), r["params"], a["shape"]
    )


def make(
    mode: str,
    options: Options,
    target: Leaf,
    e: Expr | Weak,
    written: Written | None,
    found: Gathered,
    operand_of: Sequence[int],
    arranged: Arranged,
    address: int,
    many: int,
    pinned: Callable[[bytes, tuple[Any, ...]], None],
    threads: int,
    grids: Launching | None,
    most: int,
) -> bool:
    """Give a statement its direct call, where there is one for it and it has fewer than `most`: whether it has one now. It is tried
    before those made earlier for the same structure, that of the tree as it was written.
    """
    plain = not found.indexed and written is None
    given = written.tree if written else e
    calls = calls_of(target.key, mode, options)
    kind = given.key if isinstance(given, Expr) else type(given)
    before, made = calls.get(kind), (options, target.key, mode, kind, grids and grids.driver)
    if arranged.signature.reverse or _made.get(made, 0) >= most:
        return False
    tree = _Tree()
    if not tree.enter(given, arranged.signature.types[-1]):
        return False
    number = {id(leaf): operand_of[n] for n, leaf in enumerate(found.leaves, 1)}
    shifts = arranged.shifts
    if written is None:
        leaves = tuple((path, number[id(leaf)], _seen(leaf, shifts[number[id(leaf)]])) for path, leaf in tree.leaves)
        scalars = tuple(tree.scalars)
    else:
        leaves, scalars = _as_written(written, tree, found, number, shifts)
    alike = (
        plain
        and target.layout.packed
        and len(arranged.sizes) == 1
        and all(leaf.layout is target.layout for leaf in found.leaves)
    )
    sizes = None if alike else tuple(n for _, n in arranged.sizes)
    equal, fixed = tuple(tree.same), tuple(tree.fixed)
    seen, queued = _seen(target, shifts[0]), grids.queued(alike) if grids is not None else None
    call = Direct(address, seen, leaves, scalars, equal, fixed, sizes, many, pinned, before, plain, threads, queued)
    operators.accelerate(_class_of_leaves(target))
    calls[kind] = direct(call, reader())
    _made[made] = _made.get(made, 0) + 1
    return True


def _as_written(
    written: Written, tree: _Tree, found: Gathered, number: Mapping[int, int], shifts: Sequence[int]
) -> tuple[tuple[Reading, ...], tuple[Word, ...]]:
    """Where the operands and scalars of a statement lie in the tree that it was made of."""
    paths: dict[int, list[Path]] = {}
    for path, leaf in tree.leaves:
        paths.setdefault(id(leaf), []).append(path)
    leaves = list[Reading]()
    for view in found.leaves:
        of, n = written.origin(view), number[id(view)]
        assert isinstance(of, Leaf), "a view is of a leaf"
        further = view.offset - of.offset + shifts[n]
        leaves += [(path, n, _seen(of, further)) for path in paths[id(of)]]
    return tuple(leaves), tuple(_scalars(written, tree.seen))


def _scalars(written: Written, places: Mapping[int, Path]) -> list[Word]:
    """The scalars of a tree in the order in which `gather` meets them, where they lie in the one that it was made of."""
    tree, done = _Tree(), set[int]()

    def walk(node: Expr) -> None:
        if not isinstance(node, Leaf) and id(node) not in done:
            done.add(id(node))
            path = places[id(written.origin(node))]
            for x, _ in tree.below(node, path):
                walk(x)
            tree.numbers(node, path)

    walk(written.made)
    return tree.scalars


def _seen(t: Leaf, shift: int) -> Seen:
    size = t.key.dtype.itemsize
    return Seen(t.layout, t.layout.size, size, t.layout.low * size, t.layout.high * size, shift)


def calls_of(key: Key, mode: str, options: Options) -> dict[Operand, Callable[[Any, Any], Any]]:
    """The direct calls of a mode by the value's key, or its class where it is a Python scalar. Under the default options they lie
    where the assignment operators look.
    """
    if options is not DEFAULT:
        return _optioned.setdefault((key, mode, id(options)), {})  # they are interned, and live for ever
    name = f"{mode}_call"
    if not hasattr(key, name):
        setattr(key, name, {})
    calls: dict[Operand, Callable[[Any, Any], Any]] = getattr(key, name)
    return calls


_optioned: dict[tuple[Key, str, int], dict[Operand, Callable[[Any, Any], Any]]] = {}
_made: dict[tuple[Any, ...], int] = {}  # direct calls of a statement


def _class_of_leaves(leaf: Leaf) -> type:
    """The class right above Leaf: what users hold."""
    return type(leaf).__mro__[type(leaf).__mro__.index(Leaf) - 1]


class _Tree:
    """Paths to the leaves and scalars of a tree, in the order in which `gather` meets them, and what else must be as it was."""

    def __init__(self) -> None:
        self.leaves: list[tuple[Path, Leaf]] = []
        self.scalars: list[Word] = []
        self.same: list[tuple[Path, Path]] = []
        self.fixed: list[tuple[Path, object]] = []
        self.seen: dict[int, Path] = {}
        self.converted = False  # a Python scalar becomes a number of another kind, which no word of a direct call does

    def enter(self, e: Expr | Weak, weak: DType) -> bool:
        """The paths of the whole value; `weak` is what a Python scalar as the whole value becomes. False for a tree that is too large,
        or a scalar that has to be range-checked, or converted.
        """
        if isinstance(e, Expr):
            if e.key.paths <= MAX_OPERANDS:
                self.walk(e, ())
            return e.key.paths <= MAX_OPERANDS and not self.converted
        self._scalar((), weak)
        return weak.kind in "fc"

    def _scalar(self, path: Path, row: DType) -> None:
        """A Python number at the end of a path: the parts of a complex one are words of their own."""
        self.scalars += [(path, word) for word in ("ri" if row.part else row.word)]

    def walk(self, node: Expr, path: Path) -> None:
        """The paths below a node. Its scalars are in range: that was checked when it was made."""
        if isinstance(node, Leaf):
            self.leaves.append((path, node))
            return
        before = self.seen.setdefault(id(node), path)
        if before != path:
            self.same.append((before, path))
            return
        slots = _slots()
        if isinstance(node, Iota | Remap):  # sizes depend on them that no leaf's layout decides
            self.fixed.append(((*path, slots.shape), node.shape))
        if isinstance(node, Remap):
            self.fixed.append(((*path, slots.params), node.params))
        for x, at in self.below(node, path):
            self.walk(x, at)
        self.numbers(node, path)

    def below(self, node: Expr, path: Path) -> list[tuple[Expr, Path]]:
        """What a node at the end of a path is computed from."""
        places = _slots().of(node)
        return [(x, (*path, slot)) for x, slot in zip(node.operands, places, strict=False) if isinstance(x, Expr)]

    def numbers(self, node: Expr, path: Path) -> None:
        """Its scalars."""
        slots = _slots()
        if isinstance(node, Scalar):
            self._scalar((*path, slots.value), node.key.dtype)
        for x, row, slot in zip(node.operands, node.key.types, slots.of(node), strict=False):
            if not isinstance(x, Expr):
                self.converted |= row.kind == "b" or (row.kind in "iu" and not isinstance(x, int))
                self._scalar((*path, slot), row)
