"""Values of the kernel IR as CUDA C++ statements.

Indices are `idx`, 32 bits where all of them fit; as elements they are 64 bits wide, like every other element. A value that is used
once stands where it is used, while that reads well; every other has a name.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..bounds import is_index
from ..dtypes import DType
from ..ir import Axis, Component, Const, Fold, Load, Local, Op, Param, Size, Table, Value, components
from ..ops import PRIMITIVE
from ..rewrite import walk
from ..vmath.bits import FORMULAS
from .cuda_text import in_memory, in_register, literal, unsigned

LONG = 60  # characters of an expression that stands inside of another one
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


@dataclass
class Known:
    """What has been computed: the text of values as elements, and of axes and sizes as indices."""

    values: dict[Value, str] = field(default_factory=dict)
    indices: dict[Value, str] = field(default_factory=dict)

    def copy(self) -> Known:
        return Known(dict(self.values), dict(self.indices))


class Values:
    """Writes values, all but folds."""

    def __init__(self, roots: Iterable[Value]) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.names = 0
        self.plain: dict[Value, bool] = {}
        self.uses: Counter[Value] = Counter()
        for node in walk(*roots):
            self.uses.update(node.children)

    # text

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.put(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.put("}")

    def name(self, stem: str = "t") -> str:
        self.names += 1
        return f"{stem}{self.names - 1}"

    def let(self, dtype: DType, text: str) -> str:
        name = self.name()
        self.put(f"const {in_register(dtype)} {name} = {bare(text)};")
        return name

    # indices

    def index(self, root: Value, known: Known) -> str:
        """An index: of `idx`, or where data decide it, for which no bound is known, of 64 bits."""
        if not is_index(root, self.plain):
            return self.value(root, known)
        done: dict[Value, str] = {}
        for node in walk(root):
            done[node] = self._index(node, done, known)
            if len(done[node]) > LONG and self.uses[node] > 1 and node not in known.indices:
                name = self.name("k")
                self.put(f"const idx {name} = {bare(done[node])};")
                known.indices[node] = done[node] = name
        return done[root]

    def is_plain(self, value: Value) -> bool:
        """Whether a value is an index."""
        return is_index(value, self.plain)

    def _index(self, node: Value, done: dict[Value, str], known: Known) -> str:
        if node in known.indices:
            return known.indices[node]
        match node:
            case Const(value):
                return str(value) if int(value) >= 0 else f"({value})"
            case Op("floor_divide", (a, b)):
                return f"xt_floor_divide(idx({bare(done[a])}), idx({bare(done[b])}))"
            case Op("minimum" | "maximum" as name, (a, b)):
                return f"{name[:3]}(idx({bare(done[a])}), idx({bare(done[b])}))"
            case Op(name, (a, b)):
                return f"({done[a]} {_SIGNS[name]} {done[b]})"
        raise AssertionError(f"{node} is not bound")

    # elements

    def value(self, root: Value, known: Known) -> str:
        """A value, and what it needs before it."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node in known.values:
                stack.pop()
                continue
            missing = [need for need in self._needs(node) if need not in known.values]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self._node(node, known)
        return known.values[root]

    def named(self, root: Value, known: Known) -> str:
        """A value that has a name, or is one: computed here and nowhere later."""
        text = self.value(root, known)
        if not text.isidentifier():
            text = known.values[root] = self.let(root.dtype, text)
        return text

    def _needs(self, node: Value) -> tuple[Value, ...]:
        match node:
            case Load(offset=offset, when=when):
                found = [] if is_index(offset, self.plain) else [offset]
                return (*found, *([when] if when is not None else []))
            case Component(fold):
                return (fold,)
            case Fold():
                return ()
            case Op("rarely", (condition, _, common)):
                return condition, common
            case Op() if is_index(node, self.plain) or self._compares_indices(node):
                return ()
        return node.children

    def _compares_indices(self, node: Op) -> bool:
        return node.op in COMPARISONS and all(is_index(a, self.plain) for a in node.args)

    def _node(self, node: Value, known: Known) -> None:
        if isinstance(node, Fold):
            for value, text in zip(components(node), self.fold(node, known), strict=True):
                known.values[value] = text
            known.values[node] = known.values[components(node)[0]]
            return
        if isinstance(node, Op) and node.op == "rarely":
            known.values[node] = self._rarely(node, known)
            return
        text = self._text(node, known)
        simple = not isinstance(node, Op | Load) or (self.uses[node] < 2 and len(text) <= LONG)
        known.values[node] = text if simple else self.let(node.dtype, text)

    @abstractmethod
    def fold(self, node: Fold, known: Known) -> list[str]:
        """A fold that nothing has computed: its components."""

    def _text(self, node: Value, known: Known) -> str:
        values = known.values
        match node:
            case Const(value, dtype):
                return literal(value, dtype)
            case Table():
                return self._table(node)
            case Load():
                return self.loaded(node, known)
            case Op() if is_index(node, self.plain):
                return self._wide(node, known)
            case Op("cast", (a,), dtype):
                return self.cast(values[a], a.dtype, dtype)
            case Op("bits", (a,), dtype):
                held = encoded(values[a], a.dtype)
                return decoded(f"xt_bits<{in_memory(dtype)}>({bare(held)})", dtype)
            case Op(name, args) if name in FORMULAS:
                return self.value(FORMULAS[name](*args), known)
            case Op(args=args) if self._compares_indices(node):
                return PRIMITIVE[node.op].cuda["i"].format(*(self.index(a, known) for a in args))
            case Op(name, args, dtype):
                return self._op(name, args, dtype, known)
            case Axis() | Size():
                return f"(long long){known.indices[node]}"
            case Param() | Local():
                raise AssertionError(f"{node.name} is not bound")
        raise AssertionError(f"no such value: {type(node).__name__}")

    def _wide(self, node: Op, known: Known) -> str:
        """Index arithmetic as that of elements."""
        a, b = (self.value(x, known) for x in node.args)
        if node.op == "floor_divide":
            return f"xt_floor_divide({bare(a)}, {bare(b)})"
        return self._op(node.op, node.args, node.dtype, known)

    def _op(self, name: str, args: tuple[Value, ...], dtype: DType, known: Known) -> str:
        row = PRIMITIVE[name]
        column = row.cuda[args[0].dtype.kind]
        given = []
        for n, a in enumerate(args):
            several = column.count(f"{{{n}}}") > 1
            given.append(self.named(a, known) if several and not isinstance(a, Const) else known.values[a])
        last = len(args[-1].values) - 1 if isinstance(args[-1], Table) else 0
        text = column.format(*given, T=in_register(dtype), U=unsigned(args[0].dtype), N=last)
        return rounded(text, dtype) if row.rounds else text

    def _table(self, table: Table) -> str:
        """The name of a constant array."""
        name = self.name("table")
        entries = ", ".join(bare(literal(x, table.dtype)) for x in table.values)
        self.put(f"static const {in_register(table.dtype)} {name}[{len(table.values)}] = {{{entries}}};")
        return name

    def _rarely(self, node: Op, known: Known) -> str:
        """A choice whose first side is computed only where the condition holds."""
        condition, rare, common = node.args
        name = self.name()
        self.put(f"{in_register(node.dtype)} {name} = {bare(known.values[common])};")
        with self.block(f"if ({bare(known.values[condition])})"):
            inside = known.copy()
            self.put(f"{name} = {bare(self.value(rare, inside))};")
        return name

    def loaded(self, node: Load, known: Known) -> str:
        at = f"{node.leaf.name}[{bare(self.index(node.offset, known))}]"
        text = decoded(at, node.leaf.dtype)
        if node.when is None:
            return text
        zero = literal(node.dtype.python(0), node.dtype)
        return f"({known.values[node.when]} ? {text} : {zero})"

    def cast(self, text: str, source: DType, target: DType) -> str:
        """A conversion."""
        if source is target:
            return text
        if target.kind == "b":
            return f"({text} != 0)"
        to = in_register(target)
        if target.kind != "f":
            if source.kind != "f":
                return f"({to}){text}"
            least, most = (bare(literal(x, target)) for x in (target.smallest, target.largest))
            return f"xt_whole<{to}>({bare(text)}, ({to}){least}, ({to}){most})"
        if source.kind == "f" and source.computed.bits == 64 and target.rounding == "half":
            return f"xt_round_half({bare(text)})"  # once, from all of the digits
        made = text if in_register(source) == to else f"({to}){text}"
        return rounded(made, target)


_SIGNS = {"add": "+", "subtract": "-", "multiply": "*"}


def rounded(text: str, dtype: DType) -> str:
    """What was computed as a number of `dtype`."""
    return f"xt_round_{dtype.rounding}({bare(text)})" if dtype.wide else text


def decoded(text: str, dtype: DType) -> str:
    """What lies in memory, as a value: any byte but 0 is true."""
    if dtype.kind == "b":
        return f"({text} != 0)"
    return f"xt_from_{dtype.rounding}({text})" if dtype.wide else text


def encoded(text: str, dtype: DType) -> str:
    """A value as it lies in memory."""
    return f"xt_to_{dtype.rounding}({bare(text)})" if dtype.wide else text


def bare(text: str) -> str:
    """Without the parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for n, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if not depth:
            return text[1:-1] if n == len(text) - 1 else text
    return text
