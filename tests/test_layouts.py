"""Assignments under every layout of target and sources, in every mode, against NumPy; memory beside the target stays as it was."""

import itertools
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from exprten_jit.backends import llvm_run
from strategies import LAYOUTS, REPEATED, SHAPES, SMALL, TARGETS, assert_same_bits, place, values
from test_drawn_blocks import forget

import exprten as xt
from exprten.statement import lying


@dataclass(frozen=True)
class Tree:
    """A statement's value: `ours` over tensors, `numpy` over arrays; the types of target and of the two sources."""

    ours: Callable[[Any, Any], Any]
    numpy: Callable[[Any, Any], Any]
    target: str
    a: str
    b: str


def _same(call: Callable[[Any, Any], Any], target: str, a: str, b: str) -> Tree:
    return Tree(call, call, target, a, b)


def _pad(a: np.ndarray) -> np.ndarray:
    """`a` in the middle of sevens, one on each side of the last axis, and cut to its shape again."""
    widths = [(0, 0)] * (a.ndim - 1) + [(1, 1)]
    return np.pad(a, widths, constant_values=7)[..., : a.shape[-1]]


TREES: dict[str, Tree] = {
    "copy": _same(lambda a, b: a, "float32", "float32", "float32"),
    "axpy": _same(lambda a, b: a * 0.5 + b, "float32", "float32", "float32"),
    "shared": _same(lambda a, b: (a - b) * (a - b) + a, "float64", "float64", "float32"),
    "choice": Tree(lambda a, b: xt.where(a > b, a - b, b), lambda a, b: np.where(a > b, a - b, b), "float64", "float64", "int32"),
    "integers": _same(lambda a, b: (a // 3 ^ b) - b * a, "int32", "int32", "int32"),
    "bytes": _same(lambda a, b: (a + b) // 3, "uint8", "uint8", "uint8"),
    "truth": _same(lambda a, b: (a < b) | (a == b), "bool", "int64", "int64"),
    "widening": Tree(lambda a, b: xt.sqrt(xt.absolute(a)) + b, lambda a, b: np.sqrt(np.absolute(a)) + b, "float64", "int32", "uint8"),
    "flip": Tree(
        lambda a, b: xt.flip(a * 1.0, 0) + b if a.ndim else a * 1.0 + b,
        lambda a, b: np.flip(a * np.float32(1), 0) + b if a.ndim else a * np.float32(1) + b, "float32", "float32", "float32",
    ),
    "pad": Tree(
        lambda a, b: xt.pad(a + b, [(1, 1)], value=7)[..., : a.shape[-1]] if a.ndim else a + b,
        lambda a, b: _pad(a + b) if a.ndim else a + b, "float32", "float32", "float32",
    ),
    "transpose": Tree(
        lambda a, b: xt.transpose(xt.transpose(a + b)) - a, lambda a, b: a + b - a, "int64", "int64", "int32",
    ),
}  # fmt: skip

# Every way to combine: (what is called, the operator that NumPy combines with; None: stores).
MODES: dict[str, tuple[Callable[[xt.Tensor, Any], Any], Callable[[Any, Any], Any] | None]] = {
    "write": (lambda t, e: xt.assign(t, "write", e), None),
    "inplace": (lambda t, e: xt.assign(t, "inplace", e), None),
    "add": (lambda t, e: xt.assign(t, "add", e), operator.add),
    "sub": (lambda t, e: xt.assign(t, "sub", e), operator.sub),
    "mul": (lambda t, e: xt.assign(t, "mul", e), operator.mul),
    "div": (lambda t, e: xt.assign(t, "div", e), operator.truediv),
    "[...] =": (lambda t, e: t.__setitem__(..., e), None),
    "+=": (operator.iadd, operator.add),
    "-=": (operator.isub, operator.sub),
    "*=": (operator.imul, operator.mul),
    "/=": (operator.itruediv, operator.truediv),
    "//=": (operator.ifloordiv, operator.floordiv),
    "%=": (operator.imod, operator.mod),
    "&=": (operator.iand, operator.and_),
    "|=": (operator.ior, operator.or_),
    "^=": (operator.ixor, operator.xor),
    "<<=": (operator.ilshift, operator.lshift),
    ">>=": (operator.irshift, operator.rshift),
}


def expected(old: np.ndarray, value: np.ndarray, combine: Callable[[Any, Any], Any] | None) -> np.ndarray | None:
    """What the target holds afterwards: NumPy's promoted type, rounded once; None where the same-kind rule forbids it."""
    try:
        with np.errstate(all="ignore"):
            found = np.broadcast_to(value, old.shape) if combine is None else np.asarray(combine(old, value))
            return (
                found.astype(old.dtype, casting="same_kind")
                if np.can_cast(found.dtype, old.dtype, "same_kind")
                else None
            )
    except TypeError:
        return None


def check(tree: str, mode: str, target: str, a: str, b: str, shape: tuple[int, ...], seed: int = 1) -> None:
    row, (call, combine) = TREES[tree], MODES[mode]
    out = place(values(row.target, shape, seed), target)
    sources = [place(values(d, shape, seed + k), lie) for k, (d, lie) in enumerate(((row.a, a), (row.b, b)), 1)]
    arrays = [source.array for source in sources]
    with np.errstate(all="ignore"):
        want = expected(out.array.copy(), np.asarray(row.numpy(*arrays)), combine)
    t, e = xt.asarray(out.array), row.ours(*(xt.asarray(x) for x in arrays))
    if want is None:
        with pytest.raises(xt.DTypeError):
            call(t, e)
        out.assert_unchanged()
        return
    call(t, e)
    assert_same_bits(out.array, want, f"{tree} {mode} {target} from {a}, {b} of {shape}")
    out.assert_untouched()
    for source in sources:
        source.assert_unchanged()


def covering(factors: Sequence[Sequence[Any]], seed: int) -> list[tuple[Any, ...]]:
    """Rows in which every two values of two factors meet: each new row is the candidate that covers most of what is left."""
    rng = np.random.default_rng(seed)
    spans = [range(len(values)) for values in factors]
    columns = list(itertools.combinations(range(len(factors)), 2))
    left = {(p, q, x, y) for p, q in columns for x in spans[p] for y in spans[q]}
    rows = []
    while left:
        p, q, x, y = min(left)
        best: tuple[int, ...] = ()
        most = -1
        for _ in range(12):
            row = [int(rng.integers(len(span))) for span in spans]
            row[p], row[q] = x, y
            covered = sum((i, j, row[i], row[j]) in left for i, j in columns)
            if covered > most:
                best, most = tuple(row), covered
        left -= {(i, j, best[i], best[j]) for i, j in columns}
        rows.append(tuple(values[k] for values, k in zip(factors, best, strict=True)))
    return rows


FACTORS = (list(TREES), list(MODES), list(TARGETS), list(LAYOUTS), list(LAYOUTS), list(SHAPES))
ROWS = covering(FACTORS, seed=7)


def test_the_covering_array_covers_every_pair():
    for p, q in itertools.combinations(range(len(FACTORS)), 2):
        assert {(row[p], row[q]) for row in ROWS} == set(itertools.product(FACTORS[p], FACTORS[q]))


@pytest.mark.parametrize(("tree", "mode", "target", "a", "b", "shape"), ROWS, ids=str)
def test_any_two_of_tree_mode_layouts_and_shape_give_numpys_bits(tree, mode, target, a, b, shape):
    check(tree, mode, target, a, b, shape)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_writes_every_layout(mode, target):
    for tree in ("axpy", "integers", "flip"):
        check(tree, mode, target, "step2", "contiguous", (3, 17), seed=3)


@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_layout_is_copied_into_every_layout(target, source):
    for shape in ((37,), (5, 33), (2, 3, 7)):
        check("copy", "write", target, source, source, shape)


@pytest.mark.parametrize("count", range(70))
def test_every_length_around_a_vector_ends_where_it_should(count):
    for tree in ("axpy", "bytes", "truth"):
        check(tree, "write", "contiguous", "contiguous", "contiguous", (count,))
        check(tree, "write", "offset", "offset", "repeated", (count,))


BROADCAST = [
    ((3, 17), (17,)),
    ((3, 17), (3, 1)),
    ((3, 17), (1, 17)),
    ((3, 17), ()),
    ((2, 3, 7), (3, 1)),
    ((4, 0, 2), (2,)),
]


@pytest.mark.parametrize(("shape", "small"), BROADCAST, ids=str)
@pytest.mark.parametrize("layout", TARGETS)
def test_a_smaller_source_is_broadcast(shape, small, layout):
    for mode in ("write", "-="):
        out, source = place(values("float32", shape, 1), layout), place(values("float32", small, 2), layout)
        call, combine = MODES[mode]
        with np.errstate(all="ignore"):
            want = expected(out.array.copy(), source.array * np.float32(2), combine)
        call(xt.asarray(out.array), xt.asarray(source.array) * 2)
        assert_same_bits(out.array, want, f"{mode} {shape} from {small}")
        out.assert_untouched()


@pytest.mark.parametrize("mode", ["write", "+="])
@pytest.mark.parametrize("lead", [(1,), (1, 1)], ids=str)
@pytest.mark.parametrize("value", ["leaf", "plain", "indexed"])
def test_leading_axes_of_one_element_are_dropped_from_the_value(mode, lead, value):
    out, x = place(values("float32", (3, 17), 1), "padded"), values("float32", (*lead, 3, 17), 2)
    t, call = xt.asarray(x), MODES[mode][0]
    e = {"leaf": t, "plain": t * 2, "indexed": xt.flip(t * 2, -1)}[value]
    with np.errstate(all="ignore"):
        number = {"leaf": x, "plain": x * np.float32(2), "indexed": np.flip(x * np.float32(2), -1)}[value]
        want = expected(out.array.copy(), number.reshape(3, 17), MODES[mode][1])
    call(xt.asarray(out.array), e)
    assert_same_bits(out.array, want)
    out.assert_untouched()


@pytest.mark.parametrize("target", TARGETS)
def test_null_does_nothing_at_all(target):
    out = place(values("float32", (3, 17), 1), target)
    t = xt.asarray(out.array)
    assert xt.assign(t, "null", xt.ones((3, 17))) is t
    out.assert_unchanged()


@pytest.mark.parametrize("layout", REPEATED)
def test_a_target_whose_elements_share_memory_is_an_alias_error(layout):
    out = place(values("float32", (3, 17), 1), layout)
    for call, _ in MODES.values():
        with pytest.raises(xt.AliasError):
            call(xt.asarray(out.array), xt.ones((3, 17)))
    out.assert_unchanged()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32", "float64"])
def test_a_scalar_fills_every_layout(dtype, target):
    out = place(values(dtype, (5, 33), 1), target)
    xt.asarray(out.array)[...] = np.dtype(dtype).type(1)
    assert (out.array == 1).all()
    out.assert_untouched()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_target_read_at_the_same_place_is_updated(target, mode):
    out, other = place(values("int32", (3, 17), 1), target), values("int32", (3, 17), 2)
    call, combine = MODES[mode]
    with np.errstate(all="ignore"):
        want = expected(out.array.copy(), out.array * 3 - other, combine)
    t = xt.asarray(out.array)
    if want is None:
        with pytest.raises(xt.DTypeError):
            call(t, t * 3 - other)
        out.assert_unchanged()
        return
    call(t, t * 3 - other)
    assert_same_bits(out.array, want, mode)
    out.assert_untouched()


SQUARES = [(5, 5), (9, 200), (70, 64), (130, 6), (4, 50), (64, 2)]  # of a source that lies across its target


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int32", "float32", "float64"])
def test_a_target_that_lies_across_its_source(dtype):
    for shape, layout in itertools.product(SQUARES, ("contiguous", "padded", "negative")):
        source, other = place(values(dtype, shape, 1), layout), values(dtype, shape[::-1], 2)
        with np.errstate(all="ignore"):
            want = source.array.T if dtype == "bool" else source.array.T + other
        for bits in (128, 256, 512):
            out = place(np.zeros(shape[::-1], dtype), "padded")
            with xt.options(vector_bits=bits):
                x = xt.asarray(source.array)
                plan = xt.plan(xt.asarray(out.array), x.T if dtype == "bool" else x.T + xt.asarray(other))
                plan.run()
            packed = layout in ("contiguous", "negative")  # whichever way they run
            woven = packed and shape[1] < 16 < shape[0]  # packed rows, of which vectors are taken apart
            backwards = layout == "negative" and dtype != "bool"  # while the other operand runs forwards
            turned = min(shape) >= 5 and not backwards and not woven
            assert ("turned" in str(plan.nest)) == turned, plan.nest
            assert bool(plan._code.nest.groups) == woven, plan.nest
            assert_same_bits(out.array, want, f"{dtype} {shape} {layout}, {bits} bits")
            out.assert_untouched()


WOVEN = [
    ("bool", 3),
    ("int8", 7),
    ("int16", 2),
    ("float16", 15),
    ("int32", 5),
    ("float32", 12),
    ("float64", 3),
    ("complex64", 4),
    ("complex64", 15),
    ("complex128", 7),
]


@pytest.mark.parametrize(("dtype", "count"), WOVEN)
def test_rows_of_few_elements_that_lie_across_are_taken_apart(dtype, count):
    rng = np.random.default_rng(count)

    def some(*shape: int) -> np.ndarray:
        return rng.integers(0, 2 if dtype == "bool" else 7, shape).astype(dtype)

    for many, bits in ((17, 512), (1003, 512), (130, 256), (33, 128)):
        for shape in ((many, count), (count, many), (2, many, count), (2, count, many)):
            back = (*shape[:-2], shape[-1], shape[-2])
            source, beside, row, column = some(*shape), some(*back), some(back[-1]), some(back[-2], 1)
            x, z, r, c = map(xt.asarray, (source, beside, row, column))
            across = np.swapaxes(source, -1, -2)
            memory = np.full((*back[:-2], back[-2] + 2, back[-1]), 5).astype(dtype)  # beside the target nothing changes
            inside = memory[..., 1:-1, :]
            target = xt.asarray(inside)
            view = xt.asarray(across)
            with xt.options(vector_bits=bits, num_threads=1 + (many > 100)):
                plan = xt.plan(target, view | z if dtype == "bool" else (view + r) * c + z)
                plan.run()
                assert plan._code.nest.groups, plan.nest
                want = across | beside if dtype == "bool" else (across + row) * column + beside
                assert_same_bits(inside, want, f"{dtype} {shape}, {bits} bits")
                if dtype != "bool":
                    target -= view
                    assert_same_bits(inside, want - across, f"-= {dtype} {shape}, {bits} bits")
            assert (memory[..., [0, -1], :] == np.array(5).astype(dtype)).all()
            del x


def test_rows_that_would_be_long_to_write_out_are_turned():
    x = np.random.default_rng(0).uniform(1, 9, (100, 12)).astype(np.float32)
    y = xt.zeros((12, 100))
    plan = xt.plan(y, xt.lgamma(xt.asarray(x).T))
    plan.run()
    assert "turned" in plan.nest and not plan._code.nest.groups
    assert_same_bits(y.numpy().T, xt.evaluate(xt.lgamma(xt.asarray(x))).numpy())


SQUARE = {
    "one source": lambda x, w, row, column, target: x * 3 + 1,
    "both sides": lambda x, w, row, column, target: x - w * 2,
    "a row and a column": lambda x, w, row, column, target: (x - row) * column + w,
    "two sources": lambda x, w, row, column, target: x + x[:, ::-1] * w,
    "the target": lambda x, w, row, column, target: target * 2 - x,
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", SQUARE)
@pytest.mark.parametrize("shape", [(16, 16), (17, 90), (90, 17), (81, 130), (300, 79), (64, 275)], ids=str)
def test_what_lies_across_is_computed_in_squares(shape, name):
    rng = np.random.default_rng(0)
    dtypes = ("float32", "int8", "float16", "float64", "int16", "complex64", "complex128", "complex64")
    small = [(dtype, 512) for dtype in ("uint8", "int16", "float16")]
    for dtype, bits in [*zip(dtypes, itertools.cycle((512, 256, 128))), *small]:
        rows, columns = shape
        x, w = (rng.integers(-9, 9, s).astype(dtype) for s in ((columns, rows), shape))
        row, column = rng.integers(1, 5, columns).astype(dtype), rng.integers(1, 5, (rows, 1)).astype(dtype)
        if x.dtype.kind == "c":
            x, w, row = x + 2j * x[::-1], w * (1 - 3j), row * 1j
        for layout, turned in (("contiguous", False), ("padded", True), ("offset", False)):
            out = place(w if not turned else np.ascontiguousarray(w.T), layout)
            source = place(np.ascontiguousarray(x.T), "padded").array if turned else place(x, "padded").array.T
            arrays = source, w, row, column
            target = out.array.T if turned else out.array
            want = SQUARE[name](*arrays, target.copy()).astype(dtype)
            with xt.options(vector_bits=bits, num_threads=1 + turned):
                into = xt.asarray(target)
                plan = xt.plan(into, SQUARE[name](*map(xt.asarray, arrays), into))
                plan.run()
            masked = 8 * w.real.itemsize in llvm_run.machine().masked_bits
            assert "squares" in plan.nest or not masked or (turned and name == "two sources"), plan.nest
            assert_same_bits(target, want, f"{name}, {dtype}, {layout}, {bits} bits")
            out.assert_untouched()


@pytest.mark.parametrize("shape", [(17, 90), (64, 275), (300, 79)], ids=str)
def test_squares_of_bfloat16_are_woven(shape):
    """Its elements are computed by twos in whole registers, one by one at the rim, and so they have one result."""
    rng, kind = np.random.default_rng(0), xt.empty(0, xt.bfloat16).numpy().dtype
    x, w, row, column = (
        rng.standard_normal(s).astype(np.float32).astype(kind) for s in (shape[::-1], shape, shape[1:], (shape[0], 1))
    )
    for name, e in SQUARE.items():
        want, arrays = xt.asarray(w.copy()), list(map(xt.asarray, (x.T, w, row, column)))
        with xt.options(vector_bits=128):
            xt.plan(want, e(*(xt.array(np.ascontiguousarray(a.numpy())) for a in arrays), want)).run()
        for turned in (False, True):
            target = xt.array(np.ascontiguousarray(w.T)).T if turned else xt.array(w)
            with xt.options(vector_bits=512):
                xt.plan(target, e(*arrays, target)).run()
            np.testing.assert_array_equal(
                target.numpy().view(np.uint16), want.numpy().view(np.uint16), f"{name}, {turned}"
            )


def test_a_target_that_is_read_under_another_type_is_computed_once():
    for shape in ((17, 90), (90, 17), (31, 31)):
        x = np.random.default_rng(0).integers(0, 99, shape[::-1]).astype(np.float32)
        memory = np.random.default_rng(1).integers(0, 99, shape).astype(np.float32)
        want = memory.view(np.int32).astype(np.float32) * np.float32(2**-30) + x.T
        xt.asarray(memory)[...] = xt.asarray(memory.view(np.int32)).astype(xt.float32) * 2**-30 + xt.asarray(x).T
        assert_same_bits(memory, want, f"{shape}")


@pytest.mark.parametrize("axes", list(itertools.permutations(range(4))), ids=str)
def test_axes_in_any_order_are_stored_in_any_other(axes):
    x = np.random.default_rng(0).standard_normal((5, 6, 7, 70)).astype(np.float32)
    want, row = x.transpose(axes), np.arange(x.shape[axes[-1]], dtype=np.float32)
    for e in (xt.asarray(want), xt.transpose(xt.asarray(x) * 1.0, axes)):
        for threads in (1, 2):
            with xt.options(num_threads=threads):
                assert_same_bits(xt.evaluate(e + xt.asarray(row)).numpy(), want + row, f"{axes}, {threads} threads")


def test_a_target_that_lies_across_its_source_takes_what_is_on_the_stack():
    x, y = xt.ones((700, 300)), xt.ones((300, 700), xt.float64)
    for e, scratch in ((x.T + x.T * y, 0), (xt.tanh(x.T) * y, 64 * 64 * 4)):
        plan = xt.plan(y, e)
        before = xt.memory.allocations
        plan.run()
        assert xt.memory.allocations == before and plan.scratch_bytes == scratch


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", [(2100, 1030), (170_000, 17)], ids=str)
def test_a_large_target_that_lies_across_its_source_is_stored_past_the_caches(dtype, shape):
    rng = np.random.default_rng(0)
    x, z = rng.integers(-99, 99, shape).astype(dtype), rng.integers(-99, 99, shape[::-1]).astype(dtype)
    a, b = xt.asarray(x), xt.asarray(z)
    for before, behind, threads in ((0, 0, 1), (16, 16, 2), (3, 2, 1), (1, 0, 2)):
        memory = np.full((shape[1], before + shape[0] + behind), 7, dtype)
        inside = memory[:, before : before + shape[0]]
        out = xt.asarray(inside)
        for target, e, want in (
            (out, a.T * 3 - b, x.T * 3 - z),
            (out.T, a * 3 - b.T, x * 3 - z.T),
            (out, a.T - xt.max(a.T, 1, keepdims=True), x.T - x.T.max(1, keepdims=True)),
            (out.T, a - xt.max(a, 1, keepdims=True), x - x.max(1, keepdims=True)),
        ):
            inside[...] = 0
            with xt.options(num_threads=threads):
                plan = xt.plan(target, e)
                short = plan._code.kernel.short
                assert "whole lines along" in plan.nest or short or not llvm_run.machine().streams
                plan.run()
            np.testing.assert_array_equal(target.numpy(), want)
        assert (memory[:, :before] == 7).all() and (memory[:, before + shape[0] :] == 7).all()


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8"])
@pytest.mark.parametrize(
    "shape", [(2112, 1030), (2105, 1040), (70_016, 31), (272, 8200), (833, 2600), (384, 10_922)], ids=str
)
@pytest.mark.parametrize("pad", [False, True])
def test_lines_of_a_large_target_that_lies_across_are_stored_as_they_come(dtype, shape, pad):
    """Where all rows of the target begin with a line, and where they do not; what lies between rows stays as it was. In tiles of as many elements,
    and of fewer where several rows of the source share sets of the second cache.
    """
    shape = (shape[0] * (4 // min(4, np.dtype(dtype).itemsize)), shape[1])
    x = np.random.default_rng(0).integers(-40, 40, shape).astype(dtype)
    a, out = xt.asarray(x), xt.empty(shape[::-1], dtype, pad=pad)
    between = np.lib.stride_tricks.as_strided(out.numpy(), (shape[1] - 1, out.strides[0] // out.dtype.itemsize))
    for threads, bits in ((1, llvm_run.machine().vector_bits), (2, 256)):
        between[:] = 7
        with xt.options(num_threads=threads, vector_bits=min(bits, llvm_run.machine().vector_bits)):
            out[...] = a.T * 3
        np.testing.assert_array_equal(out.numpy(), x.T * 3)
        assert (between[:, shape[0] :] == 7).all()


@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((2700, 4, 12, 33), (2, 1, 3, 0)), ((650, 2, 35, 100), (2, 1, 3, 0)), ((3000, 28, 50), (2, 1, 0))],
    ids=str,
)
def test_short_rows_that_run_on_are_read_together(dtype, shape, order):
    """The loop over the axis along which they do is inside of those over tiles of the target."""
    x = np.random.default_rng(0).integers(-40, 40, shape).astype(dtype)
    want, view = np.ascontiguousarray(x.transpose(order)) * x.dtype.type(3), xt.transpose(xt.asarray(x), order)
    for threads, bits, first in ((1, None, 0), (3, 256, 5), (2, 128, 1)):
        room = np.full(x.size + 80, 7, dtype)
        target = room[first : first + x.size].reshape(want.shape)
        with xt.options(num_threads=threads, vector_bits=bits):
            plan = xt.plan(xt.asarray(target), view * x.dtype.type(3))
            loops = [line.split()[1] for line in plan.nest.splitlines() if line.strip().startswith("for i")]
            order = [axis for axis in loops if axis != "i3"]  # that over tiles of the target may be inside, too
            assert order[-2:] == ["i0", "i2"] if len(shape) > 3 else loops == ["i2", "i1", "i0"]
            plan.run()
        assert_same_bits(target, want)
        assert (room[:first] == 7).all() and (room[first + x.size :] == 7).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int8"])
@pytest.mark.parametrize("shape", [(1024, 16), (1003, 9), (300, 37), (300, 70), (64, 16), (257, 21)], ids=str)
def test_rows_of_a_target_that_share_a_set_of_the_first_cache(dtype, shape):
    """Multiples of 4 KiB apart: lines of several squares are made on the stack first, wherever the rows begin, or squares have half as many of them."""
    x = np.random.default_rng(0).integers(-40, 40, shape).astype(dtype)
    a = xt.asarray(x)
    for before, threads, bits in ((0, 1, None), (32, 2, None), (3, 1, None), (13, 2, None), (3, 1, 256), (0, 2, 256)):
        memory = np.full((shape[1], 2048 if x.itemsize > 1 else 4096), 7, dtype)
        inside = memory[:, before : before + shape[0]]
        out = xt.asarray(inside)
        for target, e, want in (
            (out, a.T * 3, x.T * 3),
            (out.T, a * 3, x * 3),
            (out, a.T + out, x.T),
            (out.T, a - xt.max(a, 1, keepdims=True), x - x.max(1, keepdims=True)),
        ):
            inside[...] = 0
            with xt.options(num_threads=threads, vector_bits=bits):
                target[...] = e
            np.testing.assert_array_equal(target.numpy(), want)
        assert (memory[:, :before] == 7).all() and (memory[:, before + shape[0] :] == 7).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_rows_of_a_target_a_multiple_of_1_kib_apart_are_filled_by_wide_tiles(dtype):
    x = np.random.default_rng(0).integers(-40, 40, (70, 333)).astype(dtype)
    a = xt.asarray(x)
    for apart in (1024, 1536, 2048):
        memory = np.full((333, apart // x.itemsize), 7, dtype)
        out = xt.asarray(memory[:, :70])
        for e, want in ((a.T * 3, x.T * 3), ((a - xt.max(a, 1, keepdims=True)).T, (x - x.max(1, keepdims=True)).T)):
            memory[...] = 7
            out[...] = e
            np.testing.assert_array_equal(memory[:, :70], want)
            assert (memory[:, 70:] == 7).all()
    assert f"(out_s0 // {1024 // x.itemsize}) *" in xt.plan(out, a.T * 3).nest


def test_complex_numbers_are_stored_across():
    x = (np.arange(700) + 2j).astype(np.complex64).reshape(10, 70)
    assert_same_bits(
        xt.evaluate(xt.asarray(x).T * 2).numpy().view(np.float32), np.ascontiguousarray(x.T * 2).view(np.float32)
    )


def test_a_square_is_not_stored_across_itself():
    x = np.arange(49, dtype=np.float32).reshape(7, 7)
    t = xt.array(x)
    with pytest.raises(xt.AliasError):
        t[...] = t.T
    assert_same_bits(t.numpy(), x)


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tree", TREES)
def test_the_full_product_of_layouts_and_shapes(tree, mode, target):
    rng = np.random.default_rng(11)
    for a, shape in itertools.product(LAYOUTS, SHAPES):
        check(tree, mode, target, a, rng.choice(list(LAYOUTS)), shape)


FEW: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "row": lambda x, row, column, part: x + row,
    "column": lambda x, row, column, part: x * column,
    "both": lambda x, row, column, part: (x + row) * (column - part),
    "twice": lambda x, row, column, part: row * column + x * (row + row) - column * column,
}


@pytest.mark.parametrize(
    ("count", "dtype"),
    [*((n, "float32") for n in (2, 5, 8, 32)), (3, "float64"), (17, "int8"), (3, "int16"), (4, "uint64"), (17, "float16"), (3, "complex64"), (3, "bool")],
)  # fmt: skip
def test_rows_of_few_columns_take_one_row_or_one_column(count, dtype):
    rng = np.random.default_rng(count)

    def some(*shape: int) -> np.ndarray:
        return rng.integers(0, 2 if dtype == "bool" else 7, shape).astype(dtype)

    for rows, lead, bits in ((1, (), 512), (7, (2,), 256), (700, (), 512), (97, (3,), 128)):
        arrays = some(*lead, rows, count), some(count), some(rows, 1), some(*lead, 1, count)
        operands = [xt.asarray(a) for a in arrays]
        memory = np.full((*lead, rows + 2, count), 5).astype(dtype)  # beside the target nothing changes
        target = xt.asarray(memory)[..., 1:-1, :]
        with xt.options(vector_bits=bits, num_threads=2):
            for name in ["row", "column"] if dtype == "bool" else FEW:
                target[...] = FEW[name](*operands)
                assert_same_bits(target.numpy(), FEW[name](*arrays), name)
                assert (memory[..., [0, -1], :] == np.array(5).astype(dtype)).all(), name


def test_rows_of_few_columns_are_one_where_they_run_on():
    x, row, column = xt.ones((1000, 3)), xt.ones(3), xt.ones((1000, 1))
    nest = xt.plan(x, (x - row) * column).nest
    assert "all that run on as one" in nest and "spread" in nest
    padded = xt.ones((1000, 3), pad=True)
    assert "run on" not in xt.plan(padded, padded - row).nest
    wide = xt.ones((10, 300))
    assert "run on" not in xt.plan(wide, wide - xt.ones(300)).nest


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("bits", [128, 256, None])
def test_packed_rows_of_narrow_integers_are_added_in_wide_ones(dtype, bits):
    """Neighbours first, each of them converted before."""
    info = np.iinfo("uint8" if dtype == "bool" else dtype)
    for columns in range(2, 17):
        x = np.random.default_rng(columns).integers(info.min, info.max, (33, columns), endpoint=True)
        x = x > 100 if dtype == "bool" else x.astype(dtype)
        x[0], x[1] = x.min(), x.max()
        source, target = xt.array(x), xt.zeros(33, dtype="int64")
        with xt.options(vector_bits=bits):
            target[...] = xt.sum(source, 1)
        np.testing.assert_array_equal(target.numpy(), x.sum(1, dtype=np.int64))


@pytest.mark.parametrize("columns", [3, 5, 8, 13, 17, 33, 100, 113])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "complex64"])
def test_moved_rows_have_no_loop_where_vectors_are_small(columns, dtype, monkeypatch):
    """Rows of a few elements keep their order, and are stored in another one: nothing but they is written, whatever their length."""
    monkeypatch.setattr(lying, "machine", lambda: SMALL)
    forget()
    data = np.random.default_rng(0).integers(-9, 9, (11, 7, columns)).astype(dtype)
    x, room = xt.asarray(data), xt.zeros(7 * 11 * columns + 2, dtype)
    target = room[1:-1].reshape(7, 11, columns)
    value = xt.transpose(x, (1, 0, 2)) + xt.transpose(x, (1, 0, 2))
    want = data.transpose(1, 0, 2) + data.transpose(1, 0, 2)
    plan = xt.plan(target, value)
    assert plan._code.kernel.columns == (columns if columns <= lying.MOVED else 0)
    for bits in (None, 256, 128):
        with xt.options(vector_bits=bits):
            room[...] = 0
            target[...] = value
            np.testing.assert_array_equal(target.numpy(), want)
            xt.assign(target, "add", value)
            np.testing.assert_array_equal(target.numpy(), want + want)
            assert room.numpy()[0] == room.numpy()[-1] == 0


SIDES = [
    (3, 33),
    (33, 3),
    (7, 50),
    (50, 7),
    (41, 5),
    (8, 11),
    (9, 12),
    (11, 90),
    (12, 31),
    (13, 17),
    (15, 40),
    (20, 48),
    (33, 23),
    (48, 30),
    (163, 50),
]


@pytest.mark.parametrize("mode", ["write", "add", "inplace"])
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("shape", SIDES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_the_last_squares_of_a_side_overlap_those_before(dtype, shape, across, mode, monkeypatch):
    """Whatever is left, half a square of rows is computed: nothing twice where a target is read, and nothing beside it."""
    monkeypatch.setattr(lying, "machine", lambda: SMALL)
    forget()
    (rows, columns), outer = shape, 7
    data = np.random.default_rng(0).integers(-9, 9, (rows, outer, columns)).astype(dtype)
    x, room = xt.asarray(data), xt.zeros(rows * outer * columns + 2, dtype)
    order = (columns, outer, rows) if across else (rows, outer, columns)
    target = room[1:-1].reshape(order)
    source = xt.transpose(x if across else xt.array(np.ascontiguousarray(data.T)), (2, 1, 0))
    want = source.numpy() * 3
    for bits in (None, 256, 512):
        with xt.options(vector_bits=bits):
            room[...] = 1
            xt.assign(target, mode, source * 3 - target if mode == "inplace" else source * 3)
            np.testing.assert_array_equal(target.numpy(), want + {"write": 0, "add": 1, "inplace": -1}[mode])
            assert room.numpy()[0] == room.numpy()[-1] == 1


@pytest.mark.parametrize(
    ("shape", "squares"),
    [
        ((90, 33, 11), True),
        ((30, 35, 20), True),
        ((90, 33, 7), True),
        ((10, 33, 90), True),
        ((32, 93, 11), True),
        ((32, 32, 32), False),
    ],
    ids=str,
)
def test_short_sides_are_squares_unless_all_rows_share_sets(shape, squares, monkeypatch):
    """Rows of 4,096 bytes more or less a few have one place in the first cache; where those of the source and of the target do, they are brought to scratch."""
    monkeypatch.setattr(lying, "machine", lambda: SMALL)
    forget()
    x = xt.zeros(shape)
    with xt.options(vector_bits=256):
        nest = xt.plan(xt.zeros(shape[::-1]), xt.transpose(x, (2, 1, 0)) * 3).nest
    assert ("squares of" in nest, "for row" in nest) == (squares, not squares)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex64"])
@pytest.mark.parametrize("apart", [-5, -4, -2, -1, 0, 1, 3, 4, 6])
def test_rows_that_lie_nearly_a_multiple_of_a_page_apart_are_turned(apart, dtype):
    """They are stored by halves, or by way of a stage, as those are that lie exactly so far apart."""
    for rows, columns in (
        (4096 // np.dtype(dtype).itemsize + apart, 32),
        (8192 // np.dtype(dtype).itemsize + apart, 17),
    ):
        x = (np.arange(rows * columns) % 120).reshape(rows, columns).astype(dtype)
        for threads in (1, 2):
            with xt.options(num_threads=threads):
                y = xt.zeros((columns, rows), dtype)
                y[...] = xt.asarray(x).T + 1
                np.testing.assert_array_equal(y.numpy(), x.T + np.asarray(1, dtype))
