"""g++ runs here: the runtime, the precompiled header, and units of sources, each compiled once and kept in a folder."""

import fcntl
import functools
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from .translate import unit

HERE = Path(__file__).parent
UNIT = 200  # sources; larger units keep one g++ waiting for the other
# As NVRTC with -fmad=false: nothing contracted. Misaligned accesses and indices outside of arrays call the runtime.
# -Og: 20 ms a kernel of 100 in a unit, where -O1 takes 31 and -O0 makes twice the code.
FLAGS = ("-std=c++17", "-Og", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fPIC", "-w")
CHECKS = ("-fsanitize=alignment,bounds",)


@functools.cache
def headers() -> Path | None:
    """Where NVIDIA's cuda_fp16.h lies; None where no package brought it."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(Path(folder).glob("*/include/cuda_fp16.h"), reverse=True):
            return found.parent
    return None


def why_not() -> str:
    """What is missing for emulation on this machine; empty if nothing is."""
    if shutil.which("g++") is None:
        return "no g++"
    if headers() is None:
        return "no cuda_fp16.h: pip install nvidia-cuda-runtime"
    return ""


def _processor_flags() -> tuple[str, ...]:
    """One instruction for fma() where the processor has it; the same bits without."""
    try:
        return ("-mfma",) if " fma " in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace") else ()
    except OSError:
        return ()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class Folder:
    """Compiled units in a folder that processes share. Of two that need one text, the second waits for the first."""

    def __init__(self, root: Path | None = None) -> None:
        chosen = os.environ.get("EXPRTEN_EMULATOR_DIR")
        root = root or Path(chosen or Path(tempfile.gettempdir()) / f"exprten-emulator-{os.getuid()}")
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.stat().st_uid != os.getuid():
            raise PermissionError(
                f"emulator: {root} belongs to somebody else; set EXPRTEN_EMULATOR_DIR to a folder of yours"
            )
        self.flags = (*FLAGS, *_processor_flags())
        self.includes = (f"-I{HERE / 'nvidia'}", f"-I{headers()}")
        self.path = root / self._version()
        self.path.mkdir(exist_ok=True)
        self.compiled = 0
        self._known: dict[str, tuple[Path, int]] = {}
        with self._locked():
            self._build_runtime()

    def find(self, sources: Sequence[str]) -> list[tuple[Path, int]]:
        """Of each source the library that holds it, and which of its sources it is. Compiles those that are new."""
        names = [digest(source) for source in sources]
        if not all(name in self._known for name in names):
            with self._locked():
                self._read_index()
                new = {name: source for name, source in zip(names, sources, strict=True) if name not in self._known}
                self._compile(new)
                self._read_index()
        return [self._known[name] for name in names]

    @property
    def runtime(self) -> Path:
        return self.path / "runtime.so"

    def _version(self) -> str:
        compiler = subprocess.run(
            ["g++", "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=True
        )
        files = sorted(p for p in HERE.rglob("*") if p.suffix in {".h", ".cpp"} or p.name == "target")
        parts = [compiler.stdout, str(headers()), *self.flags, *CHECKS]
        parts += [path.read_text(encoding="utf-8") for path in (*files, HERE / "translate.py")]
        return digest("\0".join(parts))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.path / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _read_index(self) -> None:
        for index in self.path.glob("*.index"):
            library = index.with_suffix(".so")
            for k, name in enumerate(index.read_text(encoding="ascii").split()):
                self._known.setdefault(name, (library, k))

    def _build_runtime(self) -> None:
        if self.runtime.exists():
            return
        header = self.path / "cuda.h"
        # What g++ takes where it cannot map the precompiled header.
        header.write_text(f'#include "{HERE / "cuda.h"}"\n', encoding="utf-8")
        precompile = [
            "g++",
            *self.flags,
            *CHECKS,
            *self.includes,
            "-x",
            "c++-header",
            HERE / "cuda.h",
            "-o",
            f"{header}.gch",
        ]
        made = self.path / "runtime.new"
        runtime = [HERE / "runtime.cpp", HERE / "memory.cpp"]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_run, [precompile, ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", *runtime, "-o", made]]))
        made.rename(self.runtime)

    def _compile(self, new: dict[str, str]) -> None:
        units = max(-(-len(new) // UNIT), min(2, len(new)))
        shares = [list(new)[k::units] for k in range(units)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda share: self._compile_unit({name: new[name] for name in share}), shares))
        self.compiled += len(new)

    def _compile_unit(self, sources: dict[str, str]) -> None:
        stem = self.path / digest(" ".join(sources))
        text, code, library = (stem.with_suffix(suffix) for suffix in (".cpp", ".o", ".so"))
        text.write_text(unit(list(sources.values())), encoding="utf-8")
        _run(["g++", *self.flags, *CHECKS, *self.includes, "-include", self.path / "cuda.h", "-c", text, "-o", code])
        # Linked without the flags of the checks: their handlers are the runtime's, not those of libubsan.
        _run(["g++", "-shared", code, self.runtime, "-o", library])
        code.unlink()
        stem.with_suffix(".index").write_text("\n".join(sources), encoding="ascii")


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if done.returncode:
        raise CompileError(f"emulator: g++ refused {command[-3]}:\n{done.stderr[:4000]}")


class CompileError(RuntimeError):
    """A source that is no CUDA C++ as far as the emulator knows it."""
