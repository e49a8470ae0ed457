"""What comes from memory is fetched early where the processor does not see it coming: results stay what they are, and the text says that it is."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from exprten_jit.backends.llvm_run import machine
from exprten_jit.nest import Vector, statements
from exprten_jit.vectors import read_backwards

import exprten as xt

BYTES = 8 << 20  # from here on

FOLDS: dict[str, Callable[[xt.Expr, int | None], xt.Expr]] = {
    "sum": xt.sum,
    "max": xt.max,
    "argmax": xt.argmax,
}
# rows under masks: down their columns, along them, and of an outer axis; columns beside each other that are a strip
ROWS = (
    ((0, 11), 0),
    ((0, 17), 0),
    ((0, 64), 0),
    ((0, 24), 1),
    ((0, 40), 1),
    ((0, 3, 64), 1),
    ((0, 8, 16), 1),
    ((0, 500, 5), 1),
    ((0, 3000, 7), 1),
    ((0, 100), 0),
    ((0, 640), 0),
    ((0, 131, 124), 1),
)


def _shaped(shape: tuple[int, ...], nbytes: int) -> tuple[int, ...]:
    known = 4 * int(np.prod([n for n in shape if n]))
    return tuple(n or -(-nbytes // known) for n in shape)


def _assert_stored(target: xt.Tensor, value: xt.Expr, result: np.ndarray, threads: Sequence[int] = (1, 2)) -> None:
    """By any number of threads."""
    for count in threads:
        target[...] = -9
        with xt.options(num_threads=count):
            target[...] = value
        np.testing.assert_array_equal(target.numpy(), result)


@pytest.mark.parametrize("columns", [129, 200, 224, 320, 321, 1000])
@pytest.mark.parametrize("name", [*FOLDS, "scaled"])
def test_rows_that_are_read_from_their_ends_are_fetched_upwards_where_they_are_short(name, columns):
    values = np.random.default_rng(0).integers(-4, 5, _shaped((0, columns), BYTES)).astype(np.float32)
    source = xt.array(values)[:, ::-1]
    value = 3 * source if name == "scaled" else FOLDS[name](source, 1)
    result = 3 * values[:, ::-1] if name == "scaled" else getattr(np, name)(values[:, ::-1], 1)
    target = xt.zeros(result.shape, dtype=result.dtype)
    plan = xt.plan(target, value)
    assert ("< 321)" in plan.nest and ": fetch x1[" in plan.nest) == (
        name != "max"
    )  # which is the same from either end
    _assert_stored(target, value, result)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(("shape", "axis"), ROWS)
def test_rows_under_masks_and_of_strips_are_fetched_from_memory(shape, axis, name):
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, BYTES)).astype(np.float32)
    source = xt.array(values)
    result = getattr(np, name)(values, axis)
    target = xt.zeros(result.shape, dtype=result.dtype)
    statement = FOLDS[name](source, axis)
    plan = xt.plan(target, statement)
    assert "@llvm.prefetch" in plan.llvm or plan._code.kernel.columns  # rows without loops are seen coming
    target[...] = statement
    np.testing.assert_array_equal(target.numpy(), result)


@pytest.mark.parametrize("shape", [(3, 0), (2, 3, 0)])
def test_rows_that_are_read_half_a_line_at_a_time_are_fetched(shape):
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, BYTES)).astype(np.float32)
    source, axis = xt.array(values), len(shape) - 2
    result = values.argmax(axis)
    target = xt.zeros(result.shape, dtype="int64")
    assert "@llvm.prefetch" in xt.plan(target, xt.argmax(source, axis)).llvm
    _assert_stored(target, xt.argmax(source, axis), result)


@pytest.mark.parametrize("columns", [5, 11, 16])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_packed_rows_are_fetched_from_memory(columns, dtype):
    rows = BYTES // (columns * np.dtype(dtype).itemsize) + 3
    values = np.random.default_rng(0).integers(-4, 5, (rows, columns)).astype(dtype)
    source, target = xt.array(values), xt.zeros((rows, columns), dtype=dtype)
    statement = source - xt.max(source, 1, keepdims=True)
    assert "@llvm.prefetch" in xt.plan(target, statement).llvm
    target[...] = statement
    np.testing.assert_array_equal(target.numpy(), values - values.max(1, keepdims=True))


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(
    "view", [lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x[::3], lambda x: x[:, 5:], lambda x: x]
)
def test_rows_that_do_not_run_on_are_fetched_from_memory(view, name):
    values = np.random.default_rng(0).integers(-4, 5, (9001, 1003)).astype(np.float32)
    source, result = view(xt.array(values)), getattr(np, name)(view(values), 1)
    target = xt.zeros(result.shape, dtype=result.dtype)
    statement = FOLDS[name](source, 1)
    assert "@llvm.prefetch" in xt.plan(target, statement).llvm
    _assert_stored(target, statement, result)


@pytest.mark.parametrize("name", [*FOLDS, "dot"])
@pytest.mark.parametrize("axis", [None, 1])
@pytest.mark.parametrize("shape", [(33, 1 << 16), (1 << 12, 600), (1 << 20, 2)])
@pytest.mark.parametrize("first", [0, 1])
def test_what_runs_on_is_fetched_from_memory(shape, axis, name, first):
    """Also behind its end, and where no row begins with a line."""
    values = (
        np.random.default_rng(0).integers(-4, 5, math.prod(shape) + first).astype(np.float32)[first:].reshape(shape)
    )
    source = xt.asarray(values)
    value = xt.sum(source * source, axis) if name == "dot" else FOLDS[name](source, axis)
    result = (values * values).sum(axis) if name == "dot" else getattr(np, name)(values, axis)
    target = xt.zeros(result.shape, dtype=result.dtype)
    if axis is None and (
        name in ("max", "argmax") or machine().vector_bits == 512
    ):  # a sum in registers of half a line gains nothing
        assert "@llvm.prefetch" in xt.plan(target, value).llvm
    _assert_stored(target, value, result, threads=(1, 2, 3))


@pytest.mark.parametrize("columns", [17, 40, 64, 128])
def test_short_rows_of_what_is_dear_are_fetched_from_memory(columns):
    """The bits are those of rows that nothing is fetched for."""
    values = np.random.default_rng(0).standard_normal((BYTES // (4 * columns) + 5, columns)).astype(np.float32)
    source, target = xt.array(values), xt.zeros(values.shape)
    powers = xt.exp(source - xt.max(source, 1, keepdims=True))
    target[...] = powers / xt.sum(powers, 1, keepdims=True)
    for rows in (slice(0, 40), slice(-40, None)):
        few = xt.array(values[rows])
        again = xt.exp(few - xt.max(few, 1, keepdims=True))
        wanted = xt.evaluate(again / xt.sum(again, 1, keepdims=True)).numpy()
        assert target.numpy()[rows].tobytes() == wanted.tobytes()


@pytest.mark.parametrize("shape", [(0, 192), (0, 250), (0, 64, 256)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_which_several_lie_in_a_page_are_fetched_as_they_follow_each_other(shape, dtype):
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, 2 * BYTES)).astype(dtype)
    axis = len(shape) - 2
    source, result = xt.array(values), values.sum(axis)
    target = xt.zeros(result.shape, dtype=dtype)
    assert "@llvm.prefetch" in xt.plan(target, xt.sum(source, axis)).llvm
    target[...] = xt.sum(source, axis)
    np.testing.assert_array_equal(target.numpy(), result)
    parts = source[..., 1:]  # whose rows do not run on
    assert np.array_equal(xt.evaluate(xt.sum(parts, axis)).numpy(), result[..., 1:])


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((0, 33, 17), (1, 0, 2)),  # rows as they lie
        ((0, 6, 31), (1, 0, 2)),
        ((11, 0, 7), (1, 0, 2)),
        ((4, 5, 0, 16), (0, 3, 2, 1)),  # turned in squares
        ((4, 96, 0), (2, 1, 0)),
        ((3, 0, 5, 2), (1, 3, 0, 2)),
        ((0, 3, 3), (0, 2, 1)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_what_lies_across_several_axes_is_fetched_from_memory(shape, order, dtype):
    """Also behind its end, and of tiles that are not whole."""
    shape = _shaped(shape, BYTES + (1 << 19))
    values = np.arange(math.prod(shape)).astype(dtype).reshape(shape)
    for view in (values.transpose(order), values[1:-1].transpose(order)):
        source, target = xt.asarray(view), xt.zeros(view.shape, dtype=dtype)
        plan = xt.plan(target, source + 1)
        target[...] = source + 1
        np.testing.assert_array_equal(target.numpy(), view + np.ones((), dtype))
    assert "@llvm.prefetch" in plan.llvm


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [
        ((0, 32, 7), (2, 1, 0), 1),  # what is folded has no room, and is computed in pieces
        ((24, 8, 0, 6), (2, 0, 1, 3), 3),
        ((24, 32, 0, 16), (2, 0, 3, 1), 2),  # rows of a line that do not follow each other
        ((33, 24, 0, 18), (1, 3, 0, 2), 1),  # rows that do, over an outer index
    ],
)
def test_folds_across_memory_are_fetched(shape, order, axis, name):
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, BYTES + (1 << 19))).astype(np.float32)
    view = values.transpose(order)
    result = getattr(np, name)(view, axis)
    target, statement = xt.zeros(result.shape, dtype=result.dtype), FOLDS[name](xt.asarray(view), axis)
    assert "@llvm.prefetch" in xt.plan(target, statement).llvm
    _assert_stored(target, statement, result)


@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [
        ((4, 0, 16, 48), (3, 2, 1, 0), 2),  # what is made along columns of 48 of a tile
        ((5, 7, 0), (2, 1, 0), 0),
        ((0, 5, 32, 33), (3, 2, 0, 1), 3),  # in pieces
        ((64, 16, 0, 32), (0, 3, 2, 1), 0),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_left_of_folds_is_fetched(shape, order, axis, dtype):
    values = np.random.default_rng(0).standard_normal(_shaped(shape, BYTES + (1 << 18))).astype(dtype)
    view = values.transpose(order)
    source, target = xt.asarray(view), xt.zeros(view.shape, dtype)
    value = (source - xt.mean(source, axis, keepdims=True)) / xt.std(source, axis, keepdims=True)
    assert "@llvm.prefetch" in xt.plan(target, value).llvm
    wide = view.astype(np.float64)
    want = (wide - wide.mean(axis, keepdims=True)) / wide.std(axis, keepdims=True)
    for threads in (1, 2):
        target[...] = -9
        with xt.options(num_threads=threads):
            target[...] = value
        np.testing.assert_allclose(target.numpy(), want, 1e-4, 1e-5)


@pytest.mark.parametrize("columns", [6, 20])
def test_packed_rows_are_fetched_in_pieces(columns):
    """Rows are one after the other in each piece, but of a piece alone nobody would say that they come from memory."""
    values = np.random.default_rng(0).integers(-4, 5, (6, 40_000, columns)).astype(np.float32)
    view = values.transpose(2, 1, 0)
    target, statement = xt.zeros(view.shape[1:]), xt.max(xt.asarray(view), 0)
    plan = xt.plan(target, statement)
    assert "@pieces" in plan.llvm
    assert "@llvm.prefetch" in plan.llvm
    _assert_stored(target, statement, view.max(0))


@pytest.mark.parametrize(("shape", "order"), [((0, 31, 7), (1, 0, 2)), ((0, 16, 33), (1, 2, 0)), ((0, 512), (1, 0))])
def test_wholes_in_pieces_have_the_bits_of_what_is_not_copied(shape, order):
    values = np.random.default_rng(0).standard_normal(_shaped(shape, BYTES + (1 << 19))).astype(np.float32)
    view = values.transpose(order)
    source, target, plain = xt.asarray(view), xt.zeros(view.shape), xt.zeros(values.shape)
    powers = xt.exp(source - xt.max(source, 0, keepdims=True))
    target[...] = powers / xt.sum(powers, 0, keepdims=True)
    axis = order[0]
    powers = xt.exp(xt.asarray(values) - xt.max(xt.asarray(values), axis, keepdims=True))
    plain[...] = powers / xt.sum(powers, axis, keepdims=True)
    assert target.numpy().tobytes() == plain.numpy().transpose(order).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(("shape", "name"), [((0, 8, 16), "argmax"), ((0, 6, 100), "argmin"), ((0, 3, 64), "argmax")])
def test_rows_are_read_from_the_first_to_the_last(shape, name, dtype):
    """Of rows that are read the other way round the processor does not see the next ones coming."""
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, BYTES)).astype(dtype)
    source, result = xt.array(values), getattr(np, name)(values, 1)
    target = xt.zeros(result.shape, dtype="int64")
    statement = getattr(xt, name)(source, 1)
    code = xt.plan(target, statement)._code
    loops = [stmt for stmt in statements(code.nest.body) if isinstance(stmt, Vector)]
    found = [load for loop in loops for load in read_backwards(loop.stores, loop.axis)]
    assert code.kernel.down and len(found) == shape[1], "rows are written out, and would be read last one first"
    _assert_stored(target, statement, result)


@pytest.mark.parametrize("columns", [12, 16])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_argmax_of_rows_that_are_whole_lines_is_numpys_from_memory(columns, dtype):
    rows = BYTES // (columns * np.dtype(dtype).itemsize) + 3
    values = np.random.default_rng(0).integers(-4, 5, (rows, columns)).astype(dtype)
    source, target = xt.array(values), xt.zeros(rows, dtype="int64")
    _assert_stored(target, xt.argmax(source, 1), values.argmax(1))
