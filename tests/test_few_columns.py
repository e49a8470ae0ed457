"""Folds across rows of few columns: several blocks, or several outer indices, in one vector; the order of a sum stays what it is."""

import numpy as np
import pytest
from exprten_jit.reducers import ACROSS, brought_together
from guarded import Memories
from strategies import SMALL, WIDE

import exprten as xt
from exprten.statement import few

ROWS = (1, 5, 256, 300, 2048, 4096 + 259)
WIDTHS = (128, 256, 512)


def numbers(shape, dtype="float32"):
    x = np.random.default_rng(sum(shape)).uniform(-4, 4, shape)
    return (abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def packed(x):
    return xt.asarray(x)


def padded(x):
    wide = xt.zeros((*x.shape[:-1], x.shape[-1] + 3), dtype=x.dtype)
    wide[..., : x.shape[-1]] = xt.asarray(x)
    return wide[..., : x.shape[-1]]


def every_other_row(x):
    double = xt.zeros((2 * x.shape[0], *x.shape[1:]), dtype=x.dtype)
    double[::2] = xt.asarray(x)
    return double[::2]


LAYOUTS = (packed, padded, every_other_row)


def softmax(x, axis):
    powers = xt.exp(x - xt.max(x, axis, keepdims=True))
    return powers / xt.sum(powers, axis, keepdims=True)


def standard(x, axis):
    return (x - xt.mean(x, axis, keepdims=True)) / xt.std(x, axis, keepdims=True)


def in_order(rows):
    """The sum of rows as it is defined."""
    return brought_together(rows, np.add, np.full(rows.shape[1:], -0.0, rows.dtype), ACROSS)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 9, 11, 13, 15, 16, 17, 21, 31, 33, 41, 48, 63])
@pytest.mark.parametrize("bits", WIDTHS)
def test_a_sum_has_its_order(count, bits):
    for rows in ROWS:
        x = numbers((rows, count))
        for layout in LAYOUTS:
            with xt.options(vector_bits=bits):
                found = xt.evaluate(xt.sum(layout(x), 0)).numpy()
            assert found.tobytes() == in_order(x).tobytes(), (rows, layout)


@pytest.mark.parametrize("count", [2, 3, 5, 13, 16, 17, 33, 64])
@pytest.mark.parametrize("bits", [128, 512])
def test_folds_of_an_outer_axis_have_it_too(count, bits):
    for rows in (1, 3, 8, 64, 255, 256, 257):
        x = numbers((7, rows, count))
        for layout in LAYOUTS:
            with xt.options(vector_bits=bits):
                found = xt.evaluate(xt.sum(layout(x), 1)).numpy()
            assert found.tobytes() == np.stack([in_order(y) for y in x]).tobytes(), (rows, layout)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float64"])
@pytest.mark.parametrize("shape", [(2500, 3), (700, 11), (600, 16), (300, 21), (9, 40, 5), (9, 40, 19)])
def test_every_type(dtype, shape):
    x, axis = numbers(shape, dtype), len(shape) - 2
    for name in ("max", "min", "argmax", "argmin"):
        for layout in LAYOUTS:
            found = xt.evaluate(getattr(xt, name)(layout(x), axis)).numpy()
            np.testing.assert_array_equal(found, getattr(np, name)(x, axis))
    if dtype.startswith(("int", "uint")):
        np.testing.assert_array_equal(xt.evaluate(xt.sum(packed(x), axis)).numpy(), x.sum(axis))


@pytest.mark.parametrize("count", [2, 3, 11])
def test_extremes_know_nan_and_signed_zeros(count):
    x = -abs(numbers((2048 + 300, count)))
    x[:, 0] = -0.0
    x[1500, 0] = 0.0  # the greatest of zeros
    x[700, 1] = np.nan
    found = xt.evaluate(xt.max(packed(x), 0)).numpy()
    np.testing.assert_array_equal(found, x.max(0))
    assert not np.signbit(found[0])
    np.testing.assert_array_equal(xt.evaluate(xt.argmax(packed(x), 0)).numpy(), x.argmax(0))
    x[...] = -np.inf
    np.testing.assert_array_equal(xt.evaluate(xt.argmax(packed(x), 0)).numpy(), x.argmax(0))


