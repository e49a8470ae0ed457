"""Operations of one's own: `@xt.op` and the library that is written with it."""

import copy
import importlib.util
import itertools
import math
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DTYPES, SPECIAL, assert_same_bits, assert_within_ulps, combinations, pairs, values

import exprten as xt
from exprten.options import USE_CTYPES

SCALE = 2.5


@xt.op
def smooth_l1(a, b):
    if a > 1 / b:
        return a - 0.5 / b
    elif a < -1 / b:  # noqa: RET505  # every form of a body is tested
        return -a - 0.5 / b
    else:
        return 0.5 * a * a * b


@xt.op
def product(x, y):
    return x * y


def elements(e):
    return xt.evaluate(e).numpy()


@pytest.fixture
def define(tmp_path):
    """`define(text)`: the operation `f` of a file that says `text`; functions are decorated where they stand."""
    count = itertools.count()

    def make(text, decorated=True):
        path = tmp_path / f"body{next(count)}.py"
        path.write_text("import math\nimport numpy as np\nimport exprten as xt\n" + text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return xt.op(module.f) if decorated else module.f

    return make


# What a body may say. Each is compared with the Python function on every pair of numbers.

GRID = np.array([-7.0, -2.5, -1.0, -0.5, 0.25, 1.0, 1.5, 3.0, 8.0])
BODIES = {
    "return": "return x * y",
    "local": "t = x * y\n    return t + t * x",
    "annotated local": "t: float = x - y\n    return t * t",
    "two names": "s = t = x - y\n    return s * t",
    "names exchanged": "x, y = y, x\n    return x - 2 * y",
    "operand set": "x = x + 1\n    return x * y",
    "augmented": "t = x\n    t += y\n    t *= 2\n    t -= x\n    t /= 4\n    t **= 2\n    return t",
    "augmented floor": "t = x\n    t //= y\n    t %= 3\n    return t",
    "docstring, pass": "'''Says nothing.'''\n    pass\n    return x",
    "if, return after": "if x > y:\n        return x\n    return y",
    "if else": "if x > y:\n        return x\n    else:\n        return y",
    "elif": "if x > 1:\n        return x\n    elif y > 1:\n        return y\n    elif x > 0:\n        return 5.0\n    else:\n        return x - y",
    "if sets": "t = x\n    if x > y:\n        t = y * 2\n    return t + 1",
    "both set": "if x > y:\n        t = x\n        s = 1.0\n    else:\n        t = y\n        s = 2.0\n    return t * s",
    "set before return": "if x > y:\n        return x\n    else:\n        t = y + 1\n    return t * 3",
    "nested": "if x > 0:\n        if y > 0:\n            return x * y\n        t = 1.0\n    else:\n        t = 2.0\n        if y < -1:\n            return x\n    return t + y",
    "nested return": "if x > 0:\n        if y > 0:\n            return x\n        elif y < -1:\n            return y\n    if x < y:\n        return 3.0\n    return -x",
    "after a full return": "if x > 0:\n        if y > 0:\n            return x\n    else:\n        return 2.0\n    return 3.0",
    "dead code": "return x\n    return y",
    "condition of a number": "if 1 > 2:\n        return x\n    return y",
    "truth of an operand": "if x:\n        return x\n    return y",
    "conditional expression": "return x if x > y else -y if y > 0 else 4.0",
    "and": "return 1.0 if x > 0 and y > 0 and x > y else 0.0",
    "or": "return 1.0 if x > 2 or y > 2 else 0.0",
    "not": "return 1.0 if not x > 0 else y",
    "not of a number": "return 1.0 if not x else y",
    "and of numbers": "return x and y",
    "or of numbers": "return (x > 0) * x or y",
    "mixed": "return 2.0 if (x > 0 or y > 0) and not (x > 1 and y > 1) else x",
    "chain": "return 1.0 if -1 < x <= y < 5 else 0.0",
    "equalities": "return (1.0 if x == y else 0.5) + (2.0 if x != 1 else 0.25)",
    "comparison as a number": "return (x > y) * x + (x <= y) * y",
    "floor division": "return x // y",
    "remainder": "return x % y",
    "divide": "return x / y",
    "powers": "return x ** 2 + x ** 3 - y ** -1 + (x * x) ** 0.5 + x ** 0 + x ** 1",
    "unary": "return -x + +y - (-3)",
    "abs": "return abs(x) - abs(y)",
    "min max": "return max(x, y) - 2 * min(x, y, 0.5)",
    "guarded": "return x / y if y != 0 and x / y > 1 else 0.0",
    "numpy": "return np.maximum(x, y) + np.floor(x) - np.abs(y) + np.where(x > y, 1.0, 2.0) + np.pi",
    "math": "return math.fabs(x) + math.copysign(x, y) + math.sqrt(abs(x)) + math.tau - math.fmod(x, y)",
    "exprten": "return xt.maximum(x, y) + xt.ceil(x) * xt.sign(y) - xt.clip(x, -1.0, 1.0)",
    "builtin pow": "return pow(x, 2) + 1",
    "constants": "return x * (2 ** 10 - 3 // 2) / (1 + 0.5) - math.sqrt(16) * -y",
    "a constant": "return 3.5",
}  # fmt: skip


def body(text, parameters="x, y"):
    return f"def f({parameters}):\n    {text}\n"


@pytest.mark.parametrize("form", BODIES)
def test_a_body_means_what_python_says(form, define):
    function = define(body(BODIES[form]), decorated=False)
    f, (x, y) = xt.op(function), (g.ravel() for g in np.meshgrid(GRID, GRID))
    want = np.array([float(_number(function(float(a), float(b)))) for a, b in zip(x, y, strict=True)])
    np.testing.assert_allclose(np.broadcast_to(elements(f(x, y)), x.shape), want, rtol=1e-15)
    assert [float(f(float(a), float(b))) for a, b in zip(x, y, strict=True)] == pytest.approx(want, rel=1e-15)


def _number(found):
    return found.item() if isinstance(found, xt.Expr | np.generic | np.ndarray) else found


# Bodies made at random, of float64 arithmetic, which is the same to the bit.

LEAVES = st.sampled_from(["x", "y", "t", "0.5", "3.0", "-2.0", "1"])
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["<", ">", "<=", ">="]), inner, inner, inner).map(
            lambda t: f"({t[3]} if {t[0]} {t[1]} {t[2]} else {t[4]})"
        ),
        st.tuples(inner, inner).map(lambda t: f"({t[0]} / (1.0 + abs({t[1]})))"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda t: f"(-{t})"),
    ),
    max_leaves=8,
)
STEPS = st.recursive(
    st.one_of(
        TREES.map(lambda e: [f"t = {e}"]), TREES.map(lambda e: [f"t += {e}"]), TREES.map(lambda e: [f"return {e}"])
    ),
    lambda inner: st.tuples(TREES, inner, inner, st.booleans()).map(
        lambda t: [f"if {t[0]} > 0:", *_indented(t[1]), *(["else:", *_indented(t[2])] if t[3] else [])]
    ),
    max_leaves=4,
)


