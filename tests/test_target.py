"""Tensors joined by `concat` as one target: everything a tensor is as a target, in all parts or in none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from exprten_jit.interpret import interpret

import exprten as xt
from exprten.modes import OPERATORS, ROWS

CUTS = {0: (2, 0, 5, 1), 1: (4, 17, 1), 2: (3, 3)}
MODES = [row for row in (*ROWS, *OPERATORS) if row.op]


def numbers(shape, dtype=np.float32):
    rng = np.random.default_rng(len(shape))
    return (rng.uniform(1, 9, shape) if np.dtype(dtype).kind == "f" else rng.integers(1, 9, shape)).astype(dtype)


def layouts(shape, dtype):
    """Tensors of one shape, each lying in memory in another way, with the arrays behind them."""
    wide = np.full((*shape[:-1], 2 * shape[-1] + 3), 77, dtype)
    return {
        "packed": np.zeros(shape, dtype),
        "transposed": np.zeros(shape[::-1], dtype).T,
        "padded": wide[..., : shape[-1]],
        "strided": wide[..., 1 : 1 + 2 * shape[-1] : 2],
        "turned": np.zeros(shape, dtype)[..., ::-1],
    }


def joined(axis, dtype=np.float32, layout=None):
    """(arrays of the parts, the target): shapes that differ along `axis` only."""
    names = itertools.cycle(["packed", "transposed", "padded", "strided", "turned"] if layout is None else [layout])
    parts = []
    for extent in CUTS[axis]:
        shape = tuple(extent if k == axis else n for k, n in enumerate((3, 5, 7)))
        parts.append(layouts(shape, dtype)[next(names)])
    return parts, xt.concat(*map(xt.asarray, parts), axis=axis)


@pytest.mark.parametrize("layout", ["packed", "transposed", "padded", "strided", "turned", None])
@pytest.mark.parametrize("axis", CUTS)
def test_a_value_is_stored_to_all_parts(axis, layout):
    parts, t = joined(axis, layout=layout)
    x = numbers(t.shape)
    bases = [part.base for part in parts]
    before = [None if base is None else base.copy() for base in bases]
    t[...] = xt.asarray(x) * 2
    np.testing.assert_array_equal(np.concatenate(parts, axis), x * 2)
    np.testing.assert_array_equal(xt.evaluate(t).numpy(), x * 2)
    for part, base, old in zip(parts, bases, before, strict=True):
        if base is not None and layout == "padded":
            np.testing.assert_array_equal(base[..., part.shape[-1] :], old[..., part.shape[-1] :])


@pytest.mark.parametrize("mode", MODES, ids=lambda row: row.name)
@pytest.mark.parametrize("axis", CUTS)
def test_every_mode(mode, axis):
    parts, t = joined(axis, np.int32 if "bitwise" in mode.op or "shift" in mode.op else np.float32)
    old, x = numbers(t.shape, t.dtype), numbers(t.shape[1:], t.dtype)
    t[...] = old
    got = t
    got = getattr(got, mode.method)(xt.asarray(x))
    assert got is t
    np.testing.assert_array_equal(np.concatenate(parts, axis), getattr(np, mode.op)(old, x))


def test_python_statements():
    parts, t = joined(1)
    t[...] = 4.0
    t += 1
    t[...] -= 2.0
    t **= 2
    assert t.assign(t * 2, req="inplace") is t
    xt.assign(t, "null", "anything")
    np.testing.assert_array_equal(np.concatenate(parts, 1), np.full(t.shape, 18.0))


def test_the_target_may_be_read_where_it_is_stored():
    parts, t = joined(1)
    x = numbers(t.shape)
    t[...] = x
    t[...] = t * 2 + xt.concat(*map(xt.asarray, parts), axis=1)  # the same elements by another name
    np.testing.assert_array_equal(np.concatenate(parts, 1), x * 3)


def test_a_part_may_be_read_where_it_is_stored():
    a, b = np.arange(4.0), np.arange(4.0, 8.0)
    t = xt.concat(xt.asarray(a), xt.asarray(b))
    t[...] = xt.concat(xt.asarray(a), xt.ones(4, xt.float64)) * 3
    np.testing.assert_array_equal(a, np.arange(4.0) * 3)
    np.testing.assert_array_equal(b, 3)


@pytest.mark.parametrize("axis", CUTS)
def test_each_part_from_itself(axis):
    """No part is read in the loops of another one: its guard is proved to be false there, whatever the extents."""
    for extents in ((2, 3, 4), (1, 9, 2), (5, 1, 1)):
        shapes = [tuple(n if k == axis else 4 for k in range(3)) for n in extents]
        arrays = [numbers(shape) for shape in shapes]
        parts = [xt.array(x) for x in arrays]
        xt.concat(*parts, axis=axis)[...] = xt.concat(*(p * k for k, p in enumerate(parts, 2)), axis=axis)
        for k, (part, x) in enumerate(zip(parts, arrays, strict=True), 2):
            np.testing.assert_array_equal(part.numpy(), x * k)


def test_a_known_kernel_is_checked_for_other_extents():
    def step(cut):
        a, b, c, d = xt.asarray(np.arange(4.0)), xt.asarray(np.arange(4.0)), xt.ones(cut), xt.ones(8 - cut)
        xt.concat(a, b)[...] = xt.concat(c, d) + xt.concat(a, xt.zeros(4, xt.float64))
        xt.concat(a, b)[...] = xt.pad(a, [(0, 4)]) + 1.0
        return a, b

    a, b = step(3)
    np.testing.assert_array_equal(a.numpy(), np.arange(4.0) + 2)
    np.testing.assert_array_equal(b.numpy(), 1)
    a, b = xt.asarray(np.arange(6.0)), xt.asarray(np.arange(2.0))
    with pytest.raises(xt.AliasError):  # the same structure: here b's loops would read a, which is new
        xt.concat(b, a)[...] = xt.pad(b, [(6, 0)]) + 1.0


ELSEWHERE = {
    "turned round": lambda a, b: xt.flip(xt.concat(a, b), 0),
    "an element": lambda a, b: xt.concat(a, b)[2] + xt.ones(8),
    "exchanged": lambda a, b: xt.concat(b, a),
    "one part twice": lambda a, b: xt.concat(a, a),
    "a part along all": lambda a, b: xt.ones((8, 1)).T * a[:1],
    "beside": lambda a, b: xt.concat(a[1:], b, b[:1]),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_target_is_not_read_elsewhere(name):
    a, b = xt.asarray(np.arange(4, dtype=np.float32)), xt.asarray(np.arange(4, 8, dtype=np.float32))
    with pytest.raises(xt.AliasError):
        xt.concat(a, b)[...] = ELSEWHERE[name](a, b)
    np.testing.assert_array_equal(xt.evaluate(xt.concat(a, b)).numpy(), np.arange(8))


def test_one_kernel_for_all_extents():
    def step(n, m):
        a, b = xt.zeros(n), xt.zeros(m)
        xt.concat(a, b)[...] = xt.concat(a, b) * 0.5 + xt.range(n + m)
        np.testing.assert_array_equal(np.concatenate([a.numpy(), b.numpy()]), np.arange(n + m))

    step(3, 5)
    before = xt.stats().compiles
    with xt.no_compile():
        for n, m in itertools.product(range(2, 40, 7), range(2, 80, 11)):
            step(n, m)
    assert xt.stats().compiles == before


def test_plan_is_one_kernel_that_the_interpreter_agrees_with():
    _, t = joined(1, np.float64)
    t[...] = numbers(t.shape, np.float64)
    p = xt.plan(t, xt.asarray(numbers(t.shape, np.float64)) + 1, "mul")
    assert (p.phases, p.launches, p.temporaries) == (1, 1, 0)
    assert p.bytes_written == t.nbytes == 8 * t.size
    assert p.bytes_read == 2 * t.nbytes
    assert p.flops == 2 * t.size
    assert p.recompute == 1
    statement, launch = p._prepared
    kernel = p._code.kernel
    assert len(kernel.parts) == 3
    arrays, finals = {}, []
    for leaf, view in zip(kernel.leaves, (*statement.targets, *statement.found.leaves), strict=True):
        flat = np.full(view.layout.high - view.layout.low, np.nan)
        base = -view.layout.low
        placed = np.lib.stride_tricks.as_strided(flat[base:], view.shape, view.strides, writeable=True)
        placed[...] = view.numpy()
        arrays[leaf.name] = (flat, base + launch.arranged.shifts[len(arrays)] // 8)
        finals.append(placed)
    interpret(
        kernel,
        arrays,
        dict(launch.arranged.sizes),
        dict(zip([q.name for q in kernel.params], statement.found.scalars, strict=True)),
    )
    assert p.run() is t
    for part, final in zip(statement.targets, finals, strict=False):
        np.testing.assert_array_equal(part.numpy(), final)


def test_what_is_no_target():
    a, b = xt.zeros(3), xt.zeros(4)
    for value in (xt.concat(a, b * 1), xt.concat(a, xt.zeros(4, xt.float64))):
        assert not isinstance(value, xt.Target)
        with pytest.raises(TypeError):
            value[...] = 1.0
        with pytest.raises(TypeError, match="it must be a tensor"):
            xt.assign(value, "write", 1.0)
    with pytest.raises(TypeError, match="as a whole"):
        xt.concat(a, b)[1:] = 1.0
    with pytest.raises(xt.AliasError):
        xt.concat(a, b).__imatmul__(xt.zeros((7, 7)))


def refused(error, text, *parts, value=1.0):
    saved = [part.numpy().copy() for part in parts if part.buffer.address]
    with pytest.raises(error, match=text):
        xt.concat(*parts)[...] = value
    for part, old in zip([p for p in parts if p.buffer.address], saved, strict=True):
        np.testing.assert_array_equal(part.numpy(), old)


def test_errors_store_nothing():
    a, b = xt.zeros(3), xt.zeros(4)
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    refused(xt.ReadOnlyError, r"of shape \(4,\) and type float32 is read-only", a, xt.asarray(frozen))
    refused(xt.FreedSpaceError, "has no memory", a, xt.Tensor((4,)))
    refused(xt.ShapeError, r"target has shape \(7,\), the value has shape \(6,\)", a, b, value=xt.zeros(6))
    refused(xt.DTypeError, "int32 .* float32", xt.zeros(3, xt.int32), xt.zeros(4, xt.int32), value=xt.zeros(7))
    refused(xt.AliasError, "two parts of the target", a, a[1:])
    refused(xt.AliasError, "share memory", a, xt.broadcast_to(xt.zeros(1), (4,)))
    whole = xt.zeros(10)
    refused(xt.AliasError, "two parts", whole[:6], whole[5:])
    xt.concat(whole[::2], whole[1::2])[...] = xt.range(10)
    np.testing.assert_array_equal(whole.numpy(), [0, 5, 1, 6, 2, 7, 3, 8, 4, 9])


def test_empty_parts():
    a, none = xt.zeros(3), xt.zeros(0)
    xt.concat(none, a, none, none)[...] = xt.range(3)
    np.testing.assert_array_equal(a.numpy(), [0, 1, 2])
    t = xt.concat(none, xt.zeros(0))
    t[...] = 1.0
    t += 1.0
    assert t.shape == (0,)


@pytest.mark.parametrize("before", [False, True])
def test_inplace_keeps_its_promise(before):
    a, b, c = (xt.asarray(np.full(3, float(k))) for k in range(3))
    if before:
        xt.concat(a, b)[...] = xt.concat(b, c)  # legal: b is read before it is stored
        np.testing.assert_array_equal(a.numpy(), 1)
        np.testing.assert_array_equal(b.numpy(), 2)
    with pytest.raises(xt.AliasError, match="mode 'inplace' asks"):
        xt.assign(xt.concat(a, b), "inplace", xt.concat(b, c))
    xt.assign(xt.concat(a, b), "inplace", xt.concat(a, b) + 1.0)


@pytest.mark.parametrize("shift", [0, 1])
def test_code_for_a_join_of_parts_into_parts_grows_with_their_number(shift):
    def lines(count):
        lengths = [8 + n for n in range(count)]
        bounds = [n + shift for n in lengths[:-1]]
        targets = [xt.zeros((n, 3)) for n in (*bounds, sum(lengths) - sum(bounds))]
        plan = xt.plan(xt.concat(*targets), xt.concat(*(xt.ones((n, 3)) for n in lengths)))
        plan.run()
        assert all((t.numpy() == 1).all() for t in targets)
        return len(plan.llvm.splitlines()), len(plan.nest.splitlines())

    (few, loops), (many, more_loops) = lines(4), lines(12)
    assert many <= 3.5 * few  # 9 would be the square
    assert more_loops <= 3.5 * loops


def test_parts_of_other_lengths_run_the_same_kernel_where_they_meet_the_same_parts():
    def joined(sources, targets):
        x = [np.random.default_rng(n).standard_normal((n, 3)).astype(np.float32) for n in sources]
        out = [xt.zeros((n, 3)) for n in targets]
        t = xt.concat(*out)
        t[...] = xt.concat(*map(xt.asarray, x)) * 2
        assert (np.concatenate([t.numpy() for t in out]) == 2 * np.concatenate(x)).all()

    joined((5, 6, 7), (4, 6, 8))
    with xt.no_compile():
        joined((10, 9, 8), (7, 10, 10))
        joined((4, 5, 5), (3, 4, 7))
    joined((5, 6, 7), (5, 6, 7))
    joined((5, 6, 7), (2, 2, 14))
    joined((2, 2, 14), (5, 6, 7))
    with xt.no_compile():
        joined((8, 6, 7), (3, 3, 15))
