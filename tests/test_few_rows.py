"""Folds down the columns of a few rows, which are written out: what they are, and that their bits are those of rows in strips."""

import re

import numpy as np
import pytest
from emulator import why_not
from emulator.driver import emulated
from exprten_jit.backends.llvm_run import machine
from exprten_jit.folds import folds_of
from exprten_jit.nest import Vector, statements
from exprten_jit.reducers import ACROSS, brought_together
from strategies import SMALL, WIDE, place
from test_drawn_blocks import forget
from test_folds import judged

import exprten as xt
from exprten.statement import blocks, few

COUNTS = (*range(2, 10), 17, 18, 19)
COLUMNS = (2, 5, 16, 67, 300)
WIDTHS = (128, 256, 512)


def numbers(shape, dtype="float32", seed=0):
    x = np.random.default_rng(seed + sum(shape)).uniform(-4, 4, shape)
    return (abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def softmax(x, axis=0):
    powers = xt.exp(x - xt.max(x, axis, keepdims=True))
    return powers / xt.sum(powers, axis, keepdims=True)


def standard(x, axis=0):
    return (x - xt.mean(x, axis, keepdims=True)) / xt.std(x, axis, keepdims=True)


def nested(x, axis=0):
    """A fold of a fold of a fold."""
    largest = xt.max(x - xt.mean(x, axis, keepdims=True), axis, keepdims=True)
    return xt.sum(x * largest, axis, keepdims=True) - x


def in_order(rows):
    """The sum of rows as it is defined."""
    return brought_together(rows, np.add, np.full(rows.shape[1:], -0.0, rows.dtype), ACROSS)


def written(plan):
    """Whether a plan has no loop over the rows that are folded."""
    loops = [s for s in statements(plan._code.nest.body) if isinstance(s, Vector)]
    return plan._code.nest.written and not any(folds_of(*(s.value for s in loop.stores)) for loop in loops)


def in_strips(x, statement, axis=0):
    """What a statement is of the same rows, ten columns at a time: so few have a loop over their rows."""
    parts = [statement(xt.asarray(x[..., k : k + 10].copy()), axis) for k in range(0, x.shape[-1], 10)]
    return np.concatenate([xt.evaluate(part).numpy() for part in parts], -1)


@pytest.mark.parametrize("count", COUNTS)
def test_sums_have_the_order_of_rows(count):
    for columns in COLUMNS:
        x = numbers((count, columns))
        for bits in WIDTHS:
            with xt.options(vector_bits=bits):
                plan = xt.plan(xt.zeros(columns), xt.sum(xt.asarray(x), 0))
                assert plan.run().numpy().tobytes() == in_order(x).tobytes(), (columns, bits)
        assert written(plan) == (count <= (18 if columns > 64 else 8) and columns >= 16)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    ("statement", "rows", "columns"), [(softmax, 11, 17), (standard, 12, 29), (standard, 16, 33), (standard, 5, 24)]
)
def test_rows_that_are_no_whole_vectors_have_the_bits_of_strips(statement, rows, columns, dtype):
    """What is left of a row is computed in half a register."""
    x = numbers((7, rows, columns), dtype)
    wanted = in_strips(x, statement, 1)
    for bits, threads in ((128, 3), (256, 1), (512, 2)):
        with xt.options(vector_bits=bits, num_threads=threads):
            room = np.full(x.size + 64, 7, dtype)
            target = room[32 : 32 + x.size].reshape(x.shape)
            plan = xt.plan(xt.asarray(target), statement(xt.asarray(x), 1))
            plan.run()
            assert target.tobytes() == wanted.tobytes(), bits
            assert (room[:32] == 7).all() and (room[32 + x.size :] == 7).all()
            assert written(plan) or dtype != "float32"


