"""Every extension against NumPy: on tensors and on expressions, of every type, nested, empty, and in every mode."""

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from strategies import DTYPES, LAYOUTS, assert_same_bits, combinations, place, values

import exprten as xt


def _crop(a: np.ndarray, shape: tuple[int, int], offset: tuple[int, int] | None = None) -> np.ndarray:
    (h, w), (big_h, big_w) = shape, a.shape[-2:]
    y, x = offset if offset is not None else ((big_h - h) // 2, (big_w - w) // 2)
    return a[..., y : y + h, x : x + w]


def _along(a: np.ndarray, shape: tuple[int, ...], axis: int) -> np.ndarray:
    lead = [None] * len(shape)
    lead[axis] = slice(None)
    return np.broadcast_to(a[tuple(lead)], shape)


# (name, shape of the source, ours, NumPy's)
Case = tuple[str, tuple[int, ...], Callable[[Any], Any], Callable[[np.ndarray], Any]]

# Functions that strides can say: views of tensors.
VIEWS: list[Case] = [
    ("broadcast_to rows", (5,), lambda e: xt.broadcast_to(e, (3, 5)), lambda a: np.broadcast_to(a, (3, 5))),
    ("broadcast_to columns", (3, 1), lambda e: xt.broadcast_to(e, (2, 3, 4)), lambda a: np.broadcast_to(a, (2, 3, 4))),
    ("broadcast_to same", (3, 4), lambda e: xt.broadcast_to(e, (3, 4)), lambda a: a),
    ("broadcast_to empty", (1, 3), lambda e: xt.broadcast_to(e, (0, 3)), lambda a: np.broadcast_to(a, (0, 3))),
    ("broadcast 0", (4,), lambda e: xt.broadcast(e, (4, 3), 0), lambda a: _along(a, (4, 3), 0)),
    ("broadcast 1", (3,), lambda e: xt.broadcast(e, (2, 3, 5), 1), lambda a: _along(a, (2, 3, 5), 1)),
    ("broadcast -1", (5,), lambda e: xt.broadcast(e, (2, 3, 5), -1), lambda a: _along(a, (2, 3, 5), 2)),
    ("broadcast_scalar", (1,), lambda e: xt.broadcast_scalar(e, (3, 4)), lambda a: np.full((3, 4), a[0])),
    ("broadcast_scalar 0-d", (), lambda e: xt.broadcast_scalar(e, (7,)), lambda a: np.full((7,), a)),
    ("repmat", (5,), lambda e: xt.repmat(e, 3), lambda a: np.tile(a, (3, 1))),
    ("repmat none", (5,), lambda e: xt.repmat(e, 0), lambda a: np.zeros((0, 5), a.dtype)),
    ("broadcast_with_axis", (2, 5), lambda e: xt.broadcast_with_axis(e, 0, 3), lambda a: np.repeat(a[:, None], 3, 1)),
    ("broadcast_with_axis first", (2, 5), lambda e: xt.broadcast_with_axis(e, -1, 3), lambda a: np.repeat(a[None], 3, 0)),
    ("broadcast_keepdim", (2, 1, 5), lambda e: xt.broadcast_keepdim(e, 1, 4), lambda a: np.repeat(a, 4, 1)),
    (
        "broadcast_multi_axes", (1, 3, 1), lambda e: xt.broadcast_multi_axes(e, (0, 2), (2, 4)),
        lambda a: np.broadcast_to(a, (2, 3, 4)),
    ),
    ("transpose", (3, 17), xt.transpose, np.transpose),
    ("transpose 120", (2, 3, 5), lambda e: xt.transpose(e, (1, 2, 0)), lambda a: np.transpose(a, (1, 2, 0))),
    ("transpose negative", (2, 3, 5), lambda e: xt.transpose(e, (0, -1, 1)), lambda a: np.transpose(a, (0, 2, 1))),
    ("transpose 1-d", (5,), xt.transpose, np.transpose),
    ("swapaxis", (2, 3, 5), lambda e: xt.swapaxis(e, 0, 2), lambda a: np.swapaxes(a, 0, 2)),
    ("swapaxis negative", (2, 3, 5), lambda e: xt.swapaxis(e, -1, 1), lambda a: np.swapaxes(a, -1, 1)),
    ("flip 0", (3, 17), lambda e: xt.flip(e, 0), lambda a: np.flip(a, 0)),
    ("flip -1", (3, 17), lambda e: xt.flip(e, -1), lambda a: np.flip(a, -1)),
    ("flip empty", (3, 0), lambda e: xt.flip(e, 1), lambda a: a),
    ("mirror", (2, 3, 9), xt.mirror, lambda a: a[..., ::-1]),
    ("slice", (7, 9), lambda e: xt.slice(e, 2, 5), lambda a: a[2:5]),
    ("slice axis", (7, 9), lambda e: xt.slice(e, 1, 9, axis=-1), lambda a: a[:, 1:9]),
    ("slice all", (7, 9), lambda e: xt.slice(e, (1, 2), (7, 5)), lambda a: a[1:7, 2:5]),
    ("slice none", (7, 9), lambda e: xt.slice(e, 3, 3), lambda a: a[3:3]),
    ("crop", (2, 7, 9), lambda e: xt.crop(e, (3, 4)), lambda a: _crop(a, (3, 4))),
    ("crop at", (7, 9), lambda e: xt.crop(e, (3, 4), (4, 5)), lambda a: _crop(a, (3, 4), (4, 5))),
    ("crop all", (7, 9), lambda e: xt.crop(e, (7, 9)), lambda a: a),
    ("crop none", (7, 9), lambda e: xt.crop(e, (0, 4)), lambda a: _crop(a, (0, 4))),
    ("index", (7, 9), lambda e: e[1::2, ::-3], lambda a: a[1::2, ::-3]),
    ("index integer", (7, 9), lambda e: e[-2], lambda a: a[-2]),
    ("index both", (7, 9), lambda e: e[3, 4], lambda a: a[3, 4]),
    ("index new axis", (7, 9), lambda e: e[:, None, 2:], lambda a: a[:, None, 2:]),
    ("index ellipsis", (2, 3, 5), lambda e: e[..., 1], lambda a: a[..., 1]),
    ("index past the end", (7, 9), lambda e: e[5:99, 99:], lambda a: a[5:99, 99:]),
    ("index everything", (7, 9), lambda e: e[...], lambda a: a),
]  # fmt: skip

# Functions that are always expressions.
REMAPS: list[Case] = [
    ("reshape split", (6, 5), lambda e: xt.reshape(e, (2, 3, 5)), lambda a: a.reshape(2, 3, 5)),
    ("reshape merge", (2, 3, 5), lambda e: xt.reshape(e, (6, 5)), lambda a: a.reshape(6, 5)),
    ("reshape across", (4, 9), lambda e: xt.reshape(e, (6, 6)), lambda a: a.reshape(6, 6)),
    ("reshape flat", (3, 17), lambda e: xt.reshape(e, -1), lambda a: a.reshape(-1)),
    ("reshape ones", (3, 5), lambda e: xt.reshape(e, (1, 3, 1, 5, 1)), lambda a: a.reshape(1, 3, 1, 5, 1)),
    ("reshape guess", (3, 8), lambda e: xt.reshape(e, (2, -1, 2)), lambda a: a.reshape(2, -1, 2)),
    ("reshape 0-d", (1, 1), lambda e: xt.reshape(e, ()), lambda a: a.reshape(())),
    ("reshape empty", (0, 5), lambda e: xt.reshape(e, (3, 0)), lambda a: a.reshape(3, 0)),
    ("reshape long", (60,), lambda e: xt.reshape(e, (3, 4, 5)), lambda a: a.reshape(3, 4, 5)),
    ("pad", (3, 5), lambda e: xt.pad(e, 2), lambda a: np.pad(a, 2)),
    ("pad y x", (2, 3, 5), lambda e: xt.pad(e, 1, 4), lambda a: np.pad(a, ((0, 0), (1, 1), (4, 4)))),
    ("pad value", (3, 5), lambda e: xt.pad(e, 1, value=1), lambda a: np.pad(a, 1, constant_values=1)),
    ("pad uneven", (3, 5), lambda e: xt.pad(e, ((0, 3), (2, 1))), lambda a: np.pad(a, ((0, 3), (2, 1)))),
    ("pad last", (3, 5), lambda e: xt.pad(e, [(2, 0)]), lambda a: np.pad(a, ((0, 0), (2, 0)))),
    ("pad not", (3, 5), lambda e: xt.pad(e, 0), lambda a: a),
    ("pad empty", (0, 5), lambda e: xt.pad(e, 1), lambda a: np.pad(a, 1)),
    ("pad 1-d", (5,), lambda e: xt.pad(e, [(1, 2)]), lambda a: np.pad(a, (1, 2))),
    ("pad wide", (31, 33), lambda e: xt.pad(e, 40), lambda a: np.pad(a, 40)),
    ("concat 0", (3, 5), lambda e: xt.concat(e, e), lambda a: np.concatenate([a, a])),
    ("concat -1", (3, 5), lambda e: xt.concat(e, e[:, 2:4], e, axis=-1), lambda a: np.concatenate([a, a[:, 2:4], a], -1)),
    ("concat one", (3, 5), xt.concat, lambda a: a),
    ("concat empty", (3, 5), lambda e: xt.concat(e[:0], e, e[3:]), lambda a: np.concatenate([a[:0], a, a[3:]])),
    ("concat four", (2, 3), lambda e: xt.concat(e, e[:, 1:], e[:, :1], e, axis=1), lambda a: np.concatenate([a, a[:, 1:], a[:, :1], a], 1)),
]  # fmt: skip

NESTED: list[Case] = [
    ("pad of pad", (3, 5), lambda e: xt.pad(xt.pad(e, 1), 2, value=1), lambda a: np.pad(np.pad(a, 1), 2, constant_values=1)),
    ("flip of pad", (3, 5), lambda e: xt.flip(xt.pad(e, [(1, 4)]), 1), lambda a: np.flip(np.pad(a, ((0, 0), (1, 4))), 1)),
    ("pad of flip", (3, 5), lambda e: xt.pad(xt.flip(e, 1), 1), lambda a: np.pad(np.flip(a, 1), 1)),
    ("reshape of transpose", (3, 4), lambda e: xt.reshape(xt.transpose(e), (2, 6)), lambda a: a.T.reshape(2, 6)),
    ("transpose of reshape", (3, 4), lambda e: xt.transpose(xt.reshape(e, (2, 6))), lambda a: a.reshape(2, 6).T),
    ("reshape of pad", (2, 4), lambda e: xt.reshape(xt.pad(e, 1), (3, 8)), lambda a: np.pad(a, 1).reshape(3, 8)),
    ("pad of reshape", (12,), lambda e: xt.pad(xt.reshape(e, (3, 4)), 2), lambda a: np.pad(a.reshape(3, 4), 2)),
    ("reshape twice", (4, 9), lambda e: xt.reshape(xt.reshape(e, (6, 6)), (3, 12)), lambda a: a.reshape(3, 12)),
    (
        "concat of pads", (3, 5), lambda e: xt.concat(xt.pad(e, 1), xt.pad(e, 1), axis=1),
        lambda a: np.concatenate([np.pad(a, 1)] * 2, 1),
    ),
    (
        "pad of concat", (3, 5), lambda e: xt.pad(xt.concat(e, xt.flip(e, 0)), 1),
        lambda a: np.pad(np.concatenate([a, np.flip(a, 0)]), 1),
    ),
    ("crop of pad", (3, 5), lambda e: xt.crop(xt.pad(e, 3), (3, 5)), lambda a: a),
    ("slice of concat", (3, 5), lambda e: xt.concat(e, e)[2:5, ::-2], lambda a: np.concatenate([a, a])[2:5, ::-2]),
    ("repmat of slice", (9,), lambda e: xt.repmat(e[1:8:2], 3), lambda a: np.tile(a[1:8:2], (3, 1))),
    ("a sum of remaps", (5, 5), lambda e: xt.where(e == xt.flip(e, 0), xt.transpose(e), e),
     lambda a: np.where(a == np.flip(a, 0), a.T, a)),
    ("broadcast of expression row", (5,), lambda e: xt.broadcast(e, (5, 3), 0), lambda a: _along(a, (5, 3), 0)),
]  # fmt: skip

CASES = VIEWS + REMAPS + NESTED
EVERY = pytest.mark.parametrize(("name", "shape", "ours", "reference"), CASES, ids=[case[0] for case in CASES])


def as_expression(x: np.ndarray) -> Any:
    """An expression with the values of `x` that is no tensor."""
    return xt.identity(xt.asarray(x))


@EVERY
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_extension_is_numpys_on_tensors_and_on_expressions(name, shape, ours, reference, dtype):
    x = values(dtype, shape, 3)
    want = np.asarray(reference(x))
    for source in (xt.asarray(x), as_expression(x)):
        e = ours(source)
        assert (e.shape, e.dtype) == (want.shape, want.dtype)
        assert_same_bits(xt.evaluate(e).numpy(), want, f"{name} of {type(source).__name__}")


@EVERY
def test_an_extension_reads_every_layout(name, shape, ours, reference):
    for layout in LAYOUTS:
        source = place(values("float32", shape, 5), layout)
        t = xt.asarray(source.array)
        want = np.asarray(reference(source.array))
        assert_same_bits(xt.evaluate(ours(t)).numpy(), want, f"{name} of {layout}")
        with np.errstate(over="ignore"):
            twice = np.asarray(reference(source.array * np.float32(2)))
        assert_same_bits(xt.evaluate(ours(t * 2)).numpy(), twice, f"{name} of an expression over {layout}")
        source.assert_unchanged()


MODES: dict[str, Callable[[Any, Any], Any] | None] = {
    "write": None, "inplace": None, "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
}  # fmt: skip


@EVERY
def test_an_extension_goes_through_every_mode_into_every_layout(name, shape, ours, reference):
    x = values("float32", shape, 7)
    value = np.asarray(reference(x))
    for (mode, combine), layout in zip(
        MODES.items(), itertools.cycle(["padded", "contiguous", "transposed", "negative2"])
    ):  # the cycle is endless
        out = place(values("float32", value.shape, 8), layout)
        with np.errstate(all="ignore"):
            want = value if combine is None else np.asarray(combine(out.array.copy(), value))
        xt.assign(xt.asarray(out.array), mode, ours(as_expression(x)))
        assert_same_bits(out.array, want, f"{name}, {mode} into {layout}")
        out.assert_untouched()


@EVERY
def test_an_extension_has_the_same_bits_at_another_width(name, shape, ours, reference):
    x = values("float64", shape, 9)
    for bits in (128, 256):
        with xt.options(vector_bits=bits):
            assert_same_bits(
                xt.evaluate(ours(as_expression(x))).numpy(), np.asarray(reference(x)), f"{name}, {bits} bits"
            )


@pytest.mark.parametrize(("name", "shape", "ours", "reference"), VIEWS, ids=[case[0] for case in VIEWS])
def test_an_extension_of_a_tensor_is_a_view_of_its_memory(name, shape, ours, reference):
    x = values("float32", shape, 1)
    t = xt.array(x)
    view = ours(t)
    assert type(view) is xt.Tensor
    assert view.buffer is t.buffer
    t.numpy()[...] = values("float32", shape, 2)
    assert_same_bits(view.numpy().copy(), np.asarray(reference(t.numpy())), name)


WRITABLE = [case for case in VIEWS if not case[0].startswith(("broadcast", "repmat"))]


@pytest.mark.parametrize(("name", "shape", "ours", "reference"), WRITABLE, ids=[case[0] for case in WRITABLE])
def test_writing_a_view_writes_the_tensor(name, shape, ours, reference):
    t, a = xt.zeros(shape), np.zeros(shape, np.float32)
    view, seen = ours(t), reference(a)
    view[...] = 7
    if isinstance(seen, np.ndarray):
        seen[...] = 7
    else:  # NumPy gives a scalar where all indices are integers
        a[3, 4] = 7
    assert_same_bits(t.numpy().copy(), a, name)


@pytest.mark.parametrize(("name", "shape", "ours", "reference"), REMAPS, ids=[case[0] for case in REMAPS])
def test_an_always_lazy_extension_sees_later_values(name, shape, ours, reference):
    t = xt.array(values("float32", shape, 1))
    e = ours(t)
    assert not isinstance(e, xt.Tensor) or e is t
    later = values("float32", shape, 2)
    t.numpy()[...] = later
    assert_same_bits(xt.evaluate(e).numpy(), np.asarray(reference(later)), name)


@pytest.mark.parametrize("axis", range(-3, 3))
def test_an_axis_is_an_argument_at_run_time(axis):
    x = values("float32", (3, 4, 5), 1)
    for source in (xt.asarray(x), as_expression(x)):
        assert_same_bits(xt.evaluate(xt.flip(source, axis)).numpy(), np.flip(x, axis))
        assert_same_bits(xt.evaluate(xt.concat(source, source, axis=axis)).numpy(), np.concatenate([x, x], axis))
        assert_same_bits(xt.evaluate(xt.swapaxis(source, 0, axis)).numpy(), np.swapaxes(x, 0, axis))
        assert_same_bits(xt.evaluate(xt.slice(source, 1, 3, axis=axis)).numpy(), x.take([1, 2], axis))
        row = x.take([0], axis)
        assert_same_bits(xt.evaluate(xt.broadcast_keepdim(row, axis, 6)).numpy(), np.repeat(row, 6, axis))


@pytest.mark.parametrize("widths", [((0, 0), (0, 1)), ((1, 0), (0, 0)), ((2, 3), (5, 7)), ((0, 0), (31, 33))])
def test_another_width_of_padding_is_no_other_kernel_and_right(widths):
    x = values("float32", (6, 7), 1)
    e = xt.pad(as_expression(x), widths, value=float("nan"))
    assert_same_bits(xt.evaluate(e).numpy(), np.pad(x, widths, constant_values=np.nan))


@pytest.mark.parametrize("width", range(12))
@pytest.mark.parametrize("extent", [1, 2, 7, 8, 9, 16, 17, 33])
def test_a_padded_row_is_cut_where_the_padding_starts(width, extent):
    x = values("float32", (2, extent), 1)
    e = xt.pad(as_expression(x) + as_expression(x), width)
    with np.errstate(over="ignore"), xt.options(max_recompute=1e6):  # a narrow row in wide padding
        assert_same_bits(xt.evaluate(e).numpy(), np.pad(x + x, width))


@pytest.mark.parametrize("parts", [(1, 1), (3, 8), (8, 3), (17, 16, 15), (0, 5), (5, 0), (1, 2, 3, 4)])
@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_any_extent_are_joined(parts, axis):
    shapes = [(n, 5) if axis == 0 else (5, n) for n in parts]
    xs = [values("float32", shape, k) for k, shape in enumerate(shapes)]
    want = np.concatenate(xs, axis)
    assert_same_bits(xt.evaluate(xt.concat(*map(as_expression, xs), axis=axis)).numpy(), want)
    assert_same_bits(xt.evaluate(xt.concat(*map(xt.asarray, xs), axis=axis)).numpy(), want)


@pytest.mark.parametrize(("first", "second"), combinations(2), ids=str)
def test_concat_joins_in_the_common_type(first, second):
    a, b = values(first, (3, 5), 1), values(second, (2, 5), 2)
    with np.errstate(all="ignore"):
        want = np.concatenate([a, b])
    assert_same_bits(xt.evaluate(xt.concat(xt.asarray(a), xt.asarray(b))).numpy(), want)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_pad_value_may_be_a_tensor_of_the_padded_shape(dtype):
    x, around = values(dtype, (3, 5), 1), values(dtype, (5, 7), 2)
    want = around.copy()
    want[1:-1, 1:-1] = x
    assert_same_bits(xt.evaluate(xt.pad(xt.asarray(x), 1, value=xt.asarray(around))).numpy(), want)
    assert_same_bits(xt.evaluate(xt.pad(xt.asarray(x), 1, value=around[0])).numpy()[1:-1, 1:-1], x)


RANGES = [
    (5,), (2, 9), (0, 10, 3), (10, 0, -3), (0, 0), (5, 2), (0.0, 1.0, 0.25), (1.5,), (0, 1, 0.3), (-3, 3), (3, -3, -1),
]  # fmt: skip


@pytest.mark.parametrize("arguments", RANGES, ids=str)
@pytest.mark.parametrize("repeat", [1, 3])
def test_range_is_arange_repeated(arguments, repeat):
    whole = all(isinstance(x, int) for x in arguments)
    want = np.repeat(np.arange(*arguments), repeat).astype(np.int64 if whole else np.float32)
    e = xt.range(*arguments, repeat=repeat) if len(arguments) > 1 else xt.range(*arguments, None, 1, repeat)
    assert_same_bits(xt.evaluate(e).numpy(), want)
    assert_same_bits(xt.evaluate(e + e).numpy(), want + want)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
def test_range_has_the_type_it_is_asked_for(dtype):
    assert_same_bits(xt.evaluate(xt.range(3, 40, 2, dtype=dtype)).numpy(), np.arange(3, 40, 2, dtype=dtype))


def test_range_takes_part_in_statements_over_other_axes():
    x, k = values("float64", (5, 7), 1), np.arange(7)
    row, column = xt.range(7), xt.reshape(xt.range(5), (5, 1))
    assert_same_bits(xt.evaluate(xt.where(row < column, x, 0.0)).numpy(), np.where(k < np.arange(5)[:, None], x, 0.0))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)], ids=str)
