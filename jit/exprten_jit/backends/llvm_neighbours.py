"""Rows of few elements that are folded two neighbours at a time, before they are taken apart: the even and the odd elements of two vectors
make one, in which what they make of each other stands as the elements did. Columns are made of what is left, if there is more than one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..ir import Load, Op, Store, Value, load, local
from ..rewrite import walk
from ..unrolled import Group
from .llvm_strung import Strung
from .llvm_text import Lanes
from .llvm_where import Known, Where
from .llvm_woven import unwoven


class Neighbours(Strung):
    """Emits them."""

    def fold_neighbours(self, stores: Sequence[Store], each: Sequence[tuple[Known, Where]]) -> None:
        """What is made of neighbours in groups that `stores` read, and of nothing else, is known from now on."""
        where = each[0][1]
        roots = [store.value for store in stores]
        loads = [x for x in walk(*roots) if isinstance(x, Load) and self.in_group(x, where)]
        for group in dict.fromkeys(self.groups[x.leaf, x.offset] for x in loads):
            pairs = _pairs(roots, group)
            for known, at in each if pairs else ():
                first = load(group[0], group[1][0])
                parts = self._group_parts(first, known, at)
                parts = [self.in_register(x, group[0].dtype) for x in parts]
                for made in pairs:
                    if len(made[0].args) == 1:
                        parts = [self._made_of(made[0], x) for x in parts]
                    else:
                        parts = [self._of_two(made[0], *halves) for halves in zip(parts[::2], parts[1::2], strict=True)]
                known.update(zip(pairs[-1], self.in_order(unwoven(parts, self._shuffled), first, at), strict=True))

    def _of_two(self, like: Op, x: Lanes, y: Lanes) -> Lanes:
        """What an operation makes of neighbours."""
        return self._made_of(like, *(self._shuffled(x, y, range(first, 2 * x.count, 2)) for first in (0, 1)))

    def _made_of(self, like: Op, *given: Lanes) -> Lanes:
        names = [local(f"a{n}", arg.dtype) for n, arg in enumerate(like.args)]
        return self.value(replace(like, args=tuple(names)), dict(zip(names, given, strict=True)), None)


def _pairs(roots: Sequence[Value], group: Group) -> list[list[Op]]:
    """What is made of all elements of a group two by two, then of these, as long as nothing else needs them; and of each, what that needs."""
    used: dict[Value, list[Value | None]] = {root: [None] for root in roots}
    for node in walk(*roots):
        for child in node.children:
            used.setdefault(child, []).append(node)
    row: list[Value] = [load(group[0], at) for at in group[1]]
    found = list[list[Op]]()
    if each := _of_each(row, used):
        row = list(each)
    while len(row) % 2 == 0:
        made = [used.get(x, []) for x in row]
        firsts = [users[0] for users in made[::2] if len(users) == 1]
        every = [x for x in firsts if isinstance(x, Op)]
        if len(every) < len(row) // 2 or any(len(users) > 1 for users in made):
            break
        alike = all((x.op, x.dtype) == (every[0].op, every[0].dtype) for x in every)
        if not alike or any(
            x.args != pair for x, pair in zip(every, zip(row[::2], row[1::2], strict=True), strict=True)
        ):
            break
        found.append(every)
        row = list(every)
    return [each, *found] if found and each else found


def _of_each(row: Sequence[Value], used: Mapping[Value, Sequence[Value | None]]) -> list[Op]:
    """The type that all elements are converted to, and that nothing else needs them in; else nothing."""
    users = [used.get(x, []) for x in row]
    found = [mine[0] for mine in users if len(mine) == 1]
    made = [x for x in found if isinstance(x, Op) and x.op == "cast"]
    return made if len(made) == len(row) and len({x.dtype for x in made}) == 1 else []