@pytest.mark.parametrize(
    ("statement", "count"),
    [*((softmax, k) for k in (2, 5, 8)), *((standard, k) for k in (3, 7)), *((nested, k) for k in (6,))],
)
def test_what_is_made_of_folds_has_the_bits_of_columns_alone(statement, count):
    for shape in ((count, 67), (3, count, 70)):
        x = numbers(shape)
        axis = len(shape) - 2
        wanted = in_strips(x, statement, axis)
        for bits, threads in ((128, 3), (512, 2)):
            with xt.options(vector_bits=bits, num_threads=threads):
                out = xt.zeros(shape)
                plan = xt.plan(out, statement(xt.asarray(x), axis))
                assert written(plan) == (count <= 8)
                assert plan.scratch_bytes == 0 or count > 8
                plan.run()
                assert out.numpy().tobytes() == wanted.tobytes()
                out += statement(xt.asarray(x), axis)
                assert np.array_equal(out.numpy(), wanted + wanted)
                here = xt.asarray(x.copy())
                here[...] = statement(here, axis)
                assert here.numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("shape", [(3, 200_001), (6, 3, 30_000)])
def test_threads_share_columns_or_an_outer_axis(shape):
    x, found = xt.asarray(numbers(shape)), set()
    for threads in (1, 2, 3):
        with xt.options(num_threads=threads):
            found.add(xt.evaluate(standard(softmax(x, -2), -2)).numpy().tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("statement", [softmax, standard, nested])
def test_the_interpreter_has_the_same_bits(statement):
    for count in (2, 5):
        x = xt.asarray(numbers((count, 16)))
        for mode in ("write", "add", "inplace"):
            if mode == "inplace":
                plan = xt.plan(xt.asarray(numbers((count, 16))), statement(x), mode)
            else:
                plan = xt.plan(xt.ones(x.shape), statement(x), mode)
            assert written(plan)
            wanted = judged(plan).copy()
            assert plan.run().numpy().tobytes() == wanted.tobytes()


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "")
@pytest.mark.parametrize("shape", [(3, 70), (5, 8, 40)])
def test_a_gpu_has_the_bits_of_the_cpu(shape):
    x = numbers(shape)
    with emulated():
        for statement in (softmax, standard):
            found = [xt.evaluate(statement(xt.array(x, device=d), -2)).numpy() for d in (xt.cpu(), xt.gpu(0))]
            assert found[0].tobytes() == found[1].tobytes()


LYING = {
    "padded": lambda x: np.pad(x, ((0, 0), (0, 5)))[:, :-5],
    "offset": lambda x: np.pad(x, ((0, 0), (3, 0)))[:, 3:],
    "every other row": lambda x: np.repeat(x, 2, 0)[::2],
    "every other column": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "every third column": lambda x: np.repeat(x, 3, 1)[:, ::3],
    "rows reversed": lambda x: x[::-1].copy()[::-1],
    "columns reversed": lambda x: x[:, ::-1].copy()[:, ::-1],
    "across": np.asfortranarray,
}


@pytest.mark.parametrize("source", LYING)
def test_rows_that_lie_in_other_ways(source):
    for count, statement in ((3, softmax), (8, lambda x, axis=0: x - xt.max(x, axis, keepdims=True))):
        x = numbers((count, 70))
        want = in_strips(x, statement)
        targets = ("offset", source) if "every" in source else ("padded", "offset", "rows reversed", "across", source)
        for target in targets:
            memory = LYING[target](np.full(x.shape, 7, np.float32))
            xt.asarray(memory)[...] = statement(xt.asarray(LYING[source](x)))
            if source == "across":  # rows of few elements, which have their own order
                np.testing.assert_allclose(memory, want, rtol=1e-5, atol=1e-5)
            else:
                assert memory.tobytes() == want.tobytes(), (target, statement)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "bfloat16", "float64", "bool"])
