"""The edges of a photograph, as a pencil would draw them, in one statement.

    light      0.299 red + 0.587 green + 0.114 blue
    across     how the light changes from left to right: Sobel's weights over the 3 × 3 neighbours
    down       and from top to bottom
    drawn      white, minus a part of the length of (across, down)

Neighbours are shifted views, of an expression as of a tensor: `light` is never stored, and a pixel of the drawing comes straight
from the 27 bytes around it. `plan.recompute` says what that costs.

    python examples/edges.py --out edges.png
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage
from sklearn.datasets import load_sample_image

import exprten as xt


def luminance(photo):
    """(h, w, 3) bytes -> (h, w) from 0 to 255."""
    red, green, blue = (photo[..., k].astype(np.float32) for k in range(3))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def sobel(light):
    """(h, w) -> two of (h - 2, w - 2): the change across and down, around each inner point."""
    left, centre, right = light[:, :-2], light[:, 1:-1], light[:, 2:]
    change, smooth = right - left, left + 2.0 * centre + right
    across = change[:-2] + 2.0 * change[1:-1] + change[2:]
    down = smooth[2:] - smooth[:-2]
    return across, down


def drawing(photo, pressure=0.4):
    """(h, w, 3) bytes -> (h, w) bytes, an expression: dark where the light changes, with a white rim of one pixel."""
    across, down = sobel(luminance(photo))
    length = xt.sqrt(across * across + down * down)
    return xt.pad(xt.rint(255.0 - xt.minimum(pressure * length, 255.0)), 1, value=255).astype(np.uint8)


def reference(photo, pressure=0.4):
    """The same in float64 with SciPy's Sobel filter, without the rim."""
    light = photo.astype(float) @ [0.299, 0.587, 0.114]
    length = np.hypot(ndimage.sobel(light, axis=1), ndimage.sobel(light, axis=0))
    return 255 - np.minimum(pressure * length, 255)[1:-1, 1:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("edges.png"), help="where the drawing goes")
    out = parser.parse_args().out

    photo = load_sample_image("china.jpg")
    drawn = xt.empty(photo.shape[:2], xt.uint8)
    plan = xt.plan(drawn, drawing(xt.asarray(photo)))  # of `drawn[...] = drawing(...)`
    plan.run()

    print(f"phases {plan.phases}, temporaries {plan.temporaries}, recompute {plan.recompute:.2f}")
    Image.fromarray(drawn.numpy()).save(out)
    print(f"wrote {out}")

    assert plan.phases == 1
    assert abs(drawn.numpy()[1:-1, 1:-1] - reference(photo)).max() <= 0.501  # rounded, from float32
    assert (drawn.numpy()[[0, -1]] == 255).all() and (drawn.numpy()[:, [0, -1]] == 255).all()


if __name__ == "__main__":
    main()
