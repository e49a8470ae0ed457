"""The body of a scalar function as terms.

Statements are followed once. An `if` makes both branches, and a `where` of what they leave behind: of every local that they set
differently, and of what they return.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from exprten_jit.derived import TABLE

from ..functions import FUNCTIONS, power
from .source import Source, contents
from .terms import PLAIN, Call, Defined, Definition, Number, Operand, Term, bind, computed, is_truth, substitute

MAX_OPERANDS = 3  # of a node; mshadow's F takes three too

_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
_PYTHON = {bool, int, float, complex}  # numbers that a body may hold
_UNARY: dict[type[ast.AST], str] = {
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "invert",
    ast.Not: "logical_not",
}
_COMPARE: dict[type[ast.AST], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip

# What a body may call, by identity: rows of the table. NumPy and math have given two of the names to something else.
_OURS: dict[int, str] = {id(function): name for name, function in FUNCTIONS.items()} | {id(power): "power"}
_THEIRS: dict[int, str] = {
    **{id(getattr(np, n)): n for n in set(_OURS.values()) - {"identity"} if hasattr(np, n)},
    **{id(getattr(math, n)): n for n in set(_OURS.values()) - {"remainder"} if hasattr(math, n)},
    id(math.pow): "power", id(pow): "power", id(abs): "absolute",
}  # fmt: skip
_OF_TWO_AND_MORE = {id(max): "maximum", id(min): "minimum"}

# What a body may not hold, and what to do.
_NO_LOOP = "an operation has no loops; write the steps out"
_OUTSIDE = "an operation holds no functions and classes; decorate a function of its own with @xt.op, and call it"
_REFUSED: dict[type[ast.AST], str] = {
    **dict.fromkeys(
        (ast.For, ast.While, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _NO_LOOP
    ),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda), _OUTSIDE),
    **dict.fromkeys((ast.Raise, ast.Try, ast.Assert), "an operation raises nothing; return a number, NaN for none"),
    **dict.fromkeys((ast.Yield, ast.YieldFrom, ast.Await), "an operation returns one number"),
    **dict.fromkeys((ast.Global, ast.Nonlocal), "an operation sets its own locals only"),
    ast.NamedExpr: "assign in a statement of its own",
    ast.Subscript: "an operation sees one element of each operand",
}
_ELSE_REFUSED = "an operation is made of assignments, `if` and `return`, of numbers"

FALSE, TRUE = Number(False), Number(True)


@dataclass(frozen=True)
class Returns:
    """Which of `count` numbers that a function returns is meant, and how many operands it must have, where that is known."""

    part: int = 0
    count: int = 1
    operands: int | None = None


ONE_NUMBER = Returns()


def definition(function: FunctionType, returns: Returns = ONE_NUMBER) -> Definition:
    """What the source of `function` says. Raises CompileError, with file, line and column, for what no operation can be."""
    return _Body(function, returns).definition()


@dataclass
class _Flow:
    """After some statements: the locals (None: not set on every path), under which condition a path has returned, and what."""

    local: dict[str, Term | None]
    returned: Term = FALSE
    value: Term | None = None


class _Body:
    def __init__(self, function: FunctionType, returns: Returns) -> None:
        self.function = function
        self.returns = returns
        self.source = Source(function)
        self.free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self.python = True

    # the function

    def definition(self) -> Definition:
        parameters = self._parameters()
        flow = self._block(self.source.tree.body, {name: Operand(k) for k, name in enumerate(parameters)})
        if flow.returned is not TRUE:
            raise self.source.refusal(
                self.source.tree.body[-1], "a path ends here without `return`; an operation has a value for everything"
            )
        assert flow.value is not None
        return Definition(self.source.name, parameters, self.function.__defaults__ or (), flow.value, self.python)

    def _parameters(self) -> tuple[str, ...]:
        given = self.source.tree.args
        for extra in (given.vararg, given.kwarg, *given.kwonlyargs):
            if extra is not None:
                raise self.source.refusal(extra, "the operands of an operation are plain parameters")
        names = tuple(a.arg for a in (*given.posonlyargs, *given.args))
        wanted = self.returns.operands
        if wanted is not None and len(names) != wanted:
            raise self.source.refusal(
                self.source.tree,
                f"it has {len(names)} parameters, not {wanted}: the accumulators of one side, then those of the other",
            )
        if wanted is None and not 1 <= len(names) <= MAX_OPERANDS:
            raise self.source.refusal(
                self.source.tree, f"an operation has 1 to {MAX_OPERANDS} operands, not {len(names)}"
            )
        for node, value in zip(given.defaults, self.function.__defaults__ or (), strict=True):
            if not isinstance(value, PLAIN):
                raise self.source.refusal(node, f"a default is a number, not a {type(value).__name__}")
        return names

    # statements

    def _block(self, statements: Sequence[ast.stmt], local: dict[str, Term | None]) -> _Flow:
        flow = _Flow(local)
        for statement in statements:
            flow = self._then(flow, self._statement(statement, flow.local), statement)
        return flow

    def _then(self, flow: _Flow, step: _Flow, node: ast.AST) -> _Flow:
        """`step` after `flow`: what `flow` has returned stays."""
        if flow.value is None:
            return step
        if flow.returned is TRUE or step.value is None:
            return _Flow(step.local, flow.returned, flow.value)
        value = self._where(flow.returned, flow.value, step.value, node)
        ended = TRUE if step.returned is TRUE else self._either(flow.returned, step.returned, node)
        return _Flow(step.local, ended, value)

    def _statement(self, node: ast.stmt, local: dict[str, Term | None]) -> _Flow:
        match node:
            case ast.Return(value=None):
                raise self.source.refusal(node, "an operation returns a number")
            case ast.Return(value=value):
                assert value is not None
                return _Flow(local, TRUE, self._term(self._returned(value), local))
            case ast.If(test, body, orelse):
                return self._if(
                    node, self._term(test, local), self._block(body, {**local}), self._block(orelse, {**local})
                )
            case ast.Assign(targets, value):
                return _Flow(self._assigned(targets, value, local))
            case ast.AnnAssign(target, _, value):
                return _Flow(self._assigned([target], value, local) if value is not None else local)
            case ast.AugAssign(ast.Name(name) as target, operator, value):
                left, right = self._local(target, local), self._term(value, local)
                return _Flow(local | {name: self._binary(node, operator, left, right)})
            case ast.Pass() | ast.Expr(ast.Constant(str())):
                return _Flow(local)
            case ast.Expr(value):
                raise self.source.refusal(
                    node, _REFUSED.get(type(value), "an expression that is not assigned does nothing")
                )
        raise self.source.refusal(node, _REFUSED.get(type(node), _ELSE_REFUSED))

    def _returned(self, value: ast.expr) -> ast.expr:
        """The number that is meant, of those that a path returns."""
        count = self.returns.count
        given = value.elts if isinstance(value, ast.Tuple) else [value]
        if count > 1 and len(given) != count:
            raise self.source.refusal(value, f"there are {count} accumulators; return a number for each, (a, b)")
        return given[self.returns.part] if count > 1 else value

    def _assigned(
        self, targets: Sequence[ast.expr], value: ast.expr, local: dict[str, Term | None]
    ) -> dict[str, Term | None]:
        several = isinstance(value, ast.Tuple)
        terms = [self._term(v, local) for v in (value.elts if isinstance(value, ast.Tuple) else [value])]
        local = {**local}
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            if several != isinstance(target, ast.Tuple) or len(names) != len(terms):
                raise self.source.refusal(target, "assign to as many names as there are numbers")
            for name, term in zip(names, terms, strict=True):
                if not isinstance(name, ast.Name):
                    raise self.source.refusal(name, "an operation sets its own locals only")
                local[name.id] = term
        return local

    def _if(self, node: ast.If, condition: Term, then: _Flow, other: _Flow) -> _Flow:
        if isinstance(condition, Number):
            return then if condition.value else other
        if then.returned is TRUE or other.returned is TRUE:
            local = other.local if then.returned is TRUE else then.local
        else:
            names = {**then.local, **other.local}
            local = {n: self._merged(condition, then.local.get(n), other.local.get(n), node) for n in names}
        if then.value is None or other.value is None:
            value = then.value or other.value
        else:
            value = self._where(condition, then.value, other.value, node)
        return _Flow(local, self._chosen(condition, then.returned, other.returned, node), value)

    def _merged(self, condition: Term, a: Term | None, b: Term | None, node: ast.AST) -> Term | None:
        return None if a is None or b is None else self._where(condition, a, b, node)

    def _chosen(self, condition: Term, a: Term, b: Term, node: ast.AST) -> Term:
        """`a if condition else b` of conditions."""
        if a is TRUE and b is FALSE:
            return condition
        return self._not(condition, node) if a is FALSE and b is TRUE else self._where(condition, a, b, node)

    # expressions

    def _term(self, node: ast.expr, local: dict[str, Term | None]) -> Term:
        match node:
            case ast.Constant(value) if type(value) in _PYTHON:
                return Number(value)
            case ast.Name(name) if name in local or name in self.function.__code__.co_varnames:
                return self._local(node, local)
            case ast.Name() | ast.Attribute():
                value = self._named(node)
                if not isinstance(value, PLAIN):
                    raise self.source.refusal(node, f"this is a {type(value).__name__}; an operation captures numbers")
                return Number(value)
            case ast.BinOp(left, operator, right):
                return self._binary(node, operator, self._term(left, local), self._term(right, local))
            case ast.UnaryOp(ast.Not(), operand):
                return self._not(self._term(operand, local), node)
            case ast.UnaryOp(operator, operand):
                return self._call(_UNARY[type(operator)], [self._term(operand, local)], node)
            case ast.BoolOp(operator, values):
                join = self._both if isinstance(operator, ast.And) else self._either
                total, *rest = (self._term(v, local) for v in values)
                for term in rest:
                    total = join(total, term, node)
                return total
            case ast.Compare():
                return self._comparison(node, local)
            case ast.IfExp(test, body, orelse):
                condition, a, b = (self._term(n, local) for n in (test, body, orelse))
                return self._where(condition, a, b, node)
            case ast.Call():
                return self._called(node, local)
            case ast.Constant(value):
                raise self.source.refusal(node, f"a {type(value).__name__} is no number of an operation")
        raise self.source.refusal(node, _REFUSED.get(type(node), _ELSE_REFUSED))

    def _local(self, node: ast.Name, local: dict[str, Term | None]) -> Term:
        found = local.get(node.id)
        if found is None:
            raise self.source.refusal(
                node, "it is set on some paths only; set it on all" if node.id in local else "it is not set yet"
            )
        return found

    def _named(self, node: ast.expr) -> Any:
        """The value of a name, or of a module's name, at decoration."""
        if isinstance(node, ast.Attribute):
            module = self._named(node.value)
            if not isinstance(module, ModuleType):
                raise self.source.refusal(
                    node, f"{self.source.shown(node.value)} is a {type(module).__name__}; an operation captures numbers"
                )
            if not hasattr(module, node.attr):
                raise self.source.refusal(node, f"{module.__name__} has no {node.attr}")
            return getattr(module, node.attr)
        if not isinstance(node, ast.Name):
            raise self.source.refusal(node, _REFUSED.get(type(node), _ELSE_REFUSED))
        if node.id in self.function.__code__.co_varnames:
            raise self.source.refusal(node, "this is a number, which has no attributes here")
        if node.id == self.source.name:
            raise self.source.refusal(node, "an operation does not call itself")
        for scope in (
            {name: c for name, cell in self.free.items() for c in contents(cell)},
            self.function.__globals__,
            vars(builtins),
        ):
            if node.id in scope:
                return scope[node.id]
        raise self.source.refusal(node, "nothing is called so when the operation is made")

    def _binary(self, node: ast.AST, operator: ast.operator, left: Term, right: Term) -> Term:
        if type(operator) not in _BINARY:
            raise self.source.refusal(node, "an operation is made of numbers, which have no matrix product")
        return self._call(_BINARY[type(operator)], [left, right], node)

    def _comparison(self, node: ast.Compare, local: dict[str, Term | None]) -> Term:
        terms = [self._term(n, local) for n in (node.left, *node.comparators)]
        total: Term = TRUE
        for left, operator, right in zip(terms, node.ops, terms[1:], strict=False):
            if type(operator) not in _COMPARE:
                raise self.source.refusal(node, "numbers are compared by < <= > >= == !=")
            total = self._both(total, self._call(_COMPARE[type(operator)], [left, right], node), node)
        return total

    def _called(self, node: ast.Call, local: dict[str, Term | None]) -> Term:
        if not isinstance(node.func, ast.Name | ast.Attribute):
            raise self.source.refusal(node.func, _REFUSED.get(type(node.func), _ELSE_REFUSED))
        if isinstance(node.func, ast.Name) and node.func.id in local:
            raise self.source.refusal(node.func, "this is a number, and is not called")
        function = self._named(node.func)
        for argument in (*node.args, *(k for k in node.keywords if k.arg is None)):
            if isinstance(argument, ast.Starred | ast.keyword):
                raise self.source.refusal(argument, "the operands of an operation are written one by one")
        operands = [self._term(a, local) for a in node.args]
        named = {str(k.arg): self._term(k.value, local) for k in node.keywords}
        if isinstance(function, Defined):
            return self._inlined(node, function.definition, operands, named)
        if named:
            raise self.source.refusal(node, "only the operands of operations have names")
        if id(function) in _OF_TWO_AND_MORE and len(operands) > 1:
            total, *rest = operands
            for term in rest:
                total = self._call(_OF_TWO_AND_MORE[id(function)], [total, term], node)
            return total
        op = _OURS.get(id(function)) or _THEIRS.get(id(function))
        if op is None:
            raise self.source.refusal(
                node,
                "this is no function for an operation; it calls operations, functions that exprten has under exprten's, NumPy's "
                "or math's name, abs, pow, and max and min of two numbers and more",
            )
        if len(operands) != TABLE[op].arity:
            raise self.source.refusal(
                node, f"{op} takes {TABLE[op].arity} operand{'s' * (TABLE[op].arity > 1)}, not {len(operands)}"
            )
        self.python = self.python and id(function) not in _OURS
        return self._call(op, operands, node)

    def _inlined(self, node: ast.Call, called: Definition, operands: list[Term], named: dict[str, Term]) -> Term:
        try:
            bound = bind(called, operands, named)
        except TypeError as error:
            raise self.source.refusal(node, str(error)) from None
        return substitute(called.root, [t if isinstance(t, Term) else Number(t) for t in bound])

    def _call(self, op: str, operands: Sequence[Term], node: ast.AST) -> Term:
        """The operation, or of Python numbers alone its value."""
        made = Call(op, tuple(operands), self.source.at(node))
        kinds = {type(t.value) if isinstance(t, Number) else None for t in operands}
        if not kinds <= _PYTHON:
            return made
        try:
            value = computed(made, ())
        except (ArithmeticError, TypeError, ValueError) as error:
            raise self.source.refusal(node, str(error)) from None
        if type(value) not in _PYTHON or (type(value) is complex and complex not in kinds):  # the root of -1 is NaN
            raise self.source.refusal(node, f"a {type(value).__name__} is no number of an operation")
        return Number(value)

    def _where(self, condition: Term, a: Term, b: Term, node: ast.AST) -> Term:
        if isinstance(condition, Number):
            return a if condition.value else b
        return a if a is b else Call("where", (condition, a, b), self.source.at(node))

    def _not(self, a: Term, node: ast.AST) -> Term:
        return Number(not a.value) if isinstance(a, Number) else Call("logical_not", (a,), self.source.at(node))

    def _both(self, a: Term, b: Term, node: ast.AST) -> Term:
        """`a and b`: where `a` is true, `b`."""
        if isinstance(a, Number):
            return b if a.value else a
        truths = is_truth(a) and is_truth(b)
        return Call("logical_and", (a, b), self.source.at(node)) if truths else self._where(a, b, a, node)

    def _either(self, a: Term, b: Term, node: ast.AST) -> Term:
        """`a or b`: where `a` is true, itself."""
        if isinstance(a, Number):
            return a if a.value else b
        truths = is_truth(a) and is_truth(b)
        return Call("logical_or", (a, b), self.source.at(node)) if truths else self._where(a, a, b, node)
