"""Short axes that are taken as one row: drawn statements are NumPy's bits, in every type and at every width, for any threads; and nothing beyond
their operands is read or stored.
"""

import operator
import random
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from exprten_jit import beforehand
from strategies import DTYPES, HALVES, SMALL, WIDE, assert_same_bits, place
from test_drawn_blocks import forget, softmax, stored
from test_drawn_folds import laid_out
from test_drawn_types import OPTIONS, Drawn, operands_of

import exprten as xt
from exprten.statement import flat, lying, rest

SHORT = (2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 17, 21, 24, 31, 32, 33)
OPERATORS = (operator.add, operator.sub, operator.mul)


def shape_of(rng: random.Random) -> list[int]:
    """Some short axes, at least 2,048 elements."""
    shape = [rng.choice(SHORT) for _ in range(rng.randint(2, 4))]
    shape.append(max(2, -(-rng.randint(2048, 9000) // prod(shape))))
    rng.shuffle(shape)
    return shape


def statement(operands: list[Any], signs: list[Callable[[Any, Any], Any]]) -> Any:
    """The operands brought together."""
    found = operands[0] if len(operands) > 1 else signs[0](operands[0], operands[0])
    for x, sign in zip(operands[1:], signs, strict=False):
        found = sign(found, x)
    return found


def turned(rng: random.Random, axes: int, straight: float) -> list[int]:
    order = list(range(axes))
    return order if rng.random() < straight else rng.sample(order, axes)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("seed", range(64))
def test_drawn_statements_are_numpys(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(lying, "machine", lambda: (SMALL, WIDE)[seed % 2])
    if seed % 4 > 1:
        nothing_is_written_out(monkeypatch)
    forget()
    dtype = rng.choice((*HALVES, *(np.dtype("float32"),) * 4, *DTYPES))
    for _ in range(2):
        shape, numbers = shape_of(rng), np.random.default_rng(rng.randrange(1 << 30))
        lie, axes = [], len(shape)
        for n in range(rng.randint(1, 3)):
            order, mine = turned(rng, axes, 0.3), [1 if n and rng.random() < 0.4 else m for m in shape]
            x = (numbers.standard_normal([mine[k] for k in order]) * 9).astype(dtype)
            lie.append((x, tuple(np.argsort(order)), rng.choice(("contiguous", "contiguous", "contiguous", "padded"))))
        signs: list[Any] = [rng.choice((operator.or_, operator.xor) if dtype.kind == "b" else OPERATORS) for _ in lie]
        order, add = turned(rng, axes, 0.5), dtype.kind != "b" and rng.random() < 0.3
        back, start = tuple(np.argsort(order)), (numbers.standard_normal(shape) * 9).astype(dtype)
        want = statement([x.transpose(at) for x, at, _ in lie], signs)
        want = start + want if add else want
        for bits, threads in OPTIONS:
            with xt.options(vector_bits=bits, num_threads=threads):
                operands = [xt.transpose(xt.asarray(place(x, how).array), at) for x, at, how in lie]
                made = place(start.transpose(order))
                xt.assign(
                    xt.transpose(xt.asarray(made.array), back), "add" if add else "write", statement(operands, signs)
                )
            what = f"{seed}: {dtype}{shape}, {bits} bits, {threads} threads"
            assert_same_bits(made.array.transpose(back), want, what)
            made.assert_untouched()


def nothing_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is of what fills memory."""
    for module in (lying, flat):
        monkeypatch.setattr(module, "writes_out", lambda count: False)
    forget()


@pytest.mark.parametrize(
    ("shape", "order", "how"),
    [
        ((3, 100, 218), (2, 1, 0), "turned from row to column"),
        ((100, 64, 3), (2, 1, 0), "turned from row to column"),
        ((8, 128, 24, 2), (2, 1, 0, 3), "turned from row to column, 2 at a time"),
        ((8, 128, 24, 3), (2, 1, 0, 3), "n3 at a time"),
        ((744, 8, 11), (0, 2, 1), "turned, n2 by "),
    ],
)
def test_what_lies_across_short_axes_is_brought(
    shape: tuple[int, ...], order: tuple[int, ...], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_is_written_out(monkeypatch)  # in the caches short rows have no loop, and nothing is brought
    x = xt.transpose(xt.ones(shape), order)
    plan = xt.plan(xt.zeros(x.shape), x * 3)
    assert how in plan.nest
    assert plan.nest.count("brought0[") == 2  # where it is brought, and where it is read
    assert plan.recompute == 1


@pytest.mark.parametrize(
    ("shape", "order", "how"),
    [
        ((33, 141, 7), (2, 1, 0), ""),
        ((195, 8, 3, 7), (3, 2, 1, 0), ""),
        ((17, 100, 3, 6), (3, 1, 2, 0), ""),
        ((24, 24, 4, 14), (3, 0, 2, 1), ""),  # 14 rows are few for squares, and 56 are not
        ((32, 93, 11), (2, 1, 0), "down the source"),  # whose rows are 4 KiB apart
        ((2, 11, 64, 16), (2, 3, 1, 0), "down the source"),
        ((32, 341, 3), (2, 1, 0), "down the source"),
        ((33, 31, 32), (2, 1, 0), "by halves"),  # stored so
        ((11, 372, 8), (2, 1, 0), "by halves"),
    ],
)
def test_what_lies_across_short_axes_is_turned_directly(
    shape: tuple[int, ...], order: tuple[int, ...], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the caches, where vectors are small: rows in place of scratch, read and stored where the tables say, in an order in which no line is lost before
    all of it was read, or stored.
    """
    for decides in (lying, flat):
        monkeypatch.setattr(decides, "machine", lambda: SMALL)
    forget()
    data = np.random.default_rng(0).integers(-9, 9, shape).astype("float32")
    x = xt.transpose(xt.array(data), order)
    row = 1 if how else xt.array(np.arange(shape[order[-1]], dtype="float32"))
    room = xt.zeros(x.size + 2)
    y = room[1:-1].reshape(x.shape)
    plan = xt.plan(y, x * 3 + row)
    squares = next(line for line in plan.nest.splitlines() if "squares of" in line)
    assert [each for each in ("down the source", "by halves") if each in squares] == [how] * bool(how)
    assert "for row" not in plan.nest
    for bits in (None, 256, 512):
        with xt.options(vector_bits=bits):
            room[...] = 1
            y[...] = x * 3 + row
            np.testing.assert_array_equal(y.numpy(), data.transpose(order) * 3 + np.asarray(row))
            y -= x + y
            np.testing.assert_array_equal(y.numpy(), -data.transpose(order))
            assert room.numpy()[0] == room.numpy()[-1] == 1


def test_what_cannot_be_turned_directly_has_tiles_that_fit_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many elements along a source as squares would have are none of a tile whose scratch is smaller: it would have no rows, for ever."""
    monkeypatch.setattr(lying, "machine", lambda: SMALL)
    forget()
    data = np.random.default_rng(0).integers(-9, 9, (30, 3, 5, 4, 6)).astype("float32")
    x, z = data.transpose(2, 4, 1, 3, 0), np.arange(data.size, dtype="float32").reshape(5, 6, 3, 4, 30)[..., ::-1]
    y = xt.zeros(x.shape)
    value = xt.asarray(x) * 3 + xt.asarray(z)
    assert "squares of" not in xt.plan(y, value).nest
    y[...] = value
    np.testing.assert_array_equal(y.numpy(), x * 3 + z)


def test_what_is_one_for_a_row_is_computed_once_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_is_written_out(monkeypatch)  # in the caches the number is known
    x, v = xt.transpose(xt.ones((8, 128, 24, 2)), (2, 1, 0, 3)), xt.ones((24, 128, 8, 1))
    plan = xt.plan(xt.zeros(x.shape), x / xt.sqrt(v))
    assert "= sqrt(x2[" in plan.nest
    assert "one for n3" in plan.nest
    assert plan.recompute == 1


def test_a_row_or_a_column_is_no_reason_to_bring_anything() -> None:
    for row, column in (((1, 40, 40), (40, 1, 40)), ((1, 640, 3), (480, 640, 1))):
        shape = [max(a, b) for a, b in zip(row, column, strict=True)]
        assert "brought" not in xt.plan(xt.zeros(shape), xt.ones(row) + xt.ones(column)).nest


def test_what_runs_on_along_the_source_is_computed_there_and_turned() -> None:
    x, a = xt.transpose(xt.ones((3, 100, 218)), (2, 1, 0)), xt.transpose(xt.ones((100, 218)), (1, 0))
    plan = xt.plan(xt.zeros(x.shape), xt.exp(x - a[:, :, None]))
    assert "made0[" in plan.nest
    assert plan.recompute == 1
    few = xt.transpose(xt.ones((100, 218, 5)), (1, 0, 2))  # of which a vector has too few
    assert "made" not in xt.plan(xt.zeros((218, 100, 5)), xt.exp(few - a[:, :, None])).nest


@pytest.mark.covering(1)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize(
    "room", [beforehand.ROOM, 1 << 11]
)  # of the second some elements of an axis are computed at a time
@pytest.mark.parametrize("seed", range(48))
def test_folds_beside_are_what_they_are_in_loops(seed: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beforehand, "ROOM", room)
    monkeypatch.setattr(beforehand, "WHOLE_ROOM", 2 * room)
    rng = random.Random(seed)
    dtype = rng.choice((*HALVES, *(np.dtype("float32"),) * 4, *(d for d in DTYPES if d.kind != "b")))
    kind, shape = "i" if dtype.kind in "iu" else "f", shape_of(rng)
    data = operands_of(rng, np.random.default_rng(seed), shape, dtype, kind, 0.4)
    straight, depth, draw = 0.3 if rng.random() < 0.7 else 1, rng.randint(1, 3), rng.randrange(1 << 30)
    lie = [(turned(rng, len(shape), straight), rng.choice(("packed", "packed", "reversed"))) for _ in data]
    order, mode = turned(rng, len(shape), 0.3), rng.choice(("write", "write", "add"))

    def value() -> xt.Expr:
        return Drawn(draw, xt, [laid_out(x, *how) for x, how in zip(data, lie, strict=True)], kind).whole(depth)

    found = [stored(value, order, mode, *how) for how in OPTIONS]
    monkeypatch.setattr(flat, "LEAST", 1 << 60)
    monkeypatch.setattr(flat, "LEAST_LEFT", 1 << 60)
    monkeypatch.setattr(rest, "is_better_apart", lambda _: False)
    want = stored(value, order, mode)
    for y, how in zip(found, OPTIONS, strict=True):
        assert_same_bits(y, want, f"{seed}: {dtype}{shape}, {how}")


@pytest.mark.parametrize(("shape", "order", "axis"), [((16, 3, 1365), (0, 2, 1), 1), ((32, 48, 42), (2, 1, 0), 1)])
def test_folds_are_computed_before_what_lies_across(shape: tuple[int, ...], order: tuple[int, ...], axis: int) -> None:
    data = np.random.default_rng(0).standard_normal(shape).astype("float32")
    x = xt.transpose(xt.asarray(data), order)
    y = xt.zeros(x.shape)
    plan = xt.plan(y, softmax(x, axis), "add")  # what is only written is computed as a whole
    assert plan.nest.count("known") >= 4  # two folds, each stored and brought
    assert plan.scratch_bytes <= 160 << 10
    xt.assign(y, "add", softmax(x, axis))
    powers = np.exp(data.transpose(order) - data.transpose(order).max(axis, keepdims=True))
    np.testing.assert_allclose(y.numpy(), powers / powers.sum(axis, keepdims=True), 1e-5)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((64, 2100, 16), (1, 0, 2)),
        ((30, 7, 313, 32), (2, 1, 0, 3)),
        ((64, 2100, 17), (1, 0, 2)),
        ((48, 6301, 7), (1, 0, 2)),
        ((11, 5, 2560, 16), (0, 3, 2, 1)),
        ((3, 700, 1024), (2, 1, 0)),
        ((4, 128, 4108), (2, 1, 0)),
        ((512, 1370, 3), (2, 1, 0)),
        ((12500, 8, 3, 7), (3, 2, 1, 0)),
        ((210, 100, 101), (1, 0, 2)),
        ((12, 20, 100, 88), (2, 0, 1, 3)),
        ((3, 3300, 211), (1, 0, 2)),
        ((40, 110, 5, 100), (1, 0, 2, 3)),
        ((64, 130, 256), (1, 0, 2)),
        ((25, 84001), (1, 0)),
        ((1400, 33, 48), (0, 2, 1)),
        ((20, 11, 100, 100), (1, 0, 3, 2)),
        ((64, 40000), (1, 0)),
    ],
)
@pytest.mark.parametrize("shift", [0, 4])
def test_rows_of_a_large_target(dtype: str, shape: tuple[int, ...], order: tuple[int, ...], shift: int) -> None:
    """The lines of rows are stored past the caches, what is before the first and behind the last one is not."""
    shape = (shape[0] * (8 // np.dtype(dtype).itemsize), *shape[1:])
    a = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    expected, x, room = a.transpose(order), xt.array(a), xt.zeros(a.size + 32, dtype=dtype)
    target = room[shift : shift + a.size].reshape(expected.shape)
    for threads in (1, 3):
        room[...] = 0
        with xt.options(num_threads=threads):
            target[...] = xt.transpose(x, order)
            np.testing.assert_array_equal(target.numpy(), expected)
            xt.assign(target, "add", xt.transpose(x, order))  # reads the target: through the caches, in smaller tiles
        np.testing.assert_array_equal(target.numpy(), expected + expected)
        assert not room[:shift].numpy().any()
        assert not room[shift + a.size :].numpy().any()


def test_rows_of_whole_lines_are_stored_past_the_caches() -> None:
    for columns, lines in ((16, True), (12, False)):
        x = xt.empty((64, 4000, columns))
        plan = xt.plan(xt.empty((4000, 64, columns)), xt.transpose(x, (1, 0, 2)))
        assert plan.llvm is not None
        assert ("nontemporal" in plan.llvm) or not lines
        assert "== False" in plan.nest  # where it is so, the target is not fetched


@pytest.mark.parametrize("mode", ["write", "add"])
@pytest.mark.parametrize("other", [(140, 1, 1), (1, 90, 1), (140, 90, 1), (1, 1, 200)])
def test_what_is_one_for_rows_that_are_moved(other: tuple[int, ...], mode: str) -> None:
    """Beside rows that would be joined, which turned tiles have no room for."""
    numbers = np.random.default_rng(0)
    a, b = (numbers.integers(1, 9, shape).astype("float32") for shape in ((90, 140, 200), other))
    expected = a.transpose(1, 0, 2) * b + (mode == "add")
    target = xt.ones(expected.shape)
    xt.assign(target, mode, xt.transpose(xt.asarray(a), (1, 0, 2)) * xt.asarray(b))
    np.testing.assert_array_equal(target.numpy(), expected)
