"""Random statements: trees over random types, shapes, layouts, modes, Remaps and aliases, against NumPy and the interpreter.

The reference evaluates the right side with NumPy first and stores it then. Operations are those that equal NumPy's to the bit.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from exprten_jit.interpret import interpret
from hypothesis import HealthCheck, event, given, seed, settings
from hypothesis import strategies as st
from strategies import (
    DTYPES,
    LAYOUTS,
    TARGETS,
    Placed,
    assert_same_bits,
    combinations,
    place,
    reference_cast,
    reference_maximum,
    reference_minimum,
    values,
)  # fmt: skip

import exprten as xt
from exprten.assign import prepare
from exprten.modes import MODES, OPERATORS

TYPES = (*DTYPES, np.dtype("float16"))
MODERATE = settings(
    max_examples=150, derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)  # fmt: skip


@dataclass
class Both:
    """The same value twice: `ours` is an expression, `numpy` the array that it must be."""

    ours: Any
    numpy: np.ndarray


def quiet(call: Callable[..., Any], *operands: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.asarray(call(*operands))


BINARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (xt.add, np.add), "subtract": (xt.subtract, np.subtract), "multiply": (xt.multiply, np.multiply),
    "divide": (xt.divide, np.divide), "floor_divide": (xt.floor_divide, np.floor_divide),
    "remainder": (xt.remainder, np.remainder), "maximum": (xt.maximum, reference_maximum),
    "minimum": (xt.minimum, reference_minimum), "copysign": (xt.copysign, np.copysign), "less": (xt.less, np.less),
    "equal": (xt.equal, np.equal), "bitwise_xor": (xt.bitwise_xor, np.bitwise_xor),
    "left_shift": (xt.left_shift, np.left_shift), "logical_or": (xt.logical_or, np.logical_or),
}  # fmt: skip
UNARY: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "negative": (xt.negative, np.negative), "absolute": (xt.absolute, np.absolute), "sqrt": (xt.sqrt, np.sqrt),
    "floor": (xt.floor, np.floor), "rint": (xt.rint, np.rint), "sign": (xt.sign, np.sign),
    "square": (xt.square, np.square), "isnan": (xt.isnan, np.isnan), "invert": (xt.invert, np.invert),
    "logical_not": (xt.logical_not, np.logical_not),
}  # fmt: skip
WEAK = st.sampled_from([0, 1, 2, 3, 100, 0.0, -0.0, 0.5, -1.5, 3.0, float("inf"), float("nan")])


def applied(call: tuple[Callable[..., Any], Callable[..., Any]], *operands: Any) -> Both | None:
    """The operation on both sides; None where exprten has no type for the result, or a scalar does not fit."""
    try:
        ours = call[0](*(x.ours if isinstance(x, Both) else x for x in operands))
    except (xt.DTypeError, OverflowError):
        return None
    return Both(ours, quiet(call[1], *(x.numpy if isinstance(x, Both) else x for x in operands)))


# Remaps. Each takes a value and gives one of another shape; `draw` chooses how.


def padded(draw: st.DrawFn, x: Both) -> Both:
    widths = [(draw(st.integers(0, 3)), draw(st.integers(0, 3))) for _ in range(x.numpy.ndim)]
    value = draw(st.sampled_from([0, 1]))
    fill = value if x.numpy.dtype.kind != "b" else bool(value)
    return Both(xt.pad(x.ours, widths, value=fill), np.pad(x.numpy, widths, constant_values=fill))


def joined(draw: st.DrawFn, x: Both) -> Both:
    axis = draw(st.integers(0, x.numpy.ndim - 1))
    pick = draw(st.integers(1, max(1, x.numpy.shape[axis])))
    at = (slice(None),) * axis + (slice(0, pick),)
    return Both(
        xt.concat(x.ours, x.ours[at], axis=axis),
        np.concatenate([x.numpy, x.numpy[at]], axis=axis),
    )


def turned(draw: st.DrawFn, x: Both) -> Both:
    axis = draw(st.integers(-x.numpy.ndim, x.numpy.ndim - 1))
    return Both(xt.flip(x.ours, axis), np.flip(x.numpy, axis))


def exchanged(draw: st.DrawFn, x: Both) -> Both:
    order = draw(st.permutations(range(x.numpy.ndim)))
    return Both(xt.transpose(x.ours, order), np.transpose(x.numpy, order))


def reshaped(draw: st.DrawFn, x: Both) -> Both:
    size, shape = x.numpy.size, []
    while size > 1 and len(shape) < 3:
        n = draw(st.sampled_from([d for d in range(2, size + 1) if size % d == 0]))
        shape.append(n)
        size //= n
    to = (*shape, size) if x.numpy.size else x.numpy.shape[::-1]
    return Both(xt.reshape(x.ours, to), x.numpy.reshape(to))


def indexed(draw: st.DrawFn, x: Both) -> Both:
    index: list[Any] = []
    for n in x.numpy.shape:
        bound = st.one_of(st.none(), st.integers(-n - 1, n + 1))
        step = st.sampled_from([None, 1, 2, 3, -1, -2])
        kept = st.builds(slice, bound, bound, step)
        index.append(draw(st.one_of(kept, st.integers(-n, n - 1)) if n else kept))
    if draw(st.booleans()):
        index.insert(draw(st.integers(0, len(index))), None)
    return Both(x.ours[tuple(index)], np.asarray(x.numpy[tuple(index)]))


REMAPS = (padded, joined, turned, exchanged, reshaped, indexed)


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, ...]:
    extents = st.sampled_from([1, 2, 3, 5, 7, 9, 17, 33])
    shape = draw(st.lists(extents, max_size=3))
    if draw(st.integers(0, 15)) == 0 and shape:
        shape[draw(st.integers(0, len(shape) - 1))] = 0
    while np.prod(shape, initial=1) > 700:
        shape.pop()
    return tuple(shape)


def broadcastable(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that NumPy repeats to `shape`."""
    cut = shape[draw(st.integers(0, len(shape))) if draw(st.integers(0, 3)) == 0 else 0 :]
    return tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in cut)


