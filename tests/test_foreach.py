"""kernel.foreach: lists of tensors in one call, all of them checked before the first store."""

import gc
import sys
import threading

import numpy as np
import pytest

import exprten as xt
from exprten.options import USE_CTYPES

SHAPES = [(3,), (64,), (), (5, 7), (1,), (2, 3, 4), (0,), (130,)]


@xt.kernel
def sgd(w, g, *, lr, wd=0.0):
    w -= lr * (g + wd * w)


def reference(w, g, lr, wd=0.0):
    w -= np.asarray(lr * (g + wd * w), w.dtype)


def lists(shapes=SHAPES, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return [[np.asarray(rng.standard_normal(s), dtype) for s in shapes] for _ in range(2)]


def tensors(arrays, make=xt.array):
    return [make(a) for a in arrays]


def check(arrays, mine):
    for a, t in zip(arrays, mine, strict=True):
        np.testing.assert_array_equal(t.numpy(), a)


def run(ws, gs, mine, grads, repeat=5, **scalars):
    for _ in range(repeat):
        for w, g in zip(ws, gs, strict=True):
            reference(w, g, **scalars)
        sgd.foreach(mine, grads, **scalars)
    check(ws, mine)


@pytest.mark.parametrize("of", [list, tuple])
def test_a_step_for_every_row(of):
    ws, gs = lists()
    run(ws, gs, of(tensors(ws)), of(tensors(gs)), lr=0.1, wd=0.5)


def test_every_layout_and_element_type_in_one_list():
    rng = np.random.default_rng(3)
    makes = [
        xt.array, lambda a: xt.array(a, pad=True), lambda a: xt.asarray(np.repeat(a, 2, -1)[..., ::2]), lambda a: xt.asarray(a.T.copy().T),
        lambda a: xt.asarray(a[::-1].copy()[::-1]),
    ]  # fmt: skip
    ws, gs, mine, grads = [], [], [], []
    for k, make in enumerate(makes * 3):
        dtype = (np.float32, np.float64)[k % 2]
        w, g = (rng.standard_normal((4 + k, 6)).astype(dtype) for _ in range(2))
        ws.append(w)
        gs.append(g)
        mine.append(make(w))
        grads.append(makes[k % 2](g))
    run(ws, gs, mine, grads, lr=0.1)
    run(ws[:3], gs[:3], mine[:3], grads[:3], lr=0.2, wd=0.3)


def test_two_element_types_are_one_call():
    ws, gs = lists()
    for k in range(0, len(ws), 2):
        ws[k], gs[k] = ws[k].astype(np.float64), gs[k].astype(np.float64)
    run(ws, gs, tensors(ws), tensors(gs), lr=0.1)


def test_arrays_are_borrowed():
    ws, gs = lists([(3,), (4, 5)])
    mine = [w.copy() for w in ws]
    for _ in range(4):
        for w, g in zip(ws, gs, strict=True):
            reference(w, g, 0.1)
        sgd.foreach(mine, gs, lr=0.1)
    for a, b in zip(ws, mine, strict=True):
        assert np.array_equal(a, b)


def test_no_rows_are_no_work():
    for _ in range(4):
        sgd.foreach([], [], lr=0.1)
        sgd.foreach((), [], lr=0.1)


def test_lists_that_change_between_calls():
    ws, gs = lists()
    mine, grads = tensors(ws), tensors(gs)
    run(ws, gs, mine, grads, lr=0.1)
    grads = tensors(gs)  # other memory
    run(ws, gs, mine, grads, lr=0.1)
    run(ws[:4], gs[:4], mine[:4], grads[:4], lr=0.1)  # fewer
    more, others = lists([(9,)] * 30, seed=9)
    run(ws + more, gs + others, mine + tensors(more), grads + tensors(others), lr=0.1)
    run(ws[::-1], gs[::-1], mine[::-1], grads[::-1], lr=0.1)
    shared = [grads[0]] * 3  # what is only read may be shared
    three = [xt.zeros(3) for _ in range(3)]
    for _ in range(4):
        sgd.foreach(three, shared, lr=1.0)
    for t in three:
        assert np.array_equal(t.numpy(), np.float32(0) - gs[0] - gs[0] - gs[0] - gs[0])


def test_scalars_are_given_at_every_call():
    ws, gs = lists()
    mine, grads = tensors(ws), tensors(gs)
    for k in range(6):
        for w, g in zip(ws, gs, strict=True):
            reference(w, g, 0.1 / (k + 1), k)
        sgd.foreach(mine, grads, lr=0.1 / (k + 1), wd=k)
        for w, g in zip(ws, gs, strict=True):
            reference(w, g, 2)
        sgd.foreach(mine, grads, lr=2)
    check(ws, mine)


def test_optional_and_static_arguments():
    @xt.kernel
    def step(w, g, m=None, *, lr, sign=False):
        d = xt.sign(g) if sign else g
        if m is not None:
            m += d
            d = m
        w -= lr * d

    w, g, m = ([xt.ones(3), xt.ones(4)] for _ in range(3))
    for k in range(4):
        step.foreach(w, g, lr=1.0)
        step.foreach(w, g, None, lr=1.0, sign=True)
        step.foreach(w, g, m, lr=1.0)
        assert w[1].numpy().tolist() == [1.0 - 2 * (k + 1) - (k + 1) * (k + 4) / 2] * 4


# Refusals: nothing is stored.


def refused(error, text, change, repeat=4, **scalars):
    """Calls that are fine, then one that is changed and refused; no weight is stored to."""
    ws, gs = lists([(6,)] * 5)
    mine, grads = tensors(ws), tensors(gs)
    for _ in range(repeat):
        sgd.foreach(mine, grads, lr=0.0)
    mine, grads = change(mine, grads)
    before = [t.numpy().copy() for t in mine if isinstance(t, xt.Tensor) and t.buffer.address]
    with pytest.raises(error, match=text):
        sgd.foreach(mine, grads, **({"lr": 1.0} | scalars))
    after = [t.numpy() for t in mine if isinstance(t, xt.Tensor) and t.buffer.address]
    check(before, [xt.asarray(a) for a in after])


def put(where, k, x):
    def change(mine, grads):
        both = [list(mine), list(grads)]
        both[where][k] = x(mine, grads) if callable(x) else x
        return both

    return change


def freed(mine, grads):
    t = xt.ones(6)
    xt.free_space(t)
    return t


def overlapping(mine, grads):
    base = xt.zeros(7)
    return [*mine[:4], base[1:]], [*grads[:4], base[:-1][::-1]]


def read_only(mine, grads):
    a = np.ones(6, np.float32)
    a.flags.writeable = False
    return xt.asarray(a)


@pytest.mark.parametrize("repeat", [0, 4])
@pytest.mark.parametrize(
    ("error", "text", "change"),
    [
        (ValueError, r"sgd\.foreach: lists of different lengths: w has 5, g has 4", lambda w, g: (w, g[:4])),
        (TypeError, r"sgd\.foreach: g is a Tensor; it must be a list of tensors", lambda w, g: (w, g[0])),
        (TypeError, r"sgd\.foreach: g is a generator; it must be a list", lambda w, g: (w, (x for x in g))),
        (TypeError, r"sgd\.foreach: g\[4\] is a float; positional parameters are tensors", put(1, 4, 1.0)),
        (TypeError, r"sgd\.foreach: row 4: .*a str is no operand", put(1, 4, "no tensor")),
        (xt.FreedSpaceError, r"sgd\.foreach: g\[4\], a tensor", put(1, 4, freed)),
        (xt.FreedSpaceError, r"sgd\.foreach: w\[4\], a tensor", put(0, 4, freed)),
        (xt.ReadOnlyError, "row 4: .*is read-only", put(0, 4, read_only)),
        (xt.ShapeError, r"sgd\.foreach: row 4: add: shapes \(7,\) and \(6,\) do not broadcast", put(1, 4, lambda w, g: xt.ones(7))),
        (xt.DTypeError, "row 4: .*same-kind", put(0, 4, lambda w, g: xt.ones(6, np.int32))),
        (xt.AliasError, r"sgd\.foreach: rows 0 and 4 share memory", put(0, 4, lambda w, g: w[0])),
        (xt.AliasError, r"sgd\.foreach: rows 1 and 4 share memory", put(1, 4, lambda w, g: w[1])),
        (xt.AliasError, r"sgd\.foreach: rows 2 and 4 share memory", put(0, 4, lambda w, g: g[2])),
        (xt.AliasError, r"sgd\.foreach: row 4: sgd: g .*at other positions", overlapping),
    ],
)  # fmt: skip
def test_what_is_refused_stores_nothing(error, text, change, repeat):
    refused(error, text, change, repeat)


def test_scalars_that_cannot_be_computed_store_nothing():
    @xt.kernel
    def divided(w, *, a):
        w += 1 / a

    w = [xt.zeros(3), xt.zeros(3)]
    for _ in range(4):
        divided.foreach(w, a=1.0)
    with pytest.raises(ZeroDivisionError):
        divided.foreach(w, a=0.0)
    assert w[0].numpy().tolist() == [4.0] * 3


def test_a_row_may_read_its_own_target_elsewhere_where_an_order_is_proved():
    base = [xt.array(np.arange(5, dtype=np.float32)), xt.array(np.arange(7, dtype=np.float32))]

    @xt.kernel
    def shift(a, b):
        a[...] = b * 1.0

    for _ in range(3):
        shift.foreach([t[1:] for t in base], [t[:-1] for t in base])
    assert base[0].numpy().tolist() == [0, 0, 0, 0, 1] and base[1].numpy().tolist() == [0, 0, 0, 0, 1, 2, 3]


def test_columns_of_one_array_are_rows_apart():
    whole, other = np.zeros((10, 4), np.float32), np.ones((10, 4), np.float32)
    columns = [xt.asarray(whole[:, k]) for k in range(4)]
    for _ in range(4):
        sgd.foreach(columns, [xt.asarray(other[:, k]) for k in range(4)], lr=1.0)
    assert (whole == -4).all()


def test_equal_pattern_within_a_row():
    ws, _ = lists([(6,)] * 3)
    mine = tensors(ws)
    for _ in range(4):
        for w in ws:
            reference(w, w.copy(), 0.25)
        sgd.foreach(mine, mine, lr=0.25)
    check(ws, mine)


# With everything else.


def test_no_compile_and_no_allocation_the_second_time():
    ws, gs = lists()
    mine, grads = tensors(ws), tensors(gs)
    sgd.foreach(mine, grads, lr=0.1)
    allocations = xt.memory.allocations
    with xt.no_compile():
        for k in range(5):
            sgd.foreach(mine, grads, lr=0.1 * k)
    assert xt.memory.allocations == allocations


def test_no_python_in_a_call_that_comes_again():
    ws, gs = lists([(8,)] * 10)
    mine, grads = tensors(ws), tensors(gs)
    for _ in range(4):
        sgd.foreach(mine, grads, lr=0.1)
        sgd(mine[0], grads[0], lr=0.1)
    hits = xt.stats().hits
    for _ in range(10):
        sgd.foreach(mine, grads, lr=0.1)
        sgd(mine[0], grads[0], lr=0.1)
    assert xt.stats().hits == hits + 110 * USE_CTYPES


def test_options_are_those_in_force():
    ws, gs = lists([(50,)] * 3)
    strict, fused = tensors(ws), tensors(ws)
    for _ in range(5):
        sgd.foreach(strict, tensors(gs), lr=0.1, wd=0.3)
        with xt.options(fast_math=True):
            sgd.foreach(fused, tensors(gs), lr=0.1, wd=0.3)
    assert any(not np.array_equal(a.numpy(), b.numpy()) for a, b in zip(strict, fused, strict=True))


def test_large_rows_run_with_the_memory_pinned():
    ws, gs = lists([(700_000,), (700_001,), (3,)])
    mine, grads = tensors(ws), tensors(gs)
    run(ws, gs, mine, grads, lr=0.1)
    assert all(t.buffer.pins == 0 for t in (*mine, *grads))


def test_threads_share_a_kernel():
    mine = [[xt.zeros(n) for n in (5, 700, 3)] for _ in range(4)]
    ones = [xt.ones(n) for n in (5, 700, 3)]

    def work(ws):
        for _ in range(300):
            sgd.foreach(ws, ones, lr=-1.0)

    threads = [threading.Thread(target=work, args=(ws,)) for ws in mine]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((t.numpy() == 300.0).all() for ws in mine for t in ws)


def test_references_are_not_lost():
    ws, gs = lists([(8,)] * 3)
    mine, grads = tensors(ws), tensors(gs)
    for _ in range(4):
        sgd.foreach(mine, grads, lr=0.1)
    gc.collect()
    counted = [mine, grads, mine[0], grads[2], mine[1].layout, mine[1].buffer, None, True]
    before = [sys.getrefcount(x) for x in counted[:6]]
    for _ in range(100):
        sgd.foreach(mine, grads, lr=0.1)
    assert [sys.getrefcount(x) for x in counted[:6]] == before


def test_inside_of_a_kernel_it_is_refused():
    @xt.kernel
    def outer(w, g):
        sgd.foreach([w], [g], lr=1.0)

    with pytest.raises(TypeError, match="inside of a kernel there are no lists of tensors"):
        outer(xt.ones(3), xt.ones(3))


def test_it_says_what_it_is():
    assert repr(sgd.foreach) == "<kernel sgd for lists of tensors>"
    with pytest.raises(TypeError, match=r"sgd\(\) missing 1 required keyword-only argument: 'lr'"):
        sgd.foreach([xt.ones(3)], [xt.ones(3)])


def test_containers_are_tensors_that_may_grow():
    @xt.kernel
    def step(w, g, *, lr):
        w -= lr * g

    w, g = xt.TensorContainer((6,), 0.0), xt.ones(6)
    for _ in range(4):
        step(w, g, lr=-1.0)
        step.foreach([w], [g], lr=-1.0)
    assert w.numpy().tolist() == [8.0] * 6
    hits = xt.stats().hits
    step(w, g, lr=-1.0)
    step.foreach([w], [g], lr=-1.0)
    assert xt.stats().hits == hits + 2 * USE_CTYPES
    w.resize((9,), 1.0)
    step(w, xt.ones(9), lr=-1.0)
    step.foreach([w], [xt.ones(9)], lr=-1.0)
    assert w.numpy().tolist() == [3.0] * 9
    w.release()
    with pytest.raises(xt.FreedSpaceError):
        step(w, g, lr=-1.0)


def test_rows_of_several_kinds_are_one_call():
    rng = np.random.default_rng(4)
    shapes = [(3, 5), (4, 7), (2, 9), (6,), (3, 5)]
    pads = [True, True, False, False, False]
    dtypes = [np.float32, np.float32, np.float64, np.float32, np.float64]
    ws, gs = ([rng.standard_normal(s).astype(d) for s, d in zip(shapes, dtypes, strict=True)] for _ in range(2))
    mine = [xt.array(a, pad=p) for a, p in zip(ws, pads, strict=True)]
    grads = [xt.array(a, pad=p) for a, p in zip(gs, pads, strict=True)]
    run(ws, gs, mine, grads, lr=0.1)
    hits = xt.stats().hits
    run(ws, gs, mine, grads, lr=0.2)
    assert xt.stats().hits == hits + 5 * 5 * USE_CTYPES


# plans


@xt.kernel
def planned(w, g, *, lr):
    w -= lr * g / xt.norm(g)


def rows_of(device: xt.Device, *shapes: tuple[int, ...]) -> list[xt.Tensor]:
    return [xt.array(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), xt.float32, device) for shape in shapes]


