"""Drawn statements of batches of small blocks: the same bits as without them, at every width, for any threads; and no step of a loop for few
elements where they should be written out.
"""

import random

import numpy as np
import pytest
from strategies import DTYPES, HALVES, assert_same_bits
from test_drawn_folds import laid_out
from test_drawn_types import COMPLEX, OPTIONS, Drawn

import exprten as xt
from exprten.statement import blocks, direct, launch

BLOCKS = (
    (2, 2),
    (3, 2),
    (2, 3),
    (3, 3),
    (4, 4),
    (5, 3),
    (2, 8),
    (4, 2),
    (2, 2, 3),
    (2, 1, 4),
    (3, 5),
    (7, 2),
    (8, 3),
    (4, 6),
    (2, 16),
    (5, 2, 3),
)


def operands_of(rng: random.Random, dtype: np.dtype, kind: str) -> list[np.ndarray]:
    """Up to three operands; of all but the first some axes have one element."""
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    shape = [
        rng.choice((16, 17, 33, 70, 130)),
        *rng.choice(BLOCKS),
        *([rng.choice((2, 18))] if rng.random() < 0.3 else []),
    ]
    if rng.random() < 0.5:
        rng.shuffle(shape)
    found = []
    for n in range(rng.randint(1, 3)):
        x = numbers.standard_normal([1 if n and rng.random() < 0.4 else m for m in shape]) * 2
        x = x + 1j * numbers.standard_normal(x.shape) if kind == "c" else abs(2 * x) if dtype.kind == "u" else x
        found.append(x.astype(dtype))
    return found


def forget() -> None:
    launch._launches.clear()
    direct._made.clear()
    direct._optioned.clear()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of what overflows
@pytest.mark.parametrize("seed", range(48))
def test_blocks_are_what_loops_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    dtype = rng.choice((*HALVES, *COMPLEX, *(np.dtype("float32"),) * 4, *(d for d in DTYPES if d.kind != "b")))
    kind = "c" if dtype in COMPLEX else "i" if dtype.kind in "iu" else "f"
    data, depth, draw = operands_of(rng, dtype, kind), rng.randint(1, 3), rng.randrange(1 << 30)
    axes, what = data[0].ndim, f"{seed}: {dtype}{data[0].shape}"
    straight = list(range(axes))
    lie = [
        (straight if rng.random() < 0.5 else rng.sample(straight, axes), rng.choice(("packed", "packed", "reversed")))
        for _ in data
    ]
    order, mode = straight if rng.random() < 0.5 else rng.sample(straight, axes), rng.choice(("write", "write", "add"))

    def computed(bits: int | None, threads: int) -> np.ndarray:
        forget()
        with xt.options(vector_bits=bits, num_threads=threads, max_recompute=1e9):
            value = Drawn(draw, xt, [laid_out(x, *how) for x, how in zip(data, lie, strict=True)], kind).whole(depth)
            y = xt.transpose(xt.ones([value.shape[k] for k in order], dtype=value.dtype), tuple(np.argsort(order)))
            xt.assign(y, mode, value)
        return y.numpy().copy()

    found = [computed(bits, threads) for bits, threads in OPTIONS]
    monkeypatch.setattr(blocks, "MOST", 0)
    want = computed(None, 1)
    for y, how in zip(found, OPTIONS, strict=True):
        assert_same_bits(y, want, f"{what}, {how}")