def _indented(lines):
    return [f"    {line}" for line in lines]


NUMBER = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bodies")


@given(st.lists(STEPS, max_size=3), TREES)
def test_a_random_body_is_its_function_to_the_bit(folder, steps, last):
    lines = ["t = 1.0", *itertools.chain(*steps), f"return {last} + 0.0 * x * y"]
    text = "def f(x, y):\n" + "\n".join(_indented(lines)) + "\n"
    path = folder / f"body{next(NUMBER)}.py"  # a new name: Python keeps the lines of a file it has read
    path.write_text(text, encoding="utf-8")
    names = {}
    exec(compile(text, str(path), "exec"), names)
    f, (x, y) = xt.op(names["f"]), (g.ravel() for g in np.meshgrid(GRID, GRID))
    want = np.array([float(names["f"](float(a), float(b))) for a, b in zip(x, y, strict=True)])
    got = np.broadcast_to(elements(f(x, y)), x.shape).astype(np.float64)
    inside = np.abs(want) < 1e100  # Python's integers do not wrap, and its floats do not overflow silently
    np.testing.assert_array_equal(got[inside] + 0.0, want[inside] + 0.0, err_msg=text)


# What it may not say. Where: line and column of the file, the construct; then the rule.

LOOP = "an operation has no loops; write the steps out"
NESTED = "an operation holds no functions and classes; decorate a function of its own with @xt.op, and call it"
RAISES = "an operation raises nothing; return a number, NaN for none"
LOCALS = "an operation sets its own locals only"
MADE_OF = "an operation is made of assignments, `if` and `return`, of numbers"
NO_END = "a path ends here without `return`; an operation has a value for everything"
CALLS = (
    "this is no function for an operation; it calls operations, functions that exprten has under exprten's, NumPy's or math's name, "
    "abs, pow, and max and min of two numbers and more"
)
REFUSED = {
    "for": ("for k in range(3):\n        x = x + 1\n    return x", "5:5: `for k in range(3): ...`", LOOP),
    "while": ("while x > 1:\n        x = x / 2\n    return x", "5:5: `while x > 1: ...`", LOOP),
    "comprehension": ("return sum([x for k in (1, 2)])", "5:16: `[x for k in (1, 2)]`", LOOP),
    "generator": ("return max(x for k in (1, 2))", "5:15: `(x for k in (1, 2))`", LOOP),
    "recursion": ("return f(x - 1, y) if x > 0 else y", "5:12: `f`", "an operation does not call itself"),
    "no return": ("x = y", "5:5: `x = y`", NO_END),
    "a path without return": ("if x > y:\n        return x", "5:5: `if x > y: ...`", NO_END),
    "a deep path without return": ("if x > y:\n        if x > 0:\n            return x\n    else:\n        return y", "5:5: `if x > y: ...`", NO_END),
    "returns nothing": ("return", "5:5: `return`", "an operation returns a number"),
    "returns None": ("return None", "5:12: `None`", "a NoneType is no number of an operation"),
    "returns two": ("return x, y", "5:12: `x, y`", MADE_OF),
    "text": ("return x + 'a'", "5:16: `'a'`", "a str is no number of an operation"),
    "complex by power": ("return x * (-1) ** 0.5", "5:16: `(-1) ** 0.5`", "a complex is no number of an operation"),
    "division by zero": ("return x * (1 / 0)", "5:17: `1 / 0`", "division by zero"),
    "function": ("def g(z):\n        return z\n    return g(x)", "5:5: `def g(z): ...`", NESTED),
    "lambda": ("g = lambda z: z\n    return g(x)", "5:9: `lambda z: z`", NESTED),
    "class": ("class C: pass\n    return x", "5:5: `class C: pass`", NESTED),
    "raise": ("if x < 0:\n        raise ValueError\n    return x", "6:9: `raise ValueError`", RAISES),
    "assert": ("assert x > 0\n    return x", "5:5: `assert x > 0`", RAISES),
    "try": ("try:\n        return x\n    finally:\n        pass", "5:5: `try: ...`", RAISES),
    "yield": ("yield x", "5:5: `yield x`", "an operation returns one number"),
    "global": ("global z\n    return x", "5:5: `global z`", LOCALS),
    "walrus": ("return (z := x) + y", "5:13: `z := x`", "assign in a statement of its own"),
    "element": ("return x[0]", "5:12: `x[0]`", "an operation sees one element of each operand"),
    "set element": ("x[0] = y\n    return x", "5:5: `x[0]`", LOCALS),
    "set attribute": ("x.a = y\n    return x", "5:5: `x.a`", LOCALS),
    "augment element": ("x[0] += y\n    return x", "5:5: `x[0] += y`", MADE_OF),
    "unpack": ("a, b = x\n    return a", "5:5: `a, b`", "assign to as many names as there are numbers"),
    "with": ("with x:\n        return y", "5:5: `with x: ...`", MADE_OF),
    "import": ("import os\n    return x", "5:5: `import os`", MADE_OF),
    "match": ("match x:\n        case 1:\n            return y\n    return x", "5:5: `match x: ...`", MADE_OF),
    "expression": ("print(x)\n    return x", "5:5: `print(x)`", "an expression that is not assigned does nothing"),
    "f-string": ("return f'{x}'", "5:12: `f'{x}'`", MADE_OF),
    "list": ("return [x]", "5:12: `[x]`", MADE_OF),
    "is": ("return x if x is y else 1", "5:17: `x is y`", "numbers are compared by < <= > >= == !="),
    "in": ("return x if x in (1, 2) else 1", "5:22: `(1, 2)`", MADE_OF),
    "matrix product": ("return x @ y", "5:12: `x @ y`", "an operation is made of numbers, which have no matrix product"),
    "set on some paths": ("if x > 0:\n        t = x\n    return t", "7:12: `t`", "it is set on some paths only; set it on all"),
    "not set yet": ("t = t + x\n    return t", "5:9: `t`", "it is not set yet"),
    "augmented, not set": ("t += x\n    return t", "5:5: `t`", "it is not set yet"),
    "unknown name": ("return x * zeta", "5:16: `zeta`", "nothing is called so when the operation is made"),
    "unknown in a module": ("return x * math.zeta", "5:16: `math.zeta`", "math has no zeta"),
    "a captured module": ("return x * math", "5:16: `math`", "this is a module; an operation captures numbers"),
    "a captured function": ("return x * math.sin", "5:16: `math.sin`", "this is a builtin_function_or_method; an operation captures numbers"),
    "attribute of a number": ("return x * math.pi.real", "5:16: `math.pi.real`", "math.pi is a float; an operation captures numbers"),
    "attribute of an operand": ("return x.real", "5:12: `x`", "this is a number, which has no attributes here"),
    "unknown function": ("return math.ulp(x)", "5:12: `math.ulp(x)`", CALLS),
    "NumPy's identity matrix": ("return np.identity(x)", "5:12: `np.identity(x)`", CALLS),
    "math's remainder": ("return math.remainder(x, y)", "5:12: `math.remainder(x, y)`", CALLS),
    "conversion": ("return int(x)", "5:12: `int(x)`", CALLS),
    "max of one": ("return max(x)", "5:12: `max(x)`", CALLS),
    "a fold": ("return xt.sum(x)", "5:12: `xt.sum(x)`", CALLS),
    "call of a number": ("return x(y)", "5:12: `x`", "this is a number, and is not called"),
    "operands of a function": ("return np.exp(x, y)", "5:12: `np.exp(x, y)`", "exp takes 1 operand, not 2"),
    "named operand": ("return np.exp(x=x)", "5:12: `np.exp(x=x)`", "only the operands of operations have names"),
    "starred": ("return max(*x)", "5:16: `*x`", "the operands of an operation are written one by one"),
    "operands of an operation": ("return xt.lerp(x, y)", "5:12: `xt.lerp(x, y)`", "lerp: takes the operands (a, b, t); t is missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_anything_else_is_a_compile_error_at_its_place(case, define):
    text, where, rule = REFUSED[case]
    with pytest.raises(xt.CompileError) as caught:
        define(body(text))
    before, _, message = str(caught.value).partition(".py:")
    assert message == f"{where}: {rule}"
    assert before.startswith("f: ") and Path(before[3:] + ".py").exists()


HEADS = {
    "starred": ("def f(*x):\n    return 1\n", "`x`: the operands of an operation are plain parameters"),
    "named": ("def f(x, **named):\n    return x\n", "`named`: the operands of an operation are plain parameters"),
    "keyword only": ("def f(x, *, y):\n    return x\n", "`y`: the operands of an operation are plain parameters"),
    "none": ("def f():\n    return 1\n", "`def f(): ...`: an operation has 1 to 3 operands, not 0"),
    "four": ("def f(a, b, c, d):\n    return a\n", "`def f(a, b, c, d): ...`: an operation has 1 to 3 operands, not 4"),
    "default": ("def f(x, y='a'):\n    return x\n", "`'a'`: a default is a number, not a str"),
    "async": ("async def f(x):\n    return x\n", "`async def f(x): ...`: an operation is a plain function"),
    "lambda": ("f = lambda x: x\n", "a lambda is no operation; write it as a `def`"),
}


@pytest.mark.parametrize("case", HEADS)
def test_a_head_that_no_operation_has_is_a_compile_error(case, define):
    text, message = HEADS[case]
    with pytest.raises(xt.CompileError) as caught:
        define(text)
    assert str(caught.value).endswith(f": {message}")


def test_a_function_without_source_is_a_compile_error():
    names = {}
    exec("def f(x):\n    return x\n", names)
    with pytest.raises(xt.CompileError) as caught:
        xt.op(names["f"])
    assert str(caught.value) == (
        "f: <string>:1: its source cannot be read; an operation is compiled from it, so define it in a file or a notebook"
    )


@pytest.mark.parametrize("other", [abs, 3, int, np.exp, smooth_l1], ids=str)
def test_what_is_no_python_function_is_a_type_error(other):
    with pytest.raises(TypeError, match=f"op: a {type(other).__name__} is no Python function"):
        xt.op(other)


def test_a_column_counts_characters_and_a_line_is_the_files(define):
    with pytest.raises(xt.CompileError, match=r"\.py:8:27: `zeta`"):
        define("if True:\n    @xt.op\n    def f(x):\n        # é\n        ö = x; return ö * zeta\n")


def test_an_indented_function_with_a_docstring_at_the_margin_is_read(define):
    f = define("if True:\n    def f(x):\n        '''Margin\nhere.'''\n        return x + 1\n")
    assert f(1.0) == 2.0


# Captured numbers.


def test_numbers_are_captured_at_decoration(define):
    f = define(
        "K = 2.0\ndef outer():\n    c = 3\n    def f(x):\n        return K * x + c * math.e\n    return f, lambda: 0\nf, _ = outer()\n"
    )
    want = 2.0 * 1.5 + 3 * math.e
    f.__wrapped__.__globals__["K"] = 100.0
    assert f(1.5) == want
    assert elements(f(np.array([1.5])))[0] == want


def test_a_captured_numpy_scalar_keeps_its_type_and_a_python_number_has_none(define):
    x = xt.ones(3, xt.float32)
    assert define("K = 2.0\ndef f(x):\n    return K * x\n")(x).dtype == np.float32
    assert define("K = np.float64(2.0)\ndef f(x):\n    return K * x\n")(x).dtype == np.float64
    assert define("K = True\ndef f(x):\n    return x + K\n")(x).dtype == np.float32


# Types.

AS_WRITTEN = {
    "x * y + x": lambda x, y: x * y + x,
    "x - y if x > y else x": lambda x, y: xt.where(x > y, x - y, x),
    "x / y": lambda x, y: x / y,
    "x // y % y": lambda x, y: x // y % y,
    "x ** 2 + y": lambda x, y: x**2 + y,
    "max(x, y) - min(x, 3)": lambda x, y: xt.maximum(x, y) - xt.minimum(x, 3),
    "x > y": lambda x, y: x > y,
    "x and y": lambda x, y: xt.where(x, y, x),
    "not x": lambda x, y: xt.logical_not(x),
    "2 * x if y > 0.5 else 0": lambda x, y: xt.where(y > 0.5, 2 * x, 0),
    "abs(x) + 1": lambda x, y: abs(x) + 1,
    "x & y | 1": lambda x, y: x & y | 1,
    "x << 2 if x >= -300 else y": lambda x, y: xt.where(x >= -300, x << 2, y),
}


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_types_and_bits_are_those_of_the_expression(text, define):
    f = define(body(f"return {text}"))
    tried = 0
    for a, b in combinations(2):
        x, y = (xt.array(v) for v in pairs(a, b))
        try:
            want = AS_WRITTEN[text](x, y)
        except xt.DTypeError:
            with pytest.raises(xt.DTypeError, match=r"f: .*py:5:"):
                f(x, y)
            continue
        got = f(x, y)
        assert got.dtype == want.dtype, f"{text} of {a} and {b}"
        assert_same_bits(elements(got), elements(want), f"{text} of {a} and {b}")
        tried += 1
    assert tried


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("number", [2, 3.5, -1, np.float32(0.5), np.int64(7)], ids=lambda n: f"{type(n).__name__} {n}")
def test_a_number_beside_a_tensor_is_what_it_is_in_an_expression(dtype, number, define):
    f = define(body("t = 1 / y\n    return x * t if x > t else x * y + y * y"))
    x = xt.array(values(dtype, (50,), 3))

    def written(x, y):
        t = 1 / y
        return xt.where(x > t, x * t, x * y + y * y)

    try:
        want = written(x, number)
    except OverflowError:
        with pytest.raises(OverflowError, match=f"f: -1 does not fit {dtype}"):
            f(x, number)
        return
    got = f(x, number)
    assert got.dtype == want.dtype
    assert_same_bits(elements(got), elements(want), f"{dtype}, {number}")


def test_a_choice_between_numbers_is_a_number(define):
    f = define(body("s = 1 if x > 0 else -0.5\n    return s * x", "x"))
    assert f(xt.ones(3)).dtype == np.float32
    assert define(body("return 1 if x > 0 else 0", "x"))(xt.ones(3)).dtype == np.int64


def test_a_python_int_that_does_not_fit_is_an_overflow_error(define):
    x = xt.ones(3, xt.uint8)
    with pytest.raises(OverflowError, match=r"product: 300 does not fit uint8 \(0 to 255\)"):
        product(x, 300)
    with pytest.raises(OverflowError, match=r"f: .*:5:12: add: 300 does not fit uint8"):
        define(body("return x + 300", "x"))(x)
    assert elements(define(body("return x < 300", "x"))(x)).all()
    assert elements(define(body("return x < y"))(x, 300)).all()
    assert not elements(define(body(f"return x > {10**30}", "x"))(x)).any()


def test_integers_to_a_negative_number_are_a_value_error(define):
    f = define(body("return x ** -1", "x"))
    with pytest.raises(ValueError, match=r"f: .*:5:12: power: integers to the power -1 are no integers"):
        f(xt.ones(3, xt.int32))
    assert elements(f(xt.full(3, 4.0))).tolist() == [0.25] * 3


def test_an_operation_without_such_types_says_where(define):
    with pytest.raises(
        xt.DTypeError, match=r"f: .*\.py:5:12: subtract: not defined for bool, bool \(bool has no minus: use \^\)"
    ):
        define(body("return x - y"))(xt.ones(3, bool), xt.ones(3, bool))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_the_path_not_taken_does_not_trap(dtype, define):
    f = define(body("return x // y if y != 0 else 1"))
    x = SPECIAL[np.dtype(dtype)]
    assert (elements(f(x, np.zeros_like(x))) == 1).all()
    lowest = np.full_like(x, np.iinfo(dtype).min)
    assert (elements(f(lowest, np.full_like(x, 0) - np.array(1, dtype))) == (lowest if dtype != "uint8" else 0)).all()


# Calls.


def test_on_numbers_it_computes():
    assert smooth_l1(2.0, 1.0) == 1.5 and type(smooth_l1(2.0, 1.0)) is float
    assert product(3, 4) == 12 and type(product(3, 4)) is int
    assert type(product(np.float32(3), 4)) is np.float32
    assert product(True, 2) == 2
    assert xt.sigmoid(0.0) == 0.5 and type(xt.sigmoid(0.0)) is float
    assert type(smooth_l1.grad(0)(0.5, 1.0)) is float


def test_on_numbers_nothing_is_compiled():
    before = xt.stats().compiles
    with xt.no_compile():
        assert xt.gelu(1.0) == pytest.approx(0.8413447460685429)
        assert xt.gelu.grad(0)(1.0) == pytest.approx(1.0833154705876864)
    assert xt.stats().compiles == before


def test_on_numbers_only_the_chosen_path_is_computed(define):
    f = define(body("return xt.log(x) / y if y != 0 and 1 / y > 0 else 0.0"))
    assert f(1.0, 0.0) == 0.0
    assert define(body("return 1 / x if x != 0 else 0.0", "x")).grad(0)(0.0) == 0.0


def test_operands_are_tensors_expressions_arrays_and_scalars():
    a, t = np.array([1.0, 2.0, 3.0]), xt.array(np.array([2.0, 3.0, 4.0]))
    for x, y in ((t, t), (t + 0, t), (a, t), (t, a), (a, a), (a, 2), (np.float64(2), a), (t[:, None], a)):
        want = np.asarray(x if isinstance(x, np.ndarray | np.generic) else elements(x + 0)) * np.asarray(
            y if isinstance(y, np.ndarray | int) else elements(y + 0)
        )
        assert elements(product(x, y)).tolist() == want.tolist()


def test_what_is_no_operand_is_a_type_error():
    with pytest.raises(TypeError, match=r"product: a list is no operand; make it a tensor with xt.array"):
        product(xt.ones(3), [1, 2, 3])
    with pytest.raises(xt.ShapeError, match=r"product: shapes \(3,\) and \(4,\) do not broadcast"):
        product(xt.ones(3), xt.ones(4))


WRONG = [
    ((1.0,), {}, "takes the operands (a, b); b is missing"),
    ((), {}, "takes the operands (a, b); a and b are missing"),
    ((1.0, 2.0, 3.0), {}, "takes the operands (a, b); not 3"),
    ((1.0,), {"c": 2.0}, "takes the operands (a, b); none is called c"),
    ((1.0, 2.0), {"a": 2.0}, "takes the operands (a, b); a is given twice"),
]


@pytest.mark.parametrize(("operands", "named", "message"), WRONG, ids=[row[2] for row in WRONG])
def test_a_wrong_call_is_a_type_error_with_the_parameters(operands, named, message):
    for f in (smooth_l1, smooth_l1.grad(0)):
        with pytest.raises(TypeError) as caught:
            f(*operands, **named)
        assert str(caught.value) == f"{f.__name__}: {message}"
    with pytest.raises(TypeError, match=r"leaky_relu: takes the operands \(x, slope=0.01\); x is missing"):
        xt.leaky_relu()


def test_operands_have_names_and_defaults():
    x = xt.array([-1.0, 2.0])
    assert elements(smooth_l1(b=1.0, a=x)).tolist() == elements(smooth_l1(x, 1.0)).tolist()
    assert elements(xt.leaky_relu(x)).tolist() == elements(xt.leaky_relu(x, 0.01)).tolist()
    assert xt.leaky_relu(-1.0, slope=0.5) == -0.5


def test_f_is_mshadows_spelling():
    x = xt.array([-3.0, 0.5, 3.0])
    assert xt.F(smooth_l1) is smooth_l1
    assert elements(xt.F(smooth_l1)(x, 1.0)).tolist() == [2.5, 0.125, 2.5]
    assert xt.F(xt.exp) is xt.exp and xt.F(xt.power) is xt.power
    with pytest.raises(TypeError, match=r"F: elements is no operation; decorate it with @xt\.op"):
        xt.F(elements)


def test_operations_call_operations(define):
    f = define(
        "@xt.op\ndef g(x, k=2):\n    if x > k:\n        return x\n    return x * k\n"
        "def f(x):\n    return g(x) + g(k=3, x=x) + xt.relu(x) + abs(x)\n"
    )
    x = np.array([-1.0, 0.5, 2.5, 4.0])
    want = [f.__wrapped__(float(v)) for v in x]
    assert elements(f(x)).tolist() == want == [f(v) for v in x.tolist()]


# A node like any other.


def test_it_shows_under_its_name():
    x = xt.ones((2, 3))
    assert repr(smooth_l1) == "<op smooth_l1(a, b)>"
    assert repr(smooth_l1.grad(1)) == "<op smooth_l1.grad(1)(a, b)>"
    assert repr(smooth_l1(x, 1.0) + 1) == "<(smooth_l1(float32(2, 3), 1.0) + 1): float32 (2, 3)>"
    assert (
        xt.plan(xt.zeros((2, 3)), smooth_l1(x, 1.0))
        .explain()
        .startswith("target [...] = smooth_l1(float32(2, 3), 1.0)\n")
    )
    assert (smooth_l1.__name__, smooth_l1.__module__) == ("smooth_l1", __name__)


def test_its_key_is_interned_and_the_second_run_compiles_nothing():
    x, out = xt.array([-3.0, 0.5, 3.0]), xt.zeros(3)
    assert smooth_l1(x, 1.0).key is smooth_l1(x, 2.0).key
    out[...] = 2 * smooth_l1(x, 1.0)
    with xt.no_compile():
        for k in range(1, 50):
            out[...] = 2 * smooth_l1(x, float(k))
    assert out.numpy().tolist() == (2 * np.float32([smooth_l1(v, 49.0) for v in (-3.0, 0.5, 3.0)])).tolist()


def test_a_statement_with_it_is_called_directly():
    x, out = xt.array([-3.0, 0.5, 3.0]), xt.zeros(3)
    for _ in range(20):
        out[...] = smooth_l1(x, 1.0) * 2
    before = xt.stats().hits
    for _ in range(20):
        out[...] = smooth_l1(x, 1.0) * 2
    assert xt.stats().hits - before == (20 if USE_CTYPES else 0)  # ctypes is the way of all statements, or of none


def test_it_stands_inside_folds_and_beside_extensions():
    x = values(np.float64, (5, 7), 1)
    x = np.where(np.isfinite(x) & (np.abs(x) < 1e3), x, 0.5)
    want = np.array([[smooth_l1(float(v), 2.0) for v in row] for row in x])
    np.testing.assert_allclose(elements(xt.sum(smooth_l1(x, 2.0), axis=1)), want.sum(1), rtol=1e-12)
    assert elements(xt.flip(smooth_l1(xt.array(x), 2.0), 0)).tolist() == want[::-1].tolist()


def test_another_function_of_the_same_name_is_another_operation(define):
    x = xt.array([3.0])
    one, two = (define(body(f"return x {s} 2", "x")) for s in "+*")
    assert one(x).key is not two(x).key
    assert (elements(one(x))[0], elements(two(x))[0], elements(one(x))[0]) == (5.0, 6.0, 5.0)


def test_a_name_of_the_table_changes_nothing_for_others(define):
    for name in ("add", "cast", "remap", "leaf", "where"):
        define("def f(x, y):\n    return x * y - 1\n".replace("f(", f"{name}(") + f"f = {name}\n")(
            xt.ones(3), xt.ones(3)
        )
    add = define("def add(x, y):\n    return x * y - 1\nf = add\n")
    a, b = xt.array([5.0]), xt.array([7.0])
    assert elements(add(a, b))[0] == 34.0
    assert elements(a + b)[0] == elements(xt.add(a, b))[0] == 12.0
    assert repr(add(a, b)) == "<add(float32(1,), float32(1,)): float32 (1,)>"


def test_pickle_and_copy_give_the_operation_itself():
    assert pickle.loads(pickle.dumps(smooth_l1)) is smooth_l1
    assert copy.copy(smooth_l1) is copy.deepcopy(smooth_l1) is smooth_l1
    g = smooth_l1.grad(0).grad(1)
    assert pickle.loads(pickle.dumps(g)) is copy.deepcopy(g) is g
    assert pickle.loads(pickle.dumps(xt.gelu)) is xt.gelu


def test_threads_may_use_it_at_once(define):
    f = define(body("return x * y if x > y else x + y"))
    kinds = [np.float32, np.float64, np.int32, np.int64]
    wrong, start = [], threading.Barrier(8)

    def work(k):
        x = np.arange(1, 6, dtype=kinds[k % 4])
        start.wait()
        for _ in range(20):
            for y in (2, 2.0, x[::-1].copy()):
                want = np.where(x > y, x * y, x + y)
                if elements(f(x, y)).tolist() != want.tolist() or f.grad(0) is not f.grad(0):
                    wrong.append((k, y))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_too_many_operations_are_a_compile_error(define):
    lines = "\n    ".join("x = x * x + 1" for _ in range(2100))
    with pytest.raises(xt.CompileError, match=r"f: it has \d+ operations, 4096 are the most"):
        define(body(f"{lines}\n    return x", "x"))


def test_importing_exprten_reads_no_source():
    code = "import exprten, sys; print('exprten.library' in sys.modules, any('definition' in vars(getattr(exprten, n)) for n in exprten.library.__all__))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": f"{Path(xt.__file__).parents[1]}:{Path(xt.__file__).parents[1] / 'jit'}"})  # fmt: skip
    assert done.stdout.split() == ["True", "False"]


