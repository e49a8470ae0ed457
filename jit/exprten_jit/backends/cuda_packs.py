"""What a thread stores at its point: one element, or as many at once as 16 bytes hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..bounds import is_index
from ..grid import Grid, Loops
from ..ir import Axis, Const, Fold, Load, Store, Value
from ..rewrite import affine, steps, walk
from .cuda_rows import Rows
from .cuda_text import in_memory
from .cuda_values import Known, bare, decoded, encoded

WIDEST = 16  # bytes that a thread reads or writes at once
LONG_ROW = 8  # groups of them: what is left over at the end of such a row does not matter


class Packs(Rows):
    """Writes stores."""

    grid: Grid
    at_once: int
    looked = False  # whether the groups lie so was looked at before the loop

    def store_all(self, known: Known) -> None:
        """Everything is computed before anything is stored."""
        for line in self._computed(known):
            self.put(line)

    def _computed(self, known: Known) -> list[str]:
        found = [(s, self.value(s.value, known)) for s in self.grid.stores]
        if len(found) > 1:
            found = [(s, self.named(s.value, known)) for s, _ in found]
        return [f"{self.place(s, known)} = {bare(encoded(text, s.leaf.dtype))};" for s, text in found]

    def place(self, store: Store, known: Known) -> str:
        return f"{store.leaf.name}[{bare(self.index(store.offset, known))}]"

    # a thread's point

    def total(self, count: Value, known: Known) -> str:
        text = self.index(count, known)
        if text.isidentifier() or text.isdigit():
            return text
        name = self.name("points")
        self.put(f"const idx {name} = {bare(text)};")
        return name

    def unfolded(self, loops: Loops, point: str, known: Known) -> None:
        """The axes at a point, the last running fastest."""
        rest = point
        for n, (a, extent) in enumerate(reversed(loops), 1):
            known.indices[a] = a.name
            if n == len(loops):
                self.put(f"const idx {a.name} = {rest};")
                return
            outer, size = self.name("rest"), self.index(extent, known)
            self.put(f"const idx {outer} = (count){rest} / (count){size};")  # without signs it takes half the time
            self.put(f"const idx {a.name} = {rest} - {outer} * {size};")
            rest = outer

    # several elements at once

    def many(self) -> int:
        """How many elements along the innermost axis a thread reads and writes at once."""
        grid = self.grid
        if not grid.axes or any(isinstance(n, Fold) for s in grid.stores for n in walk(s.value)):
            return 1
        return self.many_along(grid.axes[-1][0])

    def many_along(self, innermost: Axis) -> int:
        """How many elements along an axis fill what a thread reads and writes at once."""
        if any(steps(s, innermost) != 1 or s.leaf.pairs for s in self.grid.stores):
            return 1
        leaves = [*(s.leaf for s in self.grid.stores), *(x.leaf for x in self.in_a_row(innermost))]
        return WIDEST // max(leaf.dtype.itemsize for leaf in leaves)

    def in_a_row(self, innermost: Axis) -> list[Load]:
        """The loads of elements that lie one behind the other."""
        nodes = dict.fromkeys(n for s in self.grid.stores for n in walk(s.value, into_folds=False))
        return [
            n for n in nodes
            if isinstance(n, Load) and n.when is None and steps(n, innermost) == 1 and not n.leaf.pairs and is_index(n.offset, self.plain)
        ]  # fmt: skip

    def packed(self, many: int, known: Known) -> str:
        """The name of what says whether all groups of elements lie so, in rows that are not short; nothing where each point has to look."""
        innermost, extent = self.grid.axes[-1]
        places: list[Load | Store] = [*self.in_a_row(innermost), *self.grid.stores]
        if not all(self.is_straight(x.offset) for x in places):
            return ""
        name, n = self.name("packed"), self.index(extent, known)
        rows = [] if len(self.grid.axes) == 1 else [f"({n} % {many} == 0 || {n} >= {LONG_ROW * many})"]
        self.put(f"const bool {name} = {' && '.join([*self._aligned(many, self.in_a_row(innermost), known), *rows])};")
        return name

    def is_straight(self, offset: Value) -> bool:
        """Whether an offset has one step along each axis."""
        for a, _ in reversed(self.grid.axes):
            form = affine(offset, a)
            if form is None or any(isinstance(x, Axis) for x in form[0].free):
                return False
            offset = form[1]
        return not any(isinstance(x, Axis) for x in offset.free)

    def packs(self, many: int, known: Known) -> None:
        """As many elements as are one group, at once where they lie so."""
        innermost, extent = self.grid.axes[-1]
        first = self.name("first")
        self.put(f"const idx {first} = {innermost.name}_group * {many};")
        n = self.index(extent, known)
        aligned = [] if self.looked else self._aligned(many, self.in_a_row(innermost), known)
        with self.block(f"if ({' && '.join([*aligned, f'{first} + {many} <= {n}'])})"):
            self._pack(many, innermost, first, known)
        rest = self.name("i")
        with self.block(f"else for (idx {rest} = {first}; {rest} < {n} && {rest} < {first} + {many}; ++{rest})"):
            inside = known.copy()
            inside.indices[innermost] = rest
            self.store_all(inside)

    def packs_of_row(self, innermost: Axis, n: str, number: str, known: Known) -> str:
        """Whole groups along a row by all threads of a team, `number` being a thread's. Returns how many elements that were."""
        many, whole, first = self.many_along(innermost), self.name("whole"), self.name("first")
        if many == 1:
            return "0"
        start, tests = known.copy(), dict[str, None]()
        start.indices[innermost] = "0"
        places: list[Load | Store] = [*self.in_a_row(innermost), *self.grid.stores]
        for x in places:
            at = f"(size_t)({x.leaf.name} + {self.index(x.offset, start)})"
            tests[f"{at} % {x.leaf.dtype.itemsize * many} == 0"] = None
        self.put(f"const idx {whole} = {' && '.join(tests)} ? {n} / {many} * {many} : 0;")
        team = self.grid.team
        with self.block(f"for (idx {first} = {number} * {many}; {first} < {whole}; {first} += {team * many})"):
            self._pack(many, innermost, first, known)
        self.at_once = many
        return whole

    def _pack(self, many: int, innermost: Axis, first: str, known: Known) -> None:
        """Elements from `first` on, read and stored at once."""
        loads, u, here = self.in_a_row(innermost), self.name("u"), known.copy()
        here.indices[innermost] = first
        inside = here.copy()
        packs: dict[Load, str] = {}
        for x in loads:
            packs[x] = self.name("x")
            kind = f"xt_pack<{in_memory(x.leaf.dtype)}, {many}>"
            at = f"{x.leaf.name} + {self.index(x.offset, here)}"
            self.put(f"const {kind} {packs[x]} = *({'const ' + kind}*)({at});")
        results = [self.name("r") for _ in self.grid.stores]
        for s, r in zip(self.grid.stores, results, strict=True):
            self.put(f"xt_pack<{in_memory(s.leaf.dtype)}, {many}> {r};")
        self.outside([s.value for s in self.grid.stores], lambda x: innermost not in x.free, inside)
        self.put("#pragma unroll")
        with self.block(f"for (int {u} = 0; {u} < {many}; ++{u})"):
            inside.indices[innermost] = f"({first} + {u})"
            for x, pack in packs.items():
                inside.values[x] = decoded(f"{pack}.at[{u}]", x.leaf.dtype)
            for s, r in zip(self.grid.stores, results, strict=True):
                self.put(f"{r}.at[{u}] = {bare(encoded(self.value(s.value, inside), s.leaf.dtype))};")
        for s, r in zip(self.grid.stores, results, strict=True):
            kind = f"xt_pack<{in_memory(s.leaf.dtype)}, {many}>"
            self.put(f"*({kind}*)({s.leaf.name} + {self.index(s.offset, here)}) = {r};")

    def _aligned(self, many: int, loads: Sequence[Load], known: Known) -> Iterator[str]:
        """What makes every group of elements lie at a multiple of its size."""
        return self.aligned_along(self.grid.axes[-1][0], many, [*loads, *self.grid.stores], known)

    def aligned_along(self, along: Axis, many: int, places: Sequence[Load | Store], known: Known) -> Iterator[str]:
        """What makes groups along an axis lie so, each condition once."""
        seen = set[str]()
        for x in places:
            size = x.leaf.dtype.itemsize * many
            conditions = [f"(size_t){x.leaf.name} % {size} == 0"]
            form = affine(x.offset, along)
            assert form is not None, "a row has a step"
            rest = form[1]
            for a, _ in self.grid.axes:
                form = affine(rest, a) if a is not along else None
                if form is None and a is not along:  # a quotient: at this point
                    break
                if form is not None:
                    conditions += self._multiple(form[0], many, known)
                    rest = form[1]
            conditions += self._multiple(rest, many, known)
            for c in conditions:
                if c not in seen:
                    seen.add(c)
                    yield c

    def _multiple(self, value: Value, many: int, known: Known) -> list[str]:
        if isinstance(value, Const):
            return [] if value.value % many == 0 else ["false"]
        return [f"{self.index(value, known)} % {many} == 0"]
