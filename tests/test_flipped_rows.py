"""Views that run backwards along an axis: what is read from its end is taken apart in registers, or walked the other way round."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from test_drawn_blocks import forget

import exprten as xt
from exprten.statement import pieces

DTYPES = ("float32", "float64", "int32", "int16", "uint8", "float16", "complex64")
FOLDS = ("sum", "max", "min", "argmax", "prod", "any", "count_nonzero")


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def softmax(x: xt.Expr, axis: int) -> xt.Expr:
    powers = xt.exp(x - xt.max(x, axis, keepdims=True))
    return powers / xt.sum(powers, axis, keepdims=True)


def scaled(x: xt.Expr, axis: int) -> xt.Expr:
    return xt.sum(x, axis, keepdims=True) * x


def stored(
    like: np.ndarray, value: xt.Expr, mode: str = "write", threads: int = 1, bits: int | None = None
) -> np.ndarray:
    target = xt.asarray(np.full(like.shape, 2, like.dtype))
    with xt.options(num_threads=threads, vector_bits=bits):
        target.assign(value, mode)
    return target.numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [2, 3, 4, 7, 8, 12, 15, 16, 24, 33])
def test_rows_are_read_from_their_ends(columns: int, dtype: str) -> None:
    values, others = numbers((1003, columns), dtype), numbers((1003, columns), dtype, 1)
    x, y = xt.asarray(values), xt.asarray(others)
    for bits, threads in ((None, 1), (128, 2), (256, 3)):
        for view, lies in (
            (lambda a: a[:, ::-1], "rows"),
            (lambda a: a[::-1, ::-1], "both"),
            (lambda a: a[::-1], "first"),
        ):
            flipped = view(values)
            assert np.array_equal(stored(flipped, view(x) + y, "write", threads, bits), flipped + others), lies
            assert np.array_equal(stored(flipped, view(x) + view(y), "add", threads, bits), 2 + flipped + view(others))
            assert np.array_equal(stored(flipped, view(x) * 1, "write", threads, bits), flipped)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(
    "shape", [(1003, 3), (517, 4), (403, 7), (300, 15), (200, 16), (101, 24), (61, 100), (9, 40, 3), (7, 12, 20, 3)]
)
def test_folds_of_what_runs_backwards_along_any_axes(shape: tuple[int, ...], name: str) -> None:
    for dtype in ("float32", "int16") if name in ("sum", "max", "argmax") else ("int64",):
        values = numbers(shape, dtype)
        for backwards in range(1, 1 << len(shape)):
            at = tuple(slice(None, None, -1 if backwards >> k & 1 else 1) for k in range(len(shape)))
            flipped, x = values[at], xt.asarray(values)[at]
            for axis in range(len(shape)):
                want = getattr(np, name)(flipped, axis)
                if name in ("sum", "prod"):
                    want = want.astype(dtype if name == "sum" and dtype == "float32" else want.dtype)
                for threads in (1, 3):
                    found = stored(want, getattr(xt, name)(x, axis), "write", threads)
                    assert np.array_equal(found, want), (shape, at, axis, dtype)


@pytest.mark.parametrize("shape", [(1003, 3), (403, 7), (101, 24), (9, 40, 3)])
def test_bits_are_those_of_what_is_copied_first(shape: tuple[int, ...]) -> None:
    """In whichever direction rows are walked: the order of a fold is that of its view."""
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for backwards in range(1, 1 << len(shape)):
        at = tuple(slice(None, None, -1 if backwards >> k & 1 else 1) for k in range(len(shape)))
        x, copy = xt.asarray(values)[at], xt.asarray(np.ascontiguousarray(values[at]))
        for axis in range(len(shape)):
            for make in (softmax, scaled, xt.sum):
                like = np.empty(make(copy, axis).shape, np.float32)
                one, other = (stored(like, make(each, axis), "write", threads) for each, threads in ((x, 2), (copy, 1)))
                assert one.tobytes() == other.tobytes(), (at, axis)


@pytest.mark.parametrize("columns", [2, 3, 7, 12, 15, 16, 31])
def test_rows_of_what_is_much_text_have_no_number_of_elements(columns: int) -> None:
    """A kernel for their number would take long to compile: loops over rows of any number have the bits of packed ones, too."""

    def much(x: xt.Expr) -> xt.Expr:
        return xt.pow(x, 2.3) * xt.sin(x) + xt.tan(x) + xt.log1p(x) * xt.cos(x)

    def much_of(x: np.ndarray) -> np.ndarray:
        return x**2.3 * np.sin(x) + np.tan(x) + np.log1p(x) * np.cos(x)

    values = np.random.default_rng(0).random((3, 103, columns), np.float32)
    for at in (np.s_[:, :, ::-1], np.s_[:, ::-1], np.s_[::-1, ::-1, ::-1], np.s_[:, ::-1, : columns - 1]):
        x, copy = xt.asarray(values)[at], xt.asarray(np.ascontiguousarray(values[at]))
        for fold in (xt.sum, xt.max, xt.argmin):
            one, other = (xt.evaluate(fold(much(each), 2)).numpy() for each in (x, copy))
            assert one.tobytes() == other.tobytes(), (at, fold.__name__)
        np.testing.assert_allclose(
            xt.evaluate(xt.sum(much(x), 2)).numpy(), much_of(values[at].astype(float)).sum(2), 1e-5
        )


Flip = Callable[[np.ndarray], np.ndarray]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize(("columns", "width"), [(2, 3), (3, 4), (3, 7), (4, 5), (5, 8), (7, 8), (8, 9), (8, 17)])
def test_rows_with_gaps_have_the_bits_of_packed_ones(columns: int, width: int, dtype: str) -> None:
    values = (np.random.default_rng(0).standard_normal((403, width)) * 9).astype(dtype)
    images = (np.random.default_rng(0).standard_normal((7, 20, width)) * 9).astype(dtype)
    folds = xt.sum, xt.max, xt.argmax, xt.mean, softmax, scaled
    for source, at, axis in (
        (values, np.s_[:, :columns], 1),
        (values, np.s_[::-1, :columns], 1),
        (values, np.s_[:, 1 : columns + 1], 1),
        (images, np.s_[:, :, :columns], 2),
        (images, np.s_[:, ::-1, :columns], 2),
        (images[:, :, :columns].copy(), np.s_[:, ::-1], 2),
    ):
        x, copy = xt.asarray(source)[at], xt.asarray(np.ascontiguousarray(source[at]))
        for make in folds[: 6 if dtype != "int16" else 3]:
            like = np.empty(make(copy, axis).shape, str(make(copy, axis).dtype))
            one, other = (stored(like, make(each, axis), "write", threads) for each, threads in ((x, 2), (copy, 1)))
            assert one.tobytes() == other.tobytes(), (source.shape, at, make.__name__)


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("columns", [2, 3, 4, 7, 8, 11, 16])
def test_few_columns_are_folded_from_the_last_row_to_the_first(columns: int, dtype: str, bits: int) -> None:
    chance = np.random.default_rng(0)
    folds = xt.sum, xt.prod, xt.max, xt.argmax, xt.mean, softmax, scaled
    for shape in ((23, 13, columns), (3, 6, 34, columns), (1, 700, columns)):
        for source in (np.round(chance.standard_normal(shape) * 9), chance.choice([0, 1, -1, np.nan, np.inf], shape)):
            if dtype[0] in "iu" and not np.isfinite(source).all():
                continue
            packed = source.astype(dtype)
            at = (..., slice(None, None, -1), slice(None))
            given = xt.asarray(packed[at].copy())[at]
            axis = len(shape) - 2
            for make in folds if dtype[0] == "f" else folds[:4]:
                like = np.empty(make(given, axis).shape, str(make(given, axis).dtype))
                one, other = (stored(like, make(x, axis), "write", 1, bits) for x in (given, xt.asarray(packed)))
                assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), (shape, make.__name__)


@pytest.mark.parametrize("flip", [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::-1, ::-1]])
@pytest.mark.parametrize("shape", [(65, 1000), (1000, 65), (33, 33), (5, 2000)])
def test_transposes_that_run_backwards(shape: tuple[int, ...], flip: Flip) -> None:
    values = numbers(shape, "float32")
    for turned in (flip(values.T), flip(values).T):
        x = xt.asarray(turned)
        for threads in (1, 2):
            assert np.array_equal(stored(turned, x * 3, "write", threads), turned * 3)
            assert np.array_equal(stored(turned, x * 3, "add", threads), 2 + turned * 3)


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((17, 24, 40, 2), (0, 2, 3, 1)),
        ((24, 33, 20, 2), (3, 2, 0, 1)),
        ((15, 31, 17, 4), (2, 1, 3, 0)),
        ((5, 11, 6, 99), (0, 3, 2, 1)),
        ((4, 31, 66, 4), (2, 1, 3, 0)),  # few elements on both sides
        ((3, 31, 50, 7), (2, 1, 3, 0)),
        ((7, 31, 13, 11), (2, 1, 3, 0)),
        ((3, 992, 11), (2, 1, 0)),
        ((11, 175, 17), (2, 1, 0)),
        ((11, 93, 32), (2, 1, 0)),  # rows that share sets
        ((4, 1023, 8), (2, 1, 0)),
        ((65, 100, 5), (1, 2, 0)),  # short rows that follow each other the other way round than they are walked
        ((20, 204, 8), (1, 2, 0)),
        ((2, 16, 31, 33), (2, 1, 0, 3)),  # rows that are moved
        ((5, 17, 31, 11), (0, 3, 2, 1)),
        ((14, 6, 48, 8), (3, 1, 2, 0)),
    ],
    ids=str,
)
def test_rows_that_are_turned_and_run_backwards_come_to_the_same(
    shape: tuple[int, ...], order: tuple[int, ...], waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = llvm_run.machine()
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, waits=waits))
    forget()
    values = numbers(shape, "float32")
    every = (1 << len(shape)) - 1
    for flipped in (0, every, 1, every - 1, 1 << len(shape) - 1):
        at = tuple(slice(None, None, -1 if flipped >> k & 1 else 1) for k in range(len(shape)))
        want = values.transpose(order)[tuple(at[k] for k in order)] * 3
        view, source = xt.transpose(xt.asarray(values), order), xt.asarray(values)[at]
        assert np.array_equal(stored(want, view[tuple(at[k] for k in order)] * 3), want), flipped
        target = np.zeros(want.size + 8, "float32")  # the other way round: stored across
        lies = xt.asarray(target)[4:-4].reshape(want.shape)
        xt.transpose(lies, tuple(np.argsort(order).tolist()))[...] = source * 3
        assert np.array_equal(target[4:-4].reshape(want.shape), want), flipped
        assert not target[:4].any() and not target[-4:].any()
    forget()


SPLIT = (
    ((1000, 3), 0, lambda x: x[:, ::-1]),
    ((517, 7), 0, lambda x: x[::-1, ::-1]),
    ((31, 20, 32, 3), 0, lambda x: x[:, :, ::-1]),
    ((31, 20, 32, 3), 1, lambda x: x[:, :, ::-1]),
    ((9, 211, 31), 0, lambda x: x[:, :, ::-1]),
    ((1000, 4), 0, lambda x: x[:, :3]),
    ((40, 30, 9), 1, lambda x: x[..., :5]),
    ((24, 455, 3), 1, lambda x: x[::-1, ::-1, ::-1]),
    ((8, 512, 8), 1, lambda x: x[:, ::-1]),
    ((33, 58, 17), 1, lambda x: x[::-1, ::-1, ::-1]),
    ((3001, 3), 0, lambda x: x[::-1]),
)


@pytest.mark.covering(1)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize(
    ("many", "shape"),
    [(603, (3, 11)), (401, (5, 10)), (403, (2, 6)), (301, (7, 8)), (300, (8, 8)), (130, (9, 8)), (101, (12, 12))],
)
def test_transposes_of_short_axes_that_run_backwards(many: int, shape: tuple[int, int], dtype: str, bits: int) -> None:
    values = numbers((many, *shape), dtype)
    for order, flipped in itertools.product(((0, 2, 1), (2, 1, 0), (1, 2, 0)), range(1, 8)):
        at = tuple(slice(None, None, -1 if flipped >> k & 1 else 1) for k in range(3))
        view = xt.transpose(xt.asarray(values)[at], order)
        want = np.ascontiguousarray(values[at].transpose(order)) * values.dtype.type(3)
        target = np.zeros(want.size + 8, dtype)
        with xt.options(vector_bits=bits):
            xt.asarray(target)[4:-4].reshape(want.shape)[...] = view * 3
        np.testing.assert_array_equal(target[4:-4].reshape(want.shape), want, f"{order} {flipped}")
        assert not target[:4].any() and not target[-4:].any()


@pytest.mark.parametrize(("shape", "axis", "view"), SPLIT, ids=lambda x: str(x) if not callable(x) else "")
def test_what_is_left_of_folds_is_a_statement_of_its_own(
    shape: tuple[int, ...], axis: int, view: Callable[..., xt.Tensor]
) -> None:
    values = view(np.random.default_rng(1).standard_normal(shape).astype("float32"))
    given = xt.empty(shape)
    x = view(given)
    x[...] = xt.asarray(np.ascontiguousarray(values))
    large = values.astype(np.float64)
    for threads, bits in ((1, None), (3, None), (1, 256)):
        with xt.options(num_threads=threads, vector_bits=bits):
            plan = xt.plan(xt.empty(values.shape), softmax(x, axis))
        assert plan._code.kernel.rest is not None
        powers = np.exp(large - large.max(axis, keepdims=True))
        want = powers / powers.sum(axis, keepdims=True)
        np.testing.assert_allclose(plan.run().numpy(), want, rtol=1e-5)
        assert stored(values, softmax(x, axis), "add", threads, bits) == pytest.approx(2 + want, rel=1e-5)
        assert plan.recompute >= 1


@pytest.mark.parametrize(
    ("shape", "order", "axis", "flipped"),
    [
        ((33, 165, 6), (1, 2, 0), 2, (1, 2)),
        ((32, 31, 33), (0, 2, 1), 2, (2,)),
        ((2184, 5, 3), (2, 1, 0), 2, (1, 2)),
        ((8, 5, 25, 32), (2, 1, 3, 0), 0, (1, 3)),
        ((20000, 4, 3), (1, 0, 2), 2, (0,)),
        ((900, 40, 40), (2, 1, 0), 1, (0, 2)),  # in pieces, where it comes from memory
        ((17, 40000, 2), (1, 2, 0), 0, (1,)),
        ((4000, 2), (1, 0), 1, (0,)),  # rows of the target, brought in order first
        ((110, 100, 3), (0, 2, 1), 2, (1,)),
        ((83, 25, 8), (0, 2, 1), 2, (0, 1, 2)),
        ((1003, 7), (1, 0), 1, (0, 1)),
        ((270, 11, 11), (2, 1, 0), 0, (0, 2)),  # rows that run on but as they are stored
        ((1927, 17), (1, 0), 0, (0,)),
        ((24, 455, 3), (1, 0, 2), 1, (2,)),  # short rows that are read from their ends, brought in order first
        ((31, 48, 22), (1, 2, 0), 2, (0, 2)),
        ((17, 642, 3), (1, 2, 0), 2, (2,)),
        ((8, 128, 32), (2, 1, 0), 0, (1,)),  # few rows of the target across those that are folded
        ((16, 7, 12, 33), (1, 0, 2, 3), 3, ()),  # and few in one piece
        ((46, 100, 7), (2, 1, 0), 2, ()),
        ((170, 8, 24), (1, 0, 2), 0, ()),
        ((341, 3, 32), (2, 1, 0), 0, ()),
        ((7, 276, 17), (1, 2, 0), 2, (0, 2)),
    ],
    ids=str,
)
def test_what_is_turned_and_stored_runs_forwards_where_no_fold_does(
    shape: tuple[int, ...],
    order: tuple[int, ...],
    axis: int,
    flipped: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(2).standard_normal(shape).astype("float32")
    at = tuple(slice(None, None, -1 if k in flipped else 1) for k in range(len(shape)))
    turned = values[at].transpose(order)
    x, copy = xt.transpose(xt.asarray(values)[at], order), xt.asarray(np.ascontiguousarray(turned))
    for memory in (pieces.MEMORY, 1 << 16):
        monkeypatch.setattr(pieces, "MEMORY", memory)
        forget()
        for make in (softmax, scaled):
            first = stored(turned, make(x, axis))
            np.testing.assert_allclose(first, stored(turned, make(copy, axis)), rtol=1e-4, atol=1e-5)
            for threads, bits in ((3, 256), (2, 128)):
                assert np.array_equal(stored(turned, make(x, axis), "write", threads, bits), first)


@pytest.mark.parametrize(
    ("shape", "order", "axis", "flipped"),
    [
        ((17, 5, 48, 7), (3, 1, 0, 2), 2, (1, 2)),  # short rows that follow each other downwards
        ((17, 12, 32, 5), (3, 1, 2, 0), 3, (0, 1, 2)),
        ((20, 5, 32, 9), (3, 0, 2, 1), 2, (0, 1, 3)),  # and such that are read from their ends
        ((17, 110, 17), (1, 2, 0), 2, ()),  # rows that fill squares badly
    ],
    ids=str,
)
def test_softmax_of_what_is_turned_is_brought_or_copied(
    shape: tuple[int, ...], order: tuple[int, ...], axis: int, flipped: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = llvm_run.machine()
    values = np.random.default_rng(2).standard_normal(shape).astype("float32")
    at = tuple(slice(None, None, -1 if k in flipped else 1) for k in range(len(shape)))
    turned = values[at].transpose(order)
    value, target = softmax(xt.transpose(xt.asarray(values)[at], order), axis), xt.empty(turned.shape)
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, waits=False))
    forget()
    first = stored(turned, value)
    powers = np.exp(turned - turned.max(axis, keepdims=True))
    np.testing.assert_allclose(first, powers / powers.sum(axis, keepdims=True), rtol=1e-5)
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, vector_bits=512, waits=True))
    forget()
    rest = xt.plan(target, value)._launch.arranged.signature.rest
    assert rest is not None and len(rest.whole) >= 2 and rest.brought == bool(flipped)
    monkeypatch.setattr(llvm_run, "machine", lambda: replace(own, waits=True))
    forget()
    for threads, bits in ((1, own.vector_bits), (3, 256), (2, 128)):
        assert np.array_equal(stored(turned, value, "write", threads, bits), first)
    forget()


def test_a_target_that_is_read_backwards_keeps_what_is_read() -> None:
    values = numbers((300, 3), "float32")
    for at in ((slice(None), slice(None, None, -1)), (slice(None, None, -1), slice(None))):
        x = xt.asarray(values.copy())
        with pytest.raises(xt.AliasError):
            x[...] = x[at] * 2
        assert np.array_equal(x.numpy(), values)


def test_tensors_of_no_axis_and_of_one() -> None:
    x = xt.asarray(np.float32(3) * np.ones((), np.float32))
    assert stored(np.ones((), np.float32), x * 2).item() == 6
    y = np.arange(100, dtype=np.float32)
    assert np.array_equal(stored(y, xt.asarray(y)[::-1] * 2), y[::-1] * 2)
