"""Kernel keys: what is an argument of a kernel, and what decides which kernel it is."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import exprten as xt


class Compiles:
    """How many kernels were compiled since this was made."""

    def __init__(self):
        self._before = xt.stats().compiles

    def __call__(self):
        return xt.stats().compiles - self._before


def test_ten_thousand_scalars_are_one_kernel():
    w, g = xt.zeros(5), xt.ones(5)
    w -= 0.5 * (g + 0.25 * w)
    compiled = Compiles()
    for k in range(10_000):
        w -= (k * 1e-3) * (g + (k + 0.5) * w)
        w *= 0.0
    w -= 3.0 * (g + 0.25 * w)
    assert w.numpy().tolist() == [-3.0] * 5
    assert compiled() <= 1  # of `*=`


@pytest.mark.parametrize(
    "scalars",
    [[0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e-40, 1e300, 2.0**-1074], [0, 1, -1, 2**31, 2**62, -(2**62), 10**30],
     [np.float32(x) for x in (0, 1, np.nan, np.inf)], [np.float64(x) for x in (0, 1, np.nan, 1e300)],
     [np.int32(x) for x in (0, 1, -(2**31))], [True, False], [np.True_, np.False_]],
    ids=["float", "int", "np.float32", "np.float64", "np.int32", "bool", "np.bool"],
)  # fmt: skip
def test_every_value_of_a_kind_is_one_kernel(scalars):
    t, data = xt.array([1.5, 2.5]), np.array([1.5, 2.5], np.float32)
    xt.evaluate(t * scalars[0])
    compiled = Compiles()
    with np.errstate(all="ignore"):
        for x in scalars:
            np.testing.assert_array_equal(xt.evaluate(t * x).numpy(), data * x)
    assert compiled() == 0


def test_a_thousand_shapes_are_one_kernel():
    def run(shape):
        t = xt.ones(shape)
        t[...] = t * 3 + 1
        assert (t.numpy() == 4).all()

    run((2, 3))
    compiled = Compiles()
    for n in range(2, 502):
        run((n,))
    for n in range(2, 252):
        run((n, 3))
        run((2, n, 2))
    assert compiled() == 0


def test_strided_shapes_are_one_kernel():
    def run(rows, columns, step):
        t = xt.ones((rows, columns * step))
        t[:, ::step] += 1
        assert t.numpy().sum() == rows * columns * (step + 1)

    run(3, 4, 2)
    compiled = Compiles()
    for rows in range(2, 12):
        for columns in range(2, 12):
            for step in (2, 3, 5):
                run(rows, columns, step)
    assert compiled() == 0


def test_padded_rows_are_one_kernel():
    def run(rows, columns):
        t = xt.ones((rows, columns), pad=True)
        t *= 5
        assert (t.numpy() == 5).all()

    run(3, 5)
    compiled = Compiles()
    for columns in (2, 3, 15, 17, 31, 33):
        run(4, columns)
        run(7, columns)
    assert compiled() == 0


def test_pad_widths_are_one_kernel():
    def run(y, x):
        e = xt.pad(xt.ones((3, 4)) * 2, [(y, y), (x, x)])
        assert xt.evaluate(e).numpy().sum() == 24

    run(1, 2)
    compiled = Compiles()
    for y in range(1, 6):
        for x in range(1, 6):
            run(y, x)
    assert compiled() == 0


def test_crop_offsets_and_flips_and_slices_are_one_kernel():
    data = np.arange(63, dtype=np.float32).reshape(7, 9)
    t = xt.array(data)

    def run(y, x):
        np.testing.assert_array_equal(xt.evaluate(xt.crop(t * 1, (3, 4), (y, x))).numpy(), data[y : y + 3, x : x + 4])

    run(0, 0)
    compiled = Compiles()
    for y in range(4):
        for x in range(5):
            run(y, x)
    assert compiled() == 0


def test_concat_extents_are_one_kernel():
    def run(a, b):
        assert xt.evaluate(xt.concat(xt.ones(a), xt.zeros(b))).numpy().tolist() == [1] * a + [0] * b

    run(3, 4)
    compiled = Compiles()
    for a in range(2, 12):
        for b in range(2, 12):
            run(a, b)
    assert compiled() == 0


def test_integer_ranges_are_one_kernel():
    def run(start, stop, step):
        assert xt.evaluate(xt.range(start, stop, step)).numpy().tolist() == list(range(start, stop, step))

    run(0, 10, 1)
    compiled = Compiles()
    for start in range(-3, 3):
        for step in (1, 2, 3, -1, -4):
            run(start, start + 7 * step, step)
    assert compiled() == 0


STATEMENTS = {
    "update": lambda w, g: w.__isub__((g + w * 0.1) * 0.01),
    "copy": lambda w, g: w.assign(g),
    "broadcast": lambda w, g: w.assign(xt.exp(g[:, :1]) + g),
    "shift": lambda w, g: w[1:].assign(w[:-1] * 2),
    "transposed": lambda w, g: w.T.assign(g.T + 1),
    "pad": lambda w, g: w.assign(xt.pad(g[1:-1, 1:-1], 1) + 1),
    "compare": lambda w, g: w.assign(xt.where(g > 0.5, g, -g)),
    "scalar": lambda w, g: w.assign(3.0),
    "row": lambda w, g: w[0].assign(g[1]),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_second_run_compiles_nothing(name):
    w, g = xt.ones((6, 7)), xt.array(np.linspace(0, 1, 42, dtype=np.float32).reshape(6, 7))
    STATEMENTS[name](w, g)
    compiled = Compiles()
    with xt.no_compile():
        for n in (6, 9, 12):
            STATEMENTS[name](xt.ones((n, 7)), xt.ones((n, 7)))
    assert compiled() == 0


def test_statements_of_equal_structure_share_a_kernel():
    def momentum(w, m, g):
        m[...] = m * 0.9 - g * 0.1
        return w

    momentum(xt.zeros(5), xt.zeros(5), xt.ones(5))
    compiled = Compiles()
    a, b, out = xt.ones((2, 3)), xt.full((2, 3), 2.0), xt.full((2, 3), 7.0)
    out[...] = out * 0.25 - a * 4.0
    assert (out.numpy() == 7 * 0.25 - 4).all()
    b[...] = b * 1.5 - out * 0.0
    assert compiled() == 0


DIFFERENT = {
    "operation": lambda a: a - 2.0,
    "type of an operand": lambda a: a + xt.cast(a, xt.float64),
    "kind of a scalar": lambda a: a + np.float64(2),
    "identity of leaves": lambda a: a + a,
    "one more operation": lambda a: -(a + 2.0),
    "a broadcast leaf": lambda a: a + a[:1],
    "a reversed leaf": lambda a: a[::-1] + 2.0,
    "a strided leaf": lambda a: xt.zeros(200)[::5] + 2.0,
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_structure_is_another_kernel(name):
    """Seen by the words of the plan: each has another loop nest or another text than `a + 2.0`."""
    a = xt.ones(40)
    plain = xt.plan(xt.zeros(40), a + 2.0)
    other = xt.plan(xt.zeros(40), DIFFERENT[name](a))
    assert other.ir != plain.ir or other.nest != plain.nest


def test_structural_exponents_are_their_own_kernels():
    t = xt.array([2.0, 3.0])
    assert "sqrt" in xt.plan(xt.zeros(2), t**0.5).ir
    assert "fma" not in xt.plan(xt.zeros(2), t**2).ir
    xt.evaluate(t**1.7)
    compiled = Compiles()
    for exponent in (0.1, 4.0, -2.5, 7, 20.0):
        np.testing.assert_allclose(
            xt.evaluate(t ** float(exponent)).numpy(), np.array([2.0, 3.0]) ** exponent, rtol=1e-5
        )
    assert compiled() == 0


def test_forty_doublings_are_a_small_kernel():
    e = xt.array(np.arange(1, 41, dtype=np.float32))
    for _ in range(40):
        e = e + e
    assert e.key.paths == 2**40
    out = xt.zeros(40)
    plan = xt.plan(out, e)
    assert len(plan.llvm) < 40_000
    assert plan.flops == 40 * 40
    assert plan.recompute == 1
    plan.run()
    np.testing.assert_array_equal(out.numpy(), np.arange(1, 41, dtype=np.float32) * 2.0**40)


def test_a_shared_node_is_computed_once():
    a = xt.ones(40)
    s = xt.sqrt(a)
    shared = xt.plan(xt.zeros(40), s * s + s)
    assert shared.ir.count("sqrt(") == 1
    assert xt.plan(xt.zeros(40), xt.sqrt(a) * xt.sqrt(a) + xt.sqrt(a)).ir.count("sqrt(") == 1  # by structure, too


def test_options_change_the_kernel_and_come_back():
    a, out = xt.ones(40), xt.zeros(40)

    def text(**changes):
        with xt.options(**changes):
            return xt.plan(out, a * a + a).llvm

    plain = text()
    assert "contract" in text(fast_math=True) and "contract" not in plain
    narrow = text(vector_bits=128)
    assert "<4 x float>" in narrow and not re.search(r"<(8|16) x float>", narrow)
    assert text(max_recompute=99.0) == plain
    assert text() == plain


def test_limit_of_recomputation_is_no_other_kernel():
    a, out = xt.ones(41), xt.zeros(41)
    out[...] = a * 7 - a * 5
    compiled = Compiles()
    with xt.options(max_recompute=77.0):
        out[...] = a * 7 - a * 5
    assert compiled() == 0


def test_options_are_read_once_for_each_thread_of_control():
    with xt.options(fast_math=True) as outer:
        assert outer.fast_math
        with xt.options(llvm_level=1) as inner:
            assert inner.fast_math and inner.llvm_level == 1
        with xt.options() as again:
            assert again == outer
    with xt.options() as now:
        assert not now.fast_math


@pytest.mark.parametrize("level", [0, 1, 2, 3])
@pytest.mark.parametrize("bits", [None, 128, 256])
def test_options_never_change_the_numbers(level, bits):
    data = np.linspace(-3, 3, 301, dtype=np.float32)
    a, out = xt.array(data), xt.zeros(301)
    with xt.options(llvm_level=level, vector_bits=bits):
        out[...] = a * a * 0.1 + a / 3 - xt.maximum(a, 0.5)
    np.testing.assert_array_equal(
        out.numpy(), data * data * np.float32(0.1) + data / np.float32(3) - np.maximum(data, 0.5)
    )


# no_compile says what differs.

NO_COMPILE = {  # a statement -> how the one kernel there is differs
    "w[...] = g * 1.25 - 2": (
        "target [...] = ((float32(4, 6) * 1.25) - 2)",
        "structure ((leaf, 1), (multiply, 0, -1), (subtract, 1, -1)) is not ((leaf, 1), (multiply, 0, -1), (add, 1, -1))",
    ),
    "w[:, ::4] = g[:, ::4] * 1.25 + 2": (
        "target [...] = ((float32(4, 2) * 1.25) + 2)",
        "operands (float32[stride, stride], float32[stride, stride]) is not (float32[1], float32[1]); axes (0, 1) is not (0)",
    ),
    "d[...] = g * 1.25 + 2": (
        "target [...] = ((float32(4, 6) * 1.25) + 2)",
        "types (float64) is not (float32); operands (float64[1], float32[1]) is not (float32[1], float32[1])",
    ),
    "w += g * 1.25 + 2": (
        "target += ((float32(4, 6) * 1.25) + 2)",
        "op add is not None; types (float32, float32) is not (float32)",
    ),
}
FRESH = """
import sys; sys.path[:0] = ['.', 'jit']
import numpy as np
import exprten as xt
w, g, d = (xt.asarray(np.ones((4, 6), dtype)) for dtype in ('f4', 'f4', 'f8'))
with xt.no_compile():
    try:
        w[...] = g
    except xt.CompileError as error:
        print(error)
