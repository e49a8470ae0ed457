"""A loop nest as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .bring import Bring, Spread
from .ir import FALSE, TRUE, Store, Value
from .nest import (
    ZERO,
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
    statements,
)
from .text import Namer
from .text import show as show_value


def show(nest: Nest) -> str:
    """The loop nest on a few lines, for `plan.explain()` and golden files. What is used more than once has a name."""
    return "\n".join(map(_part, nest.every))


def _part(nest: Nest) -> str:
    lines = _Lines(Namer(*_roots(nest.body)))
    for table in nest.offsets:
        axes = ", ".join(f"{a.name} < {lines.value(n)}" for a, n in table.axes)
        lines.lines.append(f"{table.into.name} = {lines.value(table.value)} for {axes}")
    lines.put(nest.body, 0)
    return "\n".join(lines.lines) + ("\nall loops downwards" if nest.kernel.reverse else "")


def _roots(stmts: Iterable[Stmt]) -> list[Value]:
    return [value for store in _stores(stmts) for value in (store.offset, store.value)]


def _stores(stmts: Iterable[Stmt]) -> Iterator[Store]:
    for stmt in statements(stmts):
        if isinstance(stmt, Vector | Squares):
            yield from stmt.stores
        elif isinstance(stmt, Reduce):
            yield from stmt.saved


class _Lines:
    def __init__(self, namer: Namer) -> None:
        self.namer = namer
        self.lines: list[str] = []

    def put(self, stmts: Iterable[Stmt], depth: int) -> None:
        pad = "  " * depth
        for stmt in stmts:
            match stmt:
                case Let(value, early):
                    if not early:
                        self.define(value, pad)
                case Loop(axis, high, body, low):
                    span = self.span(low, high)
                    many = ", all that run on as one" if stmt.runs else ""
                    self.lines.append(f"{pad}for {axis.name} {span}{many}")
                    self.lines.extend(f"{pad}  spread {leaf.name} = {self.value(v)}" for leaf, v in stmt.spread)
                    self.put(body, depth + 1)
                case Pieces(axis, extent, _, _, known, changes, body):
                    at = ", ".join(map(self.value, changes))
                    self.lines.append(f"{pad}pieces of {axis.name} < {self.value(extent)}, cut at {at}")
                    self.lines.extend(f"{pad}  {name.name} = {self.value(v)}" for name, v in known)
                    self.put(body, depth + 1)
                case Columns(axis, extent, _, _, block, saved, body):
                    names = ", ".join(leaf.name for leaf, _ in saved)
                    many = f"{'up to ' if stmt.strips else ''}{block} at a time"
                    self.lines.append(
                        f"{pad}columns of {axis.name} {self.span(stmt.low, extent)}, {many}, into {names}"
                    )
                    self.put(body, depth + 1)
                case Blocks(axis, low, high, start, end, body):
                    span = f"{self.value(low)}..{self.value(high)}"
                    self.lines.append(
                        f"{pad}for {axis.name} in {span}, {self.value(stmt.side)} at a time from {start.name} to {end.name}"
                    )
                    self.put(body, depth + 1)
                case Turn():
                    self.turn(stmt, pad)
                case Bring():
                    self.bring(stmt, pad)
                case AtOnce():
                    self.at_once(stmt, pad, depth)
                case Spread():
                    self.spread(stmt, pad)
                case TurnBack(tile, store, row, column):
                    what = f"{store.leaf.name}[{self.value(store.offset)}]"
                    self.lines.append(f"{pad}{what} = {tile.name}, turned from {column.name} to {row.name}")
                    self.put([stmt.past] if stmt.past else [], depth + 1)
                case Squares():
                    self.squares(stmt, pad, depth)
                case Past():
                    self.past(stmt, pad)
                case Fetch(loads, when):
                    what = ", ".join(f"{x.leaf.name}[{self.value(x.offset)}]" for x in loads)
                    self.lines.append(f"{pad}where {self.value(when)}: fetch {what}")
                case Strip():
                    self.strip(stmt, pad, depth)
                case Reduce():
                    self.reduce(stmt, pad, depth)
                case Vector():
                    self.vector(stmt, pad)

    def turn(self, stmt: Turn, pad: str) -> None:
        what = f"{stmt.load.leaf.name}[{self.value(stmt.load.offset)}]"
        self.lines.append(f"{pad}{stmt.into.name} = {what}, turned from {stmt.row.name} to {stmt.column.name}")

    def spread(self, stmt: Spread, pad: str) -> None:
        each = f"one for {self.value(stmt.unit)}"
        self.lines.append(f"{pad}{stmt.into.name}[{stmt.column.name}] = {self.value(stmt.value)}, {each}")

    def at_once(self, stmt: AtOnce, pad: str, depth: int) -> None:
        where = f", where there are {stmt.bring.usual}," * (stmt.bring.usual > 0)
        self.lines.append(f"{pad}in registers{where} or else by scratch")
        self.put(stmt.body, depth + 1)

    def span(self, low: Value, high: Value) -> str:
        """From where to where a loop runs."""
        return f"< {self.value(high)}" if low is ZERO else f"in {self.value(low)}..{self.value(high)}"

    def past(self, stmt: Past, pad: str) -> None:
        store, stage = stmt.store, stmt.stage.name
        what = f"{stmt.goal.name} is {stage}, {store.leaf.name}[{self.value(store.offset)}] = {stage}"
        self.lines.append(f"{pad}where {self.value(stmt.when)}: {what}, whole lines along {stmt.along.name}")
        if stmt.joined is not FALSE:
            self.lines.append(f"{pad}where {self.value(stmt.joined)}: all rows of a tile as one")

    def strip(self, stmt: Strip, pad: str, depth: int) -> None:
        order = stmt.fold.order
        assert order is not None, "a scheduled fold has an order"
        steps = f"{order.lanes} rows at a time, blocks of {order.block}"
        names = ", ".join(leaf.name for leaf in stmt.into)
        self.lines.append(
            f"{pad}strip {stmt.axis.name} < {self.value(stmt.extent)}, {steps}, {stmt.fold.reducer} into {names}"
        )
        inside = (*stmt.each, *stmt.body)
        strip = _Lines(Namer(*_roots(inside)))  # its scratch holds other values than below
        strip.put(inside, depth + 1)
        self.lines += strip.lines

    def reduce(self, stmt: Reduce, pad: str, depth: int) -> None:
        steps = f" by {stmt.lanes}, {'a masked tail' if stmt.masked else 'a scalar tail'}" if stmt.lanes > 1 else ""
        steps += f", {stmt.steps} steps a turn" if stmt.steps > 1 else ""
        order = stmt.folds[0].order
        assert order is not None, "a scheduled fold has an order"
        self.lines.append(
            f"{pad}fold {stmt.axis.name} < {self.value(stmt.extent)}{steps}, {order.lanes} sums, blocks of {order.block}"
        )
        self.put(stmt.body, depth + 1)
        for store in stmt.saved:
            self.lines.extend(f"{pad}  {line}" for line in self.namer.lines(store.value, whole=True))
            self.lines.append(f"{pad}  {store.leaf.name}[{self.value(store.offset)}] = {self.value(store.value)}")
        for node in stmt.folds:
            for body in node.bodies:
                self.lines.extend(f"{pad}  {line}" for line in self.namer.lines(body))
            text = ", ".join(map(self.value, node.bodies))
            self.lines.append(f"{pad}  {self.namer.give(node)} = {node.reducer}({text})")

    def vector(self, stmt: Vector, pad: str) -> None:
        tail = "a masked tail" if stmt.masked else "a scalar tail"
        many = (
            f"{stmt.lanes}, {'the last before the end' if stmt.whole else 'all masked'}"
            if stmt.short
            else f"{stmt.lanes} x {stmt.unroll}{' woven' * stmt.woven}, {tail}"
        )
        steps = f" by {many}" if stmt.lanes > 1 else ""
        steps += f", rows of {stmt.strung} strung together" if stmt.strung else ""
        if stmt.lines:
            steps += f", whole lines from tile to tile, of {self.value(stmt.lines[1])}"
        self.lines.append(f"{pad}for {stmt.axis.name} in {self.value(stmt.low)}..{self.value(stmt.high)}{steps}")
        for store in stmt.stores:
            shared = self.namer.lines(store.value, whole=True)
            self.lines.extend(f"{pad}  {line}" for line in shared)
            self.lines.append(f"{pad}  {store.leaf.name}[{self.value(store.offset)}] = {self.value(store.value)}")

    def squares(self, stmt: Squares, pad: str, depth: int) -> None:
        abreast = f", {stmt.abreast} abreast," * (stmt.abreast > 1)
        how = ", down the source" if stmt.down is TRUE else ", by halves" if stmt.halved is TRUE else ""
        self.lines.append(
            f"{pad}squares of {stmt.lanes} x {stmt.lanes}{abreast} in {self.value(stmt.top)}..{self.value(stmt.bottom)}, {self.value(stmt.left)}..{self.value(stmt.right)}{how}"
        )
        for into, source in stmt.turned:
            what = f"{source.leaf.name}[{self.value(source.offset)}]"
            self.lines.append(f"{pad}  {into.leaf.name} = {what}, turned from {stmt.row.name} to {stmt.column.name}")
        turned = f", turned from {stmt.column.name} to {stmt.row.name}" if stmt.across else ""
        for store in stmt.stores:
            self.lines.extend(f"{pad}  {line}" for line in self.namer.lines(store.value, whole=True))
            self.lines.append(
                f"{pad}  {store.leaf.name}[{self.value(store.offset)}] = {self.value(store.value)}{turned}"
            )
        self.put([stmt.past] if stmt.past else [], depth + 1)

    def bring(self, stmt: Bring, pad: str) -> None:
        how = ""
        if stmt.turned:
            how = f", turned from {stmt.row.name} to {stmt.column.name}{f', {stmt.each} at a time' * (stmt.each > 1)}"
        elif stmt.between is not None:
            how = f", turned, {self.value(stmt.unit)} by {self.value(stmt.between)}" if stmt.unit is not None else ""
            how += ", from the last" * stmt.back
        elif stmt.unit is not None:
            how = f", {self.value(stmt.unit)} at a time{', from the last' if stmt.back else ''}"
        if stmt.when is not TRUE:
            how += ", for all tiles"
        what = f"{stmt.load.leaf.name}[{self.value(stmt.load.offset)}]"
        self.lines.append(f"{pad}{stmt.into.name}[{self.value(stmt.place)}] = {what}{how}")

    def define(self, value: Value, pad: str) -> None:
        self.lines.extend(f"{pad}let {line}" for line in self.namer.lines(value))
        text = self.value(value)
        self.lines.append(f"{pad}let {self.namer.give(value)} = {text}")

    def value(self, value: Value) -> str:
        return show_value(value, self.namer.names)
