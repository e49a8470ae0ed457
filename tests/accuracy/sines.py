"""Polynomials of float32 for the sine of j pi/8 + r: with all the roundings of the formula that uses them they are wrong by as little as
their coefficients allow.

The formula is s + r m, where s is the sine of j pi/8 as float32 and m = c1 + r (c2 + ...) is rounded, r m is, and the sum is. s alone
is wrong by up to 0.48 units: the polynomial takes that back where r is larger and the products are rounded. A linear program finds the
least bound of error and roundings together; then the coefficients are rounded one after the other, the lowest first, and each time
those left are found anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import mpmath as mp
import numpy as np
from scipy.optimize import linprog

DEGREE = 5
PARTS = 8  # of pi
HALF = float(mp.pi) / PARTS / 2 * 1.09  # k of 2**19 is rounded wrong by as much
Numbers = np.ndarray


def single(x: mp.mpf | float) -> float:
    return float(np.float32(float(x)))


def unit(x: Numbers) -> Numbers:
    return 2.0 ** (np.floor(np.log2(np.maximum(np.abs(x), 1e-9))) - 23)


def taylor(j: int) -> list[mp.mpf]:
    s, c = mp.sinpi(mp.mpf(j) / PARTS), mp.cospi(mp.mpf(j) / PARTS)
    return [(s, c, -s, -c)[n % 4] / mp.factorial(n) for n in range(DEGREE + 5)]


def least(exact: Sequence[mp.mpf], r: Numbers, fixed: Mapping[int, float]) -> tuple[float, dict[int, mp.mpf]]:
    """The least bound, in units of the last place, and the coefficients that are not fixed."""
    true = sum(float(c) * r**n for n, c in enumerate(exact))
    one, rest = unit(true), true - fixed[0]
    rounded = np.abs(r) * unit(rest / r) / 2 + unit(rest) / 2
    exactly = (unit(rest) >= one) & (unit(np.float64(fixed[0])) >= one) & (fixed[0] != 0)
    rounded = rounded / one + np.where(exactly, 0, 0.5) - (0.5 if fixed[0] == 0 else 0)  # 0 + r m is rounded once
    missing = sum(float(c - mp.mpf(fixed.get(n, 0.0 if n > DEGREE else c))) * r**n for n, c in enumerate(exact)) / one
    free = [n for n in range(DEGREE + 1) if n not in fixed]
    scale = [HALF**n * 2.0**25 for n in free]
    rows = np.stack([*(-(r**n) / s / one for n, s in zip(free, scale, strict=True)), -np.ones(len(r))], 1)
    other = rows * np.array([-1.0] * len(free) + [1.0])
    bounds = np.concatenate([-missing - rounded, missing - rounded])
    found = linprog([0.0] * len(free) + [1.0], np.concatenate([rows, other]), bounds, bounds=(None, None))
    return found.fun, {n: exact[n] + mp.mpf(x / s) for n, x, s in zip(free, found.x, scale, strict=False)}


def polynomial(j: int) -> list[float]:
    exact = taylor(j)
    r = np.linspace(-HALF, HALF, 802)  # not 0
    if j == 0:
        r = r[r > 0]
    fixed = {n: single(c) for n, c in enumerate(exact[: DEGREE + 1]) if n == 0 or abs(c) < 1e-9 or (j == 0 and n == 1)}
    while len(fixed) <= DEGREE:
        _, found = least(exact, r, fixed)
        n = min(found)
        near = np.float32(single(found[n]))
        tried = [near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))]
        fixed[n] = min((least(exact, r, fixed | {n: float(x)})[0], k, float(x)) for k, x in enumerate(tried))[2]
    return [fixed[n] for n in range(DEGREE + 1)]


@cache
def tables() -> list[list[float]]:
    """For each power of r the coefficients of the 16 intervals of a turn; the sine of 0 is -0, so that the sum has the sign of r."""
    rows = [polynomial(j) for j in range(PARTS)]
    rows[0][0] = -0.0
    return [[row[n] for row in rows] + [-row[n] for row in rows] for n in range(DEGREE + 1)]