# Derivatives, against central differences in float64.

STEP = 1e-6
SMOOTH = {
    "arithmetic": "return x * y - x / y + 3 * x - -y",
    "powers": "return x ** 2 + y ** 3 + (x * x) ** 0.5 + abs(x) ** y + y ** -1",
    "functions": "return xt.exp(0.1 * x) * xt.sin(y) + xt.log(abs(x) + 1) - xt.tanh(y) + xt.sqrt(1 + x * x)",
    "near one": "return xt.log1p(x * x) + xt.expm1(0.3 * y) + xt.erf(x)",
    "choice": "if x > y:\n        return x * y\n    elif x > -1:\n        return x * x\n    return y * y * x",
    "extremes": "return max(x * x, y) * min(x, y * y) + xt.clip(x, -1.0, y)",
    "locals": "t = x * y\n    if t > 1:\n        t = t * t\n    s = t + x\n    s *= y\n    return s",
    "guarded": "return xt.log(x) * y if x > 0 else x",
    "remainder": "return x % y + x // y + xt.floor(x) * y",
    "operations": "return xt.sigmoid(x) * xt.softplus(y) + xt.huber(x, 0.7) - xt.logaddexp(x, y)",
}


def points(count, n=300):
    rng = np.random.default_rng(5)
    x = rng.uniform(-3, 3, (count, n))
    return list(np.where(np.abs(x) < 0.05, 0.4, x))