@dataclass
class World:
    """Target and leaves of a statement, each in memory of its own or a view of another's."""

    target: Placed
    placed: list[Placed]


Leaf = Callable[[st.DrawFn, tuple[int, ...]], Both]


def fresh_leaf(world: World) -> Leaf:
    def leaf(draw: st.DrawFn, shape: tuple[int, ...]) -> Both:
        made = place(
            values(draw(st.sampled_from(TYPES)), shape, draw(st.integers(0, 99))), draw(st.sampled_from(list(LAYOUTS)))
        )
        world.placed.append(made)
        return Both(xt.asarray(made.array), made.array)

    return leaf


def tree(draw: st.DrawFn, shape: tuple[int, ...], depth: int, leaf: Leaf, remaps: bool) -> Both:
    """A value that broadcasts to `shape`."""
    choices = (
        ["leaf"] if depth == 0 else ["binary", "binary", "unary", "cast", "where", "weak", *(["remap"] * 3 * remaps)]
    )
    match draw(st.sampled_from(choices)):
        case "binary":
            found = applied(
                BINARY[draw(st.sampled_from(list(BINARY)))],
                *(tree(draw, broadcastable(draw, shape), depth - 1, leaf, remaps) for _ in "ab"),
            )
        case "unary":
            found = applied(UNARY[draw(st.sampled_from(list(UNARY)))], tree(draw, shape, depth - 1, leaf, remaps))
        case "cast":
            x, dtype = tree(draw, shape, depth - 1, leaf, remaps), draw(st.sampled_from(TYPES))
            found = Both(xt.cast(x.ours, dtype), reference_cast(x.numpy, dtype))
        case "where":
            found = applied(
                (xt.where, np.where),
                *(tree(draw, broadcastable(draw, shape), depth - 1, leaf, remaps) for _ in "cab"),
            )
        case "weak":
            operands: list[Any] = [tree(draw, shape, depth - 1, leaf, remaps), draw(WEAK)]
            name = draw(st.sampled_from(["add", "subtract", "multiply", "divide", "maximum", "less"]))
            found = applied(BINARY[name], *(operands[::-1] if draw(st.booleans()) else operands))
        case "remap":
            x = tree(draw, shape, depth - 1, leaf, remaps)
            remap = draw(st.sampled_from([r for r in REMAPS if x.numpy.ndim or r in (reshaped, indexed)]))
            if 0 in x.numpy.shape and remap in (joined, padded):
                remap = turned
            found = fitted(draw, remap(draw, x), shape)
        case _:
            found = leaf(draw, shape)
    return leaf(draw, shape) if found is None else found