w[...] = g * 1.25 + 2
with xt.no_compile():
    w[...] = g * 1.5 + 3
    try:
        exec(sys.argv[1])
    except xt.CompileError as error:
        print(error)
"""


@pytest.mark.parametrize("statement", NO_COMPILE)
def test_no_compile_says_what_differs(statement):
    """In a process of its own: what the nearest kernel is depends on those there are."""
    tree, difference = NO_COMPILE[statement]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", FRESH, statement], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "no_compile: target [...] = float32(4, 6) has no kernel yet; no kernel was compiled yet",
        f"no_compile: {tree} has no kernel yet; compared with the nearest one there is: {difference}",
    ]


def test_no_compile_stores_nothing_and_ends_with_its_block():
    t = xt.ones(40)
    e = xt.tanh(t) * 0.0625 - xt.tanh(xt.sqrt(t))
    with xt.no_compile(), pytest.raises(xt.CompileError):
        t[...] = e
    assert t.numpy().tolist() == [1] * 40
    t[...] = e
    with xt.no_compile():
        t[...] = xt.tanh(t) * 0.0625 - xt.tanh(xt.sqrt(t))


@pytest.mark.parametrize("sizes", [(48, 300), (300, 48)])
def test_no_compile_allows_another_size_whatever_it_is_best_for(sizes):
    """What is small has a kernel of its own, which never fetches early: right for all sizes, and so is the one of what is large."""

    def turned(rows):
        x = np.arange(rows * 40 * 60, dtype=np.float32).reshape(rows, 40, 60)
        y = xt.zeros((60, 40, rows))
        y[...] = xt.transpose(xt.asarray(x), (2, 1, 0)) * 0.375 + 11
        np.testing.assert_array_equal(y.numpy(), x.T * np.float32(0.375) + 11)

    before = xt.stats()
    turned(sizes[0])
    with xt.no_compile():
        turned(sizes[1])
    assert xt.stats().compiles <= before.compiles + 1


def test_stats_count_compiles_hits_and_allocations():
    a = xt.ones(43)
    before = xt.stats()
    out = xt.zeros(43)
    assert xt.stats().allocations == before.allocations + 1
    before = xt.stats()
    e = xt.trunc(a) * 0.375 - xt.rint(a) * 4
    out[...] = e
    first = xt.stats()
    assert (first.compiles, first.hits) == (before.compiles + 1, before.hits)
    assert first.compile_seconds > before.compile_seconds
    out[...] = e
    second = xt.stats()
    assert (second.compiles, second.hits) == (first.compiles, first.hits + 1)
    assert second.compile_seconds == first.compile_seconds
    assert second.allocations == before.allocations


def test_stats_are_a_snapshot():
    before = xt.stats()
    compiles = before.compiles
    xt.evaluate(xt.ceil(xt.ones(3)) * 0.4375 - xt.floor(xt.ones(3)))
    assert before.compiles == compiles < xt.stats().compiles


@pytest.mark.parametrize("value", ["2.0", "3", "x * 2.0", "xt.exp(x)"])
def test_a_repeated_statement_follows_its_value_and_its_options(value):
    """Direct calls are made in the third run: the next ones must read what is new."""
    x, target = xt.array(np.linspace(0, 1, 21, dtype=np.float32)), xt.zeros(21)
    for fast in (False, True, False):
        for run in range(5):
            x[...] = float(run)
            with xt.options(fast_math=fast) if fast else contextlib.nullcontext():
                target[...] = 1.0
                target *= eval(value, {"x": x, "xt": xt})
                wanted = np.asarray(xt.evaluate(eval(value, {"x": x, "xt": xt}) + xt.zeros(21)).numpy())
            np.testing.assert_array_equal(target.numpy(), wanted)