def assert_gradients(f, operands, orders=2):
    """Each partial derivative, and each of its own, where the function is smooth."""
    for k in range(len(operands)):

        def at(step, k=k):
            return elements(f(*operands[:k], operands[k] + step, *operands[k + 1 :])).astype(np.float64)

        got = np.broadcast_to(elements(f.grad(k)(*operands)), operands[0].shape)
        ahead, behind = (at(STEP) - at(0)) / STEP, (at(0) - at(-STEP)) / STEP
        smooth = np.abs(ahead - behind) < 1e-3 * (1 + np.abs(ahead))
        assert smooth.mean() > 0.9
        np.testing.assert_allclose(got[smooth], ((at(STEP) - at(-STEP)) / (2 * STEP))[smooth], rtol=1e-5, atol=1e-7)
        on_numbers = [f.grad(k)(*(float(x[n]) for x in operands)) for n in range(5)]
        np.testing.assert_allclose(on_numbers, got[:5], rtol=1e-12, atol=1e-15)
        if orders > 1:
            assert_gradients(f.grad(k), operands, orders - 1)


@pytest.mark.parametrize("form", SMOOTH)
def test_a_gradient_is_the_limit_of_differences(form, define):
    assert_gradients(define(body(SMOOTH[form])), points(2))


def test_a_gradient_is_given_by_position_or_name(define):
    assert smooth_l1.grad("b") is smooth_l1.grad(1)
    for wrong in (2, -1, "c", 0.0):
        with pytest.raises(ValueError, match="grad") as caught:
            smooth_l1.grad(wrong)
        assert str(caught.value) == f"smooth_l1.grad: there is no operand {wrong!r}; there are 0 (a), 1 (b)"