def fitted(draw: st.DrawFn, x: Both, shape: tuple[int, ...]) -> Both | None:
    """A part of `x` that broadcasts to `shape`, or None."""
    while x.numpy.ndim > len(shape):
        if not x.numpy.shape[0]:
            return None
        x = Both(x.ours[0], np.asarray(x.numpy[0]))
    index = []
    for n, m in zip(x.numpy.shape, shape[len(shape) - x.numpy.ndim :], strict=True):
        at = draw(st.integers(0, n - m)) if n >= m else 0
        index.append(slice(at, at + m) if n >= m else slice(0, 1))
    part = x.numpy[tuple(index)]
    return Both(x.ours[tuple(index)], part) if index and part.size else x if not index else None


ALL_MODES = {name: row for name, row in MODES.items() if name == row.name != "null"} | {
    row.name: row for row in OPERATORS
}
STORED: dict[str | None, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "floor_divide": np.floor_divide,
    "remainder": np.remainder, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift,
}  # fmt: skip


def expected(old: np.ndarray, value: np.ndarray, combine: str | None) -> np.ndarray | None:
    """The target afterwards, or None where NumPy's same-kind rule forbids the statement."""
    value = np.broadcast_to(value, old.shape)
    if combine is not None:
        try:
            value = quiet(STORED[combine], old, value)
        except TypeError:
            return None
    return reference_cast(value, old.dtype) if np.can_cast(value.dtype, old.dtype, "same_kind") else None


def reset(world: World) -> None:
    for part in world.placed:
        part.memory[...] = part.before


def stored(world: World, value: Any, mode: Any, **options: Any) -> None:
    """Run the statement through the public operators, so that the direct path is taken where there is one."""
    calls = {
        "write": lambda t, e: t.__setitem__(..., e), "inplace": lambda t, e: xt.assign(t, "inplace", e),
        "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
        "floordiv": operator.ifloordiv, "mod": operator.imod, "and": operator.iand, "or": operator.ior,
        "xor": operator.ixor, "lshift": operator.ilshift, "rshift": operator.irshift,
    }  # fmt: skip
    t = xt.asarray(world.target.array)
    if options:
        with xt.options(**options):
            calls[mode.name](t, value)
    else:
        calls[mode.name](t, value)


ANY_RECOMPUTE = 1e12  # the bound on recomputation has tests of its own


def check_statement(world: World, value: Both, mode: Any) -> None:
    """At two widths, twice at the usual one: compiled, then found again."""
    old = world.target.array.copy()
    want = expected(old, value.numpy.copy(), mode.op)
    if want is None:
        with pytest.raises(xt.DTypeError):
            stored(world, value.ours, mode)
        return
    for options in ({}, {}, {"vector_bits": 128, "max_recompute": ANY_RECOMPUTE}):
        try:
            stored(world, value.ours, mode, **options)
        except xt.CompileError as error:
            if "times the operations needed" not in str(error):
                raise
            continue
        assert_same_bits(world.target.array, want, f"{mode.symbol} {value.ours!r} with {options}")
        world.target.assert_untouched()
        for part in world.placed:
            if part is not world.target:
                part.assert_unchanged()
        reset(world)


def new_target(draw: st.DrawFn, shape: tuple[int, ...]) -> World:
    dtype = draw(st.sampled_from(TYPES))
    target = place(values(dtype, shape, draw(st.integers(0, 99))), draw(st.sampled_from(list(TARGETS))))
    return World(target, [target])


def drawn_mode(draw: st.DrawFn, dtype: np.dtype) -> Any:
    names = [name for name in ALL_MODES if ALL_MODES[name].op != "power"]
    return ALL_MODES["write" if draw(st.booleans()) else draw(st.sampled_from(names))]


@pytest.mark.parametrize("remaps", [False, True], ids=["element-wise", "with Remaps"])
@MODERATE
@given(data=st.data())
def test_a_random_statement_has_numpys_bits_at_every_width(data, remaps):
    draw: Any = data.draw
    shape = draw(shapes())
    world = new_target(draw, shape)
    value = tree(draw, shape, draw(st.integers(1, 4)), fresh_leaf(world), remaps)
    check_statement(world, value, drawn_mode(draw, world.target.array.dtype))


# Aliases: leaves are views of the target's memory.


