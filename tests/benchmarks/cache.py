"""What the disk cache gives: `python tests/benchmarks/cache.py`, with exprten installed.

Every figure is from processes of their own that share a cache which is empty at first: `cold` compiles, `warm` are those after it.

    load        a kernel from disk: its name, its file and its digest, linked; of 24 statements like sgd's
    first run   one of these statements from its text to its result
    digits      `examples/digits.py` for one epoch, from the import of exprten to the end; compiles and loads of kernels, and all
                modules that LLVM compiled, those that enter kernels among them
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
VARIANTS, QUICK = 24, 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="warm processes: 5")
    parser.add_argument("--quick", action="store_true", help="short: shows that it runs, its figures mean nothing")
    parser.add_argument("--child", choices=tuple(CHILDREN), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(CHILDREN[given.child](QUICK if given.quick else VARIANTS)))
        return
    rounds = 1 if given.quick else given.rounds
    with tempfile.TemporaryDirectory() as folder:
        cold, *warm = (child("statements", folder, quick=given.quick) for _ in range(1 + rounds))
        print(f"load       {1e3 * median(warm, 'loads'):.2f} ms a kernel, {len(warm[0]['loads'])} kernels")
        print(f"first run  cold {1e3 * median([cold], 'firsts'):.2f} ms, warm {1e3 * median(warm, 'firsts'):.2f} ms")
        if given.quick:  # its libraries take seconds to import, and test_cache has it too
            return
        try:
            cold, *warm = (child("digits", folder, quick=False) for _ in range(1 + rounds))
        except ImportError as error:
            print(f"digits     left out: {error}")
            return
    seconds = statistics.median(run["seconds"] for run in warm)
    print(f"digits     cold {cold['seconds']:.2f} s, {shown(cold)}\n           warm {seconds:.2f} s, {shown(warm[0])}")


def median(runs: list[dict[str, Any]], what: str) -> float:
    return statistics.median(x for run in runs for x in run[what])


def shown(run: dict[str, Any]) -> str:
    return f"{run['compiles']} compiles, {run['loads']} loads, {run['modules']} modules by LLVM"


def child(what: str, folder: str, *, quick: bool) -> dict[str, Any]:
    """What a process of its own finds, with its cache in `folder`."""
    environment = os.environ | {"EXPRTEN_CACHE": "1", "EXPRTEN_CACHE_DIR": folder}
    command = [sys.executable, __file__, "--child", what, *(["--quick"] if quick else [])]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in ran.stderr:
        raise ImportError(ran.stderr.splitlines()[-1])
    ran.check_returncode()
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def statements(count: int) -> dict[str, Any]:
    from rows import NINE, sgd_variants

    import exprten as xt

    loads, firsts = [], []
    for row in [NINE, *sgd_variants()[:count]]:  # the first also loads what every kernel needs
        names = {name: layout.make((16,)) for name, layout in row.layouts.items()} | dict(row.scalars)
        code, before = compile(row.statement, row.name, "exec"), xt.stats()
        start = time.perf_counter()
        exec(code, names)
        firsts.append(time.perf_counter() - start)
        loads.append(xt.stats().load_seconds - before.load_seconds)
    return {"loads": loads[1:], "firsts": firsts[1:]}


def digits(_: int) -> dict[str, Any]:
    start = time.perf_counter()
    sys.path.insert(0, str(ROOT / "examples"))
    import digits as example
    import numpy as np
    from exprten_jit.backends.llvm_run import counts

    import exprten as xt

    data = example.load_data()
    for model in example.MODELS.values():
        layers = example.make_layers(model.widths, np.random.default_rng(example.SEED), xt.cpu())
        example.train(layers, model, *data, xt.cpu(), 1)
    seconds, stats = time.perf_counter() - start, xt.stats()
    return {"seconds": seconds, "compiles": stats.compiles, "loads": stats.loads, "modules": counts.compiled}


CHILDREN = {"statements": statements, "digits": digits}

if __name__ == "__main__":
    main()