def test_a_gradient_has_the_type_of_the_value(define):
    for dtype in ("float32", "float64"):
        x = xt.ones(3, dtype)
        for f in (xt.relu, xt.leaky_relu, xt.silu, define(body("return 3 * x", "x")), define(body("return 1.5", "x"))):
            assert f.grad(0)(x).dtype == f(x).dtype
    assert elements(define(body("return y * 0 + 1.0")).grad(0)(xt.ones(3), 1.0)).tolist() == [0.0] * 3


def test_conditions_are_constants(define):
    f = define(body("return x * x if x * y > 1 else y"))
    x, y = np.array([2.0, 0.1]), np.array([3.0, 4.0])
    assert elements(f.grad(0)(x, y)).tolist() == [4.0, 0.0]
    assert elements(f.grad(1)(x, y)).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("text", "name"), [("(x > y) * x", "greater"), ("xt.isnan(x) * y", "isnan"), ("x & y", "bitwise_and")]
)
def test_a_gradient_through_an_operation_without_derivative_is_a_compile_error(text, name, define):
    f = define(body(f"return {text}"))
    with pytest.raises(xt.CompileError, match=rf"^f\.grad\(0\): .*\.py:5:\d+: {name} has no derivative$"):
        f.grad(0)


@pytest.mark.parametrize(
    ("text", "times"), [("xt.digamma(x)", 1), ("xt.lgamma(x)", 2), ("xt.gamma(x)", 2), ("xt.trigamma(x)", 0)]
)
def test_derivatives_of_gamma_end_at_trigamma(text, times, define):
    f = define(body(f"return {text}", "x"))
    for _ in range(times):
        f = f.grad(0)
    place = "what is derived again has trigamma, which" if times else r".*\.py:\d+:\d+: trigamma"
    with pytest.raises(xt.CompileError, match=rf"^f(\.grad\(0\)){{{times + 1}}}: {place} has no derivative$"):
        f.grad(0)


