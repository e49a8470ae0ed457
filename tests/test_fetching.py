"""What comes from memory is fetched early where the processor does not see it coming: results stay what they are, and the text says that it is."""

from collections.abc import Callable

import numpy as np
import pytest

import exprten as xt

BYTES = 8 << 20  # from here on

FOLDS: dict[str, Callable[[xt.Expr, int], xt.Expr]] = {
    "sum": xt.sum,
    "max": xt.max,
    "argmax": xt.argmax,
}
# rows under masks: down their columns, along them, and of an outer axis
ROWS = (((0, 11), 0), ((0, 17), 0), ((0, 64), 0), ((0, 16), 1), ((0, 40), 1), ((0, 3, 64), 1), ((0, 8, 16), 1))


def _shaped(shape: tuple[int, ...], nbytes: int) -> tuple[int, ...]:
    known = 4 * int(np.prod([n for n in shape if n]))
    return tuple(n or -(-nbytes // known) for n in shape)


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(("shape", "axis"), ROWS)
def test_rows_under_masks_are_fetched_from_memory(shape, axis, name):
    values = np.random.default_rng(0).integers(-4, 5, _shaped(shape, BYTES)).astype(np.float32)
    source = xt.array(values)
    result = getattr(np, name)(values, axis)
    target = xt.zeros(result.shape, dtype=result.dtype)
    statement = FOLDS[name](source, axis)
    assert "@llvm.prefetch" in xt.plan(target, statement).llvm
    target[...] = statement
    np.testing.assert_array_equal(target.numpy(), result)


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
