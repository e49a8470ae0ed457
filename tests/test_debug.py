"""Statements looked at: what made the first NaN, what the interpreter thinks of machine code, and everything without machine code."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exprten_jit import interpret
from exprten_jit.derived import TABLE
from exprten_jit.ops import PRIMITIVE, Primitive, common_types

import exprten as xt
from exprten.expression.expr import build

INF, NAN = float("inf"), float("nan")
HERE = __file__


def line_with(text: str, source: str = HERE) -> str:
    """`file:number` of the one line that ends with a text."""
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    (number,) = [n for n, line in enumerate(lines, 1) if line.endswith(text)]
    return f"{source}:{number}"


def f32(*numbers: float) -> xt.Tensor:
    return xt.array(np.array(numbers, np.float32))


@pytest.fixture
def nan():
    with xt.options(check="nan"):
        yield


def error_of(run) -> str:
    with pytest.raises(xt.NonFiniteError) as found:
        run()
    return str(found.value)


# NaN: who is named.


@pytest.mark.usefixtures("nan")
def test_the_operation_its_index_operands_and_line_are_named_and_the_result_is_stored():
    x, y, out = f32(1, 2, 3), f32(1, 0, 2), xt.zeros(3)

    def run():
        out[...] = 1 + 2 * (
            x / y  # the culprit
        )

    text = error_of(run)
    assert "(float32(3,) / float32(3,)) is inf at index (1,)" in text
    assert "its operands are 2.0 and 0.0" in text
    assert line_with("x / y  # the culprit") + ": x / y" in text
    assert out.numpy().tolist() == [3, INF, 4]


@pytest.mark.usefixtures("nan")
def test_the_first_operation_is_named_depth_first_and_not_what_hands_it_on():
    x = f32(-1, 4)
    text = error_of(lambda: xt.evaluate(xt.exp(xt.sqrt(x) * 2) + xt.log(x)))
    assert "sqrt(float32(2,)) is nan at index (0,), and its operand is -1.0" in text


@pytest.mark.usefixtures("nan")
@pytest.mark.parametrize("made", [
    lambda x, z: x + f32(INF, 1, NAN),                      # was there
    lambda x, z: x * INF,                                   # the user's own number
    lambda x, z: xt.where(z > 0, xt.log(z), 0.0),           # not chosen
    lambda x, z: xt.isfinite(x / z),                        # no float
    lambda x, z: xt.maximum(xt.log(z), -5.0),               # gone again
    lambda x, z: xt.pad(x, [(1, 1)], value=-INF),
    lambda x, z: xt.sum(f32(INF, 1, 2) * x) + z,
], ids=("there", "own", "not chosen", "no float", "gone", "padding", "folded"))  # fmt: skip
def test_what_was_not_gained_is_no_error(made):
    xt.evaluate(made(f32(1, 2, 3), f32(1, 0, 2)))


@pytest.mark.usefixtures("nan")
def test_a_gained_element_is_found_among_those_that_were_there():
    text = error_of(lambda: xt.evaluate(f32(INF, 1, 2) + xt.log(f32(1, 2, 0))))
    assert "log(float32(3,)) is -inf at index (2,), and its operand is 0.0" in text


@pytest.mark.usefixtures("nan")
@pytest.mark.parametrize(
    ("mode", "start", "value", "words"),
    [
        ("add", 3e38, 3e38, "(float32(1,) + float32(1,)) is inf at index (0,)"),
        ("sub", -3e38, 3e38, "is -inf"),
        ("mul", 1e30, 1e30, "its operands are 1.0000000150474662e+30 and"),
        ("div", 1.0, 0.0, "its operands are 1.0 and 0.0"),
    ],
)
def test_modes_are_operations_on_the_old_target(mode, start, value, words):
    target = f32(start)
    assert words in error_of(lambda: xt.assign(target, mode, f32(value)))
    assert not np.isfinite(target.numpy()).any()


@pytest.mark.usefixtures("nan")
def test_the_conversion_of_the_store_is_an_operation():
    text = error_of(lambda: xt.assign(xt.zeros(2), "write", xt.array(np.array([1.0, 1e300]))))
    assert "cast[float32](float64(2,)) is inf at index (1,), and its operand is 1e+300" in text


@pytest.mark.usefixtures("nan")
def test_a_fold_is_named_with_what_it_is_made_of():
    x = xt.array(np.array([[1, 2, 3], [3e38, 3e38, 1]], np.float32))
    text = error_of(lambda: xt.evaluate(xt.sum(x, axis=1) * 0))
    assert "sum(float32(2, 3), axis=1) is inf at index (1,)" in text
    assert "it is made of 3 finite numbers, the largest 3.0000000054977558e+38 in size" in text
    kept = error_of(lambda: xt.evaluate(x - xt.sum(x, axis=1, keepdims=True)))
    assert "axis=1) is inf at index (1, 0)" in kept


@pytest.mark.usefixtures("nan")
@pytest.mark.parametrize(
    "shapes", [((2, 3), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((4, 2, 3), (3, 2)), ((3,), (3,))]
)
def test_a_product_is_named_with_its_row_and_column(shapes):
    a, b = (np.full(shape, 1e20, np.float32) for shape in shapes)
    text = error_of(lambda: xt.evaluate(xt.asarray(a) @ xt.asarray(b)))
    assert "it is made of 6 finite numbers" in text
    b[...] = 1
    a.reshape(-1, 3)[-1, 1] = NAN  # handed on
    xt.evaluate(xt.asarray(a) @ xt.asarray(b))


@pytest.mark.usefixtures("nan")
def test_moved_elements_are_followed_to_where_they_were_made():
    x = f32(1, 2, 0, 4)
    text = error_of(lambda: xt.evaluate(xt.concat(xt.flip(xt.log(x), 0), x * 2)))
    assert "log(float32(4,)) is -inf at index (2,)" in text
    text = error_of(lambda: xt.evaluate(xt.pad(xt.reshape(1 / x, (2, 2)), 1)))
    assert "is inf at index (2,), and its operands are 1 and 0.0" in text


@pytest.mark.usefixtures("nan")
def test_operands_that_overlap_the_target_are_those_before_the_statement():
    memory = f32(0, 1, 2, 3)

    def run():
        memory[1:] = 1 / memory[:-1]

    assert "is inf at index (0,), and its operands are 1 and 0.0" in error_of(run)
    assert memory.numpy().tolist() == [0, INF, 1, 0.5]


@pytest.mark.usefixtures("nan")
def test_a_joined_target_is_one_target():
    a, b = f32(1, 2), f32(3, 0)
    target = xt.concat(a, b)
    assert "log" in error_of(lambda: xt.assign(target, "write", xt.log(target)))
    assert b.numpy()[1] == -INF


def test_kernels_name_the_line_of_the_operator_also_where_they_ran_before():
    @xt.kernel
    def update(w, g, *, lr):
        g[...] = g / w
        w -= lr * xt.sqrt(
            g + 0  # in a kernel
        )

    w, g = f32(1, 2), f32(4, -2)
    for _ in range(5):
        update(f32(1, 2), f32(4, 2), lr=0.5)
    with xt.options(check="nan"):
        update(f32(1, 2), f32(4, 2), lr=0.5)
        text = error_of(lambda: update(w, g, lr=0.5))
    assert "sqrt((float32(2,) + 0)) is nan at index (1,), and its operand is -1.0" in text
    assert line_with("w -= lr * xt.sqrt(") in text
    assert g.numpy().tolist() == [4, -1]
    with xt.options(check="nan"):
        rows = [f32(1), f32(0)], [f32(1), f32(1)]
        assert "its operands are 1.0 and 0.0" in error_of(lambda: update.foreach(*rows, lr=0.5))


def test_a_statement_of_before_is_looked_at_and_names_its_own_line_for_older_nodes():
    x = f32(0, 1)
    made = xt.log(x)
    with xt.options(check="nan"):
        text = error_of(lambda: xt.evaluate(made))  # older
    assert line_with("xt.evaluate(made))  # older") in text


def test_outside_of_the_block_nothing_is_left():
    x, y, out = f32(1, 2), f32(0, 1), xt.zeros(2)
    before = {name: vars(xt.Expr)[name] for name in ("__add__", "__radd__", "__truediv__")}
    with xt.options(check="nan"), xt.options(check="nan"):
        assert error_of(lambda: xt.evaluate(x / y))
    assert {name: vars(xt.Expr)[name] for name in before} == before
    for _ in range(5):
        out[...] = x / y
    assert out.numpy().tolist() == [INF, 2]


def test_a_check_that_is_none_is_refused():
    with (
        pytest.raises(ValueError, match="options: check is 'inf'; it must be None, 'nan' or 'oracle'"),
        xt.options(check="inf"),
    ):
        pass


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "complex128"])
def test_every_type_is_looked_at(name):
    dtype = getattr(xt, name, name)
    x, zero = (xt.cast(xt.array([1.0, 2.0, n]), dtype) for n in (3.0, 0.0))
    for options in ({"check": "oracle"}, {"interpret": True}):
        with xt.options(**options):
            assert np.isfinite(xt.evaluate(x * x + xt.sum(x)).numpy()).all()
    with xt.options(check="nan"):
        assert "at index (2,)" in error_of(lambda: xt.evaluate((x / zero) * 2))


# The oracle.


@pytest.fixture
def wrong():
    """An operation whose machine code is another one's."""
    row = Primitive("wrong", 2, np.subtract, resolve=common_types, llvm={"f": "fadd"}, cuda={"f": "({0} + {1})"})
    TABLE["wrong"] = PRIMITIVE["wrong"] = row
    yield lambda a, b: build("wrong", a, b)
    del TABLE["wrong"], PRIMITIVE["wrong"]