def test_an_untaken_path_does_not_spoil_a_gradient(define):
    f = define(body("return xt.sqrt(x) if x > 0 else 0.0", "x"))
    assert elements(f.grad(0)(np.array([-1.0, 0.0, 4.0]))).tolist() == [0.0, 0.0, 0.25]
    g = define(body("return max(x, xt.exp(x) - 1e300)", "x"))
    assert elements(g.grad(0)(np.array([3.0, 1000.0]))).tolist() == [1.0, np.inf]


# The library.

SQRT2 = math.sqrt(2)
erf = np.vectorize(math.erf, otypes=[float])
LIBRARY = {
    "sigmoid": lambda x: np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x))),
    "relu": lambda x: np.maximum(x, 0),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "log_sigmoid": lambda x: -np.logaddexp(-x, 0),
    "logit": lambda x: np.log(x / (1 - x)),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "silu": lambda x: x * LIBRARY["sigmoid"](x),
    "gelu": lambda x: 0.5 * x * (1 + erf(x / SQRT2)),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "smooth_l1": lambda x, s=1.0: np.where(np.abs(x) > 1 / s**2, np.abs(x) - 0.5 / s**2, 0.5 * (s * x) ** 2),
    "huber": lambda x, d=1.0: np.where(np.abs(x) > d, d * (np.abs(x) - 0.5 * d), 0.5 * x * x),
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "lerp": lambda a, b, t: np.where(t < 0.5, a + t * (b - a), b - (1 - t) * (b - a)),
    "clamp": lambda x, bound=1.0: np.clip(x, -bound, bound),
}
LIBRARY["expit"] = LIBRARY["sigmoid"]


