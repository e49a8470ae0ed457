"""The folds as loops over `a` of n rows and m columns into `o`, for those that have no folds of their own: C, and Numba's Python.

Both are compiled with permission to reorder sums; without it a fold is one addition after the other.
"""

from __future__ import annotations

EACH = "for (size_t i = 0; i < n; i++, a += m, o += {0}) {{ {1} }}"
ALONG = "for (size_t j = 0; j < m; j++) "
C = {
    "sum": "float s = 0; for (size_t i = 0; i < n * m; i++) s += a[i]; *o = s;",
    "rowsum": EACH.format(1, f"float s = 0; {ALONG} s += a[j]; *o = s;"),
    "colsum": f"{ALONG} o[j] = 0; for (size_t i = 0; i < n; i++) {ALONG} o[j] += a[i * m + j];",
    "rowmax": EACH.format(1, f"float s = a[0]; {ALONG} s = a[j] > s ? a[j] : s; *o = s;"),
    "argmax": EACH.format(1, f"size_t k = 0; {ALONG} if (a[j] > a[k]) k = j; *o = k;"),
    "softmax": EACH.format(
        "m",
        f"float x = a[0], s = 0; {ALONG} x = a[j] > x ? a[j] : x;"
        f"{ALONG} s += o[j] = expf(a[j] - x); s = 1 / s; {ALONG} o[j] *= s;",
    ),
    "layernorm": EACH.format(
        "m",
        f"float s = 0, v = 0; {ALONG} s += a[j]; s /= m; {ALONG} v += (a[j] - s) * (a[j] - s);"
        f"v = 1 / sqrtf(v / m + 1e-5f); {ALONG} o[j] = (a[j] - s) * v;",
    ),
}
ROWS = "for i in range(a.shape[0]):"
PYTHON = {
    "sum": ["s = zero", ROWS, "    for x in a[i]:", "        s += x", "o[0, 0] = s"],
    "rowsum": [ROWS, "    s = zero", "    for x in a[i]:", "        s += x", "    o[i, 0] = s"],
    "colsum": ["o[:] = zero", ROWS, "    for j in range(a.shape[1]):", "        o[j] += a[i, j]"],
    "rowmax": [ROWS, "    s = a[i, 0]", "    for x in a[i]:", "        s = max(s, x)", "    o[i, 0] = s"],
    "argmax": [ROWS, "    o[i, 0] = np.argmax(a[i])"],
    "softmax": [
        ROWS, "    m, s = a[i, 0], zero", "    for x in a[i]:", "        m = max(m, x)",
        "    for j in range(a.shape[1]):", "        o[i, j] = np.exp(a[i, j] - m)", "        s += o[i, j]",
        "    s = one / s", "    for j in range(a.shape[1]):", "        o[i, j] *= s",
    ],
    "layernorm": [
        ROWS, "    s, v = zero, zero", "    for x in a[i]:", "        s += x", "    s /= a.shape[1]", "    for x in a[i]:",
        "        v += (x - s) * (x - s)", "    v = one / np.sqrt(v / a.shape[1] + eps)", "    for j in range(a.shape[1]):",
        "        o[i, j] = (a[i, j] - s) * v",
    ],
}  # fmt: skip
