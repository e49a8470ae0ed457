"""Blocks of rows of few columns, folded again before the next ones are read: as many at once as a vector holds rows.

What the first fold of a block gives, and what is made of it, stays in registers for the second.
"""

from __future__ import annotations

from dataclasses import replace

from ..ir import Leaf, load
from ..nest import Let, Strip, Vector
from .llvm_accumulators import Row
from .llvm_beside import Beside
from .llvm_memory import Items, Known, Where
from .llvm_text import INDEX_TYPE, Lanes


class Blocks(Beside):
    """Emits folds of blocks."""

    def blocks_fit(self, stmt: Strip) -> bool:
        """Whether blocks of the kernel's few columns can be taken beside each other."""
        return stmt.tall > 1 and self.rows_of(_loop_of(stmt)) > 1 and all(self._in_block(s, stmt) for s in stmt.body)

    def _in_block(self, inner: object, stmt: Strip) -> bool:
        match inner:
            case Strip():
                return inner.few is not None and self.fits_beside(inner.few, _loop_of(inner), stmt.rows[0])
            case Vector():
                return self.in_lanes([s.value for s in inner.stores], inner, stmt.rows[0])
        return isinstance(inner, Let)

    def blocks_beside(self, stmt: Strip, known: Known, rows: tuple[str, str]) -> None:
        """A strip of blocks, from the first of `rows` to the second: whole ones at once, the last ones one by one."""
        node, order, loop = stmt.few, stmt.fold.order, _loop_of(stmt)
        assert node is not None and order is not None, "a strip of few columns"
        t, folds, width, many = self.text, [node], self.row_lanes, self.rows_of(loop)
        low, high = (self.value(v, known, None).name for v in (loop.low, loop.high))
        mask = self.row_mask(t.index("sub", high, low))
        where = Where(loop.axis, low, width, mask)
        splats, self.splats = self.splats, {}
        places = self._places(folds, [self._identity(folds, width)])
        count = next(s.extent for s in stmt.body if isinstance(s, Strip))

        def put(row: Row) -> None:
            self._put(folds, places, "0", row)

        def blocks(start: str, end: str) -> Row:
            full = t.let(f"icmp eq i64 {t.index('sub', end, start)}, {many}", "i1").name
            last = self.value(count, {**known, stmt.rows[0]: Lanes(t.index("sub", end, 1), INDEX_TYPE)}, None).name
            inside = t.let(f"icmp eq i64 {last}, {stmt.tall}", "i1").name
            t.either(
                t.let(f"and i1 {full}, {inside}", "i1").name,
                lambda: put(self._whole_blocks(stmt, dict(known), start, mask)),
                lambda: put(self.across(node, dict(known), where, start, end)),
            )
            return self._get(folds, places, "0", width)

        result = self.blocks(folds, replace(order, block=many), width, *rows, blocks)
        for store, x in zip(loop.stores, result, strict=True):
            self.store(store, x, known, where)
        self.splats = splats

    def _whole_blocks(self, stmt: Strip, known: Known, start: str, mask: str | None) -> Row:
        """As many whole blocks as a vector has rows, from `start` on, paired."""
        t, (row,), many, width = self.text, stmt.rows, self.rows_of(_loop_of(stmt)), self.row_lanes
        places = [Lanes(t.index("add", start, n), INDEX_TYPE) for n in range(many)]
        items = Items(row, width, mask, tuple({row: place} for place in places))
        found, made = dict(known), dict[Leaf, Lanes]()
        for inner in stmt.body:
            if isinstance(inner, Strip):
                found[inner.extent] = Lanes(str(stmt.tall), INDEX_TYPE)
                self._fold_of_blocks(inner, stmt, found, items)
            elif isinstance(inner, Vector):
                inside, begin = self.lanes_of(inner, found, items)
                for store in inner.stores:
                    made[store.leaf] = self.widened(self.value(store.value, inside, begin), begin.count)
                    found[load(store.leaf, store.offset)] = made[store.leaf]
        return self.paired(stmt.fold, [made[leaf] for leaf in stmt.into], width)

    def _fold_of_blocks(self, inner: Strip, stmt: Strip, found: Known, items: Items) -> None:
        """A fold of whole blocks, of which the last fetches what the next ones read."""
        t, node, loop, many = self.text, inner.few, _loop_of(inner), len(items.each)
        assert node is not None, "what is taken together is a fold in registers"

        def here(k: str) -> tuple[Lanes, list[Known]]:
            return Lanes(k, INDEX_TYPE), [{node.axis: Lanes(k, INDEX_TYPE)}] * many

        def following(k: str) -> list[Known]:
            places = (t.index("add", own[items.row].name, many) for own in items.each)
            return [{node.axis: Lanes(k, INDEX_TYPE), items.row: Lanes(at, INDEX_TYPE)} for at in places]

        group, _ = self.rows_abreast(node, loop, found, items, here)
        if inner is [s for s in stmt.body if isinstance(s, Strip)][-1]:  # which reads from the first cache
            group = self.fetching(node, loop, found, self.value(stmt.height, found, None).name, following, group)
        mask = self.repeated(items.mask, items.width, many)
        sums = self.in_groups(node, "0", str(stmt.tall), items.width * many, group, mask)
        for store, x in zip(loop.stores, sums, strict=True):
            found[load(store.leaf, store.offset)] = x


def _loop_of(strip: Strip) -> Vector:
    loop = strip.body[-1]
    assert isinstance(loop, Vector), "what is folded beside each other is a vector loop"
    return loop