def test_every_library_operation_stands_in_the_table_with_its_docstring():
    page = (Path(xt.__file__).parents[1] / "docs/own_ops.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ", 1) for line in page.splitlines() if line.startswith("| `")]
    assert dict(rows) == {f"`{name}`": getattr(xt, name).__doc__ for name in xt.library.__all__}


def test_lerp_ends_at_its_ends():
    a, b = np.array([1e16, 1e8, 3, -np.inf]), np.array([1, -1e-8, 1e300, 2])
    for t, want in ((0.0, a[:3]), (1.0, b[:3])):
        np.testing.assert_array_equal(elements(xt.lerp(a[:3], b[:3], t)), want)


FLAG = True


@xt.op
def below_a_flag(x):
    return x * FLAG if x < FLAG else max(x, FLAG)


@xt.op
def to_nothing(x):
    return x**0


@xt.op
def raised(x, n):
    return x**n


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int32", "float32", "bool"])
def test_bools_stand_beside_every_type(dtype):
    x = np.array([0, 1, 1, 0], dtype)
    np.testing.assert_array_equal(elements(below_a_flag(x)), x)


def test_powers_have_derivatives_at_zero():
    zero = np.zeros(1)
    assert elements(to_nothing.grad(0)(zero)) == 0
    for n in (0.0, 2.0, 3.0):
        assert elements(raised.grad(0)(zero, np.array([n]))) == 0
        assert elements(raised.grad(1)(zero, np.array([n]))) == (0 if n else -np.inf)


