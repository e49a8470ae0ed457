"""Polynomials of float32 for tanh in 16 pieces: with all the roundings of the formula that uses them they are wrong by as little as
their coefficients allow.

The pieces are quarters of binades of y + SHIFT, beginning at SHIFT, the last of which is 1. In each tanh(c + r) is s + r m: m is rounded,
and the sum is. As in `sines`, a linear program finds the least bound of error and roundings together, and one coefficient after the other
is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise

import mpmath as mp
import numpy as np
from scipy.optimize import linprog
from sines import Numbers, single, unit

SHIFT, PIECES, DEGREE = 0.75, 16, 6


def ends() -> list[float]:
    """Where a piece begins, and where the last ends."""
    quarters = [2.0**e * (1 + q / 4) for e in range(-1, 4) for q in range(4)]
    return [w - SHIFT for w in quarters if w >= SHIFT][: PIECES + 1]


def centres() -> list[float]:
    """The middle of each piece; 0 of the first, where the error is small beside r."""
    first, *edges = ends()
    return [first, *((a + b) / 2 for a, b in pairwise(edges))]


def least(centre: float, r: Numbers, exact: list[float], fixed: Mapping[int, float]) -> tuple[float, dict[int, float]]:
    """The least bound, in units of the last place, and the coefficients that are not fixed."""
    true = np.tanh(centre + r)
    one = unit(true)
    rounded = np.abs(r) * unit((true - fixed[0]) / r) / 2 / one
    missing = (sum(fixed.get(n, c) * r**n for n, c in enumerate(exact)) - true) / one
    free, far = [n for n in range(DEGREE + 1) if n not in fixed], float(np.abs(r).max())
    scale = [far**n * 2.0**25 for n in free]
    rows = np.stack([*(r**n / s / one for n, s in zip(free, scale, strict=True)), -np.ones(len(r))], 1)
    other = rows * np.array([-1.0] * len(free) + [1.0])
    bounds = np.concatenate([-missing - rounded, missing - rounded])
    found = linprog([0.0] * len(free) + [1.0], np.concatenate([rows, other]), bounds, bounds=(None, None))
    return found.fun, {n: exact[n] + x / s for n, x, s in zip(free, found.x, scale, strict=False)}


def piece(centre: float, low: float, high: float) -> list[float]:
    exact = [float(x) for x in mp.taylor(mp.tanh, centre, DEGREE)]
    r = np.linspace(low - centre, high - centre, 802)
    r = r[np.abs(r) > 1e-6]
    fixed = {0: single(exact[0])} | ({1: 1.0} if centre == 0.0 else {})
    while len(fixed) <= DEGREE:
        _, found = least(centre, r, exact, fixed)
        n = min(found)
        near = np.float32(single(found[n]))
        tried = [near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))]
        bounds = [(least(centre, r, exact, fixed | {n: float(x)})[0], k, float(x)) for k, x in enumerate(tried)]
        fixed[n] = min(bounds)[2]
    return [fixed[n] for n in range(DEGREE + 1)]


@cache
def tables() -> list[list[float]]:
    """The middles, and for each power of r the coefficients; in the order of the bits that say the piece."""
    edges = ends()
    rows = [[c, *piece(c, a, b)] for c, (a, b) in zip(centres()[:-1], pairwise(edges), strict=False)]
    rows.append([0.0, 1.0] + [0.0] * DEGREE)
    first = int(np.float32(SHIFT).view(np.int32)) >> 21
    return [[rows[(k - first) % PIECES][n] for k in range(PIECES)] for n in range(DEGREE + 2)]
