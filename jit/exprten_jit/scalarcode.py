"""Arithmetic of Python numbers in machine code, for the scalars of a kernel call.

Only what is sure to be what Python computes is computed here; everything else, an overflow or a division by zero among it, goes to
the label `other`, where Python computes it, or raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .backends.llvm_text import literal
from .dtypes import DTYPES
from .methods import TYPE
from .objects import double

if TYPE_CHECKING:
    from .backends.llvm_text import Text


class Number(Protocol):
    """A number computed from arguments: `op` of `args`, which are Numbers or Python numbers; of an argument, its name."""

    kind: type
    op: str
    args: tuple[Any, ...]


class Code(Protocol):
    """What the arithmetic is written into."""

    text: Text

    def word(self, base: str, offset: int) -> str: ...
    def object(self, thing: object) -> str: ...
    def same(self, a: str, b: str) -> None: ...
    def require(self, condition: str, otherwise: str = "other") -> None: ...


EXACT = 1 << 53  # ints up to it are doubles
LOWEST, LARGEST = -(1 << 63), (1 << 63) - 1
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul"}
_INT = {"add": "sadd", "sub": "ssub", "mul": "smul"}
_FLOAT_TEST = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
_INT_TEST = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
OPERATIONS = frozenset(("argument", "neg", "pos", "abs", "truediv", "pow", *_FLOAT, *_FLOAT_TEST))

Value = tuple[str, str]  # LLVM's type, and the name or the literal


def supported(number: Any) -> bool:
    """Whether a number can be computed in machine code. A Python number is one."""
    if not hasattr(number, "op"):
        return not isinstance(number, int) or -LARGEST <= number <= LARGEST
    whole = number.op == "pow" and number.kind is int
    return number.op in OPERATIONS and not whole and (number.op == "argument" or all(map(supported, number.args)))


class Scalars:
    """The scalars of a call. Arguments are read once, and each number is computed once."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.text = code.text
        self.known: dict[int, Value] = {}
        self.given: dict[str, Value] = {}

    def argument(self, name: str, place: int, kind: type, word: str) -> None:
        """Read an argument, which is of class `kind` and of no class derived from it; as a double for word `d`, else an int."""
        t = self.text
        obj = self.code.word("%args", 8 * place)
        self.code.same(self.code.word(obj, TYPE), self.code.object(kind))
        if word == "d":
            self.given[name] = ("double", double(t, obj, kind))
            return
        overflow = t.reserve("i32")
        value = t.let(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {obj}, ptr {overflow})", "i64").name
        over = t.let(f"load i32, ptr {overflow}", "i32").name  # 0 without an exception, for an int of any kind
        self.code.require(t.let(f"icmp eq i32 {over}, 0", "i1").name)
        self._fits(value)
        self.given[name] = ("i64", value)

    def default(self, name: str, x: float | int) -> None:
        """An argument that is not given."""
        self.given[name] = literal_of(x)

    def word(self, number: Any, word: str) -> str:
        """A scalar as the kernel takes it."""
        value = self.of(number)
        if word == "d":
            return f"double {self._double(value)}"
        kind, name = value
        return f"i64 {self.text.let(f'zext i1 {name} to i64', 'i64').name}" if kind == "i1" else f"i64 {name}"

    def within(self, number: Any, low: int, high: int) -> None:
        """Require a range of an int."""
        low, high = max(low, LOWEST), min(high, LARGEST)
        _, name = self.of(number)
        t = self.text
        above = t.let(f"icmp sge i64 {name}, {low}", "i1").name
        below = t.let(f"icmp sle i64 {name}, {high}", "i1").name
        self.code.require(t.let(f"and i1 {above}, {below}", "i1").name)

    def of(self, number: Any) -> Value:
        """A number, computed."""
        if not hasattr(number, "op"):
            return literal_of(number)
        if number.op == "argument":
            return self.given[number.args[0]]
        if id(number) not in self.known:
            self.known[id(number)] = self._computed(number, [self.of(x) for x in number.args])
        return self.known[id(number)]

    def _computed(self, number: Number, args: list[Value]) -> Value:
        op = number.op
        if op in _INT_TEST:
            return "i1", self._test(op, args)
        if len(args) == 1:
            return self._sign(op, args[0])
        if op == "truediv":
            return "double", self._quotient(args)
        if op == "pow":
            return "double", self._power(*map(self._double, args))
        if number.kind is float:
            a, b = map(self._double, args)
            return "double", self.text.let(f"{_FLOAT[op]} double {a}, {b}", "double").name
        return "i64", self._exact(_INT[op], *(self._int(x) for x in args))

    def _exact(self, op: str, a: str, b: str) -> str:
        t = self.text
        name = f"@llvm.{op}.with.overflow.i64"
        t.declare(name, "{ i64, i1 }", "i64", "i64")
        both = t.let(f"call {{ i64, i1 }} {name}(i64 {a}, i64 {b})", "i64").name
        over = t.let(f"extractvalue {{ i64, i1 }} {both}, 1", "i1").name
        self.code.require(t.let(f"xor i1 {over}, true", "i1").name)
        value = t.let(f"extractvalue {{ i64, i1 }} {both}, 0", "i64").name
        self._fits(value)
        return value

    def _fits(self, value: str) -> None:
        self.code.require(self.text.let(f"icmp ne i64 {value}, {LOWEST}", "i1").name)

    def _quotient(self, args: list[Value]) -> str:
        """Python rounds a quotient of ints once: so does this where both are doubles exactly."""
        for arg in args:
            self._exactly(arg)
        t, (a, b) = self.text, map(self._double, args)
        self.code.require(t.let(f"fcmp une double {b}, 0.0", "i1").name)
        return t.let(f"fdiv double {a}, {b}", "double").name

    def _power(self, base: str, exponent: str) -> str:
        """The C library's, which is Python's; what it may report goes to Python."""
        t = self.text
        self._normal(base)
        size = t.let(f"call double @llvm.fabs.f64(double {exponent})", "double").name
        self.code.require(t.let(f"fcmp olt double {size}, 0x7FF0000000000000", "i1").name)
        t.declare("@llvm.fabs.f64", "double", "double")
        t.declare("@pow", "double", "double", "double")
        value = t.let(f"call double @pow(double {base}, double {exponent})", "double").name
        self._normal(value)
        return value

    def _normal(self, x: str) -> None:
        """Positive, and neither subnormal nor infinite."""
        t = self.text
        above = t.let(f"fcmp oge double {x}, 0x0010000000000000", "i1").name
        below = t.let(f"fcmp olt double {x}, 0x7FF0000000000000", "i1").name
        self.code.require(t.let(f"and i1 {above}, {below}", "i1").name)

    def _test(self, op: str, args: list[Value]) -> str:
        if all(kind != "double" for kind, _ in args):
            a, b = map(self._int, args)
            return self.text.let(f"icmp {_INT_TEST[op]} i64 {a}, {b}", "i1").name
        for arg in args:
            self._exactly(arg)
        a, b = map(self._double, args)
        return self.text.let(f"fcmp {_FLOAT_TEST[op]} double {a}, {b}", "i1").name

    def _sign(self, op: str, arg: Value) -> Value:
        t, (kind, name) = self.text, arg
        if op == "pos":
            return ("i64", self._int(arg)) if kind == "i1" else arg
        if kind == "double":
            t.declare("@llvm.fabs.f64", "double", "double")
            made = f"fneg double {name}" if op == "neg" else f"call double @llvm.fabs.f64(double {name})"
            return kind, t.let(made, kind).name
        x = self._int(arg)
        minus = t.let(f"sub i64 0, {x}", "i64").name
        if op == "neg":
            return "i64", minus
        negative = t.let(f"icmp slt i64 {x}, 0", "i1").name
        return "i64", t.let(f"select i1 {negative}, i64 {minus}, i64 {x}", "i64").name

    def _exactly(self, arg: Value) -> None:
        """Require that an int is a double."""
        kind, name = arg
        if kind == "i64":
            t = self.text
            low = t.let(f"icmp sge i64 {name}, {-EXACT}", "i1").name
            high = t.let(f"icmp sle i64 {name}, {EXACT}", "i1").name
            self.code.require(t.let(f"and i1 {low}, {high}", "i1").name)

    def _double(self, arg: Value) -> str:
        kind, name = arg
        if kind == "double":
            return name
        return self.text.let(f"{'uitofp' if kind == 'i1' else 'sitofp'} {kind} {name} to double", "double").name

    def _int(self, arg: Value) -> str:
        kind, name = arg
        return self.text.let(f"zext i1 {name} to i64", "i64").name if kind == "i1" else name


def literal_of(x: bool | int | float) -> Value:
    if isinstance(x, bool):
        return "i1", "true" if x else "false"
    if isinstance(x, int):
        return "i64", str(x)
    return "double", literal(x, DTYPES["float64"])