def test_a_plan_of_lists_runs_nothing_until_it_is_told_to():
    shapes = ((3,), (0,), (4, 5), (7,))
    ws, gs = rows_of(xt.cpu(), *shapes), rows_of(xt.cpu(), *shapes)
    before = [w.numpy().copy() for w in ws]
    plan = planned.foreach.plan(ws, gs, lr=0.5)
    for w, b in zip(ws, before, strict=True):
        np.testing.assert_array_equal(w.numpy(), b)
    assert sorted(n for kind in plan.kinds for n in kind) == [0, 2, 3]
    assert plan.rows == plan.launches == 3
    assert (plan.bytes_written, plan.bytes_read) == (4 * 30, 8 * 30)
    one = [planned.plan(w, g, lr=0.5) for w, g in zip(ws, gs, strict=True) if w.size]
    assert plan.flops == sum(p.flops for p in one)
    assert plan.scratch_bytes == max(p.scratch_bytes for p in one)
    assert one[0].nest in plan.nest
    assert one[0].ir in plan.ir
    assert one[0].llvm in plan.llvm
    assert one[0].asm in plan.asm
    assert plan.explain().startswith("kernel planned for 3 rows of tensors\n  w -= ")
    plan.run()
    for w, b, g in zip(ws, before, gs, strict=True):
        np.testing.assert_allclose(w.numpy(), b - 0.5 * g.numpy() / max(np.linalg.norm(g.numpy()), 1e-9), rtol=1e-6)
    assert repr(plan) == "<plan of kernel planned for 3 rows of tensors>"
    with pytest.raises(xt.DeviceError, match="has no CUDA text: it is on the CPU"):
        _ = plan.cuda


def test_a_plan_of_lists_refuses_what_a_call_refuses():
    ws, gs = rows_of(xt.cpu(), (3,), (4,)), rows_of(xt.cpu(), (3,), (4,))
    with pytest.raises(xt.AliasError, match="rows 0 and 1 share memory"):
        planned.foreach.plan([ws[0], ws[0]], [gs[0], gs[0]], lr=0.5)
    with pytest.raises(ValueError, match="w has 2, g has 1"):
        planned.foreach.plan(ws, gs[:1], lr=0.5)
    empty = planned.foreach.plan([], [], lr=0.5)
    empty.run()
    assert (empty.explain(), empty.launches, empty.recompute) == (
        "kernel planned for 0 rows of tensors\nnothing to do", 0, 1.0,
    )  # fmt: skip
