"""Direct calls, lists in one launch, and graphs on a real device."""

import numpy as np
import pytest

import exprten as xt


@xt.kernel
def momentum(w, g, m, *, lr, mu):
    m[...] = mu * m + g
    w -= lr * m


def on(device, *shapes):
    rng = np.random.default_rng(len(shapes))
    return [xt.array(rng.standard_normal(shape).astype(np.float32), device=device) for shape in shapes]


def update(w, g, eta):
    w -= eta * (g + 0.25 * w)


def test_a_repeated_statement_has_the_bits_of_the_cpu(gpus):
    results = []
    for device in (xt.cpu(), gpus[0]):
        w, g = on(device, (100_003,), (100_003,))
        for eta in np.linspace(0, 1, 50):
            update(w, g, float(eta))
        results.append(w.numpy())
    np.testing.assert_array_equal(*results)


def test_repeated_statements_on_several_streams(gpus):
    done = []
    for _ in range(4):
        with xt.Stream(gpus[0]):
            w, g = on(gpus[0], (1000,), (1000,))
            total = xt.zeros((), device=gpus[0])
            for _ in range(10):
                update(w, g, 0.1)
                total[...] = xt.sum(w)
            done.append((w, total))
    first = [t.numpy() for t in done[0]]
    for pair in done[1:]:
        for t, a in zip(pair, first, strict=True):
            np.testing.assert_array_equal(t.numpy(), a)


def test_lists_of_tensors(gpus):
    shapes = [(n,) for n in range(1, 300)] + [(7, 5), (100_000,), (0,)]
    results = []
    for device in (xt.cpu(), gpus[0]):
        ws, gs, ms = on(device, *shapes), on(device, *shapes), on(device, *shapes)
        for lr in (0.1, 0.2, 0.3, 0.4, 0.5):
            momentum.foreach(ws, gs, ms, lr=lr, mu=0.9)
        ws[3] = xt.zeros(4, device=device)
        momentum.foreach(ws, gs, ms, lr=0.5, mu=0.9)
        results.append([t.numpy() for t in (*ws, *ms)])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


@xt.kernel
def trusted(w, g, *, lr):
    w -= lr * (xt.norm(w) / (xt.norm(g) + 1e-6)) * (g - xt.mean(g)) / w.shape[0]


@xt.kernel
def whitened(w, x):
    w -= (x - xt.mean(x, axis=1, keepdims=True)) / (xt.std(x) + xt.max(x, axis=1, keepdims=True))


@xt.kernel
def moved(a, b, *, by):
    a[...] = by * b


def test_lists_of_tensors_that_wait_for_their_folds(gpus):
    mixed = [(n,) for n in range(2, 300)] + [(7, 5), (3_000_000,), (512, 1024), (0,), (40_000,)]
    rows = [(2, 1_000_000), (3, 70_000), (40, 5000), (300, 20), (1000, 400), (90, 3000)]
    results = []
    for device in (xt.cpu(), gpus[0]):
        ws, gs, us, xs = on(device, *mixed), on(device, *mixed), on(device, *rows), on(device, *rows)
        held = on(device, (5,), (100_000,), (3,))
        for lr in np.linspace(0.1, 1, 20):
            trusted.foreach(ws, gs, lr=float(lr))
            whitened.foreach(us, xs)
            moved.foreach([t[1:] for t in held], [t[:-1] for t in held], by=0.5)
        results.append([t.numpy() for t in (*ws, *us, *held)])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


def test_a_graph_is_replayed_with_a_number_that_changes(gpus):
    results = []
    for device in (xt.cpu(), gpus[0]):
        ws, gs, ms = (on(device, (1000,), (64, 3)) for _ in range(3))
        rate, total = xt.full((), 0.5, device=device), xt.zeros((), device=device)

        def block():
            momentum.foreach(ws, gs, ms, lr=0.25, mu=0.5)  # noqa: B023
            update(ws[0], gs[0], rate)  # noqa: B023
            total[...] = xt.sum(ws[0])  # noqa: B023

        run = block
        if device.kind == "gpu":
            with xt.graph_capture(device) as graph:
                block()
            run = graph.replay
        for k in range(5):
            rate[...] = 1 / (k + 2)
            run()
        results.append([t.numpy() for t in (*ws, *ms, total)])
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


def test_a_graph_records_nothing_that_waits(gpus):
    t = xt.ones(5, device=gpus[0])
    with pytest.raises(xt.DeviceError, match="graph_capture"), xt.graph_capture(gpus[0]):
        t.numpy()
    t += 1
    np.testing.assert_array_equal(t.numpy(), np.full(5, 2, np.float32))