@st.composite
def views(draw: st.DrawFn, memory: np.ndarray, shape: tuple[int, ...], repeat: bool) -> np.ndarray:
    """A view of 1-D memory with a shape; no two elements share memory unless `repeat`."""
    span, strides = 1, [0] * len(shape)
    for k in draw(st.permutations(range(len(shape)))):
        if repeat and draw(st.integers(0, 3)) == 0:
            continue
        strides[k] = span * draw(st.integers(1, 2))
        span = strides[k] * (shape[k] - 1) + span
        strides[k] *= draw(st.sampled_from([1, 1, -1]))
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True))
    at = draw(st.integers(-low, len(memory) - 1 - high))
    size = memory.itemsize
    return np.lib.stride_tricks.as_strided(memory[at:], shape, tuple(s * size for s in strides))


def check_aliased(draw: Any, remaps: bool) -> None:
    """NumPy's right side first, or an AliasError and nothing stored."""
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 5, 9, 17]), min_size=1, max_size=2)))
    dtype = draw(st.sampled_from(TYPES[1:]))
    room = 4 * int(np.prod(shape)) + 40
    memory = values(dtype, (room,), draw(st.integers(0, 99)))
    before = memory.copy()
    target = draw(views(memory, shape, repeat=False))

    def leaf(draw: st.DrawFn, shape: tuple[int, ...]) -> Both:
        kind = draw(st.sampled_from(["target", "near", "view", "fresh"]))
        if kind == "target" and shape == target.shape:
            return Both(xt.asarray(target), target)
        if kind == "near" and shape == target.shape:  # the target's strides, a few elements off: an order may be proved
            shift = draw(st.integers(-3, 3))
            start = (target.__array_interface__["data"][0] - memory.__array_interface__["data"][0]) // memory.itemsize
            reach = [(n - 1) * s // memory.itemsize for n, s in zip(target.shape, target.strides, strict=True)]
            if (
                start + shift + sum(min(0, r) for r in reach) >= 0
                and start + shift + sum(max(0, r) for r in reach) < room
            ):
                near = np.lib.stride_tricks.as_strided(memory[start + shift :], target.shape, target.strides)
                return Both(xt.asarray(near), near)
        if kind == "fresh":
            made = values(draw(st.sampled_from(TYPES)), shape, draw(st.integers(0, 99)))
            return Both(xt.asarray(made), made)
        seen = draw(views(memory, shape, repeat=True))
        return Both(xt.asarray(seen), seen)

    value = tree(draw, shape, draw(st.integers(0, 3)), leaf, remaps)
    mode = drawn_mode(draw, dtype)
    held = np.array(value.numpy)  # a tree that is a view must not change with the target
    want = expected(target.copy(), held, mode.op)
    after = before.copy()
    if want is not None:
        offset = target.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        np.ndarray(target.shape, dtype, after.data, offset, target.strides)[...] = want
    for options in ({}, {}, {"vector_bits": 128, "max_recompute": ANY_RECOMPUTE}):
        memory[...] = before
        try:
            stored(World(Placed(target, memory, memory, before), []), value.ours, mode, **options)
        except (xt.AliasError, xt.CompileError, xt.DTypeError) as error:
            if isinstance(error, xt.DTypeError) and want is not None:
                raise
            event(type(error).__name__)
            assert_same_bits(memory, before, "something was stored")
            continue
        assert want is not None
        event("stored")
        assert_same_bits(memory, after, f"{mode.symbol} {value.ours!r} with {options}")


@pytest.mark.parametrize("remaps", [False, True], ids=["element-wise", "with Remaps"])
@MODERATE
@given(data=st.data())
def test_an_aliased_statement_is_numpys_right_side_first_or_an_alias_error_and_nothing_stored(data, remaps):
    check_aliased(data.draw, remaps)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("mode", ["write", "+="])
@pytest.mark.parametrize("bits", [None, 128])
def test_a_shifted_copy_is_stored_in_the_order_that_reads_old_values(shift, step, mode, bits):
    memory = values("int32", (300,), 4)
    target, source = (memory[10 + k : 210 + k : abs(step)][:: 1 if step > 0 else -1] for k in (0, shift))
    want = source * 3 + (target if mode == "+=" else 0)
    t, e = xt.asarray(target), xt.asarray(source) * 3
    with xt.options(vector_bits=bits):
        if mode == "write":
            t[...] = e
        else:
            t += e
    assert_same_bits(target, want, f"shift {shift}, step {step}")


def test_aliases_that_are_certain_are_errors_and_store_nothing():
    x = values("float32", (9, 9), 1)
    before, t = x.copy(), xt.asarray(x)
    cases = [
        lambda: t.__setitem__(..., t.T), lambda: t.__setitem__(..., xt.flip(t, 0) + t),
        lambda: t.__setitem__(..., xt.flip(t * 1, 0)), lambda: xt.assign(t[1:], "inplace", t[:-1]),
        lambda: t.__setitem__(0, t[:, 0] + 0), lambda: xt.assign(t, "add", t.T * 2),
    ]  # fmt: skip
    for k, case in enumerate(cases):
        with pytest.raises(xt.AliasError):
            case()
        assert_same_bits(x, before, f"case {k}")


# One statement, judged by the interpreter.


def interpreted(world: World, value: Any, mode: Any) -> np.ndarray | None:
    """The target's memory after the interpreter ran the kernel that the statement has; None where there is none to run."""
    with xt.options(max_recompute=ANY_RECOMPUTE):
        prepared = prepare(mode, xt.asarray(world.target.array), value)
    if prepared is None:
        return None
    statement, launch = prepared
    found = statement.found
    kernel, copies = launch.code.kernel, [part.memory.copy() for part in world.placed]
    arrays = {}
    for operand, first, shift in zip(kernel.leaves, launch.first, launch.arranged.shifts, strict=True):
        address = statement.addresses[first] + shift
        for part, copied in zip(world.placed, copies, strict=True):
            base = part.memory.__array_interface__["data"][0]
            if base <= address < base + part.memory.nbytes:
                arrays[operand.name] = (copied, (address - base) // copied.itemsize)
    params = {p.name: x for p, x in zip(kernel.params, found.scalars, strict=True)}
    interpret(kernel, arrays, dict(launch.arranged.sizes), params)
    return copies[0]


@pytest.mark.parametrize("remaps", [False, True], ids=["element-wise", "with Remaps"])
@settings(MODERATE, max_examples=80)
@given(data=st.data())
def test_the_interpreter_stores_the_same_bits_as_machine_code(data, remaps):
    draw: Any = data.draw
    shape = tuple(draw(st.lists(st.sampled_from([1, 2, 3, 5]), max_size=3)))
    world = new_target(draw, shape)
    value = tree(draw, shape, draw(st.integers(1, 3)), fresh_leaf(world), remaps)
    mode = drawn_mode(draw, world.target.array.dtype)
    if expected(world.target.array.copy(), value.numpy, mode.op) is None:
        return
    judged = interpreted(world, value.ours, mode)
    if judged is None:
        return
    stored(world, value.ours, mode, max_recompute=ANY_RECOMPUTE)
    assert_same_bits(world.target.memory[world.target.inside], judged[world.target.inside], f"{value.ours!r}")
    assert world.target.memory[~world.target.inside].tobytes() == judged[~world.target.inside].tobytes()


@pytest.mark.full
@pytest.mark.timeout(900)
@seed(1)
@settings(MODERATE, max_examples=5000, derandomize=False)
@given(data=st.data())
def test_many_more_random_statements(data):
    draw: Any = data.draw
    shape = draw(shapes())
    world = new_target(draw, shape)
    value = tree(draw, shape, draw(st.integers(1, 5)), fresh_leaf(world), remaps=True)
    check_statement(world, value, drawn_mode(draw, world.target.array.dtype))


@pytest.mark.full
@pytest.mark.timeout(900)
@seed(2)
@settings(MODERATE, max_examples=5000, derandomize=False)
@given(data=st.data())
def test_many_more_aliased_statements(data):
    check_aliased(data.draw, remaps=data.draw(st.booleans()))


def test_the_operations_here_are_numpys_to_the_bit():
    """The two references that are not NumPy's own agree with it wherever its answer is one."""
    for dtype in ("float32", "float64"):
        x, y = values(dtype, (500,), 1), values(dtype, (500,), 2)
        assert_same_bits(reference_maximum(x, y), np.maximum(x, y), signed_zero=False)
        assert_same_bits(reference_minimum(x, y), np.minimum(x, y), signed_zero=False)
    for a, b in combinations(2):
        small = np.array([0, 1, 1, 0, 1], a)
        assert_same_bits(reference_cast(small, b), small.astype(b))
