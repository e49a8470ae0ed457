"""What exprten writes as CUDA C++ is compiled, for several architectures: it takes what a launch gives it, has the precision that the
kernel asks for and no other, and fits into registers.

A row of a table is compiled for every architecture, with another element type for each; `-m full` compiles all with all.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from corpus import GROUPS, run
from emulator.driver import EmulatedDriver, emulated
from exprten_jit.backends import nvrtc, ptx
from exprten_jit.backends.cuda_emit import Cuda, emit
from exprten_jit.backends.cuda_text import prelude
from exprten_jit.check import IRError
from exprten_jit.check import check as check_kernel
from exprten_jit.derived import TABLE, apply
from exprten_jit.dtypes import ROWS, DType, of_numpy
from exprten_jit.grid import Program, program
from exprten_jit.ir import Kernel, Leaf, Op, Param, Size, Store, Value, axis, cast, load, size
from exprten_jit.ops import PRIMITIVE, resolved
from exprten_jit.rewrite import walk

import exprten as xt
from exprten.kernels import steps
from exprten.statement import grids

pytestmark = pytest.mark.nvrtc

ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120")
PROCESSORS = 132
BATCH = 60  # kernels in one program: NVRTC takes as long for the first as for the next three
TYPES = [row for row in ROWS if row.kind in "biuf"]
SIZES = {"n": 1000}


# Kernels, and programs of many.


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


def compiled(all_of_them: list[Written], arch: str) -> Iterator[Compiled]:
    for index in ("int", "long long"):
        same = [one for one in all_of_them if index_of(one) == index]
        for first in range(0, len(same), BATCH):
            batch = same[first : first + BATCH]
            cubin, text = nvrtc.compile_both(joined(batch), arch)
            parameters = ptx.parameters(text)
            for k, one in enumerate(batch):
                for n, entry in enumerate(one.cuda.entries):
                    name = f"of_{k}_{entry.name}"
                    yield Compiled(one, n, parameters[name], ptx.instructions(text, name), cubin.resources[name])


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


# Every operation.


def of_row(name: str, types: tuple[DType, ...]) -> Written | None:
    """out[i] = name(x0[i], ...), where there is such an operation of these types."""
    i, n = axis("i"), size("n")
    out, *sources = leaves = [Leaf("out", types[-1]), *(Leaf(f"x{k}", d) for k, d in enumerate(types[:-1]))]
    try:
        value = cast(apply(name, *(load(leaf, i) for leaf in sources)), types[-1])
        kernel = Kernel(((i, n),), (Store(out, i, value),), tuple(leaves), (n,), ())
        check_kernel(kernel)
    except (KeyError, IRError):  # a primitive that formulas are made of, and only of some types
        return None
    return written(f"{name} of {', '.join(map(str, types))}", kernel, SIZES)


@cache
def types_of(name: str) -> tuple[tuple[DType, ...], ...]:
    """The types in which an operation is computed, with its result's."""
    row, found = TABLE[name], {}
    for dtype in TYPES:
        try:
            types = tuple(of_numpy(t) for t in resolved(row.resolve, (dtype.numpy,) * row.arity))
        except TypeError:
            continue
        if all(types) and has_kind(name, types[0]):
            found[types] = None
    return tuple(found)


def has_kind(name: str, dtype: DType) -> bool:
    return name not in PRIMITIVE or name in {"negative", "absolute"} or dtype.kind in PRIMITIVE[name].cuda


def in_turn(name: str) -> list[tuple[DType, ...]]:
    """Types that take turns: a formula of 16 bits is that of float32 between conversions, and eight of it are long."""
    return [types for types in types_of(name) if name in PRIMITIVE or not types[0].wide]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_operation(arch):
    turn = ARCHITECTURES.index(arch)
    cases = [(name, in_turn(name)) for name in TABLE]
    assert all(types for _, types in cases)
    found = [of_row(name, types[(turn + k) % len(types)]) for k, (name, types) in enumerate(cases)]
    there = [one for one in found if one]
    assert len(there) > 0.9 * len(found)
    for one in compiled(there, arch):
        assert_right(one)


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_operation_of_every_type(arch):
    found = [of_row(name, types) for name in TABLE for types in types_of(name)]
    for one in compiled([one for one in found if one], arch):
        assert_right(one)


