"""Drawn trees of folds, index maps and operands of every layout against NumPy, in small whole numbers, which every order adds up alike."""

import random

import numpy as np
import pytest

import exprten as xt

SHAPES = ((7, 9), (40, 33), (33, 5), (3, 50), (6, 7, 8), (2, 20, 3), (17, 4, 2), (1, 30), (64, 64), (5, 1, 9))
MOST = 60_000  # elements of a result


class Drawn:
    """A tree as exprten's expression and as what NumPy makes of it."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def leaf(self, shape):
        x = np.random.default_rng(self.random.randrange(1 << 30)).integers(-3, 4, shape).astype(np.float32)
        match self.random.randrange(5):
            case 0:
                return xt.asarray(np.ascontiguousarray(x.T)).T, x
            case 1:
                return xt.asarray(np.repeat(x, 2, -1))[..., ::2], x
            case 2:
                return xt.asarray(np.ascontiguousarray(x[::-1]))[::-1], x
        return xt.asarray(x), x

    def cut(self, extent):
        kinds = (slice(self.random.randrange(extent), None), slice(None, None, -1), slice(None, None, 2), slice(1, -1))
        return self.random.choice(kinds) if extent > 2 and self.random.random() < 0.6 else slice(None)

    def above(self, e, a):
        axis = self.random.randrange(a.ndim)
        fold = self.random.choice(("max", "min", "sum"))
        match self.random.randrange(8):
            case 0:
                order = self.random.sample(range(a.ndim), a.ndim)
                return xt.transpose(e, order), a.transpose(order)
            case 1:
                at = tuple(map(self.cut, a.shape))
                return e[at], a[at]
            case 2:
                return xt.pad(e, 1), np.pad(a, [(0, 0)] * (a.ndim - 2) + [(1, 1)] * 2)
            case 3 if a.ndim == 2 and a.size < 8_000:
                return xt.broadcast_to(e, (2, *a.shape)), np.broadcast_to(a, (2, *a.shape))
            case 4:
                return getattr(xt, fold)(e, axis, keepdims=True), getattr(np, fold)(a, axis=axis, keepdims=True)
            case 5:
                return xt.concat(e, e * 2, axis=axis), np.concatenate((a, a * 2), axis)
            case 6:
                return e - xt.max(e, axis, keepdims=True), a - a.max(axis, keepdims=True)
        return e * 0.5, a * np.float32(0.5)

    def beside(self, e, a):
        b, c = self.leaf(tuple(n if self.random.random() < 0.7 else 1 for n in a.shape))
        match self.random.randrange(4):
            case 0:
                return e + b, a + c
            case 1:
                return b - e, c - a
            case 2:
                return e * b, a * c
        return xt.maximum(e, b), np.maximum(a, c)

    def tree(self):
        e, a = self.leaf(self.random.choice(SHAPES))
        for _ in range(self.random.randrange(2, 6)):
            e, a = self.above(e, a)
            if self.random.random() < 0.4:
                e, a = self.beside(e, a)
        return e, a


def add(out, e):
    out += e


@pytest.mark.parametrize("seed", range(24))
def test_drawn_folds_of_index_maps(seed):
    judged = 0
    for each in range(10):
        drawn = Drawn(1000 * seed + each)
        e, a = drawn.tree()
        if a.size > MOST:
            continue
        assert e.shape == a.shape
        for out in (xt.empty(a.shape), xt.empty(a.shape[::-1]).T):
            out[...] = 7
            with xt.options(
                num_threads=drawn.random.randrange(1, 4), vector_bits=drawn.random.choice((None, 256, 128))
            ):
                try:
                    add(out, e)
                except xt.CompileError:  # what would be folded again and again is refused
                    continue
            np.testing.assert_array_equal(out.numpy(), a + 7, f"seed {1000 * seed + each}: {e}")
            judged += 1
    assert judged > 5
