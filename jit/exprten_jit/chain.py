"""Axes that are taken as one, of which tiles are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from .bring import Offsets
from .derived import apply
from .dtypes import INDEX
from .ir import Axis, Const, Leaf, Local, Op, Value, index, load
from .rewrite import affine, substitute


@dataclass
class Chain:
    """Axes that are taken as one, of which `index` counts the elements: of the outermost one from `start` to `end`, `most` elements in all, or as many
    as are `wide`. Of `running` leaves they follow each other. What is brought has so many indices `beyond` the end, where there are: no more than `most` elements.
    """

    axes: tuple[tuple[Axis, Value], ...]
    index: Axis
    start: Local
    end: Local
    most: int
    running: frozenset[str]
    wide: Value | None = None
    beyond: Value | None = None
    tables: dict[tuple[Value, ...], Leaf] = field(default_factory=dict)

    @property
    def inner(self) -> Value:
        return prod((extent for _, extent in self.axes[1:]), start=index(1))

    @property
    def total(self) -> Value:
        """Elements of all tiles."""
        return self.axes[0][1] * self.inner

    @property
    def each(self) -> Value:
        """Indices of the outermost axis at a time."""
        if self.wide is None:
            return index(self.most) // self.inner
        return apply("maximum", self.wide // self.inner, index(1))

    @property
    def many(self) -> Value:
        """Elements of a tile."""
        return (self.end - self.start) * self.inner

    @property
    def indices(self) -> Value:
        """Of the outermost axis, of which something is brought."""
        if self.beyond is None:
            return self.end - self.start
        return apply("minimum", self.end + self.beyond, self.axes[0][1]) - self.start

    @property
    def reach(self) -> Value:
        """Elements that are brought."""
        return self.indices * self.inner

    @property
    def between(self) -> Value:
        """Indices of the axis before the innermost of which something is brought."""
        return self.axes[-2][1] if len(self.axes) > 2 else self.indices

    @property
    def usual(self) -> int:
        """Indices of the outermost axis of a tile that nothing cuts off, where that is known: 0 where it is not."""
        extent, each = self.axes[0][1], self.each
        if not isinstance(extent, Const) or not isinstance(each, Const) or self.beyond is not None:
            return 0
        return min(int(extent.value), int(each.value))

    def moved(self, leaf: Leaf, offset: Value) -> Value:
        """An offset in terms of the index."""
        if not any(a in offset.free for a, _ in self.axes):
            return offset
        forms = [affine(offset, a) for a, _ in self.axes]
        strides = tuple(form[0] for form in forms if form is not None)
        assert len(strides) == len(self.axes), "an operand lies at regular distances"
        base = substitute(offset, {a: self.start if n == 0 else index(0) for n, (a, _) in enumerate(self.axes)})
        if len(self.axes) == 1:
            return base + self.index * strides[0]
        if leaf.name in self.running or self._follow(strides, self.axes):
            return base + self.index
        table = self.tables.setdefault(strides, Leaf(f"{self.index.name}s{len(self.tables)}", INDEX))
        return base + load(table, self.index)

    @property
    def within(self) -> Value:
        """The number of an element among those of an index of the outermost axis."""
        place: Value = index(0)
        for a, extent in self.axes[1:]:
            place = place * extent + a
        return place

    def repeats(self, offset: Value) -> bool:
        """Whether an offset is the same for all indices of the outermost axis, for which elements follow each other."""
        (first, _), *others = self.axes
        forms = [affine(offset, a) for a, _ in others]
        strides = [form[0] for form in forms if form is not None]
        return first not in offset.free and len(strides) == len(others) > 0 and self._follow(strides, others)

    @staticmethod
    def _follow(strides: Sequence[Value], axes: Sequence[tuple[Axis, Value]]) -> bool:
        """Whether elements with these strides follow each other, whatever the extents are."""
        extents = [extent for _, extent in axes]
        wanted = [prod(extents[n + 1 :], start=index(1)) for n in range(len(extents))]
        return all(_factors(s) == _factors(w) for s, w in zip(strides, wanted, strict=True))

    @property
    def offsets(self) -> list[Offsets]:
        """The tables; none without axes."""
        if not self.tables:
            return []
        each = self.each if self.beyond is None else self.each + self.beyond
        axes = ((self.axes[0][0], each), *self.axes[1:])
        return [
            Offsets(
                leaf, axes, sum((a * s for (a, _), s in zip(axes, strides, strict=True)), start=index(0)), self.most
            )
            for strides, leaf in self.tables.items()
        ]


def _factors(value: Value) -> tuple[int, Counter[Value]]:
    """What a product is made of: a number, and others."""
    if isinstance(value, Const):
        return int(value.value), Counter()
    if not isinstance(value, Op) or value.op != "multiply":
        return 1, Counter([value])
    (m, some), (n, more) = map(_factors, value.args)
    return m * n, some + more