@pytest.mark.parametrize("statement", [softmax, standard])
@pytest.mark.parametrize("shape", [(4100, 2), (3000, 7), (90, 20), (6, 64, 3), (5, 300, 2)])
def test_what_is_made_of_folds_does_not_know_how_rows_lie(statement, shape):
    """Rows that run on are stored as one; padded ones are not."""
    x, axis = numbers(shape), len(shape) - 2
    wanted = xt.evaluate(statement(padded(x), axis)).numpy().copy()
    exact = x.astype(np.float64)
    if statement is softmax:
        exact = np.exp(exact - exact.max(axis, keepdims=True))
        exact /= exact.sum(axis, keepdims=True)
    else:
        exact = (exact - exact.mean(axis, keepdims=True)) / exact.std(axis, keepdims=True)
    np.testing.assert_allclose(wanted, exact, rtol=1e-4, atol=1e-4)
    for bits in WIDTHS:
        with xt.options(vector_bits=bits):
            here = xt.asarray(x.copy())
            here[...] = statement(here, axis)
            assert here.numpy().tobytes() == wanted.tobytes()
            assert xt.evaluate(statement(every_other_row(x), axis)).numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("columns", [3, 13, 21])
def test_a_row_of_weights_and_a_column_of_them(columns):
    x, down, along = numbers((2600, columns)), numbers((2600, 2)), numbers((1, columns))
    found = xt.evaluate(xt.sum(packed(x) * packed(down)[:, :1] * packed(along), 0)).numpy()
    assert found.tobytes() == in_order(x * down[:, :1] * along).tobytes()
    for count, axis in ((2600, 0), (columns, 1)):
        shape = (count, 1) if axis == 0 else (1, count)
        position = xt.reshape(xt.cast(xt.range(count), xt.float32), shape)
        found = xt.evaluate(xt.sum(packed(x) * position, 0)).numpy()
        assert found.tobytes() == in_order(x * np.arange(count, dtype=np.float32).reshape(shape)).tobytes()


@pytest.mark.parametrize(
    "shape", [(700, 3), (700, 16), (700, 19), (11, 30, 3), (11, 30, 16), (11, 30, 19), (3, 20, 37)]
)
@pytest.mark.parametrize("bits", WIDTHS)
def test_only_the_targets_columns_are_stored(shape, bits):
    """Beside a row lies what is not the target's, and what is stored is what `+=` finds there."""
    x, axis = numbers(shape), len(shape) - 2
    wanted = (in_order(x) if axis == 0 else np.stack([in_order(y) for y in x])) * np.float32(2)
    around = xt.full((*wanted.shape[:-1], wanted.shape[-1] + 5), 7.0)
    target = around[..., 2:-3]
    with xt.options(vector_bits=bits):
        target[...] = xt.sum(packed(x), axis) * 2
        assert target.numpy().tobytes() == wanted.tobytes()
        target += xt.sum(packed(x), axis) * 2
    assert target.numpy().tobytes() == (wanted + wanted).tobytes()
    assert (around.numpy()[..., :2] == 7).all()
    assert (around.numpy()[..., -3:] == 7).all()