def test_every_type(dtype):
    for count in (2, 5, 8):
        x = xt.evaluate(xt.cast(xt.asarray(numbers((count, 100))), dtype))
        exact = x.numpy().astype(np.float64)
        for name in ("max", "min", "argmax", "argmin"):
            found = xt.evaluate(getattr(xt, name)(x, 0)).numpy()
            np.testing.assert_array_equal(found.astype(np.float64), getattr(exact, name)(0))
        for name in ("any", "all", "count_nonzero"):
            found = xt.evaluate(getattr(xt, name)(x, 0)).numpy()
            wanted = np.count_nonzero(exact, 0) if name == "count_nonzero" else getattr(exact, name)(0)
            np.testing.assert_array_equal(found, wanted)
        if np.dtype(x.numpy().dtype).kind in "iu":
            np.testing.assert_array_equal(xt.evaluate(xt.sum(x, 0)).numpy(), x.numpy().sum(0))
            np.testing.assert_array_equal(xt.evaluate(xt.prod(x, 0)).numpy(), x.numpy().prod(0))


@pytest.mark.parametrize("count", [2, 3, 8])
def test_complex_numbers(count):
    x = (numbers((count, 40)) + 1j * numbers((count, 40), seed=1)).astype(np.complex64)
    x[0, 3], x[1, 3], x[0, 5] = np.inf, -0.0, complex(np.nan, 1)
    for statement in (xt.sum, xt.prod, xt.max, lambda x, axis: x - xt.mean(x, axis, keepdims=True)):
        wanted = in_strips(x, statement)
        found = xt.evaluate(statement(xt.asarray(x), axis=0)).numpy()
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("count", COUNTS)
def test_extremes_know_nan_and_signed_zeros(count):
    x = -abs(numbers((count, 64)))
    x[:, 0], x[:, 1], x[:, 2] = -0.0, np.nan, -np.inf
    x[-1, 0], x[count // 2, 3] = 0.0, np.nan
    found = xt.evaluate(xt.max(xt.asarray(x), 0)).numpy()
    np.testing.assert_array_equal(found, x.max(0))
    assert not np.signbit(found[0])
    np.testing.assert_array_equal(xt.evaluate(xt.argmax(xt.asarray(x), 0)).numpy(), x.argmax(0))
    np.testing.assert_array_equal(xt.evaluate(xt.argmin(xt.asarray(x), 0)).numpy(), x.argmin(0))


@xt.reducer(identity=0.5)
def strange(a, b):
    """Its identity changes what it is combined with."""
    return a * 0.75 + b


@pytest.mark.parametrize("count", COUNTS)
def test_a_reducer_of_ones_own_begins_with_its_identity(count):
    x = numbers((count, 33))
    found = xt.evaluate(strange(xt.asarray(x), axis=0)).numpy()
    assert found.tobytes() == in_strips(x, strange_of_one).tobytes()


def strange_of_one(x, axis):
    return strange(x, axis=axis)


def test_several_targets():
    @xt.kernel
    def both(a, b, x):
        a[...] = x - xt.mean(x, 0, keepdims=True)
        b[...] = a * a + xt.max(x, 0, keepdims=True)

    for count in (2, 3, 5):
        x = numbers((count, 77))
        a, b = xt.zeros(x.shape), xt.zeros(x.shape)
        both(a, b, xt.asarray(x))
        wanted = in_strips(x, lambda x, axis: x - xt.mean(x, axis, keepdims=True))
        assert a.numpy().tobytes() == wanted.tobytes()
        assert b.numpy().tobytes() == (wanted * wanted + x.max(0)).tobytes()


def test_a_row_that_no_fold_depends_on_repeats_none():
    """What is folded is another tensor's column: it is computed once, not for each row of the target."""
    for count in (3, 8):
        x, y = numbers((40, 64)), numbers((count, 64))
        plan = xt.plan(xt.zeros(x.shape), xt.asarray(x) - xt.sum(xt.asarray(y), 0))
        assert plan.recompute == 1
        assert plan.run().numpy().tobytes() == (x - in_order(y)).tobytes()


def test_what_takes_long_is_not_written_out():
    x = numbers((8, 64))
    dear = xt.tanh(xt.sin(xt.asarray(x)))
    plan = xt.plan(xt.zeros(64), xt.sum(dear, 0))
    assert plan._code.kernel.down and not written(plan)
    assert plan.run().numpy().tobytes() == in_order(xt.evaluate(dear).numpy()).tobytes()


def test_one_kernel_for_any_number_of_columns(monkeypatch):
    monkeypatch.setattr(few, "machine", lambda: WIDE)
    monkeypatch.setattr(blocks, "machine", lambda: WIDE)

    def kernel(shape, axis=0):
        return xt.plan(xt.zeros(shape), softmax(xt.zeros(shape), axis))._code.kernel

    assert [kernel((k, 1000)).down for k in COUNTS] == [2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0]
    cheap = [xt.plan(xt.zeros(1000), xt.max(xt.zeros((k, 1000)), 0))._code.kernel.down for k in COUNTS]
    assert cheap == [2, 3, 4, 5, 6, 7, 8, 9, 17, 18, 0]
    assert kernel((3, 16)) == kernel((3, 70_000))
    assert [kernel((5, 3, n), 1).down for n in (8, 12, 1000)] == [0, 3, 3]
    assert [kernel((5, 8, n), 1).down for n in (8, 9, 1000)] == [0, 8, 8]
    parts = [
        kernel((5, k, n), 1).down for k, n in ((11, 16), (11, 17), (12, 33), (13, 33), (11, 32), (11, 64), (11, 65))
    ]
    assert parts == [11, 11, 12, 13, 11, 11, 11]
    for n in (32, 65):  # of which nothing is stored but what is folded
        plan = xt.plan(xt.zeros((5, n)), xt.max(xt.zeros((5, 8, n)), 1))
        assert plan._code.kernel.down == 8


@pytest.mark.parametrize("function", [softmax, standard, xt.argmax])
@pytest.mark.parametrize(
    "shape", [(9, 3, 8), (7, 5, 9), (6, 14, 7), (5, 11, 17), (4, 16, 31), (3, 15, 33), (2, 3, 4, 65)], ids=str
)
def test_few_rows_of_few_columns_have_no_loop_where_vectors_are_small(function, shape, monkeypatch):
    """Nothing overlaps but one row and itself, no lane is read or written that is not there, and the bits are those of rows alone."""
    monkeypatch.setattr(few, "machine", lambda: SMALL)
    monkeypatch.setattr(blocks, "MOST", 0)
    forget()
    axis, x = len(shape) - 2, numbers(shape)
    for dtype in ("float32", "float64", "float16", "int8"):
        source = xt.asarray((x * 3).astype(dtype))
        if dtype == "int8" and function is xt.argmax:
            source = xt.asarray(place((x * 3).astype(dtype), "padded").array)
        value = function(source, axis)
        alone = [xt.evaluate(function(source[k], axis - 1)).numpy() for k in range(shape[0])]
        for bits, threads in ((None, 1), (256, 3), (128, 1)):
            with xt.options(vector_bits=bits, num_threads=threads):
                plan = xt.plan(xt.zeros(value.shape, value.dtype), value)
                if dtype == "float32":
                    assert plan._code.kernel.columns == shape[-1]
                    assert plan.nest.count("for i") == 2  # of the outer axes, which are one, and of all columns at once
                assert plan.run().numpy().tobytes() == np.stack(alone).tobytes(), f"{dtype}, {bits}"


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32"])
@pytest.mark.parametrize(
    ("shape", "written"),
    [
        ((20, 2, 2), True),
        ((20, 11, 2), True),
        ((20, 12, 2), False),
        ((20, 9, 3), True),
        ((20, 17, 3), True),
        ((20, 18, 3), False),
        ((20, 5, 4), True),
        ((20, 17, 4), True),
        ((5, 4, 9, 4), True),
        ((20, 24, 4), False),
    ],
    ids=str,
)
def test_where_extremes_of_a_few_columns_stand_takes_no_loop_where_vectors_are_small(
    shape, written, dtype, monkeypatch
):
    """Nor a block, of which each comparison takes several steps; the first of equals, and of NaNs."""
    for module in (few, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()
    drawn = (np.random.default_rng(shape[-2]).standard_normal(shape) * 3).round().astype(dtype)
    some = drawn.copy()
    if np.dtype(dtype).kind == "f":
        some[::3, -1], some[1::3, 0] = np.nan, np.nan
    axis = len(shape) - 2
    for x in (drawn, some):
        for name in ("argmax", "argmin"):
            value, want = getattr(xt, name)(xt.asarray(x), axis), getattr(np, name)(x, axis)
            plan = xt.plan(xt.zeros(value.shape, value.dtype), value)
            assert (plan._code.kernel.columns, plan._code.kernel.block) == (shape[-1] * written, ())
            for bits in (None, 256, 128):
                with xt.options(vector_bits=bits):
                    np.testing.assert_array_equal(xt.evaluate(value).numpy(), want, f"{name}, {bits}")


@pytest.mark.parametrize("function", [xt.sum, xt.max])
@pytest.mark.parametrize(("shape", "is_block"), [((40, 12, 2), True), ((40, 16, 3), True), ((40, 17, 3), False)])
def test_two_or_three_columns_are_a_block_where_vectors_are_small(shape, is_block, function, monkeypatch):
    for module in (few, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()
    x = numbers(shape)
    value = function(xt.asarray(x), 1)
    alone = np.stack([xt.evaluate(function(xt.asarray(each), 0)).numpy() for each in x])
    for bits in (None, 256, 128):
        with xt.options(vector_bits=bits):
            plan = xt.plan(xt.zeros(value.shape), value)
            assert bool(plan._code.kernel.block) == is_block
            assert plan.run().numpy().tobytes() == alone.tobytes()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("function", [softmax, standard])
@pytest.mark.parametrize(
    ("shape", "known"),
    [((5, 33, 30), 30), ((3, 40, 17), 17), ((4, 26, 6), 6), ((3, 29, 64), 64), ((3, 29, 65), 0), ((3, 29, 4), 0)],
    ids=str,
)
def test_rows_that_are_stored_know_their_columns_where_vectors_are_small(shape, known, function, turned, monkeypatch):
    """Any number of rows, whether they lie as they are folded, or run on along the outer axis; the bits are those of rows alone."""
    for module in (few, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()
    x = numbers((shape[1], shape[0], shape[2]) if turned else shape)
    for dtype in ("float32", "float64", "float16"):
        memory = xt.asarray(x.astype(dtype))
        source = xt.transpose(memory, (1, 0, 2)) if turned else memory
        value = function(source, 1)
        packed = np.ascontiguousarray(x.astype(dtype).transpose((1, 0, 2) if turned else (0, 1, 2)))
        alone = [xt.evaluate(function(xt.asarray(row), 0)).numpy() for row in packed]
        for bits, threads in ((None, 1), (256, 3), (128, 1)):
            with xt.options(vector_bits=bits, num_threads=threads):
                room = xt.zeros(shape[0] * shape[1] * shape[2] + 2, dtype)
                target = room[1:-1].reshape(shape)
                plan = xt.plan(target, value)
                assert plan._code.kernel.columns == known
                plan.run()
            assert target.numpy().tobytes() == np.stack(alone).tobytes(), f"{dtype}, {bits}"
            assert room.numpy()[0] == room.numpy()[-1] == 0


@pytest.mark.parametrize("function", [xt.sum, xt.max, xt.prod, xt.argmax])
@pytest.mark.parametrize(
    ("shape", "known"),
    [((5, 33, 30), 30), ((3, 2, 40, 17), 17), ((4, 26, 6), 6), ((3, 29, 65), 0), ((33, 30), 0)],
    ids=str,
)
def test_folds_of_many_rows_know_their_columns_where_vectors_are_small(shape, known, function, monkeypatch):
    """Each row of a strip is written out, if there is an outer axis; of an extreme that has its index it is not."""
    for module in (few, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()
    axis = len(shape) - 2
    for dtype in ("float32", "float64", "float16", "int32"):
        x = (numbers(shape) * 2).astype(dtype)
        value = function(xt.asarray(x), axis)
        rows = x.reshape(-1, *shape[-2:])
        alone = [xt.evaluate(function(xt.asarray(each), 0)).numpy() for each in rows]
        for bits, threads in ((None, 1), (256, 3), (128, 1)):
            with xt.options(vector_bits=bits, num_threads=threads):
                plan = xt.plan(xt.zeros(value.shape, value.dtype), value)
                assert plan._code.kernel.columns == (0 if function is xt.argmax else known)
                assert plan.run().numpy().tobytes() == np.stack(alone).tobytes(), f"{dtype}, {bits}"


def test_folds_to_one_number_have_no_columns():
    x = numbers((5, 40))
    loss = xt.zeros(())
    loss[...] = -xt.mean(xt.log(xt.sum(xt.asarray(x * x), axis=1)))
    np.testing.assert_allclose(loss.numpy(), -np.log((x * x).sum(1)).mean(), rtol=1e-5)


@pytest.mark.parametrize("count", [2, 3, 4, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_mean_is_one_value_and_its_count_a_constant(count, dtype):
    x = numbers((count, 70)).astype(dtype)
    plan = xt.plan(xt.zeros(x.shape, dtype), standard(xt.asarray(x)))
    assert plan.nest.count(" / ") == count + (2 if count == 3 else 0), plan.nest
    assert plan.run().numpy().tobytes() == in_strips(x, standard).tobytes()
    centred = xt.asarray(x.T.copy())
    turned = xt.plan(xt.zeros(x.shape[::-1], dtype), centred - xt.mean(centred, 1, keepdims=True))
    assert " / s0" not in turned.nest


def test_a_mean_in_a_kernel_has_the_count_of_every_shape():
    @xt.kernel
    def centred(out, x):
        out[...] = x - xt.mean(x, 0, keepdims=True)

    shapes = [(count, columns) for count in (3, 5, 9, 3) for columns in (5, 40, 40)]
    xs = [numbers(shape) for shape in shapes]
    outs = [xt.zeros(x.shape) for x in xs]
    for _ in range(3):
        for x, out in zip(xs, outs, strict=True):
            centred(out, xt.asarray(x))
            np.testing.assert_allclose(out.numpy(), x - x.mean(0), atol=1e-5)
        centred.foreach(outs, [xt.asarray(2 * x) for x in xs])
        for x, out in zip(xs, outs, strict=True):
            np.testing.assert_allclose(out.numpy(), 2 * (x - x.mean(0)), atol=1e-5)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["int64", "float64", "complex64", "complex128", "float32"])
@pytest.mark.parametrize("columns", [17, 32, 33, 48, 64, 65])
def test_rows_of_each_outer_index_that_no_vectors_hold_several_of(dtype, columns):
    """They are written out as longer ones are; where registers are small, of 32 bits from 33 columns on, of 64 from 17."""
    held = 4 * 256 if machine().small else 0
    rng = np.random.default_rng(columns)
    x = (rng.standard_normal((7, 3, columns)) * 9).astype(dtype)
    if x.dtype.kind == "c":
        x += (1j * rng.standard_normal(x.shape)).astype(dtype)
    a = xt.asarray(x)
    for name in ("sum", "max", "argmin", "mean"):
        if x.dtype.kind == "c" and name not in ("sum", "mean"):
            continue
        e, want = getattr(xt, name)(a, 1), getattr(np, name)(x, 1)
        plan = xt.plan(out := xt.zeros(e.shape, e.dtype), e)
        plan.run()
        if x.dtype.kind != "c":
            np.testing.assert_array_equal(out.numpy(), judged(plan))
        np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-5)
        assert written(plan) == (x.dtype.itemsize * 8 * columns > held or columns > 64)


def around_folds(plan):
    """The axes of the loops that stand around a fold."""
    found, around = set(), []
    for line in plan.explain().splitlines():
        depth = len(line) - len(line.lstrip())
        around = [(d, axis) for d, axis in around if d < depth]
        if loop := re.match(r"(?:for|columns of) (i\d)\b", line.strip()):
            around.append((depth, loop[1]))
        if re.search(r"\bfold f\d|\[f\d <", line):
            found |= {axis for _, axis in around}
    return found


@pytest.mark.parametrize("function", [softmax, standard])
@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [
        ((9, 16, 100), (2, 1, 0), 0),
        ((5, 48, 100), (2, 1, 0), 0),
        ((64, 32, 32), (0, 2, 1), 1),
        ((9, 10, 33), (0, 2, 1), 1),
        ((40, 20, 21), (0, 2, 1), 1),
        ((3, 8, 6, 85), (1, 3, 0, 2), 1),
        ((40, 3, 5, 17), (3, 0, 2, 1), 0),
    ],
    ids=str,
)
def test_rows_that_lie_across_the_target_are_folded_once(function, shape, order, axis):
    """Whatever loops are outside, none of them runs along the elements of a row around its fold."""
    x = numbers(shape).transpose(order)
    want = xt.evaluate(function(xt.asarray(x.astype("float64")), axis)).numpy()
    for bits in WIDTHS:
        with xt.options(vector_bits=bits):
            plan = xt.plan(xt.zeros(x.shape), function(xt.asarray(x), axis))
            assert around_folds(plan) or "known0[" in plan.nest  # computed before, over their own axes alone
            assert f"i{axis}" not in around_folds(plan)
            np.testing.assert_allclose(plan.run().numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("count", [5, 16, 20, 33, 47])
@pytest.mark.parametrize("length", [17, 40, 64, 100])
def test_the_last_rows_of_a_batch_have_the_bits_of_all(count, length):
    """Fewer than a vector has lanes are folded with rows before them."""
    x = numbers((3, count, length))
    for bits in WIDTHS:
        with xt.options(vector_bits=bits):
            own = [xt.evaluate(xt.sum(xt.asarray(x[n]), 1)).numpy() for n in range(3)]
            turned = xt.asarray(np.ascontiguousarray(x.transpose(1, 0, 2)).transpose(1, 0, 2))
            np.testing.assert_array_equal(xt.evaluate(xt.sum(turned, 2)).numpy(), own)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_a_large_complex_target_begin_anywhere(dtype, width):
    """Each row is asked where it begins before it is stored past the caches: rows of an odd number of elements do not all begin with a line."""
    x = numbers((4, 400_001, 3), "float32").astype(dtype) * 1j
    want = x.transpose(2, 0, 1).sum(1)
    value = xt.sum(xt.transpose(xt.asarray(x), (2, 0, 1)), 1)
    with xt.options(vector_bits=width):
        for shift in range(4):
            room = np.zeros(want.size + 8, dtype)
            room[shift : shift + want.size] = 7
            target = room[shift : shift + want.size].reshape(want.shape)
            xt.asarray(target)[...] = value
            np.testing.assert_allclose(target, want, rtol=1e-5, atol=1e-5)
            assert not room[:shift].any() and not room[shift + want.size :].any()


@pytest.mark.parametrize("function", [xt.sum, xt.max, xt.argmax])
@pytest.mark.parametrize(("shape", "rows"), [((50, 18, 6), 18), ((7, 24, 6), 24), ((7, 24, 7), 0), ((9, 25, 5), 0)])
def test_rows_of_few_elements_are_written_out_where_vectors_are_small(shape, rows, function, monkeypatch):
    for module in (few, blocks):
        monkeypatch.setattr(module, "machine", lambda: SMALL)
    forget()
    x = (numbers(shape) * 2).astype(np.float32)
    value = function(xt.asarray(x), 1)
    alone = [xt.evaluate(function(xt.asarray(each), 0)).numpy() for each in x]
    for bits in (None, 256, 128):
        with xt.options(vector_bits=bits):
            plan = xt.plan(xt.zeros(value.shape, value.dtype), value)
            assert plan._code.kernel.down == rows
            assert plan.run().numpy().tobytes() == np.stack(alone).tobytes()
