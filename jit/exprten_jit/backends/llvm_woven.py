"""Vectors in which rows of a few elements stand one behind the other, taken apart into columns, and put together.

Of two columns each is every other lane. An odd number of columns n has no common divisor with the lanes of a vector, so the elements of a
column stand in lanes of their own, whatever vector they are in: vectors are exchanged lane by lane, by 1, 2, 4, ... of them as each lane
needs it, and a column is in one register, in which its lanes are then put in order. That takes n times log n selections, and n shuffles.

Registers of 256 bits are two halves, and few instructions bring elements of both together: halves of rows are loaded and stored one by one there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .llvm_text import Lanes

Shuffle = Callable[[Lanes, Lanes, Sequence[int]], Lanes]


def unwoven(parts: Sequence[Lanes], shuffle: Shuffle) -> list[Lanes]:
    """The columns of rows that have as many elements as there are vectors."""
    many, count = len(parts), parts[0].count
    if many == 1:
        return list(parts)
    if many % 2 == 0:
        pairs = list(zip(parts[::2], parts[1::2], strict=True))
        halves = [unwoven([shuffle(a, b, range(first, 2 * count, 2)) for a, b in pairs], shuffle) for first in (0, 1)]
        return [x for pair in zip(*halves, strict=True) for x in pair]
    inverse = pow(count, -1, many)
    found = _turned(parts, [-lane * inverse % many for lane in range(count)], 1, shuffle)
    columns = [found[j * inverse % many] for j in range(many)]
    return [shuffle(x, x, [(many * lane + j) % count for lane in range(count)]) for j, x in enumerate(columns)]


def woven(columns: Sequence[Lanes], shuffle: Shuffle) -> list[Lanes]:
    """The vectors that have these columns."""
    many, count = len(columns), columns[0].count
    if many == 1:
        return list(columns)
    if many % 2 == 0:
        pairs = zip(woven(columns[::2], shuffle), woven(columns[1::2], shuffle), strict=True)
        mixed = [n + side * count for n in range(count) for side in (0, 1)]
        return [shuffle(a, b, mixed[first : first + count]) for a, b in pairs for first in (0, count)]
    inverse, back = pow(count, -1, many), pow(many, -1, count)
    ordered = [shuffle(x, x, [(lane - j) * back % count for lane in range(count)]) for j, x in enumerate(columns)]
    found = [ordered[u * count % many] for u in range(many)]
    return _turned(found, [-lane * inverse % many for lane in range(count)], -1, shuffle)


def crossed(parts: Sequence[Lanes], shuffle: Shuffle) -> list[Lanes]:
    """Vectors of as many elements in each half as there are vectors: element k of half h of vector n where element n of half h of vector k was. No
    element changes its half, so that each step is one instruction of processors whose registers are two halves.
    """
    found, count = list(parts), parts[0].count
    side, size = count // 2, len(parts)
    for _ in range(size.bit_length() - 1):
        pairs = list(zip(found[: size // 2], found[size // 2 :], strict=True))
        found = [
            shuffle(a, b, [h + first + k // 2 + (k % 2) * count for h in (0, side) for k in range(side)])
            for a, b in pairs
            for first in (0, side // 2)
        ]
    return found


def blocks_of(many: int, side: int) -> list[int]:
    """Where parts of so many elements begin that make up rows of `many`: the last one may begin before the one before it ends."""
    return [*range(0, many - side + 1, side), *([many - side] if many % side else [])]


def _turned(parts: Sequence[Lanes], by: Sequence[int], sign: int, shuffle: Shuffle) -> list[Lanes]:
    """Lane l of part n is that of part n + sign * by[l], counted round."""
    many, found, size = len(parts), list(parts), 1
    while size <= max(by):
        mask = [lane + len(by) * bool(n & size) for lane, n in enumerate(by)]
        found = [shuffle(x, found[(n + sign * size) % many], mask) for n, x in enumerate(found)]
        size *= 2
    return found
