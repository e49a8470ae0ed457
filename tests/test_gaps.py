"""Rows of a few elements with a few others between them, as the channels of an image but for the last: the bits are those of a packed copy, and nothing behind the last row is read."""

import numpy as np
import pytest
from guarded import Memories

import exprten as xt

FOLDS = {"max": xt.max, "min": xt.min, "argmax": xt.argmax, "sum": xt.sum, "mean": xt.mean, "any": xt.any}


def with_gaps(memory, rows, columns, step):
    return np.lib.stride_tricks.as_strided(memory, (rows, columns), (step * memory.itemsize, memory.itemsize))


@pytest.mark.covering(2)
@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize(
    ("columns", "step"),
    [(3, 4), (5, 6), (5, 8), (2, 3), (2, 4), (7, 8), (7, 13), (4, 5), (9, 12), (11, 16), (3, 6), (3, 7)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int32"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["max", "argmax", "sum"])
def test_folds_have_the_bits_of_a_packed_copy(name, axis, dtype, columns, step, bits):
    random, memories = np.random.default_rng(step), Memories()
    for rows in (1, 3, 17, 40, 701):
        values = (random.standard_normal((rows - 1) * step + columns) * 50).astype(dtype)
        for at_end in (False, True):
            memories.clear()
            memory = memories.take(values.size, values.dtype, at_end)
            memory[...] = values
            x = with_gaps(memory, rows, columns, step)
            with xt.options(vector_bits=bits):
                found = xt.evaluate(FOLDS[name](xt.asarray(x), axis)).numpy()
                wanted = xt.evaluate(FOLDS[name](xt.asarray(x.copy()), axis)).numpy()
            assert found.tobytes() == wanted.tobytes(), (rows, at_end)


@pytest.mark.parametrize("between", [np.nan, np.inf, 0.0, 1e-40])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["max", "min", "argmax", "sum", "mean"])
def test_what_lies_between_is_nothing(name, axis, between):
    image = np.full((600, 4), between, "float32")
    image[:, :3] = np.random.default_rng(0).uniform(1, 9, (600, 3))
    view = xt.asarray(image)[:, :3]
    found = xt.evaluate(FOLDS[name](view, axis)).numpy()
    assert found.tobytes() == xt.evaluate(FOLDS[name](xt.asarray(image[:, :3].copy()), axis)).numpy().tobytes()


@pytest.mark.parametrize("name", ["sum", "any"])
def test_no_rows_and_one_of_a_kernel_for_many(name):
    for rows in (300, 2, 1, 0):
        x = xt.asarray(np.ones((rows, 4), bool))[:, :3]
        assert (xt.evaluate(FOLDS[name](x, 0)).numpy() == (rows if name == "sum" else rows > 0)).all()


def test_images_without_their_last_channel():
    """Of bytes, along each axis, and what is stored again; two operands with other gaps are read each for itself."""
    images = np.random.default_rng(1).integers(0, 255, (3, 20, 31, 4), dtype=np.uint8)
    other = np.random.default_rng(2).integers(0, 255, (3, 20, 31, 5), dtype=np.uint8)
    view, apart = xt.asarray(images)[..., :3], xt.asarray(other)[..., :3]
    for axis in range(4):
        assert (xt.evaluate(xt.max(view, axis)).numpy() == images[..., :3].max(axis)).all()
        assert (xt.evaluate(xt.argmin(view, axis)).numpy() == images[..., :3].argmin(axis)).all()
        assert (xt.evaluate(xt.sum(view, axis)).numpy() == images[..., :3].sum(axis)).all()
        both = xt.evaluate(xt.max(xt.maximum(view, apart), axis)).numpy()
        assert (both == np.maximum(images[..., :3], other[..., :3]).max(axis)).all()
        centred = xt.evaluate(view.astype("float32") - xt.mean(view.astype("float32"), axis, keepdims=True)).numpy()
        wide = images[..., :3].astype("float64")
        np.testing.assert_allclose(centred, wide - wide.mean(axis, keepdims=True), atol=1e-4)
