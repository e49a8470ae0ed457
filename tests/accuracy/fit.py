"""The coefficients of vmath: near-minimax polynomials, fitted with mpmath and written to jit/exprten_jit/vmath/coefficients.py.

`python tests/accuracy/fit.py` fits all of them, `... NAME` prints some. A fit minimises |weight(x) (f(x) - p(x))| over an interval
(Remez' exchange), then rounds the coefficients.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise, product
from pathlib import Path

import mpmath as mp
import sines
import tanhs

TARGET = Path(__file__).parents[2] / "jit" / "exprten_jit" / "vmath" / "coefficients.py"
Function = Callable[[mp.mpf], mp.mpf]
mp.mp.prec = 400


@dataclass(frozen=True)
class Fit:
    """`f` by a polynomial of `degree` over [low, high], in `bits` wide coefficients; `about` says what it is for."""

    about: str
    f: Function
    low: float
    high: float
    degree: int
    weight: Function = lambda x: mp.mpf(1)
    bits: int = 64


def remez(fit: Fit) -> tuple[list[mp.mpf], mp.mpf]:
    """The coefficients and the largest weighted error."""
    low, high, terms = mp.mpf(fit.low), mp.mpf(fit.high), fit.degree + 1
    count = 24 * (terms + 1) + 1  # odd: no point lies in the middle, where a weight may be 0
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / count) for k in range(count + 1)]
    wanted = [_target(fit, x) for x in grid]
    weight = [abs(fit.weight(x)) for x in grid]
    usable = [k for k, w in enumerate(weight) if w > 0]
    chosen = [usable[round(k * (len(usable) - 1) / terms)] for k in range(terms + 1)]
    best: tuple[mp.mpf, list[mp.mpf]] = (mp.inf, [])
    for _ in range(14):
        rows = [[grid[k] ** n for n in range(terms)] + [(-1) ** j / weight[k]] for j, k in enumerate(chosen)]
        c = list(mp.lu_solve(mp.matrix(rows), mp.matrix([wanted[k] for k in chosen])))[:terms]
        error = [w * (y - mp.polyval(c[::-1], x)) for x, y, w in zip(grid, wanted, weight, strict=True)]
        best = min(best, (max(map(abs, error)), c), key=lambda b: b[0])
        exchanged = _alternation(error, terms + 1)
        if len(exchanged) < terms + 1 or exchanged == chosen:
            break
        chosen = exchanged
    return best[1], best[0]


def _target(fit: Fit, x: mp.mpf) -> mp.mpf:
    """f(x), around a removable singularity from both sides."""
    try:
        return fit.f(x)
    except ZeroDivisionError:
        h = mp.mpf(2) ** -60
        return (fit.f(x + h) + fit.f(x - h)) / 2 if fit.low < x < fit.high else fit.f(x + (h if x == fit.low else -h))


def _alternation(error: Sequence[mp.mpf], count: int) -> list[int]:
    """Where the error is extreme, with alternating signs: the best `count` in a row."""
    found: list[int] = []
    for k, e in enumerate(error):
        if found and (e > 0) == (error[found[-1]] > 0):
            if abs(e) > abs(error[found[-1]]):
                found[-1] = k
        elif e != 0:
            found.append(k)
    while len(found) > count:
        found.pop(0 if abs(error[found[0]]) < abs(error[found[-1]]) else -1)
    return found


def rounded(x: mp.mpf, bits: int) -> float:
    return float(x) if bits == 64 else struct.unpack("f", struct.pack("f", float(x)))[0]


def coefficients(fit: Fit) -> tuple[list[float], float]:
    """Lowest power first, as numbers of the width, and the weighted error before they were rounded."""
    found, error = remez(fit)
    return [rounded(c, fit.bits) for c in found], float(error)


def left_out(name: str, count: int) -> list[float]:
    """What rounding takes from the first coefficients of a fit."""
    found, _ = remez(FITS[name])
    return [float(c - mp.mpf(float(c))) for c in found[:count]]


HALF_LN2 = 0.34668  # what is left of an argument of exp, and a little
ROOT = (float(mp.sqrt(0.5)) - 1 - 1e-9, float(mp.sqrt(2)) - 1 + 1e-9)  # what log sees, less 1


def _exp_rest(r: mp.mpf) -> mp.mpf:
    return (mp.expm1(r) - r) / r**2


def _exp2_rest(r: mp.mpf) -> mp.mpf:
    return mp.expm1(r * mp.log(2)) / r


def _log_rest(f: mp.mpf) -> mp.mpf:
    return (mp.log1p(f) - f + f * f / 2) / f**3


def _log_of(f: mp.mpf) -> mp.mpf:
    return mp.log1p(f) / f


def _log_even(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def _root(f: Function) -> Function:
    return lambda z: f(mp.sqrt(z))


def _sin_rest(r: mp.mpf) -> mp.mpf:
    return (mp.sin(r) / r - 1) / r**2


def _cos_rest(r: mp.mpf) -> mp.mpf:
    return (mp.cos(r) - 1 + r * r / 2) / r**4


def _tan_rest(r: mp.mpf) -> mp.mpf:
    return (mp.tan(r) / r - 1) / r**2


def _atan_rest(t: mp.mpf) -> mp.mpf:
    return (mp.atan(t) / t - 1) / t**2


def _asin_rest(t: mp.mpf) -> mp.mpf:
    return (mp.asin(t) / t - 1) / t**2


def _sinh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.sinh(t) / t - 1) / t**2


def _cosh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.cosh(t) - 1) / t**2


def _asinh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.asinh(t) / t - 1) / t**2


def _atanh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.atanh(t) / t - 1) / t**2


def _acosh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.acosh(1 + t) / mp.sqrt(2 * t) - 1) / t


def _tanh_rest(t: mp.mpf) -> mp.mpf:
    return (mp.tanh(t) / t - 1) / t**2


def _log2_rest(s: mp.mpf) -> mp.mpf:
    return (mp.atanh(s) / s - 1 - s**2 / 3) / s**4 * 2 / mp.log(2)


def _log2_of(s: mp.mpf) -> mp.mpf:
    return 2 * mp.atanh(s) / s / mp.log(2)


def _atanh_of(z: mp.mpf) -> mp.mpf:
    s = mp.sqrt(z)
    return 2 * mp.atanh(s) / s if s else mp.mpf(2)


def _exp2_of(r: mp.mpf) -> mp.mpf:
    return mp.expm1(r * mp.log(2)) / r


def _cbrt_rest(d: mp.mpf) -> mp.mpf:
    return ((1 - d) ** (-mp.mpf(2) / 3) - 1) / d


def _erf_rest(x: mp.mpf) -> mp.mpf:
    return mp.erf(x) / x - 1


def _log_erfc(x: mp.mpf) -> mp.mpf:
    return -mp.log(mp.erfc(x)) / x


def _erfc_scaled(t: mp.mpf) -> mp.mpf:
    x = 3.75 * (1 + t) / (1 - t)
    return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)


def _erfinv_of(w: mp.mpf) -> mp.mpf:
    y = mp.sqrt(-mp.expm1(-w))
    return mp.erfinv(y) / y


def _stirling(w: mp.mpf) -> mp.mpf:
    x = 1 / mp.sqrt(w)
    return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)


def _lgamma_of(u: mp.mpf) -> mp.mpf:
    return mp.loggamma(2 + u) / u if u else 1 - mp.euler


def _digamma_rest(w: mp.mpf) -> mp.mpf:
    x = 1 / mp.sqrt(w)
    return -(mp.digamma(x) - mp.log(x) + 1 / (2 * x)) / w


def _trigamma_rest(w: mp.mpf) -> mp.mpf:
    x = 1 / mp.sqrt(w)
    return (mp.psi(1, x) - 1 / x - w / 2) * x**3


DIGAMMA_ROOT = mp.findroot(mp.digamma, 1.4616)


def _digamma_near(u: mp.mpf) -> mp.mpf:
    return mp.digamma(DIGAMMA_ROOT + u) / u


S2 = 0.02944  # (f / (2 + f))² at the ends of ROOT
EIGHTH = 0.79**2  # the square of pi / 4, and a little
HALF = 1.5709**2  # the square of pi / 2, and a little

FITS: dict[str, Fit] = {
    "EXP_32": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -HALF_LN2, HALF_LN2, 4, lambda r: r * r, 32),
    "EXP_64": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -HALF_LN2, HALF_LN2, 9, lambda r: r * r),
    "EXP_FAST_32": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -HALF_LN2, HALF_LN2, 3, lambda r: r * r, 32),
    "EXP_FAST_64": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -HALF_LN2, HALF_LN2, 8, lambda r: r * r),
    "EXPM1_32": Fit("(exp(r) - 1 - r) / r², relative to r", _exp_rest, -HALF_LN2, HALF_LN2, 5, abs, 32),
    "EXPM1_64": Fit("(exp(r) - 1 - r) / r², relative to r", _exp_rest, -HALF_LN2, HALF_LN2, 10, abs),
    "EXPM1_FAST_32": Fit("(exp(r) - 1 - r) / r², relative to r", _exp_rest, -HALF_LN2, HALF_LN2, 4, abs, 32),
    "EXPM1_FAST_64": Fit("(exp(r) - 1 - r) / r², relative to r", _exp_rest, -HALF_LN2, HALF_LN2, 9, abs),
    "EXP2_32": Fit("(2 ** r - 1) / r", _exp2_rest, -0.5, 0.5, 5, abs, 32),
    "EXP2_64": Fit("(2 ** r - 1) / r", _exp2_rest, -0.5, 0.5, 10, abs),
    "LOG_32": Fit("(log(1 + f) - f + f² / 2) / f³", _log_rest, *ROOT, 7, lambda f: f * f, 32),
    **{
        f"{name}_TABLE_32": Fit(
            f"({about}(1 + r) / r - {one}) / r",
            lambda r, ln=ln: (_log_of(r) - 1) / r / ln,
            -0.03559,
            0.03559,
            3,
            abs,
            32,
        )
        for name, about, one, ln in (
            ("LOG", "log", "1", mp.mpf(1)),
            ("LOG2", "log2", "1 / ln(2)", mp.log(2)),
            ("LOG10", "log10", "1 / ln(10)", mp.log(10)),
        )
    },
    "POWER_LOG_32": Fit(
        "2 (log(1 + r) - r + r² / 2) / r³", lambda r: 2 * _log_rest(r), -0.03559, 0.03559, 3, lambda r: r * r, 32
    ),
    "POWER_LOG_64": Fit("the same", lambda r: 2 * _log_rest(r), -0.03559, 0.03559, 9, lambda r: r * r),
    "EXP_TABLE_32": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -0.02167, 0.02167, 1, lambda r: r * r, 32),
    "EXP_TABLE_64": Fit("(exp(r) - 1 - r) / r²", _exp_rest, -0.02167, 0.02167, 4, lambda r: r * r),
    "SIN_32": Fit("(sin(r) / r - 1) / r² in r²", _root(_sin_rest), 0, EIGHTH, 2, lambda z: z, 32),
    "SIN_64": Fit("(sin(r) / r - 1) / r² in r²", _root(_sin_rest), 0, EIGHTH, 5, lambda z: z),
    "COS_32": Fit("(cos(r) - 1 + r² / 2) / r⁴ in r²", _root(_cos_rest), 0, EIGHTH, 2, lambda z: z * z, 32),
    "COS_64": Fit("(cos(r) - 1 + r² / 2) / r⁴ in r²", _root(_cos_rest), 0, EIGHTH, 5, lambda z: z * z),
    "SIN_FAST_32": Fit("(sin(r) / r - 1) / r² in r²", _root(_sin_rest), 0, HALF, 3, lambda z: z, 32),
    "SIN_FAST_64": Fit("(sin(r) / r - 1) / r² in r²", _root(_sin_rest), 0, HALF, 7, lambda z: z),
    "TAN_32": Fit("(tan(r) / r - 1) / r² in r²", _root(_tan_rest), 0, EIGHTH, 6, lambda z: z, 32),
    "TAN_64": Fit("(tan(r) / r - 1) / r² in r²", _root(_tan_rest), 0, 0.000977, 3, lambda z: z),
    "ATAN_32": Fit("(atan(t) / t - 1) / t² in t²", _root(_atan_rest), 0, 1, 8, lambda z: z, 32),
    "ATAN_64": Fit("(atan(t) / t - 1) / t² in t²", _root(_atan_rest), 0, 0.1717, 11, lambda z: z),
    "ATAN_TABLE_64": Fit("(atan(t) / t - 1) / t² in t²", _root(_atan_rest), 0, 0.0102, 5, lambda z: z),
    "ATAN_FAST_32": Fit("(atan(t) / t - 1) / t² in t²", _root(_atan_rest), 0, 1, 7, lambda z: z, 32),
    "ASIN_32": Fit("(asin(t) / t - 1) / t² in t²", _root(_asin_rest), 0, 0.25, 4, lambda z: z, 32),
    "ASIN_64": Fit("(asin(t) / t - 1) / t² in t²", _root(_asin_rest), 0, 0.25, 11, lambda z: z),
    "ASINH_32": Fit("(asinh(t) / t - 1) / t² in t²", _root(_asinh_rest), 0, 0.25, 4, lambda z: z, 32),
    "ASINH_64": Fit("(asinh(t) / t - 1) / t² in t²", _root(_asinh_rest), 0, 0.25, 11, lambda z: z),
    "ATANH_32": Fit("(atanh(s) / s - 1) / s² in s²", _root(_atanh_rest), 0, 0.0297, 2, lambda z: z, 32),
    "ATANH_64": Fit("(atanh(s) / s - 1) / s² in s²", _root(_atanh_rest), 0, 0.0297, 7, lambda z: z),
    "ACOSH_32": Fit("(acosh(1 + t) / sqrt(2 t) - 1) / t", _acosh_rest, 0, 0.5, 4, lambda t: t, 32),
    "ACOSH_64": Fit("(acosh(1 + t) / sqrt(2 t) - 1) / t", _acosh_rest, 0, 0.5, 11, lambda t: t),
    "SINH_32": Fit("(sinh(r) / r - 1) / r² in r²", _root(_sinh_rest), 0, HALF_LN2**2, 2, lambda z: z, 32),
    "SINH_64": Fit("(sinh(r) / r - 1) / r² in r²", _root(_sinh_rest), 0, HALF_LN2**2, 4, lambda z: z),
    "COSH_32": Fit("(cosh(r) - 1) / r² in r²", _root(_cosh_rest), 0, HALF_LN2**2, 2, lambda z: z, 32),
    "COSH_64": Fit("(cosh(r) - 1) / r² in r²", _root(_cosh_rest), 0, HALF_LN2**2, 4, lambda z: z),
    "TANH_64": Fit("(tanh(t) / t - 1) / t² in t²", _root(_tanh_rest), 0, 0.9, 14, lambda z: z),
    **{
        f"LOG{base}_TABLE_64": Fit(
            f"(log{base}(1 + r) / r - 1 / ln({base})) / r",
            lambda f, base=base: (_log_of(f) - 1) / f / mp.log(base),
            -0.03559,
            0.03559,
            8,
            abs,
        )
        for base in (2, 10)
    },
    "LOG2_64": Fit("2 / ln(2) (atanh(s) / s - 1 - s² / 3) / s⁴ in s²", _root(_log2_rest), 0, S2, 6, lambda z: z),
    "LOG2_F": Fit("(2 atanh(s) / ln(2) / s) in s², for float32 in float64", _root(_log2_of), 0, S2, 4),
    "EXP2_F": Fit("(2 ** r - 1) / r, for float32 in float64", _exp2_of, -0.5, 0.5, 5, abs),
    "LOG1P_F": Fit("2 atanh(s) / s in s² up to 1/3², for float32 in float64", _atanh_of, 0, 0.1112, 5),
    "CBRT_32": Fit("((1 - d) ** (-2 / 3) - 1) / d", _cbrt_rest, -0.104, 0.104, 2, abs, 32),
    "CBRT_64": Fit("((1 - d) ** (-2 / 3) - 1) / d", _cbrt_rest, -0.104, 0.104, 6, abs),
    "ERF_32": Fit("erf(x) / x - 1 in x²", _root(_erf_rest), 0, 1.11, 7, bits=32),
    "LOG_ERFC_32": Fit("-log(erfc(x)) / x", _log_erfc, 0.89, 4.0, 9, lambda x: mp.erfc(x) * x, 32),
    "ERFC_64": Fit("erfc(x) exp(x²) (1 + 2 x) in (x - 3.75) / (x + 3.75)", _erfc_scaled, -1, 0.765, 24),
    "ERFC_F": Fit("the same, for float32 in float64", _erfc_scaled, -1, 0.4712, 11),
    "ERFINV_NEAR": Fit("erfinv(y) / y in w - 3, w = -log(1 - y²)", lambda t: _erfinv_of(t + 3), -3, 3.26, 25),
    "ERFINV_MIDDLE": Fit("erfinv(y) / y in sqrt(w) - 3.25", lambda t: _erfinv_of((t + 3.25) ** 2), -0.76, 0.76, 21),
    "ERFINV_FAR": Fit("erfinv(y) / y in sqrt(w) - 5", lambda t: _erfinv_of((t + 5) ** 2), -1.01, 1.05, 19),
    "ERFINV_NEAR_F": Fit("the first, for float32 in float64", lambda t: _erfinv_of(t + 3), -3, 3.26, 12),
    "ERFINV_MIDDLE_F": Fit("the second", lambda t: _erfinv_of((t + 3.25) ** 2), -0.76, 0.76, 10),
    "STIRLING_64": Fit(
        "x (log(gamma(x)) - (x - 1/2) log(x) + x - log(2 pi) / 2) in 1 / x²", _stirling, 1e-9, 1 / 64, 7
    ),
    "STIRLING_F": Fit("the same, for float32 in float64", _stirling, 1e-9, 1 / 64, 2),
    "LGAMMA_64": Fit("log(gamma(2 + u)) / u", _lgamma_of, -0.51, 0.51, 19),
    "LGAMMA_F": Fit("the same, for float32 in float64", _lgamma_of, -0.51, 0.51, 9),
    "DIGAMMA_64": Fit("log(x) - 1 / (2 x) - digamma(x), times x², in 1 / x²", _digamma_rest, 1e-9, 1 / 64, 8),
    "DIGAMMA_F": Fit("the same, for float32 in float64", _digamma_rest, 1e-9, 1 / 64, 2),
    "DIGAMMA_NEAR": Fit("digamma(x) over the distance from its root", _digamma_near, -0.101, 0.101, 13),
    "DIGAMMA_NEAR_F": Fit("the same, for float32 in float64", _digamma_near, -0.101, 0.101, 6),
    "TRIGAMMA_64": Fit("trigamma(x) - 1 / x - 1 / (2 x²), times x³, in 1 / x²", _trigamma_rest, 1e-9, 1 / 64, 8),
    "TRIGAMMA_F": Fit("the same, for float32 in float64", _trigamma_rest, 1e-9, 1 / 64, 3),
    "LOG_64": Fit("(2 atanh(s) / s - 2) / s² in s²", _log_even, 0, S2, 6, lambda z: z),
    "LOG_FAST_32": Fit("(2 atanh(s) / s - 2) / s² in s²", _log_even, 0, S2, 2, lambda z: z, 32),
}


def parts(x: mp.mpf, bits: int, count: int, down: bool = False) -> list[float]:
    """A number as the sum of numbers of a width, each the nearest to what is left, or what is left without its last bits."""
    found: list[float] = []
    for _ in range(count):
        unit = mp.mpf(2) ** (mp.floor(mp.log(abs(x), 2)) - (23 if bits == 32 else 52))
        found.append(float(mp.floor(x / unit) * unit) if down else rounded(x, bits))
        x -= mp.mpf(found[-1])
    return found


def eighths() -> list[float]:
    first = parts(mp.pi / 8, 32, 1, down=True)
    return [*first, rounded(mp.pi / 8 - first[0], 32)]


def words(zeros: int, count: int) -> list[int]:
    """The bits of 2 / pi behind some zeros, as words of 64."""
    with mp.workprec(64 * count + 64):
        whole = int(mp.floor(2 / mp.pi * mp.mpf(2) ** (64 * count - zeros)))
    return [whole >> (64 * (count - 1 - k)) & (2**64 - 1) for k in range(count)]


FIRST = 0x3F33C000  # the bits of the float32 at which the first of 16 intervals up to twice as much begins
COARSE = {32: 16, 64: 40}  # bits behind the point: 8 more stand before it, of float64 11


def number(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def inverses() -> list[float]:
    """Of a number in each interval: so short that z / c - 1 is a float32 for all z there, and as small as that allows."""
    found = []
    for low in range(FIRST, FIRST + (1 << 23), 1 << 19):
        a, b = number(low), number(low + (1 << 19) - 1)
        tried = [(max(abs(a * n / 64 - 1), abs(b * n / 64 - 1)), n / 64) for n in range(45, 91)]
        exact = [(far, n) for far, n in tried if far * n.as_integer_ratio()[1] < (1 if a < 1 else 2)]
        found.append(1.0 if a <= 1 <= b else min(exact)[1])
    return found


def coarse(x: mp.mpf, bits: int = 32) -> float:
    return float(mp.nint(x * 2 ** COARSE[bits]) / 2 ** COARSE[bits])


def fine(x: mp.mpf, bits: int = 32) -> float:
    return rounded(x - coarse(x, bits), bits)


def logs(part: Callable[[mp.mpf, int], float], bits: int) -> list[float]:
    """Twice the logarithms of c."""
    return [part(-2 * mp.log(n), bits) for n in inverses()]


def sixteenth_powers(bits: int, rest: bool = False) -> list[float]:
    """2**(j / 16), or twice the logarithms of what is left over."""
    exact = [mp.mpf(2) ** (mp.mpf(j) / 16) for j in range(16)]
    near = [rounded(x, bits) for x in exact]
    return [rounded(2 * mp.log(x / mp.mpf(y)), bits) for x, y in zip(exact, near, strict=True)] if rest else near


SHARE = 0.92  # of a natural logarithm: what is left for the sum with r is a little smaller than r where r ends a binade


def short_logs(base: mp.mpf, share: float, part: int) -> list[float]:
    """The logarithms of c as float32, in two parts, the first of 16 bits."""
    exact = [-mp.log(n) / mp.log(base) for n in inverses()]
    first = [coarse(x * share) for x in exact]
    return [rounded(x - y, 32) if part else y for x, y in zip(exact, first, strict=True)]


def ranges() -> list[tuple[mp.mpf, mp.mpf]]:
    """The arctangents of numbers, or of quotients, whose bits, or those of the one less those of the other, begin alike: halves of
    binades from 3/32 to 12. The bits of a quotient from 4/3 may be like those of 3/2.
    """
    ends = [(2.0**e, 2.0**e * 1.5) for e in range(-4, 4)]
    found = [x for low, high in ends for x in ((low, high), (low * 4 / 3, low * 2))]
    return [(mp.atan(a), mp.atan(b)) for a, b in found[1:-1]] + [(mp.atan(mp.mpf(32) / 3), mp.pi / 2)]


def nearly_exact(f: Function, x: mp.mpf) -> float:
    """A number near x whose f is a float64 but for 1/256 of a unit of its last place."""
    near = float(x)
    for step, k in product((2.0**-40, 2.0**-26), range(100000)):
        at = near * (1 + k * step)
        value = f(mp.mpf(at))
        if abs(value - float(value)) < abs(value) * mp.mpf(2) ** -62:
            return at
    raise ValueError(f"no such number near {x}")


def middles() -> list[float]:
    """Numbers whose arctangents lie in the middle of the intervals, or 0 in the first; in the order of the bits that begin them."""
    found = [0.0] + [nearly_exact(mp.atan, mp.tan((a + b) / 2)) for a, b in ranges()]
    return [found[(k - 6) % 16] for k in range(16)]


def behind(part: int) -> list[float]:
    """pi less the arctangents of `middles`, in two parts."""
    return [parts(mp.pi - mp.mpf(float(mp.atan(x))), 64, 2)[part] for x in middles()]


def sixteenths() -> list[float]:
    """Numbers near the whole multiples of 1/16 up to pi / 4."""
    return [0.0] + [nearly_exact(mp.tan, mp.mpf(k) / 16) for k in range(1, 16)]


def parted_log(x: mp.mpf, base: int, part: int) -> float:
    """A logarithm in two parts: the first has 40 bits behind the point."""
    with mp.workprec(200):
        exact = mp.log(x, base)
        first = mp.nint(exact * 2**40) / 2**40
        return float(exact - first if part else first)


def parted_logs(base: int, part: int) -> list[float]:
    """Those of c."""
    with mp.workprec(200):
        return [parted_log(1 / mp.mpf(n), base, part) for n in inverses()]


def erfcx(x: mp.mpf) -> mp.mpf:
    return mp.erfc(x) * mp.exp(x * x)


@dataclass(frozen=True)
class Pieces:
    """`f` in 16 pieces, quarters of binades of slope x + shift from `shift` on: around a middle whose f is nearly a number it is that and
    r times a polynomial of `degree`, all of whose coefficients are looked up. Around 0, where f of it is 0, r is taken in place of f.
    """

    f: Function
    slope: float
    shift: float
    degree: int

    def ends(self) -> list[float]:
        quarters = [2.0**e * (1 + q / 4) for e in range(-2, 5) for q in range(4)]
        return [(w - self.shift) / self.slope for w in quarters if w >= self.shift][:17]

    def piece(self, low: float, high: float) -> list[float]:
        """The middle, its f, and the coefficients."""
        around = self.f(mp.mpf(low)) == 0
        middle = 0.0 if around else nearly_exact(self.f, mp.mpf(low + high) / 2)
        base = self.f(mp.mpf(middle))

        def slope(r: mp.mpf) -> mp.mpf:
            return (self.f(middle + r) - base) / r - around

        def weight(r: mp.mpf) -> mp.mpf:
            return r / self.f(middle + r) if middle + r else mp.mpf(1)

        fit = Fit("", slope, low - middle, high - middle, self.degree, weight)
        return [middle, float(base), *coefficients(fit)[0]]

    @cached_property
    def tables(self) -> list[list[float]]:
        """In the order of the bits that say the piece."""
        ends = self.ends()
        rows = [self.piece(a, b) for a, b in pairwise(ends)]
        first = struct.unpack("<q", struct.pack("<d", self.shift))[0] >> 50
        return [[rows[(k - first) % 16][n] for k in range(16)] for n in range(self.degree + 3)]

    def constants(self, name: str, about: str) -> dict[str, tuple[str, Callable[[], Sequence[float]]]]:
        found: dict[str, tuple[str, Callable[[], Sequence[float]]]] = {
            f"{name}_AT_64": ("Numbers in 16 pieces", lambda: self.tables[0])
        }
        for n in range(self.degree + 2):
            found[f"{name}_{n}_64"] = (f"Of r**{n} in {about} of these and r", lambda n=n: self.tables[n + 1])
        return found


CONSTANTS: dict[str, tuple[str, Callable[[], Sequence[float]]]] = {
    "LOG_INVERSE": ("1 / c for 16 intervals", inverses),
    **{
        f"{name}_{bits}": (about, lambda made=made, bits=bits: made(bits))
        for bits, to in COARSE.items()
        for name, about, made in (
            ("LOG_COARSE", f"The logarithms of c², to {to} bits", lambda bits: logs(coarse, bits)),
            ("LOG_FINE", "What is left of them", lambda bits: logs(fine, bits)),
            ("LOG_TWO", "Parts of the logarithm of 4", lambda bits: [part(mp.log(4), bits) for part in (coarse, fine)]),
            ("EXP_SIXTEENTH", "2**(j / 16)", sixteenth_powers),
            (
                "EXP_SIXTEENTH_REST",
                "Twice the logarithms of what is left of them",
                partial(sixteenth_powers, rest=True),
            ),
        )
    },
    **{
        f"{name}_{('MOST', 'LEAST')[part]}_32": (
            f"{('Most', 'The rest')[part]} of the logarithms of c{to}",
            lambda base=base, share=share, part=part: short_logs(base, share, part),
        )
        for name, to, base, share in (
            ("LOG", "", mp.e, SHARE),
            ("LOG2", " to base 2", 2, 1),
            ("LOG10", " to base 10", 10, 1),
        )
        for part in (0, 1)
    },
    **{
        f"LOG{base}_{('COARSE', 'FINE')[part]}": (about, lambda base=base, part=part: parted_logs(base, part))
        for base in (2, 10)
        for part, about in enumerate((f"The logarithms of c to base {base}, to 40 bits", "What is left of these"))
    },
    "LOG10_TWO": (
        "The logarithm of 2 to base 10, to 40 bits and what is left",
        lambda: [parted_log(mp.mpf(2), 10, n) for n in (0, 1)],
    ),
    "ATAN_MIDDLE": ("Numbers in 16 intervals", middles),
    "ATAN_OF_MIDDLE": ("Their arctangents", lambda: [float(mp.atan(x)) for x in middles()]),
    "PI_LESS_ATAN": ("pi less these", lambda: behind(0)),
    "PI_LESS_ATAN_REST": ("What is left of that", lambda: behind(1)),
    "TAN_AT": ("Angles, a sixteenth apart", sixteenths),
    "TAN_OF": ("Their tangents", lambda: [float(mp.tan(x)) for x in sixteenths()]),
    "HALF_PI_32": (
        "Parts of pi / 2",
        lambda: parts(mp.pi / 2, 32, 3, down=True),
    ),  # of one sign: what they leave of -0 is -0
    "HALF_PI_64": ("Parts of pi / 2", lambda: parts(mp.pi / 2, 64, 3, down=True)),
    "EIGHTH_PI_32": ("Parts of pi / 8, the first below it", eighths),
    **{
        f"SINE_{n}_32": (
            f"Of r**{n} in the sines of j pi / 8 + r, for 16 j, as tests/accuracy/sines.py finds them",
            lambda n=n: sines.tables()[n],
        )
        for n in range(sines.DEGREE + 1)
    },
    "TANH_AT_32": ("Numbers in 16 pieces", lambda: tanhs.tables()[0]),
    **{
        f"TANH_{n}_32": (
            f"Of r**{n} in the tanh of these and r, as tests/accuracy/tanhs.py finds them",
            lambda n=n: tanhs.tables()[n + 1],
        )
        for n in range(tanhs.DEGREE + 1)
    },
    **Pieces(mp.erf, 15 / 16, 0.375, 12).constants("ERF", "erf"),
    **Pieces(erfcx, 15 / 32, 0.875, 13).constants("ERFCX", "erfc(x) exp(x²)"),
    **{
        f"{name}_LOW": (f"What the first two of {name} leave out", lambda name=name: left_out(name, 2))
        for name in ("ERFINV_NEAR", "ERFINV_MIDDLE", "ERFINV_FAR")
    },
    "DIGAMMA_NEAR_LOW": ("What the first of DIGAMMA_NEAR leaves out", lambda: left_out("DIGAMMA_NEAR", 1)),
    "PI_64": ("Parts of pi", lambda: parts(mp.pi, 64, 2)),
    "LN2_64": ("Parts of ln(2)", lambda: parts(mp.log(2), 64, 2)),
    "LOG2_E": ("Parts of 1 / ln(2)", lambda: parts(1 / mp.log(2), 64, 2)),
    "STIRLING": ("Parts of log2(2 pi) / 2", lambda: parts(mp.log(2 * mp.pi, 2) / 2, 64, 2)),
    "DIGAMMA_ROOT": ("Parts of the root of digamma", lambda: parts(DIGAMMA_ROOT, 64, 2)),
    "LOG2_FIRST": ("Parts of 2 / ln(2)", lambda: parts(2 / mp.log(2), 64, 2)),
    "LOG2_SECOND": ("Parts of 2 / (3 ln(2))", lambda: parts(2 / mp.log(2) / 3, 64, 2)),
    "TWO_OVER_PI_WORDS": ("Parts of 2 / pi behind 40 zeros", lambda: words(40, 19)),
}

HEAD = '''"""Coefficients of near-minimax polynomials, lowest power first. Written by tests/accuracy/fit.py; do not edit."""

'''


def main(names: Sequence[str]) -> None:
    text = HEAD
    for name in names or FITS:
        fit = FITS[name]
        found, error = coefficients(fit)
        line = f"{fit.about}, {fit.low:.6g} to {fit.high:.6g}; error 2 ** {mp.nstr(mp.log(error, 2), 4)}"
        text += f"# {line}\n{name} = (\n" + "".join(f"    {c!r},\n" for c in found) + ")\n"
        print(name, line, file=sys.stderr)
    for name, (about, made) in () if names else CONSTANTS.items():
        text += f"# {about}.\n{name} = (\n" + "".join(f"    {x!r},\n" for x in made()) + ")\n"
    if names:
        print(text)
    else:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