# Statements.


def tensors():
    """Operands of many kinds."""
    a, b = xt.empty((40, 1000)), xt.empty((40, 1000))
    wide = xt.empty((80, 2003))
    return a, b, wide[::2, 1:2001:2], xt.empty((1000, 40)).T, xt.empty((40, 1000), pad=True), xt.empty(1000)


def softmax(x, axis=1):
    e = xt.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def headlines():
    """What should run at the speed of memory: (name, plan)."""
    a, b, *_ = tensors()
    w, g, m, v = (xt.empty(1 << 20) for _ in range(4))
    yield "sgd", xt.plan(w, 0.1 * (g + 0.01 * w), "sub")
    none = dict.fromkeys(("weight_decay", "clip_gradient"))
    yield "momentum", steps.momentum.plan(w, g, m, lr=0.1, momentum=0.9, dampening=None, **none)
    yield (
        "adam",
        steps.adam.plan(w, g, m, v, None, lr=0.1, beta1=0.9, beta2=0.99, eps=1e-8, t=3, decoupled=False, **none),
    )
    yield "sigmoid(2a)+1", xt.plan(b, xt.sigmoid(2 * a) + 1)
    yield "gelu", xt.plan(b, xt.gelu(a))
    yield "softmax", xt.plan(b, softmax(a))
    yield "row sums", xt.plan(xt.empty(40), a.sum(axis=1))
    yield "full sum", xt.plan(xt.empty(()), w.sum())


def statements():
    """Layouts, index maps, folds, modes and scalars that differ in what is written for them: (name, plan)."""
    a, b, strided, turned, padded, row = tensors()
    whole = xt.empty((40, 1000), "int64")
    yield "strided", xt.plan(a, strided + turned * padded)
    yield "into strides", xt.plan(strided, a + row)
    yield "into columns", xt.plan(turned, a * 2, "add")
    yield "padded", xt.plan(padded, xt.maximum(a, b), "mul")
    yield "backwards", xt.plan(row[1:], row[:-1] + 1)
    yield "pad", xt.plan(xt.empty((44, 1006)), xt.pad(a, 2, 3))
    yield "concat", xt.plan(xt.empty((80, 1000)), xt.concat(a, b, axis=0))
    yield "reshape", xt.plan(xt.empty((1000, 40)), xt.reshape(a + b, (1000, 40)))
    yield "flip", xt.plan(b, xt.flip(a, axis=1))
    yield "range", xt.plan(row, xt.range(0, 1000) * 0.5)
    yield "where", xt.plan(a, xt.where(b > 0, a, -b))
    yield "columns", xt.plan(xt.empty(1000), a.sum(axis=0))
    yield "column softmax", xt.plan(b, softmax(a, 0))
    yield "argmax", xt.plan(xt.empty(40, "int64"), a.argmax(axis=1))
    yield "full argmax", xt.plan(xt.empty((), "int64"), a.argmax())
    yield "short rows", xt.plan(xt.empty(1000), xt.empty((1000, 5)).max(axis=1))
    yield "variance", xt.plan(xt.empty(40), a.var(axis=1))
    yield "any", xt.plan(xt.empty((), "bool"), (a > 0).any())
    yield "integers", xt.plan(whole, whole * 3 + whole.sum(axis=1, keepdims=True))
    yield "complex", xt.plan(xt.empty((40, 1000), "complex64"), xt.exp(xt.empty((40, 1000), "complex64")) * 2)
    yield "complex sum", xt.plan(xt.empty(40, "complex128"), xt.empty((40, 1000), "complex128").sum(axis=1))
    for dtype in TYPES:
        x = xt.empty(1000, dtype.numpy)
        scalar = dtype.numpy.type(1)
        yield f"scalar of {dtype}", xt.plan(x, x | scalar if dtype.kind == "b" else x * scalar + scalar)
    for dtype in TYPES:
        yield f"from {dtype}", xt.plan(row, xt.empty(1000, dtype.numpy).astype("float32") * 2)
        yield f"to {dtype}", xt.plan(xt.empty(1000, dtype.numpy), (row * 2).astype(dtype.numpy))


