"""What exprten writes as CUDA C++ is compiled, for several architectures: it takes what a launch gives it, has the precision that the
kernel asks for and no other, and fits into registers.

Rows of tables and statements are compiled for every architecture, rows for every element type, an element at once. What is
many elements at once, and the statements of the corpus, take turns; `-m full` compiles all with all.
"""

from functools import cache

import pytest
from compiled import ARCHITECTURES, PROCESSORS, Written, assert_right, compiled, recorded, written
from corpus import GROUPS, run
from emulator.driver import EmulatedDriver, emulated
from exprten_jit.backends import nvrtc, ptx
from exprten_jit.backends.cuda_emit import emit
from exprten_jit.check import IRError
from exprten_jit.check import check as check_kernel
from exprten_jit.derived import TABLE, apply
from exprten_jit.dtypes import ROWS, DType, of_numpy
from exprten_jit.grid import program
from exprten_jit.ir import Leaf, Store, axis, cast, load, size
from exprten_jit.kernel import Kernel
from exprten_jit.ops import PRIMITIVE, resolved

import exprten as xt
from exprten.kernels import steps

pytestmark = pytest.mark.nvrtc

TYPES = [row for row in ROWS if row.kind in "biuf"]
SIZES = {"n": 1000}


# Every operation.


def of_row(name: str, types: tuple[DType, ...], at_once: bool = True) -> Written | None:
    """out[i] = name(x0[i], ...), where there is such an operation of these types; unless `at_once` a thread stores one element."""
    i, n = axis("i"), size("n")
    out, *sources = leaves = [Leaf("out", types[-1]), *(Leaf(f"x{k}", d) for k, d in enumerate(types[:-1]))]
    try:
        value = cast(apply(name, *(load(leaf, i) for leaf in sources)), types[-1])
        kernel = Kernel(((i, n),), (Store(out, i if at_once else 2 * i, value),), tuple(leaves), (n,), ())
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


def rows_of(name: str, at_once: bool) -> list[Written]:
    found = (of_row(name, types, at_once) for types in types_of(name))
    return [one for one in found if one]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_operation_of_every_type(arch):
    found = {one.cuda.text: one for name in TABLE for one in rows_of(name, at_once=False)}
    assert len(found) > 5 * len(TABLE)
    for one in compiled(list(found.values()), arch):
        assert_right(one)


def test_every_operation_of_many_elements_at_once():
    cases = [(name, in_turn(name)) for name in TABLE]
    assert all(types for _, types in cases)
    there = [of_row(name, types[k % len(types)]) for k, (name, types) in enumerate(cases)]
    assert sum(map(bool, there)) > 0.9 * len(there)
    for turn, arch in enumerate(ARCHITECTURES):
        for one in compiled([one for one in there[turn :: len(ARCHITECTURES)] if one], arch):
            assert_right(one)


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_every_operation_of_every_type_of_many_elements_at_once(arch):
    found = {one.cuda.text: one for name in TABLE for one in rows_of(name, at_once=True)}
    for one in compiled(list(found.values()), arch):
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
            assert one.resources.registers <= 85, f"{one.name}: 256 threads of {one.resources.registers} registers"


# The corpus, which the emulator executes: there each group is PTX for one architecture.


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("emulator")
@pytest.mark.parametrize("group", GROUPS)
def test_the_corpus(group, monkeypatch):
    texts = recorded(monkeypatch)
    monkeypatch.setattr(EmulatedDriver, "load", lambda *_: 1)
    with emulated(devices=1) as driver:
        driver.entries()
        driver._run = lambda *_: 0  # nothing is executed
        run(group, xt.gpu(0))
    for arch in ARCHITECTURES:
        for one in compiled(list(texts.values()), arch):
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
    assert sum(found[f"setp.{sign}.s{dtype[-2:]}"] for sign in ("gt", "ne")) >= 8, "one for each flag, or it is folded"


def test_elements_of_a_row_are_read_four_at_once():
    a, b = xt.empty(1000), xt.empty(1000)
    with xt.options(interpret=True):
        text = of_plan("a + b", xt.plan(a, a + b)).cuda.text
    found = ptx.instructions(nvrtc.ptx_of(text, "sm_90"), "kernel")
    assert found["ld.global.v4.f32"] == 2
    assert found["st.global.v4.f32"] == 1


@pytest.mark.parametrize(
    ("fold", "extent", "read"),
    [("sum", 1 << 28, "v4.f32"), ("max", 1 << 12, "v4.f32"), ("argmax", 1 << 20, "v4.f32")],
)
def test_a_long_fold_reads_four_elements_at_once(fold, extent, read):
    x = xt.empty(1000)
    with xt.options(interpret=True):
        value = getattr(x, fold)()
        one = of_plan(fold, xt.plan(xt.empty((), value.dtype), value), m0_f=extent)
    cubin, text = nvrtc.compile_both(one.cuda.text, "sm_90")
    assert ptx.instructions(text, "kernel")[f"ld.global.{read}"] >= 8
    assert cubin.resources["kernel"].spill_stores == 0


def test_a_long_row_is_stored_four_elements_at_once():
    x, out = xt.empty((50, 200)), xt.empty((50, 200))
    with xt.options(interpret=True):
        one = of_plan("softmax", xt.plan(out, softmax(x)), n0=5000, n1=20000, out_s0=20000, x1_s0=20000)
    found = ptx.instructions(nvrtc.ptx_of(one.cuda.text, "sm_90"), "kernel")
    assert found["st.global.v4.f32"] >= 1
    assert found["ld.global.v4.f32"] >= 3
