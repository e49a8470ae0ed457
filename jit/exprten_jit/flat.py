"""Flattened axes: several short axes of a target are taken as one row, wherever their elements lie in what is read.

A tile has up to LONG elements along the target and, where something runs on along other axes, some of these. What does not run on as the target does
is brought to scratch, in the target's order: squares are turned in registers, rows of few elements are copied as they lie, and else one element
after the other. How far from its first each element of a row lies is in a table that is made once. Then vectors run along the row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from .chain import Chain
from .derived import apply
from .dtypes import BOOL, INDEX
from .flattiles import BOTH, BOTH_BYTES, COLUMN, DEEP, LONG, LONGEST, MOST_DEEP, ROW, Tiles
from .ir import Axis, Load, Op, Value, both, index, local, negation
from .kernel import Direct, Kernel, Order, Tile
from .machine import LINE, Machine
from .nest import Nest
from .past import are_multiples, large_target
from .rewrite import eager, elements_of, steps, substitute

STRIP_BYTES = 256  # of rows that are whole lines, turned: of more the source's lines, which may all have the same place, would not stay in the second cache
DOWN = 128  # elements of a tile along a source of which some rows are read on and on
LONG_BYTES = 4096  # of rows of a tile
ROOM = 96 << 10  # bytes of scratch: folds that were computed before may have as much as `beforehand.ROOM`


def flattened(kernel: Kernel, machine: Machine) -> Nest | None:
    """The loop nest of a kernel some of whose axes are taken as one; None where scratch has no room for it."""
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    original, kernel = kernel, _exactly(kernel)
    nest = _of_numbers(kernel, machine)
    return nest and replace(nest, kernel=original)


def _exactly(kernel: Kernel) -> Kernel:
    """A kernel with numbers for the extents that it is made for."""
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    many, extents = dict(kernel.flat.exact), dict(kernel.axes)
    known: dict[Value, Value] = {extents[a]: index(n) for a, n in many.items()}
    axes = tuple((a, index(many[a]) if a in many else n) for a, n in kernel.axes)
    stores = (replace(s, offset=substitute(s.offset, known), value=substitute(s.value, known)) for s in kernel.stores)
    return replace(kernel, axes=axes, stores=tuple(stores)) if many else kernel


def _of_numbers(kernel: Kernel, machine: Machine) -> Nest | None:
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    flat, made, past = kernel.flat, _better_along_rows(kernel), _past_caches(kernel, machine)
    across = not flat.rows and _lies_across(kernel)
    line = LINE // kernel.stores[0].leaf.itemsize if flat.exact else DEEP
    deep = max(DEEP, line)  # of numbers that are known, in the caches, as many as a line has
    long, deep = LONGEST << across, deep if len(flat.rows) == 1 else MOST_DEEP
    if turned := bool(flat.rows) and any(
        steps(x, flat.rows[-1]) == 1 or x.leaf.name in flat.paired for x in _loads(kernel)
    ):
        long = LONG
    if made:
        long, deep = BOTH, BOTH if all(x.dtype.itemsize <= BOTH_BYTES // BOTH for x in made) else MOST_DEEP
    if flat.tile:
        return _tiled(kernel, machine, flat.tile, past)
    if flat.direct and (nest := _directly(kernel, machine, long, flat.direct)):
        return nest
    if past is None:
        return _nest(kernel, machine, long, None, deep, made, None)
    nest = None
    if not flat.paired and not across:
        each = min(long, STRIP_BYTES // kernel.stores[0].leaf.itemsize) if turned else long
        each = LONG if made else each
        nest = _nest(kernel, machine, long, each, deep, made, past)
    return nest or _nest(kernel, machine, long, None, deep, made, both(past, _in_lines(kernel, long)))


def _tiled(kernel: Kernel, machine: Machine, tile: Tile[Axis], past: Value | None) -> Nest | None:
    """The loop nest with tiles that are given: whole lines of rows that are stored past the caches, but for long ones, of which few are not whole."""
    if past is None or tile.as_one or tile.columns * kernel.stores[0].leaf.itemsize >= LONG_BYTES:
        return _nest(kernel, machine, tile.columns, None, tile.rows, (), past)
    return _nest(kernel, machine, tile.columns, tile.columns, tile.rows, (), past)


def _directly(kernel: Kernel, machine: Machine, long: int, direct: Direct[Axis, str]) -> Nest | None:
    """The loop nest with squares that need no scratch; None where something else is brought there, or much is computed."""
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    flat = replace(kernel.flat, rows=direct.rows, down=direct.down, within=direct.within)
    nest = _nest(replace(kernel, flat=flat), machine, long, None, DOWN, (), None, direct.order)
    return nest and replace(nest, kernel=kernel)


def _in_lines(kernel: Kernel, long: int) -> Value:
    """Whether all rows of tiles of so many elements are whole lines."""
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    store, (_, *others), extents = kernel.stores[0], kernel.flat.columns, dict(kernel.axes)
    line, inner = LINE // store.leaf.itemsize, prod((extents[a] for a in others), start=index(1))
    last = apply("bitwise_and", index(long) // inner * inner, index(line - 1))
    outer = [a for a in extents if a not in kernel.flat.columns]
    fits = both(index(long) >= inner, apply("equal", last, index(0)))
    return both(are_multiples(store.offset, outer, line), fits)


def _nest(
    kernel: Kernel,
    machine: Machine,
    long: int,
    each: int | None,
    deep: int,
    made: Sequence[Value],
    past: Value | None,
    order: Order | None = None,
) -> Nest | None:
    """The loop nest with tiles of at most so many elements along the target and along a source; None where scratch has no room. Where it is `past`,
    rows are stored past the caches: with `each` whole lines, for which more is brought, but where so many elements are such. None too where nothing can be
    turned directly, in an `order`.
    """
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    extents, flat = dict(kernel.axes), kernel.flat
    left, right, top, bottom = (local(name, INDEX) for name in ("left", "right", "top", "bottom"))
    columns = Chain(_pairs(flat.columns, extents), COLUMN, left, right, long, frozenset(flat.along))
    if each is not None and past is not None:
        columns = _with_lines(columns, kernel, each, past)
    rows = Chain(_pairs(flat.rows, extents), ROW, top, bottom, deep, frozenset(flat.down))
    if made and columns.beyond is not None and past is not None:
        rows = replace(rows, wide=apply("where", past, index(MOST_DEEP), index(deep)))
    tiles = Tiles(kernel, machine, columns, rows if flat.rows else None, made, past, order)
    if order and tiles.squares is None:
        return None
    if sum(many * leaf.dtype.itemsize for many, leaf in tiles.scratch) > ROOM:
        return None
    return Nest(kernel, tuple(tiles.loops()), offsets=tuple(x for chain in (columns, rows) for x in chain.offsets))


def _with_lines(columns: Chain, kernel: Kernel, each: int, past: Value) -> Chain:
    """The columns of tiles whose lines are stored whole: what is brought goes a line further, but where rows of `each` elements are lines. Where something is turned
    a tile has these then, and all of a short row of the target.
    """
    line, lines, most = LINE // kernel.stores[0].leaf.itemsize, _in_lines(kernel, each), index(columns.most)
    more = (columns.inner + (line - 2)) // columns.inner
    beyond = apply("where", both(past, negation(lines)), more, index(0))
    if kernel.flat and kernel.flat.tile:
        return replace(columns, wide=most, beyond=beyond, most=2 * columns.most + line)
    if columns.most < LONG:  # made
        most = apply("where", past, index(LONG), most)
    elif columns.most < LONGEST:  # turned
        most = apply("where", index(LONGEST) >= columns.total, index(LONGEST), most)
        most = apply("where", both(past, lines), index(each), most)
    whole = LONG + BOTH if columns.most < LONG else 2 * LONGEST
    return replace(columns, wide=most, beyond=beyond, most=whole + line)


def _past_caches(kernel: Kernel, machine: Machine) -> Value | None:
    """Whether the target is large; None where it is read, or cannot be stored past the caches."""
    found, (store, *more) = large_target(kernel, machine), kernel.stores
    return None if found is None or more or kernel.reverse or store.leaf.dtype is BOOL else found


def _pairs(axes: Iterable[Axis], extents: dict[Axis, Value]) -> tuple[tuple[Axis, Value], ...]:
    return tuple((a, extents[a]) for a in axes)


def _lies_across(kernel: Kernel) -> bool:
    """Whether something runs on along another axis than the target, of which some rows are turned at a time: from memory to memory whole lines past the
    caches take up to 4 times as long as all through them, where they are not those of tiles.
    """
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    flat = kernel.flat
    inner = flat.columns[-1]
    others = [x for x in _loads(kernel) if inner in x.offset.free and x.leaf.name not in flat.along]
    return any(steps(x, inner) not in (0, 1) for x in others)


def _loads(kernel: Kernel) -> list[Load]:
    return [x for x in elements_of([s.value for s in kernel.stores]) if isinstance(x, Load)]


def _better_along_rows(kernel: Kernel) -> list[Value]:
    """The largest values that are computed along rows, and turned then: several things would have to be brought for them, and all run on along rows,
    or are one for all. But nothing in them is one for a row of the innermost axis: it is computed once for that.
    """
    assert kernel.flat is not None, "a kernel with axes to be taken as one"
    flat, (*others, inner), down = kernel.flat, kernel.flat.columns, kernel.flat.rows

    def is_one(value: Value, axes: Iterable[Axis]) -> bool:
        return not any(a in value.free for a in axes)

    def runs_down(x: Load) -> bool:
        return steps(x, down[0]) == 1 if len(down) == 1 else x.leaf.name in flat.down

    def good(value: Value) -> bool:
        every = list(elements_of([value]))
        loads = [x for x in every if isinstance(x, Load)]
        foreign = [x for x in loads if not is_one(x, (*others, inner)) and x.leaf.name not in flat.along]
        return (
            len(foreign) > 1
            and all(is_one(x, down) or runs_down(x) for x in loads)
            and any(not is_one(x, down) and not is_one(x, [inner]) for x in foreign)
            and not any(isinstance(x, Op) and is_one(x, [inner]) and not is_one(x, others) for x in every)
        )

    if not flat.deep:
        return []
    stack, found = [s.value for s in kernel.stores], dict[Value, None]()
    while stack:
        node = stack.pop()
        if isinstance(node, Op) and good(node):
            found[node] = None
        elif isinstance(node, Op):
            stack.extend(reversed(eager(node)))
    return list(found)
