"""A photograph through a tone curve, from bytes to bytes in one statement.

    exposure      a factor of light, clipped where the film is full
    contrast      part of the way to the S-curve x² (3 - 2x)
    gamma         lifts or lowers the middle
    saturation    away from the grey of the same brightness

In NumPy each of these steps walks over the picture once or more, and keeps a float picture. Here they are one kernel, which stores
into one half of a canvas whose other half holds the original.

    python examples/tone_curve.py --out tone_curve.png
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

import exprten as xt


def tone_curve(picture, lib, exposure=-0.3, contrast=0.9, gamma=0.8, saturation=1.6):
    """(h, w, 3) bytes -> (h, w, 3) bytes: an expression where `lib` is exprten, an array where it is NumPy."""
    x = picture.astype(np.float32) / 255
    x = lib.minimum(x * 2.0**exposure, 1.0)
    x = x + contrast * (x * x * (3.0 - 2.0 * x) - x)
    x = x**gamma
    grey = 0.2126 * x[..., 0:1] + 0.7152 * x[..., 1:2] + 0.0722 * x[..., 2:3]
    x = grey + saturation * (x - grey)
    return lib.rint(lib.clip(x, 0.0, 1.0) * 255).astype(np.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("tone_curve.png"), help="where the pictures go, side by side")
    out = parser.parse_args().out

    photo = load_sample_image("china.jpg")
    height, width, _ = photo.shape
    canvas = xt.empty((height, 2 * width, 3), xt.uint8)
    before, after = canvas[:, :width], canvas[:, width:]  # views

    before[...] = photo
    plan = xt.plan(after, tone_curve(xt.asarray(photo), xt))  # of `after[...] = tone_curve(...)`
    plan.run()

    print(f"phases {plan.phases}, temporaries {plan.temporaries}, recompute {plan.recompute:.2f}")
    print(f"reads {plan.bytes_read} bytes, writes {plan.bytes_written} bytes")
    Image.fromarray(canvas.numpy()).save(out)
    print(f"wrote {out}")

    off = after.numpy().astype(int) - tone_curve(photo, np)
    assert abs(off).max() <= 1  # a power may differ in its last bit, and that may turn a rounding
    assert plan.phases == 1 and plan.bytes_read == plan.bytes_written == photo.nbytes


if __name__ == "__main__":
    main()