def required(name):
    f = getattr(xt, name).definition
    return len(f.parameters) - len(f.defaults)


def within(name, operands):
    """Where an operation is a number."""
    return [0.5 + x / 8 for x in operands] if name == "logit" else operands


@pytest.mark.parametrize("name", xt.library.__all__)
def test_a_library_operation_is_its_formula(name):
    f, operands = getattr(xt, name), within(name, points(required(name), 2000))
    np.testing.assert_allclose(elements(f(*operands)), LIBRARY[name](*operands), rtol=3e-15, atol=1e-15)
    narrow = [x.astype(np.float32) for x in operands]
    got = elements(f(*narrow))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, LIBRARY[name](*(x.astype(float) for x in narrow)), rtol=2e-6, atol=5e-7)


@pytest.mark.parametrize("name", xt.library.__all__)
def test_a_library_operation_has_derivatives(name):
    f = getattr(xt, name)
    assert_gradients(f, within(name, points(len(f.definition.parameters))))


@pytest.mark.parametrize("name", sorted(set(xt.library.__all__) - {"silu", "gelu", "gelu_tanh", "mish"}))
def test_a_library_operation_is_right_at_extremes(name):
    x = np.array([-np.inf, -1e300, -800.0, -40.0, -0.0, 0.0, 40.0, 800.0, 1e300, np.inf, np.nan])
    operands = [x, *(np.full_like(x, 0.5) for _ in range(required(name) - 1))]
    with np.errstate(all="ignore"):
        want = LIBRARY[name](*operands)
    np.testing.assert_allclose(elements(getattr(xt, name)(*operands)), want, rtol=1e-14)


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "relu", "elu", "leaky_relu", "gelu", "silu"])
def test_a_gradient_far_out_is_a_number(name):
    x = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
    g = elements(getattr(xt, name).grad(0)(x))
    assert np.isfinite(g).all()
    assert g[-1] == (0.0 if name == "sigmoid" else 1.0)


def test_gradients_at_the_kink_are_mxnets():
    zero = xt.zeros(1)
    assert [elements(f.grad(0)(zero))[0] for f in (xt.relu, xt.leaky_relu, xt.elu, xt.smooth_l1)] == pytest.approx(
        [0, 0.01, 1, 0]
    )
    assert elements(xt.sigmoid.grad(0)(zero))[0] == 0.25
    assert elements(xt.logaddexp.grad(1)(zero, zero))[0] == 0.5


def test_logaddexp_of_infinities_is_numpys():
    x, y = pairs(np.dtype(float), np.dtype(float))
    with np.errstate(all="ignore"):
        want = np.logaddexp(x, y)
    np.testing.assert_allclose(elements(xt.logaddexp(x, y)), want, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize(("name", "reference"), [("erf", erf), ("log1p", np.log1p), ("expm1", np.expm1)])
def test_a_new_function_is_exact_everywhere(name, reference):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-0.99, 6, 20000), rng.uniform(-1e-3, 1e-3, 5000), np.geomspace(1e-300, 1, 500)])
    assert_within_ulps(elements(getattr(xt, name)(x)), reference(x), 3, name)