def of_plan(name: str, plan: xt.Plan, **sizes: int) -> Written:
    statement, launch = plan._prepared
    known = dict(launch.arranged.sizes) | sizes
    found = program(launch.code.kernel, known, PROCESSORS, getattr(statement, "direction", "any"))
    return Written(name, emit(found, known))


@pytest.fixture(scope="module")
def all_statements() -> tuple[list[Written], list[Written]]:
    """The headlines, and the others."""
    with xt.options(interpret=True):  # no machine code of this processor
        return [of_plan(*one) for one in headlines()], [of_plan(*one) for one in statements()]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_statement(all_statements, arch):
    first, others = all_statements
    for one in compiled([*first, *others], arch):
        assert_right(one)
        if one.written in first:
            assert (one.resources.spill_stores, one.resources.spill_loads) == (0, 0), f"{one.name} spills"
            assert one.resources.registers <= 64, f"{one.name}: 256 threads of {one.resources.registers} registers"


# The corpus, which the emulator executes.

SOME = (("complex numbers", "sm_75"), ("random statements", "sm_100"), ("optimisers", "sm_120"))


def of_corpus(group: str, monkeypatch: pytest.MonkeyPatch) -> list[Written]:
    """What a group's statements are written as."""
    found: dict[str, Written] = {}

    def recorded(*args):
        cuda = emit(*args)
        found.setdefault(cuda.text, Written(group, cuda))
        return cuda

    monkeypatch.setattr(grids, "emit", recorded)
    monkeypatch.setattr(EmulatedDriver, "load", lambda *_: 1)
    with emulated(devices=1) as driver:
        driver.entries()
        driver._run = lambda *_: 0  # nothing is executed
        run(group, xt.gpu(0))
    return list(found.values())


@pytest.mark.usefixtures("emulator")
@pytest.mark.parametrize(("group", "arch"), SOME)
def test_some_of_the_corpus(group, arch, monkeypatch):
    texts = of_corpus(group, monkeypatch)
    assert texts
    for one in compiled(texts, arch):
        assert_right(one)


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("emulator")
@pytest.mark.parametrize("group", GROUPS)
def test_the_corpus(group, monkeypatch):
    texts = of_corpus(group, monkeypatch)
    for arch in ARCHITECTURES:
        for one in compiled(texts, arch):
            assert_right(one)


# What the bits rest on.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_and_a_sum_are_two_operations(dtype):
    a, b, c = (xt.empty(1000, dtype) for _ in range(3))
    with xt.options(interpret=True):
        text = of_plan("a * b + c", xt.plan(a, a * b + c)).cuda.text
    bits = dtype[-2:]
    strict, fast = (ptx.instructions(nvrtc.ptx_of(text, "sm_90", joined), "kernel") for joined in (False, True))
    assert strict[f"mul.rn.f{bits}"] == strict[f"add.rn.f{bits}"] > 0
    assert strict[f"fma.rn.f{bits}"] == 0
    assert fast[f"fma.rn.f{bits}"] == strict[f"mul.rn.f{bits}"]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_wrap_around(dtype):
    x, flag = xt.empty(1000, dtype), xt.empty(1000, "bool")
    with xt.options(interpret=True):
        text = of_plan("x + 1 > x", xt.plan(flag, x + 1 > x)).cuda.text
    found = ptx.instructions(nvrtc.ptx_of(text, "sm_90"), "kernel")
    assert sum(found[f"setp.{sign}.s{dtype[-2:]}"] for sign in ("gt", "ne")) >= 16, (
        "one for each of 16 flags, or it is folded"
    )


def test_elements_of_a_row_are_read_four_at_once():
    a, b = xt.empty(1000), xt.empty(1000)
    with xt.options(interpret=True):
        text = of_plan("a + b", xt.plan(a, a + b)).cuda.text
    found = ptx.instructions(nvrtc.ptx_of(text, "sm_90"), "kernel")
    assert found["ld.global.v4.f32"] == 2
    assert found["st.global.v4.f32"] == 1