def test_empty_shapes_pass_through(shape):
    x = np.zeros(shape, np.float32)
    for source in (xt.asarray(x), as_expression(x)):
        for e, want in (
            (xt.flip(source, 0), x), (xt.transpose(source), x.T), (xt.concat(source, source, axis=-1), np.concatenate([x, x], -1)),
            (xt.reshape(source, (0, 4)), x.reshape(0, 4)), (source[:0], x[:0]), (source[..., None], x[..., None]),
            (xt.pad(source, [(1, 2)]), np.pad(x, [(0, 0)] * (x.ndim - 1) + [(1, 2)])),
        ):  # fmt: skip
            assert_same_bits(xt.evaluate(e).numpy(), want)


WRONG: list[tuple[str, Callable[[Any], Any]]] = [
    ("broadcast_to", lambda e: xt.broadcast_to(e, (3, 4))), ("broadcast_to", lambda e: xt.broadcast_to(e, (5,))),
    ("broadcast", lambda e: xt.broadcast(e, (3, 5), 0)), ("broadcast_scalar", lambda e: xt.broadcast_scalar(e, (2,))),
    ("repmat", lambda e: xt.repmat(e, 2)), ("broadcast_with_axis", lambda e: xt.broadcast_with_axis(e, 2, 2)),
    ("broadcast_multi_axes", lambda e: xt.broadcast_keepdim(e, 0, 2)),
    ("broadcast_multi_axes", lambda e: xt.broadcast_multi_axes(e, (0, 1), (2,))), ("reshape", lambda e: xt.reshape(e, (4, 4))),
    ("reshape", lambda e: xt.reshape(e, (-1, -1))), ("transpose", lambda e: xt.transpose(e, (0, 0))),
    ("transpose", lambda e: xt.transpose(e, (0,))), ("flip", lambda e: xt.flip(e, 2)), ("mirror", lambda e: xt.mirror(e[0])),
    ("slice", lambda e: xt.slice(e, 2, 4)), ("slice", lambda e: xt.slice(e, -1, 2)), ("slice", lambda e: xt.slice(e, (0,), (1,))),
    ("crop", lambda e: xt.crop(e, (4, 5))), ("crop", lambda e: xt.crop(e, (2, 2), (2, 0))), ("crop", lambda e: xt.crop(e[0], (1, 1))),
    ("pad", lambda e: xt.pad(e, -1)), ("pad", lambda e: xt.pad(e[0], 1)), ("concat", lambda e: xt.concat()),
    ("concat", lambda e: xt.concat(e, e[:, 1:])), ("concat", lambda e: xt.concat(e, e[0])),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call"), WRONG, ids=[f"{k} {row[0]}" for k, row in enumerate(WRONG)])
def test_a_shape_that_does_not_fit_is_a_shape_error_that_names_the_function(name, call):
    x = values("float32", (3, 5), 1)
    for source in (xt.asarray(x), as_expression(x)):
        with pytest.raises(xt.ShapeError, match=name):
            call(source)


def test_a_range_without_a_step_is_a_value_error():
    for arguments in ({"step": 0}, {"repeat": 0}):
        with pytest.raises(ValueError, match="range"):
            xt.range(0, 4, **arguments)


def test_index_maps_of_different_structure_are_not_taken_for_each_other():
    column = np.arange(3)[:, None]
    e = xt.array(column) * 1
    for index in ((1, None, slice(None)), (slice(None, None, 2),), (slice(None), 0), (0, slice(None), None)):
        np.testing.assert_array_equal(xt.evaluate(e[index]).numpy(), column[index])
