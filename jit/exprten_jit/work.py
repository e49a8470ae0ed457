"""What threads may share of a loop nest, and how much there is to do in it, as index arithmetic: what decides whether they do.

The unit is half a byte moved in the second cache, which an addition on one byte costs as well. Only ratios matter: `ENOUGH` is measured.
"""

from __future__ import annotations

from collections.abc import Iterable

from .bring import Bring, Spread
from .derived import TABLE
from .ir import Component, Const, Fold, Load, Op, Value, index
from .nest import (
    ONE,
    AtOnce,
    Blocks,
    Columns,
    Fetch,
    Let,
    Loop,
    Nest,
    Past,
    Pieces,
    Reduce,
    Squares,
    Stmt,
    Strip,
    Turn,
    TurnBack,
    Vector,
)

ENOUGH = 3 << 19  # some 3 us: below it a second thread loses, even one that waits awake
GRAIN = 64  # elements of the innermost axis: whole vectors of every type, and no cache line that two threads store to
SCALAR = 8  # times what an element costs in a vector
MANY = 64  # rounds of a loop: enough to be shared evenly


Range = Loop | Vector | Pieces | Columns | Blocks  # what runs over an axis and stores


def shared(nest: Nest) -> list[Reduce | Range]:
    """The statements at the top of a nest, without what follows it, that threads may share. Where stores have an order: none."""
    if nest.kernel.reverse:
        return []
    return [s for s in nest.body if isinstance(s, Reduce | Range) and not _single(s)]


def _single(stmt: Stmt) -> bool:
    """Whether there is one element: a kernel without axes."""
    return isinstance(stmt, Vector) and stmt.axis is ONE


def work(stmts: Iterable[Stmt]) -> Value:
    """The work of statements at the top of a nest."""
    total: Value = index(0)
    for stmt in stmts:
        total = total + _work(stmt)
    return total


def _work(stmt: Stmt) -> Value:
    match stmt:
        case Let() | Past() | Fetch():
            return index(0)
        case Bring(into):
            return index(4 * into.dtype.itemsize)
        case AtOnce(body=body):
            return work(body)
        case Spread(into, value):
            return _elements([value], 1) // SCALAR + 2 * into.dtype.itemsize
        case Turn() | TurnBack():
            leaf = stmt.into if isinstance(stmt, Turn) else stmt.tile
            return index(4 * leaf.dtype.itemsize)
        case Squares(stores):
            return _elements([s.value for s in stores], stmt.lanes) + 2 * len(stores) * stores[0].leaf.dtype.itemsize
        case Blocks(_, low, high, _, _, body):
            return work(body) if low.free | high.free else (high - low) * stmt.inner * work(body)
        case Loop(_, extent, body) | Columns(_, extent, _, _, _, _, body) if stmt.low.free | extent.free:
            return work(body)  # for an element of a block, or of a piece
        case Loop(_, extent, body) | Pieces(_, extent, _, _, _, _, body) | Columns(_, extent, _, _, _, _, body):
            return extent * work(body)
        case Strip():
            return stmt.extent * work(stmt.each) + stmt.extent * work(stmt.body) // len(stmt.rows)
        case Reduce():
            return _most(stmt.extent) * (
                _elements([x for node in stmt.folds for x in node.bodies], stmt.lanes) + work(stmt.body)
            )
        case Vector():
            stored = index(sum(2 * s.leaf.dtype.itemsize for s in stmt.stores))
            one = _elements([s.value for s in stmt.stores], stmt.lanes) + stored
            return one if stmt.low.free | stmt.high.free else (stmt.high - stmt.low) * one
    raise AssertionError(f"no such statement: {type(stmt).__name__}")


def _most(extent: Value) -> Value:
    """An extent, of blocks of which the last is shorter that of the others."""
    if not extent.free:
        return extent
    assert isinstance(extent, Op) and extent.op == "minimum", "an extent that differs is the lesser of two"
    return extent.args[0]


def _elements(roots: Iterable[Value], lanes: int) -> Value:
    """The work of one element: each value once, a fold for all of its axis."""
    known, folds = 0, index(0)
    seen: set[Value] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen or not node.free or isinstance(node, Const):
            continue
        seen.add(node)
        match node:
            case Load(leaf):
                known += 2 * leaf.dtype.itemsize
            case Op(name, args, dtype):
                known += dtype.itemsize * (TABLE[name].cost if name in TABLE else 1)
                stack.extend(args)
            case Fold() if not node.extent.free:
                folds = folds + node.extent * _elements(node.bodies, lanes)
            case Component(fold):
                stack.append(fold)
            case _:
                pass
    return (index(known) + folds) * (1 if lanes > 1 else SCALAR)


def levels(stmt: Range) -> list[Range]:
    """The loops of which one may be shared: each is all there is in the one before it, or comes after some columns were saved."""
    found = [stmt]
    if isinstance(stmt, Columns) and isinstance(stmt.body[-1], Loop) and stmt.body[-1].runs and not stmt.strips:
        return [stmt, stmt.body[-1]]
    while isinstance(stmt, Loop | Blocks):
        inner = [s for s in stmt.body if not isinstance(s, Let)]
        if len(inner) != 1 or not isinstance(inner[0], Loop | Blocks | Vector):
            break
        extent = inner[0].extent if isinstance(inner[0], Loop) else inner[0].high
        if extent.free or isinstance(extent, Const):  # of a tile; of few elements that are written out
            break
        stmt = inner[0]
        found.append(stmt)
    return found
