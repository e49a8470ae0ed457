"""CUDA texts compiled by NVRTC, many in one program, and what has to hold of each kernel in them."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from exprten_jit.backends import nvrtc, ptx
from exprten_jit.backends.cuda_emit import Cuda, emit
from exprten_jit.backends.cuda_list import Listed
from exprten_jit.backends.cuda_text import prelude
from exprten_jit.grid import Program, program
from exprten_jit.ir import Leaf, Op, Param, Size, Value
from exprten_jit.kernel import Kernel
from exprten_jit.rewrite import walk

from exprten.statement import grids

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
PROCESSORS = 132
BATCH = 60  # kernels in one program: NVRTC takes as long for the first as for the next three


@dataclass(frozen=True)
class Written:
    """A kernel's CUDA text, and a name for it."""

    name: str
    cuda: Cuda


def written(name: str, kernel: Kernel, sizes: dict[str, int]) -> Written:
    return Written(name, emit(program(kernel, sizes, PROCESSORS), sizes))


def joined(batch: list[Written]) -> str:
    """One text for many kernels, all of which have indices of one width: function f of the k-th is `of_k_f`."""
    bodies = []
    for k, one in enumerate(batch):
        body = re.split(r"^typedef .* idx;$", one.cuda.text, flags=re.MULTILINE)[1]
        for entry in one.cuda.entries:
            body = re.sub(rf"\b{entry.name}\(", f"of_{k}_{entry.name}(", body)
        bodies.append(body)
    body = "\n".join(bodies)
    return "\n".join([*prelude(body), f"typedef {index_of(batch[0])} idx;", body])


def index_of(one: Written) -> str:
    found = re.search(r"^typedef (.*) idx;$", one.cuda.text, flags=re.MULTILINE)
    assert found, f"{one.name}: its indices have no type"
    return found[1]


@dataclass(frozen=True)
class Compiled:
    """A function of a kernel, compiled: what it is launched with, the instructions it is made of, and what it takes of a GPU."""

    written: Written
    entry: int
    parameters: tuple[ptx.Parameter, ...]
    instructions: Counter[str]
    resources: nvrtc.Resources

    @property
    def name(self) -> str:
        return f"{self.written.name}, {self.written.cuda.entries[self.entry].name}"


def compiled(all_of_them: list[Written], arch: str, to_the_end: bool = True) -> Iterator[Compiled]:
    """Every function of the kernels; unless `to_the_end` it is PTX, and no machine code."""
    for index in ("int", "long long"):
        same = [one for one in all_of_them if index_of(one) == index]
        for first in range(0, len(same), BATCH):
            batch = same[first : first + BATCH]
            source, used = joined(batch), dict[str, nvrtc.Resources]()
            if to_the_end:
                cubin, text = nvrtc.compile_both(source, arch)
                used.update(cubin.resources)
            else:
                text = nvrtc.ptx_of(source, arch)
            parameters = ptx.parameters(text)
            for k, one in enumerate(batch):
                for n, entry in enumerate(one.cuda.entries):
                    name = f"of_{k}_{entry.name}"
                    yield Compiled(
                        one, n, parameters[name], ptx.instructions(text, name), used.get(name, nvrtc.Resources())
                    )


def assert_right(found: Compiled) -> None:
    """It takes what a launch gives it, computes in no wider a type than the kernel says, and rounds every operation as IEEE 754 does."""
    entry = found.written.cuda.entries[found.entry]
    wide = 8 if index_of(found.written) == "long long" else 4
    given = [given_for(x, wide) for x in entry.arguments]
    taken = [(p.bytes, p.type in {"f32", "f64"}) for p in found.parameters]
    assert taken == given, f"{found.name}: takes {found.parameters}, is given {entry.arguments}"
    kernel = found.written.cuda.program
    if not any(node.dtype.name == "float64" for node in nodes_of(kernel)):
        assert not any(".f64" in i for i in found.instructions), f"{found.name}: has float64, and its IR has none"
    ops = {node.op for node in nodes_of(kernel) if isinstance(node, Op)}
    if not ops & {"fma", "scale"}:
        assert not any(i.startswith("fma") for i in found.instructions) or "fmod" in ops, (
            f"{found.name}: joins operations"
        )
    if "fmod" not in ops:  # CUDA's own, which is exact all the same
        assert not any("ftz" in i or "approx" in i for i in found.instructions), f"{found.name}: is not exact"


def given_for(x: Leaf | Size | Param, wide: int) -> tuple[int, bool]:
    """Bytes of an argument, and whether it is a float: what the launcher's slot for it holds."""
    match x:
        case Leaf():
            return 8, False
        case Size():
            return wide, False
        case Param(dtype=dtype) if dtype.kind == "f":
            return {"float": 4, "double": 8}[dtype.lane], True
        case Param(dtype=dtype):
            return dtype.itemsize, False


def nodes_of(found: Program) -> list[Value]:
    return list(walk(*(s.value for grid in found.grids for s in grid.stores)))


def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[str, Written]:
    """What statements on a GPU are written as, from here on."""
    found: dict[str, Written] = {}

    def keep(cuda: Cuda) -> None:
        found.setdefault(cuda.text, Written(f"text {len(found)}", cuda))

    def emitted(*args) -> Cuda:
        cuda = emit(*args)
        keep(cuda)
        return cuda

    def for_lists(*args) -> Listed:
        made = listed(*args)
        keep(replace(made.cuda, program=replace(made.cuda.program, grids=made.program.grids)))
        return made

    listed = grids.listed
    monkeypatch.setattr(grids, "emit", emitted)
    monkeypatch.setattr(grids, "listed", for_lists)
    return found