def test_machine_code_that_differs_from_the_interpreter_is_an_error(wrong):
    x = f32(1, 2, 3)
    with xt.options(check="oracle"):
        with pytest.raises(xt.MismatchError) as found:
            xt.evaluate(wrong(x, x) + 1)
        assert "(wrong(float32(3,), float32(3,)) + 1): np.float32(3.0) was stored to out at {'i0': 0}" in str(
            found.value
        )
        assert "the interpreter computes np.float32(1.0)" in str(found.value)
        xt.evaluate(x + x)
        with pytest.raises(xt.MismatchError):
            xt.evaluate(xt.sum(wrong(x, x)))


def _statements(make):
    """Statements of every kind, each with what it stores to."""
    rng = np.random.default_rng(0)
    x, y, m = make(rng.random((5, 7))), make(rng.random(7)), make(rng.random((7, 4)))
    p = make(np.zeros((5, 4)))
    x[...] = xt.exp(x - xt.max(x, axis=1, keepdims=True)) / y
    x -= 0.5 * xt.sum(x, axis=1, keepdims=True)
    x[:, 1:] = x[:, :-1] * y[1:]
    x[...] = x / xt.sum(x, axis=1, keepdims=True)
    p += 2.0 * (x @ m)
    p[...] = xt.maximum(x @ m, 0.0) + xt.log(xt.abs(x @ m) + 1)
    xt.concat(p, x, axis=1)[...] = xt.concat(p, x, axis=1) * 1.5

    @xt.kernel
    def both(a, b, *, lr):
        b[...] = a * lr + b
        a -= b / 3

    both(x, make(rng.random((5, 7))), lr=0.25)
    both.foreach([y], [make(rng.random(7))], lr=0.5)
    return [t.numpy().copy() for t in (x, y, m, p)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_right_statements_of_every_kind_pass_the_oracle_and_are_the_interpreters_bits(dtype):
    def make(a):
        return xt.array(a.astype(dtype))

    if dtype == "complex64":
        z = xt.array(np.array([1 + 2j, 3 - 1j], dtype))
        plain = xt.evaluate(z * z - xt.sum(z)).numpy()
        for options in ({"check": "oracle"}, {"interpret": True}):
            with xt.options(**options):
                assert xt.evaluate(z * z - xt.sum(z)).numpy().tobytes() == plain.tobytes()
        return
    with xt.options(blas="own"):
        plain = _statements(make)
        with xt.options(check="oracle"):
            judged = _statements(make)
    with xt.options(interpret=True):
        slow = _statements(make)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(plain, judged, strict=True))
    for a, b in zip(plain, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_folds_are_the_interpreters_bits():
    x = xt.array(np.random.default_rng(1).standard_normal((3, 300)).astype(np.float32))
    plain = xt.evaluate(xt.sum(x, axis=1) + xt.mean(x)).numpy()
    with xt.options(interpret=True):
        assert xt.evaluate(xt.sum(x, axis=1) + xt.mean(x)).numpy().tobytes() == plain.tobytes()


def test_interpreted_statements_compile_nothing():
    x = xt.array(np.linspace(0, 1, 11))
    before = xt.stats().compiles
    with xt.options(interpret=True), xt.options(check="nan"):
        got = xt.evaluate(x * 12345 - xt.sqrt(x)).numpy()
        assert "log" in error_of(lambda: xt.evaluate(xt.log(x)))
    assert xt.stats().compiles == before
    np.testing.assert_array_equal(got, x.numpy() * 12345 - np.sqrt(x.numpy()))


# The environment.

PROGRAM = """
import numpy as np, exprten as xt
x = xt.array(np.arange(4.0))
for _ in range(9):
    x += 1.0
print(x.numpy().tolist(), xt.stats().compiles)
try:
    x[...] = 1 / (x - 9)
except xt.NonFiniteError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("EXPRTEN_CHECK", "nan", "is inf at index (0,), and its operands are 1 and 0.0\n  <string>:8"),
        ("EXPRTEN_CHECK", "oracle", "[9.0, 10.0, 11.0, 12.0] 1"),
        ("EXPRTEN_INTERPRET", "1", "[9.0, 10.0, 11.0, 12.0] 0"),
    ],
)
def test_the_environment_sets_the_options_from_the_start(name, value, shown):
    root = Path(HERE).parents[1]
    found = {"PYTHONPATH": os.pathsep.join((str(root), str(root / "jit")))}
    env = os.environ | found | {name: value, "EXPRTEN_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=True)
    assert shown in done.stdout


SAMPLE = ("tests/test_target.py", "tests/test_aliasing.py")
CHOSEN = "python_statements or each_part or in_place or inplace_takes or borrowed"


@pytest.mark.parametrize("name", ["EXPRTEN_INTERPRET=1", "EXPRTEN_CHECK=oracle"])
def test_some_tests_of_other_files_pass_without_machine_code_and_before_the_judge(name):
    key, _, value = name.partition("=")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *SAMPLE, "-k", CHOSEN]
    root = Path(HERE).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {key: value}, cwd=root, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_interpreter_folds_once_what_many_elements_need(monkeypatch):
    found = []
    once = interpret._fold
    monkeypatch.setattr(interpret, "_fold", lambda node, *rest: found.append(node) or once(node, *rest))
    x = xt.array(np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32))
    e = (x - xt.mean(x, 1, keepdims=True)) / xt.std(x, 1, keepdims=True)
    with xt.options(interpret=True):
        slow = xt.evaluate(e).numpy()
    assert (
        len(found) == 2 * 3
    )  # a mean and a variance of each row, not of each element, nor a mean for each term of a variance
    assert slow.tobytes() == xt.evaluate(e).numpy().tobytes()
    with xt.options(check="oracle"):
        xt.evaluate(e)
