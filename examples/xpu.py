"""One program on every device: the parameter `xpu`, mshadow's name for it, says where tensors lie, and nothing else changes.

    weight -= eta * (grad + lam * weight)                    an update
    chance  = softmax(score)                                 along rows
    z       = (x - mean(x)) / std(x)                         along columns
    loss    = sum(smooth_l1(x - y))                          of everything, with an operation of one's own

It runs on the CPU, and where there is one on a GPU; the results are equal bit for bit: math functions are the same formulas, and folds
add in the same order. The argument says how many elements.

    python examples/xpu.py 1000000
"""

import sys

import numpy as np

import exprten as xt

COLUMNS = 100


@xt.op
def smooth_l1(a):
    if abs(a) < 1:
        return 0.5 * a * a
    return abs(a) - 0.5


@xt.kernel
def momentum(weight, grad, velocity, *, eta, lam):
    velocity[...] = 0.9 * velocity + grad + lam * weight
    weight -= eta * velocity


def softmax(e):
    powers = xt.exp(e - xt.max(e, axis=1, keepdims=True))
    return powers / xt.sum(powers, axis=1, keepdims=True)


def run(rows, xpu):
    """(rows, 100) random numbers on `xpu` -> results by name, as NumPy arrays."""
    rng = np.random.default_rng(0)
    x, y, weight = (xt.array(rng.normal(size=(rows, COLUMNS)), dtype=xt.float32, device=xpu) for _ in "xyw")
    velocity, chance, z = (xt.zeros((rows, COLUMNS), device=xpu) for _ in range(3))
    loss = xt.zeros((), device=xpu)

    weight -= 0.1 * (x + 0.01 * weight)
    for _ in range(3):
        momentum(weight, y, velocity, eta=0.1, lam=0.01)
    chance[...] = softmax(x)
    z[...] = (x - xt.mean(x, axis=0)) / xt.std(x, axis=0)
    loss[...] = xt.sum(smooth_l1(x - y))
    tensors = {"weight": weight, "velocity": velocity, "chance": chance, "z": z, "loss": loss}
    return {name: tensor.numpy() for name, tensor in tensors.items()}  # of a GPU a copy: here it is waited for


def devices():
    """The CPU, and a GPU where there is one. Says why there is none."""
    try:
        return [xt.cpu(), xt.gpu(0)]
    except xt.DeviceError as error:
        print(f"on the CPU alone: {error}")
        return [xt.cpu()]


def main():
    rows = int(sys.argv[1]) // COLUMNS if len(sys.argv) > 1 else 40
    here, *others = devices()
    results = run(rows, here)
    print(f"{here}: " + ", ".join(f"{name} {float(np.mean(value)):.6f}" for name, value in results.items()))
    assert abs(float(results["chance"].sum()) - rows) < 1e-3 * rows
    for xpu in others:
        for name, value in run(rows, xpu).items():
            assert value.tobytes() == results[name].tobytes(), f"{name} differs on {xpu}"
        print(f"{xpu}: the same bits in all {len(results)} results")


if __name__ == "__main__":
    main()
