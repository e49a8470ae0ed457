"""What a launch costs on the host before the driver has it, beside the CPU's kernel of 16 elements: `cuLaunchKernel` does nothing here.

python tests/benchmarks/gpu_launch.py [--quick]
"""

import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from emulator.driver import CONTEXT, EmulatedDriver
from exprten_jit.backends.cuda_run import DRIVER
from exprten_jit.backends.llvm_run import compile_text

import exprten as xt
from exprten.gpu.driver import install

NOTHING = f"""
define i32 @cuLaunchKernel(ptr %f, i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %g, i32 %h, i64 %s, ptr %p, ptr %q) {{
  ret i32 0
}}
define i32 @cuCtxGetCurrent(ptr %o) {{
  store i64 {CONTEXT}, ptr %o
  ret i32 0
}}
define i32 @cuCtxPushCurrent(i64 %o) {{
  ret i32 0
}}
define i32 @cuCtxPopCurrent(ptr %o) {{
  ret i32 0
}}
"""


class Nothing(EmulatedDriver):
    """A driver that launches nothing, at once."""

    def entries(self):
        return compile_text(NOTHING, DRIVER, {}).address

    def load(self, device, source, image, name):  # noqa: ARG002  # the driver's method
        return 1


@xt.kernel
def sgd(w, g, *, eta, lam):
    w -= eta * (g + lam * w)


def loops(device):
    """Each a function that runs something so many times."""
    w, g = xt.empty(16, device=device), xt.empty(16, device=device)
    ws, gs = ([xt.empty(64, device=device) for _ in range(200)] for _ in range(2))

    def statement(n):
        nonlocal w
        eta, lam = 0.1, 0.01
        for _ in range(n):
            w -= eta * (g + lam * w)

    def kernel(n):
        for _ in range(n):
            sgd(w, g, eta=0.1, lam=0.01)

    def lists(n):
        for _ in range(n):
            sgd.foreach(ws, gs, eta=0.1, lam=0.01)

    return {"statement": (statement, 30), "kernel": (kernel, 30), "lists": (lists, 1)}


def main(quick):
    with install(Nothing()):
        runs = {(name, d): loop for d in (xt.cpu(), xt.gpu(0)) for name, loop in loops(d).items()}
        times = {key: [] for key in runs}
        for run, _ in runs.values():
            run(5)
        for _ in range(3 if quick else 25):
            for key, (run, each) in runs.items():
                n = each * (1 if quick else 20)
                start = time.perf_counter()
                run(n)
                times[key].append((time.perf_counter() - start) / n)
        for (name, device), found in times.items():
            print(f"{name:10}{device.kind:5}{median(found) * 1e9:10.0f} ns")


if __name__ == "__main__":
    main("--quick" in sys.argv)