def test_one_kernel_for_any_number_of_rows(monkeypatch):
    monkeypatch.setattr(few, "machine", lambda: WIDE)

    def kernel(shape, axis):
        x = xt.zeros(shape)
        return xt.plan(xt.zeros(shape), softmax(x, axis))._code.kernel

    assert [kernel((1000, k), 0).few for k in (2, 8, 9, 15, 16, 17, 32, 33, 64, 65)] == [
        2,
        8,
        9,
        15,
        16,
        20,
        32,
        40,
        64,
        0,
    ]
    x = xt.zeros((1000, 9))  # rows that are not stored
    assert xt.plan(xt.zeros(9), xt.max(x, 0))._code.kernel.few == 9
    assert kernel((300, 3), 0) == kernel((90_000, 3), 0)
    assert kernel((9, 256, 3), 1).low
    assert not kernel((9, 257, 3), 1).low
    assert kernel((9, 30, 64), 1).few == 64


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (40, 7), (9, 33)])
def test_no_lane_that_holds_nothing_divides_by_zero(dtype, rows, columns):
    rng = np.random.default_rng(rows)
    x, row, column = (rng.integers(1, 9, shape).astype(dtype) for shape in ((rows, columns), (columns,), (rows, 1)))
    a, b, c = map(xt.asarray, (x, row, column))
    for got, want in (
        (a // xt.max(a, 0), x // x.max(0)),
        (a % xt.max(a, 1, keepdims=True), x % x.max(1, keepdims=True)),
        (a // b, x // row),
        (a % c + b // c, x % column + row // column),
    ):
        np.testing.assert_array_equal(xt.evaluate(got).numpy(), want)


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_what_is_taken_from_itself_is_still_read(dtype):
    """Where integers of 64 bits are elements they are no indices, of which `i - i` is 0 and needs nothing."""
    x = np.arange(12 * 5 * 3).reshape(12, 5, 3).astype(dtype)
    for a, w in ((xt.asarray(x)[..., ::-1], x[..., ::-1]), (xt.asarray(x)[:, ::2], x[:, ::2]), (xt.asarray(x), x)):
        for axis in range(3):
            e, want = a + xt.sum(a - a, axis, keepdims=True), w + (w - w).sum(axis, keepdims=True)
            np.testing.assert_array_equal(xt.evaluate(e).numpy(), want)
            out = xt.zeros(want.shape[::-1], dtype).T
            out[...] = e * xt.max(a * 2 - a * 2, axis, keepdims=True)
            assert not out.numpy().any()


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64", "float32"])
@pytest.mark.parametrize(
    "shape", [(40, 64, 3), (9, 7, 2), (33, 20, 8), (5, 200, 6), (17, 5, 11), (300, 13), (2000, 9), (3, 16, 1)]
)
def test_rows_of_integers_as_they_lie(dtype, shape):
    """Extremes and sums of these may be brought together in any order; rows that are stored side by side are stored at once."""
    x = np.random.default_rng(0).integers(0, 5, shape).astype(dtype)
    for a in (xt.asarray(x), xt.asarray(np.repeat(x, 2, 0))[::2], xt.asarray(x)[..., ::-1]):
        w, axis = a.numpy(), len(shape) - 2
        for e, want in (
            (xt.max(a, axis), w.max(axis)),
            (xt.sum(a, axis), w.sum(axis)),
            (xt.max(xt.sum(a, axis, keepdims=True) - a, axis), (w.sum(axis, keepdims=True) - w).max(axis)),
            (xt.min(a * 2, axis) + xt.max(a, axis), (w * np.asarray(2, dtype)).min(axis) + w.max(axis)),
        ):
            for out in (xt.zeros(want.shape, e.dtype), xt.zeros((*want.shape, 2), e.dtype)[..., 1]):
                out[...] = e
                np.testing.assert_array_equal(out.numpy(), want.astype(e.dtype))


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("columns", [2, 3, 5, 8])
def test_where_extremes_of_integers_stand(dtype, columns):
    """Sought in the piece in which each column's was first met, whatever comes before it: rows that are all alike, or grow, or hold it late."""
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    rng = np.random.default_rng(columns)
    for rows in (300, 4096, 5001, 70_003):
        drawn = rng.integers(least, most, (rows, columns), dtype=dtype, endpoint=True)
        late = rng.integers(0, 3, (rows, columns)).astype(dtype)
        late[rng.integers(0, rows, columns), range(columns)] = 100
        same = [np.full((rows, columns), value, dtype) for value in (least, most)]
        for x in (drawn, np.sort(drawn, axis=0), late, *same):
            for bits, threads in ((128, 1), (512, 1), (512, 2)):
                with xt.options(vector_bits=bits, num_threads=threads):
                    for name in ("argmax", "argmin"):
                        found = xt.evaluate(getattr(xt, name)(xt.asarray(x), 0)).numpy()
                        np.testing.assert_array_equal(found, getattr(np, name)(x, 0), f"{name} of {x.shape} at {bits}")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int32"])
@pytest.mark.parametrize("shape", [(33, 64, 3), (5, 256, 5), (7, 255, 8), (40, 33, 2), (9, 7, 3)])
def test_where_extremes_of_each_outer_index_stand(dtype, shape):
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    rng = np.random.default_rng(shape[1])
    drawn = rng.integers(least, most, shape, dtype=dtype, endpoint=True)
    for x in (drawn, drawn % 3, np.full(shape, least, dtype), np.full(shape, most, dtype)):
        for bits in (128, 256, 512):
            with xt.options(vector_bits=bits):
                for name in ("argmax", "argmin"):
                    found = xt.evaluate(getattr(xt, name)(xt.asarray(x), 1)).numpy()
                    np.testing.assert_array_equal(found, getattr(np, name)(x, 1), f"{name} at {bits}")


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("columns", [2, 3, 6, 8, 11, 17, 33])
def test_where_extremes_of_floats_stand(dtype, columns):
    """The first of equals, zeros of either sign among them; where there is a NaN, the first of these."""
    rng = np.random.default_rng(columns)
    for rows in (300, 4096, 5001, 70_003):
        drawn = numbers((rows, columns)) * 50
        zeros = np.where(rng.random((rows, columns)) < 0.5, 0.0, -0.0)
        some = drawn.copy()
        some[rng.integers(0, rows, columns - 1), range(columns - 1)] = np.nan
        for x in (drawn, np.sort(drawn, axis=0), zeros, some, np.full((rows, columns), -np.inf)):
            a = xt.evaluate(xt.cast(xt.asarray(x.astype("float32")), dtype))
            wide = xt.evaluate(xt.cast(a, "float64")).numpy()
            for bits, threads in ((128, 1), (512, 1), (512, 2)):
                with xt.options(vector_bits=bits, num_threads=threads):
                    for name in ("argmax", "argmin"):
                        found = xt.evaluate(getattr(xt, name)(a, 0)).numpy()
                        want = getattr(np, name)(wide, 0)
                        np.testing.assert_array_equal(found, want, f"{name} of {x.shape} at {bits}, {threads}")


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "int32"])
@pytest.mark.parametrize("columns", [2, 3, 5, 6, 7, 11, 13])
def test_rows_are_read_up_to_the_end_of_memory_and_no_further(columns, dtype):
    """What is loaded of a row goes on into the next one, but for the last."""
    memories = Memories()
    for rows in (4, 8, 17, 18, 23, 40, 300):
        for items in (1, 2, 5):
            x = (np.random.default_rng(rows).standard_normal((items, rows, columns)) * 9).round().astype(dtype)
            some = x.copy()
            if x.dtype.kind == "f":
                some[-1, rows // 2, 1] = np.nan
            for values in (x, some):
                for at_end in (False, True):
                    memories.clear()
                    source = memories.take(values.size, values.dtype, at_end).reshape(values.shape)
                    source[...] = values
                    for name in ("argmax", "argmin", "max", "sum"):
                        with xt.options(vector_bits=SMALL.vector_bits):
                            found = xt.evaluate(getattr(xt, name)(xt.asarray(source), 1)).numpy()
                        want = (
                            np.stack([in_order(y) for y in values]) if name == "sum" else getattr(np, name)(values, 1)
                        )
                        if name == "sum" and dtype in ("float16", "int8"):
                            want = values.astype("float64").sum(1)
                        np.testing.assert_array_equal(found, want, f"{name} of {values.shape}")


@pytest.mark.parametrize("shape", [(9, 7, 3, 4), (2, 2, 3, 33), (5, 20, 2, 8)], ids=str)
def test_what_is_made_of_columns_that_are_folded_one_by_one(shape):
    """Of each outer index: such columns are not there yet when those of several indices are computed at once."""
    rng = np.random.default_rng(6)
    x, z = rng.standard_normal((*shape[:2], shape[3])).astype(np.float32), rng.standard_normal(shape).astype(np.float32)

    def value(of, x, z):
        most, least = of.max(x, 1, keepdims=True), of.min(of.max(z, 2), 1, keepdims=True)
        return of.sqrt(abs(x)) / (1 + abs(most)) / (1 + abs(least))

    target = xt.zeros(x.shape)
    target[...] = value(xt, xt.asarray(x), xt.asarray(z))
    np.testing.assert_allclose(target.numpy(), value(np, x, z), rtol=1e-5)


@pytest.mark.parametrize(
    "shape", [(48, 455, 3), (3, 2730, 4), (9, 300, 31), (1, 4000, 5), (2, 700, 16), (2, 31, 2100), (3, 300, 100)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_dear_lies_in_the_target_until_all_rows_are_folded(shape, dtype):
    values = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    source, target = xt.array(values), xt.empty(shape, dtype=dtype)
    powers = xt.exp(source - xt.max(source, 1, keepdims=True))
    plan = xt.plan(target, powers / xt.sum(powers, 1, keepdims=True))
    assert plan.nest.count("scale(") == 1  # one `exp`
    result = np.exp(values - values.max(1, keepdims=True))
    result /= result.sum(1, keepdims=True)
    for threads in (1, 2, 3):
        with xt.options(num_threads=threads):
            target[...] = powers / xt.sum(powers, 1, keepdims=True)
        np.testing.assert_allclose(target.numpy(), result, rtol=1e-5 if dtype == "float32" else 1e-13)
        source[...] = powers / xt.sum(powers, 1, keepdims=True)  # in place
        np.testing.assert_array_equal(source.numpy(), target.numpy())
        source[...] = values
